"""Load and save arrays: the only way in and out of gscli.

`load` takes what a person wrote for an input: a file, `FILE::NAME`, `-`, inline JSON or a
generator. `save` replaces its target completely or leaves it alone. Neither ever runs code from a
file, and both raise nothing but GscliError (and let BrokenPipeError tell that a reader left).

>>> load("[[0, 1], [2, 3]]").array.shape
(2, 2)
>>> load("arange:4", dtype="float32").array.dtype
dtype('float32')
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from gscli.base import CannotRead, no_memory
from gscli.base.records import Record
from gscli.base.words import safe
from gscli.files import readers
from gscli.files.arrays import Array, cast_exactly, dtype_named
from gscli.files.content import Content, HeldContent, read_pipe, reader
from gscli.files.npy import npy_header
from gscli.files.request import Member, Request, Source, Wish

if TYPE_CHECKING:
    from gscli.files.atomic import AtomicFile, open_atomic
    from gscli.files.jsonarray import dump_json, load_json

__all__ = [
    "AtomicFile",
    "Loaded",
    "Member",
    "Source",
    "dump_json",
    "load",
    "load_json",
    "load_many",
    "members",
    "npy_header",
    "open_atomic",
    "save",
]

MAX_BYTES = 1 << 30
STANDARD_INPUT = "standard input"


_WHEN_ASKED = {
    "AtomicFile": "atomic", "open_atomic": "atomic", "dump_json": "jsonarray",
    "load_json": "jsonarray",
}  # fmt: skip
"""What most runs do without, and the modules that are imported when it is asked for."""


def __getattr__(name: str) -> Any:
    if name in _WHEN_ASKED:
        return getattr(import_module(f"gscli.files.{_WHEN_ASKED[name]}"), name)
    raise AttributeError(name)


class Loaded(Record):
    """An input as an array.

    `array` is C-ordered, in native byte order and read-only; large plain .npy and .safetensors
    arrays are `numpy.memmap`. `origin` is the file's name for messages, or "inline". `typed` is
    False where the element type was inferred from JSON or CSV.
    """

    array: Array
    origin: str
    typed: bool


def load(
    text: str,
    *,
    name: str = "input",
    dtype: str | None = None,
    opaque_only: bool = False,
    like: np.dtype[Any] | None = None,
    empty_dtype: str | None = None,
    max_bytes: int = MAX_BYTES,
    stdin: BinaryIO | None = None,
    leave: bool = False,
) -> Loaded:
    """The array that `text` names; `name` is the argument it stands for, used in messages.

    `dtype` converts without changing a value (and names the type of opaque elements; with
    `opaque_only` it does nothing else). `like` is the type that untyped numbers take, `empty_dtype`
    that of `[]`. `max_bytes` bounds what is built in memory; a mapped file may be larger. `leave`:
    of a Zarr store only what stands for it is made (`stand_ins`).

    Raises UsageError, CannotRead, ContentRefused, DtypeRefused, LimitRefused.

    >>> load("[0.5, 1]", like=np.dtype("float32")).array
    array([0.5, 1. ], dtype=float32)
    """
    source = Source.parse(text)
    wish = Wish(
        None if dtype is None else dtype_named(dtype),
        like,
        None if empty_dtype is None else dtype_named(empty_dtype),
        opaque_only,
    )
    with _enough_memory(name):
        loaded = _load(source, name, wish, max_bytes, stdin, leave=leave)
        if wish.dtype is not None and not opaque_only and loaded.array.dtype != wish.dtype:
            array = cast_exactly(loaded.array, wish.dtype, loaded.origin)
            loaded = loaded._replace(array=array)
    return _read_only(loaded)


def _read_only(loaded: Loaded) -> Loaded:
    loaded.array.flags.writeable = False
    return loaded


def _load(
    source: Source,
    name: str,
    wish: Wish,
    limit: int,
    stdin: BinaryIO | None,
    *,
    leave: bool = False,
) -> Loaded:
    if source.kind == "generator":
        from gscli.files.generators import generate

        array, typed = generate(source.text, wish, limit)
        return Loaded(array, safe(source.text), typed)
    if source.kind == "inline":
        from gscli.files.jsonarray import array_of_json
        from gscli.files.jsontext import parse_json

        parsed = parse_json(source.json.encode("utf-8", "surrogatepass"), name)
        read = array_of_json(parsed, wish, limit)
        return Loaded(read.array, "inline", read.typed)
    if source.kind == "stdin":
        content: Content = _standard_input(stdin, limit)
        suffix = readers.sniffed(content)
    else:
        content, suffix = readers.open_source(source.path, limit)
    with content:
        request = Request(name, source.member, wish, limit, suffix)
        if leave and suffix in readers.STORES:
            return _left(content, request, safe(source.text))
        read = readers.read_array(content, request)
    origin = STANDARD_INPUT if source.kind == "stdin" else safe(source.text)
    return Loaded(read.array, origin, read.typed)


def _left(content: Content, request: Request, origin: str) -> Loaded:
    from gscli.files.stand_ins import stand_in
    from gscli.files.zarr_format import store_of

    return Loaded(stand_in(store_of(content, request)), origin, typed=True)


def load_many(
    text: str,
    names: Sequence[str],
    *,
    optional: Collection[str] = (),
    dtype: str | None = None,
    empty_dtype: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> dict[str, Loaded]:
    """All inputs of an operator from one .npz, .safetensors, .h5, .onnx or folder, by name.

    `data` is also found as params, x, a or input, `indices` as idx or index, `updates` as upd, src
    or values; in a folder as data.npy, data.json or input_0.pb. `dtype` names the type of opaque
    elements only. Raises as `load` does, CannotRead for an argument that is not there (unless it
    is in `optional`).
    """
    wish = Wish(
        None if dtype is None else dtype_named(dtype),
        empty=None if empty_dtype is None else dtype_named(empty_dtype),
        opaque_only=True,
    )
    from gscli.files import together

    with _enough_memory(text):
        found = together.sources(text, names, optional, max_bytes)
        return {
            name: _read_only(_load(source, name, wish, max_bytes, None))
            for name, source in found.items()
        }


def members(path: str, *, max_bytes: int = MAX_BYTES) -> list[Member]:
    """What a file holds: name, element type, shape and bytes of each array, from headers alone.

    A format for one array gives one member with an empty name. Raises as `load` does.
    """
    with _enough_memory(path):
        content, suffix = readers.open_source(path, max_bytes)
        with content:
            request = Request("", None, Wish(), max_bytes, suffix)
            return readers.format_for(suffix).listing(content, request)


def _standard_input(stdin: BinaryIO | None, limit: int) -> Content:
    stream = stdin
    if stream is None:
        stream = None if sys.stdin is None else sys.stdin.buffer
    if stream is None:
        raise CannotRead("cannot read standard input", where=f"{STANDARD_INPUT}: is closed")
    held = read_pipe(reader(stream), STANDARD_INPUT, limit, readers.stream_bounds)
    return HeldContent(STANDARD_INPUT, held)


def save(
    path: str,
    array: Array,
    *,
    format: str | None = None,  # noqa: A002 -- the word of the command line
    stdout: BinaryIO | None = None,
    max_bytes: int = MAX_BYTES,
    chunks: Sequence[int] | None = None,
) -> None:
    r"""Write one array to a file, replaced as a whole, or with `-` to standard output.

    The suffix of `path` decides the format; where it names none, `format` does. `FILE::NAME` puts
    the array into an .npz, .safetensors, .h5 file or .zarr group under that name and keeps the
    other members. `chunks`: sizes of the chunks of a .zarr store.

    Raises UsageError, DtypeRefused, CannotWrite, and what `load` raises for a file to be kept.

    >>> import io
    >>> stream = io.BytesIO()
    >>> save("-", np.array([1, 2]), format="json", stdout=stream)
    >>> stream.getvalue()
    b'{"dtype": "int64", "shape": [2], "data": [1, 2]}\n'
    """
    from gscli.files import writers

    with _enough_memory(path):
        if path == "-":
            stream = stdout
            if stream is None:
                stream = None if sys.stdout is None else sys.stdout.buffer
            writers.save_stream(stream, array, format)
        else:
            writers.save_file(path, array, format, max_bytes, chunks)


@contextmanager
def _enough_memory(name: str) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise no_memory(safe(name), "not enough memory") from error
