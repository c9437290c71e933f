"""`gscli compare CONCEPT …`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from gscli.base.errors import UsageError
from gscli.base.text import safe
from gscli.cli.inputs import concept_inputs
from gscli.cli.options import Settings
from gscli.cli.work.drawing import save_text, view_options
from gscli.cli.work.operators import check_requests
from gscli.cli.work.runtimes import Asked, judging
from gscli.declare.comparisons import REDUCTION_NAMES, ConceptName
from gscli.lab.answers import Comparing, document
from gscli.lab.compare import compare
from gscli.lab.equivalents import with_equivalents


class Wanted(NamedTuple):
    """Which rule sets are compared: `--as` and `--opset`."""

    only: list[str]
    opsets: list[int]


def opset_numbers(texts: Sequence[str]) -> list[int]:
    """`--opset` as numbers from 1 up.

    >>> opset_numbers(["11", "18"])
    [11, 18]
    """
    for text in texts:
        if not (text.isascii() and text.isdigit() and int(text[:9]) > 0):
            raise UsageError(
                "opset takes whole numbers", where=f"--opset {safe(text, 60)}", valid="11,13,18"
            )
    return [int(text[:9]) for text in texts]


def compare_concept(
    name: ConceptName,
    words: list[str],
    arguments: Mapping[str, object],
    wanted: Wanted,
    asked: Asked,
    settings: Settings,
) -> int:
    """Every rule set's answer; exit status 1 when they differ."""
    check_requests(settings)
    reduction = str(arguments["reduction"] or "none")
    if reduction not in REDUCTION_NAMES:
        raise UsageError(f"unknown reduction: {reduction!r}"[:200], valid=" ".join(REDUCTION_NAMES))
    inputs = concept_inputs(name, words, settings)
    axis, batch_dims = arguments["axis"], arguments["batch_dims"]
    call = partial(
        compare,
        name,
        inputs.arrays,
        typed=inputs.typed,
        axis=axis if isinstance(axis, int) else None,
        batch_dims=batch_dims if isinstance(batch_dims, int) else 0,
        reduction=reduction,
    )
    comparing = call(only=wanted.only, opsets=wanted.opsets)
    if asked.on:
        from gscli.lab.runtimes.comparing import with_runtime

        with judging(asked.on, asked.python, asked.patience) as (runtime, _):
            comparing = with_runtime(comparing, call, runtime)
    comparing = with_equivalents(comparing)
    if settings.json is not None:
        sys.stdout.write(json.dumps(document(comparing)) + "\n")
    _draw_comparison(comparing, settings)
    return int(not comparing.agree)


def _draw_comparison(comparing: Comparing, settings: Settings) -> None:
    from gscli.views.lines import render
    from gscli.views.terminal.compare import comparison

    if settings.svg is not None:
        from gscli.views.figure import to_svg

        options = view_options(settings, colored=True)
        title = f"gscli compare {comparing.concept}"
        save_text(settings.svg, to_svg(comparison(comparing, options), title, theme=settings.theme))
    if settings.html is not None:
        from gscli.views.page.compare import compare_page

        options = view_options(settings, colored=True)
        save_text(settings.html, compare_page(comparing, options=options))
    if settings.prints and settings.plain:
        from gscli.views.words.compare_words import comparison_words

        sys.stdout.write(comparison_words(comparing, view_options(settings)))
    elif settings.quiet and settings.json is None and "-" not in (settings.svg, settings.html):
        from gscli.views.words.answers import Answers

        options = view_options(settings)
        answers = Answers(comparing, options._replace(utf8=options.utf8 and not settings.plain))
        sys.stdout.write(answers.summary(listed=not answers.columns) + "\n")
    elif settings.prints:
        options = view_options(settings)
        sys.stdout.write(render(comparison(comparing, options), options))
