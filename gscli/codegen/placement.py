"""Where the entries of a call go, prepared for one operation of a target.

A place holds the index numbers as the operation wants them: negative ones counted from the end
where it does not count itself, moved to the border, or put aside where entries are skipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from gscli.codegen.index_numbers import (
    AxisBounds,
    IndexHandling,
    IndexNormalizer,
    has_partial_windows,
)
from gscli.codegen.meaning import CallAnalysis, IndexProfile, merge_profiles
from gscli.codegen.native import NativeOp, TargetFramework
from gscli.codegen.steps import Constant, SnippetProgram, Value, broadcast_shape
from gscli.layout.axes import Axis, Column, Consecutive, Shape
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

COORDINATE_FORMS = ("cells", "rows")
"""Forms that take a coordinate for each axis, whatever the addressing is."""


@dataclass
class LoweredIndices:
    """Prepared indices for `native`: one array (`index`), or a coordinate for each axis."""

    native: NativeOp
    form: IndexForm
    index: Value | None = None
    coordinates: tuple[Value, ...] = ()
    grid: Shape = ()
    live: Value | None = None


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
        self.is_scatter = self.layout.kind == "scatter"
        self.normalizer = IndexNormalizer(meaning, target, steps)
        following = [
            positions.name
            for positions in self.addressing.generated
            if isinstance(positions.recipe, Consecutive)
        ]
        self.policy_inputs = {*meaning.variables_by_input, *following}
        """Inputs whose numbers the policy is for; a slice's and a mask's are right as they are."""
        self.handlings: list[IndexHandling] = []
        """What the lines do with the index numbers, of one axis or of all, that they read."""

    def match(self, ops: Iterable[NativeOp]) -> tuple[NativeOp, IndexForm] | None:
        """The first of some operations that suits the call, and how."""
        for native in ops:
            form = self._match_op(native)
            if form is not None:
                return native, form
        return None

    def _match_op(self, native: NativeOp) -> IndexForm | None:
        if native.form in COORDINATE_FORMS:
            return IndexForm()
        if not self.addressing.columns or len(self.meaning.index_names) != 1:
            return None
        if self.addressing.generated:
            return None
        form = MATCHERS[native.form](self.addressing, self._index_shape(native))
        return form if form is not None and self._is_suitable(native, form) else None

    @property
    def _index(self) -> Value:
        """The one input of index numbers."""
        return self.inputs[self.meaning.variables_by_input[self.meaning.index_names[0]]]

    def _index_shape(self, native: NativeOp) -> Shape:
        """The shape of the indices; for slices and cells, rank 0 may count as rank 1."""
        shape, entries = self._index.shape, self.addressing.entry_shape
        promotes = native.form in ("take", "along") and not shape and entries == (1,)
        return entries if promotes else shape

    def lower(self, native: NativeOp, form: IndexForm) -> LoweredIndices:
        """Prepared indices for an operation that suits the call."""
        if native.form in COORDINATE_FORMS:
            return self._lower_to_coordinates(native)
        index = self.steps.reshape(self._index, self._index_shape(native))
        bounds = self.normalizer.axis_bounds(index, form.vector_dim)
        profile = merge_profiles(self.meaning.index_profiles)
        index, live = self._normalize(index, native, bounds, profile)
        return LoweredIndices(native, form, index, live=live)

    def _normalize(
        self, index: Value, native: NativeOp, bounds: AxisBounds, profile: IndexProfile
    ) -> tuple[Value, Value | None]:
        """Numbers that the operation takes as they are then, and which of them are live."""
        handling = self.normalizer.choose_handling(native, profile)
        self.handlings.append(handling)
        return self.normalizer.normalize(index, native, bounds, profile, handling)

    def _is_suitable(self, native: NativeOp, form: IndexForm) -> bool:
        if form.numbers is not None:
            return not (
                self.meaning.has_skips and (not self.is_scatter or has_partial_windows(self.layout))
            )
        if native.form == "vectors" and self.meaning.has_skips:
            return self.is_scatter and self.normalizer.is_dropped_by_op(native)
        if native.form == "along":
            crops = native.can_crop_data and not self.is_scatter
            return native.takes_smaller or crops or self._is_covered(form.axis)
        return not form.batch or self._has_own_batch(native, form)

    def _has_own_batch(self, native: NativeOp, form: IndexForm) -> bool:
        """Whether batch axes are the operation's own; elements of a matrix are left to others."""
        alone = prod(self.layout.view_shape[: form.batch]) == 1
        elements = any(op.form == "along" for op in self.target.gather_ops)
        elements = elements and native.form == "take"
        rows = elements and match_elements(self.addressing, self.addressing.entry_shape) is not None
        return native.takes_batch and (native.takes_batch_of_1 or not alone) and not rows

    def _is_covered(self, axis: int) -> bool:
        """Whether indices are as large as data off the axis."""
        pairs = zip(self.layout.view_shape, self.addressing.entry_shape, strict=True)
        return all(size == other for at, (size, other) in enumerate(pairs) if at != axis)

    # A coordinate for each axis.

    def _lower_to_coordinates(self, native: NativeOp) -> LoweredIndices:
        traveling = self.addressing.traveling
        lead = len(self.addressing.window) - traveling
        grid = (*self.addressing.entry_shape, *self.addressing.window[:lead])
        whole = self._normalize_columns(native)
        cells: list[Value] = []
        live: Value | None = None
        for axis in self.layout.axes[: len(self.layout.axes) - traveling]:
            cell, alive = self._lower_axis(axis, native, grid, whole)
            cells.append(cell)
            if alive is not None:
                live = alive if live is None else self._and(live, alive)
        if not cells:
            cells = [self.steps.iota(range(1), 0, len(grid))]
        if broadcast_shape(*(cell.shape for cell in cells)) != grid:
            cells[0] = self.steps.expand(cells[0], grid)
        if live is not None:
            live = self.steps.expand(live, grid)
        return LoweredIndices(native, IndexForm(), coordinates=tuple(cells), grid=grid, live=live)

    def _normalize_columns(self, native: NativeOp) -> Value | None:
        """All numbers of several columns prepared together, where they lie in one input."""
        columns = self.addressing.columns
        if len(columns) < 2 or self.meaning.has_skips:  # noqa: PLR2004  several
            return None
        if len({column.source for column in columns}) != 1 or columns[0].component is None:
            return None
        if columns[0].source not in self.meaning.variables_by_input:
            return None
        dims = {column.vector_dim for column in columns}
        index = self.inputs[self.meaning.variables_by_input[columns[0].source]]
        dim = columns[0].vector_dim
        if len(dims) != 1 or dim is None or index.shape[dim] != len(columns):
            return None
        bounds = self.normalizer.axis_bounds(index, dim)
        return self._normalize(index, native, bounds, merge_profiles(self.meaning.index_profiles))[
            0
        ]

    def _and(self, first: Value, other: Value) -> Value:
        shape = broadcast_shape(first.shape, other.shape)
        return self.steps.add("both", "live", shape, "bool", first, other)

    def _lower_axis(
        self, axis: Axis, native: NativeOp, grid: Shape, whole: Value | None
    ) -> tuple[Value, Value | None]:
        """The sum of an axis's terms, shaped to the grid; which entries are live on it."""
        terms: list[Value] = []
        live: Value | None = None
        if axis.column is not None:
            column = self.addressing.columns[axis.column]
            number = self._column_value(column, whole)
            high = legal_range(axis, self.layout.policy)[1]
            profile = self.meaning.index_profiles[axis.column]
            per_cell = axis.window is not None and not self.layout.policy.is_atomic
            if whole is None and column.source in self.policy_inputs:
                bounds = AxisBounds(axis.size, high)
                if per_cell:
                    number, _ = self.normalizer.normalize(
                        number, native, bounds, profile, IndexHandling()
                    )
                else:
                    number, live = self._normalize(number, native, bounds, profile)
            terms.append(self._align_to_grid(number, grid))
            if live is not None:
                live = self._align_to_grid(live, grid)
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
        if axis.column is not None and axis.window is not None and not self.layout.policy.is_atomic:
            cell, live = self._mask_window_cells(cell, axis, native)
        return self.steps.cast(cell, "int64"), live

    def _mask_window_cells(
        self, cell: Value, axis: Axis, native: NativeOp
    ) -> tuple[Value, Value | None]:
        """Each cell of a window is judged alone."""
        profile = self.meaning.index_profiles[axis.column or 0]
        drops = self.is_scatter and self.normalizer.is_dropped_by_op(native)
        skips = (profile.out_of_range or profile.negative) and not drops
        self.handlings.append(IndexHandling(skips=skips))
        if not skips:
            return cell, None
        high = Constant(axis.size - 1, cell.dtype)
        live = self.steps.add("inside", "live", cell.shape, "bool", cell, high=high)
        return cell, live

    def _column_value(self, column: Column, whole: Value | None) -> Value:
        """The numbers of one column as an array of its input's shape, without the vector axis."""
        for positions in self.addressing.generated:
            if positions.name == column.source:
                return self._emit_positions(column.source)
        index = (
            self.inputs[self.meaning.variables_by_input[column.source]] if whole is None else whole
        )
        if column.component is None or column.vector_dim is None:
            return index
        return self.steps.slot(index, column.vector_dim, column.component)

    def _emit_positions(self, name: str) -> Value:
        """Numbers that the layout makes: those of a slice, or of a mask's True cells."""
        positions = next(entry for entry in self.addressing.generated if entry.name == name)
        numbers = positions.recipe
        if isinstance(numbers, range):
            dim = next((at for at, size in enumerate(positions.shape) if size != 1), 0)
            return self.steps.iota(numbers, dim, len(positions.shape))
        if isinstance(numbers, Consecutive):
            first = self.inputs[self.meaning.variables_by_input[numbers.source]]
            rank = len(first.shape)
            first = self.steps.reshape(self.steps.cast(first, "int64"), (*first.shape, 1))
            return self.steps.plus(first, self.steps.iota(range(numbers.steps), rank, rank + 1))
        mask = self.steps.expand(self.inputs["mask"], numbers.shape)
        return self.steps.add("nonzero", "true", positions.shape, "int64", mask, axis=numbers.axis)

    def _align_to_grid(self, value: Value, grid: Shape) -> Value:
        """An array over the entries as one over the grid: aligned at the entries' last axis."""
        entries = len(self.addressing.entry_shape)
        shape = (1,) * (entries - len(value.shape)) + value.shape
        shape = (*shape[len(shape) - entries :], *(1,) * (len(grid) - entries))
        return self.steps.reshape(value, shape)
