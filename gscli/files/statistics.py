"""A tensor in numbers, read block by block: extremes with their places, mean, nan and inf."""

from __future__ import annotations

from collections.abc import Sequence

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
    min: Extreme | None
    max: Extreme | None
    mean: float | complex | None
    nan: int
    inf: int
    zero: int

    def text(self) -> str:
        """One line, greppable."""
        parts = [f"{self.dtype} {format_shape(self.shape)}"]
        for name, extreme in (("min", self.min), ("max", self.max)):
            if extreme is not None:
                parts.append(f"{name}={extreme.value} at {format_shape(extreme.place)}")
        if self.mean is not None:
            parts.append(f"mean={self.mean}".removesuffix(".0"))
        parts += [f"nan={self.nan}", f"inf={self.inf}", f"zero={self.zero}"]
        return "  ".join(parts)

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        facts = self._asdict().items()
        return {n: v.to_dict() if isinstance(v, Extreme) else to_json(v) for n, v in facts}


def compute_statistics(array: Array, part: Sequence[range] | None = None) -> Statistics:
    """Read `array` once, a block at a time, so that a mapped file stays on disk.

    `part`: where it lies in a whole tensor, in whose coordinates places are then told.
    Strings have no extremes and no mean; complex numbers have no extremes.

    >>> compute_statistics(np.array([[4.0, np.nan], [-1.0, 0.0]])).text()
    'float64 [2,2]  min=-1.0 at [1,0]  max=4.0 at [0,0]  mean=1  nan=1  inf=0  zero=1'
    """
    axes = [range(size) for size in array.shape] if part is None else part
    flat, counts = array.reshape(-1), np.zeros(4, np.int64)  # nan, inf, zero, finite
    total: float | complex = 0.0
    lows, highs = list[int](), list[int]()
    for first in range(0, flat.size if flat.dtype.kind not in "UTOS" else 0, BLOCK):
        block = flat[first : first + BLOCK]
        values = block.astype(np.float64) if block.dtype.kind in "Vb" else block
        with np.errstate(all="ignore"):
            finite = np.isfinite(values)
            counts += [
                part.sum() for part in (np.isnan(values), np.isinf(values), values == 0, finite)
            ]
            wide = np.complex128 if values.dtype.kind == "c" else np.float64
            total += values[finite].sum(dtype=wide).item()
        if finite.any() and values.dtype.kind != "c":
            places = np.flatnonzero(finite)
            lows.append(first + int(places[values[places].argmin()]))
            highs.append(first + int(places[values[places].argmax()]))
        mapped.release_pages(array)

    def extreme(place: int) -> Extreme:
        inside = np.unravel_index(place, array.shape)
        return Extreme(flat[place], tuple(axis[i] for axis, i in zip(axes, inside, strict=True)))

    nan, inf, zero, count = counts.tolist()
    low = extreme(min(lows, key=flat.__getitem__)) if lows else None
    high = extreme(max(highs, key=flat.__getitem__)) if highs else None
    mean = total / count if count else None
    return Statistics(dtype_name(array.dtype), array.shape, low, high, mean, nan, inf, zero)
