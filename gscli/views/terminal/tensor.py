"""One tensor alone, as `gscli show` prints it."""

from __future__ import annotations

import numpy as np

from gscli.base.arrays import Array
from gscli.views.choices import check_size, check_slice, parse_slice
from gscli.views.group import render_tensors
from gscli.views.lines import FunctionDrawing, flow_blocks
from gscli.views.look import ViewOptions
from gscli.views.subject import TensorView
from gscli.views.texts import choose_number_format
from gscli.views.words.vocabularies import TOLD_CELLS, describe_tensor


def make_tensor_drawing(name: str, array: Array, options: ViewOptions) -> FunctionDrawing:
    """Name, dtype, shape and the cells that fit; UsageError for a slice of another rank.

    >>> import numpy as np
    >>> from gscli.views.lines import render_text
    >>> options = ViewOptions(color="none")
    >>> print(
    ...     render_text(make_tensor_drawing("w", np.array([[1, 2], [3, 4]]), options), options),
    ...     end="",
    ... )
    w  int64 [2×2]
        0  1
    0 │ 1  2
    1 │ 3  4
    """
    check_size(options, 0, [array.size])
    if options.slice is not None:
        check_slice(options.slice, [array.shape])
    subject = TensorView(name, array)
    return FunctionDrawing(
        lambda width: flow_blocks(
            render_tensors([subject], options, width, fill=True).blocks, width
        ),
        options,
    )


def format_tensor_text(name: str, array: Array, options: ViewOptions) -> str:
    """The tensor in sentences of ASCII, values row by row: for screen readers and grep.

    >>> import numpy as np
    >>> print(format_tensor_text("w", np.array([[1, 2], [3, 4]]), ViewOptions()), end="")
    w is int64 with shape [2,2].
    w[0,:] is 1, 2.
    w[1,:] is 3, 4.
    """
    if options.slice is not None:
        check_slice(options.slice, [array.shape])
        part = parse_slice(options.slice, array.shape)
        array = array[np.ix_(*part)] if part else array
        name = f"{name}[{options.slice}]"
    plain = options._replace(utf8=False)
    numbers = choose_number_format([array] if array.size <= TOLD_CELLS else [], plain)
    lines = describe_tensor(numbers.signs.sanitize(name), array, numbers)
    return "".join(numbers.signs.sanitize_line(line) + "\n" for line in lines)
