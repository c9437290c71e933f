"""What an operator is: one typed function, its inputs and its attributes.

A signature reads what the operator takes from that function, which gets what a layout may know
(shapes, dtypes, attributes) and returns a `Layout`:

    def gather(data: Tensor, indices: Tensor, *, axis: int = 0) -> Layout: ...

Its parameters are the inputs (positional) and attributes (keyword-only); annotations give types and
choices, `Annotated[…, Option(…)]` adds help and the version that brought an attribute or a choice.
A signature cannot be called: `gscli.frameworks.operator` adds that, above the kernel.
"""

from __future__ import annotations

import inspect
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property, lru_cache
from itertools import chain
from typing import Annotated, Literal, TypeAlias, get_args

from gscli.base import UsageError, check_rule
from gscli.base.records import Arguments, Record
from gscli.base.words import format_flag, suggest_names
from gscli.declare.attributes import Attribute, Option, Role, attribute_from_parameter
from gscli.layout import Layout
from gscli.layout.axes import Tensor

# As many as a tensor has axes.
MAX_INDEX_ARRAYS = 64

# An input whose numbers decide shapes: the layout may look at `tensor.values`.
ShapeInput: TypeAlias = Annotated[Tensor, "values"]

# An index input whose largest number decides a shape: the one number in `tensor.values`.
MaxValueInput: TypeAlias = Annotated[Tensor, "largest"]

# A list of ids: `tensor.values` is the last of them, and 1 where they are in ascending order.
SortedInput: TypeAlias = Annotated[Tensor, "ascending"]

# A mask: `tensor.values` is how many of its cells are True, or numbers other than 0.
Mask: TypeAlias = Annotated[Tensor, "mask"]

# A tuple of index arrays, one per leading axis; the inputs are called NAME_0, NAME_1, …
VariadicInput: TypeAlias = Annotated[tuple[Tensor, ...], "many"]

# The same, where arrays of uint8 are masks as those of bool are.
VariadicMaskInput: TypeAlias = Annotated[tuple[Tensor, ...], "many", "bytes"]

# How a tuple's arrays stand among slices, None and `...`; None: they are for the leading axes.
Subscript: TypeAlias = Annotated[
    str | None,
    Option("what stands between the brackets, i for each index array, as '1:3, i, None, ...'"),
]


# What Python has in place of `--strict`.
STRICT_HINT = 'warnings.simplefilter("error", gscli.GscliWarning) makes errors of warnings'

# Attributes that say how many rows there are; None or -1 leaves it to the indices.
ROW_COUNTS = ("num_segments", "num_classes")

InputKind: TypeAlias = Literal["tensor", "values", "largest", "ascending", "mask", "many"]


class Input(Record):
    """One input tensor of an operator, in the framework's order and under its name."""

    name: str
    kind: InputKind
    optional: bool

    @property
    def flag(self) -> str:
        """The option by which a command takes it, where it does not stand in its place."""
        return format_flag(self.name.lower().rstrip("_"))


