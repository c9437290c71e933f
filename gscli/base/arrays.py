"""Arrays and their element types: names both ways, array-likes of callers, exact conversion.

NumPy's numbers, bool, text (U) and bytes (S), plus bfloat16 and the small floats and integers of
ml_dtypes. Everything else (objects, dates, records, long double) is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from gscli.base import (
    ContentRefused,
    DtypeRefused,
    GscliError,
    LimitRefused,
    UsageError,
    check_rule,
)
from gscli.base.words import (
    ALL_DTYPES,
    DTYPES,
    NARROW_FLOATS,
    NARROW_INTEGERS,
    NUMBERS,
    dtype_max,
    dtype_min,
    sanitize,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]
    Arrays: TypeAlias = Mapping[str, Array]
    Indices: TypeAlias = NDArray[np.int64]
    BoolArray: TypeAlias = NDArray[np.bool_]
    LiveIndices: TypeAlias = tuple[Indices, BoolArray | None]
    DType: TypeAlias = np.dtype[Any]
else:
    Array = Indices = BoolArray = np.ndarray
    Arrays = Mapping
    LiveIndices = tuple
    DType = np.dtype

# Whole numbers up to this size survive readers that keep every number as a float64.
EXACT_IN_FLOAT64 = 2**53

# Types of ml_dtypes; a file may hold them as opaque bytes (|V2, |V1).
SMALL_NAMES = ("bfloat16", *NARROW_FLOATS, *NARROW_INTEGERS)

NUMPY_NAMES = tuple(name for name in DTYPES if name != "bfloat16")

# Types in the machine's own byte order that need no look at their values.
_PLAIN = frozenset(np.dtype(name) for name in ("bool", *NUMBERS) if name != "bfloat16")

_CODES = {np.dtype(name).str[1:]: name for name in NUMPY_NAMES if name != "str"} | {"?": "bool"}
_LAST_CODE_POINT = 0x10FFFF

# Elements converted at a time, so that the copies of a check stay small.
CAST_BLOCK = 1 << 18


@lru_cache(maxsize=256)
def dtype_name(dtype: DType) -> str:
    """The name that layouts and documents use: NumPy's, ml_dtypes', "str", or "S5" for bytes.

    >>> dtype_name(np.dtype(">f4")), dtype_name(np.dtype("U7")), dtype_name(np.dtype("S7"))
    ('float32', 'str', 'S7')
    """
    return {"U": "str", "S": f"S{dtype.itemsize}"}.get(dtype.kind) or dtype.name


@lru_cache(maxsize=256)
def parse_dtype(name: str) -> DType:
    """The element type that a layout, a person or a document names: "float32", "f4", "<i8", "str".

    Always in the machine's byte order. bfloat16 and the small floats and integers come from
    ml_dtypes. Raises UsageError for everything else.

    >>> parse_dtype("f4"), parse_dtype("bfloat16").itemsize
    (dtype('float32'), 2)
    """
    if name in SMALL_NAMES:
        import ml_dtypes  # 30 ms that most runs do not need

        small: DType = np.dtype(getattr(ml_dtypes, name))
        return small
    if name in DTYPES:
        return np.dtype(name)
    code = name[1:] if name[:1] in {"<", ">", "=", "|"} else name
    if code in _CODES:
        return np.dtype(_CODES[code])
    text = re.fullmatch(r"[<>=|]?([US])([1-9]\d{0,7})", name)
    if text:
        return np.dtype(f"{text[1]}{text[2]}")
    problem, valid = f"unknown element type {sanitize(name, 60)}", (*NUMPY_NAMES, *SMALL_NAMES)
    raise UsageError(problem, valid=", ".join(valid))


def is_across_text(old: DType, new: DType) -> bool:
    """Whether text would become numbers or the other way round, which no conversion does."""
    return (old.kind in "US") != (new.kind in "US")


def is_narrow_dtype(dtype: DType) -> bool:
    """Whether this is one of ml_dtypes' types."""
    return dtype_name(dtype) in SMALL_NAMES


def is_float_dtype(dtype: DType) -> bool:
    """Whether the values are real floating-point numbers, small ones included."""
    return dtype.kind == "f" or (is_narrow_dtype(dtype) and "float" in dtype.name)


def is_integer_dtype(dtype: DType) -> bool:
    """Whether the values are integers, small ones included (bool is not)."""
    return dtype.kind in "iu" or (is_narrow_dtype(dtype) and "int" in dtype.name)


@lru_cache(maxsize=64)
def integer_limits(dtype: DType) -> tuple[int, int]:
    """The smallest and the largest integer of a type for which `is_integer_dtype` holds."""
    return int(dtype_min(dtype.name)), int(dtype_max(dtype.name))


