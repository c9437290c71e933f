"""What OpenVINO answered on a CPU."""

from __future__ import annotations

from gscli.cli.findings.finding import Finding, case, tensor

OPENVINO: tuple[Finding, ...] = (
    Finding(
        "OpenVINO 2026.4.1",
        "gscli compare gather-nd '[10,20,30]' '[[0],[7]]' --as openvino --on openvino",
        "index out of range",
        "[10, 32681]: memory behind data; far outside the process ends (SIGSEGV) or hangs\n"
        "         (openvinotoolkit/openvino#38297)",
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
        case("openvino", "openvino.Gather", {
            "opset": 7,
            "inputs": {
                "data": tensor("int64", [3], 10, 20, 30),
                "indices": tensor("int64", [1], -1),
                "axis": tensor("int64", [], 0),
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
        case("openvino", "openvino.ScatterNDUpdate", {
            "opset": 3,
            "inputs": {
                "data": tensor("int64", [2], 1, 2),
                "indices": tensor("int64", [1, 1], -1),
                "updates": tensor("int64", [1], 10),
            },
            "attrs": {},
        }),
        "negative index", "[1, 10]: ScatterNDUpdate-3 counts from the end, as version 15 does",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        case("openvino", "openvino.ScatterNDUpdate", {
            "opset": 15,
            "inputs": {
                "data": tensor("bool", [1], False),
                "indices": tensor("int64", [2, 1], 0, 0),
                "updates": tensor("bool", [2], True, True),
            },
            "attrs": {"reduction": "sub"},
            "output": tensor("bool", [1], False),
        }),
        "[false]", "[true]: one update is XOR as the text says, two are no longer",
    ),
    Finding(
        "OpenVINO 2026.4.1",
        "gscli compare scatter-elements '[1,2,3]' '[0,-10]' '[10,11]' --as openvino --on openvino",
        "index out of range",
        "the process ends (SIGSEGV) or hangs: indices below -s are not checked, nor are those\n"
        "         that 32 bits do not hold",
    ),
)  # fmt: skip
