"""The hostile corpus: what strangers may put into files, and the refusal each must meet.

Every case builds its file (or odd object of the file system) in an empty folder and names the
error class expected from `gscli.files.load`. Nothing is downloaded and nothing is random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gscli import base as errors

# Puts a case's files into a folder and returns the text to load.
Build = Callable[[Path], str]

Content = bytes | Callable[[], bytes]

Refusal = type[errors.GscliError] | tuple[type[errors.GscliError], ...]


@dataclass(frozen=True)
class Case:
    """A hostile input: `says` must occur in the message."""

    name: str
    build: Build
    error: Refusal
    says: str = ""
    options: dict[str, Any] = field(default_factory=dict)


def of_bytes(file: str, content: Content, *, member: str = "") -> Build:
    """A case that is one file; a large content is made when it is needed."""

    def build(folder: Path) -> str:
        path = folder / file
        path.write_bytes(content() if callable(content) else content)
        return f"{path}::{member}" if member else str(path)

    return build


def of_text(text: str) -> Build:
    """A case that is the text itself: inline JSON or a generator."""
    return lambda _folder: text


def everything() -> Iterator[Case]:
    """All cases, of every format."""
    from hostile import archives, extras, file_system, json_texts, npy_files, tables

    for module in (npy_files, archives, json_texts, tables, extras, file_system):
        yield from module.cases()
