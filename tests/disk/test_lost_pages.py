"""Pages of a mapped file that are gone are zeros, and the file is known to be changed."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gscli.base import CannotRead
from gscli.disk import lost_pages, mapped
from gscli.files import load

COUNT = 1 << 18


@pytest.fixture(autouse=True)
def nothing_lost_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "TRUNCATED_FILES", [])


@pytest.mark.parametrize("size", [0, 100, 4096, 5000, 1 << 20])
def test_zeros_and_an_error(size: int, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.ones(COUNT))
    array = load(str(path)).array
    os.truncate(path, size)
    kept = max(size - 128, 0) // 8
    assert array.sum() == kept
    assert array[:kept].all()
    os.truncate(path, 128 + COUNT * 8)
    with pytest.raises(CannotRead, match="was changed"):
        mapped.check_unchanged(array)


def test_a_copy_to_write_to_is_saved_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped, "WORTH_OVERLAYING", 0)
    path = tmp_path / "x.npy"
    np.save(path, np.ones(COUNT))
    array = load(str(path)).array
    overlaid = mapped.map_copy_on_write(array)
    assert overlaid is not None
    os.truncate(path, 0)
    overlaid[-1] = 5
    assert overlaid.sum() == 5
    assert mapped.map_copy_on_write(np.ones(3)) is None
    monkeypatch.setattr(mapped, "map_file", refuse)
    assert mapped.map_copy_on_write(array) is None


def refuse(*_: object) -> None:
    raise OSError


def test_what_is_not_ours_ends_the_process_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a mapping that is too short, the system's own way is put back."""
    calls: list[tuple[int, object]] = []
    handlers: list[object] = []
    library = SimpleNamespace(mmap=lambda *_: None, signal=lambda *call: calls.append(call))
    library.mmap = ctypes.CFUNCTYPE(None)(lambda: None)
    library.signal = Recorder(calls)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    monkeypatch.setattr(lost_pages, "_installed", handlers)
    lost_pages.install_sigbus_handler(lambda _: [])
    assert len(calls) == 1
    handlers[0](signal.SIGBUS)  # type: ignore[operator]  # a function of ctypes
    assert calls[1] == (signal.SIGBUS, None)
    lost_pages.install_sigbus_handler(lambda _: [])
    assert len(calls) == 2


class Recorder:
    """A function of the C library that is only noted."""

    def __init__(self, calls: list[tuple[int, object]]) -> None:
        self.calls = calls

    def __call__(self, number: int, handler: object) -> None:
        self.calls.append((number, handler))


def test_a_system_without_the_signal_or_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    handlers: list[object] = []
    monkeypatch.setattr(lost_pages, "_installed", handlers)

    def absent(_: object) -> None:
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(ctypes, "CDLL", absent)
        lost_pages.install_sigbus_handler(lambda _: [])
    monkeypatch.delattr(signal, "SIGBUS")
    lost_pages.install_sigbus_handler(lambda _: [])
    assert not handlers


def test_a_mapping_that_lost_no_whole_page(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(4096))
    file = mapped.open_file(str(path), os.O_RDONLY)
    assert not mapped.Mapping(file, 0, 0, 4096).remap_truncated(None)
    assert not mapped.TRUNCATED_FILES
    os.truncate(path, 4090)
    assert mapped.Mapping(file, 0, 0, 4096).remap_truncated(None)
    assert [str(path)] == mapped.TRUNCATED_FILES
