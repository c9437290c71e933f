"""`gscli grad`: what it prints, writes and refuses, and the causes of another gradient."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from shell import call_gscli

import gscli
from gscli.base import GscliError
from gscli.gradients.call import grad, trace_gradients
from gscli.gradients.conventions import CONVENTIONS, LOOP
from gscli.lab.difference import Tolerance
from gscli.lab.examples import build_probe
from gscli.lab.gradient_causes import find_causes
from gscli.traces import trace, trace_call
from gscli.views.words.formula import Formula

ROWS = [2, 0, 2]
FLOW = [1.0, 2.0, 3.0]

GATHER = ({"data": [1.0, 2.0, 3.0], "indices": ROWS}, {})
GATHER_ND = ({"data": [1.0, 2.0, 3.0], "indices": [[row] for row in ROWS]}, {})
SCATTER_ND = ({"data": FLOW, "indices": [[row] for row in ROWS], "updates": [7.0, 8.0, 9.0]}, {})
TENSOR_SCATTER = (
    {"tensor": FLOW, "indices": [[row] for row in ROWS], "updates": [7.0, 8.0, 9.0]}, {}
)  # fmt: skip
TABLE = ({"input": ROWS, "weight": [[1.0], [2.0], [3.0]]}, {})
LOSSES = ({"input": [[-1.0, -2.0], [-0.5, -1.5]], "target": [1, 0]}, {})
BAGS = ({"input": [0, 1, 2, 2], "weight": [[1.0], [2.0], [3.0]], "offsets": [0, 2]}, {})
SCALED = ({"input": FLOW, "index": [0, 1, 2], "source": FLOW}, {"dim": 0, "alpha": 2})
SEGMENTS = ({"data": [9.0, 4.0, 9.0], "segment_ids": ROWS}, {"num_segments": 3})


def torch_reduce(reduce: str, name: str = "src", **attrs: object) -> tuple[dict, dict]:
    """PyTorch's call in which data and two updates tie for the largest value of cell 2."""
    word = "sum" if reduce == "add" else reduce
    inputs = {"input": [5.0, 0.0, 9.0], "index": ROWS, name: [9.0, 4.0, 9.0]}
    return inputs, {"dim": 0, "reduce": word, **attrs}


def elements(reduction: str) -> tuple[dict, dict]:
    """The same call of ONNX."""
    inputs = {"data": [5.0, 0.0, 9.0], "indices": ROWS, "updates": [9.0, 4.0, 9.0]}
    return inputs, {"reduction": reduction}


PLANTED = [
    ("duplicates are not summed: the last one wins", "onnx.gather", GATHER, "data", [2, 0, 3]),
    ("duplicates are not summed: the last one wins", "onnx.gather_nd", GATHER_ND, "data",
     [2, 0, 3]),
    ("every one of several writers gets it", "onnx.scatter_nd", SCATTER_ND, "updates", [3, 1, 3]),
    ("every one of several writers gets it", "onnx.scatter_elements", elements("none"), "updates",
     [3, 1, 3]),
    ("of several writers the last alone gets it", "tensorflow.tensor_scatter_nd_update",
     TENSOR_SCATTER, "updates", [0, 1, 3]),
    ("of several writers the last alone gets it", "torch.scatter",
     ({"input": FLOW, "index": ROWS, "src": FLOW}, {"dim": 0}), "src", [0, 1, 3]),
    ("data keeps the gradient of cells that were written", "onnx.scatter_nd", SCATTER_ND, "data",
     [1, 2, 3]),
    ("input keeps the gradient of cells that were written", "torch.index_copy",
     ({"input": FLOW, "index": [2, 0], "source": FLOW[:2]}, {"dim": 0}), "input", [1, 2, 3]),
    ("ties go to all, whole", "torch.scatter_reduce", torch_reduce("amax"), "src", [3, 0, 3]),
    ("ties go to all, whole", "tensorflow.unsorted_segment_max", SEGMENTS, "data", [3, 1, 3]),
    ("ties go to the first", "torch.scatter_reduce", torch_reduce("amax"), "src", [0, 0, 0]),
    ("ties go to the first", "tensorflow.unsorted_segment_max", SEGMENTS, "data", [3, 1, 0]),
    ("ties go to the last", "torch.scatter_reduce", torch_reduce("amax"), "src", [0, 0, 3]),
    ("ties go to the last", "tensorflow.unsorted_segment_max", SEGMENTS, "data", [0, 1, 3]),
    ("ties are shared evenly", "onnx.scatter_elements", elements("max"), "updates", [1, 0, 1]),
    ("ties are shared evenly", "openvino.scatter_elements_update",
     ({"data": [5.0, 0.0, 9.0], "indices": ROWS, "updates": [9.0, 4.0, 9.0], "axis": 0},
      {"reduction": "max"}), "updates", [1, 0, 1]),
    ("input that takes no part is not counted among those that share", "torch.scatter_reduce",
     torch_reduce("amax", include_self=False), "src", [1.5, 1, 1.5]),
    ("input that takes no part is not counted among those that share", "torch.index_reduce",
     torch_reduce("amax", "source", include_self=False), "source", [1.5, 1, 1.5]),
    ("it is not divided by how many values met", "torch.scatter_reduce", torch_reduce("mean"),
     "src", [3, 1, 3]),
    ("it is not divided by how many values met", "tensorflow.unsorted_segment_mean", SEGMENTS,
     "data", [3, 1, 3]),
    ("input takes no part", "torch.scatter_reduce", torch_reduce("mean"), "src", [1.5, 1, 1.5]),
    ("input takes part, and is counted", "torch.index_reduce",
     torch_reduce("mean", "source", include_self=False), "source", [1, 0.5, 1]),
    ("input takes part, and is counted", "torch.index_reduce",
     torch_reduce("mean", "source", include_self=False), "input", [0.5, 2, 1]),
    ("the sign is turned", "tensorflow.tensor_scatter_nd_sub", TENSOR_SCATTER, "updates",
     [3, 1, 3]),
    ("the sign is turned", "onnx.gather", GATHER, "data", [-2, 0, -4]),
    ("it is the gradient of input", "torch.scatter_add",
     ({"input": FLOW, "index": ROWS, "src": FLOW}, {"dim": 0}), "src", FLOW),
    ("it is the gradient of data", "onnx.scatter_elements", elements("add"), "updates", FLOW),
    ("skipped entries keep their cotangent", "jax.at.get",
     ({"x": FLOW, "indices_0": [0, 7, 1]}, {"mode": "fill"}), "x", [1, 3, 2]),
    ("skipped entries keep their cotangent", "jax.at.get",
     ({"x": FLOW, "indices_0": [0, 7, 1]}, {}), "x", [1, 3, 2]),
    ("skipped entries keep their cotangent", "tensorflow.unsorted_segment_sum",
     ({"data": FLOW, "segment_ids": [0, -1, 2]}, {"num_segments": 3}), "data", [1, 1, 3]),
    ("negative indices are read as 0", "onnx.gather",
     ({"data": FLOW, "indices": [1, -1, 0]}, {}), "data", [5, 1, 0]),
    ("entries with a negative index are dropped", "onnx.gather",
     ({"data": FLOW, "indices": [1, -1, 0]}, {}), "data", [3, 1, 0]),
    ("entries with an index out of range are dropped", "jax.at.get",
     ({"x": FLOW, "indices_0": [0, 7, 1]}, {"mode": "clip"}), "x", [1, 3, 0]),
    ("indices count from 1", "onnx.gather", ({"data": [1.0] * 4, "indices": [2, 1, 2]}, {}), "data",
     [2, 4, 0, 0]),
    ("indices count from 1", "jax.take",
     ({"a": [1.0] * 4, "indices": np.array([2, 1, 2], np.uint8)}, {}), "a", [2, 4, 0, 0]),
    ("indices count from 1", "torch.scatter_add",
     ({"input": FLOW, "index": [2, 1], "src": FLOW[:2]}, {"dim": 0}), "src", [2, 1]),
    ("row 2 of weight is padding, which is given no gradient", "torch.embedding", TABLE, "weight",
     [[2], [0], [0]]),
    ("row 2 of data is padding, which is given no gradient", "onnx.gather",
     ({"data": FLOW, "indices": [2, 0, 2]}, {}), "data", [2, 0, 0]),
    ("padding is given its gradient as any row is", "torch.embedding",
     (TABLE[0], {"padding_idx": -1}), "weight", [[2], [0], [4]]),
    ("it is called with --reduction sum", "torch.nll_loss", LOSSES, "input", [[0, -1], [-1, 0]]),
    ("it is called with --ignore-index -100", "torch.nll_loss",
     (LOSSES[0], {"ignore_index": 1}), "input", [[0, -0.5], [-0.5, 0]]),
    ("it is called with --mode sum", "torch.embedding_bag", BAGS, "weight", [[1], [1], [4]]),
    ("it is called with --alpha 1", "torch.index_add", SCALED, "source", FLOW),
    ("it is called with --reduction none", "onnx.scatter_elements", elements("add"), "updates",
     [0, 1, 3]),
    ("it is called with --axis 0", "onnx.gather",
     ({"data": [[1.0, 2.0], [3.0, 4.0]], "indices": [0, 0]}, {"axis": 1}), "data",
     [[2, 2], [0, 0]]),
]  # fmt: skip


