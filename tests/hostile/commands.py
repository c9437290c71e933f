"""Hostile calls of the whole command: values, options, documents, folders and places to write to.

Each case prepares a folder, which becomes the working folder, and gives the words of the command.
"""

from __future__ import annotations

import io
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

USAGE, REFUSED, UNREADABLE, UNWRITABLE = 2, 65, 66, 73

Prepare = Callable[[], object]

DATA = np.arange(12.0).reshape(4, 3)


@dataclass(frozen=True)
class Command:
    """A hostile call: `code` is its exit status, `says` must occur in what it prints."""

    name: str
    words: Sequence[str]
    code: int
    says: str = ""
    prepare: Prepare = lambda: None
    stdin: bytes = b""


def commands() -> Iterator[Command]:
    """All of them."""
    yield from _indices()
    yield from _updates()
    yield from _amplification()
    yield from _numbers()
    yield from _lines()
    yield from _documents()
    yield from _node_tests()
    yield from _places_to_write()
    yield from _patches()
    yield from _files()


def saved(**arrays: np.ndarray[Any, np.dtype[Any]]) -> Prepare:
    """The folder has these .npy files, and data.npy."""

    def prepare() -> None:
        for name, array in ({"data": DATA} | arrays).items():
            np.save(f"{name}.npy", array)

    return prepare


CALLS = {
    "gather": ("gather", "data.npy", "at.npy"),
    "gather-elements": ("gather-elements", "data.npy", "at2.npy"),
    "gather-nd": ("gather-nd", "data.npy", "at2.npy"),
    "scatter-elements": ("scatter-elements", "data.npy", "at2.npy", "upd1.npy"),
    "scatter-nd": ("scatter-nd", "data.npy", "at2.npy", "upd3.npy"),
    "scatter-update": ("scatter-update", "data.npy", "at.npy", "upd3.npy", "--axis", "0"),
    "take": ("take", "data.npy", "at.npy", "--axis", "0"),
    "torch gather": ("torch", "gather", "data.npy", "at2.npy", "--dim", "0"),
    "tf gather": ("tf", "gather", "data.npy", "at.npy"),
}


def _indices() -> Iterator[Command]:
    bad: dict[str, Any] = {
        "uint64_largest": np.array([2**64 - 1], np.uint64),
        "uint64_2_63": np.array([2**63], np.uint64),
        "int64_smallest": np.array([-(2**63)]),
        "int64_largest": np.array([2**63 - 1]),
        "int32_2_31": np.array([-(2**31)], np.int32),
        "size": np.array([4]),
        "minus_size_less_one": np.array([-5]),
        "truth": np.array([True]),
        "float": np.array([1.0]),
        "float_nan": np.array([np.nan]),
        "half": np.array([1.0], np.float16),
        "complex": np.array([1j]),
        "text": np.array(["1"]),
        "bytes": np.array([b"1"]),
    }
    for name, array in bad.items():
        for call, words in CALLS.items():
            if (name, call) == ("truth", "take"):  # NumPy reads truth values as 0 and 1
                continue
            prepare = saved(
                at=array, at2=array[:, None], upd1=np.zeros((1, 1)), upd3=np.zeros((1, 3))
            )
            yield Command(f"index/{name}_{call.replace(' ', '_')}", words, REFUSED, "", prepare)
    for text in ("[18446744073709551615]", "[18446744073709551616]", "[-9223372036854775809]"):
        yield Command(f"index/text_{text}", ("gather", "data.npy", text), REFUSED, "", saved())
    for text in ("[1.0]", "[true]", '["0"]', "[null]", "[[0],[1,2]]", "[1e0]", "[NaN]"):
        yield Command(f"index/text_{text}", ("gather", "data.npy", text), REFUSED, "", saved())


