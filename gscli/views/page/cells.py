"""Letters of entries on the page, and maps of tensors that are not all shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gscli.traces import entry_label
from gscli.views.lines import make_block, merge_runs
from gscli.views.look import MATRIX, Line, Style, ViewOptions, make_style_sheet
from gscli.views.markup import escape
from gscli.views.page.sheets import PageTensor
from gscli.views.terminal.legend import draw_plane_maps
from gscli.views.words.comparison import join_names

COLOURS = 7


def chip_class(number: int, *, live: bool) -> str:
    """The class of an entry's colour.

    >>> chip_class(8, live=True), chip_class(0, live=False)
    ('c1', 'x')
    """
    return f"c{number % COLOURS}" if live else "x"


def entry_chip(number: int, *, live: bool = True, spoken: bool = True) -> str:
    """The letter of an entry in its colour; `spoken`: a screen reader hears what it is.

    >>> entry_chip(1, spoken=False)
    '<i class="c1">b</i>'
    """
    word = '<span class="v">entry </span>' * spoken
    return f'<i class="{chip_class(number, live=live)}">{word}{entry_label(number)}</i>'


def spoken_entries(numbers: Sequence[int]) -> str:
    """The entries of a cell, for its label.

    >>> spoken_entries([0, 2]), spoken_entries([])
    (', entry a and c', '')
    """
    return f", entry {join_names([*map(entry_label, numbers)])}" if numbers else ""


# Columns in which a map is drawn.
_MAP_WIDTH = 36


def render_map(tensor: PageTensor) -> str:
    """The map of a large tensor of which parts are left out, as the terminal draws it.

    Pure decoration: rows and columns are named by the headers of the tables.
    """
    shown = tensor.is_whole or tensor.subject.role not in ("data", "output")
    if len(tensor.shape) < MATRIX or shown or not tensor.subject.marks:
        return ""
    look = make_style_sheet(ViewOptions())
    outlines, notes = draw_plane_maps(tensor.subject, _MAP_WIDTH, look)
    kinds = {style: f' class="c{number}"' for number, style in enumerate(look.values)}
    kinds[look.alarm] = ' class="x"'
    blocks = (*outlines, make_block(notes))
    drawings = "".join(f"<pre>{_render_lines(each.lines, kinds)}</pre>" for each in blocks)
    return (
        '<figure class="map" aria-hidden="true"><figcaption>where: rows down, columns across'
        f"</figcaption>{drawings}</figure>"
    )


def _render_lines(lines: Sequence[Line], kinds: Mapping[Style, str]) -> str:
    """Drawn lines, each run in the class of its style."""
    return "\n".join(
        "".join(f"<span{kinds.get(style, '')}>{escape(text)}</span>" for text, style in line)
        for line in map(merge_runs, lines)
    )
