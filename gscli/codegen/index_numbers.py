"""Index numbers as one operation of a target takes them.

Negative ones are counted from the end where the operation does not count itself, numbers out of
range moved to the border, or put aside where entries are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence

from gscli.base.records import Record
from gscli.codegen.analysis import CallAnalysis
from gscli.codegen.native import NativeOp, TargetFramework
from gscli.codegen.steps import CannotTranslate, Constant, SnippetProgram, Value, VectorConstant
from gscli.layout import Layout
from gscli.layout.axes import INT32_MAX, Axis, Negative, OutOfBounds, Truncation
from gscli.plan.indices import IndexProfile, legal_range

# Index types that are computed with as they are; others become int64.
COMPUTABLE_INDEX_TYPES = ("int32", "int64")


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
    """Prepares the index numbers of a call for the operations of one target.

    `handlings`: what the lines do with the numbers, of one axis or of all, that they read.
    """

    def __init__(self, analysis: CallAnalysis, target: TargetFramework) -> None:
        self.analysis, self.target, self.steps = analysis, target, SnippetProgram()
        self.layout = analysis.layout
        self.is_scatter = self.layout.kind == "scatter"
        self.handlings: list[IndexHandling] = []

    def is_dropped_by_op(self, native: NativeOp) -> bool:
        """Whether the operation leaves out what the call skips."""
        policy = self.layout.policy
        if {native.out_of_bounds, policy.out_of_bounds} != {OutOfBounds.SKIP}:
            return False
        counts_alike = not native.negative_from_end or policy.negative is Negative.FROM_END
        no_difference = counts_alike or not self.analysis.index_profile.negative
        return no_difference and not has_partial_windows(self.layout)

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
        clips_alone = native.out_of_bounds is OutOfBounds.CLIP and not native.negative_from_end
        return IndexHandling(
            counts_from_end=from_end and (not native.negative_from_end or moves or skips),
            is_unsigned=profile.negative and policy.truncation is Truncation.UNSIGNED,
            clips=moves and not (clips_alone and native.form != "cells"),
            skips=skips,
        )

    def normalize(
        self, index: Value, axes: Sequence[Axis], native: NativeOp, vector_dim: int = 0
    ) -> tuple[Value, Value | None]:
        """Index numbers as the operation takes them, and which of them are live.

        `axes`: those that the numbers along `vector_dim` address, or one for all.
        """
        # All columns alike: what the lines are said to do with an index holds of each of them, and
        # -1 would count from the row more that is there for what another column drops.
        profile = self.analysis.index_profile
        steps, handling = self.steps, self.choose_handling(native, profile)
        self.handlings.append(handling)
        index = self.cast_to_integers(index, native, profile)
        highs = [legal_range(axis, self.layout.policy)[1] for axis in axes]
        high = _make_constant(highs, vector_dim, index)
        size = _make_constant([axis.size for axis in axes], vector_dim, index)
        if handling.takes_remainder:
            index = steps.apply("mod", index, sizes=size)
        if handling.counts_from_end:
            index = steps.apply("wrap", index, sizes=size)
        if handling.is_unsigned and isinstance(high, Constant):
            index = steps.where(steps.is_inside(index, INT32_MAX), index, high.value)
        if handling.clips:
            index = steps.apply("clip", index, high=high)
        return index, steps.is_inside(index, highs[0]) if handling.skips else None

    def cast_to_integers(self, index: Value, native: NativeOp, profile: IndexProfile) -> Value:
        """Whole numbers of a type that the target takes and that can be computed with."""
        if profile.endless:
            raise CannotTranslate("an index is not a number")
        cut = self.layout.policy.truncation is not Truncation.NEVER
        if profile.exceeds_int63 or (cut and profile.exceeds_int32):
            raise CannotTranslate("an index does not fit the 32 or 64 bits it is computed in")
        if index.dtype.startswith("float"):
            if profile.fractional and self.layout.policy.negative is Negative.FROM_END:
                index = self.steps.apply("floor", index)
            return self.steps.cast(index, "int64")
        computed = profile.negative or profile.out_of_range or native.form in ("cells", "rows")
        dtypes = ("int64",) if native.needs_int64 else self.target.index_dtypes
        if index.dtype not in dtypes or (computed and index.dtype not in COMPUTABLE_INDEX_TYPES):
            return self.steps.cast(index, "int64" if "int64" in dtypes else dtypes[0])
        return index


def has_partial_windows(layout: Layout) -> bool:
    """Whether a window may lie partly outside and is judged as one."""
    axes = (axis for axis in layout.axes if None not in (axis.column, axis.window))
    return layout.policy.is_atomic and any(axis.span > 1 for axis in axes)


def _make_constant(numbers: list[int], dim: int, index: Value) -> Constant | VectorConstant:
    """A number for each slot of index vectors, or one where all are alike."""
    if len(set(numbers)) == 1:
        return Constant(numbers[0], index.dtype)
    return VectorConstant(tuple(numbers), dim, len(index.shape), index.dtype)
