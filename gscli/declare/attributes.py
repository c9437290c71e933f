"""Attributes of operators: what an annotation declares, and how values and words become it.

    axis: Annotated[int, Option("axis of data that the indices address, -r … r-1")] = 0

is an `Attribute` of kind "int" with that help and default; `reduction: Literal["none", "add"]` is
a "choice"; `… | None` makes either optional.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial, reduce
from operator import index, or_
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias, cast, get_args, get_origin

from gscli.base import UsageError
from gscli.base.records import Record
from gscli.base.words import format_flag, suggest_names
from gscli.layout.axes import Number, Reduction

Role: TypeAlias = Literal["", "axis", "reduction"]
AttributeKind: TypeAlias = Literal["int", "bool", "str", "choice", "ints", "sizes", "number"]


# A number for each of some axes, or one that stands for all of them.
Sizes: TypeAlias = tuple[int, ...] | int


class Option(Record):
    """What an annotation adds to an attribute: help, and what versions brought.

    `role`: what the attribute is to every operator, whatever its name: "axis" for the axis that the
    indices address, "reduction" for how an update meets the value already there.
    """

    help: str
    since: int | None = None
    choices_since: Mapping[str, int] = MappingProxyType({})
    role: Role = ""


# What an annotation adds to the attribute that names the axis.
AxisOption = partial(Option, role="axis")


class Attribute(Record):
    """One attribute: its type in words the command line understands, choices, default, help."""

    name: str
    kind: AttributeKind
    default: object
    optional: bool
    choices: tuple[str, ...]
    option: Option

    @property
    def is_required(self) -> bool:
        """True when the framework has no default for it."""
        return self.default is inspect.Parameter.empty

    @property
    def legal_text(self) -> str:
        """What it takes, in words: its choices, or what its kind is."""
        if self.kind == "choice":
            return " ".join(choice or "''" for choice in self.choices)
        return _KINDS[self.kind].words

    def convert(self, value: object) -> object:
        """Bring a Python value to the declared type; UsageError names the legal ones."""
        if value is None and self.optional:
            return None
        if self.kind == "choice":
            return self._match_choice(value)
        try:
            return _KINDS[self.kind].convert(value)
        except Exception:  # noqa: BLE001  whatever somebody's __index__ raises
            raise self._value_error(f"{self.name} = {value!r}") from None

    def parse(self, text: str) -> object:
        """The value that a word of the command line stands for."""
        if self.optional and text.lower() == "none":
            return None
        try:
            return self.convert(text if self.kind == "choice" else _KINDS[self.kind].parse(text))
        except (KeyError, ValueError):
            raise self._value_error(f"{format_flag(self.name)} {text}") from None

    def _value_error(self, where: str) -> UsageError:
        return UsageError(f"{self.name} takes {self.legal_text}", where=where[:200])

    def _match_choice(self, value: object) -> str:
        """The choice that `value` is; UsageError suggests the nearest, or another's word for it."""
        text = str.__str__(value) if isinstance(value, str) else str(value)
        if isinstance(value, str) and text in self.choices:
            return text  # of a subclass, which may equal every text, its letters alone
        word = text.lower()
        synonym = _SYNONYMS.get(word)
        meant = synonym if synonym in self.choices else word
        problem, where = f"unknown {self.name}: {value!r}"[:200], f"{self.name} = {value!r}"[:200]
        hint = suggest_names(str(meant), self.choices, count=1)
        raise UsageError(problem, where=where, valid=self.legal_text, hint=hint)


def attribute_from_parameter(parameter: inspect.Parameter) -> Attribute:
    """The attribute that a keyword parameter with evaluated annotations declares.

    >>> def layout(*, axis: Annotated[int | None, Option("which axis")] = None): ...
    >>> parameters = inspect.signature(layout, eval_str=True).parameters
    >>> item = attribute_from_parameter(parameters["axis"])
    >>> item.kind, item.optional, item.option.help, item.parse("-1"), item.parse("none")
    ('int', True, 'which axis', -1, None)
    """
    annotation, option = parameter.annotation, Option("")
    if get_origin(annotation) is Annotated:
        annotation, *metadata = get_args(annotation)
        option = next(item for item in metadata if isinstance(item, Option))
    kind, choices = _kind_of(annotation)
    optional = type(None) in get_args(annotation)
    return Attribute(parameter.name, kind, parameter.default, optional, choices, option)


def _kind_of(annotation: Any) -> tuple[AttributeKind, tuple[str, ...]]:
    """The kind of an annotated type, None aside, and its choices."""
    if type(None) in (members := get_args(annotation)):
        annotation = reduce(or_, (member for member in members if member is not type(None)))
    if get_origin(annotation) is Literal:
        return "choice", tuple(map(str, get_args(annotation)))
    kinds: dict[object, AttributeKind] = {
        int: "int", bool: "bool", str: "str", Number: "number", Sizes: "sizes"
    }  # fmt: skip
    return kinds.get(annotation, "ints"), ()


