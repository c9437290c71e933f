"""How NumPy, PyTorch, JAX, TensorFlow and MXNet write each step."""

from __future__ import annotations

from gscli.lab.code.render import Language

_SHARED = {
    "mod": "{0} % {sizes}",
    "inside": "({0} >= 0) & ({0} <= {high})",
    "both": "{0} & {1}",
    "plus": "{0} + {1}",
    "times": "{0} * {factor}",
    "slot": "{0}[{place}]",
    "crop": "{0}[{slices}]",
    "reshape": "{0}.reshape({shape})",
    "divide": "{0} / {1}",
    "floor_divide": "{0} // {1}",
    "negative": "-{0}",
    "power": "{0} ** {1}",
    "sqrt": "{0} ** 0.5",
    "take": "{0}[{slices}{1}]",
    "cells": "{0}[{rest}]",
}

UFUNCS = {"add": "add", "sub": "subtract", "mul": "multiply", "max": "maximum", "min": "minimum"}


def _small(module: str, name: str) -> str:
    known = name.startswith(("int", "uint", "float16", "float32", "float64", "bool", "complex"))
    return f"{module}.{name}" if known and name not in ("int2", "int4", "uint2", "uint4") else (
        f"ml_dtypes.{name}"
    )  # fmt: skip


def _numpy_dtype(name: str) -> str:
    return {"str": "object", "bool": "bool"}.get(name) or _small("np", name)


NUMPY = Language(
    {
        **_SHARED,
        "cast": "{0}.astype({dtype})",
        "floor": "np.floor({0})",
        "wrap": "np.where({0} < 0, {0} + {sizes}, {0})",
        "clip": "np.clip({0}, 0, {high})",
        "transpose": "{0}.transpose({perm})",
        "expand": "np.broadcast_to({0}, {shape})",
        "iota": "np.arange({range}).reshape({shape})",
        "stack": "np.stack([{all}], {dim})",
        "pad": "np.concatenate([{0}, np.full({row}, {fill}, {dtype})], {axis})",
        "where": "np.where({0}, {1}, {2})",
        "where_number": "np.where({0}, {1}, np.array({fill}, {1}.dtype))",
        "replaced": "np.where({1}, np.array({fill}, {0}.dtype), {0})",
        "is_nan": "np.isnan({0})",
        "instead": "np.where({1}, np.array({fill}, {0}.dtype), {0})",
        "nonzero": "np.nonzero({0})[{axis}]",
        "full": "np.full({shape}, {fill}, {dtype})",
        "take": "np.take({0}, {1}, {axis})",
        "along": "np.take_along_axis({0}, {1}, {axis})",
        "vectors": "{0}[tuple(np.moveaxis({1}, -1, 0))]",
        "put_take none": "{r} = {start}\n{r}[{slices}{2}] = {1}{finish}",
        "put_take": "{r} = {start}\nnp.{word}.at({r}, np.s_[{slices}{2}], {1}){finish}",
        "put_along none": "{r} = {start}\nnp.put_along_axis({r}, {2}, {1}, {axis}){finish}",
        "put_vectors none": "{r} = {start}\n{r}[tuple(np.moveaxis({2}, -1, 0))] = {1}{finish}",
        "put_vectors":
            "{r} = {start}\nnp.{word}.at({r}, tuple(np.moveaxis({2}, -1, 0)), {1}){finish}",
        "put_cells none": "{r} = {start}\n{r}[{cells}] = {1}{finish}",
        "put_cells": "{r} = {start}\nnp.{word}.at({r}, ({cells},), {1}){finish}",
    },
    UFUNCS,
    _numpy_dtype,
    numbers="np.array({list})",
    imports=("import numpy as np",),
)  # fmt: skip

