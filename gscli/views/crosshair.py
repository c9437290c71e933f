"""Where a figure's runs of text stand: oblique planes, and the crosshair of a step over them.

The crosshair: bands that cross at its target, elbows to the heads.

Drawings say what their runs of text are by `Style.role`; `place_runs` says once where each stands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import ceil, copysign
from typing import TypeAlias

from gscli.base.records import Record, cached_property, group_pairs
from gscli.views.lines import line_width
from gscli.views.look import PLAIN, Line, Style, cell_len

# Pixels between the two elbows of an entry.
_APART = 5

# Pixels below the edge of a sheet, where a way along it is seen.
_CLEAR = 4

# Cells without text that part two blocks.
_GAP = 4

# Cells by which the top of a sheet stands further right than its foot.
#
# Less than half a column, so that each head stands above its own, however many rows are below it.
LEAN = 1.4


class ObliquePlane(Record):
    """Where a sheet stands, in lines and cells, half-open, before it leans."""

    top: int
    bottom: int
    left: int
    right: int

    def shift(self, line: float) -> float:
        """Cells by which a place in the sheet moves to the right; its foot stays."""
        return LEAN * (self.bottom - line) / (self.bottom - self.top)


Point: TypeAlias = tuple[float, float]


class PlacedRun(Record):
    """A run of text where it stands: its line, its first cell and the one behind it."""

    line: int
    start: int
    stop: int
    text: str
    style: Style


# Pixels: width of a cell, height of a line.
CELL, LINE = 8.43, 20


class PixelGrid(Record):
    """Where cells and lines of a figure stand inside of its margin, in pixels."""

    margin: int

    def x(self, cell: float) -> float:
        """The left side of a cell."""
        return self.margin + cell * CELL

    def y(self, line: float) -> float:
        """The top of a line."""
        return self.margin + line * LINE

    def render_rect(self, cell: float, line: int, cells: float, lines: int, looks: str) -> str:
        """A rectangle of so many cells and lines; `looks`: its other attributes."""
        place = f'x="{self.x(cell):.2f}" y="{self.y(line)}"'
        return f'<rect {place} width="{cells * CELL:.2f}" height="{lines * LINE}"{looks}/>'

    def transform(self, sheet: ObliquePlane | None) -> str:
        """The attribute that lets what stands upright lean as its sheet does."""
        if sheet is None:
            return ""
        slope = sheet.shift(sheet.bottom - 1) * CELL / LINE
        return f' transform="matrix(1 0 {-slope:.4f} 1 {slope * self.y(sheet.bottom):.2f} 0)"'


class Crosshair:
    """What a figure draws under and over its words for the entry of a step.

    Ways run in lanes, which whoever places blocks side by side marks between them, and in front of
    the whole figure.
    """

    def __init__(
        self, runs: Sequence[PlacedRun], grid: PixelGrid, ink: str,
        sheets: Mapping[str, ObliquePlane],
    ) -> None:  # fmt: skip
        self._runs, self._grid, self._ink, self._sheets = runs, grid, ink, sheets
        roles = defaultdict(list, group_pairs((run.style.role, run) for run in runs))
        self._entry, self._rows = roles["entry"] + roles["gradient"], roles["row"] + roles["plane"]
        self._targets, self._results = roles["cell"], roles["result"]
        self._lanes, self._edges, self._columns = roles["lane"], roles["edge"], roles["column"]

    def render_underlay(self) -> Iterator[str]:
        """Bands from the heads to the cells."""
        if not self._entry:
            return
        for head in self._rows:
            ends = [target.stop for target in self._targets if target.line == head.line]
            if ends:
                yield self._render_band(head, head.start, max(ends), head.line + 1)
        for head in self._columns:
            below = [cell for cell in self._targets
                     if cell.line > head.line and cell.start < head.stop <= cell.stop]  # fmt: skip
            if below:
                start = min(target.start for target in below)
                yield self._render_band(head, start, below[0].stop, below[-1].line + 1)

    def render_overlay(self) -> Iterator[str]:
        """Elbows from the entry to the first head of its row and of its column."""
        if not self._entry or not self._targets:
            return
        rows, columns, first = self._rows[:1], self._columns[:1], self._targets[0]
        if not rows and not columns:  # all of a matrix, or a lone number
            columns = [first._replace(line=first.line - 1, start=first.stop - 1)]
        above = min(cell.line for cell in (*columns, *rows)) - (0 if columns else 1)
        routes = [self._route_to_row(head, above) for head in rows]
        routes += map(self._route_to_column, columns)
        for order, route in enumerate(routes):
            lane, y = route[0][0], self._grid.y(self._entry[0].line + 0.5) + 4 * order - 2
            start = min(cell.start for cell in self._entry)
            if lane > self._grid.x(0) and self._entry_lane is not None:
                start = self._entry_lane.start
            yield from self._render_arrow([(self._grid.x(start), y), (lane, y), *route])
        if self._results:
            yield from self._render_arrow(self._route_copy())

    def _route_copy(self) -> list[Point]:
        """From the cells that are read to the head of the row or column that they become.

        Between two lines no letter stands, and before a block no text: there the arrow runs.
        """
        grid, (last, result) = self._grid, (self._targets[-1], self._results[0])
        alone = last.line == self._targets[0].line
        start = self._x(last, last.stop, last.line + 0.5), grid.y(last.line + 0.5)
        between = grid.y(last.line + 1) + (_CLEAR if last.style.plane else 0)
        points = [start, (start[0] + CELL / 2, start[1]), (start[0] + CELL / 2, between)]
        if not alone:
            middle = self._x(last, last.stop - 0.5, last.line + 1)
            points = [(middle, grid.y(last.line + 1) - 3), (middle, between)]
        lane, y = self._lane_before(result), grid.y(result.line + 0.5)
        behind = lane is not None and lane.stop > last.stop and self._is_open(lane, last.line)
        x = grid.x(lane.stop - _GAP / 2) if lane and behind else grid.x(0) - 2 * _APART
        begin = lane.stop if lane else 0
        texts = self._texts_between(result.line, begin, result.start)
        end = self._x(result, texts[0].start if texts else result.start, result.line + 0.5)
        level = behind and last.line == result.line and alone
        if level and not self._texts_between(last.line, last.stop, begin):
            return [start, (end, y)]
        points.append((x, between))
        edges = [edge.stop for edge in self._edges if edge.line == result.line]
        begin = max([begin, *(stop for stop in edges if stop <= result.start)])
        if self._texts_between(result.line, begin, result.start):
            # other cells: the column's head is what can be reached
            over = grid.y(result.line - 1) - 1
            middle = self._x(result, result.stop - 0.5, result.line - 0.5)
            return [*points, (x, over), (middle, over), (middle, over + 6)]
        return [*points, (x, y), (end, y)]

    def _texts_between(self, line: int, start: int, stop: int) -> list[PlacedRun]:
        """The runs of a line that lie between two cells and are no mere room."""
        return [run for run in self._runs if run.line == line and start <= run.start
                and run.stop <= stop and run.text.strip()]  # fmt: skip

    @cached_property
    def _entry_lane(self) -> PlacedRun | None:
        """The lane behind the entry, where a block stands beside its table."""
        line, stop = self._entry[0].line, max(cell.stop for cell in self._entry)
        return next((run for run in self._lanes if run.line == line and run.start >= stop), None)

    def _lane_before(self, spot: PlacedRun) -> PlacedRun | None:
        """The lane before the block that a run stands in, if another stands before that."""
        lanes = [run for run in self._lanes if run.line == spot.line and run.stop <= spot.start]
        return lanes[-1] if lanes else None

    def _is_open(self, lane: PlacedRun, line: int) -> bool:
        """Whether a lane leads to another line."""
        return any(run.line == line and run.stop == lane.stop for run in self._lanes)

    def _lane_x(self, line: int, apart: int) -> float:
        """The lane behind the entry, or where that does not lead the one before the figure."""
        lane = self._entry_lane
        if lane is None or not self._is_open(lane, line):
            return self._grid.x(0) - _APART - apart
        return self._grid.x(lane.stop - _GAP + 0.5) + apart

    def _route_to_row(self, head: PlacedRun, above: int) -> list[Point]:
        """Straight out of the lane; else through the lane above the heads and down beside."""
        grid, lane, before = self._grid, self._entry_lane, self._lane_before(head)
        x, y = self._x(head, head.start, head.line + 0.5), grid.y(head.line + 0.5)
        if lane and before and before.stop == lane.stop:
            return [(self._lane_x(head.line, 0), y), (x - 4, y), (x, y)]
        beside, over = x - 0.7 * CELL, grid.y(above) - 1
        return [(self._lane_x(above, 0), over), (beside, over), (beside, y), (x, y)]

    def _route_to_column(self, head: PlacedRun) -> list[Point]:
        x, over = self._x(head, head.stop - 0.5, head.line + 0.5), self._grid.y(head.line) - 1
        return [(self._lane_x(head.line, _APART), over), (x, over), (x, over + 6)]

    def _render_arrow(self, points: Sequence[Point]) -> Iterator[str]:
        """A line in the colour of the entry with a dark casing, and its tip.

        Where entries are given their gradients it runs to the entry.
        """
        if self._entry[0].style.role == "gradient":
            points = points[::-1]
        shape = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        for color, width in ((self._ink, 3.2), (self._entry[0].style.bgcolor, 1.6)):
            yield (
                f'<path d="{shape}" fill="none" stroke="{color}" stroke-width="{width}"'
                ' stroke-linejoin="round" shape-rendering="auto"/>'
            )
        (before, level), (x, y) = points[-2:]
        back = f"{copysign(6, before - x):g} -4v8z" if level == y else "-4 -6h8z"
        yield f'<path d="M{x:.1f} {y:.1f}l{back}" fill="{self._ink}" shape-rendering="auto"/>'

    def _render_band(self, head: PlacedRun, left: int, right: int, bottom: int) -> str:
        """From the line of a head to another, some cells wide."""
        leaning = self._grid.transform(self._sheets.get(head.style.plane))
        looks = f' fill="{head.style.bgcolor}" fill-opacity=".28"{leaning}'
        return self._grid.render_rect(left, head.line, right - left, bottom - head.line, looks)

    def _x(self, spot: PlacedRun, cell: float, line: float) -> float:
        """Where a cell beside a run stands, which leans if that does."""
        sheet = self._sheets.get(spot.style.plane)
        return self._grid.x(cell + (0 if sheet is None else sheet.shift(line)))


def mark_oblique_plane(lines: Sequence[Line], name: str) -> list[Line]:
    """The lines of a plane as a sheet below its caption, with the room that it takes to lean."""
    caption, *rows = lines
    room = (" " * (max(map(line_width, lines)) + ceil(LEAN) - line_width(caption)), PLAIN)
    return [[*caption, room], *([(text, style._replace(plane=name)) for text, style in row]
                                for row in rows)]  # fmt: skip


def place_runs(lines: Sequence[Line]) -> Iterator[PlacedRun]:
    """Each run of a drawing where it stands, line by line."""
    for number, line in enumerate(lines):
        at = 0
        for text, style in line:
            stop = at + cell_len(text)
            yield PlacedRun(number, at, stop, text, style)
            at = stop


def find_oblique_planes(runs: Sequence[PlacedRun]) -> dict[str, ObliquePlane]:
    """Where the sheets of a drawing stand."""
    planes: dict[str, ObliquePlane] = {}
    for line, start, stop, text, style in runs:
        if style.plane:
            old = planes.get(style.plane, ObliquePlane(line, line + 1, start, stop))
            left, right = min(old.left, start), max(old.right, stop if text.strip() else start)
            planes[style.plane] = ObliquePlane(old.top, line + 1, left, right)
    return planes
