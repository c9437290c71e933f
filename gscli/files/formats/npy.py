"""The .npy format: headers judged on a bounded prefix, arrays mapped, headers written.

NumPy's public header readers decide what a header says, after the prefix was found to hold
nothing but the tokens of a plain header: three keys, a type from the list, whole numbers.
"""

from __future__ import annotations

import io
import math
import re
import struct
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.lib import format as numpy_format

from gscli.base import ContentRefused, DtypeRefused
from gscli.base.arrays import (
    SMALL_NAMES,
    Array,
    Arrays,
    DType,
    check_dtype_supported,
    check_value_bits,
    to_native,
)
from gscli.base.records import Record
from gscli.base.words import format_shape, sanitize
from gscli.files.content import Content, check_content, check_limit
from gscli.files.request import LoadedInput, Member, Output, ReadRequest

MAGIC = b"\x93NUMPY"
HEADER_LIMIT = 10_000
PREFIX_LIMIT = 12 + HEADER_LIMIT
RANK_LIMIT = 64
BYTES_LIMIT = 1 << 63
WRITE_BLOCK = 8 << 20

_WORD = re.compile(r"\s+|'[^'\"\\]*'|\"[^'\"\\]*\"|\d{1,20}|True|False|[{}()\[\]:,]")
_KEYS = ["descr", "fortran_order", "shape"]
_DEPTH_LIMIT = 50
_VERSIONS: dict[tuple[int, ...], str] = {(1, 0): "<H", (2, 0): "<I", (3, 0): "<I"}


class ArrayHeader(Record):
    """What a file says of an array: its data are so many bytes from `offset` on."""

    dtype: DType
    shape: tuple[int, ...]
    offset: int
    is_fortran: bool = False

    @property
    def size(self) -> int:
        """How many elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes of data."""
        return self.size * self.dtype.itemsize


def parse_header(prefix: bytes, name: str, *, is_read: bool = True) -> ArrayHeader:
    """Judge the first bytes of a .npy file: at most PREFIX_LIMIT of them are needed.

    What is only listed may have elements of any type.

    >>> parse_header(npy_header(np.dtype("float32"), (4, 3)), "x.npy").shape
    (4, 3)
    """
    text, offset = _read_header_text(prefix, name)
    if "L" in text:  # Python 2 wrote it behind some sizes
        text = re.sub(r"(?<=\d)L(?=\s*[,)])", "", text)
    _check_tokens(text, name)
    header = _parse_with_numpy(text, offset, name)
    dtype = header.dtype
    plain = dtype.names is None and dtype.subdtype is None and dtype.itemsize
    if is_read and not (dtype.type is np.void and plain):
        check_dtype_supported(dtype, name)
    return header


def read(content: Content, request: ReadRequest) -> LoadedInput:
    """The array of a .npy file: mapped when large and plain, else in memory within the limit."""
    header = _read_header(content)
    dtype = element_dtype(header.dtype, request.dtype, content.name)
    flat = content.as_array(dtype, header.size, header.offset)
    return LoadedInput(reshape_elements(flat, header, request.limit, content.name))


def listing(content: Content, _request: ReadRequest) -> list[Member]:
    """The one array of a .npy file, from its header."""
    return [Member.of(_read_header(content))]


def _read_header(content: Content) -> ArrayHeader:
    header = parse_header(content.read_prefix(PREFIX_LIMIT), content.name)
    check_length(header, content.size, content.name)
    return header


def is_shape(sizes: Sequence[Any], itemsize: int = 16) -> bool:
    """Whether values are the sizes of axes: whole numbers from 0 up, few, not beyond all memory."""
    if len(sizes) > RANK_LIMIT or not {int}.issuperset(map(type, sizes)):
        return False
    return min(sizes, default=0) >= 0 and math.prod(filter(None, sizes)) * itemsize < BYTES_LIMIT


def check_length(header: ArrayHeader, size: int, name: str) -> None:
    """The file must be exactly as long as its header says: no less, no more."""
    present = size - header.offset
    problem = f"{name} {'is cut off' if present < header.nbytes else 'goes on after the array'}"
    where, whole = f"{name}: {present:,} bytes of data", present == header.nbytes
    legal = f"{header.nbytes:,} bytes for shape {format_shape(header.shape)}"
    check_content(whole, problem, where, valid=legal)


