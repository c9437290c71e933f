"""`--expect` and `gscli diff` as a shell runs them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from looks import look_of
from shell import BARE
from shell import call_gscli as gscli
from shell import gscli as process

from gscli.base.arrays import parse_dtype
from gscli.lab import difference

CALL = ("scatter-nd", "[1,2,3]", "[[2],[2]]", "[4,5]", "-r", "add")


def test_the_exit_status_says_whether_they_are_equal(tmp_path: Path) -> None:
    np.save(tmp_path / "right.npy", np.array([1, 2, 12]))
    done = gscli(*CALL, "--expect", "right.npy", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.endswith(b"as expected: all 3 cells of right.npy\n")
    quiet = gscli(*CALL, "--expect", "[1,2,8]", "-q")
    told = b"1 of 3 cells differs from the expected answer, by 4 at most, at [2]\n"
    assert (quiet.returncode, quiet.stderr) == (1, b"")
    assert quiet.stdout.startswith(told)
    assert b"\n  of updates to the same cell only the last one counts (1 cell" in quiet.stdout
    refused = gscli("gather", "[1,2,3]", "[0,7]", "--expect", "[1,3]", "-q").stdout
    assert b"\n  indices out of range are clipped to the nearest end\n" in refused
    quiet = gscli(*CALL, "--expect", "right.npy", "-q", cwd=tmp_path)
    assert (quiet.returncode, quiet.stdout) == (0, b"as expected: all 3 cells of right.npy\n")


def test_a_cell_of_many_entries_names_the_first_and_counts_the_others(tmp_path: Path) -> None:
    np.save(tmp_path / "idx.npy", np.zeros((300, 1), int))
    call = "scatter-nd", "zeros:40x9", "idx.npy", "zeros:300x9", "--expect", "ones:40x9"
    table = gscli(*call, "--width", "60", cwd=tmp_path).stdout.decode()
    assert " a+299 [0,0]  0.0       1.0\n" in table
    told = gscli(*call, "--plain", "--width", "99", cwd=tmp_path).stdout.decode()
    assert "reached by entries a, b, c, d, e, f, g, h and 292 more.\n" in told
    flow = gscli("grad", *call[:4], cwd=tmp_path).stdout.decode()
    assert "300 writers, entry 299 stayed" in " ".join(flow.split())


def test_a_difference_is_told_with_its_cells_and_cause() -> None:
    done = gscli(*CALL, "--expect", "[1,2,8]")
    told = done.stdout.decode()
    assert "1 of 3 cells differs from the expected answer, by 4 at most, at [2]" in told
    assert "was → is ≠ expected" in told
    assert "ab:3→12≠8" in told
    assert (
        "of updates to the same cell only the last one counts (1 cell, reached by entries a, b)"
        in told
    )


def test_the_picture_marks_differing_cells_with_both_values() -> None:
    call = ("scatter-nd", "[[1,2,3],[4,5,6]]", "[[0,1],[-1,2]]", "[10,20]")
    told = gscli(*call, "--expect", "[[1,9,3],[7,5,20]]").stdout.decode()
    assert "a:2→10≠9" in told
    assert "4≠7" in told, "no entry reaches it, and it differs"
    assert any(line.rstrip().endswith("6→20") for line in told.splitlines()), "equal: as ever"
    assert "cell  is  expected" not in told, "what the picture shows is not listed again"
    ascii_only = process(*call, "--expect", "[[1,9,3],[7,5,20]]", PYTHONIOENCODING="ascii")
    assert b"a:2->10!=9" in ascii_only.stdout
    colored = gscli(*call, "--expect", "[[1,9,3],[7,5,20]]", "--color", "always").stdout.decode()
    assert look_of(colored, "≠9") != look_of(colored, "10"), "it has a colour of its own"


def test_text_with_the_sign_in_it_is_no_difference() -> None:
    told = gscli("gather", '["a≠b","c"]', "[0,1]", "--expect", '["a≠b","d"]').stdout.decode()
    assert 'a:"a≠b"' in told
    assert 'b:"c"≠"d"' in told


def test_values_that_look_alike_are_written_in_full() -> None:
    told = gscli("gather", "[1.5]", "[0]", "--expect", "[1.5000000001]", "--rtol", "0").stdout
    assert "a:1.5≠1.5000000001" in told.decode()


def test_a_large_picture_shows_differing_cells_first_and_lists_the_others(tmp_path: Path) -> None:
    data = np.arange(4000).reshape(400, 10)
    want = data.copy()
    want[200:260] = -1
    np.save(tmp_path / "data.npy", data)
    np.save(tmp_path / "want.npy", want)
    words = ("data.npy", "[[0]]", "[[0,1,2,3,4,5,6,7,8,9]]", "--expect", "want.npy")
    told = gscli("scatter-nd", *words, cwd=tmp_path).stdout.decode()
    assert "2000≠-1" in told
    assert "cell    is  expected" in told


def test_an_svg_marks_them_too(tmp_path: Path) -> None:
    gscli(*CALL, "--expect", "[1,2,8]", "--svg", "picture.svg", "-q", cwd=tmp_path)
    drawn = (tmp_path / "picture.svg").read_text()
    assert ">≠8</text>" in drawn
    assert ">expected</text>" in drawn


def test_plain_sentences_tell_each_cell() -> None:
    told = gscli(*CALL, "--expect", "[1,2,8]", "--plain").stdout.decode()
    assert "cell [2] is 12, expected 8, reached by entries a, b.\n" in told


def test_the_document_carries_the_comparison() -> None:
    document = json.loads(gscli(*CALL, "--expect", "[1,2,7]", "--json").stdout)["expectation"]
    assert (document["equal"], document["different"], document["entries"]) == (False, 1, ["a", "b"])
    causes = [cause["cause"] for cause in document["causes"] if cause["exact"]]
    assert "of updates to the same cell only the first one counts" in causes


@pytest.mark.parametrize("asked", [["--json"], ["--json=output", "-q"]])
def test_the_document_of_a_refused_call_carries_the_causes(asked: list[str]) -> None:
    done = gscli("gather", "[1,2,3]", "[0,7]", "--expect", "[1,3]", *asked)
    assert (done.returncode, done.stdout) == (65, b"")
    document = json.loads(done.stderr)
    assert document["error"]["problem"] == "index out of range"
    causes = document["expectation"].pop("causes")
    assert document["expectation"] == {"equal": False, "held_against": "the expected answer"}
    assert "indices out of range are clipped to the nearest end" in [one["cause"] for one in causes]


def test_the_document_has_the_verdict_of_an_output_too_large_for_it() -> None:
    words = ("gather", "zeros:5000001:int8", "arange:5000001", "--expect", "zeros:5000001:int8")
    done = gscli(*words, "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, b"")
    assert document["output"] == {"dtype": "int8", "shape": [5_000_001]}
    assert document["expectation"]["equal"] is True
    alone = gscli(*words, "--json=output")
    assert (alone.returncode, alone.stdout) == (65, b"")


def test_a_result_that_goes_to_a_file_is_held_against_it_too(tmp_path: Path) -> None:
    rows = np.arange(1 << 20, dtype=np.float32).reshape(-1, 64)  # streamed: 4 MiB
    np.save(tmp_path / "data.npy", rows)
    np.save(tmp_path / "at.npy", np.array([3, -1, 5]))
    np.save(tmp_path / "want.npy", rows[[3, 0, 5]])
    done = gscli("gather", "data.npy", "at.npy", "-o", "out.npy", "--expect", "want.npy",
                 cwd=tmp_path)  # fmt: skip
    assert done.returncode == 1
    assert b"negative indices are read as 0 (64 cells, reached by entry b)" in done.stdout
    assert np.array_equal(np.load(tmp_path / "out.npy"), rows[[3, -1, 5]])


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--expect", "missing.npy"), 66, b"no such file"),
        (("--rtol", "1"), 2, b"--rtol goes with --expect"),
        (("--expect", "[1,2,3]", "--atol", "-1"), 2, b"atol takes a number"),
        (("--expect", "[1,2,3]", "--rtol", "nan"), 2, b"rtol takes a number"),
        (("--expect", "[1,[2]]"), 65, b"error"),
        (("--expect", "[1,2,3]", "--in-place"), 2, b"--in-place"),
    ],
    ids=["missing", "alone", "negative", "nan", "ragged", "in place"],
)
def test_bad_expectations_are_refused(words: tuple[str, ...], code: int, told: bytes) -> None:
    done = gscli(*CALL, *words)
    assert done.returncode == code
    assert told in done.stderr
    assert done.stdout == b""


def test_nothing_is_written_where_the_expectation_cannot_be_read(tmp_path: Path) -> None:
    done = gscli(*CALL, "-o", "out.npy", "--expect", "missing.npy", cwd=tmp_path)
    assert done.returncode == 66
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A folder with a scatter into a file of 128 MiB, its answer and one with a mistake."""
    rows = np.arange(32 << 20, dtype=np.float32).reshape(-1, 64)
    at = np.arange(977, 400_000, 977).reshape(-1, 1)
    at[5] = -3
    new = np.full((len(at), 64), 0.5, np.float32)
    for name, array in (("data", rows), ("at", at), ("new", new)):
        np.save(tmp_path / f"{name}.npy", array)
    for name, places in (("right", at), ("wrong", np.maximum(at, 0))):
        want = rows.copy()
        want[places[:, 0]] = new
        np.save(tmp_path / f"{name}.npy", want)
    return tmp_path


