"""The file formats gscli reads and writes, one module each; `gscli.files` is the way in.

`load` takes what a person wrote for an input: a file, `FILE::NAME`, `-`, inline JSON or a
generator. `save` replaces its target completely or leaves it alone. Neither ever runs code from a
file, and both raise nothing but GscliError (and let BrokenPipeError tell that a reader left).

Readers take a `Content` (bytes at any place, checked to be a regular file or a pipe) and give an
array; they allocate nothing whose size they have not compared with the bytes present and the
limit.

>>> load("[[0, 1], [2, 3]]").array.shape
(2, 2)
>>> load("arange:4", dtype="float32").array.dtype
dtype('float32')
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from gscli.base import CannotRead, UsageError, check_rule, memory_error, translate_errors
from gscli.base.arrays import Array, DType, LazyArray, cast_lossless, parse_dtype
from gscli.base.words import format_flag, sanitize
from gscli.disk.mapped import read_errors, suggest_similar
from gscli.files.content import (
    STANDARD_INPUT,
    TEXT_LIMIT,
    Content,
    blocking_reader,
    check_kind,
    check_limit,
    open_content,
    read_pipe,
)
from gscli.files.formats.npy import MAGIC, PREFIX_LIMIT, parse_header
from gscli.files.request import (
    DEFAULT_MEMBER,
    FORMATS,
    MANY_MEMBERS,
    NAMED_COLUMNS,
    PICKLED,
    SHARD_INDEX,
    STORES,
    TEXT_SUFFIXES,
    WRITABLE_SUFFIXES,
    ReadRequest,
    Source,
    choose_member,
    file_suffix,
    format_for,
    list_arrays,
    list_keys,
    lost_arrays_error,
    match_argument,
    spell_as_json,
    unsupported_format_error,
)
from gscli.files.request import MAX_BYTES as MAX_BYTES
from gscli.files.request import LoadedInput as LoadedInput
from gscli.files.request import Member as Member

FOLDER_LIMIT = 10_000

# Bytes of a text that are looked at for what it is.
SNIFFED_BYTES = 1 << 16


def load(
    text: str,
    *,
    name: str = "input",
    dtype: str | None = None,
    opaque_only: bool = False,
    like: DType | None = None,
    empty_dtype: str | None = None,
    max_bytes: int | None = None,
    stdin: BinaryIO | Content | None = None,
    leave: bool = False,
) -> LoadedInput:
    """The array that `text` names; `name` is the argument it stands for, used in messages.

    `dtype` converts without changing a value (and names the type of opaque elements; with
    `opaque_only` it does nothing else). `like` is the type that untyped numbers take, `empty_dtype`
    that of `[]`. `max_bytes` bounds what is built in memory; a mapped file may be larger. `leave`:
    of a Zarr store only what stands for it is made (`LazyArray`), a .npy file stays open.

    Raises UsageError, CannotRead, ContentRefused, DtypeRefused, LimitRefused.

    >>> load("[0.5, 1]", like=parse_dtype("float32")).array
    array([0.5, 1. ], dtype=float32)
    """
    types = _parse(dtype), like, _parse(empty_dtype)
    request = ReadRequest(name, *types, opaque_only, max_bytes or MAX_BYTES)
    source = Source.parse(text)
    with _memory_errors(name):
        if source.path.lower().endswith(SHARD_INDEX):
            source = _find_shard(source)
        return _load(source, request, stdin, leave=leave)


def _find_shard(index: Source) -> Source:
    """The member of the file that holds a tensor of an index of several .safetensors files."""
    from gscli.files.formats.safetensor import read_shard_index

    shards = read_shard_index(index.path)
    member = choose_member(shards, index.member, index.path)
    return Source(index.text, "file", shards[member], member)


def _parse(dtype: str | None) -> DType | None:
    return None if dtype is None else parse_dtype(dtype)


def load_many(
    text: str,
    names: Sequence[str],
    *,
    optional: Collection[str] = (),
    named: Collection[str] = (),
    variadic: str | None = None,
    dtype: str | None = None,
    empty_dtype: str | None = None,
    max_bytes: int | None = None,
) -> dict[str, LoadedInput]:
    """All inputs of an operator from one .npz, .safetensors, .h5, .onnx or folder, by name.

    `data` is also found as params, x, a or input, `indices` as idx or index, `updates` as upd, src
    or values, where none is called so itself; in a folder as data.npy, data.json or, in order,
    input_0.pb. The argument that is `variadic` has the names NAME_0, NAME_1, …, or its own for one.
    `dtype` names the type of opaque elements only. Arguments that are `named` elsewhere are left
    out. Raises as `load` does, CannotRead for an argument that is not there (unless it is in
    `optional`).
    """
    limit, types = max_bytes or MAX_BYTES, (_parse(dtype), None, _parse(empty_dtype))
    with _memory_errors(text):
        parts = list_sources(text, limit)
        others = [name for name in names if name not in named]
        keys = {name: match_argument(name, names, parts, text) for name in others}
        if variadic is not None:
            single = {f"{variadic}_0": keys.pop(variadic)}
            numbered = [f"{variadic}_{number}" for number in range(len(parts))]
            keys |= {name: name for name in numbered if name in parts} or single
        missing = [name for name, key in keys.items() if key is None and name not in optional]
        first, legal = "".join(missing[:1]), list_keys(parts)
        problem, flag = f"{text} has nothing for {first}", format_flag(first)
        hint = f"{flag} names it beside {text}" if first in names else ""
        check_rule(not missing, problem, text, kind=CannotRead, valid=legal, hint=hint)
        return {
            name: _load(parts[key], ReadRequest(name, *types, opaque_only=True, limit=limit))
            for name, key in keys.items() if key is not None
        }  # fmt: skip


def members(path: str, *, max_bytes: int | None = None) -> list[Member]:
    """What a file holds: name, element type, shape and bytes of each array, from headers alone.

    A format for one array gives one member with an empty name. Raises as `load` does.
    """
    limit = max_bytes or MAX_BYTES
    with _memory_errors(path):
        if path.lower().endswith(SHARD_INDEX):
            from gscli.files.formats.safetensor import read_shard_index

            shards = read_shard_index(path)
            every = (member for file in dict.fromkeys(shards.values()) for member in members(file))
            return [member for member in every if member.name in shards]
        content, suffix = _open_content(path, limit)
        with content:
            return list_arrays(content, suffix, limit)


def list_members(
    text: str, *, max_bytes: int | None = None, stdin: Content | None = None
) -> list[Member] | None:
    """The members of a file or store named without `::`; None for any other word.

    Of `stdin`, which was read before, those that it has where there are several.
    """
    source = Source.parse(text)
    if stdin is not None and (suffix := sniff_suffix(stdin)) in (*MANY_MEMBERS, *NAMED_COLUMNS):
        listed = list_arrays(stdin, suffix, max_bytes or MAX_BYTES)
        is_named = suffix in NAMED_COLUMNS and bool(listed[0].name)
        return listed if len(listed) > 1 or is_named else None
    is_pipe = os.path.exists(source.path) and Path(source.path).is_fifo()  # which is read once
    if source.kind != "file" or source.member is not None or is_pipe:
        return None
    return members(source.path, max_bytes=max_bytes)


def check_replaced(target: str, words: Iterable[str]) -> None:
    """CannotWrite where a result would replace a file of several arrays, of which inputs are some.

    `words` name the inputs, FILE:: some that have names. No repository is ever replaced.
    """
    from gscli.files.stores.zarr_place import is_repository

    suffix = file_suffix(target)
    is_replaced = suffix in WRITABLE_SUFFIXES and os.path.exists(target)
    is_replaced = is_replaced and not is_repository(target)
    for source in map(Source.parse, words) if is_replaced else ():
        is_there = source.member is not None and os.path.exists(source.path)
        if not is_there or not os.path.samefile(source.path, target):
            continue
        if len(list_members(target) or ()) > 1:
            hint = "to replace it whole, write another file and mv it there"
            if suffix in MANY_MEMBERS:
                member = sanitize(source.member or DEFAULT_MEMBER, 60)
                hint = f"with ::{member} behind its name no other array changes; {hint}"
            raise lost_arrays_error(target, "would hold the result alone, its other", hint)


def save(
    path: str,
    array: Array,
    *,
    format: str | None = None,  # noqa: A002 -- the word of the command line
    stdout: BinaryIO | None = None,
    max_bytes: int | None = None,
    chunks: Sequence[int] | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    r"""Write one array to a file, replaced as a whole, or with `-` to standard output.

    The suffix of `path` decides the format; where it names none, `format` does. `FILE::NAME` puts
    the array into an .npz, .safetensors, .h5 file or .zarr group under that name and keeps the
    other members. `chunks`: sizes of the chunks of a .zarr store. `progress` is told how many bytes
    more of a new file are written.

    Raises UsageError, DtypeRefused, CannotWrite, and what `load` raises for a file to be kept.

    >>> import io, numpy as np
    >>> stream = io.BytesIO()
    >>> save("-", np.array([1, 2]), format="json", stdout=stream)
    >>> stream.getvalue()
    b'{"dtype": "int64", "shape": [2], "data": [1, 2]}\n'
    """
    from gscli.files import writers

    with _memory_errors(path):
        if path == "-":
            writers.save_stream(stdout or getattr(sys.stdout, "buffer", None), array, format)
        else:
            writers.save_file(path, array, format, max_bytes or MAX_BYTES, chunks, progress)


def _memory_errors(name: str) -> AbstractContextManager[None]:
    return translate_errors(lambda _: memory_error(name, "not enough memory"), MemoryError)


def _load(
    source: Source,
    request: ReadRequest,
    stdin: BinaryIO | Content | None = None,
    *,
    leave: bool = False,
) -> LoadedInput:
    """An input in the type that is wanted, which nobody may write to."""
    loaded = _read(source, request, stdin, leave=leave)
    if request.dtype is not None and not request.opaque_only:
        loaded = loaded._replace(array=cast_lossless(loaded.array, request.dtype, loaded.origin))
    loaded.array.flags.writeable = False
    return loaded


def _read(
    source: Source, request: ReadRequest, stdin: BinaryIO | Content | None, *, leave: bool
) -> LoadedInput:
    if source.kind == "generator":
        from gscli.files.generators import generate

        return generate(source.text, request)
    if source.kind == "inline":
        from gscli.files.formats.jsonarray import array_of_json
        from gscli.files.formats.jsontext import parse_json

        parsed = parse_json(spell_as_json(source.text), request.argument)
        return array_of_json(parsed, request, "inline")
    origin, file = sanitize(source.text), None
    if source.kind == "stdin":
        origin, content = STANDARD_INPUT, read_standard_input(stdin, request.limit)
        suffix = sniff_suffix(content, source.member)
    else:
        content, suffix = _open_content(source.path, request.limit)
    with content:
        request = request._replace(member=source.member, suffix=suffix)
        if leave and request.dtype is None and suffix in STORES:
            from gscli.files.stores.zarr_format import open_member

            return LoadedInput(LazyArray.of(open_member(content, request)), origin)
        read = read_array(content, request)
        if leave and file_suffix(source.path) == ".npy":
            file = content.detach_file()
    return read._replace(origin=origin, file=file)


def read_standard_input(stdin: BinaryIO | Content | None, limit: int) -> Content:
    """All of a stream, which may be read before."""
    if isinstance(stdin, Content):
        return stdin
    stream = stdin or getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise CannotRead("cannot read standard input", where=f"{STANDARD_INPUT}: is closed")
    data = read_pipe(blocking_reader(stream), STANDARD_INPUT, limit, stream_bounds)
    return Content(STANDARD_INPUT, data)


def _open_content(path: str, limit: int) -> tuple[Content, str]:
    """Open a file and say how to read it; one that is missing may be meant as a value."""
    try:
        return _open_by_suffix(path, limit)
    except CannotRead as error:
        if isinstance(error.__cause__, FileNotFoundError):  # only what holds tensors is meant
            error.hint = suggest_similar(path, (*FORMATS,))
        if not (error.hint or os.path.exists(path)):
            error.hint = "values are written as JSON, '[1,2,3]'; every other way: gscli help inputs"
        raise


def _open_by_suffix(path: str, limit: int) -> tuple[Content, str]:
    """An open file and how to read it: by its suffix, or without one by its first bytes."""
    suffix = file_suffix(path)
    if suffix in STORES:
        from gscli.files.stores.zarr_format import open_store_content

        return open_store_content(path), suffix
    if not suffix:
        content = open_content(path, limit, stream_bounds)
        return content, sniff_suffix(content)
    if suffix not in FORMATS:
        if suffix not in PICKLED:
            check_kind(path)
        raise unsupported_format_error(path, suffix)
    if suffix in TEXT_SUFFIXES:
        limit = min(limit, TEXT_LIMIT)
    return open_content(path, limit, stream_bounds if suffix == ".npy" else None), suffix


def sniff_suffix(content: Content, member: str | None = None) -> str:
    """The suffix a stream would have: .npy and .npz by their magic, a table by its lines or by a
    `member` that is named.
    """
    first = content.read_prefix(SNIFFED_BYTES)
    suffix = _suffix_of_magic(first[: len(MAGIC)])
    is_string = member is None and first.strip()[:1] == b'"' and b"\n" not in first.strip()
    if suffix != ".json" or is_string or first.lstrip()[:1] in (b"[", b"{"):
        return suffix
    from gscli.files.formats.delimited import sniff_table

    return sniff_table(first, member)


def stream_bounds(first: bytes, limit: int, name: str) -> tuple[int, int]:
    """How far to read a stream (`BoundsFunction`): a text may not be as long as others.

    The header of a .npy stream says where it ends. Raises ContentRefused for one without sense.
    """
    suffix = _suffix_of_magic(first[: len(MAGIC)])
    if suffix == ".json" and file_suffix(name) != ".npy":
        from gscli.files.formats.jsontext import decode_text

        decode_text(first[: first.find(b"\0") + 1], name)
        return min(limit, TEXT_LIMIT), limit
    if suffix != ".npy":
        return limit, limit
    header = parse_header(first[:PREFIX_LIMIT], name)
    size = header.offset + header.nbytes
    check_limit(size, limit, name, "the stream")
    return limit, size


def _suffix_of_magic(first: bytes) -> str:
    if first == MAGIC:
        return ".npy"
    return ".npz" if first.startswith((b"PK\x03\x04", b"PK\x05\x06")) else ".json"


def read_array(content: Content, request: ReadRequest) -> LoadedInput:
    """The array asked for. A member can be named only in a format that has several."""
    loaded = format_for(request.suffix).read(content, request)  # refused where it is no array
    if request.member is not None and request.suffix not in (*MANY_MEMBERS, *NAMED_COLUMNS):
        hint = f"leave ::{sanitize(request.member, 60)} off"
        raise UsageError(f"{content.name} holds one array, without a name", hint=hint)
    return loaded


def list_sources(text: str, limit: int | None = None) -> dict[str, Source]:
    """By name what a folder, or a file of several arrays, holds; UsageError for one array."""
    if os.path.isdir(text) and file_suffix(text) not in STORES:
        return _folder_sources(text)
    legal = f"a folder, or {' '.join(sorted(MANY_MEMBERS))}"
    try:
        names = [member.name for member in members(text, max_bytes=limit)]
    except CannotRead as error:
        if not os.path.exists(text):  # and no value stands here in place of its name
            error.valid, error.hint = legal, ""
        raise
    problem = f"{text} holds one array, not all inputs"
    check_rule(names != [""], problem, kind=UsageError, valid=legal)
    return {name: Source(f"{text}::{name}", "file", text, name) for name in names}


def _folder_sources(text: str) -> dict[str, Source]:
    """The files of a folder that hold one array, by name without suffix."""
    with read_errors(text), os.scandir(text) as entries:
        files = sorted(entry.name for entry in islice(entries, FOLDER_LIMIT) if not _is_pipe(entry))
    sources: dict[str, Source] = {}
    for file in files:
        stem, suffix = os.path.splitext(file)
        if suffix.lower() in FORMATS and suffix.lower() not in MANY_MEMBERS:
            if stem in sources:
                raise UsageError(f"{text} holds {sanitize(stem, 60)} in two files")
            path = os.path.join(text, file)
            sources[stem] = Source(path, "file", path)
    return sources


def _is_pipe(entry: os.DirEntry[str]) -> bool:
    """Nobody may ever write into a pipe that came with a folder, and then reading never ends."""
    with suppress(OSError):
        return stat.S_ISFIFO(entry.stat().st_mode)
    return False
