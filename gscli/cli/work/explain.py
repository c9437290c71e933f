"""`gscli explain OPERATOR …`."""

from __future__ import annotations

import sys

from gscli.cli.call import (
    Call,
    asked_expectation,
    check_requests,
    drawn_files,
    show_elsewhere,
    told,
)
from gscli.cli.options import Settings
from gscli.cli.work.pictures import explained
from gscli.disk import mapped
from gscli.frameworks.operator import Operator


def explain_operator(
    operator: Operator, words: list[str], texts: dict[str, str], settings: Settings
) -> int:
    """The formula and a line per entry."""
    check_requests(settings)
    expected = asked_expectation(settings, words)
    call = Call(operator, words, texts, settings)
    trace = call.traced()
    expectation = expected.of(trace) if expected else None
    pictures = drawn_files(trace, settings, expectation)
    shown = explained(trace, settings) if settings.prints else ""
    mapped.check_unchanged(*trace.inputs.values())
    show_elsewhere(trace, settings, expectation, pictures)
    sys.stdout.write(shown)
    return told(expectation, settings, below=True)
