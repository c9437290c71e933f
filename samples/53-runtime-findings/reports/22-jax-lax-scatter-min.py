import jax
import jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
data = jnp.array([], jnp.int64).reshape((0,))
indices = jnp.array([0], jnp.int64)
updates = jnp.array(10, jnp.int64)
print('expected:', 'a refusal: index out of range; scatter_indices[0] = 0; valid: none: axis 0 is empty', flush=True)
output = jax.lax.scatter_min(data, indices, updates, jax.lax.ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)), mode='clip')
print("seen:    ", output.tolist(), output.dtype, output.shape)
