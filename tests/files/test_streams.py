"""Standard input and pipes, and what an opened file may be."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from gscli.base import CannotRead, CannotWrite, ContentRefused, GscliError, LimitRefused, UsageError
from gscli.files import content as contents
from gscli.files import list_members, load, members, read_standard_input, save
from gscli.files.content import blocking_reader, open_content, read_pipe
from gscli.files.formats.npy import npy_header


def saved(array: np.ndarray, form: str = "npy") -> bytes:
    stream = io.BytesIO()
    save("-", array, format=form, stdout=stream)
    return stream.getvalue()


@pytest.mark.parametrize("form", ["npy", "npz", "json"])
def test_standard_input_is_told_by_its_first_bytes(form: str) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    loaded = load("-", stdin=io.BytesIO(saved(array, form)))
    assert loaded.array.tobytes() == array.tobytes()
    assert loaded.array.dtype == np.float32
    assert loaded.origin == "standard input"
    assert not loaded.array.flags.writeable


def test_what_a_stream_holds_is_listed_and_still_read() -> None:
    stream = io.BytesIO()
    np.savez(stream, emb=np.arange(3), bias=np.arange(2))
    content = read_standard_input(io.BytesIO(stream.getvalue()), 1 << 20)
    listed = list_members("-", stdin=content)
    assert listed is not None
    assert [member.name for member in listed] == ["emb", "bias"]
    assert load("-::bias", stdin=content).array.tolist() == [0, 1]
    alone = read_standard_input(io.BytesIO(b"1\n2\n"), 1 << 20)
    assert list_members("-", stdin=alone) is None
    headed = list_members("-", stdin=read_standard_input(io.BytesIO(b"a\n1\n"), 1 << 20))
    assert headed is not None
    assert [member.name for member in headed] == ["a"]


@pytest.mark.parametrize("text", [b"5", b"[1]", b" [1,\n2] ", b""])
def test_short_texts(text: bytes) -> None:
    if not text:
        with pytest.raises(ContentRefused, match="standard input is empty"):
            load("-", stdin=io.BytesIO(text))
        return
    assert load("-", stdin=io.BytesIO(text)).array.size >= 1


def test_a_stream_of_text_is_limited_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gscli.files.TEXT_LIMIT", 1000)
    monkeypatch.setattr(contents, "PIPE_CHUNK", 100)
    monkeypatch.setattr(contents, "MIN_SNIFF_BYTES", 200)

    class Endless(io.RawIOBase):
        taken = 0

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            Endless.taken += size
            return b" " * size

    with pytest.raises(LimitRefused, match="stream") as refused:
        load("-", stdin=Endless())
    assert refused.value.where.startswith("standard input, as far as it was read: ")
    assert Endless.taken <= 1100
    with pytest.raises(LimitRefused):
        load("-", stdin=io.BytesIO(saved(np.zeros(1000))), max_bytes=4000)
    assert load("-", stdin=io.BytesIO(saved(np.zeros(1000))), max_bytes=9000).array.size == 1000


@pytest.mark.parametrize("text", ["numpy take\n\ndata 1\n", "ONNX gather: Take.\ndata is\n"])
def test_a_picture_on_standard_input_names_the_format_to_ask_for(text: str) -> None:
    with pytest.raises(ContentRefused, match="is not JSON") as caught:
        load("-", stdin=io.BytesIO(text.encode()))
    assert "-f npy in the command before" in caught.value.hint
    with pytest.raises(ContentRefused) as caught:
        load("-", stdin=io.BytesIO(b"none"))
    assert "command before" not in caught.value.hint


def test_a_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(CannotRead, match="closed"):
        load("-")
    stream = io.BytesIO(b"[1]")
    stream.close()
    with pytest.raises(CannotRead, match="closed file"):
        load("-", stdin=stream)


def test_the_standard_input_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[7]")))
    assert load("-").array.tolist() == [7]


def test_a_failing_stream() -> None:
    class Broken(io.RawIOBase):
        def read(self, _size: int = -1) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(CannotRead, match="input/output error"):
        load("-", stdin=Broken())


def test_a_stream_that_does_not_block_is_waited_for() -> None:
    receive, send = os.pipe()
    os.set_blocking(receive, False)

    def write_slowly() -> None:
        for part in (b"[1,", b" 2,", b" 3]"):
            os.write(send, part)
            released.wait(0.05)
        os.close(send)

    released = threading.Event()
    writer = threading.Thread(target=write_slowly)
    with os.fdopen(receive, "rb") as stream:
        writer.start()
        assert load("-", stdin=stream).array.tolist() == [1, 2, 3]
    writer.join()


def test_a_stream_without_a_descriptor_is_read_as_it_is() -> None:
    stream = io.BytesIO(b"abc")
    assert read_pipe(blocking_reader(stream), "x", 10) == b"abc"


@pytest.mark.parametrize("suffix", ["", ".npy", ".npz", ".json", ".safetensors", ".h5", ".pb"])
def test_named_pipes_are_read_like_files(suffix: str, tmp_path: Path) -> None:
    array = np.arange(6.0)
    plain = tmp_path / f"plain{suffix or '.npy'}"
    save(str(plain), array)
    fifo = tmp_path / f"pipe{suffix}"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(plain.read_bytes()))
    writer.start()
    loaded = load(str(fifo))
    writer.join()
    assert loaded.array.tolist() == array.tolist()


def test_a_pipe_is_read_up_to_the_limit(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe.npy"
    os.mkfifo(fifo)
    command = f"import sys; f = open({str(fifo)!r}, 'wb')\nwhile True: f.write(bytes(1 << 20))"
    with subprocess.Popen([sys.executable, "-c", command], stderr=subprocess.DEVNULL) as endless:
        with pytest.raises(LimitRefused, match="stream"):
            load(str(fifo), max_bytes=3 << 20)
        endless.kill()


class After(io.RawIOBase):
    """Some bytes, then zeros without an end."""

    def __init__(self, first: bytes) -> None:
        self.first, self.taken = first, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        part, self.first = self.first[:size], self.first[size:]
        self.taken += size
        return part.ljust(size, b"\0")


def test_what_goes_on_after_an_array_is_not_read() -> None:
    stream = After(saved(np.arange(3)))
    with pytest.raises(ContentRefused, match="goes on after the array") as refused:
        load("-", stdin=stream)
    assert refused.value.where == "standard input: more than 152 bytes"
    assert stream.taken <= contents.PIPE_CHUNK
    stream = After(b"\x93NUMPY\x01\x00\x10\x00{'descr': nonsense")
    with pytest.raises(ContentRefused, match="malformed"):
        load("-", stdin=stream)
    assert stream.taken <= contents.PIPE_CHUNK
    stream = After(npy_header(np.dtype("int64"), (10**9,)))
    with pytest.raises(LimitRefused, match="stream"):
        load("-", stdin=stream)
    assert stream.taken <= contents.PIPE_CHUNK
    stream = After(b"PK\x03\x04")
    with pytest.raises(LimitRefused, match="stream"):
        load("-", stdin=stream, max_bytes=3 << 20)


@pytest.mark.parametrize("suffix", ["", ".npy"])
def test_what_goes_on_after_an_array_in_a_named_pipe(suffix: str, tmp_path: Path) -> None:
    fifo = tmp_path / f"pipe{suffix}"
    os.mkfifo(fifo)
    content = saved(np.arange(3)) + bytes(contents.PIPE_CHUNK)

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), fifo.open("wb", buffering=0) as stream:
            while True:
                stream.write(content)

    writer = threading.Thread(target=write)
    writer.start()
    with pytest.raises(ContentRefused, match="goes on after the array"):
        load(str(fifo))
    writer.join()


def test_a_file_without_a_suffix_is_told_by_its_first_bytes(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(saved(np.arange(3)))
    assert load(str(tmp_path / "data")).array.tolist() == [0, 1, 2]
    assert members(str(tmp_path / "data"))[0].shape == (3,)


def test_a_pipe_with_an_unknown_suffix_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.odd")
    with pytest.raises(CannotRead, match="no suffix"):
        load(str(tmp_path / "pipe.odd"))
    for suffix, unpacker in ((".gz", "zcat"), (".XZ", "xzcat")):
        path = tmp_path / f"a b.npy{suffix}"
        path.write_bytes(b"packed")
        with pytest.raises(CannotRead, match="no suffix") as packed:
            load(str(path))
        assert packed.value.hint.startswith(f"{unpacker} '{path}' ")


def test_the_kind_is_judged_on_the_opened_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the name and the opening somebody puts another object there."""
    target = tmp_path / "x.npy"
    target.write_bytes(b"")
    real = os.open

    def swap(_path: str, flags: int, mode: int = 0o777) -> int:
        monkeypatch.setattr(os, "open", real)
        assert flags & os.O_NONBLOCK
        return real("/dev/zero", flags, mode)

    monkeypatch.setattr(os, "open", swap)
    with pytest.raises(CannotRead, match="device"):
        open_content(str(target), 1000)


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    good, bad, fifo = tmp_path / "x.npy", tmp_path / "y.npy", tmp_path / "z.npy"
    save(str(good), np.arange(3))
    bad.write_bytes(b"nonsense")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for text in (str(good), str(bad), str(tmp_path), "/dev/null", str(tmp_path / "x.odd")):
        try:
            load(text)
        except GscliError:
            continue
    os.mkfifo(fifo)
    for content in (saved(np.arange(3)), b"nonsense"):
        writer = threading.Thread(target=lambda content=content: fifo.write_bytes(content))
        writer.start()
        with contextlib.suppress(GscliError):
            load(str(fifo))
        writer.join()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_too_little_memory_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("gscli.files.generators.generate", exhausted)
    with pytest.raises(LimitRefused, match="not enough memory"):
        load("arange:3")


