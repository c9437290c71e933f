"""Worlds of the operators that move whole slices along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from . import cells
from .cells import Cells, only
from .core import INTEGERS, Make, World, cast_indices, mixed, numbered, register

WIDE = ("float32", "int64", "bool", "str", "complex64", "bfloat16", "uint16", "float16")
REAL = ("float32", "int64", "bool", "bfloat16", "uint8", "float16", "int16")
NO_STRINGS = ("float32", "int64", "bool", "complex64", "bfloat16", "uint8", "float16")


def _reader(name: str, data: str, indices: str, axis: str) -> Make:
    """A gather whose axis is an attribute; `axis` "" leaves it out."""

    def make(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        inputs = {
            data: numbered(core.data, dtype),
            indices: cast_indices(core.indices, index_dtype),
        }
        attrs = attrs | ({axis: core.axis} if axis else {})
        attrs |= {"batch_dims": core.batch} if core.batch else {}
        return World(name, inputs, attrs)

    return make


def _axis_input(make: Make, dtypes: Sequence[str] = ("int32", "int64", "int8")) -> Make:
    """OpenVINO: the axis is a tensor, a scalar or of one element."""

    def wrapped(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        world = make(core, dtype, index_dtype, attrs)
        place = abs(core.axis) + core.indices.size
        axis = np.array(core.axis, dtypes[place % len(dtypes)])
        inputs = dict(world.inputs) | {"axis": axis.reshape(1) if place % 2 else axis}
        attrs = {key: value for key, value in world.attrs.items() if key != "axis"}
        return World(world.name, inputs, attrs)

    return wrapped


def _writer(name: str, names: tuple[str, str, str], axis: str) -> Make:
    """The write twin: updates of the shape that the gather would give."""

    def make(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        data, indices, updates = names
        inputs = {
            data: numbered(core.data, dtype),
            indices: cast_indices(core.indices, index_dtype),
            updates: mixed(core.updates, dtype),
        }
        return World(name, inputs, attrs | ({axis: core.axis} if axis else {}))

    return make


def _not_negative(core: Cells) -> bool:
    return core.indices.size == 0 or core.indices.min() >= 0


def _vector(core: Cells) -> bool:
    return core.indices.ndim <= 1


def _front(core: Cells) -> bool:
    return core.axis == 0


def empty_axis(core: Cells) -> bool:
    """The axis has no row: no text says what clamping does there."""
    return -len(core.data) <= core.axis < len(core.data) and core.data[core.axis] == 0


def _settled(core: Cells) -> bool:
    """Not two sizes of zero, one on the axis: no text says which of two rules wins there.

    TensorFlow's are "nothing to copy, nothing checked" and "an empty axis has no index"; NumPy's
    clip passes and its wrap never ends.
    """
    return not (empty_axis(core) and core.data.count(0) > 1)


along = cells.along
batched = partial(cells.along, 1)

register(
    "onnx.gather", along, _reader("onnx.gather", "data", "indices", "axis"),
    variants=[{}, {"opset": 13}, {"opset": 11}], types=(*INTEGERS, *WIDE), cap=2500,
)  # fmt: skip
register(
    "onnx.gather", only(along, _not_negative),
    _reader("onnx.gather", "data", "indices", "axis"), variants=[{"opset": 1}], cap=300,
)  # fmt: skip
OPENVINO_GATHER = _axis_input(_reader("openvino.gather", "data", "indices", "axis"))
register(
    "openvino.gather", along, OPENVINO_GATHER, variants=[{"opset": 1}, {"opset": 7}, {"opset": 8}],
    types=(*REAL, "str", "complex64"), index_types=INTEGERS, cap=1500,
)  # fmt: skip
register(
    "openvino.gather", batched, OPENVINO_GATHER, variants=[{"opset": 7}, {"opset": 8}, {}], cap=700
)
register(
    "openvino.scatter_update", along,
    _axis_input(_writer("openvino.scatter_update", ("data", "indices", "updates"), "axis")),
    index_types=INTEGERS,
)  # fmt: skip
register(
    "numpy.take", only(along, _settled), _reader("numpy.take", "a", "indices", "axis"),
    variants=[{"mode": mode} for mode in ("raise", "wrap", "clip")],
    types=(*INTEGERS, *WIDE), index_types=(*INTEGERS, "bool"), cap=1500,
)  # fmt: skip
register(
    "numpy.take", only(along, lambda core: core.axis == 0 and 0 not in core.data),
    _reader("numpy.take", "a", "indices", ""),
    variants=[{}, {"axis": None}, {"axis": None, "mode": "wrap"}, {"mode": "clip"}], cap=500,
)  # fmt: skip
TENSORFLOW_GATHER = _reader("tensorflow.gather", "params", "indices", "axis")
CHECKED = [{}, {"device": "cpu"}, {"device": "gpu"}]
COMPILED = [{"device": "xla"}, {"device": "xla_cpu"}]
DEVICES = [*CHECKED[1:], *COMPILED]
for cores, cap in ((along, 1000), (batched, 700)):
    register(
        "tensorflow.gather", only(cores, _settled), TENSORFLOW_GATHER, variants=CHECKED,
        types=WIDE, index_types=("int32", "int64", "int16"), cap=cap,
    )  # fmt: skip
    register(
        "tensorflow.gather", only(cores, lambda core: not empty_axis(core)), TENSORFLOW_GATHER,
        variants=COMPILED, types=WIDE, cap=cap // 2,
    )  # fmt: skip
MXNET = ("float32", "int64", "bool", "uint8", "float16", "int8", "float64", "int32")
MXNET_INDICES = ("int64", "int32", "float32", "uint8", "float64", "int8", "bool")
MODES = [{"mode": mode} for mode in ("clip", "wrap", "raise")]
register(
    "mxnet.take", along, _reader("mxnet.take", "a", "indices", "axis"),
    variants=[{}, *MODES], types=MXNET, index_types=MXNET_INDICES,
)  # fmt: skip
register(
    "mxnet.np.take", along, _reader("mxnet.np.take", "a", "indices", "axis"),
    variants=[{}, *MODES], types=MXNET, index_types=MXNET_INDICES, cap=700,
)  # fmt: skip
register(
    "mxnet.np.take", only(along, _front), _reader("mxnet.np.take", "a", "indices", ""),
    variants=[{}, *MODES, {"axis": None}], types=MXNET, cap=300,
)  # fmt: skip
register(
    "caffe2.gather", along, _reader("caffe2.gather", "DATA", "INDICES", "axis"),
    variants=[{}, {"wrap_indices": True}, {"wrap_indices": False}, {"match_outer": False}],
)  # fmt: skip


def _match_outer(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    world = _reader("caffe2.gather", "DATA", "INDICES", "axis")(core, dtype, index_dtype, attrs)
    kept = {key: value for key, value in world.attrs.items() if key != "batch_dims"}
    return World("caffe2.gather", world.inputs, kept | {"match_outer": True})


register(
    "caffe2.gather", only(batched, lambda core: core.axis == 1 and 0 not in core.data),
    _match_outer, variants=[{}, {"wrap_indices": True}], cap=400,
)  # fmt: skip
JAX_MODES = [{"mode": mode} for mode in ("fill", "clip", "wrap")]
register(
    "jax.take", along, _reader("jax.take", "a", "indices", "axis"),
    variants=[{}, *JAX_MODES, {"fill_value": 3}], types=NO_STRINGS, index_types=INTEGERS, cap=1500,
)  # fmt: skip
register(
    "jax.take", only(along, _front), _reader("jax.take", "a", "indices", ""),
    variants=[{}, *JAX_MODES, {"axis": None}], types=NO_STRINGS, cap=300,
)  # fmt: skip
vector_cores = only(along, _vector)
register(
    "torch.index_select", vector_cores, _reader("torch.index_select", "input", "index", "dim"),
    types=(*NO_STRINGS, "uint16", "uint64"),
)  # fmt: skip
TORCH = ("input", "index", "source")
register("torch.index_copy", vector_cores, _writer("torch.index_copy", TORCH, "dim"),
         types=NO_STRINGS)  # fmt: skip
register("torch.index_add", vector_cores, _writer("torch.index_add", TORCH, "dim"),
         variants=[{}, {"alpha": 1}, {"alpha": 2}], types=("float32", "int64", "uint8", "float64",
         "complex64", "int8"))  # fmt: skip
register(
    "torch.index_reduce", vector_cores, _writer("torch.index_reduce", TORCH, "dim"),
    variants=[{"reduce": reduce, "include_self": keep}
              for reduce, keep in product(("prod", "mean", "amax", "amin"), (True, False))],
    types=("float32", "int64", "uint8", "float64", "int8"),
)  # fmt: skip


def _index_fill(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    world = _reader("torch.index_fill", "input", "index", "dim")(core, dtype, index_dtype, attrs)
    if core.indices.size % 2:
        return World(world.name, world.inputs, dict(world.attrs) | {"value": 3})
    value = np.array(7).astype(world.inputs["input"].dtype)
    return World(world.name, dict(world.inputs) | {"value": value}, world.attrs)


register("torch.index_fill", vector_cores, _index_fill, types=NO_STRINGS)


def _scatter_assign(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    names = ("DATA", "INDICES", "SLICES")
    world = _writer("caffe2.scatter_assign", names, "")(core, dtype, index_dtype, attrs)
    slices = world.inputs["SLICES"]
    flat = slices.reshape(-1) if core.indices.ndim == 2 else slices
    return World(world.name, dict(world.inputs) | {"SLICES": flat}, world.attrs)


register(
    "caffe2.scatter_assign", only(along, lambda core: core.axis == 0 and len(core.data) > 0),
    _scatter_assign, types=("float32", "int64", "int32", "uint8", "float16", "float64"), cap=500,
)  # fmt: skip


def _segments(
    name: str,
    kinds: Sequence[str],
    devices: Sequence[dict[str, Any]],
    ids: Sequence[str] = ("int64", "int32"),
) -> None:
    ranks = (0, 1, 2) if name.startswith("tensorflow") else (1,)

    def make(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        ids = cast_indices(core.indices, index_dtype)
        rest = core.data[1:]
        inputs = {"data": mixed(ids.shape + rest, dtype), "segment_ids": ids}
        return World(name, inputs, attrs | {"num_segments": core.data[0]})

    register(
        name,
        only(along, lambda core: core.axis == 0 < len(core.data) and core.indices.ndim in ranks),
        make, variants=devices, types=kinds, index_types=ids, cap=400,
    )  # fmt: skip


SUMS = ("float32", "int64", "uint8", "float64", "int8", "complex64")
ORDERED = ("float32", "int64", "uint8", "float64", "int8", "float16", "bfloat16")
IDS = ("int64", "int32", "int16")
for tail, kinds in (("sum", SUMS), ("prod", SUMS), ("max", ORDERED), ("min", ORDERED)):
    _segments(f"tensorflow.unsorted_segment_{tail}", kinds, [{}, *DEVICES], IDS)
    _segments(f"jax.segment_{tail}", kinds, [{}])
AVERAGES = ("float32", "float64", "complex64")
_segments("tensorflow.unsorted_segment_mean", AVERAGES, [{}, *DEVICES], IDS)
_segments("tensorflow.unsorted_segment_sqrt_n", ("float32", "float64", "float16", "bfloat16"),
          [{}, *DEVICES], IDS)  # fmt: skip


def _batch_gather(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    inputs = {
        "params": numbered(core.data, dtype),
        "indices": cast_indices(core.indices, index_dtype),
    }
    return World("tensorflow.batch_gather", inputs, attrs)


for cores in (along, batched):
    register("tensorflow.batch_gather", only(cores, _settled), _batch_gather, types=WIDE, cap=400)


def _sorted(name: str, kinds: Sequence[str]) -> None:
    def make(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        ids = np.sort(core.indices) if core.indices.ndim == 1 else core.indices
        if core.indices.size % 5 != 4:
            ids = np.maximum(ids, 0)
        data = mixed(ids.shape + core.data[1:], dtype)
        return World(name, {"data": data, "segment_ids": cast_indices(ids, index_dtype)}, attrs)

    cores = only(along, lambda core: core.axis == 0 < len(core.data) and core.indices.ndim == 1)
    register(name, cores, make, types=kinds, cap=300)


for tail, kinds in (("sum", SUMS), ("prod", SUMS), ("max", ORDERED), ("min", ORDERED)):
    _sorted(f"tensorflow.segment_{tail}", kinds)
_sorted("tensorflow.segment_mean", AVERAGES)


def _batch_take(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    rows = np.resize(core.indices, core.data[:1]) if core.indices.size else core.indices
    inputs = {"a": numbered(core.data, dtype), "indices": rows.astype(index_dtype)}
    return World("mxnet.batch_take", inputs, attrs)


register("mxnet.batch_take", only(along, lambda core: len(core.data) > 0), _batch_take,
         types=("float32", "int64", "uint8", "float16"), index_types=("int32",),
         cap=400)  # fmt: skip


def _table(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    inputs = {
        "input": cast_indices(core.indices, index_dtype),
        "weight": numbered(core.data, dtype),
    }
    return World("torch.embedding", inputs, attrs)


def _classes(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    del dtype
    chosen = attrs or {"num_classes": core.data[0]}
    return World("torch.one_hot", {"input": cast_indices(core.indices, index_dtype)}, chosen)


register("torch.embedding", only(along, _front), _table, types=(*NO_STRINGS, "uint16", "uint64"),
         variants=[{}, {"padding_idx": -1}, {"padding_idx": None}])  # fmt: skip
register("torch.one_hot", only(along, lambda core: core.axis == 0 < len(core.data)), _classes,
         variants=[{}, {"num_classes": -1}, {"num_classes": 2}])  # fmt: skip


def _pooled(rank: int) -> None:
    """The cells of a core as maxima of planes of one axis more, whose last is one pool long."""

    def make(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
        lead = (1,) * max(rank + 1 - core.indices.ndim, 0)
        indices = cast_indices(core.indices, index_dtype).reshape(lead + core.indices.shape)
        inputs = {"input": mixed(indices.shape, dtype), "indices": indices}
        return World(f"torch.max_unpool{rank}d", inputs, attrs)

    two, three = [2] * rank, [3] * rank
    register(
        f"torch.max_unpool{rank}d", along, make, types=("float32", "float64", "float16"),
        index_types=("int64",),
        variants=[{"kernel_size": two}, {"kernel_size": three, "stride": [1] * rank},
                  {"kernel_size": three, "padding": [1] * rank}, {"output_size": three},
                  {"kernel_size": two, "stride": two, "output_size": three},
                  {"kernel_size": 4, "stride": 3, "padding": 1}],
    )  # fmt: skip


for pooled in (1, 2, 3):
    _pooled(pooled)


def _lengths(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    """Segments of an axis that begin at the sorted numbers of the core, or are as long."""
    axis = core.axis % len(core.data)
    lead, size = core.data[:axis], core.data[axis]
    count = min(core.indices.size, 3) + 1
    offsets = np.sort(np.resize(core.indices, (*lead, count)))
    given = "offsets" if core.indices.size % 2 else "lengths"
    if core.indices.size % 5 != 4:
        offsets = np.maximum(offsets, 0)
    if given == "lengths":
        offsets = np.diff(np.minimum(offsets, size), prepend=0, append=size)
        offsets = offsets[..., :-1] if attrs.get("unsafe") else offsets
    parts = cast_indices(offsets, index_dtype)
    attrs |= {"axis": core.axis}
    return World("torch.segment_reduce", {"data": mixed(core.data, dtype), given: parts}, attrs)


SEGMENTS = [{"reduce": name} for name in ("sum", "mean", "max", "min", "prod", "amax", "amin")]
register(
    "torch.segment_reduce",
    only(along, lambda core: -len(core.data) <= core.axis < len(core.data) and core.indices.size),
    _lengths, types=("float32", "float64", "float16", "bfloat16"), cap=900,
    variants=[*SEGMENTS, *({**v, "initial": 2} for v in SEGMENTS),
              *({**v, "unsafe": True} for v in SEGMENTS)],
)  # fmt: skip


def _bags(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    """Bags of rows: a list of numbers, which begin at the sorted ones again, or a table of them."""
    inputs = {
        "input": cast_indices(core.indices, index_dtype), "weight": mixed(core.data, dtype)
    }  # fmt: skip
    if core.indices.ndim == 1:
        count = core.indices.size
        starts = np.sort(np.abs(core.indices)) % (count + 1)
        starts = np.sort(starts) if count % 5 != 4 else starts
        starts[:1] = int(count % 7 == 6)
        if attrs.get("include_last_offset") and count % 3:
            starts[1:][-1:] = count
        inputs["offsets"] = starts.astype(index_dtype)
    if attrs.get("mode") == "sum" and core.indices.size % 2:
        inputs["per_sample_weights"] = mixed(core.indices.shape, dtype)
    return World("torch.embedding_bag", inputs, attrs)


MODES = [{"mode": name} for name in ("sum", "mean", "max")]
register(
    "torch.embedding_bag",
    only(along, lambda core: core.axis == 0 and len(core.data) == 2 and core.indices.ndim > 0),
    _bags, types=("float32", "float64", "float16", "bfloat16"), cap=600,
    variants=[*MODES, *({**v, "padding_idx": 0} for v in MODES),
              *({**v, "include_last_offset": True} for v in MODES)],
)  # fmt: skip


def _losses(core: Cells, dtype: str, index_dtype: str, attrs: dict[str, Any]) -> World:
    """Targets at every position beside the classes, walked through from the core's indices."""
    axis = min(len(core.data) - 1, 1)
    grid = core.data[:axis] + core.data[axis + 1 :]
    target = np.resize(core.indices, grid) if core.indices.size else np.zeros(grid, np.int64)
    inputs = {"input": mixed(core.data, dtype), "target": cast_indices(target, index_dtype)}
    if core.indices.size % 2:
        inputs["weight"] = np.abs(mixed(core.data[axis : axis + 1], dtype))
    return World("torch.nll_loss", inputs, attrs)


LOSSES = [{"reduction": name} for name in ("none", "sum", "mean")]
register(
    "torch.nll_loss", only(along, lambda core: len(core.data) > 0), _losses, cap=600,
    types=("float32", "float64", "float16", "bfloat16"), index_types=("int64", "int64", "uint8"),
    variants=[*LOSSES, *({**v, "ignore_index": 0} for v in LOSSES)],
)  # fmt: skip
