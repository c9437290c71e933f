import numpy as np
arrays = {'data': np.array([], np.int64).reshape((0,)), 'indices': np.array([0], np.int64)}
print('expected:', 'a refusal: index out of range; indices[0] = 0; valid: none: axis 0 is empty', flush=True)
import paddle
paddle.set_device("cpu")
tensors = {name: paddle.to_tensor(array) for name, array in arrays.items()}
data, indices, *updates = tensors.values()
output = paddle.take_along_axis(data, indices, 0, broadcast=False)
output = output.numpy()
print("seen:    ", output.tolist(), output.dtype, output.shape)
