"""`gscli check MODEL.onnx INPUTS.npz`: every gather and scatter of a whole model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from gscli.base import CannotRead, GscliError, InputRefused
from gscli.base.arrays import parse_dtype
from gscli.cli import run_safely
from gscli.lab.models import OnnxModel
from gscli.watch import onnx_nodes
from gscli.watch.onnx_nodes import RuntimeStopped, watch_model

INT, FLOAT, BOOL = TensorProto.INT64, TensorProto.FLOAT, TensorProto.BOOL
RULES, REFERENCE = "", "onnx"


def make_model(nodes: list[Any], inputs: list[Any], outputs: list[str], **held: Any) -> OnnxModel:
    functions = held.pop("functions", [])
    graph = helper.make_graph(
        nodes, "graph", inputs,
        [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in held.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    message = helper.make_model(graph, opset_imports=opsets, functions=functions)
    message.ir_version = 10
    return OnnxModel(message, "model.onnx")


def value(name: str, kind: int, shape: list[Any]) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


TABLE = np.arange(8, dtype=np.float32).reshape(4, 2)


def embedding() -> OnnxModel:
    """Positions are made by Range, as exporters write them."""
    node = helper.make_node
    nodes = [
        node("Gather", ["table", "ids"], ["rows"], name="/embed/Gather"),
        node("Range", ["zero", "length", "step"], ["range"], name="/Range"),
        node("Gather", ["table", "range"], ["placed"], name="/positions/Gather"),
        node("ScatterND", ["table", "slots", "placed"], ["cache"], name="/cache/ScatterND"),
    ]
    inputs = [value("ids", INT, ["n"]), value("length", INT, []), value("slots", INT, ["m", 1])]
    return make_model(nodes, inputs, ["rows", "cache"], table=TABLE, zero=0, step=1)


def feeds(ids: list[int], length: int, slots: list[int]) -> dict[str, Any]:
    return {
        "ids": np.array(ids), "length": np.array(length), "slots": np.array(slots)[:, None],
    }  # fmt: skip


def loop() -> OnnxModel:
    node = helper.make_node
    body = helper.make_graph(
        [node("Gather", ["table", "i"], ["row"], name="/decode/Gather", axis=0),
         node("Identity", ["c"], ["c2"])],
        "body", [value("i", INT, []), value("c", BOOL, [])],
        [value("c2", BOOL, []), value("row", FLOAT, [2])],
    )  # fmt: skip
    nodes = [node("Loop", ["trips", "go"], ["rows"], body=body, name="/decode/Loop")]
    return make_model(nodes, [value("trips", INT, [])], ["rows"], table=TABLE, go=True)


def steps(trips: str, most: int = 9) -> OnnxModel:
    """A loop without a first condition, whose rows are stacked, each with an axis of one cell."""
    node = helper.make_node
    body = helper.make_graph(
        [node("Gather", ["table", "i"], ["row"], name="/decode/Gather"),
         node("Add", ["sum", "row"], ["more"]),
         node("Unsqueeze", ["row", "zero"], ["line"]),
         node("Identity", ["i"], ["turn"]),
         node("Less", ["i", "last"], ["c2"])],
        "body", [value("i", INT, []), value("c", BOOL, []), value("sum", FLOAT, [2])],
        [value("c2", BOOL, []), value("more", FLOAT, [2]), value("line", FLOAT, [1, 2]),
         value("turn", INT, [])],
    )  # fmt: skip
    nodes = [
        node("Loop", [trips, "", "start"], ["total", "lines", "turns"], body=body, name="/decode"),
        node("Gather", ["lines", "place"], ["placed"], axis=1, name="/after/Gather"),
        node("Gather", ["table", "turns"], ["again"], name="/again/Gather"),
    ]
    inputs = [value("last", INT, []), value("place", INT, ["n"])]
    outputs = ["total", "lines", "placed", "again"]
    start = np.zeros(2, np.float32)
    return make_model(nodes, inputs, outputs, table=TABLE, zero=[0], start=start, trips=most)


def branch() -> OnnxModel:
    node = helper.make_node
    sides = [
        helper.make_graph([node("Gather", ["table", "i"], ["row"], name=name)], name, [],
                          [value("row", FLOAT, None)])
        for name in ("first", "second")
    ]  # fmt: skip
    nodes = [node("If", ["c"], ["out"], then_branch=sides[0], else_branch=sides[1], name="/If")]
    inputs = [value("c", BOOL, []), value("i", INT, ["n"])]
    return make_model(nodes, inputs, ["out"], table=TABLE)


def function() -> OnnxModel:
    inner = helper.make_node("Gather", ["t", "i"], ["row"], name="inner")
    reference = onnx.AttributeProto(name="axis", ref_attr_name="along", type=2)
    inner.attribute.append(reference)
    own = helper.make_function(
        "own", "Pick", ["t", "i"], ["row"], [inner], [helper.make_opsetid("", 18)], ["along"]
    )
    nodes = [helper.make_node("Pick", ["table", "i"], ["out"], domain="own", along=1)]
    return make_model(nodes, [value("i", INT, ["n"])], ["out"], table=TABLE, functions=[own])


@pytest.mark.parametrize("runtime", [RULES, REFERENCE])
@pytest.mark.parametrize(
    ("values", "where", "maker"),
    [
        (feeds([4], 2, [0, 1]), "/embed/Gather (Gather, opset 18): indices[0] = 4", "an input of"),
        (feeds([0], 5, [0]), "/positions/Gather (Gather, opset 18): indices[4] = 4", "by /Range"),
        (feeds([0], 1, [9]), "/cache/ScatterND (ScatterND, opset 18): indices[0,0] = 9", "held by"),
    ],
)
def test_the_first_bad_node_and_its_producer_are_named(
    runtime: str, values: dict[str, Any], where: str, maker: str
) -> None:
    report = watch_model(embedding(), values, runtime)
    (finding,) = report.findings
    assert finding.kind == "index"
    assert finding.error.where == f"model.onnx: {where}"
    assert any(maker in line for line in finding.error.details)


def test_bad_indices_that_are_left_out_are_counted_without_a_command_that_has_them() -> None:
    report = watch_model(embedding(), feeds([4, 5, 6, 7, 8], 2, [0, 1]))
    (finding,) = report.findings
    (line,) = [line for line in finding.error.details if "more" in line]
    assert line == "… and 2 more"


@pytest.mark.parametrize("runtime", [RULES, REFERENCE])
def test_a_sound_model_has_no_findings(runtime: str) -> None:
    report = watch_model(embedding(), feeds([0, -1, 3], 2, [0, 3]), runtime)
    assert not report.findings, report.report()
    assert report.last_line() == "watched 3 calls, 7 indices: 2 Gather, 1 ScatterND"


@pytest.mark.parametrize("runtime", [RULES, REFERENCE])
def test_weights_in_another_file_are_named(runtime: str) -> None:
    model = embedding()
    onnx.external_data_helper.set_external_data(model.message.graph.initializer[0], "w.data")
    with pytest.raises(GscliError, match=r"lie in another file.*save_as_external_data=False"):
        watch_model(model, feeds([0], 1, [0]), runtime)


@pytest.mark.parametrize("runtime", [RULES, REFERENCE])
@pytest.mark.parametrize("is_held", [True, False])
@pytest.mark.parametrize("dtype", ["str", "bfloat16"])
def test_values_that_an_npz_does_not_carry_come_through(
    dtype: str, is_held: bool, runtime: str
) -> None:
    """Runtimes give strings as objects, and an .npz forgets the types of ml_dtypes."""
    words, halves = np.array([["a", "b"], ["cc", "d"]]), TABLE.astype(parse_dtype("bfloat16"))
    array, kind = (words, TensorProto.STRING) if dtype == "str" else (halves, TensorProto.BFLOAT16)
    nodes = [
        helper.make_node("Gather", ["x", "ids"], ["rows"], name="first"),
        helper.make_node("Gather", ["rows", "ids"], ["again"], name="second"),
    ]
    feeds = {"ids": np.array([1, -1])} | ({} if is_held else {"x": array})
    inputs = [value("x", kind, [None, 2]), value("ids", INT, ["n"])][is_held:]
    held = {"x": array.astype(object) if dtype == "str" else array} if is_held else {}
    model = make_model(nodes, inputs, ["rows", "again"], **held)
    for output in model.message.graph.output:
        output.type.tensor_type.elem_type = kind
    report = watch_model(model, feeds, runtime)
    assert (report.calls, report.findings) == ({"Gather": 2}, []), report.report()
    refused = watch_model(model, feeds | {"ids": np.array([9])}, runtime).report()
    shape = "[2,2]" if dtype == "str" else "[4,2]"
    assert f"data is 'x' {dtype} {shape}, " in refused


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"length": np.array([2])}, r"length int64 \[1\]; valid: int64 \[\]"),
        ({"ids": np.array([0], np.int32)}, r"ids int32 \[1\]; valid: int64 \[n\]"),
        ({"slots": np.array([[0, 1]])}, r"slots int64 \[1,2\]; valid: int64 \[m,1\]"),
        ({"slots": np.array([0])}, r"slots int64 \[1\]; valid"),
    ],
)
def test_inputs_that_the_model_declares_otherwise_are_refused(
    change: dict[str, Any], told: str
) -> None:
    with pytest.raises(InputRefused, match=told):
        watch_model(embedding(), feeds([0], 1, [0]) | change)


def test_entries_that_write_one_cell_are_a_warning() -> None:
    report = watch_model(embedding(), feeds([0], 2, [3, 3]))
    assert [finding.kind for finding in report.findings] == ["lost"]
    assert "/cache/ScatterND" in report.report()


def test_all_shared_slices_of_a_node_are_named_or_counted() -> None:
    scatter = helper.make_node("ScatterND", ["table", "slots", "new"], ["cache"])
    inputs = [value("slots", INT, ["m", 1]), value("new", FLOAT, ["m", 2])]
    model = make_model([scatter], inputs, ["cache"], table=TABLE)
    slots = np.array([0, 0, 1, 1, 2, 2, 3, 3])[:, None]
    new = np.arange(16, dtype=np.float32).reshape(8, 2)
    (finding,) = watch_model(model, {"slots": slots, "new": new}).findings
    texts = finding.error.problem, *finding.error.details
    named = [int(text.partition(":")[0].removeprefix("index ")) for text in texts[:3]]
    assert named == [0, 1, 2]
    assert texts[3] == "1 more slice written more than once"


def test_the_run_of_a_loop_is_counted() -> None:
    assert not watch_model(loop(), {"trips": np.array(4)}).findings
    aside = watch_model(loop(), {"trips": np.array(3)}, REFERENCE)
    assert "3 Gather; not judged: 3 answers inside branches or loops" in aside.last_line()
    report = watch_model(loop(), {"trips": np.array(6)})
    assert report.calls == {"Gather": 5}
    where = "/decode/Gather (Gather, opset 18), run 5: indices = 4"
    assert where in report.report().replace("\n", "")
    report = watch_model(steps("trips"), {"last": np.array(9), "place": np.array([0])})
    assert where in report.report().replace("\n", "")


def test_a_loop_of_no_steps_gives_no_rows_of_the_declared_size() -> None:
    inputs = {"last": np.array(9), "place": np.array([0])}
    report = watch_model(steps("trips", 0), inputs)
    assert not report.findings
    assert report.calls == {"Gather": 2}
    report = watch_model(steps("trips", 0), {**inputs, "place": np.array([1])})
    assert "/after/Gather" in report.findings[0].error.where


@pytest.mark.parametrize("side", [True, False])
def test_the_branch_that_runs_is_judged(side: bool) -> None:
    report = watch_model(branch(), {"c": np.array(side), "i": np.array([7])})
    assert ("first" if side else "second") in report.findings[0].error.where
    aside = watch_model(branch(), {"c": np.array(side), "i": np.array([0])}, REFERENCE)
    assert "not judged: 1 answer inside a branch or loop" in aside.last_line()


def test_a_bad_index_in_a_branch_is_named_where_a_runtime_stops_at_it() -> None:
    message = branch().message
    message.graph.initializer.append(numpy_helper.from_array(np.array([0]), "zero"))
    message.graph.node.append(helper.make_node("Gather", ["out", "zero"], ["last"]))
    message.graph.output.append(value("last", FLOAT, None))
    model, side = OnnxModel(message, "model.onnx"), np.array(True)
    report = watch_model(model, {"c": side, "i": np.array([7])}, REFERENCE)
    where = report.findings[0].error.where
    assert "out/then_branch/first" in where
    assert where.endswith("indices[0] = 7")
    assert not watch_model(model, {"c": side, "i": np.array([0])}, REFERENCE).findings


def test_an_attribute_of_a_function_reaches_its_nodes() -> None:
    report = watch_model(function(), {"i": np.array([2])})
    assert "axis 1 of data has size 2" in report.report()
    assert not watch_model(function(), {"i": np.array([1])}).findings
    assert "gscli run" not in report.report(), "which lists nodes of functions nowhere"
    assert "help: functions of the model stand in" in report.report()


@pytest.mark.parametrize("runtime", [RULES, REFERENCE])
@pytest.mark.parametrize(
    ("reduction", "index", "number", "told"),
    [
        ("none", [[0, 1]], 1.0, "indices may be smaller than data"),
        ("max", [[0, 1, 0]], np.nan, "what max makes of NaN"),
        ("max", [[0, 1, 0]], 1.0, ""),
    ],
)
def test_what_the_text_leaves_open_is_a_warning(
    reduction: str, index: list[list[int]], number: float, told: str, runtime: str
) -> None:
    names, shape = ["x", "i", "u"], np.shape(index)
    node = helper.make_node("ScatterElements", names, ["y"], reduction=reduction)
    inputs = [value("x", FLOAT, [3, 3]), value("i", INT, [*shape]), value("u", FLOAT, [*shape])]
    arrays = np.ones((3, 3)), np.array(index), np.full(shape, number)
    feeds = dict(zip(names, arrays, strict=True))
    feeds |= {name: feeds[name].astype(np.float32) for name in "xu"}
    report = watch_model(make_model([node], inputs, ["y"]), feeds, runtime)
    problems = [finding.error.problem for finding in report.findings if finding.kind == "open"]
    assert len(problems) == bool(told), report.report()
    assert all(told in problem and "leaves this open" in problem for problem in problems)


def best() -> OnnxModel:
    """The largest of each row, and where a cache takes them."""
    node = helper.make_node
    nodes = [
        node("TopK", ["x", "two"], ["values", "where"], axis=1),
        node("GatherElements", ["x", "where"], ["most"], axis=1, name="/topk/GatherElements"),
        node("ScatterElements", ["x", "cells", "most"], ["out"], axis=1, reduction="add",
             name="/cache/ScatterElements"),
    ]  # fmt: skip
    inputs = [value("x", FLOAT, ["n", "m"]), value("cells", INT, ["n", 2])]
    return make_model(nodes, inputs, ["most", "out"], two=[2])


def chosen() -> OnnxModel:
    """The cells that are not zero, by GatherND, and by other positions too."""
    node = helper.make_node
    nodes = [
        node("NonZero", ["x"], ["found"]),
        node("Transpose", ["found"], ["cells"]),
        node("GatherND", ["x", "cells"], ["picked"], name="/nonzero/GatherND"),
        node("GatherND", ["x", "more"], ["others"], name="/more/GatherND", batch_dims=1),
    ]
    inputs = [value("x", FLOAT, ["n", "m"]), value("more", INT, ["n", 1])]
    return make_model(nodes, inputs, ["picked", "others"])


# A model, inputs that are sound, inputs that are not, and where that shows.
MADE: dict[str, tuple[OnnxModel, dict[str, Any], dict[str, Any], str]] = {
    "embedding": (embedding(), feeds([0, 3], 2, [0, 3]), feeds([0], 5, [0]), "/positions/Gather"),
    "loop": (loop(), {"trips": np.array(4)}, {"trips": np.array(6)}, "/decode/Gather"),
    "for": (
        steps("trips"), {"last": np.array(3), "place": np.array([0])},
        {"last": np.array(2), "place": np.array([1])}, "/after/Gather",
    ),
    "until": (
        steps(""), {"last": np.array(3), "place": np.array([0, -1])},
        {"last": np.array(2), "place": np.array([1])}, "/after/Gather",
    ),
    "branch": (
        branch(), {"c": np.array(True), "i": np.array([1])},
        {"c": np.array(False), "i": np.array([7])}, "second",
    ),
    "function": (function(), {"i": np.array([1])}, {"i": np.array([2])}, "inner"),
    "best": (
        best(), {"x": TABLE, "cells": np.array([[0, 1]] * 4)},
        {"x": TABLE, "cells": np.array([[0, 2]] * 4)}, "/cache/ScatterElements",
    ),
    "chosen": (
        chosen(), {"x": TABLE, "more": np.array([[1]] * 4)},
        {"x": TABLE, "more": np.array([[1], [2], [0], [0]])}, "/more/GatherND",
    ),
}  # fmt: skip


@pytest.mark.parametrize("runtime", [RULES, pytest.param("onnxruntime", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MADE)
def test_made_models_run_on_a_real_runtime(name: str, runtime: str) -> None:
    if runtime:
        pytest.importorskip("onnxruntime")
    model, sound, bad, place = MADE[name]
    report = watch_model(model, sound, runtime)
    assert not report.findings, report.report()
    assert report.calls
    (finding,) = watch_model(model, bad, runtime).findings
    assert finding.kind == "index"
    assert f": {place}" in finding.error.where or f"/{place} " in finding.error.where


FAKE = """
from onnx.reference import ReferenceEvaluator
import numpy as np
class SessionOptions: pass
class GraphOptimizationLevel: ORT_DISABLE_ALL = 0
class InferenceSession:
    def __init__(self, path, options, providers): self._evaluator = ReferenceEvaluator(path)
    def run(self, names, feeds):
        values = self._evaluator.run(names, feeds)
        return [v + 1 if n == "placed" else v for n, v in zip(names, values)]
