"""A run held against an expected answer: where they differ, and whose rule or mistake would fit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gscli.base.arrays import Array, Flags
from gscli.base.errors import DtypeRefused
from gscli.base.text import counted, name_of, safe
from gscli.files.element_types import cast_exactly
from gscli.files.files import Loaded
from gscli.lab.causes import candidates
from gscli.lab.difference import Difference, Tolerance, difference, different
from gscli.layout.boxes import Box
from gscli.traces.trace import Trace

EXPLAINED = 1 << 24
"""Cells of an answer up to which causes are looked for: each is a run of its own."""

NAMED = 1000
"""Entries that are looked through for those that reach a differing cell."""


class Fit(NamedTuple):
    """A cause, and how many differing cells it explains; `exact`: it gives the whole answer."""

    cause: str
    cells: int
    entries: tuple[str, ...]
    exact: bool


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
        """The output against the expectation."""
        return difference(self.trace.output, self.expected, self.tolerance)

    @property
    def equal(self) -> bool:
        """Whether the answer is the expected one."""
        return self.difference.equal

    def differs(self, actual: Array, expected: Array) -> Flags:
        """For parts of the output and of the expectation, of one shape, which cells differ."""
        return different(actual, expected, self.tolerance)

    @cached_property
    def apart(self) -> Flags:
        """The differing cells, in the output's shape; shapes are equal."""
        return self.differs(self.trace.output, self.expected)

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """Letters of the entries that reach a differing cell, of the first NAMED ones."""
        comparable = self.difference.same_shape and self.expected.size <= EXPLAINED
        return self._reaching(self.apart) if comparable and self.difference.different else ()

    def _reaching(self, cells: Flags) -> tuple[str, ...]:
        return tuple(name_of(n) for n, box in self._boxes if cells[_slices(box)].any())

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
        entries = self.trace.entries(NAMED)
        boxes = [(entry.number, entry.result if gathered else entry.target) for entry in entries]
        return [(number, box) for number, box in boxes if box is not None]

    @cached_property
    def fits(self) -> tuple[Fit, ...]:
        """Causes that give exactly the expected answer; where none does, the best of the others.

        Empty where the answers are equal, or too large to look.
        """
        if self.equal or not self.looked:
            return ()
        exact, partial = list[Fit](), list[Fit]()
        for cause, output in candidates(self.trace):
            fit = self._fit(cause, output)
            if fit is not None:
                (exact if fit.exact else partial).append(fit)
        most = max((fit.cells for fit in partial), default=0)
        return tuple(exact) or tuple(fit for fit in partial if fit.cells == most)

    @property
    def looked(self) -> bool:
        """Whether causes are looked for at all."""
        return self.expected.size <= EXPLAINED and not self.only_type

    @property
    def only_type(self) -> bool:
        """Whether the types differ and nothing else."""
        found = self.difference
        return found.same_shape and not found.different and not found.same_type

    def _fit(self, cause: str, output: Array) -> Fit | None:
        """How a candidate answer meets the expected one; None where it explains nothing."""
        if output.shape != self.expected.shape:
            return None
        wrong = self.differs(output, self.expected)
        if not self.difference.same_shape:
            return None if wrong.any() else Fit(cause, 0, (), exact=True)
        mended = self.apart & ~wrong
        cells = int(np.count_nonzero(mended))
        if not cells or np.count_nonzero(wrong & ~self.apart):
            return None  # explains no cell, or breaks others
        return Fit(cause, cells, self._reaching(mended), exact=not wrong.any())

    def sentences(self) -> list[str]:
        """What was found, in whole sentences; the first says whether they are equal."""
        return list(sentences(self))

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        found = self.difference.to_dict() | {"held_against": self.name}
        if not self.equal:
            found["entries"] = list(self.entries)
            found["causes"] = [
                {"cause": fit.cause, "exact": fit.exact, "cells": fit.cells,
                 "entries": list(fit.entries)}
                for fit in self.fits
            ]  # fmt: skip
        return found


def _slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(start, stop) for start, stop in box)


def sentences(one: Expectation) -> list[str]:
    """The facts of an expectation in words."""
    found = one.difference
    if found.equal:
        return [f"as expected: all {counted(found.total, 'cell')} of {one.name}"]
    lines = heading(found, one.name)
    if one.entries:
        lines.append(f"reached by {_entries(one.entries)}")
    if one.only_type:
        return lines
    if not one.looked:
        return [*lines, f"causes are looked for in answers of up to {EXPLAINED:,} cells"]
    if not one.fits:
        return [*lines, "no rule set of compare and no common mistake gives the expected answer"]
    exact = one.fits[0].exact
    lines.append(
        "the expected answer is what you get when" if exact
        else f"nothing gives the expected answer; {one.fits[0].cells} of the differing cells "
        f"{'is' if one.fits[0].cells == 1 else 'are'} what you get when"
    )  # fmt: skip
    return [*lines, *(f"  {fit.cause}{_where(fit)}" for fit in one.fits)]


def heading(found: Difference, name: str) -> list[str]:
    """Type, shape and cells that differ, each in a sentence."""
    lines = []
    if not found.same_type:
        lines.append(f"the type is {found.dtypes[0]}, {name} has {found.dtypes[1]}")
    if not found.same_shape:
        mine, theirs = (_shape(shape) for shape in found.shapes)
        return [*lines, f"the shape is {mine}, {name} has {theirs}"]
    if not found.different:
        return [*lines, f"all {counted(found.total, 'cell')} have equal values"]
    told = f"{found.different:,} of {counted(found.total, 'cell')} differ from {name}"
    if found.largest is not None:
        told += f", by {found.largest[0]:g} at most, at {_shape(found.largest[1])}"
    return [*lines, told]


def _shape(shape: Sequence[int]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _where(fit: Fit) -> str:
    if not fit.entries:
        return ""
    return f" ({_entries(fit.entries)}, {counted(fit.cells, 'cell')})"


_LISTED = 8


def _entries(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    word = "entry" if len(names) == 1 else "entries"
    return f"{word} {', '.join(names[:_LISTED])}{more}"
