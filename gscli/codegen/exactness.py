"""Whether lines are exact for every index, or for these alone and what would break them."""

from __future__ import annotations

from collections.abc import Iterator

from gscli.base.words import FLOAT16S, FLOATS
from gscli.codegen.analysis import CallAnalysis
from gscli.codegen.index_numbers import IndexHandling, has_partial_windows
from gscli.codegen.lowering import Translation
from gscli.codegen.native import NativeOp, TargetFramework
from gscli.layout import Layout
from gscli.layout.axes import OutOfBounds, SegmentNumbers, Truncation
from gscli.plan.outcomes import OUTCOMES, describe_skips, outcome_of

# Types that 32 bits do not hold.
WIDE = ("int64", "uint64", "uint32", "float64")

# Where an index may lie outside of an axis: down to its size below zero, farther below, above.
PLACES = ("below zero", "far below zero", "out of range")

FROM_END = OUTCOMES["from_end"].does

# What a framework does that does not check an index, as a policy names it; others as they are.
UNCHECKED_WORDS = {OUTCOMES["from_end"].cell: FROM_END, "unchecked": "is not checked"}


def list_breaking_inputs(translation: Translation) -> Iterator[str]:
    """What would make lines differ from the call that they are for, each in a sentence."""
    analysis, target, native = translation.analysis, translation.target, translation.op
    if native is None:
        yield "any cell that is moved: these inputs move none"
        return
    if analysis.has_index_numbers:
        yield from _list_breaking_indices(translation, native)
    layout = analysis.layout
    if target.computes_in_32_bits and (layout.dtype in WIDE or _has_wide_indices(analysis)):
        yield f"numbers beyond 32 bits: {target.title}'s CPU plugin computes in 32 bits"
    if analysis.has_mask:
        yield "another mask: the shapes and positions here are those of this one"
    for name in analysis.operator.counted_inputs(layout.attributes):
        yield f"other {name}: the size of output here is that of these"
    if layout.kind == "scatter":
        # A mask over a single cell names it once.
        can_share = layout.can_share_cells and not (analysis.has_mask and not layout.axes)
        values = analysis.arrays_by_variable.get("updates")
        # Of entries that all bring one value it is no matter which stays.
        can_differ = values is not None and not values.size == 1 < layout.entry_count
        if can_share and layout.reduction == "none" and can_differ and not target.keeps_last_write:
            begin = "another run" if analysis.has_duplicates else "two updates of one cell"
            which = "several updates of a cell" if analysis.has_duplicates else "them"
            yield f"{begin}: {target.title} leaves open which of {which} stays"
        yield from _iter_breaking_values(analysis, target)


def _list_breaking_indices(translation: Translation, native: NativeOp) -> list[str]:
    analysis, target = translation.analysis, translation.target
    here, there = f"{analysis.operator.framework.title} {analysis.operator.name}", native.name
    device = dict(analysis.layout.attributes).get("device", "cpu")
    here += f" device={device}" * (device != "cpu")
    there = there if there.startswith(target.title) else f"{target.title}'s {there}"
    # What lines do themselves with a number, the operation in them does not.
    there = "these lines" if any(map(any, translation.handlings)) else there
    own, sentences = outcomes_by_place(analysis.layout), dict[str, dict[str, bool]]()
    # No number is out of range where the largest says how many rows there are.
    is_counted = bool(analysis.operator.counted_inputs(analysis.layout.attributes))
    places = PLACES[: len(PLACES) - is_counted]
    for handling in translation.handlings:
        pairs = [*zip(own, _handled_outcomes(analysis.layout, native, handling), strict=True)]
        for which, (ours, theirs) in zip(places, pairs, strict=False):
            is_told = which == PLACES[1] and pairs[1] in (pairs[0], pairs[2])
            if ours != theirs and not is_told:
                begin = f"an index {which}: in {here} it {ours}, in {there} it "
                sentences.setdefault(begin, {})[theirs] = True
    cuts = [layout.policy.truncation for layout in (analysis.layout, native.layout)]
    is_cut = cuts[0] is not Truncation.NEVER is cuts[1] and _has_wide_indices(analysis)
    if is_cut and not any(f"index {PLACES[2]}" in begin for begin in sentences):
        begin = f"an index beyond 32 bits: in {here} it is cut to them, in {there} it "
        sentences[begin] = {"is not": True}
    for recipe in (item.recipe for item in analysis.layout.addressing.generated):
        if isinstance(recipe, SegmentNumbers):
            # Numbers of segments are held by no input, and lengths give none below zero.
            leaves_out = any(recipe.are_offsets or PLACES[2] in begin for begin in sentences)
            problem = "leave cells out or " * leaves_out + "do not fit the axis"
            return [f"{recipe.source} that {problem}: nothing holds them against it"]
    return [begin + ", of another axis it ".join(ends) for begin, ends in sentences.items()]


def _has_wide_indices(analysis: CallAnalysis) -> bool:
    """Whether an input may hold an index that 32 bits do not."""
    columns = analysis.layout.addressing.columns
    return analysis.has_index_numbers and any(column.dtype in WIDE for column in columns)


