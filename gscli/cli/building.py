"""Typer with the project's settings, and its parameters from what gscli declares."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, TypeAlias

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from gscli.base.errors import UsageError
from gscli.cli.options import SHARED, Settings, Shared

HELP_NAMES = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

COMPLETION_VARIABLE = "_GSCLI_COMPLETE"
"""Set by the completion scripts of the shells; the words are in other variables then."""

Parameter: TypeAlias = inspect.Parameter | TyperOption | TyperArgument

Complete: TypeAlias = Callable[[str], list[str]]
"""What a shell offers for a word that is not complete."""


class Command(TyperCommand):
    """A command whose help lists options under headings, its own before the shared ones."""

    inputs: tuple[str, ...] = ()
    """Inputs in the usage line, under the framework's own names."""

    def invoke(self, ctx: Any) -> Any:
        """Options that stand before the command count where it was not given its own."""
        before: dict[str, object] = ctx.find_root().obj or {}
        for name, value in before.items():
            source = ctx.get_parameter_source(name)
            if name in ctx.params and source is not None and source.name != "COMMANDLINE":
                ctx.params[name] = value
        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        options, *arguments = super().collect_usage_pieces(ctx)
        return [*(self.inputs or (word.strip("{}") for word in arguments)), options]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        headings: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
                heading = getattr(parameter, "rich_help_panel", None) or kind
                headings.setdefault(heading, []).append(record)
        next(reversed(headings.values())).append(headings["Options"].pop())  # --help, at the end
        for heading, rows in headings.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def application(**settings: Any) -> typer.Typer:
    """A Typer with the project's settings: plain help, no boxed tracebacks."""
    return typer.Typer(
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=HELP_NAMES,
        **{"add_completion": False, **settings},
    )


def tool(name: str, *shared: Shared | str) -> Callable[[Callable[..., int]], Any]:
    """Makes a function the command `name`; its module's docstring is the help, but the first line.

    The options in `shared` come as the function's keyword `settings`.
    """
    declared = [SHARED[one] if isinstance(one, str) else one for one in shared]
    headed = [
        one._replace(heading="Options") if one.heading == "Result" else one for one in declared
    ]

    def build(function: Callable[..., int]) -> Any:
        def run(**arguments: Any) -> int:
            given = {one.name: arguments.pop(one.name) for one in declared}
            if shared:
                arguments["settings"] = Settings(**given)
            return function(**arguments)

        text = (sys.modules[function.__module__].__doc__ or "").partition("\n\n")[2].rstrip()
        own = inspect.signature(function, eval_str=True).parameters.values()
        kept = [parameter for parameter in own if parameter.name != "settings"]
        return command_of(name, run, [*kept, *map(shared_option, headed)], help=text)

    return build


def command_of(
    name: str, function: Callable[..., int], parameters: Sequence[Parameter], **settings: Any
) -> Any:
    """The command of a function that takes some parameters by name.

    typer makes what is declared as it likes it; parameters that are made already keep their places,
    and where nothing else is declared typer has nothing to read.
    """
    settings = {"cls": Command, "context_settings": HELP_NAMES, **settings}
    declared = [one for one in parameters if isinstance(one, inspect.Parameter)]
    if not declared:
        kind, text = settings.pop("cls"), inspect.cleandoc(settings.pop("help"))
        made = {"callback": function, "params": list(parameters), "help": text}
        return kind(name, **made, **settings, rich_markup_mode=None)
    app = application()
    app.command(name, **settings)(signed(function, declared))
    found: Any = typer.main.get_command(app)
    taken = iter(found.params)
    found.params = [next(taken) if one in declared else one for one in parameters]
    return found


def files_argument(metavar: str, help_text: str) -> Any:
    """A word, or words, that name files."""
    return typer.Argument(metavar=metavar, help=help_text, autocompletion=complete_file)


def signed(
    function: Callable[..., int], parameters: Sequence[inspect.Parameter]
) -> Callable[..., int]:
    """A function that does the same, with the signature that typer reads."""

    def command(**arguments: Any) -> int:
        return function(**arguments)

    command.__doc__ = function.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    command.__annotations__ = {found.name: found.annotation for found in parameters}
    return command


