"""x.at[…].get, set, add, subtract, multiply, divide, power, min and max of JAX arrays."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from gscli.base.words import (
    COMPLEX,
    FLOATS,
    NARROW_FLOATS,
    NARROW_INTEGERS,
    NON_TEXT_DTYPES,
    SIGNED,
)
from gscli.declare import Subscript, VariadicInput
from gscli.declare.attributes import Option, Promise
from gscli.frameworks.jax import (
    FRAMEWORK,
    READ_MODES,
    UNSPECIFIED_ORDER,
    WRITE_MODES,
    FillValue,
    Mode,
    broadcast_values,
    check_axis_filled,
    check_axis_size_fits,
    check_bool_arithmetic,
    index_policy,
    promote_dtypes,
    resolve_fill_value,
)
from gscli.frameworks.operator import Comparison, FamilyMember
from gscli.layout import Layout, NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import Addressing, OutOfBounds, Policy, Reduction, Tensor, Truncation
from gscli.layout.refusals import check_dtype
from gscli.layout.subscripts import SubscriptRules, parse_subscript, run_subscript

WrapNegative: TypeAlias = Annotated[bool, Option("count -s … -1 from the end, once")]

NOTATION = SubscriptRules(has_separating_ellipsis=True)


@FRAMEWORK.operator(
    "'[10,20,30,40]' '[0,-1,9]' --mode fill",
    Comparison("gather", "JAX x[i]", vector_layout="one"),
    Comparison("gather-nd", "JAX x[i, j]", vector_layout="tuple"),
    dotted=True,
)
def at_get(
    x: Tensor, indices: VariadicInput, *,
    subscript: Subscript = None, indices_are_sorted: Promise = False,
    unique_indices: Promise = False, mode: Mode = None, fill_value: FillValue = None,
    wrap_negative_indices: WrapNegative = True,
) -> NewOutput:  # fmt: skip
    """Read the cells or slices that a subscript names: x.at[i, 1:3, None, ...].

    Each word after x is an item of the subscript, with NumPy's rules: an index array, a bool mask,
    a number, a slice, None, .... -s … -1 count from the end once, in every mode. What is still
    outside is moved to the border (the default and clip) or gives fill_value (fill, drop). Indices
    are cut to 32 bits after counting (numbers without axes that JAX reads by a dynamic slice, so
    not under fill or beside a mask or step: before, and of an x of one axis never). An empty axis
    cannot be read.
    """
    addressing, policy = _address_subscript(
        x, indices, subscript, READ_MODES[mode], wrap=wrap_negative_indices, reads=True
    )
    return gather_layout(x, addressing, policy, fill=resolve_fill_value(x, fill_value))


def _update(reduction: Reduction, example: str) -> FamilyMember:
    """An operator `at.NAME`; they differ in their reduction and in what is refused."""

    def update(
        x: Tensor, indices: VariadicInput, values: Tensor, *,
        subscript: Subscript = None, indices_are_sorted: Promise = False,
        unique_indices: Promise = False, mode: Mode = None,
        wrap_negative_indices: WrapNegative = True,
    ) -> Layout:  # fmt: skip
        addressing, policy = _address_subscript(
            x, indices, subscript, WRITE_MODES[mode], wrap=wrap_negative_indices, reads=False
        )
        check_dtype(values, NON_TEXT_DTYPES)
        wide = promote_dtypes(x, values)
        check_bool_arithmetic(wide, reduction, f"{x}, {values}")
        refused = {"div": ("int2", "uint2"), "pow": NARROW_INTEGERS}.get(reduction, ())
        check_dtype(x, tuple(name for name in NON_TEXT_DTYPES if name not in refused))
        own = _epilogue_dtype(x.dtype, reduction)
        return scatter_layout(
            x,
            broadcast_values(values, addressing.result_shape),
            addressing,
            policy,
            dtype=own,
            reduction=reduction,
            accumulate=None if wide == x.dtype == own else wide,
            open_order=UNSPECIFIED_ORDER,
        )

    cells = Comparison("scatter-nd", "JAX {name}", vector_layout="tuple")
    slices = cells._replace(concept="scatter-update", vector_layout="one")
    compares = [cells, slices] if reduction == "none" else [cells]
    return FRAMEWORK.family_member(update, example, *compares, reduction=reduction, dotted=True)


@_update("none", "'[10,20,30,40]' '[0,-1,9]' '[1,2,3]'")
def at_set() -> None:
    """Write the cells or slices that a subscript names: x.at[i, 1:3, None, ...].set(values).

    The subscript is that of at.get; values stretch to the shape of x[…]. -s … -1 count from the end
    once; what is still outside is dropped, or lands on the border (clip). JAX computes in the type
    that x and values promote to, all of x included, and converts back: floats are cut and saturate
    in integers.
    """


@_update("add", "'[10,20,30,40]' '[0,-1,0]' '[1,2,3]'")
def at_add() -> None:
    """Add to the cells or slices that an index tuple names; every occurrence of a cell counts.

    Shapes, modes and types as in at.set. Integers wrap; bool to bool is refused.
    """


@_update("sub", "'[10,20,30,40]' '[0,-1,0]' '[1,2,3]'")
def at_subtract() -> None:
    """Subtract from the cells or slices that an index tuple names; every occurrence counts.

    Shapes, modes and types as in at.set. Integers wrap; bool from bool is refused.
    """


@_update("mul", "'[10,20,30,40]' '[0,-1,0]' '[2,3,4]'")
def at_multiply() -> None:
    """Multiply the cells or slices that an index tuple names; every occurrence of a cell counts.

    Shapes, modes and types as in at.set. Integers wrap; bool by bool is refused.
    """


@_update("div", "'[10,20,30,40]' '[0,-1,0]' '[2,5,4]'")
def at_divide() -> None:
    """Divide the cells or slices that an index tuple names; every occurrence of a cell counts.

    Subscript, shapes and modes as in at.set. The values for one cell are multiplied, converted to
    x's type, and all of x is divided by that: whole numbers become float32, those of 64 bits
    float64. bool by bool is refused, and types of 2 bits, which JAX 0.10 divides as whole numbers.
    """


@_update("pow", "'[1.5,2.0,3.0]' '[0,2,0]' '[2,2,1]'")
def at_power() -> None:
    """Raise the cells or slices that an index tuple names; every occurrence of a cell counts.

    Subscript, shapes and modes as in at.set. The values for one cell are multiplied, converted to
    x's type, and are the exponent; in integer types JAX 0.10 takes its low 6 bits, so that -1 is
    63 (of an x without axes, outside jit, all of it, and refuses one below zero). Integers wrap;
    integers of 2 or 4 bits, and bool with bool, are refused.
    """


@_update("min", "'[10,20,30,40]' '[0,-1,0]' '[15,5,7]'")
def at_min() -> None:
    """Keep the smaller value in the cells or slices that an index tuple names.

    Shapes, modes and types as in at.set. NaN on either side stays (of complex
    numbers JAX 0.10 keeps the update then); those compare by real part, then by imaginary part;
    bool is AND.
    """


@_update("max", "'[10,20,30,40]' '[0,-1,0]' '[15,5,7]'")
def at_max() -> None:
    """Keep the larger value in the cells or slices that an index tuple names.

    Shapes, modes and types as in at.set. NaN on either side stays (of complex
    numbers JAX 0.10 keeps the update then); those compare by real part, then by imaginary part;
    bool is OR.
    """


def _epilogue_dtype(name: str, reduction: Reduction) -> str:
    """The type of x divided by, or raised to, what the values come to."""
    if reduction == "div" and name not in (*FLOATS, *COMPLEX, *NARROW_FLOATS):
        return "float64" if name in ("int64", "uint64") else "float32"
    return "int32" if reduction == "pow" and name == "bool" else name


def _address_subscript(
    x: Tensor, indices: tuple[Tensor, ...], subscript: str | None, beyond: OutOfBounds, *,
    wrap: bool, reads: bool,
) -> tuple[Addressing, Policy]:  # fmt: skip
    """Which cells are meant, and what becomes of other indices: `beyond`, but on an empty axis all
    are left out, for no border is there to move to.
    """
    check_dtype(x, NON_TEXT_DTYPES)
    addressing = run_subscript(x, subscript, indices, NOTATION)
    columns = addressing.columns
    sizes = {columns[a.column].source: a.size for a in addressing.axes if a.column is not None}
    for index in indices:
        if wrap and index.dtype in SIGNED and index.name in sizes:
            check_axis_size_fits(index, sizes[index.name])
    numbers_only = all(index.rank == 0 for index in indices)
    empty = 0 in sizes.values()
    has_cells = not (empty and (numbers_only or (reads and 0 not in addressing.result_shape)))
    where = ", ".join(map(str, indices))
    check_axis_filled(has_cells, x, where, "none: an axis of size 0 has no cells")
    cut = Truncation.AFTER_NEGATIVE
    if reads and beyond is OutOfBounds.CLIP and indices and numbers_only:
        cut = _scalar_truncation(x, indices, subscript)
    beyond = OutOfBounds.SKIP if empty else beyond
    return addressing, index_policy(x.shape, beyond, wraps=wrap, when=cut)


def _scalar_truncation(x: Tensor, indices: tuple[Tensor, ...], subscript: str | None) -> Truncation:
    """When numbers without axes are cut: JAX reads by them with a dynamic slice, not a gather.

    It has no slices with steps and no masks. Seen in JAX 0.10.2, with and without jit, at 2^31 + 5,
    ±2^32, 2^53 + 1 and the limits of int64; of a single axis all 64 bits count.
    """
    steps = (item.bounds[2] for item in parse_subscript(subscript or ""))
    is_gather = any(abs(step or 1) != 1 for step in steps)
    if is_gather or any(index.dtype == "bool" for index in indices):
        return Truncation.AFTER_NEGATIVE
    return Truncation.NEVER if x.rank == 1 else Truncation.BEFORE_NEGATIVE