@pytest.mark.parametrize(("cause", "name", "call", "wanted", "other"), PLANTED)
def test_a_planted_mistake_is_named(
    cause: str, name: str, call: tuple[dict, dict], wanted: str, other: list[float]
) -> None:
    run = trace(name, {key: np.array(value) for key, value in call[0].items()}, call[1])
    flow = np.array(FLOW)[: run.output.size] if run.output.size <= 3 else np.ones(run.output.size)
    gradients = trace_gradients(run, flow.reshape(run.output.shape))
    expected = np.array(other, gradients.arrays[wanted].dtype)
    assert not np.allclose(gradients.arrays[wanted], expected)
    assert cause in find_causes(gradients, wanted, expected, Tolerance())


def test_an_option_is_named_where_no_mistake_in_the_walk_is() -> None:
    run = trace("torch.scatter_reduce", *torch_reduce("mean"))
    found = find_causes(trace_gradients(run), "src", np.ones(3), Tolerance())
    assert found == ["it is not divided by how many values met"]
    gradients = trace_gradients(trace("torch.index_add", *SCALED))
    found = find_causes(gradients, "source", np.ones(3), Tolerance())
    assert found == ["it is called with --alpha 1", "it is the gradient of input"]


def test_data_that_takes_no_part_has_no_gradient_that_is_not_divided() -> None:
    run = trace("torch.scatter_reduce", *torch_reduce("mean", include_self=False))
    found = find_causes(trace_gradients(run), "input", np.ones(3), Tolerance())
    assert "it is not divided by how many values met" not in found


@pytest.mark.parametrize("name", ["onnx.gather", "onnx.gather_nd"])
def test_noise_has_no_cause(name: str) -> None:
    inputs, attrs = GATHER if name == "onnx.gather" else GATHER_ND
    gradients = trace_gradients(trace(name, inputs, attrs), np.array(FLOW))
    assert not find_causes(gradients, "data", np.array([0.3, 7.0, 0.1]), Tolerance())


