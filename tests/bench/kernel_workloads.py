"""The workloads W1 to W15: inputs, the best plain NumPy idiom, and the goal.

A goal is the ratio of gscli's time to that of the fastest library whose result has the bits of the
specification's sequential loop. Every length divided by `shrink` gives the same work at toy size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Inputs: TypeAlias = dict[str, Array]
Idiom: TypeAlias = Callable[[Inputs], Array]

SQUARE = 4000
WIDTH = 64
UFUNCS: Mapping[str, np.ufunc] = {
    "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
}  # fmt: skip
DTYPES = ("float16", "int8", "uint8", "int64", "float64")
GOAL, HALF_GOAL = 1.0, 0.7


class Maker:
    """Seeded numbers of one dtype, with lengths divided by `shrink`."""

    def __init__(self, dtype: str, shrink: int) -> None:
        self.rng, self.dtype, self.shrink = np.random.default_rng(7), np.dtype(dtype), shrink

    def length(self, full: int) -> int:
        """`full`, or its toy size."""
        return max(full // self.shrink, 1)

    def values(self, *shape: int) -> Array:
        """Near 1, so that products stay finite; small whole numbers for integers."""
        if self.dtype.kind in "iu":
            return self.rng.integers(0, 100, shape, self.dtype)
        return (self.rng.random(shape, np.float32) * 0.5 + 0.75).astype(self.dtype)

    def indices(self, below: int, *shape: int) -> Array:
        """Uniform int64, never negative: not every library takes those."""
        return self.rng.integers(0, below, shape)


Make: TypeAlias = Callable[[Maker], Inputs]


@dataclass(frozen=True)
class Workload:
    """One row of the table: an operator on inputs so large that calls cost nothing."""

    key: str
    title: str
    operator: str
    make: Make
    idiom: Idiom
    attrs: Mapping[str, Any] = field(default_factory=dict)
    dtype: str = "float32"

    @property
    def goal(self) -> float:
        """Time to the fastest library's, at two threads; sums of halves are asked for more."""
        return HALF_GOAL if self.dtype == "float16" else GOAL

    def inputs(self, shrink: int = 1) -> Inputs:
        """The same numbers in every run."""
        return self.make(Maker(self.dtype, shrink))


def workloads() -> list[Workload]:
    """Every workload in float32, then the sums in the other types."""
    plain = [*_gathers(), *_scatters(), *_reductions()]
    typed = [w for w in plain if w.key.startswith(("W10", "W11", "W14"))]
    return plain + [
        replace(
            w, key=f"{w.key} {dtype}", dtype=dtype, title=f"{w.title}, {dtype}",
        )
        for dtype in DTYPES for w in typed
    ]  # fmt: skip


def _gathers() -> Iterator[Workload]:
    gather, nd, elements = "onnx.gather", "onnx.gather_nd", "onnx.gather_elements"
    yield Workload("W1", "Gather axis 0, 10⁶×64", gather, _rows, _take(0), {"axis": 0})
    yield Workload("W2", "Gather axis 1, 1000×1000×64, 500", gather, _middle, _take(1), {"axis": 1})
    yield Workload("W3", "Gather last axis, 4000×4000", gather, _last, _take(1), {"axis": 1})
    for key, axis in (("W4", 1), ("W5", 0)):
        title = f"GatherElements axis {axis}, 4000×4000"
        yield Workload(key, title, elements, _elements, _take_along(axis), {"axis": axis})
    yield Workload("W6", "GatherND, 10⁷ picks, k=2", nd, _picks, _get_vectors)
    for key, operator, make, idiom, attrs in (
        ("W4", elements, _elements, _take_along(1), {"axis": 1}),
        ("W6", nd, _picks, _get_vectors, {}),
    ):
        title = f"{key} with half of the indices negative"
        yield Workload(f"{key} negative", title, operator, _negative(make), idiom, attrs)
    yield Workload("W7", "GatherND k=1, 10⁶ rows of 64", nd, _vectors_of_one, _get_vectors)
    yield Workload(
        "W8", "GatherND batch_dims=1, 1000×1000×64, 500", nd, _batched, _get_batched,
        {"batch_dims": 1},
    )  # fmt: skip


def _scatters() -> Iterator[Workload]:
    nd, update = "onnx.scatter_nd", "openvino.scatter_update"
    yield Workload("W9", "ScatterND, 10⁶ unique into 10⁷ cells", nd, _unique, _set_vectors)
    for axis in (0, 1):
        yield Workload(
            f"W13 axis {axis}", f"ScatterElements axis {axis}, 4000×4000",
            "onnx.scatter_elements", _element_updates, _set_elements(axis), {"axis": axis},
        )  # fmt: skip
    for key, outer, entries, unique in (
        ("W15 unique", 1000, (12, 20), True),
        ("W15 repeated", 100, (125, 20), False),
    ):
        title = f"ScatterUpdate axis 1, {outer}×256×150, {entries[0]}×{entries[1]}"
        make = _updated_axis(outer, entries, unique=unique)
        yield Workload(key, title, update, make, _set_axis)