class Signature:
    """What one operator of one framework takes, under which versions, and the layout it returns.

    `versions` are the opsets that changed the operator, `last_version` the last one that has it,
    `newest_version` the last of all that was read.

    >>> from gscli.frameworks.onnx import gather
    >>> [i.name for i in gather.inputs], [a.name for a in gather.attributes]
    (['data', 'indices'], ['axis', 'opset'])
    """

    framework_name: str
    name: str
    function: Callable[..., Layout]
    versions: tuple[int, ...]
    last_version: int | None
    newest_version: int | None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.full_name}>"

    @property
    def full_name(self) -> str:
        """`framework.operator`, as `gscli.run` takes it."""
        return f"{self.framework_name}.{self.name}"

    @cached_property
    def doc(self) -> str:
        """The operator's help text."""
        return inspect.getdoc(self.function) or ""

    @cached_property
    def summary(self) -> str:
        """First sentence of the help text."""
        return self.doc.split("\n\n")[0].replace("\n", " ")

    @cached_property
    def _python_signature(self) -> inspect.Signature:
        return inspect.signature(self.function, eval_str=True)

    def _parameters(self, *, keywords: bool) -> list[inspect.Parameter]:
        """The parameters of the function that are attributes, or those that are inputs."""
        every = self._python_signature.parameters.values()
        return [each for each in every if (each.kind is each.KEYWORD_ONLY) == keywords]

    @property
    def is_in_place_capable(self) -> bool:
        """Whether the output is data with cells written over, so that it may be done in place.

        >>> from gscli.frameworks.onnx import gather, scatter_nd
        >>> gather.is_in_place_capable, scatter_nd.is_in_place_capable
        (False, True)
        """
        return "new" not in getattr(self._python_signature.return_annotation, "__metadata__", ())

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """Input tensors in the framework's order."""
        return tuple(map(_input_from_parameter, self._parameters(keywords=False)))

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """Names of the input tensors in the framework's order."""
        return tuple(item.name for item in self.inputs)

    @cached_property
    def variadic(self) -> str | None:
        """The name of the input that is a tuple of index arrays, if there is one."""
        return next((item.name for item in self.inputs if item.kind == "many"), None)

    @cached_property
    def has_byte_masks(self) -> bool:
        """Whether index arrays of uint8 are masks, as in PyTorch."""
        inputs = self._parameters(keywords=False)
        return any("bytes" in _annotation_metadata(parameter) for parameter in inputs)

    @cached_property
    def scalar_attributes(self) -> frozenset[str]:
        """Names of the attributes that are one number, which may be given as an array."""
        return frozenset(item.name for item in self.attributes if item.kind == "number")

    @cached_property
    def shape_inputs(self) -> Mapping[str, InputKind]:
        """Names and kinds of the inputs whose numbers decide shapes."""
        kinds = {item.name: item.kind for item in self.inputs}
        return {name: kind for name, kind in kinds.items() if kind not in ("tensor", "many")}

    def counted_inputs(self, attributes: Iterable[tuple[str, object]]) -> list[str]:
        """Inputs of numbers that say how many rows the output has, where no attribute does."""
        if any(name in ROW_COUNTS and value not in (None, -1) for name, value in attributes):
            return []
        kinds = self.shape_inputs.items()
        return [name for name, kind in kinds if kind in ("largest", "ascending")]

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """Attributes in declared order; `opset` where the operator has versions."""
        return tuple(map(attribute_from_parameter, self._parameters(keywords=True)))

    @cached_property
    def attributes_by_name(self) -> Mapping[str, Attribute]:
        """The attributes by name, in declared order."""
        return {attribute.name: attribute for attribute in self.attributes}

    @cached_property
    def second_attribute(self) -> Attribute | None:
        """What PyTorch's own function has behind its first input: `dim`, or how segments reduce."""
        required = (item for item in self.attributes[:1] if item.is_required)
        return next((item for item in required if item.name in ("dim", "reduce")), None)

    def variadic_inputs(self, names: Iterable[str]) -> list[str]:
        """Those of the inputs `names` that are parts of the tuple of index arrays, in order."""
        return [] if self.variadic is None else list(variadic_names(self.variadic, tuple(names)))

    def order_inputs(self, names: Collection[str]) -> list[str]:
        """The inputs `names` as they are declared; behind them what is no input here."""
        many = self.variadic_inputs(names)
        parts = (many if name == self.variadic else [name] for name in self.input_names)
        return [name for name in dict.fromkeys(chain(*parts, names)) if name in names]

    def attribute(self, role: Role) -> Attribute | None:
        """The attribute with this role, if there is one.

        >>> from gscli.frameworks import find_operator
        >>> find_operator("torch.scatter_reduce").attribute("reduction").name
        'reduce'
        """
        return next((item for item in self.attributes if item.option.role == role), None)

    def resolve_version(self, number: int | None) -> int:
        """The operator version in force at a model opset (default: the newest)."""
        if number is None:
            return self.versions[-1]
        first = self.versions[0]
        if self.last_version is not None and number > self.last_version:
            problem, valid = f"{self.name} ended with opset {self.last_version}", ""
            hint = self.doc.splitlines()[-1]
        elif self.newest_version is not None and number > self.newest_version:
            problem = f"opset {number} is newer than what gscli knows"
            valid = f"{first} … {self.newest_version}"
            hint = f"without opset it is the newest {self.name}"
        elif number < first:
            last = f"… {self.last_version}" if self.last_version else "and later"
            problem, valid, hint = f"{self.name} needs opset {first}", f"{first} {last}", ""
        else:
            return self.versions[bisect_right(self.versions, number) - 1]
        raise UsageError(problem, where=f"opset {number}", valid=valid, hint=hint)

    def bind_attributes(self, attrs: Arguments) -> dict[str, object]:
        """All attributes with their defaults, types checked, versions obeyed."""
        known = self.attributes_by_name
        values: dict[str, object] = {}
        for name, attribute in known.items():
            if name in attrs:
                values[name] = attribute.convert(attrs[name])
            elif attribute.is_required:
                problem = f"{self.full_name} needs {name}"
                raise UsageError(problem, where=attribute.option.help, valid=attribute.legal_text)
            else:
                values[name] = attribute.default
        if "opset" in known and self.versions:
            opset = values["opset"]
            version = self.resolve_version(opset if isinstance(opset, int) else None)
            values["opset"] = version
            self._check_version(version, attrs, values)
        return values

    def _check_version(self, version: int, attrs: Arguments, values: Arguments) -> None:
        for attribute in [item for item in self.attributes if item.name in attrs]:
            option, name = attribute.option, attribute.name
            is_known, brought = version >= (option.since or 0), option.choices_since
            of_value = brought.get(str(values[name]), 0)
            needed = of_value if is_known else option.since or 0
            if version < needed:
                value = f"={values[name]}" * is_known
                legal = [c for c in attribute.choices if is_known and brought.get(c, 0) <= version]
                problem, where = f"{name}{value} needs opset {needed}", f"{self.name}-{version}"
                hint = f"--opset {max(needed, of_value)} of {self.name.replace('_', '-')}"
                raise UsageError(problem, where=where, valid=" ".join(legal), hint=hint)

    def infer_layout(self, tensors: Mapping[str, Tensor], attrs: Arguments) -> Layout:
        """Judge shapes, dtypes and attributes; no value of an index is read."""
        self.check_names(tensors, attrs)
        values = self.bind_attributes(attrs)
        many = tuple(tensors[name] for name in self.variadic_inputs(tensors))
        inputs = [many if item.kind == "many" else tensors.get(item.name) for item in self.inputs]
        layout = self.function(*inputs, **values)
        is_counted = bool(self.counted_inputs(values.items()))
        return layout._replace(attributes=tuple(values.items()), is_counted=is_counted)

    def check_names(self, inputs: Collection[str], attrs: Iterable[str] = ()) -> None:
        """UsageError where an attribute or an input is named that the operator does not have, or an
        input is missing; ShapeRefused for more index arrays than there can be axes.
        """
        own = self.attributes_by_name
        many = self.variadic_inputs(inputs)
        known = {*self.input_names, *many} - {self.variadic}
        spelt = [f"{item.name}_0" if item.kind == "many" else item.name for item in self.inputs]
        wrong = [("attribute", name, [*own]) for name in attrs if name not in own]
        wrong += [("input", name, spelt) for name in inputs if name not in known]
        for what, name, legal in wrong:
            problem = f"{self.full_name} has no {what} {name!r}"
            hint = STRICT_HINT if name == "strict" else suggest_names(name, legal, count=1)
            if what == "input" and name in own:
                hint = f"{name} is an attribute; in JSON it stands in attrs"
            raise UsageError(problem[:200], valid=" ".join(legal) or "none", hint=hint)
        for item in self.inputs:
            if not item.optional and item.kind != "many" and item.name not in inputs:
                raise UsageError(f"{self.full_name} needs {item.name}", valid=" ".join(spelt))
        problem, fits = "more index arrays than data can have axes", len(many) <= MAX_INDEX_ARRAYS
        check_rule(fits, problem, f"{len(many):,} {self.variadic}", valid=f"0 … {MAX_INDEX_ARRAYS}")


