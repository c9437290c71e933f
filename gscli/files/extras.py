"""Optional packages, imported when a file of their kind appears."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gscli.base.errors import CannotRead


def extra(module: str, name: str) -> Any:
    """The module, or CannotRead with the command that installs it.

    >>> extra("json", "onnx").__name__
    'json'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise CannotRead(
            f"files of this kind need the package {module.partition('.')[0]}",
            hint=f"pip install 'gscli[{name}]'",
        ) from error
