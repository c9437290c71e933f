"""Arrays that lie in chunks, whoever keeps them: their shape, and one chunk at a time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from gscli.base import ContentRefused, LimitRefused
from gscli.base.arrays import Array, DType, check_dtype_supported, check_value_bits, to_native
from gscli.base.words import sanitize
from gscli.disk.mapped import RegularFile
from gscli.files.content import check_limit
from gscli.files.extras import library_errors

MIN_CHUNK_LIMIT = 64 << 20
"""Bytes that one chunk may always have; more of them need a higher limit."""

Slices = tuple[slice, ...]


class ChunkedArray(ABC):
    """An array in chunks of one size, those at its border cut off.

    `dtype` is the element type of the values that are handed out, in native byte order.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    chunk_shape: tuple[int, ...]
    chunk_bytes: int

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array in memory."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def chunk_counts(self) -> tuple[int, ...]:
        """Chunks on each axis."""
        pairs = zip(self.shape, self.chunk_shape, strict=True)
        return tuple(-(-size // step) for size, step in pairs)

    def chunk_slices(self, coordinates: tuple[int, ...]) -> Slices:
        """The cells of one chunk."""
        return tuple(
            slice(at * step, min((at + 1) * step, size))
            for at, step, size in zip(coordinates, self.chunk_shape, self.shape, strict=True)
        )

    def chunk_sizes(self, coordinates: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of one chunk."""
        return tuple(part.stop - part.start for part in self.chunk_slices(coordinates))

    def normalize_values(self, values: Array) -> Array:
        """Values in their own type, to be written to. Raises ContentRefused."""
        values = to_native(values.view(self.dtype) if values.dtype.kind == "V" else values)
        check_value_bits(values, self.name)
        return values if values.flags.writeable else values.copy()

    def raw_chunk_file(self, _coordinates: tuple[int, ...]) -> RegularFile | None:
        """The file of a chunk that has its cells and nothing else; None for all others."""
        return None

    @property
    def fill(self) -> Any:
        """What the cells of chunks that are not stored are."""
        return np.zeros((), self.dtype)[()]

    def iter_stored_chunks(self) -> Iterator[tuple[int, ...]]:
        """The coordinates of all chunks that are stored."""
        yield from np.ndindex(*self.chunk_counts)

    @abstractmethod
    def read_chunk(self, coordinates: tuple[int, ...]) -> Array:
        """The cells of one chunk, in C order, to be written to. Raises ContentRefused."""

    @abstractmethod
    def read_all(self) -> Array:
        """All cells, within the byte limit, to be written to."""


class ChunkedDaskArray(ChunkedArray):
    """A Dask array, computed chunk by chunk. Where its chunks differ, they are the largest."""

    def __init__(self, array: Any, name: str, limit: int) -> None:
        """`array`: Dask's, of numbers. Raises ContentRefused, DtypeRefused, LimitRefused."""
        if any(math.isnan(size) for size in array.shape):
            raise ContentRefused(
                f"{name} has chunks of unknown size",
                where=f"{name}: {sanitize(str(array.shape), 60)}",
                hint=f"{name}.compute_chunk_sizes() finds them out",
            )
        self.array, self.name, self._limit = array, name, limit
        self.dtype = check_dtype_supported(array.dtype, name).newbyteorder("=")
        self.shape = tuple(map(int, array.shape))
        self.chunk_shape = tuple(max(*sizes, 1) for sizes in array.chunks)
        unit = self.chunk_bytes = math.prod(self.chunk_shape) * self.dtype.itemsize
        most = max(limit, MIN_CHUNK_LIMIT)
        if unit > most:
            raise LimitRefused(
                f"a chunk of {name} is larger than the limit",
                where=f"{name}: {unit:,} bytes",
                valid=f"at most {most:,} bytes",
                hint=f"{name}.rechunk() makes smaller ones",
            )

    def read_chunk(self, coordinates: tuple[int, ...]) -> Array:
        """One chunk, computed by Dask's scheduler."""
        return self._compute(self.array[self.chunk_slices(coordinates)])

    def read_all(self) -> Array:
        """All cells, computed at once."""
        check_limit(self.nbytes, self._limit, self.name, "the array")
        return self._compute(self.array)

    def _compute(self, part: Any) -> Array:
        with library_errors(self._compute_error):
            values = np.asarray(part.compute())
        if values.shape != part.shape or values.dtype.newbyteorder("=") != self.dtype:
            raise ContentRefused(
                f"Dask computed another array than {self.name} says",
                where=f"{self.name}: {values.dtype} {list(values.shape)}",
                valid=f"{part.dtype} {list(part.shape)}",
            )
        return self.normalize_values(values)

    def _compute_error(self, error: Exception) -> ContentRefused:
        why = sanitize(" ".join(str(error).split()), 120) or type(error).__name__
        return ContentRefused(f"Dask cannot compute {self.name}", where=f"{self.name}: {why}")


def too_large_error(stored: int, limit: int, where: str) -> ContentRefused:
    """What to say of a chunk whose stored bytes are, or would become, more than its cells."""
    return ContentRefused(
        "a chunk would become larger than its cells",
        where=f"{where}: {stored:,} packed bytes",
        valid=f"{limit:,} bytes",
    )
