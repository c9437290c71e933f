"""The page in real headless Chromium: pointer, keys, slider, quiz, lesson, labels, silence.

A page takes half a second: what another example shows of the same mechanism is for the gate.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import everyday, slow
from page.browser import Browser, browser, missing
from page.examples import EXAMPLES, added, averaged, dropped, gathered, large

from gscli import trace
from gscli.gradients.call import trace_gradients
from gscli.lab.answers import ComparisonResult
from gscli.lab.compare import compare
from gscli.lab.expectation import OutputDiagnosis
from gscli.traces import Trace
from gscli.views.look import ViewOptions
from gscli.views.page import render_page
from gscli.views.words.gradient_words import make_flow

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        bool(missing()) and not os.environ.get("CI"), reason=f"{missing()} not installed"
    ),
]

LIT = "return [...document.querySelectorAll('section.current .lit')].map(c => c.textContent)"
OUTPUT = (
    "return [...document.querySelectorAll('.current .output td:not(.gap)')].map(c => c.textContent)"
)
CARD = "return [...document.querySelectorAll('.current .card div')].map(c => c.textContent)"
HEADS = "return [...document.querySelectorAll('.current th.at')].map(c => c.textContent)"
ELBOWS = "return document.querySelectorAll('.current .over .line').length"
BANDS = "return document.querySelectorAll('.current .under rect').length"
CROSSED = """
    const cells = [...document.querySelectorAll('.current td:not(.gap)')].map(c =>
        [c.textContent, c.getBoundingClientRect()]);
    const origin = document.querySelector('.current .over').getBoundingClientRect();
    const found = [];
    document.querySelectorAll('.current .over .line').forEach(line => {
        for (let at = 0; at < line.getTotalLength(); at += 4) {
            const point = line.getPointAtLength(at);
            const x = point.x + origin.left, y = point.y + origin.top;
            cells.forEach(([text, box]) => {
                if (x > box.left + 1 && x < box.right - 1 && y > box.top + 1 && y < box.bottom - 1)
                    found.push(text);
            });
        }
    });
    return found;
"""
SAID = "return document.querySelector('section.current .say').innerText"
FOCUSED = "return document.activeElement.ariaLabel || document.activeElement.textContent"
BACK, NEXT = ".current .controls button", ".current .controls button:nth-of-type(2)"


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture
def show(window: Browser, tmp_path: Path) -> Iterator[Any]:
    """Open a page; afterwards nothing but it was asked for and nothing was complained of."""
    file = tmp_path / "page.html"

    def opened(
        *shown: Trace | ComparisonResult,
        quiz: bool = False,
        options: ViewOptions | None = None,
        expectation: OutputDiagnosis | None = None,
    ) -> Browser:
        alone = shown[0]
        if len(shown) == 1 and isinstance(alone, ComparisonResult):
            text = render_page([alone])
        else:
            text = render_page(shown, quiz=quiz, options=options, diagnosis=expectation)
        file.write_text(text, encoding="utf-8")
        window.resize(1120)
        window.open(file)
        window.leave()
        return window

    yield opened
    assert set(window.requests()) == {file.as_uri()}
    assert window.logged("browser") == []


def words(text: str) -> str:
    return " ".join(text.split())


def go(window: Browser, step: int) -> None:
    """Move the slider."""
    window.run(
        "const s = document.querySelector('.current .controls input'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('input'))", step,
    )  # fmt: skip


def filled() -> Trace:
    """Entry b reads nothing, so that its result is filled."""
    inputs = {"params": [10, 20, 30], "indices": [0, 7]}
    return trace("tensorflow.gather", inputs, {"device": "gpu"})


def crowded() -> Trace:
    """A thousand entries on ten thousand cells."""
    numbers = np.arange(1000)
    return trace(
        "onnx.scatter_nd",
        {
            "data": np.zeros((100, 100), np.int64),
            "indices": np.stack([numbers * 7 % 100, numbers * 13 % 97], axis=1),
            "updates": numbers,
        },
        {"reduction": "add"},
    )


def test_it_opens_before_the_first_step_with_the_first_crosshair(show: Any) -> None:
    window = show(added())
    assert window.run(OUTPUT) == ["1"] * 12
    assert words(window.run(SAID)).startswith("Nothing is written yet: output is a copy of data.")
    assert window.run(CARD) == ["row0", "column1", "add10"]
    assert window.run(HEADS) == ["1", "0"]
    assert window.run(ELBOWS) == 2


def test_pointing_at_an_update_lights_all_that_belongs_to_it(show: Any) -> None:
    window = show(added())
    window.hover(".updates td[data-e='2']")
    assert window.run(LIT) == ["0", "1", "30", "1"]
    assert window.run(CARD) == ["row0", "column1", "add30"]
    said = words(window.run(SAID))
    assert said.endswith("indices[2] = (0, 1) → output[0,1]: 11 + 30 = 41, again after a")
    assert window.run("return document.querySelector('.now').textContent").startswith("entry c")
    window.leave()
    assert window.run(CARD) == ["row0", "column1", "add10"]


@pytest.mark.slow
def test_a_cell_that_nothing_touches_says_so(show: Any) -> None:
    window = show(added())
    window.hover(".output tbody td")
    assert words(window.run(SAID)) == "output 0,0 is 1: no entry touches it."
    assert window.run(ELBOWS) == 0


def test_a_dropped_entry_has_a_card_and_no_elbow(show: Any) -> None:
    window = show(dropped())
    window.hover(".updates td[data-e='1']")
    assert len(window.run(LIT)) == 2
    assert window.run(ELBOWS) == 0
    assert window.run(CARD)[0] == "cell5 ✗"
    assert "dropped" in window.run(SAID)
    style = "return getComputedStyle(document.querySelector('.updates .drop b')).textDecorationLine"
    assert window.run(style) == "line-through"


def test_the_card_of_a_flat_index_tells_its_cell_and_that_of_a_filled_one_its_value(
    show: Any,
) -> None:
    window = show(flat())
    assert window.run(CARD) == ["flat index-1 → 5", "row1", "column2", "copy6"]
    go(window, 2)
    assert window.run(CARD) == ["flat index0", "row0", "column0", "copy1"]
    window = show(filled())
    go(window, 2)
    assert window.run(CARD) == ["cell7 ✗", "fill0"]


def test_the_card_of_a_window_over_a_whole_axis_tells_where_it_lies(show: Any) -> None:
    sizes = {"offset_dims": (1,), "start_index_map": (0,), "index_vector_dim": 1}
    call = {"operand": [1, 2, 3], "start_indices": [[2]]}
    window = show(trace("stablehlo.gather", call, {**sizes, "slice_sizes": (3,)}))
    assert window.run(CARD) == ["cell2 → 0 … 2", "copy[1, 2, 3]"]


def test_below_a_gradient_stands_who_is_given_what_is_tied(show: Any) -> None:
    call = {"input": [10.0, 20.0], "index": [0], "src": [10.0]}
    run = trace("torch.scatter_reduce", call, {"dim": 0, "reduce": "amax"})
    window = show(make_flow(trace_gradients(run)))
    tie = "[0]: a and input equal 10; several share it evenly"
    assert window.run("return document.querySelector('.counts').innerText") == f"1 entry. {tie}."
    assert f"{tie}." in window.run("return document.querySelector('.text pre').textContent")


ENDS_AT_CARD = """
    const stage = document.querySelector('.current .stage').getBoundingClientRect();
    const card = document.querySelector('.current .card').getBoundingClientRect();
    const way = document.querySelector('.current .over .line');
    const end = way.getPointAtLength(way.getTotalLength());
    const x = end.x + stage.left, y = end.y + stage.top;
    return card.left < x && x < card.right + 9 && card.top < y && y < card.bottom + 9;
