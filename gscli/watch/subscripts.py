"""NumPy watched: the subscripts of a script are rewritten to calls, as pytest does with asserts.

Arrays of NumPy have no hook. Only what the script itself writes is seen: `x[…]`, `x[…] = …`,
`x[…] += …`, take, put, their like along an axis, and ufunc.at; what libraries do is not.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gscli.base import GscliError, IndexRefused, ShapeRefused
from gscli.base.arrays import Array, as_array
from gscli.base.records import Arguments
from gscli.frameworks import find_operator
from gscli.frameworks.operator import Operator
from gscli.plan import plan_call
from gscli.plan.masks import extract_subscript
from gscli.plan.outcomes import outcome_of
from gscli.watch.judging import CallWatch, ProgramCall, SeenCall

# What a rewritten script calls its watcher.
NAME = "__gscli__"


def rewrite(source: bytes, path: str) -> ast.Module:
    """The tree of a script whose subscripts ask `NAME`; SyntaxError as Python raises it."""
    tree = ast.parse(source, path)
    _Rewriter().visit(tree)
    return ast.fix_missing_locations(tree)


# NumPy's functions by the operators of Python's grammar; `ufunc` stands for that of another.
UFUNCS = {"Add": "numpy.add", "Sub": "numpy.subtract", "Mult": "numpy.multiply",
          "Div": "numpy.divide", "Pow": "numpy.power"}  # fmt: skip

# NumPy's functions with an index; `at` is that of a ufunc.
FUNCTIONS = ("take", "put", "take_along_axis", "put_along_axis", "at")


# Those that read and write by the rules; other subclasses, as masked arrays, have some of theirs.
PLAIN = (np.ndarray, np.memmap)
ARRAYS, WRITTEN = (np.ndarray, list), ("values", "b", "v")


class _Rewriter(ast.NodeTransformer):
    """Order and number of evaluations stay: the value of an assignment comes first."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return _call("read", node, node.value, _make_key(node.slice))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if getattr(node.func, "attr", getattr(node.func, "id", "")) not in FUNCTIONS:
            return node
        call = _call("call", node, node.func, *node.args)
        call.keywords = node.keywords
        return call

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        match node.targets:
            case [ast.Subscript(value=data, slice=key)]:
                call = _call("write", node, node.value, data, _make_key(key))
                return ast.copy_location(ast.Expr(call), node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(target := node.target, ast.Subscript):
            ufunc = ast.Constant(UFUNCS.get(type(node.op).__name__, "ufunc"))
            call = _call("update", target, ufunc, target.value, _make_key(target.slice))
            item = ast.Subscript(call, ast.Constant(None), ast.Store())
            node.target = ast.copy_location(item, target)
        return node


def _call(method: str, place: ast.AST, *arguments: ast.expr) -> ast.Call:
    function = ast.Attribute(ast.Name(NAME, ast.Load()), method, ast.Load())
    return ast.copy_location(ast.Call(function, [*arguments], []), place)


def _make_key(key: ast.expr) -> ast.expr:
    """A subscript as an expression of its own."""
    if isinstance(key, ast.Tuple):
        return ast.Tuple([_make_key(part) for part in key.elts], ast.Load())
    if not isinstance(key, ast.Slice):
        return key
    parts = [part or ast.Constant(None) for part in (key.lower, key.upper, key.step)]
    return ast.Call(ast.Name("slice", ast.Load()), parts, [])


def _find_operator(name: str) -> Operator:
    """The operator of a function here; one ufunc speaks for the others."""
    return find_operator("numpy.add.at" if name.endswith(".at") else f"numpy.{name}")


class Subscripted:
    """`data[key]` as the one item, of which `+=` evaluates data and key once."""

    def __init__(self, data: Any, key: Any, write: Callable[[Any], None]) -> None:
        self._data, self._key, self._write = data, key, write

    def __getitem__(self, _: None) -> Any:
        return self._data[self._key]

    def __setitem__(self, _: None, value: Any) -> None:
        self._write(value)


class SubscriptWatch(CallWatch):
    """What the subscripts of a script do; a bad index raises WatchedIndex, or is noted."""

    def read(self, data: Any, key: Any) -> Any:
        """`data[key]`, judged where arrays index an array."""
        self._judge_subscript("getitem", data, key)
        return data[key]

    def write(self, value: Any, data: Any, key: Any) -> None:
        """`data[key] = value`, judged, and read back."""
        seen = self._judge_subscript("setitem", data, key, value)
        data[key] = value
        if seen is not None and np.size(value) > 1:
            there, hint = data[key], "numpy.add.at adds them all"
            self.note_lost(seen, there, np.asarray(value).astype(there.dtype), hint=hint)

    def update(self, ufunc: str, data: Any, key: Any) -> Subscripted:
        """The target of `data[key] += …`: cells that are named twice are changed once."""
        seen = self._judge_subscript("setitem", data, key)

        def write(value: Any) -> None:
            data[key] = value
            cells = np.arange(data.size).reshape(data.shape)[key] if seen else np.arange(0)
            if seen and (repeated := cells.size - np.unique(cells).size):
                seen.values = {**seen.values, "values": np.asarray(value, data.dtype)}
                text = f"{repeated:,} of {cells.size:,} entries repeat a cell, which changes"
                self.note(seen, "lost", f"{text} only once", hint=f"{ufunc}.at applies them all")

        return Subscripted(data, key, write)

    def call(self, function: Any, /, *args: Any, **named: Any) -> Any:
        """A call of take, put or their like, judged; any other function is only called."""
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if isinstance(owner, np.ufunc) and len(args) > 1:  # or NumPy refuses it
            self._judge_subscript(f"{owner.__name__}.at", *args[:3])
        if type(owner) not in PLAIN and function is not getattr(np, name, 0):
            return function(*args, **named)
        values = args if owner is None else (owner, *args)
        names = inspect.signature(getattr(np, name)).parameters
        bound: dict[str, Any] = dict(zip(names, values, strict=False)) | named
        inputs = {key: bound[key] for key in _find_operator(name).input_names if key in bound}
        attrs: dict[str, Any] = {key: bound[key] for key in ("axis", "mode") if key in bound}
        is_array = type(next(iter(inputs.values()), None)) in PLAIN
        seen = self._judge(name, inputs, attrs) if is_array else None
        output = function(*args, **named)
        if seen is not None and name.startswith("put"):
            data, index, written = inputs.values()
            if name == "put":
                there = data.take(index, mode=bound.get("mode", "raise"))
                written = np.resize(written, there.shape)
            else:
                there = np.take_along_axis(data, index, bound["axis"])
            self.note_lost(seen, there, np.broadcast_to(written, there.shape).astype(there.dtype))
        return output

    def _judge_subscript(self, name: str, data: Any, key: Any, value: Any = 0) -> SeenCall | None:
        """Judge `data[key]` where arrays index an array; None for another."""
        parts = key if isinstance(key, tuple) else (key,)
        if type(data) not in PLAIN or not any(isinstance(part, ARRAYS) for part in parts):
            return None
        words = {"a": data, **{f"indices_{at}": part for at, part in enumerate(parts)}}
        if name != "getitem":
            words["values" if name == "setitem" else "b"] = value
        try:
            origins, attrs = extract_subscript(_find_operator(name), words, {})
        except GscliError:  # the script's own line raises it
            return None
        return self._judge(name, origins, attrs)

    def _judge(self, name: str, origins: Arguments, attrs: Arguments) -> SeenCall | None:
        """Judge the indices of a call, which is saved as it is now; None where only NumPy can."""
        frame = self._places.find_frame(sys._getframe(1))
        history = self._places.find_history(frame)
        history.calls += 1
        self.calls[name] += 1
        operator, seen = _find_operator(name), None
        columns = list[tuple[str, Array]]()
        try:
            keep = np.copy if self.is_saved("lost") else np.asarray
            values = {at: keep(as_array(value, at)) for at, value in origins.items()}
            blank = np.zeros((), next(iter(values.values())).dtype)  # NumPy judges what is written
            inputs = values | {at: blank for at in WRITTEN if at in values}
            call = ProgramCall(operator.full_name, inputs, {**attrs}, origins, f"numpy {name}")
            seen = SeenCall(call, history, frame)
            seen.values = values
            plan = plan_call(operator, inputs, attrs)
            columns += ((at.source, plan.input_column(at)) for at in plan.layout.addressing.columns)
        except (ShapeRefused, IndexRefused):
            pass  # told as a refusal
        except GscliError:
            self.unjudged["subscript of another kind|subscripts of other kinds"] += 1
            return seen
        self.indices += sum(numbers.size for _, numbers in columns)
        if seen is None or self.refuse(seen):
            return seen
        for source, numbers in columns:
            if numbers.size and numbers.dtype.kind == "i":
                ends = int(numbers.min()), int(numbers.max())
                if outcome_of(plan.layout.policy, negative=True) == "clipped":
                    history.widen(*ends)
                else:
                    self.note_legal(seen, origins.get(source), *ends)
        return seen
