"""What was seen of a program's gathers and scatters: where, what, how often. No framework in it.

>>> from gscli.watch.findings import Report
>>> Report().last_line()
'watched 0 calls, 0 indices'
"""

from __future__ import annotations

import json
import linecache
import os
import re
import sys
import sysconfig
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from itertools import chain, islice
from mmap import mmap
from multiprocessing import process
from types import CodeType, FrameType
from typing import IO, Any, Literal, Self, TypeAlias

from gscli.base import PACKAGE, CaretLine, GscliError, IndexRefused
from gscli.base.messages import format_message
from gscli.base.records import Record
from gscli.base.words import format_count, join_lines

# A bad index; a value that another one overwrote; a number that silently counted from the end; a
# number that was silently clipped, wrapped, filled or dropped; a runtime's answer that is wrong;
# what the text of an operator does not say.
WatchKind: TypeAlias = Literal["index", "lost", "from-end", "moved", "answer", "open"]

LIBRARIES = tuple({sysconfig.get_paths()[name] for name in ("purelib", "platlib", "stdlib")})

# Where a watched program starts.
RUNNER = os.path.join(os.path.dirname(__file__), "program.py")

# Callers of a line that are listed.
CALLERS = 3

SCREEN_WIDTH = 100

# A line that adds to cells by index or subtracts: data, index and what is added.
ADDITION = re.compile(r"([\w.]+)\[(\w+)\]\s*[-+]=\s*(\w+)")

# What changes cells in place, and what PyTorch has for every occurrence of a cell.
IN_PLACE = re.compile(r"(?:\*\*|//|<<|>>|[-+*/%&|^])=")
ACCUMULATING_CALLS = {
    "+=": "to add every occurrence: index_add_, scatter_add_ or accumulate=True",
    "-=": "to subtract every occurrence: index_add_ with alpha=-1",
    "*=": "to multiply by every occurrence: index_reduce_ or scatter_reduce_ with 'prod'",
}

# Characters of an expression that are underlined: where it begins stays on the screen.
MAX_CARETS = 60


class WatchedIndex(IndexRefused, IndexError):
    """An index that the rules refuse, seen before the program's own framework meets it.

    An IndexError, as most frameworks raise. Importable and picklable: a worker of a DataLoader
    sends it to its parent, which makes it anew from its text.
    """

    def __str__(self) -> str:
        if not self.where:  # made anew from a worker's text
            return str(self.args[0]) if self.args else ""
        return "\n" + format_message(self, color=False, width=SCREEN_WIDTH)


class Place(Record):
    """A line of the program: where it is, its text with the expression."""

    where: str
    line: CaretLine | None = None
    is_compiled: bool = False

    @property
    def details(self) -> tuple[CaretLine, ...]:
        """The line of the program with carets, if its text is at hand."""
        return () if self.line is None else (self.line,)


class LineHistory:
    """What the calls of one line had so far: how many there were, their least and greatest."""

    def __init__(self, place: Place) -> None:
        self.place, self.calls = place, 0
        self.ends = list[int]()

    def widen(self, least: int, greatest: int) -> None:
        """Take in the numbers of a call that was legal."""
        self.ends = [min([least, *self.ends]), max([greatest, *self.ends])]

    def describe(self) -> tuple[str, ...]:
        """One line about the calls before the last one.

        >>> history = LineHistory(Place("a.py:1"))
        >>> history.calls = 3
        >>> history.widen(0, 99)
        >>> history.describe()
        ('this line: call 3; the 2 before had 0 … 99',)
        """
        if not self.ends or self.calls < 2:  # noqa: PLR2004  the first has none before it
            return ()
        before = "one before" if self.calls == 2 else f"{self.calls - 1:,} before"  # noqa: PLR2004
        least, greatest = self.ends
        return (f"this line: call {self.calls:,}; the {before} had {least} … {greatest}",)


