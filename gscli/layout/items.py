"""What stands between the brackets of `x[…]`, read item by item.

A subscript is written as one line, as Python writes it, with a letter for each index array:

    :  1:9:2     every position of an axis, or those of a slice
    i            the next index array
    None         a new axis of size 1
    ...          as many `:` as there are axes left

Masks are replaced by positions before there is a layout; what is left of them are the letters `m`
(positions along the first axis that a mask of bool covers), `u` (the same of a mask of uint8), `+`
(along one more axis of that mask) and `b` (a mask without axes: [0] or [] on a new axis of size 1).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import index
from typing import Literal, TypeAlias

from gscli.base import UsageError
from gscli.base.records import Record

ItemKind: TypeAlias = Literal["i", "m", "u", "+", "b", ":", "None", "..."]
Bounds: TypeAlias = tuple[int | None, int | None, int | None]

_SLICE = re.compile(r"(-?\d{1,19})?:(-?\d{1,19})?(?::(-?\d{1,19})?)?")
_WORDS: dict[str, ItemKind] = {
    "i": "i", "m": "m", "u": "u", "+": "+", "b": "b", "None": "None", "newaxis": "None",
    "np.newaxis": "None", "...": "...", "…": "...", "Ellipsis": "...",
}  # fmt: skip
_LETTERS = ("i", "m", "u", "+", "b")


class Item(Record):
    """One item of a subscript; `bounds` are start, stop and step of a slice."""

    kind: ItemKind
    bounds: Bounds = (None, None, None)

    @property
    def is_array(self) -> bool:
        """Whether the next index array belongs to it."""
        return self.kind in _LETTERS

    @property
    def is_axis(self) -> bool:
        """Whether it stands for one axis of the array."""
        return self.kind in ("i", "m", "u", "+", ":")

    def __str__(self) -> str:
        if self.kind != ":":
            return self.kind
        start, stop, step = ("" if bound is None else str(bound) for bound in self.bounds)
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


def parse_basic_item(value: object) -> Item | None:
    """A slice, None, `...` or a word for one of them as an item; None for anything else.

    >>> (
    ...     str(parse_basic_item(slice(1, None, 2))),
    ...     str(parse_basic_item(None)),
    ...     parse_basic_item("data.npy"),
    ... )
    ('1::2', 'None', None)
    """
    if value is None or value is Ellipsis:
        return Item("None" if value is None else "...")
    if isinstance(value, slice):
        try:
            start, stop, step = (
                None if bound is None else index(bound)
                for bound in (value.start, value.stop, value.step)
            )
        except TypeError:
            raise UsageError("a slice has whole numbers", where=f"{value!r}"[:200]) from None
        return Item(":", (start, stop, step))
    item = _parse_subscript_item(value) if isinstance(value, str) else None
    return None if item is None or item.is_array else item


def parse_subscript(text: str) -> tuple[Item, ...]:
    """The items of a subscript; UsageError names the first word that is none.

    >>> [str(item) for item in parse_subscript("1:3, i, None, ...")]
    ['1:3', 'i', 'None', '...']
    """
    inner = text.strip().removeprefix("[").removesuffix("]").strip()
    items = []
    for word in inner.split(",") if inner else ():
        item = _parse_subscript_item(word)
        if item is None:
            raise UsageError(
                "a subscript has slices, None, ... and an i for each index array",
                where=f"{word.strip()!r} in {text!r}"[:200],
                valid=":  1:9:2  i  None  ...",
            )
        items.append(item)
    return tuple(items)


def format_subscript(items: Sequence[Item]) -> str:
    """The line that `parse_subscript` reads.

    >>> format_subscript(parse_subscript(":,i , newaxis"))
    ':, i, None'
    """
    return ", ".join(map(str, items))


def _parse_subscript_item(word: str) -> Item | None:
    word = word.strip()
    if word in _WORDS:
        return Item(_WORDS[word])
    match = _SLICE.fullmatch(word)
    if match is None:
        return None
    start, stop, step = (None if part is None else int(part) for part in match.groups())
    return Item(":", (start, stop, step))


def item_axes(items: Sequence[Item], rank: int) -> list[int]:
    """The axis of an array of `rank` axes at which each item begins.

    >>> item_axes(parse_subscript("..., i, None, i"), 3)
    [0, 1, 2, 2]
    """
    left = max(rank - sum(item.is_axis for item in items), 0)
    axes, axis = [], 0
    for item in items:
        axes.append(axis)
        axis += left if item.kind == "..." else item.is_axis
    return axes
