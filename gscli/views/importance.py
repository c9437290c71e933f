"""What of a large tensor is shown: touched cells first, then borders, then neighbours of touched.

Costs as much as what is shown, never as much as the tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, product
from math import prod

from gscli.layout.axes import Box, overlap
from gscli.views.look import Limits


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


def planes_to_see(
    lead: tuple[range, ...], boxes: Sequence[Box], most: int
) -> list[tuple[int, ...]]:
    """At most so many planes: those of the first boxes, the first and the last."""
    total = prod(map(len, lead))
    chosen: dict[tuple[int, ...], None] = {}
    for box in boxes:
        spans = [
            [one[at] for at in overlap(one, span)] for one, span in zip(lead, box, strict=False)
        ]
        chosen.update(dict.fromkeys(islice(product(*spans), most)))
        if len(chosen) >= most:
            break
    edges = 1 if chosen else most // 2
    for offset in range(min(edges, total)):
        chosen.update({_numbered(lead, offset): None, _numbered(lead, total - 1 - offset): None})
    return sorted(islice(chosen, most))


def _numbered(lead: Sequence[range], number: int) -> tuple[int, ...]:
    found: list[int] = []
    for one in reversed(lead):
        number, rest = divmod(number, len(one))
        found.append(one[rest])
    return tuple(reversed(found))


def without_single_gaps(shown: list[int], allowed: range) -> list[int]:
    """A row costs no more than the mark that says it is missing."""
    filled: list[int] = []
    for one in shown:
        if filled and one - filled[-1] == 2 * allowed.step:
            filled.append(one - allowed.step)
        filled.append(one)
    return filled
