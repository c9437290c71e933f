"""What is drawn: each tensor of a trace with the boxes that its entries touch, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.base.words import format_place
from gscli.layout.axes import Box, box_size, reshape_box
from gscli.plan.indices import IndexOutcome
from gscli.traces import Entry, Role, Trace, TracedTensor

if TYPE_CHECKING:
    from gscli.lab.expectation import OutputDiagnosis


class Mark(Record):
    """The cells of one tensor that one entry touches. `alarm`: it was skipped, or they are."""

    number: int
    label: str
    box: Box
    alarm: bool = False


class Patch(Record):
    """Values that stand in a box instead of the array's own (a step not yet reached)."""

    box: Box
    values: Array


class PreviousValues(Record):
    """What the marked cells held before: marked cells are drawn as `was → is`.

    `words`: how the head of the grid calls both.
    """

    array: Array
    patches: tuple[Patch, ...] = ()
    words: tuple[str, str] = ("was", "is")


class TensorView(Record):
    """One tensor with its marks.

    `outcomes`: what became of the number in a cell of indices. `last_wins`: of several writers the
    last decides. `batch`: leading axes that own their entries. `left_out`: how many entries of the
    run were not marked; with 0, cells without a mark are untouched, and None is of no run.
    `is_target`: entries address its cells. `before`: marked cells are drawn as `was → is`.
    `expected`: cells that hold something else are drawn as `is ≠ expected`, but for those `pending`
    that a later step still reaches.

    In a step, `full_run` is the whole run, for which room is kept so that nothing moves from frame
    to frame, and for `steps`, what the cells of each entry were and are, by its number. `known`:
    flags of the cells that are known besides `patches`; None: all are.
    """

    name: str
    array: Array
    role: Role | None = None
    marks: tuple[Mark, ...] = ()
    outcomes: Mapping[tuple[int, ...], IndexOutcome] = MappingProxyType({})
    last_wins: bool = False
    batch: int = 0
    left_out: int | None = None
    full_run: TensorView | None = None
    patches: tuple[Patch, ...] = ()
    known: Array | None = None
    steps: Mapping[int, tuple[Array, Array]] = MappingProxyType({})
    before: PreviousValues | None = None
    expected: OutputDiagnosis | None = None
    pending: Array | None = None
    is_target: bool = False


# Which tensors stand as grids beside the table of entries.
_GRIDS: Mapping[str, tuple[Role, ...]] = {"gather": ("data", "output"), "scatter": ("output",)}


def make_views(
    trace: Trace, entries: Sequence[Entry], show: Sequence[str] | None = None
) -> list[TensorView]:
    """The tensors of `trace` in drawing order, marked by `entries`; `show` picks by role or name.

    Without it those that stand as grids beside the table of entries, which say what is addressed,
    and what was and is.

    >>> from gscli.traces import trace
    >>> run = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1]})
    >>> views = make_views(run, run.entries())
    >>> [(view.name, [mark.box for mark in view.marks]) for view in views]
    [('data', [((2, 3),)]), ('output', [((0, 1),)])]
    """
    chosen: Sequence[str] = _GRIDS[trace.kind] if show is None else show
    tensors = (item for item in trace.tensors if {item.role, item.name} & {*chosen})
    views = [_make_view(trace, tensor, entries) for tensor in tensors]
    if show is not None:
        return views
    scatters = trace.kind == "scatter"
    before = PreviousValues(initial_output(trace), words=trace.change_words) if scatters else None
    target = "output" if scatters else "data"
    return [view._replace(is_target=view.role == target, before=before) for view in views]


def add_expected(
    views: Sequence[TensorView], diagnosis: OutputDiagnosis | None, pending: Array | None = None
) -> list[TensorView]:
    """The subjects, the output with what it should hold where that can be drawn."""
    difference = diagnosis and diagnosis.difference
    if not (diagnosis and difference and difference.has_same_shape and difference.differing_count):
        return list(views)
    pairs = ((view, view._replace(expected=diagnosis, pending=pending)) for view in views)
    return [differing if view.role == "output" else view for view, differing in pairs]