def element_dtype(stored: DType, opaque: DType | None, name: str) -> DType:
    """The type of the elements; `opaque` names it where the file holds opaque bytes."""
    if stored.type is not np.void:
        return stored
    size = stored.itemsize
    if opaque is not None and opaque.name in SMALL_NAMES and opaque.itemsize == size:
        return opaque
    fitting = [label for label in SMALL_NAMES if (label == "bfloat16") == (size > 1)]
    way = "" if opaque is None else "first gscli convert IN OUT.safetensors "
    problem = f"the elements of {name} are opaque bytes (|V{size})"
    details = ("NumPy writes bfloat16 and other small types this way, without their names",)
    hint = f"{way}--dtype {fitting[0] if size > 1 else 'float8_e4m3fn'}, or what was written"
    raise DtypeRefused(problem, where=name, details=details, valid=", ".join(fitting), hint=hint)


def reshape_elements(flat: Array, header: ArrayHeader, limit: int, name: str) -> Array:
    """Give flat elements their shape, in native byte order and C order.

    What is not so in the file is copied, within the limit; so are elements at odd addresses.
    """
    transposed = header.is_fortran and len(header.shape) > 1
    plain = flat.dtype.isnative and flat.flags.aligned
    if transposed or not plain:
        check_limit(header.nbytes, limit, name, "a copy in native order")
    ordered = flat if plain else np.array(flat, flat.dtype.newbyteorder("="))
    check_value_bits(ordered, name)
    if transposed:
        return to_native(ordered.reshape(header.shape[::-1]).T)
    return ordered.reshape(header.shape)


def join_pieces(
    pieces: Iterable[bytes | memoryview], header: ArrayHeader, request: ReadRequest, name: str
) -> Array:
    """The array whose bytes come piece by piece, in native byte order and C order."""
    dtype = element_dtype(header.dtype, request.dtype, name)
    check_limit(header.nbytes, request.limit, name, "the array")
    data, filled = np.empty(header.nbytes, np.uint8), 0
    for piece in pieces:
        data[filled : filled + len(piece)] = np.frombuffer(piece, np.uint8)
        filled += len(piece)
    check_content(filled == header.nbytes, f"{name} was not read to its end", name)
    return reshape_elements(data.view(dtype), header, request.limit, name)


def npy_header(dtype: DType, shape: Sequence[int]) -> bytes:
    """The header of a C-ordered .npy file; the data follows it directly.

    Small types of ml_dtypes become |V2 and |V1, the form `numpy.load` takes.

    >>> npy_header(np.dtype("bfloat16"), (2,))[10:27]
    b"{'descr': '|V2', "
    """
    descr = f"|V{dtype.itemsize}" if dtype.name in SMALL_NAMES else dtype.str
    fields = {"descr": descr, "fortran_order": False, "shape": tuple(shape)}
    header = io.BytesIO()
    numpy_format.write_array_header_1_0(header, fields)
    return header.getvalue()


def write(out: Output, arrays: Arrays, _suffix: str) -> None:
    """Write one array, C-ordered, without a copy of it where it is so already."""
    (array,) = arrays.values()
    for block in iter_file_bytes(array):
        out(block)


def iter_file_bytes(array: Array) -> Iterator[bytes | memoryview]:
    """The bytes of a .npy file, the header first."""
    yield npy_header(array.dtype, array.shape)
    yield from iter_byte_blocks(array)


