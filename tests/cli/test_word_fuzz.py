"""Command lines made of words at random: a result or a refusal with a way on, and never a bug."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import numpy as np
import pytest

from gscli.cli import run_safely
from gscli.frameworks import NAMES, operators

COMMANDS = [
    "help", "samples", "rules", "check", "compare", "explain", "convert", "show", "verify", "batch",
    "diff", "cases", "fuzz", "run", "runtimes", "page", "undo", "tf", *NAMES,
]  # fmt: skip
CALLS = [operator.command_line.split()[1:] for operator in operators()]
EXAMPLES = [operator.example.split() for operator in operators()]
LINES = [[*call, *example] for call, example in zip(CALLS, EXAMPLES, strict=True)]
FLAGS = [
    "--help", "-h", "--", "-", "-q", "-v", "--json", "--json=output", "--json=x", "--strict",
    "--axis", "-a", "--dim", "--opset", "--reduction", "--reduce", "--mode", "--as", "--dtype",
    "--full", "--limit", "--width", "--precision", "--step", "--plain", "--show", "--slice",
    "--color", "--palette", "--edge", "--rows", "--expect", "--rtol", "--in-place", "--cast",
    "--answer", "--version", "--quiz", "--theme", "--max-bytes", "-f", "--batch-dims",
    "--num-segments", "--slice-sizes", "--nothing", "-x", "--axis=", "--=", "---",
]  # fmt: skip
VALUES = [
    "0", "1", "-1", "2", "99", "1e3", "nan", "", " ", "none", "add", "max", "mean", "clip", "npy",
    "onnx,torch", "jax", "[1,2,3]", "[[0],[1]]", "[0,-1]", "[7]", "[]", "[[]]", "[1,[2]]", "[1",
    '{"dtype":"int8","shape":[1],"data":[1]}', '{"a":1}', '["x"]', "[true]", "[null]", "1:3", "...",
    "None", "arange:6", "arange:2x3", "zeros:0x2", "arange:x", "zeros:99999999999", "data.npy",
    "i.npy", "f.npy", "nothing.npy", "data.npy::a", "t.csv", "j.jsonl", "lesson", "first-look",
    "scatter-nd", "gather", "take", "tensorflow.gather", "é", "\x1b[31m", "💥", "a" * 300, "int8",
    "float32", "20", "auto", "16",
]  # fmt: skip
ENDS = {0, 1, 2, 65, 66, 73}
WAITING = {"fuzz", "runtimes", "undo"}
"""Commands that start processes, and one that changes files: their help alone is asked for."""


def drawn(rng: random.Random) -> list[str]:
    """A call that is right but for a few words, or words at random behind a command."""
    if rng.random() < 0.5:
        words = [word.strip("'") for word in rng.choice(LINES)]
        words = [*rng.choice(([], [], ["explain"], ["check"], ["compare"])), *words]
    else:
        words = [*rng.choice((rng.choice(CALLS), [rng.choice(COMMANDS)]))]
        words += [rng.choice(VALUES) for _ in range(rng.randint(0, 4))]
    for _ in range(rng.randint(0, 4)):
        kind, place = rng.random(), rng.randrange(len(words) + 1)
        if kind < 0.45:
            words.insert(place, rng.choice(FLAGS))
        elif kind < 0.7:
            words.insert(place, rng.choice(VALUES))
        elif kind < 0.85:
            rng.shuffle(words)
        else:
            words[place % len(words)] = rng.choice(VALUES)
    return [*words[:1], "--help"] if words[0] in WAITING else words


def complaint(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What is wrong with the way a command line ended."""
    status = run_safely(words)
    printed = capsys.readouterr()
    told = printed.err + printed.out
    if "Traceback" in told or status not in ENDS:
        return f"ended with {status}: {told[-300:]}"
    if "\x1b[31m" in told or "\x1b[31m" in printed.out:
        return "a word from the command line steers the terminal"
    if status in (0, 1) or printed.out.startswith("Usage: "):  # a group alone shows its commands
        return ""
    if '{"error": ' in printed.err:
        error = json.loads(printed.err[printed.err.index('{"error": ') :])["error"]
        return "" if error["problem"] and error["hint"] else f"no way on: {error}"
    if not printed.err.lstrip().startswith(("error: ", "warning: ")):
        return f"{status} without an error: {told[:300]}"
    return "" if "  help: " in printed.err else f"no way on: {printed.err[:300]}"


def tried(seed: str, count: int, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The complaints about some command lines."""
    rng = random.Random(seed)
    judged = ((words, complaint(words, capsys)) for words in (drawn(rng) for _ in range(count)))
    return [f"{words}\n    {told}" for words, told in judged if told]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    np.save("data.npy", np.arange(6.0).reshape(2, 3))
    np.save("i.npy", np.array([[0], [1]]))
    np.save("f.npy", np.array([0.5, 1]))
    Path("t.csv").write_text("1,2\n3,4\n", encoding="utf-8")
    Path("j.jsonl").write_text('{"op": "gather", "inputs": {}}\nbroken\n', encoding="utf-8")


def test_words_at_random_end_in_a_result_or_a_refusal_with_a_way_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = tried("everyday", 300, capsys)
    assert not found, "\n".join(found[:10])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_thousands_of_words_at_random(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = tried(f"slow {seed}", 300, capsys)
    assert not found, "\n".join(found[:10])


@pytest.mark.parametrize(
    "line",
    [
        "compare gather [0] false",
        "explain numpy getitem [[1,2,3]] 0 [false,false,false] --code numpy",
        "explain torch index [[1,2,3]] 0 [false,false,false] --code torch",
    ],
)
def test_a_bool_among_index_numbers_and_a_mask_without_true_are_no_bugs(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(line.split()) in {0, 1}
    assert "output" in capsys.readouterr().out
