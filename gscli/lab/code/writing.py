"""A scatter as steps of one target."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from gscli.base import dtypes
from gscli.base.arrays import dtype_named
from gscli.kernel.reductions import REDUCTIONS
from gscli.lab.code import forms
from gscli.lab.code.native import Native
from gscli.lab.code.places import Impossible, Place, Placing
from gscli.lab.code.reading import live_cells, rows_of, stacked, vectors_last
from gscli.lab.code.steps import Literal, Value
from gscli.layout.axes import Number, Shape
from gscli.layout.layout import Fit

FOR_BOOL = {"add": "max", "mul": "min", "max": "max", "min": "min", "none": "none", "sub": "add"}
"""What a reduction is for False and True as 0 and 1; sub asks whether their number is odd."""


class Operation(NamedTuple):
    """What the target is asked for: a reduction, its own mean, its own way to leave data out."""

    op: str
    mean: bool = False
    leaves_out: bool = False


class Writing:
    """One scatter for one target; `composed` once it takes more than one operation."""

    def __init__(self, placing: Placing, data: Value | None, updates: Value | None) -> None:
        self.placing, self.steps, self.layout = placing, placing.steps, placing.layout
        self.target, self.data, self.given = placing.target, data, updates
        self.composed = False
        self.rule = REDUCTIONS.get(self.layout.reduction)
        self.averages = self.rule is not None and self.rule.divisor is not None
        self.op = self._op()
        self.work = self._working_type()

    def output(self) -> tuple[Value, Place]:
        """The output, and the place that is written to."""
        place, asked = self._placed()
        base, updates = self._base(), self._updates()
        reduction = self.layout.reduction
        if reduction == "sub" and asked.op == "add" and not self._is_of_bool():
            updates = self._add("negative", updates)
        if self.rule is not None and self.rule.meet is not None:
            found = self._met(place, updates)
        elif self.averages and not asked.mean:
            found = self._mean(place, base, updates)
        else:
            if not self.layout.include_self and reduction != "none" and not asked.leaves_out:
                base = self._from_identity(place, base)
            found = self._narrowed(self._put(place, base, updates, asked))
        return self.steps.reshape(found, self.layout.output_shape), place

    def _op(self) -> str:
        """The reduction as targets know it: bool has only max and min, a mean begins as a sum."""
        reduction = self.layout.reduction
        if self._is_of_bool():
            return FOR_BOOL.get(reduction, reduction)
        complex_order = reduction in ("max", "min") and self.layout.dtype in dtypes.COMPLEX
        if complex_order and not self.target.complex_order:
            raise Impossible(f"{self.target.title} does not order complex numbers")
        if self.rule is not None and self.rule.meet is not None:
            return "mul"
        return "add" if self.averages else reduction

    def _is_of_bool(self) -> bool:
        """Whether each step combines bool with bool."""
        layout = self.layout
        assert layout.updates is not None
        plain = self.given is None or self.given.dtype == "bool" or layout.updates.cast
        return layout.dtype == "bool" and layout.accumulate is None and plain

    def _working_type(self) -> str:
        """The type that the reduction runs in."""
        layout = self.layout
        if layout.accumulate is not None:
            return layout.accumulate
        if self._is_of_bool() and layout.reduction != "none":
            odd = layout.reduction == "sub"
            return "int32" if odd or not self.target.bool_reductions else "bool"
        return layout.dtype

    def _placed(self) -> tuple[Place, Operation]:
        """The operation that does most of it: first one that needs nothing composed."""
        mean, out = self.layout.reduction == "mean", not self.layout.include_self
        alone = (mean or (out and self.op != "none")) and self.work == self.layout.dtype
        wishes = [Operation(self.op, mean, out)] * alone + [Operation(self.op)]
        if self.op == "sub":
            wishes.append(Operation("add"))
        for wish in wishes:
            for native in self.target.writes:
                if self._does(native, wish):
                    count = len(self.steps.steps)
                    place = self.placing.place(native)
                    if place is not None:
                        self.composed |= native.form in ("rows", "dense") or wish.op != self.op
                        return place, wish
                    del self.steps.steps[count:]
        raise Impossible(f"{self.target.title} has no scatter with {self.op}")

    @staticmethod
    def _does(native: Native, wish: Operation) -> bool:
        able = native.mean or not wish.mean
        return wish.op in native.reductions and able and (native.start or not wish.leaves_out)

    def _add(self, form: str, x: Value, /, *others: Value, **facts: object) -> Value:
        self.composed = True
        return self.steps.add(form, x.name, x.shape, x.dtype, x, *others, **facts)

    def _base(self) -> Value:
        """What is written into, in the working type."""
        layout, steps = self.layout, self.steps
        if self.data is None:
            return steps.full(layout.view_shape, layout.fill, self.work, "output")
        data = steps.reshape(self.data, layout.view_shape)
        if data.dtype != self.work:
            self.composed = True
        return steps.cast(data, self.work)

    def _updates(self) -> Value:
        """The values to write, fitted to the shape of the result and in the working type."""
        layout, steps = self.layout, self.steps
        declared = layout.updates
        assert declared is not None
        wanted = layout.result_shape
        if self.given is None:
            value = _as_type(declared.value, layout.dtype)
            return steps.full(wanted, value, self.work, "updates")
        found = self._fitted(self.given, declared.fit, wanted)
        if found.dtype != self.work:
            self._castable(found.dtype)
            found = steps.cast(found, self.work)
        if declared.scale is not None:
            factor = Literal(_as_type(declared.scale, self.work), self.work)
            found = self._add("times", found, factor=factor)
        return self._comparable(found)

    def _castable(self, dtype: str) -> None:
        """Where each step runs in a wider type than data's, only whole conversions are the same."""
        declared = self.layout.updates
        assert declared is not None
        if declared.cast or self.layout.reduction == "none" or self.layout.accumulate is not None:
            return
        if np.can_cast(dtype_named(dtype), dtype_named(self.work), "safe"):
            return
        raise Impossible(
            f"every step runs in the type of {self.layout.dtype} and {dtype}, "
            f"and its result is cut to {self.layout.dtype}"
        )

    def _fitted(self, updates: Value, fit: Fit, wanted: Shape) -> Value:
        steps = self.steps
        if updates.shape == wanted:
            return updates
        if fit is Fit.BROADCAST:
            surplus = max(len(updates.shape) - len(wanted), 0)
            return steps.expand(steps.reshape(updates, updates.shape[surplus:]), wanted)
        if fit is Fit.CROP:
            return steps.crop(steps.reshape(updates, updates.shape or (1,)), wanted)
        if fit is Fit.CYCLE:
            return self._cycled(updates, wanted)
        return steps.reshape(updates, wanted)

    def _cycled(self, updates: Value, wanted: Shape) -> Value:
        """Values repeated, or left over, until there are as many as are written."""
        steps, count = self.steps, prod(wanted)
        size = prod(updates.shape)
        flat = steps.reshape(updates, (size,))
        times = -(-count // size) if size else 0
        if times > 1:
            flat = steps.expand(steps.reshape(flat, (1, size)), (times, size))
            flat = steps.reshape(flat, (times * size,))
        return steps.reshape(steps.crop(flat, (count,)), wanted)

    def _comparable(self, updates: Value) -> Value:
        """NaN that must not win becomes what changes nothing, where the target lets NaN win."""
        declared = self.layout.updates
        assert declared is not None
        loses = not declared.nan_wins and self.target.nan_wins is not False
        compared = self.layout.reduction in ("max", "min") and self.placing.meaning.has_nan
        if not (loses and compared) or updates.dtype not in dtypes.FLOATS:
            return updates
        nan = self._add("is_nan", updates)._replace(dtype="bool")
        self.steps.steps[-1] = self.steps.steps[-1]._replace(result=nan)
        return self._add("instead", updates, nan, fill=_identity(self.op, self.work))

    def _narrowed(self, found: Value) -> Value:
        """The result in the type of the output."""
        layout = self.layout
        if self._is_of_bool() and layout.reduction == "sub":
            found = self._add("mod", found, sizes=Literal(2, found.dtype))
        if found.dtype != layout.dtype:
            self.composed = True
        return self.steps.cast(found, layout.dtype)

    # Compositions.

    def _counted(self, place: Place, start: int) -> Value:
        """How many updates each cell gets, and `start`."""
        steps, layout = self.steps, self.layout
        zeros = steps.full(layout.view_shape, start, "int32", "counts")
        ones = steps.full(layout.result_shape, 1, "int32", "ones")
        self.composed = True
        return self._put(place, zeros, ones, Operation("add"))

    def _from_identity(self, place: Place, base: Value) -> Value:
        """Data, but the identity where something is written."""
        if not any("add" in native.reductions for native in [place.native]):
            raise Impossible(f"{self.target.title} cannot leave data out of {self.op} here")
        touched = self.steps.cast(self._counted(place, 0), "bool")
        return self.steps.add(
            "replaced",
            "data",
            base.shape,
            base.dtype,
            base,
            touched,
            fill=_identity(self.op, self.work),
        )

    def _mean(self, place: Place, base: Value, updates: Value) -> Value:
        """The sum by the number of terms; integers round toward minus infinity."""
        steps, layout = self.steps, self.layout
        counts = self._counted(place, int(layout.include_self))
        if not layout.include_self:
            touched = steps.cast(counts, "bool")
            base = steps.add("replaced", "data", base.shape, base.dtype, base, touched,
                             fill=Literal(0, base.dtype))  # fmt: skip
            counts = steps.where(touched, counts, 1)
        sums = self._put(place, base, updates, Operation("add"))
        sums = steps.cast(sums, layout.dtype)
        counts = steps.cast(counts, layout.dtype)
        if layout.reduction == "sqrt_n":
            counts = self._add("sqrt", counts)
        whole = layout.dtype in dtypes.INTEGERS
        return steps.add("floor_divide" if whole else "divide", "output", sums.shape, sums.dtype,
                         sums, counts)  # fmt: skip

    def _met(self, place: Place, updates: Value) -> Value:
        """The product of each cell's updates, which data is divided by, or raised to."""
        steps, layout, data = self.steps, self.layout, self.data
        assert data is not None
        whole = data.dtype not in (*dtypes.FLOATS, *dtypes.COMPLEX)
        if data.dtype == "bool" or (layout.reduction == "pow" and whole):
            raise Impossible("powers of whole numbers and bool have rules of JAX's own")
        self.composed = True
        kind = layout.accumulate or data.dtype
        ones = steps.full(layout.view_shape, 1, kind, "output")
        product = self._put(place, ones, steps.cast(updates, kind), Operation("mul"))
        product = steps.cast(steps.cast(product, data.dtype), layout.dtype)
        data = steps.cast(steps.reshape(data, layout.view_shape), layout.dtype)
        form = "power" if layout.reduction == "pow" else "divide"
        return steps.add(form, "output", data.shape, data.dtype, data, product)

    # One operation.

    def _put(self, place: Place, base: Value, updates: Value, asked: Operation) -> Value:
        return {
            "take": self._put_slices, "along": self._put_slices, "vectors": self._put_vectors,
            "cells": self._put_cells, "rows": self._put_rows, "dense": self._put_rows,
            "direct": self._put_direct,
        }[place.native.form](place, base, updates, asked)  # fmt: skip

    def _written(
        self, form: str, base: Value, updates: Value, asked: Operation, /, *index: Value,
        **facts: object,
    ) -> Value:  # fmt: skip
        own = {"op": asked.op, "mean": asked.mean,
               "include_self": self.layout.include_self or not asked.leaves_out}  # fmt: skip
        name = base.name if base.name == "counts" else "output"
        return self.steps.add(
            f"put_{form}", name, base.shape, base.dtype, base, updates, *index, **own, **facts
        )

    def _put_slices(self, place: Place, base: Value, updates: Value, asked: Operation) -> Value:
        """Along an axis; skipped entries go to a row more, which is cut off."""
        assert isinstance(place.form, forms.Form)
        assert place.index is not None
        axis, index, shape = place.form.axis, place.index, base.shape
        if place.live is not None:
            self.composed = True
            index = self.steps.where(place.live, index, shape[axis])
            if place.native.outside != "dropped":
                base = self.steps.pad(base, axis)
        if place.native.flat or (place.native.ranked and not index.shape):
            flat = prod(index.shape)
            index = self.steps.reshape(index, (flat,))
            updates = self.steps.reshape(updates, (*shape[:axis], flat, *shape[axis + 1 :]))
        found = self._written(place.native.form, base, updates, asked, index, axis=axis)
        return self.steps.crop(found, shape)

    def _put_vectors(self, place: Place, base: Value, updates: Value, asked: Operation) -> Value:
        index = vectors_last(self.steps, place)
        if place.native.ranked and len(index.shape) == 1:
            index = self.steps.reshape(index, (1, *index.shape))
            updates = self.steps.reshape(updates, (1, *updates.shape))
        return self._written("vectors", base, updates, asked, index, dim=len(index.shape) - 1,
                             length=index.shape[-1])  # fmt: skip

    def _by_entries(self, updates: Value) -> Value:
        """Updates with the axes of entries first."""
        order = self.layout.addressing.order
        return self.steps.transpose(updates, [order.index(at) for at in range(len(order))])

    def _put_cells(self, place: Place, base: Value, updates: Value, asked: Operation) -> Value:
        assert isinstance(place.form, forms.Form)
        steps, shape = self.steps, base.shape
        count = len(shape) - place.form.batch
        if count == 0:
            base, count = steps.reshape(base, (1, *shape)), 1
        whole = base.shape
        if place.live is not None:
            self.composed = True
            if place.native.outside != "dropped":
                base = steps.pad(base, 0)
        cells = stacked(steps, self.target.name, live_cells(steps, place, whole[0]), place.grid)
        updates = steps.reshape(self._by_entries(updates), (*place.grid, *whole[count:]))
        if place.native.ranked and not place.grid:
            cells = [steps.reshape(cell, (1, *cell.shape)) for cell in cells]
            updates = steps.reshape(updates, (1, *updates.shape))
        found = self._written("cells", base, updates, asked, *cells, count=count)
        return steps.reshape(steps.crop(found, whole), shape)

    def _put_rows(self, place: Place, base: Value, updates: Value, asked: Operation) -> Value:
        """Data as a matrix; entries as numbers of its rows."""
        assert isinstance(place.form, forms.Form)
        steps, shape = self.steps, base.shape
        count = len(shape) - place.form.batch
        rows, run = rows_of(shape, count)
        cells = live_cells(steps, place) if place.live is not None else list(place.cells)
        row = steps.folded(cells, shape[:count]) if count else cells[0]
        row = steps.reshape(steps.expand(row, place.grid), (prod(place.grid),))
        base = steps.reshape(base, (rows, run))
        if place.live is not None:
            live = steps.reshape(place.live, row.shape)
            row, base = steps.where(live, row, rows), steps.pad(base, 0)
        updates = steps.reshape(self._by_entries(updates), (prod(place.grid), run))
        found = self._written(place.native.form, base, updates, asked, row,
                              rows=base.shape[0], identity=_identity(asked.op, base.dtype))  # fmt: skip
        return steps.reshape(steps.crop(found, (rows, run)), shape)

    def _put_direct(self, place: Place, base: Value, updates: Value, asked: Operation) -> Value:
        assert place.index is not None
        return self._written("direct", base, updates, asked, place.index, numbers=place.form)


def _identity(op: str, dtype: str) -> Literal:
    """What a reduction begins with."""
    return Literal(np.asarray(REDUCTIONS[op].identity(dtype_named(dtype))).item(), dtype)


def _as_type(value: Number | None, dtype: str) -> Number:
    """A number as an element of a type: whole numbers wrap."""
    if dtype == "str" or isinstance(value, str):
        return value if isinstance(value, str) else ""
    with np.errstate(all="ignore"):
        found: Number = np.asarray(value).astype(dtype_named(dtype)).item()
    return found
