"""`gscli show` and `gscli convert`: tensors as they lie in files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gscli import files
from gscli.base import DtypeRefused, UsageError
from gscli.base.arrays import Array, dtype_label, dtype_named
from gscli.base.words import safe, show_shape
from gscli.cli.options import Settings, print_document, view_options
from gscli.cli.work.pictures import save_text
from gscli.disk import mapped
from gscli.files.formats.jsonarray import dump_json
from gscli.files.request import STORES, Member, Source, suffix_of
from gscli.files.statistics import statistics

if TYPE_CHECKING:
    from gscli.files.stores.icechunk_store import Commit

COMMITS_SHOWN = 20
"""Versions of an Icechunk repository that are listed, the newest first."""


def show_files(texts: Sequence[str], settings: Settings, *, statistics_only: bool) -> int:
    """Each file in turn: its members where it has several, its tensor otherwise."""
    if settings.svg is not None and len(texts) > 1:
        raise UsageError("one SVG shows one tensor", where=f"{len(texts)} files")
    limit = settings.max_bytes
    for number, text in enumerate(texts):
        listed = members_of(text, limit)
        if len(texts) > 1 and settings.json is None and not settings.quiet:
            titled = listed is None and not statistics_only  # a picture bears its own name
            sys.stdout.write("\n" * bool(number) + ("" if titled else f"{safe(text)}\n"))
        if listed is None:
            drawn = not (statistics_only or settings.plain or settings.json or settings.dtype)
            loaded = files.load(
                text, name="tensor", dtype=settings.dtype, empty_dtype="int64", max_bytes=limit,
                leave=drawn,
            )  # fmt: skip
            _show(loaded, settings, statistics_only=statistics_only)
        elif statistics_only:
            _tell_members(text, listed, settings)
        else:
            _list(text, listed, settings)
    return 0


def members_of(text: str, limit: int | None) -> list[Member] | None:
    """The members of a container of several tensors named without `::`; None for anything else."""
    found = held_by(text, limit)
    if found is None:
        return None
    lone = len(found) == 1 and not commits_of(text) and not is_model(text)
    return None if lone else found


def held_by(text: str, limit: int | None) -> list[Member] | None:
    """The tensors of a file or store named without `::`; None for anything else."""
    source = Source.parse(text)
    if source.kind != "file" or source.member is not None:
        return None
    if suffix_of(source.path) not in STORES and not os.path.isfile(source.path):
        return None
    return files.members(source.path, max_bytes=limit)


def commits_of(path: str) -> list[Commit]:
    """The newest versions of an Icechunk repository; none for anything else."""
    if suffix_of(path) not in STORES:
        return []
    from gscli.files.stores.zarr_place import is_repository, place_of

    if not is_repository(place_of(path).path):
        return []
    from gscli.files.stores.icechunk_store import history

    return history(path, COMMITS_SHOWN)


def is_model(text: str) -> bool:
    """Whether an ONNX model is named, which has nodes besides tensors."""
    return text.lower().endswith(".onnx")


def _list(text: str, members: Sequence[Member], settings: Settings) -> None:
    """A line per member: name, type, shape, bytes; then the versions or nodes that there are."""
    commits, told, nodes = commits_of(text), "", dict[str, object]()
    if is_model(text):
        from gscli.cli.work.node_listing import model_nodes

        told, nodes["nodes"] = model_nodes(text, settings.max_bytes)
    if settings.json is not None:
        rows = [
            {"name": m.name, "dtype": m.dtype, "shape": list(m.shape), "bytes": m.bytes}
            for m in members
        ]
        history = {"history": [commit._asdict() for commit in commits]} if commits else {}
        document = {"file": text, "members": rows, **history, **nodes}
        print_document(document)
        return
    if settings.quiet:
        return
    table = [(safe(m.name), f"{m.dtype} {show_shape(m.shape)}", f"{m.bytes:,}") for m in members]
    widths = [max(map(len, column), default=0) for column in zip(*table, strict=True)]
    for name, kind, size in table:
        sys.stdout.write(f"{name:<{widths[0]}}  {kind:<{widths[1]}}  {size:>{widths[2]}} bytes\n")
    if not members:
        sys.stdout.write("no tensors\n")
    for commit in commits:
        sys.stdout.write(f"@{commit.snapshot}  {commit.written}  {safe(commit.message)}\n")
    sys.stdout.write(told)


def _tell_members(text: str, members: Sequence[Member], settings: Settings) -> None:
    """The statistics of every member, a line each."""
    width = max((len(safe(member.name)) for member in members), default=0)
    for member in members:
        name = f"{text}::{member.name}"
        loaded = files.load(name, dtype=settings.dtype, max_bytes=settings.max_bytes)
        found = statistics(loaded.array)
        if settings.json is not None:
            line = json.dumps({"name": member.name, **found.to_dict()})
        else:
            line = f"{safe(member.name):<{width}}  {found.text()}"
        sys.stdout.write(line + "\n")


def _show(loaded: files.Loaded, settings: Settings, *, statistics_only: bool) -> None:
    """All is drawn before a byte is written: the file may have become another one meanwhile."""
    drawing = not statistics_only and settings.json is None
    if statistics_only:
        found = statistics(loaded.array)
        shown = (found.text() if settings.json is None else json.dumps(found.to_dict())) + "\n"
    elif settings.json is not None:
        shown = json.dumps(dump_json(loaded.array)) + "\n"
    else:
        shown = _drawn(loaded, settings)
    figure = _figure(loaded, settings) if drawing and settings.svg is not None else ""
    mapped.check_unchanged(loaded.array)
    if settings.svg is not None and drawing:
        save_text(settings.svg, figure)
    if not drawing or (not settings.quiet and settings.svg != "-"):
        sys.stdout.write(shown)


def _drawn(loaded: files.Loaded, settings: Settings) -> str:
    from gscli.views.lines import render
    from gscli.views.terminal.tensor import tensor_picture, tensor_words

    options = view_options(settings)
    if settings.plain:
        return tensor_words(loaded.origin, loaded.array, options)
    return render(tensor_picture(loaded.origin, loaded.array, options), options)


def _figure(loaded: files.Loaded, settings: Settings) -> str:
    from gscli.views.figure import to_svg
    from gscli.views.terminal.tensor import tensor_picture

    picture = tensor_picture(loaded.origin, loaded.array, view_options(settings, colored=True))
    return to_svg(picture, loaded.origin, theme=settings.theme)


def convert_file(
    source: str, target: str, settings: Settings, *, cast: bool, chunks: str | None = None
) -> int:
    """Copy a tensor into another format; a conversion that changes a value needs `--cast`."""
    sizes = None if chunks is None else parsed_chunks(chunks)
    if cast and settings.dtype is None:
        raise UsageError("--cast needs --dtype", hint="without them nothing is converted")
    if target == "-" and settings.json is not None:
        raise UsageError("stdout takes one result", where="OUT and --json")
    limit = settings.max_bytes
    loaded = files.load(
        source,
        name="tensor",
        empty_dtype="int64",
        max_bytes=limit,
        dtype=settings.dtype,
        opaque_only=cast,
    )
    array = loaded.array
    if cast and settings.dtype is not None:
        array = _cast(array, dtype_named(settings.dtype), loaded.origin)
    files.save(target, array, format=settings.format, max_bytes=limit, chunks=sizes)
    if settings.json is not None:
        written = {"dtype": dtype_label(array.dtype), "shape": list(array.shape)}
        print_document({"file": target, **written})
    return 0


def parsed_chunks(text: str) -> list[int]:
    """`--chunks`: a size for each axis.

    >>> parsed_chunks("4096x-1")
    [4096, -1]
    """
    try:
        sizes = [int(part) for part in text.replace(",", "x").split("x")]
    except ValueError:
        sizes = [0]
    if any(size < 1 and size != -1 for size in sizes):
        raise UsageError(
            "chunks takes a size for each axis", where=f"--chunks {text}"[:100],
            valid="e.g. 4096x64; -1 is the whole axis",
        )  # fmt: skip
    return sizes


def _cast(array: Array, wanted: np.dtype[Any], origin: str) -> Array:
    """NumPy's conversion: cuts fractions, wraps integers, drops imaginary parts."""
    if (array.dtype.kind in "US") != (wanted.kind in "US"):
        raise DtypeRefused(
            "text and numbers do not turn into each other",
            where=f"{origin} is {dtype_label(array.dtype)}, wanted {dtype_label(wanted)}",
        )
    real = array.real if array.dtype.kind == "c" and wanted.kind != "c" else array
    with np.errstate(all="ignore"):
        return np.asarray(real.astype(wanted))
