"""One call of an operator: words become arrays and a plan, which is run; the result is shown.

Imported when a command runs, never for help.

    expect.py     the output held against the one that is expected
    pictures.py   pictures where they are asked for
    streaming.py  results that are written while they are made, and patches in place
    hints.py      how to go on after a refusal
    nodes.py      a node of an ONNX model as a call
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gscli import files
from gscli.base import Drawn, GscliError, Notice, StrictFinding, UsageError
from gscli.base.arrays import Array
from gscli.base.words import counted, show_shape
from gscli.cli.building import Typed
from gscli.cli.options import Settings, print_document, screen, tell, view_options
from gscli.disk import mapped
from gscli.files.request import STORES, suffix_of
from gscli.frameworks import assigned
from gscli.frameworks.execute import notices, plan_shell_call, run_plan
from gscli.frameworks.operator import Operator
from gscli.plan import Inputs
from gscli.plan.plan import ValidatedPlan
from gscli.traces import Trace

if TYPE_CHECKING:
    from gscli.cli.call.expect import Expected
    from gscli.lab.expectation import Expectation

RASTERS = (".png", ".pdf", ".jpg", ".jpeg", ".gif", ".webp")
BINARY = ("npy", "npz", "safetensors", "h5", "pb")

_TOGETHER = (".npz", ".safetensors")


def run_operator(
    operator: Operator, words: list[str], texts: dict[str, str], settings: Settings
) -> int:
    """Run, warn, write what was asked for, draw the picture.

    Everything is drawn before the first byte is written, so that a refused picture writes nothing;
    only results too large for memory are written first and drawn from their file.
    """
    began = time.perf_counter()
    check_requests(settings)
    expected = asked_expectation(settings, words)
    call = Call(operator, words, texts, settings)
    if settings.in_place:
        done = call.patched()
        if settings.verbose:
            tell(f"{done}, {(time.perf_counter() - began) * 1000:.1f} ms\n")
        return 0
    written = call.written()
    trace = written or call.traced()
    expectation = expected.of(trace) if expected else None
    pictures = drawn_files(trace, settings, expectation)
    on_screen = settings.draws and settings.step is None
    shown, wrong = _drawn(trace, settings, expectation) if on_screen else ("", 0)
    mapped.check_unchanged(*trace.inputs.values())
    if settings.saves and not written:
        files.save(settings.output or "-", trace.output, format=settings.format)
    show_elsewhere(trace, settings, expectation, pictures)
    if settings.draws and settings.step is not None:
        from gscli.cli.call.pictures import show_steps

        show_steps(trace, settings, expectation)
    sys.stdout.write(shown)
    if settings.verbose:
        _tell_more(trace, time.perf_counter() - began)
    return told(expectation, settings, below=bool(shown), seen=wrong)


def stands_for_all(word: str, containers: tuple[str, ...] = _TOGETHER) -> bool:
    """Whether a word names a folder, or a file that holds every input by its name."""
    return "::" not in word and (word.lower().endswith(containers) or os.path.isdir(word))


def read_inputs(
    operator: Operator,
    words: Sequence[str],
    texts: Mapping[str, str],
    settings: Settings,
    *,
    leave: bool = False,
) -> tuple[Typed, Inputs]:
    """Which word is which input, and every input of the call, loaded.

    Types are as the files say or the numbers suggest: `--dtype` names the type of opaque elements
    here, what else it means needs a layout. `leave`: the first input stays in its Zarr store, if it
    lies in one, or its .npy file open. Raises UsageError where words are too many or too few.
    """
    attrs: Mapping[str, object] = parsed_attributes(operator, texts)
    together = len(words) == 1 and len(operator.inputs) > 1 and stands_for_all(words[0])
    given = Typed(operator, {} if together else assigned(operator, words, settings.extra), texts)
    if together:
        loaded = files.load_many(
            words[0], operator.input_names, dtype=settings.dtype, empty_dtype="int64",
            optional=[one.name for one in operator.inputs if one.optional],
            max_bytes=settings.max_bytes,
        )  # fmt: skip
    else:
        named: Mapping[str, object] = given.words
        if operator.many is not None:
            from gscli.plan.masks import extract_subscript

            named, attrs = extract_subscript(operator, named, attrs)
        loaded = {
            name: files.load(
                str(text), name=name, dtype=settings.dtype, opaque_only=True, empty_dtype="int64",
                max_bytes=settings.max_bytes, leave=leave and name == operator.input_names[0],
            )
            for name, text in named.items()
        }  # fmt: skip
    found, sources = {name: item.array for name, item in loaded.items()}, {n: n for n in loaded}
    if operator.many is not None:
        from gscli.plan.masks import expand_masks

        found, sources, attrs = expand_masks(operator, found, attrs)
    return given, Inputs(
        found,
        {name: loaded[source].origin for name, source in sources.items()},
        {name: loaded[source].typed for name, source in sources.items()},
        attrs,
        next((item.file for item in loaded.values()), None),
    )


def parsed_attributes(operator: Operator, texts: Mapping[str, str]) -> dict[str, object]:
    """Attributes as the operator declares them, from the words of the command line.

    >>> from gscli.frameworks.onnx import gather
    >>> parsed_attributes(gather, {"axis": "-1"})
    {'axis': -1}
    """
    known = {attribute.name: attribute for attribute in operator.attributes}
    try:
        return {name: known[name].parse(text) for name, text in texts.items()}
    except UsageError as error:
        from gscli.cli.call.hints import who_has

        error.hint = error.hint or who_has(texts.values(), known)
        raise


class Call:
    """One command's operator, words and options, inputs read and planned; nothing has run yet."""

    def __init__(
        self,
        operator: Operator,
        words: Sequence[str],
        texts: Mapping[str, str],
        settings: Settings,
    ) -> None:
        self.settings, leave = settings, bool(settings.only_saves or settings.in_place)
        self.typed, self.inputs = read_inputs(operator, words, texts, settings, leave=leave)
        with self.located_errors():
            self.plan = plan_shell_call(
                operator, self.inputs, strict=settings.strict, dtype=settings.dtype,
                max_bytes=settings.max_bytes,
            )  # fmt: skip

    @contextmanager
    def located_errors(self) -> Iterator[None]:
        """Errors say which file they are about, and how to go on."""
        try:
            yield
        except GscliError as error:
            from gscli.cli.call.hints import locate

            locate(error, self.typed, self.inputs)
            raise

    def validate(self) -> ValidatedPlan:
        """The plan, judged and warned of; nothing is read or written yet."""
        plan = self.plan.validate()
        warn([*self.inputs.notices, *notices(self.typed.operator, plan)], self.settings)
        return plan

    def traced(self) -> Trace:
        """Run in memory, then warn; errors say which file they are about."""
        with self.located_errors():
            limit = self.settings.max_bytes
            done = run_plan(self.typed.operator, self.plan, max_bytes=limit, overlay=True)
            mapped.check_unchanged(*self.inputs.arrays.values())
        trace = self.trace_of(*done)
        warn(trace.warnings, self.settings)
        return trace

    def written(self) -> Trace | None:
        """Run from file to file, in memory that does not grow; None where nothing asks for it."""
        if self.settings.engine is None and not self.settings.goes_to_file:
            return None
        from gscli.cli.call import streaming

        if not streaming.goes_to_file(self.plan, self.settings):
            return None
        with self.located_errors():
            # Indices of a run on a cluster are judged by its workers.
            plan = self.validate() if self.settings.engine is None else self.plan.assume_validated()
            output = streaming.written(plan, self.settings)
        return self.trace_of(plan, output)

    def patched(self) -> str:
        """Write the updates into the file or store of data; says what was done."""
        from gscli.cli.call.streaming import patch_of

        with self.located_errors():
            patch = patch_of(self.typed.operator, self.plan, self.inputs.file, self.settings)
            return patch(self.validate())

    def trace_of(self, plan: ValidatedPlan, output: Array) -> Trace:
        """What was run, and what it made."""
        origins, noticed = self.inputs.origins, tuple(self.inputs.notices)
        return Trace(self.typed.operator, plan, output, origins, noticed)


