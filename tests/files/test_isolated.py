from __future__ import annotations

import io
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gscli.base import CannotRead, ContentRefused, LimitRefused
from gscli.files import isolated
from gscli.files.content import Content, open_content
from gscli.files.isolated import Message, ask_isolated

MODULE = "wrong_library"


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    isolated._close_kept()


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "x.h5").write_bytes(b"0123456789")
    return str(tmp_path / "x.h5")


def ask(path: str, action: str, payload: bytes | None = None, **question: Any) -> list[Message]:
    request = {"action": action, **question}
    with open_content(path, 1 << 20) as content:
        if payload is None:
            return list(ask_isolated(MODULE, content, request))
        request["payload"] = len(payload)
        return list(ask_isolated(MODULE, content, request, memoryview(payload)))


def test_one_process_answers_about_one_file_as_it_is(path: str) -> None:
    [(first, _)], [(second, back)] = ask(path, "name"), ask(path, "name", b"bytes")
    assert first["begin"] == second["begin"] == "0123"
    assert bytes(back) == b"bytes"
    assert first["process"] == second["process"] != os.getpid()
    with Path(path).open("ab") as file:
        file.write(b"more")
    [(third, _)] = ask(path, "name")
    assert third["process"] != first["process"]
    with pytest.raises(ProcessLookupError):
        os.kill(first["process"], 0)


def test_bytes_in_memory_are_read_as_a_file_is() -> None:
    [(first, _)] = ask_isolated(MODULE, Content("stream", b"abcdefg"), {"action": "name"})
    assert first["begin"] == "abcd"


def test_much_comes_in_pieces(path: str) -> None:
    size = isolated.PIECE + 5
    pieces = [len(content) for _, content in ask(path, "take", size=size)]
    assert pieces == [0, isolated.PIECE, 5]
    assert len(ask(path, "name", bytes(size))[1][1]) == 5


def test_what_ends_the_process_is_a_refusal(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ContentRefused, match=r"x\.h5 is not sound.*SIGSEGV"):
        ask(path, "crash")
    with pytest.raises(ContentRefused, match=r"x\.h5 is not sound.*MemoryError"):
        ask(path, "take", size=2 << 30)
    monkeypatch.setattr(isolated, "PATIENCE", 1.0)
    began = time.monotonic()
    with pytest.raises(ContentRefused, match="no answer within 1 s"):
        ask(path, "hang")
    assert time.monotonic() - began < 20
    monkeypatch.undo()
    assert ask(path, "name")[0][0]["begin"] == "0123"


def test_a_loop_ends_though_nobody_waits_for_it(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "from gscli.files.isolated import run"
    limited = "from gscli.files import isolated; isolated._PROCESSOR_SECONDS = 0.2"
    script = isolated._SCRIPT.replace(line, f"{limited}\n{line}")
    monkeypatch.setattr(isolated, "_SCRIPT", script)
    with pytest.raises(ContentRefused, match="SIGPROF"):
        ask(path, "loop")


def test_an_error_of_ours_is_the_same_here(path: str) -> None:
    with pytest.raises(LimitRefused) as caught:
        ask(path, "refuse")
    assert caught.value.to_dict() == {
        "code": 65, "kind": "LimitRefused", "problem": "too large", "where": "here",
        "details": ["a", "b"], "valid": "less", "hint": "cut",
    }  # fmt: skip


def test_what_the_library_prints_is_no_answer(path: str) -> None:
    assert len(ask(path, "print")) == 1


def test_a_python_that_is_not_there(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(CannotRead, match="does not start"):
        ask(path, "name")


def test_a_fork_starts_a_process_of_its_own(path: str) -> None:
    [(first, _)] = ask(path, "name")
    child = os.fork()
    if not child:
        [(own, _)] = ask(path, "name")
        isolated._close_kept()
        os._exit(own["process"] == first["process"])
    assert os.waitpid(child, 0)[1] == 0
    assert ask(path, "name")[0][0]["process"] == first["process"]
    (parent,) = isolated._kept.values()
    isolated._forget_kept()
    [(again, _)] = ask(path, "name")
    assert again["process"] != first["process"]
    parent.stop()


def test_the_other_side_in_this_process(
    path: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = b'{"action": "take", "size": 3}\n{"action": "refuse"}\n'
    stdin = SimpleNamespace(buffer=io.BytesIO(lines + b'{"action": "name", "payload": 2}\nab'))
    monkeypatch.setattr(sys, "stdin", stdin)
    rooms: list[int] = []
    monkeypatch.setattr(isolated, "limit_memory", rooms.append)
    stdout = os.dup(1)
    with Path(path).open("rb") as file:
        isolated.run(MODULE, file.fileno())
    os.dup2(stdout, 1)
    os.close(stdout)
    text = capfd.readouterr().out
    assert '"follow": 3}\n\0\0\0{}\n' in text
    assert '"kind": "LimitRefused"' in text
    assert text.endswith('"follow": 2}\nab{}\n')
    assert rooms == [0]


@pytest.mark.parametrize("most", [resource.RLIM_INFINITY, 1 << 30])
def test_memory_has_a_limit(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (most, most))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limit: limits.append(limit))
    isolated.limit_memory(5 << 30)
    ((limit, kept),) = limits
    assert kept == most
    assert limit == most if most > 0 else limit > 5 << 30
