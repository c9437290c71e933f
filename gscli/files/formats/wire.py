"""The wire form of protocol buffers: fields counted before parsing, and a few of them written.

Two bytes can stand for an empty message that takes a hundred in memory, so the size of a file
says little about what parsing it costs.
"""

from __future__ import annotations

from typing import Any

from gscli.base import LimitRefused

FIELD_LIMIT = 500_000
PACKED_LIMIT = 16 << 20
"""Bytes of packed whole numbers: each byte can become one of eight."""

_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5
_WHOLE_NUMBERS = {1, 2, 3, 4}
"""CPPTYPE_INT32 to CPPTYPE_UINT64 of a field's descriptor."""
_FIXED = {_EIGHT: 8, _FOUR: 4}
_MORE = 0x80
_VARINT_BYTES = 10


def check_fields(data: bytes, descriptor: Any, name: str) -> None:
    """Refuse a message of too many fields. ValueError for groups, which ONNX has none of and which
    a parser would skip, whatever is behind them.
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
                position += length
            elif wire_type == _VARINT:
                _, position = _read_varint(data, position)
            elif wire_type in _FIXED:
                position += _FIXED[wire_type]
            else:
                raise ValueError(f"wire type {wire_type}")
            if count > FIELD_LIMIT or packed > PACKED_LIMIT:
                raise LimitRefused(
                    f"{name} holds too many values outside of raw data",
                    where=f"{name}: more than {FIELD_LIMIT:,} fields or {PACKED_LIMIT:,} bytes",
                    hint="onnx.numpy_helper.from_array writes raw data",
                )


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    """A number of seven bits per byte, and where it ends; 0 beyond the end of the data."""
    if position < len(data) and data[position] < _MORE:
        return data[position], position + 1
    value = shift = 0
    for byte in data[position : position + _VARINT_BYTES]:
        value |= (byte & ~_MORE) << shift
        shift += 7
        position += 1
        if byte < _MORE:
            break
    else:
        position = len(data)
    return value, position


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
