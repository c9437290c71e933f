"""A call in the steps of a target: the operation it is written with, or why there is none."""

from __future__ import annotations

from gscli.base.arrays import dtype_name
from gscli.base.records import Record
from gscli.codegen.gather_steps import emit_gather
from gscli.codegen.meaning import CallAnalysis
from gscli.codegen.native import NativeOp, TargetFramework
from gscli.codegen.placement import IndexLowering
from gscli.codegen.scatter_steps import ScatterLowering
from gscli.codegen.steps import CannotTranslate, SnippetProgram, Value

DTYPE_WORDS = {"str": "strings", "bool": "bool"}


class Translation(Record):
    """The steps of a call; `native` is None where nothing is moved."""

    program: SnippetProgram
    output: Value
    op: NativeOp | None
    composed: bool


def translate_call(analysis: CallAnalysis, target: TargetFramework) -> Translation:
    """The call as steps of the target; CannotTranslate tells why there are none."""
    check_types(analysis, target)
    steps, layout = SnippetProgram(), analysis.layout
    inputs = {
        name: steps.input(name, array.shape, dtype_name(array.dtype))
        for name, array in analysis.arrays_by_variable.items()
    }
    if layout.is_noop:
        return Translation(steps, _emit_unchanged(analysis, steps, inputs), None, composed=False)
    placing = IndexLowering(analysis, target, steps, inputs)
    if layout.kind == "gather":
        output, place = emit_gather(placing, inputs["data"])
        composed = place.live is not None
    else:
        writing = ScatterLowering(placing, inputs.get("data"), inputs.get("updates"))
        output, place = writing.lower()
        composed = writing.composed
    eliminate_dead_code(steps, output)
    return Translation(steps, output, place.native, composed)


def eliminate_dead_code(steps: SnippetProgram, output: Value) -> None:
    """Drop steps whose results nobody reads."""
    needed, kept = {output.number}, []
    for step in reversed(steps.steps):
        if step.result.number in needed:
            needed |= {operand.number for operand in step.operands}
            kept.append(step)
    steps.steps[:] = reversed(kept)


def _emit_unchanged(
    meaning: CallAnalysis, steps: SnippetProgram, inputs: dict[str, Value]
) -> Value:
    """What comes out where no cell is read or written."""
    layout = meaning.layout
    if layout.kind == "scatter" and "data" in inputs:
        return steps.reshape(inputs["data"], layout.output_shape)
    return steps.full(layout.output_shape, layout.fill_value, layout.dtype, "output")


def check_types(meaning: CallAnalysis, target: TargetFramework) -> None:
    """Raises CannotTranslate where the target has no such element type."""
    named = meaning.arrays_by_variable
    for name in named:
        if name in ("data", "updates"):
            kind = dtype_name(named[name].dtype)
            if kind not in target.dtypes:
                raise CannotTranslate(f"{target.title} has no {DTYPE_WORDS.get(kind, kind)} here")
    if meaning.layout.dtype not in target.dtypes:
        raise CannotTranslate(f"{target.title} has no {meaning.layout.dtype} here")
