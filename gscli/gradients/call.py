"""The gradients of one call: run, judged to have any, and walked back under a convention."""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Any

import numpy as np

from gscli.base import DtypeRefused, UpdatesTypeRefused, check_rule
from gscli.base.arrays import Array, Arrays, BoolArray, as_array, dtype_name
from gscli.base.records import Arguments
from gscli.base.words import FLOAT16S, NARROW_FLOATS, format_shape
from gscli.frameworks import find_called
from gscli.frameworks.execute import PYTHON_HINTS, prepare_values, resolve_dtypes, run_plan
from gscli.frameworks.operator import Operator
from gscli.gradients import VALUE, BackwardWalk
from gscli.gradients.conventions import LOOP, Convention, Writers, choose_convention
from gscli.layout import Layout
from gscli.layout.axes import Shape
from gscli.plan import CallInputs
from gscli.traces import Trace

# Element types that have a gradient here.
DIFFERENTIABLE = ("float32", "float64")

# Element types of which some values fit none of them.
NOT_REAL = ("str", "complex64", "complex128")

CONVERT = "--dtype float64 converts data and updates, in Python astype('float64')"


class Gradients:
    """The gradients of one finished call, by input name, in the inputs' shapes and types.

    `trace`: what was run. `cotangent`: float64, in the shape of its output.
    """

    def __init__(self, trace: Trace, cotangent: Array, convention: Convention) -> None:
        self.trace, self.cotangent, self.convention = trace, cotangent, convention
        self.arrays = self.compute(convention)

    @property
    def writers(self) -> Writers:
        """Who is given the gradient of a cell that one set: a value is written once to a cell."""
        return self.convention.writers if self.trace.layout.value_names[1] else "last"

    @property
    def missing(self) -> str:
        """Why the framework whose rules these are has no such gradient itself; "" where it has."""
        run = self.trace
        indices = [run.inputs[name] for name in run.inputs.keys() - set(run.layout.value_names)]
        is_open = any(array.ndim or array.dtype.kind == "b" for array in indices)
        are_unique = run.attributes.get("unique_indices") and not run.duplicates(limit=0).total
        reduction = run.reduction * (is_open and not are_unique)
        call, reduce = run.operator.full_name, run.attributes.get("reduce")
        call += f" --reduce {reduce}" if reduce else ""
        pairs = self.convention.missing.items()
        return next((why for what, why in pairs if what == reduction or fnmatch(call, what)), "")

    @property
    def differs_from_loop(self) -> bool:
        """Whether the specification's loop itself gives other gradients."""
        loop = self.compute(LOOP)
        return any(find_other_cells(own, loop[name]).any() for name, own in self.arrays.items())

    def walk(self) -> BackwardWalk:
        """The way back, step by step."""
        return BackwardWalk(self.trace.plan, self.trace.output, self.cotangent, self.convention)

    def compute_expected(self, **choice: Any) -> dict[str, Array]:
        """What a runtime is held against: data that takes no part is not counted."""
        return self.compute(self.convention._replace(counts_absent_data=False, **choice))

    @np.errstate(all="ignore")  # values beyond their types are inf and nan, as in frameworks
    def compute(self, convention: Convention) -> dict[str, Array]:
        """The gradients under another convention."""
        plan, operator = self.trace.plan, self.trace.operator
        flows = BackwardWalk(plan, self.trace.output, self.cotangent, convention).compute_flows()
        fold, gradients = plan.layout.fold, {}
        row_factors = fold.factors if fold and fold.are_by_row else None  # no framework has theirs
        for name in operator.input_names:
            array = None if name == row_factors else plan.inputs.get(name)
            if array is not None and dtype_name(array.dtype) in DIFFERENTIABLE:
                flow = flows[name] if name in flows else np.zeros(array.shape)
                gradients[name] = flow.astype(array.dtype, copy=False)
        if VALUE in operator.attributes_by_name and VALUE in flows:
            gradients[VALUE] = flows[VALUE]
        return gradients


def find_other_cells(own: Array, other: Array) -> BoolArray:
    """Which cells of two gradients differ, by more than sums of all of them are rounded.

    >>> find_other_cells(np.array([1e-9, np.nan]), np.array([2e-9, np.nan]))
    array([ True, False])
    """
    scale = np.abs(own[np.isfinite(own)]).max(initial=0.0)
    return np.asarray(~np.isclose(own, other, atol=1e-8 * scale, equal_nan=True))


