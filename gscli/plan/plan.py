"""Plans: a layout plus index values. The only reader of index values.

`Plan.validate` looks at every index before anything is read or written, so that an error leaves no
output. What it returns, a `ValidatedPlan`, is all that the kernel, streams and patches take: block
by block of entries it answers which coordinates each entry addresses after the policy was applied
(per coordinate, never on a folded address) and which entries are live.

The numbers that are used are the numbers that were judged, even where another process writes to a
mapped file meanwhile: who turns them into addresses, `coordinates` or the kernel's compiled loops,
copies a block of them and judges the copy, unless no other process can write to them. Who meets a
bad one calls `raise_out_of_bounds`, which looks at all of them and tells of the first. A result in
memory vanishes with an error, so that no index need be looked at before the walk, which would be
one more pass over all of them: `validate(lazy=True)` leaves that out where the policy is simple
enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import NoReturn

import numpy as np

from gscli.base import Finding
from gscli.base.arrays import (
    Array,
    Arrays,
    BoolArray,
    Indices,
    LiveIndices,
    dtype_name,
    is_private,
    parse_dtype,
)
from gscli.base.records import cached_property
from gscli.disk import mapped
from gscli.layout import BAGS, CELLS, Layout
from gscli.layout.axes import Column, Fit, Negative, OutOfBounds, Shape
from gscli.layout.forms import CanonicalForm
from gscli.plan.indices import (
    BLOCK,
    SMALL_CALL_ENTRIES,
    BoundLayout,
    apply_policy,
    describe_out_of_range,
    make_change_error,
    max_as_unsigned,
    merge_live,
    wrap_negative,
)

# Addresses that a set compares in less time than sorting takes.
_SET_LIMIT = 256

# Bad indices that a refusal describes; it counts the others.
SHOWN_FINDINGS = 3


class Plan(BoundLayout):
    """Which cells of data does entry number i address? Shapes are checked, index values not yet."""

    @cached_property
    def in_bounds(self) -> tuple[bool, ...]:
        """For each column whether its numbers are coordinates as they stand.

        Then the policy has nothing to do: no number is negative, fractional or out of range.
        """
        layout = self.layout
        if not layout.entry_count:
            return (True,) * len(layout.direct_index_limits)
        largest: dict[str, int] = {}
        columns = zip(layout.addressing.columns, layout.direct_index_limits, strict=True)
        return tuple([self._is_in_bounds(column, highest, largest) for column, highest in columns])

    def _is_in_bounds(self, column: Column, highest: int, largest: dict[str, int]) -> bool:
        """`largest` keeps what is known of whole inputs: it usually settles all their columns."""
        if highest < 0:
            return False
        if column.source not in largest:
            largest[column.source] = _max_index(self.inputs[column.source])
        if largest[column.source] <= highest or len(self.layout.direct_index_limits) == 1:
            return largest[column.source] <= highest
        return _max_index(self.input_column(column)) <= highest

    def find_out_of_bounds(self, limit: int | None = None) -> tuple[list[Finding], int]:
        """Every index outside its legal range in entry order, and how many there are in all.

        At most `limit` of them are described.
        """
        if all(self.in_bounds):
            return [], 0
        from gscli.plan.findings import find_out_of_bounds

        wild = [column for column, in_bounds in enumerate(self.in_bounds) if not in_bounds]
        return find_out_of_bounds(self, wild, limit)

    def check_indices(self) -> None:
        """Raise IndexRefused if any index is outside its legal range.

        It names the first bad ones and counts the rest.
        """
        findings, total = self.find_out_of_bounds(SHOWN_FINDINGS)
        if total:
            from gscli.plan.findings import out_of_bounds_error

            raise out_of_bounds_error(self.layout, findings, total)

    def validate(self, *, lazy: bool = False) -> ValidatedPlan:
        """The plan that may be executed; IndexRefused where an index is bad.

        `lazy`: a bad index may also be refused on the way, for what is made then is thrown away.
        """
        # Whether every index meets somebody who judges it, and that is no slower.
        lazy = lazy and self.layout.has_strict_row_indices and not self.layout.is_noop
        if not lazy:
            self.check_indices()
        plan = ValidatedPlan.__new__(ValidatedPlan)
        plan.__dict__.update(self.__dict__)  # what was computed of the indices stays known
        return plan

    def assume_validated(self) -> ValidatedPlan:
        """The plan for somebody who has let others look at every index."""
        return ValidatedPlan(self.layout, self.inputs)

    def skip_refused(self) -> ValidatedPlan:
        """The plan of a refused call for its picture: entries that are refused are left out."""
        policy = self.layout.policy._replace(out_of_bounds=OutOfBounds.SKIP, is_refused=True)
        return ValidatedPlan(self.layout._replace(policy=policy), self.inputs)

    @property
    def has_data_dtype(self) -> bool:
        """Whether the output has the element type of data, if any; what JAX divides may not."""
        data = self.inputs.get(self.layout.data_name or "")
        return data is None or dtype_name(data.dtype) == self.layout.dtype

    @property
    def initial_output(self) -> Array:
        """What a scatter writes into, in the shape of the output: data or the fill, not copied.

        Text that is filled with is of objects, whose length no type cuts.

        >>> import gscli
        >>> inputs = {"indices": [[1]], "updates": [7], "shape": [3]}
        >>> gscli.trace("tensorflow.scatter_nd", inputs).plan.initial_output
        array([0, 0, 0])
        """
        layout = self.layout
        if layout.data_name is not None:
            data = self.inputs[layout.data_name]  # a view of data in chunks would not know them
            return data if data.shape == layout.output_shape else data.reshape(layout.output_shape)
        dtype = object if layout.dtype == "str" else parse_dtype(layout.dtype)
        return np.broadcast_to(np.asarray(layout.fill_value).astype(dtype), layout.output_shape)

    def updates_view(self) -> Array:
        """The values to write as a view of shape `entries ++ window`, in their own dtype."""
        return fit_updates(self.layout, self.inputs)


class ValidatedPlan(Plan):
    """A plan that may be executed: it says which cells each entry addresses, or refuses."""

    def coordinates(self, column: int, numbers: Array) -> LiveIndices:
        """Index numbers of one column after the policy was applied, and which are live.

        Raises as `raise_out_of_bounds` does where a number is bad.
        """
        layout, fractional = self.layout, numbers.dtype.kind == "f"
        # A read stays within data whatever becomes of a number meanwhile: NumPy's take wraps it.
        # Of what is not contiguous a copy is quicker.
        copy = not (layout.kind == "gather" and numbers.flags.c_contiguous and is_private(numbers))
        own = numbers.astype(numbers.dtype if fractional else np.int64, copy=copy)
        highest = layout.direct_index_limits[column]
        if not fractional and (not own.size or max_as_unsigned(own) <= highest):
            return own, None
        axis = layout.axes[layout.column_axes[column]]
        if numbers.dtype == np.uint64:
            own = own.view(np.uint64)
        elif layout.has_strict_row_indices and layout.policy.negative is Negative.FROM_END:
            resolved = wrap_negative(own, axis.size)
            if max_as_unsigned(resolved) < axis.size:
                return resolved, None
            self.raise_out_of_bounds(column)
        refused = describe_out_of_range(own, axis, layout.policy)
        if refused is not None and refused.any():
            self.raise_out_of_bounds(column)
        return apply_policy(own, axis, layout.policy)

    def row_addresses(self, first: int, last: int, steps: Sequence[int]) -> LiveIndices:
        """The columns of some entries folded to one row number each, and which are live.

        Each column counts `steps` times; the row of an entry that is not live has no meaning.
        """
        return fold_coordinates(self._iter_coordinates(first, last), steps, last - first)

    @cached_property
    def small_call_addresses(self) -> LiveIndices | None:
        """The addresses of all entries, and which are live; None where they are many or no rows.

        They are the rows of slices in data without batches, and the cells of elements.
        """
        form, count = self.layout.form, self.layout.entry_count
        if count > SMALL_CALL_ENTRIES:
            return None
        elements = form.kind == "elements"
        if not (elements or form.is_flat):
            return None
        rows, live = self.row_addresses(0, count, form.column_strides)
        return rows + _row_zero_addresses(form) if elements else rows, live

    @property
    def numpy_rows(self) -> Array | None:
        """The row of every entry as NumPy itself understands and judges index numbers.

        That is as the policy does it: each is a row, maybe from the end, or is refused. None where
        the plan has to look at them first.
        """
        layout = self.layout
        alike = layout.has_strict_row_indices and layout.policy.negative is Negative.FROM_END
        if not (alike and layout.form.is_flat and layout.form.column_strides == (1,)):
            return None
        numbers = self.raw_indices(0, 0, layout.entry_count)
        own = numbers.dtype == np.int64 and numbers.flags.c_contiguous and is_private(numbers)
        return numbers if own else None

    @property
    def has_disjoint_writes(self) -> bool:
        """Whether no two entries write one cell, as far as a look at few of them tells."""
        few = self.small_call_addresses
        if few is None or len(few[0]) > _SET_LIMIT:
            return False
        cells = (few[0] if few[1] is None else few[0][few[1]]).tolist()
        return len(set(cells)) == len(cells)

    @property
    def has_exact_updates(self) -> bool:
        """Whether values to write, if there are any, have the type in which they are written."""
        updates = self.layout.updates
        if updates is None or updates.name is None:
            return updates is None
        return dtype_name(self.inputs[updates.name].dtype) == self.layout.dtype

    def resolve_range(self, first: int, last: int) -> tuple[tuple[Indices, ...], BoolArray | None]:
        """Coordinates of some entries, an array for each column, and which of them are live."""
        pairs = list(self._iter_coordinates(first, last))
        return tuple(numbers for numbers, _ in pairs), merge_live(live for _, live in pairs)

    @cached_property
    def entry_factors(self) -> Array | None:
        """What multiplies the cells of each entry before they are folded, 0 for a skipped one.

        One number for each entry, with an axis of size 1 for each of the window.
        """
        fold = self.layout.fold
        if fold is None or not (fold.factors or fold.is_weighted):
            return None
        rows, live = self.resolve_range(0, self.layout.entry_count)
        if fold.factors is None:
            numbers = np.ones(self.layout.entry_count)
        elif fold.are_by_row:
            table = self.inputs[fold.factors]
            table = np.concatenate((table, np.zeros(1, table.dtype)))  # the last of no row
            numbers = table[rows[0] if live is None else np.where(live, rows[0], -1)]
        else:
            numbers = self.inputs[fold.factors].reshape(-1)
        numbers = numbers if live is None else np.where(live, numbers, 0).astype(numbers.dtype)
        addressing = self.layout.addressing
        return numbers.reshape(addressing.entry_shape + (1,) * len(addressing.window))

    def plan_fold(self, cells: Array) -> ValidatedPlan:
        """The scatter of a gather's cells to their bags."""
        assert self.layout.fold is not None
        grid = self.layout.addressing.entry_shape
        _, live = self.resolve_range(0, self.layout.entry_count)
        bags = np.broadcast_to(self.inputs[BAGS], grid)
        if live is not None:
            bags = np.where(live.reshape(grid), bags, -1)
        return ValidatedPlan(self.layout.fold.scatter, {BAGS: bags, CELLS: cells})

    def raise_out_of_bounds(self, column: int = 0) -> NoReturn:
        """What to do about a bad index that was met: IndexRefused, or it changed meanwhile."""
        self.check_indices()
        raise make_change_error(self.layout.addressing.columns[column].source)

    def _iter_coordinates(self, first: int, last: int) -> Iterator[LiveIndices]:
        """The coordinates of some entries, one column after the other, and which are live."""
        for column in range(len(self.layout.direct_index_limits)):
            yield self.coordinates(column, self.raw_indices(column, first, last))


