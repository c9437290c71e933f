"""From a gscli-compare/1 document, as `compare --json` writes it, back to the comparison.

As with recorded runs, the calls are made again and nothing of their answers is believed: they must
be what the document says, or it is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import get_args

from gscli.base.errors import ContentRefused
from gscli.declare.comparisons import CONCEPTS, ConceptName
from gscli.lab.answers import SCHEMA, Comparing, document
from gscli.lab.compare import compare
from gscli.traces.documents import input_of, table_of, text_of


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
    found = compare(
        concept,
        {key: input_of(key, one) for key, one in described},
        axis=axis if isinstance(axis, int) and CONCEPTS[concept].takes_axis else None,
        batch_dims=batch_dims if isinstance(batch_dims, int) else 0,
        reduction=str(call.get("reduction", "none")),
        only=[str(one) for one in only],
        typed={key: not isinstance(typed, list) or key in typed for key, _ in described},
    )
    if _answers(document(found)) != _answers(recorded):
        raise ContentRefused(
            "the answers are not what the calls give",
            where=f"compare {concept}",
            hint="it was changed, holds a runtime's own answer, or is from another version",
        )
    return found


def _answers(recorded: Mapping[str, object]) -> object:
    """Labels and outputs of the rows, as JSON holds them."""
    rows = recorded.get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return None
    return json.loads(json.dumps([(row.get("label"), row.get("output")) for row in rows]))
