"""`gscli grad OPERATOR …`."""

from __future__ import annotations

import sys
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from gscli.base import UsageError, check_name
from gscli.base.arrays import Array, Arrays
from gscli.base.words import quote_word
from gscli.cli.building import Call
from gscli.cli.options import (
    OTHER_RESULTS,
    Settings,
    make_list_completer,
    make_view_options,
    option,
    refuse_flags,
)
from gscli.cli.tree import make_operator_group

if TYPE_CHECKING:
    from gscli.gradients.call import Gradients
    from gscli.gradients.flow import FlowTrace
    from gscli.lab.gradient_causes import GradientDiagnosis

# What `--rules` takes, without importing the conventions.
RULES = ("loop", "torch", "jax", "tensorflow")

# What `--code` takes, without importing what writes it.
TARGETS = ("all", "torch", "jax")

# Shared options that are refused.
UNUSED = ("in_place", "engine", "message", "quiz", "show", "slice")

# Cells of each gradient that `--plain` lists, unless `--limit` says.
LISTED = 50


def run_grad(
    call: Call,
    cotangent: str | None = option(
        "what flows back into the output, in its shape (default: ones); summed in 64 bits, a "
        "gradient is rounded once", "FILE",
    ),
    rules: str | None = option(
        "whose choices count at ties and duplicates (default: the framework's own)", "NAME",
        choices=RULES, alone="loop",
    ),
    of: str | None = option("only the gradient of this input; -o, --expect take NAME=FILE", "NAME"),
    code: str | None = option(
        "a program that gives the gradients of --rules loop (none of embedding-bag, nll-loss): "
        f"{' '.join(TARGETS)}", "LIST", complete=make_list_completer(TARGETS),
        excludes=(*OTHER_RESULTS, "json", "of"),
        why="--code prints a program and nothing else",
    ),
) -> int:  # fmt: skip
    """The gradients of a call, drawn or as JSON, and held against another one."""
    from gscli import files
    from gscli.cli.call import check_outputs, present_run
    from gscli.gradients.call import choose_dtype, trace_gradients
    from gscli.views.words.gradient_words import make_flow

    is_foreign = code is not None and rules not in (None, "loop")
    refuse_flags(["--rules"] * is_foreign, "--code writes the loop's own gradients")
    settings = call.settings
    expected_name, source = _split_name(settings.expect or "")
    saved_name, path = _split_name(settings.output or "-")
    call.settings = settings._replace(output=settings.output and path, expect=source or None)
    # Below a single step stand gradients that no figure shows, as many cells as the limit says.
    check_outputs(call.settings._replace(step=settings.step and "all"))
    if settings.dtype is None:
        with call.add_error_locations():
            call.settings = call.settings._replace(dtype=choose_dtype(call.operator, call.inputs))
    own_flow = None
    if cotangent is not None:
        own_flow = files.load(cotangent, name="cotangent", max_bytes=settings.max_bytes).array
    trace = call.run_in_memory()
    gradients = trace_gradients(trace, own_flow, rules)
    departs = int(settings.strict and gradients.differs_from_loop)
    if code is not None:
        from gscli.codegen.backward import write_programs

        sys.stdout.write(write_programs(gradients, code, call.inputs.origins))
        return departs
    chosen = _choose_gradients(gradients.arrays, of, settings)
    verdict = None
    # Of a file of several arrays the one that is advised has the name of an input.
    expected = call.load_expected(expected_name if expected_name in chosen else next(iter(chosen)))
    if expected is not None:
        from gscli.lab.gradient_causes import GradientDiagnosis

        name = _choose_name(chosen, expected_name, "--expect", source)
        verdict = GradientDiagnosis(gradients, name, expected[0].array, expected[1])
    drawn = copy(gradients)
    data, updates = trace.layout.value_names
    # Cells of an input that is stretched are none of the entries', so that data's are drawn.
    if of and (of == data or (of == updates and chosen[of].shape == trace.layout.result_shape)):
        drawn.arrays = chosen
    flow = make_flow(drawn)
    is_drawn = not of or any(each.name.startswith(f"gradient of {of}") for each in flow.tensors)
    problem, otherwise = f"no figure shows the gradient of {of}", "-o FILE and --json hold it; "
    refuse_flags(settings.list_flags("svg", "html", "step") * (not is_drawn), problem, otherwise)
    settings = settings._replace(plain=settings.plain or not is_drawn)
    saves = settings.is_result_saved
    result = (path, chosen[_choose_name(chosen, saved_name, "-o", path)]) if saves else None
    below = _describe_rest(flow, chosen, settings) if settings.is_picture_drawn else ""
    draw = partial(_render, flow, settings, below, is_drawn=is_drawn)
    document = partial(_make_document, gradients, chosen, verdict, settings)
    status = present_run(flow, settings, draw, document, result, verdict, below=below)
    call.print_details(flow)
    return status or departs


