"""PyTorch watched while it runs: every call of the table is judged before its kernel.

Imported only where torch is. A dispatch mode sees what reaches a kernel, whatever called it
(autograd, compiled code, a library); a function mode above it sees what ATen composes of other
functions.
"""

from __future__ import annotations

import os
import sys
import threading
from multiprocessing.process import BaseProcess
from typing import Any, Self

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from gscli.base import GscliError
from gscli.base.arrays import Array
from gscli.watch.aten import COMPOSITES, AtenRule, BoundCall, find_rule
from gscli.watch.findings import LineHistory, Places, Report, find_name, suggest_addition
from gscli.watch.judging import (
    MAX_SAVED_BYTES,
    IndexRange,
    ProgramCall,
    infer_ranges,
    make_note,
    make_stand_in,
    refuse_call,
    save_call,
)

TORCH = os.path.dirname(torch.__file__)
UNCOMPILED = "compiled line (run uncompiled)|compiled lines (run uncompiled)"
MASKS = (torch.bool, torch.uint8)
FLAT = "torch.index_select"
"""Of an index of more axes it is that of the flat one."""


class TorchWatch(Report):
    """What a block of a PyTorch program does; `gscli.watch` has its arguments."""

    def __init__(
        self,
        on_error: str = "raise",
        save: str | None = None,
        read_back: bool = True,
        every: int = 1,
    ) -> None:
        super().__init__()
        self._raises, self._save, self._reads_back = on_error == "raise", save, read_back
        self._every = every
        self._places = Places(TORCH)
        self._ranges: dict[object, tuple[IndexRange, ...] | None] = {}
        self._modes = (_DispatchMode(self), _FunctionMode(self))
        self._counters = (
            _StartCounter(self, threading.Thread, "other thread|other threads"),
            _StartCounter(self, BaseProcess, "process of its own|processes of their own"),
        )

    def __enter__(self) -> Self:
        for entered in (*self._counters, *self._modes):
            entered.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        for entered in reversed((*self._counters, *self._modes)):
            entered.__exit__(*error)

    def judge(self, label: str, rule: AtenRule, arguments: dict[str, Any]) -> _SeenCall | None:
        """Judge the indices of a call; WatchedIndex for a bad one. None where nothing was seen."""
        bound = bind_call(rule, arguments)
        if any(type(tensor) not in _PLAIN for tensor in bound.inputs.values()):
            return None  # made while code is compiled or exported: nothing runs
        frame = self._places.find_frame(sys._getframe(1))
        history = self._places.find_history(frame)
        history.calls += 1
        if history.calls == 1 and history.place.is_compiled:
            self.unwatched[
                "compiled function (run uncompiled)|compiled functions (run uncompiled)"
            ] += 1
        if (history.calls - 1) % self._every:
            return None
        self.calls[label.removeprefix("aten.")] += 1
        if any(bound.inputs[name].dtype in MASKS for name in bound.index_names):
            self.unjudged["index with a mask|indices with a mask"] += 1
            return None
        ranges = self._find_ranges(bound)
        if ranges is None:
            self.unjudged["call that PyTorch refuses|calls whose shapes or types are refused"] += 1
            return None
        seen = _SeenCall(label, bound, history, frame)
        for legal in ranges:
            index = bound.inputs[legal.source]
            if index.numel():
                self._judge_index(seen, legal, index)
        return seen

    def _judge_index(self, seen: _SeenCall, legal: IndexRange, index: Any) -> None:
        self.indices += index.numel()
        least, greatest = measure(index)
        if legal.low <= least and greatest <= legal.high:
            if least < 0 <= greatest and legal.counts_from_end:
                self._note_negative(seen, index, least)
            seen.history.widen(least, greatest)
            seen.least = min(least, seen.least)
        elif legal.is_refused:
            self._refuse(seen)
        else:
            text = f"numbers outside {legal.low} … {legal.high} are taken modulo the size"
            self.add("moved", make_note(seen.history, text, f"{seen.label}: {least} … {greatest}"))

    def _note_negative(self, seen: _SeenCall, index: Any, least: int) -> None:
        name = find_name(seen.frame, index)
        problem = f"{name or 'an index'} counts from the end: least {least}"
        self.add("from-end", make_note(seen.history, problem, seen.label))

    def _find_ranges(self, bound: BoundCall) -> tuple[IndexRange, ...] | None:
        """The legal ranges of a call of these shapes; asked of the layout once."""
        shapes = tuple((name, value.shape, value.dtype) for name, value in bound.inputs.items())
        key = (bound.operator, shapes, tuple(bound.attrs.items()))
        if key not in self._ranges:
            try:
                stand_ins = {name: stand_in(value) for name, value in bound.inputs.items()}
                self._ranges[key] = infer_ranges(bound.operator, stand_ins, bound.attrs)
            except GscliError:  # PyTorch refuses it in its own words
                self._ranges[key] = None
        return self._ranges[key]

    def _refuse(self, seen: _SeenCall) -> None:
        arrays = {
            name: as_array(value) if name in seen.bound.index_names else stand_in(value)
            for name, value in seen.bound.inputs.items()
        }
        device = next(iter(seen.bound.inputs.values())).device
        judged = f"judged as {seen.bound.operator.replace('.', ' ')}"
        label = f"{seen.label} on {device}, {judged}{describe_backward()}"
        call = ProgramCall(seen.bound.operator, arrays, seen.bound.attrs, seen.bound.origins, label)
        saved = self._save_call(call, seen.bound) if self._save else ""
        error = refuse_call(call, seen.history, seen.frame, saved)
        if error is not None:
            self.add("index", error)
            if self._raises:
                raise error

    def _save_call(self, call: ProgramCall, bound: BoundCall) -> str:
        values = {
            name: as_array(value) for name, value in bound.inputs.items()
            if name in bound.index_names or value.numel() * value.element_size() <= MAX_SAVED_BYTES
        }  # fmt: skip
        path, self._save = str(self._save), None  # the first one is kept
        return save_call(call, values, path)

    def read_back(self, rule: AtenRule, seen: _SeenCall, output: Any) -> None:
        """Tell where a value that was just written is not there: another one took its cell."""
        inputs, attrs = seen.bound.inputs, seen.bound.attrs
        if not self._reads_back or not rule.write or attrs.get("accumulate") or "reduce" in attrs:
            return
        updates = inputs.get(rule.updates)
        if updates is None or updates.numel() <= 1:
            return
        indices = [inputs[name] for name in seen.bound.index_names]
        if rule.write == "index" and seen.least >= 0 and len(indices) == 1 and len(attrs) <= 1:
            there = output.index_select(0, indices[0].reshape(-1))  # four times as quick
            there = there.reshape(*indices[0].shape, *output.shape[1:])
        elif rule.write == "index":
            parts = iter(indices)
            words = str(attrs.get("subscript", "")).split(", ")
            where = [slice(None) if word == ":" else next(parts) for word in words]
            there = output[tuple(where) if "subscript" in attrs else tuple(indices)]
        elif rule.write == "take":
            there, updates = output.take(indices[0]), updates.reshape(indices[0].shape)
        else:
            there = getattr(output, rule.write)(attrs["dim"], indices[0])
            if rule.write == "gather":
                updates = updates[tuple(map(slice, indices[0].shape))]
        if torch.equal(there, updates):
            return
        lost = (there != updates) & ~((there != there) & (updates != updates))  # noqa: PLR0124  NaN
        count = int(lost.sum())
        if count:
            self.add("lost", make_note(
                seen.history,
                f"{count:,} of {lost.numel():,} values written were overwritten: indices repeat "
                "with different values",
                f"{seen.label}; which one stays is open on a GPU",
                suggest_addition(seen.history.place),
            ))  # fmt: skip


