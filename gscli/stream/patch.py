"""Scatter into the file that data come from: replaced whole by a patched copy, or written into.

A copy shares its blocks with the old file where the file system can (Btrfs, XFS), so that its time
grows with the updates alone; elsewhere it takes as long as copying.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

import numpy as np

from gscli import kernel
from gscli.base import UsageError
from gscli.base.arrays import Array
from gscli.disk import mapped
from gscli.disk.atomic import AtomicFile, open_atomic
from gscli.disk.clone import clone_file
from gscli.disk.mapped import RegularFile
from gscli.disk.system import lock_file, write_errors
from gscli.files.formats import npy
from gscli.plan.plan import ValidatedPlan
from gscli.stream.direct_patch import DirectPatch
from gscli.stream.row_patch import RowUpdates, write_rows
from gscli.stream.scatter import update_records
from gscli.stream.to_file import ProgressCallback


def patch_in_place(
    plan: ValidatedPlan,
    file: RegularFile,
    *,
    direct: bool = False,
    progress: ProgressCallback | None = None,
    saving: ProgressCallback | None = None,
) -> int:
    """Write a scatter's updates into the .npy file that its data were loaded from; rows changed.

    `file` was opened before the data were loaded. Memory: about 40 bytes for each update. Whatever
    happens, the name stands for the old file or for the whole new one. With `direct` the file
    itself is written to, and an undo file beside it has the old rows until the new ones are on the
    device; `saving` is told how many bytes of them are. Raises GscliError.
    """
    layout = plan.layout
    if layout.kind != "scatter" or layout.data_name is None:
        raise UsageError("only a scatter into a .npy file can be done in place", where=file.name)
    if not layout.entry_count or 0 in layout.output_shape:
        return 0
    data = plan.inputs[layout.data_name]
    replacement = _Replacement(file, plan.inputs, progress)
    offset = _offset_in(file, data)
    if offset is not None:
        patch = RowUpdates.of(plan, offset)
        if not direct:
            return replacement.with_rows(patch)
        return DirectPatch(file, patch, plan.inputs, progress, saving).run()
    if direct:
        raise UsageError(
            "only plain data can be written into",
            where=f"{file.name}: another element type or order than the result has",
            hint="--in-place replaces the file whole",
        )
    replacement.with_result(kernel.scatter(plan, data.reshape(layout.data_shape)))
    return len(np.unique(update_records(plan).sort_all()[0]))


def _offset_in(file: RegularFile, data: Array) -> int | None:
    """Where data begin in their file; None where the file has them in another form."""
    prefix = file.read(0, min(npy.PREFIX_LIMIT, file.size))
    header = npy.parse_header(prefix, file.name)
    opaque = header.dtype.type is np.void and header.dtype.itemsize == data.dtype.itemsize
    plain = data.dtype.kind != "U" and (opaque or header.dtype == data.dtype)
    ordered = not header.is_fortran or len(header.shape) < 2  # noqa: PLR2004  one axis has one order
    return header.offset if plain and ordered and header.shape == data.shape else None


@dataclass(frozen=True)
class _Replacement:
    """A file that is to be replaced, all inputs of the run, and who is told of the progress."""

    file: RegularFile
    inputs: Mapping[str, Array]
    progress: ProgressCallback | None

    def with_result(self, output: Array) -> None:
        """Replace the file by a result in memory."""
        lock = lock_file(self.file)
        with write_errors(self.file.name), lock, self._in_its_place(output.nbytes) as out:
            npy.write(out.write, {"output": output}, ".npy")

    def with_rows(self, patch: RowUpdates) -> int:
        """Replace the file by a copy with new rows; how many."""
        done = 0
        with write_errors(self.file.name), lock_file(self.file), self._in_its_place() as out:
            clone_file(self.file, out)
            for part in patch.parts():
                new = patch.apply_batch(part, patch.read_rows(part.rows))
                write_rows(out.fileno(), patch.offset, part.rows, new)
                done += part.rows.size
                if self.progress is not None:
                    self.progress(done * patch.source.width, patch.count * patch.source.width)
        return done

    def _in_its_place(self, size: int | None = None) -> AbstractContextManager[AtomicFile]:
        """A new file for the name, unless another one has it by then or an input was changed."""
        check = partial(mapped.check_unchanged, *self.inputs.values())
        return open_atomic(self.file.path, size=size, check=check, replaces=self.file)
