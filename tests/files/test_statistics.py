"""Statistics against NumPy's own, in blocks of any size."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from gscli.files import statistics as module
from gscli.files.statistics import compute_statistics


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float64", "bool", "bfloat16"])
def test_like_numpy(dtype: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    generator = np.random.default_rng(7)
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    array = generator.integers(0, 9, (3, 5)).astype(kind)
    found = compute_statistics(array)
    wide = array.astype(np.float64)
    assert found.min is not None
    assert found.max is not None
    assert found.min.value == wide.min()
    assert found.min.place == np.unravel_index(wide.argmin(), wide.shape)
    assert found.max.value == wide.max()
    assert found.max.place == np.unravel_index(wide.argmax(), wide.shape)
    assert found.mean == pytest.approx(wide.mean())
    assert found.zero == (wide == 0).sum()


def test_oddities_are_counted_and_left_out() -> None:
    found = compute_statistics(np.array([np.nan, np.inf, -np.inf, 2.0, -1.0]))
    assert (found.nan, found.inf) == (1, 2)
    assert found.mean == 0.5
    assert found.to_dict()["min"] == {"value": -1.0, "at": [4]}


def test_nothing_to_measure() -> None:
    assert compute_statistics(np.zeros((0, 2))).min is None
    for text in ("a", b"a"):
        assert compute_statistics(np.array([text])).mean is None
    both = compute_statistics(np.array([1 + 1j, 3 - 1j]))
    assert both.min is None
    assert both.mean == 2
    assert compute_statistics(np.array(7)).text() == (
        "int64 []  min=7 at []  max=7 at []  mean=7  nan=0  inf=0  zero=0"
    )
    assert "mean=1234567.25  nan" in compute_statistics(np.array([1234567.25])).text()
