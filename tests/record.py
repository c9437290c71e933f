"""Write everything that is recorded anew: screens of lessons and README, help, refusals, pictures.

    python tests/record.py            everything
    python tests/record.py WHAT…      samples, one lesson (first-look), README, calls, help,
                                      usage, refusals, tables, stubs, code, gradients, backward,
                                      findings, views or compare

Afterwards read `git diff`: a screen that changed is a change people see.
"""

from __future__ import annotations

import sys
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # this checkout, installed or not

from recording import recordings

from gscli.base import GscliError


def wanted(names: list[str]) -> list[str]:
    """The recordings that the words name; all of them when there are no words."""
    known = list(recordings())
    found = {name: [one for one in known if name.rstrip("/") in _names(one)] for name in names}
    for name, matches in found.items():
        if not matches:
            raise SystemExit(f"nothing is recorded as {name!r}; known: {' '.join(known)}")
    chosen = {one for matches in found.values() for one in matches}
    return [one for one in known if one in chosen or not names]


def _names(recording: str) -> set[str]:
    """`samples/00-first-look` is also samples, 00-first-look and first-look."""
    room, _, lesson = recording.partition("/")
    return {recording, room, lesson, lesson.partition("-")[2], f"{room}.md"} - {""}


def record(name: str) -> tuple[list[str], str]:
    """Make one recording anew; the files that changed, and what went wrong."""
    try:
        return recordings()[name].write(), ""
    except (AssertionError, GscliError) as problem:
        return [], f"{name}: {problem}"


def main(names: list[str]) -> int:
    """Record what is named, on every core, and print the files that changed."""
    failed = 0
    with get_context("fork").Pool() as workers:
        for changed, problem in workers.imap_unordered(record, sorted(wanted(names), key=_seconds)):
            print(*changed, *filter(None, [problem]), sep="\n", end="\n" * bool(changed or problem))
            failed += bool(problem)
    return int(failed > 0)


def _seconds(name: str) -> int:
    """What takes longest begins first, so that no core waits for it at the end."""
    return {"README": 0, "samples/41-embedding-table": 1, "refusals": 2}.get(name, 3)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
