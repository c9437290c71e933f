"""Declarations: one typed function per operator, from which everything else is derived.

    ONNX = Framework("onnx", "ONNX")

    @ONNX.operator(versions=(1, 11, 13), example="'[10,20,30]' '[2,0]'", refused="'[10]' '[1]'")
    def gather(data: Tensor, indices: Tensor, *, axis: int = 0) -> Layout: ...

What the function says is read by `gscli.declare`. The command line, the Python callable,
help, README table, compare, rules and tests read `Operator`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from gscli.base import UsageError
from gscli.base.words import safe
from gscli.declare import (
    Ascending,
    ByteMasks,
    Input,
    Largest,
    Many,
    Mask,
    Signature,
    Subscript,
    Values,
    numbered,
)
from gscli.declare.attributes import Attribute, Option
from gscli.declare.comparisons import Comparison
from gscli.layout import Layout

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "Ascending", "Attribute", "ByteMasks", "Framework", "Input", "Largest", "Many", "Mask",
    "Operator",    "Option", "Subscript", "Values", "numbered",
]  # fmt: skip


class Operator(Signature):
    """A declared operator: its signature, how a shell calls it, and a callable on arrays.

    `example` and `refused` are argument lines as a shell user would type them. `bare`: it is a
    command of its own, without the framework's name. `compares`: how calls of common concepts
    become calls of this operator.

    >>> from gscli.frameworks.onnx import gather
    >>> gather([10, 20, 30], [2, 0])
    array([30, 10])
    """

    def __init__(
        self,
        framework: Framework,
        name: str,
        function: Callable[..., Layout],
        *,
        example: str,
        refused: str,
        versions: tuple[int, ...] = (),
        until: int | None = None,
        bare: bool = False,
        compares: Sequence[Comparison] = (),
    ) -> None:
        super().__init__(
            framework.name,
            name,
            function,
            versions=versions,
            until=until,
            version_word=framework.version_word,
            newest=framework.newest,
        )
        self.framework, self.example, self.refused = framework, example, refused
        self.bare, self.compares = bare, tuple(compares)
        self.__name__, self.__doc__ = name, function.__doc__

    def __getattr__(self, name: str) -> inspect.Signature:
        """The signature of the call, made when somebody asks for it."""
        if name == "__signature__":
            return self._call_signature()
        raise AttributeError(name)

    def _call_signature(self) -> inspect.Signature:
        """Inputs by position or name, attributes by name, as Python's own tools show them."""
        found = []
        for parameter in inspect.signature(self.function, eval_str=True).parameters.values():
            keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
            kind = getattr(parameter.annotation, "__origin__", parameter.annotation)
            found.append(parameter.replace(annotation=kind if keyword else "ArrayLike"))
        return inspect.Signature(found, return_annotation="numpy.ndarray")

    def __reduce__(self) -> tuple[Callable[[str, str], Operator], tuple[str, str]]:
        """Pickled by name: the declaration itself stays where it is written."""
        return _declared, (self.owner, self.name)

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
        words = ["gscli", self.command] if self.bare else ["gscli", self.owner, self.command]
        return " ".join(words)

    def __call__(self, /, *inputs: object, **attrs: object) -> np.ndarray[Any, Any]:
        """Run on arrays (anything `numpy.asarray` takes), inputs by position or name.

        An operator is a function to its callers, and loads numpy only when it is called.
        """
        from gscli.frameworks.execute import call

        return call(self, inputs, attrs)

    def assigned(self, words: Sequence[str], named: Mapping[str, object]) -> dict[str, str]:
        """Which word is which input: positions in the framework's order, `--NAME` for any of them.

        >>> from gscli.frameworks.onnx import gather
        >>> gather.assigned(["i.npy"], {"data": "d.npy"})
        {'data': 'd.npy', 'indices': 'i.npy'}
        """
        waiting = [item for item in self.inputs if item.name not in named]
        fixed = [item for item in waiting if item.kind != "many"]
        surplus = len(words) - len(fixed)
        if surplus > 0 and len(fixed) == len(waiting):
            raise UsageError(
                f"{self.command} takes {len(self.inputs)} inputs, got {len(words) + len(named)}",
                where=f"one too many: {safe(words[len(fixed)])}",
                valid=self._usage(),
                hint=f"{self.command_line} {self.example}",
            )
        if [*words, *named.values()].count("-") > 1:
            raise UsageError(
                "only one input can be - (standard input)",
                where=self._usage(),
                hint="put the others into files",
            )
        result: dict[str, str] = {}
        rest = iter(words)
        for item in self.inputs:
            if item.kind == "many" and item.name not in named:
                taken = enumerate(islice(rest, max(surplus, 0)))
                result |= {f"{item.name}_{number}": word for number, word in taken}
                continue
            word = named[item.name] if item.name in named else next(rest, None)
            if word is not None:
                result[item.name] = str(word)
            elif not item.optional:
                raise UsageError(
                    f"{self.command} needs {item.name}",
                    where=self._usage(),
                    hint=f"{self.command_line} {self.example}",
                )
        return result

    def _usage(self) -> str:
        return " ".join([self.command_line, *(item.name.upper() for item in self.inputs)])


