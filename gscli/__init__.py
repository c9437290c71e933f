"""gscli: the command-line laboratory for gather and scatter.

>>> import gscli
>>> gscli.gather([10, 20, 30, 40], [3, 0, -1])
array([40, 10, 40])

Bare names follow ONNX at its newest opset; each framework is an attribute (`gscli.torch.gather`).
Nothing is imported until something is used, so that Ctrl-C meets no import outside of `main`.
"""

from __future__ import annotations

from os import PathLike, fspath

TYPE_CHECKING = False  # what typing says, and type checkers know; it takes 10 ms to load

if TYPE_CHECKING:
    from typing import Any

    from gscli.base import GscliError as GscliError
    from gscli.base import GscliWarning as GscliWarning
    from gscli.base.arrays import Array
    from gscli.codegen.code import code as code
    from gscli.frameworks import operators as operators
    from gscli.frameworks import run as run
    from gscli.gradients.call import grad as grad
    from gscli.lab.compare import compare as compare
    from gscli.signatures import caffe2 as caffe2
    from gscli.signatures import gather as gather
    from gscli.signatures import gather_elements as gather_elements
    from gscli.signatures import gather_nd as gather_nd
    from gscli.signatures import jax as jax
    from gscli.signatures import mxnet as mxnet
    from gscli.signatures import numpy as numpy
    from gscli.signatures import onnx as onnx
    from gscli.signatures import openvino as openvino
    from gscli.signatures import scatter_elements as scatter_elements
    from gscli.signatures import scatter_nd as scatter_nd
    from gscli.signatures import scatter_update as scatter_update
    from gscli.signatures import stablehlo as stablehlo
    from gscli.signatures import take as take
    from gscli.signatures import tensorflow as tensorflow
    from gscli.signatures import tf as tf
    from gscli.signatures import torch as torch
    from gscli.traces import trace as trace
    from gscli.traces.check import check as check
    from gscli.views.notebook import show as show
    from gscli.watch import Watch

    watch: Watch

__version__ = "1.1.0"
__all__ = [
    "GscliError", "GscliWarning", "__version__", "check", "code", "compare", "grad", "load",
    "operators", "run", "save", "show", "trace", "watch",
]  # fmt: skip

# Where each entry point stands under its own name.
_LAZY = {
    "check": "gscli.views.notebook",
    "code": "gscli.codegen.code",
    "compare": "gscli.views.notebook",
    "grad": "gscli.gradients.call",
    "run": "gscli.frameworks",
    "GscliError": "gscli.base",
    "GscliWarning": "gscli.base",
    "trace": "gscli.views.notebook",
    "operators": "gscli.frameworks",
    "show": "gscli.views.notebook",
}


def load(source: str | PathLike[str], *, dtype: str | None = None) -> Array:
    """The array that `source` names, as on the command line: a file, FILE::NAME, JSON, arange:3x4.

    The array is read-only, and of large .npy files only what is touched is read. `dtype` converts
    where no value changes. Raises CannotRead, ContentRefused, DtypeRefused and LimitRefused.

    >>> load("arange:2x3").shape
    (2, 3)
    """
    from gscli import files
    from gscli.base import check_argument

    check_argument("source", source, (str, PathLike), "the name of a file, or JSON as a string")
    return files.load(fspath(source), name="tensor", dtype=dtype and str(dtype)).array


def save(
    target: str | PathLike[str],
    array: object,
    *,
    format: str | None = None,  # noqa: A002  the word of the command line
) -> None:
    """Write an array to a file, whole or not at all; the suffix or `format` names the format.

    Raises CannotWrite where nothing was changed, UsageError for a format that is not known, and
    CannotRead without the package that a format needs.
    """
    from gscli import files
    from gscli.base import check_argument
    from gscli.base.arrays import as_array

    check_argument("target", target, (str, PathLike), "the name of a file")
    files.save(fspath(target), as_array(array, "tensor"), format=format)


_RESOLVED: dict[str, object] = {}


def __getattr__(name: str) -> Any:
    if name not in _RESOLVED:
        _RESOLVED[name] = _resolve(name)
    return _RESOLVED[name]


def _resolve(name: str) -> Any:
    from importlib import import_module
    from importlib.util import find_spec

    from gscli.base import GscliError

    if name == "watch":  # the one room that is called itself
        return import_module("gscli.watch")
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name.startswith("_") or find_spec(f"gscli.{name}") is not None:
        raise AttributeError(name)  # `from gscli import module` then imports the module itself
    from gscli.frameworks import ALIASES, NAMES, find_operator, load_framework

    if name in NAMES or name in ALIASES:
        return load_framework(name)
    try:
        return find_operator(name)
    except GscliError:
        raise AttributeError(f"module 'gscli' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    """What the package offers: entry points, frameworks, and the bare operators."""
    from gscli.frameworks import NAMES, bare_operators

    return sorted({*__all__, *NAMES, *(operator.name for operator in bare_operators())})
