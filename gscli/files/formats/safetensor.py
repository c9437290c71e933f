"""The .safetensors format: a JSON header of its own length, then the bytes of the tensors.

The header is judged here, before anything of the size it names exists: every tensor inside the
file, each byte owned by exactly one tensor. Tensors stay in the file and are mapped when large.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from gscli.base import ContentRefused, DtypeRefused, UsageError, check_rule
from gscli.base.arrays import Array, Arrays, dtype_name, parse_dtype, to_native
from gscli.base.words import sanitize
from gscli.files.content import TEXT_LIMIT, Content, check_content, open_content
from gscli.files.formats.jsontext import parse_json
from gscli.files.formats.npy import (
    WRITE_BLOCK,
    ArrayHeader,
    is_shape,
    iter_byte_blocks,
    reshape_elements,
)
from gscli.files.request import (
    LoadedInput,
    Member,
    Output,
    ReadRequest,
    choose_member,
    member_place,
)

LENGTH_BYTES = 8
METADATA = "__metadata__"

# Widest first: the order in which tensors are laid out, so that each begins at an even address.
TYPES = {
    "U64": "uint64",
    "I64": "int64",
    "F64": "float64",
    "C64": "complex64",
    "F32": "float32",
    "U32": "uint32",
    "I32": "int32",
    "BF16": "bfloat16",
    "F16": "float16",
    "U16": "uint16",
    "I16": "int16",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}


def read(content: Content, request: ReadRequest) -> LoadedInput:
    """One tensor, named or the only one."""
    tensors, _ = parse_header(content)
    name = choose_member(tensors, request.member, content.name)
    tensor, where = tensors[name], member_place(content.name, name)
    flat = content.as_array(tensor.dtype, tensor.size, tensor.offset)
    return LoadedInput(reshape_elements(flat, tensor, request.limit, where))


def listing(content: Content, _request: ReadRequest) -> list[Member]:
    """Every tensor, from the header."""
    tensors, _ = parse_header(content)
    return [Member.of(tensor, name) for name, tensor in tensors.items()]


def read_shard_index(path: str) -> dict[str, str]:
    """The file that holds each tensor, by the index beside these files: its `weight_map`.

    Files of other folders are refused.
    """
    with open_content(path, TEXT_LIMIT) as content:
        document = parse_json(content.read_all(TEXT_LIMIT, "the index"), path).value
    shards = document.get("weight_map") if isinstance(document, dict) else None
    if not isinstance(shards, dict):
        raise ContentRefused(f"{path} has no weight_map", where=path)
    for name, file in shards.items():
        beside = isinstance(file, str) and os.path.basename(file) == file
        if not (beside and file.lower().endswith(".safetensors")):
            where = f"{member_place(path, name)} is in {sanitize(str(file), 60)}"
            raise ContentRefused("a tensor is in no file beside its index", where=where)
    return {name: os.path.join(os.path.dirname(path), file) for name, file in shards.items()}


def write_into(out: Output, old: Content, name: str, array: Array) -> None:
    """Write the old file with one tensor changed or added; everything else stays.

    A tensor of the old type and shape is patched in passing, so that the size of the file does
    not matter; otherwise the whole file is built anew.
    """
    tensors, metadata = parse_header(old)
    tensor = tensors.get(name)
    if tensor and (tensor.dtype, tensor.shape) == (array.dtype, array.shape):
        _copy_range(out, old, 0, tensor.offset)
        for block in iter_byte_blocks(array):
            out(block)
        _copy_range(out, old, tensor.offset + tensor.nbytes, old.size)
        return
    kept = {
        other: old.as_array(tensor.dtype, tensor.size, tensor.offset).reshape(tensor.shape)
        for other, tensor in tensors.items()
    }
    write(out, kept | {name: array}, "", metadata)


def _copy_range(out: Output, old: Content, start: int, end: int) -> None:
    for position in range(start, end, WRITE_BLOCK):
        out(old.read(position, min(WRITE_BLOCK, end - position)))


def write(
    out: Output, arrays: Arrays, _suffix: str, metadata: Mapping[str, str] | None = None
) -> None:
    """Write the header, then a few megabytes of tensors at a time, the widest elements first.

    The safetensors package makes the same bytes, but holds the whole file in memory twice.
    """
    check_rule(METADATA not in arrays, f"{METADATA} is no name for a tensor", kind=UsageError)
    codes = {label: code for code, label in TYPES.items()}
    labels = {name: dtype_name(array.dtype) for name, array in arrays.items()}
    for label in labels.values():
        problem, hint = f".safetensors has no element type {label}", "use .npy or .json"
        check_rule(label in codes, problem, kind=DtypeRefused, valid=", ".join(codes), hint=hint)
    ordered = sorted(arrays, key=lambda name: ([*codes].index(labels[name]), name))
    document: dict[str, object] = {METADATA: dict(metadata)} if metadata else {}
    end = 0
    for name in ordered:
        start, end = end, end + arrays[name].nbytes
        fields = {"dtype": codes[labels[name]], "shape": arrays[name].shape}
        document[name] = {**fields, "data_offsets": (start, end)}
    header = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    header += b" " * (-len(header) % LENGTH_BYTES)
    out(len(header).to_bytes(LENGTH_BYTES, "little") + header)
    for name in ordered:
        for block in iter_byte_blocks(to_native(arrays[name])):
            out(block)


def parse_header(content: Content) -> tuple[dict[str, ArrayHeader], dict[str, str]]:
    """Every tensor by name, and the free text that came with them.

    The header is judged: its length, its JSON, and that the tensors cover the data exactly.
    """
    length_field = content.read_prefix(LENGTH_BYTES)
    length = int.from_bytes(length_field, "little")
    data_start = LENGTH_BYTES + length
    fits = len(length_field) == LENGTH_BYTES and data_start <= content.size
    _check_header(fits, content.name, "its header does not fit into it")
    _check_header(length <= TEXT_LIMIT, content.name, f"its header has {length:,} bytes")
    text = content.read(LENGTH_BYTES, length)
    _check_header(bytes(text[:1]) == b"{", content.name, "its header does not begin with {")
    document = parse_json(text, f"the header of {content.name}").value
    metadata = document.pop(METADATA, {})
    is_text = isinstance(metadata, dict) and all(type(v) is str for v in metadata.values())
    _check_header(is_text, content.name, f"{METADATA} is not text")
    items = document.items()
    tensors = {name: _parse_tensor(name, item, data_start, content.name) for name, item in items}
    _check_no_gaps(tensors, data_start, content)
    return tensors, metadata


def _parse_tensor(name: str, fields: Any, data_start: int, file: str) -> ArrayHeader:
    where = f"tensor {sanitize(name, 60)}"
    is_known = isinstance(fields, dict) and set(fields) == {"dtype", "shape", "data_offsets"}
    _check_header(is_known, file, f"{where} needs dtype, shape and data_offsets")
    code, shape, offsets = fields["dtype"], fields["shape"], fields["data_offsets"]
    if not isinstance(code, str) or code not in TYPES:
        problem = f"element type {sanitize(str(code), 40)} is not supported"
        raise DtypeRefused(problem, where=f"{file}: {where}", valid=", ".join(TYPES))
    fits = isinstance(shape, list) and is_shape(shape) and _is_span(offsets)
    _check_header(fits, file, f"{where} has no proper shape and offsets")
    start, end = offsets
    tensor = ArrayHeader(parse_dtype(TYPES[code]), tuple(shape), data_start + start)
    if end - start != tensor.nbytes:
        why = f"{where} of shape {sanitize(str(shape), 60)} has other offsets"
        _check_header(False, file, why)  # said of no other: a model has thousands of tensors
    return tensor


def _is_span(value: object) -> bool:
    return isinstance(value, list) and list(map(type, value)) == [int, int] and min(value) >= 0


def _check_no_gaps(tensors: dict[str, ArrayHeader], data_start: int, content: Content) -> None:
    """No overlap, no gap and no rest: a byte that belongs to nobody could be a second file."""
    position = data_start
    for tensor in sorted(tensors.values(), key=lambda tensor: (tensor.offset, tensor.nbytes)):
        _check_header(tensor.offset == position, content.name, "its tensors overlap or leave a gap")
        position += tensor.nbytes
    name, size = content.name, content.size
    problem = f"{name} {'is cut off' if size < position else 'goes on after the tensors'}"
    check_content(size == position, problem, f"{name}: {size:,} bytes", valid=f"{position:,} bytes")


def _check_header(holds: bool, name: str, why: str) -> None:
    check_content(holds, f"{name} is not a sound .safetensors file", f"{name}: {why}")
