"""Every refusal says how to go on, and every command in a hint runs and does what it says."""

from __future__ import annotations

import json
import os
import re
import shlex
import warnings
from functools import partial
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from refused import refused_command
from shell import call_gscli

import gscli
from gscli import traces
from gscli.base import GscliError
from gscli.cli import run_safely
from gscli.cli.commands.samples import parse_sessions
from gscli.files.formats import jsonarray
from gscli.frameworks import NAMES, find_operator, operators

TESTS = Path(__file__).parents[1]

REFUSED = [refused_command(operator) for operator in operators()]
RECORDED = [
    exchange.command
    for session in parse_sessions((TESTS / "golden/help/usage.md").read_text(encoding="utf-8"))
    for exchange in session
    if exchange.command.startswith("gscli ")
]
FILES = {
    "f32.npy": np.array([1, 2, 3], np.float32),
    "f64.npy": np.array([7.5, 8]),
    "inexact.npy": np.array([0.1, 8]),
    "idx.npy": np.array([[0], [2]]),
    "whole.npy": np.array([0.0, 2.0]),
    "half.npy": np.array([0, 1.5]),
    "u64.npy": np.array([0, 2**64 - 1], np.uint64),
    "-odd.npy": np.array([0.0]),
    "two words.npy": np.array([7.5, 8]),
    "mask.npy": np.array([True, False, True]),
}  # fmt: skip
GATHER_ND = find_operator("mxnet.gather_nd").example
OPENVINO_GATHER = "gscli openvino gather '[[1,2,3],[4,5,6]]' '[2,0,-1]' 1"
WRITTEN = [
    "gscli gather '[10,20,30]' -- -9",
    "gscli gather '[10, 20, 30]' '[ 7 ]'",
    "gscli gather 'two words.npy' '[7]'",
    "gscli scatter-nd f32.npy idx.npy 'two words.npy'",
    "gscli numpy take '[1,2,3]' '[5]' --axis none",
    "gscli numpy take '[[1,2,3]]' '[5]' --axis none",
    f"gscli gather '[1]' '[{','.join(['7'] * 300)}]'",
    "gscli check scatter-nd '[1,2]' '[[-1]]' '[5]'",
    "gscli gather '[1,2]' '[[0.0,1.0]]'",
    "gscli gather '[0.5,1.5]' '[0.5]'",
    "gscli gather '[0,1]' '[0.5,1.5]'",
    "gscli torch gather '[[1,2,3]]' '[0]' --dim 0",
    "gscli torch gather '[1,2,3]' '[-4]' --dim 0",
    "gscli mxnet np-take '[[1,2],[3,4]]' '[-1]' --mode raise",
    "gscli openvino gather '[1,2,3]' '[7]' 0 --opset 7",
    "gscli tf tensor-scatter-nd-add '[1,2]' '[[2]]' '[1]'",
    "gscli tf segment-mean f32.npy '[0,2,1]'",
    "gscli tf segment-max '[1,2]' '[-1,-2]'",
    "gscli tf segment-mean '[1,2]' '[1,0]' --dtype complex64",
    "gscli torch scatter-reduce '[1,2]' '[2]' '[1]' --dim 0 --reduce amax",
    "gscli compare torch one-hot '[0]'",
    "gscli compare segment-sum '[1]' '[0]'",
    "gscli compare at-get '[1]' '[0]'",
    "gscli gather '[1]' '[0]' --opset 99",
    "gscli openvino gather '[1]' '[0]' 0 --opset 99",
    "gscli numpy getitem arange:6 -2:",
    "gscli jax take '[1,2,3]' '[true]' --mode clip",
    "gscli gather '[1]' '[0]' -o r.json -f npy",
    "gscli show semicolons.csv",
    "gscli onnx tensor-scatter '[[1,2]]' '[[3]]' '[2]' --axis 1",
    """gscli torch index-put '[1.0]' '{"dtype":"uint8","shape":[1],"data":[1]}' 9.0""",
    """gscli jax at-set zeros:200 '{"dtype":"int8","shape":[1],"data":[1]}' 9.0""",
    "gscli samples foo",
    "gscli samples first-lok",
    "gscli scatter",
    "gscli ScatterND",
    "gscli torch index_ad",
    "gscli rules foo",
    "gscli rules torch foo",
    "gscli help foo",
    "gscli scatter-nd '[1]' '[[0]]' '[1]' --reduce add",
    "gscli compare gather '[1]' '[0]' --as x",
    "gscli compare torch",
    "gscli compare scatter-add",
    "gscli gather nothere.npy '[0]'",
    "gscli gather f33.npy '[0]'",
    "gscli gather f32.npy::a '[0]'",
    "gscli page idx.npy -o x.html",
    "gscli scatter-nd f32.npy idx.npy f64.npy",
    "gscli scatter-nd f32.npy idx.npy inexact.npy",
    "gscli scatter-nd '[1,2,3]' '[[0]]' '[0.5]'",
    "gscli gather f32.npy whole.npy",
    "gscli gather f32.npy half.npy",
    "gscli gather f32.npy u64.npy",
    "gscli gather f32.npy ./-odd.npy",
    "gscli scatter-nd f32.npy idx.npy inexact.npy --dtype float32",
    "gscli scatter-nd '[0.5]' '[[0]]' '[2]' --dtype int64",
    "gscli gather '[1,2]' '[0.5]' --dtype int64",
    "gscli gather '[\"a\"]' '[0]' --dtype int64",
    "gscli convert inexact.npy out.npy --dtype float32",
    "gscli convert half.npy o.npy --dtype int64",
    "gscli gather f32.npy idx.npy -o missing/out.npy",
    "gscli gather '[1]'",
    "gscli gather '[1]' 1 2 3",
    "gscli gather '[1' '[0]'",
    "gscli gather '[1]' '[0]' --opset 99",
    "gscli gather '[1]' '[0]' --axis 9",
    "gscli verify nothere.jsonl",
    "gscli undo nothere.npy",
    "gscli undo f32.npy",
    "gscli run nothere",
    "gscli batch nothere",
    "gscli show nothere",
    "gscli gather '[1]' '[0]' --json=banana",
    "gscli gather '[1]' '[0]' --step x",
]


