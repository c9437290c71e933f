"""tests/vectors/code.json: what the lines of `--code` gave in the real frameworks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import arguments, operator_name
from recording import ROOT
from recording.lines import FILE, run_operator_lines, sampled

from gscli.codegen.code import generate_code
from gscli.codegen.execution import start_snippet_process
from gscli.codegen.native import TARGETS
from gscli.frameworks import find_operator
from gscli.frameworks.execute import execute
from gscli.runtimes.catalogue import TESTED_RELEASES

TABLE: dict[str, dict[str, Any]] = json.loads((ROOT / Path(FILE)).read_text("utf-8"))

# Runs that did not give the output, and why that is not the lines' fault.
KNOWN = {
    "onnx": {
        "caffe2/Gather/dtype/0010": "onnxruntime loses all but the first cell of slices of text",
        "openvino/Gather/8/dtype/0013": "the same",
    },
    "torch": {"torch/embedding_bag/drawn/0018": "a largest is NaN only where that stands first"},
}


@pytest.mark.parametrize("target", TARGETS)
def test_every_operator_was_run_in_its_own_framework(target: str) -> None:
    """In other frameworks it may wait for someone who has them."""
    operators, row = set(sampled(target)), set(TABLE[target]["operators"])
    missing = {name for name in operators - row if name.startswith(f"{target}.")}
    assert not missing, (
        f"no run of their --code in {target}: GSCLI_PYTHONS={target}=PYTHON "
        f"GSCLI_OPERATORS='{' '.join(sorted(missing))}' python tests/record.py code"
    )
    assert row <= operators, "they have no recorded answers any more"


def test_help_tells_the_versions_that_were_run() -> None:
    found = {name: row["version"].partition("+")[0] for name, row in TABLE.items()}
    assert found == {name: version for name, (_, version) in TESTED_RELEASES.items()}


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_called_exact_was_equal(target: str) -> None:
    odd = {
        name: text
        for row in TABLE[target]["operators"].values()
        for name, text in row.get("odd", {}).items()
    }
    assert set(odd) == set(KNOWN.get(target, {})), (
        f"lines that fail or give something else; own calls stand in gscli/codegen/own.py: {odd}"
    )


@pytest.mark.slow
def test_what_onnxruntime_did_not_support_is_said_above_the_lines() -> None:
    notes, known = Counter[str](), Counter[str]()
    for name, cases in sampled("onnx").items():
        known[name] = TABLE["onnx"]["operators"][name]["runs"].get("not supported", 0)
        for case in cases:
            operator = find_operator(operator_name(case))
            plan, output = execute(operator, *arguments(case))
            (answer,) = generate_code(operator, plan, output, [TARGETS["onnx"]]).answers
            notes[name] += answer.verdict != "none" and bool(answer.notes)
    assert notes == known


@pytest.mark.parametrize(
    "count", [1, pytest.param(20, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_what_is_called_exact_is_so_for_other_indices(count: int) -> None:
    """NumPy alone, which is always here; the record has the others."""
    with start_snippet_process("numpy", None) as running:
        rows = {
            name: run_operator_lines("numpy", running, cases[:: -(-len(cases) // count)])
            for name, cases in sampled("numpy").items()
        }
    odd = {name: row["odd"] for name, row in rows.items() if "odd" in row}
    assert not odd, f"lines that are not exact, or a framework's flaw that is not known: {odd}"
    assert sum(row["runs"].get("others", 0) for row in rows.values()) > 500 * count


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_the_record_is_of_what_is_said_today(target: str) -> None:
    for name, cases in sampled(target).items():
        if name not in TABLE[target]["operators"]:
            continue
        said: Counter[str] = Counter()
        for case in cases:
            plan, output = execute(find_operator(name), *arguments(case))
            (answer,) = generate_code(find_operator(name), plan, output, [TARGETS[target]]).answers
            said[answer.verdict + " (composition)" * answer.composed] += 1
        assert dict(said) == TABLE[target]["operators"][name]["said"], (
            f"python tests/record.py code, for {target}: {name}"
        )
