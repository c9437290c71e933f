"""What `gscli help findings` tells: what released runtimes answer where the rules differ. Light."""

from __future__ import annotations

import json
import shlex
from typing import NamedTuple


class Finding(NamedTuple):
    """What a released runtime answers where the rules say something else, and how to see it."""

    runtime: str
    command: str
    rules: str
    seen: str


SEEN_ON = "22 November 2026"
WIDTH = 70


def _case(runtime: str, operator: str, case: dict[str, object]) -> str:
    """The command that puts one written-out case to a runtime; no output means a refusal."""
    framework, _, op = operator.partition(".")
    expect = "output" if "output" in case else "error"
    whole = {"id": operator, "framework": framework, "op": op, **case, "expect": expect}
    text = json.dumps(whole, separators=(",", ":"))
    return f"gscli verify --on {runtime} {shlex.quote(text)}"


def _tensor(dtype: str, shape: list[int], *data: float | str) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data": list(data)}


FINDINGS: tuple[Finding, ...] = (
    Finding(
        "onnxruntime 1.31.1",
        "gscli compare gather '[[\"ccc\",\"bb\"]]' '[0]' --as onnx --on onnxruntime",
        "[[ccc, bb]]", "[[ccc, (empty)]]: of a slice of strings only the first cell is copied",
    ),
    Finding(
        "onnxruntime 1.31.1",
        _case("onnxruntime", "onnx.TensorScatter", {
            "opset": 24,
            "inputs": {
                "past_cache": _tensor("int64", [1, 2, 1], 1, 2),
                "update": _tensor("int64", [1, 1, 1], 10),
                "write_indices": _tensor("int64", [1], -1),
            },
            "attrs": {"mode": "circular"},
            "output": _tensor("int64", [1, 2, 1], 1, 10),
        }),
        "[[[1], [10]]]", "a refusal of negative write_indices, which onnx.reference wraps around",
    ),
    Finding(
        "onnx.reference 1.23.2",
        "gscli compare gather-elements '[1]' '[0,1]' --as onnx --on onnx",
        "index out of range", "[1, 1]: taken modulo the size",
    ),
    Finding(
        "onnx.reference 1.23.2",
        "gscli compare gather-elements '[1,2]' '[0]' --axis -1 --as onnx --on onnx",
        "[1]", "a refusal, as of all smaller indices but on a positive axis (onnx/onnx#8444)",
    ),
    Finding(
        "onnx.reference 1.23.2",
        "gscli compare scatter-elements '[\"a\"]' '[0]' '[\"b\"]' --reduction add --as onnx "
        "--on onnx",
        "[ab]", "[a]: text is cut to the width of data",
    ),
    Finding(
        "tinygrad 0.14.0",
        "gscli compare scatter-nd '[[-1,-2,-3]]' '[[[0],[0]]]' '[[[2,2,2],[2,2,2]]]' "
        "--reduction mul --as onnx --on tinygrad",
        "[[-4, -8, -12]]", "[[-2, -4, -6]]: of two updates of a row one counts",
    ),
    Finding(
        "tinygrad 0.14.0",
        "gscli compare gather '[10,20,30]' '[0,-1,7]' --as onnx --on tinygrad",
        "index out of range", "[10, 30, 0]",
    ),
    Finding(
        "TVM 0.27.0.post1",
        "gscli compare scatter-elements '[[[10],[50]],[[13],[17]]]' '[[[0]],[[0]]]' "
        "'[[[1]],[[2]]]' --axis -1 --as onnx --on tvm",
        "[[[1], [50]], [[2], [17]]]", "[[[1], [2]], [[13], [17]]]: indices smaller than data",
    ),
    Finding(
        "TVM 0.27.0.post1",
        "gscli compare gather '[10,20,30]' '[0,5]' --as onnx --on tvm",
        "index out of range", "[10, 30064771078]: memory behind data (apache/tvm#20297)",
    ),
    Finding(
        "tract 0.23.9",
        "gscli compare gather-nd '[10,20,30]' '[[-1]]' --as onnx --on tract",
        "[30]", "the process ends (SIGABRT), as it does for indices out of range",
    ),
    Finding(
        "IREE 3.13.0",
        "gscli compare gather '[10,20,30]' '[0,-1,5]' --as onnx --on iree",
        "index out of range", "[10, 30, 0]",
    ),
    Finding(
        "mlx 0.32.4",
        "gscli compare gather '[10,20,30]' '[5]' --as onnx --on mlx",
        "index out of range", "[32]: its documentation leaves this undefined",
    ),
    Finding(
        "onnx2torch 1.5.15",
        "gscli compare gather-elements '[1]' '[-1]' --as onnx --on onnx2torch",
        "[1]", "a refusal of every negative index",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        "gscli compare gather-nd '[10,20,30]' '[[0],[7]]' --as openvino --on openvino",
        "index out of range", "[10, 32681]: memory behind data (openvinotoolkit/openvino#38297)",
    ),
    Finding(
        "NumPy 2.4.6",
        _case("numpy", "numpy.add.at", {
            "inputs": {
                "a": _tensor("float64", [3], 0, 0, 0),
                "indices_0": _tensor("int64", [3, 2], 2, 2, 1, 2, 0, 1),
                "b": _tensor("float64", [2], 1, 9),
            },
            "attrs": {},
            "output": _tensor("float64", [3], 1, 10, 19),
        }),
        "[1.0, 10.0, 19.0]",
        "values from behind b, which stretches over indices of a higher rank",
    ),
    Finding(
        "JAX 0.10.2",
        _case("jax", "jax.at.max", {
            "inputs": {
                "x": _tensor("int64", [2], 1, 2),
                "indices_0": _tensor("bool", [], True),
                "indices_1": _tensor("int64", [1], 1),
                "values": _tensor("int64", [], 9),
            },
            "attrs": {"subscript": "None,i,i"},
            "output": _tensor("int64", [2], 1, 9),
        }),
        "[1, 9]",
        "[9, 2]: behind None a mask without axes takes the axis of the next item, in reads and\n"
        "         writes alike; NumPy's indexing, which JAX promises, and x[True, None] do not",
    ),
    Finding(
        "JAX 0.10.2",
        _case("jax", "jax.lax.scatter_min", {
            "inputs": {
                "operand": _tensor("int64", [0]),
                "scatter_indices": _tensor("int64", [1], 0),
                "updates": _tensor("int64", [], 10),
            },
            "attrs": {
                "mode": "clip", "update_window_dims": [], "inserted_window_dims": [0],
                "scatter_dims_to_operand_dims": [0],
            },
        }),
        "index out of range", "[]: nothing to clip to, and nothing is written",
    ),
    Finding(
        "PyTorch 2.13.0",
        _case("torch", "torch.index_add", {
            "inputs": {
                "input": _tensor("int64", [0, 0]),
                "index": _tensor("int64", [1], 5),
                "source": _tensor("int64", [1, 0]),
            },
            "attrs": {"dim": 0},
        }),
        "index out of range",
        "an answer: where all slices are empty, indices are not looked at, nor by index_copy,\n"
        "         index_fill and x[…] = values",
    ),
    Finding(
        "PyTorch 2.13.0, torch.compile",
        _case("torch:compile", "torch.index_select", {
            "inputs": {
                "input": _tensor("int64", [3], 1, 2, 3),
                "index": _tensor("int64", [1], -1),
            },
            "attrs": {"dim": 0},
        }),
        "negative index",
        "[3]: compiled, -1 counts from the end, in index_add and index_copy too; eager refuses it",
    ),
    Finding(
        "PyTorch 2.13.0, torch.compile",
        _case("torch:compile", "torch.index_add", {
            "inputs": {
                "input": _tensor("bool", [2], True, False),
                "index": _tensor("int64", [1], 1),
                "source": _tensor("bool", [1], True),
            },
            "attrs": {"dim": 0, "alpha": 2},
            "output": _tensor("bool", [2], True, True),
        }),
        "[true, true]", "a refusal of bool with an alpha, which eager takes",
    ),
    Finding(
        "TensorFlow 2.21.0, XLA",
        _case("tensorflow:xla", "tensorflow.gather_nd", {
            "device": "xla_cpu",
            "inputs": {
                "params": _tensor("int64", [1, 1, 1], 1),
                "indices": _tensor("int64", [1], 0),
            },
            "attrs": {"bad_indices_policy": "IGNORE"},
            "output": _tensor("int64", [1, 1], 1),
        }),
        "[[1]]", "a refusal of a single vector whose slice has several axes, under IGNORE",
    ),
    Finding(
        "TensorFlow 2.21.0, XLA",
        _case("tensorflow:xla", "tensorflow.tensor_scatter_nd_add", {
            "device": "xla_cpu",
            "inputs": {
                "tensor": _tensor("int64", [2], 1, 2),
                "indices": _tensor("int64", [1], 0),
                "updates": _tensor("int64", [], 10),
            },
            "attrs": {},
        }),
        "rank 1 is not allowed", "[11, 2]: a single vector, which TensorFlow refuses elsewhere",
    ),
    Finding(
        "TensorFlow 2.21.0, XLA",
        _case("tensorflow:xla", "tensorflow.gather", {
            "device": "xla_cpu",
            "inputs": {"params": _tensor("int64", [0]), "indices": _tensor("int64", [], 0)},
            "attrs": {},
        }),
        "index out of range", "0, read from an empty axis",
    ),
    Finding(
        "TVM 0.27.0.post1",
        _case("tvm", "onnx.Scatter", {
            "opset": 9,
            "inputs": {
                "data": _tensor("int64", [3], 1, 2, 3),
                "indices": _tensor("int64", [1], -1),
                "updates": _tensor("int64", [1], 10),
            },
            "attrs": {},
            "output": _tensor("int64", [3], 1, 2, 10),
        }),
        "[1, 2, 10]", "[1, 2, 3]: nothing is written",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        "gscli compare gather '[1]' '{\"dtype\":\"int64\",\"shape\":[0],\"data\":[]}' --as openvino"
        " --on openvino",
        "[]", "the process ends (SIGFPE), as it does for data without cells",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        "gscli compare gather '[[10,20,30]]' '[[0,1,2]]' --axis 1 --batch-dims 1 --as openvino "
        "--on openvino",
        "[[10, 20, 30]]",
        "no answer, or the process ends (SIGSEGV), or wrong values: a batch of size 1",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        "gscli compare gather '{\"dtype\":\"int32\",\"shape\":[1],\"data\":[1]}' 1 --as openvino "
        "--on openvino",
        "0", "32687: memory behind data, where the text of Gather-8 says 0",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        _case("openvino", "openvino.Gather", {
            "opset": 7,
            "inputs": {
                "data": _tensor("int64", [3], 10, 20, 30),
                "indices": _tensor("int64", [1], -1),
                "axis": _tensor("int64", [], 0),
            },
            "attrs": {},
        }),
        "negative index", "0: Gather-1 and Gather-7 read zero for what is outside",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        "gscli compare gather-elements '[10,20,30]' '[-1]' --as openvino --on openvino",
        "negative index",
        "30 here, elsewhere memory around data, as for every index out of range (0 of empty data)",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        "gscli compare scatter-update '[1,2,3]' 0 10 --as openvino --on openvino",
        "[10, 2, 3]", "a refusal of indices of rank 0",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        "gscli compare scatter-update '[1,2,3]' '[5]' '[10]' --as openvino --on openvino",
        "index out of range",
        "[1, 2, 3] or other numbers: it writes outside data, and for some indices the process ends",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        "gscli compare scatter-nd '[1,2,3]' '[[5]]' '[10]' --as openvino --on openvino",
        "index out of range", "[94714609884579, 0, 357627413760]: the output is not filled",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        _case("openvino", "openvino.ScatterNDUpdate", {
            "opset": 3,
            "inputs": {
                "data": _tensor("int64", [2], 1, 2),
                "indices": _tensor("int64", [1, 1], -1),
                "updates": _tensor("int64", [1], 10),
            },
            "attrs": {},
        }),
        "negative index", "[1, 10]: ScatterNDUpdate-3 counts from the end, as version 15 does",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        _case("openvino", "openvino.ScatterNDUpdate", {
            "opset": 15,
            "inputs": {
                "data": _tensor("bool", [1], False),
                "indices": _tensor("int64", [2, 1], 0, 0),
                "updates": _tensor("bool", [2], True, True),
            },
            "attrs": {"reduction": "sub"},
            "output": _tensor("bool", [1], False),
        }),
        "[false]", "[true]: one update is XOR as the text says, two are no longer",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        "gscli compare scatter-elements '[1,2,3]' '[0,-10]' '[10,11]' --as openvino --on openvino",
        "index out of range",
        "the process ends (SIGSEGV) or hangs: indices below -s are not checked",
    ),
)  # fmt: skip
"""Facts about releases, each seen by its own command."""


def _broken(command: str) -> str:
    """A command on lines that a terminal holds, as a shell reads them."""
    lines = [""]
    for word in map(shlex.quote, shlex.split(command)):
        if lines[-1] and len(lines[-1]) + len(word) > WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n    ".join(lines)


def findings() -> str:
    """The findings, a block each."""
    head = (
        "What released runtimes answered where the rules say something else. Each was seen on "
        f"{SEEN_ON}\nby the command below it, on a CPU; later releases may differ. Put --python "
        "PATH behind a command\nwhen the runtime is in another environment.\n"
    )
    blocks = [
        f"\n{one.runtime}\n  {_broken(one.command)}\n  rules: {one.rules}\n  seen:  {one.seen}\n"
        for one in FINDINGS
    ]
    return head + "".join(blocks)