def test_lists_of_whole_numbers_count_as_floats_in_python_and_in_a_shell(tmp_path: Path) -> None:
    inputs, attrs = {"input": [2, 0], "index": [0, 0], "src": [1.5, 2]}, {"dim": 0}
    arrays = grad("torch.scatter_add", inputs, attrs, cotangent=[3, 1])
    words = (
        "torch",
        "scatter-add",
        "[2,0]",
        "[0,0]",
        "[1.5,2]",
        "--dim",
        "0",
        "--cotangent",
        "[3,1]",
    )
    document = json.loads(call_gscli("grad", *words, "--json").stdout)
    assert {name: array.tolist() for name, array in arrays.items()} == {
        name: tensor["data"] for name, tensor in document["gradients"].items()
    }
    assert arrays["src"].tolist() == [3.0, 3.0]
    assert document["cotangent"]["data"] == [3.0, 1.0]
    saved = call_gscli("grad", *words, "-o", f"src={tmp_path}/g.npy")
    assert saved.returncode == 0
    assert not saved.stdout
    assert np.load(tmp_path / "g.npy").tolist() == [3.0, 3.0]
    assert grad("onnx.gather", {"data": [1, 2], "indices": []})["data"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_an_expected_gradient_of_a_coarser_type_is_met_in_its_last_bits(
    tmp_path: Path, dtype: str
) -> None:
    np.save(tmp_path / "theirs.npy", np.array([1 / 3, 1 / 3], dtype))
    inputs = ("[1.,2]", "[0,0]", "[4.,5]")
    words = ("grad", "torch", "scatter-reduce", *inputs, "--dim", "0", "--reduce", "mean")
    expect = ("--expect", f"src={tmp_path / 'theirs.npy'}", "-q")
    told = call_gscli(*words, *expect)
    assert told.returncode == 0, told.stdout
    assert told.stdout.startswith(b"as expected: the gradient of src, apart by ")
    assert call_gscli(*words, *expect, "--rtol", "1e-14").returncode == 1


def test_expected_gradients_and_strict_decide_the_exit_code() -> None:
    words = ("grad", "torch", "scatter-reduce", "[10,20]", "[0,0]", "[10,3]", "--dim", "0",
             "--reduce", "amax")  # fmt: skip
    assert call_gscli(*words, "--expect", "src=[0.5,0]").returncode == 0
    assert call_gscli(*words, "--expect", "src=[1,0]").returncode == 1
    quiet = call_gscli(*words, "--expect", "src=[1,0]", "-q").stdout
    first = b"1 of 2 cells differs from the expected gradient of src, by 0.5 at most, at [0]\n"
    assert quiet.startswith(first)
    assert b"\n  ties go to all, whole\n" in quiet
    assert call_gscli(*words, "--strict").returncode == 1
    assert call_gscli(*words, "--strict", "--code", "torch").returncode == 1
    assert call_gscli(*words, "--strict", "--rules", "loop").returncode == 0
    told = call_gscli(*words, "--expect", "src=[1,0]", "--json")
    assert json.loads(told.stdout)["expectation"]["causes"][-1] == "ties go to all, whole"


@pytest.mark.parametrize("members", ["input src", "src input", "a b"])
@pytest.mark.parametrize("word", ["g.npz", "g.npz::{}", "input=g.npz", "src=g.npz", "no=g.npz"])
@pytest.mark.parametrize("call", ["scatter-reduce [10,20] [0,0] [10,3] --dim 0 --reduce amax",
                                  "embedding [1,0] [[1.0],[2.0]]"])  # fmt: skip
def test_what_an_expected_gradient_should_be_called_works_as_it_is_advised(
    members: str, word: str, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file of several arrays the one that has the input's name, where there is one."""
    monkeypatch.chdir(tmp_path)
    np.savez("g.npz", **dict.fromkeys(members.split(), np.array([0.5, 0])))
    words = ["grad", "torch", *call.split()]
    told = call_gscli(*words, "--expect", word.format(members.rsplit(maxsplit=1)[-1]))
    if told.returncode == 1:  # embedding has one gradient, which needs no name
        assert "::" in word
        return
    assert told.returncode == 2
    hint = told.stderr.decode().partition("help: ")[2].split()
    assert hint[0] == "--expect"
    if word in ("input=g.npz", "src=g.npz") and "a" not in members and "reduce" in call:
        assert hint[1] == f"{word}::{word.partition('=')[0]}"
    assert call_gscli(*words, *hint).returncode in (0, 1)


@pytest.mark.parametrize("name", ["-x.npz", "-"])
def test_a_member_that_is_advised_for_an_option_needs_no_dashes_before_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("./-x.npz", a=[1.0], b=[2.0])
    content = Path("./-x.npz").read_bytes()
    words = ("gather", "[1.0,2]", "[0]")
    told = call_gscli(*words, "--expect", name, stdin=content)
    assert told.returncode == 2
    hint = told.stderr.decode().partition("help: ")[2].split()
    assert hint == ["--expect", f"{name}::a"]
    assert call_gscli(*words, *hint, stdin=content).returncode == 0


@pytest.mark.parametrize(
    ("words", "begin"), [
    (("at-multiply",), "JAX itself has the gradient of values only with unique_indices=True"),
    (("at-multiply", "--of", "x"), ""),
    (("at-add",), ""),
])  # fmt: skip
def test_json_says_what_the_framework_has_no_gradient_of(
    words: tuple[str, ...], begin: str
) -> None:
    told = call_gscli("grad", "jax", *words, "[1.0,2]", "[0,0]", "[3.0,4]", "--json").stdout
    missing = json.loads(told)["missing"]
    assert missing.startswith(begin)
    assert bool(missing) == bool(begin)


def test_the_limit_is_also_that_of_ties_in_json() -> None:
    words = ("[1.0,2.0,3.0]", "[0,0,1,1]", "[5.0,5.0,6.0,6.0]", "--reduction", "max", "--json")
    told = call_gscli("grad", "scatter-elements", *words, "--limit", "1").stdout
    assert (len(json.loads(told)["ties"]), json.loads(told)["tie_count"]) == (1, 2)


@pytest.mark.parametrize(
    ("words", "problem"), [
    (("[1,2]", "[0]", "--cotangent", "[1,2]"), "the cotangent has another shape"),
    (("[1,2]", "[0]", "--cotangent", "[true]"), "the cotangent is bool"),
    (("[true]", "[0]"), "bool has no gradient"),
    (("[1,2]", "[0]", "--dtype", "float16"), "gradients of float16 are not computed"),
    (("[1,2]", "[0]", "--dtype", "complex64"), "gradients of complex64 are not computed"),
    (("[1,2]", "[0]", "--of", "indices"), "there is no gradient of 'indices'"),
    (("[1,2]", "[0]", "--expect", "x=[1]"), "there is no gradient of 'x'"),
    (("[1,2]", "[0]", "--expect", '["a"]'), "a gradient is no str"),
    (("[1,2]", "[5]"), "index out of range"),
    (("[1.0,2.0]", "[0]", "--quiz", "--html", "x.html"), "gscli grad has no use for it"),
    (("[1,2]", "[0]", "--rules", "torhc"), "--rules does not take"),
    (("[1,2]", "[0]", "--rules", "torch", "--code", "jax"), "--code writes the loop's own"),
    (("[1,2]", "[0]", "--of", "data", "--code", "jax"), "--code prints a program and nothing else"),
])  # fmt: skip
def test_what_has_no_gradient_is_refused(words: tuple[str, ...], problem: str) -> None:
    refused = call_gscli("grad", "gather", *words)
    assert refused.returncode in (2, 65)
    assert not refused.stdout
    assert problem in refused.stderr.decode()


@pytest.mark.parametrize(
    "words", [("gather", '["a"]', "[0]", "str"), ("torch", "one-hot", "[1,0]", "int64")]
)
def test_what_no_type_gives_a_gradient_is_not_told_to_become_a_number(words: list[str]) -> None:
    refused = call_gscli("grad", *words[:-1]).stderr.decode()
    assert f"{words[-1]} has no gradient" in refused
    assert "convert" not in refused


@pytest.mark.parametrize(
    "words",
    [
        ("gather", '{"dtype":"int32","shape":[2],"data":[1,2]}', "[0]"),
        ("tensorflow", "unsorted-segment-mean", '{"dtype":"int8","shape":[2],"data":[1,2]}',
         "[0,0]", "--num-segments=1"),
    ],
)  # fmt: skip
def test_a_type_without_gradient_is_converted_by_the_word_of_its_hint(
    words: tuple[str, ...],
) -> None:
    hint = call_gscli("grad", *words).stderr.decode().rpartition("help: ")[2]
    assert hint == "--dtype float64 converts data and updates, in Python astype('float64')\n"
    assert b"float64 has no" not in call_gscli("grad", *words, *hint.split()[:2]).stderr
    assert call_gscli("grad", *words, *hint.split()[:2]).returncode == 0


def test_a_scaled_update_is_given_so_many_times_the_cotangent() -> None:
    words = ("index-add", "[1.0,2]", "[0,0]", "[5.0,6]", "--dim", "0", "--alpha", "3")
    text = " ".join(call_gscli("grad", "torch", *words).stdout.decode().split())
    assert "goes to every update that was added there, times 3.0, and to input." in text


@pytest.mark.parametrize("values", ["5.0", "[5.0]"])
def test_a_gradient_of_stretched_values_is_drawn_beside_that_of_data(values: str) -> None:
    words = ("grad", "numpy", "setitem", "[1.0,2,3]", "[0,1]", values, "--of", "values")
    for more in ((), ("--step", "1")):
        done = call_gscli(*words, *more)
        assert done.returncode == 0
        assert b"gradient of a  float64 [3]" in done.stdout


def test_one_gradient_of_several_must_be_named() -> None:
    words = ("grad", "scatter-nd", "[1,2]", "[[0]]", "[5.0]")
    for flag in ("-o", "--expect"):
        refused = call_gscli(*words, flag, "[1]" if flag == "--expect" else "a.npy")
        assert refused.returncode == 2
        assert f"{flag} needs the name of an input" in refused.stderr.decode()
    help_words = call_gscli(*words[:2], "--help").stdout.decode().split()
    assert "-o, --expect take NAME=FILE" in " ".join(help_words)
    refused = call_gscli(*words, "--json=output")
    error = json.loads(refused.stderr)["error"]
    assert (error["valid"], error["hint"]) == ("data updates", "--of data")
    assert call_gscli(*words, *error["hint"].split(), "--json=output").returncode == 0
    assert call_gscli(*words, "--of", "data", "--expect", "[0,1]").returncode == 0


def test_the_picture_says_who_is_given_what() -> None:
    words = ("torch", "scatter", "[10,20,30]", "[0,2,0]", "[1.0,2.0,3.0]", "--dim", "0")
    shown = call_gscli("grad", *words).stdout.decode()
    assert "ac:1→0       1  b: 1→0" in shown
    assert "a  c   [0]: 2 writers, c stayed; PyTorch gives each of them the gradient" in shown
    assert "the loop itself gives src [0, 1, 1]: --rules loop" in shown


def test_a_dropped_entry_is_dropped_and_not_its_gradient() -> None:
    words = ("grad", "jax", "at-set", "[[1.5,2.5]]", "[0,9]", "[5.0,6.0]")
    plain = call_gscli(*words, "--plain").stdout.decode().splitlines()
    assert plain[1] == "entry a: indices_0[0] is 0; gradient of values[:] is 1, 1."
    assert plain[2].endswith("9 on axis 0 of size 1 is out of range; the entry is dropped.")
    step = call_gscli(*words, "--step", "2").stdout.decode()
    assert "9 on axis 0 of size 1 is outside, so it is dropped" in step


def test_plain_sentences_say_it_of_every_entry_and_tie() -> None:
    words = ("torch", "scatter-reduce", "[1.0,2,3]", "[0,0,2]", "[5.0,5,7]", "--dim", "0")
    plain = call_gscli("grad", *words, "--reduce", "amax", "--plain").stdout.decode()
    assert plain.splitlines()[1:5] == [
        "entry a: index[0] is 0; gradient of src[0] is 0.5.",
        "entry b: index[1] is 0; gradient of src[1] is 0.5.",
        "entry c: index[2] is 2; gradient of src[2] is 1.",
        "[0]: a, b equal 5; several share it evenly.",
    ]
    words = ("torch", "embedding", "[0,0]", "[[1.0,2]]", "--plain")
    assert call_gscli("grad", *words).stdout.count(b"\nentry ") == 2


@pytest.mark.parametrize(
    ("call", "sentences"),
    [
        ("unsorted-segment-max [3.0,3,1,2] [0,0,0,1]",
         ["segment_ids[0] is 0; gradient of data[0] is 0.5.",
          "segment_ids[2] is 0; gradient of data[2] is 0.",
          "cotangent[1] is read into gradient of data[3], the value is 1."]),
        ("unsorted-segment-mean [[3.0,5],[1,2]] [0,0]",
         ["segment_ids[1] is 0; gradient of data[1,:] is 0.5, 0.5."]),
        ("unsorted-segment-sum [3.0,5] [0,0]",
         ["cotangent[0] is read into gradient of data[1], the value is 1."]),
    ],
)  # fmt: skip
def test_a_share_of_a_cotangent_is_not_read_from_it(call: str, sentences: list[str]) -> None:
    words = ("grad", "tensorflow", *call.split(), "--num-segments", "2", "--plain")
    shown = call_gscli(*words).stdout.decode()
    assert all(sentence in shown for sentence in sentences)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ("jax segment-max [3.0,3,1] [0,0,0] --num-segments 1",
         " a  b   [0]: a, b equal 3; several share it evenly"),
        ("torch scatter-reduce [3.0,1] [0] [3.0] --dim 0 --reduce amax",
         " a   [0]: a and input equal 3; several share it evenly"),
    ],
)  # fmt: skip
def test_every_picture_says_who_shares_a_tie(call: str, line: str) -> None:
    assert line in call_gscli("grad", *call.split()).stdout.decode().splitlines()


