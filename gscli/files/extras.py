"""Optional packages, imported when what needs them is asked for, and what they raise."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any

from gscli.base import CannotRead, GscliError


def import_extra(module: str, name: str) -> Any:
    """The module, or CannotRead with the command that installs it.

    >>> import_extra("json", "onnx").__name__
    'json'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise CannotRead(
            f"this needs the package {module.partition('.')[0]}",
            hint=f"pip install 'gscli[{name}]'",
        ) from error


@contextmanager
def library_errors(
    translate: Callable[[Exception], GscliError], *, is_quiet: bool = False
) -> Iterator[None]:
    """Whatever a library raises, of which it has many kinds, as an error of ours.

    `is_quiet`: it does not warn either.
    """
    try:
        with warnings.catch_warnings() if is_quiet else nullcontext():
            if is_quiet:
                warnings.simplefilter("ignore")
            yield
    except (GscliError, MemoryError):
        raise
    except Exception as error:
        raise translate(error) from error
