"""Indices of a call, prepared for the operation of a target that suits it.

They hold the index numbers as the operation takes them: negative ones counted from the end where it
does not count itself, moved to the border, or put aside where entries are skipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import prod

from gscli.base.arrays import dtype_name
from gscli.codegen.analysis import CallAnalysis
from gscli.codegen.index_numbers import IndexHandling, IndexNormalizer, has_partial_windows
from gscli.codegen.native import NativeOp, TargetFramework
from gscli.codegen.render import load_language
from gscli.codegen.steps import Constant, Value
from gscli.layout.axes import (
    Axis,
    Column,
    Consecutive,
    GeneratedIndices,
    MaskPositions,
    SegmentNumbers,
    Shape,
)
from gscli.layout.families import broadcast_shapes
from gscli.layout.matching import (
    IndexForm,
    match_along_axis,
    match_elements,
    match_vectors,
    match_windows,
)

# What an addressing must be for an operation of each form.
MATCHERS = {
    "take": match_along_axis, "along": match_elements, "vectors": match_vectors,
    "direct": match_windows,
}  # fmt: skip


@dataclass
class LoweredIndices:
    """How an operation reaches the cells of a call: `operands` are index numbers as it takes them.

    Data has the shape `data_shape` for it, and what it reads or writes at once `value_shape`: that
    of the layout's result, or with `entries_first` that of the entries and the window behind them.
    `live`: which entries are not skipped, None where all are; in a scatter the others go to a row
    more at the end of axis `spare_axis`. `opcode` and `facts` are those of its step.
    """

    native: NativeOp
    operands: list[Value]
    data_shape: Shape
    value_shape: Shape
    opcode: str
    facts: dict[str, object]
    live: Value | None = None
    live_shape: Shape = ()
    spare_axis: int = 0
    entries_first: bool = False


class IndexLowering(IndexNormalizer):
    """Finds the operation of one target that suits a call, and prepares indices for it."""

    def __init__(self, analysis: CallAnalysis, target: TargetFramework) -> None:
        super().__init__(analysis, target)
        self.addressing = self.layout.addressing
        self.inputs = {
            name: self.steps.input(name, array.shape, dtype_name(array.dtype))
            for name, array in analysis.arrays_by_variable.items()
        }
        variables = analysis.variables_by_input
        self.index_values = {name: self.inputs[variable] for name, variable in variables.items()}
        self.generated = {positions.name: positions for positions in self.addressing.generated}

    def lower(self, ops: Iterable[NativeOp]) -> LoweredIndices | None:
        """Indices prepared for the first of some operations that suits the call.

        Index vectors may be taken as a coordinate for each axis, whatever the addressing is.
        """
        for native in ops:
            form = None if native.form == "rows" else self._match_op(native)
            if form is not None:
                return self._lower_array(native, form)
            if native.form in ("vectors", "direct"):
                return self._lower_to_coordinates(native._replace(form="cells", needs_int64=False))
            if native.form == "rows":
                return self._lower_to_coordinates(native)
        return None

    def _match_op(self, native: NativeOp) -> IndexForm | None:
        if not self.addressing.columns or self._index is None:
            return None
        addressing = self.addressing._replace(generated=())
        form = MATCHERS[native.form](addressing, self._index_shape(native, self._index))
        return form if form is not None and self._is_suitable(native, form) else None

    @cached_property
    def _index(self) -> Value | None:
        """The one array of index numbers, of an input or of a mask's True cells."""
        sources = [*self.index_values, *self.generated]
        if len(sources) != 1:
            return None
        for positions in self.generated.values():
            masked = isinstance(positions.recipe, MaskPositions)
            return self._emit_positions(positions) if masked else None
        return self.index_values[sources[0]]

    def _index_shape(self, native: NativeOp, index: Value) -> Shape:
        """The shape of the indices; for slices and cells, rank 0 may count as rank 1."""
        shape, entries = index.shape, self.addressing.entry_shape
        promotes = native.form in ("take", "along") and not shape and entries == (1,)
        return entries if promotes else shape

    def _is_suitable(self, native: NativeOp, form: IndexForm) -> bool:
        if form.numbers is not None:
            leaves_out = self.is_scatter and not has_partial_windows(self.layout)
            return leaves_out or not self.analysis.has_skips
        if native.form == "vectors" and self.analysis.has_skips:
            return self.is_scatter and self.is_dropped_by_op(native)
        if native.form == "along":
            crops = native.can_crop_data and not self.is_scatter
            pairs = zip(self.layout.view_shape, self.addressing.entry_shape, strict=True)
            off_axis = (pair for at, pair in enumerate(pairs) if at != form.axis)
            return native.takes_smaller or crops or all(size == own for size, own in off_axis)
        return not form.batch or self._has_own_batch(native, form)

    def _has_own_batch(self, native: NativeOp, form: IndexForm) -> bool:
        """Whether batch axes are the operation's own; elements of a matrix are left to others."""
        alone = prod(self.layout.view_shape[: form.batch]) == 1
        elements = any(op.form == "along" for op in self.target.ops("gather"))
        elements = elements and native.form == "take"
        rows = elements and match_elements(self.addressing, self.addressing.entry_shape) is not None
        fits = native.takes_batch_of_1 or not alone
        return native.has_attribute("batch_dims") and fits and not rows

    # One array of index numbers.

    def _lower_array(self, native: NativeOp, form: IndexForm) -> LoweredIndices:
        steps, layout, axis, index = self.steps, self.layout, form.axis, self._index
        assert index is not None
        index = steps.reshape(index, self._index_shape(native, index))
        axes = [layout.axes[at] for at in layout.column_axes]
        live: Value | None = None
        if not self.generated:  # a mask's positions are right as they are
            index, live = self.normalize(index, axes, native, form.vector_dim)
        if native.form == "direct":
            live = None  # StableHLO's scatter itself leaves out what lies outside
        if live is not None:
            index = steps.where(live, index, layout.view_shape[axis] if self.is_scatter else 0)
        shape, values, live_shape = index.shape, layout.result_shape, index.shape
        if native.form == "take":
            between, behind = axis - form.batch, len(layout.axes) - axis - 1
            batch, entries = shape[: form.batch], shape[form.batch :]
            live_shape = (*batch, *(1,) * between, *entries, *(1,) * behind)
            if native.needs_rank_1_indices or (native.refuses_rank_0 and not shape):
                index = steps.reshape(index, (prod(shape),))
                values = (*layout.view_shape[:axis], prod(shape), *layout.view_shape[axis + 1 :])
        elif native.form == "vectors":
            dims = [*range(len(shape))]
            dims.append(dims.pop(form.vector_dim))
            index = steps.transpose(index, dims)
            if native.refuses_rank_0 and len(shape) == 1:
                index, values = steps.reshape(index, (1, *shape)), (1, *values)
        facts: dict[str, object] = {"axis": axis, "batch": form.batch, "numbers": form.numbers}
        opcode = "vectors" if native.form == "direct" else native.form
        native = native._replace(name=native.name.format(slices=":, " * axis))
        return LoweredIndices(
            native, [index], layout.view_shape, values, opcode, facts, live, live_shape, axis
        )

    # A coordinate for each axis.

    def _lower_to_coordinates(self, native: NativeOp) -> LoweredIndices:
        steps, traveling = self.steps, self.addressing.traveling
        count, shape = len(self.layout.axes) - traveling, self.layout.view_shape
        if count == 0:
            count, shape = 1, (1, *shape)
        lead = len(self.addressing.window) - traveling
        grid = (*self.addressing.entry_shape, *self.addressing.window[:lead])
        cells, live = self._lower_axes(native, grid)
        by_row = native.form == "rows"
        if live is not None:
            beyond = shape[0] if self.is_scatter and not by_row else 0
            cells = [steps.where(live, cell, 0 if at else beyond) for at, cell in enumerate(cells)]
        if by_row:
            rows, run, entries = prod(shape[:count]), prod(shape[count:]), (prod(grid),)
            row = steps.reshape(steps.expand(steps.emit_fold(cells, shape[:count]), grid), entries)
            if live is not None:
                row = steps.where(steps.reshape(live, entries), row, rows)
            return LoweredIndices(
                native, [row], (rows, run), (*entries, run), "rows",
                {"rows": rows + (live is not None)}, live, entries_first=True,
            )  # fmt: skip
        values, opcode = (*grid, *shape[count:]), "cells"
        if opcode not in load_language(self.target.name).templates:
            cells, opcode = [steps.stack(cells, len(grid))], "vectors"
        if native.refuses_rank_0 and not grid:
            cells = [steps.reshape(cell, (1, *cell.shape)) for cell in cells]
            values = (1, *values)
        return LoweredIndices(
            native, cells, shape, values, opcode, {"batch": 0}, live, (*grid, *(1,) * traveling),
            entries_first=True,
        )  # fmt: skip

    def _lower_axes(self, native: NativeOp, grid: Shape) -> tuple[list[Value], Value | None]:
        """A coordinate for each axis but those that entries move along, and what is live."""
        whole = self._normalize_columns(native)
        cells: list[Value] = []
        live: Value | None = None
        for axis in self.layout.axes[: len(self.layout.axes) - self.addressing.traveling]:
            cell, alive = self._lower_axis(axis, native, grid, whole)
            cells.append(cell)
            if live is not None and alive is not None:
                shape = broadcast_shapes([live.shape, alive.shape])
                live = self.steps.add("both", "live", shape, "bool", live, alive)
            else:
                live = live or alive
        if not cells:
            cells = [self.steps.iota(range(1), 0, len(grid))]
        if broadcast_shapes([cell.shape for cell in cells]) != grid:
            cells[0] = self.steps.expand(cells[0], grid)
        return cells, None if live is None else self.steps.expand(live, grid)

    def _normalize_columns(self, native: NativeOp) -> Value | None:
        """All numbers of several columns prepared together, where they lie in one input."""
        columns = self.addressing.columns
        places = {(column.source, column.vector_dim) for column in columns}
        if len(columns) == 1 or len(places) != 1 or self.analysis.has_skips:
            return None
        source, dim = places.pop()
        index = self.index_values.get(source)
        if index is None or dim is None or index.shape[dim] != len(columns):
            return None
        axes = [self.layout.axes[at] for at in self.layout.column_axes]
        return self.normalize(index, axes, native, dim)[0]

    def _lower_axis(
        self, axis: Axis, native: NativeOp, grid: Shape, whole: Value | None
    ) -> tuple[Value, Value | None]:
        """The sum of an axis's terms, shaped to the grid; which entries are live on it."""
        terms: list[Value] = []
        live: Value | None = None
        judges_cells = axis.window is not None and not self.layout.policy.is_atomic
        if axis.column is not None:
            column = self.addressing.columns[axis.column]
            profile = self.analysis.index_profile
            number = self._column_value(column, whole)
            if whole is None and self._is_read(column):
                if judges_cells:
                    number = self.cast_to_integers(number, native, profile)
                else:
                    number, live = self.normalize(number, [axis], native)
            terms.append(self._align_to_grid(number, grid))
            live = live and self._align_to_grid(live, grid)
        rank = len(grid)
        if axis.entry is not None:
            extent = self.addressing.entry_shape[axis.entry]
            terms.append(self.steps.iota(range(extent), axis.entry, rank))
        if axis.window is not None and (axis.span != 1 or not terms):
            at = len(self.addressing.entry_shape) + axis.window
            terms.append(self.steps.iota(range(axis.span), at, rank))
        if not terms:
            terms = [self.steps.iota(range(1), 0, rank)]
        cell = terms[0]
        for term in terms[1:]:
            cell = self.steps.plus(cell, self.steps.cast(term, cell.dtype))
        if axis.column is not None and judges_cells:
            drops = self.is_scatter and self.is_dropped_by_op(native)
            skips = (profile.out_of_range or profile.negative) and not drops
            self.handlings.append(IndexHandling(skips=skips))
            live = self.steps.is_inside(cell, axis.size - 1) if skips else None
        return self.steps.cast(cell, "int64"), live

    def _column_value(self, column: Column, whole: Value | None) -> Value:
        """The numbers of one column as an array of its input's shape, without the vector axis."""
        positions = self.generated.get(column.source)
        if positions is not None:
            return self._index or self._emit_positions(positions)
        index = whole or self.index_values[column.source]
        if column.component is None or column.vector_dim is None:
            return index
        return self.steps.slot(index, column.vector_dim, column.component)

    def _is_read(self, column: Column) -> bool:
        """Whether the policy is for its numbers; those of slices and masks are right as they are,
        and of segments that take up all positions.
        """
        recipe = getattr(self.generated.get(column.source), "recipe", None)
        leaves_out = isinstance(recipe, SegmentNumbers) and not recipe.is_strict
        return recipe is None or isinstance(recipe, Consecutive) or leaves_out

    def _emit_positions(self, positions: GeneratedIndices) -> Value:
        """Numbers that the layout makes: those of a slice, or of a mask's True cells."""
        numbers = positions.recipe
        if isinstance(numbers, range):
            dim = next((at for at, size in enumerate(positions.shape) if size != 1), 0)
            return self.steps.iota(numbers, dim, len(positions.shape))
        if isinstance(numbers, Consecutive):
            first = self.index_values[numbers.source]
            rank = len(first.shape)
            first = self.steps.reshape(self.steps.cast(first, "int64"), (*first.shape, 1))
            return self.steps.plus(first, self.steps.iota(range(numbers.steps), rank, rank + 1))
        if isinstance(numbers, SegmentNumbers):
            return self._emit_segments(numbers, positions.shape)
        mask = self.steps.cast(self.steps.expand(self.inputs["mask"], numbers.shape), "bool")
        return self.steps.add("nonzero", "true", positions.shape, "int64", mask, axis=numbers.axis)

    def _emit_segments(self, numbers: SegmentNumbers, grid: Shape) -> Value:
        """How many segments end at a position or before it; of offsets, how many begin, less 1."""
        steps, parts, rank = self.steps, self.index_values[numbers.source], len(grid)
        places = steps.iota(range(grid[-1]), rank - 1, rank)
        total = steps.iota(range(-1, 0) if numbers.are_offsets else range(1), 0, rank)
        end: Value | None = None
        for at in range(parts.shape[-1]):
            cell = steps.cast(steps.slot(parts, rank - 1, at), "int64")
            cell = steps.reshape(cell, (*cell.shape, 1))
            end = cell if end is None or numbers.are_offsets else steps.plus(end, cell)
            past = steps.plus(places, steps.apply("times", end, factor=Constant(-1, "int64")))
            total = steps.plus(total, steps.cast(steps.is_inside(past, grid[-1]), "int64"))
        return total

    def _align_to_grid(self, value: Value, grid: Shape) -> Value:
        """An array over the entries as one over the grid: aligned at the entries' last axis."""
        entries = len(self.addressing.entry_shape)
        shape = (1,) * (entries - len(value.shape)) + value.shape
        shape = (*shape[len(shape) - entries :], *(1,) * (len(grid) - entries))
        return self.steps.reshape(value, shape)
