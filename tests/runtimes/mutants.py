"""Runtimes that go by the rules but for one planted fault each, in this process and so at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gscli.base import GscliError
from gscli.base.arrays import Array
from gscli.frameworks.operator import Operator
from gscli.runtimes.protocol import Hello, Reply
from gscli.runtimes.shrinking import _list_index_names
from gscli.runtimes.trials import FuzzCase

Inputs = dict[str, Array]
Misreading = Callable[[FuzzCase], FuzzCase]
Spoiling = Callable[[FuzzCase, Array], Array | str | None]


class Mutant:
    """What `fuzz` asks in place of a process; `misread` changes the call, `spoil` the answer."""

    restarts, call_count, is_spoiled = 0, 0, False
    patience = 1.0

    def __init__(
        self, misread: Misreading = lambda case: case, spoil: Spoiling = lambda _, output: output
    ) -> None:
        self.hello = Hello("mutant", "1", frozenset())
        self._misread, self._spoil = misread, spoil

    def stop(self) -> None:
        """A new process: it was asked nothing yet."""
        self.call_count = 0

    def run_call(
        self, operator: Operator, inputs: Mapping[str, Array], attrs: Mapping[str, object],
        _cotangent: Array | None = None,
    ) -> Reply:  # fmt: skip
        self.call_count += 1
        case = FuzzCase(operator, inputs, attrs)
        expected = self._misread(case).expected_result
        if isinstance(expected, GscliError):
            return Reply("error", text=expected.problem)
        said = self._spoil(case, expected.output)
        return Reply("error", text=said) if isinstance(said, str) else Reply("output", said)


def indices(change: Callable[[Array, int], Array]) -> Misreading:
    """Index numbers are read otherwise; the second argument is the size of their axis."""

    def misread(case: FuzzCase) -> FuzzCase:
        plan, changed = case.plan, dict(case.inputs)
        if plan is None:
            return case
        names = _list_index_names(case)
        sizes = {
            column.source: plan.layout.axes[axis].size
            for column, axis in zip(
                plan.layout.addressing.columns, plan.layout.column_axes, strict=True
            )
        }
        for name in names & changed.keys():
            if changed[name].dtype.kind in "iu":
                numbers = np.asarray(change(changed[name].astype(object), sizes.get(name, 1)))
                is_far = any(number >= 1 << 63 for number in numbers.reshape(-1).tolist())
                changed[name] = numbers.astype(np.uint64 if is_far else np.int64)
        return replace(case, inputs=changed)

    return misread


def each(function: Callable[[int, int], int]) -> Misreading:
    """The same for one number."""

    def change(array: Array, size: int) -> Array:
        return np.array([function(int(x), size) for x in array.reshape(-1)], object).reshape(
            array.shape
        )

    return indices(change)


def without(*names: str) -> Misreading:
    """Attributes are not read."""
    return lambda case: replace(
        case, attrs={key: value for key, value in case.attrs.items() if key not in names}
    )


def instead(name: str, change: Callable[[Any], object]) -> Misreading:
    """An attribute is read otherwise, where it is given."""

    def misread(case: FuzzCase) -> FuzzCase:
        if name not in case.attrs:
            return case
        return replace(case, attrs={**case.attrs, name: change(case.attrs[name])})

    return misread


def inputs(change: Callable[[Array], Array], kinds: str) -> Misreading:
    """Every tensor of some kinds that holds values goes in as another."""

    def misread(case: FuzzCase) -> FuzzCase:
        names = _list_index_names(case)
        with np.errstate(all="ignore"):
            return replace(case, inputs={
                name: change(array) if array.dtype.kind in kinds and name not in names else array
                for name, array in case.inputs.items()
            })  # fmt: skip

    return misread


def cells(change: Callable[[Array], Array], kinds: str) -> Spoiling:
    """The answer's cells are others, where it is of some kinds."""

    def spoil(_case: FuzzCase, output: Array) -> Array:
        if output.dtype.kind not in kinds:
            return output
        with np.errstate(all="ignore"):
            return np.asarray(change(output.copy()))

    return spoil


def refusing(text: str, when: Callable[[FuzzCase], bool]) -> Spoiling:
    """Some calls are refused."""
    return lambda case, output: text if when(case) else output


def answering(when: Callable[[FuzzCase], bool], change: Callable[[Array], Array]) -> Spoiling:
    """Some calls are answered otherwise."""
    return lambda case, output: np.asarray(change(output)) if when(case) else output


