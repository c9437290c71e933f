"""Worlds of the operators whose entries carry a vector of coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from . import cells
from .along import DEVICES, MXNET, NO_STRINGS, REAL, WIDE
from .cells import Cells, Cores, only
from .core import INTEGERS, Make, World, cast_indices, mixed, numbered, register
from .one_cell import AVERAGED, EXACT, ORDERED

vectors: Cores = cells.vectors
batched: Cores = partial(cells.vectors, 1)
twice_batched: Cores = partial(cells.vectors, 2)


def _reader(name: str, data: str, indices: str) -> Make:
    def make(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        inputs = {
            data: numbered(core.data, dtype),
            indices: cast_indices(core.indices, index_dtype),
        }
        return World(name, inputs, attrs | ({"batch_dims": core.batch} if core.batch else {}))

    return make


def _writer(name: str, names: tuple[str, str, str]) -> Make:
    def make(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        data, indices, updates = names
        inputs = {
            data: numbered(core.data, dtype),
            indices: cast_indices(core.indices, index_dtype),
            updates: mixed(core.updates, dtype),
        }
        return World(name, inputs, attrs)

    return make


ONNX = ("data", "indices", "updates")
INT64 = ("int64",)
GATHER_ND = _reader("onnx.gather_nd", "data", "indices")
register("onnx.gather_nd", vectors, GATHER_ND, variants=[{}, {"opset": 13}, {"opset": 12},
         {"opset": 11}], types=(*INTEGERS, *WIDE), index_types=INT64, cap=2000)  # fmt: skip
for cores, cap in ((batched, 1000), (twice_batched, 500)):
    register("onnx.gather_nd", cores, GATHER_ND, variants=[{}, {"opset": 12}], index_types=INT64,
             cap=cap)  # fmt: skip


def _some_coordinates(core: Cells) -> bool:
    """ONNX and OpenVINO leave open what an empty vector addresses when it is written to."""
    return bool(core.indices.shape[-1] > 0)


with_coordinates = only(vectors, _some_coordinates)
SCATTER_ND = _writer("onnx.scatter_nd", ONNX)
register("onnx.scatter_nd", with_coordinates, SCATTER_ND, variants=[{}, {"reduction": "none"},
         {"opset": 16}, {"opset": 13}, {"opset": 11}], types=WIDE, index_types=INT64)  # fmt: skip
register("onnx.scatter_nd", with_coordinates, SCATTER_ND, variants=[{"reduction": "add"},
         {"reduction": "mul"}, {"reduction": "add", "opset": 16}], types=EXACT,
         index_types=INT64)  # fmt: skip
register("onnx.scatter_nd", with_coordinates, SCATTER_ND, variants=[{"reduction": "max"},
         {"reduction": "min", "opset": 18}], types=ORDERED, index_types=INT64, cap=800)  # fmt: skip

OPENVINO_GATHER_ND = _reader("openvino.gather_nd", "data", "indices")
for cores, cap in ((vectors, 800), (batched, 500), (twice_batched, 400)):
    register(
        "openvino.gather_nd", only(cores, _some_coordinates),
        OPENVINO_GATHER_ND, variants=[{"opset": 5}, {"opset": 8}, {}], index_types=INTEGERS,
        cap=cap,
    )  # fmt: skip
UPDATE = _writer("openvino.scatter_nd_update", ONNX)
register("openvino.scatter_nd_update", with_coordinates, UPDATE, variants=[{"opset": 3},
         {"opset": 15}, {"reduction": "none"}], types=REAL, cap=800)  # fmt: skip
register(
    "openvino.scatter_nd_update", with_coordinates, UPDATE,
    variants=[{"reduction": name} for name in ("sum", "sub", "prod", "min", "max")],
    types=("bool", *AVERAGED),
)  # fmt: skip


def _k_and_rank(core: Cells) -> bool:
    """TensorFlow takes vectors only with an entry axis before them."""
    return core.indices.ndim > 1


TENSORFLOW_INDICES = ("int32", "int64")
POLICIES = [{"bad_indices_policy": policy} for policy in ("", "DEFAULT", "ERROR", "IGNORE")]
TENSORFLOW_GATHER_ND = _reader("tensorflow.gather_nd", "params", "indices")
for cores, cap in ((vectors, 1000), (batched, 600), (twice_batched, 300)):
    register("tensorflow.gather_nd", cores, TENSORFLOW_GATHER_ND,
             variants=[{}, *POLICIES, *DEVICES], types=WIDE,
             index_types=("int32", "int64", "int16"), cap=cap)  # fmt: skip
Kinds: TypeAlias = tuple[tuple[str, Sequence[str]], ...]
TENSOR_SCATTERS: Kinds = (
    ("update", WIDE), ("add", EXACT), ("sub", EXACT), ("max", ORDERED), ("min", ORDERED),
)  # fmt: skip
for tail, kinds in TENSOR_SCATTERS:
    name = f"tensorflow.tensor_scatter_nd_{tail}"
    register(name, only(vectors, _k_and_rank),
             _writer(name, ("tensor", "indices", "updates")), variants=[{}, *POLICIES, *DEVICES],
             types=kinds, index_types=TENSORFLOW_INDICES, cap=700)  # fmt: skip


for tail, kinds in TENSOR_SCATTERS:
    name = f"tensorflow.scatter_nd_{tail}"
    register(name, only(vectors, _k_and_rank), _writer(name, ("ref", "indices", "updates")),
             types=kinds, index_types=TENSORFLOW_INDICES, cap=800)  # fmt: skip


def _tensorflow_scatter_nd(
    core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]
) -> World:
    inputs = {
        "indices": core.indices.astype(index_dtype),
        "updates": mixed(core.updates, dtype),
        "shape": np.array(core.data, index_dtype),
    }
    return World("tensorflow.scatter_nd", inputs, attrs)


register("tensorflow.scatter_nd", only(vectors, _k_and_rank),
         _tensorflow_scatter_nd, variants=[{}, *POLICIES, *DEVICES], types=(*EXACT, "bool", "str"),
         index_types=TENSORFLOW_INDICES)  # fmt: skip


def _first_axis(world: World, name: str) -> World:
    """MXNet's convention: the vector along the first axis."""
    moved = np.ascontiguousarray(np.moveaxis(world.inputs[name], -1, 0))
    return World(world.name, dict(world.inputs) | {name: moved}, world.attrs)


