"""A call's variants: run as a whole or at some cells alone, and with entries in another order.

At some cells alone the whole result is never made. So causes are tried on results too large to be
made again for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import prod
from typing import TypeAlias, TypeVar

import numpy as np

from gscli.base import GscliError, InputRefused, check_rule
from gscli.base.arrays import Array, Indices, is_lazy
from gscli.base.records import Arguments, Record
from gscli.declare import Signature
from gscli.disk import mapped
from gscli.frameworks.execute import run_kernel
from gscli.kernel.reductions import REDUCTIONS
from gscli.kernel.tiles import WindowRows
from gscli.layout import Layout
from gscli.layout.axes import Fit, Policy, Shape, Tensor
from gscli.layout.families import address_vectors
from gscli.plan import plan_call
from gscli.plan.plan import Plan, ValidatedPlan
from gscli.stream.gather import open_rows
from gscli.traces import Trace

# Addresses or updates that are looked at together.
MAX_BLOCK_ADDRESSES = 1 << 20

# Bytes of an input up to which a changed copy of it is made.
MAX_CHANGED_BYTES = 64 << 20


def run_at_cells(plan: ValidatedPlan, cells: Indices) -> Array:
    """The result at flat `cells`, which ascend, as one row.

    >>> from gscli.traces import trace
    >>> inputs = {"data": [1, 2, 3], "indices": [[0], [2], [0]], "updates": [10, 20, 30]}
    >>> run = trace("onnx.scatter_nd", inputs, {"reduction": "add"})
    >>> run_at_cells(run.plan, np.array([0, 1]))
    array([41,  2])
    """
    if plan.layout.fold is not None:
        return run_kernel(plan).reshape(-1)[cells]
    if plan.layout.kind == "gather":
        return _gather_at_cells(plan, cells)
    return run_kernel(restrict_scatter(plan, cells, range(plan.layout.entry_count)))


def _gather_at_cells(plan: ValidatedPlan, cells: Indices) -> Array:
    layout = plan.layout
    assert layout.data_name is not None
    entries, window = find_reading_entries(layout, cells)
    addresses, live = np.zeros(cells.size, np.int64), np.ones(cells.size, np.bool_)
    windows = WindowRows(plan)
    run = windows.row_size
    for entry in np.unique(entries).tolist():
        here = entries == entry
        rows, exist = windows.resolve(entry, entry + 1)
        steps = window[here] // run
        addresses[here] = rows[0, steps] * run + window[here] % run
        if exist is not None:
            live[here] = exist[0, steps]
    values = take_cells(plan.inputs[layout.data_name], np.where(live, addresses, 0))
    values[~live] = layout.fill_value
    return values


def find_reading_entries(layout: Layout, cells: Indices) -> tuple[Indices, Indices]:
    """For flat cells of a gather's output the entries that read them, and where in their windows.

    >>> from gscli.traces import trace
    >>> run = trace("onnx.gather", {"data": [[1, 2], [3, 4]], "indices": [1, 0]})
    >>> [numbers.tolist() for numbers in find_reading_entries(run.layout, np.array([1, 2]))]
    [[0, 1], [1, 0]]
    """
    addressing, shape = layout.addressing, layout.result_shape
    places = np.unravel_index(cells, shape) if shape else ()
    own = [places[addressing.result_axes.index(axis)] for axis in range(len(places))]
    depth, first = len(addressing.entry_shape), np.zeros_like(cells)  # grids may have no axes
    entries = np.ravel_multi_index((first, *own[:depth]), (1, *addressing.entry_shape))
    return entries, np.ravel_multi_index((first, *own[depth:]), (1, *addressing.window))


def take_cells(array: Array, cells: Indices) -> Array:
    """Some flat cells of an array. Those of a file or of chunks are read: a mapping would grow by
    far more.

    >>> take_cells(np.array([[1, 2], [3, 4]]), np.array([3, 0]))
    array([4, 1])
    """
    if mapped.find_file(array) is None and not is_lazy(array):
        return np.array(array.reshape(-1)[cells])
    values = np.empty(cells.size, array.dtype)
    rows = values.view(np.uint8).reshape(cells.size, array.itemsize)
    open_rows(array, array.itemsize).take(cells, rows)
    return values


def restrict_scatter(plan: ValidatedPlan, cells: Indices, entries: range) -> ValidatedPlan:
    """The scatter of those updates alone that some entries bring to flat `cells`, into these as a
    row of data.
    """
    parts = list(iter_reaching_updates(plan, cells, entries))
    at = np.concatenate([np.empty(0, np.int64), *(places for _, places, _ in parts)])
    none = plan.updates_view().reshape(-1)[:0]
    updates = np.concatenate([none, *(values for _, _, values in parts)])
    return _plan_flat(plan.layout, read_untouched(plan, cells), at, updates)


def read_untouched(plan: ValidatedPlan, cells: Indices | None = None) -> Array:
    """What a scatter writes into, as it is: the whole, or some flat cells of it in a row."""
    return plan.initial_output if cells is None else take_cells(plan.initial_output, cells)


def _plan_flat(layout: Layout, data: Array, at: Indices, updates: Array) -> ValidatedPlan:
    """A scatter by the rules of another one, of single updates to cells of a row of data."""
    indices = at.reshape(-1, 1)
    tensors = Tensor("data", data.shape, layout.dtype), Tensor("indices", indices.shape, "int64")
    flat = layout._replace(
        addressing=address_vectors(*tensors),
        policy=Policy(),
        data_name="data",
        data_shape=data.shape,
        output_shape=data.shape,
        updates=layout.written_updates._replace(name="updates", fit=Fit.EXACT, value=None),
    )
    return Plan(flat, {"data": data, "indices": indices, "updates": updates}).validate()


def iter_reaching_updates(
    plan: ValidatedPlan, cells: Indices, entries: range
) -> Iterator[tuple[Indices, Indices, Array]]:
    """Entries, places among `cells`, which ascend, that they write, and the updates, in order."""
    layout = plan.layout
    if layout.is_noop:
        return
    updates, windows = plan.updates_view(), WindowRows(plan)
    run, are_all = windows.row_size, cells.size == layout.output_size
    block = max(MAX_BLOCK_ADDRESSES // layout.window_size, 1)
    for first in entries[::block]:
        rows, exist = windows.resolve(first, min(first + block, entries.stop))
        reached = np.ones(rows.shape, np.bool_) if are_all else np.isin(rows, cells // run)
        numbers, steps = np.nonzero(reached if exist is None else reached & exist)
        if not numbers.size:
            continue
        flat = rows[numbers, steps][:, None] * run + np.arange(run)
        places = flat if are_all else np.minimum(np.searchsorted(cells, flat), cells.size - 1)
        chosen = cells[places] == flat
        grid = np.unravel_index(first + numbers, layout.addressing.entry_shape or (1,))
        view = updates if layout.addressing.entry_shape else updates[None]
        values = view[grid].reshape(len(numbers), -1, run)[np.arange(len(numbers)), steps]
        yield first + numbers[chosen.nonzero()[0]], places[chosen], values[chosen]


# Causes, and what runs each.
DeferredRuns: TypeAlias = Iterator[tuple[str, Callable[[], Array]]]

ArrayTransform: TypeAlias = Callable[[Array], Array]

Answer = TypeVar("Answer")


def run_candidates(
    candidates: Iterable[tuple[str, Callable[[], Answer]]],
) -> Iterator[tuple[str, Answer]]:
    """Causes and their answers; those whose arithmetic or order does not exist are left out."""
    for cause, run in candidates:
        try:
            with np.errstate(all="ignore"):
                answer = run()
        except (GscliError, TypeError, ValueError):
            continue
        yield cause, answer


class CallVariants(Record):
    """The call whose variants are run, as a whole or at some `cells` of its output alone, in a row.

    These are flat numbers, and ascend. `expected_shape`: that of the answer that is looked for.
    """

    trace: Trace
    cells: Indices | None
    expected_shape: Shape

    def output_of(self, plan: ValidatedPlan) -> Array:
        """What a variant gives; InputRefused where it has another shape, or keeps a rule that
        refuses the call, whose plan drops entries only to be drawn.
        """
        fits = not plan.layout.policy.is_refused and plan.layout.output_shape == self.expected_shape
        check_rule(fits, "the call is refused, or has another shape", kind=InputRefused)
        return run_kernel(plan) if self.cells is None else run_at_cells(plan, self.cells)

    def run(
        self, operator: Signature, inputs: Arguments, attrs: Arguments
    ) -> tuple[ValidatedPlan, Array]:
        """A variant's plan and what it gives."""
        plan = plan_call(operator, inputs, attrs).validate()
        return plan, self.output_of(plan)

    def with_layout(self, layout: Layout) -> Array:
        """What the same inputs give under another layout."""
        return self.output_of(Plan(layout, self.trace.inputs).validate())

    def with_inputs(self, changes: Mapping[str, ArrayTransform]) -> Array:
        """What the operator gives for other inputs; InputRefused for large ones."""
        inputs = self.trace.call_inputs
        for name, change in changes.items():
            check_rule(inputs[name].nbytes <= MAX_CHANGED_BYTES, "too large", kind=InputRefused)
            inputs[name] = np.ascontiguousarray(change(inputs[name]))
        return self.run(self.trace.operator, inputs, self.trace.attributes)[1]

    def with_attributes(self, changes: Arguments) -> Array:
        """What the operator gives with other attributes."""
        attrs = {**self.trace.attributes, **changes}
        return self.run(self.trace.operator, self.trace.call_inputs, attrs)[1]