def _updates() -> Iterator[Command]:
    bad: dict[str, Any] = {
        "broadcast_row": np.zeros((1, 3)),
        "broadcast_scalar": np.zeros(()),
        "broadcast_column": np.zeros((2, 1)),
        "more": np.zeros((3, 3)),
        "transposed": np.zeros((3, 2)),
        "flat": np.zeros(6),
        "deeper": np.zeros((2, 3, 1)),
        "empty": np.zeros((0, 3)),
        "float32": np.zeros((2, 3), np.float32),
        "int64": np.zeros((2, 3), np.int64),
        "complex": np.zeros((2, 3), np.complex128),
        "truth": np.zeros((2, 3), np.bool_),
        "text": np.full((2, 3), "a"),
    }
    for name, array in bad.items():
        words = ("scatter-nd", "data.npy", "[[0],[1]]", "updates.npy")
        yield Command(f"updates/{name}", words, REFUSED, "", saved(updates=array))


SEGMENTS = ("tf", "unsorted-segment-sum", "[1, 2]", "[0, 1]")


def _amplification() -> Iterator[Command]:
    calls = {
        "repeat": ("gather", "zeros:1x100000", "zeros:100000:int64"),
        "square": ("gather", "ones:100000", "zeros:100000x100000:int64"),
        "empty_axis": ("gather", "zeros:0x10000000000000", "[0, 0]"),
        "tf_shape": ("tf", "scatter-nd", "[[0]]", "[1]", "[10000000000000]"),
        "tf_shape_wraps": ("tf", "scatter-nd", "[[0]]", "[1]", "[4294967296, 4294967296]"),
        "tf_shape_2_63": ("tf", "scatter-nd", "[[0]]", "[1]", "[9223372036854775807]"),
        "tf_shape_negative": ("tf", "scatter-nd", "[[0]]", "[1]", "[-1]"),
        "tf_shape_uint64": ("tf", "scatter-nd", "[[0]]", "[1]", "[18446744073709551615]"),
        "segments": (*SEGMENTS, "--num-segments=1000000000000"),
        "segments_negative": (*SEGMENTS, "--num-segments=-1"),
        "limit": ("gather", "zeros:10x100", "[0, 1]", "--max-bytes", "100"),
    }
    for name, words in calls.items():
        yield Command(f"amplify/{name}", words, REFUSED)


def _numbers() -> Iterator[Command]:
    nines = "9" * 5000
    for option in ("--axis", "--opset"):
        for number, text in enumerate((nines, "1e3", "0x1", "²", "", "nan", "\x1b[31m", "a")):
            words = ("gather", "[1,2]", "[0]", f"{option}={text}")
            yield Command(f"number/{option[2:]}_{number}", words, USAGE)
    for option in ("--limit", "--width", "--max-bytes"):
        for number, text in enumerate((nines, "-1", "1e999", "²", "\x1b", "1.5.2", "x")):
            words = ("gather", "[1,2]", "[0]", f"{option}={text}")
            yield Command(f"number/{option[2:]}_{number}", words, USAGE)
    for text in ("zeros:" + nines, "zeros:٣", "zeros:²", "arange:4xx4", "rand:3:\x1b[31m"):
        yield Command(f"number/{text[:12]!r}", ("show", text), USAGE)


def _lines() -> Iterator[Command]:
    lines = {
        "text": b"hello",
        "list": b"[]",
        "null": b"null",
        "empty_object": b"{}",
        "inputs_list": b'{"op": "gather", "inputs": []}',
        "op_number": b'{"op": 1, "inputs": {}}',
        "op_escape": b'{"op": "\\u001b[31m", "inputs": {}}',
        "op_long": b'{"op": "' + b"a" * 100_000 + b'", "inputs": {}}',
        "op_dunder": b'{"op": "onnx.__class__", "inputs": {}}',
        "attrs_list": b'{"op": "gather", "inputs": {"data": [1], "indices": [0]}, "attrs": []}',
        "attr_object": b'{"op": "gather", "inputs": {"data": [1], "indices": [0]},'
        b' "attrs": {"axis": {}}}',
        "attr_huge": b'{"op": "gather", "inputs": {"data": [1], "indices": [0]},'
        b' "attrs": {"axis": 99999999999999999999}}',
        "index_2_64": b'{"op": "gather", "inputs": {"data": [1], "indices":'
        b" [18446744073709551615]}}",
        "key_twice": b'{"op": "gather", "op": "gather", "inputs": {}}',
        "key_extra": b'{"op": "gather", "inputs": {}, "\\u202e": 1}',
        "not_utf8": b'{"op": "\xff"}',
        "deep": b"[" * 100_000,
        "number_long": b'{"op": "gather", "inputs": {"data": ' + b"9" * 5000 + b"}}",
        "amplify": b'{"op": "tf.scatter_nd", "inputs": {"indices": [[0]], "updates": [1],'
        b' "shape": [10000000000000]}}',
    }
    for name, line in lines.items():
        yield Command(f"batch/{name}", ("batch", "-"), 1, '"error"', stdin=line + b"\n")
    cases = {
        **{name: lines[name] for name in ("text", "list", "null", "empty_object", "deep")},
        "not_utf8": b"\xff",
        "inputs_number": b'{"id": 1, "framework": "onnx", "op": "Gather", "inputs": 3}',
        "escape": b'{"id": "\\u001b[31m", "framework": "\\u001b", "op": "x"}',
        "values": b"[" + b"[]," * 2_000_000,
    }
    for name, line in cases.items():
        yield Command(f"verify/{name}", ("verify", "-"), REFUSED, "", stdin=line + b"\n")


