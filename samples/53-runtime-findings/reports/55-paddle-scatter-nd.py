import numpy as np
arrays = {'data': np.array([1], np.int64), 'indices': np.array([], np.int64).reshape((0, 1)), 'updates': np.array([], np.int64).reshape((0,))}
print('expected:', '[1] int64', flush=True)
import paddle
paddle.set_device("cpu")
data, indices, *updates = map(paddle.to_tensor, arrays.values())
output = paddle.scatter_nd_add(data, indices, *updates).numpy()
print("seen:    ", output.tolist(), output.dtype, output.shape)
