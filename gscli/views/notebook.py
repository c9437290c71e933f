"""Pictures where Python itself shows values: notebooks (`_repr_html_`), rich (`__rich__`), text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from itertools import chain, repeat
from typing import Any

from gscli.base import Notice
from gscli.base.arrays import as_array
from gscli.frameworks.execute import PYTHON_HINTS, translate_notice
from gscli.lab.answers import ComparisonResult
from gscli.lab.compare import compare as lab_compare
from gscli.traces import Trace
from gscli.traces import trace as trace_run
from gscli.traces.check import CheckFinding
from gscli.traces.check import check as trace_check
from gscli.views.lines import Drawing, wrap_paragraph
from gscli.views.look import ViewOptions
from gscli.views.picture import Picture
from gscli.views.terminal.compare import ComparisonView
from gscli.views.terminal.tables import make_tensor_drawing


class Displayed:
    """What a call returns, and draws itself in a notebook and through rich."""

    def __rich__(self) -> Drawing:
        return show(self)

    def _repr_html_(self) -> str:
        return show(self)._repr_html_()


class DisplayedTrace(Displayed, Trace):
    """A trace that draws itself."""

    @cached_property
    def warnings(self) -> tuple[Notice, ...]:
        """What the rules allow and may still surprise, its hints in Python's words."""
        return tuple(map(translate_notice, super().warnings))


class DisplayedComparison(Displayed, ComparisonResult):
    """A comparison that draws itself."""


class DisplayedFindings(Displayed, list[CheckFinding]):
    """Findings, each a line where they are drawn."""


def _display(call: Callable[..., Any], convert: Callable[[Any], Any]) -> Callable[..., Any]:
    """The call, whose result draws itself; type checkers are told of the call itself.

    Hints of the shell become those of Python.
    """

    @wraps(call)
    def run(*args: object, **named: object) -> Any:
        with PYTHON_HINTS:
            return convert(call(*args, **named))

    return run


trace = _display(trace_run, lambda run: DisplayedTrace(run.operator, run.plan, run.output))
compare = _display(lab_compare, lambda result: DisplayedComparison(**vars(result)))
check = _display(trace_check, DisplayedFindings)


def show(
    array: object,
    *,
    name: str = "array",
    slice: str | None = None,  # noqa: A002  the word of the command line
    width: int = 100,
) -> Drawing:
    """Draw an array, or anything NumPy makes one of, as `gscli show` does; or a trace's picture.

    A comparison and the findings of `check` are drawn as their commands do.

    `slice` shows a part ("0,:,::2"). Raises ContentRefused for ragged lists, UsageError for a slice
    of another rank.

    >>> show([0.5, float("nan")], name="x")
    x  float64 [2]
      0    1
    0.5  nan
    """
    options = ViewOptions(width=width, slice=None if slice is None else str(slice), hints=False)
    if isinstance(array, Trace):
        return Picture(array, options)
    if isinstance(array, ComparisonResult):
        return ComparisonView(array, options)
    if isinstance(array, DisplayedFindings):
        texts = [finding.text() for finding in array] or ["no findings"]
        return Drawing(options, lambda room: [*chain(*map(wrap_paragraph, texts, repeat(room)))])
    return make_tensor_drawing(str(name), as_array(array, str(name)), options)
