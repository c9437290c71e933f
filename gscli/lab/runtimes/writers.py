"""Which cells of an output several updates go to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gscli import kernel
from gscli.base.errors import GscliError
from gscli.plan.plan import Plan

Flags = NDArray[np.bool_]


def several_writers(plan: Plan) -> Flags | None:
    """For each cell of a scatter's output whether more than one update goes there.

    None for a gather, and where an index is refused, so that nothing is written.
    """
    layout = plan.layout
    if layout.kind == "gather":
        return None
    if not layout.entry_count * layout.window_size * layout.output_size:
        return np.zeros(layout.output_shape, np.bool_)
    try:
        addresses, inside = kernel.addresses_of(plan.judged(), 0, layout.entry_count)
    except GscliError:
        return None
    flat: NDArray[Any] = addresses.reshape(-1)
    if inside is not None:
        flat = flat[np.broadcast_to(inside, addresses.shape).reshape(-1)]
    counts = np.bincount(flat, minlength=layout.output_size)
    return (counts > 1).reshape(layout.output_shape)
