"""Entries of a run, for people: what each index said, which cells it met and what became of it."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from gscli.base.arrays import plain
from gscli.layout.boxes import Box, box_size
from gscli.traces.replay import Change

How: TypeAlias = Literal["wrapped", "clipped", "skipped"]


class Adjustment(NamedTuple):
    """One number of a vector that is not its own coordinate: -1 meaning 3, 9 clipped to 3, …

    `slot` is its place in the vector, `axis` the axis of data that it addresses, which has `size`
    cells; `coordinate` is None for a number that made its entry be skipped.
    """

    slot: int
    axis: int
    size: int
    written: int | float
    coordinate: int | None
    how: How

    def words(self) -> str:
        """The reason as a phrase.

        >>> Adjustment(0, 0, 4, -1, 3, "wrapped").words()
        '-1 on axis 0 of size 4 is 3'
        """
        where = f"{self.written} on axis {self.axis} of size {self.size}"
        if self.how == "wrapped":
            return f"{where} is {self.coordinate}"
        return f"{where} is " + (
            f"clipped to {self.coordinate}" if self.how == "clipped" else "outside"
        )


class Entry(NamedTuple):
    """One index of the operation, numbered in row-major order of the entry grid.

    Boxes are half-open ranges per axis, in the coordinates of the tensor they lie in. `target`
    is where data was read or output written (None when skipped), `result` where gather wrote its
    output or scatter took its updates. `indices` holds one box per index input. `dropped`: updates
    of a live entry that have no cell, because its window lies partly outside.
    """

    number: int
    label: str
    at: tuple[int, ...]
    vector: tuple[int | float, ...]
    indices: tuple[tuple[str, Box], ...]
    adjustments: tuple[Adjustment, ...]
    target: Box | None
    result: Box | None
    change: Change | None = None
    dropped: tuple[Box, ...] = ()

    @property
    def live(self) -> bool:
        """False for a skipped entry."""
        return self.target is not None

    @property
    def lost(self) -> int:
        """How many updates of a live entry are dropped."""
        return sum(map(box_size, self.dropped))

    @property
    def status(self) -> Literal["ok", "wrap", "clip", "skip"]:
        """The strongest thing that happened to the entry's numbers."""
        if not self.live:
            return "skip"
        hows = {adjustment.how for adjustment in self.adjustments}
        return "clip" if "clipped" in hows else "wrap" if "wrapped" in hows else "ok"

    def to_dict(self, *, gathered: bool = False) -> dict[str, object]:
        """The JSON form; `gathered`: the entry is a gather's."""
        found: dict[str, object] = {
            "id": self.label,
            "at": list(self.at),
            "index": [plain(number) for number in self.vector],
            "cell": None if self.target is None else _box_list(self.target),
            "status": self.status,
        }
        if self.result is not None:
            found["result" if gathered else "update"] = _box_list(self.result)
        if self.change is not None and self.change.old.size == 1:
            found["old"] = plain(self.change.old.reshape(-1)[0])
            found["new"] = plain(self.change.new.reshape(-1)[0])
        if self.dropped:
            found["dropped"] = self.lost
        return found


def _box_list(box: Box) -> list[object]:
    """A coordinate, or [first, last+1] where the slice extends along the axis."""
    return [start if stop == start + 1 else [start, stop] for start, stop in box]


LETTERED = 200
"""Entries that pictures give letters to; of others words say the number."""


def name_of(number: int) -> str:
    """The letter of an entry, and its number where no picture bears its letter.

    >>> name_of(2), name_of(714_618)
    ('c', 'entry 714,618')
    """
    return label_of(number) if number < LETTERED else f"entry {number:,}"


def label_of(number: int) -> str:
    """Letters for entries: a…z, A…Z, then two letters, three, …

    >>> label_of(0), label_of(25), label_of(26), label_of(51), label_of(52), label_of(53)
    ('a', 'z', 'A', 'Z', 'aa', 'ab')
    """
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, len(alphabet))
        letters = alphabet[rest] + letters
    return letters
