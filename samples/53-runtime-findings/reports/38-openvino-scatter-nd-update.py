import numpy as np

arrays = {
    "data": np.array([1, 2], np.int64),
    "indices": np.array([[-1]], np.int64),
    "updates": np.array([10], np.int64),
}
print(
    "expected:",
    "a refusal: negative index; indices[0,0] = -1; valid: 0 … 1",
    flush=True,
)
import openvino as ov
from openvino import opset4 as ops

axis = arrays.pop("axis", None)
nodes = [ops.parameter(list(array.shape), array.dtype) for array in arrays.values()]
inputs = nodes if axis is None else [*nodes, ops.constant(axis)]
model = ov.Model([ops.scatter_nd_update(*inputs, **{})], nodes)
settings = {"INFERENCE_PRECISION_HINT": "f32"}
output = ov.compile_model(model, "CPU", settings)([*arrays.values()])[0]
print("seen:    ", output.tolist(), output.dtype, output.shape)
