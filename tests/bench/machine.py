"""Where and when it was measured, without names of hosts or users."""

from __future__ import annotations

import datetime as dt
import os
import platform
from importlib import metadata
from pathlib import Path

from gscli.kernel import loops

ROOT = Path(__file__).parents[2]
LIBRARIES = ("numpy", "onnxruntime", "torch", "jax", "typer", "rich")


WITHOUT_LOOPS = (
    "**without compiled loops: all of this is NumPy's way alone; "
    "`pip install -e .` with a C compiler makes them**"
)


def machine() -> dict[str, str]:
    """Date, kind and class of the machine, versions, and the way the kernel goes."""
    versions = [f"Python {platform.python_version()}"]
    for name in LIBRARIES:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    lesser = os.environ.get("GSCLI_LOOPS", "")
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "kind": f"{_vendor()}, {_vectors()}" + (f" by GSCLI_LOOPS={lesser}" if lesser else ""),
        "class": f"{_cores()} cores, {_line_of('model name')}, caches {_caches()}, "
        f"{_memory() >> 30} GiB, {platform.system()}",
        "way": WITHOUT_LOOPS if loops.library() is None else loops.backend_name(),
        "versions": ", ".join(versions),
    }


def load() -> float:
    """Runnable tasks in the last minute: above zero before a run, others are at work too."""
    return os.getloadavg()[0]


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _line_of(field: str) -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith(field):
            return line.partition(":")[2].strip()
    return platform.machine()


def _vendor() -> str:
    return {"GenuineIntel": "Intel", "AuthenticAMD": "AMD"}.get(
        _line_of("vendor_id"), platform.machine()
    )


def _vectors() -> str:
    """The vector sets that compiled loops use here, the widest first."""
    native = loops.library()
    if native is None:
        return "no compiled loops"
    features, known = loops.processor_features(native), loops.Feature
    names = {known.FP16: "AVX512-FP16", known.AVX512: "AVX-512", known.AVX2: "AVX2"}
    return next((name for feature, name in names.items() if feature in features), "no wide vectors")


def _caches() -> str:
    """Sizes of a core's caches, as the system tells them."""
    places = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))
    read = {name: [(at / name).read_text().strip() for at in places] for name in ("level", "size")}
    pairs = list(zip(read["level"], read["size"], strict=True))
    sizes = dict(pairs[::-1]) | dict(pairs[:1])  # of level 1 the first, which is that of data
    return ", ".join(f"L{level} {size}" for level, size in sorted(sizes.items())) or "unknown"


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
