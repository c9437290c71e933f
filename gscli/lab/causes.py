"""What could have produced an expected answer: other rule sets, and common mistakes, as data.

Each candidate is a phrase and what it would give for the very call. Tables hold the mistakes: other
rules for the same layout, other inputs or attributes for the same operator, and (`sample`) other
orders of the same entries. Every candidate runs on the shared kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import permutations, product
from typing import Any, TypeAlias, cast

import numpy as np

from gscli.base import GscliError, InputRefused, check_rule
from gscli.base.arrays import Array, BoolArray, cast_lossy, integer_limits, parse_dtype
from gscli.base.records import Arguments, Record
from gscli.base.words import INTEGERS, empty_reduction, format_command
from gscli.declare.attributes import Attribute
from gscli.frameworks.operator import ConceptName
from gscli.kernel.reductions import REDUCTION_WORDS, saturating_cast
from gscli.lab.cases import format_option
from gscli.lab.compare import compare, find_concept_inputs
from gscli.lab.concepts import CONCEPTS, find_concept_arguments, list_call_mappings
from gscli.lab.rules import CHOICE_ALIASES
from gscli.lab.sample import (
    Answer,
    ArrayTransform,
    CallVariants,
    DeferredRuns,
    order_mistakes,
    read_untouched,
    run_candidates,
)
from gscli.layout import Fold, Layout
from gscli.layout.axes import CLIP_OUTSIDE, SKIP_OUTSIDE, WRAP_OUTSIDE, OutOfBounds, Policy
from gscli.plan.indices import IndexOutcome, fits_axis
from gscli.plan.outcomes import outcome_of
from gscli.traces import Trace

# Axes of a tensor up to which every order of them is tried.
MAX_TRANSPOSED_AXES = 4


# Entries named of those that reach some cells, and how many of them at most stand in a sentence.
MAX_NAMED_ENTRIES, MAX_LISTED_ENTRIES = 1000, 8


class EntryNames(Record):
    """Some entries by their letters: the first of them, of `total`.

    >>> EntryNames(("a", "b", "entry 7,000"), 5).text
    'a, b, 7,000 and 2 more'
    """

    names: tuple[str, ...] = ()
    total: int = 0

    @property
    def text(self) -> str:
        """The first ones, and how many more there are."""
        listed = [name.removeprefix("entry ") for name in self.names[:MAX_LISTED_ENTRIES]]
        more = f" and {self.total - len(listed):,} more" if self.total > len(listed) else ""
        return ", ".join(listed) + more

    @property
    def reach(self) -> str:
        """Behind what they reach: that they do; "" of none."""
        noun = "entry" if self.total == 1 else "entries"
        return f", reached by {noun} {self.text}" if self.total else ""


class PossibleCause(Record):
    """A cause, and how many differing cells it explains; `is_exact`: it gives the whole answer;
    `is_rule_set`: it is somebody's rules, and no mistake.
    """

    cause: str
    cells: int
    entries: EntryNames
    is_exact: bool
    is_rule_set: bool = False


# Attributes that say how long an axis of the output is.
_COUNTED_AXES = {"num_classes": -1, "num_segments": 0}

# How many leading axes are tried as shared, and how many of the first and of the last rows of a
# table as the one that is left out.
_TRIED_BATCHES, _TRIED_ROWS = range(8), 8

# A possible cause, the end of "this is what you get when …", and its answer.
CandidateCause: TypeAlias = tuple[str, Array]

# The beginnings of causes, and the calls of `compare` that they are about.
ConceptCalls: TypeAlias = Iterator[tuple[str, ConceptName, dict[str, Any]]]


def iter_mistakes(call: CallVariants) -> Iterator[CandidateCause]:
    """Every mistake that has an answer for this call, the plainest first; refusals are left out."""
    tables = _layout_mistakes, _attribute_mistakes, order_mistakes, _input_mistakes
    for table in (*tables, _result_mistakes):
        yield from run_candidates(table(call))


def iter_modes(
    call: CallVariants,
    with_attributes: Callable[[Arguments], Answer],
    attributes: Iterable[Attribute],
) -> Iterator[tuple[str, Answer]]:
    """What is answered under others of some options, a number as it is where it is left out; the
    rows that padding may be are the first and the last that the indices name.
    """
    operator, shape, output = call.trace.operator, call.expected_shape, call.trace.output
    for item in attributes:
        values: Sequence[object] = item.choices or (True, False) * (item.kind == "bool")
        if isinstance(item.default, int | float) and item.kind != "bool":
            values = [item.default]
        if item.name in ("padding_idx", "ignore_index"):
            rows = np.unique(call.trace.inputs[call.trace.layout.index_inputs[0]])
            ends = np.unique([*rows[:_TRIED_ROWS], *rows[-_TRIED_ROWS:]])
            values = [*filter(None, [item.default]), *ends.tolist()]
        values = _TRIED_BATCHES if item.name == "batch_dims" else values
        if item.name in _COUNTED_AXES and len(shape) == output.ndim:
            values = [shape[_COUNTED_AXES[item.name]]]
        for value in [value for value in values if value not in CHOICE_ALIASES]:
            cause = f"it is called with {format_command(format_option(operator, item.name, value))}"
            yield from run_candidates([(cause, partial(with_attributes, {item.name: value}))])


# --- other frameworks -------------------------------------------------------------------------


def iter_rule_sets(call: CallVariants, *, are_others: bool = False) -> Iterator[CandidateCause]:
    """The answers of `compare` to the same call, where it has words for it: it has none for a
    reduction without the cell's own value. `are_others`: to others for which it is mistaken.
    """
    for cause, concept, words in _iter_other_calls(call) if are_others else _iter_own_calls(call):
        with suppress(GscliError):
            for group in compare(concept, **words).answers:
                yield f"{cause} of {', '.join(group.labels)}", cast("Array", group.first.output)


def _iter_other_calls(call: CallVariants) -> ConceptCalls:
    """The call where another operation was meant, or batch axes for which its own has no word."""
    for _, concept, words in _iter_own_calls(call):
        own, scatters = (concept, words.get("batch_dims") or 0), CONCEPTS[concept].scatters
        rank, axis = len(call.trace.layout.data_shape), words.get("axis")
        for count, (name, other) in product(_TRIED_BATCHES, CONCEPTS.items()):
            is_flat = name == "take"  # without an axis, which on a single one is gather
            is_none = is_flat and (rank < 2 or count)  # noqa: PLR2004  a single axis
            if is_none or (name, count) == own or other.scatters != scatters:
                continue
            has_axis = other.takes_axis and not is_flat
            for tried in range(rank) if has_axis and axis is None else (axis,):
                cause = f"the operation is {name}" + f" with batch_dims {count}" * bool(count)
                cause += f" along axis {tried}" * (has_axis and axis is None)
                kept = {**words, "axis": tried if has_axis else None, "batch_dims": count}
                yield f"{cause}, by the rules", name, kept


def _iter_own_calls(call: CallVariants) -> ConceptCalls:
    """The call as `compare` takes it, once, where it has words for it."""
    operator, own = call.trace.operator, call.trace.attributes
    mappings = list_call_mappings(operator, flat=call.trace.layout.is_flattened)
    has_words = call.trace.layout.include_self and own.get("subscript") is None
    for comparison in mappings if has_words else ():
        # None is the framework's own choice, by which the answers differ, not the call.
        if all(own.get(key) in (value, None) for key, value in comparison.fixed_attributes.items()):
            with suppress(GscliError):
                inputs = find_concept_inputs(comparison, call.trace.inputs)
                words = find_concept_arguments(operator, comparison, own, call.trace.inputs)
                words |= {"inputs": inputs, "run": call.run}
                yield "the rules are those", comparison.concept, words
                return


# --- other rules for the same addresses ---------------------------------------------------------

_OTHER_POLICIES = (
    CLIP_OUTSIDE, Policy(out_of_bounds=OutOfBounds.CLIP), WRAP_OUTSIDE,
    SKIP_OUTSIDE, Policy(out_of_bounds=OutOfBounds.SKIP),
)  # fmt: skip

_NEGATIVE_CAUSES: dict[IndexOutcome, str] = {
    "from_end": "negative indices count from the end",
    "clipped": "negative indices are read as 0",
    "wrapped": "negative indices count from the end",
    "below": "entries with a negative index are dropped",
    "outside": "entries with a negative index are dropped",
}

# What becomes of index numbers from -size to -1, and of those beyond both ends.
_BEYOND_CAUSES: dict[IndexOutcome, str] = {
    "clipped": "indices out of range are clipped to the nearest end",
    "wrapped": "indices are wrapped around until they fit",
    "outside": "entries with an index out of range are dropped",
}

# Types in which a reduction may be computed before it is rounded once.
_WIDER = {"float16": "float32", "bfloat16": "float32", "float32": "float64"}

# Types that a whole model may have been converted to.
_NARROWER = {
    "float64": ("float32",), "float32": ("float16", "bfloat16"),
    "int64": ("int32", "int16", "int8"), "int32": ("int16", "int8"), "int16": ("int8",),
}  # fmt: skip


def _layout_mistakes(call: CallVariants) -> DeferredRuns:
    layout = call.trace.layout
    dropped = f"read {layout.fill_value}" if layout.kind == "gather" else "are dropped"
    for cause, policy in iter_policy_mistakes(call.trace):
        answer = partial(call.with_layout, layout._replace(policy=policy))
        yield cause.replace("are dropped", dropped), answer
    if layout.fold is not None:
        yield from _bag_mistakes(call, layout.fold)
    if layout.kind != "scatter":
        return
    yield "nothing was written", partial(read_untouched, call.trace.plan, call.cells)
    if layout.reduction == "sub" and layout.data_name is not None:
        yield "the cell is subtracted from its updates", partial(_subtract_swapped, call)
    yield from _start_mistakes(call)
    yield from _reduction_mistakes(call)


def _bag_mistakes(call: CallVariants, fold: Fold) -> DeferredRuns:
    """Other numbers that bags without entries hold."""
    layout = call.trace.layout
    for start in dict.fromkeys([*_list_ends(layout.dtype, layout.reduction), np.nan]):
        bags = fold.scatter._replace(fill_value=start, include_self=False)
        other = layout._replace(fold=fold._replace(scatter=bags))
        yield f"empty bags hold {start!s}", partial(call.with_layout, other)


def _start_mistakes(call: CallVariants) -> DeferredRuns:
    """Other numbers that cells begin with, in place of data's where there are any."""
    layout, data = call.trace.layout, call.trace.layout.data_name
    initial = data or "initial" * (call.trace.attributes.get("initial") is not None)
    is_mean, ignored = call.trace.is_mean, f"{initial} is ignored and " if initial else ""
    ends = [*_list_ends(layout.dtype, layout.reduction), np.nan if is_mean else 0]
    for start in dict.fromkeys([0, *(ends[:1] if data else ends)]):
        apart = layout._replace(data_name=None, fill_value=start, include_self=False)
        # Whether any other start takes part is the same.
        is_same = start != 0 or layout.reduction not in ("mul", "max", "min")
        if not is_mean and (data or not is_same):
            every = layout.written_updates._replace(keeps_lone=False)
            whole = partial(call.with_layout, apart._replace(include_self=True, updates=every))
            yield f"{ignored}everything starts from {start!s}", whole
        if data is None or is_mean or not is_same:
            yield f"{ignored}empty cells hold {start!s}", partial(call.with_layout, apart)
    if data and is_mean and layout.include_self:  # a start that is counted
        yield f"{ignored}everything starts from 0", partial(call.with_inputs, {data: np.zeros_like})


