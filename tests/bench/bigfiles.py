"""Big files: scatter with -o and gather, beside `cp` followed by `sync` of the copy.

gscli's outputs are synced before they replace, so both leave the same durability behind them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .interleaving import raced, summary, verdict
from .processes import BARE, GSCLI, run

WIDTH, PATCHED, PICKED = 64, 100_000, 1_000_000
GIB = 1 << 30
CP, SCATTER, GATHER = "cp; sync", "scatter-nd -o", "gather -o"
WRITES = "bare writes; sync"
GOALS = {SCATTER: 1.0, GATHER: 0.8}
PEAK_GOAL = 100.0


def measured(sizes: list[int], rounds: int, place: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """GiB -> seconds and MiB of each; sizes without room for three such files are left out."""
    for size in sizes:
        if shutil.disk_usage(place).free < (3 * size + 2) * GIB:
            print(f"no room for {size} GiB in {place}")
            continue
        with TemporaryDirectory(dir=place) as folder:
            yield str(size), one(size * GIB, rounds, Path(folder))


def one(size: int, rounds: int, folder: Path) -> dict[str, Any]:
    """The commands on a table of `size` bytes, and a loop that only writes as many."""
    write_inputs(size, folder)
    data, output = folder / "data.npy", folder / "output.npy"
    copied = ["sh", "-c", 'cp "$1" "$2" && sync "$2"', "cp", data, output]
    scatter = ["scatter-nd", data, folder / "vectors.npy", folder / "updates.npy"]
    gather = ["gather", data, folder / "picks.npy"]
    quiet = ["-q", "-o", output, "--max-bytes", str(2 * size)]
    candidates: Mapping[str, Callable[[], Mapping[str, float]]] = {
        CP: partial(_then_removed, copied, output),
        WRITES: partial(_then_removed, [*BARE, "write", output, str(size)], output),
        SCATTER: partial(_then_removed, [*GSCLI, *scatter, *quiet], output),
        GATHER: partial(_then_removed, [*GSCLI, *gather, *quiet], output),
    }
    _then_removed(copied, output)  # the data is in the cache of the disk for all
    found = raced(candidates, rounds)
    peaks = {figure: summary(found[figure])["median"] for figure in ("peak", "private")}
    return {"rounds": rounds, "wall": summary(found["wall"]), "cpu": summary(found["cpu"]), **peaks}


def _then_removed(command: list[Any], output: Path) -> dict[str, float]:
    try:
        return run(command)
    finally:
        output.unlink(missing_ok=True)


def write_inputs(size: int, folder: Path) -> None:
    """A float32 table of `size` bytes, unique rows to patch, rows to pick."""
    rng, rows = np.random.default_rng(7), size // (4 * WIDTH)
    table = np.lib.format.open_memmap(folder / "data.npy", "w+", np.float32, (rows, WIDTH))
    for first in range(0, rows, 1 << 16):
        table[first : first + (1 << 16)] = first
    table.flush()
    count = min(PATCHED, rows)
    np.save(folder / "vectors.npy", rng.choice(rows, count, replace=False)[:, None])
    np.save(folder / "updates.npy", rng.random((count, WIDTH), np.float32))
    np.save(folder / "picks.npy", rng.integers(0, rows, min(PICKED, rows)))


def table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Seconds, ratios of medians (minima in brackets), memory."""
    lines = [
        "| GiB | command | s | to cp | peak MiB (not of files) | goal | |",
        "|--:|---|--:|--:|--:|--:|---|",
    ]
    for size, result in results.items():
        least, middle = result["wall"]["min"], result["wall"]["median"]
        for name in middle:
            both = [middle[name] / middle[CP], least[name] / least[CP]]
            goal, judged = "", ""
            if name in GOALS:
                goal = f"{GOALS[name]}, {PEAK_GOAL:.0f} MiB"
                held = verdict([result["private"][name]], PEAK_GOAL)
                judged = f"{verdict(both, GOALS[name])}, {held}"
            lines.append(
                f"| {size} | `{name}` | {middle[name]:.2f} | {both[0]:.2f} ({both[1]:.2f}) "
                f"| {result['peak'][name]:.0f} ({result['private'][name]:.0f}) "
                f"| {goal} | {judged} |"
            )
    return "\n".join(lines)
