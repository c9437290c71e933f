"""Icechunk repositories: Zarr stores with commits, in a folder or a bucket.

A name may have a version behind @: a branch, a tag or a snapshot. Access to a bucket is whatever
the environment of the object store's own tools says.
"""

from __future__ import annotations

import os
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from gscli.base import CannotRead, UsageError, translate_errors
from gscli.base.records import Record
from gscli.base.words import quote_word, sanitize
from gscli.files.content import check_content, check_limit, import_extra
from gscli.files.request import list_keys
from gscli.files.stores.codecs import measure_zstd
from gscli.files.stores.zarr_place import ZarrPath, parse_location, zarr_errors, zarr_write_errors

BRANCH = "main"

# Bytes of a snapshot, a manifest or a log of changes.
METADATA_LIMIT = 256 << 20

CONCURRENT_REQUESTS = 256

_MAGIC, _HEAD, _ZSTD = b"ICE\xf0\x9f\xa7\x8aCHUNK", 39, 1
_DEPTH = 2

_SNAPSHOT_LENGTH = 20


class Commit(Record):
    """One version of a repository: its snapshot, when it was written (ISO 8601), its message."""

    snapshot: str
    written: str
    message: str


def open_repository(path: str) -> Any:
    """The repository at a path or an address such as s3://bucket/prefix. Raises CannotRead."""
    library = import_extra("icechunk", "icechunk")
    library.set_logs_filter("error")  # its warnings would go to stdout
    bucket_errors = translate_errors(partial(_bucket_error, path))
    with bucket_errors if "://" in path else zarr_errors(path):
        storage = _make_storage(library, path)
        if os.path.isdir(path):
            _check_files(path)
        if not library.Repository.exists(storage):
            raise CannotRead(f"there is no Icechunk repository at {path}", where=path)
        # What a repository may also set, and 0 waits for ever.
        config = library.RepositoryConfig(max_concurrent_requests=CONCURRENT_REQUESTS)
        return library.Repository.open(storage, config)


def create_repository(folder: str) -> Any:
    """A new repository in an empty folder."""
    library = import_extra("icechunk", "icechunk")
    library.set_logs_filter("error")
    with zarr_write_errors(folder):
        return library.Repository.create(_make_storage(library, folder))


def _check_files(folder: str, depth: int = 0) -> None:
    """Judge what the library would read whole: all but chunks, down to `refs/branch.NAME`.

    A file of metadata may hold `METADATA_LIMIT`, packed or not. Its head is 39 bytes, the last of
    which says how the rest is packed (Icechunk's specification).
    """
    for entry in os.scandir(folder):
        path = entry.path
        if entry.is_dir():
            if entry.name != "chunks" and depth < _DEPTH:
                _check_files(path, depth + 1)
            continue
        problem = "what should be a file of the repository is none"
        check_content(entry.is_file(), problem, sanitize(path))
        size = entry.stat().st_size
        check_limit(size, METADATA_LIMIT, path, "metadata", hint="")
        with open(path, "rb") as file:
            head = file.read(_HEAD)
            if size > _HEAD and head.startswith(_MAGIC) and head[-1] == _ZSTD:
                room, stated = measure_zstd(file.read(), METADATA_LIMIT)
                check_limit(max(room, stated or 0), METADATA_LIMIT, path, "metadata", hint="")


def _bucket_error(path: str, error: Exception) -> CannotRead:
    """What a bucket refuses, or a server that does not answer."""
    why = " ".join(str(error).partition("context:")[0].split()).strip("x× |")
    where = f"{path}: {sanitize(why, 120) or type(error).__name__}"
    hint = "the environment gives access: AWS_ACCESS_KEY_ID, AWS_REGION, AWS_ENDPOINT_URL, …"
    return CannotRead(f"cannot read {path}", where=where, hint=hint)


def _make_storage(library: Any, path: str) -> Any:
    """What the library calls the place of a repository; the environment says how to get in."""
    address = urlsplit(path)
    if not address.scheme:
        return library.local_filesystem_storage(os.path.abspath(path))
    bucket, prefix = address.netloc, address.path.strip("/")
    if address.scheme == "s3":
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        return library.s3_storage(
            bucket=bucket, prefix=prefix, from_env=True, endpoint_url=endpoint,
            region=os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"),
            allow_http=bool(endpoint and endpoint.startswith("http:")),
            force_path_style=endpoint is not None,
        )  # fmt: skip
    if address.scheme == "gs":
        return library.gcs_storage(bucket=bucket, prefix=prefix, from_env=True)
    problem = f"unknown kind of store {sanitize(address.scheme, 40)}"
    raise UsageError(problem, where=path, valid="a folder, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX")


def open_session_store(place: ZarrPath) -> Any:
    """The store of one version, to be read."""
    repository = open_repository(place.path)
    with zarr_errors(place.name):
        return repository.readonly_session(**resolve_version(repository, place)).store


def resolve_version(repository: Any, place: ZarrPath) -> dict[str, str]:
    """Whether the version behind @ is a branch, a tag or a snapshot. CannotRead if none."""
    name = place.version or BRANCH
    branches, tags = sorted(repository.list_branches()), sorted(repository.list_tags())
    if name in branches:
        return {"branch": name}
    if name in tags:
        return {"tag": name}
    if len(name) == _SNAPSHOT_LENGTH and name.isalnum():
        return {"snapshot_id": name}
    problem = f"{place.path} has no version {sanitize(name, 60)}"
    hint = f"gscli show {quote_word(place.path)} lists its snapshots"
    raise CannotRead(problem, valid=list_keys([*branches, *tags]), hint=hint)


def list_commits(path: str, limit: int) -> list[Commit]:
    """The newest commits of a repository's branch, the newest first."""
    place = parse_location(path)
    repository = open_repository(place.path)
    with zarr_errors(path):
        versions = repository.ancestry(**resolve_version(repository, place))
        return [
            Commit(version.id, version.written_at.isoformat(timespec="seconds"), version.message)
            for version in islice(versions, limit)
        ]
