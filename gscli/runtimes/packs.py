"""Packs of cases for those who cannot call gscli: recorded cases, or ONNX node-test folders.

A pack is drawn like the calls of `fuzz`, but kept for the rules that its cases meet: first cases
that meet a rule that few others do, then whatever comes. A table tells how many cases meet each
rule, and how many cases of others do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib.resources import files as package_files
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gscli
from gscli import files
from gscli.base import CannotWrite, GscliError, UsageError, check_rule
from gscli.base.records import Record, group_pairs
from gscli.base.words import format_count, sanitize
from gscli.disk.system import write_errors
from gscli.files.content import import_extra
from gscli.files.formats.jsonarray import dump_arrays, dump_json
from gscli.frameworks import find_operator
from gscli.frameworks.operator import Operator
from gscli.lab.calls import dump_call
from gscli.lab.cases import read_cases
from gscli.lab.model_nodes import ForeignNode
from gscli.lab.models import DATA_SET, list_data_sets
from gscli.lab.node_tests import MODEL, find_test_folders, load_inputs, read_test_node
from gscli.runtimes.catalogue import load_shared_module
from gscli.runtimes.generator import generate_cases
from gscli.runtimes.trials import FuzzCase
from gscli.traces import Trace

# Cases that meet each rule before a pack is filled with others.
MIN_CASES_PER_RULE = 2

# Calls drawn for each case of a pack.
CANDIDATES_PER_CASE = 8

# Calls that are drawn at least, and at most where there are fewer cases: each rule is met.
FEWEST_CANDIDATES, MOST_CANDIDATES = 400, 20_000

# Where a folder of node tests has the cases that none can hold.
OTHERS_FILE = "others.jsonl"


class CaseSuite(Record):
    """Cases of one operator, and the rules that it has, whether they meet them or not."""

    operator: Operator
    cases: Sequence[FuzzCase]
    rules: frozenset[str]

    @property
    def cases_by_rule(self) -> dict[str, int]:
        """For each rule how many cases meet it."""
        counts = Counter(rule for trial in self.cases for rule in trial.covered_rules)
        return {rule: counts[rule] for rule in self.rules}


def draw_suite(
    operator: Operator, count: int, seed: int, on_call: Callable[[], object] = int
) -> CaseSuite:
    """Cases of an operator that meet as many rules as can be met; `on_call`: one was drawn."""
    most = max(min(CANDIDATES_PER_CASE * count, MOST_CANDIDATES), FEWEST_CANDIDATES, count)
    drawn: list[FuzzCase] = []
    for call in islice(generate_cases(operator, seed), most):
        drawn.append(call)
        on_call()
    rules = frozenset[str]().union(*(trial.covered_rules for trial in drawn))
    return CaseSuite(operator, _select_cases(drawn, count), rules)


def _select_cases(drawn: Sequence[FuzzCase], count: int) -> list[FuzzCase]:
    """Cases that meet rules which few have met so far, then the first of the others."""
    counts: Counter[str] = Counter()
    kept: list[FuzzCase] = []
    rest: list[FuzzCase] = []
    for trial in drawn:
        rare = any(counts[rule] < MIN_CASES_PER_RULE for rule in trial.covered_rules)
        (kept if rare else rest).append(trial)
        counts.update(trial.covered_rules if rare else ())
    return [*kept, *rest][:count]


def case_to_record(trial: FuzzCase, number: int) -> dict[str, Any]:
    """A call with the rules' answer, in the form of recorded cases; one of these as it is."""
    if trial.record is not None:
        return dict(trial.record.document)
    call = dump_call(trial.operator, trial.inputs, trial.attrs)
    record = {
        "id": f"{call['framework']}/{call['op']}/gscli/{number:04d}",
        "framework": call["framework"],
        "version": f"gscli {gscli.__version__}",
        **call,
        "note": ", ".join(sorted(trial.covered_rules)),
    }
    expected = trial.expected_result
    if isinstance(expected, GscliError):
        expect = "open" if trial.is_unchecked or trial.is_open else "error"
        message = {"type": type(expected).__name__, "message": expected.problem}
        return {**record, "expect": expect, "error": message}
    expect = "open" if trial.is_open else "output"
    record |= {"expect": expect, "output": dump_json(expected.output)}
    if trial.cotangent is not None:
        record["cotangent"] = dump_json(trial.cotangent)
        record["gradients"] = dump_arrays(trial.gradients.compute_expected())
    return record


def format_json_lines(packs: Iterable[Sequence[FuzzCase]]) -> str:
    """Cases as JSON Lines."""
    numbered = (pair for cases in packs for pair in enumerate(cases))
    return "".join(json.dumps(case_to_record(case, at)) + "\n" for at, case in numbered)


def check_node_test_target(folder: str, names: Iterable[str]) -> None:
    """Refuse at once what would end `write_node_tests` after hours of work.

    UsageError for operators that are not ONNX's, CannotWrite where the folder holds something,
    CannotRead without the package onnx, which makes the models.
    """
    strange = [name for name in names if not name.startswith("onnx.")]
    problem = f"node tests hold ONNX operators, not {', '.join(strange[:3])}"
    check_rule(not strange, problem, kind=UsageError, hint="name a .jsonl file: -o cases.jsonl")
    import_extra("onnx", "onnx")
    target = Path(folder)
    with write_errors(sanitize(folder)):
        if target.exists() and any(target.iterdir()):
            problem, hint = "the folder holds something already", "name a new or an empty folder"
            raise CannotWrite(problem, where=sanitize(folder), hint=hint)


