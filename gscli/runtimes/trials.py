"""One call that is put to a runtime, what the rules say of it, and how the answer differs."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np

from gscli.base import GscliError, IndexRefused, LimitRefused, UsageError
from gscli.base.arrays import Array, Arrays, unequal_cells
from gscli.base.records import Arguments, Record
from gscli.frameworks.duplicates import find_duplicate_cells
from gscli.frameworks.notices import iter_unspecified_notices
from gscli.frameworks.operator import Operator
from gscli.gradients import VALUE
from gscli.gradients.call import Gradients, trace_gradients
from gscli.lab.cases import Case, build_command, format_inputs
from gscli.lab.difference import DEFAULT_TOLERANCE, Tolerance, compare_tensors
from gscli.plan import plan_call
from gscli.plan.plan import Plan
from gscli.runtimes.coverage import BOUNDARY_RULES, find_covered_rules, find_value_words
from gscli.runtimes.protocol import Reply
from gscli.traces import Trace, trace_call

MAX_RESULT_BYTES = 1 << 26

MAX_COTANGENT = 5


@dataclass(frozen=True, eq=False)
class FuzzCase:
    """A call, and lazily what the rules make of it; `has_gradients`: of its gradients, too.

    `record`: the recorded case that it is, which alone tells what is expected.
    """

    operator: Operator
    inputs: Arrays
    attrs: Arguments
    has_gradients: bool = False
    record: Case | None = None

    @cached_property
    def expected_result(self) -> Trace | GscliError:
        """The rules' answer, or their refusal; the output may have no gradient to be asked for."""
        try:
            trace = trace_call(self.operator, self.inputs, self.attrs, max_bytes=MAX_RESULT_BYTES)
            if self.has_gradients:
                trace_gradients(trace)
        except GscliError as error:
            return error
        return trace

    @property
    def is_index_refused(self) -> bool:
        """Whether the rules refuse the call because of an index out of range."""
        return isinstance(self.expected_result, IndexRefused)

    @cached_property
    def plan(self) -> Plan | None:
        """The plan, of a call with bad indices too; None where shapes or types are refused."""
        if isinstance(self.expected_result, Trace):
            return self.expected_result.plan
        with suppress(GscliError):
            return plan_call(self.operator, self.inputs, self.attrs, max_bytes=MAX_RESULT_BYTES)
        return None

    @cached_property
    def covered_rules(self) -> frozenset[str]:
        """Words for the rules that the call puts to the test."""
        if self.plan is None:
            return frozenset(("refused shapes or types",))
        return find_covered_rules(self.operator, self.inputs, self.plan)

    @cached_property
    def distinctions(self) -> frozenset[str]:
        """The rules that tell one kind of difference from another."""
        if self.plan is None:
            return self.covered_rules
        layout = self.plan.layout
        arrays = [array for name, array in self.inputs.items() if name in layout.value_names]
        words = {word for array in arrays for word in find_value_words(array)}
        words |= {"rank 3 or more"} if len(layout.data_shape) >= 3 else set()  # noqa: PLR2004
        words |= {"data int32"} if layout.dtype == "int32" else set()
        if layout.entry_count and not layout.addressing.columns:
            words.add("empty vectors")
        return (self.covered_rules - BOUNDARY_RULES) | words

    @property
    def is_unchecked(self) -> bool:
        """Whether the framework itself promises nothing here, though gscli refuses."""
        note = "" if self.plan is None else self.plan.layout.policy.note
        return self.is_index_refused and bool(note)

    @property
    def open_text(self) -> str:
        """What a specification leaves open in this call; "" where nothing."""
        expected, plan = self.expected_result, self.plan
        # A refusal is open where no text speaks of what is refused.
        is_closed = isinstance(expected, GscliError) and expected.problem != "negative index"
        if plan is None or is_closed:
            return ""
        return next((notice.where for notice in iter_unspecified_notices(plan)), "")

    @property
    def is_open(self) -> bool:
        """Whether another answer may be right: a text is silent, or duplicates have no order."""
        if self.plan is None or self.open_text:
            return bool(self.open_text)
        layout = self.plan.layout
        has_duplicates = f"duplicates under {layout.reduction}" in self.covered_rules
        return bool(layout.unspecified_order) and has_duplicates

    @property
    def cell_count(self) -> int:
        """How many numbers the inputs hold."""
        return sum(array.size for array in self.inputs.values())

    @property
    def command(self) -> str:
        """The command that shows the rules' answer, or their gradients."""
        inputs, program = format_inputs(self.inputs), "gscli" + " grad" * self.has_gradients
        call = build_command(self.operator, self.attrs, inputs, program=program)
        if self.cotangent is None:
            return call
        from gscli.lab.gradient_comparison import find_differing_gradient

        flow = str(self.cotangent.tolist()).replace(" ", "")
        differs = find_differing_gradient(self.gradients.arrays, self.gradients.compute_expected())
        return f"{call} --cotangent '{flow}'{' --rules loop' if differs else ''}"

    @cached_property
    def cotangent(self) -> Array | None:
        """Whole numbers from 1 in the shape of the output, where gradients are asked for and the
        call is not refused; of a recorded case its own.
        """
        if self.record is not None:
            return self.record.cotangent if self.has_gradients else None
        expected = self.expected_result
        if isinstance(expected, GscliError) or not self.has_gradients:
            return None
        numbers = np.arange(expected.output.size) % MAX_COTANGENT + 1
        return numbers.astype(expected.output.dtype).reshape(expected.output.shape)

    @cached_property
    def gradients(self) -> Gradients:
        """By the framework's convention, as `gscli grad` has them."""
        assert isinstance(self.expected_result, Trace)
        return trace_gradients(self.expected_result, self.cotangent)

    def expected_tensors(self) -> dict[str, Array]:
        """What the rules give: the output, under no name, and the gradients asked for."""
        assert isinstance(self.expected_result, Trace)
        flows = self.gradients.compute_expected() if self.has_gradients else {}
        return Reply("output", self.expected_result.output, gradients=flows).tensors