TORCH = Language(
    {
        **_SHARED,
        "cast": "{0}.to({dtype})",
        "floor": "torch.floor({0})",
        "wrap": "torch.where({0} < 0, {0} + {sizes}, {0})",
        "clip": "{0}.clamp(0, {high})",
        "clip each": "torch.minimum({0}.clamp(min=0), {high})",
        "transpose": "{0}.permute({perm})",
        "expand": "{0}.expand({shape})",
        "iota": "torch.arange({range}).reshape({shape})",
        "stack": "torch.stack([{all}], {dim})",
        "pad": "torch.cat([{0}, torch.full({row}, {fill}, dtype={dtype})], {axis})",
        "where": "torch.where({0}, {1}, {2})",
        "where_number": "{1}.expand({shape}).masked_fill(~{0}, {fill})",
        "replaced": "{0}.masked_fill({1}, {fill})",
        "is_nan": "torch.isnan({0})",
        "instead": "{0}.masked_fill({1}, {fill})",
        "nonzero": "torch.nonzero({0}, as_tuple=True)[{axis}]",
        "full": "torch.full({shape}, {fill}, dtype={dtype})",
        "along": "torch.gather({0}, {axis}, {1})",
        "vectors": "{0}[tuple(torch.moveaxis({1}, -1, 0))]",
        "put_take none": "{r} = {start}\n{r}[{slices}{2}] = {1}",
        "put_take add": "{0}.index_add({axis}, {2}, {1})",
        "put_along none": "{0}.scatter({axis}, {2}, {1})",
        "put_along": '{0}.scatter_reduce({axis}, {2}, {1}, "{word}"{leave_out})',
        "put_vectors none": "{0}.index_put(tuple(torch.moveaxis({2}, -1, 0)), {1})",
        "put_vectors add":
            "{0}.index_put(tuple(torch.moveaxis({2}, -1, 0)), {1}, accumulate=True)",
        "put_cells none": "{0}.index_put(({cells},), {1})",
        "put_cells add": "{0}.index_put(({cells},), {1}, accumulate=True)",
        "put_rows":
            '{0}.scatter_reduce(0, {2}[:, None].expand_as({1}), {1}, "{word}"{leave_out})',
    },
    {"add": "sum", "mul": "prod", "max": "amax", "min": "amin", "mean": "mean"},
    lambda name: f"torch.{name}",
    numbers="torch.tensor({list})",
    copy=".clone()",
    loaded="torch.from_numpy({name})",
    literal="torch.tensor({list}, dtype={dtype})",
    halves=".view(np.int16)",
    loaded_halves="torch.from_numpy({name}).view(torch.bfloat16)",
    imports=("import numpy as np", "import torch"),
)  # fmt: skip

JAX = Language(
    {
        **_SHARED,
        "cast": "{0}.astype({dtype})",
        "floor": "jnp.floor({0})",
        "wrap": "jnp.where({0} < 0, {0} + {sizes}, {0})",
        "clip": "jnp.clip({0}, 0, {high})",
        "transpose": "{0}.transpose({perm})",
        "expand": "jnp.broadcast_to({0}, {shape})",
        "iota": "jnp.arange({range}).reshape({shape})",
        "stack": "jnp.stack([{all}], {dim})",
        "pad": "jnp.concatenate([{0}, jnp.full({row}, {fill}, {dtype})], {axis})",
        "where": "jnp.where({0}, {1}, {2})",
        "where_number": "jnp.where({0}, {1}, jnp.array({fill}, {1}.dtype))",
        "replaced": "jnp.where({1}, jnp.array({fill}, {0}.dtype), {0})",
        "is_nan": "jnp.isnan({0})",
        "instead": "jnp.where({1}, jnp.array({fill}, {0}.dtype), {0})",
        "nonzero": "jnp.nonzero({0})[{axis}]",
        "full": "jnp.full({shape}, {fill}, {dtype})",
        "take": "jnp.take({0}, {1}, {axis})",
        "along": "jnp.take_along_axis({0}, {1}, {axis})",
        "vectors": "{0}[tuple(jnp.moveaxis({1}, -1, 0))]",
        "put_take": "{0}.at[{slices}{2}].{word}({1})",
        "put_vectors": "{0}.at[tuple(jnp.moveaxis({2}, -1, 0))].{word}({1})",
        "put_cells": "{0}.at[{cells}].{word}({1})",
    },
    {"none": "set", "add": "add", "sub": "subtract", "mul": "multiply", "max": "max",
     "min": "min"},
    lambda name: _small("jnp", name) if name != "bfloat16" else "jnp.bfloat16",
    numbers="jnp.array({list})",
    loaded="jnp.asarray({name})",
    loaded_halves="jnp.asarray({name})",
    literal="jnp.array({list}, {dtype})",
    imports=(
        "import numpy as np", "import jax", "import jax.numpy as jnp",
        'jax.config.update("jax_enable_x64", True)',
    ),
)  # fmt: skip