def write_node_tests(folder: str, packs: Mapping[str, Sequence[FuzzCase]]) -> int:
    """A folder of ONNX node tests, whole or not at all; returns how many were written.

    A node test has one right output, so that refusals and open results stand as recorded cases in
    OTHERS_FILE beside them. The errors are those of `check_node_test_target`.
    """
    check_node_test_target(folder, packs)
    chosen = {name: list(filter(has_one_output, cases)) for name, cases in packs.items()}
    others = [[case for case in cases if not has_one_output(case)] for cases in packs.values()]
    target = Path(folder)
    with write_errors(sanitize(folder)), ExitStack() as stack:
        target.parent.mkdir(parents=True, exist_ok=True)
        hidden = TemporaryDirectory(
            prefix=f".{target.name}.", dir=target.parent, ignore_cleanup_errors=True
        )
        made = Path(stack.enter_context(hidden))
        for name, cases in chosen.items():
            for number, trial in enumerate(cases):
                _write_node_test(made / f"test_{name.removeprefix('onnx.')}_{number:04d}", trial)
        if any(others):
            (made / OTHERS_FILE).write_text(format_json_lines(others), "utf-8")
        made.chmod(0o755)
        made.replace(target)
    return sum(map(len, chosen.values()))


def has_one_output(trial: FuzzCase) -> bool:
    """Whether a call has one right answer, which a node test can hold."""
    return isinstance(trial.expected_result, Trace) and not trial.is_open


def _write_node_test(folder: Path, trial: FuzzCase) -> None:
    assert isinstance(trial.expected_result, Trace)
    call = dump_call(trial.operator, trial.inputs, trial.attrs)
    wire = call["op"], call["opset"], dict(trial.inputs), call["attrs"]
    model = load_shared_module("onnx_models").one_node(*wire)
    data = folder / f"{DATA_SET}0"
    data.mkdir(parents=True)
    (folder / MODEL).write_bytes(model.SerializeToString())
    for number, array in enumerate(trial.inputs.values()):
        files.save(str(data / f"input_{number}.pb"), array)
    files.save(str(data / "output_0.pb"), trial.expected_result.output)


ONNX_COVERAGE_FILE = "onnx_node_tests.json"


class SuiteCoverage(Record):
    """A pack of cases of one operator: how many, and how many of them meet each of its `rules`."""

    name: str
    cases: int
    rules: Mapping[str, int]


def measure_suites(path: str) -> dict[str, SuiteCoverage]:
    """Cases of others by operator: a folder of ONNX node tests, or a file of recorded cases.

    Node tests of operators that gscli does not have are passed over.
    """
    covered = ((case.operator.full_name, case.covered_rules) for case in _read_cases(path))
    suites, title = group_pairs(covered), sanitize(path)
    return {op: SuiteCoverage(title, len(own), Counter(chain(*own))) for op, own in suites.items()}


def _read_cases(path: str) -> Iterator[FuzzCase]:
    if not Path(path).is_dir():
        for case in read_cases(path):
            yield FuzzCase(find_operator(case.operator), case.inputs, case.attrs)
        return
    for folder in find_test_folders([path]):
        try:
            node = read_test_node(folder / MODEL)
        except ForeignNode:
            continue
        for data_set in list_data_sets(folder):
            yield FuzzCase(node.operator, load_inputs(node, data_set), node.call_attributes)


def load_onnx_coverage() -> dict[str, SuiteCoverage]:
    """What the node tests of a release of onnx meet, recorded by tests/recording/onnx_tests.py."""
    text = package_files("gscli.runtimes").joinpath(ONNX_COVERAGE_FILE).read_text("utf-8")
    record = json.loads(text)
    name = f"node tests of onnx {record['version']}"
    return {
        operator: SuiteCoverage(name, suite["cases"], suite["rules"])
        for operator, suite in record["operators"].items()
    }


def format_coverage_table(
    packs: Iterable[CaseSuite], others: Mapping[str, SuiteCoverage]
) -> Iterator[str]:
    """For each pack its rules, how many of its cases meet each, and how many of another's."""
    for pack in packs:
        other = others.get(pack.operator.full_name)
        counts = pack.cases_by_rule
        rules = {**dict.fromkeys(counts, 0), **(other.rules if other else {})}
        yield f"{pack.operator.full_name}: {_describe_suite(len(pack.cases), counts, len(rules))}"
        if other is not None:
            yield f"  in brackets: {other.name}, {_describe_suite(other.cases, rules, len(rules))}"
        for rule in sorted(rules):
            more = f" ({rules[rule]})" if other else ""
            yield f"  {counts.get(rule, 0):5d}{more:<7}  {rule}".rstrip()


def _describe_suite(cases: int, counts: Mapping[str, int], total: int) -> str:
    covered = sum(count > 0 for count in counts.values())
    return f"{format_count(cases, 'case')}, {covered} of {total} rules"
