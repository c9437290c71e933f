"""What flows back through a gather or a scatter: the specification's loop, walked backwards.

Every step of the loop, `cell = f(cell, update)`, has a step back, from the last entry to the first.
All of them together are two moves along the addresses of the same plan: *read*, a gather, and
*write*, a scatter. So policies, windows, batches, masks and slices need no rule here.

    __init__.py     the gradients of one judged call
    conventions.py  what frameworks do where the loop has no one derivative, or against it
    cells.py        the factors of cells, without division, and who equals them
    call.py         gradients of an operator on arrays, and what is told of them

Only floating-point inputs have a gradient. It is computed in float64 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from gscli.base.arrays import Array, BoolArray, Indices
from gscli.gradients.cells import multiply_in_turn, select_equal
from gscli.gradients.conventions import Convention
from gscli.kernel import gather, multiply_cells, scatter
from gscli.kernel.reductions import REDUCTIONS
from gscli.layout import CELLS, SHARES, Layout
from gscli.layout.axes import Fit, Number, OutOfBounds, Policy, Reduction, Updates
from gscli.plan.plan import ValidatedPlan, fit_updates

# The one number that an operator without an input of updates writes everywhere.
VALUE = "value"

# The input that a move reads or writes, beside the plan's own.
COTANGENT = "cotangent"

# The gradient of data, and of each update in the shape of the result.
Pair = tuple[Array, Array]

# Numbers of updates in the order of the loop, and the flat numbers of their cells.
Holders = tuple[Indices, Indices]


class BackwardWalk:
    """One judged plan, walked back from the cotangent of its output, which is float64.

    >>> import gscli
    >>> from gscli.gradients.conventions import LOOP
    >>> run = gscli.trace("gather", {"data": [1.0, 2.0, 3.0], "indices": [2, 0, 2]})
    >>> BackwardWalk(run.plan, run.output, np.array([1.0, 10.0, 100.0]), LOOP).compute_flows()
    {'data': array([ 10.,   0., 101.])}
    """

    def __init__(
        self, plan: ValidatedPlan, output: Array, cotangent: Array, convention: Convention
    ) -> None:
        self.plan, self.convention = plan, convention
        self.layout = plan.layout._replace(policy=choose_policy(plan.layout, convention))
        shape = self.layout.data_shape if self.layout.kind == "scatter" else cotangent.shape
        self.cotangent = cotangent.reshape(shape)
        self.nan_ties = convention.nan_ties if self.layout.data_name else convention.nan_segments
        self.output = output

    def compute_flows(self) -> dict[str, Array]:
        """The gradient of data, of updates, and of the one value written everywhere, by input name.

        All are float64 and have the shapes of their inputs.
        """
        return self.gather_gradients() if self.layout.kind == "gather" else self.scatter_gradients()

    # --- the two moves ------------------------------------------------------------------------

    def read(self, cells: Array) -> Array:
        """What stands in the cell of each update, in the shape of the result; 0 for none."""
        return gather(self.reader.plan_read(cells), cells)

    @cached_property
    def reader(self) -> BackwardWalk:
        """The walk by whose addresses updates read: this one, but where a device clips them."""
        layout, devices = self.layout, self.convention.devices_clipping_reads
        if dict(layout.attributes).get("device") not in devices:
            return self
        policy = layout.policy._replace(out_of_bounds=OutOfBounds.CLIP)
        plan = ValidatedPlan(layout._replace(policy=policy), self.plan.inputs)
        return BackwardWalk(plan, self.output, self.cotangent, self.convention)

    def plan_cells(self) -> ValidatedPlan:
        """A gather that says of each update in which cell it goes, by its number; -1 for none."""
        shape = self.layout.data_shape
        return self.plan_read(np.arange(math.prod(shape), dtype=np.int64).reshape(shape), -1)

    def plan_read(self, cells: Array, fill: Number = 0) -> ValidatedPlan:
        """The gather that `read` is; `fill` for an update without a cell."""
        return self._plan_move(
            COTANGENT, cells, kind="gather", data_name=COTANGENT, fill_value=fill,
            output_shape=self.layout.result_shape,
        )  # fmt: skip

    def write(self, values: Array, reduction: Reduction = "add") -> Array:
        """Values in the shape of the result, brought to their cells, which begin with 0."""
        return scatter(self.plan_write(values, reduction), None)

    def plan_write(self, values: Array, reduction: Reduction = "add") -> ValidatedPlan:
        """The scatter that `write` is."""
        name = SHARES if self.layout.fold else COTANGENT
        return self._plan_move(
            name, values, kind="scatter", reduction=reduction, fill_value=0,
            updates=Updates(name, Fit.RESHAPE), output_shape=self.layout.data_shape,
        )  # fmt: skip

    def _plan_move(self, name: str, values: Array, **facts: Any) -> ValidatedPlan:
        """A move of values, an input of this name; `facts`: what its layout has of its own."""
        move = self.plain_layout._replace(dtype=values.dtype.name, **facts)
        return ValidatedPlan(move, {**self.plan.inputs, name: values})

    @cached_property
    def plain_layout(self) -> Layout:
        """The addresses of the call, and nothing that is done on the way."""
        return self.layout._replace(
            data_name=None, updates=None, reduction="none", include_self=True,
            accumulate_dtype=None, unspecified_order="", fold=None,
        )  # fmt: skip

    # --- gathers ------------------------------------------------------------------------------

    def gather_gradients(self) -> dict[str, Array]:
        """Every cell of data is given the cotangents of the outputs that were read from it."""
        name, fold = self.layout.data_name, self.layout.fold
        assert name is not None
        gradients = {name: self.write(self.cell_flow).reshape(self.plan.inputs[name].shape)}
        if fold is not None and fold.factors is not None and not fold.are_by_row:
            plan = ValidatedPlan(self.layout.read_layout, self.plan.inputs)
            read = gather(plan, plan.inputs[name])
            flow = (self._folded_flow * read).reshape(*self.layout.addressing.entry_shape, -1)
            gradients[fold.factors] = flow.sum(-1)
        return gradients

    @cached_property
    @np.errstate(all="ignore")  # 0 times inf is nan
    def cell_flow(self) -> Array:
        """The cotangents of the cells that a gather reads."""
        factors = self.plan.entry_factors
        return self._folded_flow if factors is None else np.asarray(self._folded_flow * factors)

    @cached_property
    def _folded_flow(self) -> Array:
        """Those of the cells that are folded, which have been multiplied by their factors."""
        fold, plan = self.layout.fold, self.plan
        if fold is None:
            return self.cotangent
        flow, factors = self.cotangent, plan.entry_factors
        if fold.is_weighted and factors is not None:
            flow = flow / factors.sum()  # which is 0 of no weights
        cells = multiply_cells(plan, plan.inputs[str(self.layout.data_name)])
        convention = self.convention._replace(ties="first")
        walk = BackwardWalk(plan.plan_fold(cells), self.output, flow, convention)
        return walk.scatter_gradients()[CELLS]

    # --- scatters -----------------------------------------------------------------------------

    def scatter_gradients(self) -> dict[str, Array]:
        """By the step back of the reduction, then back through the fitting of the updates."""
        layout = self.layout
        if not self.cotangent.size:  # no cell, from which nothing flows
            data, updates = self.cotangent, np.zeros(layout.result_shape)
        else:
            data, updates = _STEPS_BACK.get(layout.reduction, _back_through_sum)(self)
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
        updates = self.layout.written_updates
        if updates.scale is not None:
            gradients = gradients * float(np.real(updates.scale))
        if updates.name is None:
            return {VALUE: np.asarray(gradients.sum())}
        source = self.plan.inputs[updates.name]
        if source.size == gradients.size:  # however they are fitted, each goes to one place
            return {updates.name: gradients.reshape(source.shape)}
        numbers = np.arange(source.size, dtype=np.int64).reshape(source.shape)
        origins = self.in_result_order(fit_updates(self.layout, {updates.name: numbers}))
        summed = np.bincount(origins.reshape(-1), gradients.reshape(-1), source.size)
        return {updates.name: summed.reshape(source.shape)}

    def in_result_order(self, values: Array) -> Array:
        """An array of shape `entries ++ window` in the order of the result's axes."""
        return values.transpose(self.layout.addressing.result_axes)

    def from_loop_order(self, values: Array) -> Array:
        """A number for each update in the order of the loop, in the shape of the result."""
        addressing = self.layout.addressing
        return self.in_result_order(values.reshape(addressing.entry_shape + addressing.window))

    @cached_property
    def data(self) -> Array:
        """What cells hold before the first update."""
        return np.asarray(self.plan.initial_output.reshape(self.layout.data_shape), np.float64)

    @cached_property
    def final(self) -> Array:
        """What cells hold after the last update."""
        return np.asarray(self.output.reshape(self.layout.data_shape), np.float64)

    @cached_property
    def values(self) -> Array:
        """The updates as they are written, in the order of the loop."""
        updates = self.layout.written_updates
        values = np.ascontiguousarray(self.plan.updates_view().reshape(-1), np.float64)
        return values if updates.scale is None else values * float(np.real(updates.scale))

    @cached_property
    def cells(self) -> Indices:
        """In the order of the loop the flat number of the cell of each update, -1 for none."""
        form = self.layout.form
        if form.is_flat and self.layout.window_size == 1:  # the row of each entry
            own = ValidatedPlan(self.layout, self.plan.inputs)
            rows, live = own.row_addresses(0, self.layout.entry_count, form.column_strides)
            return rows if live is None else np.where(live, rows, -1)
        plan = self.plan_cells()
        cells = gather(plan, plan.inputs[COTANGENT])
        order = np.argsort(self.layout.addressing.result_axes)
        return np.ascontiguousarray(cells.transpose(order)).reshape(-1)

    @cached_property
    def counts(self) -> Indices:
        """How many updates each cell takes."""
        return self.write(np.ones(self.layout.result_shape, np.int64))

    @property
    def writers(self) -> Holders:
        """The updates that have a cell."""
        numbers = np.flatnonzero(self.cells >= 0)
        return numbers, self.cells[numbers]

    @property
    def own_holds(self) -> BoolArray:
        """Which cells of data equal the extreme value of their cell."""
        own = self.data == self.final
        if self.nan_holds:
            own = own | (np.isnan(self.data) & np.isnan(self.final))
        # Else data of a cell that takes an update has no part in it.
        return own if self.layout.include_self else np.asarray(own & (self.counts == 0))

    @property
    def counted_holds(self) -> BoolArray:
        """Those that share or come first: of cells without data where the convention has it, and of
        data that takes no part where it is counted all the same.
        """
        if self.layout.data_name is None and not self.convention.counts_start:
            return np.zeros(self.final.shape, np.bool_)
        is_counted = self.convention.counts_absent_data and not self.layout.include_self
        return self.own_holds | (self.data == self.final) if is_counted else self.own_holds

    @cached_property
    def nan_holds(self) -> bool:
        """Whether there is NaN that equals NaN."""
        return self.nan_ties == "hold" and bool(np.isnan(self.final).any())

    @cached_property
    def extreme_holders(self) -> Holders:
        """The updates that equal the extreme value of their cell."""
        final = self.final.reshape(-1)
        numbers = select_equal(self.cells, self.values, final)
        if self.nan_holds and self.layout.written_updates.nan_wins:
            is_nan = np.isnan(self.values) & np.isnan(final)[self.cells] & (self.cells >= 0)
            numbers = np.union1d(numbers, np.flatnonzero(is_nan))
        return numbers, self.cells[numbers]

    def pass_to(self, holders: Holders, share: Array) -> Array:
        """What cells have, brought to some of their updates, in the shape of the result."""
        passed = np.zeros(self.values.size)
        numbers, cells = holders
        passed[numbers] = share.reshape(-1)[cells]
        return self.from_loop_order(passed)

    def multiply_back(self, start: Array, cotangent: Callable[[Array], Array]) -> Pair:
        """The step back of a product: of `start`, and of each factor.

        `cotangent` is that of the product, from the products themselves. A factor's gradient is the
        product of what stood in the cell before it, and of the cotangent and all later factors.
        """
        passed, product = np.empty(self.values.size), start.astype(np.float64).reshape(-1)
        multiply_in_turn(self.cells, self.values, product, passed)
        flow = cotangent(product.reshape(start.shape)).astype(np.float64).reshape(-1)
        multiply_in_turn(self.cells, self.values, flow, passed, back=True)
        return flow.reshape(start.shape), self.from_loop_order(passed)


