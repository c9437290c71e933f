"""Every row of a comparison is the operator's own answer."""

from __future__ import annotations

import json
import re
import tracemalloc

import numpy as np
import pytest
from recording.drawn import CALLS, compared

import gscli
from gscli.base import LimitRefused, UsageError
from gscli.cli import run_safely
from gscli.frameworks import NAMES
from gscli.frameworks.operator import ConceptName
from gscli.lab import answers, gradient_comparison
from gscli.lab.answers import comparison_to_dict
from gscli.lab.compare import compare
from gscli.lab.concepts import CONCEPTS, list_mappings
from gscli.views.lines import render_text
from gscli.views.look import ViewOptions
from gscli.views.terminal.compare import ComparisonView
from gscli.views.words.compare_words import describe_comparison


@pytest.mark.parametrize("name", CALLS)
def test_every_row_is_what_the_operator_answers(name: str) -> None:
    for group in compared(name).groups:
        for row in group.rows:
            if row.output is None:
                assert row.error is not None, row.label
                with pytest.raises(type(row.error), match=re.escape(row.error.problem)):
                    gscli.run(row.operator.full_name, row.inputs, row.attrs)
            else:
                answer = gscli.run(row.operator.full_name, row.inputs, row.attrs)
                assert row.output.dtype == answer.dtype
                np.testing.assert_array_equal(row.output, answer)


# Operators without a comparison though another framework's of that name has one, and why.
UNLIKE = {
    "onnx.scatter": "an old name of scatter_elements, which is compared",
    "tensorflow.scatter_nd_update": "variables are written as tensors are, by tensor_scatter_nd",
    "jax.lax.gather": "dimension numbers, as StableHLO's, which is compared",
    "jax.lax.scatter": "dimension numbers, as StableHLO's, which is compared",
}


def test_an_operator_is_compared_where_others_of_its_name_are() -> None:
    """If yours fails here, declare `concept_mappings`: its concept, a label, and which input is
    which.
    """
    own_name = {one: one.name.rpartition(".")[2].replace("_", "") for one in gscli.operators()}
    names = {own_name[one] for one in own_name if one.concept_mappings}
    alone = {
        one.full_name for one in own_name if own_name[one] in names and not one.concept_mappings
    }
    assert alone == set(UNLIKE)


@pytest.mark.parametrize(
    ("batch_dims", "indices"),
    [(1, [[1, 0], [0, 1]]), (-1, [[1, 0], [0, 1]]), (2, [[1, 0], [0, 1]])],
)
def test_stablehlo_says_batches_with_batching_dimensions(
    batch_dims: int, indices: list[list[int]]
) -> None:
    data = np.arange(8).reshape(2, 2, 2)
    found = compare(
        "gather",
        {"data": data, "indices": indices},
        batch_dims=batch_dims,
        only=["stablehlo", "tensorflow", "openvino"],
    )
    assert found.agree
    assert "StableHLO gather" in [row.label for row in found.rows]


@pytest.mark.parametrize("name", ["gather-nd", "scatter-nd"])
def test_a_lone_number_is_no_vector(name: ConceptName) -> None:
    inputs: dict[str, object] = {"data": [1, 2], "indices": 0, "updates": 5}
    inputs = {key: inputs[key] for key in CONCEPTS[name].inputs}
    found = compare(name, inputs)
    assert all(row.error is not None for row in found.rows)
    assert "no such shapes" in {one.reason for one in found.unsupported}


@pytest.mark.parametrize("name", ["gather-nd", "scatter-nd"])
@pytest.mark.parametrize("entries", [(), (1,), (2,)])
def test_a_tuple_without_numbers_is_one_entry(name: ConceptName, entries: tuple[int, ...]) -> None:
    indices, updates = np.zeros((*entries, 0), np.int64), np.full(entries, 9)
    inputs: dict[str, object] = {"data": np.array(5), "indices": indices, "updates": updates}
    inputs = {key: inputs[key] for key in CONCEPTS[name].inputs}
    found = compare(name, inputs)
    assert not [row for row in found.rows if "has no input" in str(row.error)]
    able = {row.label for row in found.rows if row.output is not None}
    assert any(label.startswith(("NumPy", "JAX")) for label in able) == (entries == ())
    assert "StableHLO" in {label.split()[0] for label in able}


@pytest.mark.parametrize("name", CALLS)
def test_groups_are_whole_and_apart(name: str) -> None:
    groups = compared(name).groups
    for number, group in enumerate(groups):
        assert all(group.first.has_same_result(row) for row in group.rows)
        assert not any(group.first.has_same_result(other.first) for other in groups[:number])


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("name", CALLS)
def test_screens_fit(name: str, width: int) -> None:
    options = ViewOptions(width=width, color="none")
    text = render_text(ComparisonView(compared(name), options), options)
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("name", CALLS)
def test_sentences_are_ascii(name: str) -> None:
    assert describe_comparison(compared(name), ViewOptions()).isascii()


