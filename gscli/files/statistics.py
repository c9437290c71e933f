"""A tensor in numbers, read block by block: extremes with their places, mean, nan and inf."""

from __future__ import annotations

from typing import Any

import numpy as np

from gscli.base.arrays import Array, dtype_name, to_json
from gscli.base.records import Record
from gscli.base.words import format_shape
from gscli.disk import mapped

BLOCK = 1 << 20


class Extreme(Record):
    """A value and the place where it stands first."""

    value: object
    place: tuple[int, ...]

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {"value": to_json(self.value), "at": list(self.place)}


class Statistics(Record):
    """What `gscli show --stat` tells. Extremes and mean: of finite values, None without any."""

    dtype: str
    shape: tuple[int, ...]
    smallest: Extreme | None
    largest: Extreme | None
    mean: float | complex | None
    nan: int
    infinite: int
    zero: int

    def text(self) -> str:
        """One line, greppable."""
        parts = [f"{self.dtype} {format_shape(self.shape)}"]
        for name, extreme in (("min", self.smallest), ("max", self.largest)):
            if extreme is not None:
                parts.append(f"{name}={extreme.value} at {format_shape(extreme.place)}")
        if self.mean is not None:
            parts.append(f"mean={self.mean:.6g}")
        parts += [f"nan={self.nan}", f"inf={self.infinite}", f"zero={self.zero}"]
        return "  ".join(parts)

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {
            "dtype": self.dtype,
            "shape": list(self.shape),
            "min": self.smallest and self.smallest.to_dict(),
            "max": self.largest and self.largest.to_dict(),
            "mean": to_json(self.mean),
            "nan": self.nan,
            "inf": self.infinite,
            "zero": self.zero,
        }


def compute_statistics(array: Array) -> Statistics:
    """Read `array` once, a block at a time, so that a mapped file stays on disk.

    Strings have no extremes and no mean; complex numbers have no extremes.

    >>> compute_statistics(np.array([[3.0, np.nan], [-1.0, 0.0]])).text()
    'float64 [2,2]  min=-1.0 at [1,0]  max=3.0 at [0,0]  mean=0.666667  nan=1  inf=0  zero=1'
    """
    flat, sums = array.reshape(-1), _RunningStatistics()
    if flat.dtype.kind not in "UTO":
        for first in range(0, flat.size, BLOCK):
            with np.errstate(all="ignore"):
                sums.add(flat[first : first + BLOCK], first)
            mapped.release_pages(array)

    def extreme(pair: tuple[Any, int] | None) -> Extreme | None:
        if pair is None:
            return None
        return Extreme(flat[pair[1]], tuple(map(int, np.unravel_index(pair[1], array.shape))))

    low, high, counts = extreme(sums.low), extreme(sums.high), (sums.nan, sums.infinite, sums.zero)
    mean = sums.total / sums.count if sums.count else None
    return Statistics(dtype_name(array.dtype), array.shape, low, high, mean, *counts)


class _RunningStatistics:
    """Running sums and extremes; extremes are (value, flat position of the first)."""

    def __init__(self) -> None:
        self.low: tuple[Any, int] | None = None
        self.high: tuple[Any, int] | None = None
        self.total: float | complex = 0.0
        self.count = self.nan = self.infinite = self.zero = 0

    def add(self, block: Array, first: int) -> None:
        """One block, which starts at flat position `first`."""
        values = block.astype(np.float64) if block.dtype.kind in "Vb" else block
        finite = np.isfinite(values)
        self.nan += int(np.isnan(values).sum())
        self.infinite += int(np.isinf(values).sum())
        self.zero += int((values == 0).sum())
        self.count += int(finite.sum())
        wide = np.complex128 if values.dtype.kind == "c" else np.float64
        self.total += values[finite].sum(dtype=wide).item()
        if finite.any() and values.dtype.kind != "c":
            places = np.flatnonzero(finite)
            low, high = places[values[places].argmin()], places[values[places].argmax()]
            if self.low is None or values[low] < self.low[0]:
                self.low = (values[low], first + int(low))
            if self.high is None or values[high] > self.high[0]:
                self.high = (values[high], first + int(high))
