"""The layout of a call from the shell is made once, and once more where a type is changed."""

from __future__ import annotations

import shlex

import pytest

from gscli.cli import guarded
from gscli.frameworks import execute
from gscli.plan import layout_of


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
        return layout_of(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(execute, "layout_of", counting)
    monkeypatch.setattr("gscli.plan.layout_of", counting)
    assert guarded([*shlex.split(line), "-q"]) == 0
    assert len(asked) == visits
