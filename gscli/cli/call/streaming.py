"""Results that are written while they are made, or into the file that data come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gscli.base import UsageError, check_rule
from gscli.base.arrays import Array, is_lazy
from gscli.cli.options import Settings, refuse_flags
from gscli.disk.mapped import RegularFile
from gscli.disk.system import trim_large_allocations
from gscli.files.request import STORES, file_suffix
from gscli.frameworks.operator import Operator
from gscli.plan import CallInputs
from gscli.plan.plan import Plan, ValidatedPlan
from gscli.stream import is_worth_streaming, patch_in_place, write_result
from gscli.stream.patch import make_in_place_error
from gscli.views.progress_bar import ProgressBar


def is_streamed(plan: Plan, settings: Settings) -> bool:
    """Whether the result is written while it is made: data lie in a store, or an input is too
    large to copy into memory.
    """
    if settings.engine is not None:
        return True
    to_store = file_suffix(settings.output or "") in STORES
    if not (settings.is_save_only if to_store else settings.is_streamable):
        return False
    if plan.layout.fold is not None:  # no cell of the output is done before all are read
        return False
    is_large = is_worth_streaming(plan.inputs) and plan.has_data_dtype
    return is_large or any(map(is_lazy, plan.inputs.values()))


def write_streamed(plan: ValidatedPlan, settings: Settings) -> Array:
    """The output, written from file to file in memory that does not grow."""
    target = str(settings.output)
    with ProgressBar("writing", None, unit="bytes", quiet=settings.quiet) as progress:
        if settings.engine is not None:
            from gscli.stream.cluster.on_cluster import run_on_cluster

            return run_on_cluster(plan, target, settings.engine, progress=progress.update)
        if any(map(is_lazy, plan.inputs.values())):
            trim_large_allocations()
        return write_result(plan, target, progress=progress.update)


def run_in_place(
    operator: Operator, plan: Plan, inputs: CallInputs, settings: Settings,
    validate: Callable[[], ValidatedPlan],
) -> dict[str, Any]:  # fmt: skip
    """Write the updates into the file or store of data; how many of what were written.

    `validate` judges the plan, once it is known that there is something to write into.
    """
    if any(map(is_lazy, plan.inputs.values())):
        return _commit_to_store(validate(), settings)
    refuse_flags(settings.list_flags("message"), "--message is what a commit to Icechunk says")
    data, *_ = operator.input_names
    where, hint = operator.full_name, "without --in-place, -o FILE writes a new one"
    if plan.layout.kind != "scatter" or inputs.file is None or plan.layout.data_name != data:
        origin = inputs.origins.get(data, "") if plan.layout.kind == "scatter" else ""
        raise make_in_place_error(where, origin)
    problem = f"the result is {plan.layout.dtype}, another element type than the file's"
    check_rule(plan.has_data_dtype, problem, where, kind=UsageError, hint=hint)
    return _patch_file(validate(), inputs.file, settings)


def _patch_file(plan: ValidatedPlan, file: RegularFile, settings: Settings) -> dict[str, Any]:
    direct = settings.in_place == "direct"
    with (
        ProgressBar("saving old rows", None, unit="bytes", quiet=settings.quiet) as saving,
        ProgressBar("patching", None, unit="bytes", quiet=settings.quiet) as patching,
    ):

        def update(done: int, total: int) -> None:
            saving.close()
            patching.update(done, total)

        rows = patch_in_place(plan, file, direct=direct, progress=update, saving=saving.update)
    return {"written": rows, "unit": "cell" if plan.layout.form.row_size == 1 else "row"}


def _commit_to_store(plan: ValidatedPlan, settings: Settings) -> dict[str, Any]:
    from gscli.files.stores.zarr_place import is_repository
    from gscli.files.stores.zarr_store import zarr_source
    from gscli.stream.chunked.to_store import commit_scatter

    name = plan.layout.data_name or ""
    store = zarr_source(plan.inputs.get(name))
    if store is None:
        raise make_in_place_error(name)
    if settings.in_place == "direct" and is_repository(store.place.path):
        raise UsageError("an Icechunk store of data takes a commit, nothing else")
    with ProgressBar("patching", None, unit="bytes", quiet=settings.quiet) as progress:
        count, snapshot = commit_scatter(plan, store, settings.message, progress=progress.update)
    return {"written": count, "unit": "chunk", "snapshot": snapshot or None}
