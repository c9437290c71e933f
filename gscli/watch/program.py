"""A whole program under watch: run as Python would run it, with its own exit status.

`gscli watch` starts `python -m gscli.watch OPTIONS PROGRAM WORD…` in its own place, so that nothing
of the command line (its signals, streams, limits) is left in the process of the program.
"""

from __future__ import annotations

import builtins
import os
import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import MappingProxyType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

from gscli.base import PACKAGE, ExitCode, GscliError
from gscli.base.messages import format_message
from gscli.base.records import Record
from gscli.watch.findings import SCREEN_WIDTH, Report, WatchedIndex

if TYPE_CHECKING:
    from gscli.watch.subscripts import SubscriptWatch


class ProgramOptions(Record):
    """What `gscli watch` was asked: `json` names a file, or - for stderr.

    `screen`: how a report is printed, as `Report.report` takes it.
    """

    module: bool = False
    keep_going: bool = False
    numpy: bool = False
    save: str | None = None
    read_back: bool = True
    every: int = 1
    strict: bool = False
    json: str | None = None
    screen: Mapping[str, Any] = MappingProxyType({"color": False, "width": SCREEN_WIDTH})


class ImportHook(MetaPathFinder):
    """Calls a function as soon as a package is imported, by whatever module of the program."""

    def __init__(self, name: str, act: Callable[[], None]) -> None:
        self._name, self._act = name, act

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> ModuleSpec | None:
        """The package's own spec, whose loader calls the function behind the import."""
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = partial(self._exec_module, spec.loader)  # type: ignore[method-assign]
        return spec

    def _exec_module(self, loader: Loader, module: ModuleType) -> None:
        del loader.exec_module  # the instance's own, which hides that of its class
        loader.exec_module(module)
        self._act()


def run_program(options: ProgramOptions, words: Sequence[str]) -> int:
    """Run a program to its end and report on stderr; the exit status.

    Raises KeyboardInterrupt and SystemExit as the program's own, the latter in a forked process.
    """
    reports: list[Report] = []
    process = os.getpid()
    with ExitStack() as modes:
        subscripts = None
        if options.numpy:
            from gscli.watch.subscripts import SubscriptWatch

            subscripts = SubscriptWatch(raises=not options.keep_going, save=options.save)
            reports.append(subscripts)
        for package in ("torch", "jax"):
            act = partial(_start_watching, package, options, modes, reports)
            if package in sys.modules:  # imported by a .pth file
                act()
            else:
                sys.meta_path.insert(0, ImportHook(package, act))
        try:
            status = _run(options, words, subscripts)
        except BaseException as error:
            modes.close()
            if os.getpid() == process and not isinstance(error, SystemExit):
                _print_reports(options, reports)
            raise
    if os.getpid() != process:
        raise SystemExit(status)
    _print_reports(options, reports)
    if any(report.has_bad_index for report in reports):
        return ExitCode.INVALID_DATA
    return status or int(options.strict and any(report.has_findings for report in reports))


def _start_watching(
    package: str, options: ProgramOptions, modes: ExitStack, reports: list[Report]
) -> None:
    """Watch a package that was just imported, or note that it is not one that can be watched."""
    try:
        if package == "jax":
            from gscli.watch.jax_primitives import JaxWatch

            report: Report = JaxWatch(options.save)
        else:
            from gscli.watch.torch_modes import TorchWatch

            on_error = "note" if options.keep_going else "raise"
            report = TorchWatch(on_error, options.save, options.read_back, options.every)
        modes.enter_context(report)
    except (ImportError, AttributeError) as error:
        report = Report()
        report.unwatched[f"{package} of a version that cannot be watched ({error})|"] = 1
    report.saved_kinds = reports[0].saved_kinds if reports else report.saved_kinds
    reports.append(report)


def _run(options: ProgramOptions, words: Sequence[str], subscripts: SubscriptWatch | None) -> int:
    """Run the program; what Python would leave with. KeyboardInterrupt passes."""
    sys.argv[:] = words
    try:
        if options.module:
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        elif os.path.isdir(words[0]) or words[0].endswith((".zip", ".pyz")):
            runpy.run_path(words[0], run_name="__main__")
        else:
            _run_script(words[0], subscripts)
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        sys.stderr.write(f"{stop.code}\n")
        return 1
    except KeyboardInterrupt:
        raise  # Python tells it, and leaves by the signal
    except WatchedIndex:  # the report has it; one of a worker was printed there
        return ExitCode.INVALID_DATA
    except BaseException as error:  # noqa: BLE001  the program's own, told as Python would
        trace = _trim(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


def _run_script(path: str, subscripts: SubscriptWatch | None) -> None:
    """The script as `__main__`, its folder first on the path of imports."""
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    with open(path, "rb") as file:
        source: Any = file.read()
    module = ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=builtins)
    sys.modules["__main__"] = module
    if subscripts is not None:
        from gscli.watch.subscripts import NAME, rewrite

        source = rewrite(source, path)
        setattr(module, NAME, subscripts)
    exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102  the user's own program


def _trim(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames that started the program, and those of the watcher."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith((PACKAGE, "<frozen")):
        trace = trace.tb_next
    if trace is not None:
        trace.tb_next = _trim(trace.tb_next)
    return trace


def _print_reports(options: ProgramOptions, reports: Sequence[Report]) -> None:
    """Everything that was seen, on stderr, where nobody may listen, or in a file."""
    empty = Report()
    reports = [each for each in reports if each.counts() != empty.counts()] or [empty]
    try:
        path = options.json
        plain = nullcontext(sys.stderr)
        with plain if path in (None, "-") else open(str(path), "w", encoding="utf-8") as stream:
            for report in reports:
                if path is not None:
                    report.write_lines(stream)
                    continue
                stream.write(report.report(**options.screen))
    except OSError as error:
        refusal = GscliError("cannot write the findings", where=f"{error}"[:200])
        sys.stderr.write(format_message(refusal, color=False, width=options.screen["width"]))
