"""MXNet 1.9.1: nd.gather_nd, nd.scatter_nd, nd.take, np.take, nd.pick and nd.batch_take.

What is told of other releases was seen of them: 1.5.1 and 1.6.0 check no index of gather_nd, 1.7.0
answers as 1.9.1 does; `mode="raise"` of take fails always in 1.5.1.

Index vectors lie along the first axis: MXNet's indices are TensorFlow's with the last axis moved
to the front. Any of MXNet's number types may hold indices (in batch_take int32 alone), float32 is
even the default; fractions are cut toward zero, after the bounds were judged where there are
bounds. The nd operators know neither scalars nor sizes of zero, the np ones do. MXNet reports a bad
index late, when the result is first read.

Where MXNet looks at no index and would read or write a wrong cell or foreign memory, gscli refuses
the index and says so.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from gscli.base import check_rule
from gscli.base.words import format_shape
from gscli.declare.attributes import AxisOption, Option
from gscli.frameworks.operator import Comparison, Framework, compare_takes
from gscli.layout import Layout, NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import (
    CLIP_OUTSIDE,
    FROM_END,
    RAISE_OUTSIDE,
    WRAP_OUTSIDE,
    Negative,
    Policy,
    Tensor,
    Updates,
)
from gscli.layout.families import (
    address_axis_or_flat,
    address_elements,
    address_pick,
    address_vectors,
    normalize_axis,
    without_axis,
)
from gscli.layout.refusals import check_dtype, check_dtypes, check_exact_shape, check_min_rank

FRAMEWORK = Framework("mxnet", "MXNet")

NUMBER_DTYPES = ("float32", "float64", "float16", "int64", "int32", "int8", "uint8")
DATA_DTYPES = (*NUMBER_DTYPES, "bool")
WHY = "no other types were seen to work in MXNet 1.9.1"

UNCHECKED_READ = "MXNet 1.6 does not check this and reads another cell or foreign memory"
UNCHECKED_WRITE = "MXNet does not check this and writes another cell or foreign memory"

MODES = {"clip": CLIP_OUTSIDE, "wrap": WRAP_OUTSIDE, "raise": RAISE_OUTSIDE}
OPEN_ORDER = "MXNet calls the result of duplicate indices nondeterministic"

MAX_VECTOR_LENGTH = 10

Mode: TypeAlias = Annotated[
    Literal["clip", "wrap", "raise"],
    Option("what an index outside 0 … s-1 means: the nearest row, the remainder, a refusal"),
]


@FRAMEWORK.operator(
    "'[[1,2,3],[4,5,6]]' '[[0,1,-1],[2,0,1]]'",
    *Comparison("gather-nd", "MXNet {} gather_nd", vector_layout="first").expand_over(
        "release", {"1.6": "1.6", "1.9": "1.9"}
    ),
)
def gather_nd(
    data: Tensor,
    indices: Tensor,
    *,
    release: Annotated[
        Literal["1.6", "1.9"], Option("1.6 and before check no index; 1.7 to 1.9 wrap and refuse")
    ] = "1.9",
) -> NewOutput:
    """Take the cell or slice that each index vector names; vectors lie along the first axis.

    indices (M, Y…) hold vectors of M numbers for the first M axes of data; output = indices.shape
    [1:] ++ data.shape[M:]. From release 1.7 on an index counts from the end once, legal are
    -s … s-1; a fraction is judged as written and cut after s was added, so -0.5 is the last row.
    Release 1.6 checks nothing, of [[1,2,3],[4,5,6]] it reads (1,-1) as 3; gscli takes 0 … s-1
    there and refuses the rest.
    """
    check_dtype(data, DATA_DTYPES, WHY)
    _check_vectors_first(data, indices)
    unchecked = Policy(Negative.OUTSIDE, note=UNCHECKED_READ, truncates_fractions=True)
    policy = FROM_END if release == "1.9" else unchecked
    return gather_layout(data, address_vectors(data, indices, vector_dim=0), policy)


@FRAMEWORK.operator(
    "'[10,20,30]' '[[0,1,1],[2,0,1]]' --shape 2,3",
    Comparison(
        "scatter-nd",
        "MXNet scatter_nd (on zeros)",
        ("", "indices", "data"),
        build_attributes=lambda call: {"shape": call.data.shape} if call.is_plain else None,
        vector_layout="first",
        has_zero_data=True,
    ),
)
def scatter_nd(
    data: Tensor,
    indices: Tensor,
    *,
    shape: Annotated[tuple[int, ...], Option("shape of the result")],
) -> NewOutput:
    """Write data into a new tensor of zeros; index vectors lie along the first axis.

    data.shape = indices.shape[1:] ++ shape[M:] for vectors of M numbers. No index is checked by any
    release: a vector becomes one flat offset, so in shape 3,3 MXNet writes (1,-1) into cell (0,2),
    and beyond the tensor it damages memory. gscli refuses both. With duplicates the last one was
    seen to stay, which MXNet does not promise.
    """
    check_dtype(data, DATA_DTYPES, WHY)
    positive = all(size > 0 for size in shape)
    check_rule(positive, "shape must be sizes", f"shape = {shape}", valid="1 or more each")
    output = Tensor("output", shape, data.dtype)
    _check_vectors_first(output, indices)
    addressing = address_vectors(output, indices, vector_dim=0)
    parts = (
        f"indices.shape[1:] {format_shape(indices.shape[1:])} + "
        f"shape[{indices.shape[0]}:] {format_shape(shape[indices.shape[0] :])}"
    )
    check_exact_shape(data, addressing.result_shape, parts)
    policy = Policy(Negative.OUTSIDE, note=UNCHECKED_WRITE, truncates_fractions=True)
    return scatter_layout(
        None, Updates("data"), addressing, policy, dtype=data.dtype, open_order=OPEN_ORDER
    )


@FRAMEWORK.operator("'[[1,2],[3,4],[5,6]]' '[2,-1,7]'", *compare_takes("MXNet take ({})", MODES))
def take(
    a: Tensor, indices: Tensor, *,
    axis: Annotated[int, AxisOption("axis of a that is indexed, -r … r-1")] = 0,
    mode: Mode = "clip",
) -> NewOutput:  # fmt: skip
    """Take slices of a along one axis; an index outside is clipped without a word.

    output = a[:axis] ++ indices ++ a[axis+1:] (shapes). clip: negatives mean 0; wrap: the
    remainder; raise (since release 1.6): only 0 … s-1, so even -1 and, on length 3, 2.2 are
    refused. bool indices count as 0 and 1.
    """
    _check_legacy_shape(a, indices, hint="np-take knows both")
    return _build_take_layout(a, indices, axis, mode)


@FRAMEWORK.operator(
    "'[[1,2],[3,4],[5,6]]' '[4,0]'", *compare_takes("MXNet np.take ({})", MODES), dotted=True
)
def np_take(
    a: Tensor,
    indices: Tensor,
    *,
    axis: Annotated[
        int | None, AxisOption("axis of a that is indexed; default: a laid flat")
    ] = None,
    mode: Mode = "raise",
) -> NewOutput:
    """Take cells of a laid flat, or slices along one axis.

    As take, but an index outside is refused unless mode says otherwise (the docstring of MXNet
    names clip as the default), scalars and sizes of zero are legal, and without an axis
    output.shape = indices.shape. On an axis of length 0 an index kills the process; gscli refuses.
    """
    return _build_take_layout(a, indices, axis, mode)


@FRAMEWORK.operator("'[[1,2],[3,4],[5,6]]' '[0,1,5]'")
def pick(
    data: Tensor,
    index: Tensor,
    *,
    axis: Annotated[int, AxisOption("axis of data that is indexed, -r … r-1")] = -1,
    keepdims: Annotated[bool, Option("keep the axis in the result, with length 1")] = False,
    mode: Annotated[
        Literal["clip", "wrap"], Option("an index outside 0 … s-1 means the nearest cell or wraps")
    ] = "clip",
) -> NewOutput:
    """Take one cell for each position off the axis.

    index has the shape of data without the axis, or with length 1 there; for axis 1 of a matrix
    output[i] = data[i, index[i]]. An index outside is clipped or wrapped, there is no raise.
    """
    _check_legacy_shape(data, index)
    check_dtype(data, DATA_DTYPES, WHY)
    check_dtype(index, NUMBER_DTYPES, WHY)
    where = normalize_axis(axis, data.rank)
    kept = (*data.shape[:where], 1, *data.shape[where + 1 :])
    reduced = without_axis(data.shape, where) or (1,)
    whole = index.rank == data.rank
    check_exact_shape(index, kept if whole else reduced, f"data without axis {where}")
    addressing = (address_elements if whole else address_pick)(data, index, where)
    return gather_layout(data, addressing, MODES[mode], output_shape=kept if keepdims else reduced)


@FRAMEWORK.operator("'[[1,2,3],[4,5,6]]' '[0,5]'")
def batch_take(a: Tensor, indices: Tensor) -> NewOutput:
    """Take one cell of each row of a matrix: output[i] = a[i, indices[i]].

    indices are a list of int32, as long as a has rows; MXNet also takes it in another shape. An
    index outside is clipped without a word. (Of more axes than two MXNet 1.9.1 reads foreign
    memory.)
    """
    _check_legacy_shape(a, indices)
    check_dtypes(a, NUMBER_DTYPES, indices, ("int32",), why=WHY)
    problem = "batch_take wants a matrix and one index for each of its rows"
    fits = a.rank == 2 and indices.shape == a.shape[:1]  # noqa: PLR2004  a matrix
    check_rule(fits, problem, indices, a, valid="indices [n] for a [n,m]")
    return gather_layout(a, address_pick(a, indices, 1), MODES["clip"])


def _build_take_layout(a: Tensor, indices: Tensor, axis: int | None, mode: str) -> Layout:
    check_dtype(a, DATA_DTYPES, WHY)
    check_dtype(indices, DATA_DTYPES, WHY)
    return gather_layout(a, address_axis_or_flat(a, indices, axis), MODES[mode])


def _check_vectors_first(data: Tensor, indices: Tensor) -> None:
    check_dtype(indices, NUMBER_DTYPES, WHY)
    _check_legacy_shape(data, indices)
    hint = "the first axis holds the vectors: [[2]] for the one vector (2)"
    check_min_rank(indices, rank=2, hint=hint)
    length, problem = indices.shape[0], f"index vectors have more than {MAX_VECTOR_LENGTH} numbers"
    where = f"{indices}: first axis {length} is the vector length"
    check_rule(length <= MAX_VECTOR_LENGTH, problem, where, valid=f"1 … {MAX_VECTOR_LENGTH}")


def _check_legacy_shape(*tensors: Tensor, hint: str = "") -> None:
    """Before numpy's shapes came, rank 0 and size 0 meant "unknown" to MXNet."""
    problem = "MXNet's nd operators know neither scalars nor sizes of zero"
    for tensor in tensors:
        has_sizes = tensor.rank > 0 and 0 not in tensor.shape
        check_rule(has_sizes, problem, tensor, valid="rank 1 or more, no size 0", hint=hint)