def test_plain_is_sentences_in_any_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "gather", "[10,20,30,40]", "[0,-1,9]"]
    assert run_safely([*words, "--plain", "--width", "40", "--color", "always"]) == 1
    told = capsys.readouterr().out
    assert told == describe_comparison(compared("gather"), ViewOptions())
    assert run_safely(["--plain", *words]) == 1
    assert capsys.readouterr().out == told
    assert run_safely([*words, "--plain", "-q"]) == 1
    (summary,) = capsys.readouterr().out.splitlines()
    assert summary.startswith("6 different answers, 2 kinds of refusal by 8 rule sets.")
    assert summary.isascii()


def test_sentences_cut_long_answers_short() -> None:
    data = np.arange(200)
    told = describe_comparison(
        compare("gather", {"data": data, "indices": -1 - data}, only=["onnx", "tf"]), ViewOptions()
    )
    assert "  and 196 more such numbers.\n" in told
    assert "data is int64 with shape [200].\n" in told
    assert "; and 191 more cells.\n" in told


def test_colour_adds_nothing_but_colour() -> None:
    options = ViewOptions(width=100, color="truecolor")
    colored = render_text(ComparisonView(compared("gather"), options), options)
    plain = ViewOptions(width=100, color="none")
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    lines = [line.rstrip() for line in stripped.splitlines()]
    assert lines == render_text(ComparisonView(compared("gather"), plain), plain).splitlines()


def test_eight_rule_sets_with_their_true_answers() -> None:
    found = compared("gather")
    answers = {
        label: None if group.first.output is None else group.first.output.tolist()
        for group in found.groups
        for label in group.labels
    }
    assert answers["ONNX Gather-13"] is None
    assert answers["OpenVINO Gather-8"] == [10, 40, 0]
    assert answers["NumPy take (wrap)"] == [10, 40, 20]
    assert answers["NumPy take (clip)"] == [10, 10, 40]
    assert answers["TF gather CPU"] is None
    assert answers["TF gather GPU"] == [10, 0, 0]
    assert answers["TF gather XLA"] == [10, 10, 40]
    assert answers["MXNet take (clip)"] == [10, 10, 40]
    assert answers["Caffe2 Gather"] is None
    assert answers["PyTorch index_select"] is None
    assert answers["JAX take (fill)"] == [10, 40, np.iinfo(np.int64).min]
    assert answers["JAX x[i]"] == [10, 40, 40]
    assert len(found.groups) >= 8


def test_answers_are_held_against_the_most_common_one_or_what_was_asked_for_first() -> None:
    found = compared("gather")
    by_label = {label: group for group in found.groups for label in group.labels}
    assert found.reference is not None
    assert found.reference.label in by_label["NumPy take (clip)"].labels
    flags = found.differing_mask(by_label["OpenVINO Gather-8"])
    assert flags is not None
    assert flags.tolist() == [False, True, True]
    assert found.differing_mask(by_label["ONNX Gather-13"]) is None


def test_mxnet_reads_vectors_along_the_first_axis_both_ways() -> None:
    found = compared("gather-nd")
    rows = {row.label: row for group in found.groups for row in group.rows}
    assert rows["MXNet 1.9 gather_nd"].inputs["indices"].tolist() == [[0, 1], [1, -1]]
    assert rows["MXNet 1.9 gather_nd"].has_same_result(rows["ONNX GatherND-13"])
    zeros = compare("scatter-nd", {"data": [0, 0], "indices": [[1]], "updates": [7]})
    labels = [label for group in zeros.groups for label in group.labels]
    assert "MXNet scatter_nd (on zeros)" in labels
    assert zeros.agree


def test_only_picks_and_orders() -> None:
    inputs = {"data": [1, 2], "indices": [1]}
    found = compare("gather", inputs, only=["tf", "onnx"])
    assert found.groups[0].first.label == "TF gather CPU"
    assert found.agree
    with pytest.raises(UsageError, match="nothing called"):
        compare("gather", inputs, only=["fortran"])


