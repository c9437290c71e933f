"""Traces: what a plan did, as facts for people. All pictures, explanations and JSON read one.

Built lazily: a trace of a call with a million entries costs nothing until entries are asked for,
and then only for those. Nothing here decides a rule; coordinates come from the plan, arithmetic
from the kernel's reduction table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Literal, TypeAlias

from gscli.arrays import dtype_name, plain
from gscli.boxes import Box, axis_boxes, reshaped, without
from gscli.declare import Operator
from gscli.duplicates import Duplicates, duplicate_writers
from gscli.entries import Adjustment, Entry, How, label_of
from gscli.errors import Notice
from gscli.execute import Run, execute, named
from gscli.formats.jsonarray import dump_json
from gscli.layout import Beyond, Fit, Layout, Shape
from gscli.notices import duplicate_notice
from gscli.plan import Array, legal_range
from gscli.replay import Replay
from gscli.text import counted

__all__ = [
    "SCHEMA",
    "Adjustment",
    "Entry",
    "How",
    "Role",
    "Trace",
    "TracedTensor",
    "label_of",
    "trace",
]

SCHEMA = "gscli/1"
"""Names the JSON form of a run."""

Role: TypeAlias = Literal["data", "indices", "updates", "output"]

ENTRIES_AT_ONCE = 1024

LISTED_ENTRIES = 10_000
"""Entries that `to_dict` lists before it only counts them."""

LISTED_CELLS = 10_000
"""Cells of an input that `to_dict` lists."""


@dataclass(frozen=True)
class TracedTensor:
    """A tensor of the picture: argument name, role, values."""

    name: str
    role: Role
    array: Array = field(repr=False)

    @property
    def shape(self) -> Shape:
        """Shape of the array."""
        return self.array.shape

    @property
    def dtype(self) -> str:
        """Element type by name."""
        return dtype_name(self.array.dtype)


@dataclass(frozen=True)
class Trace:
    """The facts of one run.

    `source_names`: how the user named each input (files), for messages. `notices`: warnings from
    before the run, about its inputs.
    """

    run: Run
    source_names: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()

    def __repr__(self) -> str:
        shape = "×".join(map(str, self.run.output.shape))
        entries = counted(self.entry_count, "entry", "entries")
        return f"<Trace of {self.operator.full_name}, {entries}, output [{shape}]>"

    @property
    def operator(self) -> Operator:
        """The declared operator."""
        return self.run.operator

    @property
    def layout(self) -> Layout:
        """The layout that was executed."""
        return self.run.plan.layout

    @property
    def kind(self) -> Literal["gather", "scatter"]:
        """Whether cells were read or written."""
        return self.layout.kind

    @property
    def entry_count(self) -> int:
        """Number of index entries."""
        return self.layout.entry_count

    @property
    def reduction(self) -> str:
        """How updates met the value already there ("none" for gathers)."""
        return self.layout.reduction

    @cached_property
    def attributes(self) -> dict[str, object]:
        """Attributes of the call, defaults included."""
        return dict(self.layout.attributes)

    @cached_property
    def shown_attributes(self) -> dict[str, object]:
        """Attributes that differ from their defaults."""
        defaults = {item.name: item.default for item in self.operator.attributes}
        return {
            name: value
            for name, value in self.attributes.items()
            if value != defaults[name] and name != "opset"
        }

    @cached_property
    def tensors(self) -> tuple[TracedTensor, ...]:
        """Data, indices, updates, output: those the call has, in drawing order."""
        layout, inputs = self.layout, self.run.inputs
        found = [TracedTensor(layout.data, "data", inputs[layout.data])] if layout.data else []
        found += [TracedTensor(name, "indices", inputs[name]) for name in layout.index_inputs]
        if layout.updates is not None and layout.updates.name is not None:
            name = layout.updates.name
            found.append(TracedTensor(name, "updates", inputs[name]))
        return (*found, TracedTensor("output", "output", self.run.output))

    def tensor(self, role: Role) -> TracedTensor | None:
        """The first tensor with this role."""
        return next((tensor for tensor in self.tensors if tensor.role == role), None)

    def entries(self, limit: int | None = None) -> list[Entry]:
        """The first `limit` entries (default all), with old and new values for scatters."""
        count = self.entry_count if limit is None else min(limit, self.entry_count)
        return list(self._entries(count))

    def _entries(self, count: int) -> Iterator[Entry]:
        plan = self.run.plan
        replay = Replay(self.run, count) if self.kind == "scatter" else None
        for first in range(0, count, ENTRIES_AT_ONCE):
            last = min(first + ENTRIES_AT_ONCE, count)
            grid = [axis.tolist() for axis in plan.grid(first, last)]
            columns = [
                self._resolved(column, first, last)
                for column in range(len(self.layout.column_axes))
            ]
            for offset in range(last - first):
                at = tuple(axis[offset] for axis in grid)
                resolved = tuple(column[offset] for column in columns)
                yield self._entry(first + offset, at, resolved, replay)

    def _resolved(self, column: int, first: int, last: int) -> list[tuple[int, bool]]:
        """What the plan made of one column's numbers: each coordinate, and whether it is live."""
        plan = self.run.plan
        coordinates, live = plan.coordinates(column, plan.raw(column, first, last))
        flags = [True] * (last - first) if live is None else live.tolist()
        return list(zip(coordinates.tolist(), flags, strict=True))

    def _entry(
        self,
        number: int,
        at: tuple[int, ...],
        resolved: tuple[tuple[int, bool], ...],
        replay: Replay | None,
    ) -> Entry:
        vector = self.run.plan.vector(number)
        live = all(alive for _, alive in resolved)
        starts = tuple(start for start, _ in resolved)
        target = self._target(at, starts) if live else None
        whole = tuple((0, size) for size in self.layout.addressing.window)
        result = taken = self._result(at, whole)
        if self.kind == "scatter" and target is not None and not self.layout.policy.whole:
            taken = self._result(at, self._inside(at, starts))
        return Entry(
            number,
            label_of(number),
            at,
            vector,
            self._index_boxes(number),
            tuple(self._adjustments(vector, resolved)),
            target,
            taken,
            replay.change(number) if replay is not None and target is not None else None,
            without(result, taken) if result is not None and taken is not None else (),
        )

    def _adjustments(
        self, vector: tuple[int | float, ...], resolved: tuple[tuple[int, bool], ...]
    ) -> Iterator[Adjustment]:
        policy = self.layout.policy
        for slot, (axis_number, (start, alive)) in enumerate(
            zip(self.layout.column_axes, resolved, strict=True)
        ):
            axis, written = self.layout.axes[axis_number], vector[slot]
            low, high = legal_range(axis, policy)
            beside = not policy.whole and not -axis.span < start < axis.size
            if not alive or beside:
                yield Adjustment(slot, axis_number, axis.size, written, None, "skipped")
            elif policy.beyond is Beyond.CLIP and not low <= written <= high:
                yield Adjustment(slot, axis_number, axis.size, written, start, "clipped")
            elif int(written) != start:
                yield Adjustment(slot, axis_number, axis.size, written, start, "wrapped")

    def _target(self, at: tuple[int, ...], starts: tuple[int, ...]) -> Box | None:
        layout = self.layout
        box: list[tuple[int, int]] = []
        for axis in layout.axes:
            start = 0 if axis.column is None else starts[axis.column]
            start += 0 if axis.entry is None else at[axis.entry]
            stop = start + (axis.span if axis.window is not None else 1)
            box.append((max(start, 0), min(stop, axis.size)))
        if any(stop <= start for start, stop in box):
            return None
        return reshaped(tuple(box), layout.view_shape, layout.data_shape)

    def _inside(self, at: tuple[int, ...], starts: tuple[int, ...]) -> Box:
        """The part of an entry's window whose cells exist."""
        found = [(0, size) for size in self.layout.addressing.window]
        for axis in self.layout.axes:
            if axis.window is not None:
                start = 0 if axis.column is None else starts[axis.column]
                start += 0 if axis.entry is None else at[axis.entry]
                found[axis.window] = (max(-start, 0), min(axis.span, axis.size - start))
        return tuple(found)

    def _result(self, at: tuple[int, ...], window: Box) -> Box | None:
        addressing = self.layout.addressing
        both = [(place, place + 1) for place in at] + list(window)
        box = tuple(both[position] for position in addressing.order)
        if self.kind == "gather":
            return reshaped(box, addressing.result_shape, self.layout.output_shape)
        updates = self.layout.updates
        if updates is None or updates.name is None:
            return None
        shape = self.run.inputs[updates.name].shape
        if updates.fit is Fit.BROADCAST:
            return axis_boxes(box, shape)
        if updates.fit is Fit.CYCLE:
            size, wanted = prod(shape), addressing.result_shape
            flat = reshaped(box, wanted, (prod(wanted),))[0][0] % size
            return reshaped(((flat, flat + 1),), (size,), shape)
        if updates.fit in (Fit.RESHAPE, Fit.CROP) and len(shape) != len(box):
            return reshaped(box, addressing.result_shape, shape)
        return box

    def _index_boxes(self, number: int) -> tuple[tuple[str, Box], ...]:
        boxes: dict[str, Box] = {}
        for column, declared in enumerate(self.layout.addressing.columns):
            if declared.source in boxes:
                continue
            place = self.run.plan.index_position(column, number)
            box = [(at, at + 1) for at in place]
            if declared.vector_dim is not None:
                length = self.run.inputs[declared.source].shape[declared.vector_dim]
                box[declared.vector_dim] = (0, length)
            boxes[declared.source] = tuple(box)
        return tuple(boxes.items())

    def duplicates(self, limit: int = 3) -> Duplicates:
        """Entries that write the same cells; the first `limit` groups are described."""
        return duplicate_writers(self.run.plan, limit)

    @cached_property
    def warnings(self) -> tuple[Notice, ...]:
        """What the rules allow and may still surprise: inputs changed, an open order of writers."""
        return (*self.notices, *duplicate_notice(self))

    def __rich__(self) -> object:
        from gscli.views.notebook import shown  # noqa: PLC0415  drawing, only when it is asked for

        return shown(self).__rich__()

    def _repr_html_(self) -> str:
        """The picture in a notebook."""
        from gscli.views.notebook import shown  # noqa: PLC0415

        return shown(self)._repr_html_()

    def to_dict(self, limit: int | None = None) -> dict[str, object]:
        """The JSON form, schema SCHEMA; entries are only counted above LISTED_ENTRIES.

        Inputs of up to LISTED_CELLS cells carry their `data`, flat as the output's, so that a
        document of a small run says all that is needed to run it again.
        """
        attributes = dict(self.attributes)
        opset = attributes.pop("opset", None)
        document: dict[str, object] = {
            "schema": SCHEMA,
            "op": self.operator.name,
            "framework": self.operator.framework.name,
        }
        if opset is not None:
            document["opset"] = opset
        document["attrs"] = {key: plain(value) for key, value in attributes.items()}
        document["inputs"] = {name: _tensor_dict(array) for name, array in self.run.inputs.items()}
        document["output"] = dump_json(self.run.output)
        document["entry_count"] = self.entry_count
        listed = limit is not None or self.entry_count <= LISTED_ENTRIES
        told = self.entries(limit) if listed else []
        gathered = self.kind == "gather"
        document["entries"] = [entry.to_dict(gathered=gathered) for entry in told]
        document["warnings"] = [notice.to_dict() for notice in self.warnings]
        return document


def _tensor_dict(array: Array) -> dict[str, object]:
    """An input, without its cells where there are many."""
    if array.size <= LISTED_CELLS:
        return dump_json(array)
    return {"dtype": dtype_name(array.dtype), "shape": list(array.shape)}


def trace(
    name: str, inputs: Mapping[str, object], attrs: Mapping[str, object] | None = None
) -> Trace:
    """Run `framework.operator` and return its trace.

    >>> found = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1]})
    >>> [(entry.label, entry.vector, entry.target, entry.status) for entry in found.entries()]
    [('a', (-1,), ((2, 3),), 'wrap')]
    """
    return Trace(execute(named(name, inputs, attrs), inputs, attrs or {}))
