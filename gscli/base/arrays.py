"""NumPy arrays at the border: dtype names both ways, array-likes of callers, JSON scalars."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gscli.base import dtypes
from gscli.base.errors import ContentRefused, DtypeRefused, LimitRefused

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]
    Indices: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]
else:
    Array = Indices = Flags = np.ndarray

EXACT_IN_FLOAT64 = 2**53
"""Whole numbers up to this size survive readers that keep every number as a float64."""

_PLAIN = frozenset(np.dtype(name) for name in ("bool", *dtypes.NUMBERS) if name != "bfloat16")
"""Types in the machine's own byte order that need no look at their values."""


@lru_cache(maxsize=256)
def dtype_name(dtype: np.dtype[Any]) -> str:
    """The name that layouts use: NumPy's, ml_dtypes', or "str" for text of any length.

    >>> dtype_name(np.dtype("<f4")), dtype_name(np.dtype("<U7"))
    ('float32', 'str')
    """
    return "str" if dtype.kind == "U" else dtype.name


def dtype_named(name: str) -> np.dtype[Any]:
    """The NumPy dtype of a name that layouts use; DtypeRefused for any other.

    bfloat16 and the small floats and integers come from ml_dtypes.

    >>> dtype_named("bfloat16").itemsize
    2
    """
    if name not in dtypes.EVERY:
        raise DtypeRefused(f"unknown dtype {name!r}"[:200], valid=" ".join(dtypes.EVERY))
    if name == "bfloat16" or name in dtypes.SMALL_FLOATS or name in dtypes.SMALL_INTEGERS:
        import ml_dtypes  # 30 ms that most runs do not need

        small: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return small
    return np.dtype(name)


def as_array(value: object, name: str) -> Array:
    """`value` as an array of one of the known element types, without a copy where possible.

    Lists must be rectangular and of one kind. Text comes back as NumPy's "U" type; other objects
    are refused. Raises ContentRefused and DtypeRefused.

    >>> as_array([[1, 2]], "data").shape, as_array(np.array(["a"], object), "data").dtype.kind
    ((1, 2), 'U')
    """
    if type(value) is np.ndarray and value.dtype in _PLAIN:
        return value
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ContentRefused(
            f"{name} is a masked array with values left out",
            where=f"{name}: {value.size - int(value.count())} of {value.size} are masked",
            hint=f"{name}.filled(VALUE) says what stands there",
        )
    if isinstance(value, np.ndarray):
        array: Array = value if is_left(value) else np.asarray(value)
    else:
        array = _from_sequence(value, name)
    if array.dtype.kind in "OT" and all(isinstance(item, str) for item in array.reshape(-1)):
        array = array.astype(object).astype(np.str_)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    if dtype_name(array.dtype) not in dtypes.EVERY:
        raise DtypeRefused(
            f"{name} has an element type that no operator takes",
            where=f"{name} is {array.dtype}"[:200],
            valid=" ".join(dtypes.ALL),
        )
    return array


def _from_tensor(tensor: Any) -> Array:
    """A PyTorch tensor of any kind by its own protocol: on a device, with a gradient, bfloat16.

    What NumPy does not have goes by float32, which holds every value of these types.
    """
    plain_tensor = tensor.detach().cpu()
    name = str(plain_tensor.dtype).removeprefix("torch.")
    if name == "bfloat16" or name in dtypes.SMALL_FLOATS:
        return np.asarray(plain_tensor.float().numpy().astype(dtype_named(name)))
    return np.asarray(plain_tensor.resolve_conj().resolve_neg().numpy())


CHUNKED_LIMIT = 1 << 30
"""Bytes of an array of chunks (zarr's, Dask's) that are brought into memory."""


def check_chunked(size: int, name: str, limit: int = CHUNKED_LIMIT) -> None:
    """Refuse an array that lies in chunks elsewhere and would not fit, before it is read."""
    if size > limit:
        raise LimitRefused(
            f"{name} lies in chunks and is too large to be held",
            where=f"{name}: {size:,} bytes",
            valid=f"at most {limit:,} bytes",
            hint="gscli.run(…, out='out.zarr') and gscli OPERATOR in.zarr … -o out.zarr stream",
        )


class LeftElsewhere(np.ndarray[Any, np.dtype[Any]]):
    """An array that only stands for data left in chunks: their shape and type, and no values."""


def is_left(array: Array) -> bool:
    """Whether an array stands for data left in chunks; told without importing what reads those."""
    return isinstance(array, LeftElsewhere)


def _from_sequence(value: object, name: str) -> Array:
    if hasattr(value, "chunks"):
        check_chunked(getattr(value, "nbytes", 0), name)
    try:
        array = _from_tensor(value) if hasattr(value, "detach") else np.asarray(value)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  whatever somebody's __array__ raises
        raise ContentRefused(
            f"{name} is not a rectangular array",
            where=name,
            details=(str(error)[:200],),
            hint="all lists of one level need the same length",
        ) from None
    if array.dtype.kind == "U" and isinstance(value, (list, tuple)):
        for leaf in _leaves(value):
            if not isinstance(leaf, str):
                raise ContentRefused(
                    f"{name} mixes strings with numbers",
                    where=f"{name}: {leaf!r}"[:200],
                    valid="all strings, or none",
                )
    return array


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def plain(value: object) -> Any:
    """JSON's way to write one value: nan and inf as words, complex as pairs, big integers as text.

    >>> plain(float("nan")), plain(np.float32(0.5)), plain(2**60), plain(1 + 2j), plain((1, 2))
    ('nan', 0.5, '1152921504606846976', [1.0, 2.0], [1, 2])
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, int) and abs(value) > EXACT_IN_FLOAT64:
        return str(value)
    return list(value) if isinstance(value, tuple) else value
