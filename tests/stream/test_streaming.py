"""Streaming from file to file gives the bytes of the kernel in memory, whatever the sizes."""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conftest import Array, assert_same, judged, slow

import gscli
from gscli import stream as streaming
from gscli.cli import run_safely
from gscli.disk import mapped
from gscli.disk.atomic import AtomicFile, open_atomic
from gscli.disk.mapped import open_regular_file
from gscli.plan.plan import Plan
from gscli.stream import gather, rowfile, scatter, writeback

RNG = np.random.default_rng(3)
DATA = RNG.standard_normal((40, 6, 32)).astype(np.float32)


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Durability is tested with the writer; a busy disk would take a second for each call."""
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(params=["cramped", *slow(["roomy"])])
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All in one piece, or pieces so small that every way of dividing the work is taken."""
    if request.param == "cramped":
        monkeypatch.setattr(gather, "PIECE_BYTES", 1 << 10)
        monkeypatch.setattr(scatter, "BLOCK", 1 << 10)
        monkeypatch.setattr("gscli.stream.to_file.BLOCK", 1 << 10)
        monkeypatch.setattr(scatter, "MAX_SORTED_RECORDS", 1 << 5)
        monkeypatch.setattr(scatter, "MAX_SPILL_FILES", 3)
        monkeypatch.setattr(scatter, "PREFETCH_CELLS", 70)
        monkeypatch.setattr(rowfile, "WINDOW", 1 << 10)
        monkeypatch.setattr(rowfile, "SPARSE_FACTOR", 1)
        monkeypatch.setattr(rowfile, "MAX_PREADS", 3)
        monkeypatch.setattr(writeback, "MIN_DIRECT_BYTES", 1 << 12)
        monkeypatch.setattr(writeback, "BUFFER_BYTES", 1 << 12)


def mapped_file(folder: Path, name: str, array: Array) -> Array:
    """The array as a mapped file, as large .npy inputs are."""
    path = folder / f"{name}.npy"
    opaque = array.view(f"V{array.itemsize}") if array.dtype.kind == "V" else array
    np.save(path, opaque)
    offset = path.stat().st_size - array.nbytes
    file = open_regular_file(str(path))
    assert file is not None
    return mapped.map_file(file, array.dtype, array.shape, offset) if array.size else array


def indices(shape: tuple[int, ...], size: int) -> Array:
    found = RNG.integers(0, size, shape)
    return np.where(found % 3 == 0, found - size, found)


