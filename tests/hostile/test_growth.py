"""Ten times the input is about ten times the work, for every command and every view.

Work is counted, not timed: calls that Python makes, of its own functions and of C's, and the
largest memory that is held at once. Twice as much as ten times is allowed, for what grows with
the logarithm or comes on top.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gscli.cli import run_safely
from gscli.disk.mapped import open_regular_file, undo_file_of
from gscli.stream.undo_file import UndoFile, write_rows

pytestmark = pytest.mark.slow

SMALL, LARGE = 60, 600
ALLOWED = 2 * LARGE / SMALL


def tensors(folder: Path, size: int) -> None:
    """Inputs of every kind whose length is `size`."""
    generator = np.random.default_rng(size)
    indices = generator.integers(0, size, size)
    np.save(folder / "data.npy", np.arange(float(size)))
    np.save(folder / "other.npy", -np.arange(float(size)))
    np.save(folder / "rows.npy", np.zeros((size, 3)))
    np.save(folder / "at.npy", indices)
    np.save(folder / "nd.npy", indices[:, None])
    np.save(folder / "bad.npy", indices + size // 2)
    np.savez(folder / "many.npz", **{f"a{number}": np.arange(2) for number in range(size // 10)})
    names = [f'"key{number}":1' for number in range(size)]
    (folder / "twice.json").write_text("{" + ",".join([*names, '"key0":2']) + "}")
    job = {"op": "gather", "inputs": {"data": [1, 2], "indices": [1]}}
    (folder / "jobs.jsonl").write_text((json.dumps(job) + "\n") * (size // 10))
    with (Path(__file__).parents[1] / "vectors" / "onnx.jsonl").open() as recorded:
        (folder / "cases.jsonl").write_text(recorded.readline() * (size // 10))
    (folder / "table.csv").write_text("1,2,3\n" * size)
    cut_short(folder / "crashed.npy", np.arange(float(8 * size)).reshape(size, 8))


def cut_short(path: Path, data: np.ndarray[Any, np.dtype[Any]]) -> None:
    """A file of which a direct patch has written the first half of its rows, and an undo file."""
    Path(undo_file_of(str(path))).unlink(missing_ok=True)
    np.save(path, data)
    old, rows = data.view(np.uint8).reshape(len(data), -1), np.arange(len(data))
    file = open_regular_file(str(path))
    assert file is not None
    offset = file.size - data.nbytes
    note = UndoFile(file, offset, old.shape[1])
    note.add(rows, old, old[::-1].copy())
    note.commit()
    note.file.close()
    with path.open("r+b") as target:
        write_rows(target.fileno(), offset, rows[: len(rows) // 2], old[::-1].copy())
    file.close()


COMMANDS = {
    "picture": "gather data.npy at.npy",
    "every cell": "gather data.npy at.npy --full",
    "every entry": "gather data.npy at.npy --limit {size}",
    "scatter": "scatter-nd data.npy nd.npy data.npy -r add --limit {size}",
    "steps": "gather data.npy at.npy --step --limit 5",
    "many steps": "gather data.npy at.npy --step --limit {tenth}",
    "many steps of a scatter": "scatter-nd data.npy nd.npy data.npy -r add --step --limit {tenth}",
    "a late step": "gather data.npy at.npy --step {size}",
    "explain": "explain scatter-nd data.npy nd.npy data.npy --limit {size}",
    "explain plainly": "explain gather data.npy at.npy --plain --limit {size}",
    "document": "scatter-nd data.npy nd.npy data.npy --json --limit {size}",
    "output": "gather data.npy at.npy --json=output",
    "check": "check gather data.npy bad.npy --limit {size}",
    "compare": "compare gather data.npy bad.npy --as onnx,numpy,jax",
    "page": "gather data.npy at.npy --html out.html -q",
    "drawing": "gather data.npy at.npy --svg out.svg -q",
    "show": "show data.npy",
    "show in full": "show data.npy --full",
    "members": "show many.npz",
    "repeated keys": "show twice.json",
    "statistics": "show data.npy --stat",
    "convert": "convert data.npy out.json",
    "table": "convert table.csv out.npy",
    "in place": "scatter-nd data.npy nd.npy [1.0] --in-place",
    "batch": "batch jobs.jsonl",
    "difference": "diff data.npy other.npy --limit {size}",
    "expectation": "gather data.npy at.npy --expect other.npy --limit {size}",
    "page of a comparison": "compare gather data.npy bad.npy --as onnx,numpy --html out.html",
    "fuzz": "fuzz numpy.take_along_axis --on numpy --cases {tenth} -q",
    "undo": "undo crashed.npy",
    "rows of a file": "show rows.npy --full",
    "verify": "verify cases.jsonl",
    "cases": "cases gather --cases {tenth} -o out.jsonl",
}


def work(act: Callable[[], object]) -> tuple[int, int]:
    """Calls made, and bytes held at most."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    tracemalloc.start()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(None)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return calls, peak


def run(words: list[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run_safely(words)


@pytest.mark.parametrize("name", COMMANDS)
def test_work_grows_with_the_input(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    found = []
    for size in (SMALL, SMALL, LARGE):  # the first one imports
        tensors(tmp_path, size)
        words = COMMANDS[name].format(size=size, tenth=size // 10).split()
        found.append(work(lambda words=words: run(words)))
    (_, small, large) = found
    assert large[0] <= ALLOWED * small[0]
    assert large[1] <= ALLOWED * max(small[1], 1 << 18)


@pytest.mark.parametrize("words", ["--full", "--limit 1000000", "--step --full"])
@pytest.mark.parametrize("command", ["gather", "explain gather"])
def test_more_than_anybody_looks_at_is_refused_at_once(
    command: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if command == "explain gather" and "full" in words:
        words = "--limit 20001"
    assert run_safely([*command.split(), "arange:1000000", "arange:1000000", *words.split()]) == 65
    assert "too many entries to draw" in capsys.readouterr().err