def _reductions() -> Iterator[Workload]:
    nd = "onnx.scatter_nd"
    for reduction in UFUNCS:
        attrs, idiom = {"reduction": reduction}, _at_vectors(reduction)
        number = "W10" if reduction == "add" else "W12 cells"
        title = f"ScatterND {reduction}, 10⁷ into 10⁶ cells"
        yield Workload(f"{number} {reduction}", title, nd, _crowded_cells, idiom, attrs)
    for reduction in UFUNCS:
        attrs, idiom = {"reduction": reduction}, _at_vectors(reduction)
        number = "W11" if reduction == "add" else "W12"
        title = f"ScatterND {reduction}, 10⁶ rows of 64 into 10⁵"
        yield Workload(f"{number} rows {reduction}", title, nd, _crowded_rows, idiom, attrs)
    for axis in (0, 1):
        yield Workload(
            f"W14 axis {axis}", f"ScatterElements add axis {axis}, 4000×4000",
            "onnx.scatter_elements", _element_updates, _at_elements(axis),
            {"axis": axis, "reduction": "add"},
        )  # fmt: skip


def _rows(maker: Maker) -> Inputs:
    count = maker.length(1_000_000)
    return {"data": maker.values(count, WIDTH), "indices": maker.indices(count, count)}


def _vectors_of_one(maker: Maker) -> Inputs:
    made = _rows(maker)
    return made | {"indices": made["indices"][:, None]}


def _middle(maker: Maker) -> Inputs:
    side = maker.length(1000)
    return {
        "data": maker.values(side, side, WIDTH),
        "indices": maker.indices(side, maker.length(500)),
    }


def _last(maker: Maker) -> Inputs:
    side = maker.length(SQUARE)
    return {"data": maker.values(side, side), "indices": maker.indices(side, side)}


def _elements(maker: Maker) -> Inputs:
    side = maker.length(SQUARE)
    return {"data": maker.values(side, side), "indices": maker.indices(side, side, side)}


def _element_updates(maker: Maker) -> Inputs:
    made = _elements(maker)
    return made | {"updates": maker.values(*made["data"].shape)}


def _picks(maker: Maker) -> Inputs:
    side = maker.length(SQUARE)
    return {
        "data": maker.values(side, side),
        "indices": maker.indices(side, maker.length(10_000_000), 2),
    }


def _negative(make: Make) -> Make:
    """Every other index counts from the end; inputs are square, so that both axes are as long."""

    def made(maker: Maker) -> Inputs:
        inputs = make(maker)
        inputs["indices"][::2] -= len(inputs["data"])
        return inputs

    return made


def _batched(maker: Maker) -> Inputs:
    side = maker.length(1000)
    return {
        "data": maker.values(side, side, WIDTH),
        "indices": maker.indices(side, side, maker.length(500), 1),
    }


def _unique(maker: Maker) -> Inputs:
    cells, count = maker.length(10_000_000), maker.length(1_000_000)
    return {
        "data": maker.values(cells),
        "indices": maker.rng.permutation(cells)[:count, None],
        "updates": maker.values(count),
    }


def _crowded_cells(maker: Maker) -> Inputs:
    cells, count = maker.length(1_000_000), maker.length(10_000_000)
    return {
        "data": maker.values(cells),
        "indices": maker.indices(cells, count, 1),
        "updates": maker.values(count),
    }


def _crowded_rows(maker: Maker) -> Inputs:
    rows, count = maker.length(100_000), maker.length(1_000_000)
    return {
        "data": maker.values(rows, WIDTH),
        "indices": maker.indices(rows, count, 1),
        "updates": maker.values(count, WIDTH),
    }


def _updated_axis(outer: int, entries: tuple[int, int], *, unique: bool) -> Make:
    """The sizes of OpenVINO's page; only the outer axis shrinks, so that 240 of 256 stay unique."""

    def make(maker: Maker) -> Inputs:
        count, length = entries[0] * entries[1], maker.length(outer)
        found = maker.rng.permutation(256)[:count] if unique else maker.indices(256, count)
        return {
            "data": maker.values(length, 256, 150),
            "indices": found.reshape(entries),
            "updates": maker.values(length, *entries, 150),
            "axis": np.array(1),
        }

    return make


def _take(axis: int) -> Idiom:
    return lambda inputs: np.take(inputs["data"], inputs["indices"], axis=axis)


def _take_along(axis: int) -> Idiom:
    return lambda inputs: np.take_along_axis(inputs["data"], inputs["indices"], axis)


def _vectors(inputs: Inputs) -> tuple[Array, ...]:
    return tuple(np.moveaxis(inputs["indices"], -1, 0))


def _get_vectors(inputs: Inputs) -> Array:
    return inputs["data"][_vectors(inputs)]


def _get_batched(inputs: Inputs) -> Array:
    found = inputs["indices"]
    return inputs["data"][np.arange(len(found))[:, None], found[..., 0]]


def _set_vectors(inputs: Inputs) -> Array:
    output = inputs["data"].copy()
    output[_vectors(inputs)] = inputs["updates"]
    return output


def _at_vectors(reduction: str) -> Idiom:
    def idiom(inputs: Inputs) -> Array:
        output, found = inputs["data"].copy(), inputs["indices"][:, 0]
        UFUNCS[reduction].at(output, found, inputs["updates"])
        return output

    return idiom


def _set_elements(axis: int) -> Idiom:
    def idiom(inputs: Inputs) -> Array:
        output = inputs["data"].copy()
        np.put_along_axis(output, inputs["indices"], inputs["updates"], axis)
        return output

    return idiom


def _at_elements(axis: int) -> Idiom:
    def idiom(inputs: Inputs) -> Array:
        output, (height, width) = inputs["data"].copy(), inputs["data"].shape
        grid: list[Array] = list(np.ogrid[:height, :width])
        grid[axis] = inputs["indices"]
        np.add.at(output, tuple(grid), inputs["updates"])
        return output

    return idiom


def _set_axis(inputs: Inputs) -> Array:
    output = inputs["data"].copy()
    output[:, inputs["indices"]] = inputs["updates"]
    return output
