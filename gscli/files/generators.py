"""Arrays from a few characters, for demonstrations and tests: `arange:3x4`, `rand:3x4:seed=1`."""

from __future__ import annotations

import math
import re

import numpy as np

from gscli.base import UsageError
from gscli.base.arrays import Array, DType, cast_lossless, is_float_dtype, parse_dtype
from gscli.base.records import Record
from gscli.base.words import sanitize
from gscli.files.content import check_limit
from gscli.files.formats.jsonarray import array_of_json
from gscli.files.formats.jsontext import parse_json
from gscli.files.formats.npy import BYTES_LIMIT, RANK_LIMIT
from gscli.files.request import ReadOptions

FORMS = (
    *("arange:3x4[:DTYPE]", "zeros:3x4[:DTYPE]", "ones:3x4[:DTYPE]", "full:3x4:VALUE[:DTYPE]"),
    "rand:3x4[:seed=N][:below=N][:DTYPE]",
)

_SHAPE = re.compile(r"\d{1,19}(?:x\d{1,19})*", re.ASCII)
_SETTING = re.compile(r"(seed|below)=(\d{1,18})", re.ASCII)


class _GeneratorSpec(Record):
    """The parts of a generator's text."""

    kind: str
    shape: tuple[int, ...]
    value: str
    dtype: DType | None
    settings: dict[str, int]


def generate(text: str, wish: ReadOptions, limit: int) -> tuple[Array, bool]:
    """The array a text describes, and whether it named a type. UsageError, LimitRefused.

    `rand` gives floats in [0, 1), or with `below` whole numbers; without a seed the seed is 0, so
    the same text always means the same array.

    >>> generate("arange:2x3", ReadOptions(), 1000)[0].tolist()
    [[0, 1, 2], [3, 4, 5]]
    >>> generate("full:2:nan:float32", ReadOptions(), 1000)
    (array([nan, nan], dtype=float32), True)
    """
    recipe = _parse_spec(text)
    typed = recipe.dtype is not None
    dtype = recipe.dtype if typed else wish.untyped_dtype
    value = _parse_value(recipe, dtype, text, limit) if recipe.value else None
    if dtype is None:
        dtype = _default_dtype(recipe) if value is None else value.dtype
    count = math.prod(recipe.shape)
    check_limit(count * max(dtype.itemsize, 8), limit, text, "the array")
    if math.prod(size or 1 for size in recipe.shape) >= BYTES_LIMIT // 16:
        raise _spec_error(text, "no array can have this shape, even without its zeros")
    if dtype.kind in "US":
        raise _spec_error(text, f"{dtype.name} has no numbers")
    return _wrap_labels(recipe, dtype, value, text).reshape(recipe.shape), typed


def _parse_spec(text: str) -> _GeneratorSpec:
    kind, _, rest = text.partition(":")
    shape_text, *parts = rest.split(":")
    if not _SHAPE.fullmatch(shape_text) or shape_text.count("x") >= RANK_LIMIT:
        raise _spec_error(text, f"{sanitize(shape_text, 40) or 'nothing'} is not a shape like 3x4")
    value = ""
    if kind == "full":
        value, *parts = parts or [""]
        if not value:
            raise _spec_error(text, "full needs a value")
    settings: dict[str, int] = {}
    while parts and kind == "rand" and (match := _SETTING.fullmatch(parts[0])):
        settings[match[1]] = int(match[2])
        del parts[0]
    if len(parts) > 1:
        raise _spec_error(text, f"{sanitize(parts[0], 40)} is not understood")
    shape = tuple(map(int, shape_text.split("x")))
    return _GeneratorSpec(kind, shape, value, parse_dtype(parts[0]) if parts else None, settings)


def _default_dtype(recipe: _GeneratorSpec) -> DType:
    whole = recipe.kind == "arange" or "below" in recipe.settings
    return np.dtype("int64" if whole else "float64")


def _parse_value(recipe: _GeneratorSpec, dtype: DType | None, text: str, limit: int) -> Array:
    word = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(recipe.value, recipe.value)
    parsed = parse_json(word.encode("utf-8", "surrogateescape"), text, "the value")
    value = array_of_json(parsed, ReadOptions(dtype=dtype), limit).array
    if value.ndim:
        raise _spec_error(text, "the value is not a single number")
    return value


def _wrap_labels(recipe: _GeneratorSpec, dtype: DType, value: Array | None, text: str) -> Array:
    count = math.prod(recipe.shape)
    if value is not None:
        return np.full(count, value, dtype)
    if recipe.kind == "rand":
        return _random_values(recipe, count, dtype, text)
    if recipe.kind == "arange":
        return cast_lossless(np.arange(count), dtype, sanitize(text, 60))
    return (np.ones if recipe.kind == "ones" else np.zeros)(count, dtype)


def _random_values(recipe: _GeneratorSpec, count: int, dtype: DType, text: str) -> Array:
    source = np.random.default_rng(recipe.settings.get("seed", 0))
    below = recipe.settings.get("below")
    if below is not None:
        if below == 0:
            raise _spec_error(text, "below=0 leaves no number")
        return cast_lossless(source.integers(below, size=count), dtype, sanitize(text, 60))
    if not is_float_dtype(dtype) and dtype.kind != "c":
        raise _spec_error(text, f"rand gives fractions, not {dtype.name}: say below=N")
    return source.random(count).astype(dtype)


def _spec_error(text: str, why: str) -> UsageError:
    return UsageError(f"{sanitize(text, 60)}: {why}", valid=" · ".join(FORMS))
