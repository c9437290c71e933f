"""What flows back through a gather or a scatter: the specification's loop, walked backwards.

Every step of the loop, `cell = f(cell, update)`, has a step back, from the last entry to the first.
All of them together are two moves along the addresses of the same plan: *read*, a gather, and
*write*, a scatter. So policies, windows, batches, masks and slices need no rule here.

    __init__.py     the gradients of one judged call
    conventions.py  what frameworks do where the loop has no one derivative, or against it
    products.py     the factors of cells, without division
    call.py         gradients of an operator on arrays, and what is told of them

Only floating-point inputs have a gradient. It is computed in float64 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Literal

import numpy as np

from gscli.base.arrays import Array, BoolArray, Indices
from gscli.gradients.conventions import LOOP, Convention
from gscli.gradients.products import prefix_products
from gscli.kernel import gather, scatter
from gscli.kernel.reductions import REDUCTIONS
from gscli.layout import Layout
from gscli.layout.axes import Fit, Number, Reduction, Updates
from gscli.plan.plan import ValidatedPlan, fit_updates

VALUE = "value"
"""The one number that an operator without an input of updates writes everywhere."""

_CELLS = "cells of a move"
"""The input that a move reads or writes, beside the plan's own."""

Pair = tuple[Array, Array]
"""The gradient of data, and of each update in the shape of the result."""


def compute_gradients(
    plan: ValidatedPlan, output: Array, cotangent: Array, convention: Convention = LOOP
) -> dict[str, Array]:
    """The gradient of data, of updates, and of the one value written everywhere, by input name.

    All are float64 and have the shapes of their inputs; `cotangent` has the output's.

    >>> import gscli
    >>> run = gscli.trace("gather", {"data": [1.0, 2.0, 3.0], "indices": [2, 0, 2]})
    >>> compute_gradients(run.plan, run.output, np.array([1.0, 10.0, 100.0]))
    {'data': array([ 10.,   0., 101.])}
    """
    walk = BackwardWalk(plan, output, np.asarray(cotangent, np.float64), convention)
    with np.errstate(all="ignore"):
        return walk.gather_gradients() if plan.layout.kind == "gather" else walk.scatter_gradients()


