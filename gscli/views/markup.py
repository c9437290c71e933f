"""Text inside of markup: the one place that makes it safe for HTML, SVG and scripts.

Whatever a reader, a file or a document brings goes through `escape`, or through `escape_json` where
a script reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape as _escape

from gscli.base.words import printable

_PRE = "line-height:1.3;font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;overflow-x:auto"


def escape(text: str) -> str:
    r"""Text as content of an element or value of a quoted attribute, of HTML as of XML.

    What does not print is written as Python writes it; lines stay apart.

    >>> escape('<a title="\x1b">')
    '&lt;a title=&quot;\\x1b&quot;&gt;'
    """
    return _escape("\n".join(map(printable, text.split("\n"))))


def format_preformatted(lines: Iterable[str]) -> str:
    """Escaped lines as one `<pre>` element."""
    return f'<pre style="{_PRE}">' + "\n".join(lines) + "</pre>"


def escape_json(value: object) -> str:
    r"""JSON that can stand inside a script element: ASCII, and no markup.

    >>> escape_json({"a": "</script>\u2028"})
    '{"a":"\\u003c/script\\u003e\\u2028"}'
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
