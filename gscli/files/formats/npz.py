"""The .npz format: an archive of .npy files.

A member's own header is judged on its first bytes, and its size compared with what the archive
states, before the rest of it is inflated.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gscli.base import ContentRefused
from gscli.base.arrays import Array
from gscli.base.words import safe
from gscli.files.content import Content, check_limit
from gscli.files.formats.archive import ZipEntry, directory, inflated
from gscli.files.formats.npy import (
    PREFIX_LIMIT,
    NpyHeader,
    arranged,
    blocks,
    check_length,
    element_type,
    member_of,
    npy_header,
    parse_header,
)
from gscli.files.formats.packing import Archive, checksum_of
from gscli.files.request import Arrays, Member, Output, Read, Request, chosen_member

ARRAY_SUFFIX = ".npy"


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


def listing(content: Content, _request: Request) -> list[Member]:
    """Every array, from its header."""
    members = []
    for name, entry in _array_entries(content).items():
        header = _header(content, name, entry)
        members.append(member_of(header, name))
    return members


def write(out: Output, arrays: Arrays, _suffix: str) -> None:
    """Write stored members, as `numpy.savez` does."""
    archive = Archive(out)
    for name, array in arrays.items():
        _add(archive, name, array)
    archive.finish()


def write_into(out: Output, old: Content, name: str, array: Array) -> None:
    """Write the old archive with one member changed or added; the others keep their bytes."""
    archive = Archive(out)
    for other, entry in _array_entries(old).items():
        if other != name:
            pieces = inflated(old, entry)
            archive.add(other + ARRAY_SUFFIX, pieces, entry.size, entry.checksum)
    _add(archive, name, array)
    archive.finish()


def _add(archive: Archive, name: str, array: Array) -> None:
    size, checksum = checksum_of(_pieces(array))
    archive.add(name + ARRAY_SUFFIX, _pieces(array), size, checksum)


def _pieces(array: Array) -> Iterator[bytes | memoryview]:
    yield npy_header(array.dtype, array.shape)
    yield from blocks(array)


def _array_entries(content: Content) -> dict[str, ZipEntry]:
    """The members by array name; a member that is no .npy file makes it another kind of archive."""
    entries = directory(content)
    for name in entries:
        if not name.endswith(ARRAY_SUFFIX):
            raise ContentRefused(f"member {safe(name, 60)} is not an array", where=content.name)
    return {name.removesuffix(ARRAY_SUFFIX): entry for name, entry in entries.items()}


def _header(content: Content, name: str, entry: ZipEntry) -> NpyHeader:
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


def _fill(held: Array, start: bytes, pieces: Iterator[bytes | memoryview]) -> None:
    """Put a member's data in place, to its very end, so that the checksum counts."""
    held[: len(start)] = np.frombuffer(start, np.uint8)
    done = len(start)
    for piece in pieces:
        held[done : done + len(piece)] = np.frombuffer(piece, np.uint8)
        done += len(piece)