@pytest.mark.parametrize(
    ("concept", "arguments", "problem"),
    [
        ("gather-nd", {"axis": 1}, "takes no axis"),
        ("scatter-nd", {"batch_dims": 1}, "needs updates"),
        ("gather-elements", {"batch_dims": 1}, "takes no batch_dims"),
        ("gather", {"reduction": "add"}, "takes no reduction"),
    ],
)
def test_arguments_that_a_concept_does_not_have(
    concept: str, arguments: dict[str, object], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        compare(concept, {"data": [[1, 2]], "indices": [[0, 0]]}, **arguments)  # type: ignore[arg-type]


def test_the_document_tells_every_row() -> None:
    found = comparison_to_dict(compared("gather"))
    again = json.loads(json.dumps(found))
    assert again["agree"] is False
    first = again["rows"][0]
    assert first["label"] == "ONNX Gather-13"
    assert first["error"]["valid"] == "-4 … 3"
    fill = next(row for row in again["rows"] if row["label"] == "OpenVINO Gather-8")
    assert fill["output"]["data"] == [10, 40, 0]
    assert fill["differs"] == [[1], [2]]
    assert again["reference"] == "NumPy take (clip)"


def test_every_concept_has_a_base_and_company() -> None:
    for concept in CONCEPTS:
        rows = [entry for _, entry in list_mappings(concept)]
        assert len({row.label for row in rows}) == len(rows) >= 4, concept


@pytest.mark.parametrize("reduction", ["div", "pow"])
def test_jax_divides_and_raises_cells(reduction: str) -> None:
    inputs = {"data": [8.0, 5.0], "indices": [[0], [0]], "updates": [2.0, 1.0]}
    (row,) = gscli.compare("scatter-nd", inputs, reduction=reduction).rows
    assert row.label == {"div": "JAX at.divide", "pow": "JAX at.power"}[reduction]
    assert row.output is not None
    assert row.output.tolist() == {"div": [4, 5], "pow": [64, 5]}[reduction]


def test_every_framework_takes_part() -> None:
    assert {operator.framework_name for operator, _ in list_mappings()} == {*NAMES}


def test_rows_that_warn_say_so_in_the_document() -> None:
    name, inputs, attrs = CALLS["scatter-nd-zeros"]
    rows = comparison_to_dict(compare(name, inputs, **attrs))["rows"]  # type: ignore[arg-type]
    warned = {row["label"]: row.get("warnings") for row in rows}  # type: ignore[attr-defined]
    assert warned["ONNX ScatterND-18"][0]["problem"] == "2 entries write the same cell"
    assert warned["TF scatter_nd CPU (on zeros)"] == []
    # compare itself has no --strict.
    assert "strict" not in json.dumps(rows)


@pytest.mark.parametrize("name", CALLS)
def test_what_answers_are_compared_with_does_not_depend_on_the_width(name: str) -> None:
    told = set()
    for width in (40, 60, 80, 120):
        options = ViewOptions(width=width, color="none")
        text = " ".join(render_text(ComparisonView(compared(name), options), options).split())
        told.add(text.partition("marks a value other than ")[2].partition(" as number")[0])
    assert len(told) == 1


def test_arrows_of_a_number_line_end_at_their_cells() -> None:
    """The coordinate above an arrow's tip is where the rule set goes, by Python's own %."""
    inputs = {"data": [10, 20, 30], "indices": [0, -1, 7]}
    options = ViewOptions(width=100, color="none", lines=True)
    lines = render_text(ComparisonView(compare("gather", inputs), options), options).splitlines()
    ruler = next(line for line in lines if line.startswith("index "))
    ends = {match.end() - 1: int(match[0]) for match in re.finditer(r"-?\d+", ruler)}
    wrapping = [line for line in lines if re.search(r"[→←]", line)]
    assert len(wrapping) >= 8
    for line in wrapping:
        tip = re.search(r"[→←]", line)
        letter = re.search(r"\b[bc](?=[┼─ ])|(?<=[─┼ ])[bc]\b", line)
        assert tip is not None
        assert letter is not None
        written, reached = ends[letter.start()], ends[tip.start()]
        assert written == {"b": -1, "c": 7}[letter[0]]
        assert reached in (written % 3, min(max(written, 0), 2))
        assert line.endswith(f" {reached}")


def test_a_large_base_is_drawn_only_when_it_is_asked_for() -> None:
    inputs = {"data": np.arange(2000).reshape(50, 40), "indices": [-1, 1]}
    found = compare("gather", inputs, axis=1, only=["numpy", "tf"])
    for options, drawn in (
        (ViewOptions(color="none"), False),
        (ViewOptions(color="none", rows=3), True),
    ):
        text = render_text(ComparisonView(found, options), options)
        assert ("output  int64 [50×2]" in text) == drawn


def test_rows_that_differ_are_listed_as_rows() -> None:
    inputs = {"data": np.arange(12).reshape(4, 3), "indices": [0, 9]}
    options = ViewOptions(color="none")
    text = render_text(ComparisonView(compare("gather", inputs, only=["jax"]), options), options)
    assert re.search(r"output\[1,:\]: \S+ \S+ \S+ ≠ \S+ \S+ \S+\n", text)


def test_a_wrong_reduction_names_the_one_that_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["compare", "scatter-nd", "[1]", "[[0]]", "[2]", "-r", "ad"]) == 2
    assert capsys.readouterr().err.endswith("help: did you mean add?\n")


