"""Processes that gscli starts: what they may load, print, take, and leave behind."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import slow
from sources import modules_with, name_of, nodes_of

from gscli.disk import processes
from gscli.disk.processes import Child, Failure, ProcessSpec, left_running, python_program
from gscli.frameworks import find_operator
from gscli.runtimes.catalogue import build_runtime_command, list_installed
from gscli.runtimes.process import RuntimeProcess

HELLO = '{"name": "mine", "version": "1", "ops": ["onnx.Gather", "echo"]}'

# Files beside disk/processes.py that may name what starts processes.
STARTERS = {
    "cli/commands/watch.py",  # becomes the user's own program, in the same Python
    "watch/findings.py",  # the class alone, whose starts are counted
    "kernel/build.py",  # the compiler of whoever installs, before gscli is there
    "stream/cluster/connection.py",  # only Python's tracker of what workers share
}

MODULES = {"subprocess", "multiprocessing", "pty", "webbrowser", "concurrent.futures.process"}
CALLS = ("fork", "forkpty", "popen", "system", "startfile", "exec", "spawn", "posix_spawn")


def test_one_module_starts_processes() -> None:
    words = [*MODULES, "ProcessPoolExecutor", "from os ", *(f"os.{name}" for name in CALLS)]
    named = modules_with(words)
    starting = {name_of(path) for path in named if any(map(_starts, nodes_of(path)))}
    assert starting == STARTERS | {"disk/processes.py"}


def _starts(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] in MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        names = {alias.name for alias in node.names}
        of_os = node.module == "os" and any(name.startswith(CALLS) for name in names)
        return (
            (node.module or "").split(".")[0] in MODULES
            or of_os
            or names == {"ProcessPoolExecutor"}
        )
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
        and node.attr.startswith(CALLS)
    )


STRANGERS = (
    "types", "json", "numpy", "re", "os", "sitecustomize", "usercustomize", "ml_dtypes", "typing",
    "importlib", "onnx", "answerer", "encodings", "contextlib",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of modules each of which notes that it was run."""
    for name in STRANGERS:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'was_run')!r}, 'a').write('x')")
    (tmp_path / "case.jsonl").write_text(
        '{"id": "1", "framework": "numpy", "op": "take", "attrs": {}, "expect": "output", '
        '"inputs": {"a": {"dtype": "int64", "shape": [2], "data": [7, 8]}, '
        '"indices": {"dtype": "int64", "shape": [1], "data": [1]}}, '
        '"output": {"dtype": "int64", "shape": [1], "data": [8]}}\n'
    )
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "runtimes",
        "fuzz numpy.take --on numpy --cases 3",
        "explain gather [1,2] [0] --code numpy --check",
        "samples article-numpy-take --run",
        *slow(
            [
                "runtimes numpy",
                "compare gather [1,2] [0] --as numpy --on numpy",
                "verify case.jsonl --on numpy",
            ]
        ),
    ],
)
def test_no_file_of_the_current_folder_is_run(folder: Path, words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gscli", *words.split()],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert not (folder / "was_run").exists()
    assert done.returncode == 0, done.stderr


def test_no_variable_loads_code_into_what_we_start(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.chdir(folder)
    assert next(one for one in list_installed() if one.adapter.name == "numpy").version
    with RuntimeProcess(build_runtime_command("numpy")) as runtime:
        assert runtime.start().name == "numpy"
    assert not (folder / "was_run").exists()


def test_what_an_adapter_starts_is_kept_from_the_folder_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    script = (
        "import os, subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'import types, numpy'], check=True)\n"
        "subprocess.run([sys.executable, '-m', 'json.tool', '--help'], check=True, stdout=2)\n"
        "print(os.listdir())"
    )
    with Child(python_program(sys.executable, script)) as child:
        assert child.exchange(b"", 60.0) == b"[]"
    assert not (folder / "was_run").exists()


def test_a_python_without_safe_path_leaves_the_folder_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before 3.11 `-c` puts the current folder first; PYTHONSAFEPATH empty is just that."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    program = python_program(sys.executable, "import types; print(1)", is_isolated=False)
    with Child(program) as child:
        assert child.exchange(b"", 30.0) == b"1"
    assert not (folder / "was_run").exists()


def test_a_class_of_the_folder_comes_after_what_is_installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnx")
    (folder / "mine.py").write_text("class Mine: pass\n__version__ = '5'\n")
    monkeypatch.chdir(folder)
    with RuntimeProcess(build_runtime_command("mine:Mine")) as runtime:
        assert runtime.start().version == "5"
    assert not (folder / "was_run").exists()


def program(body: str) -> ProcessSpec:
    """A runtime that introduces itself and goes on with `body`."""
    text = f"import json, os, sys, time\nprint({HELLO!r}, flush=True)\n{body}\n"
    return ProcessSpec((sys.executable, "-c", text))


CALL = (find_operator("onnx.gather"), {"data": np.arange(300_000), "indices": np.array([1])}, {})


@pytest.mark.parametrize("body", ["time.sleep(100)", "while True: print('noise', file=sys.stderr)"])
def test_a_runtime_that_stops_reading_hangs_no_longer_than_patience(body: str) -> None:
    with RuntimeProcess(program(body), patience=0.3) as runtime:
        runtime.start()
        assert runtime.run_call(*CALL).status == "hang"


def test_what_a_runtime_says_on_standard_error_is_dropped_but_for_its_end() -> None:
    body = (
        "for _ in range(800): sys.stderr.write('x' * 65536)\n"
        "sys.stderr.write('\\nthe end\\n')\n"
        "os._exit(3)"
    )
    with RuntimeProcess(program(body), patience=60.0) as runtime:
        runtime.start()
        child = runtime._child
        assert child is not None
        reply = runtime.run_call(*CALL)
        assert (reply.status, reply.text) == ("crash", "ended with status 3: the end")
        assert len(child._errors) <= processes.LAST_WORDS


@pytest.mark.parametrize("start", ["", "os.setsid();"])
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell who started whom")
def test_the_memory_of_what_a_runtime_starts_counts(start: str) -> None:
    body = f"if not os.fork(): {start} kept = b'x' * (300 << 20); time.sleep(100)\ntime.sleep(100)"
    with RuntimeProcess(program(body), patience=20.0, memory=200 << 20) as runtime:
        runtime.start()
        assert runtime.run_call(*CALL).status == "memory"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell who shares memory")
def test_memory_that_processes_share_counts_once() -> None:
    body = (
        "kept = b'x' * (120 << 20)\n"
        "for _ in range(3):\n"
        "    if not os.fork(): time.sleep(100)\n"
        "time.sleep(100)"
    )
    with RuntimeProcess(program(body), patience=2.0, memory=300 << 20) as runtime:
        runtime.start()
        assert runtime.run_call(*CALL).status == "hang"


def test_an_interpreter_that_prints_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "LINE_LIMIT", 1 << 20)
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nexec {sys.executable} -c \"while 1: print('x' * 9999, end='')\"")
    python.chmod(0o755)
    with pytest.raises(Exception, match="no Python that runs"):
        list_installed(str(python))


