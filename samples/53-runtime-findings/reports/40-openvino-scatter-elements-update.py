import numpy as np

arrays = {
    "data": np.array([1, 2, 3], np.int64),
    "indices": np.array([0, -10], np.int64),
    "updates": np.array([10, 11], np.int64),
    "axis": np.array(0, np.int64),
}
print(
    "expected:",
    "a refusal: index out of range; indices[1] = -10; valid: -3 … 2",
    flush=True,
)
import openvino as ov
from openvino import opset12 as ops

axis = arrays.pop("axis", None)
nodes = [ops.parameter(list(array.shape), array.dtype) for array in arrays.values()]
inputs = nodes if axis is None else [*nodes, ops.constant(axis)]
model = ov.Model([ops.scatter_elements_update(*inputs, **{"reduction": "none"})], nodes)
settings = {"INFERENCE_PRECISION_HINT": "f32"}
output = ov.compile_model(model, "CPU", settings)([*arrays.values()])[0]
print("seen:    ", output.tolist(), output.dtype, output.shape)
