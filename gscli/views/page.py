"""The teaching page: one self-contained HTML document of one or several runs.

It asks for nothing from outside (a content policy forbids it), reads without its script, and with
it links index, update, data and output cells, replays the entries, and asks for the output.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files

from gscli.declare import Framework
from gscli.documents import trace_of
from gscli.errors import UsageError
from gscli.text import safe
from gscli.tracing import Entry, Trace
from gscli.views.formula import Formula
from gscli.views.options import ViewOptions
from gscli.views.page_replay import replayed
from gscli.views.page_sheets import Scene
from gscli.views.page_table import chip_class, sheet_html
from gscli.views.page_text import text_version
from gscli.views.page_words import Speaker

LESSON = "Gather and scatter, step by step"

SCRIPTS = (
    "page_parts.js",
    "page_curves.js",
    "page_grid.js",
    "page_example.js",
    "page_quiz.js",
    "page.js",
)


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
    heading = title or (LESSON if len(sections) > 1 else sections[0].title)
    return _document(safe(heading), sections, own=bool(title) or len(sections) > 1)


def page_from_documents(
    documents: Sequence[Mapping[str, object]],
    *,
    title: str | None = None,
    quiz: bool = False,
    options: ViewOptions | None = None,
) -> str:
    """The lesson of several gscli/1 documents, as `--json` writes them."""
    return page(documents, title=title, quiz=quiz, options=options)


class Section:
    """One example: heading, equation, tensors, entries, and the facts for the script."""

    def __init__(self, scene: Scene, number: int, *, quiz: bool) -> None:
        self._scene = scene
        self._number = number
        self._quiz = quiz
        self._speaker = Speaker(scene)
        self._skipped = {entry.number for entry in scene.entries if not entry.live}

    @property
    def title(self) -> str:
        """Operator and the attributes that differ from their defaults."""
        trace = self._scene.trace
        told = [f"{name}={_shown(value)}" for name, value in trace.shown_attributes.items()]
        return safe(" · ".join([trace.operator.command, *told]))

    def html(self, *, heading: str) -> str:
        """The `<section>`; `heading` is its element's name."""
        name = f"example-{self._number + 1}"
        kinds = f"{self._scene.trace.kind}{' quiz' if self._quiz else ''}"
        body = self._question() if self._quiz else self._answer()
        equation = escape(Formula(self._scene.trace).equation)
        return (
            f'<section id="{name}" class="{kinds}" aria-labelledby="{name}-title">'
            f'<{heading} id="{name}-title">{escape(self.title)}</{heading}>'
            f'<p class="lead">{escape(self._lead())}</p>'
            f'<p class="formula"><code>{equation}</code></p>{body}'
            f'<script type="application/json" class="facts">{embedded(self._facts())}</script>'
            "</section>"
        )

    def _lead(self) -> str:
        trace = self._scene.trace
        framework: Framework = trace.operator.framework
        version = trace.attributes.get("opset")
        which = f" {framework.version_word} {version}" if version else ""
        return f"{framework.title}{which}. {trace.operator.summary}"

    def _question(self) -> str:
        return (
            f'<div class="stage question">{self._tensors(quiz=True)}</div>'
            f'<details class="text"><summary>The answer as text</summary>{self._text()}</details>'
            f"<template>{self._answer()}</template>"
        )

    def _answer(self) -> str:
        items = "".join(self._item(entry) for entry in self._scene.entries)
        return (
            f'<div class="stage">{self._tensors(quiz=False)}</div>'
            f'<ol class="entries" aria-label="entries">{items}</ol>'
            f'<p class="counts">{escape(self._speaker.counts)}</p>'
            f'<details class="text"><summary>As text</summary>{self._text()}</details>'
        )

    def _tensors(self, *, quiz: bool) -> str:
        return "".join(sheet_html(sheet, self._skipped, quiz=quiz) for sheet in self._scene.sheets)

    def _item(self, entry: Entry) -> str:
        told = self._speaker.sentence(entry)
        value = f" <b>{escape(told.value)}</b>" if told.value else ""
        return (
            f'<li><button type="button"><i class="{chip_class(entry.number, live=entry.live)}">'
            f'<span class="v">entry </span>{entry.label}</i> '
            f'<span class="s">{escape(told.words)}{value}{escape(told.after)}</span>'
            "</button></li>"
        )

    def _text(self) -> str:
        return f"<pre>{escape(text_version(self._scene, self._speaker))}</pre>"

    def _facts(self) -> dict[str, object]:
        """What the script cannot read off the tables: the output after each entry."""
        replay = replayed(self._scene)
        return {
            "labels": [entry.label for entry in self._scene.entries],
            "start": replay.start,
            "steps": [[part for pair in step for part in pair] for step in replay.steps],
            "result": list(self._scene.output.texts.values()),
            "opening": replay.opening,
            "finish": replay.finish,
        }


def embedded(value: object) -> str:
    r"""JSON that can stand inside a script element: ASCII, and no markup.

    >>> embedded({"a": "</script>\u2028"})
    '{"a":"\\u003c/script\\u003e\\u2028"}'
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{','.join(map(str, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _script() -> str:
    """The scripts as one function, so that the page has no names of its own."""
    return "\n".join(['(function () {\n"use strict";', *map(_asset, SCRIPTS), "}());"])


def _asset(name: str) -> str:
    """A file of this package without its indentation, a tenth of a small page."""
    text = files("gscli.views").joinpath(name).read_text(encoding="utf-8")
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def _hash(text: str) -> str:
    return "'sha256-" + b64encode(sha256(text.encode()).digest()).decode() + "'"


def _document(title: str, sections: Sequence[Section], *, own: bool) -> str:
    """The page around the sections. `own`: the title stands above them, as a heading of its own."""
    style, script = f"\n{_asset('page.css')}\n", f"\n{_script()}\n"
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    heading = f"<h1>{escape(title)}</h1>" if own else ""
    body = "\n".join(section.html(heading="h2" if own else "h1") for section in sections)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="generator" content="gscli">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<main>\n{heading}\n"
        "<noscript><p>Scripts are off: letters and colours link the cells, the list under each "
        "picture tells the steps.</p></noscript>\n"
        f"{body}\n</main>\n<script>{script}</script>\n</body>\n</html>\n"
    )
