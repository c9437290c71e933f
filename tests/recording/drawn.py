"""Drawings that are recorded: pictures, explanations and steps of scenes, and comparisons."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gscli.lab.answers import ComparisonResult
from gscli.lab.compare import compare
from gscli.views.lines import render_text
from gscli.views.look import ViewOptions
from gscli.views.picture import Picture
from gscli.views.terminal.compare import ComparisonView
from gscli.views.terminal.explain import Explanation
from gscli.views.terminal.frames import Frames
from gscli.views.terminal.tables import make_tensor_drawing
from gscli.views.words.compare_words import describe_comparison
from recording.scenes import COLOR, COLOR_WIDE, MONO, NARROW, PLAIN, SCENES, WIDE

# Comparisons: concept, inputs, arguments.
CALLS = {
    "gather": ("gather", {"data": [10, 20, 30, 40], "indices": [0, -1, 9]}, {}),
    "gather-good": ("gather", {"data": [[1, 2], [3, 4]], "indices": [1, 0]}, {"axis": 1}),
    "gather-batch": (
        "gather",
        {"data": [[1, 2], [3, 4]], "indices": [[1], [0]]},
        {"axis": 1, "batch_dims": 1},
    ),
    "gather-elements": (
        "gather-elements",
        {"data": [[1, 2], [3, 4]], "indices": [[0, 1], [-1, 0]]},
        {"axis": 0},
    ),
    "gather-nd": ("gather-nd", {"data": [[1, 2], [3, 4]], "indices": [[0, 1], [1, -1]]}, {}),
    "scatter-elements": (
        "scatter-elements",
        {"data": [[1, 2], [3, 4]], "indices": [[0, 0], [1, 1]], "updates": [[5, 6], [7, 8]]},
        {"axis": 1, "reduction": "add"},
    ),
    "scatter-nd": (
        "scatter-nd",
        {"data": [[1, 2], [3, 4]], "indices": [[0, 1], [1, 2]], "updates": [9, 8]},
        {"reduction": "add"},
    ),
    "scatter-nd-zeros": (
        "scatter-nd",
        {"data": [0, 0, 0], "indices": [[1], [1]], "updates": [9, 8]},
        {},
    ),
    "scatter-update": (
        "scatter-update",
        {"data": [[1, 2], [3, 4], [5, 6]], "indices": [2, 0], "updates": [[7, 8], [9, 10]]},
        {},
    ),
    "take": ("take", {"data": [[10, 20], [30, 40]], "indices": [0, -1]}, {}),
}


def compared(name: str) -> ComparisonResult:
    """The comparison of one of the calls."""
    concept, inputs, arguments = CALLS[name]
    return compare(concept, inputs, **arguments)  # type: ignore[arg-type]


def comparisons() -> dict[str, bytes]:
    """Every comparison at two widths, and in sentences."""
    made: dict[str, str] = {}
    for name in CALLS:
        answers = compared(name)
        for width in (80, 120):
            options = ViewOptions(width=width, color="none")
            made[f"{name}-{width}"] = render_text(ComparisonView(answers, options), options)
        made[f"{name}-plain"] = describe_comparison(answers, ViewOptions())
    return {f"tests/golden/compare/{name}.txt": text.encode() for name, text in made.items()}


def views() -> dict[str, bytes]:
    """Every recorded picture by file; escape characters are written as ␛."""
    return {
        f"tests/golden/views/{name}": text.replace("\x1b", "␛").encode()
        for name, text in _screens()
    }


def _screens() -> Iterator[tuple[str, str]]:
    for name, made in SCENES.items():
        yield f"{name}_80.txt", render_text(Picture(made(), PLAIN), PLAIN)
    for name in ("sheets", "big", "duplicates"):
        yield f"{name}_120.txt", render_text(Picture(SCENES[name](), WIDE), WIDE)
        yield (
            f"{name}_120_color.txt",
            render_text(Picture(SCENES[name](), COLOR_WIDE), COLOR_WIDE),
        )
    for name in ("duplicates", "negative", "last_wins", "filled", "outside"):
        yield f"{name}_80_color.txt", render_text(Picture(SCENES[name](), COLOR), COLOR)
    for name in ("duplicates", "negative", "clipped", "sheets", "hostile", "five_axes"):
        yield f"{name}_40_ascii.txt", render_text(Picture(SCENES[name](), NARROW), NARROW)
    yield "duplicates_80_mono.txt", render_text(Picture(SCENES["duplicates"](), MONO), MONO)
    for name in ("duplicates", "sheets", "clipped", "filled", "mean", "window", "negative",
                 "outside"):  # fmt: skip
        made = SCENES[name]()
        yield f"{name}_explain.txt", render_text(Explanation(made, PLAIN), PLAIN)
        yield f"{name}_plain.txt", str(Explanation(made, PLAIN, plain=True).format_plain())
    for name in ("duplicates", "filled"):
        steps = Frames(SCENES[name](), PLAIN)
        yield (
            f"{name}_steps.txt",
            "\n".join(render_text(steps.step(number + 1), PLAIN) for number in range(len(steps))),
        )
    grid = np.linspace(-1, 1, 60 * 90).reshape(60, 90)
    yield "tensor_80.txt", render_text(make_tensor_drawing("weights", grid, PLAIN), PLAIN)
