"""What a call does, in one sentence for somebody who has never seen the operator.

Read off the layout, so that every declared operator has one.
"""

from __future__ import annotations

from gscli.layout.axes import Axis
from gscli.layout.layout import Layout
from gscli.traces.trace import Trace
from gscli.views.words.facts import VERBS

_PLANE, _GRID = 3, 2
_SLICES = ("cell", "line", "sheet")


def purpose(trace: Trace) -> str:
    """The sentence, names as the framework has them.

    >>> from gscli.traces.trace import trace
    >>> inputs = {"data": [[1, 2]], "indices": [[0, 1]], "updates": [9]}
    >>> purpose(trace("onnx.scatter_nd", inputs, {"reduction": "add"}))
    'Each row of indices is an address; the update beside it is added to that cell.'
    >>> purpose(trace("onnx.gather", {"data": [[1, 2], [3, 4]], "indices": [1]}))
    'Each number of indices names a row of data; that row is copied to output.'
    """
    layout = trace.layout
    told, thing = _addressed(trace)
    beside = "in the same place" if _own_places(layout) else "beside it"
    if layout.kind == "gather":
        where = " in the same place" if _own_places(layout) else ""
        moved = "its value" if thing == "cell" and not _own_places(layout) else f"that {thing}"
        return f"{told}; {moved} is copied to output{where}."
    updates = layout.updates
    assert updates is not None
    update = f"the update {beside}" if updates.name else f"the value {updates.value}"
    moves = VERBS[layout.reduction].moves
    if layout.reduction in ("max", "min"):
        of = f"the {moves} of itself and {update}"
        return f"{told}; that {thing} keeps {of}."
    if layout.reduction == "sqrt_n":
        return f"{told}; that {thing} becomes the sum of its updates over the root of their number."
    if layout.reduction == "mean":
        itself = "itself and " if layout.include_self else ""
        return f"{told}; that {thing} becomes the mean of {itself}its updates."
    return f"{told}; {update} {moves} that {thing}."


def axis_names(layout: Layout) -> tuple[str, ...]:
    """How the axes of the addressed view are called: rows and columns while there are no more.

    >>> from gscli.traces.trace import trace
    >>> axis_names(trace("onnx.gather", {"data": [[1, 2], [3, 4]], "indices": [1]}).layout)
    ('row', 'col')
    """
    names = _names(layout)
    batches = layout.addressing.window or any(
        column.vector_dim is not None for column in layout.addressing.columns
    )
    return tuple(
        "batch" if batches and _positional(axis) else name
        for name, axis in zip(names, layout.axes, strict=True)
    )


def _names(layout: Layout) -> tuple[str, ...]:
    if layout.view_shape != layout.data_shape:
        return ("cell",) if len(layout.axes) == 1 else _numbered(len(layout.axes))
    names = {1: ("cell",), _GRID: ("row", "col"), _PLANE: ("plane", "row", "col")}
    return names.get(len(layout.axes), _numbered(len(layout.axes)))


def slice_name(sizes: tuple[int, ...]) -> str:
    """What the cells are called that an entry moves together.

    >>> slice_name((1, 1)), slice_name((4,)), slice_name((2, 3)), slice_name((2, 2, 2))
    ('cell', 'line', 'sheet', 'cuboid')
    """
    rank = sum(size != 1 for size in sizes)
    return _SLICES[rank] if rank < len(_SLICES) else "cuboid"


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"axis {number}" for number in range(count))


def _own_places(layout: Layout) -> bool:
    """Whether an index takes its other coordinates from where it stands, as the elements do."""
    return any(_positional(axis) for axis in layout.axes) and not layout.addressing.window


def _positional(axis: Axis) -> bool:
    return axis.column is None and axis.entry is not None


def _addressed(trace: Trace) -> tuple[str, str]:
    """How the sentence begins, and what an index names."""
    layout = trace.layout
    columns = layout.addressing.columns
    source = layout.index_inputs[0] if layout.index_inputs else "indices"
    thing = slice_name(layout.addressing.window)
    if any(axis.span > 1 and axis.column is not None for axis in layout.axes):
        told, thing = f"Each entry of {source} says where a window begins", "window"
    elif len(layout.index_inputs) > 1:
        told = f"Numbers that stand together in {' and '.join(layout.index_inputs)} are an address"
    elif columns and columns[0].vector_dim is not None:
        told = _vector(trace, source)
    elif layout.view_shape != layout.data_shape:
        told = f"Each number of {source} counts through the cells of {layout.data or 'output'}"
    elif not columns:
        told = "Every entry has its own place"
    else:
        return _number(layout, source)
    return told, thing


def _vector(trace: Trace, source: str) -> str:
    layout, rank = trace.layout, len(trace.inputs[source].shape)
    last = layout.addressing.columns[0].vector_dim == rank - 1
    whole = f"Each {'row' if last else 'column'} of {source} is" if rank > 1 else f"{source} is"
    batch = " within its own batch" if any(map(_positional, layout.axes)) else ""
    return f"{whole} an address{batch}"


def _number(layout: Layout, source: str) -> tuple[str, str]:
    """Numbers that stand alone, each for a coordinate on one axis."""
    axis, names = layout.column_axes[0], _names(layout)
    if _own_places(layout):
        return _element(source, axis, names), "cell"
    data = layout.data or "output"
    if len(names) <= _GRID:
        word = {"col": "column"}.get(names[axis], names[axis])
        return f"Each number of {source} names a {word} of {data}", word
    batch = " in its own batch" if any(map(_positional, layout.axes)) else ""
    return f"Each number of {source} names a slice on axis {axis} of {data}{batch}", "slice"


def _element(source: str, axis: int, names: tuple[str, ...]) -> str:
    """The elements: one coordinate is the number, the others are where the number stands."""
    if len(names) == _GRID:
        word, other = ("row", "column") if axis == 0 else ("column", "row")
        return f"Each number of {source} names a {word}, in the {other} where it stands"
    return f"Each number of {source} is a coordinate on axis {axis}, the others are its own place's"
