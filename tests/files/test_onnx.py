"""TensorProto files and models: agreement with the onnx package in both directions."""

from __future__ import annotations

import itertools
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from gscli.base import ContentRefused, DtypeRefused, GscliError, LimitRefused
from gscli.base.arrays import parse_dtype
from gscli.cli import run_safely
from gscli.files import load, members, save
from gscli.files.formats import tensorproto
from gscli.files.request import Member

NAMES = [name for name, _ in tensorproto.TYPES.values()]

# What the oldest onnx package that gscli works with cannot make an array of, or into one.
RECENT = ("str", "bfloat16", "uint4", "int4", "uint2", "int2", "float4_e2m1fn")

BY_TYPE = [
    pytest.param(name, marks=pytest.mark.recent if name in RECENT or "float8" in name else ())
    for name in NAMES
]


def sample(name: str, count: int) -> np.ndarray:
    if name == "str":
        return np.array(["a", "bé", ""] * count)[:count]
    numbers = np.random.default_rng(count).integers(-2, 2, count)
    dtype = parse_dtype(name)
    unsigned = dtype.kind in "bu" or name.startswith(("uint", "float8_e8m0"))
    return (np.abs(numbers) if unsigned else numbers).astype(dtype)


@pytest.mark.parametrize("name", BY_TYPE)
def test_raw_data_agrees_with_the_onnx_package(name: str, tmp_path: Path) -> None:
    for shape in [(), (1,), (5,), (0,), (3, 3)]:
        array = sample(name, int(np.prod(shape))).reshape(shape)
        path = tmp_path / "x.pb"
        save(str(path), array)
        message = onnx.TensorProto.FromString(path.read_bytes())
        assert message.name == "output"
        theirs = numpy_helper.to_array(message)
        if name == "str":
            theirs = theirs.astype(np.str_)
        assert theirs.dtype == array.dtype or name == "str"
        assert theirs.astype(array.dtype).tobytes() == array.tobytes()
        loaded = load(str(path)).array
        assert loaded.shape == shape
        assert loaded.astype(array.dtype).tobytes() == array.tobytes()
        path.write_bytes(numpy_helper.from_array(array, "x").SerializeToString())
        assert load(str(path)).array.astype(array.dtype).tobytes() == array.tobytes()


@pytest.mark.parametrize("name", [one for one in BY_TYPE if one.values != ("float4_e2m1fn",)])
def test_typed_fields_agree_with_the_onnx_package(name: str, tmp_path: Path) -> None:
    array = sample(name, 5)
    if name in tensorproto.BITS:
        message = onnx.TensorProto(dims=[5], data_type=code(name))
        message.int32_data.extend(numpy_helper.from_array(array).raw_data)
    else:
        values = array.tolist()
        if name == "str":
            values = [value.encode() for value in values]
        message = onnx.helper.make_tensor("x", code(name), [5], values)
        assert not message.HasField("raw_data")
    (tmp_path / "x.pb").write_bytes(message.SerializeToString())
    loaded = load(str(tmp_path / "x.pb")).array
    assert loaded.astype(array.dtype).tobytes() == array.tobytes()


def code(name: str) -> int:
    return next(number for number, (label, _) in tensorproto.TYPES.items() if label == name)


def test_what_the_format_cannot_hold(tmp_path: Path) -> None:
    path = str(tmp_path / "x.pb")
    for array in (np.array([b"a"]), np.array(["\ud800"])):
        with pytest.raises(DtypeRefused):
            save(path, array)
    assert not list(tmp_path.iterdir())


def test_the_size_of_a_message_is_limited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tensorproto, "_MESSAGE_LIMIT", 100)
    with pytest.raises(GscliError, match="limit"):
        save(str(tmp_path / "x.pb"), np.arange(20))


def test_a_model_gives_initializers_and_constants(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.arange(6.0).reshape(2, 3), "weight")
    table = numpy_helper.from_array(np.array([1, 2]), "inner")
    nodes = [
        onnx.helper.make_node("Constant", [], ["constant"], value=table),
        onnx.helper.make_node("Constant", [], ["other"], value_int=3),
        onnx.helper.make_node("Gather", ["weight", "constant"], ["y"]),
    ]
    graph = onnx.helper.make_graph(nodes, "g", [], [], [weight])
    path = tmp_path / "m.onnx"
    onnx.save_model(onnx.helper.make_model(graph), path)
    assert members(str(path)) == [
        Member("weight", "float64", (2, 3), 48),
        Member("constant", "int64", (2,), 16),
    ]
    assert load(f"{path}::constant").array.tolist() == [1, 2]
    assert load(f"{path}::weight").origin == f"{path}::weight"
    with pytest.raises(GscliError, match="say which one"):
        load(str(path))