def updates(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def reduced(name: str, inputs: dict[str, Array], **attrs: Any) -> list[tuple[str, Any, Any]]:
    return [
        (name, inputs, attrs | {"reduction": way}) for way in ("none", "add", "mul", "max", "min")
    ]


ROWS, PAIRS, CELLS = indices((90, 1), 40), indices((90, 2), 6), indices((300, 3), 6)
CASES: list[tuple[str, dict[str, Array], dict[str, Any]]] = [
    *(("onnx.gather", {"data": DATA, "indices": indices((9,), 6)}, {"axis": a}) for a in range(3)),
    ("onnx.gather_elements", {"data": DATA, "indices": indices((40, 9, 32), 6)}, {"axis": 1}),
    ("onnx.gather_elements", {"data": DATA, "indices": indices((4, 6, 20), 32)}, {"axis": 2}),
    ("onnx.gather_nd", {"data": DATA, "indices": PAIRS}, {}),
    ("onnx.gather_nd", {"data": DATA, "indices": indices((40, 3, 1), 6)}, {"batch_dims": 1}),
    ("onnx.gather_nd", {"data": DATA[:4], "indices": indices((4, 1100, 1), 6)}, {"batch_dims": 1}),
    ("onnx.gather_elements", {"data": DATA[:8], "indices": indices((8, 6, 1100), 32)}, {"axis": 2}),
    ("tensorflow.gather", {"params": DATA[:4], "indices": indices((4, 1100), 9)},
     {"device": "gpu", "axis": 1, "batch_dims": 1}),
    ("tensorflow.gather", {"params": DATA, "indices": indices((4,), 50)}, {"device": "gpu"}),
    *reduced("onnx.scatter_nd", {"data": DATA, "indices": ROWS, "updates": updates(90, 6, 32)}),
    *reduced("onnx.scatter_nd", {"data": DATA, "indices": PAIRS, "updates": updates(90, 32)}),
    *reduced("onnx.scatter_nd", {"data": DATA, "indices": CELLS, "updates": updates(300)}),
    *reduced(
        "onnx.scatter_elements",
        {"data": DATA, "indices": indices((40, 9, 32), 6), "updates": updates(40, 9, 32)},
        axis=1,
    ),
    *reduced(
        "onnx.scatter_elements",
        {"data": DATA[:8], "indices": indices((8, 6, 1100), 32), "updates": updates(8, 6, 1100)},
        axis=2,
    ),
    ("openvino.scatter_update",
     {"data": DATA, "indices": np.array([5, 0, 5]), "updates": updates(40, 3, 32),
      "axis": np.array(1)}, {}),
    *(
        ("openvino.scatter_elements_update",
         {"data": DATA, "indices": indices((40, 9, 32), 6), "updates": updates(40, 9, 32),
          "axis": np.array(1)},
         {"reduction": way, "use_init_val": own})
        for way in ("mean", "sum") for own in (True, False)
    ),
    ("tensorflow.scatter_nd",
     {"indices": np.abs(ROWS), "updates": updates(90, 8), "shape": np.array([50, 8])}, {}),
    *(
        (f"tensorflow.tensor_scatter_nd_{way}",
         {"tensor": DATA, "indices": np.abs(indices((90, 1), 60)), "updates": updates(90, 6, 32)},
         {"device": "gpu"})
        for way in ("update", "add")
    ),
    ("torch.scatter_add",
     {"input": DATA.astype(ml_dtypes.bfloat16), "index": indices((40, 6, 32), 6) % 6,
      "src": updates(40, 6, 32).astype(ml_dtypes.bfloat16)}, {"dim": 1}),
]  # fmt: skip


@pytest.mark.usefixtures("room")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2]}")
def test_files_hold_what_memory_would(case: tuple[Any, ...], tmp_path: Path) -> None:
    name, inputs, attrs = case
    files = {key: mapped_file(tmp_path, key, array) for key, array in inputs.items()}
    expected = gscli.run(name, inputs, attrs)
    done: list[tuple[int, int]] = []
    output = streaming.run_to_file(
        judged(name, files, attrs),
        str(tmp_path / "out.npy"),
        progress=lambda *at: done.append(at),
    )
    assert_same(output, expected)
    loaded = np.load(tmp_path / "out.npy")
    assert loaded.tobytes() == expected.tobytes()
    assert loaded.shape == expected.shape
    assert done[-1] == (expected.nbytes, expected.nbytes)
    assert [path.name for path in tmp_path.glob(".*")] == []


@pytest.mark.usefixtures("room")
def test_a_result_with_axes_in_another_order(tmp_path: Path) -> None:
    attrs = {
        "offset_dims": [0], "collapsed_slice_dims": [0, 1], "start_index_map": [0, 1],
        "index_vector_dim": 1, "slice_sizes": [1, 1, 32],
    }  # fmt: skip
    inputs = {"operand": DATA, "start_indices": np.abs(PAIRS) % 6}
    expected = gscli.run("stablehlo.gather", inputs, attrs)
    files = {key: mapped_file(tmp_path, key, array) for key, array in inputs.items()}
    output = streaming.run_to_file(
        judged("stablehlo.gather", files, attrs), str(tmp_path / "out.npy")
    )
    assert_same(output, expected)


def test_a_bad_index_leaves_no_file(tmp_path: Path) -> None:
    inputs = {"data": mapped_file(tmp_path, "data", DATA), "indices": np.array([3, 40])}
    with pytest.raises(gscli.GscliError) as caught:
        streaming.run_to_file(judged("onnx.gather", inputs, {}), str(tmp_path / "out.npy"))
    assert caught.value.where == "indices[1] = 40"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.npy"]


def test_the_output_may_be_the_input(tmp_path: Path) -> None:
    inputs = {"data": mapped_file(tmp_path, "data", DATA), "indices": ROWS}
    inputs["updates"] = updates(90, 6, 32)
    expected = gscli.run("onnx.scatter_nd", inputs)
    streaming.run_to_file(judged("onnx.scatter_nd", inputs, {}), str(tmp_path / "data.npy"))
    assert_same(np.load(tmp_path / "data.npy"), expected)


def test_a_file_that_became_shorter_is_an_error_and_no_crash(tmp_path: Path) -> None:
    inputs = {"data": mapped_file(tmp_path, "data", DATA), "indices": np.array([39])}
    with (tmp_path / "data.npy").open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(gscli.GscliError, match="data"):
        streaming.run_to_file(judged("onnx.gather", inputs, {}), str(tmp_path / "out.npy"))
    assert not (tmp_path / "out.npy").exists()