"""


def test_a_wrong_runtime_is_seen_at_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "onnxruntime.py").write_text(FAKE)
    found_first = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
    monkeypatch.setattr(onnx_nodes, "_ASK", found_first + onnx_nodes._ASK)
    report = watch_model(embedding(), feeds([0], 2, [0, 1]), "onnxruntime")
    finding = report.findings[0]
    assert finding.kind == "answer"
    assert finding.error.where == "model.onnx: /positions/Gather"
    assert "placed" not in finding.error.problem
    assert "onnxruntime: output[0,0] is 1.0, by the rules 0.0" in finding.error.problem


def test_what_stops_a_runtime_and_is_not_an_index_is_told() -> None:
    node = helper.make_node("Unheard", ["x"], ["y"])
    model = make_model([node], [value("x", FLOAT, [4, 2])], ["y"])
    with pytest.raises(RuntimeStopped, match=r"onnx\.reference does not run this model") as stop:
        watch_model(model, {"x": TABLE})
    assert stop.value.hint.startswith("onnxruntime may run it: --on onnxruntime; "), "it need not"
    model = make_model(
        [node, helper.make_node("Gather", ["y", "i"], ["z"])],
        [value("x", FLOAT, [4, 2]), value("i", INT, [1])], ["z"],
    )  # fmt: skip
    with pytest.raises(RuntimeStopped, match="onnx does not run this model") as stop:
        watch_model(model, {"x": TABLE, "i": np.array([0])}, REFERENCE)
    assert stop.value.hint == "each gather and scatter runs alone: gscli run model.onnx"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "RuntimeError: No corresponding Numpy type for Tensor Type. bfloat16",
            "no arrays for Python",
        ),
        ("TypeError: data type 'bfloat16' not understood", "no arrays for Python"),
        ("NotImplemented: no implementation for Gather of bfloat16", "does not run this model"),
    ],
)
def test_a_type_without_arrays_is_no_fault_of_the_model(
    text: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As onnxruntime 1.32.0 refuses to take and to give bfloat16, in which it computes."""
    asking = "import sys\nprint(flush=True)\nprint(" + repr(text) + ")\n"
    monkeypatch.setattr(onnx_nodes, "_ASK", asking)
    with pytest.raises(RuntimeStopped, match=told):
        watch_model(embedding(), feeds([0], 1, [0]), "onnxruntime")


