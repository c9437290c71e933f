import tensorflow as tf
data = tf.constant([2.0], tf.float64)
indices = tf.constant([[-1]], tf.int64)
updates = tf.constant([2.0], tf.float64)
cotangent = tf.constant([1.0], tf.float64)
print('expected:', '[2.0] float64; gradient of tensor [1.0] float64; gradient of updates [0.0] float64', flush=True)
def call(data, indices, updates):
    return tf.tensor_scatter_nd_add(tensor=data, indices=indices, updates=updates, bad_indices_policy='IGNORE')
with tf.GradientTape() as tape:
    tape.watch([data, updates])
    output = call(data, indices, updates)
gradients = tape.gradient(output, [data, updates], cotangent)
print("seen:    ", output)
print("gradients of data, updates:", *gradients)
