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

# Numbers that choose from all cells are dealt to the threads in so many planes.
PLANES = 1000

# Of `spin`: about 3 ms, as long as the shortest jobs.
STEPS = 3_000_000

OWN_CELLS = (
    "W2", "W3", "W4", "W4 negative", "W8", "W13 axis 1", "W14 axis 1", "W15 unique", "W15 repeated",
)  # fmt: skip

# Each plane chooses from cells of its own, or each column; those of all others from the same.
COLUMNS = ("W5", "W13 axis 0", "W14 axis 0")

# Columns that such a loop walks together.
STRIP = 64


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
    """The bare loop of a workload with one and with two threads; nothing without a compiler."""
    key, loops = workload.key.removesuffix(f" {workload.dtype}"), library()
    if loops is None:
        return {}
    walk = _walk_columns(inputs) if key in COLUMNS else _walk_planes(inputs, own=key in OWN_CELLS)
    made, name = _gather, "gather"
    if "updates" in inputs:
        made, name = _scatter, workload.attrs.get("reduction", "none").replace("none", "put")
    kind = "columns" if key in COLUMNS else "rows"
    part = getattr(loops, f"{name}_{inputs['data'].itemsize}_{kind}")
    return {name: made(part, walk, inputs, count) for count, name in enumerate(BARE, 1)}


def spin_calls() -> Mapping[str, Call]:
    """The same steps without memory in one and in two threads; nothing without a compiler."""
    loops = library()
    if loops is None:
        return {}
    spin = loops.spin
    return {name: partial(_shared, spin, STEPS, count) for count, name in enumerate(SPIN, 1)}


class Walk(NamedTuple):
    """How a loop goes: the index numbers, none negative, the sizes that it is told, how many planes
    or strips there are to share, and how many cells an item has.
    """

    numbers: Array
    sizes: tuple[int, ...]
    parts: int
    run: int = 1


def _walk_planes(inputs: Inputs, *, own: bool) -> Walk:
    """The sizes: turn, width, size and run, as limits.c has them."""
    numbers, data, size = inputs["indices"], inputs["data"], 0
    if own:
        size, is_shared = data.shape[1], numbers.ndim == 1 or "axis" in inputs
        lines = (numbers % size).reshape(1 if is_shared else len(data), -1)
        planes, run = np.broadcast_to(lines, (len(data), lines.shape[1])), data[0, 0].size
    else:
        vectors = numbers.reshape(len(numbers), -1)
        shape = data.shape[: vectors.shape[1]]
        addresses = np.ravel_multi_index([*(vectors % shape).T], shape)
        width = len(addresses) // min(PLANES, len(addresses))
        planes = addresses[: len(addresses) // width * width].reshape(-1, width)
        run = data.size // math.prod(shape)
    turn = planes.strides[0] // planes.itemsize
    return Walk(planes, (turn, planes.shape[1], size, run), len(planes), run)


def _walk_columns(inputs: Inputs) -> Walk:
    """The sizes: height and width."""
    numbers = inputs["indices"]
    return Walk(numbers, numbers.shape, -(-numbers.shape[1] // STRIP))


def _gather(part: Call, walk: Walk, inputs: Inputs, threads: int) -> Call:
    data = inputs["data"]

    def call() -> Array:
        result = np.empty((walk.numbers.size, walk.run), data.dtype)
        _run_loop(part, walk, (data, result), threads)
        return result

    return call


def _scatter(part: Call, walk: Walk, inputs: Inputs, threads: int) -> Call:
    updates, cells = inputs["updates"], inputs["data"].copy()

    def call() -> Array:
        _run_loop(part, walk, (updates, cells), threads)
        return cells

    return call


def _run_loop(part: Call, walk: Walk, arrays: tuple[Array, Array], threads: int) -> None:
    places = [ctypes.c_void_p(array.ctypes.data) for array in (walk.numbers, *arrays)]
    start = (*places, *map(ctypes.c_int64, walk.sizes))
    _shared(lambda *ends: part(*start, *ends), walk.parts, threads)


def _shared(part: Call, planes: int, threads: int) -> None:
    ends = [ctypes.c_int64(planes * k // threads) for k in range(threads + 1)]
    run_parallel(range(threads), lambda k: part(ends[k], ends[k + 1]), threads)
