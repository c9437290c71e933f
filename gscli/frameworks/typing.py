"""Element types of untyped inputs: what an operator takes is asked from its layout.

JSON and CSV carry no types. Where the layout would refuse the type of an input, it names those that
it takes (`IndexTypeRefused`, `UpdatesTypeRefused`), and untyped numbers are brought to one of them
without loss.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np

from gscli.base import (
    DtypeRefused,
    GscliError,
    IndexTypeRefused,
    LossyTypeRefused,
    Notice,
    UpdatesTypeRefused,
    advise_cast,
)
from gscli.base.arrays import (
    Array,
    Arrays,
    cast_lossless,
    dtype_name,
    find_cast_change,
    is_lazy,
    parse_dtype,
)
from gscli.base.words import INTEGERS, format_place
from gscli.declare import Signature
from gscli.layout.axes import DtypeError
from gscli.plan import CallInputs, infer_layout


def cast_inputs(operator: Signature, inputs: CallInputs, dtype: str, *, strict: bool) -> None:
    """Bring data and updates to a type that somebody asks for."""
    target = parse_dtype(dtype)
    names = sorted(_names_to_convert(operator, inputs, target, strict=strict))
    inputs.arrays |= {name: _cast_losslessly(inputs, name, target) for name in names}
    inputs.is_typed |= dict.fromkeys(names, True)


def resolve_input_dtype(inputs: CallInputs, refusal: GscliError, *, strict: bool) -> None:
    """Bring one input to the type that the refusal names, or raise it."""
    match refusal:
        case IndexTypeRefused():
            _resolve_index_dtype(inputs, refusal, strict=strict)
        case UpdatesTypeRefused():
            _resolve_updates_dtype(inputs, refusal)
        case _:
            raise refusal


def explain_lossy_indices(refusal: IndexTypeRefused, arrays: Arrays) -> str:
    """Which number the refused indices would lose, or which input was meant; "" where none is lost.

    >>> refusal = IndexTypeRefused("", name="ids", allowed=("int64",), where="")
    >>> explain_lossy_indices(refusal, {"data": np.zeros(2), "ids": np.array([1.0, 0.5])})
    'ids[1] = 0.5 is not a whole number'
    """
    name, array = refusal.name, arrays[refusal.name]
    if is_lazy(array) or array.dtype.kind not in "fiu":
        return "write them as whole numbers" * (array.dtype.kind in "US")
    place = find_cast_change(array, parse_dtype(refusal.wanted))
    question = ask_if_swapped(refusal, arrays, is_lossy=place is not None)
    if place is None or question:
        return question
    is_whole = float(array[place]).is_integer()
    reason = f"does not fit {refusal.wanted}" if is_whole else "is not a whole number"
    return f"{format_place(name, place)} = {array[place]} {reason}"


def ask_if_swapped(refusal: IndexTypeRefused, arrays: Arrays, *, is_lossy: bool) -> str:
    """Whether another input was meant as indices, as a question; "" where none can be.

    `is_lossy`: the refused indices are not all numbers of the type that is wanted.
    """
    name, array = refusal.name, arrays[refusal.name]
    # An axis and the members of a subscript are integers, too.
    others = [other for other in arrays if not other.startswith((name, "axis", "indices_"))]
    largest = max((arrays[other].size for other in others), default=0)
    # A fraction is no index; whole numbers may be updates, and the others indices into data. A
    # table has fewer rows than cells, but an index may be out of range as well.
    rows = max([array.size, *chain(*(each.shape for each in arrays.values() if not is_lossy))])
    swapped = [other for other in others if name != "axis" and _has_rows(arrays[other], rows)]
    # Whole numbers that fit no other input were hardly meant as indices.
    if swapped and array.dtype.kind == "f" and (is_lossy or (array >= largest).any()):
        return f"are {swapped[0]} and {name} swapped? {swapped[0]} holds integers, {name} does not"
    return ""


def _has_rows(array: Array, rows: int) -> bool:
    """Whether an input could be indices of so many rows."""
    if is_lazy(array) or array.dtype.name not in INTEGERS or not array.size:
        return False
    return bool(-rows <= array.min() and array.max() < rows)


def _names_to_convert(
    operator: Signature, inputs: CallInputs, target: np.dtype[Any], *, strict: bool
) -> set[str]:
    """Data, updates, and indices that are whole numbers written as floats.

    Only a layout tells which inputs are indices, and it judges types first. So on trial everything
    is converted that can be; an operator that refuses indices of that type names them.
    """
    arrays, lossy = _try_casts(operator, inputs, target)
    trial = CallInputs(arrays, inputs.origins, inputs.is_typed, inputs.attrs)
    for _ in range(2):  # first they are asked of what was converted, then of what was given
        dtype_errors: list[DtypeError] = []
        with suppress(GscliError):  # other reasons to refuse the call are found where it is run
            infer_layout(operator, trial.arrays, trial.attrs, dtype_errors)
        for refusal in dtype_errors:
            name = refusal.name
            array = inputs.arrays[name]
            if isinstance(refusal, IndexTypeRefused) and trial.arrays[name] is not array:
                trial.arrays[name] = array
            elif isinstance(refusal, UpdatesTypeRefused) and {name, refusal.source} & lossy.keys():
                raise lossy.get(name) or lossy[refusal.source]  # why their types stay apart
            else:
                resolve_input_dtype(trial, refusal, strict=strict)
    try:
        layout = infer_layout(operator, trial.arrays, trial.attrs)
    except DtypeRefused as refusal:
        raise lossy.get(refusal.name, refusal) from None
    floats = {name for name, array in inputs.arrays.items() if array.dtype.kind == "f"}
    unfit = {name for name in layout.index_inputs if not _is_untyped_empty(inputs, name)} & floats
    return {name for name in layout.value_names if name in inputs.arrays} | unfit


def _try_casts(
    operator: Signature, inputs: CallInputs, target: np.dtype[Any]
) -> tuple[dict[str, Array], dict[str, LossyTypeRefused]]:
    """All tensors in the wanted type, data first, and why some of them cannot have it."""
    arrays, lossy = dict(inputs.arrays), dict[str, LossyTypeRefused]()
    tensors = [item.name for item in operator.inputs if item.kind == "tensor"]
    for name in (key for key in tensors if key in arrays):
        try:
            arrays[name] = _cast_losslessly(inputs, name, target)
        except LossyTypeRefused as refusal:
            lossy[name] = refusal
    return arrays, lossy


def _cast_losslessly(inputs: CallInputs, name: str, target: np.dtype[Any]) -> Array:
    array, origin = inputs.arrays[name], inputs.origins[name]
    where = name if origin == "inline" else origin
    try:
        return cast_lossless(array, target, where, is_typed=inputs.is_typed[name])
    except DtypeRefused as lossy:
        raise LossyTypeRefused(
            lossy.problem, name=name, wanted=dtype_name(target), where=lossy.where,
            details=lossy.detail_items,
        ) from None  # fmt: skip


def _resolve_index_dtype(inputs: CallInputs, refusal: IndexTypeRefused, *, strict: bool) -> None:
    name = refusal.name
    array, target = inputs.arrays[name], np.dtype(refusal.wanted)
    is_kept = (strict and inputs.is_typed[name]) or array.dtype.kind not in "iu"
    is_kept = is_kept and not _is_untyped_empty(inputs, name)
    widened = None
    if not is_kept:
        with suppress(DtypeRefused):
            widened = cast_lossless(array, target, name)
    if widened is None:
        refusal.hint = explain_lossy_indices(refusal, inputs.arrays) or refusal.hint
        raise refusal
    if inputs.is_typed[name]:
        problem = f"{name} is {array.dtype}, widened to {target}"
        where = f"the specification takes {' or '.join(refusal.allowed)} only"
        inputs.notices.append(Notice(problem, where=where))
    inputs.arrays[name] = widened


def _resolve_updates_dtype(inputs: CallInputs, refusal: UpdatesTypeRefused) -> None:
    updates, arrays = inputs.arrays[refusal.name], inputs.arrays
    typed, target = inputs.is_typed[refusal.name], parse_dtype(refusal.wanted)
    if not (typed and is_lazy(updates)):
        try:
            fitting = cast_lossless(updates, target, refusal.name, is_typed=False)
        except DtypeRefused as lossy:  # data has to change its type
            refusal.hint = advise_cast(refusal.source, dtype_name(updates.dtype))
            refusal.detail_items = lossy.detail_items
        else:
            if not typed:
                arrays[refusal.name] = fitting
                return
    if not _is_untyped_empty(inputs, refusal.source):
        raise refusal
    arrays[refusal.source] = arrays[refusal.source].astype(updates.dtype)


def _is_untyped_empty(inputs: CallInputs, name: str) -> bool:
    """Whether an input is a text or list without numbers, which takes the type of what it meets."""
    return not inputs.is_typed.get(name, True) and inputs.arrays[name].size == 0
