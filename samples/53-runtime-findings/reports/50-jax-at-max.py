import jax
import jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
data = jnp.array([0.0], jnp.float64)
indices = jnp.array([7], jnp.int64)
updates = jnp.array([1.0], jnp.float64)
cotangent = jnp.array([1.0], jnp.float64)
print('expected:', '[1.0] float64; gradient of x [0.0] float64; gradient of values [1.0] float64', flush=True)
def call(data, indices, updates):
    return data.at[indices].max(updates, mode='clip')
output, walk_back = jax.vjp(lambda data, updates: call(data, indices, updates), data, updates)
gradients = walk_back(cotangent)
print("seen:    ", output)
print("gradients of data, updates:", *gradients)
