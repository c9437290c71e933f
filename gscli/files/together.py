"""One file or folder that stands for all inputs of an operator, matched by argument name."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from gscli.base import CannotRead, UsageError
from gscli.base.words import safe
from gscli.files.mapped import reading
from gscli.files.readers import (
    MANY_MEMBERS,
    MODULES,
    STORES,
    format_for,
    open_source,
    suffix_of,
)
from gscli.files.request import Request, Source, Wish, listed

FOLDER_LIMIT = 10_000

SYNONYMS = (
    frozenset({"data", "params", "x", "a", "arr", "input", "operand", "tensor", "self", "ref"}),
    frozenset({"indices", "index", "idx", "ind", "indexes", "start_indices", "scatter_indices"}),
    frozenset({"updates", "update", "upd", "src", "source", "values", "value"}),
)
"""What frameworks and people call the same argument."""

_NUMBERED = re.compile(r"input_(\d{1,3})")


def sources(
    text: str, names: Sequence[str], optional: Collection[str], limit: int
) -> dict[str, Source]:
    """Where each argument is to be loaded from; arguments in `optional` may be absent.

    A member or file named exactly as the argument wins, then a synonym. In a folder
    `input_0.pb`, `input_1.pb` … stand for the arguments in order, as in ONNX tests.
    """
    plain = os.path.isdir(text) and suffix_of(text) not in STORES
    found = _folder(text) if plain else _container(text, limit)
    matched = {name: _match(name, names, found, safe(text)) for name in names}
    missing = [name for name in names if matched[name] is None and name not in optional]
    if missing:
        raise CannotRead(
            f"{safe(text)} has nothing for {missing[0]}", where=safe(text), valid=listed(found)
        )
    return {name: found[key] for name, key in matched.items() if key is not None}


def _container(text: str, limit: int) -> dict[str, Source]:
    content, suffix = open_source(text, limit)
    with content:
        if suffix not in MANY_MEMBERS:
            raise UsageError(
                f"{safe(text)} holds one array, not all inputs",
                valid=f"a folder, or {' '.join(sorted(MANY_MEMBERS))}",
            )
        members = format_for(suffix).listing(content, Request("", None, Wish(), limit, suffix))
    names = [member.name for member in members]
    return {name: Source(f"{text}::{name}", "file", text, name) for name in names}


def _folder(text: str) -> dict[str, Source]:
    """The files of a folder that hold one array, by name without suffix."""
    with reading(safe(text)), os.scandir(text) as entries:
        some = islice(entries, FOLDER_LIMIT)
        files = sorted(entry.name for entry in some if not _is_pipe(entry))
    found: dict[str, Source] = {}
    for file in files:
        stem, suffix = os.path.splitext(file)
        if suffix.lower() not in MODULES or suffix.lower() in MANY_MEMBERS:
            continue
        if stem in found:
            raise UsageError(f"{safe(text)} holds {safe(stem, 60)} in two files")
        path = os.path.join(text, file)
        found[stem] = Source(path, "file", path)
    return found


def _is_pipe(entry: os.DirEntry[str]) -> bool:
    """Nobody may ever write into a pipe that came with a folder, and then reading never ends."""
    try:
        return stat.S_ISFIFO(entry.stat().st_mode)
    except OSError:
        return False


def _match(name: str, names: Sequence[str], found: Mapping[str, Source], where: str) -> str | None:
    """The key that stands for an argument. One that is another argument's own name does not."""
    if name in found:
        return name
    lowered = {key: key.lower() for key in found if key not in names}
    same = next((words for words in SYNONYMS if name in words), frozenset({name}))
    keys = [key for key, word in lowered.items() if word == name or word in same]
    if len(keys) > 1:
        raise UsageError(f"{where} holds several arrays for {name}", valid=listed(keys))
    if keys:
        return keys[0]
    position = names.index(name)
    numbered = [key for key in lowered if (m := _NUMBERED.fullmatch(key)) and int(m[1]) == position]
    return numbered[0] if numbered else None