def check_dtype_supported(dtype: DType, where: str) -> DType:
    """`dtype` itself if gscli takes it, else DtypeRefused; `where` names the file or member."""
    is_known = dtype.itemsize > 0 if dtype.kind in "US" else dtype.name in ALL_DTYPES
    if is_known:
        return dtype
    problem = f"element type {sanitize(dtype.name, 60)} is not supported"
    legal = "bool, integers, floats to 64 bits, complex to 128 bits, text"
    hint = make_dtype_hint(dtype, "in Python, array")
    raise DtypeRefused(problem, where=where, valid=legal, hint=hint)


def to_native(array: Array) -> Array:
    """The same values in the machine's byte order and C order; no copy where both hold."""
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).reshape(array.shape)


def allocate_aligned(count: int, boundary: int) -> Array:
    """New memory of some bytes, as uint8, that begins at a multiple of `boundary`.

    >>> allocate_aligned(10, 4096).ctypes.data % 4096, allocate_aligned(10, 4096).size
    (0, 10)
    """
    raw = np.empty(count + boundary, np.uint8)
    first = -raw.ctypes.data % boundary
    return raw[first : first + count]


def is_private(array: Array) -> bool:
    """Whether the values lie in memory of NumPy's own, to which no other process writes.

    >>> is_private(np.arange(4)[1:]), is_private(np.frombuffer(bytes(8)))
    (True, False)
    """
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.base is None


def check_value_bits(array: Array, where: str) -> None:
    """Refuse bytes that are no value of their type: a bool of 2, a character past U+10FFFF.

    The array is in native byte order.
    """
    if array.dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ContentRefused("a bool is neither 0 nor 1", where=where)
    if array.dtype.kind == "U" and array.size:
        points = array.reshape(-1).view(np.uint32)
        if points.max() > _LAST_CODE_POINT:
            raise ContentRefused("a character is beyond U+10FFFF", where=where)


def cast_lossless(array: Array, dtype: DType, where: str, *, is_typed: bool = True) -> Array:
    """Convert where every value stays the same (NaN stays NaN), else DtypeRefused.

    `is_typed`: False where the numbers are those of a text without element types, as JSON is: their
    fractions become the nearest ones, as in all that is read. Whole numbers stay the same there,
    too, and finite ones stay finite.

    >>> cast_lossless(np.array([1.0, 2.0]), np.dtype("int64"), "x.npy")
    array([1, 2])
    """
    if array.dtype == dtype or array.dtype.kind == dtype.kind == "U":
        return array
    if is_across_text(array.dtype, dtype):
        raise _cast_error(array.dtype, dtype, where)
    array = array.source.read_all() if is_lazy(array) else array
    has_fractions = is_float_dtype(dtype) or dtype.kind == "c"
    is_rounded = not is_typed and is_float_dtype(array.dtype) and has_fractions
    result = np.empty(array.size, f"U{array.dtype.itemsize}" if dtype.kind == "U" else dtype)
    for start, cast, same in _iter_cast_blocks(array, dtype, is_rounded=is_rounded):
        if not same.all():
            value = to_native(array).reshape(-1)[start + int(np.argmin(same))]
            changed, hint = f"{value!s} would change", "convert --dtype TYPE --cast lets it"
            raise _cast_error(array.dtype, dtype, where, changed, hint=hint)
        result[start : start + CAST_BLOCK] = cast
    return result.reshape(array.shape)


def find_cast_change(array: Array, dtype: DType) -> tuple[int, ...] | None:
    """Where the first number stands that a conversion would change; None where all stay.

    >>> find_cast_change(np.array([[1.0], [2.5]]), np.dtype("int64"))
    (1, 0)
    """
    for start, _, same in _iter_cast_blocks(array, dtype):
        if not same.all():
            return unravel_place(start + int(np.argmin(same)), array.shape)
    return None


def _iter_cast_blocks(
    array: Array, dtype: DType, *, is_rounded: bool = False
) -> Iterator[tuple[int, Array, BoolArray]]:
    """Blocks of a flat array in another type: where each begins, and which values stayed.

    `is_rounded`: the nearest number counts as the same.
    """
    flat = to_native(array).reshape(-1)
    for start in range(0, flat.size, CAST_BLOCK):
        block = flat[start : start + CAST_BLOCK]
        cast = cast_lossy(block, dtype)
        same = _find_unchanged(block, cast)
        yield start, cast, same | (np.isfinite(block) & np.isfinite(cast)) if is_rounded else same


