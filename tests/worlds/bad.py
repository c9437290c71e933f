"""Bad worlds: one fault put into a good call, and the kind of refusal it must meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .core import GOOD, Array, World

# Inputs that hold indices; "numpy.choose.a" would be the input a of this operator alone.
INDICES = {"indices", "index", "INDICES", "ind", "start_indices", "scatter_indices", "segment_ids",
           "write_indices", "torch.embedding.input", "torch.one_hot.input", "target",
           "torch.embedding_bag.input"}  # fmt: skip

UPDATES = {"updates", "update", "UPDATES", "SLICES", "src", "source", "v", "values", "b"}
AXES = ("axis", "dim")
CHOICES = {
    "reduction", "reduce", "mode", "bad_indices_policy", "device", "release", "update_computation",
}  # fmt: skip


class Bad(NamedTuple):
    """A world, what is wrong with it, and the kind of its refusal."""

    world: World
    fault: str
    kind: str


Fault: TypeAlias = Callable[[World], Iterator[tuple[str, dict[str, Any], dict[str, Any]]]]


def is_index(name: str, operator: str) -> bool:
    """Whether an input of the operator holds indices."""
    return not INDICES.isdisjoint((name, f"{operator}.{name}")) or name.startswith("indices_")


def _indices_of(world: World) -> list[str]:
    return [name for name in world.inputs if is_index(name, world.name)]


def specimen(name: str, answers: Callable[[World], Array | None]) -> World:
    """The operator's first world with an answer, with real indices of rank 1 or more."""
    for world in GOOD[name]():
        indices = [array for key, array in world.inputs.items() if is_index(key, name)]
        if (indices or len(world.inputs) > 1) and all(i.size > 1 for i in indices):
            answer = answers(world)
            if answer is not None and answer.size > 1:
                return world
    raise AssertionError(f"no specimen of {name}")


def _wrong_calls(world: World) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    inputs, attrs = dict(world.inputs), dict(world.attrs)
    yield "an attribute it does not have", inputs, attrs | {"no_such_attribute": 1}
    yield "an input it does not have", inputs | {"no_such_input": np.zeros(1)}, attrs
    first = next(iter(inputs))
    yield f"no {first}", {key: inputs[key] for key in inputs if key != first}, attrs
    for name in CHOICES & attrs.keys():
        yield f"{name} nobody knows", inputs, attrs | {name: "median"}
        yield f"{name} a number", inputs, attrs | {name: 7}


def _wrong_types(world: World) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    inputs, attrs = dict(world.inputs), dict(world.attrs)
    for name in _indices_of(world):
        yield f"complex {name}", inputs | {name: inputs[name].astype(np.complex64)}, attrs
        yield f"words for {name}", inputs | {name: inputs[name].astype(np.str_)}, attrs


def _wrong_shapes(world: World) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    inputs, attrs = dict(world.inputs), dict(world.attrs)
    for name in AXES:
        if name in attrs:
            yield f"{name} 7", inputs, attrs | {name: 7}
            yield f"{name} -8", inputs, attrs | {name: -8}


def _wrong_indices(world: World) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Only where an index can be wrong; those who clip, wrap or drop have no bad index."""
    inputs, attrs = dict(world.inputs), dict(world.attrs)
    for name in _indices_of(world):
        for value in (99, -100):
            array = inputs[name].copy()
            if value < 0 and array.dtype.kind in "ub":
                continue
            array[...] = value
            yield f"{name} {value}", inputs | {name: array}, attrs


def _wrong_updates(world: World) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Only where dtypes must be equal; NumPy and JAX cast."""
    inputs, attrs = dict(world.inputs), dict(world.attrs)
    for name in UPDATES & inputs.keys():
        other = "int16" if inputs[name].dtype == np.float32 else "float32"
        yield (
            f"{name} of another dtype",
            inputs | {name: np.zeros(inputs[name].shape, other)},
            attrs,
        )


ALWAYS: tuple[tuple[str, Fault], ...] = (
    ("usage", _wrong_calls), ("dtype", _wrong_types), ("shape", _wrong_shapes),
)  # fmt: skip
WHERE_REFUSED: tuple[tuple[str, Fault], ...] = (
    ("index", _wrong_indices),
    ("dtype", _wrong_updates),
)


@cache
def bad_worlds(name: str, answers: Callable[[World], Array | None]) -> Sequence[Bad]:
    """Every fault in a good call of `name`; `answers` gives the oracle's answer or None."""
    good = specimen(name, answers)
    found = []
    for kind, fault in (*ALWAYS, *WHERE_REFUSED):
        for what, inputs, attrs in fault(good):
            world = World(name, inputs, attrs)
            if (kind, fault) in ALWAYS or answers(world) is None:
                found.append(Bad(world, what, kind))
    return found
