"""The operator as one equation with the real ranks and numbers, and why an entry does what it does.

    output[i,j,k] = data[i, indices[j], k]
    output[indices[i,0], indices[i,1]] += updates[i]

Read off the layout, so that it works for every declared operator: the coordinate on each axis of
data is a number from an index column, a position in the entry grid, a position in the window, or a
sum of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from gscli.base.words import format_count, sanitize
from gscli.kernel.reductions import REDUCTION_WORDS
from gscli.layout import BAGS, Fold, Layout
from gscli.layout.axes import Axis, Column, Consecutive, Fit, OutOfBounds, Shape, row_major_strides
from gscli.layout.subscripts import parse_subscript
from gscli.plan.indices import format_legal_range
from gscli.plan.outcomes import OUTCOMES, count_outcomes, outcome_of
from gscli.traces import Entry, Trace, entry_label
from gscli.views.summary import describe_idle_updates, describe_own_part
from gscli.views.words.facts import Describer, parenthesize
from gscli.views.words.vocabularies import (
    MOVE_TEMPLATES,
    describe_effect,
    describe_index,
    format_entry,
)

if TYPE_CHECKING:
    from gscli.gradients.conventions import Convention

_LETTERS = "ijklmnopqrstuvwxyz"


# What an update and data are given, for each way in which an update meets its cell; of a largest or
# smallest value by who is given it.
_BACKWARD: dict[str, tuple[str, str]] = {
    "none": ("{flow} where this update stayed, else 0", "g(output), 0 where an update was written"),
    "add": ("{flow}", "g(output)"),
    "sub": ("-{flow}", "g(output)"),
    "mul": ("{flow} * the other factors of the cell", "g(output) * the updates of the cell"),
    "div": ("-{flow} * output / {update}", "g(output) / the updates of the cell"),
    "pow": (
        "{flow} * output * log(base) * the other exponents of the cell",
        "g(output) * exponent * base^(exponent - 1)",
    ),
    "mean": ("{flow} / how many values met", "g(output) / how many values met"),
    "sqrt_n": ("{flow} / sqrt(how many values met)", "g(output) / sqrt(how many values met)"),
    "first": (
        "{flow} where {update} is the first that equals the cell of output{rest}, else 0",
        "g(output) where {data} equals output, else 0",
    ),
    "even": (
        "{flow} / how many equal the cell of output, where {update} does, else 0",
        "g(output) / how many equal the cell of output, where {data} does, else 0",
    ),
}


class Formula:
    """The equation of one call and what its letters and numbers may be.

    >>> from gscli.traces import trace
    >>> found = trace("onnx.gather", {"data": [[1, 2], [3, 4]], "indices": [1]}, {"axis": 1})
    >>> Formula(found).equation
    'output[i,j] = data[i, indices[j]]'
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._layout: Layout = trace.layout
        self._addressing = trace.layout.addressing

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letter of each axis of `entries ++ window`, named in the order of the result."""
        axes = self._addressing.result_axes
        return tuple(_mask_letter(axes.index(position)) for position in range(len(axes)))

    @property
    def equation(self) -> str:
        """What is assigned to what."""
        if self._trace.words is not None:
            return "; ".join(self._trace.words.equations)
        layout = self._layout
        if layout.fold is not None:
            return self._fold_equation(layout.fold)
        if layout.kind == "gather":
            return f"{self._result('output')} = {self._format_target(str(layout.data_name))}"
        return _format_step(layout, self._format_target("output"), self._scale + self._update())

    def _fold_equation(self, fold: Fold) -> str:
        """What an entry of a gather does whose cells are folded."""
        update, factor = self._format_target(str(self._layout.data_name)), ""
        if fold.factors is not None:
            row = [self._number(self._addressing.columns[0])]
            place = row if fold.are_by_row else self.letters[: len(self._addressing.entry_shape)]
            factor = _format_subscript(fold.factors, place, ",")
            update = f"{factor} * {update}"
        target = self._result("output")
        update = update if fold.scatter.updates.scale is None else f"-{update}"  # type: ignore[union-attr]
        if fold.is_weighted:
            return f"{target} = sum of every {update} / sum of every {factor or 1}"
        return _format_step(fold.scatter, target, update)

    def list_gradients(self, convention: Convention) -> dict[str, str]:
        """What is assigned on the way back to each input, g(x) being the gradient of x.

        >>> from gscli.gradients.conventions import LOOP
        >>> from gscli.traces import trace
        >>> found = trace("onnx.gather", {"data": [1, 2], "indices": [1]})
        >>> Formula(found).list_gradients(LOOP)
        {'data': 'g(data)[indices[i]] += g(output)[i]'}
        """
        from gscli.gradients import choose_policy

        layout, updates = self._layout, self._layout.updates
        data, flow = f"g({layout.data_name})", "g(output)"
        if layout.kind == "gather" or updates is None:
            own = f"share of {self._result(flow)}" if layout.fold else self._result(flow)
            kept = " unless dropped" * (choose_policy(layout, convention) != layout.policy)
            return {str(layout.data_name): f"{self._format_target(data)} += {own}{kept}"}
        scale, source = self._scale, self._update()
        name = updates.name or "value"
        own = source.replace(name, f"g({name})", 1) if updates.name else f"g({name})"
        rest = f" and {layout.data_name or 'what it starts with'} does not" * layout.include_self
        words = {"flow": self._format_target(flow), "update": source, "rest": rest}
        holders = "even" if convention.ties == "even" else "first"
        passed, kept = _BACKWARD.get(layout.reduction) or _BACKWARD[holders]
        nan_updates, nan_data = gives_nan(self._trace, convention)
        nan = ", and nan where that cell is nan"
        passed, kept = passed + nan * nan_updates, kept + nan * nan_data
        if layout.reduction == "none" and convention.writers == "all" and updates.name:
            passed = "{flow}"
        size = prod(self._addressing.result_shape)
        sign = "=" if updates.name and self._trace.inputs[name].size == size else "+="
        to_updates = {name: f"{own} {sign} {scale}{passed.format(**words)}"}
        if layout.data_name is None:
            return to_updates
        if not layout.include_self:
            _, kept = _BACKWARD["none"]
        to_data = {layout.data_name: f"{data} = {kept.format(data=layout.data_name)}"}
        return to_updates | to_data if updates.name else to_data | to_updates

    @property
    def ranges(self) -> str:
        """What the letters run over.

        >>> from gscli.traces import trace
        >>> found = trace("onnx.gather", {"data": [[1, 2], [3, 4]], "indices": [1]}, {"axis": 1})
        >>> Formula(found).ranges
        'i = 0 … 1, j = 0'
        """
        axes = enumerate(self._addressing.result_shape)
        return ", ".join(f"{_mask_letter(axis)} = {_format_range(size)}" for axis, size in axes)

    def format_bindings(self, entry: Entry) -> str:
        """The letters that belong to one entry, with their values.

        >>> from gscli.traces import trace
        >>> found = trace("onnx.gather", {"data": [[1, 2], [3, 4]], "indices": [1]}, {"axis": 1})
        >>> Formula(found).format_bindings(found.entries()[0])
        'j = 0'
        """
        own = sorted(zip(self.letters, entry.at, strict=False))
        return ", ".join(f"{letter} = {place}" for letter, place in own)

    @property
    def meaning(self) -> Iterator[str]:
        """How index numbers become coordinates, one sentence each."""
        layout, policy = self._layout, self._layout.policy
        columns, window = self._addressing.columns, self._addressing.window
        if layout.kind == "scatter":
            forgets = not layout.include_self and layout.reduction != "none"
            kept = "; a cell that is hit forgets its old value" if forgets else ""
            filled = f"{sanitize(repr(layout.fill_value))} everywhere"
            start = f"a copy of {layout.data_name}" if layout.data_name else filled
            yield f"{self._trace.output_name} starts as {start}{kept}."
        first = REDUCTION_WORDS[layout.reduction].first.format(data=layout.data_name)
        wide, combines = layout.accumulate_dtype, layout.data_name and layout.reduction != "none"
        if combines and not first and wide not in (None, layout.dtype):
            first = f"Every step runs in {wide}; results are then cast to {layout.dtype}."
        yield from filter(None, [describe_idle_updates(self._trace), first])
        if columns and columns[0].vector_dim is not None:
            named = f"a slice [{','.join(map(str, window))}]" if window else "one cell"
            yield f"Each vector of {format_count(len(columns), 'number')} names {named}."
        if self._written_axes and layout.entry_count:
            legal = ", ".join(map(self._legal, self._written_axes))
            rest = describe_effect(layout, outcome_of(policy))
            if not policy.is_atomic and policy.out_of_bounds is OutOfBounds.SKIP:
                rest = f"puts the window partly or wholly outside, and what lies outside {rest}"
            below = outcome_of(policy, negative=True)
            negative = "" if below == outcome_of(policy) else f"below zero {OUTCOMES[below].does}, "
            ignored = "" if policy.ignored is None else f"{policy.ignored} is ignored, "
            is_cut = "narrowed" in count_outcomes(self._trace.plan, 0).counts
            negative = "where 32 bits hold it, " * is_cut + negative
            yield f"Legal: {legal}; {ignored}{negative}anything else {rest}."

    @cached_property
    def _written_axes(self) -> dict[int, str]:
        """The axes that numbers of an input address; those of masks and slices are never outside.

        With each its input.
        """
        items = parse_subscript(str(self._trace.attributes.get("subscript") or ""))
        kinds = [item.kind for item in items if item.is_array]
        names = self._trace.operator.variadic_inputs(self._trace.inputs)
        made = {name for name, kind in zip(names, kinds, strict=False) if kind != "i"}
        ranges = self._addressing.generated
        made |= {item.name for item in ranges if not isinstance(item.recipe, Consecutive)}
        pairs = zip(self._layout.column_axes, self._addressing.columns, strict=True)
        return {axis: column.source for axis, column in pairs if column.source not in made}

    def _legal(self, number: int) -> str:
        axis, policy = self._layout.axes[number], self._layout.policy
        place, trace = self._layout.data_axis(number), self._trace
        flat = self._layout.name_flat(self._layout.data_name or trace.output_name)
        name = f"{flat} laid flat" if place is None else f"axis {place}"
        if self._trace.operator.shape_inputs.get(self._written_axes[number]) == "ascending":
            return f"0 and up in ascending order on {name}"  # the last number is the size
        if axis.size == 0:
            return f"none, {name} is empty"
        return f"{format_legal_range(axis, policy)} on {name}"

    def _result(self, name: str) -> str:
        """The cell of output that an entry is read into, alone or with others of its bag."""
        layout, addressing = self._layout, self._addressing
        letters = [self.letters[position] for position in addressing.result_axes]
        if layout.fold is not None:
            own = len(layout.output_shape) - len(addressing.window)
            is_row = isinstance(addressing.generated[0].recipe, range)
            bag = self.letters[:own] if is_row else [f"{BAGS}[{self.letters[0]}]"]
            letters = [*bag, *self.letters[len(addressing.entry_shape) :]]
        elif layout.kind == "gather" and layout.output_shape != addressing.result_shape:
            name = f"{name}.reshape({_numbers(addressing.result_shape)})"
        return _format_subscript(name, letters, ",")

    def _format_target(self, name: str) -> str:
        if self._layout.is_flattened:
            shape = self._layout.view_shape
            name += ".flat" if len(shape) == 1 else f".reshape({_numbers(shape)})"
        return _format_subscript(name, [self._term(axis) for axis in self._layout.axes], ", ")

    def _term(self, axis: Axis) -> str:
        terms: list[str] = []
        if axis.column is not None:
            terms.append(self._number(self._addressing.columns[axis.column]))
        if axis.entry is not None:
            terms.append(self.letters[axis.entry])
        if axis.window is not None:
            terms.append(self.letters[len(self._addressing.entry_shape) + axis.window])
        return " + ".join(terms) or "0"

    def _number(self, column: Column) -> str:
        """The index number for the entry, as an element of its input."""
        shape = list(self._trace.inputs[column.source].shape)
        if column.vector_dim is not None:
            del shape[column.vector_dim]
        place = self._broadcast(shape, self._addressing.entry_shape, self.letters)
        if column.vector_dim is not None and column.component is not None:
            place.insert(column.vector_dim, str(column.component))
        return _format_subscript(parenthesize(column.source), place, ",")

    @staticmethod
    def _broadcast(shape: Sequence[int], grid: Shape, letters: Sequence[str]) -> list[str]:
        """The letters of the last axes of the grid; a size-1 axis that stretches stays at 0."""
        sizes = enumerate(shape, len(grid) - len(shape))
        return ["0" if size == 1 and grid[at] != 1 else letters[at] for at, size in sizes]

    @property
    def _scale(self) -> str:
        scale = self._layout.updates and self._layout.updates.scale
        return "" if scale is None else f"{scale} * "

    def _update(self) -> str:
        updates, needed = self._layout.written_updates, self._addressing.result_shape
        if updates.name is None:
            return sanitize(str(updates.value))
        name, shape = updates.name, self._trace.inputs[updates.name].shape
        letters = [self.letters[position] for position in self._addressing.result_axes]
        if updates.fit is Fit.CYCLE and 0 not in shape:  # of nothing, nothing is repeated
            number = _flat_number(letters, needed)
            repeated = f" % {prod(shape)}" if prod(shape) < prod(needed) else ""
            number = f"({number})" if repeated and "+" in number else number
            return f"{name}.flat[{number}{repeated}]"
        if updates.fit is Fit.BROADCAST:
            letters = self._broadcast(shape, needed, letters)
        elif updates.fit is Fit.RESHAPE and shape != needed:
            name = f"{name}.reshape({_numbers(needed)})"
        else:
            letters = letters[: len(shape)]
        return _format_subscript(name, letters, ",")


def gives_nan(trace: Trace, convention: Convention) -> tuple[bool, bool]:
    """Whether cells that are NaN give NaN to all that met in them, and at least to data."""
    layout, device = trace.layout, trace.attributes.get("device")
    spreads = convention.nan_ties == "spread" and layout.data_name is not None
    if not spreads or layout.reduction not in ("max", "min") or not np.isnan(trace.output).any():
        return False, False
    return device not in convention.devices_clipping_reads, True


def _format_step(layout: Layout, target: str, update: str) -> str:
    """How an update meets its cell."""
    equation, own = REDUCTION_WORDS[layout.reduction].equation, describe_own_part(layout, target)
    return equation.format(target=target, update=update, own=own, reduction=layout.reduction)


def _mask_letter(number: int) -> str:
    return _LETTERS[number] if number < len(_LETTERS) else f"i{number}"


def _format_subscript(name: str, parts: Sequence[str], comma: str) -> str:
    return f"{name}[{comma.join(parts)}]" if parts else name


def _format_range(size: int) -> str:
    return "none" if size == 0 else "0" if size == 1 else f"0 … {size - 1}"


def _numbers(shape: Shape) -> str:
    return ", ".join(map(str, shape)) or "()"


def _flat_number(letters: Sequence[str], shape: Shape) -> str:
    steps = zip(letters, row_major_strides(shape), strict=True)
    terms = [letter if step == 1 else f"{step}*{letter}" for letter, step in steps]
    return " + ".join(terms) or "0"


def explain_entry(teller: Describer, entry: Entry) -> list[str]:
    r"""Sentences about one entry, the last one names the source of the rule.

    >>> from gscli.traces import trace
    >>> from gscli.views.texts import NumberFormat
    >>> found = trace("onnx.gather", {"data": [1, 2, 3], "indices": [-1]})
    >>> print(*explain_entry(Describer(found, NumberFormat()), found.entries()[0]), sep="\n")
    output[i] = data[indices[i]] with i = 0.
    -1 on axis 0 of size 3 is 2: an index below zero counts from the end.
    Rule: ONNX gather, opset 13.
    """
    trace, formula = teller.trace, Formula(teller.trace)
    equation, *others = trace.words.equations if trace.words else (formula.equation,)
    place = formula.format_bindings(entry) if "[" in equation else ""
    lines = [f"{equation} with {place}." if place else f"{equation}."]
    lines += [f"{other}." for other in others]
    lines += [f"{i.words()}: {describe_index(teller, i, 'rule')}." for i in entry.adjustments]
    if entry.target is None and not entry.adjustments:
        lines.append("The window lies outside the data.")
    return [*lines, *_explain_duplicate(teller, entry), cite_rule(trace)]


def cite_rule(trace: Trace) -> str:
    """Framework, operator and version that the rule is taken from."""
    operator, version = trace.operator, trace.attributes.get("opset")
    if trace.words is not None:
        return trace.words.rule
    text = f"Rule: {operator.framework.title} {operator.name}"
    return f"{text}, opset {version}." if version is not None else f"{text}."


def _explain_duplicate(teller: Describer, entry: Entry) -> list[str]:
    trace, change = teller.trace, entry.change
    if not trace.is_replayed:
        return []
    if trace.kind == "scatter" and change is None and entry.target is not None:
        return ["The slice is too large to be replayed: output shows the final values."]
    if change is None or change.previous_writer is None or entry.target is None:
        return []
    writer = entry_label(change.previous_writer)
    again = f"{teller.format_target(entry)} was already written by entry {writer}"
    if trace.reduction != "none":
        (_, result), _ = format_entry(teller, entry, MOVE_TEMPLATES)
        sum_ = f": {result}" if result else ""
        return [f"{again}, and reduction {trace.reduction} combines them{sum_}."]
    order = trace.layout.unspecified_order
    return [f"{again}{f'. {order}; here' if order else ';'} the last entry wins."]
