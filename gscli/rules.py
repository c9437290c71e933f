"""What each operator does with unusual indices, computed by running it, never typed in.

The probes are made from the operator's own declared example: one index is replaced by -1, by one
below and one above the range, or by its neighbour, and the trace and output of the run are read.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gscli import files
from gscli.declare import Attribute, Operator
from gscli.errors import GscliError
from gscli.execute import Run, execute
from gscli.inputs import assigned
from gscli.settling import Inputs, settle_types
from gscli.tracing import Trace

Array = NDArray[Any]

VARIED = ("mode", "device", "release", "bad_indices_policy", "xla", "wrap_negative_indices")
"""Attributes that change the fate of an index; every choice of them is probed."""

SAME_AS = {"xla_cpu": "xla", "DEFAULT": ""}
"""Choices that are another spelling of a choice."""

COLUMNS = ("negative", "out_of_range", "duplicates", "untouched", "default_axis")


@dataclass(frozen=True)
class Rule:
    """One behaviour of an operator, and the versions and choices under which it shows.

    The five answers are words; "–" where the question makes no sense.
    """

    operator: Operator
    negative: str
    out_of_range: str
    duplicates: str
    untouched: str
    default_axis: str
    versions: tuple[int, ...] = ()
    variants: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """`onnx.gather 1 11 13`, `tensorflow.gather device=gpu`."""
        words = [self.operator.full_name, *map(str, self.versions)]
        return " ".join([*words, ", ".join(filter(None, self.variants))]).rstrip()

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers in the order of COLUMNS."""
        return tuple(getattr(self, column) for column in COLUMNS)


@dataclass(frozen=True)
class Probe:
    """A call that runs: the operator's example under one variant."""

    operator: Operator
    inputs: Mapping[str, Array]
    attrs: Mapping[str, object]
    run: Run

    def at(self, entry: int, value: int) -> Run | GscliError:
        """The same call with one index number replaced: column 0 of `entry`."""
        plan = self.run.plan
        source = plan.layout.addressing.columns[0].source
        changed = np.array(self.inputs[source])
        number = np.asarray(value)
        if changed.dtype.kind == "u" and value < 0:
            changed = changed.astype(np.int64)
        changed[plan.index_position(0, entry)] = number.astype(changed.dtype)
        return self._executed({**self.inputs, source: changed})

    def repeated(self) -> Run | None:
        """The same call with two entries addressing one cell, where that is possible."""
        plan = self.run.plan
        for entry in range(1, plan.layout.entry_count):
            inputs = dict(self.inputs)
            for column, declared in enumerate(plan.layout.addressing.columns):
                changed = np.array(inputs[declared.source])
                one, other = plan.index_position(column, 0), plan.index_position(column, entry)
                changed[other] = changed[one]
                inputs[declared.source] = changed
            answer = self._executed(inputs)
            if isinstance(answer, Run) and Trace(answer).duplicates(1)[1]:
                return answer
        return None

    def in_range(self) -> Mapping[str, Array]:
        """The inputs with every index number written as the coordinate it means here."""
        plan = self.run.plan
        inputs = {name: np.array(array) for name, array in self.inputs.items()}
        block = plan.block(0, plan.layout.entry_count)
        for column, declared in enumerate(plan.layout.addressing.columns):
            for entry, coordinate in enumerate(block.coordinates[column].tolist()):
                inputs[declared.source][plan.index_position(column, entry)] = coordinate
        return inputs

    def _executed(self, inputs: Mapping[str, Array]) -> Run | GscliError:
        try:
            return execute(self.operator, inputs, self.attrs)
        except GscliError as error:
            return error


def rules(operators: Sequence[Operator]) -> list[Rule]:
    """One rule per distinct behaviour; versions and choices that behave alike share one.

    >>> from gscli.frameworks import find
    >>> [(rule.label, rule.negative) for rule in rules([find("onnx.gather")])]
    [('onnx.gather 1 11 13', 'from the end')]
    """
    found: list[Rule] = []
    for operator in operators:
        own: dict[tuple[str, ...], Rule] = {}
        for rule in _of_operator(operator):
            twin = own.setdefault(rule.answers, rule)
            if twin is not rule:
                own[rule.answers] = replace(
                    twin,
                    versions=tuple(dict.fromkeys(twin.versions + rule.versions)),
                    variants=tuple(dict.fromkeys(twin.variants + rule.variants)),
                )
        found += own.values()
    return found


def _of_operator(operator: Operator) -> Iterator[Rule]:
    for version in operator.versions or (None,):
        for name, variant in _variants(operator):
            probe = example(operator, variant, version)
            if probe is not None:
                yield Rule(
                    operator,
                    _negative(probe),
                    _out_of_range(probe),
                    _duplicates(probe),
                    _untouched(probe),
                    _default_axis(operator, variant),
                    () if version is None else (version,),
                    (name,),
                )


