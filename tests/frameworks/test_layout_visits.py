"""The layout of a call from the shell is made once, and once more where a type is changed."""

from __future__ import annotations

import shlex

import pytest

from gscli.cli import run_safely
from gscli.frameworks import execute
from gscli.plan import infer_layout


@pytest.mark.parametrize(
    ("line", "visits"),
    [
        ("gather '[1,2,3]' '[0]'", 1),
        ("scatter-nd '[1,2,3]' '[[0]]' '[7]'", 1),
        ("scatter-nd '[1.5,2,3]' '[[0]]' '[7]'", 2),
    ],
)
def test_a_command_asks_for_the_layout_once_for_each_set_of_types(
    line: str, visits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def counting(*args: object) -> object:
        asked.append(args)
        return infer_layout(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(execute, "infer_layout", counting)
    monkeypatch.setattr("gscli.plan.infer_layout", counting)
    assert run_safely([*shlex.split(line), "-q"]) == 0
    assert len(asked) == visits
