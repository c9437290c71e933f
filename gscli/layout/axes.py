"""Axes: how index columns, entries and windows address data, and what an index outside means.

The coordinate of a touched cell on each axis of data is the sum of up to three terms: a number from
an index **column**, the position in the **entry** grid, and the position inside the **window** (the
slice that one entry moves).

    Gather on axis 1 of (2, 5, 3)      axis 0: window · axis 1: column · axis 2: window
    GatherElements on axis 1           axis 0: entry  · axis 1: column · axis 2: entry
    StableHLO gather, slice_sizes > 1  axis 1: column + window

A box, a half-open range for each axis, is the one shape that an entry has in every tensor.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import takewhile
from math import prod
from typing import Literal, TypeAlias

from gscli.base import IndexTypeRefused, UpdatesTypeRefused
from gscli.base.records import Record
from gscli.base.words import format_shape

Shape: TypeAlias = tuple[int, ...]
DtypeError: TypeAlias = IndexTypeRefused | UpdatesTypeRefused
Number: TypeAlias = bool | int | float | complex | str
Reduction: TypeAlias = Literal[
    "none", "add", "sub", "mul", "div", "pow", "max", "min", "mean", "sqrt_n"
]


class OutOfBounds(Enum):
    """What happens to an index outside its axis. "drop" and "fill" are SKIP seen from two sides."""

    RAISE = "raise"
    WRAP = "wrap"
    CLIP = "clip"
    SKIP = "skip"


class Negative(Enum):
    """What an index below zero means before `OutOfBounds` is asked."""

    FROM_END = "counts from the end, once"
    OUTSIDE = "is out of range"
    SKIP = "skips its entry"


# The largest index that keeps its meaning where indices are cut to 32 bits.
INT32_MAX = 2**31 - 1


class Truncation(Enum):
    """When an index is cut to its low 32 bits, as XLA does: 2**32 + 1 then names row 1."""

    NEVER = "never"
    BEFORE_NEGATIVE = "before a negative index is looked at"
    AFTER_NEGATIVE = "after a negative index was counted from the end"
    UNSIGNED = "and read without its sign, so that -1 is the largest number"


class Policy(Record):
    """How index numbers become coordinates, per coordinate and never on a folded address.

    `is_atomic`: a window partly outside is judged as one (XLA); otherwise each cell of it is judged
    alone (the StableHLO text). `note` is appended to a refusal: that the framework itself
    would not have refused, and `unchecked_outcomes` what it does with a number from -s to -1, with
    one below that and with one above; "" where it refuses, too. `truncates_fractions`: a fractional
    index (MXNet) loses its fraction before it is judged; otherwise it is judged as written and cut
    then.
    `ignored`: a number that skips its entry, be it legal or not, as that of a padding row.
    `is_refused`: the call is only drawn, and the entries that are refused are skipped for that.
    """

    negative: Negative = Negative.FROM_END
    out_of_bounds: OutOfBounds = OutOfBounds.RAISE
    is_atomic: bool = True
    note: str = ""
    unchecked_outcomes: tuple[str, str, str] = ("unchecked", "unchecked", "unchecked")
    truncates_fractions: bool = False
    truncation: Truncation = Truncation.NEVER
    ignored: int | None = None
    is_refused: bool = False


# Legal are -s … s-1 on an axis of size s; other numbers are refused.
FROM_END = Policy()

# Legal are 0 … s-1; what becomes of other numbers, negative ones too.
RAISE_OUTSIDE, WRAP_OUTSIDE, CLIP_OUTSIDE, SKIP_OUTSIDE = (
    Policy(Negative.OUTSIDE, beyond) for beyond in OutOfBounds
)


class Fit(Enum):
    """How updates meet the cells they go to; everything but EXACT is one framework's own rule."""

    EXACT = "exact"
    BROADCAST = "broadcast"
    CROP = "crop"
    CYCLE = "cycle"
    RESHAPE = "reshape"


class Updates(Record):
    """The values to write: an input, or one `value` for every touched cell (`name` None).

    `cast`: they take the data's type first; otherwise every step of a reduction runs in the type
    that both promote to and only its result is cast (NumPy's ufunc.at). `nan_wins`: NaN replaces
    any number under max and min; otherwise an update must compare beyond what is there, so that
    NaN changes nothing (TensorFlow). `keeps_lone`: a floating-point update that is the only one of
    its cell stays as it is, -0.0 and complex infinities too, in place of being added to 0.
    """

    name: str | None
    fit: Fit = Fit.EXACT
    value: Number | None = None
    scale: Number | None = None
    cast: bool = True
    nan_wins: bool = True
    keeps_lone: bool = False


