"""Pages of mapped files that are lost: a process that survives them, and knows that it did.

A file that becomes shorter takes its pages away from whoever has mapped it, and the next look at
one of them ends the process (SIGBUS), without a message and with hidden files left behind. Python
cannot handle that signal, because it would return to the same instruction for ever. A function of
the C library can be handed a Python function, which puts zeros where the pages were. The result is
worth nothing then, and `RegularFile.check_unchanged` says so before it is shown or kept.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from itertools import count
from typing import Any

# Losses that one process survives: the same page again and again would be no end.
MOST_TIMES = 100

_installed: list[object] = []


def install_sigbus_handler(remap_truncated: Callable[[Any], list[bool]]) -> None:
    """From now on, ask where pages of mappings are lost. Costs nothing until then.

    `remap_truncated` puts zeros there, by the C library it is given, and says of each whether it
    did.
    """
    if _installed or not hasattr(signal, "SIGBUS"):
        return
    try:
        import ctypes

        library = ctypes.CDLL(None)
        library.mmap.restype = ctypes.c_void_p
        library.mmap.argtypes = [
            ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long,
        ]  # fmt: skip
        library.signal.restype = ctypes.c_void_p
        library.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
    except (ImportError, OSError, AttributeError):  # a Python or a C library without it
        return

    times = count()

    def handle_sigbus(_number: int) -> None:
        if not any(remap_truncated(library)) or next(times) > MOST_TIMES:
            # Not a page of ours, or lost for another reason: end as without us.
            library.signal(signal.SIGBUS, None)

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(handle_sigbus)
    _installed.append(handler)
    library.signal(signal.SIGBUS, ctypes.cast(handler, ctypes.c_void_p))
