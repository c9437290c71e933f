"""What a run did, as facts.

All pictures, explanations and JSON read one trace. Built lazily: a trace of a call with a million
entries costs nothing until entries are asked for, and then only for those. Nothing here decides a
rule; coordinates come from the plan, arithmetic from the kernel's reduction table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from gscli.base import GscliError, Notice
from gscli.base.arrays import Array, Arrays, dtype_name, to_json
from gscli.base.records import Arguments, Record, cached_property, former_names
from gscli.base.words import entry_label, format_count
from gscli.frameworks import find_called
from gscli.frameworks.execute import collect_notices, execute
from gscli.frameworks.operator import Operator
from gscli.kernel.reductions import REDUCTIONS
from gscli.kernel.tiles import cell_addresses
from gscli.layout import Layout
from gscli.layout.axes import Reduction, Shape
from gscli.plan.plan import ValidatedPlan
from gscli.traces.entries import Entry, iter_entries

__all__ = ["SCHEMA", "Entry", "Role", "Trace", "TracedTensor", "entry_label", "trace"]

if TYPE_CHECKING:
    from gscli.frameworks.duplicates import Duplicates

# Names the JSON form of a run.
SCHEMA = "gscli/1"

Role: TypeAlias = Literal["data", "indices", "updates", "output"]

# Entries that `to_dict` lists before it only counts them.
MAX_JSON_ENTRIES = 10_000

# Cells of an input that `to_dict` lists.
MAX_JSON_CELLS = 10_000


class TracedTensor(Record):
    """A tensor of the picture: argument name, role, values."""

    name: str
    role: Role
    array: Array

    @property
    def shape(self) -> Shape:
        """Shape of the array."""
        return self.array.shape

    @property
    def dtype(self) -> str:
        """Element type by name."""
        return dtype_name(self.array.dtype)


class TraceWords(Record):
    """What a picture says of a trace that is no operator's own run, as the way back is none.

    `purpose` and `rule` are sentences, `equations` what is assigned; `make_remarks` makes what
    stands below the picture, of a `Describer` and the entries whose cells are marked.
    """

    purpose: str
    equations: tuple[str, ...]
    rule: str
    make_remarks: Callable[[Any, Sequence[Entry]], list[Any]]


@former_names(averages="is_mean", shown_attributes="nondefault_attributes")
class Trace:
    """One finished call, as facts: the operator, the plan with the inputs, and the output.

    `source_names`: how the user named each input (files), for messages. `notices`: warnings from
    before the run, about its inputs. `stated`: attributes that were written, defaults or not.
    """

    # How a picture calls the two values of a cell that is written.
    change_words: tuple[str, str] = ("was", "is")

    # How a picture calls the result.
    output_name = "output"

    # What is said of it in place of the words for an operator's own run.
    words: TraceWords | None = None

    # Whether the entries of a scatter know what their cells held before and after them.
    is_replayed = True

    def __init__(
        self,
        operator: Operator,
        plan: ValidatedPlan,
        output: Array,
        source_names: Mapping[str, str] = MappingProxyType({}),
        notices: tuple[Notice, ...] = (),
        stated: Collection[str] = (),
    ) -> None:
        self.operator, self.plan, self.output = operator, plan, output
        self.source_names, self.notices = dict(source_names), notices
        self.stated = frozenset(stated)

    def __repr__(self) -> str:
        shape = "×".join(map(str, self.output.shape))
        entries = format_count(self.entry_count, "entry", "entries")
        return f"<Trace of {self.operator.full_name}, {entries}, output [{shape}]>"

    @property
    def title(self) -> str:
        """What was run, as a shell would say it."""
        return self.operator.command_line.removeprefix("gscli ")

    @property
    def inputs(self) -> Arrays:
        """The inputs by name, masks and numbers put in place."""
        return self.plan.inputs

    @property
    def layout(self) -> Layout:
        """The layout that was executed."""
        return self.plan.layout

    @property
    def kind(self) -> Literal["gather", "scatter"]:
        """Whether cells were read or written."""
        return self.layout.kind

    @property
    def is_refused(self) -> bool:
        """Whether the call has no output, and what it would be without its bad indices is drawn."""
        return self.layout.policy.is_refused

    @cached_property
    def first_refused(self) -> int:
        """The number of the first entry that is refused; 0 where none is."""
        if not self.is_refused:
            return 0
        from gscli.plan.outcomes import count_outcomes

        return count_outcomes(self.plan, 1).examples["refused"][0].entry

    @cached_property
    def known_cells(self) -> Array | None:
        """Which cells of the output a refused gather's legal entries fill.

        None where several entries can fill one, and of other calls.
        """
        layout, addressing = self.layout, self.layout.addressing
        _, live = self.plan.resolve_range(0, self.entry_count) if self.is_refused else ((), None)
        if live is None or self.kind == "scatter" or layout.fold is not None:
            return None
        entries = live.reshape(addressing.entry_shape + (1,) * len(addressing.window))
        cells = np.broadcast_to(entries, addressing.entry_shape + addressing.window)
        return cells.transpose(addressing.result_axes).reshape(layout.output_shape)

    @cached_property
    def last_folded(self) -> Array | None:
        """For each cell of a folded output the last entry that goes into it, -1 where none does.

        None of other calls.
        """
        if self.layout.fold is None:
            return None
        plan = self.plan.plan_fold(np.broadcast_to(np.zeros(()), self.layout.result_shape))
        addresses, live = cell_addresses(plan, 0, plan.layout.entry_count)
        last = np.full(self.output.size, -1)
        entries = np.broadcast_to(np.arange(len(addresses))[:, None], addresses.shape)
        exist = ... if live is None else live
        last[addresses[exist]] = entries[exist]  # they ascend, and the last one stays
        return last.reshape(self.output.shape)

    @property
    def entry_count(self) -> int:
        """Number of index entries."""
        return self.layout.entry_count

    @property
    def reduction(self) -> Reduction:
        """How updates met the value already there ("none" for gathers)."""
        return self.layout.reduction

    @property
    def is_mean(self) -> bool:
        """Whether the sums of updates are divided at the end by something of how many there are."""
        return REDUCTIONS[self.reduction].divisor is not None

    @cached_property
    def attributes(self) -> dict[str, object]:
        """Attributes of the call, defaults included."""
        return dict(self.layout.attributes)

    @cached_property
    def nondefault_attributes(self) -> dict[str, object]:
        """Attributes that differ from their defaults, or were written all the same."""
        known = self.operator.attributes_by_name
        return {
            name: value
            for name, value in self.attributes.items()
            if name != "opset" and (value != known[name].default or name in self.stated)
        }

    @cached_property
    def tensors(self) -> tuple[TracedTensor, ...]:
        """Data, indices, updates, output: those the call has, in drawing order."""
        layout = self.layout
        names: list[tuple[Role, str | None]] = [("data", layout.data_name)]
        names += [("indices", name) for name in layout.index_inputs]
        names += [("updates", layout.updates.name if layout.updates else None)]
        tensors = [TracedTensor(name, role, self.inputs[name]) for role, name in names if name]
        return (*tensors, TracedTensor(self.output_name, "output", self.output))

    def tensor(self, role: Role) -> TracedTensor | None:
        """The first tensor with this role."""
        return next((tensor for tensor in self.tensors if tensor.role == role), None)

    def entries(self, limit: int | None = None, first: int = 0) -> list[Entry]:
        """The entries from `first` to before `limit` (all), those of scatters with their values."""
        count = self.entry_count if limit is None else min(limit, self.entry_count)
        return list(iter_entries(self.plan, count, first, replayed=self.is_replayed))

    def duplicates(self, limit: int = 3) -> Duplicates:
        """Entries that write the same cells; the first `limit` groups are described."""
        from gscli.frameworks.duplicates import find_duplicate_writers

        return find_duplicate_writers(self.plan, limit)

    @property
    def call_inputs(self) -> dict[str, Array]:
        """The inputs that the operator takes: without the index numbers that the layout makes."""
        made = self.layout.addressing.recipe
        return {name: array for name, array in self.inputs.items() if made(name) is None}

    @cached_property
    def warnings(self) -> tuple[Notice, ...]:
        """What the rules allow and may still surprise: inputs changed, an open order of writers."""
        return (*self.notices, *collect_notices(self.operator, self.plan))

    def to_dict(
        self, limit: int | None = None, most_values: int | None = None
    ) -> dict[str, object]:
        """The JSON form, schema SCHEMA; entries are only counted above MAX_JSON_ENTRIES.

        Inputs of up to MAX_JSON_CELLS cells carry their `data`, flat as the output's, so that a
        document of a small run says all that is needed to run it again. An output of more than
        `most_values` stands without.
        """
        from gscli.files.formats.jsonarray import dump_arrays, dump_json

        attributes = dict(self.attributes)
        opset = attributes.pop("opset", None)
        document: dict[str, object] = {"schema": SCHEMA, "op": self.operator.name}
        document["framework"] = self.operator.framework.name
        if opset is not None:
            document["opset"] = opset
        document["attrs"] = {key: to_json(value) for key, value in attributes.items()}
        document["inputs"] = dump_arrays(self.call_inputs, MAX_JSON_CELLS)
        document["output"] = dump_json(self.output, most_values)
        document["entry_count"] = self.entry_count
        listed = limit is not None or self.entry_count <= MAX_JSON_ENTRIES
        entries = self.entries(limit) if listed else []
        document["entries"] = [entry.to_dict(gathered=self.kind == "gather") for entry in entries]
        document["warnings"] = [notice.to_dict() for notice in self.warnings]
        return document


def trace_call(
    operator: Operator, inputs: Arguments, attrs: Arguments,
    max_bytes: int | None = None,
) -> Trace:  # fmt: skip
    """The trace of one call, run as `execute` does. Raises GscliError alone, which has no hint: it
    stands for an answer, in the shell, too.
    """
    try:
        return Trace(operator, *execute(operator, inputs, attrs, max_bytes=max_bytes))
    except GscliError as refusal:
        refusal.hint = ""
        raise


def trace(name: str, inputs: Arguments, attrs: Arguments | None = None) -> Trace:
    """Run `framework.operator` and return its trace.

    >>> run = trace("onnx.gather", {"data": [10, 20, 30], "indices": [-1]})
    >>> [(entry.label, entry.vector, entry.target, entry.status) for entry in run.entries()]
    [('a', (-1,), ((2, 3),), 'wrap')]
    """
    operator, attrs = find_called(name, inputs, attrs), attrs or {}
    return Trace(operator, *execute(operator, inputs, attrs))