def test_a_picture_as_svg_and_as_sentences(tmp_path: Path) -> None:
    words = ("grad", "gather", "[1,2,3]", "[2,2]")
    assert call_gscli(*words, "-q", "--svg", f"{tmp_path}/g.svg").returncode == 0
    root = ET.parse(tmp_path / "g.svg").getroot()
    assert "gradient of data" in " ".join(" ".join(root.itertext()).split())
    plain = call_gscli(*words, "--plain").stdout.decode()
    assert "gradient of data is float64 with shape [3], its values are 0, 0, 2." in plain
    assert "→" not in plain


def test_what_jax_lacks_is_said() -> None:
    words = ("grad", "jax", "at-multiply", "[2,3]", "[0,0]", "[4,5]")
    own = "JAX itself has the gradient of values only with unique_indices=True and no duplicates"
    for more in ((), ("--of", "values"), ("--unique-indices",)):
        assert own in " ".join(call_gscli(*words, *more).stdout.decode().split())
    assert "unique_indices" not in call_gscli(*words, "--of", "x", "--plain").stdout.decode()


def test_the_picture_draws_the_gradient_that_is_named(tmp_path: Path) -> None:
    words = ("grad", "torch", "scatter-add", "[1.0,2]", "[0]", "[3.0]", "--dim", "0")
    for own, other in (("input", "src"), ("src", "input")):
        shown = call_gscli(*words, "--of", own).stdout.decode()
        assert (f"gradient of {own}" in shown, f"gradient of {other}" in shown) == (True, False)
        step = call_gscli(*words, "--of", own, "--step", "1").stdout.decode()
        assert f"gradient of {own}[0] = 1\n" in step
        page = tmp_path / "way.html"
        assert call_gscli("grad", *words[1:], "--of", own, "--html", str(page)).returncode == 0
        for shown in (step, page.read_text()):
            assert (f"g({own})" in shown, f"g({other})" in shown) == (True, False)


