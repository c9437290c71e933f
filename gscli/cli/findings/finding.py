"""A finding, and the parts of its command."""

from __future__ import annotations

import json
import shlex

from gscli.base.records import Record


class Finding(Record):
    """What a released runtime answers where the rules say something else, and how to see it."""

    runtime: str
    command: str
    rules: str
    seen: str


def case(runtime: str, operator: str, case: dict[str, object]) -> str:
    """The command that puts one written-out case to a runtime; no output means a refusal."""
    framework, _, op = operator.partition(".")
    expect = "output" if "output" in case else "error"
    whole = {"id": operator, "framework": framework, "op": op, **case, "expect": expect}
    text = json.dumps(whole, separators=(",", ":"))
    return f"gscli verify --on {runtime} {shlex.quote(text)}"


def tensor(dtype: str, shape: list[int], *data: float | str) -> dict[str, object]:
    """A tensor of a case, as JSON."""
    return {"dtype": dtype, "shape": shape, "data": list(data)}
