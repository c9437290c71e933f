"""A smaller call that still fails for the same reason.

Any cut is tried that may make sense; the operator's own layout refuses what does not fit, in far
less time than a runtime answers, so that no rule about shapes is written down here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import TypeAlias

import numpy as np

from gscli.base.arrays import Array, Arrays, unequal_cells
from gscli.runtimes.generator import infer_roles
from gscli.runtimes.trials import FuzzCase, Mismatch

MismatchFinder: TypeAlias = Callable[[FuzzCase], Mismatch | None]


MAX_CALLS = 400
MAX_SECONDS = 20.0

PLAIN_NUMBERS = 100
CUTS = (0.0, 1.0, 0.5)
AXES = ("axis", "dim", "batch_dims")
SHAPES = ("shape", "slice_sizes")

# Attributes and inputs that hold sizes: they are cut along with the arrays.
SIZES = (*SHAPES, "num_segments")


def shrink_case(trial: FuzzCase, mismatch: Mismatch, find_mismatch: MismatchFinder) -> FuzzCase:
    """The smallest call found for the same verdict."""
    calls, deadline = 0, time.monotonic() + MAX_SECONDS
    seen: set[str] = set()
    better = True
    while better:
        better = False
        for smaller in _iter_smaller(trial):
            is_simpler = _measure_complexity(smaller) < _measure_complexity(trial)
            if not (is_simpler and _is_same_failure(smaller, trial)):
                continue
            if (key := smaller.command) in seen:
                continue
            seen.add(key)
            if calls >= MAX_CALLS or time.monotonic() > deadline:
                return trial
            calls += 1
            if find_mismatch(smaller) == mismatch:
                trial, better = smaller, True
                break
    return trial


def _is_same_failure(smaller: FuzzCase, trial: FuzzCase) -> bool:
    """Whether the rules say the same kind of thing, and no rule came in that was not met before.

    So a smaller call cannot fail for another reason than the larger one.
    """
    if not smaller.distinctions <= trial.distinctions:
        return False
    if trial.is_index_refused:
        return smaller.is_index_refused
    return type(smaller.expected_result) is type(trial.expected_result)


def _measure_complexity(trial: FuzzCase) -> tuple[object, ...]:
    """What is to become smaller: numbers, axes, the indices themselves, attributes, odd types."""
    names = _list_index_names(trial)
    indices = [array for name, array in trial.inputs.items() if name in names]
    magnitude = sum(abs(number) for array in indices for number in array.reshape(-1).tolist())
    below = sum(int((array < 0).sum()) for array in indices)
    kinds = [_rank_dtype(array, index=name in names) for name, array in trial.inputs.items()]
    return (
        trial.cell_count,
        sum(array.ndim for array in trial.inputs.values()),
        sum(abs(value) for value in trial.attrs.values() if type(value) is int),
        magnitude,
        below,
        len(trial.attrs),
        sum(map(_count_odd_values, trial.inputs.values())),
        sum(kinds),
    )


def _count_odd_values(array: Array) -> int:
    """Values that are not small whole numbers, and characters beyond the first of texts."""
    values = array.reshape(-1).tolist()
    if array.dtype.kind == "U":
        return sum(abs(len(text) - 1) + (not text.isascii()) for text in values)
    return sum(value not in range(PLAIN_NUMBERS) or str(value).startswith("-") for value in values)


def _list_index_names(trial: FuzzCase) -> set[str]:
    several = trial.operator.variadic_inputs(trial.inputs)
    return {*infer_roles(trial.operator).layout.index_inputs, *several}


def _rank_dtype(array: Array, *, index: bool) -> int:
    usual = ("int64",) if index else ("int64", "float64", "float32")
    name = array.dtype.name
    return usual.index(name) if name in usual else len(usual)


def _iter_smaller(trial: FuzzCase) -> Iterator[FuzzCase]:
    """Simpler calls, the boldest first."""
    for name, plain in _list_plain_values(trial).items():
        yield replace(trial, inputs={**trial.inputs, name: plain})
    extents = _list_extents(trial)
    for size in sorted({size for shape in extents.values() for size in shape}, reverse=True):
        for target in dict.fromkeys(smaller for smaller in (1, size // 2, size - 1) if smaller > 0):
            if target < size:
                yield from _iter_cuts(trial, extents, size, target)
    yield from _iter_cuts(trial, extents, 1, -1)
    yield from _iter_cuts(trial, extents, 1, 0)
    yield from _iter_fewer_attributes(trial)
    yield from _iter_plainer_types(trial)
    yield from _iter_plainer_cells(trial)
    yield from _iter_cuts(trial, {k: v for k, v in extents.items() if k in trial.inputs}, None, -1)


def _collect_values(trial: FuzzCase) -> dict[str, Array]:
    """The inputs, and the attributes that are whole numbers or sizes, as arrays like these."""
    sizes = {k: v for k, v in trial.attrs.items() if type(v) is int or k in SHAPES}
    return {**trial.inputs, **{name: np.array(value) for name, value in sizes.items()}}


def _replace_values(trial: FuzzCase, values: Arrays) -> FuzzCase:
    """The call with other ones of these."""
    attrs = {name: array.tolist() for name, array in values.items() if name in trial.attrs}
    inputs = {name: values.get(name, array) for name, array in trial.inputs.items()}
    return replace(trial, inputs=inputs, attrs={**trial.attrs, **attrs})


def _list_extents(trial: FuzzCase) -> dict[str, tuple[int, ...]]:
    """Shapes of the inputs, and the sizes that others and attributes hold."""
    return {
        name: tuple(array.reshape(-1).tolist()) if name in SIZES else array.shape
        for name, array in _collect_values(trial).items()
        if name in trial.inputs or name in SIZES
    }


def _iter_cuts(
    trial: FuzzCase, extents: Mapping[str, tuple[int, ...]], size: int | None, target: int
) -> Iterator[FuzzCase]:
    """Every way to cut axes of one size in some of the extents at once."""
    places = {
        name: [None, *(at for at, own in enumerate(shape) if size in (own, None))]
        for name, shape in extents.items()
    }
    for chosen in product(*(reversed(places[name]) for name in places)):
        axes = zip(places, chosen, strict=True)
        cut = {name: (axis, target) for name, axis in axes if axis is not None}
        if cut:
            yield from _truncate(trial, cut)


def _truncate(trial: FuzzCase, cut: Mapping[str, tuple[int, int]]) -> Iterator[FuzzCase]:
    """The call with its arrays cut at their ends, at their beginnings, and on both sides.

    `cut`: for some extents the axis to be cut and its new size; size -1 takes the axis away.
    With one axis less, what counts axes may mean the one before.
    """
    for part in CUTS:
        values = _collect_values(trial)
        for name, (axis, size) in cut.items():
            array = values[name]
            if name not in SIZES:
                values[name] = _cut_array(array, axis, size, part)
            elif array.ndim and size < 0:
                values[name] = np.delete(array, axis)
            else:
                values[name] = array.copy()
                values[name].reshape(-1)[axis] = max(size, 0)
        counts = [name for name in AXES if name in values and values[name].size == 1]
        steps = [(0, -1) if size < 0 and values[name].any() else (0,) for name in counts]
        for chosen in product(*steps):
            nearer = {
                name: np.asarray(values[name] + step * np.sign(values[name]))
                for name, step in zip(counts, chosen, strict=True)
            }
            yield _replace_values(trial, values | nearer)


def _cut_array(array: Array, axis: int, size: int, part: float) -> Array:
    """Cells of an axis from the first (0) to the last (1); without the axis where size is -1."""
    first = round((array.shape[axis] - abs(size)) * part)
    if size >= 0:
        return array.take(range(first, first + size), axis)
    return np.asarray(array.take(first, axis)) if array.shape[axis] else array


def _iter_fewer_attributes(trial: FuzzCase) -> Iterator[FuzzCase]:
    for name, attribute in trial.operator.attributes_by_name.items():
        if name in trial.attrs and not attribute.is_required:
            yield replace(trial, attrs={k: v for k, v in trial.attrs.items() if k != name})


def _iter_plainer_types(trial: FuzzCase) -> Iterator[FuzzCase]:
    """With all values in a usual type that holds them, or one input of indices in int64."""
    names = infer_roles(trial.operator).layout.value_names
    values = {name: array for name, array in trial.inputs.items() if name in names}
    if any(array.dtype.kind not in "biufV" for array in values.values()):
        return
    changes = [(values, kind) for kind in ("int64", "float64", "float32")]
    for name, array in trial.inputs.items():
        if array.dtype.kind in "iu" and name not in names:
            changes.append(({name: array}, "int64"))
    for arrays, kind in changes:
        with np.errstate(all="ignore"):
            changed = {name: array.astype(kind) for name, array in arrays.items()}
        if not any(unequal_cells(array, changed[name]).any() for name, array in arrays.items()):
            yield replace(trial, inputs={**trial.inputs, **changed})


def _list_plain_values(trial: FuzzCase) -> dict[str, Array]:
    """Small whole numbers, or one letter each, in the shapes and types of data and updates."""
    values: dict[str, Array] = {}
    for first, name in enumerate(infer_roles(trial.operator).layout.value_names):
        if name is not None and name in trial.inputs:
            array = trial.inputs[name]
            plain = np.array([*"abcdefghijkl"] if array.dtype.kind == "U" else range(1, 13))
            values[name] = np.resize(np.roll(plain, -6 * first), array.shape).astype(array.dtype)
    return values


def _iter_plainer_cells(trial: FuzzCase) -> Iterator[FuzzCase]:
    """With a plain value in place of one, or an index nearer to 0."""
    for name, plain in _list_plain_values(trial).items():
        for place in np.ndindex(plain.shape):
            if _count_odd_values(np.asarray(trial.inputs[name][place])):
                yield _replace_cell(trial, name, place, plain[place])
    names = {*_list_index_names(trial), "axis"}
    for name, array in _collect_values(trial).items():
        if name not in names and (name in trial.inputs or name in SHAPES):
            continue
        for place in np.ndindex(array.shape):
            now = int(array[place])
            toward = now - 1 if now > 0 else now + 1
            for other in dict.fromkeys((0, -1, 1, now // 2, toward, -toward)):
                if other != now and abs(other) <= abs(now) and (other >= 0 or now < 0):
                    yield _replace_cell(trial, name, place, other)


def _replace_cell(trial: FuzzCase, name: str, place: tuple[int, ...], value: object) -> FuzzCase:
    changed = _collect_values(trial)[name].copy()
    changed[place] = value
    return _replace_values(trial, {name: changed})
