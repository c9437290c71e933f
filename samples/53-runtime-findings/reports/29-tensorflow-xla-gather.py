import tensorflow as tf
data = tf.reshape(tf.constant([], tf.int64), (0,))
indices = tf.constant(0, tf.int64)
print('expected:', 'a refusal: index out of range; indices = 0; valid: none: axis 0 is empty', flush=True)
def call(data, indices):
    return tf.gather(params=data, indices=indices)
call = tf.function(call, jit_compile=True)
output = call(data, indices)
print("seen:    ", output)
