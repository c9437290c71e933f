"""Hostile files of the optional formats: .safetensors, ONNX .pb and .onnx, HDF5, and pickles."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Iterator
from typing import Any

import h5py
import numpy as np
import onnx
from hostile.corpus import Case, Content, Refusal, of_bytes

from gscli.base import CannotRead, ContentRefused, DtypeRefused, LimitRefused, UsageError

E = ContentRefused
FLOATS = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def cases() -> Iterator[Case]:
    yield from _safetensors()
    yield from _tensors()
    yield from _models()
    yield from _hdf5()
    yield from _pickles()


def _case(file: str, name: str, content: Content, error: Refusal, says: str = "", **o: Any) -> Case:
    member = o.pop("member", "")
    build = of_bytes(f"case.{file}", content, member=member)
    return Case(f"{file}/{name}", build, error, says, o)


def safetensors(header: object, data: bytes = bytes(8), *, length: int | None = None) -> bytes:
    """A .safetensors file with any header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def _safetensors() -> Iterator[Case]:
    def case(name: str, content: Content, error: Refusal = E, says: str = "", **o: Any) -> Case:
        return _case("safetensors", name, content, error, says, **o)

    whole = safetensors({"a": FLOATS})
    for length in (0, 1, 7, 8, 9, 30, len(whole) - 9, len(whole) - 8, len(whole) - 1):
        yield case(f"cut_{length}", whole[:length])
    yield case("trailing", whole + b"x", says="goes on")
    yield case("trailing_zip", whole + b"PK\x05\x06" + bytes(18), says="goes on")
    for length in (0, 1, 2**20, 2**32, 2**63, 2**64 - 1):
        yield case(f"length_{length}", safetensors({"a": FLOATS}, length=length))
    yield case("length_65m", lambda: safetensors(b"{" + b" " * (65 << 20)), says="header has")
    yield case("not_object", safetensors([1]))
    yield case("spaces_first", safetensors(b'  {"a": {}}'))
    yield case("not_json", safetensors(b"{hello}"))
    yield case("not_utf8", safetensors(b'{"\xff": 1}'))
    yield case("deep", safetensors(b'{"a":' + b"[" * 1000))
    yield case("name_twice", safetensors(_twice('"a"')), says="twice")
    yield case("field_twice", safetensors(_twice('"dtype"', inside=True)), says="twice")
    yield case("none", safetensors({}, b""), says="no arrays")
    yield case("none_but_data", safetensors({}, b"data"), says="goes on")
    second = {**FLOATS, "data_offsets": [8, 16]}
    yield case(
        "several", safetensors({"a": FLOATS, "b": second}, bytes(16)), UsageError, "say which"
    )
    yield case("missing", whole, CannotRead, "no member", member="b")
    for name, metadata in {"list": [], "number": {"a": 1}, "nested": {"a": {}}}.items():
        yield case(f"metadata_{name}", safetensors({"__metadata__": metadata, "a": FLOATS}))
    overlaps = {
        "overlap": [0, 8],
        "overlap_half": [4, 12],
        "gap": [9, 17],
        "beyond": [8, 1000],
        "backwards": [16, 8],
        "huge": [2**63, 2**63 + 8],
    }
    for name, offsets in overlaps.items():
        other = {**FLOATS, "data_offsets": offsets}
        yield case(f"offsets_{name}", safetensors({"a": FLOATS, "b": other}, bytes(16)))
    fields: dict[str, Any] = {
        "dtype_missing": {"shape": [2], "data_offsets": [0, 8]},
        "shape_missing": {"dtype": "F32", "data_offsets": [0, 8]},
        "offsets_missing": {"dtype": "F32", "shape": [2]},
        "extra": {**FLOATS, "more": 1},
        "number": 1,
        "list": [],
        "null": None,
        "shape_minus": {**FLOATS, "shape": [-2]},
        "shape_float": {**FLOATS, "shape": [2.0]},
        "shape_truth": {**FLOATS, "shape": [True, 2]},
        "shape_text": {**FLOATS, "shape": "2"},
        "shape_null": {**FLOATS, "shape": None},
        "shape_more": {**FLOATS, "shape": [3]},
        "shape_wraps": {**FLOATS, "shape": [2**32, 2**32]},
        "shape_wraps_to_2": {**FLOATS, "shape": [2**63 + 1, 2]},
        "shape_zero_huge": {**FLOATS, "shape": [0, 2**62], "data_offsets": [0, 0]},
        "shape_rank_65": {**FLOATS, "shape": [2] + [1] * 64},
        "offsets_minus": {**FLOATS, "data_offsets": [-8, 0]},
        "offsets_one": {**FLOATS, "data_offsets": [8]},
        "offsets_three": {**FLOATS, "data_offsets": [0, 4, 8]},
        "offsets_float": {**FLOATS, "data_offsets": [0.0, 8.0]},
        "offsets_text": {**FLOATS, "data_offsets": ["0", "8"]},
    }
    for name, field in fields.items():
        yield case(f"field_{name}", safetensors({"a": field}))
    for name in ("F128", "f32", "", "F4", "\x1b[31m"):
        refused = safetensors({"a": {**FLOATS, "dtype": name}})
        yield case(f"dtype_{name!r}", refused, DtypeRefused, "not supported")
    yield case("dtype_number", safetensors({"a": {**FLOATS, "dtype": 1}}), DtypeRefused)
    truth = {"dtype": "BOOL", "shape": [8], "data_offsets": [0, 8]}
    yield case("bool_of_2", safetensors({"a": truth}, b"\2" * 8), says="bool")
    many = b'"a":{},'
    yield case("many", lambda: safetensors(b"{" + many * 2_000_000), LimitRefused, "too many")
    odd = {"dtype": "F32", "shape": [2**18], "data_offsets": [0, 2**20]}
    content = safetensors(json.dumps({"a": odd}).encode() + b" ", bytes(2**20))
    content = content if len(content) % 4 else safetensors({"a": odd}, bytes(2**20))
    yield case("odd_address", content, LimitRefused, "limit", max_bytes=1000)


