"""What the page says of an entry: the path to its value, for the eye and aloud, and its address.

No markup. A sentence stands beside the picture and in its live region, so it must read well aloud:
words for the signs of the tables, and the numbers of small slices written out. An address is in the
words of the drawing: which row, which column, which plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from gscli.base.words import format_count
from gscli.kernel.reductions import REDUCTION_WORDS
from gscli.layout import Layout
from gscli.traces import Entry, Trace
from gscli.views.summary import axis_word, count_cells, format_counts, name_axes
from gscli.views.words.facts import Describer


def verb_of(trace: Trace) -> str:
    """What an entry does with its value, as one verb."""
    if not trace.is_replayed:
        return "gradient"
    return "copy" if trace.kind == "gather" else REDUCTION_WORDS[trace.reduction].name


def format_counts_line(teller: Describer, shown: Sequence[Entry]) -> str:
    """Entries, cells touched, cells hit more than once, and what that leaves open.

    Of gradients the entries, and what stands below their picture.
    """
    trace = teller.trace
    entries = format_count(trace.entry_count, "entry", "entries")
    if trace.words is not None:
        remarks = trace.words.make_remarks(teller, shown)
        return " ".join(f"{text}." for text in [entries, *(remark.text for remark in remarks)])
    counts = count_cells(trace)
    if counts is None:
        return entries
    left_open = trace.layout.unspecified_order if counts.duplicate_count else ""
    note = f" {left_open}; here the last one stays." if left_open else ""
    return f"{entries}: {format_counts(trace, counts)}.{note}"


def format_shape_words(shape: tuple[int, ...]) -> str:
    """A shape as the page writes it.

    >>> format_shape_words((4, 3)), format_shape_words(())
    ('[4×3]', 'one number')
    """
    return f"[{'×'.join(map(str, shape))}]" if shape else "one number"


def describe_start(teller: Describer) -> str:
    """How the output starts."""
    layout, output = teller.trace.layout, teller.trace.output_name
    if layout.kind == "gather":
        return f"Nothing is read yet: {output} is empty."
    if layout.data_name is None:
        return f"Nothing is written yet: every cell of {output} is {teller.format_fill()}."
    return f"Nothing is written yet: {output} is a copy of {layout.data_name}."


def describe_end(rest: int) -> str:
    """What the last step leaves to be said, where `rest` entries are not told."""
    more = format_count(rest, "entry follows", "entries follow")
    return f"The other {more}. This is the result." if rest else ""


# Where the drawing writes a coordinate: beside a row, above a column, in a plane's caption.
Header: TypeAlias = Literal["row", "column", "plane", ""]


def coordinate_headers(layout: Layout) -> list[tuple[str, Header]]:
    """The coordinates that every entry fixes and their headers, in the order of data's axes.

    >>> from gscli.traces import trace
    >>> found = trace("onnx.gather", {"data": [[1, 2], [3, 4]], "indices": [-1]}, {"axis": 1})
    >>> coordinate_headers(found.layout), entry_coordinates(found.layout, found.entries()[0])
    ([('column', 'column')], [('1', '-1')])
    """
    rank = len(layout.data_shape)  # of a vector, which is drawn as one row, axis 0 is a column
    headers: dict[int, Header] = {rank - 2: "row", rank - 1: "column"}
    named, names = list[tuple[str, Header]](), name_axes(layout)
    for axis in list_fixed_axes(layout):
        is_batch = names[axis : axis + 1] == ("batch",)  # a flattened view has fewer axes
        named.append(("batch" if is_batch else axis_word(axis, rank), headers.get(axis, "plane")))
    return [("flat index", ""), *named] if layout.is_flattened else named


def entry_coordinates(layout: Layout, entry: Entry) -> list[tuple[str, str]]:
    """What an entry has for each part: the coordinate, and the number as it is written.

    An entry that is skipped has no coordinate, a slice has neither on the axes that it spans.
    """
    flat, shape, vector = layout.is_flattened, layout.data_shape, list(map(str, entry.vector))
    box = entry.target or ((0, 0),) * len(shape)
    moved = [str(item.coordinate) for item in entry.adjustments] or vector
    pairs = [(moved[0] if entry.target else "", vector[0])] if flat else []
    for axis in list_fixed_axes(layout):
        column = None if flat else layout.axes[axis].column
        place = _format_place(box[axis], shape[axis] if column is None else None)
        pairs.append((place, place if column is None else vector[column]))
    return pairs


def list_fixed_axes(layout: Layout) -> list[int]:
    """The axes of data on which an entry does not take all there is."""
    if layout.is_flattened:
        return list(range(len(layout.data_shape)))
    axes = enumerate(layout.axes)
    return [place for place, axis in axes if (axis.column, axis.entry) != (None, None)]


def _format_place(ends: tuple[int, int], size: int | None) -> str:
    """A coordinate, a range, or nothing for none and for a whole axis of this size.

    >>> _format_place((2, 3), 4), _format_place((1, 3), 4), _format_place((0, 4), 4)
    ('2', '1 … 2', '')
    """
    start, stop = ends
    if stop <= start or (ends == (0, size) and size != 1):
        return ""
    return str(start) if stop == start + 1 else f"{start} … {stop - 1}"
