import numpy as np
arrays = {'data': np.array([10, 20, 30], np.int64), 'indices': np.array([[-1]], np.int64)}
print('expected:', '[30] int64', flush=True)
import onnx
from onnx import helper
def describe(name, array):
    kind = onnx.TensorProto.STRING
    if array.dtype != object:
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, kind, array.shape)
node = helper.make_node("GatherND", [*arrays], ["output"], **{'batch_dims': 0})
infos = [describe(name, array) for name, array in arrays.items()]
kind = infos[0].type.tensor_type.elem_type
result = helper.make_tensor_value_info("output", kind, None)
graph = helper.make_graph([node], "one_node", infos, [result])
opsets = [helper.make_opsetid("", 13)]
model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
import tract
onnx.save(onnx.shape_inference.infer_shapes(model), "model.onnx")
program = tract.onnx().load("model.onnx").into_model().into_runnable()
tensors = [tract.Tensor.from_numpy(array) for array in arrays.values()]
output = program.run(tensors)[0].to_numpy()
print("seen:    ", output.tolist(), output.dtype, output.shape)
