"""What of a large tensor is shown: touched cells first, then borders, then neighbours of touched.

Costs as much as what is shown, never as much as the tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, product
from math import prod

from gscli.base.records import Record
from gscli.layout.axes import Box
from gscli.views.look import Limits

_GRID_RANK = 2
"""Leading axes that still make a grid of planes: down and across."""


class Window(Record):
    """The planes, rows and candidate columns to show, the columns by falling importance too."""

    allowed: tuple[range, ...]
    planes: tuple[tuple[int, ...], ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    by_importance: tuple[int, ...]

    @property
    def all_columns(self) -> bool:
        """Whether every column is a candidate."""
        return len(self.columns) == len(self.allowed[-1])

    @property
    def complete(self) -> bool:
        """Whether every row and plane is shown, and every column if it fits."""
        rows = len(self.rows) == len(self.allowed[-2])
        return rows and len(self.planes) == self.plane_count and self.all_columns

    @property
    def plane_count(self) -> int:
        """Planes there are, shown or not."""
        return prod(len(one) for one in self.allowed[:-2])


def window(allowed: tuple[range, ...], boxes: Sequence[Box], limits: Limits) -> Window:
    """Choose for a tensor whose axes may be seen at `allowed`; rank 0 and 1 count as one row."""
    flat = ((0, 1),) * max(2 - len(allowed), 0)
    axes = (range(1),) * len(flat) + allowed
    full_boxes = [flat + box for box in boxes]
    lead, (rows, columns) = axes[:-2], axes[-2:]
    shown_rows = important(rows, (box[-2] for box in full_boxes), limits.rows, limits)
    order = important(columns, (box[-1] for box in full_boxes), limits.columns, limits)
    return Window(
        axes,
        tuple(_planes(lead, full_boxes, limits)),
        tuple(_without_single_gaps(sorted(shown_rows), rows)),
        tuple(sorted(order)),
        tuple(order),
    )


def important(
    allowed: range, spans: Iterable[tuple[int, int]], budget: int, limits: Limits
) -> list[int]:
    """At most `budget` coordinates by falling importance; all of them where they are no more.

    >>> important(range(1000), [(412, 413)], 20, Limits(20, 20, edge=1))
    [412, 0, 999, 411, 413]
    """
    count = len(allowed)
    if limits.full:
        return list(allowed)
    chosen: dict[int, None] = {}
    for span in spans:
        inside = overlap(allowed, span)
        if len(inside) < count:
            chosen.update(dict.fromkeys(inside[:budget]))
        if len(chosen) >= budget:
            break
    near = [place + step for place in chosen for step in (-1, 1) if 0 <= place + step < count]
    edge = limits.edge if chosen else max(limits.edge, 3)
    whole = count <= budget
    if (limits.fill or whole) and not chosen:
        edge = (min(budget, count) + 1) // 2
    chosen.update(dict.fromkeys((0, count - 1) if edge else ()))
    chosen.update(dict.fromkeys(near))
    for offset in range(1, edge):
        if offset < count:
            chosen.update({offset: None, count - 1 - offset: None})
    if whole:
        chosen.update(dict.fromkeys(range(count)))
    return [allowed[place] for place in islice(chosen, budget)]


def overlap(allowed: range, span: tuple[int, int]) -> range:
    """The places in `allowed` whose coordinates lie in the half-open `span`.

    >>> overlap(range(0, 100, 10), (15, 41))
    range(2, 5)
    """
    first, stop = (-(-(end - allowed.start) // allowed.step) for end in span)
    return range(max(first, 0), max(min(stop, len(allowed)), 0))


def _planes(lead: tuple[range, ...], boxes: Sequence[Box], limits: Limits) -> list[tuple[int, ...]]:
    total = prod(len(one) for one in lead)
    if limits.full or (total <= limits.planes and (len(lead) <= _GRID_RANK or not boxes)):
        return list(product(*lead))
    chosen: dict[tuple[int, ...], None] = {}
    for box in boxes:
        spans = [
            [one[at] for at in overlap(one, span)] for one, span in zip(lead, box, strict=False)
        ]
        chosen.update(dict.fromkeys(islice(product(*spans), limits.planes)))
        if len(chosen) >= limits.planes:
            break
    edges = 1 if chosen else limits.planes // 2
    for offset in range(min(edges, total)):
        chosen.update({_numbered(lead, offset): None, _numbered(lead, total - 1 - offset): None})
    return sorted(islice(chosen, limits.planes))


def _numbered(lead: Sequence[range], number: int) -> tuple[int, ...]:
    found: list[int] = []
    for one in reversed(lead):
        number, rest = divmod(number, len(one))
        found.append(one[rest])
    return tuple(reversed(found))


def _without_single_gaps(shown: list[int], allowed: range) -> list[int]:
    """A row costs no more than the mark that says it is missing."""
    filled: list[int] = []
    for one in shown:
        if filled and one - filled[-1] == 2 * allowed.step:
            filled.append(one - allowed.step)
        filled.append(one)
    return filled
