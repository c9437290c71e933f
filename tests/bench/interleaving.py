"""Fair turns: every candidate once per round, first in turn, and after each of the others in turn.

On a virtual machine the first to need memory that was free for a while pays slow page faults, and
whoever follows a candidate with the same inputs finds them in the caches. Turns spread both over
all candidates; `PAGES_KEPT` keeps freed pages with the process, which touches them before it
measures.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")

# Environment of a process that measures: large blocks come from the heap and stay there.
PAGES_KEPT = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(1 << 26),
    # A library's waiting threads would spin on the core that the next candidate needs.
    "OMP_WAIT_POLICY": "PASSIVE",
}


def turns(items: Sequence[Item], rounds: int) -> Iterator[Item]:
    """All `items`, `rounds` times; of an even number, each follows each other equally often.

    E. J. Williams' design: near neighbours from both ends, moved on by one in each round.

    >>> "".join(turns("abcd", 4))
    'abdcbcadcdbadacb'
    """
    count = len(items)
    places = [(place + 1) // 2 if place % 2 else -(place // 2) for place in range(count)]
    for number in range(rounds):
        yield from (items[(place + number) % count] for place in places)


def raced(
    candidates: Mapping[str, Callable[[], Mapping[str, float]]], rounds: int
) -> dict[str, dict[str, list[float]]]:
    """Figure -> candidate -> what it was in each round; a candidate measures itself.

    >>> raced({"a": lambda: {"wall": 1.0}}, 2)
    {'wall': {'a': [1.0, 1.0]}}
    """
    found: dict[str, dict[str, list[float]]] = {}
    gc.collect()
    gc.disable()
    try:
        for name in turns(tuple(candidates), rounds):
            for figure, value in candidates[name]().items():
                found.setdefault(figure, {}).setdefault(name, []).append(value)
    finally:
        gc.enable()
    return found


def summary(samples: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """Minimum and median of every candidate.

    >>> summary({"a": [3.0, 1.0, 2.0]})
    {'min': {'a': 1.0}, 'median': {'a': 2.0}}
    """
    return {
        "min": {name: min(values) for name, values in samples.items()},
        "median": {name: statistics.median(values) for name, values in samples.items()},
    }


def verdict(ratios: Sequence[float], goal: float) -> str:
    """Whether the goal is met; undecided where minimum and median (or clocks) disagree.

    >>> verdict([0.9, 0.95], 1.0), verdict([0.9, 1.2], 1.0), verdict([1.1, 1.2], 1.0)
    ('met', 'undecided', 'missed')
    """
    held = [ratio <= goal for ratio in ratios]
    return "met" if all(held) else "undecided" if any(held) else "missed"
