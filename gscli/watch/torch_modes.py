"""PyTorch watched while it runs: every call of the table is judged before its kernel.

Imported only where torch is. A dispatch mode sees what reaches a kernel, whatever called it
(autograd, compiled code, a library); a function mode above it sees what ATen composes of other
functions.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TextIO, TypeAlias

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from gscli.base import GscliError, IndexRefused
from gscli.base.arrays import Array, Arrays, parse_dtype
from gscli.base.arrays import as_array as from_tensor
from gscli.base.records import Record, cached_property
from gscli.frameworks import find_operator
from gscli.plan import plan_call
from gscli.watch.aten import COMPOSITES, AtenRule, find_rule
from gscli.watch.findings import LineHistory, suggest_accumulation
from gscli.watch.judging import (
    MAX_SAVED_BYTES,
    CallWatch,
    IndexRange,
    ProgramCall,
    SeenCall,
    infer_ranges,
)

TORCH = os.path.dirname(torch.__file__)
_COMPILER = torch._C._dynamo.eval_frame

# Whether the compiler can be told once to leave the code here alone. PyTorch's own guard for modes
# costs 3 µs for each call of anything, and imports the compiler.
SKIPS_FRAMES = hasattr(_COMPILER, "set_code_exec_strategy")

# More than any one_hot has.
MOST_CLASSES = 1 << 48

Args: TypeAlias = tuple[Any, ...]

# What a function of PyTorch is called with.
Keywords: TypeAlias = Mapping[str, Any]

MASKS = (torch.bool, torch.uint8)

# Of an index of more axes it is that of the flat one.
FLAT = "torch.index_select"


class TorchWatch(CallWatch):
    """What a block of a PyTorch program does; `gscli.watch` has its arguments."""

    folder = TORCH + os.sep

    def __init__(self, on_error: str, save: str | None, read_back: bool, every: int) -> None:
        super().__init__(save, TORCH, raises=on_error == "raise")
        self._reads_back, self._every = read_back, every
        self._modes = (_DispatchMode(self), _FunctionMode(self))

    def __enter__(self) -> Self:
        for mode in self._modes:
            mode.__enter__()
        if warnings.showwarning != self._show_at_program:  # a block of it may stand in another
            self._show_warning, warnings.showwarning = warnings.showwarning, self._show_at_program
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__()
        warnings.showwarning = self._show_warning
        for mode in reversed(self._modes):
            mode.__exit__(*error)
        compiler = sys.modules.get("torch._dynamo.utils")
        compiled = compiler.counters["frames"]["ok"] if compiler else 0
        if compiled:  # PyTorch 2.4 compiles in spite of the modes
            self.unwatched["function that runs compiled|functions that run compiled"] += compiled

    def _show_at_program(
        self, message: Warning | str, category: type[Warning], filename: str, lineno: int,
        file: TextIO | None = None, line: str | None = None,
    ) -> None:  # fmt: skip
        """PyTorch warns of the line that calls it, which is one of a mode here."""
        frame = self._places.find_frame(sys._getframe(2)) if filename == __file__ else None
        if frame is not None:
            filename, lineno = frame.f_code.co_filename, frame.f_lineno
        self._show_warning(message, category, filename, lineno, file, line)

    def judge(self, function: WatchedAten, args: Args, kwargs: Keywords) -> _SeenCall | None:
        """Judge the indices of a call; WatchedIndex for a bad one. None where nothing was seen.

        What depends on shapes, types and attributes alone is found once and kept: an embedding of
        eight numbers takes 17 µs in place of 60.
        """
        signature, tensors = list[object](), list[Any]()
        if not _collect((*args, *kwargs.items()), signature, tensors):
            return None  # made while code is compiled or exported: nothing runs
        frame = self._places.find_frame(sys._getframe(1))
        history = self._places.find_history(frame)
        history.calls += 1
        if history.calls == 1 and history.place.is_compiled:
            reason = "compiled function (run uncompiled)|compiled functions (run uncompiled)"
            self.unwatched[reason] += 1
        if (history.calls - 1) % self._every:
            return None
        self.calls[function.name] += 1
        key = tuple(signature)
        known = function.known_calls.get(key)
        if known is None:
            known = function.known_calls[key] = function.infer_ranges(args, kwargs, tensors)
        if known.unjudged:
            self.unjudged[known.unjudged] += 1
            return None
        seen = _SeenCall(function, args, kwargs, tensors, known, history, frame)
        if function.rule.write == "mask":
            self._judge_mask(seen)
        if function.rule.write == "segments":
            self._judge_segments(seen)
        for legal, number in known.ranges:
            index = tensors[number]
            if index.numel():
                self._judge_index(seen, legal, index)
        return seen

    def _judge_mask(self, seen: _SeenCall) -> None:
        """A value is needed for each true cell of a mask."""
        data, mask, source = (seen.bound.inputs[name] for name in ("input", "mask", "source"))
        shape = torch.broadcast_shapes(data.shape, mask.shape)
        if int(mask.expand(shape).count_nonzero()) > source.numel():
            self.refuse(seen)

    def _judge_segments(self, seen: _SeenCall) -> None:
        """Lengths and offsets are few, and brought to the CPU."""
        call = seen.call
        try:
            plan_call(find_operator(call.operator), call.inputs, call.attrs)
        except IndexRefused:
            self.refuse(seen)

    def _judge_index(self, seen: _SeenCall, legal: IndexRange, index: Any) -> None:
        self.indices += index.numel()
        least, greatest = measure(index)
        if least < legal.low or greatest > legal.high:
            ignored = seen.bound.attrs.get("ignore_index", legal.low)
            least, greatest = measure(torch.where(index == ignored, legal.low, index))
        if legal.low <= least and greatest <= legal.high:
            self.note_legal(seen, index, least, greatest, seen.function.label)
            seen.least = min(least, seen.least)
        elif legal.is_refused:
            self.refuse(seen)
        else:
            problem = f"numbers outside {legal.low} … {legal.high} are taken modulo the size"
            seen.moved = problem, f"{seen.function.label}: {least} … {greatest}"

    def copy_values(self, seen: _SeenCall) -> None:
        """Keep what may be saved as it is before the call, which may write in place."""
        if self._reads_back and seen.known.updates is not None and self.is_saved("lost"):
            seen.values = {name: array.copy() for name, array in seen.values.items()}

    def read_back(self, seen: _SeenCall, output: Any) -> None:
        """Tell where a value that was just written is not there: another one took its cell."""
        known = seen.known
        if not self._reads_back or known.updates is None:
            return
        updates, index = seen.tensors[known.updates], None
        if known.is_rows and seen.least >= 0:  # four times as quick as a subscript
            index = seen.tensors[known.ranges[0][1]]
            there = output.index_select(0, index.reshape(-1) if index.dim() > 1 else index)
            if index.dim() > 1:
                there = there.reshape(*index.shape, *output.shape[1:])
        else:
            there, updates = _read_written(seen.function.rule.write, seen.bound, output, updates)
        if not torch.equal(there, updates):
            label = f"{seen.function.label}; which one stays is open on a GPU"
            vector = index if index is not None and index.dim() == 1 else None
            hint = suggest_accumulation(seen.history.place, seen.frame, vector, updates)
            self.note_lost(seen, there, updates, " with different values", label=label, hint=hint)


class KnownCall(Record):
    """What all calls of the same shapes, types and attributes have in common.

    `ranges`: the legal numbers of each index, and which tensor of the call it is; `updates`: which
    one is what is written, where it is read back; `is_rows`: one index along the first axis.
    """

    ranges: tuple[tuple[IndexRange, int], ...] = ()
    updates: int | None = None
    is_rows: bool = False
    unjudged: str = ""


class WatchedAten:
    """A function of ATen, or a composite one: its rule, its parameters, its calls so far."""

    def __init__(
        self, name: str, label: str, rule: AtenRule, parameters: Sequence[str], defaults: Any
    ) -> None:
        self.name, self.label, self.rule = name, label, rule
        self._parameters, self._defaults = parameters, defaults
        self.known_calls: dict[tuple[object, ...], KnownCall] = {}

    def bind(self, args: Args, kwargs: Keywords) -> ProgramCall:
        """A call in our names; what is not declared here becomes what its index is of.

        An index of rows with more axes is laid flat.
        """
        arguments = {**self._defaults, **dict(zip(self._parameters, args, strict=False)), **kwargs}
        bound = self.rule.bind(arguments)
        if "output_size" in arguments:
            pooled = bound.inputs["input"].shape[-len(arguments["output_size"]) :]
            sizes = zip(arguments["output_size"], pooled, strict=True)
            bound.attrs["kernel_size"] = tuple(size - count + 1 for size, count in sizes)
            bound.attrs["stride"] = (1,) * len(pooled)
        elif self.rule.operator == FLAT and "dim" not in bound.attrs:
            bound.attrs["dim"] = 0
            bound.inputs["index"] = bound.inputs["index"].reshape(-1)
        elif bound.attrs.get("padding_idx", 0) == NO_PADDING:
            del bound.attrs["padding_idx"]
        return bound

    def infer_ranges(self, args: Args, kwargs: Keywords, tensors: Sequence[Any]) -> KnownCall:
        """What the layout says of such a call, and which of its `tensors` are judged."""
        bound = self.bind(args, kwargs)
        if self.rule.write == "mask":
            return KnownCall()
        if "num_classes" in self.rule.parameters and bound.attrs.get("num_classes", -1) == -1:
            bound.attrs["num_classes"] = MOST_CLASSES  # as many as the numbers say
        if any(bound.inputs[name].dtype in MASKS for name in bound.index_names):
            return KnownCall(unjudged="index with a mask|indices with a mask")
        try:
            stand_ins = {name: stand_in(value) for name, value in bound.inputs.items()}
            ranges = infer_ranges(bound.operator, stand_ins, bound.attrs)
        except GscliError:  # PyTorch refuses it in its own words
            refused = "call that PyTorch refuses|calls whose shapes or types are refused"
            return KnownCall(unjudged=refused)
        numbers = {id(tensor): number for number, tensor in enumerate(tensors)}
        updates = bound.inputs.get(self.rule.updates)
        is_reduced = bound.attrs.get("accumulate") or "reduce" in bound.attrs
        if is_reduced or (updates is not None and updates.numel() <= 1):
            updates = None
        return KnownCall(
            tuple((legal, numbers[id(bound.origins[legal.source])]) for legal in ranges),
            None if updates is None else numbers[id(updates)],
            self.rule.write == "index" and len(ranges) == 1 and "subscript" not in bound.attrs,
        )


def _collect(values: Iterable[object], signature: list[object], tensors: list[Any]) -> bool:
    """Gather the shapes and types of arguments, and the tensors; False for one that holds none."""
    for value in values:
        kind = type(value)
        if kind in _PLAIN:
            tensors.append(value)
            signature += (value.shape, value.dtype)  # type: ignore[attr-defined]  # a tensor
        elif kind is list or kind is tuple:
            signature.append(len(value))  # type: ignore[arg-type]
            if not _collect(value, signature, tensors):  # type: ignore[arg-type]
                return False
        elif isinstance(value, torch.Tensor):
            return False
        else:
            signature.append(value)
    return True


def _read_written(write: str, bound: ProgramCall, output: Any, updates: Any) -> tuple[Any, Any]:
    """What stands where a call wrote, and what it should be."""
    indices = [bound.inputs[name] for name in bound.index_names]
    if write == "index":
        parts, words = iter(indices), str(bound.attrs.get("subscript", "")).split(", ")
        where = [slice(None) if word == ":" else next(parts) for word in words]
        return output[tuple(where) if "subscript" in bound.attrs else tuple(indices)], updates
    if write == "take":
        return output.take(indices[0]), updates.reshape(indices[0].shape)
    there = getattr(output, write)(bound.attrs["dim"], indices[0])
    if write == "gather":
        updates = updates[tuple(map(slice, indices[0].shape))]
    return there, updates


@dataclass(eq=False)
class _SeenCall(SeenCall):
    """A call that was judged: of which function, with what, and where.

    `moved`: what is told where PyTorch answers, though numbers are none of the legal ones.
    """

    function: WatchedAten
    args: Args
    kwargs: Keywords
    tensors: list[Any]
    known: KnownCall
    history: LineHistory
    frame: Any
    least: int = 0
    moved: tuple[str, str] | None = None

    @property
    def name(self) -> str:
        """The function's."""
        return self.function.name

    @cached_property
    def bound(self) -> ProgramCall:
        """The call in our names."""
        return self.function.bind(self.args, self.kwargs)

    @cached_property
    def call(self) -> ProgramCall:  # type: ignore[override]  # made where a finding needs it
        """The call with its index numbers at hand; of other tensors only shape and type."""
        bound = self.bound
        arrays = {
            name: as_array(value) if name in (*bound.index_names, "mask") else stand_in(value)
            for name, value in bound.inputs.items()
        }
        device = next(iter(bound.inputs.values())).device
        label = f"{self.function.label} on {device}, judged as {bound.operator.replace('.', ' ')}"
        label += describe_backward()
        return bound._replace(inputs=arrays, label=label)

    @cached_property
    def values(self) -> Arrays:
        """The tensors that are saved whole."""
        return {
            name: as_array(value) for name, value in self.bound.inputs.items()
            if name in self.bound.index_names
            or value.numel() * value.element_size() <= MAX_SAVED_BYTES
        }  # fmt: skip


