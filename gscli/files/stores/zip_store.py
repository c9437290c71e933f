"""Zarr stores in a .zip archive, of which no member is inflated beyond what it may be."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import AsyncIterator
from functools import cached_property
from typing import Any
from zipfile import ZipInfo

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.storage import ZipStore

from gscli.files.content import Content, check_limit
from gscli.files.formats.archive import entry_of, iter_member_bytes
from gscli.files.stores.chunks import MIN_CHUNK_LIMIT
from gscli.files.stores.zarr_place import METADATA, METADATA_LIMIT, check_metadata


class CheckedZipStore(ZipStore):
    """Members as they are read one by one, each within its limit and of its stated size.

    A chunk may have `limit` bytes.
    """

    def __init__(self, content: Content, limit: int) -> None:
        super().__init__(content.name, mode="r", read_only=True)
        self._content, self._limit = content, max(limit, MIN_CHUNK_LIMIT)
        self._last = "", b""  # of a shard the library wants one part after the other

    def _get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        if not self._is_open:
            self._sync_open()
        info = self._zf.NameToInfo.get(key)
        if info is None:
            return None
        if key != self._last[0]:
            self._last = key, self._read_member(key, info)
        member = self._last[1]
        return prototype.buffer.from_bytes(member[_part(byte_range, len(member))])

    @cached_property
    def _names(self) -> list[str]:
        return sorted(self._zf.namelist())

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """The names in a folder, each once; ZipStore would look through all names for every one."""
        start = f"{prefix.strip('/')}/".lstrip("/")
        at, seen = bisect_left(self._names, start), set[str]()
        while at < len(self._names) and self._names[at].startswith(start):
            child, slash, _ = self._names[at][len(start) :].partition("/")
            if child and child not in seen:
                seen.add(child)
                yield child
            after = chr(ord("/") + 1)  # all in the folder `child` stands before it
            at = bisect_left(self._names, f"{start}{child}{after}", at) if slash else at + 1

    def _read_member(self, key: str, info: ZipInfo) -> bytes:
        is_metadata = key.rpartition("/")[2] in METADATA
        limit = METADATA_LIMIT if is_metadata else self._limit + self._limit // 16
        entry = entry_of(self._content, info)
        check_limit(entry.size, limit, self._content.name, "a member", is_fixed=is_metadata)
        member = b"".join(iter_member_bytes(self._content, entry))
        if is_metadata:
            check_metadata(member, f"{self._content.name}: {key}")
        return member

    def close(self) -> None:
        """Give both descriptors back."""
        self._content.close()
        super().close()


def _part(byte_range: Any, size: int) -> slice:
    if isinstance(byte_range, RangeByteRequest):
        return slice(byte_range.start, byte_range.end)
    if isinstance(byte_range, OffsetByteRequest):
        return slice(byte_range.offset, None)
    if isinstance(byte_range, SuffixByteRequest):
        return slice(max(size - byte_range.suffix, 0), None)
    return slice(None)
