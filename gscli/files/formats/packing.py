"""Write an archive of stored members from its first byte to its last, never going back.

Sizes and checksums are known before a member is written, so a pipe gets the same bytes as a file,
and nothing has to be closed when the writing fails half way. `zipfile` would write its directory
even then.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable

from gscli.base.records import Record
from gscli.files.request import Output

Pieces = Iterable[bytes | memoryview]

_FIRST_DAY = 0x21
"""1980-01-01: the same arrays make the same bytes on every day."""

_VERSION, _VERSION64 = 20, 45
_UTF8_NAME = 0x800
_UNIX = 3 << 8
_READABLE = 0o644 << 16
_SIZE_LIMIT, _COUNT_LIMIT = 0xFFFFFFFF, 0xFFFF


class _MemberRecord(Record):
    """What the directory says about a member."""

    name: bytes
    checksum: int
    size: int
    offset: int


class ZipWriter:
    """Members one after the other, then `finish`."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._members: list[_MemberRecord] = []
        self._position = 0

    def add(self, name: str, pieces: Pieces, size: int, checksum: int) -> None:
        """Write one member whose bytes have this size and CRC-32."""
        member = _MemberRecord(name.encode(), checksum, size, self._position)
        extra = struct.pack("<2H2Q", 1, 16, size, size) if size >= _SIZE_LIMIT else b""
        stated = _SIZE_LIMIT if extra else size
        self._write(
            struct.pack(
                "<4s5H3L2H",
                *(b"PK\x03\x04", _VERSION64 if extra else _VERSION, _name_flags(member.name)),
                *(0, 0, _FIRST_DAY, checksum, stated, stated, len(member.name), len(extra)),
            )
        )
        self._write(member.name + extra)
        for piece in pieces:
            self._write(piece)
        self._members.append(member)

    def finish(self) -> None:
        """Write the directory and the end record, with 64-bit numbers where they are needed."""
        start = self._position
        for member in self._members:
            self._write(_format_directory_entry(member))
        size, count = self._position - start, len(self._members)
        if start >= _SIZE_LIMIT or count >= _COUNT_LIMIT:
            end = self._position
            numbers = (44, _VERSION64, _VERSION64, 0, 0, count, count, size, start)
            self._write(struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", *numbers))
            self._write(struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1))
        count, start = min(count, _COUNT_LIMIT), min(start, _SIZE_LIMIT)
        self._write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, size, start, 0))

    def _write(self, data: bytes | memoryview) -> None:
        self._position += self._out(data)


def size_and_crc(pieces: Pieces) -> tuple[int, int]:
    """The size and the CRC-32 of what is going to be written."""
    size = checksum = 0
    for piece in pieces:
        size += len(piece)
        checksum = zlib.crc32(piece, checksum)
    return size, checksum


def _name_flags(name: bytes) -> int:
    return 0 if name.isascii() else _UTF8_NAME


def _format_directory_entry(member: _MemberRecord) -> bytes:
    wide = [number for number in (member.size, member.size, member.offset) if number >= _SIZE_LIMIT]
    extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
    size, offset = min(member.size, _SIZE_LIMIT), min(member.offset, _SIZE_LIMIT)
    version = _VERSION64 if extra else _VERSION
    head = struct.pack(
        "<4s6H3L5H2L",
        *(b"PK\x01\x02", _UNIX | version, version, _name_flags(member.name), 0, 0, _FIRST_DAY),
        *(member.checksum, size, size, len(member.name), len(extra), 0, 0, 0, _READABLE, offset),
    )
    return head + member.name + extra
