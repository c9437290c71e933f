"""The few signs beside letters and numbers, with and without UTF-8, and text cut to cells."""

from __future__ import annotations

from gscli.base.records import Record
from gscli.base.text import safe
from gscli.traces.trace import How
from gscli.views.options import ViewOptions

LONGEST_LINE = 4000
"""Characters of a line of prose before it is cut."""


class Signs(Record):
    """One character or two per meaning."""

    utf8: bool
    bar: str
    across: str
    down: str
    wrapped: str
    clipped: str
    skipped: str
    times: str
    arrow: str
    cut: str
    point: str
    differs: str

    def of(self, how: How) -> str:
        """The sign of a number that is not its own coordinate."""
        return {"wrapped": self.wrapped, "clipped": self.clipped, "skipped": self.skipped}[how]

    def text(self, text: str, limit: int = 200) -> str:
        """Outside text that can neither colour nor steer a terminal, in its character set."""
        shown = safe(text, limit)
        if not self.utf8:
            shown = shown.replace("…", self.cut)
            shown = shown.encode("ascii", "backslashreplace").decode("ascii")
        return shown

    def line(self, text: str) -> str:
        """The same of a line of prose."""
        return self.text(text, LONGEST_LINE)

    def fit(self, text: str, width: int) -> str:
        """Cut to `width` cells, with a mark where something is missing."""
        if cells(text) <= width:
            return text
        mark = self.cut if width > len(self.cut) else ""
        return _start(text, max(width - len(mark), 0)).rstrip() + mark


_PLAIN = frozenset(map(chr, range(0x20, 0x300))).union("│⋯⋮↺⊣✗×→…·–−≠")
"""All characters below U+0300 and the signs themselves take one cell each."""

UTF8 = Signs(True, "│", "⋯", "⋮", "↺", "⊣", "✗", "×", "→", "…", "·", "≠")
_ASCII = Signs(False, "|", "..", ":", "~", "]", "!", "x", "->", "..", ".", "!=")


def signs_of(options: ViewOptions) -> Signs:
    """The signs that the output can show.

    >>> signs_of(ViewOptions(utf8=False)).of("wrapped")
    '~'
    """
    return UTF8 if options.utf8 else _ASCII


def cells(text: str) -> int:
    """Width on the screen: East Asian wide characters count two.

    >>> cells("ab"), cells("日本")
    (2, 4)
    """
    if _PLAIN.issuperset(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _start(text: str, width: int) -> str:
    """The first `width` cells; a wide character that would be halved gives way to a space."""
    if _PLAIN.issuperset(text):
        return text[:width]
    from rich.cells import set_cell_size

    return set_cell_size(text, width)


def left(text: str, width: int) -> str:
    """Padded on the right to `width` cells."""
    return text + " " * (width - cells(text))


def right(text: str, width: int) -> str:
    """Padded on the left to `width` cells."""
    return " " * (width - cells(text)) + text