def peak(words: tuple[str, ...], folder: Path) -> tuple[int, str, int]:
    """Exit status, what is printed, and the most memory that the command took, in MiB."""
    code = (
        "import resource, subprocess, sys; "
        "done = subprocess.run([sys.executable, '-m', 'gscli', *sys.argv[1:]]); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024); "
        "sys.exit(done.returncode)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, cwd=folder, env=BARE, check=False
    )
    *told, size = done.stdout.decode().splitlines()
    return done.returncode, "\n".join(told), int(size)


@pytest.mark.slow
@pytest.mark.parametrize("more", [("-q",), ("-o", "out.npy")], ids=["no file", "to a file"])
def test_large_files_are_held_against_each_other_block_by_block(
    large: Path, more: tuple[str, ...]
) -> None:
    call = ("scatter-nd", "data.npy", "at.npy", "new.npy")
    status, _, most = peak((*call, "--expect", "right.npy", *more), large)
    assert (status, most < 112) == (0, True), most
    status, told, most = peak((*call, "--expect", "wrong.npy", *more), large)
    assert (status, most < 112) == (1, True), most
    if "-q" not in more:
        assert "128 of 33,554,432 cells differ from wrong.npy" in told
        assert "causes are tried on 1,0" in told
        assert " of the cells, 128 of which differ\n" in told
        assert "negative indices are read as 0 (128 cells, reached by entry f)" in told


