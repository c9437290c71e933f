"""The one place where gscli starts processes, and where it ends them with all that they started.

What a process prints, takes and how long it works has limits here. A Python that we start is kept
from the user's folder and from variables that would load code; a command of the user's own is not.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

from gscli.base import CannotRead
from gscli.base.records import Record
from gscli.base.words import sanitize

LINE_LIMIT = 64 << 20
PIECE = 1 << 16

# Seconds between two looks at the memory of a process that is working and of what it started.
LOOK_EVERY = 0.25

# Bytes that are kept of standard error; whatever was printed before them is dropped unread.
LAST_WORDS = 4096

# Seconds a process has to be gone.
END_WITHIN = 5.0

# Variables of Python's that load no code; an isolated process gets no others.
PYTHON_VARIABLES = frozenset(
    ("PYTHONNOUSERSITE", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE")
)

# Python before 3.11 knows no PYTHONSAFEPATH: `sys` is built in, so nothing is loaded before.
WITHOUT_FOLDER = "import sys\nsys.path[:] = filter(None, sys.path)\n"

_PR_SET_CHILD_SUBREAPER = 36

# Variable by which what a process has started is known to be of it and of no other: one mark for
# each process of ours from which it comes.
_MARK = "GSCLI_CHILD"


class ProcessSpec(Record):
    """What is to be started: the words of a command, and whether it is kept from the user's folder.

    An isolated one works in an empty folder of its own, which is removed with it. `descriptors`
    are open files of ours that it has, too.
    """

    words: tuple[str, ...]
    is_isolated: bool = False
    descriptors: tuple[int, ...] = ()


def python_program(
    python: str,
    script: str,
    *arguments: str,
    is_isolated: bool = True,
    descriptors: tuple[int, ...] = (),
) -> ProcessSpec:
    """A script for an interpreter, which finds its own packages and none of the user's folder.

    >>> python_program("python3", "print(1)").words[0].startswith("/")
    True
    """
    words = (os.path.abspath(python), "-c", WITHOUT_FOLDER + script, *arguments)
    return ProcessSpec(words, is_isolated, descriptors)


def isolated_environment() -> dict[str, str]:
    """The user's variables without those by which Python loads code, for children's children too.

    >>> isolated_environment()["PYTHONSAFEPATH"]
    '1'
    """
    dropped = {name for name in os.environ if name.startswith("PYTHON")} - PYTHON_VARIABLES
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "PYTHONSAFEPATH": "1"}


Trouble: TypeAlias = Literal["crash", "hang", "memory", "garbage"]


class Failure(Record):
    """Why there is no line of a process, with its last words or the limit that it met."""

    how: Trouble
    text: str


def make_start_error(reason: str) -> CannotRead:
    """The refusal of a runtime that is not where it is looked for.

    >>> make_start_error("no module named it").where
    'no module named it'
    """
    hint = "--python PATH names the interpreter that has it; gscli runtimes lists its variants"
    return CannotRead("the runtime does not start", where=reason, hint=hint)


class Child(AbstractContextManager["Child"]):
    """A started process that is asked and answers by lines; `memory` is its limit in bytes.

    `poll` is called now and then while it works, and may raise. A context manager: on leaving, the
    process and what it started are ended. OSError where it does not start.

    >>> with Child(python_program(sys.executable, "print('yes')")) as child:
    ...     child.exchange(b"", 20.0)
    b'yes'
    """

    def __init__(
        self, program: ProcessSpec, memory: int = 0, poll: Callable[[], None] = lambda: None
    ) -> None:
        self._memory, self._poll = memory, poll
        self._received, self._errors = bytearray(), bytearray()
        self._unwritten, self._searched = memoryview(b""), 0
        self._mark, self._next_look = os.urandom(8).hex(), time.monotonic() + LOOK_EVERY
        with ExitStack() as started:
            folder = None
            if program.is_isolated:
                own = TemporaryDirectory(prefix="gscli-", ignore_cleanup_errors=True)
                folder = started.enter_context(own)
            environment = isolated_environment() if program.is_isolated else os.environ
            adopt_orphans()
            self._process = subprocess.Popen(  # noqa: S603  no shell
                program.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, bufsize=0, start_new_session=True, cwd=folder,
                pass_fds=program.descriptors,
                env={**environment, _MARK: environment.get(_MARK, "") + self._mark},
            )  # fmt: skip
            started.callback(_end_family, self._process, self._mark)
            pipes = list[int]()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
                assert stream is not None, "each is a pipe"
                started.callback(stream.close)  # before the family ends
                os.set_blocking(stream.fileno(), False)
                pipes.append(stream.fileno())
            self._started = started.pop_all()
        self._in, self._out, self._err = pipes

    def __exit__(self, *_: object) -> None:
        self.stop()

    def exchange(self, text: bytes | memoryview, limit: float) -> bytes | Failure:
        """Write all of a text and read the next line, both within `limit` seconds.

        What was printed before a text is no answer to it, but garbage.
        """
        if text and (early := self._read_early()):
            return Failure("garbage", f"unasked: {sanitize(early.decode('utf-8', 'replace'), 120)}")
        self._unwritten, self._searched = memoryview(text), 0
        failure = self._wait_until(self._has_line, limit)
        return self._cut(self._searched + 1)[:-1] if failure is None else failure

    def receive(self, size: int, limit: float) -> bytes | Failure:
        """The next `size` bytes that it writes, of which there are all within `limit` seconds."""
        failure = self._wait_until(lambda: len(self._received) >= size, limit)
        return self._cut(size) if failure is None else failure

    def _cut(self, size: int) -> bytes:
        content = bytes(self._received[:size])
        del self._received[:size]
        return content

    def _has_line(self) -> bool:
        """Whether all is written and a line is here, which ends at `_searched`."""
        end = self._received.find(b"\n", self._searched)
        self._searched = len(self._received) if end < 0 else end
        return end >= 0 and not self._unwritten

    def _wait_until(self, is_ready: Callable[[], bool], limit: float) -> Failure | None:
        """Write and read until `is_ready`, or say what ended that before."""
        deadline = time.monotonic() + limit
        with selectors.DefaultSelector() as selector:
            for pipe in (self._out, self._err):
                selector.register(pipe, selectors.EVENT_READ)
            if self._unwritten:
                selector.register(self._in, selectors.EVENT_WRITE)
            while not is_ready():
                left = deadline - time.monotonic()
                if left <= 0:
                    return Failure("hang", f"no answer within {limit:g} s")
                if self._memory and self._exceeds_memory():
                    return Failure("memory", f"more than {self._memory >> 20:,} MiB")
                if len(self._received) > LINE_LIMIT:
                    return Failure("garbage", f"a line of more than {LINE_LIMIT >> 20} MiB")
                if not self._move(selector, min(left, LOOK_EVERY)):
                    return Failure("crash", self._describe_ending(deadline))
        return None

    def _read_early(self) -> bytes:
        with suppress(BlockingIOError):
            self._receive(self._out)
        return bytes(self._received[:PIECE]).strip()

    def _exceeds_memory(self) -> bool:
        """Whether the process holds too much, or, looked at now and then, with what it started."""
        number = self._process.pid
        if resident_bytes(number) > self._memory:
            return True
        if time.monotonic() < self._next_look:
            return False
        members = [number, *_find_family(number, self._mark, list(_iter_processes()))]
        self._next_look = time.monotonic() + LOOK_EVERY
        sizes = (sum(map(size, members)) for size in (resident_bytes, proportional_bytes))
        return all(size > self._memory for size in sizes)

    def _move(self, selector: selectors.BaseSelector, limit: float) -> bool:
        """Read and write what is possible within a time; False where the other side is gone."""
        ready = [key.fd for key, _ in selector.select(limit)]
        self._poll()
        # What it started may hold the pipe open after its end.
        if not ready and self._read_status() is not None and not selector.select(0):
            return False
        for pipe in ready:
            try:
                if pipe == self._in:
                    self._unwritten = self._unwritten[os.write(pipe, self._unwritten[:PIECE]) :]
                    is_over = not self._unwritten
                else:
                    is_over = not self._receive(pipe)
            except BlockingIOError:
                continue
            except OSError:  # nobody reads any more
                return False
            if is_over:
                selector.unregister(pipe)
                if pipe == self._out:
                    return False
        return True

    def _receive(self, pipe: int) -> int:
        """Take what a pipe holds; how much that was, 0 at its end."""
        piece = os.read(pipe, PIECE)
        if pipe == self._out:
            self._received += piece
        else:
            self._errors += piece
            del self._errors[:-LAST_WORDS]
        return len(piece)

    def _read_status(self) -> int | None:
        """How the process ended, as Popen has it, or None; its number stays its own meanwhile."""
        try:
            ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # somebody else has waited for it
            return 0
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def _describe_ending(self, limit: float) -> str:
        """How the process ended, with its last words on standard error; it has until `limit`, and
        a moment where that is over.
        """
        now = time.monotonic()
        deadline = min(max(limit, now + 1.0), now + END_WITHIN)
        while (status := self._read_status()) is None and time.monotonic() < deadline:
            self._read_errors(deadline)
            time.sleep(0.005)
        if status is None:
            return "closed its standard output"
        self._read_errors(deadline)
        if status < 0:
            names = {item.value: item.name for item in signal.Signals}
            how = f"ended by {names.get(-status, f'signal {-status}')}"
        else:
            how = f"ended with status {status}"
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        return f"{how}: {sanitize(lines[-1], 160)}" if lines else how

    def _read_errors(self, deadline: float) -> None:
        with suppress(BlockingIOError):
            while self._receive(self._err) and time.monotonic() < deadline:
                pass

    def stop(self) -> None:
        """End the process and what it started; what stays is in `left_running`."""
        self._started.close()


_LEFT: set[int] = set()


def left_running() -> list[int]:
    """Processes that a runtime started and that could not be ended: another user's, or stuck."""
    states = {process.number: process.state for process in _iter_processes()}
    return sorted(number for number in _LEFT if states.get(number, "Z") != "Z")


