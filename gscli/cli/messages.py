"""Errors and warnings as text: what, where, why in the reader's numbers, how to go on.

    error: index out of range
      --> idx.npy: indices[3,0] = 5
       |  indices[3] = (5, 0)
       |                ^ axis 0 of data has size 4: valid are -4 … 3
      help: gscli compare scatter-nd data.npy idx.npy upd.npy

Light on purpose: neither numpy nor rich, so that a usage error is as quick as help.
"""

from __future__ import annotations

from textwrap import wrap
from unicodedata import east_asian_width

from gscli.base.errors import GscliError
from gscli.base.text import safe

_LIMIT = 1000
_RED, _YELLOW, _CYAN, _BOLD, _DIM = "1;31", "1;33", "1;36", "1", "2"
_ASCII = str.maketrans({"…": "...", "×": "x", "–": "-", "—": "-", "→": "->", "≠": "!="})


def error_text(error: GscliError, *, color: bool, width: int, utf8: bool = True) -> str:
    """A refusal as finished lines, the last one ended too. No line is wider than `width`.

    >>> from gscli.base.errors import IndexRefused
    >>> refused = IndexRefused("index out of range", where="indices[3] = 5", valid="-4 … 3")
    >>> print(error_text(refused, color=False, width=80), end="")
    error: index out of range
      --> indices[3] = 5
       |  valid: -4 … 3
    """
    return _text("error: ", _RED, error, color, max(width, 20), utf8)


def warning_text(warning: GscliError, *, color: bool, width: int, utf8: bool = True) -> str:
    """A warning in the same form; the run goes on.

    >>> from gscli.base.errors import Notice
    >>> print(warning_text(Notice("two entries write one cell"), color=False, width=80), end="")
    warning: two entries write one cell
    """
    return _text("warning: ", _YELLOW, warning, color, max(width, 20), utf8)


def _text(word: str, style: str, error: GscliError, color: bool, width: int, utf8: bool) -> str:
    lines = _block(word, error.problem, style, _BOLD, color, width)
    lines += _block("  --> ", error.where, _DIM, "", color, width)
    bar = _styled("   |  ", _DIM, color)
    for line in _details(error, width - 6):
        pad, caret, reason = _split_caret(line)
        lines.append((bar + pad + _styled(caret, style, color) + reason).rstrip())
    lines += _block("  help: ", error.hint, _CYAN, "", color, width)
    text = "\n".join(lines) + "\n"
    if utf8:
        return text
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def _block(
    label: str, text: str, label_style: str, text_style: str, color: bool, width: int
) -> list[str]:
    """`text` behind `label`, continued under itself."""
    if not text:
        return []
    parts = _wrapped(safe(text, _LIMIT), width - len(label))
    heads = [_styled(label, label_style, color)] + [" " * len(label)] * (len(parts) - 1)
    return [
        head + _styled(part, text_style, color) for head, part in zip(heads, parts, strict=True)
    ]


def _wrapped(text: str, width: int) -> list[str]:
    wide = any(east_asian_width(character) in "WF" for character in text)
    return wrap(text, width // 2 if wide else width, break_on_hyphens=False) or [""]


def _styled(text: str, style: str, color: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if color and style else text


def _details(error: GscliError, width: int) -> list[str]:
    """Detail lines and the legal range; a lone caret carries its reason behind it."""
    details = [safe(line, _LIMIT) for line in error.details]
    valid = safe(error.valid, _LIMIT)
    carets = [number for number, line in enumerate(details) if _is_caret(line)]
    if len(carets) == 1 and carets[0] + 2 == len(details):
        reason = details.pop() + (f": valid are {valid}" if valid else "")
        details[-1] += " " + reason
    elif valid:
        details.append(f"valid: {valid}")
    lines: list[str] = []
    for number, line in enumerate(details):
        pointed = number + 1 < len(details) and details[number + 1].lstrip().startswith("^")
        lines += _fitted(line, details[number + 1] if pointed else "", width)
    return lines


def _split_caret(line: str) -> tuple[str, str, str]:
    """Blanks, carets and what follows; a line that points at nothing follows nothing.

    >>> _split_caret("   ^^ here"), _split_caret("x^2")
    (('   ', '^^', ' here'), ('', '', 'x^2'))
    """
    rest = line.lstrip(" ")
    reason = rest.lstrip("^")
    if rest == reason:
        return "", "", line
    return line[: len(line) - len(rest)], rest[: len(rest) - len(reason)], reason


def _is_caret(line: str) -> bool:
    return bool(line.strip()) and not line.strip(" ^")


def _fitted(line: str, below: str, width: int) -> list[str]:
    """A line cut to `width` so that what a caret below points at stays; others wrap."""
    if line.lstrip().startswith("^"):
        return _fitted_caret(line, width)
    if len(line) <= width and (below or line.isascii()):
        return [line]
    if below:
        shift = _shift(below, width)
        cut = ("…" if shift else "") + line[shift + bool(shift) :]
        return [cut if len(cut) <= width else cut[: width - 1] + "…"]
    indent = " " * min(len(line) - len(line.lstrip()), width // 2)
    return [indent + part for part in _wrapped(line.strip(), width - len(indent))]


def _shift(caret: str, width: int) -> int:
    """How far a pair of line and caret moves left so that the caret shows with room behind it."""
    last = len(caret) - len(caret.lstrip()) + len(caret.split(maxsplit=1)[0])
    return max(0, last - width // 2) if last > width - 1 else 0


def _fitted_caret(line: str, width: int) -> list[str]:
    line = line[_shift(line, width) :] if _shift(line, width) else line
    if len(line) <= width:
        return [line]
    carets, _, reason = line.strip().partition(" ")
    indent = len(line) - len(line.lstrip())
    room = width - indent - len(carets) - 1
    if room >= width // 2:
        first, *rest = _wrapped(reason, room)
        under = " " * (indent + len(carets) + 1)
        return [" " * indent + carets + " " + first, *(under + part for part in rest)]
    return [" " * indent + carets, *_wrapped(reason, width)]
