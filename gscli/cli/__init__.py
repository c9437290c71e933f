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
same form, a closed pipe ends quietly (141), Ctrl-C with 130 (`gscli.__main__`), and anything else
is a bug (70).
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from gscli.base import (
    READ_NOTICES,
    CannotRead,
    CannotWrite,
    ExitCode,
    GscliError,
    StrictFinding,
    memory_error,
)
from gscli.base.words import sanitize

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


# What the parser takes for yes, of a variable that sets a switch.
_ON = ("1", "t", "true", "y", "yes", "on")


def run_safely(arguments: Sequence[str], interrupts: Sequence[int] = ()) -> int:
    """Run the command line; returns the exit code. Raises KeyboardInterrupt.

    Signals of Ctrl-C that came meanwhile stand in `interrupts`, whatever became of the exception.
    """
    _open_standard_streams()
    arguments = end_options_at_program(arguments)
    try:
        with warnings.catch_warnings():
            _install_warning_printer(arguments)
            return _run_with_exit_code(arguments, interrupts)
    finally:
        _discard_unwritable_streams()


def _run_with_exit_code(arguments: Sequence[str], interrupts: Sequence[int]) -> int:
    refusal: GscliError
    try:
        code = invoke_command(arguments)
        _check_inputs_intact()
        sys.stdout.flush()
    except GscliError as error:
        if not isinstance(error, CannotWrite):  # what a clean-up could not do is to be told
            _raise_interrupt_behind(error, interrupts)
        refusal = error
    except SystemExit as stop:
        status = stop.code or ExitCode.SUCCESS
        return status if isinstance(status, int) else ExitCode.CHECK_FAILED
    except OSError as error:
        if error.errno == errno.EPIPE:
            return ExitCode.BROKEN_PIPE
        from gscli.disk.system import write_error

        refusal = write_error(error, sanitize(str(error.filename or "standard output")))
    except MemoryError:
        refusal = memory_error()
    except Exception as error:
        is_on = os.environ.get("GSCLI_DEBUG", "").lower() in _ON
        if is_on or "--debug" in arguments:
            raise
        _raise_interrupt_behind(error, interrupts)
        from gscli.cli.messages import make_internal_error

        refusal = make_internal_error(error)
    else:
        return code
    from gscli.cli.messages import is_json_requested, report_error, stderr_screen

    return report_error(refusal, stderr_screen(arguments), as_json=is_json_requested(arguments))


def _raise_interrupt_behind(error: BaseException, interrupts: Sequence[int]) -> None:
    """Ctrl-C while a module is imported can come out as another error that it is the cause of.

    Threads that raise one error twice close its chain of causes to a ring: each is seen once.
    """
    chain: list[BaseException | None] = [error]
    for behind in chain:
        if isinstance(behind, KeyboardInterrupt):
            raise behind
        if behind is not None:
            chain += [e for e in (behind.__cause__, behind.__context__) if e not in chain]
    if interrupts:
        raise KeyboardInterrupt from error


def invoke_command(arguments: Sequence[str]) -> int:
    """Parse and run; the exit code of the command. Errors propagate."""
    import typer

    from gscli.cli.options import COMPLETION_VARIABLE
    from gscli.cli.tree import make_root_group

    command = make_root_group()
    if os.environ.get(COMPLETION_VARIABLE):
        with suppress(KeyError, ValueError):  # no shell set it: there are no words to complete
            command.main(args=[], prog_name="gscli", standalone_mode=False)
    try:
        with command.make_context("gscli", fill_optional_values(arguments)) as context:
            result = command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    return result if isinstance(result, int) else ExitCode.SUCCESS


def end_options_at_program(words: Sequence[str]) -> Sequence[str]:
    """The words of `gscli watch` with `--` where those of the watched program begin.

    >>> end_options_at_program(["watch", "--save", "a.npz", "train.py", "--json"])
    ['watch', '--save', 'a.npz', '--', 'train.py', '--json']
    >>> end_options_at_program(["watch", "-m", "package.train", "--json"])
    ['watch', '-m', '--', 'package.train', '--json']
    """
    if words[:1] != ["watch"]:
        return words
    place = 1
    while place < len(words) and words[place].startswith("-") and words[place] != "--":
        place += 2 if words[place] in _WATCH_VALUES else 1
    if place > len(words) or words[place : place + 1] == ["--"]:
        return words
    return [*words[:place], "--", *words[place:]]


