"""`gscli` and `python -m gscli`: one process, started and left without detours."""

from __future__ import annotations

import _thread
import gc
import os
import sys

_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Imports make thousands of objects and no garbage; Python would search them every 700."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # gscli multiplies no matrices: the threads that OpenBLAS starts with NumPy would only cost.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.unraisablehook = reraise_interrupt
    try:
        from gscli.cli import run_safely  # closed descriptors are mended before the rest

        code = run_safely(sys.argv[1:])
    except KeyboardInterrupt:  # before the guard stands, or after it
        code = 130
    _exit_now(code)


def reraise_interrupt(dropped: sys.UnraisableHookArgs) -> None:
    """Ctrl-C while an object is freed: Python drops the exception there, with a traceback."""
    if issubclass(dropped.exc_type, KeyboardInterrupt):
        _thread.interrupt_main()
    else:
        sys.__unraisablehook__(dropped)


def _exit_now(code: int) -> None:
    """End the process at once: taking every module apart first costs a fifth of a short run.

    Files are closed by those who opened them. A profiler or a coverage tool still gets its turn.
    """
    if sys.gettrace() is not None or sys.getprofile() is not None:
        sys.exit(code)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # closed, or nobody reads: `run_safely` has told
            continue
    os._exit(code)


if __name__ == "__main__":
    main()
