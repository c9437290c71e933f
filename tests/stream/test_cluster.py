"""The same calls by the workers of a real cluster: the same bits, and nothing half-written."""

from __future__ import annotations

import itertools
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import distributed
import numpy as np
import psutil
import pytest
import zarr
from conftest import judged
from stream import stores
from stream.stores import DATA, RandomCall, random_call, same_bits

from gscli.base import CannotRead, CannotWrite, ContentRefused, UsageError
from gscli.cli import run_safely
from gscli.disk import mapped
from gscli.files import load
from gscli.files.stores.zarr_place import ZarrPath
from gscli.files.stores.zarr_store import ZarrArray, open_zarr_array, zarr_source
from gscli.stream.chunked.grid import ChunkGrid
from gscli.stream.chunked.scatter import create_like
from gscli.stream.cluster import connection, on_cluster, tasks
from gscli.stream.cluster.connection import check_workers
from gscli.stream.cluster.on_cluster import run_on_cluster
from gscli.stream.cluster.tasks import FileReference, pickle_plan, to_file_reference, unpickle_plan

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Scheduler and workers in this process, where coverage sees what they do."""
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None,
        silence_logs=60,
    )  # fmt: skip
    with cluster, distributed.Client(cluster, set_as_default=False) as found:
        yield found


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits so low that small calls have several tasks of each kind."""
    monkeypatch.setattr(on_cluster, "ENTRIES", 16)
    monkeypatch.setattr(on_cluster, "GROUP", 64)
    monkeypatch.setattr(on_cluster, "KEYS", 2)


def test_what_others_log_is_not_silenced(caplog: pytest.LogCaptureFixture) -> None:
    """Dask's own words are, and are heard again afterwards."""
    dask = logging.getLogger("distributed.worker")
    before = dask.level
    with connection._silence_dask_logs():
        assert not dask.isEnabledFor(logging.CRITICAL)
        logging.getLogger("program").error("still heard")
    assert dask.level == before
    assert "still heard" in caplog.text


@pytest.mark.parametrize("block", range(5))
def test_a_hundred_random_calls(tmp_path: Path, block: int, client: Any, small: None) -> None:
    del small
    for seed in range(block * 20, block * 20 + 20):
        folder = tmp_path / str(seed)
        folder.mkdir()
        call = random_call(seed)
        plan = call.plan(folder / "in.zarr")
        run_on_cluster(plan, f"{folder}/out.zarr", client=client)
        assert same_bits(load(f"{folder}/out.zarr").array, call.expected()), str(call)
        assert sorted(path.name for path in folder.iterdir()) == ["in.zarr", "out.zarr"]


def test_without_entries_every_chunk_is_copied(tmp_path: Path, client: Any) -> None:
    data = np.arange(12, dtype=np.float32).reshape(4, 3)
    arrays = {"data": data, "indices": np.zeros((0, 1), np.int64), "updates": data[:0]}
    call = RandomCall("onnx.scatter_nd", arrays, {"reduction": "add"}, (2, 2), {})
    run_on_cluster(call.plan(tmp_path / "in.zarr"), f"{tmp_path}/out.zarr", client=client)
    assert same_bits(stored(tmp_path / "out.zarr"), data)


def made(path: Path, rows: int = 1 << 16, chunk: int = 1 << 10) -> list[str]:
    """A table of 64 columns in chunks, with indices and updates beside it; words of a scatter."""
    rng = np.random.default_rng(3)
    array = zarr.create_array(
        f"{path}/t.zarr", shape=(rows, 64), chunks=(chunk, 64), dtype="f4", compressors=None
    )
    array[...] = rng.random((rows, 64), np.float32)
    np.save(f"{path}/i.npy", rng.integers(-rows, rows, (rows, 1)))
    np.save(f"{path}/u.npy", rng.random((rows, 64), np.float32))
    words = [f"{path}/{name}" for name in ("t.zarr", "i.npy", "u.npy")]
    return ["scatter-nd", *words, "--reduction", "add"]


def stored(path: Path) -> Any:
    return zarr.open_array(str(path), mode="r")[...]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_processes_of_this_machine(tmp_path: Path) -> None:
    words = made(tmp_path)
    assert run_safely([*words, "-o", f"{tmp_path}/one.zarr"]) == 0
    assert run_safely([*words, "-o", f"{tmp_path}/two.zarr", "--engine", "dask"]) == 0
    assert same_bits(stored(tmp_path / "two.zarr"), stored(tmp_path / "one.zarr"))


