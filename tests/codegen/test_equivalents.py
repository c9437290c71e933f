"""compare says of frameworks without the operation what gives the same there."""

from __future__ import annotations

import json
import re

import pytest
from shell import call_gscli as gscli


def test_frameworks_without_the_operation_are_told_what_gives_the_same() -> None:
    told = gscli("compare", "scatter-elements", "[1,2,3]", "[0,2]", "[4,5]").stdout.decode()
    assert "JAX, TensorFlow cannot say this: no scatter-elements." in told
    way = "(explain scatter-elements … --code jax)"
    assert f"JAX: x.at[i] gives it, exact for these indices {way}." in told
    assert "TensorFlow: tf.tensor_scatter_nd gives it" in told


@pytest.mark.parametrize(
    ("data", "axis", "subscript"), [("[1,2,3]", "0", "x[i]"), ("[[1,2,3]]", "1", "x[:, i]")]
)
def test_a_subscript_names_the_axis_of_the_call(data: str, axis: str, subscript: str) -> None:
    told = gscli("compare", "gather", data, "[[0],[1]]", "--axis", axis).stdout.decode()
    assert "PyTorch index_select and embedding cannot say this: no such shapes." in told
    assert f"PyTorch: {subscript} gives it, exact" in told


def test_the_way_to_an_equivalent_names_the_call_that_is_the_reference() -> None:
    inputs = ("[10,20,30]", "[0,4]")
    told = gscli("compare", "take", *inputs).stdout.decode()
    assert "other than NumPy take (clip)'s" in " ".join(told.split())
    (way,) = re.findall(r"Gather-8 gives it, exact for these indices \((.*)\)", told)
    assert way == "explain take --mode clip … --code openvino"
    before, after = way.split(" … ")
    written = gscli(*before.split(), *inputs, *after.split()).stdout.decode()
    assert "exact for these indices" in written


@pytest.mark.parametrize("name", ["tf", "jax"])
def test_what_is_named_is_what_explain_writes(name: str) -> None:
    words = ("[1,2,3]", "[0,2]", "[4,5]")
    done = gscli("compare", "scatter-elements", *words, "--as", f"onnx,{name}", "--json")
    (unsaid,) = json.loads(done.stdout)["unsaid"]
    written = gscli("explain", "scatter-elements", *words, "--code", name, "--json").stdout
    (answer,) = json.loads(written)["code"]
    assert unsaid["equivalent"].startswith(f"{answer['operation']} gives it, {answer['verdict']}")


def test_an_asked_reduction_that_a_framework_lacks_has_one_too() -> None:
    words = ("scatter-nd", "[1,2,3]", "[[0],[1]]", "[4,5]", "-r", "mul")
    told = gscli("compare", *words).stdout.decode()
    assert "PyTorch: scatter_reduce over rows gives it" in told


def test_nothing_is_written_for_large_inputs_and_where_nobody_answers() -> None:
    large = gscli("compare", "scatter-elements", "zeros:70000", "[0]", "[1]", "--json")
    assert all(one["equivalent"] is None for one in json.loads(large.stdout)["unsaid"])
    refused = gscli("compare", "gather-elements", "[1,2]", "[7]", "--as", "onnx,tf", "--json")
    assert json.loads(refused.stdout)["unsaid"][0]["equivalent"] is None
