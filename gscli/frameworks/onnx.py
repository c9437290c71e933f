"""ONNX: Gather 1/11/13, GatherElements 11/13, GatherND 11/12/13, Scatter 9, ScatterElements and
ScatterND 11/13/16/18, TensorScatter 24. The text decides; what it leaves open is chosen
once, here, and documented:

* duplicates without a reduction are written in row-major order of indices, the last one wins;
* reductions apply NumPy's ufunc in the data's own dtype, one rounding per update, row-major. So NaN
  propagates under max and min (onnxruntime takes the update whenever NaN is compared), integers
  wrap, bool add is OR and mul is AND, string add concatenates;
* an index tensor may be smaller than data off the axis (the formula allows it);
* Gather-1 and Scatter-9, whose texts do not speak of negative indices, count them from the end;
  TensorScatter-24, whose text does not either, refuses them in mode linear, as onnxruntime does.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from gscli.base import check_rule
from gscli.base.words import ALL_DTYPES, DTYPES, format_shape
from gscli.declare.attributes import AxisOption, Option
from gscli.frameworks.operator import Comparison, Framework
from gscli.layout import Layout, NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import (
    FROM_END,
    RAISE_OUTSIDE,
    WRAP_OUTSIDE,
    Addressing,
    Consecutive,
    GeneratedIndices,
    Reduction,
    Tensor,
    Unspecified,
    Updates,
    unspecified_nan,
)
from gscli.layout.families import address_axis, address_elements, address_vectors, normalize_axis
from gscli.layout.refusals import (
    check_batch_dims,
    check_dtype,
    check_dtypes,
    check_exact_shape,
    check_index_dtype,
    check_min_rank,
    check_reduction,
    check_same_dtype,
    check_vector_length,
    check_vector_updates,
)

FRAMEWORK = Framework("onnx", "ONNX", newest=28)

# Every tensor type of opset 24, and the small floats that came since.
CACHE_DTYPES = tuple(name for name in ALL_DTYPES if name not in ("int2", "uint2"))

OPEN_ORDER = "ONNX leaves the result of duplicates open without a reduction"
WHY = "the text lists the type but gives this reduction no meaning; onnxruntime refuses it, too"

DataAxis: TypeAlias = Annotated[int, AxisOption("axis of data that the indices address, -r … r-1")]
Opset: TypeAlias = Annotated[int | None, Option("model opset; the version in force then is used")]
ReductionName: TypeAlias = Annotated[
    Literal["none", "add", "mul", "max", "min"],
    Option(
        "how an update meets the value already there",
        since=16,
        choices_since={"add": 16, "mul": 16, "max": 18, "min": 18},
        role="reduction",
    ),
]


@FRAMEWORK.operator(
    "'[[1.0,1.2],[2.3,3.4],[4.5,5.7]]' '[[0,1],[1,2]]'",
    *[Comparison(concept, "ONNX Gather-13") for concept in ("gather", "take")],
    versions=(1, 11, 13),
    bare=True,
)
def gather(data: Tensor, indices: Tensor, *, axis: DataAxis = 0, opset: Opset = None) -> NewOutput:
    """Take slices of data along one axis, one per index.

    output = data[:axis] ++ indices ++ data[axis+1:] (shapes); the index replaces the coordinate on
    `axis`. Indices may have any rank, 0 included. Legal: -s … s-1 on an axis of size s.
    """
    _check_dtypes(data, indices, opset)
    addressing = address_axis(data, indices, normalize_axis(axis, data.rank))
    texts = _unspecified_negatives("Gather", opset)
    return gather_layout(data, addressing, FROM_END, unspecified=texts)


@FRAMEWORK.operator(
    "'[[1,2,3],[4,5,6],[7,8,9]]' '[[1,2,0],[2,0,0]]'",
    Comparison("gather-elements", "ONNX GatherElements-13"),
    versions=(11, 13),
    bare=True,
)
def gather_elements(
    data: Tensor, indices: Tensor, *, axis: DataAxis = 0, opset: Opset = None
) -> NewOutput:
    """Take single cells: the index replaces one coordinate of its own position.

    output has the shape of indices; for axis 0: output[i,j] = data[indices[i,j], j]. Off the axis
    indices may be smaller than data, never larger.
    """
    addressing, texts = _address_elements(data, indices, axis, opset)
    return gather_layout(data, addressing, FROM_END, unspecified=texts)


@FRAMEWORK.operator(
    "'[[0,1],[2,3]]' '[[0,0],[1,1]]'",
    Comparison("gather-nd", "ONNX GatherND-13"),
    versions=(11, 12, 13),
    bare=True,
)
def gather_nd(
    data: Tensor, indices: Tensor, *,
    batch_dims: Annotated[int, Option("leading axes that data and indices share", since=12)] = 0,
    opset: Opset = None,
) -> NewOutput:  # fmt: skip
    """Take the cell or slice that each index vector names.

    The last axis of indices holds vectors of k numbers for the first k axes of data (after
    batch_dims). output = indices.shape[:-1] ++ data.shape[batch_dims+k:].
    """
    _check_dtypes(data, indices, opset, ("int64",))
    check_min_rank(indices)
    check_batch_dims(batch_dims, 0, min(data.rank, indices.rank) - 1, data, indices)
    check_vector_length(indices, data.rank - batch_dims, "an empty vector would name all of data")
    return gather_layout(data, address_vectors(data, indices, batch_dims), FROM_END)


@FRAMEWORK.operator(
    "'[[0,0,0],[0,0,0]]' '[[1,0,1],[0,0,0]]' '[[10,11,12],[20,21,22]]'", versions=(9,), until=10
)
def scatter(
    data: Tensor, indices: Tensor, updates: Tensor, *, axis: DataAxis = 0, opset: Opset = None
) -> Layout:
    """Write single cells (opset 9 and 10; the older name of scatter-elements).

    The text gives no index range; negative indices count from the end, as in ScatterElements.

    Scatter ended with opset 10; use scatter-elements (opset 11 and later)
    """
    return scatter_elements.function(data, indices, updates, axis=axis, opset=opset)


@FRAMEWORK.operator(
    "'[[1,2,3,4,5]]' '[[1,3]]' '[[11,21]]' --axis 1",
    Comparison("scatter-elements", "ONNX ScatterElements-18"),
    versions=(11, 13, 16, 18),
    bare=True,
)
def scatter_elements(
    data: Tensor, indices: Tensor, updates: Tensor, *,
    axis: DataAxis = 0, reduction: ReductionName = "none", opset: Opset = None,
) -> Layout:  # fmt: skip
    """Write single cells: the index replaces one coordinate of its own position.

    For axis 0: output[indices[i,j], j] = updates[i,j]. updates has the shape of indices; cells
    that no index names keep data's value.
    """
    addressing, smaller = _address_elements(data, indices, axis, opset)
    check_exact_shape(updates, indices.shape, f"{indices.name}.shape")
    texts = (*_unspecified_negatives("Scatter", opset), *smaller)
    return _build_layout(data, updates, addressing, reduction, texts)


@FRAMEWORK.operator(
    "'[1,2,3,4,5,6,7,8]' '[[4],[3],[1],[7]]' '[9,10,11,12]'",
    Comparison("scatter-nd", "ONNX ScatterND-18"),
    versions=(11, 13, 16, 18),
    bare=True,
)
def scatter_nd(
    data: Tensor, indices: Tensor, updates: Tensor, *,
    reduction: ReductionName = "none", opset: Opset = None,
) -> Layout:  # fmt: skip
    """Write the cell or slice that each index vector names.

    The last axis of indices holds vectors of k numbers for the first k axes of data.
    updates.shape = indices.shape[:-1] ++ data.shape[k:].
    """
    _check_dtypes(data, indices, opset, ("int64",))
    check_min_rank(indices)
    addressing = address_vectors(data, indices)
    hint = _vector_hint(data, indices)
    check_vector_updates(updates, data, indices, addressing.result_shape, hint)
    empty = Unspecified("always", "ONNX does not say what an empty vector names; here all of data")
    texts = () if indices.shape[-1] else (empty,)
    return _build_layout(data, updates, addressing, reduction, texts)


@FRAMEWORK.operator(
    "'[[[1],[2],[3],[4]],[[5],[6],[7],[8]]]' '[[[10],[20]],[[30],[40]]]' '[1,2]'", versions=(24,)
)
def tensor_scatter(
    past_cache: Tensor,
    update: Tensor,
    write_indices: Tensor | None = None,
    *,
    axis: Annotated[int, AxisOption("sequence axis, not the first")] = -2,
    mode: Annotated[
        Literal["linear", "circular"],
        Option("circular begins anew at the end of the axis; linear refuses what lies beyond"),
    ] = "linear",
    opset: Opset = None,
) -> Layout:
    """Write the newest steps of a sequence into a cache, for each sample where its own go.

    On the sequence axis, step s of sample b goes to write_indices[b] + s; without write_indices to
    s. update has the shape of past_cache but for that axis, where it may be shorter. Negative
    write_indices count modulo the axis in mode circular and are refused in mode linear.
    """
    check_dtype(past_cache, CACHE_DTYPES)
    check_same_dtype(past_cache, update)
    check_min_rank(past_cache, rank=2)
    dim = normalize_axis(axis, past_cache.rank, of=past_cache.name)
    batch, steps = past_cache.shape[0], update.shape[dim] if dim < update.rank else 1
    problem = "the sequence axis cannot be the first one"
    check_rule(dim > 0, problem, f"axis = {axis}", valid="1 … r-1, or 1-r … -1")
    longest = min(steps, past_cache.shape[dim])
    shape = (*past_cache.shape[:dim], longest, *past_cache.shape[dim + 1 :])
    check_exact_shape(update, shape, f"{past_cache.name}.shape, or shorter on axis {dim}")
    places = _slots(write_indices, batch, steps, past_cache.shape[dim] * (mode == "circular"))
    addressing = address_axis(past_cache, Tensor(places.name, (batch, steps), "int64"), dim, 1)
    addressing = addressing._replace(generated=(places,))
    text = "ONNX does not say whether write_indices of no steps are checked; here they are not"
    is_open = write_indices is not None and not steps
    texts: tuple[Unspecified, ...] = (Unspecified("always", text),) if is_open else ()
    if mode == "linear":
        texts += (Unspecified("negative", "ONNX does not speak of a place below zero"),)
    policy = RAISE_OUTSIDE if mode == "linear" else WRAP_OUTSIDE
    return scatter_layout(past_cache, Updates(update.name), addressing, policy, unspecified=texts)


def _slots(write_indices: Tensor | None, batch: int, steps: int, ring: int) -> GeneratedIndices:
    """Where the steps of each sample go: from its own number on, modulo `ring` where it is set."""
    places = GeneratedIndices(f"0:{steps}", range(steps), (steps,))
    if write_indices is None:
        return places
    check_index_dtype(write_indices, ("int64",))
    check_exact_shape(write_indices, (batch,), "a place for each sample")
    following = Consecutive(write_indices.name, steps, ring)
    return GeneratedIndices(f"({write_indices.name} + {places.name})", following, (batch, steps))


def _unspecified_negatives(name: str, version: int | None) -> tuple[Unspecified, ...]:
    """Before version 11 no text says what an index below zero means."""
    if version is None or version >= 11:  # noqa: PLR2004  the version
        return ()
    text = f"{name}-{version} does not say what an index below zero means"
    return (Unspecified("negative", f"{text}; here it counts from the end"),)


def _address_elements(
    data: Tensor, indices: Tensor, axis: int, opset: int | None
) -> tuple[Addressing, tuple[Unspecified, ...]]:
    """Indices may be smaller than data off the axis; no text says that they may."""
    _check_dtypes(data, indices, opset)
    check_min_rank(indices)
    axis = normalize_axis(axis, data.rank)
    addressing = address_elements(data, indices, axis)
    sizes = zip(data.shape, indices.shape, strict=True)
    if all(own == other for d, (own, other) in enumerate(sizes) if d != axis):
        return addressing, ()
    text = f"ONNX does not say whether {indices.name} may be smaller than data off the axis"
    return addressing, (Unspecified("always", f"{text}; here other cells stay out of it"),)


def _unspecified_reductions(data: Tensor, reduction: Reduction) -> tuple[Unspecified, ...]:
    """Reductions that the text allows without saying what they give."""
    if reduction == "add" and data.dtype in ("bool", "str"):
        here = "joins texts" if data.dtype == "str" else "is OR"
        return (Unspecified("always", f"ONNX does not define add of {data.dtype}; here it {here}"),)
    return unspecified_nan("ONNX", reduction, "NaN stays")


def _build_layout(
    data: Tensor, updates: Tensor, addressing: Addressing, reduction: Reduction,
    texts: tuple[Unspecified, ...],
) -> Layout:  # fmt: skip
    check_same_dtype(data, updates)
    check_reduction(data, reduction, WHY)
    return scatter_layout(
        data, Updates(updates.name), addressing, FROM_END, reduction=reduction,
        open_order=OPEN_ORDER, unspecified=(*texts, *_unspecified_reductions(data, reduction)),
    )  # fmt: skip


def _check_dtypes(
    data: Tensor, indices: Tensor, opset: int | None,
    index_types: tuple[str, ...] = ("int32", "int64"),
) -> None:  # fmt: skip
    """All 15 types, bfloat16 from version 13 on; rank 0 is excluded by every text."""
    check_min_rank(data)
    if data.dtype == "bfloat16" and opset is not None and opset < 13:  # noqa: PLR2004  the version
        allowed = tuple(name for name in DTYPES if name != "bfloat16")
        taker = "scatter-elements" if opset == 9 else "opset 13"  # noqa: PLR2004  Scatter
        check_dtype(data, allowed, "bfloat16 came with opset 13", f"{taker} takes it")
    check_dtypes(data, DTYPES, indices, index_types)


def _vector_hint(data: Tensor, indices: Tensor) -> str:
    length = indices.shape[-1]
    if length == data.rank:
        return ""
    fewer = indices.shape[:-1]
    return (
        f"each vector has {length} of {data.rank} numbers, so it names a slice "
        f"{format_shape(data.shape[length:])}; for single cells {indices.name} would be "
        f"{format_shape((*fewer, data.rank))} and updates {format_shape(fewer)}"
    )
