"""Declarations: one typed function per operator, from which everything else is derived.

    ONNX = Framework("onnx", "ONNX")

    @ONNX.operator("'[10,20,30]' '[2,0]'", versions=(1, 11, 13))
    def gather(data: Tensor, indices: Tensor, *, axis: int = 0) -> Layout: ...

Operators that differ in little are declared by one function that makes their layout functions, and
by an empty function each, which has the name and the help (`Framework.family_member`).

What the function says is read by `gscli.declare`. The command line, the Python callable,
help, README table, compare, rules and tests read `Operator`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gscli.base.records import Arguments, Record
from gscli.declare import Signature
from gscli.declare.attributes import parse_reduction
from gscli.layout import Layout
from gscli.layout.axes import Reduction, Tensor

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    import numpy as np

    class OperatorOptions(TypedDict, total=False):
        """What a declaration says of an operator beside its function: arguments of `Operator`."""

        versions: tuple[int, ...]
        until: int | None
        bare: bool
        reduction: Reduction
        dotted: bool


ConceptName: TypeAlias = Literal[
    "gather", "gather-elements", "gather-nd",
    "scatter-elements", "scatter-nd", "scatter-update", "take",
]  # fmt: skip


class ConceptCall(Record):
    """One call of a concept, as far as shapes and arguments tell. `axis` None: not given."""

    data: Tensor
    indices: Tensor
    updates: Tensor | None
    axis: int | None = None
    batch_dims: int = 0
    reduction: str = "none"

    @property
    def other_arguments(self) -> dict[str, object]:
        """The arguments that are not the usual ones, by name."""
        own, usual = self._asdict(), self._field_defaults
        return {name: own[name] for name in usual if own[name] != usual[name]}

    @property
    def is_plain(self) -> bool:
        """True without batch axes and reduction: what most operators can express."""
        return self.batch_dims == 0 and self.reduction == "none"


# An operator's attributes for a call, or None when it cannot express the call.
Attrs: TypeAlias = Mapping[str, object] | None

# The reductions of an operator that has none.
OVERWRITE: Arguments = {"none": "none"}


class Comparison(Record):
    """How a concept's call becomes one operator's, under one rule set.

    `label`: its title, in which `{name}` is the operator's own name. `inputs`: the operator's names
    for data, indices and updates; by default those of its first inputs. `fixed_attributes`:
    attributes that make this rule set. `reductions`: what the operator calls each reduction it has,
    where neither its declaration nor an attribute's choices are that. `build_attributes` makes the
    attributes of a call that are not simply its arguments. `vector_layout`: where index vectors lie
    ("tuple": one input NAME_0, NAME_1, … per column; "one": the whole of indices is NAME_0).
    `has_zero_data`: the operator has no data and starts from zeros, so it is asked only when data
    is all zeros.

    The signature tells the rest: `axis`, `batch_dims` and `reduction` are the attributes that take
    these arguments, `axis_input` and `shape_input` inputs that take the axis and data's shape. An
    operator without one expresses only calls that leave the argument alone.
    """

    concept: ConceptName
    label: str
    inputs: tuple[str, ...] = ()
    fixed_attributes: Arguments = MappingProxyType({})
    reduction: str = ""
    reductions: Arguments = MappingProxyType({})
    build_attributes: Callable[[ConceptCall], Attrs] | None = None
    vector_layout: Literal["last", "first", "tuple", "one"] = "last"
    has_zero_data: bool = False
    axis: str = ""
    batch_dims: str = ""
    axis_input: str = ""
    shape_input: str = ""

    def expand_over(self, attribute: str, titles: Mapping[Any, str]) -> list[Comparison]:
        """The same under each value of an attribute, whose title is put into the label.

        >>> [
        ...     entry.label
        ...     for entry in Comparison("take", "N {}", ("a",)).expand_over("mode", {"c": "clip"})
        ... ]
        ['N clip']
        """
        return [
            self._replace(
                label=self.label.replace("{}", title), fixed_attributes={attribute: value}
            )
            for value, title in titles.items()
        ]


def compare_takes(label: str, modes: Iterable[str]) -> list[Comparison]:
    """A gather along an axis, and NumPy's take, as calls of one operator in each of its modes.

    >>> [entry.label for entry in compare_takes("N take ({})", ["clip"])]
    ['N take (clip)', 'N take (clip)']
    """
    return [
        Comparison(concept, label.format(mode), fixed_attributes={"mode": mode})
        for mode in modes
        for concept in ("gather", "take")
    ]


class Operator(Signature):
    """A declared operator: its signature, how a shell calls it, and a callable on arrays.

    `example` is an argument line as a shell user would type it. `bare`: it is a
    command of its own, without the framework's name. `comparisons`: how calls of common concepts
    become calls of this operator. `reduction`: the one that it always has. `dotted`: its name has a
    dot for the first underscore of the function's.

    >>> from gscli.frameworks.onnx import gather
    >>> gather([10, 20, 30], [2, 0])
    array([30, 10])
    """

    def __init__(
        self, framework: Framework, function: Callable[..., Layout], example: str,
        *comparisons: Comparison, **facts: Unpack[OperatorOptions],
    ) -> None:  # fmt: skip
        name = function.__name__
        if facts.get("dotted"):
            name = name.replace("_", ".", 1)
        self.framework_name, self.name, self.function = framework.name, name, function
        self.versions, self.last_version = facts.get("versions", ()), facts.get("until")
        self.framework, self.newest_version, self.example = framework, framework.newest, example
        self.has_bare_name, self._comparisons = facts.get("bare", False), comparisons
        self._reduction = facts.get("reduction", "none")
        self.__name__, self.__doc__ = name, function.__doc__

    def __getattr__(self, name: str) -> inspect.Signature:
        """The signature of the call, made when somebody asks for it: inputs by position or name,
        attributes by name, as Python's own tools show them; where PyTorch has dim second, so too.
        """
        if name != "__signature__":
            raise AttributeError(name)
        parameters = []
        for parameter in self._python_signature.parameters.values():
            keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
            kind = getattr(parameter.annotation, "__origin__", parameter.annotation)
            parameters.append(parameter.replace(annotation=kind if keyword else "ArrayLike"))
        if self.second_attribute is not None:
            parameters.insert(1, parameters.pop(len(self.inputs)))
            parameters = [each.replace(kind=each.POSITIONAL_OR_KEYWORD) for each in parameters]
        return inspect.Signature(parameters, return_annotation="numpy.ndarray")

    def __reduce__(self) -> tuple[Callable[[str, str], Operator], tuple[str, str]]:
        """Pickled by name: the declaration itself stays where it is written."""
        return _unpickle_operator, (self.framework_name, self.name)

    @cached_property
    def concept_mappings(self) -> tuple[Comparison, ...]:
        """How calls of common concepts become calls of this operator."""
        return tuple(map(self._complete, self._comparisons))

    def _complete(self, entry: Comparison) -> Comparison:
        """A comparison with what the signature tells."""
        axis, reduction = self.attribute("axis"), self.attribute("reduction")
        words: dict[str, object] = {self._reduction: self.name}
        if not entry.reductions and reduction is not None:
            words = {parse_reduction(word): word for word in reversed(reduction.choices)}
            entry = entry._replace(reduction=reduction.name)
        return entry._replace(
            label=entry.label.replace("{name}", self.name),
            inputs=entry.inputs or self.input_names[: 2 + entry.concept.startswith("scatter")],
            reductions=entry.reductions or words,
            axis="" if axis is None else axis.name,
            batch_dims="batch_dims" * ("batch_dims" in self.attributes_by_name),
            axis_input="axis" * ("axis" in self.input_names),
            shape_input="shape" * ("shape" in self.input_names),
        )

    @property
    def command(self) -> str:
        """The name on the command line.

        >>> from gscli.frameworks.onnx import scatter_nd
        >>> scatter_nd.command
        'scatter-nd'
        """
        return self.name.rstrip("_").replace("_", "-").replace(".", "-")

    @property
    def command_line(self) -> str:
        """The words that call it in a shell, without arguments."""
        owner = "" if self.has_bare_name else f"{self.framework_name} "
        return f"gscli {owner}{self.command}"

    def __get__(self, instance: object, owner: type | None = None) -> Operator:
        """Itself, of a class too: what has this, `help()` shows as the function that it is."""
        return self

    def __call__(self, /, *inputs: object, **attrs: object) -> np.ndarray[Any, Any]:
        """Run on arrays (anything `numpy.asarray` takes), inputs by position or name.

        An operator is a function to its callers, and loads numpy only when it is called.
        """
        from gscli.frameworks.execute import call_operator

        return call_operator(self, inputs, attrs)


class Framework:
    """A set of operators under their own names.

    `newest`: the last opset that was read.
    """

    def __init__(self, name: str, title: str, newest: int | None = None) -> None:
        self.name, self.title, self.newest = name, title, newest
        self.operators: dict[str, Operator] = {}

    def __repr__(self) -> str:
        return f"<Framework {self.name}>"

    def __getattr__(self, name: str) -> Operator:
        """Declared operators are attributes under their names as Python can write them: `at_set`
        for `at.set`. What comes here is none of them.
        """
        problem = f"{self.__dict__.get('name')} has no operator {name!r}"
        raise AttributeError(problem, name=name, obj=self)

    def __dir__(self) -> list[str]:
        return [operator.name.replace(".", "_") for operator in self.operators.values()]

    def operator(
        self, example: str, *comparisons: Comparison, **facts: Unpack[OperatorOptions]
    ) -> Callable[[Callable[..., Layout]], Operator]:
        """Declare the decorated layout function as an operator of this framework.

        Its `example` must run.
        """

        def declare(function: Callable[..., Layout]) -> Operator:
            operator = Operator(self, function, example, *comparisons, **facts)
            self.operators[operator.name] = operator
            setattr(self, operator.name.replace(".", "_"), operator)
            return operator

        return declare

    def family_member(
        self, function: Callable[..., Layout], example: str, *comparisons: Comparison,
        **facts: Unpack[OperatorOptions],
    ) -> FamilyMember:  # fmt: skip
        """Declare a layout function that is made for one of several operators that are alike.

        The decorated function is empty: it has the name and the help of this operator.
        """

        def declare(member: Callable[[], None]) -> Operator:
            function.__name__, function.__doc__ = member.__name__, member.__doc__
            return self.operator(example, *comparisons, **facts)(function)

        return declare


# What makes an operator of an empty function that has its name and its help.
FamilyMember: TypeAlias = Callable[[Callable[[], None]], Operator]


def import_framework(name: str) -> Framework:
    """The framework whose module or package bears this name, with all its operators.

    A package's modules are all imported, so that none of them can be forgotten.
    """
    module = import_module(f"gscli.frameworks.{name}")
    if hasattr(module, "__path__"):
        from pkgutil import iter_modules

        for part in iter_modules(module.__path__):
            import_module(f"{module.__name__}.{part.name}")
    framework: Framework = module.FRAMEWORK
    framework.__doc__ = module.__doc__
    return framework


def _unpickle_operator(framework: str, name: str) -> Operator:
    return import_framework(framework).operators[name]
