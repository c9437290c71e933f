"""Commands from declarations: of operators, and of functions that are tools."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from gscli.base import GscliError, UsageError
from gscli.base.records import group_pairs
from gscli.base.words import format_flag, format_suggestion, suggest_file, suggest_names
from gscli.cli.options import (
    MAX_NUMBER,
    SHARED_OPTIONS,
    CommandOption,
    Settings,
    argument,
    check_combinations,
    complete_declaration,
    complete_names,
    make_value_error,
    name_variable,
    parse_output_path,
    split_at_end,
)
from gscli.declare.attributes import Attribute
from gscli.frameworks.operator import Operator

if TYPE_CHECKING:
    from gscli.cli import call

    Call: TypeAlias = call.Call
else:
    Call = Any  # annotations of commands are evaluated, and the class would load NumPy

HELP_NAMES = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

Parameter: TypeAlias = TyperOption | TyperArgument

# What a command does with a `Call` (gscli.cli.call); it takes options of its own by name.
OperatorAction: TypeAlias = Callable[..., int]

# Options that only an operator with data to change has use for; others take and refuse them.
IN_PLACE = ("in_place", "message")

SHORT_FLAGS = {"axis": "-a", "reduction": "-r"}
_METAVARS = {"int": "INT", "ints": "INTS", "sizes": "INTS", "number": "NUMBER"}


class HintedCommand:
    """What a command refuses tells how to go on, at the least by the name of its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with add_default_hint(ctx.command_path, [*args]):
            self._refuse_misspelt_options(args)
            return super().parse_args(ctx, args)  # type: ignore[misc,no-any-return]  # a mixin

    def _refuse_misspelt_options(self, words: Sequence[str]) -> None:
        """`-axis 1` would be read as `-a xis`: the name of an option needs two dashes. So would a
        file of such a name.

        Of a switch with two names, `--include-self=False` says which it means by the other one; so
        does `--include-self False`, which would be an input. An option behind `--` would be one.
        """
        flags = {flag: item for item in self.params for flag in item.opts}  # type: ignore[attr-defined]
        (options, rest), is_group = split_at_end(words), not isinstance(self, TyperCommand)
        for name in (word.partition("=")[0] for word in rest if not os.path.exists(word)):
            # what stands there is passed on to a command, or to the program that is watched
            if name in flags and not (is_group or self.name == "watch"):  # type: ignore[attr-defined]
                raise UsageError(f"{name} stands behind --", hint="options stand before --")
        for before, word in zip(["", *options], options, strict=False):
            name, mark, _ = word.partition("=")
            # -a is --axis beside an input --a, and m no option at all
            if word.startswith("-") and f"-{name}" in flags and name not in flags:
                hint = format_suggestion([f"-{word}"])
                raise UsageError(f"no such option: {word}"[:200], hint=hint[:200])
            if word.lower() in ("true", "false"):
                name, mark = before, word
            if mark and name in flags and flags[name].secondary_opts:
                hint = f"{name} says true, {flags[name].secondary_opts[0]} says false"
                raise UsageError(f"{name} takes no value", where=word[:200], hint=hint)
            is_known = name in flags or not getattr(flags.get(before), "is_flag", True)
            looks_alike = word.startswith("-") and word != "-" and not (is_group or is_known)
            if looks_alike and (hint := suggest_file(word)):
                raise UsageError(f"{word} looks like an option", hint=hint)

    def invoke(self, ctx: Any) -> Any:
        with add_default_hint(ctx.command_path):
            return super().invoke(ctx)  # type: ignore[misc]  # a mixin


@contextmanager
def add_default_hint(path: str, words: Sequence[str] = ()) -> Iterator[None]:
    """Refusals without a hint get one; what the parser refuses of some words becomes our error."""
    try:
        yield
    except REFUSED as error:
        from gscli.cli.messages import translate_usage_error

        raise translate_usage_error(error, words, path) from None
    except GscliError as error:
        from gscli.cli.messages import make_default_hint

        error.hint = error.hint or make_default_hint(error, path)
        raise


# All that the parser refuses.
REFUSED: Any = typer.BadParameter.__base__


