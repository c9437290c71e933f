"""What the commands do: load, run, show or save. Everything heavy is imported here."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from gscli import files
from gscli.concepts import ConceptName
from gscli.declare import Operator
from gscli.errors import ContentRefused, GscliError, IndexRefused, Notice, StrictFinding, UsageError
from gscli.execute import execute
from gscli.inputs import (
    Inputs,
    byte_limit,
    concept_inputs,
    loaded_inputs,
    read_inputs,
    settle_types,
)
from gscli.messages import warning_text
from gscli.options import Settings
from gscli.terminal import Screen, screen
from gscli.tracing import Trace, label_of

if TYPE_CHECKING:
    from gscli.compare import Comparing
    from gscli.views.options import ViewOptions


def parsed_attributes(operator: Operator, texts: Mapping[str, str]) -> dict[str, object]:
    """Attributes as the operator declares them, from the words of the command line."""
    known = {attribute.name: attribute for attribute in operator.attributes}
    return {name: known[name].parse(text) for name, text in texts.items()}


def traced(
    operator: Operator, words: list[str], texts: dict[str, str], settings: Settings
) -> tuple[Trace, Inputs]:
    """Run the operator on the inputs the words name; errors say which file they are about."""
    attrs = parsed_attributes(operator, texts)
    inputs = read_inputs(operator, words, attrs, settings)
    try:
        run = execute(operator, inputs.arrays, attrs, max_bytes=byte_limit(settings.max_bytes))
    except GscliError as error:
        raise located(error, inputs.origins, operator, words, texts) from None
    return Trace(run, inputs.origins), inputs


def run_operator(
    operator: Operator, words: list[str], texts: dict[str, str], settings: Settings
) -> int:
    """`gscli OPERATOR …`: run, warn, write what was asked for, draw the picture."""
    began = time.perf_counter()
    _check_requests(settings)
    trace, inputs = traced(operator, words, texts, settings)
    _warn(trace, inputs, settings)
    if settings.output is not None or settings.format is not None:
        files.save(settings.output or "-", trace.run.output, format=settings.format)
    to_stdout = settings.output == "-" or (settings.format is not None and settings.output is None)
    if settings.json is not None:
        document = trace.to_dict(settings.limit)
        sys.stdout.write(
            json.dumps(document["output"] if settings.json == "output" else document) + "\n"
        )
    _save_pictures(trace, settings)
    if not (to_stdout or settings.json is not None or settings.quiet):
        _draw(trace, settings)
    if settings.verbose:
        _tell_more(trace, time.perf_counter() - began)
    return 0


def located(
    error: GscliError,
    origins: Mapping[str, str],
    operator: Operator,
    words: list[str],
    texts: Mapping[str, str],
) -> GscliError:
    """Put the file's name before a position, and a way on behind an index error."""
    name = error.where.split("[")[0].split(" ")[0]
    origin = origins.get(name, "inline")
    if origin != "inline":
        error.where = f"{origin}: {error.where}"
    in_order = len(words) == len(operator.inputs)
    if isinstance(error, IndexRefused) and operator.bare and in_order and not error.hint:
        command = shlex.join(["gscli", "compare", *_compared(operator, words, texts)])
        error.hint = f"see what others do: {command}"
    return error


def _compared(operator: Operator, words: list[str], texts: Mapping[str, str]) -> list[str]:
    """A call of a bare operator as compare takes it: an axis is always an option there."""
    known = ("axis", "batch_dims", "reduction")
    options = {name: texts[name] for name in known if name in texts}
    kept: list[str] = []
    for item, word in zip(operator.inputs, words, strict=True):
        if item.name == "axis":
            options["axis"] = word.strip("[]")
        else:
            kept.append(word)
    flags = [f"--{name.replace('_', '-')}={text}" for name, text in options.items()]
    return [operator.command, *kept, *flags]


def picture_screen(settings: Settings) -> Screen:
    """Standard output as the pictures see it."""
    return screen(sys.stdout, settings.color, settings.width)


def _check_requests(settings: Settings) -> None:
    if settings.json is not None and settings.json not in ("document", "output"):
        raise UsageError(
            f"unknown part of the document: {settings.json}"[:100], valid="document output"
        )
    if settings.format in ("npy", "npz", "safetensors", "h5", "pb") and settings.output is None:
        _refuse_binary_terminal(settings.format)
    if settings.output == "-" and settings.format != "json":
        _refuse_binary_terminal(settings.format or "npy")


def _refuse_binary_terminal(name: str) -> None:
    if sys.stdout.isatty():
        raise UsageError(
            f"refusing to write binary .{name} to the terminal", hint=f"-o out.{name}, or --json"
        )


