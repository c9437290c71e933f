"""A scatter as steps of one target."""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import dtype_named
from gscli.base.words import COMPLEX, FLOATS, INTEGERS
from gscli.codegen.native import NativeOp
from gscli.codegen.placement import IndexLowering, LoweredIndices
from gscli.codegen.steps import CannotTranslate, Literal, Value
from gscli.codegen.update_steps import Operation, Putting, as_type, fitted, identity
from gscli.kernel.reductions import REDUCTIONS

FOR_BOOL = {"add": "max", "mul": "min", "max": "max", "min": "min", "none": "none", "sub": "add"}
"""What a reduction is for False and True as 0 and 1; sub asks whether their number is odd."""


class Writing(Putting):
    """One scatter for one target; `composed` once it takes more than one operation."""

    def __init__(self, placing: IndexLowering, data: Value | None, updates: Value | None) -> None:
        super().__init__(placing)
        self.data, self.given = data, updates
        self.rule = REDUCTIONS.get(self.layout.reduction)
        self.averages = self.rule is not None and self.rule.divisor is not None
        self.op = self._op()
        self.work = self._working_type()

    def output(self) -> tuple[Value, LoweredIndices]:
        """The output, and the place that is written to."""
        place, asked = self._placed()
        base, updates = self._base(), self._updates()
        reduction = self.layout.reduction
        if reduction == "sub" and asked.op == "add" and not self._is_of_bool():
            updates = self._add("negative", updates)
        if self.rule is not None and self.rule.meet is not None:
            found = self._met(place, updates)
        elif self.averages and not asked.mean:
            found = self._mean(place, base, updates)
        else:
            if not self.layout.include_self and reduction != "none" and not asked.leaves_out:
                base = self._from_identity(place, base)
            found = self._narrowed(self.put(place, base, updates, asked))
        return self.steps.reshape(found, self.layout.output_shape), place

    def _op(self) -> str:
        """The reduction as targets know it: bool has only max and min, a mean begins as a sum."""
        reduction = self.layout.reduction
        if self._is_of_bool():
            return FOR_BOOL.get(reduction, reduction)
        complex_order = reduction in ("max", "min") and self.layout.dtype in COMPLEX
        if complex_order and not self.target.complex_order:
            raise CannotTranslate(f"{self.target.title} does not order complex numbers")
        if self.rule is not None and self.rule.meet is not None:
            return "mul"
        return "add" if self.averages else reduction

    def _is_of_bool(self) -> bool:
        """Whether each step combines bool with bool."""
        layout = self.layout
        assert layout.updates is not None
        plain = self.given is None or self.given.dtype == "bool" or layout.updates.cast
        return layout.dtype == "bool" and layout.accumulate is None and plain

    def _working_type(self) -> str:
        """The type that the reduction runs in."""
        layout = self.layout
        if layout.accumulate is not None:
            return layout.accumulate
        if self._is_of_bool() and layout.reduction != "none":
            odd = layout.reduction == "sub"
            return "int32" if odd or not self.target.bool_reductions else "bool"
        return layout.dtype

    def _placed(self) -> tuple[LoweredIndices, Operation]:
        """The operation that does most of the work, by preference one without anything composed."""
        mean, out = self.layout.reduction == "mean", not self.layout.include_self
        alone = (mean or (out and self.op != "none")) and self.work == self.layout.dtype
        wishes = [Operation(self.op, mean, out)] * alone + [Operation(self.op)]
        if self.op == "sub":
            wishes.append(Operation("add"))
        for wish in wishes:
            for native in self.target.writes:
                if self._does(native, wish):
                    count = len(self.steps.steps)
                    place = self.placing.place(native)
                    if place is not None:
                        self.composed |= native.form == "rows" or wish.op != self.op
                        return place, wish
                    del self.steps.steps[count:]
        raise CannotTranslate(f"{self.target.title} has no scatter with {self.op}")

    def _does(self, native: NativeOp, wish: Operation) -> bool:
        floors = not native.cut_mean or self.layout.dtype not in INTEGERS
        able = (native.mean and floors) or not wish.mean
        return wish.op in native.reductions and able and (native.start or not wish.leaves_out)

    def _add(self, form: str, x: Value, /, *others: Value, **facts: object) -> Value:
        self.composed = True
        return self.steps.add(form, x.name, x.shape, x.dtype, x, *others, **facts)

    def _base(self) -> Value:
        """What is written into, in the working type."""
        layout, steps = self.layout, self.steps
        if self.data is None:
            return steps.full(layout.view_shape, layout.fill, self.work, "output")
        data = steps.reshape(self.data, layout.view_shape)
        if data.dtype != self.work:
            self.composed = True
        return steps.cast(data, self.work)

    def _updates(self) -> Value:
        """The values to write, fitted to the shape of the result and in the working type."""
        layout, steps = self.layout, self.steps
        declared = layout.updates
        assert declared is not None
        wanted = layout.result_shape
        if self.given is None:
            value = as_type(declared.value, layout.dtype)
            return steps.full(wanted, value, self.work, "updates")
        found = fitted(self.steps, self.given, declared.fit, wanted)
        if found.dtype != self.work:
            self._castable(found.dtype)
            found = steps.cast(found, self.work)
        if declared.scale is not None:
            factor = Literal(as_type(declared.scale, self.work), self.work)
            found = self._add("times", found, factor=factor)
        return self._comparable(found)

    def _castable(self, dtype: str) -> None:
        """Where each step runs in a wider type than data's, only whole conversions are the same."""
        declared = self.layout.updates
        assert declared is not None
        if declared.cast or self.layout.reduction == "none" or self.layout.accumulate is not None:
            return
        if np.can_cast(dtype_named(dtype), dtype_named(self.work), "safe"):
            return
        raise CannotTranslate(
            f"every step runs in the type of {self.layout.dtype} and {dtype}, "
            f"and its result is cut to {self.layout.dtype}"
        )

    def _comparable(self, updates: Value) -> Value:
        """NaN that must not win becomes what changes nothing, where the target lets NaN win."""
        declared = self.layout.updates
        assert declared is not None
        loses = not declared.nan_wins and self.target.nan_wins is not False
        compared = self.layout.reduction in ("max", "min") and self.placing.meaning.has_nan
        if not (loses and compared) or updates.dtype not in FLOATS:
            return updates
        nan = self._add("is_nan", updates)._replace(dtype="bool")
        self.steps.steps[-1] = self.steps.steps[-1]._replace(result=nan)
        return self._add("replaced", updates, nan, fill=identity(self.op, self.work))

    def _narrowed(self, found: Value) -> Value:
        """The result in the type of the output."""
        layout = self.layout
        if self._is_of_bool() and layout.reduction == "sub":
            found = self._add("mod", found, sizes=Literal(2, found.dtype))
        if found.dtype != layout.dtype:
            self.composed = True
        return self.steps.cast(found, layout.dtype)

    # Compositions.

    def _counted(self, place: LoweredIndices, start: int) -> Value:
        """How many updates each cell gets, and `start`."""
        steps, layout = self.steps, self.layout
        zeros = steps.full(layout.view_shape, start, "int32", "counts")
        ones = steps.full(layout.result_shape, 1, "int32", "ones")
        self.composed = True
        return self.put(place, zeros, ones, Operation("add"))

    def _from_identity(self, place: LoweredIndices, base: Value) -> Value:
        """Data, but the identity where something is written."""
        if "add" not in place.native.reductions:
            raise CannotTranslate(f"{self.target.title} cannot leave data out of {self.op} here")
        touched = self.steps.cast(self._counted(place, 0), "bool")
        begin = identity(self.op, self.work)
        return self.steps.add("replaced", "data", base.shape, base.dtype, base, touched, fill=begin)

    def _mean(self, place: LoweredIndices, base: Value, updates: Value) -> Value:
        """The sum by the number of terms; integers round toward minus infinity."""
        steps, layout = self.steps, self.layout
        counts = self._counted(place, int(layout.include_self))
        if not layout.include_self:
            touched = steps.cast(counts, "bool")
            base = steps.add("replaced", "data", base.shape, base.dtype, base, touched,
                             fill=Literal(0, base.dtype))  # fmt: skip
            counts = steps.where(touched, counts, 1)
        sums = self.put(place, base, updates, Operation("add"))
        sums = steps.cast(sums, layout.dtype)
        counts = steps.cast(counts, layout.dtype)
        if layout.reduction == "sqrt_n":
            counts = self._add("sqrt", counts)
        whole = layout.dtype in INTEGERS
        return steps.add("floor_divide" if whole else "divide", "output", sums.shape, sums.dtype,
                         sums, counts)  # fmt: skip

    def _met(self, place: LoweredIndices, updates: Value) -> Value:
        """The product of each cell's updates, which data is divided by, or raised to."""
        steps, layout, data = self.steps, self.layout, self.data
        assert data is not None
        whole = data.dtype not in (*FLOATS, *COMPLEX)
        if data.dtype == "bool" or (layout.reduction == "pow" and whole):
            raise CannotTranslate("powers of whole numbers and bool have rules of JAX's own")
        self.composed = True
        kind = layout.accumulate or data.dtype
        ones = steps.full(layout.view_shape, 1, kind, "output")
        product = self.put(place, ones, steps.cast(updates, kind), Operation("mul"))
        product = steps.cast(steps.cast(product, data.dtype), layout.dtype)
        data = steps.cast(steps.reshape(data, layout.view_shape), layout.dtype)
        form = "power" if layout.reduction == "pow" else "divide"
        return steps.add(form, "output", data.shape, data.dtype, data, product)
