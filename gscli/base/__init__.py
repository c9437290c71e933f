"""What every room needs: the one kind of error that leaves gscli, words, and light records.

An error is data: what is wrong, where, the legal range, how to go on.

>>> from gscli.base import IndexRefused
>>> error = IndexRefused("index out of range", where="indices[3,0] = 5", valid="-4 … 3")
>>> int(error.code), error.where
(65, 'indices[3,0] = 5')
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from enum import IntEnum
from itertools import chain
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias
from warnings import catch_warnings, warn

from gscli.base.records import Record
from gscli.base.words import format_place, sanitize, suggest_names

# Characters of each part of an error.
MAX_PART_LENGTH = 600


class ExitCode(IntEnum):
    """What the shell is told. 65 to 73 are sysexits(3); 130 and 141 are 128 + signal."""

    SUCCESS = 0
    CHECK_FAILED = 1
    USAGE = 2
    INVALID_DATA = 65
    UNREADABLE = 66
    INTERNAL_ERROR = 70
    UNWRITABLE = 73
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class CaretLine(Record):
    """A line of somebody's numbers, the part of it that is meant, and what is said of that part."""

    text: str
    start: int
    length: int
    note: str = ""

    def render(self) -> tuple[str, str]:
        """The line and carets below it.

        >>> CaretLine("i = 75", 4, 2, "here").render()
        ('i = 75', '    ^^ here')
        """
        return self.text, f"{' ' * self.start}{'^' * self.length} {self.note}".rstrip()


Detail: TypeAlias = str | CaretLine


# The largest number that an index can be.
MAX_INDEX = 2**63 - 1


class Finding(Record):
    """One index number outside its legal range, as data.

    `source` and `position`: where it stands; `vector`: the numbers of its `entry`, of which it is
    number `slot`; `axis`: the axis of data that it addresses, None where data is laid flat; `low`
    and `high`: the legal range, none where `high` is below zero.
    """

    source: str
    position: tuple[int, ...]
    value: int | float
    vector: tuple[int | float, ...]
    slot: int
    axis: int | None
    low: int
    high: int
    entry: int = 0

    @property
    def problem(self) -> str:
        """What is wrong with it: below zero is a fault of its own where other numbers are legal.

        >>> Finding("i", (0,), -1, (-1,), 0, 0, 0, 3).problem
        'negative index'
        """
        return "negative index" if self.value < 0 <= self.low <= self.high else "index out of range"

    @property
    def legal_text(self) -> str:
        """The legal range in words.

        >>> Finding("i", (0,), 5, (5,), 0, 0, -4, 3).legal_text
        '-4 … 3'
        """
        if self.high < 0:
            return "none: " + ("no cells" if self.axis is None else f"axis {self.axis} is empty")
        return f"{self.low} and more" if self.high == MAX_INDEX else f"{self.low} … {self.high}"

    @property
    def index_path(self) -> str:
        """Where the number stands.

        >>> Finding("i", (0, 2), 5, (5,), 0, 0, -4, 3).index_path
        'i[0,2]'
        """
        return format_place(self.source, self.position)


