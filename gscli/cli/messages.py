"""Errors and warnings printed on stderr (`gscli.base.messages` has their text).

What the parser refuses and what nobody foresaw get the same form. Light on purpose: neither numpy
nor rich, so that a usage error is as quick as help.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from traceback import walk_tb
from typing import Any, get_args

from gscli.base import CannotRead, ContentRefused, ExitCode, GscliError, UsageError
from gscli.base.messages import format_message
from gscli.base.words import format_command, format_suggestion, quote_word, suggest_names
from gscli.cli.options import (
    SHARED_OPTIONS,
    ColorChoice,
    Screen,
    detect_screen,
    make_value_error,
    parse_width,
    print_stderr,
    split_at_end,
)


class InternalError(GscliError):
    """Something gscli did not foresee."""

    code = ExitCode.INTERNAL_ERROR


def report_error(error: GscliError, side: Screen, *, as_json: bool) -> int:
    """Print an error on stderr, which is such a screen, or as JSON; its exit code."""
    error.hint = error.hint or make_default_hint(error, "gscli")
    if as_json:
        import json

        print_stderr(json.dumps({"error": error.to_dict(), **error.document}) + "\n")
    else:
        print_message(error, side)
    return int(error.code)


def print_message(error: GscliError, side: Screen) -> None:
    """Print a refusal or a warning on stderr, which is such a screen."""
    print_stderr(format_message(error, color=side.color, width=side.width, utf8=side.utf8))


# What begins as an option would, and is a number or a member of standard input.
_INPUT = re.compile(r"-(:|\.?\d)")


# What one framework calls so and another otherwise.
_SYNONYMS = (
    {"axis", "axes", "dim"},
    {"reduction", "reduce", "update-computation"},
    {"data", "input", "params", "operand", "tensor"},
    {"indices", "index", "ids", "segment-ids"},
    {"updates", "update", "src", "source", "values"},
    {"output", "out"},
    {"explain", "step"},
)


def translate_usage_error(error: Any, words: Sequence[str], path: str) -> UsageError:
    """The parser's refusal in our form: lower case, near names and a way on."""
    from typer.core import TyperGroup

    match error:
        case object(option_name=str(option)) if _INPUT.match(option):
            typed = quote_word(next((word for word in words if word.startswith(option)), option))
            hint = f"inputs that begin with - stand behind --, after all options: -- {typed}"
            return UsageError(f"{typed} looks like an option", hint=hint)
        case object(option_name=str(option), possibilities=known, ctx=context):
            is_group, names = isinstance(context.command, TyperGroup), path.split()[1:]
            verb = _find_verb(option, names)
            if is_group and (verb or context.command.has_option(option, context)):
                hint = format_command(["gscli", *filter(None, [verb]), *names, "COMMAND", option])
                return UsageError(f"{option} stands behind the command", hint=hint)
            if any(option in shared.flags for shared in SHARED_OPTIONS.values()):
                is_page = (path, option) == ("gscli page", "--html")
                hint = "-o FILE names the page" if is_page else f"leave out {option}"
                tool = " ".join(path.split()[:2])  # whatever operator stands behind it
                return UsageError(f"{tool} has no use for it", where=option, hint=hint)
            named = {name.lstrip("-"): name for name in known or ()}  # dashes make all alike
            plain = option.lstrip("-")
            flags = {flag for item in context.command.params for flag in item.opts}
            meant = [f"--{name}" for names in _SYNONYMS if plain in names for name in names]
            write, otherwise = named.__getitem__, f"{path} --help"
            near = suggest_names(plain, named, otherwise, similarity=0.67, write=write)
            hint = format_suggestion(sorted(flags.intersection(meant)), near)
            if verb:
                hint = format_command(["gscli", verb, *names, *_leave_out_expected(words)])
            return UsageError(f"no such option: {option}"[:200], hint=hint)
        case object(param=object(name=str(name), envvar=str(variable))):
            return make_value_error(name, os.environ[variable], "yes or no", "1 0 yes no")
    problem = str(error.format_message()).rstrip(". ")
    return UsageError(problem[:1].lower() + problem[1:], hint=f"{path} --help")