def choose_policy(layout: Layout, convention: Convention) -> Policy:
    """What becomes of index numbers on the way back: a gather skips some that it has read.

    PyTorch's padding_idx is read as any row is; only its gradient is 0.

    What was only clipped because no mode asks for anything is skipped, too. JAX makes x[2] a slice
    that is clipped on both ways, if no index is an array with axes. A dynamic slice, which has no
    modes, is clipped both ways too. Of TensorFlow's devices XLA clips a gather, and drops in the
    scatter back.
    """
    policy, attributes = layout.policy, dict(layout.attributes)
    if layout.kind == "scatter":
        return policy
    padding = attributes.get("padding_idx")
    if convention.ignores_padding and isinstance(padding, int):
        return policy._replace(ignored=padding % max(layout.axes[layout.column_axes[0]].size, 1))
    clips = "device" not in attributes and attributes.get("mode", "clip") == "clip"
    slices = "subscript" in attributes and not layout.addressing.entry_shape
    drops = convention.drops_clipped_reads and policy.out_of_bounds is OutOfBounds.CLIP
    skips = drops and not (clips or slices)
    return policy._replace(out_of_bounds=OutOfBounds.SKIP) if skips else policy


def _keep_last(holders: Holders, size: int) -> Holders:
    """Of the updates that hold one cell only the last as they come; there are `size` cells."""
    numbers, cells = holders
    winners = np.full(size, -1)
    winners[cells] = numbers  # NumPy keeps the last of equal cells
    cells = np.flatnonzero(winners >= 0)
    return winners[cells], cells


