"""Which of the families' forms an addressing has, whoever built it.

Dimension numbers are the form that says the most. They are read off the axes and held against what
`gscli.layout.families` builds of them, so that there is one rule for each form and not two.
"""

from __future__ import annotations

from collections.abc import Sequence

from gscli.base.records import Record
from gscli.layout.axes import Addressing, Axis, Column, Shape, Tensor
from gscli.layout.families import DimensionNumbers, address_axis, address_elements, address_vectors
from gscli.layout.forms import count_batch_axes


class IndexForm(Record):
    """The axis that an index addresses, how many batch axes lead, and where vectors lie.

    `numbers`: the dimension numbers, where they are what was matched.
    """

    axis: int = 0
    batch: int = 0
    vector_dim: int = 0
    numbers: DimensionNumbers | None = None


def match_along_axis(addressing: Addressing, index_shape: Shape) -> IndexForm | None:
    """The form of an addressing that is `address_axis` on indices of this shape, else None.

    >>> data, indices = Tensor("d", (2, 5, 3), "int8"), Tensor("i", (2, 4), "int64")
    >>> match_along_axis(address_axis(data, indices, 1, 1), (2, 4))
    IndexForm(axis=1, batch=1, vector_dim=0, numbers=None)
    """
    axis = _addressed_axis(addressing)
    if axis is None or index_shape != addressing.entry_shape:
        return None
    batch = min(count_batch_axes(addressing), axis)
    rebuilt = address_axis(*_specs(addressing, index_shape), axis, batch)
    return IndexForm(axis, batch) if addressing == rebuilt else None


def match_elements(addressing: Addressing, index_shape: Shape) -> IndexForm | None:
    """The form of an addressing that is `address_elements` on indices of this shape, else None.

    >>> data, indices = Tensor("d", (3, 5), "int8"), Tensor("i", (2, 9), "int64")
    >>> match_elements(address_elements(data, indices, 1), (2, 9))
    IndexForm(axis=1, batch=0, vector_dim=0, numbers=None)
    """
    axis = _addressed_axis(addressing)
    sizes = [entry.size for entry in addressing.axes]
    pairs = enumerate(zip(sizes, index_shape, strict=False))
    fits = all(extent <= size or at == axis for at, (size, extent) in pairs)
    if axis is None or len(index_shape) != len(sizes) or not fits:
        return None
    rebuilt = address_elements(*_specs(addressing, index_shape), axis)
    return IndexForm(axis) if addressing == rebuilt else None


def match_vectors(addressing: Addressing, index_shape: Shape) -> IndexForm | None:
    """The form of an addressing that is `address_vectors` on indices of this shape, else None.

    >>> data, indices = Tensor("d", (2, 5, 3), "int8"), Tensor("i", (7, 2), "int64")
    >>> match_vectors(address_vectors(data, indices), (7, 2))
    IndexForm(axis=0, batch=0, vector_dim=1, numbers=None)
    """
    length = len(addressing.columns)
    dim = addressing.columns[0].vector_dim if length else None
    if dim is None or index_shape != _with_vectors(addressing, dim):
        return None
    batch = min(count_batch_axes(addressing), len(addressing.axes) - length)
    rebuilt = address_vectors(*_specs(addressing, index_shape), batch, vector_dim=dim)
    return IndexForm(batch=batch, vector_dim=dim) if addressing == rebuilt else None


def match_windows(addressing: Addressing, index_shape: Shape) -> IndexForm | None:
    """The form of an addressing that is `windows` on indices of this shape, else None."""
    numbers = find_dimension_numbers(addressing, index_shape)
    return numbers and IndexForm(vector_dim=numbers.index_vector_dim, numbers=numbers)


def find_dimension_numbers(addressing: Addressing, index_shape: Shape) -> DimensionNumbers | None:
    """The dimension numbers of an addressing on indices of this shape, None where it has none.

    The slice sizes that belong to them are the spans of its axes.

    >>> data, indices = Tensor("d", (2, 5, 3), "int8"), Tensor("i", (7,), "int64")
    >>> numbers = find_dimension_numbers(address_axis(data, indices, 1), (7,))
    >>> numbers.offset, numbers.collapsed, numbers.index_map
    ((0, 2), (1,), (1,))
    """
    axes, entries = addressing.axes, addressing.entry_shape
    dim = _vector_dim(addressing, index_shape)
    if dim is None or any(map(_is_general, axes)):
        return None
    batching = tuple(at for at, axis in enumerate(axes) if axis.is_positional)
    grid = [axes[at].entry or 0 for at in batching]
    if any(entries[entry] != axes[at].size for entry, at in zip(grid, batching, strict=True)):
        return None
    addressed = {axis.column: at for at, axis in enumerate(axes)}
    offset = tuple(place for place, at in enumerate(addressing.result_axes) if at >= len(entries))
    rest = (at for at, axis in enumerate(axes) if axis.window is None and not axis.is_positional)
    both = batching, tuple(entry + (entry >= dim) for entry in grid)
    index_map = tuple(addressed[column] for column in range(len(addressing.columns)))
    numbers = DimensionNumbers(offset, tuple(rest), *both, index_map, dim)
    rebuilt = numbers.address(*_specs(addressing, index_shape), [axis.span for axis in axes])
    return numbers if addressing == rebuilt else None


def _specs(addressing: Addressing, index_shape: Shape) -> tuple[Tensor, Tensor]:
    """Data and indices, as far as a family builds an addressing of them."""
    data = Tensor("", tuple(axis.size for axis in addressing.axes), "")
    column = addressing.columns[0] if addressing.columns else Column("", "")
    return data, Tensor(column.source, index_shape, column.dtype)


def _addressed_axis(addressing: Addressing) -> int | None:
    """The axis that single index numbers address, None where there is none or several."""
    columns = addressing.columns
    if len(columns) != 1 or columns[0].component is not None:
        return None
    return next(at for at, axis in enumerate(addressing.axes) if axis.column is not None)


def _vector_dim(addressing: Addressing, index_shape: Shape) -> int | None:
    """Where vectors lie in indices of this shape; None where the entries are not theirs."""
    columns, rank = addressing.columns, len(index_shape)
    declared = rank if not columns or columns[0].vector_dim is None else columns[0].vector_dim
    # Without a column the vectors are empty, and nothing says along which axis they are.
    dims: Sequence[int] = [declared] if columns else range(rank - 1, -1, -1)
    return next((dim for dim in dims if index_shape == _with_vectors(addressing, dim)), None)


def _with_vectors(addressing: Addressing, dim: int) -> Shape:
    """The shape of indices whose vectors lie along `dim`; at their rank there are no vectors."""
    entries, length = addressing.entry_shape, len(addressing.columns)
    is_single = length == 1 and addressing.columns[0].component is None
    return entries if is_single else (*entries[:dim], length, *entries[dim:])


def _is_general(axis: Axis) -> bool:
    """Whether no dimension numbers say what an axis does: it has no term, or adds the entry's."""
    if axis.entry is None:
        return axis.column is None and axis.window is None
    return not axis.is_positional
