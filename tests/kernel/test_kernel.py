"""The kernel's one law: the bits of the sequential loop, at any block length and thread count."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import operator
import pickle
from collections.abc import Iterator
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import oracle
import pytest
from conftest import Array, assert_same, slow
from worlds import GOOD

import gscli
from gscli import kernel
from gscli.frameworks import find_operator
from gscli.kernel import loops, tiles
from gscli.kernel import tuning as sizes
from gscli.kernel.reductions import REDUCTIONS
from gscli.kernel.tiles import Tile, split_range, write
from gscli.kernel.tuning import Tuning, run_parallel
from gscli.plan import infer_layout
from gscli.plan import plan as plans
from gscli.plan.plan import Plan

TUNINGS = [
    Tuning(block, threads, parallel_bytes=0)
    for block, threads in [(1, 1), (3, 2), (64, 1), (1 << 16, 3)]
]
DTYPES = [
    *(np.dtype(name) for name in ("bool", "int8", "uint8", "int64", "float16", "float32")),
    *(np.dtype(name) for name in ("float64", "complex64", "complex128")),
    np.dtype(ml_dtypes.bfloat16),
]
CURIOUS = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-8, 3.0]


def values(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int = 0) -> Array:
    """Numbers whose sums round, with a good many zeros of both signs, infinities and NaN."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal(shape) * 50
    curious = rng.random(shape) < 0.2
    numbers[curious] = rng.choice(CURIOUS, int(curious.sum()))
    if dtype.kind in "iu":
        numbers = np.nan_to_num(numbers, posinf=100, neginf=-100)
        return (np.abs(numbers) if dtype.kind == "u" else numbers).astype(dtype)
    if dtype.kind == "c":
        return (numbers + 1j * rng.standard_normal(shape)).astype(dtype)
    return (numbers > 0) if dtype.kind == "b" else numbers.astype(dtype)


def crowds(rows: int, entries: int) -> Iterator[Array]:
    """Addresses: all over, half of them on one hot row, each once, in falling order."""
    rng = np.random.default_rng(1)
    spread = rng.integers(0, rows, entries)
    yield spread
    yield np.where(rng.random(entries) < 0.5, 3, spread)
    yield rng.permutation(max(rows, entries))[:entries] % rows
    yield np.sort(spread)[::-1].copy()


ANSWERS: dict[bytes, Array] = {}


def answer(name: str, inputs: dict[str, Array], attrs: dict[str, Any]) -> Array:
    """What the oracle says, which is asked once for all tunings and both ways."""
    key = hashlib.sha256(pickle.dumps((name, inputs, attrs))).digest()
    if key not in ANSWERS:
        ANSWERS[key] = oracle.run(name, inputs, attrs)
    return ANSWERS[key]


def one_by_one(rows: Array, addresses: Array, updates: Array, ufunc: Any) -> Array:
    """The sequential loop of the specifications, number by number."""
    result = rows.copy()
    # The ufunc of complex products fuses operations; the loop of the text does not.
    combine = operator.mul if ufunc is np.multiply else ufunc
    with np.errstate(all="ignore"):
        for address, update in zip(addresses, updates, strict=True):
            for column, value in enumerate(update):
                result[address, column] = combine(result[address, column], value)
    return result


