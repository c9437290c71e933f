"""`gscli show FILE[::NAME]…`.

List what a file holds, or print a tensor.

A file with several tensors is listed: name, type, shape, bytes. FILE::NAME prints one of
them; so does a file that holds only one. - is standard input.

\b
Examples:
  gscli show weights.safetensors
  gscli show weights.safetensors::embedding --slice 0:3,: --precision 3
  gscli show data.npz --stat --json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

from gscli.base import UsageError
from gscli.base.words import safe, show_shape
from gscli.cli.building import files_argument, tool
from gscli.cli.options import Settings, SharedOption, print_document, view_options

if TYPE_CHECKING:
    from gscli.files import Loaded
    from gscli.files.request import Member
    from gscli.files.stores.icechunk_store import Commit

DRAWING = (
    "json", "dtype", "max_bytes", "full", "rows", "edge", "slice", "precision", "svg", "theme",
    "plain", "quiet", "color", "palette", "width", "debug",
)  # fmt: skip
COMMITS_SHOWN = 20
"""Versions of an Icechunk repository that are listed, the newest first."""
STATISTICS = "one line: min and max with their places, mean, counts of nan, inf and zero"


@tool("show", *DRAWING)
def show(
    words: Annotated[Sequence[str], files_argument("FILE[::NAME]...", "what to look at")],
    stat: Annotated[bool, SharedOption(STATISTICS)] = False,
    *,
    settings: Settings,
) -> int:
    from gscli import files

    if settings.svg is not None and len(words) > 1:
        raise UsageError("one SVG shows one tensor", where=f"{len(words)} files")
    limit = settings.max_bytes
    for number, text in enumerate(words):
        listed = _list_several(text, limit)
        if len(words) > 1 and settings.json is None and not settings.quiet:
            titled = listed is None and not stat  # a picture bears its own name
            sys.stdout.write("\n" * bool(number) + ("" if titled else f"{safe(text)}\n"))
        if listed is None:
            drawn = not (stat or settings.plain or settings.json or settings.dtype)
            loaded = files.load(
                text, name="tensor", dtype=settings.dtype, empty_dtype="int64", max_bytes=limit,
                leave=drawn,
            )  # fmt: skip
            _print_tensor(loaded, settings, statistics_only=stat)
        elif stat:
            _print_member_statistics(text, listed, settings)
        else:
            _print_members(text, listed, settings)
    return 0


def _list_several(text: str, limit: int | None) -> list[Member] | None:
    """The members of a container of several tensors named without `::`; None for anything else."""
    from gscli import files

    members = files.list_members(text, max_bytes=limit)
    alone = members is not None and len(members) == 1
    return None if alone and not _list_commits(text) and not _is_model(text) else members


def _list_commits(path: str) -> list[Commit]:
    """The newest versions of an Icechunk repository; none for anything else."""
    from gscli.files.request import STORES, suffix_of

    if suffix_of(path) not in STORES:
        return []
    from gscli.files.stores.zarr_place import is_repository, place_of

    if not is_repository(place_of(path).path):
        return []
    from gscli.files.stores.icechunk_store import history

    return history(path, COMMITS_SHOWN)


def _is_model(text: str) -> bool:
    """Whether an ONNX model is named, which has nodes besides tensors."""
    return text.lower().endswith(".onnx")


def _print_members(text: str, members: Sequence[Member], settings: Settings) -> None:
    """A line per member: name, type, shape, bytes; then the versions or nodes that there are."""
    commits, node_table, nodes = _list_commits(text), "", dict[str, object]()
    if _is_model(text):
        from gscli.cli.call.nodes import model_nodes

        node_table, nodes["nodes"] = model_nodes(text, settings.max_bytes)
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
    sys.stdout.write(node_table)


def _print_member_statistics(text: str, members: Sequence[Member], settings: Settings) -> None:
    """The statistics of every member, a line each."""
    from gscli import files

    width = max((len(safe(member.name)) for member in members), default=0)
    for member in members:
        name = f"{text}::{member.name}"
        loaded = files.load(name, dtype=settings.dtype, max_bytes=settings.max_bytes)
        label = {"name": member.name} if settings.json is not None else {}
        line = _format_statistics(loaded, settings, label)
        sys.stdout.write(("" if label else f"{safe(member.name):<{width}}  ") + line)


def _format_statistics(
    loaded: Loaded, settings: Settings, label: Mapping[str, object] = MappingProxyType({})
) -> str:
    """One line: the sentence, or the document with --json, its label first."""
    from gscli.files.statistics import statistics

    summary = statistics(loaded.array)
    if settings.json is None:
        return f"{summary.text()}\n"
    return json.dumps({**label, **summary.to_dict()}) + "\n"


def _print_tensor(loaded: Loaded, settings: Settings, *, statistics_only: bool) -> None:
    """All is drawn before a byte is written: the file may have become another one meanwhile."""
    from gscli.cli.call.pictures import save_text
    from gscli.disk import mapped
    from gscli.files.formats.jsonarray import dump_json

    drawing = not statistics_only and settings.json is None
    if statistics_only:
        shown = _format_statistics(loaded, settings)
    elif settings.json is not None:
        shown = json.dumps(dump_json(loaded.array)) + "\n"
    else:
        shown = _render_tensor(loaded, settings)
    figure = _render_svg(loaded, settings) if drawing and settings.svg is not None else ""
    mapped.check_unchanged(loaded.array)
    if settings.svg is not None and drawing:
        save_text(settings.svg, figure)
    if not drawing or (not settings.quiet and settings.svg != "-"):
        sys.stdout.write(shown)


def _render_tensor(loaded: Loaded, settings: Settings) -> str:
    from gscli.views.lines import render
    from gscli.views.terminal.tensor import tensor_picture, tensor_words

    options = view_options(settings)
    if settings.plain:
        return tensor_words(loaded.origin, loaded.array, options)
    return render(tensor_picture(loaded.origin, loaded.array, options), options)


def _render_svg(loaded: Loaded, settings: Settings) -> str:
    from gscli.views.figure import to_svg
    from gscli.views.terminal.tensor import tensor_picture

    picture = tensor_picture(loaded.origin, loaded.array, view_options(settings, colored=True))
    return to_svg(picture, loaded.origin, theme=settings.theme)
