"""Builds the compiled loops while gscli is installed, where a C compiler is found.

A hook of hatchling. It never fails an install: without a compiler, or where the compiler refuses,
the package is the same without the library, and the kernel takes the plain way through NumPy. A
wheel that carries the library is tagged by platform, not by Python: loops.c needs no header of it.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from shutil import which
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path(__file__).with_name("loops.c")
LIBRARY = "loops.dll" if sys.platform == "win32" else "libloops.so"  # beside loops.py

# Whole numbers wrap around, and no multiplication is fused with an addition: bits matter.
UNIX = (
    "-std=c11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden",
    "-fwrapv", "-ffp-contract=off", "-fno-trapping-math",
)  # fmt: skip

# As its documentation has them; these were never tried.
MSVC = ("/nologo", "/std:c11", "/O2", "/fp:precise", "/LD")


class Loops(BuildHookInterface[Any]):
    """Adds the library to a wheel, or puts it beside its source for an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; `version` is "editable" or "standard", `build_data` describes the wheel."""
        if self.target_name != "wheel" or os.environ.get("GSCLI_BUILD") == "plain":
            return
        if version == "editable":
            compile_library(SOURCE.with_name(LIBRARY))
            return
        self._folder = tempfile.TemporaryDirectory(prefix="gscli-")  # goes with this process
        library = Path(self._folder.name) / LIBRARY
        if compile_library(library):
            build_data["force_include"][str(library)] = f"gscli/kernel/{LIBRARY}"
            build_data["pure_python"] = False
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["tag"] = f"py3-none-{platform}"


def compile_library(library: Path) -> bool:
    """Whether loops.c could be compiled to `library`, with the first compiler that does it."""
    for command in commands(library):
        try:
            done = subprocess.run(  # noqa: S603  the compiler of whoever installs
                command, capture_output=True, timeout=300, check=False, cwd=library.parent
            )
        except (OSError, subprocess.SubprocessError):
            continue
        if done.returncode == 0 and library.is_file():
            return True
    return False


def commands(library: Path) -> list[list[str]]:
    """The compilers to try: the one that CC names, else those usual on the system."""
    source, custom = str(SOURCE), shlex.split(os.environ.get("CC", ""))
    compilers = [custom] if custom else [[name] for name in ("cc", "gcc", "clang") if which(name)]
    unix = [[*compiler, *UNIX, "-o", str(library), source] for compiler in compilers]
    if sys.platform == "win32" and which("cl"):
        return [["cl", *MSVC, source, f"/Fe{library}"], *unix]
    return unix
