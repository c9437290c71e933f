"""The one shared kernel: executes plans, knows no framework.

`gather` reads, `scatter` writes; both go through the plan block by block in entry order, so every
cell meets its updates in the order of the specification's sequential loop, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gscli.arrays import dtype_named
from gscli.layout import Layout
from gscli.plan import BLOCK, Array, Flags, Indices, Plan, positions

Ufunc = Any


@dataclass(frozen=True)
class ReductionRule:
    """A reduction: its ufunc, the one for bool where NumPy has none, and its identity."""

    ufunc: Ufunc
    bool_ufunc: Ufunc
    identity: Callable[[np.dtype[Any]], object]

    def for_types(self, data: np.dtype[Any], updates: np.dtype[Any]) -> Ufunc:
        """The ufunc for these types; bool with another type is promoted first."""
        return self.bool_ufunc if data.kind == updates.kind == "b" else self.ufunc


def _low(dtype: np.dtype[Any]) -> object:
    """Identity of max: -inf, the smallest integer, False."""
    return _limit(dtype, "min", -np.inf, least=True)


def _high(dtype: np.dtype[Any]) -> object:
    """Identity of min: inf, the largest integer, True."""
    return _limit(dtype, "max", np.inf, least=False)


def _limit(dtype: np.dtype[Any], side: str, infinite: float, *, least: bool) -> object:
    if dtype.kind == "b":
        return not least
    if dtype.kind in "iu":
        return getattr(np.iinfo(dtype), side)
    return infinite


REDUCTIONS: dict[str, ReductionRule] = {
    "add": ReductionRule(np.add, np.logical_or, lambda _: 0),
    "sub": ReductionRule(np.subtract, np.logical_xor, lambda _: 0),
    "mul": ReductionRule(np.multiply, np.logical_and, lambda _: 1),
    "max": ReductionRule(np.maximum, np.logical_or, _low),
    "min": ReductionRule(np.minimum, np.logical_and, _high),
    "mean": ReductionRule(np.add, np.logical_or, lambda _: 0),
}


def gather(plan: Plan, data: Array) -> Array:
    """Read the cells of `data` that the plan addresses; skipped entries read the layout's fill.

    Returns a new array of the layout's output shape and data's dtype.
    """
    layout = plan.layout
    addressing = layout.addressing
    result = np.empty((layout.entry_count, layout.window_size), data.dtype)
    flat = np.ascontiguousarray(data).reshape(-1)
    for first, last, addresses, inside in _addresses(plan):
        if inside is None:
            np.take(flat, addresses, out=result[first:last], mode="clip") if flat.size else None
        else:
            picked = np.full(addresses.shape, layout.fill).astype(data.dtype)
            picked[inside] = flat[addresses[inside]]
            result[first:last] = picked
    grid = result.reshape(addressing.entries + addressing.window)
    return np.ascontiguousarray(grid.transpose(addressing.order)).reshape(layout.output_shape)


def scatter(plan: Plan, data: Array | None) -> Array:
    """A copy of `data` (or the fill) with the plan's updates written in entry order."""
    layout = plan.layout
    output = _base(layout, data)
    wide = None if layout.accumulate is None else dtype_named(layout.accumulate)
    work = output if wide is None else output.astype(wide)
    updates = _prepared_updates(plan, work.dtype)
    if layout.reduction == "none":
        _write(plan, work.reshape(-1), updates)
    else:
        work = _reduce(plan, work, updates, output.dtype)
    return work.astype(np.str_) if layout.dtype == "str" else converted(work, output.dtype)


def converted(array: Array, dtype: np.dtype[Any]) -> Array:
    """Wide results in the data's type: real parts, and floats saturate in integers (NaN is 0).

    >>> converted(np.array([1.9, 300.0, -7.0, np.nan]), np.dtype(np.uint8))
    array([  1, 255,   0,   0], dtype=uint8)
    """
    if array.dtype.kind == "c" and dtype.kind not in "cb":
        array = array.real
    with np.errstate(all="ignore"):
        result = array.astype(dtype, copy=False)
        if dtype.kind in "iu" and array.dtype.kind in "fV":
            limits = np.iinfo(dtype)
            result[array >= float(limits.max)] = limits.max
            result[array <= float(limits.min)] = limits.min
            result[np.isnan(array)] = 0
    return result


def _base(layout: Layout, data: Array | None) -> Array:
    """What is written into; strings become objects, whose length no dtype cuts."""
    if data is None:
        dtype: Any = np.dtype(object) if layout.dtype == "str" else dtype_named(layout.dtype)
        return np.full(layout.output_shape, layout.fill, dtype)
    if layout.dtype == "str":
        return data.astype(object)
    return np.array(data, order="C", copy=True)


def _prepared_updates(plan: Plan, dtype: np.dtype[Any]) -> Array:
    """Updates as rows of windows, cast to the working dtype and scaled as the operator says."""
    layout = plan.layout
    updates = plan.updates().reshape(layout.entry_count, layout.window_size)
    return _scaled(layout, updates, dtype)


