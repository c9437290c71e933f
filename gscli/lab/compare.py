"""The same inputs under every framework's rules: run all, group equal answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gscli.base.arrays import as_array, dtype_name
from gscli.base.errors import GscliError, UsageError
from gscli.declare.comparisons import (
    CONCEPTS,
    REDUCTION_NAMES,
    Call,
    Comparison,
    Concept,
    ConceptName,
)
from gscli.frameworks import ALIASES, NAMES, framework
from gscli.frameworks.execute import execute
from gscli.frameworks.operator import Operator
from gscli.lab.answers import Comparing, Group, Row
from gscli.layout.axes import Tensor
from gscli.traces.trace import Trace

Array = NDArray[Any]


def compare(
    concept: ConceptName,
    inputs: Mapping[str, object],
    *,
    axis: int | None = None,
    batch_dims: int = 0,
    reduction: str = "none",
    only: Sequence[str] = (),
) -> Comparing:
    """Run a concept's call under every rule set that can express it.

    `only`: framework names or labels, in the order wanted; the first is the base. UsageError when
    nothing can run, or for an argument that the concept does not have. Refusals are answers here
    and do not raise.

    >>> compare("gather", {"data": [10, 20], "indices": [1]}, only=["onnx", "numpy"]).agree
    True
    """
    arrays = {name: as_array(value, name) for name, value in inputs.items()}
    call = _call(CONCEPTS[concept], arrays, axis, batch_dims, reduction)
    rows = [
        _row(operator, comparison, arrays, call, attrs)
        for operator, comparison, attrs in candidates(concept, call, arrays, only)
    ]
    if not rows:
        raise UsageError(
            f"no rule set can express this {concept}",
            where=", ".join(_told(axis, batch_dims, reduction, only)),
            valid=" ".join(_reductions(concept, call, arrays, only)),
        )
    groups = tuple(_grouped(rows))
    return Comparing(concept, arrays, call, groups, _readings(groups[0].first, call))


def _told(axis: int | None, batch_dims: int, reduction: str, only: Sequence[str]) -> Iterator[str]:
    """What was asked for besides the inputs."""
    if axis is not None:
        yield f"axis {axis}"
    if batch_dims:
        yield f"batch_dims {batch_dims}"
    if reduction != "none":
        yield f"reduction {reduction}"
    if only:
        yield f"frameworks {','.join(only)}"[:100]


def _reductions(
    concept: ConceptName, call: Call, arrays: Mapping[str, Array], only: Sequence[str]
) -> list[str]:
    """Reductions that some rule set can express, where the concept has them."""
    if not CONCEPTS[concept].takes_reduction:
        return []
    return [
        name
        for name in REDUCTION_NAMES
        if any(True for _ in candidates(concept, call._replace(reduction=name), arrays, only))
    ]


def _call(
    concept: Concept,
    arrays: Mapping[str, Array],
    axis: int | None,
    batch_dims: int,
    reduction: str,
) -> Call:
    for name in concept.inputs:
        if name not in arrays:
            raise UsageError(f"the comparison needs {name}", valid=" ".join(concept.inputs))
    for name, stray in (
        ("axis", axis is not None and not concept.takes_axis),
        ("batch_dims", batch_dims != 0 and not concept.takes_batch_dims),
        ("reduction", reduction != "none" and not concept.takes_reduction),
    ):
        if stray:
            raise UsageError(f"the comparison takes no {name}", where=concept.summary)
    tensors = [
        Tensor(name, arrays[name].shape, dtype_name(arrays[name].dtype)) for name in concept.inputs
    ]
    data, indices, *updates = tensors
    return Call(
        data,
        indices,
        updates[0] if updates else None,
        concept.axis if axis is None else axis,
        batch_dims,
        reduction,
    )


def candidates(
    concept: ConceptName, call: Call, arrays: Mapping[str, Array], only: Sequence[str]
) -> Iterator[tuple[Operator, Comparison, Mapping[str, object]]]:
    """Every declared comparison that can express the call, in the order asked for."""
    declared = [
        (operator, comparison)
        for name in NAMES
        for operator, comparison in framework(name).comparisons
        if comparison.concept == concept
    ]
    for operator, comparison in _chosen(declared, only):
        if comparison.from_zeros and np.any(arrays["data"] != 0):
            continue
        attrs = comparison.attrs(call)
        if attrs is not None:
            yield operator, comparison, attrs


def _chosen(
    declared: list[tuple[Operator, Comparison]], only: Sequence[str]
) -> list[tuple[Operator, Comparison]]:
    if not only:
        return declared
    result: list[tuple[Operator, Comparison]] = []
    for wish in only:
        wanted = ALIASES.get(wish.lower(), wish.lower())
        found = [
            pair
            for pair in declared
            if pair[0].framework.name == wanted or pair[1].label.lower().startswith(wanted)
        ]
        if not found:
            raise UsageError(
                f"nothing called {wish!r} to compare"[:200],
                valid=", ".join(dict.fromkeys(pair[0].framework.name for pair in declared)),
            )
        result += [pair for pair in found if pair not in result]
    return result


def _row(
    operator: Operator,
    comparison: Comparison,
    arrays: Mapping[str, Array],
    call: Call,
    attrs: Mapping[str, object],
) -> Row:
    inputs = _converted(comparison, arrays, call)
    row = Row(comparison.label, operator, inputs, attrs, comparison.inputs[1])
    try:
        return replace(row, trace=Trace(execute(operator, inputs, attrs)))
    except GscliError as error:
        return replace(row, error=error)


def _converted(comparison: Comparison, arrays: Mapping[str, Array], call: Call) -> dict[str, Array]:
    """The operator's inputs: its own names, index vectors where it expects them."""
    roles = dict(zip(("data", "indices", "updates"), comparison.inputs, strict=False))
    converted: dict[str, Array] = {}
    for role, name in roles.items():
        if not name:
            continue
        array = arrays[role]
        if role != "indices" or comparison.vectors == "last":
            converted[name] = array
        elif comparison.vectors == "first":
            converted[name] = (
                np.ascontiguousarray(np.moveaxis(array, -1, 0)) if array.ndim else array
            )
        elif comparison.vectors == "one":
            converted[f"{name}_0"] = array
        else:
            columns = np.moveaxis(array, -1, 0)
            converted |= {f"{name}_{i}": np.ascontiguousarray(c) for i, c in enumerate(columns)}
    if comparison.axis_input:
        converted[comparison.axis_input] = np.array(call.axis or 0)
    if comparison.shape_input:
        shape = np.array(call.data.shape, arrays["indices"].dtype)
        converted[comparison.shape_input] = shape
    return converted


def _grouped(rows: list[Row]) -> Iterator[Group]:
    groups: list[list[Row]] = []
    for row in rows:
        home = next((group for group in groups if group[0].answers_like(row)), None)
        if home is None:
            groups.append([row])
        else:
            home.append(row)
    return (Group(tuple(group)) for group in groups)


READ_ALONE = 64
"""Entries along the first axis of indices that are read one by one where the base refuses."""


def _readings(base: Row, call: Call) -> dict[int, Array]:
    """What a refusing base reads for each entry alone; entries that it refuses are left out."""
    indices = base.inputs.get(base.indices)
    if base.trace is not None or call.updates is not None or indices is None:
        return {}
    if indices.ndim == 0 or indices.shape[0] > READ_ALONE:
        return {}
    found: dict[int, Array] = {}
    for number in range(indices.shape[0]):
        alone = {**base.inputs, base.indices: indices[number : number + 1]}
        try:
            output = execute(base.operator, alone, base.attrs).output
        except GscliError:
            continue
        if output.size == 1:
            found[number] = output.reshape(-1)[0]
    return found
