"""Which module writes which format, and where the bytes go: a file replaced whole, or a stream."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import IO, Any, BinaryIO

import numpy as np

from gscli.base import GscliError, GscliWarning, Notice, UsageError, check_rule, warn_caller
from gscli.base.arrays import Array, check_dtype_supported, to_native
from gscli.base.words import sanitize
from gscli.disk import mapped
from gscli.disk.atomic import open_atomic
from gscli.disk.system import write_all, write_error, write_errors
from gscli.files.content import TEXT_LIMIT, Content, open_content
from gscli.files.request import (
    DEFAULT_MEMBER,
    FORMATS,
    MANY_MEMBERS,
    SHARD_INDEX,
    STORES,
    TEXT_SUFFIXES,
    WRITABLE_SUFFIXES,
    Output,
    Source,
    file_suffix,
    format_for,
)

NAME_LIMIT = 1000

_MEMBER_NAME = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]+")

STANDARD_OUTPUT = "standard output"


def save_file(
    path: str, array: Array, form: str | None, limit: int, chunks: Sequence[int] | None,
    progress: Callable[[int], None] | None,
) -> None:  # fmt: skip
    """Replace the file `path` (or one member of it) as a whole; `progress` is told of bytes."""
    source = Source.parse(path)
    target = source.path or path
    suffix = _choose_suffix(form, target)
    named = file_suffix(target)
    is_said = form is None or named not in FORMATS or named == suffix
    problem = f"{target} would hold {suffix[1:]}, not what its name says"
    hint = f"name the file …{suffix}, or leave the format out"
    check_rule(is_said, problem, f"format {form}", kind=UsageError, hint=hint)
    problem, hint = "standard output takes one array, without a name", f"FILE{suffix}{path[1:]}"
    check_rule(source.kind != "stdin", problem, path, kind=UsageError, hint=hint)
    checked = _to_writable(array, target)
    if suffix in STORES:
        from gscli.files.stores import zarr_format

        zarr_format.save(target, source.member, checked, chunks=chunks)
        return
    check_rule(chunks is None, "--chunks is for .zarr", target, kind=UsageError)
    if source.member is not None:
        _check_member(source.member, suffix, target)
    has_others = source.member is not None and os.path.lexists(target)
    # A text's size is known at its end.
    size = None if has_others or suffix in TEXT_SUFFIXES else checked.nbytes
    with (
        open_content(target, limit) if has_others else nullcontext() as old,
        open_atomic(target, size=size, replaces=None if old is None else old.detach_file()) as out,
    ):
        _write_whole(out.write, target, suffix, source.member, checked, progress, old)
        mapped.check_unchanged(array)


def _write_whole(
    write: Output, target: str, suffix: str, member: str | None, array: Array,
    progress: Callable[[int], None] | None = None, old: Content | None = None,
) -> None:  # fmt: skip
    """Write a new file or a stream, or the `old` file with another member; a warning tells of a
    text that is no input any more. A refusal of what the format cannot hold names the file.
    """
    length, writer = 0, format_for(suffix)
    most = writer.MOST_VALUES if suffix in TEXT_SUFFIXES else array.size

    def write_part(data: bytes | memoryview) -> int:
        nonlocal length
        if not length and array.size > most:  # before minutes go into it
            _warn_of_large_text(target, array.size, most, "values")
        count = write(data)
        length += count
        if progress is not None and old is None:
            progress(count)
        return count

    try:
        if old is not None and member is not None:
            writer.write_into(write_part, old, member, array)
        else:
            writer.write(write_part, {member or DEFAULT_MEMBER: array}, suffix)
    except GscliError as refusal:
        refusal.where = refusal.where or sanitize(target)
        raise
    if suffix in TEXT_SUFFIXES and length > TEXT_LIMIT and array.size <= most:
        _warn_of_large_text(target, length, TEXT_LIMIT, "bytes of text")


def _warn_of_large_text(target: str, size: int, most: int, unit: str) -> None:
    notice = Notice(
        f"{target} is too large to be read by gscli again",
        where=f"{size:,} {unit}",
        valid=f"at most {most:,} {unit}",
        hint="name a .npy file" if target != STANDARD_OUTPUT else "-f npy",
    )
    warn_caller(GscliWarning(notice))


def _check_member(member: str, suffix: str, target: str) -> None:
    """A name every container can hold, and that means one thing only in each of them."""
    if suffix not in MANY_MEMBERS:
        hint = f"without ::{sanitize(member, 60)} the file becomes this array, whole"
        if target.lower().endswith(SHARD_INDEX):
            hint = "the .safetensors files beside this index hold arrays"
        raise UsageError(f"{target} can hold only one array", hint=hint)
    if not _MEMBER_NAME.fullmatch(member) or len(member.encode("utf-8", "ignore")) > NAME_LIMIT:
        problem = f"{sanitize(member, 60)} is no name for an array"
        raise UsageError(problem, valid="visible characters")


def save_stream(stream: BinaryIO | None, array: Array, form: str | None) -> None:
    """Write to standard output; a reader that left is BrokenPipeError, as everywhere."""
    if stream is None:
        raise write_error(OSError(errno.EBADF, "is closed"), STANDARD_OUTPUT)
    suffix = _choose_suffix(form, "-")
    if suffix in STORES:
        raise UsageError("a Zarr store is a folder, not a stream", hint="-o out.zarr")
    check_terminal(stream, suffix)

    def write(data: bytes | memoryview) -> int:
        with write_errors(STANDARD_OUTPUT):  # an unbuffered stream may take less than all
            return write_all(lambda part, _: stream.write(part), data)

    _write_whole(write, STANDARD_OUTPUT, suffix, None, _to_writable(array, STANDARD_OUTPUT))
    with write_errors(STANDARD_OUTPUT):
        stream.flush()


def check_terminal(stream: IO[Any], suffix: str) -> None:
    """UsageError for bytes that a terminal would choke on."""
    is_readable = suffix in TEXT_SUFFIXES or not stream.isatty()
    problem = f"refusing to write binary {suffix} to the terminal"
    check_rule(is_readable, problem, kind=UsageError, hint=f"name a file: out{suffix}; or -f json")


def _choose_suffix(form: str | None, path: str) -> str:
    known = " ".join(suffix[1:] for suffix in WRITABLE_SUFFIXES)
    if form is None and path == "-":
        hint = "-f npy; --help lists the others; in Python gscli.save has format='npy'"
        raise UsageError("standard output needs a format", hint=hint)
    suffix = file_suffix(path) if form is None else f".{form}".lower()
    if suffix in WRITABLE_SUFFIXES:
        return suffix
    check_rule(form is None, f"unknown format {sanitize(suffix, 40)}", kind=UsageError, valid=known)
    otherwise = ", or say -f npy to a command, format='npy' to gscli.save"
    hint = "name it ….npy" + otherwise * (suffix not in FORMATS)
    if os.path.isdir(path):
        hint = f"a file in this folder: {os.path.join(path, 'output.npy')}"
    raise UsageError(f"no format for {path or repr('')}", valid=known, hint=hint)


def _to_writable(array: Array, where: str) -> Array:
    plain = np.asarray(array)
    check_dtype_supported(plain.dtype, where)
    return plain if plain.dtype.isnative else to_native(plain)
