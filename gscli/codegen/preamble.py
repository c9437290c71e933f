"""The first lines of a snippet: imports, and the inputs from their files or as they are."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

import numpy as np

from gscli.base.arrays import Array, dtype_name
from gscli.base.words import NARROW_FLOATS
from gscli.codegen.analysis import CallAnalysis
from gscli.codegen.render import Language, format_number
from gscli.codegen.steps import Constant

# Cells that are written out.
MAX_INLINE_CELLS = 64


class PreambleWriter:
    """How the inputs of one call are loaded. `origins`: where gscli read each of them."""

    def __init__(self, analysis: CallAnalysis, origins: Mapping[str, str]) -> None:
        self.analysis = analysis
        names = analysis.variables
        self.origins = {names[name]: where for name, where in origins.items() if name in names}

    def write(self, language: Language, call: Sequence[str]) -> list[str]:
        """Imports and a line for each input."""
        arrays = self.analysis.arrays_by_variable.items()
        lines = [line for item in arrays for line in self.write_load(*item, language)]
        return [*list_imports(language, [*lines, *call]), *lines]

    def write_load(self, name: str, array: Array, language: Language) -> list[str]:
        """The lines that make one array: its numbers, or its file."""
        path = self._find_npy(name, array)
        kind = dtype_name(array.dtype)
        if path is None and array.size <= MAX_INLINE_CELLS:
            return [f"{name} = {format_literal(array, language)}"]
        comment = []
        if path is None:
            path, comment = f"{name}.npy", [f"# {self._explain_missing_file(name)}"]
        read = f"np.load({path!r})"
        if kind == "bfloat16" or kind in NARROW_FLOATS:
            read += language.halves.format(dtype=language.dtype(kind))
        return [*comment, language.format_load(name, read, kind)]

    def _explain_missing_file(self, name: str) -> str:
        """Why an input is read from a file that does not exist yet, and what it must hold."""
        if self.analysis.has_mask and name.startswith("indices"):
            return f"{name} are positions of True, as numpy.nonzero gives them for the mask"
        return f"{name} is too large to be written out; numpy.save it as this file"

    def _find_npy(self, name: str, array: Array) -> str | None:
        """The .npy file that holds this very array."""
        path = self.origins.get(name, "")
        if not path.lower().endswith(".npy") or not os.path.isfile(path):
            return None
        try:
            stored = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError):
            return None
        is_alike = stored.dtype == array.dtype or stored.dtype.kind == "V"
        return path if is_alike and stored.shape == array.shape else None


def list_imports(language: Language, lines: Sequence[str]) -> list[str]:
    """The imports that lines need."""
    text = "\n".join(lines)
    small = ["import ml_dtypes"] if "ml_dtypes." in text else []
    return [*(line for line in language.imports if _is_used(line, text)), *small]


def _is_used(line: str, text: str) -> bool:
    """Whether an import's name stands in the text; settings always do."""
    name = line.rpartition(" ")[2]
    settles = not line.startswith(("import numpy", "import jax.numpy"))
    return settles or re.search(rf"\b{name}\.", text) is not None


def format_literal(array: Array, language: Language) -> str:
    """An array written out, of its element type and shape."""
    dtype = language.dtype(dtype_name(array.dtype))
    literal = language.literal.format(list=format_nested_list(array), dtype=dtype)
    is_empty = 0 in array.shape
    return language.shaped.format(literal=literal, shape=array.shape) if is_empty else literal


def format_nested_list(array: Array) -> str:
    """An array as a nested list.

    >>> format_nested_list(np.array([[1, 2], [3, 4]]))
    '[[1, 2], [3, 4]]'
    """
    kind = dtype_name(array.dtype)
    if array.ndim == 0:
        return format_number(Constant(array.item(), kind))
    return "[" + ", ".join(format_nested_list(np.asarray(part)) for part in array) + "]"
