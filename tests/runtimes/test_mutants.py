"""More than sixty faults planted in the rules themselves: each is found, named and made small."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import inf
from types import SimpleNamespace
from typing import Any, cast

import pytest
from conftest import everyday
from runtimes.mutants import FAULTS, Mutant

from gscli.base.arrays import Array
from gscli.frameworks import find_operator, operators
from gscli.frameworks.operator import Operator
from gscli.runtimes.findings import FuzzFinding, FuzzReport
from gscli.runtimes.fuzz import FuzzOptions, _iter_cases, fuzz
from gscli.runtimes.process import OutOfTime, RuntimeProcess
from gscli.runtimes.protocol import Hello, Reply

MOST_CASES = 500
FEW_NUMBERS = 6
DAILY = set(list(FAULTS)[2::8])


def fuzzed(mutant: Mutant, name: str, cases: int, watch: object = None) -> FuzzReport:
    def ignore(_report: FuzzReport) -> None:
        pass

    runtime = cast(RuntimeProcess, mutant)
    return fuzz(runtime, [find_operator(name)], FuzzOptions(cases), watch or ignore)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", everyday(FAULTS, DAILY))
def test_a_planted_fault_is_found_named_and_made_small(name: str) -> None:
    fault = FAULTS[name]

    def shows(finding: FuzzFinding) -> bool:
        is_named = fault.word in finding.signature
        is_small = finding.case.cell_count <= FEW_NUMBERS
        return finding.mismatch.kind == fault.kind and is_named and is_small

    def stop_when_shown(report: FuzzReport) -> None:
        if any(map(shows, report.differences)):
            raise KeyboardInterrupt

    report = fuzzed(fault.mutant, fault.operator, MOST_CASES, stop_when_shown)
    assert any(map(shows, report.differences)), [
        (finding.signature, finding.case.command) for finding in report.differences
    ]


def test_there_are_at_least_sixty_faults_over_all_frameworks() -> None:
    assert len(FAULTS) >= 60
    assert {fault.operator.split(".")[0] for fault in FAULTS.values()} == {
        operator.framework_name for operator in operators()
    }


@pytest.mark.parametrize("name", everyday([one.full_name for one in operators()], ["onnx.gather"]))
def test_in_the_right_answerer_nothing_is_found(name: str) -> None:
    find_nothing(name, 500)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["onnx.gather", "onnx.scatter_nd"])
def test_in_the_right_answerer_nothing_is_found_in_many_cases(name: str) -> None:
    find_nothing(name, 5000)


def find_nothing(name: str, cases: int) -> None:
    report = fuzzed(Mutant(), name, cases)
    assert [finding.signature for finding in report.differences] == []
    assert report.cases >= cases


class ShortOfTime(Mutant):
    """A runtime that ends at negative indices; with some call after these time is over."""

    def __init__(self, left: int) -> None:
        super().__init__()
        self.left = left

    def run_call(
        self, operator: Operator, inputs: Mapping[str, Array], attrs: Mapping[str, object],
        _cotangent: Array | None = None,
    ) -> Reply:  # fmt: skip
        is_met = bool((inputs["indices"] < 0).any())
        self.left -= is_met
        if self.left <= 0:
            raise OutOfTime
        return Reply("crash") if is_met else super().run_call(operator, inputs, attrs)


def test_what_was_made_small_before_time_is_over_is_kept() -> None:
    operators, sizes = [find_operator("onnx.gather")], []
    for left in (12, 13):  # the second call that is met has been asked twice then, or three times
        report = fuzz(cast(RuntimeProcess, ShortOfTime(left)), operators, FuzzOptions(99))
        assert len(report.differences) == 2
        sizes.append(report.differences[1].case.cell_count)
    assert sizes[1] < sizes[0]


class Late(Mutant):
    """A runtime on a busy machine: each call takes twice as long as it may."""

    def run_call(self, *call: Any) -> Reply:
        return super().run_call(*call) if self.patience > 2 else Reply("hang")


def test_a_busy_machine_is_given_more_time_before_a_runtime_is_blamed() -> None:
    report = fuzzed(Late(), "onnx.gather", 20)
    assert report.differences == []
    assert report.counts_by_operator["onnx.gather"]["slow_once"] == 20


@pytest.mark.parametrize(
    ("names", "cases", "counts"),
    [
        ("gather scatter_nd", 12, [6, 6]),
        ("gather scatter_nd", 13, [7, 6]),
        ("gather scatter_nd", 60, [36, 24]),
        ("gather scatter_nd gather_nd", 2, [1, 1, 0]),
    ],
)
def test_operators_share_the_calls_where_shapes_are_compiled(
    names: str, cases: int, counts: list[int]
) -> None:
    chosen = [find_operator(f"onnx.{name}") for name in names.split()]
    hello = Hello("r", "1", frozenset(each.full_name for each in chosen), compiles=True)
    runtime = cast("RuntimeProcess", SimpleNamespace(hello=hello, deadline=inf))
    met = Counter(trial.operator for trial in _iter_cases(chosen, FuzzOptions(cases), runtime))
    assert [met[each] for each in chosen] == counts