def _split_name(text: str) -> tuple[str, str]:
    """`NAME=FILE` as its parts; the name may be missing.

    >>> _split_name("data=g.npy"), _split_name("a/b=c.npy")
    (('data', 'g.npy'), ('', 'a/b=c.npy'))
    """
    name, mark, rest = text.partition("=")
    return (name, rest) if mark and name.isidentifier() else ("", text)


def _choose_gradients(
    arrays: dict[str, Array], name: str | None, settings: Settings
) -> dict[str, Array]:
    """All gradients or the one that is named, none of them above `--max-bytes`."""
    chosen = arrays if name is None else {name: arrays[_choose_name(arrays, name, "--of")]}
    for each, array in chosen.items():
        settings.check_result_size(array.nbytes, f"gradient of {each}")
    return chosen


def _choose_name(arrays: Arrays, name: str, flag: str, file: str = "") -> str:
    """The input that a word names, which need not be named where there is one; `file` follows."""
    if name in arrays or (not name and len(arrays) == 1):
        return name or next(iter(arrays))
    if name:
        check_name(name, arrays, f"there is no gradient of {name!r}", flag)
    words = [f"{known}{'=FILE' * bool(file)}" for known in arrays]
    problem, hint = f"{flag} needs the name of an input", words[0].replace("FILE", quote_word(file))
    raise UsageError(problem, where=flag, valid=" ".join(words), hint=f"{flag} {hint}")


def _describe_rest(flow: FlowTrace, chosen: Arrays, settings: Settings) -> str:
    """What pictures and steps do not show; every gradient where there are none."""
    from gscli.views.lines import wrap_lines
    from gscli.views.words.gradient_words import describe_gradients, iter_sentences

    drawn = set() if settings.plain else {tensor.name for tensor in flow.tensors}
    apart = {name: array for name, array in chosen.items() if f"gradient of {name}" not in drawn}
    lines = describe_gradients(apart, LISTED if settings.limit is None else settings.limit)
    sentences = iter_sentences(flow.gradients, chosen)
    return wrap_lines([*lines, *sentences], make_view_options(settings).width)


def _render(flow: FlowTrace, settings: Settings, below: str, *, is_drawn: bool) -> tuple[str, int]:
    """The picture, or sentences, with the rest below; no cells that differ.

    `is_drawn`: what is wanted stands in the picture, so that the entries tell of it.
    """
    from gscli.views.lines import render_text, wrap_lines
    from gscli.views.picture import Picture
    from gscli.views.terminal.explain import Explanation
    from gscli.views.words.gradient_words import describe_purpose, list_ties
    from gscli.views.words.vocabularies import describe_entry

    options = make_view_options(settings)
    if settings.plain:
        lines = [f"{flow.title}: {describe_purpose(flow.gradients)}"]
        if is_drawn:
            view = Explanation(flow, options, plain=True)
            ties = list_ties(flow.gradients, view.teller, view.shown)
            lines += [describe_entry(view.teller, entry) for entry in view.shown]
            lines += [f"{remark.text}." for remark in ties]
        return wrap_lines(lines, options.width) + below, 0
    picture = render_text(Picture(flow, options), options).rstrip("\n")
    return f"{picture}\n" + "\n" * bool(below) + below, 0


def _make_document(
    gradients: Gradients, chosen: Arrays, verdict: GradientDiagnosis | None, settings: Settings
) -> dict[str, Any]:
    from gscli.files.formats.jsonarray import MOST_VALUES, dump_arrays, dump_json
    from gscli.gradients.sharing import find_shared_cells
    from gscli.views.words.gradient_words import describe_missing

    if settings.json == "output":
        return dump_json(chosen[_choose_name(chosen, "", "--of")])
    most = None if verdict is None else MOST_VALUES
    named = ("schema", "op", "framework", "opset", "attrs", "inputs")
    kept = {key: value for key, value in gradients.trace.to_dict(0).items() if key in named}
    listed = LISTED if settings.limit is None else settings.limit
    cells, count = find_shared_cells(gradients, listed)
    document = {
        **kept, "cotangent": dump_json(gradients.cotangent, most),
        "convention": gradients.convention.name,
        "gradients": dump_arrays(chosen, most),
        "ties": [cell.to_dict() for cell in cells], "tie_count": count,
        "missing": describe_missing(gradients, chosen),
    }  # fmt: skip
    return document if verdict is None else {**document, "expectation": verdict.to_dict()}


grad = make_operator_group(
    run_grad, "grad", "What flows back: the gradient of every floating-point input.", UNUSED
)
