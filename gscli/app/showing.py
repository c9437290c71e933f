"""`gscli show` and `gscli convert`: tensors as they lie in files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

import numpy as np

from gscli import files
from gscli.app.drawing import save_text, view_options
from gscli.errors import DtypeRefused
from gscli.families import show_shape
from gscli.formats.dtypes import dtype_named
from gscli.inputs import byte_limit
from gscli.options import Settings
from gscli.statistics import statistics
from gscli.text import safe


def show_files(texts: Sequence[str], settings: Settings, *, statistics_only: bool) -> int:
    """Each file in turn: its members where it has several, its tensor otherwise."""
    limit = byte_limit(settings.max_bytes) or files.MAX_BYTES
    for number, text in enumerate(texts):
        if number and settings.json is None:
            sys.stdout.write("\n")
        listed = _several(text, limit)
        if listed is not None:
            _list(text, listed, settings)
        else:
            loaded = files.load(text, name="tensor", dtype=settings.dtype, max_bytes=limit)
            _show(loaded, settings, statistics_only=statistics_only)
    return 0


def _several(text: str, limit: int) -> list[files.Member] | None:
    """The members of a container of several tensors named without `::`; None for anything else."""
    source = files.Source.parse(text)
    if source.kind != "file" or source.member is not None or not os.path.isfile(source.path):  # noqa: PTH113  names may be odd
        return None
    found = files.members(source.path, max_bytes=limit)
    return None if len(found) == 1 else found


def _list(text: str, members: Sequence[files.Member], settings: Settings) -> None:
    if settings.json is not None:
        rows = [
            {"name": m.name, "dtype": m.dtype, "shape": list(m.shape), "bytes": m.bytes}
            for m in members
        ]
        sys.stdout.write(json.dumps({"file": text, "members": rows}) + "\n")
        return
    names = [safe(member.name) for member in members]
    width = max(map(len, names), default=0)
    for name, member in zip(names, members, strict=True):
        shape = show_shape(member.shape)
        sys.stdout.write(f"{name:<{width}}  {member.dtype} {shape}  {member.bytes:,} bytes\n")
    if not members:
        sys.stdout.write("no tensors\n")


def _show(loaded: files.Loaded, settings: Settings, *, statistics_only: bool) -> None:
    if statistics_only:
        found = statistics(loaded.array)
        line = found.text() if settings.json is None else json.dumps(found.to_dict())
        sys.stdout.write(line + "\n")
        return
    if settings.json is not None:
        sys.stdout.write(json.dumps(files.dump_json(loaded.array)) + "\n")
        return
    from gscli.views.lines import render, to_svg  # noqa: PLC0415
    from gscli.views.tensor import tensor_picture  # noqa: PLC0415

    if settings.svg is not None:
        options = view_options(settings, colored=True)
        picture = tensor_picture(loaded.origin, loaded.array, options)
        save_text(settings.svg, to_svg(picture, options, loaded.origin))
    if not settings.quiet:
        options = view_options(settings)
        picture = tensor_picture(loaded.origin, loaded.array, options)
        sys.stdout.write(render(picture, options))


def convert_file(source: str, target: str, settings: Settings, *, cast: bool) -> int:
    """Copy a tensor into another format; a cast that changes a value needs `--cast`."""
    limit = byte_limit(settings.max_bytes) or files.MAX_BYTES
    loaded = files.load(
        source, name="tensor", max_bytes=limit, dtype=None if cast else settings.dtype
    )
    array = loaded.array
    if cast and settings.dtype is not None:
        wanted = dtype_named(settings.dtype)
        if (array.dtype.kind == "U") != (wanted.kind == "U"):
            raise DtypeRefused(
                "strings and numbers do not turn into each other",
                where=f"{loaded.origin} is {array.dtype} and {wanted} is wanted",
            )
        with np.errstate(all="ignore"):
            array = array.astype(wanted)
    files.save(target, array, format=settings.format, max_bytes=limit)
    return 0
