"""Scatter from store to store: touched chunks meet their updates, all others are copied encoded."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import closing

from gscli.base import ContentRefused
from gscli.base.arrays import Array, Indices
from gscli.disk.clone import share_blocks
from gscli.disk.mapped import open_file
from gscli.disk.uncached import UNCACHED_FROM, copy
from gscli.files.stores.zarr_place import METADATA, Place, writing
from gscli.files.stores.zarr_store import Store, open_store
from gscli.layout import Layout
from gscli.plan.plan import ValidatedPlan
from gscli.stream.chunked.grid import Coordinates, Grid, Piece
from gscli.stream.scatter import Dealing, Updates, records_of, updated


def twin(source: Store, folder: str) -> Store:
    """An array in a new folder with the metadata of another, and no chunk yet."""
    for name in METADATA:
        content = source.encoded(name)
        if content is not None:
            with writing(source.name), open(os.path.join(folder, name), "wb") as file:
                file.write(content)
    opaque = source.dtype if source.array.dtype.kind == "V" else None
    return open_store(Place(folder), 1 << 62, opaque, writable=True)


def scatter_by_chunk(
    plan: ValidatedPlan,
    source: Store,
    write: Callable[[Coordinates, Array], None],
    grid: Grid,
    updates: Callable[[Indices], Array],
    folder: str | None,
) -> Iterator[int]:
    """Change every touched chunk; yields the bytes of each when `write` has taken it."""
    dealing = Dealing(updates, plan.layout.form.run, grid.capacity, folder)
    records = records_of(plan).renumbered(grid.numbered)
    for part in dealing.by_block(records, 0, grid.owners * grid.capacity, touched=True):
        for piece in grid.pieces(part.first // grid.capacity):
            block = source.read(piece.coordinates)
            write(piece.coordinates, changed(plan.layout, grid, piece, block, part.updates))
            yield block.nbytes


def changed(layout: Layout, grid: Grid, piece: Piece, block: Array, updates: Updates) -> Array:
    """A chunk after the updates of its owner; `block` is overwritten."""

    def here() -> Iterator[tuple[Indices, Array]]:
        for numbers, values in updates():
            yield grid.within(numbers, piece), grid.columns(values, piece)

    return updated(layout, block, here, piece.run)


def copy_untouched(
    source: Store, folder: str, do: Callable[..., None] = lambda call, *given: call(*given)
) -> Iterator[int]:
    """Have `do` copy every stored chunk that `folder` does not have yet.

    Yields the bytes of the cells of each.
    """
    for key in source.keys():  # noqa: SIM118  no mapping
        if not os.path.lexists(os.path.join(folder, key)):
            do(copy_chunk, source, key, folder)
            yield source.chunk_bytes


def copy_chunk(source: Store, key: str, folder: str) -> int:
    """Copy one chunk as it is stored, whole or not at all; the bytes of its cells."""
    path = os.path.join(folder, key)
    partial = f"{path}.{os.urandom(4).hex()}.partial"
    with writing(source.name):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(partial, "wb", buffering=0) as file:
            if source.folder is None:
                file.write(source.encoded(key) or b"")
            else:
                own = os.path.join(source.folder, key)
                _copy(source, own, file.fileno())
        os.replace(partial, path)
    return source.chunk_bytes


def _copy(source: Store, path: str, target: int) -> None:
    """Blocks are shared where the system can do that, else copied past its cache."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise ContentRefused("a chunk is a link or no file", where=f"{source.name}: {path}"[:200])
    with closing(open_file(path, os.O_RDONLY | os.O_NOFOLLOW)) as file:
        if not share_blocks(file.descriptor, target):
            copy(file, target, direct=source.nbytes >= UNCACHED_FROM)
