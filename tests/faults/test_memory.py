"""Too little memory, from hardly any to enough: a refusal and the old file, then success."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import slow

STEPS = 32

PROGRAM = """
import json, os, resource, sys
from pathlib import Path
import numpy as np
from gscli.base import GscliError
from gscli.files import load, save

os.fsync = lambda descriptor: None
folder, form, steps = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
source, target = folder / f"in.{form}", folder / f"out.{form}"
new = np.arange(1 << 18, dtype=np.float64) if form != "json" else np.arange(1 << 15)
save(str(source), new)
load(str(source))
old = np.arange(3)
base = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
enough = (64 if form == "json" else 24) * new.nbytes
outcomes = []
for step in range(steps):
    save(str(target), old)
    pid = os.fork()
    if pid == 0:
        code = 99
        limit = base + enough * step // (steps - 1)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        try:
            array = load(str(source)).array
            save(str(target), array)
            code = 0
        except GscliError as error:
            code = int(error.code)
        except MemoryError:
            code = 98
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    read = load(str(target)).array
    kept = "new" if read.size == new.size and (read == new).all() else "old"
    if kept == "old":
        assert (read == old).all()
    names = sorted(p.name for p in folder.iterdir())
    assert names == sorted([source.name, target.name]), names
    outcomes.append((code, kept))
print(json.dumps(outcomes))
"""


@pytest.mark.parametrize("form", ["npy", *slow(["npz", "json", "safetensors", "pb", "h5"])])
def test_address_space_in_steps(form: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), form, str(STEPS)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    outcomes = json.loads(result.stdout)
    assert len(outcomes) == STEPS
    for code, kept in outcomes:
        assert (code, kept) == (0, "new") or (code in {65, 66, 73} and kept == "old"), outcomes
    assert outcomes[-1] == [0, "new"]
    assert outcomes[0][1] == "old"


COMMAND = """
import json, os, resource, sys
from pathlib import Path
import numpy as np
from gscli.files import load
from gscli.cli import run_safely
from gscli.stream import to_file

os.fsync = os.fdatasync = lambda descriptor: None
os.chdir(sys.argv[1])
target, words, steps = sys.argv[2], sys.argv[3].split(), int(sys.argv[4])
to_file.LARGE = 1 << 20
data = np.arange(1 << 18, dtype=np.float64).reshape(-1, 64)
at = np.arange(0, len(data), 3)[::-1]
np.save("at.npy", at)
np.save("at_nd.npy", at[:, None])
np.save("updates.npy", np.zeros((at.size, 64)))
np.save("data.npy", data)
assert run_safely(words) == 0
new = np.load(target).tobytes()
names = sorted(os.listdir())
base = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
outcomes = []
for step in range(steps):
    np.save("data.npy", data)
    np.save("out.npy", data[:3])
    old = np.load(target).tobytes()
    pid = os.fork()
    if pid == 0:
        limit = base + (80 << 20) * step // (steps - 1)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        os._exit(run_safely(words))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    found = np.array(load(target).array).tobytes()
    outcomes.append((code, {old: "old", new: "new"}.get(found, "mixed")))
    left = sorted(set(os.listdir()) - {"out.npy"} - set(names))
    assert not left, left
print(json.dumps(outcomes))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("out.npy", "gather data.npy at.npy -o out.npy -q"),
        ("out.npy", "scatter-nd data.npy at_nd.npy updates.npy -r add -o out.npy -q"),
        ("data.npy", "scatter-nd data.npy at_nd.npy updates.npy --in-place -q"),
        ("data.npy", "scatter-nd data.npy at_nd.npy updates.npy --in-place=direct -q"),
    ],
    ids=["gather", "scatter", "in place", "direct"],
)
def test_a_large_run_in_steps_of_memory(target: str, words: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", COMMAND, str(tmp_path), target, words, str(STEPS)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    outcomes = json.loads(result.stdout)
    assert len(outcomes) == STEPS
    for code, kept in outcomes:
        assert (code, kept) == (0, "new") or (code in {65, 66, 73} and kept == "old"), outcomes
    assert outcomes[-1] == [0, "new"]
    assert outcomes[0][1] == "old"
    assert "Traceback" not in result.stderr
    assert "bug" not in result.stderr


FILE_SIZE = """
import resource, sys
import numpy as np
from gscli.base import CannotWrite
from gscli.files import save

resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    save(sys.argv[1], np.arange(100_000))
except CannotWrite as error:
    print(error.where)
"""


def test_a_limit_of_the_file_size_is_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "out.npy"
    path.write_bytes(b"old")
    command = [sys.executable, "-c", FILE_SIZE, str(path)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert result.stdout == f"{path}: file too large\n"
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
