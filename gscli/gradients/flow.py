"""The way back as a run of its own, so that whatever draws a run draws the flow of gradients.

gather                  cotangent is scattered, and added up, to the gradient of data
scatter without data    cotangent is gathered to the gradient of the updates
scatter                 the grid holds the cotangent and becomes the gradient of data; beside
                        each index stands the gradient of its update
"""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import Array
from gscli.gradients import COTANGENT, VALUE
from gscli.gradients.call import Gradients
from gscli.plan.plan import ValidatedPlan, fit_updates
from gscli.traces import Trace, TraceWords


class FlowTrace(Trace):
    """The gradients of a call as a trace; `gradients` is what it draws, `words` what is said."""

    def __init__(self, gradients: Gradients, words: TraceWords) -> None:
        self.gradients, self.words = gradients, words
        run = gradients.trace
        plan, output = _plan_flow(gradients)
        super().__init__(run.operator, plan, output, run.source_names)
        data, updates = _name_values(gradients)
        is_fitted = not data and output.shape != gradients.arrays.get(updates, output).shape
        self.output_name = f"gradient of {data or updates or 'updates'}{' as fitted' * is_fitted}"
        self.is_replayed = run.kind == "gather"
        if plan.layout.data_name is not None:
            self.change_words = (COTANGENT, "gradient")

    @property
    def title(self) -> str:
        """As a shell would say it."""
        return f"grad {super().title}"


def _name_values(gradients: Gradients) -> tuple[str, str]:
    """The names of data and updates that have gradients, empty where they have none."""
    names = gradients.trace.layout.value_names
    data, updates = (name if name in gradients.arrays else "" for name in names)
    return data or "", updates or ""


def _plan_flow(gradients: Gradients) -> tuple[ValidatedPlan, Array]:
    arrays, walk = gradients.arrays, gradients.walk()
    layout, inputs = walk.layout, {**gradients.trace.inputs, COTANGENT: gradients.cotangent}
    if layout.kind == "gather":
        # 0 × -1, of an ignored entry, is drawn as 0, not as -0: 0 is added.
        return walk.plan_write(walk.cell_flow + 0.0), arrays[str(layout.data_name)]
    updates = layout.written_updates
    data, source = _name_values(gradients)
    if not data:
        own = arrays.get(source, np.zeros(layout.result_shape))
        if own.shape != layout.result_shape:  # each update shows what all of its cell have
            own = walk.in_result_order(fit_updates(layout, {source: own}))
        return walk.reader.plan_read(walk.cotangent), own
    if source:
        written = updates._replace(name=f"gradient of {source}", scale=None)
        inputs[str(written.name)] = arrays[source]
    else:
        value = float(arrays.get(VALUE, np.zeros(())))
        written = updates._replace(name=None, value=value, scale=None)
    # A cell that several updates share belongs to none of them alone; the last writer owns its own.
    shared = layout.reduction if layout.reduction == "none" else "max"
    flow = walk.reader.plain_layout._replace(
        dtype="float64", fill_value=0.0, data_name=COTANGENT, updates=written, reduction=shared
    )
    return ValidatedPlan(flow, inputs), arrays[data]
