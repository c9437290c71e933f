"""Errors and warnings as text: what, where, why in the reader's numbers, how to go on.

error: index out of range
--> idx.npy: indices[3,0] = 5
|  indices[3] = (5, 0)
|                ^ axis 0 of data has size 4: valid are -4 … 3
help: gscli compare scatter-nd data.npy idx.npy upd.npy
"""

from __future__ import annotations

from unicodedata import east_asian_width

from gscli.base import CaretLine, Detail, GscliError, IndexRefused, Notice
from gscli.base.words import LineWrapper, sanitize

_LIMIT = 1000
_RED, _YELLOW, _CYAN, _BOLD, _DIM = "1;31", "1;33", "1;36", "1", "2"
_ASCII = str.maketrans({"…": "...", "×": "x", "–": "-", "—": "-", "→": "->", "≠": "!="})


def format_message(error: GscliError, *, color: bool, width: int, utf8: bool = True) -> str:
    """A refusal or a warning as finished lines, the last one ended too, none wider than `width`.

    >>> from gscli.base import IndexRefused, Notice
    >>> refused = IndexRefused("index out of range", where="indices[3] = 5", valid="-4 … 3")
    >>> print(format_message(refused, color=False, width=80), end="")
    error: index out of range
      --> indices[3] = 5
       |  valid: -4 … 3
    >>> print(format_message(Notice("two entries write one cell"), color=False, width=80), end="")
    warning: two entries write one cell
    """
    word, style = ("warning: ", _YELLOW) if isinstance(error, Notice) else ("error: ", _RED)
    lines = _format_block(word, error.problem, style, _BOLD, color, width)
    lines += _format_block("  --> ", error.where, _DIM, "", color, width)
    bar = _apply_style("   |  ", _DIM, color)
    for detail in _collect_details(error):
        body = (
            _format_caret_line(detail, style, color, width - 6)
            if isinstance(detail, CaretLine)
            else _wrap_indented(sanitize(detail, _LIMIT), width - 6)
        )
        lines += [(bar + line).rstrip() for line in body]
    lines += _format_block("  help: ", error.hint, _CYAN, "", color, width)
    text = "\n".join(lines) + "\n"
    if utf8:
        return text
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def _format_block(
    label: str, text: str, label_style: str, text_style: str, color: bool, width: int
) -> list[str]:
    """`text` behind `label`, continued under itself."""
    if not text:
        return []
    parts = _wrap_text(sanitize(text, _LIMIT), width - len(label))
    heads = [_apply_style(label, label_style, color)] + [" " * len(label)] * (len(parts) - 1)
    pairs = zip(heads, parts, strict=True)
    return [head + _apply_style(part, text_style, color) for head, part in pairs]


def _wrap_text(text: str, width: int) -> list[str]:
    wide = any(east_asian_width(character) in "WF" for character in text)
    return LineWrapper(width // 2 if wide else width, break_on_hyphens=False).wrap(text) or [""]


def _apply_style(text: str, style: str, color: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if color and style else text


def _collect_details(error: GscliError) -> list[Detail]:
    """Detail lines and the legal range; a lone caret carries its reason behind it."""
    details = list(error.detail_items)
    findings = error.findings if isinstance(error, IndexRefused) else ()
    # Of an empty axis the details say that there is no range.
    valid = "" if findings and findings[0].high < 0 else error.valid
    pointed = [detail for detail in details if isinstance(detail, CaretLine)]
    if len(pointed) == 1 and pointed == details[-2:-1]:
        reason = f"{details.pop()}{f': valid are {valid}' if valid else ''}"
        details[-1] = pointed[0]._replace(note=reason)
    elif valid:
        details.append(f"valid: {valid}")
    return details


def _wrap_indented(line: str, width: int) -> list[str]:
    if len(line) <= width and line.isascii():
        return [line]
    indent = " " * min(len(line) - len(line.lstrip()), width // 2)
    return [indent + part for part in _wrap_text(line.strip(), width - len(indent))]


def _format_caret_line(detail: CaretLine, style: str, color: bool, width: int) -> list[str]:
    """A line cut so that what is pointed at stays, carets below it, and the note behind those."""
    end = detail.start + detail.length
    before = sanitize(detail.text[: detail.start], _LIMIT)
    part = sanitize(detail.text[detail.start : end], _LIMIT)
    line = before + part + sanitize(detail.text[end:], _LIMIT)
    start, length = len(before), max(len(part), 1)
    shift = max(0, start + length - width // 2) if start + length > width - 1 else 0
    shown = ("…" if shift else "") + line[shift + bool(shift) :]
    start -= shift
    carets = " " * start + _apply_style("^" * length, style, color)
    note, room = sanitize(detail.note, _LIMIT), width - start - length - 1
    if len(note) > room and room < width // 2:
        below = [carets, *_wrap_text(note, width)]
    else:
        first, *rest = _wrap_text(note, room) if note else [""]
        below = [f"{carets} {first}", *(" " * (start + length + 1) + more for more in rest)]
    return [shown if len(shown) <= width else shown[: width - 1] + "…", *below]
