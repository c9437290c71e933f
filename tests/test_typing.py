"""A user's own file under mypy: what the package offers has types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

USE = """
import gscli
import numpy as np

array: np.ndarray = gscli.gather([1, 2], [0])
other: np.ndarray = gscli.torch.scatter_add([1], [0], [2], dim=0)
third: np.ndarray = gscli.tf.gather_nd([[1]], [[0]])
count: int = gscli.trace("gather", {"data": [1], "indices": [0]}).entry_count
name: str = gscli.operators()[0].full_name
"""


@pytest.mark.slow
def test_names_of_the_package_are_known_to_mypy(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is part of the dev extra")
    (tmp_path / "use.py").write_text(USE)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "use.py"], cwd=tmp_path, capture_output=True, text=True,
        check=False, env={"MYPYPATH": str(Path(__file__).parents[1]), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
