import numpy as np
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
arrays = {'operand': np.array([10, 20, 30], np.int64), 'start_indices': np.array([[200]], np.uint8)}
print('expected:', '[30] int64', flush=True)
module = '''
module { func.func public @main(%a0: tensor<3xi64>, %a1: tensor<1x1xui8>) -> tensor<1xi64> {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false}> : (tensor<3xi64>, tensor<1x1xui8>) -> tensor<1xi64>
  %w = stablehlo.convert %r : (tensor<1xi64>) -> tensor<1xi64>
  return %w : tensor<1xi64>
} }
'''
with mlir.make_ir_context():
    arguments = [
        ir.DenseElementsAttr.get(np.array(array, order="C"), type=ir.Type.parse(kind), shape=array.shape)
        for array, kind in zip([*arrays.values()], ["i64", "ui8"])
    ]
    (found,) = stablehlo.eval_module(ir.Module.parse(module), arguments)
    output = np.array(list(ir.DenseIntElementsAttr(found)), np.int64).reshape((1,))
print("seen:    ", output.tolist(), output.dtype, output.shape)
