"""gscli with nothing installed but what it depends on; run by tests/lowest.py alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import gscli
from gscli.base import GscliError
from gscli.cli import run_safely
from gscli.files import load, save

ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_no_extra_is_there() -> None:
    assert not [
        name
        for name in ("onnx", "h5py", "zarr", "dask", "icechunk", "safetensors")
        if importlib.util.find_spec(name)
    ]


@pytest.mark.parametrize("suffix", ["npy", "npz", "json", "csv", "tsv", "txt", "safetensors"])
def test_formats_that_need_nothing_else(suffix: str, tmp_path: Path) -> None:
    path = str(tmp_path / f"x.{suffix}")
    save(path, ARRAY)
    assert np.array_equal(load(path).array, ARRAY)


@pytest.mark.parametrize(("suffix", "extra"), [("h5", "hdf5"), ("zarr", "zarr")])
def test_formats_that_do_say_what_to_install(suffix: str, extra: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{suffix}"
    with pytest.raises(GscliError, match=rf"gscli\[{extra}\]"):
        save(str(path), ARRAY)
    assert not path.exists()


def test_a_tensor_of_onnx_is_written_all_the_same(tmp_path: Path) -> None:
    path = str(tmp_path / "x.pb")
    save(path, ARRAY)
    with pytest.raises(GscliError, match=r"gscli\[onnx\]"):
        load(path)


@pytest.mark.parametrize(
    "words",
    [
        ["gather", "[1,2,3]", "[0,-1]"],
        ["compare", "gather", "[1,2,3]", "[0]"],
        ["explain", "scatter-nd", "[1,2]", "[[0]]", "[9]"],
        ["rules", "onnx", "gather"],
        ["help", "inputs"],
        ["torch", "gather", "[1,2]", "[0]", "--dim", "0", "--json"],
    ],
    ids=lambda words: words[0],
)
def test_commands_run(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(words) == 0
    assert capsys.readouterr().out


def test_every_example_of_every_operator_runs(capsys: pytest.CaptureFixture[str]) -> None:
    import shlex

    for operator in gscli.operators():
        words = [*operator.command_line.split()[1:], *shlex.split(operator.example), "-q"]
        assert run_safely(words) == 0, (words, capsys.readouterr().err)
