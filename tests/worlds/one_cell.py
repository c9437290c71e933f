"""Worlds of the operators that move one element per index, and of those on flat positions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from . import cells
from .along import MXNET, NO_STRINGS, REAL, WIDE, empty_axis
from .cells import Cells, only
from .core import INTEGERS, Make, World, cast_indices, mixed, numbered, register

EXACT = ("float32", "int64", "uint8", "float64", "int8", "float16", "bfloat16", "complex64")
ORDERED = ("float32", "int64", "uint8", "float64", "int8", "float16", "bfloat16")
AVERAGED = ("float32", "int64", "uint8", "float64", "int8")
elements = cells.elements


def _reader(name: str, data: str, indices: str, axis: str) -> Make:
    def make(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        inputs = {
            data: numbered(core.data, dtype),
            indices: cast_indices(core.indices, index_dtype),
        }
        return World(name, inputs, attrs | {axis: core.axis})

    return make


def _writer(name: str, names: tuple[str, str, str], axis: str, *, tensor: bool = False) -> Make:
    """`tensor`: the axis is an input (OpenVINO)."""

    def make(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        data, indices, updates = names
        inputs = {
            data: numbered(core.data, dtype),
            indices: cast_indices(core.indices, index_dtype),
            updates: mixed(core.updates, dtype),
        }
        if tensor:
            return World(name, inputs | {axis: np.array(core.axis, np.int32)}, attrs)
        return World(name, inputs, attrs | {axis: core.axis})

    return make


ONNX = ("data", "indices", "updates")
register(
    "onnx.gather_elements", elements, _reader("onnx.gather_elements", "data", "indices", "axis"),
    variants=[{}, {"opset": 13}, {"opset": 11}], types=(*INTEGERS, *WIDE), cap=2500,
)  # fmt: skip


def _only_from_start(core: Cells) -> bool:
    return core.indices.size == 0 or core.indices.min() >= 0


register(
    "onnx.scatter", only(elements, _only_from_start),
    _writer("onnx.scatter", ONNX, "axis"), variants=[{"opset": 9}, {}], types=WIDE, cap=600,
)  # fmt: skip
SCATTER_ELEMENTS = _writer("onnx.scatter_elements", ONNX, "axis")
register(
    "onnx.scatter_elements", elements, SCATTER_ELEMENTS,
    variants=[{}, {"reduction": "none"}, {"opset": 16}, {"opset": 13}, {"opset": 11}],
    types=WIDE, cap=1000,
)  # fmt: skip
register(
    "onnx.scatter_elements", elements, SCATTER_ELEMENTS,
    variants=[{"reduction": "add"}, {"reduction": "mul"}, {"reduction": "add", "opset": 16}],
    types=EXACT, cap=1200,
)  # fmt: skip
register(
    "onnx.scatter_elements", elements, SCATTER_ELEMENTS,
    variants=[{"reduction": "max"}, {"reduction": "min", "opset": 18}], types=ORDERED, cap=800,
)  # fmt: skip
register(
    "openvino.gather_elements", elements,
    _reader("openvino.gather_elements", "data", "indices", "axis"), types=(*REAL, "str"),
)  # fmt: skip
UPDATE = _writer("openvino.scatter_elements_update", ONNX, "axis", tensor=True)
register(
    "openvino.scatter_elements_update", elements, UPDATE,
    variants=[{"opset": 3}, {"opset": 12}, {"reduction": "none", "use_init_val": False}],
    types=REAL, index_types=INTEGERS, cap=800,
)  # fmt: skip


def _reductions(names: Sequence[str], flag: str, attr: str = "reduction") -> list[dict[str, Any]]:
    return [{attr: name, flag: keep} for name, keep in product(names, (True, False))]


register(
    "openvino.scatter_elements_update", elements, UPDATE,
    variants=_reductions(("sum", "prod", "min", "max", "mean"), "use_init_val"),
    types=AVERAGED, cap=1200,
)  # fmt: skip
register(
    "openvino.scatter_elements_update", elements, UPDATE,
    variants=_reductions(("sum", "prod", "min", "max"), "use_init_val"), types=("bool",), cap=300,
)  # fmt: skip
register(
    "numpy.take_along_axis", elements,
    _reader("numpy.take_along_axis", "arr", "indices", "axis"),
    types=WIDE, index_types=INTEGERS, cap=1500,
)  # fmt: skip
register(
    "numpy.put_along_axis", elements,
    _writer("numpy.put_along_axis", ("arr", "indices", "values"), "axis"),
    types=NO_STRINGS, index_types=INTEGERS, cap=1500,
)  # fmt: skip
register(
    "torch.gather", elements, _reader("torch.gather", "input", "index", "dim"),
    types=NO_STRINGS, cap=1500,
)  # fmt: skip
TORCH = ("input", "index", "src")
register("torch.scatter", elements, _writer("torch.scatter", TORCH, "dim"),
         types=NO_STRINGS, cap=800)  # fmt: skip
register("torch.scatter", elements, _writer("torch.scatter", TORCH, "dim"),
         variants=[{"reduce": "add"}, {"reduce": "multiply"}], types=AVERAGED, cap=400)  # fmt: skip


def _value(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    world = _reader("torch.scatter", "input", "index", "dim")(core, dtype, index_dtype, attrs)
    return World(world.name, world.inputs, dict(world.attrs) | {"value": 3})


register("torch.scatter", elements, _value, variants=[{}, {"reduce": "add"}], types=EXACT, cap=400)
register("torch.scatter_add", elements, _writer("torch.scatter_add", TORCH, "dim"),
         types=EXACT)  # fmt: skip
register(
    "torch.scatter_reduce", elements, _writer("torch.scatter_reduce", TORCH, "dim"),
    variants=_reductions(("sum", "prod", "mean", "amax", "amin"), "include_self", "reduce"),
    types=AVERAGED, cap=1500,
)  # fmt: skip
register(
    "torch.take_along_dim", elements,
    _reader("torch.take_along_dim", "input", "indices", "dim"),
    types=NO_STRINGS, index_types=("int64",),
)  # fmt: skip
JAX = _reader("jax.take_along_axis", "arr", "indices", "axis")
register(
    "jax.take_along_axis", only(elements, lambda core: not empty_axis(core)), JAX,
    variants=[{}, {"mode": "fill"}, {"mode": "clip"}, {"mode": "promise_in_bounds"}],
    types=NO_STRINGS, index_types=INTEGERS, cap=1500,
)  # fmt: skip
register(
    "caffe2.scatter", elements,
    _writer("caffe2.scatter", ("DATA", "INDICES", "UPDATES"), "axis"),
    types=("float32", "int64", "int32", "uint8"),
)  # fmt: skip


def _pick(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    """An index of data's shape without the axis, or with size 1 there."""
    kept = attrs.get("keepdims", False)
    shape = [size for d, size in enumerate(core.data) if d != core.axis % len(core.data)]
    if kept:
        shape.insert(core.axis % len(core.data), 1)
    index = np.resize(core.indices if core.indices.size else np.zeros(1, np.int64), shape)
    inputs = {"data": numbered(core.data, dtype), "index": cast_indices(index, index_dtype)}
    return World("mxnet.pick", inputs, attrs | {"axis": core.axis})