def test_a_gradient_that_no_picture_has_is_told_below_it() -> None:
    bags = (
        "grad",
        "torch",
        "embedding-bag",
        "[0,1]",
        "[[0.5],[2.5]]",
        "[0]",
        "[3.0,4]",
        "--mode=sum",
    )
    own = "gradient of per_sample_weights is float64 with shape [2], its values are 0.5, 2.5.\n"
    assert call_gscli(*bags, "--of", "per_sample_weights").stdout.decode().endswith(own)
    assert b"gradient of weight" not in call_gscli(*bags, "--of", "per_sample_weights").stdout
    for form in (("-q", "--svg", "-"), ("--step",)):
        refused = call_gscli(*bags, "--of", "per_sample_weights", *form)
        assert (refused.returncode, b"no figure shows" in refused.stderr) == (2, True)
    fill = ("grad", "torch", "index-fill", "[1.0,2]", "[0]", "--dim", "0", "--value", "9.5")
    for form in ((), ("--plain",), ("--step", "1")):
        assert call_gscli(*fill, *form).stdout.decode().count("gradient of value ") == 1


@pytest.mark.parametrize("rules", ["torch", "loop"])
def test_weights_of_classes_have_no_gradient(rules: str) -> None:
    """PyTorch refuses to compute one; that of the loss itself is not 0."""
    words = ("torch", "nll-loss", "[[0.1,-0.9],[-0.4,-0.6]]", "[1,0]", "[1.0,2.0]")
    shown = call_gscli("grad", *words, "--rules", rules, "--json").stdout
    assert list(json.loads(shown)["gradients"]) == ["input"]


def test_what_an_ignored_entry_is_given_is_no_minus_zero() -> None:
    words = ("torch", "nll-loss", "[[0.1,-0.9],[-0.4,-0.6]]", "[1,-100]")
    shown = call_gscli("grad", *words).stdout.decode()
    assert re.search(r"^ b +1 +-100✗ +\+0 ", shown, re.MULTILINE), shown


def test_whole_numbers_beside_floats_have_no_gradient() -> None:
    data = json.dumps({"dtype": "int8", "shape": [2], "data": [1, 2]})
    words = ("tensorflow", "unsorted-segment-mean", data, "[0,0]", "--num-segments", "1")
    refused = call_gscli("grad", *words)
    assert refused.returncode == 65
    assert b"no input has a gradient" in refused.stderr
    values = json.dumps({"dtype": "float32", "shape": [2], "data": [2, 4]})
    shown = call_gscli("grad", "jax", "at-divide", data, "[0,1]", values)
    assert shown.returncode == 0
    assert b"gradient of values" in shown.stdout
    assert b"gradient of x" not in shown.stdout


FLOAT32 = np.array([1, 2], np.float32)
FLOAT64, INT64 = FLOAT32.astype(np.float64), FLOAT32.astype(np.int64)


@pytest.mark.parametrize(
    ("data", "src", "problem"),
    [
        ([3.0, 3.0], FLOAT32, ""),
        ([3, 3], FLOAT32, ""),
        (FLOAT32, [3, 3], ""),
        (FLOAT64, FLOAT32, "src must have input's element type"),
        ([3.5, 3.0], INT64, "src must have input's element type"),
        (INT64, [3.0, 3.0], "int64 has no gradient"),
    ],
)
def test_what_has_a_type_keeps_it(data: object, src: object, problem: str) -> None:
    inputs = {"input": data, "index": [0, 1], "src": src}
    if problem:
        with pytest.raises(GscliError, match=problem):
            grad("torch.scatter_add", inputs, {"dim": 0})
        return
    arrays = grad("torch.scatter_add", inputs, {"dim": 0})
    assert {array.dtype.name for array in arrays.values()} == {"float32"}


def test_data_that_are_no_first_input_take_the_type_of_the_factors() -> None:
    inputs = {
        "input": INT64 - 1, "weight": [[1.0, 2.0], [3.0, 4.0]], "offsets": [0],
        "per_sample_weights": FLOAT32,
    }  # fmt: skip
    gradients = gscli.grad("torch.embedding_bag", inputs, {"mode": "sum"})
    assert {array.dtype.name for array in gradients.values()} == {"float32"}
    assert gradients["per_sample_weights"].tolist() == [3.0, 7.0]
    inputs |= {"weight": np.ones((2, 2), np.float32), "per_sample_weights": FLOAT64}
    with pytest.raises(gscli.GscliError, match="must have weight's element type"):
        gscli.grad("torch.embedding_bag", inputs, {"mode": "sum"})


def test_python_refuses_as_the_shell_does() -> None:
    with pytest.raises(GscliError, match="unknown rules"):
        gscli.grad("gather", {"data": [1.0], "indices": [0]}, rules="mine")
    with pytest.raises(GscliError, match="no gradient"):
        gscli.grad("gather", {"data": ["a"], "indices": [0]})


@pytest.mark.parametrize(
    ("words", "equation"),
    [
        (("gather", "[1,2]", "[0,1]"), "g(data)[indices[i]] += g(output)[i]"),
        (
            ("torch", "index-add", "[1,2]", "[0,0]", "[3,4]", "--dim", "0", "--alpha", "2"),
            "g(source)[i] = 2 * g(output)[index[i]]",
        ),
        (("numpy", "put", "[1,2,3]", "[0,1]", "[7]"), "g(v).flat[i % 1] += g(output)[ind[i]]"),
        (
            ("tensorflow", "segment-mean", "[1.0,2.0]", "[0,0]"),
            "g(data)[i] = g(output)[segment_ids[i]] / how many values met",
        ),
        (
            ("torch", "embedding-bag", "[[0,1]]", "[[1.0,2.0],[3.0,4.0]]"),
            "g(weight)[input[i,j], k] += share of g(output)[i,k]\nfor i = 0, j = 0 … 1, k =",
        ),
        (("tensorflow", "gather", "[1.0]", "0"), "g(params)[indices] += g(output)\n"),
    ],
)
def test_explain_has_the_formula_of_the_way_back(words: tuple[str, ...], equation: str) -> None:
    shown = call_gscli("explain", *words, "--grad")
    assert shown.returncode == 0
    assert equation in shown.stdout.decode()
    assert "for\n" not in shown.stdout.decode()


def test_what_takes_only_indices_has_no_formula_of_the_way_back() -> None:
    refused = call_gscli("explain", "torch", "one-hot", "[1,0]", "--grad")
    assert refused.returncode == 2
    assert b"no input of one" in refused.stderr
    fill = ("torch", "index-fill", "[1.0,2]", "[0]", "--dim", "0", "--value", "9.5")
    assert b"g(value) += " in call_gscli("explain", *fill, "--grad").stdout


def test_a_formula_stands_alone() -> None:
    for more in (("--code", "numpy"), ("--json",)):
        assert call_gscli("explain", "gather", "[1,2]", "[0,1]", "--grad", *more).returncode == 2


def test_every_operator_has_a_formula_of_the_way_back() -> None:
    for operator in gscli.operators():
        probe = build_probe(operator, {})
        assert probe is not None
        equations = (
            Formula(trace_call(operator, probe.inputs, probe.attrs)).list_gradients(LOOP).values()
        )
        assert equations
        assert all("g(output)" in line for line in equations)


STEPPED = [
    ("torch.scatter", *torch_reduce("sum")),
    ("torch.scatter_reduce", *torch_reduce("amax")),
    ("torch.scatter_reduce", *torch_reduce("prod")),
    ("tensorflow.unsorted_segment_mean", *SEGMENTS),
]


