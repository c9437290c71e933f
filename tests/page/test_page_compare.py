"""The page of a comparison: its table says what the screen says, in words and with headers."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from page.test_page import Reader, facts

from gscli.base import LimitRefused
from gscli.lab.answers import ComparisonResult
from gscli.lab.compare import compare
from gscli.views.look import ViewOptions
from gscli.views.number_line import make_number_line
from gscli.views.page import render_page
from gscli.views.words.comparison import ComparisonTexts, format_reason

RULE_SETS = ["onnx", "numpy", "tf"]


def gathered(*indices: int, only: list[str] = RULE_SETS) -> ComparisonResult:
    return compare("gather", {"data": [10, 20, 30, 40], "indices": list(indices)}, only=only)


def planes() -> ComparisonResult:
    return compare("gather", {"data": [[1, 2], [3, 4]], "indices": [0, -1]}, only=RULE_SETS)


def scattered() -> ComparisonResult:
    inputs = {"data": [1, 2, 3, 4], "indices": [[0], [-1], [0]], "updates": [9, 8, 7]}
    return compare("scatter-nd", inputs)


def scalar() -> ComparisonResult:
    return compare("gather", {"data": [[1, 2], [3, 4]], "indices": 7}, only=RULE_SETS)


def refused() -> ComparisonResult:
    return gathered(9, only=["Caffe2", "NumPy take (raise)"])


def empty() -> ComparisonResult:
    return compare("gather", {"data": [1, 2], "indices": np.zeros(0, np.int64)}, only=RULE_SETS)


COMPARISONS: dict[str, Any] = {
    "gather": lambda: gathered(0, -1, 9, 2),
    "planes": planes,
    "scatter": scattered,
    "scalar": scalar,
    "refused": refused,
    "empty": empty,
    "agree": lambda: gathered(1, 2),
}


def rows(text: str) -> list[list[str]]:
    """The body of the table: what each cell says aloud, row headers first."""
    (body,) = re.findall(r'<table class="answers.*?<tbody>(.*?)</tbody>', text, re.DOTALL)
    return [
        [spoken(cell) for cell in re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row)]
        for row in re.findall("<tr>(.*?)</tr>", body)
    ]


def spoken(markup: str) -> str:
    heard = re.sub(r'<span aria-hidden="true">.*?</span>', "", markup)
    return html.unescape(re.sub("<[^>]+>", "", heard)).strip()


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_table_with_caption_and_headers_and_a_link_per_answer(name: str) -> None:
    comparing = COMPARISONS[name]()
    text = render_page([comparing])
    reader = Reader(text)
    (table,) = re.findall(r'<table class="answers.*?</table>', text, re.DOTALL)
    assert table.count("<caption>") == 1
    groups = ComparisonTexts(comparing, ViewOptions()).groups
    assert table.count('<th scope="row">') == len(groups)
    assert not re.search(r"<th\b(?! scope=)", table)
    answered = [group for group in groups if group.first.trace is not None]
    whole, *ids = [attrs["id"] for attrs in reader.all("section")]
    assert whole == "example-1"
    assert ids == [f"example-1-answer-{number + 1}" for number in range(len(answered))]
    links = re.findall('<a href="#(.*?)">steps<span class="v"> of (.*?)</span>', table)
    assert links == [
        (name, html.escape(group.first.label)) for name, group in zip(ids, answered, strict=True)
    ]
    for group, told in zip(groups, rows(text), strict=True):
        assert told[0].removesuffix(f" steps of {group.first.label}") == ", ".join(group.labels)
    columns = table.count('scope="col"')
    assert all(len(told) == columns or "colspan" in table for told in rows(text))


@pytest.mark.parametrize("name", COMPARISONS)
def test_it_says_what_the_screen_says(name: str) -> None:
    comparing = COMPARISONS[name]()
    text = html.unescape(render_page([comparing]))
    answers = ComparisonTexts(comparing, ViewOptions())
    assert f'<p class="summary">{answers.summary()}</p>' in text
    for group, told in zip(answers.groups, rows(render_page([comparing])), strict=True):
        if group.first.trace is None:
            letter = told[-1].startswith("entry ")
            heard = told[-1].removeprefix("entry ").replace(" ", ": ", int(letter))
            assert heard == format_reason(*answers.reasons(group)[0])
            assert any(cell == "refused" for cell in told)


def test_columns_are_entries_with_their_letter_and_index() -> None:
    text = render_page([gathered(0, -1, 9, 2)])
    heads = [spoken(head) for head in re.findall('<th scope="col">(.*?)</th>', text)]
    assert heads[:6] == [
        "rule sets", "entry a 0", "entry b -1", "entry c 9", "entry d 2", "what happens",
    ]  # fmt: skip


def test_differing_cells_say_so_and_errors_stand_at_their_entry() -> None:
    told = {row[0].split(" steps")[0].split(",")[0]: row[1:] for row in rows(
        render_page([gathered(0, -1, 9, 2)]))}  # fmt: skip
    assert told["ONNX Gather-13"] == [
        "no value", "no value", "refused", "no value",
        "entry c 9 index out of range, legal -4 … 3",
    ]  # fmt: skip
    assert told["NumPy take (clip)"] == [
        "10", "10 to the edge", "40 to the edge", "30",
        "entry b -1 is clipped to cell 0entry c 9 is clipped to cell 3",
    ]  # fmt: skip
    assert told["NumPy take (wrap)"][1:3] == [
        "40 differs from NumPy take (clip) from the end",
        "20 differs from NumPy take (clip) 9 mod 4",
    ]
    assert told["TF gather GPU"][-1].startswith("entry b -1 is outside: filled with 0")


def test_turned_for_telephones_a_block_tells_who_has_which_value() -> None:
    text = render_page([gathered(0, -1, 9, 2)])
    (table,) = re.findall(r'<table class="turned">.*?</table>', text, re.DOTALL)
    blocks = [[spoken(cell) for cell in re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", block)]
              for block in re.findall("<tbody>(.*?)</tbody>", table)]  # fmt: skip
    assert [block[0] for block in blocks] == ["entry b -1", "entry c 9", "entry a 0", "entry d 2"]
    told = dict(zip(blocks[1][1::2], blocks[1][2::2], strict=True))
    refusing = next(names for names, cell in told.items() if cell == "refused")
    assert refusing.startswith("ONNX Gather-13, NumPy take (raise), ")
    assert "TF gather CPU" in refusing
    assert told["NumPy take (clip), TF gather XLA"] == "40 to the edge"
    assert "turned" not in render_page([planes()]).partition("<body>")[2]


def test_more_than_one_axis_lists_the_cells_that_differ() -> None:
    told = rows(render_page([planes()]))
    clipped = next(row for row in told if row[0].startswith("NumPy take (clip)"))
    assert clipped[1] == ("output[1,:] 1 2 differs from ONNX Gather-13: 3 4")
    assert told[0][1] == "the others are compared with it"


def test_many_cells_and_entries_are_counted() -> None:
    inputs = {"data": np.arange(40).reshape(20, 2), "indices": -np.arange(1, 21)}
    told = rows(render_page([compare("gather", inputs, only=["numpy"])]))
    clipped = next(row for row in told if "clip" in row[0])
    assert clipped[1].endswith("and 6 more cells")
    assert clipped[-1].endswith("and 16 more such numbers")


def test_a_lone_scalar_is_one_entry_and_its_columns_are_cells() -> None:
    text = render_page([scalar()])
    assert re.findall(r'<th scope="col">(\[\d\])</th>', text) == ["[0]", "[1]"]
    assert '<td class="error" colspan="2">' in text


def test_refusals_alone_have_a_table_and_no_example() -> None:
    text = render_page([refused()])
    assert facts(text) == []
    assert "Both rule sets refuse." in text


def test_names_and_titles_cannot_be_markup() -> None:
    text = render_page([gathered(0)], title="</title><script>x\x1b[31m")
    Reader(text)
    assert "<script>x" not in text
    assert "\x1b" not in text


def test_nothing_comes_from_outside() -> None:
    text = render_page([gathered(0, -1, 9, 2)])
    assert not re.search(r"\b(src|srcset|action)\s*=|url\(|@import|<link|<base|<iframe", text)
    assert set(re.findall(r'href="(.)', text)) == {"#"}
    assert not re.search(r"\s(on[a-z]+|style)=\"", text)


def test_full_is_refused_where_a_browser_could_not_draw_it() -> None:
    comparing = compare("gather", {"data": np.zeros(30_000), "indices": [1]}, only=["onnx"])
    with pytest.raises(LimitRefused, match="too many cells"):
        render_page([comparing], options=ViewOptions(full=True))


def test_inputs_of_any_rank_stand_above_the_table() -> None:
    assert "[3×1]</small> <code>0  -1  0</code>" in render_page([scattered()])


@pytest.mark.parametrize("indices", [(0, 1), (-1, 3, 3, 3)])
def test_nothing_of_a_strip_is_cut_off(indices: tuple[int, ...]) -> None:
    for left, width, strip in re.findall(
        r'<svg viewBox="(-?\d+) 0 (\d+) .*?>(.*?)</svg>', render_page([gathered(*indices)])
    ):
        boxes = re.findall(r'<rect [^>]*?x="(-?\d+)" y="\d+" width="(\d+)"', strip)
        assert min(int(x) for x, _ in boxes) >= int(left)
        assert max(int(x) + int(wide) for x, wide in boxes) <= int(left) + int(width)


def test_a_strip_stands_below_each_row_of_the_table() -> None:
    text = render_page([gathered(0, -1, 9)])
    line = make_number_line(ComparisonTexts(gathered(0, -1, 9), ViewOptions()))
    assert line is not None
    kinds = re.findall(r"<tr( class=\"strip\")?>", text[text.index('<table class="answers') :])
    assert [bool(kind) for kind in kinds[1 : 1 + 2 * len(line.behaviours)]] == (
        [False, True] * len(line.behaviours)
    )
    names = re.findall(r'<tr class="strip"><td colspan="5"><b>(.*?)</b>', text)
    assert names == [behaviour.name for behaviour in line.behaviours]
    wrapped = text[text.index("<b>wrap around</b>") :]
    strip = wrapped[: wrapped.index("</svg>")]
    assert ">9 mod 4 = 1<" in strip
    assert strip.count('class="tip') == 2
    assert 'class="strip"' not in render_page([planes_of_elements()])


@pytest.mark.parametrize("indices", [(1, -1, 4, -5), (4, 5, 6, 7), (-2, -6, -1, 9), (-1, -2, -3)])
def test_notes_of_a_strip_do_not_overlap(indices: tuple[int, ...]) -> None:
    for strip in re.findall(r"<svg .*?</svg>", render_page([gathered(*indices)])):
        notes = re.findall(r'class="note" x="(-?\d+)" y="14">(.*?)<', strip)
        spans = sorted((int(x) - 4 * len(text), int(x) + 4 * len(text)) for x, text in notes)
        assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
        assert bool(notes) == ("<path" in strip and "C" in strip)


def test_on_a_telephone_what_differs_comes_first() -> None:
    text = render_page([gathered(0, 1, -1)])
    turned = text[text.index('<table class="turned">') :].partition("</table>")[0]
    assert re.findall(r"<code>(-?\d+)</code>", turned) == ["-1", "0", "1"]


def planes_of_elements() -> ComparisonResult:
    inputs = {"data": [[1, 2], [3, 4]], "indices": [[0, -1]]}
    return compare("gather-elements", inputs, only=["onnx", "torch"])
