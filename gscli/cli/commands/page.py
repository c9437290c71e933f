"""`gscli page RUN.json… -o PAGE.html`.

Put several recorded runs and comparisons into one teaching page, with next and back.

Record a run with `gscli OPERATOR … --json > RUN.json`, or what `gscli compare … --json` says.
The page needs no server and no network.
"""

from __future__ import annotations

from typing import Annotated

import typer

from gscli.cli.tools import files_argument, tool


@tool("page")
def page(
    runs: Annotated[list[str], files_argument("RUN.json...", "documents of --json")],
    output: Annotated[
        str, typer.Option("-o", "--output", help="the page; - is stdout", metavar="FILE")
    ],
    title: Annotated[str | None, typer.Option(help="title of the lesson", metavar="TEXT")] = None,
    quiz: Annotated[bool, typer.Option("--quiz", help="hide outputs and ask for them")] = False,
) -> int:
    from gscli.cli.work.pages import write_page

    return write_page(runs, output, title, quiz=quiz)
