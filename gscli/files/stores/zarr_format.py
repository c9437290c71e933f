"""Zarr stores (.zarr folders, .zip archives of one, Icechunk repositories): arrays by path.

`store.zarr` is the one array of a store, `store.zarr::group/name` one of several. Writing makes a
folder of version 3, whole or not at all.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from gscli.base import CannotWrite, UsageError, check_rule
from gscli.base.arrays import Array, DType, is_narrow_dtype
from gscli.base.words import format_count, format_shape
from gscli.files.content import Content, check_kind, check_limit, import_extra
from gscli.files.request import LoadedInput, Member, ReadRequest, choose_member, lost_arrays_error
from gscli.files.stores.folder import open_folder
from gscli.files.stores.zarr_place import (
    ZarrPath,
    check_folder,
    check_folders_in,
    check_member,
    is_array_or_group,
    is_repository,
    parse_location,
    zarr_errors,
    zarr_write_errors,
)
from gscli.files.stores.zarr_store import NUMBERS, ZarrArray, open_node, open_zarr_array

# Bytes of a chunk where nobody asks for others: one is read and changed in a few milliseconds.
CHUNK_BYTES = 4 << 20

# Bytes of an array from which it is not held in memory but put into a temporary file.
MIN_SPILL_BYTES = 64 << 20

# Arrays of a store that are listed.
MEMBER_LIMIT = 10_000


# Sizes of chunks, or None for such as read well.
Chunks: TypeAlias = Sequence[int] | None


def open_store_content(path: str) -> Content:
    """A store that is there, as the readers see an input: a name, whose files the library reads.

    Raises CannotRead.
    """
    place = parse_location(path)
    if "://" not in path and not os.path.isdir(place.path):
        if not place.path.lower().endswith(".zip"):
            import_extra("zarr", "zarr")
        if not os.path.isfile(place.path):
            check_kind(place.path)
    return Content(path)


def read(content: Content, request: ReadRequest) -> LoadedInput:
    """One array, named or the only one, in memory; a large one in a mapped file."""
    store = open_member(content, request)
    if store.nbytes < MIN_SPILL_BYTES or store.dtype.kind not in NUMBERS:
        return LoadedInput(store.read_all())
    check_limit(store.nbytes, request.limit, store.name, "the array")
    return LoadedInput(store.spill_to_disk())


def open_member(content: Content, request: ReadRequest) -> ZarrArray:
    """One array, named or the only one, of which nothing is read yet."""
    place = parse_location(content.name, request.member)
    if request.member is None:
        place = place._replace(member=choose_member(_find_arrays(place), None, content.name))
    return open_zarr_array(place, request.limit, request.dtype)


def listing(content: Content, _request: ReadRequest) -> list[Member]:
    """Every array by its path; the one at the root has no name."""
    arrays = _find_arrays(parse_location(content.name))
    return [Member.of(array, name) for name, array in arrays.items()]


def _find_arrays(place: ZarrPath) -> dict[str, Any]:
    """The array at a place, or those of the group and of the groups in it by path; links are not
    followed.
    """
    arrays, root = dict[str, Any](), open_node(place)
    if hasattr(root, "chunks"):
        return {"": root}
    waiting = [("", root)]
    with zarr_errors(place.name):
        while waiting and len(arrays) < MEMBER_LIMIT:
            prefix, node = waiting.pop(0)
            check_folders_in(os.path.join(place.path, place.member, prefix), place)
            for name, member in sorted(node.members()):
                path = f"{prefix}{name}"
                if os.path.islink(os.path.join(place.path, path)):
                    continue
                if hasattr(member, "chunks"):
                    arrays[path] = member
                else:
                    waiting.append((f"{path}/", member))
    return arrays


REPOSITORY_SUFFIX = ".icechunk"


def save(path: str, member: str | None, array: Array, *, chunks: Chunks = None) -> None:
    """Write one array as a store of its own, or as an array of a group. Raises CannotWrite."""
    place = parse_location(path, member)
    if place.path.lower().endswith(REPOSITORY_SUFFIX) and not is_repository(place.path):
        _create_repository(place, array, chunks)
        return
    check_writable(place)
    if member and os.path.isdir(place.path) and os.listdir(place.path):
        _add_array(place, array, chunks)
        return
    with open_folder(place.path, is_array_or_group) as hidden:
        _write_new(ZarrPath(hidden, place.member), array, chunks)


def _create_repository(place: ZarrPath, array: Array, chunks: Chunks) -> None:
    """A new Icechunk repository in a folder, whose first commit has the array."""
    from gscli.files.stores.icechunk_store import BRANCH, create_repository

    where = f"{place.name}: a new repository is a folder NAME{REPOSITORY_SUFFIX}"
    check_rule(place.version is None, f"cannot write {place.name}", where, kind=CannotWrite)
    with open_folder(place.path, lambda _: False) as hidden:
        session = create_repository(hidden).writable_session(BRANCH)
        _write_new(ZarrPath(hidden, place.member), array, chunks, store=session.store)
        with zarr_write_errors(place.name):
            session.commit(f"gscli wrote {place.member or 'the array'}")


def check_writable(place: ZarrPath) -> None:
    """Folders are written; archives and repositories are not."""
    if place.version is not None or is_repository(place.path):
        why = "an Icechunk repository is changed by --in-place alone"
    elif not place.path.lower().endswith(".zarr"):
        why = "a Zarr store is written as a folder NAME.zarr"
    else:
        return
    raise CannotWrite(f"cannot write {place.name}", where=f"{place.name}: {why}")


def _add_array(place: ZarrPath, array: Array, chunks: Chunks) -> None:
    """Put an array into a group that is there, beside the arrays that it has."""
    check_member(place)
    check_folder(place)
    folder = os.path.join(place.path, place.member)
    if is_array_or_group(folder) and not hasattr(open_node(place), "chunks"):
        raise lost_arrays_error(place.name)
    group = open_node(place._replace(member=""))
    if hasattr(group, "chunks"):
        raise CannotWrite(f"{place.path} is an array, not a group", where=place.name)
    is_open = group.metadata.consolidated_metadata is None
    problem = f"{place.path} has consolidated metadata, which would not tell of {place.name}"
    check_rule(is_open, problem, place.name, kind=CannotWrite, hint="write a new store")
    parents, version = place.member.rpartition("/")[0], group.metadata.zarr_format
    if parents:
        with zarr_write_errors(place.name):
            zarr = import_extra("zarr", "zarr")
            zarr.open_group(place.path, path=parents, mode="a", zarr_format=version)
    with open_folder(folder, is_array_or_group) as hidden:
        _write_new(ZarrPath(hidden), array, chunks, version)


def _write_new(
    place: ZarrPath, array: Array, chunks: Chunks, version: int = 3, store: Any = None
) -> None:
    target = create_zarr_array(
        place, array.dtype, array.shape, chunks, version=version, store=store
    )
    for at in np.ndindex(*target.chunk_counts):
        target.write_chunk(at, np.ascontiguousarray(array[target.chunk_slices(at)]))


def create_zarr_array(
    place: ZarrPath,
    dtype: DType,
    shape: Sequence[int],
    chunks: Chunks = None,
    *,
    version: int = 3,
    like: ZarrArray | None = None,
    store: Any = None,
) -> ZarrArray:
    """A new array without values, of zarr's own codecs or of those of a store that it is `like`.

    `store`: zarr's own, where it is not the folder itself.
    """
    zarr = import_extra("zarr", "zarr")
    sizes = choose_chunk_shape(chunks, dtype, shape)
    stored = np.dtype(f"V{dtype.itemsize}") if is_narrow_dtype(dtype) else dtype
    codecs: Any = "auto"
    if like is not None:
        codecs, version = like.array.compressors or None, like.array.metadata.zarr_format
    with zarr_write_errors(place.name):
        store = zarr.storage.LocalStore(place.path) if store is None else store
        if place.member:
            zarr.open_group(store, mode="a", zarr_format=version)
        array = zarr.create_array(
            store, name=place.member or None, shape=tuple(shape),
            chunks=sizes, dtype=stored, compressors=codecs, zarr_format=version,
        )  # fmt: skip
    return ZarrArray(array, place, 1 << 62, dtype)


def choose_chunk_shape(chunks: Chunks, dtype: DType, shape: Sequence[int]) -> tuple[int, ...]:
    """Sizes of a chunk: those asked for (-1 is the whole axis), or rows of a few megabytes.

    >>> (
    ...     choose_chunk_shape(None, np.dtype("float32"), (1_000_000, 64)),
    ...     choose_chunk_shape((2, -1), None, (4, 3)),
    ... )
    ((16384, 64), (2, 3))
    """
    if chunks is None:
        sizes, room = list(shape), max(CHUNK_BYTES // dtype.itemsize, 1)
        for axis, size in enumerate(sizes):
            rest = math.prod(sizes[axis + 1 :])
            sizes[axis] = max(min(size, room // max(rest, 1)), 1)
            if sizes[axis] > 1 or rest == 0:
                break
        return tuple(max(size, 1) for size in sizes)
    axes = format_count(len(shape), "axis", "axes")
    problem = f"--chunks has {format_count(len(chunks), 'size')}, the array has {axes}"
    where, legal = f"shape {format_shape(shape)}", "one size for each axis, -1 for the whole axis"
    check_rule(len(chunks) == len(shape), problem, where, kind=UsageError, valid=legal)
    whole = [size if step == -1 else step for step, size in zip(chunks, shape, strict=True)]
    return tuple(max(size, 1) for size in whole)
