import numpy as np
arrays = {'data': np.array([], np.int64).reshape((0,)), 'indices': np.array([0], np.int64)}
print('expected:', 'a refusal: index out of range; indices[0] = 0; valid: none: axis 0 is empty', flush=True)
import paddle
paddle.set_device("cpu")
data, indices, *updates = map(paddle.to_tensor, arrays.values())
output = paddle.take_along_axis(data, indices, 0, broadcast=False).numpy()
print("seen:    ", output.tolist(), output.dtype, output.shape)