def _variants(operator: Operator) -> Iterator[tuple[str, dict[str, object]]]:
    """The defaults, then one attribute changed at a time, each with its name."""
    varied = [item for item in operator.attributes if item.name in VARIED]
    defaults = {item.name: item.default for item in varied if item.default is not None}
    shown = " ".join(f"{n}={_word(v)}" for n, v in defaults.items() if v not in ("", True))
    yield shown or ("default" if varied else ""), defaults
    for item in varied:
        known: list[object] = (
            [False, True]
            if item.kind == "bool"
            else [choice for choice in item.choices if choice not in SAME_AS]
        )
        for other in known:
            if other not in (item.default, None):
                yield f"{item.name}={_word(other)}", {**defaults, item.name: other}


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def example(
    operator: Operator, variant: Mapping[str, object], version: int | None = None
) -> Probe | None:
    """The operator's declared example under a variant, None where that is refused."""
    words, texts = split_words(operator, operator.example)
    attrs = {
        item.name: item.parse(texts[item.name])
        for item in operator.attributes
        if item.name in texts
    }
    attrs |= dict(variant)
    if version is not None:
        attrs["opset"] = version
    loaded = {
        name: files.load(text, name=name, empty_dtype="int64")
        for name, text in assigned(operator, words, {}).items()
    }
    inputs = Inputs(
        {name: item.array for name, item in loaded.items()},
        dict.fromkeys(loaded, "inline"),
        {name: item.typed for name, item in loaded.items()},
    )
    # A version may lack an attribute of the example, a variant may refuse its unusual index.
    needed = {item.name for item in operator.attributes if item.required} | {*variant, "opset"}
    fewer = {name: value for name, value in attrs.items() if name in needed}
    for chosen in (attrs, fewer):
        with suppress(GscliError):
            settle_types(operator, inputs, chosen, strict=False)
            return _probe(operator, inputs.arrays, chosen)
    usual = example(operator, {}) if variant or version is not None else None
    if usual is not None:
        for chosen in (attrs, fewer):
            with suppress(GscliError):
                return _probe(operator, usual.in_range(), chosen)
    return None


def _probe(operator: Operator, inputs: Mapping[str, Array], attrs: Mapping[str, object]) -> Probe:
    return Probe(operator, inputs, attrs, execute(operator, inputs, attrs))


def split_words(operator: Operator, line: str) -> tuple[list[str], dict[str, str]]:
    """Inputs and attribute texts of an example line as a shell would split it.

    >>> from gscli.frameworks import find
    >>> split_words(find("gather"), "'[1,2]' '[0]' --axis 0")
    (['[1,2]', '[0]'], {'axis': '0'})
    """
    kinds = {item.name: item.kind for item in operator.attributes}
    words: list[str] = []
    texts: dict[str, str] = {}
    pieces = iter(shlex.split(line))
    for piece in pieces:
        if not piece.startswith("--"):
            words.append(piece)
            continue
        name, _, value = piece.removeprefix("--").partition("=")
        name = name.replace("-", "_")
        if name.startswith("no_") and kinds.get(name[3:]) == "bool":
            texts[name[3:]] = "false"
        elif kinds.get(name) == "bool":
            texts[name] = "true"
        else:
            texts[name] = value or next(pieces)
    return words, texts


def _size(probe: Probe) -> int:
    layout = probe.run.layout
    axis = layout.axes[layout.column_axes[0]]
    return axis.size - axis.span + 1 if axis.window is not None else axis.size


def _negative(probe: Probe) -> str:
    if not _has_entries(probe, 1):
        return "–"
    return _fate(probe, -1, -_size(probe) - 1)


def _out_of_range(probe: Probe) -> str:
    if not _has_entries(probe, 1):
        return "–"
    return _fate(probe, _size(probe), None)


def _fate(probe: Probe, value: int, further: int | None) -> str:
    """What became of entry 0 with this index, in words."""
    answer = probe.at(0, value)
    if isinstance(answer, GscliError):
        # A note on the policy says that the framework itself would not have looked.
        return "error (unchecked there)" if probe.run.layout.policy.note else "error"
    entry = Trace(answer).entries(1)[0]
    how = next((one for one in entry.adjustments if one.slot == 0), None)
    if not entry.live:
        return _skipped(answer)
    if how is None:
        return "partly outside, cell by cell" if probe.run.layout.window_size > 1 else "as it is"
    if how.how == "clipped":
        return "clipped to the last" if value > 0 else f"clipped to {how.coordinate}"
    if further is None or value >= 0:
        return "modulo"
    beyond = probe.at(0, further)
    again = isinstance(beyond, Run) and any(
        one.how == "wrapped" for one in Trace(beyond).entries(1)[0].adjustments
    )
    return "modulo" if again else "from the end"


