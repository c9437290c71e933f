"""Patches in place: the same bytes as a new file, and whole or not at all whatever happens."""

from __future__ import annotations

import errno
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Array, assert_same, judged, open_file

import gscli
from gscli import files
from gscli import stream as streaming
from gscli.base.arrays import Indices
from gscli.disk.mapped import undo_file_of
from gscli.disk.system import lock_file
from gscli.disk.unfinished import UnfinishedPatch
from gscli.files.formats.npy import npy_header
from gscli.frameworks import find_operator
from gscli.stream import patch as patching
from gscli.stream import scatter as scattering
from gscli.stream import undo_file
from gscli.stream.undo_file import undo, write_rows

ROWS, WIDTH = 4000, 100
RNG = np.random.default_rng(11)
DATA = RNG.standard_normal((ROWS, WIDTH)).astype(np.float32)
AT = np.concatenate([RNG.integers(-ROWS, ROWS, 300), np.arange(50, 60), [7, 7, 7]])
INPUTS = {
    "indices": AT[:, None],
    "updates": RNG.standard_normal((AT.size, WIDTH)).astype(np.float32),
}


STEPS = [*range(1, 25), 40, 80, 160, 250, 300, 310, 320, 1000]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patching, "CHUNK", 100 * WIDTH * 4)
    monkeypatch.setattr(scattering, "PREFETCH_CELLS", 150 * WIDTH)


def saved(folder: Path) -> Path:
    """Data as a file that is large enough to be mapped."""
    np.save(folder / "data.npy", DATA)
    return folder / "data.npy"


def patch(path: Path, attrs: dict[str, Any], *, direct: bool = False, **more: Any) -> int:
    file, loaded = open_file(path), files.load(str(path)).array
    assert isinstance(loaded, np.memmap)
    inputs = {"data": loaded, **INPUTS}
    plan = judged("onnx.scatter_nd", inputs, attrs)
    return streaming.patch_in_place(plan, file, direct=direct, **more)


WAYS = pytest.mark.parametrize("direct", [False, True], ids=["whole", "direct"])


@WAYS
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_a_patch_is_what_a_new_file_would_be(reduction: str, direct: bool, tmp_path: Path) -> None:
    path, attrs = saved(tmp_path), {"reduction": reduction}
    done: list[tuple[int, int]] = []
    rows = patch(path, attrs, direct=direct, progress=lambda *at: done.append(at))
    assert rows == np.unique(AT % ROWS).size
    assert done[-1] == (rows * WIDTH * 4, rows * WIDTH * 4)
    assert_same(np.load(path), gscli.run("onnx.scatter_nd", {"data": DATA, **INPUTS}, attrs))
    assert names_in(tmp_path) == ["data.npy"]


def test_means_start_and_end_with_each_row(tmp_path: Path) -> None:
    path, attrs = saved(tmp_path), {"reduction": "mean", "use_init_val": False}
    at = RNG.integers(0, ROWS, (500, WIDTH))
    inputs = {"indices": at, "updates": INPUTS["updates"][:1].repeat(500, 0), "axis": np.array(0)}
    operator = find_operator("openvino.scatter_elements_update")
    expected = gscli.run(operator.full_name, {"data": DATA, **inputs}, attrs)
    given = {"data": files.load(str(path)).array, **inputs}
    streaming.patch_in_place(judged(operator.full_name, given, attrs), open_file(path))
    assert_same(np.load(path), expected)


def test_a_bad_index_changes_nothing(tmp_path: Path) -> None:
    path = saved(tmp_path)
    loaded = files.load(str(path)).array
    bad = {"data": loaded, "indices": [[0], [ROWS]], "updates": INPUTS["updates"][:2]}
    with pytest.raises(gscli.GscliError, match="out of range"):
        streaming.patch_in_place(judged("onnx.scatter_nd", bad, {}), open_file(path))
    assert_same(np.load(path), DATA)


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("onnx.gather", {"data": DATA, "indices": AT}),
        ("tensorflow.scatter_nd", {"indices": [[0]], "updates": [1], "shape": [2]}),
    ],
)
def test_what_is_no_scatter_into_data_is_refused(
    name: str, inputs: dict[str, Array], tmp_path: Path
) -> None:
    with pytest.raises(gscli.GscliError, match="in place"):
        streaming.patch_in_place(judged(name, inputs, {}), open_file(saved(tmp_path)))


