"""Per call: what gscli adds to NumPy on tiny arrays, and how many small cases a second it does."""

from __future__ import annotations

import itertools
import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import gscli as package
from gscli.frameworks.numpy import add_at

from .interleaving import raced, summary, verdict
from .machine import ROOT
from .processes import BARE, GSCLI, run

OVER_GOAL, RATE_GOAL = 30.0, 4000.0
CALLS, CASES, SMALL = 100, 4000, 64
RECORDED = ROOT / "tests" / "vectors" / "onnx.jsonl"
Call = Callable[[], Any]

gscli: Any = package  # its operators are looked up when they are asked for


def pairs() -> dict[str, tuple[Call, Call]]:
    """Name -> the same tiny work by gscli and by NumPy."""
    data, rows, updates = np.arange(12.0).reshape(4, 3), np.array([0, 2]), np.ones((2, 3))
    vectors, own, one = rows[:, None], np.array([[0, 1, 2]]), np.ones((1, 3))

    def assigned() -> Any:
        output = data.copy()
        output[vectors[:, 0]] = updates
        return output

    def added() -> Any:
        output = data.copy()
        np.add.at(output, vectors[:, 0], updates)
        return output

    def put() -> Any:
        output = data.copy()
        np.put_along_axis(output, own, one, 0)
        return output

    def added_along() -> Any:
        output = data.copy()
        np.add.at(output, (own, np.arange(3)), one)
        return output

    named = {"data": data, "indices": vectors, "updates": updates}
    return {
        "gather": (lambda: gscli.gather(data, rows), lambda: np.take(data, rows, 0)),
        "gather_elements": (
            lambda: gscli.gather_elements(data, own),
            lambda: np.take_along_axis(data, own, 0),
        ),
        "gather_nd": (lambda: gscli.gather_nd(data, vectors), lambda: data[vectors[:, 0]]),
        "scatter_nd": (lambda: gscli.scatter_nd(data, vectors, updates), assigned),
        "scatter_nd, add": (
            lambda: gscli.scatter_nd(data, vectors, updates, reduction="add"),
            added,
        ),
        "scatter_elements": (lambda: gscli.scatter_elements(data, own, one), put),
        "numpy.add.at": (lambda: add_at(data, rows, updates), added),
        "torch.scatter_add": (
            lambda: package.torch.scatter_add(data, own, one, dim=0),
            added_along,
        ),
        "run": (lambda: gscli.run("onnx.scatter_nd", named), assigned),
    }


def measured(rounds: int) -> dict[str, Any]:
    """Microseconds of both, and cases a second."""
    timed = {
        f"{name} {side}": partial(_microseconds, call)
        for name, both in pairs().items()
        for side, call in zip(("gscli", "numpy"), both, strict=True)
    }
    calls = raced(timed, rounds)["microseconds"]
    return {"rounds": rounds, "calls": summary(calls), "rates": rates(max(rounds // 3, 1))}


def _microseconds(call: Call) -> dict[str, float]:
    """Of the CPU: tiny calls neither wait nor use a second thread."""
    begin = time.process_time()
    for _ in range(CALLS):
        call()
    return {"microseconds": (time.process_time() - begin) / CALLS * 1e6}


def rates(rounds: int) -> dict[str, dict[str, float]]:
    """Command -> cases a second of a whole process, start-up included: the best and the median.

    Beside each its bare loop, which reads and compares, or writes, and knows no rule.
    """
    with TemporaryDirectory() as folder:
        cases, jobs = Path(folder, "cases.jsonl"), Path(folder, "jobs.jsonl")
        cases.write_text("".join(itertools.islice(small_cases(), CASES)), encoding="utf-8")
        jobs.write_text("".join(itertools.islice(small_jobs(), CASES)), encoding="utf-8")
        commands = {
            "verify": partial(run, [*GSCLI, "verify", cases]),
            "batch": partial(run, [*GSCLI, "batch", jobs]),
            "bare verify": partial(run, [*BARE, "verify", cases]),
            "bare batch": partial(run, [*BARE, "batch", jobs]),
        }
        found = raced(commands, rounds)
    return {
        name: {
            "wall": CASES / min(found["wall"][name]),
            "median": CASES / statistics.median(found["wall"][name]),
            "cpu": CASES / min(found["cpu"][name]),
        }
        for name in commands
    }


def small_cases() -> Iterator[str]:
    """Recorded ONNX cases of at most 64 cells in any tensor, over and over."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines(keepends=True)
    return itertools.cycle(line for line in lines if _is_small(json.loads(line)))


def _is_small(case: Mapping[str, Any]) -> bool:
    tensors = [*case["inputs"].values(), *([case["output"]] if "output" in case else [])]
    return all(len(tensor["data"]) <= SMALL for tensor in tensors)


def small_jobs() -> Iterator[str]:
    """One scatter of four numbers after the other, no two alike."""
    for number in itertools.count():
        inputs = {"data": [1, 2, 3, 4], "indices": [[number % 4], [-1]], "updates": [number, 9]}
        yield json.dumps({"id": number, "op": "scatter_nd", "inputs": inputs}) + "\n"


def over(result: Mapping[str, Any], name: str, figure: str) -> float:
    """Microseconds over NumPy's own call."""
    of: Mapping[str, float] = result["calls"][figure]
    return of[f"{name} gscli"] - of[f"{name} numpy"]


def table(result: Mapping[str, Any]) -> str:
    """Both tables."""
    lines = [
        "| call | gscli µs | NumPy µs | over (medians) | goal | |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for name in dict.fromkeys(key.rpartition(" ")[0] for key in result["calls"]["min"]):
        least = result["calls"]["min"]
        both = over(result, name, "min"), over(result, name, "median")
        lines.append(
            f"| `{name}` | {least[f'{name} gscli']:.1f} | {least[f'{name} numpy']:.1f} "
            f"| {both[0]:.1f} ({both[1]:.1f}) | {OVER_GOAL:.0f} | {verdict(both, OVER_GOAL)} |"
        )
    lines += ["", "| command | cases a second (median; by CPU) | goal | |", "|---|--:|--:|---|"]
    for name, rate in result["rates"].items():
        shares = [RATE_GOAL / rate["wall"], RATE_GOAL / rate["cpu"]]
        judged = " | " if name.startswith("bare") else f"{RATE_GOAL:,.0f} | {verdict(shares, 1.0)}"
        figures = f"{rate['wall']:,.0f} ({rate['median']:,.0f}; {rate['cpu']:,.0f})"
        lines.append(f"| `{name}` | {figures} | {judged} |")
    return "\n".join(lines)
