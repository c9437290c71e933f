"""Bare loops, each a process raced beside the command whose work it does without a rule.

python -m tests.bench.bare verify CASES.jsonl    json.loads, arrays from lists, answers compared
python -m tests.bench.bare batch JOBS.jsonl      json.loads, arrays from lists, the first as JSON
python -m tests.bench.bare write FILE BYTES      so many bytes past the cache, in two threads; sync
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from gscli.base.arrays import allocate_aligned, parse_dtype
from gscli.disk.uncached import PAGE, set_direct, write_at
from gscli.stream.writeback import BUFFER_BYTES, THREADS


def read_tensor(document: dict[str, Any]) -> np.ndarray[Any, Any]:
    """The array of a recorded tensor."""
    values, dtype, shape = document["data"], parse_dtype(document["dtype"]), document["shape"]
    if dtype.kind == "c":  # pairs of real numbers
        return np.array(values, f"f{dtype.itemsize // 2}").view(dtype).reshape(shape)
    known = np.float64 if dtype.kind == "V" else dtype  # a small float reads no word for NaN
    return np.array(values, known).astype(dtype, copy=False).reshape(shape)


def verify(path: Path) -> None:
    """Read every tensor of recorded cases, and compare each answer with a copy of it."""
    with path.open(encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            for document in case["inputs"].values():
                read_tensor(document)
            if "output" in case:
                answer = read_tensor(case["output"])
                assert answer.tobytes() == answer.copy().tobytes()


def batch(path: Path) -> None:
    """Read the inputs of jobs, and print a copy of the first as the answer."""
    with path.open(encoding="utf-8") as lines:
        for job in map(json.loads, lines):
            first, *_ = [np.array(values) for values in job["inputs"].values()]
            output = {"dtype": first.dtype.name, "shape": first.shape, "data": first.tolist()}
            print(json.dumps({"id": job["id"], "output": output}))


def write(path: Path, size: int) -> None:
    """Write a file of some bytes as results are written, and sync it."""
    block = memoryview(allocate_aligned(BUFFER_BYTES, PAGE))
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    set_direct(descriptor, on=True)

    def write_block(start: int) -> None:
        write_at(descriptor, block[: size - start], start)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write_block, range(0, size, BUFFER_BYTES)))
    os.fsync(descriptor)
    os.close(descriptor)


if __name__ == "__main__":
    loop, file, *sizes = sys.argv[1:]
    {"verify": verify, "batch": batch, "write": write}[loop](Path(file), *map(int, sizes))
