"""Every cell of `gscli rules` against runs, with each element type and index type that is taken."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conftest import Array, everyday

import gscli
from gscli.base import GscliError, IndexRefused
from gscli.base.arrays import parse_dtype
from gscli.base.records import Record
from gscli.base.words import ALL_DTYPES, INTEGERS
from gscli.frameworks import find_operator
from gscli.lab.examples import Probe, build_probe, leave_axis_out
from gscli.lab.rules import EXTREME, Rule, compute_rules
from gscli.plan.indices import legal_range
from gscli.plan.plan import Plan
from gscli.traces import trace_call

Inputs = Mapping[str, Array]


def place_of(probe: Probe, column: int, entry: int) -> tuple[int, ...]:
    """Where in its input the number of an entry stands."""
    return Plan(probe.layout, probe.inputs).index_position(column, entry)


class Call(Record):
    """One call that is legal, and which number of it is written otherwise."""

    probe: Probe
    inputs: Inputs
    entry: int
    size: int

    @property
    def source(self) -> str:
        return self.probe.writable_columns[0][1]

    def run(self, value: int | None = None, changed: Inputs | None = None) -> Array | GscliError:
        """The output with the number of an entry replaced, or the refusal."""
        inputs = {**self.inputs, **(changed or {})}
        if value is not None:
            column, source = self.probe.writable_columns[0]
            numbers = inputs[source].copy()
            place = place_of(self.probe, column, self.entry)
            numbers[place[: numbers.ndim]] = value
            inputs[source] = numbers
        try:
            return gscli.run(self.probe.operator.full_name, inputs, self.probe.attrs)
        except GscliError as error:
            return error


def calls_of(rule: Rule) -> Iterator[Call]:
    """Its versions and variants, in every element type and every index type."""
    known = {item.name: item for item in rule.operator.attributes}
    for version in rule.versions or (None,):
        for variant in rule.variants or ("",):
            pairs = [word.split("=") for word in variant.split() if "=" in word]
            attrs = {name: known[name].parse(text) for name, text in pairs}
            probe = build_probe(rule.operator, leave_axis_out(rule.operator) | attrs, version)
            if probe is not None and probe.writable_columns:
                yield from typed_calls(probe)


def legal_inputs(probe: Probe) -> Inputs:
    """The inputs with every index number written as the coordinate that it means.

    Where the variant refuses one, as the coordinate that it means in the example itself.
    """
    trace = None
    for known in (probe, build_probe(probe.operator, {})):
        with suppress(GscliError):
            trace = trace or trace_call(known.operator, known.inputs, known.attrs)
    assert trace is not None
    inputs = {name: np.array(array) for name, array in probe.inputs.items()}
    count = probe.layout.entry_count
    columns, _ = trace.plan.resolve_range(0, count)
    for column, source in probe.writable_columns:
        for entry in reversed(range(count)):  # the first step last
            place = place_of(probe, column, entry)[: inputs[source].ndim]
            inputs[source][place] = columns[column][entry]
    return inputs


def typed_calls(probe: Probe) -> Iterator[Call]:
    layout, legal = probe.layout, legal_inputs(probe)
    column, source = probe.writable_columns[0]
    size = legal_range(layout.axes[layout.column_axes[column]], layout.policy)[1] + 1
    ascends = probe.operator.shape_inputs.get(source) == "ascending"
    entry = probe.layout.entry_count - 1 if ascends else 0
    updates = layout.updates.name if layout.updates else None
    elements = [name for name in (layout.data_name, updates) if name in legal]
    numbers = {name for _, name in probe.writable_columns}
    for names, dtypes in ((elements, ALL_DTYPES), (numbers, INTEGERS)):
        for dtype in dtypes:
            wanted: Any = np.str_ if dtype == "str" else parse_dtype(dtype)
            inputs = {n: a.astype(wanted) if n in names else a for n, a in legal.items()}
            call = Call(probe, inputs, entry, size)
            fits = all(np.array_equal(inputs[name], legal[name]) for name in numbers)
            if fits and isinstance(call.run(), np.ndarray):
                yield call


def same(one: Array | GscliError, other: Array | GscliError) -> bool:
    if isinstance(one, GscliError) or isinstance(other, GscliError):
        return isinstance(one, IndexRefused) and isinstance(other, IndexRefused)
    return one.shape == other.shape and one.tobytes() == other.tobytes()


def hold_outcome(call: Call, value: int, words: str) -> bool:
    """Whether what becomes of a number is what the rule says."""
    answer, last = call.run(value), call.size - 1
    if words.startswith("error"):
        return isinstance(answer, IndexRefused)
    if words.startswith("grows the output"):
        legal, turned = call.run(), call.run(changed={call.source: call.inputs[call.source][::-1]})
        grows = not isinstance(answer, GscliError) and answer.shape > legal.shape
        return grows and isinstance(turned, IndexRefused) == words.endswith("error out of order")
    if words == "partly outside, cell by cell":
        return not isinstance(answer, GscliError)
    if words == "dropped":
        return ignores(call, value)
    if words.startswith("reads"):
        return reads(call, answer, words.removeprefix("reads "))
    meant = {
        "from the end": value + call.size,
        "modulo": value % call.size,
        "clipped to the last": last,
    }
    at = meant[words] if words in meant else int(words.removeprefix("clipped to "))
    return isinstance(answer, np.ndarray) and same(answer, call.run(at))


def ignores(call: Call, value: int) -> bool:
    """Whether some update has no effect any more."""
    updates = call.probe.layout.updates
    if updates is None or updates.name is None:
        return True
    before, values = call.run(value), call.inputs[updates.name]
    for place in np.ndindex(values.shape):
        changed = values.copy()
        changed[place] = changed.dtype.type(not changed[place] if values.dtype == bool else 3)
        if same(before, call.run(value, {updates.name: changed})):
            return True
    return False


def reads(call: Call, answer: Array | GscliError, words: str) -> bool:
    """Whether every cell that comes from no legal number has the value."""
    if isinstance(answer, GscliError):
        return False
    ways = [call.run(at) for at in range(call.size)]
    cells = answer[np.all([answer != way for way in ways], axis=0)]
    fill = value_of(words.partition(" (")[0], answer.dtype)  # and what the runtime does
    return bool(np.all((cells == fill) | (_is_nan(cells) & _is_nan(fill))))


def to_type(value: object, dtype: np.dtype[Any]) -> Array:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(value).astype(dtype)


def _is_nan(values: Array) -> Array:
    return np.isnan(values) if values.dtype.kind in "fcV" else np.zeros(values.shape, np.bool_)


def value_of(words: str, dtype: np.dtype[Any]) -> Array:
    """What a rule calls a value, in a type; 0 of text is no text."""
    if dtype.kind == "U":
        return np.asarray("")
    if words == EXTREME:
        whole = "int" in dtype.name
        words = "nan" if dtype.kind in "fcV" and not whole else f"the {LEAST} value of the type"
        if dtype.name.startswith("u") or dtype.kind == "b":
            words = "the largest value of the type"
    if words.startswith("the "):
        least = words.split()[1] == LEAST
        if dtype.kind == "b":
            return np.asarray(not least)
        limits: Any = ml_dtypes.iinfo(dtype) if "int" in dtype.name else ml_dtypes.finfo(dtype)
        infinite = "finite" not in words and "int" not in dtype.name
        ends = (-np.inf, np.inf) if infinite else (limits.min, limits.max)
        return np.asarray(ends[not least]).astype(dtype)
    return np.asarray(float(words)).astype(dtype)


LEAST = "smallest"

# Updates of two entries of one cell: two pairs that come to the same, and one that does not.
PAIRS = {
    "summed": [(2, 3), (5, 0), (2, 4)],
    "all subtracted": [(2, 3), (5, 0), (2, 4)],
    "summed, over the root of how many": [(2, 3), (5, 0), (2, 4)],
    "multiplied": [(2, 3), (6, 1), (2, 2)],
    "divided by all": [(2, 3), (6, 1), (2, 2)],
    "raised to the product": [(2, 1), (1, 2), (1, 1)],
    "averaged": [(1, 3), (2, 2), (1, 6)],
    "largest kept": [(2, 3), (3, 2), (2, 4)],
    "smallest kept": [(2, 3), (3, 2), (1, 3)],
    "last kept": [(2, 3), (4, 3), (2, 4)],
    "last kept, order open": [(2, 3), (4, 3), (2, 4)],
}


# What all other updates are, so that they tell nothing.
NEUTRAL = {"smallest kept": 6, "multiplied": 1, "divided by all": 1, "raised to the product": 1}


def meet(call: Call, words: str) -> list[Array | GscliError] | None:
    """The outputs for the three pairs; None where no two entries can share a cell."""
    probe, name = call.probe, call.probe.operator.full_name
    layout = probe.layout
    if layout.updates is None or layout.updates.name is None:
        return None
    count = layout.entry_count
    for first, other in ((at, to) for at in range(count) for to in range(count - 1, at, -1)):
        inputs = {key: array.copy() for key, array in call.inputs.items()}
        for column, source in probe.writable_columns:
            place, copy = (place_of(probe, column, at) for at in (first, other))
            rank = inputs[source].ndim
            inputs[source][copy[:rank]] = inputs[source][place[:rank]]
        if layout.data_name is not None:
            start = 6 if words == "smallest kept" else 2 if words.startswith("raised") else 1
            inputs[layout.data_name][...] = to_type(start, inputs[layout.data_name].dtype)
        try:
            entries = gscli.trace(name, inputs, probe.attrs).entries(other + 1)
        except GscliError:
            continue
        pair = entries[first], entries[other]
        boxes = [entry.result for entry in pair]
        if pair[0].live and pair[0].target == pair[1].target and None not in boxes:
            return [
                _with_updates(call, inputs, boxes, values, NEUTRAL.get(words, 0))
                for values in PAIRS[words]
            ]
    return None


def _with_updates(
    call: Call, inputs: dict[str, Array], boxes: list[Any], pair: tuple[int, int], neutral: int
) -> Array | GscliError:
    updates = call.probe.layout.updates
    assert updates is not None
    assert updates.name is not None
    values = np.full_like(inputs[updates.name], neutral)
    for box, value in zip(boxes, pair, strict=True):
        place = tuple(slice(*ends) for ends in box)[len(box) - values.ndim :]
        values[place] = to_type(value, values.dtype)
    return call.run(None, {**inputs, updates.name: values})


def hold_duplicates(call: Call, words: str) -> bool:
    if words in ("allowed", "–"):
        return True
    answers = meet(call, words)
    if answers is None:
        return True
    one, equal, unequal = answers
    layout = call.probe.layout
    assert layout.updates is not None
    assert layout.updates.name is not None
    dtype = call.inputs[layout.updates.name].dtype
    numbers = np.arange(7.0)
    no_start = layout.data_name is None and bool(_is_nan(to_type(layout.fill_value, dtype)))
    if (
        dtype.kind in "bU"
        or no_start
        or not np.array_equal(to_type(numbers, dtype).astype(complex), numbers)
    ):
        # Too few numbers to tell by; and a type without infinities has NaN where JAX begins.
        return isinstance(one, np.ndarray)
    return same(one, equal) and not same(one, unequal)


def hold_untouched(call: Call, words: str) -> bool:
    """Cells that no update reaches, told by running with two sets of updates."""
    layout = call.probe.layout
    if words == "–" or layout.updates is None or layout.updates.name is None:
        return True
    name = layout.updates.name
    lists = [np.full_like(call.inputs[name], value) for value in (1, 2, 0)]
    answers = [call.run(None, {name: updates}) for updates in lists]
    if any(isinstance(answer, GscliError) for answer in answers):
        return False
    data = None if layout.data_name is None else call.inputs[layout.data_name]
    first = answers[0]
    alone = np.all([first == answer for answer in answers[1:]], axis=0)
    whole = data if data is not None else np.broadcast_to(value_of(words, first.dtype), first.shape)
    if layout.reduction in ("max", "min", "none") or first.dtype.kind == "b":
        alone &= first != lists[0].reshape(-1)[0]
    return bool(np.all((first == whole.astype(first.dtype).reshape(first.shape))[alone]))


@cache
def all_rules() -> list[Rule]:
    return compute_rules(gscli.operators())


# Rules of each framework; the gate holds those of all operators.
DAILY = {
    "onnx.gather", "onnx.scatter_nd", "openvino.gather", "tensorflow.segment_sum", "mxnet.take",
    "caffe2.gather", "numpy.put", "torch.index_add", "jax.take", "stablehlo.gather",
}  # fmt: skip


@pytest.mark.parametrize(
    "name", everyday([operator.full_name for operator in gscli.operators()], DAILY)
)
def test_every_cell_holds_in_every_type(name: str) -> None:
    wrong, held = [], 0
    for rule in (rule for rule in all_rules() if rule.operator.full_name == name):
        for call in calls_of(rule):
            held += 1
            types = " ".join(str(array.dtype) for array in call.inputs.values())
            for value, words in unusual_numbers(call, rule):
                if not hold_outcome(call, value, words):
                    wrong.append((rule.label, types, value, words, str(call.run(value))[:300]))
            for hold, words in (
                (hold_duplicates, rule.duplicates),
                (hold_untouched, rule.untouched),
            ):
                if not hold(call, words):
                    wrong.append((rule.label, types, hold.__name__, words))
    assert not wrong, "\n".join(map(str, wrong[:20]))
    probe = build_probe(find_operator(name), {})
    assert held or (probe and not probe.writable_columns), "its index numbers are not held"


def unusual_numbers(call: Call, rule: Rule) -> Iterator[tuple[int, str]]:
    """-1, the first above the range, and the ends of the index type, with what is said of each."""
    limits = np.iinfo(call.inputs[call.source].dtype)
    if limits.min < 0:
        yield -1, rule.negative
    if limits.max >= call.size:
        yield call.size, rule.out_of_range
    cut = rule.operator.full_name.startswith("jax.") and limits.bits > JAX_BITS
    if not rule.out_of_range.startswith("grows the output") and not cut:
        yield limits.max, rule.out_of_range
        if limits.min < 0 and rule.negative != "from the end":
            yield limits.min, rule.negative


# JAX cuts what does not fit int32, and says so in a warning.
JAX_BITS = 31


def test_an_axis_without_cells_is_judged_as_the_rule_says() -> None:
    """Index 0 is out of range there: it is refused, skipped or filled, and nothing else."""
    wrong = []
    for rule in all_rules():
        for call in calls_of(rule):
            layout = call.probe.layout
            if layout.data_name is None or layout.data_name not in call.inputs:
                break
            column, _ = call.probe.writable_columns[0]
            data = call.inputs[layout.data_name]
            axis = layout.column_axes[column] if data.ndim == len(layout.axes) else 0
            empty = np.take(data, [], axis)
            numbers = {
                name: np.zeros_like(call.inputs[name]) for _, name in call.probe.writable_columns
            }
            answer = call.run(None, {layout.data_name: empty, **numbers})
            refuses = rule.out_of_range.startswith("error")
            if not isinstance(answer, GscliError) and answer.size and (refuses or np.any(answer)):
                wrong.append((rule.label, rule.out_of_range, str(answer)[:90]))
            break
    assert not wrong, "\n".join(map(str, wrong))
