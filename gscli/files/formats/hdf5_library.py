"""The HDF5 library, for `gscli.files.isolated`: reads and changes files that may be anyone's.

A file may point into other files (external links and storage, virtual datasets) and name filters
that would have to be loaded; none of that is followed, in reading or in writing. Only datasets
reached by hard links count.

The library trusts a file: of a chunk that is stored shorter than it is declared, memory that
is not the file's becomes values, and a compressed one may inflate to any size. So each stored
chunk is measured here before the library reads any.
"""

from __future__ import annotations

import io
import math
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from itertools import accumulate
from typing import Any, BinaryIO

import numpy as np

from gscli.base import CannotWrite, ContentRefused, check_rule, translate_errors
from gscli.base.arrays import Array, check_dtype_supported
from gscli.base.words import sanitize
from gscli.files.content import check_content, check_limit, import_extra
from gscli.files.isolated import PIECE, Message, limit_memory
from gscli.files.request import NAMES_LIMIT, Member, choose_member, lost_arrays_error

# Filters whose result can be bounded before the library makes it.
GZIP, SHUFFLE, FLETCHER = 1, 2, 3

# Bytes that a chunk may always have, so that a small dataset with room to grow can be changed.
CHUNK_ALLOWED = 64 << 20

# Times the size of a dataset that its chunks, cut off at its borders, may hold together.
CHUNKS_PER_DATASET = 8

# Bytes that fletcher32 adds to a chunk.
_CHECKSUM = 4


def answer(action: str, file: BinaryIO, name: str, **question: Any) -> Iterator[Message]:
    """What a file, which people know by `name`, holds or becomes; whatever h5py raises as ours."""
    with hdf5_errors(name):
        yield from _ACTIONS[action](file, name, **question)


def hdf5_errors(name: str) -> AbstractContextManager[None]:
    """Whatever h5py raises on a damaged file, as ContentRefused."""
    unsound = partial(ContentRefused, f"{name} is not a sound HDF5 file")
    return translate_errors(lambda error: unsound(where=f"{name}: {sanitize(str(error), 120)}"))


def _list(file: BinaryIO, name: str) -> Iterator[Message]:
    with import_extra("h5py", "hdf5").File(file, "r") as root:
        for path, dataset in _find_datasets(root, name).items():
            yield Member.of(dataset, path)._asdict(), b""


def _read(file: BinaryIO, name: str, member: str | None, limit: int) -> Iterator[Message]:
    """The type and shape of one dataset, named or the only one, then its bytes, piece by piece."""
    with import_extra("h5py", "hdf5").File(file, "r") as root:
        datasets = _find_datasets(root, name)
        path = choose_member(datasets, member and member.strip("/"), name)
        where, dataset = _format_place(name, path), datasets[path]
        _check_dataset(dataset, where, limit)
        limit_memory(3 * max(PIECE, _count_chunk_bytes(dataset), dataset.nbytes))
        _check_stored_size(dataset, os.fstat(file.fileno()).st_size, where)
        yield {"dtype": dataset.dtype.str, "shape": dataset.shape, "where": where}, b""
        for rows in _split_rows(dataset):
            shape = dataset.shape and (rows.stop - rows.start, *dataset.shape[1:])
            piece = np.zeros(shape, dataset.dtype)  # what is never written has no value
            dataset.read_direct(piece, rows if shape else None)
            yield {}, piece.reshape(-1).view(np.uint8).data


