"""`gscli verify CASES.jsonl…`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from gscli.cli.building import complete_file, tool


def build() -> Any:  # noqa: ANN401  typer's command classes are private
    """The command."""
    return tool(verify, "verify")


def verify(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="CASES.jsonl...", help="recorded cases", autocompletion=complete_file
        ),
    ],
    only: Annotated[
        str, typer.Option(help="only cases whose id contains TEXT", metavar="TEXT")
    ] = "",
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="only the summary")] = False,
) -> int:
    """Run recorded cases and compare with their answers.

    A failure prints its id, the difference and the command that reproduces it; then `N passed,
    M failed`. Exit status 1 when any fails. - reads cases from standard input.
    """
    from gscli.cases import judge, read_cases, reproduction  # noqa: PLC0415
    from gscli.views.progress_bar import Progress  # noqa: PLC0415

    passed = failed = 0
    with Progress("cases", None) as progress:
        for path in files:
            for case in read_cases(path):
                if only not in case.id:
                    continue
                verdict = judge(case)
                progress.advance()
                passed, failed = passed + verdict.passed, failed + (not verdict.passed)
                if not verdict.passed and not quiet:
                    sys.stdout.write(
                        f"FAILED {case.id}: {verdict.problem}\n  {reproduction(case)}\n"
                    )
    sys.stdout.write(f"{passed} passed, {failed} failed\n")
    return int(failed > 0)
