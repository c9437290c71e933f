import numpy as np

arrays = {
    "data": np.array([1.0], np.float64),
    "indices": np.array([0, 0], np.int64),
    "updates": np.array([10.0, 11.0], np.float64),
    "axis": np.array(0, np.int64),
}
print("expected:", "[7.333333333333333] float64", flush=True)
import openvino as ov
from openvino import opset12 as ops

axis = arrays.pop("axis", None)
nodes = [ops.parameter(list(array.shape), array.dtype) for array in arrays.values()]
inputs = nodes if axis is None else [*nodes, ops.constant(axis)]
model = ov.Model([ops.scatter_elements_update(*inputs, **{"reduction": "mean"})], nodes)
settings = {"INFERENCE_PRECISION_HINT": "f32"}
output = ov.compile_model(model, "CPU", settings)([*arrays.values()])[0]
print("seen:    ", output.tolist(), output.dtype, output.shape)
