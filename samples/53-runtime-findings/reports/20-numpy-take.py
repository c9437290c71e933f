import numpy as np

data = np.array([10, 20, 30], np.int64)
indices = np.array([4611686018427387904], np.int64)
print("expected:", "[20] int64", flush=True)
output = np.take(data, indices, mode="wrap")
print("seen:    ", output.tolist(), output.dtype, output.shape)
