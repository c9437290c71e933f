"""A run in two sentences: what it does, for somebody who has never seen the operator, and counts.

Read off the layout and the entries, so that every declared operator has them. The key of signs that
stand below a picture too.
"""

from __future__ import annotations

import re
from math import prod

import numpy as np

from gscli.base.arrays import Indices, unequal_cells
from gscli.base.records import Record
from gscli.base.words import format_count, format_shape
from gscli.kernel.reductions import REDUCTION_WORDS
from gscli.kernel.tiles import cell_addresses
from gscli.layout import Fold, Layout
from gscli.layout.axes import Box, Fit
from gscli.plan.indices import MOST_FLATITER_AXES
from gscli.traces import Trace
from gscli.views.look import Signs
from gscli.views.subject import initial_output
from gscli.views.texts import LIMIT_NAMES

_PLANE, _GRID = 3, 2
_SLICES = ("cell", "line", "sheet")


def describe_purpose(trace: Trace) -> str:
    """The sentence, names as the framework has them.

    >>> from gscli.traces import trace
    >>> inputs = {"data": [[1, 2]], "indices": [[0, 1]], "updates": [9]}
    >>> describe_purpose(trace("onnx.scatter_nd", inputs, {"reduction": "add"}))
    'Each row of indices is an address; the update beside it is added to that cell.'
    >>> describe_purpose(trace("onnx.gather", {"data": [[1, 2], [3, 4]], "indices": [1]}))
    'Each number of indices names a row of data; that row is copied to output.'
    """
    if trace.words is not None:
        return trace.words.purpose
    layout = trace.layout
    if idle := describe_idle_updates(trace):
        return idle
    sentence, thing = describe_addressing(trace)
    beside = "in the same place" if _is_elementwise(layout) else "beside it"
    if layout.fold is not None:
        return _describe_fold(trace, layout.fold, sentence, thing)
    if layout.kind == "gather":
        where = " in the same place" if _is_elementwise(layout) else ""
        moved = "its value" if thing == "cell" and not _is_elementwise(layout) else f"that {thing}"
        return f"{sentence}; {moved} is copied to output{where}."
    updates = layout.written_updates
    times = "" if updates.scale is None else f", times {updates.scale},"
    update = f"the update {beside}{times}" if updates.name else f"the value {updates.value}"
    itself = describe_own_part(layout, "itself")
    moves = REDUCTION_WORDS[layout.reduction].moves
    fresh = not layout.include_self and layout.reduction not in ("none", "mean", "sqrt_n")
    forgets = "; its old value is not counted" * fresh
    return f"{sentence}; {moves.format(update=update, thing=thing, itself=itself)}{forgets}."


def _describe_fold(trace: Trace, fold: Fold, sentence: str, thing: str) -> str:
    """What a gather does whose cells are folded, after how it addresses them."""
    meeting = REDUCTION_WORDS["mean" if fold.is_weighted else trace.layout.reduction].repeated
    if fold.scatter.written_updates.scale is None:
        times = f", each times its number of {fold.factors}," if fold.factors else ""
        return f"{sentence}; the {thing}s of a bag{times} meet in output: {meeting}."
    times = f", times its class's number of {fold.factors}," if fold.factors else ""
    loss = f"{sentence}; with the other sign{times} that {thing} is a loss"
    if fold.is_weighted and times:
        meeting = "summed and divided by the sum of these numbers"
    elif fold.scatter.output_size == trace.entry_count:
        return f"{loss}."
    return f"{loss}; losses are {meeting}."


def describe_own_part(layout: Layout, name: str) -> str:
    """What a mean has of the cell itself, under a name; what all begin with is no value of its own.

    >>> from gscli.traces import trace
    >>> run = trace("onnx.scatter", {"data": [1, 2], "indices": [1], "updates": [3]})
    >>> describe_own_part(run.layout, "itself")
    'itself and '
    """
    counted = "" if layout.own_terms else ", which is added and not counted,"
    return f"{name}{counted} and " if layout.include_self else ""


