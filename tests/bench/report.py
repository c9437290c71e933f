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
    "gscli's go past the system's cache from 128 MiB on, cp's stay in it; medians (minima):"
)
MARKERS = ("<!-- bench:start -->\n", "<!-- bench:end -->")


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
        f"{machine['versions']}, {machine['way']}. Load {machine['load']}. "
        "Virtual machines share their cores: read the ratios, each of one interleaved race, and "
        "distrust those whose minimum and median differ."
    )


def _legend(rows: Sequence[kernel_table.Row]) -> str:
    against_best = Counter(kernel_table.judged(row)[0] for row in rows)
    against_idiom = Counter(kernel_table.judged(row)[1] for row in rows)
    return (
        "Kernels, data in memory, milliseconds (minimum); index check, wrap of negatives and copy "
        "of data included. *copyto* copies as many bytes as must be read and written; "
        "*bare* is a loop of C that reads the same numbers and touches the same cells without any "
        "check, wrap or copy (limits.c): where gscli takes as long, the limit is the machine's; "
        "ORT is onnxruntime; 1t, 2t are threads; † result differs from the specification's "
        "sequential loop. The best peer is bold. Ratios are of minima, in brackets of medians. A "
        "goal is met where both reach it with two threads, missed where neither does with one "
        "or two. "
        f"Against the best peer: {_counted(against_best)}. "
        f"The plain way, which an install without a C compiler takes, at most "
        f"{kernel_table.IDIOM_GOAL} × NumPy (CPU, 1t): {_counted(against_idiom)}."
    )


def _counted(verdicts: Counter[str]) -> str:
    return ", ".join(f"{verdicts[name]} {name}" for name in ("met", "undecided", "missed"))


def _folded(title: str, table: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{table}\n\n</details>"


def section_replaced(text: str, section: str, markers: tuple[str, str]) -> str:
    """`text` with `section` between two markers.

    >>> section_replaced("a <!-- old --> b", "new", ("<!--", "-->"))
    'a <!--new--> b'
    """
    before, start, rest = text.partition(markers[0])
    _, end, after = rest.partition(markers[1])
    if not (start and end):
        raise ValueError("the markers of the section are missing")
    return before + start + section + end + after


def write_results(results: Results, path: Path = RESULTS) -> None:
    """Put the tables into the page."""
    text = path.read_text(encoding="utf-8")
    path.write_text(section_replaced(text, markdown(results), MARKERS), encoding="utf-8")


if __name__ == "__main__":
    write_results(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
