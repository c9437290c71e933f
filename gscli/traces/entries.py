"""Entries of a run, for people: what each index said, which cells it met and what became of it.

Coordinates come from the plan, values from a replay with the kernel's own reduction table; nothing
here decides a rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from gscli.base.arrays import Array, Indices, to_json
from gscli.base.records import Record, cached_property, former_names
from gscli.base.words import entry_label
from gscli.kernel import ScatterOutput
from gscli.kernel.reductions import cast_and_scale, prepare_updates, saturating_cast
from gscli.kernel.tiles import Tile, cell_addresses
from gscli.layout.axes import Box, Fit, box_size, reshape_box, subtract_box, unbroadcast_box
from gscli.plan.plan import ValidatedPlan

if TYPE_CHECKING:
    from gscli.plan.outcomes import AdjustedIndex


class Change(Record):
    """What one entry did: values before, the updates as applied, values after (window, flat).

    `previous_writer`: number of the last entry before that wrote one of the cells, or None.
    `is_first_write`: the reduction started from its identity here (include_self off).
    `term_count`: values in each cell so far, for mean. `operands`: what `new` was made of: `update`
    and what it met, a sum for mean, or data and all updates so far where these meet each other
    first.
    """

    old: Array
    update: Array
    new: Array
    previous_writer: int | None
    is_first_write: bool
    term_count: int
    operands: tuple[Array, Array]


@former_names(lost="dropped_count")
class Entry(Record):
    """One index of the operation, numbered in row-major order of the entry grid.

    Boxes are half-open ranges per axis, in the coordinates of the tensor they lie in. `target`
    is where data was read or output written (None when skipped), `result` where gather wrote its
    output or scatter took its updates. `indices` holds one box per index input. `dropped`: updates
    of a live entry that have no cell, because its window lies partly outside.
    """

    number: int
    label: str
    at: tuple[int, ...]
    vector: tuple[int | float, ...]
    indices: tuple[tuple[str, Box], ...]
    adjustments: tuple[AdjustedIndex, ...]
    target: Box | None
    result: Box | None
    change: Change | None = None
    dropped: tuple[Box, ...] = ()

    @property
    def live(self) -> bool:
        """False for a skipped entry."""
        return self.target is not None

    @property
    def dropped_count(self) -> int:
        """How many updates of a live entry are dropped."""
        return sum(map(box_size, self.dropped))

    @property
    def status(self) -> Literal["ok", "wrap", "clip", "skip"]:
        """The strongest thing that happened to the entry's numbers."""
        if not self.live:
            return "skip"
        signs = {index.sign for index in self.adjustments}
        return "clip" if "clipped" in signs else "wrap" if signs else "ok"

    def to_dict(self, *, gathered: bool = False) -> dict[str, object]:
        """The JSON form; `gathered`: the entry is a gather's."""
        document: dict[str, object] = {
            "id": self.label,
            "at": list(self.at),
            "index": [to_json(number) for number in self.vector],
            "cell": None if self.target is None else _box_list(self.target),
            "status": self.status,
        }
        if self.result is not None:
            document["result" if gathered else "update"] = _box_list(self.result)
        if self.change is not None and self.change.old.size == 1:
            document["old"] = to_json(self.change.old.reshape(-1)[0])
            document["new"] = to_json(self.change.new.reshape(-1)[0])
        if self.dropped:
            document["dropped"] = self.dropped_count
        return document


def _box_list(box: Box) -> list[object]:
    """A coordinate, or [first, last+1] where the slice extends along the axis."""
    return [start if stop == start + 1 else [start, stop] for start, stop in box]


# Of each column an entry's coordinate, and the code of what became of its number.
ResolvedNumbers: TypeAlias = tuple[tuple[int, int], ...]

ENTRIES_AT_ONCE = 1024

# Cells replayed at most; entries beyond have no change.
REPLAYED_CELLS = 1 << 20


def iter_entries(
    plan: ValidatedPlan, count: int, first: int = 0, *, replayed: bool = True
) -> Iterator[Entry]:
    """The entries from `first` to before `count`, those of a scatter with old and new values if
    `replayed`.

    >>> import gscli
    >>> plan = gscli.trace("gather", {"data": [10, 20, 30], "indices": [-1]}).plan
    >>> [(entry.label, entry.target) for entry in iter_entries(plan, 1)]
    [('a', ((2, 3),))]
    """
    return _EntryBuilder(plan, count, replayed=replayed).entries(first)