@pytest.mark.parametrize("form", ["Fortran", "big-endian", "converted"])
def test_a_file_in_another_form_is_replaced_and_never_written_into(
    form: str, tmp_path: Path
) -> None:
    path = tmp_path / "data.npy"
    stored = {"Fortran": np.asfortranarray(DATA), "big-endian": DATA.astype(">f4")}
    np.save(path, stored.get(form, DATA))
    dtype = "float64" if form == "converted" else None
    data = files.load(str(path), dtype=dtype).array
    inputs = {"data": data, "indices": AT[:, None], "updates": INPUTS["updates"].astype(data.dtype)}
    plan, before = judged("onnx.scatter_nd", inputs, {}), path.read_bytes()
    with pytest.raises(gscli.GscliError, match="only plain data"):
        streaming.patch_in_place(plan, open_file(path), direct=True)
    assert path.read_bytes() == before
    assert streaming.patch_in_place(plan, open_file(path)) == np.unique(AT % ROWS).size
    assert_same(np.load(path), gscli.run("onnx.scatter_nd", inputs))


@WAYS
def test_the_file_that_was_judged_is_the_one_that_is_changed(direct: bool, tmp_path: Path) -> None:
    """Another file is moved over the data after they were loaded: it keeps every byte."""
    path = saved(tmp_path)
    other = np.ones_like(DATA)

    def move_another_over_it(*_: int) -> None:
        np.save(tmp_path / "other.npy", other)
        (tmp_path / "other.npy").rename(path)

    if direct:  # while rows are written: they go on into the file that was opened
        patch(path, {}, direct=True, progress=move_another_over_it)
    else:
        with pytest.raises(gscli.GscliError, match="moved or replaced"):
            patch(path, {}, progress=move_another_over_it)
    assert_same(np.load(path), other)
    assert names_in(tmp_path) == ["data.npy"]


@WAYS
def test_a_file_moved_before_is_not_found_again_by_name(direct: bool, tmp_path: Path) -> None:
    path = saved(tmp_path)
    file = open_file(path)
    inputs = {"data": files.load(str(path)).array, **INPUTS}
    np.save(tmp_path / "other.npy", DATA + 1)
    (tmp_path / "other.npy").rename(path)
    with pytest.raises(gscli.GscliError, match="moved or replaced"):
        streaming.patch_in_place(judged("onnx.scatter_nd", inputs, {}), file, direct=direct)
    assert_same(np.load(path), DATA + 1)


@WAYS
@pytest.mark.parametrize("name", ["data", "updates"])
def test_inputs_that_change_meanwhile_are_refused(name: str, direct: bool, tmp_path: Path) -> None:
    path = saved(tmp_path)
    np.save(tmp_path / "updates.npy", np.zeros((ROWS, WIDTH), np.float32))
    inputs = {
        "data": files.load(str(path)).array,
        "indices": np.arange(ROWS)[:, None],
        "updates": files.load(str(tmp_path / "updates.npy")).array,
    }
    file = open_file(path)
    changed = tmp_path / f"{name}.npy"
    with changed.open("r+b") as stream:
        stream.seek(-4, os.SEEK_END)
        stream.write(b"abcd")
    os.utime(changed, ns=(5, 5))
    before = path.read_bytes()
    with pytest.raises(gscli.GscliError, match="was changed while"):
        streaming.patch_in_place(judged("onnx.scatter_nd", inputs, {}), file, direct=direct)
    assert path.read_bytes() == before
    assert names_in(tmp_path) == ["data.npy", "updates.npy"]


def test_two_names_of_one_file_share_its_lock(tmp_path: Path) -> None:
    path, second = saved(tmp_path), tmp_path / "second.npy"
    second.hardlink_to(path)
    for direct in (False, True):
        with (
            lock_file(open_file(second)),
            pytest.raises(gscli.GscliError, match="another process") as refused,
        ):
            patch(path, {}, direct=direct)
        assert refused.value.hint == "wait until that has ended, then run this again"
    assert_same(np.load(path), DATA)
    assert names_in(tmp_path) == ["data.npy", "second.npy"]


@WAYS
def test_a_patch_that_was_cut_short_is_not_patched_over(direct: bool, tmp_path: Path) -> None:
    path = saved(tmp_path)
    Path(undo_file_of(str(path))).write_bytes(b"")
    with (
        pytest.warns(UnfinishedPatch),
        pytest.raises(gscli.GscliError, match="was cut short"),
    ):
        patch(path, {}, direct=direct)
    assert_same(np.load(path), DATA)


