"""Gradients of every operator, over the small worlds: the loop backwards, and slopes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import numpy as np
import oracle
import pytest
from conftest import Array, slow
from float_calls import VALUED, Call, float_calls
from oracle.backward import gather_back, scatter_back, scatter_slopes

import gscli
from gscli.gradients import VALUE
from gscli.gradients.call import trace_gradients
from gscli.kernel.tiles import cell_addresses
from gscli.plan.plan import fit_updates
from gscli.traces import Trace

# Worlds of each operator that are tried every day.
EVERYDAY = 4

# Updates of a call that is tried on dual numbers, too, every day: each number is moved alone.
MOST_DUALS = 16

# Cells of an output whose slopes are looked for one by one.
MOST_CELLS = 60


def walk_back(
    trace: Trace, cotangent: Array, way: Callable[..., tuple[list[float], list[float]]]
) -> dict[str, Array]:
    """The loop walked backwards, or forward on dual numbers, over the addresses of a plan."""
    plan, layout = trace.plan, trace.layout
    addressing = layout.addressing
    cells: list[int | None] = [None] * (layout.entry_count * layout.window_size)
    if not layout.is_noop:
        flat, inside = cell_addresses(plan, 0, layout.entry_count)
        live = np.ones(flat.shape, bool) if inside is None else inside
        cells = [
            int(cell) if is_live else None
            for cell, is_live in zip(flat.flat, live.flat, strict=True)
        ]
    order = np.argsort(addressing.result_axes)
    if layout.kind == "gather":
        flow = cotangent.reshape(layout.result_shape).transpose(order).reshape(-1)
        name = str(layout.data_name)
        data = plan.inputs[name]
        return {name: np.reshape(gather_back(cells, data.size, flow.tolist()), data.shape)}
    updates = layout.updates
    assert updates is not None
    scale = 1 if updates.scale is None else updates.scale
    values = (np.asarray(plan.updates_view(), np.float64) * scale).reshape(-1)
    start = (
        np.full(layout.data_shape, layout.fill_value, np.float64)
        if layout.data_name is None else plan.inputs[layout.data_name]
    ).reshape(-1)  # fmt: skip
    data, passed = way(
        cells, start.tolist(), values.tolist(), cotangent.reshape(-1).tolist(),
        layout.reduction, include_self=layout.include_self,
        starts_from_data=layout.data_name is not None,
    )  # fmt: skip
    gradients = {}
    if layout.data_name is not None:
        gradients[layout.data_name] = np.reshape(data, plan.inputs[layout.data_name].shape)
    passed = [flow * scale for flow in passed]
    if updates.name is None:
        return {**gradients, VALUE: np.asarray(sum(passed))}
    source = plan.inputs[updates.name]
    numbers = np.arange(source.size).reshape(source.shape)
    summed = [0.0] * source.size
    for place, flow in zip(fit_updates(layout, {updates.name: numbers}).flat, passed, strict=True):
        summed[place] += flow
    return {**gradients, updates.name: np.reshape(summed, source.shape)}


def check_against_loop(name: str, count: int | None) -> int:
    """How many gradients of an operator were held against the loop backwards."""
    tried = 0
    for values in ("generic", "ties"):
        for trace in (call.trace for call in float_calls(name, count, values)):
            cotangent = np.random.default_rng(tried).integers(1, 6, trace.output.shape)
            gradients = trace_gradients(trace, cotangent, "loop").arrays
            updates = trace.layout.entry_count * trace.layout.window_size
            small = count is not None and updates <= MOST_DUALS
            for way in (scatter_back, scatter_slopes)[: 1 + small]:
                for key, right in walk_back(trace, cotangent.astype(np.float64), way).items():
                    if key in gradients:
                        own = gradients[key]
                        np.testing.assert_allclose(own, right, 1e-12, 1e-12, err_msg=name)
                        tried += 1
    return tried


# Not those that read first and reduce then: of these only the slopes are known.
READ_OR_WRITTEN = [name for name in VALUED if name not in ("torch.embedding_bag", "torch.nll_loss")]


@pytest.mark.parametrize("name", READ_OR_WRITTEN)
def test_gradients_are_those_of_the_loop_walked_backwards(name: str) -> None:
    assert check_against_loop(name, EVERYDAY) > EVERYDAY / 4


@pytest.mark.slow
@pytest.mark.parametrize("name", READ_OR_WRITTEN)
def test_gradients_of_all_worlds_are_those_of_the_loop(name: str) -> None:
    assert check_against_loop(name, None) > EVERYDAY


def differentiate(call: Call, name: str, cotangent: Array) -> Array:
    """The gradient of one input: how the oracle's outputs change with each of its numbers."""
    source, step = call.inputs[name], 1e-6
    slopes = np.zeros(source.shape)
    for at in np.ndindex(*source.shape):
        ends = []
        for way in (step, -step):
            moved = source.copy()
            moved[at] += way
            ends.append(oracle.run(call.name, {**call.inputs, name: moved}, call.attrs))
        moves = ends[0] != ends[1]  # infinities and NaN of cells that nobody wrote stay
        moves &= ~(np.isnan(ends[0]) & np.isnan(ends[1]))
        change = np.subtract(*ends, where=moves, out=np.zeros(ends[0].shape))
        slopes[at] = np.sum(change * cotangent) / (2 * step)
    return slopes