class Unspecified(Record):
    """Something that a specification leaves open, and what is chosen here.

    `condition`: the call meets it always, where an index is below zero, or where a value is NaN.
    """

    condition: Literal["always", "negative", "nan"]
    text: str


def unspecified_nan(owner: str, reduction: Reduction, here: str) -> tuple[Unspecified, ...]:
    """What the texts of `owner` leave open of max and min; no other reduction asks which is larger.

    >>> unspecified_nan("ONNX", "max", "NaN stays")[0].text
    'ONNX does not say what max makes of NaN; here NaN stays'
    """
    text = f"{owner} does not say what {reduction} makes of NaN; here {here}"
    return (Unspecified("nan", text),) if reduction in ("max", "min") else ()


class Tensor(Record):
    """What a layout may know of an input: argument name, shape, dtype name.

    `values` is filled only for inputs that decide shapes (OpenVINO's axis, TensorFlow's shape).
    `dtype_errors`: where to note a type that does not suit, for a caller who asks which types the
    call takes; without it such a type is refused.
    """

    name: str
    shape: Shape
    dtype: str
    values: tuple[int, ...] | None = None
    dtype_errors: list[DtypeError] | None = None

    def __str__(self) -> str:
        """Name, dtype and shape, for messages.

        >>> str(Tensor("data", (4, 3), "int64"))
        'data int64 [4,3]'
        """
        return f"{self.name} {self.dtype} {format_shape(self.shape)}"

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)


class Axis(Record):
    """One axis of data and the terms of its coordinate; `span` is the window's extent on it."""

    size: int
    column: int | None = None
    entry: int | None = None
    window: int | None = None
    span: int = 1

    @property
    def reach(self) -> int:
        """How many cells of the axis an entry moves, from the coordinate on."""
        return 1 if self.window is None else self.span

    @property
    def is_positional(self) -> bool:
        """Whether the coordinate is the entry's own position and nothing else."""
        return self.entry is not None and self.column is None and self.window is None

    @property
    def is_whole_window(self) -> bool:
        """Whether every cell of the axis moves along with each entry."""
        alone = self.entry is None and self.column is None
        return alone and self.window is not None and self.span == self.size


class Column(Record):
    """Where index numbers lie: input `source`, element `component` of the vectors along
    `vector_dim`.

    With `component` None every number of the input is a vector of one. What remains of the input's
    shape broadcasts to the entry grid. `dtype`: the numbers' own type.
    """

    source: str
    dtype: str = "int64"
    component: int | None = None
    vector_dim: int | None = None


class MaskPositions(Record):
    """The positions of a mask's True cells along one axis of the `shape` it is stretched to."""

    mask: str
    shape: Shape
    axis: int


class Consecutive(Record):
    """Each number of an index `source` and those that follow it, `steps` in all, on a last axis.

    They are counted without end; of an axis that is a ring, `size` is how many cells it has.
    """

    source: str
    steps: int
    size: int


class SegmentNumbers(Record):
    """The segment in which each position on the last axis of a grid lies, one too few or too many
    for those in none.

    `source`: the lengths of segments along its last axis, or as `are_offsets` where they begin and,
    as `has_end`, where the last one ends. `is_strict`: no position is left over at either end.
    """

    source: str
    are_offsets: bool
    is_strict: bool
    has_end: bool = True


Recipe: TypeAlias = range | MaskPositions | Consecutive | SegmentNumbers


class GeneratedIndices(Record):
    """Index numbers that no input holds as they are, as an input of this shape.

    Those of a slice, of a mask, of segments, or the ones that follow the numbers of another input.
    """

    name: str
    recipe: Recipe
    shape: Shape