# Options that an operator has behind a verb alone, and the verb that is meant.
_OPTIONS_OF_VERBS = {"--code": "explain", "--cotangent": "grad", "--of": "grad"}


def _find_verb(option: str, names: Sequence[str]) -> str:
    """The verb that has an option which operators alone have not; nothing behind other tools."""
    from gscli.frameworks import ALIASES, NAMES, bare_operators

    operators = *NAMES, *ALIASES, *(operator.command for operator in bare_operators())
    return _OPTIONS_OF_VERBS.get(option, "") if not names or names[0] in operators else ""


def _leave_out_expected(words: Sequence[str]) -> list[str]:
    """Words of a call without the answer that is expected of it, which the verbs do not take.

    >>> _leave_out_expected(["[1]", "--expect", "y.npy", "-q", "--expect=[2]"])
    ['[1]', '-q']
    """
    pairs = zip(["", *words], words, strict=False)
    return [word for before, word in pairs if "--expect" not in (before, word.partition("=")[0])]


# Commands whose files hold no tensors but runs, cases, jobs or scripts, or go by their bytes.
_READERS_OF_OTHERS = ("page", "verify", "batch", "watch", "cases", "fuzz", "undo")


def make_default_hint(error: GscliError, path: str) -> str:
    """How to go on after a refusal by the command `path` that nobody closer to it had a word for.

    >>> make_default_hint(UsageError("an axis too many"), "gscli gather")
    'gscli gather --help'
    """
    reads_tensors = path.removeprefix("gscli ") not in _READERS_OF_OTHERS
    if reads_tensors and isinstance(error, ContentRefused | CannotRead):
        return "what is read, and how it is written: gscli help inputs"
    return error.usual_hint or f"{path} --help"


def make_internal_error(error: Exception) -> GscliError:
    """What gscli did not foresee, and where; CannotRead of a package that this Python lacks."""
    if isinstance(error, ModuleNotFoundError) and not (error.name or "gscli").startswith("gscli"):
        package = str(error.name).partition(".")[0]
        hint = f"{quote_word(sys.executable)} -m pip install {package}"
        return CannotRead(f"this needs the package {package}", where=sys.executable, hint=hint)
    *_, (frame, line) = walk_tb(error.__traceback__)
    place = f"{os.path.basename(frame.f_code.co_filename)}:{line} in {frame.f_code.co_name}"
    where = f"{type(error).__name__}: {error}"[:200]
    hint = "please report it with the command and its inputs; --debug shows the traceback"
    return InternalError("this is a bug in gscli", where=where, details=(place,), hint=hint)


def stderr_screen(arguments: Sequence[str]) -> Screen:
    """Stderr when no option is parsed yet: `--color` and `--width` are looked up in the words."""
    color, width = (
        find_option_value(f"--{name}", arguments) or os.environ.get(f"GSCLI_{name.upper()}", "")
        for name in ("color", "width")
    )
    choice: Any = color if color in get_args(ColorChoice) else "auto"
    columns = parse_width(width) or 0
    is_allowed = columns >= SHARED_OPTIONS["width"].minimum
    return detect_screen(sys.stderr, choice, columns if is_allowed else None)


def find_option_value(option: str, words: Sequence[str]) -> str | None:
    """The value of an option in words that no parser has looked at; the last one counts.

    >>> (
    ...     find_option_value("--width", ["--width", "60", "--width=70"]),
    ...     find_option_value("--color", ["--color"]),
    ... )
    ('70', None)
    """
    value, (options, rest) = None, split_at_end(words)
    for word, following in zip(options, [*options[1:], *rest[:1], None], strict=False):
        if word == option and following is not None:
            value = following
        elif word.startswith(option + "="):
            value = word.partition("=")[2]
    return value


def is_json_requested(words: Sequence[str]) -> bool:
    """Whether errors are wanted as JSON too.

    >>> is_json_requested(["gather", "--json=output"]), is_json_requested(["--", "--json"])
    (True, False)
    """
    return any(word == "--json" or word.startswith("--json=") for word in split_at_end(words)[0])
