"""Index numbers that another process changes while a call reads them, in both ways of the kernel.

A call may answer from numbers that were legal when it looked at them, or refuse. It never follows a
number that nobody judged, which could lie anywhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import slow

COUNT = 120_000

FLIPS = """
import mmap, sys
files = [open(name, "r+b") for name in sys.argv[1:]]
numbers, mask = (mmap.mmap(file.fileno(), 0) for file in files)
far, near = (number.to_bytes(8, "little") for number in (1 << 40, 0))
place = len(numbers) - 8000
print(flush=True)
while True:
    numbers[place : place + 8], mask[-1000] = far, 1
    numbers[place : place + 8], mask[-1000] = near, 0
"""

CALLS = """
import sys
import numpy as np
import gscli
from gscli.base import CannotRead, IndexRefused

numbers, mask = (np.load(name, mmap_mode="r") for name in sys.argv[1:3])
rounds = int(sys.argv[3])
line, ones = np.arange(1000.0), np.ones(len(numbers))
grid = ones.cumsum().reshape(-1, 3)
column, pairs, threes = numbers[:, None], numbers.reshape(-1, 2), numbers.reshape(-1, 3)
refusing = {
    "gather": lambda: gscli.gather(line, numbers),
    "gather of rows": lambda: gscli.gather(grid, numbers),
    "gather_nd": lambda: gscli.gather_nd(grid, pairs),
    "gather_elements": lambda: gscli.gather_elements(grid, threes),
    "scatter_nd": lambda: gscli.scatter_nd(line, column, ones),
    "scatter_nd of cells": lambda: gscli.scatter_nd(grid, pairs, ones[::2]),
    "scatter_nd, add": lambda: gscli.scatter_nd(line, column, ones, reduction="add"),
    "scatter_elements": lambda: gscli.scatter_elements(grid, threes, grid),
    "getitem": lambda: gscli.numpy.getitem(grid, (numbers, numbers)),
}
others = {
    "clip": lambda: gscli.numpy.take(line, numbers, mode="clip"),
    "wrap": lambda: gscli.numpy.take(line, numbers, mode="wrap"),
    "drop": lambda: gscli.jax.at_set(line, (numbers,), ones, mode="drop"),
    "windows": lambda: gscli.stablehlo.gather(
        grid, column, slice_sizes=(2, 3), offset_dims=(1, 2), start_index_map=(0,),
        index_vector_dim=1),
    "windows written": lambda: gscli.stablehlo.scatter(
        grid, column, ones[:, None, None] + grid[:2], update_window_dims=(1, 2),
        scatter_dims_to_operand_dims=(0,), index_vector_dim=1),
    "a mask": lambda: gscli.torch.masked_select(ones, mask),
    "a mask of two axes": lambda: gscli.torch.masked_select(grid, mask.reshape(-1, 3)),
    "a mask as index": lambda: gscli.numpy.getitem(grid, (mask.reshape(-1, 3),)),
}
for name, call in {**refusing, **others}.items():
    answers = set()
    for _ in range(rounds):
        try:
            answers.add(call().tobytes())
        except (IndexRefused, CannotRead):
            pass
    assert name not in refusing or len(answers) < 2, name
print("held")
"""


@pytest.mark.parametrize("rounds", [3, *slow([12])])
@pytest.mark.parametrize("way", ["plain", pytest.param("", id="compiled")])
def test_a_number_that_changes_meanwhile_is_never_followed(
    way: str, rounds: int, tmp_path: Path
) -> None:
    names = [str(tmp_path / "numbers.npy"), str(tmp_path / "mask.npy")]
    np.save(names[0], np.arange(COUNT) % 3)
    np.save(names[1], np.arange(COUNT) % 7 == 0)
    with subprocess.Popen([sys.executable, "-c", FLIPS, *names], stdout=subprocess.PIPE) as flips:
        assert flips.stdout is not None
        flips.stdout.readline()
        try:
            held = subprocess.run(
                [sys.executable, "-c", CALLS, *names, str(rounds)],
                capture_output=True, text=True, check=False, env={**os.environ, "GSCLI_LOOPS": way},
            )  # fmt: skip
        finally:
            flips.kill()
    assert (held.returncode, held.stdout, held.stderr) == (0, "held\n", "")
