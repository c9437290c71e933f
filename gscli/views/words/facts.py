"""What is known of an entry, as texts: made once here, put together by every vocabulary.

No sentence stands here: `vocabularies` says in tables which of these texts say what, and where.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gscli.base.arrays import Array
from gscli.base.records import Record
from gscli.base.words import counted, label_of
from gscli.kernel.reductions import REDUCTION_WORDS
from gscli.layout.axes import Box, Shape, box_size
from gscli.traces import Entry, Trace
from gscli.traces.entries import Change
from gscli.views.subject import mean_or_new, part_of
from gscli.views.texts import NumberFormat


class Brackets(Record):
    """How the values of a slice of at most `limit` cells stand in a text."""

    limit: int
    opening: str = ""
    between: str = " "
    closing: str = ""


class Facts(Record):
    """What became of one entry, the texts that tell it, and what else is worth a note.

    `case`: empty; filled or read by a gather; of a scatter dropped, unknown (too large to be
    replayed), set, met (combined with what was there), mean, or first (the first value to count).
    `amount`: whether the texts hold one value, some of a slice, or none of many.
    """

    case: str
    texts: dict[str, str]
    amount: str = ""
    notes: tuple[str, ...] = ()


class Teller:
    """The facts of one trace, numbers in the format of its picture."""

    def __init__(self, trace: Trace, numbers: NumberFormat) -> None:
        self.trace, self.numbers, self.signs = trace, numbers, numbers.signs

    def facts(self, entry: Entry, brackets: Brackets) -> Facts:
        """All that is known of one entry.

        >>> from gscli.traces import trace
        >>> found = trace("onnx.gather", {"data": [1, 2], "indices": [-1]})
        >>> facts = Teller(found, NumberFormat()).facts(found.entries()[0], Brackets(4))
        >>> facts.case, facts.amount, facts.texts["target"], facts.texts["new"]
        ('read', 'one', 'data[1]', '2')
        """
        place, vector = self.source(entry)
        texts = {"label": entry.label, "place": place, "vector": vector}
        texts["index"] = f"{place} = {vector}" if place else f"the vector {vector}"
        texts |= {"arrow": self.signs.arrow, "result": self.result_cell(entry)}
        if self.moves_nothing:
            return Facts("empty", texts)
        if entry.target is None:
            return self._skipped(entry, texts)
        texts |= {"target": self.target_cell(entry), "size": self.slice_size(entry.target)}
        if self.trace.kind == "gather":
            assert entry.result is not None
            read = part_of(self.trace.output, entry.result)
            texts["new"] = self.listed(read, brackets)
            return Facts("read", texts, _amount(read, texts))
        return self._written(entry, brackets, texts)

    def _skipped(self, entry: Entry, texts: dict[str, str]) -> Facts:
        outside = [item.words() for item in entry.adjustments if item.sign == "skipped"]
        texts["why"] = f": {', '.join(outside)}" if outside else " lies outside"
        if self.trace.kind == "gather":
            return Facts("filled", texts | {"new": self.fill()})
        updates, texts["unused"] = self.trace.tensor("updates"), texts["result"]
        if updates is not None and entry.result is not None and box_size(entry.result) == 1:
            texts["unused"] += f" = {self.values(part_of(updates.array, entry.result))[0]}"
        return Facts("dropped", texts)

    def _written(self, entry: Entry, brackets: Brackets, texts: dict[str, str]) -> Facts:
        change, reduction = entry.change, self.trace.reduction
        sign = self.sign(boolean=False)
        by = f"{sign}=" if sign or reduction == "none" else f"{REDUCTION_WORDS[reduction].act} with"
        texts |= {"by": f"{by} {texts['result']}", "reduction": reduction}
        texts["past"] = REDUCTION_WORDS[reduction].past.format(**texts)
        notes = ["lost"] if entry.dropped else []
        texts["lost"] = self.dropped(entry) if entry.dropped else ""
        texts["lie"] = "is" if entry.lost == 1 else "are"
        if change is None:
            return Facts("unknown", texts, "", tuple(notes))
        if change.again is not None:
            texts["again"] = label_of(change.again)
            notes.insert(0, "again")
        after = mean_or_new(self.trace, change)
        old, update, texts["new"] = (
            self.listed(one, brackets) for one in (change.old, change.update, after)
        )
        alone = self.trace.averages and change.fresh
        texts |= {"old": old, "update": update}
        texts["sum"] = self.joined([update] if alone else [old, update], change)
        amount = _amount(after, texts)
        case = "set" if reduction == "none" else "mean" if self.trace.averages else "met"
        if change.fresh and amount == "one":
            case = "first"
            notes.append("fresh")
        return Facts(case, texts, amount, tuple(notes))

    def joined(self, terms: Sequence[str], change: Change) -> str:
        """Values as the reduction combines them: `1 + 2`, `max(1, 2)`, `(1 + 2) / 2`."""
        if self.trace.averages:
            summed = f"({' + '.join(terms)})" if len(terms) > 1 else terms[0]
            root = self.trace.reduction != "mean"
            return f"{summed} / {f'sqrt({change.terms})' if root else change.terms}"
        sign = self.sign(boolean=change.old.dtype.kind == "b")
        return f" {sign} ".join(terms) if sign else f"{self.trace.reduction}({', '.join(terms)})"

    def sign(self, *, boolean: bool) -> str:
        """What stands between the values that a reduction combines; nothing for functions."""
        verb = REDUCTION_WORDS[self.trace.reduction]
        return verb.boolean if boolean else verb.sign.replace("×", self.signs.times)

    def source(self, entry: Entry) -> tuple[str, str]:
        """Where the index stands, and what it says.

        >>> from gscli.traces import trace
        >>> found = trace("onnx.gather_nd", {"data": [[1, 2]], "indices": [[0, -1]]})
        >>> Teller(found, NumberFormat()).source(found.entries()[0])
        ('indices[0]', '(0, -1)')
        """
        places: list[str] = []
        columns = self.trace.layout.addressing.columns
        for name, box in entry.indices:
            vector_dim = next(one.vector_dim for one in columns if one.source == name)
            place = [str(start) for start, _ in box]
            if vector_dim is not None:
                place[vector_dim] = ":"
                if vector_dim == len(place) - 1:
                    place.pop()
            places.append(f"{name}[{','.join(place)}]" if place else name)
        alone = len(columns) == 1 and columns[0].vector_dim is None
        vector = ", ".join(map(str, entry.vector))
        return ", ".join(places), vector if alone else f"({vector})"

    def values(self, part: Array) -> list[str]:
        """The values of a slice one after the other, in the picture's format."""
        return self.numbers.values(part)

    def listed(self, part: Array, brackets: Brackets) -> str:
        """One value, a short list, or nothing where there are many."""
        if part.size == 1:
            return self.values(part)[0]
        few = 0 < part.size <= brackets.limit
        told = brackets.between.join(self.values(part)) if few else ""
        return f"{brackets.opening}{told}{brackets.closing}" if few else ""

    def fill(self) -> str:
        """What an entry that reads nothing is given."""
        return self.numbers.short(
            np.asarray(self.trace.layout.fill).astype(self.trace.output.dtype)
        )

    def slice_size(self, box: Box) -> str:
        """`4×4 slice`; nothing for a single cell."""
        sizes = [str(stop - start) for start, stop in box if stop - start != 1]
        if len(sizes) == 1:
            return f"slice of {sizes[0]}"
        return f"{self.signs.times.join(sizes)} slice" if sizes else ""

    def target_cell(self, entry: Entry) -> str:
        """The cell of data that was read, or of output that was written."""
        assert entry.target is not None
        layout = self.trace.layout
        name = layout.data if self.trace.kind == "gather" and layout.data else "output"
        return cell_text(name, entry.target, layout.data_shape)

    def result_cell(self, entry: Entry) -> str:
        """The cell of output that gather wrote, or of updates that scatter took."""
        layout = self.trace.layout
        if entry.result is None:
            return self.numbers.short(layout.updates.value) if layout.updates else ""
        if self.trace.kind == "gather":
            return cell_text("output", entry.result, layout.output_shape)
        return self._update_cell(entry.result)

    def dropped(self, entry: Entry) -> str:
        """The updates of a live entry whose cells do not exist."""
        if len(entry.dropped) > 1:
            return counted(entry.lost, "update")
        return self._update_cell(entry.dropped[0])

    def _update_cell(self, box: Box) -> str:
        updates = self.trace.tensor("updates")
        assert updates is not None
        return cell_text(updates.name, box, updates.shape)

    @property
    def moves_nothing(self) -> bool:
        """Whether slices have no cells, because an axis of data is empty."""
        return self.trace.layout.window_size == 0


def _amount(values: Array, texts: dict[str, str]) -> str:
    return "one" if values.size == 1 else "some" if texts["new"] else "many"


def shape_text(shape: Shape) -> str:
    """A shape as it stands in a sentence.

    >>> shape_text((4, 3))
    '[4,3]'
    """
    return f"[{','.join(map(str, shape))}]"


def cell_text(name: str, box: Box, shape: Shape) -> str:
    """A cell or slice of a tensor.

    >>> cell_text("output", ((2, 3), (0, 4), (1, 3)), (5, 4, 4))
    'output[2,:,1:3]'
    """
    if not box:
        return name
    parts = [
        ":" if (start, stop) == (0, size) and size != 1
        else str(start) if stop == start + 1
        else f"{start}:{stop}"
        for (start, stop), size in zip(box, shape, strict=True)
    ]  # fmt: skip
    return f"{name}[{','.join(parts)}]"