def _back_through_set(walk: BackwardWalk) -> Pair:
    left = np.where(walk.counts > 0, 0.0, walk.cotangent)
    if walk.convention.writers == "last" or walk.layout.written_updates.name is None:
        return left, walk.pass_to(_keep_last(walk.writers, walk.cotangent.size), walk.cotangent)
    return left, walk.read(walk.cotangent)


def _back_through_sum(walk: BackwardWalk) -> Pair:
    reduction, share = walk.layout.reduction, walk.cotangent
    if (divisor := REDUCTIONS[reduction].divisor) is not None:
        terms = np.where(walk.counts > 0, walk.counts + walk.layout.own_terms, 1)
        share = share / divisor(terms.astype(np.float64))
    passed = walk.read(share)
    return share, -passed if reduction == "sub" else passed


def _back_through_mul(walk: BackwardWalk) -> Pair:
    start = walk.data if walk.layout.include_self else np.where(walk.counts > 0, 1.0, walk.data)
    data, passed = walk.multiply_back(start, lambda _: walk.cotangent)
    if walk.convention.divides_products:
        passed[walk.from_loop_order(~np.isfinite(walk.values) & (walk.cells >= 0))] = np.nan
        data[~np.isfinite(walk.data)] = np.nan
    return data, passed


def _back_through_product(walk: BackwardWalk) -> Pair:
    """Where updates are multiplied with each other first, and data meets the product."""
    data, gradient = walk.data, np.empty(walk.data.shape)

    def flow(product: Array) -> Array:
        if walk.layout.reduction == "div":
            gradient[...] = walk.cotangent / product
            return np.asarray(-walk.cotangent * data / product**2)
        gradient[...] = walk.cotangent * (product * data ** (product - 1))
        # 0 ** y has no slope by y.
        return np.asarray(walk.cotangent * data**product * np.log(np.where(data == 0, 1.0, data)))

    _, passed = walk.multiply_back(np.ones_like(data), flow)
    return gradient, passed


