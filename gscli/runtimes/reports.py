"""What a run of `fuzz` found, for people, programs and CI systems."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gscli.base import GscliError
from gscli.base.arrays import Array, dtype_name, unequal_cells
from gscli.base.records import group_pairs
from gscli.base.words import format_count, sanitize
from gscli.files.formats.jsonarray import dump_json
from gscli.lab.difference import compare_tensors
from gscli.runtimes.findings import COUNT_WORDS, Cause, FuzzFinding, FuzzReport, group_by_cause
from gscli.runtimes.trials import GRADIENT_KINDS

LONGEST_VALUE = 400


def format_report(report: FuzzReport, *, strict: bool) -> Iterator[str]:
    """The blocks and the summary, line by line."""
    for number, cause in enumerate(report.causes, 1):
        yield from format_cause(cause, number, report.hello.name, strict=strict)
    yield from format_summary(report, strict=strict)


def format_summary(report: FuzzReport, *, strict: bool) -> Iterator[str]:
    """What was asked, how fast, and what came out."""
    rate = report.cases / report.seconds if report.seconds else 0
    speed = f"{rate:.0f}" if rate >= 10 else f"{rate:.1f}"  # noqa: PLR2004  digits
    rest = f", {format_count(report.restarts, 'restart')}" * bool(report.restarts)
    rest += ", interrupted" * bool(report.interrupt_status)
    cases, seconds = format_count(report.cases, "case"), f"{report.seconds:.0f} s"
    yield f"{report.hello.title}: {cases}, {seconds}, {speed}/s{rest}"
    for name, tally in report.counts_by_operator.items():
        parts = [format_count(tally["cases"], "case"), f"{tally['differ']:,} differ"]
        for key, words in COUNT_WORDS.items():
            parts += [f"{tally[key]:,} {words}"] if tally[key] and words else []
        yield f"  {name}: {', '.join(parts)}"
    failures = group_by_cause(report.failures(strict=strict))
    others = len(report.causes) - len(failures)
    rest = f", {format_count(others, 'kind')} of known or tolerated differences" * bool(others)
    yield f"{format_count(len(failures), 'kind')} of failures{rest}"


def format_cause(cause: Cause, number: int, runtime: str, *, strict: bool) -> Iterator[str]:
    """A block: the smallest call of a cause with both answers, and the commands of the others."""
    first, *others = cause.findings
    excuse = "known" if first.is_known else "warning" * (first.is_warning and not strict)
    text = cause.describe(has_rules=bool(others))
    yield f"[{number}] {excuse or 'failure'}: {text}, {format_count(cause.total, 'case')}"
    yield from _format_finding(first, runtime)
    for other in others:
        yield f"  also: {other.case.command}"
        yield f"  known as: {other.signature}"
    yield ""


def _format_finding(diff: FuzzFinding, name: str) -> Iterator[str]:
    """The smallest call of a finding, what the rules and what the runtime give."""
    yield f"  {diff.case.command}"
    inputs = diff.case.inputs.items()
    yield "  " + ", ".join(f"{name} {dtype_name(array.dtype)}" for name, array in inputs)
    if diff.mismatch.kind == "sequence":
        yield f"  asked after {format_count(diff.calls_before, 'call')} of the same process"
    width = max(len("rules"), len(name)) + 2
    for title, *lines in _list_answers(diff):
        yield from [f"    {title}"] * bool(title)
        for label, line in zip(("rules", name, ""), lines, strict=True):
            yield from [f"    {label:<{width}}{line}"] * bool(label or line)
    yield f"  known as: {diff.signature}"


def _list_answers(diff: FuzzFinding) -> Iterator[tuple[str, ...]]:
    """What the rules and what the runtime give, with carets: refusals, or each tensor by its name
    that is not what the rules give. The output has none.
    """
    expected, reply = diff.case.expected_result, diff.reply
    if isinstance(expected, GscliError) or reply.output is None:
        rules = expected if isinstance(expected, GscliError) else format_values(expected.output)
        theirs = reply.text or reply.status
        theirs = theirs if reply.output is None else format_values(reply.output)
        yield "", sanitize(str(rules), LONGEST_VALUE), sanitize(theirs, LONGEST_VALUE), ""
        return
    for name, own in diff.case.expected_tensors().items():
        other, is_right = reply.tensors.get(name), diff.mismatch.kind in GRADIENT_KINDS
        if other is None and reply.status == "error":
            texts = (sanitize(text, LONGEST_VALUE) for text in (format_values(own), reply.text))
            yield name, *texts, ""
        elif other is not None and not (compare_tensors(other, own).is_equal if name else is_right):
            kinds = [dtype_name(array.dtype) for array in (own, other)]
            notes = [f" {kind}" * (kinds[0] != kinds[1]) for kind in kinds]
            texts = (sanitize(format_values(array), LONGEST_VALUE) for array in (own, other))
            yield name, *map(str.__add__, texts, notes), format_carets(own, other)


def format_values(array: Array) -> str:
    """Nested values on one line.

    >>> format_values(np.array([[1 + 2j]])), format_values(np.zeros((2, 0)))
    ('[[[1.0, 2.0]]]', '[[], []]')
    """
    return json.dumps(_to_nested_list(array), ensure_ascii=False)


def _to_nested_list(array: Array) -> Any:
    if not array.ndim:
        return dump_json(array)["data"][0]
    return [_to_nested_list(np.asarray(part)) for part in array]


def format_carets(expected: Array, actual: Array) -> str:
    """Carets below the values of `actual` that are not those of `expected`; "" where shapes differ.

    >>> format_carets(np.array([1, 20, 3]), np.array([1, 30, 3]))
    '    ^^'
    """
    if expected.shape != actual.shape or dtype_name(expected.dtype) != dtype_name(actual.dtype):
        return ""
    line = format_values(actual)
    if len(line) > LONGEST_VALUE:
        return ""
    marks, at = [" "] * len(line), 0
    texts = [json.dumps(value, ensure_ascii=False) for value in dump_json(actual)["data"]]
    for text, flag in zip(texts, unequal_cells(actual, expected).flat, strict=True):
        at = line.index(text, at)
        if flag:
            marks[at : at + len(text)] = "^" * len(text)
        at += len(text)
    return "".join(marks).rstrip()


def report_to_dict(report: FuzzReport, *, strict: bool) -> dict[str, object]:
    """The JSON form, schema gscli-fuzz/1; each difference carries its case line."""
    from gscli.runtimes.packs import case_to_record

    return {
        "schema": "gscli-fuzz/1",
        "runtime": {"name": report.hello.name, "version": report.hello.version},
        "cases": report.cases,
        "seconds": round(report.seconds, 3),
        "restarts": report.restarts,
        "interrupted": bool(report.interrupt_status),
        "failures": len(report.failures(strict=strict)),
        "operators": {
            name: {key: tally[key] for key in COUNT_WORDS}
            for name, tally in report.counts_by_operator.items()
        },
        "causes": [
            {
                "kind": cause.findings[0].mismatch.kind,
                "words": sorted(cause.words),
                "count": cause.total,
                "signatures": [finding.signature for finding in cause.findings],
            }
            for cause in report.causes
        ],
        "differences": [
            {
                "operator": finding.case.operator.full_name,
                "kind": finding.mismatch.kind,
                "meaning": finding.meaning,
                "signature": finding.signature,
                "known": finding.is_known,
                "warning": finding.is_warning,
                "count": finding.count,
                "command": finding.case.command,
                "answer": finding.reply.text
                if finding.reply.output is None or finding.reply.status == "error"
                else dump_json(finding.reply.output),
                "case": case_to_record(finding.case, number),
            }
            for number, finding in enumerate(report.differences)
        ],
    }


def format_junit(report: FuzzReport, *, strict: bool) -> str:
    """A JUnit report: a test case for each operator that has no failure, and for each difference:
    a skipped one where it is known or tolerated.
    """
    failures = report.failures(strict=strict)
    broken = {finding.case.operator.full_name for finding in failures}
    name = report.hello.name
    passed = [operator for operator in report.counts_by_operator if operator not in broken]
    cases = group_pairs(
        ("failure" if finding in failures else "skipped",
         (finding.signature, finding.meaning, "\n".join(_format_finding(finding, name))))
        for finding in report.differences
    )  # fmt: skip
    title = f"gscli fuzz {report.hello.title}"
    return format_junit_suite(title, name, report.seconds, passed, cases)


def format_junit_suite(
    title: str,
    class_name: str,
    seconds: float,
    passed: Iterable[str],
    others: Mapping[str, Sequence[tuple[str, str, str]]],
) -> str:
    """A suite of test cases: those that passed, then others with name, message and text.

    They go by what became of them: failure, error (nothing could be tried) or skipped.

    >>> print(format_junit_suite("t", "c", 0, [], {"failure": [("a", "b", "")]}).splitlines()[1])
    <testsuite name="t" time="0.000" failures="1" errors="0" skipped="0" tests="1">
    """
    from xml.etree import ElementTree as ET

    suite = ET.Element("testsuite", {"name": title, "time": f"{seconds:.3f}"})
    for name in passed:
        ET.SubElement(suite, "testcase", {"classname": class_name, "name": name})
    for kind, count_name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        cases = others.get(kind, ())
        suite.set(count_name, str(len(cases)))
        for name, message, text in cases:
            case = ET.SubElement(suite, "testcase", {"classname": class_name, "name": name})
            ET.SubElement(case, kind, {"message": message}).text = text
    suite.set("tests", str(len(suite)))
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, "unicode") + "\n"