class _EntryBuilder:
    def __init__(self, plan: ValidatedPlan, count: int, *, replayed: bool) -> None:
        self.plan, self.count, self.layout = plan, count, plan.layout
        self.replayed_count = 0
        if replayed and self.layout.kind == "scatter":
            self.replayed_count = min(count, REPLAYED_CELLS // max(self.layout.window_size, 1))

    def entries(self, begin: int) -> Iterator[Entry]:
        """All of them from `begin`; ENTRIES_AT_ONCE are resolved together."""
        plan, count = self.plan, self.count
        for first in range(begin, count, ENTRIES_AT_ONCE):
            last = min(first + ENTRIES_AT_ONCE, count)
            grid = [axis.tolist() for axis in plan.entry_coordinates(first, last)]
            numbers = range(len(self.layout.column_axes))
            columns = [self._column_coordinates(column, first, last) for column in numbers]
            for offset in range(last - first):
                at = tuple(axis[offset] for axis in grid)
                resolved = tuple(column[offset] for column in columns)
                yield self._build_entry(first + offset, at, resolved)

    def _column_coordinates(self, column: int, first: int, last: int) -> list[tuple[int, int]]:
        """Each coordinate of one column, and the code of what became of its number."""
        numbers = self.plan.raw_indices(column, first, last)
        if self.plan.in_bounds[column]:
            return [(number, 0) for number in self.plan.coordinates(column, numbers)[0].tolist()]
        from gscli.plan.outcomes import classify_indices

        coordinates, codes = classify_indices(self.plan, column, numbers)
        return list(zip(coordinates.tolist(), codes.tolist(), strict=True))

    def _build_entry(self, number: int, at: tuple[int, ...], resolved: ResolvedNumbers) -> Entry:
        adjusted = tuple(self._iter_adjusted(number, resolved))
        spans = self._axis_spans(at, tuple(start for start, _ in resolved))
        target = None if any(i.sign == "skipped" for i in adjusted) else self._target_box(spans)
        whole = tuple((0, size) for size in self.layout.addressing.window)
        result = kept = self._result_box(at, whole)
        if self.layout.fold is not None:
            result = kept = self._fold_targets[number]
        is_cropped = self.layout.kind == "scatter" and not self.layout.policy.is_atomic
        if is_cropped and target is not None:
            kept = self._result_box(at, self._existing_window(spans))
        facts = self.plan.index_vector(number), self._index_boxes_by_input(number), adjusted
        change = None if target is None else self.changes.get(number)
        dropped = subtract_box(result, kept) if result is not None and kept is not None else ()
        return Entry(number, entry_label(number), at, *facts, target, kept, change, dropped)

    def _iter_adjusted(self, number: int, resolved: ResolvedNumbers) -> Iterator[AdjustedIndex]:
        """The numbers of an entry that are not their own coordinates."""
        if not any(code for _, code in resolved):
            return
        from gscli.plan.outcomes import adjusted_index

        for column, (start, code) in enumerate(resolved):
            index = adjusted_index(self.plan, column, number, code, start) if code else None
            if index is not None and index.outcome != "partly":
                yield index

    def _axis_spans(self, at: tuple[int, ...], starts: tuple[int, ...]) -> list[tuple[int, int]]:
        """Where an entry lies on each axis of the view, parts that do not exist included."""
        spans = []
        for axis in self.layout.axes:
            start = 0 if axis.column is None else starts[axis.column]
            start += 0 if axis.entry is None else at[axis.entry]
            spans.append((start, start + axis.reach))
        return spans

    def _target_box(self, spans: list[tuple[int, int]]) -> Box | None:
        layout = self.layout
        pairs = zip(spans, layout.axes, strict=True)
        box = tuple((max(start, 0), min(stop, axis.size)) for (start, stop), axis in pairs)
        if any(stop <= start for start, stop in box):
            return None
        return reshape_box(box, layout.view_shape, layout.data_shape)

    def _existing_window(self, spans: list[tuple[int, int]]) -> Box:
        """The part of an entry's window whose cells exist."""
        window = [(0, size) for size in self.layout.addressing.window]
        for (start, _), axis in zip(spans, self.layout.axes, strict=True):
            if axis.window is not None:
                window[axis.window] = (max(-start, 0), min(axis.span, axis.size - start))
        return tuple(window)

    def _result_box(self, at: tuple[int, ...], window: Box) -> Box | None:
        addressing = self.layout.addressing
        both = [(place, place + 1) for place in at] + list(window)
        box = tuple(both[position] for position in addressing.result_axes)
        if self.layout.kind == "gather":
            return reshape_box(box, addressing.result_shape, self.layout.output_shape)
        updates = self.layout.updates
        if updates is None or updates.name is None:
            return None
        shape = self.plan.inputs[updates.name].shape
        if updates.fit is Fit.BROADCAST:
            return unbroadcast_box(box, shape)
        if updates.fit is Fit.CYCLE:
            size, entry_shape = prod(shape), addressing.result_shape
            flat = reshape_box(box, entry_shape, (prod(entry_shape),))[0][0] % size
            return reshape_box(((flat, flat + 1),), (size,), shape)
        if updates.fit in (Fit.RESHAPE, Fit.CROP) and len(shape) != len(box):
            return reshape_box(box, addressing.result_shape, shape)
        return box

    @cached_property
    def _fold_targets(self) -> list[Box | None]:
        """For each entry where in output its cells are folded, None for one that is in no bag."""
        cells = np.broadcast_to(np.zeros(()), self.layout.result_shape)
        fold = _EntryBuilder(self.plan.plan_fold(cells), self.count, replayed=False)
        boxes = [entry.target for entry in fold.entries(0)]
        shapes = fold.layout.data_shape, self.layout.output_shape
        return [box and reshape_box(box, *shapes) for box in boxes]

    def _index_boxes_by_input(self, number: int) -> tuple[tuple[str, Box], ...]:
        boxes: dict[str, Box] = {}
        for column, declared in enumerate(self.layout.addressing.columns):
            if declared.source in boxes:
                continue
            box = [(at, at + 1) for at in self.plan.index_position(column, number)]
            if declared.vector_dim is not None:
                length = self.plan.inputs[declared.source].shape[declared.vector_dim]
                box[declared.vector_dim] = (0, length)
            boxes[declared.source] = tuple(box)
        return tuple(boxes.items())

    # --- replaying a scatter, on a compact copy of the touched cells ------------------------------

    @cached_property
    @np.errstate(all="ignore")
    def changes(self) -> dict[int, Change]:
        """What each entry did, in an output of the kernel that has the addressed cells alone; none
        beyond the replayed entries.
        """
        plan, layout, count = self.plan, self.layout, self.replayed_count
        if not count:
            return {}
        addresses, inside = cell_addresses(plan, 0, count)
        if inside is not None:
            addresses = np.where(inside, addresses, 0)  # skipped cells have no address of meaning
        cells, compact = np.unique(addresses, return_inverse=True)
        compact = compact.reshape(addresses.shape)
        initial = plan.initial_output.reshape(-1)[cells]
        initial = initial.astype(object) if layout.dtype == "str" else initial  # of any length
        target = ScatterOutput(layout, initial.copy(), 1)
        target.count_updates([compact.reshape(-1) if inside is None else compact[inside]])
        values, whole = target.rows[:, 0], slice(None)
        raw = self._read_updates()
        updates = cast_and_scale(layout, raw, values.dtype)
        masked = prepare_updates(layout, raw, values.dtype)
        writers = np.full(cells.shape, -1, np.int64)
        terms = np.full(cells.shape, layout.own_terms, np.int64)
        changes: dict[int, Change] = {}
        for number in range(count):
            keep = whole if inside is None else inside[number]
            where, update = compact[number][keep], updates[number][keep]
            if where.size == 0:
                continue
            term_counts, current = terms[where], values[where]
            fresh = not layout.include_self and bool((term_counts == 0).any())
            target.apply_updates(Tile(whole, where, None, ()), masked[number][keep][:, None])
            operands = current, update
            if target.rule.epilogue is not None:
                operands = self._meet_data(target, where, values[where])
            old = self._finish(target, where, current, term_counts)
            new = self._finish(target, where, values[where], term_counts + 1)
            if fresh:
                old = np.where(term_counts == 0, initial[where], old)
            terms[where] += 1
            earlier = writers[where]
            again = int(earlier.max()) if (earlier >= 0).any() else None
            writers[where] = number
            most = int(terms[where].max())
            changes[number] = Change(old, update, new, again, fresh, most, operands)
        return changes

    def _read_updates(self) -> Array:
        """The updates of the entries as (entries, window), in their own type."""
        rows = self.plan.updates_view()
        grid = self.plan.entry_coordinates(0, self.replayed_count)
        chosen = rows[grid] if grid else rows[None]
        return chosen.reshape(self.replayed_count, self.layout.window_size)

    def _finish(
        self, target: ScatterOutput, cells: Indices, values: Array, counts: Indices
    ) -> Array:
        """What cells hold when their running values, of so many terms, are all that they get."""
        rule = target.rule
        if rule.epilogue is not None:
            return rule.epilogue(*self._meet_data(target, cells, values)).reshape(values.shape)
        if rule.divisor is not None:
            sums = saturating_cast(values, target.dtype)
            means = rule.divide_sums(sums, counts, as_c=target.keeps_lone)
            return np.where(counts > target.keeps_lone, means, sums)
        # What is summed is cast once, at the end.
        return saturating_cast(values, target.dtype) if rule.ufunc is None else values

    def _meet_data(
        self, target: ScatterOutput, cells: Indices, values: Array
    ) -> tuple[Array, Array]:
        """Data, and what updates that met each other come to in its type."""
        data = target.data[cells].reshape(values.shape if self.layout.data_shape else ())
        return data, target.rule.convert(data, values.reshape(data.shape))
