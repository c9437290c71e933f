"""Refusals that several frameworks share: element types, vectors, and the shape of updates.

Each function returns when its input is legal and raises ShapeRefused or DtypeRefused otherwise.
"""

from __future__ import annotations

from collections.abc import Collection

from gscli.base import (
    DtypeRefused,
    ExactShapeRefused,
    IndexTypeRefused,
    ShapeRefused,
    UpdatesTypeRefused,
    check_rule,
)
from gscli.base.words import COMPLEX, INTEGERS, format_shape
from gscli.layout.axes import DtypeError, Fit, Reduction, Shape, Tensor, Updates
from gscli.layout.families import BATCHES_HINT, suggest_vectors


def check_dtype(tensor: Tensor, allowed: Collection[str], why: str = "", hint: str = "") -> None:
    """The element type must be one of `allowed`.

    >>> check_dtype(Tensor("data", (2,), "int8"), ("float32", "int8"))
    """
    if tensor.dtype not in allowed:
        problem, details = f"{tensor.name} cannot be {tensor.dtype}", (why,) if why else ()
        name, where, legal = tensor.name, str(tensor), " ".join(allowed)
        raise DtypeRefused(problem, name=name, where=where, details=details, valid=legal, hint=hint)


def check_index_dtype(indices: Tensor, allowed: Collection[str] = ("int32", "int64")) -> None:
    """Indices must be of the integer types that the operator lists."""
    if indices.dtype not in allowed:
        verdict = "cannot be" if indices.dtype in INTEGERS else "must be integers, got"
        problem = f"{indices.name} {verdict} {indices.dtype}"
        # Of truths only the positions are indices.
        positions = f"numpy.flatnonzero({indices.name})" * (len(indices.shape) == 1)
        refusal = IndexTypeRefused(
            problem, name=indices.name, allowed=tuple(allowed), where=str(indices),
            hint=(positions or "write the positions of true") * (indices.dtype == "bool"),
        )  # fmt: skip
        _raise_or_collect(indices, refusal)


def check_same_dtype(data: Tensor, updates: Tensor, problem: str = "") -> None:
    """Updates are never cast in silence."""
    if data.dtype != updates.dtype:
        own = f"{data.name}'" + "s" * (not data.name.endswith("s"))
        refusal = UpdatesTypeRefused(
            problem or f"{updates.name} must have {own} element type",
            name=updates.name, source=data.name, wanted=data.dtype,
            where=f"{data.name} is {data.dtype}, {updates.name} is {updates.dtype}",
        )  # fmt: skip
        _raise_or_collect(updates, refusal)


def check_dtypes(
    data: Tensor, allowed: Collection[str], indices: Tensor,
    index_types: Collection[str] = ("int32", "int64"), updates: Tensor | None = None, why: str = "",
) -> None:  # fmt: skip
    """Data, indices and updates must have types that the operator takes, judged in this order."""
    check_dtype(data, allowed, why)
    check_index_dtype(indices, index_types)
    if updates is not None:
        check_same_dtype(data, updates)


def _raise_or_collect(tensor: Tensor, refusal: DtypeError) -> None:
    if tensor.dtype_errors is None:
        raise refusal
    if all(noted.name != tensor.name for noted in tensor.dtype_errors):
        tensor.dtype_errors.append(refusal)


def check_min_rank(
    *tensors: Tensor, rank: int = 1, hint: str = "", wanted: Shape | None = None
) -> None:
    """Inputs need `rank` axes or more; `wanted`: a shape that one could have, where known.

    >>> check_min_rank(Tensor("data", (2,), "int8"), Tensor("indices", (3,), "int64"))
    """
    for tensor in tensors:
        if tensor.rank < rank:
            problem, legal = f"rank {tensor.rank} is not allowed", f"rank {rank} or more"
            facts = {"where": str(tensor), "valid": legal, "hint": hint}
            raise ShapeRefused(problem, name=tensor.name, wanted=wanted, **facts)


def check_exact_shape(updates: Tensor, shape: Shape, parts: str = "", hint: str = "") -> None:
    """Updates must have exactly the shape `shape`; `parts` explains where it comes from."""
    if updates.shape == shape:
        return
    got, expected = format_shape(updates.shape), format_shape(shape)
    width, origin = max(len(got), len(expected)), f" = {parts}" if parts else ""
    raise ExactShapeRefused(
        f"{updates.name} has the wrong shape", name=updates.name, wanted=shape,
        where=f"{updates.name} {got}",
        details=(f"{got:<{width}}   got", f"{expected:<{width}}   wanted{origin}"),
        valid=expected, hint=hint,
    )  # fmt: skip


