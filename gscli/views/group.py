"""Tensors that are drawn together, as lines: one number format, one look, the same limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.base.words import format_count
from gscli.layout.axes import span_positions
from gscli.views.cell_rows import TensorRenderer
from gscli.views.lines import Block, flow_blocks, make_block
from gscli.views.look import (
    FLAT_LINES,
    MATRIX,
    MAX_WHOLE_CELLS,
    PLANES,
    ROWS,
    Limits,
    ViewOptions,
    make_style_sheet,
)
from gscli.views.sheet import VisibleTensor, is_part_requested, make_visible_tensors
from gscli.views.subject import TensorView
from gscli.views.texts import NumberFormat, choose_number_format

_NARROWEST_COLUMN = 3

# Planes that are shown of many which are touched alike.
MAX_ALIKE_PLANES = 3


LENS_GAP = 4


class RenderedGroup(Record):
    """Drawn tensors, the format of their numbers, and per tensor how many entries a cell shows.

    `columns`: how many are shown, of all tensors together. `wrong`: shown cells that differ from
    what is expected. `remedies`: the options that show marked entries which no cell shows.
    """

    blocks: tuple[Block, ...]
    numbers: NumberFormat
    columns: int
    seen: tuple[tuple[str, int], ...]
    remedies: frozenset[str]
    wrong: int = 0


def render_tensors(
    tensor_views: Sequence[TensorView], options: ViewOptions, width: int,
    extra_samples: Sequence[Array] = (), *, fill: bool = False,
) -> RenderedGroup:  # fmt: skip
    """Draw `tensor_views`; `extra_samples` are further values that the format must suit."""
    members = [(view, _visible_parts(view, options, width, fill=fill)) for view in tensor_views]
    drawn = [sheet for view, sheets in members if view.role != "indices" for sheet in sheets]
    alike = [part for sheet in drawn for part in sheet.samples()]
    numbers = choose_number_format([*alike, *extra_samples], options)._replace(names_limits=True)
    marks = [mark for view in tensor_views for mark in (view.full_run or view).marks]
    has_long_labels = any(len(mark.label) > 1 for mark in marks)
    look = make_style_sheet(options)
    render = partial(TensorRenderer, has_long_labels=has_long_labels)
    # Columns are chosen; a whole that fits after all is not taken apart.
    groups = [[render(sheet, numbers, look, width) for sheet in sheets] for _, sheets in members]
    painters = [painter for group in groups for painter in group]
    blocks = tuple(block for group in groups for block in _render_member(group, options))
    columns = sum(len(painter.shown) for painter in painters)
    visible = [{number for each in group for number in each.visible_entries()} for group in groups]
    seen = tuple(zip([view.name for view in tensor_views], map(len, visible), strict=True))
    remedies = frozenset().union(*map(_find_remedies, groups, visible))
    wrong = len({cell for painter in painters for cell in painter.shown_differences()})
    return RenderedGroup(blocks, numbers, columns, seen, remedies, wrong)


def _is_mapped(view: TensorView, options: ViewOptions) -> bool:
    """Whether a map of the tensor stands beside its sheet where that is not all of it."""
    return view.is_target and bool((view.full_run or view).marks) and not is_part_requested(options)


def _visible_parts(
    view: TensorView, options: ViewOptions, width: int, *, fill: bool
) -> list[VisibleTensor]:
    """One tensor of a group: its whole as a sheet, or a lens per neighbourhood."""
    leads = [mark.box[:-MATRIX] for mark in view.marks]
    # Whether every entry touches all of many planes.
    alike = leads and all(any(stop - start > PLANES for start, stop in lead) for lead in leads)
    planes = MAX_ALIKE_PLANES if alike and not is_part_requested(options) else PLANES
    rows, columns, full = options.rows or ROWS, width // _NARROWEST_COLUMN, options.full
    limits = Limits(rows, columns, planes=planes, edge=options.edge, full=full, fill=fill)
    lines = options.rows or FLAT_LINES  # columns may go on below each other
    flat = limits._replace(columns=limits.columns * lines, lines=lines)
    close = flat._replace(planes=1, fill=False) if _is_mapped(view, options) else None
    return make_visible_tensors(view, options, flat if view.array.ndim < MATRIX else limits, close)


def _render_member(painters: Sequence[TensorRenderer], options: ViewOptions) -> list[Block]:
    """The sheet, of a large tensor a map too, and one lens or several."""
    first = painters[0]
    view, is_region = first.sheet.subject, first.sheet.is_region
    drawn = [painter.render(titled=not is_region) for painter in painters]
    is_large = view.array.ndim >= MATRIX and view.array.size > MAX_WHOLE_CELLS
    elided = is_large and not first.sheet.selection.is_complete
    if not (is_region or (_is_mapped(view, options) and elided)):
        return drawn
    from gscli.views.terminal.legend import render_map_text

    seen = render_map_text(view.full_run or view, first.width, first.look)
    if not is_region:
        return [seen, *drawn]
    count = f"{format_count(len(drawn), 'neighbourhood')}, close up"
    title = max((painter.title for painter in painters), key=lambda lines: make_block(lines).width)
    lines = [*title, [(count, first.look.dim)], *flow_blocks(drawn, first.width, LENS_GAP)]
    return [seen, make_block(lines)]


def _find_remedies(painters: Sequence[TensorRenderer], visible: set[int]) -> Iterator[str]:
    """The options that show the marked entries which are not `visible`."""
    whole = painters[0].sheet
    rows = sorted({row for painter in painters for row in painter.sheet.selection.rows})
    for mark in (mark for mark in whole.subject.marks if mark.number not in visible):
        if not whole.is_region and not whole.is_in_view(mark):
            yield "another --slice"
        else:
            yield "--full"
            if whole.rank < MATRIX or not span_positions(rows, mark.box[-MATRIX]):
                yield "--rows N"
