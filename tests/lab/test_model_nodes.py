"""Nodes of larger models: listed, addressed, run with given inputs and what the model holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Array

from gscli.cli import run_safely

onnx = pytest.importorskip("onnx")

X = np.arange(12, dtype=np.float32).reshape(4, 3)
NEW = np.ones((3, 3), np.float32)


def added() -> Array:
    """X with NEW added to rows 0, 3 and 2, as the node does."""
    output = X.copy()
    for row, update in zip((0, 3, 2), NEW, strict=True):
        output[row] += update
    return output


def model() -> Any:
    """Six nodes: one of another kind, one without a name, two that share one."""
    helper, values, kinds = onnx.helper, onnx.numpy_helper.from_array, onnx.TensorProto
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("Gather", ["r", "rows"], ["picked"], axis=0),
        helper.make_node(
            "ScatterND", ["x", "idx", "upd"], ["scattered"], name="/layers.0/scatter",
            reduction="add",
        ),
        helper.make_node("Constant", [], ["c"], value=values(np.array([[0, 1, 0]]), "c")),
        helper.make_node("GatherElements", ["scattered", "c"], ["y"], name="same"),
        helper.make_node("Gather", ["y", "c"], ["z"], name="same", axis=1),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes, "g",
        [
            helper.make_tensor_value_info("x", kinds.FLOAT, ["N", 3]),
            helper.make_tensor_value_info("rows", kinds.INT64, [2]),
            helper.make_tensor_value_info("upd", kinds.FLOAT, [3, 3]),
        ],
        [helper.make_tensor_value_info("scattered", kinds.FLOAT, None)],
        [values(np.array([[0], [-1], [2]]), "idx")],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the model, tensors, and the model once more beside a recorded data set."""
    monkeypatch.chdir(tmp_path)
    Path("net.onnx").write_bytes(model().SerializeToString())
    np.save("x.npy", X)
    np.save("new.npy", NEW)
    np.save("right.npy", added())
    np.savez("saved.npz", x=X, upd=NEW, other=np.zeros(1))
    data_set = Path("net/test_data_set_0")
    data_set.mkdir(parents=True)
    Path("net/model.onnx").write_bytes(model().SerializeToString())
    recorded = {"input_0": X, "input_1": np.array([1, 2]), "input_2": NEW, "output_0": added()}
    for name, array in recorded.items():
        tensor = onnx.numpy_helper.from_array(array, name)
        (data_set / f"{name}.pb").write_bytes(tensor.SerializeToString())


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = run_safely(["run", *words])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


@pytest.mark.parametrize("named", ["net.onnx", "net", "net/model.onnx"])
def test_a_larger_model_lists_its_gathers_and_scatters(
    capsys: pytest.CaptureFixture[str], named: str
) -> None:
    status, told, hint = ran(capsys, named)
    assert status == 0
    first, *rows = told.splitlines()
    assert first.endswith(": opset 18, 4 of 6 nodes are gather or scatter")
    assert [row.split()[:2] for row in rows] == [
        ["picked", "Gather"], ["/layers.0/scatter", "ScatterND"], ["y", "GatherElements"],
        ["z", "Gather"],
    ]  # fmt: skip
    assert "x float32 [N,3], idx int64 [3,1] (constant), upd float32 [3,3]" in rows[1]
    assert "-> scattered float32 [N,3]  reduction=add" in rows[1]
    assert "--node picked" in hint