def test_a_scheduler_at_an_address(
    tmp_path: Path, client: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    words = made(tmp_path)
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=60
    )
    del client
    with cluster:
        address = f"dask={cluster.scheduler_address}"
        assert run_safely([*words, "-o", f"{tmp_path}/a.zarr", "--engine", address]) == 0
        np.save(f"{tmp_path}/i.npy", np.full((1 << 16, 1), 1 << 16))
        assert run_safely([*words, "-o", f"{tmp_path}/b.zarr", "--engine", address]) == 65
        assert "indices[0,0] = 65536" in capsys.readouterr().err
    assert names(tmp_path) == ["a.zarr", "i.npy", "t.zarr", "u.npy"]


@pytest.mark.parametrize("engine", ["dask=tcp://127.0.0.1:9", "dask=nonsense://x", "spark"])
def test_an_engine_that_is_not_there(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CONNECT_TIMEOUT", 1)
    words = [*made(tmp_path, 64, 8), "-o", f"{tmp_path}/a.zarr", "--engine", engine]
    assert run_safely(words) == (2 if engine == "spark" else 66)
    assert names(tmp_path) == ["i.npy", "t.zarr", "u.npy"]


@pytest.mark.parametrize(
    "words",
    [
        ["gather", "[1,2]", "[0]", "-o", "x.zarr", "--engine", "dask"],
        ["gather", "[1,2]", "[0]", "-o", "x.npy", "--engine", "dask"],
        ["gather", "[1,2]", "[0]", "--engine", "dask"],
        ["gather", "[1,2]", "[0]", "-m", "text"],
    ],
)
def test_what_an_engine_does_not_do(words: list[str]) -> None:
    assert run_safely(words) == 2


def test_what_a_worker_refuses_is_told_as_it_is(tmp_path: Path, client: Any) -> None:
    call = random_call(601)
    plan = call.plan(tmp_path / "in.zarr")
    for chunk in Path(tmp_path, "in.zarr", "c").rglob("*"):
        if chunk.is_file():
            chunk.write_bytes(b"")
    with pytest.raises(ContentRefused, match="a chunk is empty"):
        run_on_cluster(plan, f"{tmp_path}/out.zarr", client=client)
    assert names(tmp_path) == ["in.zarr"]


def test_a_full_disk_on_a_worker(
    tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise CannotWrite("cannot write", where="no space left on device")

    monkeypatch.setattr(ZarrArray, "write_chunk", full)
    plan = random_call(601).plan(tmp_path / "in.zarr")
    with pytest.raises(CannotWrite, match="no space"):
        run_on_cluster(plan, f"{tmp_path}/out.zarr", client=client)
    assert names(tmp_path) == ["in.zarr"]


def test_tasks_in_mid_work_end_before_the_folder_goes(
    tmp_path: Path, client: Any, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk that is still being written would bring a part of the folder back."""
    del small
    data = np.zeros((16, 4), np.float32)
    arrays = {"data": data, "indices": np.arange(16)[:, None], "updates": data}
    call = RandomCall("onnx.scatter_nd", arrays, {}, (1, 4), {})
    plan, real, calls = call.plan(tmp_path / "in.zarr"), ZarrArray.write_chunk, itertools.count()

    def write(self: ZarrArray, coordinates: Any, values: Any) -> None:
        if next(calls) == 0:
            time.sleep(0.1)
            raise CannotWrite("cannot write", where="no space left on device")
        time.sleep(0.4)
        real(self, coordinates, values)

    monkeypatch.setattr(ZarrArray, "write_chunk", write)
    with pytest.raises(CannotWrite, match="no space"):
        run_on_cluster(plan, f"{tmp_path}/out.zarr", client=client)
    time.sleep(0.6)
    assert names(tmp_path) == ["in.zarr"]


def test_workers_that_go_on_alone_leave_nothing(
    tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that lost them has removed the folder, before a chunk or while it is written."""
    del client
    data = np.ones((16, 4), np.float32)
    arrays = {"data": data, "indices": np.array([[0], [9]]), "updates": data[:2]}
    plan = RandomCall("onnx.scatter_nd", arrays, {}, (2, 4), {}).plan(tmp_path / "in.zarr")
    source = zarr_source(plan.inputs["data"])
    assert source is not None
    grid = ChunkGrid.for_row_size(source.shape, source.chunk_shape, 4)
    assert grid is not None
    hidden = tmp_path / "out.zarr.gscli-01234567"
    shares = [(np.array([0, 9]), np.ones((2, 4), np.float32))]
    real = ZarrArray.write_chunk

    def write(self: ZarrArray, coordinates: Any, values: Any) -> None:
        shutil.rmtree(hidden)
        real(self, coordinates, values)

    hidden.mkdir()
    target = create_like(source, str(hidden))
    monkeypatch.setattr(ZarrArray, "write_chunk", write)
    with pytest.raises(CannotWrite, match="given up"):
        tasks.scatter_chunks(shares, pickle_plan(plan), tasks.Shuffle(grid, 8), source, target)
    with pytest.raises(CannotWrite, match="given up"):
        tasks.copy_chunks(source, str(hidden), list(source.stored_keys()))
    assert names(tmp_path) == ["in.zarr"]


def test_a_task_of_copies_that_is_done_again_copies_nothing(tmp_path: Path) -> None:
    """The scheduler may give a task to a second worker; what the first one copied stays."""
    source = open_zarr_array(ZarrPath(stores.made(tmp_path / "in.zarr")), 1 << 30)
    hidden = tmp_path / "out.zarr.gscli-01234567"
    hidden.mkdir()
    target, keys = create_like(source, str(hidden)), list(source.stored_keys())
    assert tasks.copy_chunks(source, str(hidden), keys[:2]) == 2 * source.chunk_bytes
    assert tasks.copy_chunks(source, str(hidden), keys) == (len(keys) - 2) * source.chunk_bytes
    assert tasks.copy_chunks(source, str(hidden), keys) == 0
    assert (target.read_all() == DATA).all()


def test_a_terminals_interrupt_is_for_the_client_alone() -> None:
    """Ctrl-C reaches the workers, too; each would print a traceback of its own."""

    def blocked() -> bool:
        return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())

    with connection.cluster_client("", workers=2) as client:
        found = client.run(blocked)
    assert list(found.values()) == [True, True]
    assert not blocked()


class Busy:
    """A client whose one worker is at some tasks, each time it is asked."""

    def __init__(self, status: str, *counts: int) -> None:
        self.status, self.counts, self.cancelled = status, list(counts), False

    def cancel(self, futures: list[Any], *, force: bool) -> None:
        assert (futures, force) == ([1], True)
        self.cancelled = True

    def run(self, *_: Any, on_error: str) -> dict[str, int]:
        del on_error
        return {"tcp://worker": self.counts.pop(0)}


def test_nobody_logs_what_comes_late_to_a_closed_connection() -> None:
    """Tornado would print a traceback for a callback that a busy machine calls after the end."""

    def logs_errors() -> bool:
        return logging.getLogger("tornado.application").isEnabledFor(logging.ERROR)

    assert logs_errors()
    with connection.cluster_client("", workers=1) as client:
        assert list(client.run(logs_errors).values()) == [False]
        assert not logs_errors()
    assert logs_errors()


def test_a_failed_run_waits_for_its_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    for there in (Busy("running", 2, 1, 0), Busy("closed")):
        connection.cancel_futures(there, {1})
        assert (there.cancelled, there.counts) == (True, [])
    monkeypatch.setattr(connection, "CANCEL_TIMEOUT", -1)
    late = Busy("running", 1)
    connection.cancel_futures(late, {1})
    assert late.counts == [1]
    state = SimpleNamespace(state=SimpleNamespace(executing_count=3))
    assert connection.count_running_tasks(state) == 3


class Answers:
    """A client whose workers say what a test wants."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def run(self, *_: Any, on_error: str) -> Any:
        assert on_error == "return"
        return {"tcp://worker": self.answers.pop(0), "tcp://dead": OSError("gone")}


def test_workers_that_do_not_start_are_told_of() -> None:
    class Dask:
        Security = SimpleNamespace(temporary=lambda: None)

        @staticmethod
        def LocalCluster(**_: Any) -> None:  # noqa: N802
            raise RuntimeError("Nanny failed to start.")

    with pytest.raises(CannotRead, match="no workers could be started"):
        connection._start_local_cluster(Dask, 2)


def test_workers_that_differ_are_refused() -> None:
    own = connection.package_versions()
    check_workers(Answers(own, []), [])
    with pytest.raises(UsageError, match="other versions") as caught:
        check_workers(Answers({**own, "zarr": "3.0.0"}, []), [])
    assert caught.value.details[0].startswith("zarr")
    with pytest.raises(CannotRead, match="cannot see /data/x"):
        check_workers(Answers(own, ["/data/x"]), [])
    with pytest.raises(UsageError, match="has no gscli"):
        check_workers(Answers(ModuleNotFoundError("No module named 'gscli'")), [])
    assert connection.missing_paths(["/", "/no/such"]) == ["/no/such"]


def test_a_cluster_that_goes_away_is_told_of() -> None:
    with (
        pytest.raises(CannotWrite, match="did not finish") as caught,
        connection._translate_dask_errors(distributed, ""),
    ):
        raise TimeoutError("late")
    assert caught.value.details[0] == "nothing was put in place"


def test_what_a_killed_worker_left_of_a_chunk_is_removed(tmp_path: Path) -> None:
    for name in ("0.0123.partial", "0"):
        (tmp_path / name).write_text("x")
    on_cluster._remove_partial(str(tmp_path))
    assert names(tmp_path) == ["0"]


def test_files_travel_by_name(tmp_path: Path) -> None:
    made(tmp_path, 1 << 15, 1 << 10)
    array = load(f"{tmp_path}/u.npy").array
    shipped = to_file_reference(array)
    assert isinstance(shipped, FileReference)
    assert np.array_equal(shipped.map_array(), array)
    with pytest.raises(CannotRead, match="another file"):
        shipped._replace(stamp=shipped.stamp._replace(size=1)).map_array()
    with pytest.raises(CannotRead, match="a worker cannot read"):
        shipped._replace(path="/no/such.npy").map_array()


def test_a_plan_maps_the_files_again_where_it_is_unpacked(tmp_path: Path) -> None:
    made(tmp_path, 1 << 13, 1 << 10)
    inputs = {"data": load(f"{tmp_path}/u.npy").array, "indices": np.array([[3]])}
    plan = judged("onnx.scatter_nd", {**inputs, "updates": np.ones((1, 64), np.float32)}, {})
    again = unpickle_plan(pickle_plan(plan)).inputs
    assert mapped.find_file(again["data"]) is not None
    assert np.array_equal(again["data"], inputs["data"])
    assert mapped.find_file(again["indices"]) is None


def started(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "gscli", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip


def hidden(folder: Path) -> Path | None:
    return next((path for path in folder.iterdir() if ".gscli-" in path.name), None)


def wait_for(condition: Any, seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("it did not come")


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    import psutil

    below = psutil.Process(process.pid).children(recursive=True)
    return [child.pid for child in below if "spawn_main" in " ".join(child.cmdline())]


def test_a_killed_worker_changes_no_bit(tmp_path: Path) -> None:
    words = made(tmp_path, 1 << 18, 1 << 10)
    assert run_safely([*words, "-o", f"{tmp_path}/one.zarr"]) == 0
    process = started([*words, "-o", f"{tmp_path}/two.zarr", "--engine", "dask"])
    wait_for(lambda: hidden(tmp_path))
    os.kill(workers_of(process)[-1], signal.SIGKILL)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert same_bits(stored(tmp_path / "two.zarr"), stored(tmp_path / "one.zarr"))
    assert names(tmp_path) == ["i.npy", "one.zarr", "t.zarr", "two.zarr", "u.npy"]


def test_a_killed_client_leaves_a_hidden_folder_that_the_next_run_removes(tmp_path: Path) -> None:
    words = [*made(tmp_path, 1 << 17, 1 << 10), "-o", f"{tmp_path}/two.zarr"]
    process = started([*words, "--engine", "dask"])
    left = wait_for(lambda: hidden(tmp_path))
    process.kill()
    process.communicate(timeout=60)
    assert left.exists()
    assert "two.zarr" not in names(tmp_path)
    time.sleep(1)
    assert run_safely(words) == 0
    wait_for(lambda: hidden(tmp_path) is None)
    assert "two.zarr" in names(tmp_path)


STRANGER = """
import os, sys, distributed
try:
    client = distributed.Client(sys.argv[1], timeout=3)
    print(client.submit(sum, [1, 2]).result(timeout=5), flush=True)
except Exception as error:
    print("refused", flush=True)
os._exit(0)
"""


def listening() -> set[tuple[str, int]]:
    """Where this process and what it started wait for connections."""
    own = psutil.Process()
    return {
        (place.laddr.ip, place.laddr.port)
        for process in (own, *own.children(recursive=True))
        for place in process.net_connections(kind="inet")
        if place.status == psutil.CONN_LISTEN
    }


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["tls", "tcp"])
def test_a_stranger_is_turned_away_and_nothing_listens_beyond_this_machine(protocol: str) -> None:
    before = listening()  # of tests that ran here before
    with connection.cluster_client("", workers=1) as client:
        address = client.scheduler_info()["address"].replace("tls", protocol)
        words = [sys.executable, "-c", STRANGER, address]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
        opened = listening() - before
    assert done.stdout == "refused\n"
    assert {ip for ip, _ in opened} == {"127.0.0.1"}
