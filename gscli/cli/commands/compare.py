"""`gscli compare CONCEPT …`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from gscli.base import UsageError, check_rule
from gscli.base.records import group_pairs
from gscli.base.words import format_suggestion, join_lines
from gscli.cli.building import WORDS, Command, list_declarations, parse_choice
from gscli.cli.commands.runtimes import ON, PATIENCE, PYTHON, start_checked
from gscli.cli.options import (
    ANY_NUMBER,
    JSON_OPTION,
    SHARED_OPTIONS,
    Settings,
    complete_names,
    make_list_completer,
    make_value_error,
    make_view_options,
    option,
    print_report,
)
from gscli.cli.tree import LazyGroup
from gscli.frameworks import NAMES, check_single_stdin, iter_called, operators
from gscli.frameworks.operator import ConceptName
from gscli.lab.concepts import CONCEPTS, REDUCTION_NAMES, list_mappings, list_reductions

if TYPE_CHECKING:
    from gscli.base.arrays import Array
    from gscli.lab.answers import ComparisonResult
    from gscli.lab.gradient_comparison import GradientRow
    from gscli.plan import CallInputs

# Shared options that it takes.
SHARED = (
    "dtype", "max_bytes", "precision", "show", "rows", "full", "svg", "theme", "html", "plain",
    "quiet", "color", "palette", "width", "debug",
)  # fmt: skip


def _build_command(name: str) -> Any:
    concept_name = next((known for known in CONCEPTS if known == name), None)
    if concept_name is None:
        _explain_wrong_name(name)
        return None
    concept = CONCEPTS[concept_name]
    shared = [JSON_OPTION, *(SHARED_OPTIONS[option] for option in SHARED)]
    mappings = list_mappings(concept_name)
    frameworks = dict.fromkeys(operator.framework_name for operator, _ in mappings)
    known = list_reductions(mappings)
    text = f"what updates do to what is there: {' '.join(known)}"
    facts: dict[str, dict[str, Any]] = {
        "only": {"complete": make_list_completer(frameworks)},
        "reduction": {"help": text, "complete": complete_names(known)},
    }
    declared = [
        entry._replace(**facts.get(entry.name, {}))
        for entry in list_declarations(compare_concept)
        if getattr(concept, f"takes_{entry.name}", True)
    ]
    run, metavars = partial(compare_concept, concept_name), map(str.upper, concept.inputs)
    return Command(name, run, shared, _format_help(concept_name), declared, (*metavars,))


def _explain_wrong_name(name: str) -> None:
    """Say which operation to compare, where a framework or an operator of one was named."""
    if name in NAMES:
        mappings = [pair for pair in list_mappings() if pair[0].framework_name == name]
        pairs = dict.fromkeys((mapping.concept, own.command) for own, mapping in mappings)
        commands = group_pairs(pairs)
        problem = f"compare takes an operation that frameworks share, not the framework {name}"
        legal = ", ".join(f"{key} (for {', '.join(own)})" for key, own in commands.items())
        hint = f"name the operation, DATA INDICES [UPDATES], its own options, and --as {name}"
        hint += "; for what is none of them: gscli help code"
        raise UsageError(problem, valid=legal, hint=hint)
    head, _, tail = name.partition(".")
    dotted = (each for each in iter_called(tail, operators()) if each.framework_name == head)
    named = [*iter_called(name, operators()), *dotted]
    for operator in sorted(named, key=lambda each: not each.concept_mappings):
        problem = f"compare takes an operation that frameworks share, not {operator.full_name}"
        call = f"{operator.framework.name} {operator.command} {operator.example}"
        hint = f"in other frameworks, for example: gscli explain {call} --code all"
        for comparison in operator.concept_mappings[:1]:
            hint = f"it is {comparison.concept} there: gscli compare {comparison.concept} --help"
        raise UsageError(problem, valid=" ".join(CONCEPTS), hint=hint)


def _format_help(name: ConceptName) -> str:
    concept = CONCEPTS[name]
    usual = "'[1,2,3,4]' '[0,3]' '[9,8]'" if concept.scatters else "'[10,20,30,40]' '[0,-1,9]'"
    words = {
        "gather-nd": "'[[1,2],[3,4]]' '[[0,1],[1,-1]]'",
        "scatter-nd": "'[1,2,3,4]' '[[0],[-1]]' '[9,8]'",
    }.get(name, usual)
    return (
        f"Compare how frameworks {concept.summary}.\n\nRows that answer alike are one row. "
        "Each is given the inputs as it takes them: MXNet's vectors run along the first axis. "
        "--as onnx,tf,jax picks and orders them; the others are compared with the first, if it "
        "answers. --opset 11,13,18 gives each of these versions of ONNX a row."
        f"\n\n\b\nExamples:\n  gscli compare {name} {words}\n"
        f"  gscli compare {name} {words} --as numpy,torch,jax --json"
    )


def split_list(text: str) -> list[str]:
    """`--as`: the parts between commas that say something.

    >>> split_list("onnx, tf,")
    ['onnx', 'tf']
    """
    return [part.strip() for part in text.split(",") if part.strip()]


def parse_opsets(listed: str) -> list[int]:
    """`--opset` as numbers from 1 up.

    >>> parse_opsets("11,18")
    [11, 18]
    """
    texts = split_list(listed)
    for text in texts:
        if not (text.isascii() and text.isdigit() and int(text[:9]) > 0):
            raise make_value_error("opset", text, "whole numbers", "11,13,18")
    return [int(text[:9]) for text in texts]


def compare_concept(
    name: ConceptName,
    words: Sequence[str] = WORDS,
    axis: int | None = option(
        "axis that the indices address", "N", "-a", default=None, **ANY_NUMBER
    ),
    batch_dims: int | None = option("leading axes shared", "N", **ANY_NUMBER),
    reduction: str | None = option(
        "", "NAME", "-r", kind=partial(parse_choice, "reduction", choices=REDUCTION_NAMES)
    ),
    only: Sequence[str] | None = option(
        "frameworks or operators, the first is the base", "LIST", flag="--as", kind=split_list
    ),
    opsets: Sequence[int] | None = option(
        "a row for each of these versions of ONNX", "LIST", flag="--opset", kind=parse_opsets
    ),
    lines: bool = option(
        "number lines: where indices move to, are refused, or meet",
        excludes=("json", "plain"), unless=("svg",), why="--lines draws a picture",
    ),
    gradients: bool = option(
        "what flows back by each convention, as text or --json", flag="--grad",
        excludes=("svg", "html", "lines", "show", "rows", "full", "precision"),
        why="--grad prints gradients and nothing else",
    ),
    cotangent: str | None = option(
        "with --grad: what flows back into the output, in its shape (default: ones)", "FILE",
        needs="gradients", why="--cotangent is what --grad passes back",
    ),
    on: str = ON,
    python: str | None = PYTHON,
    patience: float = PATIENCE,
    *,
    settings: Settings,
) -> int:  # fmt: skip
    """Every rule set's answer; exit status 1 when they differ, or one of `--as` has none."""
    from gscli.cli.call import check_outputs, write_results
    from gscli.codegen.code import add_equivalents
    from gscli.files import load
    from gscli.lab.answers import comparison_to_dict
    from gscli.lab.compare import compare as compare_rules

    check_outputs(settings)
    inputs = _load_inputs(name, words, settings)
    for each in ("data", "updates") if gradients else ():  # whole numbers have no gradient
        array = inputs.arrays.get(each)
        if array is not None and not inputs.is_typed[each] and array.dtype.kind in "iu":
            inputs.arrays[each] = array.astype("float64")
    call = partial(
        compare_rules, name, inputs.arrays, typed=inputs.is_typed,
        axis=axis, batch_dims=batch_dims or 0, reduction=reduction or "none",
        max_bytes=settings.max_bytes,
    )  # fmt: skip
    comparing = call(only=only or (), opsets=opsets or ())
    others: list[GradientRow] = []
    flow = None
    if cotangent is not None:
        flow = load(cotangent, name="cotangent", max_bytes=settings.max_bytes).array
    if on:
        from gscli.runtimes.runtime_answers import RuntimeQuestion

        with start_checked(on, python, patience) as (runtime, _):
            question = RuntimeQuestion(comparing, call, runtime)
            if gradients:
                others = [*question.iter_gradients(flow)]
            else:
                comparing = question.add_results()
    comparing = add_equivalents(comparing, inputs)
    if gradients:
        return _print_gradients(comparing, others, flow, settings)
    text, pictures = _render(comparing, settings, lines=lines)
    make_document = partial(comparison_to_dict, comparing)
    write_results(comparing.inputs.values(), settings, text, pictures, make_document)
    return int(not comparing.agree)


