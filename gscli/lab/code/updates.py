"""The values that a scatter writes, in steps: fitted to the result, and as numbers of a type."""

from __future__ import annotations

from math import prod

import numpy as np

from gscli.files.arrays import dtype_named
from gscli.kernel.reductions import REDUCTIONS
from gscli.lab.code.steps import Literal, Steps, Value
from gscli.layout.axes import Fit, Number, Shape


def fitted(steps: Steps, updates: Value, fit: Fit, wanted: Shape) -> Value:
    """Updates in the shape of the result, by the framework's own rule."""
    if updates.shape == wanted:
        return updates
    if fit is Fit.BROADCAST:
        surplus = max(len(updates.shape) - len(wanted), 0)
        return steps.expand(steps.reshape(updates, updates.shape[surplus:]), wanted)
    if fit is Fit.CROP:
        return steps.crop(steps.reshape(updates, updates.shape or (1,)), wanted)
    if fit is Fit.CYCLE:
        return _cycled(steps, updates, wanted)
    return steps.reshape(updates, wanted)


def _cycled(steps: Steps, updates: Value, wanted: Shape) -> Value:
    """Values repeated, or left over, until there are as many as are written."""
    count, size = prod(wanted), prod(updates.shape)
    flat = steps.reshape(updates, (size,))
    times = -(-count // size) if size else 0
    if times > 1:
        flat = steps.expand(steps.reshape(flat, (1, size)), (times, size))
        flat = steps.reshape(flat, (times * size,))
    return steps.reshape(steps.crop(flat, (count,)), wanted)


def identity(op: str, dtype: str) -> Literal:
    """What a reduction begins with."""
    return Literal(np.asarray(REDUCTIONS[op].identity(dtype_named(dtype))).item(), dtype)


def as_type(value: Number | None, dtype: str) -> Number:
    """A number as an element of a type: whole numbers wrap."""
    if dtype == "str" or isinstance(value, str):
        return value if isinstance(value, str) else ""
    with np.errstate(all="ignore"):
        found: Number = np.asarray(value).astype(dtype_named(dtype)).item()
    return found
