import numpy as np
arrays = {'data': np.array([10, 20, 30], np.int64), 'indices': np.array([5], np.int64)}
print('expected:', 'a refusal: index out of range; indices[0] = 5; valid: -3 … 2', flush=True)
import mlx.core as mx
mx.set_default_device(mx.cpu)
tensors = {name: mx.array(array) for name, array in arrays.items()}
data, indices, *updates = tensors.values()
output = mx.take(data, indices, axis=0)
mx.eval(output)
output = np.array(output)
print("seen:    ", output.tolist(), output.dtype, output.shape)
