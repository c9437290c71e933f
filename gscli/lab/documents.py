"""From a gscli/1 document, as `--json` writes it, back to a trace: the call is run again.

A document names the operator, attributes and inputs, so nothing of its entries needs to be
believed; its output must be what the call gives, or the document is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gscli.base import ContentRefused
from gscli.base.words import safe
from gscli.files.arrays import plain
from gscli.files.jsonarray import dump_json, load_json
from gscli.frameworks import find
from gscli.frameworks.operator import Operator
from gscli.traces import SCHEMA, Trace, trace


def trace_of(document: Mapping[str, object]) -> Trace:
    """The trace that the document was written from. Raises GscliError.

    >>> made = trace("onnx.gather", {"data": [1, 2], "indices": [-1]})
    >>> trace_of(made.to_dict()).output
    array([2])
    """
    if document.get("schema") != SCHEMA:
        raise ContentRefused(
            "not a run that gscli wrote",
            where=f"schema {document.get('schema')!r}"[:200],
            valid=SCHEMA,
            hint="write one with --json",
        )
    name = f"{text_of(document, 'framework')}.{text_of(document, 'op')}"
    operator = find(name)
    inputs = {
        safe(key, 60): input_of(key, described) for key, described in table_of(document, "inputs")
    }
    attrs = dict(_attributes(operator, table_of(document, "attrs")))
    if "opset" in document:
        attrs["opset"] = document["opset"]
    found = trace(name, inputs, attrs)
    output = document.get("output")
    if not isinstance(output, Mapping) or output.get("data") != dump_json(found.output)["data"]:
        raise ContentRefused(
            "the output is not what the call gives",
            where=operator.full_name,
            hint="the file was changed, or another version of gscli wrote it; run it again",
        )
    return found


def text_of(document: Mapping[str, object], key: str) -> str:
    """A text of a document, or ContentRefused."""
    value = document.get(key)
    if not isinstance(value, str):
        raise ContentRefused(f"the run has no {key}", valid="a gscli/1 document")
    return value


def table_of(document: Mapping[str, object], key: str) -> list[tuple[str, object]]:
    """The pairs of a part of a document, or ContentRefused."""
    value = document.get(key)
    if not isinstance(value, Mapping):
        raise ContentRefused(f"the run has no {key}", valid="a gscli/1 document")
    return [(str(name), item) for name, item in value.items()]


def input_of(name: str, described: object) -> object:
    """An input of a document as an array, or ContentRefused where its cells were left out."""
    if not isinstance(described, Mapping) or "data" not in described:
        raise ContentRefused(
            "the run does not hold its inputs",
            where=safe(name, 60),
            hint="inputs of more than 10,000 cells are left out; use --html on the operator",
        )
    return load_json(described, safe(name, 60))


def _attributes(
    operator: Operator, written: list[tuple[str, object]]
) -> Iterator[tuple[str, object]]:
    """The attributes that were given, values back from words for nan and pairs for complex."""
    known = {attribute.name: attribute for attribute in operator.attributes}
    for name, value in written:
        attribute = known.get(name)
        if attribute is None:
            yield name, value
        # A default is left out: old versions refuse later attributes, whatever they say.
        elif value != plain(attribute.default):
            if isinstance(value, list) and attribute.kind == "number":
                yield name, _complex(name, value)
            elif isinstance(value, str) and attribute.kind in ("number", "float", "int"):
                yield name, attribute.parse(value)
            else:
                yield name, value


def _complex(name: str, pair: list[object]) -> complex:
    try:
        real, imaginary = (float(str(part)) for part in pair)
    except ValueError:
        raise ContentRefused(
            f"{name} is no number", where=safe(str(pair), 60), valid="[real, imaginary]"
        ) from None
    return complex(real, imaginary)