def describe_idle_updates(trace: Trace) -> str:
    """What is said where updates that would repeat are empty; "" of other calls.

    >>> from gscli.traces import trace
    >>> describe_idle_updates(trace("numpy.put", {"a": [1, 2], "ind": [0], "v": []}))
    'v is empty: nothing is written.'
    """
    updates = trace.layout.updates
    if updates is None or updates.fit is not Fit.CYCLE or updates.name is None:
        return ""
    is_idle = trace.inputs[updates.name].size == 0
    return f"{updates.name} is empty: nothing is written." if is_idle else ""


def list_attributes(trace: Trace) -> list[str]:
    """The attributes of a title: those that are not their defaults, or were written.

    >>> from gscli.traces import trace
    >>> list_attributes(trace("onnx.gather", {"data": [[1, 2]], "indices": [0]}, {"axis": 1}))
    ['axis=1']
    """
    return [
        f"{key}={str(value).replace(' ', '') if isinstance(value, tuple) else value}"
        for key, value in trace.nondefault_attributes.items()
    ]


def name_axes(layout: Layout) -> tuple[str, ...]:
    """How the axes of the addressed view are called: rows and columns while there are no more.

    >>> from gscli.traces import trace
    >>> name_axes(trace("onnx.gather", {"data": [[1, 2], [3, 4]], "indices": [1]}).layout)
    ('row', 'col')
    """
    names = ({"column": "col"}.get(name, name) for name in _axis_words(layout))
    vectors = any(column.vector_dim is not None for column in layout.addressing.columns)
    batches = layout.addressing.window or vectors
    pairs = zip(names, layout.axes, strict=True)
    return tuple("batch" if batches and axis.is_positional else name for name, axis in pairs)


def _axis_words(layout: Layout) -> tuple[str, ...]:
    rank = len(layout.axes)
    if layout.is_flattened and rank > 1:
        flat = layout.column_axes
        return tuple("cell" if axis in flat else f"axis {axis}" for axis in range(rank))
    return tuple(axis_word(axis, rank) for axis in range(rank))


def axis_word(axis: int, rank: int) -> str:
    """What an axis of a tensor is called where it is drawn.

    >>> [axis_word(axis, 2) for axis in range(2)], axis_word(0, 1), axis_word(0, 4)
    (['row', 'column'], 'cell', 'axis 0')
    """
    if rank == 1:
        return "cell"
    if axis < rank - _GRID:
        return "plane" if rank == _PLANE else f"axis {axis}"
    return "column" if axis == rank - 1 else "row"


def name_slice(sizes: tuple[int, ...]) -> str:
    """What the cells are called that an entry moves together.

    >>> name_slice((1, 1)), name_slice((4,)), name_slice((2, 3)), name_slice((2, 2, 2))
    ('cell', 'line', 'sheet', 'cuboid')
    """
    rank = sum(size != 1 for size in sizes)
    return _SLICES[rank] if rank < len(_SLICES) else "cuboid"


def describe_slice(box: Box, signs: Signs) -> str:
    """What the cells of a box are, `sheet of 4×4`; nothing for a single cell."""
    sizes = tuple(stop - start for start, stop in box if stop - start != 1)
    return f"{name_slice(sizes)} of {signs.times.join(map(str, sizes))}" if sizes else ""


def _is_elementwise(layout: Layout) -> bool:
    """Whether an index takes its other coordinates from where it stands, as the elements do."""
    return any(axis.is_positional for axis in layout.axes) and not layout.addressing.window


