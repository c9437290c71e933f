"""Pictures where Python itself shows values: notebooks (`_repr_html_`), rich (`__rich__`), text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

from gscli.base.arrays import as_array
from gscli.lab.answers import ComparisonResult
from gscli.lab.compare import compare as lab_compare
from gscli.traces import Trace
from gscli.traces.check import CheckFinding
from gscli.traces.check import check as trace_check
from gscli.views.lines import Drawing, to_rich_style
from gscli.views.look import PLAIN, Style, ViewOptions
from gscli.views.markup import escape
from gscli.views.picture import make_picture
from gscli.views.terminal.compare import ComparisonView
from gscli.views.terminal.tables import make_tensor_drawing

WIDTH = 100
_PRE = "line-height:1.3;font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;overflow-x:auto"


class DisplayedDrawing:
    """A drawing that displays itself: in a notebook, through rich, or as text.

    >>> import numpy as np
    >>> print(show(np.array([[1, 2], [3, 4]]), name="w"))
    w  int64 [2×2]
        0  1
    0 │ 1  2
    1 │ 3  4
    """

    def __init__(self, drawn: Drawing) -> None:
        self._drawn = drawn

    def __rich__(self) -> Drawing:
        return self._drawn

    def _repr_html_(self) -> str:
        """The drawing as one `<pre>` element; text is escaped, nothing is loaded."""
        return format_preformatted(
            "".join(_format_span(*run) for run in line) for line in self._drawn.render_lines()
        )

    def __str__(self) -> str:
        return "\n".join("".join(text for text, _ in line) for line in self._drawn.render_lines())

    __repr__ = __str__


class Displayed:
    """What a call returns, and draws itself in a notebook and through rich."""

    def __rich__(self) -> Drawing:
        return show(self).__rich__()

    def _repr_html_(self) -> str:
        return show(self)._repr_html_()


class DisplayedComparison(Displayed, ComparisonResult):
    """A comparison that draws itself."""


class DisplayedFindings(Displayed, list[CheckFinding]):
    """Findings, each a line where they are drawn."""


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _display(
    call: Callable[Arguments, Result], convert: Callable[[Result], Result]
) -> Callable[Arguments, Result]:
    """The call, whose result draws itself."""

    @wraps(call)
    def run(*args: Arguments.args, **named: Arguments.kwargs) -> Result:
        return convert(call(*args, **named))

    return run


compare = _display(lab_compare, lambda result: DisplayedComparison(**vars(result)))
check = _display(trace_check, DisplayedFindings)


def show(
    array: object,
    *,
    name: str = "array",
    slice: str | None = None,  # noqa: A002  the word of the command line
    width: int = WIDTH,
) -> DisplayedDrawing:
    """Draw an array, or anything NumPy makes one of, as `gscli show` does; or a trace's picture.

    A comparison and the findings of `check` are drawn as their commands do.

    `slice` shows a part ("0,:,::2"). Raises ContentRefused for ragged lists, UsageError for a slice
    of another rank.

    >>> show([0.5, float("nan")], name="x")
    x  float64 [2]
      0    1
    0.5  nan
    """
    options = ViewOptions(width=width, slice=slice)
    if isinstance(array, Trace):
        return DisplayedDrawing(make_picture(array, options))
    if isinstance(array, ComparisonResult):
        return DisplayedDrawing(ComparisonView(array, options))
    if isinstance(array, DisplayedFindings):
        findings = [[(finding.text(), PLAIN)] for finding in array] or [[("no findings", PLAIN)]]
        return DisplayedDrawing(Drawing(lambda _: findings, options))
    return DisplayedDrawing(make_tensor_drawing(name, as_array(array, name), options))


def format_preformatted(lines: Iterable[str]) -> str:
    """Escaped lines as one `<pre>` element."""
    return f'<pre style="{_PRE}">' + "\n".join(lines) + "</pre>"


def _format_span(text: str, style: Style) -> str:
    if style == PLAIN:
        return escape(text)
    return f'<span style="{escape(to_rich_style(style).get_html_style())}">{escape(text)}</span>'
