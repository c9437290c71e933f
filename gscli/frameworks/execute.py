"""Operator + arrays -> plan and output. What the command line, Python callers and cases all use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gscli.base.arrays import Array, as_array
from gscli.base.errors import (
    GscliError,
    IndexTypeRefused,
    LimitRefused,
    UpdatesTypeRefused,
    UsageError,
)
from gscli.declare.signature import Signature
from gscli.files import mapped
from gscli.frameworks.notices import warn
from gscli.plan.inputs import planned
from gscli.plan.plan import JudgedPlan, Plan
from gscli.plan.typing import Inputs, settle_types


def call(operator: Signature, inputs: Sequence[object], attrs: Mapping[str, object]) -> Array:
    """The Python callable of an operator: inputs by position, or by name among the keywords."""
    names, many = operator.input_names, operator.many
    if len(inputs) > len(names):
        raise UsageError(
            f"{operator.full_name} takes {len(names)} inputs, got {len(inputs)}",
            valid=" ".join(names),
        )
    named = dict(zip(names, inputs, strict=False))
    if len(inputs) < len(names) and attrs:
        named.update({name: attrs[name] for name in names[len(inputs) :] if name in attrs})
        attrs = {name: value for name, value in attrs.items() if name not in named}
    group = named.pop(many) if many in named else ()
    parts = group if isinstance(group, tuple) else (group,)
    present = {key: value for key, value in named.items() if value is not None}
    present.update({f"{many}_{number}": part for number, part in enumerate(parts)})
    try:
        plan, output = execute(operator, present, attrs)
    except (IndexTypeRefused, UpdatesTypeRefused) as refusal:
        plan, output = execute(operator, _settled(operator, present, attrs, refusal), attrs)
    warn(operator, plan, stacklevel=4)
    return output


def _settled(
    operator: Signature,
    given: Mapping[str, object],
    attrs: Mapping[str, object],
    refusal: GscliError,
) -> Mapping[str, object]:
    """The inputs with lists in the types that the operator wants, as a shell gives them.

    Raises the refusal where an array has another type: what has a type keeps it.
    """
    typed = {name: hasattr(value, "dtype") for name, value in given.items()}
    if all(typed.values()) or set(given) != set(operator.input_names[: len(given)]):
        raise refusal
    arrays = {name: as_array(value, name) for name, value in given.items()}
    inputs = Inputs(arrays, dict.fromkeys(arrays, "inline"), typed)
    settle_types(operator, inputs, attrs, strict=True)
    return inputs.arrays


def execute(
    operator: Signature,
    inputs: Mapping[str, object],
    attrs: Mapping[str, object],
    *,
    max_bytes: int | None = None,
    overlay: bool = False,
    planner: Callable[..., Plan] = planned,
) -> tuple[JudgedPlan, Array]:
    """Judge, plan and run one call: its plan and its output. Raises GscliError alone.

    With `overlay`, the output of a scatter into a large mapped file has the file's own pages where
    nothing is written: for callers that are done with it before the file changes. `planner` is
    `plan_of` for callers who have put masks in their places.
    """
    try:
        plan = planner(operator, inputs, attrs, max_bytes=max_bytes).judged(late=True)
        return plan, _output(plan, overlay=overlay)
    except MemoryError as error:
        raise LimitRefused(
            "not enough memory for this",
            where=operator.full_name,
            hint="use .npy files and -o, which are streamed",
        ) from error


def _output(plan: JudgedPlan, *, overlay: bool) -> Array:
    layout = plan.layout
    data = plan.inputs[layout.data] if layout.data is not None else None
    if data is not None and layout.data_shape != data.shape:
        data = data.reshape(layout.data_shape)
    if layout.kind == "gather":
        assert data is not None
        from gscli.kernel.reading import gather  # noqa: PLC0415  only the half that runs

        return gather(plan, data)
    base = mapped.overlay(data) if overlay and data is not None else None
    from gscli.kernel.writing import scatter  # noqa: PLC0415

    return scatter(plan, data, base=base)