def describe_addressing(trace: Trace) -> tuple[str, str]:
    """How the sentence begins, and what an index names.

    >>> from gscli.traces import trace
    >>> describe_addressing(trace("onnx.gather", {"data": [[1, 2], [3, 4]], "indices": [1]}))
    ('Each number of indices names a row of data', 'row')
    """
    layout, addressing = trace.layout, trace.layout.addressing
    columns, window, inputs = addressing.columns, addressing.window, layout.index_inputs
    source, data = inputs[0] if inputs else "indices", layout.data_name or "output"
    thing = name_slice(window)
    if any(axis.span > 1 and axis.column is not None for axis in layout.axes):
        sentence, thing = f"Each entry of {source} says where a window begins", "window"
    elif len(inputs) > 1:
        sentence = f"Numbers that stand together in {' and '.join(inputs)} are an address"
    elif columns and columns[0].vector_dim is not None:
        sentence = _describe_vectors(trace, source, columns[0].vector_dim)
    elif trace.attributes.get("subscript") and layout.is_flattened:
        sentence = f"The mask {source}, without axes, takes all of {layout.data_name} if it is true"
    elif layout.is_flattened:
        sentence = f"Each number of {source} counts through the cells of {layout.name_flat(data)}"
    elif not columns and any(axis.is_positional for axis in layout.axes):
        sentence = "Every entry has its own place"
    elif not columns:
        part = "all" if prod(window) == prod(layout.data_shape) else "the first cells"
        part = "no cell" if 0 in window else part
        sentence = f"An entry without an index takes {part} of {data}"
    else:
        number, thing = _describe_numbers(layout)
        entries = addressing.entry_shape
        is_stretched = _is_elementwise(layout) and trace.inputs[source].shape != entries
        stretched = f", stretched to {format_shape(entries)}," * is_stretched
        sentence = f"Each number of {source}{stretched} {number}"
    return sentence, thing


def _describe_vectors(trace: Trace, source: str, place: int) -> str:
    rank = len(trace.inputs[source].shape)
    line = "row" if place == rank - 1 else f"line along axis {place}"
    batch = " within its own batch" * any(axis.is_positional for axis in trace.layout.axes)
    return f"{f'Each {line} of ' * (rank > 1)}{source} is an address{batch}"


def _describe_numbers(layout: Layout) -> tuple[str, str]:
    """What a number that stands alone is, a coordinate on one axis, and what it names."""
    axis, names, data = layout.column_axes[0], _axis_words(layout), layout.data_name or "output"
    if _is_elementwise(layout):  # the other coordinates are where the number stands
        if len(names) == _GRID:
            return f"names a {names[axis]}, in the {names[1 - axis]} where it stands", "cell"
        return f"is a coordinate on axis {axis}, the others are its own place's", "cell"
    if len(names) <= _GRID:
        return f"names a {names[axis]} of {data}", names[axis]
    batch = " in its own batch" * any(axis.is_positional for axis in layout.axes)
    return f"names a slice on axis {axis} of {data}{batch}", "slice"


_SEVERAL = r"(?<![^\s(])([a-zA-Z]+)\+(\d+)(?=:|\s)"


def explain_signs(drawing: str, signs: Signs) -> str:
    """The signs that stand alone in a drawing, and the letters of a crowded cell.

    >>> from gscli.views.look import ViewOptions
    >>> from gscli.views.look import choose_signs
    >>> explain_signs("0  ⋯  a+4:9", choose_signs(ViewOptions()))
    '⋯ columns left out   a+4: a and 4 more entries'
    """
    texts, gaps = list[str](), {signs.across: "columns", signs.down: "rows"}
    # Neither texts of cells nor notes, as `⋯ 3 planes untouched` is one.
    drawing = re.sub(rf'"[^"]*"|{re.escape(signs.across)} [\d,]+ ', "", drawing)
    words = {part for word in drawing.split() for part in (word, word.rpartition(":")[2])}
    if left_out := {sign: what for sign, what in gaps.items() if sign in words}:
        texts.append(f"{' '.join(left_out)} {' and '.join(left_out.values())} left out")
    if signs.point in words and f"drawn as {signs.point}" not in drawing:
        texts.append(f"{signs.point} empty")
    texts += [f"{name}: {limit}" for (_, limit), name in LIMIT_NAMES.items() if name in drawing]
    if crowded := re.search(_SEVERAL, drawing):
        texts.append("{}: {} and {} more entries".format(crowded[0], *crowded.groups()))
    return "   ".join(texts)


