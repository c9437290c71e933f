"""The command on inputs too large to copy: same bytes, little memory, nothing half-written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from shell import forked

from gscli.disk import mapped
from gscli.files import load
from gscli.frameworks import find_operator
from gscli.frameworks.execute import run_plan
from gscli.plan import plan_call

NAMES = ("data", "indices", "updates")
ROWS, WIDTH = 400_000, 64

# Bytes that the process may take; data alone are 100 MB.
ROOM = 80 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data of 100 MB, a thousand updates (some of one row), and a bad index."""
    place = tmp_path_factory.mktemp("large")
    generator = np.random.default_rng(3)
    np.save(place / "data.npy", generator.random((ROWS, WIDTH), np.float32))
    indices = generator.integers(-ROWS, ROWS, (1000, 1))
    indices[7] = indices[3]
    np.save(place / "indices.npy", indices)
    np.save(place / "updates.npy", generator.random((1000, WIDTH), np.float32))
    np.save(place / "bad.npy", np.array([[0], [ROWS]]))
    return place


MEASURED = """
import sys
from pathlib import Path
from gscli.cli import run_safely
code = run_safely(sys.argv[1:])
peak = next(l for l in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in l)
print(code, peak.split()[1])
"""


def run(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return forked(*arguments, cwd=folder, stdin=stdin)


def test_a_scatter_is_the_loop_and_stays_small(folder: Path) -> None:
    words = ["scatter-nd", "data.npy", "indices.npy", "updates.npy", "-o", "out.npy", "-r", "add"]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *words], cwd=folder, capture_output=True, check=True
    )
    code, peak = map(int, done.stdout.split())
    assert (code, done.stderr) == (0, b"")
    assert peak * 1024 < ROOM
    data, indices = np.load(folder / "data.npy"), np.load(folder / "indices.npy")
    np.add.at(data, indices[:, 0], np.load(folder / "updates.npy"))
    assert (folder / "out.npy").read_bytes()[-data.nbytes :] == data.tobytes()


def test_open_duplicates_are_told_or_refused_before_anything_is_written(folder: Path) -> None:
    words = ("scatter-nd", "data.npy", "indices.npy", "updates.npy", "-o", "last.npy")
    refused = run(folder, *words, "--strict")
    assert refused.returncode == 1
    assert not (folder / "last.npy").exists()
    told = run(folder, *words)
    assert told.returncode == 0
    assert b"entries write" in told.stderr
    data, indices = np.load(folder / "data.npy"), np.load(folder / "indices.npy")
    data[indices[:, 0]] = np.load(folder / "updates.npy")
    assert np.array_equal(np.load(folder / "last.npy"), data)


def test_a_bad_index_leaves_no_file(folder: Path) -> None:
    done = run(folder, "scatter-nd", "data.npy", "bad.npy", f"zeros:2x{WIDTH}:float32",
               "-o", "never.npy")  # fmt: skip
    assert done.returncode == 65
    assert b"bad.npy: indices[1,0] = 400000" in done.stderr
    assert not [path for path in folder.iterdir() if path.name.startswith((".gscli", "never"))]


def test_a_gather_with_updates_from_a_pipe(folder: Path) -> None:
    given = (folder / "indices.npy").read_bytes()
    done = run(folder, "gather-nd", "data.npy", "-", "-o", "rows.npy", stdin=given)
    assert (done.returncode, done.stderr) == (0, b"")
    data, indices = np.load(folder / "data.npy"), np.load(folder / "indices.npy")
    assert np.array_equal(np.load(folder / "rows.npy"), data[indices[:, 0]])


@pytest.mark.parametrize("way", ["--in-place", "--in-place=direct"])
def test_patching_in_place(way: str, folder: Path) -> None:
    target = folder / "patched.npy"
    target.write_bytes((folder / "data.npy").read_bytes())
    before = target.stat().st_ino
    done = run(folder, "scatter-nd", "patched.npy", "indices.npy", "updates.npy", way,
               "--reduction", "add", "-v")  # fmt: skip
    assert done.returncode == 0
    assert b"rows written" in done.stderr
    assert (target.stat().st_ino == before) == (way == "--in-place=direct")
    data, indices = np.load(folder / "data.npy"), np.load(folder / "indices.npy")
    np.add.at(data, indices[:, 0], np.load(folder / "updates.npy"))
    assert np.array_equal(np.load(target), data)
    assert not [path for path in folder.iterdir() if ".gscli" in path.name]


