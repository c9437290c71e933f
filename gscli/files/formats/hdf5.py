"""HDF5 files (.h5, .hdf5): datasets by path, `file.h5::/group/data`.

What is new is written here. A file that is there already is read, and changed, by the HDF5 library
in a process of its own (`hdf5_library`), since the library trusts what a file says.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gscli.base import CannotWrite, ContentRefused, DtypeRefused
from gscli.base.arrays import Array, is_narrow_dtype
from gscli.base.words import sanitize
from gscli.files.content import Content, import_extra
from gscli.files.formats.hdf5_library import hdf5_errors
from gscli.files.formats.npy import ArrayHeader, iter_byte_blocks, join_pieces
from gscli.files.isolated import Message, Request, ask_isolated
from gscli.files.request import Arrays, LoadedInput, Member, Output, ReadRequest

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

SIGNATURE = b"\x89HDF\r\n\x1a\n"


def read(content: Content, request: ReadRequest) -> LoadedInput:
    """One dataset, named or the only one."""
    question = {"action": "read", "member": request.member, "limit": request.limit}
    with _ask_library(content, question) as messages:
        form, _ = next(messages)
        header = ArrayHeader(np.dtype(form["dtype"]), tuple(form["shape"]), 0)
        pieces = (piece for _, piece in messages)
        return LoadedInput(join_pieces(pieces, header, request, form["where"]))


def listing(content: Content, _request: ReadRequest) -> list[Member]:
    """Every dataset by its path."""
    with _ask_library(content, {"action": "list"}) as messages:
        return [
            Member(form["name"], form["dtype"], tuple(form["shape"]), form["bytes"])
            for form, _ in messages
        ]


LARGE_TABLE = 1 << 22
"""Bytes from which on the library does not see a table, for it would hold all of it."""


def write(out: Output, arrays: Arrays, _suffix: str) -> None:
    """Write a new file with one dataset."""
    ((name, array),) = arrays.items()
    _check_path(name)
    stored, around = _as_stored(array, name), _AroundTable()
    with hdf5_errors("the file"), import_extra("h5py", "hdf5").File(around, "w") as file:
        if stored.nbytes < LARGE_TABLE:
            file.create_dataset(name, data=stored)
        else:
            around.begin = _allocate(file, name, stored)
            around.end = around.begin + stored.nbytes
    if not around.end:
        out(around.before.getbuffer())
        return
    out(around.before.getvalue().ljust(around.begin, b"\0"))
    for block in iter_byte_blocks(stored):
        out(block)
    out(around.behind.getvalue().ljust(around.size - around.end, b"\0"))


def _allocate(file: Any, name: str, array: Array) -> int:
    """Make a dataset without its values; where in the file they belong."""
    h5 = import_extra("h5py", "hdf5")
    layout, links = map(h5.h5p.create, (h5.h5p.DATASET_CREATE, h5.h5p.LINK_CREATE))
    layout.set_layout(h5.h5d.CONTIGUOUS)
    layout.set_alloc_time(h5.h5d.ALLOC_TIME_EARLY)
    layout.set_fill_time(h5.h5d.FILL_TIME_NEVER)
    links.set_create_intermediate_group(True)
    kind, space = h5.h5t.py_create(array.dtype, logical=True), h5.h5s.create_simple(array.shape)
    return int(h5.h5d.create(file.id, name.encode(), kind, space, layout, links).get_offset())


class _AroundTable(io.RawIOBase):
    """A file for the library that keeps what stands before and behind a table, not its values."""

    def __init__(self) -> None:
        self.begin = self.end = self.size = self._at = 0
        self.before, self.behind = io.BytesIO(), io.BytesIO()

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a place."""
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        return self._at

    def truncate(self, size: int | None = None, /) -> int:
        """Note where the file ends."""
        self.size = self._at if size is None else size
        return self.size

    def write(self, data: ReadableBuffer, /) -> int:
        """Keep bytes of this place; the number of them."""
        count = self._part().write(data)
        self._at += count
        self.size = max(self.size, self._at)
        return count

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Bytes that were written here."""
        count = self._part().readinto(buffer)
        self._at += count
        return count

    def _part(self) -> io.BytesIO:
        is_behind = bool(self.end) and self._at >= self.end
        part, origin = (self.behind, self.end) if is_behind else (self.before, 0)
        part.seek(self._at - origin)
        return part


def write_into(out: Output, old: Content, name: str, array: Array) -> None:
    """Write the old file with one dataset changed or added; everything else stays."""
    _check_path(name)
    stored = _as_stored(array, name)
    cells = np.ascontiguousarray(stored).reshape(-1).view(np.uint8).data
    form = {"dtype": stored.dtype.str, "shape": stored.shape, "payload": len(cells)}
    question = {"action": "change", "member": name.strip("/"), **form}
    with _ask_library(old, question, cells) as messages:
        for _, piece in messages:
            out(piece)


@contextmanager
def _ask_library(
    content: Content, question: Request, payload: memoryview | None = None
) -> Iterator[Iterator[Message]]:
    """The answers of the library's process to a question about a file."""
    if content.read_prefix(len(SIGNATURE)) != SIGNATURE:
        raise ContentRefused(f"{content.name} is not an HDF5 file", where=content.name)
    request = {"name": content.name, **question}
    module = "gscli.files.formats.hdf5_library"
    with (
        hdf5_errors(content.name),
        closing(ask_isolated(module, content, request, payload)) as messages,
    ):
        yield messages


def _check_path(name: str) -> None:
    if not set(name.split("/")) - {"", "."}:
        raise CannotWrite(
            f"{sanitize(name, 60) or '/'} is the root, not the path of a dataset",
            hint="FILE.h5::NAME, FILE.h5::GROUP/NAME",
        )


def _as_stored(array: Array, name: str) -> Array:
    """An array as a file can hold it: small types, which HDF5 does not know, as opaque bytes."""
    if array.dtype.kind == "U" or array.dtype.name == "float8_e5m2":
        raise DtypeRefused(f"HDF5 files cannot hold {array.dtype.name}", where=sanitize(name, 60))
    return array.view(f"V{array.dtype.itemsize}") if is_narrow_dtype(array.dtype) else array
