"""What a person wrote for an input, what is wanted of its file, and which module reads it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from gscli.base import CannotRead, CannotWrite, ContentRefused, DtypeRefused, UsageError, check_rule
from gscli.base.arrays import Array, Arrays, DType, cast_lossless, dtype_name
from gscli.base.records import Record
from gscli.base.words import quote_word, sanitize, suggest_names
from gscli.disk.mapped import RegularFile
from gscli.files.content import STANDARD_INPUT

if TYPE_CHECKING:
    from typing import Protocol

    from gscli.files.content import Content

    class Format(Protocol):
        """What a module of a format offers; `write` where it can be written.

        `MOST_VALUES`, of a text: how many it may have to be read.
        """

        MOST_VALUES: int

        def read(self, content: Content, request: ReadRequest) -> LoadedInput:
            """The array that was asked for."""

        def listing(self, content: Content, request: ReadRequest) -> list[Member]:
            """Every array in the file, where the format has several, or a header."""

        def write(self, out: Output, arrays: Arrays, suffix: str) -> None:
            """Write the file from its first byte to its last."""

        def write_into(self, out: Output, old: Content, name: str, array: Array) -> None:
            """Write the old file with one member changed or added, where members exist."""


GENERATORS = ("arange", "zeros", "ones", "full", "rand")
_NUMBER = r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"

# Bare words, and how JSON spells them.
JSON_WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}

_INLINE_WORDS = ("true", "false", "null", *JSON_WORDS, *JSON_WORDS.values())

# Suffix → module of gscli.files, imported when such a file comes, and what is true of the format:
# it is `written`, not only read; `text`, of a limited length; has several arrays, its `members`, by
# name, or `columns` below a header; is a `store`, a folder or archive of many files which a library
# reads, and `versioned` where a version may be named behind @; has `little-endian` values, which
# are taken as they lie there.
FORMATS = {
    ".npy": ("formats.npy", "written"),
    ".npz": ("formats.npz", "written members"),
    ".json": ("formats.jsonarray", "written text"),
    ".jsonl": ("formats.jsonlines", "members"),
    ".csv": ("formats.delimited", "written text columns"),
    ".tsv": ("formats.delimited", "written text columns"),
    ".txt": ("formats.delimited", "written text columns"),
    ".pb": ("formats.tensorproto", "written little-endian"),
    ".onnx": ("formats.model", "members little-endian"),
    ".safetensors": ("formats.safetensor", "written members little-endian"),
    ".h5": ("formats.hdf5", "written members"),
    ".hdf5": ("formats.hdf5", "written members"),
    ".zarr": ("stores.zarr_format", "written members store versioned"),
    ".zip": ("stores.zarr_format", "members store"),
    ".icechunk": ("stores.zarr_format", "written members store versioned"),
}


def _suffixes(trait: str) -> tuple[str, ...]:
    return tuple(suffix for suffix, (_, traits) in FORMATS.items() if trait in traits.split())


WRITABLE_SUFFIXES, TEXT_SUFFIXES = _suffixes("written"), _suffixes("text")
MANY_MEMBERS, STORES = _suffixes("members"), _suffixes("store")
NAMED_COLUMNS = _suffixes("columns")

PICKLED = {".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib"}
_TORCH = {".pt", ".pth", ".ckpt"}

_UNPACKERS = {".gz": "zcat", ".bz2": "bzcat", ".xz": "xzcat", ".zst": "zstdcat"}

_TORCH_LINE = (
    'python -c "import torch,numpy as np; '
    "np.save('w.npy', torch.load('{name}', weights_only=True)['w'].numpy())\""
)

# What frameworks and people call the same argument.
SYNONYMS = (
    frozenset({"data", "params", "x", "a", "arr", "input", "operand", "tensor", "self", "ref"}),
    frozenset({"indices", "index", "idx", "ind", "indexes", "start_indices", "scatter_indices"}),
    frozenset({"updates", "update", "upd", "src", "source", "values", "value"}),
)

_NUMBERED = re.compile(r"input_(\d{1,3})")

# Characters that the names of all that is nested in a file may have together.
NAMES_LIMIT = 16 << 20

NAMES_SHOWN = 12

# How the name of an index ends that says which of several files holds each tensor.
SHARD_INDEX = ".safetensors.index.json"

# The name of an array in a file where nobody gave one.
DEFAULT_MEMBER = "output"

# Bytes that are built in memory where no other limit is set.
MAX_BYTES = 1 << 30


# Where a writer puts bytes: all of them are taken, their number is the result.
Output = Callable[[bytes | memoryview], int]


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
    kind: Literal["file", "stdin", "inline", "generator"]
    path: str = ""
    member: str | None = None

    @classmethod
    def parse(cls, text: str) -> Source:
        """Tell the kinds apart by the text alone; `[a].npy` is no JSON, and so a file."""
        stripped = text.strip()
        if stripped == "-":
            return cls(text, "stdin")
        if text.startswith("-::"):
            return cls(text, "stdin", member=text[3:])
        if _is_json(stripped) or stripped in _INLINE_WORDS or re.fullmatch(_NUMBER, stripped):
            return cls(text, "inline")
        if text.startswith(tuple(f"{name}:" for name in GENERATORS)):
            return cls(text, "generator")
        for end in (mark.start() for mark in re.finditer("(?=::)", text)):
            if _is_file_name(text[:end]):
                return cls(text, "file", text[:end], text[end + 2 :])
        return cls(text, "file", text)


def spell_as_json(text: str) -> bytes:
    """Numbers as NumPy and PyTorch print them in JSON's spelling; what holds strings as it is.

    >>> spell_as_json("[1., -.5, .nan, -inf]"), spell_as_json('["1."]')
    (b'[1.0, -0.5, NaN, -Infinity]', b'["1."]')
    """
    if '"' not in text:  # a digit to each point, and words
        text = re.sub(r"(?<![\w.])(?=\.\d)|(?<=\d\.)(?![\d.])", "0", text)
        text = re.sub(r"((?<!\w)\.)?\b(nan|inf)\b", lambda word: JSON_WORDS[word[2]], text)
    return text.encode("utf-8", "surrogatepass")


def _is_json(text: str) -> bool:
    """Whether a text begins as JSON does; one that ends in a file's suffix cannot be JSON.

    >>> _is_json("[1, 2"), _is_json("[ab]*?.npy")
    (True, False)
    """
    return text[:1] in {"[", "{", '"'} and not _is_file_name(text)


def _is_file_name(text: str) -> bool:
    """Whether a text ends in a file's suffix, or in that of a store and a version.

    >>> _is_file_name("a.NPY"), _is_file_name("t.zarr@main"), _is_file_name(".npy")
    (True, True, False)
    """
    name, at, version = text.lower().rpartition("@")
    if at and name.endswith(_suffixes("versioned")) and re.fullmatch(r"[\w.-]+", version):
        return not name.startswith(_suffixes("versioned"))
    return any(text.lower().endswith(suffix) and len(text) > len(suffix) for suffix in FORMATS)


class ReadRequest(Record):
    """What is wanted of an input: the argument it stands for, a member, and types; `limit`: bytes
    that may be built in memory.

    `dtype` was asked for; `matching_dtype` is the type of another input, which untyped numbers
    take; `dtype_if_empty` is the type of an array without elements (indices of [] are integers).
    With `opaque_only`, `dtype` names the type of opaque bytes and of nothing else.
    """

    argument: str = "input"
    dtype: DType | None = None
    matching_dtype: DType | None = None
    dtype_if_empty: DType | None = None
    opaque_only: bool = False
    limit: int = MAX_BYTES
    member: str | None = None
    suffix: str = ""

    @property
    def untyped_dtype(self) -> DType | None:
        """The type untyped values must take, if any."""
        return self.matching_dtype if self.dtype is None or self.opaque_only else self.dtype


class LoadedInput(Record):
    """An input as an array.

    `array` is C-ordered, in native byte order and read-only; large plain .npy and .safetensors
    arrays are `numpy.memmap`. `origin` is the file's name for messages, or "inline". `is_typed` is
    False where the element type was inferred from JSON or CSV. `file`: what a .npy array was read
    from, still open, where that was asked for.
    """

    array: Array
    origin: str = ""
    is_typed: bool = True
    file: RegularFile | None = None

    def cast_to_match(self, other: Array) -> Array:
        """The array; untyped numbers have the element type of `other` if they fit into it."""
        if not self.is_typed:
            with suppress(DtypeRefused):
                return cast_lossless(self.array, other.dtype, self.origin, is_typed=False)
        return self.array


class Member(Record):
    """One array of a file, known from its header. `name` is empty in a file for one array."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int

    @classmethod
    def of(cls, array: Any, name: str = "") -> Member:
        """The member that an array, or what describes one, makes; opaque bytes are V and a number.

        >>> Member.of(np.zeros(3, "V2"), "a")
        Member(name='a', dtype='V2', shape=(3,), bytes=6)
        """
        opaque = array.dtype.type is np.void
        dtype = f"V{array.dtype.itemsize}" if opaque else dtype_name(array.dtype)
        return cls(name, dtype, tuple(array.shape or ()), int(array.nbytes))


