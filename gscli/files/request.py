"""What is wanted from a file, and what a reader gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gscli.base.errors import CannotRead, ContentRefused, UsageError
from gscli.base.records import Record
from gscli.base.text import safe
from gscli.files.element_types import dtype_label

NAMES_SHOWN = 12

Arrays = Mapping[str, NDArray[Any]]
"""What a writer writes: one array, or in a format that has members, several by name."""

Output = Callable[[bytes | memoryview], int]
"""Where a writer puts bytes: all of them are taken, their number is the result."""


class Wish(Record):
    """What the caller knows about a text that names no type.

    `dtype` was asked for; `like` is the type of another input, which untyped numbers take;
    `empty` is the type of an array without elements (indices of [] are integers). With
    `opaque_only`, `dtype` names the type of opaque bytes and of nothing else.
    """

    dtype: np.dtype[Any] | None = None
    like: np.dtype[Any] | None = None
    empty: np.dtype[Any] | None = None
    opaque_only: bool = False

    @property
    def chosen(self) -> np.dtype[Any] | None:
        """The type untyped values must take, if any."""
        return self.like if self.dtype is None or self.opaque_only else self.dtype


class Request(Record):
    """The argument an input stands for, the member asked for, types, and the byte limit."""

    argument: str
    member: str | None
    wish: Wish
    limit: int
    suffix: str


class Read(Record):
    """An array, and whether its file named the type."""

    array: NDArray[Any]
    typed: bool = True


class Member(Record):
    """One array of a file, known from its header. `name` is empty in a file for one array."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int

    @classmethod
    def of(cls, array: NDArray[Any], name: str = "") -> Member:
        """The member an array makes."""
        return cls(name, dtype_label(array.dtype), array.shape, array.nbytes)


def chosen_member(names: Iterable[str], member: str | None, file: str) -> str:
    """The member that was asked for, or the only one; the errors say what there is.

    CannotRead for one that is not there, UsageError where a choice is needed.

    >>> chosen_member(["embedding"], None, "model.npz")
    'embedding'
    """
    known = list(names)
    if member is not None and member in known:
        return member
    if not known:
        raise ContentRefused(f"{file} holds no arrays", where=file)
    if member is not None:
        near = get_close_matches(member, known, 1)
        raise CannotRead(
            f"{file} has no member {safe(member, 60)}",
            valid=listed(known),
            hint=f"did you mean {file}::{safe(near[0], 60)}?" if near else f"gscli show {file}",
        )
    if len(known) == 1:
        return known[0]
    raise UsageError(
        f"{file} holds {len(known)} arrays: say which one",
        valid=listed(known),
        hint=f"{file}::{safe(known[0], 60)}",
    )


def listed(names: Iterable[str]) -> str:
    """Names from a file for a message: the first ones, and how many more.

    >>> listed(["data", "indices"])
    'data, indices'
    """
    known = list(names)
    more = f" and {len(known) - NAMES_SHOWN} more" if len(known) > NAMES_SHOWN else ""
    return ", ".join(safe(name, 60) for name in known[:NAMES_SHOWN]) + more
