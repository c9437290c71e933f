"""Arrays that stand for data left in a store: the shape and type of a layout, and no values.

A plan needs no more of data. Only the stream takes such an array; it asks for the store.
"""

from __future__ import annotations

import math
import os
import tempfile
from typing import Any

import numpy as np

from gscli.base.arrays import Array
from gscli.files import mapped
from gscli.files.regular import RegularFile
from gscli.files.system import reserve
from gscli.files.zarr_store import Store


class StandIn(np.ndarray[Any, np.dtype[Any]]):
    """A view of one zero with the shape of a store's array."""

    store: Store | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the store."""
        return stand_in, (self.store,)


def stand_in(store: Store) -> Array:
    """An array of the store's shape and type, whose values nobody may look at."""
    array = np.broadcast_to(np.zeros((), store.dtype), store.shape).view(StandIn)
    array.store = store
    return array


def store_of(array: Array | None) -> Store | None:
    """The store that an array stands for; None for an array with values."""
    return array.store if isinstance(array, StandIn) else None


def spooled(store: Store, folder: str | None) -> Array:
    """All cells of a store in a temporary file, mapped; the file is gone with the array.

    For what is looked at more than once and in any order: indices and updates. Raises OSError.
    """
    if not store.nbytes:
        return np.empty(store.shape, store.dtype)
    with tempfile.TemporaryFile(dir=folder) as file:
        reserve(file.fileno(), 0, store.nbytes)  # a full disk is told of here
        whole = np.memmap(file, store.dtype, "r+", 0, store.shape or (1,))
        cells = whole.reshape(store.shape)
        counts = (-(-size // step) for size, step in zip(store.shape, store.chunk, strict=True))
        for at in np.ndindex(*counts):
            cells[store.box(at)] = store.read(at)
            mapped.release(whole)
        whole.flush()
        regular = RegularFile(os.dup(file.fileno()), store.name)
    return mapped.map_file(regular, store.dtype, (math.prod(store.shape),), 0).reshape(store.shape)
