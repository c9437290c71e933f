"""What stands for data left in chunks (`LazyArray`), by where these are; and all cells on disk."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from typing import Any

import numpy as np

from gscli.base.arrays import Array, LazyArray, is_lazy
from gscli.disk import mapped
from gscli.disk.mapped import RegularFile
from gscli.disk.system import preallocate, write_errors
from gscli.files.stores.chunks import ChunkedArray, ChunkedDaskArray
from gscli.files.stores.zarr_place import ZarrPath
from gscli.files.stores.zarr_store import ZarrArray

NUMBERS = "biufc"
"""Kinds of elements that a stream takes as they are."""


def zarr_source(array: Array | None) -> ZarrArray | None:
    """The Zarr store that an array stands for; None for any other array."""
    return array.source if is_lazy(array) and isinstance(array.source, ZarrArray) else None


def as_lazy_array(value: object, name: str, limit: int) -> Array | None:
    """What stands for an array of the zarr or dask package; None for any other value.

    Nothing is read. `name` is what messages call it; a chunk may have `limit` bytes. Raises
    ContentRefused and LimitRefused.
    """
    zarr, dask = sys.modules.get("zarr"), sys.modules.get("dask.array")
    known: Any = value
    if zarr is not None and isinstance(known, zarr.Array) and known.dtype.kind in NUMBERS:
        place = ZarrPath(str(getattr(known.store, "root", name)), known.path)
        return LazyArray.of(ZarrArray(known, place, limit))
    if dask is not None and isinstance(known, dask.Array) and known.dtype.kind in NUMBERS:
        return LazyArray.of(ChunkedDaskArray(known, name, limit))
    return None


def spill_to_disk(source: ChunkedArray, folder: str | None) -> Array:
    """All cells of an array in chunks in a temporary file, mapped; the file is gone with the array.

    For what is looked at more than once and in any order: indices and updates. Raises CannotWrite
    where the disk is full.
    """
    if not source.nbytes:
        return np.empty(source.shape, source.dtype)
    beside = folder or tempfile.gettempdir()
    guard = write_errors(beside, "cannot write temporary files in")
    with guard, tempfile.TemporaryFile(dir=folder) as file:
        preallocate(file.fileno(), 0, source.nbytes)  # a full disk is told of here
        whole = np.memmap(file, source.dtype, "r+", 0, source.shape or (1,))
        cells = whole.reshape(source.shape)
        if source.fill != 0:
            cells[...] = source.fill
        for at in source.iter_stored_chunks():
            cells[source.chunk_slices(at)] = source.read_chunk(at)
            mapped.release_pages(whole)
        whole.flush()
        regular = RegularFile(os.dup(file.fileno()), source.name)
    flat = mapped.map_file(regular, source.dtype, (math.prod(source.shape),), 0)
    return flat.reshape(source.shape)
