"""`gscli watch PROGRAM`: the program behaves and ends as it does alone; no framework is needed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from gscli.watch.findings import Report
from gscli.watch.judging import CallWatch
from gscli.watch.program import ProgramOptions, _start_watching

ROOT = str(Path(__file__).parents[2])

LAST = "watched 0 calls, 0 indices\n"


def watch(
    folder: Path, *words: str, program: str = "", start: Sequence[str] = ("-m", "gscli")
) -> subprocess.CompletedProcess[str]:
    if program:
        (folder / "program.py").write_text(program)
    environment = {"PYTHONPATH": ROOT, "PATH": "/usr/bin:/bin", "PYTHONWARNINGS": "error"}
    return subprocess.run(
        [sys.executable, *start, "watch", *words],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_words_behind_the_script_are_its_own(tmp_path: Path) -> None:
    run = watch(
        tmp_path, "--every", "2", "program.py", "--json", "--save", "x", "--", "--help",
        program="import sys; print(sys.argv, __name__, sys.path[0])",
    )  # fmt: skip
    words = ["program.py", "--json", "--save", "x", "--", "--help"]
    assert (run.returncode, run.stdout) == (0, f"{words} __main__ {tmp_path}\n")
    assert run.stderr == LAST


@pytest.mark.parametrize(
    "start",
    [
        ("-X", "utf8", "-m", "gscli"),
        ("-X", "utf8", "-um", "gscli"),
        ("-X", "utf8", "-c", "from gscli.__main__ import main; main()"),
        ("-X", "utf8", "gscli_command"),
    ],
)
def test_a_module_is_run_as_python_runs_it(tmp_path: Path, start: Sequence[str]) -> None:
    (tmp_path / "gscli_command").write_text("from gscli.__main__ import main; main()")
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "train.py").write_text(
        "import sys; print(__package__, sys.argv[1:], 'utf8' in sys._xoptions)"
    )
    run = watch(tmp_path, "-m", "package.train", "--json", start=start)
    assert (run.returncode, run.stdout) == (0, "package ['--json'] True\n")


@pytest.mark.parametrize(
    ("program", "status", "words"),
    [
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit()", 0, ""),
        ("raise SystemExit('stopped')", 1, "stopped\n"),
        ("def f():\n    return 1 / 0\nf()", 1, "ZeroDivisionError: division by zero\n"),
        ("def f(:", 1, "SyntaxError"),
        ("import torch_that_is_nowhere", 1, "ModuleNotFoundError"),
    ],
)
def test_a_program_ends_as_it_does_alone(
    tmp_path: Path, program: str, status: int, words: str
) -> None:
    run = watch(tmp_path, "program.py", program=program)
    assert run.returncode == status
    assert words in run.stderr
    assert run.stderr.endswith(LAST)
    assert "gscli" not in run.stderr


def test_what_the_program_leaves_for_its_end_is_done(tmp_path: Path) -> None:
    program = (
        "import atexit, threading, time\n"
        "atexit.register(print, 'exit')\n"
        "threading.Thread(target=lambda: (time.sleep(0.2), print('thread'))).start()\n"
    )
    assert watch(tmp_path, "program.py", program=program).stdout == "thread\nexit\n"


def test_nothing_of_the_command_line_is_left_in_the_program(tmp_path: Path) -> None:
    program = (
        "import gc, os, signal, sys\n"
        "print(gc.get_threshold()[0], os.environ.get('OPENBLAS_NUM_THREADS'), "
        "signal.getsignal(signal.SIGINT) is signal.default_int_handler, "
        "sys.excepthook is sys.__excepthook__, 'typer' in sys.modules)"
    )
    run = watch(tmp_path, "program.py", program=program)
    alone = subprocess.run(
        [sys.executable, "-c", "import gc; print(gc.get_threshold()[0])"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout == f"{alone.stdout.strip()} None True True False\n"


def test_a_forked_process_ends_without_a_report(tmp_path: Path) -> None:
    program = (
        "import os, sys\n"
        "child = os.fork()\n"
        "if not child: sys.exit(4)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    run = watch(tmp_path, "program.py", program=program)
    assert (run.returncode, run.stdout, run.stderr) == (0, "4\n", LAST)


def test_ctrl_c_ends_the_program_as_alone(tmp_path: Path) -> None:
    program = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    run = watch(tmp_path, "program.py", program=program)
    assert run.returncode == -signal.SIGINT
    assert run.stderr.startswith(LAST)
    assert run.stderr.endswith("KeyboardInterrupt\n")


@pytest.mark.parametrize(
    ("words", "status", "problem"),
    [
        ([], 2, "watch takes a script"),
        (["nothing.py"], 66, "no such script"),
        (["--every", "0", "program.py"], 2, "every takes another number"),
        (["--save", "case.npy", "program.py"], 2, "--save writes an .npz file"),
        (["-m"], 2, "watch takes a script"),
        (["--bogus", "program.py"], 2, "no such option"),
    ],
)
def test_wrong_words_are_refused(
    tmp_path: Path, words: list[str], status: int, problem: str
) -> None:
    run = watch(tmp_path, *words, program="print('ran')")
    assert (run.returncode, run.stdout) == (status, "")
    assert problem in run.stderr


def test_a_call_that_cannot_be_saved_is_told_and_the_program_runs_on(tmp_path: Path) -> None:
    """The program got CannotWrite in place of its own answer, with a traceback of gscli."""
    program = "import numpy as np\nx = np.zeros(3)\nx[[0, 0]] = [1, 2]\nprint(x[0])\nx[[7]]\n"
    run = watch(tmp_path, "--numpy", "--save", "no/case.npz", "program.py", program=program)
    assert (run.returncode, run.stdout) == (65, "2.0\n")
    assert "cannot write no/case-lost.npz: no such file or directory" in " ".join(
        run.stderr.split()
    )
    assert "help: cannot write no/case.npz: no such file or directory" in run.stderr
    assert "CannotWrite" not in run.stderr


def test_findings_go_to_a_file_as_json_lines(tmp_path: Path) -> None:
    run = watch(tmp_path, "--json=seen.jsonl", "program.py", program="print('ran')")
    assert (run.returncode, run.stderr) == (0, "")
    assert '"calls": {}' in (tmp_path / "seen.jsonl").read_text()
    run = watch(tmp_path, "--json", "program.py", program="print('ran')")
    assert run.stderr.startswith('{"calls"')
    run = watch(tmp_path, "--json=no/where", "program.py", program="print('ran')")
    assert run.stderr.startswith("error: cannot write the findings")


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_an_old_framework_is_told(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.py").write_text("__version__ = '1.9'\n")
    run = watch(tmp_path, "program.py", program=f"import {name}; print({name}.__version__)")
    assert (run.returncode, run.stdout) == (0, "1.9\n")
    assert f"not watched: 1 {name} of a version that cannot be watched (" in run.stderr


def test_the_room_needs_pytorch_only_when_it_is_called(tmp_path: Path) -> None:
    run = watch(
        tmp_path, "program.py",
        program="import sys; sys.modules['torch'] = None; import gscli; print(gscli.watch)\n"
        "gscli.watch()",
    )  # fmt: skip
    assert "<module 'gscli.watch'" in run.stdout
    assert "needs the PyTorch of your program" in run.stderr


def test_all_watchers_of_a_program_save_the_first_call_of_a_kind_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the file that the hint of one names holds the call of another."""
    module = SimpleNamespace(JaxWatch=CallWatch)
    monkeypatch.setitem(sys.modules, "gscli.watch.jax_primitives", module)
    first, options = CallWatch("call.npz"), ProgramOptions(save="call.npz")
    reports: list[Report] = [first]
    with ExitStack() as modes:
        _start_watching("jax", options, modes, reports)
    first.saved_kinds.add("lost")
    second = reports[1]
    assert isinstance(second, CallWatch)
    assert (second.is_saved("index"), second.is_saved("lost")) == (True, False)
