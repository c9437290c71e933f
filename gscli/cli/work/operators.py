"""`gscli OPERATOR …` and `gscli explain OPERATOR …`."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from gscli import files
from gscli.base import UsageError
from gscli.base.words import counted, show_shape
from gscli.cli.options import Settings, print_document, tell
from gscli.cli.work.call import Call
from gscli.cli.work.pictures import drawn, drawn_files, explained, save_text, show_steps
from gscli.files.request import STORES, suffix_of
from gscli.frameworks.operator import Operator
from gscli.traces import Trace

RASTERS = (".png", ".pdf", ".jpg", ".jpeg", ".gif", ".webp")

if TYPE_CHECKING:
    from gscli.cli.work.expect import Expected
    from gscli.lab.expectation import Expectation

BINARY = ("npy", "npz", "safetensors", "h5", "pb")


def run_operator(
    operator: Operator, words: list[str], texts: dict[str, str], settings: Settings
) -> int:
    """Run, warn, write what was asked for, draw the picture.

    Everything is drawn before the first byte is written, so that a refused picture writes nothing;
    only results too large for memory are written first and drawn from their file.
    """
    began = time.perf_counter()
    check_requests(settings)
    expected = _expected(settings, words)
    call = Call(operator, words, texts, settings)
    if settings.in_place:
        done = call.patched()
        if settings.verbose:
            tell(f"{done}, {(time.perf_counter() - began) * 1000:.1f} ms\n")
        return 0
    large = call.goes_to_file()
    trace = call.written() if large else call.traced()
    expectation = expected.of(trace) if expected else None
    pictures = _drawn_files(trace, settings, expectation)
    on_screen = settings.draws and settings.step is None
    shown, wrong = drawn(trace, settings, expectation) if on_screen else ("", 0)
    call.check_unchanged()
    if settings.saves and not large:
        files.save(settings.output or "-", trace.output, format=settings.format)
    _print_document(trace, settings, expectation)
    for path, text in pictures.items():
        save_text(path, text)
    if settings.draws and settings.step is not None:
        show_steps(trace, settings, expectation)
    sys.stdout.write(shown)
    if settings.verbose:
        _tell_more(trace, time.perf_counter() - began)
    return _told(expectation, settings, below=bool(shown), seen=wrong)


def explain_operator(
    operator: Operator, words: list[str], texts: dict[str, str], settings: Settings
) -> int:
    """The formula and a line per entry."""
    check_requests(settings)
    expected = _expected(settings, words)
    call = Call(operator, words, texts, settings)
    trace = call.traced()
    expectation = expected.of(trace) if expected else None
    pictures = _drawn_files(trace, settings, expectation)
    shown = explained(trace, settings) if settings.prints else ""
    call.check_unchanged()
    _print_document(trace, settings, expectation)
    for path, text in pictures.items():
        save_text(path, text)
    sys.stdout.write(shown)
    return _told(expectation, settings, below=True)


def _expected(settings: Settings, words: list[str]) -> Expected | None:
    if settings.expect is settings.rtol is settings.atol is None:
        return None
    from gscli.cli.work.expect import Expected

    return Expected.asked(settings, words)


def _told(
    expectation: Expectation | None, settings: Settings, *, below: bool, seen: int = 0
) -> int:
    """Say whether the answer is the expected one, if one is; the exit code."""
    if expectation is None:
        return 0
    from gscli.cli.work.expect import tell_expectation

    return tell_expectation(expectation, settings, below=below, seen=seen)


def _drawn_files(
    trace: Trace, settings: Settings, expectation: Expectation | None
) -> dict[str, str]:
    return drawn_files(trace, settings, expectation) if settings.svg or settings.html else {}


def _print_document(
    trace: Trace, settings: Settings, expectation: Expectation | None = None
) -> None:
    if settings.json == "output":
        from gscli.files.jsonarray import dump_json

        print_document(dump_json(trace.output))
    elif settings.json is not None:
        document = trace.to_dict(settings.limit)
        if expectation is not None:
            document["expectation"] = expectation.to_dict()
        print_document(document)


def refuse_rasters(settings: Settings) -> None:
    """Pictures are SVG: other names would hold what their ending does not say."""
    for flag, path in (("-o", settings.output), ("--svg", settings.svg)):
        root, ending = os.path.splitext(path or "")
        if ending.lower() in RASTERS:
            import shlex

            svg = shlex.quote(f"{root}.svg")
            raise UsageError(
                f"pictures are saved as SVG, not as {ending[1:].upper()}",
                where=f"{flag} {path}"[:200],
                hint=f"--svg {svg}, then rsvg-convert {svg} -o {shlex.quote(str(path))}",
            )


def check_requests(settings: Settings) -> None:
    """Two results that both want stdout, and bytes that a terminal would choke on."""
    if settings.in_place:
        others = ("output", "format", "json", "svg", "html", "step", "expect")
        given = [f"--{name}" for name in others if getattr(settings, name) is not None]
        if given:
            raise UsageError(
                "--in-place changes the file of data and has no other result",
                hint=f"leave out {' and '.join(given)}",
            )
    to_store = settings.only_saves and suffix_of(settings.output or "") in STORES
    if settings.engine is not None and not to_store:
        raise UsageError(
            "--engine dask writes a Zarr store and nothing else", hint="-o out.zarr, and no picture"
        )
    if settings.message is not None and not settings.in_place:
        raise UsageError("--message is what a commit of --in-place says")
    refuse_rasters(settings)
    if settings.quiz and settings.html is None:
        raise UsageError("--quiz is a question on a page", hint="add --html FILE")
    to_stdout = [
        name
        for name, wanted in (
            ("the result", settings.saves and settings.output in (None, "-")),
            ("--json", settings.json is not None),
            ("--svg -", settings.svg == "-"),
            ("--html -", settings.html == "-"),
        )
        if wanted
    ]
    if len(to_stdout) > 1:
        raise UsageError("stdout takes one result", where=" and ".join(to_stdout))
    form = settings.format or "npy"
    if to_stdout == ["the result"] and form in BINARY and sys.stdout.isatty():
        raise UsageError(
            f"refusing to write binary .{form} to the terminal", hint=f"-o out.{form}, or --json"
        )


def _tell_more(trace: Trace, seconds: float) -> None:
    from gscli.frameworks.duplicates import judged_part

    lines = [f"{one.name} {one.dtype} {show_shape(one.shape)}" for one in trace.tensors]
    entries = counted(trace.entry_count, "entry", "entries")
    lines += [f"{entries}, {seconds * 1000:.1f} ms", *judged_part(trace.layout)]
    tell("\n".join(lines) + "\n")