# Options of `gscli watch` that a value follows.
_WATCH_VALUES = ("--save", "--every", "--color", "--width")


def fill_optional_values(words: Sequence[str]) -> list[str]:
    """Some options take an optional value; the parser knows only options that always do.

    >>> fill_optional_values(["--json", "x", "--step", "3", "--", "--json"])
    ['--json=document', 'x', '--step', '3', '--', '--json']
    >>> fill_optional_values(["--step"])
    ['--step=all']
    """
    from gscli.cli.options import SHARED_OPTIONS, SHOW_COMPLETION, split_at_end

    known = (*SHARED_OPTIONS.values(), SHOW_COMPLETION)
    meanings = {entry.flags[-1]: entry.alone for entry in known if entry.alone}
    separate = {"--step": r"\d+|all", "--show-completion": r"[^-].*"}
    options, rest = split_at_end(words)
    result: list[str] = []
    for word, following in zip(options, [*options[1:], ""], strict=False):
        has_value = word in separate and re.fullmatch(separate[word], following)
        meaning = "" if has_value else meanings.get(word)
        result.append(f"{word}={meaning}" if meaning else word)
    return [*result, *rest]


def _check_inputs_intact() -> None:
    """CannotRead where pages of an input were lost, by a command that did not ask itself."""
    mapped = sys.modules.get("gscli.disk.mapped")
    if mapped is not None and mapped.TRUNCATED_FILES:
        file, details = mapped.TRUNCATED_FILES[0], ("what was printed is not to be used",)
        problem = f"{file} became shorter while it was being read"
        raise CannotRead(problem, where=file, details=details)


def _install_warning_printer(arguments: Sequence[str]) -> None:
    """Print what the readers of files warn of in our form, and other warnings as Python does."""
    plainly, texts = warnings.showwarning, set()
    READ_NOTICES.clear()

    def show(message: Warning | str, *facts: Any) -> None:
        from gscli.disk.unfinished import UnfinishedPatch  # whose result may be a mix

        notice = getattr(message, "notice", None)
        if notice is None:
            plainly(message, *facts)
        elif "--strict" in arguments and isinstance(message, UnfinishedPatch):
            raise StrictFinding(notice.problem, where=notice.where, hint=notice.hint)
        elif str(message) not in texts:  # told by another input of the same run
            texts.add(str(message))
            from gscli.cli.messages import print_message, stderr_screen

            print_message(notice, stderr_screen(arguments))

    warnings.showwarning = show  # type: ignore[assignment]  # Python passes all by position


def _discard_unwritable_streams() -> None:
    """Point a stream that cannot be written at nothing, so that the flush at exit cannot fail."""
    for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            stream.flush()
        except (OSError, ValueError):
            with open(os.devnull, "wb") as nothing:
                os.dup2(nothing.fileno(), descriptor)


def _open_standard_streams() -> None:
    """Closed descriptors 0-2 would be given to the first file opened; put /dev/null there.

    Results cannot be written to a stdout that is closed: there it takes no bytes.
    """
    for descriptor, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, "w" if descriptor else "r"))
    sys.stdout, sys.stderr = _make_whole_writer(sys.stdout), _make_whole_writer(sys.stderr)


def _make_whole_writer(stream: TextIO) -> TextIO:
    """Text that is written whole or fails, in any character set.

    With PYTHONUNBUFFERED the layer below writes what fits and drops the rest without a word.
    """
    below = getattr(stream, "buffer", None)
    raw = getattr(below, "raw", below)
    if type(stream) is not io.TextIOWrapper or type(raw) is not io.FileIO:
        return stream  # a stand-in that somebody else will close
    lines = stream.line_buffering or stream.isatty()
    buffer = io.BufferedWriter(_OutputFile(stream))
    return io.TextIOWrapper(buffer, stream.encoding, "backslashreplace", line_buffering=lines)


class _OutputFile(io.FileIO):
    """The file of a standard stream, which knows whether anything was written to it."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream.fileno(), "w", closefd=False)
        self._stream = stream  # or it would be freed, and the file closed
        self.has_written = False

    def write(self, buffer: ReadableBuffer, /) -> int:
        self.has_written = True
        return super().write(buffer)


def has_printed() -> bool:
    """Whether any of stdout has been written."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return isinstance(raw, _OutputFile) and raw.has_written