def _cast_error(old: DType, new: DType, where: str, *details: str, hint: str = "") -> DtypeRefused:
    problem = f"{dtype_name(old)} cannot become {dtype_name(new)} without changing values"
    return DtypeRefused(problem, where=where, details=details, hint=hint)


def _find_unchanged(array: Array, cast: Array) -> Array:
    """Where a conversion kept the value. The way back is taken only where it is defined."""
    with np.errstate(all="ignore"):
        same = (cast_lossy(cast, array.dtype) == array) | ((array != array) & (cast != cast))  # noqa: PLR0124 -- NaN
        if is_integer_dtype(array.dtype) and is_integer_dtype(cast.dtype):
            return np.asarray(same & ((cast < 0) == (array < 0)))
        for whole, other in ((array, cast), (cast, array)):
            if is_integer_dtype(whole.dtype) and not is_integer_dtype(other.dtype):
                low, high = integer_limits(whole.dtype)
                wide = cast_lossy(other, np.dtype("float64"))
                same = same & (wide >= float(low)) & (wide < float(high + 1))
        return np.asarray(same)


def cast_lossy(array: Array, dtype: DType) -> Array:
    """NumPy's conversion, without warnings: it cuts fractions, wraps integers, drops imaginary
    parts; bytes are characters of Latin-1, and others become "?" there.
    """
    if array.dtype.kind == "U" and dtype.kind == "S":
        array = np.char.encode(array, "latin-1", "replace")
    with np.errstate(all="ignore"):
        real = array.real if array.dtype.kind == "c" and dtype.kind != "c" else array
        real = real if dtype.kind == "S" else decode_bytes(real)
        if is_narrow_dtype(array.dtype) and is_narrow_dtype(dtype):
            # ml_dtypes does not know every pair; float64 holds all of their values.
            real = real.astype(np.float64)
        return np.asarray(real.astype(dtype))


# --- array-likes of callers ----------------------------------------------------------------------


def as_array(value: object, name: str) -> Array:
    """`value` as an array of one of the known element types, without a copy where possible.

    Lists must be rectangular and of one kind. Text comes back as NumPy's "U" type; bytes stay what
    they are, for files; other objects are refused. Raises ContentRefused and DtypeRefused.

    >>> as_array([[1, 2]], "data").shape, as_array(np.array(["a"], object), "data").dtype.kind
    ((1, 2), 'U')
    """
    if type(value) is np.ndarray and value.dtype in _PLAIN:
        return value
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        problem = f"{name} is a masked array with values left out"
        where = f"{name}: {value.size - int(value.count())} of {value.size} are masked"
        hint = f"{name}.filled(VALUE) says what stands there"
        raise ContentRefused(problem, where=where, hint=hint)
    if isinstance(value, np.ndarray):
        array: Array = value if is_lazy(value) else np.asarray(value)
    else:
        array = _from_sequence(value, name)
    if array.dtype.kind in "OT":
        array = _read_objects(array, value, name)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind != "S" and dtype_name(array.dtype) not in ALL_DTYPES:
        raise _foreign_dtype_error(name, f"is {array.dtype}", make_dtype_hint(array.dtype, name))
    return array


def make_dtype_hint(dtype: DType, name: str) -> str:
    """How dates and durations become the numbers that they are stored as, records fields, and
    objects numbers or text.
    """
    times = ".view('int64') has the numbers that times are stored as"
    field = dtype.names and f"[{dtype.names[0]!r}] is one of its fields"
    ways = {"V": field, "m": times, "M": times, "O": ".astype(int) has numbers, .astype(str) text"}
    return f"{name}{ways[dtype.kind]}" if ways.get(dtype.kind) else ""


def _from_tensor(tensor: Any) -> Array:
    """A PyTorch tensor of any kind by its own protocol: on a device, with a gradient, bfloat16.

    What NumPy does not have goes by float32, which holds every value of these types.
    """
    plain_tensor = tensor.detach().cpu()
    name = str(plain_tensor.dtype).removeprefix("torch.")
    if name == "bfloat16" or name in NARROW_FLOATS:
        return np.asarray(plain_tensor.float().numpy().astype(parse_dtype(name)))
    return np.asarray(plain_tensor.resolve_conj().resolve_neg().numpy())


# Bytes of an array of chunks (zarr's, Dask's) that are brought into memory.
MAX_CHUNKED_BYTES = 1 << 30


def check_chunked_size(size: int, name: str, limit: int = MAX_CHUNKED_BYTES) -> None:
    """Refuse an array that lies in chunks elsewhere and would not fit, before it is read."""
    problem = f"{name} lies in chunks and is too large to be held"
    where, legal = f"{name}: {size:,} bytes", f"at most {limit:,} bytes"
    hint = "gscli.run(…, out='out.zarr') and gscli OPERATOR in.zarr … -o out.zarr stream"
    # Of chunks of unknown size it is NaN, which is not refused.
    check_rule(not size > limit, problem, where, kind=LimitRefused, valid=legal, hint=hint)


