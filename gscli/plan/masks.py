"""Boolean masks in an index tuple: each stands for the positions of its True cells (NumPy's rule).

How many entries a mask makes depends on its values, so masks are replaced before the layout.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gscli.base.arrays import Array
from gscli.base.errors import ShapeRefused
from gscli.base.text import show_shape
from gscli.declare.signature import Signature, numbered


def without_masks(
    operator: Signature, arrays: Mapping[str, Array]
) -> tuple[dict[str, Array], dict[str, str]]:
    """The inputs with every mask as index arrays, one per axis it covers, and where each is from.

    The index arrays are numbered anew. A mask must have the sizes of the axes it covers.

    >>> from gscli.frameworks.numpy import add_at
    >>> inputs = {"a": np.zeros(3), "indices_0": np.array([True, False, True]), "b": np.ones(2)}
    >>> without_masks(add_at, inputs)[0]["indices_0"]
    array([0, 2])
    """
    many, data = operator.many, arrays.get(operator.inputs[0].name)
    masks = {name for name, array in arrays.items() if array.dtype.kind == "b"}
    names = numbered(many, arrays) if many is not None and masks else []
    if data is None or masks.isdisjoint(names):
        return dict(arrays), {name: name for name in arrays}
    result = {name: array for name, array in arrays.items() if name not in names}
    sources = {name: name for name in result}
    axis = 0
    for name in names:
        index = arrays[name]
        parts = _positions(name, index, data, axis) if index.dtype.kind == "b" else (index,)
        for part in parts:
            result[f"{many}_{axis}"] = part
            sources[f"{many}_{axis}"] = name
            axis += 1
    return result, sources


def _positions(name: str, mask: Array, data: Array, axis: int) -> tuple[Array, ...]:
    covered = data.shape[axis : axis + mask.ndim]
    if mask.ndim == 0 or mask.shape != covered:
        raise ShapeRefused(
            "mask does not have the sizes of the axes it covers",
            where=f"{name} bool {show_shape(mask.shape)}",
            details=(f"from axis {axis} on the array is {show_shape(data.shape[axis:])}",),
            valid=show_shape(covered) if mask.ndim and len(covered) == mask.ndim else "",
        )
    return np.nonzero(mask)
