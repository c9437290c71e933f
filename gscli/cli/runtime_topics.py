"""What `gscli help runtimes` tells. Light."""

from __future__ import annotations

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

A runtime of one's own is any program that speaks JSON Lines in UTF-8: --on 'perl mine.pl'. Its
first line of output says who it is and what it answers; then it answers every line of input with
one line, in the same order and under the same id, written out at once (flush). It ends when its
input does. Only answers go to stdout; stderr is free. The names of operators are those that
gscli runtimes --serve begins with.

  {"name": "mine", "version": "1.0", "ops": ["onnx.ScatterND", "echo"]}

  {"id": 1, "framework": "onnx", "op": "ScatterND", "opset": 18, "device": "cpu",
   "inputs": {"data": T, "indices": T, "updates": T}, "attrs": {"reduction": "add"}}

  {"id": 1, "output": T}
  {"id": 1, "error": {"type": "IndexError", "message": "…"}}
  {"id": 1, "unsupported": "no kernel for this type"}

T is {"dtype": "float32", "shape": [2, 3], "data": [flat, row-major]}. dtype is a name of NumPy's,
bfloat16 or str; bool is true and false, "nan", "inf" and "-inf" are strings, complex numbers pairs,
integers beyond 2^53 decimal strings. An attribute that is not there has its default, which
gscli help OPERATOR tells. A tuple of index arrays is indices_0, indices_1, …

"error" is a refusal of the call, "unsupported" what the runtime does not have: it is counted, not
judged. With "echo" among its ops (the way in and out is tried before anything is judged) it answers
the input data of such a request unchanged. With "rules": {"device": "xla"} in the first line it
is judged under these attributes.

gscli runtimes --adapter NAME prints an adapter, one file to start from; gscli runtimes --serve is
a runtime that answers by the rules, to try one's own program against.
"""