"""


@pytest.mark.parametrize("shape", [(3,), (1, 3)])
def test_the_gradient_of_an_update_appears_with_its_step(show: Any, shape: tuple[int, ...]) -> None:
    parts = {"input": [1.0, 2.0, 3.0], "index": [1, 1, 2], "src": [5.0, 6.0, 7.0]}
    call = {name: np.reshape(part, shape) for name, part in parts.items()}
    run = trace("torch.scatter", call, {"dim": len(shape) - 1})
    window = show(make_flow(trace_gradients(run, np.reshape([10.0, 20, 30], shape))))
    cells = "[...document.querySelectorAll('.current .updates td[data-e]')]"
    for step, values in enumerate(["···", "20··", "20 20·", "20 20 30"]):
        go(window, step)
        text = window.run(f"return {cells}.map(cell => cell.textContent).join('')")
        assert text == values.replace(" ", "")
        aloud = window.run(f"return {cells}.map(cell => cell.getAttribute('aria-label'))")
        empty = [label.endswith(" is empty") for label in aloud if label]
        assert empty in ([], [number >= step for number in range(3)])
    assert window.run(ENDS_AT_CARD)


def test_a_filled_cell_is_drawn_without_a_stroke(show: Any) -> None:
    window = show(filled())
    go(window, 2)
    style = "return getComputedStyle(document.querySelector('.output .fill b')).textDecorationLine"
    assert window.run(style) == "none"
    assert "output 1 is 0, filled, entry b" in window.labels()


def test_a_gather_leads_from_its_header_in_data_to_its_header_in_output(show: Any) -> None:
    window = show(gathered())
    window.hover(".indices td[data-e='1']")
    assert len(window.run(LIT)) == 1 + 2 + 2
    assert window.run(HEADS) == ["0"]
    assert window.run(ELBOWS) == 2
    assert window.run(BANDS) == 1


PLACES = {
    "cells": added,
    "rows": gathered,
    "planes": EXAMPLES["sliced"],
    "grids of planes": lambda: trace(
        "onnx.gather", {"data": np.arange(36).reshape(2, 3, 2, 3), "indices": [[1, 0]]}, {"axis": 1}
    ),
    "one row": EXAMPLES["clipped"],
    "elements": lambda: trace(
        "onnx.gather_elements",
        {"data": [[1, 2], [3, 4]], "indices": [[0, 1], [1, -1]]},
        {"axis": 1},
    ),
}


@pytest.mark.parametrize("width", [1280, *slow([800])])
@pytest.mark.parametrize("name", everyday(PLACES, {"cells", "planes"}))
def test_elbows_run_in_empty_lanes(show: Any, name: str, width: int) -> None:
    """No point of an elbow lies on a cell, whatever the rank and the width."""
    window = show(PLACES[name]())
    window.resize(width)
    steps = int(window.run("return document.querySelector('.controls input').max"))
    for step in range(steps + 1):
        go(window, step)
        window.run("scrollTo(0, 0)")
        assert window.run(ELBOWS) > 0
        assert window.run(CROSSED) == [], (name, width, step)


def test_the_target_reads_as_a_sum_and_a_bar_says_how_it_filled_up(show: Any) -> None:
    window = show(added())
    go(window, 3)
    sums = "return [...document.querySelectorAll('.sum')].map(c => c.dataset.s)"
    assert window.run(sums) == ["11 + 30 = 41"]
    bar = "return document.querySelector('.filling').innerText"
    assert words(window.run(bar)) == "how this cell filled up 1+10a+30c → 41"
    go(window, 2)
    assert words(window.run(bar)) == "how this cell filled up 1+20b → 21"
    go(window, 0)
    assert window.run(sums) == []


def test_no_bar_fills_a_gradient_with_those_of_updates(show: Any) -> None:
    """What data is given is no sum of what the updates of its cell are given."""
    call = {"data": [10.0, 20.0], "indices": [[1], [1]], "updates": [2.0, 3.0]}
    run = trace("onnx.scatter_nd", call, {"reduction": "mul"})
    window = show(make_flow(trace_gradients(run)))
    go(window, 2)
    assert window.run("return document.querySelector('.filling').innerText") == ""


COVERED = """
    const cells = [...document.querySelectorAll('.current .output td:not(.gap)')];
    return cells.flatMap(cell => {
        cell.scrollIntoView({block: 'center', inline: 'nearest'});
        const range = document.createRange();
        range.selectNodeContents(cell.querySelector('b') || cell);
        const box = range.getBoundingClientRect(), y = (box.top + box.bottom) / 2;
        return [box.left + 1, box.right - 1].map(x => document.elementFromPoint(x, y))
            .filter(seen => seen !== cell && !cell.contains(seen)).map(() => cell.textContent);
    });
