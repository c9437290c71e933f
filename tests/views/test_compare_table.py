"""The table of a comparison: who agrees with whom, and for which index not."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from looks import look_of

from gscli.base.arrays import Array, Arrays
from gscli.base.records import Arguments
from gscli.cli import run_safely
from gscli.frameworks.execute import execute
from gscli.frameworks.operator import Operator
from gscli.lab.answers import ComparisonResult
from gscli.lab.compare import compare
from gscli.plan.plan import ValidatedPlan
from gscli.views.lines import render_text
from gscli.views.look import ViewOptions
from gscli.views.page import render_page
from gscli.views.terminal.compare import ComparisonView
from gscli.views.words.compare_words import describe_comparison


def gathered(data: Any, indices: Any, **attributes: Any) -> ComparisonResult:
    return compare("gather", {"data": data, "indices": indices}, **attributes)


def screen(comparing: ComparisonResult, width: int = 100, *, lines: bool = False) -> list[str]:
    options = ViewOptions(width=width, color="none", lines=lines)
    return render_text(ComparisonView(comparing, options), options).splitlines()


def body(lines: list[str]) -> list[str]:
    """The lines from the heads of the table on."""
    return lines[4:]


@pytest.mark.parametrize("width", [80, 100, 120])
def test_the_first_view_is_a_table_and_number_lines_are_asked_for(width: int) -> None:
    comparing = gathered([10, 20, 30], [0, -1, 7])
    heads, *rows = body(screen(comparing, width))
    assert heads.split() == ["a", "0", "b", "-1", "c", "7"]
    assert not any(row.startswith("index ") for row in rows)
    assert rows[-1].strip() == "as number lines: --lines"
    drawn = screen(comparing, width, lines=True)
    assert any(row.startswith("index ") for row in drawn)
    assert not any("--lines" in row for row in drawn)


def test_a_value_stands_beside_what_became_of_its_number() -> None:
    rows = {
        row.split("  ")[0]: row.split()[-7:] for row in screen(gathered([10, 20, 30], [0, -1, 7]))
    }
    assert rows["JAX x[i]"] == ["from", "the", "end", "30", "to", "the", "edge"]
    assert rows["TF gather GPU"][-4:] == ["outside", "≠", "0", "outside"]
    assert rows["NumPy take (wrap),"][-4:] == ["20", "7", "mod", "3"]


def test_rows_of_several_legal_ranges_say_what_is_true_of_all() -> None:
    inputs = {"data": [1, 2, 3], "indices": [[0], [5]], "updates": [10, 20]}
    lines = screen(compare("scatter-nd", inputs, only=["tf", "jax"]), 200)
    assert any("b: 5 is outside: dropped" in line for line in lines)


@pytest.mark.parametrize("words", ["--show data", "--rows 1", "--full"])
def test_a_table_has_the_picture_of_the_first_above_it_where_one_is_asked_for(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["compare", "gather", "[1,2,3]", "[7]", "--as", "jax"]
    assert run_safely(call) == 1
    table = capsys.readouterr().out.partition("\n\n")[2]
    assert run_safely([*call, *words.split()]) == 1
    text = capsys.readouterr().out
    assert text.partition("\n\n")[2].startswith("JAX x[i]: what the others are compared with\n\n")
    assert text.endswith(table)


def test_a_number_that_stops_at_an_end_did_not_count_from_it() -> None:
    """-4 is cell 0 of four cells, both counted from the end and clipped."""
    comparing = gathered([10, 20, 30, 40], [-4], only=["NumPy take (clip)", "NumPy take (wrap)"])
    clipped, wrapped = body(screen(comparing))[1:3]
    assert clipped.endswith("10  to the edge")
    assert wrapped.endswith("10  from the end")


def test_the_largest_group_is_first_and_what_the_others_are_compared_with() -> None:
    text = " ".join(" ".join(screen(gathered([10, 20, 30], [0, -1, 7]))).split())
    assert text.index("NumPy take (clip)") < text.index("OpenVINO Gather-7") < text.index("ONNX")
    assert "a value other than NumPy take (clip)'s, the most" in text
    assert "6 different answers, 2 kinds of refusal by 8 rule sets." in text


@pytest.mark.parametrize("width", range(40, 101, 5))
def test_no_word_of_a_label_is_broken(width: int) -> None:
    inputs = {"data": np.arange(3), "indices": np.array([0, -1]), "updates": np.array([5, 6])}
    assert "ScatterElementsUpdate-12" in " ".join(
        screen(compare("scatter-elements", inputs), width)
    )


def test_what_is_asked_for_first_stays_first() -> None:
    comparing = gathered([10, 20, 30], [0, -1, 7], only=["torch", "jax"])
    assert body(screen(comparing))[1].startswith("PyTorch")
    comparing = gathered([10, 20, 30], [0, -1, 1], only=["onnx", "tf"])
    assert screen(comparing)[-2].endswith("a value other than ONNX Gather-13's.")


def test_columns_that_are_alike_are_left_out_where_they_have_no_room() -> None:
    comparing = gathered(np.arange(10, 60, 10), [0, 1, 2, 3, -1, *[2] * 9])
    heads, *rows = body(screen(comparing, 80))
    assert heads.split()[:2] == ["e", "-1"]
    shown = len(heads.split()) // 2
    assert f"⋯ {14 - shown} more columns, all alike" in rows
    assert body(screen(comparing, 200))[0].split()[::2] == list("abcdefghijklmn")


def test_a_number_that_fills_the_line_has_a_name() -> None:
    filled = gathered([10, 20, 30], [0, 7], only=["JAX take (fill)", "JAX take (wrap)"])
    for text in ("\n".join(screen(filled)), describe_comparison(filled, ViewOptions())):
        assert "least int64" in text
        assert "-9223372036854775808" not in text
    table = render_page([filled]).partition("<table")[2].partition("</table>")[0]
    assert ">least int64<" in table
    slices = gathered(np.arange(192).reshape(12, 16), [0, 40], only=["jax"])
    assert any("output[1,:]: 16 times least int64 ≠" in row for row in screen(slices))


def test_each_group_begins_in_bold() -> None:
    options = ViewOptions(width=100)
    drawn = render_text(ComparisonView(gathered([10, 20, 30], [0, -1, 7]), options), options)
    assert look_of(drawn, "NumPy take (clip),").bold
    assert look_of(drawn, "JAX x[i]").bold
    assert not look_of(drawn, "MXNet np.take (clip),").bold


def test_sentences_say_all_of_a_group_in_one() -> None:
    lines = describe_comparison(gathered([10, 20, 30], [0, -1, 7]), ViewOptions()).splitlines()
    (told,) = [line for line in lines if line.startswith("JAX x[i]")]
    assert told == (
        "JAX x[i] answers: entry a reads 10; entry b reads 30 (from the end), which differs; "
        "entry c reads 30 (to the edge)."
    )


@pytest.mark.parametrize(
    ("only", "sentence"),
    [
        ("torch,jax", "1 rule set answers; no row for JAX, asked for."),
        ("torch,jax,onnx", "Both rule sets with a row agree; no row for JAX, asked for."),
        ("torch,onnx", "Both rule sets agree."),
    ],
)
def test_the_verdict_says_why_it_is_no(
    only: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", "scatter-elements", "[1]", "[0]", "[2]", "-r", "add", "--as", only, "-q"]
    assert run_safely(words) == int("jax" in only)
    assert capsys.readouterr().out == f"{sentence}\n"


def test_lines_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["compare", "gather", "[10,20,30]", "[0,-1,7]", "--lines"]) == 1
    assert "wrap around" in capsys.readouterr().out
    assert run_safely(["compare", "gather", "[10,20,30]", "[0,-1,7]", "--lines", "--svg", "-"]) == 1
    assert ">wrap<" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "gather", "[10,20,30]", "[0,-1,7]"],
        ["compare", "gather", "[[1,2],[3,4]]", "[0,0]", "--lines"],
        ["gather", "arange:100x40", "arange:60"],
    ],
    ids=["table", "lines", "map"],
)
def test_a_figure_names_no_options_of_the_screen(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A slide or a paper has no command line to try them on."""
    run_safely(words)
    shown = capsys.readouterr().out
    assert any(word in shown for word in ("--lines", "--rows"))
    run_safely([*words, "--svg", "-", "-q"])
    drawn = "".join(re.findall(">([^<]+)<", capsys.readouterr().out))
    assert "indices" in drawn
    assert "--" not in drawn
    assert "explain" not in drawn


