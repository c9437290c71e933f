import tensorflow as tf
data = tf.constant([1, 2], tf.int64)
indices = tf.constant([0], tf.int64)
updates = tf.constant(10, tf.int64)
print('expected:', 'a refusal: rank 1 is not allowed; indices int64 [1]; valid: rank 2 or more; TensorFlow takes no single vector; add one axis: [[2]] for [2]', flush=True)
def call(data, indices, updates):
    return tf.tensor_scatter_nd_add(tensor=data, indices=indices, updates=updates)
call = tf.function(call, jit_compile=True)
output = call(data, indices, updates)
print("seen:    ", output)
