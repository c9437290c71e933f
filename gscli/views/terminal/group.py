"""Tensors that are drawn together: one number format, one look, the same limits."""

from __future__ import annotations

from collections.abc import Sequence

from gscli.base.arrays import Array
from gscli.base.errors import LimitRefused, UsageError
from gscli.base.records import Record
from gscli.base.text import counted
from gscli.traces.trace import Trace
from gscli.views.lines import Block, block, flow, line_width
from gscli.views.look import ViewOptions, look_of
from gscli.views.numbers import NumberFormat, number_format
from gscli.views.sheet import is_asked, sheets_of
from gscli.views.subject import Subject
from gscli.views.terminal.paint import Painter
from gscli.views.window import FLAT_LINES, LARGE, PLANES, ROWS, Limits, parse_slice

MOST_ENTRIES = 20_000
"""Entries that are drawn or told one by one at most."""

MOST_CELLS = 1_000_000
"""Cells of one tensor that are drawn at most."""

_NARROWEST_COLUMN = 3
_MATRIX = 2
_PAIR = 2
ALIKE = 3
"""Planes that are shown of many which are touched alike."""

LENS_GAP = 4


class Group(Record):
    """Drawn tensors, the format of their numbers, and per tensor the marks not to be seen.

    `columns`: how many are shown, of all tensors together. `wrong`: shown cells that differ from
    what is expected.
    """

    blocks: tuple[Block, ...]
    numbers: NumberFormat
    columns: int
    hidden: tuple[tuple[str, int], ...]
    wrong: int = 0


def draw_group(
    found: Sequence[Subject],
    options: ViewOptions,
    width: int,
    extras: Sequence[Array] = (),
    *,
    fill: bool = False,
) -> Group:
    """Draw `found`; `extras` are further values that the format must suit."""
    views = [_View(one, options, width, fill=fill) for one in found]
    drawn = [view for view in views if view.subject.role != "indices"]
    alike = [part for view in drawn for sheet in view.sheets for part in sheet.samples()]
    numbers = number_format([*alike, *extras], options)
    marks = [mark for one in found for mark in (one.unlit or one).marks]
    separated = any(len(mark.label) > 1 for mark in marks)
    for view in views:
        view.paint(numbers, separated=separated)
    _widen_twins([painter for view in views for painter in view.painters if not view.lensed])
    painters = [painter for view in views for painter in view.painters]
    return Group(
        tuple(drawn for view in views for drawn in view.blocks()),
        numbers,
        sum(len(painter.shown) for painter in painters),
        tuple((view.subject.name, view.hidden()) for view in views),
        len({cell for painter in painters for cell in painter.wrong_cells()}),
    )


class _View:
    """One tensor of a group: its whole as a sheet, or a map with a lens per neighbourhood."""

    def __init__(self, subject: Subject, options: ViewOptions, width: int, *, fill: bool) -> None:
        self.subject, self.width, self.look = subject, width, look_of(options)
        self._marks = (subject.unlit or subject).marks
        mapped = subject.letters and bool(self._marks) and not is_asked(options)
        flat = subject.array.ndim < _MATRIX
        limits = _limits(subject, options, width, lines=flat, fill=fill)
        close = _limits(subject, options, width, lines=True)._replace(planes=1)
        self.sheets = sheets_of(subject, options, limits, close if mapped else None)
        self.lensed = self.sheets[0].lens
        large = not flat and subject.array.size > LARGE and not self.sheets[0].window.complete
        self._mapped = self.lensed or (mapped and large)

    def paint(self, numbers: NumberFormat, *, separated: bool) -> None:
        """Choose columns; a whole that fits after all is not taken apart."""
        self.painters = [
            Painter(sheet, numbers, self.look, self.width, separated=separated)
            for sheet in self.sheets
        ]

    def blocks(self) -> list[Block]:
        """The sheet, of a large tensor a map too, and one lens or several."""
        drawn = [painter.draw(titled=not self.lensed) for painter in self.painters]
        if not self._mapped:
            return drawn
        from gscli.views.terminal.outline import outline

        seen = outline(self.subject.array.shape, self._marks, self.width, self.look)
        if not self.lensed:
            return [seen, *drawn]
        told = f"{counted(len(drawn), 'neighbourhood')}, close up"
        title = max((painter.title for painter in self.painters), key=line_width)
        lines = [title, [(told, self.look.dim)], *flow(drawn, self.width, LENS_GAP)]
        return [seen, block(lines)]

    def hidden(self) -> int:
        """How many entries no shown cell carries, of those that are to be seen at all."""
        visible = {number for painter in self.painters for number in painter.visible()}
        marks, whole = self.subject.marks, self.sheets[0]
        wanted = {mark.number for mark in marks if self.lensed or whole.asked_for(mark)}
        return len(wanted - visible)


