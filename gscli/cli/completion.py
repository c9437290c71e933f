"""What a shell may complete a word to: names, lists of names, files that gscli reads. Light."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress

from gscli.base.words import ALL_DTYPES
from gscli.cli.options import COMPLETION_VARIABLE

SUFFIXES = (".npy", ".npz", ".json", ".jsonl", ".csv", ".tsv", ".txt", ".pb", ".onnx",
            ".safetensors", ".h5", ".hdf5", ".zarr", ".icechunk", ".zip")  # fmt: skip

BASH_SYNTAX = re.compile(r"""[\s$`"'\\;&|<>()*?\[\]{}!#~]""")
"""What bash would read of a name, for it puts what we offer on the line as it stands."""


def complete_names(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Completes a word to one of some names.

    >>> complete_names(["none", "add", "max"])("a")
    ['add']
    """
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def make_list_completer(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Completes the last of several names with commas between them; each is named once.

    >>> make_list_completer(["onnx", "numpy", "torch"])("numpy,")
    ['numpy,onnx', 'numpy,torch']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        rest = [name for name in names if name not in before.split(",")]
        return [before + comma + name for name in rest if name.startswith(last)]

    return complete


COMPLETERS = {
    "dtype": complete_names(ALL_DTYPES),
    "show": make_list_completer(("data", "indices", "updates", "output")),
}
"""Shared options whose words a shell completes, besides those with choices."""


def complete_operator(framework_name: str, incomplete: str) -> list[str]:
    """Operators of a framework as its commands name them."""
    from gscli.base import UsageError
    from gscli.frameworks import load_framework

    with suppress(UsageError):
        operators = load_framework(framework_name).operators.values()
        return complete_names(operator.command for operator in operators)(incomplete)
    return []


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
