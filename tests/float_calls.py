"""Calls on float64: the small worlds of every operator with values that have slopes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from conftest import Array
from worlds import GOOD

from gscli.base import GscliError
from gscli.frameworks import find_operator
from gscli.gradients.call import value_inputs
from gscli.traces import trace_call

# Operators that read other numbers than indices.
VALUED = [name for name in GOOD if name != "torch.one_hot"]


class Call:
    """One call on float64, and its run."""

    def __init__(self, name: str, inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> None:
        self.name, self.inputs, self.attrs = name, inputs, attrs
        self.trace = trace_call(find_operator(name), inputs, attrs)

    @property
    def values(self) -> dict[str, Array]:
        """Data and updates, where they are inputs."""
        return value_inputs(self.trace.layout, self.inputs)

    def with_values(self, values: Mapping[str, Array]) -> Call:
        """The same call with other data and updates."""
        return Call(self.name, {**self.inputs, **values}, self.attrs)


def float_calls(name: str, count: int | None, values: str) -> Iterator[Call]:
    """Calls of an operator's worlds: `generic` numbers, few whole ones that often tie ("ties"), or
    these with NaN and infinities ("nan").
    """
    worlds = GOOD[name]()
    rng = np.random.default_rng(len(worlds))
    places = np.arange(len(worlds)) if count is None else rng.permutation(len(worlds))
    made = 0
    for place in places.tolist():
        world = worlds[place]
        if any(array.dtype.kind in "UO" for array in world.inputs.values()):
            continue
        with suppress(GscliError):  # a type that float64 cannot stand for
            call = Call(name, world.inputs, world.attrs)
            reduction = call.trace.reduction
            call = call.with_values({
                key: draw_values(rng, array.shape, reduction, values)
                for key, array in call.values.items()
            })  # fmt: skip
            if call.trace.output.dtype == np.float64:
                yield call
                made += 1
        if made == count:
            return


def draw_values(
    rng: np.random.Generator, shape: tuple[int, ...], reduction: str, values: str
) -> Array:
    """Values with which the reduction has a slope."""
    if values == "generic":
        signs = 1 if reduction == "pow" else rng.choice([-1, 1], shape)
        return np.asarray(rng.uniform(0.5, 2, shape) * signs)
    whole = np.asarray(rng.integers(-2, 3, shape), np.float64)
    if values == "nan":
        return np.where(
            rng.random(shape) < 0.2, rng.choice([np.nan, np.inf, -np.inf], shape), whole
        )
    if reduction == "div":
        return np.where(whole == 0, 1.0, whole)
    return np.abs(whole) + 1 if reduction == "pow" else whole