def _warn(trace: Trace, inputs: Inputs, settings: Settings) -> None:
    """Warnings on stderr; `--strict` turns them into a refusal before anything is written."""
    notices = [*inputs.notices, *duplicate_notice(trace)]
    if settings.strict and notices:
        first = notices[0]
        raise StrictFinding(
            first.problem, where=first.where, details=first.details, hint=first.hint
        )
    side = screen(sys.stderr, settings.color, settings.width)
    for notice in notices:
        sys.stderr.write(warning_text(notice, color=side.color, width=side.width))


def duplicate_notice(trace: Trace) -> list[Notice]:
    """The warning about entries that write one cell where no text says which of them wins."""
    reason = trace.layout.open_order
    groups, count = trace.duplicates() if reason else ([], 0)
    if not groups:
        return []
    lines = [_writers(trace, group) for group in groups]
    lines.append(f"{reason}; here the last one ({label_of(groups[0][-1])}) won")
    if count > len(groups):
        lines.append(f"… and {count - len(groups)} more cells written more than once")
    return [
        Notice(
            f"{len(groups[0])} entries write the same cell",
            details=tuple(lines),
            hint=_reduction_hint(trace) + "--strict refuses",
        )
    ]


def _writers(trace: Trace, group: tuple[int, ...]) -> str:
    plan = trace.run.plan
    shown = [
        f"{label_of(number)}: {_vector(plan.vector(number))}"
        for number in (group if len(group) <= 3 else (group[0], group[1], group[-1]))  # noqa: PLR2004  first, second, last
    ]
    more = f" (and {len(group) - len(shown)} more)" if len(group) > len(shown) else ""
    return "   and   ".join(shown) + more


def _vector(numbers: tuple[int | float, ...]) -> str:
    return f"({', '.join(map(str, numbers))})" if len(numbers) != 1 else f"index {numbers[0]}"


def _reduction_hint(trace: Trace) -> str:
    for attribute in trace.operator.attributes:
        if attribute.name in ("reduction", "reduce") and attribute.choices:
            others = "|".join(choice for choice in attribute.choices if choice not in ("none", ""))
            return f"--{attribute.name} {others} defines it; "
    return ""


def _save_pictures(trace: Trace, settings: Settings) -> None:
    if settings.svg is not None:
        from gscli.views.lines import to_svg  # noqa: PLC0415
        from gscli.views.picture import picture  # noqa: PLC0415

        options = view_options(settings, colored=True)
        title = trace.operator.command_line
        save_text(settings.svg, to_svg(picture(trace, options), options, title))
    if settings.html is not None:
        from gscli.views.page import page  # noqa: PLC0415

        options = view_options(settings, colored=True)
        save_text(settings.html, page([trace], quiz=settings.quiz, options=options))


def save_text(path: str, text: str) -> None:
    """Write text to a file, replaced as a whole, or to stdout for `-`."""
    if path == "-":
        sys.stdout.write(text)
        return
    with files.open_atomic(path) as target:
        target.write(text.encode("utf-8", "backslashreplace"))


def view_options(settings: Settings, *, colored: bool = False) -> ViewOptions:
    """How to draw, from the options and what stdout can take; `colored` for files, in full."""
    from gscli.views.options import ViewOptions  # noqa: PLC0415

    target = picture_screen(settings)
    depth = target.depth if target.color else "none"
    return ViewOptions(
        width=target.width,
        color="truecolor" if colored else depth,
        palette=settings.palette,
        utf8=target.utf8 or colored,
        full=settings.full,
        rows=settings.rows,
        edge=settings.edge,
        height=target.height,
        show=tuple(settings.show.split(",")) if settings.show else None,
        slice=settings.slice,
        precision=settings.precision,
        limit=settings.limit,
    )


def _draw(trace: Trace, settings: Settings) -> None:
    if settings.plain:
        _explain(trace, settings)
    elif settings.step is not None:
        _step(trace, settings)
    else:
        from gscli.views.lines import render  # noqa: PLC0415
        from gscli.views.picture import picture  # noqa: PLC0415

        options = view_options(settings)
        sys.stdout.write(render(picture(trace, options), options))


def explain_operator(
    operator: Operator, words: list[str], texts: dict[str, str], settings: Settings
) -> int:
    """`gscli explain OPERATOR …`: the formula and a line per entry."""
    trace, inputs = traced(operator, words, texts, settings)
    _warn(trace, inputs, settings)
    if settings.json is not None:
        sys.stdout.write(json.dumps(trace.to_dict(settings.limit)) + "\n")
    _save_pictures(trace, settings)
    if settings.json is None and not settings.quiet:
        _explain(trace, settings)
    return 0