def test_temporary_files_that_cannot_be_written_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    monkeypatch.setattr(scatter, "MAX_SORTED_RECORDS", 1 << 5)
    inputs = {"data": DATA, "indices": ROWS, "updates": updates(90, 6, 32)}
    files = {key: mapped_file(tmp_path, key, array) for key, array in inputs.items()}
    monkeypatch.setattr("gscli.stream.to_file.BLOCK", 1 << 10)
    with pytest.raises(gscli.GscliError, match="temporary") as caught:
        streaming.run_to_file(judged("onnx.scatter_nd", files, {}), str(tmp_path / "out.npy"))
    assert "no space" in caught.value.where
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{key}.npy" for key in inputs]


@pytest.fixture(params=["all", "one", "no"])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which threads of the writer can be started."""
    starts, start = itertools.count(), threading.Thread.start

    def start_some(thread: threading.Thread) -> None:
        if next(starts) >= {"all": 2, "one": 1, "no": 0}[request.param]:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)


def byte_array(content: bytes) -> Array:
    return np.frombuffer(content, np.uint8)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 8192, 3 * 4096 + 5])
@pytest.mark.parametrize("refusing", [False, True])
def test_large_results_pass_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, *, refusing: bool
) -> None:
    """Also where the system takes the flag and then refuses to write so, as some do."""
    written: list[int] = []

    def pwrite(descriptor: int, data: memoryview, position: int) -> int:
        direct = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_DIRECT
        if refusing and direct:
            raise OSError(errno.EINVAL, "Invalid argument")
        written.append(position)
        return PWRITE(descriptor, data[: 4096 if direct else 1000], position)

    PWRITE = os.pwrite  # noqa: N806
    monkeypatch.setattr("os.pwrite", pwrite)
    monkeypatch.setattr(writeback, "MIN_DIRECT_BYTES", 0)
    monkeypatch.setattr(writeback, "BUFFER_BYTES", 4096)
    content = RNG.integers(0, 256, size, np.uint8).tobytes()
    with open_atomic(str(tmp_path / "out")) as file:
        parts = [byte_array(content[first : first + 1500]) for first in range(0, size, 1500)]
        assert sum(writeback.write_parts(file, parts, size)) == size
        assert not fcntl.fcntl(file.fileno(), fcntl.F_GETFL) & os.O_DIRECT
    assert (tmp_path / "out").read_bytes() == content
    assert len(written) >= size // 4096


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("failing", [0, 1, 2])
def test_what_fails_in_the_thread_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    calls = itertools.count()

    def pwrite(descriptor: int, data: memoryview, position: int) -> int:
        if next(calls) >= failing:
            raise OSError(errno.ENOSPC, "No space left on device")
        return PWRITE(descriptor, data, position)

    PWRITE = os.pwrite  # noqa: N806
    monkeypatch.setattr("os.pwrite", pwrite)
    monkeypatch.setattr(writeback, "MIN_DIRECT_BYTES", 0)
    monkeypatch.setattr(writeback, "BUFFER_BYTES", 4096)
    data = np.arange(64 * 32, dtype=np.float64).reshape(64, 32)
    inputs = {"data": mapped_file(tmp_path, "data", data), "indices": np.arange(49)}
    with pytest.raises(gscli.GscliError, match="cannot write") as caught:
        streaming.run_to_file(judged("onnx.gather", inputs, {}), str(tmp_path / "out.npy"))
    assert "no space" in caught.value.where
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.npy"]


def test_an_interrupted_result_waits_for_its_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []

    def slow(descriptor: int, data: memoryview, position: int) -> int:
        time.sleep(0.1)
        left.append(os.fstat(descriptor).st_size)
        return PWRITE(descriptor, data, position)

    PWRITE = os.pwrite  # noqa: N806
    monkeypatch.setattr("os.pwrite", slow)
    monkeypatch.setattr(writeback, "MIN_DIRECT_BYTES", 0)
    monkeypatch.setattr(writeback, "BUFFER_BYTES", 4096)

    def interrupted() -> Iterator[Array]:
        yield np.zeros(5000, np.uint8)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_atomic(str(tmp_path / "out")) as file:
        list(writeback.write_parts(file, interrupted(), 9000))
    assert left == [0]
    assert not list(tmp_path.iterdir())


def test_a_pipe_and_the_rest_of_a_file_are_written_as_usual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.pwrite", lambda *_: pytest.fail("a pipe has no positions"))
    monkeypatch.setattr(writeback, "MIN_DIRECT_BYTES", 0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    inputs = {"data": mapped_file(tmp_path, "data", DATA), "indices": np.array([3, 4])}
    streaming.run_to_file(judged("onnx.gather", inputs, {}), str(pipe))
    reader.join()
    assert found[0].endswith(DATA[3:5].tobytes())
    with (tmp_path / "begun").open("wb", buffering=0) as begun:
        begun.write(b"begun")
        with AtomicFile(os.dup(begun.fileno()), "begun") as file:
            assert list(writeback.write_parts(file, [byte_array(b" here")], 4)) == [5]
    assert (tmp_path / "begun").read_bytes() == b"begun here"


def test_files_of_arrays(tmp_path: Path) -> None:
    array = mapped_file(tmp_path, "data", DATA)
    place = mapped.find_file(array)
    assert place is not None
    assert (place[0].path, place[1]) == (str(tmp_path / "data.npy"), 128)
    assert mapped.find_file(array[2:]) == (place[0], 128 + 2 * 6 * 32 * 4)
    assert mapped.find_file(array[:, 1:]) is None
    assert mapped.find_file(DATA) is None
    mapped.release_pages(array)
    assert_same(np.asarray(array), DATA)


MEASURE = """
import sys
import threading
import time
import numpy as np
from gscli import stream
from gscli.plan import plan_call
from gscli.frameworks import find_operator
from gscli.files import load
data, indices, updates, out, operator = sys.argv[1:]
inputs = {"data": load(data).array, "indices": load(indices).array}
if updates != "-":
    inputs["updates"] = load(updates).array
