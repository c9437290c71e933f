"""A drawing as a figure for slides and papers: SVG on no ground, columns exact in every renderer.

Each word stands at its own place and none begins with a space, because renderers disagree on
spaces and some know no `textLength` (librsvg, and with it many ways to PDF).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import Literal, TypeAlias

from gscli.base.records import Record
from gscli.views.crosshair import (
    CELL,
    LINE,
    Crosshair,
    ObliquePlane,
    PixelGrid,
    PlacedRun,
    find_oblique_planes,
    place_runs,
)
from gscli.views.lines import Drawing, line_width
from gscli.views.look import Style, cell_len
from gscli.views.markup import escape

Theme: TypeAlias = Literal["light", "dark"]

# Pixels of the letters, which are 0.602 em wide in most fonts.
SIZE = 14

# Pixels around a figure, and around one with a crosshair.
MARGIN, CROSSHAIR_MARGIN = 8, 24
_ASCENT, _STROKE = 15, 10
_FONTS = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"


class FigurePalette(Record):
    """What shows on the ground that the figure will stand on."""

    foreground: str
    dim: str
    background: str


FIGURE_PALETTES: dict[Theme, FigurePalette] = {
    "light": FigurePalette("#17181d", "#666a73", "#ffffff"),
    "dark": FigurePalette("#e2e4e9", "#9a9ea8", "#121319"),
}


def render_svg(drawn: Drawing, title: str, description: str = "", theme: Theme = "light") -> str:
    """A self-contained SVG of the drawing, as wide as its longest line; nothing is loaded.

    `title` and `description` are what a screen reader says. The ground is left transparent.
    """
    return next(render_series({title: drawn}, description, theme))


def render_series(drawings: Mapping[str, Drawing], description: str, theme: Theme) -> Iterator[str]:
    """SVGs of drawings by their titles, all of one size: slides neither jump nor change scale."""
    pages = [drawn.render_lines() for drawn in drawings.values()]
    placed = [[*place_runs(lines)] for lines in pages]
    sheets = [*map(find_oblique_planes, placed)]
    ends = [plane.right + plane.shift(plane.top) for planes in sheets for plane in planes.values()]
    width = max([*map(line_width, chain(*pages)), *ends], default=0)
    roles = {run.style.role for run in chain(*placed)}
    margin = CROSSHAIR_MARGIN if roles & {"entry", "gradient"} else MARGIN
    grid, inks = PixelGrid(margin), FIGURE_PALETTES[theme]
    wide, high = f"{width * CELL + 2 * margin:.1f}", max(map(len, pages)) * LINE + 2 * margin
    for title, runs, planes in zip(drawings, placed, sheets, strict=True):
        crosshair = Crosshair(runs, grid, inks.foreground, planes)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}"'
            f' viewBox="0 0 {wide} {high}" role="img" aria-labelledby="title description"'
            f' font-family="{_FONTS}" font-size="{SIZE}" fill="{inks.foreground}"'
            ' shape-rendering="crispEdges">\n'
            f'<title id="title">{escape(title)}</title>\n'
            f'<desc id="description">{escape(description)}</desc>'
        )
        body = _render_body(runs, "", grid, inks)
        for name, sheet in planes.items():
            inside = _render_body(runs, name, grid, inks)
            body += [_open_plane_group(sheet, grid, inks), *inside, "</g>"]
        parts = [head, *crosshair.render_underlay(), *body, *crosshair.render_overlay(), "</svg>"]
        yield "\n".join(parts) + "\n"


def _open_plane_group(sheet: ObliquePlane, grid: PixelGrid, inks: FigurePalette) -> str:
    """The beginning of a group that leans, and the edge of its sheet."""
    size = sheet.right - sheet.left + 1, sheet.bottom - sheet.top
    looks = f' fill="{inks.dim}" fill-opacity=".07" stroke="{inks.dim}"'
    edge = grid.render_rect(sheet.left - 0.5, sheet.top, *size, looks)
    return f'<g{grid.transform(sheet)} shape-rendering="auto">\n{edge}'


def _render_body(
    runs: Sequence[PlacedRun], sheet: str, grid: PixelGrid, inks: FigurePalette
) -> list[str]:
    """What stands in one sheet, or in none."""
    lines = groupby((run for run in runs if run.style.plane == sheet), attrgetter("line"))
    return [element for _, line in lines for element in _render_line(line, grid, inks)]


def _render_line(runs: Iterable[PlacedRun], grid: PixelGrid, inks: FigurePalette) -> Iterator[str]:
    """The grounds and strokes of a line, then its words."""
    words: list[str] = []
    for number, start, _, text, style in runs:
        top, (ink, ground) = grid.y(number), _colors(style, inks)
        if ground:
            yield grid.render_rect(start, number, cell_len(text), 1, f' fill="{ground}"')
        for word in re.finditer(r"─+|[^ ─]+", text):
            x = grid.x(start + cell_len(text[: word.start()]))
            length = cell_len(word[0]) * CELL
            if word[0].startswith("─"):  # one stroke, which no renderer sets too short
                yield (
                    f'<rect x="{x:.2f}" y="{top + _STROKE}" width="{length:.2f}"'
                    f' height="1" fill="{ink or inks.foreground}"/>'
                )
                continue
            words.append(
                f'<text x="{x:.2f}" y="{top + _ASCENT}" textLength="{length:.2f}"'
                f' lengthAdjust="spacingAndGlyphs"{_text_attributes(style, ink)}>'
                f"{escape(word[0])}</text>"
            )
    yield from words


def _colors(style: Style, inks: FigurePalette) -> tuple[str, str]:
    """Ink and ground, empty where they are the figure's own."""
    if style.reverse:
        return inks.background, inks.foreground
    return style.color or (inks.dim if style.dim else ""), style.bgcolor


def _text_attributes(style: Style, ink: str) -> str:
    attributes = f' fill="{ink}"' if ink else ""
    attributes += ' font-weight="bold"' if style.bold else ""
    return attributes + (' font-style="italic"' if style.italic else "")
