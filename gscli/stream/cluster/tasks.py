"""What workers do. Each task gets a packed plan and says what it did; run again, it does the same.

Of a plan, large files travel as names, stores as places. Shares are (numbers, values): rows counted
owner by owner (`ChunkGrid.number_by_row_group`), and what goes there.
"""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import TypeAlias

import numpy as np

from gscli.base import CannotRead, CannotWrite
from gscli.base.arrays import Array, DType, Indices
from gscli.base.records import Record
from gscli.base.words import sanitize
from gscli.disk import mapped
from gscli.disk.mapped import Stamp, open_regular_file
from gscli.files.stores.zarr_place import is_array_or_group
from gscli.files.stores.zarr_store import ZarrArray
from gscli.plan.findings import has_out_of_bounds
from gscli.plan.plan import Plan, ValidatedPlan
from gscli.stream.chunked.grid import ChunkedRows, ChunkGrid, Coordinates
from gscli.stream.chunked.scatter import copy_chunk, iter_untouched, scatter_by_chunk
from gscli.stream.scatter import split_by_number, update_records
from gscli.stream.to_file import make_update_reader, output_dtype

# Numbers, and the values that go there.
Bucket: TypeAlias = tuple[Array, ...]


class Shuffle(Record):
    """How rows are dealt out: the grid of their chunks, and how many owners make a group."""

    grid: ChunkGrid
    owners: int

    @property
    def bucket_count(self) -> int:
        """How many groups of owners there are."""
        return -(-self.grid.row_group_count // self.owners)

    def split(self, numbers: Indices, values: Array) -> list[Bucket]:
        """A share for each group, the entries of each in their order."""
        groups = numbers // (self.owners * self.grid.rows_per_chunk)
        return list(split_by_number(groups, self.bucket_count, numbers, values))


def is_range_out_of_bounds(content: bytes, first: int, last: int) -> bool:
    """Whether an index of some entries is outside its range."""
    return has_out_of_bounds(unpickle_plan(content), first, last)


def split_entries(content: bytes, lanes: slice, how: Shuffle) -> list[Bucket]:
    """The entries of some lanes: of a scatter with their updates, of a gather with their places."""
    plan = unpickle_plan(content)
    table = update_records(plan, lanes, how.grid.number_by_row_group).read_all()
    numbers, places = table["row"].copy(), table["place"].copy()
    if plan.layout.kind == "gather":
        return how.split(numbers, places)
    return how.split(numbers, make_update_reader(plan, output_dtype(plan))(places))


def scatter_chunks(
    shares: list[Bucket], content: bytes, how: Shuffle, source: ZarrArray, target: ZarrArray
) -> int:
    """Scatter: each touched chunk of a group read once, changed and written once."""
    layout, grid = unpickle_plan(content).layout, how.grid
    touched = (
        (piece, partial(iter, [(numbers, values)]))
        for owner, numbers, values in _iter_row_groups(shares, how)
        for piece in grid.chunks_of_row_group(owner)
    )
    return sum(scatter_by_chunk(layout, grid, source, touched, partial(_write_chunk, target)))


def gather_rows(
    shares: list[Bucket], content: bytes, how: Shuffle, source: ZarrArray, onward: Shuffle
) -> list[Bucket]:
    """Gather: each touched chunk of a group read once, its rows dealt out to those who write."""
    numbers, places = map(np.concatenate, zip(*shares, strict=True))
    rows = np.empty((places.size, unpickle_plan(content).layout.form.row_size), source.dtype)
    into = rows.view(np.uint8)
    ChunkedRows(source, how.grid, into.shape[1], keep=False).take_numbered(numbers, into)
    return onward.split(onward.grid.number_by_row_group(places), rows)


def write_result_chunks(
    shares: list[Bucket], content: bytes, group: int, onward: Shuffle, target: ZarrArray
) -> int:
    """Gather: the chunks of a group of the result, each written once."""
    plan, done, grid = unpickle_plan(content), 0, onward.grid
    here = {owner: bucket for owner, *bucket in _iter_row_groups(shares, onward)}
    first = group * onward.owners
    for owner in range(first, min(first + onward.owners, grid.row_group_count)):
        for piece in grid.chunks_of_row_group(owner):
            sizes = (int(np.prod(piece.rows, dtype=np.int64)), piece.row_size)
            block = np.full(sizes, plan.layout.fill_value, target.dtype)
            if owner in here:
                numbers, values = here[owner]
                block[grid.rows_in_chunk(numbers, piece)] = grid.select_columns(values, piece)
            _write_chunk(target, piece.coordinates, block)
            done += block.nbytes
    return done


def copy_chunks(source: ZarrArray, folder: str, keys: Sequence[str]) -> int:
    """Chunks that nobody touches, as they are stored."""
    done = 0
    for key in iter_untouched(keys, folder):
        with _check_store_exists(folder):
            done += copy_chunk(source, key, folder)
    return done


def _write_chunk(target: ZarrArray, coordinates: Coordinates, cells: Array) -> None:
    with _check_store_exists(target.folder):
        target.write_chunk(coordinates, cells)


@contextmanager
def _check_store_exists(folder: str | None) -> Iterator[None]:
    """Write to a store only as long as it is there: a client that gives up has removed it.

    A chunk that was in mid-work then would bring a part of the folder back, which goes, too.
    Raises CannotWrite.
    """
    assert folder is not None
    if not is_array_or_group(folder):
        raise CannotWrite("the run was given up", where=f"{sanitize(folder)} is gone")
    try:
        yield
    finally:
        if not is_array_or_group(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _iter_row_groups(shares: list[Bucket], how: Shuffle) -> Iterator[tuple[int, Indices, Array]]:
    """Each owner with its rows within a chunk and their values, in entry order."""
    numbers, values = map(np.concatenate, zip(*shares, strict=True))
    for owner, places, within in how.grid.iter_row_groups(numbers):
        yield owner, within, values[places]


SAME_NAMES = "workers must see inputs and output under the same names"


class FileReference(Record):
    """An array that a worker maps from a file of the same name and with the same content."""

    path: str
    stamp: Stamp
    offset: int
    dtype: DType
    shape: tuple[int, ...]

    def map_array(self) -> Array:
        """The array. CannotRead where the worker's file is not the client's."""
        file = open_regular_file(self.path)
        if file is None:
            path = sanitize(self.path)
            raise CannotRead(f"a worker cannot read {path}", where=path, hint=SAME_NAMES)
        if not file.stamp.is_same_content(self.stamp):
            raise CannotRead(f"{file.name} is another file for a worker", where=file.name)
        return mapped.map_file(file, self.dtype, self.shape, self.offset)


def pickle_plan(plan: Plan) -> bytes:
    """A plan without its judgment, and without the values that lie in files."""
    inputs = {name: to_file_reference(array) for name, array in plan.inputs.items()}
    return pickle.dumps((plan.layout, inputs))


def to_file_reference(array: Array) -> Array | FileReference:
    """The name of the file whose values an array has, or the array itself."""
    place = mapped.find_file(array)
    if place is None:
        return array
    file, offset = place
    if not os.fstat(file.descriptor).st_nlink:  # a temporary file, which no worker can open
        return array
    return FileReference(file.path, file.stamp, offset, array.dtype, array.shape)


@lru_cache(2)
def unpickle_plan(content: bytes) -> ValidatedPlan:
    """The plan again; it looks at no index before it is asked for some entries."""
    layout, inputs = pickle.loads(content)  # noqa: S301  made by `pickle_plan`, sent by the client
    for name, array in inputs.items():
        if isinstance(array, FileReference):
            inputs[name] = array.map_array()
    plan = ValidatedPlan(layout, inputs)
    plan.__dict__["in_bounds"] = (False,) * len(layout.column_axes)
    return plan