def fold_coordinates(
    resolved: Iterable[LiveIndices], steps: Sequence[int], shape: int | Shape
) -> LiveIndices:
    """One row number for each entry, of such a shape, of the coordinates of their columns, and
    which are live; each column counts `steps` times.

    >>> fold_coordinates([(np.array([1, 2]), None), (np.array([0, 3]), None)], (10, 1), 2)
    (array([10, 23]), None)
    """
    live, total, owned = None, None, False
    for step, (numbers, alive) in zip(steps, resolved, strict=True):
        if alive is not None:
            live = alive if live is None else live & alive
        term = numbers if step == 1 else numbers * step
        if total is None:
            total, owned = term, step != 1
        elif owned:
            total += term
        else:
            total, owned = total + term, True
    return np.zeros(shape, np.int64) if total is None else total, live


@lru_cache(64)
def _row_zero_addresses(form: CanonicalForm) -> Indices:
    """For each index number of elements the address of row 0 of its column of data."""
    batches, _, count, inner = form.result_dims
    starts = np.arange(batches)[:, None, None] * prod(form.data_dims[2:]) + np.arange(inner)
    flat: Indices = np.broadcast_to(starts, (batches, count, inner)).reshape(-1)
    flat.flags.writeable = False
    return flat


def fit_updates(layout: Layout, inputs: Arrays) -> Array:
    """Updates as a view of shape `entries ++ window`, or one value broadcast to it."""
    addressing, updates, shape = layout.addressing, layout.written_updates, layout.result_shape
    if updates.name is None:
        value = np.asarray(updates.value)
        return np.broadcast_to(value, addressing.entry_shape + addressing.window)
    array = inputs[updates.name]
    if array.shape == shape:
        pass  # whichever way they would be fitted
    elif updates.fit is Fit.BROADCAST:
        surplus = max(array.ndim - len(shape), 0)  # axes of size 1, as NumPy assignment drops
        array = np.broadcast_to(array.reshape(array.shape[surplus:]), shape)
    elif updates.fit is Fit.CROP:
        array = array.reshape(array.shape or (1,))[tuple(slice(size) for size in shape)]
    elif updates.fit is Fit.CYCLE:
        flat = array.reshape(-1)
        array = np.resize(flat, shape) if flat.size else np.zeros((0,) * len(shape), array.dtype)
    else:
        array = array.reshape(shape)
    if layout.has_canonical_order:
        return array
    return array.transpose(np.argsort(addressing.result_axes))


def _max_index(numbers: Array) -> int:
    if numbers.nbytes < BLOCK:
        return max_as_unsigned(numbers)
    return max(max_as_unsigned(part) for part in mapped.iter_blocks(numbers))
