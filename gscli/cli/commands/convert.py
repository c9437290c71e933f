"""`gscli convert IN OUT`.

Copy a tensor from one format to another, without losing a value unless --cast is given.

OUT is replaced as a whole; with ::NAME the other tensors of the file are kept. A table (.csv
.tsv .txt) has two axes: [N] comes back as [N,1]. With --json: {"file", "dtype", "shape"} of what
was written.

\b
Examples:
  gscli convert input_0.pb input_0.npy
  gscli convert table.csv weights.npz::table --dtype float32
  gscli convert table.npy table.zarr --chunks 4096x64
  gscli convert data.npy - -f json
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from gscli.base import ContentRefused, DtypeRefused, GscliError
from gscli.cli.building import complete_file, tool
from gscli.cli.options import (
    JSON_OPTION,
    SHARED_OPTIONS,
    Settings,
    argument,
    check_places,
    make_value_error,
    option,
    print_json,
)

if TYPE_CHECKING:
    import numpy as np

    from gscli.base.arrays import Array

DTYPE = SHARED_OPTIONS["dtype"]._replace(help="element type of the result")


def parse_chunks(text: str) -> list[int]:
    """`--chunks`: a size for each axis.

    >>> parse_chunks("4096x-1")
    [4096, -1]
    """
    with suppress(ValueError):
        sizes = [int(part) for part in text.replace(",", "x").split("x")]
        if all(size >= 1 or size == -1 for size in sizes):
            return sizes
    valid = "e.g. 4096x64; -1 is the whole axis"
    raise make_value_error("chunks", text, "a size for each axis", valid)


@tool("convert", "format", JSON_OPTION, DTYPE, "max_bytes")
def convert(
    source: str = argument("IN", "FILE[::NAME], -, or inline", complete_file),
    target: str = argument("OUT", "FILE[::NAME] or -", complete_file),
    cast: bool = option("allow values to change", needs="dtype", why="--cast needs --dtype"),
    chunks: Sequence[int] | None = option(
        "chunks of a .zarr, e.g. 4096x64", "SIZES", kind=parse_chunks
    ),
    *,
    settings: Settings,
) -> int:
    from gscli import files
    from gscli.base.arrays import dtype_name, parse_dtype
    from gscli.files.request import TEXT_SUFFIXES, file_suffix
    from gscli.views.progress_bar import ProgressBar

    check_places(settings, {"OUT": target})
    files.check_replaced(target, [source])
    load = partial(files.load, source, name="tensor", **settings.reading)
    try:
        loaded = load(opaque_only=cast)
    except ContentRefused as error:
        if settings.dtype is not None and not cast and _can_be_read_again(source):
            with suppress(GscliError):
                _cast_lossy(load(opaque_only=True).array, parse_dtype(settings.dtype), "")
                error.hint = "--cast lets values change"
        raise
    array = loaded.array
    if cast and settings.dtype is not None:
        array = _cast_lossy(array, parse_dtype(settings.dtype), loaded.origin)
    settings.check_result_size(array.nbytes, loaded.origin)
    is_text = {f".{settings.format}", file_suffix(target)}.intersection(TEXT_SUFFIXES)
    with ProgressBar("writing", None if is_text else array.nbytes, unit="bytes") as bar:
        files.save(
            target, array, format=settings.format, max_bytes=settings.max_bytes, chunks=chunks,
            progress=bar.advance,
        )  # fmt: skip
    if settings.json is not None:
        print_json({"file": target, "dtype": dtype_name(array.dtype), "shape": list(array.shape)})
    return 0


def _can_be_read_again(word: str) -> bool:
    """Whether a source gives its content twice: a file or what is typed, but no pipe.

    >>> _can_be_read_again("[1.5]"), _can_be_read_again("-")
    (True, False)
    """
    from gscli.files.request import Source

    source = Source.parse(word)
    is_special = os.path.exists(source.path) and not os.path.isfile(source.path)
    return source.kind != "stdin" and not is_special


def _cast_lossy(array: Array, dtype: np.dtype[Any], origin: str) -> Array:
    """The array in another type; DtypeRefused between text and numbers."""
    from gscli.base.arrays import cast_lossy, dtype_name, is_across_text

    if is_across_text(array.dtype, dtype):
        where = f"{origin} is {dtype_name(array.dtype)}, wanted {dtype_name(dtype)}"
        raise DtypeRefused("text and numbers do not turn into each other", where=where)
    return cast_lossy(array, dtype)
