"""Tensors of recorded cases and jobs, by the name that a line and an input make."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gscli.base import CannotRead, ContentRefused, GscliError, UsageError
from gscli.files import load, members, save

TENSOR = {"dtype": "float32", "shape": [2], "data": [1.5, "nan"]}
LINES = [
    {"id": "a/1", "op": "Gather", "inputs": {"data": TENSOR, "indices": [[0]]}, "output": TENSOR},
    {"op": "gather", "inputs": {"data": "x.npy", "indices": 1, "axis": [5]}},
    {"id": "a/1", "op": "Gather", "inputs": {"data": [7]}},
]


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "cases.jsonl"
    file.write_text("\n\n".join(map(json.dumps, LINES)))
    return str(file)


def test_each_tensor_goes_by_its_line_and_its_name(path: str) -> None:
    found = [(one.name, one.dtype, one.shape) for one in members(path)]
    assert found == [
        ("a/1/data", "float32", (2,)), ("a/1/indices", "int64", (1, 1)),
        ("a/1/output", "float32", (2,)), ("3/axis", "int64", (1,)), ("a/1/data", "int64", (1,)),
    ]  # fmt: skip
    loaded = load(f"{path}::a/1/data")
    assert (loaded.is_typed, loaded.array.dtype) == (True, np.dtype("float32"))
    assert np.array_equal(loaded.array, [1.5, np.nan], equal_nan=True)
    assert load(f"{path}::3/axis").array.tolist() == [5]
    assert not load(f"{path}::a/1/indices").is_typed


def test_what_is_not_there_is_told(path: str, tmp_path: Path) -> None:
    with pytest.raises(CannotRead, match="no member") as caught:
        load(f"{path}::a/1/dat")
    assert caught.value.hint.endswith("a/1/data?")
    with pytest.raises(UsageError, match="holds 5 arrays"):
        load(path)
    with pytest.raises(UsageError, match="no format for"):
        save(path, np.arange(2))
    with pytest.raises(UsageError, match=r"a file in this folder: .*output\.npy"):
        save(str(tmp_path), np.arange(2))
    alone = tmp_path / "one.jsonl"
    alone.write_text('{"inputs": {"x": [3, 4]}}\n')
    assert load(str(alone)).array.tolist() == [3, 4]
    alone.write_text("\n")
    with pytest.raises(ContentRefused, match="holds no arrays"):
        load(str(alone))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[1]", "neither a recorded case nor a job"),
        ('{"inputs": [1]}', "neither a recorded case nor a job"),
        ("{", "is not JSON"),
        ('{"inputs": {"x": {"dtype": "float3", "data": [1]}}}', "unknown element type"),
        ('{"inputs": {"x": [1, [2]]}}', "is not a rectangular array"),
    ],
)
def test_bad_lines_are_refused_with_their_number(line: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"inputs": {}}\n' + line)
    with pytest.raises(GscliError, match=says) as caught:
        load(f"{file}::2/x")
    assert "bad.jsonl" in str(caught.value)
