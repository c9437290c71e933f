"""Hostile .npz files: bombs, lies in the directory, members that are no arrays, second files."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

import numpy as np
from hostile.corpus import Case, Content, Refusal, of_bytes
from hostile.npy_files import header, npy, saved

from gscli.base import CannotRead, ContentRefused, DtypeRefused, LimitRefused, UsageError

ARRAY = saved(np.arange(4.0))
OTHER = saved(np.arange(3))


def archive(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as target:
        for name, content in members:
            target.writestr(zipfile.ZipInfo(name), content, method)
    return stream.getvalue()


def by_hand(
    name: bytes = b"a.npy",
    content: bytes = ARRAY,
    *,
    packed: bytes | None = None,
    method: int = 8,
    size: int | None = None,
    checksum: int | None = None,
    flags: int = 0,
    local_name: bytes | None = None,
    local_method: int | None = None,
    count: int = 1,
    comment: bytes = b"",
    stated_comment: int | None = None,
    offset: int = 0,
    packed_size: int | None = None,
    before: bytes = b"",
    directory_offset: int | None = None,
    directory_size: int | None = None,
) -> bytes:
    """An archive of one member in which every number can be a lie."""
    if packed is None:
        packed = _deflated(content) if method == 8 else content
    size = len(content) if size is None else size
    checksum = zlib.crc32(content) if checksum is None else checksum
    packed_size = len(packed) if packed_size is None else packed_size
    numbers = struct.pack("<3L", checksum, packed_size & 0xFFFFFFFF, size & 0xFFFFFFFF)
    local_name = name if local_name is None else local_name
    local_method = method if local_method is None else local_method
    local = b"PK\x03\x04" + struct.pack("<5H", 20, flags, local_method, 0, 0x21) + numbers
    body = before + local + struct.pack("<2H", len(local_name), 0) + local_name + packed
    entry = b"PK\x01\x02" + struct.pack("<6H", 20, 20, flags, method, 0, 0x21) + numbers
    entry += struct.pack("<5H2L", len(name), 0, 0, 0, 0, 0, offset) + name
    directory_offset = len(body) if directory_offset is None else directory_offset
    directory_size = len(entry) if directory_size is None else directory_size
    end = struct.pack(
        "<4s4H2LH",
        b"PK\x05\x06",
        0,
        0,
        count,
        count,
        directory_size,
        directory_offset,
        len(comment) if stated_comment is None else stated_comment,
    )
    return body + entry + end + comment


def _deflated(content: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def bomb(head: bytes, zeros: int) -> bytes:
    """`head` and then many zero bytes, never held unpacked; the checksum is wrong."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    # After a full flush equal input packs to equal bytes, so one block can be repeated.
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = first + block * (zeros >> 20) + packer.flush()
    return by_hand(packed=packed, size=len(head) + zeros, content=b"")


def _many() -> bytes:
    return archive(*((f"{n}.npy", b"") for n in range(10_001)), method=zipfile.ZIP_STORED)


def _beyond(content: bytes) -> bytes:
    return by_hand(content=content, packed=_deflated(content + bytes(64 << 20)))


def cases() -> Iterator[Case]:
    yield from _members()
    yield from _directories()
    yield from _contents()


def _case(
    name: str, content: Content, error: Refusal, says: str = "", member: str = "", **options: object
) -> Case:
    build = of_bytes("case.npz", content, member=member)
    return Case(f"npz/{name}", build, error, says, dict(options))