class Command(HintedCommand, TyperCommand):
    """The command of a function, with declarations of its own and some of the shared options, which
    come as the function's keyword `settings`.

    Help lists options under headings, its own before the shared ones. `inputs`: what the usage line
    shows of them, under the framework's own names.
    """

    def __init__(
        self, name: str, function: Callable[..., int], shared: Sequence[CommandOption],
        help_text: str, own: Sequence[CommandOption] | None = None, inputs: Sequence[str] = (),
    ) -> None:  # fmt: skip
        declared = list_declarations(function)
        defaults = {entry.name: entry.default for entry in declared}
        options = [*(declared if own is None else own), *shared]

        def run(**arguments: Any) -> int:
            values = {entry.name: arguments.pop(entry.name) for entry in shared}
            if shared:
                arguments["settings"] = Settings(**values)
            return function(**{**defaults, **arguments})

        super().__init__(
            name, callback=run, params=[*map(make_parameter, options)],
            help=inspect.cleandoc(help_text), context_settings=HELP_NAMES, rich_markup_mode=None,
        )  # fmt: skip
        self.options, self.input_metavars = options, inputs

    def invoke(self, ctx: Any) -> Any:
        """Options that stand before the command count where it was not given its own.

        They are defaults, as variables are: only what stands behind it can be one too many.
        """
        root = ctx.find_root()
        typed = {name: value for name, value in ctx.params.items() if _is_typed(ctx, name)}
        check_combinations(self.options, {**dict.fromkeys(ctx.params), **typed})
        untyped = root.params.keys() & ctx.params.keys() - typed.keys()
        ctx.params |= {name: root.params[name] for name in untyped if _is_typed(root, name)}
        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        options, *arguments = super().collect_usage_pieces(ctx)
        return [*(self.input_metavars or (word.strip("{}") for word in arguments)), options]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        pairs = (
            (getattr(each, "rich_help_panel", None) or f"{each.param_type_name.title()}s", record)
            for each in self.get_params(ctx)
            if (record := each.get_help_record(ctx)) is not None
        )
        headings: dict[str, list[Any]] = {"Arguments": [], "Options": []} | group_pairs(pairs)
        next(reversed(headings.values())).append(headings["Options"].pop())  # --help, at the end
        for heading, rows in headings.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def _is_typed(ctx: Any, name: str) -> bool:
    return bool(ctx.get_parameter_source(name).name == "COMMANDLINE")


class SingleOption(TyperOption):
    """An option that may stand again, but not with another value."""

    def add_to_parser(self, parser: Any, ctx: Any) -> None:
        self.multiple = True  # for the parser alone, which else keeps the last value
        super().add_to_parser(parser, ctx)
        self.multiple = False

    def consume_value(self, ctx: Any, opts: Any) -> Any:
        values = opts.get(self.name) or [None]
        if len({*values}) > 1 and not ctx.resilient_parsing:
            flags = [(self.secondary_opts if item is False else self.opts)[-1] for item in values]
            words = flags if self.is_flag else map("=".join, zip(flags, values, strict=True))
            problem, where = f"{self.opts[-1]} stands twice", " ".join(words)[:200]
            raise UsageError(problem, where=where, hint="leave one out")
        return super().consume_value(ctx, opts | {self.name: values[-1]})


def make_parameter(declared: CommandOption) -> Parameter:
    """An option or a word as the parser has it; help and completion leave a hidden one out."""
    facts: dict[str, Any] = {
        "param_decls": [declared.name, *declared.flags],
        "required": declared.default is ...,
        "default": None if declared.default is ... or declared.is_many else declared.default,
        "hidden": declared.is_hidden,
        "autocompletion": partial(_complete, declared),
    }
    if declared.is_word:
        many = -1 if declared.is_many else 1
        return TyperArgument(**facts, nargs=many, metavar=declared.metavar, help=declared.help)
    return SingleOption(
        **facts,
        is_flag=declared.kind is bool,
        type=None if declared.kind is bool else _choose_parser(declared),
        help=format_option_help(declared),
        metavar=declared.metavar or ("" if declared.alone else None),
        envvar=declared.environment or None,
        show_envvar=bool(declared.environment),
        rich_help_panel=declared.heading,
    )


