"""show and convert: what files hold, and the same values in another format."""

from __future__ import annotations

import json
import os
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conftest import assert_same
from library_process import library_in_this_process
from shell import call_gscli as gscli

from gscli import files
from gscli.cli import run_safely
from gscli.files import load, save
from gscli.views.progress_bar import ProgressBar

Array = np.ndarray


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive with odd members."""
    path = tmp_path / "w.npz"
    np.savez(
        path, table=np.arange(6.0).reshape(2, 3), odd=np.float32([np.nan, -np.inf, 1, -2]),
        text=np.array(["x", "a\x1b[31m"]), none=np.zeros((0, 3), np.int8),
    )  # fmt: skip
    return path


def shown(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What `gscli show` prints."""
    assert run_safely(["show", *map(str, words)]) == 0
    printed = capsys.readouterr()
    assert not printed.err
    return printed.out


def test_members_are_listed(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line.split() for line in shown(capsys, archive).splitlines()]
    assert rows == [
        ["table", "float64", "[2,3]", "48", "bytes"],
        ["odd", "float32", "[4]", "16", "bytes"],
        ["text", "str", "[2]", "48", "bytes"],
        ["none", "int8", "[0,3]", "0", "bytes"],
    ]
    assert shown(capsys, archive, "-q") == ""
    document = json.loads(shown(capsys, archive, "--json"))
    assert document["members"][0] == {
        "name": "table", "dtype": "float64", "shape": [2, 3], "bytes": 48,
    }  # fmt: skip


def test_standard_input_is_listed_as_a_file_is(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2.5\n3,4\n")
    (tmp_path / "plain.csv").write_text("1,2\n")
    np.savez(tmp_path / "single.npz", only=[1, 2])
    names = (archive, *(tmp_path / name for name in ("t.csv", "plain.csv", "single.npz")))
    for path, option in product(names, ("--plain", "--stat")):
        streamed = gscli("show", "-", option, stdin=path.read_bytes())
        file = shown(capsys, path, option)
        assert streamed.stdout.decode() == file.replace(str(path), "standard input"), path


def test_columns_of_a_table_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2.5\n3,4\n")
    (tmp_path / "u.csv").write_text("a\n1\n")
    rows = [line.split() for line in shown(capsys, tmp_path / "t.csv").splitlines()]
    assert rows == [["a", "int64", "[2]", "16", "bytes"], ["b", "float64", "[2]", "16", "bytes"]]
    assert shown(capsys, tmp_path / "u.csv").split() == ["a", "int64", "[1]", "8", "bytes"]
    assert shown(capsys, tmp_path / "t.csv", "--stat").startswith("a  int64 [2]  min=1 at [0]")


def test_a_member_is_drawn(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, f"{archive}::table", "--width", "60")
    assert "0 │ 0  1  2\n1 │ 3  4  5\n" in text
    part = shown(capsys, f"{archive}::table", "--slice", "1,0:2", "--width", "60")
    assert part.split()[-3:] == ["│", "3", "4"]
    assert "\x1b" not in shown(capsys, f"{archive}::text")


def test_statistics_of_one_and_of_all(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "float32 [4]  min=-2.0 at [3]  max=1.0 at [2]  mean=-0.5  nan=1  inf=1  zero=0\n"
    assert shown(capsys, f"{archive}::odd", "--stat") == line
    assert shown(capsys, f"{archive}::odd", "--stat", "--quiet") == line  # no picture is printed
    rows = shown(capsys, archive, "--stat").splitlines()
    assert [row.split()[0] for row in rows] == ["table", "odd", "text", "none"]
    assert rows[1] == "odd    " + line.rstrip()
    document = json.loads(shown(capsys, archive, "--stat", "--json"))
    assert document["file"] == str(archive)
    assert [member["name"] for member in document["members"]] == ["table", "odd", "text", "none"]
    assert document["members"][1]["min"] == {"value": -2.0, "at": [3]}
    assert document["members"][3]["mean"] is None
    assert json.loads(shown(capsys, f"{archive}::odd", "--stat", "--json"))["nan"] == 1


def test_statistics_pass_over_what_no_operator_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "x.npz", o=np.array([{}], object), n=np.arange(2))
    rows = shown(capsys, tmp_path / "x.npz", "--stat").splitlines()
    assert rows[0] == "o  element type object is not supported"
    assert rows[1].startswith("n  int64 [2]  min=0")


def test_statistics_of_no_tensor_are_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "empty.npz")
    assert shown(capsys, tmp_path / "empty.npz", "--stat") == "no tensors\n"
    assert json.loads(shown(capsys, tmp_path / "empty.npz", "--stat", "--json"))["members"] == []


