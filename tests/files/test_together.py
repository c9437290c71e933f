"""One file or folder for all inputs."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import numpy as np
import pytest
from library_process import library_in_this_process
from shell import forked as gscli

from gscli import files
from gscli.base import CannotRead, GscliError, UsageError
from gscli.files import load_many, save

NAMES = ("data", "indices", "updates")
ARRAYS = (np.arange(6.0).reshape(2, 3), np.array([0]), np.array([9.0]))


def container(tmp_path: Path, suffix: str, names: tuple[str, ...] = NAMES) -> str:
    path = f"{tmp_path}/all.{suffix}"
    for name, array in zip(names, ARRAYS, strict=False):
        save(f"{path}::{name}", array)
    return path


def folder(tmp_path: Path, *files: str) -> str:
    for file, array in zip(files, ARRAYS, strict=False):
        save(str(tmp_path / file), array)
    return str(tmp_path)


@pytest.mark.parametrize("suffix", ["npz", "safetensors", "h5"])
@pytest.mark.parametrize(
    "names", [NAMES, ("params", "idx", "src"), ("X", "Index", "Values"), ("a", "ind", "upd")]
)
def test_members_are_matched_by_name(names: tuple[str, ...], suffix: str, tmp_path: Path) -> None:
    with library_in_this_process():
        loaded = load_many(container(tmp_path, suffix, names), NAMES)
    for name, array in zip(NAMES, ARRAYS, strict=True):
        assert np.array_equal(loaded[name].array, array)
        assert loaded[name].origin.startswith(f"{tmp_path}/all.{suffix}::")
        assert not loaded[name].array.flags.writeable


@pytest.mark.parametrize(
    "files",
    [
        ("data.npy", "indices.json", "updates.npy"),
        ("x.npy", "idx.npy", "upd.pb"),
        ("input_0.pb", "input_1.pb", "input_2.pb"),
        ("data.npy", "input_1.pb", "values.json"),
    ],
)
def test_files_of_a_folder(files: tuple[str, ...], tmp_path: Path) -> None:
    text = folder(tmp_path, *files)
    (tmp_path / "output_0.pb").write_bytes(b"not looked at")
    (tmp_path / "readme.md").write_text("not looked at")
    (tmp_path / "model.onnx").write_bytes(b"not looked at")
    loaded = load_many(text, NAMES)
    for name, array in zip(NAMES, ARRAYS, strict=True):
        assert np.array_equal(loaded[name].array, array)


def test_a_folder_with_a_name_like_json(tmp_path: Path) -> None:
    inner = tmp_path / "[x]"
    inner.mkdir()
    folder(inner, "data.npy")
    cwd = pytest.MonkeyPatch()
    cwd.chdir(tmp_path)
    assert np.array_equal(load_many("[x]", ("data",))["data"].array, ARRAYS[0])
    cwd.undo()


def test_an_exact_name_wins_over_a_synonym(tmp_path: Path) -> None:
    path = container(tmp_path, "npz", ("data", "x", "input"))
    assert np.array_equal(load_many(path, ("data",))["data"].array, ARRAYS[0])
    both = load_many(path, ("x", "data"))
    assert np.array_equal(both["x"].array, ARRAYS[1])
    with pytest.raises(UsageError, match="several arrays for params"):
        load_many(path, ("params",))


def test_what_is_missing(tmp_path: Path) -> None:
    path = container(tmp_path, "npz", ("data", "indices"))
    with pytest.raises(CannotRead, match="nothing for updates") as caught:
        load_many(path, NAMES)
    assert caught.value.valid == "data, indices"
    assert set(load_many(path, NAMES, optional=("updates",))) == {"data", "indices"}
    with pytest.raises(CannotRead, match="nothing for shape"):
        load_many(path, ("shape",))


def test_an_empty_list_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "indices.json").write_text("[]")
    loaded = load_many(str(tmp_path), ("indices",), empty_dtype="int64")
    assert loaded["indices"].array.dtype == np.int64
    assert not loaded["indices"].is_typed


def test_what_cannot_stand_for_all_inputs(tmp_path: Path) -> None:
    save(str(tmp_path / "x.npy"), ARRAYS[0])
    with pytest.raises(UsageError, match="one array"):
        load_many(str(tmp_path / "x.npy"), NAMES)
    with pytest.raises(CannotRead):
        load_many(str(tmp_path / "nowhere"), NAMES)
    save(str(tmp_path / "x.json"), ARRAYS[0])
    with pytest.raises(UsageError, match="two files"):
        load_many(str(tmp_path), NAMES)


def test_a_folder_of_very_many_files_is_not_read_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FOLDER_LIMIT", 3)
    for number in range(10):
        (tmp_path / f"n{number}.npy").touch()
    with pytest.raises(GscliError) as caught:
        load_many(str(tmp_path), ("data",))
    assert caught.value.valid.count(",") == 2


def test_pipes_in_a_folder_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "data.npy")
    save(str(tmp_path / "indices.npy"), np.array([0]))
    with pytest.raises(CannotRead, match="nothing for data"):
        load_many(str(tmp_path), ["data", "indices"])
    (tmp_path / "data.npy").unlink()
    (tmp_path / "data.npy").symlink_to("data.npy")
    with pytest.raises(CannotRead, match="cannot read"):
        load_many(str(tmp_path), ["data", "indices"])


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("gather", "all.npz", "--indices", "[1,1]"), [3, 4, 5, 3, 4, 5]),
        (("gather", "folder", "--indices", "[1]"), [3, 4, 5]),
        (("torch", "index-select", "all.npz", "--index", "[1]", "--dim", "0"), [3, 4, 5]),
        (("gather", "all.npz", "--data", "[7,8]"), [7]),
        (("scatter-elements", "short.npz", "--updates", "[[9]]", "--indices", "[[0]]"),
         [9, 1, 2, 3, 4, 5]),
        (("openvino", "gather", "short.npz", "--axis", "1"), [0, 3]),
    ],
)  # fmt: skip
def test_what_is_named_wins_over_a_container(
    words: tuple[str, ...], answer: list[int], tmp_path: Path
) -> None:
    container(tmp_path, "npz")
    np.savez(tmp_path / "short.npz", data=ARRAYS[0], indices=ARRAYS[1])
    (tmp_path / "folder").mkdir()
    folder(tmp_path / "folder", "data.npy", "indices.json")
    done = gscli(*words, "--json=output", cwd=tmp_path)
    assert json.loads(done.stdout)["data"] == answer, done.stderr.decode()


@pytest.mark.parametrize(
    ("words", "names", "answer"),
    [
        ("torch index", ("input", "indices_0", "indices_1"), [2, 5]),
        ("numpy getitem", ("x", "indices_0", "indices_1"), [2, 5]),
        ("torch index-put", ("input", "indices_0", "indices_1", "values"), [0, 1, 7, 3, 4, 8]),
        ("jax at-get", ("x", "index"), [0, 1, 2, 3, 4, 5]),
    ],
)
def test_the_arrays_of_an_index_tuple_are_called_by_number(
    words: str, names: tuple[str, ...], answer: list[int], tmp_path: Path
) -> None:
    arrays = np.arange(6).reshape(2, 3), np.array([0, 1]), np.array([2, 2]), np.array([7, 8])
    np.savez(tmp_path / "all.npz", **dict(zip(names, arrays, strict=False)))
    done = gscli(*words.split(), "all.npz", "--json=output", cwd=tmp_path)
    assert json.loads(done.stdout)["data"] == answer, done.stderr.decode()
    np.savez(tmp_path / "all.npz", x=arrays[0])
    done = gscli("torch", "index", "all.npz", cwd=tmp_path)
    assert b"nothing for indices_0\n" in done.stderr
    assert b"--indices" not in done.stderr


@pytest.mark.parametrize("name", ["indices", "indices_0"])
def test_an_index_tuple_of_one_array_is_called_by_number_or_whole(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "all.npz"
    np.savez(path, **{"input": [1, 2], name: [1]})
    inputs = load_many(str(path), ("input", "indices"), variadic="indices")
    assert {key: item.array.tolist() for key, item in inputs.items()} == {
        "input": [1, 2], "indices_0": [1],
    }  # fmt: skip


def test_a_container_that_is_there_keeps_the_reason_why_it_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("all.npz")
    with pytest.raises(CannotRead, match="cannot read all") as refusal:
        load_many("all.npz", ("data", "indices"))
    assert "a folder" not in refusal.value.valid


def test_errors_of_a_named_input_are_told_beside_a_container(tmp_path: Path) -> None:
    container(tmp_path, "npz")
    done = gscli("gather", "all.npz", "--indices", "nosuch.npy", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (66, b"")
    assert b"cannot read nosuch.npy" in done.stderr
    done = gscli("gather", "all.npz", "--indices", "-", "--data", "-", cwd=tmp_path)
    assert done.returncode in (2, 65), done.stderr.decode()
    np.savez(tmp_path / "short.npz", data=ARRAYS[0], indices=ARRAYS[1])
    done = gscli("openvino", "gather", "short.npz", cwd=tmp_path)
    assert b"help: --axis names it beside short.npz" in done.stderr
    done = gscli("openvino", "gather", "short.npz", "1", cwd=tmp_path)
    assert b"help: gscli openvino gather short.npz --NAME FILE names what short" in done.stderr


def test_an_array_without_a_name_stands_beside_others(tmp_path: Path) -> None:
    path = f"{tmp_path}/all.npz"
    np.savez(path, **{"": ARRAYS[2], "data": ARRAYS[0]})
    assert load_many(path, ["data"])["data"].array.tolist() == ARRAYS[0].tolist()
