"""Scatter into an Icechunk repository, as one commit: readers see all of it or nothing."""

from __future__ import annotations

from typing import Any, TypeAlias

from gscli.base import CannotWrite, UsageError
from gscli.base.records import Record
from gscli.base.words import format_count
from gscli.disk.interrupts import DeferredSignals, record_result
from gscli.files.extras import import_extra
from gscli.files.stores.icechunk_store import BRANCH, open_repository
from gscli.files.stores.zarr_place import ZarrPath, is_repository, zarr_write_errors
from gscli.files.stores.zarr_store import ZarrArray
from gscli.plan.plan import ValidatedPlan
from gscli.stream.chunked.grid import ChunkGrid
from gscli.stream.chunked.scatter import scatter_by_chunk
from gscli.stream.to_file import Progress, ProgressCounter, make_update_reader

Session: TypeAlias = Any
"""Icechunk's; the package is an extra."""


class CommitResult(Record):
    """What a commit changed: how many chunks, and its snapshot; none where nothing changed."""

    chunks: int
    snapshot: str


def commit_scatter(
    plan: ValidatedPlan, store: ZarrArray, message: str | None = None, *, progress: Progress = None
) -> CommitResult:
    """Write a scatter's updates into the repository where data lie, and commit them.

    Whoever reads meanwhile sees the old version, which keeps its snapshot. Raises UsageError for
    other stores, CannotWrite where somebody else committed to the same chunks in the meantime.
    """
    place, layout = store.place, plan.layout
    if layout.kind != "scatter" or not is_repository(place.path):
        raise UsageError(
            "only a scatter into an Icechunk repository can be done in place",
            where=place.name,
            hint="-o FILE writes a new store; it may be the input",
        )
    branch, session = _open_session(place)
    with zarr_write_errors(place.name):
        zarr = import_extra("zarr", "zarr")
        array = zarr.open_array(session.store, path=place.member, mode="r+")
    target = ZarrArray(array, place, 1 << 62, store.dtype)
    grid = ChunkGrid.for_row_size(target.shape, target.chunk_shape, layout.form.row_size)
    if target.shape != store.shape or grid is None:
        raise CannotWrite(f"{place.name} was changed meanwhile", hint="run the command again")
    chunks, counter = 0, ProgressCounter(progress, target.nbytes)
    if not layout.is_noop:
        updates = make_update_reader(plan, target.dtype)
        for count in scatter_by_chunk(plan, target, target.write_chunk, grid, updates, None):
            chunks += 1
            counter.add(count)
    if not session.has_uncommitted_changes:
        return CommitResult(0, "")
    said = message or f"gscli scatter, {format_count(layout.entry_count, 'entry', 'entries')}"
    try:
        with DeferredSignals():
            snapshot = session.commit(said)
            record_result(place.name, "has a new commit")
        return CommitResult(chunks, snapshot)
    except import_extra("icechunk", "icechunk").ConflictError as error:
        raise CannotWrite(
            f"{place.name} was committed to by somebody else meanwhile",
            where=f"{branch} of {place.name}",
            details=("nothing of this run was committed",),
            hint="run the command again: it then starts from the new version",
        ) from error


def _open_session(place: ZarrPath) -> tuple[str, Session]:
    """The branch that a place names, and icechunk's session that may write to it."""
    repository = open_repository(place.path)
    branch = place.version or BRANCH
    if branch not in repository.list_branches():
        raise UsageError(
            f"{branch} is no branch, and only a branch can be committed to",
            where=place.name,
            valid=", ".join(sorted(repository.list_branches())),
        )
    with zarr_write_errors(place.name):
        return branch, repository.writable_session(branch)
