"""Scatter into an Icechunk repository, as one commit: readers see all of it or nothing."""

from __future__ import annotations

from typing import Any, TypeAlias

from gscli.base import CannotWrite, UsageError
from gscli.base.records import Record
from gscli.base.words import counted
from gscli.files.extras import extra
from gscli.files.stores.icechunk_store import BRANCH, repository
from gscli.files.stores.zarr_place import Place, is_repository, writing
from gscli.files.stores.zarr_store import Store
from gscli.plan.plan import ValidatedPlan
from gscli.stream.chunked.grid import Grid
from gscli.stream.chunked.scatter import scatter_by_chunk
from gscli.stream.to_file import Report, updates_at

Session: TypeAlias = Any
"""Icechunk's; the package is an extra."""


class Committed(Record):
    """What a commit changed: how many chunks, and its snapshot; none where nothing changed."""

    chunks: int
    snapshot: str


def commit_scatter(
    plan: ValidatedPlan, store: Store, message: str | None = None, *, progress: Report | None = None
) -> Committed:
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
    branch, session = _session(place)
    target = _opened(session, store)
    grid = Grid.of(target.shape, target.chunk, layout.form.run)
    if target.shape != store.shape or grid is None:
        raise CannotWrite(f"{place.name} was changed meanwhile", hint="run the command again")
    chunks = done = 0
    if not layout.moves_nothing:
        updates = updates_at(plan, target.dtype)
        for count in scatter_by_chunk(plan, target, target.write, grid, updates, None):
            chunks, done = chunks + 1, done + count
            if progress is not None:
                progress(min(done, target.nbytes), target.nbytes)
    if not session.has_uncommitted_changes:
        return Committed(0, "")
    said = message or f"gscli scatter, {counted(layout.entry_count, 'entry', 'entries')}"
    try:
        return Committed(chunks, session.commit(said))
    except extra("icechunk", "icechunk").ConflictError as error:
        raise CannotWrite(
            f"{place.name} was committed to by somebody else meanwhile",
            where=f"{branch} of {place.name}",
            details=("nothing of this run was committed",),
            hint="run the command again: it then starts from the new version",
        ) from error


def _session(place: Place) -> tuple[str, Session]:
    """The branch that a place names, and icechunk's session that may write to it."""
    found = repository(place.path)
    branch = place.version or BRANCH
    if branch not in found.list_branches():
        raise UsageError(
            f"{branch} is no branch, and only a branch can be committed to",
            where=place.name,
            valid=", ".join(sorted(found.list_branches())),
        )
    with writing(place.name):
        return branch, found.writable_session(branch)


def _opened(session: Session, store: Store) -> Store:
    """The same array as another store has, in a session."""
    place = store.place
    with writing(place.name):
        array = extra("zarr", "zarr").open_array(session.store, path=place.member, mode="r+")
    return Store(array, place, 1 << 62, store.dtype)
