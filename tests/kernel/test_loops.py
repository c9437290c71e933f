"""The compiled loops: what they take, what they leave, how they are built, and NumPy's own bits."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from shutil import which
from typing import Any, NoReturn

import ml_dtypes
import numpy as np
import pytest
from conftest import Array, assert_same

import gscli
from gscli.base import CannotRead
from gscli.frameworks import find_operator
from gscli.kernel import ScatterOutput, gather, loops, tiles, tuning
from gscli.kernel.loops import Deferred
from gscli.kernel.tiles import Tile
from gscli.plan import infer_layout
from gscli.plan.plan import Plan

KERNEL = Path(loops.__file__).parent
WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS = [
    *map(np.dtype, WHOLE),
    *map(np.dtype, ("float16", "float32", "float64", "bool", "complex64", "complex128")),
    np.dtype(ml_dtypes.bfloat16),
]
UFUNCS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}

compiled = pytest.mark.skipif(
    loops.library() is None,
    reason="no compiled loops beside the sources: pip install -e, with a C compiler, makes them",
)


@pytest.fixture(autouse=True)
def small_jobs_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "MIN_NATIVE_ITEMS", 1)


@pytest.fixture(params=["all", *loops.LESSER])
def features(request: pytest.FixtureRequest) -> Iterator[None]:
    """The ways of this processor, and those of processors that have less."""
    native = loops.library()
    assert native is not None
    whole = loops.Feature(native.gscli_processor())
    loops.use_features(native, whole & loops.LESSER.get(request.param, whole))
    yield
    loops.use_features(native, loops.processor_features(native))


def random_bits(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> Array:
    """Any bits at all, so NaN, infinities, subnormal numbers and overflow are among them."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    count = int(np.prod(shape))
    return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).reshape(shape).copy()


def combined(target: Array, addresses: Array, updates: Array, ufunc: Any) -> bool:
    with np.errstate(all="ignore"):
        return loops.write(target, addresses, updates, ufunc)


@compiled
@pytest.mark.usefixtures("features")
@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_any_bits_are_combined_as_numpy_does(dtype: np.dtype[Any], name: str) -> None:
    ufunc = UFUNCS[name]
    for run in (1, 3, 40, 64):
        before, updates = random_bits((9, run), dtype, run), random_bits((60, run), dtype, run + 1)
        addresses = np.random.default_rng(run).integers(0, 9, 60)
        expected, actual = before.copy(), before.copy()
        if not combined(actual, addresses, updates, ufunc):
            assert dtype.kind in "bc"  # bool adds by another ufunc; products of complex numbers
            return
        with np.errstate(all="ignore"):
            for address, update in zip(addresses, updates, strict=True):
                expected[address] = ufunc(expected[address], update)
            assert_same(actual, expected)


@compiled
@pytest.mark.usefixtures("features")
@pytest.mark.parametrize("name", UFUNCS)
def test_every_half_meets_some_others(name: str) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)[:, None]
    for other in (0.0, -0.0, 1.0, 6e-8, -6e-5, 0.3333, 65504.0, -3.1, np.inf, np.nan):
        actual, updates = every.copy(), np.full_like(every, other)
        assert combined(actual, np.arange(1 << 16), updates, UFUNCS[name])
        with np.errstate(all="ignore"):
            assert_same(actual, UFUNCS[name](every, updates))


@compiled
@pytest.mark.usefixtures("features")
@pytest.mark.parametrize("dtype", [*NUMBERS, np.dtype("S5"), np.dtype("U3")], ids=str)
def test_rows_of_any_type_are_moved(dtype: np.dtype[Any]) -> None:
    for run in (1, 2, 7):
        raw = random_bits((8, run), np.dtype(np.int64), run) % 90
        data = raw.astype(str).astype(dtype) if dtype.kind in "SU" else raw.astype(dtype)
        addresses = np.array([3, 0, 7, 3])
        out = np.empty((4, run), dtype)
        assert loops.take(data, addresses, out)
        assert out.tobytes() == data[addresses].tobytes()
        target, expected = data.copy(), data.copy()
        assert loops.write(target, addresses, data[:4])
        expected[addresses] = data[:4]
        assert target.tobytes() == expected.tobytes()


