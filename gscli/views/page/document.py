"""The document around the sections: content policy, styles, scripts. Nothing comes from outside."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files

SCRIPTS = (
    "parts.js",
    "output.js",
    "crosshair.js",
    "filling.js",
    "player.js",
    "grid.js",
    "predict.js",
    "example.js",
    "quiz.js",
    "paper.js",
    "page.js",
)
STYLE = "page.css"

_COMMENT = re.compile(r"^\s*(//.*$|/\*[^*]*(\*[^/][^*]*)*\*/)", re.MULTILINE)
"""Comments that begin a line."""


def document(title: str, parts: Sequence[str], *, styles: Sequence[str] = (STYLE,)) -> str:
    """The page of some parts, each of them markup, in order."""
    style, script = "\n".join(["", *map(_asset, styles), ""]), f"\n{_script()}\n"
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="generator" content="gscli">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        "<main>\n"
        "<noscript><p>Scripts are off: letters and colours link the cells, the list under each "
        "picture tells the steps.</p></noscript>\n"
        f"{body}\n</main>\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _script() -> str:
    """The scripts as one function, so that the page has no names of its own."""
    return "\n".join(['(function () {\n"use strict";', *map(_asset, SCRIPTS), "}());"])


def _asset(name: str) -> str:
    """A file of this package without indentation and comments, a quarter of a small page."""
    text = files("gscli.views.page").joinpath(name).read_text(encoding="utf-8")
    bare = _COMMENT.sub("", text)
    return "\n".join(line.strip() for line in bare.splitlines() if line.strip())


def _hash(text: str) -> str:
    return "'sha256-" + b64encode(sha256(text.encode()).digest()).decode() + "'"
