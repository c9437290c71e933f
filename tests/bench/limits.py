"""What the machine itself needs: bare loops on a row's arrays, raced beside everything else.

The loops of limits.c judge and wrap no index number and copy no data. Where they take as long as
gscli, the limit is the machine's; where they are faster, what lies between is gscli's own.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

import numpy as np

from gscli.kernel.tuning import for_each

from .kernel_peers import Call
from .kernel_workloads import Array, Inputs, Workload

SOURCE = Path(__file__).with_name("limits.c")
THREADS = (1, 2)
PLANES = 1000
"""Numbers that choose from all cells are dealt to the threads in so many planes."""

OWN_CELLS = ("W3", "W4", "W4 negative", "W14 axis 1")
ALL_CELLS = ("W6", "W6 negative", "W10 add", "W11 rows add")
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
    numbers = planes_of(inputs["indices"], inputs["data"], own=key in OWN_CELLS)
    size = inputs["data"].shape[1] if key in OWN_CELLS else 0
    part = _sums if "updates" in inputs else _gather
    return {f"bare {count}": part(loops, numbers, size, inputs, count) for count in THREADS}


def planes_of(numbers: Array, data: Array, *, own: bool) -> Array:
    """Index numbers as planes, none negative: of each row of cells, or addresses among all."""
    if own:
        return np.broadcast_to(numbers % data.shape[1], (len(data), numbers.shape[-1]))
    columns = [numbers[:, k] % data.shape[k] for k in range(numbers.shape[1])]
    addresses = np.ravel_multi_index(columns, data.shape[: len(columns)])
    width = len(addresses) // min(PLANES, len(addresses))
    return addresses[: len(addresses) // width * width].reshape(-1, width)


def _gather(loops: ctypes.CDLL, numbers: Array, size: int, inputs: Inputs, threads: int) -> Call:
    data, width, turn = inputs["data"], numbers.shape[1], numbers.strides[0] // numbers.itemsize

    def call() -> Array:
        result = np.empty(numbers.shape, data.dtype)
        start = (_at(numbers), _whole(turn), _whole(width), _at(data), _whole(size), _at(result))
        _shared(lambda *ends: loops.gather_4(*start, *ends), len(numbers), threads)
        return result

    return call


def _sums(loops: ctypes.CDLL, numbers: Array, size: int, inputs: Inputs, threads: int) -> Call:
    cells, updates, width = inputs["data"].copy(), inputs["updates"], numbers.shape[1]
    run = updates.size // inputs["indices"].size
    function = getattr(loops, f"sums_{cells.itemsize}")

    def call() -> Array:
        start = (_at(numbers), _at(updates), _whole(width), _at(cells), _whole(size), _whole(run))
        _shared(lambda *ends: function(*start, *ends), len(numbers), threads)
        return cells

    return call


def _shared(part: Call, planes: int, threads: int) -> None:
    ends = [planes * k // threads for k in range(threads + 1)]
    for_each(range(threads), lambda k: part(_whole(ends[k]), _whole(ends[k + 1])), threads)


def _at(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _whole(number: int) -> ctypes.c_int64:
    return ctypes.c_int64(number)
