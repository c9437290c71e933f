"""System calls of which the n-th fails, for the readers and the writers."""

from __future__ import annotations

import fcntl
import gc
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Self

import pytest

from gscli.base import GscliError
from gscli.disk import atomic, clone, exchange, mapped, system, uncached, unfinished
from gscli.files import content
from gscli.stream import rowfile, scatter, to_file, undo_file

CALLS = (
    *("open", "write", "fsync", "replace", "close", "stat", "fstat", "fchmod", "lseek"),
    *("read", "pread", "dup", "readlink", "access", "statvfs", "unlink"),
    *("pwrite", "preadv", "fdatasync", "flock", "TemporaryFile"),
    *("ftruncate", "posix_fallocate"),
)


class Faults:
    """The `fail_at`-th call raises `error`, or with `lasting` that one and all after it.

    `calls` lists what was called, so that a test can fail each step in turn and stop when a run
    needs no more of them.
    """

    def __init__(self, fail_at: int, error: int, *, lasting: bool = False) -> None:
        self.fail_at, self.error, self.lasting = fail_at, error, lasting
        self.calls: list[str] = []

    @property
    def failed(self) -> bool:
        return len(self.calls) > self.fail_at

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        modules = (
            atomic,
            clone,
            content,
            exchange,
            mapped,
            rowfile,
            system,
            undo_file,
            unfinished,
            uncached,
        )
        for module in modules:
            monkeypatch.setattr(module, "os", StandIn(os, self))
        monkeypatch.setattr(system, "fcntl", StandIn(fcntl, self))
        monkeypatch.setattr(
            exchange, "exchange_names", self.counted("exchange", exchange.exchange_names)
        )
        for module in (to_file, scatter):
            monkeypatch.setattr(module, "tempfile", StandIn(tempfile, self))
        monkeypatch.setattr(mmap, "mmap", self.mapping())

    def counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.calls.append(name)
            number = len(self.calls) - 1
            if number == self.fail_at or (self.lasting and number > self.fail_at):
                if name == "close":
                    real(*arguments)  # the system gives the descriptor back even then
                raise OSError(self.error, os.strerror(self.error))
            if name in {"fsync", "fdatasync"}:
                return None  # waiting for the device would only make the tests slow
            result = real(*arguments, **options)
            return TemporaryStandIn(result, self) if name == "TemporaryFile" else result

        return call

    def mapping(self) -> type[mmap.mmap]:
        made = self.counted("mmap", lambda: None)

        class Mapping(mmap.mmap):
            def __new__(cls, *arguments: Any, **options: Any) -> Any:
                made()
                return super().__new__(cls, *arguments, **options)

        return Mapping


class StandIn:
    """A module whose system calls are counted."""

    def __init__(self, module: Any, faults: Faults) -> None:
        self._module, self._faults = module, faults

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._module, name)
        return self._faults.counted(name, real) if name in CALLS else real


class TemporaryStandIn:
    """A temporary file: what Python buffers may fail at each call. A closed one is gone."""

    def __init__(self, file: IO[bytes], faults: Faults) -> None:
        self._file, self._faults = file, faults

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._file, name)
        return self._faults.counted(name, real) if name in {"write", "read", "flush"} else real

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def each_step(error: int, *, lasting: bool = False) -> Iterator[Faults]:
    """Faults for one run after the other: its first call, its second, until one ends clean."""
    step = 0
    while True:
        faults = Faults(step, error, lasting=lasting)
        yield faults
        if not faults.failed:
            return
        step += 1


def refused(
    faults: Faults, monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]
) -> str | None:
    """The refusal that a run under faults ends with, if any. Every descriptor is given back."""
    before, told = open_descriptors(), None
    with monkeypatch.context() as patch:
        faults.install(patch)
        try:
            action()
        except GscliError as error:
            told = str(error)
    if open_descriptors() != before:
        gc.collect()  # a refusal keeps the arrays of its frames
    assert open_descriptors() <= before, faults.calls
    return told
