"""`gscli check OPERATOR …`."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from gscli.base import GscliError, IndexTypeRefused, UpdatesTypeRefused, UsageError
from gscli.base.words import format_count
from gscli.cli.building import Invocation
from gscli.cli.options import detect_screen, print_json
from gscli.cli.tree import make_operator_group

if TYPE_CHECKING:
    from gscli.cli.call import Call
    from gscli.traces.check import CheckFinding


def check_operator(invocation: Invocation) -> int:
    """Print every finding; exit status 1 when there is one."""
    from gscli.cli.call import Call
    from gscli.disk import mapped
    from gscli.traces.check import DEFAULT_LISTED, CheckFinding, iter_findings

    operator, settings = invocation.operator, invocation.settings
    if settings.expect is not None:
        raise UsageError(
            "check runs nothing that could be held against a file",
            where="--expect", hint=f"{operator.command_line} … --expect FILE",
        )  # fmt: skip
    call = Call(invocation)
    inputs = call.inputs
    with suppress(GscliError):  # `iter_findings` meets the same refusal and tells it as a finding
        call.make_plan(strict=False)
    listed = DEFAULT_LISTED if settings.limit is None else settings.limit
    findings = [CheckFinding("inputs", notice.problem, notice.where) for notice in inputs.notices]
    untyped = [name for name, has_type in inputs.is_typed.items() if not has_type]
    findings += iter_findings(operator, inputs.arrays, inputs.attrs, listed, untyped)
    findings = [_add_origin(finding, call) for finding in findings]
    count = sum(finding.count for finding in findings)
    mapped.check_unchanged(*inputs.arrays.values())
    if settings.json is not None:
        print_json({"count": count, "findings": [finding.to_dict() for finding in findings]})
    elif not settings.quiet:
        dots = "…" if detect_screen(sys.stdout).utf8 else ".."
        sys.stdout.writelines(finding.text().replace("…", dots) + "\n" for finding in findings)
        sys.stdout.write(f"{format_count(count, 'finding')}\n")
    return int(bool(findings))


def _add_origin(finding: CheckFinding, call: Call) -> CheckFinding:
    """A finding with the file's name, and with what can be typed next."""
    from dataclasses import replace

    from gscli.cli.call.hints import build_compare_command, make_hint, prefix_origin

    hint = finding.hint
    if finding.kind == "negative":
        command = build_compare_command(call.operator, call.inputs)
        hint = "; ".join(filter(None, (hint, f"see which: {command}" if command else "")))
    elif isinstance(finding.error, IndexTypeRefused | UpdatesTypeRefused):
        hint = make_hint(finding.error, call.operator, call.inputs)
    return replace(finding, where=prefix_origin(finding.where, call.inputs.origins), hint=hint)


check = make_operator_group(
    check_operator,
    "check",
    "Every finding about some inputs: bad indices, duplicates, shapes, types. "
    "Exit status 1 when there is any.",
)
