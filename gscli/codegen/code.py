"""`gscli.code`: the lines one would write in other frameworks for a call, and what is true of them.

>>> import gscli
>>> found = gscli.code("onnx.gather", {"data": [10, 20, 30], "indices": [2, -1]}, to=["numpy"])
>>> print(found.answers[0].verdict, found.answers[0].call[-1], sep=": ")
exact: output = np.take(data, indices, 0)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gscli.base import UsageError
from gscli.base.arrays import Array
from gscli.base.words import sanitize, suggest_names
from gscli.codegen.exactness import describe_value_difference, list_breaking_inputs
from gscli.codegen.languages import load_language
from gscli.codegen.meaning import CallAnalysis
from gscli.codegen.model_languages import OnnxWriter, OpenvinoWriter
from gscli.codegen.native import ALIASES, TARGETS, TargetFramework
from gscli.codegen.own import write_own_call
from gscli.codegen.preamble import PreambleWriter
from gscli.codegen.render import SnippetWriter
from gscli.codegen.stablehlo_language import StablehloWriter
from gscli.codegen.steps import CannotTranslate
from gscli.codegen.target_answers import Code, Snippet
from gscli.codegen.translate import check_types, translate_call
from gscli.frameworks import find_called
from gscli.frameworks.execute import execute
from gscli.frameworks.operator import Operator
from gscli.plan.plan import ValidatedPlan


def parse_targets(names: str | Sequence[str]) -> list[TargetFramework]:
    """The targets of a list such as "torch,jax", or all; UsageError for one that is unknown.

    >>> [target.name for target in parse_targets("torch, tf")]
    ['torch', 'tensorflow']
    """
    listed = names.split(",") if isinstance(names, str) else list(names)
    words = [str(name).strip().lower() for name in listed]
    targets: dict[str, TargetFramework] = {}
    for word in words:
        if word == "all":
            targets |= TARGETS
            continue
        name = ALIASES.get(word, word)
        if name not in TARGETS:
            raise UsageError(
                f"no code is written for {sanitize(word, 60)!r}",
                valid=f"{' '.join(TARGETS)}, or all",
                hint=suggest_names(
                    word, [*TARGETS, *ALIASES, "all"], "--code all", count=1, similarity=0.5
                ),
            )
        targets[name] = TARGETS[name]
    return list(targets.values())


def generate_code(
    operator: Operator,
    plan: ValidatedPlan,
    output: Array | None,
    targets: Sequence[TargetFramework],
    origins: Mapping[str, str] | None = None,
) -> Code:
    """The lines of a call that was run, for each target."""
    meaning = CallAnalysis(operator, plan)
    loading = PreambleWriter(meaning, origins or {})
    answers = tuple(_reply_to(meaning, target, loading) for target in targets)
    return Code(operator, output, meaning.arrays_by_variable, answers)


def _reply_to(meaning: CallAnalysis, target: TargetFramework, loading: PreambleWriter) -> Snippet:
    try:
        check_types(meaning, target)
        own = write_own_call(meaning, target.name)
        if own is not None:
            title = f"{target.title}'s own {meaning.operator.name}"
            return _add_preamble(
                Snippet(target.name, target.title, "exact", title, call=tuple(own)), loading
            )
        translation = translate_call(meaning, target)
        writer = _WRITERS.get(target.name, SnippetWriter)
        call = writer(translation.program, translation.output, load_language(target.name)).write()
    except CannotTranslate as reason:
        return Snippet(target.name, target.title, "none", reason=str(reason))
    broken = list_breaking_inputs(meaning, target, translation.op)
    apart = describe_value_difference(meaning, target, translation.op)
    answer = Snippet(
        target.name,
        target.title,
        "differs" if apart else "exact for these indices" if broken else "exact",
        translation.op.name if translation.op else "nothing is moved",
        translation.composed,
        call=tuple(call),
        breaks=tuple(broken),
        notes=(target.note,) if target.note else (),
        reason=apart,
    )
    return _add_preamble(answer, loading)


_WRITERS: dict[str, type[SnippetWriter]] = {
    "onnx": OnnxWriter, "openvino": OpenvinoWriter, "stablehlo": StablehloWriter,
}  # fmt: skip
"""Writers of targets that are not written as Python's arrays are."""


def _add_preamble(answer: Snippet, loading: PreambleWriter) -> Snippet:
    lines = loading.write(load_language(answer.target), answer.call)
    return answer._replace(preamble=tuple(lines))


def code(
    name: str,
    inputs: Mapping[str, object],
    attrs: Mapping[str, object] | None = None,
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
