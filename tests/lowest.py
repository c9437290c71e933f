"""The oldest versions that pyproject.toml allows, and no extras at all: a short run of each.

    python tests/lowest.py [lowest] [plain]

Each run has a fresh virtual environment below `.ci/`. "lowest" takes the lower bound of every
package that gscli or its extras need; "plain" installs gscli alone, and pytest to ask it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]

SHORT = (
    "tests/files",
    "tests/cli/test_shell.py",
    "tests/frameworks",
    "tests/stream/test_patching.py",
)
"""Tests of what other packages do for gscli: arrays, files, the command line."""

PLAIN = ("tests/without_extras.py",)


def lowest(requirements: list[str]) -> list[str]:
    """Every lower bound as the one version that is wanted.

    >>> lowest(["typer>=0.26.8,<0.29", "gscli[onnx]"])
    ['typer==0.26.8']
    """
    bounds = (re.match(r"([\w-]+)>=([\d.]+)", one) for one in requirements)
    return [f"{bound[1]}=={bound[2]}" for bound in bounds if bound]


def run(name: str, packages: list[str], tests: tuple[str, ...]) -> None:
    """Install into an environment of its own, say what is in it, test."""
    folder = ROOT / ".ci" / name
    venv.create(folder, with_pip=True, clear=True)
    python = str(folder / "bin" / "python")
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *packages, "-e", str(ROOT)], check=True)
    subprocess.run([*pip, "freeze", "--exclude-editable"], check=True)
    options = ["-q", "-x", "-p", "no:cacheprovider", "-W", "default"]
    subprocess.run([python, "-m", "pytest", *options, *tests], cwd=ROOT, check=True)


def main(names: list[str]) -> None:
    """Both runs, or those that are named."""
    every = PROJECT["dependencies"] + [
        one for extra in ("onnx", "hdf5", "test") for one in EXTRAS[extra]
    ]
    if not names or "lowest" in names:
        run("lowest", lowest(every), SHORT)
    if not names or "plain" in names:
        run("plain", ["pytest"], PLAIN)


if __name__ == "__main__":
    main(sys.argv[1:])