# Operators of PyTorch itself; another's kernel may index, and nobody knows how.
_KNOWN_NAMESPACES = ("aten", "prim", "prims", "profiler", "inductor")

_PLAIN = (torch.Tensor, torch.nn.Parameter)


# What ATen calls no row of padding.
NO_PADDING = -1


class _DispatchMode(TorchDispatchMode):
    def __init__(self, watch: TorchWatch) -> None:
        super().__init__()
        self._watch = watch
        self._functions: dict[Any, WatchedAten | None] = {}

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return not SKIPS_FRAMES

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Args = (), kwargs: Keywords | None = None
    ) -> Any:
        try:
            function = self._functions[func]
        except KeyError:
            function = self._functions[func] = self._find(func)
        seen = None if function is None else self._watch.judge(function, args, kwargs or {})
        if seen is not None:
            self._watch.copy_values(seen)
        output = func(*args, **kwargs) if kwargs else func(*args)
        if seen is not None:
            self._watch.read_back(seen, output)
        return output

    def _find(self, func: Any) -> WatchedAten | None:
        if func.namespace not in _KNOWN_NAMESPACES:
            self._watch.unwatched["custom operator|custom operators"] += 1
        name = func._schema.name.partition("::")[2]
        rule = find_rule(name) if func.namespace == "aten" else None
        if rule is None:
            return None
        known = func._schema.arguments
        defaults = {entry.name: entry.default_value for entry in known if entry.has_default_value()}
        parameters = tuple(entry.name for entry in known)
        return WatchedAten(name, f"aten.{name}", rule, parameters, defaults)


