"""What the machine itself needs: bare loops on a row's arrays, raced beside everything else.

The loops of limits.c judge and wrap no index number and copy no data. Where they take as long as
gscli, the limit is the machine's; where they are faster, what lies between is gscli's own.
"""

from __future__ import annotations

import ctypes
import math
import subprocess
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from gscli.kernel.tuning import run_parallel

from .kernel_peers import Call
from .kernel_table import BARE, SPIN
from .kernel_workloads import Array, Inputs, Workload

SOURCE = Path(__file__).with_name("limits.c")
PLANES = 1000
"""Numbers that choose from all cells are dealt to the threads in so many planes."""

STEPS = 3_000_000
"""Of `spin`: about 3 ms, as long as the shortest jobs."""

OWN_CELLS = ("W2", "W3", "W4", "W4 negative", "W8", "W14 axis 1")
ALL_CELLS = ("W1", "W6", "W6 negative", "W7", "W10 add", "W11 rows add")
"""Workloads with a bare loop: each plane chooses from cells of its own, or all from the same."""


@cache
def library() -> ctypes.CDLL | None:
    """The loops, compiled for this very processor; None without a compiler."""
    compiler = which("cc")
    if compiler is None:
        return None
    with TemporaryDirectory() as folder:
        built = Path(folder) / "limits.so"
        flags = ["-O3", "-march=native", "-shared", "-fPIC", "-o", str(built)]
        subprocess.run([compiler, *flags, str(SOURCE)], check=True)
        return ctypes.CDLL(str(built))


def bare_calls(workload: Workload, inputs: Inputs) -> Mapping[str, Call]:
    """The bare loop of a workload with one and with two threads; nothing where there is none."""
    key = workload.key.removesuffix(f" {workload.dtype}")
    loops = library() if key in OWN_CELLS + ALL_CELLS else None
    if loops is None:
        return {}
    part = _sums if "updates" in inputs else _gather
    planes = planes_of(inputs["indices"], inputs["data"], own=key in OWN_CELLS)
    return {name: part(loops, planes, inputs, count) for count, name in enumerate(BARE, 1)}


def spin_calls() -> Mapping[str, Call]:
    """The same steps without memory in one and in two threads; nothing without a compiler."""
    loops = library()
    if loops is None:
        return {}
    spin = loops.spin
    return {name: partial(_shared, spin, STEPS, count) for count, name in enumerate(SPIN, 1)}


class Planes(NamedTuple):
    """Index numbers, none negative, as (planes, width); a plane's own rows or 0; cells of a row."""

    numbers: Array
    size: int
    run: int


def planes_of(numbers: Array, data: Array, *, own: bool) -> Planes:
    """The index numbers of a row of the table as the loops take them."""
    if own:
        size, width = data.shape[1], numbers.shape[min(numbers.ndim, 2) - 1]
        planes = np.broadcast_to((numbers % size).reshape(-1, width), (len(data), width))
        return Planes(planes, size, data.size // (len(data) * size))
    vectors = numbers.reshape(len(numbers), -1)
    shape = data.shape[: vectors.shape[1]]
    addresses = np.ravel_multi_index([*(vectors % shape).T], shape)
    width = len(addresses) // min(PLANES, len(addresses))
    planes = addresses[: len(addresses) // width * width].reshape(-1, width)
    return Planes(planes, 0, data.size // math.prod(shape))


def _gather(loops: ctypes.CDLL, planes: Planes, inputs: Inputs, threads: int) -> Call:
    (numbers, size, run), data = planes, inputs["data"]
    turn = numbers.strides[0] // numbers.itemsize
    wholes = [_whole(number) for number in (turn, numbers.shape[1], size, run)]

    def call() -> Array:
        result = np.empty((*numbers.shape, run), data.dtype)
        start = (_at(numbers), _at(data), _at(result), *wholes)
        _shared(lambda *ends: loops.gather_4(*start, *ends), len(numbers), threads)
        return result

    return call


def _sums(loops: ctypes.CDLL, planes: Planes, inputs: Inputs, threads: int) -> Call:
    (numbers, size, run), updates = planes, inputs["updates"]
    cells = inputs["data"].copy()
    wholes = [_whole(number) for number in (numbers.shape[1], size, run)]
    function = getattr(loops, f"sums_{cells.itemsize}")

    def call() -> Array:
        start = (_at(numbers), _at(updates), _at(cells), *wholes)
        _shared(lambda *ends: function(*start, *ends), len(numbers), threads)
        return cells

    return call


def _shared(part: Call, planes: int, threads: int) -> None:
    ends = [planes * k // threads for k in range(threads + 1)]
    run_parallel(range(threads), lambda k: part(_whole(ends[k]), _whole(ends[k + 1])), threads)


def _at(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _whole(number: int) -> ctypes.c_int64:
    return ctypes.c_int64(number)
