"""A call, a gather or a scatter, as steps of one target."""

from __future__ import annotations

from math import prod

import numpy as np

from gscli.base.arrays import parse_dtype
from gscli.base.records import Record
from gscli.base.words import COMPLEX, FLOATS, INTEGERS
from gscli.codegen.analysis import CallAnalysis
from gscli.codegen.index_numbers import IndexHandling
from gscli.codegen.native import NativeOp, TargetFramework
from gscli.codegen.placement import IndexLowering, LoweredIndices
from gscli.codegen.render import load_language
from gscli.codegen.steps import CannotTranslate, Constant, SnippetProgram, Value
from gscli.kernel.reductions import REDUCTIONS
from gscli.layout.axes import Fit, Number, OutOfBounds, Shape


def emit_gather(lowering: IndexLowering) -> tuple[Value, LoweredIndices]:
    """The output, and the indices that it is read by."""
    steps, layout = lowering.steps, lowering.layout
    data = steps.reshape(lowering.inputs["data"], layout.view_shape)
    indices = lowering.lower(lowering.target.ops("gather"))
    assert indices is not None, "every target gathers cells"
    data, facts = steps.reshape(data, indices.data_shape), indices.facts
    if indices.native.form == "along" and not indices.native.takes_smaller:
        shape = list(indices.value_shape)
        shape[indices.spare_axis] = data.shape[indices.spare_axis]
        data = steps.crop(data, tuple(shape))
    if indices.native.form == "direct":
        facts |= {"sizes": tuple(axis.span for axis in layout.axes)}
    output = steps.add(
        indices.opcode, "output", indices.value_shape, data.dtype, data, *indices.operands, **facts
    )
    if indices.live is not None:
        mask = steps.reshape(indices.live, indices.live_shape)
        output = steps.where(mask, output, layout.fill_value, "output")
    if indices.entries_first:
        output = steps.reshape(output, layout.addressing.entry_shape + layout.addressing.window)
        output = steps.transpose(output, layout.addressing.result_axes)
    return steps.reshape(output, layout.output_shape), indices


def fit_updates(steps: SnippetProgram, updates: Value, fit: Fit, shape: Shape) -> Value:
    """Updates in the shape of the result, by the framework's own rule."""
    if updates.shape == shape:
        return updates
    if fit is Fit.BROADCAST:
        surplus = max(len(updates.shape) - len(shape), 0)
        return steps.expand(steps.reshape(updates, updates.shape[surplus:]), shape)
    if fit is Fit.CROP:
        return steps.crop(steps.reshape(updates, updates.shape or (1,)), shape)
    if fit is Fit.CYCLE:
        return _repeat_cyclically(steps, updates, shape)
    return steps.reshape(updates, shape)