class _SeenCall:
    """A call that was judged: under which name, as what, and where."""

    def __init__(self, label: str, bound: BoundCall, history: LineHistory, frame: Any) -> None:
        self.label, self.bound, self.history, self.frame = label, bound, history, frame
        self.least = 0


_KNOWN_NAMESPACES = ("aten", "prim", "prims", "profiler", "inductor")
"""Operators of PyTorch itself; another's kernel may index, and nobody knows how."""

_PLAIN = (torch.Tensor, torch.nn.Parameter)


def bind_call(rule: AtenRule, arguments: dict[str, Any]) -> BoundCall:
    """A call in our names; what is not declared here becomes what its index is of.

    An index of rows with more axes is laid flat, and labels become a gather along the classes.
    """
    bound = rule.bind(arguments)
    if rule.operator == FLAT and "dim" not in bound.attrs:
        bound.attrs["dim"] = 0
        bound.inputs["index"] = bound.inputs["index"].reshape(-1)
    elif "target" in arguments:
        target, data = bound.inputs["index"], bound.inputs["input"]
        target = torch.where(target == arguments["ignore_index"], 0, target)
        classes = int(data.dim() > 1)
        bound.attrs["dim"] = classes
        bound.inputs["index"] = target.unsqueeze(1) if classes else target.reshape(1)
    return bound


