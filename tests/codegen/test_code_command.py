"""`gscli explain … --code` in a shell: what is printed, what is refused, what `--check` says."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import shell
from conftest import everyday
from refused import BAD_INDEX, refused_command

from gscli import operators
from gscli.cli import run_safely
from gscli.codegen.native import TARGETS
from gscli.frameworks.operator import Operator


class Done(NamedTuple):
    """How a command ended, as text."""

    returncode: int
    stdout: str
    stderr: str


def gscli(*words: str, cwd: Path) -> Done:
    done = shell.call_gscli(*words, cwd=cwd)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


CALL = ("scatter-nd", "[1,2,3,4]", "[[0],[-1]]", "[10,20]")


def test_the_printed_lines_run_when_they_are_pasted(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.arange(300.0).reshape(100, 3))
    np.save(tmp_path / "i.npy", np.array([[5], [-1]]))
    np.save(tmp_path / "u.npy", np.full((2, 3), 9.0))
    files = ("d.npy", "i.npy", "u.npy")
    done = gscli("explain", "scatter-nd", *files, "--code", "numpy", cwd=tmp_path)
    assert done.returncode == 0
    assert "data = np.load('d.npy')" in done.stdout
    script = done.stdout + "print(output.sum())\n"
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    expected = np.arange(300.0).reshape(100, 3)
    expected[[5, 99]] = 9.0
    assert ran.stdout == f"{expected.sum()}\n"


def test_inputs_that_are_no_npy_file_are_written_out_or_named(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "d.csv", np.arange(300).reshape(100, 3), "%d", delimiter=",")
    done = gscli("explain", "gather", "d.csv", "[1]", "--code", "numpy", cwd=tmp_path)
    assert "# data is too large to be written out; numpy.save it as this file" in done.stdout
    assert "indices = np.array([1], np.int64)" in done.stdout


def test_json_holds_the_same(tmp_path: Path) -> None:
    done = gscli("explain", *CALL, "--code", "torch,numpy", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert document["operator"] == "onnx.scatter_nd"
    assert [row["target"] for row in document["code"]] == ["torch", "numpy"]
    assert all(len(row["lines"]) > len(CALL) for row in document["code"])


def test_check_runs_numpys_lines(tmp_path: Path) -> None:
    done = gscli("explain", *CALL, "--code", "numpy", "--check", cwd=tmp_path)
    assert done.returncode == 0
    assert f"run in NumPy {np.__version__}: equal" in done.stdout


def test_check_says_what_is_not_installed(tmp_path: Path) -> None:
    """An interpreter without any packages."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    words = ("explain", *CALL, "--code", "tensorflow", "--check", "--python", str(python))
    done = gscli(*words, cwd=tmp_path)
    assert done.returncode == 66  # a check that could not be made is none that was passed
    assert "not installed, install tensorflow" in done.stdout
    for more in ("-q", "--json"):
        assert gscli(*words, more, cwd=tmp_path).returncode == 66
    words = ("explain", *CALL, "--code", "tensorflow", "--python", str(python))
    assert gscli(*words[:-2], cwd=tmp_path).returncode == 0  # nothing is to be run


def test_a_target_without_lines_is_not_checked_and_beside_one_that_is_does_not_count(
    tmp_path: Path,
) -> None:
    words = ("explain", "take", '["a"]', "[0]", "--check", "--code")
    done = gscli(*words, "torch", cwd=tmp_path)
    assert (done.returncode, done.stdout[:16]) == (66, "# PyTorch: none,")
    assert gscli(*words, "torch,numpy", cwd=tmp_path).returncode == 0


def test_mxnet_is_no_target(tmp_path: Path) -> None:
    """Nobody ports to it any more; its rules and operators stay."""
    done = gscli("explain", *CALL, "--code", "mxnet", cwd=tmp_path)
    assert done.returncode == 2
    assert "no code is written for 'mxnet'" in done.stderr