def _mxnet_gather_nd(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    world = _reader("mxnet.gather_nd", "data", "indices")(core, dtype, index_dtype, attrs)
    return _first_axis(world, "indices")


def _mxnet_scatter_nd(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    indices = cast_indices(core.indices, index_dtype)
    inputs = {"data": mixed(core.updates, dtype), "indices": indices}
    world = World("mxnet.scatter_nd", inputs, attrs | {"shape": list(core.data)})
    return _first_axis(world, "indices")


MXNET_INDICES = ("int64", "int32", "float32", "uint8", "float64", "int8")
register("mxnet.gather_nd", vectors, _mxnet_gather_nd, variants=[{}, {"release": "1.9"},
         {"release": "1.6"}], types=MXNET, index_types=MXNET_INDICES)  # fmt: skip
register("mxnet.scatter_nd", vectors, _mxnet_scatter_nd, types=MXNET,
         index_types=MXNET_INDICES)  # fmt: skip


def _columns(core: Cells, index_dtype: str) -> dict[str, Any]:
    """The vectors as one index array per axis, the second of them stretching where it can."""
    arrays = {}
    for k in range(core.indices.shape[-1]):
        column = cast_indices(core.indices[..., k], index_dtype)
        constant = k == 1 and column.size > 1 and (column == column.flat[0]).all()
        arrays[f"indices_{k}"] = column.flat[:1].reshape(()) if constant else column
    return arrays


def _tuple(name: str, names: tuple[str, str]) -> Make:
    def make(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        data, values = names
        columns = _columns(core, index_dtype)
        inputs = {data: numbered(core.data, dtype), **columns}
        if values:
            updates = mixed(core.updates, dtype)
            one = updates.size > 1 and core.indices.size % 3 == 0
            inputs[values] = updates.flat[:1].reshape(()) if one else updates
        return World(name, inputs, attrs | {"indices_per_axis": len(columns)})

    return make


def _row_on_every_axis(core: Cells) -> bool:
    """No coordinate points into an empty axis: no text says what JAX does there."""
    return core.indices.size == 0 or 0 not in core.data[: core.indices.shape[-1]]


no_empty_axis = only(with_coordinates, _row_on_every_axis)
UFUNCS: Kinds = (
    ("add", (*EXACT, "bool")), ("subtract", EXACT), ("multiply", (*EXACT, "bool")),
    ("maximum", (*ORDERED, "bool", "complex64")), ("minimum", (*ORDERED, "bool", "complex64")),
)  # fmt: skip
for ufunc, kinds in UFUNCS:
    register(f"numpy.{ufunc}.at", with_coordinates, _tuple(f"numpy.{ufunc}.at", ("a", "b")),
             types=kinds, index_types=INTEGERS, cap=700)  # fmt: skip
MODES: list[dict[str, Any]] = [
    *[{"mode": mode} for mode in (None, "fill", "drop", "clip")],
    *[{"mode": mode, "wrap_negative_indices": False} for mode in (None, "fill", "clip")],
]
METHODS: Kinds = (
    ("set", (*EXACT, "bool")), ("add", EXACT), ("subtract", EXACT), ("multiply", EXACT),
    ("min", (*ORDERED, "bool", "complex64")), ("max", (*ORDERED, "bool", "complex64")),
    ("divide", (*EXACT, "bool")), ("power", (*INTEGERS, "bool")),
)  # fmt: skip
for method, kinds in METHODS:
    at = _tuple(f"jax.at.{method}", ("x", "values"))
    register(f"jax.at.{method}", no_empty_axis, at, variants=MODES, types=kinds,
             index_types=INTEGERS, cap=700)  # fmt: skip
register("jax.at.get", no_empty_axis, _tuple("jax.at.get", ("x", "")), variants=MODES,
         types=NO_STRINGS, index_types=INTEGERS, cap=700)  # fmt: skip
register(
    "torch.index_put_", with_coordinates, _tuple("torch.index_put_", ("self", "values")),
    variants=[{}, {"accumulate": False}, {"accumulate": True}], types=EXACT, cap=700,
)  # fmt: skip
