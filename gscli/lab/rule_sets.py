"""Which rule sets a comparison asks: those of `--as` and `--opset`, or all there are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from gscli.base import UsageError, check_rule
from gscli.base.records import group_pairs
from gscli.base.words import suggest_names
from gscli.frameworks import ALIASES, TITLES, find_operator, load_framework
from gscli.frameworks.operator import (
    OVERWRITE,
    Attrs,
    Comparison,
    ConceptCall,
    ConceptName,
    Operator,
)
from gscli.lab.answers import UnsupportedRuleSet
from gscli.lab.concepts import list_mappings, translate_attributes

# The opset from which ONNX's Scatter is called ScatterElements.
SCATTER_ELEMENTS_SINCE = 11

DeclaredComparison: TypeAlias = tuple[Operator, Comparison]
ComparisonsByTitle: TypeAlias = dict[str, list[DeclaredComparison]]

# Declared comparisons by what asked for them, and what was asked for and has none.
Selection: TypeAlias = tuple[ComparisonsByTitle, list[UnsupportedRuleSet]]


def select_rule_sets(concept: ConceptName, only: Sequence[str], opsets: Sequence[int]) -> Selection:
    """Declared comparisons by what asked for them, and what has none.

    >>> chosen, absent = select_rule_sets("gather", ["onnx", "caffe2"], ())
    >>> list(chosen), absent
    (['ONNX Gather-13', 'Caffe2 Gather'], [])

    Raises UsageError for a name of nothing, and for opsets that no row has.
    """
    declared, words = list_mappings(concept), only or ["onnx"] * bool(opsets)
    everything = ((pair[0].framework.title, pair) for pair in declared)
    chosen: ComparisonsByTitle = {} if words else group_pairs(everything)
    absent: dict[str, UnsupportedRuleSet] = {}
    for word in words:
        name = ALIASES.get(word.lower(), word.lower())
        named = _find_named_operator(word)
        if pairs := [pair for pair in declared if pair[0] is named or _is_called(*pair, name)]:
            frameworks = {pair[0].framework.title for pair in pairs}
            label = pairs[0][1].label if len(pairs) == 1 else " ".join(frameworks)
            rows = chosen.setdefault(label, [])
            rows += [pair for pair in pairs if pair not in rows]
        else:
            title = named.full_name if named else _find_framework_title(word, name, declared)
            absent[title] = UnsupportedRuleSet(title, "gscli has none", is_requested=True)
    return (_expand_opsets(chosen, opsets) if opsets else chosen), [*absent.values()]


def _expand_opsets(chosen: ComparisonsByTitle, opsets: Sequence[int]) -> ComparisonsByTitle:
    """The comparisons with each of ONNX once for every opset.

    UsageError for versions that no row has: of the future, or with ONNX left out.
    """
    onnx, rows = load_framework("onnx"), ComparisonsByTitle()
    declared = [operator for pairs in chosen.values() for operator, _ in pairs]
    operators = [operator for operator in declared if operator.framework is onnx]
    problem = "opsets are versions of ONNX, which is not among the rule sets"
    where, hint = f"opset {','.join(map(str, opsets))}", "name it too: --as onnx,…"
    check_rule(bool(operators), problem, where, kind=UsageError, hint=hint)
    if max(opsets) > (onnx.newest or 0):
        operators[0].resolve_version(max(opsets))
    for label, pairs in chosen.items():
        for operator, comparison in pairs:
            if operator.framework is not onnx:
                rows.setdefault(label, []).append((operator, comparison))
                continue
            for opset in dict.fromkeys(opsets):
                fixed = {**comparison.fixed_attributes, "opset": opset}
                row = comparison._replace(label=f"ONNX opset {opset}", fixed_attributes=fixed)
                own = operator
                if operator.name == "scatter_elements" and opset < SCATTER_ELEMENTS_SINCE:
                    own = onnx.operators["scatter"]
                    row = row._replace(reduction="", reductions=OVERWRITE)
                plain = row._replace(build_attributes=partial(_without_defaults, row))
                rows.setdefault(row.label, []).append((own, plain))
    return rows


def _without_defaults(comparison: Comparison, call: ConceptCall) -> Attrs:
    """The attributes of a call that says no more than it must: older opsets know fewer."""
    usual = {comparison.batch_dims: 0, comparison.reduction: "none"}
    attrs = translate_attributes(comparison, call)
    return attrs and {name: value for name, value in attrs.items() if usual.get(name, ...) != value}


def _find_named_operator(word: str) -> Operator | None:
    """The operator that a word of `--as` names with its framework, as `torch.gather` does."""
    with suppress(UsageError):
        return find_operator(word) if "." in word else None
    return None


def _is_called(operator: Operator, comparison: Comparison, name: str) -> bool:
    """Whether a word of `--as` asks for a comparison."""
    return name == operator.framework_name or comparison.label.lower().startswith(name)


def _find_framework_title(word: str, name: str, declared: Sequence[DeclaredComparison]) -> str:
    """The framework that a word of `--as` names, though it does not have the operation."""
    if name in TITLES:
        return TITLES[name]
    labels = {pair[1].label.lower(): pair[1].label for pair in declared}
    names = [*TITLES, *ALIASES, *labels]
    problem = f"nothing called {word!r} to compare"[:200]
    valid = " ".join(dict.fromkeys(pair[0].framework.name for pair in declared))
    hint = suggest_names(word.lower(), names, write=lambda name: labels.get(name, name))
    raise UsageError(problem, where="--as", valid=valid, hint=hint)
