"""The index debugger of people's own programs: bad indices are named before the kernel runs.

`gscli.watch()` watches a block of PyTorch, `gscli.watch.jax(f)` a function, `gscli watch SCRIPT` a
whole program. Of torch, jax and onnx nothing is needed but what the program itself imports.

    findings.py      places, findings, the report: no framework in it
    judging.py       a call of a program under the rules, and the refusal in the program's words
    aten.py          ATen's functions as operators here, a table
    torch_modes.py   PyTorch, while it runs
    subscripts.py    x[…] of NumPy in a script, which is rewritten
    program.py       a whole program, as Python would run it
    jax_primitives.py  JAX, primitive by primitive
    onnx_nodes.py    a whole ONNX model, node by node
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Generic, Literal, ParamSpec, TypeVar

from gscli.base import UsageError, translate_errors

if TYPE_CHECKING:
    from gscli.watch.jax_primitives import JaxWatch
    from gscli.watch.torch_modes import TorchWatch

P = ParamSpec("P")
R = TypeVar("R")


class Watch(ModuleType):
    """The package, which can be called."""

    def __call__(
        self,
        on_error: Literal["raise", "note"] = "raise",
        save: str | None = None,
        read_back: bool = True,
        every: int = 1,
    ) -> TorchWatch:
        """Watch the PyTorch calls of a `with` block: each index is judged before its kernel runs.

        A bad index raises WatchedIndex, an IndexError, or is noted. `save`: an .npz file for the
        first bad call; `read_back`: look for values that others overwrote; `every`: look at every
        n-th call of a line. The result has `findings`, `calls`, `report()` and `to_dict()`. Raises
        UsageError where there is no PyTorch.
        """
        if on_error not in ("raise", "note") or every < 1:
            problem = "watch takes on_error='raise' or 'note', and every from 1 up"
            raise UsageError(problem, where=f"on_error={on_error!r}, every={every!r}"[:200])
        with _refuse_without("watch()", "PyTorch", "torch"):
            from gscli.watch.torch_modes import TorchWatch
        return TorchWatch(on_error, save, read_back, every)

    def jax(self, function: Callable[P, R]) -> WatchedFunction[P, R]:
        """A JAX function that runs primitive by primitive, its indices judged at the user's lines.

        It may be jitted, differentiated or batched, and gives what it gives with jit disabled. What
        JAX clips, fills or drops in silence is in its `seen`, which has `findings` and `report()`.
        Raises UsageError where there is no JAX.
        """
        with _refuse_without("watch.jax()", "JAX", "jax"):
            from gscli.watch.jax_primitives import JaxWatch
        return WatchedFunction(function, JaxWatch())


def _refuse_without(call: str, title: str, package: str) -> AbstractContextManager[None]:
    """UsageError for a `call` where what it watches cannot be imported."""
    problem = f"gscli.{call} needs the {title} of your program"
    hint = f"run it with the Python that has {package}"
    return translate_errors(
        lambda error: UsageError(problem, where=str(error)[:200], hint=hint), ImportError
    )


class WatchedFunction(Generic[P, R]):
    """A function and what was seen of all its calls so far."""

    def __init__(self, function: Callable[P, R], seen: JaxWatch) -> None:
        self._function, self.seen = function, seen

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """What the function gives."""
        with self.seen:
            return self._function(*arguments, **named)


sys.modules[__name__].__class__ = Watch
