"""What a terminal, a slide and a page show of a trace. Nothing here knows a rule of its own.

Its own face, too: how Python itself shows a run, in a notebook and through rich.
"""

from __future__ import annotations

from gscli import traces
from gscli.base.records import Arguments
from gscli.traces import Trace


class PicturedTrace(Trace):
    """A trace that draws itself. What draws is imported only when it is asked to."""

    def __rich__(self) -> object:
        """The picture of the run, as rich draws it."""
        from gscli.views.notebook import show

        return show(self)

    def _repr_html_(self) -> str:
        """The picture in a notebook."""
        from gscli.views.notebook import show

        return show(self)._repr_html_()


def trace(name: str, inputs: Arguments, attrs: Arguments | None = None) -> PicturedTrace:
    """Run `framework.operator` on arrays by argument name; the trace of what it did.

    >>> trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1]})
    <Trace of onnx.gather, 1 entry, output [1]>
    """
    result = traces.trace(name, inputs, attrs)
    return PicturedTrace(result.operator, result.plan, result.output)
