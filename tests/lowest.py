"""The oldest versions that pyproject.toml allows, and no extras with every Python: short runs.

    python tests/lowest.py [lowest] [3.11] [3.12] …

Each run has a fresh virtual environment below `.ci/`. "lowest" takes the lower bound of every
package that gscli or its extras need; a version of Python installs gscli alone, and pytest to ask
it. Without names: "lowest", and the newest Python that is found.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]

# Tests of what other packages do for gscli: arrays, files, the command line, pictures.
SHORT = (
    *("tests/cli/test_help.py", "tests/cli/test_shell.py", "tests/views/test_golden.py"),
    *("tests/files/test_onnx.py", "tests/files/test_safetensor.py", "tests/files/test_hdf5.py"),
    "tests/files/test_zarr.py",
    *("tests/files/test_npy.py", "tests/kernel/test_loops.py", "tests/stream/test_patching.py"),
    *("tests/frameworks/test_numpy.py", "tests/frameworks/test_jax.py"),
)

# Tests of what Python does for gscli, and of every command without an extra.
PLAIN = (
    *("tests/without_extras.py", "tests/files/test_npy.py", "tests/disk/test_exchange.py"),
    *("tests/stream/test_patching.py", "tests/kernel/test_loops.py"),
)

PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def lowest(requirements: list[str]) -> list[str]:
    """Every lower bound as the one version that is wanted.

    >>> lowest(["typer>=0.26.8,<0.29", "gscli[onnx]"])
    ['typer==0.26.8']
    """
    bounds = (re.match(r"([\w-]+)>=([\d.]+)", one) for one in requirements)
    return [f"{bound[1]}=={bound[2]}" for bound in bounds if bound]


def interpreter(version: str) -> str | None:
    """A Python of some version that runs: on the path, or among those of pyenv.

    >>> interpreter("2.0") is None
    True
    """
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [shutil.which(f"python{version}"), *root.glob(f"versions/{version}.*/bin/python")]
    for path in filter(None, found):
        told = subprocess.run([path, "-m", "venv", "--help"], capture_output=True, check=False)
        if not told.returncode:
            return str(path)
    return None


def run(name: str, python: str, packages: list[str], tests: tuple[str, ...]) -> None:
    """Install into an environment of its own, say what is in it, test."""
    folder = ROOT / ".ci" / name
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *packages, "-e", str(ROOT)], check=True)
    print(name, flush=True)
    subprocess.run([*pip, "freeze", "--exclude-editable"], check=True)
    options = ["-q", "-x", "-n", "auto", "-p", "no:cacheprovider", "-W", "default"]
    chosen = ["-m", "not slow and not recent and not browser"]
    subprocess.run([python, "-m", "pytest", *options, *chosen, *tests], cwd=ROOT, check=True)


def main(names: list[str]) -> None:
    """The runs of the gate, or those that are named."""
    every = PROJECT["dependencies"] + [
        one for extra in ("onnx", "hdf5", "zarr", "test") for one in EXTRAS[extra]
    ]
    if not names or "lowest" in names:
        run("lowest", sys.executable, lowest(every), SHORT)
    found = [version for version in PYTHONS if interpreter(version)]
    for version in names or found[-1:]:
        if version == "lowest":
            continue
        python = interpreter(version)
        if python is None:
            sys.exit(f"there is no Python {version} here")
        run(f"plain-{version}", python, ["pytest", "pytest-xdist"], PLAIN)


if __name__ == "__main__":
    main(sys.argv[1:])
