import tensorflow as tf
data = tf.constant([10.0, 20.0], tf.float64)
indices = tf.constant([1], tf.int64)
cotangent = tf.constant(1.0, tf.float64)
print('expected:', '20.0 float64; gradient of params [0.0, 1.0] float64', flush=True)
def call(data, indices):
    return tf.gather_nd(params=data, indices=indices)
with tf.GradientTape() as tape:
    tape.watch([data])
    output = call(data, indices)
gradients = tape.gradient(output, [data], cotangent)
print("seen:    ", output)
print("gradients of data:", *gradients)
