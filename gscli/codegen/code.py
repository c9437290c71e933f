"""`gscli.code`: the lines one would write in other frameworks for a call, and what is true of them.

>>> import gscli
>>> found = gscli.code("onnx.gather", {"data": [10, 20, 30], "indices": [2, -1]}, to=["numpy"])
>>> print(found.answers[0].verdict, found.answers[0].lines[-1], sep=": ")
exact: output = np.take(data, indices, 0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches

from gscli.base import UsageError
from gscli.base.arrays import Array
from gscli.base.words import safe
from gscli.codegen.exactness import breaks, differs
from gscli.codegen.languages import language
from gscli.codegen.meaning import CallAnalysis
from gscli.codegen.native import ALIASES, TARGETS, TargetFramework
from gscli.codegen.onnx_language import onnx_lines
from gscli.codegen.openvino_language import openvino_lines
from gscli.codegen.own import own_lines
from gscli.codegen.preamble import Loading
from gscli.codegen.render import lines_of
from gscli.codegen.stablehlo_language import stablehlo_lines
from gscli.codegen.steps import CannotTranslate, SnippetProgram, Value
from gscli.codegen.target_answers import Code, TargetAnswer
from gscli.codegen.translate import Translation, judge_types, translated
from gscli.frameworks import named
from gscli.frameworks.execute import execute
from gscli.frameworks.operator import Operator
from gscli.plan.plan import ValidatedPlan


def targets_named(names: str | Sequence[str]) -> list[TargetFramework]:
    """The targets of a list such as "torch,jax", or all; UsageError for one that is unknown.

    >>> [target.name for target in targets_named("torch, tf")]
    ['torch', 'tensorflow']
    """
    given = names.split(",") if isinstance(names, str) else list(names)
    words = [str(name).strip().lower() for name in given]
    found: dict[str, TargetFramework] = {}
    for word in words:
        if word == "all":
            found |= TARGETS
            continue
        name = ALIASES.get(word, word)
        if name not in TARGETS:
            near = get_close_matches(word, [*TARGETS, *ALIASES, "all"], 1, 0.5)
            raise UsageError(
                f"no code is written for {safe(word, 60)!r}",
                valid=f"{' '.join(TARGETS)}, or all",
                hint=f"did you mean {near[0]}?" if near else "--code all",
            )
        found[name] = TARGETS[name]
    return list(found.values())


def written(
    operator: Operator,
    plan: ValidatedPlan,
    output: Array | None,
    targets: Sequence[TargetFramework],
    origins: Mapping[str, str] | None = None,
) -> Code:
    """The lines of a call that was run, for each target."""
    meaning = CallAnalysis(operator, plan)
    loading = Loading(meaning, origins or {})
    answers = tuple(_answer(meaning, target, loading) for target in targets)
    return Code(operator, output, meaning.named, answers)


def _answer(meaning: CallAnalysis, target: TargetFramework, loading: Loading) -> TargetAnswer:
    try:
        judge_types(meaning, target)
        own = own_lines(meaning, target.name)
        if own is not None:
            title = f"{target.title}'s own {meaning.operator.name}"
            return _with_loading(
                TargetAnswer(target.name, target.title, "exact", title, call=tuple(own)), loading
            )
        found = translated(meaning, target)
        call = _lines(found, target.name)
    except CannotTranslate as reason:
        return TargetAnswer(target.name, target.title, "none", reason=str(reason))
    broken = breaks(meaning, target, found.native)
    apart = differs(meaning, target, found.native)
    answer = TargetAnswer(
        target.name,
        target.title,
        "differs" if apart else "exact for these indices" if broken else "exact",
        found.native.name if found.native else "nothing is moved",
        found.composed,
        call=tuple(call),
        breaks=tuple(broken),
        notes=(target.note,) if target.note else (),
        reason=apart,
    )
    return _with_loading(answer, loading)


_TEXTS: dict[str, Callable[[SnippetProgram, Value], list[str]]] = {
    "onnx": onnx_lines,
    "openvino": openvino_lines,
    "stablehlo": stablehlo_lines,
}
"""Targets that are not written as Python's arrays are."""


def _lines(found: Translation, target: str) -> list[str]:
    """The lines of a translation in its target's language."""
    if target in _TEXTS:
        return _TEXTS[target](found.steps, found.output)
    return lines_of(found.steps, found.output, language(target))


def _with_loading(answer: TargetAnswer, loading: Loading) -> TargetAnswer:
    lines = loading.lines(language(answer.target), answer.call)
    return answer._replace(loading=tuple(lines))


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
    targets = targets_named(to)
    operator = named(name, inputs, attrs)
    plan, output = execute(operator, inputs, attrs or {})
    found = written(operator, plan, output, targets)
    if not check:
        return found
    from gscli.codegen.execution import checked

    return checked(found, python)