@compiled
@pytest.mark.usefixtures("features")
@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("stride", [1, 3])
def test_index_numbers_of_every_type_are_resolved(kind: str, stride: int) -> None:
    signed = kind.startswith("int")
    written = np.array([0, 5, 2, -1 if signed else 1] * 6, kind).repeat(stride)[::stride]
    grid = written.reshape(2, 3, 4)
    turn = 6 if signed else 0

    def resolved(*grids: Array) -> Array:
        columns = [(one, 6, turn, 10, 1000, 1, 7) for one in grids]
        return Deferred(columns, grid.shape, refuse).resolve()

    wrapped = np.where(grid < 0, grid.astype(int) + 6, grid.astype(int)) if signed else grid
    expected = wrapped.astype(np.int64) * 10 + np.arange(2)[:, None, None] * 1000 + np.arange(4) + 7
    assert_same(resolved(grid), expected)
    assert_same(resolved(grid, grid), 2 * expected)
    for bad in (6, np.iinfo(kind).max, *([-7, np.iinfo(kind).min] if signed else [])):
        wrong = grid.copy()
        wrong[1, 2, 3] = bad
        for grids in ((wrong,), (grid, wrong)):
            with pytest.raises(IndexError):
                resolved(*grids)


def refuse() -> NoReturn:
    raise IndexError


