"""How large a packed chunk becomes, told before a library unpacks it.

A few kilobytes of deflate, bzip2 or zstd can promise terabytes. Each codec of this table says from
the packed bytes an upper bound of the result, or unpacks no further than the limit to see.
"""

from __future__ import annotations

import bz2
import lzma
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gscli.base import ContentRefused

SLACK = 1 << 16
"""Bytes by which a packed chunk may exceed its cells: checksums, headers, padding."""

_DEFLATE = 1032
"""Deflate makes at most this many bytes of one."""

_ZSTD_MAGIC, _ZSTD_BLOCK = 0xFD2FB528, 1 << 17
_ZSTD_SKIPPABLE = 0x184D2A5
_INDEX_ENTRY = 16


def _deflated(packed: bytes, limit: int) -> int:
    if len(packed) * _DEFLATE <= limit:
        return len(packed) * _DEFLATE
    return _unpacked(zlib.decompressobj(zlib.MAX_WBITS | 32).decompress, packed, limit)


def _unpacked(unpack: Callable[..., bytes], packed: bytes, limit: int) -> int:
    """Bytes that come out, as far as they are looked at."""
    return len(unpack(packed, limit + 1))


def _blosc(packed: bytes, _limit: int) -> int:
    """The library reads as many packed bytes as the header states, there or not."""
    if int.from_bytes(packed[12:16], "little") != len(packed):
        raise ContentRefused("a chunk is cut off", where=f"{len(packed):,} packed bytes")
    return int.from_bytes(packed[4:8], "little")


def _lz4(packed: bytes, _limit: int) -> int:
    return int.from_bytes(packed[:4], "little")


def _zstd(packed: bytes, limit: int) -> int:
    """The sum of what the blocks of all frames can hold; a frame need not say how much it is."""
    at = total = 0
    while at + 5 <= len(packed) and total <= limit:
        magic, descriptor = struct.unpack_from("<IB", packed, at)
        if magic >> 4 == _ZSTD_SKIPPABLE:
            at += 8 + int.from_bytes(packed[at + 4 : at + 8], "little")
            continue
        if magic != _ZSTD_MAGIC:
            break  # the library says what is wrong
        single = descriptor >> 5 & 1
        at += 5 + (not single) + (0, 1, 2, 4)[descriptor & 3]
        size_field = (single, 2, 4, 8)[descriptor >> 6]
        stated = int.from_bytes(packed[at : at + size_field], "little")
        if size_field:
            total += stated + (256 if size_field == 2 else 0)  # noqa: PLR2004  as the format has it
        at, blocks = _zstd_blocks(packed, at + size_field, limit)
        total += 0 if size_field else blocks
        at += 4 * (descriptor >> 2 & 1)
    return total


def _zstd_blocks(packed: bytes, at: int, limit: int) -> tuple[int, int]:
    """Where the blocks of a frame end, and how much they hold at most."""
    total = 0
    while at + 3 <= len(packed) and total <= limit:
        header = int.from_bytes(packed[at : at + 3], "little")
        kind, size = header >> 1 & 3, header >> 3
        at += 3 + (1 if kind == 1 else size)
        total += size if kind < 2 else _ZSTD_BLOCK  # noqa: PLR2004  raw and repeated blocks
        if header & 1:
            break
    return at, total


BOUNDS: Mapping[str, Callable[[bytes, int], int]] = {
    "gzip": _deflated,
    "zlib": _deflated,
    "bz2": lambda packed, limit: _unpacked(bz2.BZ2Decompressor().decompress, packed, limit),
    "lzma": lambda packed, limit: _unpacked(lzma.LZMADecompressor().decompress, packed, limit),
    "blosc": _blosc,
    "lz4": _lz4,
    "zstd": _zstd,
}
"""Codec → how many bytes packed ones become; more than `limit` need not be told apart."""


def check_packed(
    array: Any, encoded: Callable[[], bytes | None], expected: int, where: str
) -> None:
    """Refuse a chunk that would become larger than `expected` bytes, its cells.

    `array` is zarr's; codecs that are not in the table are not looked at.
    """
    names = codec_names(array)
    last = names[-1] if names else ""
    if last not in BOUNDS:
        return
    packed = encoded()
    if packed is None:
        return
    if array.shards is not None:
        inner = expected
        for size in array.shards:
            inner //= max(size, 1)
        for size in array.chunks:
            inner *= size
        parts = _inner_chunks(packed, array)
    else:
        inner, parts = expected, iter((packed,))
    for part in parts:
        try:
            size = BOUNDS[last](part, inner + SLACK)
        except (zlib.error, OSError, EOFError, lzma.LZMAError, ValueError):
            continue  # the library says what is wrong
        if size > inner + SLACK:
            raise ContentRefused(
                "a chunk would become larger than its cells",
                where=f"{where}: {len(part):,} packed bytes",
                valid=f"{inner:,} bytes",
            )


def codec_names(array: Any) -> list[str]:
    """What was done to the bytes of a chunk, in that order: "zstd", "crc32c"; of a shard's inner
    chunks where there are shards.
    """
    found = [_codec_name(codec) for codec in array.compressors]
    while found and found[-1] in {"crc32c", "crc32", "adler32", "fletcher32"}:
        found.pop()
    return found


def _codec_name(codec: Any) -> str:
    document = codec.to_dict() if hasattr(codec, "to_dict") else codec.get_config()
    name = str(document.get("name", document.get("id", "")))
    return name.removeprefix("numcodecs.")


def _inner_chunks(packed: bytes, array: Any) -> Iterator[bytes]:
    """The inner chunks of a shard by its index at the end; none where the index is elsewhere."""
    count = 1
    for shard, chunk in zip(array.shards, array.chunks, strict=True):
        count *= shard // chunk
    begin = len(packed) - count * _INDEX_ENTRY - 4
    if begin < 0:
        return
    index = struct.unpack_from(f"<{2 * count}Q", packed, begin)
    for offset, length in zip(index[::2], index[1::2], strict=True):
        if offset + length <= len(packed):
            yield packed[offset : offset + length]
