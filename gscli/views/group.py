"""Tensors that are drawn together, as lines: one number format, one look, the same limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby

from gscli.base.arrays import Array, dtype_name
from gscli.base.records import Record
from gscli.base.words import format_count
from gscli.views.cell_rows import (
    Chunk,
    RowRenderer,
    ShownColumn,
    fit_columns,
    is_narrow,
    measure_columns,
)
from gscli.views.lines import Block, flow_blocks, line_width, make_block
from gscli.views.look import (
    FLAT_LINES,
    MAX_WHOLE_CELLS,
    PLAIN,
    PLANES,
    ROWS,
    Limits,
    Line,
    Style,
    StyleSheet,
    ViewOptions,
    cell_len,
    make_style_sheet,
    pad_left,
)  # fmt: skip
from gscli.views.sheet import (
    Coordinates,
    HeadRole,
    VisibleTensor,
    is_part_requested,
    make_visible_tensors,
)
from gscli.views.subject import TensorView
from gscli.views.texts import CellTexts, NumberFormat, choose_number_format

PLANE_GAP = 4
_MATRIX = 2
_GRID_RANK = 4
_BAR = 3
_NARROWEST_COLUMN = 3
MAX_ALIKE_PLANES = 3
"""Planes that are shown of many which are touched alike."""


LENS_GAP = 4


class TensorRenderer:
    """Draws one sheet in `width`, in one table or several below each other."""

    def __init__(
        self,
        sheet: VisibleTensor,
        numbers: NumberFormat,
        look: StyleSheet,
        width: int,
        *,
        separated: bool,
    ) -> None:
        self.sheet, self.width = sheet, width
        self.look, self.signs = look, look.signs
        subject = sheet.subject
        self.texts = CellTexts(sheet, numbers)
        self.marked, self.wrong = self.texts.marked, self.texts.difference_tails
        self.pen = RowRenderer(
            look,
            last_wins=subject.last_wins,
            is_left_aligned=subject.array.dtype.kind in "UTOS",
            dims_unmarked=subject.dims_unmarked,
            has_wide_characters=not all(map(is_narrow, self.texts.planes)),
            has_long_labels=separated,
            role="cell" if subject.is_target else "result" if subject.role == "output" else "",
        )
        self._lit_heads = sheet.find_heads() if subject.is_target and subject.full_run else {}
        measures = measure_columns(self.texts, self.pen)
        self.chunks = fit_columns(sheet, measures, self.signs.across, width - self._margin)
        self.shown = {place for chunk in self.chunks for place, _ in chunk}

    def render(self, *, titled: bool = True) -> Block:
        """Title, planes, and how many planes are left out."""
        lines = [self.title] if titled else []
        if self.sheet.empty:
            return make_block([*lines, [("(empty)", self.look.dim)]])
        for group in group_plane_rows(self.sheet.selection.planes, self.sheet.rank):
            planes = [self._sheet(number) for number in group]
            lane = self.look.with_role(PLAIN, "lane")
            lines += flow_blocks(planes, self.width, PLANE_GAP, between=0, lane=lane)
        return make_block([*lines, *self._left_out()])

    def visible_entries(self) -> set[int]:
        """The entries that some shown cell carries."""
        marked = self.marked.items()
        return {m.number for (_, _, at), marks in marked if at in self.shown for m in marks}

    def shown_differences(self) -> set[Coordinates]:
        """The cells that are shown and differ from what is expected."""
        return {self.sheet.to_coordinates(place) for place in self.wrong if place[2] in self.shown}

    @property
    def title(self) -> Line:
        """Name, dtype and shape."""
        array, name = self.sheet.subject.array, self.sheet.subject.name
        facts = f"  {dtype_name(array.dtype)} [{self.signs.times.join(map(str, array.shape))}]"
        changed = any(self.signs.arrow in text for texts in self.texts.planes for text in texts)
        before = self.sheet.subject.before
        if (changed and before) or self.wrong:
            was, now = before.words if before else ("", "is")
            facts += f"   {was} {self.signs.arrow} {now}" if changed and before else f"   {now}"
            facts += f" {self.signs.differs} expected" if self.wrong else ""
        return [(self.signs.sanitize(name, 60), self.look.bold), (facts, self.look.dim)]

    def _left_out(self) -> list[Line]:
        selection = self.sheet.selection
        rest = selection.plane_count - len(selection.planes)
        if not rest:
            return []
        untouched = self.sheet.subject.dims_unmarked and not self.sheet.hides_planes()
        fate = "untouched" if untouched else "not shown"
        words = f"{self.signs.across} {format_count(rest, 'plane')} {fate}"
        return [[(words, self.look.dim)]]

    @cached_property
    def _row_headers(self) -> list[str]:
        """What stands before each row; nothing for rank 0 and 1."""
        if self.sheet.rank < _MATRIX or self.sheet.empty:
            return []
        rows = self.sheet.selection.rows
        wide = max(len(str(row)) for row in rows)
        word = "batch " if self.sheet.subject.batch > self.sheet.rank - _MATRIX else ""
        return [f"{word}{row:>{wide}} {self.signs.bar} " for row in rows]

    @cached_property
    def _margin(self) -> int:
        return cell_len(self._row_headers[0]) if self._row_headers else 0

    def _head_style(self, role: HeadRole, *place: int) -> Style:
        """The style of a plane's, row's or column's head, in a step that of its entry."""
        mark = self._lit_heads.get((role, *place))
        return self.look.with_role(self.pen.value_style(mark), role) if mark else self.look.dim

    def _render_row_header(self, plane: int, row: int) -> Line:
        if not self._row_headers:
            return []
        name, bar, room = self._row_headers[row].partition(f" {self.signs.bar}")
        number = name.lstrip()
        return [
            (" " * (len(name) - len(number)), self.look.dim),
            (number, self._head_style("row", plane, row)),
            (bar + room, self.look.with_role(self.look.dim, "edge")),
        ]

    def _sheet(self, number: int) -> Block:
        """One plane, in a wide figure as an oblique sheet."""
        lines = list(self._plane(number))
        if self.look.oblique and self.sheet.selection.planes[number]:
            from gscli.views.crosshair import mark_oblique_plane

            lines = mark_oblique_plane(lines, f"{self.sheet.subject.name} {number}")
        return make_block(lines)

    def _plane(self, number: int) -> Iterator[Line]:
        plane = self.sheet.selection.planes[number]
        if plane:
            lit = any(place[0] == number for place in self.marked)
            style = self._head_style("plane", number)
            yield [(self._plane_name(plane), self.look.bold if style.dim and lit else style)]
        for place, chunk in enumerate(self.chunks):
            if place:
                yield []
            yield from self._table(number, chunk)

    def _plane_name(self, plane: tuple[int, ...]) -> str:
        name = f"[{','.join(map(str, plane))},:,:]"
        batch = ",".join(map(str, plane[: self.sheet.subject.batch]))
        return f"batch {batch}  {name}" if batch else name

    def _table(self, plane: int, chunk: Chunk) -> Iterator[Line]:
        dim, selection = self.look.dim, self.sheet.selection
        columns = [column for _, column in chunk]
        if self.sheet.rank:
            styles = [self._head_style("column", plane, place) for place, _ in chunk]
            yield [(" " * self._margin, dim), *self.pen.render_header(columns, styles)]
        step, rows = selection.allowed[-2].step, selection.allowed[-2]
        before, count = rows[0] - step, len(selection.columns)
        every = [place for place, _ in chunk] == list(range(count))
        for row, at in enumerate(selection.rows):
            if at - before > step:
                yield self._render_gap_row(columns)
            texts = self.texts.planes[plane][row * count : (row + 1) * count]
            touched = self.texts.rows.get((plane, row), {})
            if not every:
                texts = [texts[place] for place, _ in chunk]
                touched = {n: touched[at] for n, (at, _) in enumerate(chunk) if at in touched}
            yield [
                *self._render_row_header(plane, row),
                *self.pen.render_row(texts, columns, touched),
            ]
            before = at
        if before != rows[-1]:
            yield self._render_gap_row(columns)

    def _render_gap_row(self, columns: Sequence[ShownColumn]) -> Line:
        head = pad_left(self.signs.down, self._margin - _BAR) + " " * _BAR
        return [(head, self.look.dim), *self.pen.render_gap_row(columns)]


