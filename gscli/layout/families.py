"""The four ways in which the field's operators address data: arguments to `Addressing`.

    along_axis   Gather, take, index_select, ScatterUpdate    one index replaces one coordinate
    elements     GatherElements, take_along_axis, torch       the index replaces the coordinate
                 gather and scatter                           of its own position
    vectors      GatherND, ScatterND, a[i, j], at[i, j]       each vector names a cell or a slice
    windows      StableHLO and XLA gather and scatter         vectors name the start of a window

Frameworks differ in defaults, limits and broadcasting, and say so in their own modules; the
coordinate arithmetic is only here. All functions raise ShapeRefused with the numbers that clash.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from math import prod
from typing import Any

from gscli.base import ShapeRefused, check_rule
from gscli.base.records import Record
from gscli.base.words import format_count, format_shape
from gscli.layout.axes import Addressing, Axis, Column, Shape, Tensor

GATHER_NAMES = (
    "offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims",
    "start_index_map",
)  # fmt: skip

# What StableHLO calls the lists of dimensions of a gather and of a scatter, in their order.
SCATTER_NAMES = (
    "update_window_dims", "inserted_window_dims", "input_batching_dims",
    "scatter_indices_batching_dims", "scatter_dims_to_operand_dims",
)  # fmt: skip


class DimensionNumbers(Record):
    """How the dimensions of operand, indices and result (or updates) relate.

    What StableHLO says of windows; the other families but for elements are cases of it.

    `offset`: where the slice's dimensions stand in the result. `collapsed`: dimensions of operand
    that the result does not show. `batching`: dimensions of operand that walk together with
    `indices_batching`. `index_map`: which dimension of operand each number of a vector is for.
    `names`: what these five are called.
    """

    offset: Shape
    collapsed: Shape
    batching: Shape
    indices_batching: Shape
    index_map: Shape
    index_vector_dim: int
    names: tuple[str, ...] = GATHER_NAMES

    @property
    def lists(self) -> dict[str, Shape]:
        """The lists of dimensions under their names.

        >>> DimensionNumbers((1,), (0,), (), (), (0,), 1).lists["offset_dims"]
        (1,)
        """
        return dict(zip(self.names, self[:5], strict=True))

    @property
    def attributes(self) -> dict[str, object]:
        """What an operator's call says of them.

        >>> DimensionNumbers((), (), (), (), (0,), 1, SCATTER_NAMES).attributes
        {'scatter_dims_to_operand_dims': (0,), 'index_vector_dim': 1}
        """
        lists = {name: dims for name, dims in self.lists.items() if dims}
        return {**lists, "index_vector_dim": self.index_vector_dim}

    def window_dims(self, rank: int) -> list[int]:
        """The dimensions of an operand of `rank` axes along which a window moves."""
        return [dim for dim in range(rank) if dim not in (*self.collapsed, *self.batching)]

    def address(self, data: Tensor, indices: Tensor, spans: Sequence[int]) -> Addressing:
        """The addressing that the numbers say; they are judged elsewhere. `spans`: slice sizes."""
        vector_dim = self.index_vector_dim
        entries = without_axis(indices.shape, vector_dim)
        # Batching dimensions of the indices as axes of the entry grid, which has no vectors.
        grid = [dim - (dim > vector_dim) for dim in self.indices_batching]
        grid_of = dict(zip(self.batching, grid, strict=True))
        column_of = {dim: column for column, dim in enumerate(self.index_map)}
        traveling = self.window_dims(data.rank)
        window_of = {dim: position for position, dim in enumerate(traveling)}
        axes = tuple(
            Axis(size, column_of.get(dim), grid_of.get(dim), window_of.get(dim), spans[dim])
            for dim, size in enumerate(data.shape)
        )
        rank, entry_numbers = len(entries) + len(traveling), iter(range(len(entries)))
        placed = {dim: len(entries) + position for position, dim in enumerate(self.offset)}
        order = tuple(placed[dim] if dim in placed else next(entry_numbers) for dim in range(rank))
        single, slots = vector_dim == indices.rank, range(len(self.index_map))
        places = [() if single else (slot, vector_dim) for slot in slots]
        columns = tuple(Column(indices.name, indices.dtype, *place) for place in places)
        return Addressing(axes, entries, tuple(spans[dim] for dim in traveling), order, columns)


def without_axis(shape: Shape, axis: int) -> Shape:
    """A shape without one of its axes; all of it where it has no such axis.

    >>> without_axis((2, 3), 0), without_axis((2, 3), 2)
    ((3,), (2, 3))
    """
    return shape[:axis] + shape[axis + 1 :]


def normalize_axis(axis: int, rank: int, *, name: str = "axis", of: str = "data") -> int:
    """A negative axis counts from the end; legal are -rank … rank-1.

    >>> normalize_axis(-1, 3)
    2
    """
    if not -rank <= axis < rank:
        own = format_count(rank, "axis", "axes")
        problem, details = f"{name} {axis} is out of range", (f"{of} has {own}",)
        legal = f"-{rank} … {rank - 1}" if rank else "none: it has no axes"
        raise ShapeRefused(problem, where=f"{name} = {axis}", details=details, valid=legal)
    return axis % rank


def broadcast_shapes(shapes: Sequence[Shape], names: Sequence[str] = ()) -> Shape:
    """NumPy's rule for any number of axes: align at the right, sizes equal or 1.

    >>> broadcast_shapes([(3, 1), (4,)], ["a", "b"])
    (3, 4)
    """
    result: list[int] = []
    for sizes in zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        extents = {size for size in sizes if size != 1}
        if len(extents) > 1:
            problem = "shapes do not broadcast together"
            where = ", ".join(map(" ".join, zip(names, map(format_shape, shapes), strict=False)))
            details = (f"sizes {sorted(extents)} meet on one axis",)
            hint = "sizes must be equal or 1, aligned at the last axis"
            raise ShapeRefused(problem, where=where, details=details, hint=hint)
        result.append(extents.pop() if extents else 1)
    return tuple(reversed(result))


BATCHES_HINT = "how batches meet: gscli samples batch-dims"


def check_batch_shapes(data: Tensor, indices: Tensor, count: int) -> None:
    """The first `count` axes of both must have the same sizes; batches never broadcast."""
    legal = f"equal sizes on every axis below {count}"
    for dim in range(count):
        own, other = data.shape[dim], indices.shape[dim]
        where = f"axis {dim}: {data.name} has {own}, {indices.name} has {other}"
        about = where, data, indices
        check_rule(own == other, "batch axes differ", *about, valid=legal, hint=BATCHES_HINT)


def address_axis(data: Tensor, indices: Tensor, axis: int, batch_dims: int = 0) -> Addressing:
    """One index replaces the coordinate on `axis` (already normal, ≥ batch_dims).

    Result: `data[:axis] ++ indices[batch_dims:] ++ data[axis+1:]`.

    >>> address_axis(Tensor("d", (2, 5, 3), "int8"), Tensor("i", (7, 4), "int64"), 1).result_shape
    (2, 7, 4, 3)
    """
    check_batch_shapes(data, indices, batch_dims)
    batch, behind = tuple(range(batch_dims)), axis + indices.rank - batch_dims
    offset = (*range(batch_dims, axis), *range(behind, behind + data.rank - 1 - axis))
    spans = [1 if dim in (*batch, axis) else size for dim, size in enumerate(data.shape)]
    numbers = DimensionNumbers(offset, (axis,), batch, batch, (axis,), indices.rank)
    return numbers.address(data, indices, spans)


def address_flat(data: Tensor, indices: Tensor) -> Addressing:
    """Every number of the indices addresses one cell of data laid out flat.

    >>> address_flat(Tensor("a", (2, 3), "int8"), Tensor("i", (4,), "int64")).result_shape
    (4,)
    """
    return address_axis(data._replace(shape=(prod(data.shape),)), indices, 0)


def address_axis_or_flat(data: Tensor, indices: Tensor, axis: int | None) -> Addressing:
    """The rule of NumPy's take: slices along one axis, or cells of flat data without one.

    >>> data, indices = Tensor("a", (2, 5), "int8"), Tensor("indices", (3,), "int64")
    >>> address_axis_or_flat(data, indices, -1).result_shape
    (2, 3)
    """
    if axis is None:
        return address_flat(data, indices)
    return address_axis(data, indices, normalize_axis(axis, data.rank, of=data.name))


def address_elements(
    data: Tensor, indices: Tensor, axis: int, *, stretch: bool = False
) -> Addressing:
    """Each index replaces the coordinate on `axis` of its own position; result: indices.shape.

    Off the axis an index may be smaller than data, never larger. `stretch`: NumPy's take_along_axis
    rule instead, where size-1 axes of either side stretch over the other.

    >>> address_elements(Tensor("d", (3, 5), "int8"), Tensor("i", (2, 9), "int64"), 1).result_shape
    (2, 9)
    """
    if data.rank != indices.rank:
        problem = f"{indices.name} needs as many axes as {data.name}"
        own, details = format_count(data.rank, "axis", "axes"), (str(data), str(indices))
        where = f"{data.name} has {own}, {indices.name} has {indices.rank}"
        hint = "whole slices: gather, scatter-update, in torch index-select, index-copy, index-add"
        raise ShapeRefused(problem, where=where, details=details, hint=hint)
    entries = list(indices.shape)
    axes: list[Axis] = []
    for dim, (size, extent) in enumerate(zip(data.shape, indices.shape, strict=True)):
        if dim == axis:
            axes.append(Axis(size, 0))
        elif stretch and size != extent and 1 in (size, extent):
            entries[dim] = size if extent == 1 else extent
            axes.append(Axis(size, entry=dim if extent == 1 else None))
        else:
            fits = extent == size if stretch else extent <= size
            legal = f"{size} or 1" if stretch else f"0 … {size}; only axis {axis} may be longer"
            check_off_axis_size(fits, data, indices, dim, legal)
            axes.append(Axis(size, None, dim))
    order, columns = tuple(range(indices.rank)), (Column(indices.name, indices.dtype),)
    return Addressing(tuple(axes), tuple(entries), (), order, columns)


def address_elements_or_flat(data: Tensor, indices: Tensor, axis: int | None) -> Addressing:
    """The rule of NumPy's take_along_axis: off the axis sizes stretch; without one data is flat.

    >>> data, indices = Tensor("a", (2, 5), "int8"), Tensor("indices", (1, 3), "int64")
    >>> address_elements_or_flat(data, indices, -1).result_shape
    (2, 3)
    """
    if axis is not None:
        number = normalize_axis(axis, data.rank, of=data.name)
        return address_elements(data, indices, number, stretch=True)
    problem = f"without an axis {indices.name} have rank 1"
    check_rule(indices.rank == 1, problem, indices, hint="--axis 0")
    return address_flat(data, indices)


def address_pick(data: Tensor, index: Tensor, axis: int) -> Addressing:
    """One index for each position off `axis`; index is data's shape without that axis.

    >>> address_pick(Tensor("d", (3, 5), "int8"), Tensor("i", (3,), "int64"), 1).result_shape
    (3,)
    """
    grid, others = tuple(range(index.rank)), tuple(dim for dim in range(data.rank) if dim != axis)
    numbers = DimensionNumbers((), (axis,), others, grid, (axis,), index.rank)
    return numbers.address(data, index, [1] * data.rank)


def address_own_place(indices: Tensor, count: int, size: int) -> Addressing:
    """Each number names a cell among `size`, which every place on the first `count` axes has anew.

    >>> address_own_place(Tensor("input", (2, 3), "int64"), 1, 5).entry_shape
    (2, 3)
    """
    cells = indices._replace(name="cells", shape=(*indices.shape[:count], size))
    return address_axis(cells, indices, count, count)


def check_off_axis_size(fits: bool, data: Tensor, indices: Tensor, dim: int, legal: str) -> None:
    """Refuse an index tensor that does not fit data off the axis; larger data would take it."""
    problem = f"{indices.name} does not fit {data.name} off the axis"
    legal = f"size on axis {dim}: {legal}"
    grown = (*data.shape[:dim], indices.shape[dim], *data.shape[dim + 1 :])
    check_axis_size(fits, problem, data, indices, dim, legal, name=data.name, wanted=grown)


def check_axis_size(
    fits: bool, problem: str, data: Tensor, indices: Tensor, dim: int, legal: str, **facts: Any
) -> None:
    """Refuse an index tensor whose size on one axis does not go with that of data."""
    size, extent = data.shape[dim], indices.shape[dim]
    where = f"axis {dim}: {indices.name} has {extent}, {data.name} has {size}"
    check_rule(fits, problem, where, data, indices, valid=legal, **facts)


def suggest_vectors(indices: Tensor) -> str:
    """How numbers that are one vector become a vector each.

    >>> suggest_vectors(Tensor("ids", (3,), "int64"))  # doctest: +ELLIPSIS
    'for 3 vectors of one number ids would be [3,1], in Python ids[:,None]; gscli gather, ...'
    """
    name, count = indices.name, indices.shape[0]
    return (
        f"for {format_count(count, 'vector')} of one number {name} would be [{count},1], in Python "
        f"{name}[:,None]; gscli gather, gscli scatter-update and, to add, gscli numpy add-at take "
        "them as they are"
    )


def address_vectors(
    data: Tensor, indices: Tensor, batch_dims: int = 0, *, vector_dim: int = -1
) -> Addressing:
    """Vectors along `vector_dim` address the first k axes after the batch; the rest is a slice.

    Result: `indices without vector_dim ++ data[batch_dims+k:]`.

    >>> address_vectors(Tensor("d", (2, 5, 3), "int8"), Tensor("i", (7, 2), "int64")).result_shape
    (7, 3)
    """
    length, longest = indices.shape[vector_dim], data.rank - batch_dims
    if length > longest:
        end, other = ("last", "; MXNet puts them on the first") if vector_dim else ("first", "")
        hint = f"the coordinates of one vector run along the {end} axis here{other}"
        if vector_dim and indices.rank == 1:
            hint = suggest_vectors(indices)
        problem = f"index vectors are longer than {data.name} has axes"
        shape = f"{indices.name} {format_shape(indices.shape)}"
        where = f"{shape}: {end} axis {length} is the vector length"
        details = (str(data), *([f"batch_dims {batch_dims}"] if batch_dims else []))
        valid = f"at most {format_count(longest, 'number')}"
        raise ShapeRefused(problem, where=where, details=details, valid=valid, hint=hint)
    check_batch_shapes(data, indices, batch_dims)
    grid, rest = indices.rank - 1, batch_dims + length  # from where on data's axes are a slice
    batch, addressed = tuple(range(batch_dims)), tuple(range(batch_dims, rest))
    offset = tuple(range(grid, grid + data.rank - rest))
    dim = vector_dim % indices.rank
    numbers = DimensionNumbers(offset, addressed, batch, batch, addressed, dim)
    return numbers.address(data, indices, [1] * rest + [*data.shape[rest:]])
