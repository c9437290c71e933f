"""Files larger than memory: the same plans and kernels, block by block from file to file.

Indices are judged before the output appears. Data are read by position and never mapped, indices
and updates are looked at in blocks and let go again, so that memory stays flat whatever the sizes.
"""

from gscli.base.arrays import Array
from gscli.files.request import STORES, file_suffix
from gscli.plan.plan import ValidatedPlan
from gscli.stream.patch import patch_in_place
from gscli.stream.to_file import Progress, is_worth_streaming, open_result, run_to_file

__all__ = ["is_worth_streaming", "open_result", "patch_in_place", "run_to_file", "write_result"]


def write_result(plan: ValidatedPlan, path: str, *, progress: Progress = None) -> Array:
    """Write a result to a Zarr store or .npy file, as its name says; what stands for it there."""
    if file_suffix(path) not in STORES:
        return run_to_file(plan, path, progress=progress)
    from gscli.stream.chunked.to_store import run_to_store

    return run_to_store(plan, path, progress=progress)
