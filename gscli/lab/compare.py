"""The same inputs under every framework's rules: run all, group equal answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import chain
from typing import TypeAlias, cast

import numpy as np

from gscli.base import GscliError, InputRefused, LimitRefused, UsageError, check_name, check_rule
from gscli.base.arrays import Array, Arrays, as_array, dtype_name
from gscli.base.records import Arguments, Record
from gscli.disk import mapped
from gscli.frameworks import check_mapping
from gscli.frameworks.execute import execute, resolve_dtypes
from gscli.frameworks.operator import Comparison, ConceptCall, ConceptName, Operator
from gscli.lab.answers import (
    ComparisonResult,
    RuleSetResult,
    UnsupportedRuleSet,
    group_equal_results,
)
from gscli.lab.concepts import (
    CONCEPTS,
    Concept,
    explain_inexpressible,
    list_reductions,
    translate_attributes,
)
from gscli.lab.rule_sets import DeclaredComparison, select_rule_sets
from gscli.layout.axes import Tensor
from gscli.plan import DEFAULT_LIMIT, CallInputs
from gscli.plan.masks import expand_masks
from gscli.plan.plan import ValidatedPlan
from gscli.traces import Trace

# A rule set that can express a call, and the operator's attributes that do.
ExpressibleCall: TypeAlias = tuple[Operator, Comparison, Arguments]

# What runs a call: its plan and its output, as `execute` gives them.
CallRunner: TypeAlias = Callable[[Operator, Arrays, Arguments], tuple[ValidatedPlan, Array]]


def compare(
    concept: ConceptName,
    inputs: Arguments,
    *,
    axis: int | None = None,
    batch_dims: int = 0,
    reduction: str = "none",
    only: str | Sequence[str] = (),
    opsets: Sequence[int] = (),
    typed: Mapping[str, bool] | None = None,
    run: CallRunner | None = None,
    max_bytes: int | None = None,
) -> ComparisonResult:
    """Run a concept's call under every rule set that can express it.

    `only`: names of frameworks or operators, or labels, in the order wanted, or in a string between
    commas; the first is the base. `opsets`: a row for each of these versions of ONNX, and nothing
    else unless `only` asks for it. `typed`: which inputs have an element type of their own
    (default: those that are arrays rather than lists); each rule set gives the others the type that
    it wants, as its own command does. `run`: what runs a call. UsageError when nothing can run, or
    for an argument that the concept does not have; LimitRefused where different outputs have more
    than `max_bytes` together. Other refusals are answers here and do not raise; what cannot express
    the call is told in `unsupported`.

    >>> compare("gather", {"data": [10, 20], "indices": [1]}, only=["onnx", "numpy"]).agree
    True
    """
    concept = cast("ConceptName", str(concept).replace("_", "-"))
    check_name(concept, CONCEPTS, f"no operation {concept!r} to compare", count=1)
    check_mapping("inputs", inputs)
    arrays = {name: as_array(value, name) for name, value in inputs.items()}
    own = dict(typed or {name: hasattr(value, "dtype") for name, value in inputs.items()})
    only = only.split(",") if isinstance(only, str) else [*map(str, only or ())]
    call = _build_concept_call(CONCEPTS[concept], arrays, axis, batch_dims, reduction)
    chosen, unsupported = select_rule_sets(concept, only, opsets)
    size = sum(array.nbytes for array in arrays.values())
    limit = max(DEFAULT_LIMIT, 4 * size) if max_bytes is None else max_bytes
    run = run or partial(_run_within_limit, {}, limit)
    question, rows = RuleSetQuestion(call, arrays, own, run), list[RuleSetResult]()
    for label, pairs in chosen.items():
        able, there = list(question.iter_expressible(pairs)), {row.label for row in rows}
        rows += [question.ask(*pair) for pair in able if pair[1].label not in there]
        if not able:
            reasons = (explain_inexpressible(comparison, call) for _, comparison in pairs)
            reason = next(filter(None, reasons), "it starts from zeros")
            operators = tuple(dict.fromkeys(operator.full_name for operator, _ in pairs))
            unsupported.append(UnsupportedRuleSet(label, reason, bool(only), operators=operators))
    if not rows:
        reductions = list_reductions(chain.from_iterable(chosen.values()))
        arguments = [f"{name} {value}" for name, value in call.other_arguments.items()]
        names = [f"among {','.join(only)}"[:100]] if only else []
        problem, where = f"no rule set can express this {concept}", ", ".join([*arguments, *names])
        details = tuple(UnsupportedRuleSet.format_reasons(unsupported))
        valid = "" if call.reduction in reductions else " ".join(reductions)
        hint = f"gscli compare {concept} --help"
        raise UsageError(problem, where=where, details=details, valid=valid, hint=hint)
    answers = group_equal_results(rows), tuple(unsupported), tuple(only), tuple(opsets)
    return ComparisonResult(concept, arrays, call, *answers, own)


def _run_within_limit(
    outputs: dict[object, Array], limit: int, operator: Operator, arrays: Arrays, attrs: Arguments
) -> tuple[ValidatedPlan, Array]:
    """Run a call. Its output joins `outputs`, or is the one there that has the same bits."""
    plan, output = execute(operator, arrays, attrs, max_bytes=limit)
    digest = id(output) if output.dtype.hasobject else blake2b(output.tobytes()).digest()
    output = outputs.setdefault((output.dtype, output.shape, digest), output)
    needed, problem = sum(each.nbytes for each in outputs.values()), "answers would be too large"
    hint = f"--as LIST compares fewer, --max-bytes {2 * needed} holds more"
    about = f"different ones together: {needed:,} bytes", f"at most {limit:,} bytes"
    check_rule(needed <= limit, problem, *about, kind=LimitRefused, hint=hint)
    return plan, output


def _build_concept_call(
    concept: Concept, arrays: Arrays, axis: int | None, batch_dims: int, reduction: str
) -> ConceptCall:
    valid = " ".join(concept.inputs)
    for name in concept.inputs:
        check_rule(name in arrays, f"the comparison needs {name}", kind=UsageError, valid=valid)
    for name in sorted(arrays.keys() - set(concept.inputs)):
        raise UsageError("the comparison has no input of this name", where=name, valid=valid)
    parts = ((name, arrays[name]) for name in concept.inputs)
    tensors = [Tensor(name, array.shape, dtype_name(array.dtype)) for name, array in parts]
    data, indices, *updates = tensors
    call = ConceptCall(data, indices, next(iter(updates), None), axis, batch_dims, reduction)
    for name in call.other_arguments:
        takes, problem = getattr(concept, f"takes_{name}"), f"the comparison takes no {name}"
        check_rule(takes, problem, concept.summary, kind=UsageError)
    if axis is not None:
        return call
    behind = batch_dims + (indices.rank if batch_dims < 0 else 0)
    # Behind batch axes the usual axis is the first, as TensorFlow's.
    return call._replace(axis=behind if batch_dims and concept.axis is not None else concept.axis)


class RuleSetQuestion(Record):
    """A concept's call as rule sets are asked for it; `typed` and `run` as `compare` takes them."""

    call: ConceptCall
    arrays: Arrays
    typed: Mapping[str, bool]
    run: CallRunner

    def iter_expressible(self, declared: Iterable[DeclaredComparison]) -> Iterator[ExpressibleCall]:
        """Those comparisons that can express the call, with the attributes that do."""
        for operator, comparison in declared:
            if comparison.has_zero_data and any(
                bool(np.any(part != 0)) for part in mapped.iter_blocks(self.arrays["data"])
            ):
                continue
            attrs = translate_attributes(comparison, self.call)
            if attrs is not None:
                yield operator, comparison, attrs

    def ask(self, operator: Operator, comparison: Comparison, attrs: Arguments) -> RuleSetResult:
        """The answer of a rule set, or its refusal."""
        roles, inputs = self._convert_inputs(comparison)
        name, indices = comparison.label, comparison.inputs[1]
        row = RuleSetResult(name, operator, inputs, attrs, indices, roles=roles)
        try:
            # As the operator's own command does: masks first, for PyTorch's may be of uint8.
            bare, sources, rest = expand_masks(operator, inputs, attrs)
            known = {name: self.typed.get(roles[sources.get(name, name)], True) for name in bare}
            settled = CallInputs(bare, dict.fromkeys(bare, "inline"), known, rest)
            resolve_dtypes(operator, settled, strict=False)
            done = self.run(operator, settled.arrays, rest)
        except LimitRefused:
            raise
        except GscliError as error:  # without its frames, which hold arrays
            return replace(row, error=error.with_traceback(None))
        return replace(row, trace=Trace(operator, *done, notices=tuple(settled.notices)))

    def _convert_inputs(self, comparison: Comparison) -> tuple[dict[str, str], dict[str, Array]]:
        """What the operator's own names are to the concept, and its inputs under these names."""
        roles = {comparison.axis: "axis"}
        converted: dict[str, Array] = {}
        for role, name in zip(("data", "indices", "updates"), comparison.inputs, strict=False):
            if name:
                part = self.arrays[role]
                parts = {name: part} if role != "indices" else _split_indices(comparison, part)
                converted |= parts
                roles |= dict.fromkeys(parts, role)
        if comparison.axis_input:
            roles[comparison.axis_input] = "axis"
            converted[comparison.axis_input] = np.array(self.call.axis or 0)
        if comparison.shape_input:
            roles[comparison.shape_input] = "indices"
            shape = np.array(self.call.data.shape, self.arrays["indices"].dtype)
            converted[comparison.shape_input] = shape
        return roles, converted


