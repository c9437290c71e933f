"""One array of a Zarr store: its shape, its chunks, and whole chunks in and out.

The zarr package reads metadata and codecs, of versions 2 and 3. It trusts a store: names may lead
out of the folder by links, a chunk may inflate to any size, and objects may run code. So here a
path is judged before it is opened, a stored chunk is measured before it is decoded, and only
numbers and text are taken.
"""

from __future__ import annotations

import math
import operator
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from gscli.base import CannotRead, ContentRefused, DtypeRefused, check_rule
from gscli.base.arrays import Array, DType, LazyArray, check_dtype_supported, is_lazy
from gscli.base.words import format_shape, quote_word, sanitize
from gscli.disk.mapped import read_errors
from gscli.files.content import check_content, check_limit, import_extra, open_content
from gscli.files.formats.npy import element_dtype, is_shape
from gscli.files.stores.chunks import (
    MIN_CHUNK_LIMIT,
    ChunkedArray,
    ChunkedDaskArray,
    check_packed_size,
)
from gscli.files.stores.zarr_place import (
    ZarrPath,
    check_folder,
    check_member,
    check_no_link,
    file_size,
    is_repository,
    zarr_errors,
    zarr_write_errors,
)


class ZarrArray(ChunkedArray):
    """An open array. `chunk_shape` is the unit that is read and written whole: a shard, if there
    are.
    """

    def __init__(self, array: Any, place: ZarrPath, limit: int, opaque: Any = None) -> None:
        """`array`: zarr's; `opaque`: the type of opaque elements. Raises GscliError."""
        # A chunk is written even where it equals the fill value: -0.0 equals 0.0.
        with zarr_errors(place.name):
            self.array = array.with_config({"write_empty_chunks": True, "order": "C"})
        self.place, self.name, self._limit = place, place.name, limit
        self.dtype = _element_dtype(array, opaque, self.name)
        self.shape, self._unit = tuple(array.shape), tuple(array.shards or array.chunks)
        pairs = zip(self._unit, self.shape, strict=True)
        self.chunk_shape = tuple(max(min(unit, size), 1) for unit, size in pairs)
        has_cells, where = 0 not in self._unit or 0 in self.shape, format_shape(self._unit)
        check_content(has_cells, "a chunk has no cells", f"{self.name}: chunks {where}")
        is_legal, where = is_shape(self.shape, self.dtype.itemsize), format_shape(self.shape)
        check_content(is_legal, "no array can be so large", f"{self.name}: {where}")
        check_content(not np.ndim(self.fill), "the fill value is no single element", self.name)
        self.chunk_bytes = math.prod(self._unit) * self.dtype.itemsize
        check_limit(self.chunk_bytes, max(limit, MIN_CHUNK_LIMIT), self.name, "a chunk")
        from gscli.files.stores.codecs import limit_codecs

        with zarr_errors(self.name):
            self._stored_limit = limit_codecs(self.array, self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the place, to be opened again where it is wanted."""
        return open_zarr_array, (self.place, self._limit, self.opaque, not self.array.read_only)

    @property
    def opaque(self) -> DType | None:
        """The type of elements that the store has as bytes; None where it names their type."""
        return self.dtype if self.array.dtype.kind == "V" else None

    @property
    def folder(self) -> str | None:
        """The folder with the array's own files, where it lies in one."""
        root = getattr(self.array.store, "root", None)
        return None if root is None else os.path.join(str(root), self.place.member)

    def chunk_key(self, coordinates: tuple[int, ...]) -> str:
        """The name of a chunk within the array."""
        return str(self.array.metadata.encode_chunk_key(coordinates))

    def read_chunk(self, coordinates: tuple[int, ...]) -> Array:
        """One chunk, by the library, after a look at its file. Refusals name it."""
        key = self.chunk_key(coordinates)
        try:
            with zarr_errors(self.name):
                if self.folder is not None:
                    self._check_file(os.path.join(self.folder, key))
                return self.normalize_values(np.asarray(self.array[self.chunk_slices(coordinates)]))
        except (CannotRead, ContentRefused) as error:
            reason = error.where.removeprefix(self.name).removeprefix(": ")
            error.where = f"{self.name}: chunk {key}: {reason}".removesuffix(": ")
            raise

    def read_all(self) -> Array:
        """All cells, chunk by chunk of those that are stored: absent ones cost nothing."""
        check_limit(self.nbytes, self._limit, self.name, "the array")
        cells = self.normalize_values(np.full(self.shape, self.fill, self.array.dtype))
        self.read_stored_chunks(cells)
        return cells

    @property
    def fill(self) -> Any:
        """As of any `ChunkedArray`; version 2 may leave it open."""
        fill = self.array.fill_value
        return np.zeros((), self.array.dtype)[()] if fill is None else fill

    def write_chunk(self, coordinates: tuple[int, ...], values: Array) -> None:
        """Replace one chunk whole."""
        stored = values.reshape(self.chunk_sizes(coordinates))
        if self.opaque is not None:
            stored = stored.view(self.array.dtype)
        with zarr_write_errors(self.name):
            self.array[self.chunk_slices(coordinates)] = stored

    def stored_keys(self) -> Iterator[str]:
        """The names of all chunks that are stored; the others hold the fill value."""
        if self.folder is not None:
            with read_errors(self.name):
                yield from _iter_chunk_files(self.folder)
            return
        from zarr.core.sync import collect_aiterator

        prefix = self._store_key("")
        with zarr_errors(self.name):
            keys = collect_aiterator(self.array.store.list_prefix(prefix))
        yield from filter(is_chunk_key, (key[len(prefix) :] for key in keys))

    def _store_key(self, key: str) -> str:
        return f"{self.place.member}/{key}" if self.place.member else key

    def iter_stored_chunks(self) -> Iterator[tuple[int, ...]]:
        """As of any `ChunkedArray`, in no order."""
        counts = self.chunk_counts
        for key in self.stored_keys():
            names = key.removeprefix("c").replace(".", "/").strip("/")
            if not names and counts:  # a file where the folder of all chunks belongs
                continue
            at = tuple(map(int, names.split("/"))) if counts else ()
            within = len(at) == len(counts) and all(map(operator.lt, at, counts))
            if within and self.chunk_key(at) == key:
                yield at

    def read_encoded(self, key: str) -> bytes | None:
        """A chunk as it is stored, or None where it is not."""
        from zarr.core.buffer import default_buffer_prototype
        from zarr.core.sync import sync

        with zarr_errors(self.name):
            buffer = sync(self.array.store.get(self._store_key(key), default_buffer_prototype()))
        return None if buffer is None else bytes(buffer.to_bytes())

    def _check_file(self, path: str) -> None:
        size = file_size(path, "a chunk", self.name)
        root = os.path.realpath(str(self.array.store.root))
        if size is None:
            return
        is_inside = os.path.realpath(path).startswith(root + os.sep)
        check_no_link(is_inside, "the folder of a chunk is a link", self.name)
        check_packed_size(size, size, self._stored_limit, self.name)
        # Of an empty shard the library would make the fill value.
        check_content(size > 0, "a chunk is empty", self.name)


# Digits of a chunk's place on one axis.
MAX_DIGITS = 19


def is_chunk_key(name: str) -> bool:
    """Whether a file of an array is a chunk: c/0/1, 0.1, 0/1, c.

    >>> is_chunk_key("c/0/12"), is_chunk_key("3.0"), is_chunk_key("zarr.json")
    (True, True, False)
    """
    parts = name.replace(".", "/").split("/")
    numbers = parts[parts[0] == "c" :]
    return name == "c" or all(len(part) <= MAX_DIGITS and part.isdecimal() for part in numbers)


def _iter_chunk_files(folder: str, prefix: str = "") -> Iterator[str]:
    """The chunk files below a folder, links never followed."""
    try:
        entries = list(os.scandir(os.path.join(folder, prefix)))
    except FileNotFoundError:
        return
    for entry in entries:
        name = prefix + entry.name
        if is_chunk_key(name):
            is_folder = entry.is_dir(follow_symlinks=False)
            yield from _iter_chunk_files(folder, f"{name}/") if is_folder else (name,)


def _element_dtype(array: Any, opaque: Any, name: str) -> DType:
    stored = array.dtype
    fits = stored.kind not in "OT" and stored.names is None
    where = f"{name}: {sanitize(str(stored), 60)}"
    problem = "the array holds objects or records, and gscli reads numbers and text of fixed length"
    check_rule(fits, problem, where, kind=DtypeRefused)
    if stored.type is np.void:
        return element_dtype(stored, opaque, name)
    return check_dtype_supported(stored, name).newbyteorder("=")


def open_zarr_array(
    place: ZarrPath, limit: int = 1 << 62, opaque: DType | None = None, writable: bool = False
) -> ZarrArray:
    """The array at a place; a chunk may have `limit` bytes.

    Raises CannotRead, ContentRefused, DtypeRefused, LimitRefused.
    """
    node = open_node(place, limit, writable=writable)
    if not hasattr(node, "chunks"):
        problem = f"{place.name} is a group of arrays, not an array"
        raise CannotRead(problem, hint=f"gscli show {quote_word(place.path)}")
    return ZarrArray(node, place, limit, opaque)


def open_node(place: ZarrPath, limit: int = 0, *, writable: bool = False) -> Any:
    """The array or group at a place, as the zarr package has it; `limit`: bytes of a chunk."""
    zarr = import_extra("zarr", "zarr")
    check_member(place)
    if place.version is not None or is_repository(place.path):
        from gscli.files.stores.icechunk_store import open_session_store

        store = open_session_store(place)
    elif os.path.isdir(place.path):
        check_folder(place)
        store = zarr.storage.LocalStore(place.path, read_only=not writable)
    else:
        store = _zip_store(place, limit)
    with zarr_errors(place.name):
        return zarr.open(store=store, path=place.member, mode="r+" if writable else "r")


def _zip_store(place: ZarrPath, limit: int) -> Any:
    from gscli.files.stores.zip_store import CheckedZipStore

    content = open_content(place.path, 0)
    with zarr_errors(place.name):
        if content.read_prefix(2) != b"PK":
            content.close()
            where = f"{place.name}: no folder, no .zip"
            raise ContentRefused(f"{place.name} is not a Zarr store", where=where)
        return CheckedZipStore(content, limit)


# Kinds of elements that a stream takes as they are.
NUMBERS = "biufc"


def zarr_source(array: Array | None) -> ZarrArray | None:
    """The Zarr store that an array stands for; None for any other array."""
    return array.source if is_lazy(array) and isinstance(array.source, ZarrArray) else None


def as_lazy_array(value: Any, name: str, limit: int) -> Array | None:
    """What stands for an array of the zarr or dask package; None for any other value.

    Nothing is read. `name` is what messages call it; a chunk may have `limit` bytes. Raises
    ContentRefused and LimitRefused.
    """
    zarr, dask = sys.modules.get("zarr"), sys.modules.get("dask.array")
    if zarr is not None and isinstance(value, zarr.Array) and value.dtype.kind in NUMBERS:
        place = ZarrPath(str(getattr(value.store, "root", name)), value.path)
        return LazyArray.of(ZarrArray(value, place, limit))
    if dask is not None and isinstance(value, dask.Array) and value.dtype.kind in NUMBERS:
        return LazyArray.of(ChunkedDaskArray(value, name, limit))
    return None
