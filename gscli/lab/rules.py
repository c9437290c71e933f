"""What each operator does with unusual indices, read off the layout of its own declared example.

A layout is what a run goes by, so that nothing is typed in, and nothing needs to be tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gscli.base.arrays import Array, parse_dtype
from gscli.base.records import Record, group_pairs
from gscli.frameworks.operator import Operator
from gscli.kernel.reductions import REDUCTION_WORDS
from gscli.lab.examples import (
    BEHAVIOUR_ATTRIBUTES,
    Probe,
    build_legal_probe,
    build_probe,
    leave_axis_out,
    parse_example_line,
)
from gscli.layout import Layout
from gscli.plan.outcomes import OUTCOMES, outcome_of

# Choices that are another spelling of a choice.
CHOICE_ALIASES = {"xla_cpu": "xla", "DEFAULT": ""}

COLUMNS = ("negative", "out_of_range", "duplicates", "untouched", "default_axis")
HEADS = ("operator", *(column.replace("_", " ") for column in COLUMNS))


class Rule(Record):
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
    def behaviours(self) -> tuple[str, ...]:
        """The answers in the order of COLUMNS."""
        return tuple(getattr(self, column) for column in COLUMNS)


def compute_rules(operators: Sequence[Operator]) -> list[Rule]:
    """One rule per distinct behaviour; versions and choices that behave alike share one.

    >>> from gscli.frameworks import find_operator
    >>> [(rule.label, rule.negative) for rule in compute_rules([find_operator("onnx.gather")])]
    [('onnx.gather 1 11 13', 'from the end')]
    """
    rules: list[Rule] = []
    for operator in operators:
        groups = group_pairs((rule.behaviours, rule) for rule in _operator_rules(operator))
        for alike in groups.values():
            versions = dict.fromkeys(version for rule in alike for version in rule.versions)
            variants = dict.fromkeys(name for rule in alike for name in rule.variants)
            rules.append(alike[0]._replace(versions=tuple(versions), variants=tuple(variants)))
    return rules


def _operator_rules(operator: Operator) -> Iterator[Rule]:
    for version in operator.versions or (None,):
        behaviours: set[tuple[str, ...]] = set()
        for name, changes in _iter_variants(operator):
            probe = build_probe(operator, leave_axis_out(operator) | changes, version)
            if probe is None:
                continue
            below, above = (_describe_outcome(probe, negative=low) for low in (True, False))
            cells = _describe_duplicates(probe), _describe_untouched(probe)
            axis, versions = _describe_default_axis(operator), () if version is None else (version,)
            rule = Rule(operator, below, above, *cells, axis, versions, (name,))
            if rule.behaviours not in behaviours or not _AXES & changes.keys():
                yield rule
            behaviours.add(rule.behaviours)


# Attributes that have a row of their own only where it differs from laying data flat.
_AXES = {"axis", "dim"}


def _iter_variants(operator: Operator) -> Iterator[tuple[str, dict[str, object]]]:
    """The defaults, then one attribute changed at a time, each with its name."""
    varied = [item for item in operator.attributes if item.name in BEHAVIOUR_ATTRIBUTES]
    defaults = {item.name: item.default for item in varied if not item.is_required}
    usual = (f"{n}={_format_value(v)}" for n, v in defaults.items() if v not in (None, "", True))
    shown = " ".join(usual)
    if not any(item.is_required for item in varied):
        yield shown or ("default" if varied else ""), {}
    chosen = parse_example_line(operator, operator.example)[1]
    for item in varied:
        others = [f"{o.name}={chosen[o.name]} " for o in varied if o.is_required and o != item]
        names = (name for name in item.choices if name not in CHOICE_ALIASES)
        known: list[object] = [False, True] if item.kind == "bool" else [*names]
        for other in known:
            if other not in (item.default, None):
                yield f"{''.join(others)}{item.name}={_format_value(other)}", {item.name: other}
    axis = operator.attribute("axis")
    if axis is not None:
        number = int(chosen.get(axis.name, "0")) if axis.default is None else int(not axis.default)
        yield f"{axis.name}={number}", {axis.name: number}


def _format_value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _describe_outcome(probe: Probe, *, negative: bool) -> str:
    """What becomes of -1, or of an index above the range, in words."""
    if not (probe.layout.entry_count and probe.writable_columns):
        return OUTCOMES["refused"].cell if not negative and probe.takes_longer_masks() else "–"
    layout, (column, source) = probe.layout, probe.writable_columns[0]
    policy, axis = layout.policy, layout.axes[layout.column_axes[column]]
    if not negative and source in probe.operator.counted_inputs(layout.attributes):
        is_sorted = probe.operator.shape_inputs.get(source) == "ascending"
        return "grows the output" + "; error out of order" * is_sorted
    if axis.reach > 1 and not policy.is_atomic:
        return OUTCOMES["partly"].cell
    outcome = outcome_of(policy, negative=negative)
    below, far, above = policy.unchecked_outcomes if policy.note else ("", "", "")
    itself = below if negative else above or (far and f"{far} far below zero")
    end, skipped = "0" if negative else "the last", _describe_skip(layout)
    ignored = f"; {policy.ignored} is ignored" * (negative and policy.ignored is not None)
    words = OUTCOMES[outcome].cell.format(end=end, skipped=skipped) + ignored
    return f"{words} (itself: {itself})" if itself and outcome in ("refused", "outside") else words


def _describe_skip(layout: Layout) -> str:
    if layout.kind == "scatter":
        return "dropped"
    fill = _describe_fill(layout)
    return f"reads {EXTREME if fill in (SMALLEST, 'nan') else fill}"


SMALLEST = "the smallest value of the type, of floats -inf"
LARGEST = "the largest value of the type, of floats inf"

# What JAX reads outside, by the type of data.
EXTREME = "NaN, the smallest integer, the largest unsigned one or True"


def _describe_value(value: Array) -> str:
    """A value in words that hold for every type.

    >>> _describe_value(np.array(0)), _describe_value(np.array(np.iinfo(np.int64).min))
    ('0', 'the smallest value of the type, of floats -inf')
    """
    words: dict[float, str] = {-np.inf: SMALLEST, np.inf: LARGEST}
    if value.dtype.kind in "iu":
        ends = np.iinfo(value.dtype)
        words = {ends.min: SMALLEST, ends.max: LARGEST}
    elif value.dtype.kind == "f":
        finite, text = np.finfo(value.dtype), "the {} finite value of the type"
        words |= {finite.min: text.format("smallest"), finite.max: text.format("largest")}
    return words.get(value.item(), str(value))


def _describe_duplicates(probe: Probe) -> str:
    """What becomes of a cell that several entries name, where the indices can name one twice."""
    layout = probe.layout
    if not layout.can_share_cells or probe.inputs.keys().isdisjoint(layout.index_inputs):
        return "–"
    if layout.kind == "gather":
        return "allowed"
    if layout.reduction != "none":
        return REDUCTION_WORDS[layout.reduction].repeated
    return "last kept, order open" if layout.unspecified_order else "last kept"


def _describe_untouched(probe: Probe) -> str:
    layout = probe.layout
    if layout.kind == "gather":
        return "–"
    return _describe_fill(layout) if layout.data_name is None else "data"


def _describe_fill(layout: Layout) -> str:
    return _describe_value(np.asarray(layout.fill_value).astype(parse_dtype(layout.dtype)))


def _describe_default_axis(operator: Operator) -> str:
    """Which axis of three is used when none is given."""
    attribute = operator.attribute("axis")
    if attribute is None and "axis" not in operator.input_names:
        return "–"
    if attribute is None or attribute.is_required:
        return "must be given"
    axis = attribute.default
    if not isinstance(axis, int):
        probe = build_legal_probe(operator, leave_axis_out(operator))
        if probe.layout.is_flattened:
            return "flattened"
        axis = probe.layout.column_axes[0]
    return {-1: "last", 2: "last"}.get(axis, str(axis))


def rules_to_dicts(rules: Sequence[Rule]) -> list[dict[str, object]]:
    """The JSON form."""
    return [
        {
            "operator": rule.operator.full_name,
            "versions": list(rule.versions),
            "variants": list(rule.variants),
            **{column: getattr(rule, column) for column in COLUMNS},
        }
        for rule in rules
    ]


def format_markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A GitHub table.

    >>> print(format_markdown_table(["a", "b"], [["1", "2"]]), end="")
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
