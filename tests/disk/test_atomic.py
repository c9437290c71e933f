"""The writer on whole and odd targets: replaced, followed, written into, or refused untouched."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest

from gscli.base import CannotWrite, UsageError
from gscli.disk.atomic import AtomicFile, open_atomic
from gscli.disk.interrupts import SIGNALS, DeferredSignals
from gscli.files import load, save


def put(path: Path | str, content: bytes = b"new") -> None:
    with open_atomic(str(path)) as file:
        file.write(content)


def fail_inside(path: Path, kind: type[BaseException]) -> None:
    with open_atomic(str(path)) as file:
        file.write(b"half")
        raise kind


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


class TestTargets:
    def test_a_new_file_gets_the_mode_of_the_umask(self, tmp_path: Path) -> None:
        for mask, mode in [(0o022, 0o644), (0o077, 0o600), (0, 0o666)]:
            old = os.umask(mask)
            try:
                put(tmp_path / f"x{mask}")
            finally:
                os.umask(old)
            assert (tmp_path / f"x{mask}").stat().st_mode & 0o7777 == mode

    @pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, 0o755, 0o640])
    def test_an_old_file_keeps_its_mode(self, mode: int, tmp_path: Path) -> None:
        path = tmp_path / "x"
        path.write_bytes(b"old")
        path.chmod(mode)
        with open_atomic(str(path)) as file:
            hidden = next(p for p in tmp_path.iterdir() if p.name.startswith(".gscli-"))
            assert hidden.stat().st_mode & 0o7777 == mode
            file.write(b"new")
            assert path.read_bytes() == b"old"
        assert path.read_bytes() == b"new"
        assert path.stat().st_mode & 0o7777 == mode

    def test_a_link_stays_and_what_it_points_to_is_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "a" / "b").mkdir(parents=True)
        (tmp_path / "a" / "b" / "real").write_bytes(b"old")
        (tmp_path / "a" / "middle").symlink_to("b/real")
        (tmp_path / "link").symlink_to("a/middle")
        put(tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "a" / "middle").is_symlink()
        assert (tmp_path / "a" / "b" / "real").read_bytes() == b"new"
        assert names(tmp_path / "a" / "b") == ["real"]
        assert names(tmp_path) == ["a", "link"]

    def test_a_dangling_link_makes_its_file(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(tmp_path / "real")
        put(tmp_path / "link")
        assert (tmp_path / "real").read_bytes() == b"new"
        assert (tmp_path / "link").is_symlink()

    def test_other_names_of_the_old_file_keep_the_old_content(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_bytes(b"old")
        (tmp_path / "y").hardlink_to(tmp_path / "x")
        put(tmp_path / "x")
        assert (tmp_path / "y").read_bytes() == b"old"

    def test_names_at_the_limit(self, tmp_path: Path) -> None:
        put(tmp_path / ("é" * 127 + "x"))
        put(tmp_path / ".hidden")
        put(tmp_path / "-o")
        put(tmp_path / "a\nb")
        put(os.fsencode(tmp_path / "x").decode() + "\udcff")
        assert len(names(tmp_path)) == 5

    def test_relative_names(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        put("x")
        Path("d").mkdir()
        put("d/../y")
        assert names(tmp_path) == ["d", "x", "y"]

    def test_refused_targets_stay_as_they_are(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"old")
        (tmp_path / "loop").symlink_to("loop")
        here = Path.cwd()
        os.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket")
        os.chdir(here)
        before = names(tmp_path)
        reasons = {
            "": "no such file",
            str(tmp_path): "is a directory",
            f"{tmp_path}/new/": "no such file",
            f"{tmp_path}/none/x": "no such file",
            f"{tmp_path}/file/x": "not a directory",
            f"{tmp_path}/file/": "not a directory",
            f"{tmp_path}/loop": "too many",
            f"{tmp_path}/socket": "socket",
            f"{tmp_path}/{'a' * 256}": "too long",
            f"{tmp_path}/a\0b": "null byte",
            f"{tmp_path}/\ud800": "can't encode",
            "/dev/fd/9999": "bad file descriptor",
        }
        for path, reason in reasons.items():
            with pytest.raises(CannotWrite, match=reason):
                put(path)
        assert names(tmp_path) == before
        assert (tmp_path / "file").read_bytes() == b"old"

    def test_a_protected_file_is_not_replaced(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(tmp_path / "x", b"old")
        monkeypatch.setattr(os, "access", lambda _path, _mode: False)
        with pytest.raises(CannotWrite, match="write-protected"):
            put(tmp_path / "x")
        assert (tmp_path / "x").read_bytes() == b"old"
        assert names(tmp_path) == ["x"]

    def test_a_deleted_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = tmp_path / "gone"
        folder.mkdir()
        monkeypatch.chdir(folder)
        folder.rmdir()
        with pytest.raises(CannotWrite, match="no such file"):
            put("x")

    def test_too_little_space_is_seen_first(self, tmp_path: Path) -> None:
        with (
            pytest.raises(CannotWrite, match="not enough space"),
            open_atomic(str(tmp_path / "x"), size=1 << 60),
        ):
            raise AssertionError
        with open_atomic(str(tmp_path / "x"), size=10) as file:
            file.write(b"new")
        assert names(tmp_path) == ["x"]


class TestStreams:
    def test_a_named_pipe_is_written_into(self, tmp_path: Path) -> None:
        fifo = tmp_path / "pipe.npz"
        os.mkfifo(fifo)
        received: list[bytes] = []
        reader = threading.Thread(target=lambda: received.append(fifo.read_bytes()))
        reader.start()
        save(str(fifo), np.arange(3))
        reader.join()
        assert load("-", stdin=io.BytesIO(received[0])).array.tolist() == [0, 1, 2]
        assert names(tmp_path) == ["pipe.npz"]

    def test_a_device_is_written_into(self) -> None:
        put("/dev/null")
        with pytest.raises(CannotWrite, match="no space"):
            put("/dev/full")

    def test_a_pipe_without_a_reader(self, tmp_path: Path) -> None:
        fifo = tmp_path / "pipe"
        os.mkfifo(fifo)
        holder = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        with open_atomic(str(fifo)) as file:
            os.close(holder)
            assert not file.seekable()
            with pytest.raises(BrokenPipeError):
                file.write(b"new")

    def test_an_open_descriptor_is_written_into(self, capfd: pytest.CaptureFixture[str]) -> None:
        receive, send = os.pipe()
        put(f"/dev/fd/{send}")
        os.close(send)
        assert os.read(receive, 100) == b"new"
        os.close(receive)
        put("/dev/stdout", b"out")
        put("/dev/stderr", b"err")
        assert capfd.readouterr() == ("out", "err")

    @pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
    def test_standard_output_by_name_goes_on_where_it_is(self, name: str, tmp_path: Path) -> None:
        """`>>` and a header written before: opening the name anew would begin at byte 0."""
        (tmp_path / "link").symlink_to("/dev/stdout")
        code = (
            "import sys; from gscli.disk.atomic import open_atomic\n"
            "print('first', flush=True)\n"
            f"with open_atomic({name!r}) as file: file.write(b'second\\n')"
        )
        with (tmp_path / "out").open("ab") as out:
            out.write(b"before\n")
            out.flush()
            subprocess.run([sys.executable, "-c", code], check=True, stdout=out, cwd=tmp_path)
        assert (tmp_path / "out").read_bytes() == b"before\nfirst\nsecond\n"


class TestFile:
    def test_it_can_be_written_and_moved_in(self, tmp_path: Path) -> None:
        with open_atomic(str(tmp_path / "x")) as file:
            assert isinstance(file, AtomicFile)
            assert file.writable()
            assert file.write(np.arange(4, dtype=np.int16)) == 8
            assert file.seek(2) == 2
            assert file.write(b"ab") == 2
            assert file.tell() == 4
            assert file.seek(0) == 0
            assert os.pwrite(file.fileno(), b"z", 0) == 1
        assert (tmp_path / "x").read_bytes() == b"z\0ab\2\0\3\0"

    def test_of_two_writers_the_second_to_be_done_is_refused(self, tmp_path: Path) -> None:
        def write() -> None:
            with open_atomic(str(tmp_path / "x")) as first:
                first.write(b"first")
                put(tmp_path / "x", b"second")
                first.write(b", and more")

        with pytest.raises(CannotWrite, match="by somebody else meanwhile"):
            write()
        assert (tmp_path / "x").read_bytes() == b"second"
        assert names(tmp_path) == ["x"]

    def test_a_failure_inside_leaves_the_old_file(self, tmp_path: Path) -> None:
        put(tmp_path / "x", b"old")
        for kind in (ValueError, KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit):
            with pytest.raises(kind):
                fail_inside(tmp_path / "x", kind)
            assert names(tmp_path) == ["x"]
            assert (tmp_path / "x").read_bytes() == b"old"

    def test_nobody_elses_file_is_taken_for_the_temporary_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "urandom", bytes)
        trap = tmp_path / f".gscli-{os.getpid()}-{'0' * 16}"
        trap.symlink_to(tmp_path / "victim")
        with pytest.raises(CannotWrite, match="exists"):
            put(tmp_path / "x")
        assert trap.is_symlink()
        assert names(tmp_path) == [trap.name]

    def test_a_folder_that_cannot_be_listed_still_takes_files(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = os.open

        def refuse_folders(path: str, flags: int, *mode: int) -> int:
            if flags & os.O_DIRECTORY:
                raise PermissionError(13, "Permission denied")
            return real(path, flags, *mode)

        monkeypatch.setattr(os, "open", refuse_folders)
        put(tmp_path / "x")
        assert (tmp_path / "x").read_bytes() == b"new"


class TestMembers:
    def test_only_containers_have_them(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="only one array"):
            save(f"{tmp_path}/x.npy::a", np.arange(3))
        with pytest.raises(UsageError, match="no format"):
            save(f"{tmp_path}/x.odd", np.arange(3))
        for name in ("", "a\0b", "a\nb", "\ud800", "a" * 2000):
            with pytest.raises(UsageError, match="no name"):
                save(f"{tmp_path}/x.npz::{name}", np.arange(3))
        assert not names(tmp_path)

    def test_the_format_may_differ_from_the_suffix(self, tmp_path: Path) -> None:
        save(f"{tmp_path}/x.bin", np.arange(3), format="npy")
        assert np.load(tmp_path / "x.bin").tolist() == [0, 1, 2]


class TestInterrupts:
    @pytest.fixture(autouse=True)
    def _hang_up_counts(self) -> Iterator[None]:
        """A test run under nohup ignores SIGHUP, and so would everything below."""
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        yield
        signal.signal(signal.SIGHUP, before)

    def test_the_first_signal_ends_the_block_and_the_second_waits(self, tmp_path: Path) -> None:
        seen: list[str] = []

        def interrupted_twice() -> None:
            with open_atomic(str(tmp_path / "x")) as file:
                file.write(b"half")
                try:
                    signal.raise_signal(signal.SIGTERM)
                finally:
                    signal.raise_signal(signal.SIGHUP)
                    seen.append("cleaned up")

        with pytest.raises(SystemExit) as stop:
            interrupted_twice()
        assert stop.value.code in {128 + signal.SIGTERM, 128 + signal.SIGHUP}
        assert seen == ["cleaned up"]
        assert names(tmp_path) == []

    @pytest.mark.parametrize(
        ("number", "kind"),
        [
            (signal.SIGINT, KeyboardInterrupt),
            (signal.SIGTERM, SystemExit),
            (signal.SIGHUP, SystemExit),
        ],
    )
    def test_handlers_are_put_back(self, number: int, kind: type, tmp_path: Path) -> None:
        before = [signal.getsignal(n) for n in SIGNALS]
        with pytest.raises(kind), open_atomic(str(tmp_path / "x")):
            signal.raise_signal(number)
        assert [signal.getsignal(n) for n in SIGNALS] == before
        assert names(tmp_path) == []

    def test_a_handler_of_the_program_is_called(self, tmp_path: Path) -> None:
        seen: list[int] = []
        old = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
        try:
            with open_atomic(str(tmp_path / "x")) as file:
                signal.raise_signal(signal.SIGTERM)
                file.write(b"new")
        finally:
            signal.signal(signal.SIGTERM, old)
        assert seen == [signal.SIGTERM]
        assert names(tmp_path) == ["x"]

    def test_an_ignored_signal_stays_ignored(self, tmp_path: Path) -> None:
        old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            with open_atomic(str(tmp_path / "x")):
                signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        finally:
            signal.signal(signal.SIGHUP, old)
        assert names(tmp_path) == ["x"]

    def test_a_signal_that_came_too_early_acts_at_the_first_chance(self) -> None:
        reached = []

        def interrupted_early() -> None:
            with DeferredSignals() as interrupts:
                signal.raise_signal(signal.SIGTERM)
                reached.append("deferred")
                with interrupts.allow():
                    reached.append("allowed")

        with pytest.raises(SystemExit):
            interrupted_early()
        assert reached == ["deferred"]

    def test_a_signal_while_something_is_left_waits_until_it_is_left(self) -> None:
        reached = []

        class Leaving:
            def __enter__(self) -> None: ...

            def __exit__(self, *_: object) -> None:
                signal.raise_signal(signal.SIGTERM)
                reached.append("left")

        def interrupted_while_leaving() -> None:
            with DeferredSignals() as interrupts, interrupts.allow():
                with Leaving():
                    pass
                interrupts.deliver_pending()
                reached.append("behind")

        with pytest.raises(SystemExit):
            interrupted_while_leaving()
        assert reached == ["left"]

    def test_a_signal_while_a_weak_dictionary_forgets_a_key_waits_until_it_is_gone(self) -> None:
        reached = []

        class Told(dict[Any, Any]):
            def __delitem__(self, key: object) -> None:
                signal.raise_signal(signal.SIGTERM)
                reached.append("forgotten")

        class Key: ...

        def interrupted_while_freeing() -> None:
            held = WeakKeyDictionary[Key, int]()
            held.data = Told()
            key = Key()
            held[key] = 1
            with DeferredSignals() as interrupts, interrupts.allow():
                del key
                interrupts.deliver_pending()
                reached.append("behind")

        with pytest.raises(SystemExit):
            interrupted_while_freeing()
        assert reached == ["forgotten"]

    def test_a_signal_while_a_pool_takes_a_call_waits_until_it_has_it(self) -> None:
        reached = []

        class Interrupting(ThreadPoolExecutor):
            def _adjust_thread_count(self) -> None:
                signal.raise_signal(signal.SIGTERM)
                reached.append("queued")
                super()._adjust_thread_count()  # type: ignore[misc]  # typeshed leaves it out

        def interrupted_while_submitting() -> None:
            with Interrupting(1) as pool, DeferredSignals() as interrupts, interrupts.allow():
                pool.submit(reached.append, "done").result()
                interrupts.deliver_pending()
                reached.append("behind")

        with pytest.raises(SystemExit):
            interrupted_while_submitting()
        assert reached == ["queued", "done"]

    def test_a_caller_may_have_any_name(self) -> None:
        reached = []

        def submit() -> None:
            with DeferredSignals() as interrupts, interrupts.allow():
                signal.raise_signal(signal.SIGTERM)
                reached.append("behind")

        with pytest.raises(SystemExit):
            submit()
        assert not reached

    def test_another_thread_writes_without_handlers(self, tmp_path: Path) -> None:
        thread = threading.Thread(target=put, args=(tmp_path / "x",))
        thread.start()
        thread.join()
        assert names(tmp_path) == ["x"]

    def test_two_files_at_once(self, tmp_path: Path) -> None:
        x, y = str(tmp_path / "x"), str(tmp_path / "y")

        def interrupted() -> None:
            with open_atomic(x) as first, open_atomic(y) as second:
                first.write(b"half")
                second.write(b"half")
                signal.raise_signal(signal.SIGTERM)

        with pytest.raises(SystemExit):
            interrupted()
        assert names(tmp_path) == []


@pytest.mark.parametrize("number", ["99999999999", "999999999"])
def test_a_descriptor_that_nobody_can_have(number: str) -> None:
    with pytest.raises(CannotWrite):
        put(f"/dev/fd/{number}")
