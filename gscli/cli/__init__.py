"""The command line, built lazily from the declarations. Light: neither numpy nor rich nor pydantic.

`gscli OPERATOR …` and `gscli FRAMEWORK OPERATOR …` run; `gscli explain …` and `gscli check …` take
the same words. Only the command that is named is built; help lists come from the declarations.

    options.py    the options that commands share, and the terminal that takes what they print
    building.py   commands from declarations: of operators, and of functions that are tools
    tree.py       groups of commands that are built when they are named, and gscli itself
    call/         one call of an operator, from words to its picture; imported when it runs
    commands/     all that is no operator, a file each

Here is the outermost frame: every way a run can end becomes an exit code and at most one message.
No traceback reaches a person: GscliError is printed as itself, usage errors of the parser in the
same form, a closed pipe ends quietly (141), Ctrl-C with 130, and anything else is a bug (70).
"""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TextIO

from gscli.base import (
    CannotRead,
    CannotWrite,
    ContentRefused,
    ExitCode,
    GscliError,
    no_memory,
)
from gscli.base.words import reason

WITHOUT_VALUE = {"--step": "all", "--json": "document", "--in-place": "whole"}
"""Options that may stand alone, and what they mean then."""


def guarded(arguments: Sequence[str]) -> int:
    """Run the command line; returns the exit code."""
    _open_standard_streams()
    try:
        with warnings.catch_warnings():
            _tell_warnings(arguments)
            return _guarded(arguments)
    finally:
        _drop_what_is_unwritten()


def _guarded(arguments: Sequence[str]) -> int:  # noqa: PLR0911  one for every way to end
    try:
        code = _run(arguments)
        _check_inputs()
        sys.stdout.flush()
    except GscliError as error:
        return _told(error, arguments)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except SystemExit as stop:
        return _status(stop)
    except OSError as error:
        if error.errno == errno.EPIPE:
            return ExitCode.CLOSED
        return _told(CannotWrite("cannot write the result", where=reason(error)), arguments)
    except MemoryError:
        return _told(no_memory(), arguments)
    except Exception as error:
        if "--debug" in arguments or os.environ.get("GSCLI_DEBUG"):
            raise
        from gscli.cli.messages import bug

        return _told(bug(error), arguments)
    return code


def _run(arguments: Sequence[str]) -> int:
    import typer

    refused: Any = typer.BadParameter.__base__  # all that a parser refuses
    try:
        return command_line(list(arguments))
    except typer.Abort:
        raise KeyboardInterrupt from None
    except refused as error:
        from gscli.cli.messages import refused_usage

        raise refused_usage(error, arguments) from None


def command_line(arguments: Sequence[str]) -> int:
    """Parse and run; the exit code of the command. Errors propagate."""
    import typer

    from gscli.cli.building import COMPLETION_VARIABLE
    from gscli.cli.tree import RootGroup

    command = RootGroup()
    if os.environ.get(COMPLETION_VARIABLE):
        with suppress(KeyError):  # no shell set it: there are no words to complete
            command.main(args=[], prog_name="gscli", standalone_mode=False)
    try:
        with command.make_context("gscli", with_values(arguments)) as context:
            result = command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    return result if isinstance(result, int) else ExitCode.DONE


def _is_step(word: str) -> bool:
    return word.isdigit() or word == "all"


def with_values(words: Sequence[str]) -> list[str]:
    """Some options take an optional value; the parser knows only options that always do.

    >>> with_values(["--json", "x", "--step", "3", "--", "--json"])
    ['--json=document', 'x', '--step', '3', '--', '--json']
    >>> with_values(["--step"])
    ['--step=all']
    """
    from gscli.cli.options import END_OF_OPTIONS

    end = words.index(END_OF_OPTIONS) if END_OF_OPTIONS in words else len(words)
    options, rest = words[:end], words[end:]
    found: list[str] = []
    for place, word in enumerate(options):
        following = options[place + 1] if place + 1 < end else ""
        alone = word in WITHOUT_VALUE and not (word == "--step" and _is_step(following))
        found.append(f"{word}={WITHOUT_VALUE[word]}" if alone else word)
    return [*found, *rest]


def _check_inputs() -> None:
    """CannotRead where pages of an input were lost, by a command that did not ask itself."""
    mapped = sys.modules.get("gscli.disk.mapped")
    if mapped is not None and mapped.LOST:
        raise CannotRead(
            f"{mapped.LOST[0]} became shorter while it was being read",
            where=mapped.LOST[0],
            details=("what was printed is not to be used",),
        )


def _told(error: GscliError, arguments: Sequence[str]) -> int:
    """Print an error on stderr; its exit code."""
    from gscli.cli.messages import tell_error

    error.hint = error.hint or _way_on(error, arguments)
    tell_error(error, arguments)
    return int(error.code)


def _way_on(error: GscliError, arguments: Sequence[str]) -> str:
    """How to go on after a refusal that nobody closer to it had a word for."""
    if isinstance(error, CannotWrite):
        return "-o FILE names another place; see that its folder is there and may be written to"
    if isinstance(error, ContentRefused | CannotRead):
        return "what is read, and how it is written: gscli help inputs"
    from gscli.cli.tree import command_path

    return f"{command_path(arguments)} --help"


def _tell_warnings(arguments: Sequence[str]) -> None:
    """Print what the readers of files warn of in our form, and other warnings as Python does."""
    plainly, told = warnings.showwarning, set()

    def show(message: Warning | str, *facts: Any) -> None:
        notice = getattr(message, "notice", None)
        if notice is None:
            plainly(message, *facts)
            return
        if str(message) in told:  # by another input of the same run
            return
        told.add(str(message))
        from gscli.cli.messages import tell_notice

        tell_notice(notice, arguments)

    warnings.showwarning = show  # type: ignore[assignment]  # Python passes all by position


def _status(stop: SystemExit) -> int:
    if stop.code is None:
        return ExitCode.DONE
    return stop.code if isinstance(stop.code, int) else ExitCode.NO


def _drop_what_is_unwritten() -> None:
    """Point a stream that cannot be written at nothing, so that the flush at exit cannot fail."""
    for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            stream.flush()
        except (OSError, ValueError):
            with open(os.devnull, "wb") as nothing:
                os.dup2(nothing.fileno(), descriptor)


def _open_standard_streams() -> None:
    """Closed descriptors 0-2 would be given to the first file opened; put /dev/null there."""
    for descriptor, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, "r")
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w")
    sys.stdout, sys.stderr = _patient(sys.stdout), _patient(sys.stderr)


def _patient(stream: TextIO) -> TextIO:
    """Text that is written whole or fails, in any character set.

    With PYTHONUNBUFFERED the layer below writes what fits and drops the rest without a word.
    """
    below = getattr(stream, "buffer", None)
    own = type(stream) is io.TextIOWrapper  # and not a stand-in that somebody else will close
    if own and isinstance(below, io.RawIOBase):
        buffer = io.BufferedWriter(below)
        return io.TextIOWrapper(
            buffer, stream.encoding, "backslashreplace", line_buffering=stream.isatty()
        )
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream
