"""Start-up: whole processes as ratios to `python -c "import numpy"`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .interleaving import raced, summary, verdict
from .processes import GSCLI, run

BASE = "python -c 'import numpy'"
SCATTER = ("scatter-nd", "[1,2,3,4,5,6,7,8]", "[[4],[3],[1],[7]]", "[9,10,11,12]")
GOALS = {
    "gscli --help": 0.9,
    "8 elements, --json": 1.45,
    "8 elements, into a pipe": 1.45,
    "8 elements, picture on a terminal": 1.8,
}
FIGURES = ("wall", "cpu")


def candidates() -> Mapping[str, Callable[[], Mapping[str, float]]]:
    """The base and the commands with a goal."""
    commands = (
        partial(run, [*GSCLI, "--help"]),
        partial(run, [*GSCLI, *SCATTER, "--json"]),
        partial(run, [*GSCLI, *SCATTER]),
        partial(run, [*GSCLI, *SCATTER, "--color", "always"], terminal=True),
    )
    base = partial(run, [sys.executable, "-c", "import numpy"])
    return {BASE: base, **dict(zip(GOALS, commands, strict=True))}


def measured(rounds: int) -> dict[str, Any]:
    """Wall and CPU seconds of every candidate; the first, uncounted run writes Python's caches."""
    turns = candidates()
    for candidate in turns.values():
        candidate()
    found = raced(turns, rounds)
    return {"rounds": rounds, **{figure: summary(found[figure]) for figure in FIGURES}}


def ratio(result: Mapping[str, Any], name: str, clock: str, figure: str = "median") -> float:
    """To the base, by the wall clock or the CPU's."""
    of: Mapping[str, float] = result[clock][figure]
    return of[name] / of[BASE]


def judged(result: Mapping[str, Any], name: str) -> str:
    """By the medians of both clocks."""
    return verdict([ratio(result, name, clock) for clock in FIGURES], GOALS[name])


def table(result: Mapping[str, Any]) -> str:
    """Ratios of medians, of minima in brackets."""
    lines = ["| command | wall, ratio | CPU, ratio | goal | |", "|---|--:|--:|--:|---|"]
    for name, goal in GOALS.items():
        cells = [
            f"{ratio(result, name, clock):.2f} ({ratio(result, name, clock, 'min'):.2f})"
            for clock in FIGURES
        ]
        cells += [f"{goal}", judged(result, name)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)
