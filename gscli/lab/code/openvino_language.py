"""How OpenVINO writes each step: nodes of a model, which is compiled for the CPU and run."""

from __future__ import annotations

from gscli.lab.code.render import Language, lines_of
from gscli.lab.code.steps import Steps, Value

OPENVINO = Language(
    {
        "cast": "ops.convert({0}, {kind})",
        "floor": "ops.floor({0})",
        "wrap": "ops.select(ops.less({0}, {zero}), ops.add({0}, {sizes}), {0})",
        "mod": "ops.floor_mod({0}, {sizes})",
        "clip": "ops.minimum(ops.maximum({0}, {zero}), {high})",
        "inside": "ops.logical_and(ops.greater_equal({0}, {zero}), ops.less_equal({0}, {high}))",
        "both": "ops.logical_and({0}, {1})",
        "plus": "ops.add({0}, {1})",
        "times": "ops.multiply({0}, {factor})",
        "slot": "ops.gather({0}, np.int64({at}), np.int64({dim}))",
        "crop": "ops.slice({0}, np.zeros({rank}, np.int64), np.array({shape}), "
                "np.ones({rank}, np.int64))",
        "reshape": "ops.reshape({0}, np.array({shape}, np.int64), False)",
        "transpose": "ops.transpose({0}, np.array({perm}))",
        "expand": "ops.broadcast({0}, np.array({shape}))",
        "iota": "ops.constant(np.arange({range}).reshape({shape}))",
        "stack": "ops.concat([ops.unsqueeze(one, np.int64({dim})) for one in ({all},)], {dim})",
        "pad": "ops.concat([{0}, ops.constant(np.full({row}, {fill}))], {axis})",
        "where": "ops.select({0}, {1}, {2})",
        "where_number": "ops.select({0}, {1}, {fill})",
        "replaced": "ops.select({1}, {fill}, {0})",
        "is_nan": "ops.is_nan({0})",
        "instead": "ops.select({1}, {fill}, {0})",
        "nonzero": "ops.gather(ops.non_zero({0}), np.int64({axis}), np.int64(0))",
        "full": "ops.constant(np.full({shape}, {fill}))",
        "divide": "ops.divide({0}, {1})",
        "floor_divide": "ops.divide(ops.subtract({0}, ops.floor_mod({0}, {1})), {1})",
        "power": "ops.power({0}, {1})",
        "sqrt": "ops.sqrt({0})",
        "negative": "ops.subtract({zero}, {0})",
        "take": "ops.gather({0}, {1}, np.int64({axis}){batched})",
        "along": "ops.gather_elements({0}, {1}, {axis})",
        "vectors": "ops.gather_nd({0}, {1}{batched})",
        "cells": "ops.gather_nd({0}, {1})",
        "put_take": "ops.scatter_update({0}, {2}, {1}, np.int64({axis}))",
        "put_along": "ops.scatter_elements_update({0}, {2}, {1}, np.int64({axis}){reduction})",
        "put_vectors": "ops.scatter_nd_update({0}, {2}, {1}{reduction})",
        "put_cells": "ops.scatter_nd_update({0}, {2}, {1}{reduction})",
    },
    {"add": "sum", "mul": "prod"},
    lambda name: f"np.{name}",
    numbers="np.array({list})",
    copy="",
    imports=("import numpy as np", "import openvino as ov", "from openvino import opset15 as ops"),
    typed_numbers=True,
)  # fmt: skip

SETTINGS = '{"INFERENCE_PRECISION_HINT": "f32"}'
"""In float32 where the plugin would round to halves."""


def openvino_lines(program: Steps, output: Value) -> list[str]:
    """The nodes of a model, compiled and run."""
    names = ", ".join(value.name for value in program.inputs)
    one = "," * (len(program.inputs) == 1)
    kinds = "ops.parameter(list(array.shape), array.dtype)"
    nodes = [f"nodes = [{kinds} for array in arrays]", f"{names}{one} = nodes"]
    return [
        f"arrays = [{names}]",
        *(nodes if names else ["nodes = []"]),
        *lines_of(program, output, OPENVINO),
        "model = ov.Model([output], nodes)",
        f'output = ov.compile_model(model, "CPU", {SETTINGS})(arrays)[0]',
    ]