def test_a_slice_is_all_that_is_told_of_a_tensor(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = f"{archive}::table"
    document = json.loads(shown(capsys, table, "--slice", "1,0:2", "--json"))
    assert document == {"dtype": "float64", "shape": [1, 2], "data": [3.0, 4.0]}
    line = "float64 [1,2]  min=3.0 at [1,0]  max=4.0 at [1,1]  mean=3.5  nan=0  inf=0  zero=0\n"
    assert shown(capsys, table, "--slice", "1,0:2", "--stat") == line
    for form in ("--json", "--stat", "--plain"):
        assert run_safely(["show", table, "--slice", "0", form]) == 2
        assert "another number of parts" in capsys.readouterr().err
    assert run_safely(["show", str(archive), "--slice", "1,0:2", "--json"]) == 2
    refusal = json.loads(capsys.readouterr().err)["error"]
    assert refusal["hint"] == f"name one of them: {archive}::table, or leave out --slice"


def test_several_files_follow_each_other(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "a.npy", np.array([7, 8]))
    text = shown(capsys, archive, tmp_path / "a.npy", "--stat")
    assert text.splitlines()[0] == str(archive)
    assert text.splitlines()[-2:] == [
        str(tmp_path / "a.npy"),
        "int64 [2]  min=7 at [0]  max=8 at [1]  mean=7.5  nan=0  inf=0  zero=0",
    ]
    named = [f"{archive}::odd", str(tmp_path / "a.npy"), str(archive), "[1]"]
    lines = shown(capsys, *named, "--stat", "--json").splitlines()
    assert [json.loads(line)["file"] for line in lines] == named


@pytest.mark.parametrize("form", ["--plain", "--stat", "--json"])
def test_files_behind_one_that_cannot_be_read_are_shown(form: str, tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_text("[3")
    both = gscli("show", "[1]", "[5]", form, cwd=tmp_path)
    done = gscli("show", "[1]", "absent.npy", "cut.json", "[5]", form, cwd=tmp_path)
    assert (both.returncode, done.returncode) == (0, 66)
    assert done.stdout == both.stdout
    assert done.stderr.index(b"cannot read absent.npy") < done.stderr.index(b"cut.json is not JSON")
    assert gscli("show", "cut.json", "absent.npy", form, cwd=tmp_path).returncode == 65
    narrow = gscli("show", "absent.npy", "[1]", "--width", "40", cwd=tmp_path)
    assert max(map(len, narrow.stderr.splitlines())) <= 40


def test_a_tensor_is_printed_as_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(shown(capsys, "[[1],[2]]", "--json")) == {
        "dtype": "int64", "shape": [2, 1], "data": [1, 2],
    }  # fmt: skip


def test_a_large_file_is_shown_through_a_window(tmp_path: Path) -> None:
    big = np.lib.format.open_memmap(tmp_path / "big.npy", "w+", np.float32, (1 << 16, 1 << 12))
    big[-1, -1] = 5
    big.flush()
    done = gscli("show", "big.npy", "--width", "80", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.decode().endswith(" 5\n")
    assert len(done.stdout) < 20_000


def test_opaque_elements_need_their_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "b.npy", np.array([0.5, -2], ml_dtypes.bfloat16))
    assert run_safely(["show", str(tmp_path / "b.npy")]) == 65
    assert "--dtype bfloat16" in capsys.readouterr().err
    assert "-2.0" in shown(capsys, tmp_path / "b.npy", "--dtype", "bfloat16")
    gathered = ["gather", str(tmp_path / "b.npy"), "[1]", "--dtype", "bfloat16", "--json=output"]
    assert run_safely(gathered) == 0
    assert json.loads(capsys.readouterr().out)["dtype"] == "bfloat16"


def test_an_svg_of_a_tensor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "1" in shown(capsys, "[1,2]", "--svg", tmp_path / "t.svg")
    assert (tmp_path / "t.svg").read_text().startswith("<svg")
    assert run_safely(["show", "[1]", "[2]", "--svg", "x.svg"]) == 2
    capsys.readouterr()
    assert "data" in json.loads(shown(capsys, "[1]", "--json", "--svg", tmp_path / "j.svg"))
    assert (tmp_path / "j.svg").read_text().startswith("<svg")
    assert run_safely(["show", "[1]", "--json", "--svg", "-"]) == 2


# convert


def convert(*words: object) -> int:
    return run_safely(["convert", *map(str, words)])


ARRAYS = {
    "float32": np.array([[0.1, -0.0, np.nan], [np.inf, 1e-42, 3e38]], np.float32),
    "int64": np.array([2**63 - 1, -(2**63), 0]),
    "bool": np.array([[True], [False]]),
    "complex128": np.array([1 + 2j, complex(np.nan, 1)]),
    "bfloat16": np.array([0.1, -3], ml_dtypes.bfloat16),
    "scalar": np.array(2.5),
    "empty": np.zeros((0, 2), np.int32),
}
LOSSLESS = [
    (name, form)
    for form in ("json", "npz", "safetensors", "pb", "h5")
    for name in ARRAYS
    if (name, form)
    != ("complex128", "safetensors")  # the format has no complex numbers of 128 bits
]


@pytest.mark.parametrize(("name", "form"), LOSSLESS)
def test_there_and_back(name: str, form: str, tmp_path: Path) -> None:
    array = ARRAYS[name]
    np.save(tmp_path / "a.npy", array)
    opaque = ["--dtype", "bfloat16"] if name == "bfloat16" else []
    with library_in_this_process():
        assert convert(tmp_path / "a.npy", tmp_path / f"b.{form}", *opaque) == 0
        assert convert(tmp_path / f"b.{form}", tmp_path / "c.npy", *opaque) == 0
    assert_same(load(str(tmp_path / "c.npy"), dtype=opaque[-1] if opaque else None).array, array)


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_a_table_has_two_axes_as_help_says(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / f"column.{suffix}")
    assert run_safely(["convert", "[4,7]", path]) == 0
    assert_same(load(path).array, np.array([[4], [7]]))
    for words in (["help", "inputs"], ["convert", "--help"]):
        assert run_safely(words) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert "two axes" in printed
        assert "[N,1]" in printed


def test_a_loss_needs_cast(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "a.npy", np.array([1.5, 300.0]))
    out = tmp_path / "b.npy"
    assert convert(tmp_path / "a.npy", out, "--dtype", "int8") == 65
    assert "1.5 would change" in capsys.readouterr().err
    assert not out.exists()
    assert convert(tmp_path / "a.npy", out, "--dtype", "int8", "--cast") == 0
    assert np.load(out).dtype == np.int8
    assert np.load(out)[0] == 1
    assert convert(tmp_path / "a.npy", out, "--dtype", "float32") == 0
    assert np.load(out).tolist() == [1.5, 300.0]


def test_bytes_and_text_turn_into_each_other_as_characters(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([b"\xe9", b"ab"]))
    np.save(tmp_path / "n.npy", np.arange(2))
    for line in (
        "convert a.npy b.npy --dtype str", "convert b.npy c.npy --dtype S2",
        "convert b.npy d.npy --dtype S1 --cast", "gather a.npy 0 -o e.npy --dtype str",
    ):  # fmt: skip
        assert not gscli(*line.split(), cwd=tmp_path).returncode, line
    assert np.load(tmp_path / "b.npy").tolist() == ["é", "ab"]
    assert np.load(tmp_path / "c.npy").tolist() == [b"\xe9", b"ab"]
    assert np.load(tmp_path / "d.npy").tolist() == [b"\xe9", b"a"]
    assert np.load(tmp_path / "e.npy") == "é"
    done = gscli("gather", "n.npy", "0", "--dtype", "S3", cwd=tmp_path)
    assert b"leave --dtype S3 out" in done.stderr
    done = gscli("gather", "a.npy", "0", "--dtype", "int8", cwd=tmp_path)
    assert b"S2 cannot become int8" in done.stderr


def test_a_pipe_is_read_once_however_its_numbers_fit(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    writer = subprocess.Popen(["sh", "-c", "echo 3,2.5 > pipe.csv"], cwd=tmp_path)
    done = gscli("convert", "pipe.csv", "b.npy", "--dtype", "int8", cwd=tmp_path)
    assert (done.returncode, writer.wait(), (tmp_path / "b.npy").exists()) == (65, 0, False)


def test_cast_drops_imaginary_parts_without_a_word(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([1 + 2j]))
    done = gscli("convert", "a.npy", "b.npy", "--dtype", "float32", "--cast", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert np.load(tmp_path / "b.npy").tolist() == [1.0]


def test_other_members_are_kept(archive: Path) -> None:
    assert convert("[[9]]", f"{archive}::table", "--dtype", "float32") == 0
    with np.load(archive) as members:
        assert sorted(members) == ["none", "odd", "table", "text"]
        assert members["table"].tolist() == [[9.0]]


@pytest.mark.parametrize("form", ["npy", "safetensors", "zarr", "csv", "json", "npz"])
@pytest.mark.parametrize("source", ["a.npy", "a.safetensors"])
def test_a_limit_that_is_named_holds_for_the_result(
    source: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(source, np.arange(100.0, dtype=np.float32))
    monkeypatch.setattr(files, "MAX_BYTES", 10)  # the default is for what is built in memory
    assert run_safely(["convert", source, f"new.{form}"]) == 0
    words = ["convert", source, f"old.{form}", "--max-bytes"]
    assert run_safely([*words, "399"]) == 65
    assert not Path(f"old.{form}").exists()
    assert run_safely([*words, "400", "--dtype", "float64"]) == 65
    assert run_safely([*words, "400"]) == 0
    for limit, status in (("399", 65), ("400", 0)):
        assert run_safely(["grad", "gather", source, "[0]", "-q", "--max-bytes", limit]) == status


def test_convert_through_pipes() -> None:
    done = gscli("convert", "-", "-", "-f", "csv", stdin=b"[[1,2],[3,4]]")
    assert done.stdout.split() == [b"1,2", b"3,4"]


@pytest.mark.parametrize(
    ("words", "total"),
    [("x.csv", None), ("x --format json", None), ("x.JSON", None), ("x.npy", 24), ("x -f npz", 24)],
)
def test_a_text_has_no_size_before_it_is_written(
    words: str, total: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    totals: list[int | None] = []

    class Bar(ProgressBar):
        def __init__(self, label: str, total: int | None, **options: Any) -> None:
            super().__init__(label, total, **options)
            totals.append(total)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gscli.views.progress_bar.ProgressBar", Bar)
    monkeypatch.setattr("gscli.disk.atomic.check_space", lambda _, size, *__: totals.append(size))
    assert run_safely(["convert", "[1,2,3]", *words.split()]) == 0
    assert totals == [total] * (1 if total is None else 2)


@pytest.mark.parametrize("tensor", ["zeros:3", "ones:3", "zeros:10000000"])
def test_a_stream_in_a_format_of_files_says_so(tensor: str) -> None:
    stream = gscli("convert", tensor, "-", "-f", "safetensors").stdout
    done = gscli("show", "-", stdin=stream)
    assert (done.returncode, done.stdout) == (65, b"")
    assert b"other formats from files" in b" ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("{w}", "x.npy"), 2, "holds 4 arrays: say which one"),
        (("{w}::no", "x.npy"), 66, "has no member no"),
        (("{w}::text", "x.npy", "--dtype", "float32", "--cast"), 65, "do not turn into each other"),
        (("[1]", "x.npy", "--cast"), 2, "--cast needs --dtype"),
        (("[1]", "x.pt"), 2, "no format for"),
        (("[1]", "x.dat"), 2, "help: name it ….npy, or say -f npy"),
        (("[1]", "x.onnx"), 2, "name it ….npy"),
        (("[1]", "x.zip", "-f", "npy"), 2, "name the file ….npy"),
        (("-f", "npz", "--", "[1]", "-::a"), 2, "help: FILE.npz::a"),
        (("[[[1]]]", "x.csv"), 65, "help: use .npy or .json"),
        (("[1]", "-"), 2, "standard output needs a format"),
        (("model.pt", "x.npy"), 66, "never unpickles"),
    ],
)
def test_what_cannot_be_converted(
    words: tuple[str, ...],
    status: int,
    told: str,
    archive: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(archive.parent)
    assert convert(*(word.replace("{w}", archive.name) for word in words)) == status
    assert told in " ".join(capsys.readouterr().err.split())
    assert not Path("x.npy").exists()


def test_a_name_that_says_what_a_file_holds_gets_no_other_format_as_a_hint(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, is_offered in (("x.jsonl", False), ("x.onnx", False), ("x.zip", False), ("x", True)):
        assert convert("[1]", name) == 2
        assert ("-f npy" in capsys.readouterr().err) == is_offered


def test_what_was_written_as_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "a.npy")
    assert convert("[[1,2]]", target, "--dtype", "float32", "--json") == 0
    written = json.loads(capsys.readouterr().out)
    assert written == {"file": target, "dtype": "float32", "shape": [1, 2]}
    assert convert("[1]", "-", "-f", "json", "--json") == 2
    assert json.loads(capsys.readouterr().err)["error"]["problem"] == "stdout takes one result"
    assert convert("[1.5]", target, "--dtype", "int8", "--json") == 65
    assert json.loads(capsys.readouterr().err)["error"]["code"] == 65


def test_an_empty_list_is_int64_unless_what_it_meets_has_a_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing tells its type: alone it is int64, as `gscli help inputs` says."""
    target = tmp_path / "empty.npy"
    assert run_safely(["convert", "[]", str(target)]) == 0
    assert np.load(target).dtype == np.int64
    assert run_safely(["show", "[]"]) == 0
    assert "int64 [0]" in capsys.readouterr().out
    assert run_safely(["gather", "[]", "[]", "--json=output"]) == 0
    assert json.loads(capsys.readouterr().out)["dtype"] == "int64"
    typed = '{"dtype": "float64", "shape": [0], "data": []}'
    assert run_safely(["scatter-nd", "[]", "zeros:0x1:int64", typed, "--json=output"]) == 0
    assert json.loads(capsys.readouterr().out)["dtype"] == "float64"
    assert run_safely(["help", "inputs"]) == 0
    assert "[] is int64" in " ".join(capsys.readouterr().out.split())
