"""All workloads, raced in another process, and their table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from .interleaving import PAGES_KEPT, verdict
from .machine import ROOT

Row: TypeAlias = Mapping[str, Any]

OWN, PLAIN, IDIOM, COPY = ("gscli 1", "gscli 2"), "plain 1", "numpy", "copyto"
BARE, SPIN = ("bare 1", "bare 2"), ("spin 1", "spin 2")

# Times as much that two threads must do without memory for a race of two to say anything.
SECOND_CORE = 1.4
IDIOM_GOAL = 1.05
FIGURES = ("min", "median")
COLUMNS = (COPY, *BARE, *OWN, PLAIN, IDIOM, "onnxruntime 1", "onnxruntime 2", "torch 2", "jax")
HEADER = (
    "| | workload | second core | copyto | bare 1t | bare 2t | gscli 1t | gscli 2t | plain 1t "
    "| NumPy | ORT 1t | ORT 2t | torch 2t | jax | plain to NumPy, CPU | gscli 1t to NumPy, CPU "
    "| to the best, 1t | 2t | goal | |\n"
    "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|"
)


def measured(
    keys: Sequence[str], rounds: int, shrink: int, seconds: float
) -> Iterator[tuple[str, Row]]:
    """Race the workloads in one other process, which keeps its memory from race to race."""
    words = [str(number) for number in (rounds, shrink, seconds)]
    command = [sys.executable, "-m", f"{__package__}.kernel_race", *words, *keys]
    environment = os.environ | PAGES_KEPT | {"PYTHONWARNINGS": "ignore"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for key, text in zip(keys, process.stdout, strict=False):
            yield key, json.loads(text)
    if process.returncode:
        raise RuntimeError(f"a race ended with status {process.returncode}")


def best(row: Row, figure: str) -> tuple[str, float]:
    """The fastest other than gscli whose bits are those of the sequential loop."""
    others = {
        name: seconds
        for name, seconds in row["wall"][figure].items()
        if name not in (COPY, PLAIN, *BARE, *SPIN, *OWN) and row["exact"][name]
    }
    name = min(others, key=others.__getitem__)
    return name, others[name]


def to_best(row: Row, name: str) -> list[float]:
    """Wall time to the best: of the minima and of the medians."""
    return [row["wall"][figure][name] / best(row, figure)[1] for figure in FIGURES]


def to_idiom(row: Row, name: str, clock: str) -> list[float]:
    """Time to the NumPy idiom: of the minima and of the medians."""
    return [row[clock][figure][name] / row[clock][figure][IDIOM] for figure in FIGURES]


def second_core(row: Row) -> list[float]:
    """How many times as much two threads did as one, of minima and of medians; maybe unknown."""
    return [
        row["wall"][figure][SPIN[0]] / row["wall"][figure][SPIN[1]]
        for figure in FIGURES
        if SPIN[0] in row["wall"][figure]
    ]


def judged(row: Row) -> tuple[str, str]:
    """Verdicts on the goal against the best, and on that of the plain way against the idiom.

    The idiom has one thread, so that the clock of the CPU compares, which others at work on the
    machine do not advance.
    """
    goal = decided([to_best(row, name) for name in OWN], row["goal"])
    if goal == "missed" and min(second_core(row), default=SECOND_CORE) < SECOND_CORE:
        goal = "undecided"
    return goal, verdict(to_idiom(row, PLAIN, "cpu"), IDIOM_GOAL)


def decided(threads: Sequence[Sequence[float]], goal: float) -> str:
    """Met as gscli comes, with two threads; missed where one thread does not reach it either.

    A second thread on a busy machine says more about the machine, as does one without a core.
    """
    one, two = (verdict(found, goal) for found in threads)
    return "undecided" if two == "missed" != one else two


def table(rows: Sequence[Row]) -> str:
    """Milliseconds (minimum), and ratios of minima with those of medians in brackets."""
    return "\n".join([HEADER, *map(line, rows)])


def line(row: Row) -> str:
    """One line: the best is bold, a dagger marks bits that are not the loop's."""
    fastest, _ = best(row, "min")
    cells = [row["key"].split()[0], row["title"], _pair(second_core(row))]
    for name in COLUMNS:
        seconds = row["wall"]["min"].get(name)
        mark = "" if row["exact"].get(name, True) else "†"
        text = "–" if seconds is None else f"{seconds * 1e3:.1f}{mark}"
        cells.append(f"**{text}**" if name == fastest else text)
    cells += [_pair(to_idiom(row, name, "cpu")) for name in (PLAIN, OWN[0])]
    cells += [_pair(to_best(row, name)) for name in OWN]
    goal, idiom = judged(row)
    slower = {"met": "", "undecided": "; plain slower?", "missed": "; plain slower"}
    cells += [f"{row['goal']:.1f}", goal + slower[idiom]]
    return "| " + " | ".join(cells) + " |"


def _pair(values: Sequence[float]) -> str:
    return f"{values[0]:.2f} ({values[1]:.2f})" if values else "–"