def _widen_twins(painters: Sequence[Painter]) -> None:
    """Data and output with the same cells show the same columns, so old and new compare by eye."""
    sheets = [one for one in painters if one.sheet.subject.role in ("data", "output")]
    twins = [one for one in sheets if not one.sheet.empty]
    if len(twins) != _PAIR:
        return
    one, other = twins
    whole = len(one.sheet.window.allowed[-1])
    if one.sheet.window != other.sheet.window or {len(one.shown), len(other.shown)} == {whole}:
        return
    for each, measures in ((one, other.measures), (other, one.measures)):
        each.widen(each.measures.joined(measures))


def _limits(
    subject: Subject, options: ViewOptions, width: int, *, lines: bool, fill: bool = False
) -> Limits:
    """`lines`: columns may go on below each other."""
    most = (options.rows or FLAT_LINES) if lines else 1
    return Limits(
        rows=options.rows or ROWS,
        columns=width // _NARROWEST_COLUMN * most,
        lines=most,
        planes=_planes(subject, options),
        edge=options.edge,
        full=options.full,
        fill=fill,
    )


def _planes(subject: Subject, options: ViewOptions) -> int:
    """How many planes are shown; few where every entry touches all of many alike."""
    alike = subject.marks and all(
        any(stop - start > PLANES for start, stop in mark.box[:-_MATRIX]) for mark in subject.marks
    )
    return ALIKE if alike and not is_asked(options) else PLANES


def check_size(options: ViewOptions, entries: int, sizes: Sequence[int]) -> None:
    """LimitRefused for more than anybody looks at, before minutes and gigabytes go into it.

    >>> check_size(ViewOptions(limit=10), 10**9, [10**9])
    """
    asked = entries if options.limit is None and options.full else min(options.limit or 0, entries)
    cells = max(sizes, default=0) if options.full else 0
    for what, count, most in (("entries", asked, MOST_ENTRIES), ("cells", cells, MOST_CELLS)):
        if count > most:
            raise LimitRefused(
                f"too many {what} to draw",
                where=f"{count:,} {what}",
                valid=f"at most {most:,}",
                hint="-o FILE writes every value; --slice and --limit choose what is drawn",
            )


def check_requests(trace: Trace, options: ViewOptions) -> None:
    """`show` must name tensors of the call, `slice` fit one of them, and all be drawn in time."""
    check_size(options, trace.entry_count, [tensor.array.size for tensor in trace.tensors])
    known = {name for tensor in trace.tensors for name in (tensor.role, tensor.name)}
    for name in options.show or ():
        if name not in known and name not in ("data", "indices", "updates", "output"):
            raise UsageError(
                f"nothing to show is called {name!r}"[:200],
                valid=" ".join(tensor.name for tensor in trace.tensors),
            )
    if options.slice is not None:
        check_slice(
            options.slice,
            [tensor.shape for tensor in trace.tensors if tensor.role in ("data", "output")],
        )


def check_slice(text: str, shapes: Sequence[tuple[int, ...]]) -> None:
    """A slice must have as many parts as one of the shapes has axes."""
    if all(parse_slice(text, shape) is None for shape in shapes):
        ranks = " or ".join(str(rank) for rank in sorted({len(shape) for shape in shapes}))
        raise UsageError(
            "slice has another number of parts than the tensor has axes",
            where=f"--slice {text}"[:200],
            valid=f"{ranks} parts, separated by commas",
        )
