"""Codecs of Zarr chunks that make no more bytes than a chunk has room for.

A few kilobytes of deflate, bzip2 or zstd can promise terabytes. So the codecs of an array that is
opened are replaced by those of a list, each of which decodes into a limit and stops there. What is
not on the list is refused, unless the environment names it: whoever does so trusts the store.
"""

from __future__ import annotations

import asyncio
import bz2
import lzma
import math
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from zarr.abc.codec import BytesBytesCodec
from zarr.codecs import ShardingCodec

from gscli.base import LimitRefused
from gscli.base.words import sanitize
from gscli.files.content import check_content
from gscli.files.stores.chunks import check_packed_size

# Bytes by which a packed chunk may exceed its cells, beside a 64th: checksums and headers.
ALLOWED_OVERHEAD = 1 << 12

# Variable of the environment that names codecs to be used beside those of the list.
TRUSTED_CODECS = "GSCLI_CODECS"

# The same for each inner chunk of a shard, and its line in the index.
INNER_SLACK = 64

MAX_CODECS = 16

# Streams or blocks of one packed chunk: each takes time, even without a byte in it.
MAX_STREAMS = 1 << 16

# Inner chunks of a shard: its index names each of them.
MAX_INNER_CHUNKS = 1 << 17

_LZMA_MEMORY = 128 << 20
_PIECE = 1 << 16
_ZSTD_MAGIC, _ZSTD_BLOCK = 0xFD2FB528, 1 << 17

Decoder = Callable[[Any], Any]

# Decodes packed bytes into at most one byte more than a limit.
Decode = Callable[[bytes, int], Any]


def _decode_streams(start: Callable[[], Any]) -> Decode:
    """Of a format that may stand several times in a row: gzip, bz2, xz."""

    def decode(packed: bytes, limit: int) -> bytes:
        parts, size, position, end = list[bytes](), 0, 0, len(packed.rstrip(b"\0"))
        for _ in range(MAX_STREAMS):
            if position >= end:
                return b"".join(parts)
            stream = start()
            while not stream.eof:
                piece = packed[position : position + _PIECE]
                if not piece:
                    raise EOFError("a chunk is cut off")
                parts.append(stream.decompress(piece, limit + 1 - size))
                size += len(parts[-1])
                if size > limit:
                    return b"".join(parts)
                position += len(piece) - len(stream.unused_data)
        raise ValueError("a chunk has too many parts")

    return decode


def _decode_blosc(packed: bytes, limit: int) -> Any:
    """The library reads as many packed bytes as the header states, there or not."""
    from numcodecs import blosc

    is_whole = int.from_bytes(packed[12:16], "little") == len(packed)
    check_content(is_whole, "a chunk is cut off", f"{len(packed):,} packed bytes")
    return _decode_into(blosc.decompress, packed, int.from_bytes(packed[4:8], "little"), limit)


def _decode_lz4(packed: bytes, limit: int) -> Any:
    from numcodecs import lz4

    return _decode_into(lz4.decompress, packed, int.from_bytes(packed[:4], "little"), limit)


def _decode_zstd(packed: bytes, limit: int) -> Any:
    """One frame, as every writer of chunks makes it. It need not say how much it holds; then its
    blocks do, of which none can be larger than the format allows.
    """
    from numcodecs import zstd

    room, size = measure_zstd(packed, limit)
    if size is not None:
        return _decode_into(zstd.decompress, packed, size, limit)
    return bytes(limit + 1) if room > limit else zstd.decompress(packed)


def measure_zstd(packed: bytes, limit: int) -> tuple[int, int | None]:
    """How much a zstd frame holds at most, counted beyond `limit` no further, and what it says.

    ValueError where the bytes are not one whole frame. RFC 8878, section 3.1.1.
    """
    if len(packed) < 6 or int.from_bytes(packed[:4], "little") != _ZSTD_MAGIC:  # noqa: PLR2004
        raise ValueError("no zstd frame")
    single = packed[4] >> 5 & 1
    begin = 5 + (not single) + (0, 1, 2, 4)[packed[4] & 3]
    width = (single, 2, 4, 8)[packed[4] >> 6]
    end, room = _measure_zstd_blocks(packed, begin + width, limit)
    if room <= limit and end + 4 * (packed[4] >> 2 & 1) != len(packed):
        raise ValueError("not one whole zstd frame")
    size = int.from_bytes(packed[begin : begin + width], "little") + 256 * (width == 2)  # noqa: PLR2004
    return room, size if width else None