def test_a_missing_package_is_named_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(path: str) -> None:
        save(path, np.arange(3))

    for module, suffix, name, use in [("onnx", "pb", "onnx", load), ("h5py", "h5", "hdf5", write)]:
        path = f"{tmp_path}/x.{suffix}"
        write(path)
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            with pytest.raises(CannotRead, match=f"needs the package {module}") as caught:
                use(path)
        assert caught.value.hint == f"pip install 'gscli[{name}]'"


class TestStandardOutput:
    def test_a_format_is_needed(self) -> None:
        with pytest.raises(UsageError, match="needs a format"):
            save("-", np.arange(3), stdout=io.BytesIO())
        with pytest.raises(UsageError, match="unknown format"):
            save("-", np.arange(3), format="pt", stdout=io.BytesIO())

    def test_no_binary_to_a_terminal(self) -> None:
        class Terminal(io.BytesIO):
            def isatty(self) -> bool:
                return True

        with pytest.raises(UsageError, match=r"refusing to write binary \.npy to the terminal"):
            save("-", np.arange(3), format="npy", stdout=Terminal())
        terminal = Terminal()
        save("-", np.arange(3), format="csv", stdout=terminal)
        assert terminal.getvalue() == b"0\n1\n2\n"

    def test_the_standard_output_of_the_program(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stream = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(stream))
        save("-", np.array([7]), format="tsv")
        assert stream.getvalue() == b"7\n"
        monkeypatch.setattr(sys, "stdout", None)
        with pytest.raises(CannotWrite, match="closed: > FILE opens it"):
            save("-", np.array([7]), format="tsv")

    def test_a_full_disk_and_a_closed_stream(self) -> None:
        with (
            Path("/dev/full").open("wb", buffering=0) as full,
            pytest.raises(CannotWrite, match="no space"),
        ):
            save("-", np.arange(3), format="npy", stdout=full)
        closed = io.BytesIO()
        closed.close()
        with pytest.raises(CannotWrite, match="closed file"):
            save("-", np.arange(3), format="csv", stdout=closed)

        class ShutAtLast(io.BytesIO):
            def flush(self) -> None:
                raise ValueError("I/O operation on closed file")

        with pytest.raises(CannotWrite, match="closed file"):
            save("-", np.arange(3), format="csv", stdout=ShutAtLast())

    @pytest.mark.parametrize("at", ["write", "flush"])
    def test_a_reader_that_left_is_no_failure_of_ours(self, at: str) -> None:
        class Gone(io.BytesIO):
            def flush(self) -> None:
                if at == "flush":
                    raise BrokenPipeError

            def write(self, data: object) -> int:
                if at == "write":
                    raise BrokenPipeError
                return len(data)  # type: ignore[arg-type]

        with pytest.raises(BrokenPipeError):
            save("-", np.arange(3), format="npy", stdout=Gone())

    def test_a_stream_that_takes_a_little_at_a_time(self) -> None:
        class Slow(io.BytesIO):
            def write(self, data: object) -> int:
                return super().write(bytes(data)[:7])  # type: ignore[call-overload]

        stream = Slow()
        save("-", np.arange(100), format="npy", stdout=stream)
        assert stream.getvalue() == saved(np.arange(100))


def test_a_plain_read_imports_nothing_it_does_not_need() -> None:
    code = "import sys; from gscli.files import load; load('[1]'); print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    needless = {"gscli.disk.atomic", "gscli.files.generators", "ml_dtypes", "onnx", "h5py"}
    assert not needless & set(result.stdout.split())


def test_a_stream_that_blocks_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    with (tmp_path / "x").open("rb") as stream:
        assert read_pipe(blocking_reader(stream), "x", 10) == b"abc"
