"""JAX watched: a function's equations are run one by one, and the indices of each are judged.

JAX never refuses: indices outside are clipped, filled or dropped in silence, in jit, grad, vmap,
scan and loops. Each is told at the user's line. All of jax's private names are here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

import jax
import numpy as np
from jax._src import source_info_util
from jax.extend import core

from gscli.base import CaretLine, GscliError
from gscli.frameworks import find_operator
from gscli.traces.check import iter_findings
from gscli.watch.findings import LineHistory, Place, Report, WatchKind, read_line, shorten_path
from gscli.watch.judging import ProgramCall, make_note

P = ParamSpec("P")
R = TypeVar("R")

_MODES = {
    "CLIP": "clip", "FILL_OR_DROP": "fill", "PROMISE_IN_BOUNDS": "promise_in_bounds",
    "ONE_HOT": "clip",
}  # fmt: skip
_SCATTERS = ("scatter", "scatter-add", "scatter-mul", "scatter-min", "scatter-max", "scatter-sub")
_KINDS: dict[str, WatchKind] = {"index": "moved", "moved": "moved", "duplicate": "lost"}


def bind_equation(equation: Any, values: Sequence[Any]) -> ProgramCall | None:
    """A gather, scatter or dynamic slice in our names; None for another equation."""
    name, params = equation.primitive.name, equation.params
    arrays = dict[str, Any]()
    attrs = dict[str, object]()
    if name == "gather" or name in _SCATTERS:
        numbers = params["dimension_numbers"]
        for field in (
            numbers.__dataclass_fields__ if not hasattr(numbers, "_fields") else numbers._fields
        ):
            attrs[field] = tuple(getattr(numbers, field))
        mode = getattr(params["mode"], "name", "")
        attrs["mode"] = "drop" if mode == "FILL_OR_DROP" and name != "gather" else _MODES.get(mode)
        if attrs["mode"] is None:
            del attrs["mode"]
        if name == "gather":
            attrs["slice_sizes"] = tuple(params["slice_sizes"])
            arrays = {"operand": values[0], "start_indices": values[1]}
        else:
            arrays = {"operand": values[0], "scatter_indices": values[1], "updates": values[2]}
        operator = f"jax.lax.{name.replace('-', '_')}"
    elif name in ("dynamic_slice", "dynamic_update_slice"):  # one window that is moved inside
        is_read = name == "dynamic_slice"
        sizes = params["slice_sizes"] if is_read else values[1].shape
        starts = values[1:] if is_read else values[2:]
        if not starts:
            return None
        axes = tuple(range(values[0].ndim))
        arrays = {"operand": values[0], "start_indices": np.array([int(start) for start in starts])}
        attrs = {"offset_dims": axes, "collapsed_slice_dims": (), "start_index_map": axes,
                 "slice_sizes": tuple(sizes), "mode": "clip"}  # fmt: skip
        operator = "jax.lax.gather"
    else:
        return None
    inputs = {key: np.asarray(value) for key, value in arrays.items()}
    return ProgramCall(operator, inputs, attrs, {}, name)


class Interpreter(Report):
    """Runs equations and judges them. What the functions around an equation are, is kept."""

    def __init__(self) -> None:
        super().__init__()
        self._around: list[Any] = []

    def run(self, jaxpr: Any, consts: Sequence[Any], *arguments: Any) -> list[Any]:
        """The values that a jaxpr gives."""
        values = dict(zip(jaxpr.constvars, consts, strict=True))
        values |= dict(zip(jaxpr.invars, arguments, strict=True))

        def read(variable: Any) -> Any:
            return variable.val if isinstance(variable, core.Literal) else values[variable]

        for equation in jaxpr.eqns:
            outputs = self._run_equation(equation, [read(entry) for entry in equation.invars])
            values.update(zip(equation.outvars, outputs, strict=True))
        return [read(entry) for entry in jaxpr.outvars]

    def _run_equation(self, equation: Any, values: list[Any]) -> Sequence[Any]:
        name, params = equation.primitive.name, equation.params
        control = {"cond": self._run_cond, "while": self._run_while, "scan": self._run_scan}
        self._around.append(equation)
        try:
            if name in control:
                return control[name](params, values)
            for key in ("jaxpr", "call_jaxpr", "fun_jaxpr"):  # jit, remat, rules of one's own
                if key in params:
                    return self._run_closed(params[key], *values)
            self._judge(equation, values)
        finally:
            self._around.pop()
        output = equation.primitive.bind(*values, **params)
        return output if equation.primitive.multiple_results else [output]

    def _run_closed(self, jaxpr: Any, *values: Any) -> list[Any]:
        if hasattr(jaxpr, "consts"):
            return self.run(jaxpr.jaxpr, jaxpr.consts, *values)
        return self.run(jaxpr, (), *values)

    def _run_cond(self, params: Mapping[str, Any], values: list[Any]) -> list[Any]:
        return self._run_closed(params["branches"][int(values[0])], *values[1:])

    def _run_while(self, params: Mapping[str, Any], values: list[Any]) -> list[Any]:
        first = params["cond_nconsts"]
        second = first + params["body_nconsts"]
        state = values[second:]
        while bool(self._run_closed(params["cond_jaxpr"], *values[:first], *state)[0]):
            state = self._run_closed(params["body_jaxpr"], *values[first:second], *state)
        return state

    def _run_scan(self, params: Mapping[str, Any], values: list[Any]) -> list[Any]:
        first = params["num_consts"]
        second = first + params["num_carry"]
        consts, carry, columns = values[:first], values[first:second], values[second:]
        rows = []
        order = range(params["length"])
        for step in reversed(order) if params["reverse"] else order:
            parts = [column[step] for column in columns]
            outputs = self._run_closed(params["jaxpr"], *consts, *carry, *parts)
            carry, row = outputs[: len(carry)], outputs[len(carry) :]
            rows.append(row)
        if params["reverse"]:
            rows.reverse()
        return [*carry, *(jax.numpy.stack(column) for column in zip(*rows, strict=True))]

    def _judge(self, equation: Any, values: list[Any]) -> None:
        call = bind_equation(equation, values)
        if call is None:
            return
        self.calls[call.label] += 1
        index = next((name for name in call.inputs if name.endswith("indices")), "")
        self.indices += call.inputs[index].size
        history = LineHistory(self._find_place())
        shape = "×".join(map(str, call.inputs["operand"].shape))
        try:
            for finding in iter_findings(find_operator(call.operator), call.inputs, call.attrs, 1):
                if finding.kind in _KINDS and finding.count == 1:
                    label = f"{call.label} on operand [{shape}], mode {call.attrs.get('mode')}"
                    note = make_note(history, finding.text(), label)
                    self.add(_KINDS[finding.kind], note)
        except GscliError:  # element types that only JAX knows
            self.unjudged["call of another type|calls of other types"] += 1

    def _find_place(self) -> Place:
        """The innermost equation that a line of the user made."""
        for equation in reversed(self._around):
            frame = source_info_util.user_frame(equation.source_info.traceback)
            if frame is not None:
                where = f"{shorten_path(frame.file_name)}:{frame.start_line}"
                text = read_line(frame.file_name, frame.start_line)
                line = CaretLine(text, 0, min(len(text), 60)) if text else None
                return Place(f"{where} in {frame.function_name}", line)
        return Place("no line of the program")


def watch_function(function: Callable[P, R], report: Interpreter) -> Callable[P, R]:
    """A function that runs another one equation by equation and notes what JAX does in silence."""

    def run(*arguments: P.args, **named: P.kwargs) -> R:
        closed, shape = jax.make_jaxpr(function, return_shape=True)(*arguments, **named)
        leaves = jax.tree.leaves((arguments, named))
        values = report.run(closed.jaxpr, closed.consts, *leaves)
        result: R = jax.tree.unflatten(jax.tree.structure(shape), values)
        return result

    return run
