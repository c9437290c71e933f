"""`gscli runtimes [R]`.

Which runtimes can be asked, and what an interpreter has of them.

--adapter prints a file that imports nothing of gscli, to be copied into a project and started
by --on 'python adapter.py'. `gscli help runtimes` describes the protocol.

\b
Examples:
  gscli runtimes --python ~/torch/bin/python
  gscli runtimes jax:jit
  gscli runtimes --adapter onnxruntime > adapter.py
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gscli.base import CannotRead, CannotWrite, GscliError, check_rule
from gscli.base.records import Record, group_pairs
from gscli.base.words import format_columns, format_count, join_lines, match_pattern, sanitize
from gscli.cli.building import complete_file, tool
from gscli.cli.options import (
    ANY_NUMBER,
    JSON_OPTION,
    Settings,
    argument,
    complete_names,
    option,
    output_option,
    print_report,
    print_stderr,
)
from gscli.frameworks import find_operators, join_operator_names

if TYPE_CHECKING:
    from gscli.frameworks.operator import Operator
    from gscli.runtimes.catalogue import InstalledRuntime
    from gscli.runtimes.process import RuntimeProcess
    from gscli.runtimes.trials import FuzzCase


def _complete(incomplete: str) -> list[str]:
    from gscli.runtimes.catalogue import NAMES

    return complete_names(NAMES)(incomplete)


ON = option(
    "the runtime: NAME, NAME:VARIANT, MODULE:CLASS or a quoted command", "R",
    complete=_complete, default="",
)  # fmt: skip
PYTHON = option("interpreter that has the runtime", "PATH", needs="on", why="--python needs --on")


MAX_SECONDS = 10_000_000

DEFAULT_TIMEOUT = 20.0
PATIENCE = option(
    "seconds a call may take (default 20)", "SECONDS", minimum=0.05, maximum=MAX_SECONDS,
    default=DEFAULT_TIMEOUT, needs="on", why="--patience needs --on",
)  # fmt: skip


KNOWN = option(
    "known failures, a line each; * stands for any text", "FILE", flag="--except",
    complete=complete_file,
)  # fmt: skip
JUNIT = output_option("also a JUnit report", "FILE")
SEED = option("the same seed gives the same", "N", default=7, shows_default=True, **ANY_NUMBER)
REPORT = output_option(
    "a text for each cause, with a script if R is a NAME, as they come", "FOLDER", flag="--report",
    needs="on", why="--report is about a runtime",
)  # fmt: skip


class KnownFailures(Record):
    """Patterns of failures that do not count, of the file that `--except` names."""

    patterns: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: str | None) -> KnownFailures:
        """The lines of a file, also as `fuzz` prints them; # begins a remark. CannotRead."""
        if path is None or path == os.devnull:
            return cls()
        from gscli.lab.cases import read_lines

        check_rule(not os.path.isdir(path), "--except names a folder", path, kind=CannotRead)
        try:
            lines = [line.decode("utf-8").strip() for line in read_lines(path)]
        except UnicodeDecodeError:
            raise CannotRead("the known failures are not UTF-8 text", where=path) from None
        texts = [line.removeprefix("known as:").lstrip() for line in lines]
        return cls(tuple(text for text in texts if text and not text.startswith("#")))

    def match(self, name: str) -> bool:
        """Whether some line stands for a failure of this name."""
        return any(match_pattern(name, pattern) for pattern in self.patterns)

    def warn_of_unmatched(self, names: Iterable[str]) -> None:
        """Tell on standard error which lines stand for no failure that was met."""
        failures = list(names)
        for pattern in self.patterns:
            if not any(match_pattern(name, pattern) for name in failures):
                print_stderr(f"warning: --except: no failure is {sanitize(pattern)}\n")


def check_folders_exist(*paths: str | None) -> None:
    """CannotWrite for a file whose folder is not there: before hours of work, not after."""
    for path in paths:
        if path not in (None, "-") and not Path(str(path)).absolute().parent.is_dir():
            raise CannotWrite("there is no folder for this", where=path or "")


def is_json_lines(output: str) -> bool:
    """Whether cases are written as lines of JSON, not as a folder of node tests."""
    return output.endswith(".jsonl") or output == "-"


