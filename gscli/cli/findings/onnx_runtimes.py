"""What runtimes answered that run ONNX models, or stand in for one."""

from __future__ import annotations

from gscli.cli.findings.finding import Finding, case, tensor

ONNX_RUNTIMES: tuple[Finding, ...] = (
    Finding(
        "onnxruntime 1.31.1",
        "gscli compare gather '[[\"ccc\",\"bb\"]]' '[0]' --as onnx --on onnxruntime",
        "[[ccc, bb]]", "[[ccc, (empty)]]: of a slice of strings only the first cell is copied",
    ),
    Finding(
        "onnxruntime 1.31.1",
        case("onnxruntime", "onnx.TensorScatter", {
            "opset": 24,
            "inputs": {
                "past_cache": tensor("int64", [1, 2, 1], 1, 2),
                "update": tensor("int64", [1, 1, 1], 10),
                "write_indices": tensor("int64", [1], -1),
            },
            "attrs": {"mode": "circular"},
            "output": tensor("int64", [1, 2, 1], 1, 10),
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
        "onnx.reference 1.23.2",
        "gscli compare gather-nd '{\"dtype\":\"int64\",\"shape\":[0,2],\"data\":[]}' "
        "'{\"dtype\":\"int64\",\"shape\":[0,1],\"data\":[]}' --batch-dims 1 --as onnx --on onnx",
        "[]", "a refusal of batches of which there are none",
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
        "tinygrad 0.14.0",
        case("tinygrad", "onnx.GatherND", {
            "opset": 13,
            "inputs": {
                "data": tensor("bool", [1, 1], True),
                "indices": tensor("int64", [2], 0, 0),
            },
            "attrs": {},
            "output": tensor("bool", [], True),
        }),
        "true", "1: bool becomes an integer",
    ),
    Finding(
        "tinygrad 0.14.0",
        "gscli compare scatter-nd '[1,2,3]' '[0]' 10 --as onnx --on tinygrad",
        "[10, 2, 3]", "a refusal of indices of rank 1",
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
        "TVM 0.27.0.post1",
        case("tvm", "onnx.Scatter", {
            "opset": 9,
            "inputs": {
                "data": tensor("int64", [3], 1, 2, 3),
                "indices": tensor("int64", [1], -1),
                "updates": tensor("int64", [1], 10),
            },
            "attrs": {},
            "output": tensor("int64", [3], 1, 2, 10),
        }),
        "[1, 2, 10]", "[1, 2, 3]: nothing is written",
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
        "IREE 3.13.0",
        case("iree", "onnx.Scatter", {
            "opset": 9,
            "inputs": {
                "data": tensor("int64", [3], 1, 2, 3),
                "indices": tensor("int64", [1], -1),
                "updates": tensor("int64", [1], 10),
            },
            "attrs": {},
            "output": tensor("int64", [3], 1, 2, 10),
        }),
        "[1, 2, 10]", "the process ends (SIGSEGV), or nothing is written",
    ),
    Finding(
        "mlx 0.32.4",
        "gscli compare gather '[10,20,30]' '[5]' --as onnx --on mlx",
        "index out of range", "[32], or the process ends (SIGSEGV): documented as undefined",
    ),
    Finding(
        "onnx2torch 1.5.15",
        "gscli compare gather-elements '[1]' '[-1]' --as onnx --on onnx2torch",
        "[1]", "a refusal of every negative index",
    ),
    Finding(
        "Paddle 3.3.1",
        "gscli compare gather-elements '{\"dtype\":\"int64\",\"shape\":[0],\"data\":[]}' '[0]' "
        "--as onnx --on paddle",
        "index out of range",
        "0: indices into empty data are not checked; gather reads memory, and scatter_nd_add\n"
        "         writes nothing",
    ),
)  # fmt: skip
