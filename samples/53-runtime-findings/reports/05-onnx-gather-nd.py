import numpy as np

arrays = {
    "data": np.array([], np.int64).reshape((0, 2)),
    "indices": np.array([], np.int64).reshape((0, 1)),
}
print("expected:", "[] int64", flush=True)
import onnx
from onnx import helper


def describe(name, array):
    kind = onnx.TensorProto.STRING
    if array.dtype != object:
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, kind, array.shape)


node = helper.make_node("GatherND", [*arrays], ["output"], **{"batch_dims": 1})
infos = [describe(name, array) for name, array in arrays.items()]
kind = infos[0].type.tensor_type.elem_type
result = helper.make_tensor_value_info("output", kind, None)
graph = helper.make_graph([node], "one_node", infos, [result])
opsets = [helper.make_opsetid("", 13)]
model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
from onnx.reference import ReferenceEvaluator

output = ReferenceEvaluator(model).run(None, arrays)[0]
print("seen:    ", output.tolist(), output.dtype, output.shape)
