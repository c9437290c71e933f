"""Which module writes which format, and where the bytes go: a file replaced whole, or a stream."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from gscli.base import CannotWrite, UsageError
from gscli.base.arrays import Array, checked_dtype, is_native, native
from gscli.base.words import safe
from gscli.disk import mapped
from gscli.disk.atomic import open_atomic
from gscli.disk.system import writing
from gscli.files.content import open_content
from gscli.files.request import (
    MANY_MEMBERS,
    MODULES,
    STORES,
    TEXT_SUFFIXES,
    Source,
    format_for,
    suffix_of,
)

WRITTEN = tuple(
    suffix for suffix in MODULES if suffix not in {".jsonl", ".onnx", ".zip", ".icechunk"}
)
"""Suffixes of the formats with a writer; a model and a case are more than their tensors."""

DEFAULT_MEMBER = "output"
NAME_LIMIT = 1000

_MEMBER_NAME = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]+")

STANDARD_OUTPUT = "standard output"


def save_file(
    path: str,
    array: Array,
    form: str | None,
    limit: int,
    chunks: Sequence[int] | None = None,
) -> None:
    """Replace the file `path` (or one member of it) as a whole."""
    source = Source.parse(path)
    target = source.path or path
    suffix = _suffix(form, target)
    named = suffix_of(target)
    if form is not None and named in WRITTEN and named != suffix:
        raise UsageError(
            f"{target} would hold {suffix[1:]}, not what its name says",
            where=f"format {form}",
            hint=f"leave the format out, or name the file …{suffix}",
        )
    checked = _checked(array, target)
    if suffix in STORES:
        from gscli.files.stores import zarr_format

        zarr_format.save(target, source.member, checked, chunks=chunks)
        return
    if chunks is not None:
        raise UsageError("--chunks is for .zarr", where=target)
    if source.member is not None:
        _check_member(source.member, suffix, target)
        if os.path.lexists(target):
            with (
                open_content(target, limit) as old,
                open_atomic(target, replaces=old.kept()) as out,
            ):
                format_for(suffix).write_into(out.write, old, source.member, checked)
                mapped.check_unchanged(array)
            return
    with open_atomic(target, size=checked.nbytes) as out:
        format_for(suffix).write(out.write, {source.member or DEFAULT_MEMBER: checked}, suffix)
        mapped.check_unchanged(array)


def _check_member(member: str, suffix: str, target: str) -> None:
    """A name every container can hold, and that means one thing only in each of them."""
    if suffix not in MANY_MEMBERS:
        raise UsageError(
            f"{target} can hold only one array", hint=f"leave ::{safe(member, 60)} off"
        )
    if not _MEMBER_NAME.fullmatch(member) or len(member.encode("utf-8", "ignore")) > NAME_LIMIT:
        raise UsageError(f"{safe(member, 60)} is no name for an array", valid="visible characters")


def save_stream(stream: BinaryIO | None, array: Array, form: str | None) -> None:
    """Write to standard output; a reader that left is BrokenPipeError, as everywhere."""
    if stream is None:
        raise CannotWrite(f"cannot write {STANDARD_OUTPUT}", where=f"{STANDARD_OUTPUT}: is closed")
    suffix = _suffix(form, "-")
    if suffix in STORES:
        raise UsageError("a Zarr store is a folder, not a stream", hint="-o out.zarr")
    if suffix not in TEXT_SUFFIXES and stream.isatty():
        raise UsageError(
            f"refusing to write binary {suffix} to the terminal",
            hint=f"-o out{suffix}, or --json for text",
        )
    out = _Stream(stream)
    format_for(suffix).write(out.write, {DEFAULT_MEMBER: _checked(array, STANDARD_OUTPUT)}, suffix)
    out.flush()


class _Stream:
    """Standard output as a writer sees it: bytes in order, failures as CannotWrite."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes | memoryview, /) -> int:
        view, done = memoryview(data), 0
        with writing(STANDARD_OUTPUT):
            while done < view.nbytes:  # an unbuffered stream may take less than all
                done += self._stream.write(view[done:]) or 0
        return done

    def flush(self) -> None:
        with writing(STANDARD_OUTPUT):
            self._stream.flush()


def _suffix(form: str | None, path: str) -> str:
    if form is None and path == "-":
        raise UsageError("standard output needs a format", valid=_known(), hint="-f npy")
    suffix = suffix_of(path) if form is None else f".{form.lower()}"
    if suffix in WRITTEN:
        return suffix
    what = f"no format for {path}" if form is None else f"unknown format {safe(form, 40)}"
    raise UsageError(what, valid=_known())


def _known() -> str:
    return " ".join(suffix[1:] for suffix in WRITTEN)


def _checked(array: Array, where: str) -> Array:
    plain = np.asarray(array)
    checked_dtype(plain.dtype, where)
    return plain if is_native(plain.dtype) else native(plain)
