"""Index numbers that wait for compiled loops to make addresses of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from gscli.base.arrays import Array
from gscli.base.records import Record


class Column(Record):
    """One column of index numbers (planes, height, width) on an axis of `size` rows.

    `turn` is added to negative numbers; a number's address is then
    number * step + plane * plane_step + place * place_step + first.
    """

    numbers: Array
    size: int
    turn: int
    step: int
    plane_step: int = 0
    place_step: int = 0
    first: int = 0


class Numbers:
    """Addresses that are still index numbers: C resolves them chunk by chunk on its way.

    `shape` is that of the addresses; `refuse` is called where a number is out of range, and raises.
    """

    __slots__ = ("columns", "refuse", "shape")

    def __init__(
        self, columns: tuple[Column, ...], shape: tuple[int, ...], refuse: Callable[[], NoReturn]
    ) -> None:
        self.columns, self.shape, self.refuse = columns, shape, refuse