class Framework:
    """A set of operators under their own names.

    `version_word` is what `opset` is called, `newest` the last of them that was read.
    """

    def __init__(
        self, name: str, title: str, version_word: str = "opset", newest: int | None = None
    ) -> None:
        self.name, self.title = name, title
        self.version_word, self.newest = version_word, newest
        self.operators: dict[str, Operator] = {}

    def __repr__(self) -> str:
        return f"<Framework {self.name}>"

    def __getattr__(self, name: str) -> Operator:
        """Every declared operator, under its name as Python can write it: `at_set` for `at.set`."""
        operators = self.__dict__.get("operators", {})
        for operator in operators.values():
            if operator.name.replace(".", "_") == name:
                found: Operator = operator
                return found
        raise AttributeError(f"{self.__dict__.get('name')} has no operator {name!r}")

    def __dir__(self) -> list[str]:
        return [operator.name.replace(".", "_") for operator in self.operators.values()]

    @property
    def comparisons(self) -> list[tuple[Operator, Comparison]]:
        """How calls of common concepts become calls of these operators, in the order declared."""
        operators = self.operators.values()
        return [(operator, one) for operator in operators for one in operator.compares]

    def operator(
        self,
        *,
        example: str,
        refused: str,
        name: str = "",
        versions: tuple[int, ...] = (),
        until: int | None = None,
        bare: bool = False,
        compares: Sequence[Comparison] = (),
    ) -> Callable[[Callable[..., Layout]], Operator]:
        """Declare the decorated layout function as an operator of this framework.

        `example` and `refused` are argument lines as a shell user would type them: one that runs,
        one that is refused because of an index, shape or type. `bare`: also a top-level command.
        `compares`: how calls of common concepts become calls of this operator.
        """

        def declare(function: Callable[..., Layout]) -> Operator:
            operator = Operator(
                self,
                name or function.__name__,
                function,
                example=example,
                refused=refused,
                versions=versions,
                until=until,
                bare=bare,
                compares=compares,
            )
            self.operators[operator.name] = operator
            return operator

        return declare


def loaded(name: str) -> Framework:
    """The framework whose module or package bears this name, with all its operators.

    A package's modules are all imported, so that none of them can be forgotten.
    """
    module = import_module(f"gscli.frameworks.{name}")
    if hasattr(module, "__path__"):
        from pkgutil import iter_modules

        for part in iter_modules(module.__path__):
            import_module(f"{module.__name__}.{part.name}")
    found: Framework = module.FRAMEWORK
    found.__doc__ = module.__doc__
    return found


def _declared(framework: str, name: str) -> Operator:
    """The operator that a pickle names."""
    return loaded(framework).operators[name]
