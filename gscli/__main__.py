"""`gscli` and `python -m gscli`: one process, started and left without detours."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` is Python that Ctrl-C could end
import _thread
import gc
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, TracebackType

# Imports make thousands of objects and no garbage; Python would search them every 700.
_OBJECTS_BETWEEN_COLLECTIONS = 50_000

# Signals of Ctrl-C that came: an extension of NumPy that loads puts an ImportError in their place.
#
# (`_import_umath` of NumPy 2 sets its own error over whatever stopped the import of another
# module.)
INTERRUPTS: list[int] = []


def main() -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # gscli multiplies no matrices: the threads that OpenBLAS starts with NumPy would only cost.
    if sys.argv[1:2] != ["watch"]:  # a watched program does
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.unraisablehook = reraise_interrupt
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, raise_interrupt)
    from gscli.cli import run_safely  # closed descriptors are mended before the rest

    code = run_safely(sys.argv[1:], INTERRUPTS)
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # all is done
    _exit_now(code)


def raise_interrupt(number: int, _frame: FrameType | None) -> None:
    """Do as Python does at Ctrl-C, and remember it."""
    INTERRUPTS.append(number)
    raise KeyboardInterrupt


def exit_at_interrupt(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Say in one line on stderr what was written before Ctrl-C, and leave with 130.

    Modules are looked up and not imported: the interrupt may have come before any of them.
    """
    if not (INTERRUPTS or issubclass(kind, KeyboardInterrupt)):
        sys.__excepthook__(kind, error, trace)
        return
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    interrupts = sys.modules.get("gscli.disk.interrupts")
    results = [f"{name} {state}" for name, state in getattr(interrupts, "RESULTS", {}).items()]
    _flush_streams()
    shell = sys.modules.get("gscli.cli")
    if shell is not None and shell.has_printed():
        results.append("what was printed may not be all")
    line = f"interrupted: {'; '.join(results) or 'nothing was written'}\n"
    try:
        os.write(2, line.encode("utf-8", "backslashreplace"))
    finally:  # nobody may listen
        _exit_now(130)


def reraise_interrupt(dropped: sys.UnraisableHookArgs) -> None:
    """Ctrl-C while an object is freed: Python drops the exception there, with a traceback."""
    if issubclass(dropped.exc_type, KeyboardInterrupt):
        # An exception of the hook would be dropped, too.
        _thread.start_new_thread(_interrupt_soon, (_thread.get_ident(),))
    else:
        sys.__unraisablehook__(dropped)


def _interrupt_soon(thread: int) -> None:
    """Send the signal again, which ends what the thread waits for, where the system can do that."""
    time.sleep(0.001)
    if hasattr(_signal, "pthread_kill"):
        _signal.pthread_kill(thread, _signal.SIGINT)
    else:
        _thread.interrupt_main()


def _exit_now(code: int) -> None:
    """End the process at once: taking every module apart first costs a fifth of a short run.

    Files are closed by those who opened them. A profiler or a coverage tool still gets its turn.
    """
    if sys.gettrace() is not None or sys.getprofile() is not None:
        sys.exit(code)
    _flush_streams()
    os._exit(code)


def _flush_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # closed, or nobody reads: `run_safely` has told
            continue


sys.excepthook = exit_at_interrupt  # here, since a signal that waits acts as `main` is entered

if __name__ == "__main__":
    main()
