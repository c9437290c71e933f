"""Finished lines and blocks of them: what every view yields, as text, in colour, and for rich.

Neighbouring runs of one style become one, which draws ten thousand cells a hundred times faster
than a table of cells; nothing is ever wrapped or read as markup. rich is imported only by those who
print a drawing in colour: its console writes the escape sequences. In a pipe the same text needs
no rich.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import cache
from io import StringIO
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from gscli.base.records import Record
from gscli.base.words import LineWrapper
from gscli.views.look import (
    MIN_WIDTH,
    PLAIN,
    Line,
    Style,
    TextRun,
    ViewOptions,
    cell_len,
    cut_cells,
    make_style_sheet,
    pad_left,
)

if TYPE_CHECKING:
    from typing import Self

    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.measure import Measurement
    from rich.segment import Segment
    from rich.style import Style as RichStyle


def line_width(line: Line) -> int:
    """Width of a line in cells."""
    return cell_len("".join([text for text, _ in line]))


def wrap_text(text: str, width: int, indent: str = "") -> list[str]:
    """Text in lines of at most `width`, never broken inside `k = 0 … 3`.

    >>> wrap_text("for i = 0 … 3", 10)
    ['for', 'i = 0 … 3']
    """
    glued = text.replace(" = ", "\u00a0=\u00a0").replace(" … ", "\u00a0…\u00a0")
    glued = glued if max(map(len, glued.split(" "))) <= width else text
    wrapper = LineWrapper(width, subsequent_indent=indent, break_on_hyphens=False)
    return [part.replace("\u00a0", " ") for part in wrapper.wrap(glued)] or [""]


def wrap_lines(lines: Iterable[str], width: int, indent: str = "") -> str:
    """Lines of at most `width`, each with its end."""
    return "".join(f"{part}\n" for line in lines for part in wrap_text(line, width, indent))


def wrap_paragraph(
    text: str, width: int, style: Style = PLAIN, *, head: Sequence[TextRun] = (), indent: str = ""
) -> list[Line]:
    """Text in lines of at most `width`: `head` before the first, blanks as wide before the others.

    Outside text is made safe by `Signs.text` before.

    >>> for line in wrap_paragraph("one and two", 8, head=[("a: ", PLAIN)]):
    ...     print(repr("".join(text for text, _ in line)))
    'a: one'
    '   and'
    '   two'
    """
    return wrap_runs([(text, style)], width, head, indent)


def wrap_runs(
    runs: Sequence[TextRun], width: int, head: Sequence[TextRun], indent: str = ""
) -> list[Line]:
    """The same of a text in several styles.

    >>> [[text for text, _ in line] for line in wrap_runs([("one t", PLAIN), ("wo", PLAIN)], 5, [])]
    [['one', ''], ['', 't', 'wo']]
    """
    room, stop, lines = line_width(list(head)), 0, list[Line]()
    text = "".join(part for part, _ in runs)
    for part in wrap_text(text, width - room, indent):
        shown = part.removeprefix(indent) if lines else part
        start = text.index(shown, stop)
        stop = start + len(shown)
        line: Line = [(" " * room + indent, PLAIN)] if lines else [*head]
        at = 0
        for own, style in runs:
            line.append((own[max(start - at, 0) : max(stop - at, 0)], style))
            at += len(own)
        lines.append(line)
    return lines


class Block(Record):
    """Lines and the width of the widest."""

    lines: tuple[Line, ...]
    width: int


def make_block(lines: Sequence[Line]) -> Block:
    """A block of these lines."""
    return Block(tuple(lines), max(map(line_width, lines), default=0))


def flow_blocks(
    blocks: Sequence[Block], width: int, gap: int = 4, between: int = 1, lane: Style = PLAIN
) -> list[Line]:
    """Rows of blocks, each as full as `width` allows, `between` empty lines apart.

    `lane`: the style of the room between two of a row.
    """
    rows: list[list[Block]] = []
    used = 0
    for block in blocks:
        used += gap + block.width
        if not rows or used > width:
            rows.append([])
            used = block.width
        rows[-1].append(block)
    lines: list[Line] = []
    for number, row in enumerate(rows):
        lines += [*([[]] * between if number else []), *join_blocks(row, gap, lane)]
    return lines


def align_right(texts: Sequence[TextRun]) -> Block:
    """Texts below each other, aligned on the right in their own styles."""
    wide = max((cell_len(text) for text, _ in texts), default=0)
    return Block(tuple([(pad_left(text, wide), style)] for text, style in texts), wide)


def join_blocks(blocks: Sequence[Block], gap: int, lane: Style = PLAIN) -> list[Line]:
    """Blocks from left to right, tops aligned."""
    if len(blocks) == 1:
        return list(blocks[0].lines)
    joined: list[Line] = []
    for row in zip_longest(*(block.lines for block in blocks), fillvalue=[]):
        line: Line = []
        for own, block in zip(row, blocks, strict=True):
            line += [*own, (" " * (block.width - line_width(own) + gap), lane)]
        joined.append(line[:-1])
    return joined


# The lines of a drawing for a width.
LineSource: TypeAlias = Callable[[int], list[Line]]


class Drawing:
    """Finished lines at any width, none of them wider: what `draw` says, or a view's own method."""

    def __init__(self, options: ViewOptions, draw: LineSource = lambda _: []) -> None:
        self._draw, self.options = draw, options._replace(width=max(options.width, MIN_WIDTH))
        self.look = make_style_sheet(options)
        self.signs = self.look.signs

    def _draw_lines(self, width: int) -> list[Line]:
        return self._draw(width)

    def _redraw(self, options: ViewOptions) -> Self:
        """The same drawing with other options: without colours every cell of a bar has a letter."""
        drawing = copy(self)
        Drawing.__init__(drawing, options, self._draw)
        return drawing

    def render_lines(self, width: int | None = None) -> list[Line]:
        """Merged lines without trailing blanks; a line that would be too wide is cut."""
        room = min(width or self.options.width, self.options.width)
        return [_trim_line(line, room, self.signs.cut) for line in self._draw_lines(room)]

    def wrap(
        self, text: str, width: int, style: Style = PLAIN, *, head: Sequence[TextRun] = (),
        indent: str = "",
    ) -> list[Line]:  # fmt: skip
        """A paragraph of text from anywhere."""
        safe = self.signs.sanitize_line(text)
        return wrap_paragraph(safe, width, style, head=head, indent=indent)

    def _repr_html_(self) -> str:
        """The drawing as one `<pre>` element; text is escaped, nothing is loaded."""
        from gscli.views.markup import escape, format_preformatted

        def format_span(text: str, style: Style) -> str:
            css = escape(to_rich_style(style).get_html_style())
            return f'<span style="{css}">{escape(text)}</span>' if css else escape(text)

        lines = self.render_lines()
        return format_preformatted("".join(format_span(*run) for run in line) for line in lines)

    def __str__(self) -> str:
        lines = self._redraw(self.options._replace(color="none")).render_lines()
        return "\n".join("".join(text for text, _ in line) for line in lines)

    __repr__ = __str__

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        is_bare = console.no_color or (console.color_system is None and not console.record)
        drawing = self._redraw(self.options._replace(palette="mono")) if is_bare else self
        yield from to_rich_segments(drawing.render_lines(options.max_width))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        widest = max(map(line_width, self.render_lines(options.max_width)), default=0)
        return Measurement(widest, widest)


