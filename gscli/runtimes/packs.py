"""Packs of cases for those who cannot call gscli: recorded cases, or ONNX node-test folders.

A pack is drawn like the calls of `fuzz`, but kept for the rules that its cases meet: first cases
that meet a rule that few others do, then whatever comes. A table tells how many cases meet each
rule, and how many cases of others do.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files as package_files
from itertools import islice
from pathlib import Path
from typing import Any

import gscli
from gscli import files
from gscli.base import CannotWrite, GscliError, UsageError
from gscli.base.records import Record
from gscli.base.words import counted, safe
from gscli.files.extras import extra
from gscli.files.formats.jsonarray import dump_json
from gscli.frameworks import find
from gscli.frameworks.operator import Operator
from gscli.lab.cases import read_cases
from gscli.lab.model_nodes import NotOurs
from gscli.lab.node_tests import folders_below, inputs_of, read_node
from gscli.runtimes.catalogue import part
from gscli.runtimes.generator import trials
from gscli.runtimes.protocol import request, wire_name
from gscli.runtimes.trials import Result, Trial

OFTEN = 2
"""Cases that meet each rule before a pack is filled with others."""

CANDIDATES = 8
"""Calls drawn for each case of a pack."""

FEWEST_CANDIDATES = 400


class Pack:
    """Cases of one operator, and which of its rules they meet."""

    def __init__(self, operator: Operator, count: int, seed: int) -> None:
        drawn = list(islice(trials(operator, seed), max(CANDIDATES * count, FEWEST_CANDIDATES)))
        self.operator = operator
        self.known = Counter(rule for trial in drawn for rule in trial.rules)
        self.trials = _kept(drawn, count)

    @property
    def met(self) -> Counter[str]:
        """For each rule how many cases meet it, the rules that are met by none included."""
        found = Counter(rule for trial in self.trials for rule in trial.rules)
        return Counter({rule: found[rule] for rule in self.known})

    @property
    def covered(self) -> int:
        """How many rules at least one case meets."""
        return sum(count > 0 for count in self.met.values())


def _kept(drawn: Sequence[Trial], count: int) -> list[Trial]:
    """Cases that meet rules which few have met so far, then the first of the others."""
    met: Counter[str] = Counter()
    kept: list[Trial] = []
    rest: list[Trial] = []
    for trial in drawn:
        rare = any(met[rule] < OFTEN for rule in trial.rules)
        (kept if rare else rest).append(trial)
        met.update(trial.rules if rare else ())
    return [*kept, *rest][:count]


def record(trial: Trial, number: int) -> dict[str, Any]:
    """A call with the rules' answer, in the form of recorded cases."""
    asked = request(0, trial.operator, trial.inputs, trial.attrs)
    framework, op = wire_name(trial.operator)
    found = {
        "id": f"{framework}/{op}/gscli/{number:04d}",
        "framework": framework,
        "version": f"gscli {gscli.__version__}",
        **{key: value for key, value in asked.items() if key not in ("id", "framework")},
        "note": ", ".join(sorted(trial.rules)),
    }
    expected = trial.expected
    if isinstance(expected, GscliError):
        expect = "open" if trial.unchecked else "error"
        message = {"type": type(expected).__name__, "message": expected.problem}
        return {**found, "expect": expect, "error": message}
    expect = "open" if _is_open(trial) else "output"
    return {**found, "expect": expect, "output": dump_json(expected.output)}


def _is_open(trial: Trial) -> bool:
    return (
        trial.plan is not None
        and bool(trial.plan.layout.open_order)
        and f"duplicates under {trial.plan.layout.reduction}" in trial.rules
    )


def lines(packs: Iterable[Sequence[Trial]]) -> str:
    """Cases as JSON Lines."""
    return "".join(
        json.dumps(record(trial, number)) + "\n"
        for cases in packs
        for number, trial in enumerate(cases)
    )


def check_node_tests(folder: str, names: Iterable[str]) -> None:
    """Refuse at once what would end `write_node_tests` after hours of work.

    UsageError for operators that are not ONNX's, CannotWrite where the folder holds something,
    CannotRead without the package onnx, which makes the models.
    """
    strange = [name for name in names if not name.startswith("onnx.")]
    if strange:
        raise UsageError(
            f"node tests hold ONNX operators, not {strange[0]}",
            hint="name a .jsonl file: -o cases.jsonl",
        )
    extra("onnx", "onnx")
    target = Path(folder)
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise CannotWrite("the folder holds something already", where=safe(folder))
    except OSError as error:
        raise CannotWrite("the folder cannot be read", where=f"{safe(folder)}: {error}") from None


def write_node_tests(folder: str, packs: Mapping[str, Sequence[Trial]]) -> int:
    """A folder of ONNX node tests, whole or not at all; returns how many were written.

    A node test has one right output, so that refusals and open results are left out. The errors
    are those of `check_node_tests`.
    """
    check_node_tests(folder, packs)
    chosen = {
        name: [trial for trial in cases if _has_one_output(trial)] for name, cases in packs.items()
    }
    target = Path(folder)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise CannotWrite("the folder cannot be made", where=f"{safe(folder)}: {error}") from None
    try:
        for name, cases in chosen.items():
            for number, trial in enumerate(cases):
                _write_node_test(made / f"test_{name.removeprefix('onnx.')}_{number:04d}", trial)
        made.chmod(0o755)
        made.replace(target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return sum(map(len, chosen.values()))


def _has_one_output(trial: Trial) -> bool:
    return isinstance(trial.expected, Result) and not _is_open(trial)


def _write_node_test(folder: Path, trial: Trial) -> None:
    assert isinstance(trial.expected, Result)
    asked = request(0, trial.operator, trial.inputs, trial.attrs)
    model = part("onnx_models").one_node(
        asked["op"], asked["opset"], dict(trial.inputs), asked["attrs"]
    )
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for number, array in enumerate(trial.inputs.values()):
        files.save(str(data / f"input_{number}.pb"), array)
    files.save(str(data / "output_0.pb"), trial.expected.output)


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
    text = package_files("gscli.runtimes").joinpath(OWN_TESTS).read_text("utf-8")
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
