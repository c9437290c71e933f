"""JAX 0.10: jax.numpy.take and take_along_axis, x.at[…], jax.ops.segment_* and jax.lax.

Nothing is refused for the value of an index: compiled code cannot raise. Reading out of range fills
or is moved to the border, writing is dropped; `mode` chooses. Where XLA is free, the answer is that
of XLA on a CPU. 64-bit types are on; JAX alone has them off: --dtype int32 or float32 gives the
answers it has then.
"""

from gscli.frameworks.jax.common import FRAMEWORK

__all__ = ["FRAMEWORK"]
