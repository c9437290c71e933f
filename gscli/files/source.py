"""What a person wrote for an input: a file, a member of a file, `-`, inline JSON, a generator."""

from __future__ import annotations

import re
from typing import Literal

from gscli.base.records import Record

Kind = Literal["file", "stdin", "inline", "generator"]

GENERATORS = ("arange", "zeros", "ones", "full", "rand")
_NUMBER = r"-?\d+(\.\d+)?([eE][+-]?\d+)?"

_WORDS = {
    "true": "true", "false": "false", "null": "null", "nan": "NaN", "NaN": "NaN",
    "inf": "Infinity", "-inf": "-Infinity", "Infinity": "Infinity", "-Infinity": "-Infinity",
}  # fmt: skip
_STORES = (".zarr", ".icechunk")
_SUFFIXES = (
    ".npz", ".npy", ".json", ".jsonl", ".csv", ".tsv", ".txt", ".pb", ".onnx", ".safetensors",
    ".h5", ".hdf5", ".zip", *_STORES,
)  # fmt: skip


class Source(Record):
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
        if _is_json(stripped) or stripped in _WORDS or _is_number(stripped):
            return cls(text, "inline")
        if text.startswith(tuple(f"{name}:" for name in GENERATORS)):
            return cls(text, "generator")
        end = text.find("::")
        while end >= 0:
            if _is_file_name(text[:end]):
                return cls(text, "file", text[:end], text[end + 2 :])
            end = text.find("::", end + 1)
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
    return text[:1] in {"[", "{", '"'} and not _is_file_name(text)


def _is_number(text: str) -> bool:
    return text[:1] in set("-0123456789") and bool(re.fullmatch(_NUMBER, text))


def _is_file_name(text: str) -> bool:
    """Whether a text ends in a file's suffix, or in that of a store and a version.

    >>> _is_file_name("a.NPY"), _is_file_name("t.zarr@main"), _is_file_name(".npy")
    (True, True, False)
    """
    name, at, version = text.lower().rpartition("@")
    if at and name.endswith(_STORES) and re.fullmatch(r"[\w.-]+", version):
        return not name.startswith(_STORES)
    return any(text.lower().endswith(suffix) and len(text) > len(suffix) for suffix in _SUFFIXES)
