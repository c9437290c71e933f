"""A deliberately wrong runtime: each planted fault is found and told in a few numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from conftest import everyday, slow

from gscli.disk.processes import ProcessSpec
from gscli.runtimes.findings import FuzzFinding, FuzzReport
from gscli.runtimes.fuzz import FuzzOptions, fuzz
from gscli.runtimes.process import RuntimeProcess
from gscli.runtimes.protocol import select_supported
from gscli.runtimes.reports import format_report, format_summary, report_to_dict

WRONG = Path(__file__).parent / "wrong.py"
MOST_CASES = 500
FEW_NUMBERS = 6

# Fault -> an operator that shows it, and the kind of the difference.
FAULTS = {
    "negative_is_zero": ("onnx.gather", "value"),
    "negative_refused": ("onnx.scatter_nd", "refuses"),
    "negative_one_too_far": ("onnx.gather_nd", "value"),
    "off_by_one": ("onnx.gather", "value"),
    "clamped": ("onnx.gather_elements", "answers"),
    "modulo": ("onnx.scatter_elements", "answers"),
    "crash": ("onnx.gather_nd", "crash"),
    "exit": ("onnx.scatter_nd", "crash"),
    "hang": ("onnx.gather", "hang"),
    "memory": ("onnx.gather", "memory"),
    "garbage": ("onnx.gather", "garbage"),
    "flaky": ("onnx.gather", "unsteady"),
    "widened": ("onnx.gather_elements", "dtype"),
    "scalar_to_vector": ("onnx.gather", "shape"),
    "negative_axis_is_first": ("onnx.scatter_elements", "value"),
    "no_batches": ("onnx.gather_nd", "value"),
    "vectors_reversed": ("onnx.gather_nd", "value"),
    "indices_read_flat": ("onnx.gather_elements", "value"),
    "reduction_dropped": ("onnx.scatter_elements", "value"),
    "counted_once": ("onnx.scatter_nd", "value"),
    "first_writer": ("onnx.scatter_nd", "winner"),
    "empty_refused": ("onnx.gather", "refuses"),
    "gradient_not_summed": ("onnx.gather", "gradient"),
    "gradient_negative_is_zero": ("onnx.gather", "gradient"),
    "gradient_every_writer": ("onnx.scatter_nd", "writer"),
    "gradient_ties_to_all": ("onnx.scatter_elements", "tie"),
    "gradient_of_data_kept": ("onnx.scatter_nd", "gradient"),
    "gradient_refused": ("onnx.gather", "gradient-refused"),
    "gradient_sign": ("onnx.scatter_nd", "gradient"),
    "gradient_divides": ("onnx.scatter_elements", "gradient"),
}

# Faults that are found and made small in a moment.
QUICK = {
    "negative_is_zero", "negative_refused", "clamped", "exit", "flaky", "widened",
    "scalar_to_vector", "no_batches", "gradient_not_summed", "gradient_sign",
}  # fmt: skip

# Fault -> the rule that its smallest call has to meet.
TOLD_BY = {
    "negative_is_zero": "negative index",
    "clamped": "index too small",
    "no_batches": "batch axes",
    "indices_read_flat": "axis beyond the first",
    "vectors_reversed": "several numbers in a vector",
    "negative_axis_is_first": "axis from the end",
}


def found_with(
    fault: str,
    operator: str,
    cases: int,
    watch: Callable[[FuzzReport], None] = lambda _report: None,
    *,
    marker: str = "",
) -> FuzzReport:
    command = ProcessSpec((sys.executable, "-S", str(WRONG), fault, marker))
    with RuntimeProcess(
        command, patience=0.3 if fault in ("hang", "slow_once") else 10.0, memory=64 << 20
    ) as runtime:
        operators = select_supported(runtime.start(), [operator])
        wishes = FuzzOptions(
            cases, repeat=3 if fault == "flaky" else 1, has_gradients=fault.startswith("gradient")
        )
        return fuzz(runtime, operators, wishes, on_progress=watch)


def told(report: FuzzReport, fault: str) -> FuzzFinding | None:
    """The smallest call of the kind that a fault shows, told by the rule that it breaks."""
    kind, rule = FAULTS[fault][1], TOLD_BY.get(fault)
    found = [
        one
        for one in report.differences
        if one.mismatch.kind == kind and (rule is None or rule in one.case.distinctions)
    ]
    return min(found, key=lambda one: one.case.cell_count, default=None)


@pytest.mark.parametrize("cases", [60, *slow([300])])
@pytest.mark.parametrize("operator", ["gather", "gather_elements", "gather_nd", "scatter_elements",
                                      "scatter_nd"])  # fmt: skip
def test_without_a_fault_nothing_is_found(operator: str, cases: int) -> None:
    report = found_with("", f"onnx.{operator}", cases)
    assert report.cases == cases
    assert report.failures(strict=False) == []


@pytest.mark.parametrize("cases", [60, *slow([300])])
@pytest.mark.parametrize("operator", ["gather", "gather_nd", "scatter_elements", "scatter_nd"])
def test_without_a_fault_in_gradients_nothing_is_found(operator: str, cases: int) -> None:
    report = found_with("gradients", f"onnx.{operator}", cases)
    assert report.cases == cases
    assert [one.signature for one in report.differences] == []


@pytest.mark.parametrize("fault", everyday(FAULTS, QUICK))
def test_a_planted_fault_is_found_and_made_small(fault: str) -> None:
    def enough(report: FuzzReport) -> None:
        found = told(report, fault)
        if found is not None and found.case.cell_count <= FEW_NUMBERS:
            raise KeyboardInterrupt

    report = found_with(fault, FAULTS[fault][0], MOST_CASES, enough)
    assert report.cases <= MOST_CASES
    smallest = told(report, fault)
    assert smallest is not None
    assert smallest.case.cell_count <= FEW_NUMBERS, smallest.case.command
    assert smallest.case.command.startswith("gscli ")
    text = "\n".join(format_report(report, strict=False))
    assert (fault == "widened") == ("] float32\n    wrong  " in text)


def test_there_are_at_least_seventeen_faults() -> None:
    text = WRONG.read_text("utf-8")
    assert len(FAULTS) >= 17
    assert all(f'"{fault}"' in text for fault in FAULTS)


def test_the_same_seed_finds_the_same() -> None:
    one, other = (found_with("reduction_dropped", "onnx.scatter_nd", 20) for _ in range(2))
    assert [found.signature for found in one.differences] == [
        found.signature for found in other.differences
    ]


def test_a_call_is_not_blamed_for_what_an_earlier_one_did() -> None:
    """Once it read out of range, this runtime ends at whatever it is asked next."""
    report = found_with("spoiled_by_bad_indices", "onnx.gather", 60)
    assert report.restarts > 0
    assert [found.signature for found in report.failures(strict=False)] == ["sequence: crash"]
    assert report.differences[0].calls_before > 0
    lines = "\n".join(format_report(report, strict=False))
    assert "failure: the runtime is wrong after other calls, and right in a new process" in lines
    assert sum(tally["only_after_others"] for tally in report.counts_by_operator.values()) > 0


def test_a_call_that_was_slow_once_is_counted_and_no_difference(tmp_path: Path) -> None:
    report = found_with("slow_once", "onnx.gather", 40, marker=str(tmp_path / "slow"))
    assert report.differences == []
    assert [tally["slow_once"] for tally in report.counts_by_operator.values()] == [1]
    assert "1 too slow once" in "\n".join(format_summary(report, strict=False))
    counts = report_to_dict(report, strict=False)["operators"]["onnx.gather"]  # type: ignore[index]
    assert (counts["cases"], counts["slow_once"], counts["only_after_others"]) == (40, 1, 0)


def test_a_hang_is_told_after_the_time_that_help_names() -> None:
    def enough(report: FuzzReport) -> None:
        if report.differences:
            raise KeyboardInterrupt

    report = found_with("hang", "onnx.gather", MOST_CASES, enough)
    assert "no answer within 0.9 s" in "\n".join(format_report(report, strict=False))
    usage = " ".join(str(import_module("gscli.cli.commands.fuzz").__doc__).split())
    assert "is given three times --patience in a new process before it is a hang" in usage
