"""The picture of gradients: what flows back, drawn as a run of its own."""

from __future__ import annotations

from gscli.gradients.flow import FlowTrace
from gscli.views.look import Line, ViewOptions
from gscli.views.picture import Picture
from gscli.views.texts import NumberFormat
from gscli.views.words.facts import Describer
from gscli.views.words.gradient_words import describe_purpose, make_flow_remarks


class GradientPicture(Picture):
    """Cotangents on their way to the gradients of the inputs."""

    def __init__(self, flow: FlowTrace, options: ViewOptions) -> None:
        super().__init__(flow, options, title=True, expectation=None)
        self.flow = flow

    def describe_purpose(self) -> str:
        """What flows where."""
        return describe_purpose(self.flow.gradients)

    def render_remarks(self, numbers: NumberFormat, width: int) -> list[Line]:
        """What became of index numbers, and who is given what several could have."""
        from gscli.views.terminal.legend import render_remarks

        remarks = make_flow_remarks(Describer(self.flow, numbers), self.flow, self.marked_entries)
        return render_remarks(remarks, width, self.look)

    def format_counts(self) -> str:
        """Nothing: how many cells changed says little of gradients."""
        return ""
