"""`gscli check OPERATOR …`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from gscli.base import GscliError, IndexTypeRefused, LossyTypeRefused, UpdatesTypeRefused
from gscli.base.words import format_count, join_lines, quote_word
from gscli.cli.building import Call, Command, complete_file
from gscli.cli.commands.runtimes import PYTHON
from gscli.cli.options import (
    JSON_OPTION,
    SHARED_OPTIONS,
    Settings,
    argument,
    detect_screen,
    option,
    print_report,
)
from gscli.cli.tree import LazyGroup, make_operator_group

if TYPE_CHECKING:
    from gscli.traces.check import CheckFinding


def check_operator(call: Call) -> int:
    """Print every finding; exit status 1 when there is one."""
    from gscli.disk import mapped
    from gscli.plan.findings import DEFAULT_LISTED
    from gscli.traces.check import CheckFinding, iter_findings

    operator, settings, inputs = call.operator, call.settings, call.inputs
    findings: list[CheckFinding] = []
    try:  # what is refused here `iter_findings` meets again and tells, but for what `--dtype` asks
        _ = call.plan
    except GscliError as error:
        if isinstance(error, LossyTypeRefused):
            findings.append(CheckFinding("inputs", error.problem, error.where, hint=error.hint))
    listed = DEFAULT_LISTED if settings.limit is None else settings.limit
    findings += [CheckFinding("inputs", notice.problem, notice.where) for notice in inputs.notices]
    findings += iter_findings(operator, inputs.arrays, inputs.attrs, listed, inputs.is_typed)
    findings = [_add_origin(finding, call) for finding in findings]
    count = sum(finding.count for finding in findings)
    mapped.check_unchanged(*inputs.arrays.values())
    print_report(
        settings,
        lambda: {"count": count, "findings": [finding.to_dict() for finding in findings]},
        partial(_format_findings, findings, count),
    )
    return int(bool(findings))


def _format_findings(findings: Sequence[CheckFinding], count: int) -> str:
    """A line or more for each finding, and how many there are."""
    dots = "…" if detect_screen(sys.stdout).utf8 else ".."
    texts = [each.text().replace("…", dots) for each in findings]
    return join_lines([*texts, format_count(count, "finding")])


def _add_origin(finding: CheckFinding, call: Call) -> CheckFinding:
    """A finding with the file's name, and with what can be typed next."""
    from dataclasses import replace

    from gscli.lab.hints import build_compare_command, make_hint, prefix_origin

    hint = finding.hint
    if finding.kind == "negative":
        command = build_compare_command(call.operator, call.inputs)
        hint = "; ".join(filter(None, (hint, f"see which: {command}" if command else "")))
    elif isinstance(finding.error, IndexTypeRefused | UpdatesTypeRefused):
        hint = make_hint(finding.error, call.operator, call.inputs)
    return replace(finding, where=prefix_origin(finding.where, call.inputs.origins), hint=hint)


def check_model(
    words: Sequence[str] = argument(
        "INPUTS", "the model's inputs by name: an .npz, a folder, NAME=FILE", complete_file, ()
    ),
    on: str | None = option(
        "hold the answers of a runtime against the rules", "NAME", choices=("onnxruntime", "onnx")
    ),
    python: str | None = PYTHON,
    *,
    path: str,
    settings: Settings,
) -> int:
    """Run a whole ONNX model and judge every gather and scatter; exit status 1 for a finding.

    In branches, loops and functions too, run by onnx.reference with the rules in their places. With
    --on onnxruntime, or onnx, each node of the main graph is asked of the runtime in a process of
    its own, and the first bad node is named where it stops. An index below zero that counts from
    the end is right in ONNX, and no finding here; gscli check onnx OPERATOR tells of it, too.
    """
    from gscli import files
    from gscli.cli.call.nodes import split_words
    from gscli.lab.models import OnnxModel
    from gscli.watch.onnx_nodes import watch_model

    model = OnnxModel.read(path, settings.max_bytes)
    texts, others = split_words(words, {name: name for name in model.inputs})
    for word in others:
        texts |= {name: source.text for name, source in files.list_sources(word).items()}
    feeds = {name: files.load(text).array for name, text in texts.items()}
    report = watch_model(model, feeds, on or "", python or sys.executable)
    screen = detect_screen(sys.stdout, settings.color, settings.width)
    make_text = partial(report.report, color=screen.color, width=screen.width, utf8=screen.utf8)
    print_report(settings, report.to_dict, make_text)
    return int(bool(report.findings))


class CheckGroup(LazyGroup):
    """The operators, and any model by the name of its file."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if not cmd_name.lower().endswith(".onnx"):
            return super().get_command(ctx, cmd_name)
        names = ("max_bytes", "quiet", "color", "width", "debug")
        shared = [JSON_OPTION, *(SHARED_OPTIONS[name] for name in names)]
        run, text = partial(check_model, path=cmd_name), check_model.__doc__ or ""
        return Command(cmd_name, run, shared, text)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, *others = super().resolve_command(ctx, args)
        return name and quote_word(name), *others  # hints and usage are typed


check = make_operator_group(
    check_operator,
    "check",
    "Every finding about some inputs: bad indices, duplicates, shapes, types. "
    "Exit status 1 when there is any. gscli check MODEL.onnx INPUTS.npz judges a whole model.",
    SHARED_OPTIONS.keys() - {"json", "dtype", "max_bytes", "limit", "quiet", "debug"},
    CheckGroup,
)
