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
    running_value,
    take_box,
)


class OutputReplay:
    """What entries did before those of a frame: the output then, or which of its cells are known.

    It is kept from frame to frame, so that a series costs what its entries cost, once.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace, self._count = trace, 0
        self._output: Array | None = None

    def output_after(self, entries: Sequence[Entry], count: int) -> Array | None:
        """The output after the first `count` of all entries, or flags; None for no entry at all."""
        if count == 0:
            return None
        gathers = self._trace.kind == "gather"
        if self._output is None or count < self._count:
            first = _known_at_first(self._trace) if gathers else initial_output(self._trace)
            text = first.dtype.kind == "U"
            self._output, self._count = np.array(first, object if text else first.dtype), 0
        done = entries[self._count : count]
        for box, values in iter_patches(self._trace, done):
            place = tuple(slice(*span) for span in box)
            shape = [stop - begin for begin, stop in box]
            self._output[place] = True if gathers else values.reshape(shape)
        self._count = count
        return self._output


def views_after(
    trace: Trace,
    entries: Sequence[Entry],
    number: int,
    show: Sequence[str] | None = None,
    before: Array | None = None,
) -> list[TensorView]:
    """Tensors after `entries[number]`, which alone is marked; number -1 is before the first.

    `before`: what `OutputReplay` has of the entries before these.

    >>> from gscli.traces import trace
    >>> found = trace("onnx.scatter_nd", {"data": [1, 2], "indices": [[0], [1]], "updates": [8, 9]})
    >>> views_after(found, found.entries(), 0)[-1].patches[0].values
    array([8])
    """
    lit = make_views(trace, entries[number : number + 1] if number >= 0 else [], show)
    every = make_views(trace, entries, show)
    done = entries[: number + 1]
    between = {
        entry.number: (entry.change.old, running_value(trace, entry.change))
        for entry in entries
        if entry.change is not None
    }
    pairs = zip(lit, every, strict=True)
    views = [part._replace(full_run=whole, dims_unmarked=True) for part, whole in pairs]
    return [
        _view_partial_output(trace, view, done, before)._replace(steps=between)
        if view.role == "output" else view
        for view in views
    ]  # fmt: skip


def _known_at_first(trace: Trace) -> Array:
    """Which cells of a gather's output are known before any entry: those of bags without one."""
    unreached = trace.unreached_cells
    return np.zeros(trace.output.shape, bool) if unreached is None else unreached


def _view_partial_output(
    trace: Trace, output: TensorView, done: Sequence[Entry], before: Array | None
) -> TensorView:
    if trace.kind == "gather":
        return output._replace(
            known=_known_at_first(trace) if before is None else before,
            patches=tuple(iter_patches(trace, done)),
        )
    first, last = initial_output(trace) if before is None else before, done[-1:]
    earlier = tuple(iter_patches(trace, done[:-1]))
    written = earlier + tuple(iter_patches(trace, last))
    previous = PreviousValues(first, earlier, trace.change_words)
    return output._replace(array=first, patches=written, before=previous)


def iter_patches(trace: Trace, done: Sequence[Entry]) -> Iterator[Patch]:
    """What entries leave in the cells of output, one after the other."""
    gathers, dtype = trace.kind == "gather", trace.output.dtype
    for entry in done:
        change, box = entry.change, entry.result if gathers else entry.target
        if box is None or (trace.is_refused and not entry.live):
            continue
        if change is None or change.new.size != box_size(box):
            # What gather reads; slices too large to replay show what they hold in the end.
            yield Patch(box, take_box(trace.output, box))
            continue
        values = running_value(trace, change)
        yield Patch(box, values if dtype.kind == "U" else saturating_cast(values, dtype))