def outcomes_by_place(layout: Layout) -> tuple[str, str, str]:
    """What becomes of an index at each of `PLACES` by the policy of a layout, as ends of sentences.

    >>> from gscli.frameworks import find_operator
    >>> from gscli.lab.examples import build_probe
    >>> probe = build_probe(find_operator("numpy.take"), {})
    >>> outcomes_by_place(probe.layout)[1:]
    ('is refused', 'is refused')
    """
    skipped, policy = _describe_skip(layout), layout.policy
    below, above = (
        skipped if outcome in ("below", "outside") else OUTCOMES[outcome].does
        for outcome in (outcome_of(policy, negative=True), outcome_of(policy))
    )
    if policy.out_of_bounds is OutOfBounds.WRAP:
        below = FROM_END  # the remainder of -1 is the last row, too
    return below, above if below == FROM_END else below, above


def _describe_skip(layout: Layout) -> str:
    """What becomes of an entry that is left out."""
    is_zero = layout.kind == "gather" and layout.fill_value == 0
    return "reads 0" if is_zero else describe_skips(layout).single


def _native_outcomes(layout: Layout) -> tuple[str, str, str]:
    """The same for what a framework itself does, which may not refuse all that its text does."""
    own = layout.policy.unchecked_outcomes if layout.policy.note else ("", "", "")
    pairs = zip(own, outcomes_by_place(layout), strict=True)
    below, far, above = (UNCHECKED_WORDS.get(word, word) or declared for word, declared in pairs)
    return below, far, above


def _handled_outcomes(
    layout: Layout, native: NativeOp, handling: IndexHandling
) -> tuple[str, str, str]:
    """The same for lines that handle index numbers so."""
    own, (below, far, above) = outcomes_by_place(layout), _native_outcomes(native.layout)
    if handling.takes_remainder:
        return own
    if native.form == "rows" and len(layout.axes) - layout.addressing.traveling > 1:
        # Coordinates that are folded to a row number are not judged on their own axes.
        below = far = above = "may mean another cell"
    elif has_partial_windows(layout) and (
        native.form in ("cells", "rows") or layout.kind == "scatter"
    ):
        # StableHLO's scatter asks of each element of a window whether it lies within, too.
        below, far, above = (
            outcome if outcome == OUTCOMES["refused"].does
            else "is judged for each cell of the window alone"
            for outcome in (below, far, above)
        )  # fmt: skip
    if handling.skips:
        below = far = above = _describe_skip(layout)
    elif handling.clips:
        below = far = above = OUTCOMES["clipped"].does
    elif handling.counts_from_end:
        far = below
    if handling.counts_from_end:
        below = FROM_END
    return (*own[:2], above) if handling.is_unsigned else (below, far, above)


def describe_value_difference(translation: Translation) -> str:
    """What makes lines differ from the call for these very values; empty where nothing does."""
    analysis, target = translation.analysis, translation.target
    if translation.op is None:
        return ""
    # Where updates that are NaN are passed over, NaN in data stays all the same.
    places = analysis.nan_places[target.propagates_nan is False :]
    places = places[:1] if analysis.has_losing_nan else places
    if any(places) and (difference := _describe_nan_difference(analysis, target)):
        return difference
    text = f"{target.title}'s CPU plugin computes in 32 bits, which do not hold every number here"
    return text if target.computes_in_32_bits and analysis.has_wide_values else ""


# What a target does with NaN under max and min.
NAN_WORDS = {
    True: "keeps NaN", False: "passes over NaN in updates", None: "does not say what becomes of it",
}  # fmt: skip


def _describe_nan_difference(analysis: CallAnalysis, target: TargetFramework) -> str:
    """What NaN under max and min does otherwise there."""
    layout, propagates = analysis.layout, target.propagates_nan
    compared = layout.reduction in ("max", "min") and layout.dtype in FLOATS
    is_alike = layout.updates is None or layout.updates.nan_wins == propagates
    # Lines take NaN that must not win out of updates, and leave what stands in data.
    nan = "NaN in data" if analysis.has_losing_nan else "NaN"
    text = f"{nan} under {layout.reduction}: {target.title} {NAN_WORDS[propagates]}"
    return text if compared and not (is_alike or (propagates and analysis.has_losing_nan)) else ""


def list_open_values(analysis: CallAnalysis, target: TargetFramework) -> list[str]:
    """Values of which the target's own call does not say what it makes of them."""
    nan = _describe_nan_difference(analysis, target).partition(target.title)
    return [f"{nan[0]}{target.title} {NAN_WORDS[None]}"] if nan[0] else []


def _iter_breaking_values(analysis: CallAnalysis, target: TargetFramework) -> Iterator[str]:
    layout, nan = analysis.layout, _describe_nan_difference(analysis, target)
    if nan:
        yield nan
    summed = layout.reduction not in ("none", "max", "min") and layout.accumulate_dtype is None
    if summed and layout.dtype in FLOAT16S and target.sums_halves_in_float32:
        yield f"many halves: {target.title} rounds their sum once, not after every step"
