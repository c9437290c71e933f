import jax
import jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
data = jnp.array([1, 2], jnp.int64)
indices_0 = jnp.array(True, jnp.bool)
indices_1 = jnp.array([1], jnp.int64)
updates = jnp.array(9, jnp.int64)
print('expected:', '[1, 9] int64', flush=True)
output = data.at[None, indices_0, indices_1].max(updates)
print("seen:    ", output.tolist(), output.dtype, output.shape)
