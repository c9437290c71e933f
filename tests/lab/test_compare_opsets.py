"""compare --opset: a row of ONNX for each version, and slices told as slices."""

from __future__ import annotations

import json
from typing import Any

import pytest
from shell import call_gscli as gscli

import gscli.lab.compare as comparing
from gscli.lab.answers import ComparisonResult

ONE = {"data": [1, 2, 3], "indices": [[0], [0], [-1]], "updates": [4, 5, 6]}
CELLS = {"data": [1, 2, 3], "indices": [0, 1, -1], "updates": [4, 5, 6]}


def groups(found: ComparisonResult) -> list[tuple[tuple[str, ...], bool]]:
    """Labels of each group, and whether it answers."""
    return [(group.labels, group.first.output is not None) for group in found.groups]


def test_each_opset_has_a_row_and_alike_ones_stand_together() -> None:
    found = comparing.compare("scatter-nd", ONE, opsets=[11, 13, 18])
    assert groups(found) == [(("ONNX opset 11", "ONNX opset 13", "ONNX opset 18"), True)]
    rows = found.groups[0].rows
    assert [row.trace.attributes["opset"] for row in rows if row.trace] == [11, 13, 18]


def test_what_a_version_lacks_is_its_refusal() -> None:
    found = comparing.compare("scatter-nd", ONE, reduction="max", opsets=[13, 16, 18])
    assert [(labels, answers) for labels, answers in groups(found)] == [
        (("ONNX opset 13",), False), (("ONNX opset 16",), False), (("ONNX opset 18",), True),
    ]  # fmt: skip
    found = comparing.compare("scatter-nd", ONE, reduction="max", opsets=[11, 13])
    assert groups(found) == [(("ONNX opset 11", "ONNX opset 13"), False)], "one reason"
    early = comparing.compare("gather-nd", {"data": [1], "indices": [[0]]}, opsets=[10, 11])
    assert [answers for _, answers in groups(early)] == [False, True]
    assert "needs opset 11" in str(early.groups[0].first.error)


def test_one_reason_of_several_versions_is_told_once_and_of_none_of_them() -> None:
    words = ("scatter-nd", "[1,2]", "[[0]]", "[5]", "--reduction", "max", "--opset", "11,13,16,18")
    lines = gscli("compare", *words).stdout.decode().splitlines()
    (line,) = [line for line in lines if "opset 11" in line]
    assert line.startswith("ONNX opset 11, ONNX opset 13 ")
    assert line.endswith("  reduction needs opset 16")
    assert "1 answer, 2 kinds of refusal by 3 rule sets." in lines


def test_scatter_elements_was_called_scatter() -> None:
    found = comparing.compare("scatter-elements", CELLS, opsets=[9, 11, 18])
    assert groups(found) == [(("ONNX opset 9", "ONNX opset 11", "ONNX opset 18"), True)]
    assert found.groups[0].first.operator.name == "scatter"
    added = comparing.compare("scatter-elements", CELLS, reduction="add", opsets=[10, 18])
    assert [one.label for one in added.unsupported] == ["ONNX opset 10"]


def test_other_frameworks_stand_beside_where_they_are_asked_for() -> None:
    inputs = {"data": [1, 2, 3], "indices": [-1]}
    found = comparing.compare("gather", inputs, opsets=[1, 13], only=["onnx", "torch"])
    assert groups(found) == [
        (("ONNX opset 1", "ONNX opset 13"), True), (("PyTorch index_select",), False),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["x", "11,", "0", "-1", "11,x"])
def test_the_command_takes_numbers(text: str) -> None:
    done = gscli("compare", "gather", "[1,2]", "[0]", "--opset", text)
    assert done.returncode == (0 if text == "11," else 2)
    if text != "11,":
        assert b"opset takes whole numbers" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--opset", "11,99"), b"opset 99 is newer than what gscli knows"),
        (("--opset", "13", "--as", "numpy,tf"), b"which is not among the rule sets"),
    ],
)
def test_versions_that_no_row_has_are_refused(words: tuple[str, ...], says: bytes) -> None:
    done = gscli("compare", "gather", "[1,2]", "[0]", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert says in done.stderr


def test_the_document_says_what_was_asked_for() -> None:
    done = gscli("compare", "gather", "[1,2]", "[0]", "--opset", "1,11,13", "--json")
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["opsets"] == [1, 11, 13]
    assert [row["attrs"]["opset"] for row in document["rows"]] == [1, 11, 13]


def test_differing_slices_are_told_as_slices() -> None:
    updates = json.dumps([[[9] * 12] * 3] * 2)
    words = ("scatter-nd", "zeros:2x3x12:int64", "[[0],[-1]]", updates, "--as", "onnx,tf")
    told = gscli("compare", *words, "--width", "200").stdout.decode()
    assert "output[1,:,:]: 36 times 0 ≠ 36 times 9" in told
    assert "output[1,0" not in told
    holes = json.dumps([[[9] * 4] * 2, [[9, 9, 9, 9], [9, 0, 9, 9]]])
    words = ("scatter-nd", "zeros:2x2x4:int64", "[[0],[-1]]", holes, "--as", "onnx,tf")
    told = gscli("compare", *words, "--width", "200").stdout.decode()
    assert "output[1,:,:] (7 of 8 cells): 0 0 0 0 0 0 0 0 ≠ 9 9 9 9 9 0 9 9" in told
