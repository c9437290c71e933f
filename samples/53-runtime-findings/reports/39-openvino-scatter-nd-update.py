import numpy as np

arrays = {
    "data": np.array([False], bool),
    "indices": np.array([[0], [0]], np.int64),
    "updates": np.array([True, True], bool),
}
print("expected:", "[false] bool", flush=True)
import openvino as ov
from openvino import opset15 as ops

axis = arrays.pop("axis", None)
nodes = [ops.parameter(list(array.shape), array.dtype) for array in arrays.values()]
inputs = nodes if axis is None else [*nodes, ops.constant(axis)]
model = ov.Model([ops.scatter_nd_update(*inputs, **{"reduction": "sub"})], nodes)
settings = {"INFERENCE_PRECISION_HINT": "f32"}
output = ov.compile_model(model, "CPU", settings)([*arrays.values()])[0]
print("seen:    ", output.tolist(), output.dtype, output.shape)
