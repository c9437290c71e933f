"""The HDF5 library where a new process is not what is tested: in a thread of this one, or a fork.

In a fork it may crash, as in the process of its own that users have.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile

import forks
import pytest

from gscli.disk.processes import Failure, ProcessSpec
from gscli.files import isolated
from gscli.files.formats import hdf5_library


class ThreadedChild:
    """The library's process as a thread, which answers by pipes as well: seen by coverage."""

    def __init__(self, program: ProcessSpec) -> None:
        pipes = (*os.pipe(), *os.pipe())
        modes = ("rb", "wb", "rb", "wb")
        self._ends = [os.fdopen(pipe, mode) for pipe, mode in zip(pipes, modes, strict=True)]
        self._file = os.dup(program.descriptors[0])
        self._requests, self._answers = self._ends[1:3]
        self._thread = threading.Thread(target=self._run, args=[program.words[-2]])
        self._thread.start()

    def _run(self, module: str) -> None:
        with self._ends[3]:  # whoever waits for an answer learns that it will not come
            self._serve(module)

    def _serve(self, module: str) -> None:
        isolated.serve(module, self._file, self._ends[0], self._ends[3])

    def exchange(self, text: bytes, _limit: float) -> bytes | Failure:
        self._requests.write(text)
        self._requests.flush()
        return self._answers.readline()

    def receive(self, size: int, _limit: float) -> bytes | Failure:
        return self._answers.read(size)

    def stop(self) -> None:
        self._requests.close()
        self._thread.join()
        os.close(self._file)
        for end in self._ends:
            end.close()


class ForkedChild(ThreadedChild):
    """The library's process as a fork: its own limits end it where it never returns."""

    def _serve(self, module: str) -> None:
        requests, _, _, answers = self._ends
        with TemporaryFile() as errors:
            streams = (requests.fileno(), answers.fileno(), errors.fileno(), self._file)
            self._status = forks.answer_on(streams, module)
        requests.close()  # nobody else reads them

    def exchange(self, text: bytes, limit: float) -> bytes | Failure:
        try:
            return super().exchange(text, limit) or self._failure()
        except BrokenPipeError:
            return self._failure()

    def receive(self, size: int, limit: float) -> bytes | Failure:
        content = super().receive(size, limit)
        return content if len(content) == size else self._failure()

    def _failure(self) -> Failure:
        self._thread.join()
        return Failure("crash", f"ended with status {self._status}")


@contextmanager
def library_in_this_process() -> Iterator[None]:
    """Start no process, and limit no memory: it would be ours."""
    with _library_in(ThreadedChild) as patch:
        patch.setattr(hdf5_library, "limit_memory", lambda _: None)
        yield


@contextmanager
def library_in_forks() -> Iterator[None]:
    """Fork a process that has imported the library, for a tenth of what a new one costs."""
    with _library_in(ForkedChild):
        yield


@contextmanager
def _library_in(child: type[ThreadedChild]) -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isolated, "Child", child)
        yield patch
        isolated._close_kept()
