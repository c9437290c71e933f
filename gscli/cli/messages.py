"""Errors and warnings as text: what, where, why in the reader's numbers, how to go on.

    error: index out of range
      --> idx.npy: indices[3,0] = 5
       |  indices[3] = (5, 0)
       |                ^ axis 0 of data has size 4: valid are -4 … 3
      help: gscli compare scatter-nd data.npy idx.npy upd.npy

What the parser refuses and what nobody foresaw get the same form. Light on purpose: neither numpy
nor rich, so that a usage error is as quick as help.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from textwrap import wrap
from traceback import walk_tb
from typing import Any, get_args
from unicodedata import east_asian_width

from gscli.base import (
    CannotRead,
    CannotWrite,
    CaretLine,
    ContentRefused,
    Detail,
    ExitCode,
    GscliError,
    Notice,
    UsageError,
)
from gscli.base.words import sanitize, suggest_names
from gscli.cli.options import (
    NARROWEST,
    ColorChoice,
    Screen,
    detect_screen,
    parse_width,
    print_stderr,
    split_at_end,
)

_LIMIT = 1000
_RED, _YELLOW, _CYAN, _BOLD, _DIM = "1;31", "1;33", "1;36", "1", "2"
_ASCII = str.maketrans({"…": "...", "×": "x", "–": "-", "—": "-", "→": "->", "≠": "!="})


def format_message(error: GscliError, *, color: bool, width: int, utf8: bool = True) -> str:
    """A refusal or a warning as finished lines, the last one ended too, none wider than `width`.

    >>> from gscli.base import IndexRefused, Notice
    >>> refused = IndexRefused("index out of range", where="indices[3] = 5", valid="-4 … 3")
    >>> print(format_message(refused, color=False, width=80), end="")
    error: index out of range
      --> indices[3] = 5
       |  valid: -4 … 3
    >>> print(format_message(Notice("two entries write one cell"), color=False, width=80), end="")
    warning: two entries write one cell
    """
    is_warning, width = isinstance(error, Notice), max(width, NARROWEST)
    word, style = ("warning: ", _YELLOW) if is_warning else ("error: ", _RED)
    lines = _format_block(word, error.problem, style, _BOLD, color, width)
    lines += _format_block("  --> ", error.where, _DIM, "", color, width)
    bar = _apply_style("   |  ", _DIM, color)
    for detail in _collect_details(error):
        body = (
            _format_caret_line(detail, style, color, width - 6)
            if isinstance(detail, CaretLine)
            else _wrap_indented(sanitize(detail, _LIMIT), width - 6)
        )
        lines += [(bar + line).rstrip() for line in body]
    lines += _format_block("  help: ", error.hint, _CYAN, "", color, width)
    text = "\n".join(lines) + "\n"
    if utf8:
        return text
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def _format_block(
    label: str, text: str, label_style: str, text_style: str, color: bool, width: int
) -> list[str]:
    """`text` behind `label`, continued under itself."""
    if not text:
        return []
    parts = _wrap_text(sanitize(text, _LIMIT), width - len(label))
    heads = [_apply_style(label, label_style, color)] + [" " * len(label)] * (len(parts) - 1)
    return [
        head + _apply_style(part, text_style, color)
        for head, part in zip(heads, parts, strict=True)
    ]


def _wrap_text(text: str, width: int) -> list[str]:
    wide = any(east_asian_width(character) in "WF" for character in text)
    return wrap(text, width // 2 if wide else width, break_on_hyphens=False) or [""]


def _apply_style(text: str, style: str, color: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if color and style else text


def _collect_details(error: GscliError) -> list[Detail]:
    """Detail lines and the legal range; a lone caret carries its reason behind it."""
    details, valid = list(error.detail_items), error.valid
    pointed = [detail for detail in details if isinstance(detail, CaretLine)]
    if len(pointed) == 1 and pointed == details[-2:-1]:
        reason = f"{details.pop()}{f': valid are {valid}' if valid else ''}"
        details[-1] = pointed[0]._replace(note=reason)
    elif valid:
        details.append(f"valid: {valid}")
    return details


def _wrap_indented(line: str, width: int) -> list[str]:
    if len(line) <= width and line.isascii():
        return [line]
    indent = " " * min(len(line) - len(line.lstrip()), width // 2)
    return [indent + part for part in _wrap_text(line.strip(), width - len(indent))]


def _format_caret_line(detail: CaretLine, style: str, color: bool, width: int) -> list[str]:
    """A line cut so that what is pointed at stays, carets below it, and the note behind those."""
    end = detail.start + detail.length
    before = sanitize(detail.text[: detail.start], _LIMIT)
    part = sanitize(detail.text[detail.start : end], _LIMIT)
    line = before + part + sanitize(detail.text[end:], _LIMIT)
    start, length = len(before), max(len(part), 1)
    shift = max(0, start + length - width // 2) if start + length > width - 1 else 0
    shown = ("…" if shift else "") + line[shift + bool(shift) :]
    start -= shift
    carets = " " * start + _apply_style("^" * length, style, color)
    note, room = sanitize(detail.note, _LIMIT), width - start - length - 1
    if len(note) > room and room < width // 2:
        below = [carets, *_wrap_text(note, width)]
    else:
        first, *rest = _wrap_text(note, room) if note else [""]
        below = [f"{carets} {first}", *(" " * (start + length + 1) + more for more in rest)]
    return [shown if len(shown) <= width else shown[: width - 1] + "…", *below]


class InternalError(GscliError):
    """Something gscli did not foresee."""

    code = ExitCode.INTERNAL_ERROR


def report_error(error: GscliError, arguments: Sequence[str]) -> int:
    """Print an error on stderr, as JSON when the run was asked for JSON; its exit code."""
    error.hint = error.hint or make_default_hint(error, "gscli")
    if is_json_requested(arguments):
        import json

        print_stderr(json.dumps({"error": error.to_dict()}) + "\n")
    else:
        print_message(error, stderr_screen(arguments))
    return int(error.code)


def print_message(error: GscliError, side: Screen) -> None:
    """Print a refusal or a warning on stderr, which is such a screen."""
    print_stderr(format_message(error, color=side.color, width=side.width, utf8=side.utf8))


def translate_usage_error(error: Any, words: Sequence[str], path: str) -> UsageError:
    """The parser's refusal in our form: lower case, near names and a way on."""
    match error:
        case object(option_name=str(option), possibilities=[*known]):
            named = {name.lstrip("-"): name for name in known}  # dashes make all names alike
            plain, otherwise = option.lstrip("-"), f"{path} --help"
            hint = suggest_names(plain, named, otherwise, write=named.__getitem__)
            return UsageError(f"no such option: {option}"[:200], hint=hint)
        case object(option_name=str(option)) if option.lstrip("-").replace(".", "", 1).isdecimal():
            typed = next((word for word in words if word.startswith(option)), option)
            hint = f"inputs that begin with - stand behind --, after all options: -- {typed}"
            return UsageError(f"{typed} looks like an option", hint=hint)
    problem = str(error.format_message()).rstrip(". ")
    return UsageError(problem[:1].lower() + problem[1:], hint=f"{path} --help")