def _explain(trace: Trace, settings: Settings) -> None:
    from gscli.views.explain import explain  # noqa: PLC0415
    from gscli.views.lines import render  # noqa: PLC0415

    options = view_options(settings)
    told = explain(trace, options, plain=settings.plain, limit=settings.limit)
    sys.stdout.write(told if isinstance(told, str) else render(told, options))


def _step(trace: Trace, settings: Settings) -> None:
    from gscli.views.step import show_steps  # noqa: PLC0415

    wanted = None if settings.step in (None, "all") else _step_number(str(settings.step))
    show_steps(trace, view_options(settings), wanted)


def _step_number(text: str) -> int:
    if not text.isdigit():
        raise UsageError(
            "step takes a number", where=f"--step {text}"[:100], valid="1, 2, … or all"
        )
    return int(text)


def _tell_more(trace: Trace, seconds: float) -> None:
    for tensor in trace.tensors:
        sys.stderr.write(f"{tensor.name} {tensor.dtype} {list(tensor.shape)}\n")
    sys.stderr.write(f"{trace.entry_count} entries, {seconds * 1000:.1f} ms\n")


REDUCTION_NAMES = ("none", "add", "sub", "mul", "max", "min", "mean")


def compare_concept(
    name: ConceptName,
    words: list[str],
    arguments: Mapping[str, object],
    only: list[str],
    settings: Settings,
) -> int:
    """`gscli compare CONCEPT …`: exit status 1 when rule sets differ."""
    from gscli.compare import compare, document  # noqa: PLC0415

    reduction = str(arguments["reduction"] or "none")
    if reduction not in REDUCTION_NAMES:
        raise UsageError(f"unknown reduction: {reduction!r}"[:200], valid=" ".join(REDUCTION_NAMES))
    inputs = concept_inputs(name, words, settings)
    axis, batch_dims = arguments["axis"], arguments["batch_dims"]
    comparing = compare(
        name,
        inputs,
        axis=axis if isinstance(axis, int) else None,
        batch_dims=batch_dims if isinstance(batch_dims, int) else 0,
        reduction=reduction,
        only=only,
    )
    if settings.json is not None:
        sys.stdout.write(json.dumps(document(comparing)) + "\n")
    _draw_comparison(comparing, settings)
    return int(not comparing.agree)


def _draw_comparison(comparing: Comparing, settings: Settings) -> None:
    from gscli.views.compare import comparison  # noqa: PLC0415
    from gscli.views.lines import render, to_svg  # noqa: PLC0415

    if settings.svg is not None:
        options = view_options(settings, colored=True)
        title = f"gscli compare {comparing.concept}"
        save_text(settings.svg, to_svg(comparison(comparing, options), options, title))
    if settings.json is None and not settings.quiet:
        options = view_options(settings)
        sys.stdout.write(render(comparison(comparing, options), options))


def check_operator(
    operator: Operator, words: list[str], texts: dict[str, str], settings: Settings
) -> int:
    """`gscli check OPERATOR …`: every remark, exit status 1 when there is one."""
    from gscli.checking import Remark, remarks  # noqa: PLC0415

    attrs = parsed_attributes(operator, texts)
    inputs = loaded_inputs(operator, words, settings)
    with suppress(GscliError):  # `remarks` meets the same refusal and tells it as a finding
        settle_types(operator, inputs, attrs, strict=False)
    widened = [Remark("inputs", notice.problem, notice.where) for notice in inputs.notices]
    found = [*widened, *remarks(operator, inputs.arrays, attrs)]
    if settings.json is not None:
        sys.stdout.write(json.dumps({"findings": [one.to_dict() for one in found]}) + "\n")
    elif not settings.quiet:
        sys.stdout.writelines(one.text() + "\n" for one in found)
        sys.stdout.write(f"{len(found)} finding{'s' * (len(found) != 1)}\n")
    return int(bool(found))


def write_page(paths: list[str], output: str, title: str | None, *, quiz: bool) -> int:
    """`gscli page RUN.json…`: one teaching page from recorded runs."""
    from gscli.formats.content import TEXT_LIMIT, open_content  # noqa: PLC0415
    from gscli.formats.jsontext import parse_json  # noqa: PLC0415
    from gscli.views.page import page_from_documents  # noqa: PLC0415

    documents = []
    for path in paths:
        with open_content(path, TEXT_LIMIT) as content:
            document = parse_json(content.whole(TEXT_LIMIT, "the text"), path).value
        if not isinstance(document, dict) or document.get("schema") != "gscli/1":
            raise ContentRefused(
                "not a recorded run", where=path, hint="record one with gscli OPERATOR … --json"
            )
        documents.append(document)
    save_text(output, page_from_documents(documents, title=title, quiz=quiz))
    return 0