def test_a_runtime_that_is_not_there_is_no_fault_of_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(CannotRead, match="the runtime does not start") as stop:
        watch_model(embedding(), feeds([0], 2, [0, 1]), REFERENCE, "/no/python")
    assert "/no/python: No such file" in stop.value.where
    missing = onnx_nodes._ASK.replace("onnxruntime", "onnxruntime_nowhere")
    monkeypatch.setattr(onnx_nodes, "_ASK", missing)
    with pytest.raises(CannotRead, match="the runtime does not start") as stop:
        watch_model(embedding(), feeds([0], 2, [0, 1]), "onnxruntime")
    assert "No module named 'onnxruntime_nowhere'" in stop.value.where
    assert stop.value.hint.startswith("--python PATH")


def run_check(*words: str) -> int:
    return run_safely(["check", "model.onnx", *words])


def test_the_command_reads_files_and_answers_by_its_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    onnx.save(embedding().message, "model.onnx")
    np.savez("good.npz", **feeds([1], 1, [0]))
    np.savez("bad.npz", **feeds([4], 1, [0]))
    assert run_check("good.npz") == 0
    assert capsys.readouterr().out == "watched 3 calls, 3 indices: 2 Gather, 1 ScatterND\n"
    assert run_check("bad.npz", "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert [finding["position"] for finding in document["findings"]] == [[0]]
    assert run_check("bad.npz", "--on", "onnx") == 1
    assert run_check("bad.npz", "--on", "tensorflow") == 2
    assert "valid: onnxruntime onnx" in capsys.readouterr().err
    assert run_check("bad.npz", "--python", "python3") == 2
    assert run_check() == 2
    assert "valid: ids, length, slots" in capsys.readouterr().err
    assert run_check("ids=[4]", "lenght=1", "good.npz") == 2
    assert "did you mean length?" in capsys.readouterr().err
    np.save("ids.npy", np.load("bad.npz")["ids"])
    others = {name: array for name, array in np.load("good.npz").items() if name != "ids"}
    np.savez("others.npz", **others)
    assert run_check("ids=ids.npy", "others.npz") == 1
    assert "indices[0] = 4" in capsys.readouterr().out
    for word in ("[[1]]", "ids.np=[1]", "nosuch.npz"):
        assert run_check(word) == 66
        message = capsys.readouterr().err
        assert "valid: a folder, or .h5" in message
        assert "JSON" not in message
    assert run_check("--help") == 0
    assert "INPUTS" in capsys.readouterr().out
    assert run_safely(["check", "nothing.onnx", "good.npz"]) == 66
    assert run_safely(["check", "a b.onnx", "--zzz"]) == 2
    assert "gscli check 'a b.onnx' --help" in capsys.readouterr().err
