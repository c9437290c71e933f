"""The teaching page: one self-contained HTML document of one or several runs and comparisons.

It asks for nothing from outside (a content policy forbids it), reads without its script, and with
it links index, update, data and output cells, replays the entries, and asks for the output.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from gscli.base import UsageError, check_rule
from gscli.base.words import sanitize
from gscli.lab.answers import SCHEMA as COMPARE_SCHEMA
from gscli.lab.answers import ComparisonResult
from gscli.lab.documents import replay_comparison, replay_trace
from gscli.traces import Trace
from gscli.views.look import ViewOptions
from gscli.views.markup import escape
from gscli.views.page.compare import COMPARE_STYLE, ComparisonSection
from gscli.views.page.section import RunSection
from gscli.views.page.sheets import TraceView

if TYPE_CHECKING:
    from gscli.lab.expectation import OutputDiagnosis

LESSON = "Gather and scatter, step by step"


def render_page(
    runs: Sequence[Trace | ComparisonResult | Mapping[str, object]],
    *,
    title: str | None = None,
    quiz: bool = False,
    options: ViewOptions | None = None,
    diagnosis: OutputDiagnosis | None = None,
) -> str:
    """One HTML document with a section per run or comparison (or per JSON document of one).

    `quiz` hides the output of each run that is not refused, and asks for it. `diagnosis`: what a
    single run is held against; cells that differ from it show both values. `options`: rows, edge,
    full, limit (entries told), show, precision. Raises ContentRefused for documents that cannot be
    replayed, LimitRefused where `full` would show too many cells.

    >>> from gscli import trace
    >>> text = render_page([trace("onnx.gather", {"data": [10, 20, 30], "indices": [2, 0]})])
    >>> text.startswith("<!DOCTYPE html>"), "output 0 is 30, entry a" in text
    (True, True)
    """
    check_rule(bool(runs), "a page needs at least one run", kind=UsageError)
    shown = options or ViewOptions()
    results = [replay_document(each) if isinstance(each, Mapping) else each for each in runs]
    sections = [
        ComparisonSection(each, number, shown)
        if isinstance(each, ComparisonResult)
        else RunSection(TraceView(each, shown, diagnosis), number, quiz=quiz)
        for number, each in enumerate(results)
    ]
    heading = sanitize(title or (LESSON if len(sections) > 1 else sections[0].title))
    own = bool(title) or len(sections) > 1
    markup = [section.html(heading="h2" if own else "h1") for section in sections]
    compares = any(isinstance(result, ComparisonResult) for result in results)
    styles = (STYLE, COMPARE_STYLE) if compares else (STYLE,)
    return render_document(heading, [f"<h1>{escape(heading)}</h1>" * own, *markup], styles=styles)


def replay_document(recorded: Mapping[str, object]) -> Trace | ComparisonResult:
    """The run or comparison that a JSON document was written from. Raises GscliError."""
    if recorded.get("schema") == COMPARE_SCHEMA:
        return replay_comparison(recorded)
    return replay_trace(recorded)


SCRIPTS = (
    "parts.js", "output.js", "crosshair.js", "filling.js", "player.js", "grid.js", "predict.js",
    "example.js", "quiz.js", "paper.js", "page.js",
)  # fmt: skip
STYLE = "page.css"

# Comments that begin a line or follow a blank.
_COMMENT = re.compile(r"(^|\s)(//.*$|/\*[^*]*(\*[^/][^*]*)*\*/)", re.MULTILINE)


def render_document(title: str, parts: Sequence[str], *, styles: Sequence[str] = (STYLE,)) -> str:
    """The page of some parts, each of them markup, in order."""
    style = "\n".join(["", *map(_read_asset, styles), ""])
    # The scripts are one function, so that the page has no names of its own.
    parts_of_script = map(_read_asset, SCRIPTS)
    script = "\n".join(["", '(function () {\n"use strict";', *parts_of_script, "}());", ""])
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="generator" content="gscli">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        "<main>\n"
        "<noscript><p>Scripts are off: letters and colours link the cells, the list under each "
        "picture tells the steps.</p></noscript>\n"
        f"{body}\n</main>\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _read_asset(name: str) -> str:
    """A file of this package without indentation and comments, a quarter of a small page."""
    bare = _COMMENT.sub("", files("gscli.views.page").joinpath(name).read_text(encoding="utf-8"))
    return "\n".join(line.strip() for line in bare.splitlines() if line.strip())


def _hash(text: str) -> str:
    return "'sha256-" + b64encode(sha256(text.encode()).digest()).decode() + "'"
