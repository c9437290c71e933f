"""Where the entries of a call go, prepared for one operation of a target.

A place holds the index numbers as the operation wants them: negative ones counted from the end
where it does not count itself, moved to the border, or put aside where entries are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from gscli.codegen.index_numbers import AxisBounds, IndexNormalizer
from gscli.codegen.meaning import CallAnalysis, combined
from gscli.codegen.native import NativeOp, TargetFramework
from gscli.codegen.steps import Literal, SnippetProgram, Value, stretched
from gscli.layout.axes import Axis, Column, Following, Shape
from gscli.layout.matching import (
    IndexForm,
    match_along_axis,
    match_elements,
    match_vectors,
    match_windows,
)
from gscli.plan.indices import legal_range

MATCHERS = {
    "take": match_along_axis, "along": match_elements, "vectors": match_vectors,
    "direct": match_windows,
}  # fmt: skip
"""What an addressing must be for an operation of each form."""


SINGLE = IndexForm()


@dataclass
class LoweredIndices:
    """Prepared indices for `native`: one array (`index`), or a coordinate for each axis."""

    native: NativeOp
    form: IndexForm = SINGLE
    index: Value | None = None
    cells: tuple[Value, ...] = ()
    grid: Shape = ()
    live: Value | None = None
    drops: bool = False
    """Whether entries that are not live already point where nothing is written."""


class IndexLowering:
    """Finds the place of a call for the operations of one target."""

    def __init__(
        self,
        meaning: CallAnalysis,
        target: TargetFramework,
        steps: SnippetProgram,
        inputs: dict[str, Value],
    ) -> None:
        self.meaning, self.target, self.steps, self.inputs = meaning, target, steps, inputs
        self.layout = meaning.layout
        self.addressing = meaning.layout.addressing
        self.writes = self.layout.kind == "scatter"
        self.numbers = IndexNormalizer(meaning, target, steps)
        following = [
            one.name for one in self.addressing.ranges if isinstance(one.numbers, Following)
        ]
        self.judged = {*meaning.sources, *following}
        """Inputs whose numbers the policy is for; a slice's and a mask's are right as they are."""

    def place(self, native: NativeOp) -> LoweredIndices | None:
        """Prepared indices for an operation, None where it does not suit the call."""
        if native.form in ("cells", "rows"):
            return self._cells(native)
        if not self.addressing.columns or len(self.meaning.index_names) != 1:
            return None
        if self.addressing.ranges:
            return None
        index = self.inputs[self.meaning.sources[self.meaning.index_names[0]]]
        shape = index.shape
        if native.form in ("take", "along") and len(shape) != len(self.addressing.entries):
            shape = self._lifted(shape)
        found = MATCHERS[native.form](self.addressing, shape)
        if found is None or not self._suits(native, found):
            return None
        index = self.steps.reshape(index, shape)
        place = LoweredIndices(native, found)
        place.index, place.live, place.drops = self.numbers.prepared(
            index,
            native,
            self.numbers.bounds(index, found.vector_dim),
            combined(self.meaning.entries),
        )
        return place

    def _lifted(self, shape: Shape) -> Shape:
        """An index of rank 0 that counts as rank 1."""
        entries = self.addressing.entries
        return entries if not shape and entries == (1,) else shape

    def _suits(self, native: NativeOp, found: IndexForm) -> bool:
        if found.numbers is not None:
            return not (self.meaning.skips and (not self.writes or self.numbers.partial))
        if native.form == "vectors" and self.meaning.skips:
            return self.writes and self.numbers.drops_itself(native)
        if native.form == "along":
            crops = native.crops and not self.writes
            return native.smaller or crops or self._covers(found.axis)
        return not found.batch or self._takes_batch(native, found)

    def _takes_batch(self, native: NativeOp, found: IndexForm) -> bool:
        """Whether batch axes are the operation's own; elements of a matrix are left to others."""
        alone = prod(self.layout.view_shape[: found.batch]) == 1
        elements = any(one.form == "along" for one in self.target.reads)
        elements = elements and native.form == "take"
        rows = elements and match_elements(self.addressing, self.addressing.entries) is not None
        return native.batch and (native.lone_batch or not alone) and not rows

    def _covers(self, axis: int) -> bool:
        """Whether indices are as large as data off the axis."""
        pairs = zip(self.layout.view_shape, self.addressing.entries, strict=True)
        return all(size == other for at, (size, other) in enumerate(pairs) if at != axis)

    # A coordinate for each axis.

    def _cells(self, native: NativeOp) -> LoweredIndices:
        traveling = self.addressing.traveling
        lead = len(self.addressing.window) - traveling
        grid = (*self.addressing.entries, *self.addressing.window[:lead])
        whole = self._all_at_once(native)
        cells: list[Value] = []
        live: Value | None = None
        drops = False
        for axis in self.layout.axes[: len(self.layout.axes) - traveling]:
            cell, alive, dropped = self._coordinate(axis, native, grid, whole)
            cells.append(cell)
            drops |= dropped
            if alive is not None:
                live = alive if live is None else self._both(live, alive)
        if not cells:
            cells = [self.steps.iota(range(1), 0, len(grid))]
        if stretched(*(cell.shape for cell in cells)) != grid:
            cells[0] = self.steps.expand(cells[0], grid)
        if live is not None:
            live = self.steps.expand(live, grid)
        return LoweredIndices(native, cells=tuple(cells), grid=grid, live=live, drops=drops)

    def _all_at_once(self, native: NativeOp) -> Value | None:
        """All numbers of several columns prepared together, where they lie in one input."""
        columns = self.addressing.columns
        if len(columns) < 2 or self.meaning.skips:  # noqa: PLR2004  several
            return None
        if len({column.source for column in columns}) != 1 or columns[0].slot is None:
            return None
        if columns[0].source not in self.meaning.sources:
            return None
        dims = {column.vector_dim for column in columns}
        index = self.inputs[self.meaning.sources[columns[0].source]]
        dim = columns[0].vector_dim
        if len(dims) != 1 or dim is None or index.shape[dim] != len(columns):
            return None
        bounds = self.numbers.bounds(index, dim)
        return self.numbers.prepared(index, native, bounds, combined(self.meaning.entries))[0]

    def _both(self, one: Value, other: Value) -> Value:
        shape = stretched(one.shape, other.shape)
        return self.steps.add("both", "live", shape, "bool", one, other)

    def _coordinate(
        self, axis: Axis, native: NativeOp, grid: Shape, whole: Value | None
    ) -> tuple[Value, Value | None, bool]:
        """The sum of an axis's terms, shaped to the grid; which entries are live on it."""
        terms: list[Value] = []
        live, drops = None, False
        if axis.column is not None:
            column = self.addressing.columns[axis.column]
            number = self._column(column, whole)
            high = legal_range(axis, self.layout.policy)[1]
            found = self.meaning.entries[axis.column]
            per_cell = axis.window is not None and not self.layout.policy.whole
            if whole is None and column.source in self.judged:
                if per_cell:
                    found = found._replace(outside=False, negative=False)
                bounds = AxisBounds(axis.size, high)
                number, live, drops = self.numbers.prepared(number, native, bounds, found)
            terms.append(self._on_grid(number, grid))
            if live is not None:
                live = self._on_grid(live, grid)
        rank = len(grid)
        if axis.entry is not None:
            extent = self.addressing.entries[axis.entry]
            terms.append(self.steps.iota(range(extent), axis.entry, rank))
        if axis.window is not None and (axis.span != 1 or not terms):
            at = len(self.addressing.entries) + axis.window
            terms.append(self.steps.iota(range(axis.span), at, rank))
        if not terms:
            terms = [self.steps.iota(range(1), 0, rank)]
        cell = terms[0]
        for term in terms[1:]:
            cell = self.steps.plus(cell, self.steps.cast(term, cell.dtype))
        if axis.column is not None and axis.window is not None and not self.layout.policy.whole:
            cell, live, drops = self._judged_cells(cell, axis, native)
        return self.steps.cast(cell, "int64"), live, drops

    def _judged_cells(
        self, cell: Value, axis: Axis, native: NativeOp
    ) -> tuple[Value, Value | None, bool]:
        """Each cell of a window is judged alone."""
        found = self.meaning.entries[axis.column or 0]
        if not (found.outside or found.negative):
            return cell, None, False
        if self.writes and self.numbers.drops_itself(native):
            return cell, None, True
        high = Literal(axis.size - 1, cell.dtype)
        live = self.steps.add("inside", "live", cell.shape, "bool", cell, high=high)
        return cell, live, False

    def _column(self, column: Column, whole: Value | None) -> Value:
        """The numbers of one column as an array of its input's shape, without the vector axis."""
        for positions in self.addressing.ranges:
            if positions.name == column.source:
                return self._positions(column.source)
        index = self.inputs[self.meaning.sources[column.source]] if whole is None else whole
        if column.slot is None or column.vector_dim is None:
            return index
        return self.steps.slot(index, column.vector_dim, column.slot)

    def _positions(self, name: str) -> Value:
        """Numbers that the layout makes: those of a slice, or of a mask's True cells."""
        positions = next(one for one in self.addressing.ranges if one.name == name)
        numbers = positions.numbers
        if isinstance(numbers, range):
            dim = next((at for at, size in enumerate(positions.shape) if size != 1), 0)
            return self.steps.iota(numbers, dim, len(positions.shape))
        if isinstance(numbers, Following):
            first = self.inputs[self.meaning.sources[numbers.source]]
            rank = len(first.shape)
            first = self.steps.reshape(self.steps.cast(first, "int64"), (*first.shape, 1))
            return self.steps.plus(first, self.steps.iota(range(numbers.steps), rank, rank + 1))
        mask = self.steps.expand(self.inputs["mask"], numbers.shape)
        return self.steps.add("nonzero", "true", positions.shape, "int64", mask, axis=numbers.axis)

    def _on_grid(self, value: Value, grid: Shape) -> Value:
        """An array over the entries as one over the grid: aligned at the entries' last axis."""
        entries = len(self.addressing.entries)
        shape = (1,) * (entries - len(value.shape)) + value.shape
        shape = (*shape[len(shape) - entries :], *(1,) * (len(grid) - entries))
        return self.steps.reshape(value, shape)