def option(
    name: str,
    *flags: str,
    kind: Callable[[str], Any] = str,
    complete: Complete | None = None,
    **settings: Any,
) -> TyperOption:
    """An option, made at once: what typer does to a declaration takes four times as long."""
    offered = None if complete is None else lambda _context, _words, word: complete(word)
    return TyperOption(
        param_decls=[name, *flags], is_flag=kind is bool, type=None if kind is bool else kind,
        autocompletion=offered, **settings,
    )  # fmt: skip


def words_argument() -> TyperArgument:
    """Every positional word; which input it is, is decided when all are known."""
    return TyperArgument(
        param_decls=["words"], nargs=-1, hidden=True,
        autocompletion=lambda _context, _words, word: complete_file(word),
    )  # fmt: skip


def complete_file(incomplete: str) -> list[str]:
    """Files that an input may be."""
    from gscli.cli.completion import files_for

    return files_for(incomplete)


def completed(choices: Sequence[str], special: str = "") -> Complete | None:
    """What completes one of some names, or what is `special`; None where no shell asks for it.

    typer looks at the signature of each such function, which takes a tenth of a small run.
    """
    if not os.environ.get(COMPLETION_VARIABLE):
        return None
    from gscli.cli.completion import SPECIAL, one_of

    return SPECIAL.get(special) or (one_of(choices) if choices else None)


def shared_option(shared: Shared, *, hidden: bool = False) -> TyperOption:
    """A shared option; help and completion leave a hidden one out."""
    return option(
        shared.name,
        *shared.flags,
        kind=bool if shared.kind is bool else _parser(shared),
        default=shared.default,
        help=shared_help(shared),
        hidden=hidden,
        metavar=shared.metavar or ("" if shared.name in STANDING_ALONE else None),
        envvar=shared.environment or None,
        show_envvar=bool(shared.environment),
        complete=completed(shared.choices, shared.name),
        rich_help_panel=shared.heading,
    )


STANDING_ALONE = ("json", "in_place")
"""Shared options with choices that need not be given; their help says what they mean."""


def shared_help(shared: Shared) -> str:
    """Help of a shared option, its choices behind it."""
    if not shared.choices or shared.name in STANDING_ALONE:
        return shared.help
    default = f" (default {shared.default})" if shared.default is not None else ""
    return f"{shared.help}: {' '.join(shared.choices)}{default}"


def _parser(shared: Shared) -> Callable[[str], Any]:
    if shared.kind is int:
        return lambda text: _whole_number(shared.name, text)
    if shared.choices:
        return lambda text: chosen(shared.name, text, shared.choices)
    return str


def _whole_number(name: str, value: str | int) -> int:
    text = str(value)  # the parser converts defaults too
    if not (text.isascii() and text.isdigit() and len(text) <= 9):  # noqa: PLR2004  of digits
        raise UsageError(
            f"{name} takes a whole number", where=f"--{name} {text}"[:100], valid="0, 1, 2, …"
        )
    return int(text)


def chosen(name: str, text: str, choices: Sequence[str]) -> str:
    """`text` where it is one of the choices; UsageError with the nearest one.

    >>> chosen("color", "never", ("auto", "never"))
    'never'
    """
    if text in choices:
        return text
    near = get_close_matches(text.lower(), choices, 1, 0.5)
    raise UsageError(
        f"unknown {name}: {text!r}"[:200],
        valid=" ".join(choices),
        hint=f"did you mean {near[0]}?" if near else "",
    )


def close_names(name: str, known: Sequence[str]) -> Iterator[str]:
    """Known names near a wrong one: those that it begins, then up to three that are spelt like it.

    >>> list(close_names("scatter", ["gather", "scatter-nd", "scatter-update"]))
    ['scatter-nd', 'scatter-update']
    """
    longer = [one for one in known if name and one.startswith(f"{name}-")]
    yield from longer or get_close_matches(name, known, 3, 0.65)
