"""Tensors that are drawn together: one number format, one palette, the same limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gscli.base.arrays import Array
from gscli.base.errors import UsageError
from gscli.traces.trace import Trace
from gscli.views.numbers import NumberFormat, number_format
from gscli.views.options import ViewOptions
from gscli.views.palette import palette_of
from gscli.views.signs import signs_of
from gscli.views.terminal.columns import Chunk
from gscli.views.terminal.flow import Block
from gscli.views.terminal.paint import Painter
from gscli.views.terminal.sheet import Sheet
from gscli.views.terminal.subject import Subject
from gscli.views.terminal.window import FLAT_LINES, ROWS, Limits, parse_slice

_NARROWEST_COLUMN = 3
_MATRIX = 2
_PAIR = 2


class Group(NamedTuple):
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
    palette, signs = palette_of(options), signs_of(options)
    sheets = [_sheet(one, options, width, fill=fill) for one in found]
    alike = [part for one in sheets if one.subject.role != "indices" for part in one.samples()]
    numbers = number_format([*alike, *extras], options.precision)
    marks = [mark for one in found for mark in (one.unlit or one).marks]
    separated = any(len(mark.label) > 1 for mark in marks)
    painters = [Painter(sheet, numbers, palette, signs, separated=separated) for sheet in sheets]
    chunks = [painter.chunks(width) for painter in painters]
    if _widen_twins(painters, chunks):
        chunks = [painter.chunks(width) for painter in painters]
    return Group(
        tuple(one.draw(width, own) for one, own in zip(painters, chunks, strict=True)),
        numbers,
        sum(len(chunk) for own in chunks for chunk in own),
        tuple(
            (painter.sheet.subject.name, painter.hidden(own))
            for painter, own in zip(painters, chunks, strict=True)
        ),
        sum(painter.wrong_cells(own) for painter, own in zip(painters, chunks, strict=True)),
    )


def _widen_twins(painters: Sequence[Painter], chunks: Sequence[Sequence[Chunk]]) -> bool:
    """Data and output with the same cells show the same columns, so old and new compare by eye."""
    twins = [
        (painter, sum(map(len, own)))
        for painter, own in zip(painters, chunks, strict=True)
        if painter.sheet.subject.role in ("data", "output") and not painter.sheet.empty
    ]
    if len(twins) != _PAIR:
        return False
    (one, shown), (other, also_shown) = twins
    if one.sheet.window != other.sheet.window:
        return False
    if shown == also_shown == len(one.sheet.window.allowed[-1]):
        return False
    one.measures = other.measures = one.measures.joined(other.measures)
    return True


def _sheet(subject: Subject, options: ViewOptions, width: int, *, fill: bool) -> Sheet:
    lines = (options.rows or FLAT_LINES) if len(subject.array.shape) < _MATRIX else 1
    limits = Limits(
        rows=options.rows or ROWS,
        columns=width // _NARROWEST_COLUMN * lines,
        lines=lines,
        edge=options.edge,
        full=options.full,
        fill=fill,
    )
    allowed = None
    if options.slice is not None and subject.role in (None, "data", "output"):
        allowed = parse_slice(options.slice, subject.array.shape)
    return Sheet(subject, limits, allowed)


def check_requests(trace: Trace, options: ViewOptions) -> None:
    """`show` must name tensors of the call, and `slice` fit one of them."""
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
