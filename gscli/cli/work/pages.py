"""`gscli page RUN.json…`: one teaching page from recorded runs."""

from __future__ import annotations

from collections.abc import Sequence

from gscli.base import ContentRefused, GscliError, UsageError
from gscli.base.words import safe
from gscli.cli.work.pictures import save_text
from gscli.files.content import TEXT_LIMIT, open_content
from gscli.files.formats.jsontext import parse_json
from gscli.lab.answers import Comparing
from gscli.traces import Trace
from gscli.views.page import page, part_of


def write_page(paths: Sequence[str], output: str, title: str | None, *, quiz: bool) -> int:
    """Read the documents, write the page; nothing is written unless all of them can be shown."""
    save_text(output, page([_shown(path) for path in paths], title=title, quiz=quiz))
    return 0


def _shown(path: str) -> Trace | Comparing:
    with open_content(path, TEXT_LIMIT) as content:
        document = parse_json(content.whole(TEXT_LIMIT, "the text"), path).value
    if not isinstance(document, dict):
        raise ContentRefused(
            "not a recorded run",
            where=safe(path),
            hint="any operator records one with --json, and so does gscli compare",
        )
    try:
        return part_of(document)
    except UsageError as error:
        raise ContentRefused(error.problem, where=safe(path), hint=error.hint) from None
    except GscliError as error:
        error.where = f"{safe(path)}: {error.where}" if error.where else safe(path)
        raise
