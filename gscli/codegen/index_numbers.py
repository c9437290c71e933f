"""Index numbers as one operation of a target takes them.

Negative ones are counted from the end where the operation does not count itself, numbers out of
range moved to the border, or put aside where entries are skipped.
"""

from __future__ import annotations

from gscli.base.records import Record
from gscli.codegen.meaning import CallAnalysis, IndexProfile
from gscli.codegen.native import NativeOp, TargetFramework
from gscli.codegen.steps import CannotTranslate, Constant, SnippetProgram, Value, VectorConstant
from gscli.layout import Layout
from gscli.layout.axes import INT32_MAX, Negative, OutOfBounds, Truncation
from gscli.plan.indices import legal_range

COMPUTABLE_INDEX_TYPES = ("int32", "int64")
"""Index types that are computed with as they are; others become int64."""


class AxisBounds(Record):
    """Size and highest start on the axis of each index number."""

    sizes: int | VectorConstant
    highs: int | VectorConstant


class IndexHandling(Record):
    """What lines do with index numbers themselves, before an operation takes them.

    `counts_from_end` and `clips` move them into range, `takes_remainder` all of them, and `skips`
    puts entries aside whose number is still outside. `is_unsigned`: one below zero is the largest.
    """

    takes_remainder: bool = False
    counts_from_end: bool = False
    is_unsigned: bool = False
    clips: bool = False
    skips: bool = False


class IndexNormalizer:
    """Prepares the index numbers of a call for the operations of one target."""

    def __init__(
        self, meaning: CallAnalysis, target: TargetFramework, steps: SnippetProgram
    ) -> None:
        self.meaning, self.target, self.steps = meaning, target, steps
        self.layout = meaning.layout
        self.is_scatter = self.layout.kind == "scatter"

    def axis_bounds(self, index: Value, vector_dim: int) -> AxisBounds:
        """Sizes and highest starts, one number for each where the axes are alike."""
        axes = [self.layout.axes[at] for at in self.layout.column_axes]
        highs = [legal_range(axis, self.layout.policy)[1] for axis in axes]
        sizes = [axis.size for axis in axes]
        if len(axes) == 1:
            return AxisBounds(sizes[0], highs[0])
        return AxisBounds(
            make_vector_constant(sizes, vector_dim, index),
            make_vector_constant(highs, vector_dim, index),
        )

    def is_dropped_by_op(self, native: NativeOp) -> bool:
        """Whether the operation leaves out what the call skips."""
        policy = self.layout.policy
        if (
            native.out_of_range != "dropped"
            or policy.out_of_bounds is not OutOfBounds.SKIP
            or has_partial_windows(self.layout)
        ):
            return False
        counts = policy.negative is Negative.FROM_END
        return (
            not self.meaning.has_negative
            or native.negative_from_end == counts
            or not native.negative_from_end
        )

    def choose_handling(self, native: NativeOp, profile: IndexProfile) -> IndexHandling:
        """What the lines must do with numbers such as occur, so that the operation is right."""
        policy = self.layout.policy
        if policy.out_of_bounds is OutOfBounds.WRAP:
            return IndexHandling(takes_remainder=profile.negative or profile.out_of_range)
        drops = self.is_scatter and self.is_dropped_by_op(native)
        skips = profile.out_of_range and policy.out_of_bounds is OutOfBounds.SKIP
        skips = (skips or (profile.negative and policy.negative is Negative.SKIP)) and not drops
        moves = policy.out_of_bounds is OutOfBounds.CLIP and profile.out_of_range
        from_end = profile.negative and policy.negative is Negative.FROM_END
        alone = (
            native.out_of_range == "border"
            and not native.negative_from_end
            and native.form != "cells"
        )
        return IndexHandling(
            counts_from_end=from_end and (not native.negative_from_end or moves or skips),
            is_unsigned=profile.negative and policy.truncation is Truncation.UNSIGNED,
            clips=moves and not alone,
            skips=skips,
        )

    def normalize(
        self,
        index: Value,
        native: NativeOp,
        bounds: AxisBounds,
        profile: IndexProfile,
        handling: IndexHandling,
    ) -> tuple[Value, Value | None]:
        """Index numbers as the operation takes them, and which of them are live."""
        index = self._to_integers(index, profile, native)
        if handling.takes_remainder:
            index = self._emit("mod", index, sizes=bounds.sizes)
        if handling.counts_from_end:
            index = self._emit("wrap", index, sizes=bounds.sizes)
        if handling.is_unsigned and isinstance(bounds.highs, int):
            high = Constant(INT32_MAX, index.dtype)
            sign = self.steps.add("inside", "live", index.shape, "bool", index, high=high)
            index = self.steps.where(sign, index, bounds.highs)
        if handling.clips:
            index = self._emit("clip", index, high=bounds.highs)
        if not handling.skips:
            return index, None
        assert isinstance(bounds.highs, int)
        live = self.steps.add("inside", "live", index.shape, "bool", index, high=Constant(
            bounds.highs, index.dtype))  # fmt: skip
        return index, live

    def _to_integers(self, index: Value, profile: IndexProfile, native: NativeOp) -> Value:
        """Whole numbers of a type that the target takes and that can be computed with."""
        if profile.endless:
            raise CannotTranslate("an index is not a number")
        cut = self.layout.policy.truncation is not Truncation.NEVER
        if profile.exceeds_int63 or (cut and profile.exceeds_int32):
            raise CannotTranslate("an index does not fit the 32 or 64 bits it is computed in")
        if index.dtype.startswith("float"):
            if profile.fractional and self.layout.policy.negative is Negative.FROM_END:
                index = self._emit("floor", index)
            return self.steps.cast(index, "int64")
        computed = profile.negative or profile.out_of_range or native.form in ("cells", "rows")
        dtypes = ("int64",) if native.needs_int64 else self.target.index_dtypes
        if index.dtype not in dtypes or (computed and index.dtype not in COMPUTABLE_INDEX_TYPES):
            return self.steps.cast(index, "int64" if "int64" in dtypes else dtypes[0])
        return index

    def _emit(self, form: str, index: Value, **facts: object) -> Value:
        typed = {
            name: Constant(fact, index.dtype)
            if isinstance(fact, int)
            else fact._replace(dtype=index.dtype)
            if isinstance(fact, VectorConstant)
            else fact
            for name, fact in facts.items()
        }
        return self.steps.add(form, index.name, index.shape, index.dtype, index, **typed)


def has_partial_windows(layout: Layout) -> bool:
    """Whether a window may lie partly outside and is judged as one."""
    return layout.policy.is_atomic and any(
        axis.column is not None and axis.window is not None and axis.span > 1
        for axis in layout.axes
    )


def make_vector_constant(numbers: list[int], dim: int, index: Value) -> int | VectorConstant:
    """One number where all are alike."""
    if len(set(numbers)) == 1:
        return numbers[0]
    return VectorConstant(tuple(numbers), dim, len(index.shape), index.dtype)
