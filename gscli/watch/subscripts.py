"""NumPy watched: the subscripts of a script are rewritten to calls, as pytest does with asserts.

Arrays of NumPy have no hook. Only what the script itself writes is seen: `x[…]`, `x[…] = …`,
`x[…] += …`, take, put, their like along an axis, and ufunc.at; what libraries do is not.
"""

from __future__ import annotations

import ast
import inspect
import sys
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from gscli.base import GscliError, IndexRefused, ShapeRefused
from gscli.base.arrays import Array, as_array
from gscli.frameworks import find_operator
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


ARRAYS = (np.ndarray, list)


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


class Subscripted:
    """`data[key]` as the one item, of which `+=` evaluates data and key once."""

    def __init__(self, data: Any, key: Any) -> None:
        self._data, self._key = data, key

    def __getitem__(self, _: None) -> Any:
        return self._data[self._key]

    def __setitem__(self, _: None, value: Any) -> None:
        self._data[self._key] = value


class SubscriptWatch(CallWatch):
    """What the subscripts of a script do; a bad index raises WatchedIndex, or is noted."""

    def read(self, data: Any, key: Any) -> Any:
        """`data[key]`, judged where arrays index an array."""
        self._judge_subscript("getitem", data, key)
        return data[key]

    def write(self, value: Any, data: Any, key: Any) -> None:
        """`data[key] = value`, judged, and read back."""
        seen = self._judge_subscript("setitem", data, key)
        data[key] = value
        if seen is not None and np.size(value) > 1:
            there, hint = data[key], "numpy.add.at adds them all"
            self.note_lost(seen, there, np.asarray(value).astype(there.dtype), hint=hint)

    def update(self, ufunc: str, data: Any, key: Any) -> Subscripted:
        """The target of `data[key] += …`: cells that are named twice are changed once."""
        seen = self._judge_subscript("setitem", data, key)
        cells = np.arange(0)
        if seen is not None:
            with suppress(IndexError):  # noted; reading the cells raises it
                cells = np.arange(data.size).reshape(data.shape)[key]
        if seen is not None and (repeated := cells.size - np.unique(cells).size):
            text = f"{repeated:,} of {cells.size:,} entries repeat a cell, which changes only once"
            self.note(seen, "lost", text, hint=f"{ufunc}.at applies them all")
        return Subscripted(data, key)

    def call(self, function: Any, /, *args: Any, **named: Any) -> Any:
        """A call of take, put or their like, judged; any other function is only called."""
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if isinstance(owner, np.ufunc) and len(args) > 1:  # or NumPy refuses it
            self._judge_subscript("add.at", args[0], args[1], owner.__name__)
        if type(owner) is not np.ndarray and function is not getattr(np, name, 0):
            return function(*args, **named)
        values = args if owner is None else (owner, *args)
        names = inspect.signature(getattr(np, name)).parameters
        bound: dict[str, Any] = dict(zip(names, values, strict=False)) | named
        operator = find_operator(f"numpy.{name}")
        inputs = {key: bound[key] for key in operator.input_names if key in bound}
        attrs = {key: bound[key] for key in ("axis", "mode") if bound.get(key) is not None}
        seen = None
        if type(next(iter(inputs.values()), None)) is np.ndarray:
            arrays = {key: as_array(value, key) for key, value in inputs.items()}
            seen = self._judge(ProgramCall(f"numpy.{name}", arrays, attrs, inputs, f"numpy {name}"))
        output = function(*args, **named)
        if seen is not None and name.startswith("put"):
            data, index, written = arrays.values()
            if name == "put":
                there = data.take(index, mode=bound.get("mode", "raise"))
                written = np.resize(written, there.shape)
            else:
                there = np.take_along_axis(data, index, bound["axis"])
            self.note_lost(seen, there, np.broadcast_to(written, there.shape).astype(there.dtype))
        return output

    def _judge_subscript(self, name: str, data: Any, key: Any, ufunc: str = "") -> SeenCall | None:
        """Judge `data[key]` where arrays index an array; None for another."""
        parts = key if isinstance(key, tuple) else (key,)
        if type(data) is not np.ndarray or not any(isinstance(part, ARRAYS) for part in parts):
            return None
        words = {"a": data, **{f"indices_{at}": part for at, part in enumerate(parts)}}
        try:
            origins, attrs = extract_subscript(find_operator(f"numpy.{name}"), words, {})
        except GscliError:  # the script's own line raises it
            return None
        inputs = {at: as_array(part, "index") for at, part in origins.items()}
        if name != "getitem":
            inputs["b" if ufunc else "values"] = np.zeros((), data.dtype)
        label = f"numpy {f'{ufunc}.at' if ufunc else name}"
        return self._judge(ProgramCall(f"numpy.{name}", inputs, {**attrs}, origins, label))

    def _judge(self, call: ProgramCall) -> SeenCall:
        frame = self._places.find_frame(sys._getframe(1))
        history = self._places.find_history(frame)
        history.calls += 1
        self.calls[call.label.removeprefix("numpy ")] += 1
        seen = SeenCall(call, history, frame)
        columns = list[tuple[str, Array]]()
        try:
            plan = plan_call(find_operator(call.operator), call.inputs, call.attrs)
            columns += ((at.source, plan.input_column(at)) for at in plan.layout.addressing.columns)
        except (ShapeRefused, IndexRefused):
            pass  # told as a refusal
        except GscliError:
            self.unjudged["subscript of another kind|subscripts of other kinds"] += 1
            return seen
        self.indices += sum(numbers.size for _, numbers in columns)
        if self.refuse(seen):
            return seen
        for source, numbers in columns:
            if numbers.size and numbers.dtype.kind == "i":
                clips = outcome_of(plan.layout.policy, negative=True) == "clipped"
                note = partial(self.note_legal, seen, call.origins.get(source))
                (history.widen if clips else note)(int(numbers.min()), int(numbers.max()))
        return seen
