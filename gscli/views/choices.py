"""What of a large tensor is shown: what options choose of it, else touched cells first.

Options may choose tensors of the call, slices of their rank, and no more than anybody looks at.
Behind touched cells come borders, then neighbours of touched ones. That costs as much as what is
shown, never as much as the tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice, product

from gscli.base import LimitRefused, UsageError, check_rule
from gscli.base.arrays import Array
from gscli.layout.axes import Box, Shape, span_positions
from gscli.layout.subscripts import parse_basic_item
from gscli.traces import Trace
from gscli.views.look import Limits, ViewOptions

# Entries that are drawn or told one by one at most.
MOST_ENTRIES = 20_000


# Cells of one tensor that are drawn at most.
MOST_CELLS = 1_000_000


def check_size(options: ViewOptions, entries: int, sizes: Sequence[int]) -> None:
    """LimitRefused for more than anybody looks at, before minutes and gigabytes go into it.

    >>> check_size(ViewOptions(limit=10), 10**9, [10**9])
    """
    shown = entries if options.limit is None and options.full else min(options.limit or 0, entries)
    cells = max(sizes, default=0) if options.full else 0
    for what, count, most in (("entries", shown, MOST_ENTRIES), ("cells", cells, MOST_CELLS)):
        problem, where, legal = f"too many {what} to draw", f"{count:,} {what}", f"at most {most:,}"
        hint = "-o FILE writes every value; --rows, --limit and --slice without --full draw fewer"
        check_rule(count <= most, problem, where, kind=LimitRefused, valid=legal, hint=hint)


def check_view_options(trace: Trace, options: ViewOptions) -> None:
    """`show` must name tensors of the call, `slice` fit one of them, and all be drawn in time."""
    check_size(options, trace.entry_count, [tensor.array.size for tensor in trace.tensors])
    known = {name for tensor in trace.tensors for name in (tensor.role, tensor.name)}
    for name in options.show or ():
        problem = f"nothing to show is called {name!r}"[:200]
        legal = " ".join(tensor.name for tensor in trace.tensors)
        fits = name in known or name in ("data", "indices", "updates", "output")
        check_rule(fits, problem, kind=UsageError, valid=legal)
    if options.slice is not None:
        sliced = [tensor for tensor in trace.tensors if tensor.role in ("data", "output")]
        names = {*(options.show or known)}
        shapes = {item.name: item.shape for item in sliced if {item.role, item.name} & names}
        problem, hint = "slice is of data and output, and neither is shown", "leave out --slice"
        check_rule(bool(shapes), problem, kind=UsageError, hint=hint)
        check_slice(options.slice, shapes)


def check_slice(text: str, shapes: Mapping[str, Shape]) -> None:
    """A slice must have as many parts as one of the tensors has axes, and lie within those."""
    parts = [parse_slice(text, shape, name) for name, shape in shapes.items()]
    fits = any(part is not None for part in parts)
    ranks = " or ".join(str(rank) for rank in sorted({*map(len, shapes.values())}))
    problem = "slice has another number of parts than the tensor has axes"
    where, legal = f"slice {text}"[:200], f"parts between commas: {ranks}"
    check_rule(fits, problem, where, kind=UsageError, valid=legal)


def take_slice(array: Array, text: str) -> tuple[Array, tuple[range, ...]]:
    """The part of a tensor that a slice leaves, and where it lies; UsageError for another rank.

    >>> import numpy as np
    >>> take_slice(np.array([[1, 2], [3, 4]]), "1,:")
    (array([[3, 4]]), (range(1, 2), range(0, 2)))
    """
    check_slice(text, {"the tensor": array.shape})
    part = parse_slice(text, array.shape) or ()
    return array[tuple(slice(axis.start, axis.stop, axis.step) for axis in part)], part


def parse_slice(text: str, shape: Shape, name: str = "the tensor") -> tuple[range, ...] | None:
    """`0,:,::2` as the coordinates to see on each axis; None where it has another rank.

    >>> parse_slice("0,:,::2", (3, 4, 5))
    (range(0, 1), range(0, 4), range(0, 5, 2))
    """
    parts = [part.strip() for part in text.strip().removeprefix("[").removesuffix("]").split(",")]
    if len(parts) != len(shape):
        return None
    pairs = zip(parts, shape, strict=True)
    return tuple(_parse_range(part, size, text, name) for part, size in pairs)


def _parse_range(part: str, size: int, text: str, name: str) -> range:
    with suppress(ValueError):  # no number, or one of more digits than Python reads
        if -size <= (number := int(part)) < size:
            return range(size)[number:][:1]
    item = parse_basic_item(part.replace(" ", ""))
    if item is not None and item.kind == ":" and (item.bounds[2] is None or item.bounds[2] > 0):
        return range(size)[slice(*item.bounds)]
    where, detail = f"slice {text}"[:200], f"{part!r} on an axis of {name}, of size {size}"[:200]
    legal = f"a number -{size} … {size - 1}, or start:stop:step with step 1 or more"
    raise UsageError("slice is not understood", where=where, details=(detail,), valid=legal)


def rank_coordinates(
    allowed: range, spans: Iterable[tuple[int, int]], budget: int, limits: Limits
) -> list[int]:
    """At most `budget` coordinates by falling importance; all of them where they are no more.

    >>> rank_coordinates(range(1000), [(412, 413)], 20, Limits(20, 20, edge=1))
    [412, 0, 999, 411, 413]
    """
    count = len(allowed)
    chosen: dict[int, None] = {}
    for span in spans:
        inside = span_positions(allowed, span)
        if len(inside) < count:
            chosen.update(dict.fromkeys(inside[:budget]))
        if len(chosen) >= budget:
            break
    near = [place + step for place in chosen for step in (-1, 1) if 0 <= place + step < count]
    edge, whole = limits.edge if chosen else max(limits.edge, 3), count <= budget
    if (limits.fill or whole) and not chosen:
        edge = (min(budget, count) + 1) // 2
    ends = [place for at in range(min(edge, count)) for place in (at, count - 1 - at)]
    order = [*chosen, *ends[:2], *near, *ends[2:], *(range(count) if whole else ())]
    return [allowed[place] for place in islice(dict.fromkeys(order), budget)]


def select_planes(
    lead: tuple[range, ...], boxes: Sequence[Box], most: int
) -> list[tuple[int, ...]]:
    """At most so many planes: those of the first boxes, the first and the last."""
    chosen: dict[tuple[int, ...], None] = {}
    for box in boxes:
        pairs = zip(lead, box, strict=False)
        spans = [[index[at] for at in span_positions(index, span)] for index, span in pairs]
        chosen.update(dict.fromkeys(islice(product(*spans), most)))
        if len(chosen) >= most:
            break
    edges = 1 if chosen else most // 2
    firsts, lasts = (product(*(index[::step][:edges] for index in lead)) for step in (1, -1))
    for ends in islice(zip(firsts, lasts, strict=True), edges):
        chosen.update(dict.fromkeys(ends))
    return sorted(islice(chosen, most))


def fill_single_gaps(shown: list[int], allowed: range) -> list[int]:
    """A row costs no more than the mark that says it is missing."""
    filled: list[int] = []
    for item in shown:
        if filled and item - filled[-1] == 2 * allowed.step:
            filled.append(item - allowed.step)
        filled.append(item)
    return filled
