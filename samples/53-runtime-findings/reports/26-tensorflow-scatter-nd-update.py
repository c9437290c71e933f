import tensorflow as tf
data = tf.constant([1, 2, 3], tf.int64)
indices = tf.constant([2, 0], tf.int64)
updates = tf.constant([7, 8], tf.int64)
print('expected:', 'a refusal: rank 1 is not allowed; indices int64 [2]; valid: rank 2 or more; add one axis: [[2],[0]] for [2,0], of which TensorFlow would write the first alone', flush=True)
output = tf.Variable(data)
output.scatter_nd_update(indices, updates)
output = output.value()
print("seen:    ", output)
