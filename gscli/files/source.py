"""What a person wrote for an input: a file, a member of a file, `-`, inline JSON, a generator."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Kind = Literal["file", "stdin", "inline", "generator"]

GENERATORS = ("arange", "zeros", "ones", "full", "rand")

_GENERATOR = re.compile(rf"(?:{'|'.join(GENERATORS)}):")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_WORDS = {
    "true": "true",
    "false": "false",
    "null": "null",
    "nan": "NaN",
    "NaN": "NaN",
    "inf": "Infinity",
    "-inf": "-Infinity",
    "Infinity": "Infinity",
    "-Infinity": "-Infinity",
}
_FILE = (
    r".+?\.(?:npz|npy|json|csv|tsv|txt|pb|onnx|safetensors|h5|hdf5|zip"
    r"|(?:zarr|icechunk)(?:@[\w.-]+)?)"
)
_MEMBER = re.compile(rf"({_FILE})::(.*)", re.IGNORECASE | re.DOTALL)
_WHOLE_FILE = re.compile(_FILE, re.IGNORECASE | re.DOTALL)


class Source(NamedTuple):
    """The parts of an input as written: `text` itself, its kind, and for a file path and member.

    >>> Source.parse("model.safetensors::embedding").member
    'embedding'
    >>> Source.parse("[[0, 1]]").kind, Source.parse("-").kind, Source.parse("arange:3x4").kind
    ('inline', 'stdin', 'generator')
    >>> Source.parse("-1").kind, Source.parse("3.npy").kind
    ('inline', 'file')
    """

    text: str
    kind: Kind
    path: str = ""
    member: str | None = None

    @classmethod
    def parse(cls, text: str) -> Source:
        """Tell the kinds apart by the text alone; `[a].npy` is no JSON, and so a file."""
        stripped = text.strip()
        if stripped == "-":
            return cls(text, "stdin")
        if _is_json(stripped) or stripped in _WORDS or _NUMBER.fullmatch(stripped):
            return cls(text, "inline")
        if _GENERATOR.match(text):
            return cls(text, "generator")
        member = _MEMBER.fullmatch(text)
        if member:
            return cls(text, "file", member[1], member[2])
        return cls(text, "file", text)

    @property
    def json(self) -> str:
        """The JSON text of an inline source; the bare words nan and inf get JSON's spelling."""
        return _WORDS.get(self.text.strip(), self.text)


def _is_json(text: str) -> bool:
    """Whether a text begins as JSON does; one that ends in a file's suffix cannot be JSON.

    >>> _is_json("[1, 2"), _is_json("[ab]*?.npy")
    (True, False)
    """
    return text[:1] in {"[", "{", '"'} and not _WHOLE_FILE.fullmatch(text)