def test_members_of_a_tensor(tmp_path: Path) -> None:
    save(str(tmp_path / "x.pb"), np.zeros((2, 2), np.float32))
    assert members(str(tmp_path / "x.pb")) == [Member("", "float32", (2, 2), 16)]


@pytest.mark.parametrize("kind", ["ModelProto", "TensorProto"])
def test_the_field_counter_walks_every_sound_message(kind: str) -> None:
    """The count of a whole model is the number of its parts: neither lost nor endless."""
    from gscli.files.formats.tensorproto import check_fields

    tensor = numpy_helper.from_array(np.arange(3.0), "a")
    tensor.double_data.extend([1.0])
    tensor.float_data.extend([1.0])
    graph = onnx.helper.make_graph([], "g", [], [], [tensor] * 3)
    message = tensor if kind == "TensorProto" else onnx.helper.make_model(graph)
    data = message.SerializeToString()
    check_fields(data, message.DESCRIPTOR, "x")
    for cut, flip in itertools.product(range(len(data)), (0, 1, 0x80)):
        broken = bytearray(data[: len(data) - cut])
        if broken:
            broken[cut % len(broken)] ^= flip
        with suppress(ValueError):  # a wire type that no message of ONNX has
            check_fields(bytes(broken), message.DESCRIPTOR, "x")


def test_a_file_of_another_kind_is_not_a_model(tmp_path: Path) -> None:
    (tmp_path / "x.onnx").write_bytes(b"\xff\xff\xff")
    with pytest.raises(ContentRefused, match="not an ONNX ModelProto"):
        load(str(tmp_path / "x.onnx"))


def test_tensors_inside_a_branch_go_by_the_node_and_the_attribute(tmp_path: Path) -> None:
    helper, path = onnx.helper, tmp_path / "nested.onnx"

    def graph(number: int, *nodes: onnx.NodeProto) -> onnx.GraphProto:
        held = numpy_helper.from_array(np.array([number]), "c")
        return helper.make_graph(list(nodes), "g", [], [], [held])

    branch = helper.make_node("If", ["x"], ["y"], then_branch=graph(1), else_branch=graph(2))
    several = helper.make_node("Odd", ["x"], [], bodies=[graph(4)])
    model = helper.make_model(graph(3, branch, several))
    path.write_bytes(model.SerializeToString())
    names = {"c": 3, "y/then_branch/c": 1, "y/else_branch/c": 2, "Odd#1/bodies.0/c": 4}
    assert {one.name for one in members(str(path))} == {*names}
    for name, number in names.items():
        assert load(f"{path}::{name}").array.tolist() == [number]
    model.graph.node[0].attribute[0].g.initializer.append(numpy_helper.from_array(np.ones(1), "c"))
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ContentRefused, match="two tensors are called y/else_branch/c"):
        members(str(path))


def test_names_of_nested_graphs_do_not_multiply(tmp_path: Path) -> None:
    message = onnx.ModelProto()
    branch = message.graph.node.add(op_type="If", output=["n" * 100_000]).attribute.add(name="b")
    branch.g.node.extend([onnx.NodeProto(op_type="Relu")] * 1000)
    (tmp_path / "x.onnx").write_bytes(message.SerializeToString())
    with pytest.raises(LimitRefused, match="the text of all names") as refused:
        members(str(tmp_path / "x.onnx"))
    assert not refused.value.hint


@pytest.mark.parametrize("field", ["op_type", "domain", "name", "output", "attribute"])
def test_text_of_a_model_is_utf8(tmp_path: Path, field: str) -> None:
    words = {name: "§" if name == field else "x" for name in ("op_type", "domain", "name")}
    node = helper.make_node(
        words["op_type"], ["a"], ["§" if field == "output" else "y"], words["name"],
        domain=words["domain"], **{"§" if field == "attribute" else "z": 1},
    )  # fmt: skip
    model = helper.make_model(helper.make_graph([node], "g", [], []))
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString().replace("§".encode(), b"\xff\xfe"))
    for words in (["run", str(path)], ["show", str(path)]):
        assert run_safely(words) == 65
