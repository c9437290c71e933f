"""The laws of the design: what must hold between operators, plans, traces and the kernel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from math import prod
from typing import Any

import numpy as np
import oracle
import pytest
from conftest import Array, assert_same, slow
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import GOOD, World

import gscli
from gscli import kernel
from gscli.frameworks import find_operator
from gscli.kernel.tiles import cell_addresses
from gscli.kernel.tuning import Tuning
from gscli.lab.examples import build_probe
from gscli.layout.axes import Box
from gscli.traces import Trace, trace_call

EVERYDAY, PER_OPERATOR = 4, 40
TUNINGS = [
    Tuning(tile_size=block, threads=threads, parallel_bytes=0)
    for block, threads in [(1, 1), (3, 2), (7, 1), (1 << 16, 2)]
]
bounded = settings(derandomize=True, max_examples=30, deadline=None, database=None)


def test_complex_nans_are_the_same_part_by_part() -> None:
    """What every recorded answer is held with."""
    nan = float("nan")
    assert_same(np.array([complex(nan, 1)]), np.array([complex(nan, 1)]))
    with pytest.raises(AssertionError):
        assert_same(np.array([complex(nan, 1)]), np.array([complex(nan, 2)]))


@cache
def answered(name: str, count: int) -> tuple[World, ...]:
    """The first worlds of an operator that have an answer with something in it."""
    worlds = GOOD[name]()
    found = (world for world in worlds[:: max(len(worlds) // 400, 1)] if _answers(world))
    return tuple(itertools.islice(found, count))


def _answers(world: World) -> bool:
    try:
        return oracle.run(world.name, world.inputs, world.attrs).size > 0
    except oracle.Refused:
        return False


def runs(name: str, part: slice) -> Iterator[tuple[World, Trace]]:
    """Some of the answered worlds, run."""
    for world in answered(name, part.stop)[part]:
        yield world, trace_call(find_operator(name), world.inputs, world.attrs)


def _kind(name: str) -> str:
    probe = build_probe(find_operator(name), {})
    assert probe is not None
    return probe.layout.kind


def cells(box: Box) -> tuple[Any, ...]:
    """A box as an index that gives a view, of a scalar too."""
    return (*(slice(start, stop) for start, stop in box), ...)


GATHERS = [name for name in GOOD if _kind(name) == "gather"]
SCATTERS = [name for name in GOOD if name not in GATHERS]
in_parts = pytest.mark.parametrize(
    "part", [slice(EVERYDAY), *slow([slice(EVERYDAY, PER_OPERATOR)])], ids=["some", "others"]
)


# Gathers whose cells are reduced, so that an output cell is none of data.
FOLDED = ("torch.embedding_bag", "torch.nll_loss")


@in_parts
@pytest.mark.parametrize("name", [name for name in GATHERS if name not in FOLDED])
def test_gathering_an_arange_returns_the_addresses_of_the_plan(name: str, part: slice) -> None:
    for world, run in runs(name, part):
        assert run.layout.data_name is not None
        data = run.inputs[run.layout.data_name]
        numbers = np.arange(1, data.size + 1).reshape(data.shape)
        inputs = dict(world.inputs) | {run.layout.data_name: numbers}
        trace = gscli.trace(name, inputs, world.attrs)
        addresses, inside = cell_addresses(trace.plan, 0, trace.entry_count)
        for entry in trace.entries():
            assert entry.result is not None
            read = trace.output[cells(entry.result)].reshape(-1)
            if entry.target is None:
                assert len(set(read.tolist())) <= 1, f"{world}: {entry}"
                continue
            expected = numbers[cells(entry.target)].reshape(-1)
            assert sorted(read.tolist()) == expected.tolist(), f"{world}: {entry}"
            live = slice(None) if inside is None else inside[entry.number]
            planned = addresses[entry.number][live] + 1
            assert sorted(planned.tolist()) == expected.tolist(), f"{world}: {entry}"


def _numbered_updates(trace: Trace) -> dict[str, Array] | None:
    """Updates that hold the number of the entry that writes them; None where one value goes to all.

    Entry by entry the trace says where in updates the values of the entry lie.
    """
    updates = trace.layout.updates
    if updates is None or updates.name in (None, trace.layout.data_name):
        return None
    given = trace.inputs[updates.name]
    floats = trace.layout.data_name is None and given.dtype.kind == "f"  # some take nothing else
    numbers = np.full(given.shape, -1, given.dtype if floats else np.int64)
    for entry in trace.entries():
        if entry.result is None or (numbers[cells(entry.result)] >= 0).any():
            return None  # values that several entries share have no number of their own
        numbers[cells(entry.result)] = entry.number
    return {updates.name: numbers}


@in_parts
@pytest.mark.parametrize("name", SCATTERS)
def test_scattering_the_entry_numbers_leaves_the_last_writers(name: str, part: slice) -> None:
    for world, run in runs(name, part):
        layout = run.layout
        trace = run
        updates = _numbered_updates(trace)
        if layout.reduction != "none" or updates is None:
            continue
        expected = np.zeros(layout.output_shape, np.int64)
        inputs = dict(world.inputs) | updates
        if layout.data_name is not None:
            expected -= 1 + np.arange(expected.size).reshape(expected.shape)
            inputs[layout.data_name] = expected.reshape(run.inputs[layout.data_name].shape).copy()
        for entry in trace.entries():
            if entry.target is not None:
                expected[cells(entry.target)] = entry.number
        assert_same(gscli.run(name, inputs, world.attrs).astype(np.int64), expected)


@in_parts
@pytest.mark.parametrize("name", SCATTERS)
def test_replaying_the_trace_gives_the_output(name: str, part: slice) -> None:
    """What an entry is said to have changed is what happened: old and new, entry by entry."""
    for _, run in runs(name, part):
        layout, output = run.layout, run.output
        if layout.accumulate_dtype or layout.dtype == "str":
            continue
        if layout.data_name is not None:
            replayed = run.inputs[layout.data_name].reshape(output.shape).copy()
        else:
            replayed = np.full(output.shape, layout.fill_value, output.dtype)
        for entry in run.entries():
            if entry.target is None or entry.change is None:
                continue
            part = replayed[cells(entry.target)]
            if entry.change.new.size == part.size:
                assert_same(part.reshape(-1), entry.change.old.astype(output.dtype))
            part[...] = entry.change.new.reshape(part.shape)
        assert_same(replayed, output)


@in_parts
@pytest.mark.parametrize("name", GOOD)
def test_neither_block_length_nor_threads_change_a_bit(name: str, part: slice) -> None:
    for _, run in runs(name, part):
        data = run.inputs[run.layout.data_name] if run.layout.data_name is not None else None
        if data is not None and run.layout.data_shape != data.shape:
            data = data.reshape(run.layout.data_shape)
        for tuning in TUNINGS:
            if run.layout.kind == "gather":
                assert data is not None
                again = kernel.gather(run.plan, data, tuning=tuning)
            else:
                again = kernel.scatter(run.plan, data, tuning=tuning)
            assert_same(again, run.output)


def _laid_out(array: Array, way: str) -> Array:
    """The same values, laid out in memory in another way."""
    if array.ndim == 0:
        return array
    if way == "fortran":
        return np.asfortranarray(array)
    if way == "swapped":
        swappable = array.dtype.kind in "iufc"
        return array.astype(array.dtype.newbyteorder()) if swappable else array
    wide = np.empty((*array.shape, 2), array.dtype)
    wide[..., 0] = array
    return wide[..., 0] if way == "strided" else np.flip(np.flip(array).copy())


@in_parts
@pytest.mark.parametrize("name", GOOD)
def test_memory_layout_does_not_matter(name: str, part: slice) -> None:
    for world, run in itertools.islice(runs(name, part), 0, None, 4):
        for way in ("fortran", "swapped", "strided", "reversed"):
            inputs = {key: _laid_out(array, way) for key, array in world.inputs.items()}
            assert_same(gscli.run(name, inputs, world.attrs), run.output)


# Pairs of operators: what one writes the other reads, (gather, scatter, how to name the inputs).
READ_BACK = {
    "elements": [
        ("onnx.gather_elements", "data indices", "onnx.scatter_elements", "data indices updates"),
        ("torch.gather", "input index", "torch.scatter", "input index src"),
        ("numpy.take_along_axis", "arr indices", "numpy.put_along_axis", "arr indices values"),
        ("onnx.gather_elements", "data indices", "caffe2.scatter", "DATA INDICES UPDATES"),
    ],
    "vectors": [
        ("onnx.gather_nd", "data indices", "onnx.scatter_nd", "data indices updates"),
        (
            "openvino.gather_nd", "data indices",
            "openvino.scatter_nd_update", "data indices updates",
        ),
        (
            "tensorflow.gather_nd", "params indices",
            "tensorflow.tensor_scatter_nd_update", "tensor indices updates",
        ),
    ],
    "slices": [
        ("torch.index_select", "input index", "torch.index_copy", "input index source"),
        ("onnx.gather", "data indices", "caffe2.scatter_assign", "DATA INDICES SLICES"),
    ],
}  # fmt: skip
AXIS = {"torch": "dim"}


def _call(name: str, names: str, arrays: list[Array], axis: int | None) -> Array:
    operator = find_operator(name)
    word = AXIS.get(operator.framework.name, "axis")
    known = {attribute.name for attribute in operator.attributes}
    attrs = {word: axis} if axis is not None and word in known else {}
    return gscli.run(name, dict(zip(names.split(), arrays, strict=True)), attrs)


@st.composite
def unique_elements(draw: st.DrawFn) -> tuple[Array, Array, int]:
    """Data, one index per line of the axis at most once, and the axis."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    axis = draw(st.integers(0, len(shape) - 1))
    length = draw(st.integers(1, shape[axis]))
    lines = [size for d, size in enumerate(shape) if d != axis]
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(shape[axis])[:length] for _ in range(prod(lines))]
    indices = np.moveaxis(np.array(orders).reshape(*lines, length), -1, axis)
    data = rng.integers(-50, 50, shape).astype(np.float32)
    return data, np.ascontiguousarray(indices, np.int64), axis


