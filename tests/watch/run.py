"""The tests of PyTorch and JAX programs under watch, with the Pythons that have the frameworks.

    GSCLI_PYTHONS='torch=PYTHON jax=PYTHON' python tests/watch/run.py

Each PYTHON needs pytest and what gscli itself needs. A framework for which none is named is left
out, which a line says.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Run the tests of each framework; the worst exit status."""
    named = os.environ.get("GSCLI_PYTHONS", "").replace(",", " ").split()
    pythons, status = dict(word.split("=", 1) for word in named if "=" in word), 0
    for framework in ("torch", "jax"):
        if framework not in pythons:
            print(f"{framework}: not tested, GSCLI_PYTHONS names no Python that has it")
            continue
        words = ["-m", "pytest", "-q", "-c", os.devnull, "--import-mode=importlib"]
        run = subprocess.run(
            [pythons[framework], *words, f"tests/watch/test_{framework}.py"],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
        )  # fmt: skip
        status = max(status, run.returncode)
    return status


if __name__ == "__main__":
    sys.exit(main())
