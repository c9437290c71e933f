"""ONNX TensorProto files (.pb), as the ONNX tests and model zoo keep their inputs and outputs.

The onnx package parses the message. What it says is judged here: external data is refused and
never followed, one field holds the values, and their number and range fit the type and shape.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gscli.base import ContentRefused, DtypeRefused, LimitRefused, check_rule
from gscli.base.arrays import (
    Array,
    Arrays,
    DType,
    check_value_bits,
    dtype_name,
    integer_limits,
    parse_dtype,
    to_native,
)
from gscli.base.words import sanitize
from gscli.files.content import Content, check_content, check_limit, import_extra
from gscli.files.formats.npy import is_shape, iter_byte_blocks
from gscli.files.formats.values import array_of_dtype
from gscli.files.request import LoadedInput, Output, ReadRequest

_NAMES = (
    *("float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "str", "bool", "float16"),
    *("float64", "uint32", "uint64", "complex64", "complex128", "bfloat16", "float8_e4m3fn"),
    *("float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "uint4", "int4", "float4_e2m1fn"),
    *("float8_e8m0fnu", "uint2", "int2"),
)
_WIDE_FIELDS = {
    "float32": "float_data", "complex64": "float_data", "float64": "double_data",
    "complex128": "double_data", "int64": "int64_data", "uint32": "uint64_data",
    "uint64": "uint64_data", "str": "string_data",
}  # fmt: skip

# TensorProto.DataType → element type and the field that holds it when raw_data does not.
TYPES = {code: (name, _WIDE_FIELDS.get(name, "int32_data")) for code, name in enumerate(_NAMES, 1)}

# Types of which several share a byte, the first in its lowest bits.
BITS = {"uint4": 4, "int4": 4, "float4_e2m1fn": 4, "uint2": 2, "int2": 2}

_FIELDS = {field for _, field in TYPES.values()}
_FIELD_TYPES: dict[str, type[np.generic]] = {
    "float_data": np.float32,
    "double_data": np.float64,
    "int32_data": np.int32,
    "int64_data": np.int64,
    "uint64_data": np.uint64,
}

# Numbers of the fields of a TensorProto that are written.
_DIMS, _DATA_TYPE, _STRING_DATA, _NAME, _RAW_DATA = 1, 2, 6, 8, 9

_EXTERNAL = 1

# Protocol buffers end here.
_MESSAGE_LIMIT = (1 << 31) - 1


def read(content: Content, request: ReadRequest) -> LoadedInput:
    """The array of a .pb file."""
    tensor = parse_protobuf("TensorProto", content, request.limit)
    return LoadedInput(to_array(tensor, content.name, request.limit))


def write(out: Output, arrays: Arrays, _suffix: str) -> None:
    """Write a TensorProto: numbers as raw data, text in its own field.

    A handful of fields, written as they come: the onnx package would hold the tensor three times.
    """
    ((name, array),) = arrays.items()
    label = dtype_name(array.dtype)
    problem, valid = f"a TensorProto has no element type {label}", ", ".join(_NAMES)
    check_rule(label in _NAMES, problem, kind=DtypeRefused, valid=valid, hint="use .npy or .json")
    check_limit(array.nbytes, _MESSAGE_LIMIT, sanitize(name, 60), "the tensor", hint="")
    head = [encode_varint_field(_DIMS, length) for length in array.shape]
    head.append(encode_varint_field(_DATA_TYPE, _NAMES.index(label) + 1))
    if label == "str":
        texts = [_encode_text(value) for value in array.reshape(-1).tolist()]
        head += [encode_bytes_header(_STRING_DATA, len(text)) + text for text in texts]
    encoded = _encode_text(name)
    out(b"".join(head) + encode_bytes_header(_NAME, len(encoded)) + encoded)
    if label != "str":
        packed = _pack_elements(array, label)
        out(encode_bytes_header(_RAW_DATA, packed.nbytes))
        for block in iter_byte_blocks(packed):
            out(block)


def parse_protobuf(kind: str, content: Content, limit: int) -> Any:
    """The protocol buffer a file holds; ContentRefused where it is none of that kind."""
    data = bytes(content.read_all(min(limit, _MESSAGE_LIMIT), "the file"))
    check_content(bool(data), f"{content.name} is empty", content.name)
    message = getattr(import_extra("onnx", "onnx"), kind)
    decode_error = import_extra("google.protobuf.message", "onnx").DecodeError
    try:
        check_fields(data, message.DESCRIPTOR, content.name)
        return message.FromString(data)
    except (decode_error, RuntimeError, ValueError) as error:
        raise ContentRefused(f"{content.name} is not an ONNX {kind}", where=content.name) from error


def check_is_inside(tensor: Any, where: str) -> None:
    """ContentRefused for a TensorProto whose values lie in another file."""
    is_inside = tensor.data_location != _EXTERNAL and not tensor.external_data
    problem = "the values lie in another file, which gscli does not follow"
    hint = "onnx.save_model(model, path, save_as_external_data=False) puts them inside"
    check_content(is_inside, problem, where, hint=hint)


def to_array(tensor: Any, where: str, limit: int) -> Array:
    """The array of a TensorProto in which every statement agrees with the others."""
    check_is_inside(tensor, where)
    check_content(not tensor.HasField("segment"), "the file holds a segment of a tensor", where)
    if tensor.data_type not in TYPES:
        raise DtypeRefused(f"element type {tensor.data_type} is not supported", where=where)
    label, field = TYPES[tensor.data_type]
    dtype, shape = parse_dtype(label), tuple(tensor.dims)
    check_content(is_shape(shape), f"dimensions {sanitize(str(shape), 60)} name no shape", where)
    count = math.prod(shape)
    check_limit(count * dtype.itemsize, limit, where, "the tensor")
    used = [name for name in (*sorted(_FIELDS), "raw_data") if len(getattr(tensor, name))]
    if len(used) > 1 or not set(used) <= ({field} if label == "str" else {field, "raw_data"}):
        raise ContentRefused(f"{label} values in {' and '.join(used)}", where=where, valid=field)
    if label == "str":
        flat = _parse_text(tensor.string_data, count, where, limit)
    elif used == ["raw_data"]:
        flat = _from_raw(tensor.raw_data, dtype, count, where)
    else:
        flat = _from_field(getattr(tensor, field), _FIELD_TYPES[field], dtype, count, where)
    check_value_bits(flat, where)
    return flat.reshape(shape)


def _from_raw(raw: bytes, dtype: DType, count: int, where: str) -> Array:
    bits = BITS.get(dtype.name, 8 * dtype.itemsize)
    _check_count(len(raw), -(-count * bits // 8), "bytes", where)
    stored = np.frombuffer(raw, np.uint8)
    if dtype.name in BITS:
        return _unpack_elements(stored, dtype, count)
    return to_native(stored.view(dtype.newbyteorder("<") if dtype.kind != "V" else dtype))


def _from_field(values: Any, wide: type[np.generic], dtype: DType, count: int, where: str) -> Array:
    """Values from a field whose numbers are wider than the type: each must fit."""
    parts = 2 * count if dtype.kind == "c" else -(-count * BITS.get(dtype.name, 8) // 8)
    _check_count(len(values), parts, "values", where)
    stored: Array = np.fromiter(values, wide, parts)
    if dtype.kind == "c" or stored.dtype == dtype:
        return stored.view(dtype)
    # Floats of 16 bits and less stand as their bit patterns, bool as 0 and 1.
    patterns = dtype if dtype.kind in "iu" else np.dtype(f"u{dtype.itemsize}")
    low, high = (0, 1) if dtype.kind == "b" else integer_limits(patterns)
    fits = low <= stored.min(initial=low) and stored.max(initial=high) <= high
    problem, legal = f"a value does not fit {dtype.name}", f"{low} … {high}"
    check_content(bool(fits), problem, where, valid=legal)
    narrow = stored.astype(patterns)
    return _unpack_elements(narrow, dtype, count) if dtype.name in BITS else narrow.view(dtype)


def _check_count(stored: int, expected: int, unit: str, where: str) -> None:
    problem, needed = f"the tensor holds {stored:,} {unit}", f"{expected:,} for its dimensions"
    check_content(stored == expected, problem, where, valid=needed)


def _unpack_elements(stored: Array, dtype: DType, count: int) -> Array:
    """One element per byte from several per byte; a negative one gets its sign back."""
    bits = BITS[dtype.name]
    lowest = np.unpackbits(stored.view(np.uint8), bitorder="little").reshape(-1, bits)[:count]
    flat = np.packbits(lowest, axis=1, bitorder="little").reshape(-1)
    if dtype.name.startswith("int"):
        sign = np.int8(1 << bits - 1)
        return np.asarray((flat.view(np.int8) ^ sign) - sign).astype(dtype)
    return flat.view(dtype)


def _pack_elements(array: Array, label: str) -> Array:
    """The elements as they lie in raw data: little-endian, small ones several to a byte."""
    if label not in BITS:
        return to_native(array)
    flat = to_native(array).reshape(-1, 1).view(np.uint8)
    lowest = np.unpackbits(flat, axis=1, count=BITS[label], bitorder="little")
    return np.packbits(lowest, bitorder="little")


def _parse_text(stored: Any, count: int, where: str, limit: int) -> Array:
    _check_count(len(stored), count, "texts", where)
    try:
        values = [value.decode("utf-8") for value in stored]
    except UnicodeDecodeError as error:
        raise ContentRefused("a text is not UTF-8", where=where) from error
    return array_of_dtype(values, np.dtype("str"), lambda number: f"{where}: text {number}", limit)


def _encode_text(value: str) -> bytes:
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DtypeRefused("a text holds half a character", hint="use .npy or .json") from error


# Of a message: two bytes can stand for an empty one that takes a hundred in memory.
FIELD_LIMIT = 500_000

# Bytes of packed whole numbers: each byte can become one of eight.
PACKED_LIMIT = 16 << 20

_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5

# CPPTYPE_INT32 to CPPTYPE_UINT64 of a field's descriptor.
_WHOLE_NUMBERS = {1, 2, 3, 4}
_FIXED = {_EIGHT: 8, _FOUR: 4}
_MORE = 0x80
_VARINT_BYTES = 10


def check_fields(data: bytes, descriptor: Any, name: str) -> None:
    """Refuse a message of too many fields, and text that is not UTF-8, which the parser would give
    as bytes. ValueError for groups, which ONNX has none of and which a parser would skip, whatever
    is behind them.
    """
    waiting = [(0, len(data), descriptor)]
    count = packed = 0
    while waiting:
        position, end, message = waiting.pop()
        fields = message.fields_by_number
        while position < end:
            count += 1
            key, position = _read_varint(data, position)
            wire_type, field = key & 7, fields.get(key >> 3)
            if wire_type == _LENGTH:
                length, position = _read_varint(data, position)
                if field is not None and field.message_type is not None:
                    waiting.append((position, min(position + length, end), field.message_type))
                elif field is not None and field.cpp_type in _WHOLE_NUMBERS:
                    packed += length
                elif field is not None and field.type == field.TYPE_STRING:
                    data[position : position + length].decode()
                position += length
            elif wire_type == _VARINT:
                _, position = _read_varint(data, position)
            elif wire_type in _FIXED:
                position += _FIXED[wire_type]
            else:
                raise ValueError(f"wire type {wire_type}")
            if count > FIELD_LIMIT or packed > PACKED_LIMIT:
                problem = f"{name} holds too many values outside of raw data"
                where = f"{name}: more than {FIELD_LIMIT:,} fields or {PACKED_LIMIT:,} bytes"
                hint = "onnx.numpy_helper.from_array writes raw data"
                raise LimitRefused(problem, where=where, hint=hint)


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    """A number of seven bits per byte, and where it ends; 0 beyond the end of the data."""
    if position < len(data) and data[position] < _MORE:
        return data[position], position + 1
    value = 0
    for number, byte in enumerate(data[position : position + _VARINT_BYTES]):
        value |= (byte & ~_MORE) << 7 * number
        if byte < _MORE:
            return value, position + number + 1
    return value, len(data)


def encode_varint_field(number: int, value: int) -> bytes:
    """A whole number as a field of a message."""
    return _encode_varint(number << 3 | _VARINT) + _encode_varint(value)


def encode_bytes_header(number: int, length: int) -> bytes:
    r"""What stands before the bytes of a text or bytes field.

    >>> encode_bytes_header(8, 1) + b"a"
    b'B\x01a'
    """
    return _encode_varint(number << 3 | _LENGTH) + _encode_varint(length)


def _encode_varint(value: int) -> bytes:
    parts = []
    while value >= _MORE:
        parts.append(value & ~_MORE & 0xFF | _MORE)
        value >>= 7
    return bytes((*parts, value))
