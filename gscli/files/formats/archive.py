"""ZIP archives as .npz files use them: the directory, checked, and members inflated within bounds.

Of the standard library's reader only that of the directory is used, after the directory's own size
was compared with the file.

An archive of stored members is written from its first byte to its last, never going back.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import IO, cast

from gscli.base import ContentRefused, translate_errors
from gscli.base.records import Record
from gscli.base.words import sanitize
from gscli.files.content import Content
from gscli.files.request import Output, check_single_name

DIRECTORY_LIMIT = 4 << 20
MEMBER_LIMIT = 10_000
CHUNK = 1 << 17

_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCAL = struct.Struct("<4s5H3L2H")

# Numbers that say: look into the 64-bit record.
_COUNT_ELSEWHERE, _SIZE_ELSEWHERE = 0xFFFF, 0xFFFFFFFF
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_UTF8_NAME = 0x800

# How hard was packed, sizes behind the data, names in UTF-8.
_KNOWN_FLAGS = 0x2 | 0x4 | 0x8 | _UTF8_NAME

# Deflate makes at most this many bytes of one.
_MAX_INFLATE_RATIO = 1032


Pieces = Iterable[bytes | memoryview]

_READABLE = 0o644 << 16


class ZipEntry(Record):
    """A member of an archive: where its packed bytes are and what they must become."""

    name: str
    offset: int
    compressed_size: int
    size: int
    checksum: int
    is_deflated: bool


def read_directory(
    content: Content, most_members: int = MEMBER_LIMIT, most_bytes: int = DIRECTORY_LIMIT,
    *, was_rewritten: bool = False,
) -> dict[str, ZipEntry]:  # fmt: skip
    """Every member by its name, in the archive's order. ContentRefused for anything unusual.

    `was_rewritten`: a name may stand several times, of which the last one counts, as where a
    writer changes what it has written before.
    """
    count = _read_end_record(content, most_members, most_bytes)
    errors = translate_errors(lambda error: _archive_error(content.name, sanitize(str(error), 80)))
    with errors, content.open_file() as file, zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
    if len(infos) != count:
        raise _archive_error(content.name, f"it states {count:,} members and lists {len(infos):,}")
    entries: dict[int, ZipEntry] = {}
    next_offset = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < next_offset or (not entries and info.header_offset):
            raise _archive_error(content.name, "members overlap or bytes stand before the first")
        entry = entries[info.header_offset] = entry_of(content, info)
        next_offset = entry.offset + entry.compressed_size
    members = {info.orig_filename: entries[info.header_offset] for info in infos}
    for name, times in Counter(info.orig_filename for info in infos).most_common(1):
        check_single_name(times == 1 or was_rewritten, "members", name, content.name)
    return members


def iter_member_bytes(content: Content, entry: ZipEntry) -> Iterator[bytes | memoryview]:
    """The bytes of a member, a piece at a time; their number and checksum are judged at the end.

    Never more than the declared size is produced.
    """
    checksum = done = 0
    for piece in _iter_inflated(content, entry):
        done += len(piece)
        if done > entry.size:
            raise _member_error(content.name, entry, "holds more than the archive states")
        checksum = zlib.crc32(piece, checksum)
        yield piece
    if done < entry.size:
        raise _member_error(content.name, entry, "holds less than the archive states")
    if checksum != entry.checksum:
        raise _member_error(content.name, entry, "does not match its checksum")


def _iter_packed(content: Content, entry: ZipEntry) -> Iterator[bytes | memoryview]:
    for start in range(0, entry.compressed_size, CHUNK):
        yield content.read(entry.offset + start, min(CHUNK, entry.compressed_size - start))


def _iter_inflated(content: Content, entry: ZipEntry) -> Iterator[bytes | memoryview]:
    inflate = zlib.decompressobj(-zlib.MAX_WBITS)
    for packed in _iter_packed(content, entry):
        if not entry.is_deflated:
            yield packed
            continue
        piece, rest = packed, packed
        while piece and not inflate.eof:  # what is left of the output may need no more input
            try:
                piece = inflate.decompress(rest, CHUNK)
            except zlib.error as error:
                raise _member_error(content.name, entry, "is damaged") from error
            rest = inflate.unconsumed_tail
            yield piece
    if entry.is_deflated and (not inflate.eof or inflate.unused_data):
        raise _member_error(content.name, entry, "is damaged")


def _read_end_record(content: Content, most_members: int, most_bytes: int) -> int:
    """How many members the archive states. It must end with its end record, after the directory.

    A comment could hold a second end record, and bytes before the archive a second file.
    """
    tail_size = min(content.size, _END.size + _END64_LOCATOR.size + _END64.size)
    tail = bytes(content.read(content.size - tail_size, tail_size))
    end = tail[-_END.size :]
    if not end.startswith(b"PK\x05\x06") or len(end) < _END.size:
        raise _archive_error(content.name, "it does not end as an archive does")
    _, _, _, here, count, size, offset, comment = _END.unpack(end)
    after = _END.size
    if count == _COUNT_ELSEWHERE or _SIZE_ELSEWHERE in {size, offset}:
        record = tail[: _END64.size]
        if len(tail) < tail_size or not record.startswith(b"PK\x06\x06"):
            raise _archive_error(content.name, "its end record is incomplete")
        *_, here, count, size, offset = _END64.unpack(record)
        after = tail_size
    if comment or here != count or count > most_members or size > most_bytes:
        why = f"its directory of {count:,} members is not one of arrays"
        raise _archive_error(content.name, why)
    if offset + size + after != content.size:
        raise _archive_error(content.name, "there are bytes outside the archive")
    return int(count)


def entry_of(content: Content, info: zipfile.ZipInfo) -> ZipEntry:
    """A member, after what the directory and it itself say was compared. Raises ContentRefused."""
    name, shown = info.orig_filename, sanitize(info.orig_filename, 60)
    if "\0" in name:
        raise _archive_error(content.name, f"the name {shown} goes on behind its end")
    if info.flag_bits & _ENCRYPTED:
        raise ContentRefused(f"member {shown} is encrypted", where=content.name)
    if info.flag_bits & ~_KNOWN_FLAGS:
        raise _archive_error(content.name, f"member {shown} has flags {info.flag_bits:#x}")
    if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        problem = f"member {shown} is packed with method {info.compress_type}"
        raise ContentRefused(problem, where=content.name, valid="stored or deflated")
    if info.header_offset + _LOCAL.size > content.size:
        raise _archive_error(content.name, f"member {shown} lies outside the file")
    local = _LOCAL.unpack(bytes(content.read(info.header_offset, _LOCAL.size)))
    names, extras = local[9], local[10]
    offset = info.header_offset + _LOCAL.size + names + extras
    stored = info.compress_type == zipfile.ZIP_STORED
    is_local = local[0] == b"PK\x03\x04" and local[3] == info.compress_type
    if not is_local or offset + info.compress_size > content.size:
        raise _archive_error(content.name, f"member {shown} lies outside the file")
    local_name = bytes(content.read(info.header_offset + _LOCAL.size, names))
    if local_name != name.encode("utf-8" if info.flag_bits & _UTF8_NAME else "cp437"):
        raise _archive_error(content.name, f"member {shown} has two names")
    entry = ZipEntry(name, offset, info.compress_size, info.file_size, info.CRC, not stored)
    if entry.size > entry.compressed_size * (1 if stored else _MAX_INFLATE_RATIO):
        raise _member_error(content.name, entry, "holds less than the archive states")
    return entry


def _archive_error(name: str, why: str) -> ContentRefused:
    kind = ".zip" if name.lower().endswith(".zip") else ".npz"
    return ContentRefused(f"{name} is not a sound {kind} archive", where=f"{name}: {why}")


def _member_error(name: str, entry: ZipEntry, why: str) -> ContentRefused:
    return ContentRefused(f"member {sanitize(entry.name, 60)} {why}", where=name)


class ZipWriter(zipfile.ZipFile):
    """Members one after the other, then `close`; after a failure nothing more is written.

    The standard library makes the records of a stored member from its size and checksum, which are
    known before: so nothing is written twice, and a pipe gets the same bytes as a file. Those of a
    packed one stand behind it.
    """

    def __init__(self, out: Output) -> None:
        # It can neither seek nor tell, and whoever gets the bytes flushes them.
        super().__init__(cast("IO[bytes]", SimpleNamespace(write=out, flush=lambda: None)), "w")

    def pack(self, name: str, pieces: Pieces) -> None:
        """Write one member, deflated."""
        with self.open(_make_info(name, is_deflated=True), "w", force_zip64=True) as member:
            member.writelines(pieces)

    def copy(self, content: Content, entry: ZipEntry) -> None:
        """Write a member of another archive as it is packed there, after it was judged."""
        for _ in iter_member_bytes(content, entry):
            pass
        self.add(entry, _iter_packed(content, entry))

    def add(self, entry: ZipEntry, pieces: Pieces) -> None:
        """Write one member whose packed bytes are known, and what they become."""
        assert self.fp is not None
        info = _make_info(entry.name, is_deflated=entry.is_deflated)
        info.file_size, info.compress_size = entry.size, entry.compressed_size
        info.CRC, info.header_offset = entry.checksum, self.fp.tell()
        self.fp.write(info.FileHeader())
        for piece in pieces:
            self.fp.write(piece)
        self.filelist.append(info)
        self.start_dir = self.fp.tell()

    def __del__(self) -> None:
        """The library would write the directory even of an archive that failed half way."""


def _make_info(name: str, *, is_deflated: bool) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # of 1980-01-01: the same arrays make the same bytes every day
    info.external_attr = _READABLE
    info.compress_type = zipfile.ZIP_DEFLATED if is_deflated else zipfile.ZIP_STORED
    return info


def size_and_crc(pieces: Pieces) -> tuple[int, int]:
    """The size and the CRC-32 of what is going to be written."""
    size = checksum = 0
    for piece in pieces:
        size += len(piece)
        checksum = zlib.crc32(piece, checksum)
    return size, checksum
