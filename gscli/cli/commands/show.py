"""`gscli show FILE[::NAME]…`.

List what a file holds, or print a tensor.

A file with several tensors, or with names above its columns, is listed: name, type, shape,
bytes. FILE::NAME prints one of them; so does a file that holds only one. - is standard input.
What --slice leaves has as many axes, in --json too: 0,: is of shape [1,N].

\b
Examples:
  gscli show weights.safetensors
  gscli show weights.safetensors::embedding --slice 0:3,: --precision 3
  gscli show data.npz --stat --json
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from gscli.base import DtypeRefused, GscliError
from gscli.base.words import format_columns, format_shape, join_lines, sanitize
from gscli.cli.building import complete_file, tool
from gscli.cli.options import (
    PICTURE_OPTIONS,
    SHARED_OPTIONS,
    Settings,
    argument,
    detect_screen,
    make_view_options,
    option,
    print_report,
    refuse_flags,
)

if TYPE_CHECKING:
    from gscli.base.arrays import Array
    from gscli.files import LoadedInput
    from gscli.files.content import Content
    from gscli.files.request import Member
    from gscli.files.stores.icechunk_store import Commit

SHOW_OPTIONS = (
    "json", SHARED_OPTIONS["dtype"]._replace(help="element type to show, converted without loss"),
    "max_bytes", "full", "rows", "edge", SHARED_OPTIONS["slice"]._replace(excludes=()),
    "precision", "svg", "theme", "plain", "quiet", "color", "palette", "width", "debug",
)  # fmt: skip

# Versions of an Icechunk repository that are listed, the newest first.
COMMITS_SHOWN = 20


@tool("show", *SHOW_OPTIONS)
def show(
    words: Sequence[str] = argument("FILE[::NAME]...", "what to look at", complete_file),
    stat: bool = option(
        "one line: min, max and mean of finite cells, counts of nan, inf and zero",
        excludes=("svg", "full", "rows", "edge", "precision"),
        why="--stat prints a line and draws nothing",
    ),
    *,
    settings: Settings,
) -> int:  # fmt: skip
    from gscli.cli.call import check_outputs
    from gscli.cli.messages import report_error
    from gscli.frameworks import check_single_stdin

    check_single_stdin(words)
    settings = settings._replace(quiet=settings.quiet and not stat)  # no picture is printed
    check_outputs(settings._replace(slice=None))  # which is of what is printed, in any form
    refuse_flags(settings.list_flags("svg") * (len(words) > 1), "one SVG shows one tensor")
    codes, has_heads = list[int](), len(words) > 1 and settings.json is None
    for number, text in enumerate(words):
        blank = "\n" * (has_heads and number > len(codes))
        try:
            _show_file(text, settings, blank, f"{sanitize(text)}\n" * has_heads, stat=stat)
        except GscliError as error:
            if len(words) == 1:
                raise
            side = detect_screen(sys.stderr, settings.color, settings.width)
            codes.append(report_error(error, side, as_json=settings.json is not None))
    return next(iter(codes), 0)


def _show_file(text: str, settings: Settings, blank: str, title: str, *, stat: bool) -> None:
    """One of the files, set off by a blank line; a picture bears its own name, for its title."""
    from gscli import files
    from gscli.files.request import member_word

    limit = settings.max_bytes or files.MAX_BYTES
    stdin = files.read_standard_input(None, limit) if text.strip() == "-" else None
    listed = _list_several(text, settings.max_bytes, stdin)
    if stat:
        _print_statistics(text, listed, settings, stdin, blank + title)
    elif listed is None:
        drawn = not (settings.plain or settings.json or settings.dtype)
        loaded = files.load(text, name="tensor", leave=drawn, stdin=stdin, **settings.reading)
        _print_tensor(loaded, settings, blank)
    else:
        flags = settings.list_flags(*PICTURE_OPTIONS, "svg", "dtype")
        hint = f"name one of them: {member_word(text, listed[0].name)}, or " if listed else ""
        refuse_flags(flags, f"the tensors of {sanitize(text)} are listed, not drawn", hint)
        _print_members(text, listed, settings, blank + title)


def _list_several(text: str, limit: int | None, stdin: Content | None) -> list[Member] | None:
    """The members of a container of several tensors named without `::`; None for anything else."""
    from gscli import files
    from gscli.files.request import NAMED_COLUMNS, file_suffix

    members = files.list_members(text, max_bytes=limit, stdin=stdin)
    if members is None or len(members) != 1 or stdin is not None:
        return members
    # Below the header of a table is no tensor without a name; a model has nodes besides tensors.
    is_headed = file_suffix(text) in NAMED_COLUMNS and bool(members[0].name)
    return members if is_headed or file_suffix(text) == ".onnx" or _list_commits(text) else None


def _list_commits(path: str) -> list[Commit]:
    """The newest versions of an Icechunk repository; none for anything else."""
    from gscli.files.request import STORES, file_suffix
    from gscli.files.stores.zarr_place import is_repository, parse_location

    if file_suffix(path) not in STORES or not is_repository(parse_location(path).path):
        return []
    from gscli.files.stores.icechunk_store import list_commits

    return list_commits(path, COMMITS_SHOWN)


def _print_members(text: str, members: Sequence[Member], settings: Settings, head: str) -> None:
    """A line per member: name, type, shape, bytes; then the versions or nodes that there are."""
    from gscli.files.request import file_suffix

    commits, node_table, nodes = _list_commits(text), "", dict[str, object]()
    if file_suffix(text) == ".onnx":
        from gscli.cli.call.nodes import describe_nodes
        from gscli.lab.models import OnnxModel

        node_table, nodes["nodes"] = describe_nodes(OnnxModel.read(text, settings.max_bytes))
    rows = [member._asdict() for member in members]
    history = {"history": [commit._asdict() for commit in commits]} if commits else {}
    wide = max((len(f"{member.bytes:,}") for member in members), default=0)
    lines = format_columns([
        (sanitize(m.name), f"{m.dtype} {format_shape(m.shape)}", f"{m.bytes:>{wide},} bytes")
        for m in members
    ])  # fmt: skip
    lines += [f"@{c.snapshot}  {c.written}  {sanitize(c.message)}" for c in commits]
    table = join_lines(lines if members else ["no tensors", *lines])
    document = {"file": text, "members": rows, **history, **nodes}
    print_report(settings, lambda: document, lambda: head + table + node_table)


def _take_chosen(array: Array, settings: Settings) -> tuple[Array, tuple[range, ...] | None]:
    """What --slice leaves of a tensor and where it lies; all of it without one."""
    from gscli.views.choices import take_slice

    return (array, None) if settings.slice is None else take_slice(array, settings.slice)


def _print_statistics(
    text: str, listed: Sequence[Member] | None, settings: Settings, stdin: Content | None, head: str
) -> None:
    """A line of each tensor, behind the names of members; one document with --json."""
    from gscli import files
    from gscli.disk import mapped
    from gscli.files.statistics import compute_statistics

    words = {"": text} if listed is None else {m.name: f"{text}::{m.name}" for m in listed}
    width = max((len(sanitize(name)) for name in words), default=0)
    documents, lines = list[dict[str, object]](), list[str]()
    for name, word in words.items():
        label = f"{sanitize(name):<{width}}  " * (listed is not None)
        try:
            array = files.load(word, name="tensor", stdin=stdin, **settings.reading).array
            summary = compute_statistics(*_take_chosen(array, settings))
            mapped.check_unchanged(array)
            line, facts = summary.text(), summary.to_dict()
        except DtypeRefused as refusal:
            if listed is None:
                raise
            line, facts = refusal.problem, {"problem": refusal.problem}
        lines.append(label + line)
        documents.append({"name": name, **facts} if name else {"file": text, **facts})
    document = documents[0] if listed is None else {"file": text, "members": documents}
    print_report(settings, lambda: document, lambda: head + join_lines(lines or ["no tensors"]))


def _print_tensor(loaded: LoadedInput, settings: Settings, blank: str) -> None:
    """All is drawn before a byte is written: the file may have become another one meanwhile."""
    from gscli.cli.call import write_results
    from gscli.files.formats.jsonarray import dump_json
    from gscli.views.lines import render_text
    from gscli.views.terminal.tables import format_tensor_text, make_tensor_drawing

    name, array = loaded.origin, loaded.array
    text, figures, options = "", dict[str, str](), make_view_options(settings)
    if settings.is_screen_used and settings.plain:
        text = blank + format_tensor_text(name, array, options)
    elif settings.is_screen_used:
        text = blank + render_text(make_tensor_drawing(name, array, options), options)
    if settings.svg is not None:
        from gscli.views.figure import render_svg

        view = make_tensor_drawing(name, array, make_view_options(settings, is_for_file=True))
        figures[settings.svg] = render_svg(view, name, theme=settings.theme)
    take = partial(_take_chosen, array, settings)
    write_results([array], settings, text, figures, lambda: dump_json(take()[0]))
