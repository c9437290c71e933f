"""A runtime in a process of its own: it may crash, hang, print, leave or eat memory.

Each of these is an answer to the request that was under way; the next request starts it anew.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from contextlib import ExitStack
from math import inf
from typing import Self

from gscli.base import CannotRead, GscliWarning, Notice, warn_caller
from gscli.base.arrays import Array, Arrays
from gscli.base.records import Arguments
from gscli.base.words import sanitize
from gscli.disk.interrupts import DeferredSignals
from gscli.disk.processes import Child, Failure, ProcessSpec, make_start_error
from gscli.files.formats.jsonarray import dump_json
from gscli.frameworks.operator import Operator
from gscli.lab.calls import dump_call
from gscli.runtimes.protocol import ECHO, Hello, Reply, parse_hello, parse_reply

# Seconds until the first line: importing a large framework from a cold disk takes a minute.
START_LIMIT = 180.0

# Seconds until one is told that the first line of a program of one's own is waited for.
SILENCE_LIMIT = 5.0

_OWN_START = "how a program or class of one's own begins: gscli help runtimes"

MEMORY_LIMIT = 4 << 30

# A request has an id at random below this, so that no answer can be prepared before it.
ID_LIMIT = 1 << 31


class OutOfTime(Exception):
    """The deadline came before the answer, which is not late by that."""


class RuntimeProcess:
    """A runtime behind the protocol. `patience` is the time limit of one call in seconds.

    `deadline`: when all has to be over, on the monotonic clock; a call then raises OutOfTime.
    `call_count`: what the process was asked so far. `is_spoiled`: something among it may have
    harmed the process rightly, as who asks has noted; both begin anew with a new process.

    A context manager: on leaving, the process and its children are ended; a signal leaves it, too.
    """

    def __init__(
        self, program: ProcessSpec, *, patience: float = 20.0, memory: int = MEMORY_LIMIT
    ) -> None:
        self._program, self.patience, self._memory = program, patience, memory
        self._child: Child | None = None
        self._spare: Child | None = None
        self._interrupts, self._signals = DeferredSignals(), ExitStack()
        self._hello: Hello | None = None
        self.deadline = inf
        self.restarts = 0
        self.call_count = 0
        self.is_spoiled = False

    def __enter__(self) -> Self:
        self._signals.enter_context(self._interrupts)
        self._signals.enter_context(self._interrupts.allow())
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._spare is not None:
            self._spare.stop()
        self._signals.close()

    @property
    def hello(self) -> Hello:
        """Who the process is, once it was started."""
        assert self._hello is not None
        return self._hello

    def start(self) -> Hello:
        """Start the process and read who it is. CannotRead where it does not come up."""
        self.stop()
        try:
            self._child, self._spare = self._spare or self._start_process(), None
            if self.restarts and self._program.is_isolated:
                self._spare = self._start_process()
        except OSError as error:
            problem = f"the runtime does not start: {error.strerror}"
            where = sanitize(" ".join(self._program.words[:2]))
            raise CannotRead(problem, where=where, hint="gscli runtimes") from None
        line = self._wait_for_first_line(self._child)
        if isinstance(line, Failure):
            refusal = make_start_error(line.text)
            if not self._program.is_isolated:
                more = f"; --patience SECONDS, where it needs more than {self._start_limit:g}"
                refusal.hint = _OWN_START + more * (line.how == "hang")
            raise refusal
        self._hello = parse_hello(line)
        return self._hello

    @property
    def _start_limit(self) -> float:
        """Seconds that the first line may take."""
        return max(START_LIMIT, self.patience)

    def _wait_for_first_line(self, child: Child) -> bytes | Failure:
        """What a process says first; GscliWarning where one's own program is long silent."""
        limit = self._start_limit
        if not self._program.is_isolated:
            line = self._ask(child, b"", SILENCE_LIMIT)
            if not isinstance(line, Failure) or line.how != "hang":
                return line
            program = sanitize(" ".join(self._program.words))
            text = f"the runtime is silent so far; its first line has {limit:g} s"
            warn_caller(GscliWarning(Notice(text, where=program, hint=_OWN_START)))
            limit -= SILENCE_LIMIT
        return self._ask(child, b"", limit)

    def _start_process(self) -> Child:
        """A process that comes up by itself.

        Of a runtime that ended once the next process is started while the present one answers:
        92 starts of OpenVINO took three quarters of the time of 546 calls. A user's own command
        may hold something that only one process can have.
        """
        return Child(self._program, self._memory, self._interrupts.deliver_pending)

    def run_call(
        self, operator: Operator, inputs: Arrays, attrs: Arguments, cotangent: Array | None = None
    ) -> Reply:
        """The runtime's answer to one call; a process that is gone is started first.

        With a `cotangent`, in the shape and type of the output, its gradients too; where it
        refuses, the output stands beside the refusal if the call alone has one.
        """
        call = dump_call(operator, inputs, attrs)
        if cotangent is None:
            return self._exchange(call)
        answer = self._exchange({**call, "cotangent": dump_json(cotangent)})
        if answer.status != "error":
            return answer
        return answer._replace(output=self._exchange(call).output)

    def echo(self, array: Array) -> Reply:
        """The same tensor back, through the adapter alone."""
        inputs = {"data": dump_json(array)}
        return self._exchange({"framework": "gscli", "op": ECHO, "inputs": inputs, "attrs": {}})

    def _exchange(self, document: Mapping[str, object]) -> Reply:
        if self._child is None:
            self.restarts += self._hello is not None
            self.start()
        assert self._child is not None
        self.call_count += 1
        number = secrets.randbelow(ID_LIMIT)
        request = json.dumps({"id": number, **document}) + "\n"
        line = self._ask(self._child, request.encode(), self.patience)
        if isinstance(line, Failure):
            self.stop()
            return Reply(line.how, text=line.text)
        answer = parse_reply(line, number)
        if answer.status == "garbage":
            self.stop()  # what it says next may belong to another request
        return answer

    def _ask(self, child: Child, text: bytes, limit: float) -> bytes | Failure:
        """The next line of the process within `limit` seconds, or before the deadline."""
        left = self.deadline - time.monotonic()
        line = child.exchange(text, max(min(limit, left), 0.0))
        if isinstance(line, Failure) and line.how == "hang" and left < limit:
            self.stop()
            raise OutOfTime
        return line

    def stop(self) -> None:
        """End the process and what it started; nothing where there is none."""
        self.call_count, self.is_spoiled = 0, False
        child, self._child = self._child, None
        if child is not None:
            child.stop()