def check_vector_updates(
    updates: Tensor, data: Tensor, indices: Tensor, shape: Shape, hint: str = ""
) -> None:
    """Updates must have the shape of ScatterND, where vectors lie along the last axis of indices.

    >>> check_vector_updates(Tensor("updates", (7, 3), "int8"), Tensor("data", (2, 3), "int8"),
    ...                Tensor("indices", (7, 1), "int64"), (7, 3))
    """
    if updates.shape == shape:
        return
    length = indices.shape[-1]
    if indices.rank == 1 and updates.shape == (length, *data.shape[1:]):
        hint = suggest_vectors(indices)
    parts = (
        f"{indices.name}.shape[:-1] {format_shape(indices.shape[:-1])} + "
        f"{data.name}.shape[{length}:] {format_shape(data.shape[length:])}"
    )
    check_exact_shape(updates, shape, parts, hint)


def broadcast_updates(values: Tensor, shape: Shape, parts: str, *, cast: bool = True) -> Updates:
    """Updates that stretch to `shape`, which they may not enlarge; `parts` says where it is from.

    >>> broadcast_updates(Tensor("b", (3,), "int8"), (2, 3), "entries").fit
    <Fit.BROADCAST: 'broadcast'>
    """
    pairs = zip(values.shape[::-1], shape[::-1], strict=False)
    fits = values.rank <= len(shape) and all(size in (1, extent) for size, extent in pairs)
    problem = f"{values.name} does not stretch to the cells it is for"
    facts = f"{values.name} {format_shape(values.shape)}", f"wanted {format_shape(shape)} = {parts}"
    legal = f"rank 0 … {len(shape)}, sizes equal or 1, aligned at the last axis"
    check_rule(fits, problem, *facts, name=values.name, wanted=shape[-values.rank :], valid=legal)
    return Updates(values.name, Fit.BROADCAST, cast=cast)


def check_batch_dims(batch_dims: int, low: int, high: int, *tensors: Tensor) -> None:
    """The number of batch axes must be `low` … `high`; `tensors` are named in the refusal.

    >>> check_batch_dims(1, 0, 1, Tensor("data", (2, 3), "int8"))
    """
    fits, where = low <= batch_dims <= high, f"batch_dims = {batch_dims}"
    problem, legal = "batch_dims is out of range", f"{low} … {high}"
    check_rule(fits, problem, where, *tensors, valid=legal, hint=BATCHES_HINT)


def check_vector_length(indices: Tensor, longest: int, hint: str = "") -> None:
    """Vectors along the last axis need a number at least; they may have `longest`.

    >>> check_vector_length(Tensor("indices", (7, 2), "int64"), 3)
    """
    if indices.shape[-1] == 0:
        where = f"{indices}: last axis 0 is the vector length"
        legal = f"vector length 1 … {longest}"
        raise ShapeRefused("index vectors are empty", where=where, valid=legal, hint=hint)


# Reductions without a meaning for a kind of element type, and the way on.
_UNSUPPORTED_REDUCTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "bool": (("max", "min", "mean"), "numbers have one: --dtype int32"),
    "str": (("sub", "mul", "max", "min", "mean"), "text can be replaced or joined only"),
    "complex": (("max", "min"), "complex numbers have no order; they have sums and products"),
}


def check_reduction(
    data: Tensor, reduction: Reduction, why: str, allowed: Collection[str] = ()
) -> None:
    """Refuse reductions that no text gives a meaning for this element type.

    `allowed` lifts the refusal where a framework does define it (NumPy's complex maximum).
    """
    kind = "complex" if data.dtype in COMPLEX else data.dtype
    meaningless, hint = _UNSUPPORTED_REDUCTIONS.get(kind, ((), ""))
    if reduction in meaningless and reduction not in allowed:
        problem = f"{reduction} has no meaning for {data.dtype}"
        where = f"reduction = {reduction}, {data}"
        raise DtypeRefused(problem, where=where, details=(why,), hint=hint)
