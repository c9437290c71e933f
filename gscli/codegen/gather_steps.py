"""A gather as steps of one target."""

from __future__ import annotations

from math import prod

from gscli.codegen.placement import IndexLowering, LoweredIndices
from gscli.codegen.steps import SnippetProgram, Value
from gscli.layout.axes import Shape


def emit_gather(lowering: IndexLowering, data: Value) -> tuple[Value, LoweredIndices]:
    """The output, and the place that it is read from."""
    steps, layout = lowering.steps, lowering.layout
    data = steps.reshape(data, layout.view_shape)
    match = lowering.match(lowering.target.gather_ops)
    assert match is not None, "every target gathers cells"
    native = match[0]
    place = lowering.lower(*match)
    if place.live is not None and place.index is not None:
        place.index = steps.where(place.live, place.index, 0)
    output = {"take": _emit_take, "along": _emit_take_along, "vectors": _emit_vectors,
        "cells": _emit_cells,
             "direct": _emit_direct}[native.form](lowering, place, data)  # fmt: skip
    if place.live is not None:
        mask = steps.reshape(place.live, _live_mask_shape(lowering, place))
        output = steps.where(mask, output, layout.fill_value, "output")
    if native.form == "cells":
        entries_and_window = layout.addressing.entry_shape + layout.addressing.window
        output = steps.reshape(output, entries_and_window)
        output = steps.transpose(output, layout.addressing.result_axes)
    return steps.reshape(output, layout.output_shape), place


def _live_mask_shape(placing: IndexLowering, place: LoweredIndices) -> Shape:
    """What is live, with an axis of size 1 for each axis that moves along."""
    assert place.live is not None
    live, form = place.live.shape, place.form
    if place.native.form == "along":
        return live
    if place.native.form == "take":
        rank = len(placing.layout.axes)
        return (*live[: form.batch], *(1,) * (form.axis - form.batch),
                *live[form.batch :], *(1,) * (rank - form.axis - 1))  # fmt: skip
    return (*live, *(1,) * placing.addressing.traveling)


def _emit_take(placing: IndexLowering, place: LoweredIndices, data: Value) -> Value:
    assert place.index is not None
    return placing.steps.add(
        "take", "output", placing.layout.result_shape, data.dtype, data, place.index,
        axis=place.form.axis, batch=place.form.batch,
    )  # fmt: skip


def _emit_take_along(placing: IndexLowering, place: LoweredIndices, data: Value) -> Value:
    assert place.index is not None
    axis = place.form.axis
    if not place.native.takes_smaller:
        shape = tuple(
            size if at == axis else extent
            for at, (size, extent) in enumerate(zip(data.shape, place.index.shape, strict=True))
        )
        data = placing.steps.crop(data, shape)
    return placing.steps.add(
        "along", "output", place.index.shape, data.dtype, data, place.index, axis=axis
    )


def _emit_vectors(placing: IndexLowering, place: LoweredIndices, data: Value) -> Value:
    assert place.index is not None
    index = move_vectors_last(placing.steps, place)
    return placing.steps.add(
        "vectors", "output", placing.layout.result_shape, data.dtype, data, index,
        batch=place.form.batch, dim=len(index.shape) - 1, length=index.shape[-1],
    )  # fmt: skip


def move_vectors_last(steps: SnippetProgram, place: LoweredIndices) -> Value:
    """Index vectors along the last axis."""
    assert place.index is not None
    dim, rank = place.form.vector_dim, len(place.index.shape)
    return steps.transpose(place.index, [*(at for at in range(rank) if at != dim), dim])


def mask_skipped_cells(
    steps: SnippetProgram, place: LoweredIndices, beyond: int = 0
) -> list[Value]:
    """Coordinates in which those of skipped entries are 0, or `beyond` on the first axis."""
    if place.live is None:
        return list(place.coordinates)
    cells = []
    for number, cell in enumerate(place.coordinates):
        value = beyond if number == 0 else 0
        cells.append(steps.where(place.live, cell, value))
    return cells


def _emit_cells(placing: IndexLowering, place: LoweredIndices, data: Value) -> Value:
    steps = placing.steps
    count = len(data.shape) - placing.addressing.traveling
    if count == 0:
        data = steps.reshape(data, (1, *data.shape))
        count = 1
    cells, grid = mask_skipped_cells(steps, place), place.grid
    return steps.add(
        "cells", "output", (*grid, *data.shape[count:]), data.dtype, data,
        *stack_coordinates(steps, placing.target.name, cells, grid), count=count, grid=grid,
    )  # fmt: skip


VECTOR_TARGETS = ("tensorflow", "onnx", "openvino", "stablehlo")
"""Targets that take index vectors as one array."""


def stack_coordinates(
    steps: SnippetProgram, target: str, cells: list[Value], grid: Shape
) -> list[Value]:
    """Coordinates as one array of vectors, for targets that want them so."""
    if target not in VECTOR_TARGETS:
        return cells
    cells = [steps.expand(cell, grid) for cell in cells]
    return [steps.stack(cells, len(grid))]


def _emit_direct(placing: IndexLowering, place: LoweredIndices, data: Value) -> Value:
    assert place.index is not None
    return placing.steps.add(
        "cells", "output", placing.layout.result_shape, data.dtype, data, place.index,
        numbers=place.form.numbers, sizes=tuple(axis.span for axis in placing.layout.axes),
    )  # fmt: skip


def matrix_shape(shape: Shape, count: int) -> tuple[int, int]:
    """A shape as a matrix: its first `count` axes are rows."""
    return prod(shape[:count]), prod(shape[count:])
