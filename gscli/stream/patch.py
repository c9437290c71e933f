"""Scatter into the file that data come from: replaced whole by a patched copy, or written into.

A copy shares its blocks with the old file where the file system can (Btrfs, XFS), so that its time
grows with the updates alone; elsewhere it takes as long as copying.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gscli import kernel
from gscli.base import UsageError
from gscli.base.arrays import Array, Indices
from gscli.disk import mapped
from gscli.disk.atomic import open_atomic
from gscli.disk.clone import clone_file
from gscli.disk.mapped import RegularFile
from gscli.disk.system import lock_file, write_errors
from gscli.files.formats import npy
from gscli.layout import Layout
from gscli.plan.plan import ValidatedPlan
from gscli.stream.direct_patch import DirectPatch, write_rows
from gscli.stream.rows import Rows
from gscli.stream.scatter import ExternalSort, RowBlock, apply_updates, update_records
from gscli.stream.to_file import ProgressCallback, make_update_reader, open_data_rows

CHUNK = 8 << 20
"""Bytes of rows that are changed at a time."""


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
    check = partial(mapped.check_unchanged, *plan.inputs.values())
    replace = partial(open_atomic, file.path, check=check, replaces=file)
    offset = _offset_in(file, data)
    if offset is not None:
        patch = RowUpdates.of(plan, offset)
        if direct:
            return DirectPatch(file, patch, check, progress, saving).run()
        with write_errors(file.name), lock_file(file), replace() as out:
            clone_file(file, out)
            done = 0
            for rows, _, new in patch.iter_batches():
                write_rows(out.fileno(), offset, rows, new)
                done += new.nbytes
                if progress is not None:
                    progress(done, patch.nbytes)
        return patch.rows.size
    if direct:
        raise UsageError(
            "only plain data can be written into",
            where=f"{file.name}: another element type or order than the result has",
            hint="--in-place replaces the file whole",
        )
    output = kernel.scatter(plan, data.reshape(layout.data_shape))
    with write_errors(file.name), lock_file(file), replace(size=output.nbytes) as out:
        npy.write(out.write, {"output": output}, ".npy")
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
class RowUpdates:
    """A scatter by the rows (n,) that it touches, rising; they are counted from byte `offset` on.

    `source` has them as they are; `blocks` count them as `rows` does.
    """

    layout: Layout
    dtype: np.dtype[Any]
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
        rows, places = update_records(plan).sort_all()
        is_first = np.diff(rows, prepend=-1) != 0
        touched, size = rows[is_first], max(CHUNK // source.width, 1)
        sort = ExternalSort(make_update_reader(plan, dtype), layout.form.row_size, size, None)
        blocks = sort.iter_sorted(np.cumsum(is_first) - 1, places, 0, touched.size)
        return cls(layout, dtype, offset, source, touched, blocks)

    @property
    def nbytes(self) -> int:
        """Bytes of all touched rows."""
        return self.rows.size * self.source.width

    def iter_batches(self) -> Iterator[tuple[Indices, Array, Array]]:
        """A few megabytes of rows (n,) at a time, and their bytes (n, width) before and after.

        They can be passed over once.
        """
        for part in self.blocks:
            rows = self.rows[part.first : part.last]
            old = np.empty((rows.size, self.source.width), np.uint8)
            self.source.take(rows, old)
            new = apply_updates(self.layout, old.copy().view(self.dtype), part.updates)
            yield rows, old, new.reshape(rows.size, -1).view(np.uint8)
