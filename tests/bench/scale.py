"""Zarr stores and Dask, measured: streams, workers, and what the libraries do by themselves.

python -m tests.bench.scale streams --gib 1      commands on .npy and .zarr, and `cp -r`
python -m tests.bench.scale workers --gib 1      the same by one and two workers
python -m tests.bench.scale peers                Dask's and Zarr's own indexing
python -m tests.bench.scale codecs               stores of several codecs, by stream and workers
python -m tests.bench.scale entries              few entries and many
python -m tests.bench.scale chunks               small chunks and large ones, plain and packed

Every candidate is a process of its own, and all take turns. CPU seconds are of the process and its
workers, memory is of the largest process. `--rounds`, `--entries`; `--place FOLDER` keeps the
inputs there for the next run of the same size and entries.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil
import zarr

from .interleaving import raced, summary
from .machine import load
from .processes import GSCLI, run

WIDTH, GIB = 64, 1 << 30

# Rows of a chunk of 4 MiB.
CHUNK_ROWS = 1 << 14

SAMPLING = 0.1

# What `--engine dask` does, with as many workers as wanted.
ON_WORKERS = """
import sys
from gscli.frameworks import find_operator
from gscli import files
from gscli.plan import build_plan, infer_layout
from gscli.stream.cluster.connection import cluster_client
from gscli.stream.cluster.on_cluster import run_on_cluster

if __name__ == "__main__":
    workers, operator, out, *words = sys.argv[1:]
    names = ("data", "indices", "updates")[: len(words)]
    arrays = {
        name: files.load(word, name=name, leave=name == "data", max_bytes=1 << 40).array
        for name, word in zip(names, words)
    }
    attrs = {"reduction": "add"} if operator == "scatter_nd" else {}
    layout = infer_layout(find_operator(operator), arrays, attrs)
    plan = build_plan(layout, arrays, 1 << 40).assume_validated()
    with cluster_client("", workers=int(workers)) as client:
        run_on_cluster(plan, out, client=client)
"""

DASK = """
import sys
import dask, numpy as np
import dask.array as da
dask.config.set(scheduler="threads", num_workers=2)
kind, store, indices, updates, out = sys.argv[1:]
x = da.from_zarr(store)
i = np.load(indices).reshape(-1)
i = np.where(i < 0, i + x.shape[0], i)
if kind == "getitem":
    x = x[i]
elif kind == "vindex":
    x = x.vindex[i]
else:
    x[i] = np.load(updates)
x = x.rechunk((16384, -1))
x.to_zarr(out, compressors=None)
"""

ZARR = """
import shutil, sys
import numpy as np, zarr
kind, store, indices, updates, out = sys.argv[1:]
i = np.load(indices).reshape(-1)
source = zarr.open_array(store, mode="r")
i = np.where(i < 0, i + source.shape[0], i)
if kind == "gather":
    found = source.oindex[i]
    made = zarr.create_array(out, shape=found.shape, chunks=source.chunks, dtype="f4",
                             compressors=None)
    made[...] = found
else:
    shutil.copytree(store, out)
    zarr.open_array(out, mode="r+").oindex[i] = np.load(updates)
"""

Candidates = Mapping[str, Callable[[], Mapping[str, float]]]


def main() -> None:
    """Run a part and print its table."""
    parser = argparse.ArgumentParser("python -m tests.bench.scale")
    parser.add_argument("part", choices=tuple(PARTS))
    parser.add_argument("--gib", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--place", type=Path)
    given = parser.parse_args()
    before = load()
    with TemporaryDirectory() as temporary:
        folder = given.place or Path(temporary)
        folder.mkdir(exist_ok=True)
        for candidates in PARTS[given.part](given, folder):
            print(table(raced(candidates, given.rounds)), flush=True)
    print(f"load {before:.1f} before, {load():.1f} after; {given.gib} GiB, {given.rounds} rounds")


def streams(given: argparse.Namespace, folder: Path) -> Iterator[Candidates]:
    """The same table as .npy and as .zarr, by one process."""
    words = inputs(folder, int(given.gib * GIB), given.entries)
    copied = {"cp -r of the store": partial(copy, folder / "t.zarr", folder / "out.zarr")}
    for kind in ("scatter", "gather"):
        candidates = {
            f"{kind}, .npy": partial(command, words[kind, "npy"], folder / "out.npy"),
            f"{kind}, .zarr": partial(command, words[kind, "zarr"], folder / "out.zarr"),
        }
        yield {**candidates, **(copied if kind == "scatter" else {})}


def workers(given: argparse.Namespace, folder: Path) -> Iterator[Candidates]:
    """The same store by the stream and by workers, their start included."""
    words = inputs(folder, int(given.gib * GIB), given.entries)
    for kind in ("scatter", "gather"):
        store, out = words[kind, "zarr"], folder / "out.zarr"
        yield {
            f"{kind}, .zarr": partial(command, store, out),
            f"{kind}, Dask, 1 worker": partial(on_workers, 1, store, out),
            f"{kind}, Dask, 2 workers": partial(on_workers, 2, store, out),
        }


def peers(given: argparse.Namespace, folder: Path) -> Iterator[Candidates]:
    """gscli's stream beside Dask's and Zarr's own indexing."""
    words = inputs(folder, int(given.gib * GIB), given.entries)
    plain = [folder / name for name in ("t.zarr", "i.npy", "u.npy")]

    def peer(script: str, kind: str) -> Mapping[str, float]:
        return measured([sys.executable, "-c", script, kind, *plain], folder / "out.zarr")

    yield {
        "gather, gscli .zarr": partial(command, words["gather", "zarr"], folder / "out.zarr"),
        "gather, zarr oindex": partial(peer, ZARR, "gather"),
        "gather, Dask x[idx]": partial(peer, DASK, "getitem"),
        "gather, Dask vindex": partial(peer, DASK, "vindex"),
    }
    yield {
        "set, gscli .zarr": partial(command, words["set", "zarr"], folder / "out.zarr"),
        "set, zarr oindex": partial(peer, ZARR, "set"),
        "set, Dask y[idx] = u": partial(peer, DASK, "set"),
    }