def test_a_run_that_is_not_equal_gives_exit_1(tmp_path: Path) -> None:
    """An interpreter whose NumPy takes one more than it should."""
    (tmp_path / "sitecustomize.py").write_text(
        "import numpy\ntake = numpy.take\nnumpy.take = lambda *a: take(*a) + 1\n"
    )
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    words = ("explain", "gather", "[1,2,3]", "[0]", "--code", "numpy", "--check")
    done = gscli(*words, "--python", str(python), cwd=tmp_path)
    assert done.returncode == 1
    assert "not equal, output[0] is 2, expected 1" in done.stdout
    done = gscli(*words, "--python", str(python), "-q", cwd=tmp_path)
    told = f"NumPy: run in NumPy {np.__version__}: not equal, output[0] is 2, expected 1\n"
    assert (done.returncode, done.stdout) == (1, told)
    quiet = gscli(*words[:-1], "-q", cwd=tmp_path)
    assert (quiet.returncode, quiet.stdout) == (0, "NumPy: np.take, exact\n")


def test_what_the_output_holds_is_known_without_a_check(tmp_path: Path) -> None:
    """The mean 10/3 is no number of 32 bits; `--check` and `gscli.code` said so alone."""
    words = ("torch", "scatter-reduce", "[1.0,2.0]", "[0,0]", "[3.0,6.0]", "--dim=0")
    done = gscli("explain", *words, "--reduce=mean", "--code=openvino", "-q", cwd=tmp_path)
    assert done.stdout == "OpenVINO: ScatterElementsUpdate-12, differs for these values\n"


@pytest.mark.parametrize(
    "operator", everyday(operators(), operators()[::3]), ids=lambda operator: operator.full_name
)
def test_every_example_has_lines_and_a_bad_index_is_told(
    operator: Operator, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["explain", *operator.command_line.split()[1:]]
    assert run_safely([*words, *shlex.split(operator.example), "--code", "all"]) == 0
    told = capsys.readouterr().out
    assert all(f"# {target.title}: " in told for target in TARGETS.values())
    refused = shlex.split(refused_command(operator))[1:]
    assert run_safely(refused) == 65
    is_index = capsys.readouterr().err.startswith(BAD_INDEX)
    assert run_safely(["explain", *refused, "--code", "all"]) == (0 if is_index else 65)
    told = capsys.readouterr().out
    assert told.startswith(f"# {operator.framework.title} {operator.name} refuses") == is_index
    assert "exact for these indices" not in told


def test_lines_of_a_call_that_is_refused_are_printed_and_not_run(tmp_path: Path) -> None:
    words = ("explain", "gather", "[1,2,3]", "[7]", "--code", "numpy", "--check")
    done = gscli(*words, cwd=tmp_path)
    assert (done.returncode, done.stderr[:27]) == (65, "error: index out of range\n ")
    heading, block = done.stdout.split("\n\n", 1)
    assert heading == "# ONNX gather refuses this call, which is not run: indices[0] = 7"
    assert block.endswith("output = np.take(data, indices, 0)\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--code", "tourch"), "did you mean torch?"),
        (("--code", ""), "valid: numpy torch"),
        (("--check",), "--check runs the lines that --code writes"),
        (("--code", "numpy", "--python", "python3"), "--python names the interpreter of --check"),
        (("--code", "numpy", "--svg", "a.svg"), "--code prints lines and nothing else"),
        (("--code", "numpy", "-o", "a.npy"), "gscli explain has no use for it"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(
    tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    done = gscli("explain", *CALL, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr


def test_an_interpreter_that_is_none_is_refused(tmp_path: Path) -> None:
    done = gscli(
        "explain", *CALL, "--code", "numpy", "--check", "--python", "no-such", cwd=tmp_path
    )
    assert done.returncode == 66
    assert "no such interpreter" in done.stderr


def test_large_inputs_have_lines_but_no_check(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.zeros((1 << 20, 2), np.int8))
    words = ("explain", "gather", "d.npy", "[1]", "--code", "numpy")
    assert gscli(*words, cwd=tmp_path).returncode == 0
    done = gscli(*words, "--check", cwd=tmp_path)
    assert done.returncode == 65
    assert "too large to be checked" in done.stderr
