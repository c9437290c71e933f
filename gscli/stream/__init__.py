"""Files larger than memory: the same plans and kernels, block by block from file to file.

Indices are judged before the output appears. Data are read by position and never mapped, indices
and updates are looked at in blocks and let go again, so that memory stays flat whatever the sizes.
"""

from gscli.stream.patch import patch_in_place
from gscli.stream.to_file import is_worth_streaming, open_result, run_to_file

__all__ = ["is_worth_streaming", "open_result", "patch_in_place", "run_to_file"]