def find_concept_inputs(comparison: Comparison, inputs: Arrays) -> dict[str, Array]:
    """The way back: an operator's inputs under the concept's names. InputRefused where some are
    missing, or there is an index input too many.

    >>> from gscli.frameworks.torch.subscripts import index
    >>> arrays = {"input": np.ones((2, 2)), "indices_0": np.array([1]), "indices_1": np.array([0])}
    >>> find_concept_inputs(index.concept_mappings[0], arrays)["indices"]
    array([[1, 0]])
    """
    name, layout, joined = comparison.inputs[1], comparison.vector_layout, {**inputs}
    columns = [array for own, array in inputs.items() if own.startswith(f"{name}_")]
    if layout == "first":
        joined[name] = np.moveaxis(inputs[name], 0, -1)
    elif layout == "tuple" and columns:
        joined[name] = np.stack(np.broadcast_arrays(*columns), -1)
    elif layout == "one" and len(columns) == 1:
        joined[name] = columns[0]
    check_rule(joined.keys() >= {*comparison.inputs}, "no such inputs", kind=InputRefused)
    parts = (joined[own] for own in comparison.inputs)
    return dict(zip(CONCEPTS[comparison.concept].inputs, parts, strict=False))


def _split_indices(comparison: Comparison, indices: Array) -> dict[str, Array]:
    """Indices as an operator wants them that may have its vectors elsewhere, by its names."""
    name, layout = comparison.inputs[1], comparison.vector_layout
    if layout in ("last", "one"):
        return {f"{name}_0" if layout == "one" else name: indices}
    columns = np.moveaxis(indices, -1, 0) if indices.ndim else indices
    if layout == "first":
        return {name: columns.copy()}
    return {f"{name}_{number}": np.array(column) for number, column in enumerate(columns)}
