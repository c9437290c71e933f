"""The HDF5 library where a process of its own is not what is tested: in a thread of this one."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gscli.disk.processes import ProcessSpec
from gscli.files import isolated
from gscli.files.formats import hdf5_library


class ThreadedChild:
    """The library's process as a thread, which answers by pipes as well: seen by coverage."""

    def __init__(self, program: ProcessSpec) -> None:
        pipes = (*os.pipe(), *os.pipe())
        modes = ("rb", "wb", "rb", "wb")
        self._ends = [os.fdopen(pipe, mode) for pipe, mode in zip(pipes, modes, strict=True)]
        self._file = os.dup(program.descriptors[0])
        requests, self._requests, self._answers, answers = self._ends

        def serve() -> None:
            with answers:  # whoever waits for one learns that it will not come
                isolated.serve(program.words[-2], self._file, requests, answers)

        self._thread = threading.Thread(target=serve)
        self._thread.start()

    def exchange(self, text: bytes, _limit: float) -> bytes:
        self._requests.write(text)
        self._requests.flush()
        return self._answers.readline()

    def receive(self, size: int, _limit: float) -> bytes:
        return self._answers.read(size)

    def stop(self) -> None:
        self._requests.close()
        self._thread.join()
        os.close(self._file)
        for end in self._ends:
            end.close()


@contextmanager
def library_in_this_process() -> Iterator[None]:
    """Start no process, and limit no memory: it would be ours."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isolated, "Child", ThreadedChild)
        patch.setattr(hdf5_library, "limit_memory", lambda _: None)
        yield
        isolated._close_kept()