COUNTED_ENTRIES = 10_000
COUNTED_CELLS = 1 << 20


class Counts(Record):
    """Over the first `entries` entries; `changed` is None where too many cells were touched.

    `lost`: updates of windows partly outside that were dropped; `skipped` entries do not count.
    """

    entries: int
    skipped: int
    touched: int
    duplicate_count: int
    changed: int | None
    lost: int = 0


def count_cells(trace: Trace) -> Counts | None:
    """Count the first entries of a run, or None when they touch more cells than are worth listing.

    >>> from gscli.traces import trace
    >>> count_cells(trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1, 2]}))
    Counts(entries=2, skipped=0, touched=1, duplicate_count=1, changed=None, lost=0)
    """
    count, window = min(trace.entry_count, COUNTED_ENTRIES), trace.layout.window_size
    _, live = trace.plan.resolve_range(0, count)
    if window * (count if live is None else int(np.count_nonzero(live))) > COUNTED_CELLS:
        return None
    addresses, exist = cell_addresses(trace.plan, 0, count)
    if exist is None or trace.layout.is_noop:
        exist = np.full(addresses.shape, not trace.layout.is_noop)
    cells, times = np.unique(addresses[exist], return_counts=True)
    reached = exist[exist.any(axis=1)]
    scatters = trace.kind == "scatter"
    skipped = count - len(reached) if window else 0
    changed = _count_changed(trace, cells) if scatters else None
    lost = int(np.count_nonzero(~reached)) if scatters else 0
    return Counts(count, skipped, int(cells.size), int((times > 1).sum()), changed, lost)


def _count_changed(trace: Trace, cells: Indices) -> int:
    """Touched cells whose value is another one now; NaN is the same as NaN."""
    # Without a copy of an array, whatever its order in memory, where NumPy can.
    old, new = (
        (array.flat if array.ndim <= MOST_FLATITER_AXES else array.reshape(-1))[cells]
        for array in (initial_output(trace), trace.output)
    )
    return int(np.count_nonzero(unequal_cells(old, new)))


def _count_dropped(trace: Trace, entries: int) -> int:
    """Entries of a refused call that its rules drop, which refuses nothing."""
    from gscli.plan.outcomes import INDEX_OUTCOMES, classify_indices

    _, codes = classify_indices(trace.plan, 0, trace.plan.raw_indices(0, 0, entries))
    dropped = [INDEX_OUTCOMES.index("below") + 1, INDEX_OUTCOMES.index("ignored") + 1]
    return int(np.count_nonzero(np.isin(codes, dropped)))


def format_counts(trace: Trace, counts: Counts | None) -> str:
    """How many cells were read or changed, and what else is worth a number."""
    if counts is None:
        return f"cells are touched more than {COUNTED_CELLS:,} times, too often to count"
    cells = prod(trace.layout.data_shape)
    gathered, would = trace.kind == "gather", "would be " * trace.is_refused
    number = counts.touched if gathered or counts.changed is None else counts.changed
    parts = [f"{number:,} of {cells:,} cells {would}{'read' if gathered else 'changed'}"]
    if counts.skipped:
        from gscli.plan.outcomes import describe_skips

        dropped = _count_dropped(trace, counts.entries) if trace.is_refused else 0
        drops, skips = describe_skips(trace.layout, "below"), describe_skips(trace.layout)
        for number, words in (dropped, drops), (counts.skipped - dropped, skips):
            parts += [f"{number:,} of {counts.entries:,} entries {words.several}"] * (number > 0)
    if counts.lost:
        parts.append(format_count(counts.lost, "update falls outside", "updates fall outside"))
    if counts.duplicate_count:
        times = "read twice or more" if gathered else "hit twice or more"
        parts.append(f"{format_count(counts.duplicate_count, 'cell')} {times}")
    text = ", ".join(parts)
    if counts.entries < trace.entry_count:
        text += f" (counted over the first {counts.entries:,} of {trace.entry_count:,} entries)"
    return text
