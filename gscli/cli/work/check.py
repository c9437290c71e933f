"""`gscli check OPERATOR …`."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace

from gscli.base import GscliError, IndexTypeRefused, UpdatesTypeRefused, UsageError
from gscli.base.words import counted
from gscli.cli.building import Typed
from gscli.cli.call import read_inputs
from gscli.cli.options import Settings, print_document, screen
from gscli.cli.work.ways_on import comparing, way_on, with_origin
from gscli.disk import mapped
from gscli.frameworks.execute import settle_types
from gscli.frameworks.operator import Operator
from gscli.plan import Inputs
from gscli.traces.check import LISTED, CheckRemark, remarks


def check_operator(
    operator: Operator, words: list[str], texts: dict[str, str], settings: Settings
) -> int:
    """Every remark; exit status 1 when there is one."""
    if settings.expect is not None:
        raise UsageError(
            "check runs nothing that could be held against a file",
            where="--expect", hint=f"{operator.command_line} … --expect FILE",
        )  # fmt: skip
    given, inputs = read_inputs(operator, words, texts, settings)
    attrs = dict(inputs.attrs)
    with suppress(GscliError):  # `remarks` meets the same refusal and tells it as a finding
        settle_types(operator, inputs, attrs, strict=False, dtype=settings.dtype)
    listed = LISTED if settings.limit is None else settings.limit
    found = [CheckRemark("inputs", notice.problem, notice.where) for notice in inputs.notices]
    untyped = [name for name, typed_ in inputs.typed.items() if not typed_]
    found += remarks(operator, inputs.arrays, attrs, listed, untyped)
    found = [_located(one, given, inputs) for one in found]
    count = sum(one.count for one in found)
    mapped.check_unchanged(*inputs.arrays.values())
    if settings.json is not None:
        findings = [one.to_dict() for one in found]
        print_document({"count": count, "findings": findings})
    elif not settings.quiet:
        dots = "…" if screen(sys.stdout).utf8 else ".."
        sys.stdout.writelines(one.text().replace("…", dots) + "\n" for one in found)
        sys.stdout.write(f"{counted(count, 'finding')}\n")
    return int(bool(found))


def _located(one: CheckRemark, given: Typed, inputs: Inputs) -> CheckRemark:
    """A remark with the file's name, and with what can be typed next."""
    hint = one.hint
    if one.kind == "negative":
        command = comparing(given)
        hint = "; ".join(filter(None, (hint, f"see which: {command}" if command else "")))
    elif isinstance(one.error, IndexTypeRefused | UpdatesTypeRefused):
        hint = way_on(one.error, given, inputs)
    return replace(one, where=with_origin(one.where, inputs.origins), hint=hint)
