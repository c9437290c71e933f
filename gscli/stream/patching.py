"""Scatter into the file that data comes from, in time that grows with the updates alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gscli.base.errors import CannotRead, CannotWrite, UsageError
from gscli.base.text import safe
from gscli.files import mapped
from gscli.files.interrupts import Interrupts
from gscli.files.undo import Journal, write_rows
from gscli.kernel.walks import Step
from gscli.kernel.writing import Target
from gscli.layout.layout import Layout
from gscli.plan.plan import Array, Indices, JudgedPlan
from gscli.stream.rowfile import RowFile
from gscli.stream.running import Progress, data_rows, updates_at
from gscli.stream.writing import AHEAD, Ahead, records_of

CHUNK = 8 << 20
"""Bytes of rows that are changed at a time."""


def patch_in_place(plan: JudgedPlan, *, name: str = "", progress: Progress | None = None) -> int:
    """Write a scatter's updates into the file that its data are mapped from; rows changed.

    Memory: about 40 bytes for each update. What the rows held is kept in a journal beside the file
    until the new content is on the device, so that an error leaves the file as it was, and so does
    the next use after a crash. `name` is the operator's, for errors. Raises GscliError.
    """
    layout = plan.layout
    place = None if layout.data is None else mapped.file_of(plan.inputs[layout.data])
    if layout.kind != "scatter" or place is None or layout.dtype == "str":
        raise UsageError(
            "only a scatter into a mapped .npy file can be done in place",
            where=name,
            hint="-o FILE writes a new file; it may be the input",
        )
    if not layout.entry_count or 0 in layout.output_shape:
        return 0
    _refuse_own_updates(plan, place[0])
    with ExitStack() as stack:
        patch = Patch.of(plan, place[1], stack)
        descriptor = stack.enter_context(_opened(place[0]))
        return _patched(patch, place[0], descriptor, progress)


def _refuse_own_updates(plan: JudgedPlan, path: str) -> None:
    """Updates from the file that is patched would be read again after some of them changed."""
    updates = plan.layout.updates
    name = None if updates is None else updates.name
    place = None if name is None else mapped.file_of(plan.inputs[name])
    if place is not None and _same_file(place[0], path):
        raise UsageError(
            f"{name} are in the file that is to be patched",
            where=safe(path),
            hint="-o FILE writes a new file; it may be the input",
        )


def _same_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except OSError as error:
        raise CannotRead(
            f"cannot read {safe(one)}", where=f"{safe(one)}: {error.strerror or error}"
        ) from error


def _patched(patch: Patch, path: str, descriptor: int, progress: Progress | None) -> int:
    """Note everything, then change everything; take it back if anything goes wrong."""
    with Interrupts() as interrupts:
        journal = Journal(path, descriptor, patch.offset, patch.source.width)
        try:
            with interrupts.allowed():
                rows = 0
                for part in patch.parts():
                    journal.add(part.rows, patch.held(part.rows))
                    rows += part.rows.size
                journal.seal()
                done = 0
                for part in patch.parts():
                    write_rows(descriptor, patch.offset, part.rows, patch.changed(part))
                    done += part.rows.size
                    if progress is not None:
                        progress(done * patch.source.width, rows * patch.source.width)
                os.fsync(descriptor)
        except BaseException as error:
            journal.roll_back()
            if isinstance(error, OSError):
                where = f"{safe(path)}: {error.strerror or error}"
                raise CannotWrite(f"cannot patch {safe(path)}", where=where) from error
            raise
        journal.remove()
    return rows


@dataclass(frozen=True)
class Part:
    """Some rows, rising, each once; their updates, by which row of the part they go to."""

    rows: Indices
    targets: Indices
    updates: slice


@dataclass(frozen=True)
class Patch:
    """A scatter by the rows that it touches, from where each row has all its updates together."""

    layout: Layout
    dtype: np.dtype[np.generic]
    offset: int
    source: RowFile
    rows: Indices
    ahead: Ahead

    @classmethod
    def of(cls, plan: JudgedPlan, offset: int, stack: ExitStack) -> Patch:
        """Sort the addresses of a plan."""
        layout = plan.layout
        assert layout.data is not None
        dtype = plan.inputs[layout.data].dtype
        source = data_rows(plan, dtype, stack)
        assert isinstance(source, RowFile)
        rows, places = records_of(plan).together()
        count = max(AHEAD // layout.form.run, 1)
        return cls(
            layout,
            dtype,
            offset,
            source,
            rows,
            Ahead(updates_at(plan, dtype, stack), places, count),
        )

    def parts(self) -> Iterator[Part]:
        """All touched rows, a few megabytes at a time."""
        starts = np.flatnonzero(np.diff(self.rows, prepend=-1))
        size = max(CHUNK // self.source.width, 1)
        for first in range(0, starts.size, size):
            here = starts[first : first + size]
            end = int(starts[first + size]) if first + size < starts.size else self.rows.size
            begin = int(here[0])
            numbers = np.repeat(np.arange(here.size), np.diff(here, append=end))
            yield Part(self.rows[here], numbers, slice(begin, end))

    def held(self, rows: Indices) -> Array:
        """The bytes of some rows, (rows, width)."""
        found = np.empty((rows.size, self.source.width), np.uint8)
        self.source.take(rows, found)
        return found

    def changed(self, part: Part) -> Array:
        """The bytes that the rows of a part hold after their updates."""
        with np.errstate(all="ignore"):
            return self._changed(part)

    def _changed(self, part: Part) -> Array:
        block = self.held(part.rows).view(self.dtype)
        target, values = Target(self.layout, block), self.ahead.part(part.updates)
        if target.rule is None:
            target.rows[part.targets] = values
        else:
            target.count(slice(None), part.targets)
            target.start()
            target.update(Step(slice(None), part.targets, None, (slice(None),)), values)
        return target.finished().reshape(part.rows.size, -1).view(np.uint8)


@contextmanager
def _opened(path: str) -> Iterator[int]:
    """A descriptor to write with. What was written is synced before it is closed."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        where = f"{safe(path)}: {error.strerror or error}"
        raise CannotWrite(f"cannot write {safe(path)}", where=where) from error
    try:
        yield descriptor
    finally:
        with suppress(OSError):
            os.close(descriptor)
