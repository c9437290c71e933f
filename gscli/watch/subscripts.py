"""NumPy watched: the subscripts of a script are rewritten to calls, as pytest does with asserts.

Arrays of NumPy have no hook. Only what the script itself writes as `x[…]`, `x[…] = …` and
`x[…] += …` is seen; what libraries do, and take, put and ufunc.at, are not.
"""

from __future__ import annotations

import ast
import sys
from types import FrameType
from typing import Any

import numpy as np

from gscli.base import GscliError
from gscli.base.arrays import Array, as_array
from gscli.frameworks import find_operator
from gscli.plan import plan_call
from gscli.watch.findings import LineHistory, Places, Report, find_name
from gscli.watch.judging import ProgramCall, make_note, refuse_call

NAME = "__gscli__"
"""What a rewritten script calls its watcher."""


def rewrite(source: bytes, path: str) -> ast.Module:
    """The tree of a script whose subscripts ask `NAME`; SyntaxError as Python raises it."""
    tree = ast.parse(source, path)
    _Rewriter().visit(tree)
    return ast.fix_missing_locations(tree)


class _Rewriter(ast.NodeTransformer):
    """Order and number of evaluations stay: the value of an assignment comes first."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return _call("read", node, node.value, _make_key(node.slice))

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        match node.targets:
            case [ast.Subscript(value=data, slice=key)]:
                call = _call("write", node, node.value, data, _make_key(key))
                return ast.copy_location(ast.Expr(call), node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        target = node.target
        plain = isinstance(target, ast.Subscript) and not any(
            isinstance(part, ast.Call | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom)
            for part in ast.walk(target)
        )
        node.value = self.visit(node.value)
        if not plain:
            return node
        assert isinstance(target, ast.Subscript)
        again = ast.parse(ast.unparse(target), mode="eval").body  # evaluated once more, before
        assert isinstance(again, ast.Subscript)
        call = _call("update", target, again.value, _make_key(again.slice))
        return [ast.copy_location(ast.Expr(call), node), node]


def _call(method: str, place: ast.AST, *arguments: ast.expr) -> ast.Call:
    function = ast.Attribute(ast.Name(NAME, ast.Load()), method, ast.Load())
    call = ast.copy_location(ast.Call(function, [*arguments], []), place)
    return ast.fix_missing_locations(call)


def _make_key(key: ast.expr) -> ast.expr:
    """A subscript as an expression of its own."""
    if isinstance(key, ast.Tuple):
        return ast.Tuple([_make_key(part) for part in key.elts], ast.Load())
    if not isinstance(key, ast.Slice):
        return key
    parts = [part or ast.Constant(None) for part in (key.lower, key.upper, key.step)]
    return ast.Call(ast.Name("slice", ast.Load()), parts, [])


class SubscriptWatch(Report):
    """What the subscripts of a script do; a bad index raises WatchedIndex, or is noted."""

    def __init__(self, *, raises: bool = True) -> None:
        super().__init__()
        self._raises, self._places = raises, Places()

    def read(self, data: Any, key: Any) -> Any:
        """`data[key]`, judged where arrays index an array."""
        if type(data) is np.ndarray and _has_arrays(key):
            self._judge("getitem", data, key)
        return data[key]

    def write(self, value: Any, data: Any, key: Any) -> None:
        """`data[key] = value`, judged, and read back."""
        seen = type(data) is np.ndarray and _has_arrays(key)
        history = self._judge("setitem", data, key) if seen else None
        data[key] = value
        if history is None or np.size(value) <= 1:
            return
        there = data[key]
        values = np.asarray(value).astype(data.dtype)
        lost = int(np.count_nonzero((there != values) & ~((there != there) & (values != values))))  # noqa: PLR0124  NaN
        if lost:
            text = f"{lost:,} of {there.size:,} values written were overwritten: indices repeat"
            self.add(
                "lost", make_note(history, text, "numpy setitem", "numpy.add.at adds them all")
            )

    def update(self, data: Any, key: Any) -> None:
        """Before `data[key] += …`: cells that are named twice are changed once."""
        if type(data) is not np.ndarray or not _has_arrays(key):
            return
        history = self._judge("setitem", data, key)
        try:
            cells = np.arange(data.size).reshape(data.shape)[key]
        except IndexError:  # noted; the script's own line raises it
            return
        repeated = cells.size - np.unique(cells).size
        if repeated:
            text = f"{repeated:,} of {cells.size:,} entries repeat a cell, which changes only once"
            self.add(
                "lost", make_note(history, text, "numpy setitem", "numpy.add.at counts them all")
            )

    def _note_loss(self, history: LineHistory, text: str) -> None:
        self.add("lost", make_note(history, text, "numpy setitem", "numpy.add.at counts them all"))

    def _judge(self, name: str, data: Array, key: Any) -> LineHistory:
        frame = self._places.find_frame(sys._getframe(1))
        history = self._places.find_history(frame)
        history.calls += 1
        self.calls[name] += 1
        parts = key if isinstance(key, tuple) else (key,)
        inputs: dict[str, Any] = {"a": data} | {
            f"indices_{number}": as_array(part, "index") if _is_array(part) else part
            for number, part in enumerate(parts)
        }
        if name == "setitem":
            inputs["values"] = np.zeros((), data.dtype)
        try:
            self._look(
                ProgramCall(f"numpy.{name}", inputs, {}, inputs, f"numpy {name}"), history, frame
            )
        except GscliError as error:
            if isinstance(error, IndexError):
                raise
            self.unjudged["subscript of another kind|subscripts of other kinds"] += 1
        return history

    def _look(self, call: ProgramCall, history: LineHistory, frame: FrameType | None) -> None:
        error = refuse_call(call, history, frame)
        if error is not None:
            self.add("index", error)
            if self._raises:
                raise error
            return
        plan = plan_call(find_operator(call.operator), call.inputs, call.attrs)
        for column in plan.layout.addressing.columns:
            numbers = plan.input_column(column)
            self.indices += numbers.size
            if numbers.size and numbers.dtype.kind == "i":
                least, greatest = int(numbers.min()), int(numbers.max())
                if least < 0 <= greatest:
                    name = find_name(frame, call.inputs.get(column.source)) or "an index"
                    text = f"{name} counts from the end: least {least}"
                    self.add("from-end", make_note(history, text, call.label))
                history.widen(least, greatest)


def _is_array(part: object) -> bool:
    return isinstance(part, np.ndarray | list)


def _has_arrays(key: Any) -> bool:
    return any(map(_is_array, key)) if isinstance(key, tuple) else _is_array(key)