def member_place(file: str, name: str) -> str:
    """A member as messages call it: `FILE::NAME`."""
    return f"{file}::{sanitize(name, 60)}"


def member_word(file: str, name: str) -> str:
    """A member as a shell reads it: to be typed, where `member_place` is to be read.

    Standard input has members behind `-`, and a pipe, whose name does not say what it holds, there.

    >>> member_word("a b.npz", "emb"), member_word("standard input", "emb")
    ("'a b.npz::emb'", '-- -::emb')
    >>> member_word("/dev/fd/63", "emb")
    '-- -::emb < /dev/fd/63'
    """
    if _is_file_name(file):
        return "-- " * file.startswith("-") + quote_word(f"{file}::{name}")
    source = f" < {quote_word(file)}" * (file not in {"-", STANDARD_INPUT})
    return f"-- {quote_word(f'-::{name}')}{source}"


def choose_member(
    names: Iterable[str], member: str | None, file: str,
    can_read: Callable[[str], bool] = lambda _: True,
) -> str:  # fmt: skip
    """The member that was asked for, or the only one; the errors say what there is.

    CannotRead for one that is not there, UsageError where a choice is needed: the first is proposed
    that `can_read` allows.

    >>> choose_member(["embedding"], None, "model.npz")
    'embedding'
    """
    known = list(names)
    if member is not None and member in known:
        return member
    check_rule(bool(known), f"{file} holds no arrays", file, kind=ContentRefused)
    if member is not None:
        write, shown = partial(member_word, file), quote_word(file) if _is_file_name(file) else "-"
        hint = suggest_names(member, known, f"gscli show {shown}", count=1, write=write)
        problem = f"{file} has no member {sanitize(member, 60)}"
        raise CannotRead(problem, valid=list_keys(known), hint=hint)
    if len(known) == 1:
        return known[0]
    problem, first = f"{file} holds {len(known)} arrays: say which one", filter(can_read, known)
    hint = member_word(file, next(first, known[0]))
    raise UsageError(problem, valid=list_keys(known), hint=hint)