def test_a_listing_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(ran(capsys, "net.onnx", "--json")[1])
    assert document["opset"] == 18
    assert [node["op"] for node in document["nodes"]] == [
        "Gather", "ScatterND", "GatherElements", "Gather",
    ]  # fmt: skip
    assert document["nodes"][1]["attrs"] == {"reduction": "add"}
    assert document["nodes"][1]["inputs"][1] == {
        "name": "idx", "type": "int64 [3,1]", "constant": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("net.onnx", "--node", "/layers.0/scatter", "x.npy", "new.npy"),
        ("net.onnx", "--node", "scattered", "x.npy", "net.onnx::idx", "new.npy"),
        ("net.onnx::scattered", "updates=new.npy", "x=x.npy"),
        ("net.onnx", "--node", "ScatterND#0", "saved.npz"),
        ("net.onnx", "--node", "ScatterND#0", "saved.npz", "indices=[[0],[3],[2]]"),
        ("net", "--node", "scattered"),
        ("net/test_data_set_0", "--node", "scattered"),
        ("net.onnx", "--node", "scattered", "net/test_data_set_0"),
    ],
    ids=["order", "all", "by name", "file of names", "both", "recorded", "data set", "beside"],
)
def test_a_node_runs_with_what_is_given_and_what_the_model_holds(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    status, told, _ = ran(capsys, *words, "--expect", "right.npy")
    assert status == 0
    assert told.startswith("scatter-nd   reduction=add")
    assert told.endswith("as expected: all 12 cells of right.npy\n")


def test_a_tensor_goes_by_a_name_with_slashes(capsys: pytest.CaptureFixture[str]) -> None:
    """As exporters of PyTorch call them."""
    proto = model()
    proto.graph.node[2].input[2] = proto.graph.input[2].name = "/block/upd"
    Path("slashed.onnx").write_bytes(proto.SerializeToString())
    words = ("slashed.onnx::scattered", "/block/upd=new.npy", "x=x.npy")
    status, told, _ = ran(capsys, *words, "--expect", "right.npy")
    assert status == 0
    assert told.endswith("as expected: all 12 cells of right.npy\n")


def test_recorded_outputs_are_expected(capsys: pytest.CaptureFixture[str]) -> None:
    status, told, _ = ran(capsys, "net", "--node", "scattered")
    assert status == 0
    assert told.endswith("as expected: all 12 cells of net/test_data_set_0/output_0.pb\n")
    status, told, _ = ran(capsys, "net", "--node", "scattered", "x.npy")
    assert status == 0
    assert "expected" not in told, "with other inputs the recorded output says nothing"


def test_a_wrong_answer_is_told_with_its_cause(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = added()
    wrong[3] -= 1
    wrong[0] += 1
    np.save("wrong.npy", wrong)
    words = ("net.onnx", "--node", "scattered", "saved.npz")
    status, told, _ = ran(capsys, *words, "--expect", "wrong.npy")
    assert status == 1
    assert "negative indices are read as 0 (6 cells, reached by entries a, b)" in told
    status, told, _ = ran(capsys, *words, "--expect", "wrong.npy", "--json")
    assert status == 1
    assert json.loads(told)["expectation"]["different"] == 6
    assert ran(capsys, *words, "-o", "out.npy")[:2] == (0, "")
    assert np.array_equal(np.load("out.npy"), added())


def test_opset_and_attributes_are_the_models(capsys: pytest.CaptureFixture[str]) -> None:
    status, told, _ = ran(capsys, "net.onnx", "--node", "z", "data=[[1.0,2,3]]", "--json")
    assert status == 0
    assert json.loads(told)["attrs"]["axis"] == 1
    old = model()
    old.opset_import[0].version = 15
    Path("old.onnx").write_bytes(old.SerializeToString())
    status, _, refused = ran(capsys, "old.onnx", "--node", "scattered", "x.npy", "new.npy")
    assert status == 2
    assert "needs opset 16" in refused
    assert "help: --opset 16 of scatter-nd" in refused  # run has no such option


def test_the_hint_of_a_type_is_one_that_run_takes(capsys: pytest.CaptureFixture[str]) -> None:
    data, updates = X.astype(int).tolist(), (NEW / 2).tolist()
    words = ("net.onnx", "--node", "scattered", f"data={data}", f"updates={updates}")
    assert "--dtype float64 converts data and updates" in ran(capsys, *words)[2]
    status, told, _ = ran(capsys, *words, "--dtype", "float64", "--json")
    assert (status, json.loads(told)["output"]["dtype"]) == (0, "float64")


BAD = [
    (("net.onnx", "--node", "scatered"), 2, "did you mean scattered?"),
    (("net.onnx", "--node", "pickd"), 2, "did you mean picked?"),
    (("net.onnx", "--node", "Gather#7"), 2, "has no node 'Gather#7'"),
    (("net.onnx", "--node", "same"), 2, "2 nodes are called 'same'"),
    (("net.onnx", "--node", "relu"), 65, "is no gather or scatter, but Relu"),
    (("net.onnx", "--node", "scattered"), 2, "needs data and updates"),
    (("net.onnx", "--node", "y"), 2, "scattered float32 [N,3], made by /layers.0/scatter (Sca"),
    (("net.onnx", "x.npy"), 2, "has 4 gathers and scatters"),
    (("net.onnx", "--node", "y", "a", "b", "c"), 2, "3 inputs for 1 that the model does not hold"),
    (("net.onnx", "--node", "scattered", "dta=x.npy"), 2, "did you mean data?"),
    (("net.onnx", "--node", "y", "missing.npy"), 66, "no such file"),
    (("net.onnx::y", "--node", "y"), 2, "the node is named twice"),
    (("net.onnx", "--node", "picked", "saved.npz"), 2, "saved.npz holds none"),
    (("x.npy", "--node", "y"), 2, "--node needs a model"),
    (("net.onnx", "--only", "y"), 2, "--only chooses among node tests"),
    (("net.onnx", "--only", "y", "--node", "y"), 2, "leave out --only"),
    (("missing.onnx",), 66, "no such file"),
    (("missing.onnx", "--node", "y"), 66, "no such file"),
]


@pytest.mark.parametrize(("words", "code", "told"), BAD, ids=lambda one: str(one)[:30])
def test_what_cannot_be_run_is_told_with_a_way_on(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, told: str
) -> None:
    status, printed, refused = ran(capsys, *words)
    assert (status, printed) == (code, "")
    assert told in refused


def test_models_without_a_gather_or_with_odd_attributes(capsys: pytest.CaptureFixture[str]) -> None:
    other = model()
    del other.graph.node[1:]
    other.graph.node.add(op_type="Add")
    Path("other.onnx").write_bytes(other.SerializeToString())
    status, _, refused = ran(capsys, "other.onnx")
    assert status == 65
    assert "no gather or scatter among 2 nodes" in refused
    odd = model()
    odd.graph.node[2].attribute.append(onnx.helper.make_attribute("mode", "clip"))
    Path("odd.onnx").write_bytes(odd.SerializeToString())
    status, _, refused = ran(capsys, "odd.onnx", "--node", "scattered", "x.npy", "new.npy")
    assert status == 65
    assert "ScatterND has no attribute mode" in refused
    long = model()
    long.graph.node[1].input.append("x")
    Path("long.onnx").write_bytes(long.SerializeToString())
    assert ran(capsys, "long.onnx", "--node", "picked")[0] == 65


def test_one_data_set_alone_is_a_node_test(capsys: pytest.CaptureFixture[str]) -> None:
    small = model()
    for number in (5, 4, 3, 1, 0):
        del small.graph.node[number]
    del small.graph.input[1]
    del small.graph.initializer[:]
    place = Path("test_scatter/test_data_set_3")
    place.mkdir(parents=True)
    Path("test_scatter/model.onnx").write_bytes(small.SerializeToString())
    tensors = {"input_0": X, "input_1": np.array([[0], [3], [2]]), "input_2": NEW}
    for name, array in (tensors | {"output_0": added()}).items():
        tensor = onnx.numpy_helper.from_array(array, name)
        (place / f"{name}.pb").write_bytes(tensor.SerializeToString())
    (place.parent / "test_data_set_7").mkdir()
    assert ran(capsys, "test_scatter/test_data_set_3", "-v")[:2] == (
        0, "passed test_scatter/test_data_set_3\n1 passed, 0 failed\n",
    )  # fmt: skip


def test_nodes_inside_functions_are_said_to_be_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    own, helper = model(), onnx.helper
    gather = helper.make_node("Gather", ["d", "i"], ["o"])
    opsets = [helper.make_opsetid("", 18)]
    own.functions.append(helper.make_function("own", "Pick", ["d", "i"], ["o"], [gather], opsets))
    Path("own.onnx").write_bytes(own.SerializeToString())
    note = "; those inside functions are left out, gscli check judges them"
    assert ran(capsys, "own.onnx")[1].splitlines()[0].endswith(f"are gather or scatter{note}")
    del own.graph.node[:]
    Path("own.onnx").write_bytes(own.SerializeToString())
    status, _, problem = ran(capsys, "own.onnx")
    assert status != 0
    assert f"no gather or scatter among 0 nodes{note}" in problem.replace("\n       ", " ")


def test_show_lists_nodes_beside_tensors(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["show", "net.onnx"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("idx  int64 [3,1]")
    assert "4 of 6 nodes are gather or scatter" in told
    assert run_safely(["show", "net.onnx", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["nodes"]) == 4
    bare = model()
    del bare.graph.node[2:]
    del bare.graph.initializer[:]
    Path("bare.onnx").write_bytes(bare.SerializeToString())
    assert run_safely(["show", "bare.onnx"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("no tensors\nbare.onnx: opset 18, 1 of 2 nodes is gather or scatter\n")


def branches() -> Any:
    """An If whose branches use the same names, around a Loop in one of them."""
    helper, values, kinds = onnx.helper, onnx.numpy_helper.from_array, onnx.TensorProto
    info = helper.make_tensor_value_info

    def branch(name: str, row: int, more: list[Any]) -> Any:
        picked = helper.make_node("Gather", ["x", "row"], ["picked"], name="pick", axis=0)
        row_of = values(np.array([row]), "row")
        return helper.make_graph(
            [picked, *more], name, [], [info("picked", kinds.FLOAT, [1, 3])], [row_of]
        )

    body = helper.make_graph(
        [
            helper.make_node("ScatterND", ["state", "at", "picked"], ["next"]),
            helper.make_node("Identity", ["go"], ["on"]),
        ],
        "body",
        [
            info("turn", kinds.INT64, []),
            info("go", kinds.BOOL, []),
            info("state", kinds.FLOAT, [4, 3]),
        ],
        [info("on", kinds.BOOL, []), info("next", kinds.FLOAT, [4, 3])],
        [values(np.array([[2]]), "at")],
    )
    loop = helper.make_node("Loop", ["", "", "x"], ["last"], name="turns", body=body)
    both = {"then_branch": branch("t", 1, [loop]), "else_branch": branch("e", -1, [])}
    graph = helper.make_graph(
        [helper.make_node("If", ["flag"], ["y"], name="choice", **both)],
        "g",
        [info("x", kinds.FLOAT, [4, 3]), info("flag", kinds.BOOL, [])],
        [info("y", kinds.FLOAT, [1, 3])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


THEN = "y/then_branch/"


@pytest.fixture
def nested() -> None:
    """The model of branches, beside recorded inputs of the whole."""
    Path("nested/test_data_set_0").mkdir(parents=True)
    Path("nested/model.onnx").write_bytes(branches().SerializeToString())
    for number, array in enumerate((X, np.array(True))):
        tensor = onnx.numpy_helper.from_array(array)
        Path(f"nested/test_data_set_0/input_{number}.pb").write_bytes(tensor.SerializeToString())


@pytest.mark.usefixtures("nested")
def test_nodes_inside_branches_and_loops_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    onnx.checker.check_model(branches())
    status, told, hint = ran(capsys, "nested")
    first, *rows = told.splitlines()
    assert status == 0
    assert first.endswith("3 of 6 nodes are gather or scatter")
    assert [row.split()[0] for row in rows] == [
        "y/else_branch/pick", f"{THEN}pick", f"{THEN}last/body/next",
    ]  # fmt: skip
    assert "x float32 [4,3], row int64 [1] (constant) -> picked float32 [1,3]" in rows[1]
    assert "state float32 [4,3], at int64 [1,1] (constant), picked float32 [1,3]" in rows[2]
    assert "--node y/else_branch/pick" in hint
    assert run_safely(["show", "nested/model.onnx"]) == 0
    assert f"{THEN}last/body/at  int64 [1,1]" in capsys.readouterr().out


@pytest.mark.usefixtures("nested")
@pytest.mark.parametrize(
    ("node", "row"),
    [(f"{THEN}pick", 1), ("y/else_branch/Gather#0", 3), ("y/else_branch/picked", 3)],
)
def test_a_node_in_a_branch_takes_what_its_own_and_the_outer_graph_hold(
    capsys: pytest.CaptureFixture[str], node: str, row: int
) -> None:
    for words in (("nested", "--node", node), (f"nested/model.onnx::{node}", "x.npy")):
        status, told, _ = ran(capsys, *words, "--json")
        assert (status, json.loads(told)["output"]["data"]) == (0, X[row].tolist())


@pytest.mark.usefixtures("nested")
def test_a_node_in_a_loop_says_whose_its_inputs_are(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("nested", "--node", "ScatterND#0")
    status, _, refused = ran(capsys, *words)
    assert status == 2
    assert f"data: state float32 [4,3], an input of {THEN}last/body" in refused
    assert f"updates: picked float32 [1,3], made by {THEN}pick" in refused
    status, told, _ = ran(capsys, *words, "x.npy", "[[7.0,8,9]]", "--json")
    assert (status, json.loads(told)["output"]["data"][6:9]) == (0, [7, 8, 9])
    status, _, refused = ran(capsys, "nested", "--node", "pick")
    assert status == 2
    assert "2 nodes are called 'pick'" in refused
    assert f"y/else_branch/pick, {THEN}pick" in refused
