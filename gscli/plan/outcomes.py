"""What becomes of an index number: how it is decided, the words for it, and how many there are.

The one table of outcomes. A number has one of them under a policy; warnings, `check`, pictures,
sentences, pages, rules and comparisons all look here for what to say of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gscli.base.arrays import Array, Indices
from gscli.base.records import Record, former_names
from gscli.base.words import format_place
from gscli.layout import Layout
from gscli.layout.axes import INT32_MAX, Negative, OutOfBounds, Policy, Truncation
from gscli.plan.indices import IndexOutcome, OutcomeSign, apply_policy, fits_axis
from gscli.plan.plan import ValidatedPlan


class OutcomeWords(Record):
    """What is said of an outcome, as patterns over the number and its place.

    Of a number: `key` what its sign means, `reason` what it is on its axis, `remark` under a
    picture, `plain` in sentences, `path` in an address, `change` in warnings, whose problem is
    `notices` for one and for several. Of a policy: `does` as the end of a sentence, `rule` why,
    `behaviour` as the name of a rule set's way, where numbers below zero count from the end and
    where they do not, `cell` in the table of rules. `landing`: beside a value in a comparison,
    `way` beside its number line.
    """

    sign: OutcomeSign | None
    does: str = ""
    rule: str = ""
    key: str = ""
    reason: str = "{subject} is {coordinate}"
    remark: str = "{raw_value} {path} {place}"
    plain: str = "{raw_value} {change}"
    path: str = ""
    change: str = ""
    notices: tuple[str, str] = ("", "")
    behaviour: tuple[str, str] = ("", "")
    cell: str = ""
    landing: str = "outside"
    way: str = "{raw_value} is outside: {fate}"


def _word_move(does: str, **words: Any) -> OutcomeWords:
    """A number that means another one: what it `does` is its path, its change and, if no other is
    given, its key.
    """
    stems = {"does": does, "path": f"{does}:", "change": f"{does} and means {{coordinate}}"}
    return OutcomeWords("wrapped", **{"key": does, **stems, **words})


def _word_skip(being: str, **words: Any) -> OutcomeWords:
    """A number that no cell has; its change and notices are made of `being`, as "is ignored"."""
    change = f"{being} and {{left_out}}"
    several = f"are {being.removeprefix('is ')}, and each {{left_out}}"
    notices = f"index {change}", f"indices {several}"
    return OutcomeWords("skipped", change=change, notices=notices, cell="{skipped}", **words)


# In the order in which they are told.
OUTCOMES: dict[IndexOutcome, OutcomeWords] = {
    "cut": _word_move(
        "loses its fraction",
        rule="the fraction is cut off",
        landing="fraction cut",
        way="{raw_value} is cut to {coordinate}",
        notices=("index loses its fraction", "indices lose their fractions"),
    ),
    "from_end": _word_move(
        "counts from the end",
        rule="an index below zero {does}",
        notices=("negative index counts from the end", "negative indices count from the end"),
        cell="from the end",
        landing="from the end",
        way="{raw_value} + {size} = {coordinate}",
    ),
    "narrowed": _word_move(
        "is cut to 32 bits",
        rule="an index is cut to its low 32 bits",
        key="cut to 32 bits",
        landing="cut to 32 bits",
        way="{raw_value} in 32 bits: {coordinate}",
        notices=("index is cut to 32 bits", "indices are cut to 32 bits"),
    ),
    "wrapped": OutcomeWords(
        "wrapped",
        does="is taken modulo the size",
        rule="an index outside {does}",
        key="wraps around",
        remark="{raw_value} wraps around {size}: {place}",
        path="wraps around to",
        change="wraps to {coordinate}",
        notices=("index wraps around the axis", "indices wrap around the axis"),
        behaviour=("wrap around", "wrap around"),
        cell="modulo",
        landing="{raw_value} mod {size}",
        way="{raw_value} mod {size} = {coordinate}",
    ),
    "clipped": OutcomeWords(
        "clipped",
        does="moves to the nearest end",
        rule="an index outside {does}",
        key="moved to an end",
        reason="{subject} {path} {coordinate}",
        path="is clipped to",
        change="{path} {coordinate}",
        notices=("index is clipped to the axis", "indices are clipped to the axis"),
        behaviour=("from the end, then clip", "clip to the nearest end"),
        cell="clipped to {end}",
        landing="to the edge",
        way="{raw_value} stops at {coordinate}",
    ),
    "unsigned": OutcomeWords(None, does="moves to the far end", cell="clipped to the last"),
    "below": _word_skip(
        "is below zero",
        does="skips its entry",
        rule="an index below zero {does}",
        key="below zero",
        reason="{subject} is below zero",
        remark="{raw_value} is below zero: {fate}",
        plain="{raw_value} is below zero, which skips the entry",
    ),
    "ignored": _word_skip(
        "is ignored",
        does="skips its entry",
        rule="the number that is ignored {does}",
        key="ignored",
        reason="{raw_value} is ignored",
        remark="{raw_value} is ignored: {fate}",
        plain="{raw_value} is the number that is ignored",
    ),
    "outside": _word_skip(
        "is outside",
        does="{nothing}",
        rule="such an index {does}",
        key="out of range",
        reason="{subject} {outside}",
        remark="{raw_value} is outside {legal}: {fate}",
        plain="{subject} {out_of_range}",
        behaviour=("from the end, else {instead}", "{alone}"),
    ),
    "partly": OutcomeWords(
        None,
        change="begins a window that lies partly outside",
        notices=("window lies partly outside", "windows lie partly outside"),
        cell="partly outside, cell by cell",
        landing="partly outside",
    ),
}

OUTCOMES["refused"] = OUTCOMES["outside"]._replace(
    does="is refused",
    change="",
    notices=("", ""),
    behaviour=("refuse what is outside", "refuse below zero too"),
    cell="error",
)


class SkipWords(Record):
    """What an entry without a cell does: as a word, of one, and behind how many they are."""

    word: str
    single: str
    several: str


def describe_skips(layout: Layout, outcome: IndexOutcome = "outside") -> SkipWords:
    """What entries without a cell, for an index of this outcome, do, or why there is none."""
    if layout.policy.is_refused and outcome not in ("ignored", "below"):
        return SkipWords("refused", "is refused", "refused, so that none is")
    if layout.kind == "gather" and layout.fold is None:
        what = "the fill value" if layout.output_size else "nothing"
        return SkipWords("filled", f"reads {what}", f"read {what}")
    return SkipWords("dropped", "is dropped", "dropped")


def describe_outcome(layout: Layout, outcome: IndexOutcome) -> list[str]:
    """What becomes of one index of an outcome, and of several, behind how many they are."""
    left_out = describe_skips(layout, outcome).single
    return [text.format(left_out=left_out) for text in OUTCOMES[outcome].notices]


INDEX_OUTCOMES: tuple[IndexOutcome, ...] = tuple(OUTCOMES)

_BEYOND: dict[OutOfBounds, IndexOutcome] = {
    OutOfBounds.RAISE: "refused", OutOfBounds.WRAP: "wrapped", OutOfBounds.CLIP: "clipped",
        OutOfBounds.SKIP: "outside",
}  # fmt: skip
_NEGATIVE: dict[Negative, IndexOutcome] = {Negative.FROM_END: "from_end", Negative.SKIP: "below"}


def outcome_of(policy: Policy, *, negative: bool = False) -> IndexOutcome:
    """What becomes of every number outside the axis, or of -1, under a policy.

    >>> outcome_of(Policy(out_of_bounds=OutOfBounds.CLIP)), outcome_of(Policy(), negative=True)
    ('clipped', 'from_end')
    """
    beyond = "refused" if policy.is_refused else _BEYOND[policy.out_of_bounds]
    if negative and policy.truncation is Truncation.UNSIGNED:
        return "unsigned"
    return _NEGATIVE.get(policy.negative, beyond) if negative else beyond


@former_names(written="raw_value", how="sign")
class AdjustedIndex(Record):
    """One index number that is not its own coordinate: -1 meaning 3, 9 clipped to 3, …

    `slot` is its place in the vector of its `entry`, `position` its place in the input `source`;
    `axis` is the axis of data that it addresses (None: data is laid flat), which has `size` cells;
    `coordinate` is None for a number that made its entry be skipped. `span`: cells of the window
    that begins there.
    """

    outcome: IndexOutcome
    entry: int
    slot: int
    source: str
    position: tuple[int, ...]
    axis: int | None
    size: int
    raw_value: int | float
    coordinate: int | None
    span: int = 1

    @property
    def sign(self) -> OutcomeSign:
        """Which sign stands beside the number."""
        return OUTCOMES[self.outcome].sign or "skipped"

    @property
    def is_once_around(self) -> bool:
        """Whether the size is added once: taken modulo the size, some count from the end."""
        return self.sign == "wrapped" and self.coordinate == self.raw_value + self.size

    @property
    def arithmetic(self) -> OutcomeWords:
        """The words that say how the coordinate comes of the number."""
        return OUTCOMES["from_end" if self.is_once_around else self.outcome]

    @property
    def index_path(self) -> str:
        """Where the number stands, and which it is.

        >>> AdjustedIndex("clipped", 0, 0, "i", (0, 1), 0, 3, 7, 2).index_path
        'i[0,1] = 7'
        """
        return f"{format_place(self.source, self.position)} = {self.raw_value}"

    @property
    def path(self) -> str:
        """What leads to its coordinate; the start of a window that counts from the end, and leaves
        no room for the window there, is moved.

        >>> AdjustedIndex("clipped", 0, 0, "i", (0,), 0, 3, -1, 1, span=2).path
        'counts from the end and is clipped to'
        """
        path = OUTCOMES[self.outcome].path
        is_moved = self.outcome == "clipped" and self.span > 1 and self.raw_value < 0
        return f"counts from the end and {path}" if is_moved and self.coordinate else path

    @property
    def subject(self) -> str:
        """The number and what it addresses.

        >>> AdjustedIndex("outside", 0, 0, "i", (0,), None, 4, 7, None).subject
        '7 in 4 cells laid flat'
        """
        if self.axis is None:
            return f"{self.raw_value} in {self.size} cells laid flat"
        where = f"{self.raw_value} on axis {self.axis} of size {self.size}"
        return where if self.span == 1 else f"a window of {self.span} from {where}"

    def words(self) -> str:
        """What the number is on its axis, as a phrase.

        >>> AdjustedIndex("from_end", 0, 0, "i", (0,), 0, 4, -1, 3).words()
        '-1 on axis 0 of size 4 is 3'
        """
        return self.format(OUTCOMES[self.outcome].reason)

    def change(self, layout: Layout) -> str:
        """What becomes of the number, as it is told behind its place.

        >>> import gscli
        >>> plan = gscli.trace("mxnet.take", {"a": [1, 2, 3], "indices": [7]}).plan
        >>> count_outcomes(plan, 1).examples["clipped"][0].change(plan.layout)
        'is clipped to 2'
        """
        left_out = describe_skips(layout, self.outcome).single
        return self.format(OUTCOMES[self.outcome].change, left_out=left_out)

    def format(self, pattern: str, **facts: object) -> str:
        """One of the patterns of the table with this number; `facts` are what else it speaks of."""
        known = {"subject": self.subject, "path": self.path} | self._asdict()
        known["outside"] = "is outside" if self.span == 1 else "does not fit"
        known["out_of_range"] = "is out of range" if self.span == 1 else "does not fit"
        return pattern.format_map(known | facts)


class OutcomeCounts(Record):
    """How many numbers there are of each outcome, and the first of each."""

    counts: dict[IndexOutcome, int]
    examples: dict[IndexOutcome, list[AdjustedIndex]]


def count_outcomes(plan: ValidatedPlan, limit: int) -> OutcomeCounts:
    """Count all numbers that are not read as written; of each outcome `limit` are described.

    >>> import gscli
    >>> plan = gscli.trace("mxnet.take", {"a": [1, 2, 3], "indices": [7, 0, -1]}).plan
    >>> count_outcomes(plan, 1).counts, count_outcomes(plan, 1).examples["clipped"][0].index_path
    ({'clipped': 2}, 'indices[0] = 7')
    """
    counts, examples = dict[IndexOutcome, int](), dict[IndexOutcome, list[AdjustedIndex]]()
    for column, in_bounds in enumerate(plan.in_bounds):
        for start, numbers in () if in_bounds else plan.iter_numbers(column):
            coordinates, codes = classify_indices(plan, column, numbers)
            for code in np.unique(codes[codes > 0]).tolist():
                outcome = INDEX_OUTCOMES[code - 1]
                places = np.flatnonzero(codes == code)
                counts[outcome] = counts.get(outcome, 0) + places.size
                known = examples.setdefault(outcome, [])
                for place in places[: limit - len(known)].tolist():
                    entry = plan.first_entry(column, start + place)
                    known.append(adjusted_index(plan, column, entry, code, int(coordinates[place])))
    order = [outcome for outcome in INDEX_OUTCOMES if outcome in counts]
    return OutcomeCounts({key: counts[key] for key in order}, {key: examples[key] for key in order})


def classify_indices(plan: ValidatedPlan, column: int, numbers: Array) -> tuple[Indices, Indices]:
    """The coordinates of some numbers of a column, and what became of each of them.

    0: it is its own coordinate; n: the outcome INDEX_OUTCOMES[n - 1].
    """
    axis, policy = plan.layout.axes[plan.layout.column_axes[column]], plan.layout.policy
    # Told of here are numbers beside refused ones too: nothing is read or written with these.
    coordinates, live = apply_policy(numbers.copy(), axis, policy)
    codes = np.zeros(numbers.shape, np.int64)
    skipped = np.zeros(numbers.shape, np.bool_) if live is None else ~live
    partly = np.zeros(numbers.shape, np.bool_)
    if not policy.is_atomic:
        skipped = skipped | (coordinates <= -axis.reach) | (coordinates >= axis.size)
        partly = (coordinates < 0) | (coordinates > axis.size - axis.reach)
    adjusted = np.flatnonzero(skipped | partly | (numbers != coordinates))
    written, became, skipped = numbers[adjusted], coordinates[adjusted], skipped[adjusted]
    negative = written < 0
    from_end = negative & (policy.negative is Negative.FROM_END) & (written >= -axis.size)
    whole = np.trunc(written) if written.dtype.kind == "f" else written
    clipped = (policy.out_of_bounds is OutOfBounds.CLIP) & ~fits_axis(written, axis, policy)
    narrows = policy.truncation is not Truncation.NEVER
    narrowed = (whole > INT32_MAX) | (whole < ~INT32_MAX) if narrows else skipped & False
    decided: dict[IndexOutcome, Array] = {  # the first that holds is the outcome
        "ignored": written == policy.ignored if policy.ignored is not None else skipped & False,
        "below": skipped & negative & (policy.negative is Negative.SKIP),
        "refused" if policy.is_refused else "outside": skipped,
        "narrowed": narrowed,
        "clipped": clipped,
        "cut": (whole != written) & (from_end | (whole == became)),
        "from_end": from_end,
        "wrapped": written != became,
        "partly": partly[adjusted],
    }
    numbered = [INDEX_OUTCOMES.index(outcome) + 1 for outcome in decided]
    codes[adjusted] = np.select([*decided.values()], numbered, 0)
    return coordinates, codes


def adjusted_index(
    plan: ValidatedPlan, column: int, entry: int, code: int, coordinate: int
) -> AdjustedIndex:
    """One number of an entry with all that is told of it; `code` as `classify_indices` has it."""
    outcome, layout = INDEX_OUTCOMES[code - 1], plan.layout
    axis = layout.axes[layout.column_axes[column]]
    place = plan.index_place(column, entry)
    number = plan.raw_indices(column, entry, entry + 1)[0].item()
    reached = None if OUTCOMES[outcome].sign == "skipped" else coordinate
    return AdjustedIndex(outcome, entry, column, *place, axis.size, number, reached, axis.reach)
