"""Draw calls of a framework's operators, run them there, and write down what it answers.

    PYTHON tests/vectors/record FRAMEWORK [OPERATOR…]  its drawn cases of FRAMEWORK.jsonl, anew
    PYTHON tests/vectors/record FRAMEWORK -n 400 -o F  400 calls of each operator into the file F,
                                                       for `gscli verify F`

PYTHON is one that has the framework. What is drawn depends on seeds alone. Of many calls those are
kept that differ in what they show: the kinds of their items, their types, answer or refusal.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from cases import Operator, case  # found beside this file

DRAWN, KEPT = 200, 24


def drawn(framework: str, operator: Operator, count: int) -> Iterator[dict[str, Any]]:
    """Cases of one operator."""
    rng = random.Random(f"{framework} {operator.name}")
    for number in range(1, count + 1):
        call = operator.draw(rng)
        if call is not None:
            yield case(framework, operator, number, *call)


def covering(cases: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The first case of each kind, KEPT of them."""
    seen: set[str] = set()
    for found in cases:
        attrs = {key: str(value)[:12] for key, value in found["attrs"].items()}
        types = [(tensor["dtype"], len(tensor["shape"])) for tensor in found["inputs"].values()]
        kind = json.dumps([found["expect"], sorted(attrs.items()), types[: len(types) // 2 + 1]])
        if kind not in seen and len(seen) < KEPT:
            seen.add(kind)
            yield found


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("framework")
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    parser.add_argument("-n", type=int, default=0)
    parser.add_argument("-o", default="")
    asked = parser.parse_args()
    module = import_module(f"{asked.framework}_calls")
    names = asked.operators or [operator.name for operator in module.OPERATORS]
    chosen = [operator for operator in module.OPERATORS if operator.name in names]
    if asked.o:
        lines = [
            json.dumps(found, separators=(",", ":"))
            for operator in chosen
            for found in drawn(asked.framework, operator, asked.n or DRAWN)
        ]
        Path(asked.o).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    path = Path(__file__).parents[1] / f"{asked.framework}.jsonl"
    anew = tuple(f'{{"id":"{asked.framework}/{operator.name}/drawn/' for operator in chosen)
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(anew)]
    for operator in chosen:
        count = getattr(module, "DRAWN", DRAWN)
        found = covering(drawn(asked.framework, operator, count))
        kept += [json.dumps(one, separators=(",", ":")) for one in found]
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