stream.run_to_file(plan_call(find_operator(operator), inputs, {}).validate(), out)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize(
    "name", ["onnx.scatter_nd", *slow(["onnx.gather", "onnx.gather_elements"])]
)
def test_memory_does_not_grow_with_the_files(name: str, tmp_path: Path) -> None:
    rows, width, entries = 1 << 19, 64, 200_000
    data = np.lib.format.open_memmap(tmp_path / "d.npy", "w+", np.float32, (rows, width))
    data[::1000] = 1
    indices, second = RNG.integers(0, rows, entries), "-"
    if name == "onnx.gather_elements":  # the indices are the large file
        indices = np.zeros((rows // 2, width), np.int64)
        indices[::7, ::7] = -5
    elif name == "onnx.scatter_nd":
        indices, second = indices[:, None], str(tmp_path / "u.npy")
        np.lib.format.open_memmap(second, "w+", np.float32, (entries, width))[:] = 2
    np.save(tmp_path / "i.npy", indices)
    files = [str(tmp_path / "d.npy"), str(tmp_path / "i.npy"), second, str(tmp_path / "o.npy")]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *files, name],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert data.nbytes == 128 << 20
    assert int(done.stdout) < 110 << 10


@pytest.mark.parametrize("way", ["streamed", "patched"])
def test_a_command_judges_the_indices_of_a_file_once(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gscli.files.content.MIN_MAP_BYTES", 1)
    monkeypatch.setattr("gscli.stream.to_file.MIN_STREAM_BYTES", 1)
    places = np.arange(0, 60, 3)[:, None]
    for name, array in {"d": np.zeros((90, 4)), "i": places, "u": np.ones((20, 4))}.items():
        np.save(tmp_path / f"{name}.npy", array)
    judged: list[str] = []
    judge = Plan.check_indices
    monkeypatch.setattr(Plan, "check_indices", lambda plan: (judged.append(way), judge(plan))[1])
    files = [str(tmp_path / f"{name}.npy") for name in "diu"]
    out = tmp_path / "out.npy"
    more = ["-o", str(out), "--quiet"] if way == "streamed" else ["--in-place", "--quiet"]
    assert run_safely(["scatter-nd", *files, *more]) == 0
    assert judged == [way]
    written = np.load(out if way == "streamed" else files[0])
    assert written.sum() == written[places[:, 0]].sum() == 80


@pytest.mark.parametrize("name", ["onnx.scatter_nd", "onnx.gather"])
def test_a_result_comes_in_pieces_without_a_file(tmp_path: Path, name: str) -> None:
    at = np.array([[3], [-1], [3]])
    inputs = {"data": DATA, "indices": at if name.endswith("nd") else at[:, 0]}
    attrs: dict[str, object] = {"axis": 1} if name.endswith("gather") else {}
    if name.endswith("nd"):
        inputs["updates"] = DATA[:3]
    plan = gscli.trace(name, inputs, attrs).plan
    with streaming.open_result(plan) as pieces:
        flat = np.concatenate([piece.reshape(-1).copy() for piece in pieces])
    assert_same(flat.reshape(plan.layout.output_shape), gscli.run(name, inputs, attrs))
    assert not list(tmp_path.iterdir())
