"""From a gscli-compare/1 document, as `compare --json` writes it, back to the comparison.

As with recorded runs, the calls are made again and nothing of their answers is believed: they must
be what the document says, or it is refused. Only what a runtime answered itself is taken as it
stands, under a label that says so: the runtime need not be installed where the document is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import get_args

from gscli.base import ContentRefused, InputRefused
from gscli.base.words import safe
from gscli.files.jsonarray import load_json
from gscli.frameworks.operator import ConceptName
from gscli.lab.answers import SCHEMA, Comparing, Row, document
from gscli.lab.compare import compare, grouped
from gscli.lab.concepts import CONCEPTS
from gscli.lab.documents import input_of, table_of, text_of


def comparison_of(recorded: Mapping[str, object]) -> Comparing:
    """The comparison that a document was written from. Raises GscliError.

    >>> made = compare("gather", {"data": [1, 2], "indices": [-1]}, only=["onnx", "tf"])
    >>> comparison_of(json.loads(json.dumps(document(made)))).refusals
    1
    """
    name = text_of(recorded, "concept")
    concept = next((known for known in get_args(ConceptName) if known == name), None)
    call, only = dict(table_of(recorded, "call")), recorded.get("as")
    axis, batch_dims = call.get("axis"), call.get("batch_dims")
    if concept is None or not isinstance(only, list):
        raise ContentRefused("not a comparison that gscli wrote", valid=SCHEMA)
    described, typed = table_of(recorded, "inputs"), recorded.get("typed")
    compared = partial(
        compare,
        concept,
        {key: input_of(key, one) for key, one in described},
        axis=axis if isinstance(axis, int) and CONCEPTS[concept].takes_axis else None,
        batch_dims=batch_dims if isinstance(batch_dims, int) else 0,
        reduction=str(call.get("reduction", "none")),
        typed={key: not isinstance(typed, list) or key in typed for key, _ in described},
    )
    opsets = recorded.get("opsets")
    versions = [one for one in opsets if isinstance(one, int)] if isinstance(opsets, list) else []
    found = compared(only=[str(one) for one in only], opsets=versions)
    if _answers(document(found)) != _answers(recorded):
        raise ContentRefused(
            "the answers are not what the calls give",
            where=f"compare {concept}",
            hint="the file was changed, or another version of gscli wrote it; compare again",
        )
    asked = [row for row in _rows(recorded) if row.get("runtime")]
    if not asked:
        return found
    names = {text_of(row, "operator").partition(".")[0] for row in asked}
    rules = {row.label: row for row in compared(only=sorted(names)).rows}
    answers = [_answered(row, rules) for row in asked]
    return replace(found, groups=tuple(grouped([*found.rows, *answers])))


def _answered(recorded: Mapping[str, object], rules: Mapping[str, Row]) -> Row:
    """A runtime's own row, `Runtime: rule set` being its label."""
    label = text_of(recorded, "label")
    rule = rules.get(label.partition(": ")[2])
    if rule is None:
        raise ContentRefused(
            "a runtime's answer is about no rule set of the comparison",
            where=safe(label, 100),
            valid=", ".join(rules)[:600],
        )
    row = replace(
        rule, label=safe(label, 100), trace=None, error=None, answered=None, from_runtime=True
    )
    output = recorded.get("output")
    if isinstance(output, Mapping):
        return replace(row, answered=load_json(output, label))
    problem = text_of(dict(table_of(recorded, "error")), "problem")
    refused = rule.error is not None and rule.error.problem == problem
    return replace(row, error=rule.error if refused else InputRefused(safe(problem, 600)))


def _rows(recorded: Mapping[str, object]) -> list[Mapping[str, object]]:
    rows = recorded.get("rows")
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _answers(recorded: Mapping[str, object]) -> object:
    """Labels and outputs of the rows that rules answer, as JSON holds them."""
    rows = [row for row in _rows(recorded) if not row.get("runtime")]
    return json.loads(json.dumps([(row.get("label"), row.get("output")) for row in rows]))