@pytest.mark.parametrize(("name", "inputs", "attrs"), STEPPED, ids=[row[0] for row in STEPPED])
def test_steps_and_the_page_say_the_gradient_of_each_update(
    name: str, inputs: dict, attrs: dict, tmp_path: Path
) -> None:
    attrs = {key: value for key, value in attrs.items() if name != "torch.scatter" or key == "dim"}
    arrays = {key: np.array(value) for key, value in inputs.items()}
    updates = "src" if "src" in arrays else "data"
    own = gscli.grad(name, arrays, attrs)[updates]
    framework, _, operator = name.partition(".")
    words = [framework, operator.replace("_", "-"), *map(json.dumps, inputs.values())]
    words += [f"--{key.replace('_', '-')}={value}" for key, value in attrs.items()]
    page = tmp_path / "way.html"
    screen = call_gscli("grad", *words, "--step", "all", "--html", str(page)).stdout.decode()
    frames = screen.split("step ")[1:]
    assert len(frames) == own.size
    facts = json.loads(re.search(r'class="facts">(.*?)</script>', page.read_text())[1])
    for number, value in enumerate(own):
        frame = " ".join(frames[number].split())
        assert f"gradient of {updates}[{number}] = {value:.4g}" in frame
        assert f"g({updates})[i] = " in frame
        assert ("input" in inputs) == ("g(input) = " in frame)
        assert float(facts["entries"][number]["value"]) == pytest.approx(value, abs=1e-4)
    assert "grad " in page.read_text()


@pytest.mark.parametrize(
    ("words", "sentences"),
    [
        (
            ("nll-loss", "[[-1.0,-2.0],[-3.0,-4.0]]", "[0,1]", "[1,3]"),
            ["shares is float64 with shape [2], its values are -0.25, -0.75."],
        ),
        (
            ("embedding-bag", "[0,2]", "[[1.0,1],[2,2],[3,3]]", "[0]", "--padding-idx=0"),
            ["shares[0,:] is not used.", "shares[1,:] is added to gradient of weight[2,:]"],
        ),
    ],
)
def test_what_cells_of_a_fold_have_is_not_the_cotangent(
    words: tuple[str, ...], sentences: list[str], tmp_path: Path
) -> None:
    """Which has the shape of the output: an entry's share has the number of the entry."""
    page = tmp_path / "way.html"
    assert call_gscli("grad", "torch", *words, "-q", "--html", str(page)).returncode == 0
    text = page.read_text()
    assert "share of g(output)" in text
    assert all(sentence in text for sentence in sentences)
    assert "cotangent[" not in text


@pytest.mark.parametrize("operator", ["scatter", "scatter-add"])
def test_gradients_of_updates_appear_as_the_steps_reach_them(operator: str, tmp_path: Path) -> None:
    words = ("torch", operator, "[1.0,2,3]", "[1,1,2]", "[5.0,6,7]", "--dim=0")
    words += ("--cotangent=[10,20,30]",)
    rows, step_0 = [], call_gscli("grad", *words, "--step", "0").stdout.decode()
    screen = call_gscli("grad", *words, "--step", "all").stdout.decode()
    for frame in [step_0, *screen.split("step ")[1:]]:
        lines = re.findall(r"^ [abc]  +\d +\+?(·|\d+)(?= |$)", frame, re.MULTILINE)
        rows.append(lines)
    shown = ["20", "20", "30"]
    assert rows == [shown[:count] + ["·"] * (3 - count) for count in range(4)]
    assert "·" not in call_gscli("grad", *words).stdout.decode()
    picture = tmp_path / "way.svg"
    assert call_gscli("grad", *words, "--step", "2", "--svg", str(picture)).returncode == 0
    tips = re.findall(r'd="M([\d.]+) [\d.]+l([-\d]+) -[46]', picture.read_text())
    starts = re.findall(r'd="M([\d.]+) [\d.]+L', picture.read_text())
    assert [back for _, back in tips] == ["6"]  # to the left, where the gradient stands
    assert float(tips[0][0]) < float(starts[0])


def test_a_page_of_gathers_adds_up_step_by_step(tmp_path: Path) -> None:
    page = tmp_path / "way.html"
    words = ("gather", "[1.0,2.0,3.0]", "[2,0,2]", "--cotangent", "[1,10,100]")
    screen = call_gscli("grad", *words, "--step", "all", "--html", str(page)).stdout.decode()
    assert "gradient of data[2]: 1 + 100 = 101, again after a" in screen
    assert "gradient of data starts as 0 everywhere." in page.read_text()
    facts = json.loads(re.search(r'class="facts">(.*?)</script>', page.read_text())[1])
    sums = [entry["sum"] for entry in facts["entries"]]
    assert sums == ["0 + 1 = 1", "0 + 10 = 10", "1 + 100 = 101"]


def test_a_program_of_the_loop_says_where_the_framework_differs() -> None:
    words = ("grad", "torch", "embedding", "[0,2]", "[[1.0],[2.0],[3.0]]", "--code", "torch")
    note = b"# The loop's own gradients; PyTorch gives others here.\n"
    for more in ("--padding-idx=1", "--padding-idx=0", "--padding-idx=-3", "--rules=loop"):
        program = call_gscli(*words, more).stdout
        assert program.startswith(note) is more.endswith(("=0", "-3")), more
    ties = ("[5.0]", "[0]", "[5.0]", "--dim=0", "--reduce=amax", "--code=all")
    assert call_gscli("grad", "torch", "scatter-reduce", *ties).stdout.count(note) == 2


def test_a_program_of_a_gather_speaks_of_no_update() -> None:
    program = call_gscli("grad", "gather", "[1.0,2.0]", "[1]", "--code", "jax").stdout.decode()
    assert "The number of the cell of each output; -1 for none." in program
    assert "each update" not in program


def test_every_writer_of_mxnet_is_given_the_gradient_as_its_gather_nd_reads_it() -> None:
    inputs = {"data": np.array([1.0, 2]), "indices": np.array([[0, 0]])}
    assert grad("mxnet.scatter_nd", inputs, {"shape": (2,)})["data"].tolist() == [1, 1]
    lacking = call_gscli("grad", "caffe2", "scatter-assign", "[1.5,2]", "[0]", "[4.5]")
    assert b"Caffe2 itself has no gradient of Scatter and ScatterAssign" in lacking.stdout


def test_rules_have_a_row_for_each_convention() -> None:
    table = call_gscli("rules", "--grad").stdout.decode().splitlines()
    assert [line.split()[0] for line in table] == ["rules", *CONVENTIONS, "mxnet", "caffe2"]
    assert table[-2].split() == ["mxnet", "–", "all", "–", "–", "batch_take"]
    own = call_gscli("rules", "torch", "scatter-reduce", "--grad").stdout.decode().splitlines()
    assert [line.split()[0] for line in own] == ["rules", "loop", "torch"]
    document = json.loads(call_gscli("rules", "--grad", "--json").stdout)
    assert document["torch"]["ties"] == "even"
    assert document["loop"]["ties"] == "first"
    for_slides = call_gscli("rules", "--grad", "--markdown").stdout.decode().splitlines()
    assert "| `jax` | even | last | gives 0 | – | mul, div, pow |" in for_slides


