"""Optional packages, imported when what needs them is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gscli.base import CannotRead


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