@pytest.mark.slow
def test_large_files_differ_block_by_block(large: Path) -> None:
    status, told, most = peak(("diff", "right.npy", "wrong.npy"), large)
    assert status == 1
    assert "128 of 33,554,432 cells differ" in told
    assert most < 112


# gscli diff


def test_diff_tells_equal_and_different_tensors() -> None:
    assert gscli("diff", "[1,2.0]", "[1,2]").returncode == 0
    done = gscli("diff", "[1,2,3]", "[1,2,4]")
    assert done.returncode == 1
    assert done.stdout.startswith(b"1 of 3 cells differs from [1,2,4], by 1 at most, at [2]\n")
    assert gscli("diff", "[1,2,3]", "[1,2,4]", "--atol", "1").returncode == 0
    assert gscli("diff", "-", "-").returncode == 2


@pytest.mark.parametrize("count", [0, 3, 30])
@pytest.mark.parametrize(
    "words",
    [
        ("diff", "arange:40", "zeros:40"),
        ("gather", "arange:40", "arange:40", "--expect", "zeros:40"),
        ("grad", "gather", "arange:40:float32", "arange:40", "--expect", "data=zeros:40"),
    ],
)
def test_as_many_differing_cells_are_listed_as_are_asked_for(
    words: tuple[str, ...], count: int
) -> None:
    words = (*words, "--limit", str(count))
    text = gscli(*words, *["--plain"] * (words[0] != "diff")).stdout.decode()
    assert len(re.findall(r"^ *(?:cell )?\[\d+\] ", text, re.MULTILINE)) == count
    document = json.loads(gscli(*words, "--json").stdout)
    assert len(document.get("expectation", document)["first"]) == count


