"""Gradients of a million updates into 100,000 cells, as ratios to the call that they are of."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gscli.frameworks import find_operator
from gscli.gradients.call import trace_gradients
from gscli.traces import Trace, trace_call

from .interleaving import raced, summary, verdict

UPDATES, CELLS = 1_000_000, 100_000
GOALS = {"mean": 1.5, "sum": 1.5, "amax": 2.0, "prod": 3.0}
RULES = "loop"


def measured(rounds: int) -> dict[str, Any]:
    """Seconds of the call and of its gradients, for each reduction."""
    rng = np.random.default_rng(7)
    inputs = {
        "input": rng.random(CELLS),
        "index": rng.integers(0, CELLS, UPDATES),
        "src": rng.random(UPDATES) + 0.5,
    }
    candidates = {}
    for reduce in GOALS:
        forward = partial(
            trace_call, find_operator("torch.scatter_reduce"), inputs, {"dim": 0, "reduce": reduce}
        )
        backward = partial(_compute_gradients, forward())
        candidates[f"{reduce} forward"] = partial(_seconds, forward)
        candidates[f"{reduce} backward"] = partial(_seconds, backward)
    return {"rounds": rounds, **summary(raced(candidates, rounds)["wall"])}


def _compute_gradients(trace: Trace) -> object:
    return trace_gradients(trace, None, RULES)


def _seconds(call: Callable[[], object]) -> dict[str, float]:
    begin = time.perf_counter()
    call()
    return {"wall": time.perf_counter() - begin}


def table(result: Mapping[str, Any]) -> str:
    """Milliseconds of both, and their ratio: of minima, in brackets of medians."""
    lines = ["| reduction | call ms | gradients ms | ratio | goal | |", "|---|--:|--:|--:|--:|---|"]
    for reduce, goal in GOALS.items():
        both = [
            (result[figure][f"{reduce} forward"], result[figure][f"{reduce} backward"])
            for figure in ("min", "median")
        ]
        least, median = [back / forth for forth, back in both]
        forth, back = both[0]
        lines.append(
            f"| {reduce} | {forth * 1e3:.1f} | {back * 1e3:.1f} | {least:.2f} ({median:.2f}) "
            f"| {goal} | {verdict([least, median], goal)} |"
        )
    return "\n".join(lines)