def _twice(name: str, *, inside: bool = False) -> bytes:
    field = json.dumps(FLOATS)
    if inside:
        return (
            b'{"a": {'
            + f'{name}: "F32", '.encode() * 2
            + field[field.index('"shape"') :].encode()
            + b"}"
        )
    return b"{" + f"{name}: {field}, {name}: {field}".encode() + b"}"


def tensor(**fields: Any) -> bytes:
    """A TensorProto of two floats, with any field changed."""
    message = onnx.TensorProto()
    defaults: dict[str, Any] = {"dims": [2], "data_type": 1, "raw_data": bytes(8), "name": "a"}
    for name, value in (defaults | fields).items():
        if isinstance(value, list):
            getattr(message, name).extend(value)
        elif value is not None:
            setattr(message, name, value)
    return message.SerializeToString()


def _external(location: str, *, marked: bool = True) -> bytes:
    message = onnx.TensorProto.FromString(tensor(raw_data=None))
    entry = message.external_data.add()
    entry.key, entry.value = "location", location
    if marked:
        message.data_location = onnx.TensorProto.EXTERNAL
    return message.SerializeToString()


def _tensors() -> Iterator[Case]:
    def case(name: str, content: Content, error: Refusal = E, says: str = "", **o: Any) -> Case:
        return _case("pb", name, content, error, says, **o)

    yield case("empty", b"", says="empty")
    yield case("text", b"hello, this is no protocol buffer")
    yield case("zeros", bytes(100))
    yield case("ones", b"\xff" * 100)
    whole = tensor()
    for length in (1, 3, 5, len(whole) - 1, len(whole) - 4):
        yield case(f"cut_{length}", whole[:length], (ContentRefused, DtypeRefused))
    for name, location in {
        "up": "../secret.bin",
        "root": "/etc/passwd",
        "here": "data.bin",
        "device": "/dev/zero",
        "none": "",
    }.items():
        yield case(f"external_{name}", _external(location), says="another file")
        yield case(f"external_{name}_unmarked", _external(location, marked=False), says="another")
    yield case("external_bare", tensor(data_location=1), says="another")
    for number in (0, -1, 27, 99, 2**31 - 1):
        yield case(f"type_{number}", tensor(data_type=number), DtypeRefused, "not supported")
    dims = {
        "minus": [-2],
        "minus_pair": [-1, -2],
        "more": [3],
        "less": [1],
        "none": [],
        "huge": [2**63 - 1],
        "wraps": [2**32, 2**32],
        "zero_huge": [0, 2**62],
        "rank_65": [2] + [1] * 64,
        "gigabytes": [2**27],
    }
    for name, value in dims.items():
        yield case(f"dims_{name}", tensor(dims=value))
    yield case("dims_limit", tensor(dims=[2**28 + 1]), LimitRefused, "limit")
    yield case("raw_odd", tensor(raw_data=bytes(7)))
    yield case("raw_none", tensor(raw_data=None))
    yield case("two_fields", tensor(float_data=[1.0, 2.0]), says="and")
    yield case("wrong_field", tensor(raw_data=None, int64_data=[1, 2]), says="int64_data")
    yield case("field_count", tensor(raw_data=None, float_data=[1.0]), says="holds 1")
    stored: dict[str, Any] = {"raw_data": None, "dims": [1]}
    for name, kind, value in [
        ("uint8", 2, 256),
        ("uint8_minus", 2, -1),
        ("int8", 3, 128),
        ("int8_minus", 3, -129),
        ("uint16", 4, 65_536),
        ("int16", 5, -32_769),
        ("bool", 9, 2),
        ("half", 10, 65_536),
        ("bfloat16", 16, -1),
        ("float8", 17, 256),
        ("int4", 22, 256),
    ]:
        yield case(
            f"range_{name}", tensor(data_type=kind, int32_data=[value], **stored), says="fit"
        )
    yield case("range_uint32", tensor(data_type=12, uint64_data=[2**32], **stored), says="fit")
    yield case("complex_half", tensor(data_type=14, float_data=[1.0], **stored), says="values")
    yield case("raw_text", tensor(data_type=8), says="raw_data")
    text: dict[str, Any] = {"raw_data": None, "data_type": 8}
    yield case("text_count", tensor(string_data=[b"a"], **text), says="texts")
    yield case("text_not_utf8", tensor(string_data=[b"\xff", b""], **text), says="UTF-8")
    yield case("text_nul", tensor(string_data=[b"a\0", b""], **text), says="NUL")
    wide = tensor(
        raw_data=None, data_type=8, dims=[9001], string_data=[b"a" * 100_000] + [b""] * 9000
    )
    yield case("text_amplify", wide, LimitRefused, "limit")
    yield case("bool_raw", tensor(data_type=9, raw_data=b"\2\1"), says="bool")
    segment = onnx.TensorProto.FromString(whole)
    segment.segment.begin = 1
    yield case("segment", segment.SerializeToString(), says="segment")
    yield case("many_fields", lambda: b"\x32\x00" * 600_000, LimitRefused, "too many")
    packed = b"\x3a\x81\x80\x80\x08" + b"\1" * ((16 << 20) + 1)
    yield case("packed_numbers", lambda: packed, LimitRefused, "raw data")
    yield case("many_externals", lambda: b"\x6a\x00" * 600_000, LimitRefused, "too many")
    yield case("deep", b"\x6a" * 200 + b"\x00", E)
    yield case("group", b"\x0b" * 500, E)
    yield case("varint_endless", b"\x80" * 1_000, E)
    yield case("length_endless", b"\x4a" + b"\xff" * 9 + b"\x01", E)
    yield case("member", whole, UsageError, "holds one", member="a")
    yield case("file_limit", tensor(dims=[500], raw_data=bytes(2000)), LimitRefused, max_bytes=1000)


