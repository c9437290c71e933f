"""HDF5 files (.h5, .hdf5): datasets by path, `file.h5::/group/data`.

A file may point into other files (external links and storage, virtual datasets) and name filters
that would have to be loaded; none of that is followed, in reading or in writing. Only datasets
reached by hard links count.

The HDF5 library trusts a file: of a chunk that is stored shorter than it is declared, memory that
is not the file's becomes values, and a compressed one may inflate to any size. So each stored
chunk is measured here before the library reads any.
"""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from gscli.base import CannotWrite, ContentRefused, DtypeRefused
from gscli.base.arrays import (
    Array,
    check_dtype_supported,
    check_value_bits,
    is_narrow_dtype,
    to_native,
)
from gscli.base.words import sanitize
from gscli.files.content import Content, check_limit
from gscli.files.extras import import_extra, library_errors
from gscli.files.formats.npy import element_dtype
from gscli.files.request import (
    NAMES_LIMIT,
    Arrays,
    Member,
    Output,
    ReadRequest,
    ReadResult,
    choose_member,
    group_error,
)

SIGNATURE = b"\x89HDF\r\n\x1a\n"
GZIP, SHUFFLE, FLETCHER = 1, 2, 3
"""Filters whose result can be bounded before the library makes it."""

CHUNK_ALLOWED = 64 << 20
"""Bytes that a chunk may always have, so that a small dataset with room to grow can be changed."""

CHUNKS_PER_DATASET = 8
"""Times the size of a dataset that its chunks, cut off at its borders, may hold together."""

_CHECKSUM = 4
"""Bytes that fletcher32 adds to a chunk."""


def read(content: Content, request: ReadRequest) -> ReadResult:
    """One dataset, named or the only one."""
    with _open_hdf5(content) as file:
        datasets = _find_datasets(file, content.name)
        key = request.member if request.member is None else request.member.strip("/")
        name = choose_member(datasets, key, content.name)
        where = _place(content.name, name)
        dataset = datasets[name]
        _check_dataset(dataset, where, request.limit)
        dtype = element_dtype(dataset.dtype, request.options.dtype, where)
        _check_stored_size(dataset, content.size, where)
        array = np.zeros(dataset.shape, dataset.dtype)  # what is never written has no value
        if array.size:
            dataset.read_direct(array)
    array = array.view(dtype) if dtype.kind == "V" else to_native(array)
    check_value_bits(array, where)
    return ReadResult(array)


def listing(content: Content, _request: ReadRequest) -> list[Member]:
    """Every dataset by its path."""
    with _open_hdf5(content) as file:
        datasets = _find_datasets(file, content.name).items()
        return [Member.of(dataset, name) for name, dataset in datasets]


def write(out: Output, arrays: Arrays, _suffix: str) -> None:
    """Write a new file with one dataset each."""
    buffer = io.BytesIO()
    with _hdf5_errors("the file"), import_extra("h5py", "hdf5").File(buffer, "w") as file:
        for name, array in arrays.items():
            _check_path(name)
            _create_dataset(file, name, array)
    out(buffer.getbuffer())


def write_into(out: Output, old: Content, name: str, array: Array) -> None:
    """Write the old file with one dataset changed or added; everything else stays."""
    _check_path(name)
    buffer = io.BytesIO(bytes(old.read(0, old.size)))
    path, library = name.strip("/"), import_extra("h5py", "hdf5")
    where = _place(old.name, path)
    with _hdf5_errors(old.name), library.File(buffer, "r+") as file:
        _check_parents(file, path, old.name)
        same: Any = _find_datasets(file, old.name).get(path)
        form = None if same is None else (same.dtype, same.shape)
        # It may have one name alone.
        if form == (array.dtype, array.shape) and _read_object_info(same).nlink == 1:
            _check_dataset(same, where, array.nbytes)
            _check_stored_size(same, old.size, where)
            same[...] = array
        else:
            link = file.get(path, getlink=True)
            if isinstance(link, library.HardLink) and isinstance(file[path], library.Group):
                raise group_error(where)
            if same is not None:
                _list_chunks(same)  # deleting them by a damaged index would crash the library
            if link is not None:
                del file[path]  # the name alone: nothing is ever written through a link
            _create_dataset(file, path, array)
    out(buffer.getbuffer())


def _place(file: str, path: str) -> str:
    return f"{file}::/{sanitize(path, 60)}"


def _read_object_info(item: Any) -> Any:
    """Where an object lies and how many names it has. `h5o.get_info` would also add up the index
    of its chunks, and where that is damaged, HDF5 2.0 crashes.
    """
    return import_extra("h5py", "hdf5").h5g.get_objinfo(item.id)


def _check_parents(file: Any, path: str, name: str) -> None:
    """Groups on the way to a new dataset must be the file's own: links may lead to other files."""
    library = import_extra("h5py", "hdf5")
    for group in accumulate(path.split("/")[:-1], "{}/{}".format):
        link = file.get(group, getlink=True)
        if link is not None and not isinstance(link, library.HardLink):
            problem = f"{sanitize(group, 60)} is a link, and gscli does not write through links"
            hint = "name a place that is in this file itself"
            raise ContentRefused(problem, where=_place(name, path), hint=hint)


def _check_path(name: str) -> None:
    if not set(name.split("/")) - {"", "."}:
        raise CannotWrite(
            f"{sanitize(name, 60) or '/'} is the root, not the path of a dataset",
            hint="FILE.h5::NAME, FILE.h5::GROUP/NAME",
        )