def _members() -> Iterator[Case]:
    yield _case("none", archive(), ContentRefused, "no arrays")
    yield _case("several", archive(("a.npy", ARRAY), ("b.npy", OTHER)), UsageError, "say which")
    yield _case("missing", archive(("a.npy", ARRAY)), CannotRead, "no member", member="b")
    yield _case("empty_name_asked", archive(("a.npy", ARRAY)), CannotRead, member="b\x1b[31m")
    with_twice = by_hand()
    twice = archive(("a.npy", ARRAY), ("b.npy", OTHER)).replace(b"b.npy", b"a.npy")
    yield _case("twice", twice, ContentRefused, "two members")
    yield _case("twice_asked", twice, ContentRefused, "two members", member="a")
    yield _case("unsuffixed_twin", archive(("a.npy", ARRAY), ("a", OTHER)), ContentRefused)
    yield _case("text_member", archive(("readme.txt", b"hello")), ContentRefused, "not an array")
    yield _case("beside_text", archive(("a.npy", ARRAY), ("readme.txt", b"")), ContentRefused)
    yield _case("folder_member", archive(("dir/", b""), ("a.npy", ARRAY)), ContentRefused)
    yield _case("nested", archive(("inner.npz", archive(("a.npy", ARRAY)))), ContentRefused)
    yield _case("nested_as_npy", archive(("a.npy", archive(("a.npy", ARRAY)))), ContentRefused)
    yield _case("pickle_member", archive(("a.pkl", b"\x80\x04N.")), ContentRefused)
    for name in [
        "../../up.npy",
        "/etc/out.npy",
        "C:\\out.npy",
        "a\x1b[31m.npy",
        "." * 300 + ".npy",
    ]:
        content = archive((name, ARRAY), ("b.npy", OTHER))
        yield _case(f"name_{len(name)}_{ord(name[0])}", content, UsageError, "say which")
    yield _case("name_nul", by_hand(b"a\0b.npy"), ContentRefused)
    yield _case("name_empty", by_hand(b""), ContentRefused)
    yield _case("name_slash", by_hand(b"/"), ContentRefused)
    yield _case("name_not_utf8", by_hand(b"\xff\xfe.npy", flags=0x800), ContentRefused)
    yield _case("name_differs", by_hand(local_name=b"b.npy"), ContentRefused, "two names")
    yield _case("name_shorter", by_hand(local_name=b"a"), ContentRefused)
    yield _case("text_array", archive(("a.npy", b"hello")), ContentRefused, "not a .npy")
    yield _case("object_array", archive(("a.npy", saved(np.array([None])))), DtypeRefused)
    yield _case("opaque", archive(("a.npy", npy(header("'|V2'"), bytes(4)))), DtypeRefused)
    yield _case("empty_member", archive(("a.npy", b"")), ContentRefused)
    yield _case("wrapped", with_twice + with_twice, ContentRefused)
    yield _case("ten_thousand_and_one", _many, ContentRefused, "directory")


def _directories() -> Iterator[Case]:
    whole = by_hand()
    for length in (0, 1, 4, 10, 21, 22, 60, len(whole) - 22, len(whole) - 1):
        yield _case(f"cut_{length}", whole[:length], ContentRefused)
    yield _case("bytes_before", b"#!/bin/sh\n" + whole, ContentRefused, "outside")
    yield _case("image_before", b"\x89PNG" + bytes(100) + whole, ContentRefused, "outside")
    hidden = by_hand(before=b"hidden", offset=6)
    yield _case("bytes_before_adjusted", hidden, ContentRefused, "before the first")
    yield _case("bytes_after", whole + b"\0", ContentRefused)
    yield _case("comment", by_hand(comment=b"hello"), ContentRefused)
    yield _case("comment_stated", by_hand(stated_comment=5), ContentRefused)
    yield _case("end_in_comment", by_hand(comment=whole[-22:]), ContentRefused)
    yield _case("count_0", by_hand(count=0), ContentRefused)
    yield _case("count_2", by_hand(count=2), ContentRefused)
    yield _case("count_65535", by_hand(count=65_535), ContentRefused)
    yield _case("directory_offset_0", by_hand(directory_offset=0), ContentRefused)
    yield _case("directory_offset_large", by_hand(directory_offset=2**32 - 2), ContentRefused)
    yield _case("directory_size_0", by_hand(directory_size=0), ContentRefused)
    yield _case("directory_size_large", by_hand(directory_size=2**31), ContentRefused)
    yield _case("directory_only", whole[whole.index(b"PK\x01\x02") :], ContentRefused)
    yield _case("no_directory", whole[: whole.index(b"PK\x01\x02")] + whole[-22:], ContentRefused)
    yield _case("member_offset_large", by_hand(offset=2**31), ContentRefused)
    yield _case("member_offset_end", by_hand(offset=len(whole) - 10), ContentRefused)
    yield _case("member_offset_inside", by_hand(offset=3), ContentRefused)
    yield _case("end64_without", by_hand(count=0xFFFF), ContentRefused, "end record")
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 2**40, 2**40, 2**50, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0)
    yield _case("end64_huge", end64 + locator + end, ContentRefused)
    for flag, name in ((0x1, "encrypted"), (0x41, "strong"), (0x2000, "masked")):
        yield _case(f"flag_{name}", by_hand(flags=flag), ContentRefused, "encrypted")
    for flag in (0x10, 0x20, 0x80, 0x1000, 0x8000):
        yield _case(f"flag_{flag}", by_hand(flags=flag), ContentRefused, "flags")
    for method in (1, 6, 9, 12, 14, 93, 98, 99, 65_535):
        yield _case(f"method_{method}", by_hand(method=method), ContentRefused, "method")
    yield _case("method_differs", by_hand(local_method=0), ContentRefused)
    yield _case("overlapping", _second_at(0), ContentRefused, "overlap", member="b")
    for offset in (2**31, len(whole) + 40, len(whole) - 30):
        beyond = _second_at(offset)
        yield _case(f"second_at_{offset}", beyond, ContentRefused, "outside", member="b")


