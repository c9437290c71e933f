"""What type checkers and editors know of the operators: a stub, made from the declarations."""

from __future__ import annotations

import json
from collections.abc import Iterator

from gscli.declare.attributes import Attribute
from gscli.frameworks import NAMES, bare_operators, load_framework
from gscli.frameworks.operator import Operator

PATH = "gscli/signatures.pyi"

HEAD = """\
# Parameters of every operator, for type checkers and editors: python tests/record.py stubs

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gscli.frameworks.operator import Operator

class _Framework:
    name: str
    title: str
    operators: Mapping[str, Operator]

"""
TYPES = {"int": "int", "float": "float", "bool": "bool", "str": "str", "ints": "Sequence[int]",
         "sizes": "int | Sequence[int]",
         "number": "complex | str | np.number[Any]"}  # fmt: skip
RESULT = "NDArray[Any]"


def made() -> dict[str, bytes]:
    """The stub: a class of functions for each framework, and the operators with bare names."""
    parts = [HEAD]
    for name in NAMES:
        parts.append(f"class _{name.capitalize()}(_Framework):\n")
        for operator in load_framework(name).operators.values():
            parts += [f"    {line}\n" for line in _function_lines(operator, "@staticmethod")]
        parts.append("\n")
    parts += [f"{name}: _{name.capitalize()}\n" for name in NAMES]
    parts.append("tf: _Tensorflow\n\n")
    for operator in bare_operators():
        parts += [f"{line}\n" for line in _function_lines(operator)]
    return {PATH: "".join(parts).encode()}


def _function_lines(operator: Operator, *decorators: str) -> Iterator[str]:
    """Inputs, then attributes, as in a call; where PyTorch has dim before the index, so too."""
    inputs = [
        f"{item.name}: ArrayLike{' | None = None' if item.optional else ''}"
        if item.kind != "many"
        else f"{item.name}: ArrayLike | slice | tuple[Any, ...] | None"
        for item in operator.inputs
    ]
    attributes = [*map(_parameter, operator.attributes)]
    calls = [[*inputs, *attributes]]
    if operator.second_attribute is not None:
        dim, *rest = attributes
        calls = [[*inputs, "*", dim, *rest], [inputs[0], dim, *inputs[1:], *rest]]
    elif operator.variadic is not None:  # subscript stands by its name, and JAX's promises do
        rest = [text for text in attributes if not text.startswith("subscript:")]
        named = ["*", *(text for text in attributes if text not in rest)]
        calls = [[*inputs, *rest, *named] if operator.has_byte_masks else [*inputs, *named, *rest]]
    elif any(" = " not in text for text in attributes) and attributes:
        calls = [[*inputs, "*", *attributes]]
    name = operator.name.replace(".", "_")
    for parameters in calls:
        yield from ["@overload"] * (len(calls) > 1)
        yield from decorators
        yield f"def {name}("
        yield from (f"    {parameter}," for parameter in parameters)
        yield f") -> {RESULT}: ..."


def _parameter(attribute: Attribute) -> str:
    words = ", ".join(map(json.dumps, attribute.choices))
    kind = f"Literal[{words}]" if attribute.kind == "choice" else TYPES[attribute.kind]
    kind += " | None" * attribute.optional
    if attribute.is_required:
        return f"{attribute.name}: {kind}"
    value = attribute.default
    text = json.dumps(value) if isinstance(value, str) else repr(value)
    return f"{attribute.name}: {kind} = {text}"
