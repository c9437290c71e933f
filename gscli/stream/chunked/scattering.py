"""Scatter from store to store: touched chunks meet their updates, all others are copied encoded."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator

from gscli.base.arrays import Array, Indices
from gscli.base.errors import ContentRefused
from gscli.files.zarr_place import METADATA, Place, writing
from gscli.files.zarr_store import Store, open_store
from gscli.layout.layout import Layout
from gscli.plan.plan import JudgedPlan
from gscli.stream.chunked.grid import Coordinates, Grid, Piece
from gscli.stream.writing import Dealing, Updates, records_of, updated


def twin(source: Store, folder: str) -> Store:
    """An array in a new folder with the metadata of another, and no chunk yet."""
    for name in METADATA:
        content = source.encoded(name)
        if content is not None:
            with writing(source.name), open(os.path.join(folder, name), "wb") as file:  # noqa: PTH118, PTH123
                file.write(content)
    opaque = source.dtype if source.array.dtype.kind == "V" else None
    return open_store(Place(folder), 1 << 62, opaque, writable=True)


def scatter_by_chunk(
    plan: JudgedPlan,
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


def copy_untouched(source: Store, folder: str) -> Iterator[int]:
    """Copy every stored chunk that `folder` does not have yet; yields the bytes of each."""
    for key in source.keys():  # noqa: SIM118  no mapping
        if not os.path.lexists(os.path.join(folder, key)):  # noqa: PTH118  names of chunks
            yield copy_chunk(source, key, folder)


def copy_chunk(source: Store, key: str, folder: str) -> int:
    """Copy one chunk as it is stored, whole or not at all; its bytes."""
    path = os.path.join(folder, key)  # noqa: PTH118
    partial = f"{path}.{os.urandom(4).hex()}.partial"
    with writing(source.name):
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        count = _copied(source, key, partial)
        os.replace(partial, path)  # noqa: PTH105
    return count


def _copied(source: Store, key: str, path: str) -> int:
    if source.folder is None:
        content = source.encoded(key) or b""
        with open(path, "wb") as file:  # noqa: PTH123
            return file.write(content)
    own = os.path.join(source.folder, key)  # noqa: PTH118
    status = os.lstat(own)
    if not stat.S_ISREG(status.st_mode):
        raise ContentRefused("a chunk is a link or no file", where=f"{source.name}: {key}"[:200])
    shutil.copyfile(own, path)
    return status.st_size