def test_patching_a_small_file_replaces_it(tmp_path: Path) -> None:
    np.save(tmp_path / "s.npy", np.array([1, 2, 3]))
    assert run(tmp_path, "scatter-nd", "s.npy", "[[1]]", "[9]", "--in-place").returncode == 0
    assert np.load(tmp_path / "s.npy").tolist() == [1, 9, 3]
    refused = run(tmp_path, "scatter-nd", "s.npy", "[[7]]", "[9]", "--in-place")
    assert refused.returncode == 65
    assert np.load(tmp_path / "s.npy").tolist() == [1, 9, 3]
    assert run(tmp_path, "gather", "s.npy", "[0]", "--in-place").returncode == 2
    assert run(tmp_path, "scatter-nd", "[1]", "[[0]]", "[9]", "--in-place").returncode == 2
    both = run(tmp_path, "scatter-nd", "s.npy", "[[1]]", "[9]", "--in-place", "-o", "x.npy")
    assert both.returncode == 2
    assert not (tmp_path / "x.npy").exists()


@pytest.mark.parametrize("reduction", ["none", "add"])
def test_a_picture_takes_memory_for_what_is_written_alone(folder: Path, reduction: str) -> None:
    inputs = {name: load(str(folder / f"{name}.npy")).array for name in NAMES}
    before = (folder / "data.npy").read_bytes()
    operator, attrs = find_operator("onnx.scatter_nd"), {"reduction": reduction}
    plan = plan_call(operator, inputs, attrs)
    shown = run_plan(operator, plan, overlay=True)[1]
    assert mapped.find_mapping(shown) is not None
    copied = run_plan(operator, plan)[1]
    assert mapped.find_mapping(copied) is None
    assert shown.tobytes() == copied.tobytes() != inputs["data"].tobytes()
    assert (folder / "data.npy").read_bytes() == before


def test_only_whole_large_files_are_overlaid_whatever_their_names_mean(folder: Path) -> None:
    data = load(str(folder / "data.npy")).array
    assert mapped.map_copy_on_write(np.zeros(data.shape, data.dtype)) is None
    assert mapped.map_copy_on_write(load(str(folder / "updates.npy")).array) is None
    linked = folder / "linked.npy"
    linked.hardlink_to(folder / "data.npy")
    gone = load(str(linked)).array
    linked.unlink()
    linked.mkdir()
    overlaid = mapped.map_copy_on_write(gone)
    assert overlaid is not None
    overlaid[0] = 1
    assert np.array_equal(overlaid[1:100], data[1:100])
    assert not np.array_equal(overlaid[0], data[0])


@pytest.mark.slow
def test_files_beyond_two_gibibytes(tmp_path: Path) -> None:
    """Rows beyond 2^31 bytes are shown, gathered and patched; the file's holes stay holes."""
    rows, width = 9 << 18, 256
    path = tmp_path / "data.npy"
    data = np.lib.format.open_memmap(path, "w+", np.float32, (rows, width))
    if path.stat().st_blocks * 512 > 1 << 20:
        pytest.skip("this file system has no files with holes")
    data[rows - 1] = 7
    del data
    far = [rows - 1, (1 << 21) + 5, 1]
    np.save(tmp_path / "indices.npy", np.array(far)[:, None])
    np.save(tmp_path / "updates.npy", np.full((3, width), 9, np.float32))
    words = ("scatter-nd", "data.npy", "indices.npy", "updates.npy", "-r", "add", "-q")
    assert run(tmp_path, "show", "data.npy").returncode == 0
    for times, way in enumerate(("--in-place=direct", "--in-place"), 1):
        assert run(tmp_path, *words, way).returncode == 0
        done = run(tmp_path, "gather", "data.npy", json.dumps([*far, 2]), "-o", "out.npy", "-q")
        assert done.returncode == 0
        expected = [7 + 9 * times, 9 * times, 9 * times, 0]
        assert np.load(tmp_path / "out.npy")[:, 3].tolist() == expected
    assert len(list(tmp_path.iterdir())) == 4  # three inputs and out.npy
