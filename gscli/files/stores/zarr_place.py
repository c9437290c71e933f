"""Where an array of a Zarr store lies, what is judged of it, and what the library says."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from gscli.base import CannotRead, ContentRefused, GscliError, check_rule, translate_errors
from gscli.base.records import Record
from gscli.base.words import error_reason, sanitize
from gscli.disk.interrupts import DeferredSignals
from gscli.disk.mapped import read_error, read_errors
from gscli.disk.system import write_error
from gscli.files.content import check_content, check_limit

# Files of a node that are no chunks.
METADATA = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")

# Bytes of a metadata file that are parsed.
METADATA_LIMIT = 16 << 20

# Axes of an array, and codecs of a chunk, that metadata may list.
LIST_LIMIT = 64

# What `folder` adds to the name of a store in the making.
_HIDDEN = re.compile(r"(?<=\.zarr)\.gscli-[0-9a-f]{8}$")

_PLACE = re.compile(r"(.*\.(?:zarr|icechunk|zip))(?:@([\w.-]+))?", re.IGNORECASE | re.DOTALL)


class ZarrPath(Record):
    """Where an array lies: a folder or .zip file, the path of the array in it, and for an Icechunk
    repository the snapshot, branch or tag.
    """

    path: str
    member: str = ""
    version: str | None = None

    @property
    def name(self) -> str:
        """The place as it is typed; of a store in the making, its later name.

        >>> ZarrPath("s.zarr", "emb").name, ZarrPath("s.zarr.gscli-0123abcd").name
        ('s.zarr::emb', 's.zarr')
        """
        version = "" if self.version is None else f"@{self.version}"
        return f"{_HIDDEN.sub('', self.path)}{version}" + f"::{self.member}" * bool(self.member)


def parse_location(path: str, member: str | None = None) -> ZarrPath:
    """The parts of a name as it is typed: the store, the version behind @, the array in it.

    >>> parse_location("s.icechunk@main", "emb")
    ZarrPath(path='s.icechunk', member='emb', version='main')
    """
    match = _PLACE.fullmatch(path.rstrip("/"))
    stored, version = (match[1], match[2]) if match else (path, None)
    return ZarrPath(stored, (member or "").strip("/"), version)


def check_member(place: ZarrPath) -> None:
    """The path of an array goes down from the store's root, by plain names."""
    parts = place.member.split("/") if place.member else []
    is_path = {"", ".", ".."}.isdisjoint(parts) and "\\" not in place.member
    problem = f"{sanitize(place.member, 60)} is no path of an array"
    legal = "names of groups and of the array, parted by /"
    check_rule(is_path, problem, place.name, kind=CannotRead, valid=legal)


def check_metadata(content: bytes, name: str) -> None:
    """Refuse what the library would take long to parse: axes and codecs by the thousand."""
    from gscli.files.formats.jsontext import parse_json

    with zarr_errors(name.partition(": ")[0]):
        try:
            waiting = [parse_json(content, name).value]
        except ContentRefused as error:
            raise ValueError(error.where) from None
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [value for key, value in item.items() if key != "attributes"]
        elif isinstance(item, list):
            check_limit(len(item), LIST_LIMIT, name, "a list", unit="values")
            waiting += item


def is_repository(path: str) -> bool:
    """Whether a path is an Icechunk repository: a folder with snapshots, or a bucket's address."""
    parts = ("snapshots", "manifests")
    return "://" in path or all(os.path.isdir(os.path.join(path, part)) for part in parts)


def is_array_or_group(path: str) -> bool:
    """Whether a folder is a Zarr node by its own files."""
    return any(os.path.lexists(os.path.join(path, name)) for name in METADATA[:3])


def zarr_errors(name: str) -> AbstractContextManager[None]:
    """Whatever zarr raises on a damaged store is ContentRefused or CannotRead.

    It warns of types whose place in version 3 is not settled.
    """

    def translate(error: Exception) -> GscliError:
        if isinstance(error, FileNotFoundError):
            missing = f"{name}: no zarr.json, .zarray or .zgroup"
            return CannotRead(f"there is no Zarr array at {name}", where=missing)
        if isinstance(error, OSError):
            return read_error(error, name)
        why = error_reason(error) or type(error).__name__
        return ContentRefused(f"{name} is not a sound Zarr store", where=f"{name}: {why}")

    return translate_errors(translate, is_quiet=True)


@contextmanager
def zarr_write_errors(name: str) -> Iterator[None]:
    """Turn what fails while a store is written into CannotWrite.

    Signals wait until the block ends: the library writes in a thread of its own, which would go on
    while the folder is removed.
    """
    with DeferredSignals(), translate_errors(lambda error: write_error(error, name), is_quiet=True):
        yield


def check_folder(place: ZarrPath) -> None:
    """No link on the way from the root to the array, and metadata short enough to be parsed."""
    folder = place.path
    for part in ("", *filter(None, place.member.split("/"))):
        folder = os.path.join(folder, part) if part else folder
        is_own = not (part and os.path.islink(folder))
        check_no_link(is_own, f"{sanitize(part, 60)} is a link", place.name)
        _check_metadata_files(folder, place)


def check_folders_in(folder: str, place: ZarrPath) -> None:
    """The same of what is in a group: the library reads the metadata of all its folders."""
    for entry in os.scandir(folder) if os.path.isdir(folder) else ():
        if entry.is_dir():
            _check_metadata_files(entry.path, place)


def file_size(path: str, what: str, where: str) -> int | None:
    """Bytes of a file of a store, None where it is not there. ContentRefused for anything else,
    CannotRead where its folder may not be entered.
    """
    with read_errors(where), suppress(FileNotFoundError):
        status = os.lstat(path)
        check_no_link(stat.S_ISREG(status.st_mode), f"{what} is a link or no file", where)
        return status.st_size
    return None


def check_no_link(holds: bool, problem: str, where: str) -> None:
    """ContentRefused for names that may lead out of a store."""
    check_content(holds, f"{problem}, and gscli does not follow it", where)


def _check_metadata_files(folder: str, place: ZarrPath) -> None:
    for name in METADATA:
        path = os.path.join(folder, name)
        size = file_size(path, name, place.name)
        if size is not None:
            check_limit(size, METADATA_LIMIT, place.name, name, hint="")
            with zarr_errors(place.name), open(path, "rb") as file:
                check_metadata(file.read(), f"{place.name}: {name}")
