import numpy as np
arrays = {'data': np.array([1, 2, 3], np.int64), 'indices': np.array([0], np.int64), 'updates': np.array(10, np.int64)}
print('expected:', '[10, 2, 3] int64', flush=True)
import onnx
from onnx import helper
def describe(name, array):
    kind = onnx.TensorProto.STRING
    if array.dtype != object:
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, kind, array.shape)
node = helper.make_node("ScatterND", [*arrays], ["output"], **{'reduction': 'none'})
infos = [describe(name, array) for name, array in arrays.items()]
kind = infos[0].type.tensor_type.elem_type
result = helper.make_tensor_value_info("output", kind, None)
graph = helper.make_graph([node], "one_node", infos, [result])
opsets = [helper.make_opsetid("", 18)]
model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
import os
os.environ["DEV"] = "PYTHON"
from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner
onnx.save(model, "model.onnx")
tensors = {name: Tensor(array) for name, array in arrays.items()}
output = OnnxRunner("model.onnx")(tensors)["output"].numpy()
print("seen:    ", output.tolist(), output.dtype, output.shape)