TENSORFLOW = Language(
    {
        **_SHARED,
        "cast": "tf.cast({0}, {dtype})",
        "floor": "tf.floor({0})",
        "wrap": "tf.where({0} < 0, {0} + {sizes}, {0})",
        "mod": "tf.math.floormod({0}, {sizes})",
        "clip": "tf.clip_by_value({0}, 0, {high})",
        "reshape": "tf.reshape({0}, {shape})",
        "transpose": "tf.transpose({0}, {perm})",
        "expand": "tf.broadcast_to({0}, {shape})",
        "iota": "tf.reshape(tf.range({range}, dtype=tf.int64), {shape})",
        "stack": "tf.stack([{all}], {dim})",
        "pad": "tf.concat([{0}, tf.fill({row}, tf.constant({fill}, {dtype}))], {axis})",
        "where": "tf.where({0}, {1}, {2})",
        "where_number": "tf.where({0}, {1}, tf.constant({fill}, {dtype}))",
        "replaced": "tf.where({1}, tf.constant({fill}, {dtype}), {0})",
        "is_nan": "tf.math.is_nan({0})",
        "instead": "tf.where({1}, tf.constant({fill}, {dtype}), {0})",
        "nonzero": "tf.where({0})[:, {axis}]",
        "full": "tf.fill({shape}, tf.constant({fill}, {dtype}))",
        "take": "tf.gather({0}, {1}, axis={axis}{batched})",
        "vectors": "tf.gather_nd({0}, {1}{batched})",
        "cells": "tf.gather_nd({0}, {1})",
        "put_vectors": "tf.tensor_scatter_nd_{word}({0}, {2}, {1})",
        "put_cells": "tf.tensor_scatter_nd_{word}({0}, {2}, {1})",
        "put_rows": "{0} * tf.math.unsorted_segment_prod({1}, {2}, {rows})",
    },
    {"none": "update"},
    lambda name: {"str": "tf.string"}.get(name, f"tf.{name}"),
    copy="",
    loaded="tf.constant({name})",
    loaded_halves="tf.constant({name})",
    literal="tf.constant({list}, {dtype})",
    imports=("import numpy as np", "import tensorflow as tf"),
)  # fmt: skip

_EVERY = (
    '{r} = mx.np.arange({rows}, dtype="int64").reshape(({rows}, 1, 1)) == {2}.reshape((1, -1, 1))\n'
    "{r} = mx.np.where({r}, {1}.reshape((1, *{1}.shape)), "
    "mx.np.array(np.full((1, 1, 1), {identity}), dtype={dtype}))\n"
)
"""For each row of data and each entry the update that the entry has for the row."""

_DENSE = {
    "add": "{0} + {r}.sum(1).astype({dtype})",
    "mul": "{0} * {r}.prod(1).astype({dtype})",
    "max": "mx.np.maximum({0}, {r}.max(1))",
    "min": "mx.np.minimum({0}, {r}.min(1))",
}

MXNET = Language(
    {
        **_SHARED,
        "cast": "{0}.astype({dtype})",
        "floor": "mx.np.floor({0})",
        "wrap": "mx.np.where({0} < 0, {0} + {sizes}, {0})",
        "mod": "mx.np.mod({0}, {sizes})",
        "clip": "mx.np.clip({0}, 0, {high})",
        "clip each": "mx.np.minimum(mx.np.maximum({0}, 0), {high})",
        "inside": "({0} >= 0) * ({0} <= {high})",
        "both": "{0} * {1}",
        "transpose": "{0}.transpose({perm})",
        "expand": "mx.np.broadcast_to({0}, {shape})",
        "iota": 'mx.np.arange({range}, dtype="int64").reshape({shape})',
        "stack": "mx.np.stack([{all}], {dim})",
        "pad": "mx.np.concatenate([{0}, mx.np.full({row}, {fill}, dtype={dtype})], {axis})",
        "where": "mx.np.where({0}, {1}, {2})",
        "where_number":
            "mx.np.where({0}, {1}, mx.np.array(np.full({shape}, {fill}), dtype={dtype}))",
        "replaced": "mx.np.where({1}, mx.np.array(np.full({shape}, {fill}), dtype={dtype}), {0})",
        "is_nan": "mx.np.isnan({0})",
        "instead": "mx.np.where({1}, mx.np.array(np.full({shape}, {fill}), dtype={dtype}), {0})",
        "nonzero": "mx.np.nonzero({0})[{axis}]",
        "full": "mx.np.array(np.full({shape}, {fill}), dtype={dtype})",
        "take": 'mx.np.take({0}, {1}, axis={axis}, mode="clip")',
        "cells": "mx.npx.gather_nd({0}, {1})",
        "put_cells none": "{r} = {start}\n{r}[tuple({2})] = {1}",
        **{f"put_dense {op}": f"{_EVERY}{{r}} = {last}" for op, last in _DENSE.items()},
    },
    {},
    lambda name: f'"{name}"',
    numbers='mx.np.array({list}, dtype="int64")',
    loaded="mx.np.array({name}, dtype={name}.dtype)",
    literal="mx.np.array({list}, dtype={dtype})",
    imports=("import numpy as np", "import mxnet as mx", "mx.npx.set_np()"),
)  # fmt: skip
