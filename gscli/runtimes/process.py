"""A runtime in a process of its own: it may crash, hang, print, leave or eat memory.

Each of these is an answer to the request that was under way; the next request starts it anew.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from gscli.base import CannotRead, ContentRefused
from gscli.base.arrays import Array
from gscli.base.words import safe
from gscli.frameworks.operator import Operator
from gscli.runtimes.protocol import (
    Hello,
    Reply,
    echo_request,
    encoded,
    read_answer,
    read_hello,
    request,
)

START_LIMIT = 180.0
"""Seconds until the first line: importing a large framework from a cold disk takes a minute."""

LINE_LIMIT = 64 << 20
PIECE = 1 << 16
WATCHED_EVERY = 0.25
"""Seconds between two looks at the memory of a process that is working."""

MEMORY_LIMIT = 4 << 30
LAST_WORDS = 4096


class RuntimeProcess:
    """A runtime behind the protocol. `patience` is the time limit of one call in seconds.

    A context manager: on leaving, the process and its children are ended.
    """

    def __init__(
        self, command: Sequence[str], *, patience: float = 20.0, memory: int = MEMORY_LIMIT
    ) -> None:
        self._command, self._patience, self._memory = list(command), patience, memory
        self._process: subprocess.Popen[bytes] | None = None
        self._pending = bytearray()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed when the runtime is left
        self._number = 0
        self.hello: Hello | None = None
        self.restarts = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._errors.close()

    def start(self) -> Hello:
        """Start the process and read who it is. CannotRead where it does not come up."""
        self.stop()
        try:
            self._process = subprocess.Popen(  # noqa: S603  the user's own command, no shell
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise CannotRead(
                f"the runtime does not start: {error.strerror}",
                where=safe(" ".join(self._command[:2])),
                hint="gscli runtimes",
            ) from None
        line = self._line(START_LIMIT)
        if isinstance(line, Reply):
            ended = self._ending() if line.how == "crash" else line.text
            self.stop()
            raise CannotRead(
                "the runtime does not start",
                where=ended,
                hint="--python PATH names the interpreter that has it; gscli runtimes lists them",
            )
        try:
            self.hello = read_hello(line)
        except ContentRefused:
            self.stop()
            raise
        return self.hello

    def ask(
        self, operator: Operator, inputs: Mapping[str, Array], attrs: Mapping[str, object]
    ) -> Reply:
        """The runtime's answer to one call; a process that is gone is started first."""
        self._number += 1
        return self._exchange(request(self._number, operator, inputs, attrs))

    def echo(self, array: Array) -> Reply:
        """The same tensor back, through the adapter alone."""
        self._number += 1
        return self._exchange(echo_request(self._number, array))

    def _exchange(self, document: Mapping[str, object]) -> Reply:
        if self._process is None:
            self.restarts += self.hello is not None
            self.start()
        assert self._process is not None
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(encoded(document))
            self._process.stdin.flush()
        except OSError:
            return self._ended(Reply("crash"))
        line = self._line(self._patience)
        if isinstance(line, Reply):
            return self._ended(line)
        answer = read_answer(line, self._number)
        if answer.how == "garbage":
            self.stop()  # what it says next may belong to another request
        return answer

    def _ended(self, answer: Reply) -> Reply:
        text = self._ending() if answer.how == "crash" else answer.text
        self.stop()
        return Reply(answer.how, text=text)

    def _line(self, limit: float) -> bytes | Reply:
        """The next line of the process, or why there is none."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        deadline = time.monotonic() + limit
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while (end := self._pending.find(b"\n")) < 0:
                left = deadline - time.monotonic()
                if left <= 0:
                    return Reply("hang", text=f"no answer within {limit:g} s")
                if resident(process.pid) > self._memory:
                    return Reply("memory", text=f"more than {self._memory >> 20:,} MiB")
                if not selector.select(min(left, WATCHED_EVERY)):
                    # What it started may hold the pipe open after its end.
                    if process.poll() is not None and not selector.select(0):
                        return Reply("crash")
                    continue
                piece = os.read(process.stdout.fileno(), PIECE)
                if not piece:
                    return Reply("crash")
                self._pending += piece
                if len(self._pending) > LINE_LIMIT:
                    return Reply("garbage", text=f"a line of more than {LINE_LIMIT >> 20} MiB")
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        return line

    def _ending(self) -> str:
        """How the process ended, with its last words on standard error."""
        assert self._process is not None
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return "closed its standard output"
        if code < 0:
            names = {item.value: item.name for item in signal.Signals}
            how = f"ended by {names.get(-code, f'signal {-code}')}"
        else:
            how = f"ended with status {code}"
        words = self._last_words()
        return f"{how}: {words}" if words else how

    def _last_words(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(size - LAST_WORDS, 0))
        lines = self._errors.read(LAST_WORDS).decode("utf-8", "replace").strip().splitlines()
        return safe(lines[-1], 160) if lines else ""

    def stop(self) -> None:
        """End the process and what it started; nothing where there is none."""
        process, self._process = self._process, None
        self._pending.clear()
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                _close(stream)
        _end_group(process.pid)  # of one that has ended, too: what it started may be left
        process.wait()
        self._errors.seek(0)
        self._errors.truncate()


def _close(stream: IO[Any]) -> None:
    try:
        stream.close()
    except OSError:  # unwritten requests of a process that is gone
        return


def _end_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except OSError:
        return


def resident(process: int) -> int:
    """Bytes of memory a process holds now; 0 where the system does not tell (not on Linux).

    >>> resident(os.getpid()) >= 0
    True
    """
    try:
        pages = Path(f"/proc/{process}/statm").read_text("ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
