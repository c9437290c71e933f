"""Whether lines are exact for every index, or for these alone and what would break them."""

from __future__ import annotations

from gscli.base.words import FLOATS, HALVES
from gscli.codegen.meaning import Meaning
from gscli.codegen.native import Native, TargetFramework
from gscli.layout.axes import Beyond
from gscli.plan.outcomes import outcome_of

WIDE = ("int64", "uint64", "uint32", "float64")
"""Types that 32 bits do not hold."""

SAID = {
    "from end": "counts from the end",
    "refused": "is refused",
    "border": "means the nearest row",
    "dropped": "is dropped",
    "fill": "gives a fill value",
    "zero": "gives zero",
    "modulo": "is taken modulo the size",
    "skipped": "skips its entry",
    "unchecked": "is not checked",
}
"""What becomes of an index, in words."""


def breaks(meaning: Meaning, target: TargetFramework, native: Native | None) -> list[str]:
    """What would make the lines of a target differ from the call, each in a sentence."""
    if native is None:
        return ["any cell that is moved: these inputs move none"]
    found = [*_index_breaks(meaning, target, native)]
    layout = meaning.layout
    if target.bits_32 and layout.dtype in WIDE:
        found.append(f"numbers beyond 32 bits: {target.title}'s CPU plugin computes in them")
    if meaning.has_mask:
        found.append("another mask: the shapes and positions here are those of this one")
    if layout.kind == "scatter":
        if layout.reduction == "none" and not target.ordered:
            found.append(_duplicates(meaning, target))
        found += _value_breaks(meaning, target)
    return found


def _index_breaks(meaning: Meaning, target: TargetFramework, native: Native) -> list[str]:
    here, there = meaning.operator.framework.title, target.title
    here = f"{here} {meaning.operator.name}"
    there = f"{native.name}" if native.name.startswith(there) else f"{there}'s {native.name}"
    found = []
    negative = _negative(meaning)
    theirs = "from end" if native.from_end else _outside(native, target)
    if not meaning.negative and negative != theirs:
        found.append(
            f"an index below zero: in {here} it {SAID[negative]}, in {there} it {SAID[theirs]}"
        )
    beyond, theirs = _beyond(meaning), _outside(native, target)
    if not meaning.outside and beyond != theirs:
        found.append(
            f"an index out of range: in {here} it {SAID[beyond]}, in {there} it {SAID[theirs]}"
        )
    return found


def _outside(native: Native, target: TargetFramework) -> str:
    return "zero" if native.outside == "fill" and target.name == "openvino" else native.outside


def _negative(meaning: Meaning) -> str:
    policy = meaning.layout.policy
    counted = policy.beyond is Beyond.WRAP  # the remainder of -1 is the last row, too
    found = "from_end" if counted else outcome_of(policy, negative=True)
    return {"from_end": "from end", "below": "dropped"}.get(found) or _beyond(meaning)


def _beyond(meaning: Meaning) -> str:
    layout = meaning.layout
    skipped = "dropped" if layout.kind == "scatter" else "zero" if layout.fill == 0 else "fill"
    words = {"clipped": "border", "wrapped": "modulo", "outside": skipped}
    outcome = outcome_of(layout.policy)
    return words.get(outcome, outcome)


def _duplicates(meaning: Meaning, target: TargetFramework) -> str:
    if meaning.duplicates:
        return f"another run: {target.title} leaves open which of several updates of a cell stays"
    return f"two updates of one cell: {target.title} leaves open which of them stays"


def differs(meaning: Meaning, target: TargetFramework, native: Native | None) -> str:
    """What makes the lines differ from the call for these very values; empty where nothing does."""
    if native is None:
        return ""
    told = _nan(meaning, target)
    if told and meaning.has_nan:
        return told
    if target.bits_32 and meaning.wide_values:
        return (
            f"{target.title}'s CPU plugin computes in 32 bits, which do not hold every number here"
        )
    return ""


def _nan(meaning: Meaning, target: TargetFramework) -> str:
    """What NaN under max and min does otherwise there."""
    layout = meaning.layout
    compared = layout.reduction in ("max", "min") and layout.dtype in FLOATS
    if layout.updates is None or not compared or layout.updates.nan_wins == target.nan_wins:
        return ""
    if target.nan_wins is None:
        does = "does not say what becomes of it"
    elif target.nan_wins:
        if meaning.has_nan:
            return ""
        does = "keeps NaN"
    else:
        does = "keeps the number"
    return f"NaN under {layout.reduction}: {target.title} {does}"


def _value_breaks(meaning: Meaning, target: TargetFramework) -> list[str]:
    layout, found = meaning.layout, list[str]()
    nan = _nan(meaning, target)
    if nan:
        found.append(nan)
    summed = layout.reduction in ("add", "sub", "mul", "mean") and layout.accumulate is None
    if summed and layout.dtype in HALVES and target.wide_halves:
        found.append(f"many halves: {target.title} rounds their sum once, not after every step")
    return found