def _create_dataset(file: Any, name: str, array: Array) -> None:
    if array.dtype.kind == "U" or array.dtype.name == "float8_e5m2":
        raise DtypeRefused(f"HDF5 files cannot hold {array.dtype.name}", where=sanitize(name, 60))
    stored = array.view(f"V{array.dtype.itemsize}") if is_narrow_dtype(array.dtype) else array
    file.create_dataset(name, data=stored)


@contextmanager
def _open_hdf5(content: Content) -> Iterator[Any]:
    if content.read_prefix(len(SIGNATURE)) != SIGNATURE:
        raise ContentRefused(f"{content.name} is not an HDF5 file", where=content.name)
    library = import_extra("h5py", "hdf5")
    errors = _hdf5_errors(content.name)
    with content.open_file() as stream, errors, library.File(stream, "r") as file:
        yield file


def _hdf5_errors(name: str) -> AbstractContextManager[None]:
    """Whatever h5py raises on a damaged file, as ContentRefused."""
    unsound = partial(ContentRefused, f"{name} is not a sound HDF5 file")
    return library_errors(lambda error: unsound(where=f"{name}: {sanitize(str(error), 120)}"))


def _find_datasets(file: Any, where: str) -> dict[str, Any]:
    """Every dataset that hard links lead to, each once; no other link is followed.

    Group by group, for the library looks each object up by its path, all the way from the root.
    """
    library = import_extra("h5py", "hdf5")
    datasets, seen, length = dict[str, Any](), set[Any](), 0
    waiting = [("", file)]
    while waiting:
        path, item = waiting.pop()
        address = _read_object_info(item).objno
        if address in seen:
            continue
        seen.add(address)
        if isinstance(item, library.Dataset):
            datasets[path] = item
            continue
        for name in sorted(item, reverse=True):
            inner_path = f"{path}/{name}" if path else name
            length += len(inner_path)
            check_limit(length, NAMES_LIMIT, where, "the text of all names", unit="characters")
            if isinstance(item.get(name, getlink=True), library.HardLink):
                inner = item[name]
                if isinstance(inner, (library.Dataset, library.Group)):
                    waiting.append((inner_path, inner))
    return datasets


def _check_dataset(dataset: Any, where: str, limit: int) -> None:
    """Judge a dataset before a byte of it is read."""
    if dataset.is_virtual or dataset.external:
        problem = "the values lie in another file, which gscli does not follow"
        raise ContentRefused(problem, where=where)
    if dataset.shape is None:
        raise ContentRefused("the dataset is empty, without a shape", where=where)
    filters = _filter_ids(dataset)
    strange = sorted({*filters} - {GZIP, SHUFFLE, FLETCHER})
    if strange or len({*filters}) < len(filters):
        problem = f"the dataset needs filter {', '.join(map(str, strange or filters))}"
        known = "gzip, shuffle and fletcher32, once each"
        raise ContentRefused(problem, where=where, valid=known)
    if not (dataset.dtype.type is np.void and dataset.dtype.names is None):
        check_dtype_supported(dataset.dtype, where)
    check_limit(dataset.nbytes, limit, where, "the dataset")
    chunk = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
    check_limit(chunk, max(limit, CHUNK_ALLOWED), where, "a chunk")


def _filter_ids(dataset: Any) -> list[int]:
    """Numbers of the filters of each chunk, in the order of writing."""
    plan = dataset.id.get_create_plist()
    return [plan.get_filter(number)[0] for number in range(plan.get_nfilters())]


def _check_stored_size(dataset: Any, size: int, where: str) -> None:
    """What is stored must be as long as what is declared, in a file of `size` bytes."""
    if dataset.chunks is None:
        stored = dataset.id.get_storage_size()
        if stored and stored != dataset.nbytes:
            raise _size_error(stored, dataset.nbytes, where)
        return
    expected = math.prod(dataset.chunks) * dataset.dtype.itemsize
    filters, chunks = _filter_ids(dataset), _list_chunks(dataset)
    room = CHUNKS_PER_DATASET * max(dataset.nbytes, CHUNK_ALLOWED)
    check_limit(expected * len(chunks), room, where, "what the chunks hold", is_fixed=True)
    for chunk in chunks:
        if chunk.size > size:
            raise _size_error(chunk.size, expected, where)
        length = chunk.size
        if filters:
            mask, stored = dataset.id.read_direct_chunk(chunk.chunk_offset)
            length = _unfiltered_size(stored, filters, mask, expected)
        if length != expected:
            raise _size_error(length, expected, where)


def _list_chunks(dataset: Any) -> list[Any]:
    """What a dataset stores of chunks; an index that is damaged is refused here."""
    chunks = list[Any]()
    if dataset.chunks is not None:
        dataset.id.chunk_iter(chunks.append)
    return chunks


def _unfiltered_size(stored: bytes, filters: list[int], mask: int, expected: int) -> int:
    """How long a chunk is when its filters are taken back, or another number than expected."""
    for number in reversed(range(len(filters))):
        if mask >> number & 1:  # this chunk was stored without it
            continue
        if filters[number] == FLETCHER:
            stored = stored[:-_CHECKSUM] if len(stored) >= _CHECKSUM else b""
        elif filters[number] == GZIP:
            inflater = zlib.decompressobj()
            stored = inflater.decompress(stored, expected + _CHECKSUM + 1)
            if not inflater.eof:
                return len(stored) if len(stored) > expected else 0
    return len(stored)


def _size_error(stored: int, declared: int, where: str) -> ContentRefused:
    problem = "what is stored is not as long as what is declared"
    return ContentRefused(problem, where=f"{where}: {stored:,} bytes", valid=f"{declared:,} bytes")