def _list_ends(dtype: str, reduction: str) -> list[Any]:
    """What a reduction of no numbers at all comes to, infinite or not."""
    ends = (empty_reduction(dtype, reduction, infinite=way) for way in (True, False))
    return [] if dtype == "str" else [*map(parse_dtype(dtype).type, ends)]


def _reduction_mistakes(call: CallVariants) -> DeferredRuns:
    layout, data = call.trace.layout, call.trace.layout.data_name
    is_owned = data is not None or call.trace.attributes.get("initial") is not None
    for reduction, words in REDUCTION_WORDS.items():
        ends = [] if is_owned or reduction == "none" else _list_ends(layout.dtype, reduction)
        for start in [layout.fill_value, *ends]:
            other = layout._replace(reduction=reduction, unspecified_order="", fill_value=start)
            other = other._replace(include_self=layout.include_self and is_owned)
            if words.missing and reduction != layout.reduction:
                yield words.missing, partial(call.with_layout, other)
    sums = layout._replace(reduction="add", include_self=False, unspecified_order="")
    pairs = (sums._replace(reduction="mean"), "averaged"), (sums, "added")
    for other, verb in pairs if layout.own_terms and call.trace.duplicates(0).total else ():
        if layout.reduction != other.reduction:
            cause = f"updates are {verb}, and {data} takes no part"
            yield cause, partial(call.with_layout, other)
    if layout.reduction != "none":
        flipped = layout._replace(include_self=not layout.include_self)
        # 0 is no part of a mean; where an option says it, that is the cause.
        if data is not None and {"include_self", "use_init_val"}.isdisjoint(call.trace.attributes):
            part = "no part" if layout.include_self else "part"
            yield f"{data} takes {part} in the reduction", partial(call.with_layout, flipped)
        if layout.dtype in INTEGERS:
            cause = f"results beyond {layout.dtype} stay at its ends"
            is_mean, cut = layout.reduction == "mean", "means of integers are cut toward zero"
            yield cut if is_mean else cause, partial(_convert_floats, call)
        if layout.dtype in _WIDER:
            kept = None if layout.accumulate_dtype else _WIDER[layout.dtype]
            cause = f"the reduction is computed in {kept or layout.dtype}"
            yield cause, partial(call.with_layout, layout._replace(accumulate_dtype=kept))


