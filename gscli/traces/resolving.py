"""What each index entry of a run did: its numbers, the boxes it met, what was moved or dropped.

Coordinates come from the plan and values from a replay; nothing here decides a rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from gscli.frameworks.execute import Run
from gscli.layout.axes import Beyond
from gscli.layout.boxes import Box, axis_boxes, reshaped, without
from gscli.layout.layout import Fit
from gscli.plan.policy import legal_range
from gscli.traces.entries import Adjustment, Entry, label_of
from gscli.traces.replay import Replay

ENTRIES_AT_ONCE = 1024


def resolved_entries(run: Run, count: int) -> Iterator[Entry]:
    """The first `count` entries in order.

    >>> import gscli
    >>> run = gscli.trace("gather", {"data": [10, 20, 30], "indices": [-1]}).run
    >>> [(entry.label, entry.target) for entry in resolved_entries(run, 1)]
    [('a', ((2, 3),))]
    """
    return _Resolver(run, count).entries()


class _Resolver:
    def __init__(self, run: Run, count: int) -> None:
        self.run, self.count, self.layout = run, count, run.layout

    def entries(self) -> Iterator[Entry]:
        """All of them; ENTRIES_AT_ONCE are resolved together."""
        plan, count = self.run.plan, self.count
        replay = Replay(self.run, count) if self.layout.kind == "scatter" else None
        for first in range(0, count, ENTRIES_AT_ONCE):
            last = min(first + ENTRIES_AT_ONCE, count)
            grid = [axis.tolist() for axis in plan.grid(first, last)]
            columns = [
                self._resolved(column, first, last)
                for column in range(len(self.layout.column_axes))
            ]
            for offset in range(last - first):
                at = tuple(axis[offset] for axis in grid)
                resolved = tuple(column[offset] for column in columns)
                yield self._entry(first + offset, at, resolved, replay)

    def _resolved(self, column: int, first: int, last: int) -> list[tuple[int, bool]]:
        """What the plan made of one column's numbers: each coordinate, and whether it is live."""
        plan = self.run.plan
        coordinates, live = plan.coordinates(column, plan.raw(column, first, last))
        flags = [True] * (last - first) if live is None else live.tolist()
        return list(zip(coordinates.tolist(), flags, strict=True))

    def _entry(
        self,
        number: int,
        at: tuple[int, ...],
        resolved: tuple[tuple[int, bool], ...],
        replay: Replay | None,
    ) -> Entry:
        vector = self.run.plan.vector(number)
        live = all(alive for _, alive in resolved)
        starts = tuple(start for start, _ in resolved)
        target = self._target(at, starts) if live else None
        whole = tuple((0, size) for size in self.layout.addressing.window)
        result = taken = self._result(at, whole)
        if self.layout.kind == "scatter" and target is not None and not self.layout.policy.whole:
            taken = self._result(at, self._inside(at, starts))
        return Entry(
            number,
            label_of(number),
            at,
            vector,
            self._index_boxes(number),
            tuple(self._adjustments(vector, resolved)),
            target,
            taken,
            replay.change(number) if replay is not None and target is not None else None,
            without(result, taken) if result is not None and taken is not None else (),
        )

    def _adjustments(
        self, vector: tuple[int | float, ...], resolved: tuple[tuple[int, bool], ...]
    ) -> Iterator[Adjustment]:
        policy = self.layout.policy
        for slot, (axis_number, (start, alive)) in enumerate(
            zip(self.layout.column_axes, resolved, strict=True)
        ):
            axis, written = self.layout.axes[axis_number], vector[slot]
            low, high = legal_range(axis, policy)
            beside = not policy.whole and not -axis.span < start < axis.size
            if not alive or beside:
                yield Adjustment(slot, axis_number, axis.size, written, None, "skipped")
            elif policy.beyond is Beyond.CLIP and not low <= written <= high:
                yield Adjustment(slot, axis_number, axis.size, written, start, "clipped")
            elif int(written) != start:
                yield Adjustment(slot, axis_number, axis.size, written, start, "wrapped")

    def _target(self, at: tuple[int, ...], starts: tuple[int, ...]) -> Box | None:
        layout = self.layout
        box: list[tuple[int, int]] = []
        for axis in layout.axes:
            start = 0 if axis.column is None else starts[axis.column]
            start += 0 if axis.entry is None else at[axis.entry]
            stop = start + (axis.span if axis.window is not None else 1)
            box.append((max(start, 0), min(stop, axis.size)))
        if any(stop <= start for start, stop in box):
            return None
        return reshaped(tuple(box), layout.view_shape, layout.data_shape)

    def _inside(self, at: tuple[int, ...], starts: tuple[int, ...]) -> Box:
        """The part of an entry's window whose cells exist."""
        found = [(0, size) for size in self.layout.addressing.window]
        for axis in self.layout.axes:
            if axis.window is not None:
                start = 0 if axis.column is None else starts[axis.column]
                start += 0 if axis.entry is None else at[axis.entry]
                found[axis.window] = (max(-start, 0), min(axis.span, axis.size - start))
        return tuple(found)

    def _result(self, at: tuple[int, ...], window: Box) -> Box | None:
        addressing = self.layout.addressing
        both = [(place, place + 1) for place in at] + list(window)
        box = tuple(both[position] for position in addressing.order)
        if self.layout.kind == "gather":
            return reshaped(box, addressing.result_shape, self.layout.output_shape)
        updates = self.layout.updates
        if updates is None or updates.name is None:
            return None
        shape = self.run.inputs[updates.name].shape
        if updates.fit is Fit.BROADCAST:
            return axis_boxes(box, shape)
        if updates.fit is Fit.CYCLE:
            size, wanted = prod(shape), addressing.result_shape
            flat = reshaped(box, wanted, (prod(wanted),))[0][0] % size
            return reshaped(((flat, flat + 1),), (size,), shape)
        if updates.fit in (Fit.RESHAPE, Fit.CROP) and len(shape) != len(box):
            return reshaped(box, addressing.result_shape, shape)
        return box

    def _index_boxes(self, number: int) -> tuple[tuple[str, Box], ...]:
        boxes: dict[str, Box] = {}
        for column, declared in enumerate(self.layout.addressing.columns):
            if declared.source in boxes:
                continue
            place = self.run.plan.index_position(column, number)
            box = [(at, at + 1) for at in place]
            if declared.vector_dim is not None:
                length = self.run.inputs[declared.source].shape[declared.vector_dim]
                box[declared.vector_dim] = (0, length)
            boxes[declared.source] = tuple(box)
        return tuple(boxes.items())
