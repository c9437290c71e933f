"""Tensors between the entries of a run: what is done, what one entry does, what is to come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gscli.base.arrays import Array
from gscli.kernel.reductions import converted
from gscli.layout.axes import box_size
from gscli.traces import Entry, Trace
from gscli.views.subject import Before, Patch, Subject, mean_or_new, part_of, start, subjects


class Done:
    """What entries did before those of a frame: the output then, or which of its cells are known.

    It is kept from frame to frame, so that a series costs what its entries cost, once.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace, self._count = trace, 0
        self._output: Array | None = None

    def before(self, entries: Sequence[Entry], count: int) -> Array | None:
        """The output after the first `count` of all entries, or flags; None for no entry at all."""
        if count == 0:
            return None
        gathers = self._trace.kind == "gather"
        if self._output is None or count < self._count:
            first = np.zeros(self._trace.output.shape, bool) if gathers else start(self._trace)
            text = first.dtype.kind == "U"
            self._output, self._count = np.array(first, object if text else first.dtype), 0
        done = entries[self._count : count]
        for box, values in patches(self._trace, done):
            place = tuple(slice(*span) for span in box)
            shape = [stop - begin for begin, stop in box]
            self._output[place] = True if gathers else values.reshape(shape)
        self._count = count
        return self._output


def subjects_after(
    trace: Trace,
    entries: Sequence[Entry],
    number: int,
    show: Sequence[str] | None = None,
    before: Array | None = None,
) -> list[Subject]:
    """Tensors after `entries[number]`, which alone is marked; number -1 is before the first.

    `before`: what `Done` has of the entries before these.

    >>> from gscli.traces import trace
    >>> found = trace("onnx.scatter_nd", {"data": [1, 2], "indices": [[0], [1]], "updates": [8, 9]})
    >>> subjects_after(found, found.entries(), 0)[-1].patches[0].values
    array([8])
    """
    lit = subjects(trace, entries[number : number + 1] if number >= 0 else [], show)
    every = subjects(trace, entries, show)
    done = entries[: number + 1]
    between = {
        entry.number: (entry.change.old, mean_or_new(trace, entry.change))
        for entry in entries
        if entry.change is not None
    }
    return [
        (_unfinished(trace, one, done, before) if one.role == "output" else one)._replace(
            unlit=whole,
            steps=between if one.role == "output" else {},
            dim_rest=True,
        )
        for one, whole in zip(lit, every, strict=True)
    ]


def _unfinished(
    trace: Trace, output: Subject, done: Sequence[Entry], before: Array | None
) -> Subject:
    if trace.kind == "gather":
        return output._replace(blank=True, known=before, patches=tuple(patches(trace, done)))
    first, last = start(trace) if before is None else before, done[-1:]
    earlier = tuple(patches(trace, done[:-1]))
    written = earlier + tuple(patches(trace, last))
    return output._replace(array=first, patches=written, before=Before(first, earlier))


def patches(trace: Trace, done: Sequence[Entry]) -> Iterator[Patch]:
    """What entries leave in the cells of output, one after the other."""
    gathers, dtype = trace.kind == "gather", trace.output.dtype
    for entry in done:
        change, box = entry.change, entry.result if gathers else entry.target
        if box is None:
            continue
        if change is None or change.new.size != box_size(box):
            # What gather reads; slices too large to replay show what they hold in the end.
            yield Patch(box, part_of(trace.output, box))
            continue
        values = mean_or_new(trace, change)
        yield Patch(box, values if dtype.kind == "U" else converted(values, dtype))