def _make_view(trace: Trace, tensor: TracedTensor, entries: Sequence[Entry]) -> TensorView:
    marks = tuple(
        Mark(entry.number, entry.label, box, not entry.live and trace.layout.window_size > 0)
        for entry in entries
        if (box := find_box(trace, tensor, entry)) is not None and box_size(box)
    )
    if tensor.role == "updates":
        lost = ((entry, box) for entry in entries for box in entry.dropped)
        marks += tuple(Mark(entry.number, entry.label, box, alarm=True) for entry, box in lost)
    adjusted = (index for entry in entries for index in entry.adjustments)
    outcomes = {index.position: index.outcome for index in adjusted if index.source == tensor.name}
    name, role, array = tensor
    last_wins = (trace.kind, trace.reduction, role) == ("scatter", "none", "output")
    batch, left_out = _count_batch_axes(trace, tensor), trace.entry_count - len(entries)
    known = trace.known_cells if role == "output" else None
    return TensorView(name, array, role, marks, outcomes, last_wins, batch, left_out, known=known)


def find_box(trace: Trace, tensor: TracedTensor, entry: Entry) -> Box | None:
    """The box of `entry` in one tensor, or None where it touches nothing."""
    if tensor.role == "indices":
        return dict(entry.indices).get(tensor.name)
    if tensor.role == "updates" or (tensor.role == "output" and trace.kind == "gather"):
        return entry.result
    if entry.target is None:
        return None
    return reshape_box(entry.target, trace.layout.data_shape, tensor.shape)


def _count_batch_axes(trace: Trace, tensor: TracedTensor) -> int:
    batch = trace.attributes.get("batch_dims", 0)
    if not isinstance(batch, int):
        return 0
    if batch < 0:
        batch += len(trace.inputs[trace.layout.index_inputs[0]].shape)
    layout = trace.layout
    flattened = layout.kind == "gather" and layout.output_shape != layout.addressing.result_shape
    return 0 if tensor.role == "output" and flattened else min(batch, len(tensor.shape))


def initial_output(trace: Trace) -> Array:
    """Data, or the fill, in the shape and type of output; without a copy where they are data's."""
    initial, dtype = trace.plan.initial_output.reshape(trace.output.shape), trace.output.dtype
    return initial if dtype.kind == "U" else initial.astype(dtype, copy=False)


def list_samples(trace: Trace, entries: Sequence[Entry], most: int) -> list[Array]:
    """The values that a number format must suit where entries are told, of at most so many cells.

    What cells held, and what stands where the result of each entry does, in its own type.
    """
    changes = [entry.change for entry in entries if entry.change is not None]
    samples = [part for change in changes for part in (change.old, change.update, change.new)]
    samples += [operand for change in changes for operand in change.operands]
    tensor = trace.tensor("output" if trace.kind == "gather" else "updates")
    boxes = [entry.result for entry in entries if entry.result is not None]
    samples += [take_box(tensor.array, box) for box in boxes if tensor is not None]
    samples += [find_factor(trace, entry)[1] for entry in entries]
    return [sample for sample in samples if sample.size <= most]


def find_factor(trace: Trace, entry: Entry) -> tuple[str, Array]:
    """What the cells of an entry are multiplied by before they are folded: where it stands, and an
    array of it, which is empty where nothing is.
    """
    fold, factors = trace.layout.fold, trace.plan.entry_factors
    if fold is None or fold.factors is None or factors is None or not entry.live:
        return "", np.empty(0)
    place = [*map(int, entry.vector)] if fold.are_by_row else entry.at
    return format_place(fold.factors, place), factors.reshape(-1)[entry.number : entry.number + 1]


def take_box(array: Array, box: Box) -> Array:
    """The cells of a box."""
    return array[tuple(slice(start, stop) for start, stop in box)]
