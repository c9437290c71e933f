"""Calls of a watched program under the rules: the legal range of each index, and the refusal."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from math import prod
from types import FrameType
from typing import Any

import numpy as np

from gscli.base import CannotWrite, CaretLine, Finding, IndexRefused, Notice, ShapeRefused
from gscli.base.arrays import Array, Arrays, unravel_place
from gscli.base.records import Arguments, Record
from gscli.base.words import format_count, format_place
from gscli.frameworks import find_operator
from gscli.layout.axes import OutOfBounds
from gscli.plan import infer_layout, plan_call
from gscli.plan.findings import out_of_bounds_error
from gscli.plan.indices import legal_range
from gscli.plan.plan import Plan
from gscli.watch.findings import LineHistory, Places, Report, WatchedIndex, WatchKind, find_name

# Bytes of an input up to which it is saved with its values; of a larger one its shape is.
MAX_SAVED_BYTES = 64 << 20

# Numbers that are shown on each side of a bad one.
NEIGHBOURS = 6


class IndexRange(Record):
    """The legal numbers of one input. `is_refused`: others are; else they are moved in silence."""

    source: str
    low: int
    high: int
    is_refused: bool


class ProgramCall(Record):
    """A call that a program makes, in our names.

    `inputs`: tensors by name, some only as their shape and type; `origins`: what the program gave
    for an input; `label`: the program's own name of the call, with the device; `index_names`: the
    inputs that hold index numbers, where that is told.
    """

    operator: str
    inputs: dict[str, Any]
    attrs: dict[str, object]
    origins: Mapping[str, Any]
    label: str = ""
    index_names: tuple[str, ...] = ()


class SeenCall:
    """A call of a program, and where it is made: the line, and the frame that is there."""

    def __init__(self, call: ProgramCall, history: LineHistory, frame: FrameType | None) -> None:
        self.call, self.history, self.frame = call, history, frame

    @property
    def name(self) -> str:
        """What is called, which a line may do several times."""
        return self.call.label

    @cached_property
    def values(self) -> Arrays:
        """The inputs that are saved whole."""
        return self.call.inputs


def infer_ranges(name: str, inputs: Arrays, attrs: Arguments) -> tuple[IndexRange, ...]:
    """The legal range of every index column of a call; GscliError where shapes do not fit.

    >>> table, index = np.zeros((2, 3), np.float32), np.zeros((1, 1), np.int64)
    >>> infer_ranges("torch.gather", {"input": table, "index": index}, {"dim": 1})[0]
    IndexRange(source='index', low=0, high=2, is_refused=True)
    """
    layout = infer_layout(find_operator(name), inputs, attrs)
    policy = layout.policy
    return tuple(
        IndexRange(
            column.source, *legal_range(layout.axes[axis], policy),
            policy.out_of_bounds is OutOfBounds.RAISE,
        )
        for column, axis in zip(layout.addressing.columns, layout.column_axes, strict=True)
        if column.source in inputs
    )  # fmt: skip


def refuse_call(seen: SeenCall, callers: tuple[str, ...] = ()) -> WatchedIndex | None:
    """The refusal of a call whose indices are at hand, at the program's line; None if legal.

    `callers`: the lines that led there, the nearest first.
    """
    call, history, frame = seen.call, seen.history, seen.frame
    hint, place = "--save FILE.npz, in Python save=, keeps it for other commands", history.place
    calls = (*history.describe(), *(f"called from {caller}" for caller in callers))
    try:
        plan = plan_call(find_operator(call.operator), call.inputs, call.attrs)
    except (ShapeRefused, IndexRefused) as error:  # a mask's values, segments of an axis
        name, bracket, rest = error.where.partition("[")
        at = f"{find_name(frame, call.origins.get(name)) or name}{bracket}{rest}"
        legal = [f"legal {error.valid}"] if isinstance(error, IndexRefused) else []
        details = (*place.details, at, *error.details, *legal, *calls, call.label)
        return WatchedIndex(error.problem, where=place.where, details=details, hint=hint)
    findings, total = plan.find_out_of_bounds(5)
    if not findings:
        return None
    refusal = out_of_bounds_error(plan.layout, findings, total)
    first = findings[0]
    array = np.asarray(plan.inputs[first.source])
    origin = call.origins.get(first.source)
    shape = tuple(getattr(origin, "shape", array.shape))
    position = first.position
    if shape != array.shape and np.prod(shape, dtype=int) == array.size:
        position = unravel_place(int(np.ravel_multi_index(position, array.shape)), shape)
        array = array.reshape(shape)
    name = find_name(frame, origin) or first.source
    at = format_place(name, position)
    range_text = _describe_range(plan, call, first, frame)
    caret = CaretLine(f"{at} = {first.value}", len(at) + 3, len(str(first.value)), range_text)
    numbers = _describe_numbers(array[array != plan.layout.policy.ignored], first)
    row = _describe_row(array, position, name)
    details = (*place.details, caret, *row, numbers, *calls, call.label)
    return WatchedIndex(
        refusal.problem, where=place.where, details=details, total=total, hint=hint,
        findings=(first._replace(source=name, position=position), *findings[1:]),
    )  # fmt: skip


def _describe_range(
    plan: Plan, call: ProgramCall, finding: Finding, frame: FrameType | None
) -> str:
    name = plan.layout.data_name or ""
    owner = find_name(frame, call.origins.get(name)) or name or "output"
    shape = "×".join(map(str, plan.layout.data_shape)) or "one number"
    where = "the cells" if finding.axis is None else f"axis {finding.axis}"
    return f"{where} of {owner} [{shape}]: legal {finding.legal_text}"


def _describe_row(array: Array, position: tuple[int, ...], name: str) -> tuple[str, ...]:
    """The row of a number that is wrong, itself in brackets."""
    if not position or array.shape[-1] == 1:
        return ()
    *lead, middle = position
    first = max(middle - NEIGHBOURS, 0)
    row = array[tuple(lead)][first : middle + NEIGHBOURS + 1].tolist()
    words = [f"[{value}]" if first + at == middle else str(value) for at, value in enumerate(row)]
    head, tail = "… " * bool(first), " …" * (first + len(row) < array.shape[-1])
    return (f"{format_place(name, lead)}   {head}{'  '.join(words)}{tail}",)


def _describe_numbers(array: Array, finding: Finding) -> str:
    below = int(np.count_nonzero(array < finding.low))
    above = int(np.count_nonzero(array > finding.high))
    return (
        f"{format_count(array.size, 'index', 'indices')}: {below:,} below {finding.low}, "
        f"{array.size - below - above:,} legal, {above:,} above {finding.high} "
        f"(least {array.min()}, greatest {array.max()})"
    )


class CallWatch(Report):
    """A report whose findings are calls of a program, of which the first of each kind is saved.

    `save`: case.npz for a bad index, and so case-lost.npz, …; `raises`: a bad index is raised, too.
    Frames below the `hidden` folder are the framework's.
    """

    def __init__(self, save: str | None = None, *hidden: str, raises: bool = False) -> None:
        super().__init__()
        self._save_path, self._raises, self._places = save, raises, Places(*hidden)

    def note(
        self, seen: SeenCall, kind: WatchKind, problem: str, label: str = "", hint: str = ""
    ) -> None:
        """Note what is legal, or is refused by nobody."""
        hint = "; ".join(filter(None, (hint, self._save(kind, seen))))
        place, label = seen.history.place, label or seen.call.label
        notice = Notice(problem, where=place.where, details=(*place.details, label), hint=hint)
        # x[i] += 1 reads and writes by one index, which is told once by its name.
        call = problem.partition(":")[0] if kind == "from-end" else seen.name
        self.add(kind, notice, call, place.line)

    def refuse(self, seen: SeenCall) -> bool:
        """Note a bad index of a call, and raise it where that is asked for; False for none."""
        error = refuse_call(seen, self._places.list_callers(seen.frame))
        if error is None:
            return False
        error.hint = self._save("index", seen) or error.hint
        self.add("index", error, seen.name, seen.history.place.line)
        if self._raises:
            raise error
        return True

    def note_legal(
        self, seen: SeenCall, index: object, least: int, greatest: int, label: str = ""
    ) -> None:
        """Take in the numbers of a legal `index`; note some that count from the end beside others
        that do not.
        """
        if least < 0 <= greatest:
            name = find_name(seen.frame, index) or "an index"
            self.note(seen, "from-end", f"{name} counts from the end: least {least}", label)
        seen.history.widen(least, greatest)

    def note_lost(self, seen: SeenCall, now: Any, values: Any, how: str = "", **note: str) -> None:
        """Note values that were written and are not there: others took their cells.

        `now`: what stands there, array or tensor as `values`; NaN is there where it was written.
        `how`: the end of the text; `note`: more that `note` takes.
        """
        lost = (now != values) & ~((now != now) & (values != values))  # noqa: PLR0124  NaN
        if count := int(lost.sum()):
            text = f"{count:,} of {prod(lost.shape):,} values written were overwritten"
            self.note(seen, "lost", f"{text}: indices repeat{how}", **note)

    def is_saved(self, kind: WatchKind) -> bool:
        """Whether the call of the next finding of this kind is saved."""
        return self._save_path is not None and kind not in self.saved_kinds

    def _save(self, kind: WatchKind, seen: SeenCall) -> str:
        """The command that takes the call of a finding, or why it is not saved; or nothing."""
        if self._save_path is None or not self.is_saved(kind):
            return ""
        self.saved_kinds.add(kind)
        name, is_bad = self._save_path.removesuffix(".npz"), kind == "index"
        path = self._save_path if is_bad else f"{name}-{kind}.npz"
        try:
            return save_call(seen.call, seen.values, path, "gscli check" if is_bad else "gscli")
        except CannotWrite as error:
            # Forked processes may all begin to write the same file; the first of them does.
            return f"cannot write {error.where}" if os.getpid() == self.process else ""


def save_call(call: ProgramCall, values: Arrays, path: str, program: str = "gscli") -> str:
    """Write the inputs of a call that are at hand to an .npz file; the command of `program` that
    takes it.

    Of the others the command has shape and type. Raises CannotWrite.
    """
    from gscli.disk.atomic import open_atomic
    from gscli.files.formats import npz
    from gscli.files.request import MAX_BYTES
    from gscli.lab.cases import build_command

    words, limit = dict[str, str](), 0
    for name, array in call.inputs.items():
        if name in values:
            words[name] = f"{path}::{name}"
        else:
            words[name] = f"zeros:{'x'.join(map(str, array.shape))}:{array.dtype.name}"
            limit += array.nbytes
    members = {name: np.asarray(array, order="C") for name, array in values.items()}
    with open_atomic(path) as out:
        npz.write(out.write, members, ".npz")
    command = build_command(find_operator(call.operator), call.attrs, words, program=program)
    return command + (f" --max-bytes {limit}" if limit > MAX_BYTES else "")
