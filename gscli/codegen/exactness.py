"""Whether lines are exact for every index, or for these alone and what would break them."""

from __future__ import annotations

from collections.abc import Sequence

from gscli.base.words import FLOAT16S, FLOATS
from gscli.codegen.index_numbers import IndexHandling, has_partial_windows
from gscli.codegen.meaning import CallAnalysis
from gscli.codegen.native import NativeOp, TargetFramework, outcomes_by_place, skipped_outcome
from gscli.layout import Layout

WIDE = ("int64", "uint64", "uint32", "float64")
"""Types that 32 bits do not hold."""

OUTCOME_WORDS = {
    "from the end": "counts from the end",
    "refused": "is refused",
    "border": "means the nearest row",
    "dropped": "is dropped",
    "fill": "gives a fill value",
    "zero": "gives zero",
    "reads 0": "gives zero",
    "modulo": "is taken modulo the size",
    "unchecked": "is not checked",
    "another cell": "may mean another cell",
    "cell by cell": "is judged for each cell of the window alone",
}
"""What becomes of an index, in words."""


def list_breaking_inputs(
    meaning: CallAnalysis,
    target: TargetFramework,
    native: NativeOp | None,
    handlings: Sequence[IndexHandling],
) -> list[str]:
    """What would make the lines of a target differ from the call, each in a sentence."""
    if native is None:
        return ["any cell that is moved: these inputs move none"]
    sentences = [*_breaking_indices(meaning, target, native, handlings)]
    layout = meaning.layout
    if target.computes_in_32_bits and layout.dtype in WIDE:
        sentences.append(f"numbers beyond 32 bits: {target.title}'s CPU plugin computes in them")
    if meaning.has_mask:
        sentences.append("another mask: the shapes and positions here are those of this one")
    sentences += [
        f"other {name}: the number of rows here is that of these" for name in meaning.counted_inputs
    ]
    if layout.kind == "scatter":
        if layout.reduction == "none" and not target.keeps_last_write:
            sentences.append(_describe_duplicates(meaning, target))
        sentences += _breaking_values(meaning, target)
    return sentences


def _breaking_indices(
    meaning: CallAnalysis,
    target: TargetFramework,
    native: NativeOp,
    handlings: Sequence[IndexHandling],
) -> list[str]:
    here, there = meaning.operator.framework.title, target.title
    here = f"{here} {meaning.operator.name}"
    there = f"{native.name}" if native.name.startswith(there) else f"{there}'s {native.name}"
    layout = meaning.layout
    own = outcomes_by_place(layout)
    sentences: dict[str, str] = {}
    for handling in handlings:
        for which, ours, theirs in zip(
            PLACES, own, _outcomes(layout, native, handling), strict=True
        ):
            if OUTCOME_WORDS[ours] != OUTCOME_WORDS[theirs]:
                sentences.setdefault(which, (
                    f"an index {which}: in {here} it {OUTCOME_WORDS[ours]}, "
                    f"in {there} it {OUTCOME_WORDS[theirs]}"
                ))  # fmt: skip
    return list(sentences.values())


PLACES = ("below zero", "out of range", "out of range")
"""Where an index may lie outside of an axis: down to its size below zero, farther below, above."""


def _outcomes(layout: Layout, native: NativeOp, handling: IndexHandling) -> tuple[str, str, str]:
    """What becomes of an index at each of `PLACES` in lines that handle them so."""
    below, above = native.negative, native.out_of_range
    far = above if below == "from the end" else below
    if native.form == "rows" and len(layout.axes) - layout.addressing.traveling > 1:
        # Coordinates that are folded to a row number are not judged on their own axes.
        below = far = above = "another cell"
    elif has_partial_windows(layout) and (
        native.form in ("cells", "rows") or layout.kind == "scatter"
    ):
        # StableHLO's scatter asks of each element of a window whether it lies within, too.
        below, far, above = (
            outcome if outcome == "refused" else "cell by cell" for outcome in (below, far, above)
        )
    if handling.skips:
        below = far = above = skipped_outcome(layout)
    elif handling.clips:
        below = far = above = "border"
    elif handling.counts_from_end:
        far = below
    if handling.counts_from_end:
        below = "from the end"
    if handling.is_unsigned:
        below, far, _ = outcomes_by_place(layout)
    if handling.takes_remainder:
        return outcomes_by_place(layout)
    return below, far, above


def _describe_duplicates(meaning: CallAnalysis, target: TargetFramework) -> str:
    if meaning.has_duplicates:
        return f"another run: {target.title} leaves open which of several updates of a cell stays"
    return f"two updates of one cell: {target.title} leaves open which of them stays"


def describe_value_difference(
    meaning: CallAnalysis, target: TargetFramework, native: NativeOp | None
) -> str:
    """What makes the lines differ from the call for these very values; empty where nothing does."""
    if native is None:
        return ""
    difference = _describe_nan_difference(meaning, target)
    if difference and meaning.has_nan:
        return difference
    if target.computes_in_32_bits and meaning.has_wide_values:
        return (
            f"{target.title}'s CPU plugin computes in 32 bits, which do not hold every number here"
        )
    return ""


def _describe_nan_difference(meaning: CallAnalysis, target: TargetFramework) -> str:
    """What NaN under max and min does otherwise there."""
    layout = meaning.layout
    compared = layout.reduction in ("max", "min") and layout.dtype in FLOATS
    if layout.updates is None or not compared or layout.updates.nan_wins == target.propagates_nan:
        return ""
    if target.propagates_nan is None:
        does = "does not say what becomes of it"
    elif target.propagates_nan:
        if meaning.has_nan:
            return ""
        does = "keeps NaN"
    else:
        does = "keeps the number"
    return f"NaN under {layout.reduction}: {target.title} {does}"


def _breaking_values(meaning: CallAnalysis, target: TargetFramework) -> list[str]:
    layout, sentences = meaning.layout, list[str]()
    nan = _describe_nan_difference(meaning, target)
    if nan:
        sentences.append(nan)
    summed = layout.reduction in ("add", "sub", "mul", "mean") and layout.accumulate_dtype is None
    if summed and layout.dtype in FLOAT16S and target.sums_halves_in_float32:
        sentences.append(f"many halves: {target.title} rounds their sum once, not after every step")
    return sentences