# Kinds where the output is right.
GradientKind: TypeAlias = Literal["gradient", "gradient-refused", "tie", "writer", "absent-data"]

MismatchKind: TypeAlias = GradientKind | Literal[
    "value", "shape", "dtype", "refuses", "crash", "hang", "memory", "garbage", "unsteady",
    "answers", "winner", "open", "sequence",
]  # fmt: skip

GRADIENT_KINDS: tuple[MismatchKind, ...] = get_args(GradientKind)

# Every kind of difference in words.
MISMATCH_WORDS: dict[MismatchKind, str] = {
    "value": "another value than the rules",
    "shape": "another shape than the rules",
    "dtype": "another element type than the rules",
    "refuses": "refuses what the rules allow",
    "crash": "the process ends",
    "hang": "no answer in time",
    "memory": "takes more memory than allowed",
    "garbage": "its answer cannot be read",
    "unsteady": "differs from itself",
    "answers": "answers what the rules refuse",
    "winner": "another winner where the order of duplicates is open",
    "open": "another answer where the text leaves it open",
    "sequence": "is wrong after other calls, and right in a new process",
    "gradient": "another gradient than the rules",
    "gradient-refused": "refuses the gradient of what the rules allow",
    "tie": "another share of the gradient at ties",
    "writer": "another choice among several writers of a cell in the gradient",
    "absent-data": "counts data that takes no part among those that share the gradient",
}

# Kinds that are a refusal, with its words as their reason.
REFUSALS: tuple[MismatchKind, ...] = ("refuses", "gradient-refused")

# Kinds that fail only under --strict: nothing that was promised is broken.
WARNINGS: tuple[MismatchKind, ...] = ("answers", "winner", "open", "tie", "writer")


# Kinds that cost a new process, and some the whole time limit.
COSTLY: tuple[MismatchKind, ...] = ("crash", "hang", "memory", "garbage")


class Mismatch(Record):
    """A difference, with the reason that has to stay the same while the case is made smaller."""

    kind: MismatchKind
    reason: str = ""


def find_mismatch(trial: FuzzCase, answer: Reply) -> Mismatch | None:
    """What is wrong with an answer; None where nothing is, or the runtime has no such thing."""
    if answer.status == "unsupported":
        return None
    if answer.status in ("crash", "hang", "memory", "garbage"):
        reason = normalize_message(answer.text) if answer.status == "crash" else ""
        return Mismatch(answer.status, reason)
    expected = trial.expected_result
    if isinstance(expected, GscliError):
        # A limit is gscli's own, and an attribute that is none yet is not put to a function.
        not_asked = isinstance(expected, (LimitRefused, UsageError))
        if answer.status == "error" or trial.is_unchecked or not_asked:
            return None
        return Mismatch("open" if trial.open_text else "answers", expected.problem)
    if answer.output is None:
        wrong: Mismatch | None = Mismatch("refuses", normalize_message(answer.text))
    else:
        wrong = _compare_output(expected, answer.output)
    if wrong is not None:
        return Mismatch("open", wrong.kind) if trial.open_text else wrong
    return _compare_gradients(trial.gradients, answer) if trial.has_gradients else None


