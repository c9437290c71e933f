"""What holds of every recorded picture."""

from __future__ import annotations

from recording.drawn import views
from recording.scenes import SCENES


def test_no_line_ends_in_blanks() -> None:
    uncoloured = {name: text.decode() for name, text in views().items() if "color" not in name}
    assert uncoloured
    for name, text in uncoloured.items():
        assert all(line == line.rstrip() for line in text.split("\n")), name


def test_scenes_cover_every_fate() -> None:
    entries = [entry for made in SCENES.values() for entry in made().entries(50)]
    assert {entry.status for entry in entries} == {"ok", "wrap", "clip", "skip"}