class Places:
    """Lines of the program; frames below `hidden` folders are not the user's."""

    def __init__(self, *hidden: str) -> None:
        self._hidden = (PACKAGE, *(folder + os.sep for folder in hidden))
        self._codes: dict[int, tuple[CodeType, bool]] = {}
        self._histories: dict[tuple[int, int], LineHistory] = {}

    def find_frame(self, frame: FrameType | None) -> FrameType | None:
        """The innermost frame of the user's own code, None where there is none."""
        while frame is not None:
            code = frame.f_code
            known = self._codes.get(id(code))  # a code's own hash reads all of it
            if known is None:
                name = code.co_filename
                is_hidden = name.startswith((*self._hidden, "<frozen", "<eval_with_key>"))
                known = self._codes[id(code)] = code, is_hidden
            if not known[1]:
                return frame
            frame = frame.f_back
        return None

    def find_history(self, frame: FrameType | None) -> LineHistory:
        """What is known of the line that a frame is at."""
        if frame is None:
            return LineHistory(Place("no line of the program (a thread of the framework)"))
        key = id(frame.f_code), frame.f_lasti
        history = self._histories.get(key)
        if history is None:
            codes = (outer.f_code.co_name for outer in _iter_outer_frames(frame))
            place = Place(_describe_frame(frame), point_at(frame), "compile_wrapper" in codes)
            history = self._histories[key] = LineHistory(place)
        return history

    def list_callers(self, frame: FrameType | None) -> tuple[str, ...]:
        """The nearest lines of the program that led to a frame, this time."""
        hidden = (*self._hidden, *LIBRARIES, "<frozen")
        names = (
            _describe_frame(outer) for outer in _iter_outer_frames(frame)
            if not outer.f_code.co_filename.startswith(hidden)
        )  # fmt: skip
        return tuple(islice(names, CALLERS))


