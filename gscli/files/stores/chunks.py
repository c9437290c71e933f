"""Arrays that lie in chunks, whoever keeps them: their shape, and one chunk at a time."""

from __future__ import annotations

import math
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from gscli.base import ContentRefused, translate_errors
from gscli.base.arrays import Array, DType, check_dtype_supported, check_value_bits, to_native
from gscli.base.words import sanitize
from gscli.disk import mapped
from gscli.disk.mapped import RegularFile
from gscli.disk.system import preallocate, temp_file_errors
from gscli.files.content import check_content, check_limit

# Bytes that one chunk may always have; more of them need a higher limit.
MIN_CHUNK_LIMIT = 64 << 20

Sizes: TypeAlias = tuple[int, ...]


def count_chunks(shape: Sizes, chunk: Sizes) -> Sizes:
    """Chunks on each axis of an array.

    >>> count_chunks((10, 6), (4, 3))
    (3, 2)
    """
    return tuple(-(-size // step) for size, step in zip(shape, chunk, strict=True))


def slice_chunk(shape: Sizes, chunk: Sizes, coordinates: Sizes) -> tuple[slice, ...]:
    """The cells of one chunk, which the border of the array may cut off.

    >>> slice_chunk((10, 6), (4, 3), (2, 0))
    (slice(8, 10, None), slice(0, 3, None))
    """
    places = zip(coordinates, chunk, shape, strict=True)
    return tuple(slice(at * step, min((at + 1) * step, size)) for at, step, size in places)


class ChunkedArray(ABC):
    """An array in chunks of one size, those at its border cut off.

    `dtype` is the element type of the values that are handed out, in native byte order.
    """

    name: str
    dtype: DType
    shape: Sizes
    chunk_shape: Sizes
    chunk_bytes: int

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array in memory."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def chunk_counts(self) -> Sizes:
        """Chunks on each axis."""
        return count_chunks(self.shape, self.chunk_shape)

    def chunk_slices(self, coordinates: Sizes) -> tuple[slice, ...]:
        """The cells of one chunk."""
        return slice_chunk(self.shape, self.chunk_shape, coordinates)

    def chunk_sizes(self, coordinates: Sizes) -> Sizes:
        """The shape of one chunk."""
        return tuple(part.stop - part.start for part in self.chunk_slices(coordinates))

    def normalize_values(self, values: Array) -> Array:
        """Values in their own type, to be written to. Raises ContentRefused."""
        values = to_native(values.view(self.dtype) if values.dtype.kind == "V" else values)
        check_value_bits(values, self.name)
        return values if values.flags.writeable else values.copy()

    @property
    def fill(self) -> Any:
        """What the cells of chunks that are not stored are."""
        return np.zeros((), self.dtype)[()]

    def iter_stored_chunks(self) -> Iterator[Sizes]:
        """The coordinates of all chunks that are stored."""
        yield from np.ndindex(*self.chunk_counts)

    @abstractmethod
    def read_chunk(self, coordinates: Sizes) -> Array:
        """The cells of one chunk, in C order, to be written to. Raises ContentRefused."""

    @abstractmethod
    def read_all(self) -> Array:
        """All cells, within the byte limit, to be written to."""

    def read_stored_chunks(self, cells: Array) -> None:
        """Put all chunks that are stored into an array, mapped or not, of the fill value."""
        for at in self.iter_stored_chunks():
            cells[self.chunk_slices(at)] = self.read_chunk(at)
            mapped.release_pages(cells)

    def spill_to_disk(self) -> Array:
        """All cells in a temporary file, mapped; the file is gone with the array.

        For what is looked at more than once and in any order: indices and updates. Raises
        CannotWrite where the disk is full.
        """
        if not self.nbytes:
            return np.empty(self.shape, self.dtype)
        with temp_file_errors(None), tempfile.TemporaryFile() as file:
            preallocate(file.fileno(), 0, self.nbytes)  # a full disk is told of here
            cells = np.memmap(file, self.dtype, "r+", 0, self.shape)
            if self.fill != 0:
                cells[...] = self.fill
            self.read_stored_chunks(cells)
            cells.flush()
            regular = RegularFile(os.dup(file.fileno()), self.name)
        return mapped.map_file(regular, self.dtype, self.shape, 0)


class ChunkedDaskArray(ChunkedArray):
    """A Dask array, computed chunk by chunk. Where its chunks differ, they are the largest."""

    def __init__(self, array: Any, name: str, limit: int) -> None:
        """`array`: Dask's, of numbers. Raises ContentRefused, DtypeRefused, LimitRefused."""
        is_known = not any(math.isnan(size) for size in array.shape)
        problem = f"{name} has chunks of unknown size"
        where = f"{name}: {sanitize(str(array.shape), 60)}"
        hint = f"{name}.compute_chunk_sizes() finds them out"
        check_content(is_known, problem, where, hint=hint)
        self.array, self.name, self._limit = array, name, limit
        self.dtype = check_dtype_supported(array.dtype, name).newbyteorder("=")
        self.shape = tuple(map(int, array.shape))
        self.chunk_shape = tuple(max(*sizes, 1) for sizes in array.chunks)
        self.chunk_bytes = math.prod(self.chunk_shape) * self.dtype.itemsize
        what, hint = f"a chunk of {name}", f"{name}.rechunk() makes smaller ones"
        check_limit(self.chunk_bytes, max(limit, MIN_CHUNK_LIMIT), name, what, hint=hint)

    def read_chunk(self, coordinates: Sizes) -> Array:
        """One chunk, computed by Dask's scheduler."""
        return self._compute(self.array[self.chunk_slices(coordinates)])

    def read_all(self) -> Array:
        """All cells, computed at once."""
        check_limit(self.nbytes, self._limit, self.name, "the array")
        return self._compute(self.array)

    def _compute(self, part: Any) -> Array:
        with translate_errors(self._compute_error):
            values = np.asarray(part.compute())
        is_same = values.shape == part.shape and values.dtype.newbyteorder("=") == self.dtype
        problem = f"Dask computed another array than {self.name} says"
        where = f"{self.name}: {values.dtype} {list(values.shape)}"
        check_content(is_same, problem, where, valid=f"{part.dtype} {list(part.shape)}")
        return self.normalize_values(values)

    def _compute_error(self, error: Exception) -> ContentRefused:
        why = sanitize(" ".join(str(error).split()), 120) or type(error).__name__
        return ContentRefused(f"Dask cannot compute {self.name}", where=f"{self.name}: {why}")


def check_packed_size(size: int, stored: int, limit: int, where: str) -> None:
    """ContentRefused for a chunk whose stored bytes are, or become, more than its cells: `size`."""
    problem = "a chunk would become larger than its cells"
    where = f"{where}: {stored:,} packed bytes"
    check_content(size <= limit, problem, where, valid=f"{limit:,} bytes")


@contextmanager
def replace_chunk_file(path: str) -> Iterator[BinaryIO]:
    """What a chunk's file is written to, which appears whole or not at all. Raises OSError."""
    partial = f"{path}.{os.urandom(4).hex()}.partial"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(partial, "wb") as file:  # with a buffer, which hands on what the system leaves
        yield file
    os.replace(partial, path)