def test_equal_answers_are_held_once_and_large_ones_said_in_little_memory() -> None:
    indices = np.arange(1 << 18)
    indices[[5, -1]] = -1, len(indices)
    inputs = {"data": np.linspace(0, 1, len(indices)), "indices": indices}
    tracemalloc.start()
    comparing = compare("gather", inputs)
    assert "different answers" in describe_comparison(comparing, ViewOptions())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert comparing.result_count > 3
    assert len({id(row.output) for row in comparing.rows}) == comparing.result_count + 1  # None
    assert peak < (comparing.result_count + 10) * indices.nbytes


def test_a_comparison_of_cells_that_all_differ_takes_little_memory() -> None:
    data = np.zeros(1 << 18, np.int64)
    inputs = {"data": data, "indices": np.arange(len(data)) - len(data), "updates": data + 1}
    comparing = compare("scatter-update", inputs, only=["jax", "stablehlo"])
    tracemalloc.start()
    describe_comparison(comparing, ViewOptions())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * data.nbytes


def test_the_limit_holds_for_all_different_answers_together() -> None:
    inputs = {"data": np.arange(1000), "indices": np.array([0, -1, 1000] * 100)}
    with pytest.raises(LimitRefused, match="different ones together: 7,200 bytes"):
        compare("gather", inputs, max_bytes=7000)
    with pytest.raises(LimitRefused, match="output int64"):
        compare("gather", inputs, max_bytes=2000)
    assert len(compare("gather", inputs, max_bytes=7000, only=["numpy"]).rows) == 3


@pytest.mark.parametrize(("words", "text"), [
    (["gather", "[1,2,3]", "[0,1]", "--lines"], "--lines draws one short axis"),
    (["take", "[[1,2],[3,4]]", "[0,3]"], "another shape: [2,2]  1 2 0 0"),
    (["gather", "[1,2,3]", "[0]", "--axis", "3"], "All 20 rule sets with a row refuse."),
    (["gather-elements", "[[1]]", "[0]", "--as", "onnx,torch"],
     "\n  data has 2 axes, indices has 1: indices needs as many axes as data\n"),
])  # fmt: skip
def test_lines_that_are_not_drawn_and_other_shapes_are_told(
    words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_safely(["compare", *words])
    assert text in capsys.readouterr().out


@pytest.mark.parametrize(("words", "status"), [
    (["[0,9]"], 1), (["[5,9]"], 1), (["[5,9]", "--as", "onnx,torch"], 1),
    (["[5,9]", "--as", "onnx"], 1), (["[0,1]", "--as", "onnx,torch"], 0),
    (["[5,9]", "--opset", "11,13"], 0),
])  # fmt: skip
def test_a_rule_set_of_as_that_has_no_answer_is_no_agreement(words: list[str], status: int) -> None:
    assert run_safely(["compare", "gather", "[10,20,30]", *words, "-q"]) == status


@pytest.mark.parametrize(
    "names", [("onnx", "onnx"), ("torch", "pytorch"), ("np", "numpy"), ("onnx", "onnx gather")]
)
def test_a_framework_that_is_named_twice_answers_once(names: tuple[str, str]) -> None:
    inputs = {"data": [[1, 2], [3, 4]], "indices": [0, 1]}
    scattered = {"data": [1, 2], "indices": [[0]], "updates": [5]}
    rows = [compare("gather", inputs, only=only).rows for only in (names, names[:1])]
    labels, alone = [[row.label for row in found] for found in rows]
    assert labels == alone
    missing = compare("scatter-nd", scattered, only=["onnx", "caffe2", "caffe2"]).unsupported
    assert [row.label for row in missing] == ["Caffe2"]


def test_a_large_answer_stands_in_json_without_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (answers, gradient_comparison):
        monkeypatch.setattr(module, "MOST_VALUES", 1)
    words = ["compare", "gather", "[10,20,30,40]", "[0,-1,9]", "--json"]
    assert run_safely(words) == 1
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {"dtype": "int64", "shape": [3]} in [row.get("output") for row in rows]
    assert {len(row.get("differs") or ()) for row in rows} == {0, 1}
    assert run_safely(["compare", "gather", "arange:3", "[0]", "--json", "--grad"]) == 0
    gradients = json.loads(capsys.readouterr().out)["rows"][0]["gradients"]
    assert gradients["data"] == {"dtype": "float64", "shape": [3]}
