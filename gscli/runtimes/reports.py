"""What a run of `fuzz` found, for people, programs and CI systems."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from gscli.base import GscliError
from gscli.base.arrays import Array, dtype_name, unequal_cells
from gscli.base.words import counted, safe
from gscli.files.formats.jsonarray import dump_json
from gscli.runtimes.fuzz import FuzzFinding, Report
from gscli.runtimes.packs import record
from gscli.runtimes.trials import MEANING

LONGEST_VALUE = 400


def told(report: Report, *, strict: bool) -> Iterator[str]:
    """The blocks and the summary, line by line."""
    for number, found in enumerate(report.differences):
        yield from _block(found, number, report, strict=strict)
    yield from summary(report, strict=strict)


def summary(report: Report, *, strict: bool) -> Iterator[str]:
    """What was asked, how fast, and what came out."""
    rate = report.cases / report.seconds if report.seconds else 0
    speed = f"{rate:.0f}" if rate >= 10 else f"{rate:.1f}"  # noqa: PLR2004  digits
    yield (
        f"{report.hello.title}: {counted(report.cases, 'case')}, {report.seconds:.0f} s, {speed}/s"
        + (f", {counted(report.restarts, 'restart')}" if report.restarts else "")
        + (", interrupted" if report.interrupted else "")
    )
    for name, tally in report.tallies.items():
        parts = [counted(tally.cases, "case"), f"{tally.differ:,} differ"]
        if tally.unsupported:
            parts.append(f"{tally.unsupported:,} not supported")
        if tally.spoiled:
            parts.append(f"{tally.spoiled:,} only after other calls, not in a new process")
        if tally.slow:
            parts.append(f"{tally.slow:,} too slow once (--patience), not in a new process")
        if tally.spared:
            parts.append(f"{tally.spared:,} more left out: they would end the process again")
        yield f"  {name}: {', '.join(parts)}"
    failures = report.failures(strict=strict)
    warnings = [found for found in report.differences if found not in failures]
    yield (
        f"{counted(len(failures), 'kind')} of failures"
        + (f", {counted(len(warnings), 'kind')} of known or tolerated differences"
           if warnings else "")
    )  # fmt: skip


def _block(found: FuzzFinding, number: int, report: Report, *, strict: bool) -> Iterator[str]:
    state = "known" if found.known else "warning" if found.is_warning and not strict else "failure"
    yield (
        f"[{number + 1}] {state}: {found.trial.operator.full_name} {MEANING[found.verdict.kind]}, "
        f"{counted(found.count, 'case')}"
    )
    yield f"  {found.trial.command}"
    inputs = found.trial.inputs.items()
    yield "  " + ", ".join(f"{name} {dtype_name(array.dtype)}" for name, array in inputs)
    name = report.hello.name
    width = max(len("rules"), len(name)) + 2
    wanted, answer = found.trial.expected, found.answer
    rules = str(wanted) if isinstance(wanted, GscliError) else values(wanted.output)
    theirs = answer.text or answer.how if answer.output is None else values(answer.output)
    yield f"    {'rules':<{width}}{safe(rules, LONGEST_VALUE)}"
    yield f"    {name:<{width}}{safe(theirs, LONGEST_VALUE)}"
    if answer.output is not None and not isinstance(wanted, GscliError):
        marks = pointed(wanted.output, answer.output)
        if marks:
            yield f"    {'':<{width}}{marks}"
    yield f"  known as: {found.signature}"
    yield ""


def values(array: Array) -> str:
    """Nested values on one line.

    >>> values(np.array([[1 + 2j]])), values(np.zeros((2, 0)))
    ('[[[1.0, 2.0]]]', '[[], []]')
    """
    return json.dumps(_nested(array), ensure_ascii=False)


def _nested(array: Array) -> Any:
    return (
        [_nested(np.asarray(part)) for part in array] if array.ndim else dump_json(array)["data"][0]
    )


def pointed(wanted: Array, given: Array) -> str:
    """Carets below the values of `given` that are not those of `wanted`; "" where shapes differ.

    >>> pointed(np.array([1, 20, 3]), np.array([1, 30, 3]))
    '    ^^'
    """
    if wanted.shape != given.shape or dtype_name(wanted.dtype) != dtype_name(given.dtype):
        return ""
    flags = unequal_cells(given, wanted)
    line = values(given)
    if len(line) > LONGEST_VALUE:
        return ""
    marks, at = [" "] * len(line), 0
    texts = [json.dumps(one, ensure_ascii=False) for one in dump_json(given)["data"]]
    for text, flag in zip(texts, np.asarray(flags).reshape(-1).tolist(), strict=True):
        at = line.index(text, at)
        if flag:
            marks[at : at + len(text)] = "^" * len(text)
        at += len(text)
    return "".join(marks).rstrip()


def document(report: Report, *, strict: bool) -> dict[str, object]:
    """The JSON form, schema gscli-fuzz/1; each difference carries its case line."""
    return {
        "schema": "gscli-fuzz/1",
        "runtime": {"name": report.hello.name, "version": report.hello.version},
        "cases": report.cases,
        "seconds": round(report.seconds, 3),
        "restarts": report.restarts,
        "interrupted": report.interrupted,
        "failures": len(report.failures(strict=strict)),
        "operators": {
            name: {
                "cases": tally.cases,
                "differ": tally.differ,
                "unsupported": tally.unsupported,
                "only_after_others": tally.spoiled,
                "slow_once": tally.slow,
                "left_out": tally.spared,
            }
            for name, tally in report.tallies.items()
        },
        "differences": [
            {
                "operator": found.trial.operator.full_name,
                "kind": found.verdict.kind,
                "meaning": MEANING[found.verdict.kind],
                "signature": found.signature,
                "known": found.known,
                "warning": found.is_warning,
                "count": found.count,
                "command": found.trial.command,
                "answer": found.answer.text
                if found.answer.output is None
                else dump_json(found.answer.output),
                "case": record(found.trial, number),
            }
            for number, found in enumerate(report.differences)
        ],
    }


def junit(report: Report, *, strict: bool) -> str:
    """A JUnit report: a test case for each operator that has no failure, and for each failure."""
    failures = report.failures(strict=strict)
    suite = ET.Element("testsuite", {"name": f"gscli fuzz {report.hello.title}"})
    suite.set("time", f"{report.seconds:.3f}")
    broken = {found.trial.operator.full_name for found in failures}
    for name in report.tallies:
        if name not in broken:
            ET.SubElement(suite, "testcase", {"classname": report.hello.name, "name": name})
    for number, found in enumerate(failures):
        case = ET.SubElement(
            suite, "testcase", {"classname": report.hello.name, "name": found.signature}
        )
        failure = ET.SubElement(case, "failure", {"message": MEANING[found.verdict.kind]})
        failure.text = "\n".join(_block(found, number, report, strict=strict))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(failures)))
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, "unicode") + "\n"
