"""From documents, as `--json` writes them, back to a trace or a comparison: calls are run again.

A document names operator, attributes and inputs, so nothing of its entries or answers needs to be
believed: they must be what the calls give, or it is refused. Only what a runtime answered itself is
taken as it stands, under a label that says so: the runtime need not be installed where the document
is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from gscli.base import ContentRefused, InputRefused, check_rule
from gscli.base.arrays import to_json
from gscli.base.words import sanitize
from gscli.files.formats.jsonarray import MOST_VALUES, dump_json, load_json
from gscli.frameworks import find_operator
from gscli.lab.answers import SCHEMA as COMPARED
from gscli.lab.answers import (
    ComparisonResult,
    RuleSetResult,
    comparison_to_dict,
    group_equal_results,
)
from gscli.lab.calls import find_flaw, read_call, read_name
from gscli.lab.compare import compare
from gscli.lab.concepts import CONCEPTS
from gscli.traces import SCHEMA, Trace, trace

RUN_HINT = "operators and compare write one with --json > RUN.json; -o FILE holds the output alone"


def replay_trace(document: Mapping[str, Any]) -> Trace:
    """The trace that the document was written from. Raises GscliError.

    >>> made = trace("onnx.gather", {"data": [1, 2], "indices": [-1]})
    >>> replay_trace(made.to_dict()).output
    array([2])
    """
    schema = document.get("schema")
    problem, where = "not a run that gscli wrote", f"schema {schema!r}"[:200]
    valid = f"{SCHEMA} {COMPARED}"
    check_rule(schema == SCHEMA, problem, where, kind=ContentRefused, valid=valid, hint=RUN_HINT)
    problem, hint = "a gradient is put on no page", "gscli grad … --html FILE draws it on its own"
    check_rule("gradients" not in document, problem, kind=ContentRefused, hint=hint)
    parts = {"framework": str, "op": str, "inputs": dict, "attrs": dict, "output": dict}
    _check_parts(document, parts)
    operator = find_operator(read_name(document))
    inputs, attrs = read_call(document, lambda described, name: load_input(name, described))
    # A default is left out: old versions refuse later attributes, whatever they say.
    defaults = {item.name: to_json(item.default) for item in operator.attributes}
    attrs = {k: v for k, v in attrs.items() if k == "opset" or to_json(v) != defaults.get(k, ...)}
    run = trace(operator.full_name, inputs, attrs)
    if document["output"].get("data") != dump_json(run.output, MOST_VALUES).get("data"):
        problem = "the output is not what the call gives"
        raise _changed_document(problem, operator.full_name, "run it")
    return run


def _changed_document(problem: str, where: str, deed: str) -> ContentRefused:
    hint = f"the file was changed, or another version of gscli wrote it; {deed} again"
    return ContentRefused(problem, where=where, hint=hint)


def _check_parts(
    document: object, needed: Mapping[str, type], others: Mapping[str, type] = MappingProxyType({})
) -> None:
    """ContentRefused for a document without some part, or with one of another kind."""
    if flaw := find_flaw(document, needed, others):
        problem = f"not a run that gscli wrote: {flaw}"
        raise ContentRefused(problem, valid="a gscli/1 document", hint=RUN_HINT)


def load_input(name: str, described: object) -> object:
    """An input of a document as an array, or ContentRefused where its cells were left out."""
    if not isinstance(described, Mapping) or "data" not in described:
        problem = "the run does not hold its inputs"
        hint = "inputs of more than 10,000 cells are left out; use --html on the operator"
        raise ContentRefused(problem, where=sanitize(name, 60), hint=hint)
    return load_json(described, sanitize(name, 60))


def replay_comparison(recorded: Mapping[str, Any]) -> ComparisonResult:
    """The comparison that a document was written from. Raises GscliError.

    >>> made = compare("gather", {"data": [1, 2], "indices": [-1]}, only=["onnx", "tf"])
    >>> replay_comparison(json.loads(json.dumps(comparison_to_dict(made)))).refusal_count
    1
    """
    lists = {"opsets": list, "typed": list}
    _check_parts(recorded, {"concept": str, "call": dict, "inputs": dict, "rows": list}, lists)
    for row in recorded["rows"]:
        _check_parts(row, {"label": str, "operator": str}, {"error": dict})
    concept = next((known for known in CONCEPTS if known == recorded["concept"]), None)
    call, inputs, only = recorded["call"], recorded["inputs"], recorded.get("as")
    axis, batch_dims = call.get("axis"), call.get("batch_dims")
    if concept is None or not isinstance(only, list):
        raise ContentRefused("not a comparison that gscli wrote", valid=COMPARED)
    compared = partial(
        compare,
        concept,
        {key: load_input(key, tensor) for key, tensor in inputs.items()},
        axis=axis if isinstance(axis, int) and CONCEPTS[concept].takes_axis else None,
        batch_dims=batch_dims if isinstance(batch_dims, int) else 0,
        reduction=str(call.get("reduction", "none")),
        typed={key: key in recorded.get("typed", inputs) for key in inputs},
    )
    versions = [number for number in recorded.get("opsets", ()) if isinstance(number, int)]
    comparing = compared(only=[str(n) for n in only], opsets=versions)
    if _rule_set_outputs(comparison_to_dict(comparing)) != _rule_set_outputs(recorded):
        problem = "the answers are not what the calls give"
        raise _changed_document(problem, f"compare {concept}", "compare")
    runtime_rows = [row for row in recorded["rows"] if row.get("runtime")]
    if not runtime_rows:
        return comparing
    names = {row["operator"].partition(".")[0] for row in runtime_rows}
    rules = {row.label: row for row in compared(only=sorted(names)).rows}
    answers = [_restore_runtime_result(row, rules) for row in runtime_rows]
    return replace(comparing, groups=group_equal_results([*comparing.rows, *answers]))


def _restore_runtime_result(
    recorded: Mapping[str, Any], rules: Mapping[str, RuleSetResult]
) -> RuleSetResult:
    """A runtime's own row, `Runtime: rule set` being its label."""
    label = sanitize(recorded["label"], 200)
    rule = rules.get(label.partition(": ")[2])
    if rule is None:
        problem = "a runtime's answer is about no rule set of the comparison"
        raise ContentRefused(problem, where=sanitize(label, 100), valid=", ".join(rules)[:600])
    name, output = label.partition(": ")[0], recorded.get("output")
    if isinstance(output, Mapping):
        return rule.with_runtime_answer(name, load_json(output, label), None)
    _check_parts(recorded.get("error"), {"problem": str})
    problem = recorded["error"]["problem"]
    refused = rule.error is not None and rule.error.problem == problem
    error = rule.error if refused else InputRefused(sanitize(problem, 600))
    return rule.with_runtime_answer(name, None, error)


def _rule_set_outputs(recorded: Mapping[str, Any]) -> object:
    """Labels and outputs of the rows that rules answer, as JSON holds them."""
    rows = [row for row in recorded["rows"] if not row.get("runtime")]
    return json.loads(json.dumps([(row["label"], row.get("output")) for row in rows]))