def meets(rule: str) -> Callable[[FuzzCase], bool]:
    return lambda case: rule in case.covered_rules


def through(dtype: Any) -> Callable[[Array], Array]:
    return lambda array: array.astype(dtype).astype(array.dtype)


def last_is_zero(array: Array) -> Array:
    if array.size > 1:
        array.reshape(-1)[-1] = 0
    return array


def saturated(case: FuzzCase) -> FuzzCase:
    """Values near the limits of a type of 8 bits are cut before they are used."""
    return inputs(lambda array: array.clip(-100, 100) if array.itemsize == 1 else array, "iu")(case)


def reversed_updates(case: FuzzCase) -> bool:
    return any(rule.startswith("duplicates") for rule in case.covered_rules)


NEG_ZERO = each(lambda x, s: 0 if -s <= x < 0 else x)
NEG_OFF = each(lambda x, s: max(x + s - 1, 0) if -s <= x < 0 else x)
LAST_OFF = each(lambda x, s: x - 1 if x == s - 1 and s > 1 else x)
CLAMP = each(lambda x, s: min(max(x, -s), s - 1) if s else x)
MODULO = each(lambda x, s: x % s if s else x)
CUT_32 = each(lambda x, _s: (x + (1 << 31)) % (1 << 32) - (1 << 31))
CUT_8 = each(lambda x, _s: (x + (1 << 7)) % (1 << 8) - (1 << 7))
UNSIGNED_AS_SIGNED = each(lambda x, _s: x - (1 << 64) if x >= 1 << 63 else x)
FLOATED = each(lambda x, _s: int(float(x)) if abs(x) > 1 << 53 else x)
BORDER = each(lambda x, s: 0 if x == -s else x)
ZERO_NAN = cells(lambda a: np.nan_to_num(a, nan=0.0, posinf=np.inf, neginf=-np.inf), "f")
MAX_INF = cells(lambda a: np.where(np.isinf(a), np.copysign(np.finfo(a.dtype).max, a), a).astype(
    a.dtype), "f")  # fmt: skip
UNSIGNED_ZERO = cells(lambda a: a + np.asarray(0, a.dtype), "f")
WHOLE = cells(np.trunc, "f")
FLUSHED = cells(lambda a: np.where(np.abs(a) < 1e-30, 0, a).astype(a.dtype), "f")
TEXT_CUT = cells(lambda a: a.astype("U2").astype(a.dtype), "U")
TEXT_ASCII = cells(lambda a: np.char.replace(np.char.replace(a, "ü", "?"), "日", "?"), "U")
TEXT_EMPTY = cells(lambda a: np.where(a == "", "None", a), "U")
REAL = cells(lambda a: a.real.astype(a.dtype), "c")
WIDENED = cells(lambda a: a.astype(np.float64) if a.dtype == np.float32 else a, "f")
AS_INT = cells(lambda a: a.astype(np.int64), "b")
VECTOR = cells(lambda a: a.reshape(1) if not a.ndim else a, "biufcU")
LAST_LOST = cells(last_is_zero, "iuf")
NO_EMPTY = refusing("nothing to do", meets("no entries"))
NO_NEGATIVE = refusing("negative index", meets("negative index"))
NO_RANK_0 = refusing("rank 0", meets("indices of rank 0"))
NO_EMPTY_DATA = refusing("empty data", meets("empty data"))
NO_RANK_4 = refusing("rank", meets("rank 4 or more"))
NO_INT32 = refusing("index type", meets("indices int32"))


class Fault(NamedTuple):
    """A planted fault, the kind of difference that it is, and a word of the finding's name."""

    operator: str
    mutant: Mutant
    kind: str
    word: str = ""


def read(operator: str, misreading: Misreading, kind: str = "value", word: str = "") -> Fault:
    return Fault(operator, Mutant(misreading), kind, word)


def said(operator: str, spoiling: Spoiling, kind: str = "value", word: str = "") -> Fault:
    return Fault(operator, Mutant(spoil=spoiling), kind, word)


NEG, LARGE, SMALL = "negative index", "index too large", "index too small"

