"""Lines whose gradients are those of the specification's loop, where a framework has others.

One shape for every operator: `find_cells` says to which cell each update goes, and what follows
sees one line of cells and one of updates. The last writer, or the first that equals a maximum, is
selected, so that a framework's own way back gives it the gradient. A product is made factor by
factor, of which each step has the loop's way back: no cell is divided by what it was multiplied by.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np

from gscli.base import UsageError
from gscli.base.arrays import dtype_name
from gscli.base.words import join_lines
from gscli.codegen.analysis import CallAnalysis
from gscli.codegen.code import parse_targets
from gscli.codegen.lowering import (
    cast_number,
    eliminate_dead_code,
    fit_updates,
    reduction_identity,
    translate_call,
)
from gscli.codegen.native import TARGETS
from gscli.codegen.preamble import PreambleWriter
from gscli.codegen.render import SnippetWriter, format_number, load_language
from gscli.codegen.steps import CannotTranslate, Constant, SnippetProgram
from gscli.gradients import VALUE, BackwardWalk
from gscli.gradients.call import Gradients
from gscli.gradients.conventions import LOOP
from gscli.lab.gradient_comparison import ROLES
from gscli.layout.axes import Number, Updates

# What gradients are written for.
BACKWARD_TARGETS = {name: TARGETS[name] for name in ("torch", "jax")}

# The call, the way back, and where the gradient of an input is then.
_RUNS = {
    "torch": ("output = operate({})", "output.backward(cotangent)", "{}.grad"),
    "jax": ("output, walk_back = jax.vjp(operate, {})", "{} = walk_back(cotangent)", "{}_gradient"),
}

_MULTIPLY = {
    "torch": '''
def multiply(held, new, slot):
    """Factors brought to their cells, one after the other; zeros and infinities as in the loop."""
    order = torch.argsort(slot, stable=True)
    turn = torch.empty_like(order)
    turn[order] = torch.arange(len(order)) - torch.searchsorted(slot[order], slot[order])
    for number in range(int(turn.max()) + 1):
        each = slot[turn == number]
        held = held.index_put((each,), held[each] * new[turn == number])
    return held
''',
    "jax": '''
def multiply(held, new, slot):
    """Factors brought to their cells, one after the other; zeros and infinities as in the loop."""
    def step(held, entry):
        at, factor = entry
        return held.at[at].set(held[at] * factor, unique_indices=True), None
    return jax.lax.scan(step, held, (slot, new))[0]
''',
}


def write_programs(gradients: Gradients, names: str, origins: Mapping[str, str]) -> str:
    """A program for each target of a list such as "torch,jax", or all; of several each has a head.

    They have the loop's own gradients, and say where those of the call are others. One that cannot
    be written says why there; UsageError where none can be.
    """
    targets, programs = parse_targets(names, BACKWARD_TARGETS), list[str]()
    refusals, loop = list[UsageError](), Gradients(gradients.trace, gradients.cotangent, LOOP)
    title = gradients.trace.operator.framework.title
    note = [f"# The loop's own gradients; {title} gives others here."] * gradients.differs_from_loop
    for target in targets:
        try:
            lines = [*note, *write_backward(loop, target.name, origins)]
        except UsageError as error:
            refusals.append(error)
            lines = [f"# {error.problem}"]
        programs.append(join_lines([f"# {target.title}", *lines] if len(targets) > 1 else lines))
    if len(refusals) == len(targets):
        raise refusals[0]
    return "\n\n".join(programs)


def write_backward(
    gradients: Gradients, target: str, origins: Mapping[str, str] | None = None
) -> list[str]:
    """A program whose gradients are those of the loop; UsageError where none can be written.

    It loads the inputs, computes the output, walks back from the cotangent and prints the gradient
    of each input. `origins`: where the inputs were read.
    """
    if gradients.trace.layout.fold is not None:
        problem = "no program is written of a gather that computes with what it reads"
        hint = "leave out --code: the gradients themselves are computed"
        raise UsageError(problem, where="--code", hint=hint)
    try:
        return _BackwardWriter(gradients, target).write(origins or {})
    except CannotTranslate as reason:
        title = TARGETS[target].title
        raise UsageError(f"no gradients are written for {title}: {reason}") from None


class _BackwardWriter:
    """One call and one target."""

    def __init__(self, gradients: Gradients, target: str) -> None:
        self.gradients, self.language = gradients, load_language(target)
        self.target, self.module = target, self.language.module
        run = gradients.trace
        self.layout, self.addressing = run.layout, run.layout.addressing
        self.order: list[int] = np.argsort(self.addressing.result_axes).tolist()
        self.kind = "gather" if run.kind == "gather" else run.reduction
        self.analysis = CallAnalysis(run.operator, run.plan)
        self.size, self.count = prod(self.layout.data_shape), prod(self.layout.result_shape)
        kinds = {name: array.dtype.kind for name, array in self.analysis.arrays_by_variable.items()}
        self.names = [name for name in ROLES if kinds.get(name) == "f"]
        self.names += [VALUE] * (VALUE in gradients.arrays)
        if self.kind in ("max", "min") and self.analysis.has_losing_nan:
            raise CannotTranslate("NaN never wins here")
        if self.kind == "pow" and any(np.isnan(flow).any() for flow in gradients.arrays.values()):
            raise CannotTranslate("a power has nan for a gradient")
        if not self.count or not self.size:
            raise CannotTranslate("no cell is moved")

    def write(self, origins: Mapping[str, str]) -> list[str]:
        """All lines."""
        loading = PreambleWriter(self.analysis, origins)
        text = [*self._write_cells(), *self._write_operation(), "", "", *self._write_run(loading)]
        loads = loading.write(self.language, text)
        if VALUE in self.names:
            number = self._number(self.layout.written_updates.value)
            loads.append(f"value = {self.module}.asarray({number}, {self._dtype})")
        if self.target == "torch":
            loads += [f"{name}.requires_grad_()" for name in self.names]
        return [*loads, *text]

    @property
    def _dtype(self) -> str:
        return self._write("typed")

    def _write(self, form: str, *operands: str, **facts: object) -> str:
        """A form of the target's language, in the element type that is computed in."""
        dtype = self.language.dtype(self.layout.dtype)
        return self.language.templates[form].format(*operands, dtype=dtype, **facts)

    def _bring(self, op: str, base: str, values: str) -> str:
        """What `base` is after values were brought to their slots."""
        forms, word = self.language.templates, self.language.words[op]
        form = next(form for form in (f"put_take {op}", "put_take", "put_along") if form in forms)
        facts = {"axis": 0, "slices": "", "word": word, "leave_out": ""}
        return self._write(form, base, values, "slot", **facts)

    def _number(self, value: Number | None) -> str:
        """A number of the element type that is computed in."""
        own = cast_number(value, self.layout.dtype)
        return format_number(Constant(own, self.layout.dtype)).replace("np.", f"{self.module}.")

    def _write_run(self, loading: PreambleWriter) -> list[str]:
        """The output, the cotangent, and the gradients printed."""
        flow = self.gradients.cotangent.astype(self.gradients.trace.output.dtype)
        loads = loading.write_load("cotangent", flow, self.language)
        if (flow == 1).all():
            loads = [f"cotangent = {self.module}.ones_like(output)"]
        call, end, gradient = _RUNS[self.target]
        names = ", ".join(self.names)
        results = "".join(f"{name}_gradient, " for name in self.names).rstrip()
        own = dict(zip(ROLES, self.layout.value_names, strict=True))
        shown = [f"print({own.get(name, name)!r}, {gradient.format(name)})" for name in self.names]
        return [call.format(names), *loads, end.format(results), *shown]

    def _write_cells(self) -> list[str]:
        """The function that finds the cell of each update, and its call."""
        run = self.gradients.trace
        plan = BackwardWalk(run.plan, run.output, self.gradients.cotangent, LOOP).plan_cells()
        analysis = CallAnalysis(run.operator, plan)
        translation = translate_call(analysis, TARGETS[self.target])
        lines = SnippetWriter(translation.program, translation.output, self.language).write()
        order = ""
        if run.kind == "scatter" and self.order != sorted(self.order):
            shape = self.layout.result_shape
            order = self._write("transpose", f".reshape({shape})", perm=tuple(self.order))
        entry = "output" if run.kind == "gather" else "update"
        indices = "".join(f", {name}" for name in analysis.arrays_by_variable if name != "data")
        places = f"{self.module}.arange({self.size}).reshape({self.layout.data_shape})"
        return [
            "", "",
            f"def find_cells(data{indices}):",
            f'    """The number of the cell of each {entry}; -1 for none."""',
            *(f"    {line}" for line in lines),
            "    return output",
            "", "",
            f"cells = find_cells({places}{indices}){order}.reshape(-1)",
            "live = cells >= 0",
            f"slot = {self.module}.where(live, cells, {self.size})  # the last for what has none",
        ]  # fmt: skip

    def _write_operation(self) -> list[str]:
        """The function from data and updates to the output, and what it is made of."""
        steps, layout, m = self._write_steps(), self.layout, self.module
        zeros = f"{m}.zeros({self.size + 1}, {self._dtype})"
        ones = f"{m}.ones({self.count}, {self._dtype})"
        counting = f"counts = {self._bring('add', zeros, ones)}"
        if self.kind not in ("gather", "none") and not layout.include_self:
            identity = self._number(reduction_identity(layout.reduction, layout.dtype).value)
            steps = [counting, f"held = {m}.where(counts > 0, {identity}, held)", *steps]
        elif self.kind in ("mean", "sqrt_n"):
            steps = [counting, *steps]
        lines = [*self._write_start(), *steps]
        end = "held" if self.kind in ("gather", "div", "pow") else "held[:-1]"
        lines.append(f"return {end}.reshape({layout.output_shape})")
        multiplies = self.kind in ("mul", "div", "pow")
        made = _MULTIPLY[self.target].rstrip().split("\n") if multiplies else []
        head = f"def operate({', '.join(self.names)}):"
        return ["", *made, "", "", head, *(f"    {line}" for line in lines)]

    def _write_start(self) -> list[str]:
        """What cells hold at first and what is brought to them, each in one line of numbers."""
        data = "data.reshape(-1)"
        if self.layout.data_name is None:
            fill = self._number(self.layout.fill_value)
            data = f"{self.module}.full(({self.size},), {fill}, {self._dtype})"
        start = f"held = {self._write('append_zero', data)}"
        updates = self.layout.updates
        if updates is None:
            return [start]
        if updates.name is None:
            return [start, f"new = value * {self.module}.ones({self.count}, {self._dtype})"]
        lines = self._fit_updates(updates)
        scaled = f"new = new * {self._number(updates.scale)}"
        return [start, *lines] if updates.scale is None else [start, *lines, scaled]

    def _fit_updates(self, updates: Updates) -> list[str]:
        """The updates as they are written, in the order of the loop."""
        source = self.gradients.trace.inputs[str(updates.name)]
        program, shape = SnippetProgram(), self.addressing.result_shape
        own = program.input("updates", source.shape, dtype_name(source.dtype))
        fitted = program.cast(fit_updates(program, own, updates.fit, shape), self.layout.dtype)
        line = program.transpose(program.reshape(fitted, shape), self.order)
        line = program.reshape(line, (self.count,))
        eliminate_dead_code(program, line)
        *lines, last = SnippetWriter(program, line, self.language).write()
        return [*lines, f"new = {last.removeprefix('output = ')}"]

    def _write_steps(self) -> list[str]:
        """From what cells hold (`held`) and what is brought to them (`new`, in `slot`) to the
        result.
        """
        m, count, layout = self.module, self.count, self.layout
        number, everywhere = f"number = {m}.arange({count})", f"{m}.full(({self.size + 1},), "
        compared = self.kind if self.kind in ("max", "min") else "max"
        best = self._bring(compared, *(self._write("detached", name) for name in ("held", "new")))
        first = self._bring("min", f"{everywhere}{count})", f"{m}.where(holds, number, {count})")
        added, subtracted = (self._bring("add", "held", brought) for brought in ("new", "-new"))
        average = f"held = {added} / {m}.where(counts > 0, counts + {layout.own_terms}, 1)"
        factors = f"{m}.where(live, new, 1)"  # infinity for no cell would flow back as NaN
        product = f"multiply({m}.ones_like(held), {factors}, slot)[:-1]"
        keep_first = [
            f"best = {best}",
            f"own = (held == best) | ({m}.isnan(held) & {m}.isnan(best))",
            *([] if layout.include_self else ["own = own & (counts == 0)"]),
            f"holds = (new == best[slot]) | ({m}.isnan(new) & {m}.isnan(best[slot]))",
            number,
            f"first = {first}",
            f"held = {m}.where(own, held, new[{m}.where(own, 0, first)])",
        ]
        return {
            "gather": [f"held = {m}.where(live, held[slot], {self._number(layout.fill_value)})"],
            "none": [
                number,
                f"last = {self._bring('max', f'{everywhere}-1)', 'number')}",
                f"held = {m}.where(last >= 0, new[{m}.where(last >= 0, last, 0)], held)",
            ],
            "add": [f"held = {added}"],
            "sub": [f"held = {subtracted}"],
            "mul": [f"held = multiply(held, {factors}, slot)"],
            "div": [f"held = held[:-1] / {product}"],
            "pow": [f"held = held[:-1] ** {product}"],
            "mean": [average],
            "sqrt_n": [f"{average} ** 0.5"],
            "max": keep_first,
            "min": keep_first,
        }[self.kind]
