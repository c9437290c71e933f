"""Finished lines: merged, cut, rendered, exported."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from conftest import slow
from looks import is_coloured, looks
from recording.scenes import SCENES, sheets
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement

from gscli.cli import run_safely
from gscli.traces import trace
from gscli.views.figure import CELL, FIGURE_PALETTES, LINE, MARGIN, render_svg
from gscli.views.lines import Drawing, render_text, wrap_text
from gscli.views.look import PLAIN, Depth, PaletteName, Style, ViewOptions
from gscli.views.picture import Picture
from gscli.views.terminal.frames import Frames
from gscli.views.terminal.tables import make_tensor_drawing

BOLD = Style(bold=True)
DEPTHS: tuple[Depth, Depth] = "none", "truecolor"
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def test_neighbours_of_one_style_become_one_run() -> None:
    drawn = Drawing(
        ViewOptions(),
        lambda _: [[("a", BOLD), ("", PLAIN), ("b", Style(bold=True)), (" c ", PLAIN)]],
    )
    assert drawn.render_lines() == [[("ab", BOLD), (" c", PLAIN)]]


def test_lines_too_wide_are_cut_with_a_mark() -> None:
    drawn = Drawing(ViewOptions(width=40), lambda _: [[("日本" * 30, BOLD)]])
    (line,) = drawn.render_lines()
    assert cell_len(line[0][0]) == 39
    assert line[0][0].endswith("…")


def test_wide_characters_are_never_halved() -> None:
    for width in (40, 41):
        (line,) = Drawing(
            ViewOptions(width=width, utf8=False), lambda _: [[("日本" * 30, PLAIN)]]
        ).render_lines()
        assert cell_len(line[0][0]) <= width


def test_segments_are_few() -> None:
    options = ViewOptions(width=400)
    console = Console(width=400, force_terminal=True, color_system="truecolor", _environ={})
    segments = list(console.render(make_tensor_drawing("t", np.zeros((15, 40)), options)))
    assert len(segments) <= 3 * 17


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("palette", ["okabe", "mono", "16"])
def test_colour_changes_no_width(name: str, palette: str) -> None:
    plain, colored = ViewOptions(color="none"), ViewOptions(palette=palette)  # type: ignore[arg-type]
    shape = [len(line) for line in render_text(Picture(SCENES[name](), plain), plain).split("\n")]
    text = STYLE.sub("", render_text(Picture(SCENES[name](), colored), colored))
    differences = [
        len(line.rstrip()) - size for line, size in zip(text.split("\n"), shape, strict=True)
    ]
    assert set(differences) <= {0, 1}  # the chip of the legend


@pytest.mark.parametrize("name", SCENES)
def test_text_is_that_of_a_pipe_whatever_the_colours(name: str) -> None:
    """In colour a bar bears one letter; as text, and on consoles without colour, each cell does."""
    plain, coloured = (Picture(SCENES[name](), ViewOptions(color=each)) for each in DEPTHS)
    text, console = str(plain), Console(file=StringIO(), width=80, color_system=None)
    assert str(coloured) == repr(coloured) == text == render_text(plain, plain.options)[:-1]
    with console.capture() as capture:
        console.print(coloured)
    assert [line.rstrip() for line in capture.get().splitlines()] == text.splitlines()


def test_a_bar_without_colour_bears_its_letter_in_every_cell() -> None:
    inputs = {"data": [[1, 1, 1]], "indices": [[0]], "updates": [[7, 1, 9]]}
    frames = Frames(trace("onnx.scatter_nd", inputs), ViewOptions())
    for drawing in (Picture(frames.trace, ViewOptions()), frames.step(1)):
        assert re.search(r"a:1→7 +a: *1 +a:1→9", str(drawing))
        console = Console(file=StringIO(), width=80, force_terminal=True, no_color=True)
        with console.capture() as capture:
            console.print(drawing)
        assert re.search(r"a:1→7 +a: *1 +a:1→9", STYLE.sub("", capture.get()))


def test_without_colour_there_is_no_escape_character() -> None:
    options = ViewOptions(color="none")
    assert "\x1b" not in render_text(Picture(sheets(), options), options)


def test_mono_uses_attributes_only() -> None:
    options = ViewOptions(palette="mono")
    text = render_text(Picture(sheets(), options), options)
    assert not is_coloured(text)
    assert any(look.bold for look in looks(text))


def test_terminal_with_256_colours_gets_seven_grounds() -> None:
    options = ViewOptions(color="256")
    found = trace("onnx.gather", {"data": np.arange(9), "indices": np.arange(9)})
    text = render_text(Picture(found, options), options)
    assert len({look.bgcolor for look in looks(text) if look.bgcolor}) == 7
    assert not any(look.bgcolor.triplet for look in looks(text) if look.bgcolor)


def test_measure_is_the_true_width() -> None:
    console = Console(width=100, _environ={})
    drawn = Picture(sheets(), ViewOptions(width=100))
    measured = Measurement.get(console, console.options, drawn)
    widest = max(
        map(cell_len, render_text(drawn, ViewOptions(width=100, color="none")).split("\n"))
    )
    assert measured.maximum == measured.minimum
    assert measured.maximum == cell_len(
        max(("".join(text for text, _ in line) for line in drawn.render_lines()), key=cell_len)
    )
    assert widest <= measured.maximum


def test_a_narrower_console_is_obeyed() -> None:
    console = Console(width=50, force_terminal=True, color_system=None, _environ={})
    lines = console.render_lines(Picture(sheets(), ViewOptions(width=100)))
    assert max(len("".join(one.text for one in line).rstrip()) for line in lines) <= 50


def test_a_width_below_forty_is_taken_as_forty() -> None:
    options = ViewOptions(width=7, color="none")
    assert max(map(cell_len, render_text(Picture(sheets(), options), options).split("\n"))) <= 40


def test_svg_is_well_formed_and_loads_nothing() -> None:
    options = ViewOptions()
    svg = render_svg(Picture(sheets(), options), "a < b & c")
    ET.fromstring(svg)
    assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]
    assert "url(http" not in svg
    assert "@font-face" not in svg
    assert "monospace" in svg
    assert "#56B4E9" in svg


def test_svg_is_the_same_each_time() -> None:
    options = ViewOptions()
    assert render_svg(Picture(sheets(), options), "t") == render_svg(
        Picture(sheets(), options), "t"
    )


def test_svg_is_as_wide_as_the_longest_line() -> None:
    options = ViewOptions(width=200)
    found = trace("onnx.gather", {"data": [1, 2], "indices": [0]})
    svg = render_svg(Picture(found, options), "t")
    assert float(svg.split('viewBox="0 0 ')[1].split()[0]) < 1000


def test_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "13")
    monkeypatch.setenv("TERM", "dumb")
    options = ViewOptions()
    assert "\x1b[" in render_text(Picture(sheets(), options), options)


def test_wrapping_keeps_ranges_together() -> None:
    assert wrap_text("for i = 0 … 3, j = 0 … 9", 17) == ["for i = 0 … 3,", "j = 0 … 9"]
    assert wrap_text("", 10) == [""]


@pytest.mark.parametrize("palette", ["okabe", *slow(["mono", "16"])])
@pytest.mark.parametrize(
    ("color", "system"), [("truecolor", "truecolor"), ("256", "256"), ("16", "standard")]
)
def test_escape_sequences_are_those_that_rich_writes(
    palette: PaletteName, color: Depth, system: Literal["truecolor", "256", "standard"]
) -> None:
    options = ViewOptions(color=color, palette=palette, width=100)
    console = Console(
        file=StringIO(), width=100, color_system=system, force_terminal=True, no_color=False,
        legacy_windows=False, _environ={},
    )  # fmt: skip
    for scene in SCENES.values():
        drawn = Picture(scene(), options)
        with console.capture() as captured:
            console.print(drawn, end="")
        assert render_text(drawn, options) == captured.get()


def test_words_of_a_figure_stand_at_their_own_places() -> None:
    """Renderers that trim spaces or know no textLength keep the columns."""
    drawn = Picture(sheets(), ViewOptions())
    root = ET.fromstring(render_svg(drawn, "t"))
    words = [one for one in root.iter() if one.tag.endswith("text")]
    assert words
    assert all(one.text == (one.text or "").strip() and " " not in one.text for one in words)
    lines = ["".join(text for text, _ in line) for line in drawn.render_lines()]
    for one in words:
        row = (float(one.attrib["y"]) - MARGIN - 15) / LINE
        column = (float(one.attrib["x"]) - MARGIN) / CELL
        assert lines[round(row)][round(column) :].startswith(one.text or "?")


def test_strokes_are_drawn_and_not_written() -> None:
    """A renderer without textLength would set a row of dashes too short."""
    found = trace("onnx.gather_nd", {"data": np.zeros((99, 99)), "indices": [[0, 0], [98, 50]]})
    drawn = Picture(found, ViewOptions())
    root = ET.fromstring(render_svg(drawn, "t"))
    lines = ["".join(text for text, _ in line) for line in drawn.render_lines()]
    strokes = [one.attrib for one in root.iter() if one.attrib.get("height") == "1"]
    assert len(strokes) == sum("──" in line for line in lines) == 2
    (long,) = {float(one["width"]) for one in strokes}
    assert long == pytest.approx(max(line.count("─") for line in lines) * CELL, abs=0.01)
    assert not any("─" in (one.text or "") for one in root.iter())


def test_a_figure_has_title_and_description_and_no_ground() -> None:
    svg = render_svg(Picture(sheets(), ViewOptions()), "a < b", "rows & columns", "dark")
    assert '<title id="title">a &lt; b</title>' in svg
    assert '<desc id="description">rows &amp; columns</desc>' in svg
    grounds = {one.attrib["fill"] for one in ET.fromstring(svg).iter() if one.tag.endswith("rect")}
    assert not grounds & {inks.background for inks in FIGURE_PALETTES.values()}
    assert FIGURE_PALETTES["dark"].foreground in svg


def plain_text(path: Path) -> str:
    """The words of a figure, one after the other."""
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    return " ".join(one.text or "" for one in root.iter() if one.tag.endswith("text"))


def test_a_series_has_a_figure_per_step(tmp_path: Path) -> None:
    words = ["gather", "[1,2,3]", "[2,0]", "--svg", str(tmp_path / "s.svg"), "--step", "all", "-q"]
    assert run_safely(words) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s-0.svg", "s-1.svg", "s-2.svg"]
    assert "step 2 of 2" in plain_text(tmp_path / "s-2.svg")
    assert "step 0 of 2" in plain_text(tmp_path / "s-0.svg")


def test_figures_of_a_series_have_one_size_and_their_tables_one_place(tmp_path: Path) -> None:
    words = ["scatter-nd", "[[0,0],[0,0],[0,0]]", "[[2],[0],[2]]", "[[1,2],[3,4],[5,6]]", "-q"]
    assert run_safely([*words, "--svg", str(tmp_path / "s.svg"), "--step"]) == 0
    figures = [ET.fromstring(path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()]
    assert len(figures) == 4
    assert len({figure.attrib["viewBox"] for figure in figures}) == 1
    heads = [one for figure in figures for one in figure.iter() if one.text == "output"]
    assert len(heads) == 4
    assert len({(head.attrib["x"], head.attrib["y"]) for head in heads}) == 1


@pytest.mark.parametrize("palette", ["okabe", "mono", "16"])
@pytest.mark.parametrize(
    "words",
    ["gather [1,2] [0,1] --step 1", "gather [1,2] [0]", "compare gather [1] [0]", "show [1]",
     "grad gather [1.5] [0]"],
)  # fmt: skip
def test_a_figure_has_colours_of_its_own(words: str, palette: str, tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    assert run_safely([*words.split(), "-q", "--palette", palette, "--svg", str(path)]) == 0
    assert "color(" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("flag", ["-o", "--svg"])
def test_pictures_under_another_name_are_refused(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "figure.png"
    assert run_safely(["gather", "[1,2]", "[0]", flag, str(target)]) == 2
    assert "not as PNG" in capsys.readouterr().err
    assert not target.exists()