def group_plane_rows(planes: Sequence[tuple[int, ...]], rank: int) -> list[list[int]]:
    """Planes that may stand side by side: axis 0 of a four-dimensional tensor goes down.

    >>> group_plane_rows([(0, 0), (0, 1), (1, 0)], 4), group_plane_rows([(0,), (1,)], 3)
    ([[0, 1], [2]], [[0, 1]])
    """
    numbered = list(enumerate(planes))
    if rank != _GRID_RANK:
        return [[number for number, _ in numbered]]
    return [[number for number, _ in row] for _, row in groupby(numbered, lambda one: one[1][0])]


class RenderedGroup(Record):
    """Drawn tensors, the format of their numbers, and per tensor the marks not to be seen.

    `columns`: how many are shown, of all tensors together. `wrong`: shown cells that differ from
    what is expected.
    """

    blocks: tuple[Block, ...]
    numbers: NumberFormat
    columns: int
    hidden: tuple[tuple[str, int], ...]
    wrong: int = 0


def render_tensors(
    tensor_views: Sequence[TensorView],
    options: ViewOptions,
    width: int,
    extra_samples: Sequence[Array] = (),
    *,
    fill: bool = False,
) -> RenderedGroup:
    """Draw `tensor_views`; `extra_samples` are further values that the format must suit."""
    members = [(view, _visible_parts(view, options, width, fill=fill)) for view in tensor_views]
    drawn = [sheet for view, sheets in members if view.role != "indices" for sheet in sheets]
    alike = [part for sheet in drawn for part in sheet.samples()]
    numbers = choose_number_format([*alike, *extra_samples], options)
    marks = [mark for view in tensor_views for mark in (view.full_run or view).marks]
    separated = any(len(mark.label) > 1 for mark in marks)
    look = make_style_sheet(options)
    groups = [
        [TensorRenderer(sheet, numbers, look, width, separated=separated) for sheet in sheets]
        for _, sheets in members
    ]  # columns are chosen; a whole that fits after all is not taken apart
    painters = [painter for group in groups for painter in group]
    return RenderedGroup(
        tuple(block for group in groups for block in _render_member(group, options)),
        numbers,
        sum(len(painter.shown) for painter in painters),
        tuple((group[0].sheet.subject.name, _count_hidden_entries(group)) for group in groups),
        len({cell for painter in painters for cell in painter.shown_differences()}),
    )


