"""The forms that frameworks have operations for, recognized in a call's addressing."""

from __future__ import annotations

from gscli.base.records import Record
from gscli.layout.axes import Addressing, Axis


class IndexForm(Record):
    """What an operation needs to know: the axis, batch axes, and where vectors lie."""

    axis: int = 0
    batch: int = 0
    vector_dim: int = 0


class Direct(Record):
    """StableHLO's dimension numbers."""

    offset: tuple[int, ...]
    collapsed: tuple[int, ...]
    batching: tuple[int, ...]
    indices_batching: tuple[int, ...]
    index_map: tuple[int, ...]
    vector_dim: int
    slice_sizes: tuple[int, ...]


def take(addressing: Addressing, index_shape: tuple[int, ...]) -> IndexForm | None:
    """Slices along one axis: batch axes first, one column, and all other axes move along."""
    axes, entries = addressing.axes, addressing.entries
    if len(addressing.columns) != 1 or addressing.columns[0].slot is not None:
        return None
    at = next(number for number, axis in enumerate(axes) if axis.column is not None)
    if axes[at].entry is not None or axes[at].window is not None or index_shape != entries:
        return None
    batch = _batch(addressing, at)
    outer = tuple(range(len(entries), len(entries) + at - batch))
    inner = tuple(range(len(entries) + at - batch, len(entries) + at - batch + len(axes) - at - 1))
    order = (*range(batch), *outer, *range(batch, len(entries)), *inner)
    windows = [axis for number, axis in enumerate(axes) if batch <= number != at]
    if not _travel(windows, addressing) or order != addressing.order:
        return None
    return IndexForm(at, batch)


def along(addressing: Addressing, index_shape: tuple[int, ...]) -> IndexForm | None:
    """One index for each cell of the result, which replaces the coordinate on one axis."""
    axes, entries = addressing.axes, addressing.entries
    plain = len(addressing.columns) == 1 and addressing.columns[0].slot is None
    if not plain or addressing.window or len(axes) != len(entries) or index_shape != entries:
        return None
    at = next(number for number, axis in enumerate(axes) if axis.column is not None)
    others = [(number, axis) for number, axis in enumerate(axes) if number != at]
    own = all(axis.entry == number and entries[number] <= axis.size for number, axis in others)
    in_order = addressing.order == tuple(range(len(entries)))
    return IndexForm(at) if own and axes[at].entry is None and in_order else None


def vectors(addressing: Addressing, index_shape: tuple[int, ...]) -> IndexForm | None:
    """Index vectors for the first axes after the batch axes; the others move along."""
    axes, columns, entries = addressing.axes, addressing.columns, addressing.entries
    dims = {column.vector_dim for column in columns}
    sources = {column.source for column in columns}
    if not columns or len(dims) != 1 or len(sources) != 1 or None in dims:
        return None
    (dim,) = dims
    assert dim is not None
    if index_shape != (*entries[:dim], len(columns), *entries[dim:]):
        return None
    batch = _batch(addressing, len(axes) - len(columns))
    addressed = axes[batch : batch + len(columns)]
    if [axis.column for axis in addressed] != list(range(len(columns))):
        return None
    if any(axis.entry is not None or axis.window is not None for axis in addressed):
        return None
    in_order = addressing.order == tuple(range(len(addressing.order)))
    if not in_order or not _travel(axes[batch + len(columns) :], addressing):
        return None
    return IndexForm(batch=batch, vector_dim=dim)


def direct(addressing: Addressing, index_shape: tuple[int, ...]) -> Direct | None:
    """The dimension numbers, where all columns stand in order in one input."""
    columns, axes, entries = addressing.columns, addressing.axes, addressing.entries
    if not columns or len({column.source for column in columns}) != 1:
        return None
    slots = [column.slot for column in columns]
    dim = columns[0].vector_dim if columns[0].vector_dim is not None else len(index_shape)
    if slots not in ([None], list(range(len(columns)))):
        return None
    if index_shape[:dim] + index_shape[dim + 1 :] != entries:
        return None
    windows = [axis.window for axis in axes if axis.window is not None]
    if windows != list(range(len(addressing.window))) or any(
        _is_odd(axis, entries) for axis in axes
    ):
        return None
    entry_order = [at for at in addressing.order if at < len(entries)]
    window_order = [at for at in addressing.order if at >= len(entries)]
    if entry_order != sorted(entry_order) or window_order != sorted(window_order):
        return None
    batching = [number for number, axis in enumerate(axes) if axis.entry is not None]
    of_indices = [_shifted(axes[number].entry, dim) for number in batching]
    mapped = {axis.column: number for number, axis in enumerate(axes)}
    return Direct(
        tuple(number for number, at in enumerate(addressing.order) if at >= len(entries)),
        tuple(n for n, a in enumerate(axes) if a.column is not None and a.window is None),
        tuple(batching),
        tuple(of_indices),
        tuple(mapped[column] for column in range(len(columns))),
        dim,
        tuple(axis.span if axis.window is not None else 1 for axis in axes),
    )


def _is_odd(axis: Axis, entries: tuple[int, ...]) -> bool:
    """An axis that has no term, two of them, or a batch of another size."""
    if axis.entry is not None:
        alone = axis.column is None and axis.window is None
        return not alone or entries[axis.entry] != axis.size
    return axis.column is None and axis.window is None


def _shifted(entry: int | None, dim: int) -> int:
    assert entry is not None
    return entry + (entry >= dim)


def _batch(addressing: Addressing, most: int) -> int:
    """How many leading axes are batch axes."""
    count = 0
    for number, axis in enumerate(addressing.axes[:most]):
        alone = axis.column is None and axis.window is None
        if not alone or axis.entry != number or addressing.entries[number] != axis.size:
            break
        count += 1
    return count


def _travel(axes: list[Axis] | tuple[Axis, ...], addressing: Addressing) -> bool:
    """Whether these axes, and no other windows, move along whole and in order."""
    if [axis.window for axis in axes] != list(range(len(addressing.window))):
        return False
    return all(
        axis.column is None and axis.entry is None and axis.span == axis.size for axis in axes
    )


def traveling(addressing: Addressing) -> int:
    """How many of the last axes move along whole, as the last axes of the window."""
    count = 0
    for axis in reversed(addressing.axes):
        wanted = len(addressing.window) - 1 - count
        alone = axis.column is None and axis.entry is None
        if not alone or axis.window != wanted or axis.span != axis.size or wanted < 0:
            break
        count += 1
    return count
