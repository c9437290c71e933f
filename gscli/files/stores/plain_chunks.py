"""Chunks whose files are nothing but their cells: read and written without a codec between.

The zarr package copies such a chunk three times on its way and changes threads twice, which takes
longer than all else that a stream does with it (tests/bench/SCALE.md).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, BinaryIO

import numpy as np

from gscli.base import ContentRefused
from gscli.base.arrays import Array, DType
from gscli.disk.mapped import RegularFile, open_file
from gscli.disk.uncached import MIN_DIRECT_BYTES, PAGE, allocate_pages, set_direct, write_at


class RawChunks:
    """The chunks of one array in a folder, all of the same size, C order, native bytes."""

    def __init__(self, unit: tuple[int, ...], dtype: DType, fill: Any, *, direct: bool) -> None:
        """`direct`: chunks are written past the system's cache, if they are whole pages."""
        self._unit, self._dtype, self._fill = unit, dtype, fill
        self.nbytes = math.prod(unit) * dtype.itemsize
        self._direct = direct and not self.nbytes % PAGE

    @classmethod
    def from_zarr(cls, array: Any) -> RawChunks | None:
        """For an array of the zarr package whose chunks are so, else None."""
        is_flat = array.shards is None and array.dtype.kind in "biufcV"
        if not is_flat or not _is_uncompressed(array):
            return None
        large = array.nbytes >= MIN_DIRECT_BYTES
        return cls(tuple(array.chunks), array.dtype, array.fill_value, direct=large)

    def read(self, path: str, sizes: tuple[int, ...], name: str) -> Array:
        """The first `sizes` cells of the chunk in a file; the fill value where there is no file."""
        file = self.open_chunk(path, name)
        if file is None:
            return np.full(sizes, self._fill, self._dtype)
        content = allocate_pages(self.nbytes)  # as it is, it can be written again
        with closing(file):
            file.read_into(0, content.data)
        cells = content.view(self._dtype).reshape(self._unit)
        return cells[tuple(map(slice, sizes))]

    def open_chunk(self, path: str, name: str) -> RegularFile | None:
        """The open file of a chunk, as long as the chunk; None where there is none."""
        try:
            file = open_file(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        if file.size != self.nbytes:
            where, length = f"{name}: {file.size:,} bytes", f"{self.nbytes:,} bytes"
            raise ContentRefused("a chunk is not as long as its cells", where=where, valid=length)
        return file

    def write(self, path: str, cells: Array) -> None:
        """Replace the file of a chunk; cells beyond the border of the array are the fill value."""
        if cells.shape != self._unit:
            whole = np.full(self._unit, self._fill, self._dtype)
            whole[tuple(map(slice, cells.shape))] = cells
            cells = whole
        content = np.ascontiguousarray(cells).reshape(-1).view(np.uint8)
        if self._direct and content.ctypes.data % PAGE:
            copied = allocate_pages(self.nbytes)
            copied[:] = content
            content = copied
        with replace_chunk_file(path) as file:
            if self._direct:
                set_direct(file.fileno(), on=True)
            write_at(file.fileno(), content.data, 0)


@contextmanager
def replace_chunk_file(path: str) -> Iterator[BinaryIO]:
    """What a chunk's file is written to, which appears whole or not at all. Raises OSError."""
    partial = f"{path}.{os.urandom(4).hex()}.partial"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(partial, "wb", buffering=0) as file:
        yield file
    os.replace(partial, path)


def _is_uncompressed(array: Any) -> bool:
    metadata = array.metadata
    if metadata.zarr_format == 2:  # noqa: PLR2004  the version
        native = array.dtype.isnative and metadata.order == "C"
        return bool(native and metadata.compressor is None and not metadata.filters)
    codecs = [codec.to_dict() for codec in metadata.codecs]
    endian = {"big": ">", "little": "<"}
    if len(codecs) != 1 or codecs[0]["name"] != "bytes":
        return False
    order = str(codecs[0].get("configuration", {}).get("endian") or "little")
    return array.dtype.itemsize == 1 or np.dtype(f"{endian.get(order, '?')}i4").isnative
