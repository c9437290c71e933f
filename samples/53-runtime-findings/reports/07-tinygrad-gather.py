import numpy as np
arrays = {'data': np.array([10, 20, 30], np.int64), 'indices': np.array([0, -1, 7], np.int64)}
print('expected:', 'a refusal: index out of range; indices[2] = 7; valid: -3 … 2', flush=True)
op, opset, attrs, shape = 'Gather', 13, {'axis': 0}, None
import onnx
from onnx import helper
def describe(name, array):
    kind = onnx.TensorProto.STRING
    if array.dtype != object:
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, kind, array.shape)
node = helper.make_node(op, [*arrays], ["output"], **attrs)
infos = [describe(name, array) for name, array in arrays.items()]
kind = infos[0].type.tensor_type.elem_type
result = helper.make_tensor_value_info("output", kind, shape)
graph = helper.make_graph([node], "one_node", infos, [result])
opsets = [helper.make_opsetid("", opset)]
model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
model = onnx.shape_inference.infer_shapes(model)
import os
os.environ["DEV"] = "PYTHON"
from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner
tensors = {name: Tensor(array).realize() for name, array in arrays.items()}
onnx.save(model, "model.onnx")
output = OnnxRunner("model.onnx")(tensors)["output"].realize()
output = output.numpy()
print("seen:    ", output.tolist(), output.dtype, output.shape)