register(
    "mxnet.pick",
    only(elements, lambda c: len(c.data) > 1 and -len(c.data) <= c.axis < len(c.data)),
    _pick, variants=[{"mode": "clip"}, {"mode": "wrap"}, {"keepdims": True}], types=MXNET,
    index_types=("int64", "float32", "int32", "uint8"), cap=600,
)  # fmt: skip


def _flat(name: str, names: tuple[str, str, str]) -> Make:
    """Flat positions into any shape; the indices of the element cores serve as positions."""

    def make(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        data, indices, updates = names
        inputs = {
            data: numbered(core.data, dtype),
            indices: cast_indices(core.indices, index_dtype),
        }
        if updates:
            inputs[updates] = mixed(core.indices.shape, dtype)
        return World(name, inputs, attrs)

    return make


register("torch.take", elements, _flat("torch.take", ("input", "index", "")),
         types=NO_STRINGS, index_types=("int64",), cap=500)  # fmt: skip
register("torch.put_", elements, _flat("torch.put_", ("self", "index", "source")),
         variants=[{}, {"accumulate": False}, {"accumulate": True}], types=EXACT,
         index_types=("int64",), cap=500)  # fmt: skip
register(
    "numpy.put", elements, _flat("numpy.put", ("a", "ind", "v")),
    variants=[{}, {"mode": "raise"}, {"mode": "wrap"}, {"mode": "clip"}], types=NO_STRINGS,
    index_types=("int64", "int32", "uint8", "bool"), cap=800,
)  # fmt: skip