def write_cases(cases: Sequence[FuzzCase], output: str) -> int:
    """Write cases as lines of JSON, or as node tests; how many, and which these cannot hold, is
    told on standard error.
    """
    from gscli.cli.call.results import save_text
    from gscli.runtimes import packs

    by_operator = group_pairs((case.operator.full_name, case) for case in cases)
    if is_json_lines(output):
        save_text(output, packs.format_json_lines(by_operator.values()))
        written = len(cases)
    else:
        written = packs.write_node_tests(output, by_operator) if by_operator else 0
    if output != "-":
        print_stderr(f"{format_count(written, 'case')} in {sanitize(output)}\n")
    if written < len(cases):
        refused = sum(isinstance(case.expected_result, GscliError) for case in cases)
        left = len(cases) - written
        reasons = f"{format_count(refused, 'refusal')}, {left - refused:,} open"
        place = sanitize(str(Path(output) / packs.OTHERS_FILE))
        print_stderr(f"{left:,} that a node test cannot hold ({reasons}) in {place}\n")
    return written


@tool("runtimes", JSON_OPTION)
def runtimes(
    runtime: str | None = argument("[R]", "start it, and say what it answers", _complete, None),
    python: str | None = PYTHON,
    adapter: str | None = option(
        "print the adapter of a runtime, one file", "NAME",
        excludes=("json", "python", "runtime"), why="--adapter prints a file and asks nobody",
    ),
    *,
    settings: Settings,
) -> int:  # fmt: skip
    if adapter is not None:
        from gscli.runtimes.catalogue import bundle_adapter

        sys.stdout.write(bundle_adapter(adapter))
        return 0
    if runtime is not None:
        return _print_hello(runtime, python, settings)
    from gscli.runtimes.catalogue import list_installed

    _print_members(list_installed(python), settings)
    return 0


def _print_hello(name: str, python: str | None, settings: Settings) -> int:
    with start_checked(name, python, DEFAULT_TIMEOUT) as (started, operators):
        hello = started.hello
        names = [operator.full_name for operator in operators]
    facts = {"name": hello.name, "version": hello.version, "rules": dict(hello.rules)}
    lines = [f"{hello.title}, its adapter passed the self-test", *map("  {}".format, names)]
    print_report(settings, lambda: {**facts, "operators": names}, partial(join_lines, lines))
    return 0


def _print_members(members: list[InstalledRuntime], settings: Settings) -> None:
    documents, rows = list[dict[str, object]](), list[tuple[str, ...]]()
    for member in members:
        adapter, missing = member.adapter, list(member.missing)
        documents.append({
            "name": adapter.name, "package": adapter.package, "version": member.version or None,
            "missing": missing, "variants": adapter.variants,
        })  # fmt: skip
        more = f"needs {' '.join(missing)}" if member.version and missing else ""
        more += f"  :{adapter.variants}" if adapter.variants else ""
        rows.append((adapter.name, member.version or "-", more))
    print_report(settings, lambda: documents, lambda: join_lines(format_columns(rows)))


@contextmanager
def start_checked(
    runtime_spec: str, python: str | None, patience: float, names: Sequence[str] = ()
) -> Iterator[tuple[RuntimeProcess, list[Operator]]]:
    """A started runtime that passed its self-test, and those of the operators that it answers."""
    from gscli.runtimes.catalogue import build_runtime_command, describe_release_gap
    from gscli.runtimes.process import RuntimeProcess
    from gscli.runtimes.protocol import select_supported
    from gscli.runtimes.selftest import check_adapter

    names = join_operator_names(names)
    # A wrong name is told before anything is started.
    named = {name: {*find_operators(name)} for name in names}
    try:
        command = build_runtime_command(runtime_spec, python)
        with RuntimeProcess(command, patience=patience) as runtime:
            operators = select_supported(runtime.start(), names)
            hello = runtime.hello
            if unknown := ", ".join(hello.unknown_names)[:300]:
                text = f"gscli does not have what {hello.title} names: {sanitize(unknown)}"
                print_stderr(f"warning: {text}\n")
            check_adapter(runtime, operators)
            if missing := [name for name, own in named.items() if own.isdisjoint(operators)]:
                print_stderr(f"warning: {hello.title} does not answer {', '.join(missing)}\n")
            if gap := describe_release_gap(hello.name, hello.version):
                print_stderr(f"warning: {gap}: a difference may be one of releases\n")
            yield runtime, operators
    finally:
        warn_of_left_running()


def warn_of_left_running() -> None:
    """Tell on standard error which processes of a runtime could not be ended."""
    from gscli.disk.processes import left_running

    if left := left_running():
        print_stderr(f"warning: still running, and not ours to end: {', '.join(map(str, left))}\n")
