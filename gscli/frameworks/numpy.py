"""NumPy: a[…], take and put, the same along an axis, compress and the `at` methods of five ufuncs.

A negative index counts from the end once, except under mode "wrap" (which is a modulo anyway) and
under mode "clip" (where every negative index becomes 0).

Departures, nearly all towards a refusal: an index of type uint64 beyond 2^63 - 1 is out of range
(NumPy reads it as a negative number); take refuses every index on an axis of length 0 (where the
result is empty NumPy's clip answers, and its wrap never ends); a condition is never text; complex
values never go into real arrays (NumPy warns and drops the imaginary part), nor numbers into
strings or back (NumPy writes and parses them). Text has no width here: NumPy cuts what is wider
than the array's own type.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from gscli.base import DtypeRefused, check_rule
from gscli.base.words import COMPLEX, INTEGERS, NON_TEXT_DTYPES, format_shape
from gscli.declare import Mask, Subscript, VariadicInput
from gscli.declare.attributes import AxisOption, Option, TakeAxis
from gscli.frameworks.operator import Comparison, FamilyMember, Framework, compare_takes
from gscli.layout import Layout, NewOutput, gather_layout, scatter_layout
from gscli.layout.axes import (
    CLIP_OUTSIDE,
    FROM_END,
    RAISE_OUTSIDE,
    WRAP_OUTSIDE,
    Addressing,
    Axis,
    Fit,
    GeneratedIndices,
    MaskPositions,
    Reduction,
    Shape,
    Tensor,
    Updates,
)
from gscli.layout.families import (
    address_axis_or_flat,
    address_elements_or_flat,
    address_flat,
    normalize_axis,
)
from gscli.layout.refusals import broadcast_updates, check_dtype, check_index_dtype
from gscli.layout.subscripts import SubscriptRules, run_subscript

FRAMEWORK = Framework("numpy", "NumPy")

POLICIES = {"raise": FROM_END, "wrap": WRAP_OUTSIDE, "clip": CLIP_OUTSIDE}

NOTATION = SubscriptRules(has_separating_ellipsis=True)

OPEN_ORDER = "NumPy does not promise which of several values for one cell stays"

AlongAxis: TypeAlias = Annotated[
    int | None, AxisOption("axis of arr that the indices address, -r … r-1; none: arr is flat")
]
Mode: TypeAlias = Annotated[
    Literal["raise", "wrap", "clip"],
    Option("an index out of range is an error, taken modulo the size, or moved to the border"),
]


@FRAMEWORK.operator(
    "'[[10,20,30],[40,50,60]]' '[2,0,-1]' --axis 1",
    *compare_takes("NumPy take ({})", POLICIES),
    bare=True,
)
def take(a: Tensor, indices: Tensor, *, axis: TakeAxis = None, mode: Mode = "raise") -> NewOutput:
    """Take slices along one axis, or cells of the flattened array.

    output = a[:axis] ++ indices ++ a[axis+1:] (shapes); without an axis output has the shape of
    indices. Indices may have any rank and be bool (False is 0, True is 1). Under mode wrap an index
    i reads i mod s; under mode clip negative indices read 0. On an axis of length 0 every index is
    refused in every mode. An array of rank 0 is read as if its shape were [1]. An index of type
    uint64 is the number that it is (NumPy reads 2^63 and more as negative numbers).
    """
    check_index_dtype(indices, (*INTEGERS, "bool"))
    return gather_layout(a, _address_take(a, indices, axis), POLICIES[mode])


@FRAMEWORK.operator("'[false,true,true]' '[[10,20,30],[40,50,60]]' --axis 1")
def compress(condition: Mask, a: Tensor, *, axis: TakeAxis = None) -> NewOutput:
    """Take the slices along one axis, or the cells of the flattened array, where condition is true.

    condition has one axis and may be of numbers, which are true when they are not 0. Where it is
    shorter than the axis, what is beyond it is not taken; a longer one must be false there. An
    array of rank 0 is read as if its shape were [1].
    """
    check_dtype(condition, NON_TEXT_DTYPES)
    check_rule(condition.rank == 1, "condition must have one axis", condition, valid="rank 1")
    trues = Tensor(f"nonzero({condition.name})", condition.values or (0,), "int64")
    addressing = _address_take(a, trues, axis)
    positions = MaskPositions(condition.name, condition.shape, 0)
    made = GeneratedIndices(trues.name, positions, trues.shape)
    return gather_layout(a, addressing._replace(generated=(made,)), RAISE_OUTSIDE)


def _address_take(a: Tensor, indices: Tensor, axis: int | None) -> Addressing:
    """Slices along one axis or cells of the flattened array; a number is flat on any legal axis."""
    if axis is not None and a.rank == 0:
        normalize_axis(axis, 1, of=a.name)
        axis = None
    return address_axis_or_flat(a, indices, axis)


@FRAMEWORK.operator(
    "'[[10,20,30],[40,50,60]]' '[[2,0],[-1,-1]]' --axis 1",
    Comparison("gather-elements", "NumPy take_along_axis"),
)
def take_along_axis(arr: Tensor, indices: Tensor, *, axis: AlongAxis = -1) -> NewOutput:
    """Take single cells: the index replaces one coordinate of its own position.

    For axis 1: output[i,j] = arr[i, indices[i,j]]. Off the axis sizes must be equal or 1, and
    size 1 of either side stretches; an index that is merely smaller than arr is refused. Without an
    axis arr is read flat and indices have rank 1. An index of type uint64 is the number that it is
    (NumPy reads 2^63 and more as negative numbers).
    """
    check_index_dtype(indices, INTEGERS)
    return gather_layout(arr, address_elements_or_flat(arr, indices, axis), FROM_END)


@FRAMEWORK.operator("'[[10,20,30],[40,50,60]]' '[1,-1,0]' '[7,8]'")
def put(a: Tensor, ind: Tensor, v: Tensor, *, mode: Mode = "raise") -> Layout:
    """Write cells of the flattened array.

    v repeats when it is shorter than ind, its tail is ignored when it is longer, and it is cast
    without asking (1.75 becomes 1). An empty v changes nothing, and no index is checked. Indices
    may be bool; NumPy refuses uint64, which a command makes int64, with a warning. Nothing can be
    put into an empty array, whatever the mode. Strings take strings alone, and keep them whole
    (NumPy would also write numbers as text, read text as numbers, and cut what is wider than a).
    """
    check_index_dtype(ind, (*(name for name in INTEGERS if name != "uint64"), "bool"))
    _check_castable(a, v)
    addressing = address_flat(a, ind)
    if 0 in v.shape and 0 not in a.shape:
        addressing = Addressing((Axis(addressing.axes[0].size, entry=0),), (0,), (), (0,), ())
    updates = Updates(v.name, Fit.CYCLE)
    return scatter_layout(a, updates, addressing, POLICIES[mode], open_order=OPEN_ORDER)


@FRAMEWORK.operator(
    "'[[10,20,30],[40,50,60]]' '[[2,0],[-3,1]]' '[[7,8],[9,5]]' --axis 1",
    Comparison("scatter-elements", "NumPy put_along_axis"),
)
def put_along_axis(arr: Tensor, indices: Tensor, values: Tensor, *, axis: AlongAxis) -> Layout:
    """Write single cells: the index replaces one coordinate of its own position.

    For axis 1: arr[i, indices[i,j]] = values[i,j]. Indices of size 1 off the axis stretch over arr,
    larger ones over an axis of arr of size 1. values stretch to the shape that this gives, and are
    cast without asking; strings take strings alone, whole. Without an axis arr is addressed flat
    and indices have rank 1.
    """
    check_index_dtype(indices, INTEGERS)
    addressing = address_elements_or_flat(arr, indices, axis)
    _check_castable(arr, values)
    updates = _broadcast_values(values, addressing.entry_shape, "the shape of the index entries")
    return scatter_layout(arr, updates, addressing, FROM_END, open_order=OPEN_ORDER)


@FRAMEWORK.operator(
    "'[[10,20,30],[40,50,60]]' : '[2,0]' None",
    Comparison("gather-nd", "NumPy a[i, j]", vector_layout="tuple"),
)
def getitem(a: Tensor, indices: VariadicInput, *, subscript: Subscript = None) -> NewOutput:
    """Read the cells that a subscript names: a[i, 1:3, None, ...].

    Each word after a is an item of the subscript: an index array, a mask of bool, a number, a slice
    such as 1:9:2 or :, None for a new axis, ... for the axes that are left. Arrays broadcast
    together; their axes stand where the arrays stand, or first in the result where a slice, None
    or ... stands between two of them (a number is an array there). -s … -1 count from the end. An
    index of type uint64 is the number that it is (NumPy reads 2^63 and more as negative numbers).
    Slices, None and ... alone give a view in NumPy, with the same values.
    """
    return gather_layout(a, run_subscript(a, subscript, indices, NOTATION), FROM_END)


@FRAMEWORK.operator(
    "'[[10,20,30],[40,50,60]]' : '[2,0]' '[[7,8],[9,5]]'",
    Comparison("scatter-nd", "NumPy a[i, j] =", vector_layout="tuple"),
)
def setitem(
    a: Tensor, indices: VariadicInput, values: Tensor, *, subscript: Subscript = None
) -> Layout:
    """Write the cells that a subscript names: a[i, 1:3, None, ...] = values.

    The subscript is that of getitem; values broadcast to the shape of a[…] and are cast without
    asking (1.75 becomes 1). A mask of a's own shape that stands alone takes values of at most one
    axis. Strings take strings alone, whole.
    """
    addressing = run_subscript(a, subscript, indices, NOTATION)
    _check_castable(a, values)
    fits = values.rank <= 1 or subscript != ", ".join(["m" if a.rank else "b", *"+" * (a.rank - 1)])
    problem = "values for a mask of a's own shape have at most one axis"
    check_rule(fits, problem, values, a, valid="rank 0 or 1")
    updates = _broadcast_values(values, addressing.result_shape, "the shape of a[…]")
    return scatter_layout(a, updates, addressing, FROM_END, open_order=OPEN_ORDER)


def _ufunc_at(reduction: Reduction, example: str) -> FamilyMember:
    """A ufunc's `at`; they differ in their reduction and in what it means for some types."""

    def at(a: Tensor, indices: VariadicInput, b: Tensor, *, subscript: Subscript = None) -> Layout:
        where, hint = f"{a}, {b}", "convert one of them, to int8 for one"
        has_meaning = reduction != "sub" or not a.dtype == b.dtype == "bool"
        problem = "subtract has no meaning for bool"
        check_rule(has_meaning, problem, where, kind=DtypeRefused, hint=hint)
        texts = {a.dtype, b.dtype} == {"str"} and reduction == "add"
        for tensor in () if texts else (a, b):
            check_dtype(tensor, NON_TEXT_DTYPES)
        _check_castable(a, b)
        addressing = run_subscript(a, subscript, indices, NOTATION)
        shape = addressing.result_shape
        if b.rank > len(shape) and _begins_with_slice(a, subscript, indices, shape):
            b = _drop_surplus_axis(b, shape)
        updates = broadcast_updates(b, shape, "the shape of a[…]", cast=False)
        return scatter_layout(a, updates, addressing, FROM_END, reduction=reduction)

    compares = [Comparison("scatter-nd", "NumPy {name}", vector_layout="tuple")]
    return FRAMEWORK.family_member(at, example, *compares, reduction=reduction, dotted=True)


