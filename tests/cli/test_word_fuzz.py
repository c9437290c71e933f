"""Command lines made of words at random: a result or a refusal with a way on, and never a bug."""

from __future__ import annotations

import io
import json
import random
import re
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

# Commands that start processes: their help alone is asked for.
WAITING = {"fuzz", "runtimes"}


OPTIONS = [
    "--json", "--json=output", "--strict", "--plain", "--quiet", "--full", "--show output",
    "--show data", "--step 1", "--limit 3", "--width 60", "--precision 2",
    "--palette mono", "--edge 2", "--rows 2", "--expect data.npy", "--answer i.npy", "--cast int8",
    "--theme dark", "--svg out.svg", "--html out.html", "-o out.npy", "-o -", "-f npy", "-v",
]  # fmt: skip

# Calls of the other commands that are right.
TOOLS = [
    "show data.npy", "show t.csv --json", "show data.npy --slice 0", "convert data.npy out.csv",
    "convert t.csv out.npy --as float32", "diff data.npy i.npy", "diff data.npy data.npy --rtol 0",
    "batch j.jsonl", "run j.jsonl", "verify j.jsonl --quiet", "rules gather", "rules torch",
    "help inputs", "help signs", "help scatter-nd", "samples", "samples first-look",
    "cases gather --count 2 -o cases.jsonl", "cases scatter-nd --count 2 --seed 3",
    "page scatter-nd [1,2,3] [[0]] [9] -o page.html", "compare gather [1,2,3] [0,-1] --json",
    "compare scatter-elements [1,2] [0] [5] --rows 2", "help findings", "explain take [1,2] 0",
    "check scatter-nd [1,2,3] [[3]] [9] --json", "check gather [1,2] [5] --limit 1",
    "explain scatter-nd [1,2] [[0]] [5] --code torch", "undo data.npy",
]  # fmt: skip


def make_call(rng: random.Random) -> list[str]:
    """A call that is right: an operator's example with some options, or one of the tools."""
    if rng.random() < 0.2:
        return rng.choice(TOOLS).split()
    words = [word.strip("'") for word in rng.choice(LINES)]
    words = [*rng.choice(([], [], [], ["explain"], ["check"], ["compare"])), *words]
    for option in rng.sample(OPTIONS, rng.choice((0, 0, 1, 2))):
        words += option.split()
    return words


def change_word(words: list[str], rng: random.Random) -> list[str]:
    """The same call with one word more, less, in another place, replaced, or changed inside."""
    place, kind = rng.randrange(len(words)), rng.randrange(6)
    word, rest = words[place], words[:place] + words[place + 1 :]
    if kind == 0:
        return rest
    if kind == 1:
        return [*words[:place], rng.choice(FLAGS + VALUES), *words[place:]]
    if kind == 2:
        rest.insert(rng.randrange(len(words)), word)
        return rest
    if kind == 3:
        return [*words[:place], rng.choice(VALUES), *words[place + 1 :]]
    return [*words[:place], change_text(word, rng), *words[place + 1 :]]


def change_text(text: str, rng: random.Random) -> str:
    """A word with one character more, less or other, or with another number in it."""
    at = rng.randrange(len(text) + 1)
    numbers = [match.span() for match in re.finditer(r"-?\d+", text)]
    if numbers and rng.random() < 0.5:
        start, end = rng.choice(numbers)
        return text[:start] + rng.choice(NUMBERS) + text[end:]
    return text[:at] + rng.choice(CHARACTERS) + text[at + rng.randrange(2) :]


NUMBERS = [
    "0", "1", "-1", "2", "7", "-9", "300", "65536", "-2147483649", "9223372036854775807",
    "9223372036854775808", "1e400", "nan", "-0.5", "true", "null", '"a"', "[1]", "[]",
]  # fmt: skip
CHARACTERS = ["", ",", "[", "]", "-", ".", "=", ":", "x", "9", " ", '"', "\x00", "\n", "é", "💥"]


def drawn(rng: random.Random) -> list[str]:
    """A right call with one word changed, or, of four, words at random behind a command."""
    if rng.random() < 0.75:
        words = change_word(make_call(rng), rng)
    else:
        words = [*rng.choice((rng.choice(CALLS), [rng.choice(COMMANDS)]))]
        words += [rng.choice(VALUES + FLAGS) for _ in range(rng.randint(0, 5))]
    return [*words[:1], "--help"] if words[:1] and words[0] in WAITING else words


def complaint(words: list[str], capsysbinary: pytest.CaptureFixture[bytes]) -> str:
    """What is wrong with the way a command line ended."""
    status = run_safely(words)
    printed = capsysbinary.readouterr()
    out, err = printed.out.decode("utf-8", "replace"), printed.err.decode("utf-8", "replace")
    told, complaints = err + out, re.sub(r"\x1b\[[\d;]*m", "", err)
    if "Traceback" in told or status not in ENDS:
        return f"ended with {status}: {told[-300:]}"
    if "\x1b[31m" in told:
        return "a word from the command line steers the terminal"
    if status in (0, 1) or out.startswith("Usage: "):  # a group alone shows its commands
        return ""
    if '{"error": ' in complaints:
        error = json.loads(complaints[complaints.index('{"error": ') :])["error"]
        return "" if error["problem"] and error["hint"] else f"no way on: {error}"
    if not complaints.lstrip().startswith(("error: ", "warning: ")):
        return f"{status} without an error: {told[:300]}"
    return "" if "  help: " in complaints else f"no way on: {complaints[:300]}"


def tried(seed: str, count: int, capsysbinary: pytest.CaptureFixture[bytes]) -> list[str]:
    """The complaints about some command lines."""
    rng = random.Random(seed)
    judged = (
        (words, complaint(words, capsysbinary)) for words in (drawn(rng) for _ in range(count))
    )
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
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    found = tried("everyday", 300, capsysbinary)
    assert not found, "\n".join(found[:10])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_thousands_of_words_at_random(
    seed: int, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    found = tried(f"slow {seed}", 500, capsysbinary)
    assert not found, "\n".join(found[:10])


@pytest.mark.parametrize(
    "line",
    [
        "compare gather [0] false",
        "compare scatter-nd [1,2,3] [[0],[9223372036854775807]] [9,10]",
        "explain numpy getitem [[1,2,3]] 0 [false,false,false] --code numpy",
        "explain torch index [[1,2,3]] 0 [false,false,false] --code torch",
        'check openvino gather [1,2] [-1] "a"',
    ],
)
def test_odd_index_numbers_are_no_bugs(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(line.split()) in {0, 1}
    assert capsys.readouterr().out
