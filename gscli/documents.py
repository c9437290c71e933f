"""From a gscli/1 document, as `--json` writes it, back to a trace: the call is run again.

A document names the operator, attributes and inputs, so nothing of its entries needs to be
believed; its output must be what the call gives, or the document is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from gscli.arrays import plain
from gscli.declare import Attribute
from gscli.errors import ContentRefused
from gscli.formats.jsonarray import load_json
from gscli.frameworks import find
from gscli.text import safe
from gscli.tracing import Trace, trace

SCHEMA = "gscli/1"


def trace_of(document: Mapping[str, object]) -> Trace:
    """The trace that the document was written from. Raises GscliError.

    >>> made = trace("onnx.gather", {"data": [1, 2], "indices": [-1]})
    >>> trace_of(made.to_dict()).run.output
    array([2])
    """
    if document.get("schema") != SCHEMA:
        raise ContentRefused(
            "not a run that gscli wrote",
            where=f"schema {document.get('schema')!r}"[:200],
            valid=SCHEMA,
            hint="write one with --json",
        )
    name = f"{_text(document, 'framework')}.{_text(document, 'op')}"
    operator = find(name)
    inputs = {
        safe(key, 60): _array(key, described) for key, described in _table(document, "inputs")
    }
    known = {attribute.name: attribute for attribute in operator.attributes}
    # A default is left out: some versions refuse an attribute that came later, whatever it says.
    attrs = {
        key: _value(known[key], value) if key in known else value
        for key, value in _table(document, "attrs")
        if key not in known or value != plain(known[key].default)
    }
    if "opset" in document:
        attrs["opset"] = document["opset"]
    found = trace(name, inputs, attrs)
    output = document.get("output")
    if not isinstance(output, Mapping) or output.get("data") != plain(found.run.output):
        raise ContentRefused(
            "the output is not what the call gives",
            where=operator.full_name,
            hint="the file was changed, or another version of gscli wrote it; run it again",
        )
    return found


def _text(document: Mapping[str, object], key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str):
        raise ContentRefused(f"the run has no {key}", valid="a gscli/1 document")
    return value


def _table(document: Mapping[str, object], key: str) -> list[tuple[str, object]]:
    value = document.get(key)
    if not isinstance(value, Mapping):
        raise ContentRefused(f"the run has no {key}", valid="a gscli/1 document")
    return [(str(name), item) for name, item in value.items()]


def _array(name: str, described: object) -> object:
    if not isinstance(described, Mapping) or "data" not in described:
        raise ContentRefused(
            "the run does not hold its inputs",
            where=safe(name, 60),
            hint="inputs of more than 10,000 cells are left out; use --html on the operator",
        )
    return load_json(described, safe(name, 60))


def _value(attribute: Attribute, value: object) -> object:
    """An attribute's value as `plain` wrote it: words for nan and inf, pairs for complex."""
    if isinstance(value, list) and attribute.kind == "number":
        return _complex(attribute, value)
    if isinstance(value, str) and attribute.kind in ("number", "float", "int"):
        return attribute.parse(value)
    return value


def _complex(attribute: Attribute, pair: list[object]) -> complex:
    try:
        real, imaginary = (float(str(part)) for part in pair)
    except ValueError:
        raise ContentRefused(
            f"{attribute.name} is no number", where=safe(str(pair), 60), valid="[real, imaginary]"
        ) from None
    return complex(real, imaginary)
