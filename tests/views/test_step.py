"""One entry at a time: what is lit, what is done, and the keys."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from recording.scenes import PLAIN, SCENES, duplicates

from gscli.base import UsageError
from gscli.cli import run_safely
from gscli.lab.expectation import OutputDiagnosis
from gscli.traces import Trace, trace
from gscli.views.lines import render_text
from gscli.views.look import ViewOptions
from gscli.views.steps import first_output, views_after
from gscli.views.terminal.explain import Explanation
from gscli.views.terminal.frames import KEY_LINES, Frames, run_step_keys, show_steps


def screen(found: Trace, number: int) -> str:
    return render_text(Frames(found, PLAIN).step(number + 1), PLAIN)


def played(found: Trace, typed: str, options: ViewOptions = PLAIN) -> str:
    """What `run_step_keys` prints when these keys are pressed, then the input ends."""
    file = io.StringIO()
    keys = iter(typed)

    def next_key() -> str:
        try:
            return next(keys)
        except StopIteration:
            raise EOFError from None

    run_step_keys(Frames(found, options), file, next_key)
    return file.getvalue()


def steps_of(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"step (\d+) of", text)]


def test_only_the_current_entry_is_lit() -> None:
    text = screen(duplicates(), 3)
    letters = set(re.findall(r"(?<![a-z])([a-g]):", text.partition("why")[0]))
    assert letters == {"d"}


def test_done_cells_keep_their_new_value() -> None:
    text = screen(duplicates(), 3)
    output = text[text.index("output  float32") :]
    assert "41.0" in output.splitlines()[2]
    assert "21.0" in output.splitlines()[4]
    assert "101" not in text


def test_gather_fills_its_output() -> None:
    found = trace("onnx.gather", {"data": [10, 20, 30], "indices": [2, 0, 1]})
    rows = [screen(found, number).splitlines()[4].split()[-3:] for number in range(3)]
    assert rows == [["a:30", "·", "·"], ["30", "b:10", "·"], ["30", "10", "c:20"]]


def test_a_bag_has_its_value_when_its_last_entry_is_in() -> None:
    table = np.array([[1.0], [2.0], [3.0], [4.0]])
    run = trace(
        "torch.embedding_bag",
        {"input": [0, 1, 2, 3], "weight": table, "offsets": [0, 2]},
        {"mode": "sum"},
    )
    frames = [screen(run, number) for number in range(4)]
    rows = [[line.split()[-1] for line in frame.splitlines()[4:6]] for frame in frames]
    assert rows == [["a:·", "·"], ["b:3", "·"], ["3", "c:·"], ["3", "d:7"]]
    assert "weight[2,0] = 3 → output[1,0]\n" in frames[2]
    assert "weight[3,0] = 4 → output[1,0], which comes to 7\n" in frames[3]
    told = Explanation(run, PLAIN, plain=True).format_plain()
    assert "weight[2,0], which is 3, goes into output[1,0]." in told


@pytest.mark.parametrize("name", SCENES)
def test_the_last_frame_holds_the_output(name: str) -> None:
    found = SCENES[name]()
    entries = found.entries()
    if not entries:
        return
    output = views_after(found, entries, len(entries) - 1, first_output(found))[-1]
    made = np.array(output.array, object if output.array.dtype.kind == "U" else None)
    known = np.full(made.shape, output.known is None)
    for patch in output.patches:
        place = tuple(slice(start, stop) for start, stop in patch.box)
        made[place] = patch.values.reshape(made[place].shape)
        known[place] = True
    assert known.all()
    assert (made == found.output).all()


def test_nothing_moves_from_frame_to_frame() -> None:
    found = duplicates()
    layouts = []
    for number in range(7):
        text = screen(found, number).partition("\n\na:")[0].partition("why")[0]
        headers = [line for line in text.splitlines() if re.fullmatch(r"[\s\d]+", line)]
        layouts.append(headers)
    assert all(one == layouts[0] for one in layouts)


def test_frames_are_made_when_asked_for() -> None:
    found = trace("onnx.gather", {"data": [1, 2], "indices": np.zeros(100_000, np.int64)})
    steps = Frames(found, PLAIN)
    assert len(steps) == 100_000
    assert "step 301 of 100000" in render_text(steps.step(301), PLAIN)
    with pytest.raises(UsageError):
        steps.step(100_001)


def test_one_step_by_number(capsys: pytest.CaptureFixture[str]) -> None:
    show_steps(duplicates(), PLAIN, 3, None)
    assert steps_of(capsys.readouterr().out) == [3]


@pytest.mark.parametrize("number", [8, -1])
def test_a_step_that_is_not_there_is_refused(number: int) -> None:
    with pytest.raises(UsageError) as refused:
        show_steps(duplicates(), PLAIN, number, None)
    assert refused.value.valid == "0 … 7"


def test_step_0_shows_what_there_was_before(capsys: pytest.CaptureFixture[str]) -> None:
    show_steps(duplicates(), PLAIN, 0, None)
    text = capsys.readouterr().out
    assert steps_of(text) == [0]
    assert "added to that cell" in " ".join(text.split())
    assert not re.search(r"[a-g]:", text)


@pytest.mark.parametrize(("number", "is_empty"), [(0, True), (1, False)])
def test_a_cell_that_a_later_step_fills_is_called_empty(number: int, *, is_empty: bool) -> None:
    text = screen(trace("onnx.gather", {"data": [10, 20, 30], "indices": [2, 1]}), number)
    assert ("· empty" in text) == is_empty
    assert "not read" not in text


def test_the_table_shows_what_the_sum_starts_from() -> None:
    assert re.search(r"c: +11→41", screen(duplicates(), 2))


def test_a_frame_fits_a_screen_of_24_lines() -> None:
    for number in range(8):
        options = ViewOptions(color="none", height=24)
        drawn = render_text(Frames(duplicates(), options).step(number), options)
        assert drawn.startswith("jax at-add")
        assert len(drawn.splitlines()) + KEY_LINES <= 24


def test_without_a_terminal_all_frames_follow_each_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_steps(duplicates(), PLAIN, None, None)
    assert steps_of(capsys.readouterr().out) == [1, 2, 3, 4, 5, 6, 7]


def test_plain_says_each_step_in_sentences(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["scatter-nd", "[1,1,1]", "[[1],[-1],[1]]", "[10,20,30]", "--reduction", "add"]

    def lines(*more: str) -> list[str]:
        assert run_safely([*words, *more]) == 0
        return capsys.readouterr().out.splitlines()

    sentences = [line for line in lines("--plain") if line.startswith("entry ")]
    steps = lines("--step", "--plain")
    assert [line for line in steps if line.startswith("entry ")] == sentences
    assert "".join(steps).isascii()
    monkeypatch.setenv("GSCLI_PLAIN", "1")
    assert lines("--step") == steps
    assert lines("--step", "2") == [
        "step 2 of 3.",
        sentences[1],
        "output[indices[i,0]] += updates[i] with i = 1.",
        "-1 on axis 0 of size 3 is 2: an index below zero counts from the end.",
        "Rule: ONNX scatter_nd, opset 18.",
    ]
    purpose = "Each row of indices is an address; the update beside it is added to that cell."
    assert lines("--step", "0") == ["step 0 of 3.", purpose]
    assert run_safely([*words, "--step", "4"]) == 2


def test_many_frames_stop_at_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    show_steps(duplicates(), ViewOptions(color="none", limit=2), None, None)
    text = capsys.readouterr().out
    assert steps_of(text) == [1, 2]
    assert "5 more steps: --limit N, --step N" in text
    show_steps(duplicates(), ViewOptions(color="none", limit=6), None, None)
    assert "\n1 more step: --limit N" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("q", [1]),
        ("", [1]),
        ("nn q", [1, 2, 3, 4]),
        ("npp", [1, 2, 1, 0]),
        ("nnnnnnnnnn", [1, 2, 3, 4, 5, 6, 7]),
        ("gd\rq", [1, 4]),
        ("g5\rp", [1, 5, 4]),
        ("g12\rg0\rgzz\r", [1, 0]),
        ("gx\x7fc\r", [1, 3]),
        ("g3\x1bn", [1, 3, 4]),
        ("xyz!", [1]),
    ],
)
def test_keys(typed: str, expected: list[int]) -> None:
    assert steps_of(played(duplicates(), typed)) == expected


def test_arrow_keys_arrive_as_one_key() -> None:
    file, keys = io.StringIO(), iter(["\x1b[C", "\x1b[C", "\x1b[D", "q"])
    run_step_keys(Frames(duplicates(), PLAIN), file, lambda: next(keys))
    assert steps_of(file.getvalue()) == [1, 2, 3, 2]


def test_keys_typed_fast_arrive_together() -> None:
    file, keys = io.StringIO(), iter(["nn", "gb\r\x1b[C", "p\x1b[Dq", "n"])
    run_step_keys(Frames(duplicates(), PLAIN), file, lambda: next(keys))
    assert steps_of(file.getvalue()) == [1, 2, 3, 2, 3, 2, 1]


def test_all_shows_the_picture_and_why_the_rule() -> None:
    text = played(duplicates(), "a?")
    assert "acfg:1→101.5" in text
    assert "Legal: -4 … 3 on axis 0" in text
    assert "every occurrence of a cell counts" in " ".join(text.split())


def test_ascii_terminals_get_ascii() -> None:
    for name in ("duplicates", "filled", "clipped", "mean"):
        assert played(SCENES[name](), "na?g2\rq", ViewOptions(color="none", utf8=False)).isascii()


def test_typed_control_characters_are_not_echoed() -> None:
    assert "\x07" not in played(duplicates(), "g\x07\x1b")


def test_the_bar_names_every_key() -> None:
    bar = " n  next   p  back   g  go to entry   a  all   ?  why   q  quit    1 of 7"
    assert bar in played(duplicates(), "q")


def test_a_terminal_gets_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    pressed: Iterator[str] = iter("nq")
    out = Screen()
    monkeypatch.setattr(sys, "stdin", Screen())
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr("typer.getchar", lambda: next(pressed))
    show_steps(duplicates(), PLAIN, None, None)
    assert steps_of(out.getvalue()) == [1, 2]


def test_without_entries_there_is_step_0_alone(capsys: pytest.CaptureFixture[str]) -> None:
    show_steps(SCENES["nothing"](), PLAIN, None, None)
    assert "step 0 of 0" in capsys.readouterr().out


def added() -> Trace:
    inputs = {"data": [1, 1, 1, 1], "indices": [[1], [3], [1]], "updates": [10, 20, 30]}
    return trace("onnx.scatter_nd", inputs, {"reduction": "add"})


def test_a_step_holds_final_cells_against_what_is_expected() -> None:
    """Cell 0 is never written, cell 1 twice: until then it is not called wrong."""
    expectation = OutputDiagnosis(added(), np.array([2, 40, 1, 21]), "the expected answer")
    found = Frames(added(), PLAIN, expectation)
    told = [render_text(found.step(number), PLAIN) for number in range(4)]
    marked = [re.findall(r"[^ ]*≠[0-9]+", text) for text in told]
    assert marked == [["1≠2"], ["1≠2"], ["1≠2"], ["1≠2", "c:11→41≠40"]]
    assert "is ≠ expected" in told[0]
    columns = [
        [line for line in text.split("\n") if line.startswith("      cell")] for text in told
    ]
    assert all(one == columns[0] for one in columns)  # nothing moves from step to step


def test_a_gather_is_held_against_what_is_expected_once_it_is_read() -> None:
    found = trace("onnx.gather", {"data": [10, 20, 30], "indices": [2, 0]})
    steps = Frames(found, PLAIN, OutputDiagnosis(found, np.array([30, 20]), "the expected answer"))
    marked = [re.findall(r"[^ ]*≠[0-9]+", render_text(steps.step(one), PLAIN)) for one in range(3)]
    assert marked == [[], [], ["b:10≠20"]]


def test_the_key_tells_the_signs_that_occur_and_no_others() -> None:
    text = render_text(Frames(duplicates(), PLAIN).step(1), PLAIN)
    assert text.endswith("↺ counts from the end   ✗ out of range, dropped\n")
    assert "↺" not in render_text(Frames(added(), PLAIN).step(1), PLAIN)


@pytest.mark.parametrize("width", [60, 120])
def test_why_fills_the_lines_of_the_terminal(width: int) -> None:
    """The operator's help is no broken text of 96 columns in another terminal."""
    run = trace("onnx.gather", {"data": [1], "indices": [0]})
    text = played(run, "?", PLAIN._replace(width=width))
    doc = run.operator.doc.split("\n\n")[-1].split()
    lines = [line.split() for line in text.splitlines()]
    start = next(at for at, line in enumerate(lines) if line and line == doc[: len(line)])
    taken = 0
    while taken < len(doc):
        line = lines[start]
        assert line == doc[taken : taken + len(line)]
        taken, start = taken + len(line), start + 1
        following = doc[taken] if taken < len(doc) else "x" * width
        assert len(" ".join(line)) + 1 + len(following) > width
