"""Files larger than memory: the same plans and kernels, block by block from file to file.

Indices are judged before the output appears. Data are read by position and never mapped, indices
and updates are looked at in blocks and let go again, so that memory stays flat whatever the sizes.
"""

from gscli.stream.patch import patch_in_place
from gscli.stream.to_file import result_of, run_to_file, worth_streaming

__all__ = ["patch_in_place", "result_of", "run_to_file", "worth_streaming"]
