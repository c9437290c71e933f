"""Answers of `--code` as data, and as text: a block of Python with what is true of it above."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from types import MappingProxyType
from typing import Literal, TypeAlias

from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.frameworks.operator import Operator

WIDTH = 100
"""Columns that comments are folded to."""

Verdict: TypeAlias = Literal["exact", "exact for these indices", "differs", "none"]

SCHEMA = "gscli-code/1"


class TargetAnswer(Record):
    """The lines of one target. `call` are those that make `output` from the loaded inputs.

    `operation`: what the line is built on; `composed`: it takes more than that one operation.
    `breaks`: what would make it differ; `reason`: why there is none; `checked`: what a run said.
    """

    target: str
    title: str
    verdict: Verdict
    operation: str = ""
    composed: bool = False
    loading: tuple[str, ...] = ()
    call: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""
    checked: Mapping[str, str] = MappingProxyType({})

    @property
    def lines(self) -> tuple[str, ...]:
        """What is to be pasted."""
        return (*self.loading, *self.call)

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        found: dict[str, object] = {"target": self.target, "verdict": self.verdict}
        if self.verdict == "none":
            return {**found, "reason": self.reason}
        if self.reason:
            found["reason"] = self.reason
        found |= {
            "operation": self.operation, "composition": self.composed, "lines": list(self.lines),
            "breaks": list(self.breaks), "notes": list(self.notes),
        }  # fmt: skip
        return {**found, "check": dict(self.checked)} if self.checked else found


class Code(Record):
    """A call in other frameworks: an answer for each target, and the output that all must give.

    `inputs` are the arrays under the names that they have in the lines; `output` is None where
    nothing was run.
    """

    operator: Operator
    output: Array | None
    inputs: Mapping[str, Array]
    answers: tuple[TargetAnswer, ...]

    def __str__(self) -> str:
        """As the command line prints it."""
        return self.text()

    def text(self, width: int = WIDTH) -> str:
        """A block for each target; comments are folded to the width, lines of code are not."""
        return "\n\n".join("\n".join(_block(one, width)) for one in self.answers) + "\n"

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {
            "schema": SCHEMA,
            "operator": self.operator.full_name,
            "code": [answer.to_dict() for answer in self.answers],
        }

    def checked(self, results: Sequence[Mapping[str, str]]) -> Code:
        """The same with what the runs said."""
        pairs = zip(self.answers, results, strict=True)
        return self._replace(answers=tuple(one._replace(checked=said) for one, said in pairs))


def _block(answer: TargetAnswer, width: int) -> Iterator[str]:
    yield from _comment(f"{answer.title}: {heading(answer)}", width)
    if answer.reason and answer.verdict == "differs":
        yield from _comment(answer.reason, width, "#   ")
    for number, broken in enumerate(answer.breaks):
        yield from _comment(("breaks with " if not number else "and with ") + broken, width, "#   ")
    for note in answer.notes:
        yield from _comment(note, width, "#   ")
    if answer.checked:
        yield from _comment(check_told(answer), width, "#   ")
    yield from answer.lines


def heading(answer: TargetAnswer) -> str:
    """What the lines are, in words.

    >>> heading(TargetAnswer("torch", "PyTorch", "exact", "torch.gather"))
    'torch.gather, exact'
    """
    if answer.verdict == "none":
        return f"none, {answer.reason}"
    verdict = "differs for these values" if answer.verdict == "differs" else answer.verdict
    what = f"no single call; {answer.operation} in a composition" if answer.composed else (
        answer.operation
    )  # fmt: skip
    return f"{what}, {verdict}"


def check_told(answer: TargetAnswer) -> str:
    """What a run said, in words."""
    said = answer.checked
    version, text = said.get("version", ""), said.get("text", "")
    who = f"run in {answer.title} {version}: " if version else ""
    return f"{who}{said['result']}" + (f", {text}" if text else "")


def _comment(text: str, width: int, indent: str = "# ") -> list[str]:
    return wrap(text, max(width, 20), initial_indent=indent, subsequent_indent="#   ")
