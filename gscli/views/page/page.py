"""The teaching page: one self-contained HTML document of one or several runs.

It asks for nothing from outside (a content policy forbids it), reads without its script, and with
it links index, update, data and output cells, replays the entries, and asks for the output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from gscli.base.errors import UsageError
from gscli.base.text import safe
from gscli.traces.documents import trace_of
from gscli.traces.trace import Trace
from gscli.views.options import ViewOptions
from gscli.views.page.document import document
from gscli.views.page.section import Section
from gscli.views.page.sheets import Scene

LESSON = "Gather and scatter, step by step"


def page(
    traces: Sequence[Trace | Mapping[str, object]],
    *,
    title: str | None = None,
    quiz: bool = False,
    options: ViewOptions | None = None,
) -> str:
    """One HTML document with a section per trace (or per gscli/1 document of `Trace.to_dict`).

    `quiz` hides each output and asks for it. `options`: rows, edge, full, limit (entries told),
    show, precision. Raises ContentRefused for documents that cannot be replayed, LimitRefused
    where `full` would show too many cells.

    >>> from gscli import trace
    >>> text = page([trace("onnx.gather", {"data": [10, 20, 30], "indices": [2, 0]})])
    >>> text.startswith("<!DOCTYPE html>"), "output 0 is 30, entry a" in text
    (True, True)
    """
    if not traces:
        raise UsageError("a page needs at least one run")
    found = [each if isinstance(each, Trace) else trace_of(each) for each in traces]
    scenes = [Scene(each, options or ViewOptions()) for each in found]
    sections = [Section(scene, number, quiz=quiz) for number, scene in enumerate(scenes)]
    heading = safe(title or (LESSON if len(sections) > 1 else sections[0].title))
    own = bool(title) or len(sections) > 1
    parts = [section.html(heading="h2" if own else "h1") for section in sections]
    return document(heading, [f"<h1>{escape(heading)}</h1>" * own, *parts])


def page_from_documents(
    documents: Sequence[Mapping[str, object]],
    *,
    title: str | None = None,
    quiz: bool = False,
    options: ViewOptions | None = None,
) -> str:
    """The lesson of several gscli/1 documents, as `--json` writes them."""
    return page(documents, title=title, quiz=quiz, options=options)
