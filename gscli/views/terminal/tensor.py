"""One tensor alone, as `gscli show` prints it."""

from __future__ import annotations

from gscli.base.arrays import Array
from gscli.views.lines import Drawn
from gscli.views.options import ViewOptions
from gscli.views.style import Line
from gscli.views.terminal.flow import flow
from gscli.views.terminal.group import check_slice, draw_group
from gscli.views.terminal.subject import Subject


def tensor_picture(name: str, array: Array, options: ViewOptions) -> TensorPicture:
    """Name, dtype, shape and the cells that fit; UsageError for a slice of another rank.

    >>> import numpy as np
    >>> from gscli.views.lines import render
    >>> options = ViewOptions(color="none")
    >>> print(render(tensor_picture("w", np.array([[1, 2], [3, 4]]), options), options), end="")
    w  int64 [2×2]
        0  1
    0 │ 1  2
    1 │ 3  4
    """
    if options.slice is not None:
        check_slice(options.slice, [array.shape])
    return TensorPicture(name, array, options)


class TensorPicture(Drawn):
    """A tensor as a rich renderable."""

    def __init__(self, name: str, array: Array, options: ViewOptions) -> None:
        super().__init__(options)
        self.name = name
        self.array = array

    def draw(self, width: int) -> list[Line]:
        """Title, planes, rows."""
        subject = Subject(self.name, self.array)
        return flow(draw_group([subject], self.options, width, fill=True).blocks, width)