class BackwardWalk:
    """One judged plan, walked back from the cotangent of its output."""

    def __init__(
        self, plan: ValidatedPlan, output: Array, cotangent: Array, convention: Convention
    ) -> None:
        self.plan, self.layout, self.convention = plan, plan.layout, convention
        shape = self.layout.data_shape if self.layout.kind == "scatter" else cotangent.shape
        self.cotangent = cotangent.reshape(shape)
        has_data = self.layout.data_name is not None
        self.nan_ties = convention.nan_ties if has_data else convention.nan_segments
        self.output = output

    # --- the two moves ------------------------------------------------------------------------

    def read(self, cells: Array, fill: Number = 0) -> Array:
        """What stands in the cell of each update, in the shape of the result; `fill` for none."""
        move = self._plain_layout._replace(
            kind="gather", data_name=_CELLS, dtype=cells.dtype.name, fill_value=fill,
            output_shape=self.layout.result_shape,
        )  # fmt: skip
        return gather(self._plan_move(move, cells), cells)

    def write(self, values: Array, reduction: Reduction = "add", fill: Number = 0) -> Array:
        """Values in the shape of the result, brought to their cells, which begin with `fill`."""
        move = self._plain_layout._replace(
            kind="scatter", reduction=reduction, dtype=values.dtype.name, fill_value=fill,
            updates=Updates(_CELLS, Fit.RESHAPE), output_shape=self.layout.data_shape,
        )  # fmt: skip
        return scatter(self._plan_move(move, values), None)

    @cached_property
    def _plain_layout(self) -> Layout:
        """The addresses of the call, and nothing that is done on the way."""
        return self.layout._replace(
            data_name=None, updates=None, reduction="none", include_self=True,
            accumulate_dtype=None, unspecified_order="",
        )  # fmt: skip

    def _plan_move(self, layout: Layout, cells: Array) -> ValidatedPlan:
        return ValidatedPlan(layout, {**self.plan.inputs, _CELLS: cells})

    # --- gathers ------------------------------------------------------------------------------

    def gather_gradients(self) -> dict[str, Array]:
        """Every cell of data is given the cotangents of the outputs that were read from it."""
        name = self.layout.data_name
        assert name is not None
        return {name: self.write(self.cotangent).reshape(self.plan.inputs[name].shape)}

    # --- scatters -----------------------------------------------------------------------------

    def scatter_gradients(self) -> dict[str, Array]:
        """By the step back of the reduction, then back through the fitting of the updates."""
        layout = self.layout
        data, updates = _STEPS_BACK[layout.reduction](self)
        if not layout.include_self and layout.reduction != "none":
            data = np.where(self.counts > 0, 0.0, data)
        gradients = {}
        if layout.data_name is not None:
            gradients[layout.data_name] = data.reshape(self.plan.inputs[layout.data_name].shape)
        return gradients | self._unfit(updates)

    def _unfit(self, gradients: Array) -> dict[str, Array]:
        """Gradients of the updates as they are written, brought to the input that they come from.

        Fitting the numbers of its cells as the updates were fitted says which of them each is.
        """
        updates = self.layout.updates
        assert updates is not None
        if updates.scale is not None:
            gradients = gradients * float(np.real(updates.scale))
        if updates.name is None:
            return {VALUE: np.asarray(gradients.sum())}
        source = self.plan.inputs[updates.name]
        if source.size == gradients.size:  # however they are fitted, each goes to one place
            return {updates.name: gradients.reshape(source.shape)}
        numbers = np.arange(source.size, dtype=np.int64).reshape(source.shape)
        origins = self._in_result_order(fit_updates(self.layout, {updates.name: numbers}))
        summed = np.bincount(origins.reshape(-1), gradients.reshape(-1), source.size)
        return {updates.name: summed.astype(np.float64).reshape(source.shape)}

    def _in_result_order(self, values: Array) -> Array:
        """An array of shape `entries ++ window` in the order of the result's axes."""
        return values.transpose(self.layout.addressing.result_axes)

    @cached_property
    def data(self) -> Array:
        """What cells hold before the first update."""
        name = self.layout.data_name
        if name is None:
            return np.full(self.layout.data_shape, self.layout.fill_value, np.float64)
        return self.plan.inputs[name].reshape(self.layout.data_shape).astype(np.float64)

    @cached_property
    def final(self) -> Array:
        """What cells hold after the last update."""
        return self.output.reshape(self.layout.data_shape).astype(np.float64)

    @cached_property
    def updates(self) -> Array:
        """The updates as they are written, in the shape of the result."""
        updates = self.layout.updates
        assert updates is not None
        values = self._in_result_order(self.plan.updates_view()).astype(np.float64)
        return values if updates.scale is None else values * float(np.real(updates.scale))

    @cached_property
    def numbers(self) -> Indices:
        """The place of each update in the loop: entries first, whatever the axes of the result."""
        addressing = self.layout.addressing
        shape = addressing.entry_shape + addressing.window
        return self._in_result_order(np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape))

    @cached_property
    def counts(self) -> Indices:
        """How many updates each cell takes."""
        return self.write(np.ones(self.layout.result_shape, np.int64))

    @property
    def takes_part(self) -> BoolArray | Literal[True]:
        """Which cells of data take part in what is made of them and of their updates."""
        return True if self.layout.include_self else self.counts == 0

    @cached_property
    def last_writers(self) -> BoolArray:
        """Which updates are the last ones of their cells."""
        last = self.write(self.numbers, "none", fill=-1)
        return np.asarray(self.read(last, fill=-1) == self.numbers)

    @cached_property
    def extreme_holders(self) -> tuple[BoolArray, BoolArray]:
        """Which cells of data, and which updates, equal the extreme value of their cell."""
        updates = self.layout.updates
        assert updates is not None
        kept = self.read(self.final)
        own, holds = self.data == self.final, self.updates == kept
        if self.nan_ties == "hold" and np.isnan(self.final).any():
            own = own | (np.isnan(self.data) & np.isnan(self.final))
            holds = holds | (updates.nan_wins & np.isnan(self.updates) & np.isnan(kept))
        return own & self.takes_part, holds

    def multiply_back(self, start: Array, cotangent: Callable[[Array], Array]) -> Pair:
        """The step back of a product: of `start`, and of each factor.

        `cotangent` is that of the product, from the products themselves. A factor's gradient is the
        product of what stood in the cell before it, and of the cotangent and all later factors.
        """
        cells = self.read(np.arange(start.size).reshape(start.shape), fill=-1).reshape(-1)
        loop = np.argsort(self.numbers.reshape(-1))
        loop = loop[cells[loop] >= 0]
        cells, factors = cells[loop], self.updates.reshape(-1)[loop]
        before, product = prefix_products(cells, factors, start.reshape(-1))
        flow = cotangent(product.reshape(start.shape)).reshape(-1)
        after, first = prefix_products(cells[::-1], factors[::-1], flow)
        gradients = np.zeros(self.updates.size)
        gradients[loop] = before * after[::-1]
        return first.reshape(start.shape), gradients.reshape(self.updates.shape)


