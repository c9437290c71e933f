"""Blocks of lines placed side by side while they fit, else below."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from gscli.base.records import Record
from gscli.views.lines import line_width
from gscli.views.style import PLAIN, Line


class Block(Record):
    """Lines and the width of the widest."""

    lines: tuple[Line, ...]
    width: int


def block(lines: Sequence[Line]) -> Block:
    """A block of these lines."""
    return Block(tuple(lines), max(map(line_width, lines), default=0))


def beside(blocks: Sequence[Block], gap: int) -> Block:
    """Blocks from left to right, tops aligned."""
    if len(blocks) == 1:
        return blocks[0]
    height = max(len(one.lines) for one in blocks)
    lines: list[Line] = []
    for number in range(height):
        line: Line = []
        for one in blocks:
            own = one.lines[number] if number < len(one.lines) else []
            pad = one.width - line_width(own) + gap
            line += [*own, (" " * pad, PLAIN)]
        lines.append(line[:-1])
    return block(lines)


def flow(blocks: Sequence[Block], width: int, gap: int = 4, between: int = 1) -> list[Line]:
    """Rows of blocks, each as full as `width` allows, `between` empty lines apart."""
    rows: list[list[Block]] = []
    used = 0
    for one in blocks:
        if rows and used + gap + one.width <= width:
            rows[-1].append(one)
            used += gap + one.width
        else:
            rows.append([one])
            used = one.width
    separated: list[list[Line]] = []
    for row in rows:
        separated += [[[]] * between, list(beside(row, gap).lines)]
    return list(chain.from_iterable(separated[1:]))
