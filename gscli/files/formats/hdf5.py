"""HDF5 files (.h5, .hdf5): datasets by path, `file.h5::/group/data`.

What is new is written here. A file that is there already is read, and changed, by the HDF5 library
in a process of its own (`hdf5_library`), since the library trusts what a file says.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from tempfile import TemporaryFile

import numpy as np

from gscli.base import CannotWrite, ContentRefused, DtypeRefused, check_rule
from gscli.base.arrays import Array, Arrays, dtype_name, is_narrow_dtype
from gscli.base.words import sanitize
from gscli.disk.system import temp_file_errors
from gscli.files.content import Content, import_extra
from gscli.files.formats.hdf5_library import hdf5_errors
from gscli.files.formats.npy import ArrayHeader, join_pieces
from gscli.files.isolated import Message, Request, ask_isolated
from gscli.files.request import LoadedInput, Member, Output, ReadRequest

SIGNATURE = b"\x89HDF\r\n\x1a\n"


def read(content: Content, request: ReadRequest) -> LoadedInput:
    """One dataset, named or the only one."""
    question = {"action": "read", "member": request.member, "limit": request.limit}
    with _ask_library(content, question) as messages:
        form, _ = next(messages)
        header = ArrayHeader(np.dtype(form["dtype"]), tuple(form["shape"]), 0)
        pieces = (piece for _, piece in messages)
        return LoadedInput(join_pieces(pieces, header, request, form["where"]))


def listing(content: Content, _request: ReadRequest) -> list[Member]:
    """Every dataset by its path."""
    with _ask_library(content, {"action": "list"}) as messages:
        return [
            Member(form["name"], form["dtype"], tuple(form["shape"]), form["bytes"])
            for form, _ in messages
        ]


# Bytes of a new file that are handed on at a time.
PIECE = 8 << 20


def write(out: Output, arrays: Arrays, _suffix: str) -> None:
    """Write a new file with one dataset, by way of a temporary one: the library goes back in it."""
    ((name, array),) = arrays.items()
    stored = _to_stored(name, array)
    with temp_file_errors(None), TemporaryFile() as whole:
        with import_extra("h5py", "hdf5").File(whole, "w") as file:
            file.create_dataset(name, data=stored)
        whole.seek(0)
        while piece := whole.read(PIECE):
            out(piece)


def write_into(out: Output, old: Content, name: str, array: Array) -> None:
    """Write the old file with one dataset changed or added; everything else stays."""
    stored = _to_stored(name, array)
    cells = np.ascontiguousarray(stored).reshape(-1).view(np.uint8).data
    form = {"dtype": stored.dtype.str, "shape": stored.shape, "payload": len(cells)}
    question = {"action": "change", "member": name.strip("/"), **form}
    with _ask_library(old, question, cells) as messages:
        for _, piece in messages:
            out(piece)


@contextmanager
def _ask_library(
    content: Content, question: Request, payload: memoryview | None = None
) -> Iterator[Iterator[Message]]:
    """The answers of the library's process to a question about a file."""
    if content.read_prefix(len(SIGNATURE)) != SIGNATURE:
        raise ContentRefused(f"{content.name} is not an HDF5 file", where=content.name)
    request = {"name": content.name, **question}
    module = "gscli.files.formats.hdf5_library"
    with (
        hdf5_errors(content.name),
        closing(ask_isolated(module, content, request, payload)) as messages,
    ):
        yield messages


def _to_stored(name: str, array: Array) -> Array:
    """An array as a file can hold it: small types, which HDF5 does not know, as opaque bytes.

    CannotWrite for a name that is no path of a dataset, DtypeRefused for text.
    """
    problem = f"{sanitize(name, 60) or '/'} is the root, not the path of a dataset"
    is_path, hint = not {*name.split("/")} <= {"", "."}, "FILE.h5::NAME, FILE.h5::GROUP/NAME"
    check_rule(is_path, problem, kind=CannotWrite, hint=hint)
    label, hint = dtype_name(array.dtype), "use .npy or .json"
    is_held = array.dtype.kind != "U" and label != "float8_e5m2"
    check_rule(is_held, f"HDF5 files cannot hold {label}", kind=DtypeRefused, hint=hint)
    return array.view(f"V{array.dtype.itemsize}") if is_narrow_dtype(array.dtype) else array