def _iter_outer_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames that called one, up to where the program starts."""
    outer = frame and frame.f_back
    while outer is not None and outer.f_code.co_filename != RUNNER:
        yield outer
        outer = outer.f_back


def _describe_frame(frame: FrameType) -> str:
    return f"{shorten_path(frame.f_code.co_filename)}:{frame.f_lineno} in {frame.f_code.co_name}"


def shorten_path(path: str) -> str:
    """A path as seen from here, where it is below the current folder."""
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative


def read_line(path: str, number: int) -> str:
    """A line of a program, without what it is indented by; empty where nobody has it."""
    return linecache.getline(path, number).strip()


def point_at(frame: FrameType) -> CaretLine | None:
    """The line that a frame is at, the expression that runs underlined."""
    first, last, start, end = [*frame.f_code.co_positions()][frame.f_lasti // 2]
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).rstrip("\n")
    text = read_line(frame.f_code.co_filename, frame.f_lineno)
    if not text:
        return None
    if first != last or first != frame.f_lineno or start is None or end is None:
        return CaretLine(text, 0, len(text))
    head = line.encode()[:start].decode("utf-8", "replace")  # columns are of bytes
    part = line.encode()[start:end].decode("utf-8", "replace")
    indent = len(line) - len(line.lstrip())
    return CaretLine(text, len(head) - indent, min(max(len(part), 1), MAX_CARETS))


def find_name(frame: FrameType | None, value: object) -> str:
    """What the line of a frame calls an object: a variable, or something that an object there has.

    >>> table = [1, 2]
    >>> find_name(sys._getframe(), table)
    'table'
    """
    if value is None or frame is None:  # an output that the program does not have yet
        return ""
    used = frame.f_code.co_names
    names = {name: frame.f_globals[name] for name in used if name in frame.f_globals}
    names |= frame.f_locals
    owners = [("self", names.get("self"), True), *((*pair, False) for pair in names.items())]
    parts = (part for owner in owners for part in _iter_parts(*owner))
    return next((name for name, known in chain(names.items(), parts) if known is value), "")


def _iter_parts(name: str, owner: object, has_own: bool) -> Iterator[tuple[str, object]]:
    """The tensors of a module by their dotted names, and before them what an object holds itself.

    `has_own`: whether that is looked at.
    """
    attributes = getattr(owner, "__dict__", {}) if has_own else {}
    if isinstance(attributes, dict):
        yield from ((f"{name}.{key}", value) for key, value in attributes.items())
    if not isinstance(owner, type):
        for listing in ("named_parameters", "named_buffers"):
            members = getattr(type(owner), listing, None)
            if callable(members):
                yield from ((f"{name}.{key}", value) for key, value in members(owner))


def suggest_accumulation(place: Place, frame: FrameType | None, index: Any, values: Any) -> str:
    """What counts every occurrence, in the names of a line like `c[b] += a`; else in general.

    A line that changes no cells in place is told how to add.

    In names where b is the `index`, None where index_add_ does not take it, and a has the shape
    and the type of the `values` that were written.

    >>> from numpy import array
    >>> line, b, a = CaretLine("c[b] += a", 0, 4), array([0, 0]), array([1.0, 2.0])
    >>> suggest_accumulation(Place("a.py:1", line), sys._getframe(), b, a)
    'to add every occurrence: c.index_add_(0, b, a)'
    >>> suggest_accumulation(Place("a.py:1", CaretLine("c[b] /= a", 0, 4)), None, b, a)
    'PyTorch has no call that does /= for every occurrence'
    """
    text = place.line.text if place.line else ""
    sign = next(iter(IN_PLACE.findall(text)), "+=")
    no_call = f"PyTorch has no call that does {sign} for every occurrence"
    hint = ACCUMULATING_CALLS.get(sign, no_call)
    parts = ADDITION.fullmatch(text)
    if parts and frame and index is not None:
        data, key, source = parts.groups()
        names = {**frame.f_globals, **frame.f_locals}
        added: Any = names.get(source)
        fits = getattr(added, "shape", None) == values.shape and added.dtype == values.dtype
        if fits and names.get(key) is index:
            alpha = ", alpha=-1" * (sign == "-=")
            hint = f"{hint.partition(':')[0]}: {data}.index_add_(0, {key}, {source}{alpha})"
    return hint


class ProgramFinding:
    """One finding of one place, and how often it came up."""

    def __init__(self, kind: WatchKind, error: GscliError) -> None:
        self.kind, self.error, self.count = kind, error, 1

    def __repr__(self) -> str:
        return f"<Finding of {self.error.where}: {self.error.problem}>"

    def counted_error(self) -> GscliError:
        """The error, with how often it came up."""
        if self.count == 1:
            return self.error
        error = copy(self.error)
        error.detail_items = (*error.detail_items, f"{self.count:,} times")
        return error

    def to_dict(self) -> dict[str, object]:
        """The JSON form: that of the error, its kind here, how often."""
        facts = self.error.to_dict() | {"kind": self.kind, "count": self.count}
        if isinstance(self.error, IndexRefused) and self.error.findings:
            first = self.error.findings[0]
            facts |= {"position": list(first.position), "value": first.value}
            facts |= {"total": self.error.total, "legal": [first.low, first.high]}
        return facts


# What a program starts beside itself, and what it is called.
UNWATCHED_STARTS: dict[Any, str] = {
    threading.Thread: "other thread|other threads",
    process.BaseProcess: "process of its own|processes of their own",
}

# Whose own threads carry results from process to process.
QUEUES = os.path.dirname(process.__file__)


class Report:
    """Everything that was seen. `calls`: by operator; `unjudged`, `unwatched`, `uncounted`: by
    reason. Forked processes are watched, and tell what they find; they count for themselves.

    `folder`: that of the framework, whose own threads run nothing of the program; `saved_kinds`:
    those whose first call is in a file, shared by all that watch one program.
    """

    folder = "<none>"

    def __init__(self) -> None:
        self.calls = Counter[str]()
        self.indices = 0
        self.unjudged = Counter[str]()
        self.unwatched = Counter[str]()
        self.uncounted = Counter[str]()
        self._has_forked_findings = mmap(-1, 1)  # shared with those processes
        self._findings: dict[tuple[object, ...], ProgramFinding] = {}
        self.saved_kinds = set[WatchKind]()
        self.process = os.getpid()
        self._starts = list[tuple[Any, Callable[..., None]]]()

    def __enter__(self) -> Self:
        """Count what the program starts meanwhile and nobody watches; a fork is watched."""
        self._starts = [(kind, kind.start) for kind in UNWATCHED_STARTS]
        for kind, start in self._starts:
            kind.start = self._count_starts(start, UNWATCHED_STARTS[kind])
        return self

    def __exit__(self, *_error: object) -> None:
        for kind, start in self._starts:
            kind.start = start

    def _count_starts(self, start: Callable[..., None], reason: str) -> Callable[..., None]:
        def start_and_count(started: Any, *words: Any, **named: Any) -> None:
            start(started, *words, **named)
            starter = sys._getframe(1).f_code.co_filename
            is_library = starter.startswith(self.folder) or os.path.dirname(starter) == QUEUES
            is_own = isinstance(started, threading.Thread) and is_library
            if getattr(getattr(started, "_popen", None), "method", "") == "fork":
                self.uncounted["forked process|forked processes"] += 1
            elif not is_own:
                self.unwatched[reason] += 1

        return start_and_count

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.last_line()}>"

    @property
    def findings(self) -> list[ProgramFinding]:
        """What was found, each place once, in the order in which it came up."""
        return [*self._findings.values()]

    @property
    def has_findings(self) -> bool:
        """Whether there is a finding, here or in a process that was forked."""
        return bool(self._findings) or any(self._has_forked_findings[:])

    @property
    def has_bad_index(self) -> bool:
        """Whether an index was out of its legal range."""
        return any(finding.kind == "index" for finding in self.findings)

    def add(self, kind: WatchKind, error: GscliError, *call: object) -> None:
        """Note a finding; one of a known place and `call` is counted.

        A process that was forked prints it at once: nobody will ask it for a report.
        """
        key = kind, error.where, *call
        if key in self._findings:
            self._findings[key].count += 1
            return
        self._findings[key] = ProgramFinding(kind, error)
        if os.getpid() != self.process:
            self._has_forked_findings[0] = 1
            sys.stderr.write(format_message(error, color=False, width=SCREEN_WIDTH))

    def last_line(self) -> str:
        """How much was watched, judged and not."""
        names = ", ".join(f"{count:,} {name}" for name, count in self.calls.most_common())
        text = f"watched {format_count(sum(self.calls.values()), 'call')}, "
        text += format_count(self.indices, "index", "indices") + (f": {names}" if names else "")
        unseen = {"judged": self.unjudged, "watched": self.unwatched, "counted": self.uncounted}
        for words, reasons in unseen.items():
            if reasons:
                text += f"; not {words}: " + ", ".join(
                    format_count(count, *reason.split("|")) for reason, count in reasons.items()
                )
        return text

    def report(self, *, color: bool = False, width: int = SCREEN_WIDTH, utf8: bool = True) -> str:
        """Every finding as a paragraph, and the last line."""
        draw = partial(format_message, color=color, width=width, utf8=utf8)
        texts = [draw(finding.counted_error()) for finding in self.findings]
        return join_lines([*texts, self.last_line()])

    def to_dict(self) -> dict[str, object]:
        """The JSON form of all."""
        return {"findings": [finding.to_dict() for finding in self.findings], **self.counts()}

    def counts(self) -> dict[str, object]:
        """How much was watched, as data."""
        return {
            "calls": dict(self.calls), "indices": self.indices,
            "not_judged": {key.partition("|")[0]: count for key, count in self.unjudged.items()},
            "not_watched": {key.partition("|")[0]: count for key, count in self.unwatched.items()},
            "not_counted": {key.partition("|")[0]: count for key, count in self.uncounted.items()},
        }  # fmt: skip

    def write_lines(self, stream: IO[str]) -> None:
        """JSON Lines: a finding each, then the counts."""
        for facts in (*(finding.to_dict() for finding in self.findings), self.counts()):
            stream.write(json.dumps(facts) + "\n")
