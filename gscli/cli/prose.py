"""Texts that were written 100 columns wide, on narrower screens. Light."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from textwrap import wrap

FENCE = "```"

_COLUMN = re.compile(r"\s*\S(?:.*?\S)?\s{2,}(?=\S)")
"""What stands before the second column of a list's line."""


def rewrap(text: str, width: int) -> str:
    r"""The text with no line wider than `width`; what fits stays as it is written.

    Lines of prose that follow each other are one paragraph. A line that is indented, or has
    columns, is continued below its last column.

    >>> print(rewrap("Some words of prose\nin two lines.\n\n  a.npy   numbers of a file\n", 20))
    Some words of prose
    in two lines.
    <BLANKLINE>
      a.npy   numbers of
              a file
    <BLANKLINE>
    """
    return "".join(_rewrap_lines(text.split("\n"), width))[:-1]


def rewrap_markdown(text: str, width: int) -> str:
    """The same for Markdown; what stands between fences stays as it is, for it was recorded."""
    parts = re.split(rf"(?ms)(^{FENCE}.*?^{FENCE}$)", text)
    return "".join(part if part.startswith(FENCE) else rewrap(part, width) for part in parts)


def fenced_width(text: str) -> int:
    """Columns of the widest line between fences."""
    fenced = re.findall(rf"(?ms)^{FENCE}.*?^{FENCE}$", text)
    return max((len(line) for part in fenced for line in part.split("\n")), default=0)


def _rewrap_lines(lines: list[str], width: int) -> Iterator[str]:
    for prose, group in groupby(lines, _is_prose):
        paragraph = list(group)
        if all(len(line) <= width for line in paragraph):
            yield from (f"{line}\n" for line in paragraph)
        elif prose:
            yield from (f"{line}\n" for line in _wrap_text(" ".join(paragraph), width, ""))
        else:
            for line in paragraph:
                yield from (f"{part}\n" for part in _wrap_list_item(line, width))


def _is_prose(line: str) -> bool:
    return bool(line) and not line[0].isspace() and line[0] not in "#|!" and "  " not in line


def _wrap_list_item(line: str, width: int) -> list[str]:
    before = _COLUMN.match(line)
    hang = before.end() if before else len(line) - len(line.lstrip()) + 2
    return _wrap_text(line, width, " " * min(hang, width * 2 // 3)) if len(line) > width else [line]


def _wrap_text(text: str, width: int, indent: str) -> list[str]:
    """`wrap`, but blanks inside of a line stay."""
    return wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False,
        replace_whitespace=False,
    )  # fmt: skip
