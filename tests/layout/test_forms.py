"""Forms decide how addresses are computed and never which."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import Array

from gscli import kernel
from gscli.frameworks import find_operator
from gscli.kernel.tiles import Tiling, cell_addresses
from gscli.layout.forms import build_cells_form, choose_form
from gscli.plan import infer_layout
from gscli.plan.plan import Plan

RNG = np.random.default_rng(4)
DATA = np.arange(6 * 5 * 8).reshape(6, 5, 8)


def at(*shape: int, size: int) -> Array:
    return RNG.integers(0, size, shape)


WINDOWS = {
    "offset_dims": [1, 2], "collapsed_slice_dims": [0], "start_index_map": [0, 2],
    "index_vector_dim": 1, "slice_sizes": [1, 5, 3],
}  # fmt: skip
CASES: list[tuple[str, str, dict[str, Array], dict[str, Any]]] = [
    ("slices", "onnx.gather", {"data": DATA, "indices": at(4, size=6)}, {"axis": 0}),
    ("slices", "onnx.gather", {"data": DATA, "indices": at(4, 2, size=5)}, {"axis": 1}),
    ("slices", "onnx.gather", {"data": DATA, "indices": at(size=8)}, {"axis": 2}),
    ("slices", "onnx.gather_nd", {"data": DATA, "indices": at(7, 2, size=5)}, {}),
    ("slices", "onnx.gather_nd", {"data": DATA, "indices": at(7, 3, size=5)}, {}),
    ("slices", "onnx.gather_nd", {"data": DATA, "indices": at(6, 3, 1, size=5)}, {"batch_dims": 1}),
    ("slices", "onnx.gather_elements", {"data": DATA, "indices": at(6, 5, 9, size=8)}, {"axis": 2}),
    ("slices", "onnx.gather_elements", {"data": DATA, "indices": at(2, 5, 9, size=8)}, {"axis": 2}),
    ("elements", "onnx.gather_elements", {"data": DATA, "indices": at(9, 5, 8, size=6)}, {}),
    ("elements", "onnx.gather_elements", {"data": DATA, "indices": at(4, 7, 3, size=5)},
     {"axis": 1}),
    ("cells", "onnx.gather_elements", {"data": DATA, "indices": at(6, 3, 9, size=8)}, {"axis": 2}),
    ("slices", "numpy.take_along_axis", {"arr": DATA, "indices": at(6, 1, 4, size=8)}, {"axis": 2}),
    ("cells", "numpy.take_along_axis", {"arr": DATA[:1], "indices": at(6, 5, 4, size=8)},
     {"axis": 2}),
    ("cells", "stablehlo.gather", {"operand": DATA, "start_indices": at(7, 2, size=5)}, WINDOWS),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}-{case[3]}")
def test_a_gather_of_addresses_finds_the_addresses(case: tuple[Any, ...]) -> None:
    kind, name, inputs, attrs = case
    layout = infer_layout(find_operator(name), inputs, attrs)
    plan = Plan(layout, inputs).validate(lazy=True)
    assert layout.form.kind == kind
    assert layout.data_name is not None
    found = kernel.gather(plan, inputs[layout.data_name])
    addresses, inside = cell_addresses(plan, 0, layout.entry_count)
    assert inside is None
    order = layout.addressing.result_axes
    full = addresses.reshape(layout.addressing.entry_shape + layout.addressing.window)
    assert found.tolist() == full.transpose(order).tolist()


def test_an_empty_window_has_no_addresses() -> None:
    inputs = {
        "operand": np.zeros((1, 1)), "update": np.zeros((0, 0)), "start_indices": np.array([1, 2])
    }  # fmt: skip
    layout = infer_layout(find_operator("jax.lax.dynamic_update_slice"), inputs, {})
    addresses, _ = cell_addresses(Plan(layout, inputs).validate(), 0, layout.entry_count)
    assert addresses.shape == (1, 0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}-{case[3]}")
def test_any_layout_may_be_taken_for_cells(
    case: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, name, inputs, attrs = case
    layout = infer_layout(find_operator(name), inputs, attrs)
    assert layout.data_name is not None
    expected = kernel.gather(Plan(layout, inputs).validate(lazy=True), inputs[layout.data_name])
    monkeypatch.setattr("gscli.layout.choose_form", build_cells_form)
    general = layout._replace()
    assert general.form.kind == "cells"
    assert (
        kernel.gather(Plan(general, inputs).validate(lazy=True), inputs[layout.data_name]).tolist()
        == expected.tolist()
    )


@pytest.mark.parametrize("block", [1, 3, 10, 1000])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}-{case[3]}")
def test_steps_in_sequence_leave_nothing_out(case: tuple[Any, ...], block: int) -> None:
    _, name, inputs, attrs = case
    layout = infer_layout(find_operator(name), inputs, attrs)
    plan, form = Plan(layout, inputs).validate(lazy=True), layout.form
    assert layout.data_name is not None
    rows = inputs[layout.data_name].reshape(-1, form.row_size)
    tiling = Tiling(plan, block, sequential=True)
    parts = [rows[step.flat_addresses()[0]] for step in tiling.iter_tiles(tiling.partitions)]
    found = np.concatenate(parts).reshape(form.result_dims)
    whole = kernel.gather(plan, inputs[layout.data_name])
    both = layout.addressing.entry_shape + layout.addressing.window
    back = np.argsort(layout.addressing.result_axes)
    canonical = whole.transpose(back).reshape(both).transpose(form.result_axes)
    assert found.reshape(-1).tolist() == canonical.reshape(-1).tolist()


def test_an_axis_that_is_cut_is_still_a_batch_if_it_is_the_first() -> None:
    layout = infer_layout(
        find_operator("onnx.gather_elements"),
        {"data": DATA, "indices": at(2, 5, 9, size=8)},
        {"axis": 2},
    )
    form = choose_form(layout.addressing)
    assert (form.data_dims, form.result_dims, form.row_size) == ((30, 1, 8, 1), (10, 1, 9, 1), 1)
