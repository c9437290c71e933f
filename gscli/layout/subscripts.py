"""Subscripts: what stands between the brackets of `x[…]`, and which cells it names.

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
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import index
from typing import Literal, TypeAlias

from gscli.base import UsageError, check_rule
from gscli.base.records import Record
from gscli.base.words import INTEGERS, format_count
from gscli.layout.axes import Addressing, Axis, Column, GeneratedIndices, Shape, Tensor
from gscli.layout.families import broadcast_shapes
from gscli.layout.refusals import check_index_dtype

ItemKind: TypeAlias = Literal["i", "m", "u", "+", "b", ":", "None", "..."]

_SLICE = re.compile(r"(-?\d{1,19})?:(-?\d{1,19})?(?::(-?\d{1,19})?)?")
_WORDS: dict[str, ItemKind] = {
    "i": "i", "m": "m", "u": "u", "+": "+", "b": "b", "None": "None", "newaxis": "None",
    "np.newaxis": "None", "...": "...", "…": "...", "Ellipsis": "...",
}  # fmt: skip


class Item(Record):
    """One item of a subscript; `bounds` are start, stop and step of a slice."""

    kind: ItemKind
    bounds: tuple[int | None, int | None, int | None] = (None, None, None)

    @property
    def is_array(self) -> bool:
        """Whether the next index array belongs to it."""
        return self.kind in ("i", "m", "u", "+", "b")

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

    >>> str(parse_basic_item(slice(1, None, 2))), parse_basic_item("data.npy")
    ('1::2', None)
    """
    if value is None or value is Ellipsis:
        return Item("None" if value is None else "...")
    if isinstance(value, slice):
        bounds = value.start, value.stop, value.step
        try:
            start, stop, step = (None if bound is None else index(bound) for bound in bounds)
        except TypeError:
            raise UsageError("a slice has whole numbers", where=f"{value!r}"[:200]) from None
        return Item(":", (start, stop, step))
    item = _parse_subscript_item(value) if isinstance(value, str) else None
    return None if item is None or item.is_array else item


def split_items(text: str) -> list[str]:
    """The items of a subscript that was typed as one word; none where it is none.

    >>> split_items("[:, [1,2]]"), split_items("0, 1"), split_items("[1,2]"), split_items("1:3")
    ([':', '[1,2]'], ['0', '1'], [], [])
    >>> split_items("[1,0],::2"), split_items("[[[1],[2]],[[3],[4]]]"), split_items("[1,0")
    (['[1,0]', '::2'], [], [])
    >>> split_items("[0,1],:,[1,2]")
    ['[0,1]', ':', '[1,2]']
    """
    text = text.strip()
    if re.fullmatch(r"\(.*\)|\[[^][]*(:|\.\.\.|None).*\]", text):
        text = text[1:-1]
    parts = re.findall(r"\[(?:[^][]|\[[^][]*\])*\]|[^][\s,]+", text)
    known = (parse_basic_item(part) or _NUMBERS.fullmatch(part) for part in parts)
    is_whole = re.sub(r"[\s,]", "", text) == re.sub(r"[\s,]", "", "".join(parts))
    return parts if len(parts) > 1 and is_whole and all(known) else []


# A number, or some between brackets.
_NUMBERS = re.compile(r"-?\d+|\[[][\d\s,-]*\]")


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
            problem = "a subscript has slices, None, ... and an i for each index array"
            where, legal = f"{word.strip()!r} in {text!r}"[:200], ":  1:9:2  i  None  ..."
            raise UsageError(problem, where=where, valid=legal)
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
    counts = (left if item.kind == "..." else int(item.is_axis) for item in items)
    *axes, _ = accumulate(counts, initial=0)
    return axes


class SubscriptRules(Record):
    """How frameworks differ.

    `has_scalar_selection`: an index of rank 0 takes its axis away before the arrays meet (PyTorch);
    otherwise it is an array among arrays. `has_separating_ellipsis`: `...` stands between arrays
    even where it has no axis (NumPy, JAX). `allows_negative_steps`: a slice may have a negative
    step. `index_types`: those of index arrays, and `scalar_types` of indices of rank 0.
    """

    has_scalar_selection: bool = False
    has_separating_ellipsis: bool = False
    allows_negative_steps: bool = True
    index_types: tuple[str, ...] = INTEGERS
    scalar_types: tuple[str, ...] = INTEGERS


class _SubscriptPart(Record):
    """An item where it meets data: what it takes of an axis of `size` cells.

    An "array" takes what its numbers name, a "slice" its `positions`; "new" is an axis of size 1 of
    the result alone, and "apart" is nothing but a separation of arrays.
    """

    kind: Literal["array", "slice", "new", "apart"]
    size: int = 1
    array: Tensor | None = None
    positions: range = range(0)
    text: str = ""

    @property
    def has_entries(self) -> bool:
        """Whether it is a slice whose positions are entries: not the whole axis, and not empty."""
        return len(self.positions) > 0 and self.positions != range(self.size)


def run_subscript(
    data: Tensor, subscript: str | None, indices: Sequence[Tensor], notation: SubscriptRules
) -> Addressing:
    """The addressing of `data[…]`: entries are the positions of slices, then the arrays' own grid.

    A slice of a whole axis moves along with each entry. Where arrays stand apart, the axes of
    their grid come first in the result; otherwise they stand where the arrays do. An index of rank
    0 is judged even where the grid is empty.

    >>> data, i = Tensor("x", (4, 5, 6), "int8"), Tensor("i", (2,), "int64")
    >>> run_subscript(data, "1:3, i, None", [i], SubscriptRules()).result_shape
    (2, 2, 1, 6)
    """
    for tensor in indices:
        check_index_dtype(tensor, notation.index_types if tensor.rank else notation.scalar_types)
    items = (Item("i"),) * len(indices) if subscript is None else parse_subscript(subscript)
    _check_items(data, items, indices)
    parts = list(_iter_parts(data, items, indices, notation))
    arrays = [part.array for part in parts if part.array is not None]
    grid = broadcast_shapes([a.shape for a in arrays], [a.name for a in arrays])
    alone = 0 in grid and any(array.rank == 0 for array in arrays)
    return _assemble(parts, grid, _grid_position(parts, notation), alone=alone)


