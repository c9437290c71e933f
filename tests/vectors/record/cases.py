"""One recorded case: tensors as JSON, an operator with its way to draw and to call, the answer."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Optional

import numpy as np

Inputs = Mapping[str, Any]
Call = tuple[Inputs, Mapping[str, Any]]


class Open(Exception):
    """Nothing is promised of this call: answers differ, which the message says."""


class Operator(NamedTuple):
    """An operator: the name it is recorded under, how calls are drawn, and the framework's own."""

    name: str
    draw: Callable[[random.Random], Optional[Call]]  # noqa: UP045  an old Python runs MXNet
    run: Callable[[Inputs, Mapping[str, Any]], Any]
    version: str


def tensor(array: Any) -> dict[str, Any]:
    """An array as the cases hold it."""
    array = np.asarray(array)
    name = "str" if array.dtype.kind in "UO" else array.dtype.name
    return {"dtype": name, "shape": list(array.shape), "data": [_plain(x) for x in array.flat]}


def _plain(value: Any) -> Any:
    item = value.item() if hasattr(value, "item") else value
    if isinstance(item, complex):
        return [_plain(item.real), _plain(item.imag)]
    if isinstance(item, float) and not np.isfinite(item):
        return str(item)
    if isinstance(item, int) and not isinstance(item, bool) and abs(item) > 2**53:
        return str(item)
    return item if isinstance(item, (bool, int, float, str)) else float(item)


def case(
    framework: str, operator: Operator, number: int, inputs: Inputs, attrs: Mapping[str, Any]
) -> dict[str, Any]:
    """The call and what the framework answers."""
    opset = {"opset": attrs["opset"]} if "opset" in attrs else {}
    found: dict[str, Any] = {
        "id": f"{framework}/{operator.name}/drawn/{number:04}",
        "framework": framework,
        "version": operator.version,
        "op": operator.name,
        **opset,
        "device": "cpu",
        "inputs": {name: tensor(array) for name, array in inputs.items()},
        "attrs": {name: value for name, value in attrs.items() if name != "opset"},
    }
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            output = operator.run(inputs, attrs)
    except Open as reason:
        return {**found, "expect": "open", "note": str(reason)}
    except Exception as error:  # noqa: BLE001  whatever the framework raises
        message = (str(error).strip().splitlines() or [""])[0][:160]
        told = {"type": type(error).__name__, "message": message}
        return {**found, "expect": "error", "error": told}
    return {**found, "expect": "output", "output": tensor(output)}
