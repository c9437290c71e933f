"""A user's own file under mypy and pyright: what the package offers has types and parameters."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
USE = """
import gscli
import numpy as np

array: np.ndarray = gscli.gather([1, 2], [0])
named: np.ndarray = gscli.gather(data=array, indices=array, axis=0, opset=13)
other: np.ndarray = gscli.torch.scatter_add([1], [0], [2], dim=0)
torchs_own_order = gscli.torch.scatter_reduce(array, 0, array, array, "amax", include_self=False)
third: np.ndarray = gscli.tf.gather_nd([[1]], [[0]], batch_dims=0)
subscript = gscli.numpy.getitem(array, (slice(1, 2), None, [0]))
window = gscli.jax.lax_gather(array, array, offset_dims=(1,), collapsed_slice_dims=[0],
                              start_index_map=(0,), slice_sizes=(1, 2))
count: int = gscli.trace("gather", {"data": [1], "indices": [0]}).entry_count
name: str = gscli.operators()[0].full_name
"""
MISTAKES = """
gscli.torch.scatter_reduce([1], [0], [2], dim=0, reduce="avg")
gscli.gather([1], [0], axes=1)
gscli.scatter_nd([1], [[0]])
gscli.torch.nothing([1], [0])
gscli.onnx.gather([1], [0], axis="0")
"""


def _check(folder: Path, *command: str) -> tuple[list[int], str]:
    """The lines with mistakes that a checker finds in the user's file, and all it says."""
    (folder / "use.py").write_text(USE + MISTAKES)
    (folder / "gscli").symlink_to(ROOT / "gscli")  # where a checker finds what is installed
    done = subprocess.run(
        [*command, "use.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    found = re.findall(r"use\.py:(\d+)\S* -? ?error", done.stdout)
    return sorted({int(number) for number in found}), done.stdout


def _lines_of_mistakes() -> list[int]:
    first = len(USE.splitlines()) + 2
    return [*range(first, first + len(MISTAKES.strip().splitlines()))]


@pytest.mark.slow
def test_mypy_knows_the_parameters_of_operators(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is part of the dev extra")
    cache = ("--cache-dir", str(ROOT / ".mypy_cache" / "users"))
    found, told = _check(tmp_path, sys.executable, "-m", "mypy", "--strict", *cache)
    assert found == _lines_of_mistakes(), told


@pytest.mark.slow
def test_pyright_knows_the_parameters_of_operators(tmp_path: Path) -> None:
    pyright = shutil.which("pyright") or str(Path(sys.executable).with_name("pyright"))
    if not Path(pyright).exists():
        pytest.skip("pyright is not installed")
    found, told = _check(tmp_path, pyright, "--pythonpath", sys.executable)
    assert found == _lines_of_mistakes(), told
