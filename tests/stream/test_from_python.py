"""Arrays of the zarr and dask packages from Python: read by chunk, and results to files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import dask.array
import numpy as np
import pytest
import zarr
from conftest import slow
from stream.stores import DATA, RandomCall, made, random_call, same_bits

import gscli
from gscli.base import (
    ContentRefused,
    DtypeRefused,
    GscliError,
    IndexRefused,
    LimitRefused,
    UsageError,
)
from gscli.base.arrays import LazyArray, is_lazy
from gscli.files.stores.chunks import ChunkedDaskArray
from gscli.files.stores.zarr_store import ZarrArray, as_lazy_array
from gscli.stream.chunked import to_store
from gscli.stream.chunked.grid import ChunkGrid

UPDATES = {"indices": np.array([[3], [-1], [3]]), "updates": np.ones((3, 6), np.float32)}
ADD = {"reduction": "add"}


def lazy(call: RandomCall, kind: str) -> dict[str, Any]:
    """The arrays of a call, data in chunks of zarr or Dask."""
    name = next(iter(call.arrays))
    data = call.arrays[name]
    if kind == "dask":
        return {**call.arrays, name: dask.array.from_array(data, chunks=call.chunks)}
    options = {"chunks": call.chunks, **call.options}
    array = zarr.create_array(
        zarr.storage.MemoryStore(), shape=data.shape, dtype=data.dtype, **options
    )
    array[...] = data
    return {**call.arrays, name: array}


@pytest.mark.parametrize("kind", ["zarr", "dask"])
@pytest.mark.parametrize("block", range(3))
def test_random_calls(block: int, kind: str) -> None:
    for seed in range(block * 12, block * 12 + 12):
        call = random_call(seed)
        with np.errstate(all="ignore"):
            found = gscli.run(call.operator, lazy(call, kind), call.attrs)
        assert type(found) is np.ndarray
        assert same_bits(found, call.expected()), str(call)


@pytest.mark.parametrize("kind", ["zarr", "dask"])
@pytest.mark.parametrize("seeds", [(1, 4), *slow([(3, 10)])], ids=str)
@pytest.mark.parametrize("name", ["out.zarr", "out.npy", "out.json"])
def test_a_result_goes_to_a_file(
    tmp_path: Path, kind: str, name: str, seeds: tuple[int, ...]
) -> None:
    for seed in seeds:
        call = random_call(seed)
        with np.errstate(all="ignore"):
            found = gscli.run(call.operator, lazy(call, kind), call.attrs, out=tmp_path / name)
        assert same_bits(found[...], call.expected()), str(call)
        assert same_bits(gscli.load(tmp_path / name), call.expected())
        assert [path.name for path in tmp_path.iterdir()] == [name]


def test_arrays_in_memory_go_to_files_too(tmp_path: Path) -> None:
    inputs = {"data": DATA, **UPDATES}
    expected = gscli.run("scatter_nd", inputs, ADD)
    assert same_bits(gscli.run("scatter_nd", inputs, ADD, out=f"{tmp_path}/o.npy"), expected)
    found = gscli.run("scatter_nd", inputs, ADD, out=f"{tmp_path}/o.zarr")
    assert isinstance(found, zarr.Array)
    assert same_bits(found[...], expected)
    words = {"data": ["a", "bc"], "indices": [1, 0]}
    assert gscli.run("gather", words, out=f"{tmp_path}/o.npz").tolist() == ["bc", "a"]
    lists = {"data": [1.5, 2.0], "indices": [[0]], "updates": [3]}
    assert gscli.run("scatter_nd", lists, out=f"{tmp_path}/o.npy").tolist() == [3.0, 2.0]
    made_new = {"indices": [[1]], "updates": [5.0], "shape": np.array([3])}
    found = gscli.run("tf.scatter_nd", made_new, out=f"{tmp_path}/n.npy")
    assert found.tolist() == [0, 5, 0]
    with pytest.raises(UsageError):
        gscli.run("gather", words, out=f"{tmp_path}/o.nonsense")


def test_a_result_of_another_type_is_made_in_memory(tmp_path: Path) -> None:
    data = zarr.open_array(made(tmp_path / "in.zarr", np.array([7, 8, 9]), chunks=(2,)), mode="r")
    name, inputs = "jax.at_divide", {"x": data, "indices_0": [1], "values": [2]}
    expected = gscli.run(name, {**inputs, "x": data[...]})
    assert same_bits(gscli.run(name, inputs), expected)
    assert same_bits(gscli.run(name, inputs, out=tmp_path / "o.npy"), expected)


def test_nothing_to_gather() -> None:
    data = dask.array.from_array(DATA, chunks=4)
    assert gscli.gather(data, np.zeros((0,), np.int64)).shape == (0, 6)


def test_rows_that_are_no_whole_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(to_store.ChunkGrid, "for_row_size", lambda *_: None)
    data = dask.array.from_array(DATA, chunks=4)
    assert same_bits(gscli.gather(data, [3, -1]), DATA[[3, -1]])
    assert ChunkGrid.for_row_size((4,), (2,), 1) is None


def test_only_the_chunks_that_are_needed_are_read(tmp_path: Path) -> None:
    """Others may be broken; an index outside is refused before any is read."""
    path = Path(made(tmp_path / "in.zarr", chunks=(2, 6)))
    for chunk in ("0", "2", "3", "4"):
        (path / "c" / chunk / "0").write_bytes(b"")
    data = zarr.open_array(str(path), mode="r")
    assert same_bits(gscli.gather(data, [3, 2, -7]), DATA[[3, 2, 3]])
    with pytest.raises(ContentRefused, match="a chunk is empty"):
        gscli.gather(data, [0])
    with pytest.raises(IndexRefused):
        gscli.gather(data, [0, 10])


def test_lists_take_the_types_of_data_in_chunks() -> None:
    data = dask.array.from_array(DATA, chunks=4)
    found = gscli.scatter_nd(data, [[0, 0]], [5])
    assert (found.dtype, found[0, 0]) == (np.float32, 5)


def test_a_trace_has_the_values(tmp_path: Path) -> None:
    data = zarr.open_array(made(tmp_path / "in.zarr"), mode="r")
    trace = gscli.trace("gather", {"data": data, "indices": [1]})
    assert same_bits(trace.inputs["data"], DATA)


def test_any_input_may_lie_in_chunks() -> None:
    chunked = {name: dask.array.from_array(array, chunks=2) for name, array in UPDATES.items()}
    expected = gscli.run("scatter_nd", {"data": DATA, **UPDATES}, ADD)
    assert same_bits(gscli.run("scatter_nd", {"data": DATA, **chunked}, ADD), expected)
    ids = dask.array.from_array(np.array([[1], [0]]), chunks=1)
    found = gscli.run("tf.scatter_nd", {"indices": ids, "updates": [5, 6], "shape": [3]})
    assert found.tolist() == [6, 5, 0]


def test_what_does_not_fit_says_what_to_do(tmp_path: Path) -> None:
    huge = zarr.create_array(f"{tmp_path}/h.zarr", shape=(1 << 40,), chunks=(4,), dtype="f4")
    assert gscli.gather(huge, [1, -1]).tolist() == [0, 0]
    patch = {"data": huge, "indices": [[1]], "updates": np.ones(1, np.float32)}
    with pytest.raises(LimitRefused, match="lies in chunks") as caught:
        gscli.run("scatter_nd", patch)
    assert "out='out.zarr'" in caught.value.hint
    found = gscli.run("scatter_nd", patch, out=tmp_path / "o.zarr")
    assert (found.shape, found[1]) == ((1 << 40,), 1)
    with pytest.raises(LimitRefused, match="lies in chunks"):
        gscli.trace("gather", {"data": huge, "indices": [1]})
    with pytest.raises(LimitRefused, match="a chunk of data") as caught:
        gscli.gather(dask.array.zeros((1 << 40,), chunks=1 << 30), [1])
    assert caught.value.hint == "data.rechunk() makes smaller ones"


def test_what_dask_cannot_say_is_refused() -> None:
    numbers = dask.array.from_array(np.arange(9), chunks=3)
    with pytest.raises(ContentRefused, match="unknown size"):
        gscli.gather(numbers[numbers > 4], [0])
    assert gscli.gather([10, 20, 30], numbers[numbers < 2]).tolist() == [10, 20]

    def raising(_: Any) -> Any:
        raise RuntimeError("no such bucket")

    for function in (raising, lambda part: part.astype(np.int8), lambda part: part[:1]):
        wrong = numbers.map_blocks(function, dtype=np.int64, meta=np.empty(0, np.int64))
        with pytest.raises(ContentRefused):
            gscli.gather(wrong, [8])

    def refusing(_: Any) -> Any:
        raise MemoryError

    wrong = numbers.map_blocks(refusing, dtype=np.int64, meta=np.empty(0, np.int64))
    with pytest.raises(LimitRefused, match="not enough memory"):
        gscli.gather(wrong, [8])
    with pytest.raises(GscliError):
        gscli.gather(dask.array.from_array(np.array([object()]), chunks=1), [0])


def test_what_is_no_array_of_numbers_in_chunks() -> None:
    text = dask.array.from_array(np.array(["a", "b"]), chunks=1)
    assert as_lazy_array(text, "data", 1) is None
    assert gscli.gather(text, [1]).tolist() == ["b"]
    assert as_lazy_array(DATA, "data", 1) is None
    assert not is_lazy(DATA)
    with pytest.raises(DtypeRefused):
        ChunkedDaskArray(dask.array.from_array(np.zeros(2, "M8[s]"), chunks=1), "data", 1)


def test_a_read_only_answer_is_copied() -> None:
    frozen = np.arange(4)
    frozen.flags.writeable = False
    source = ChunkedDaskArray(dask.array.from_array(frozen, chunks=4), "data", 1 << 20)
    assert source.read_chunk((0,)).flags.writeable
    assert isinstance(LazyArray.of(source).source, ChunkedDaskArray)


def test_an_array_of_a_group_on_disk(tmp_path: Path) -> None:
    group = zarr.open_group(f"{tmp_path}/g.zarr", mode="w")
    array = group.create_array("a/b", shape=(10, 6), dtype="f4", chunks=(4, 3), compressors=None)
    array[...] = DATA
    found = as_lazy_array(array, "data", 1)
    assert found is not None
    assert is_lazy(found)
    source = found.source
    assert isinstance(source, ZarrArray)
    assert source.place.member == "a/b"
    assert same_bits(gscli.gather(array, [-1]), DATA[[-1]])


MEASURED = """
import resource, sys
import numpy as np, zarr, gscli
array = zarr.open_array(sys.argv[1], mode="r")
gscli.gather(array, [0])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows = np.arange(0, array.shape[0], array.shape[0] // 100)
assert gscli.gather(array, rows).shape == (len(rows), 64)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before >> 10)
"""


def test_four_gibibytes_are_gathered_from_in_little_memory(tmp_path: Path) -> None:
    path = f"{tmp_path}/t.zarr"
    zarr.create_array(
        path, shape=(1 << 24, 64), chunks=(1 << 12, 64), dtype="f4", fill_value=3, compressors=None
    )
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, path], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 50
