"""The screens as they were when someone last looked at them."""

from __future__ import annotations

import pytest
from views.scenes import GOLDEN, SCENES, screens

MADE = dict(screens())


@pytest.mark.parametrize("name", MADE)
def test_screen_is_the_golden_one(name: str) -> None:
    assert MADE[name] == (GOLDEN / name).read_text(encoding="utf-8")


def test_every_golden_file_is_compared() -> None:
    assert {path.name for path in GOLDEN.glob("*.txt")} == set(MADE)


@pytest.mark.parametrize("name", [name for name in MADE if "color" not in name])
def test_no_line_ends_in_blanks(name: str) -> None:
    assert all(line == line.rstrip() for line in MADE[name].split("\n"))


def test_scenes_cover_every_fate() -> None:
    entries = [entry for made in SCENES.values() for entry in made().entries(50)]
    assert {entry.status for entry in entries} == {"ok", "wrap", "clip", "skip"}