def _end_family(leader: subprocess.Popen[bytes], mark: str) -> None:
    """Kill a process with all its descendants, also those in sessions of their own."""
    deadline, alive = time.monotonic() + END_WITHIN, set[int]()
    with suppress(OSError):
        os.killpg(leader.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        leader.wait(END_WITHIN)
    while True:
        table = list(_iter_processes())
        # One that is ending has lost its mark before it has ended.
        alive &= {process.number for process in table}
        alive |= _find_family(leader.pid, mark, table)
        if not alive or time.monotonic() > deadline:
            break
        for number in alive:
            _kill(number)
        time.sleep(0.002)
    _LEFT.update(alive)
    if leader.returncode is None:
        _LEFT.add(leader.pid)


def _kill(number: int) -> None:
    """End a process, and wait for it where it is a child of ours; nothing where it is gone."""
    with suppress(OSError):
        os.kill(number, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(number, os.WNOHANG)


class _Entry(Record):
    """A row of the system's table of processes."""

    number: int
    state: str
    parent: int
    session: int


def _iter_processes() -> Iterator[_Entry]:
    """Every process of the system; none where it has no /proc."""
    names = os.listdir("/proc") if sys.platform == "linux" else []
    for name in filter(str.isdigit, names):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent, _, session, *_ = file.read().rpartition(b")")[2].split()
        except (OSError, ValueError):  # it ended meanwhile
            continue
        yield _Entry(int(name), state.decode(), int(parent), int(session))


def _find_family(leader: int, mark: str, table: list[_Entry]) -> set[int]:
    """What is left of the descendants of a process, itself not among them.

    Orphans have become children of ours (`adopt_orphans`), and are known by their mark.
    """
    orphans = (row.number for row in table if row.parent == os.getpid() and _has_mark(row, mark))
    members = {leader, *orphans}
    while more := {row.number for row in table if {row.parent, row.session} & members} - members:
        members |= more
    return members - {leader}


def _has_mark(process: _Entry, mark: str) -> bool:
    with suppress(OSError), open(f"/proc/{process.number}/environ", "rb") as file:
        return mark.encode() in file.read()
    return False  # another user's, or it ended meanwhile


def adopt_orphans() -> None:
    """Have processes whose parents end become children of ours, where the system can (Linux)."""
    if sys.platform == "linux":
        import ctypes

        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def resident_bytes(process: int) -> int:
    """Bytes of memory a process holds now; 0 where the system does not tell (not on Linux).

    >>> resident_bytes(os.getpid()) >= 0
    True
    """
    with suppress(OSError, IndexError):
        pages = Path(f"/proc/{process}/statm").read_text("ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0


def proportional_bytes(process: int) -> int:
    """Bytes of memory a process holds, what it shares with others in equal parts.

    As `resident_bytes` has it where the system does not tell.
    """
    with suppress(OSError, IndexError, ValueError):
        text = Path(f"/proc/{process}/smaps_rollup").read_text("ascii")
        return int(text.partition("\nPss:")[2].split(maxsplit=1)[0]) << 10
    return resident_bytes(process)


def run_shell(script: str, folder: Path, environment: Mapping[str, str]) -> int:
    """Run a script in a shell that has our terminal, and wait for it; its status."""
    return subprocess.run(  # noqa: S603
        ["sh", "-c", script],  # noqa: S607  whichever shell the system has
        cwd=folder, env=environment, check=False,
    ).returncode  # fmt: skip
