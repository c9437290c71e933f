"""Calls of an operator, drawn at random from a seed, small enough to be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from random import Random

import numpy as np

from gscli.base import GscliError, UsageError
from gscli.base.arrays import Array, parse_dtype
from gscli.frameworks.operator import Operator
from gscli.lab.examples import build_probe
from gscli.plan import plan_call
from gscli.runtimes.drafts import CallSpec, Rng, Roles
from gscli.runtimes.random_shapes import choose_generator
from gscli.runtimes.trials import ExpectedResult, FuzzCase

INDEX_MODE_WEIGHTS = {"legal": 40, "negative": 25, "borders": 12, "outside": 23}
"""How often the indices of a call are plain, partly negative, at the borders, partly bad."""

DATA_TYPES = {
    "float32": 38, "int32": 12, "int64": 12, "float64": 8, "float16": 6, "uint8": 4, "bool": 5,
    "int8": 3, "int16": 2, "bfloat16": 3, "uint32": 1, "uint64": 1, "str": 3, "complex64": 2,
}  # fmt: skip
INDEX_TYPES = {
    "int64": 68, "int32": 24, "int8": 1, "int16": 1, "uint8": 2, "uint32": 2, "uint64": 2,
}  # fmt: skip

EXCLUDED_ATTRIBUTES = (
    "device", "xla", "release", "indices_are_sorted", "unique_indices", "validate_indices",
    "indices_per_axis",
)  # fmt: skip
"""Attributes that say which runtime it is, or that promise what a random call does not keep."""

SHAPE_ATTRIBUTES = ("axis", "dim", "batch_dims", "shape", "num_segments")
REFUSED_SHARE = 0.04
"""Part of the calls with refused shapes or types that are put to the runtime all the same."""

MAX_REJECTIONS = 400
"""Calls drawn in a row that the rules refuse for their shapes before an operator is given up."""


def generate_cases(
    operator: Operator, seed: int, fixed: Mapping[str, object] | None = None
) -> Iterator[FuzzCase]:
    """Endless calls of an operator; the same seed gives the same calls.

    `fixed`: attributes that are always given. UsageError where no call that fits is found.

    >>> from gscli.frameworks import find_operator
    >>> first = next(generate_cases(find_operator("onnx.gather"), 7))
    >>> (
    ...     sorted(first.inputs),
    ...     first.is_index_refused or isinstance(first.expected_result, ExpectedResult),
    ... )
    (['data', 'indices'], True)
    """
    roles = infer_roles(operator)
    known = {attribute.name for attribute in operator.attributes}
    kept = {name: value for name, value in (fixed or {}).items() if name in known}
    dice = Rng(Random(f"{seed}/{operator.full_name}"))  # noqa: S311  not for secrets
    in_vain = 0
    while True:
        trial = _draw_case(roles, dice, kept)
        fits = isinstance(trial.expected_result, ExpectedResult) or trial.is_index_refused
        if not fits and not (in_vain < MAX_REJECTIONS and dice.draw_bool(REFUSED_SHARE)):
            in_vain += 1
            if in_vain > MAX_REJECTIONS:
                raise UsageError(
                    f"no random calls of {operator.full_name} are known",
                    where=str(trial.expected_result)[:200],
                )
            continue
        in_vain = 0
        yield trial


@cache
def infer_roles(operator: Operator) -> Roles:
    """The operator's layout on data, indices and updates of 2×2; its example's if that is refused.

    On one axis a number per cell and a number per slice would be the same.
    """
    probe = build_probe(operator, {})
    assert probe is not None
    roles = Roles(operator, probe.trace.layout)
    names = {roles.layout.data_name, roles.updates, *roles.layout.index_inputs}
    square = {
        name: np.zeros((2, 2), array.dtype) if name in names else array
        for name, array in probe.inputs.items()
    }
    with suppress(GscliError):
        roles = Roles(operator, plan_call(operator, square, probe.attrs).layout)
    return roles


def _draw_case(roles: Roles, dice: Rng, fixed: Mapping[str, object]) -> FuzzCase:
    dice.index_mode = dice.choose_weighted(INDEX_MODE_WEIGHTS)
    draft = choose_generator(roles)(roles, dice)
    attrs = {**_draw_attributes(roles.operator, dice), **draft.attrs, **fixed}
    kind = dice.choose_weighted(DATA_TYPES)
    index = dice.choose_weighted(INDEX_TYPES)
    trial = FuzzCase(roles.operator, _build_inputs(roles, draft, attrs, kind, index), attrs)
    if isinstance(trial.expected_result, ExpectedResult) or trial.is_index_refused:
        return trial
    # A type may be what is refused; then the same call in the types that every operator takes.
    usual = FuzzCase(roles.operator, _build_inputs(roles, draft, attrs, "float32", "int64"), attrs)
    return trial if dice.draw_bool(REFUSED_SHARE) else usual


def _draw_attributes(operator: Operator, dice: Rng) -> dict[str, object]:
    """Attributes that have nothing to do with shapes."""
    attrs: dict[str, object] = {}
    for attribute in operator.attributes:
        name = attribute.name
        if name in EXCLUDED_ATTRIBUTES or name in SHAPE_ATTRIBUTES or attribute.kind == "ints":
            continue
        if name == "opset":
            if len(operator.versions) > 1 and dice.draw_bool(0.25):
                attrs[name] = dice.choose(operator.versions)
        elif attribute.kind == "choice":
            if attribute.is_required or dice.draw_bool(0.7):
                attrs[name] = dice.choose(attribute.choices)
        elif attribute.kind == "bool" and (attribute.is_required or dice.draw_bool(0.4)):
            attrs[name] = dice.draw_bool(0.5)
        elif attribute.kind == "number" and (attribute.is_required or dice.draw_bool(0.3)):
            attrs[name] = dice.random.randint(2, 9)
    return {name: value for name, value in attrs.items() if value != ""}


def _build_inputs(
    roles: Roles, draft: CallSpec, attrs: Mapping[str, object], kind: str, index: str
) -> dict[str, Array]:
    """Arrays in the operator's order, of the types drawn."""
    inputs: dict[str, Array] = {}
    integers = {**draft.indices, **draft.other_inputs}
    reduction = roles.operator.attribute("reduction")
    named = "" if reduction is None else str(attrs.get(reduction.name))
    product = named in ("mul", "prod", "multiply")
    product = product or "mul" in roles.operator.name or "prod" in roles.operator.name
    for item in roles.operator.inputs:
        if item.kind == "many":
            inputs |= {name: _cast_lossy(array, index) for name, array in draft.indices.items()}
        elif item.name in integers:
            inputs[item.name] = _cast_lossy(integers[item.name], index)
        elif item.name == roles.layout.data_name:
            inputs[item.name] = make_values(draft.data, kind)
        elif item.name == roles.updates and not (item.optional and "value" in attrs):
            inputs[item.name] = make_values(draft.updates, kind, first=10, product=product)
    return inputs


def make_values(
    shape: tuple[int, ...], dtype: str, first: int = 1, *, product: bool = False
) -> Array:
    """Distinct whole values, so that every sum of them is exact; small factors for products.

    >>> make_values((2, 2), "float32", 10)
    array([[10., 11.],
           [12., 13.]], dtype=float32)
    """
    count = int(np.prod(shape, dtype=np.int64))
    if dtype == "str":
        letters = [f"{'d' if first == 1 else 'u'}{number}" for number in range(count)]
        return np.array(letters, np.str_).reshape(shape)
    numbers = np.arange(first, first + count)
    if product and first > 1:
        numbers = np.array([2, -1, 3, 1])[numbers % 4]
    if dtype == "bool":
        numbers = numbers % 3 == 1
    return numbers.astype(parse_dtype(dtype)).reshape(shape)


def _cast_lossy(array: Array, kind: str) -> Array:
    """Indices in another type, where every number has a place in it; masks stay masks."""
    if array.dtype != np.int64:
        return array
    limits = np.iinfo(kind)
    if array.size and (array.min() < limits.min or array.max() > limits.max):
        return array
    return array.astype(kind)