def _measure_zstd_blocks(packed: bytes, at: int, limit: int) -> tuple[int, int]:
    """Where the blocks of a frame end, and how much they hold at most."""
    total = 0
    for _ in range(MAX_STREAMS):
        if at + 3 > len(packed) or total > limit:
            break
        header = int.from_bytes(packed[at : at + 3], "little")
        kind, size = header >> 1 & 3, header >> 3
        at += 3 + (1 if kind == 1 else size)
        total += size if kind < 2 else _ZSTD_BLOCK  # noqa: PLR2004  raw and repeated blocks
        if header & 1:
            break
    return at, total


def _decode_into(decompress: Callable[..., Any], packed: bytes, size: int, limit: int) -> Any:
    """Decode into memory of the stated size, which is all that the library can write to."""
    if size > limit:
        return bytes(limit + 1)
    room = np.empty(size, np.uint8)
    if size:
        decompress(packed, room)
    return room


# Compressor → how it is decoded within a limit.
DECODERS: Mapping[str, Decode] = {
    "gzip": _decode_streams(lambda: zlib.decompressobj(zlib.MAX_WBITS | 16)),
    "zlib": _decode_streams(zlib.decompressobj),
    "bz2": _decode_streams(bz2.BZ2Decompressor),
    "lzma": _decode_streams(lambda: lzma.LZMADecompressor(memlimit=_LZMA_MEMORY)),
    "blosc": _decode_blosc,
    "lz4": _decode_lz4,
    "zstd": _decode_zstd,
}

# Codecs whose result is at most sixteen times as long as what they get.
FILTERS = {
    "bytes", "transpose", "sharding_indexed", "vlen-utf8", "vlen-bytes", "shuffle", "delta",
    "fixedscaleoffset", "quantize", "bitround", "astype", "packbits", "crc32c", "crc32", "adler32",
    "fletcher32", "jenkins_lookup3",
}  # fmt: skip

_INDEX_CODECS = {"bytes", "crc32c"}
_TYPE_KEYS = ("dtype", "astype", "encode_dtype", "decode_dtype")


def limit_codecs(array: Any, where: str) -> int:
    """Put limits on the codecs of an array of the zarr package; the bytes a stored chunk may have.

    Raises ContentRefused for a codec that is neither on the list nor trusted.
    """
    pipeline = array.async_array.codec_pipeline
    cell = array.dtype.itemsize
    unit = tuple(array.shards or array.chunks)
    limited = pipeline.from_codecs(list(_limit_codecs(pipeline, unit, cell, where)))
    object.__setattr__(array.async_array, "codec_pipeline", limited)
    return _limit(pipeline, unit, cell, where)


def _limit_codecs(codecs: Any, unit: tuple[int, ...], cell: int, where: str) -> Iterator[Any]:
    """The codecs of a chunk of `unit` cells, each with its limit."""
    codecs = list(codecs)
    if len(codecs) > MAX_CODECS:
        raise LimitRefused("a chunk has too many codecs", where=f"{where}: {len(codecs):,}")
    limit = _limit(codecs, unit, cell, where)
    for codec in codecs:
        if hasattr(codec, "compressor"):  # of version 2, whose filters are inside
            filters = tuple(_LimitedNumcodec(item, limit, where) for item in codec.filters or ())
            first = codec.compressor and _LimitedNumcodec(codec.compressor, limit, where)
            yield replace(codec, filters=filters or None, compressor=first)
        elif isinstance(codec, ShardingCodec):
            yield _limited_shard(codec, cell, where)
        elif isinstance(codec, BytesBytesCodec):
            yield _LimitedCodec(codec, limit, where)
        else:
            _check_codec(codec, where)
            yield codec


