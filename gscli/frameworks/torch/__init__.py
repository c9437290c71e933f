"""PyTorch 2.13, on the CPU: x[…], gather, the scatter, index and masked families, take and put_.

Rank 0 counts as rank 1. Only x[…], index_fill, take, put_ and index_put_ count negative indices
from the end; take_along_dim takes them modulo the size; the others refuse them. On a GPU a bad
index stops the process (a device-side assert) instead of being named. Indices are judged even when
every slice is empty, where some of PyTorch's operators do not look at them.
"""

from gscli.frameworks.torch.rules import FRAMEWORK

__all__ = ["FRAMEWORK"]
