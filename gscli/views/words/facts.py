"""What is known of an entry, as texts: made once here, put together by every vocabulary.

No sentence stands here: `vocabularies` says in tables which of these texts say what, and where.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce

import numpy as np

from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.base.words import entry_label, format_count
from gscli.kernel.reductions import REDUCTION_WORDS
from gscli.layout.axes import Box, Shape, box_size
from gscli.plan.outcomes import describe_skips
from gscli.traces import Entry, Trace
from gscli.traces.entries import Change
from gscli.views.lenses import format_span
from gscli.views.subject import find_factor, take_box
from gscli.views.summary import describe_slice
from gscli.views.texts import NumberFormat

_EXACT = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "pow": operator.pow}

# Cells of a slice whose values stand in a text, between brackets or told in sentences.
MAX_BRACKETED_CELLS, TOLD_CELLS = 8, 100


class EntryFacts(Record):
    """What became of one entry, the texts that tell it, and what else is worth a note.

    `case`: empty; filled or read by a gather, folded where its cells are; of a scatter dropped,
    unknown (too large to be replayed), set, met (combined with what was there), mean, or first (the
    first value to count).
    `amount`: whether the texts hold one value, some of a slice, or none of many;
    "alone": no update goes with an entry that is dropped.
    """

    case: str
    texts: dict[str, str]
    amount: str = ""


class Describer:
    """The facts of one trace, numbers in the format of its picture.

    `is_told`: the values of slices are told in sentences, without brackets.
    """

    def __init__(self, trace: Trace, numbers: NumberFormat, *, is_told: bool = False) -> None:
        self.trace, self.numbers, self.signs = trace, numbers, numbers.signs
        self.is_told = is_told

    def describe(self, entry: Entry) -> EntryFacts:
        """All that is known of one entry.

        >>> from gscli.traces import trace
        >>> found = trace("onnx.gather", {"data": [1, 2], "indices": [-1]})
        >>> describe = Describer(found, NumberFormat()).describe(found.entries()[0])
        >>> describe.case, describe.amount, describe.texts["target"], describe.texts["new"]
        ('read', 'one', 'data[1]', '2')
        """
        place, vector = self.locate_index(entry)
        index = f"{place} = {vector}" if place else "no index"
        texts = {"index": index, "arrow": self.signs.arrow, "result": self.format_result(entry)}
        factor, number = find_factor(self.trace, entry)
        texts["times"] = f", times {factor}, which is {self.format_values(number)}" * bool(factor)
        if self.is_empty:
            return EntryFacts("empty", texts)
        if entry.target is None:
            return self._describe_skipped(entry, texts)
        texts["target"] = self.format_target(entry)
        texts["size"] = describe_slice(entry.target, self.signs)
        if self.trace.kind == "gather":
            if entry.result is None:
                return EntryFacts("unbagged", texts)
            case, read = "read", take_box(self.trace.output, entry.result)
            data, last = self.trace.tensor("data"), self.trace.last_folded
            if last is not None and data is not None:
                total = self.format_values(read)
                if total and take_box(last, entry.result).max() == entry.number:
                    texts["total"] = total
                case, read = "folded", take_box(data.array, entry.target)
            elif data is not None and not self.trace.is_replayed:
                passed = take_box(data.array, entry.target)
                case = "read" if np.array_equal(passed.ravel(), read.ravel()) else "gradient"
            texts["new"] = self.format_values(read)
            return EntryFacts(case, texts, _classify_amount(read, texts))
        return self._describe_write(entry, texts)

    def _describe_skipped(self, entry: Entry, texts: dict[str, str]) -> EntryFacts:
        skipped = [item for item in entry.adjustments if item.sign == "skipped"]
        reasons = ", ".join(item.words() for item in skipped)
        texts["why"] = f": {reasons}" if reasons else " lies outside"
        case = describe_skips(self.trace.layout, *(item.outcome for item in skipped[:1])).word
        if case != "dropped":
            return EntryFacts(case, texts | {"new": self.format_fill()})
        updates = self.trace.tensor("updates") if self.trace.is_replayed else None
        own = texts["result"] * self.trace.is_replayed  # which is no gradient
        texts["unused"] = own or "it"
        if updates is not None and entry.result is not None and box_size(entry.result) == 1:
            texts["unused"] += f" = {self.format_values(take_box(updates.array, entry.result))}"
        return EntryFacts(case, texts, "" if own else "alone")

    def _describe_write(self, entry: Entry, texts: dict[str, str]) -> EntryFacts:
        if not self.trace.is_replayed:
            return self._describe_gradient(entry, texts)
        change, reduction = entry.change, self.trace.reduction
        sign = self.reduction_sign(boolean=False)
        words = REDUCTION_WORDS[reduction]
        by = f"{sign}=" if sign or reduction == "none" else f"{words.name} with"
        texts |= {"by": f"{by} {texts['result']}", "reduction": reduction}
        texts["past"] = words.past.format(**texts)
        if entry.dropped:
            count = format_count(entry.dropped_count, "update")
            texts["lost"] = count if len(entry.dropped) > 1 else self._update_cell(entry.dropped[0])
            texts["lie"] = "is" if entry.dropped_count == 1 else "are"
        if change is None:
            return EntryFacts("unknown", texts)
        if change.previous_writer is not None:
            texts["again"] = entry_label(change.previous_writer)
        after, write = change.new, self.format_values
        if after.size == 1 and write(change.old) == write(after) and change.old != after:
            write = self._format_exact  # fewer digits would not tell them apart
        old, update, texts["new"] = map(write, (change.old, change.update, after))
        terms = [*map(write, change.operands)]
        texts |= {"old": old, "update": update, "sum": self.format_reduction(terms, change)}
        if after.size == 1:
            texts["sum"] += self.format_overflow(change.operands, after)
        amount = _classify_amount(after, texts)
        case = "set" if reduction == "none" else "mean" if self.trace.is_mean else "met"
        if change.is_first_write:
            case, texts["fresh"] = "first", ""
        return EntryFacts(case, texts, amount)

    def _describe_gradient(self, entry: Entry, texts: dict[str, str]) -> EntryFacts:
        """An update's own gradient, which stands where the update stood, or that of its cell."""
        updates, place = self.trace.tensor("updates"), entry.result
        if updates is not None and place is not None:
            value = take_box(updates.array, place)
        else:
            assert entry.target is not None
            value, texts["result"] = take_box(self.trace.output, entry.target), texts["target"]
        texts["new"] = self.format_values(value)
        return EntryFacts("gradient", texts, _classify_amount(value, texts))

    def format_reduction(self, terms: Sequence[str], change: Change) -> str:
        """Values as the reduction combines them: `1 + 2`, `max(1, 2)`, `(1 + 2) / 2`."""
        if self.trace.is_mean:
            summed = f"({' + '.join(terms)})" if len(terms) > 1 else terms[0]
            sign = "//" if self.trace.output.dtype.kind in "iu" else "/"  # as Python rounds
            is_plain, count = self.trace.reduction == "mean", change.term_count
            return f"{summed} {sign} {count if is_plain else f'sqrt({count})'}"
        sign = self.reduction_sign(boolean=change.old.dtype.kind == "b")
        if not sign:
            return f"{self.trace.reduction}({', '.join(terms)})"
        signed = "-" if self.trace.reduction == "pow" else ()
        return f" {sign} ".join(
            f"({term})" if term.endswith("j") or term.startswith(signed) else term for term in terms
        )

    def format_overflow(self, terms: Sequence[Array], value: Array) -> str:
        """What a sum, product or power would be if its type of whole numbers could hold it.

        Terms may have fractions, which the type does not hold either.
        """
        combine = _EXACT.get(self.trace.reduction)
        if combine is None or value.dtype.kind not in "iu":
            return ""
        numbers = [term.item() for term in terms]
        if combine is operator.pow and numbers[1] not in range(64):  # they count as they are
            return ""
        exact = reduce(combine, numbers)
        shown = self.numbers.format_value(np.asarray(exact)) if type(exact) is float else exact
        return f" = {shown}, in {value.dtype}" if exact != value.item() else ""

    def reduction_sign(self, *, boolean: bool) -> str:
        """What stands between the values that a reduction combines; nothing for functions."""
        verb = REDUCTION_WORDS[self.trace.reduction]
        return verb.boolean if boolean else verb.sign.replace("×", self.signs.times)

    def locate_index(self, entry: Entry) -> tuple[str, str]:
        """Where the index stands, and what it says.

        >>> from gscli.traces import trace
        >>> found = trace("onnx.gather_nd", {"data": [[1, 2]], "indices": [[0, -1]]})
        >>> Describer(found, NumberFormat()).locate_index(found.entries()[0])
        ('indices[0]', '(0, -1)')
        """
        places: list[str] = []
        columns = self.trace.layout.addressing.columns
        vector_dims = {column.source: column.vector_dim for column in columns}
        for name, box in entry.indices:
            own = box[:-1] if vector_dims[name] == len(box) - 1 else box
            places.append(format_cell(name, own, self.trace.inputs[name].shape[: len(own)]))
        alone = len(columns) == 1 and columns[0].vector_dim is None
        vector = ", ".join(map(str, entry.vector))
        return ", ".join(places), vector if alone else f"({vector})"

    def format_values(self, part: Array) -> str:
        """One value, a short list, or nothing where there are many."""
        if part.size == 1:
            return self.numbers.format_value(part)
        if not 0 < part.size <= (TOLD_CELLS if self.is_told else MAX_BRACKETED_CELLS):
            return ""
        text = ", ".join(self.numbers.format_values(part))
        return text if self.is_told else f"[{text}]"

    def _format_exact(self, part: Array) -> str:
        return self.numbers.format_exact(part.reshape(-1)[0])

    def format_fill(self) -> str:
        """What an entry that reads nothing is given."""
        fill = np.asarray(self.trace.layout.fill_value)
        return self.numbers.format_value(fill.astype(self.trace.output.dtype))

    def format_target(self, entry: Entry) -> str:
        """The cell of data that was read, or of output that was written."""
        assert entry.target is not None
        layout = self.trace.layout
        read = layout.data_name if self.trace.kind == "gather" else None
        return format_cell(read or self.trace.output_name, entry.target, layout.data_shape)

    def format_result(self, entry: Entry) -> str:
        """The cell of output that gather wrote, or of updates that scatter took."""
        layout = self.trace.layout
        if entry.result is None:
            return self.numbers.format_value(layout.updates.value) if layout.updates else ""
        if self.trace.kind == "gather":
            return format_cell(self.trace.output_name, entry.result, layout.output_shape)
        return self._update_cell(entry.result)

    def _update_cell(self, box: Box) -> str:
        updates = self.trace.tensor("updates")
        assert updates is not None
        return format_cell(updates.name, box, updates.shape)

    @property
    def is_empty(self) -> bool:
        """Whether slices have no cells, because an axis of data is empty."""
        return self.trace.layout.window_size == 0


def _classify_amount(values: Array, texts: dict[str, str]) -> str:
    return "one" if values.size == 1 else "some" if texts["new"] else "many"


def format_cell(name: str, box: Box, shape: Shape) -> str:
    """A cell or slice of a tensor.

    >>> format_cell("output", ((2, 3), (0, 4), (1, 3)), (5, 4, 4))
    'output[2,:,1:3]'
    """
    if not box:
        return name
    pairs = zip(box, shape, strict=True)
    parts = [":" if span == (0, size) and size != 1 else format_span(*span) for span, size in pairs]
    return f"{parenthesize(name)}[{','.join(parts)}]"


def parenthesize(name: str) -> str:
    """A name before its subscript: a slice, such as 2:5, stands in parentheses there."""
    return f"({name})" if ":" in name and not name.startswith("(") else name
