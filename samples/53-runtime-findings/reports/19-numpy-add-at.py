import numpy as np
data = np.array([0.0, 0.0, 0.0], np.float64)
indices = np.array([[2, 2], [1, 2], [0, 1]], np.int64)
updates = np.array([1.0, 9.0], np.float64)
print('expected:', '[1.0, 10.0, 19.0] float64', flush=True)
output = data.copy()
np.add.at(output, np.s_[indices], updates)
print("seen:    ", output.tolist(), output.dtype, output.shape)
