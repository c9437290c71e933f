"""What the kernel does at a time: one step, of some entries, or of all where they are few."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from gscli.base.arrays import Flags, Indices
from gscli.base.records import Record
from gscli.kernel.addresses import Addresses, resolved

Region: TypeAlias = tuple[Any, ...]
Lane: TypeAlias = tuple[int, ...]


class Step(Record):
    """Addresses of rows within `base`, a range of data's rows, for one region of the result.

    `live` has the shape of the addresses, or is None where all entries are. `region` indexes the
    result's grid. Where there are several `parts`, `base` is that many equal ranges, each of which
    takes the same addresses, counted from its own beginning; the first axis of the region counts
    them.
    """

    base: slice
    where: Addresses
    live: Flags | None
    region: Region
    parts: int = 1

    @property
    def addresses(self) -> Indices:
        """Row numbers within `base`; raises IndexRefused where an index number is out of range."""
        return resolved(self.where)

    def joined(self) -> Step:
        """The same step as one part: with the addresses of all parts, counted from `base`."""
        addresses = self.addresses
        if self.parts == 1:
            return self._replace(where=addresses)
        shape = (self.parts, *addresses.shape)
        size = (self.base.stop - self.base.start) // self.parts
        starts = np.arange(self.parts).reshape(-1, *[1] * addresses.ndim) * size
        live = None if self.live is None else np.broadcast_to(self.live, shape)
        return self._replace(where=addresses + starts, live=live, parts=1)

    @property
    def live_addresses(self) -> Indices:
        """The addresses within `base` of the entries that are live, one after the other."""
        step = self.joined()
        return step.addresses.reshape(-1) if step.live is None else step.addresses[step.live]
