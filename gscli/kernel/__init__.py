"""The one shared kernel: executes plans, knows no framework.

`gather` reads, `scatter` writes; both go through the plan block by block, and every cell meets its
updates in the order of the specification's sequential loop, bit for bit, whatever the sizes of the
blocks and the number of threads. (Which of two NaN survives an operation is not promised: NumPy
does not promise it.) A run imports only the half that it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gscli.kernel.reading import gather
    from gscli.kernel.reductions import REDUCTIONS, comparable, converted
    from gscli.kernel.routes import addresses_of
    from gscli.kernel.tuning import Tuning
    from gscli.kernel.updates import updates_of
    from gscli.kernel.writing import scatter

__all__ = [
    "REDUCTIONS", "Tuning", "addresses_of", "comparable", "converted", "gather", "scatter",
    "updates_of",
]  # fmt: skip

_WHERE = {
    "gather": "reading", "scatter": "writing", "addresses_of": "routes", "Tuning": "tuning",
    "REDUCTIONS": "reductions", "comparable": "reductions", "converted": "reductions",
    "updates_of": "updates",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    globals()[name] = found
    return found
