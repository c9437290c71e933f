import jax
import jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
data = jnp.array([10.0, 20.0], jnp.float64)
indices = jnp.array([-9], jnp.int64)
cotangent = jnp.array([1.0], jnp.float64)
print('expected:', '[10.0] float64; gradient of x [1.0, 0.0] float64', flush=True)
def call(data, indices):
    return data.at[indices].get(wrap_negative_indices=False)
output, walk_back = jax.vjp(lambda data: call(data, indices), data)
gradients = walk_back(cotangent)
print("seen:    ", output)
print("gradients of data:", *gradients)
