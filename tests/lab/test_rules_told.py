"""Rows of the rules: defaults are defaults, and each choice that matters has its row."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest

from gscli import run
from gscli.base import IndexRefused
from gscli.cli import run_safely
from gscli.frameworks import find_operator
from gscli.lab.rules import EXTREME, compute_rules

# What the CPU plugin of OpenVINO 2026.4.1 did with -1 and with the size of the axis as an index of
# three cells, by running each operator: "itself" where the text refuses what it does. ScatterUpdate
# ended the process for -1, and left three cells as they were for 3. ScatterElementsUpdate refused
# 3, and ended the process for -4 and -7.
# TensorFlow 2.21's batch_gather read 3 cells on from the first row, and 1 before the second.
FAR_BELOW = "error (itself: unchecked far below zero)"
DEPARTURES = [
    ("openvino.gather 1 7", *["error (itself: reads 0 or outside data)"] * 2),
    ("openvino.gather 8", "from the end", "reads 0 (itself: reads 0 or outside data)"),
    ("openvino.gather_elements 6", "error (itself: from the end)", "error"),
    ("openvino.gather_nd 5", "error (itself: from the end)", "error (itself: unchecked)"),
    ("openvino.gather_nd 8", "from the end", "error (itself: unchecked)"),
    ("openvino.scatter_update 3", *["error (itself: may write outside data)"] * 2),
    ("openvino.scatter_elements_update 3", "error (itself: from the end)", FAR_BELOW),
    ("openvino.scatter_elements_update 12", "from the end", FAR_BELOW),
    ("openvino.scatter_nd_update 3", "error (itself: from the end)", "error"),
    ("openvino.scatter_nd_update 15", "from the end", "error"),
    ("tensorflow.batch_gather", *["error (itself: may read another row)"] * 2),
]


@pytest.mark.parametrize(("label", "negative", "beyond"), DEPARTURES)
def test_what_a_framework_itself_does_is_told(label: str, negative: str, beyond: str) -> None:
    name, _, versions = label.partition(" ")
    row = next(
        rule for rule in compute_rules([find_operator(name)]) if rule.label.startswith(label)
    )
    assert (row.negative, row.out_of_range) == (negative, beyond), versions


def test_an_axis_that_changes_the_answer_has_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    flat, along = compute_rules([find_operator("torch.take_along_dim")])
    assert (flat.negative, flat.out_of_range) == ("error", "error")
    assert along.variants == ("dim=1",)
    assert (along.negative, along.out_of_range) == ("modulo", "modulo")
    for index in ("[-1]", "[2]"):
        assert run_safely(["torch", "take-along-dim", "[10,20]", index]) == 65
        assert run_safely(["torch", "take-along-dim", "[10,20]", index, "--dim=0", "-q"]) == 0
    capsys.readouterr()


def test_a_choice_of_the_example_is_not_called_the_default() -> None:
    """The example of at.get asks for mode fill; by default it clips."""
    default = compute_rules([find_operator("jax.at.get")])[0]
    assert "default" in default.variants
    assert "mode=fill" not in default.variants
    assert default.out_of_range == "clipped to the last"


def test_numbers_that_follow_an_index_are_judged_with_it() -> None:
    linear, circular = compute_rules([find_operator("onnx.tensor_scatter")])
    assert (linear.negative, linear.out_of_range) == ("error", "error")
    assert (circular.negative, circular.out_of_range) == ("modulo", "modulo")


DEFAULTS = [
    ("jax at-get '[10,20,30]' '[9]'", 30, "clipped to the last"),
    ("jax take '[10.0,20.0]' '[9]'", "nan", f"reads {EXTREME}"),
    ("mxnet take '[10,20,30]' '[9]'", 30, "clipped to the last"),
    ("tf gather '[10,20,30]' '[9]' --device gpu", 0, "reads 0"),
]


@pytest.mark.parametrize(("line", "answer", "told"), DEFAULTS)
def test_what_is_read_outside_by_default_is_told(
    line: str, answer: object, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    framework, command, *words = shlex.split(line)
    assert run_safely([framework, command, *words, "--json=output"]) == 0
    assert json.loads(capsys.readouterr().out)["data"] == [answer]
    found = compute_rules([find_operator(f"{framework} {command}")])
    device = "device=gpu" if "gpu" in line else ""
    row = next(rule for rule in found if any(device in word for word in rule.variants or ("",)))
    assert row.out_of_range == told


def test_a_choice_that_stands_on_another_names_it() -> None:
    """Without its sum of a cell is no mean: only the reduce of the example is."""
    labels = [rule.label for rule in compute_rules([find_operator("torch.scatter_reduce")])]
    assert "torch.scatter_reduce reduce=mean, reduce=mean include_self=false" in labels


@pytest.mark.parametrize(
    ("operator", "number", "outcome"),
    [
        ("gather_elements", -1, "from the end"),
        ("gather_elements", -7, ""),
        ("gather_elements", 3, ""),
        ("gather_elements", (3, -1), ""),
        ("scatter_elements_update", -1, "from the end"),
        ("scatter_elements_update", -7, "unchecked"),
        ("scatter_elements_update", 3, ""),
    ],
)
def test_a_refusal_tells_what_openvino_does_with_its_number(
    operator: str, number: int | tuple[int, int], outcome: str
) -> None:
    """That of the first bad one, which it names."""
    inputs: dict[str, object] = {"data": [1.0, 2.0, 3.0], "indices": np.ravel(number)}
    attrs: dict[str, object] = {"axis": 0}
    if operator == "scatter_elements_update":
        inputs |= {"updates": [9.0], "axis": 0}
        attrs = {"opset": 3}
    with pytest.raises(IndexRefused) as refusal:
        run(f"openvino.{operator}", inputs, attrs)
    assert refusal.value.unchecked == outcome