@WAYS
def test_a_file_with_holes_keeps_them(direct: bool, tmp_path: Path) -> None:
    path = tmp_path / "data.npy"
    shape = (1 << 14, 1 << 10)
    with path.open("wb") as file:
        file.write(npy_header(np.dtype(np.float32), shape))
        file.truncate(128 + shape[0] * shape[1] * 4)
    given = {"data": files.load(str(path)).array, "indices": np.array([[5]])}
    given["updates"] = np.ones((1, shape[1]), np.float32)
    streaming.patch_in_place(judged("onnx.scatter_nd", given, {}), open_file(path), direct=direct)
    assert path.stat().st_blocks * 512 < 1 << 20
    assert (np.load(path, mmap_mode="r")[4:7].sum(axis=1) == [0, shape[1], 0]).all()


def test_the_message_of_a_full_disk_tells_what_became_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path)

    def full(descriptor: int, offset: int, rows: Indices, content: Array) -> None:
        if path.read_bytes() == before:
            write_rows(descriptor, offset, rows, content)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = path.read_bytes()

    with monkeypatch.context() as patched:
        for module in (patching, undo_file):
            patched.setattr(module, "write_rows", full)
        with pytest.raises(gscli.GscliError, match="no space") as caught:
            patch(path, {}, direct=True)
    assert caught.value.details == ("it is a mix of old and new rows",)
    assert caught.value.hint == f"gscli undo {path}"
    assert undo(str(path)) == np.unique(AT % ROWS).size
    assert_same(np.load(path), DATA)


def test_a_limit_on_files_leaves_no_mix_of_rows(tmp_path: Path) -> None:
    """Rows beyond it could neither be written nor be written back."""
    path, former = saved(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (128 + ROWS // 2 * WIDTH * 4, former[1]))
    try:
        with pytest.raises(gscli.GscliError, match="file too large") as caught:
            patch(path, {}, direct=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)
    assert caught.value.details == ("its old rows were put back",)
    assert_same(np.load(path), DATA)
    assert names_in(tmp_path) == ["data.npy"]


class Stop(BaseException):
    """Something that ends a patch."""


def stopping(at: int, end: Callable[[], None]) -> Callable[..., Any]:
    """A wrapper for system calls that ends everything at call number `at`, half done."""
    made = 0

    def wrapper(call: Callable[..., int]) -> Callable[..., int]:
        def counted(*arguments: Any) -> int:
            nonlocal made
            made += 1
            if made == at:
                if len(arguments) > 1:
                    call(arguments[0], memoryview(arguments[1])[: len(arguments[1]) // 2],
                         *arguments[2:])  # fmt: skip
                end()
            return call(*arguments)

        return counted

    return wrapper


def stop() -> None:
    raise Stop


@WAYS
def test_an_end_at_any_step_is_taken_back(
    direct: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path)
    expected = gscli.run("onnx.scatter_nd", {"data": DATA, **INPUTS})
    for step in STEPS:
        with monkeypatch.context() as patched:
            counted = stopping(step, stop)
            for name in ("write", "pwrite"):
                patched.setattr(os, name, counted(getattr(os, name)))
            try:
                patch(path, {}, direct=direct)
            except Stop:
                pass
            else:
                break
        assert_same(np.load(path), DATA)
        assert names_in(tmp_path) == ["data.npy"]
    assert step > 24
    assert_same(np.load(path), expected)


@WAYS
def test_a_signal_is_taken_back(direct: bool, tmp_path: Path) -> None:
    path = saved(tmp_path)

    def stop(*_: int) -> None:
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(SystemExit) as caught:
        patch(path, {}, direct=direct, progress=stop)
    assert caught.value.code == 128 + signal.SIGTERM
    assert_same(np.load(path), DATA)
    assert names_in(tmp_path) == ["data.npy"]


@WAYS
def test_updates_may_come_from_the_file_itself(direct: bool, tmp_path: Path) -> None:
    path = saved(tmp_path)
    backwards = np.arange(ROWS)[::-1, None].copy()
    loaded = files.load(str(path)).array
    inputs = {"data": loaded, "indices": backwards, "updates": loaded}
    streaming.patch_in_place(judged("onnx.scatter_nd", inputs, {}), open_file(path), direct=direct)
    assert_same(np.load(path), DATA[::-1])
