"""Mapped inputs that become shorter, or other, while they are read: an error, and no result."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = """
import os, sys
from gscli.cli import run_safely
from gscli import files

path, size, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
real = files.load

def loaded_and_then_cut(text, **options):
    found = real(text, **options)
    if text == path:
        os.truncate(path, size)
    return found

files.load = loaded_and_then_cut
sys.exit(run_safely(words))
"""

EVERYDAY = ("gather", "scatter", "direct", "json")
COMMANDS = {
    "gather": "gather big.npy [-1,5]",
    "gather to a file": "gather big.npy [-1,5] -o out.npy",
    "indices": "gather-nd [1,2,3] big.npy -q",
    "scatter": "scatter-nd big.npy [[399999]] [1] -o out.npy",
    "in place": "scatter-nd big.npy [[399999]] [1] --in-place",
    "direct": "scatter-nd big.npy [[399999]] [1] --in-place=direct",
    "updates": "scatter-elements zeros:400000:int64 rows.npy big.npy -o out.npy",
    "show": "show big.npy",
    "statistics": "show big.npy --stat",
    "convert": "convert big.npy out.npz",
    "convert a member": "convert big.npy out.npz::a",
    "compare": "compare gather big.npy [-1]",
    "explain": "explain gather big.npy [-1]",
    "check": "check gather-nd [1,2,3] big.npy",
    "json": "gather big.npy [-1] --json=output",
    "page": "gather big.npy [-1] --html out.html",
}


@pytest.mark.parametrize(
    ("name", "size"),
    [
        *(
            pytest.param(name, 0, marks=[pytest.mark.slow] * (name not in EVERYDAY))
            for name in COMMANDS
        ),
        *(pytest.param(name, 1 << 21, marks=pytest.mark.slow) for name in ("gather", "in place")),
    ],
)
def test_a_mapped_input_that_is_cut_is_an_error(name: str, size: int, tmp_path: Path) -> None:
    np.save(tmp_path / "big.npy", np.zeros((400_000, 1), np.int64)[:, 0])
    np.save(tmp_path / "rows.npy", np.arange(400_000))
    np.save(tmp_path / "out.npz", np.arange(3))
    names = {path.name for path in tmp_path.iterdir()}
    words = COMMANDS[name].split()
    if name in {"indices", "check"}:
        np.save(tmp_path / "big.npy", np.zeros((400_000, 1), np.int64))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "big.npy", str(size), *words],
        cwd=tmp_path, capture_output=True, check=False, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode in {65, 66, 73}, (done.returncode, done.stderr)
    assert not done.stdout or "--json" in words
    assert done.stderr.startswith(("error: ", '{"error"')), done.stderr
    assert {path.name for path in tmp_path.iterdir()} == names
