"""compare says of frameworks without the operation what gives the same there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from shell import call_gscli as gscli

from gscli.cli import run_safely


def test_frameworks_without_the_operation_are_told_what_gives_the_same() -> None:
    told = gscli("compare", "scatter-elements", "[1,2,3]", "[0,2]", "[4,5]").stdout.decode()
    assert "No row for JAX, TensorFlow: gscli has none." in told
    way = "(gscli explain scatter-elements '[1,2,3]' '[0,2]' '[4,5]' --code jax)"
    assert f"The same in JAX: x.at[i], exact for these indices {way}." in told
    assert "The same in TensorFlow: tf.tensor_scatter_nd_update, exact" in told


@pytest.mark.parametrize(
    ("data", "axis", "subscript"), [("[1,2,3]", "0", "x[i]"), ("[[1,2,3]]", "1", "x[:, i]")]
)
def test_a_subscript_names_the_axis_of_the_call(data: str, axis: str, subscript: str) -> None:
    told = gscli("compare", "gather", data, "[[0],[1]]", "--axis", axis).stdout.decode()
    assert "No row for PyTorch index_select and embedding: no such shapes." in told
    assert f"The same in PyTorch: {subscript}, exact" in told


LARGER = "[[10.5,20.5],[30.5,40.5],[50.5,60.5]]"
WAYS = [
    ("take [10,20,30] [0,4]", "take [10,20,30] [0,4] --mode clip"),
    ("scatter-update [[1,2],[3,4]] [0] [[9],[7]] --axis 1",
     "scatter-update [[1,2],[3,4]] [0] [[9],[7]] 1"),
    ("gather [[1,2],[3,4]] [[0],[-1]] --batch-dims 1",
     "openvino gather [[1,2],[3,4]] [[0],[-1]] 1 --batch-dims 1"),
    ("scatter-nd [[1,2]] [[0,1],[0,0]] [9,8] -r sub --as numpy,onnx",
     "numpy subtract-at [[1,2]] [0,0] [1,0] [9,8]"),
    ("take 19 [-1,-3] --as jax,openvino", "jax take 19 [-1,-3] --mode fill"),
    ("gather-elements [1,2] [0] --as onnx,tf --opset 11", "gather-elements [1,2] [0]"),
    (f"scatter-update {LARGER} [0,0,-1] {LARGER} --axis 0",
     f"jax at-set {LARGER} [0,0,-1] {LARGER}"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "way"), WAYS)
def test_the_way_to_an_equivalent_is_the_call_that_is_the_reference(call: str, way: str) -> None:
    unsaid = json.loads(gscli("compare", *call.split(), "--json").stdout)["unsaid"]
    texts = [row["equivalent"] for row in unsaid if row["equivalent"]]
    for text in texts:
        said, command = re.fullmatch(r"(.*) \(gscli (.*)\)", text).groups()
        *words, _, _ = shlex.split(command)
        assert words == ["explain", *way.split()]
        (answer,) = json.loads(gscli(*shlex.split(command), "--json").stdout)["code"]
        verdict = answer["verdict"].replace("differs", "differs for these values")
        composed = " in a composition" * answer["composition"]
        assert said == f"{answer['operation']}{composed}, {verdict}"
    assert texts


def test_the_way_to_an_equivalent_names_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.ones((9, 99), np.float32))
    np.savez("all.npz", indices=np.zeros((1, 2), np.int64), updates=np.ones((1, 2), np.float32))
    words = ("scatter-elements", "x.npy", "all.npz::indices", "all.npz::updates")
    assert run_safely(["compare", *words, "--dtype", "float64", "--axis", "1", "--json"]) == 0
    unsaid = json.loads(capsys.readouterr().out)["unsaid"]
    for label, row in ((row["label"].lower(), row) for row in unsaid):
        way = f"{' '.join(words)} --dtype float64 --axis 1 --code {label}"
        assert row["equivalent"].endswith(f"(gscli explain {way})")
        assert run_safely(["explain", *way.split(), "-q"]) == 0
    assert unsaid


@pytest.mark.parametrize("name", ["tf", "jax"])
def test_what_is_named_is_what_explain_writes(name: str) -> None:
    words = ("[1,2,3]", "[0,2]", "[4,5]")
    done = gscli("compare", "scatter-elements", *words, "--as", f"onnx,{name}", "--json")
    (unsaid,) = json.loads(done.stdout)["unsaid"]
    written = gscli("explain", "scatter-elements", *words, "--code", name, "--json").stdout
    (answer,) = json.loads(written)["code"]
    assert unsaid["equivalent"].startswith(answer["operation"])


def test_an_asked_reduction_that_a_framework_lacks_has_one_too() -> None:
    words = ("scatter-nd", "[1,2,3]", "[[0],[1]]", "[4,5]", "-r", "mul")
    told = gscli("compare", *words).stdout.decode()
    assert "The same in PyTorch: scatter_reduce over rows" in told


def test_nothing_is_written_for_large_inputs_and_where_nobody_answers() -> None:
    large = gscli("compare", "scatter-elements", "zeros:70000", "[0]", "[1]", "--json")
    assert all(one["equivalent"] is None for one in json.loads(large.stdout)["unsaid"])
    refused = gscli("compare", "gather-elements", "[1,2]", "[7]", "--as", "onnx,tf", "--json")
    assert json.loads(refused.stdout)["unsaid"][0]["equivalent"] is None
