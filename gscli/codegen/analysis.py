"""What a planned call means, as far as writing it elsewhere needs: its inputs and indices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from gscli.base.arrays import Array, unequal_cells
from gscli.disk import mapped
from gscli.frameworks.duplicates import find_duplicate_writers, written_cells
from gscli.frameworks.notices import has_nan
from gscli.frameworks.operator import Operator
from gscli.layout import Layout
from gscli.layout.axes import Consecutive, Negative, OutOfBounds, SegmentNumbers
from gscli.plan.indices import IndexProfile, merge_profiles, profile_indices
from gscli.plan.plan import ValidatedPlan

_INT32 = 1 << 31


class CallAnalysis:
    """A judged call and its output, where it is known.

    `arrays_by_variable`: its inputs under the names data, indices and updates.
    """

    def __init__(
        self, operator: Operator, plan: ValidatedPlan, output: Array | None = None
    ) -> None:
        self.operator, self.plan, self.output = operator, plan, output
        self.layout: Layout = plan.layout

    @cached_property
    def index_names(self) -> tuple[str, ...]:
        """The inputs that hold index numbers; those that the layout makes are not among them."""
        read = [
            recipe.source if isinstance(recipe, (Consecutive, SegmentNumbers)) else name
            for name in self.layout.index_inputs
            for recipe in [self.layout.addressing.recipe(name)]
            if recipe is None or isinstance(recipe, (Consecutive, SegmentNumbers))
        ]
        return tuple(dict.fromkeys(read))

    @cached_property
    def variables(self) -> dict[str, str]:
        """The names that the inputs have in the lines: data, mask, indices, updates."""
        data, updates = self.layout.value_names
        names = {} if data is None else {data: "data"}
        names |= dict.fromkeys(self.masks, "mask") | self.variables_by_input
        if self.layout.fold is not None:  # what is read of their numbers stands in own calls alone
            kept = (name for name in self.operator.input_names if name in self.plan.inputs)
            names = {name: name for name in kept} | names
        return names if updates is None else {**names, updates: "updates"}

    @cached_property
    def arrays_by_variable(self) -> dict[str, Array]:
        """The arrays that the lines read, by the names that they have there."""
        return {variable: self.plan.inputs[name] for name, variable in self.variables.items()}

    @cached_property
    def values(self) -> list[Array]:
        """Data and updates, as far as there are any."""
        arrays = self.arrays_by_variable
        return [arrays[name] for name in ("data", "updates") if name in arrays]

    @cached_property
    def masks(self) -> tuple[str, ...]:
        """Masks whose True cells are counted by the layout itself."""
        return tuple(item.name for item in self.operator.inputs if item.kind == "mask")

    @cached_property
    def has_mask(self) -> bool:
        """Whether a mask, and not index numbers, says where entries are."""
        return bool(self.masks) or not {"m", "u", "b"}.isdisjoint(self._items)

    @property
    def has_index_numbers(self) -> bool:
        """Whether an input holds index numbers, and not masks alone, whose positions all fit."""
        return bool(self.index_names) and (not self.has_mask or "i" in self._items)

    @property
    def _items(self) -> list[str]:
        """What stands between the brackets of an operator that is written with them."""
        return str(dict(self.layout.attributes).get("subscript") or "").split(", ")

    @cached_property
    def variables_by_input(self) -> dict[str, str]:
        """The name in the lines of each index input."""
        return name_indices(self.index_names)

    @cached_property
    def index_profile(self) -> IndexProfile:
        """What occurs in any index column."""
        layout = self.layout
        pairs = zip(layout.addressing.columns, layout.column_axes, strict=True)
        profiles = (
            profile_indices(self.plan.input_column(column), layout.axes[axis], layout.policy)
            for column, axis in pairs
        )
        return merge_profiles(tuple(profiles))

    @property
    def has_skips(self) -> bool:
        """Whether some entry may be skipped."""
        policy, profile = self.layout.policy, self.index_profile
        skipping = policy.negative is Negative.SKIP and profile.negative
        return skipping or (policy.out_of_bounds is OutOfBounds.SKIP and profile.out_of_range)

    @cached_property
    def _live_plan(self) -> ValidatedPlan:
        """The plan by which entries that are refused go nowhere."""
        refuses = self.layout.policy.out_of_bounds is OutOfBounds.RAISE
        return self.plan.skip_refused() if refuses else self.plan

    @cached_property
    def has_duplicates(self) -> bool:
        """Whether several updates go to one cell."""
        return bool(find_duplicate_writers(self._live_plan, 1).total)

    @cached_property
    def has_wide_values(self) -> bool:
        """Whether a value does not survive a conversion to 32 bits: of the output, and of what is
        computed with.
        """
        is_moved = self.output is not None and self.layout.reduction == "none"
        arrays = [] if is_moved else list(self.values)
        if self.output is not None:
            wraps = self.output.dtype.kind == "u" and self.layout.reduction == "sub"
            # 0 - 5 in uint64 is -5 in 32 bits that are widened, too.
            arrays.append(self.output.view(f"i{self.output.itemsize}") if wraps else self.output)
        return self.index_profile.exceeds_int32 or any(map(_is_wide, arrays))

    @cached_property
    def nan_places(self) -> tuple[bool, ...]:
        """Whether NaN stands in a cell of data that updates meet, and whether in updates."""
        data, updates = (self.plan.inputs.get(name or "") for name in self.layout.value_names)
        if data is not None and self.layout.entry_count and has_nan(data):
            cells, _ = written_cells(self._live_plan, self.layout.entry_count)
            data = data.reshape(-1)[cells]
        return tuple(array is not None and has_nan(array) for array in (data, updates))

    @property
    def has_losing_nan(self) -> bool:
        """Whether there is NaN where an update that is NaN must not win."""
        updates = self.layout.updates
        return updates is not None and not updates.nan_wins and any(self.nan_places)


def name_indices(names: Sequence[str]) -> dict[str, str]:
    """What index inputs are called in lines, by their own names.

    >>> name_indices(["index"]), name_indices(["row", "column"])
    ({'index': 'indices'}, {'row': 'indices_0', 'column': 'indices_1'})
    """
    numbered = {name: f"indices_{number}" for number, name in enumerate(names)}
    return numbered if len(names) > 1 else dict.fromkeys(names, "indices")


def _is_wide(array: Array) -> bool:
    """Whether 32 bits do not hold a number; an infinity of float64 becomes a finite one in them."""
    kind = array.dtype.str[1:]
    with np.errstate(all="ignore"):
        if kind == "f8":
            return any(
                bool((np.isinf(part) | unequal_cells(part, part.astype(np.float32))).any())
                for part in mapped.iter_blocks(array)
            )
        if kind not in ("i8", "u8", "u4") or not array.size:
            return False
        return int(array.max()) >= _INT32 or int(array.min()) < -_INT32