def _complete(declared: CommandOption, context: Any, _words: object, word: str) -> list[str]:
    before = [str(context.params.get(declared.follows))] if declared.follows else []
    complete: Callable[..., list[str]] = declared.complete or complete_names(declared.choices)
    return complete(*before, word)


def tool(name: str, *shared: CommandOption | str) -> Callable[[Callable[..., int]], Command]:
    """Makes a function the command `name`; its module's docstring is the help, but the first line.

    The defaults of its parameters declare them: `argument(…)` or `option(…)`. The options in
    `shared` come as the function's keyword `settings`; a tool has no heading for results.
    """

    def build(function: Callable[..., int]) -> Command:
        text = (sys.modules[function.__module__].__doc__ or "").partition("\n\n")[2].rstrip()
        known = [SHARED_OPTIONS[entry] if isinstance(entry, str) else entry for entry in shared]
        for at, entry in enumerate(known):
            if entry.heading == "Result":
                known[at] = entry._replace(heading="Options")
        return Command(name, function, known, text)

    return build


def list_declarations(function: Callable[..., int]) -> list[CommandOption]:
    """The options and words that the parameters of a command's function declare."""
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return [
        complete_declaration(parameter.name, parameter.annotation, parameter.default)
        for parameter in parameters
        if isinstance(parameter.default, CommandOption)
    ]


def complete_file(incomplete: str) -> list[str]:
    """Files that an input may be."""
    from gscli.cli.completion import complete_path

    return complete_path(incomplete)


# Every positional word; which input it is, is decided when all are known.
WORDS = argument("", "", complete_file, (), name="words", is_hidden=True, is_many=True)


def format_option_help(option: CommandOption) -> str:
    """Help of an option, its choices behind it, or in brackets its default and its range.

    Choices that need not be given are in the help already.
    """
    if not option.choices or option.alone:
        facts = [f"default: {option.default}"] if option.shows_default else []
        if option.kind is int and option.minimum > 0:
            between = f"{option.minimum}<=x<={option.maximum}"
            facts.append(between if option.maximum < MAX_NUMBER else f"x>={option.minimum}")
        return option.help + (f"  [{'; '.join(facts)}]" if facts else "")
    default = f" (default {option.default})" if option.default is not None else ""
    return f"{option.help}: {' '.join(option.choices)}{default}"


def _choose_parser(option: CommandOption) -> Callable[[str], Any]:
    if option.kind in (int, float):
        return partial(_parse_number, option)
    if option.choices:
        return lambda text: parse_choice(option.flags[-1].lstrip("-"), text, option.choices)
    if option.endings is not None:
        return partial(parse_output_path, option.flags[0], endings=option.endings)
    return option.kind


def _parse_number(option: CommandOption, value: object) -> float:
    text = str(value)  # the parser converts defaults too
    digits, is_float = text.removeprefix("-"), option.kind is float
    is_integer = digits.isascii() and digits.isdigit()
    if is_float or (is_integer and len(digits) <= MAX_DIGITS):
        with suppress(ValueError):
            number: float = option.kind(text)
            if option.minimum <= number <= option.maximum:
                return number
    least = option.minimum
    valid = f"{least} … {option.maximum}" if option.maximum < MAX_NUMBER else f"{least} and more"
    valid = valid if least >= 0 else "…, -1, 0, 1, …"
    kind = "a number" if is_float else "another number" if is_integer else "a whole number"
    raise make_value_error(option.flags[-1].lstrip("-"), text, kind, valid)


MAX_DIGITS = 18


def parse_choice(name: str, text: str, choices: Sequence[str]) -> str:
    """`text` where it is one of the choices; UsageError with the nearest one.

    >>> parse_choice("color", "never", ("auto", "never"))
    'never'
    """
    if text in choices:
        return text
    near = suggest_names(text.lower(), choices, count=1, similarity=0.5)
    hint = near if len(choices) > 1 else f"--{name} alone"
    problem, legal = f"--{name} does not take {text!r}"[:200], " ".join(choices)
    raise UsageError(problem, where=name_variable(name, text), valid=legal, hint=hint)