def _back_through_set(walk: BackwardWalk) -> Pair:
    passed = walk.read(walk.cotangent)
    updates = walk.layout.updates
    assert updates is not None
    if walk.convention.writers == "last" or updates.name is None:
        passed = np.where(walk.last_writers, passed, 0.0)
    return np.where(walk.counts > 0, 0.0, walk.cotangent), passed


def _back_through_add(walk: BackwardWalk) -> Pair:
    return walk.cotangent, walk.read(walk.cotangent)


def _back_through_sub(walk: BackwardWalk) -> Pair:
    return walk.cotangent, -walk.read(walk.cotangent)


def _back_through_mean(walk: BackwardWalk) -> Pair:
    divisor = REDUCTIONS[walk.layout.reduction].divisor
    assert divisor is not None
    terms = np.where(walk.counts > 0, walk.counts + int(walk.layout.include_self), 1)
    share = walk.cotangent / divisor(terms.astype(np.float64))
    return share, walk.read(share)


def _back_through_mul(walk: BackwardWalk) -> Pair:
    start = walk.data
    if not walk.layout.include_self:
        start = np.where(walk.counts > 0, 1.0, start)
    return walk.multiply_back(start, lambda _: walk.cotangent)


def _back_through_div(walk: BackwardWalk) -> Pair:
    def flow(product: Array) -> Array:
        return np.asarray(-walk.cotangent * walk.data / product**2)

    _, passed = walk.multiply_back(np.ones_like(walk.data), flow)
    return np.divide(walk.cotangent, walk.write(walk.updates, "mul", fill=1)), passed


def _back_through_pow(walk: BackwardWalk) -> Pair:
    def flow(exponent: Array) -> Array:
        logarithm = np.log(np.where(walk.data == 0, 1.0, walk.data))  # 0 ** y has no slope by y
        return np.asarray(walk.cotangent * walk.data**exponent * logarithm)

    _, passed = walk.multiply_back(np.ones_like(walk.data), flow)
    exponent = walk.write(walk.updates, "mul", fill=1)
    less = exponent * walk.data ** np.where(exponent == 0, 1, exponent - 1)
    return walk.cotangent * np.where(exponent == 0, 0.0, less), passed


def _back_through_extreme(walk: BackwardWalk) -> Pair:
    own, holds = walk.extreme_holders
    ties = walk.convention.ties
    if ties == "first":
        latest = np.iinfo(np.int64).max
        first = walk.write(np.where(holds, walk.numbers, latest), "min", fill=latest)
        winner = np.where(own, -1, first)
        return walk.cotangent * own, walk.read(walk.cotangent) * (
            walk.read(winner, fill=-1) == walk.numbers
        )
    if ties == "last":
        last = walk.write(np.where(holds, walk.numbers, -1), "max", fill=-1)
        return walk.cotangent * (own & (last < 0)), walk.read(walk.cotangent) * (
            walk.read(last, fill=-1) == walk.numbers
        )
    share = walk.cotangent
    if walk.nan_ties == "vanish":
        own = own | (walk.counts == 0)
    if ties == "even":
        absent = walk.convention.counts_absent_data and not walk.layout.include_self
        holders = walk.write(holds.astype(np.float64))
        holders = holders + (own | (walk.data == walk.final) if absent else own)
        share = share / holders
        if walk.nan_ties == "vanish":
            share = np.where(holders == 0, 0.0, share)
    return share * own, walk.read(share) * holds


_STEPS_BACK: Mapping[Reduction, Callable[[BackwardWalk], Pair]] = {
    "none": _back_through_set,
    "add": _back_through_add,
    "sub": _back_through_sub,
    "mul": _back_through_mul,
    "div": _back_through_div,
    "pow": _back_through_pow,
    "max": _back_through_extreme,
    "min": _back_through_extreme,
    "mean": _back_through_mean,
    "sqrt_n": _back_through_mean,
}
"""What flows to data and to the updates, for each way in which an update meets its cell."""
