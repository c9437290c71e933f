"""The compiled loops of loops.c: native, aligned arrays in, one call that lets go of Python's lock.

`take` and `write` do the work and answer True, or leave everything as it is and answer False: there
is no library, the arrays are small, or of a kind that C does not know (objects, strings in
reductions, other byte orders). NumPy's way is in `tiles.py`. `GSCLI_LOOPS=plain` switches the
library off; `avx2` and `portable` go the ways of processors that have less, for tests.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from enum import IntFlag
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gscli.base import check_name
from gscli.base.arrays import Array, Indices
from gscli.base.records import Record
from gscli.base.words import INTEGERS, real_part
from gscli.kernel import tuning

LIBRARY = Path(__file__).with_name("loops.dll" if sys.platform == "win32" else "libloops.so")

# What `gscli_interface` of a library answers whose functions are the ones declared here.
INTERFACE = 10

# --- what a processor has, and which ways pay there ----------------------------------------------


class Feature(IntFlag):
    """What a processor has, as `gscli_processor` of loops.c answers."""

    AVX2 = 1  # vectors of 32 bytes
    F16C = 2  # conversion of halves
    AVX512 = 4  # vectors of 64 bytes
    FP16 = 8  # sums of halves
    INTEL = 16  # its maker


# What GSCLI_LOOPS leaves of a processor.
LESSER = {"portable": Feature(0), "avx2": Feature.AVX2 | Feature.F16C}

# Another word is refused here, also for calls so small that no loops are looked for.
_WAY = os.environ.get("GSCLI_LOOPS") or "plain"
check_name(_WAY, ("plain", *LESSER), "no such loops", f"GSCLI_LOOPS={_WAY}"[:100])

# Each way, what a processor needs so that it pays, and the race that decided that: milliseconds of
# rows of the benchmark, one thread where no other number is named. In the order of the bits that
# `gscli_use` of loops.c takes.
WAYS = {
    "vectors of 32 bytes": Feature.AVX2,  # W5 58 → 51, W6 65 → 57, W12 rows 62 → 39
    # W5 51 → 47, W6 57 → 53; W11 float32 28 by both, so that rows keep those of 32.
    "vectors of 64 bytes": Feature.AVX512,
    "cells by the processor's gathers": Feature.AVX512,  # W3, W4 13 → 10, 15 → 11
    "halves by the processor's conversions": Feature.F16C,  # W10 48 → 14, W11 185 → 11
    "halves added by the processor": Feature.FP16,  # W11 on an Intel 37 → 16, W10 40 → 37
    "all rows past the caches": Feature.INTEL,  # W1 13.5 → 8.0 on an Intel; 27 → 32 on an AMD
    # W11 float16, two threads: 36 → 28 on an Intel; 11 → 17 on an AMD, where each thread fetches
    # what lies between its rows.
    "short rows shared by two threads": Feature.INTEL,
}

# Bytes of a row from which threads share rows where that way pays, and from which it always does,
# and bytes of all rows for each thread, which must not wait for others' lines. Single cells are not
# shared: what a thread spends on picking its own, one needs for combining all.
LEAST_SHARED, SHARED, MIN_SHARE = 32, 256, 1024


def processor_features(native: ctypes.CDLL) -> Feature:
    """What the processor has, or what GSCLI_LOOPS leaves of it."""
    features = Feature(native.gscli_processor())
    return features & LESSER.get(os.environ.get("GSCLI_LOOPS", ""), features)


def use_features(native: ctypes.CDLL, features: Feature) -> None:
    """Let compiled loops go the ways that pay with these features; the processor has them."""
    native.gscli_use(sum(1 << bit for bit, need in enumerate(WAYS.values()) if need in features))


def can_share_rows(rows: Array, threads: int) -> bool:
    """Whether it pays that threads pick such rows out of all, each those of its own range."""
    native, need = library(), WAYS["short rows shared by two threads"]
    pays = native is not None and need in processor_features(native)
    long = rows.shape[1] * rows.itemsize >= (LEAST_SHARED if pays else SHARED)
    return long and rows.nbytes >= threads * MIN_SHARE


def backend_name() -> str:
    """Which way the kernel goes, in words for `--version` and the benchmark."""
    if library() is None:
        return "plain NumPy"
    lesser = os.environ.get("GSCLI_LOOPS")
    return f"compiled loops, those of {lesser}" if lesser in LESSER else "compiled loops"


# The order of the types in loops.c, INT8 and so on.
_NUMBERS = (*INTEGERS, "float32", "float64", "float16", "bfloat16")

_OF_NUMBERS = {np.add: 0, np.subtract: 1, np.multiply: 2, np.maximum: 3, np.minimum: 4}

# Of bytes that are 0 or 1 the larger is their or, the smaller their and; the operations on complex
# numbers are those that treat their parts alike.
_OPERATIONS: dict[str, dict[Any, int]] = {
    "b": {np.logical_or: 3, np.logical_and: 4}, "c": {np.add: 0, np.subtract: 1},
}  # fmt: skip


def native_reduction(dtype: np.dtype[Any], ufunc: Any) -> tuple[int, int, int] | None:
    """Operation, type and cells for each number of a reduction that C knows, else None."""
    operations, kind = _OPERATIONS.get(dtype.kind, _OF_NUMBERS), dtype.kind
    name = "uint8" if kind == "b" else real_part(dtype.name)
    if library() is None or ufunc not in operations or name not in _NUMBERS or not dtype.isnative:
        return None
    return operations[ufunc], _NUMBERS.index(name), 2 if kind == "c" else 1


# --- the library, and the structures that it reads -----------------------------------------------

L2_BYTES = 1 << 17  # of rows up to which they stay in a near cache: C need not fetch them ahead
L3_BYTES = 1 << 22  # of rows up to which some cache holds them: what is written should not fill it
MIN_PLANE_ENTRIES = 1 << 10  # from which C walks a plane alone, and fetches the rows of the next
NONTEMPORAL_BYTES = 1 << 24  # of a result from which C writes past the caches, too small for it

_INT, _POINTER, _SIZES = ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64 * 3


class _ColumnStruct(ctypes.Structure):
    """`Column` of loops.c: index numbers (planes, height, width) on an axis of `size` rows, `turn`
    added if negative. Addresses: number * step + plane * plane_step + place * place_step + first.
    """

    _fields_ = (
        ("numbers", _POINTER), ("strides", _SIZES), ("type", _INT), ("size", _INT), ("turn", _INT),
        ("step", _INT), ("plane_step", _INT), ("place_step", _INT), ("first", _INT),
    )  # fmt: skip


class _AddressesStruct(ctypes.Structure):
    """`Addresses` of loops.c."""

    _fields_ = (
        ("columns", _POINTER), ("count", _INT), ("sizes", _SIZES),
        ("plane_bytes", _INT), ("own_rows", _INT), ("far", _INT), ("source", _POINTER),
    )  # fmt: skip


class _ItemsStruct(ctypes.Structure):
    """`Items` of loops.c."""

    _fields_ = (("start", _POINTER), ("sizes", _SIZES), ("strides", _SIZES), ("stream", _INT))


_ARGUMENTS = {
    "gscli_processor": (),
    "gscli_use": (_INT,),
    "gscli_resolve": (_POINTER, _POINTER),
    "gscli_take": (_POINTER, _POINTER, _POINTER, _INT),
    "gscli_put": (_POINTER, _POINTER, _POINTER, _INT),
    "gscli_combine": (_INT, _INT, _POINTER, _POINTER, _POINTER, *[_INT] * 4),
    "gscli_select_equal": (_POINTER, _POINTER, _INT, _POINTER, _POINTER),
    "gscli_multiply": (_POINTER, _POINTER, _INT, _POINTER, _POINTER, _INT),
}


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
        function.argtypes, function.restype = arguments, _INT
    use_features(loaded, processor_features(loaded))
    return loaded


class Deferred(Record):
    """Addresses that are still index numbers: C resolves them chunk by chunk on its way.

    `columns`: for each the numbers, then `size` and so on of its `_ColumnStruct`; `shape` is that
    of the addresses; `raise_out_of_bounds` is called where a number is out of range. `is_near`:
    rows have just been copied, so that they are in a near cache if that holds them.
    """

    columns: Sequence[tuple[Any, ...]]
    shape: tuple[int, ...]
    raise_out_of_bounds: Callable[[], NoReturn]
    is_near: bool = False

    def resolve(self) -> Indices:
        """The addresses themselves."""
        addresses, native = np.empty(self.shape, np.int64), library()
        assert native is not None, "only what C can resolve is left to it"
        where = self.as_struct()
        if addresses.size and native.gscli_resolve(ctypes.byref(where), addresses.ctypes.data):
            self.raise_out_of_bounds()
        return addresses

    def as_struct(self, rows: Array | None = None, parts: int = 1) -> _AddressesStruct:
        """Where items go, for C: in these rows, each of whose `parts` takes the same numbers."""
        planes, height, width = self.columns[0][0].shape
        planes = max(planes, parts)
        where = _AddressesStruct(0, len(self.columns), (planes, height, width))
        if rows is not None:
            where.plane_bytes = rows.nbytes // planes
            near = tuning.STRIP_BYTES if self.is_near else L2_BYTES
            where.far = (where.plane_bytes > near) + (where.plane_bytes > L3_BYTES)
            where.own_rows = planes == 1 or parts > 1 or height * width >= MIN_PLANE_ENTRIES
        columns = []
        for numbers, *facts in self.columns:
            code, strides = _NUMBERS.index(numbers.dtype.name), numbers.strides
            column = _ColumnStruct(numbers.ctypes.data, strides, code, *facts)
            if where.own_rows:  # which begin anew for each plane
                column.plane_step = 0
            if parts > 1:
                column.strides[0] = 0
            columns.append(column)
        where.kept = (_ColumnStruct * len(columns))(*columns)  # as long as C reads it
        where.columns = ctypes.addressof(where.kept)
        return where


# --- calls ---------------------------------------------------------------------------------------


def take(rows: Array, addresses: Indices | Deferred, target: Array, parts: int = 1) -> bool:
    """`target[…, :] = rows[addresses]`: rows (n, run) to items (*grid, run) of the same type.

    `parts`: equal ranges of the rows, which the first axis of the grid counts; addresses are those
    of each.
    """
    after = (rows.shape[1] * rows.itemsize,)
    return _call_native("gscli_take", (), rows, addresses, target, after, parts)


def write(
    rows: Array, addresses: Indices | Deferred, items: Array, ufunc: Any = None,
    own: slice | None = None, parts: int = 1, source: Array | None = None,
) -> bool:  # fmt: skip
    """`rows[addresses] = items[…, :]` in entry order, or `rows[a] = ufunc(rows[a], item)`, maybe
    for its `own` range of rows alone. `parts` as in `take`; `source`: what rows will hold before.
    """
    run, to = rows.shape[1], (rows, addresses, items)
    if ufunc is None:
        return _call_native("gscli_put", (), *to, (run * rows.itemsize,), parts, source)
    known = native_reduction(rows.dtype, ufunc)
    if known is None or not rows.flags.aligned or not items.flags.aligned:
        return False
    operation, number, cells = known
    picked = own or slice(0, 0)
    after = run * cells, own is not None, picked.start, picked.stop
    return _call_native("gscli_combine", (operation, number), *to, after, parts, source)


def _call_native(
    name: str, before: tuple[int, ...], rows: Array, addresses: Indices | Deferred, items: Array,
    after: tuple[int, ...], parts: int, source: Array | None = None,
) -> bool:  # fmt: skip
    """Call C for rows that stand one after the other, and a grid of items, each of one piece."""
    if items.size < tuning.MIN_NATIVE_ITEMS:
        return False
    native, run = library(), items.shape[-1]
    sizes, strides = items.shape[:-1], items.strides[:-1]
    if items.flags.c_contiguous:
        sizes, strides = (items.size // run,), (run * items.itemsize,)
    missing = 3 - len(sizes)
    grid = (1,) * missing + sizes, (0,) * missing + strides
    whole = items.shape[-1] == 1 or items.strides[-1] == items.itemsize
    known = rows.dtype == items.dtype and not rows.dtype.hasobject
    if native is None or missing < 0 or not (known and whole and rows.flags.c_contiguous):
        return False
    if not isinstance(addresses, Deferred):
        column = (addresses.reshape(1, 1, -1), len(rows) // parts, 0, 1)
        addresses = Deferred([column], addresses.shape, _raise_bad_address)
    where = addresses.as_struct(rows, parts)
    if source is not None and where.own_rows:
        where.source = source.ctypes.data
    elif source is not None:
        rows[...] = source
    output = items if name == "gscli_take" else rows
    stream = max(output.nbytes, getattr(output.base, "nbytes", 0)) > NONTEMPORAL_BYTES
    job = _ItemsStruct(items.ctypes.data, *grid, stream)
    pointers = rows.ctypes.data, ctypes.byref(where), ctypes.byref(job)
    if getattr(native, name)(*before, *pointers, *after):
        addresses.raise_out_of_bounds()
    return True


def _raise_bad_address() -> NoReturn:
    raise IndexError("an address that the plan judged is outside")


def call_entries(name: str, cells: Indices, values: Array, *others: Array | bool) -> int | None:
    """What a loop over the values of some entries answers; None without a library. Arrays are of
    one piece, `cells` int64, within others or -1 for none, these float64 or what the loop returns.
    """
    native = library()
    if native is None:
        return None
    rest = [other if isinstance(other, bool) else other.ctypes.data for other in others]
    answer: int = getattr(native, name)(cells.ctypes.data, values.ctypes.data, cells.size, *rest)
    return answer