def iter_byte_blocks(array: Array) -> Iterator[memoryview]:
    """The bytes of an array in C order, a few megabytes at a time."""
    cells = array.view(f"V{array.dtype.itemsize}")
    if array.flags.c_contiguous:
        content = cells.reshape(-1).view(np.uint8).data
        for start in range(0, len(content), WRITE_BLOCK):
            yield content[start : start + WRITE_BLOCK]
        return
    size = max(WRITE_BLOCK // array.dtype.itemsize, 1)
    flags: list[Any] = ["external_loop", "buffered", "zerosize_ok"]
    for part in np.nditer(cells, flags, buffersize=size, order="C"):
        yield np.ascontiguousarray(part).view(np.uint8).data


def _read_header_text(prefix: bytes, name: str) -> tuple[str, int]:
    """The text of the header and the offset of the data, its length checked before it is used."""
    if not prefix.startswith(MAGIC):
        raise _magic_error(prefix, name)
    version, cut_off = tuple(prefix[6:8]), (f"{name} is cut off", f"{name}: inside the header")
    check_content(len(version) > 1, *cut_off)
    problem = f"unknown .npy version {'.'.join(map(str, version))}"
    check_content(version in _VERSIONS, problem, name, valid="1.0, 2.0, 3.0")
    field = _VERSIONS[version]
    start = 8 + struct.calcsize(field)
    check_content(len(prefix) >= start, *cut_off)
    (length,) = struct.unpack(field, prefix[8:start])
    fits, most = length <= HEADER_LIMIT, f"at most {HEADER_LIMIT:,} bytes"
    problem, where = "the .npy header is too long", f"{name}: {length:,} bytes"
    check_content(fits, problem, where, valid=most)
    text = prefix[start : start + length]
    check_content(len(text) == length, *cut_off)
    _check_header(text.isascii(), name, "it holds characters beyond ASCII")
    return text.decode("ascii"), start + length


def _magic_error(prefix: bytes, name: str) -> ContentRefused:
    if len(prefix) < len(MAGIC) and MAGIC.startswith(prefix):
        return ContentRefused(f"{name} is {'cut off' if prefix else 'empty'}", where=name)
    hint = ""
    if prefix.startswith(b"PK"):
        hint = "it is an archive: name it .npz"
    elif prefix.startswith(b"\x80"):
        hint = "it is a pickle, and gscli never unpickles: save it with numpy.save"
    return ContentRefused(f"{name} is not a .npy file", where=f"{name}: the first bytes", hint=hint)


def _header_error(name: str, why: str) -> ContentRefused:
    return ContentRefused(f"the header of {name} is malformed", where=f"{name}: {why}")


def _check_header(holds: bool, name: str, why: str) -> None:
    if not holds:
        raise _header_error(name, why)


def _check_tokens(text: str, name: str) -> None:
    """Nothing but the tokens of a plain dictionary, not deep, each key once."""
    words, end = [], 0
    for match in _WORD.finditer(text):
        if match.start() != end:
            break
        end = match.end()
        words += [] if match[0].isspace() else [match[0]]
    _check_header(end == len(text), name, f"unexpected {sanitize(text[end:], 20)}")
    deepest = max(accumulate((word in "{([") - (word in "})]") for word in words), default=0)
    _check_header(deepest <= _DEPTH_LIMIT, name, f"nested {deepest} deep")
    keys = sorted(key.strip("'\"") for key, after in pairwise(words) if after == ":")
    shown = sanitize(", ".join(keys), 60)
    _check_header(keys == _KEYS, name, f"the keys are {shown}, not {', '.join(_KEYS)}")


def _parse_with_numpy(text: str, offset: int, name: str) -> ArrayHeader:
    """Let NumPy's own reader say what the checked text means."""
    opaque = re.search(r"""['"]descr['"]\s*:\s*['"]([^'"]*)['"]""", text)
    if opaque and re.fullmatch(r"[<|=]?(V[1-9]\d*|f1)", opaque[1]):
        size = 1 if opaque[1].endswith("f1") else int(opaque[1].split("V")[1])
        text = text[: opaque.start(1)] + f"|V{size}" + text[opaque.end(1) :]
    encoded = text.encode("ascii")
    stream = io.BytesIO(struct.pack("<I", len(encoded)) + encoded)
    try:
        with warnings.catch_warnings(action="error"):  # NumPy warns where it had to guess
            shape, fortran, dtype = numpy_format.read_array_header_2_0(stream)
    except Exception as error:  # strange types make NumPy raise many kinds
        raise _header_error(name, "NumPy cannot read it") from error
    why = f"no array can have shape {sanitize(str(shape), 60)}"
    _check_header(is_shape(shape, dtype.itemsize or 1), name, why)
    return ArrayHeader(dtype, shape, offset, fortran)