@pytest.mark.parametrize(
    ("actual", "expected", "words", "largest"),
    [
        (
            [1.0, np.inf, np.inf, 1], [1.5, 5.0, 5.0, 1.25],
            "by inf at most, at [1], where finite by 0.5 at most, at [0]",
            {"difference": "inf", "at": [1]},
        ),
        ([np.nan, np.inf], [5.0, 5.0], "by nan, at [0]", {"difference": "nan", "at": [0]}),
        (
            [np.nan, 3, 1], [1, 1, 4], "by nan, at [0], where finite by 3 at most, at [2]",
            {"difference": "nan", "at": [0]},
        ),
        (
            [np.inf, 1.0], [-np.inf, 2.0],
            "by inf at most, at [0], where finite by 1 at most, at [1]",
            {"difference": "inf", "at": [0]},
        ),
        ([2**53 + 1, 1], [2**53, 1], "by 1 at most, at [0]", {"difference": 1.0, "at": [0]}),
        ([2**64 - 1], [2**64 - 3], "by 2 at most, at [0]", {"difference": 2.0, "at": [0]}),
        (
            [-1, 2**63 - 1], [2**63 - 1, -(2**63)], "by 1.84467e+19 at most, at [1]",
            {"difference": float(2**64), "at": [1]},
        ),
    ],
)  # fmt: skip
def test_diff_tells_of_what_is_not_finite_or_has_more_digits_than_a_float(
    actual: list[float], expected: list[float], words: str, largest: object, tmp_path: Path
) -> None:
    np.save(tmp_path / "a.npy", actual)
    np.save(tmp_path / "b.npy", expected)
    told = gscli("diff", "a.npy", "b.npy", "-q", "--json", cwd=tmp_path).stdout
    assert json.loads(told)["largest"] == largest
    finite = json.loads(told).get("largest_finite", {"difference": None})["difference"]
    assert finite is None or f" {finite:g} at most" in words
    assert (finite is None) == (words == "by nan, at [0]")
    assert (
        f" from b.npy, {words}\n" in gscli("diff", "a.npy", "b.npy", cwd=tmp_path).stdout.decode()
    )


def test_a_difference_in_a_later_block_is_not_above_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difference, "BLOCK", 1)
    held = difference.compare_tensors(np.array([1.0, np.nan, np.inf]), np.zeros(3))
    most = held.distances["largest"]
    assert (np.isnan(most[0]), most[1]) == (True, (1,))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_fractions_without_a_type_are_the_nearest_of_the_other_type(dtype: str) -> None:
    typed = json.dumps({"dtype": dtype, "data": [0.1, 2.5]})
    run = ("gather", typed, "[0,1]", "-q", "--expect")
    for same in ((*run, "[0.1,2.5]"), ("diff", typed, "[0.1,2.5]"), ("diff", "[0.1,2.5]", typed)):
        assert gscli(*same).returncode == 0
    for other in ((*run, "[0.2,2.5]"), ("diff", typed, "[0.1,1e300]"), ("diff", "[1,3]", typed)):
        assert gscli(*other).returncode == 1


def test_opaque_elements_are_of_the_type_that_is_named(tmp_path: Path) -> None:
    for name, data in (("a", "[1.5,2]"), ("b", "[1.5,3]")):
        gscli("convert", data, f"{name}.npy", "--dtype", "bfloat16", cwd=tmp_path)
    assert b"help: --dtype bfloat16" in gscli("diff", "a.npy", "a.npy", cwd=tmp_path).stderr
    run = ("gather", "a.npy", "[0,1]", "-q", "--expect")
    for words in (("diff", "a.npy"), run):
        codes = [
            gscli(*words, other, "--dtype", "bfloat16", cwd=tmp_path).returncode
            for other in ("a.npy", "b.npy")
        ]
        assert codes == [0, 1]


def test_a_tolerance_below_1_lets_no_integers_differ_and_no_text_is_a_number() -> None:
    small = difference.Tolerance(atol=0.5)
    large = np.array([2**53 + 1, 2**62, 5])
    assert difference.differing_cells(large, large - 1, small).all()
    assert not difference.differing_cells(large, large - 1, difference.Tolerance(atol=1.0)).any()
    for numbers in (np.array([1]), np.array([1.0], parse_dtype("bfloat16"))):
        assert difference.differing_cells(numbers, np.array(["1"])).all()


