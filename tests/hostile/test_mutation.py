"""Damage to valid files: nothing but GscliError leaves the readers, and NumPy agrees on the rest.

`GSCLI_MUTATIONS` sets how many files are damaged (10,000 by default), `GSCLI_SEED` which. The
everyday run damages a third; of HDF5 files, each read in forks of its own, one of thirty.
"""

from __future__ import annotations

import io
import os
import random
import re
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hostile.mutation import mutated, seeds
from library_process import library_in_forks

from gscli.base import GscliError
from gscli.files import read_array
from gscli.files.content import Content
from gscli.files.request import ReadRequest, list_arrays
from gscli.lab import cases, jobs
from gscli.runtimes.recorded import run_case

MUTATIONS = int(os.environ.get("GSCLI_MUTATIONS", "10000"))
SEED = int(os.environ.get("GSCLI_SEED", "1"))
SEEDS = seeds()
EACH = MUTATIONS // len(SEEDS)


@pytest.mark.parametrize(
    ("suffix", "count"),
    [
        *((suffix, EACH // 30 if suffix == ".h5" else EACH // 3) for suffix in SEEDS),
        *(pytest.param(suffix, EACH, marks=pytest.mark.slow) for suffix in SEEDS),
    ],
)
def test_only_refusals_leave_the_readers(suffix: str, count: int) -> None:
    choices = random.Random(SEED)
    accepted = 0
    for _ in range(count):
        content = mutated(choices.choice(SEEDS[suffix]), choices)
        held = Content("x", content)
        request = ReadRequest("x", limit=1 << 20, suffix=suffix)
        try:
            with library_in_forks():
                list_arrays(held, suffix, 1 << 20)
                array = read_array(held, request).array
        except GscliError:
            continue
        except BaseException:
            print(f"damaged {suffix}: {content!r}")
            raise
        accepted += 1
        agree_with_numpy(suffix, content, array)
    assert 0 < accepted < count


def agree_with_numpy(suffix: str, content: bytes, array: np.ndarray) -> None:
    """What gscli accepts, NumPy accepts with equal bytes."""
    if suffix not in {".npy", ".npz"}:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = np.load(io.BytesIO(content))
    if suffix == ".npz":
        with loaded as archive:
            (name,) = archive.files
            loaded = archive[name]
    assert loaded.shape == array.shape
    assert loaded.dtype.newbyteorder("=") == array.dtype
    assert loaded.astype(array.dtype).tobytes() == array.tobytes()


SCATTER = (
    b'{"id": 1, "op": "scatter_nd", "inputs": {"data": [1, 2], "indices": [[0]], "updates": [9]},'
    b' "attrs": {"reduction": "add"}}'
)
TYPED = (
    b'{"op": "torch.scatter_add", "inputs": {"input": {"dtype": "float32", "shape": [2],'
    b' "data": [1, 2]}, "index": [0], "src": [9.5]}, "attrs": {"dim": 0}}'
)
GATHER = (
    b'{"op": "gather", "inputs": {"data": [[1, 2], [3, 4]], "indices": [0]}, "attrs": {"axis": 1}}'
)
JOBS = (SCATTER, TYPED, GATHER)
RECORDED = (
    b'{"id": "a", "framework": "onnx", "op": "Gather", "opset": 13, "inputs": {"data": {"dtype":'
    b' "float32", "shape": [2], "data": [1.5, "nan"]}, "indices": {"dtype": "int64", "shape": [1],'
    b' "data": [1]}}, "attrs": {"axis": 0}, "expect": "output", "output": {"dtype": "float32",'
    b' "shape": [1], "data": ["nan"]}}'
)
TOKENS = (
    *(b"null", b"true", b"-1", b"9223372036854775808", b"1e400", b"[]", b"{}", b'""', b"NaN"),
    *(b"0.5", b"[[]]", b'"\\u001b"', b'[1, "a"]', b'{"dtype": "float32", "shape": [-1]}', b"1e18"),
)
_VALUE = re.compile(rb'-?\d+\.?\d*|"[^"]*"(?!\s*:)|\[[^\[\]]*\]')


def damaged(document: bytes, choices: random.Random) -> bytes:
    """Bytes changed at random, or one value replaced by another, so that it still parses."""
    values = list(_VALUE.finditer(document))
    if not values or choices.random() < 0.5:
        return mutated(document, choices)
    place = choices.choice(values)
    return document[: place.start()] + choices.choice(TOKENS) + document[place.end() :]


def judged(line: bytes) -> None:
    case = cases.parse_case(line, "x")
    run_case(case)
    cases.build_repro_command(case)


@pytest.mark.parametrize(
    ("read", "documents"),
    [(lambda line: jobs.run_job(line, 1, []), JOBS), (judged, (RECORDED,))],
    ids=["jobs", "cases"],
)
def test_only_refusals_leave_jobs_and_cases(
    read: Callable[[bytes], object], documents: tuple[bytes, ...]
) -> None:
    choices = random.Random(SEED)
    refused = 0
    for _ in range(MUTATIONS // 10):
        line = damaged(choices.choice(documents), choices)
        try:
            read(line)
        except GscliError:
            refused += 1
        except BaseException:
            print(f"damaged: {line!r}")
            raise
    assert refused < MUTATIONS // 10
