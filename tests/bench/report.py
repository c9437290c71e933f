"""Markdown of what was measured, and its place in RESULTS.md.

python -m tests.bench.report FILE.json     write the tables from kept results
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from . import bigfiles, calls, gradients, kernel_table, startup
from .kernel_workloads import DTYPES, workloads
from .machine import ROOT

Results: TypeAlias = Mapping[str, Any]

RESULTS = ROOT / "tests" / "bench" / "RESULTS.md"
BIG_FILES = (
    "A float32 table in a .npy file, 100,000 rows patched, 1,000,000 rows picked, outputs synced; "
    "gscli's go past the system's cache from 128 MiB on, cp's stay in it, bare writes go as "
    "gscli's; medians (minima):"
)

# Times as long from which a way is called slower than another, by minima and medians.
SLOWER = 1.05
AFTER_TABLES = "## What the tables hold\n"


def markers(kind: str) -> tuple[str, str]:
    """Where the tables of one kind of machine begin and end."""
    return f"<!-- bench: {kind} -->\n", f"<!-- end of {kind} -->"


def markdown(results: Results) -> str:
    """Everything there is, losses too."""
    parts = [_setting(results)]
    kept = results.get("kernels", {})
    rows = [kept[workload.key] for workload in workloads() if workload.key in kept]
    if rows:
        plain = [row for row in rows if not row["key"].endswith(DTYPES)]
        typed = [row for row in rows if row["key"].endswith(DTYPES)]
        parts += [_legend(rows), kernel_table.table(plain)]
        if typed:
            parts.append(_folded("Sums in other types", kernel_table.table(typed)))
    if "startup" in results:
        parts += [
            "Start-up, ratio to `python -c 'import numpy'`, medians (minima):",
            startup.table(results["startup"]),
        ]
    if "calls" in results:
        parts += ["Per call on tiny arrays, minimum (median):", calls.table(results["calls"])]
    if "gradients" in results:
        parts += [
            "Gradients of a million updates into 100,000 cells, as ratios to the call (medians):",
            gradients.table(results["gradients"]),
        ]
    if results.get("bigfiles"):
        parts += [
            BIG_FILES,
            bigfiles.table(results["bigfiles"]),
        ]
    return "\n\n".join(parts) + "\n"


def _setting(results: Results) -> str:
    machine = results["machine"]
    return (
        f"Measured on {machine['date']} with `python -m tests.bench`: {machine['class']}; "
        f"{machine['versions']}, {machine['way']}. Load {machine['load']}."
    )


def _legend(rows: Sequence[kernel_table.Row]) -> str:
    against_best = Counter(kernel_table.judged(row)[0] for row in rows)
    against_idiom = Counter(kernel_table.judged(row)[1] for row in rows)
    return (
        f"Kernels. Against the best peer: {_counted(against_best)}. "
        f"The plain way, at most {kernel_table.IDIOM_GOAL} × NumPy: {_counted(against_idiom)}. "
        f"Slower with two threads than with one: {_named(rows, *kernel_table.OWN[::-1])}. "
        f"Compiled slower than plain: {_named(rows, kernel_table.OWN[0], kernel_table.PLAIN)}."
    )


def _named(rows: Sequence[kernel_table.Row], slower: str, quicker: str) -> str:
    """The rows in which a way takes longer than another, of minima and of medians."""
    keys = [
        row["key"]
        for row in rows
        if all(times[slower] > SLOWER * times[quicker] for times in _times(row))
    ]
    return ", ".join(keys) or "none"


def _times(row: kernel_table.Row) -> list[Mapping[str, float]]:
    return [row["wall"][figure] for figure in kernel_table.FIGURES]


def _counted(verdicts: Counter[str]) -> str:
    return ", ".join(f"{verdicts[name]} {name}" for name in ("met", "undecided", "missed"))


def _folded(title: str, table: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{table}\n\n</details>"


def section_replaced(text: str, section: str, ends: tuple[str, str]) -> str:
    """`text` with `section` between two markers.

    >>> section_replaced("a <!-- old --> b", "new", ("<!--", "-->"))
    'a <!--new--> b'
    """
    before, start, rest = text.partition(ends[0])
    _, end, after = rest.partition(ends[1])
    if not (start and end):
        raise ValueError("the markers of the section are missing")
    return before + start + section + end + after


def write_results(results: Results, path: Path = RESULTS) -> None:
    """Put the tables into the page, in place of those of the same kind of machine."""
    text, kind = path.read_text(encoding="utf-8"), results["machine"]["kind"]
    if markers(kind)[0] not in text:
        section = f"## {kind}\n\n{''.join(markers(kind))}\n\n"
        text = text.replace(AFTER_TABLES, section + AFTER_TABLES)
    path.write_text(section_replaced(text, markdown(results), markers(kind)), encoding="utf-8")


if __name__ == "__main__":
    write_results(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