def refusal(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The status of a command, and everything said."""
    code = run_safely(shlex.split(line)[1:])
    captured = capsys.readouterr()
    return code, captured.err + captured.out


def hint_of(told: str) -> str:
    """The help lines of a refusal as one line."""
    lines = told.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith("  help: ")), None)
    if start is None:
        return " ".join(re.findall(r"\((.*)\)$", told, re.MULTILINE))
    rest = [line.strip() for line in lines[start:] if line.startswith("        ")]
    return " ".join([lines[start].removeprefix("  help: "), *rest])


def commands(hint: str) -> list[str]:
    """What a hint tells to type: behind a colon, or the whole of a clause."""
    clauses = [clause.rpartition(": ")[2].strip() for clause in hint.split("; ")]
    return [clause for clause in clauses if clause.startswith("gscli ")]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "2000")
    for name, array in FILES.items():
        np.save(name, array)
    Path("semicolons.csv").write_text("1;2;3\n4;5;6\n", encoding="utf-8")


@pytest.mark.parametrize("line", [*REFUSED, *RECORDED, *WRITTEN])
def test_a_refusal_has_a_way_on_that_can_be_gone(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = refusal(line, capsys)
    if code == 0 or "gscli help man" in line:
        return
    assert code != 70, told
    if "error: " in told:
        assert hint_of(told), told
    for command in commands(hint_of(told)):
        done, answer = refusal(command, capsys)
        assert done in (0, 1), (command, answer)


BOUNDED = {
    """gscli numpy put-along-axis '{"dtype":"float32","shape":[0,1099511627776],"data":[]}'"""
    " '[[0]]' 1 --axis 0": "shorten the axes",
    "gscli gather zeros:0x1048576 zeros:1048576x1048576x0:int64 --axis 0": "shorten",
    "gscli gather '[1]' many.json": "save the array as .npy",
}


@pytest.mark.parametrize(("line", "hint"), BOUNDED.items(), ids=BOUNDED.values())
def test_a_limit_that_no_option_raises_names_none(
    line: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("many.json").write_text(f"[{'[],' * 2_000_000}[]]")
    code, told = refusal(line, capsys)
    assert code == 65
    assert hint in hint_of(told)
    assert "--max-bytes" not in told


CONVERSIONS = [
    ("gscli scatter-nd f32.npy idx.npy f64.npy", "f64.float32.npy"),
    ("gscli scatter-nd f32.npy idx.npy inexact.npy", "inexact.float32.npy"),
    ("gscli scatter-nd f32.npy idx.npy inexact.npy --dtype float32", "inexact.float32.npy"),
    ("gscli gather half.npy '[0]' --dtype int64", "half.int64.npy"),
    ("gscli gather f32.npy whole.npy", "whole.int64.npy"),
    ("gscli gather f32.npy ./-odd.npy", "-odd.int64.npy"),
]


@pytest.mark.parametrize(("line", "made"), CONVERSIONS)
def test_a_file_that_was_converted_as_told_is_taken(
    line: str, made: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, told = refusal(line, capsys)
    (command,) = commands(hint_of(told))
    assert refusal(command, capsys)[0] == 0
    old = next(word for word in shlex.split(command) if word.endswith(".npy"))
    again = line.replace(old, f"./{made}")
    assert refusal(again, capsys)[0] == 0


def test_the_type_of_data_and_updates_is_changed_as_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = "gscli scatter-nd '[1,2,3]' '[[0]]' '[0.5]'"
    _, told = refusal(line, capsys)
    flags = hint_of(told).split(" converts ")[0]
    assert refusal(f"{line} {flags}", capsys)[0] == 0


MEANT = {
    "ScatterND": "scatter-nd",
    "GatherElements": "gather-elements",
    "gatherr": "gather",
    "scatter_nd": "scatter-nd",
    "comparee": "compare",
    "ScatterElementsUpdate": "scatter-elements",
}


@pytest.mark.parametrize(("wrong", "meant"), MEANT.items())
def test_a_name_as_documents_write_it_is_understood(
    wrong: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = refusal(f"gscli {wrong}", capsys)
    assert code == 2
    assert meant in hint_of(told)


@pytest.mark.parametrize("framework", NAMES)
def test_wrong_operators_of_each_framework_get_near_names(
    framework: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for operator in operators():
        if operator.framework.name == framework:
            code, told = refusal(f"gscli {framework} {operator.name}x", capsys)
            assert code == 2
            assert operator.command in hint_of(told)


NAME_OF_FORMAT = "name it ….npy, or say -f npy to a command, format='npy' to gscli.save"
STREAM_FORMAT = "-f npy; --help lists the others; in Python gscli.save has format='npy'"
CONVERTED = "--svg x.svg, then rsvg-convert x.svg -o FILE"


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        ("gather [1,2,3] [1] -axis 0", 2, "did you mean --axis?"),
        ("gather [1,2,3] [1] -o q", 2, NAME_OF_FORMAT),
        ("gather [1,2,3] [1] --expect -odd.npy --axs 0", 2, "did you mean --axis?"),
        ("explain gather [1,2,3] [1] -axis=0", 2, "did you mean --axis=0?"),
        ("jax lax.scatter [1] [0] [2]", 2, "did you mean lax-scatter?"),
        ("--limit 1 gather [1] [0]", 2, "gscli COMMAND --limit"),
        ("-width 50 help", 2, "did you mean --width?"),
        ("index-select [1,2,3] [1]", 2, "did you mean torch index-select?"),
        ("gather_nd [1,2,3] [[1]]", 2, "did you mean gather-nd?"),
        (
            "gather [1] [0] --html nodir/x.html",
            73,
            "see that its folder is there and both may be written to, or name another place",
        ),
        ("gather [1] [0] -o /dev/full -f npy", 73, "make room there, or name another place"),
        ("gather [1] [0] -o -", 2, STREAM_FORMAT),
        ("samples five", 2, "did you mean five-answers?"),
        ("tf.gather_nd [1,2,3] [[1]]", 2, "did you mean tensorflow gather-nd?"),
        ("explain jax.at.set [1,2,3] [1] 5", 2, "did you mean jax at-set?"),
        (
            "explain take_along_axis [1] [0]",
            2,
            "did you mean numpy take-along-axis or jax take-along-axis?",
        ),
        ("gather [1,2,3] [1] axis=0", 2, "did you mean --axis=0?"),
        (
            "gather o [1]",
            66,
            "values are written as JSON, '[1,2,3]'; every other way: gscli help inputs",
        ),
        ("numpy take [1,2] [0] --mode a", 2, "gscli numpy take --help"),
        ("gather [1,2] --index [0]", 2, "did you mean --indices?"),
        ("torch gather [1,2] --indices [0] --dim 0", 2, "did you mean --index?"),
        ("torch scatter [1] [0] --updates [5] --dim 0", 2, "did you mean --src?"),
        ("gather [1] [0] --out x.npy", 2, "did you mean --output?"),
        ("gather-nd [1] [[0]] --axes 0", 2, "gscli gather-nd --help"),
        ("gather [1] [0] --version", 2, "gscli gather --help"),
        ("gather [1,2,3] [1] --html -q", 2, "--html ./-q"),
        ("gather [1,2,3] [1] -o -q", 2, "-o ./-q"),
        ("page run.json -o --quiz", 2, "-o ./--quiz"),
        ("page run.json -o x.pdf", 2, "-o x.html, which a browser prints"),
        ("page run.json -o x.pptx", 2, "-o x.html, which a browser prints"),
        ("samples first-look -o --run", 2, "-o ./--run"),
        ("cases gather -o --seed", 2, "-o ./--seed"),
        ("fuzz gather -o --seed", 2, "-o ./--seed"),
        ("verify x.jsonl --junit -q", 2, "--junit ./-q"),
        ("verify x.jsonl --on numpy --report --junit", 2, "--report ./--junit"),
        ("watch --save --strict x.py", 2, "--save ./--strict"),
        ("gather [1,2,3] [1] --html x.svg", 2, "--html x.html, which a browser prints"),
        ("gather [1,2,3] [1] --svg x.html", 2, CONVERTED),
        ("gather [1,2,3] [1] -o x.png", 2, CONVERTED),
        (
            "torch gather [1,2,3] [1] --dim 0 --code jax",
            2,
            "gscli explain torch gather '[1,2,3]' '[1]' --dim 0 --code jax",
        ),
        (
            "torch gather [1,2] [1] --dim 0 --code jax --expect y.npy -q",
            2,
            "gscli explain torch gather '[1,2]' '[1]' --dim 0 --code jax -q",
        ),
        ("onnx --code torch gather [1,2] [0]", 2, "gscli explain onnx COMMAND --code"),
        ("gather [1.0] [0] --of=data", 2, "gscli grad gather '[1.0]' '[0]' --of=data"),
        ("help nothing", 2, "gscli help"),
        ("convert [1.5] x.npy --dtype int8", 65, "--cast lets values change"),
        ("scatter-nd [1,2,3] [1] [9]", 65, "each index is a vector of its own: '[[1]]'"),
        (
            "gather-nd [[1],[2]] [[[0]]] --batch-dims 1",
            65,
            "how batches meet: gscli samples batch-dims",
        ),
        (
            "torch segment-reduce [1.0,2.0] --lengths [1,2] --reduce sum",
            65,
            "lengths are the sizes of the segments, which add up to 2",
        ),
        (
            "torch segment-reduce [1.0,2.0] --lengths [1,2] --reduce sum --unsafe",
            65,
            "lengths are the sizes of the segments, which add up to at most 2",
        ),
        (
            "torch embedding-bag [0,1] [[1.0],[2.0]] [1]",
            65,
            "offsets are where segments begin, ascending: 0 … 2",
        ),
        ("gather-nd [[1],[2]] [0,1,1]", 65, "each index is a vector of its own: '[[0],[1],[1]]'"),
    ],
)
def test_slips_of_the_shell_get_the_words_that_were_meant(
    words: str, code: int, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {*tmp_path.iterdir()}
    assert run_safely(words.split()) == code
    assert f"  help: {hint}\n" in capsys.readouterr().err
    assert {*tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("words", "columns"),
    [
        ("torch index-select [1,2,3] ids.csv --dim 0", ["index"]),
        ("torch scatter-add [0,0,0] ids.csv new.csv --dim 0", ["src", "index"]),
        ("torch embedding-bag [0,1] [[1.0],[2.0]] ids.csv", ["offsets"]),
        ("tf segment-sum new.csv ids.csv", ["segment_ids"]),
        ("scatter-nd [0,0,0] ids.csv new.csv", ["updates"]),
    ],
)
def test_a_column_of_a_table_gets_the_one_axis_that_is_taken(
    words: str, columns: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ids.csv").write_text("0\n2\n")
    (tmp_path / "new.csv").write_text("5\n6\n")
    for name in columns:
        assert run_safely(words.split()) == 65
        command = capsys.readouterr().err.partition("a column has one axis after gscli ")[2]
        assert f"-o {name}.column.npy -- " in command
        assert run_safely(command.split()) == 0
        words = words.replace(command.split()[5], f"{name}.column.npy")
    assert run_safely([*words.split(), "-q"]) == 0


def test_short_options_in_one_word_are_read_as_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words in (
        "gather [1,2,3] [1] -qv", "gather [1,2,3] [1] -a0 -q", "gather -q -- [1] -0",
        "take [1,2,3] [1] -a 0", "numpy put [1,2,3] [1] [5] -v",
    ):  # fmt: skip
        assert run_safely(words.split()) == 0, capsys.readouterr().err


def test_a_strict_refusal_says_nothing_of_what_came_of_it() -> None:
    refused = call_gscli(
        "torch", "scatter", "[1.0,2]", "[0,0]", "[1.0,2.0]", "--dim", "0", "--strict"
    )
    text = refused.stderr.decode()
    assert refused.returncode == 1
    assert "arbitrary one of several writers of a cell win\n" in text
    assert "here the last one" not in text
    assert "--strict" not in text


def test_an_operator_of_a_framework_is_named_as_compare_has_it() -> None:
    refused = call_gscli("compare", "torch", "gather", "[[1,2]]", "[[0]]", "--dim", "1")
    assert b"valid: gather-elements (for gather, take-along-dim), scatter" in refused.stderr
    assert b"help: name the operation, DATA INDICES [UPDATES], its own options" in refused.stderr
    assert b"for what is none of them: gscli help code" in b" ".join(refused.stderr.split())
    alone = call_gscli("compare", "scatter-add", "[0]", "[0]", "[1]")
    assert b"frameworks share, not torch.scatter_add" in alone.stderr
    assert b"gscli explain torch scatter-add '" in alone.stderr
    way = call_gscli(
        "compare", "gather-elements", "[[1,2]]", "[[0]]", "--axis", "1", "--as", "torch"
    )
    assert way.returncode == 0


def test_a_mask_in_place_of_indices_is_turned_into_positions() -> None:
    refused = call_gscli("gather", "[1,2]", "[true,false]").stderr.decode()
    assert "help: write the positions of true: '[0]'" in refused
    assert call_gscli("gather", "[1,2]", "[0]").returncode == 0
    for mask in ("true", "[[true]]"):
        refused = call_gscli("gather", "[1,2]", mask)
        assert refused.stderr.endswith(b"help: write the positions of true\n")
    with pytest.raises(GscliError, match=r"numpy\.flatnonzero\(indices\)"):
        gscli.gather(np.arange(3), np.array([True, False, True]))


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("numpy getitem arange:3x4 ': [1,2]'", "write : '[1,2]' in its place"),
        ("numpy getitem arange:3x4 '[1:, [[0],[1]]]'", "write 1: '[[0],[1]]' in its place"),
        ("numpy setitem arange:4 '(0,1)' 5", "write 0 1 in its place"),
        ("tf unsorted-segment-sum '[1,2,3]' '[0,1,1]' 3", "did you mean --num-segments=3?"),
        ("mxnet scatter-nd '[2,3]' '[[1,1,0],[0,1,0]]' '[2, 2]'", "did you mean --shape=2,2?"),
        ("torch index-fill '[2,3]' '[1]' 5 --dim 0", "did you mean --value=5?"),
        ("torch segment-reduce '[2.0]' '[1]' '[0]' sum", "did you mean --reduce=sum?"),
        ("explain grad gather [1.5] [0]", "gscli explain OPERATOR … --grad"),
        (
            "compare torch.index_put [1] [0] [2]",
            "it is scatter-nd there: gscli compare scatter-nd --help",
        ),
        (
            "compare index_put [1] [0] [2]",
            "it is scatter-nd there: gscli compare scatter-nd --help",
        ),
        ("grad jax at-mul [1.5] [0] [2.0]", "did you mean at-multiply?"),
        ("grad gather [1.5] [0] --explain", "did you mean --step?"),
        ("torch gather '[1,2]' 0 '[0]'", "did you mean --dim=0?"),
        (
            "openvino scatter-update [1] [0] [7] 0 [9]",
            (
                "gscli scatter-update '[[1,2,3],[4,5,6],[7,8,9]]' '[2,0]' "
                "'[[70,80,90],[10,20,30]]' 0"
            ),
        ),
        (
            "tf segment-sum '[[1,2],[3,4],[5,6]]' '[0,2,1]'",
            (
                "where ids take any order: gscli tensorflow unsorted-segment-sum --num-segments=3 "
                "'[[1,2],[3,4],[5,6]]' '[0,2,1]'"
            ),
        ),
        (
            "tf segment-sum '[1,2]' '[1,0]' --dtype float32",
            (
                "where ids take any order: gscli tensorflow unsorted-segment-sum --num-segments=2 "
                "--dtype float32 '[1,2]' '[1,0]'"
            ),
        ),
        (
            "gather '[1,2]' '[7]' --dtype int8",
            "see what others do: gscli compare gather --dtype int8 '[1,2]' '[7]'",
        ),
        (
            """tf segment-sum '[1,2]' '{"dtype":"int32","shape":[2],"data":[2147483647,0]}'""",
            "unsorted-segment-sum and its like take any order",
        ),
        ("page run.json --html lesson.html", "-o FILE names the page"),
        ("gather '[1,2]' '[0]' --dim 0", "did you mean --axis?"),
        ("torch gather '[1,2]' '[0]' --axis 0", "did you mean --dim?"),
        *(
            (f"{words} {option}", "options stand before --")
            for words in (
                "gather -- '[1,2]' '[0]'",
                "compare gather -- '[1,2]' '[0]'",
                "show -- -1",
                "explain gather -- '[1,2]' '[0]'",
                "check gather -- '[1]' '[0]'",
                "diff -- -1 -1",
                "grad gather -- '[1.0]' '[0]'",
                "verify -- lost.jsonl",
                "run -- lost",
            )
            for option in ("--json", "--json=document")
        ),
        ("gather -- '[1,2]' '[0]' -f csv", "options stand before --"),
        ("convert -- -1 - -f json", "options stand before --"),
        ("gather '[1,2]' '[0]' -o '' -f npy", "-o ./FILE"),
        ("gather '[1,2]' '[0]' --svg ''", "--svg ./FILE"),
        ("page run.json -o ''", "-o ./FILE"),
        ("batch -- lost.jsonl -q", "options stand before --"),
        ("gather -- '[1,2]' '[0]' -1", "did you mean --axis=-1?"),
        ("openvino gather '[1]' '[0]' 0 0", "did you mean --batch-dims=0?"),
        ("gather '[1,2]' '[0]' output", "did you mean --json=output?"),
        ("scatter-nd '[1,2]' '[[0]]' '[1]' --in-place direct", "did you mean --in-place=direct?"),
        *(
            (f"openvino gather '[1]' '[0]' 0 {word}", OPENVINO_GATHER)
            for word in ("axis=0", "'[0]'", "0 --batch-dims 0")
        ),
        (
            "jax at-get arange:3x4 '[0]' --unique-indices true",
            "--unique-indices says true, --no-unique-indices says false",
        ),
        (
            "torch put '[1.0]' '[0]' '[3.0]' accumulate=True",
            "--accumulate says true, --no-accumulate says false",
        ),
        ("torch scatter '[1,2]' 0 '[1]' 5", "did you mean --dim=0?"),
        ("gather arange:2x3 '[0.5]'", "indices[0] = 0.5 is not a whole number"),
        ("gather arange:2x3 '[1e30]'", "indices[0] = 1e+30 does not fit int64"),
        ("gather arange:2x3 '[Infinity]'", "indices[0] = inf is not a whole number"),
        (
            "gather arange:2x3 full:1:9223372036854775808:uint64",
            "indices[0] = 9223372036854775808 does not fit int64",
        ),
        (
            "torch scatter-reduce '[1.0]' '[0]' '[3]' --dim 0 --reduce mean --include-self=False",
            "--include-self says true, --no-include-self says false",
        ),
        (
            "torch scatter-reduce --include-self False '[1.0]' '[0]' '[3]' --dim 0 --reduce mean",
            "--include-self says true, --no-include-self says false",
        ),
        (
            "mxnet pick '[[1,2]]' '[0]' --keepdims true",
            "--keepdims says true, --no-keepdims says false",
        ),
        (
            "torch scatter '[0,0]' '[1,0]' 7 --dim 0",
            (
                "scatter takes one number for every cell as value (--value), in place of src; "
                "otherwise expand src first"
            ),
        ),
        (
            "torch scatter-add '[0,0]' '[1,0]' 7 --dim 0",
            (
                "scatter takes one number for every cell as value (--value, --reduce add), in "
                "place of src; otherwise expand src first"
            ),
        ),
        (
            "torch scatter-reduce '[0,0]' '[1,0]' 7 --dim 0 --reduce amax",
            "nothing stretches here: expand src first",
        ),
        (
            "scatter '[1]' '[0]' '[2]'",
            (
                "did you mean scatter-elements or scatter-nd or scatter-update or onnx scatter or "
                "caffe2 scatter or torch scatter or stablehlo scatter?"
            ),
        ),
        (
            "scatter-nd zeros:4x3 '[10.0,20.0,30.0]' '[[0,1],[2,2],[3,0]]'",
            "are updates and indices swapped? updates holds integers, indices does not",
        ),
        (
            "torch embedding '[[1.5,2],[3,4]]' '[[0,1]]'",
            "are weight and input swapped? weight holds integers, input does not",
        ),
        *(
            (
                f"torch {call}",
                "are weight and input swapped? weight holds integers, input does not",
            )
            for call in (
                "embedding '[[1.0,2],[3,4],[5,6]]' '[0,2,1]'",
                "embedding arange:5x3:float32 '[1,5]'",
                "embedding '[[1.5,2],[3,4]]' '[[0,3]]'",
                "embedding-bag '[[1.0,2],[3,4],[5,6]]' '[0,2,1]' '[0,2]'",
            )
        ),
        (
            "scatter-elements '[1,2,3,4,5,6]' '[5.0]' '[0]'",
            "write them as whole numbers, without a point",
        ),
        ("gather '[0,1]' '[1.0,0.0]'", "write them as whole numbers, without a point"),
        ("compare scatter-update '[1]' '[0]' '[7]' 0", "did you mean --axis=0?"),
        ("compare gather-nd '[1]' '[[0]]' 0", "gscli compare gather-nd --help"),
        (
            """grad gather '{"dtype":"complex64","shape":[1],"data":[[0,1]]}' '[0]'""",
            "gscli grad gather --help",
        ),
        (
            "grad scatter-nd '[\"a\"]' '[[0]]' '[1]'",
            (
                "an example that runs: gscli scatter-nd '[1,2,3,4,5,6,7,8]' '[[4],[3],[1],[7]]' "
                "'[9,10,11,12]'"
            ),
        ),
        ("gather '[0,1]' '[\"a\"]'", "write them as whole numbers"),
        ("gather '[1,2]' 1.5", "indices = 1.5 is not a whole number"),
        ("gather f32.npy mask.npy", "write the positions of true: '[0,2]'"),
        (
            """gather '[1,2]' '{"dtype":"bool","shape":[2],"data":[false,true]}'""",
            "write the positions of true: '[1]'",
        ),
        (
            """tf scatter-nd-add '[1]' '[[0]]' '{"dtype":"float16","shape":[1],"data":[0.5]}'""",
            "--dtype float16 converts ref and updates",
        ),
        ("torch scatter-add [0] [0] [1.5] --dim 0", "--dtype float64 converts input and src"),
        ("numpy getitem '[1,2,3]' '[1,0],::2'", "write '[1,0]' ::2 in its place"),
        ("gather-nd '[[0,1],[2,3]]' '[]'", "an empty vector would name all of data"),
        (
            "scatter-update '[[1,2,3]]' '[1.5]' '[[1,2,3]]' 0",
            "indices[0] = 1.5 is not a whole number",
        ),
        (
            "torch index-put '[[1,2],[4,5]]' '[0,-1]' '[1.5]' '[30,40]'",
            "indices_1[0] = 1.5 is not a whole number",
        ),
        (
            """torch put '[1]' 0 '{"dtype":"uint64","shape":[1],"data":[9223372036854775808]}'""",
            f"an example that runs: gscli torch put {find_operator('torch.put').example}",
        ),
        (
            """onnx scatter '{"dtype":"bfloat16","shape":[1],"data":[1]}' '[0]' '[1]'""",
            "scatter-elements takes it",
        ),
        ("tf segment-sum '[1,2]' '[true,false]'", "write them as whole numbers"),
        ("tf unsorted-segment-sum '[1]' '[true]' --num-segments 2", "write them as whole numbers"),
        (
            "torch segment-reduce '[1.0]' --lengths '[true]' --reduce sum",
            "write them as whole numbers",
        ),
        (
            "mxnet pick '[[1,2]]' '[0]' --keepdims 0",
            "--keepdims says true, --no-keepdims says false; did you mean --axis=0?",
        ),
        ("gather 'data=[1, 2]' '[0]'", "--data '[1, 2]'"),
        (
            "openvino scatter-elements-update '[10,20,30]' '[0,-1,0]' '[1,2,3]' '[1.5]'",
            "axis[0] = 1.5 is not a whole number",
        ),
        (
            "mxnet gather-nd 5 '[[0],[1]]'",
            f"an example that runs: gscli mxnet gather-nd {GATHER_ND}",
        ),
        ("mxnet take 5 '[0]'", "np-take knows both"),
        ("help index-select", "did you mean torch index-select?"),
        ("help torch.gather", "did you mean torch gather?"),
        ("rules onx", "did you mean onnx?"),
        ("rules torchh", "did you mean torch?"),
        ("cases onx", "did you mean onnx?"),
        ("fuzz onx gather --on nobody", "did you mean onnx?"),
        ("rules torch.gathr", "did you mean torch.gather or torch.scatter or torch.take?"),
    ],
)
def test_words_that_other_languages_write_get_the_word_that_is_meant(
    words: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hint_of(refusal(f"gscli {words}", capsys)[1]) == hint


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("gather [1,2] zeros:1", "gscli convert --dtype int64 zeros:1 zeros-1.int64.npy"),
        ("show full:2:0.1:float64 --dtype float32", "convert --dtype TYPE --cast lets it"),
        ("convert [1] table.csv::a", "without ::a the file becomes this array, whole"),
        ("show rand:3:seed=x", "seed=x is not understood"),
        ("verify one.jsonl --python p", "add --on R"),
        ("verify one.jsonl --patience 3", "add --on R"),
        ("verify one.jsonl --json --format github", "leave out --json"),
        ("cases onnx.gather --cases 1 -o /dev/null", "/dev/null: not a directory\n"),
    ],
)
def test_what_cannot_be_is_said_where_it_stands(
    words: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert part in refusal(f"gscli {words}", capsys)[1]


def test_rules_take_two_full_names(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = refusal("gscli rules onnx.gather torch.gather", capsys)
    assert (code, "onnx.gather" in text, "torch.gather" in text) == (0, True, True)


@pytest.mark.parametrize("count", [50, 51])
def test_check_lists_all_indices_where_a_refusal_says_so(
    count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"gather '[1]' '{[7] * count}'"
    _, told = refusal(f"gscli {words}", capsys)
    (command,) = re.findall(r"more: (gscli check.*) lists them all", told)
    place = "…" if "…" in command else "check"
    _, told = refusal(command.replace(place, f"{place} {words}").replace("… ", ""), capsys)
    assert [line.partition(": ")[2] for line in told.splitlines()[:-1]] == [
        "index out of range, legal -1 … 0"
    ] * count


def test_rules_take_the_name_that_they_print() -> None:
    shown = call_gscli("rules", "openvino.scatter_update")
    assert shown.returncode == 0
    assert b"openvino.scatter_update" in shown.stdout


def test_an_attribute_that_was_typed_is_in_the_head() -> None:
    words = ("gather", "[[1,2],[3,4]]", "[1]")
    assert call_gscli(*words, "--axis", "0").stdout.startswith(b"gather   axis=0\n")
    assert call_gscli(*words).stdout.startswith(b"gather\n")


def test_lessons_have_a_next_step(tmp_path: Path) -> None:
    """What they say next is run in a shell that has nothing else."""
    listed = call_gscli("samples").stderr.decode()
    name = re.findall(r"gscli samples (\S+);", listed)[0]
    read = call_gscli("samples", name)
    assert read.returncode == 0
    words = read.stderr.decode().partition("gscli ")[2].split()
    assert call_gscli(*words, cwd=tmp_path).returncode == 0
    (folder,) = tmp_path.glob(f"*-{name}")
    for session in parse_sessions(read.stdout.decode()):
        for exchange in session:
            if exchange.command.startswith("gscli ") and "|" not in exchange.command:
                assert call_gscli(*shlex.split(exchange.command)[1:], cwd=folder).returncode in (
                    0,
                    1,
                )


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("explain gather [1] [0] -o x.npy", "gscli explain has no use for it"),
        ("explain gather [1] [0] --step", "gscli explain has no use for it"),
        ("check gather [1] [0] --html x.html", "gscli check has no use for it"),
        ("gather [1] [0] --theme dark", "--theme is the ground of an SVG"),
        ("check gather [1] [0] --theme dark", "gscli check has no use for it"),
        ("grad gather [1] [0] --in-place -o x.npy", "gscli grad has no use for it"),
        ("--limit 1 gather [1] [0]", "--limit stands behind the command"),
        ("--code torch gather [1] [0]", "--code stands behind the command"),
        ("torch --of sum gather [1] [0]", "--of stands behind the command"),
        ("explain --code torch onnx gather [1] [0]", "--code stands behind the command"),
        ("grad --code torch gather [1.5] [0]", "--code stands behind the command"),
        ("compare --as onnx gather [1] [0]", "--as stands behind the command"),
        ("explain --step gather [1] [0]", "gscli explain has no use for it"),
        ("explain --codex torch gather [1] [0]", "no such option: --codex"),
        ("torch --dtype int32 gather [1] [0] --dim 0", "--dtype stands behind the command"),
        ("compare gather [1] [0] --theme dark", "--theme is the ground of an SVG"),
        ("compare gather [1] [0] --grad --full", "--grad prints gradients and nothing else"),
        ("compare gather [1] [0] --python python3", "--python needs --on"),
        ("compare gather [1] [0] --patience 3", "--patience needs --on"),
        ("compare gather [1] [0] --svg a --html a", "a takes one result"),
        ("gather [1] [0] -o a -f npy --svg a", "a takes one result"),
        ("convert [1] - --json", "stdout takes one result"),
        ("cases gather -o - --json", "stdout takes one result"),
        ("show [1] --theme dark", "--theme is the ground of an SVG"),
        ("gather [1] [0] --message x", "--message is what a commit of --in-place says"),
        ("grad gather [1.5] [0] --quiz", "gscli grad has no use for it"),
        ("check gather [1] [0] --strict", "gscli check has no use for it"),
        ("check gather [1] [0] --expect [1]", "gscli check has no use for it"),
        ("check gather [1] [0] --rtol 1", "gscli check has no use for it"),
        ("compare gather [1] [0] --python p", "--python needs --on"),
        ("verify x.jsonl --strict", "--strict is about a runtime"),
        ("rules --table 1 --grad", "--grad is a whole table, of gradients"),
        ("rules torch --table 1", "--table is a whole one, as Markdown"),
        ("runtimes onnx --adapter onnx", "--adapter prints a file and asks nobody"),
        ("runtimes --adapter onnx --python p", "--adapter prints a file and asks nobody"),
        ("samples first-look --answer --run", "--answer is for reading a lesson"),
        ("samples --answer", "--answer is for reading a lesson"),
        ("show [1] --stat --svg x.svg", "--stat prints a line and draws nothing"),
        ("show two.npz two.npz --svg x.svg", "one SVG shows one tensor"),
        *(
            (f"show {words}", "the tensors of two.npz are listed, not drawn")
            for words in (
                "two.npz --svg x.svg",
                "two.npz --full",
                "[1] two.npz --rows 2",
                "two.npz --precision 2",
                "two.npz --slice 0",
                "two.npz --dtype float32",
            )
        ),
        ("verify x.jsonl --format github -q", "--format is how failures are printed one by one"),
        ("verify x.jsonl --format junit", "--format does not take 'junit'"),
        ("scatter-nd [1] [[0]] [2] --in-place=foo", "--in-place does not take 'foo'"),
        ("gather [1] [0] --json --full", "no picture is drawn"),
        ("gather [1] [0] -f json --step", "no picture is drawn"),
        ("gather [1] [0] -o - -f json --show output", "no picture is drawn"),
        ("scatter-nd one.npy [[0]] [2] --in-place --precision 3", "no picture is drawn"),
        ("gather [1] [0] --json --plain", "--plain is in place of a picture"),
        ("gather [1] [0] -f json --plain", "--plain is in place of a picture"),
        ("compare gather [1] [0] --json --rows 3", "no picture is drawn"),
        ("show [1] --json --full", "no picture is drawn"),
        ("show [1] --stat --full", "--stat prints a line and draws nothing"),
        ("compare gather [1] [0] --json --lines", "--lines draws a picture"),
        ("compare gather [1] [0] --plain --lines", "--lines draws a picture"),
        ("compare gather [1] [0] --json --lines --html p.html", "--lines draws a picture"),
        ("gather [1] [0] --json=output --limit 1", "no picture is drawn"),
        ("grad gather [1.5] [0] --json=output --limit 1", "no picture is drawn"),
        ("gather [1] [0] -f json --limit 1", "no picture is drawn"),
        ("scatter-nd one.npy [[0]] [2] --in-place --limit 1", "no picture is drawn"),
        ("gather [1] [0] --json --html p.html --slice 0", "no picture is drawn"),
        ("gather [1] [0] --json --html p.html --step", "no picture is drawn"),
        ("explain gather [1] [0] --html p.html --slice 0", "no picture is drawn"),
        ("explain gather [1] [0] --slice 0", "no picture is drawn"),
        ("explain gather [1] [0] --code numpy --rows 3", "--code prints lines and nothing else"),
        ("explain gather [1] [0] --grad -v", "--grad prints a formula and nothing else"),
        ("grad gather [1.5] [0] --code torch --full", "--code prints a program and nothing else"),
        ("check gather [1] [0] -v", "gscli check has no use for it"),
        *(
            (f"check {words} {flag}", "gscli check has no use for it")
            for words in ("gather [1] [0]", "torch gather [1] [0] --dim 0")
            for flag in ("--plain", "--color never", "--palette mono", "--width 60")
        ),
        ("check model.onnx --palette mono", "gscli check has no use for it"),
        ("check model.onnx --plain", "gscli check has no use for it"),
        *(
            (f"{verb} [1] [0] --plain {flag}", f"--plain draws no picture for {flag[:6]}")
            for verb in ("gather", "compare gather")
            for flag in ("--full", "--rows 3")
        ),
        ("gather [1] [0] --plain --show output", "--plain draws no picture for --show"),
        ("gather [1] [0] --plain --edge 2 --step", "--plain draws no picture for --edge"),
        ("gather [1] [0] --plain --slice 0", "--plain draws no picture for --slice"),
        ("grad gather [1.5] [0] --plain --full", "--plain draws no picture for --full"),
        ("show [1] --plain --rows 3", "--plain draws no picture for --rows"),
        *(
            (f"{words} --full {flag} 3", "--full draws every cell")
            for words in ("show [1]", "gather [1] [0]", "grad gather [1.5] [0] --svg p.svg")
            for flag in ("--rows", "--edge")
        ),
        ("samples first-look --plain", "--plain is how --run prints"),
        ("samples --palette mono", "--palette is how --run prints"),
        ("batch --serve -q", "--serve answers every request"),
        ("gather [1] [0] --step 1 --limit 1", "--step N draws that one entry"),
    ],
)
def test_no_option_is_passed_over_in_silence(
    words: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez("two.npz", a=[1], b=[2])
    code, told = refusal(f"gscli {words}", capsys)
    first = json.loads(told)["error"]["problem"] if told.startswith("{") else told.splitlines()[0]
    assert (code, first.removeprefix("error: ")) == (2, problem)
    assert not ("--in-place" in words and "--svg" in told)  # which cannot stand together


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("gather [1] [0] --theme dark", "add --svg FILE, or leave out --theme"),
        ("show [1] --stat --theme dark", "leave out --theme"),
        ("explain gather [1] [0] --code torch --theme dark", "leave out --theme"),
        ("explain gather [1] [0] --grad --quiz", "leave out --quiz"),
        ("explain gather [1] [0] --python p", "add --check, or leave out --python"),
        ("explain gather [1] [0] --grad --python p", "leave out --python"),
        ("scatter-nd f64.npy [[0]] [1] --in-place --rtol 1", "leave out --rtol"),
        ("scatter-nd f64.npy [[0]] [1] -o o.npy -m x", "leave out --message"),
        ("scatter-nd f64.npy [[0]] [1] --in-place -m x", "leave out --message"),
        ("samples first-look --plain --answer", "leave out --plain"),
        ("samples --answer", "add NAME, or leave out --answer"),
    ],
)
def test_an_option_is_not_added_where_another_excludes_it(
    words: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hint_of(refusal(f"gscli {words}", capsys)[1]) == hint
    flag = hint.rpartition(" ")[2]
    fewer = re.sub(f" ({flag}|-m)( [a-z1]+$|$)", "", words.replace("--plain ", ""))
    assert refusal(f"gscli {fewer}", capsys)[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        "grad gather [1.5] [0] --code torch",
        "gather [1] [0] --json",
        "explain gather [1] [0] --code numpy",
        "verify nothing.jsonl --format github",
        "samples first-look",
        "gather [1] [0] --full",
        "check gather [1] [5] --limit 0",
        "compare gather [1] [0] --lines",
        "compare gather [1] [0] --lines --json --svg a.svg",
        "gather [1] [0] --full --svg a.svg",
        "show [1,2] --slice 0:1",
    ],
)
def test_what_is_set_for_every_call_makes_none_fail(
    words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("nothing.jsonl").write_text("", encoding="utf-8")
    alone = refusal(f"gscli {words}", capsys)
    assert refusal(f"gscli --plain -v -q {words}", capsys)[0] == alone[0]
    for name in ("PLAIN", "VERBOSE", "QUIET"):
        monkeypatch.setenv(f"GSCLI_{name}", "1")
    assert refusal(f"gscli {words}", capsys)[0] == alone[0]


def test_explain_rounds_the_numbers_of_its_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["explain", "gather", "[1.23456789]", "[0]", "--precision", "2"]) == 0
    assert "output[0] = 1.23\n" in capsys.readouterr().out


def test_missing_files_are_likened_by_their_stems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("table.npy", "table.csv", "ids.npy", "d02.npy", "model.npy", "nets.onnx"):
        Path(name).touch()
    for name in ("rows.py", "rows.json", "plan.sh"):
        Path(name).touch()
    Path("gone.npy").symlink_to("nowhere")
    for words, hint in {
        "show tabel.npy": "did you mean table.npy?",
        "show tabel.csv": "did you mean table.csv?",
        "show nothere.npy": "values are written as JSON",
        "show gone.npy": "values are written as JSON",
        "show rows.npy": "did you mean rows.json?",  # what holds no tensors is not meant
        "show plan.npy": "values are written as JSON",
        "gather plan.npz [0]": "values are written as JSON",
        "verify plan.sch": "did you mean plan.sh?",
        "show 0,2": "values stand in brackets: '[0,2]'",
        "batch tabel.npy": "did you mean table.npy?",
        "run netz.onnx": "did you mean nets.onnx?",
        "run modle.onnx": "what is read",
        "check modle.onnx all.npz": "what is read",
        "verify tables.jsonl": "gscli verify --help",
        "batch nothere.jsonl": "gscli batch --help",
        "verify nothere.jsonl": "gscli verify --help",
        "page [1,2] -o p.html": "gscli page --help",
        "cases gather --measure nothere": "gscli cases --help",
    }.items():
        assert hint_of(refusal(f"gscli {words}", capsys)[1]).startswith(hint)


def test_a_tolerance_makes_no_value_equal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["diff", "[1,2]", "[1,2.0000001]", "--rtol", "1e-3"]) == 1
    shown = capsys.readouterr().out.splitlines()
    allowed = "those that count as equal are apart by 1e-07 at most, at [1]"
    assert shown[1:] == [f"0 of 2 cells differ from [1,2.0000001]; {allowed}"]


def test_no_hint_of_python_changes_a_value_in_silence(tmp_path: Path) -> None:
    with pytest.raises(GscliError, match=r"indices\[0\] = 1\.5 is not a whole number"):
        gscli.gather([1, 2, 3], [1.5])
    table, ids = np.array([[0.5, 2.0], [3.0, 4.0]]), np.array([1, 0])
    for call in (partial(gscli.gather, ids, table), partial(gscli.torch.embedding, table, ids)):
        with pytest.raises(GscliError, match=r"are (data|weight) and (indices|input) swapped\?"):
            call()
    with pytest.raises(GscliError, match="where that changes no value"):
        gscli.gather(table, np.array([1.0, 0.0]))
    for data, updates, hint in (
        (np.zeros(3, np.int8), [300], r"numpy\.asarray\(data, 'int64'\)"),
        ([0, 0, 0], [2.5], r"numpy\.asarray\(data, 'float64'\)"),
        (np.zeros(3, np.int8), np.array([3]), r"numpy\.asarray\(updates, 'int8'\)"),
    ):
        with pytest.raises(GscliError, match=hint):
            gscli.scatter_nd(data, [[1]], updates)
    with pytest.raises(GscliError, match="write the positions of true"):
        gscli.torch.gather(table, 0, table > 1)
    for data, indices in (("s.npy", [0]), ([1, 2], "s.npy")):
        with pytest.raises(GscliError, match=r"gscli\.load\('s\.npy'\) reads a file"):
            gscli.gather(data, indices)
        with pytest.raises(GscliError, match=r"gscli\.load\('s\.npy'\) reads a file"):
            gscli.run("gather", {"data": data, "indices": indices}, out=tmp_path / "r.npy")
    with pytest.raises(GscliError, match=r"gscli\.load\('s\.npy'\) reads a file"):
        gscli.grad("gather", {"data": "s.npy", "indices": [0]})
    assert not (tmp_path / "r.npy").exists()
    with pytest.raises(GscliError, match=r"data\.view\('int64'\)"):
        gscli.gather(np.zeros(3, "M8[s]"), [0])
    with pytest.raises(GscliError, match="simplefilter"):
        gscli.scatter_nd([1], [[0], [0]], [1, 2], strict=True)
    warnings.simplefilter("error", gscli.GscliWarning)
    with pytest.raises(gscli.GscliWarning, match="write the same cell"):
        gscli.scatter_nd([1], [[0], [0]], [1, 2])


@pytest.mark.parametrize("words", ["compare gather [1] [0] --quiz", "convert [1] x.npy --slice 1"])
def test_options_of_other_commands_are_told_as_such(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = refusal(f"gscli {words}", capsys)
    assert code == 2
    assert " has no use for it\n" in told
    assert "did you mean" not in told


def test_texts_that_are_not_read_say_where_and_what_else_is(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.jsonl"
    jobs.write_text('{"op": "gather"}\n{"op"\n')
    missing, broken = map(json.loads, call_gscli("batch", str(jobs)).stdout.splitlines())
    assert missing["error"]["problem"] == "not a job: it has no inputs"
    assert broken["error"]["where"].startswith("line 2: ")
    empty = call_gscli("gather", "-", "[0]", stdin=b"").stderr.decode()
    assert empty.splitlines()[:2] == ["error: standard input is empty", "  --> standard input"]
    binary = call_gscli("show", "-", stdin=b"\x90\xff\x00").stderr.decode()
    assert "help: unpacked .npy, .npz, JSON and CSV are read from a pipe" in binary
    table = tmp_path / "table.csv"
    table.write_text("1,2\n,3\n")
    assert (
        "help: a missing number is written nan; a table has no empty text, .json has"
        in call_gscli("show", str(table)).stderr.decode()
    )


@pytest.mark.parametrize("file", ["two.npz", "two.h5", "two.safetensors", "two.zarr"])
def test_no_hint_about_a_file_of_several_arrays_loses_the_others(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("emb", "other"):
        gscli.save(f"{file}::{name}", np.arange(6, dtype=np.float32).reshape(3, 2))
    command = f"gscli scatter-update {file}::emb [1] [[7,8]] 0 -q"
    code, printed = refusal(f"{command} --in-place", capsys)
    way = f"without --in-place, -o {file}::emb changes this array of the file alone"
    assert (code, hint_of(printed)) == (2, way)
    job = {"op": "gather", "inputs": {"data": f"{file}::emb", "indices": [0]}, "output": file}
    Path("jobs.jsonl").write_text(json.dumps(job), encoding="utf-8")
    for line in (
        f"{command} -o ./{file}", f"gscli convert {file}::emb {file}",
        f"gscli grad gather {file}::emb [1] -o data={file}", "gscli batch jobs.jsonl",
        f"gscli gather [1,2] [0] --expect {file}::emb -o {file}",
    ):  # fmt: skip
        code, printed = refusal(line, capsys)
        assert code
        assert "with ::emb behind its name no other array changes; to replace" in printed, line
    assert not refusal(f"{command} -o {file}::emb", capsys)[0]
    assert gscli.load(f"{file}::emb").tolist() == [[0, 1], [7, 8], [4, 5]]
    assert gscli.load(f"{file}::other").tolist() == [[0, 1], [2, 3], [4, 5]]
    assert not refusal(f"{command} -o other.npy", capsys)[0]


def test_the_members_of_a_pipe_are_named_behind_standard_input(
    capsys: pytest.CaptureFixture[str],
) -> None:
    np.savez("two.npz", a=[1], b=[2])
    reader, writer = os.pipe()
    os.write(writer, Path("two.npz").read_bytes())
    os.close(writer)
    _, printed = refusal(f"gscli show /dev/fd/{reader}", capsys)
    os.close(reader)
    assert hint_of(printed) == f"-- -::a < /dev/fd/{reader}"
    read = call_gscli("show", "--json", "--", "-::a", stdin=Path("two.npz").read_bytes())
    assert json.loads(read.stdout)["data"] == [1]


@pytest.mark.parametrize("missing", ["no.npz", "no.npy", "n" * 300 + ".npy"])
def test_a_file_that_is_not_there_comes_before_the_names_of_the_other(
    missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez("two.npz", a=[1], b=[2])
    for line in (f"gscli diff two.npz {missing}", f"gscli diff {missing} two.npz"):
        code, printed = refusal(line, capsys)
        assert (code, "cannot read n" in printed) == (66, True)


def test_a_file_that_holds_every_input_or_column_is_not_replaced_by_a_result(
    capsys: pytest.CaptureFixture[str],
) -> None:
    np.savez("all.npz", data=[1, 2], indices=[0])
    Path("t.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    assert refusal("gscli gather all.npz -o all.npz", capsys)[0] == 73
    assert refusal("gscli gather t.csv::a [0] -o t.csv", capsys)[0] == 73
    assert not refusal("gscli gather all.npz -o all.npz::output", capsys)[0]
    assert sorted(np.load("all.npz")) == ["data", "indices", "output"]
    np.save("whole.npy", [1, 2])
    for call in ("scatter-elements t.csv::a [0] [9]", "jax at-divide whole.npy [0] [2]"):
        code, printed = refusal(f"gscli {call} --in-place", capsys)
        assert (code, hint_of(printed)) == (2, "without --in-place, -o FILE writes a new one")


def test_a_file_of_one_array_is_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("lone.npz", data=[1, 2])
    Path("lone.csv").write_text("a\n1\n2\n", encoding="utf-8")
    for file in ("lone.npz::data", "lone.csv::a"):
        name, _, _ = file.partition("::")
        assert not refusal(f"gscli gather {file} [1] -o {name}", capsys)[0]
        assert gscli.load(name).reshape(-1).tolist() == [2]


def test_members_of_standard_input_are_named_as_they_are_typed() -> None:
    np.savez("two.npz", emb=[1], other=[2])
    Path("t.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    for file, named in (("two.npz", ""), ("two.npz", "::ebm"), ("t.csv", "::c"), ("t.csv", "")):
        content = Path(file).read_bytes()
        hint = hint_of(
            call_gscli("gather", "--", f"-{named}", "[0]", stdin=content).stderr.decode()
        )
        word = hint.rpartition("-- ")[2].rstrip("?")
        right = call_gscli("convert", "--", word, "x.npy", stdin=content)
        assert not right.returncode, (hint, right.stderr)


def test_a_document_of_a_result_in_a_file_stands_without_more_values_than_it_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save("large.npy", np.zeros(1 << 23))
    monkeypatch.setattr(jsonarray, "MOST_VALUES", 4)
    monkeypatch.setattr(traces, "MAX_JSON_CELLS", 4)
    line, outputs = "scatter-nd {} [[0]] [9] --json{}", []
    for data, of in (("[1,2,3,4,5]", ""), ("[1,2,3,4,5]", "=output"), ("large.npy", "")):
        assert not run_safely([*line.format(data, of).split(), "-o", "n.npy"])
        document = json.loads(capsys.readouterr().out)
        outputs.append(document if of else document["output"])
        assert np.load("n.npy")[0] == 9
    assert outputs == [{"dtype": dtype, "shape": [size]} for dtype, size in (
        ("int64", 5), ("int64", 5), ("float64", 1 << 23),
    )]  # fmt: skip
    grad = "gscli grad gather [1.0,2,3,4,5] [0] --json -o g.npy"
    for refused in (line.format("[1,2,3,4,5]", ""), grad.removeprefix("gscli ")):
        code, printed = refusal(f"gscli {refused}", capsys)
        assert code == 65
        assert "-o FILE.npy of an operator" in printed
    assert not Path("g.npy").exists()


@pytest.mark.parametrize(
    "line", ["gather -odd.npy '[0]'", "show -odd.npy", "convert -odd.npy m.npy"]
)
def test_a_file_that_looks_like_an_option_is_named_otherwise(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = refusal(f"gscli {line}", capsys)
    assert code == 2
    assert hint_of(told).startswith("./-odd.npy ")
    assert refusal(f"gscli {line.replace('-odd', './-odd')}", capsys)[0] == 0


def test_opaque_elements_reach_another_type_by_way_of_safetensors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    np.save("b.npy", np.array([0.5, -2], ml_dtypes.bfloat16))
    _, told = refusal("gscli convert b.npy f.npy --dtype float32", capsys)
    command = hint_of(told).removeprefix("first ").partition(", or")[0]
    command = command.replace("IN OUT", "b.npy b")
    assert refusal(command, capsys) == (0, "")
    assert refusal("gscli convert b.safetensors f.npy --dtype float32", capsys)[0] == 0
    assert np.load("f.npy").tolist() == [0.5, -2]


@pytest.mark.parametrize(
    ("words", "called", "example"),
    [
        ("explain caffe2 scatter-assign", "explain caffe2 scatter-assign DATA", "explain caffe2"),
        ("grad tf segment-max [1.5]", "grad tensorflow segment-max DATA", "grad tensorflow"),
        ("check torch gather [1] [0] [2]", "check torch gather INPUT", "check torch gather"),
        ("check gather [1]", "check gather DATA", "check gather"),
        ("gather [1]", "gather DATA", "gather"),
        # indices have no gradient: an example of grad would be refused
        ("grad torch one-hot", "explain torch one-hot INPUT", "explain torch one-hot"),
    ],
)
def test_a_wrong_number_of_inputs_is_answered_with_the_command_that_was_called(
    words: str, called: str, example: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(words.split()) == 2
    err = capsys.readouterr().err
    assert f" gscli {called}" in err
    (way,) = re.findall(r"help: gscli (.*)", err)
    assert way.startswith(f"{example} ")
    assert run_safely(shlex.split(way)) in (0, 1)


def test_help_of_grad_says_where_no_program_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("grad", "torch", "nll-loss")
    assert run_safely([*words, "--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "(none of embedding-bag, nll-loss): all torch jax" in told
    assert run_safely([*words, "[[-1.0,-2]]", "[1]", "--reduction", "none", "--code", "all"]) == 2
    assert "a gather that computes with what it reads" in capsys.readouterr().err
