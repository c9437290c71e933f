"""What workers do. Each task gets a packed plan and says what it did; run again, it does the same.

Shares are (numbers, values): rows counted owner by owner (`Grid.numbered`), and what goes there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from gscli.base import CannotWrite
from gscli.base.arrays import Array, Indices
from gscli.base.records import Record
from gscli.base.words import safe
from gscli.files.stores.zarr_place import is_array_or_group
from gscli.files.stores.zarr_store import Store
from gscli.plan.findings import any_bad
from gscli.stream.chunked.grid import Grid
from gscli.stream.chunked.scatter import changed, copy_chunk
from gscli.stream.cluster.packed_plans import unpacked
from gscli.stream.scatter import AHEAD, records_of, stable_argsort
from gscli.stream.to_file import output_dtype, updates_at

Dealt: TypeAlias = tuple[Indices, Array]


class Deal(Record):
    """How rows are dealt out: the grid of their chunks, and how many owners make a group."""

    grid: Grid
    owners: int

    @property
    def groups(self) -> int:
        """How many groups of owners there are."""
        return -(-self.grid.owners // self.owners)

    def out(self, numbers: Indices, values: Array) -> list[Dealt]:
        """A share for each group, the entries of each in their order."""
        groups = numbers // (self.owners * self.grid.capacity)
        order = stable_argsort(groups, self.groups)
        edges = np.searchsorted(groups[order], np.arange(self.groups + 1))
        numbers, values = numbers[order], values[order]
        return [(numbers[a:b], values[a:b]) for a, b in pairwise(edges)]


def judge(content: bytes, first: int, last: int) -> bool:
    """Whether an index of some entries is outside its range."""
    return any_bad(unpacked(content), first, last)


def deal(content: bytes, lanes: slice, how: Deal) -> list[Dealt]:
    """The entries of some lanes: of a scatter with their updates, of a gather with their places."""
    plan = unpacked(content)
    parts = [part for part in records_of(plan, lanes).chunks() if part[0].size]
    if not parts:
        return how.out(np.empty(0, np.int64), np.empty(0, np.int64))
    rows, places = (np.concatenate(part) for part in zip(*parts, strict=True))
    numbers = how.grid.numbered(rows)
    if plan.layout.kind == "gather":
        return how.out(numbers, places)
    return how.out(numbers, updates_at(plan, output_dtype(plan))(places))


def pick(shares: Sequence[Dealt], group: int) -> Dealt:
    """One share of several."""
    return shares[group]


def patch(content: bytes, shares: Sequence[Dealt], how: Deal, source: Store, target: Store) -> int:
    """Scatter: each touched chunk of a group read once, changed and written once."""
    layout, done = unpacked(content).layout, 0
    for owner, numbers, values in _by_owner(shares, how):
        for piece in how.grid.pieces(owner):
            count = max(AHEAD // max(layout.form.run, 1), 1)

            def updates(
                numbers: Indices = numbers, values: Array = values, count: int = count
            ) -> Iterator[Dealt]:
                for at in range(0, numbers.size, count):
                    yield numbers[at : at + count], values[at : at + count]

            block = source.read(piece.coordinates)
            with _while_wanted(target.folder):
                target.write(piece.coordinates, changed(layout, how.grid, piece, block, updates))
            done += block.nbytes
    return done


def fetch(
    content: bytes, shares: Sequence[Dealt], how: Deal, source: Store, onward: Deal
) -> list[Dealt]:
    """Gather: each touched chunk of a group read once, its rows dealt out to those who write."""
    run = unpacked(content).layout.form.run
    places = np.concatenate([values for _, values in shares])
    found = np.empty((places.size, run), source.dtype)
    done, ordered = 0, np.empty(places.size, np.int64)
    for owner, numbers, wanted in _by_owner(shares, how):
        here = np.arange(done, done + wanted.size)
        ordered[here], done = wanted, done + wanted.size
        for piece in how.grid.pieces(owner):
            block = source.read(piece.coordinates).reshape(-1, piece.run)
            cells = block.take(how.grid.within(numbers, piece), axis=0, mode="wrap")
            how.grid.put(found, here, piece, cells)
    return onward.out(onward.grid.numbered(ordered), found)


def place(content: bytes, shares: Sequence[Dealt], group: int, onward: Deal, target: Store) -> int:
    """Gather: the chunks of a group of the result, each written once."""
    plan, done, grid = unpacked(content), 0, onward.grid
    here = {owner: (numbers, values) for owner, numbers, values in _by_owner(shares, onward)}
    first = group * onward.owners
    for owner in range(first, min(first + onward.owners, grid.owners)):
        for piece in grid.pieces(owner):
            sizes = (int(np.prod(piece.rows, dtype=np.int64)), piece.run)
            block = np.full(sizes, plan.layout.fill, target.dtype)
            if owner in here:
                numbers, values = here[owner]
                block[grid.within(numbers, piece)] = grid.columns(values, piece)
            with _while_wanted(target.folder):
                target.write(piece.coordinates, block)
            done += block.nbytes
    return done


def copy(source: Store, folder: str, keys: Sequence[str]) -> int:
    """Chunks that nobody touches, as they are stored."""
    done = 0
    for key in keys:
        if not os.path.lexists(os.path.join(folder, key)):
            with _while_wanted(folder):
                done += copy_chunk(source, key, folder)
    return done


@contextmanager
def _while_wanted(folder: str | None) -> Iterator[None]:
    """Write to a store only as long as it is there: a client that gives up has removed it.

    A chunk that was in mid-work then would bring a part of the folder back, which goes, too.
    Raises CannotWrite.
    """
    assert folder is not None
    if not is_array_or_group(folder):
        raise CannotWrite("the run was given up", where=f"{safe(folder)} is gone")
    try:
        yield
    finally:
        if not is_array_or_group(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _by_owner(shares: Sequence[Dealt], how: Deal) -> Iterator[tuple[int, Indices, Array]]:
    """Each owner with its rows within a chunk and their values, in entry order."""
    numbers = np.concatenate([share[0] for share in shares])
    if not numbers.size:
        return
    values = np.concatenate([share[1] for share in shares if share[0].size])
    capacity = how.grid.capacity
    base = int(numbers.min()) // capacity
    order = stable_argsort(numbers // capacity - base, how.owners)
    numbers, values = numbers[order], values[order]
    for owner, here in how.grid.by_owner(numbers):
        yield owner, numbers[here] - owner * capacity, values[here]
