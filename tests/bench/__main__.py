"""The benchmark.

python -m tests.bench                      kernels, start-up, calls: tables on stdout
python -m tests.bench --only W4,startup    rows whose key begins so, or whole parts
python -m tests.bench --big 1,2,4,8        big files too, of so many GiB
python -m tests.bench --json FILE          keep the results; what is not run again stays
python -m tests.bench --readme             write the tables into the README
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from . import bigfiles, calls, kernel_table, report, startup
from .kernel_workloads import workloads
from .machine import load, machine

ROUNDS, QUICK_ROUNDS, QUICK_SHRINK, BIG_ROUNDS = 7, 3, 4, 3
PROCESS_ROUNDS = 15
PARTS = ("kernels", "startup", "calls")


def arguments() -> argparse.Namespace:
    """What to run and where to leave it."""
    parser = argparse.ArgumentParser("python -m tests.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of each length, 3 rounds")
    parser.add_argument("--only", default="", help="parts or beginnings of keys: startup,W4,W12")
    parser.add_argument("--big", default="", help="sizes of big files in GiB: 1,2,4,8")
    parser.add_argument("--place", type=Path, default=Path(gettempdir()), help="for big files")
    parser.add_argument("--json", type=Path, help="results; updated where it exists")
    parser.add_argument("--readme", action="store_true", help="write the section of the README")
    return parser.parse_args()


def main() -> None:
    """Run, print, keep."""
    given = arguments()
    wanted = [word for word in given.only.split(",") if word]
    results: dict[str, Any] = {}
    if given.json and given.json.exists():
        results = json.loads(given.json.read_text(encoding="utf-8"))
    before = load()
    results["machine"] = machine()
    rounds = QUICK_ROUNDS if given.quick else PROCESS_ROUNDS
    kernels(results.setdefault("kernels", {}), wanted, quick=given.quick)
    for part, module in (("startup", startup), ("calls", calls)):
        if not wanted or part in wanted:
            results[part] = module.measured(rounds)
            print(module.table(results[part]), flush=True)
    sizes = [int(word) for word in given.big.split(",") if word]
    big = bigfiles.measured(sizes, 1 if given.quick else BIG_ROUNDS, given.place)
    for size, result in big:
        results.setdefault("bigfiles", {})[size] = result
        print(bigfiles.table({size: result}), flush=True)
    results["machine"]["load"] = f"{before:.1f} before, {load():.1f} after"
    if given.json:
        given.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    if given.readme:
        report.write_readme(results)


def kernels(results: dict[str, Any], wanted: list[str], *, quick: bool) -> None:
    """Race the chosen workloads; the order of all stays that of the declarations."""
    everything = not wanted or "kernels" in wanted
    keys = [w.key for w in workloads() if everything or w.key.startswith(tuple(wanted))]
    if keys:
        print(kernel_table.HEADER)
    rounds, shrink = (QUICK_ROUNDS, QUICK_SHRINK) if quick else (ROUNDS, 1)
    for key, row in kernel_table.measured(keys, rounds, shrink):
        results[key] = row
        print(kernel_table.line(row), flush=True)
    ordered = {w.key: results[w.key] for w in workloads() if w.key in results}
    results.clear()
    results.update(ordered)


if __name__ == "__main__":
    main()
