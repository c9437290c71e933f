"""Whether lines are exact for every index, or for these alone and what would break them."""

from __future__ import annotations

from gscli.base.words import FLOAT16S, FLOATS
from gscli.codegen.meaning import CallAnalysis
from gscli.codegen.native import NativeOp, TargetFramework, index_outcomes

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
}
"""What becomes of an index, in words."""


def list_breaking_inputs(
    meaning: CallAnalysis, target: TargetFramework, native: NativeOp | None
) -> list[str]:
    """What would make the lines of a target differ from the call, each in a sentence."""
    if native is None:
        return ["any cell that is moved: these inputs move none"]
    sentences = [*_breaking_indices(meaning, target, native)]
    layout = meaning.layout
    if target.computes_in_32_bits and layout.dtype in WIDE:
        sentences.append(f"numbers beyond 32 bits: {target.title}'s CPU plugin computes in them")
    if meaning.has_mask:
        sentences.append("another mask: the shapes and positions here are those of this one")
    if layout.kind == "scatter":
        if layout.reduction == "none" and not target.keeps_last_write:
            sentences.append(_describe_duplicates(meaning, target))
        sentences += _breaking_values(meaning, target)
    return sentences


def _breaking_indices(
    meaning: CallAnalysis, target: TargetFramework, native: NativeOp
) -> list[str]:
    here, there = meaning.operator.framework.title, target.title
    here = f"{here} {meaning.operator.name}"
    there = f"{native.name}" if native.name.startswith(there) else f"{there}'s {native.name}"
    own = index_outcomes(meaning.layout)
    # Coordinates that are folded to a row number are not judged on their own axes.
    layout = meaning.layout
    folds = native.form == "rows" and len(layout.axes) - layout.addressing.traveling > 1
    theirs = ("another cell",) * 2 if folds else (native.negative, native.out_of_range)
    occurs = meaning.has_negative, meaning.has_out_of_range
    return [
        f"an index {which}: in {here} it {OUTCOME_WORDS[own[at]]}, "
        f"in {there} it {OUTCOME_WORDS[theirs[at]]}"
        for at, which in enumerate(("below zero", "out of range"))
        if not occurs[at] and OUTCOME_WORDS[own[at]] != OUTCOME_WORDS[theirs[at]]
    ]


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
