"""Random mistakes in random calls, made by plain loops: is the mistake named, and no other?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from conftest import Array, slow

import gscli
from gscli.lab.difference import Tolerance
from gscli.lab.expectation import OutputDiagnosis

REDUCE: dict[str, Callable[[Any, Any], Any]] = {
    "none": lambda _, update: update,
    "add": lambda cell, update: cell + update,
    "mul": lambda cell, update: cell * update,
}


@dataclass
class Call:
    """A call and the loop that computes it; `axis` is None where vectors address cells."""

    name: str
    names: tuple[str, ...]
    attrs: dict[str, Any]
    axis: int | None
    data: Array
    indices: Array
    updates: Array | None = None
    reduction: str = "none"

    def places(self, indices: Array, axis: int | None) -> list[tuple[int, ...]]:
        """Where each index points: a cell, or a row of the axis."""
        if axis is None:
            return [tuple(vector) for vector in indices.tolist()]
        if indices.ndim < self.data.ndim:
            return [(slice(None),) * axis + (row,) for row in indices.tolist()]  # type: ignore[misc]
        cells = np.ndindex(indices.shape)
        return [(*at[:axis], int(indices[at]), *at[axis + 1 :]) for at in cells]

    def run(self, **changed: Any) -> Array:
        """The loop over entries, with other inputs, another axis or reduction, or backwards."""
        data, indices = changed.get("data", self.data), changed.get("indices", self.indices)
        axis, updates = changed.get("axis", self.axis), changed.get("updates", self.updates)
        places = self.places(indices, axis)
        if updates is None:
            values = np.array([data[at] for at in places])
            if axis is not None and indices.ndim == data.ndim:
                return values.reshape(indices.shape)
            return values if axis in (None, 0) else np.moveaxis(values, 0, axis)
        output, reduce = data.copy(), REDUCE[changed.get("reduction", self.reduction)]
        news = updates.reshape(len(places), *np.shape(data[places[0]])) if places else updates
        pairs = list(zip(places, news, strict=True))
        for at, update in reversed(pairs) if changed.get("backwards") else pairs:
            output[at] = reduce(output[at], update)
        return output


def draw_call(name: str, rng: np.random.Generator) -> Call:
    """Data of distinct values; half of the calls have indices below zero."""
    rows, columns = int(rng.integers(3, 7)), int(rng.integers(2, 6))
    dtype = rng.choice(["int64", "int32", "float64", "float32"])
    data = (rng.permutation(rows * columns) * 3 + 10).reshape(rows, columns).astype(dtype)
    axis, count = int(rng.integers(2)), int(rng.integers(2, 6))
    low = 0 if rng.random() < 0.5 or name.startswith("torch") else -1

    def draw(size: int, *shape: int) -> Array:
        return rng.integers(low * size, size, shape)

    def updates_of(*shape: int) -> Array:
        return (rng.permutation(int(np.prod(shape))) * 7 + 101).reshape(shape).astype(dtype)

    size = data.shape[axis]
    reduction = str(rng.choice(["none", "add"]))
    reads, writes = ("data", "indices"), ("data", "indices", "updates")
    vectors = np.stack([draw(rows, count), draw(columns, count)], axis=1)
    calls: dict[str, Callable[[], Call]] = {
        "onnx.gather": lambda: Call(name, reads, {"axis": axis}, axis, data, draw(size, count)),
        "numpy.take": lambda:
            Call(name, ("a", "indices"), {"axis": axis}, axis, data, draw(size, count)),
        "onnx.gather_elements": lambda:
            Call(name, reads, {"axis": axis}, axis, data, draw(size, *data.shape)),
        "torch.gather": lambda:
            Call(name, ("input", "index"), {"dim": axis}, axis, data, draw(size, *data.shape)),
        "onnx.gather_nd": lambda: Call(name, reads, {}, None, data, vectors),
        "onnx.scatter_elements": lambda:
            Call(name, writes, {"axis": axis, "reduction": reduction}, axis, data,
                 draw(size, *data.shape), updates_of(*data.shape), reduction),
        "torch.index_add": lambda:
            Call(name, ("input", "index", "source"), {"dim": 0}, 0, data, draw(rows, count),
                 updates_of(count, columns), "add"),
        "onnx.scatter_nd": lambda:
            Call(name, writes, {"reduction": reduction}, None, data, vectors, updates_of(count),
                 reduction),
        "tensorflow.tensor_scatter_nd_update": lambda:
            Call(name, ("tensor", "indices", "updates"), {}, None, data, vectors % data.shape,
                 updates_of(count)),
        "tensorflow.tensor_scatter_nd_add": lambda:
            Call(name, ("tensor", "indices", "updates"), {}, None, data,
                 draw(rows, count, 1) % rows, updates_of(count, columns), "add"),
    }  # fmt: skip
    return calls[name]()


OPERATORS = (
    "onnx.gather", "numpy.take", "onnx.gather_elements", "torch.gather", "onnx.gather_nd",
    "onnx.scatter_elements", "torch.index_add", "onnx.scatter_nd",
    "tensorflow.tensor_scatter_nd_update", "tensorflow.tensor_scatter_nd_add",
)  # fmt: skip


def raise_last(indices: Array) -> Array:
    """The last number of vectors of several, one higher."""
    if indices.shape[-1] < 2 or indices.ndim < 2:
        raise ValueError
    return indices + np.append(np.zeros(indices.shape[-1] - 1, np.int64), 1)


def column_major(array: Array) -> Array:
    return array.reshape(-1, order="F").reshape(array.shape)


def zero_first(array: Array) -> Array:
    return np.concatenate([np.zeros_like(array[:1]), array[1:]])


Mistake = Callable[[Call], Array]

# What a cause is told by, and the loop that makes the mistake.
MISTAKES: dict[str, Mistake] = {
    "negative indices are read as 0": lambda call: call.run(indices=call.indices.clip(0)),
    "indices are counted from -1": lambda call: call.run(indices=call.indices + 1),
    "reversed along|reverse order|indices are reversed":
        lambda call: call.run(indices=call.indices[..., ::-1]),
    "indices are sorted": lambda call: call.run(indices=np.sort(call.indices, 0)),
    "indices are reversed": lambda call: call.run(indices=call.indices[::-1]),
    "first indices are used": lambda call:
        call.run(indices=np.broadcast_to(call.indices[:1], call.indices.shape)),
    "data is read in column-major|transposed":
        lambda call: call.run(data=column_major(call.data)),
    "indices are read in column-major|transposed":
        lambda call: call.run(indices=column_major(call.indices)),
    "row 0 of data is padding": lambda call: call.run(data=zero_first(call.data)),
    "result is transposed": lambda call: call.run().T,
    "(axis|dim) is": lambda call: call.run(axis=1 - call.axis),  # type: ignore[operator]
}  # fmt: skip

OF_VECTORS: dict[str, Mistake] = {
    "index vector is one too high|counted from -1":
        lambda call: call.run(indices=raise_last(call.indices)),
}  # fmt: skip

# Mistakes that no cause has the words for; a few of these fit one by accident, and then whole.
NAMELESS: tuple[Mistake, ...] = (
    lambda call: call.run(indices=call.indices // 2),
    lambda call: call.run(indices=call.indices % 2),
    lambda call: call.run(indices=np.roll(call.indices, 1, 0) // 2),
    lambda call: np.roll(call.run(), 1),
    lambda call: np.concatenate([call.run()[1::-1], call.run()[2:]]),
)

OF_SCATTERS: dict[str, Mistake] = {
    "nothing was written": lambda call: call.data,
    "starts from 0": lambda call: call.run(data=np.zeros_like(call.data)),
    "first (update|row of updates) is used": lambda call:
        call.run(updates=np.broadcast_to(call.updates[:1], call.updates.shape)),  # type: ignore[index]
    "one (entry|row of entries) late": lambda call: call.run(updates=np.roll(call.updates, 1, 0)),  # type: ignore[arg-type]
    "one (entry|row of entries) early": lambda call: call.run(updates=np.roll(call.updates, -1, 0)),  # type: ignore[arg-type]
    "last (entry|row of entries) is left out": lambda call:
        call.run(indices=call.indices[:-1], updates=call.updates[:-1]),  # type: ignore[index]
    "other sign|are subtracted": lambda call: call.run(updates=-call.updates),  # type: ignore[operator]
    "reduction is missing|only the last": lambda call: call.run(reduction="none"),
    "updates are added": lambda call: call.run(reduction="add"),
    "updates are multiplied": lambda call: call.run(reduction="mul"),
    "first update of a cell": lambda call: call.run(backwards=True),
}  # fmt: skip


def diagnose(call: Call, expected: Array) -> OutputDiagnosis | None:
    """What is told of an answer that differs; None where the mistake made no difference."""
    arrays = [call.data, call.indices, *([] if call.updates is None else [call.updates])]
    run = gscli.trace(call.name, dict(zip(call.names, arrays, strict=True)), call.attrs)
    assert np.array_equal(run.output, call.run()), call
    wrong = np.ascontiguousarray(expected).astype(run.output.dtype)
    diagnosis = OutputDiagnosis(run, wrong, "want", Tolerance(0.0))
    return None if diagnosis.is_equal else diagnosis


@pytest.mark.parametrize("count", [4, *slow([40])])
@pytest.mark.parametrize("name", OPERATORS)
def test_a_random_mistake_is_named_and_no_other(name: str, count: int) -> None:
    rng = np.random.default_rng(OPERATORS.index(name))
    verdicts: Counter[str] = Counter()
    wrong = []
    while verdicts.total() < count:
        call = draw_call(name, rng)
        mistakes = MISTAKES | ({} if call.updates is None else OF_SCATTERS)
        mistakes |= OF_VECTORS if "_nd" in name else {}
        phrase = str(rng.choice(list(mistakes)))
        try:
            diagnosis = diagnose(call, mistakes[phrase](call))
        except (IndexError, TypeError, ValueError):
            continue  # such a call has no such mistake
        if diagnosis is None:
            continue
        causes = [fit.cause for fit in diagnosis.causes]
        named = any(re.search(phrase, cause) for cause in causes)
        verdicts["named" if named else "wrong" if causes else "silent"] += 1
        if causes and not named:
            wrong.append((phrase, causes, call))
    assert not wrong, f"{len(wrong)} of {count}: {wrong[0]}"
    assert verdicts["named"] >= 0.7 * count, verdicts


@pytest.mark.parametrize("count", [3, *slow([30])])
@pytest.mark.parametrize("name", OPERATORS)
def test_noise_has_no_cause(name: str, count: int) -> None:
    rng = np.random.default_rng(OPERATORS.index(name))
    for _ in range(count):
        call = draw_call(name, rng)
        output = call.run()
        diagnosis = diagnose(call, output + rng.integers(1000, 2000, output.shape))
        assert diagnosis is not None
        assert diagnosis.causes == (), (call, diagnosis.causes)


@pytest.mark.parametrize("count", [4, *slow([15])])
@pytest.mark.parametrize("name", OPERATORS)
def test_what_fits_a_part_by_accident_is_rarely_a_cause(name: str, count: int) -> None:
    rng = np.random.default_rng(OPERATORS.index(name))
    told = []
    for _ in range(count):
        call = draw_call(name, rng)
        for mistake in NAMELESS:
            diagnosis = diagnose(call, mistake(call))
            causes = () if diagnosis is None else diagnosis.causes
            told += [(call, fit) for fit in causes[:1] if not fit.is_exact]
    assert len(told) <= 1, told


@pytest.mark.parametrize("count", [3, *slow([30])])
@pytest.mark.parametrize("name", OPERATORS)
def test_index_vectors_are_spoken_of_where_there_are_some(name: str, count: int) -> None:
    rng = np.random.default_rng(OPERATORS.index(name))
    for _ in range(count):
        call = draw_call(name, rng)
        moved = call.indices.copy()
        moved[..., -1] -= 1
        for wrong in (call.indices[..., ::-1], moved, moved + 2 * (moved != call.indices)):
            with suppress(IndexError):
                diagnosis = diagnose(call, call.run(indices=wrong))
                told = [] if diagnosis is None else [fit.cause for fit in diagnosis.causes]
                assert "_nd" in name or not any("vector" in cause for cause in told), call
