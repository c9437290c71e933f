"""The .npz format: an archive of .npy files.

A member's own header is judged on its first bytes, and its size compared with what the archive
states, before the rest of it is inflated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain

from gscli.base import GscliError
from gscli.base.arrays import Array, Arrays
from gscli.base.words import sanitize
from gscli.files.content import Content, check_content
from gscli.files.formats.archive import (
    ZipEntry,
    ZipWriter,
    iter_member_bytes,
    read_directory,
    size_and_crc,
)
from gscli.files.formats.npy import (
    PREFIX_LIMIT,
    ArrayHeader,
    check_length,
    iter_file_bytes,
    join_pieces,
    parse_header,
)
from gscli.files.request import (
    LoadedInput,
    Member,
    Output,
    ReadRequest,
    choose_member,
    member_place,
)

ARRAY_SUFFIX = ".npy"


def read(content: Content, request: ReadRequest) -> LoadedInput:
    """One member of an archive, named or the only one."""
    entries = _list_array_entries(content)
    member = request.member
    if member is not None and member not in entries:
        member = member.removesuffix(ARRAY_SUFFIX)
    name = choose_member(entries, member, content.name, partial(_can_read, content, entries))
    where = member_place(content.name, name)
    header, start, pieces = _open_member(content, where, entries[name])
    content_pieces = chain([start[header.offset :]], pieces)  # to the end: the checksum counts
    return LoadedInput(join_pieces(content_pieces, header, request, where))


def listing(content: Content, _request: ReadRequest) -> list[Member]:
    """Every array, from its header; also those that cannot be read, for others can."""
    entries, file = _list_array_entries(content).items(), content.name
    return [
        Member.of(_open_member(content, member_place(file, name), entry, is_read=False)[0], name)
        for name, entry in entries
    ]


def write(out: Output, arrays: Arrays, _suffix: str) -> None:
    """Write stored members, as `numpy.savez` does."""
    archive = ZipWriter(out)
    for name, array in arrays.items():
        _add_array(archive, name, array)
    archive.close()


def write_into(out: Output, old: Content, name: str, array: Array) -> None:
    """Write the old archive with one member changed or added; the others keep their bytes.

    It is packed where the old member was, or where the first one is.
    """
    archive, entries = ZipWriter(out), _list_array_entries(old)
    former = entries.pop(name, None)
    for entry in entries.values():
        archive.copy(old, entry)
    like = former or next(iter(entries.values()), None)
    _add_array(archive, name, array, is_packed=like is not None and like.is_deflated)
    archive.close()


def _add_array(archive: ZipWriter, name: str, array: Array, *, is_packed: bool = False) -> None:
    if is_packed:
        archive.pack(name + ARRAY_SUFFIX, iter_file_bytes(array))
        return
    size, checksum = size_and_crc(iter_file_bytes(array))
    entry = ZipEntry(name + ARRAY_SUFFIX, 0, size, size, checksum, is_deflated=False)
    archive.add(entry, iter_file_bytes(array))


def _list_array_entries(content: Content) -> dict[str, ZipEntry]:
    """The members by array name; a member that is no .npy file makes it another kind of archive."""
    entries = read_directory(content)
    for name in entries:
        problem = f"member {sanitize(name, 60)} is not an array"
        check_content(name.endswith(ARRAY_SUFFIX), problem, content.name)
    return {name.removesuffix(ARRAY_SUFFIX): entry for name, entry in entries.items()}


def _can_read(content: Content, entries: Mapping[str, ZipEntry], name: str) -> bool:
    """Whether the header of a member is that of an array which operators take."""
    with suppress(GscliError):
        _open_member(content, name, entries[name])
        return True
    return False


def _open_member(
    content: Content, where: str, entry: ZipEntry, *, is_read: bool = True
) -> tuple[ArrayHeader, bytes, Iterator[bytes | memoryview]]:
    """The header of a member, what was inflated for it, and the pieces that follow."""
    pieces, start = iter_member_bytes(content, entry), b""
    for piece in pieces:
        start += piece
        if len(start) >= PREFIX_LIMIT:
            break
    header = parse_header(start, where, is_read=is_read)
    if is_read:
        check_length(header, entry.size, where)
    return header, start, pieces
