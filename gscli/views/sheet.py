"""A tensor and what of it is shown: the chosen planes, rows and columns, values, marks and texts.

One model of a drawing, which the terminal and the page render. Sheets are made before anything is
drawn, because one number format fits all tensors of a group; texts are written in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from math import prod
from typing import Literal, TypeAlias

import numpy as np

from gscli.base.arrays import Array, BoolArray, Indices, is_lazy
from gscli.base.records import Record, cached_property, group_pairs
from gscli.layout.axes import Box, span_positions
from gscli.plan.indices import IndexOutcome
from gscli.views.look import MATRIX, MAX_WHOLE_CELLS, Limits, ViewOptions
from gscli.views.subject import Mark, Patch, PreviousValues, TensorView

# Numbers of the shown plane, row and column.
SheetPosition: TypeAlias = tuple[int, ...]

# Coordinates in the tensor.
Coordinates: TypeAlias = tuple[int, ...]

# What a head is of.
HeadRole: TypeAlias = Literal["row", "column", "plane"]

# Leading axes that still make a grid of planes: down and across.
_GRID_RANK = 2


# Rows or columns of a table; ranges are left out of it.
Positions: TypeAlias = Sequence[int | range]


def fill_gaps(shown: Sequence[int], allowed: range) -> list[int | range]:
    """The positions shown and, as ranges, those left out between them.

    >>> fill_gaps((0, 1, 7), range(9))
    [0, 1, range(2, 7), 7, range(8, 9)]
    """
    items: list[int | range] = []
    outside = (allowed.start - allowed.step, *shown, allowed.start + len(allowed) * allowed.step)
    for before, at in pairwise(outside):
        gap = range(before + allowed.step, at, allowed.step)
        items += [gap] * bool(gap) + [at]
    return items[:-1]


class Selection(Record):
    """The planes, rows and candidate columns to show."""

    allowed: tuple[range, ...]
    planes: tuple[tuple[int, ...], ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    @property
    def has_all_columns(self) -> bool:
        """Whether every column is a candidate."""
        return len(self.columns) == len(self.allowed[-1])

    @property
    def is_complete(self) -> bool:
        """Whether every row and plane is shown, and every column if it fits."""
        rows = len(self.rows) == len(self.allowed[-2])
        return rows and len(self.planes) == self.plane_count and self.has_all_columns

    @property
    def plane_count(self) -> int:
        """Planes there are, shown or not."""
        return prod(map(len, self.allowed[:-2]))


def select_cells(allowed: tuple[range, ...], boxes: Sequence[Box], limits: Limits) -> Selection:
    """Choose for a tensor whose axes may be seen at `allowed`; rank 0 and 1 count as one row."""
    axes = (range(1),) * max(MATRIX - len(allowed), 0) + allowed
    lead, rows, columns = axes[:-2], axes[-2], axes[-1]
    flat = len(lead) <= _GRID_RANK or not boxes
    all_planes = limits.full or (flat and prod(map(len, lead)) <= limits.planes)
    planes = product(*lead) if all_planes else ()
    if limits.full or (all_planes and len(rows) <= limits.rows and len(columns) <= limits.columns):
        return Selection(axes, tuple(planes), tuple(rows), tuple(columns))
    from gscli.views.choices import fill_single_gaps, rank_coordinates, select_planes

    boxes = list(map(_with_rows, boxes))
    shown_rows = rank_coordinates(rows, [box[-2] for box in boxes], limits.rows, limits)
    shown_rows = fill_single_gaps(sorted(shown_rows), rows)
    shown_columns = rank_coordinates(columns, [box[-1] for box in boxes], limits.columns, limits)
    shown_planes = planes if all_planes else select_planes(lead, boxes, limits.planes)
    return Selection(axes, tuple(shown_planes), tuple(shown_rows), tuple(sorted(shown_columns)))


class VisibleTensor:
    """The shown part of a subject. Reads no more of the array than it shows.

    `allowed`: what may be shown of it; `lens`: that is one of its neighbourhoods. `boxes`: where
    one would look first.
    """

    def __init__(
        self, subject: TensorView, limits: Limits, allowed: tuple[range, ...] | None, *, lens: bool
    ) -> None:
        shape = subject.array.shape
        self.subject, self.is_region = subject, lens
        self.rank = len(shape)
        self.lines = 1 << 30 if limits.full else limits.lines
        axes = allowed if allowed is not None else tuple(map(range, shape))
        self.empty = any(len(axis) == 0 for axis in axes)
        unlit = subject.full_run.marks if subject.full_run is not None else ()
        differing = subject.expected.difference.cells if subject.expected is not None else ()
        wrong = [tuple((at, at + 1) for at in cell.at) for cell in differing]
        self.boxes = [*wrong, *(mark.box for mark in subject.marks or unlit[:1])]
        self._limits = limits
        self._wanted = [*wrong, *(mark.box for mark in (*subject.marks, *unlit))]
        self.selection: Selection = select_cells(axes, self._wanted, limits)
        self._read(subject.before)

    @cached_property
    def by_importance(self) -> list[int]:
        """The candidate columns, those first that should be seen first."""
        from gscli.views.choices import rank_coordinates

        spans = [_with_rows(box)[-1] for box in self._wanted]
        allowed, limits = self.selection.allowed[-1], self._limits
        return rank_coordinates(allowed, spans, limits.columns, limits)

    def samples(self) -> list[Array]:
        """The values that will be shown, for the choice of a number format."""
        between = [part for pair in self.subject.steps.values() for part in pair]
        shown = [self.values[self.known], self.expected[self.differing_mask]]
        return [*shown, self.reserved, self.previous, *between]

    def to_coordinates(self, place: SheetPosition) -> Coordinates:
        """Where in the tensor a place lies: numbers and vectors are drawn as one row."""
        plane, row, column = place
        seen = self.selection
        coordinates = (*seen.planes[plane], seen.rows[row], seen.columns[column])
        return coordinates[-self.rank :] if self.rank else ()

    def marks_by_position(self, marks: Sequence[Mark]) -> Mapping[SheetPosition, list[Mark]]:
        """The marks on each shown cell."""
        return group_pairs(
            (place, mark) for mark in marks for place in product(*self._positions_of(mark.box))
        )

    def outcomes_by_position(
        self, outcomes: Mapping[tuple[int, ...], IndexOutcome]
    ) -> dict[SheetPosition, IndexOutcome]:
        """What became of the index numbers, where it is worth a sign."""
        boxes = ((tuple((start, start + 1) for start in at), how) for at, how in outcomes.items())
        return {place: how for box, how in boxes for place in product(*self._positions_of(box))}

    def is_in_view(self, mark: Mark) -> bool:
        """Whether some cell of the mark lies in the part of the tensor that is looked at."""
        return all(map(span_positions, self.selection.allowed, _with_rows(mark.box)))

    def find_heads(self) -> dict[tuple[HeadRole | int, ...], Mark]:
        """The heads of columns, rows and planes at which marked cells lie, and their marks.

        A slice that takes a whole row lies at the head of that row only.
        """
        heads: dict[tuple[HeadRole | int, ...], Mark] = {}
        shape = (1,) * max(MATRIX - self.rank, 0) + self.subject.array.shape
        for mark in self.subject.marks:
            planes, rows, columns = self._positions_of(mark.box)
            spans = zip(_with_rows(mark.box)[-2:], shape[-2:], strict=True)
            high, wide = (span == (0, size) for span, size in spans)
            for plane in planes:
                if wide and high and self.rank > 1:
                    heads["plane", plane] = mark
                if not wide or self.rank == 1:
                    heads.update({("column", plane, column): mark for column in columns})
                if not high:
                    heads.update({("row", plane, row): mark for row in rows})
        return heads

    def hides_planes(self) -> bool:
        """Whether some mark lies, in part at least, on a plane that is not shown."""
        lead, boxes = self.selection.allowed[:-2], (mark.box for mark in self.subject.marks)
        planes = ((map(span_positions, lead, box), self._positions_of(box)[0]) for box in boxes)
        return any(prod(map(len, touched)) > len(shown) for touched, shown in planes)

    def _read(self, before: PreviousValues | None) -> None:
        """What is shown of each array, by plane, row and column."""
        subject = self.subject
        self.values = self.read_shown(subject.array)
        self.reserved = self.read_shown(subject.full_run and subject.full_run.array)
        self.known: BoolArray = np.ones(self.values.shape, np.bool_)
        if subject.known is not None:
            self.known = self.read_shown(subject.known)
        self.values = self._apply_patches(self.values, subject.patches)
        self.previous = self.read_shown(before and before.array)
        self.previous = self._apply_patches(self.previous, before.patches if before else ())
        self.expected = self.read_shown(subject.expected.expected if subject.expected else None)
        self.differing_mask = self.compute_differing_mask(self.values)
        if subject.pending is not None:
            self.differing_mask = self.differing_mask & ~self.read_shown(subject.pending)

    def compute_differing_mask(self, values: Array) -> BoolArray:
        """Which of the shown cells do not hold what is expected, if anything is."""
        expected = self.subject.expected
        if expected is None:
            return np.zeros(self.expected.shape, np.bool_)
        return expected.differing_mask(values, self.expected)

    def _apply_patches(self, shown: Array, patches: Sequence[Patch]) -> Array:
        if patches and shown.dtype.kind == "U":
            shown = shown.astype(object)
        for patch in patches if shown.size else ():
            box, place = _with_rows(patch.box), np.ix_(*self._positions_of(patch.box))
            box = tuple(box[axis] for axis in self._axes)
            values = patch.values.reshape([stop - start for start, stop in box])
            everywhere = (np.broadcast_to(axis, shown.shape) for axis in self._coordinates)
            pairs = zip(everywhere, box, strict=True)
            shown[place] = values[tuple(axis[place] - start for axis, (start, _) in pairs)]
            self.known[place] = True
        return shown

    @cached_property
    def _axes(self) -> list[int]:
        """All axes but planes of one cell: NumPy takes fewer index arrays than there are axes."""
        sizes = self.subject.array.shape[:-MATRIX]
        rest = range(len(sizes), max(self.rank, MATRIX))
        return [*(axis for axis, size in enumerate(sizes) if size > 1), *rest]

    @cached_property
    def _coordinates(self) -> tuple[Indices, ...]:
        """Where the shown cells lie on these: the numbers broadcast to planes, rows and columns."""
        seen = self.selection
        leads = np.array(seen.planes, np.int64).T[self._axes[:-MATRIX], :, None, None]
        return (*leads, np.array(seen.rows)[None, :, None], np.array(seen.columns))

    def read_shown(self, array: Array | None) -> Array:
        """The shown values of an array of this shape; none of no array.

        Of an array in chunks none is read but those with shown cells.
        """
        if array is None or self.empty:
            return np.zeros((0, 0, 0), np.bool_)
        sizes = (1,) * max(MATRIX - self.rank, 0) + array.shape
        shape = [sizes[axis] for axis in self._axes]
        if not is_lazy(array):
            return array.reshape(shape)[self._coordinates]
        from gscli.lab.sample import take_cells

        cells = np.ravel_multi_index(np.broadcast_arrays(*self._coordinates), shape)
        return take_cells(array, cells.reshape(-1)).reshape(cells.shape)

    def _positions_of(self, box: Box) -> tuple[list[int], range, range]:
        """Where a box lies among the shown planes, rows and columns."""
        box, seen = _with_rows(box), self.selection
        planes = [
            number
            for number, plane in enumerate(seen.planes)
            if all(start <= at < stop for at, (start, stop) in zip(plane, box, strict=False))
        ]
        return planes, span_positions(seen.rows, box[-2]), span_positions(seen.columns, box[-1])


def _with_rows(box: Box) -> Box:
    return ((0, 1),) * max(MATRIX - len(box), 0) + box


def make_visible_tensors(
    subject: TensorView, options: ViewOptions, limits: Limits, close: Limits | None, reach: int = 0
) -> list[VisibleTensor]:
    """The sheet of a tensor; of a large one that is touched in places a lens on each, `close` up.

    `reach`: rows and columns up to which neighbours share a lens.
    """
    shape, allowed = subject.array.shape, None
    if options.slice is not None and subject.role in (None, "data", "output"):
        from gscli.views.choices import parse_slice

        allowed = parse_slice(options.slice, shape)
    whole = VisibleTensor(subject, limits, allowed, lens=False)
    is_small = whole.selection.is_complete or subject.array.size <= MAX_WHOLE_CELLS
    if close is None or is_small:
        return [whole]
    from gscli.views.lenses import REACH, split_into_regions

    regions = split_into_regions(shape, whole.boxes, options.edge, reach=reach or REACH)
    return [VisibleTensor(subject, close, lens, lens=True) for lens in regions] or [whole]


def is_part_requested(options: ViewOptions) -> bool:
    """Whether the user says which part of a tensor to show."""
    return options.full or options.rows is not None or options.slice is not None