def iter_policy_mistakes(trace: Trace) -> Iterator[tuple[str, Policy]]:
    """Other rules for index numbers that occur, each with what it changes of the call's own."""
    layout, own = trace.layout, trace.layout.policy
    # These policies speak of numbers that name one row each; a wrapped window could end outside.
    rows = all(layout.axes[axis].window is None for axis in layout.column_axes)
    occurring = _unusual_indices(trace) if rows else (False, False)
    causes = dict[str, Policy]()
    for policy in _OTHER_POLICIES:
        rules = zip(_policy_words(own), _policy_words(policy), occurring, strict=True)
        changes = [after for before, after, occurs in rules if after and occurs and before != after]
        if own.negative is policy.negative:  # numbers below zero are out of range like others
            changes = changes[-1:]
        if changes:
            causes.setdefault(" and ".join(changes), policy)
    yield from causes.items()
    if trace.attributes.get("padding_idx") is not None:
        yield "padding_idx is left out", own._replace(ignored=None)


def _policy_words(policy: Policy) -> tuple[str | None, str | None]:
    negative, beyond = outcome_of(policy, negative=True), outcome_of(policy)
    return _NEGATIVE_CAUSES.get(negative), _BEYOND_CAUSES.get(beyond)


def _unusual_indices(trace: Trace) -> tuple[bool, bool]:
    """Whether index numbers from -size to -1 occur, and any beyond both ends of their axis."""
    layout, negative, beyond = trace.layout, False, False
    for column, at in zip(layout.addressing.columns, layout.column_axes, strict=True):
        numbers = trace.plan.input_column(column)
        fits = fits_axis(numbers, layout.axes[at], Policy())
        negative |= bool((fits & (numbers < 0)).any())
        beyond |= not fits.all()
    return negative, beyond


