"""The neighbourhoods of a large tensor: what lies around its touched cells, each seen by itself.

One table around all touched cells shows every row of one with every column of another. Where they
lie apart, a lens on each neighbourhood says more with fewer numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from gscli.base.records import group_pairs
from gscli.layout.axes import Box, Shape
from gscli.views.look import MATRIX, MAX_WHOLE_CELLS
from gscli.views.subject import Mark

# Lenses of one tensor; entries that lie elsewhere are counted.
MAX_REGIONS = 12

# Rows and columns up to which neighbours share a lens.
REACH = 8

MOST_BOXES = 200


def split_into_regions(
    shape: Shape, boxes: Sequence[Box], context: int = 1, *, reach: int = REACH
) -> list[tuple[range, ...]]:
    """A lens per neighbourhood, in the order of their places; none where one table says as much.

    It is the coordinates to see on each axis.
    Boxes on the same plane with at most two `context` rows and columns between them are neighbours,
    up to `reach` rows and columns in all unless one of them is longer by itself. Of more than MOST
    neighbourhoods those of the first boxes have a lens.

    >>> split_into_regions((1000, 1000), [((3, 4), (17, 18)), ((999, 1000), (999, 1000))])
    [(range(2, 5), range(16, 19)), (range(998, 1000), range(998, 1000))]
    >>> split_into_regions((3, 4), [((1, 2), (1, 2))])
    []
    """
    if len(shape) < MATRIX or prod(shape) <= MAX_WHOLE_CELLS or not 0 < len(boxes) <= MOST_BOXES:
        return []
    regions: list[tuple[int, Box]] = []
    for number, box in enumerate(boxes):
        first, seen = number, _grow(box, shape, context)
        while near := [region for region in regions if _is_adjacent(region[1], seen, reach)]:
            other, own = near[0]
            regions.remove(near[0])
            pairs = zip(own, seen, strict=True)
            seen = tuple((min(start, low), max(stop, high)) for (start, stop), (low, high) in pairs)
            first = min(first, other)
        regions.append((first, seen))
    every = [box for _, box in regions]
    planes = len({box[:-MATRIX] for box in every})
    area = sum(prod(stop - start for start, stop in box[-MATRIX:]) for box in every)
    if 2 * area > planes * prod(shape[-MATRIX:]) or _are_aligned(every):
        return []
    chosen = [box for _, box in sorted(regions)[:MAX_REGIONS]]
    return [tuple(range(*ends) for ends in box) for box in sorted(chosen)]


def _are_aligned(boxes: Sequence[Box]) -> bool:
    """Whether places lie below each other, or side by side: one table holds them without waste."""
    axes = range(len(boxes[0]) - MATRIX, len(boxes[0]))
    places = ({box[:axis] + box[axis + 1 :] for box in boxes} for axis in axes)
    return len(boxes) > 1 and any(len(others) == 1 for others in places)


def _grow(box: Box, shape: Shape, context: int) -> Box:
    """With the rows and columns beside it."""
    pairs = zip(box[-MATRIX:], shape[-MATRIX:], strict=True)
    near = [(max(start - context, 0), min(stop + context, size)) for (start, stop), size in pairs]
    return (*box[:-MATRIX], *near)


def _is_adjacent(one: Box, other: Box, reach: int) -> bool:
    """Whether two boxes of the same planes overlap or touch, and fit one lens."""
    pairs = zip(one[-MATRIX:], other[-MATRIX:], strict=True)
    return one[:-MATRIX] == other[:-MATRIX] and all(
        start <= last
        and first <= stop
        and max(stop, last) - min(start, first) <= max(reach, stop - start, last - first)
        for (start, stop), (first, last) in pairs
    )


def group_by_plane(marks: Sequence[Mark]) -> list[tuple[str, list[Mark]]]:
    """The marks on each plane behind its name; planes that the same marks cross count as one.

    >>> small = Mark(0, "a", ((5, 6), (0, 1), (2, 3)))
    >>> large = Mark(1, "b", ((0, 9), (0, 1), (0, 1)))
    >>> [(name, len(marks)) for name, marks in group_by_plane([small, large])]
    [('[0:9,:,:]', 1), ('[5,:,:]', 1)]
    """
    planes = group_pairs((mark.box[:-MATRIX], mark) for mark in marks)
    return [(format_plane(lead) if lead else "", own) for lead, own in sorted(planes.items())]


def format_plane(lead: Box) -> str:
    """What a plane, or several, are called.

    >>> format_plane(((5, 6), (0, 9)))
    '[5,0:9,:,:]'
    """
    return f"[{','.join([*(format_span(*ends) for ends in lead), ':', ':'])}]"


def format_span(start: int, stop: int) -> str:
    """A coordinate, or those from one to before another, as a subscript has them."""
    return str(start) if stop == start + 1 else f"{start}:{stop}"