def _back_through_extreme(walk: BackwardWalk) -> Pair:
    own, convention, share = walk.own_holds, walk.convention, walk.cotangent
    if walk.nan_ties == "vanish":
        own = own | (walk.counts == 0)
    numbers, cells = walk.extreme_holders
    if convention.ties == "first":
        firsts = _keep_last((numbers[::-1], cells[::-1]), own.size)
        return np.where(own, share, 0.0), walk.pass_to(firsts, np.where(own, 0.0, share))
    count, counted = np.bincount(cells, minlength=own.size).reshape(own.shape), walk.counted_holds
    unheld = (count == 0) & ~(own | counted)  # NaN alone equals nothing, itself neither
    if convention.ties == "even":
        share = share / np.maximum(count + counted, 1)
        numbers, cells = walk.reader.extreme_holders
    elif convention.ties == "last":
        numbers, cells = _keep_last((numbers, cells), own.size)
        own.reshape(-1)[cells] = False
    data, passed = np.where(own, share, 0.0), walk.pass_to((numbers, cells), share)
    if walk.nan_ties == "spread" and unheld.any():
        data[unheld] = np.nan
        # XLA gives 0 to an update that equals nothing, and NaN to data.
        passed[walk.read(unheld) & (walk.reader is walk)] = np.nan
    return data, passed


# What flows to data and to the updates where these are not summed up.
_STEPS_BACK: Mapping[Reduction, Callable[[BackwardWalk], Pair]] = {
    "none": _back_through_set,
    "mul": _back_through_mul,
    **dict.fromkeys(("div", "pow"), _back_through_product),
    **dict.fromkeys(("max", "min"), _back_through_extreme),
}
