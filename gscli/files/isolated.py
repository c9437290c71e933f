"""A library that trusts the files it reads works in a process of its own.

HDF5 ends the process, never returns or takes gigabytes where a file's metadata were made to do so,
checksums and all. So a second Python reads, with a limit to its memory and to our patience, and
answers in messages: a line of JSON, then the bytes that it announces. It may crash.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from tempfile import TemporaryFile
from typing import Any, BinaryIO, TypeAlias

from gscli import base
from gscli.base import CannotRead, ContentRefused, GscliError
from gscli.disk.mapped import Stamp
from gscli.disk.processes import Child, Failure, python_program
from gscli.files.content import Content

# Seconds for one message: a piece of an array, or all that is found out before the first.
PATIENCE = 30.0

# What the process may compute for one message: whoever would end it may be gone.
_PROCESSOR_SECONDS = 2 * PATIENCE

# Bytes at most that follow one line.
PIECE = 16 << 20

# Bytes that the library may take beside the arrays that it was allowed to make.
MEMORY_ROOM = 512 << 20

_SCRIPT = """
import json, os, sys
os.rmdir(os.getcwd())  # the folder of its own: whoever started it may be gone first
sys.path[:] = json.loads(sys.argv[1])
from gscli.files.isolated import run
run(sys.argv[2], int(sys.argv[3]))
"""

Request: TypeAlias = dict[str, Any]

# What is said, in JSON, and the bytes that belong to it.
Message: TypeAlias = tuple[dict[str, Any], "bytes | memoryview"]


def _start(module: str, descriptor: int) -> Child:
    """A module of ours that answers requests about one open file, in a process of its own.

    Raises CannotRead where no process can be started.
    """
    paths = json.dumps([path for path in sys.path if os.path.isabs(path)])
    arguments = (paths, module, str(descriptor))
    program = python_program(sys.executable, _SCRIPT, *arguments, descriptors=(descriptor,))
    try:
        return Child(program)
    except OSError as error:
        problem = "the process that reads such files does not start"
        raise CannotRead(problem, where=f"{sys.executable}: {error.strerror}") from error


def _ask(
    child: Child, name: str, request: Request, payload: memoryview | None
) -> Iterator[Message]:
    """The messages that answer a request about the file that people know by `name`.

    Raises what the module raised, and ContentRefused where the process ended or hung.
    """

    def check(answer: bytes | Failure) -> bytes:
        if isinstance(answer, bytes):
            return answer
        where = f"{name}: the library that reads it: {answer.text}"
        raise ContentRefused(f"{name} is not sound", where=where)

    line = check(child.exchange(_encode(request), PATIENCE))
    if payload is not None:  # the first line says that it reads on
        line = check(child.exchange(payload, PATIENCE))
    while message := json.loads(line):
        if "error" in message:
            facts = message["error"]
            words = {name: facts[name] for name in ("where", "valid", "hint")}
            kind = getattr(base, facts["kind"])
            raise kind(facts["problem"], details=tuple(facts["details"]), **words)
        yield message, check(child.receive(min(message["follow"], PIECE), PATIENCE))
        line = check(child.exchange(b"", PATIENCE))


# The process for the file that was asked about last: its other arrays are often next.
_kept: dict[tuple[object, ...], Child] = {}

_lock = threading.Lock()
_kept_by_parents: list[Child] = []


def _close_kept() -> None:
    while _kept:
        _kept.popitem()[1].stop()


def _forget_kept() -> None:
    """In a fork: the process is its parent's, and not to be ended."""
    global _lock  # noqa: PLW0603  it may be held by a thread that is not here
    _lock = threading.Lock()
    _kept_by_parents.extend(_kept.values())
    _kept.clear()


atexit.register(_close_kept)
os.register_at_fork(after_in_child=_forget_kept)


def ask_isolated(
    module: str, content: Content, request: Request, payload: memoryview | None = None
) -> Generator[Message]:
    """What a module answers about a file; raises as `_start` and `_ask` do.

    Whoever does not read to the end closes it; until then nobody else's questions are answered.
    """
    with _open_descriptor(content) as descriptor, _lock:
        status = os.fstat(descriptor)
        key = (module, status.st_dev, status.st_ino, Stamp.from_status(status))
        if key not in _kept:
            _close_kept()
            _kept[key] = _start(module, descriptor)
        try:
            yield from _ask(_kept[key], content.name, request, payload)
        except BaseException:  # whatever comes next belongs to this request
            _close_kept()
            raise


@contextmanager
def _open_descriptor(content: Content) -> Iterator[int]:
    """A descriptor of an input's bytes, of a file without a name where they are in memory."""
    with content.open_file() as file, TemporaryFile() as copy:
        try:
            descriptor = file.fileno()
        except io.UnsupportedOperation:
            copy.write(content.read(0, content.size))
            copy.flush()
            descriptor = copy.fileno()
        yield descriptor


def run(module: str, descriptor: int) -> None:
    """Answer requests on standard input, until it ends; what else is printed goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    limit_memory(0)
    with closing(answers):
        serve(module, descriptor, sys.stdin.buffer, answers)


def serve(module: str, descriptor: int, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each line of `requests` about an open file by the `answer` of a module."""
    answer: Callable[..., Iterator[Message]] = import_module(module).answer

    def send(message: Mapping[str, Any], content: bytes | memoryview = b"") -> None:
        signal.setitimer(signal.ITIMER_PROF, _PROCESSOR_SECONDS)
        for start in range(0, max(len(content), 1), PIECE):
            piece = content[start : start + PIECE]
            answers.write(_encode({**message, "follow": len(piece)}))
            answers.write(piece)
        answers.flush()

    for line in requests:
        signal.setitimer(signal.ITIMER_PROF, _PROCESSOR_SECONDS)
        request = json.loads(line)
        if "payload" in request:
            send({"reads": request["payload"]})
            request["payload"] = requests.read(request["payload"])
        try:
            with open(descriptor, "rb", closefd=False) as file:
                file.seek(0)
                for message, content in answer(file=file, **request):
                    send(message, content)
        except GscliError as error:
            send({"error": error.to_dict()})
        else:
            answers.write(_encode({}))
            answers.flush()
        signal.setitimer(signal.ITIMER_PROF, 0)


def _encode(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def limit_memory(room: int) -> None:
    """Let this process take `room` bytes and `MEMORY_ROOM` more than it has now; on Linux alone."""
    with suppress(OSError, ImportError):
        import resource

        with open("/proc/self/statm", "rb") as file:
            size = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        limit = size + MEMORY_ROOM + room
        if most != resource.RLIM_INFINITY:  # what `ulimit -v` allows at all
            limit = min(limit, most)
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))
