"""What a runtime's answer is, held against the rules'."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

import numpy as np

from gscli.base import GscliError, LimitRefused
from gscli.base.records import Record
from gscli.files.arrays import Array, dtype_name
from gscli.lab.cases import difference
from gscli.lab.runtimes.coverage import several_writers
from gscli.lab.runtimes.protocol import Reply
from gscli.lab.runtimes.trials import Result, Trial

Kind: TypeAlias = Literal[
    "value", "shape", "dtype", "refuses", "crash", "hang", "memory", "garbage", "unsteady",
    "answers", "winner",
]  # fmt: skip

MEANING: dict[Kind, str] = {
    "value": "another value than the rules",
    "shape": "another shape than the rules",
    "dtype": "another element type than the rules",
    "refuses": "refuses what the rules allow",
    "crash": "the process ends",
    "hang": "no answer in time",
    "memory": "takes more memory than allowed",
    "garbage": "its answer cannot be read",
    "unsteady": "differs from itself",
    "answers": "answers what the rules refuse",
    "winner": "another winner where the order of duplicates is open",
}
"""Every kind of difference in words."""

WARNINGS: tuple[Kind, ...] = ("answers", "winner")
"""Kinds that fail only under --strict: nothing that was promised is broken."""


class Mismatch(Record):
    """A difference, with the reason that has to stay the same while the case is made smaller."""

    kind: Kind
    reason: str = ""


def verdict(trial: Trial, answer: Reply) -> Mismatch | None:
    """What is wrong with an answer; None where nothing is, or the runtime has no such thing."""
    if answer.how == "unsupported":
        return None
    if answer.how in ("crash", "hang", "memory", "garbage"):
        return Mismatch(answer.how, _outline(answer.text) if answer.how == "crash" else "")
    expected = trial.expected
    if isinstance(expected, GscliError):
        not_asked = isinstance(expected, LimitRefused)  # a limit is gscli's own, no rule
        if answer.how == "error" or trial.unchecked or not_asked:
            return None
        return Mismatch("answers", expected.problem)
    if answer.how == "error":
        return Mismatch("refuses", _outline(answer.text))
    assert answer.output is not None
    return _compared(expected, answer.output)


def _compared(expected: Result, output: Array) -> Mismatch | None:
    wanted = expected.output
    if output.shape != wanted.shape:
        return Mismatch("shape")
    if dtype_name(output.dtype) != dtype_name(wanted.dtype):
        return Mismatch("dtype")
    if not difference(output, wanted):
        return None
    return Mismatch("winner" if _only_another_winner(expected, output) else "value")


def _only_another_winner(expected: Result, output: Array) -> bool:
    """Whether all cells that differ are open, and hold a value that somebody wrote there."""
    layout = expected.plan.layout
    if not layout.open_order or layout.updates is None:
        return False
    several = several_writers(expected.plan)
    if several is None:
        return False
    with np.errstate(invalid="ignore"):
        unequal = np.asarray(output != expected.output)
    if np.any(unequal & ~several):
        return False
    written = expected.plan.updates().astype(output.dtype)
    return bool(np.isin(output[unequal], written).all())


def differs(one: Reply, other: Reply) -> bool:
    """Whether two answers to the same request are not the same.

    >>> differs(Reply("error", text="a"), Reply("error", text="b"))
    False
    """
    if one.how != other.how:
        return True
    if one.output is None or other.output is None:
        return False
    return (
        one.output.dtype != other.output.dtype
        or one.output.shape != other.output.shape
        or one.output.tobytes() != other.output.tobytes()
    )


def _outline(text: str) -> str:
    """A message without what changes from case to case: numbers, shapes, quoted names.

    >>> _outline("RuntimeError: index 7 is out of bounds for size 3")
    'RuntimeError: index # is out of bounds for size #'
    """
    return re.sub(r"[-+]?\d[\d.,]*|\[[^\]]*\]|\{[^}]*\}", "#", text)[:80]
