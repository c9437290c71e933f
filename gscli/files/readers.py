"""Which module is for which file: by suffix, or by the first bytes of a stream."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from typing import TYPE_CHECKING, cast

from gscli.base import CannotRead, UsageError
from gscli.base.words import safe
from gscli.files.arrays import Array
from gscli.files.content import TEXT_LIMIT, Bounds, Content, check_kind, check_limit, open_content
from gscli.files.npy import MAGIC, PREFIX_LIMIT, parse_header
from gscli.files.request import Arrays, Member, Output, Read, Request

if TYPE_CHECKING:
    from typing import Protocol

    class Format(Protocol):
        """What a module of a format offers; `write` where it can be written."""

        def read(self, content: Content, request: Request) -> Read:
            """The array that was asked for."""

        def listing(self, content: Content, request: Request) -> list[Member]:
            """Every array in the file."""

        def write(self, out: Output, arrays: Arrays, suffix: str) -> None:
            """Write the file from its first byte to its last."""

        def write_into(self, out: Output, old: Content, name: str, array: Array) -> None:
            """Write the old file with one member changed or added, where members exist."""


MODULES = {
    ".npy": "npy",
    ".npz": "npz",
    ".json": "jsonarray",
    ".jsonl": "jsonlines",
    ".csv": "delimited",
    ".tsv": "delimited",
    ".txt": "delimited",
    ".pb": "tensorproto",
    ".onnx": "model",
    ".safetensors": "safetensor",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".zarr": "zarr_format",
    ".zip": "zarr_format",
    ".icechunk": "zarr_format",
}
"""Suffix → module of gscli.files, imported when such a file comes."""

TEXT_SUFFIXES = {".json", ".csv", ".tsv", ".txt"}
STORES = {".zarr", ".zip", ".icechunk"}
"""Folders and archives of many files, which the library of their format reads."""

MANY_MEMBERS = {".npz", ".jsonl", ".onnx", ".safetensors", ".h5", ".hdf5", *STORES}
PICKLED = {".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib"}
_TORCH = {".pt", ".pth", ".ckpt"}

_TORCH_LINE = (
    'python -c "import torch,numpy as np; '
    "np.save('w.npy', torch.load('{name}', weights_only=True)['w'].numpy())\""
)


def open_source(path: str, limit: int) -> tuple[Content, str]:
    """Open a file and say how to read it: by its suffix, or without one by its first bytes."""
    suffix = suffix_of(path)
    if suffix in STORES:
        from gscli.files.zarr_format import content_of

        return content_of(path), suffix
    if not suffix:
        content = open_content(path, limit, stream_bounds)
        return content, sniffed(content)
    if suffix not in MODULES:
        raise _unknown(path, suffix)
    if suffix in TEXT_SUFFIXES:
        limit = min(limit, TEXT_LIMIT)
    return open_content(path, limit, stream_bounds if suffix == ".npy" else None), suffix


def suffix_of(path: str) -> str:
    """The ending that says what a file is; of a store without the version behind @.

    >>> suffix_of("T.NPY"), suffix_of("t.icechunk@main"), suffix_of("t.zarr/")
    ('.npy', '.icechunk', '.zarr')
    """
    bare = os.path.splitext(path.rstrip("/"))[1].lower().partition("@")[0]
    return bare if bare in STORES else os.path.splitext(path)[1].lower()


def _unknown(path: str, suffix: str) -> CannotRead:
    """Why a file with this suffix is not even opened."""
    name = safe(path)
    if suffix in PICKLED:
        return CannotRead(
            f"cannot read {name}",
            details=("files of this kind are pickles, and gscli never unpickles",),
            hint=_conversion(name) if suffix in _TORCH else "save the arrays with numpy.save",
        )
    check_kind(path)
    return CannotRead(
        f"cannot read {name}",
        where=f"{name}: {safe(suffix, 40)} is no suffix gscli knows",
        valid=" ".join(MODULES),
    )


def _conversion(name: str) -> str:
    """A line to paste into a shell, so a name that a shell would read as more stays out of it."""
    plain = re.fullmatch(r"[\w./-]+", name, re.ASCII)
    return _TORCH_LINE.format(name=name if plain else "weights.pt")


def sniffed(content: Content) -> str:
    """The suffix a stream would have: .npy and .npz by their magic, else JSON."""
    return _sniffed(content.prefix(len(MAGIC)))


def stream_bounds(first: bytes, limit: int, name: str) -> Bounds:
    """How far to read a stream, judged by its first bytes: a text may not be as long as others.

    The header of a .npy stream says where it ends. Raises ContentRefused for one without sense.
    """
    suffix = _sniffed(first[: len(MAGIC)])
    if suffix == ".json":
        return Bounds(min(limit, TEXT_LIMIT), limit)
    if suffix != ".npy":
        return Bounds(limit, limit)
    header = parse_header(first[:PREFIX_LIMIT], name)
    size = header.offset + header.nbytes
    check_limit(size, limit, name, "the stream")
    return Bounds(limit, size)


def _sniffed(first: bytes) -> str:
    if first == MAGIC:
        return ".npy"
    return ".npz" if first.startswith((b"PK\x03\x04", b"PK\x05\x06")) else ".json"


def read_array(content: Content, request: Request) -> Read:
    """The array asked for. A member can be named only in a format that has several."""
    if request.member is not None and request.suffix not in MANY_MEMBERS:
        raise UsageError(
            f"{content.name} holds one array, without a name",
            hint=f"leave ::{safe(request.member, 60)} off",
        )
    return format_for(request.suffix).read(content, request)


LITTLE_ENDIAN = {".safetensors", ".pb", ".onnx"}
"""Formats whose values lie little-endian in a file and are taken as they lie there."""


def format_for(suffix: str) -> Format:
    """The module of a format."""
    if suffix in LITTLE_ENDIAN and sys.byteorder != "little":
        raise UsageError(f"{suffix} is not supported on big-endian machines", hint="use .npy")
    return cast("Format", import_module(f"gscli.files.{MODULES[suffix]}"))