def _compare_output(expected: Trace, output: Array) -> Mismatch | None:
    moves = expected.reduction == "none" and output.dtype.kind in "fV"
    kind, atol = expected.output.dtype, 0.0
    if not moves and kind.kind == "f":  # what is computed below the normal numbers may become zero
        atol = float(np.finfo(kind).tiny)
    wrong = find_output_mismatch(output, expected.output, Tolerance(atol=atol))
    if wrong is not None and wrong.kind != "value":
        return wrong
    # A zero below zero equals the other one, and is moved as it is.
    signs = moves and (output == 0) & (np.signbit(output) != np.signbit(expected.output))
    if wrong is None and not np.any(signs):
        return None
    is_winner = _is_other_winner(expected, output, unequal_cells(output, expected.output) | signs)
    return Mismatch("winner" if is_winner else "value")


def find_output_mismatch(
    output: Array, expected: Array, tolerance: Tolerance = DEFAULT_TOLERANCE
) -> Mismatch | None:
    """Whether a tensor has another shape, type or value than is expected; None where it has not."""
    difference = compare_tensors(output, expected, tolerance)
    if difference.is_equal:
        return None
    if not difference.has_same_shape:
        return Mismatch("shape")
    return Mismatch("value" if difference.has_same_dtype else "dtype")


def _compare_gradients(own: Gradients, answer: Reply) -> Mismatch | None:
    """What is wrong with the gradients of an answer; inputs without one are left out, and refusals
    where the framework itself has none.
    """
    from gscli.lab.gradient_causes import CHOICES
    from gscli.lab.gradient_comparison import find_differing_gradient

    if answer.status == "error":
        return None if own.missing else Mismatch("gradient-refused", normalize_message(answer.text))
    theirs = {name: flow for name, flow in (answer.gradients or {}).items() if flow is not None}
    wrong = find_differing_gradient(own.compute_expected(), theirs)
    if wrong is None:
        return None
    for choice in CHOICES.values():
        if find_differing_gradient(own.compute_expected(**choice), theirs) is None:
            return Mismatch("tie" if "ties" in choice else "writer", wrong)
    is_counted = find_differing_gradient(own.arrays, theirs) is None
    return Mismatch("absent-data" if is_counted else "gradient", wrong)


def lacks_gradients(trial: FuzzCase, answer: Reply) -> bool:
    """Whether an answer has no gradient of a tensor to which the rules give one."""
    if answer.output is None or isinstance(trial.expected_result, GscliError):
        return False
    if answer.status == "error":
        return bool(trial.gradients.missing)
    own = {*answer.tensors, f"gradient of {VALUE}"}
    return any(flow.any() for name, flow in trial.expected_tensors().items() if name not in own)


def _is_other_winner(expected: Trace, output: Array, unlike: Array) -> bool:
    """Whether all cells that are `unlike` are open, and hold a value that somebody wrote there."""
    layout, several = expected.layout, find_duplicate_cells(expected.plan)
    is_open = bool(layout.unspecified_order) and layout.updates is not None
    if not is_open or several is None or np.any(unlike & ~several):
        return False
    winners, written = output[unlike], expected.plan.updates_view().astype(output.dtype)
    are_nan = (winners != winners) & (written != written).any()  # noqa: PLR0124  NaN, of any type
    return bool((np.isin(winners, written) | are_nan).all())


def has_changed(one: Reply, other: Reply) -> bool:
    """Whether two answers to the same request are not the same.

    >>> has_changed(Reply("error", text="a"), Reply("error", text="b"))
    False
    """
    outputs = [answer.output for answer in (one, other) if answer.output is not None]
    bits = {(array.dtype, array.shape, array.tobytes()) for array in outputs}
    return one.status != other.status or len(bits) > 1


def normalize_message(text: str) -> str:
    """A message without what changes from case to case: numbers, shapes, quoted names.

    >>> normalize_message("RuntimeError: index 7 is out of bounds for size 3")
    'RuntimeError: index # is out of bounds for size #'
    """
    return re.sub(r"[-+]?\d[\d.,]*|\[[^\]]*\]|\{[^}]*\}", "#", text)[:80]
