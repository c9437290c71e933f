"""Products and equals of cells, by compiled loops and by NumPy, held against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from gscli.gradients import cells as module
from gscli.gradients.cells import multiply_in_turn, select_equal
from gscli.kernel import loops

SPECIAL = np.array([0.0, -0.0, 1.0, -2.0, 0.5, np.inf, -np.inf, np.nan])


@pytest.fixture(params=["compiled", "plain"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "plain":
        monkeypatch.setattr(loops, "library", lambda: None)
    elif loops.library() is None:
        pytest.skip("no compiled loops beside the sources")
    monkeypatch.setattr(module, "MIN_NATIVE_UPDATES", 1)
    return str(request.param)


@pytest.mark.parametrize("seed", range(20))
def test_factors_meet_their_cells_in_turn(way: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, count = int(rng.integers(1, 5)), int(rng.integers(0, 400 if seed % 2 else 12))
    cells, factors = rng.integers(-1, size, count), rng.choice(SPECIAL, count)
    products, passed = rng.choice(SPECIAL, size), np.empty(count)
    expected, before = products.tolist(), [0.0] * count
    with np.errstate(all="ignore"):
        for back in (False, True):
            for entry in range(count)[:: -1 if back else 1]:
                cell = int(cells[entry])
                held = np.float64(expected[cell]) if cell >= 0 else np.float64(0)
                before[entry] = float(before[entry] * held if back else held)
                if cell >= 0:
                    expected[cell] = float(held * factors[entry])
            multiply_in_turn(cells, factors, products, passed, back=back)
            np.testing.assert_array_equal(passed, before, way)
            np.testing.assert_array_equal(products, expected, way)


@pytest.mark.parametrize("seed", range(10))
def test_those_are_selected_that_equal_their_cell(way: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, count = int(rng.integers(1, 5)), int(rng.integers(0, 50))
    cells, values = rng.integers(-1, size, count), rng.choice(SPECIAL, count)
    kept = rng.choice(SPECIAL, size)
    expected = [n for n in range(count) if cells[n] >= 0 and values[n] == kept[cells[n]]]
    assert select_equal(cells, values, kept).tolist() == expected, way