def _documents() -> Iterator[Command]:
    texts = {
        "empty": "",
        "list": "[]",
        "null": "null",
        "deep": "[" * 5000,
        "other": '{"a": 1}',
        "schema": '{"schema": "gscli/2"}',
        "schema_list": '{"schema": ["gscli/1"]}',
        "schema_escape": '{"schema": "\\u001b[31m"}',
        "op_unknown": '{"schema": "gscli/1", "op": "\\u202e", "framework": "onnx"}',
        "inputs_number": '{"schema": "gscli/1", "op": "gather", "framework": "onnx", "inputs": 1}',
    }
    for name, text in texts.items():
        words = ("page", "run.json", "-o", "page.html")
        prepare = lambda text=text: Path("run.json").write_text(text)  # noqa: E731
        yield Command(f"page/{name}", words, REFUSED, "", prepare)


def _model(op: str = "Gather", nodes: int = 1, domain: str = "", **attrs: Any) -> Any:
    node = helper.make_node(op, ["a", "b"], ["y"], domain=domain, **attrs)
    graph = helper.make_graph([node] * nodes, "g", [], [])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


def _node_test(model: Any, *inputs: Any) -> Prepare:
    def prepare() -> None:
        place = Path("test_x", "test_data_set_0")
        place.mkdir(parents=True)
        content = model if isinstance(model, bytes) else model.SerializeToString()
        Path("test_x", "model.onnx").write_bytes(content)
        for number, array in enumerate(inputs):
            tensor = array if isinstance(array, bytes) else numpy_helper.from_array(array)
            text = tensor if isinstance(tensor, bytes) else tensor.SerializeToString()
            (place / f"input_{number}.pb").write_bytes(text)
        (place / "output_0.pb").write_bytes(numpy_helper.from_array(DATA).SerializeToString())

    return prepare


