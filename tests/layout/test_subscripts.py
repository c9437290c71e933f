"""What stands between the brackets: words of a shell, Python's objects, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import gscli
from gscli.base import DtypeRefused, GscliError, IndexRefused, ShapeRefused, UsageError
from gscli.cli import run_safely
from gscli.layout.subscripts import format_subscript, parse_subscript

CUBE = np.arange(24).reshape(2, 3, 4)
GRID = np.array([[1.0, 2.0], [3.0, 4.0]])
BYTES = np.array([1, 0], np.uint8)
EMPTY = np.zeros(0, np.int64)

BRACKETS: list[tuple[list[str], Any]] = [
    ([":", "[2,0]", "None"], np.s_[:, [2, 0], None]),
    (["1:", "0", "::-1"], np.s_[1:, 0, ::-1]),
    (["...", "-1"], np.s_[..., -1]),
    (["[0,1]", ":", "[0,3]"], np.s_[[0, 1], :, [0, 3]]),
    (["true"], np.s_[True]),
    (["None", "[[1],[0]]", "[0,2]"], np.s_[None, [[1], [0]], [0, 2]]),
]


@pytest.mark.parametrize(("words", "key"), BRACKETS)
def test_words_of_a_shell_are_items_of_the_subscript(
    words: list[str], key: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    data = "arange:2x3x4"
    assert run_safely(["numpy", "getitem", data, "--json=output", "--", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["shape"] == list(CUBE[key].shape)
    assert found["data"] == CUBE[key].reshape(-1).tolist()


@pytest.mark.parametrize(("words", "key"), BRACKETS)
def test_python_takes_what_python_writes(words: list[str], key: Any) -> None:
    del words
    parts = key if isinstance(key, tuple) else (key,)
    assert gscli.numpy.getitem(CUBE, parts).tolist() == CUBE[key].tolist()
    inputs = {"a": CUBE} | {f"indices_{number}": part for number, part in enumerate(parts)}
    assert gscli.run("numpy.getitem", inputs).tolist() == CUBE[key].tolist()
    written_to = CUBE.copy()
    written_to[key] = 100
    assert gscli.numpy.setitem(CUBE, parts, 100).tolist() == written_to.tolist()


def test_a_document_runs_again() -> None:
    found = gscli.trace("numpy.getitem", {"a": CUBE}, {"subscript": "1:, ::2"})
    document = found.to_dict()
    assert list(document["inputs"]) == ["a"]  # type: ignore[call-overload]
    assert list(found.inputs) == ["a", "1:", "::2"]
    assert gscli.run("numpy.getitem", {"a": CUBE}, {"subscript": "1:, ::2"}).shape == (1, 2, 4)


def test_the_line_reads_back() -> None:
    text = "1:3, ::-2, i, m, +, u, b, None, ..., :"
    assert format_subscript(parse_subscript(text)) == text
    assert parse_subscript("[:, i]") == parse_subscript(" : ,i")
    for wrong in ("1.5", "x", "1:2:3:4", "i,", "1"):
        with pytest.raises(UsageError, match="a subscript has slices"):
            parse_subscript(wrong)


def test_what_is_refused() -> None:
    for subscript, arrays, error, message in (
        ("i, i", [0], UsageError, "differ in number"),
        ("i, i, i, i", [0, 0, 0, 0], ShapeRefused, "more index arrays than axes of a"),
        (":, :, :, :", [], ShapeRefused, "more indices than axes of a"),
        ("..., ...", [], UsageError, "... stands once"),
        ("::0", [], ShapeRefused, "cannot have this step"),
    ):
        inputs = {"a": CUBE} | {f"indices_{n}": array for n, array in enumerate(arrays)}
        with pytest.raises(error, match=message):
            gscli.run("numpy.getitem", inputs, {"subscript": subscript})
    with pytest.raises(ShapeRefused, match="cannot have this step"):
        gscli.torch.index(CUBE, slice(None, None, -1))
    with pytest.raises(UsageError, match="not in both"):
        gscli.numpy.getitem(CUBE, (slice(1), 0), subscript="i")
    with pytest.raises(UsageError, match="a slice has whole numbers"):
        gscli.numpy.getitem(CUBE, slice(1.5))


def test_a_number_takes_its_axis_away_first_in_pytorch_alone() -> None:
    key = (0, slice(None), [0, 1])
    assert gscli.numpy.getitem(CUBE, key).shape == (2, 3)
    assert gscli.jax.at_get(CUBE, key).shape == (2, 3)
    assert gscli.torch.index(CUBE, key).shape == (3, 2)


def test_dots_without_an_axis_part_arrays_but_in_pytorch() -> None:
    key = (slice(None), [0, 1], ..., [0])
    wide = np.zeros((5, 3, 4))
    assert gscli.numpy.getitem(wide, key).shape == wide[key].shape == (2, 5)
    assert gscli.jax.at_get(wide, key).shape == (2, 5)
    assert gscli.torch.index(wide, key).shape == (5, 2)


def test_a_number_is_judged_where_the_arrays_are_empty() -> None:
    rows = np.array([[0, 1], [2, 3], [4, 5]])
    for call in (gscli.numpy.getitem, gscli.torch.index):
        with pytest.raises(IndexRefused, match="out of range"):
            call(rows, (3, EMPTY))
        assert call(rows, ([3], EMPTY)).shape == (0,)
    with pytest.raises(IndexRefused):
        gscli.run("numpy.add.at", {"a": rows, "indices_0": 3, "indices_1": EMPTY, "b": 1})


def test_a_mask_without_axes_is_a_new_axis_that_is_there_or_not() -> None:
    line = np.array([0, 1, 2])
    for mask, expected in ((True, [1, 2, 3]), (False, [0, 1, 2])):
        found = gscli.run("numpy.add.at", {"a": line, "indices_0": mask, "b": 1})
        assert found.tolist() == expected
    assert gscli.numpy.getitem(line, True).shape == (1, 3)
    assert gscli.torch.index(line, (False,)).shape == (0, 3)


def test_masks_of_uint8_are_masks_in_pytorch() -> None:
    put = gscli.torch.index_put_
    assert put(GRID, (BYTES,), [[9.0, 8.0]]).tolist() == [[9, 8], [3, 4]]
    assert put(GRID, (BYTES,), [9.0], accumulate=True).tolist() == [[10, 11], [3, 4]]
    assert put(GRID, (BYTES, BYTES), [9.0]).tolist() == [[9, 2], [3, 4]]
    assert put(GRID, (BYTES > 0,), [[[[9.0]]]]).tolist() == [[9, 9], [3, 4]]
    for value in (9.0, [9.0], [[9.0]]):
        with pytest.raises(DtypeRefused, match="a mask of uint8 takes no single value"):
            put(GRID, (BYTES,), value)
    assert gscli.torch.index(GRID, (BYTES,)).tolist() == [[1, 2]]
    with pytest.raises(GscliError, match="mask does not have the sizes"):
        gscli.torch.index(GRID, (np.array([1, 0, 1], np.uint8),))
    assert gscli.numpy.getitem(GRID, (BYTES,)).tolist() == [[3, 4], [1, 2]]


def test_strings_are_joined_whole() -> None:
    found = gscli.run("numpy.add.at", {"a": ["a", "b"], "indices_0": [0, 0], "b": ["x", "yz"]})
    assert found.tolist() == ["axyz", "b"]
    for name in ("subtract", "multiply", "maximum", "minimum"):
        with pytest.raises(DtypeRefused):
            gscli.run(f"numpy.{name}.at", {"a": ["a"], "indices_0": [0], "b": ["x"]})
