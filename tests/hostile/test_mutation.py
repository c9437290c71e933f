"""Damage to valid files: nothing but GscliError leaves the readers, and NumPy agrees on the rest.

`GSCLI_MUTATIONS` sets how many files are damaged (10,000 by default), `GSCLI_SEED` which.
"""

from __future__ import annotations

import io
import os
import random
import warnings

import numpy as np
import pytest
from hostile.mutation import mutated, seeds

from gscli.errors import GscliError
from gscli.formats import readers
from gscli.formats.content import HeldContent
from gscli.formats.request import Request, Wish

MUTATIONS = int(os.environ.get("GSCLI_MUTATIONS", "10000"))
SEED = int(os.environ.get("GSCLI_SEED", "1"))
SEEDS = seeds()


@pytest.mark.parametrize("suffix", SEEDS)
def test_only_refusals_leave_the_readers(suffix: str) -> None:
    choices = random.Random(SEED)
    accepted = 0
    for _ in range(MUTATIONS // len(SEEDS)):
        content = mutated(choices.choice(SEEDS[suffix]), choices)
        held = HeldContent("x", content)
        request = Request("x", None, Wish(), 1 << 20, suffix)
        try:
            readers.format_for(suffix).listing(held, request)
            array = readers.read_array(held, request).array
        except GscliError:
            continue
        except BaseException:
            print(f"damaged {suffix}: {content!r}")
            raise
        accepted += 1
        agree_with_numpy(suffix, content, array)
    assert 0 < accepted < MUTATIONS


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