def _trim_line(line: Line, width: int, cut: str) -> Line:
    runs = list(merge_runs(line))
    if runs and runs[-1][1] == PLAIN:
        text = runs.pop()[0].rstrip(" ")
        runs += [(text, PLAIN)] * bool(text)
    return runs if line_width(runs) <= width else _truncate(runs, width, cut)


def merge_runs(line: Line) -> Iterator[TextRun]:
    """Neighbours of one style as one run; nothing of empty ones."""
    for style, runs in groupby([run for run in line if run[0]], itemgetter(1)):
        yield "".join([text for text, _ in runs]), style


def _truncate(runs: list[TextRun], width: int, cut: str) -> Line:
    room = width - len(cut)
    kept: Line = []
    for text, style in runs:
        if cell_len(text) > room:
            return [*kept, (cut_cells(text, room) + cut, style)]
        kept.append((text, style))
        room -= cell_len(text)
    return kept


def render_text(drawing: Drawing, options: ViewOptions) -> str:
    """The text that goes to a terminal or a pipe; in colour it is rich's console that writes it."""
    lines = drawing.render_lines()
    if options.color == "none":
        return "".join("".join(text for text, _ in line) + "\n" for line in lines)
    from rich.console import Console
    from rich.segment import Segments

    text = StringIO()
    console = Console(
        file=text,
        width=max(options.width, MIN_WIDTH),
        color_system="standard" if options.color == "16" else options.color,
        force_terminal=True,
        no_color=False,
        legacy_windows=False,
        highlight=False,
        _environ={},
    )
    console.print(Segments(to_rich_segments(lines)), end="")
    return text.getvalue()


@cache
def to_rich_style(style: Style) -> RichStyle:
    """The same style as rich has it."""
    from rich.style import Style as RichStyle

    looks: dict[str, Any] = {key: value or None for key, value in style._asdict().items()}
    del looks["role"], looks["plane"]
    return RichStyle(**looks)


def to_rich_segments(lines: Sequence[Line]) -> Iterator[Segment]:
    """Finished lines as rich has them, each with its end."""
    from rich.segment import Segment

    for line in lines:
        yield from (Segment(text, to_rich_style(style)) for text, style in line)
        yield Segment.line()
