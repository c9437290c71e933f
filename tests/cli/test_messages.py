"""Errors and warnings as people read them."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import pytest
from looks import bare, look_of
from rich.cells import cell_len
from rich.style import Style
from shell import call_gscli

from gscli.base import (
    CaretLine,
    ExitCode,
    GscliError,
    IndexRefused,
    Notice,
    ShapeRefused,
    UsageError,
)
from gscli.base.messages import format_message
from gscli.cli import run_safely

OUT_OF_RANGE = IndexRefused(
    "index out of range",
    where="idx.npy: indices[3,0] = 5",
    details=(CaretLine("indices[3] = (5, 0)", 13, 1), "axis 0 of data has size 4"),
    valid="-4 … 3",
    hint="--mode drop|clip|zero, or see what others do: gscli compare scatter-nd data.npy idx.npy",
)
WRONG_SHAPE = ShapeRefused(
    "updates has the wrong shape",
    where="updates [4,3]",
    details=("[4,3]   got", "[4,5]   wanted = indices.shape[:-1] [4] + data.shape[1:] [5]"),
    valid="[4,5]",
)
TWICE = Notice(
    "2 entries write the same cell",
    details=("a: indices[0] = (0, 1)   and   c: indices[2] = (0, 1)", "here the last one (c) won"),
    hint="--reduction add|mul|max|min defines it",
)


def test_index_error() -> None:
    assert format_message(OUT_OF_RANGE, color=False, width=80) == (
        "error: index out of range\n"
        "  --> idx.npy: indices[3,0] = 5\n"
        "   |  indices[3] = (5, 0)\n"
        "   |               ^ axis 0 of data has size 4: valid are -4 … 3\n"
        "  help: --mode drop|clip|zero, or see what others do: gscli compare scatter-nd\n"
        "        data.npy idx.npy\n"
    )


def test_shape_error() -> None:
    assert format_message(WRONG_SHAPE, color=False, width=80) == (
        "error: updates has the wrong shape\n"
        "  --> updates [4,3]\n"
        "   |  [4,3]   got\n"
        "   |  [4,5]   wanted = indices.shape[:-1] [4] + data.shape[1:] [5]\n"
        "   |  valid: [4,5]\n"
    )


def test_warning() -> None:
    assert format_message(TWICE, color=False, width=80) == (
        "warning: 2 entries write the same cell\n"
        "   |  a: indices[0] = (0, 1)   and   c: indices[2] = (0, 1)\n"
        "   |  here the last one (c) won\n"
        "  help: --reduction add|mul|max|min defines it\n"
    )


def test_three_findings_keep_their_carets() -> None:
    details = (
        CaretLine("i[0] = 9", 7, 1),
        CaretLine("i[1] = 8", 7, 1),
        "axis 0 of data has size 4",
    )
    text = format_message(
        IndexRefused("out", details=details, valid="0 … 3"), color=False, width=80
    )
    assert text.splitlines()[1:] == [
        "   |  i[0] = 9",
        "   |         ^",
        "   |  i[1] = 8",
        "   |         ^",
        "   |  axis 0 of data has size 4",
        "   |  valid: 0 … 3",
    ]


@pytest.mark.parametrize("indices", ["[0]", "[0,1]"])
def test_an_empty_axis_is_told_in_one_sentence(
    indices: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(["gather", "[]", indices]) == 65
    told = capsys.readouterr().err
    assert "axis 0 of data is empty: no index is valid\n" in told
    assert "none" not in told


@pytest.mark.parametrize(
    ("word", "typed"), [("-1", "-1"), ("-::b", "-::b"), ('-::a,"b, c"', "'-::a,\"b, c\"'")]
)
def test_an_input_that_begins_with_a_dash_is_shown_as_a_shell_reads_it(
    word: str, typed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(["gather", word, "[0]"]) == ExitCode.USAGE
    assert " ".join(capsys.readouterr().err.split()).endswith(f" after all options: -- {typed}")


def test_colour_only_styles_words() -> None:
    text = format_message(OUT_OF_RANGE, color=True, width=80)
    assert bare(text) == format_message(OUT_OF_RANGE, color=False, width=80)
    error, problem, hint = (
        look_of(text, words) for words in ("error: ", OUT_OF_RANGE.problem, "  help: ")
    )
    warning = look_of(format_message(TWICE, color=True, width=80), "warning: ")
    assert all(look.bold for look in (error, problem, hint, warning))
    colours = [look.color and look.color.number for look in (error, problem, hint, warning)]
    red, yellow, cyan = 1, 3, 6  # as terminals number them
    assert colours == [red, None, cyan, yellow]


@pytest.mark.parametrize("error", [OUT_OF_RANGE, WRONG_SHAPE, TWICE])
@pytest.mark.parametrize("width", [40, 50, 79])
def test_no_line_is_wider_than_asked(error: GscliError, width: int) -> None:
    text = format_message(error, color=False, width=width)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    assert error.problem.split()[-1] in flat
    assert all(word in flat for word in error.hint.split())


@pytest.mark.parametrize("width", [40, 43, 50, 79])
def test_a_list_longer_than_a_line_is_broken_between_numbers(width: int) -> None:
    numbers = [10**9 + n for n in range(40)]
    hint = f"gscli gather '{json.dumps(numbers, separators=(',', ':'))}'"
    text = format_message(UsageError("no", hint=hint), color=False, width=width)
    pasted = shlex.split(text.partition("help: ")[2])
    assert json.loads(pasted[2]) == numbers


@pytest.mark.parametrize("place", [3, 60, 300])
def test_a_caret_far_to_the_right_still_points(place: int) -> None:
    line = "x" * place + "9" + "y" * 20
    text = format_message(
        IndexRefused("out", details=(CaretLine(line, place, 1),)), color=False, width=50
    ).splitlines()
    assert text[1][text[2].index("^")] == "9"
    assert max(map(len, text)) <= 50


def test_names_cannot_steer_the_terminal() -> None:
    error = UsageError("no \x1b[31mred", where="a\rb\x07", details=("\x9b2J",), hint="\u202eabc")
    text = format_message(error, color=False, width=80)
    assert all(character == "\n" or character.isprintable() for character in text)
    assert "\\x1b[31mred" in text


def test_wide_characters_take_two_cells() -> None:
    name = "日本語のファイル " * 9
    text = format_message(UsageError(name, where=name, details=(name,)), color=False, width=60)
    assert max(map(cell_len, text.splitlines())) <= 60
    assert text.count("日本語") == 27


def test_ascii_terminals() -> None:
    text = format_message(OUT_OF_RANGE, color=False, width=80, utf8=False)
    assert text.isascii()
    assert "-4 ... 3" in text


def test_messages_need_neither_numpy_nor_rich() -> None:
    code = (
        "import sys, gscli.cli.messages; print([m for m in ('numpy', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_carets_are_coloured_like_the_word() -> None:
    text = format_message(OUT_OF_RANGE, color=True, width=80)
    assert look_of(text, "^") == look_of(text, "error: ")
    assert look_of(text, " axis 0") == Style()
    text = format_message(UsageError("p", details=("x ^ y",)), color=True, width=80)
    assert look_of(text, "^") == Style()


@pytest.mark.parametrize(
    ("words", "valid"),
    [
        (("cases", "onnx.gather", "--cases", "0"), "1 … 100000"),
        (("fuzz", "onnx", "--on", "numpy", "--repeat", "x"), "1 and more"),
        (("compare", "gather", "[1,2]", "[0]", "--axis", "x"), "…, -1, 0, 1, …"),
        (("gather", "[1,2]", "[0]", "--rows", "-1"), "0 and more"),
        (("gather", "[1,2]", "[0]", "--width", "20"), "40 and more"),
    ],
)
def test_every_option_refuses_a_wrong_number_in_the_same_words(
    words: tuple[str, ...], valid: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(words) == ExitCode.USAGE
    flag, value = words[-2:]
    kind = "another" if value.removeprefix("-").isdigit() else "a whole"
    expected = [f"error: {flag[2:]} takes {kind} number", f"  --> {flag} {value}",
                f"   |  valid: {valid}"]  # fmt: skip
    assert capsys.readouterr().err.splitlines()[:3] == expected


@pytest.mark.parametrize(
    ("words", "both"),
    [
        ("compare gather [1] [0] --on onnx --on numpy", "--on=onnx --on=numpy"),
        ("gather [1] [0] -a 0 -q --axis 1 -q", "--axis=0 --axis=1"),
        ("gather [1] [0] -a 0 -q --axis 0 -q", ""),
        ("--width 50 gather [1] [0] --width 60 -q", ""),
        ("torch scatter-reduce [1.0] [0] [3.0] --reduce sum --include-self --no-include-self",
         "--include-self --no-include-self"),
    ],
)  # fmt: skip
def test_an_option_with_two_values_is_refused(
    words: str, both: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(words.split()) == (2 if both else 0)
    flag = both.partition(" ")[0].partition("=")[0]
    expected = f"error: {flag} stands twice\n  --> {both}\n  help: leave one out\n" * bool(both)
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("--color nope gather [1] [0]", "gscli"),
        ("gather [1] [0] --width x", "gscli gather"),
        ("tf gather-nd --width x", "gscli tf gather-nd"),
        ("explain torch gather --width x", "gscli explain torch gather"),
        ("compare gather --axis x", "gscli compare gather"),
        ("show", "gscli show"),
    ],
)
def test_a_refusal_without_a_word_of_its_own_names_the_help_of_its_command(
    words: str, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(words.split()) == 2
    assert capsys.readouterr().err.endswith(f"  help: {path} --help\n")


def test_items_of_a_subscript_that_stand_in_one_word_are_taken_apart() -> None:
    words = ("explain", "numpy", "setitem", "[[1,2,3],[4,5,6]]", "[:, [0,2]]", "[[7],[8]]")
    refused = call_gscli(*words)
    assert refused.stderr.decode().splitlines() == [
        "error: each item of a subscript is a word of its own",
        "  --> [:, [0,2]]",
        "  help: write : '[0,2]' in its place",
    ]
    assert call_gscli(*words[:4], ":", "[0,2]", words[-1]).returncode == 0