def _convert_floats(call: CallVariants) -> Array:
    """What floats give, cut toward zero and at the ends of a type of integers; InputRefused where
    nothing is cut.
    """
    values = filter(None, call.trace.layout.value_names)
    wide = call.with_inputs(dict.fromkeys(values, lambda array: array.astype(np.float64)))
    output = saturating_cast(wide, call.trace.output.dtype)
    is_cut = (output != np.floor(wide)) | (wide >= float(integer_limits(output.dtype)[1]))
    check_rule(bool(is_cut.any()), "nothing is cut", kind=InputRefused)
    return output


def _subtract_swapped(call: CallVariants) -> Array:
    """Update − cell, for cells that a subtraction changes."""
    plan = call.trace.plan
    data, output = read_untouched(plan, call.cells), call.output_of(plan)
    return np.where(output == data, data, np.negative(output))


# --- other inputs or attributes for the same operator -------------------------------------------


def _column_major(array: Array) -> Array:
    """The numbers in column-major order, where a reader took them to be in row-major order."""
    return array.reshape(-1, order="F").reshape(array.shape)


def _mark_last(array: Array) -> BoolArray:
    """1 for the last number of each index vector, 0 for the others."""
    return np.equal(np.arange(array.shape[-1], 0, -1), 1)


def _wrap_bits(dtype: str, array: Array) -> Array:
    return array.astype(dtype).astype(array.dtype)


