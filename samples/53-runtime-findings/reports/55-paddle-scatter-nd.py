import numpy as np
arrays = {'data': np.array([1], np.int64), 'indices': np.array([], np.int64).reshape((0, 1)), 'updates': np.array([], np.int64).reshape((0,))}
print('expected:', '[1] int64', flush=True)
import paddle
paddle.set_device("cpu")
tensors = {name: paddle.to_tensor(array) for name, array in arrays.items()}
data, indices, *updates = tensors.values()
output = paddle.scatter_nd_add(data, indices, *updates)
output = output.numpy()
print("seen:    ", output.tolist(), output.dtype, output.shape)
