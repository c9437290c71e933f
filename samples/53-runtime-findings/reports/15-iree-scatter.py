import numpy as np
arrays = {'data': np.array([1, 2, 3], np.int64), 'indices': np.array([-1], np.int64), 'updates': np.array([10], np.int64)}
print('expected:', '[1, 2, 10] int64', flush=True)
op, opset, attrs, shape = 'Scatter', 9, {}, None
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
from iree import compiler, runtime
from iree.compiler.tools.import_onnx import __main__ as importer
options = ["--iree-input-demote-f64-to-f32=false", "--iree-llvmcpu-target-cpu=generic"]
driver = {"llvm-cpu": "local-task", "vmvx": "local-task"}.get("llvm-cpu", "llvm-cpu")
tensors = {name: array for name, array in arrays.items()}
onnx.save(model, "model.onnx")
importer.main(importer.parse_arguments(["model.onnx", "-o", "model.mlir"]))
binary = compiler.compile_file("model.mlir", target_backends=["llvm-cpu"], input_type="onnx",
                               extra_args=options)
module = runtime.load_vm_flatbuffer(binary, driver=driver)
output = module.one_node(*tensors.values()).to_host()
print("seen:    ", output.tolist(), output.dtype, output.shape)