class LazyArray(np.ndarray[Any, np.dtype[Any]]):
    """An array that only stands for data left in chunks: their shape and type, and no values.

    `source`, a `ChunkedArray`, has the data. A plan needs no more of data than the shape and type;
    only the stream takes such an array, and asks its source for the chunks.
    """

    source: Any = None

    @classmethod
    def of(cls, source: Any) -> LazyArray:
        """A view of one zero with the shape of an array that lies elsewhere."""
        array = np.broadcast_to(np.zeros((), source.dtype), source.shape).view(cls)
        array.source = source
        return array

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it stands for."""
        return LazyArray.of, (self.source,)


def is_lazy(array: Array | None) -> TypeGuard[LazyArray]:
    """Whether an array stands for data left in chunks; told without importing what reads those."""
    return isinstance(array, LazyArray)


def _read_objects(array: Array, value: object, name: str) -> Array:
    """Text out of an array of objects; what holds anything else is refused by name."""
    items = array.reshape(-1)
    with suppress(UnicodeDecodeError):
        if array.ndim and all(isinstance(item, bytes) for item in items):  # TensorFlow's strings
            return np.array([item.decode() for item in items], np.str_).reshape(array.shape)
    if all(isinstance(item, str) for item in items):
        return array.astype(object).astype(np.str_)
    typed = hasattr(value, "dtype") or isinstance(value, (list, tuple))
    if not typed or _find_kind(value) is not None:
        raise _unreadable_error(value, name)
    odd = [item for item in items if not isinstance(item, (str, complex, float, int))]
    odd += [item for item in items if isinstance(item, int) and abs(item) >= 1 << 63] or [items[0]]
    raise _foreign_dtype_error(name, f"holds {odd[0]!r}, of type {type(odd[0]).__name__}")


def _foreign_dtype_error(name: str, content: str, hint: str = "") -> DtypeRefused:
    problem, where = f"{name} has an element type that no operator takes", f"{name} {content}"[:200]
    return DtypeRefused(problem, where=where, valid=" ".join(DTYPES), hint=hint)


# A pattern of the classes, flags and type of what is no array of values; what it is; a way on.
_UNREADABLE_KINDS = (
    (r"Tracer|Proxy|data pointer", "is being traced and has no values",
     "call it outside jit, grad, vmap"),
    (r"is_meta|FakeTensor|ShapeDtypeStruct|TensorSpec|KerasTensor|Symbolic",
     "has a shape and no values", "give an array that holds values"),
    (r"is_quantized", "is quantized", "{name}.dequantize(), or {name}.int_repr() as it is stored"),
    (r"is_nested|Ragged", "has rows of different lengths", "pad them to one length"),
    (r"is_sparse|Sparse|BCOO|BCSR|spmatrix|sparray", "is sparse", "give a dense array"),
    (r"key<", "holds random keys", "jax.random.key_data({name}) has their numbers"),
)  # fmt: skip

_FLAGS = ("is_meta", "is_quantized", "is_nested", "is_sparse", "is_sparse_csr")


def _find_kind(value: object, reason: str = "") -> tuple[str, str] | None:
    """What an object is that cannot be an array, and a way on; None of one that is not known."""
    names = [kind.__qualname__ for kind in type(value).__mro__]
    with suppress(Exception):  # whatever somebody's attributes do
        names += [flag for flag in _FLAGS if getattr(value, flag, False) is True]
        names.append(str(getattr(value, "dtype", "")))
    text = f"{' '.join(names)} {reason}"
    kinds = ((what, hint) for pattern, what, hint in _UNREADABLE_KINDS if re.search(pattern, text))
    return next(kinds, None)


def _unreadable_error(value: object, name: str, reason: str = "") -> ContentRefused:
    """The refusal of an object that is no array, by what it is."""
    kind = type(value)
    title = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    where = f"{name} is {'an' if title[0] in 'aeio' else 'a'} {title}"
    what, hint = "is no array of values", ""
    if isinstance(value, (list, tuple)):
        what, hint = "is not a rectangular array", "all lists of one level need the same length"
        if reason and "inhomogeneous" not in reason:  # it is what one of its tensors says
            what, hint = "is no array of values", "torch.stack({name}) makes one tensor of several"
    if hasattr(value, "__fspath__"):
        hint = "gscli.load({name}) reads a file"
    what, hint = _find_kind(value, reason) or (what, hint)
    details, hint = (reason,) if reason else (), hint.format(name=name)
    return ContentRefused(f"{name} {what}", where=where, details=details, hint=hint)


def _check_nothing_missing(value: Any, name: str) -> None:
    """Refuse NA of pandas: NumPy has no such integer, and rounds the others to floats."""
    dtypes = value.dtypes if hasattr(value, "dtypes") else value.dtype
    kinds = {str(kind) for kind in np.atleast_1d(np.asarray(dtypes, object))}
    missing = int(np.asarray(value.isna()).sum())
    fits = not missing or all(kind.startswith("float") for kind in kinds)
    where = f"{name}: {missing} NA, of type {', '.join(sorted(kinds))}"[:200]
    problem = f"{name} has values that are missing"
    hint = f"{name}.fillna(VALUE) says what stands there"
    check_rule(fits, problem, where, kind=ContentRefused, hint=hint)


def _from_sequence(value: object, name: str) -> Array:
    try:
        if hasattr(value, "chunks"):
            check_chunked_size(getattr(value, "nbytes", 0), name)
        if hasattr(value, "isna"):
            _check_nothing_missing(value, name)
        array = _from_tensor(value) if hasattr(value, "detach") else np.asarray(value)
    except (MemoryError, GscliError):
        raise
    except Exception as error:  # noqa: BLE001  whatever somebody's __array__ raises
        raise _unreadable_error(value, name, str(error)[:200]) from None
    array = _keep_whole_numbers(array, value, name)
    if array.dtype.kind == "U" and isinstance(value, (list, tuple)):
        for leaf in np.asarray(value, object).flat:
            if not isinstance(leaf, str):
                problem, where = f"{name} mixes strings with numbers", f"{name}: {leaf!r}"[:200]
                raise ContentRefused(problem, where=where, valid="all strings, or none")
    return array


def _keep_whole_numbers(array: Array, value: object, name: str) -> Array:
    """Whole numbers alone in a list, of which NumPy makes float64 where one is past int64."""
    if array.dtype == np.float64 and (np.abs(array) >= float(1 << 63)).any():
        items = np.asarray(value, object).reshape(-1)
        if all(isinstance(item, (int, np.integer)) for item in items):
            problem = f"{name} has numbers below zero and past int64, which no type holds"
            where = f"{name}: {min(items)} … {max(items)}"
            check_rule(min(items) >= 0, problem, where, kind=ContentRefused)
            return np.asarray(value, np.uint64)
    return array


def unravel_place(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Where the cell of a flat number stands.

    >>> unravel_place(5, (2, 3))
    (1, 2)
    """
    return tuple(map(int, np.unravel_index(number, shape)))


