import numpy as np
arrays = {'data': np.array([10, 20, 30], np.int64), 'indices': np.array([0, 5], np.int64)}
print('expected:', 'a refusal: index out of range; indices[1] = 5; valid: -3 … 2', flush=True)
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
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx
tensor = getattr(tvm.runtime, "tensor", None) or tvm.nd.array
tensors = {name: tensor(np.array(array, order="C")) for name, array in arrays.items()}
module = relax.transform.LegalizeOps()(from_onnx(model, keep_params_in_input=False))
machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
output = machine["main"](*tensors.values())
output = output if hasattr(output, "numpy") else output[0]
output = output.numpy()
print("seen:    ", output.tolist(), output.dtype, output.shape)
