"""PyTorch: max_unpool1d, max_unpool2d and max_unpool3d of torch.nn.functional."""

from __future__ import annotations

from math import prod
from typing import Annotated, TypeAlias

from gscli.base import UsageError, check_rule
from gscli.base.words import FLOATS, format_count, format_shape
from gscli.declare.attributes import Option, Sizes
from gscli.frameworks.operator import FamilyMember
from gscli.frameworks.torch import FRAMEWORK, OPEN_ORDER
from gscli.layout import NewOutput, scatter_layout
from gscli.layout.axes import RAISE_OUTSIDE, Shape, Tensor, Updates
from gscli.layout.families import address_own_place
from gscli.layout.refusals import check_dtypes, check_exact_shape

KernelSize: TypeAlias = Annotated[
    Sizes | None,
    Option("sizes of a pool, a number for all axes; without them output_size says all, as in ATen"),
]
Stride: TypeAlias = Annotated[Sizes | None, Option("from pool to pool; default: kernel_size")]
Padding: TypeAlias = Annotated[
    Sizes | None, Option("cells that were put before and behind each axis; default: 0")
]
OutputSize: TypeAlias = Annotated[
    Shape | None, Option("sizes of output, less than a stride beside those that the pools give")
]


def _unpool(rank: int, example: str) -> FamilyMember:
    """An operator `max_unpoolNd`; they differ in the number of axes that a pool has."""

    def max_unpool(
        input: Tensor, indices: Tensor, *,
        kernel_size: KernelSize = None, stride: Stride = None, padding: Padding = None,
        output_size: OutputSize = None,
    ) -> NewOutput:  # fmt: skip
        check_dtypes(input, FLOATS, indices, ("int64",))
        fits = input.rank in (rank + 1, rank + 2) and 0 not in input.shape[-rank - 1 :]
        legal = f"rank {rank + 1} or {rank + 2}: (batch,) channels and {rank} pooled"
        check_rule(fits, "input is not pooled", input, valid=f"{legal}, empty at most the batch")
        check_exact_shape(indices, input.shape, f"that of {input.name}")
        planes = input.shape[:-rank]
        sizes = output_size
        if sizes is not None:
            sizes = sizes[2:] if len(sizes) == rank + 2 else sizes
            _check_sizes(len(sizes) == rank, "output_size", sizes, f"{rank} or {rank + 2} sizes")
        if kernel_size is not None:
            steps = kernel_size if stride in (None, ()) else stride
            sizes = _unpooled_sizes(input.shape[-rank:], kernel_size, steps, padding or 0, sizes)
        if sizes is None:
            raise UsageError("the size of output is not known", valid="kernel_size or output_size")
        addressing = address_own_place(indices, len(planes), prod(sizes))
        return scatter_layout(
            None, Updates(input.name), addressing, RAISE_OUTSIDE, dtype=input.dtype,
            output_shape=(*planes, *sizes), open_order=OPEN_ORDER,
        )  # fmt: skip

    return FRAMEWORK.family_member(max_unpool, example)


@_unpool(1, "'[[0.3,0.7]]' '[[1,2]]' --kernel-size 2")
def max_unpool1d() -> None:
    """Put the maxima of max_pool1d back into the cells they came from, among zeros.

    indices has input's shape, and each number is a position along the pooled axis of output, from
    0. A size s of input becomes (s - 1) · stride - 2 · padding + kernel_size, unless output_size is
    given.
    """


@_unpool(2, "'[[[0.3,0.7],[0.5,0.9]]]' '[[[0,3],[9,14]]]' --kernel-size 2,2")
def max_unpool2d() -> None:
    """Put the maxima of max_pool2d back into the cells they came from, among zeros.

    Sizes as in max_unpool1d. Each number counts the cells of one plane laid flat, h · width + w.
    """


@_unpool(3, "'[[[[0.3,0.7]]]]' '[[[[0,13]]]]' --kernel-size 2,2,2")
def max_unpool3d() -> None:
    """Put the maxima of max_pool3d back into the cells they came from, among zeros.

    Sizes as in max_unpool1d. Each number counts the cells of one volume laid flat.
    """


def _unpooled_sizes(
    pooled: Shape, kernel_size: Sizes, stride: Sizes, padding: Sizes, output_size: Shape | None
) -> Shape:
    """The sizes of output along the pooled axes."""
    kernel = _repeat("kernel_size", kernel_size, len(pooled))
    stride = _repeat("stride", stride, len(pooled))
    padding = _repeat("padding", padding, len(pooled))
    _check_sizes(min(stride) > 0, "stride", stride, "1 and more")
    axes = zip(pooled, stride, kernel, padding, strict=True)
    own = tuple((size - 1) * step + length - 2 * before for size, step, length, before in axes)
    if output_size is not None:
        gaps = [abs(size - middle) for size, middle in zip(output_size, own, strict=True)]
        near = all(gap < step for gap, step in zip(gaps, stride, strict=True))
        legal = f"less than {format_shape(stride)} beside {format_shape(own)}"
        _check_sizes(near, "output_size", output_size, legal)
        own = output_size
    _check_sizes(min(own) >= 0, "the size of output", own, "0 and more", "a smaller padding")
    return own


def _repeat(name: str, sizes: Sizes, rank: int) -> Shape:
    """One size per pooled axis; a number stands for all of them."""
    if isinstance(sizes, int):
        return (sizes,) * rank
    legal = f"{format_count(rank, 'size')}, one per pooled axis, or a number for all"
    _check_sizes(len(sizes) == rank, name, sizes, legal)
    return sizes


def _check_sizes(fits: bool, name: str, sizes: Shape, valid: str, hint: str = "") -> None:
    where = f"{name} = {format_shape(sizes)}"[:200]
    check_rule(fits, f"{name} does not fit", where, kind=UsageError, valid=valid, hint=hint)