# Every planted fault by its name.
FAULTS = {
    "onnx negative is zero": read("onnx.gather", NEG_ZERO, word=NEG),
    "onnx negative one too far": read("onnx.gather_nd", NEG_OFF, word=NEG),
    "onnx negative refused": said("onnx.scatter_nd", NO_NEGATIVE, "refuses", NEG),
    "onnx last position off": read("onnx.gather_elements", LAST_OFF),
    "onnx clamps": read("onnx.gather", CLAMP, "answers", "index too"),
    "onnx wraps modulo": read("onnx.scatter_elements", MODULO, "answers", "index too"),
    "onnx cuts indices to 32 bits": read("onnx.gather_nd", CUT_32, "answers", "index too"),
    "onnx lowest index is zero": read("onnx.gather", each(
        lambda x, s: 1 if x == -s and s > 1 else x), word=NEG),
    "onnx axis not read": read("onnx.gather_elements", without("axis")),
    "onnx axis from the end is the first": read(
        "onnx.gather", instead("axis", lambda axis: max(axis, 0)), "value", "axis from the end"),
    "onnx batch axes not read": read("onnx.gather_nd", without("batch_dims"), "shape", "batch"),
    "onnx reduction not read": read("onnx.scatter_nd", without("reduction"), "value"),
    "onnx max is min": read("onnx.scatter_elements", instead(
        "reduction", lambda r: {"max": "min"}.get(r, r)), "value", "reduction=max"),
    "onnx mul is add": read("onnx.scatter_nd", instead(
        "reduction", lambda r: {"mul": "add"}.get(r, r)), "value", "reduction=mul"),
    "onnx circular is linear": read("onnx.tensor_scatter", without("mode"), "refuses", "circular"),
    "onnx text is cut": said("onnx.gather", TEXT_CUT, word="str"),
    "onnx text loses what is not ASCII": said(
        "onnx.gather_elements", TEXT_ASCII, word="beyond ASCII"),
    "onnx empty text is None": said("onnx.gather_nd", TEXT_EMPTY, word="empty text"),
    "onnx bool becomes a number": said("onnx.gather_nd", AS_INT, "dtype", "bool"),
    "onnx float32 is widened": said("onnx.gather_elements", WIDENED, "dtype"),
    "onnx scalar becomes a vector": said("onnx.gather", VECTOR, "shape", "rank 0"),
    "onnx no entries refused": said("onnx.gather", NO_EMPTY, "refuses", "no entries"),
    "onnx infinity is the largest": said("onnx.gather", MAX_INF, word="infinity"),
    "onnx int32 indices refused": said("onnx.gather_elements", NO_INT32, "refuses", "int32"),
    "onnx int64 through float64": read(
        "onnx.gather", inputs(through(np.float64), "iu"), word="beyond 32 bits"),
    "onnx complex is real": said("onnx.gather", REAL, word="complex"),
    "numpy lowest index": read("numpy.take", each(
        lambda x, s: 1 if x == -s and s > 1 else x), word=NEG),
    "numpy negative is zero": read("numpy.take_along_axis", NEG_ZERO, word=NEG),
    "numpy mode not read": read("numpy.take", without("mode"), "refuses", "mode="),
    "numpy wrap is clip": read("numpy.put", instead(
        "mode", lambda m: {"wrap": "clip"}.get(m, m)), "value", "mode=wrap"),
    "numpy sign of zero is lost": said("numpy.take", UNSIGNED_ZERO, word="zero below zero"),
    "numpy subnormal numbers are flushed": said("numpy.getitem", FLUSHED),
    "numpy float64 through float32": read("numpy.getitem", inputs(through(np.float32), "f")),
    "numpy a mask of rank 0 refused": said(
        "numpy.getitem", refusing("mask", meets("mask of rank 0")), "refuses", "mask of rank 0"),
    "numpy None refused": said(
        "numpy.setitem", refusing("None", meets("None in a subscript")), "refuses", "None"),
    "numpy duplicates count once": said("numpy.add.at", answering(
        meets("duplicates under add"), lambda a: a * 0), word="duplicates under add"),
    "torch negative refused": said("torch.take", NO_NEGATIVE, "refuses", NEG),
    "torch negative wraps": read("torch.gather", each(
        lambda x, s: x + s if -s <= x < 0 else x), "answers"),
    "torch alpha not read": read("torch.index_add", without("alpha")),
    "torch amax is amin": read("torch.scatter_reduce", instead(
        "reduce", lambda r: {"amax": "amin"}.get(r, r)), "value", "amax"),
    "torch include_self not read": read("torch.scatter_reduce", without("include_self"), "value",
                                        "include_self"),
    "torch accumulate not read": read("torch.index_put_", without("accumulate"), "value",
                                      "accumulate"),
    "torch put accumulate not read": read("torch.put_", without("accumulate"), "value",
                                          "accumulate"),
    "torch NaN is zero": said("torch.index_select", ZERO_NAN, word="NaN"),
    "torch bfloat16 through float16": said("torch.gather", answering(
        meets("data bfloat16"), lambda a: a.astype(np.float16)), "dtype", "bfloat16"),
    "torch int8 saturates": read("torch.gather", saturated),
    "torch rank 0 refused": said("torch.index_copy", NO_RANK_0, "refuses", "rank 0"),
    "torch last update is lost": said("torch.index_copy", LAST_LOST),
    "jax fill is clip": read("jax.take", instead(
        "mode", lambda m: {"fill": "clip"}.get(m, m)), "value", "mode=fill"),
    "jax drop is clip": read("jax.at.set", instead(
        "mode", lambda m: {"drop": "clip"}.get(m, m)), "value", "mode=drop"),
    "jax unique_indices is believed too much": said("jax.at.add", answering(
        lambda case: bool(case.attrs.get("unique_indices")), lambda a: a * 0), word="unique"),
    "jax indices_are_sorted is believed too much": said("jax.at.get", answering(
        lambda case: bool(case.attrs.get("indices_are_sorted")), lambda a: a * 0), word="sorted"),
    "jax batching axes refused": said("jax.lax.gather", refusing(
        "batching", lambda case: bool(case.attrs.get("operand_batching_dims"))),
        "refuses", "batch"),
    "jax negative not wrapped": read("jax.at.max", NEG_ZERO, word=NEG),
    "stablehlo uint64 is read as int64": read(
        "stablehlo.gather", UNSIGNED_AS_SIGNED, word="uint64"),
    "jax rank 4 refused": said("jax.take_along_axis", NO_RANK_4, "refuses", "rank 4"),
    "jax infinity is the largest": said("jax.lax.gather", MAX_INF, word="infinity"),
    "tensorflow batch axes not read": read("tensorflow.gather", without("batch_dims"), "shape",
                                           "batch"),
    "tensorflow fractions are cut": said("tensorflow.gather_nd", WHOLE, word="fractions"),
    "tensorflow empty data refused": said(
        "tensorflow.gather_nd", NO_EMPTY_DATA, "refuses", "empty"),
    "tensorflow text is cut": said("tensorflow.gather", TEXT_CUT, word="str"),
    "tensorflow last row is lost": said("tensorflow.scatter_nd", LAST_LOST),
    "tensorflow sub is add": read("tensorflow.tensor_scatter_nd_sub", inputs(
        lambda a: -a if a.dtype.kind == "f" else a, "f")),
    "tensorflow int32 indices refused": said("tensorflow.unsorted_segment_sum", NO_INT32, "refuses",
                                             "int32"),
    "openvino batch axes not read": read(
        "openvino.gather", without("batch_dims"), "shape", "batch"),
    "openvino rank 0 refused": said("openvino.scatter_update", NO_RANK_0, "refuses", "rank 0"),
    "openvino float64 through float32": read(
        "openvino.gather_elements", inputs(through(np.float32), "f")),
    "openvino int64 through int32": read(
        "openvino.scatter_update", inputs(through(np.int32), "iu")),
    "openvino negative is zero": read("openvino.gather", NEG_ZERO, word=NEG),
    "openvino reduction not read": read("openvino.scatter_elements_update", without("reduction")),
    "stablehlo clamps to the first": read("stablehlo.gather", each(
        lambda x, _s: max(x, 0) if x < 1 << 31 else 0), word="index too large"),
    "stablehlo batching axes refused": said("stablehlo.scatter", refusing(
        "batching", lambda case: bool(case.attrs.get("input_batching_dims"))), "refuses", "batch"),
    "stablehlo sign of zero is lost": said("stablehlo.gather", UNSIGNED_ZERO, word="zero below"),
    "mxnet mode wrap is clip": read("mxnet.take", instead(
        "mode", lambda m: {"wrap": "clip"}.get(m, m)), "value", "mode=wrap"),
    "caffe2 negative is zero": read("caffe2.gather", NEG_ZERO, word=NEG),
}  # fmt: skip