@PYTHON_HINTS
def grad(
    name: str,
    inputs: Arguments,
    attrs: Arguments | None = None,
    cotangent: object = None,
    rules: str | None = None,
) -> dict[str, Array]:
    """Gradients of `framework.operator` for each of its floating-point inputs, by input name.

    `cotangent` has the shape of the output and is ones by default: the gradients are those of
    sum(cotangent × output). Lists of numbers count as float64. `rules` names a convention: the
    framework's own by default, "loop" for that of the specification. float32 and float64 have
    gradients; everything else is refused. They are summed in float64 and rounded once to the
    type of the input.

    >>> grad("onnx.gather", {"data": [1.0, 2.0, 3.0], "indices": [2, 0, 2]}, cotangent=[1, 10, 100])
    {'data': array([ 10.,   0., 101.])}
    """
    operator = find_called(name, inputs, attrs)
    plan = prepare_values(operator, inputs, attrs or {}, choose_dtype=choose_dtype)
    return trace_gradients(Trace(operator, *run_plan(operator, plan)), cotangent, rules).arrays


def choose_dtype(operator: Operator, inputs: CallInputs) -> str | None:
    """What whole numbers without a type become, which have no gradient: the type of the others.

    Data and updates of which none has a type become float64. None where each keeps its own.
    """
    trial = CallInputs(dict(inputs.arrays), inputs.origins, dict(inputs.is_typed), inputs.attrs)
    try:
        values = value_inputs(resolve_dtypes(operator, trial, strict=False), trial.arrays)
        open_names = {name for name, array in values.items() if array.dtype.kind in "iu"}
    except UpdatesTypeRefused as error:
        values = {name: trial.arrays[name] for name in (error.source, error.name)}
        open_names = set(values)
    types = {dtype_name(array.dtype) for name, array in values.items() if inputs.is_typed[name]}
    dtype, *others = types or {"float64"}
    is_text = any(array.dtype.kind == "U" for array in values.values())
    is_typed = all(inputs.is_typed[name] for name in open_names)
    return None if others or dtype not in DIFFERENTIABLE or is_text or is_typed else dtype


def value_inputs(layout: Layout, inputs: Arrays) -> dict[str, Array]:
    """The inputs of a call whose values reach the output: data and updates, where there are any.

    >>> import gscli
    >>> run = gscli.trace("gather", {"data": [1.0, 2.0], "indices": [0]})
    >>> list(value_inputs(run.layout, run.inputs))
    ['data']
    """
    fold = layout.fold  # what is the same for all entries of a row is given no gradient
    names = (*layout.value_names, fold.factors if fold and not fold.are_by_row else None)
    return {name: inputs[name] for name in names if name is not None}


def trace_gradients(trace: Trace, cotangent: object = None, rules: str | None = None) -> Gradients:
    """The gradients of a finished call.

    Raises DtypeRefused where its output has no gradient, ShapeRefused for a cotangent of another
    shape, UsageError for unknown `rules`.
    """
    convention = choose_convention(trace.operator.framework.name, rules)
    _check_differentiable(trace)
    flow = np.ones(trace.output.shape) if cotangent is None else as_array(cotangent, "cotangent")
    check_cotangent(flow, trace.output.shape)
    gradients = Gradients(trace, flow.astype(np.float64), convention)
    if not gradients.arrays:
        types = (f"{name} {dtype_name(array.dtype)}" for name, array in trace.inputs.items())
        raise _dtype_error("no input has a gradient", ", ".join(types), hint=CONVERT)
    return gradients


def check_cotangent(flow: Array, shape: Shape) -> None:
    """DtypeRefused for what is no number, ShapeRefused for another shape than the output's."""
    if flow.dtype.kind not in "iuf":
        raise _dtype_error(f"the cotangent is {dtype_name(flow.dtype)}", "cotangent")
    problem = "the cotangent has another shape than the output"
    where, legal = f"cotangent {format_shape(flow.shape)}", format_shape(shape)
    check_rule(flow.shape == shape, problem, where, valid=legal)


def _check_differentiable(trace: Trace) -> None:
    dtype = dtype_name(trace.output.dtype)
    if dtype in DIFFERENTIABLE:
        return
    is_narrow, problem = dtype in (*FLOAT16S, *NARROW_FLOATS), f"{dtype} has no gradient"
    if is_narrow or dtype.startswith("complex"):
        problem = f"gradients of {dtype} are not computed"
    details = ("frameworks round sums of narrow floats at different places",) * is_narrow
    where = f"output {dtype} {format_shape(trace.output.shape)}"
    is_converted = dtype not in NOT_REAL and bool(value_inputs(trace.layout, trace.inputs))
    raise _dtype_error(problem, where, *details, hint=CONVERT * is_converted)


def _dtype_error(problem: str, where: str, *details: str, hint: str = "") -> DtypeRefused:
    valid = " ".join(DIFFERENTIABLE)
    return DtypeRefused(problem, where=where, details=details, valid=valid, hint=hint)