def _is_mapped(view: TensorView, options: ViewOptions) -> bool:
    """Whether a map of the tensor stands beside its sheet where that is not all of it."""
    marks = (view.full_run or view).marks
    return view.is_target and bool(marks) and not is_part_requested(options)


def _visible_parts(
    view: TensorView, options: ViewOptions, width: int, *, fill: bool
) -> list[VisibleTensor]:
    """One tensor of a group: its whole as a sheet, or a lens per neighbourhood."""
    limits = _limits(view, options, width, lines=view.array.ndim < _MATRIX, fill=fill)
    close = _limits(view, options, width, lines=True)._replace(planes=1)
    mapped = _is_mapped(view, options)
    return make_visible_tensors(view, options, limits, close if mapped else None)


def _render_member(painters: Sequence[TensorRenderer], options: ViewOptions) -> list[Block]:
    """The sheet, of a large tensor a map too, and one lens or several."""
    first = painters[0]
    view, is_region = first.sheet.subject, first.sheet.is_region
    drawn = [painter.render(titled=not is_region) for painter in painters]
    is_large = view.array.ndim >= _MATRIX and view.array.size > MAX_WHOLE_CELLS
    elided = is_large and not first.sheet.selection.is_complete
    if not (is_region or (_is_mapped(view, options) and elided)):
        return drawn
    from gscli.views.terminal.legend import render_map_text

    marks = (view.full_run or view).marks
    seen = render_map_text(view.array.shape, marks, first.width, first.look)
    if not is_region:
        return [seen, *drawn]
    count = f"{format_count(len(drawn), 'neighbourhood')}, close up"
    title = max((painter.title for painter in painters), key=line_width)
    lines = [title, [(count, first.look.dim)], *flow_blocks(drawn, first.width, LENS_GAP)]
    return [seen, make_block(lines)]


def _count_hidden_entries(painters: Sequence[TensorRenderer]) -> int:
    """How many entries no shown cell carries, of those that are to be seen at all."""
    visible = {number for painter in painters for number in painter.visible_entries()}
    whole = painters[0].sheet
    in_view = (mark for mark in whole.subject.marks if whole.is_region or whole.is_in_view(mark))
    return len({mark.number for mark in in_view} - visible)


def _limits(
    subject: TensorView, options: ViewOptions, width: int, *, lines: bool, fill: bool = False
) -> Limits:
    """`lines`: columns may go on below each other."""
    most = (options.rows or FLAT_LINES) if lines else 1
    alike = (
        subject.marks
        and all(  # every entry touches all of many planes
            any(stop - start > PLANES for start, stop in mark.box[:-_MATRIX])
            for mark in subject.marks
        )
    )
    return Limits(
        rows=options.rows or ROWS,
        columns=width // _NARROWEST_COLUMN * most,
        lines=most,
        planes=MAX_ALIKE_PLANES if alike and not is_part_requested(options) else PLANES,
        edge=options.edge,
        full=options.full,
        fill=fill,
    )
