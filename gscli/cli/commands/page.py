"""`gscli page RUN.json… -o PAGE.html`.

Put several recorded runs and comparisons into one teaching page, with next and back.

Record a run with `gscli OPERATOR … --json > RUN.json`, or what `gscli compare … --json` says.
The page needs no server and no network. A gradient has a page of its own: `gscli grad … --html`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from gscli.base import ContentRefused, GscliError, UsageError, check_rule
from gscli.base.words import sanitize
from gscli.cli.building import complete_file, tool
from gscli.cli.options import PAGE_ENDINGS, argument, option, print_stderr

if TYPE_CHECKING:
    from gscli.lab.answers import ComparisonResult
    from gscli.traces import Trace


@tool("page")
def page(
    runs: Sequence[str] = argument("RUN.json...", "documents of --json; - is stdin", complete_file),
    output: str = option("the page; - is stdout", "FILE", "-o", endings=PAGE_ENDINGS, default=...),
    title: str | None = option("title of the lesson", "TEXT"),
    quiz: bool = option("hide outputs of runs and ask for them"),
) -> int:
    from gscli.cli.call.results import save_text
    from gscli.frameworks import check_single_stdin
    from gscli.lab.answers import ComparisonResult
    from gscli.views.page import render_page

    check_single_stdin(runs)
    results = [_load_run(path) for path in runs]
    save_text(output, render_page(results, title=title, quiz=quiz))
    if quiz and any(isinstance(result, ComparisonResult) for result in results):
        print_stderr("warning: --quiz asks for outputs of runs: comparisons show their answers\n")
    return 0


def _load_run(path: str) -> Trace | ComparisonResult:
    """The run or comparison that a file holds; ContentRefused where it holds something else."""
    from gscli.files import read_standard_input
    from gscli.files.content import TEXT_LIMIT, open_content
    from gscli.files.formats.jsontext import parse_json
    from gscli.lab.documents import RUN_HINT
    from gscli.views.page import replay_document

    opening = partial(read_standard_input, None) if path == "-" else partial(open_content, path)
    with opening(TEXT_LIMIT) as content:
        place, text = sanitize(content.name), content.read_all(TEXT_LIMIT, "the text")
        try:
            document = parse_json(text, place).value
            check_rule(isinstance(document, dict), "not a recorded run", place, kind=ContentRefused)
        except ContentRefused as error:
            error.hint = RUN_HINT
            raise
    if "expectation" in document:
        print_stderr(f"warning: {place}: --expect is left out; --html of the run has it\n")
    try:
        return replay_document(document)
    except UsageError as error:
        raise ContentRefused(error.problem, where=place, hint=error.hint or RUN_HINT) from None
    except GscliError as error:
        error.where = f"{place}: {error.where}" if error.where else place
        raise
