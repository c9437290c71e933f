"""One run on a page: heading, equation, tensors, entries, and the facts for the script."""

from __future__ import annotations

from typing import Any

from gscli.base.words import safe
from gscli.frameworks.operator import Framework
from gscli.traces import Entry
from gscli.views.look import UTF8
from gscli.views.markup import embedded, escape
from gscli.views.page.cells import Cells, entry_chip
from gscli.views.page.predict import Kind, Predictions
from gscli.views.page.sheets import ENTRIES, PageTensor, Scene
from gscli.views.page.table import sheet_html
from gscli.views.page.words import (
    MOVES,
    PATHS,
    act,
    axis_word,
    coordinates,
    counts_line,
    finish,
    opening,
    parts,
)
from gscli.views.summary import drawn_key, purpose
from gscli.views.terminal.explain import explain
from gscli.views.words.below import explain_outcome_signs
from gscli.views.words.facts import Teller
from gscli.views.words.formula import Formula
from gscli.views.words.vocabularies import told

COPIED_CELLS = 2_000
"""Cells of a run that the page also writes as text."""


class Section:
    """A `<section>` of the page, called `noun` and a number."""

    def __init__(
        self, scene: Scene, number: int, *, noun: str = "example", quiz: bool = False
    ) -> None:
        self._scene = scene
        self.name = f"{noun}-{number + 1}"
        self._quiz = quiz
        self._teller = Teller(scene.trace, scene.numbers)
        self._predictions = Predictions(scene.trace)
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
        return f"{purpose(trace)} {framework.title}{which}."

    def _question(self) -> str:
        return (
            f'<div class="stage question">{self._tensors(quiz=True)}</div>'
            f"{self._text('The answer as text')}"
            f"<template>{self._answer()}</template>"
        )

    def _answer(self) -> str:
        items = "".join(self._item(entry) for entry in self._scene.entries)
        return (
            f'<div class="stage">{self._tensors(quiz=False)}</div>'
            f'<ol class="entries" aria-label="entries">{items}</ol>{self._verdict}'
            f'<p class="counts">{escape(counts_line(self._scene.trace))}</p>{self._key}'
            f"{self._text('As text')}"
        )

    @property
    def _key(self) -> str:
        """What the signs in the tables mean."""
        scene = self._scene
        gaps = UTF8.across if any(tensor.has_gaps for tensor in scene.tensors) else ""
        parts = [explain_outcome_signs(scene.trace, scene.entries, UTF8), drawn_key(gaps, UTF8)]
        parts += [f"{UTF8.differs} what was expected"] * bool(scene.output.wanted)
        told = "   ".join(filter(None, parts))
        return f'<p class="key">{escape(told)}</p>' if told else ""

    @property
    def _verdict(self) -> str:
        """Whether the answer is the expected one, and which causes would give that."""
        held = self._scene.expectation
        told = [] if held is None else held.sentences()
        lines = "".join(f"<li>{escape(line.strip())}</li>" for line in told)
        return f'<ul class="verdict">{lines}</ul>' * bool(told)

    def _tensors(self, *, quiz: bool) -> str:
        """What is given on one side: data, where it is drawn by itself, and output on the other."""
        given, made = "", ""
        for tensor in self._scene.tensors:
            role = tensor.subject.role
            markup = sheet_html(
                tensor,
                Cells(tensor, self._skipped, asked=quiz),
                title=self._name(tensor),
                heads=self._heads(tensor),
            )
            if role in ("indices", "updates"):
                given += markup
            else:
                made += markup
        return f'<div class="given">{given}</div><div class="made">{made}</div>'

    def _name(self, tensor: PageTensor) -> str:
        """A scatter's grid is a copy of data at first, and output in the end."""
        data = self._scene.trace.layout.data
        copied = tensor.subject.role == "output" and self._scene.trace.kind == "scatter"
        return f"{data} → output" if copied and data else ""

    def _heads(self, tensor: PageTensor) -> list[str]:
        """Names over the columns: the axis that a number of indices addresses, or updates' verb."""
        if tensor.subject.role == "updates" and tensor.upright:
            return [act(self._scene.trace)]
        if tensor.subject.role != "indices" or not tensor.shape:
            return []
        layout, rank = self._scene.trace.layout, len(tensor.shape)
        wanted = None if tensor.upright else rank - 1
        return [
            axis_word(axis, len(layout.data_shape))
            for column, axis in zip(layout.addressing.columns, layout.column_axes, strict=True)
            if column.source == tensor.subject.name
            and column.vector_dim == wanted
            and layout.view_shape == layout.data_shape
        ]

    def _item(self, entry: Entry) -> str:
        (words, value), notes = told(self._teller, entry, PATHS)
        value = f" <b>{escape(value)}</b>" if value else ""
        return (
            f'<li><button type="button">{entry_chip(entry.number, live=entry.live)} '
            f'<span class="s">{escape(words)}{value}{escape("".join(notes))}</span>'
            "</button></li>"
        )

    def _text(self, summary: str) -> str:
        """All of it as text, to be copied, unless that would double a large page."""
        if sum(len(tensor.texts) for tensor in self._scene.tensors) > COPIED_CELLS:
            return ""
        told = explain(self._scene.trace, self._scene.options, plain=True, limit=ENTRIES)
        assert isinstance(told, str)
        text = f"<pre>{escape(told)}</pre>"
        return f'<details class="text"><summary>{summary}</summary>{text}</details>'

    def _facts(self) -> dict[str, object]:
        """What the script cannot read off the tables: addresses, and values in between."""
        trace = self._scene.trace
        facts = [self._fact(entry) for entry in self._scene.entries]
        guesses = [guess for fact in facts for guess in (*fact["places"], *fact["values"])]
        kinds: dict[Kind, None] = dict.fromkeys(
            ["outside", "inside", *(kind for _, kind in guesses)]
        )
        return {
            "labels": [entry.label for entry in self._scene.entries],
            "parts": parts(trace.layout),
            "entries": facts,
            "why": {kind: self._predictions.why(kind) for kind in kinds},
            "act": act(trace),
            "sign": self._teller.sign(boolean=trace.layout.dtype == "bool"),
            "fresh": not trace.layout.include_self,
            "between": self._between,
            "opening": opening(self._teller),
            "finish": finish(trace.entry_count - len(facts)),
        }

    def _fact(self, entry: Entry) -> dict[str, Any]:
        """One entry: coordinates, what it moves, its sum, and wrong predictions."""
        (value, sum_), _ = told(self._teller, entry, MOVES)
        return {
            "at": coordinates(self._scene.trace.layout, entry),
            "value": value,
            "sum": sum_,
            "places": list(self._predictions.places(entry)),
            "values": list(self._predictions.values(entry, self._teller)),
        }

    @property
    def _between(self) -> list[dict[int, str]]:
        """The texts that an entry leaves in touched cells where they are not those of the result.

        By the number of the cell among those that the table marks with `data-e`.
        """
        output = self._scene.output
        if self._scene.trace.kind == "gather":
            return []
        texts = output.texts
        drawn = {**output.entries, **output.wanted}
        marked = [at for at in texts if at in drawn or output.start[at] != texts[at]]
        number = {cell: order for order, cell in enumerate(marked)}
        return [
            {number[cell]: text for cell, text in step.items() if text != texts[cell]}
            for step in self._scene.steps
        ]


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{','.join(map(str, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