def _second_at(offset: int) -> bytes:
    """A second name whose body is said to be elsewhere: at 0, bombs multiply that way."""
    whole = by_hand()
    start = whole.index(b"PK\x01\x02")
    entry = whole[start:-22]
    second = entry.replace(b"a.npy", b"b.npy")
    second = second[:42] + struct.pack("<L", offset) + second[46:]
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2, 2, 2 * len(entry), start, 0)
    return whole[:start] + entry + second + end


def _contents() -> Iterator[Case]:
    yield _case("checksum", by_hand(checksum=1), ContentRefused, "checksum")
    yield _case("checksum_stored", by_hand(method=0, checksum=1), ContentRefused, "checksum")
    flipped = bytearray(by_hand(method=0))
    flipped[150] ^= 1
    yield _case("stored_flip", bytes(flipped), ContentRefused)
    yield _case("size_more", by_hand(size=len(ARRAY) + 1), ContentRefused)
    yield _case("size_less", by_hand(size=len(ARRAY) - 1), ContentRefused)
    yield _case("size_zero", by_hand(size=0), ContentRefused)
    yield _case("size_2g", by_hand(size=2**31 - 1), ContentRefused, "holds less")
    yield _case("size_4g", by_hand(size=2**32 - 2), ContentRefused, "holds less")
    yield _case("stored_size_more", by_hand(method=0, size=2**20), ContentRefused)
    yield _case("packed_less", by_hand(packed_size=10), ContentRefused)
    yield _case("packed_more", by_hand(packed_size=10_000), ContentRefused)
    yield _case("packed_none", by_hand(packed=b""), ContentRefused)
    yield _case("packed_text", by_hand(packed=b"this is not deflate" * 9), ContentRefused)
    yield _case("packed_rest", by_hand(packed=_deflated(ARRAY) + b"rest"), ContentRefused)
    yield _case("packed_twice", by_hand(packed=_deflated(ARRAY) * 2), ContentRefused)
    yield _case("packed_unfinished", by_hand(packed=_deflated(ARRAY)[:-3]), ContentRefused)
    wide = npy(header("'<f8'", shape="(402653184,)"), b"")
    yield _case("bomb_3g", lambda: bomb(wide, 3 << 30), LimitRefused, "limit")
    hidden = npy(header("'<f8'", shape="(4,)"), bytes(32))
    yield _case("bomb_hidden", lambda: bomb(hidden, 64 << 20), ContentRefused, "goes on")
    long = npy("{'descr'", b"", version=(2, 0), length=3 << 30)
    yield _case("bomb_header", lambda: bomb(long, 64 << 20), ContentRefused, "too long")
    yield _case("bomb_beyond_size", lambda: _beyond(hidden), ContentRefused, "more than")
    within = npy(header("'<f8'", shape="(131072,)"), bytes(1 << 20))
    yield _case("limit", archive(("a.npy", within)), LimitRefused, "limit", max_bytes=1 << 19)
    yield _case("cut_member", archive(("a.npy", ARRAY[:-1])), ContentRefused, "cut off")
    yield _case("trailing_member", archive(("a.npy", ARRAY + b"x")), ContentRefused, "goes on")
    shape = npy(header("'<f8'", shape="(0, 9223372036854775807)"), b"")
    yield _case("shape_beyond", archive(("a.npy", shape)), ContentRefused)
