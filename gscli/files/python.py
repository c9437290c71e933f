"""Tensors in and out for callers from Python: arrays, where the shell has words."""

from __future__ import annotations

import os

from gscli.files import files
from gscli.files.arrays import Array, as_array


def load(source: str | os.PathLike[str], *, dtype: str | None = None) -> Array:
    """The array that `source` names, as on the command line: a file, FILE::NAME, JSON, arange:3x4.

    The array is read-only, and of large .npy files only what is touched is read. `dtype` converts
    where no value changes. Raises CannotRead, ContentRefused, DtypeRefused and LimitRefused.

    >>> load("arange:2x3").shape
    (2, 3)
    """
    return files.load(os.fspath(source), name="tensor", dtype=dtype).array


def save(
    target: str | os.PathLike[str],
    array: object,
    *,
    format: str | None = None,  # noqa: A002  the word of the command line
) -> None:
    """Write an array to a file, whole or not at all; the suffix or `format` names the format.

    Raises CannotWrite where nothing was changed, and UsageError for a format that is not known.
    """
    files.save(os.fspath(target), as_array(array, "tensor"), format=format)