def _node_tests() -> Iterator[Command]:
    at = np.array([0, 2])
    reference, twice, untyped = _model(), _model(axis=0), _model()
    entry = reference.graph.node[0].attribute.add(name="axis", ref_attr_name="outer")
    entry.type = onnx.AttributeProto.INT
    twice.graph.node[0].attribute.append(twice.graph.node[0].attribute[0])
    untyped.graph.node[0].attribute.add(name="axis")
    failing: dict[str, tuple[Any, ...]] = {
        "model_empty": (b"", DATA, at),
        "model_text": (b"hello", DATA, at),
        "model_zeros": (bytes(1000), DATA, at),
        "attribute_reference": (reference, DATA, at),
        "attribute_twice": (twice, DATA, at),
        "attribute_untyped": (untyped, DATA, at),
        "attribute_text": (_model(axis="\x1b[31m"), DATA, at),
        "attribute_list": (_model(axis=[1, 2]), DATA, at),
        "attribute_float": (_model(axis=0.5), DATA, at),
        "attribute_tensor": (_model(axis=numpy_helper.from_array(at)), DATA, at),
        "attribute_graph": (_model(axis=helper.make_graph([], "g", [], [])), DATA, at),
        "attribute_unknown": (_model(**{"\x1b]0;x": 1}), DATA, at),
        "attribute_huge": (_model(axis=2**62), DATA, at),
        "inputs_missing": (_model(),),
        "input_damaged": (_model(), b"\xff" * 50, at),
        "index_bad": (_model(), DATA, np.array([9])),
        "index_float": (_model(), DATA, DATA[0]),
        "amplify": (_model(), np.zeros((1, 1000)), np.zeros(10**6, np.int64)),
    }
    for name, (model, *inputs) in failing.items():
        prepare = _node_test(model, *inputs)
        yield Command(f"run/{name}", ("run", "test_x"), 1, "FAILED", prepare)
    skipped = {
        "op_escape": _model("\x1b]0;x\x07"),
        "op_long": _model("A" * 100_000),
        "op_dunder": _model("__class__"),
        "domain_escape": _model(domain="\x1b[31m"),
    }
    for name, model in skipped.items():
        prepare = _node_test(model, DATA, at)
        yield Command(f"run/{name}", ("run", "test_x"), REFUSED, "nothing to run", prepare)
    for number, code, says in ((0, REFUSED, "no gather or scatter"), (2, 0, "2 of 2 nodes")):
        prepare = _node_test(_model(nodes=number), DATA, at)
        yield Command(f"run/nodes_{number}", ("run", "test_x"), code, says, prepare)
    for word in (".", "nowhere", "", "a\x1b[31m", "a" * 300, "a\0b"):
        yield Command(f"run/folder_{word[:9]!r}", ("run", word), UNREADABLE)

    def device() -> None:
        _node_test(_model())()
        Path("test_x", "test_data_set_0", "input_0.pb").symlink_to("/dev/zero")

    yield Command("run/device", ("run", "test_x"), 1, "FAILED", device)

    def fifo() -> None:
        _node_test(_model())()
        os.mkfifo("test_x/test_data_set_0/input_0.pb")

    yield Command("run/fifo", ("run", "test_x"), 1, "a pipe", fifo)
    yield Command("run/model_fifo", ("run", "."), UNREADABLE, "", lambda: os.mkfifo("model.onnx"))


def _obstacles(name: str) -> dict[str, Prepare]:
    """What can stand in the place of a file that is to be written."""

    def bind() -> None:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(name)

    return {
        "folder": lambda: Path(name).mkdir(),
        "socket": bind,
        "loop": lambda: Path(name).symlink_to(name),
        "link_to_nowhere": lambda: Path(name).symlink_to("no/folder/out.npy"),
    }


def _places_to_write() -> Iterator[Command]:
    def a_file() -> None:
        Path("file").write_text("")

    places: dict[str, tuple[str, int, Prepare]] = {
        **{name: ("out.npy", UNWRITABLE, way) for name, way in _obstacles("out.npy").items()},
        "below_a_file": ("file/out.npy", UNWRITABLE, a_file),
        "missing_folder": ("no/out.npy", UNWRITABLE, lambda: None),
        "name_too_long": ("a" * 252 + ".npy", UNWRITABLE, lambda: None),
        "name_half_character": ("\udcff/out.npy", UNWRITABLE, lambda: None),
        "no_suffix": ("out", USAGE, lambda: None),
        "empty": ("", USAGE, lambda: None),
        "odd_suffix": ("out.\x1b[31m", USAGE, lambda: None),
        "model": ("out.onnx", USAGE, lambda: None),
        "pickle": ("out.pkl", USAGE, lambda: None),
        "member_of_npy": ("out.npy::a", USAGE, lambda: None),
        "member_control": ("out.npz::a\nb", USAGE, lambda: None),
        "member_empty": ("out.npz::", USAGE, lambda: None),
        "member_long": ("out.npz::" + "a" * 2000, USAGE, lambda: None),
        "full_device": ("/dev/full", USAGE, lambda: None),
    }
    for name, (target, code, prepare) in places.items():
        for words in (("gather", "[1,2]", "[0]", "-o", target), ("convert", "[1,2]", target)):
            yield Command(f"write/{name}_{words[0]}", words, code, "", prepare)
    for option in ("--svg", "--html"):
        for name, prepare in _obstacles("out").items():
            words = ("gather", "[1,2]", "[0]", option, "out")
            yield Command(f"write/{name}{option}", words, UNWRITABLE, "", prepare)
    words = ("gather", "[1,2]", "[0]", "-o", "/dev/full", "-f", "npy")
    yield Command("write/full_device", words, UNWRITABLE, "no space")
    damaged = lambda: Path("out.npz").write_bytes(b"PK\x03\x04")  # noqa: E731
    words = ("gather", "[1,2]", "[0]", "-o", "out.npz::a")
    yield Command("write/into_a_damaged_archive", words, REFUSED, "", damaged)


