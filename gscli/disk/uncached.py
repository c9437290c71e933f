"""Files written past the system's cache, where the system can.

In the cache each 4 KiB of a large result would need a page of its own, which takes longer to find
than to fill, push out what others keep there, and wait for the last sync.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from gscli.disk.system import write_all

# Bytes of a result from which it is written so.
MIN_DIRECT_BYTES = 128 << 20

# Bytes: addresses, positions and lengths that are multiples of it suit every device.
PAGE = 4096


def set_direct(descriptor: int, *, on: bool) -> bool:
    """Whether the system can be told to write a file past its cache, and has been."""
    flag = getattr(os, "O_DIRECT", 0)
    if not flag:
        return False
    import fcntl  # not on every system

    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    with suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | flag if on else flags & ~flag)
        return True
    return False


def write_at(descriptor: int, view: memoryview, position: int) -> None:
    """Write all of some bytes; what cannot go past the cache goes as usual. Raises OSError."""

    def write(part: memoryview, at: int) -> int:
        try:
            return os.pwrite(descriptor, part, at)
        except OSError as error:
            # Neither blocks nor addresses that this device takes, or what a full one left.
            if error.errno != errno.EINVAL:
                raise
            set_direct(descriptor, on=False)
            return os.pwrite(descriptor, part, at)

    write_all(write, view, position)
