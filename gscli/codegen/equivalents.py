"""What gives the same in frameworks that lack a compared operation."""

from __future__ import annotations

from dataclasses import replace

from gscli.codegen.code import generate_code
from gscli.codegen.native import TARGETS
from gscli.codegen.target_answers import Snippet
from gscli.frameworks import load_framework
from gscli.lab.answers import ComparisonResult, UnsupportedRuleSet

MAX_INPUT_CELLS = 1 << 16
"""Cells of inputs for which lines are written at all."""


def add_equivalents(comparing: ComparisonResult) -> ComparisonResult:
    """The comparison with what does the same in each framework that has no such operation.

    Frameworks that were not asked for are told of too, unless some were. Nothing is said where
    every rule set refuses, and of large inputs.
    """
    rows = comparing.rows
    trace = next((row.trace for row in rows if row.trace is not None), None)
    if trace is None or max(array.size for array in comparing.inputs.values()) > MAX_INPUT_CELLS:
        return comparing
    said = {row.operator.framework.name for row in rows}
    titles = {load_framework(name).title: name for name in TARGETS if name not in said}
    unsaid = list(comparing.unsupported)
    if not (comparing.only or comparing.opsets):
        known = {entry.label for entry in unsaid}
        absent = [title for title in titles if title not in known]
        unsaid += [
            UnsupportedRuleSet(title, f"no {comparing.concept}", is_requested=False)
            for title in absent
        ]
    labels = [entry.label for entry in unsaid if entry.label in titles]
    targets = [TARGETS[titles[label]] for label in labels]
    code = generate_code(trace.operator, trace.plan, trace.output, targets)
    equivalents = {
        label: _describe_equivalent(answer)
        for label, answer in zip(labels, code.answers, strict=True)
    }
    entries = tuple(entry._replace(equivalent=equivalents.get(entry.label, "")) for entry in unsaid)
    return replace(comparing, unsupported=entries)


def _describe_equivalent(answer: Snippet) -> str:
    """The end of a sentence on what does the same: `x.at[i] gives it, exact for these indices`."""
    if answer.verdict == "none":
        return f"nothing gives it: {answer.reason}"
    return f"{answer.operation} gives it, {answer.verdict} (explain … --code {answer.target})"
