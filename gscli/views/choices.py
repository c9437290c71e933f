"""What options may choose: tensors of the call, slices of their rank, no more than is looked at."""

from __future__ import annotations

from collections.abc import Sequence

from gscli.base import LimitRefused, UsageError
from gscli.layout.axes import Shape
from gscli.traces import Trace
from gscli.views.look import ViewOptions

MOST_ENTRIES = 20_000
"""Entries that are drawn or told one by one at most."""


MOST_CELLS = 1_000_000
"""Cells of one tensor that are drawn at most."""


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


def parse_slice(text: str, shape: Shape) -> tuple[range, ...] | None:
    """`0,:,::2` as the coordinates to see on each axis; None where it has another rank.

    >>> parse_slice("0,:,::2", (3, 4, 5))
    (range(0, 1), range(0, 4), range(0, 5, 2))
    """
    parts = [part.strip() for part in text.strip().removeprefix("[").removesuffix("]").split(",")]
    if len(parts) != len(shape):
        return None
    return tuple(_range(part, size, text) for part, size in zip(parts, shape, strict=True))


def _range(part: str, size: int, text: str) -> range:
    refused = UsageError(
        "slice is not understood",
        where=f"--slice {text}"[:200],
        details=(f"{part!r} on an axis of size {size}"[:200],),
        valid=f"a number -{size} … {size - 1}, or start:stop:step with step 1 or more",
    )
    try:
        numbers = [int(one) if one else None for one in part.split(":")]
    except ValueError:
        raise refused from None
    if len(numbers) == 1 and numbers[0] is not None:
        if not -size <= numbers[0] < size:
            raise refused
        return range(numbers[0] % size, numbers[0] % size + 1)
    step = numbers[2] if len(numbers) > 2 else None  # noqa: PLR2004  start, stop, step
    if not 1 < len(numbers) < 4 or (step is not None and step < 1):  # noqa: PLR2004  same
        raise refused
    return range(*slice(*numbers).indices(size))
