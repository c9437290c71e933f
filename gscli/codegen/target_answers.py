"""Answers of `--code` as data, and as text: a block of Python with what is true of it above."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, repeat
from textwrap import wrap
from typing import Literal, TypeAlias

from gscli.base.arrays import Array, Arrays
from gscli.base.records import Record, former_names
from gscli.codegen.native import TARGETS
from gscli.frameworks.operator import Operator

# Columns that comments are folded to.
WIDTH = 100

Exactness: TypeAlias = Literal[
    "exact", "exact for these indices", "exact for legal indices", "differs", "none"
]

SCHEMA = "gscli-code/1"


@former_names(checked="run_result", loading="preamble")
class Snippet(Record):
    """The lines of one target. `call` are those that make `output` from the loaded inputs.

    `operation`: what the line is built on; `composed`: it takes more than that one operation.
    `breaks`: what would make it differ; `reason`: why there is none; `run_result`: what a run said.
    """

    target: str
    title: str
    verdict: Exactness
    operation: str = ""
    composed: bool = False
    preamble: tuple[str, ...] = ()
    call: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""
    run_result: Mapping[str, str] = {}

    @property
    def lines(self) -> tuple[str, ...]:
        """What is to be pasted."""
        return (*self.preamble, *self.call)

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        document: dict[str, object] = {"target": self.target, "verdict": self.verdict}
        if self.verdict == "none":
            return {**document, "reason": self.reason}
        if self.reason:
            document["reason"] = self.reason
        document |= {
            "operation": self.operation, "composition": self.composed, "lines": list(self.lines),
            "breaks": list(self.breaks), "notes": list(self.notes),
        }  # fmt: skip
        return {**document, "check": dict(self.run_result)} if self.run_result else document


class Code(Record):
    """A call in other frameworks: an answer for each target, and the output that all must give.

    `inputs` are the arrays under the names that they have in the lines; `output` is None where
    nothing was run. `refusal`: why the call's own framework does not run it.
    """

    operator: Operator
    output: Array | None
    inputs: Arrays
    answers: tuple[Snippet, ...]
    refusal: str = ""

    def __str__(self) -> str:
        """As the command line prints it."""
        return self.text()

    def __repr__(self) -> str:
        targets = ", ".join(answer.target for answer in self.answers)
        return f"<Code of {self.operator.full_name} for {targets}>"

    def _repr_html_(self) -> str:
        from gscli.views.markup import escape, format_preformatted

        return format_preformatted([escape(self.text())])

    def text(self, width: int = WIDTH) -> str:
        """A block for each target; comments are folded to the width, lines of code are not."""
        blocks = [_format_comment(self.refusal, width)] if self.refusal else []
        blocks += [[*_format_block(answer, width)] for answer in self.answers]
        return "\n\n".join(map("\n".join, blocks)) + "\n"

    @property
    def verdicts(self) -> list[str]:
        """A sentence for each target: what a run of its lines said, or what they are."""
        return [
            f"{answer.title}: {(describe_run if answer.run_result else describe_snippet)(answer)}"
            for answer in self.answers
        ]

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        document: dict[str, object] = {"schema": SCHEMA, "operator": self.operator.full_name}
        document["code"] = [answer.to_dict() for answer in self.answers]
        return {**document, "refused": self.refusal} if self.refusal else document


def _format_block(answer: Snippet, width: int) -> Iterator[str]:
    yield from _format_comment(f"{answer.title}: {describe_snippet(answer)}", width)
    remarks = [answer.reason] if answer.reason and answer.verdict == "differs" else []
    remarks += map("{} {}".format, chain(["breaks with"], repeat("and with")), answer.breaks)
    remarks += [*answer.notes, *([describe_run(answer)] if answer.run_result else [])]
    for remark in remarks:
        yield from _format_comment(remark, width, "#   ")
    yield from answer.lines


def describe_snippet(answer: Snippet) -> str:
    """What the lines are, in words.

    >>> describe_snippet(Snippet("torch", "PyTorch", "exact", "torch.gather"))
    'torch.gather, exact'
    """
    if answer.verdict == "none":
        return f"none, {answer.reason}"
    verdict = "differs for these values" if answer.verdict == "differs" else answer.verdict
    return f"{answer.operation}{' in a composition' * answer.composed}, {verdict}"


def describe_run(answer: Snippet) -> str:
    """What a run said, in words.

    >>> said = {"result": "equal", "version": "1.32.0"}
    >>> describe_run(Snippet("onnx", "ONNX", "exact", "Gather", run_result=said))
    'run in onnxruntime 1.32.0: equal'
    """
    said = answer.run_result
    version, text = said.get("version", ""), said.get("text", "")
    needs = TARGETS[answer.target].needs
    who = f"run in {needs[0] if needs else answer.title} {version}: " if version else ""
    return f"{who}{said['result']}" + (f", {text}" if text else "")


def _format_comment(text: str, width: int, indent: str = "# ") -> list[str]:
    return wrap(text, max(width, 20), initial_indent=indent, subsequent_indent="#   ")