def _print_gradients(
    comparing: ComparisonResult,
    others: Sequence[GradientRow],
    flow: Array | None,
    settings: Settings,
) -> int:
    """The gradients of every answer, and those of a runtime; exit status 1 when they differ."""
    from gscli.lab.gradient_comparison import compare_gradients
    from gscli.views.words.gradient_words import describe_comparison

    result, options = compare_gradients(comparing, others, flow), make_view_options(settings)
    lines = describe_comparison(result, options, is_short=settings.quiet)
    print_report(settings._replace(quiet=False), result.to_dict, partial(join_lines, lines))
    return int(not result.agree)


def _render(
    comparing: ComparisonResult, settings: Settings, *, lines: bool
) -> tuple[str, dict[str, str]]:
    """What goes to the screen besides a document, and the pictures by file name."""
    options, pictures = make_view_options(settings)._replace(lines=lines), dict[str, str]()
    if settings.svg is not None:
        from gscli.views.figure import render_svg
        from gscli.views.terminal.compare import ComparisonView

        whole = make_view_options(settings, is_for_file=True)._replace(lines=lines)
        view, title = ComparisonView(comparing, whole), f"gscli compare {comparing.concept}"
        pictures[settings.svg] = render_svg(view, title, view.answers.summary(), settings.theme)
    if settings.html is not None:
        from gscli.cli.call.results import render_html

        pictures[settings.html] = render_html(comparing, settings)
    text = ""
    if settings.is_screen_used and settings.plain:
        from gscli.views.words.compare_words import describe_comparison

        text = describe_comparison(comparing, options)
    elif settings.is_screen_used:
        from gscli.views.lines import render_text
        from gscli.views.terminal.compare import ComparisonView

        text = render_text(ComparisonView(comparing, options), options)
    elif settings.is_verdict_alone:
        from gscli.views.words.comparison import WITHOUT_MARK, ComparisonTexts

        text = ComparisonTexts(comparing, options).summary(WITHOUT_MARK) + "\n"
    return text, pictures


