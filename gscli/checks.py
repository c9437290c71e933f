"""Refusals that several frameworks share: element types and the shape of updates."""

from __future__ import annotations

from collections.abc import Collection

from gscli import dtypes
from gscli.errors import DtypeRefused, IndexTypeRefused, ShapeRefused, UpdatesTypeRefused
from gscli.families import described, show_shape
from gscli.layout import Reduction, Shape, Tensor


def allow(tensor: Tensor, allowed: Collection[str], why: str = "", hint: str = "") -> None:
    """The element type must be one of `allowed`.

    >>> allow(Tensor("data", (2,), "int8"), ("float32", "int8"))
    """
    if tensor.dtype not in allowed:
        raise DtypeRefused(
            f"{tensor.name} cannot be {tensor.dtype}",
            where=described(tensor),
            details=(why,) if why else (),
            valid=" ".join(allowed),
            hint=hint,
        )


def index_types(indices: Tensor, allowed: Collection[str] = ("int32", "int64")) -> None:
    """Indices must be of the integer types that the operator lists."""
    if indices.dtype not in allowed:
        problem = (
            f"{indices.name} cannot be {indices.dtype}"
            if indices.dtype in dtypes.INTEGERS
            else f"{indices.name} must be integers, got {indices.dtype}"
        )
        raise IndexTypeRefused(
            problem, name=indices.name, allowed=tuple(allowed), where=described(indices)
        )


def same_type(data: Tensor, updates: Tensor) -> None:
    """Updates are never cast in silence."""
    if data.dtype != updates.dtype:
        raise UpdatesTypeRefused(
            f"{updates.name} must have {data.name}'s element type",
            name=updates.name,
            wanted=data.dtype,
            where=f"{data.name} is {data.dtype}, {updates.name} is {updates.dtype}",
        )


def at_least_rank(tensor: Tensor, rank: int = 1, hint: str = "") -> None:
    """The input needs `rank` axes or more.

    >>> at_least_rank(Tensor("data", (2,), "int8"))
    """
    if tensor.rank < rank:
        raise ShapeRefused(
            f"rank {tensor.rank} is not allowed",
            where=described(tensor),
            valid=f"rank {rank} or more",
            hint=hint,
        )


def exact_shape(updates: Tensor, wanted: Shape, parts: str = "", hint: str = "") -> None:
    """Updates must have exactly the shape `wanted`; `parts` explains where it comes from."""
    if updates.shape == wanted:
        return
    got, asked = show_shape(updates.shape), show_shape(wanted)
    width = max(len(got), len(asked))
    raise ShapeRefused(
        f"{updates.name} has the wrong shape",
        where=f"{updates.name} {got}",
        details=(
            f"{got:<{width}}   got",
            f"{asked:<{width}}   wanted" + (f" = {parts}" if parts else ""),
        ),
        valid=asked,
        hint=hint,
    )


_NO_MEANING: dict[str, tuple[str, ...]] = {
    "bool": ("max", "min", "mean"),
    "str": ("sub", "mul", "max", "min", "mean"),
    "complex": ("max", "min"),
}


def reduction_has_meaning(
    data: Tensor, reduction: Reduction, why: str, allowed: Collection[str] = ()
) -> None:
    """Refuse reductions that no text gives a meaning for this element type.

    `allowed` lifts the refusal where a framework does define it (NumPy's complex maximum).
    """
    kind = "complex" if data.dtype in dtypes.COMPLEX else data.dtype
    if reduction in _NO_MEANING.get(kind, ()) and reduction not in allowed:
        undefined = _NO_MEANING[kind]
        known = [r for r in ("none", "add", "mul", "max", "min") if r not in undefined]
        raise DtypeRefused(
            f"{reduction} has no meaning for {data.dtype}",
            where=f"reduction = {reduction}, {described(data)}",
            details=(why,),
            valid=" ".join(known),
        )
