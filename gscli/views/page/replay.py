"""The output entry by entry, as texts of its shown cells: what the page's slider moves through."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gscli.base.text import counted
from gscli.layout.boxes import Box
from gscli.traces.trace import Entry, Trace
from gscli.views.page.sheets import Cell, Scene, values_at


@dataclass(frozen=True)
class Replayed:
    """The output's shown cells before the first entry, and what each entry writes there.

    `steps` holds (number of the shown cell, text) pairs per entry. `opening` says how the output
    starts, `finish` why the result differs from the last step, if it does.
    """

    start: list[str]
    steps: list[list[tuple[int, str]]]
    opening: str
    finish: str


def replayed(scene: Scene) -> Replayed:
    """From the copy of data (or nothing, for a gather) to the result."""
    output = scene.output
    order = {cell: place for place, cell in enumerate(output.cells)}
    boxes = {mark.number: mark.box for mark in output.subject.marks}
    start = _start(scene)
    steps: list[list[tuple[int, str]]] = [[] for _ in scene.entries]
    for cell, numbers in output.entries.items():
        for number in numbers:
            text = _written(scene, scene.entries[number], boxes[number], cell)
            if text is not None:
                steps[number].append((order[cell], text))
    last = list(start)
    for step in steps:
        for place, text in step:
            last[place] = text
    differs = last != list(output.texts.values()) or len(steps) < scene.trace.entry_count
    finish = _finish(scene.trace, len(steps)) if differs else ""
    return Replayed(start, steps, _opening(scene), finish)


def _start(scene: Scene) -> list[str]:
    trace, cells = scene.trace, scene.output.cells
    if trace.kind == "gather":
        return [""] * len(cells)
    if trace.layout.data is None:
        fill = np.asarray(trace.layout.fill).astype(trace.output.dtype)
        return scene.numbers.texts(fill) * len(cells)
    data = trace.inputs[trace.layout.data].reshape(trace.output.shape)
    return scene.numbers.texts(values_at(data, cells))


def _opening(scene: Scene) -> str:
    trace = scene.trace
    if trace.kind == "gather":
        return "Nothing is read yet: output is empty."
    if trace.layout.data is None:
        fill = scene.numbers.texts(np.asarray(trace.layout.fill))[0]
        return f"Nothing is written yet: every cell of output is {fill}."
    return f"Nothing is written yet: output is a copy of {trace.layout.data}."


def _written(scene: Scene, entry: Entry, box: Box, cell: Cell) -> str | None:
    """The text that an entry leaves in an output cell, None where that is not known."""
    if scene.trace.kind == "gather":
        return scene.output.texts[cell]
    if entry.change is None:
        return None
    place = 0
    for at, (begin, end) in zip(cell, box, strict=True):
        place = place * (end - begin) + at - begin
    return scene.numbers.texts(entry.change.new.reshape(-1)[place : place + 1])[0]


def _finish(trace: Trace, told: int) -> str:
    rest = trace.entry_count - told
    if rest:
        return f"The other {counted(rest, 'entry follows', 'entries follow')}. This is the result."
    if trace.averages:
        by = "the number" if trace.reduction == "mean" else "the root of the number"
        return f"Each sum is divided by {by} of its values. This is the result."
    return f"The sums are rounded to {trace.layout.dtype}. This is the result."
