"""Workloads raced one after the other, in a process of their own.

    python -m tests.bench.kernel_race ROUNDS SHRINK SECONDS KEY…

Every candidate's bits are compared with those of the NumPy idiom before the first round. Short
races go on after ROUNDS, because each of their turns is easily disturbed; where SECONDS for all of
them are too few, each has as many rounds as its share of them holds, from three on. Index check,
wrap of negatives and the copy of data are inside gscli's time.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gscli import kernel
from gscli.frameworks import find_operator
from gscli.kernel import loops
from gscli.kernel.tuning import Tuning
from gscli.plan import infer_layout
from gscli.plan.plan import Plan

from .interleaving import raced, summary
from .kernel_peers import Call, Peer, peers
from .kernel_table import COPY, IDIOM, OWN, PLAIN
from .kernel_workloads import Array, Inputs, Workload, workloads
from .limits import bare_calls, spin_calls

SECONDS, LEAST_ROUNDS, MOST_ROUNDS = 3.0, 3, 31

# Bytes that NumPy, which asks the system for large pages, touches first: all arrays lie there. In
# small pages random cells take up to twice as long, and chance would say whose arrays have them.
HEAP_BYTES = 2 << 30


def gscli_call(workload: Workload, inputs: Inputs, threads: int) -> Call:
    """A whole call: layout, plan, check of all indices, copy of data, kernel."""
    operator, tuning = find_operator(workload.operator), Tuning(threads=threads)

    def call() -> Array:
        layout = infer_layout(operator, inputs, workload.attrs)
        execute = kernel.gather if layout.kind == "gather" else kernel.scatter
        return execute(Plan(layout, inputs).validate(lazy=True), inputs["data"], tuning=tuning)

    return call


def plainly(call: Call) -> Call:
    """The same call without compiled loops."""

    def plain() -> Any:
        kept, loops.library = loops.library, lambda: None
        try:
            return call()
        finally:
            loops.library = kept

    return plain


def copy_call(inputs: Inputs, output: Array) -> Call:
    """The limit: as many bytes copied as the operator must read and write."""
    half = (sum(array.nbytes for array in inputs.values()) + output.nbytes) // 2
    source, target = np.ones(half, np.uint8), np.ones(half, np.uint8)
    return lambda: np.copyto(target, source)


def same_bits(left: Array, right: Array) -> bool:
    """Equal dtype, shape and bytes (the workloads hold no NaN)."""
    alike = left.dtype == right.dtype and left.shape == right.shape
    return alike and left.tobytes() == right.tobytes()


def compared(candidates: Mapping[str, Peer], expected: Array) -> dict[str, bool]:
    """Whose result has the bits of the sequential loop."""
    return {
        name: same_bits(np.asarray(array(call())), expected)
        for name, (call, array) in candidates.items()
    }


def race(
    workload: Workload, rounds: int, shrink: int = 1, seconds: float = math.inf
) -> dict[str, Any]:
    """Wall and CPU seconds of every candidate, and whether its bits are the loop's."""
    end = time.monotonic() + seconds
    inputs = workload.inputs(shrink)
    expected = workload.idiom(inputs)
    candidates = {
        OWN[0]: Peer(gscli_call(workload, inputs, 1)),
        OWN[1]: Peer(gscli_call(workload, inputs, 2)),
        PLAIN: Peer(plainly(gscli_call(workload, inputs, 1))),
        IDIOM: Peer(lambda: workload.idiom(inputs)),
        **peers(workload, inputs),
    }
    exact = compared(candidates, expected)
    prime(3 * (expected.nbytes + sum(array.nbytes for array in inputs.values())))
    timed = {name: timer(peer.call) for name, peer in candidates.items()}
    bare = {**bare_calls(workload, inputs), **spin_calls()}
    timed |= {name: timer(call) for name, call in bare.items()}
    timed[COPY] = timer(copy_call(inputs, expected))
    del expected
    warm = sum(timed[name]()["wall"] for name in timed)
    rounds = max(rounds, min(MOST_ROUNDS, int(SECONDS / warm)))
    if end < math.inf:
        rounds = min(rounds, max(LEAST_ROUNDS, int((end - time.monotonic()) / warm)))
    found = raced(timed, rounds)
    return {
        "key": workload.key,
        "title": workload.title,
        "goal": workload.goal,
        "rounds": rounds,
        "shrink": shrink,
        "exact": exact,
        **{clock: summary(samples) for clock, samples in found.items()},
    }


def prime(size: int) -> None:
    """Touch and free as much memory as the race will hold at a time."""
    np.ones(size, np.uint8)


def timer(call: Call) -> Callable[[], dict[str, float]]:
    """Run once and report the seconds; the result is dropped outside of the time."""

    def timed() -> dict[str, float]:
        cpu, wall = time.process_time(), time.perf_counter()
        result = call()
        found = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        del result
        return found

    return timed


def main() -> None:
    """Print each race as a line of JSON."""
    rounds, shrink, keys = int(sys.argv[1]), int(sys.argv[2]), sys.argv[4:]
    end = time.monotonic() + float(sys.argv[3])
    named = {workload.key: workload for workload in workloads()}
    prime(HEAP_BYTES)
    for number, key in enumerate(keys):
        share = (end - time.monotonic()) / (len(keys) - number)
        print(json.dumps(race(named[key], rounds, shrink, share)), flush=True)


if __name__ == "__main__":
    main()