def _skipped(run: Run) -> str:
    if run.layout.kind == "scatter":
        return "dropped"
    fill = np.asarray(run.layout.fill).astype(run.output.dtype)
    return f"reads {fill}"


def _has_entries(probe: Probe, count: int) -> bool:
    layout = probe.run.layout
    return layout.entry_count >= count and bool(layout.addressing.columns)


_REDUCED = {
    "add": "summed",
    "sub": "all subtracted",
    "mul": "multiplied",
    "max": "largest kept",
    "min": "smallest kept",
    "mean": "averaged",
}


def _duplicates(probe: Probe) -> str:
    if probe.run.layout.kind == "gather":
        return "allowed"
    answer = probe.repeated() if _has_entries(probe, 2) else None
    if answer is None:
        return "–"
    if answer.layout.reduction != "none":
        return _REDUCED[answer.layout.reduction]
    trace = Trace(answer)
    groups, _ = trace.duplicates(1)
    last = trace.entries(groups[0][-1] + 1)[-1]
    if last.target is None or last.change is None:
        return "–"
    kept = answer.output[tuple(slice(*ends) for ends in last.target)].reshape(-1)
    if not bool(np.all(kept == last.change.update)):
        return "not the last"
    return "last kept, order open" if answer.layout.open_order else "last kept"


def _untouched(probe: Probe) -> str:
    layout = probe.run.layout
    if layout.kind == "gather":
        return "–"
    if layout.data is not None:
        return "data"
    return str(np.asarray(layout.fill).astype(probe.run.output.dtype))


def _default_axis(operator: Operator, variant: Mapping[str, object]) -> str:
    """Which axis is used when none is given: by running a call of rank 3 every way."""
    attribute = axis_attribute(operator)
    if attribute is None:
        return "must be given" if any(item.name == "axis" for item in operator.inputs) else "–"
    if attribute.required:
        return "must be given"
    probe = example(operator, variant)
    if probe is None:
        return "–"
    inputs = cube_inputs(probe)
    rest = {name: value for name, value in probe.attrs.items() if name != attribute.name}
    answer = _output(operator, inputs, rest)
    if answer is None:
        return "–"
    names = {0: "0", 1: "1", 2: "last"}
    for axis, name in names.items():
        if _equal(answer, _output(operator, inputs, {**rest, attribute.name: axis})):
            return name
    return "flattened"


def axis_attribute(operator: Operator) -> Attribute | None:
    """The attribute that names the axis, under either of its two names."""
    return next((a for a in operator.attributes if a.name in ("axis", "dim")), None)


def cube_inputs(probe: Probe) -> dict[str, Array]:
    """Data 2×2×2 with distinct values, indices that fit every axis and the flat order."""
    layout, inputs = probe.run.layout, dict(probe.inputs)
    cells = any(axis.entry is not None for axis in layout.axes)
    rank = probe.inputs[layout.index_inputs[0]].ndim if layout.index_inputs else 1
    data_rank = len(layout.data_shape)
    shape = (2,) * (3 if rank == data_rank else 2) if cells else (2,)
    for name, array in probe.inputs.items():
        if name == layout.data:
            inputs[name] = np.arange(1, 9).reshape(2, 2, 2).astype(array.dtype)
        elif name in layout.index_inputs:
            pattern = np.array([1, 0, 0, 0, 1, 1, 0, 1])[: 2 ** len(shape)]
            inputs[name] = pattern.reshape(shape).astype(array.dtype)
        elif layout.updates is not None and name == layout.updates.name:
            wanted = shape if cells else (2, 2, 2)
            inputs[name] = np.arange(9, 9 + 2 ** len(wanted)).reshape(wanted).astype(array.dtype)
    return inputs


def _output(
    operator: Operator, inputs: Mapping[str, Array], attrs: Mapping[str, object]
) -> Array | None:
    try:
        return execute(operator, inputs, attrs).output
    except GscliError:
        return None


def _equal(one: Array, other: Array | None) -> bool:
    return other is not None and one.shape == other.shape and bool(np.all(one == other))


def document(found: Sequence[Rule]) -> list[dict[str, object]]:
    """The JSON form."""
    return [
        {
            "operator": rule.operator.full_name,
            "versions": list(rule.versions),
            "variants": list(rule.variants),
            **{column: getattr(rule, column) for column in COLUMNS},
        }
        for rule in found
    ]


def markdown(found: Sequence[Rule]) -> str:
    """The rules as a Markdown table."""
    heads = ["operator", *(column.replace("_", " ") for column in COLUMNS)]
    rows = [[f"`{rule.label}`", *rule.answers] for rule in found]
    return markdown_table(heads, rows)


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A GitHub table.

    >>> print(markdown_table(["a", "b"], [["1", "2"]]), end="")
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
