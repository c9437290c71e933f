"""NumPy: take, take_along_axis, put, put_along_axis and the `at` methods of five ufuncs.

A negative index counts from the end once, except under mode "wrap" (which is a modulo anyway) and
under mode "clip" (where every negative index becomes 0). An index of type uint64 beyond 2^63 - 1 is
out of range here; NumPy itself would read it as a negative number.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from gscli import dtypes
from gscli.checks import index_types
from gscli.declare import Framework, Option
from gscli.families import along_axis, flattened, normal_axis
from gscli.layout import Beyond, Layout, Negative, Policy, Tensor, gather_layout

FRAMEWORK = Framework("numpy", "NumPy")

POLICIES = {
    "raise": Policy(),
    "wrap": Policy(Negative.OUTSIDE, Beyond.WRAP),
    "clip": Policy(Negative.OUTSIDE, Beyond.CLIP),
}

Mode: TypeAlias = Annotated[
    Literal["raise", "wrap", "clip"],
    Option("an index out of range is an error, taken modulo the size, or moved to the border"),
]


@FRAMEWORK.operator(
    example="'[[10,20,30],[40,50,60]]' '[2,0,-1]' --axis 1",
    refused="'[[10,20,30],[40,50,60]]' '[2,0]' --axis 0",
    bare=True,
)
def take(
    a: Tensor,
    indices: Tensor,
    *,
    axis: Annotated[int | None, Option("axis of a, -r … r-1; none: a is read flat")] = None,
    mode: Mode = "raise",
) -> Layout:
    """Take slices along one axis, or cells of the flattened array.

    output = a[:axis] ++ indices ++ a[axis+1:] (shapes); without an axis output has the shape of
    indices. Indices may have any rank and be bool (False is 0, True is 1). Under mode wrap an index
    i reads i mod s; under mode clip negative indices read 0. On an axis of length 0 every index is
    refused in every mode. An array of rank 0 is read as if its shape were [1].
    """
    index_types(indices, (*dtypes.INTEGERS, "bool"))
    if axis is None or a.rank == 0:
        normal_axis(axis or 0, 1, of=a.name)
        addressing = flattened(a, indices.shape, indices.name)
    else:
        addressing = along_axis(a, indices, normal_axis(axis, a.rank, of=a.name))
    return gather_layout(a, addressing, POLICIES[mode])
