"""The .npz format: an archive of .npy files.

A member's own header is judged on its first bytes, and its size compared with what the archive
states, before the rest of it is inflated.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gscli.errors import CannotWrite, ContentRefused
from gscli.formats.archive import Entry, directory, inflated
from gscli.formats.content import Content, check_limit
from gscli.formats.npy import (
    PREFIX_LIMIT,
    Header,
    arranged,
    blocks,
    check_length,
    element_type,
    member_of,
    npy_header,
    parse_header,
)
from gscli.formats.request import Arrays, Member, Output, Read, Request, chosen_member
from gscli.text import safe

ARRAY_SUFFIX = ".npy"
OLDEST_DATE = (1980, 1, 1, 0, 0, 0)
"""The date of every member written: the same arrays make the same bytes."""


def read(content: Content, request: Request) -> Read:
    """One member of an archive, named or the only one."""
    entries = _array_entries(content)
    member = request.member
    if member is not None and member not in entries:
        member = member.removesuffix(ARRAY_SUFFIX)
    name = chosen_member(entries, member, content.name)
    where = f"{content.name}::{safe(name, 60)}"
    entry = entries[name]
    pieces = inflated(content, entry)
    start = _prefix(pieces)
    header = parse_header(bytes(start), where)
    check_length(header, entry.size, where)
    check_limit(header.nbytes, request.limit, where, "the array")
    dtype = element_type(header.dtype, request.wish.dtype, where)
    held = np.empty(header.nbytes, np.uint8)
    _fill(held, bytes(start[header.offset :]), pieces)
    return Read(arranged(held.view(dtype), header, request.limit, where))


def listing(content: Content, _limit: int) -> list[Member]:
    """Every array, from its header."""
    members = []
    for name, entry in _array_entries(content).items():
        header = _header(content, name, entry)
        members.append(member_of(header, name))
    return members


def write(out: Output, arrays: Arrays, _suffix: str) -> None:
    """Write stored members with 64-bit sizes, as NumPy does.

    A stream cannot go back to fill in sizes, so the archive is built in memory for it.
    """
    if out.seekable():
        _write_archive(_Sink(out), arrays)
        return
    held = io.BytesIO()
    _write_archive(held, arrays)
    out.write(held.getbuffer())


def write_into(out: Output, old: Content, name: str, array: NDArray[Any]) -> None:
    """Write the old archive with one member changed or added; the others keep their bytes."""
    if not out.seekable():
        raise CannotWrite(f"cannot change a member of {old.name}", where="it is not a regular file")
    entries = _array_entries(old)
    sink: Any = _Sink(out)
    with zipfile.ZipFile(sink, "w") as archive:
        for other, entry in entries.items():
            if other != name:
                _add(archive, other, inflated(old, entry))
        _add(archive, name, chain([npy_header(array.dtype, array.shape)], blocks(array)))


def _array_entries(content: Content) -> dict[str, Entry]:
    """The members by array name; a member that is no .npy file makes it another kind of archive."""
    entries = directory(content)
    for name in entries:
        if not name.endswith(ARRAY_SUFFIX):
            raise ContentRefused(f"member {safe(name, 60)} is not an array", where=content.name)
    return {name.removesuffix(ARRAY_SUFFIX): entry for name, entry in entries.items()}


def _header(content: Content, name: str, entry: Entry) -> Header:
    where = f"{content.name}::{safe(name, 60)}"
    header = parse_header(_prefix(inflated(content, entry)), where)
    check_length(header, entry.size, where)
    return header


def _prefix(pieces: Iterator[bytes | memoryview]) -> bytes:
    """Enough of a member for its header; only what was inflated for it is kept."""
    start = b""
    for piece in pieces:
        start += piece
        if len(start) >= PREFIX_LIMIT:
            break
    return start


def _fill(held: NDArray[np.uint8], start: bytes, pieces: Iterator[bytes | memoryview]) -> None:
    """Put a member's data in place, to its very end, so that the checksum counts."""
    held[: len(start)] = np.frombuffer(start, np.uint8)
    done = len(start)
    for piece in pieces:
        held[done : done + len(piece)] = np.frombuffer(piece, np.uint8)
        done += len(piece)


def _write_archive(target: Any, arrays: Arrays) -> None:  # noqa: ANN401 -- a file-like object
    with zipfile.ZipFile(target, "w") as archive:
        for name, array in arrays.items():
            _add(archive, name, chain([npy_header(array.dtype, array.shape)], blocks(array)))


def _add(archive: zipfile.ZipFile, name: str, pieces: Iterable[bytes | memoryview]) -> None:
    info = zipfile.ZipInfo(name + ARRAY_SUFFIX, OLDEST_DATE)
    with archive.open(info, "w", force_zip64=True) as member:
        for piece in pieces:
            member.write(piece)


class _Sink:
    """The output as `zipfile` uses it. After a failure it takes the archive's closing words
    without passing them on, because an archive closes itself however the writing ended.
    """

    def __init__(self, out: Output) -> None:
        self._out = out
        self._failed = False

    def write(self, data: bytes | memoryview) -> int:
        return self._unless_failed(lambda: self._out.write(data), len(data))

    def tell(self) -> int:
        return self._unless_failed(lambda: self._out.seek(0, io.SEEK_CUR), 0)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._unless_failed(lambda: self._out.seek(offset, whence), 0)

    def flush(self) -> None:
        """The output keeps nothing back."""

    def _unless_failed(self, step: Callable[[], int], otherwise: int) -> int:
        if self._failed:
            return otherwise
        try:
            return step()
        except BaseException:
            self._failed = True
            raise
