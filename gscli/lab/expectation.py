"""A run held against an expected answer: where they differ, and whose rule or mistake would fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from itertools import starmap

import numpy as np

from gscli.base.arrays import Array, BoolArray, Indices
from gscli.base.words import entry_name, format_count, sanitize
from gscli.disk import mapped
from gscli.files import LoadedInput
from gscli.lab.causes import (
    MAX_NAMED_ENTRIES,
    CandidateCause,
    EntryNames,
    PossibleCause,
    iter_mistakes,
    iter_modes,
    iter_rule_sets,
)
from gscli.lab.difference import (
    DEFAULT_TOLERANCE,
    TensorDifference,
    Tolerance,
    compare_tensors,
    count_slices,
    difference_sentences,
    differing_cells,
)
from gscli.lab.sample import (
    CallVariants,
    find_reading_entries,
    iter_reaching_updates,
    read_untouched,
    run_at_cells,
    take_cells,
)
from gscli.plan.plan import ValidatedPlan
from gscli.stream import open_result
from gscli.traces import Trace
from gscli.traces.entries import iter_entries

# Cells of an answer up to which every cause is tried as a whole; some cells of a larger one.
MAX_FULL_SEARCH_CELLS = 1 << 22

# Cells of a large answer, evenly spread, that are tried beside differing ones, and the first
# entries, whose cells are tried, too.
SPREAD_SAMPLE_COUNT, SAMPLED_ENTRY_COUNT = 512, 1000

# How often differing cells, and how many of them, change places to see what fits by chance.
SHIFT_COUNT, MAX_SHIFTED_CELLS = 20, 4096

# Differing cells, up to which several mistakes may give the same by chance.
FEW_CELLS = 16


def diagnose_output(trace: Trace, expected: LoadedInput, tolerance: Tolerance) -> OutputDiagnosis:
    """A run held against what was loaded; untyped numbers take the type of the output."""
    array = expected.cast_to_match(trace.output)
    name = {"inline": "the expected answer"}.get(expected.origin, sanitize(expected.origin))
    return OutputDiagnosis(trace, array, name, tolerance)


class OutputDiagnosis:
    """What `--expect` tells of one run. `expected` has any shape and type; `name` is where from."""

    def __init__(
        self, trace: Trace, expected: Array, name: str, tolerance: Tolerance = DEFAULT_TOLERANCE
    ) -> None:
        self.trace, self.expected, self.name, self.tolerance = trace, expected, name, tolerance
        self._slices = count_slices(trace.layout)  # counted while cells are compared

    @cached_property
    def difference(self) -> TensorDifference:
        """The output against the expectation; a large one is computed block by block for it."""
        output, expected = self.trace.output, self.expected
        visit = None if self._slices is None else self._slices.add
        # The pages of an output that lies over a file, once read, could not be let go.
        lies_over_file = output.flags.writeable and mapped.find_mapping(output) is not None
        streams = lies_over_file and output.shape == expected.shape
        with open_result(self.trace.plan) if streams else nullcontext(()) as pieces:
            return compare_tensors(output, expected, self.tolerance, visit, pieces)

    @property
    def is_equal(self) -> bool:
        """Whether the answer is the expected one."""
        return self.difference.is_equal and not self.trace.is_refused

    def differing_mask(self, actual: Array, expected: Array) -> BoolArray:
        """For parts of the output and of the expectation, of one shape, which cells differ."""
        return differing_cells(actual, expected, self.tolerance)

    @cached_property
    def differing_entries(self) -> EntryNames:
        """The entries that reach a differing cell: of several writers one of those tried."""
        if not self.difference.has_same_shape or not self.difference.differing_count:
            return EntryNames()
        entries = self._entries_at(np.flatnonzero(self._sampled_expectation[1]))
        # Each slice of a gather's output, or each cell, is read by an entry of its own.
        total = self.differing_slice_count or self.difference.differing_count
        return entries._replace(total=total) if self.writing_plan is None else entries

    @property
    def differing_slice_count(self) -> int:
        """How many slices, which entries move whole, hold a differing cell.

        0 where entries move single cells.
        """
        return self._slices.count if self._slices and self.difference.differing_count else 0

    def _entries_at(self, positions: Indices) -> EntryNames:
        """The entries that reach some of the cells on which causes are tried."""
        cells = positions if self.sampled_cells is None else self.sampled_cells[positions]
        return self.find_entries(cells)

    def find_entries(self, numbers: Sequence[int] | Indices) -> EntryNames:
        """The entries that reach one of some flat cells of the output, which ascend.

        All of those that read them are named; of those that write or are folded into them the
        first MAX_NAMED_ENTRIES.
        """
        cells, plan = np.asarray(numbers, np.int64), self.writing_plan
        if plan is None:
            readers = np.unique(find_reading_entries(self.trace.layout, cells)[0])
            return EntryNames(tuple(map(entry_name, readers.tolist())), readers.size)
        names, total = list[str](), 0
        for entries, _, _ in iter_reaching_updates(plan, cells, range(plan.layout.entry_count)):
            writers = entries[np.diff(entries, prepend=-1) > 0]  # they ascend
            names += map(entry_name, writers[: MAX_NAMED_ENTRIES - len(names)].tolist())
            total += writers.size
        return EntryNames(tuple(names), total)

    @cached_property
    def writing_plan(self) -> ValidatedPlan | None:
        """What brings entries to cells that several may reach: a scatter, or a gather's fold."""
        if self.trace.layout.fold is None:
            return self.trace.plan if self.trace.kind == "scatter" else None
        return self.trace.plan.plan_fold(np.broadcast_to(0, self.trace.layout.result_shape))

    @cached_property
    def causes(self) -> tuple[PossibleCause, ...]:
        """Causes that give exactly the expected answer; where none does, the best of the others.

        Empty where the answers are equal, or too large to look.
        """
        if self.is_equal or not self.is_searched:
            return ()
        call = CallVariants(self.trace, self.sampled_cells, self.expected.shape)
        rules = [fit._replace(is_rule_set=True) for fit in self._match_all(iter_rule_sets(call))]
        fits = [*rules, *self._match_all(iter_mistakes(call))]
        exact = [fit for fit in fits if fit.is_exact]
        # That bad indices are dropped, for one, may be an option as well as a mistake.
        kept = [item for item in self.trace.operator.attributes if not (exact and item.option.role)]
        if not any(fit.is_rule_set for fit in exact):
            modes = self._match_all(iter_modes(call, call.with_attributes, kept))
            named = [fit for fit in modes if fit.is_exact]
            exact = [*named, *exact] if exact else named[:1]
            fits = [*sorted(modes, key=lambda fit: -fit.cells)[:1], *fits]
        others = [] if exact else self._match_all(iter_rule_sets(call, are_others=True))
        exact += [fit for fit in others if fit.is_exact][:1]
        most = max((fit.cells for fit in fits), default=0)
        return tuple(exact or (fit for fit in fits if fit.cells == most))

    @property
    def is_searched(self) -> bool:
        """Whether causes are looked for at all."""
        comparable = self.difference.has_same_shape or not self._is_large
        return comparable and not self.has_only_dtype_difference

    @property
    def _is_large(self) -> bool:
        return max(self.expected.size, self.trace.output.size) > MAX_FULL_SEARCH_CELLS

    @cached_property
    def sampled_cells(self) -> Indices | None:
        """The flat cells on which causes are tried; None where they are all, or none is tried.

        Differing ones, those that the first entries reach, and others spread over everything.
        """
        if not (self._is_large and self.is_searched):
            return None
        shape, size = self.expected.shape, self.expected.size
        gathered, count = self.trace.kind == "gather", self.trace.entry_count
        entries = iter_entries(self.trace.plan, min(SAMPLED_ENTRY_COUNT, count), replayed=False)
        boxes = filter(None, (entry.result if gathered else entry.target for entry in entries))
        starts = [[start for start, _ in box] for box in boxes]
        reached = np.ravel_multi_index(tuple(np.array(starts).T), shape) if starts else []
        spread = np.linspace(0, size - 1, SPREAD_SAMPLE_COUNT).astype(np.int64)
        return np.unique(np.concatenate([self.difference.sample, reached, spread]).astype(np.int64))

    @cached_property
    def _sampled_expectation(self) -> tuple[Array, Array]:
        """The expected values where causes are tried, and which of them the output differs from:
        from all where there is none of this shape.
        """
        cells, output = self.sampled_cells, self.trace.output
        expected = self.expected.reshape(-1) if cells is None else take_cells(self.expected, cells)
        if not self.has_comparable_output:
            return expected, np.ones(expected.shape, np.bool_)
        own = output if cells is None else run_at_cells(self.trace.plan, cells)
        return expected, self.differing_mask(own.reshape(-1), expected)

    @property
    def has_comparable_output(self) -> bool:
        """Whether the call is not refused, and its output has the shape that is expected."""
        return self.difference.has_same_shape and not self.trace.is_refused

    @property
    def has_only_dtype_difference(self) -> bool:
        """Whether the types differ and nothing else."""
        diff = self.difference
        return diff.has_same_shape and not diff.differing_count and not diff.has_same_dtype

    def _match_all(self, candidates: Iterator[CandidateCause]) -> list[PossibleCause]:
        """Those of some candidates that explain anything, each once."""
        return [*dict.fromkeys(filter(None, starmap(self._match_cause, candidates)))]

    def _match_cause(self, cause: str, output: Array) -> PossibleCause | None:
        """How a candidate answer meets the expected one; None where it explains nothing."""
        if self.sampled_cells is None and output.shape != self.expected.shape:
            return None
        expected, apart = self._sampled_expectation
        wrong = self.differing_mask(output.reshape(-1), expected)
        if not self.has_comparable_output:
            return None if wrong.any() else PossibleCause(cause, 0, EntryNames(), is_exact=True)
        mended = np.flatnonzero(apart & ~wrong)
        if not mended.size or np.count_nonzero(wrong & ~apart):
            return None  # explains no cell, or breaks others
        is_exact = not wrong.any()
        if not is_exact and (
            _are_few(~wrong[apart])
            or _are_few(~wrong[apart & self._written_mask])
            or self._fits_by_chance(output.reshape(-1)[apart], expected[apart])
        ):
            return None
        return PossibleCause(cause, mended.size, self._entries_at(mended), is_exact=is_exact)

    @cached_property
    def _written_mask(self) -> BoolArray:
        """Where causes are tried, the cells that do not hold what a scatter writes into.

        What a cause leaves alone is no sign of it: entries that go anywhere else leave it, too.
        """
        expected, apart = self._sampled_expectation
        if self.trace.kind == "gather":
            return np.ones_like(apart)
        untouched = read_untouched(self.trace.plan, self.sampled_cells)
        return self.differing_mask(untouched.reshape(-1), expected)

    def _fits_by_chance(self, values: Array, expected: Array) -> bool:
        """Whether as many values fit where the expected ones are moved to each other's cells."""
        step = -(-values.size // MAX_SHIFTED_CELLS)
        values, expected = values[::step], expected[::step]
        shifts = np.unique(np.linspace(1, values.size - 1, SHIFT_COUNT).astype(np.int64))
        fits, *by_chance = [
            np.count_nonzero(~self.differing_mask(values, np.roll(expected, shift)))
            for shift in (0, *shifts.tolist())
        ]
        return bool(fits <= max(by_chance))

    def describe(self) -> list[str]:
        """What was found, in whole sentences; the first says whether they are equal."""
        diff = self.difference
        if self.trace.is_refused:
            return self._describe_causes()
        if diff.is_equal:
            count = format_count(diff.cell_count, "cell")
            return [f"as expected: all {count} of {self.name}{diff.allowed_text}"]
        lines = difference_sentences(diff, self.name)
        if diff.differing_count:
            lines.append(_describe_reach(self))
        return lines if self.has_only_dtype_difference else [*lines, *self._describe_causes()]

    def _describe_causes(self) -> list[str]:
        """What would give the expected answer, or that nothing does."""
        if not self.is_searched:
            return [f"causes of another shape are looked for up to {MAX_FULL_SEARCH_CELLS:,} cells"]
        lines = list[str]()
        if self.sampled_cells is not None:
            differing = f", {np.count_nonzero(self._sampled_expectation[1]):,} of which differ"
            line = f"causes are tried on {self.sampled_cells.size:,} of the cells"
            lines.append(line + differing * self.has_comparable_output)
        if not self.causes:
            lines.append("no rule set of compare and no common mistake gives the expected answer")
            return lines
        first, head = self.causes[0], "the expected answer is"
        if not first.is_exact:
            cells = format_count(first.cells, "differing cell")
            head = f"nothing gives the whole expected answer; its part in {cells} is"
        lines.append(f"{head} what you get when")
        for fit in self.causes:
            reach = f" ({format_count(fit.cells, 'cell')}{fit.entries.reach})" * bool(fit.cells)
            lines.append(f"  {fit.cause}{reach}")
        few = (self.difference.differing_count or self.expected.size) <= FEW_CELLS
        if few and sum(not fit.is_rule_set for fit in self.causes) > 1:
            layout = self.trace.layout
            shape = "x".join(map(str, range(len(layout.data_shape) + 3, 3, -1)))
            lines.append(
                "these inputs do not tell these apart; others may: "
                + f"data like arange:{shape}, " * bool(layout.data_name and shape)
                + "an output of unequal sizes, "
                * (not layout.data_name and len(layout.output_shape) > 1)
                + "more entries in no order, some twice, other bad indices, values below zero"
            )
        return lines

    def to_dict(self, write_cause: Callable[[str], str] = str) -> dict[str, object]:
        """The JSON form; a call that is refused has no output that could differ."""
        runs = not self.trace.is_refused
        document: dict[str, object] = self.difference.to_dict() if runs else {"equal": False}
        document["held_against"] = self.name
        if not self.is_equal:
            if runs:
                document["entries"] = list(self.differing_entries.names)
                document["slices"] = self.differing_slice_count
            document["causes"] = [
                {"cause": write_cause(fit.cause), "exact": fit.is_exact, "cells": fit.cells,
                 "entries": list(fit.entries.names)}
                for fit in self.causes
            ]  # fmt: skip
            if self.sampled_cells is not None:
                document["tried"] = self.sampled_cells.size
        return document


def _describe_reach(diagnosis: OutputDiagnosis) -> str:
    """How many slices differ, and which entries reach a differing cell, of several writers one of
    those on which causes are tried.
    """
    entries, count = diagnosis.differing_entries, diagnosis.differing_slice_count
    slices = f"in {format_count(count, 'slice')}, " if count else ""
    if diagnosis.writing_plan is not None and diagnosis.sampled_cells is not None:
        slices += "where causes are tried, "
    total = format_count(diagnosis.trace.entry_count, "entry", "entries")
    if not entries.total:
        return f"{slices}reached by none of {total}"
    return f"{slices}reached by {entries.total:,} of {total}: {entries.text}"


def _are_few(fits: BoolArray) -> bool:
    """Whether less than three quarters of some cells fit, or none of none."""
    return bool(4 * np.count_nonzero(fits) < max(3 * fits.size, 1))