def unequal_cells(left: Array, right: Array) -> BoolArray:
    """Which cells of two arrays of one shape differ, as bool; NaN equals NaN, no text a number.

    >>> unequal_cells(np.array([1.0, np.nan, 2.0]), np.array([1.0, np.nan, 3.0])).tolist()
    [False, False, True]
    """
    are_texts = {array.dtype.kind in "UTSO" for array in (left, right)}
    if len(are_texts) > 1:
        return np.ones(left.shape, np.bool_)
    if True in are_texts:
        texts = (decode_bytes(array).astype(np.str_) for array in (left, right))
        return np.asarray(np.not_equal(*texts))
    unequal = np.asarray(left != right)
    if left.dtype.kind in "biu" or right.dtype.kind in "biu":
        return unequal
    both_nan = np.asarray(left != left) & np.asarray(right != right)  # noqa: PLR0124  NaN alone differs from itself
    return np.asarray(unequal & ~both_nan)


def decode_bytes(array: Array) -> Array:
    r"""Texts in place of bytes, a character for each, as documents have them; others as they are.

    >>> decode_bytes(np.array([b"a", b"\xe9"])).tolist()
    ['a', 'é']
    """
    return np.char.decode(array, "latin-1") if array.dtype.kind == "S" else array


def to_json(value: object) -> Any:
    """JSON's way to write one value: nan and inf as words, complex as pairs, big integers as text.

    >>> (
    ...     to_json(float("nan")),
    ...     to_json(np.float32(0.5)),
    ...     to_json(2**60),
    ...     to_json(1 + 2j),
    ...     to_json((1, 2)),
    ... )
    ('nan', 0.5, '1152921504606846976', [1.0, 2.0], [1, 2])
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, complex):
        return [to_json(value.real), to_json(value.imag)]
    if isinstance(value, int) and abs(value) > EXACT_IN_FLOAT64:
        return str(value)
    return list(value) if isinstance(value, tuple) else value