def test_an_equal_value_of_another_shape_is_no_other_value() -> None:
    """PyTorch's index_select makes an axis of an index that has none."""
    comparing = gathered([5.0], 0, only=["onnx", "torch"])
    for text in (
        "\n".join(screen(comparing)),
        describe_comparison(comparing, ViewOptions()),
        render_page([comparing]),
    ):
        assert "another shape: [1]  5" in text
        assert "≠ 5" not in text
        assert "which differs" not in text


@pytest.mark.parametrize("columns", [2, 60])
def test_answers_whose_texts_are_equal_tell_their_element_types(columns: int) -> None:
    def run(operator: Operator, arrays: Arrays, attrs: Arguments) -> tuple[ValidatedPlan, Array]:
        plan, output = execute(operator, arrays, attrs)
        return plan, output.astype("int32") if operator.framework_name == "numpy" else output

    comparing = gathered([7, 8], [0, 1] * (columns // 2), only=["onnx", "numpy"], run=run)
    told = "Answers of different element types: ONNX Gather-13 in int64; NumPy take"
    options = ViewOptions(width=200)
    for text in (
        "\n".join(screen(comparing, 200)),
        describe_comparison(comparing, options),
        render_page([comparing]),
    ):
        assert told in text
    alike = gathered([7, 8], [0, 1], only=["onnx", "numpy"])
    assert "element types" not in describe_comparison(alike, options)


def test_reasons_are_no_strip_where_values_can_tell_below_what_led_to_them() -> None:
    inputs = {"data": [[1, 2], [3, 4]], "indices": [[0, 1], [1, -1], [2, 0]]}
    lines = body(screen(compare("gather_nd", inputs), 120))
    assert lines[1].endswith("refused      legal -2 … 1; OpenVINO GatherND-8")
    assert lines.index("") == 13  # and 17 with a strip of 14 columns
    # Where they cost no line all stands in one.
    short = body(screen(gathered([10, 20, 30], [0, -1, 7], only=["onnx", "stablehlo"]), 100))
    assert short[1].endswith("refused                   legal -3 … 2")
