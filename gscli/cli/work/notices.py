"""Warnings of a run: on stderr, or with `--strict` a refusal before anything is written."""

from __future__ import annotations

import sys

from gscli.base.errors import StrictFinding
from gscli.cli.messages import warning_text
from gscli.cli.options import Settings
from gscli.cli.terminal import screen, tell
from gscli.traces.trace import Trace


def warn(trace: Trace, settings: Settings) -> None:
    """Tell every warning of the run; StrictFinding instead with `--strict`."""
    if settings.strict and trace.warnings:
        first = trace.warnings[0]
        raise StrictFinding(first.problem, where=first.where, details=first.shown, hint=first.hint)
    side = screen(sys.stderr, settings.color, settings.width)
    for notice in trace.warnings:
        tell(warning_text(notice, color=side.color, width=side.width, utf8=side.utf8))
