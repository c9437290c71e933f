"""Hostile names, external data, giants and answers, for commands that read foreign files.

Names of archive members and of ONNX tensors are never paths and never reach a terminal raw; the
external data of ONNX is never followed; each line of a batch or of cases answers for itself.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
from hostile.archives import ARRAY, archive
from hostile.commands import REFUSED, USAGE, Command, Prepare
from onnx import TensorProto, helper

ESCAPE = "\x1b[31m\u202ea\nb\x07"
LONG = "n" * 1_000_000


def commands() -> Iterator[Command]:
    """All of them."""
    yield from _members()
    yield from _external()
    yield from _models()
    yield from _cases()
    yield from _jobs()
    yield from _expectations()
    yield from _stores()


def written(**contents: bytes | str) -> Prepare:
    """The folder has these files: `x_npz` is x.npz."""

    def prepare() -> None:
        for name, content in contents.items():
            data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
            Path(".".join(name.rsplit("_", 1))).write_bytes(data)

    return prepare


def _members() -> Iterator[Command]:
    names: dict[str, tuple[tuple[str, ...], int]] = {
        "up": (("../a.npy", "/etc/b.npy"), 0),
        "control": (("\x1b[31mx.npy", "a\nb.npy", "\x07.npy"), 0),
        "direction": (("\u202ey.npy", "\u2066z.npy"), 0),
        "normal_forms": (("\u00e9.npy", "e\u0301.npy"), 0),
        "letter_case": (("A.npy", "a.npy"), 0),
        "macosx": (("a.npy", "__MACOSX/._a.npy"), 0),
        "colons": (("a::b.npy", "c.npy"), 0),
        "long": (("n" * 60_000 + ".npy", "m.npy"), 0),
        "twice": (("a.npy", "a.npy"), REFUSED),
        "with_and_without": (("a", "a.npy"), REFUSED),
        "folder": (("d/", "d/a.npy"), REFUSED),
        "nameless": (("",), REFUSED),
        "ds_store": (("a.npy", ".DS_Store"), REFUSED),
    }
    for name, (members, code) in names.items():
        with warnings.catch_warnings(action="ignore"):  # of the same name twice
            content = archive(*((member, ARRAY) for member in members))
        prepare = written(x_npz=content, y_npz=archive(("q.npy", ARRAY), ("r.npy", ARRAY)))
        yield Command(f"members/{name}", ("show", "x.npz"), code, "", prepare)
        yield Command(f"members/diff_{name}", ("diff", "x.npz", "y.npz"), code or 1, "", prepare)
        words = ("gather", "x.npz", "[0]", "-q")
        yield Command(f"members/input_{name}", words, code or USAGE, "", prepare)


def _external() -> Iterator[Command]:
    places: dict[str, dict[str, object]] = {
        "up": {"location": "../out.bin"},
        "absolute": {"location": "/etc/passwd"},
        "link": {"location": "link.bin"},
        "device": {"location": "/dev/zero"},
        "itself": {"location": "x.pb"},
        "missing": {"location": "none.bin"},
        "nowhere": {},
        "escape": {"location": ESCAPE},
        "long": {"location": LONG},
        "nul": {"location": "a\0b"},
        "offset": {"location": "ok.bin", "offset": 2**70},
        "offset_text": {"location": "ok.bin", "offset": "9" * 100_000},
        "offset_negative": {"location": "ok.bin", "offset": -4},
        "length": {"location": "ok.bin", "length": 2**62},
    }
    for name, place in places.items():
        tensor = TensorProto(name="x", data_type=1, dims=[4], data_location=TensorProto.EXTERNAL)
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        content = tensor.SerializeToString()

        def prepare(content: bytes = content) -> None:
            Path("x.pb").write_bytes(content)
            Path("ok.bin").write_bytes(bytes(16))
            Path("link.bin").symlink_to("ok.bin")

        for words in (("show", "x.pb"), ("gather", "x.pb", "[0]", "-q")):
            yield Command(f"external/{words[0]}_{name}", words, REFUSED, "another file", prepare)


def _model(name: str, **external: str) -> bytes:
    data = TensorProto(name=name, data_type=1, dims=[4])
    if external:
        data.data_location = TensorProto.EXTERNAL
        data.external_data.add(key="location", value=external["location"])
    else:
        data.float_data.extend(range(4))
    at = helper.make_tensor("i" + name, 7, [2], [0, 1])
    node = helper.make_node("Gather", [name, "i" + name], ["y" + name], name=name)
    result = helper.make_tensor_value_info("y" + name, 1, [2])
    graph = helper.make_graph([node], name, [], [result], initializer=[data, at])
    content: bytes = onnx.helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)]
    ).SerializeToString()
    return content


def _models() -> Iterator[Command]:
    for name, text in {"escape": ESCAPE, "long": LONG, "plain": "w"}.items():
        prepare = written(x_onnx=_model(text))
        yield Command(f"model/show_{name}", ("show", "x.onnx"), 0, "1 of 1 node", prepare)
        yield Command(f"model/run_{name}", ("run", "x.onnx"), 0, "--node", prepare)
    prepare = written(x_onnx=_model(ESCAPE))
    words = ("run", "x.onnx", "--node", "\x1b[2Jnone")
    yield Command("model/node_unknown", words, USAGE, "none", prepare)
    words = ("run", "x.onnx", "--node", "w", str([1] * 1000), "-q")
    yield Command("model/long_inline", words, USAGE, "1 input for 0", written(x_onnx=_model("w")))
    for name, place in {"up": "../out.bin", "absolute": "/etc/passwd", "escape": ESCAPE}.items():
        prepare = written(x_onnx=_model("w", location=place))
        words = ("run", "x.onnx", "--node", "w")
        yield Command(f"model/external_{name}", words, REFUSED, "another file", prepare)


def _tensor(dtype: str, shape: list[int], data: list[Any]) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data": data}


SMALL = {"data": _tensor("float32", [2], [1, 2]), "indices": _tensor("int64", [1], [1])}
WIDE = {
    "data": _tensor("int8", [1, 100_000], [0] * 100_000),
    "indices": _tensor("int64", [100_000], [0] * 100_000),
}
EMPTY = {"data": _tensor("int8", [7], [1] * 7), "indices": _tensor("int64", [10**12, 0], [])}


def _cases() -> Iterator[Command]:
    def case(name: str, inputs: object, output: object, op: str = "Gather") -> str:
        known = {"framework": "onnx", "version": "1", "opset": 13, "attrs": {}, "expect": "output"}
        return json.dumps({"id": name, **known, "op": op, "inputs": inputs, "output": output})

    good = case("good", SMALL, _tensor("float32", [1], [2]))
    bad: dict[str, tuple[str, int]] = {
        "output_shape": (case("x", SMALL, _tensor("int8", [10**15, 0], [])), 1),
        "output": (case("x", WIDE, _tensor("int8", [1], [0])), 1),
        "entries": (case("x", EMPTY, _tensor("int8", [1], [0]), "GatherND"), 1),
        "input": (case("x", {**SMALL, "data": _tensor("f8", [10**9] * 2, [1])}, None), REFUSED),
        "answer": (case("x", SMALL, _tensor("int8", [2**62], [])), REFUSED),
        "deep": ('{"inputs":' + "[" * 100_000 + "}", REFUSED),
        "escape": (case(ESCAPE, SMALL, _tensor("float32", [1], [3])), 1),
        "long": (case(LONG, SMALL, _tensor("float32", [1], [3])), 1),
    }
    for name, (line, code) in bad.items():
        prepare, says = written(x_jsonl=f"{good}\n{line}\n{good}\n"), "2 passed"
        yield Command(f"cases/{name}", ("verify", "x.jsonl", "-q"), code, says, prepare)


def _jobs() -> Iterator[Command]:
    bad: dict[str, dict[str, object]] = {
        "input": {"inputs": {"data": "arange:100000000000", "indices": [0]}},
        "output": {"inputs": {"data": "arange:1x100000", "indices": "zeros:100000:int64"}},
        "entries": {"op": "openvino.gather_nd", "inputs": EMPTY},
        "expect": {"expect": "zeros:100000000000"},
        "expect_device": {"expect": "/dev/zero"},
        "expect_escape": {"expect": ESCAPE},
        "expect_type": {"expect": {"a": 1}},
        "rtol": {"expect": [2], "rtol": "x"},
        "file_device": {"output": "/dev/full"},
        "file_number": {"output": 5},
        "file_nul": {"output": "a\0b.npy"},
        "file_escape": {"output": f"{ESCAPE}.xyz"},
        "file_folder": {"output": "none/none/x.npy"},
    }
    for name, parts in bad.items():
        job = {"op": "gather", "inputs": {"data": [1, 2], "indices": [1]}}
        lines = [json.dumps({"id": one, **more}) for one, more in
                 (("a", job), ("b", {**job, **parts}), ("last", job))]  # fmt: skip
        says = '{"id": "last", "output"'
        yield Command(f"jobs/{name}", ("batch", "-"), 1, says, stdin="\n".join(lines).encode())


def _expectations() -> Iterator[Command]:
    np_words = ("gather", "[1,2]", "[0]", "-q", "--expect")
    lie = json.dumps(_tensor("int8", [2**62], []))
    for name, text in {"lie": lie, "deep": "[" * 5000, "escape": f'["{ESCAPE[0]}'}.items():
        yield Command(f"expect/{name}", (*np_words, text), REFUSED)
    yield Command("expect/huge", (*np_words, "zeros:100000000000"), REFUSED)
    prepare = written(x_npz=archive((f"{ESCAPE}.npy", ARRAY), ("b.npy", ARRAY)))
    yield Command("expect/members", (*np_words, "x.npz"), USAGE, "", prepare)
    text = json.dumps({"dtype": "str", "shape": [1], "data": [ESCAPE]})
    yield Command("diff/text", ("diff", text, '["a"]'), 1)
    yield Command("code/unknown", ("explain", "gather", "[1]", "[0]", "--code", ESCAPE), USAGE)
    for name, document in {
        "no_concept": {"concept": ESCAPE, "call": {}, "as": []},
        "inputs": {"concept": "gather", "call": {}, "as": ["onnx"], "inputs": 3},
        "input_lie": {
            "concept": "gather", "call": {}, "as": ["onnx"],
            "inputs": {"data": _tensor("int8", [2**62], []), "indices": _tensor("int64", [1], [0])},
        },
    }.items():  # fmt: skip
        prepare = written(run_json=json.dumps({"schema": "gscli-compare/1", **document}))
        yield Command(
            f"page/compare_{name}", ("page", "run.json", "-o", "p.html"), REFUSED, "", prepare
        )


def _stores() -> Iterator[Command]:
    plain = {
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    }  # fmt: skip
    grid = {"name": "regular", "configuration": {"chunk_shape": [0]}}
    bad: dict[str, object] = {
        "list": [],
        "deep": None,
        "shape_negative": {**plain, "shape": [-1]},
        "shape_text": {**plain, "shape": ["4"]},
        "chunk_zero": {**plain, "chunk_grid": grid},
        "type": {**plain, "data_type": ESCAPE},
        "codec": {**plain, "codecs": [{"name": ESCAPE}]},
    }
    for name, document in bad.items():
        text = "[" * 100_000 if document is None else json.dumps(document)

        def prepare(text: str = text) -> None:
            Path("x.zarr").mkdir()
            Path("x.zarr", "zarr.json").write_text(text)

        yield Command(f"zarr/{name}", ("show", "x.zarr"), REFUSED, "", prepare)
    text = json.dumps({**plain, "shape": [2**62]})

    def giant(text: str = text) -> None:
        Path("x.zarr").mkdir()
        Path("x.zarr", "zarr.json").write_text(text)

    yield Command(
        "zarr/giant", ("gather", "x.zarr", "[0]", "--axis", "0", "-q"), REFUSED, "", giant
    )