@lru_cache(64)  # small calls, one after the other, have inputs of the same names
def variadic_names(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the inputs `names` that are called NAME_0, NAME_1, …, in that order.

    The positions of a mask NAME_0 stand in its place: nonzero(NAME_0), or one with [k] per axis.

    >>> variadic_names("indices", ("a", "indices_10", "nonzero(indices_2)[1]", "indices_x"))
    ('nonzero(indices_2)[1]', 'indices_10')
    """
    own = rf"{re.escape(name)}_[0-9]{{1,9}}"
    pattern = re.compile(rf"{own}|nonzero\({own}\)(?:\[[0-9]{{1,9}}\])?")
    fitting = [key for key in names if pattern.fullmatch(key)]
    return tuple(sorted(fitting, key=lambda key: [int(part) for part in re.findall("[0-9]+", key)]))


def _input_from_parameter(parameter: inspect.Parameter) -> Input:
    marks = _annotation_metadata(parameter)
    kind: InputKind = next((mark for mark in get_args(InputKind) if mark in marks), "tensor")
    return Input(parameter.name, kind, parameter.default is not inspect.Parameter.empty)


def _annotation_metadata(parameter: inspect.Parameter) -> tuple[object, ...]:
    """What an annotation says of an input besides its type."""
    return getattr(parameter.annotation, "__metadata__", ())