def _repeat_first(array: Array) -> Array:
    return np.broadcast_to(array[:1], array.shape)


_INDEX_TRANSFORMS: dict[str, ArrayTransform] = {
    "indices are counted from 1": lambda array: array - np.ones((), array.dtype),
    "indices are counted from -1": lambda array: array + np.ones((), array.dtype),
    "indices are sorted": partial(np.sort, axis=0),
    "indices are reversed": lambda array: array[::-1],
    "the first indices are used for every entry": _repeat_first,
    **{f"indices are cut to {dtype}": partial(_wrap_bits, dtype)
       for dtype in ("int8", "uint8", "int16", "uint16", "int32")},
}  # fmt: skip
_VECTOR_TRANSFORMS: dict[str, ArrayTransform] = {
    "the numbers of each index vector are read in reverse order": lambda array: array[..., ::-1],
    "index vectors lie along the first axis of indices": lambda array: np.moveaxis(array, 0, -1),
    "the last number of each index vector is one too high": lambda array: array + _mark_last(array),
    "the last number of each index vector is one too low": lambda array: array - _mark_last(array),
}

# Of indices with several axes, none of which is that of vectors.
_ROW_TRANSFORMS: dict[str, ArrayTransform] = {
    "indices are reversed along their last axis": lambda array: array[..., ::-1],
}

# Of the axis of updates on which entries lie, in the words for what stands at each place of it.
_ENTRY_TRANSFORMS: dict[str, ArrayTransform] = {
    "the first {update} is used for every {entry}": _repeat_first,
    "updates are one {entry} late": lambda array: np.roll(array, 1, axis=0),
    "updates are one {entry} early": lambda array: np.roll(array, -1, axis=0),
}


def zero_row(row: int, array: Array) -> Array:
    """A copy of which one row is 0, as a table's row of padding."""
    padded = array.copy()
    padded[row] = 0
    return padded


_DATA_TRANSFORMS: dict[str, ArrayTransform] = {
    "row 0 of data is padding, which is zero": partial(zero_row, 0),
    "the last row of data is padding, which is zero": partial(zero_row, -1),
}


def _input_mistakes(call: CallVariants) -> DeferredRuns:
    layout, inputs = call.trace.layout, call.trace.call_inputs
    sources = layout.index_inputs
    indices = sources[0] if len(sources) == 1 and sources[0] in inputs else ""
    of_indices = _index_transforms(call.trace, indices)
    of_updates, of_data = _update_transforms(layout), dict(_DATA_TRANSFORMS)
    if layout.reduction not in ("add", "sub"):  # of those a sum is the other one
        of_updates["updates have the other sign"] = np.negative
    if any(axis.column is None for axis in layout.axes[:1]):
        of_data["the first batch of data is used for every batch"] = _repeat_first
    # Data that is read with all its axes turned is read by vectors in reverse order.
    is_read = layout.kind == "gather" and _VECTOR_TRANSFORMS.keys() <= of_indices.keys()
    turned = (*range(len(layout.column_axes)),)[::-1] if is_read else ()
    changed = (
        ("indices are", indices, of_indices),
        ("updates are", layout.value_names[1] or "", of_updates),
        ("data is", layout.data_name or "", of_data),
    )
    for words, name, changes in changed:
        array = inputs.get(name)
        if array is None or not array.ndim or not array.size:
            continue
        in_order = {f"{words} read in column-major order": _column_major}
        for cause, change in (in_order | changes).items():
            yield cause, partial(call.with_inputs, {name: change})
        for order, turns in _other_orders(array):
            transpose = partial(np.transpose, axes=order)
            if (name, order) != (layout.data_name, turned):
                yield f"{name} {turns}", partial(call.with_inputs, {name: transpose})
    for name in [key for key, array in inputs.items() if array.dtype.kind == "b"]:
        yield f"true and false of {name} are swapped", partial(call.with_inputs, {name: np.invert})


