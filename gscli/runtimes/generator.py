"""Calls of an operator, drawn at random from a seed, small enough to be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import count
from random import Random
from typing import Any

import numpy as np

from gscli.base import GscliError, UsageError
from gscli.base.arrays import Array, parse_dtype
from gscli.base.records import Arguments
from gscli.frameworks.duplicates import find_duplicate_cells
from gscli.frameworks.operator import Operator
from gscli.lab.examples import build_legal_probe, leave_axis_out
from gscli.layout.axes import Negative, OutOfBounds
from gscli.plan import plan_call
from gscli.runtimes.drafts import CallSpec, Rng, Roles
from gscli.runtimes.random_shapes import choose_generator
from gscli.runtimes.trials import FuzzCase
from gscli.traces import Trace

# How often the indices of a call are plain, partly negative, at the borders, partly bad.
INDEX_MODE_WEIGHTS = {"legal": 40, "negative": 25, "borders": 12, "outside": 23}

# The same where numbers below zero are refused, so that most calls are answered there, too.
REFUSED_MODE_WEIGHTS = {"legal": 70, "negative": 8, "borders": 4, "outside": 18}

DATA_TYPES = {
    "float32": 38, "int32": 12, "int64": 12, "float64": 8, "float16": 6, "uint8": 4, "bool": 5,
    "int8": 3, "int16": 2, "bfloat16": 3, "uint32": 1, "uint64": 1, "str": 3, "complex64": 2,
}  # fmt: skip
INDEX_TYPES = {
    "int64": 64, "int32": 24, "int8": 2, "int16": 1, "uint8": 3, "uint32": 2, "uint64": 4,
}  # fmt: skip

# How often values are distinct whole numbers, and what takes the place of some of them else.
VALUE_MODE_WEIGHTS = {"whole": 55, "fractions": 15, "special": 20, "limits": 10}

SPECIAL_VALUES = (float("nan"), float("inf"), -float("inf"), -0.0, 0.0)

# Sums of these are exact in every type of floating point.
FRACTIONS = (0.25, -0.5, 1.75, -3.25)

UNUSUAL_TEXTS = ("", "ü", "日本語", "a b", "x" * 20)

# Part of the cells that hold one of these.
REPLACED_SHARE = 0.4

# Attributes that say which runtime it is, or that promise what a random call does not keep.
EXCLUDED_ATTRIBUTES = (
    "device", "xla", "release", "indices_are_sorted", "unique_indices", "validate_indices",
    "indices_per_axis",
)  # fmt: skip

# Values of an attribute that is a number.
NUMBERS = (-1, 0, 2, 3, 5, 9)

# Part of the calls in which an attribute of this kind is given, though it has a default.
ATTRIBUTE_SHARES = {"choice": 0.7, "bool": 0.4, "number": 0.3}

# Part of the calls with refused shapes or types that are put to the runtime all the same.
REFUSED_SHARE = 0.04

# Part of the calls that keep a promise in which it is given.
PROMISED = 0.4

# Calls drawn in a row that the rules refuse for their shapes before an operator is given up.
MAX_REJECTIONS = 400


def generate_cases(
    operator: Operator, seed: int, fixed: Arguments | None = None, calls_per_shape: int = 1
) -> Iterator[FuzzCase]:
    """Endless calls of an operator; the same seed gives the same calls.

    `fixed`: attributes that are always given. `calls_per_shape`: calls in a row that differ in
    their indices and values alone, for runtimes that compile. UsageError where no call that fits
    is found.

    >>> from gscli.frameworks import find_operator
    >>> first = next(generate_cases(find_operator("onnx.gather"), 7))
    >>> (
    ...     sorted(first.inputs),
    ...     first.is_index_refused or isinstance(first.expected_result, Trace),
    ... )
    (['data', 'indices'], True)
    """
    roles = infer_roles(operator)
    known = operator.attributes_by_name
    own = {name: value for name, value in (fixed or {}).items() if name in known}
    dice = Rng(Random(f"{seed}/{operator.full_name}"))  # noqa: S311  not for secrets
    in_vain = 0
    for number in count():
        if number % calls_per_shape == 0:
            shapes = dice.random.getstate()
        dice.random.setstate(shapes)
        trial = _draw_case(roles, dice, own)
        fits = isinstance(trial.expected_result, Trace) or trial.is_index_refused
        if not fits and not (in_vain < MAX_REJECTIONS and dice.draw_bool(REFUSED_SHARE)):
            in_vain += 1
            if in_vain > MAX_REJECTIONS:
                problem = f"no random calls of {operator.full_name} are known"
                raise UsageError(problem, where=str(trial.expected_result)[:200])
            continue
        in_vain = 0
        yield trial


@cache
def infer_roles(operator: Operator) -> Roles:
    """The operator's layout on data, indices and updates of 2×2; its example's if that is refused.

    On one axis a number per cell and a number per slice would be the same.
    """
    probe = build_legal_probe(operator, leave_axis_out(operator))
    roles = Roles(operator, probe.layout)
    names = {roles.layout.data_name, roles.updates, *roles.layout.index_inputs}
    square = {
        name: np.zeros((2, 2), array.dtype) if name in names else array
        for name, array in probe.inputs.items()
    }
    with suppress(GscliError):
        roles = Roles(operator, plan_call(operator, square, probe.attrs).layout)
    return roles


def _draw_case(roles: Roles, dice: Rng, fixed: Arguments) -> FuzzCase:
    policy = roles.layout.policy
    takes_none = (policy.negative, policy.out_of_bounds) == (Negative.OUTSIDE, OutOfBounds.RAISE)
    weights = REFUSED_MODE_WEIGHTS if takes_none else INDEX_MODE_WEIGHTS
    dice.index_mode = dice.choose_weighted(weights, dice.contents)
    draft = choose_generator(roles)(roles, dice)
    attrs = {**_draw_attributes(roles.operator, dice), **draft.attrs, **fixed}
    for attribute in roles.operator.attributes:
        name = attribute.name
        if not attribute.is_required and attrs.get(name, ...) == attribute.default:
            attrs = {key: attrs[key] for key in attrs if key != name or dice.draw_bool(0.5)}
    kind = dice.choose_weighted(DATA_TYPES)
    index = dice.choose_weighted(INDEX_TYPES)
    keeps_refused = dice.draw_bool(REFUSED_SHARE)
    inputs = _build_inputs(roles, draft, attrs, kind, index)
    trial = _mix_values(roles, FuzzCase(roles.operator, inputs, attrs), dice)
    if not (isinstance(trial.expected_result, Trace) or trial.is_index_refused or keeps_refused):
        # A type may be what is refused; then the call in the types that every operator takes.
        inputs = _build_inputs(roles, draft, attrs, "float32", "int64")
        trial = FuzzCase(roles.operator, inputs, attrs)
    return _draw_promises(trial, dice)


def _draw_promises(trial: FuzzCase, dice: Rng) -> FuzzCase:
    """The call with promises about its indices, where it keeps them."""
    expected, keeps = trial.expected_result, {}
    if isinstance(expected, Trace) and all((plan := expected.plan).in_bounds):
        numbers = [trial.inputs[name] for name in plan.layout.index_inputs if name in trial.inputs]
        flat = [array.reshape(-1).astype(object) for array in numbers if array.dtype.kind != "b"]
        is_sorted = len(flat) == len(plan.columns) == 1 and list(flat[0]) == sorted(flat[0])
        keeps["indices_are_sorted"] = is_sorted and all(flat[0] >= 0)
        several = None if plan.layout.kind == "gather" else find_duplicate_cells(plan)
        is_unique = all(len({*array.tolist()}) == array.size for array in flat)
        keeps["unique_indices"] = is_unique and (several is None or not several.any())
    known = trial.operator.attributes_by_name
    kept = [name for name, is_kept in keeps.items() if is_kept and name in known]
    promises = [name for name in kept if dice.contents.random() < PROMISED]
    attrs = {**trial.attrs, **dict.fromkeys(promises, True)}
    return replace(trial, attrs=attrs) if promises else trial


def _mix_values(roles: Roles, trial: FuzzCase, dice: Rng) -> FuzzCase:
    """The call with values of another kind in some cells of data and of updates."""
    random, inputs = dice.contents, trial.inputs
    mode = dice.choose_weighted(VALUE_MODE_WEIGHTS, random)
    if mode == "whole":
        return trial
    is_exact = trial.plan is not None and trial.plan.layout.reduction in ("none", "max", "min")
    mixed = dict(inputs)
    for name in roles.layout.value_names:
        if name is not None and name in inputs:
            pool = _list_unusual_values(inputs[name].dtype, mode, is_exact=is_exact)
            cells = inputs[name].reshape(-1).tolist()
            for at in range(len(cells) if pool else 0):
                if random.random() < REPLACED_SHARE:
                    cells[at] = random.choice(pool)
            kind = np.str_ if inputs[name].dtype.kind == "U" else inputs[name].dtype
            mixed[name] = np.array(cells, kind).reshape(inputs[name].shape)
    return replace(trial, inputs=mixed)


def _list_unusual_values(dtype: np.dtype[Any], mode: str, *, is_exact: bool) -> Sequence[Any]:
    """What a type holds besides small whole numbers: () where nothing of this kind.

    Limits of floating point are for calls that are exact, for no text gives sums an order.
    """
    if dtype.kind == "U":
        return UNUSUAL_TEXTS
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        wide = [(1 << 53) + 1] if limits.max > 1 << 53 else []
        return (int(limits.min), int(limits.max), int(limits.max) - 1, *wide)
    if dtype.kind == "b":
        return ()
    if mode == "limits" and dtype.kind == "f" and is_exact:
        limit = np.finfo(dtype)
        return (float(limit.max), float(limit.min), float(limit.tiny), float(np.array(0.1, dtype)))
    if mode == "special":
        return SPECIAL_VALUES
    is_rounded = is_exact and dtype.kind != "c"
    return (*FRACTIONS, float(np.array(0.1, dtype))) if is_rounded else FRACTIONS


def _draw_attributes(operator: Operator, dice: Rng) -> dict[str, object]:
    """Attributes that have nothing to do with shapes."""
    attrs: dict[str, object] = {}
    for attribute in operator.attributes:
        name, share = attribute.name, ATTRIBUTE_SHARES.get(attribute.kind, 0.0)
        if name == "opset" and len(operator.versions) > 1 and dice.draw_bool(0.25):
            attrs[name] = dice.choose(operator.versions)
        is_drawn = share and name not in EXCLUDED_ATTRIBUTES
        if is_drawn and (attribute.is_required or dice.draw_bool(share)):
            values = {"bool": (False, True), "number": NUMBERS}
            attrs[name] = dice.choose(values.get(attribute.kind, attribute.choices))
    return {name: value for name, value in attrs.items() if value != ""}


def _build_inputs(
    roles: Roles, draft: CallSpec, attrs: Arguments, kind: str, index: str
) -> dict[str, Array]:
    """Arrays in the operator's order, of the types drawn."""
    inputs: dict[str, Array] = {}
    reduction = roles.operator.attribute("reduction")
    words = roles.operator.name, "" if reduction is None else attrs.get(reduction.name)
    product = any("mul" in str(word) or "prod" in str(word) for word in words)
    for item in roles.operator.inputs:
        if item.kind == "many":
            inputs |= {name: _cast_indices(array, index) for name, array in draft.indices.items()}
        elif item.name in draft.indices:
            inputs[item.name] = _cast_indices(draft.indices[item.name], index)
        elif item.name in draft.other_inputs:
            sizes = draft.other_inputs[item.name]
            inputs[item.name] = sizes.astype(index if index in ("int32", "int64") else "int64")
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
    if parse_dtype(dtype).kind == "c":
        numbers = numbers + 1j * (numbers % 3)
    return numbers.astype(parse_dtype(dtype)).reshape(shape)


def _cast_indices(array: Array, kind: str) -> Array:
    """Indices in another type: what is beyond its limits becomes one, what is below zero and has
    no sign there is counted from 2^bits. Masks stay masks.
    """
    if array.dtype != np.int64:
        return array
    limits = np.iinfo(kind)
    if limits.min == 0:
        return array.astype(kind)
    return np.asarray(array.clip(limits.min, limits.max)).astype(kind)
