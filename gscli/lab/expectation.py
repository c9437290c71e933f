"""A run held against an expected answer: where they differ, and whose rule or mistake would fit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property

import numpy as np

from gscli.base import DtypeRefused
from gscli.base.arrays import Array, Flags, Indices, cast_exactly, dtype_name
from gscli.base.words import counted, name_of, safe
from gscli.disk import mapped
from gscli.files import Loaded
from gscli.lab.causes import PossibleCause, iter_candidate_causes
from gscli.lab.difference import (
    Difference,
    SliceCounter,
    Tolerance,
    compare_blocks,
    compare_tensors,
    count_slices,
    difference_sentences,
    differing_cells,
    pair_blocks,
)
from gscli.lab.sample import cells_of, read_by, values_at
from gscli.layout.axes import Box
from gscli.stream import result_of
from gscli.traces import Trace
from gscli.traces.entries import iter_entries

EXPLAINED = 1 << 22
"""Cells of an answer up to which every cause is tried as a whole; some cells of a larger one."""

SPREAD = 512
"""Cells of a large answer, evenly spread, that are tried beside differing ones."""

NAMED = 1000
"""Entries that are looked through for those that reach a differing cell."""


def held_against(trace: Trace, loaded: Loaded, tolerance: Tolerance) -> Expectation:
    """A run held against what was loaded; untyped numbers take the type of the output."""
    array = typed_as(loaded, trace.output)
    name = {"inline": "the expected answer"}.get(loaded.origin, safe(loaded.origin))
    return Expectation(trace, array, name, tolerance)


def typed_as(loaded: Loaded, other: Array) -> Array:
    """Numbers without an element type of their own in that of `other`, where they fit."""
    if loaded.typed:
        return loaded.array
    with suppress(DtypeRefused):
        return cast_exactly(loaded.array, other.dtype, loaded.origin)
    return loaded.array


class Expectation:
    """What `--expect` tells of one run. `expected` has any shape and type; `name` is where from."""

    def __init__(
        self,
        trace: Trace,
        expected: Array,
        name: str,
        tolerance: Tolerance = Tolerance(),  # noqa: B008  immutable
    ) -> None:
        self.trace, self.expected, self.name, self.tolerance = trace, expected, name, tolerance

    @cached_property
    def difference(self) -> Difference:
        """The output against the expectation; a large one is computed block by block for it."""
        output, expected, slices = self.trace.output, self.expected, self._slices
        visit = None if slices is None else slices.meet
        if output.shape != expected.shape or not self._overlaid:
            return compare_tensors(output, expected, self.tolerance, visit)
        dtypes = dtype_name(output.dtype), dtype_name(expected.dtype)
        with result_of(self.trace.plan) as pieces:
            blocks = pair_blocks(pieces, expected)
            shapes = output.shape, expected.shape
            return compare_blocks(blocks, dtypes, shapes, self.tolerance, visit)

    @property
    def _overlaid(self) -> bool:
        """Whether the output lies over a file: its pages, once read, could not be let go."""
        output = self.trace.output
        return output.flags.writeable and mapped.mapping_of(output) is not None

    @property
    def equal(self) -> bool:
        """Whether the answer is the expected one."""
        return self.difference.equal

    def differs(self, actual: Array, expected: Array) -> Flags:
        """For parts of the output and of the expectation, of one shape, which cells differ."""
        return differing_cells(actual, expected, self.tolerance)

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """Letters of the entries that reach a differing cell, as far as they are looked through."""
        if not self.difference.same_shape or not self.difference.different:
            return ()
        apart = np.flatnonzero(self._held[1])
        return self._reaching(apart if self.cells is None else self.cells[apart])

    @property
    def slices(self) -> int:
        """How many slices, which entries move whole, hold a differing cell.

        0 where entries move single cells.
        """
        return self._slices.count if self.difference.different and self._slices else 0

    @cached_property
    def _slices(self) -> SliceCounter | None:
        """Counts slices while cells are compared; nothing where the shapes differ."""
        return count_slices(self.trace.layout)

    def _reaching(self, cells: Indices) -> tuple[str, ...]:
        """Letters of the entries that reach one of some flat cells.

        All of those that read them, of those that write them the first NAMED ones of the call.
        """
        if self.trace.kind == "gather":
            entries, _ = read_by(self.trace.layout, cells)
            return tuple(map(name_of, np.unique(entries).tolist()))
        shape = self.expected.shape
        places = np.array(np.unravel_index(cells, shape) if shape else np.empty((0, cells.size)))
        found = []
        for number, box in self._boxes:
            low, high = np.array(box, np.int64).reshape(-1, 2).T[:, :, None]
            if ((low <= places) & (places < high)).all(axis=0).any():
                found.append(name_of(number))
        return tuple(found)

    def letter(self, at: tuple[int, ...]) -> str:
        """Letters of the entries that reach one cell of the output."""
        found = ""
        for number, box in self._boxes:
            if all(start <= place < stop for place, (start, stop) in zip(at, box, strict=True)):
                found = f"{found} {name_of(number)}".strip()
        return found

    @cached_property
    def _boxes(self) -> list[tuple[int, Box]]:
        """Where the first NAMED entries end up in the output."""
        gathered = self.trace.kind == "gather"
        plan, count = self.trace.plan, min(NAMED, self.trace.entry_count)
        entries = iter_entries(plan, count, replayed=False)
        boxes = [(entry.number, entry.result if gathered else entry.target) for entry in entries]
        return [(number, box) for number, box in boxes if box is not None]

    @cached_property
    def fits(self) -> tuple[PossibleCause, ...]:
        """Causes that give exactly the expected answer; where none does, the best of the others.

        Empty where the answers are equal, or too large to look.
        """
        if self.equal or not self.looked:
            return ()
        exact, partial = list[PossibleCause](), list[PossibleCause]()
        for cause, output in iter_candidate_causes(self.trace, self.cells):
            fit = self._fit(cause, output)
            if fit is not None:
                (exact if fit.exact else partial).append(fit)
        most = max((fit.cells for fit in partial), default=0)
        return tuple(exact) or tuple(fit for fit in partial if fit.cells == most)

    @property
    def looked(self) -> bool:
        """Whether causes are looked for at all."""
        return not self.only_type and (self.difference.same_shape or not self._is_large)

    @property
    def _is_large(self) -> bool:
        return max(self.expected.size, self.trace.output.size) > EXPLAINED

    @cached_property
    def cells(self) -> Indices | None:
        """The flat cells on which causes are tried; None where they are all.

        Differing ones, those that the first entries reach, and others spread over everything.
        """
        if not self._is_large:
            return None
        shape, size = self.expected.shape, self.expected.size
        starts = [[start for start, _ in box] for _, box in self._boxes]
        reached = np.ravel_multi_index(tuple(np.array(starts).T), shape) if starts else []
        spread = np.linspace(0, size - 1, SPREAD).astype(np.int64)
        return np.unique(np.concatenate([self.difference.sample, reached, spread]).astype(np.int64))

    @cached_property
    def _held(self) -> tuple[Array, Array]:
        """The expected values where causes are tried, and which of them the output differs from."""
        if self.cells is None:
            apart = self.differs(self.trace.output, self.expected).reshape(-1)
            return self.expected.reshape(-1), apart
        expected = cells_of(self.expected, self.cells)
        own = values_at(self.trace.plan, self.cells, self.trace.output.size)
        return expected, self.differs(own, expected)

    @property
    def only_type(self) -> bool:
        """Whether the types differ and nothing else."""
        found = self.difference
        return found.same_shape and not found.different and not found.same_type

    def _fit(self, cause: str, output: Array) -> PossibleCause | None:
        """How a candidate answer meets the expected one; None where it explains nothing."""
        if self.cells is None and output.shape != self.expected.shape:
            return None
        if not self.difference.same_shape:
            wrong = self.differs(output, self.expected)
            return None if wrong.any() else PossibleCause(cause, 0, (), exact=True)
        expected, apart = self._held
        wrong = self.differs(output.reshape(-1), expected)
        mended = np.flatnonzero(apart & ~wrong)
        if not mended.size or np.count_nonzero(wrong & ~apart):
            return None  # explains no cell, or breaks others
        reached = self._reaching(mended if self.cells is None else self.cells[mended])
        return PossibleCause(cause, mended.size, reached, exact=not wrong.any())

    def sentences(self) -> list[str]:
        """What was found, in whole sentences; the first says whether they are equal."""
        found = self.difference
        if found.equal:
            return [f"as expected: all {counted(found.total, 'cell')} of {self.name}"]
        lines = difference_sentences(found, self.name)
        if found.different:
            lines.append(_reach(self))
        if self.only_type:
            return lines
        if not self.looked:
            return [*lines, f"causes of another shape are looked for up to {EXPLAINED:,} cells"]
        if self.cells is not None:
            lines.append(
                f"causes are tried on {self.cells.size:,} of the cells, {found.sample.size:,} "
                "of them differing ones"
            )
        if not self.fits:
            return [
                *lines,
                "no rule set of compare and no common mistake gives the expected answer",
            ]
        exact = self.fits[0].exact
        lines.append(
            "the expected answer is what you get when" if exact
            else f"nothing gives the expected answer; {self.fits[0].cells} of the differing cells "
            f"{'is' if self.fits[0].cells == 1 else 'are'} what you get when"
        )  # fmt: skip
        return [*lines, *(f"  {fit.cause}{_where(fit)}" for fit in self.fits)]

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        found = self.difference.to_dict() | {"held_against": self.name}
        if not self.equal:
            found["entries"] = list(self.entries)
            found["slices"] = self.slices
            found["causes"] = [
                {"cause": fit.cause, "exact": fit.exact, "cells": fit.cells,
                 "entries": list(fit.entries)}
                for fit in self.fits
            ]  # fmt: skip
            if self.cells is not None:
                found["tried"] = self.cells.size
        return found


def _reach(one: Expectation) -> str:
    """How many slices differ, and which entries reach a differing cell."""
    slices = f"in {counted(one.slices, 'slice')}, " if one.slices else ""
    total = counted(one.trace.entry_count, "entry", "entries")
    if one.trace.kind == "scatter" and one.trace.entry_count > NAMED:
        total = f"the first {NAMED:,} of {total}"
    if not one.entries:
        return f"{slices}reached by none of {total}"
    return f"{slices}reached by {len(one.entries):,} of {total}: {_letters(one.entries)}"


def _where(fit: PossibleCause) -> str:
    if not fit.entries:
        return ""
    return f" ({_entries(fit.entries)}, {counted(fit.cells, 'cell')})"


_LISTED = 8


def _entries(names: Sequence[str]) -> str:
    return f"{'entry' if len(names) == 1 else 'entries'} {_letters(names)}"


def _letters(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(name.removeprefix("entry ") for name in names[:_LISTED]) + more
