"""ONNX: TensorScatter by the reference evaluator and by onnxruntime, and the standard's own tests.

Where the two do not agree nothing is promised: the case says so.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
from cases import Call, Open, Operator
from drawing import TYPES, indices, values
from onnx import helper
from onnx.reference import ReferenceEvaluator

NAMES = ("past_cache", "update", "write_indices")
OPSET = 24


def _draw(rng: random.Random) -> Call:
    sizes = tuple(rng.randint(1, 4) for _ in range(rng.randint(2, 4)))
    axis = rng.randrange(1, len(sizes)) if rng.random() < 0.95 else 0
    count = rng.randint(1, sizes[axis] + int(rng.random() < 0.1))
    shape = (*sizes[:axis], count, *sizes[axis + 1 :])
    dtype = rng.choice((*TYPES, "float16", "str"))
    attrs = {
        "axis": axis - rng.choice((0, len(sizes))),
        "mode": rng.choice(("linear", "circular")),
        "opset": OPSET,
    }
    kept = "float32" if dtype == "str" else dtype
    inputs = {"past_cache": values(rng, sizes, kept), "update": values(rng, shape, kept)}
    if dtype == "str":
        inputs = {name: array.astype(np.str_).astype(object) for name, array in inputs.items()}
    room = max(sizes[axis] - count, 0) + 1
    beyond = count if attrs["mode"] == "circular" else 0
    starts = indices(rng, sizes[:1], room + beyond, "int64", from_end=False)
    if rng.random() < 0.9:
        inputs["write_indices"] = starts
    return inputs, attrs


def _model(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> onnx.ModelProto:
    def info(name: str, array: Any, shape: Any) -> onnx.ValueInfoProto:
        text = array.dtype.kind == "O"
        kind = onnx.TensorProto.STRING if text else helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor_value_info(name, kind, shape)

    own = {name: value for name, value in attrs.items() if name != "opset"}
    node = helper.make_node("TensorScatter", list(inputs), ["output"], **own)
    graph = helper.make_graph(
        [node],
        "one_node",
        [info(name, array, array.shape) for name, array in inputs.items()],
        [info("output", inputs["past_cache"], None)],
    )
    opset = helper.make_opsetid("", OPSET)
    return helper.make_model(graph, opset_imports=[opset], ir_version=11)


def _run(inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
    feed, model = dict(inputs), _model(inputs, attrs)
    answers: list[Any] = []
    for answer in (_reference, _runtime):
        try:
            answers.append(answer(model, feed))
        except Exception as error:  # noqa: BLE001  whatever they raise
            answers.append(error)
    refused = [isinstance(found, Exception) for found in answers]
    if all(refused):
        raise answers[1]
    if any(refused) or not np.array_equal(answers[0], answers[1], equal_nan=feed_is_real(feed)):
        raise Open(f"reference {answers[0]!s:.60}, onnxruntime {answers[1]!s:.60}")
    return answers[0]


def feed_is_real(feed: Mapping[str, Any]) -> bool:
    """Whether the cells are floats, among which NaN may be."""
    return bool(feed["past_cache"].dtype.kind == "f")


def _reference(model: onnx.ModelProto, feed: dict[str, Any]) -> Any:
    return ReferenceEvaluator(model).run(None, feed)[0]


def _runtime(model: onnx.ModelProto, feed: dict[str, Any]) -> Any:
    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, feed)[0]


OPERATORS = [Operator("TensorScatter", _draw, _run, onnx.__version__)]
