"""Thousands of drawings: never too wide, nothing lost in silence, no terminal steered."""

from __future__ import annotations

import random
import re
from functools import cache

import pytest
from conftest import slow
from recording.scenes import ROLES
from rich.cells import cell_len
from views.worlds import every_operator, random_trace

from gscli.frameworks import operators
from gscli.traces import Trace
from gscli.views.group import render_tensors
from gscli.views.lines import render_text
from gscli.views.look import ViewOptions
from gscli.views.picture import Picture
from gscli.views.subject import make_views
from gscli.views.terminal.explain import Explanation
from gscli.views.terminal.frames import Frames
from gscli.views.terminal.tables import make_tensor_drawing

WIDTHS = (40, 41, 43, 50, 64, 80, 100, 120, 200)
SEEDS = range(30)
RANDOM_RUNS = 14
STYLE = re.compile(r"\x1b\[[0-9;]*m")
LABEL = re.compile(r"(?<!\S)([a-zA-Z]+(?:,[a-zA-Z]+)*)(\+\d+)?:(?=\s*[-\d.TFni])")


@cache
def declared() -> tuple[Trace, ...]:
    return tuple(every_operator(random.Random(4), 4))


def some_options(rng: random.Random) -> ViewOptions:
    return ViewOptions(
        width=rng.choice(WIDTHS),
        color=rng.choice(["none", "none", "truecolor", "256", "16"]),
        palette=rng.choice(["okabe", "mono", "16"]),
        utf8=rng.random() < 0.7,
        full=rng.random() < 0.05,
        rows=rng.choice([None, None, 1, 3, 60]),
        edge=rng.choice([0, 1, 2, 4]),
        height=rng.choice([None, 10, 40]),
        precision=rng.choice([None, None, 0, 2, 9]),
        limit=rng.choice([None, None, 0, 1, 30]),
    )


def check_text(text: str, options: ViewOptions) -> None:
    bare = STYLE.sub("", text) if options.color != "none" else text
    assert text.endswith("\n") or not text
    for line in bare.split("\n"):
        assert cell_len(line) <= options.width, (cell_len(line), options.width, line)
    assert all(character == "\n" or character.isprintable() for character in bare), bare
    if not options.utf8:
        assert bare.isascii(), [character for character in bare if not character.isascii()]


def check_letters(drawn: Picture, options: ViewOptions) -> None:
    """Each drawn entry has its letter in every tensor it touches, or is counted as hidden."""
    for subject in make_views(drawn.trace, drawn.marked_entries, ROLES):
        if subject.array.dtype.kind in "UTO" or subject.array.dtype.kind == "c":
            continue
        group = render_tensors([subject], options, options.width)
        text = "\n".join(
            "".join(run for run, _ in line)[: options.width] for line in group.blocks[0].lines[1:]
        )
        shown: set[str] = set()
        counted = 0
        for letters, more in LABEL.findall(text):
            shown |= set(letters.split(",")) if "," in letters else {letters, *letters}
            counted += int(more or 0)
        labels = {mark.label for mark in subject.marks}
        missing = len(labels - shown)
        hidden = len(labels) - dict(group.seen)[subject.name]
        assert missing <= hidden + counted, (labels - shown, hidden, counted, text)


@pytest.mark.parametrize("seed", [*SEEDS[:2], *slow(SEEDS[2:])])
def test_random_calls(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(RANDOM_RUNS):
        trace = random_trace(rng)
        if trace is None:
            continue
        options = some_options(rng)
        drawn = Picture(trace, options)
        check_text(render_text(drawn, options), options)
        check_text(str(render_text(Explanation(trace, options), options)), options)
        check_letters(drawn, ViewOptions(width=options.width, color="none", rows=options.rows))
        tensor = rng.choice(trace.tensors)
        check_text(
            render_text(make_tensor_drawing(tensor.name, tensor.array, options), options), options
        )


@pytest.mark.parametrize("seed", [0, *slow(range(1, 8))])
def test_every_declared_operator(seed: int) -> None:
    rng = random.Random(seed)
    for trace in declared()[seed::8]:
        options = some_options(rng)
        check_text(render_text(Picture(trace, options), options), options)
        check_text(str(render_text(Explanation(trace, options), options)), options)
        plain = Explanation(trace, options, plain=True).format_plain()
        assert isinstance(plain, str)
        assert plain.isascii()
        assert all(character == "\n" or character.isprintable() for character in plain)
        steps = Frames(trace, options)
        for number in {0, 1, len(steps) // 2, len(steps)} & set(range(len(steps) + 1)):
            check_text(render_text(steps.step(number), options), options)


def test_the_fuzz_sees_every_operator() -> None:
    assert {trace.operator.full_name for trace in declared()} == {
        operator.full_name for operator in operators()
    }
