"""`gscli.code`: the lines one would write in other frameworks for a call, and what is true of them.

>>> import gscli
>>> found = gscli.code("onnx.gather", {"data": [10, 20, 30], "indices": [2, -1]}, to=["numpy"])
>>> print(found.answers[0].verdict, found.answers[0].call[-1], sep=": ")
exact: output = np.take(data, indices, 0)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gscli.base import UsageError
from gscli.base.arrays import Array, dtype_name
from gscli.base.records import Arguments
from gscli.base.words import sanitize, suggest_names
from gscli.codegen.analysis import CallAnalysis
from gscli.codegen.exactness import (
    describe_value_difference,
    list_breaking_inputs,
    list_open_values,
)
from gscli.codegen.lowering import Translation, translate_call
from gscli.codegen.model_languages import OnnxWriter, OpenvinoWriter
from gscli.codegen.native import TARGETS, TargetFramework
from gscli.codegen.own import write_own_call
from gscli.codegen.preamble import PreambleWriter
from gscli.codegen.render import SnippetWriter, load_language
from gscli.codegen.stablehlo_language import StablehloWriter
from gscli.codegen.steps import CannotTranslate
from gscli.codegen.target_answers import Code, Exactness, Snippet, describe_snippet
from gscli.files.content import STANDARD_INPUT
from gscli.frameworks import ALIASES, TITLES, find_called
from gscli.frameworks.execute import PYTHON_HINTS, execute
from gscli.frameworks.operator import Operator
from gscli.lab.answers import ComparisonResult, UnsupportedRuleSet
from gscli.lab.cases import build_command, format_inputs
from gscli.lab.hints import LONGEST_COMMAND
from gscli.plan import CallInputs
from gscli.plan.plan import ValidatedPlan


def parse_targets(
    names: str | Sequence[str], known: Mapping[str, TargetFramework] = TARGETS
) -> list[TargetFramework]:
    """The targets of a list such as "torch,jax", or all; UsageError for one that is unknown.

    >>> [target.name for target in parse_targets("torch, tf")]
    ['torch', 'tensorflow']
    """
    listed = names.split(",") if isinstance(names, str) else list(names)
    words = [str(name).strip().lower() for name in listed]
    targets: dict[str, TargetFramework] = {}
    for word in words:
        for name in known if word == "all" else [ALIASES.get(word, word)]:
            if name not in known:
                aliases = [alias for alias, target in ALIASES.items() if target in known]
                near = [*known, *aliases, "all"]
                hint = suggest_names(word, near, "all writes each", count=1, similarity=0.5)
                problem, legal = f"no code is written for {sanitize(word, 60)!r}", " ".join(known)
                raise UsageError(problem, valid=f"{legal}, or all", hint=hint)
            targets[name] = known[name]
    return list(targets.values())


def generate_code(
    operator: Operator, plan: ValidatedPlan, output: Array | None,
    targets: Sequence[TargetFramework], origins: Mapping[str, str] | None = None, refusal: str = "",
) -> Code:  # fmt: skip
    """The lines of a call, for each target; `refusal`: why its own framework does not run it."""
    analysis = CallAnalysis(operator, plan, output)
    loading = PreambleWriter(analysis, origins or {})
    limited: Exactness = "exact for legal indices" if refusal else "exact for these indices"
    answers = tuple(_reply_to(analysis, target, loading, limited) for target in targets)
    return Code(operator, output, analysis.arrays_by_variable, answers, refusal)


def _reply_to(
    analysis: CallAnalysis, target: TargetFramework, loading: PreambleWriter, limited: Exactness
) -> Snippet:
    """The lines for one target; `limited`: what they are where some inputs would break them."""
    language = load_language(target.name)
    answer = Snippet(target.name, target.title, "exact")
    try:
        check_types(analysis, target)
        call = write_own_call(analysis, target.name)
        if call is not None:
            operation = f"{target.title}'s own {analysis.operator.name}"
            broken = tuple(list_open_values(analysis, target))
            apart = broken[0] if broken and any(analysis.nan_places) else ""
        else:
            translation = translate_call(analysis, target)
            writer = _WRITERS.get(target.name, SnippetWriter)
            call = writer(translation.program, translation.output, language).write()
            operation = translation.op.name if translation.op else "nothing is moved"
            broken = tuple(list_breaking_inputs(translation))
            apart, notes = describe_value_difference(translation), tuple(_list_notes(translation))
            answer = answer._replace(composed=translation.composed, notes=notes)
    except CannotTranslate as reason:
        return answer._replace(verdict="none", reason=str(reason))
    return answer._replace(
        verdict="differs" if apart else limited if broken else "exact",
        operation=operation, breaks=broken, reason=apart,
        preamble=tuple(loading.write(language, call)), call=tuple(call),
    )  # fmt: skip


def _list_notes(translation: Translation) -> Iterator[str]:
    """What is to be known of a target's lines, and why these are known not to run."""
    target, package = translation.target, translation.target.packages[0]
    if target.note:
        yield target.note
    dtypes = {item.dtype for item in translation.program.inputs}
    for dtype in sorted(dtypes & target.missing_dtypes):
        yield f"{package} takes no arrays of {dtype}: there they do not run"
    steps = translation.program.steps
    kinds = {(step.opcode, str(step.attributes.get("op", "")), step.result.dtype) for step in steps}
    for reduction, dtype in sorted({kind[1:] for kind in kinds & target.missing_kernels}):
        use = f"with {reduction}" if reduction else "in Where"
        # onnxruntime computes in float32 what stands between other nodes in float16.
        verb = "may" if dtype == "float16" and translation.composed else "do"
        yield f"{package} has no kernel for {dtype} {use}: there they {verb} not run"


