"""Everything there is to say against some inputs, not only the first thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from gscli.base import GscliError, IndexTypeRefused, ShapeRefused, UpdatesTypeRefused, UsageError
from gscli.base.arrays import Array, Arrays, cast_lossy, parse_dtype
from gscli.base.records import Arguments
from gscli.base.words import entry_label, format_count, format_place
from gscli.frameworks import find_called
from gscli.frameworks.duplicates import find_duplicate_writers, format_vector, name_shared_cells
from gscli.frameworks.execute import hint_at_files, translate_to_python
from gscli.frameworks.notices import iter_open_notices
from gscli.frameworks.operator import Operator
from gscli.frameworks.typing import ask_if_swapped, resolve_input_dtype
from gscli.kernel import scatter
from gscli.plan import CallInputs, check_output_size, infer_layout
from gscli.plan.findings import DEFAULT_LISTED
from gscli.plan.outcomes import count_outcomes, describe_outcome
from gscli.plan.plan import Plan, ValidatedPlan

FindingKind: TypeAlias = Literal["index", "duplicate", "negative", "moved", "open", "inputs"]


@dataclass(frozen=True)
class CheckFinding:
    """One finding: what kind, where, and the legal range or the way on.

    `count` is how many findings it stands for: one, or those that are not listed. `error`: the
    refusal that it tells, if it is one.
    """

    kind: FindingKind
    problem: str
    where: str = ""
    valid: str = ""
    hint: str = ""
    count: int = 1
    error: GscliError | None = field(default=None, repr=False, compare=False)

    def text(self) -> str:
        """One line.

        >>> CheckFinding("index", "index out of range", "indices[0] = 9", "-3 … 2").text()
        'indices[0] = 9: index out of range, legal -3 … 2'
        """
        line = f"{self.where}: {self.problem}" if self.where else self.problem
        line += f", legal {self.valid}" if self.valid else ""
        return line + (f" ({self.hint})" if self.hint else "")

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {name: value for name, value in vars(self).items() if name != "error"}


def check(
    name: str, inputs: Arguments, attrs: Arguments | None = None, *, listed: int = DEFAULT_LISTED
) -> list[CheckFinding]:
    """Everything there is to say against a call, as `gscli check` tells it; nothing is run.

    Of each kind `listed` are told one by one. Raises UsageError for names that nobody knows.

    >>> [finding.text() for finding in check("mxnet.take", {"a": [1, 2, 3], "indices": [7]})]
    ['indices[0] = 7: is clipped to 2']
    """
    operator = find_called(name, inputs, attrs)
    call = CallInputs.from_values(operator, inputs, attrs or {})
    findings = iter_findings(operator, call.arrays, call.attrs, listed, call.is_typed)
    pairs = [(hint_at_files(each.error, inputs.values()), each) for each in findings]
    return [replace(each, hint=hint or translate_to_python(each.hint)) for hint, each in pairs]


def iter_findings(
    operator: Operator,
    arrays: Arrays,
    attrs: Arguments,
    listed: int = DEFAULT_LISTED,
    typed: Mapping[str, bool] = MappingProxyType({}),
) -> Iterator[CheckFinding]:
    """Every remark about a call; nothing is computed but what the remarks need.

    `typed`: whether an input has a type of its own; all do of which it does not say so. The others
    take another type without a word, if their numbers fit.

    Of each kind `listed` are told one by one. Raises UsageError for attributes nobody takes.

    >>> from gscli.frameworks import find_operator
    >>> [finding.where for finding in iter_findings(find_operator("gather"),
    ...     {"data": np.arange(2), "indices": np.array([0, 5, 9])}, {})]
    ['indices[1] = 5', 'indices[2] = 9']
    """
    own = {name: typed.get(name, True) for name in arrays}
    call = CallInputs(dict(arrays), dict.fromkeys(arrays, "inline"), own, attrs)
    checked = dict(arrays)
    for _ in range(3 * len(arrays) + 1):
        refusals: list[Any] = []
        try:
            layout = infer_layout(operator, checked, attrs, refusals)
            if not refusals:
                check_output_size(layout, checked, None)
                names = [name for name in layout.index_inputs if name in arrays]
                replaced = [name for name in names if arrays[name] is not checked[name]]
                checked |= {name: _keep_numbers(arrays[name], checked[name]) for name in replaced}
                are_whole = all(np.array_equal(arrays[name], checked[name]) for name in replaced)
                yield from _index_findings(operator, Plan(layout, checked), listed, are_whole)
                return
        except UsageError:
            raise
        except GscliError as error:
            refusals = refusals or [error]
        for refusal in refusals:
            try:
                resolve_input_dtype(call, refusal, strict=True)
            except GscliError:
                yield from _refusal_findings(refusal, checked, listed)
            if not _replace_refused_input(refusal, checked):
                return


def _refusal_findings(error: GscliError, arrays: Arrays, listed: int) -> Iterator[CheckFinding]:
    """A refusal from types and shapes; numbers that no index can be one by one."""
    hint = error.hint
    if isinstance(error, IndexTypeRefused) and arrays[error.name].dtype.kind == "f":
        array = arrays[error.name]
        places = np.argwhere(array != cast_lossy(array, parse_dtype(error.wanted))).tolist()
        question = ask_if_swapped(error, arrays, is_lossy=bool(places))
        fewest = min(each.ndim for name, each in arrays.items() if name != "axis")
        # Values, and not some wrong indices, are most of them or lie along more axes, as a table.
        if question and (2 * len(places) > array.size or array.ndim > fewest):
            hint, places = question, []
        for at in map(tuple, places[:listed]):
            where = f"{format_place(error.name, at)} = {array[at]}"
            is_whole = float(array[at]).is_integer()
            problem = f"does not fit {error.wanted}" if is_whole else "not a whole number"
            yield CheckFinding("index", problem, where)
        words = f"index does not fit {error.wanted}", f"indices do not fit {error.wanted}"
        yield from _unlisted_finding("index", len(places), listed, *words)
        if places:
            return
    yield CheckFinding("inputs", error.problem, error.where, error.valid, hint, error=error)


def _unlisted_finding(
    kind: FindingKind, total: int, listed: int, thing: str, things: str
) -> Iterator[CheckFinding]:
    if total > listed:
        more = "more " * bool(listed)
        problem = format_count(total - listed, more + thing, more + things)
        yield CheckFinding(kind, problem, count=total - listed)


def _replace_refused_input(error: GscliError, arrays: dict[str, Array]) -> bool:
    """Put something in the place of the refused input that lets the rest be checked."""
    if isinstance(error, ShapeRefused) and error.wanted is not None:
        array = arrays[error.name]
        with suppress(ValueError):  # no array may be as large
            arrays[error.name] = np.broadcast_to(np.zeros((), array.dtype), error.wanted)
        return bool(array.shape != arrays[error.name].shape)
    if isinstance(error, (IndexTypeRefused, UpdatesTypeRefused)):
        array = arrays[error.name]
        if array.dtype.kind not in "iufb" or error.wanted == "str":
            array = np.zeros(array.shape, np.bool_)
        arrays[error.name] = cast_lossy(array, parse_dtype(error.wanted))
        return True
    return False


def _keep_numbers(indices: Array, replaced: Array) -> Array:
    """Indices in the shape and type of `replaced`; 0 where they have no number of this type."""
    numbers = np.zeros_like(replaced)
    if indices.ndim == replaced.ndim and indices.dtype.kind in "iufb":
        kept = indices[tuple(map(slice, replaced.shape))]
        cast = cast_lossy(kept, replaced.dtype)
        numbers[tuple(map(slice, kept.shape))] = np.where(cast == kept, cast, 0)
    return numbers


def _index_findings(
    operator: Operator, plan: Plan, listed: int, are_whole: bool
) -> Iterator[CheckFinding]:
    """What becomes of the indices; only what is out of range where they are not `are_whole`."""
    layout, arrays = plan.layout, plan.inputs
    if not are_whole and any(layout.axes[axis].size == 0 for axis in layout.column_axes):
        return  # no number is legal: what stands in the place of those that are refused neither
    findings, total = plan.find_out_of_bounds(listed)
    for finding in findings:
        where = f"{finding.index_path} = {finding.value}"
        yield CheckFinding("index", finding.problem, where, finding.legal_text)
    words = "index out of range", "indices out of range"
    yield from _unlisted_finding("index", total, len(findings), *words)
    if not are_whole:
        return
    judged = plan.skip_refused() if total else plan.validate()
    # The exponents of a power may be refused.
    if not total and layout.reduction == "pow" and not layout.data_shape:
        try:
            scatter(judged, arrays[str(layout.data_name)])
        except GscliError as error:
            yield from _refusal_findings(error, arrays, listed)
    yield from _adjusted_findings(judged, listed)
    for notice in () if total else iter_open_notices(judged):
        yield CheckFinding("open", notice.problem, notice.where)
    yield from _duplicate_findings(operator, judged, listed)


def _adjusted_findings(plan: ValidatedPlan, listed: int) -> Iterator[CheckFinding]:
    """Numbers that are not read as written."""
    counts = count_outcomes(plan, max(listed, 1))  # the first index below zero is always named
    for outcome, count in counts.counts.items():
        words, examples = describe_outcome(plan.layout, outcome), counts.examples[outcome]
        if outcome == "from_end":
            place = examples[0].index_path.partition(" = ")[0]
            problem, hint = format_count(count, *words), "some frameworks refuse them"
            yield CheckFinding("negative", problem, place, hint=hint)
        elif outcome != "refused":  # those have findings of their own
            for index in examples[:listed]:
                yield CheckFinding("moved", index.change(plan.layout), index.index_path)
            yield from _unlisted_finding("moved", count, listed, *words)


def _duplicate_findings(
    operator: Operator, plan: ValidatedPlan, listed: int
) -> Iterator[CheckFinding]:
    """Entries that write the same cells, where their order is open."""
    reason = plan.layout.unspecified_order
    if plan.layout.kind == "gather" or not reason:
        return
    # Elsewhere `counts[words] += 1` is meant to count every word, and brings equal values.
    duplicates = find_duplicate_writers(plan, listed, skips_equal=operator.framework_name == "jax")
    thing = name_shared_cells(plan.layout)
    for group in duplicates.groups:
        names = ", ".join(f"{entry_label(number)} (entry {number})" for number in group[:4])
        more = f" and {len(group) - 4} more" if len(group) > 4 else ""  # noqa: PLR2004  as many as are named
        problem = f"entries {names}{more} write the same {thing}"
        vectors = dict.fromkeys(format_vector(plan.index_vector(number)) for number in group[:4])
        yield CheckFinding("duplicate", problem, " and ".join(vectors), hint=reason)
    rest = "written more than once"
    if plan.layout.has_overlapping_windows:
        thing, rest = "group", f"of entries that write the same {thing}"
    words, total = (f"{thing} {rest}", f"{thing}s {rest}"), duplicates.total
    yield from _unlisted_finding("duplicate", total, len(duplicates.groups), *words)
