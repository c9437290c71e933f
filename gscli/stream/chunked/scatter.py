"""Scatter from store to store: touched chunks meet their updates, all others are copied encoded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator

from gscli.base.arrays import Array, Indices
from gscli.disk.clone import share_blocks
from gscli.disk.mapped import read_errors
from gscli.files.stores.chunks import replace_chunk_file
from gscli.files.stores.zarr_place import METADATA, ZarrPath, file_size, zarr_write_errors
from gscli.files.stores.zarr_store import ZarrArray, open_zarr_array
from gscli.layout import Layout
from gscli.stream.chunked.grid import ChunkColumns, ChunkGrid, Coordinates
from gscli.stream.scatter import Updates, apply_updates

# Bytes of a chunk that are copied at a time.
COPIED = 4 << 20


def create_like(source: ZarrArray, folder: str) -> ZarrArray:
    """An array in a new folder with the metadata of another, and no chunk yet."""
    place = ZarrPath(folder)
    for name in METADATA:
        content = source.read_encoded(name)
        if content is not None:
            with zarr_write_errors(place.name), open(os.path.join(folder, name), "wb") as file:
                file.write(content)
    return open_zarr_array(place, opaque=source.opaque, writable=True)


def scatter_by_chunk(
    layout: Layout,
    grid: ChunkGrid,
    source: ZarrArray,
    touched: Iterable[tuple[ChunkColumns, Updates]],
    write: Callable[[Coordinates, Array], None],
) -> Iterator[int]:
    """Change every touched chunk by the updates of its owner; yields the bytes of each when `write`
    has taken it.
    """
    for piece, updates in touched:

        def here(
            piece: ChunkColumns = piece, updates: Updates = updates
        ) -> Iterator[tuple[Indices, Array]]:
            for numbers, values in updates():
                yield grid.rows_in_chunk(numbers, piece), grid.select_columns(values, piece)

        block = source.read_chunk(piece.coordinates)
        write(piece.coordinates, apply_updates(layout, block, here, piece.row_size))
        yield block.nbytes


def iter_untouched(keys: Iterable[str], folder: str) -> Iterator[str]:
    """Those of some stored chunks that `folder` does not have yet."""
    return (key for key in keys if not os.path.lexists(os.path.join(folder, key)))


def copy_chunk(source: ZarrArray, key: str, folder: str) -> int:
    """Copy one chunk as it is stored, whole or not at all; the bytes of its cells.

    Blocks are shared where the system can do that.
    """
    target = os.path.join(folder, key)
    with zarr_write_errors(ZarrPath(folder).name), replace_chunk_file(target) as file:
        if source.folder is None:
            file.write(source.read_encoded(key) or b"")
        else:
            path = os.path.join(source.folder, key)
            with read_errors(source.name):
                file_size(path, "a chunk", f"{source.name}: {path}"[:200])
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            with open(descriptor, "rb") as stored:
                if not share_blocks(stored.fileno(), file.fileno()):
                    shutil.copyfileobj(stored, file, COPIED)
    return source.chunk_bytes