def test_a_window_without_cells_passes_nothing_back() -> None:
    inputs = {"a": np.ones((1, 2)), "b": np.ones((1, 1))}
    own = grad("numpy.multiply.at", inputs, {"subscript": "2:, :"})
    assert own["a"].tolist() == [[1, 1]]
    assert own["b"].tolist() == [[0]]


@pytest.mark.parametrize("inputs", [
    ("jax", "at-max", "zeros:0:float64", "[0]", "2.0", "--mode=drop"),
    ("jax", "segment-max", "zeros:2x0:float32", "[-3,-5]", "--mode=fill", "--num-segments=4"),
    ("torch", "nll-loss", "[[2.0,-1.0]]", "[0]", "--ignore-index=0"),
    ("jax", "at-multiply", "[1.0,2]", "[0,0]", "[1e30,1e30]", "--dtype=float32"),
])  # fmt: skip
def test_nothing_flows_back_from_calls_that_take_nothing(inputs: tuple[str, ...]) -> None:
    done = call_gscli("grad", *inputs)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"gradient of" in done.stdout


def test_a_gradient_of_updates_that_several_entries_take_is_drawn_as_they_are_fitted() -> None:
    words = ("jax", "segment-min", "[[[2.0,-1.0],[0.0,-1.0]]]", "[[1,0]]", "--num-segments=3")
    done = call_gscli("grad", *words)
    assert done.returncode == 0, done.stderr.decode()
    assert b"gradient of data as fitted" in done.stdout
    assert b"gradient of data is float64 with shape [1,2,2]" in done.stdout


NOT_A_NUMBER = '{"dtype":"float64","shape":[1],"data":["nan"]}'
INFINITE = '{"dtype":"float64","shape":[2],"data":["-inf","-inf"]}'


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("torch scatter-reduce [10.0,20] [0,0] [10.0,10] --dim 0 --reduce amax --no-include-self",
         "a, b and input equal 10; several share it evenly, but input takes no part and is given"),
        ("torch scatter-reduce [10.0,20] [0] [10.0] --dim 0 --reduce amin --no-include-self",
         "a and input equal 10; several share it evenly, but input takes no part and is given"),
        ("torch scatter-reduce [1.0,20] [0,0] [10.0,10] --dim 0 --reduce amax --no-include-self",
         "a, b equal 10; several share it evenly."),
        ("scatter-elements [5.0,1] [0,0] [5.0,5] --reduction max",
         "a, b and data, which comes first, equal 5; the first of several gets it."),
        ("jax segment-max " + INFINITE + " [0,0] --num-segments 1",
         "a, b and what it starts with equal -inf; several share it evenly."),
        ("jax segment-max " + INFINITE + " [0,0] --num-segments 1 --rules loop",
         "a, b and what it starts with, which comes first, equal -inf; the first of several gets"),
        ("jax segment-max " + INFINITE + " [0,0] --num-segments 1 --rules torch",
         "[0]: a, b equal -inf; several share it evenly."),
        ("scatter-nd [1.0,2] [[1],[1]] [5.0,6] --rules torch",
         "b stayed; PyTorch gives each of them the gradient"),
    ],
)  # fmt: skip
def test_who_shares_a_cell_is_told_of_the_convention(call: str, sentence: str) -> None:
    """PyTorch 2.13 gives a and b a third each beside data of 10, and a half beside data of 1."""
    shown = call_gscli("grad", *call.split(), "--plain").stdout.decode()
    assert sentence in " ".join(shown.split())


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("torch embedding [0,2] [[1.0],[2],[3]] --padding-idx 0",
         "cotangent that is not dropped is"),
        ("torch embedding [0,2] [[1.0],[2],[3]]", "Each cotangent is added to the cell of weight"),
        ("jax at-get [10.0,20] [-9] --no-wrap-negative-indices",
         "cotangent that is not dropped is"),
        ("torch scatter-reduce [1.0] [0] " + NOT_A_NUMBER + " --dim 0 --reduce amax",
         "several share it evenly. Where that is nan, all that met there are given nan."),
        ("tensorflow tensor-scatter-nd-max " + NOT_A_NUMBER + " [[0]] [1.0]",
         "several share it evenly. Where that is nan, all that met there are given nan."),
        ("jax at-max [1.0] [0] " + NOT_A_NUMBER,
         "Where that is nan nothing equals it, and nothing is given it. entry a"),
        ("jax at-max [1.0] [0] [7.0]", "several share it evenly. entry a"),
        ("torch scatter-reduce [1.0] [0] [2.0] --dim 0 --reduce amax", "share it evenly. entry a"),
        ("jax at-power [3.0] [0] [2.0]", "goes to x and to each update by the rule of powers."),
        ("jax at-divide [3.0] [0] [2.0]", "goes to x over the product of updates, and to each"),
        ("jax at-get [10.0,20] [-9] --mode clip", "Each cotangent is added to the cell of x"),
        ("torch index-reduce [2.0,2] [0] " + INFINITE.replace("2]", "1]").replace('"-inf",', "")
         + " --reduce prod --dim 0",
         "the loop itself gives source [2], for it divides by no factor: --rules loop"),
    ],
)  # fmt: skip
def test_what_flows_is_said_of_what_flows(call: str, sentence: str) -> None:
    shown = call_gscli("grad", *call.split(), "--plain").stdout.decode()
    assert sentence in " ".join(shown.split())


@pytest.mark.parametrize(
    ("words", "equation"),
    [
        ("scatter-elements [5.0] [0] [5.0] --reduction max",
         "updates[i] is the first that equals the cell of output and data does not, else 0"),
        ("openvino scatter-elements-update [5.0] [0] [5.0] 0 --reduction max",
         "updates[i] is the first that equals the cell of output and data does not, else 0"),
        ("torch scatter-reduce [5.0] [0] " + NOT_A_NUMBER + " --dim 0 --reduce amax",
         "where src[i] does, else 0, and nan where that cell is nan g(input)"),
        ("torch scatter-reduce [5.0] [0] " + NOT_A_NUMBER + " --dim 0 --reduce amax",
         "where input does, else 0, and nan where that cell is nan for i"),
        ("torch scatter-reduce [5.0] [0] [2.0] --dim 0 --reduce amax",
         "where input does, else 0 for i"),
        ("torch embedding [0,2] [[1.0],[2],[3]] --padding-idx 0",
         "g(weight)[input[i], j] += g(output)[i,j] unless dropped"),
        ("torch embedding [0,2] [[1.0],[2],[3]]",
         "g(weight)[input[i], j] += g(output)[i,j] for i"),
        ("jax at-divide [4.0] [0] [2.0]",
         "g(values)[i] = -g(output)[indices_0[i]] * output / values[i]"),
    ],
)  # fmt: skip
def test_a_formula_holds_for_ties_with_data_and_for_what_is_dropped(
    words: str, equation: str
) -> None:
    shown = call_gscli("explain", *words.split(), "--grad").stdout.decode()
    assert equation in " ".join(shown.split())