def make_default_hint(error: GscliError, path: str) -> str:
    """How to go on after a refusal by the command `path` that nobody closer to it had a word for.

    >>> make_default_hint(UsageError("an axis too many"), "gscli gather")
    'gscli gather --help'
    """
    if isinstance(error, CannotWrite):
        return "-o FILE names another place; see that its folder is there and may be written to"
    if isinstance(error, ContentRefused | CannotRead):
        return "what is read, and how it is written: gscli help inputs"
    return f"{path} --help"


def make_internal_error(error: Exception) -> InternalError:
    """What gscli did not foresee, and where."""
    *_, (frame, line) = walk_tb(error.__traceback__)
    place = f"{os.path.basename(frame.f_code.co_filename)}:{line} in {frame.f_code.co_name}"
    return InternalError(
        "this is a bug in gscli",
        where=f"{type(error).__name__}: {error}"[:200],
        details=(place,),
        hint="please report it with the command and its inputs; --debug shows the traceback",
    )


def stderr_screen(arguments: Sequence[str]) -> Screen:
    """Stderr when no option is parsed yet: `--color` and `--width` are looked up in the words."""
    color, width = (
        find_option_value(f"--{name}", arguments) or os.environ.get(f"GSCLI_{name.upper()}", "")
        for name in ("color", "width")
    )
    choices: tuple[ColorChoice, ...] = get_args(ColorChoice)
    choice: ColorChoice = next((known for known in choices if known == color), "auto")
    return detect_screen(sys.stderr, choice, parse_width(width))


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
