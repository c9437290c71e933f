"""A call as a line of JSON, read and written in one way for jobs, recorded cases and runtimes.

    {"framework": "onnx", "op": "ScatterND", "opset": 18, "device": "cpu", "inputs": {…}, "attrs": {…}}

Opset and device are attributes that may stand beside the others. Without a framework, `op` is the
operator's name in Python or in the shell. Python's and the shell's spelling of names are one.
"""  # noqa: E501  a line of JSON is one line

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeVar

from gscli.base import UsageError
from gscli.base.arrays import Arrays, to_json
from gscli.base.records import Arguments
from gscli.files.formats.jsonarray import dump_arrays
from gscli.frameworks import find_operator
from gscli.frameworks.operator import Operator

# Frameworks whose own names are in camel case.
CAMEL_CASE_FRAMEWORKS = ("onnx", "openvino", "caffe2")

# What may stand beside the attributes, and what it is where it does not.
_USUAL = {"opset": None, "device": "cpu"}

Loaded = TypeVar("Loaded")


@lru_cache(256)
def to_gscli_name(framework: str, op: str) -> str:
    """The name under which gscli runs a recorded operator, however it is spelt.

    >>> to_gscli_name("onnx", "ScatterND"), to_gscli_name("tf", "gather-nd")
    ('onnx.scatter_nd', 'tensorflow.gather_nd')
    >>> to_gscli_name("jax", "stablehlo.gather"), to_gscli_name("numpy", "add.at")
    ('stablehlo.gather', 'numpy.add.at')
    >>> to_gscli_name("", "take"), to_gscli_name("onnx", "Gathr")
    ('numpy.take', 'onnx.Gathr')
    """
    name = op if op.startswith("stablehlo.") or not framework else f"{framework}.{op}"
    with suppress(UsageError):
        return find_operator(name).full_name
    return name


def to_wire_name(operator: Operator) -> tuple[str, str]:
    """The framework and the operator's own name in it, as recorded cases have them.

    >>> from gscli.frameworks import find_operator
    >>> to_wire_name(find_operator("onnx.scatter_nd")), to_wire_name(find_operator("numpy.add.at"))
    (('onnx', 'ScatterND'), ('numpy', 'add.at'))
    """
    framework, name = operator.framework.name, operator.name
    if framework in CAMEL_CASE_FRAMEWORKS:
        name = "".join("ND" if part == "nd" else part.capitalize() for part in name.split("_"))
    return framework, name


def read_name(record: Mapping[str, Any]) -> str:
    """What is called. KeyError where a record does not say it.

    >>> read_name({"op": "scatter-nd"}), read_name({"framework": "onnx", "op": "ScatterND"})
    ('onnx.scatter_nd', 'onnx.scatter_nd')
    """
    return to_gscli_name(str(record.get("framework", "")), str(record["op"]))


def read_call(
    record: Mapping[str, Any], load: Callable[[Any, str], Loaded]
) -> tuple[dict[str, Loaded], dict[str, object]]:
    """Inputs, which `load` reads from their values and names, and attributes as `gscli.run` takes
    them, of which those among the attributes count before opset and device of the record. The
    inputs are in the operator's own order, in which commands and runtimes take them.

    GscliError for tensors that are none; KeyError, TypeError, ValueError or AttributeError for
    another form.

    >>> read_call({"op": "onnx.gather", "opset": 13, "inputs": {"data": 7}}, lambda value, _: value)
    ({'data': 7}, {'opset': 13})
    """
    inputs = {name: load(value, name) for name, value in read_input_values(record).items()}
    attrs = {_to_python_name(name): value for name, value in record.get("attrs", {}).items()}
    with suppress(UsageError):  # an operator that is unknown has no order and restores nothing
        operator = find_operator(read_name(record))
        if (*inputs,) != operator.input_names:
            inputs = {name: inputs[name] for name in operator.order_inputs(inputs)}
        _restore_attributes(operator, attrs)
    attrs |= {key: record[key] for key in _USUAL if record.get(key) not in _USUAL.values()} | attrs
    if record.get("framework") == "jax" and record["op"] == "stablehlo.scatter":
        attrs.setdefault("xla", True)  # JAX runs StableHLO through XLA
    return inputs, attrs


def _restore_attributes(operator: Operator, attrs: dict[str, object]) -> None:
    """Numbers back from what `to_json` writes of them."""
    for item in filter(None, map(operator.attributes_by_name.get, attrs)):
        value = attrs[item.name]
        if item.kind == "number" and isinstance(value, list):
            with suppress(TypeError, ValueError):
                attrs[item.name] = complex(*map(float, value))
        elif item.kind in ("number", "int") and isinstance(value, str):
            for parse in (float, int):
                with suppress(ValueError):
                    number = parse(value)
                    attrs[item.name] = number if to_json(number) == value else attrs[item.name]


_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a text"}


def find_flaw(
    record: object, needed: Mapping[str, type], others: Mapping[str, type] = MappingProxyType({})
) -> str:
    """What keeps a value from having the parts of a call on record, in words; "" for nothing.

    `needed`: of what kind the parts are that have to be there; `others`: the same of the rest.

    >>> find_flaw({"op": "gather", "inputs": []}, {"op": str, "inputs": dict})
    'inputs is not an object'
    """
    if not isinstance(record, dict):
        return "it is not an object"
    if not needed.keys() <= record.keys():
        return f"it has no {', '.join(key for key in needed if key not in record)}"
    for key, kind in chain(needed.items(), others.items()):
        if kind is not object and key in record and not isinstance(record[key], kind):
            return f"{key} is not {_KINDS[kind]}"
    return ""


def read_input_values(record: Mapping[str, Any]) -> dict[str, Any]:
    """The values of inputs by name, as they are written. See `read_call`."""
    return {_to_python_name(name): value for name, value in record["inputs"].items()}


@lru_cache(256)
def _to_python_name(name: object) -> str:
    return str(name).replace("-", "_")


def dump_call(operator: Operator, inputs: Arrays, attrs: Arguments) -> dict[str, object]:
    """One call as a document; opset and device stand beside the attributes.

    Attributes of which a runtime need not know (`xla`) go with the others.
    """
    framework, op = to_wire_name(operator)
    rest = {name: to_json(value) for name, value in attrs.items()}
    if operator.variadic is not None:
        rest["indices_per_axis"] = len(operator.variadic_inputs(inputs))
    opset, device = rest.pop("opset", None), rest.pop("device", "cpu")
    document: dict[str, object] = {"framework": framework, "op": op}
    if operator.versions:
        document["opset"] = opset if opset is not None else operator.versions[-1]
    return {**document, "device": device, "inputs": dump_arrays(inputs), "attrs": rest}