def _split_rows(dataset: Any) -> Iterator[slice]:
    """Rows that make pieces of about `PIECE` bytes and of whole chunks."""
    if not dataset.size:
        return
    count = dataset.shape[0] if dataset.shape else 1
    step = dataset.chunks[0] if dataset.chunks else 1
    step *= max(1, PIECE * count // (dataset.nbytes * step))
    yield from (slice(start, min(start + step, count)) for start in range(0, count, step))


def _change(
    file: BinaryIO, name: str, member: str, dtype: str, shape: list[int], payload: bytes
) -> Iterator[Message]:
    """The bytes of the file with one dataset changed or added; everything else stays."""
    old = file.read()
    limit_memory(3 * (len(old) + len(payload) + CHUNK_ALLOWED))
    array = np.ndarray(tuple(shape), dtype, payload)
    buffer = io.BytesIO(old)
    with import_extra("h5py", "hdf5").File(buffer, "r+") as root:
        _put_dataset(root, member, array, name, len(old))
    yield {}, buffer.getbuffer()


def _put_dataset(root: Any, path: str, array: Array, name: str, size: int) -> None:
    library, where = import_extra("h5py", "hdf5"), _format_place(name, path)
    _check_parents(root, path, name)
    same: Any = _find_datasets(root, name).get(path)
    form = None if same is None else (same.dtype, same.shape)
    # It may have one name alone.
    if form == (array.dtype, array.shape) and _read_object_info(same).nlink == 1:
        _check_dataset(same, where, array.nbytes)
        _check_stored_size(same, size, where)
        same[...] = array
        return
    link = root.get(path, getlink=True)
    if isinstance(link, library.HardLink) and isinstance(root[path], library.Group):
        raise lost_arrays_error(where)
    if same is not None:
        _list_chunks(same)  # deleting them by a damaged index would crash the library
    if link is not None:
        del root[path]  # the name alone: nothing is ever written through a link
    root.create_dataset(path, data=array)


_ACTIONS: dict[str, Callable[..., Iterator[Message]]] = {
    "list": _list,
    "read": _read,
    "change": _change,
}


def _count_chunk_bytes(dataset: Any) -> int:
    return math.prod(dataset.chunks or ()) * int(dataset.dtype.itemsize)


def _format_place(file: str, path: str) -> str:
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
        shown, where = sanitize(group, 60), _format_place(name, path)
        is_own, hint = link is None or isinstance(link, library.HardLink), "name another place"
        problem = f"{shown} is a link, and gscli does not write through links"
        check_content(is_own, problem, where, hint=hint)
        is_group = link is None or isinstance(file[group], library.Group)
        check_rule(is_group, f"{shown} is an array, not a group", where, kind=CannotWrite)


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
    is_inside = not (dataset.is_virtual or dataset.external)
    check_content(is_inside, "the values lie in another file, which gscli does not follow", where)
    check_content(dataset.shape is not None, "the dataset is empty, without a shape", where)
    filters = _list_filter_ids(dataset)
    strange = sorted({*filters} - {GZIP, SHUFFLE, FLETCHER})
    problem = f"the dataset needs filter {', '.join(map(str, strange or filters))}"
    known, fits = "gzip, shuffle and fletcher32, once each", len({*filters}) == len(filters)
    check_content(fits and not strange, problem, where, valid=known)
    if not (dataset.dtype.type is np.void and dataset.dtype.names is None):
        check_dtype_supported(dataset.dtype, where)
    check_limit(dataset.nbytes, limit, where, "the dataset")
    check_limit(_count_chunk_bytes(dataset), max(limit, CHUNK_ALLOWED), where, "a chunk")


def _list_filter_ids(dataset: Any) -> list[int]:
    """Numbers of the filters of each chunk, in the order of writing."""
    plan = dataset.id.get_create_plist()
    return [plan.get_filter(number)[0] for number in range(plan.get_nfilters())]


def _check_stored_size(dataset: Any, size: int, where: str) -> None:
    """What is stored must be as long as what is declared, in a file of `size` bytes."""
    if dataset.chunks is None:
        stored = dataset.id.get_storage_size()
        _check_size(stored in (0, dataset.nbytes), stored, dataset.nbytes, where)
        return
    expected = _count_chunk_bytes(dataset)
    filters, chunks = _list_filter_ids(dataset), _list_chunks(dataset)
    room = CHUNKS_PER_DATASET * max(dataset.nbytes, CHUNK_ALLOWED)
    check_limit(expected * len(chunks), room, where, "what the chunks hold", hint="")
    for chunk in chunks:
        _check_size(chunk.size <= size, chunk.size, expected, where)
        length = chunk.size
        if filters:
            mask, stored = dataset.id.read_direct_chunk(chunk.chunk_offset)
            length = _measure_unfiltered(stored, filters, mask, expected)
        _check_size(length == expected, length, expected, where)


def _list_chunks(dataset: Any) -> list[Any]:
    """What a dataset stores of chunks; an index that is damaged is refused here."""
    chunks = list[Any]()
    if dataset.chunks is not None:
        dataset.id.chunk_iter(chunks.append)
    return chunks


def _measure_unfiltered(stored: bytes, filters: list[int], mask: int, expected: int) -> int:
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


def _check_size(holds: bool, stored: int, declared: int, where: str) -> None:
    problem = "what is stored is not as long as what is declared"
    check_content(holds, problem, f"{where}: {stored:,} bytes", valid=f"{declared:,} bytes")
