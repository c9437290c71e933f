"""The address of an entry in the words of the drawing: which row, which column, which plane."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, TypeAlias

from gscli.base.records import Record
from gscli.layout.axes import Axis
from gscli.layout.boxes import Box
from gscli.traces.trace import Entry, Trace

Header: TypeAlias = Literal["row", "column", "plane", ""]
"""Where the drawing writes a coordinate: beside a row, above a column, in a plane's caption."""

_MATRIX = 2


class Part(Record):
    """One coordinate of every address: its name, its header, and whether an index decides it."""

    name: str
    header: Header
    indexed: bool


class Coordinate(Record):
    """What one entry has for a part: the coordinate, and the number as written if that differs.

    Both are texts. An entry that is skipped has no coordinate, a slice has no coordinate on the
    axes that it spans.
    """

    text: str
    written: str = ""


class Addresses:
    """The addresses of one trace, part by part.

    >>> from gscli.traces.trace import trace
    >>> found = trace("onnx.gather", {"data": [[1, 2], [3, 4]], "indices": [-1]}, {"axis": 1})
    >>> addresses = Addresses(found)
    >>> addresses.parts, addresses.coordinates(found.entries()[0])
    ([Part(name='column', header='column', indexed=True)], [Coordinate(text='1', written='-1')])
    """

    def __init__(self, trace: Trace) -> None:
        self._layout = trace.layout
        self._flat = trace.layout.view_shape != trace.layout.data_shape

    @cached_property
    def parts(self) -> list[Part]:
        """The coordinates that an entry fixes, in the order of data's axes."""
        rank = len(self._layout.data_shape)
        if self._flat:
            axes = (
                Part(axis_word(axis, rank), header_of(axis, rank), False) for axis in range(rank)
            )
            return [Part("flat index", "", True), *axes]
        return [
            Part(axis_word(number, rank), header_of(number, rank), axis.column is not None)
            for number, axis in self._fixed
        ]

    def coordinates(self, entry: Entry) -> list[Coordinate]:
        """What the entry has for each part."""
        places = [_place(ends, size) for ends, size in self._ends(entry)]
        if self._flat:
            written = ", ".join(map(str, entry.vector))
            return [Coordinate("", written), *map(Coordinate, places)]
        found = []
        for place, (_, axis) in zip(places, self._fixed, strict=True):
            written = "" if axis.column is None else str(entry.vector[axis.column])
            found.append(Coordinate(place, "" if written == place else written))
        return found

    @cached_property
    def _fixed(self) -> list[tuple[int, Axis]]:
        """The axes of data on which an entry does not take all there is."""
        return [
            (number, axis)
            for number, axis in enumerate(self._layout.axes)
            if (axis.column, axis.entry) != (None, None)
        ]

    def _ends(self, entry: Entry) -> list[tuple[tuple[int, int], int]]:
        shape = self._layout.data_shape
        box: Box = entry.target or ((0, 0),) * len(shape)
        both = list(zip(box, shape, strict=True))
        return both if self._flat else [both[number] for number, _ in self._fixed]


def _place(ends: tuple[int, int], size: int) -> str:
    """A coordinate, a range, or nothing for none and for a whole axis.

    >>> _place((2, 3), 4), _place((1, 3), 4), _place((0, 4), 4)
    ('2', '1 … 2', '')
    """
    start, stop = ends
    if stop <= start or (ends == (0, size) and size > 1):
        return ""
    return str(start) if stop == start + 1 else f"{start} … {stop - 1}"


def axis_word(axis: int, rank: int) -> str:
    """What an axis of a tensor is called where it is drawn.

    >>> [axis_word(axis, 2) for axis in range(2)], axis_word(0, 1), axis_word(0, 4)
    (['row', 'column'], 'cell', 'axis 0')
    """
    if rank == 1:
        return "cell"
    if axis < rank - _MATRIX:
        return "plane" if rank == _MATRIX + 1 else f"axis {axis}"
    return header_of(axis, rank)


def header_of(axis: int, rank: int) -> Header:
    """The header that holds the coordinate; numbers and vectors are drawn as one row.

    >>> header_of(0, 1), header_of(0, 2), header_of(0, 3)
    ('column', 'row', 'plane')
    """
    return "column" if axis == rank - 1 else "row" if axis == rank - _MATRIX else "plane"