def match_argument(
    name: str, names: Sequence[str], sources: Mapping[str, Source], where: str
) -> str | None:
    """The key that stands for an argument. One that is another argument's own name does not."""
    if name in sources:
        return name
    others = [key for key in sources if key not in names]
    same = {name}.union(*(words for words in SYNONYMS if name in words))
    keys = [key for key in others if key.lower() in same]
    if len(keys) > 1:
        raise UsageError(f"{where} holds several arrays for {name}", valid=list_keys(keys))
    if keys:
        return keys[0]
    position = names.index(name)
    numbered = [key for key in others if (m := _NUMBERED.fullmatch(key)) and int(m[1]) == position]
    return numbered[0] if numbered else None


def lost_arrays_error(
    place: str,
    role: str = "is a group, and its",
    hint: str = "name an array, or a place that is free",
) -> CannotWrite:
    """What is said where a result would take the place of arrays that nobody named."""
    problem = f"{place} {role} arrays would be lost"
    return CannotWrite(problem, where=place, details=("nothing was written",), hint=hint)


def check_single_name(holds: bool, things: str, name: str, file: str) -> None:
    """ContentRefused where a name of a file means two of its arrays."""
    check_rule(holds, f"two {things} are called {sanitize(name, 60)}", file, kind=ContentRefused)


def list_keys(names: Iterable[str]) -> str:
    """Names from a file for a message: the first ones, and how many more.

    >>> list_keys(["data", "indices"])
    'data, indices'
    """
    known = list(names)
    more = f" and {len(known) - NAMES_SHOWN} more" if len(known) > NAMES_SHOWN else ""
    return ", ".join(sanitize(name, 60) for name in known[:NAMES_SHOWN]) + more


def file_suffix(path: str) -> str:
    """The ending that says what a file is; of a store without the version behind @.

    >>> file_suffix("T.NPY"), file_suffix("t.icechunk@main"), file_suffix("t.zarr/")
    ('.npy', '.icechunk', '.zarr')
    """
    bare = os.path.splitext(path.rstrip("/"))[1].lower().partition("@")[0]
    return bare if bare in STORES else os.path.splitext(path)[1].lower()


def unsupported_format_error(path: str, suffix: str) -> CannotRead:
    """Why a file with this suffix is not even opened."""
    if suffix not in PICKLED:
        unknown = f"{path}: {sanitize(suffix, 40)} is no suffix gscli knows"
        unpacker = _UNPACKERS.get(suffix, "")
        hint = f"{unpacker} {quote_word(path)} unpacks it into a pipe, read as -" * bool(unpacker)
        return CannotRead(f"cannot read {path}", where=unknown, valid=" ".join(FORMATS), hint=hint)
    details = ("files of this kind are pickles, and gscli never unpickles",)
    hint = "save the arrays with numpy.save"
    if suffix in _TORCH:  # a line for a shell: a name that means more to it stays out of it
        plain = re.fullmatch(r"[\w./-]+", path, re.ASCII)
        hint = _TORCH_LINE.format(name=path if plain else "weights.pt")
    return CannotRead(f"cannot read {path}", details=details, hint=hint)


def format_for(suffix: str) -> Format:
    """The module of a format."""
    module, traits = FORMATS[suffix]
    if "little-endian" in traits and sys.byteorder != "little":
        raise UsageError(f"{suffix} is not supported on big-endian machines", hint="use .npy")
    return cast("Format", import_module(f"gscli.files.{module}"))


def list_arrays(content: Content, suffix: str, limit: int) -> list[Member]:
    """Every array of a file, by the headers alone where its format has them."""
    form, request = format_for(suffix), ReadRequest("", limit=limit, suffix=suffix)
    if suffix in (*MANY_MEMBERS, *NAMED_COLUMNS, ".npy"):
        return form.listing(content, request)
    return [Member.of(form.read(content, request).array)]
