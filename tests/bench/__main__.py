"""The benchmark.

python -m tests.bench                      kernels, start-up, calls, gradients: tables on stdout
python -m tests.bench --only W4,startup    rows whose key begins so, or whole parts
python -m tests.bench --minutes 12         so long for all kernels, with fewer rounds where needed
python -m tests.bench --big 1,2,4,8        big files too, of so many GiB
python -m tests.bench --json FILE          keep the results; what is not run again stays
python -m tests.bench --write              write the tables into RESULTS.md
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from . import bigfiles, calls, gradients, kernel_table, report, startup
from .kernel_workloads import workloads
from .machine import load, machine

ROUNDS, QUICK_ROUNDS, QUICK_SHRINK, BIG_ROUNDS = 7, 3, 4, 5
PROCESS_ROUNDS = 15


def arguments() -> argparse.Namespace:
    """What to run and where to leave it."""
    parser = argparse.ArgumentParser("python -m tests.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of each length, 3 rounds")
    parser.add_argument("--only", default="", help="parts or beginnings of keys: startup,W4,W12")
    parser.add_argument("--rounds", type=int, help="of each race, in place of 7, 15 or 5")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="of all kernels: fewer rounds where needed"
    )
    parser.add_argument("--big", default="", help="sizes of big files in GiB: 1,2,4,8")
    parser.add_argument("--place", type=Path, default=Path(gettempdir()), help="for big files")
    parser.add_argument("--json", type=Path, help="results; updated where it exists")
    parser.add_argument("--write", action="store_true", help="write the tables into RESULTS.md")
    return parser.parse_args()


def main() -> None:
    """Run, print, keep."""
    given = arguments()
    results = kept(given.json)
    wanted = [word for word in given.only.split(",") if word]
    before = load()
    results["machine"] = {**machine(), "load": f"{before:.1f} before"}
    print(f"{results['machine']['kind']}: {results['machine']['way']}")
    for part, key, result, table in measured(given, wanted):
        if key:
            results.setdefault(part, {})[key] = result
        else:
            results[part] = result
        print(table, flush=True)
        results["machine"]["load"] = f"{before:.1f} before, {load():.1f} after"
        if given.json:
            given.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    if given.write:
        report.write_results(results)


def kept(path: Path | None) -> dict[str, Any]:
    """Results of earlier runs."""
    if path is None or not path.exists():
        return {}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def measured(
    given: argparse.Namespace, wanted: list[str]
) -> Iterator[tuple[str, str, Mapping[str, Any], str]]:
    """Part, key within the part, result and its table, one after the other."""
    everything = not wanted or "kernels" in wanted
    keys = [w.key for w in workloads() if everything or w.key.startswith(tuple(wanted or [""]))]
    if keys:
        print(kernel_table.HEADER)
    rounds, shrink = (QUICK_ROUNDS, QUICK_SHRINK) if given.quick else (ROUNDS, 1)
    seconds = given.minutes * 60
    for key, row in kernel_table.measured(keys, given.rounds or rounds, shrink, seconds):
        yield "kernels", key, row, kernel_table.line(row)
    rounds = given.rounds or (QUICK_ROUNDS if given.quick else PROCESS_ROUNDS)
    for part, module in (("startup", startup), ("calls", calls), ("gradients", gradients)):
        if not wanted or part in wanted:
            result = module.measured(rounds)
            yield part, "", result, module.table(result)
    sizes = [int(word) for word in given.big.split(",") if word]
    rounds = given.rounds or (1 if given.quick else BIG_ROUNDS)
    for size, result in bigfiles.measured(sizes, rounds, given.place):
        yield "bigfiles", size, result, bigfiles.table({size: result})


if __name__ == "__main__":
    main()
