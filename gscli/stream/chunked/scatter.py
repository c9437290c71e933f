"""Scatter from store to store: touched chunks meet their updates, all others are copied encoded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from gscli.base.arrays import Array, Indices
from gscli.disk.clone import share_blocks
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
    for name in METADATA:
        content = source.read_encoded(name)
        if content is not None:
            with zarr_write_errors(source.name), open(os.path.join(folder, name), "wb") as file:
                file.write(content)
    return open_zarr_array(ZarrPath(folder), opaque=source.opaque, writable=True)


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
    """Copy one chunk as it is stored, whole or not at all; the bytes of its cells."""
    with zarr_write_errors(source.name), replace_chunk_file(os.path.join(folder, key)) as file:
        if source.folder is None:
            file.write(source.read_encoded(key) or b"")
        else:
            _copy_chunk_file(source, os.path.join(source.folder, key), file)
    return source.chunk_bytes


def _copy_chunk_file(source: ZarrArray, path: str, target: BinaryIO) -> None:
    """Blocks are shared where the system can do that."""
    file_size(path, "a chunk", f"{source.name}: {path}"[:200])
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        if not share_blocks(file.fileno(), target.fileno()):
            shutil.copyfileobj(file, target, COPIED)