def model(*tensors: bytes, nodes: Any = ()) -> bytes:
    message = onnx.ModelProto(ir_version=9)
    message.graph.name = "g"
    for content in tensors:
        message.graph.initializer.append(onnx.TensorProto.FromString(content))
    message.graph.node.extend(nodes)
    return message.SerializeToString()


def _models() -> Iterator[Case]:
    def case(name: str, content: Content, error: Refusal = E, says: str = "", **o: Any) -> Case:
        return _case("onnx", name, content, error, says, **o)

    yield case("empty", b"", says="empty")
    yield case("text", b"hello, this is no protocol buffer")
    yield case("no_tensors", model(), says="no arrays")
    yield case("twice", model(tensor(), tensor()), says="two tensors")
    yield case("several", model(tensor(), tensor(name="b")), UsageError, "say which")
    yield case("missing", model(tensor()), CannotRead, "no member", member="b")
    yield case("external", model(_external("../weights.bin")), says="another file")
    constant = onnx.helper.make_node(
        "Constant", [], ["a"], value=onnx.TensorProto.FromString(tensor())
    )
    yield case("constant_twin", model(tensor(), nodes=[constant]), says="two tensors")
    bad = onnx.helper.make_node(
        "Constant", [], ["c"], value=onnx.TensorProto.FromString(_external("x"))
    )
    yield case("constant_external", model(nodes=[bad]), says="another file")
    nodes = b"\x0a\x00" * 600_000
    yield case("many_nodes", lambda: b"\x3a\xc0\x9f\x49" + nodes, LimitRefused, "too many")
    whole = model(tensor())
    for length in (1, 10, len(whole) // 2, len(whole) - 1):
        yield case(f"cut_{length}", whole[:length])


def hdf5(fill: Any) -> bytes:
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        fill(file)
    return stream.getvalue()


def _hdf5() -> Iterator[Case]:
    def case(name: str, content: Content, error: Refusal = E, says: str = "", **o: Any) -> Case:
        return _case("h5", name, content, error, says, **o)

    whole = hdf5(lambda file: file.create_dataset("a", data=np.arange(100)))
    yield case("empty", b"", says="not an HDF5")
    yield case("text", b"hello", says="not an HDF5")
    yield case("user_block", bytes(512) + whole, says="not an HDF5")
    yield case("signature_only", whole[:8], says="sound")
    for length in (9, 50, 96, 500, len(whole) - 1):
        yield case(f"cut_{length}", whole[:length], says="sound")
    yield case("none", hdf5(lambda file: file.create_group("g")), says="no arrays")
    yield case("missing", whole, CannotRead, "no member", member="/b")
    yield case("missing_up", whole, CannotRead, "no member", member="../a")

    def several(file: Any) -> None:
        file["a"] = file["g/b"] = np.arange(3)

    yield case("several", hdf5(several), UsageError, "say which")
    links = {
        "external_link": lambda file: file.__setitem__("a", h5py.ExternalLink("o.h5", "/a")),
        "external_root": lambda file: file.__setitem__("a", h5py.ExternalLink("/dev/zero", "/")),
        "soft_link": lambda file: file.__setitem__("a", h5py.SoftLink("/nowhere")),
        "soft_loop": lambda file: file.__setitem__("a", h5py.SoftLink("/a")),
    }
    for name, fill in links.items():
        yield case(name, hdf5(fill), says="no arrays")
        yield case(f"{name}_asked", hdf5(fill), says="no arrays", member="/a")

    def group_loop(file: Any) -> None:
        file.create_group("g")["again"] = file["/"]

    yield case("group_loop", hdf5(group_loop), says="no arrays")

    def stored_outside(file: Any) -> None:
        file.create_dataset("a", (2,), "f8", external=[("/etc/passwd", 0, 16)])

    yield case("external_storage", hdf5(stored_outside), says="another file")

    def virtual(file: Any) -> None:
        layout = h5py.VirtualLayout((3,), "i8")
        layout[:] = h5py.VirtualSource("/tmp/other.h5", "a", (3,))
        file.create_virtual_dataset("a", layout)

    yield case("virtual", hdf5(virtual), says="another file")
    types = {
        "text": h5py.string_dtype(),
        "reference": h5py.ref_dtype,
        "region": h5py.regionref_dtype,
        "ragged": h5py.vlen_dtype(np.dtype("i4")),
        "record": np.dtype([("a", "f4"), ("b", "i4")]),
        "longdouble": np.dtype("longdouble"),
    }
    for name, dtype in types.items():
        typed = hdf5(lambda file, dtype=dtype: file.create_dataset("a", (2,), dtype))
        yield case(f"type_{name}", typed, DtypeRefused)
    yield case("opaque", hdf5(lambda file: file.create_dataset("a", (2,), "V2")), DtypeRefused)
    null = hdf5(lambda file: file.__setitem__("a", h5py.Empty("f8")))
    yield case("null_space", null, says="without a shape")
    wide = hdf5(lambda file: file.create_dataset("a", (2**40,), "f8", chunks=(1024,)))
    yield case("bomb_fill", wide, LimitRefused, "limit")
    chunk = hdf5(
        lambda file: file.create_dataset("a", (10,), "f8", chunks=(10,), compression="gzip")
    )
    yield case("chunk_limit", chunk, LimitRefused, "limit", max_bytes=50)

    def unknown_filter(file: Any) -> None:
        plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plan.set_chunk((10,))
        plan.set_filter(32_015, h5py.h5z.FLAG_OPTIONAL, (1,))
        space = h5py.h5s.create_simple((10,))
        h5py.h5d.create(file.id, b"a", h5py.h5t.NATIVE_INT64, space, plan)

    yield case("filter", hdf5(unknown_filter), says="filter")
    truth = hdf5(lambda file: file.create_dataset("a", data=np.array([True, False])))
    at = truth.rindex(b"\x01\x00")
    yield case("bool_of_2", truth[:at] + b"\x02" + truth[at + 1 :], (ContentRefused,))


def _pickles() -> Iterator[Case]:
    content = pickle.dumps({"a": np.arange(3)})
    for suffix in ("pt", "pth", "pkl", "pickle", "ckpt", "joblib"):
        yield _case(suffix, "pickle", content, CannotRead, "never unpickles")
    yield Case("pt/quoted_name", of_bytes("a';touch x;'.pt", content), CannotRead, "weights.pt")
    yield _case("exe", "suffix", b"MZ", CannotRead, "no suffix")
    yield _case("npy.gz", "suffix", b"\x1f\x8b", CannotRead, "no suffix")
