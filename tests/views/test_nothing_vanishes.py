"""Nothing is left out in silence: shown and marked as left out make up every tensor, at any width.

The mapping from entries to cells is written here in plain loops; gscli's own is not asked.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from conftest import Array
from views.reading import Cell, Table, gaps, missing, tables

from gscli.base.words import MAX_LETTERED_ENTRIES
from gscli.lab.difference import Tolerance
from gscli.lab.expectation import OutputDiagnosis
from gscli.traces import Trace, entry_label, trace
from gscli.views.lines import render_text
from gscli.views.look import ViewOptions
from gscli.views.picture import Picture
from gscli.views.terminal.explain import Explanation

WIDTHS = (40, 41, 47, 60, 80, 100, 140)
Place = tuple[int, ...]

# Lines below the tensors: legend, remarks, what is not seen.
ENDED = re.compile(
    r"cells? (read|changed)|entries|more entr|: (cell|row|col|plane) \d|one (cell|line|sheet)"
    r"|counts from|twice: | times: |^ +[a-zA-Z]+ +indices|such (number|cell)s?$"
    r"|^ +([a-zA-Z]+ +)*[+]\d+ "
)


def random_call(rng: random.Random) -> tuple[Trace, dict[int, set[Place]]]:
    """A gather or scatter, and the cells of data or output that each entry touches."""
    rank = rng.choice([1, 1, 2, 2, 2, 3])
    shape = tuple(rng.choice([1, 2, 3, 5, 9, 24, 70]) for _ in range(rank))
    noise = np.random.default_rng(rng.getrandbits(32))
    data = noise.integers(0, rng.choice([9, 10**6]), shape)
    if rng.random() < 0.4:
        data = data / 8
    kind = rng.choice(["along", "vectors", "elements"])
    scatters = kind != "along" and rng.random() < 0.5
    axis = rng.randrange(rank)
    touched: dict[int, set[Place]] = defaultdict(set)
    if kind == "along":
        like = tuple(rng.randint(1, 9) for _ in range(rng.choice([1, 1, 2])))
        indices = noise.integers(-shape[axis], shape[axis], like)
        for number, index in enumerate(indices.reshape(-1).tolist()):
            axes = [range(size) for size in shape]
            axes[axis] = range(index % shape[axis], index % shape[axis] + 1)
            touched[number] = set(product(*axes))
    elif kind == "vectors":
        length = rng.randint(1, rank)
        count = rng.choice([1, 2, 5, 30, 70])
        columns = [noise.integers(-size, size, count) for size in shape[:length]]
        indices = np.stack(columns, -1)
        for number, vector in enumerate(indices.tolist()):
            start = tuple(one % size for one, size in zip(vector, shape, strict=False))
            touched[number] = {(*start, *rest) for rest in product(*map(range, shape[length:]))}
    else:
        like = tuple(rng.randint(1, min(size, 8)) for size in shape)
        indices = noise.integers(-shape[axis], shape[axis], like)
        for number, (place, index) in enumerate(np.ndenumerate(indices)):
            cell = list(place)
            cell[axis] = int(index) % shape[axis]
            touched[number] = {tuple(cell)}
    name = {"along": "gather", "vectors": "{}_nd", "elements": "{}_elements"}[kind]
    inputs = {"data": data, "indices": indices}
    attrs: dict[str, object] = {} if kind == "vectors" else {"axis": axis}
    if scatters:
        inputs["updates"] = noise.integers(
            0,
            99,
            (*indices.shape[:-1], *shape[indices.shape[-1] :])
            if kind == "vectors"
            else indices.shape,
        ).astype(data.dtype)
        attrs["reduction"] = rng.choice(["none", "add"])
    name = "onnx." + name.format("scatter" if scatters else "gather")
    return trace(name, inputs, attrs), touched


def check(found: Trace, touched: dict[int, set[Place]], options: ViewOptions) -> None:
    """Every drawn tensor accounts for all of its cells, and the picture for every entry."""
    text = drawn_below(found, options)
    sides = render_text(Picture(found, options), options)
    assert all(len(line) <= options.width for line in (text + sides).split("\n"))
    if "…" in re.sub("0 … [0-9]+", "", text):
        return  # not one column fits: cut with a mark
    target = "data" if found.kind == "gather" else "output"
    told = re.search(rf"([\d,]+) marked in {target}\b", " ".join(text.split()))
    drawn = 0
    for name, lines in sections(text):
        (tensor,) = [one for one in found.tensors if one.name == name]
        shown = all_cells(lines, tensor.array, commas=found.entry_count > 52)
        drawn += 1
        if tensor.role != target:
            continue
        seen: set[int] = set()
        for place, cell in shown.items():
            wanted = [
                n for n in sorted(touched) if place in touched[n] and n < MAX_LETTERED_ENTRIES
            ]
            assert len(wanted) == len(cell.letters) + cell.more
            assert [entry_label(n) for n in wanted][: len(cell.letters)] == list(cell.letters)
            seen |= set(wanted)
        assert len(seen) == (int(told[1].replace(",", "")) if told else found.entry_count)
    assert drawn == (2 if found.kind == "gather" else 1) or options.show


def drawn_below(found: Trace, options: ViewOptions) -> str:
    """The picture with everything below each other, nothing side by side."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gscli.views.cell_rows.PLANE_GAP", 10_000)
        patch.setattr("gscli.views.picture.GAP", 10_000)
        patch.setattr("gscli.views.group.LENS_GAP", 10_000)
        return render_text(Picture(found, options), options)


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Name and lines of every tensor in the text."""
    name, own = "", []
    for line in text.split("\n"):
        title = re.match(r"(\w+)  [a-z]+\d+ \[", line)
        if title or ENDED.search(line):
            if name:
                yield name, own
            name, own = (title[1] if title else ""), []
        else:
            own.append(line)
    if name:
        yield name, own


def all_cells(lines: list[str], array: Array, *, commas: bool) -> dict[Place, Cell]:
    """The cells that are drawn, after a look at what is marked as left out."""
    lenses = bool(re.match(r"\d+ neighbourhoods?, close up", lines[0]))
    planes: dict[Place, list[Table]] = defaultdict(list)
    for plane, table in tables(lines[lenses:], commas=commas):
        planes[plane].append(table)
    found: dict[Place, Cell] = {}
    for plane, own in planes.items():
        columns = [column for table in own for column in table.columns]
        assert lenses or not missing(columns, array.shape[-1]), columns
        for table in own:
            if lenses:
                assert not gaps(table.rows) + gaps(table.columns)
            else:
                assert array.ndim == 1 or not missing(table.rows, array.shape[-2]), table.rows
            for (row, column), cell in table.cells.items():
                place = (*plane, row, column)[-array.ndim :]
                written = float(cell.text.rpartition("→")[2].rstrip("↺⊣✗"))
                assert written == pytest.approx(float(array[place]), abs=1e-3, rel=1e-3)
                found[place] = cell
    return found


@pytest.mark.parametrize("seed", range(8))
def test_shown_and_marked_make_up_the_tensor(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(12):
        found, touched = random_call(rng)
        rows = rng.choice([None, None, 1, 3])
        show = rng.choice([None, None, ("data", "indices", "updates", "output")])
        options = ViewOptions(width=rng.choice(WIDTHS), color="none", rows=rows, show=show)
        check(found, touched, options)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_two_thousand_calls_lose_nothing(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(50):
        found, touched = random_call(rng)
        rows = rng.choice([None, None, None, 1, 3, 60])
        edge = rng.choice([0, 1, 1, 2])
        check(
            found,
            touched,
            ViewOptions(width=rng.choice(WIDTHS), color="none", rows=rows, edge=edge),
        )


def test_the_touched_column_is_shown_however_narrow() -> None:
    found = trace(
        "onnx.gather", {"data": np.arange(20).reshape(2, 10) / 8, "indices": [9]}, {"axis": 1}
    )
    for width in range(40, 90):
        options = ViewOptions(width=width, color="none")
        assert "a:2.375" in render_text(Picture(found, options), options)


def test_a_narrow_table_of_entries_signs_what_it_leaves_out() -> None:
    options = ViewOptions(width=40, color="none")
    inputs = {"data": np.zeros((2, 3, 4, 2), int), "indices": np.zeros((1, 1, 2, 1), int)}
    updates = np.array([123456789012, 987654321098]).reshape(1, 1, 2, 1)
    text = drawn_below(trace("onnx.gather_elements", inputs, {"axis": 2}), options)
    assert " a      0  ⋯\n" in text
    inputs["updates"] = updates
    text = drawn_below(trace("onnx.scatter_elements", inputs, {"axis": 2}), options)
    assert " a    123456789012\n b    987654321098\n" in text
    wide = {"data": np.zeros((2, 8)), "indices": [[1]], "updates": np.full((1, 8), 1.23e-7)}
    assert "  line of 8\n" in drawn_below(trace("onnx.scatter_nd", wide), options)


@pytest.mark.parametrize(
    ("old", "new", "expected", "cell"),
    [
        ([1.5, 2.0], [1.50001], [1.50001, 2.0], "a:1.5→1.50001 "),
        ([1.5, 2.0], [1.50001], [1.500011, 2.0], "a:1.5→1.50001≠1.500011\n"),
        (["w" * 13, ""], ["w" * 14], None, f'a:"{"w" * 13}"→"{"w" * 14}" '),
    ],
)
def test_a_change_of_few_digits_shows_them(
    old: list[object], new: list[object], expected: list[float] | None, cell: str
) -> None:
    run = trace("onnx.scatter_nd", {"data": old, "indices": [[0]], "updates": new})
    exact = Tolerance(0.0, 0.0)
    wanted = None if expected is None else OutputDiagnosis(run, np.array(expected), "x", exact)
    options = ViewOptions(color="none")
    assert cell in render_text(Picture(run, options, diagnosis=wanted), options)
    before, _, after = cell.removeprefix("a:").partition("≠")[0].strip().partition("→")
    assert f"{before} becomes {after}\n" in render_text(Explanation(run, options), options)
