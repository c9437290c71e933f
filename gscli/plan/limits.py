"""How large a result may become, judged from shapes alone before anything is made."""

from __future__ import annotations

from collections.abc import Mapping

from gscli.base.arrays import Array, dtype_named
from gscli.base.errors import LimitRefused
from gscli.base.text import show_shape
from gscli.layout.layout import Layout

DEFAULT_LIMIT = 1 << 30
"""Bytes an output may have, or four times the inputs' if that is more, unless the caller says."""

ENTRIES_ALLOWED = 1 << 20
"""Entries that a call may always have, whatever its tensors hold."""

_MOST_AXES = 64
_MOST_BYTES = (1 << 63) - 1


def shape_limit(layout: Layout, arrays: Mapping[str, Array], max_bytes: int | None) -> None:
    """Refuse amplification from shapes alone: an output far larger than what was given."""
    first = arrays[layout.data] if layout.data is not None else None
    width = first.dtype.itemsize if first is not None else _width(layout.dtype)
    _representable(layout, width)
    _worth_visiting(layout, arrays)
    needed = width * layout.output_size
    if max_bytes is None and needed <= DEFAULT_LIMIT:
        return
    given = sum(array.nbytes for array in arrays.values())
    limit = max(DEFAULT_LIMIT, 4 * given) if max_bytes is None else max_bytes
    if needed > limit:
        raise LimitRefused(
            "the output would be too large",
            where=f"output {layout.dtype} {show_shape(layout.output_shape)}",
            details=(f"{needed:,} bytes",),
            valid=f"at most {limit:,} bytes",
            hint=f"--max-bytes {needed}",
        )


def _worth_visiting(layout: Layout, arrays: Mapping[str, Array]) -> None:
    """Every entry is judged and visited: there may not be far more of them than values. Shapes with
    a zero can promise any number of entries, each of which moves nothing.
    """
    values = sum(array.size for array in arrays.values()) + layout.output_size
    if layout.entry_count > max(ENTRIES_ALLOWED, values):
        raise LimitRefused(
            "there are more entries than values",
            where=f"{layout.entry_count:,} entries, {values:,} values in and out",
            valid=f"at most {ENTRIES_ALLOWED:,} entries that move nothing",
        )


def _representable(layout: Layout, width: int) -> None:
    """NumPy counts the bytes of a shape without its zeros, and no more than 64 axes."""
    for shape, cells in layout.made_shapes:
        if len(shape) > _MOST_AXES or width * cells > _MOST_BYTES:
            raise LimitRefused(
                "no array can have the shape of the output",
                where=f"{len(shape)} axes: {show_shape(shape)}"[:200],
                valid=f"at most {_MOST_AXES} axes and 2^63 bytes, sizes of zero not counted",
            )


def _width(dtype: str) -> int:
    return 8 if dtype == "str" else dtype_named(dtype).itemsize
