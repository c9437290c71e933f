"""One call of an operator: words become arrays and a plan, which is run; the result is shown.

Imported when a command runs, never for help.

    results.py    pictures where they are asked for, and the output held against another
    streaming.py  results that are written while they are made, and patches in place
    nodes.py      a node of an ONNX model as a call
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from gscli import files
from gscli.base import (
    READ_NOTICES,
    GscliError,
    IndexRefused,
    Notice,
    PictureNotice,
    ShapeRefused,
    StrictFinding,
    UsageError,
)
from gscli.base.arrays import Array
from gscli.base.records import Arguments
from gscli.base.words import format_count, format_shape
from gscli.cli.options import (
    PICTURE_OPTIONS,
    Settings,
    check_places,
    detect_screen,
    make_view_options,
    print_json,
    print_stderr,
    refuse_flags,
)
from gscli.disk import mapped
from gscli.files import check_replaced
from gscli.files.request import STORES, file_suffix, member_word
from gscli.frameworks import assign_inputs, check_single_stdin, execute
from gscli.frameworks.operator import Operator
from gscli.plan import CallInputs
from gscli.plan.plan import Plan, ValidatedPlan
from gscli.traces import SCHEMA, Trace

if TYPE_CHECKING:
    from gscli.cli.call.results import Expected
    from gscli.lab.expectation import OutputDiagnosis
    from gscli.lab.gradient_causes import GradientDiagnosis

CONTAINER_SUFFIXES = (".npz", ".safetensors")


def run_operator(call: Call) -> int:
    """Run, warn, write what was asked for, draw the picture; results too large for memory are
    written first and drawn from their file.
    """
    settings = call.settings
    check_outputs(settings)
    expected = call.load_expected()
    call.is_lazy = bool(settings.is_save_only or settings.in_place)
    if settings.in_place:
        from gscli.cli.call.streaming import run_in_place

        refuse_flags(["--json=output"] * (settings.json == "output"), "--in-place has no output")
        patch = run_in_place(call.operator, call.plan, call.inputs, settings, call.validate)
        if settings.json is not None:
            print_json({"schema": SCHEMA, **patch})
        if settings.verbose:
            count = format_count(patch["written"], patch["unit"])
            commit = f"snapshot {patch.get('snapshot') or 'as before'}, " * ("snapshot" in patch)
            print_stderr(f"{count} written, {commit}{call.format_duration()}\n")
        return 0
    try:
        streamed = call.run_to_file()
        trace = streamed or call.run_in_memory()
    except IndexRefused as error:
        call.show_refused(error, expected)
        raise
    code = show_run(trace, settings, expected, saves=settings.is_result_saved and not streamed)
    call.print_details(trace)
    return code


def show_run(
    trace: Trace, settings: Settings, expected: Expected | None, *,
    saves: bool = False, explains: bool = False,
) -> int:  # fmt: skip
    """Write what was asked for of a run, print its picture or its entries; the exit code."""
    diagnosis = None
    if expected is not None:
        from gscli.lab.expectation import diagnose_output

        diagnosis = diagnose_output(trace, *expected)

    def draw() -> tuple[str, int]:
        if settings.plain or explains:
            from gscli.cli.call.results import render_explanation

            return render_explanation(trace, settings), 0
        from gscli.views.lines import render_text
        from gscli.views.picture import Picture

        options = make_view_options(settings)
        drawing = Picture(trace, options, diagnosis=diagnosis)
        return render_text(drawing, options), drawing.shown_differences

    make_document = partial(_make_document, trace, settings, diagnosis)
    result = (settings.output or "-", trace.output) if saves else None
    return present_run(trace, settings, draw, make_document, result, diagnosis, diagnosis)


def present_run(
    trace: Trace, settings: Settings, draw: Callable[[], tuple[str, int]],
    make_document: Callable[[], object], result: tuple[str, Array] | None,
    verdict: OutputDiagnosis | GradientDiagnosis | None, diagnosis: OutputDiagnosis | None = None,
    *, below: str = "",
) -> int:  # fmt: skip
    """Write and print what was asked for of a run, or of what flows back through it.

    `draw`: the text of the screen, and how many differing cells it shows. Pictures show the cells
    that differ from a `diagnosis`; the `verdict` is told last, and decides on the exit code.
    `below`: what steps do not show.
    """
    pictures, steps = dict[str, str](), settings.is_picture_drawn and settings.step is not None
    if settings.svg is not None:
        from gscli.cli.call.results import render_svgs

        pictures |= render_svgs(trace, settings, diagnosis)
    if settings.html is not None:
        from gscli.cli.call.results import render_html

        pictures[settings.html] = render_html(trace, settings, diagnosis, quiz=settings.quiz)
    text, shown_count = draw() if settings.is_picture_drawn and not steps else ("", 0)
    write_results(trace.inputs.values(), settings, text, pictures, make_document, result)
    if steps:
        from gscli.cli.call.results import parse_step
        from gscli.views.terminal.frames import show_steps

        number = None if settings.step == "all" else parse_step(str(settings.step))
        show_steps(trace, make_view_options(settings), number, diagnosis, plain=settings.plain)
        sys.stdout.write("\n" * bool(below) + below)
    if verdict is None:
        return 0
    from gscli.cli.call.results import report_difference

    return report_difference(verdict, settings, below=bool(text), shown_count=shown_count)


def write_results(
    inputs: Iterable[Array], settings: Settings, text: str, pictures: Mapping[str, str],
    make_document: Callable[[], object], result: tuple[str, Array] | None = None,
) -> None:  # fmt: skip
    """Save the result and the pictures, print the document of `--json` and the text.

    All is drawn before a byte is written: a refused picture writes nothing. `result`: the file and
    the array. CannotRead where a file of the inputs has become another one meanwhile.
    """
    mapped.check_unchanged(*inputs)
    document = make_document() if settings.json is not None else None
    if result is not None:
        files.save(*result, format=settings.format)
    if document is not None:
        print_json(document)
    for path, picture in pictures.items():
        from gscli.cli.call.results import save_text

        save_text(path, picture)
    sys.stdout.write(text)


def find_container(words: Sequence[str], suffixes: tuple[str, ...] = CONTAINER_SUFFIXES) -> str:
    """The only word, where it names a folder, or a file that holds every input by its name."""
    word = words[0] if len(words) == 1 and "::" not in words[0] else ""
    return word if word.lower().endswith(suffixes) or os.path.isdir(word) else ""


def load_inputs(
    words: Mapping[str, object], names: Sequence[str], settings: Settings, *, container: str = "",
    optional: Collection[str] = (), converted: Collection[str] = (), left: str = "",
    variadic: str | None = None,
) -> dict[str, files.LoadedInput]:  # fmt: skip
    """The inputs that words stand for; those that have none come from an archive or a folder.

    Types are as the files say or the numbers suggest: `--dtype` names the type of opaque elements,
    and converts those that are to be `converted`; what else it means needs a layout. The input
    `left` stays in its Zarr store, if it lies in one, or its .npy file open.
    """
    options = settings.reading
    loaded: dict[str, files.LoadedInput] = {}
    if container:
        how = {"optional": optional, "named": words, "variadic": variadic, **options}
        loaded = files.load_many(container, names, **how)
    for name, text in words.items():
        how = {"opaque_only": name not in converted, "leave": name == left, **options}
        loaded[name] = files.load(str(text), name=name, **how)
    return loaded


def parse_attributes(operator: Operator, texts: Mapping[str, str]) -> dict[str, object]:
    """Attributes as the operator declares them, from the words of the command line.

    >>> from gscli.frameworks.onnx import gather
    >>> parse_attributes(gather, {"axis": "-1"})
    {'axis': -1}
    """
    known = operator.attributes_by_name
    try:
        return {name: known[name].parse(text) for name, text in texts.items()}
    except UsageError as error:
        from gscli.lab.hints import list_operators_with

        error.hint = error.hint or list_operators_with(texts.values(), known)
        raise


class Call:
    """One call from the shell: what was typed, and where they are asked for its inputs and plan.

    `words` are inputs in order, `named` those by name, `texts` attributes, `command` the words
    before them. `is_lazy`: data stay in their store or open file.
    """

    is_lazy = False

    def __init__(
        self, operator: Operator, words: Sequence[str], named: Mapping[str, str],
        texts: Mapping[str, str], settings: Settings, command: str = "",
    ) -> None:  # fmt: skip
        self.operator, self.words, self.named, self.texts = operator, words, named, texts
        self.settings, self.command, self._began = settings, command, time.perf_counter()

    @cached_property
    def inputs(self) -> CallInputs:
        """Every input, read. UsageError where words are too many or too few."""
        operator, words, settings = self.operator, self.words, self.settings
        attrs: Arguments = parse_attributes(operator, self.texts)
        container = find_container(words) if len(operator.inputs) > 1 else ""
        typed = {**self.named}
        if not container:
            typed = assign_inputs(operator, words, self.named, self.texts, self.command)
        if settings.output is not None:
            named = [f"{container}::", *typed.values(), settings.expect or ""]
            check_replaced(settings.output, named)
        source: Arguments = typed
        if operator.variadic is not None and not container:
            from gscli.plan.masks import extract_subscript

            source, attrs = extract_subscript(operator, typed, attrs)
        loaded = load_inputs(
            source, operator.input_names, settings, container=container,
            optional=[item.name for item in operator.inputs if item.optional],
            left=operator.input_names[0] if self.is_lazy else "", variadic=operator.variadic,
        )  # fmt: skip
        inputs = CallInputs.from_loaded(loaded, operator, attrs)
        inputs.words, inputs.texts, inputs.dtype = typed, self.texts, settings.dtype
        return inputs

    @cached_property
    def plan(self) -> Plan:
        """Types are settled, index values not checked yet."""
        settings, inputs = self.settings, self.inputs
        with self.add_error_locations():
            return execute.prepare(
                self.operator, inputs, strict=settings.strict, dtype=settings.dtype,
                max_bytes=settings.max_bytes,
            )  # fmt: skip

    @contextmanager
    def add_error_locations(self) -> Iterator[None]:
        """Errors say which file they are about, and how to go on."""
        try:
            yield
        except GscliError as error:
            from gscli.lab.hints import make_hint, prefix_origin

            error.where = prefix_origin(error.where, self.inputs.origins)
            if isinstance(error, ShapeRefused):  # which speaks of the types that inputs became
                error.detail_items += tuple(notice.problem for notice in self.inputs.notices)
            error.hint = make_hint(error, self.operator, self.inputs)
            raise

    def validate(self) -> ValidatedPlan:
        """The plan, judged and warned of; nothing is read or written yet."""
        draft = self.plan
        with self.add_error_locations():
            plan = draft.validate()
            notices = [*self.inputs.notices, *execute.collect_notices(self.operator, plan)]
            print_warnings(notices, self.settings)
        return plan

    def run_in_memory(self) -> Trace:
        """Run in memory, then warn; errors say which file they are about."""
        plan, limit = self.plan, self.settings.max_bytes
        with self.add_error_locations():
            done = execute.run_plan(self.operator, plan, max_bytes=limit, overlay=True)
            mapped.check_unchanged(*self.inputs.arrays.values())
        trace = self.make_trace(*done)
        print_warnings(trace.warnings, self.settings)
        return trace

    def load_expected(self, name: str = "") -> Expected | None:
        """What `--expect` names, behind NAME= where it is the gradient of that input."""
        text = self.settings.expect
        if text is None:
            return None
        from gscli.cli.call.results import make_tolerance

        check_single_stdin([text, *{*self.words, *self.named.values()}], "--expect")
        try:
            loaded = files.load(text, name="expect", opaque_only=True, **self.settings.reading)
        except UsageError as error:
            if error.valid:  # a member is to be chosen, and no word before which -- may stand
                word = member_word(text, name) if name in error.valid.split(", ") else error.hint
                error.hint = f"--expect {name}{'=' * bool(name)}{word.removeprefix('-- ')}"
            raise
        return loaded, make_tolerance(self.settings)

    def show_refused(self, error: IndexRefused, expected: Expected | None) -> None:
        """Draw a call with a bad index where a picture was asked for, and say what would give an
        expected answer, in a document beside the error; nothing else is written.
        """
        settings = self.settings._replace(expect=None, output=None, format=None, json=None)
        settings = settings._replace(quiet=settings.quiet or self.settings.json is not None)
        pictures = settings.svg, settings.html, settings.step
        if expected is None and not any(pictures):
            return
        trace = self.make_trace(*execute.run_plan(self.operator, self.plan.skip_refused()))
        if any(pictures):
            show_run(trace, settings, None)
        if expected is not None:
            from gscli.lab.expectation import diagnose_output
            from gscli.views.lines import wrap_lines

            diagnosis, width = diagnose_output(trace, *expected), make_view_options(settings).width
            if self.settings.json is None:
                sys.stdout.write(wrap_lines(diagnosis.describe(), width, "    "))
            error.document = {"expectation": diagnosis.to_dict()}

    def run_to_file(self) -> Trace | None:
        """Run from file to file, in memory that does not grow; None where nothing asks for it."""
        if self.settings.engine is None and not self.settings.is_streamable:
            return None
        from gscli.cli.call import streaming

        if not streaming.is_streamed(self.plan, self.settings):
            return None
        # Indices of a run on a cluster are judged by its workers.
        plan = self.validate() if self.settings.engine is None else self.plan.assume_validated()
        with self.add_error_locations():
            output = streaming.write_streamed(plan, self.settings)
        return self.make_trace(plan, output)

    def make_trace(self, plan: ValidatedPlan, output: Array) -> Trace:
        """What was run, and what it made."""
        origins, noticed = self.inputs.origins, tuple(self.inputs.notices)
        return Trace(self.operator, plan, output, origins, noticed, self.inputs.texts)

    def format_duration(self) -> str:
        """How long the call took until now."""
        return f"{(time.perf_counter() - self._began) * 1000:.1f} ms"

    def print_details(self, trace: Trace) -> None:
        """With `--verbose` shapes, types and time, and which entries were compared."""
        if not self.settings.verbose:
            return
        from gscli.frameworks.duplicates import format_compared_part

        lines = [f"{item.name} {item.dtype} {format_shape(item.shape)}" for item in trace.tensors]
        entries = format_count(trace.entry_count, "entry", "entries")
        lines += [f"{entries}, {self.format_duration()}", *format_compared_part(trace.layout)]
        print_stderr("\n".join(lines) + "\n")


def print_warnings(noticed: Sequence[Notice], settings: Settings) -> None:
    """Tell every warning of a run that no picture shows; StrictFinding instead with `--strict`."""
    if settings.strict and noticed:
        raise _refuse_strictly(noticed[0])
    seen = settings.is_screen_used and not settings.is_result_saved
    for notice in map(copy, noticed):  # documents do not tell of --strict
        notice.hint = "; ".join(filter(None, (notice.hint, "--strict refuses")))
        if not (seen and isinstance(notice, PictureNotice)):
            from gscli.cli.messages import print_message

            print_message(notice, detect_screen(sys.stderr, settings.color, settings.width))


def _refuse_strictly(notice: Notice) -> StrictFinding:
    """A warning as a refusal, without what came of it: nothing ran, and --strict is there."""
    details = tuple(
        item.partition("; here ")[0] if isinstance(item, str) else item
        for item in notice.detail_items
    )
    hint = notice.hint or "leave out --strict"
    return StrictFinding(notice.problem, where=notice.where, details=details, hint=hint)


def _make_document(
    trace: Trace, settings: Settings, diagnosis: OutputDiagnosis | None
) -> dict[str, Any]:
    from gscli.files.formats.jsonarray import MOST_VALUES, dump_json

    if settings.json == "output":
        return dump_json(trace.output, None if settings.output is None else MOST_VALUES)
    most = None if settings.output is None and diagnosis is None else MOST_VALUES
    document: dict[str, Any] = trace.to_dict(settings.limit, most)
    document["warnings"] += [notice.to_dict() for notice in READ_NOTICES]
    return document if diagnosis is None else {**document, "expectation": diagnosis.to_dict()}


def check_outputs(settings: Settings, *, draws: bool = True) -> None:
    """Refuse options that do not go together: two results that both want stdout, bytes that a
    terminal would choke on, and options of a picture where none is drawn, as a command that does
    not draw on the screen has none.
    """
    on_screen = settings._replace(quiet=False).is_picture_drawn
    is_drawn = settings.svg is not None or (draws and on_screen)
    # Sentences have numbers and entries, too; a page has every part, and its own steps.
    is_listed = settings.json == "document" or settings.expect is not None
    used = ("precision",) * on_screen + ("limit",) * (on_screen or is_listed)
    names = PICTURE_OPTIONS if settings.html is None else ("slice", "step")
    idle = settings.list_flags(*(name for name in names if name not in used)) * (not is_drawn)
    refuse_flags(idle, "no picture is drawn", "add --svg FILE, or " * (not settings.in_place))
    refuse_flags(settings.list_flags("rows", "edge") * settings.full, "--full draws every cell")
    is_single = settings.step not in (None, "all") and not (is_listed or settings.html)
    refuse_flags(settings.list_flags("limit") * is_single, "--step N draws that one entry")
    to_store = settings.is_save_only and file_suffix(settings.output or "") in STORES
    problem, otherwise = "--engine dask writes a Zarr store and nothing else", "-o out.zarr, or "
    refuse_flags(settings.list_flags("engine") * (not to_store), problem, otherwise)
    result = (settings.output or "-") * settings.is_result_saved
    check_places(settings, {"the result": result, "--svg": settings.svg, "--html": settings.html})
    if result == "-":
        from gscli.files.writers import check_terminal

        check_terminal(sys.stdout, f".{settings.format or 'npy'}")