"""


@pytest.mark.parametrize("width", [1120, 375])
@pytest.mark.parametrize(
    "calls",
    [
        ([[1, 2, 3, 4, 5]], [[0, 2, 4, 1]], [[11, 21, 31, 41]], "none"),
        ([[1, 2, 3, 4, 5]] * 2, [[0, 2, 4]] * 2, [[11, 21, 31], [5, 6, 7]], "add"),
        ([[1, 2, 3], [4, 5, 6]], [[0, 2], [1, 1]], [[100, 200], [300, 400]], "add"),
    ],
)
def test_a_sum_hides_no_neighbour(show: Any, calls: tuple[Any, ...], width: int) -> None:
    inputs = dict(zip(("data", "indices", "updates"), calls, strict=False))
    found = trace("onnx.scatter_elements", inputs, {"axis": 1, "reduction": calls[3]})
    window = show(found)
    window.resize(width)
    for step in range(1, found.entry_count + 1):
        go(window, step)
        assert window.run(COVERED) == [], step


@pytest.mark.slow
def test_a_cell_is_called_wrong_once_it_is_final(show: Any) -> None:
    """Cell (1,1) is never touched, (0,1) is written by a and c."""
    wanted = added().output.copy()
    wanted[0, 1], wanted[1, 1] = 40, 7
    window = show(added(), expectation=OutputDiagnosis(added(), wanted, "the expected answer"))
    wrong = (
        "return [...document.querySelectorAll('.output .off')].map(c => "
        "getComputedStyle(c.querySelector('em'), '::before').content)"
    )
    marked = []
    for step in range(4):
        go(window, step)
        marked.append(window.run(wrong))
    last = ['"≠ " attr(data-t)', '"≠ 40"', '"≠ 7"']
    assert [len(one) for one in marked] == [1, 1, 1, 2]
    assert set(marked[3]) <= set(last)
    assert "output 0,1 is 41, expected 40, entry a and c" in window.labels()
    go(window, 1)
    assert "output 0,1 is 11, entry a" in window.labels()


def test_buttons_slider_and_arrows_replay_the_entries(show: Any) -> None:
    window = show(added())
    window.click(NEXT)
    assert window.run(OUTPUT)[1] == "11"
    assert "output 0,1 is 11, entry a" in window.labels()
    window.run("document.activeElement.blur()")
    window.press("Right", "Right")
    assert [window.run(OUTPUT)[place] for place in (1, 8, 9)] == ["41", "21", "1"]
    assert words(window.run(SAID)).startswith("entry c indices[2]")
    assert len(window.run(LIT)) == 4
    window.press("Left")
    assert window.run(OUTPUT)[1] == "11"
    assert "output 0,1 is 11, entry a" in window.labels()
    window.click(NEXT)
    window.click(NEXT)
    window.click(NEXT)
    assert window.run("return document.querySelector('.controls span').textContent") == (
        "step 4 of 4"
    )
    assert window.run(FOCUSED) == "next ▶"
    go(window, 0)
    assert window.run(OUTPUT) == ["1"] * 12
    assert window.run("return document.querySelectorAll('.output i').length") == 0


def test_play_runs_to_the_end_and_pauses(show: Any) -> None:
    window = show(gathered())
    window.run("window.setInterval = (f) => { window.tick = f; return 7 }")
    play = ".controls button:nth-of-type(3)"
    window.click(play)
    assert window.run(f"return document.querySelector('{play}').textContent") == "❚❚ pause"
    window.run("tick(); tick(); tick()")
    assert window.run(OUTPUT) == ["5", "6", "1", "2", "5", "6"]
    assert window.run(f"return document.querySelector('{play}').textContent") == "▶ play"


@pytest.mark.slow
def test_steps_of_a_mean_show_the_mean_so_far(show: Any) -> None:
    window = show(averaged())
    go(window, 1)
    assert window.run(OUTPUT) == ["1.5", "2.0", "3.0"]
    go(window, 3)
    assert window.run(OUTPUT) == ["3.0", "2.0", "4.0"]
    bag = {"input": [0, 1], "weight": [[1.0], [2.0]], "offsets": [0]}
    window = show(trace("torch.embedding_bag", bag))
    go(window, 1)  # a bag has its mean when all of it is read, as in the terminal
    assert window.run(OUTPUT) == ["·"]
    go(window, 2)
    assert window.run(OUTPUT) == ["1.5"]


@pytest.mark.slow  # a page of many thousand cells
def test_a_step_rewrites_no_cell_but_those_it_changes(show: Any) -> None:
    """A thousand entries on ten thousand cells: what a step writes does not grow with the page."""
    window = show(crowded(), options=ViewOptions(full=True, limit=1000))
    window.run("""
        window.changed = new Set();
        new MutationObserver(found => found.forEach(one => changed.add(
            one.target.closest ? one.target.closest('td, svg, .desk, li, .filling, .card, th')
                               : one.target.parentNode)))
            .observe(document.body, {subtree: true, childList: true, characterData: true,
                                     attributes: true});
    """)
    go(window, 1)
    go(window, 2)
    assert window.run("return [...changed].filter(e => e && e.tagName == 'TD').length") <= 14
    assert window.run("return changed.size") <= 30
    assert window.run("return document.documentElement.scrollHeight") < 10_000


@pytest.mark.parametrize("width", [400, *slow([1120])])
def test_the_cell_under_the_pointer_stays_where_it_is(show: Any, width: int) -> None:
    window = show(added())
    window.resize(width)
    top = "return document.querySelector('.stage').getBoundingClientRect().top"
    tops = {window.run(top)}
    for cell in (".output td[data-e]", ".updates td[tabindex]"):
        window.run(f'document.querySelector("{cell}").focus({{preventScroll: true}})')
        tops.add(window.run(top))
    assert len(tops) == 1


def test_the_slider_has_its_own_keys_and_says_its_step(show: Any) -> None:
    window = show(gathered())
    window.run("document.querySelector('.controls input').focus()")
    window.press("Right", "Right")
    step = "return document.querySelector('.controls input').getAttribute('aria-valuetext')"
    assert window.run(step) == "step 2 of 3"
    assert window.run(OUTPUT) == ["5", "6", "1", "2", "·", "·"]
    window.press("Home")
    assert window.run(OUTPUT) == ["·"] * 6


@pytest.mark.slow  # a page of many thousand cells
def test_arrows_go_on_from_chunk_to_chunk(show: Any) -> None:
    """Of many columns and rows each table holds some; a line of cells goes through all of them."""
    window = show(crowded(), options=ViewOptions(full=True, limit=1000))
    tables = "return [...document.querySelectorAll('.output table')].map(t => t.rows.length)"
    assert window.run(tables) == [26] * 40
    window.run("document.querySelector('.output td[tabindex]').focus()")
    window.press("Home")
    place = """
        const cell = document.activeElement, head = cell.closest('table').tHead.rows[0];
        return [cell.parentNode.cells[0].textContent, head.cells[cell.cellIndex].textContent];
    """
    assert window.run(place) == ["0", "0"]
    window.press(*["Right"] * 11, *["Down"] * 26)
    assert window.run(place) == ["26", "11"]
    window.press("End")
    assert window.run(place) == ["26", "99"]
    window.press("Right", "Up", "Up", "Left")
    assert window.run(place) == ["24", "98"]


def test_one_tab_stop_per_tensor_and_arrows_inside(show: Any) -> None:
    window = show(added())
    stops = "return [...document.querySelectorAll('main [tabindex=\"0\"]')].length"
    assert window.run(stops) == 3 + 1 + 1
    window.run("document.querySelector('.controls input').focus()")
    reached = []
    for _ in range(5):
        window.press("Tab")
        reached.append(words(window.run(FOCUSED)))
    assert reached == ["what happens", "0", "10", "output 0,1 is 1", reached[-1]]
    assert reached[-1].startswith("entry a")
    go(window, 4)
    window.run("document.querySelector('.output td[tabindex=\"0\"]').focus()")
    window.press("Down", "Down", "Right")
    assert window.run(FOCUSED) == "output 2,2 is 21, entry b"
    assert len(window.run(LIT)) == 4
    assert words(window.run(SAID)).startswith("entry b indices[1] = (2, 2)")
    style = "return getComputedStyle(document.activeElement).outlineStyle"
    assert window.run(style) == "solid"
    window.press("Home")
    assert words(window.run(SAID)) == "output 2,0 is 1: no entry touches it."
    window.press("Up", "Up", "Up", "End")
    assert words(window.run(SAID)) == "output 0,2 is 1: no entry touches it."
    assert window.run(stops) == 3 + 1 + 1


@pytest.mark.slow
def test_the_list_of_entries_is_reached_by_keys(show: Any) -> None:
    window = show(added())
    window.run("document.querySelector('.entries button').focus()")
    window.press("Down", "Down")
    assert words(window.run(FOCUSED)).startswith("entry c")
    assert "30" in window.run(LIT)
    window.press("Enter")
    assert window.run(OUTPUT)[9] == "1"


@pytest.mark.parametrize("name", everyday(EXAMPLES, {"added"}))
def test_the_accessibility_tree_holds_every_label(show: Any, name: str) -> None:
    window = show(EXAMPLES[name]())
    wanted = window.run("return [...document.querySelectorAll('td[aria-label]')].map("
                        "c => c.ariaLabel)")  # fmt: skip
    assert wanted
    assert set(wanted) <= set(window.labels())
    bare = [cell for cell in window.run(
        "return [...document.querySelectorAll('td[data-e] i')].map(e => e.dataset.t)"
    ) if not re.fullmatch(r"[a-zA-Z]+|\+\d+", cell)]  # fmt: skip
    assert bare == []
    assert window.run("return window.stolen === undefined")


def test_a_quiz_checks_counts_and_reveals(show: Any) -> None:
    window = show(added(), quiz=True)
    assert "output 0,1, your answer" in window.labels()
    assert not any(label.startswith("output 0,1 is") for label in window.labels())
    fields = ".output tr:nth-child({}) td:nth-of-type({}) input"
    window.type(fields.format(1, 2), "41")
    window.type(fields.format(3, 3), "20.5")
    window.press("Enter")
    assert words(window.run(SAID)) == "Cells that change: 1 of 3 right. Try again, or reveal."
    assert window.run("return document.querySelectorAll('.right').length") == 1
    wrong = "return [...document.querySelectorAll('[aria-invalid=true]')].map(i => i.value)"
    assert window.run(wrong) == ["20.5", ""]
    window.run("document.querySelectorAll('[aria-invalid=true]')[0].value = ''")
    window.type(fields.format(3, 3), "21.00")
    window.type(fields.format(4, 1), "41")
    window.click(BACK)
    assert words(window.run(SAID)).startswith("Cells that change: 3 of 3 right. Reveal")
    window.click(NEXT)
    go(window, 4)
    assert window.run(OUTPUT)[1] == "41"
    assert "output 0,1 is 41, entry a and c" in window.labels()
    window.hover(".updates td[data-e='2']")
    assert len(window.run(LIT)) == 4


def test_a_quiz_reveals_all_of_the_output_beside_what_was_typed(show: Any) -> None:
    window = show(added(), quiz=True)
    fields = ".output tr:nth-child({}) td:nth-of-type({}) input"
    for row, column, typed in ((1, 1, "7"), (1, 2, "41"), (4, 1, "40")):
        window.type(fields.format(row, column), typed)
    window.click(NEXT)
    assert window.run(OUTPUT) == ["1", "41", *["1"] * 6, "21", "41", "1", "1"]
    marks = "return [...document.querySelectorAll('.output .off em')].map(e => e.dataset.t)"
    assert window.run(marks) == ["7", "40"]
    assert "output 3,0 is 41, your answer 40, entry d" in window.labels()
    assert window.run("return document.querySelectorAll('.sum').length") == 0
    window.click(BACK)
    assert window.run(OUTPUT)[9] == "1"
    assert window.run(marks) == ["7"]


@pytest.mark.slow
@pytest.mark.parametrize("typed", ["-inf", "-Infinity", "-INF"])
def test_a_quiz_takes_infinity_by_both_names(show: Any, typed: str) -> None:
    call = {"data": [1.0], "indices": [[0]], "updates": [-np.inf]}
    window = show(trace("onnx.scatter_nd", call), quiz=True)
    window.type(".output input", typed)
    window.press("Enter")
    assert words(window.run(SAID)).startswith("Cells that change: 1 of 1 right")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "typed", "said"),
    [
        (["a", "A"], "a", 0),
        (["a", "A"], '"A"', 1),
        (["a", "A"], "'A'", 1),
        (["a", "'A'"], "'A'", 1),
        (["a", "'A'"], "A", 0),
        (["1", "1.0"], "1", 0),
        ([2**53, 2**53 + 1], str(2**53), 0),
        ([2**53, 2**53 + 1], str(2**53 + 1), 1),
        ([2**53, 2**53 + 1], "9,007,199,254,740,993", 1),
        ([3, 41], "41.0", 1),
        ([3, 1], "1,000", 0),
        ([3, -41], "−41", 1),
        ([1.5, 0.625], "0,625", 1),
        ([1.5, 5.5], "11/2", 1),
        ([1.5, 5.5], "5.54", 0),
        ([1.5, -5], "-10 / 2", 1),
        ([10.5, 0.0001234], "0.0001234", 1),
        ([10.5, 0.0001234], "0.0005", 0),
        ([10.5, np.inf], "+∞", 1),
        (["1/2", "2/4"], "1/2", 0),
        ([True, False], "0", 1),
        ([True, False], "1", 0),
        ([1j, 1 + 2j], "1+2j", 1),
        ([1j, 1 + 2j], "(1 + 2i)", 1),
        ([1j, 1 + 2j], "1-2j", 0),
        ([1j, 1 + 2j], "1", 0),
        ([1, -0.5j], "-j/2", 0),
        ([1, -0.5j], "-0.5j", 1),
        ([1, 1e20 + 1j], "1e20+i", 1),
    ],
)
def test_a_quiz_compares_numbers_by_value_and_texts_by_letter(
    show: Any, data: list[Any], typed: str, said: int
) -> None:
    window = show(trace("onnx.gather", {"data": data, "indices": [1]}), quiz=True)
    window.type(".output input", typed)
    window.press("Enter")
    assert words(window.run(SAID)).startswith(f"Cells: {said} of 1 right")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("5.67", 2),
        ("5,667", 2),
        ("5.666666666666667", 2),
        ("5.7", 1),
        ("17/3", 2),
        ("17/4", 1),
        ("17/", 1),
    ],
)
def test_a_quiz_takes_fractions_rounded_to_three_digits_or_more(
    show: Any, typed: str, said: int
) -> None:
    inputs = {"input": [1.0, 5, 5], "index": [1, 1, 2], "src": [5.0, 7, 3]}
    call = "torch.scatter_reduce", inputs, {"dim": 0, "reduce": "mean"}
    window = show(trace(*call), quiz=True)
    for place, text in ((2, typed), (3, "4")):
        window.type(f".output td:nth-of-type({place}) input", text)
    window.press("Enter")
    assert words(window.run(SAID)).startswith(f"Cells that change: {said} of 2 right")


@pytest.mark.slow
def test_a_quiz_counts_only_cells_that_change(show: Any) -> None:
    window = show(added(), quiz=True)
    window.click(BACK)
    assert words(window.run(SAID)) == "Cells that change: 0 of 3 right. Try again, or reveal."
    window.type(".output tr:nth-child(1) td:nth-of-type(1) input", "7")
    window.press("Enter")
    assert "; of the others 1 wrong. Try again" in words(window.run(SAID))
    window.type(".output tr:nth-child(1) td:nth-of-type(3) input", "7")
    window.press("Enter")
    assert "; of the others 2 wrong. Try again" in words(window.run(SAID))


def test_a_quiz_counts_a_cell_that_holds_the_empty_text(show: Any) -> None:
    window = show(trace("numpy.take", {"a": ["", "b"], "indices": [0, 1]}), quiz=True)
    window.click(BACK)
    assert words(window.run(SAID)) == "Cells: 0 of 2 right. Try again, or reveal."
    window.type(".output td:nth-of-type(1) input", '""')
    window.type(".output td:nth-of-type(2) input", "b")
    window.press("Enter")
    assert words(window.run(SAID)) == "Cells: 2 of 2 right. Reveal shows the steps."


@pytest.mark.slow
def test_a_quiz_in_which_no_cell_changes_says_so(show: Any) -> None:
    same = {"data": [1, 1], "indices": [[0]], "updates": [1]}
    window = show(trace("onnx.scatter_nd", same), quiz=True)
    window.click(BACK)
    assert words(window.run(SAID)) == "Cells that change: 0 of 0 right. Reveal shows the steps."


@pytest.mark.parametrize("width", [375, 1280])
def test_a_quiz_stands_still_when_it_is_checked(show: Any, width: int) -> None:
    window = show(added(), quiz=True)
    window.resize(width)
    places = (
        "return [...document.querySelectorAll('.say, .output table, .output td')].map(e =>"
        " Object.values(e.getBoundingClientRect().toJSON()).map(Math.round).join())"
    )
    before = window.run(places)
    window.type(".output tr:nth-child(1) td:nth-of-type(2) input", "41")
    window.click(BACK)
    assert window.run("return document.querySelectorAll('.right, .wrong').length") > 1
    after = window.run(places)
    assert all(
        abs(int(is_) - int(was)) <= 1
        for cell, old in zip(after, before, strict=True)
        for is_, was in zip(cell.split(","), old.split(","), strict=True)
    )


def test_a_lesson_goes_from_example_to_example(show: Any) -> None:
    window = show(added(), gathered(), dropped())
    assert window.run("return document.querySelectorAll('section.current').length") == 1
    assert "example 1 of 3" in window.run("return document.querySelector('nav').innerText")
    window.click("nav button:last-child")
    assert window.run("return document.querySelector('.current').id") == "example-2"
    assert window.run("return location.hash") == "#example-2"
    window.run("document.activeElement.blur()")
    window.press("Right", "Right")
    assert window.run(OUTPUT)[4:] == ["·", "·"]
    window.click("nav button:last-child")
    window.click("nav button:last-child")
    assert window.run("return document.querySelector('.current h2').textContent").startswith("tens")
    window.click("nav button")
    assert window.run("return document.querySelector('.current').id") == "example-2"


@pytest.mark.slow
def test_a_lesson_holds_runs_and_comparisons(show: Any) -> None:
    window = show(added(), comparison())
    assert "example 1 of 2" in window.run("return document.querySelector('nav').innerText")
    window.click("nav button:last-child")
    seen = (
        "return [...document.querySelectorAll('section')]"
        ".filter(s => s.offsetParent).map(s => s.id)"
    )
    assert window.run(seen) == ["example-2", "example-2-answer-1"]
    window.follow("[href='#example-2-answer-3']")
    assert window.run(seen) == ["example-2", "example-2-answer-3"]
    window.press("Right")
    output = (
        "return [...document.querySelectorAll('#example-2-answer-3 .output b')]"
        ".map(b => b.textContent)"
    )
    assert window.run(output) == ["10", "·", "·", "·"]
    window.click("nav button")
    assert window.run(seen) == ["example-1"]
    assert window.run(ELBOWS.replace(".current", "#example-1")) == 2


def comparison() -> ComparisonResult:
    inputs = {"data": [10, 20, 30, 40], "indices": [0, -1, 9, 2]}
    return compare("gather", inputs, only=["onnx", "numpy", "tf", "jax"])


CURRENT = "return document.querySelector('.comparison .current h2').textContent"
MARKED = "return document.querySelector('[aria-current]').closest('th').textContent"


@pytest.mark.parametrize("height", [600, *slow([400])])
def test_a_row_of_a_comparison_leads_to_its_steps_and_back(show: Any, height: int) -> None:
    window = show(comparison())
    window.resize(1120, height)
    assert window.run(CURRENT) == "NumPy take (clip)"
    window.follow("[href='#example-1-answer-3']", "Enter")
    assert window.run(FOCUSED) == window.run(CURRENT) == "TF gather GPU"
    assert window.run(MARKED).startswith("TF gather GPU")
    top = "return document.querySelector('nav').getBoundingClientRect().top"
    assert abs(window.run(top)) < 40
    window.press("Right", "Right", "Right")
    answer = OUTPUT.replace(".current", ".comparison .current")
    assert window.run(answer) == ["10", "0", "0", "·"]
    window.click("nav button:last-child")
    assert window.run(MARKED).startswith("JAX x[i]")
    assert "answer 4 of" in window.run("return document.querySelector('nav').innerText")
    window.follow(".comparison .current a[href='#example-1-answers']")
    assert window.run("return scrollY") < 200
    assert window.run(CURRENT) == "JAX x[i]"
    window.follow("[href='#example-1-answer-1']")
    assert window.run(CURRENT) == "NumPy take (clip)"


@pytest.mark.parametrize("width", [400, *slow([1120])])
def test_the_table_of_a_comparison_is_a_table_at_any_width(show: Any, width: int) -> None:
    window = show(comparison())
    window.resize(width)
    assert window.run("return document.documentElement.scrollWidth") <= width
    nodes = window.devtools("Accessibility.getFullAXTree")["nodes"]
    named = {(node["role"]["value"], node.get("name", {}).get("value")) for node in nodes
             if not node["ignored"]}  # fmt: skip
    columns = ", one column per entry" * (width > 800)  # blocks stand above them otherwise
    assert {("table", f"One row per answer{columns}"), ("columnheader", "entry b -1"),
            ("columnheader", "what happens"),
            ("cell", "40 differs from NumPy take (clip) from the end"),
            ("cell", "refused")} <= named  # fmt: skip
    assert any(role == "rowheader" and name.startswith("JAX x[i]") for role, name in named)


@pytest.mark.parametrize(("width", "seen"), [(375, ["turned"]), (1120, ["answers"])])
def test_on_a_telephone_a_comparison_has_a_block_per_entry(
    show: Any, width: int, seen: list[str]
) -> None:
    window = show(comparison())
    window.resize(width)
    values = "td:is(.same, .differs)"
    assert window.run(
        f"return [...document.querySelectorAll('.overview table')].filter(table => "
        f"table.querySelector('{values}').offsetParent).map(table => table.className)"
    ) == seen  # fmt: skip
    columns = "return document.querySelector('.answers caption').innerText.includes('column')"
    assert window.run(columns) == (seen == ["answers"])
    assert window.run("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [800, *slow([1120])])
def test_many_columns_scroll_within_the_page(show: Any, width: int) -> None:
    inputs = {"data": np.arange(40), "indices": np.arange(-12, 12) * 3}
    window = show(compare("gather", inputs, only=["onnx", "numpy"]))
    window.resize(width)
    assert window.run("return document.documentElement.scrollWidth") <= width
    wide = "const w = document.querySelector('.wide'); return w.scrollWidth > w.clientWidth"
    assert window.run(wide)
    window.run("document.querySelector('.wide').scrollLeft = 300")
    left = "return document.querySelector('.answers tbody th').getBoundingClientRect().left"
    assert window.run(left) >= 0


@pytest.mark.parametrize("width", [1000, *slow([375])])
def test_strips_scroll_with_their_table(show: Any, width: int) -> None:
    window = show(compare("gather", {"data": [10, 20, 30, 40], "indices": [0, -1, 9]}))
    window.resize(width)
    assert window.run("return document.documentElement.scrollWidth") <= width
    scrolling = "return [...document.querySelectorAll('.overview, .overview *')].filter("
    scrolling += "e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)).length"
    assert window.run(scrolling) == 1


def test_it_reads_without_scripts(show: Any, window: Browser) -> None:
    window.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        labels = show(added(), gathered()).labels()
    finally:
        window.devtools("Emulation.setScriptExecutionDisabled", value=False)
    assert "output 0,1 is 41, entry a and c" in labels
    assert "output 2,1 is 6, entry c" in labels
    assert any(label.startswith("Scripts are off") for label in labels)
    assert not any(label.startswith("next") for label in labels)


def test_dark_still_and_printed(show: Any) -> None:
    window = show(added(), gathered())
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = window.run(ground)
    moving = "return getComputedStyle(document.querySelector('td[data-e]')).transitionDuration"
    assert window.run(moving) == "0.15s"
    features = [{"name": "prefers-color-scheme", "value": "dark"},
                {"name": "prefers-reduced-motion", "value": "reduce"}]  # fmt: skip
    window.devtools("Emulation.setEmulatedMedia", features=features)
    assert window.run(ground) != light
    assert window.run(moving) == "0s"
    window.devtools("Emulation.setEmulatedMedia", media="print", features=[])
    shown = "return [...document.querySelectorAll({})].map(e => getComputedStyle(e).display)"
    assert set(window.run(shown.format("'.desk, nav, .stage svg'"))) == {"none"}
    assert window.run(shown.format("'section'")) == ["block", "block"]
    window.devtools("Emulation.setEmulatedMedia", media="", features=[])


@pytest.mark.slow  # a page of many thousand cells
def test_a_step_brings_its_cell_and_its_row_header_into_sight(show: Any) -> None:
    window = show(crowded(), options=ViewOptions(full=True, limit=1000))
    window.resize(900, 800)
    go(window, 14)
    seen = """
        const inside = e => { const b = e.getBoundingClientRect();
            return b.left >= 0 && b.right <= innerWidth && b.top >= 0 && b.bottom <= innerHeight };
        return ['.output td.lit', '.output th.at[scope=row]', '.entries .now']
            .map(each => inside(document.querySelector(each)));
    """
    assert window.run(seen)[:2] == [True, True]
    frame = "const f = document.querySelector('.given.tall').getBoundingClientRect();"
    frame += "const c = document.querySelector('.given .lit').getBoundingClientRect();"
    assert window.run(frame + "return c.top >= f.top && c.bottom <= f.bottom")


PAPERS = {
    "twelve": lambda: trace("onnx.gather", {"data": np.full((2, 12), 1234.5678), "indices": [1]}),
    "forty": lambda: trace("onnx.gather", {"data": np.full((2, 40), 12.25), "indices": [1]}),
}


@pytest.mark.parametrize("name", everyday(PAPERS, {"forty"}))
def test_paper_shows_every_column(show: Any, name: str) -> None:
    window = show(PAPERS[name](), options=ViewOptions(full=True))
    columns = len(window.run(
        "return [...document.querySelectorAll('.data th[scope=col]')].map(c => c.textContent)"
    ))  # fmt: skip
    window.run("window.dispatchEvent(new Event('beforeprint'))")
    window.devtools("Emulation.setEmulatedMedia", media="print", features=[])
    window.resize(720)
    assert window.run("return document.documentElement.scrollWidth") <= 720
    printed = "return [...document.querySelectorAll('.data th[scope=col]')]"
    printed += ".filter(c => c.offsetParent).map(c => c.textContent)"
    assert sorted(map(int, window.run(printed))) == list(range(columns))
    values = "return [...document.querySelectorAll('.output td:not(.gap)')]"
    values += ".filter(c => c.offsetParent && c.textContent === '·').length"
    assert window.run(values) == 0
    window.devtools("Emulation.setEmulatedMedia", media="", features=[])
    window.run("window.dispatchEvent(new Event('afterprint'))")
    assert window.run("return document.querySelectorAll('.part-of, [hidden]').length") == 0


def test_paper_tells_all_while_steps_are_predicted(show: Any) -> None:
    window = show(gathered())
    seen = """
        const all = what => [...document.querySelectorAll(what)];
        return all('.data td[data-e]').map(cell => cell.ariaLabel).concat(
            all('.entries .s').map(line => getComputedStyle(line).visibility));
    """
    result = window.run(seen)
    window.click(PREDICT)
    asked = window.run(seen)
    window.run("window.dispatchEvent(new Event('beforeprint'))")
    assert window.run(seen) == result != asked
    window.run("window.dispatchEvent(new Event('afterprint'))")
    assert window.run(seen) == asked
    assert words(window.run(ASKED)).startswith("Which row does a read?")


@pytest.mark.parametrize("name", ["large", *slow(EXAMPLES)])
def test_no_page_is_wider_than_a_telephone(show: Any, name: str) -> None:
    window = show((EXAMPLES | {"large": large})[name]())
    window.resize(400)
    assert window.run("return document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("name", ["planes", *slow(["cells", "rows"])])
def test_on_a_telephone_a_step_is_seen_between_sentence_and_controls(show: Any, name: str) -> None:
    """Output stands first; what is steered and told stays at the bottom and covers no lit cell."""
    window = show(PLACES[name]())
    window.resize(375, 667)
    steps = int(window.run("return document.querySelector('.controls input').max"))
    for step in range(1, steps + 1):
        go(window, step)
        seen = window.run("""
            const box = e => { const b = e.getBoundingClientRect(); return [b.top, b.bottom] };
            return ['.output td.lit', '.desk', '.controls button'].map(
                each => box(document.querySelector(each)));
        """)
        (top, bottom), (desk, end), (button, _) = seen
        assert 0 <= top < bottom <= desk + 1, (name, step, seen)
        assert desk < button < end <= 668
    tops = "return ['.made', '.given'].map(e => document.querySelector(e).offsetTop)"
    made, given = window.run(tops)
    assert made < given


def test_paper_breaks_no_row(show: Any) -> None:
    window = show(comparison())
    window.devtools("Emulation.setEmulatedMedia", media="print", features=[])
    breaks = "return [...document.querySelectorAll('tr, li')].map("
    breaks += "e => getComputedStyle(e).breakInside)"
    try:
        assert set(window.run(breaks)) == {"avoid"}
    finally:
        window.devtools("Emulation.setEmulatedMedia", media="", features=[])


@pytest.mark.parametrize("width", [375, *slow([1120])])
def test_tab_reaches_all_there_is_and_leaves_again(show: Any, width: int) -> None:
    """Each stop is seen and has a visible focus; after the last one the page is left."""
    window = show(added())
    window.resize(width, 700)
    stop = """
        const e = document.activeElement, box = e.getBoundingClientRect();
        return e === document.body ? null : [e.ariaLabel || e.textContent,
            getComputedStyle(e).outlineStyle, box.bottom > 0 && box.top < innerHeight];
    """
    found = []
    for _ in range(20):
        window.press("Tab")
        if (reached := window.run(stop)) is None:
            break
        found.append(reached)
    assert reached is None
    assert {"next ▶", "▶ play", "predict", "step"} <= {name for name, _, _ in found}
    assert [one for one in found if one[1] != "solid" or not one[2]] == []


def test_a_script_that_is_not_ours_does_not_run(window: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    text = render_page([added()]).replace("</main>", "<script>window.stolen = 1</script></main>")
    file.write_text(text, encoding="utf-8")
    window.open(file)
    assert window.run("return window.stolen === undefined")
    assert any("Content Security Policy" in entry["message"] for entry in window.logged("browser"))


ASKED = "return document.querySelector('.ask').innerText"
REPLY = "return document.querySelector('.reply').textContent"
PREDICT = ".controls button[aria-pressed]"


def reply(window: Browser, typed: str) -> str:
    """What is said to an answer that is typed."""
    window.run("document.querySelector('.ask input').value = ''")
    window.type(".ask input", typed)
    window.press("Enter")
    said: str = window.run(
        "const r = document.querySelector('.reply'); return r ? r.textContent : ''"
    )
    return said


def test_a_step_can_be_predicted_and_each_misunderstanding_is_met(show: Any) -> None:
    window = show(added())
    window.click(PREDICT)
    assert words(window.run(ASKED)).startswith("Where does a land?")
    assert window.run(HEADS) == []
    assert window.run(LIT) == ["0", "1", "10"]
    assert "Swapped" in reply(window, "1,0")
    assert "Not there" in reply(window, "3,2")
    assert reply(window, "9,9") == "No such cell is shown."
    assert reply(window, "0 1") == ""
    assert "What will a leave there?" in words(window.run(ASKED))
    assert "update alone" in reply(window, "10")
    assert "already" in reply(window, "1")
    reply(window, "11")
    assert window.run(OUTPUT)[1] == "11"
    assert words(window.run(SAID)).startswith("Right. entry a")
    assert window.run(FOCUSED) == "next ▶"


@pytest.mark.slow
def test_while_steps_are_predicted_the_list_does_not_tell_them(show: Any) -> None:
    window = show(added())
    seen = "return [...document.querySelectorAll('.entries .s')].map("
    seen += "e => getComputedStyle(e).visibility)"
    window.click(PREDICT)
    assert window.run(seen) == ["hidden"] * 4
    window.click(".ask button:last-of-type")
    assert window.run(seen) == ["visible"] + ["hidden"] * 3
    window.click(PREDICT)
    assert window.run(seen) == ["visible"] * 4


def test_the_quiz_of_a_gather_asks_for_all_cells(show: Any) -> None:
    said = words(show(gathered(), quiz=True).run(SAID))
    assert said == "What is the output? Type the values of the cells, then check."


def test_a_prediction_is_clicked_and_counts_what_came_before(show: Any) -> None:
    window = show(added())
    go(window, 2)
    window.click(PREDICT)
    window.click(".output tbody tr:nth-child(1) td:nth-of-type(2)")
    assert "What will c leave there?" in words(window.run(ASKED))
    assert "earlier entry" in reply(window, "31")
    reply(window, "41")
    window.press("Enter")
    assert words(window.run(ASKED)).startswith("Where does d land?")
    assert "counts from the end" in reply(window, "0,0")
    window.click(".ask button:nth-of-type(3)")
    assert window.run(OUTPUT)[9] == "41"


@pytest.mark.slow
def test_nowhere_is_an_answer(show: Any) -> None:
    window = show(dropped())
    window.click(PREDICT)
    nowhere = ".ask button"
    window.click(nowhere)
    assert window.run(REPLY).startswith("It does land somewhere")
    window.click(".output td")
    reply(window, "10")
    window.click(NEXT)
    window.click(".output td")
    assert window.run(REPLY).startswith("It has no cell: one of its numbers is out of range")
    window.click(nowhere)
    assert words(window.run(SAID)).startswith("Right, nowhere. entry b")


def rows_added() -> Trace:
    """Entry a adds to row 2."""
    inputs = {"input": np.ones((4, 3)), "index": [2, 0], "source": np.ones((2, 3))}
    return trace("torch.index_add", inputs, {"dim": 0})


def row_dropped() -> Trace:
    """Entry a lands nowhere."""
    inputs = {"tensor": np.ones((3, 2)), "indices": [[5]], "updates": [[1.0, 2.0]]}
    return trace("tensorflow.tensor_scatter_nd_update", inputs, {"bad_indices_policy": "IGNORE"})


def columns_gathered() -> Trace:
    """Entry a reads column 1, which is no row of the two."""
    return trace("onnx.gather", {"data": [[1, 2], [3, 4]], "indices": [1]}, {"axis": 1})


def flat() -> Trace:
    """Entry a reads the last of six cells, by its number among them."""
    return trace("numpy.take", {"a": [[1, 2, 3], [4, 5, 6]], "indices": [-1, 0]})


ROW_2 = ["2", "[2,:]", "data[2,:]", "x1[2, :]", "row 2", "(2,0)", "2 1", "x[2][0]"]
TOO_FEW = "One too few: indices count from 0."
NOWHERE = "It has no cell: one of its numbers is out of range, or ignored."
NO_CELL, ELSEWHERE = "No such cell is shown.", "Not there. Read the numbers of a again."
PART = "Only some of these cells are right."


@pytest.mark.parametrize(
    ("example", "right", "wrong"),
    [
        (gathered, ROW_2, {"1": TOO_FEW, "[:,1]": PART, "x[9][2]": NO_CELL, "": NO_CELL}),
        pytest.param(rows_added, ROW_2, {"3,:": ELSEWHERE, "[:,0]": PART}, marks=pytest.mark.slow),
        (columns_gathered, ["1", "[:,1]", "0,1"], {"[1,:]": PART, "0": TOO_FEW}),
        (added, ["0,1", "[0,1]", "x[0][1]"], {"0": NO_CELL, "0,:": PART, "[3,:]": ELSEWHERE}),
        (flat, ["5", "[5]", "1,2", "a[1][2]"], {"0": NO_CELL, "-1": NO_CELL, "1,1": ELSEWHERE}),
        (row_dropped, [], {"1": NOWHERE, "[1,:]": NOWHERE, "": NO_CELL}),
    ],
)  # fmt: skip
def test_an_address_is_typed_as_the_page_writes_it(
    show: Any, example: Any, right: list[str], wrong: dict[str, str]
) -> None:
    window = show(example())
    window.click(PREDICT)
    window.click(NEXT)
    for typed, said in wrong.items():
        assert reply(window, typed) == said, typed
    for typed in right:
        go(window, 0)
        window.click(NEXT)
        reply(window, typed)
        assert words(window.run(SAID)).startswith("Right."), typed


@pytest.mark.slow
def test_a_gather_is_predicted_in_data(show: Any) -> None:
    window = show(gathered())
    read = (
        "return [...document.querySelectorAll('.data td[data-e]')].map(c =>"
        " c.ariaLabel + c.querySelectorAll('i').length + /c[0-6]/.test(c.className))"
    )
    seen = window.run(read)
    window.click(PREDICT)
    assert window.run(read) == [
        f"data {row},{column} is {2 * row + column + 1}0false"
        for row in (0, 2) for column in (0, 1)
    ]  # fmt: skip
    assert words(window.run(ASKED)).startswith("Which row does a read? Click any cell there")
    window.click(".data tbody tr:nth-child(3) td:nth-of-type(1)")
    assert words(window.run(SAID)).startswith("Right. entry a")
    assert window.run(OUTPUT) == ["5", "6", "·", "·", "·", "·"]
    assert "entry" not in window.run(read)[0]
    assert window.run(read)[3] == "data 2,1 is 6, entry a1true"
    window.click(PREDICT)
    assert window.run(read) == seen