if SKIPS_FRAMES:
    _skip = _COMPILER._FrameExecStrategy(_COMPILER._FrameAction.SKIP, _COMPILER._FrameAction.SKIP)
    _COMPILER.set_code_exec_strategy(_DispatchMode.__torch_dispatch__.__code__, _skip)


class _FunctionMode(TorchFunctionMode):
    def __init__(self, watch: TorchWatch) -> None:
        super().__init__()
        self._watch = watch
        self._functions = {
            function: WatchedAten(name, name, rule, rule.parameters, {})
            for name, rule in COMPOSITES.items()
            for owner in (torch, torch.Tensor, torch.nn.functional)
            if (function := getattr(owner, name, None)) is not None
        }

    def __torch_function__(
        self, func: Any, types: Any, args: Args = (), kwargs: Keywords | None = None
    ) -> Any:
        function, seen, named = self._functions.get(func), None, kwargs or {}
        if function is not None:
            inputs = find_operator(function.rule.operator).input_names
            if len(args) + len(named) >= len(inputs):
                seen = self._watch.judge(function, args, named)
        output = func(*args, **named)
        if seen and seen.moved:  # PyTorch 2.4 refuses what later ones take modulo the size
            self._watch.note(seen, "moved", *seen.moved)
        return output


def measure(index: Any) -> tuple[int, int]:
    """The least and the greatest number of a tensor that has some; one wait for another device."""
    steps = index.stride()
    if 0 in steps:  # expanded: the numbers repeat
        index = index[tuple(slice(0, 1 if step == 0 else None) for step in steps)]
    least, greatest = torch.aminmax(index)
    if not index.is_cpu:
        least, greatest = torch.stack((least, greatest)).cpu()
    return least.item(), greatest.item()


def stand_in(tensor: Any) -> Array:
    """An array of the shape and type of a tensor that takes no memory."""
    zero = np.zeros((), parse_dtype(str(tensor.dtype).removeprefix("torch.")))
    return np.broadcast_to(zero, tuple(tensor.shape))


def as_array(tensor: Any) -> Array:
    """The values of a tensor, from whatever device."""
    return from_tensor(tensor.detach().cpu(), "tensor")


def describe_backward() -> str:
    """For which step of autograd a call is made, and where the forward call was."""
    node = torch._C._current_autograd_node()
    if node is None:
        return ""
    lines = [line for line in node.metadata.get("traceback_", ()) if f'"{TORCH}' not in line]
    made = (lines or ["torch.autograd.detect_anomaly tells"])[-1].strip().split("\n")[0].strip()
    return f", in backward of {node.name()} ({made})"