def is_small(call: Call) -> bool:
    return 0 < call.trace.output.size < MOST_CELLS


@pytest.mark.parametrize("most", [3, *slow([8])])
@pytest.mark.parametrize("name", VALUED)
def test_gradients_are_the_slopes_of_the_oracle(name: str, most: int) -> None:
    tried = 0
    calls = (call for call in float_calls(name, 8, "generic") if is_small(call))
    for call in islice(calls, most):
        output = call.trace.output
        cotangent = np.random.default_rng(tried).integers(1, 6, output.shape)
        gradients = trace_gradients(call.trace, cotangent, "loop").arrays
        for key in call.values:
            slopes = differentiate(call, key, cotangent)
            np.testing.assert_allclose(gradients[key], slopes, 1e-5, 1e-5, err_msg=name)
            tried += 1
    assert tried


@pytest.mark.parametrize(
    ("name", "start", "attrs", "expected"),
    [
        ("jax.lax_dynamic_slice", [5], {"slice_sizes": [2]}, [0, 1, 2]),
        ("jax.lax_gather", [[5]], {"mode": "clip"}, [0, 1, 2]),
        ("jax.lax_gather", [[5]], {"mode": "promise_in_bounds"}, [0, 0, 0]),
    ],
)
def test_jax_lets_gradients_pass_where_a_start_is_clipped_by_rule(
    name: str, start: list[object], attrs: dict[str, object], expected: list[int]
) -> None:
    """As `jax.vjp` of JAX 0.10.2 answers."""
    if "mode" in attrs:
        numbers = {"collapsed_slice_dims": (), "start_index_map": (0,)}
        attrs = {**attrs, **numbers, "offset_dims": (1,), "slice_sizes": (2,)}
    inputs = {"operand": [1.0, 2.0, 3.0], "start_indices": start}
    cotangent = [[1, 2]] if "mode" in attrs else [1, 2]
    assert gscli.grad(name, inputs, attrs, cotangent)["operand"].tolist() == expected


INF, NAN = np.inf, np.nan
PAIR = {"num_segments": 1}


@pytest.mark.parametrize(
    ("name", "inputs", "attrs", "seen"),
    [
        ("torch.index_reduce", {"input": [2.0, INF], "index": [0], "source": [-INF]},
         {"dim": 0, "reduce": "prod"}, {"input": [-INF, NAN], "source": [NAN]}),
        ("torch.scatter_reduce", {"input": [2.0], "index": [0, 0], "src": [INF, 3.0]},
         {"dim": 0, "reduce": "prod"}, {"input": [INF], "src": [NAN, INF]}),
        ("tensorflow.segment_prod", {"data": [-1.0, NAN, 2.0], "segment_ids": [0, 1, 2]}, {},
         {"data": [1, NAN, 1]}),
        ("tensorflow.unsorted_segment_prod", {"data": [-INF, 2.0], "segment_ids": [0, 0]}, PAIR,
         {"data": [NAN, -INF]}),
        ("jax.segment_max", {"data": [-INF, -INF], "segment_ids": [0, 0]}, PAIR,
         {"data": [1 / 3, 1 / 3]}),
        ("jax.segment_min", {"data": [INF, 2.0], "segment_ids": [0, 1]}, {"num_segments": 2},
         {"data": [0.5, 1]}),
        ("jax.at.power", {"x": [0.0, NAN, INF], "indices_0": [0, 1, 2], "values": [0.0] * 3}, {},
         {"x": [NAN, NAN, 0]}),
        ("tensorflow.tensor_scatter_nd_max", {"tensor": [NAN], "indices": [[0]], "updates": [2.0]},
         {"device": "xla_cpu"}, {"tensor": [NAN], "updates": [0]}),
        ("tensorflow.tensor_scatter_nd_max", {"tensor": [NAN], "indices": [[0]], "updates": [2.0]},
         {}, {"tensor": [NAN], "updates": [NAN]}),
    ],
)  # fmt: skip
def test_what_is_not_finite_is_given_what_the_framework_gives(
    name: str, inputs: dict, attrs: dict, seen: dict
) -> None:
    """Seen in PyTorch 2.13.0, TensorFlow 2.21.0 and JAX 0.10.2."""
    arrays = gscli.grad(name, {key: np.array(value) for key, value in inputs.items()}, attrs)
    for key, flow in seen.items():
        np.testing.assert_allclose(arrays[key], flow)
