import numpy as np

arrays = {"data": np.array([10, 20, 30], np.int64), "indices": np.array([[0], [7]], np.int64)}
print(
    "expected:",
    "a refusal: index out of range; indices[1,0] = 7; valid: -3 … 2",
    flush=True,
)
import openvino as ov
from openvino import opset8 as ops

axis = arrays.pop("axis", None)
nodes = [ops.parameter(list(array.shape), array.dtype) for array in arrays.values()]
inputs = nodes if axis is None else [*nodes, ops.constant(axis)]
model = ov.Model([ops.gather_nd(*inputs, **{"batch_dims": 0})], nodes)
settings = {"INFERENCE_PRECISION_HINT": "f32"}
output = ov.compile_model(model, "CPU", settings)([*arrays.values()])[0]
print("seen:    ", output.tolist(), output.dtype, output.shape)