def test_cells_within_the_tolerance_are_told_with_how_far_apart_they_are(tmp_path: Path) -> None:
    np.save(tmp_path / "own.npy", np.array([1.0, 2.0, 5.0]))
    np.save(tmp_path / "other.npy", np.array([1.0, 2.25, 5.125]))
    words = ("diff", "own.npy", "other.npy", "--atol", "0.5")
    done = gscli(*words, cwd=tmp_path)
    assert done.stdout == b"equal: all 3 cells, apart by 0.25 at most, at [1]\n"
    document = json.loads(gscli(*words, "--json", cwd=tmp_path).stdout)
    assert document["largest_allowed"] == {"difference": 0.25, "at": [1]}
    assert (done.returncode, document["equal"], "largest" in document) == (0, True, False)
    how = ("--expect", "other.npy", "--atol", "0.5", "-q")
    run = gscli("gather", "own.npy", "[0,1,2]", *how, cwd=tmp_path)
    told = b"as expected: all 3 cells of other.npy, apart by 0.25 at most, at [1]\n"
    assert (run.returncode, run.stdout) == (0, told)
    near = gscli("grad", "gather", "[1.0]", "[0]", "--expect", "[1.25]", *how[2:], cwd=tmp_path)
    told = b"as expected: the gradient of data, apart by 0.25 at most, at [0]\n"
    assert (near.returncode, near.stdout) == (0, told)
    some = json.loads(gscli(*words[:3], "--atol", "0.2", "--json", cwd=tmp_path).stdout)
    assert (some["different"], some["largest"]["difference"]) == (1, 0.25)
    assert some["largest_allowed"] == {"difference": 0.125, "at": [2]}
    shown = gscli(*words[:3], "--atol", "0.2", "--width", "150", cwd=tmp_path).stdout.decode()
    far, near = shown.splitlines()[0].split("; ")
    assert far == "1 of 3 cells differs from other.npy, by 0.25 at most, at [1]"
    assert near == "those that count as equal are apart by 0.125 at most, at [2]"


def test_diff_holds_members_of_one_name_against_each_other(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.array([1, 2]), y=np.array([3.0]), only=np.array([0]))
    np.savez(tmp_path / "b.npz", x=np.array([1, 2]), y=np.array([4.0]))
    done = gscli("diff", "a.npz", "b.npz", cwd=tmp_path)
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "x: equal: all 2 cells"
    assert lines[1].startswith("y: 1 of 1 cells differs from b.npz::y")
    assert lines[-1] == "only is only in a.npz"
    document = json.loads(gscli("diff", "a.npz", "b.npz", "--json", cwd=tmp_path).stdout)
    assert not document["equal"]
    assert [member["equal"] for member in document["members"]] == [True, False, False]
    assert document["members"][2] == {"name": "only", "equal": False, "missing": "B"}


def test_diff_holds_containers_of_any_kind_against_each_other(tmp_path: Path) -> None:
    np.savez(tmp_path / "two.npz", x=np.array([1, 2]), y=np.array([3.0]))
    np.savez(tmp_path / "one.npz", x=np.array([1, 2]))
    np.savez(tmp_path / "other.npz", z=np.array([1, 2]))
    for name in ("x", "y"):
        gscli("convert", f"two.npz::{name}", f"two.safetensors::{name}", cwd=tmp_path)
    same = gscli("diff", "two.npz", "two.safetensors", cwd=tmp_path)
    assert (same.returncode, same.stdout) == (0, b"x: equal: all 2 cells\ny: equal: all 1 cell\n")
    fewer = gscli("diff", "one.npz", "two.npz", cwd=tmp_path)
    assert fewer.returncode == 1
    assert fewer.stdout.decode().splitlines()[-1] == "y is only in two.npz"
    renamed = gscli("diff", "one.npz", "other.npz", cwd=tmp_path)
    assert (renamed.returncode, renamed.stdout) == (0, b"equal: all 2 cells\n")
    np.save(tmp_path / "x.npy", np.array([1, 2]))
    which = gscli("diff", "x.npy", "two.npz", cwd=tmp_path)
    assert which.returncode == 2
    assert b"two.npz::x" in which.stderr
    assert gscli("diff", "x.npy", "missing.npy", cwd=tmp_path).returncode == 66
