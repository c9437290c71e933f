import numpy as np
arrays = {'data': np.array([1], np.int64), 'indices': np.array([-1], np.int64)}
print('expected:', '[1] int64', flush=True)
op, opset, attrs, shape = 'GatherElements', 13, {'axis': 0}, None
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
import sys
from unittest.mock import MagicMock
sys.modules.update({"torchvision": MagicMock(), "torchvision.ops": MagicMock()})
import onnx2torch
import torch
tensors = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
output = onnx2torch.convert(model)(*tensors.values())
output = output.numpy()
print("seen:    ", output.tolist(), output.dtype, output.shape)