@pytest.fixture(params=["plain", "compiled"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs both ways; compiled loops work on the smallest jobs, too."""
    if request.param == "plain":
        monkeypatch.setattr(loops, "library", lambda: None)
        return
    if loops.library() is None:
        pytest.skip("no compiled loops beside the sources")
    monkeypatch.setattr(sizes, "MIN_NATIVE_ITEMS", 1)


@cache
def expected_rows(dtype: np.dtype[Any], reduction: str, run: int, place: int) -> Array:
    """The loop's answer to one of the crowds, for both ways."""
    addresses = list(crowds(11, 100))[place]
    ufunc = REDUCTIONS[reduction].select_ufunc(dtype, dtype)
    return one_by_one(values((11, run), dtype), addresses, values((100, run), dtype, 2), ufunc)


@pytest.mark.parametrize("reduction", ["add", "sub", "mul", "max", "min"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_are_combined_as_one_by_one(dtype: np.dtype[Any], reduction: str) -> None:
    ufunc = REDUCTIONS[reduction].select_ufunc(dtype, dtype)
    for run, (place, addresses) in itertools.product((1, 3, 33), enumerate(crowds(11, 100))):
        rows, updates = values((11, run), dtype), values((100, run), dtype, 2)
        expected = expected_rows(dtype, reduction, run, place)
        step = Tile(slice(None), addresses, None, (slice(None),))
        for shares in ([None], split_range(0, 11, 4)):
            actual = rows.copy()
            with np.errstate(all="ignore"):
                for own in shares:
                    write(actual, step, updates, ufunc, own)
            assert_same(actual, expected)


def run_with(name: str, inputs: dict[str, Array], attrs: dict[str, Any], tuning: Tuning) -> Array:
    Plan(infer_layout(find_operator(name), inputs, attrs), inputs).validate()
    return run_unjudged(name, inputs, attrs, tuning)


def run_unjudged(
    name: str, inputs: dict[str, Array], attrs: dict[str, Any], tuning: Tuning
) -> Array:
    layout = infer_layout(find_operator(name), inputs, attrs)
    plan = Plan(layout, inputs).validate(lazy=True)
    if layout.kind == "gather":
        assert layout.data_name is not None
        return kernel.gather(
            plan, inputs[layout.data_name].reshape(layout.data_shape), tuning=tuning
        )
    return kernel.scatter(
        plan, None if layout.data_name is None else inputs[layout.data_name], tuning=tuning
    )


def indices(shape: tuple[int, ...], size: int, seed: int = 5) -> Array:
    """Indices with repetitions, a third of them negative."""
    found = np.random.default_rng(seed).integers(0, size, shape)
    return np.where(found % 3 == 0, found - size, found)


F4 = np.dtype("float32")
DATA = values((6, 5, 20), F4)
ALONG = {axis: indices((7, 3), DATA.shape[axis]) for axis in range(3)}
OWN = {axis: indices((6, 5, 20), DATA.shape[axis]) for axis in range(3)}
SHORT = {axis: indices((4, 3, 15), DATA.shape[axis]) for axis in range(3)}
PAIRS = np.stack([indices((300,), 6), indices((300,), 5, 6)], -1)
TRIPLES = np.stack([indices((300,), 6), indices((300,), 5, 6), indices((300,), 20, 7)], -1)
ROWS = indices((300, 1), 6)
GATHERS: list[tuple[str, dict[str, Array], dict[str, Any]]] = [
    *(("onnx.gather", {"data": DATA, "indices": ALONG[n]}, {"axis": n}) for n in range(3)),
    *(
        ("onnx.gather_elements", {"data": DATA, "indices": table[n]}, {"axis": n})
        for n in range(3)
        for table in (OWN, SHORT)
    ),
    *(("onnx.gather_nd", {"data": DATA, "indices": v}, {}) for v in (ROWS, PAIRS, TRIPLES)),
    ("onnx.gather_nd", {"data": DATA, "indices": indices((6, 9, 1), 5)}, {"batch_dims": 1}),
    ("onnx.gather_nd", {"data": DATA, "indices": indices((6, 5, 9, 1), 20)}, {"batch_dims": 2}),
    ("openvino.gather", {"data": DATA, "indices": indices((6, 9), 20), "axis": np.array(2)},
     {"batch_dims": 1, "opset": 8}),
    ("tensorflow.gather", {"params": DATA, "indices": np.abs(indices((6, 9), 30))},
     {"axis": 2, "batch_dims": 1, "device": "gpu"}),
]  # fmt: skip
SCATTERS: list[tuple[str, dict[str, Array], dict[str, Any]]] = [
    *(
        ("onnx.scatter_elements",
         {"data": DATA, "indices": table[n], "updates": values(table[n].shape, F4, n)}, {"axis": n})
        for n in range(3)
        for table in (OWN, SHORT)
    ),
    *(
        ("onnx.scatter_nd",
         {"data": DATA, "indices": v, "updates": values((300, *DATA.shape[v.shape[1]:]), F4)}, {})
        for v in (ROWS, PAIRS, TRIPLES)
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", GATHERS, ids=lambda case: case[0])
def test_gathers_agree_with_the_oracle(case: tuple[Any, ...]) -> None:
    name, inputs, attrs = case
    for tuning in TUNINGS:
        assert_same(run_with(name, inputs, attrs, tuning), answer(name, inputs, attrs))


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("case", SCATTERS, ids=lambda case: case[0])
def test_scatters_agree_with_the_oracle(case: tuple[Any, ...], reduction: str) -> None:
    name, inputs, attrs = case[0], case[1], case[2] | {"reduction": reduction}
    expected = answer(name, inputs, attrs)
    for tuning in TUNINGS:
        assert_same(run_with(name, inputs, attrs, tuning), expected)


@pytest.mark.parametrize("reduction", ["", "none", "add", "max"])
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("table", [OWN, SHORT], ids=["own", "short"])
def test_strips_agree_with_the_oracle(
    table: list[Array], axis: int, reduction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strips of two columns, as if no more of the rows stayed near; without a reduction, read."""
    monkeypatch.setattr(sizes, "STRIP_BYTES", 0)
    monkeypatch.setattr(tiles, "STRIP_WIDTH", 8)
    inputs, attrs = {"data": DATA, "indices": table[axis]}, {"axis": axis}
    name = "onnx.scatter_elements" if reduction else "onnx.gather_elements"
    if reduction:
        inputs["updates"], attrs["reduction"] = values(table[axis].shape, F4, axis), reduction
    for tuning in TUNINGS:
        assert_same(run_with(name, inputs, attrs, tuning), answer(name, inputs, attrs))


@pytest.mark.parametrize("axis", range(3))
def test_rows_along_an_axis_are_written_as_the_oracle_does(axis: int) -> None:
    at = indices((9, 3), DATA.shape[axis]) % DATA.shape[axis]
    updates = values((*DATA.shape[:axis], *at.shape, *DATA.shape[axis + 1 :]), F4, axis)
    inputs = {"data": DATA, "indices": at, "updates": updates, "axis": np.array(axis)}
    expected = answer("openvino.scatter_update", inputs, {})
    for tuning in TUNINGS:
        assert_same(run_with("openvino.scatter_update", inputs, {}, tuning), expected)


LONG = [
    indices((3000,), 4000),
    indices((3, 2000), 4000),
    np.abs(indices((3000,), 4000)) % 4000,
    np.abs(indices((3, 2000), 4000)) % 4000,
]
LONG_NAMES = ["negative", "batches", "tame", "tame batches"]


@pytest.mark.parametrize("tuning", TUNINGS[1:], ids=str)
@pytest.mark.parametrize("at", LONG, ids=LONG_NAMES)
def test_long_vectors_of_single_cells(at: Array, tuning: Tuning) -> None:
    data, updates = values((*at.shape[:-1], 4000), F4), values(at.shape, F4, 9)
    inputs, attrs = {"data": data, "indices": at}, {"axis": at.ndim - 1}
    found = run_with("onnx.gather_elements", inputs, attrs, tuning)
    assert_same(found, np.take_along_axis(data, at, -1))
    for reduction in ("none", "add"):
        both, more = inputs | {"updates": updates}, attrs | {"reduction": reduction}
        found = run_with("onnx.scatter_elements", both, more, tuning)
        assert_same(found, answer("onnx.scatter_elements", both, more))


@pytest.mark.parametrize("at", LONG, ids=LONG_NAMES)
@pytest.mark.parametrize("bad", [4000, -4001])
def test_bad_indices_in_long_vectors_are_named(at: Array, bad: int) -> None:
    wrong = at.copy()
    wrong[..., -2] = bad
    data = np.zeros((*at.shape[:-1], 4000), np.float32)
    inputs, attrs = {"data": data, "indices": wrong}, {"axis": at.ndim - 1}
    for name, more in (
        ("onnx.gather_elements", {}),
        ("onnx.scatter_elements", {"updates": values(at.shape, F4)}),
    ):
        for tuning in TUNINGS[1:]:
            with pytest.raises(gscli.GscliError, match="out of range") as caught:
                run_unjudged(name, inputs | more, attrs, tuning)
            place = ",".join(map(str, (*(0,) * (at.ndim - 1), at.shape[-1] - 2)))
            assert caught.value.where == f"indices[{place}] = {bad}"


@pytest.mark.parametrize("kind", ["int64", *slow(["int8", "int32"])])
@pytest.mark.parametrize("case", GATHERS[:-2] + SCATTERS, ids=lambda case: case[0])
def test_a_walk_refuses_what_a_judge_refuses(case: tuple[Any, ...], kind: str) -> None:
    name, inputs, attrs = case
    for bad, place in itertools.product((41, -41), (0, -1)):
        wrong = inputs["indices"].astype(kind)
        wrong.reshape(-1)[place] = bad
        given = inputs | {"indices": wrong}
        with pytest.raises(gscli.GscliError) as judged:
            run_with(name, given, attrs, TUNINGS[0])
        for tuning in TUNINGS[1:]:
            with pytest.raises(gscli.GscliError) as met:
                run_unjudged(name, given, attrs, tuning)
            assert (met.value.where, met.value.valid) == (judged.value.where, judged.value.valid)
            assert met.value.details == judged.value.details


@pytest.mark.parametrize("tuning", TUNINGS, ids=str)
def test_long_batches_read_the_fill_where_indices_are_outside(tuning: Tuning) -> None:
    inputs = {"params": values((3, 2000), F4), "indices": np.abs(indices((3, 1500), 2400))}
    attrs = {"axis": 1, "batch_dims": 1, "device": "gpu"}
    expected = answer("tensorflow.gather", inputs, attrs)
    assert_same(run_with("tensorflow.gather", inputs, attrs, tuning), expected)


# So many that a lane has several, each long enough to be gone through alone.
MANY_BATCHES = indices((40, 1100, 1), 50)


# Of 44,000 entries, one or three at a time take seconds.
LARGE_STEPS = [*slow(TUNINGS[:2]), *TUNINGS[2:]]


@cache
def looped(computation: str) -> Array:
    """The rows written one after the other."""
    expected, updates = values((40, 50, 3), F4).copy(), values((40, 1100, 3), F4, 4)
    combine = {"add": np.add, "mul": np.multiply}.get(computation, lambda _, update: update)
    with np.errstate(all="ignore"):
        for batch, entry in itertools.product(range(40), range(1100)):
            row = MANY_BATCHES[batch, entry, 0] % 50
            expected[batch, row] = combine(expected[batch, row], updates[batch, entry])
    return expected


@pytest.mark.parametrize("tuning", LARGE_STEPS, ids=str)
@pytest.mark.parametrize("computation", ["", "add", "mul"])
def test_many_long_batches_of_rows_are_written_as_in_the_loop(
    computation: str, tuning: Tuning
) -> None:
    data, updates = values((40, 50, 3), F4), values((40, 1100, 3), F4, 4)
    at = MANY_BATCHES % 50
    inputs = {"inputs": data, "scatter_indices": at, "updates": updates}
    attrs = {
        "update_window_dims": [2], "inserted_window_dims": [1], "input_batching_dims": [0],
        "scatter_indices_batching_dims": [0], "scatter_dims_to_operand_dims": [1],
        "index_vector_dim": 2,
    } | ({"update_computation": computation} if computation else {})  # fmt: skip
    assert_same(run_with("stablehlo.scatter", inputs, attrs, tuning), looped(computation))


@pytest.mark.parametrize("tuning", LARGE_STEPS, ids=str)
@pytest.mark.parametrize("kind", ["float32", "str"])
def test_many_long_batches_of_rows_are_read(kind: str, tuning: Tuning) -> None:
    data = np.arange(40 * 50 * 3).reshape(40, 50, 3).astype(kind)
    inputs = {"params": data, "indices": MANY_BATCHES[:, :, 0] % 50}
    found = run_with("tensorflow.gather", inputs, {"axis": 1, "batch_dims": 1}, tuning)
    assert np.array_equal(found, np.take_along_axis(data, MANY_BATCHES % 50, 1))


@pytest.mark.parametrize("reduction", ["mean", "prod"])
def test_long_batches_without_their_data(reduction: str) -> None:
    at = indices((3, 1500), 200)
    inputs = {"data": values((3, 200), F4), "indices": at, "updates": values(at.shape, F4, 3)}
    inputs["axis"] = np.array(1)
    attrs = {"reduction": reduction, "use_init_val": False, "opset": 12}
    expected = answer("openvino.scatter_elements_update", inputs, attrs)
    for tuning in TUNINGS:
        found = run_with("openvino.scatter_elements_update", inputs, attrs, tuning)
        assert_same(found, expected)


@pytest.mark.parametrize("reduction", ["none", "add"])
def test_strings_keep_their_length_and_order(reduction: str) -> None:
    data = np.array([["a", "bb"], ["ccc", ""]])
    inputs = {
        "data": data,
        "indices": np.array([[1], [-1], [0]]),
        "updates": np.array([["x", "longer than before"], ["y", "z"], ["", "w"]]),
    }
    attrs = {"reduction": reduction}
    for tuning in TUNINGS:
        actual = run_with("onnx.scatter_nd", inputs, attrs, tuning)
        assert_same(actual, answer("onnx.scatter_nd", inputs, attrs))


@pytest.mark.parametrize("entries", [2, 30, 700])
def test_few_and_many_entries_replace_slices(entries: int) -> None:
    at = indices((entries,), 40, entries) % 40
    inputs = {"data": values((3, 40, 10), F4), "indices": at, "axis": np.array(1)}
    inputs["updates"] = values((3, entries, 10), F4, 7)
    rows = {"data": inputs["data"][0], "indices": at[:, None], "updates": inputs["updates"][0]}
    for tuning in TUNINGS:
        expected = answer("openvino.scatter_update", inputs, {})
        assert_same(run_with("openvino.scatter_update", inputs, {}, tuning), expected)
        expected = answer("onnx.scatter_nd", rows, {})
        assert_same(run_with("onnx.scatter_nd", rows, {}, tuning), expected)


@pytest.mark.parametrize("size", [3, 5])
def test_lanes_copy_all_cells_that_nobody_writes(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Positions that share entries, a few to a lane; columns of the first `size` positions only."""
    monkeypatch.setattr(tiles, "CACHE_CELLS", 22_000)
    shared = {"data": values((size, 40, 10), F4), "indices": indices((1100,), 20) % 20}
    shared |= {"axis": np.array(1), "updates": values((size, 1100, 10), F4, 7)}
    cut = {"data": values((5, 40, 70), F4), "indices": indices((size, 9, 70), 40)}
    cut["updates"] = values(cut["indices"].shape, F4, 3)
    for tuning in TUNINGS:
        found = run_with("openvino.scatter_update", shared, {}, tuning)
        assert_same(found, answer("openvino.scatter_update", shared, {}))
        attrs = {"axis": 1, "reduction": "add"}
        found = run_with("onnx.scatter_elements", cut, attrs, tuning)
        assert_same(found, answer("onnx.scatter_elements", cut, attrs))


WHOLE = list(itertools.product(("add", "multiply", "maximum"), ("int8", "uint16", "int64", "bool")))


@pytest.mark.parametrize(("name", "kind"), [*WHOLE, ("minimum", "uint8"), ("subtract", "int32")])
def test_whole_numbers_are_combined_in_a_table_for_each_thread(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables: list[int] = []
    combine_apart = kernel._combine_in_tables

    def noted(*given: Any) -> None:
        tables.append(given[-1])
        combine_apart(*given)

    monkeypatch.setattr(kernel, "_combine_in_tables", noted)
    dtype = np.dtype(kind)
    inputs = {"a": values((300, 11), dtype), "indices_0": indices((6000,), 299)}
    inputs["b"] = values((6000, 11), dtype, 3)
    expected = inputs["a"].copy()
    getattr(np, name).at(expected, inputs["indices_0"] % 300, inputs["b"])
    for threads, block in ((2, 700), (3, 1 << 16)):
        tuning = Tuning(block, threads, parallel_bytes=0)
        assert_same(run_with(f"numpy.{name}.at", inputs, {}, tuning), expected)
    assert tables == ([2, 3] if loops.library() else [])


def test_a_failure_in_either_thread_reaches_the_caller() -> None:
    for bad in (0, 3):

        def work(lane: int, bad: int = bad) -> None:
            if lane == bad:
                raise KeyError(lane)

        with pytest.raises(KeyError):
            run_parallel(range(4), work, 2)


def test_threads_keep_the_error_state() -> None:
    states: list[str] = []
    with np.errstate(over="ignore"):
        run_parallel(range(2), lambda _: states.append(np.geterr()["over"]), 2)
    assert states == ["ignore", "ignore"]


@pytest.mark.parametrize("most", [3, *slow([100])])
@pytest.mark.parametrize("name", GOOD)
def test_worlds_that_are_walked(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In steps of three addresses: the bits of all at once, which the oracle judges elsewhere."""
    worlds = GOOD[name]()
    for world in worlds[:: max(len(worlds) // most, 1)]:
        try:
            expected = gscli.run(name, world.inputs, world.attrs)
        except gscli.GscliError:
            continue
        with monkeypatch.context() as patched:
            patched.setattr(plans, "SMALL_CALL_ENTRIES", -1)
            patched.setattr(sizes, "STRIP_BYTES", 0)
            patched.setattr(tiles, "STRIP_WIDTH", 8)
            for function in (kernel.gather, kernel.scatter):
                patched.setitem(inspect.unwrap(function).__kwdefaults__, "tuning", TUNINGS[1])
            assert_same(gscli.run(name, world.inputs, world.attrs), expected)


@pytest.mark.parametrize("reduction", ["none", "add", "max"])
def test_numpy_judges_the_numbers_of_cells_where_no_loop_does(reduction: str) -> None:
    """Unless another process may change them meanwhile: those of a file are copied and judged."""
    rng = np.random.default_rng(3)
    data, updates = rng.integers(0, 99, 500), rng.integers(0, 99, 2000)
    rows = rng.integers(-500, 500, (2000, 1))
    foreign = np.frombuffer(rows.tobytes(), rows.dtype).reshape(rows.shape)
    expected = oracle.onnx.scatter_nd(data, rows, updates, reduction=reduction)
    for indices, is_left in ((rows, True), (rows.repeat(2, 0)[::2], False), (foreign, False)):
        inputs = {"data": data, "indices": indices, "updates": updates}
        layout = infer_layout(
            find_operator("onnx.scatter_nd"), inputs, {"reduction": reduction, "opset": 18}
        )
        plan = Plan(layout, inputs).validate(lazy=True)
        assert (plan.numpy_rows is not None) == is_left
        assert_same(kernel.scatter(plan, data), expected)
    rows[1234] = 500
    with pytest.raises(gscli.GscliError, match="out of range") as refused:
        gscli.scatter_nd(data, rows, updates, reduction=reduction)
    assert "1234" in str(refused.value)
