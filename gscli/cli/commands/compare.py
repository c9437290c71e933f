"""`gscli compare CONCEPT …`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperOption

from gscli.base import UsageError
from gscli.cli.building import (
    SHORT,
    Command,
    Complete,
    Parameter,
    application,
    command_of,
    option,
    shared_option,
    words_argument,
)
from gscli.cli.completion import list_of, one_of
from gscli.cli.options import DOCUMENT, SHARED, Settings
from gscli.cli.tree import LazyGroup
from gscli.cli.work.runtimes import Asked, runtime_parameters
from gscli.frameworks import NAMES, framework
from gscli.frameworks.operator import ConceptName
from gscli.lab.concepts import CONCEPTS, REDUCTION_NAMES, Concept

DRAWING = (
    "dtype", "max_bytes", "precision", "show", "rows", "full", "svg", "theme",
    "html", "plain", "quiet", "color", "palette", "width",
    "debug",
)  # fmt: skip


class ConceptGroup(LazyGroup):
    """One command per concept."""

    def summaries(self) -> dict[str, str]:
        """Concepts and what they mean."""
        return {name: concept.summary for name, concept in CONCEPTS.items()}

    def build(self, name: str) -> Any:
        """The command of one concept."""
        concept = next((known for known in CONCEPTS if known == name), None)
        if concept is None:
            _refuse_operators(name)
            return None
        inputs = tuple(item.upper() for item in CONCEPTS[concept].inputs)
        command = type("Command", (Command,), {"inputs": inputs})
        run, parameters = _function(concept), _parameters(concept)
        return command_of(name, run, parameters, cls=command, help=_help(concept))


def _refuse_operators(name: str) -> None:
    """Say which operation to compare, where a framework or an operator of one was named."""
    if name in NAMES:
        raise UsageError(
            f"compare takes an operation that frameworks share, not the framework {name}",
            valid=" ".join(CONCEPTS),
            hint=f"name the operation, and --as {name} behind it",
        )
    for framework_name in NAMES:
        for operator, comparison in framework(framework_name).comparisons:
            if operator.command == name:
                raise UsageError(
                    f"compare knows {operator.full_name} as {comparison.concept}",
                    valid=" ".join(CONCEPTS),
                    hint=f"gscli compare {comparison.concept} --help",
                )


def compare() -> Any:
    """The group."""
    app = application(
        cls=ConceptGroup,
        name="compare",
        help="The same inputs under every framework's rules; exit status 1 when answers differ.",
        no_args_is_help=True,
    )
    app.callback()(lambda: None)
    return typer.main.get_command(app)


def _help(name: ConceptName) -> str:
    concept = CONCEPTS[name]
    examples = {
        False: "'[10,20,30,40]' '[0,-1,9]'",
        True: "'[1,2,3,4]' '[[0],[-1]]' '[9,8]'"
        if name == "scatter-nd"
        else "'[1,2,3,4]' '[0,3]' '[9,8]'",
    }
    words = (
        "'[[1,2],[3,4]]' '[[0,1],[1,-1]]'" if name == "gather-nd" else examples[concept.scatters]
    )
    return (
        f"Compare how frameworks {concept.summary}.\n\nRows that answer alike are one row. "
        "--as onnx,tf,jax picks and orders them; the first is what the others are compared with. "
        "--opset 11,13,18 gives each of these versions of ONNX a row."
        f"\n\n\b\nExamples:\n  gscli compare {name} {words}\n"
        f"  gscli compare {name} {words} --as numpy,torch,jax --json"
    )


def _function(name: ConceptName) -> Callable[..., int]:
    def run(words: tuple[str, ...] = (), **options: Any) -> int:
        from gscli.cli.work.compare import Wanted, compare_concept, opset_numbers

        arguments = {key: options.pop(key, None) for key in ("axis", "batch_dims", "reduction")}
        only, opsets = (_parts(options.pop(key)) for key in ("only", "opsets"))
        asked = Asked(*(options.pop(key) for key in ("on", "python", "patience")))
        wanted = Wanted(only, opset_numbers(opsets))
        return compare_concept(name, list(words), arguments, wanted, asked, Settings(**options))

    return run


def _parameters(name: ConceptName) -> list[Parameter]:
    return [
        words_argument(),
        *_arguments(CONCEPTS[name]),
        _option("only", "--as", str, "frameworks to compare, the first is the base", "LIST",
                _complete_frameworks(name)),
        _option("opsets", "--opset", str, "a row for each of these versions of ONNX", "LIST"),
        *runtime_parameters(),
        *map(shared_option, (DOCUMENT, *(SHARED[one] for one in DRAWING))),
    ]  # fmt: skip


def _parts(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _arguments(concept: Concept) -> list[TyperOption]:
    found: list[TyperOption] = []
    if concept.takes_axis:
        found.append(_option("axis", "--axis", int, "axis that the indices address", "N"))
    if concept.takes_batch_dims:
        found.append(_option("batch_dims", "--batch-dims", int, "leading axes shared", "N"))
    if concept.takes_reduction:
        text = f"{', '.join(REDUCTION_NAMES[:-1])} or {REDUCTION_NAMES[-1]}"
        complete = one_of(REDUCTION_NAMES)
        found.append(_option("reduction", "--reduction", str, text, "NAME", complete))
    return found


def _complete_frameworks(name: ConceptName) -> Complete:
    """Names for `--as`: frameworks that declare a comparison of the concept."""

    def complete(incomplete: str) -> list[str]:
        declared = [
            known
            for known in NAMES
            if any(one.concept == name for _, one in framework(known).comparisons)
        ]
        return list_of(declared)(incomplete)

    return complete


def _option(
    name: str, flag: str, kind: type, text: str, metavar: str, complete: Complete | None = None
) -> TyperOption:
    flags = (SHORT[name], flag) if name in SHORT else (flag,)
    return option(name, *flags, kind=kind, help=text, metavar=metavar, complete=complete)
