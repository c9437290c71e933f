"""Scatter into the file that data come from: replaced whole by a patched copy, or written into.

A copy shares its blocks with the old file where the file system can (Btrfs, XFS), so that its time
grows with the updates alone; elsewhere it takes as long as copying.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from gscli import kernel
from gscli.base import UsageError
from gscli.base.arrays import Array, Indices
from gscli.disk import mapped
from gscli.disk.atomic import AtomicFile, open_atomic
from gscli.disk.clone import clone
from gscli.disk.interrupts import Interrupts
from gscli.disk.mapped import RegularFile
from gscli.disk.system import locked, refused, sync, writing
from gscli.disk.undo import UndoFile, refuse_unfinished, reserve_rows, write_rows
from gscli.files.formats import npy
from gscli.kernel import Target
from gscli.kernel.steps import Step
from gscli.layout import Layout
from gscli.plan.plan import ValidatedPlan
from gscli.stream.rows import Rows
from gscli.stream.scatter import AHEAD, Ahead, records_of
from gscli.stream.to_file import Report, data_rows, updates_at

CHUNK = 8 << 20
"""Bytes of rows that are changed at a time."""


def patch_in_place(
    plan: ValidatedPlan,
    file: RegularFile,
    *,
    direct: bool = False,
    progress: Report | None = None,
) -> int:
    """Write a scatter's updates into the .npy file that its data were loaded from; rows changed.

    `file` was opened before the data were loaded. Memory: about 40 bytes for each update. Whatever
    happens, the name stands for the old file or for the whole new one. With `direct` the file
    itself is written to, and an undo file beside it has the old rows until the new ones are on the
    device. Raises GscliError.
    """
    layout = plan.layout
    if layout.kind != "scatter" or layout.data is None:
        raise UsageError("only a scatter into a .npy file can be done in place", where=file.name)
    if not layout.entry_count or 0 in layout.output_shape:
        return 0
    data = plan.inputs[layout.data]
    job = _Job(file, plan.inputs, progress)
    offset = _offset_in(file, data)
    if offset is not None:
        patch = RowPatch.of(plan, offset)
        return job.patched(patch) if direct else job.replaced(patch)
    if direct:
        raise UsageError(
            "only plain data can be written into",
            where=f"{file.name}: another element type or order than the result has",
            hint="--in-place replaces the file whole",
        )
    job.rewritten(kernel.scatter(plan, data.reshape(layout.data_shape)))
    return len(np.unique(records_of(plan).together()[0]))


def _offset_in(file: RegularFile, data: Array) -> int | None:
    """Where data begin in their file; None where the file has them in another form."""
    prefix = file.read(0, min(npy.PREFIX_LIMIT, file.size))
    header = npy.parse_header(prefix, file.name)
    opaque = header.dtype.type is np.void and header.dtype.itemsize == data.dtype.itemsize
    plain = data.dtype.kind != "U" and (opaque or header.dtype == data.dtype)
    ordered = not header.fortran or len(header.shape) < 2  # noqa: PLR2004  one axis has one order
    return header.offset if plain and ordered and header.shape == data.shape else None


@dataclass(frozen=True)
class _Job:
    """A file to be changed, all inputs of the run, and who is told of the progress."""

    file: RegularFile
    inputs: Mapping[str, Array]
    progress: Report | None

    def rewritten(self, output: Array) -> None:
        """Replace the file by a result in memory."""
        lock = locked(self.file)
        with writing(self.file.name), lock, self._in_its_place(output.nbytes) as out:
            npy.write(out.write, {"output": output}, ".npy")

    def replaced(self, patch: RowPatch) -> int:
        """Replace the file by a copy with new rows; how many."""
        done = 0
        with writing(self.file.name), locked(self.file), self._in_its_place() as out:
            clone(self.file, out)
            for part in patch.parts():
                new = patch.changed(part, patch.held(part.rows))
                write_rows(out.fileno(), patch.offset, part.rows, new)
                done += self._told(done, part, patch)
        return done

    def _in_its_place(self, size: int | None = None) -> AbstractContextManager[AtomicFile]:
        """A new file for the name, unless another one has it by then or an input was changed."""
        check = partial(mapped.check_unchanged, *self.inputs.values())
        return open_atomic(self.file.path, size=size, check=check, over=self.file)

    def _told(self, done: int, part: RowPart, patch: RowPatch) -> int:
        if self.progress is not None:
            width = patch.source.width
            self.progress((done + part.rows.size) * width, patch.count * width)
        return part.rows.size

    def patched(self, patch: RowPatch) -> int:
        """Write new rows into the file itself; how many."""
        writable = self._opened()
        try:
            with locked(writable), Interrupts() as interrupts:
                refuse_unfinished(self.file.path)
                undo = self._noted(patch, writable, interrupts)
                self._written(patch, undo, writable, interrupts)
                self._finished(undo)
        finally:
            writable.close()
        return patch.count

    def _opened(self) -> RegularFile:
        with writing(self.file.name):
            return self.file.for_writing()

    def _noted(self, patch: RowPatch, writable: RegularFile, interrupts: Interrupts) -> UndoFile:
        """The undo file of a patch, complete, and room for its rows where the file has holes.

        No byte of the file has changed yet, even where this fails.
        """
        told = self.file.name, "cannot patch", "the file is as it was"
        with writing(*told):
            undo = UndoFile(self.file, patch.offset, patch.source.width)
        try:
            with writing(*told), interrupts.allowed():
                for part in patch.parts():
                    interrupts.act()
                    held = patch.held(part.rows)
                    undo.add(part.rows, held, patch.changed(part, held.copy()))
                mapped.check_unchanged(*self.inputs.values())
                self.file.check_unchanged()
                undo.seal()
                if writable.has_holes:
                    for rows, _, _ in undo.parts():
                        reserve_rows(writable.descriptor, patch.offset, rows, patch.source.width)
        except BaseException:
            with suppress(OSError):
                undo.remove()
            raise
        return undo

    def _written(
        self, patch: RowPatch, undo: UndoFile, writable: RegularFile, interrupts: Interrupts
    ) -> None:
        """Change the rows as noted; where that fails, put the old ones back at once."""
        width, done, descriptor = patch.source.width, 0, writable.descriptor
        try:
            with interrupts.allowed():
                for rows, _, new in undo.parts():
                    interrupts.act()
                    write_rows(descriptor, patch.offset, rows, new)
                    done += rows.size
                    if self.progress is not None:
                        self.progress(done * width, patch.count * width)
                sync(descriptor)
        except BaseException as error:
            self._put_back(patch, undo, writable, error)
            if isinstance(error, OSError):
                told = "its old rows were put back"
                raise refused(error, self.file.name, "cannot patch", told) from error
            raise

    def _put_back(
        self, patch: RowPatch, undo: UndoFile, writable: RegularFile, error: BaseException
    ) -> None:
        try:
            for rows, old, _ in undo.parts():
                write_rows(writable.descriptor, patch.offset, rows, old)
            sync(writable.descriptor)
        except Exception as second:
            undo.leave()
            first = error if isinstance(error, OSError) else second
            state, hint = "it is a mix of old and new rows", f"gscli undo {self.file.name}"
            raise refused(first, self.file.name, "cannot patch", state, hint) from second
        with suppress(OSError):  # at worst it says what is so already
            undo.remove()

    def _finished(self, undo: UndoFile) -> None:
        hint = f"delete {undo.name}, if it is there"
        told = "cannot remove the undo file of", "the patch is complete", hint
        with writing(self.file.name, *told):
            undo.remove()


@dataclass(frozen=True)
class RowPart:
    """Some rows, rising, each once; their updates, by which row of the part they go to."""

    rows: Indices
    targets: Indices
    updates: slice


@dataclass(frozen=True)
class RowPatch:
    """A scatter by the rows that it touches, from where each row has all its updates together."""

    layout: Layout
    dtype: np.dtype[np.generic]
    offset: int
    source: Rows
    rows: Indices
    ahead: Ahead

    @property
    def count(self) -> int:
        """How many rows change."""
        return int(np.count_nonzero(np.diff(self.rows, prepend=-1)))

    @classmethod
    def of(cls, plan: ValidatedPlan, offset: int) -> RowPatch:
        """Sort the addresses of a plan."""
        layout = plan.layout
        assert layout.data is not None
        dtype = plan.inputs[layout.data].dtype
        source = data_rows(plan, dtype)
        rows, places = records_of(plan).together()
        count = max(AHEAD // layout.form.run, 1)
        return cls(
            layout,
            dtype,
            offset,
            source,
            rows,
            Ahead(updates_at(plan, dtype), places, count),
        )

    def parts(self) -> Iterator[RowPart]:
        """All touched rows, a few megabytes at a time."""
        starts = np.flatnonzero(np.diff(self.rows, prepend=-1))
        size = max(CHUNK // self.source.width, 1)
        for first in range(0, starts.size, size):
            here = starts[first : first + size]
            end = int(starts[first + size]) if first + size < starts.size else self.rows.size
            begin = int(here[0])
            numbers = np.repeat(np.arange(here.size), np.diff(here, append=end))
            yield RowPart(self.rows[here], numbers, slice(begin, end))

    def held(self, rows: Indices) -> Array:
        """The bytes of some rows, (rows, width)."""
        found = np.empty((rows.size, self.source.width), np.uint8)
        self.source.take(rows, found)
        return found

    def changed(self, part: RowPart, held: Array) -> Array:
        """The bytes of a part's rows after their updates; `held` are those before, overwritten."""
        with np.errstate(all="ignore"):
            return self._changed(part, held.view(self.dtype))

    def _changed(self, part: RowPart, block: Array) -> Array:
        target, values = Target(self.layout, block), self.ahead.part(part.updates)
        if target.rule is None:
            target.rows[part.targets] = values
        else:
            target.count(part.targets)
            target.start()
            target.update(Step(slice(None), part.targets, None, (slice(None),)), values)
        return target.finished().reshape(part.rows.size, -1).view(np.uint8)
