"""What the README promises: a test for each, named after it.

Other tests go further (oracle, faults, hostile); these show each promise kept in one place.
"""

from __future__ import annotations

import json
import pickle
import re
import socket
from pathlib import Path

import numpy as np
import pytest
from recording import ROOT
from shell import call_gscli as run

import gscli
from gscli.cli import run_safely

PROMISES = (
    (ROOT / "README.md")
    .read_text(encoding="utf-8")
    .partition("## What gscli promises\n")[2]
    .partition("\n## ")[0]
)


def test_every_promise_has_a_test() -> None:
    said = [" ".join(found.split()) for found in re.findall(r"(?s)\*\*(.*?)\*\*", PROMISES)]
    tests = {"test_" + "_".join(re.findall(r"[a-z]+", promise.lower())) for promise in said}
    assert tests <= set(globals()), tests - set(globals())


@pytest.mark.parametrize("count", [10, 300_000])
def test_the_specification_s_answer_to_the_bit(count: int) -> None:
    chance = np.random.default_rng(count)
    cells = chance.integers(0, 7, count)
    updates = chance.standard_normal(count).astype(np.float32)
    expected = np.ones(7, np.float32)
    for cell, update in zip(cells.tolist(), updates, strict=True):
        expected[cell] += update
    answer = gscli.scatter_nd(np.ones(7, np.float32), cells[:, None], updates, reduction="add")
    assert answer.tobytes() == expected.tobytes()


def test_where_a_text_is_open_gscli_makes_one_documented_choice_and_warns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_safely(["scatter-nd", "[0]", "[[0],[0]]", "[1,2]", "--json=output"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["data"] == [2]
    assert printed.err.startswith("warning: ")


def test_all_indices_are_judged_before_anything_is_written(tmp_path: Path) -> None:
    table = tmp_path / "table.npy"
    np.save(table, np.zeros(100_000))
    before = table.read_bytes()
    words = ("scatter-nd", str(table), "[[0],[100000]]", "[1,2]")
    for options in (("--in-place",), ("-o", "new.npy"), ("-o", str(table))):
        assert run(*words, *options, cwd=tmp_path).returncode == 65
    assert table.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["table.npy"]


def test_files_are_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    old = tmp_path / "old.npy"
    np.save(old, np.arange(3))
    before = old.read_bytes()
    line = ("convert", "arange:1000000", str(old))
    assert run(*line, "--max-bytes", "1K", cwd=tmp_path).returncode == 65
    assert old.read_bytes() == before
    assert run(*line, cwd=tmp_path).returncode == 0
    np.testing.assert_array_equal(np.load(old), np.arange(1_000_000))
    assert [path.name for path in tmp_path.iterdir()] == ["old.npy"]


def test_a_patch_in_place_is_complete_or_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "table.npy"
    np.save(table, np.arange(6).reshape(3, 2))
    monkeypatch.chdir(tmp_path)
    assert run_safely(["scatter-nd", "table.npy", "[[2]]", "[[8,9]]", "--in-place"]) == 0
    np.testing.assert_array_equal(np.load(table), [[0, 1], [2, 3], [8, 9]])
    assert run_safely(["scatter-nd", "table.npy", "[[0],[7]]", "[[8,9],[8,9]]", "--in-place"]) == 65
    np.testing.assert_array_equal(np.load(table), [[0, 1], [2, 3], [8, 9]])


def test_a_reader_never_writes(tmp_path: Path) -> None:
    table = tmp_path / "table.npy"
    np.save(table, np.arange(300_000))
    before = (table.stat().st_mtime_ns, table.stat().st_ino, table.read_bytes())
    for words in (("show", "table.npy", "-q"), ("gather", "table.npy", "[7]"),
                  ("check", "gather", "table.npy", "[7]")):  # fmt: skip
        assert run(*words, cwd=tmp_path).returncode == 0
    assert (table.stat().st_mtime_ns, table.stat().st_ino, table.read_bytes()) == before
    assert [path.name for path in tmp_path.iterdir()] == ["table.npy"]


class _Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return exec, ("raise SystemExit(99)",)


def test_data_is_never_code(tmp_path: Path) -> None:
    pickled = tmp_path / "bomb.npy"
    np.save(pickled, np.array([_Bomb()], object), allow_pickle=True)
    (tmp_path / "bomb.json").write_bytes(pickle.dumps(_Bomb()))
    for name in ("bomb.npy", "bomb.json"):
        assert run("show", name, cwd=tmp_path).returncode == 65


def test_text_from_files_cannot_steer_your_terminal(tmp_path: Path) -> None:
    np.save(tmp_path / "text.npy", np.array(["\x1b[2J\x1b[31m", "\u202e"]))
    shown = run("show", "text.npy", "--color", "never", cwd=tmp_path)
    assert shown.returncode == 0
    assert b"\x1b" not in shown.stdout
    assert "\u202e" not in shown.stdout.decode()


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("gather", "[1,2]", "[2]"), 65),
        (("gather", "[1,2]", "nothing.npy"), 66),
        (("gather", "[1,2]", "[0]", "-o", "/nowhere/x.npy"), 73),
        (("gatherr",), 2),
    ],
)
def test_errors_are_one_paragraph_with_an_exit_code(words: tuple[str, ...], status: int) -> None:
    done = run(*words)
    told = done.stderr.decode()
    assert done.returncode == status
    assert told.startswith("error: ")
    assert "\n\n" not in told
    assert "Traceback" not in told


def test_nothing_leaves_your_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*_: object, **__: object) -> None:
        pytest.fail("a socket was asked for")

    monkeypatch.setattr(socket, "socket", no_network)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert run_safely(["scatter-nd", "[1,2]", "[[0]]", "[3]", "--html", "page.html"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
