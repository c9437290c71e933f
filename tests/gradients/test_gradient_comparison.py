"""`compare --grad`: who gives which gradient, and what JAX does with reads out of range."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from shell import call_gscli

import gscli
from gscli.lab.compare import compare
from gscli.lab.gradient_comparison import compare_gradients
from gscli.views.look import ViewOptions
from gscli.views.words.gradient_words import describe_comparison

SCATTER = ("scatter-elements", "[10,20,30]", "[0,2,0]")
PEER = f"{sys.executable} -m gscli batch --serve"


def run(*words: str) -> tuple[int, str, str]:
    done = call_gscli("compare", *words, "--grad")
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_writers_of_one_cell_part_the_frameworks() -> None:
    code, out, _ = run(*SCATTER, "[1,2,3]", "--as", "torch,onnx,numpy", "--plain")
    assert code == 1
    assert out.splitlines() == [
        "PyTorch scatter",
        "  every writer of a cell gets its gradient",
        "  data [0, 1, 0]",
        "  updates [1, 1, 1]",
        "ONNX ScatterElements-18, NumPy put_along_axis",
        "  the last writer of a cell gets it, by the specification's loop",
        "  data [0, 1, 0]",
        "  updates [0!=, 1, 1]",
        "2 different gradients. != marks a value other than PyTorch scatter's.",
    ]


def test_ties_part_them_and_gathers_do_not() -> None:
    code, out, _ = run(*SCATTER, "[10,2,10]", "--reduction", "max")
    assert code == 1
    assert "several share it evenly\n  data [0.333333≠, 1, 1]\n" in out
    code, out, _ = run("gather", "[10,20,30]", "[0,2,0]", "-q")
    assert (code, out) == (0, "22 rule sets give the same gradients.\n")


def test_equal_gradients_say_whose_choice_is_which() -> None:
    out = run(*SCATTER, "[10,2,30]", "--reduction", "max", "--as", "onnx,torch")[1]
    assert out.splitlines()[:3] == [
        "ONNX ScatterElements-18, PyTorch scatter_reduce",
        "  the first of several gets it, by the specification's loop (ONNX ScatterElements-18)",
        "  several share it evenly (PyTorch scatter_reduce)",
    ]


def test_a_row_that_does_not_exist_is_no_refusal() -> None:
    words = (*SCATTER, "[10,2,10]", "--reduction", "max", "--as", "torch,jax")
    out = run(*words)[1]
    assert "no gradients: JAX: gscli has none\n" in out
    assert "gscli compare scatter-nd --grad has rows for JAX and TensorFlow.\n" in out
    assert out.endswith(
        "1 rule set gives gradients, 1 without; there is no other to compare it with.\n"
    )


def test_groups_say_what_became_of_unusual_numbers_on_the_way_back() -> None:
    """JAX reads the last cell for 7, and sends no gradient back to it."""
    out = run("gather", "[10,20,30]", "[0,-1,7]", "--width", "200")[1]
    assert (
        "JAX x[i], JAX take (fill)\n  b: -1 counts from the end: cell 2\n  c: 7 is outside: dr"
        in out
    )
    assert "StableHLO gather\n  b: -1 is clipped to cell 0\n  c: 7 is clipped to cell 2\n  d" in out
    out = run("gather", "[10,20,30]", "[5]", "--as", "numpy,mxnet take", "--width", "200")[1]
    assert "  a: 5 wraps around 3: cell 2 (NumPy take (wrap), MXNet take (wrap))\n" in out
    assert "  a: 5 is clipped to cell 2 (NumPy take (clip), MXNet take (clip))\n" in out


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_each_row_is_what_its_own_operator_gives(reduction: str) -> None:
    inputs = {
        "data": np.array([3.0, 5.0, 0.0]), "indices": np.array([[0], [2], [0], [2]]),
        "updates": np.array([3.0, 4.0, 3.0, 0.0]),
    }  # fmt: skip
    answers = compare("scatter-nd", inputs, reduction=reduction)
    comparison = compare_gradients(answers)
    rows = {row.label: row for group in comparison.groups for row in group}
    assert len(rows) == len(answers.rows) > 1
    for row in answers.rows:
        own = gscli.grad(row.operator.full_name, row.inputs, row.attrs)
        for array, name in zip(rows[row.label].gradients.values(), own, strict=True):
            np.testing.assert_allclose(array, own[name])
    marked = list(describe_comparison(comparison, ViewOptions(), is_short=False))
    count = sum(line.count("≠") for line in marked[:-1])
    base = comparison.groups[0][0].gradients
    assert count == sum(
        int(np.count_nonzero(~np.isclose(array, base[role])))
        for group in comparison.groups
        for role, array in group[0].gradients.items()
    )


def test_documents_and_refusals() -> None:
    code, out, _ = run("gather", "[10,20,30]", "[0,2,5]", "--json")
    document = json.loads(out)
    assert code == 1
    assert document["schema"] == "gscli-compare-gradients/1"
    assert {row["error"] for row in document["refusals"]} == {"index out of range"}
    assert document["rows"][0]["gradients"]["data"]["data"] == [1.0, 0.0, 1.0]
    words = ("scatter-elements", "[1.0,2]", "[0]", "[5.0]", "--reduction", "mean", "--json")
    document = json.loads(run(*words, "--as", "torch,onnx,jax")[1])
    assert document["rows"][0]["operator"] == "torch.scatter_reduce"
    refused = {row["operator"] for row in document["refusals"]}
    assert refused == {"onnx.scatter_elements", ""}, "JAX has none"
    assert document["unsaid"] == []
    words = ("scatter-nd", "[1.0,2]", "[[0],[0]]", "[5.0,5]", "--reduction", "max")
    assert "\nNo row for MXNet, PyTorch: no reduction=max.\n" in run(*words)[1]
    reasons = json.loads(run(*words, "--json")[1])["unsaid"]
    assert [row["label"] for row in reasons] == ["MXNet", "PyTorch"]
    assert {row["reason"] for row in reasons} == {"no reduction=max"}
    code, out, _ = run("gather", '["a"]', "[0]", "-q")
    assert (code, out) == (1, "22 rule sets without gradients.\n")
    for more in (("--lines",), ("--svg", "x.svg"), ("--html", "x.html")):
        code, _, err = run("gather", "[1.0]", "[0]", *more)
        assert code == 2
        assert f"leave out {more[0]}" in err


@pytest.mark.parametrize(("last", "many"), [(9, "1 cell"), (3, "2 cells")])
def test_of_large_gradients_it_is_told_in_how_many_cells_they_differ(last: int, many: str) -> None:
    inputs = ("[0,1,3]", f"[0.0,9,{last}]", "--dtype", "float64")
    words = ("scatter-elements", "arange:20", *inputs, "--reduction", "max", "--as", "onnx,torch")
    assert f"\n  data of shape [20], other in {many}, first at [0] with 0.5\n" in run(*words)[1]
    words = ("scatter-reduce", "arange:20", *inputs, "--dim", "0", "--reduce", "amax", "--plain")
    out = call_gscli("grad", "torch", *words).stdout.decode()
    told = f"the loop itself gives input of shape [20], other in {many}, first at [0] with 1"
    assert f"{told}: --rules loop" in " ".join(out.split())


def test_frameworks_without_such_an_operation_are_told_and_nothing_of_what_does_the_same() -> None:
    words = (*SCATTER, "[10,2,10]", "--reduction", "max")
    more = "gscli compare scatter-nd --grad has rows for JAX and TensorFlow"
    told = run(*words)[1]
    assert f"\nNo row for JAX, TensorFlow: gscli has none.\n{more}.\n2 different" in told
    there = run("scatter-nd", "[1.0]", "[[0]]", "[1.0]", "--reduction=max")[1]
    assert "JAX at.max" in there
    assert "TF tensor_scatter_nd_max" in there
    reasons = json.loads(run(*words, "--json")[1])["unsaid"]
    assert {"label": "JAX", "reason": "gscli has none"} in reasons
    assert "No row" not in run(*words, "--as", "torch,onnx")[1]


def test_a_framework_that_is_named_and_cannot_say_it_gives_no_gradients() -> None:
    code, out, _ = run(*SCATTER, "[1,2,3]", "--reduction", "add", "--as", "torch,jax,onnx")
    assert code == 1
    assert "no gradients: JAX: gscli has none\n" in out
    assert out.endswith("2 rule sets give the same gradients, 1 without.\n")


# What updates of jax.numpy are given in JAX 0.10.2 without unique_indices: NotImplementedError, but
# by one scalar index. Those of added ones have gradients there.
@pytest.mark.parametrize(("reduction", "is_missing"), [("mul", True), ("add", False)])
def test_gradients_that_jax_itself_lacks_are_told(reduction: str, is_missing: bool) -> None:
    words = ("scatter-nd", "[8,3.0]", "[[0],[0],[1]]", "[2,4,5.0]", "--reduction", reduction)
    sentence = (
        "JAX itself has the gradient of updates only with unique_indices=True and no duplicates"
    )
    assert run(*words, "--width", "120")[1].splitlines().count(sentence) == is_missing
    assert sentence not in run(*words, "--as", "numpy,onnx")[1]
    assert sentence not in run(*words, "-q")[1]
    (row,) = json.loads(run(*words, "--as", "jax", "--json")[1])["rows"]
    assert row["missing"] == sentence * is_missing


def test_a_runtime_has_rows_of_its_own() -> None:
    words = ("gather", "[10,20,30]", "[0,2,0]", "--as", "onnx", "--on", PEER)
    code, out, err = run(*words, "--json")
    assert code == 0, err
    labels = [row["label"] for row in json.loads(out)["rows"]]
    assert labels[0] == "ONNX Gather-13"
    assert any(label.startswith("gscli ") and label.endswith("ONNX Gather-13") for label in labels)
    out = run(*words, "-q")[1]
    assert out.endswith(" rows give the same gradients.\n")
    out = run("gather", "[10,20,30]", "[7]", "--as", "onnx", "--on", PEER)[1]
    assert "not asked, since its rules refuse this\n" in out


# Indices into three cells, attributes, and the gradient that JAX 0.10.2 gave for x.at[i].get.
READS = [
    ([0, 2, 5, -1, -7], {}, [1, 0, 2]),
    ([0, 2, 5, -1, -7], {"mode": "promise_in_bounds"}, [1, 0, 2]),
    ([0, 2, 5, -1, -7], {"mode": "clip"}, [2, 0, 3]),
    ([0, 2, 5, -1, -7], {"mode": "fill"}, [1, 0, 2]),
    ([5], {}, [0, 0, 0]),
    (5, {}, [0, 0, 1]),
    (-9, {"mode": "promise_in_bounds"}, [1, 0, 0]),
]


@pytest.mark.parametrize(("indices", "attrs", "gradient"), READS)
def test_what_jax_clips_unasked_is_given_nothing(
    indices: object, attrs: dict, gradient: list
) -> None:
    inputs = {"x": [10.0, 11.0, 12.0], "indices_0": np.array(indices)}
    assert gscli.grad("jax.at.get", inputs, attrs)["x"].tolist() == gradient


# Indices into three cells, or two rows of them, attributes, and the gradient that TensorFlow 2.21
# gave under tf.function(jit_compile=True).
XLA_READS = [
    ("gather", [0, -1, 1], {}, [1, 1, 0]),
    ("gather", [0, -1, 7], {}, [1, 0, 0]),
    ("gather", [2, 7, 1], {}, [0, 1, 1]),
    ("gather", [-3, -4, 3], {}, [0, 0, 0]),
    ("gather", [0, 2, 7], {"axis": 1}, [[1, 0, 1], [1, 0, 1]]),
    ("gather", [0, -1, 1], {"axis": 0}, [[1, 1, 1], [1, 1, 1]]),
    ("gather", [-1, 7], {"axis": 1, "batch_dims": 1}, [[0, 0, 0], [0, 0, 0]]),
    ("gather_nd", [[0], [-1], [1]], {}, [1, 1, 0]),
    ("gather_nd", [[0], [7], [-5]], {}, [1, 0, 0]),
    ("gather_nd", [[0, -1], [1, 1], [7, 0], [-1, 2]], {}, [[0, 0, 0], [0, 1, 0]]),
    ("gather_nd", [[[0], [-1]], [[7], [-4]]], {"batch_dims": 1}, [[1, 0, 0], [0, 0, 0]]),
]


@pytest.mark.parametrize(("name", "indices", "attrs", "gradient"), XLA_READS)
def test_what_xla_clips_for_tensorflow_is_given_nothing(
    name: str, indices: list, attrs: dict, gradient: list
) -> None:
    params = np.arange(np.size(gradient), dtype=np.float64).reshape(np.shape(gradient))
    inputs, attrs = {"params": params, "indices": np.array(indices)}, {**attrs, "device": "xla"}
    assert gscli.grad(f"tensorflow.{name}", inputs, attrs)["params"].tolist() == gradient
    cells = gscli.grad(f"tensorflow.{name}", inputs, attrs, rules="loop")["params"]
    assert cells.sum() == gscli.trace(f"tensorflow.{name}", inputs, attrs).output.size


# Operators, their updates, how many segments, and what TensorFlow 2.21 gave updates for the
# cotangent [5, 6, 7] under tf.function(jit_compile=True). Indices are 0, -1 and 7.
XLA_WRITES = [
    ("scatter_nd", [1, 2, 3], [5, 5, 7]),
    ("tensor_scatter_nd_add", [1, 2, 3], [5, 5, 7]),
    ("tensor_scatter_nd_sub", [1, 2, 3], [-5, -5, -7]),
    ("tensor_scatter_nd_update", [1, 2, 3], [5, 5, 7]),
    ("tensor_scatter_nd_max", [1, 2, 3], [5, 0, 0]),
    ("tensor_scatter_nd_max", [1, 1, 0], [5, 5, 7]),
    ("tensor_scatter_nd_min", [1, 1, 0], [0, 0, 7]),
    ("tensor_scatter_nd_min", [0, 0, 0], [2.5, 2.5, 7]),
    ("unsorted_segment_sum", [1, 2, 3], [5, 0, 7]),
    ("unsorted_segment_mean", [1, 2, 3], [5, 0, 7]),
    ("unsorted_segment_sqrt_n", [1, 2, 3], [5, 0, 7]),
    ("unsorted_segment_max", [1, 2, 3], [5, 0, 0]),
    ("unsorted_segment_min", [1, 2, 3], [5, 0, 0]),
]


@pytest.mark.parametrize(("name", "updates", "gradient"), XLA_WRITES)
def test_what_xla_drops_for_tensorflow_is_given_the_gradient_of_the_nearest_cell(
    name: str, updates: list, gradient: list
) -> None:
    ids, values = np.array([0, -1, 7]), np.array(updates, np.float64)
    inputs, attrs = {"indices": ids[:, None], "updates": values}, {"device": "xla"}
    if "segment" in name:
        inputs, attrs = {"data": values, "segment_ids": ids}, {"num_segments": 3, **attrs}
    elif name == "scatter_nd":
        inputs["shape"] = np.array([3])
    else:
        inputs["tensor"] = np.zeros(3)
    cotangent = np.array([5.0, 6.0, 7.0])
    gradients = gscli.grad(f"tensorflow.{name}", inputs, attrs, cotangent)
    assert gradients["data" if "segment" in name else "updates"].tolist() == gradient
    on_gpu = gscli.grad(f"tensorflow.{name}", inputs, {**attrs, "device": "gpu"}, cotangent)
    assert not next(reversed(on_gpu.values()))[1:].any()
    assert gscli.grad(f"tensorflow.{name}", inputs, attrs, cotangent, rules="loop")


def test_a_picture_shows_which_cell_the_gradient_of_a_dropped_update_is_read_from() -> None:
    words = ("[0,0,0.0]", "[[0],[-1],[7]]", "[1,2,3.0]", "--cotangent", "[5,6,7]", "--device")
    call = ("grad", "tf", "tensor-scatter-nd-add", *words)
    assert b"c   7\xe2\x8a\xa3 is clipped to cell 2\n" in call_gscli(*call, "xla").stdout
    assert b" is outside 0 \xe2\x80\xa6 2: dropped\n" in call_gscli(*call, "gpu").stdout


def test_the_same_of_lax_gather() -> None:
    numbers = {"offset_dims": [], "collapsed_slice_dims": [0], "start_index_map": [0]}
    inputs = {"operand": [10.0, 11.0, 12.0], "start_indices": [[0], [2], [5], [-1]]}
    for mode, gradient in ((None, [1, 0, 1]), ("clip", [2, 0, 2]), ("fill", [1, 0, 1])):
        attrs = {**numbers, "slice_sizes": [1], **({"mode": mode} if mode else {})}
        assert gscli.grad("jax.lax.gather", inputs, attrs)["operand"].tolist() == gradient


def test_a_cotangent_weighs_what_flows_back() -> None:
    out = run("gather", "[10,20,30]", "[0,2,0]", "--cotangent", "[1,2,4]", "--as", "onnx,torch")[1]
    assert "  data [5, 0, 2]\n" in out
    peer = run("gather", "[10.5,20]", "[1,1]", "--cotangent", "[1,2]", "--as", "jax", "--on", PEER)[
        1
    ]
    assert peer.count("data [0, 3]") == 1
    assert "rows give the same gradients" in peer
    code, _, err = run("gather", "[10,20,30]", "[0,2,0]", "--cotangent", "[1,2]")
    assert (code, "valid: [3]" in err) == (65, True)


def test_what_is_compared_with_is_said_without_a_mark_where_none_stands() -> None:
    words = ("scatter-elements", "zeros:200", "arange:200", "zeros:200", "--reduction", "max")
    code, out, _ = run(*words, "--as", "onnx,torch")
    assert code == 1
    assert "≠" not in out
    assert out.endswith("To differ is to have a value other than ONNX ScatterElements-18's.\n")
    assert "≠ marks" not in run(*SCATTER, "[10,2,10]", "--reduction", "max", "-q")[1]


@pytest.mark.parametrize(
    "names", [*itertools.permutations(("torch", "mxnet", "onnx", "tensorflow"))]
)
def test_how_many_gradients_differ_is_no_matter_of_order(names: tuple[str, ...]) -> None:
    out = run("scatter-nd", "[0.0,0]", "[[0],[0]]", "[1.0,2]", "--as", ",".join(names))[1]
    assert "\n2 different gradients. ≠ marks a value other than " in out
    assert out.count("updates [1") == 1
    out = run("scatter-nd", "[0.0,0]", "[[0],[1]]", "[1.0,2]", "--as", ",".join(names))[1]
    assert "\n9 rule sets give the same gradients.\n" in out


LOSSY = """
import json, subprocess, sys
command = [sys.executable, "-m", "gscli", "batch", "--serve"]
peer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
print(peer.stdout.readline(), end="", flush=True)
for line in sys.stdin:
    print(line, end="", file=peer.stdin, flush=True)
    answer = json.loads(peer.stdout.readline())
    answer.get("gradients", {}).pop("data", None)
    print(json.dumps(answer), flush=True)