def codecs(given: argparse.Namespace, folder: Path) -> Iterator[Candidates]:
    """One table in stores of several codecs: streams and workers."""
    words = inputs(folder, int(given.gib * GIB), given.entries)
    whole = zarr.open_array(f"{folder}/t.zarr", mode="r")
    made: dict[str, Any] = {
        "none": None,
        "zstd": zarr.codecs.ZstdCodec(level=3),
        "gzip": zarr.codecs.GzipCodec(level=5),
        "blosc lz4": zarr.codecs.BloscCodec(cname="lz4"),
    }
    for kind in ("scatter", "gather"):
        candidates = {}
        for name, codec in made.items():
            path = folder / f"{name.replace(' ', '-')}.zarr"
            if not path.exists():
                fill(path, whole, CHUNK_ROWS, codec)
            own = [path if word == folder / "t.zarr" else word for word in words[kind, "zarr"]]
            candidates[f"{kind}, {name}"] = partial(command, own, folder / "out.zarr")
            candidates[f"{kind}, {name}, Dask, 2 workers"] = partial(
                on_workers, 2, own, folder / "out.zarr"
            )
        yield candidates


def entries(given: argparse.Namespace, folder: Path) -> Iterator[Candidates]:
    """Time and memory of .npy and .zarr as entries grow."""
    size = int(given.gib * GIB)
    inputs(folder, size, given.entries)
    for count in (10_000, 100_000, 1_000_000, 4_000_000):
        own = folder / str(count)
        if not own.exists():
            own.mkdir()
            entry_files(own, size // (4 * WIDTH), count)
        for kind in ("scatter", "gather"):
            yield {
                f"{kind}, {count:,} entries, .{form}": partial(
                    command, words_of(kind, folder / f"t.{form}", own), folder / f"out.{form}"
                )
                for form in ("npy", "zarr")
            }


def chunks(given: argparse.Namespace, folder: Path) -> Iterator[Candidates]:
    """Time and memory as chunks grow, without a codec and with one."""
    inputs(folder, int(given.gib * GIB), given.entries)
    whole = zarr.open_array(f"{folder}/t.zarr", mode="r")
    packed = {"plain": None, "zstd": zarr.codecs.ZstdCodec(level=3)}
    for kind in ("scatter", "gather"):
        candidates = {}
        for (name, codec), rows in itertools.product(packed.items(), (1 << 10, 1 << 14, 1 << 16)):
            path = folder / f"{name}-{rows}.zarr"
            if not path.exists():
                fill(path, whole, rows, codec)
            told = f"{kind}, {name}, chunks of {rows * WIDTH * 4 >> 10:,} KiB"
            words = words_of(kind, path, folder)
            candidates[told] = partial(command, words, folder / "out.zarr")
        yield candidates


PARTS: Mapping[str, Callable[[argparse.Namespace, Path], Iterator[Candidates]]] = {
    "streams": streams, "workers": workers, "peers": peers, "codecs": codecs,
    "entries": entries, "chunks": chunks,
}  # fmt: skip
ADD = ("--reduction", "add")


def inputs(folder: Path, size: int, entries: int) -> dict[tuple[str, str], list[Any]]:
    """A table of `size` bytes as .npy and .zarr, indices and updates; words of each command.

    A tenth of the entries meet a thousand popular rows; half of all count from the end.
    """
    if not (folder / "u.npy").exists():
        _table(folder, size // (4 * WIDTH), entries)
    return {
        (kind, form): words_of(kind, folder / f"t.{form}", folder)
        for kind in ("scatter", "set", "gather")
        for form in ("npy", "zarr")
    }


def words_of(kind: str, data: Path, folder: Path) -> list[Any]:
    """A command on data, with the entries of a folder."""
    if kind == "gather":
        return ["gather", data, folder / "i.npy"]
    scatter = ["scatter-nd", data, folder / "v.npy", folder / "u.npy"]
    return [*scatter, *ADD] if kind == "scatter" else scatter


def _table(folder: Path, rows: int, entries: int) -> None:
    table = np.lib.format.open_memmap(folder / "t.npy", "w+", np.float32, (rows, WIDTH))
    rng = np.random.default_rng(7)
    for first in range(0, rows, CHUNK_ROWS):
        count = min(CHUNK_ROWS, rows - first)
        # Eighths: a codec has something to do, and sums of them round seldom.
        table[first : first + count] = rng.integers(0, 1000, (count, WIDTH)) / np.float32(8)
    table.flush()
    fill(folder / "t.zarr", table, CHUNK_ROWS, None)
    entry_files(folder, rows, entries)


def entry_files(folder: Path, rows: int, entries: int) -> None:
    """Indices as rows (i) and as vectors (v), and updates (u)."""
    rng = np.random.default_rng(8)
    numbers = rng.integers(-rows, rows, entries)
    numbers[: entries // 10] = rng.integers(0, min(rows, 1000), entries // 10)
    np.save(folder / "i.npy", numbers)
    np.save(folder / "v.npy", numbers[:, None])
    np.save(folder / "u.npy", rng.random((entries, WIDTH), np.float32))


def fill(path: Path, table: Any, rows: int, codec: Any) -> None:
    """The table as a store in chunks of some rows."""
    array = zarr.create_array(
        str(path), shape=table.shape, chunks=(rows, WIDTH), dtype="f4", compressors=codec
    )
    step = max(rows, CHUNK_ROWS)
    for first in range(0, table.shape[0], step):
        array[first : first + step] = table[first : first + step]


def command(words: Sequence[Any], output: Path) -> Mapping[str, float]:
    """gscli's command from start to exit."""
    return measured([*GSCLI, *words, "-q", "--max-bytes", "1T", "-o"], output)


def on_workers(count: int, words: Sequence[Any], output: Path) -> Mapping[str, float]:
    """The same by some workers of this machine, made and closed."""
    operator, *rest = [word for word in words if word not in ADD]
    name = str(operator).replace("-", "_")
    return measured([sys.executable, "-c", ON_WORKERS, str(count), name, output, *rest], None)


def copy(store: Path, output: Path) -> Mapping[str, float]:
    """A copy of the store, synced as gscli's outputs are."""
    script = 'cp -r "$1" "$2" && find_operator "$2" -type f -print0 | xargs -0 -n 64 sync'
    return measured(["sh", "-c", script, "cp", store], output)


def measured(words: Sequence[Any], output: Path | None) -> Mapping[str, float]:
    """Wall, CPU of all processes, peak MiB of the largest; the output is removed."""
    target = output or Path(str(next(word for word in words if str(word).endswith("out.zarr"))))
    try:
        with _largest() as largest:
            found = run([*words, *([] if output is None else [output])])
    finally:
        shutil.rmtree(target, ignore_errors=True)
        target.unlink(missing_ok=True)
    return {"wall": found["wall"], "cpu": found["cpu"], "peak": max(found["peak"], *largest, 0)}


@contextmanager
def _largest() -> Iterator[list[float]]:
    """MiB of the largest process below this one, looked at again and again."""
    found, stop = [0.0], threading.Event()

    def look() -> None:
        while not stop.wait(SAMPLING):
            for child in psutil.Process().children(recursive=True):
                try:
                    found[0] = max(found[0], child.memory_info().rss / (1 << 20))
                except psutil.NoSuchProcess:
                    continue

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        stop.set()
        thread.join()


def table(found: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Medians (minima) of seconds, ratio of medians to the first, and the largest peak."""
    wall, cpu = summary(found["wall"]), summary(found["cpu"])
    first = next(iter(wall["median"].values()))
    lines = ["| | wall s | to the first | CPU s | peak MiB |", "|---|--:|--:|--:|--:|"]
    for name, value in wall["median"].items():
        least = wall["min"][name]
        lines.append(
            f"| {name} | {value:.2f} ({least:.2f}) | {value / first:.2f} "
            f"| {cpu['median'][name]:.2f} | {max(found['peak'][name]):.0f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