class _DispatchMode(TorchDispatchMode):
    def __init__(self, watch: TorchWatch) -> None:
        super().__init__()
        self._watch = watch
        self._rules: dict[Any, tuple[AtenRule, tuple[str, ...], dict[str, Any]] | None] = {}

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        try:
            entry = self._rules[func]
        except KeyError:
            entry = self._rules[func] = self._find(func)
        if entry is None:
            return func(*args, **kwargs) if kwargs else func(*args)
        rule, names, defaults = entry
        arguments = {**defaults, **dict(zip(names, args, strict=False)), **(kwargs or {})}
        seen = self._watch.judge(f"aten.{func._schema.name[6:]}", rule, arguments)
        output = func(*args, **kwargs) if kwargs else func(*args)
        if seen is not None and rule.write:
            self._watch.read_back(rule, seen, output)
        return output

    def _find(self, func: Any) -> tuple[AtenRule, tuple[str, ...], dict[str, Any]] | None:
        if func.namespace not in _KNOWN_NAMESPACES:
            self._watch.unwatched["custom operator|custom operators"] += 1
        rule = find_rule(func._schema.name[6:]) if func.namespace == "aten" else None
        if rule is None:
            return None
        known = func._schema.arguments
        defaults = {entry.name: entry.default_value for entry in known if entry.has_default_value()}
        return rule, tuple(entry.name for entry in known), defaults


class _FunctionMode(TorchFunctionMode):
    def __init__(self, watch: TorchWatch) -> None:
        super().__init__()
        self._watch = watch
        self._rules = {
            function: rule
            for name, rule in COMPOSITES.items()
            for owner in (torch, torch.Tensor, torch.nn.functional)
            if (function := getattr(owner, name, None)) is not None
        }

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        rule = self._rules.get(func)
        if rule is not None:
            names = [word.rstrip("?") for word in f"{rule.inputs} {rule.attrs}".split()]
            arguments = {**dict(zip(names, args, strict=False)), **(kwargs or {})}
            if len(arguments) >= len(rule.inputs.split()):
                self._watch.judge(func.__name__, rule, arguments)
        return func(*args, **(kwargs or {}))


class _StartCounter:
    """Counts what the program starts meanwhile and nobody watches."""

    def __init__(self, report: Report, kind: Any, reason: str) -> None:
        self._report, self._kind, self._reason, self._start = report, kind, reason, kind.start

    def __enter__(self) -> None:
        def start(started: Any, *words: Any, **named: Any) -> None:
            self._start(started, *words, **named)
            if getattr(getattr(started, "_popen", None), "method", "") != "fork":
                self._report.unwatched[self._reason] += 1

        self._kind.start = start

    def __exit__(self, *_error: object) -> None:
        self._kind.start = self._start


def measure(index: Any) -> tuple[int, int]:
    """The least and the greatest number of a tensor that has some; one wait for another device."""
    if index.device.type != "cpu":
        least, greatest = torch.stack(torch.aminmax(index)).tolist()
        return least, greatest
    numbers = index.numpy()
    if 0 in numbers.strides:  # expanded: the numbers repeat
        numbers = numbers[tuple(slice(0, 1 if step == 0 else None) for step in numbers.strides)]
    return int(np.minimum.reduce(numbers, None)), int(np.maximum.reduce(numbers, None))


def stand_in(tensor: Any) -> Array:
    """An array of the shape and type of a tensor."""
    return make_stand_in(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."))


def as_array(tensor: Any) -> Array:
    """The values of a tensor, from whatever device."""
    from gscli.base.arrays import as_array as from_tensor

    return from_tensor(tensor.detach().cpu(), "tensor")


def describe_backward() -> str:
    """For which step of autograd a call is made, and where the forward call was."""
    node = torch._C._current_autograd_node()
    if node is None:
        return ""
    lines = [line for line in node.metadata.get("traceback_", ()) if f'"{TORCH}' not in line]
    made = (
        lines[-1].strip().split("\n")[0].strip() if lines else "torch.autograd.detect_anomaly tells"
    )
    return f", in backward of {node.name()} ({made})"
