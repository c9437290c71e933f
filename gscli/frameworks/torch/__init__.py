"""PyTorch 2.13, on the CPU: gather and the scatter and index families, take, put_, index_put_.

Rank 0 counts as rank 1. Only index_fill, take, put_ and index_put_ count negative indices from the
end; take_along_dim takes them modulo the size; the others refuse them. On a GPU a bad index stops
the process (a device-side assert) instead of being named. Indices are judged even when every slice
is empty, where some of PyTorch's operators do not look at them.
"""

from __future__ import annotations

from gscli.declare.comparisons import Attrs, Call, Comparison
from gscli.frameworks.torch.elements import gather, scatter, scatter_add, scatter_reduce
from gscli.frameworks.torch.flat import index_put_, put_, take, take_along_dim
from gscli.frameworks.torch.rules import FRAMEWORK
from gscli.frameworks.torch.slices import (
    index_add,
    index_copy,
    index_fill,
    index_reduce,
    index_select,
)

__all__ = [
    "FRAMEWORK",
    "gather",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put_",
    "index_reduce",
    "index_select",
    "put_",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "take",
    "take_along_dim",
]


_READ = ("input", "index")
_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin", "mean": "mean"}


def _list_on_dim(call: Call) -> Attrs:
    return {"dim": call.axis} if call.plain and call.indices.rank <= 1 else None


FRAMEWORK.compare(gather, Comparison("gather-elements", "PyTorch gather", _READ, axis="dim"))
FRAMEWORK.compare(
    take_along_dim,
    Comparison("gather-elements", "PyTorch take_along_dim", ("input", "indices"), axis="dim"),
)
FRAMEWORK.compare(
    index_select, Comparison("gather", "PyTorch index_select", _READ, special=_list_on_dim)
)
FRAMEWORK.compare(take, Comparison("take", "PyTorch take", _READ))
FRAMEWORK.compare(
    scatter, Comparison("scatter-elements", "PyTorch scatter", (*_READ, "src"), axis="dim")
)
FRAMEWORK.compare(
    scatter_reduce,
    Comparison(
        "scatter-elements",
        "PyTorch scatter_reduce",
        (*_READ, "src"),
        axis="dim",
        reduction="reduce",
        reductions=_REDUCTIONS,
    ),
)
FRAMEWORK.compare(
    index_copy,
    Comparison("scatter-update", "PyTorch index_copy", (*_READ, "source"), special=_list_on_dim),
)
FRAMEWORK.compare(
    index_put_,
    Comparison(
        "scatter-nd",
        "PyTorch index_put_",
        ("self", "indices", "values"),
        reduction="accumulate",
        reductions={"none": False, "add": True},
        vectors="tuple",
    ),
)
