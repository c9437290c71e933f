"""`--expect FILE`: the output of a call held against the one that is expected."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from gscli import files
from gscli.base import UsageError
from gscli.base.records import Record
from gscli.base.words import sanitize
from gscli.cli.options import Settings, make_view_options

if TYPE_CHECKING:
    from gscli.lab.difference import TensorDifference, Tolerance
    from gscli.lab.expectation import OutputDiagnosis
    from gscli.traces import Trace


class ExpectedOutput(Record):
    """The expected answer, read before anything runs; an untyped one takes the result's type."""

    loaded: files.LoadedInput
    tolerance: Tolerance

    @classmethod
    def from_settings(cls, settings: Settings, words: Sequence[str]) -> ExpectedOutput:
        """What `--expect` names."""
        assert settings.expect is not None
        if settings.expect == "-" and "-" in [*words, *settings.extra.values()]:
            raise UsageError(
                "only one input can be - (standard input)", where="--expect",
                hint="put the others into files",
            )  # fmt: skip
        return cls(load_expected(settings.expect, "expect", settings), tolerance_of(settings))

    def diagnose(self, trace: Trace) -> OutputDiagnosis:
        """The run held against it."""
        from gscli.lab.expectation import diagnose_output

        return diagnose_output(trace, self.loaded, self.tolerance)


def load_expected(text: str, name: str, settings: Settings) -> files.LoadedInput:
    """What a word of the command line stands for, as the file says it."""
    return files.load(text, name=name, max_bytes=settings.max_bytes)


def tolerance_of(settings: Settings) -> Tolerance:
    """`--rtol` and `--atol` as numbers from 0 up."""
    from gscli.lab.difference import Tolerance

    relative, absolute = (_parse_tolerance(name, settings) for name in ("rtol", "atol"))
    return Tolerance(relative, absolute or 0.0)


def _parse_tolerance(name: str, settings: Settings) -> float | None:
    text = getattr(settings, name)
    if text is None:
        return None
    with suppress(ValueError):
        number = float(text)
        if math.isfinite(number) and number >= 0:
            return number
    raise UsageError(
        f"{name} takes a number", where=f"--{name} {sanitize(text, 60)}", valid="0, 1e-6, 0.5, …"
    )


def report_diagnosis(
    diagnosis: OutputDiagnosis, settings: Settings, *, below: bool, shown_count: int = 0
) -> int:
    """Print it below the picture, unless nobody asked for words; 1 where the answers differ.

    `shown_count`: differing cells that the picture shows; where it is all, no table lists them.
    """
    if settings.is_screen_used:
        sentences = diagnosis.describe()
        letters = [diagnosis.entry_letters_at(cell.at) for cell in diagnosis.difference.cells]
        differences = diagnosis.difference
        text = (
            _format_sentences(differences, sentences, settings, letters) if settings.plain
            else render_table(differences, sentences, settings, letters, shown_count=shown_count)
        )  # fmt: skip
        sys.stdout.write("\n" * below + text)
    return int(not diagnosis.is_equal)


def _format_sentences(
    differences: TensorDifference,
    sentences: Sequence[str],
    settings: Settings,
    letters: Sequence[str],
) -> str:
    """Sentences alone: each listed cell with both values and the entries that reach it."""
    from gscli.views.lines import wrap_text
    from gscli.views.terminal.difference import describe_cells

    options = make_view_options(settings)
    verdict, *others = sentences
    lines = [verdict, *describe_cells(differences, options, letters), *others]
    return "".join(f"{part}\n" for line in lines for part in wrap_text(line, options.width))


def render_table(
    differences: TensorDifference,
    sentences: Sequence[str],
    settings: Settings,
    letters: Sequence[str] = (),
    *,
    shown_count: int = 0,
) -> str:
    """The sentences and the table of the cells that differ, as they go to the screen."""
    from gscli.views.lines import render_text
    from gscli.views.terminal.difference import DifferenceView

    options = make_view_options(settings)
    listed = shown_count < differences.differing_count
    return render_text(
        DifferenceView(differences, sentences, options, letters, listed=listed), options
    )
