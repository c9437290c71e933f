"""The same inputs under every framework's rules: run all, group equal answers. No drawing here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gscli.arrays import as_array, dtype_name
from gscli.concepts import CONCEPTS, Call, Comparison, Concept, ConceptName
from gscli.declare import Operator
from gscli.errors import GscliError, IndexRefused, UsageError
from gscli.execute import execute
from gscli.formats.jsonarray import dump_json
from gscli.frameworks import ALIASES, NAMES, framework
from gscli.layout import Tensor
from gscli.tracing import Trace

Array = NDArray[Any]


@dataclass(frozen=True)
class Row:
    """What one rule set answers: a trace, or a refusal."""

    label: str
    operator: Operator
    inputs: Mapping[str, Array]
    attrs: Mapping[str, object]
    indices: str
    trace: Trace | None = None
    error: GscliError | None = None

    @property
    def output(self) -> Array | None:
        """The answer, None when refused."""
        return None if self.trace is None else self.trace.run.output

    @property
    def entry(self) -> int | None:
        """Number of the entry that a refusal is about, if it is about one."""
        return self.error.entry if isinstance(self.error, IndexRefused) else None

    def answers_like(self, other: Row) -> bool:
        """Same output to the bit, or a refusal about the same entry."""
        mine, theirs = self.output, other.output
        if mine is None or theirs is None:
            return mine is None and theirs is None and self._refusal() == other._refusal()
        return mine.dtype == theirs.dtype and same(mine, theirs)

    def _refusal(self) -> tuple[str, int | None]:
        problem = "" if self.error is None else self.error.problem
        return ("index", self.entry) if isinstance(self.error, IndexRefused) else (problem, None)


@dataclass(frozen=True)
class Group:
    """Rows that answer alike; the first speaks for all."""

    rows: tuple[Row, ...]

    @property
    def first(self) -> Row:
        """The row whose values and reasons are shown."""
        return self.rows[0]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of all rows."""
        return tuple(row.label for row in self.rows)


@dataclass(frozen=True)
class Comparing:
    """All answers to one call. `base` is the first row's; differences are counted against it."""

    concept: ConceptName
    inputs: Mapping[str, Array]
    call: Call
    groups: tuple[Group, ...]
    readings: Mapping[int, Array] = field(default_factory=dict)

    @property
    def base(self) -> Row:
        """The row that the others are compared with."""
        return self.groups[0].first

    @property
    def agree(self) -> bool:
        """True when every rule set gives the same answer."""
        return len(self.groups) == 1

    @property
    def results(self) -> int:
        """How many different outputs there are."""
        return sum(group.first.trace is not None for group in self.groups)

    @property
    def refusals(self) -> int:
        """How many rule sets refuse."""
        return sum(len(group.rows) for group in self.groups if group.first.trace is None)

    def differs(self, group: Group) -> Array | None:
        """Which output cells differ from the base, None where the two cannot be compared.

        When the base refuses, each entry is compared with what the base reads for it alone
        (`readings`), and entries that it refuses differ from every value.
        """
        output, base = group.first.output, self.base.output
        if output is None:
            return None
        if base is not None:
            return different(output, base) if output.shape == base.shape else None
        flags = np.ones(output.shape, np.bool_)
        for number, value in self.readings.items():
            if number < output.size:
                flags.reshape(-1)[number] = bool(different(output.reshape(-1)[number], value))
        return flags


def same(one: Array, other: Array) -> bool:
    """Equal shape and values; NaN equals NaN.

    >>> same(np.array([1.0, np.nan]), np.array([1.0, np.nan]))
    True
    """
    return one.shape == other.shape and not np.any(different(one, other))


def different(one: Any, other: Any) -> Array:  # noqa: ANN401  arrays and scalars
    """Which cells are unequal; NaN equals NaN."""
    unequal = np.asarray(one != other)
    both_nan = np.asarray(one != one) & np.asarray(other != other)  # noqa: PLR0124  NaN alone differs from itself
    result: Array = unequal & ~both_nan
    return result


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
            where=f"axis {axis}, batch_dims {batch_dims}, reduction {reduction}",
            hint="leave out batch_dims or the reduction, or name other frameworks",
        )
    groups = tuple(_grouped(rows))
    return Comparing(concept, arrays, call, groups, _readings(groups[0].first, call))


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


def document(comparing: Comparing) -> dict[str, object]:
    """The JSON form, schema gscli-compare/1."""
    return {
        "schema": "gscli-compare/1",
        "concept": comparing.concept,
        "agree": comparing.agree,
        "results": comparing.results,
        "refusals": comparing.refusals,
        "rows": [
            _row_document(comparing, group, row) for group in comparing.groups for row in group.rows
        ],
    }


def _row_document(comparing: Comparing, group: Group, row: Row) -> dict[str, object]:
    found: dict[str, object] = {
        "label": row.label,
        "operator": row.operator.full_name,
        "attrs": {name: value for name, value in row.attrs.items() if value is not None},
        "group": comparing.groups.index(group),
    }
    if row.output is None:
        found["error"] = row.error.to_dict() if row.error else None
        return found
    found["output"] = dump_json(row.output)
    flags = comparing.differs(group)
    found["differs"] = None if flags is None else [list(map(int, at)) for at in np.argwhere(flags)]
    return found