MISSING = {"torch": "PyTorch itself has no gradient of scatter", "tensorflow": "through a variable",
           "jax": "only with unique_indices=True"}  # fmt: skip


@pytest.mark.parametrize(
    ("call", "is_missing"),
    [
        ("torch scatter [1.0,2] [0] [3.0] --dim 0 --reduce add", True),
        ("torch scatter [1.0,2] [0] --value 3 --dim 0 --reduce multiply", True),
        ("torch scatter [1.0,2] [0] [3.0] --dim 0", False),
        ("torch scatter-reduce [1.0,2] [0] [3.0] --dim 0 --reduce sum", False),
        ("torch scatter-reduce [1.0,2] [0] [3.0] --dim 0 --reduce max", True),
        ("torch scatter-reduce [1.0,2] [0] [3.0] --dim 0 --reduce min", True),
        ("torch scatter-reduce [1.0,2] [0] [3.0] --dim 0 --reduce amin", False),
        ("torch scatter-reduce [1.0,2] [0] [3.0] --dim 0 --reduce mean", False),
        ("torch segment-reduce [1.0,2] [2] --reduce max", False),
        ("tensorflow scatter-nd-update [1.0,2] [[0]] [3.0]", True),
        ("tensorflow scatter-nd-max [1.0,2] [[0]] [3.0]", True),
        ("tensorflow tensor-scatter-nd-max [1.0,2] [[0]] [3.0]", False),
        ("tensorflow scatter-nd [[0]] [3.0] [2]", False),
        ("jax at-multiply [1.0,2] [0] [3.0]", True),
        ("jax at-power [1.0,2] [0] [3.0]", True),
        ("jax at-multiply [1.0,2] [0] [3.0] --unique-indices", False),
        ("jax at-multiply [1.0,2] 0 3.0", False),
        ("jax at-divide [1.0,2] [3.0,4.0] --subscript [:]", False),
        ("jax at-divide [1.0,2] [true,false] [3.0] --subscript [i]", True),
        ("jax segment-prod [1.0,2] [0,1] --num-segments 2", True),
        ("jax segment-prod [1.0,2] [0,1] --num-segments 2 --unique-indices", False),
        # A broken promise: JAX 0.10.2 gives each factor its own gradient as if it were alone.
        ("jax at-multiply [1.0,2] [0,0] [3.0,4] --unique-indices", True),
        ("jax at-divide [1.0,2] [0,-2] [3.0,4] --unique-indices", True),
        ("jax at-add [1.0,2] [0,0] [3.0,4] --unique-indices", False),
        ("jax segment-prod [1.0,2] [0,0] --num-segments 2 --unique-indices", True),
        ("jax at-add [1.0,2] [0] [3.0]", False),
    ],
)  # fmt: skip
def test_a_gradient_that_the_framework_lacks_is_told(call: str, is_missing: bool) -> None:
    """As PyTorch 2.13, TensorFlow 2.21 and JAX 0.10 refuse them."""
    framework, *words = call.split()
    done = call_gscli("grad", framework, *words)
    assert done.returncode == 0, done.stderr
    assert (MISSING[framework] in " ".join(done.stdout.decode().split())) is is_missing


def test_small_gradients_differ_as_large_ones_do() -> None:
    words = ("grad", "torch", "scatter-reduce", "[1.0]", "[0,0]", "[5.0,5]", "--dim", "0",
             "--reduce", "amax", "--cotangent", "[1e-9]")  # fmt: skip
    done = call_gscli(*words, "--strict")
    assert done.returncode == 1
    assert b"the loop itself gives src [1e-09, 0]: --rules loop" in done.stdout
    assert b"gives others here" in call_gscli(*words, "--code", "torch").stdout
    assert call_gscli(*words, "--rules", "loop", "--strict").returncode == 0


@pytest.mark.parametrize("rules", ["loop", "torch", "jax", "tensorflow"])
@pytest.mark.parametrize("own", ["torch.scatter_reduce", "tensorflow.tensor_scatter_nd_max"])
def test_what_other_rules_give_is_no_unknown_mistake(own: str, rules: str) -> None:
    nan = float("nan")
    if own.startswith("torch"):
        inputs = {"input": [1.0, 2.0, 3.0], "index": [0, 1, 1], "src": [nan, 2.0, 2.0]}
        attrs = {"dim": 0, "reduce": "amax"}
    else:
        inputs = {"tensor": [1.0, 2.0], "indices": [[0], [1]], "updates": [nan, 2.0]}
        attrs = {}
    run = trace(own, {name: np.array(value) for name, value in inputs.items()}, attrs)
    gradients, other = trace_gradients(run), trace_gradients(run, rules=rules)
    name = "src" if own.startswith("torch") else "updates"
    expected = other.arrays[name]
    if not np.array_equal(expected, gradients.arrays[name], equal_nan=True):
        assert find_causes(gradients, name, expected, Tolerance())


def test_no_program_is_written_of_a_power_that_frameworks_differ_in() -> None:
    """The gradient of 0 ** 0 is nan in JAX 0.10.2, and 0 in PyTorch 2.13.0."""
    words = ("grad", "jax", "at-power", "[0.0]", "[0]", "[0.0]", "--code", "all")
    refused = call_gscli(*words)
    assert refused.returncode == 2
    assert b"a power has nan for a gradient" in refused.stderr


def test_the_document_has_the_verdict_of_a_gradient_too_large_for_it() -> None:
    words = ("grad", "gather", "zeros:5000001:float32", "[1,2]")
    expected = ("--expect", "zeros:5000001:float32")
    told = call_gscli(*words, *expected, "--json")
    assert (told.returncode, told.stderr) == (1, b"")
    document = json.loads(told.stdout)
    assert document["gradients"] == {"data": {"dtype": "float32", "shape": [5_000_001]}}
    assert document["expectation"]["different"] == 2
    assert call_gscli(*words, *expected, "--json=output").returncode == 65


def test_no_option_is_named_for_which_the_framework_has_no_gradient() -> None:
    """Forward PyTorch's scatter_reduce takes max as amax; it has a gradient of amax alone."""
    inputs = {"input": [1.0, 5.0], "index": [0, 0, 1], "src": [4.0, 2.0, 5.0]}
    run = trace("torch.scatter_reduce", inputs, {"dim": 0, "reduce": "mean"})
    other = trace("torch.scatter_reduce", inputs, {"dim": 0, "reduce": "amax"})
    flows = trace_gradients(other).arrays
    causes = find_causes(trace_gradients(run), "src", flows["src"], Tolerance(1e-9, 1e-9))
    assert "it is called with --reduce amax" in causes
    assert not [cause for cause in causes if cause.endswith("max") and "amax" not in cause]