# Writers of targets that are not written as Python's arrays are.
_WRITERS: dict[str, type[SnippetWriter]] = {
    "onnx": OnnxWriter, "openvino": OpenvinoWriter, "stablehlo": StablehloWriter,
}  # fmt: skip


@PYTHON_HINTS
def code(
    name: str,
    inputs: Arguments,
    attrs: Arguments | None = None,
    *,
    to: str | Sequence[str] = "all",
    check: bool = False,
    python: str | None = None,
) -> Code:
    """The lines that give the same output in other frameworks, for `framework.operator` on arrays.

    `to` names targets (numpy, torch, jax, tensorflow, onnx, openvino, stablehlo) or is
    "all". With `check` each target's lines are run in a process of their own by `python`, the
    interpreter that has the framework (default: this one). Raises GscliError alone: where the call
    itself is refused, and for unknown targets.
    """
    targets = parse_targets(to)
    operator = find_called(name, inputs, attrs)
    plan, output = execute(operator, inputs, attrs or {})
    snippets = generate_code(operator, plan, output, targets)
    if not check:
        return snippets
    from gscli.codegen.execution import run_checks

    return run_checks(snippets, python)


def check_types(analysis: CallAnalysis, target: TargetFramework) -> None:
    """Raises CannotTranslate where the target has no such element type."""
    for dtype in (*(dtype_name(array.dtype) for array in analysis.values), analysis.layout.dtype):
        if dtype not in target.dtypes:
            kind = "strings" if dtype == "str" else dtype
            raise CannotTranslate(f"gscli writes no lines with {kind} for it")


# What does the same as a call of a comparison.

# Cells of inputs for which lines are written at all.
MAX_INPUT_CELLS = 1 << 16


def add_equivalents(comparing: ComparisonResult, inputs: CallInputs) -> ComparisonResult:
    """The comparison with what gives the reference's answer in each framework without a row.

    `inputs`: its own as they were read, of which files are named in the command.
    Frameworks that were not asked for are told of too, unless some were. Nothing is said where
    every rule set refuses, and of large inputs.
    """
    compared = (row.trace for group in comparing.answers for row in group.rows)
    trace = next(filter(None, compared), None)
    if trace is None or max(array.size for array in comparing.inputs.values()) > MAX_INPUT_CELLS:
        return comparing
    said = {row.operator.framework.name for row in comparing.rows}
    titles = {TITLES[name]: name for name in TARGETS if name not in said}
    absent = list(comparing.unsupported)
    if not (comparing.only or comparing.opsets):
        known, reason = {entry.label for entry in absent}, "gscli has none"
        others = (title for title in titles if title not in known)
        absent += [UnsupportedRuleSet(title, reason, is_requested=False) for title in others]
    names = {
        entry.label: next(iter(entry.operators), titles.get(entry.label, "")).partition(".")[0]
        for entry in absent
        if "opset" not in entry.label  # code is written for the newest
    }
    targets = {label: TARGETS[name] for label, name in names.items() if name in titles.values()}
    answers = generate_code(trace.operator, trace.plan, trace.output, [*targets.values()]).answers
    texts = format_inputs(trace.inputs)
    names = {name: name.upper() for name in texts}
    places = {id(inputs.arrays[name]): place for name, place in inputs.origins.items()}
    for name, array in trace.inputs.items():
        if (place := places.get(id(array), "inline")) not in ("inline", STANDARD_INPUT):
            texts[name] = names[name] = place
    operator, attrs = trace.operator, trace.nondefault_attributes
    options = ["--dtype", inputs.dtype] if inputs.dtype else []
    calls = [build_command(operator, attrs, words, options) for words in (texts, names)]
    way = calls[len(calls[0]) > LONGEST_COMMAND].replace("gscli", "gscli explain", 1)
    equivalents = {
        label: f"{describe_snippet(answer)} ({way} --code {answer.target})"
        for label, answer in zip(targets, answers, strict=True)
    }
    entries = tuple(entry._replace(equivalent=equivalents.get(entry.label, "")) for entry in absent)
    return replace(comparing, unsupported=entries)
