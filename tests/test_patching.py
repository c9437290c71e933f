"""Patches in place: the same bytes as a new file, and whole or not at all whatever happens."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Array, assert_same, judged

import gscli
from gscli import stream as streaming
from gscli.files import files, undo
from gscli.frameworks import find
from gscli.stream import patching

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
    monkeypatch.setattr(patching, "AHEAD", 150 * WIDTH)


def saved(folder: Path) -> Path:
    """Data as a file that is large enough to be mapped."""
    np.save(folder / "data.npy", DATA)
    return folder / "data.npy"


def patch(path: Path, attrs: dict[str, Any], **more: Any) -> int:
    loaded = files.load(str(path)).array
    assert isinstance(loaded, np.memmap)
    inputs = {"data": loaded, **INPUTS}
    return streaming.patch_in_place(judged("onnx.scatter_nd", inputs, attrs), **more)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_a_patch_is_what_a_new_file_would_be(reduction: str, tmp_path: Path) -> None:
    path, attrs = saved(tmp_path), {"reduction": reduction}
    done: list[tuple[int, int]] = []
    rows = patch(path, attrs, progress=lambda *at: done.append(at))
    assert rows == np.unique(AT % ROWS).size
    assert done[-1] == (rows * WIDTH * 4, rows * WIDTH * 4)
    assert_same(np.load(path), gscli.run("onnx.scatter_nd", {"data": DATA, **INPUTS}, attrs))
    assert names_in(tmp_path) == ["data.npy"]


def test_means_start_and_end_with_each_row(tmp_path: Path) -> None:
    path, attrs = saved(tmp_path), {"reduction": "mean", "use_init_val": False}
    at = RNG.integers(0, ROWS, (500, WIDTH))
    inputs = {"indices": at, "updates": INPUTS["updates"][:1].repeat(500, 0), "axis": np.array(0)}
    operator = find("openvino.scatter_elements_update")
    expected = gscli.run(operator.full_name, {"data": DATA, **inputs}, attrs)
    streaming.patch_in_place(
        judged(operator.full_name, {"data": files.load(str(path)).array, **inputs}, attrs)
    )
    assert_same(np.load(path), expected)


def test_a_bad_index_changes_nothing(tmp_path: Path) -> None:
    path = saved(tmp_path)
    loaded = files.load(str(path)).array
    bad = {"data": loaded, "indices": [[0], [ROWS]], "updates": INPUTS["updates"][:2]}
    with pytest.raises(gscli.GscliError, match="out of range"):
        streaming.patch_in_place(judged("onnx.scatter_nd", bad, {}))
    assert_same(np.load(path), DATA)


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("onnx.gather", {"data": DATA, "indices": AT}),
        ("onnx.scatter_nd", {"data": DATA, **INPUTS}),
        ("tensorflow.scatter_nd", {"indices": [[0]], "updates": [1], "shape": [2]}),
    ],
)
def test_what_is_no_scatter_into_a_file_is_refused(name: str, inputs: dict[str, Array]) -> None:
    with pytest.raises(gscli.GscliError, match="in place"):
        streaming.patch_in_place(judged(name, inputs, {}))


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


def test_an_end_at_any_step_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path)
    expected = gscli.run("onnx.scatter_nd", {"data": DATA, **INPUTS})
    for step in STEPS:
        with monkeypatch.context() as patched:
            counted = stopping(step, stop)
            for name in ("write", "pwrite"):
                patched.setattr(os, name, counted(getattr(os, name)))
            try:
                patch(path, {})
            except Stop:
                pass
            else:
                break
        assert_same(np.load(path), DATA)
        assert names_in(tmp_path) == ["data.npy"]
    assert step > 24
    assert_same(np.load(path), expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_death_at_any_step_is_taken_back_by_the_next_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path)
    expected = gscli.run("onnx.scatter_nd", {"data": DATA, **INPUTS})
    journals = 0
    for step in STEPS:
        child = os.fork()
        if not child:
            counted = stopping(step, lambda: os._exit(9))
            for name in ("write", "pwrite", "fsync", "unlink"):
                monkeypatch.setattr(os, name, counted(getattr(os, name)))
            patch(path, {})
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        journals += Path(undo.journal_of(str(path))).exists()
        content = np.array(files.load(str(path)).array)
        assert names_in(tmp_path) == ["data.npy"]
        if status == 0:
            break
        # After the last sync the new content may stay.
        assert content.tobytes() in (DATA.tobytes(), expected.tobytes())
        np.save(path, DATA)
    assert step > 24
    assert journals > 10
    assert_same(content, expected)


def test_a_file_that_is_being_patched_is_not_read(tmp_path: Path) -> None:
    path = saved(tmp_path)
    with path.open("r+b") as file:
        journal = undo.Journal(str(path), file.fileno(), 128, WIDTH * 4)
        with pytest.raises(gscli.GscliError, match="being patched"):
            files.load(str(path))
        with pytest.raises(gscli.GscliError, match="being patched"):
            undo.Journal(str(path), file.fileno(), 128, WIDTH * 4)
        journal.remove()
    assert files.load(str(path)).array.shape == DATA.shape


def test_a_journal_of_another_file_is_left_to_a_person(tmp_path: Path) -> None:
    path = saved(tmp_path)
    with path.open("r+b") as file:
        journal = undo.Journal(str(path), file.fileno(), 128, WIDTH * 4)
        journal.add(np.array([1]), np.zeros((1, WIDTH * 4), np.uint8))
        journal.seal()
        os.close(journal._descriptor)
    path.rename(tmp_path / "moved.npy")
    np.save(path, DATA)
    with pytest.raises(gscli.GscliError, match="cut short") as caught:
        files.load(str(path))
    assert "replaced" in caught.value.where
    assert_same(np.load(path), DATA)


def test_a_signal_is_taken_back(tmp_path: Path) -> None:
    path = saved(tmp_path)

    def stop(*_: int) -> None:
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(SystemExit) as caught:
        patch(path, {}, progress=stop)
    assert caught.value.code == 128 + signal.SIGTERM
    assert_same(np.load(path), DATA)
    assert names_in(tmp_path) == ["data.npy"]


def test_updates_from_the_file_itself_are_refused(tmp_path: Path) -> None:
    path, other = saved(tmp_path), tmp_path / "other.npy"
    other.hardlink_to(path)
    backwards = np.arange(ROWS)[::-1, None].copy()
    for name in (path, other):
        inputs = {
            "data": files.load(str(path)).array,
            "indices": backwards,
            "updates": files.load(str(name)).array,
        }
        with pytest.raises(gscli.GscliError, match="in the file that is to be patched"):
            streaming.patch_in_place(judged("onnx.scatter_nd", inputs, {}))
    assert_same(np.load(path), DATA)
