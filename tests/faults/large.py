"""What the newer writers are tried on: streamed results and patches in place, cut very small."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gscli
from gscli import stream as streaming
from gscli.base import CannotRead
from gscli.disk.mapped import open_regular_file
from gscli.files import content, load
from gscli.frameworks import find_operator
from gscli.plan import plan_call
from gscli.plan.plan import ValidatedPlan
from gscli.stream import gather, patch, rowfile, scatter, to_file, writeback

Arrays = dict[str, np.ndarray[Any, np.dtype[Any]]]

RNG = np.random.default_rng(5)
DATA = RNG.standard_normal((24, 6, 8)).astype(np.float32)
ROWS = RNG.integers(-24, 24, (20, 1))
UPDATES = RNG.standard_normal((20, 6, 8)).astype(np.float32)


@dataclass(frozen=True)
class Subject:
    """A call whose inputs come from files: with all of them mapped, however small they are."""

    operator: str
    arrays: Arrays
    attrs: dict[str, Any]

    def saved(self, folder: Path) -> None:
        for name, array in self.arrays.items():
            np.save(folder / f"{name}.npy", array)

    def loaded(self, folder: Path) -> Arrays:
        return {name: load(str(folder / f"{name}.npy")).array for name in self.arrays}

    def expected(self) -> bytes:
        return gscli.run(self.operator, self.arrays, self.attrs).tobytes()

    def validate(self, folder: Path) -> ValidatedPlan:
        """The plan of the call from its files."""
        return plan_call(find_operator(self.operator), self.loaded(folder), self.attrs).validate()

    def streamed(self, folder: Path, target_name: str = "out.npy") -> None:
        target = str(folder / target_name)
        streaming.run_to_file(self.validate(folder), target)

    def patched(self, folder: Path, *, direct: bool) -> None:
        """Change `data.npy`."""
        file = open_regular_file(str(folder / "data.npy"))
        if file is None:
            raise CannotRead("cannot read data.npy")
        streaming.patch_in_place(self.validate(folder), file, direct=direct)
        file.close()


SCATTER = {"data": DATA, "indices": ROWS, "updates": UPDATES}
STREAMED = {
    "gather": Subject("onnx.gather", {"data": DATA, "indices": ROWS[:, 0]}, {}),
    "transposed": Subject(
        "tensorflow.gather",
        {"params": DATA, "indices": np.arange(72).reshape(24, 3) % 6},
        {"batch_dims": 1, "axis": 1},
    ),
    "scatter": Subject("onnx.scatter_nd", SCATTER, {}),
    "sums": Subject("onnx.scatter_nd", SCATTER, {"reduction": "add"}),
}
PATCHED = {name: STREAMED[name] for name in ("scatter", "sums")}


def cramp(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is large, and nothing fits into memory."""
    monkeypatch.setattr(content, "MIN_MAP_BYTES", 1)
    monkeypatch.setattr(gather, "PIECE_BYTES", 1 << 11)
    monkeypatch.setattr(to_file, "BLOCK", 1 << 11)
    monkeypatch.setattr(scatter, "MAX_SORTED_RECORDS", 1 << 4)
    monkeypatch.setattr(scatter, "MAX_SPILL_FILES", 3)
    monkeypatch.setattr(scatter, "PREFETCH_CELLS", 300)
    monkeypatch.setattr(rowfile, "WINDOW", 1 << 10)
    monkeypatch.setattr(rowfile, "SPARSE_FACTOR", 1)
    monkeypatch.setattr(rowfile, "MAX_PREADS", 3)
    monkeypatch.setattr(writeback, "MIN_DIRECT_BYTES", 1)
    monkeypatch.setattr(writeback, "BUFFER_BYTES", 1 << 12)
    monkeypatch.setattr(patch, "CHUNK", 1 << 10)
