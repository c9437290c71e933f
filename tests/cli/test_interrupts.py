"""Ctrl-C at any moment: one line that says what was written, 130, and no traceback of ours."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import gscli
from gscli import cli

COMMAND = [sys.executable, "-m", "gscli"]
SETTINGS = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME"}}
PATIENCE = 60

# A file of the program: all but the one that Python runs first, in less than a millisecond.
OURS = re.escape(str(Path(gscli.__file__).parent)) + r"/(?!__init__\.py)"

LINE = "interrupted: nothing was written\n"
GATHER = ["gather", "[1,2,3]", "[0,2]"]

# The program, with Ctrl-C at one call of a function of Python from its first on.
#
# There Python itself looks for signals. It never does so between the lines of `with lock:`, where
# an exception would leave a lock of the import system held, and the program would wait for itself.
AT_A_CALL = """
import signal, sys
from gscli import __main__ as program

class Interruption:
    def __init__(self, at):
        self.at, self.count = at, 0
    def __call__(self, frame, event, argument):
        self.count += 1
        if self.count == self.at:
            sys.settrace(None)
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
at, sys.argv[1:] = int(sys.argv[1]), sys.argv[2:]
sys.settrace(Interruption(at))
program.main()
"""


def run_until(call: int, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A run that is interrupted at a call; it ends as if nothing was where it has fewer."""
    return subprocess.run(
        [sys.executable, "-c", AT_A_CALL, str(call), *words], cwd=cwd, env=SETTINGS,
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("call", [1, 2, 3, 4, 9, 40, 120, 1_500, 7_500])
def test_a_call_is_interrupted_from_its_first_line_on(call: int, tmp_path: Path) -> None:
    run = run_until(call, *GATHER, cwd=tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", LINE)


@pytest.mark.slow
def test_a_call_is_interrupted_wherever_it_is(tmp_path: Path) -> None:
    call, ends = 1, set()
    while 0 not in ends:
        run = run_until(call, *GATHER, "-o", "result.npy", cwd=tmp_path)
        result = tmp_path / "result.npy"
        written = "interrupted: result.npy was written\n" if result.exists() else LINE
        assert run.returncode in {0, 130}, (call, run.stderr)
        assert run.stderr == (written if run.returncode else ""), call
        ends.add(run.returncode)
        result.unlink(missing_ok=True)
        call += 1_087
    assert ends == {0, 130}


@pytest.mark.slow
def test_a_signal_at_any_time(tmp_path: Path) -> None:
    """Before our first line a traceback, if there is one, is Python's and names no file of ours."""
    np.save(tmp_path / "data.npy", np.arange(1_000_000.0).reshape(1_000, 1_000))
    np.save(tmp_path / "rows.npy", np.arange(1_000))
    rng, ends = random.Random(20), set()
    words = ["gather", "data.npy", "rows.npy", "-o", "out.npy"]
    began = time.monotonic()
    subprocess.run([*COMMAND, *words], cwd=tmp_path, env=SETTINGS, check=True, timeout=PATIENCE)
    whole = time.monotonic() - began
    for _ in range(40):
        (tmp_path / "out.npy").unlink(missing_ok=True)
        child = subprocess.Popen(
            [*COMMAND, *words], cwd=tmp_path, env=SETTINGS, stderr=subprocess.PIPE, text=True
        )
        time.sleep(rng.random() * whole)
        child.send_signal(signal.SIGINT)
        _, complaints = child.communicate(timeout=PATIENCE)
        ends.add(child.returncode)
        if child.returncode == 130:
            state = "out.npy was" if (tmp_path / "out.npy").exists() else "nothing was"
            assert complaints == f"interrupted: {state} written\n"
        else:
            assert not re.search(OURS, complaints)
            assert child.returncode in {0, 1, -signal.SIGINT}
        assert {path.name for path in tmp_path.iterdir()} <= {"data.npy", "rows.npy", "out.npy"}
    assert 130 in ends


@pytest.mark.parametrize(
    "other", ["RuntimeError('in an import') from error", "ImportError from None"]
)
def test_an_interrupt_behind_another_error_is_an_interrupt(other: str, tmp_path: Path) -> None:
    """Python 3.11 makes a RuntimeError of Ctrl-C in `__set_name__`; libraries, ImportErrors."""
    program = (
        "import signal, sys, typing\n"
        "from gscli import __main__ as program\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'numpy':\n"
        "            try:\n"
        "                signal.raise_signal(signal.SIGINT)\n"
        "            except KeyboardInterrupt as error:\n"
        f"                raise {other}\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "program.main()\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, *GATHER], cwd=tmp_path, env=SETTINGS,
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (130, LINE)


# Seconds that what is interrupted would have waited for.
SLEEP = 20.0


def test_an_interrupt_while_an_object_is_freed_is_not_lost(tmp_path: Path) -> None:
    start = time.monotonic()
    program = (
        "import signal, sys, time\n"
        "from gscli import __main__ as program\n"
        "from gscli import cli\n"
        "class Freed:\n"
        "    def __del__(self):\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "def run(*_):\n"
        "    Freed()\n"
        f"    time.sleep({SLEEP})\n"
        "    return 0\n"
        "cli.run_safely = run\n"
        "program.main()\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=SETTINGS,
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (130, LINE)
    assert time.monotonic() - start < SLEEP, "it waited for the end of what was interrupted"


def test_what_stood_before_the_interrupt_is_named(tmp_path: Path) -> None:
    job = '{"op":"gather","inputs":{"data":[1,2],"indices":[0]},"output":"first.npy"}\n'
    child = subprocess.Popen(
        [*COMMAND, "batch", "-"], cwd=tmp_path, env=SETTINGS, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(job)
    child.stdin.flush()
    assert "first.npy" in child.stdout.readline()
    child.send_signal(signal.SIGINT)
    _, complaints = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130
    assert complaints == ("interrupted: first.npy was written; what was printed may not be all\n")


@pytest.mark.parametrize("behind", [KeyboardInterrupt(), ValueError("no interrupt")])
def test_errors_that_are_the_cause_of_each_other_end(
    behind: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A damaged chunk, read by two threads, was such a ring, and the program ran for ever."""

    def raise_ring(_: object) -> int:
        first, second = RuntimeError("first"), RuntimeError("second")
        first.__cause__, second.__cause__, second.__context__ = second, first, behind
        raise first

    monkeypatch.setattr(cli, "invoke_command", raise_ring)
    if isinstance(behind, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            cli.run_safely(GATHER)
    else:
        assert cli.run_safely(GATHER) == 70
    capsys.readouterr()