def _limited_shard(codec: Any, cell: int, where: str) -> Any:
    is_plain = {_name_and_settings(item)[0] for item in codec.index_codecs} <= _INDEX_CODECS
    names = ", ".join(sorted(_INDEX_CODECS))
    check_content(is_plain, "the index of a shard is packed", where, valid=names)
    inner = _limit_codecs(codec.codecs, tuple(codec.chunk_shape), cell, where)
    return replace(codec, codecs=tuple(inner))


def _limit(codecs: Iterable[Any], unit: tuple[int, ...], cell: int, where: str) -> int:
    """Bytes that a chunk may take in any step of its decoding."""
    size = math.prod(unit) * cell
    count = sum(
        math.prod(unit) // max(math.prod(codec.chunk_shape), 1)
        for codec in codecs
        if isinstance(codec, ShardingCodec)
    )
    if count > MAX_INNER_CHUNKS:
        most = f"at most {MAX_INNER_CHUNKS:,}"
        raise LimitRefused("a shard has too many chunks", where=f"{where}: {count:,}", valid=most)
    return size + size // 64 + ALLOWED_OVERHEAD + INNER_SLACK * count


def _name_and_settings(codec: Any) -> tuple[str, dict[str, Any]]:
    document = codec.to_dict() if hasattr(codec, "to_dict") else codec.get_config()
    name = str(document.get("name", document.get("id", "")))
    return name.removeprefix("numcodecs."), document.get("configuration", document)


def _check_codec(codec: Any, where: str) -> str:
    """The name of a codec that may be used. Raises ContentRefused."""
    name, settings = _name_and_settings(codec)
    if name in os.environ.get(TRUSTED_CODECS, "").split(","):
        return name
    known, shown = {*DECODERS, *FILTERS}, sanitize(name, 40)
    problem = f"the chunks are packed by {shown}, whose result has no limit"
    hint = f"{TRUSTED_CODECS}={shown} in the environment, if you trust the store"
    check_content(name in known, problem, where, valid=", ".join(sorted(known)), hint=hint)
    types = [np.dtype(settings[key]) for key in _TYPE_KEYS if settings.get(key)]
    makes_numbers = all(dtype.kind in "biufc" for dtype in types)
    check_content(makes_numbers, f"the filter {name} makes no numbers", where)
    return name


def _decode_within(codec: Any, decode: Callable[[Any], Any], limit: int, where: str) -> Decoder:
    """Make the function that decodes bytes as a codec does, within the limit."""
    name = _check_codec(codec, where)

    def decode_within(buffer: Any) -> Any:
        packed = np.frombuffer(buffer, np.uint8)
        check_packed_size(packed.size, packed.size, limit, where)
        made = DECODERS[name](packed.tobytes(), limit) if name in DECODERS else decode(packed)
        check_packed_size(memoryview(made).nbytes, packed.size, limit, where)
        return made

    return decode_within


class _LimitedNumcodec:
    """A compressor or filter of version 2."""

    def __init__(self, codec: Any, limit: int, where: str) -> None:
        self.decode = _decode_within(codec, codec.decode, limit, where)
        self.encode = codec.encode


class _LimitedCodec(BytesBytesCodec):
    """A codec of version 3 from bytes to bytes."""

    is_fixed_size = False

    def __init__(self, codec: Any, limit: int, where: str) -> None:
        self._codec = codec
        self._is_ours = _check_codec(codec, where) in DECODERS
        self._decode = _decode_within(codec, lambda packed: packed, limit, where)

    async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        if not self._is_ours:
            self._decode(chunk_bytes.as_numpy_array())
            chunk_bytes = await self._codec._decode_single(chunk_bytes, chunk_spec)  # noqa: SLF001
        made = await asyncio.to_thread(self._decode, chunk_bytes.as_numpy_array())
        return chunk_spec.prototype.buffer.from_bytes(made)

    async def _encode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        return await self._codec._encode_single(chunk_bytes, chunk_spec)  # noqa: SLF001

    def compute_encoded_size(self, size: int, chunk_spec: Any) -> int:
        """As the codec itself has it."""
        return int(self._codec.compute_encoded_size(size, chunk_spec))

    def to_dict(self) -> dict[str, Any]:
        """As the codec itself has it."""
        return dict(self._codec.to_dict())
