from __future__ import annotations

import html
import json
import random
import re
from base64 import b64encode
from collections import Counter
from contextlib import suppress
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import FRAMEWORKS, arguments, load_cases, operator_name, slow
from page.examples import EXAMPLES, HOSTILE, added, averaged, dropped, gathered, large, sliced
from recording.scenes import outside

from gscli import trace
from gscli.base import ContentRefused, GscliError, LimitRefused, UsageError
from gscli.cli import run_safely
from gscli.files.formats import jsonarray
from gscli.gradients.call import trace_gradients
from gscli.lab import documents
from gscli.lab.documents import replay_trace
from gscli.lab.expectation import OutputDiagnosis
from gscli.traces import Trace
from gscli.views.look import ViewOptions
from gscli.views.page import render_page
from gscli.views.page.sheets import TraceView
from gscli.views.summary import describe_purpose
from gscli.views.terminal.explain import Explanation
from gscli.views.words.gradient_words import make_flow

VOID = {"meta", "input", "br"}


class Reader(HTMLParser):
    """The elements of a page; refuses unbalanced markup and double ids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []
        ids = Counter(attrs["id"] for _, attrs in self.elements if "id" in attrs)
        assert not [name for name, count in ids.items() if count > 1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]

    @property
    def cells(self) -> list[dict[str, str | None]]:
        """Cells of tensors: neither gaps nor corners."""
        return [attrs for attrs in self.all("td") if "gap" not in (attrs.get("class") or "")]

    @property
    def labels(self) -> list[str]:
        return [label for attrs in self.all("td") if (label := attrs.get("aria-label"))]


def facts(text: str) -> list[dict[str, Any]]:
    """The JSON of every section."""
    return [json.loads(found) for found in re.findall(r'class="facts">(.*?)</script>', text)]


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("quiz", [False, True])
def test_a_small_page_is_whole_balanced_and_small(name: str, quiz: bool) -> None:
    text = render_page([EXAMPLES[name]()], quiz=quiz)
    reader = Reader(text)
    assert [attrs["lang"] for attrs in reader.all("html")] == ["en"]
    assert len(reader.all("h1")) == 1
    assert all(attrs["role"] == "grid" for attrs in reader.all("table"))
    assert len(reader.all("caption")) == len(reader.all("table"))
    assert len(text.encode()) <= (65_000 if name != "sliced" else 82_000)


def test_nothing_comes_from_outside_and_only_our_script_runs() -> None:
    text = render_page([added()])
    assert not re.search(r"\b(src|href|srcset|action)\s*=|url\(|@import|<link|<base|<iframe", text)
    policy = next(attrs["content"] for attrs in Reader(text).all("meta") if "http-equiv" in attrs)
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(sha256(body.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert not re.search(r"\s(on[a-z]+|style)=\"", text)


def test_every_cell_says_where_it_is_what_it_holds_and_who_touches_it() -> None:
    reader = Reader(render_page([added()]))
    assert len(reader.cells) == 8 + 4 + 12
    assert reader.labels == [
        "indices 3,0 is -1, counts from the end, entry d",
        "output 0,1 is 41, entry a and c",
        "output 2,2 is 21, entry b",
        "output 3,0 is 41, entry d",
    ]
    assert reader.text["th"][:4] == ["row", "column", "add", "0"]
    assert reader.text["i"][:4] == ["a", "b", "c", "d"]


def test_skipped_entries_are_struck_through() -> None:
    text = render_page([dropped()])
    cells = [attrs for attrs in Reader(text).all("td") if "drop" in (attrs.get("class") or "")]
    assert [attrs["aria-label"] for attrs in cells] == [
        "indices 1,0 is 5, out of range, entry b",
        "updates 1 is 20, dropped, entry b",
    ]
    assert "5 on axis 0 of size 3 is outside, so updates[1] = 20 is dropped" in text


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "label"),
    [
        ("torch.embedding", {"input": [1, 0], "weight": [[1.0], [2.0]]}, {"padding_idx": 0},
         "input 1 is 0, ignored, entry b"),
        ("tensorflow.unsorted_segment_sum", {"data": [1, 2], "segment_ids": [0, -1]},
         {"num_segments": 1}, "segment_ids 1 is -1, below zero, entry b"),
        ("jax.take", {"a": [1, 2], "indices": [9]}, {"mode": "clip"},
         "indices 0 is 9, moved to an end, entry a"),
        ("numpy.take", {"a": [1, 2], "indices": [5]}, {"mode": "wrap"},
         "indices 0 is 5, wraps around, entry a"),
    ],
)  # fmt: skip
def test_a_number_is_told_as_what_became_of_it(
    name: str, inputs: dict[str, object], attributes: dict[str, object], label: str
) -> None:
    run = trace(name, inputs, attributes)
    flow = make_flow(trace_gradients(run)) if name == "torch.embedding" else run
    assert label in {attrs.get("aria-label") for attrs in Reader(render_page([flow])).cells}


def test_a_filled_result_is_not_struck_through() -> None:
    found = trace(
        "tensorflow.gather", {"params": [10, 20, 30], "indices": [0, 7]}, {"device": "gpu"}
    )
    cells = {attrs["aria-label"]: attrs["class"] for attrs in Reader(render_page([found])).cells
             if "aria-label" in attrs}  # fmt: skip
    assert cells["output 1 is 0, filled, entry b"] == "n1 x fill"
    assert "drop" in str(cells["indices 1 is 7, out of range, entry b"])


def test_many_entries_of_one_cell_are_counted() -> None:
    found = trace("onnx.gather", {"data": [7], "indices": [0] * 9})
    assert (
        '<i class="c0" data-t="a"></i><i class="m" data-t="+7"></i><i class="c1" data-t="i"></i>'
    ) in render_page([found])


def test_planes_have_captions_and_batches_are_named() -> None:
    found = trace(
        "onnx.gather_nd",
        {"data": np.arange(8).reshape(2, 2, 2), "indices": [[0], [1]]},
        {"batch_dims": 1},
    )
    text = render_page([found])
    assert "<caption>data[1,:,:] <small>batch 1</small></caption>" in text
    assert "data 1,1,0 is 6, entry b" in Reader(text).labels


def test_rows_that_are_batches_are_named() -> None:
    inputs = {"data": [[1, 2], [3, 4]], "indices": [[0], [1]]}
    text = render_page([trace("onnx.gather_nd", inputs, {"batch_dims": 1})])
    assert text.count('<th scope="row"><small>batch</small> 1</th>') == 2
    found = trace("tensorflow.gather", {"params": [[1, 2], [3, 4]], "indices": [[0, 0], [1, 0]]},
                  {"batch_dims": 1, "axis": 1})  # fmt: skip
    assert render_page([found]).count("<small>batch</small> 0") == 3


def test_strings_stay_text() -> None:
    text = render_page([EXAMPLES["hostile"]()])
    reader = Reader(text)
    assert not reader.all("img")
    assert len(reader.all("script")) == 2
    assert "\u2028" not in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    assert facts(text)[0]["entries"][0]["value"].startswith('"&amp;')
    assert all(html.escape(hostile[:8]) in text for hostile in HOSTILE[:2])


def test_a_title_and_names_of_attributes_are_escaped() -> None:
    text = render_page([added()], title="<b>\x1b[31m & co")
    assert "<title>&lt;b&gt;\\x1b[31m &amp; co</title>" in text
    assert "<h2" in text


def test_the_replay_goes_from_data_to_the_result() -> None:
    found = TraceView(added(), ViewOptions())
    assert [cell.initial_text for cell in found.output.cells.values()] == ["1"] * 12
    assert found.steps == [{(0, 1): "11"}, {(2, 2): "21"}, {(0, 1): "41"}, {(3, 0): "41"}]
    (fact,) = facts(render_page([added()]))
    assert fact["opening"] == "Nothing is written yet: output is a copy of data."
    assert fact["finish"] == ""


def test_a_gather_is_replayed_from_nothing() -> None:
    found = TraceView(gathered(), ViewOptions())
    assert [cell.initial_text for cell in found.output.cells.values()] == [""] * 6
    assert found.steps[0] == {(0, 0): "5", (0, 1): "6"}


def test_a_mean_is_the_mean_so_far_as_on_the_terminal() -> None:
    found = TraceView(averaged(), ViewOptions())
    assert [list(step.values()) for step in found.steps] == [["1.5"], ["3.0"], ["4.0"]]
    assert "(1 + 2) / 2 =" in render_page([averaged()])


@pytest.mark.parametrize("some", [slice(1), *slow([slice(1, None)])], ids=["first", "others"])
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_last_step_is_the_output_of_every_operator(framework: str, some: slice) -> None:
    by_operator: dict[str, list[Any]] = {}
    for case in load_cases(framework):
        if "output" in case:
            by_operator.setdefault(operator_name(case), []).append(case)
    drawn = 0
    for name, cases in by_operator.items():
        for case in cases[:: max(1, len(cases) // 3)][some]:
            inputs, attrs = arguments(case)
            try:
                found = trace(name, inputs, attrs)
            except GscliError:
                continue
            scene = TraceView(found, ViewOptions())
            last = {at: cell.initial_text for at, cell in scene.output.cells.items()}
            for step in scene.steps:
                last |= step
            told = len(scene.steps) == found.entry_count
            assert not told or last == {at: cell.text for at, cell in scene.output.cells.items()}, (
                case["id"]
            )
            reader = Reader(render_page([found]))
            shown = sum(len(tensor.cells) for tensor in scene.tensors)
            assert len(reader.cells) == shown, case["id"]
            assert trace_again(found).output.tobytes() == found.output.tobytes()
            drawn += 1
    assert drawn >= (1 if some.start else len(by_operator))


def trace_again(found: Trace) -> Trace:
    """The trace of a document that went through JSON."""
    return replay_trace(json.loads(json.dumps(found.to_dict())))


def test_a_large_tensor_has_a_lens_per_neighbourhood() -> None:
    text = render_page([large()])
    labels = Reader(text).labels
    assert len(labels) < 300
    assert "data 4120,100 is 0, entry b" in labels
    assert "data 9999,9999 is 0, entry c" in labels
    assert "3 neighbourhoods, close up" in text
    assert "rows 4119 … 4121, columns 99 … 101" in text


def test_a_window_says_what_is_left_out() -> None:
    text = render_page([large()], options=ViewOptions(rows=12))
    assert re.search(r"⋮ [\d,]+ rows", text)
    assert re.search(r'<th scope="col" class="gap" aria-label="[\d,]+ columns not shown">', text)


def test_a_map_shows_where_in_a_large_matrix_the_windows_lie() -> None:
    text = render_page([large()])
    (drawn,) = re.findall('(?s)<figure class="map".*?</figure>', text)
    lines = re.sub("<.*?>", "", drawn).splitlines()
    assert "columns" in lines[0]
    assert lines[0].endswith("9999")
    assert lines[-1].lstrip().startswith("9999")
    frame = [line.partition("│")[2] for line in lines[2:-1]]
    places = {letter: (row, line.index(letter)) for row, line in enumerate(frame)
              for letter in re.findall("[a-z]", line)}  # fmt: skip
    assert places == {
        "a": (0, 0),
        "b": (len(frame) * 4120 // 10_000, 0),
        "c": (len(frame) - 1, len(frame[0]) - 2),
    }
    assert re.findall(r'<span class="c(\d)">(\w)</span>', drawn) == [
        ("0", "a"),
        ("1", "b"),
        ("2", "c"),
    ]
    assert '<figure class="map"' not in render_page([added()])


def test_many_rows_are_tables_of_some_each() -> None:
    """Headers are never far; 10,000 cells and 1,000 entries stay below 1.5 MB."""
    numbers = np.arange(1000)
    found = trace(
        "onnx.scatter_nd",
        {
            "data": np.zeros((100, 100), np.float32),
            "indices": np.stack([numbers * 7 % 100, numbers * 13 % 97], axis=1),
            "updates": numbers.astype(np.float32),
        },
    )
    text = render_page([found], options=ViewOptions(full=True, limit=1000))
    reader = Reader(text)
    assert len(reader.cells) == 10_000 + 2_000 + 1_000
    assert len(reader.all("table")) == 4 * 10 + 40 + 40
    assert len(reader.all("caption")) == len(reader.all("table"))
    assert "<caption><small>from 75</small></caption>" in text
    assert len(text.encode()) < 1_500_000


def test_a_document_that_is_no_run_names_its_file() -> None:
    with pytest.raises(ContentRefused, match="not a run that gscli wrote") as refusal:
        render_page([{"schema": "other/1"}])
    assert refusal.value.hint.startswith("operators and compare write one with --json > RUN.json; ")


def test_an_expected_answer_that_a_page_leaves_out_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_safely(["gather", "[1,2]", "[0]", "--expect", "[2]", "--json"])
    run = tmp_path / "run.json"
    run.write_text(capsys.readouterr().out, encoding="utf-8")
    assert run_safely(["page", str(run), "-o", str(tmp_path / "page.html")]) == 0
    assert "--expect is left out; --html of the run has it" in capsys.readouterr().err


@pytest.mark.parametrize("count", [50, 500])
def test_cells_of_listed_entries_that_find_no_room_are_counted(count: int) -> None:
    data = np.zeros((2 * count, 100), np.int8)
    found = trace("onnx.gather", {"data": data, "indices": list(range(0, 2 * count, 2))})
    text = render_page([found])
    shown = TraceView(found, ViewOptions()).tensors[0]
    touched = sum(bool(cell.entries) for cell in shown.cells.values())
    listed = 100 * len(shown.subject.marks)
    assert f"{listed - touched:,} cells of the listed entries not shown" in text
    planes = render_page([trace("onnx.gather", {"data": np.zeros((50, 2, 2)), "indices": [7]})])
    assert re.search(r"⋯ \d+ planes not shown", planes)


def test_cells_that_many_entries_touch_count_once() -> None:
    inputs = {"input": np.zeros((1, 20_000)), "index": [0] * 60}
    found = trace("torch.index_fill", inputs, {"dim": 0, "value": 5})
    assert "not shown</p>" not in render_page([found], options=ViewOptions(full=True))
    assert "19,994 cells of the listed entries not shown</p>" in render_page([found])


@pytest.mark.parametrize("limit", [7, 0])
def test_untold_entries_are_counted(limit: int) -> None:
    found = trace("onnx.gather", {"data": [1, 2], "indices": [0, 1] * 50})
    page = render_page([found], options=ViewOptions(limit=limit))
    (fact,) = facts(page)
    assert len(fact["entries"]) == page.count(": indices[") == limit
    assert fact["finish"].startswith(f"The other {100 - limit} entries follow.")


def test_options_choose_tensors_and_refuse_too_many_cells() -> None:
    text = render_page([added()], options=ViewOptions(show=("indices",)))
    names = {label.split()[0] for label in Reader(text).labels}
    assert names == {"indices", "output"}
    text = render_page([added()], options=ViewOptions(show=("data",)))
    assert {label.split()[0] for label in Reader(text).labels} == {"data", "output"}
    with pytest.raises(LimitRefused):
        render_page([large()], options=ViewOptions(full=True))


@pytest.mark.parametrize("name", ["added", "dropped", "gathered", "clipped"])
def test_a_question_tells_nothing_of_the_answer(name: str) -> None:
    text = render_page([EXAMPLES[name]()], quiz=True)
    question = text[text.index('<div class="stage question">') : text.index("<template")]
    labels = Reader(f"<main>{question}</main>").labels
    assert all(" is " not in label for label in labels if label.startswith("output"))
    assert all("entry" not in label for label in labels if label.startswith(("data", "a ", "tens")))
    assert not re.search(r"drop|class=\"x|↺|⊣|✗|wraps|clipped|range", question)
    assert any("entry a" in label for label in labels) or '<i class="c0">a</i>' in question


def test_the_text_version_is_the_plain_one() -> None:
    (text,) = re.findall(r"<pre>(.*?)</pre>", render_page([added()]), re.DOTALL)
    told = Explanation(added(), ViewOptions(), plain=True).format_plain()
    assert html.unescape(text) == told
    assert "data[0,:] is 1, 1, 1." in told


def test_it_begins_with_what_the_call_does() -> None:
    (lead,) = re.findall('<p class="lead">(.*?)</p>', render_page([added()]))
    assert lead == f"{describe_purpose(added())} ONNX opset 18."


def test_duplicates_without_a_reduction_are_said_to_be_open() -> None:
    found = trace("onnx.scatter_nd", {"data": [1], "indices": [[0], [0]], "updates": [2, 3]})
    assert (
        "ONNX leaves the result of duplicates open without a reduction; here the last one stays."
        in render_page([found])
    )


def test_a_lesson_has_a_heading_and_a_section_per_run() -> None:
    text = render_page([added().to_dict(), gathered().to_dict()], title="Lesson")
    reader = Reader(text)
    assert [attrs["id"] for attrs in reader.all("section")] == ["example-1", "example-2"]
    assert reader.text["h1"] == ["Lesson"]
    assert reader.text["h2"] == ["scatter-nd · reduction=add", "gather"]


def test_no_run_is_no_page() -> None:
    with pytest.raises(UsageError):
        render_page([])


def test_numbers_that_json_cannot_say_come_back() -> None:
    found = trace(
        "onnx.scatter_elements",
        {
            "data": np.array([np.nan, -np.inf, 1j], np.complex64),
            "indices": [0],
            "updates": np.array([2 + 3j], np.complex64),
        },
    )
    again = trace_again(found)
    assert again.output.dtype == np.complex64
    assert again.output.tobytes() == found.output.tobytes()


def test_attributes_that_an_old_version_does_not_have_come_back() -> None:
    found = trace("onnx.scatter_nd", {"data": [1], "indices": [[0]], "updates": [2]}, {"opset": 11})
    assert trace_again(found).attributes["opset"] == 11


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"schema": "other/1"}, "not a run that gscli wrote"),
        ({"op": 3}, "op is not a text"),
        ({"inputs": []}, "inputs is not an object"),
        ({"inputs": {"data": {"dtype": "int64", "shape": [2]}}}, "does not hold its inputs"),
        ({"output": [1]}, "output is not an object.*write one with --json"),
        ({"output": {"data": [1]}}, "the output is not what the call gives"),
        ({"op": "gather_all"}, "unknown operator"),
        ({"attrs": {"axis": "x"}}, "axis takes a whole number"),
        ({"attrs": {"axes": 0}}, "has no attribute"),
    ],
)
def test_documents_that_cannot_be_replayed_are_refused(
    change: dict[str, Any], problem: str
) -> None:
    document = json.loads(json.dumps(gathered().to_dict())) | change
    with pytest.raises(GscliError, match=problem):
        render_page([document])


JUNK = (None, True, -1, 2**70, 1.5, "", "nan", "\x00<", [], [[1], 2], [1, "x"], {}, {"data": [1]})


@pytest.mark.parametrize("seed", [0, *slow([1, 2])])
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_damaged_document_is_refused_or_shown(name: str, seed: int) -> None:
    text = json.dumps(EXAMPLES[name]().to_dict())
    chance = random.Random(f"{name} {seed}")
    for _ in range(25):
        document = json.loads(text)
        node: Any = document
        while True:
            key = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
            if not isinstance(node[key], (dict, list)) or not node[key] or chance.random() < 0.3:
                break
            node = node[key]
        node[key] = chance.choice(JUNK)
        with suppress(GscliError):
            assert "</html>" in render_page([document])


def test_a_large_input_is_not_in_the_document() -> None:
    found = trace("onnx.gather", {"data": np.zeros(10_001), "indices": [0]})
    inputs = found.to_dict()["inputs"]
    assert isinstance(inputs, dict)
    assert "data" not in inputs["data"]
    assert inputs["indices"]["data"] == [0]
    with pytest.raises(ContentRefused, match="does not hold its inputs"):
        render_page([found.to_dict()])


def test_an_output_too_large_for_its_document_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (documents, jsonarray):
        monkeypatch.setattr(module, "MOST_VALUES", 2, raising=False)
    document = trace("gather", {"data": [[7, 8]], "indices": [0, 0]}).to_dict(most_values=2)
    assert document["output"] == {"dtype": "int64", "shape": [2, 2]}
    assert "</html>" in render_page([document])


def test_slices_name_planes() -> None:
    text = render_page([sliced()])
    assert "output[2,:,:] = updates[1,:,:], sheet of 4×4" in text


def test_cells_that_are_not_as_expected_show_both_values() -> None:
    found = added()
    expected = found.output.copy()
    expected[0, 1], expected[1, 1] = 40, 7  # one that a and c write, one that nobody touches
    text = render_page([found], diagnosis=OutputDiagnosis(found, expected, "the expected answer"))
    labels = re.findall('aria-label="(output [^"]*expected[^"]*)"', text)
    assert labels == ["output 0,1 is 41, expected 40, entry a and c", "output 1,1 is 1, expected 7"]
    assert re.findall('<em data-t="(40|7)">', text) == ["40", "7"]
    assert "≠ what was expected</p>" in text
    verdict = re.findall('<ul class="verdict">(.*?)</ul>', text)
    assert "2 of 12 cells differ from the expected answer" in verdict[0]
    assert "reached by 2 of 4 entries: a, c" in verdict[0]


def test_an_answer_as_expected_is_called_so() -> None:
    found = added()
    text = render_page([found], diagnosis=OutputDiagnosis(found, found.output, "right.npy"))
    assert '<ul class="verdict"><li>as expected: all 12 cells of right.npy</li></ul>' in text
    assert "expected" not in "".join(re.findall('aria-label="([^"]*)"', text))


def test_the_key_tells_the_signs_that_occur() -> None:
    keys = [
        re.findall('<p class="key">(.*?)</p>', render_page([one])) for one in (added(), gathered())
    ]
    assert keys == [["↺ counts from the end"]] * 2
    assert '<p class="key">' not in render_page([sliced()])
    long = trace("onnx.gather", {"data": np.arange(40), "indices": [39]})
    assert "⋯ columns left out" in render_page([long])
    inputs = {"input": np.zeros(2), "index": [1] * 40, "source": np.ones(40)}
    upright = trace("torch.index_add", inputs, {"dim": 0})
    assert "left out" not in render_page([upright])
    parts = render_page([outside()], options=ViewOptions(limit=3))
    (key,) = re.findall('<p class="key">(.*?)</p>', parts)
    assert key == "✗ out of range, dropped"


def test_batches_are_named() -> None:
    inputs = {"data": np.arange(8).reshape(2, 2, 2), "indices": [[0], [1]]}
    text = render_page([trace("onnx.gather_nd", inputs, {"batch_dims": 1})])
    assert "<small>batch 0</small>" in text
    assert "<small>batch</small> 1</th>" in text
    assert '"parts":[["batch","plane"],["row","row"]]' in text


def test_gradients_are_no_run() -> None:
    run = trace("onnx.gather", {"data": [1.0, 2.0], "indices": [0]})
    document = {key: value for key, value in run.to_dict().items() if key != "output"}
    with pytest.raises(ContentRefused, match="a gradient is put on no page") as refusal:
        render_page([document | {"gradients": {"data": {"data": [1.0, 0.0]}}}])
    assert refusal.value.hint == "gscli grad … --html FILE draws it on its own"
