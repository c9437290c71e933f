"""The compiled loops of loops.c: native, aligned arrays in, one call that lets go of Python's lock.

`take`, `put` and `combine` do the work and answer True, or leave everything as it is and answer
False: there is no library, the job is too small to pay, or the arrays are of a kind that C does not
know (objects, strings in reductions, other byte orders). NumPy's way is in `rows.py`.
`GSCLI_LOOPS=plain` switches the library off.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gscli.base.arrays import Array, Indices

LIBRARY = Path(__file__).with_name("loops.dll" if sys.platform == "win32" else "libloops.so")
INTERFACE = 1
"""What `gscli_interface` of a library answers whose functions are the ones declared here."""

WORTH = 1 << 13
"""Cells from which a call pays: loading the library takes 0.3 ms once, a call about 6 µs."""

_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_NUMBERS = (*_WHOLE, "float32", "float64", "float16", "bfloat16")
"""The order of WHOLE and NUMBERS in loops.c."""

_OPERATIONS = {np.add: 0, np.subtract: 1, np.multiply: 2, np.maximum: 3, np.minimum: 4}
_OF_BOOL = {np.logical_or: 3, np.logical_and: 4}
"""Bytes that are 0 or 1: the larger of two is their or, the smaller their and."""

_PARTS_OF_COMPLEX = {"complex64": "float32", "complex128": "float64"}
_EACH_PART = (np.add, np.subtract)
"""Operations on complex numbers that treat their parts alike."""

_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p
_ARGUMENTS = {
    "gscli_resolve": (_INT, _POINTER, *[_INT] * 12, _POINTER),
    "gscli_take": (_POINTER, _INT, _POINTER, *[_INT] * 4, _POINTER, *[_INT] * 4),
    "gscli_put": (_POINTER, _INT, _POINTER, *[_INT] * 4, _POINTER, *[_INT] * 4),
    "gscli_combine": (
        _INT, _INT, _POINTER, _INT, _POINTER, *[_INT] * 4, _POINTER, *[_INT] * 6,
    ),
}  # fmt: skip


@cache
def library() -> ctypes.CDLL | None:
    """The compiled loops, or None: not compiled, not loadable, or switched off."""
    if os.environ.get("GSCLI_LOOPS") == "plain":
        return None
    try:
        loaded = ctypes.CDLL(str(LIBRARY))
        if loaded.gscli_interface() != INTERFACE:
            return None
    except (OSError, AttributeError):
        return None
    for name, arguments in _ARGUMENTS.items():
        function = getattr(loaded, name)
        function.argtypes = arguments
        function.restype = _INT if name == "gscli_resolve" else None
    return loaded


def way() -> str:
    """Which way the kernel goes, in words for `--version` and the benchmark."""
    return "plain NumPy" if library() is None else "compiled loops"


class Share(NamedTuple):
    """Which of `total` equal shares of the cells of a scatter a thread works on.

    A share is a range of the columns of rows, or of the rows where they have one cell.
    """

    number: int
    total: int

    def of(self, size: int) -> tuple[int, int]:
        """The bounds of the share in `size` columns or rows.

        >>> Share(1, 3).of(64)
        (21, 42)
        """
        return size * self.number // self.total, size * (self.number + 1) // self.total


WHOLE = Share(0, 1)


class Grid(NamedTuple):
    """Entries as `planes` × `height` × `width`, and the bytes from one to the next of each."""

    sizes: tuple[int, int, int]
    strides: tuple[int, int, int]


def grid_of(sizes: Sequence[int], strides: Sequence[int], *, planes: bool = False) -> Grid | None:
    """Axes as three at most, neighbours joined where they follow each other; or None.

    With `planes` the first axis stays alone.

    >>> grid_of((2, 3, 4), (100, 16, 4))
    Grid(sizes=(1, 2, 12), strides=(0, 100, 4))
    >>> grid_of((2, 3, 4), (48, 16, 4), planes=True)
    Grid(sizes=(2, 1, 12), strides=(48, 0, 4))
    """
    first = 1 if planes else 0
    joined: list[tuple[int, int]] = []
    for size, stride in zip(sizes[first:], strides[first:], strict=True):
        if joined and joined[-1][1] == size * stride:
            joined[-1] = (joined[-1][0] * size, stride)
        elif size != 1:
            joined.append((size, stride))
    missing = 3 - first - len(joined)
    if missing < 0:
        return None
    axes = [(1, 0)] * missing + joined
    if planes:
        axes.insert(0, (sizes[0], strides[0]))
    return Grid(*(tuple(column) for column in zip(*axes, strict=True)))


@lru_cache(64)
def number_of(dtype: np.dtype[Any]) -> int | None:
    """The place of a type among NUMBERS; None for any other, and for other byte orders."""
    known = dtype.isnative and dtype.name in _NUMBERS
    return _NUMBERS.index(dtype.name) if known else None


def resolve(
    numbers: Array, size: int, addresses: Indices, *, turn: int, step: int, plane_step: int = 0,
    place_step: int = 0, more: bool = False,
) -> bool | None:  # fmt: skip
    """Addresses of index numbers (planes, height, width) on an axis of `size` rows.

    Each is number * step + plane * plane_step + place * place_step, after `turn` was added to
    negative numbers; with `more` it is added to what `addresses` holds. Answers whether all numbers
    were inside, or None where the work was left.
    """
    found, number = library(), number_of(numbers.dtype)
    if found is None or number is None or number >= len(_WHOLE) or not numbers.flags.aligned:
        return None
    outside = found.gscli_resolve(
        number, numbers.ctypes.data, *numbers.shape, *numbers.strides, size, turn, step,
        plane_step, place_step, more, addresses.ctypes.data,
    )  # fmt: skip
    return not outside


def take(rows: Array, addresses: Indices, target: Array, parts: int = 1) -> bool:
    """`target[…, :] = rows[addresses]`, see `moved`."""
    return moved("gscli_take", rows, addresses, target, parts)


def put(rows: Array, addresses: Indices, items: Array, parts: int = 1) -> bool:
    """`rows[addresses] = items[…, :]` in entry order, see `moved`."""
    return moved("gscli_put", rows, addresses, items, parts)


def moved(name: str, rows: Array, addresses: Indices, items: Array, parts: int) -> bool:
    """Move rows (n, run) to items (*grid, run), or back, where they are of one type.

    With several `parts`, equal ranges of the rows, the first axis of the grid counts them, and each
    takes the same addresses.
    """
    found = library() if items.size >= WORTH else None
    if found is None or rows.dtype != items.dtype or not _movable(rows, items):
        return False
    grid = grid_of(items.shape[:-1], items.strides[:-1], planes=parts > 1)
    if grid is None:
        return False
    getattr(found, name)(
        rows.ctypes.data, rows.nbytes // parts, addresses.ctypes.data, parts > 1, *grid.sizes,
        items.ctypes.data, *grid.strides, rows.shape[1] * rows.itemsize,
    )  # fmt: skip
    return True


def combines(dtype: np.dtype[Any], ufunc: Any) -> tuple[int, int, int] | None:  # noqa: ANN401
    """Operation, type and cells for each number of a reduction that C knows, else None."""
    if dtype.kind == "b":
        return (_OF_BOOL[ufunc], _NUMBERS.index("uint8"), 1) if ufunc in _OF_BOOL else None
    if dtype.name in _PARTS_OF_COMPLEX and dtype.isnative:
        part = _NUMBERS.index(_PARTS_OF_COMPLEX[dtype.name])
        return (_OPERATIONS[ufunc], part, 2) if ufunc in _EACH_PART else None
    number = number_of(dtype)
    known = number is not None and ufunc in _OPERATIONS
    return (_OPERATIONS[ufunc], number, 1) if known and number is not None else None


def combine(
    rows: Array, addresses: Indices, updates: Array, ufunc: Any, *, parts: int = 1,  # noqa: ANN401
    share: Share = WHOLE,
) -> bool:  # fmt: skip
    """`rows[a] = ufunc(rows[a], update)` in entry order, for a share of the cells of rows."""
    found = library() if updates.size >= WORTH else None
    if found is None or rows.dtype != updates.dtype or not _movable(rows, updates):
        return False
    known = combines(rows.dtype, ufunc)
    grid = grid_of(updates.shape[:-1], updates.strides[:-1], planes=parts > 1)
    if known is None or grid is None or not rows.flags.aligned or not updates.flags.aligned:
        return False
    operation, number, cells = known
    run = rows.shape[1] * cells
    low, high = share.of(run if run > 1 or share == WHOLE else len(rows))
    assert run > 1 or share == WHOLE or high > 1, "C takes 0 … 1 for all rows of one cell"
    found.gscli_combine(
        operation, number, rows.ctypes.data, rows.nbytes // parts, addresses.ctypes.data,
        parts > 1, *grid.sizes, updates.ctypes.data, *grid.strides, run, low, high,
    )  # fmt: skip
    return True


def _movable(rows: Array, items: Array) -> bool:
    """Whether rows stand one after the other and each item is one piece, without references."""
    whole = items.shape[-1] == 1 or items.strides[-1] == items.itemsize
    return rows.flags.c_contiguous and whole and not rows.dtype.hasobject
