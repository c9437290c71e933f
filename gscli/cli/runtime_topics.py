"""What `gscli help runtimes` and `gscli help findings` tell. Light."""

from __future__ import annotations

from typing import NamedTuple

RUNTIMES = """\
gscli can put calls to an installed runtime and hold its answers against the rules:

  gscli fuzz OP… --on R          random calls; what differs is made small and told once per kind
  gscli verify CASES… --on R     recorded cases
  gscli compare … --on R         a row with the runtime's own answer
  gscli cases OP… -o FOLDER      cases for a CI that cannot call gscli
  gscli runtimes                 what is installed

R is a name (onnxruntime), a name and a variant (torch:compile, tensorflow:xla,
onnxruntime:CUDAExecutionProvider), a class MODULE:CLASS that is an onnx.backend.base.Backend, or a
quoted command. --python PATH names the interpreter that has the runtime. A runtime with rules of
its own here is judged by them, one that runs ONNX models by ONNX's. Nothing is sent anywhere: the
runtime is a process on this machine, and a crash, a hang, garbage or too much memory (4 GiB) is an
answer like any other. An adapter has to pass a self-test on legal calls before it judges.

Failures: another value, shape or type; a refusal of what the rules allow; a process that ends,
hangs or answers garbage; an answer that changes (--repeat 3). Warnings, which --strict makes
failures: an answer where the rules refuse; another winner where the order of duplicates is open.
--except FILE holds the lines "known as:" of differences that are known; * stands for anything.

A runtime of one's own is any program that speaks JSON Lines. Its first line of output says who it
is; then it answers every line of input with one line, in the same order:

  {"name": "mine", "version": "1.0", "ops": ["onnx.ScatterND"]}

  {"id": 1, "framework": "onnx", "op": "ScatterND", "opset": 18, "device": "cpu",
   "inputs": {"data": T, "indices": T, "updates": T}, "attrs": {"reduction": "add"}}

  {"id": 1, "output": T}
  {"id": 1, "error": {"type": "IndexError", "message": "…"}}
  {"id": 1, "unsupported": "no kernel for this type"}

T is {"dtype": "float32", "shape": [2, 3], "data": [flat, row-major]}; nan and infinities are
strings, complex numbers pairs, integers beyond 2^53 decimal strings. A tuple of index arrays is
indices_0, indices_1, …. With "rules": {"device": "xla"} in the first line the runtime is judged
under these attributes; with "echo" among its ops it says the tensor data of such a request again.

gscli runtimes --adapter NAME prints an adapter, one file to start from; gscli runtimes --serve is
a runtime that answers by the rules, to try one's own program against.
"""


class Finding(NamedTuple):
    """What a released runtime answers where the rules say something else, and how to see it."""

    runtime: str
    command: str
    rules: str
    seen: str


SEEN_ON = "22 November 2026"

FINDINGS: tuple[Finding, ...] = (
    Finding(
        "onnxruntime 1.31.1",
        "gscli compare gather '[[\"ccc\",\"bb\"]]' '[0]' --as onnx --on onnxruntime",
        "[[ccc, bb]]", "[[ccc, (empty)]]: of a slice of strings only the first cell is copied",
    ),
    Finding(
        "NumPy 2.4.6",
        "gscli fuzz numpy.subtract-at --on numpy --cases 2000",
        "[-41] for 1 minus 10, 11, 10, 11",
        "values from behind b, where b stretches over indices of a higher rank",
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
        "PyTorch 2.13.0",
        "gscli fuzz torch.index-add --on torch --cases 2000",
        "index out of range", "no refusal where all slices are empty: indices are not looked at",
    ),
    Finding(
        "StableHLO interpreter, jaxlib 0.10.2",
        "gscli fuzz stablehlo.scatter --on stablehlo --cases 2000",
        "the last update in row-major order of the indices",
        "another one where windows overlap; the text leaves the order open",
    ),
)  # fmt: skip
"""Facts about releases, each seen by its own command."""


def findings() -> str:
    """The findings, a block each."""
    head = (
        "What released runtimes answered where the rules say something else. Each was seen on "
        f"{SEEN_ON}\nby the command below it, on a CPU; later releases may differ. Put --python "
        "PATH behind a command\nwhen the runtime is in another environment.\n"
    )
    blocks = [
        f"\n{one.runtime}\n  {one.command}\n  rules: {one.rules}\n  seen:  {one.seen}\n"
        for one in FINDINGS
    ]
    return head + "".join(blocks)