class _AttributeParser(Record):
    """How values and words of one kind are read; either raises TypeError, ValueError, KeyError."""

    words: str
    convert: Callable[[Any], object]
    parse: Callable[[str], object]


def _converter(convert: Callable[[Any], object], *refused: type) -> Callable[[Any], object]:
    """A conversion that takes no value of these types."""

    def convert_value(value: Any) -> object:
        if isinstance(value, refused):
            raise TypeError
        return convert(value)

    return convert_value


def _to_bool(value: Any) -> bool:
    if value in (0, 1):
        return bool(value)
    raise TypeError


def _check_type(value: Any, *types: type) -> object:
    if isinstance(value, types):
        return value
    raise TypeError


def _to_number(value: Any) -> object:
    return _check_type(value.item() if hasattr(value, "item") else value, int, float, complex, str)


def _to_ints(items: Any) -> tuple[int, ...]:
    return tuple(map(index, items))


def _to_sizes(value: Any) -> Sizes:
    return index(value) if hasattr(value, "__index__") else _to_ints(value)


def _parse_int(text: str) -> int:
    return int(_check_ascii_digits(text))


def _parse_ints(text: str) -> list[int]:
    inner = text.strip()
    inner = inner[1:-1] if inner[:1] + inner[-1:] in ("[]", "()") else inner
    *parts, last = inner.split(",")  # Python ends (1,) with a comma
    return [_parse_int(part) for part in ([*parts, last] if last.strip() else parts)]


def _parse_number(text: str) -> Number:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    with suppress(ValueError):
        return _parse_int(text)
    for kind in (float, complex):
        try:
            value = kind(_check_ascii_digits(text))
        except ValueError:
            continue
        if math.isinf(abs(value)) and "inf" not in text.lower():  # 1e999 is a mistake
            raise ValueError(text)
        return value
    return text


def _check_ascii_digits(text: str) -> str:
    """The text of a number in plain digits; Python reads 1_0 and those of other scripts too."""
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    return text


_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

_KINDS: dict[AttributeKind, _AttributeParser] = {
    "int": _AttributeParser("a whole number", _converter(index, bool), _parse_int),
    "bool": _AttributeParser("true or false", _to_bool, lambda text: _TRUTHS[text.lower()]),
    "str": _AttributeParser("a word", lambda value: _check_type(value, str), str),
    "ints": _AttributeParser(
        "whole numbers, separated by commas; () for none", _converter(_to_ints, str), _parse_ints
    ),
    "sizes": _AttributeParser(
        "a whole number for all axes, or one for each, separated by commas",
        _converter(_to_sizes, str, bool),
        lambda text: _parse_ints(text) if {*text} & {*"[,"} else _parse_int(text),
    ),
    "number": _AttributeParser("one number or word", _to_number, _parse_number),
}

# What PyTorch, OpenVINO and StableHLO call reductions that have ONNX's names here.
_REDUCTIONS: dict[str, Reduction] = {
    "sum": "add", "prod": "mul", "multiply": "mul", "amax": "max", "amin": "min", "set": "none",
}  # fmt: skip

_SYNONYMS = _REDUCTIONS | {own: word for word, own in reversed(_REDUCTIONS.items())}


def parse_reduction(word: str) -> Reduction:
    """The reduction that frameworks mean by a word.

    >>> parse_reduction("prod"), parse_reduction("mul"), parse_reduction("none")
    ('mul', 'mul', 'none')
    """
    return cast("Reduction", _REDUCTIONS.get(word, word))


# The axis of a take: NumPy and JAX share it.
TakeAxis: TypeAlias = Annotated[int | None, AxisOption("axis of a, -r … r-1; none: a is read flat")]

# Attributes of windowed gather and scatter, with their help: JAX and StableHLO share them.
Dims: TypeAlias = tuple[int, ...]
Offset: TypeAlias = Annotated[Dims, Option("axes of the result that walk through a slice")]
Collapsed: TypeAlias = Annotated[Dims, Option("axes of operand, slice size 1, without an axis")]
UpdateWindow: TypeAlias = Annotated[Dims, Option("axes of updates that walk through a window")]
Inserted: TypeAlias = Annotated[Dims, Option("axes of window size 1, which updates lack")]
Batching: TypeAlias = Annotated[Dims, Option("axes of operand that walk with the indices' own")]
IndicesBatching: TypeAlias = Annotated[Dims, Option("axes of the indices paired with those")]
IndexMap: TypeAlias = Annotated[Dims, Option("the axis of operand of each number of a vector")]
SliceSizes: TypeAlias = Annotated[Dims, Option("size of the slice along each axis of operand")]
Promise: TypeAlias = Annotated[bool, Option("a promise to the compiler; gscli answers alike")]
