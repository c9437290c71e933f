"""How many of an operator's rules a pack of cases puts to the test: ours, and those of others."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files as package_files
from pathlib import Path

from gscli.base.records import Record
from gscli.base.words import counted, safe
from gscli.frameworks import find
from gscli.lab.cases import read_cases
from gscli.lab.model_nodes import NotOurs
from gscli.lab.node_tests import folders_below, inputs_of, read_node
from gscli.lab.runtimes.packs import Pack
from gscli.lab.runtimes.trials import Trial

OWN_TESTS = "onnx_node_tests.json"


class Measured(Record):
    """A pack of cases of one operator: how many, and how many of them meet each rule."""

    name: str
    cases: int
    met: Mapping[str, int]


def measured(path: str, name: str = "") -> dict[str, Measured]:
    """Cases of others by operator: a folder of ONNX node tests, or a file of recorded cases.

    Node tests of operators that gscli does not have are passed over.
    """
    met: dict[str, Counter[str]] = defaultdict(Counter)
    cases: Counter[str] = Counter()
    for trial in _trials_of(path):
        cases[trial.operator.full_name] += 1
        met[trial.operator.full_name].update(trial.rules)
    return {one: Measured(name or safe(path), cases[one], met[one]) for one in cases}


def _trials_of(path: str) -> Iterator[Trial]:
    if not Path(path).is_dir():
        for case in read_cases(path):
            yield Trial(find(case.operator), case.inputs, case.attrs)
        return
    for folder in folders_below([path]):
        try:
            node = read_node(folder / "model.onnx")
        except NotOurs:
            continue
        for data_set in sorted(folder.glob("test_data_set_*")):
            attrs = {**node.attrs, "opset": node.opset}
            yield Trial(node.operator, inputs_of(node, data_set), attrs)


def onnx_node_tests() -> dict[str, Measured]:
    """What the node tests of a release of onnx meet, recorded by tests/recording/onnx_tests.py."""
    text = package_files("gscli.lab.runtimes").joinpath(OWN_TESTS).read_text("utf-8")
    record = json.loads(text)
    name = f"node tests of onnx {record['version']}"
    return {
        operator: Measured(name, found["cases"], found["rules"])
        for operator, found in record["operators"].items()
    }


def coverage_table(packs: Iterable[Pack], others: Mapping[str, Measured]) -> Iterator[str]:
    """For each pack its rules, how many of its cases meet each, and how many of another's."""
    for pack in packs:
        other = others.get(pack.operator.full_name)
        met = pack.met
        rules = {**dict.fromkeys(met, 0), **(other.met if other else {})}
        told = f"{len(pack.trials)} cases, {pack.covered} of {len(rules)} rules"
        yield f"{pack.operator.full_name}: {told}"
        if other is not None:
            covered = sum(count > 0 for count in rules.values())
            told = f"{counted(other.cases, 'case')}, {covered} of {len(rules)} rules"
            yield f"  in brackets: {other.name}, {told}"
        for rule in sorted(rules):
            more = f" ({rules[rule]})" if other else ""
            yield f"  {met[rule]:5d}{more:<7}  {rule}".rstrip()