LEAVES = """\
import os, sys, time
if not os.fork():
    os.setsid()
    if os.fork(): os._exit(0)
    os.closerange(0, 3)
    open({file!r}, "w").write(str(os.getpid()))
    time.sleep(100)
while not os.path.exists({file!r}) or not open({file!r}).read(): time.sleep(0.01)
{then}
"""


@pytest.mark.parametrize("then", ["time.sleep(100)", "os._exit(1)"])
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell who started whom")
def test_a_child_in_a_session_of_its_own_ends_with_its_runtime(tmp_path: Path, then: str) -> None:
    file = tmp_path / "number"
    words = (sys.executable, "-c", LEAVES.format(file=str(file), then=then))
    with Child(ProcessSpec(words)) as child:
        assert isinstance(child.exchange(b"", 60.0 if "exit" in then else 1.0), Failure)
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)
    assert left_running() == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell who started whom")
def test_a_child_that_is_ending_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its memory, and the mark in it, are gone before the system says that it has ended."""
    listed = processes._iter_processes

    def iter_running() -> Iterator[processes._Entry]:
        return (process._replace(state="R") for process in listed())

    monkeypatch.setattr(processes, "_iter_processes", iter_running)
    file = tmp_path / "number"
    words = (sys.executable, "-c", LEAVES.format(file=str(file), then="os._exit(1)"))
    with Child(ProcessSpec(words)) as child:
        assert isinstance(child.exchange(b"", 60.0), Failure)
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)


def test_what_cannot_be_ended_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "number"
    words = (sys.executable, "-c", LEAVES.format(file=str(file), then="time.sleep(100)"))
    monkeypatch.setattr(processes, "_kill", lambda _: None)
    monkeypatch.setattr(processes, "END_WITHIN", 0.2)
    with Child(ProcessSpec(words)) as child:
        child.exchange(b"", 1.0)
    left = int(file.read_text())
    assert left_running() == [left]
    os.kill(left, signal.SIGKILL)
    os.waitpid(left, 0)
    assert left_running() == []


def test_processes_of_others_stay() -> None:
    """Those that were there before, and those that were started meanwhile."""
    others = [subprocess.Popen(["sleep", "100"], start_new_session=own) for own in (True, False)]
    try:
        with Child(ProcessSpec((sys.executable, "-c", "print(1)"))) as child:
            others += [subprocess.Popen(["sleep", "100"], start_new_session=own) for own in (1, 0)]
            child.exchange(b"", 20.0)
        assert [one.poll() for one in others] == [None] * 4
    finally:
        for one in others:
            one.kill()
            one.wait()


def test_a_signal_that_ends_gscli_ends_the_runtime(tmp_path: Path) -> None:
    file = tmp_path / "number"
    body = f"open({str(file)!r}, 'w').write(str(os.getpid())); time.sleep(100)"
    script = tmp_path / "silent.py"
    script.write_text(f"import os, time\nprint({HELLO!r}, flush=True)\n{body}\n")
    words = ["fuzz", "onnx.gather", "--on", f"{sys.executable} {script}"]
    with subprocess.Popen([sys.executable, "-m", "gscli", *words]) as running:
        deadline, number = time.monotonic() + 60, ""
        while not number and time.monotonic() < deadline:
            time.sleep(0.02)
            number = file.read_text() if file.exists() else ""
        running.terminate()
        assert running.wait(10) == 143  # well below the patience of 20
    with pytest.raises(ProcessLookupError):
        os.kill(int(number), 0)