def _repeat_cyclically(steps: SnippetProgram, updates: Value, shape: Shape) -> Value:
    """Values repeated, or left over, until there are as many as are written."""
    count, size = prod(shape), prod(updates.shape)
    flat = steps.reshape(updates, (size,))
    times = -(-count // size) if size else 0
    if times > 1:
        flat = steps.expand(steps.reshape(flat, (1, size)), (times, size))
        flat = steps.reshape(flat, (times * size,))
    return steps.reshape(steps.crop(flat, (count,)), shape)


def reduction_identity(op: str, dtype: str) -> Constant:
    """What a reduction begins with."""
    rule, known = REDUCTIONS[op], parse_dtype(dtype)
    has_limits = np.isinf(rule.number) and known.kind in "biu"
    return Constant(rule.identity(known).item() if has_limits else rule.number, dtype)


def cast_number(value: Number | None, dtype: str) -> Number:
    """A number as an element of a type: whole numbers wrap."""
    with np.errstate(all="ignore"):
        number: Number = np.asarray(value).astype(parse_dtype(dtype)).item()
    return number


# What another reduction is for False and True as 0 and 1; sub asks whether their sum is odd.
BOOL_REDUCTIONS = {"add": "max", "mul": "min", "sub": "add"}


class ReductionRequest(Record):
    """What the target is asked for: a reduction, its own mean, its own way to leave data out."""

    op: str
    mean: bool = False
    leaves_out: bool = False


class ScatterLowering:
    """One scatter for one target; `composed` once it takes more than one operation."""

    def __init__(self, lowering: IndexLowering) -> None:
        self.lowering, self.steps, self.layout = lowering, lowering.steps, lowering.layout
        self.target = lowering.target
        self.composed = False
        self.data = lowering.inputs.get("data")
        self.update_value = lowering.inputs.get("updates")
        self.declared = self.layout.written_updates
        self.rule = REDUCTIONS[self.layout.reduction]
        self.averages = self.rule.divisor is not None
        self.combines_bool = self._combines_bool()
        self.reduction = self._choose_reduction()
        self.accumulator_dtype = self._choose_accumulator_dtype()

    def lower(self) -> tuple[Value, LoweredIndices]:
        """The output, and the indices that it is written by."""
        indices, request = self._choose_op()
        base, updates = self._emit_base(), self._emit_updates()
        reduction = self.layout.reduction
        if reduction == "sub" and request.op == "add" and not self.combines_bool:
            updates = self._emit_composed("negative", updates)
        if self.rule.epilogue is not None:
            output = self._emit_product(indices, updates)
        else:
            output = self._emit_reduction(indices, base, updates, request)
        return self.steps.reshape(output, self.layout.output_shape), indices

    def _choose_reduction(self) -> str:
        """The reduction as targets know it: bool has only max and min, a mean begins as a sum."""
        reduction = self.layout.reduction
        if self.combines_bool:
            return BOOL_REDUCTIONS.get(reduction, reduction)
        complex_order = reduction in ("max", "min") and self.layout.dtype in COMPLEX
        if complex_order and not self.target.complex_order:
            raise CannotTranslate(f"{self.target.title} does not order complex numbers")
        if self.rule.epilogue is not None:
            return "mul"
        return "add" if self.averages else reduction

    def _combines_bool(self) -> bool:
        """Whether each step combines bool with bool."""
        if self.layout.dtype != "bool" or self.layout.accumulate_dtype is not None:
            return False
        updates = self.update_value
        return updates is None or updates.dtype == "bool" or self.declared.cast

    def _choose_accumulator_dtype(self) -> str:
        """The type that the reduction runs in."""
        layout = self.layout
        if self.combines_bool and layout.reduction != "none":
            return "bool" if self.target.bool_reductions and layout.reduction != "sub" else "int32"
        return layout.accumulate_dtype or layout.dtype

    def _choose_op(self) -> tuple[LoweredIndices, ReductionRequest]:
        """The operation that does most of the work, by preference one without anything composed."""
        mean, out = self.layout.reduction == "mean", not self.layout.include_self
        requests = [ReductionRequest(self.reduction)]
        is_own_type = self.accumulator_dtype == self.layout.dtype
        if is_own_type and (mean or (out and self.reduction != "none")):
            requests.insert(0, ReductionRequest(self.reduction, mean, out))
        if self.reduction == "sub":
            requests.append(ReductionRequest("add"))
        for request in requests:
            word = load_language(self.target.name).words.get(request.op, request.op)
            ops = self.target.ops("scatter")
            named = (native._replace(name=native.name.replace("{word}", word)) for native in ops)
            able = [native for native in named if self._is_able(native, request)]
            indices = self.lowering.lower(able)
            if indices is not None:
                self.composed |= indices.native.form == "rows" or request.op != self.reduction
                return indices, request
        raise CannotTranslate(f"{self.target.title} has no scatter with {self.reduction}")

    def _is_able(self, native: NativeOp, request: ReductionRequest) -> bool:
        truncates = native.truncates_mean and self.layout.dtype in INTEGERS
        if request.mean and (truncates or "mean" not in native.reductions):
            return False
        if request.leaves_out and not native.has_attribute("include_self", "use_init_val"):
            return False
        return request.op in native.reductions

    def _emit_composed(self, form: str, x: Value, /, *others: Value, **facts: object) -> Value:
        self.composed = True
        return self.steps.apply(form, x, *others, **facts)

    def _cast(self, x: Value, dtype: str) -> Value:
        self.composed |= x.dtype != dtype
        return self.steps.cast(x, dtype)

    def _replace_cells(self, x: Value, mask: Value, op: str) -> Value:
        """What changes nothing under a reduction where a mask is true, else x."""
        return self._emit_composed("replaced", x, mask, fill=reduction_identity(op, x.dtype))

    def _emit_base(self) -> Value:
        """What is written into, in the working type."""
        shape, dtype = self.layout.view_shape, self.accumulator_dtype
        if self.data is None:
            return self.steps.full(shape, self.layout.fill_value, dtype, "output")
        return self._cast(self.steps.reshape(self.data, shape), dtype)

    def _emit_updates(self) -> Value:
        """The values to write, fitted to the shape of the result and in the working type."""
        steps, declared = self.steps, self.declared
        shape, dtype = self.layout.result_shape, self.accumulator_dtype
        if self.update_value is None:
            value = cast_number(declared.value, self.layout.dtype)
            return steps.full(shape, value, dtype, "updates")
        updates = fit_updates(steps, self.update_value, declared.fit, shape)
        if updates.dtype != dtype:
            self._check_cast(updates.dtype)
            updates = steps.cast(updates, dtype)
        if declared.scale is not None:
            factor = Constant(cast_number(declared.scale, dtype), dtype)
            updates = self._emit_composed("times", updates, factor=factor)
        return self._neutralize_nan(updates)

    def _check_cast(self, dtype: str) -> None:
        """Where each step runs in a wider type than data's, only whole conversions are the same."""
        layout = self.layout
        if self.declared.cast or layout.reduction == "none" or layout.accumulate_dtype is not None:
            return
        if np.can_cast(parse_dtype(dtype), parse_dtype(self.accumulator_dtype), "safe"):
            return
        types = f"{layout.dtype} and {dtype}, and its result is cut to {layout.dtype}"
        raise CannotTranslate(f"every step runs in the type of {types}")

    def _neutralize_nan(self, updates: Value) -> Value:
        """NaN that must not win becomes what changes nothing, where the target lets NaN win."""
        loses = self.lowering.analysis.has_losing_nan and self.target.propagates_nan is not False
        if not loses or self.layout.reduction not in ("max", "min"):
            return updates
        nan = self.steps.add("is_nan", updates.name, updates.shape, "bool", updates)
        return self._replace_cells(updates, nan, self.reduction)

    def _emit_scatter(
        self, indices: LoweredIndices, base: Value, updates: Value, request: ReductionRequest
    ) -> Value:
        """What `base` is after the updates were written to their cells."""
        steps, shape, name = self.steps, base.shape, base.name
        base = steps.reshape(base, indices.data_shape)
        whole = base.shape
        if indices.live is not None and indices.native.out_of_bounds is not OutOfBounds.SKIP:
            base = steps.pad(base, indices.spare_axis)
        if indices.entries_first:
            order = self.layout.addressing.result_axes
            updates = steps.transpose(updates, [order.index(at) for at in range(len(order))])
        updates = steps.reshape(updates, indices.value_shape)
        output = steps.add(
            f"put_{indices.opcode}", name if name == "counts" else "output", base.shape, base.dtype,
            base, updates, *indices.operands, op=request.op, mean=request.mean,
            include_self=self.layout.include_self or not request.leaves_out, **indices.facts,
        )  # fmt: skip
        return steps.reshape(steps.crop(output, whole), shape)

    # Compositions.

    def _emit_reduction(
        self, indices: LoweredIndices, base: Value, updates: Value, request: ReductionRequest
    ) -> Value:
        """The scatter in the type of the output; where data are left out, its cells begin with what
        changes nothing. A mean is the sum by the number of terms, integers round down.
        """
        steps, layout = self.steps, self.layout
        divides = self.averages and not request.mean
        request = ReductionRequest("add") if divides else request
        starts_anew = not (layout.include_self or request.leaves_out or layout.reduction == "none")
        if divides or starts_anew:
            adds = "add" in indices.native.reductions
            # What only multiplies counts nothing: there a product of zeros marks touched cells.
            start, term, op = (layout.own_terms, 1, "add") if adds else (1, 0, "mul")
            starts = steps.full(layout.view_shape, start, "int32", "counts")
            terms = steps.full(layout.result_shape, term, "int32", "ones" if adds else "zeros")
            counts = self._emit_scatter(indices, starts, terms, ReductionRequest(op))
            self.composed, mask = True, steps.cast(counts, "bool")
            if starts_anew:
                base = base._replace(name="data")
                replaces = self._replace_cells(base, mask, self.reduction)
                base = replaces if adds else steps.where(mask, base, 1)
            if not layout.own_terms:
                counts = steps.where(mask, counts, 1)
        output = self._emit_scatter(indices, base, updates, request)
        if self.combines_bool and layout.reduction == "sub":
            output = self._emit_composed("mod", output, sizes=Constant(2, output.dtype))
        output = self._cast(output, layout.dtype)
        if not divides:
            return output
        counts = steps.cast(counts, layout.dtype)
        if layout.reduction == "sqrt_n":
            counts = self._emit_composed("sqrt", counts)
        form = "floor_divide" if layout.dtype in INTEGERS else "divide"
        return steps.apply(form, output._replace(name="output"), counts)

    def _emit_product(self, indices: LoweredIndices, updates: Value) -> Value:
        """The product of each cell's updates, which data is divided by, or raised to."""
        steps, layout, data = self.steps, self.layout, self.data
        assert data is not None
        if data.dtype == "bool" or (layout.reduction == "pow" and data.dtype not in FLOATS):
            raise CannotTranslate("powers of all but floats have rules of JAX's own")
        kind = layout.accumulate_dtype or data.dtype
        ones = steps.full(layout.view_shape, 1, kind, "output")
        factors, request = steps.cast(updates, kind), ReductionRequest("mul")
        product = self._emit_scatter(indices, ones, factors, request)
        product = steps.cast(steps.cast(product, data.dtype), layout.dtype)
        data = steps.cast(steps.reshape(data, layout.view_shape), layout.dtype)
        form = "power" if layout.reduction == "pow" else "divide"
        return self._emit_composed(form, data._replace(name="output"), product)


class Translation(Record):
    """A call as steps of a target, and what they do with index numbers.

    `op`: the operation that they are built on, None if nothing is moved.
    """

    analysis: CallAnalysis
    target: TargetFramework
    program: SnippetProgram
    output: Value
    op: NativeOp | None = None
    composed: bool = False
    handlings: tuple[IndexHandling, ...] = ()


def translate_call(analysis: CallAnalysis, target: TargetFramework) -> Translation:
    """The call as steps of the target; CannotTranslate tells why there are none."""
    layout = analysis.layout
    if layout.fold is not None:
        raise CannotTranslate("gscli writes no lines for a gather that computes with what it reads")
    lowering, composed = IndexLowering(analysis, target), False
    steps = lowering.steps
    if layout.is_noop:
        output = steps.full(layout.output_shape, layout.fill_value, layout.dtype, "output")
        if layout.kind == "scatter" and "data" in lowering.inputs:
            output = steps.cast(lowering.inputs["data"], layout.dtype)
            output = steps.reshape(output, layout.output_shape)
        eliminate_dead_code(steps, output)
        return Translation(analysis, target, steps, output)
    if layout.kind == "gather":
        output, indices = emit_gather(lowering)
    else:
        scatter = ScatterLowering(lowering)
        output, indices = scatter.lower()
        composed = scatter.composed
    composed |= indices.live is not None
    eliminate_dead_code(steps, output)
    handlings = tuple(lowering.handlings)
    return Translation(analysis, target, steps, output, indices.native, composed, handlings)


def eliminate_dead_code(steps: SnippetProgram, output: Value) -> None:
    """Drop steps whose results nobody reads."""
    needed, kept = {output.number}, []
    for step in reversed(steps.steps):
        if step.result.number in needed:
            needed |= {operand.number for operand in step.operands}
            kept.append(step)
    steps.steps[:] = reversed(kept)