@pytest.mark.parametrize("pair", READ_BACK["elements"], ids=lambda pair: pair[2])
@bounded
@given(unique_elements())
def test_gather_reads_back_what_scatter_wrote(
    pair: tuple[str, str, str, str], world: tuple[Array, Array, int]
) -> None:
    data, indices, axis = world
    gather, reads, scatter, writes = pair
    updates = (np.arange(indices.size) + 100).reshape(indices.shape).astype(data.dtype)
    written = _call(scatter, writes, [data, indices, updates], axis)
    assert_same(_call(gather, reads, [written, indices], axis), updates)
    unchanged = _call(scatter, writes, [data, indices, _call(gather, reads, [data, indices], axis)],
                      axis)  # fmt: skip
    assert_same(unchanged, data)


@st.composite
def unique_vectors(draw: st.DrawFn) -> tuple[Array, Array]:
    """Data and index vectors of 1 to r coordinates that all differ."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    length = draw(st.integers(1, len(shape)))
    rows = prod(shape[:length])
    count = draw(st.integers(1, rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    chosen = rng.permutation(rows)[:count]
    vectors = np.stack(np.unravel_index(chosen, shape[:length]), axis=-1)
    return rng.integers(-50, 50, shape).astype(np.float32), vectors.astype(np.int64)


@pytest.mark.parametrize("pair", READ_BACK["vectors"], ids=lambda pair: pair[2])
@bounded
@given(unique_vectors())
def test_gather_nd_reads_back_what_scatter_nd_wrote(
    pair: tuple[str, str, str, str], world: tuple[Array, Array]
) -> None:
    data, indices = world
    gather, reads, scatter, writes = pair
    shape = indices.shape[:-1] + data.shape[indices.shape[-1] :]
    updates = (np.arange(prod(shape)) + 100).reshape(shape).astype(data.dtype)
    written = _call(scatter, writes, [data, indices, updates], None)
    assert_same(_call(gather, reads, [written, indices], None), updates)


@pytest.mark.parametrize("pair", READ_BACK["slices"], ids=lambda pair: pair[2])
@bounded
@given(unique_vectors())
def test_rows_are_read_back_as_written(
    pair: tuple[str, str, str, str], world: tuple[Array, Array]
) -> None:
    data, vectors = world
    gather, reads, scatter, writes = pair
    indices = np.unique(vectors[:, 0])
    updates = (np.arange(indices.size * prod(data.shape[1:])) + 100).astype(data.dtype)
    updates = updates.reshape(indices.size, *data.shape[1:])
    written = _call(scatter, writes, [data, indices, updates], 0)
    assert_same(_call(gather, reads, [written, indices], 0), updates)


BATCHED = {
    "onnx.gather_nd": ("data indices", {"batch_dims": 1}, {}),
    "openvino.gather_nd": ("data indices", {"batch_dims": 1}, {}),
    "tensorflow.gather_nd": ("params indices", {"batch_dims": 1}, {}),
    "tensorflow.gather": ("params indices", {"batch_dims": 1, "axis": 1}, {"axis": 0}),
    "caffe2.gather": ("DATA INDICES", {"match_outer": True, "axis": 1}, {"axis": 0}),
}


@pytest.mark.parametrize("name", BATCHED)
@bounded
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2**16))
def test_a_batch_is_a_loop_over_its_members(
    name: str, batches: int, rows: int, entries: int, seed: int
) -> None:
    names, attrs, alone = BATCHED[name]
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((batches, rows, 3)).astype(np.float32)
    indices = rng.integers(0, rows, (batches, entries, 1))
    if "axis" in attrs:
        indices = indices[..., 0]
    keys = names.split()
    whole = gscli.run(name, dict(zip(keys, (data, indices), strict=True)), attrs)
    members = [
        gscli.run(name, dict(zip(keys, pair, strict=True)), alone)
        for pair in zip(data, indices, strict=True)
    ]
    assert_same(whole, np.stack(members))


@st.composite
def rounding_scatters(draw: st.DrawFn) -> tuple[str, dict[str, Array], dict[str, Any]]:
    """Scatters of numbers whose sums round, onto few cells, in rows of many lengths."""
    run = draw(st.sampled_from([1, 2, 15, 16, 40, 1100]))
    entries = draw(st.sampled_from([1, 5, 63, 64, 150]))
    dtype = draw(st.sampled_from(["float32", "float64", "float16"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    data = (rng.standard_normal((5, run)) * 30).astype(dtype)
    updates = (rng.standard_normal((min(entries, 4000 // run), run)) * 3).astype(dtype)
    indices = rng.integers(-5, 5, (len(updates), 1))
    reduction = draw(st.sampled_from(["none", "add", "mul", "max", "min"]))
    inputs = {"data": data, "indices": indices, "updates": updates}
    return "onnx.scatter_nd", inputs, {"reduction": reduction}


@bounded
@given(rounding_scatters())
def test_sums_round_as_in_the_loop_of_the_text(
    world: tuple[str, dict[str, Array], dict[str, Any]],
) -> None:
    name, inputs, attrs = world
    assert_same(gscli.run(name, inputs, attrs), oracle.run(name, inputs, attrs))


def test_laws_cover_gathers_and_scatters() -> None:
    assert {"onnx.gather", "stablehlo.gather", "jax.at.get"} <= set(GATHERS)
    assert {"onnx.scatter_nd", "numpy.put", "torch.index_fill"} <= set(SCATTERS)
    assert set(GATHERS) | set(SCATTERS) == {op.full_name for op in gscli.operators()}