def make_operator_command(
    operator: Operator, action: OperatorAction, path: str, unused: Collection[str] = ()
) -> Command:
    """The command; `path` are the words before the operator's in its examples.

    `unused`: shared options that the action has no use for; the parser does not know them.
    """
    own = [WORDS, *list_own_options(operator), *list_declarations(action)]
    # an only input is indices, which have no gradient
    verb = "gscli explain" if path == "gscli grad" and len(operator.inputs) == 1 else path
    command = operator.command_line.replace("gscli", verb.strip(), 1)

    def run(words: Sequence[str], settings: Settings, **options: Any) -> int:
        texts, named = _pop_prefixed(options, "attr_"), _pop_prefixed(options, "input_")
        from gscli.cli.call import Call

        return action(Call(operator, words, named, texts, settings, command), **options)

    return Command(
        operator.command, run, [*_shared_options(operator, unused)],
        _format_help(operator, command), own, format_input_metavars(operator),
    )  # fmt: skip


def format_input_metavars(operator: Operator) -> tuple[str, ...]:
    """The inputs as a usage line shows them.

    >>> from gscli.frameworks import find_operator
    >>> format_input_metavars(find_operator("onnx.scatter_nd"))
    ('DATA', 'INDICES', 'UPDATES')
    """
    return tuple(
        f"{item.name.upper()}..." if item.kind == "many"
        else f"[{item.name.upper()}]" if item.optional
        else item.name.upper()
        for item in operator.inputs
    )  # fmt: skip


def _pop_prefixed(options: dict[str, Any], prefix: str) -> dict[str, str]:
    """The options whose names begin so, taken out, and the texts of those that were given."""
    values = {name: options.pop(name) for name in list(options) if name.startswith(prefix)}
    return {
        name.removeprefix(prefix): str(value).lower() if isinstance(value, bool) else value
        for name, value in values.items()
        if value is not None
    }


def list_own_options(operator: Operator) -> Iterator[CommandOption]:
    """An option for each attribute and each input, which also goes by its name: `--indices FILE`.

    Their values stay words. A switch has both ways in one flag.
    """
    for attribute in operator.attributes:
        flag, is_switch = format_flag(attribute.name), attribute.kind == "bool"
        yield CommandOption(
            _format_attribute_help(attribute),
            "" if is_switch else _METAVARS.get(attribute.kind, "NAME"),
            SHORT_FLAGS.get(attribute.name, ""), name=f"attr_{attribute.name}",
            kind=bool if is_switch else str, complete=complete_names(attribute.choices),
            flag=f"{flag}/--no-{flag[2:]}" if is_switch else flag,
        )  # fmt: skip
    for item in operator.inputs:
        if item.kind != "many" and item.name not in operator.attributes_by_name:
            yield CommandOption("", name=f"input_{item.name}", flag=item.flag, is_hidden=True)


def _shared_options(operator: Operator, unused: Collection[str]) -> Iterator[CommandOption]:
    """The shared options, but unused ones and those whose flag the operator needs for an attribute
    of its own. Those that nobody can use here are hidden.
    """
    names = {*operator.attributes_by_name, *unused}
    for name, shared in SHARED_OPTIONS.items():
        if name not in names:
            useless = name in IN_PLACE and not operator.is_in_place_capable
            yield shared._replace(is_hidden=useless or shared.is_hidden)


def _format_attribute_help(attribute: Attribute) -> str:
    """Help of an attribute: what it means, its choices, what brought it, its default."""
    declared, parts = attribute.option, [attribute.option.help]
    if attribute.choices:
        since = declared.choices_since
        dated = [
            (choice or "''") + (f" (from {since[choice]})" if choice in since else "")
            for choice in attribute.choices
        ]
        parts.append(": " * bool(declared.help) + " ".join(dated))
    if declared.since is not None and not declared.choices_since:
        parts.append(f" (from opset {declared.since})")
    if attribute.is_required:
        parts.append(" (required)")
    elif attribute.default not in (None, ""):
        parts.append(f" (default {str(attribute.default).lower()})")
    return "".join(parts)


def _format_help(operator: Operator, command: str) -> str:
    """Help: the docstring, then runnable examples, the second of explain."""
    commands = dict.fromkeys([command, operator.command_line.replace("gscli", "gscli explain", 1)])
    lines = [f"  {each} {operator.example}" for each in commands]
    return "\n\n".join([operator.doc, "\n".join(["\b\nExamples:", *lines])])