def _result_mistakes(call: CallVariants) -> DeferredRuns:
    layout, output = call.trace.layout, call.trace.output
    # Of single cells that indices name along one axis the result lies as the indices do.
    deepest = max((call.trace.inputs[name].ndim for name in layout.index_inputs), default=0)
    is_apart = layout.kind == "scatter" or len(layout.view_shape) > 1 or deepest < output.ndim
    is_whole = call.cells is None and not call.trace.is_refused
    for order, turns in _other_orders(output) if is_whole and is_apart else ():
        yield f"the result {turns}", partial(np.transpose, output, order)
    for dtype in _NARROWER.get(layout.dtype, ()):
        yield f"it is computed in {dtype}", partial(_compute_in_dtype, call, dtype)


def _update_transforms(layout: Layout) -> dict[str, ArrayTransform]:
    """Mistakes for updates, along the axis of them on which entries lie, or rows of entries."""
    grid, axes = layout.addressing.entry_shape, layout.addressing.result_axes
    if not grid:
        return {}
    words = {"update": "update", "entry": "entry"}
    if math.prod(grid[1:]) > 1:
        words = {"update": "row of updates", "entry": "row of entries"}
    along = partial(_change_axis, axes.index(0) - len(axes))
    items = _ENTRY_TRANSFORMS.items()
    return {cause.format(**words): partial(along, change) for cause, change in items}


def _change_axis(axis: int, change: ArrayTransform, array: Array) -> Array:
    """A change of the first axis, made along another one; ValueError where there is none."""
    return np.moveaxis(change(np.moveaxis(array, axis, 0)), 0, axis)


def _index_transforms(trace: Trace, name: str) -> dict[str, ArrayTransform]:
    """Mistakes for the index input of this name: some are those of vectors on its last axis."""
    last = trace.call_inputs[name].ndim - 1 if name else 0
    if any(column.vector_dim == last for column in trace.layout.addressing.columns):
        return _INDEX_TRANSFORMS | _VECTOR_TRANSFORMS
    return _INDEX_TRANSFORMS | (_ROW_TRANSFORMS if last > 0 else {})


def _other_orders(array: Array) -> Iterator[tuple[tuple[int, ...], str]]:
    """Every order of the axes but their own, where there are few, and the words for it.

    Of those that axes of size 1 make alike the reverse of all is taken, else the first.
    """
    if array.ndim > MAX_TRANSPOSED_AXES:
        return
    moved = [None if size == 1 else axis for axis, size in enumerate(array.shape)]
    orders = [*permutations(range(array.ndim))]
    preferred = [*reversed(orders), orders[-1]]  # the last is the reverse
    by_effect = {tuple(moved[axis] for axis in order): order for order in preferred}
    del by_effect[tuple(moved)]
    for order in by_effect.values():
        text = "" if order == orders[-1] else f", its axes in the order {order}"
        yield order, f"is transposed{text}"


def _attribute_mistakes(call: CallVariants) -> DeferredRuns:
    trace, own = call.trace, call.trace.inputs.get("axis")
    axes = {name: trace.attributes[name] for name in ("axis", "dim") if name in trace.attributes}
    if own is not None and own.size == 1:
        axes["axis"] = own.item()
    flat = () if "batch_dims" in trace.attributes else (None,)
    for name, value in axes.items():
        for axis in (*range(len(trace.layout.data_shape)), *flat):
            run = partial(call.with_attributes, {name: axis})
            if name in trace.inputs:
                run = partial(call.with_inputs, {name: partial(np.full_like, fill_value=axis)})
            yield f"{name} is {axis}, not {value}".replace("None", "none"), run


def _compute_in_dtype(call: CallVariants, dtype: str) -> Array:
    """The answer where data and updates have a type, given in that of the call."""
    cast_to_dtype, layout = partial(cast_lossy, dtype=parse_dtype(dtype)), call.trace.layout
    if layout.kind == "gather" and layout.fold is None:  # rounds the same afterwards
        narrow = cast_to_dtype(call.output_of(call.trace.plan))
    else:
        names = [name for name in call.trace.call_inputs if name in layout.value_names]
        narrow = call.with_inputs(dict.fromkeys(names, cast_to_dtype))
    return cast_lossy(narrow, call.trace.output.dtype)
