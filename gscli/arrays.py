"""NumPy arrays at the border: dtype names in both directions, and array-likes from Python callers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gscli import dtypes
from gscli.errors import ContentRefused, DtypeRefused

_STRINGS = "UT"


def dtype_name(dtype: np.dtype[Any]) -> str:
    """The name that layouts use: NumPy's, ml_dtypes', or "str" for every kind of string.

    >>> dtype_name(np.dtype("<f4")), dtype_name(np.dtype("<U7"))
    ('float32', 'str')
    """
    return "str" if dtype.kind in _STRINGS else dtype.name


def dtype_named(name: str) -> np.dtype[Any]:
    """The NumPy dtype of a name; bfloat16 and the small floats come from ml_dtypes.

    >>> dtype_named("bfloat16").itemsize
    2
    """
    if name not in dtypes.EVERY:
        raise DtypeRefused(f"unknown dtype {name!r}"[:200], valid=" ".join(dtypes.EVERY))
    if name == "bfloat16" or name in dtypes.SMALL_FLOATS or name in dtypes.SMALL_INTEGERS:
        import ml_dtypes  # noqa: PLC0415  30 ms that most runs do not need

        small: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return small
    return np.dtype(name)


def as_array(value: object, name: str) -> NDArray[Any]:
    """`value` as an array of one of the known element types, without a copy where possible.

    Lists must be rectangular and of one kind; objects are refused unless all are strings.
    """
    if isinstance(value, np.ndarray):
        array: NDArray[Any] = value
    else:
        array = _from_sequence(value, name)
    if array.dtype.kind == "O" and all(isinstance(item, str) for item in array.flat):
        array = array.astype(np.str_)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    if dtype_name(array.dtype) not in dtypes.EVERY:
        raise DtypeRefused(
            f"{name} has an element type that no operator takes",
            where=f"{name} is {array.dtype}"[:200],
            valid=" ".join(dtypes.ALL),
        )
    return array


def _from_sequence(value: object, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise ContentRefused(f"{name} is not a rectangular array", where=str(error)[:200]) from None
    if array.dtype.kind in "US" and not all(isinstance(leaf, str) for leaf in _leaves(value)):
        raise ContentRefused(f"{name} mixes strings with numbers")
    return array


def _leaves(value: object) -> list[object]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]
