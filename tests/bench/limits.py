"""The machine's limit where a goal is missed: bare loops of C beside gscli, in one race.

    python -m tests.bench.limits [KEY…]

The loops of limits.c neither judge nor wrap index numbers, copy no data and keep no order; what
they take, no way to the result with the same reads and writes can save.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from gscli.kernel.tuning import for_each

from .interleaving import raced, summary
from .kernel_peers import Call
from .kernel_race import gscli_call, prime, timer
from .kernel_workloads import Inputs, workloads

LOOPS = {"W10 add float16": "sums_of_16", "W11 rows add float16": "sums_of_16"}
"""Workload -> the loop of limits.c."""

SOURCE = Path(__file__).with_name("limits.c")
ROUNDS = 31


def compiled(folder: str) -> ctypes.CDLL:
    """The loops, for this very processor."""
    library = Path(folder) / "limits.so"
    compiler = shutil.which("cc") or "cc"
    flags = ["-O3", "-march=native", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run([compiler, *flags, str(SOURCE)], check=True)
    return ctypes.CDLL(str(library))


def bare_call(library: ctypes.CDLL, loop: str, inputs: Inputs, threads: int) -> Call:
    """The bare loop on a workload's inputs; each thread has its part of the updates."""
    cells, numbers, updates = inputs["data"].copy(), inputs["indices"], inputs["updates"]
    function, count, run = getattr(library, loop), len(numbers), updates.size // len(numbers)

    def part(number: int) -> None:
        ends = (count * number // threads, count * (number + 1) // threads)
        places = (array.ctypes.data for array in (numbers, updates, cells))
        function(*map(ctypes.c_void_p, places), *map(ctypes.c_int64, (run, *ends)))

    return lambda: for_each(range(threads), part, threads)


def main() -> None:
    """Milliseconds of the loops and of gscli's whole calls, minimum (median)."""
    wanted = sys.argv[1:] or list(LOOPS)
    with TemporaryDirectory() as folder:
        library = compiled(folder)
        for workload in (one for one in workloads() if one.key in wanted):
            inputs = workload.inputs()
            prime(3 * sum(array.nbytes for array in inputs.values()))
            calls = {}
            for threads in (1, 2):
                loop = LOOPS[workload.key]
                calls[f"bare {threads}"] = timer(bare_call(library, loop, inputs, threads))
                calls[f"gscli {threads}"] = timer(gscli_call(workload, inputs, threads))
            found = summary(raced(calls, ROUNDS)["wall"])
            times = (
                f"{name} {found['min'][name] * 1e3:.1f} ({found['median'][name] * 1e3:.1f})"
                for name in calls
            )
            print(f"{workload.title}: {', '.join(times)}", flush=True)


if __name__ == "__main__":
    main()
