"""At every call of the system: death, or somebody else who reads, moves, replaces or links.

For results written with `-o` and for files changed in place, whole and directly. Whatever happens
at whichever call, a name stands for a whole file, and nobody else's file loses a byte.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import everyday, slow
from faults.faulty import Faults
from faults.large import DATA, STREAMED, cramp

from gscli.base import GscliError
from gscli.disk.mapped import undo_file_of
from gscli.stream.undo_file import undo

SUBJECT = STREAMED["sums"]
NEW = SUBJECT.expected()
OLD = DATA.tobytes()
OTHER = (DATA + 1).tobytes()

WAYS: dict[str, Callable[[Path], None]] = {
    "output": lambda folder: SUBJECT.streamed(folder, "data.npy"),
    "in place": lambda folder: SUBJECT.patched(folder, direct=False),
    "direct": lambda folder: SUBJECT.patched(folder, direct=True),
}


class Moment(Faults):
    """Something happens once, right before call number `at`."""

    def __init__(self, at: int, act: Callable[[], None]) -> None:
        super().__init__(at, 0)
        self._act = act

    def counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) - 1 == self.fail_at:
                self._act()
            return None if name.endswith("sync") else real(*arguments, **options)

        return call


@pytest.fixture(autouse=True)
def cramped(monkeypatch: pytest.MonkeyPatch) -> None:
    cramp(monkeypatch)


def content(path: Path) -> bytes | None:
    """The values of a .npy file of the test's shape."""
    return path.read_bytes()[-len(OLD) :] if path.exists() else None


def prepared(folder: Path) -> Path:
    for path in folder.iterdir():
        path.unlink()
    SUBJECT.saved(folder)
    np.save(folder / "other.npy", DATA + 1)
    return folder / "data.npy"


def at_each_call(
    way: str, folder: Path, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, GscliError | None]]:
    """Run once for every call: the call's name, and the refusal if there was one."""
    step = 0
    while True:
        prepared(folder)
        moment, refused = Moment(step, act), None
        with monkeypatch.context() as patch:
            moment.install(patch)
            try:
                WAYS[way](folder)
            except GscliError as error:
                refused = error
        if not moment.failed:
            assert refused is None
            assert step > 60
            return
        yield moment.calls[step], refused
        step += 1


def test_killed_at_every_tenth_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_at_calls("direct", 10, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_killed(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_at_calls(way, 1, tmp_path, monkeypatch)


def killed_at_calls(way: str, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step, mixed = 0, 0
    while True:
        data = prepared(tmp_path)
        names = {path.name for path in tmp_path.iterdir()}
        child = os.fork()
        if not child:
            try:
                Moment(step, lambda: os.kill(os.getpid(), signal.SIGKILL)).install(monkeypatch)
                WAYS[way](tmp_path)
            finally:
                os._exit(0)
        killed = os.waitpid(child, 0)[1]
        if not killed:
            break
        if way == "direct" and Path(undo_file_of(str(data))).exists():
            mixed += content(data) not in {OLD, NEW}
            undo(str(data))
            assert content(data) == OLD
        assert content(data) in {OLD, NEW}
        left = {path.name for path in tmp_path.iterdir()} - names
        assert all(name.startswith(".gscli-") for name in left)
        step += every
    assert step > 60
    assert content(data) == NEW
    assert mixed or way != "direct"


@pytest.mark.parametrize("way", ["in place", *slow(["output"])])
def test_read_meanwhile(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes | None] = []
    data = tmp_path / "data.npy"
    for _, refused in at_each_call(way, tmp_path, lambda: seen.append(content(data)), monkeypatch):
        assert refused is None
    assert set(seen) == {OLD, NEW}


@pytest.mark.parametrize("way", everyday(WAYS, {"in place"}))
def test_moved_meanwhile(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, moved = tmp_path / "data.npy", tmp_path / "moved.npy"
    kept = 0
    for _, refused in at_each_call(way, tmp_path, lambda: data.rename(moved), monkeypatch):
        assert content(moved) in {OLD, NEW}
        assert content(data) in {None, NEW}
        if refused is not None:
            kept += 1
            assert content(moved) == OLD
            assert content(data) is None
    assert kept or way == "output"


@pytest.mark.parametrize("way", everyday(WAYS, {"direct"}))
def test_replaced_meanwhile(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file that somebody else moves there is lost, not even in the very last moment."""
    data, other = tmp_path / "data.npy", tmp_path / "other.npy"
    lost = []
    for call, refused in at_each_call(way, tmp_path, lambda: other.rename(data), monkeypatch):
        if content(data) != OTHER:
            assert refused is None
            lost.append(call)
    # Before anything was read, or of an output before the first byte was written: it is what had
    # the name when that began.
    if way == "output":
        assert not {"write", "pwrite", "fsync", "exchange", "unlink"} & set(lost)
    else:
        assert lost == ["stat", "open"]


@pytest.mark.parametrize("way", everyday(WAYS, {"output"}))
def test_linked_meanwhile(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, second = tmp_path / "data.npy", tmp_path / "second.npy"
    for _, refused in at_each_call(way, tmp_path, lambda: second.hardlink_to(data), monkeypatch):
        assert refused is None
        assert content(data) == NEW
        assert content(second) in {OLD, NEW}