@_ufunc_at("add", "'[10,20,30]' '[0,-1,0]' '[1,2,3]'")
def add_at() -> None:
    """Add to the cells that an index tuple names; every occurrence of a cell counts.

    a[i, j, …] += b[…] for every cell of a[…], whose shape b broadcasts to; the subscript is that of
    getitem. Where it begins with a slice or None and a[…] has one axis, NumPy 2.4 takes a b of
    shape [1,n] too (one with still more axes crashes it). `a[i] += b` would count a cell once. Each
    step runs in the type that a and b promote to, and its result is cast to a's type (NumPy 2 does
    not refuse 1.5 into an integer). Integers wrap; bool with bool is OR; strings are joined whole,
    as in an array of objects.
    """


@_ufunc_at("sub", "'[10,20,30]' '[0,-1,0]' '[1,2,3]'")
def subtract_at() -> None:
    """Subtract from the cells that an index tuple names; every occurrence of a cell counts.

    Shapes and types as in add.at; NumPy has no subtraction of bool from bool.
    """


@_ufunc_at("mul", "'[10,20,30]' '[0,-1,0]' '[2,3,4]'")
def multiply_at() -> None:
    """Multiply the cells that an index tuple names; every occurrence of a cell counts.

    Shapes and types as in add.at; bool with bool is AND.
    """


