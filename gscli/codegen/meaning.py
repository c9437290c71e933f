"""What a planned call means, as far as writing it elsewhere needs: its inputs and indices."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gscli.base.arrays import Array, dtype_name, dtype_named
from gscli.base.records import Record
from gscli.disk import mapped
from gscli.frameworks.duplicates import find_duplicate_writers
from gscli.frameworks.operator import Operator
from gscli.layout import Layout
from gscli.layout.axes import Axis, Beyond, Following, Negative, Policy
from gscli.plan.indices import legal_range
from gscli.plan.plan import ValidatedPlan

_INT32 = 1 << 31


class IndexProfile(Record):
    """Which index numbers occur: below zero, and out of range after counting from the end."""

    negative: bool
    outside: bool
    fractional: bool = False
    finite: bool = True
    beyond_32: bool = False
    beyond_63: bool = False


class CallAnalysis:
    """A judged call. `named`: its inputs under the names data, indices and updates."""

    def __init__(self, operator: Operator, plan: ValidatedPlan) -> None:
        self.operator, self.plan = operator, plan
        self.layout: Layout = plan.layout

    @cached_property
    def index_names(self) -> tuple[str, ...]:
        """The inputs that hold index numbers; those that the layout makes are not among them."""
        made = {one.name: one.numbers for one in self.layout.addressing.ranges}
        read = [
            one.source if isinstance(one, Following) else name
            for name in self.layout.index_inputs
            for one in [made.get(name)]
            if one is None or isinstance(one, Following)
        ]
        return tuple(dict.fromkeys(read))

    @cached_property
    def named(self) -> dict[str, Array]:
        """The arrays that the lines read, by the names that they have there."""
        found: dict[str, Array] = {}
        layout, inputs = self.layout, self.plan.inputs
        if layout.data is not None:
            found["data"] = inputs[layout.data]
        for name in self.masks:
            found["mask"] = inputs[name]
        for number, name in enumerate(self.index_names):
            several = len(self.index_names) > 1
            found[f"indices_{number}" if several else "indices"] = inputs[name]
        if layout.updates is not None and layout.updates.name is not None:
            found["updates"] = inputs[layout.updates.name]
        return found

    @cached_property
    def masks(self) -> tuple[str, ...]:
        """Masks whose True cells are counted by the layout itself."""
        return tuple(item.name for item in self.operator.inputs if item.kind == "mask")

    @cached_property
    def has_mask(self) -> bool:
        """Whether a mask, and not index numbers, says where entries are."""
        subscript = str(dict(self.layout.attributes).get("subscript") or "")
        return bool(self.masks) or not {"m", "u", "b"}.isdisjoint(subscript.split(", "))

    @cached_property
    def sources(self) -> dict[str, str]:
        """The name in the lines of each index input."""
        several = len(self.index_names) > 1
        return {
            name: f"indices_{number}" if several else "indices"
            for number, name in enumerate(self.index_names)
        }

    @cached_property
    def entries(self) -> tuple[IndexProfile, ...]:
        """What occurs in each index column."""
        return tuple(
            occurring(self.plan.own_column(column), self.layout.axes[axis], self.layout.policy)
            for column, axis in zip(
                self.layout.addressing.columns, self.layout.column_axes, strict=True
            )
        )

    @property
    def negative(self) -> bool:
        """Whether any index is below zero."""
        return any(found.negative for found in self.entries)

    @property
    def outside(self) -> bool:
        """Whether any index is out of range."""
        return any(found.outside for found in self.entries)

    @property
    def skips(self) -> bool:
        """Whether some entry may be skipped."""
        policy = self.layout.policy
        skipping = policy.negative is Negative.SKIP and self.negative
        return skipping or (policy.beyond is Beyond.SKIP and self.outside)

    @cached_property
    def duplicates(self) -> bool:
        """Whether several updates go to one cell."""
        return bool(find_duplicate_writers(self.plan, 1).total)

    @cached_property
    def wide_values(self) -> bool:
        """Whether a value does not survive a conversion to 32 bits."""
        arrays = [array for name, array in self.named.items() if name in ("data", "updates")]
        if self.layout.dtype not in ("bool", "str") and not isinstance(self.layout.fill, str):
            with np.errstate(all="ignore"):
                arrays.append(np.asarray(self.layout.fill).astype(dtype_named(self.layout.dtype)))
        far = any(one.beyond_32 for one in self.entries)
        divides = self.layout.reduction in ("mean", "sqrt_n", "div", "pow")
        return far or (divides and self.layout.dtype == "float64") or any(map(_is_wide, arrays))

    @cached_property
    def has_nan(self) -> bool:
        """Whether NaN stands in data or updates."""
        values = [array for name, array in self.named.items() if name in ("data", "updates")]
        return any(_has_nan(array) for array in values)


def occurring(numbers: Array, axis: Axis, policy: Policy) -> IndexProfile:
    """What occurs among some index numbers.

    >>> occurring(np.array([0, -1, 7]), Axis(3, column=0), Policy())[:2]
    (True, True)
    """
    if not numbers.size:
        return IndexProfile(negative=False, outside=False)
    if dtype_name(numbers.dtype) == "bool":
        numbers = numbers.astype(np.uint8)
    fractional, finite = False, True
    if numbers.dtype.kind == "f":
        finite = bool(np.isfinite(numbers).all())
        fractional = finite and bool((np.floor(numbers) != numbers).any())
    smallest, largest = numbers.min().item(), numbers.max().item()
    low, high = legal_range(axis, policy)
    return IndexProfile(
        bool(smallest < 0),
        bool(largest > high or smallest < low),
        fractional,
        finite,
        bool(largest >= _INT32 or smallest < -_INT32),
        numbers.dtype == np.uint64 and largest >= 2**63,
    )


def _is_wide(array: Array) -> bool:
    """Whether 32 bits do not hold a number; an infinity of float64 becomes a finite one in them."""
    kind = array.dtype.str[1:]
    with np.errstate(all="ignore"):
        if kind == "f8":
            return any(bool((part != part.astype(np.float32)).any()) or bool(np.isinf(part).any())
                       for part in mapped.blocks(array))  # fmt: skip
        if kind not in ("i8", "u8", "u4") or not array.size:
            return False
        return int(array.max()) >= _INT32 or int(array.min()) < -_INT32


def _has_nan(array: Array) -> bool:
    if array.dtype.kind not in "fcV":
        return False
    with np.errstate(invalid="ignore"):
        # NaN alone differs from itself.
        return any(bool((part != part).any()) for part in mapped.blocks(array))  # noqa: PLR0124


def combined(entries: tuple[IndexProfile, ...]) -> IndexProfile:
    """What occurs in any of the columns."""
    return IndexProfile(
        any(one.negative for one in entries),
        any(one.outside for one in entries),
        any(one.fractional for one in entries),
        all(one.finite for one in entries),
        any(one.beyond_32 for one in entries),
        any(one.beyond_63 for one in entries),
    )
