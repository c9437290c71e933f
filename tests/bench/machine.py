"""Where and when it was measured, without names of hosts or users."""

from __future__ import annotations

import datetime as dt
import os
import platform
from importlib import metadata
from pathlib import Path

from gscli.kernel.loops import backend_name

ROOT = Path(__file__).parents[2]
LIBRARIES = ("numpy", "onnxruntime", "torch", "jax", "typer", "rich")


def machine() -> dict[str, str]:
    """Date, class of the machine, versions."""
    versions = [f"Python {platform.python_version()}"]
    for name in LIBRARIES:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "class": f"{_cores()} cores, {_model()}, {_memory() >> 30} GiB, {platform.system()}",
        "way": backend_name(),
        "versions": ", ".join(versions),
    }


def load() -> float:
    """Runnable tasks in the last minute: above zero before a run, others are at work too."""
    return os.getloadavg()[0]


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _model() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