def _load_inputs(name: ConceptName, words: Sequence[str], settings: Settings) -> CallInputs:
    """Inputs of a comparison: data, indices and updates, which take data's type where they fit."""
    from gscli.cli.call import find_container, load_inputs
    from gscli.plan import CallInputs

    check_single_stdin(words)
    names = CONCEPTS[name].inputs
    container = find_container(words)
    fits = container or len(words) == len(names)
    problem = f"compare {name} takes {len(names)} inputs, got {len(words)}"
    axes = [f"--axis={word}" for word in words[len(names) :] if re.fullmatch(r"-?\d", word)]
    hint = format_suggestion(axes * CONCEPTS[name].takes_axis, f"gscli compare {name} --help")
    legal = " ".join(item.upper() for item in names)
    check_rule(bool(fits), problem, kind=UsageError, valid=legal, hint=hint)
    named, converted = {} if container else dict(zip(names, words, strict=True)), names[::2]
    loaded = load_inputs(named, names, settings, container=container, converted=converted)
    inputs = CallInputs.from_loaded(loaded)
    inputs.dtype = settings.dtype
    if "updates" in names:
        inputs.arrays["updates"] = loaded["updates"].cast_to_match(inputs.arrays["data"])
    return inputs


compare = LazyGroup(
    "compare",
    "The same inputs under every framework's rules; exit status 1 when answers differ, or "
    "one of --as has none.",
    lambda: {"Commands": {name: concept.summary for name, concept in CONCEPTS.items()}},
    _build_command,
)