# Updates that are put in another order at most.
MAX_REORDERED_UPDATES = 1 << 22


def order_mistakes(call: CallVariants) -> DeferredRuns:
    """Each mistake in which entries there are and in their order, and what runs it."""
    layout, every = call.trace.layout, range(call.trace.layout.entry_count)
    count = len(every) * max(layout.window_size, 1)
    runs = layout.kind == "scatter" and not layout.is_noop and not call.trace.is_refused
    if not runs or (call.cells is None and count > MAX_REORDERED_UPDATES):
        return
    rule, orders = REDUCTIONS[layout.reduction], dict[str, str]()
    if rule.ufunc is None:
        orders = {"the first update of a cell stays, not the last": "first"}
    # A cell meets its updates one after the other, and nothing else happens to it.
    elif rule.divisor is None and rule.epilogue is None and layout.include_self:
        alone = "of updates to the same cell only the {} one counts".format
        # Without a value of its own a cell has the last update where the reduction is missing.
        is_owned = layout.data_name is not None or call.trace.attributes.get("initial") is not None
        orders = {alone(kept): kept for kept in ("last", "first")[not is_owned :]}
        orders["updates are combined in reverse order"] = "reverse"
    for cause, kept in orders.items():
        yield cause, partial(_run_in_order, call, every, kept)
    row = prod(layout.addressing.entry_shape[1:])
    for size, noun in {row: "row of entries", 1: "entry"}.items():
        yield f"the first {noun} is left out", partial(_run_in_order, call, every[size:])
        yield f"the last {noun} is left out", partial(_run_in_order, call, every[:-size])


def _run_in_order(call: CallVariants, entries: range, kept: str = "all") -> Array:
    """Updates of some entries met as they are, or "first" or "last" of each cell alone, or all in
    "reverse".
    """
    layout, output = call.trace.layout, call.trace.output
    cells = np.arange(output.size) if call.cells is None else call.cells
    flat = restrict_scatter(call.trace.plan, cells, entries)
    data, at, values = (flat.inputs[name] for name in ("data", "indices", "updates"))
    order = np.arange(len(at))[:: 1 if kept in ("all", "last") else -1]
    if kept in ("first", "last"):
        winners = np.full(data.size, -1)
        winners[at[order, 0]] = order  # NumPy keeps the last of equal cells
        order = winners[winners >= 0]
    result = run_kernel(_plan_flat(layout, data, at[order], values[order]))
    return result.reshape(output.shape if call.cells is None else -1)
