"""Tensors that are drawn together: one number format, one look, the same limits."""

from __future__ import annotations

from collections.abc import Sequence

from gscli.base.arrays import Array
from gscli.base.errors import LimitRefused, UsageError
from gscli.base.records import Record
from gscli.base.text import counted
from gscli.traces.trace import Trace
from gscli.views.lines import Block, block, flow, line_width
from gscli.views.look import look_of
from gscli.views.numbers import NumberFormat, number_format
from gscli.views.options import ViewOptions
from gscli.views.sheet import Sheet
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
    alike = [
        part
        for view in views
        if view.subject.role != "indices"
        for sheet in view.sheets
        for part in sheet.samples()
    ]
    numbers = number_format([*alike, *extras], options)
    marks = [mark for one in found for mark in (one.unlit or one).marks]
    separated = any(len(mark.label) > 1 for mark in marks)
    for view in views:
        view.paint(numbers, separated=separated)
    _widen_twins(views)
    return Group(
        tuple(drawn for view in views for drawn in view.blocks()),
        numbers,
        sum(len(chunk) for view in views for own in view.chunks for chunk in own),
        tuple((view.subject.name, view.hidden()) for view in views),
        sum(len(view.wrong()) for view in views),
    )


class _View:
    """One tensor of a group: its whole as a sheet, or a map with a lens per neighbourhood."""

    def __init__(self, subject: Subject, options: ViewOptions, width: int, *, fill: bool) -> None:
        self.subject, self.width = subject, width
        self._options = options
        whole = _sheet(subject, options, width, fill=fill)
        self._large = not whole.window.complete and _is_large(subject, options)
        self._lenses = _lenses(subject, options) if self._large else []
        self.sheets = [whole]
        if self._lenses:
            self.sheets = [_sheet(subject, options, width, lens=lens) for lens in self._lenses]

    def paint(self, numbers: NumberFormat, *, separated: bool) -> None:
        """Choose columns; a whole that fits after all is not taken apart."""
        look = look_of(self._options)
        self.painters = [
            Painter(sheet, numbers, look, separated=separated) for sheet in self.sheets
        ]
        self.chunks = [painter.chunks(self.width) for painter in self.painters]

    def blocks(self) -> list[Block]:
        """The sheet, of a large tensor a map too, and one lens or several."""
        drawn = [
            painter.draw(self.width, own, titled=not self._lenses)
            for painter, own in zip(self.painters, self.chunks, strict=True)
        ]
        if not self._large:
            return drawn
        from gscli.views.terminal.outline import outline

        look = look_of(self._options)
        marks = (self.subject.unlit or self.subject).marks
        seen = outline(self.subject.array.shape, marks, self.width, look)
        if not self._lenses:
            return [seen, *drawn]
        told = f"{counted(len(drawn), 'neighbourhood')}, close up"
        title = max((painter.title for painter in self.painters), key=line_width)
        lines = [title, [(told, look.dim)], *flow(drawn, self.width, LENS_GAP)]
        return [seen, block(lines)]

    def wrong(self) -> set[tuple[int, ...]]:
        """The shown cells that differ from what is expected."""
        pairs = zip(self.painters, self.chunks, strict=True)
        return {cell for painter, own in pairs for cell in painter.wrong_cells(own)}

    def hidden(self) -> int:
        """How many entries no shown cell carries, of those that are to be seen at all."""
        wanted, visible = set[int](), set[int]()
        for painter, own in zip(self.painters, self.chunks, strict=True):
            wanted |= painter.wanted()
            visible |= painter.visible(own)
        if self._lenses:
            wanted = {mark.number for mark in self.subject.marks}
        return len(wanted - visible)


def _is_large(subject: Subject, options: ViewOptions) -> bool:
    """Whether a map is drawn of what stands beside the table of entries."""
    marks = (subject.unlit or subject).marks
    large = subject.array.ndim >= _MATRIX and subject.array.size > LARGE
    return large and subject.letters and bool(marks) and not _asked(options)


def _asked(options: ViewOptions) -> bool:
    """Whether the user says which part of a tensor to show."""
    return options.full or options.rows is not None or options.slice is not None


def _lenses(subject: Subject, options: ViewOptions) -> list[tuple[range, ...]]:
    """The lenses of a large tensor; in a step that of its entry."""
    from gscli.views.lenses import lenses

    marks = subject.marks or (subject.unlit.marks[:1] if subject.unlit else ())
    wrong = subject.expected.boxes if subject.expected else ()
    boxes = [*wrong, *(mark.box for mark in marks)]
    return lenses(subject.array.shape, boxes, options.edge)


def _widen_twins(views: Sequence[_View]) -> None:
    """Data and output with the same cells show the same columns, so old and new compare by eye."""
    twins = [
        (view, view.painters[0])
        for view in views
        if view.subject.role in ("data", "output")
        and len(view.sheets) == 1
        and not view.sheets[0].empty
    ]
    if len(twins) != _PAIR:
        return
    (view, one), (other_view, other) = twins
    if one.sheet.window != other.sheet.window:
        return
    shown = {sum(map(len, own)) for each in (view, other_view) for own in each.chunks}
    if shown == {len(one.sheet.window.allowed[-1])}:
        return
    one.measures = other.measures = one.measures.joined(other.measures)
    for each, painter in twins:
        each.chunks = [painter.chunks(each.width)]


def _sheet(
    subject: Subject,
    options: ViewOptions,
    width: int,
    *,
    fill: bool = False,
    lens: tuple[range, ...] | None = None,
) -> Sheet:
    several = len(subject.array.shape) < _MATRIX or lens is not None
    lines = (options.rows or FLAT_LINES) if several else 1
    limits = Limits(
        rows=options.rows or ROWS,
        columns=width // _NARROWEST_COLUMN * lines,
        lines=lines,
        planes=1 if lens else _planes(subject, options),
        edge=options.edge,
        full=options.full,
        fill=fill,
    )
    allowed = lens
    if options.slice is not None and subject.role in (None, "data", "output"):
        allowed = parse_slice(options.slice, subject.array.shape)
    return Sheet(subject, limits, allowed, lens=lens is not None)


def _planes(subject: Subject, options: ViewOptions) -> int:
    """How many planes are shown; few where every entry touches all of many alike."""
    alike = subject.marks and all(
        any(stop - start > PLANES for start, stop in mark.box[:-_MATRIX]) for mark in subject.marks
    )
    return ALIKE if alike and not _asked(options) else PLANES


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
