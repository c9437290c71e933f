"""The run as plain text, for readers without scripts, for copying and for speech."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gscli.base.arrays import dtype_name
from gscli.traces.trace import label_of
from gscli.views.page.sheets import Cell, Scene, Sheet
from gscli.views.page.table import left_out
from gscli.views.page.words import Speaker, shape_words


def text_version(scene: Scene, speaker: Speaker) -> str:
    """Every tensor and every sentence, line by line."""
    whole = replace(scene.options, show=("data", "indices", "updates"))
    lines = [line for sheet in Scene(scene.trace, whole).sheets for line in _tensor(sheet)]
    lines += [
        f"{label_of(number)}: {speaker.sentence(entry)}"
        for number, entry in enumerate(scene.entries)
    ]
    return "\n".join([*lines, speaker.counts])


def _tensor(sheet: Sheet) -> Iterator[str]:
    yield f"{sheet.subject.name} {dtype_name(sheet.subject.array.dtype)} {shape_words(sheet.shape)}"
    width = max(map(len, sheet.texts.values()), default=0)
    for lead in sheet.window.planes:
        if lead:
            yield f"  [{','.join(map(str, lead))},:,:]"
        yield from _rows(sheet, lead, width)
    yield from (f"  {line}" for line in left_out(sheet))


def _rows(sheet: Sheet, lead: Cell, width: int) -> Iterator[str]:
    columns = sheet.window.columns
    all_columns = sheet.window.all_columns
    for row in sheet.window.rows:
        cells = (sheet.cell(lead, row, column) for column in columns)
        texts = (sheet.texts[cell].rjust(width) for cell in cells)
        at = "" if all_columns else f"columns {','.join(map(str, columns))}: "
        number = "" if len(sheet.window.rows) == len(sheet.window.allowed[-2]) else f"row {row}, "
        yield f"  {number}{at}{' '.join(texts)}"
