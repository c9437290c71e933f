"""What a run found: one finding for each kind of difference, and findings that have one cause."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from gscli.base.records import Record
from gscli.runtimes.protocol import Hello, Reply
from gscli.runtimes.trials import COSTLY, MISMATCH_WORDS, REFUSALS, WARNINGS, FuzzCase, Mismatch

# Calls of one costly kind after which calls that meet the same rules are left out.
MAX_COSTLY_REPEATS = 5

# Rules that are one wherever a cause is looked for, and the word for all of them.
SHARED_WORDS = (
    (r"index too (large|small)", "index out of range"),
    (r"duplicates under \w+", "duplicates"),
    (r"reduction=\w+", "reduction"),
)

# The word for a call that meets no rule; as a cause it needs a reason that is the same.
PLAIN = "plain"

# What rules begin with that are causes only where nothing else is met.
CIRCUMSTANCES = (
    "axis", "opset", "rank", "slices", "several numbers", "data ", "indices int", "indices uint",
)  # fmt: skip


@dataclass(eq=False)
class FuzzFinding:
    """One kind of difference: the smallest call that shows it, and how often it was met.

    `calls_before`: of a fault of sequence, how many calls its process had answered.
    """

    case: FuzzCase
    mismatch: Mismatch
    reply: Reply
    count: int = 1
    is_known: bool = False
    calls_before: int = 0

    @property
    def signature(self) -> str:
        """A line for `--except`: operator, kind, and the rules that the smallest call meets."""
        if self.mismatch.kind == "sequence":
            return f"sequence: {self.mismatch.reason}"
        words = ", ".join(sorted(self.case.distinctions)) or PLAIN
        return f"{self.case.operator.full_name} {self.mismatch.kind}: {words}"

    @property
    def meaning(self) -> str:
        """How it differs in words: from the rules, or from the record of a recorded case."""
        words = MISMATCH_WORDS[self.mismatch.kind]
        if self.case.record is None:
            return words
        return re.sub(r"rules( \w+)$", r"record\1s", words).replace("rules", "record")

    @property
    def is_warning(self) -> bool:
        """Whether only --strict makes it a failure."""
        return self.mismatch.kind in WARNINGS

    def covers(self, other: FuzzCase, verdict: Mismatch) -> bool:
        """Whether another call shows the same kind: it meets all the rules of the smallest.

        What earlier calls did to the process has nothing to do with the call that shows it, and a
        refusal in the same words is the same where the calls have something in common.
        """
        if verdict.kind == "sequence":
            return self.mismatch == verdict
        own, others = self.case.distinctions, other.distinctions
        is_alike = own <= others or (verdict.kind in REFUSALS and bool(own & others))
        return self.case.operator is other.operator and self.mismatch == verdict and is_alike

    def is_saturated(self, other: FuzzCase) -> bool:
        """Whether another call would only show again what costs a process each time."""
        is_enough = self.mismatch.kind in COSTLY and self.count >= MAX_COSTLY_REPEATS
        return is_enough and self.covers(other, self.mismatch)


# What may become of the calls of an operator, and what is said of it where there are any.
COUNT_WORDS = {
    "cases": "",
    "differ": "",
    "unsupported": "not supported",
    "only_after_others": "only after other calls, not in a new process",
    "slow_once": "too slow once (--patience), not in a new process",
    "left_out": "more left out: they would end the process again",
}


@dataclass(eq=False)
class FuzzReport:
    """Everything one run found; of each operator is counted what COUNT_WORDS name.

    `interrupt_status`: the exit status that belongs to the signal that ended it, 0 for none.
    """

    hello: Hello
    counts_by_operator: dict[str, Counter[str]]
    differences: list[FuzzFinding] = field(default_factory=list)
    seconds: float = 0.0
    restarts: int = 0
    interrupt_status: int = 0

    @property
    def cases(self) -> int:
        """How many calls were put to the runtime."""
        return sum(tally["cases"] for tally in self.counts_by_operator.values())

    @property
    def causes(self) -> list[Cause]:
        """The differences, those of one cause together."""
        return group_by_cause(self.differences)

    def failures(self, *, strict: bool) -> list[FuzzFinding]:
        """Differences that count against the runtime and are not known."""
        unknown = (finding for finding in self.differences if not finding.is_known)
        return [finding for finding in unknown if strict or not finding.is_warning]


class Cause(Record):
    """Findings that differ alike and meet a common rule, the smallest call first.

    `words`: the rules that all of them meet.
    """

    findings: tuple[FuzzFinding, ...]
    words: frozenset[str]

    @property
    def total(self) -> int:
        """How many calls showed it."""
        return sum(finding.count for finding in self.findings)

    def describe(self, *, has_rules: bool) -> str:
        """What differs, how, and with `has_rules` the rules; calls before are nobody's operator."""
        first, names = self.findings[0], {each.case.operator.full_name for each in self.findings}
        who = "the runtime" if first.mismatch.kind == "sequence" else ", ".join(sorted(names))
        rules = f" ({', '.join(sorted(self.words))})" if has_rules and self.words else ""
        return f"{who} {first.meaning}{rules}"


def group_by_cause(findings: Sequence[FuzzFinding]) -> list[Cause]:
    """Findings that differ in the same way and share a rule, in the order of their first.

    Each is a smallest call, so that the rules it meets are those that matter. Of several rules that
    the first shares with others the one that most of them meet decides.
    """
    causes: list[Cause] = []
    left = list(findings)
    while left:
        words = _find_cause_words(left[0])
        kind = left[0].mismatch, left[0].is_known
        alike = [finding for finding in left if (finding.mismatch, finding.is_known) == kind]
        counts = Counter(word for finding in alike for word in _find_cause_words(finding) & words)
        shared = max(sorted(words), key=lambda word: counts[word], default="")
        members = [finding for finding in alike if shared in _find_cause_words(finding)] or left[:1]
        members.sort(key=lambda finding: finding.case.cell_count)
        common = frozenset.intersection(*map(_find_cause_words, members))
        causes.append(Cause(tuple(members), common))
        left = [finding for finding in left if finding not in members]
    return causes


def _find_cause_words(finding: FuzzFinding) -> frozenset[str]:
    """The rules that may be the cause of a finding, those that belong together under one word."""
    words = set(finding.case.distinctions)
    for pattern, word in SHARED_WORDS:
        words = {re.sub(f"^{pattern}$", word, own) for own in words}
    strong = {word for word in words if not word.startswith(CIRCUMSTANCES)}
    return frozenset(strong or words or ({PLAIN} if finding.mismatch.reason else set()))
