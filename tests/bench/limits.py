"""What the machine itself needs: bare loops on a row's arrays, without check, wrap or plan.

    python -m tests.bench.limits [ROUNDS]

Needs a C compiler. A row that misses its goal is to be compared with these: where the bare loop is
as slow, the limit is the machine's.
"""

from __future__ import annotations

import ctypes
import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from .interleaving import raced, summary
from .kernel_workloads import Array, Inputs, workloads

SOURCE = Path(__file__).with_name("limits.c")
THREADS = (1, 2)
FAR = 4000
"""Numbers of W6 that stand in one row of the bare loop; its rows are all of data."""

Loop = Callable[[int, int], object]
"""Does the part of the work from one row of the numbers to another."""


def flat(inputs: Inputs) -> tuple[Array, int]:
    """Numbers as rows of addresses within as many cells: (rows, width), size."""
    numbers, data = inputs["indices"], inputs["data"]
    if numbers.shape == data.shape:
        return numbers, data.shape[1]
    vectors = numbers[: len(numbers) // FAR * FAR] % len(data)
    return (vectors[:, 0] * data.shape[1] + vectors[:, 1]).reshape(-1, FAR), 0


def bare_loops(library: ctypes.CDLL, inputs: Inputs) -> Mapping[str, tuple[Loop, int]]:
    """The bare loops of a row, each with the number of rows that threads share."""
    numbers, size = flat(inputs)
    height, width = numbers.shape
    data, result = inputs["data"], np.empty(numbers.shape, np.float32)

    def read(first: int, last: int) -> object:
        return library.bare_read(numbers[first:].ctypes, (last - first) * width)

    def follow(first: int, last: int) -> object:
        count, rows = (last - first) * width, data[first:] if size else data
        return library.bare_follow(
            numbers[first:].ctypes, count, width, rows.ctypes, size, result[first:].ctypes
        )

    return {"numbers read": (read, height), "and followed": (follow, height)}


def timer(loop: Loop, height: int, threads: int) -> Callable[[], dict[str, float]]:
    """Seconds of one loop, its rows dealt to threads."""
    ends = [height * k // threads for k in range(threads + 1)]

    def timed() -> dict[str, float]:
        parts = [threading.Thread(target=loop, args=part) for part in itertools.pairwise(ends)]
        start = time.perf_counter()
        for part in parts:
            part.start()
        for part in parts:
            part.join()
        return {"wall": time.perf_counter() - start}

    return timed


def table(rounds: int, shrink: int = 1) -> str:
    """Milliseconds (minimum) of each row's bare loops, with one and two threads."""
    lines = ["| | bare loop | 1t | 2t |", "|---|---|--:|--:|"]
    with TemporaryDirectory() as folder:
        built = Path(folder) / "limits.so"
        command = ["cc", "-O3", "-shared", "-fPIC", "-o", str(built), str(SOURCE)]
        subprocess.run(command, check=True)
        library = ctypes.CDLL(str(built))
        size, place = ctypes.c_int64, ctypes.c_void_p
        library.bare_read.argtypes = (place, size)
        library.bare_follow.argtypes = (place, size, size, place, size, place)
        for row in workloads():
            if row.key not in ("W4", "W6"):
                continue
            loops = bare_loops(library, row.inputs(shrink))
            timed = {
                f"{name} {n}": timer(*loop, n) for name, loop in loops.items() for n in THREADS
            }
            found = summary(raced(timed, rounds)["wall"])["min"]
            for name in loops:
                times = " | ".join(f"{found[f'{name} {n}'] * 1e3:.1f}" for n in THREADS)
                lines.append(f"| {row.key} | {name} | {times} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(int(sys.argv[1]) if sys.argv[1:] else 9))
