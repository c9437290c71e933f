import tensorflow as tf
data = tf.constant([[[1]]], tf.int64)
indices = tf.constant([0], tf.int64)
print('expected:', '[[1]] int64', flush=True)
def call(data, indices):
    return tf.gather_nd(params=data, indices=indices, bad_indices_policy='IGNORE')
call = tf.function(call, jit_compile=True)
output = call(data, indices)
print("seen:    ", output)
