"""HDF5 files (.h5, .hdf5): datasets by path, `file.h5::/group/data`.

A file may point into other files (external links and storage, virtual datasets) and name filters
that would have to be loaded; none of that is followed. Only datasets reached by hard links count.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gscli.base.errors import ContentRefused, DtypeRefused, GscliError
from gscli.base.text import safe
from gscli.files.content import Content, check_limit
from gscli.files.element_types import check_values, checked_dtype, is_small, native
from gscli.files.extras import extra
from gscli.files.npy import element_type, type_label
from gscli.files.request import Arrays, Member, Output, Read, Request, chosen_member

SIGNATURE = b"\x89HDF\r\n\x1a\n"
KNOWN_FILTERS = {1, 2, 3, 4, 5, 6, 32000}
"""gzip, shuffle, fletcher32, szip, n-bit, scale-offset and lzf: h5py brings them."""


def read(content: Content, request: Request) -> Read:
    """One dataset, named or the only one."""
    with _opened(content) as file:
        datasets = _datasets(file)
        wanted = request.member if request.member is None else request.member.strip("/")
        name = chosen_member(datasets, wanted, content.name)
        where = f"{content.name}::/{safe(name, 60)}"
        dataset = datasets[name]
        _check_dataset(dataset, where, request.limit)
        dtype = element_type(dataset.dtype, request.wish.dtype, where)
        array = np.asarray(dataset[()]).reshape(dataset.shape)
    array = array.view(dtype) if dtype.kind == "V" else native(array)
    check_values(array, where)
    return Read(array)


def listing(content: Content, _request: Request) -> list[Member]:
    """Every dataset by its path."""
    with _opened(content) as file:
        return [
            Member(name, type_label(d.dtype), d.shape or (), int(d.nbytes))
            for name, d in _datasets(file).items()
        ]


def write(out: Output, arrays: Arrays, _suffix: str) -> None:
    """Write a new file with one dataset each."""
    held = io.BytesIO()
    with _refusing("the file"), extra("h5py", "hdf5").File(held, "w") as file:
        for name, array in arrays.items():
            _put(file, name, array)
    out(held.getbuffer())


def write_into(out: Output, old: Content, name: str, array: NDArray[Any]) -> None:
    """Write the old file with one dataset changed or added; everything else stays."""
    held = io.BytesIO(bytes(old.read(0, old.size)))
    path = name.strip("/")
    with _refusing(old.name), extra("h5py", "hdf5").File(held, "r+") as file:
        same = _datasets(file).get(path)
        if same is not None and (same.dtype, same.shape) == (array.dtype, array.shape):
            same[...] = array
        else:
            if path in file:
                del file[path]
            _put(file, path, array)
    out(held.getbuffer())


def _put(file: Any, name: str, array: NDArray[Any]) -> None:  # noqa: ANN401 -- h5py is untyped
    if array.dtype.kind == "U" or array.dtype.name == "float8_e5m2":
        raise DtypeRefused(f"HDF5 files cannot hold {array.dtype.name}", where=safe(name, 60))
    stored = array.view(f"V{array.dtype.itemsize}") if is_small(array.dtype) else array
    file.create_dataset(name, data=stored)


@contextmanager
def _opened(content: Content) -> Iterator[Any]:
    if content.prefix(len(SIGNATURE)) != SIGNATURE:
        raise ContentRefused(f"{content.name} is not an HDF5 file", where=content.name)
    library = extra("h5py", "hdf5")
    with content.file() as stream, _refusing(content.name), library.File(stream, "r") as file:
        yield file


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Whatever h5py raises on a damaged file, of which it has many kinds, is ContentRefused."""
    try:
        yield
    except (GscliError, MemoryError):
        raise
    except Exception as error:
        why = safe(str(error), 120)
        raise ContentRefused(f"{name} is not a sound HDF5 file", where=f"{name}: {why}") from error


def _datasets(file: Any) -> dict[str, Any]:  # noqa: ANN401 -- h5py is untyped
    """Every dataset that hard links lead to, each once; no other link is followed."""
    kind = extra("h5py", "hdf5").Dataset
    found: dict[str, Any] = {}

    def visit(name: str, item: object) -> None:
        if isinstance(item, kind):
            found[name] = item

    file.visititems(visit)
    return found


def _check_dataset(dataset: Any, where: str, limit: int) -> None:  # noqa: ANN401 -- h5py is untyped
    """Judge a dataset before a byte of it is read."""
    if dataset.is_virtual or dataset.external:
        raise ContentRefused(
            "the values lie in another file, which gscli does not follow", where=where
        )
    if dataset.shape is None:
        raise ContentRefused("the dataset is empty, without a shape", where=where)
    plan = dataset.id.get_create_plist()
    filters = {plan.get_filter(number)[0] for number in range(plan.get_nfilters())}
    if filters - KNOWN_FILTERS:
        numbers = ", ".join(map(str, sorted(filters - KNOWN_FILTERS)))
        raise ContentRefused(f"the dataset needs filter {numbers}", where=where)
    if not (dataset.dtype.type is np.void and dataset.dtype.names is None):
        checked_dtype(dataset.dtype, where)
    check_limit(dataset.nbytes, limit, where, "the dataset")
    check_limit(math.prod(dataset.chunks or ()) * dataset.dtype.itemsize, limit, where, "a chunk")
