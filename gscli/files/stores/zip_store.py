"""Zarr stores in a .zip archive, whose directory is judged as that of any archive."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import AsyncIterator
from typing import Any

from zarr.core.buffer import default_buffer_prototype
from zarr.storage import MemoryStore

from gscli.files.content import Content, check_limit
from gscli.files.formats.archive import ZipEntry, iter_member_bytes, read_directory
from gscli.files.stores.chunks import MIN_CHUNK_LIMIT
from gscli.files.stores.zarr_place import METADATA, METADATA_LIMIT, check_metadata

DIRECTORY_LIMIT = 32 << 20

# A store has a member for each chunk, and so many more than an archive of arrays.
MEMBER_LIMIT = 1 << 19


class CheckedZipStore(MemoryStore):
    """Members as they are read one by one, each within its limit and of its stated size.

    A chunk may have `limit` bytes. The directory is of the file that was judged, whatever has its
    name by now.
    """

    def __init__(self, content: Content, limit: int) -> None:
        entries = read_directory(content, MEMBER_LIMIT, DIRECTORY_LIMIT, was_rewritten=True)
        members: Any = MemberBuffers(content, entries, max(limit, MIN_CHUNK_LIMIT))
        super().__init__(members, read_only=True)
        self._content, self._names = content, sorted(entries)

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """The names in a folder, each once; the library would look through all for every one."""
        start = f"{prefix.strip('/')}/".lstrip("/")
        at, seen = bisect_left(self._names, start), set[str]()
        while at < len(self._names) and self._names[at].startswith(start):
            child, slash, _ = self._names[at][len(start) :].partition("/")
            if child and child not in seen:
                seen.add(child)
                yield child
            after = chr(ord("/") + 1)  # all in the folder `child` stands before it
            at = bisect_left(self._names, f"{start}{child}{after}", at) if slash else at + 1

    def close(self) -> None:
        """Give the descriptor back."""
        super().close()
        self._content.close()


class MemberBuffers(dict[str, ZipEntry]):
    """The members of an archive, each read when it is looked up."""

    def __init__(self, content: Content, entries: dict[str, ZipEntry], limit: int) -> None:
        super().__init__(entries)
        self._content, self._limit = content, limit
        self._last = "", b""  # of a shard the library wants one part after the other

    def __getitem__(self, key: str) -> Any:
        """The bytes of a member as the library's buffer. KeyError where there is none."""
        if key != self._last[0]:
            self._last = key, self.read_member(key, super().__getitem__(key))
        return default_buffer_prototype().buffer.from_bytes(self._last[1])

    def read_member(self, key: str, entry: ZipEntry) -> bytes:
        """The bytes of a member, of metadata after they were judged."""
        is_metadata = key.rpartition("/")[2] in METADATA
        limit, hint = self._limit + self._limit // 16, None
        if is_metadata:
            limit, hint = METADATA_LIMIT, ""
        check_limit(entry.size, limit, self._content.name, "a member", hint=hint)
        member = b"".join(iter_member_bytes(self._content, entry))
        if is_metadata:
            check_metadata(member, f"{self._content.name}: {key}")
        return member