def _scaled(layout: Layout, updates: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(all="ignore"):
        if updates.dtype != dtype and (layout.updates is None or layout.updates.cast):
            updates = updates.astype(dtype)
        scale = layout.updates.scale if layout.updates else None
        if scale is not None:
            updates = updates * np.asarray(scale).astype(dtype)
    return updates


def _write(plan: Plan, flat: Array, updates: Array) -> None:
    """Row-major order, the last writer wins."""
    for first, last, addresses, inside in _addresses(plan):
        if inside is None:
            flat[addresses] = updates[first:last]
        else:
            flat[addresses[inside]] = updates[first:last][inside]


def _reduce(plan: Plan, work: Array, updates: Array, dtype: np.dtype[Any]) -> Array:
    """Apply the reduction one update at a time, each rounded to the working dtype."""
    layout = plan.layout
    values = comparable(layout, updates)
    rule = REDUCTIONS[layout.reduction]
    ufunc = rule.for_types(work.dtype, values.dtype)
    flat = work.reshape(-1)
    counts = np.full(flat.size, int(layout.include_self), np.int64)
    track = layout.reduction == "mean" or not layout.include_self
    if track:
        for _, _, addresses, inside in _addresses(plan):
            np.add.at(counts, addresses if inside is None else addresses[inside], 1)
    touched = counts > int(layout.include_self)
    if not layout.include_self:
        flat[touched] = np.asarray(rule.identity(flat.dtype)).astype(flat.dtype)
    with np.errstate(all="ignore"):
        for first, last, addresses, inside in _addresses(plan):
            chosen = values[first:last]
            where = (addresses, chosen) if inside is None else (addresses[inside], chosen[inside])
            ufunc.at(flat, where[0].reshape(-1), where[1].reshape(-1))
        if layout.reduction == "mean":
            if work.dtype != dtype:  # whole sums with fractional means, halves summed in float32
                work = work.astype(dtype)
                flat = work.reshape(-1)
            flat[touched] = _divided(flat[touched], counts[touched])
    return work


def _divided(sums: Array, counts: Indices) -> Array:
    """Mean: integers round toward minus infinity (OpenVINO's text, PyTorch's floor)."""
    divide: Ufunc = np.floor_divide if sums.dtype.kind in "iu" else np.divide
    divisors = counts.astype(sums.dtype)
    divisors[divisors == 0] = 1  # a count that wrapped to 0, as PyTorch has it
    quotient: Array = divide(sums, divisors)
    return quotient.astype(sums.dtype, copy=False)


def comparable(layout: Layout, updates: Array) -> Array:
    """Updates as max and min take them: NaN that must not win becomes the identity."""
    compared = layout.reduction in ("max", "min") and updates.dtype.kind not in "biu"
    if layout.updates is None or layout.updates.nan_wins or not compared:
        return updates
    identity = REDUCTIONS[layout.reduction].identity(updates.dtype)
    return np.where(np.isnan(updates), np.asarray(identity).astype(updates.dtype), updates)


def addresses_of(plan: Plan, first: int, last: int) -> tuple[Indices, Flags | None]:
    """Flat addresses of the cells of some entries, (entries, window), and which of them exist.

    What traces replay; cells that do not exist have an address of no meaning.
    """
    _, _, addresses, inside = _block_addresses(plan, first, last)
    return addresses, inside


def updates_of(plan: Plan, first: int, last: int) -> Array:
    """The updates of some entries as (entries, window), in the working dtype and scaled."""
    layout = plan.layout
    rows = plan.updates()
    grid = plan.grid(first, last)
    chosen = rows[grid] if grid else rows[None]
    name = layout.accumulate or layout.dtype
    dtype = np.dtype(object) if name == "str" else dtype_named(name)
    return _scaled(layout, chosen.reshape(last - first, layout.window_size), dtype)


def _addresses(plan: Plan) -> list[tuple[int, int, Indices, Flags | None]]:
    """Flat addresses of every touched cell, block by block: (first, last, addresses, inside).

    addresses is (entries of the block, window); `inside` marks the cells that exist.
    """
    layout = plan.layout
    size = max(1, BLOCK // max(layout.window_size, 1))
    return [_block_addresses(plan, first, min(first + size, layout.entry_count))
            for first in range(0, layout.entry_count, size)]  # fmt: skip


def _block_addresses(plan: Plan, first: int, last: int) -> tuple[int, int, Indices, Flags | None]:
    layout = plan.layout
    block, grid = plan.block(first, last), plan.grid(first, last)
    window = positions(0, layout.window_size, layout.addressing.window)
    total = np.zeros((last - first, layout.window_size), np.int64)
    inside = None if block.live is None else np.repeat(block.live[:, None], layout.window_size, 1)
    for axis, stride in zip(layout.axes, layout.strides, strict=True):
        coordinate = np.zeros((1, 1), np.int64)
        if axis.column is not None:
            coordinate = coordinate + block.coordinates[axis.column][:, None]
        if axis.entry is not None:
            coordinate = coordinate + grid[axis.entry][:, None]
        if axis.window is not None:
            coordinate = coordinate + window[axis.window][None, :]
            if axis.column is not None and not layout.policy.whole:
                exists = (coordinate >= 0) & (coordinate < axis.size)
                inside = exists if inside is None else inside & exists
        elif axis.column is not None and not layout.policy.whole:
            exists = np.broadcast_to((coordinate >= 0) & (coordinate < axis.size), total.shape)
            inside = exists if inside is None else inside & exists
        total += coordinate * stride
    if inside is not None:
        inside = np.broadcast_to(inside, total.shape)
    return first, last, total, inside
