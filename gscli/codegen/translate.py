"""A call in the steps of a target: the operation it is written with, or why there is none."""

from __future__ import annotations

from gscli.base.arrays import dtype_name
from gscli.base.records import Record
from gscli.codegen.gather_steps import gathered
from gscli.codegen.meaning import Meaning
from gscli.codegen.native import Native, TargetFramework
from gscli.codegen.placement import Placement
from gscli.codegen.scatter_steps import Writing
from gscli.codegen.steps import Impossible, Steps, Value

NAMED = {"str": "strings", "bool": "bool"}


class Translation(Record):
    """The steps of a call; `native` is None where nothing is moved."""

    steps: Steps
    output: Value
    native: Native | None
    composed: bool


def translated(meaning: Meaning, target: TargetFramework) -> Translation:
    """The call as steps of the target. Raises Impossible with the reason where there are none."""
    judge_types(meaning, target)
    steps, layout = Steps(), meaning.layout
    inputs = {
        name: steps.input(name, array.shape, dtype_name(array.dtype))
        for name, array in meaning.named.items()
    }
    if layout.moves_nothing:
        return Translation(steps, _untouched(meaning, steps, inputs), None, composed=False)
    placing = Placement(meaning, target, steps, inputs)
    if layout.kind == "gather":
        found, place = gathered(placing, inputs["data"])
        composed = place.live is not None
    else:
        writing = Writing(placing, inputs.get("data"), inputs.get("updates"))
        found, place = writing.output()
        composed = writing.composed
    pruned(steps, found)
    return Translation(steps, found, place.native, composed)


def pruned(steps: Steps, output: Value) -> None:
    """Drop steps whose results nobody reads."""
    wanted, kept = {output.number}, []
    for step in reversed(steps.steps):
        if step.result.number in wanted:
            wanted |= {operand.number for operand in step.operands}
            kept.append(step)
    steps.steps[:] = reversed(kept)


def _untouched(meaning: Meaning, steps: Steps, inputs: dict[str, Value]) -> Value:
    """What comes out where no cell is read or written."""
    layout = meaning.layout
    if layout.kind == "scatter" and "data" in inputs:
        return steps.reshape(inputs["data"], layout.output_shape)
    return steps.full(layout.output_shape, layout.fill, layout.dtype, "output")


def judge_types(meaning: Meaning, target: TargetFramework) -> None:
    """Raises Impossible where the target has no such element type."""
    named = meaning.named
    for name in named:
        if name in ("data", "updates"):
            kind = dtype_name(named[name].dtype)
            if kind not in target.dtypes:
                raise Impossible(f"{target.title} has no {NAMED.get(kind, kind)} here")
    if meaning.layout.dtype not in target.dtypes:
        raise Impossible(f"{target.title} has no {meaning.layout.dtype} here")
