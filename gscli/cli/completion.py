"""What a shell may complete a word to: operators, and files that gscli reads. Light."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from gscli.cli.options import COMPLETION_VARIABLE, complete_names

SUFFIXES = (".npy", ".npz", ".json", ".jsonl", ".csv", ".tsv", ".txt", ".pb", ".onnx",
            ".safetensors", ".h5", ".hdf5", ".zarr", ".icechunk", ".zip")  # fmt: skip

# What bash would read of a name, for it puts what we offer on the line as it stands.
BASH_SYNTAX = re.compile(r"""[\s$`"'\\;&|<>()*?\[\]{}!#~]""")


def complete_operator(framework_name: str, incomplete: str) -> list[str]:
    """Operators of a framework as its commands name them."""
    before = f"{framework_name}."
    return [name.removeprefix(before) for name in complete_operator_name(before + incomplete)]


def complete_operator_name(incomplete: str) -> list[str]:
    """Frameworks and bare operators; with a dot, as in `onnx.gather`, a framework's operators."""
    from gscli.frameworks import ALIASES, NAMES, bare_operators, find_operators

    name, dot, _ = incomplete.partition(".")
    names = [*NAMES, *ALIASES, *(operator.command for operator in bare_operators())]
    if dot and name in (*NAMES, *ALIASES):
        names = [f"{name}.{operator.command}" for operator in find_operators(name)]
    return complete_names(names)(incomplete)


def complete_path(incomplete: str) -> list[str]:
    """Folders and files of a known suffix that begin with what is written.

    A folder that is the only match brings its content along: the shell then stops behind the
    slash and adds no space.
    """
    paths = _list_matching(incomplete)
    if len(paths) == 1 and paths[0].endswith("/"):
        paths += _list_matching(paths[0])
    return paths


def _list_matching(incomplete: str) -> list[str]:
    folder, _, start = incomplete.rpartition("/")
    parent = f"{folder}/" if "/" in incomplete else ""
    paths: list[str] = []
    with suppress(OSError), os.scandir(parent or ".") as entries:
        for entry in entries:
            hidden = entry.name.startswith(".") and not start.startswith(".")
            if hidden or not entry.name.startswith(start) or not _is_offerable(entry.name):
                continue
            if entry.is_dir():
                paths.append(f"{parent}{entry.name}/")
            elif entry.name.lower().endswith(SUFFIXES):
                paths.append(parent + entry.name)
    return sorted(paths)


def _is_offerable(name: str) -> bool:
    """Whether the shell that asks takes a name for a word; bash quotes only what it finds itself.

    Where nothing is offered to it, it completes to files of its own accord.
    """
    is_bash = os.environ.get(COMPLETION_VARIABLE) == "complete_bash"
    return not is_bash or (name.isprintable() and not BASH_SYNTAX.search(name))
