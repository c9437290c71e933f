"""The specifications as plain loops over scalars: gscli's second opinion.

>>> import numpy as np
>>> run("onnx.gather", {"data": np.array([10, 20, 30]), "indices": np.array([2, -3])}, {})
array([30, 10])
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache

import numpy as np

from . import caffe2, jax, mxnet, numpy, onnx, openvino, stablehlo, tensorflow, torch
from .rules import OPERATORS, Array, Refused

__all__ = ["OPERATORS", "Refused", "run"]

FRAMEWORKS = (caffe2, jax, mxnet, numpy, onnx, openvino, stablehlo, tensorflow, torch)


def run(name: str, inputs: Mapping[str, Array], attrs: Mapping[str, object]) -> Array:
    """Run `framework.operator`; raises Refused where the framework refuses."""
    function = OPERATORS[name]
    arguments = {key: _strings_as_objects(value) for key, value in inputs.items()} | dict(attrs)
    try:
        _signature(name).bind(**arguments)
    except TypeError as error:
        raise Refused("usage", str(error)) from error
    with np.errstate(all="ignore"):
        return _objects_as_strings(np.asarray(function(**arguments)))


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(OPERATORS[name])


def _strings_as_objects(array: Array) -> Array:
    return array.astype(object) if array.dtype.kind == "U" else array


def _objects_as_strings(array: Array) -> Array:
    return array.astype(np.str_) if array.dtype.kind == "O" else array