def check_array_count(items: Sequence[Item], count: int) -> None:
    """A subscript has a letter for each of `count` index arrays, else UsageError."""
    letters = sum(item.is_array for item in items)
    where = f"{format_count(letters, 'array')} in {format_subscript(items)!r}, got {count}"[:200]
    problem = "the subscript and the index arrays differ in number"
    hint = "i stands for one index array"
    check_rule(letters == count, problem, where, kind=UsageError, hint=hint)


def _check_items(data: Tensor, items: Sequence[Item], indices: Sequence[Tensor]) -> None:
    """As many letters as arrays, no more axes than data has, and `...` once at most."""
    check_array_count(items, len(indices))
    count = sum(item.is_axis for item in items)
    many = "index arrays" if count == len(indices) else "indices"
    own, problem = format_count(data.rank, "axis", "axes"), f"more {many} than axes of {data.name}"
    where = f"{format_count(count, 'index', 'indices')}, {data.name} has {own}"
    check_rule(count <= data.rank, problem, where, valid=f"0 … {data.rank}")
    once, where = sum(item.kind == "..." for item in items) <= 1, format_subscript(items)[:200]
    check_rule(once, "... stands once at most", where, kind=UsageError)


def _iter_parts(
    data: Tensor, items: Sequence[Item], indices: Sequence[Tensor], notation: SubscriptRules
) -> Iterator[_SubscriptPart]:
    """One part for each axis of data and each new one, in order; left axes are taken whole."""
    count, arrays = sum(item.is_axis for item in items), iter(indices)
    if not any(item.kind == "..." for item in items):
        items = (*items, Item("..."))
    for item, axis in zip(items, item_axes(items, data.rank), strict=True):
        if item.kind == "...":
            rest = data.shape[axis : axis + data.rank - count]
            yield from (_SubscriptPart("slice", size, positions=range(size)) for size in rest)
            if not rest and notation.has_separating_ellipsis:
                yield _SubscriptPart("apart")
        elif item.kind == "None":
            yield _SubscriptPart("new")
        elif item.kind == ":":
            positions = _slice_positions(item, data.shape[axis], notation)
            yield _SubscriptPart("slice", data.shape[axis], positions=positions, text=str(item))
        else:
            yield _SubscriptPart("array", 1 if item.kind == "b" else data.shape[axis], next(arrays))


def _slice_positions(item: Item, size: int, notation: SubscriptRules) -> range:
    step = item.bounds[2]
    both = notation.allows_negative_steps
    legal = "any whole number but 0" if both else "1 or more"
    is_legal = step is None or step > 0 or (step < 0 and both)
    check_rule(is_legal, "a slice cannot have this step", str(item), valid=legal)
    return range(*slice(*item.bounds).indices(size))


def _grid_position(parts: Sequence[_SubscriptPart], notation: SubscriptRules) -> int:
    """Before which part the axes of the arrays' grid stand in the result."""
    every = [(number, part.array) for number, part in enumerate(parts) if part.array is not None]
    arrays = [at for at, array in every if array.rank or not notation.has_scalar_selection]
    if not arrays:
        return 0
    return arrays[0] if all(part.kind == "array" for part in parts[arrays[0] : arrays[-1]]) else 0


def _assemble(
    parts: Sequence[_SubscriptPart], grid: Shape, meeting: int, *, alone: bool
) -> Addressing:
    """The parts put together; the axes of the grid stand before the part `meeting` in the result.

    `alone`: the grid is empty and only indices of rank 0 are judged. The positions of a slice are
    index numbers of their own, under a name of their own.
    """
    lengths = [len(part.positions) for part in parts if part.has_entries]
    entries = (*lengths, *(() if alone else grid))
    axes, columns, ranges = list[Axis](), list[Column](), list[GeneratedIndices]()
    window, order = list[int](), list[int]()

    def add_window_axes(*sizes: int) -> None:
        order.extend(range(len(entries) + len(window), len(entries) + len(window) + len(sizes)))
        window.extend(sizes)

    def add_column(size: int, column: Column) -> None:
        axes.append(Axis(size, column=len(columns)))
        columns.append(column)

    for number, (kind, size, array, positions, text) in enumerate(parts):
        if number == meeting:
            order += range(len(lengths), len(entries))
            add_window_axes(*(grid if alone else ()))
        if array is not None and alone and array.rank:
            axes.append(Axis(size))
        elif array is not None:
            add_column(size, Column(array.name, array.dtype))
        elif parts[number].has_entries:
            order.append(len(ranges))
            shape = (len(positions), *(1,) * (len(entries) - len(ranges) - 1))
            name = f"{text} on axis {len(axes)}" if text in {made.name for made in ranges} else text
            ranges.append(GeneratedIndices(name, positions, shape))
            add_column(size, Column(name))
        elif kind == "slice":
            axes.append(Axis(size, window=len(window), span=len(positions)))
            add_window_axes(len(positions))
        elif kind == "new":
            add_window_axes(1)
    return Addressing(
        tuple(axes), entries, tuple(window), tuple(order), tuple(columns), tuple(ranges)
    )