class Addressing(Record):
    """The shape part of a layout, as the families build it, shared by gather and scatter.

    `entry_shape`: grid of index entries, numbered row-major. `window`: grid of cells one entry
    moves. `result_axes`: the axes of the result (gather's output, scatter's updates) as positions
    in `entry_shape ++ window`. `generated`: columns whose numbers come from the layout and from no
    input.
    """

    axes: tuple[Axis, ...]
    entry_shape: Shape
    window: Shape
    result_axes: tuple[int, ...]
    columns: tuple[Column, ...]
    generated: tuple[GeneratedIndices, ...] = ()

    def recipe(self, source: str) -> Recipe | None:
        """How the numbers of a column's source are made; None where an input holds them."""
        return next((item.recipe for item in self.generated if item.name == source), None)

    @property
    def result_shape(self) -> Shape:
        """Shape of gather's output and of scatter's updates.

        >>> Addressing((Axis(5, column=0), Axis(3, window=0, span=3)), (2,), (3,), (0, 1),
        ...            (Column("indices"),)).result_shape
        (2, 3)
        """
        return tuple((self.entry_shape + self.window)[position] for position in self.result_axes)

    @property
    def traveling(self) -> int:
        """How many of the last axes move along whole, as the last axes of the window.

        >>> Addressing((Axis(5, column=0), Axis(3, window=0, span=3)), (2,), (3,), (0, 1),
        ...            (Column("indices"),)).traveling
        1
        """
        last = zip(reversed(self.axes), reversed(range(len(self.window))), strict=False)
        travels = (axis.is_whole_window and axis.window == place for axis, place in last)
        return sum(takewhile(bool, travels))


def row_major_strides(sizes: Iterable[int]) -> tuple[int, ...]:
    """Strides of a row-major array of these sizes, in elements.

    >>> row_major_strides((2, 3, 4))
    (12, 4, 1)
    """
    steps, step = [], 1
    for size in reversed(tuple(sizes)):
        steps.append(step)
        step *= size
    return tuple(reversed(steps))


Box: TypeAlias = tuple[tuple[int, int], ...]


def unbroadcast_box(box: Box, shape: Shape) -> Box:
    """Where a broadcast box lies in the tensor it comes from: aligned right, size-1 axes at 0.

    >>> unbroadcast_box(((2, 3), (0, 4)), (1, 4)), unbroadcast_box(((2, 3), (0, 4)), (4,))
    (((0, 1), (0, 4)), ((0, 4),))
    """
    surplus = max(len(shape) - len(box), 0)  # axes of size 1 in front, which NumPy drops
    aligned = ((0, 1),) * surplus + box[max(len(box) - len(shape), 0) :]
    return tuple((0, 1) if size == 1 else ends for ends, size in zip(aligned, shape, strict=True))


def span_positions(coordinates: Sequence[int], span: tuple[int, int]) -> range:
    """The places of ascending coordinates that lie in the half-open `span`.

    >>> span_positions(range(0, 100, 10), (15, 41))
    range(2, 5)
    """
    return range(bisect_left(coordinates, span[0]), bisect_left(coordinates, span[1]))


def box_size(box: Box) -> int:
    """Number of cells.

    >>> box_size(((0, 2), (1, 4)))
    6
    """
    return prod(stop - start for start, stop in box)


def subtract_box(box: Box, inner: Box) -> tuple[Box, ...]:
    """The cells of a box outside of one within it, as boxes that have no cell in common.

    >>> subtract_box(((0, 2), (0, 3)), ((0, 2), (1, 3)))
    (((0, 2), (0, 1)),)
    >>> sum(map(box_size, subtract_box(((0, 3), (0, 3)), ((1, 2), (1, 2)))))
    8
    """
    boxes: list[Box] = []
    for axis, ((first, last), (start, stop)) in enumerate(zip(box, inner, strict=True)):
        sides = [ends for ends in ((first, start), (stop, last)) if ends[0] < ends[1]]
        boxes += [(*inner[:axis], ends, *box[axis + 1 :]) for ends in sides]
    return tuple(boxes)


def reshape_box(box: Box, before: Shape, after: Shape) -> Box:
    """The same cells after a reshape; exact where the box is one cell, full, or keeps its axes.

    >>> reshape_box(((1, 2), (2, 3)), (2, 3), (6,))
    ((5, 6),)
    >>> reshape_box(((1, 2), (0, 1), (0, 4)), (2, 3, 4), (6, 4))
    ((3, 4), (0, 4))
    """
    if before == after:
        return box
    first = _reshape_coordinates([start for start, _ in box], before, after)
    last = _reshape_coordinates([stop - 1 for _, stop in box], before, after)
    corners = zip(first, last, after, strict=True)
    return tuple((min(a, b), min(max(a, b) + 1, size)) for a, b, size in corners)


def _reshape_coordinates(cell: Sequence[int], before: Shape, after: Shape) -> list[int]:
    number = sum(at * step for at, step in zip(cell, row_major_strides(before), strict=True))
    steps = zip(row_major_strides(after), after, strict=True)
    return [number // max(step, 1) % max(size, 1) for step, size in steps]
