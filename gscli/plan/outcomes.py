"""What becomes of an index number: how it is decided, and the words for it.

The one table of outcomes. A number has one of them under a policy; warnings, `check`, pictures,
sentences, pages, rules and comparisons all look here for what to say of it.
"""

from __future__ import annotations

from gscli.base.records import Record
from gscli.layout.axes import Negative, OutOfBounds, Policy
from gscli.plan.indices import IndexOutcome, OutcomeSign


class OutcomeWords(Record):
    """What is said of an outcome, as patterns over the number and its place.

    Of a number: `key` what its sign means, `reason` what it is on its axis, `remark` under a
    picture, `plain` in sentences, `path` in an address, `change` in warnings, whose problem is
    `notices` for one and for several. Of a policy: `does` as the end of a sentence, `rule` why,
    `behaviour` as the name of a rule set's way, where numbers below zero count from the end and
    where they do not, `cell` in the table of rules.
    """

    sign: OutcomeSign | None
    does: str = ""
    rule: str = ""
    key: str = ""
    reason: str = "{subject} is {coordinate}"
    remark: str = ""
    plain: str = "{raw_value} {change}"
    path: str = ""
    change: str = ""
    notices: tuple[str, str] = ("", "")
    behaviour: tuple[str, str] = ("", "")
    cell: str = ""


OUTCOMES: dict[IndexOutcome, OutcomeWords] = {
    "cut": OutcomeWords(
        "wrapped",
        rule="the fraction is cut off",
        key="loses its fraction",
        remark="{raw_value} loses its fraction: {place}",
        path="loses its fraction:",
        change="loses its fraction and means {coordinate}",
        notices=("index loses its fraction", "indices lose their fractions"),
    ),
    "from_end": OutcomeWords(
        "wrapped",
        does="counts from the end",
        rule="an index below zero {does}",
        key="counts from the end",
        remark="{raw_value} counts from the end: {place}",
        path="counts from the end:",
        change="counts from the end and means {coordinate}",
        cell="from the end",
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
    ),
    "clipped": OutcomeWords(
        "clipped",
        does="moves to the nearest end",
        rule="an index outside {does}",
        key="moved to the nearest end",
        reason="{subject} is clipped to {coordinate}",
        remark="{raw_value} is clipped to {place}",
        path="is clipped to",
        change="is clipped to {coordinate}",
        notices=("index is clipped to the axis", "indices are clipped to the axis"),
        behaviour=("from the end, then clip", "clip to the nearest end"),
        cell="clipped to {end}",
    ),
    "below": OutcomeWords(
        "skipped",
        does="skips its entry",
        rule="an index below zero {does}",
        key="below zero",
        reason="{subject} {outside}",
        remark="{raw_value} is below zero: {fate}",
        plain="{raw_value} is below zero, which skips the entry",
        change="is below zero and {left_out}",
        notices=(
            "index is below zero and {left_out}",
            "indices are below zero, and each {left_out}",
        ),
        cell="{skipped}",
    ),
    "outside": OutcomeWords(
        "skipped",
        does="{nothing}",
        rule="such an index {does}",
        key="out of range",
        reason="{subject} {outside}",
        remark="{raw_value} is outside {low} … {high}: {fate}",
        plain="{subject} {out_of_range}",
        change="is outside and {left_out}",
        notices=("index is outside and {left_out}", "indices are outside, and each {left_out}"),
        behaviour=("from the end, else {instead}", "{alone}"),
        cell="{skipped}",
    ),
    "partly": OutcomeWords(
        None,
        change="begins a window that lies partly outside",
        notices=("window lies partly outside", "windows lie partly outside"),
        cell="partly outside, cell by cell",
    ),
    "refused": OutcomeWords(
        None,
        does="is refused",
        behaviour=("refuse what is outside", "refuse below zero too"),
        cell="error",
    ),
}
"""In the order in which they are told."""

LEFT_OUT = {"gather": "reads the fill value", "scatter": "is dropped"}
"""What an entry without a cell does."""

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
    beyond = _BEYOND[policy.out_of_bounds]
    return _NEGATIVE.get(policy.negative, beyond) if negative else beyond
