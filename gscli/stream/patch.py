"""Scatter into the file that data come from: replaced whole by a patched copy, or written into.

A copy shares its blocks with the old file where the file system can (Btrfs, XFS), so that its time
grows with the updates alone; elsewhere it takes as long as copying.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from gscli import kernel
from gscli.base import UsageError, check_rule
from gscli.base.arrays import Array, DType, Indices
from gscli.base.words import quote_word
from gscli.disk import mapped
from gscli.disk.atomic import open_atomic
from gscli.disk.clone import clone_file
from gscli.disk.interrupts import DeferredSignals, record_result
from gscli.disk.mapped import RegularFile, undo_file_of
from gscli.disk.system import check_space, lock_file, sync, write_error, write_errors
from gscli.disk.unfinished import mark_unfinished, refuse_unfinished
from gscli.files.formats import npy
from gscli.files.request import MANY_MEMBERS, WRITABLE_SUFFIXES, Source, file_suffix
from gscli.layout import Layout
from gscli.plan.plan import ValidatedPlan
from gscli.stream.gather import Rows
from gscli.stream.scatter import ExternalSort, RowBlock, apply_updates, sort_by_row, update_records
from gscli.stream.to_file import Progress, ProgressCounter, make_update_reader, open_data_rows
from gscli.stream.undo_file import (
    UndoFile,
    iter_parts,
    put_back,
    remove_undo_file,
    reserve_rows,
    write_rows,
)

# Bytes of rows that are changed at a time.
CHUNK = 8 << 20


def make_in_place_error(where: str, word: str = "") -> UsageError:
    """The refusal of what is neither a scatter nor into a file or store that can be patched.

    `word` names the data.
    """
    source = Source.parse(word)
    suffix = file_suffix(source.path)
    is_kept = source.member and suffix in WRITABLE_SUFFIXES and suffix in MANY_MEMBERS
    problem = "only a scatter into a .npy file or an Icechunk repository can be done in place"
    alone = f"-o {quote_word(word)} changes this array of the file alone"
    way = alone if is_kept else "-o FILE writes a new one"
    return UsageError(problem, where=where, hint=f"without --in-place, {way}")


def patch_in_place(
    plan: ValidatedPlan,
    file: RegularFile,
    *,
    direct: bool = False,
    progress: Progress = None,
    saving: Progress = None,
) -> int:
    """Write a scatter's updates into the .npy file that its data were loaded from; rows changed.

    `file` was opened before the data were loaded. Memory: about 40 bytes for each update. Whatever
    happens, the name stands for the old file or for the whole new one. With `direct` the file
    itself is written to, and an undo file beside it has the old rows until the new ones are on the
    device; `saving` is told how many bytes of them are. Raises GscliError.
    """
    layout = plan.layout
    if layout.kind != "scatter" or layout.data_name is None:
        raise make_in_place_error(file.name)
    if not layout.entry_count or 0 in layout.output_shape:
        return 0
    data = plan.inputs[layout.data_name]
    check = partial(mapped.check_unchanged, *plan.inputs.values())
    replace = partial(open_atomic, file.path, check=check, replaces=file)
    offset = _find_offset(file, data)
    if offset is not None:
        patch = RowUpdates.of(plan, offset)
        if direct:
            return DirectPatch(file, patch, check, progress, saving).run()
        with write_errors(file.name), lock_file(file), replace() as out:
            hint = f"--in-place=direct needs {patch.undo_bytes:,} bytes, and fewer for fewer rows"
            clone_file(file, out, hint)
            written = ProgressCounter(progress, patch.nbytes)
            for rows, _, new in patch.iter_batches():
                write_rows(out.fileno(), offset, rows, new)
                written.add(new.nbytes)
        return patch.rows.size
    where = f"{file.name}: another element type or order than the result has"
    hint = "--in-place replaces the file whole, in this machine's byte order and row-major"
    check_rule(not direct, "only plain data can be written into", where, kind=UsageError, hint=hint)
    output = kernel.scatter(plan, data.reshape(layout.data_shape))
    with write_errors(file.name), lock_file(file), replace(size=output.nbytes) as out:
        npy.write(out.write, {"output": output}, ".npy")
    return len(np.unique(update_records(plan).read_all()["row"]))


def _find_offset(file: RegularFile, data: Array) -> int | None:
    """Where data begin in their file; None where the file has them in another form."""
    header = npy.parse_header(file.read(0, min(npy.PREFIX_LIMIT, file.size)), file.name)
    opaque = header.dtype.type is np.void and header.dtype.itemsize == data.dtype.itemsize
    plain = data.dtype.kind != "U" and (opaque or header.dtype == data.dtype)
    ordered = not header.is_fortran or len(header.shape) < 2  # noqa: PLR2004  one axis has one order
    return header.offset if plain and ordered and header.shape == data.shape else None


@dataclass(frozen=True)
class RowUpdates:
    """A scatter by the rows (n,) that it touches, rising; they are counted from byte `offset` on.

    `source` has them as they are; `blocks` count them as `rows` does.
    """

    layout: Layout
    dtype: DType
    offset: int
    source: Rows
    rows: Indices
    blocks: Iterator[RowBlock]

    @classmethod
    def of(cls, plan: ValidatedPlan, offset: int) -> RowUpdates:
        """Sort the addresses of a plan whose data are in memory or in a file."""
        layout = plan.layout
        dtype = plan.inputs[layout.data_name or ""].dtype
        source = open_data_rows(plan, dtype)
        rows, places = sort_by_row(update_records(plan).read_all())
        is_first = np.diff(rows, prepend=-1) != 0
        touched, size = rows[is_first], max(CHUNK // source.width, 1)
        sort = ExternalSort(make_update_reader(plan, dtype), layout.form.row_size, size, None)
        blocks = sort.iter_sorted(np.cumsum(is_first) - 1, places, 0, touched.size)
        return cls(layout, dtype, offset, source, touched, blocks)

    @property
    def nbytes(self) -> int:
        """Bytes of all touched rows."""
        return self.rows.size * self.source.width

    @property
    def undo_width(self) -> int:
        """Bytes that each row takes in an undo file: its number, its old and its new ones."""
        return self.rows.itemsize + 2 * self.source.width

    @property
    def undo_bytes(self) -> int:
        """Bytes that all of them take."""
        return self.rows.size * self.undo_width

    def iter_batches(self) -> Iterator[tuple[Indices, Array, Array]]:
        """A few megabytes of rows (n,) at a time, their bytes (n, width), before and after.

        They can be passed over once.
        """
        for part in self.blocks:
            rows = self.rows[part.first : part.last]
            block = np.empty((rows.size, self.source.width), np.uint8)
            self.source.take(rows, block)
            new = apply_updates(self.layout, block.copy().view(self.dtype), part.updates)
            yield rows, block, new.reshape(len(block), -1).view(np.uint8)


@dataclass(frozen=True)
class DirectPatch:
    """New rows for a file, what checks the inputs of the run, and who is told how far the rows are
    written, and how far the old ones are saved.
    """

    file: RegularFile
    patch: RowUpdates
    check: Callable[[], None]
    progress: Progress
    saving: Progress

    def run(self) -> int:
        """Write the new rows; how many they are."""
        name = self.file.name
        with write_errors(name):
            writable = self.file.reopen_writable()
        with closing(writable), lock_file(writable), DeferredSignals() as interrupts:
            refuse_unfinished(self.file.path)
            undo_file = self._save_old_rows(writable, interrupts)
            self._write_new_rows(undo_file, writable, interrupts)
            record_result(name)
            hint = f"delete {undo_file.path}, if it is there"
            failure = "cannot remove the undo file of", "the patch is complete", hint
            with write_errors(name, *failure):
                remove_undo_file(undo_file.file, writable)
        return self.patch.rows.size

    def _save_old_rows(self, writable: RegularFile, interrupts: DeferredSignals) -> UndoFile:
        """The undo file of a patch, complete, and room for its rows where the file has holes.

        No byte of the file has changed yet, even where this fails.
        """
        patch, failure = self.patch, (self.file.name, "cannot patch", "the file is as it was")
        path = undo_file_of(self.file.path)
        hint = f"patch fewer rows at a time: each needs {patch.undo_width:,} bytes"
        with write_errors(*failure):
            check_space(os.path.dirname(path), patch.undo_bytes, path, hint=hint)
            undo_file = UndoFile(self.file, patch.offset, patch.source.width)
        saved = ProgressCounter(self.saving, patch.nbytes)
        try:
            with write_errors(*failure, hint), interrupts.allow():
                for rows, old, new in patch.iter_batches():
                    interrupts.deliver_pending()
                    undo_file.add(rows, old, new)
                    saved.add(old.nbytes)
                self.check()
                self.file.check_unchanged()
                undo_file.commit()
                if writable.has_holes:
                    for rows, _, _ in iter_parts(undo_file.file):
                        reserve_rows(writable.descriptor, patch.offset, rows, patch.source.width)
                mark_unfinished(writable, undo_file.file)
                sync(writable.descriptor)
        except BaseException:
            with suppress(OSError):
                remove_undo_file(undo_file.file, writable)
            raise
        return undo_file

    def _write_new_rows(
        self, undo_file: UndoFile, writable: RegularFile, interrupts: DeferredSignals
    ) -> None:
        """Change the rows as noted; where that fails, put the old ones back at once."""
        written = ProgressCounter(self.progress, self.patch.nbytes)
        try:
            with interrupts.allow():
                for rows, _, new in iter_parts(undo_file.file):
                    interrupts.deliver_pending()
                    write_rows(writable.descriptor, self.patch.offset, rows, new)
                    written.add(new.nbytes)
                sync(writable.descriptor)
        except BaseException as error:
            self._restore_rows(undo_file, writable, error)
            if isinstance(error, OSError):
                state = "its old rows were put back"
                raise write_error(error, self.file.name, "cannot patch", state) from error
            raise

    def _restore_rows(self, undo: UndoFile, writable: RegularFile, error: BaseException) -> None:
        try:
            put_back(undo.file, writable, self.patch.offset)
        except Exception as second:
            undo.file.close()  # kept for `gscli undo`
            first = error if isinstance(error, OSError) else second
            name, state = self.file.name, "it is a mix of old and new rows"
            hint = f"gscli undo {quote_word(name)}"
            raise write_error(first, name, "cannot patch", state, hint) from second
        with suppress(OSError):  # at worst it says what is so already
            remove_undo_file(undo.file, writable)
