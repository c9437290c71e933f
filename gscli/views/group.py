"""Tensors that are drawn together: one number format, one palette, the same limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gscli.errors import UsageError
from gscli.plan import Array
from gscli.tracing import Trace
from gscli.views.flow import Block
from gscli.views.numbers import NumberFormat, number_format
from gscli.views.options import ViewOptions
from gscli.views.paint import paint
from gscli.views.palette import palette_of
from gscli.views.sheet import Sheet
from gscli.views.signs import signs_of
from gscli.views.subject import Subject
from gscli.views.window import ROWS, Limits, parse_slice

_NARROWEST_COLUMN = 3
_LINES_OF_A_ROW = 4
_MATRIX = 2


@dataclass(frozen=True)
class Group:
    """Drawn tensors, the format of their numbers, and per tensor the marks not to be seen."""

    blocks: tuple[Block, ...]
    numbers: NumberFormat
    hidden: tuple[tuple[str, int], ...]


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
    alike = [sheet.samples() for sheet in sheets if sheet.subject.role != "indices"]
    numbers = number_format([*sum(alike, []), *extras], options.precision)
    drawings = [paint(one, width, numbers, palette, signs, full=options.full) for one in sheets]
    return Group(
        tuple(one.block for one in drawings),
        numbers,
        tuple(
            (subject.name, drawing.hidden)
            for subject, drawing in zip(found, drawings, strict=True)
            if drawing.hidden
        ),
    )


def _sheet(subject: Subject, options: ViewOptions, width: int, *, fill: bool) -> Sheet:
    flat = len(subject.array.shape) < _MATRIX
    limits = Limits(
        rows=options.rows or ROWS,
        columns=width // _NARROWEST_COLUMN * (_LINES_OF_A_ROW if flat else 1),
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
