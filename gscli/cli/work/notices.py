"""Warnings of a run: on stderr, or with `--strict` a refusal before anything is written."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gscli.base.errors import Notice, StrictFinding
from gscli.cli.messages import warning_text
from gscli.cli.options import Settings
from gscli.cli.terminal import screen, tell
from gscli.frameworks.notices import Drawn


def warn(notices: Sequence[Notice], settings: Settings) -> None:
    """Tell every warning of a run that no picture shows; StrictFinding instead with `--strict`."""
    if settings.strict and notices:
        first = notices[0]
        raise StrictFinding(first.problem, where=first.where, details=first.shown, hint=first.hint)
    side = screen(sys.stderr, settings.color, settings.width)
    seen = settings.prints and not settings.saves
    for notice in notices:
        if seen and isinstance(notice, Drawn):
            continue
        tell(warning_text(notice, color=side.color, width=side.width, utf8=side.utf8))