def warn(noticed: Sequence[Notice], settings: Settings) -> None:
    """Tell every warning of a run that no picture shows; StrictFinding instead with `--strict`."""
    if settings.strict and noticed:
        first = noticed[0]
        raise StrictFinding(first.problem, where=first.where, details=first.shown, hint=first.hint)
    seen = settings.prints and not settings.saves
    for notice in noticed:
        if not (seen and isinstance(notice, Drawn)):
            from gscli.cli.messages import warning_text

            side = screen(sys.stderr, settings.color, settings.width)
            tell(warning_text(notice, color=side.color, width=side.width, utf8=side.utf8))


def asked_expectation(settings: Settings, words: Sequence[str]) -> Expected | None:
    """The answer that the run is to be held against, if one was named."""
    if settings.expect is settings.rtol is settings.atol is None:
        return None
    from gscli.cli.call.expect import Expected

    return Expected.asked(settings, words)


def told(expectation: Expectation | None, settings: Settings, *, below: bool, seen: int = 0) -> int:
    """Say whether the answer is the expected one, if one is; the exit code."""
    if expectation is None:
        return 0
    from gscli.cli.call.expect import tell_expectation

    return tell_expectation(expectation, settings, below=below, seen=seen)


def drawn_files(
    trace: Trace, settings: Settings, expectation: Expectation | None
) -> dict[str, str]:
    """The texts of the pictures that go to files, by file name."""
    if settings.svg is None and settings.html is None:
        return {}
    from gscli.cli.call.pictures import texts_of_files

    return texts_of_files(trace, settings, expectation)


def _drawn(
    trace: Trace, settings: Settings, expectation: Expectation | None = None
) -> tuple[str, int]:
    """The picture as it goes to the screen, or plain sentences.

    And how many of the cells that differ from an expectation it shows.
    """
    if settings.plain:
        from gscli.cli.call.pictures import explained

        return explained(trace, settings), 0
    from gscli.views.lines import render
    from gscli.views.picture import picture

    options = view_options(settings)
    found = picture(trace, options, expectation=expectation)
    return render(found, options), found.wrong


def show_elsewhere(
    trace: Trace, settings: Settings, expectation: Expectation | None, pictures: Mapping[str, str]
) -> None:
    """Print the document that was asked for, and save the pictures that go to files."""
    if settings.json == "output":
        from gscli.files.formats.jsonarray import dump_json

        print_document(dump_json(trace.output))
    elif settings.json is not None:
        document = trace.to_dict(settings.limit)
        if expectation is not None:
            document["expectation"] = expectation.to_dict()
        print_document(document)
    for path, text in pictures.items():
        from gscli.cli.call.pictures import save_text

        save_text(path, text)


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


def _tell_more(trace: Trace, seconds: float) -> None:
    from gscli.frameworks.duplicates import format_compared_part

    lines = [f"{one.name} {one.dtype} {show_shape(one.shape)}" for one in trace.tensors]
    entries = counted(trace.entry_count, "entry", "entries")
    lines += [f"{entries}, {seconds * 1000:.1f} ms", *format_compared_part(trace.layout)]
    tell("\n".join(lines) + "\n")
