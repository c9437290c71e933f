import numpy as np
arrays = {'data': np.array([10, 20, 30], np.int64), 'indices': np.array([5], np.int64)}
print('expected:', 'a refusal: index out of range; indices[0] = 5; valid: -3 … 2', flush=True)
import mlx.core as mx
mx.set_default_device(mx.cpu)
data, indices, *updates = map(mx.array, arrays.values())
output = np.array(mx.take(data, indices, axis=0))
print("seen:    ", output.tolist(), output.dtype, output.shape)
