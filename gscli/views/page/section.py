"""One run on a page: heading, equation, tensors, entries, and the facts for the script."""

from __future__ import annotations

import json
from html import escape

from gscli.base.text import safe
from gscli.frameworks.operator import Framework
from gscli.traces.trace import Entry
from gscli.views.page.replay import replayed
from gscli.views.page.sheets import Scene
from gscli.views.page.table import chip_class, sheet_html
from gscli.views.page.text import text_version
from gscli.views.page.words import Speaker
from gscli.views.words.formula import Formula


class Section:
    """A `<section>` of the page, called `noun` and a number."""

    def __init__(
        self, scene: Scene, number: int, *, noun: str = "example", quiz: bool = False
    ) -> None:
        self._scene = scene
        self.name = f"{noun}-{number + 1}"
        self._quiz = quiz
        self._speaker = Speaker(scene)
        self._skipped = {entry.number for entry in scene.entries if not entry.live}

    @property
    def title(self) -> str:
        """Operator and the attributes that differ from their defaults."""
        trace = self._scene.trace
        told = [f"{name}={_shown(value)}" for name, value in trace.shown_attributes.items()]
        return safe(" · ".join([trace.operator.command, *told]))

    @property
    def note(self) -> str:
        """Markup between the lead and the equation."""
        return ""

    def html(self, *, heading: str) -> str:
        """The `<section>`; `heading` is its element's name."""
        name = self.name
        kinds = f"{self._scene.trace.kind}{' quiz' if self._quiz else ''}"
        body = self._question() if self._quiz else self._answer()
        equation = escape(Formula(self._scene.trace).equation)
        return (
            f'<section id="{name}" class="{kinds}" aria-labelledby="{name}-title">'
            f'<{heading} id="{name}-title">{escape(self.title)}</{heading}>'
            f'<p class="lead">{escape(self._lead())}</p>{self.note}'
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