def _patches() -> Iterator[Command]:
    more = ("[[0]]", "[[7.0,7.0,7.0]]", "--in-place")
    for name, data in {
        "inline": "[[1.0,2.0,3.0]]",
        "generator": "zeros:4x3",
        "archive": "data.npz",
        "member": "data.npz::data",
        "pipe": "-",
    }.items():
        stdin = json.dumps(DATA.tolist()).encode()
        prepare = lambda: np.savez("data.npz", data=DATA)  # noqa: E731
        yield Command(f"patch/{name}", ("scatter-nd", data, *more), USAGE, "", prepare, stdin)
    words = ("scatter-nd", "data.npy", *more)
    yield Command("patch/and_output", (*words, "-o", "x.npy"), USAGE, "", saved())
    yield Command("patch/gather", ("gather", "data.npy", "[0]", "--in-place"), USAGE, "", saved())
    bad = ("scatter-nd", "data.npy", "[[4]]", "[[7.0,7.0,7.0]]", "--in-place")
    yield Command("patch/bad_index", bad, REFUSED, "out of range", saved())
    yield Command("patch/and_json", (*bad, "--json"), REFUSED, '"kind": "IndexRefused"', saved())

    def fifo() -> None:
        os.mkfifo("data.npy")
        content = io.BytesIO()
        np.save(content, DATA)
        writing = threading.Thread(
            target=Path("data.npy").absolute().write_bytes, args=(content.getvalue(),), daemon=True
        )
        writing.start()

    yield Command("patch/fifo", words, USAGE, "only a scatter into a .npy file", fifo)

    def protected() -> None:
        saved()()
        Path("data.npy").chmod(0o444)

    if os.geteuid():
        yield Command("patch/protected", words, UNWRITABLE, "", protected)


def _files() -> Iterator[Command]:
    damaged = lambda: Path("x.npy").write_bytes(b"\x93NUMPY\x01\x00\xff\xff{")  # noqa: E731
    calls: dict[str, tuple[str, ...]] = {
        "show": ("show", "x.npy"),
        "convert": ("convert", "x.npy", "y.npy"),
        "check": ("check", "gather", "x.npy", "[0]"),
        "explain": ("explain", "gather", "x.npy", "[0]"),
        "compare": ("compare", "gather", "x.npy", "[0]"),
        "gather": ("gather", "x.npy", "[0]"),
        "indices": ("gather", "[1,2]", "x.npy"),
        "folder": ("scatter-nd", "."),
    }
    for name, words in calls.items():
        codes = UNREADABLE if name == "folder" else REFUSED
        yield Command(f"damaged/{name}", words, codes, "", damaged)
        if name != "folder":
            yield Command(f"missing/{name}", words, UNREADABLE)
    fifos = ("scatter-nd", "."), UNREADABLE, "nothing for data", lambda: os.mkfifo("data.npy")
    yield Command("file/fifo_in_a_folder", *fifos)
    link = lambda: Path("data.npy").symlink_to("data.npy")  # noqa: E731
    yield Command("file/loop_in_a_folder", ("scatter-nd", "."), UNREADABLE, "", link)
    for name in ("batch", "verify", "show"):
        for device in ("/dev/zero", "/dev/full", ".", "\x1b[31m", "\udcff", "a" * 300, "a\0b"):
            yield Command(f"file/{name}_{device[:9]!r}", (name, device), UNREADABLE)