@compiled
@pytest.mark.usefixtures("features")
@pytest.mark.parametrize("count", [1, 2047, 2048, 2049, 9000])
def test_chunks_of_numbers_meet_items_of_any_grid(count: int) -> None:
    """Lines of numbers and of items end at other places than chunks do."""
    rng = np.random.default_rng(count)
    written = rng.integers(-50, 50, (count, 2))
    columns = [(written[:, k].reshape(1, 1, -1), 50, 50, (50, 1)[k]) for k in (0, 1)]
    where = Deferred(columns, (count,), refuse)
    addresses = written[:, 0] % 50 * 50 + written[:, 1] % 50
    data = rng.integers(0, 1000, (2500, 1))
    for height in (1, 3, 7):
        if count % height:
            continue
        items = np.zeros((height, count // height + 2, 1), data.dtype)[:, 1:-1]
        assert loops.take(data, where, items)
        assert_same(items.reshape(count), data[addresses, 0])
        put, expected = data.copy(), data.copy()
        assert loops.write(put, where, items)
        assert_same(put, data)
        assert loops.write(put, where, items, np.add)
        np.add.at(expected, addresses, items.reshape(count, 1))
        assert_same(put, expected)
        for own in tiles.split_range(0, 2500, 1250):
            assert loops.write(put, where, items, np.subtract, own=own)
        assert_same(put, data)


@compiled
@pytest.mark.usefixtures("features")
@pytest.mark.parametrize("run", [1, 5])
@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_no_number_outside_is_followed(run: int, dtype: Any) -> None:
    numbers = np.zeros((1, 1, 100), dtype)
    held = np.zeros((16, run))
    data, items = held[:7], np.ones((100, run))
    where = Deferred([(numbers, 7, 7, 1)], (100,), refuse)
    for place, number in ((99, 7), (40, -8), (0, 9)):
        numbers[:] = 0
        numbers[0, 0, place] = number
        for work in (loops.take, loops.write, partial(loops.write, ufunc=np.add)):
            with pytest.raises(IndexError):
                work(data, where, items)
        with pytest.raises(IndexError):
            loops.write(data, where, items, np.add, own=slice(0, 3))
    assert not held[7:].any()


@compiled
def test_other_byte_orders_unaligned_and_cut_arrays_take_numpys_way() -> None:
    addresses, data = np.array([1, 0, 1]), np.arange(6.0).reshape(3, 2)
    swapped = data.astype(">f8")
    assert not loops.write(swapped.copy(), addresses, swapped, np.add)
    raw = np.zeros(data.nbytes + 1, np.uint8)
    unaligned = raw[1:].view(np.float64).reshape(3, 2)
    assert not loops.write(unaligned, addresses, data, np.add)
    assert not loops.take(np.arange(24.0).reshape(4, 6)[:, ::3], addresses, np.empty((3, 2)))
    assert not loops.write(data, addresses, data.astype(np.float32))
    strings = np.array([["a"], ["b"]], object)
    assert not loops.take(strings, addresses, np.empty((3, 1), object))
    for array in (swapped, unaligned, np.asfortranarray(data)):
        found = gscli.scatter_nd(array, [[1], [0], [1]], data, reduction="add")
        assert np.array_equal(found, [array[0] + data[1], array[1] + data[0] + data[2], array[2]])


@compiled
def test_grids_with_holes_are_moved_without_a_copy() -> None:
    data = np.arange(40, dtype=np.float32)[:, None]
    addresses = np.random.default_rng(4).integers(0, 40, (2, 3, 4))
    wide = np.zeros((2, 3, 9, 1), np.float32)
    assert loops.take(data, addresses, wide[:, :, 2:6])
    assert_same(wide[:, :, 2:6], data[addresses])
    assert not wide[:, :, :2].any()
    assert not wide[:, :, 6:].any()
    deep = np.zeros((3, 4, 9, 1), np.float32)[:, :3, 2:6]
    addresses = np.random.default_rng(5).integers(0, 40, (3, 3, 4))
    assert loops.take(data, addresses, deep)
    assert_same(deep, data[addresses])
    holes = np.zeros((4, 4, 4, 4, 1), np.float32)[:3, :3, :3, :3]
    assert not loops.take(data, np.zeros((3, 3, 3, 3), np.int64), holes)


@compiled
def test_parts_share_their_addresses() -> None:
    data = np.arange(24).reshape(12, 2)
    addresses = np.array([3, 0])
    step = Tile(slice(0, 12), addresses, None, (slice(None), slice(None)), repeats=3)
    out = np.empty((3, 2, 2), data.dtype)
    tiles.take(data, step, out, 0)
    assert_same(out, data.reshape(3, 4, 2)[:, addresses])
    target = data.copy()
    tiles.write(target, step, out, np.add)
    expected = data.reshape(3, 4, 2).copy()
    expected[:, addresses] += out
    assert_same(target, expected.reshape(12, 2))


@compiled
def test_a_lone_update_of_a_later_plane_keeps_its_bits() -> None:
    arrays = {"data": np.zeros((10, 1)), "segment_ids": np.arange(10)}
    layout = infer_layout(find_operator("tensorflow.segment_sum"), arrays, {})
    numbers = np.zeros((2, 1, loops.MIN_PLANE_ENTRIES), np.int64)
    numbers[1, 0, -1] = 4
    deferred = Deferred([(numbers, 5, 0, 1, 5, 0, 0)], (2, numbers.shape[2]), refuse)
    target = ScatterOutput(layout, np.zeros((10, 1)))
    target.count_updates([deferred.resolve()])
    updates = np.full((*deferred.shape, 1), -0.0)
    target.apply_updates(Tile(slice(0, 10), deferred, None, ()), updates)
    assert np.flatnonzero(np.signbit(target.rows)).tolist() == [9]


@compiled
@pytest.mark.usefixtures("features")
@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("width", [3, 100, 1500, 9000])
def test_planes_are_copied_from_their_source_before_they_are_written(
    width: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planes that fit the nearest cache and larger ones, one and several at a time, past caches."""
    monkeypatch.setattr(loops, "NONTEMPORAL_BYTES", 1000)
    rng = np.random.default_rng(width)
    source = rng.integers(0, 90, (5 * width, 1)).astype(dtype)
    updates = rng.integers(0, 90, (5, width, 1)).astype(dtype)
    written = rng.integers(-width, width, (5, 1, width))
    cells = written % width + np.arange(5)[:, None, None] * width
    for planes in (5, 1):
        of = slice(0, planes * width)
        where = Deferred([(written[:planes], width, width, 1, width)], (planes, width, 1), refuse)
        expected, found = source[of].copy(), np.zeros_like(source[of])
        expected[cells[:planes].reshape(-1)] = updates[:planes].reshape(-1, 1)
        assert loops.write(found, where, updates[:planes], source=source[of])
        assert_same(found, expected)
        np.add.at(expected[:, 0], cells[:planes].reshape(-1), updates[:planes].reshape(-1))
        base = found.copy()
        assert loops.write(found, where, updates[:planes], np.add, source=base)
        assert_same(found, expected)
    shared, found = written[0, 0] % width, np.zeros_like(source)
    assert loops.write(found, shared, updates, parts=5, source=source)
    expected = source.reshape(5, width, 1).copy()
    expected[:, shared] = updates
    assert_same(found, expected.reshape(-1, 1))


@compiled
@pytest.mark.usefixtures("features")
def test_results_written_past_the_caches_have_any_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loops, "NONTEMPORAL_BYTES", 1000)
    rng = np.random.default_rng(6)
    for dtype, first in itertools.product(("int8", "float32", "float64", "complex64"), range(5)):
        data, addresses = rng.integers(0, 90, (3000, 1)).astype(dtype), rng.integers(0, 3000, 1999)
        held = np.full((2010, 1), 7, dtype)
        assert loops.take(data, addresses, held[first : first + 1999])
        assert_same(held[first : first + 1999], data[addresses])
        assert (held[:first] == 7).all()
        assert (held[first + 1999 :] == 7).all()


def test_large_arrays_begin_where_a_line_of_the_caches_does() -> None:
    for dtype in map(np.dtype, ("int8", "complex128", "S5", "O")):
        small, large = (
            tuning.empty_aligned((3, 2), dtype),
            tuning.empty_aligned((1000, 5001), dtype),
        )
        assert (small.shape, large.shape) == ((3, 2), (1000, 5001))
        assert small.dtype == large.dtype == dtype
        assert large.flags.c_contiguous
        assert large.flags.writeable
        assert dtype.hasobject or large.ctypes.data % tuning.CACHE_LINE == 0


def test_read_only_and_empty_inputs() -> None:
    data = np.arange(12.0).reshape(4, 3)
    data.flags.writeable = False
    at = np.array([[1], [1]])
    assert gscli.scatter_nd(data, at, np.ones((2, 3)), reduction="add")[1].tolist() == [5, 6, 7]
    assert gscli.gather(np.zeros((0, 3)), np.zeros(0, int)).shape == (0, 3)
    assert gscli.scatter_nd(data, np.zeros((0, 1), int), np.zeros((0, 3))).tolist() == data.tolist()


def test_an_index_outside_is_refused_before_a_loop_follows_it() -> None:
    data = np.zeros((100, 3), np.float32)
    for bad in (100, -101, 1 << 40, -(1 << 62)):
        at = np.zeros((5000, 1), np.int64)
        at[4321] = bad
        with pytest.raises(gscli.GscliError, match="out of range"):
            gscli.gather_nd(data, at)
        with pytest.raises(gscli.GscliError, match="out of range"):
            gscli.scatter_nd(data, at, np.ones((5000, 3), np.float32), reduction="add")


@compiled
def test_an_index_that_changed_after_it_was_judged_is_not_followed() -> None:
    inputs = {"data": np.zeros((100, 3), np.float32), "indices": np.zeros((5000, 1), np.int64)}
    plan = Plan(infer_layout(find_operator("onnx.gather_nd"), inputs, {}), inputs).validate()
    inputs["indices"][17] = 1 << 40
    with pytest.raises(CannotRead, match="changed while it was read"):
        gather(plan, inputs["data"])


@compiled
def test_addresses_beyond_31_bits(tmp_path: Path) -> None:
    """A sparse file of more than 2³¹ cells: only pages that are touched exist."""
    size = (1 << 31) + 10_000
    data = np.memmap(tmp_path / "sparse", np.int8, "w+", shape=(size, 1))
    numbers = np.arange(10_000)[::-1] + (1 << 31)
    column = (numbers.reshape(1, 1, -1) - size, size, size, 1)
    updates = np.arange(10_000).astype(np.int8)[:, None]
    for where in (numbers, Deferred([column], numbers.shape, refuse)):
        assert loops.write(data, where, updates, np.add)
    found = np.empty_like(updates)
    assert loops.take(data, numbers, found)
    assert_same(found, updates * 2)
    assert (
        gscli.gather(np.asarray(data)[:, 0], numbers[:9000] - size).tolist()
        == found[:9000, 0].tolist()
    )
    assert not np.asarray(data[: 1 << 20]).any()


# The library


def way(**variables: str) -> str:
    code = "from gscli.kernel import loops; print(loops.backend_name())"
    root = str(KERNEL.parents[1])
    environment = {"PYTHONPATH": root, "PATH": os.environ["PATH"], **variables}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout.strip()


def test_the_library_can_be_switched_off() -> None:
    assert way(GSCLI_LOOPS="plain") == "plain NumPy"
    assert way(GSCLI_LOOPS=os.environ.get("GSCLI_LOOPS", "")) == loops.backend_name()
    if loops.library() is not None:
        assert way(GSCLI_LOOPS="avx2") == "compiled loops, those of avx2"


@pytest.mark.parametrize("words", ["--version", "gather [1] [0]", "verify tests/vectors/jax.jsonl"])
def test_a_way_that_is_not_there_is_refused(words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gscli", *words.split()], capture_output=True, text=True,
        check=False, env={**os.environ, "GSCLI_LOOPS": "AVX2"},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: no such loops\n  --> GSCLI_LOOPS=AVX2\n")


@compiled
@pytest.mark.parametrize("name", loops.LESSER)
def test_the_ways_of_a_lesser_processor_can_be_asked_for(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = loops.library()
    assert native is not None
    monkeypatch.setenv("GSCLI_LOOPS", name)
    features = loops.processor_features(native)
    assert features == loops.Feature(native.gscli_processor()) & loops.LESSER[name]
    assert not loops.Feature.AVX512 & features
    loops.use_features(native, features)
    monkeypatch.undo()
    loops.use_features(native, loops.processor_features(native))


@compiled
def test_threads_share_rows_where_that_pays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    feature = loops.Feature
    for features, short in ((feature(0), []), (feature.INTEL, [16])):
        monkeypatch.setattr(loops, "processor_features", lambda _, has=features: has)
        tables = {run: np.zeros((1000, run), np.float32) for run in (1, 16, 64)}
        shared = [run for run, rows in tables.items() if loops.can_share_rows(rows, 2)]
        assert shared == [*short, 64]


def test_the_loops_are_there_where_they_can_be_compiled() -> None:
    """Else most tests of this room are skipped, which must not hide a build that failed."""
    compiler = os.environ.get("CC") or which("cc") or which("gcc") or which("clang")
    plain = os.environ.get("GSCLI_LOOPS") == "plain"
    assert plain or loops.library() is not None or not compiler, "pip install -e . compiles them"


@pytest.mark.parametrize(
    "content", [b"", b"no library at all", None], ids=["empty", "text", "none"]
)
def test_a_library_that_cannot_be_loaded_means_the_plain_way(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "libloops.so"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(loops, "LIBRARY", file)
    assert loops.library.__wrapped__() is None
