"""Updates of a scatter in steps: fitted to the result, in its type, put to their place in data."""

from __future__ import annotations

from math import prod

import numpy as np

from gscli.base.arrays import parse_dtype
from gscli.base.records import Record
from gscli.codegen.gather_steps import (
    mask_skipped_cells,
    matrix_shape,
    move_vectors_last,
    stack_coordinates,
)
from gscli.codegen.placement import IndexLowering, LoweredIndices
from gscli.codegen.steps import Constant, SnippetProgram, Value
from gscli.kernel.reductions import REDUCTIONS
from gscli.layout.axes import Fit, Number, Shape


def fit_updates(steps: SnippetProgram, updates: Value, fit: Fit, shape: Shape) -> Value:
    """Updates in the shape of the result, by the framework's own rule."""
    if updates.shape == shape:
        return updates
    if fit is Fit.BROADCAST:
        surplus = max(len(updates.shape) - len(shape), 0)
        return steps.expand(steps.reshape(updates, updates.shape[surplus:]), shape)
    if fit is Fit.CROP:
        return steps.crop(steps.reshape(updates, updates.shape or (1,)), shape)
    if fit is Fit.CYCLE:
        return _repeat_cyclically(steps, updates, shape)
    return steps.reshape(updates, shape)


def _repeat_cyclically(steps: SnippetProgram, updates: Value, shape: Shape) -> Value:
    """Values repeated, or left over, until there are as many as are written."""
    count, size = prod(shape), prod(updates.shape)
    flat = steps.reshape(updates, (size,))
    times = -(-count // size) if size else 0
    if times > 1:
        flat = steps.expand(steps.reshape(flat, (1, size)), (times, size))
        flat = steps.reshape(flat, (times * size,))
    return steps.reshape(steps.crop(flat, (count,)), shape)


def reduction_identity(op: str, dtype: str) -> Constant:
    """What a reduction begins with."""
    return Constant(np.asarray(REDUCTIONS[op].identity(parse_dtype(dtype))).item(), dtype)


def cast_number(value: Number | None, dtype: str) -> Number:
    """A number as an element of a type: whole numbers wrap."""
    if dtype == "str" or isinstance(value, str):
        return value if isinstance(value, str) else ""
    with np.errstate(all="ignore"):
        number: Number = np.asarray(value).astype(parse_dtype(dtype)).item()
    return number


class ReductionRequest(Record):
    """What the target is asked for: a reduction, its own mean, its own way to leave data out."""

    op: str
    mean: bool = False
    leaves_out: bool = False


class ScatterEmitter:
    """Writes updates, with the forms that a target's operations have."""

    def __init__(self, placing: IndexLowering) -> None:
        self.lowering, self.steps, self.layout = placing, placing.steps, placing.layout
        self.target = placing.target
        self.composed = False

    def emit_scatter(
        self, indices: LoweredIndices, base: Value, updates: Value, request: ReductionRequest
    ) -> Value:
        """What `base` is after updates went to their place."""
        return {
            "take": self._emit_slices, "along": self._emit_slices, "vectors": self._emit_vectors,
            "cells": self._emit_cells, "rows": self._emit_rows,
            "direct": self._emit_direct,
        }[indices.native.form](indices, base, updates, request)  # fmt: skip

    def _emit(
        self, form: str, base: Value, updates: Value, request: ReductionRequest, /, *index: Value,
        **facts: object,
    ) -> Value:  # fmt: skip
        own = {"op": request.op, "mean": request.mean,
               "include_self": self.layout.include_self or not request.leaves_out}  # fmt: skip
        name = base.name if base.name == "counts" else "output"
        return self.steps.add(
            f"put_{form}", name, base.shape, base.dtype, base, updates, *index, **own, **facts
        )

    def _emit_slices(
        self, place: LoweredIndices, base: Value, updates: Value, request: ReductionRequest
    ) -> Value:
        """Along an axis; skipped entries go to a row more, which is cut off."""
        assert place.index is not None
        axis, index, shape = place.form.axis, place.index, base.shape
        if place.live is not None:
            self.composed = True
            index = self.steps.where(place.live, index, shape[axis])
            if place.native.out_of_range != "dropped":
                base = self.steps.pad(base, axis)
        if place.native.needs_rank_1_indices or (place.native.refuses_rank_0 and not index.shape):
            flat = prod(index.shape)
            index = self.steps.reshape(index, (flat,))
            updates = self.steps.reshape(updates, (*shape[:axis], flat, *shape[axis + 1 :]))
        output = self._emit(place.native.form, base, updates, request, index, axis=axis)
        return self.steps.crop(output, shape)

    def _emit_vectors(
        self, place: LoweredIndices, base: Value, updates: Value, request: ReductionRequest
    ) -> Value:
        index = move_vectors_last(self.steps, place)
        if place.native.refuses_rank_0 and len(index.shape) == 1:
            index = self.steps.reshape(index, (1, *index.shape))
            updates = self.steps.reshape(updates, (1, *updates.shape))
        return self._emit("vectors", base, updates, request, index, dim=len(index.shape) - 1,
                             length=index.shape[-1])  # fmt: skip

    def _entries_first(self, updates: Value) -> Value:
        """Updates with the axes of entries first."""
        order = self.layout.addressing.result_axes
        return self.steps.transpose(updates, [order.index(at) for at in range(len(order))])

    def _emit_cells(
        self, place: LoweredIndices, base: Value, updates: Value, request: ReductionRequest
    ) -> Value:
        steps, shape = self.steps, base.shape
        count = len(shape) - self.layout.addressing.traveling
        if count == 0:
            base, count = steps.reshape(base, (1, *shape)), 1
        whole = base.shape
        if place.live is not None:
            self.composed = True
            if place.native.out_of_range != "dropped":
                base = steps.pad(base, 0)
        cells = stack_coordinates(
            steps, self.target.name, mask_skipped_cells(steps, place, whole[0]), place.grid
        )
        updates = steps.reshape(self._entries_first(updates), (*place.grid, *whole[count:]))
        if place.native.refuses_rank_0 and not place.grid:
            cells = [steps.reshape(cell, (1, *cell.shape)) for cell in cells]
            updates = steps.reshape(updates, (1, *updates.shape))
        output = self._emit("cells", base, updates, request, *cells, count=count)
        return steps.reshape(steps.crop(output, whole), shape)

    def _emit_rows(
        self, place: LoweredIndices, base: Value, updates: Value, request: ReductionRequest
    ) -> Value:
        """Data as a matrix; entries as numbers of its rows."""
        steps, shape = self.steps, base.shape
        count = len(shape) - self.layout.addressing.traveling
        rows, run = matrix_shape(shape, count)
        cells = (
            mask_skipped_cells(steps, place) if place.live is not None else list(place.coordinates)
        )
        row = steps.emit_fold(cells, shape[:count]) if count else cells[0]
        row = steps.reshape(steps.expand(row, place.grid), (prod(place.grid),))
        base = steps.reshape(base, (rows, run))
        if place.live is not None:
            live = steps.reshape(place.live, row.shape)
            row, base = steps.where(live, row, rows), steps.pad(base, 0)
        updates = steps.reshape(self._entries_first(updates), (prod(place.grid), run))
        output = self._emit("rows", base, updates, request, row, rows=base.shape[0])
        return steps.reshape(steps.crop(output, (rows, run)), shape)

    def _emit_direct(
        self, place: LoweredIndices, base: Value, updates: Value, request: ReductionRequest
    ) -> Value:
        assert place.index is not None
        return self._emit("cells", base, updates, request, place.index, numbers=place.form.numbers)