@_ufunc_at("max", "'[10,20,30]' '[0,-1,0]' '[15,5,12]'")
def maximum_at() -> None:
    """Keep the larger value in the cells that an index tuple names.

    Shapes and types as in add.at. NaN on either side stays; complex numbers compare by real part,
    then by imaginary part; bool with bool is OR.
    """


@_ufunc_at("min", "'[10,20,30]' '[0,-1,0]' '[15,5,12]'")
def minimum_at() -> None:
    """Keep the smaller value in the cells that an index tuple names.

    Shapes and types as in add.at. NaN on either side stays; complex numbers compare by real part,
    then by imaginary part; bool with bool is AND.
    """


def _begins_with_slice(
    a: Tensor, subscript: str | None, indices: VariadicInput, shape: Shape
) -> bool:
    """Whether an axis of a slice or None stands before those of the index arrays in a[…]."""
    mark = (max(shape, default=0) + 1,)
    marked = [array._replace(shape=mark) for array in indices]
    return run_subscript(a, subscript, marked, NOTATION).result_shape[:1] not in ((), mark)


def _drop_surplus_axis(b: Tensor, shape: Shape) -> Tensor:
    """What `at` makes of a b with more axes than a[…] where a slice stands first.

    It writes the surplus sizes before its own shape of b: one of size 1 does no harm where a[…] has
    one axis, more end the process.
    """
    problem = "b has two axes or more than a[…] has, and a slice stands before the index arrays"
    where, legal = f"{b}, a[…] {format_shape(shape)}", f"rank 0 … {len(shape)}"
    reason, fits = "NumPy writes beyond its own memory here and crashes", b.rank <= len(shape) + 1
    check_rule(fits, problem, where, reason, name=b.name, wanted=shape, valid=legal)
    return b._replace(shape=b.shape[1:]) if len(shape) == b.shape[0] == 1 else b


def _broadcast_values(values: Tensor, shape: Shape, parts: str) -> Updates:
    """An assignment drops leading axes of size 1 and stretches what is left."""
    surplus = max(values.rank - len(shape), 0)
    dropped = values.shape[surplus:] if set(values.shape[:surplus]) <= {1} else values.shape
    return broadcast_updates(values._replace(shape=dropped), shape, parts)


def _check_castable(a: Tensor, values: Tensor) -> None:
    """NumPy casts values in silence; strings and lost imaginary parts are refused here."""
    loses_imaginary = values.dtype in COMPLEX and a.dtype not in (*COMPLEX, "bool")
    texts = {dtype if dtype == "str" else dtype[:1] == "S" for dtype in (a.dtype, values.dtype)}
    fits = (not loses_imaginary and len(texts) == 1) or 0 in values.shape
    where, problem = f"{a}, {values}", f"{values.name} cannot be cast to {a.name}'s element type"
    reason = "NumPy drops imaginary parts with a warning, and parses strings"
    legal = "strings for strings, real numbers for real numbers"
    check_rule(fits, problem, where, reason, kind=DtypeRefused, valid=legal)