"""


def test_a_runtime_that_loses_a_gradient_does_not_agree(tmp_path: Path) -> None:
    (tmp_path / "lossy.py").write_text(LOSSY)
    words = ("scatter-nd", "zeros:3", "[[0],[1],[2]]", "[1.0,2,3]", "--as", "onnx")
    assert "\n14 rows give the same gradients.\n" in run(*words, "--on", PEER)[1]
    code, out, _ = run(*words, "--on", f"{sys.executable} {tmp_path / 'lossy.py'}")
    assert code == 1
    assert "\n2 different gradients, 1 without" in out
    assert f"no gradients: gscli {gscli.__version__}: MXNet scatter_nd (on zeros): no" in out


def test_a_cotangent_has_the_type_of_the_output_for_rules_and_runtimes(tmp_path: Path) -> None:
    np.save(tmp_path / "c.npy", np.array([0.1, 16777217]))
    words = ("gather", "arange:4:float32", "[1,1]", "--as", "torch")
    words += "--cotangent", str(tmp_path / "c.npy"), "--on", PEER
    assert "\n2 different" not in run(*words)[1]
    code, out, _ = run("gather", '["a","b"]', "[0,1]", "--cotangent", "[1,2]", "--as", "onnx")
    assert (code, "str has no gradient" in out) == (1, True)
    assert run("gather", "[1.5,2]", "[0,1]", "--cotangent", '["a","b"]')[0] == 65


def test_rows_without_data_stand_with_those_that_give_the_same_to_updates() -> None:
    words = ("scatter-nd", "[0.0,0]", "[[0],[0]]", "[1.0,2]", "--as", "torch,tensorflow,mxnet,onnx")
    code, out, _ = run(*words)
    assert code == 1
    assert "MXNet scatter_nd (on zeros)" in out.partition("every writer of a cell gets")[0]
    labels = out.partition("data [0, 1] (")[2].partition(")")[0]
    assert labels.startswith("PyTorch index_put_, TF tensor_scatter_nd_update CPU, ")
    assert "MXNet" not in labels
    assert "2 different gradients" in out
