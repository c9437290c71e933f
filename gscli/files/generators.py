"""Arrays from a few characters, for demonstrations and tests: `arange:3x4`, `rand:3x4:seed=1`."""

from __future__ import annotations

import math
import re

import numpy as np

from gscli.base import UsageError, check_rule
from gscli.base.arrays import Array, DType, cast_lossless, dtype_name, is_float_dtype, parse_dtype
from gscli.base.words import sanitize, suggest_file
from gscli.files.content import check_limit
from gscli.files.formats.jsonarray import array_of_json
from gscli.files.formats.jsontext import parse_json
from gscli.files.formats.npy import RANK_LIMIT, is_shape
from gscli.files.request import LoadedInput, ReadRequest, spell_as_json

FORMS = (
    *("arange:3x4[:DTYPE]", "zeros:3x4[:DTYPE]", "ones:3x4[:DTYPE]", "full:3x4:VALUE[:DTYPE]"),
    "rand:3x4[:seed=N][:below=N][:DTYPE]",
)

_SHAPE = re.compile(r"\d{1,19}(?:x\d{1,19})*", re.ASCII)
_SETTING = re.compile(r"(seed|below)=(\d{1,18})", re.ASCII)


def generate(text: str, request: ReadRequest) -> LoadedInput:
    """The array a text describes, typed where it names a type. UsageError, LimitRefused.

    `rand` gives floats in [0, 1), or with `below` whole numbers; without a seed the seed is 0, so
    the same text always means the same array.

    >>> generate("arange:2x3", ReadRequest()).array.tolist()
    [[0, 1, 2], [3, 4, 5]]
    >>> generate("full:2:nan:float32", ReadRequest()).array
    array([nan, nan], dtype=float32)
    """
    kind, shape, written, named, settings = _parse_parts(text)
    dtype, limit = named or request.untyped_dtype, request.limit
    value = _parse_value(written, dtype, text, limit) if written else None
    if dtype is None:
        default = "int64" if kind == "arange" or "below" in settings else "float64"
        dtype = np.dtype(default) if value is None else value.dtype
    count = math.prod(shape)
    widest = 8 if kind in ("arange", "rand") else 1  # made in 64 bits first
    check_limit(count * max(dtype.itemsize, widest), limit, text, "the array")
    _check_spec(is_shape(shape), text, "no array can have this shape, even without its zeros")
    _check_spec(dtype.kind not in "US", text, f"{dtype_name(dtype)} has no numbers")
    if value is not None:
        flat = np.full(count, value, dtype)
    elif kind == "rand":
        flat = _random_values(settings, count, dtype, text)
    elif kind == "arange":
        flat = cast_lossless(np.arange(count), dtype, sanitize(text, 60))
    else:
        flat = (np.ones if kind == "ones" else np.zeros)(count, dtype)
    return LoadedInput(flat.reshape(shape), sanitize(text), named is not None)


def _parse_parts(text: str) -> tuple[str, tuple[int, ...], str, DType | None, dict[str, int]]:
    """Kind, shape, value, type and settings."""
    kind, _, rest = text.partition(":")
    shape_text, *parts = rest.split(":")
    is_legal = _SHAPE.fullmatch(shape_text) and shape_text.count("x") < RANK_LIMIT
    shown = sanitize(shape_text, 40) or "nothing"
    _check_spec(bool(is_legal), text, f"{shown} is not a shape like 3x4")
    value = ""
    if kind == "full":
        value, *parts = parts or [""]
        _check_spec(bool(value), text, "full needs a value")
    settings: dict[str, int] = {}
    for match in filter(None, map(_SETTING.fullmatch, parts * (kind == "rand"))):
        settings[match[1]] = int(match[2])
        parts.remove(match[0])
    is_dtype = len(parts) <= 1 and "=" not in "".join(parts)[1:]  # "=f4" is an element type
    _check_spec(is_dtype, text, f"{sanitize(':'.join(parts), 40)} is not understood")
    shape = tuple(map(int, shape_text.split("x")))
    return kind, shape, value, parse_dtype(parts[0]) if parts else None, settings


def _parse_value(written: str, dtype: DType | None, text: str, limit: int) -> Array:
    parsed = parse_json(spell_as_json(written), text, "the value")
    value = array_of_json(parsed, ReadRequest(dtype=dtype, limit=limit)).array
    _check_spec(not value.ndim, text, "the value is not a single number")
    return value


def _random_values(settings: dict[str, int], count: int, dtype: DType, text: str) -> Array:
    source = np.random.default_rng(settings.get("seed", 0))
    below = settings.get("below")
    if below is not None:
        _check_spec(below > 0, text, "below=0 leaves no number")
        return cast_lossless(source.integers(below, size=count), dtype, sanitize(text, 60))
    fits = is_float_dtype(dtype) or dtype.kind == "c"
    _check_spec(fits, text, f"rand gives fractions, not {dtype.name}: say below=N")
    return source.random(count).astype(dtype)


def _check_spec(holds: bool, text: str, why: str) -> None:
    problem, legal = f"{sanitize(text, 60)}: {why}", " · ".join(FORMS)
    check_rule(holds, problem, kind=UsageError, valid=legal, hint=suggest_file(text))
