"""JAX watched: what a program computes is run primitive by primitive, and its indices are judged.

JAX never refuses: indices outside are clipped, filled or dropped in silence, in jit, grad, vmap,
scan and loops. `jax.disable_jit` has each primitive run where the program calls it, so that it is
seen at the user's line. All of jax's private names are here.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, Self

import jax
import numpy as np
from jax._src import source_info_util
from jax._src.core import EvalTrace

from gscli.base import CaretLine, GscliError
from gscli.base.records import group_pairs
from gscli.frameworks import find_operator
from gscli.frameworks.duplicates import find_duplicate_writers
from gscli.plan import plan_call
from gscli.traces.check import iter_findings
from gscli.watch.findings import (
    LIBRARIES,
    MAX_CARETS,
    LineHistory,
    Place,
    WatchKind,
    find_name,
    read_line,
    shorten_path,
)
from gscli.watch.judging import CallWatch, ProgramCall, SeenCall

JAX = os.path.dirname(jax.__file__)
MODES = {
    "CLIP": "clip", "FILL_OR_DROP": "fill", "PROMISE_IN_BOUNDS": "promise_in_bounds",
    "ONE_HOT": "clip",
}  # fmt: skip

# The primitives that are judged.
PRIMITIVES = (
    "gather", "dynamic_slice", "dynamic_update_slice", "scatter", "scatter-add", "scatter-mul",
    "scatter-min", "scatter-max", "scatter-sub",
)  # fmt: skip
KINDS: dict[str, WatchKind] = {"index": "moved", "moved": "moved", "duplicate": "lost"}

# What runs compiled even so, under vmap.
LOOPS = ("while", "scan", "cond")


def bind_primitive(
    name: str, params: Mapping[str, Any], values: Sequence[Any]
) -> ProgramCall | None:
    """A gather, scatter or dynamic slice in our names; None for another primitive."""
    if name not in PRIMITIVES:
        return None
    operator = find_operator(f"jax.lax.{name.replace('-', '_')}")
    names = operator.input_names
    inputs, attrs = dict(zip(names, values, strict=False)), dict[str, object]()
    if "slice_sizes" in params:
        attrs["slice_sizes"] = tuple(params["slice_sizes"])
    if "dimension_numbers" in params:
        numbers = params["dimension_numbers"]
        fields = getattr(numbers, "_fields", None) or numbers.__dataclass_fields__
        attrs |= {field: tuple(getattr(numbers, field)) for field in fields}
        mode = getattr(params["mode"], "name", "")
        if mode in MODES:
            attrs["mode"] = "drop" if mode == "FILL_OR_DROP" and name != "gather" else MODES[mode]
    else:  # one window, which is moved inside; where it begins are the last values
        starts = [int(start) for start in values[len(names) - 1 :]]
        if not starts:
            return None
        inputs["start_indices"] = np.array(starts)
        attrs["allow_negative_indices"] = False
    arrays = {key: np.asarray(value) for key, value in inputs.items()}
    return ProgramCall(operator.full_name, arrays, attrs, inputs, name)


def _is_value_lost(call: ProgramCall) -> bool:
    """Whether entries that write the same cell bring different values."""
    plan = plan_call(find_operator(call.operator), call.inputs, call.attrs).validate()
    return bool(find_duplicate_writers(plan, 1, skips_equal=True).total)


class JaxWatch(CallWatch):
    """What a block of a JAX program does in silence. Its own thread is watched."""

    folder = JAX + os.sep

    def __init__(self, save: str | None = None) -> None:
        super().__init__(save, JAX)
        self._process, self._eager = EvalTrace.process_primitive, jax.disable_jit()

    def __enter__(self) -> Self:
        thread, process = threading.get_ident(), self._process

        def judge_and_process(
            trace: Any, primitive: Any, values: Any, params: Any, /, *more: Any
        ) -> Any:
            if threading.get_ident() == thread:
                self._judge(primitive.name, params, values)
            return process(trace, primitive, values, params, *more)

        EvalTrace.process_primitive = judge_and_process
        self._eager = jax.disable_jit()
        self._eager.__enter__()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__()
        self._eager.__exit__(*error)
        EvalTrace.process_primitive = self._process

    def _judge(self, name: str, params: Mapping[str, Any], values: Sequence[Any]) -> None:
        if name in LOOPS:
            self.unwatched["loop under vmap|loops under vmap"] += 1
        call = bind_primitive(name, params, values)
        if call is None:
            return
        self.calls[name] += 1
        indices = (array for name, array in call.inputs.items() if name.endswith("indices"))
        self.indices += sum(array.size for array in indices)
        frame = self._places.find_frame(sys._getframe(2))
        seen = SeenCall(call, self._find_history(frame), frame)
        operand = find_name(frame, values[0]) or "operand"
        shape = "×".join(map(str, call.inputs["operand"].shape))
        label = f"{name} on {operand} [{shape}], mode {call.attrs.get('mode', 'clip')}"
        try:
            findings = iter_findings(find_operator(call.operator), call.inputs, call.attrs, 1)
            problems = group_pairs((finding.kind, finding.text()) for finding in findings)
            for kind, texts in problems.items():  # the first, and how many more there are
                if kind in KINDS and (kind != "duplicate" or _is_value_lost(call)):
                    self.note(seen, KINDS[kind], ", and ".join(texts), label)
        except GscliError:  # element types that only JAX knows
            self.unjudged["call of another type|calls of other types"] += 1

    def _find_history(self, frame: FrameType | None) -> LineHistory:
        """The line that is running; in a backward pass, that of the forward call."""
        context = source_info_util._source_info_context.context
        for made in getattr(context.traceback, "frames", ()):
            if not made.file_name.startswith((JAX, *LIBRARIES, "<")):
                where = f"{shorten_path(made.file_name)}:{made.line_num} in {made.function_name}"
                text = read_line(made.file_name, made.line_num)
                line = CaretLine(text, 0, min(len(text), MAX_CARETS)) if text else None
                return LineHistory(Place(f"{where}, in a backward pass", line))
        return self._places.find_history(frame)
