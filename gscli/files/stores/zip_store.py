"""Zarr stores in a .zip archive, whose directory is judged as that of any archive."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import AsyncIterator
from threading import RLock
from typing import Any

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.storage import ZipStore

from gscli.files.content import Content, check_limit
from gscli.files.formats.archive import iter_member_bytes, read_directory
from gscli.files.stores.chunks import MIN_CHUNK_LIMIT
from gscli.files.stores.zarr_place import METADATA, METADATA_LIMIT, check_metadata

DIRECTORY_LIMIT = 32 << 20
MEMBER_LIMIT = 1 << 19
"""A store has a member for each chunk, and so many more than an archive of arrays."""


class CheckedZipStore(ZipStore):
    """Members as they are read one by one, each within its limit and of its stated size.

    A chunk may have `limit` bytes.
    """

    def __init__(self, content: Content, limit: int) -> None:
        super().__init__(content.name, mode="r", read_only=True)
        self._content, self._limit = content, max(limit, MIN_CHUNK_LIMIT)
        self._last = "", b""  # of a shard the library wants one part after the other

    def _sync_open(self) -> None:
        """Read the directory of the file that was judged, whatever has its name by now."""
        self._entries = read_directory(
            self._content, MEMBER_LIMIT, DIRECTORY_LIMIT, was_rewritten=True
        )
        self._names = sorted(self._entries)
        self._lock, self._is_open = RLock(), True

    def _get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        if not self._is_open:
            self._sync_open()
        if key not in self._entries:
            return None
        if key != self._last[0]:
            self._last = key, self._read_member(key)
        member = self._last[1]
        return prototype.buffer.from_bytes(member[_part(byte_range, len(member))])

    async def exists(self, key: str) -> bool:
        """Whether there is such a member."""
        return key in self._entries

    async def list(self) -> AsyncIterator[str]:
        """The names of all members."""
        for name in self._names:
            yield name

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

    def _read_member(self, key: str) -> bytes:
        entry, is_metadata = self._entries[key], key.rpartition("/")[2] in METADATA
        limit, hint = self._limit + self._limit // 16, None
        if is_metadata:
            limit, hint = METADATA_LIMIT, ""
        check_limit(entry.size, limit, self._content.name, "a member", hint=hint)
        member = b"".join(iter_member_bytes(self._content, entry))
        if is_metadata:
            check_metadata(member, f"{self._content.name}: {key}")
        return member

    def close(self) -> None:
        """Give the descriptor back."""
        self._is_open = False
        self._content.close()


def _part(byte_range: Any, size: int) -> slice:
    if isinstance(byte_range, RangeByteRequest):
        return slice(byte_range.start, byte_range.end)
    if isinstance(byte_range, OffsetByteRequest):
        return slice(byte_range.offset, None)
    if isinstance(byte_range, SuffixByteRequest):
        return slice(max(size - byte_range.suffix, 0), None)
    return slice(None)
