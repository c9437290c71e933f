"""Tensors between the entries of a run: what is done, what one entry does, what is to come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gscli.base.arrays import Array
from gscli.kernel.reductions import saturating_cast
from gscli.layout.axes import box_size
from gscli.traces import Entry, Trace
from gscli.views.subject import (
    Patch,
    PreviousValues,
    TensorView,
    initial_output,
    make_views,
    take_box,
)


class OutputReplay:
    """What entries did before those of a frame: the output then, or which of its cells are known.

    It is kept from frame to frame, so that a series costs what its entries cost, once.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace, self._count = trace, 0
        self._output: Array | None = None

    def output_after(self, entries: Sequence[Entry], count: int) -> Array:
        """The output after the first `count` of all entries, or flags."""
        if count == 0:
            return first_output(self._trace)
        if self._output is None or count < self._count:
            first = first_output(self._trace)
            text = first.dtype.kind == "U"
            self._output, self._count = np.array(first, object if text else first.dtype), 0
        for box, values in iter_patches(self._trace, entries[self._count : count]):
            place = tuple(slice(*span) for span in box)
            shape = [stop - begin for begin, stop in box]
            self._output[place] = self._trace.kind == "gather" or values.reshape(shape)
        self._count = count
        return self._output


def first_output(trace: Trace) -> Array:
    """The output before any entry; of a gather which cells are known: those of bags without one."""
    if trace.kind == "scatter":
        return initial_output(trace)
    last = trace.last_folded
    return np.zeros(trace.output.shape, bool) if last is None else last < 0


def views_after(
    trace: Trace, entries: Sequence[Entry], number: int, before: Array,
    show: Sequence[str] | None = None,
) -> list[TensorView]:  # fmt: skip
    """Tensors after `entries[number]`, which alone is marked; number -1 is before the first.

    `before`: what `OutputReplay` has of the entries before these.

    >>> from gscli.traces import trace
    >>> found = trace("onnx.scatter_nd", {"data": [1, 2], "indices": [[0], [1]], "updates": [8, 9]})
    >>> views_after(found, found.entries(), 0, first_output(found))[-1].patches[0].values
    array([8])
    """
    lit = make_views(trace, entries[number : number + 1] if number >= 0 else [], show)
    every = make_views(trace, entries, show)
    done = entries[: number + 1]
    changes = ((entry.number, entry.change) for entry in entries if entry.change is not None)
    between = {number: (each.old, each.new) for number, each in changes}
    pairs = zip(lit, every, strict=True)
    views = [part._replace(full_run=whole, left_out=0) for part, whole in pairs]
    return [
        _view_partial_output(trace, view, done, before)._replace(steps=between)
        if view.role == "output" else view
        for view in views
    ]  # fmt: skip


def _view_partial_output(
    trace: Trace, output: TensorView, done: Sequence[Entry], before: Array
) -> TensorView:
    earlier = tuple(iter_patches(trace, done[:-1]))
    written = earlier + tuple(iter_patches(trace, done[-1:]))
    if trace.kind == "gather":
        return output._replace(known=before, patches=written)
    previous = PreviousValues(before, earlier, trace.change_words)
    return output._replace(array=before, patches=written, before=previous)


def iter_patches(trace: Trace, done: Sequence[Entry]) -> Iterator[Patch]:
    """What entries leave in the cells of output, one after the other.

    A folded cell has its value with the last entry that goes into it.
    """
    gathers, dtype, last = trace.kind == "gather", trace.output.dtype, trace.last_folded
    for entry in done:
        change, box = entry.change, entry.result if gathers else entry.target
        if box is None or (trace.is_refused and not entry.live):
            continue
        if last is not None and take_box(last, box).max(initial=0) > entry.number:
            continue
        if change is None or change.new.size != box_size(box):
            # What gather reads; slices too large to replay show what they hold in the end.
            yield Patch(box, take_box(trace.output, box))
            continue
        yield Patch(box, change.new if dtype.kind == "U" else saturating_cast(change.new, dtype))
