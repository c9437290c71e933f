"""What holds of every recorded picture."""

from __future__ import annotations

import pytest
from recording.drawn import views
from recording.scenes import SCENES

MADE = {name: text.decode() for name, text in views().items()}


@pytest.mark.parametrize("name", [name for name in MADE if "color" not in name])
def test_no_line_ends_in_blanks(name: str) -> None:
    assert all(line == line.rstrip() for line in MADE[name].split("\n"))


def test_scenes_cover_every_fate() -> None:
    entries = [entry for made in SCENES.values() for entry in made().entries(50)]
    assert {entry.status for entry in entries} == {"ok", "wrap", "clip", "skip"}