class GscliError(Exception):
    """A refusal a person can act on. Rendering is elsewhere (`gscli.base.messages`).

    `problem` is one short line without a full stop; `where` names the file or argument and the
    position; `detail_items` are lines with the numbers, some with a part that is pointed at;
    `valid` is the legal range; `hint` a literal thing to do or type. All are made safe to print.
    `document`: what a document has beside the error. `usual_hint`: what most of a kind may do.
    """

    code: ClassVar[ExitCode] = ExitCode.INVALID_DATA
    usual_hint: ClassVar[str] = ""
    document: Mapping[str, object] = MappingProxyType({})

    def __init__(
        self,
        problem: str,
        *,
        where: str = "",
        details: tuple[Detail, ...] = (),
        valid: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(problem)
        self.problem, self.where = _sanitize(problem), _sanitize(where)
        items = [_sanitize(item) if isinstance(item, str) else item for item in details]
        self.detail_items = tuple(items)
        self.valid, self.hint = _sanitize(valid), _sanitize(hint)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled with all facts; what made them is not run again."""
        return type(self).__new__, (type(self), *self.args), self.__dict__

    def __str__(self) -> str:
        parts = [self.problem, self.where, f"valid: {self.valid}" if self.valid else "", self.hint]
        return "; ".join(part for part in parts if part)

    @property
    def details(self) -> tuple[str, ...]:
        """The lines of `detail_items`, each pointed part with carets in a line below."""
        lines = ((item,) if isinstance(item, str) else item.render() for item in self.detail_items)
        return tuple(chain.from_iterable(lines))

    def to_dict(self) -> dict[str, object]:
        """The JSON form: `{code, kind, problem, where, details, valid, hint}`."""
        return {
            "code": int(self.code),
            "kind": type(self).__name__,
            "problem": self.problem,
            "where": self.where,
            "details": list(self.details),
            "valid": self.valid,
            "hint": self.hint,
        }


def _sanitize(words: str) -> str:
    """Words safe to print; of very long ones, as a path may be, the beginning and the end."""
    return _shorten(sanitize(_shorten(words), 12 * MAX_PART_LENGTH))


def _shorten(words: str) -> str:
    half = MAX_PART_LENGTH // 2
    return words if len(words) <= MAX_PART_LENGTH else f"{words[:half]}…{words[1 - half :]}"


class Notice(GscliError):
    """A warning: the same facts, but the run goes on."""

    code = ExitCode.SUCCESS


class PictureNotice(Notice):
    """A warning of what a picture of the run shows anyway."""


# Where the files of gscli lie.
PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep

# What the readers of files warned of: for the documents of a run, or of a line of a batch.
READ_NOTICES: list[Notice] = []


class GscliWarning(UserWarning):
    """A `notice` for callers from Python, who may make an error of it or silence it."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(notice)
        self.notice = notice

    def __str__(self) -> str:
        parts = (self.notice.problem, self.notice.where, *self.notice.details)
        return "; ".join(part for part in parts if part)


def warn_caller(warning: GscliWarning) -> None:
    """Warn at the line outside of gscli from which it was called."""
    frame, level = sys._getframe(), 1  # noqa: SLF001  inspect takes long to import
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warn(warning, stacklevel=level)


class UsageError(GscliError):
    """The command or call itself is wrong: unknown operator, option, choice or version."""

    code = ExitCode.USAGE


class InputRefused(GscliError):
    """The inputs are readable, but the operator does not take them.

    `name`: the input to change, and `wanted` what it would have to be, where these are known.
    """

    def __init__(self, problem: str, *, name: str = "", wanted: Any = None, **facts: Any) -> None:
        super().__init__(problem, **facts)
        self.name, self.wanted = name, wanted


class IndexRefused(InputRefused):
    """An index value is outside the legal range.

    `findings`: the first such numbers, as data; `total`: how many there are; `unchecked`: what the
    framework does in place of looking, where it does not look. Without findings an empty axis
    leaves no legal number at all.
    """

    def __init__(
        self,
        problem: str,
        *,
        findings: tuple[Finding, ...] = (),
        total: int = 0,
        unchecked: str = "",
        **words: Any,
    ) -> None:
        super().__init__(problem, **words)
        self.findings, self.total, self.unchecked = findings, total, unchecked

    @property
    def entry(self) -> int | None:
        """The number of the first entry that is refused, where one is."""
        return self.findings[0].entry if self.findings else None


class ShapeRefused(InputRefused):
    """Shapes, ranks or axes do not fit together.

    `name`: the input to change, and `wanted` a shape in which it fits the others, where known.
    """


class DtypeRefused(InputRefused):
    """An element type the operator does not take, or a reduction without a meaning for it.

    `name`: the input that has it, and `wanted` the type that it needs, where these are known.
    """


def advise_cast(name: str, dtype: str) -> str:
    """How an input gets another element type in Python."""
    return f"numpy.asarray({name}, '{dtype}'), where that changes no value"


class IndexTypeRefused(DtypeRefused):
    """Indices of a type that the operator does not list; `allowed` are those it does.

    `hint`: how indices are made of what they are, where numpy.asarray does not.
    """

    def __init__(
        self, problem: str, *, name: str, allowed: tuple[str, ...], where: str, hint: str = ""
    ) -> None:
        dtype = "int64" if "int64" in allowed else allowed[-1]
        valid, hint = " ".join(allowed), hint or advise_cast(name, dtype)
        super().__init__(problem, name=name, wanted=dtype, where=where, valid=valid, hint=hint)
        self.allowed = allowed


class UpdatesTypeRefused(DtypeRefused):
    """Updates of another type than data's; they are never cast in silence. `source`: data."""

    def __init__(self, problem: str, *, source: str, name: str, wanted: str, where: str) -> None:
        hint = advise_cast(name, wanted)
        super().__init__(problem, name=name, wanted=wanted, where=where, valid=wanted, hint=hint)
        self.source = source


class LossyTypeRefused(DtypeRefused):
    """An input whose values would change in the element type that was asked for."""


class ExactShapeRefused(ShapeRefused):
    """An input, updates as a rule, that does not have the one shape the others ask for."""


class StrictFinding(GscliError):
    """Something `--strict` does not let pass, though the operator would."""

    code = ExitCode.CHECK_FAILED


class LimitRefused(InputRefused):
    """The result or an input would be larger than the byte limit."""


def check_rule(
    holds: bool, problem: str, *about: object, kind: type[GscliError] = ShapeRefused, **facts: Any
) -> None:
    """Refuse what breaks a rule.

    `about`: what the rule speaks of, tensors or words; the first is where it is broken, the others
    are details. `kind` and `facts`: the error, and what else it says.

    >>> check_rule(False, "rank 2 is wanted", "a int8 [3]", valid="rank 2")
    Traceback (most recent call last):
    gscli.base.ShapeRefused: rank 2 is wanted; a int8 [3]; valid: rank 2
    """
    if not holds:
        where, *details = map(str, about or ("",))
        raise kind(problem, where=where, details=tuple(details), **facts)


def check_argument(name: str, value: object, kind: Any, needed: str) -> None:
    """Refuse an argument from Python that is not of a type (or types), which `needed` tells.

    >>> check_argument("source", 5, str, "the name of a file")
    Traceback (most recent call last):
    gscli.base.UsageError: source must be the name of a file; source = 5
    """
    if not isinstance(value, kind):
        raise UsageError(f"{name} must be {needed}", where=f"{name} = {value!r}"[:200])


def check_name(
    name: str, known: Iterable[str], problem: str, where: str = "", count: int = 3
) -> None:
    """UsageError for a name that is none of those known, which tells the `count` likest of them.

    >>> check_name("gathr", ["gather", "scatter"], "no operation 'gathr'")
    Traceback (most recent call last):
    gscli.base.UsageError: no operation 'gathr'; valid: gather scatter; did you mean gather?
    """
    names = [*known]
    if name not in names:
        hint = suggest_names(str(name), names, count=count)
        raise UsageError(problem[:200], where=where, valid=" ".join(names), hint=hint)


def memory_error(where: str = "", problem: str = "not enough memory for this") -> LimitRefused:
    """What is said where the memory of the machine does not suffice."""
    return LimitRefused(problem, where=where, hint="use .npy files and -o, which are streamed")


@contextmanager
def translate_errors(
    translate: Callable[[Exception], GscliError], *kinds: type[Exception], is_quiet: bool = False
) -> Iterator[None]:
    """Raise what fails in a block as an error of ours: some kinds, or all that a library has.

    Errors of ours pass; so does a lack of memory, and a closed pipe, because the reader decided to
    go. `is_quiet`: the library does not warn either.

    >>> with translate_errors(lambda error: CannotRead(str(error)), KeyError):
    ...     {}["a"]
    Traceback (most recent call last):
    gscli.base.CannotRead: 'a'
    """
    passing = (GscliError, BrokenPipeError) if kinds else (GscliError, MemoryError)
    try:
        with catch_warnings(action="ignore") if is_quiet else nullcontext():
            yield
    except Exception as error:
        if isinstance(error, passing) or not isinstance(error, kinds or Exception):
            raise
        raise translate(error) from error
    except BaseException as panic:
        if kinds or type(panic).__module__ != _RUST:
            raise
        raise translate(RuntimeError(str(panic))) from panic


# Where the panics of libraries in Rust are, which are no `Exception` to Python.
_RUST = "pyo3_runtime"


class ContentRefused(InputRefused):
    """The bytes of an input are not what its format promises."""


class CannotRead(GscliError):
    """A file cannot be opened or is not something gscli reads."""

    code = ExitCode.UNREADABLE


class CannotWrite(GscliError):
    """The output cannot be written; nothing was changed."""

    code = ExitCode.UNWRITABLE
    usual_hint = "see that its folder is there and both may be written to, or name another place"
