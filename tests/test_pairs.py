"""Where two features meet: a fact is the same by every way to it, and no option is void by another.

Each table crosses calls, which have the marks of all families (masks, empties, rank 0, limits of
types, NaN, devices, modes, batches), with the ways to run, expect, judge and derive them.
"""

from __future__ import annotations

import itertools
import json
import re
import shlex
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Array, slow
from shell import call_gscli

import gscli
from gscli.base import GscliError
from gscli.files import content
from gscli.files.formats.jsonarray import dump_arrays, dump_json
from gscli.frameworks import find_operator
from gscli.frameworks.notices import REQUESTED_POLICIES
from gscli.lab.calls import dump_call
from gscli.lab.cases import build_command

NAN, INF, BIG = float("nan"), float("inf"), 2**63 - 1

# An operator, its inputs in their order with their types, and its attributes.
CALLS: list[tuple[str, str, dict[str, object]]] = [
    ("onnx.gather", "float32 [[1.5,2.5],[3.5,4.5]]; int64 [0,-1]", {"axis": 1}),
    ("onnx.gather", "int64 [1,2,3]; int32 [0,7,-9]", {}),
    ("onnx.gather", "float64 []; int64 []", {}),
    ("onnx.gather", "float64 [NaN,Infinity,-0.0]; int64 1", {}),
    ("onnx.gather_elements", "int8 [[127,-128],[0,1]]; int64 [[1,-2]]", {"axis": 0}),
    ("onnx.gather_nd", "float16 [[1,2],[3,4]]; int64 [[-1],[0]]", {"batch_dims": 1}),
    ("onnx.scatter_elements", "float32 [1,2,3]; int32 [0,0,-1]; float32 [4,5,NaN]",
     {"reduction": "max"}),
    ("onnx.scatter_nd", "int64 [1,2,3]; int64 [[0],[0]]; int64 [7,8]", {}),
    ("onnx.scatter_nd", "float64 [[1,2],[3,4]]; int64 [[1]]; float64 [[0.5,2]]",
     {"reduction": "mul"}),
    ("onnx.scatter_nd", "uint8 [250,2]; int64 [[0],[5]]; uint8 [9,9]", {"reduction": "add"}),
    ("openvino.gather", "float32 [1,2,3]; int32 [0,7]; int64 0", {"opset": 8}),
    ("openvino.scatter_elements_update", "float32 [1,2]; int32 [0,0]; float32 [4,8]; int32 0",
     {"reduction": "mean", "use_init_val": False}),
    ("numpy.take", "int64 [[1,2],[3,4]]; int64 [5,-6]", {"mode": "wrap"}),
    ("numpy.compress", "bool [true,false]; float64 [1.5,2.5]", {}),
    ("numpy.add.at", "float64 [1,2,3]; int64 [0,0]; float64 10", {}),
    ("tensorflow.gather", "float32 [[1,2],[3,4]]; int32 [[1],[9]]",
     {"axis": 1, "batch_dims": 1, "device": "gpu"}),
    ("tensorflow.gather_nd", "float32 [1,2,3]; int64 [[-1],[7]]",
     {"device": "xla", "bad_indices_policy": "ERROR"}),
    ("tensorflow.tensor_scatter_nd_add", "float32 [1,2]; int32 [[7],[0]]; float32 [4,5]",
     {"device": "gpu", "bad_indices_policy": "DEFAULT"}),
    ("tensorflow.unsorted_segment_mean", "float64 [1,2,4]; int32 [2,-1,2]", {"num_segments": 3}),
    ("mxnet.pick", "float32 [[1,2],[3,4]]; float32 [9,-1]", {"keepdims": True}),
    ("caffe2.gather", "float32 [[1,2],[3,4]]; int32 [-1]", {}),
    ("torch.gather", "float64 [1,2]; int64 [-1]", {"dim": 0}),
    ("torch.scatter_reduce", "float64 [1,2]; int64 [0,0]; float64 [1,1]",
     {"dim": 0, "reduce": "amax"}),
    ("torch.index_fill", "int64 [1,2,3]; int64 [-1]", {"dim": 0, "value": BIG}),
    ("torch.masked_select", "complex64 [1,2]; bool [[true],[false]]", {}),
    ("torch.embedding_bag", "int64 [0,1,1]; float32 [[1.5],[2.5]]; int64 [0,0,2]", {"mode": "max"}),
    ("torch.nll_loss", "float32 [[-1.5,-2.5],[-0.5,-0.25]]; int64 [1,-100]; float32 [2,3]", {}),
    ("jax.at.get", "float32 [1,2,3]; int64 [-9,1]", {"mode": "promise_in_bounds"}),
    ("jax.at.add", "bfloat16 [1,2,3]; uint8 [200,0]; bfloat16 2", {"mode": "promise_in_bounds"}),
    ("jax.at.set", "int32 [1,2,3]; int64 [-1,5]; int32 [8,9]",
     {"mode": "clip", "wrap_negative_indices": False}),
    ("jax.take", "float32 [1,2,3]; int32 [5,-1]", {"mode": "fill", "fill_value": 7}),
    ("jax.segment_sum", "float64 [1,2,4]; int64 [0,5,0]", {"num_segments": 2}),
    ("stablehlo.scatter", "float32 [1,2,3]; int64 [[0],[9]]; float32 [8,9]",
     {"inserted_window_dims": [0], "scatter_dims_to_operand_dims": [0], "index_vector_dim": 1,
      "update_computation": "add"}),
]  # fmt: skip
each_call = pytest.mark.parametrize("number", [*range(0, len(CALLS), 4), *slow(
    number for number in range(len(CALLS)) if number % 4
)])  # fmt: skip


def inputs_of(number: int) -> dict[str, Array]:
    """The inputs of a call by name."""
    name, texts, _ = CALLS[number]
    arrays: list[Array] = []
    for text in texts.split("; "):
        dtype, _, values = text.partition(" ")
        arrays.append(gscli.load(json.dumps(dump_json(np.array(json.loads(values)))), dtype=dtype))
    items = find_operator(name).inputs
    names = [item.name + "_0" * (item.kind == "many") for item in items]
    return dict(zip(names, arrays, strict=False))


class Call:
    """A call, and what its ways say of it."""

    def __init__(self, number: int) -> None:
        self.name, _, self.attrs = CALLS[number]
        self.inputs, self.operator = inputs_of(number), find_operator(self.name)
        words = {name: json.dumps(tensor) for name, tensor in dump_arrays(self.inputs).items()}
        self.words = shlex.split(build_command(self.operator, self.attrs, words))[1:]
        self.error: GscliError | None = None
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                self.output = gscli.run(self.name, self.inputs, self.attrs)
            except GscliError as error:
                self.error = error
        self.warning_count = len(told)

    def run(self, *options: str, before: str = "") -> tuple[int, Any]:
        """Exit status and document of a command on the call."""
        done = call_gscli(*before.split(), *self.words, *options)
        text = (done.stdout or done.stderr).decode()
        assert done.returncode in (0, 1, 65), done
        documents = [line for line in text.splitlines() if line.startswith("{")]
        return done.returncode, json.loads(documents[0]) if documents else text

    def run_job(self, **more: object) -> dict[str, Any]:
        """The call as a line of gscli batch."""
        job = {"op": self.name, "inputs": dump_arrays(self.inputs), "attrs": self.attrs, **more}
        done = call_gscli("batch", stdin=json.dumps(job).encode())
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    def verify(self, **more: object) -> bool:
        """Whether the call passes as a recorded case."""
        case = {"id": "x", **dump_call(self.operator, self.inputs, self.attrs), **more}
        return call_gscli("verify", json.dumps(case)).returncode == 0


@each_call
def test_a_run_is_the_same_by_every_way(number: int, tmp_path: Path) -> None:
    call = Call(number)
    status, document = call.run("--json")
    job, (found, checked) = call.run_job(), call.run("--json", before="check")
    kinds = {finding["kind"] for finding in checked["findings"]}
    assert found == bool(checked["count"])
    assert bool(kinds & {"index", "inputs"}) == (call.error is not None)
    assert call.run("--json", before="explain") == (status, document)
    listed = gscli.check(call.name, call.inputs, call.attrs)
    assert sum(one.count for one in listed) == checked["count"]
    if call.error is not None:
        facts = [document["error"][key] for key in ("code", "problem", "valid")]
        assert facts == [job["error"][key] for key in ("code", "problem", "valid")]
        assert facts == [status, call.error.problem, call.error.valid]
        assert call.verify(expect="error")
        return
    output = dump_json(call.output)
    assert output == document["output"] == job["output"] == call.run("--json=output")[1]
    assert call.verify(expect="output", output=output)
    assert len(document["warnings"]) == call.warning_count == len(job.get("warnings", ()))
    assert call.run("--strict", "-q")[0] == bool(call.warning_count)
    assert call.warning_count <= checked["count"]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document))
    for options in ((), ("--quiz",)):
        assert (
            call_gscli("page", str(path), "-o", str(tmp_path / "a.html"), *options).returncode == 0
        )
    skipped = sum(entry["status"] == "skip" for entry in document["entries"])
    for text in (call.run()[1], call.run("--plain")[1], call.run(before="explain")[1]):
        dropped = re.findall(r"(\d+) of \d+ (?:entries|entry) dropped", text)
        assert dropped in ([], [str(skipped)])


@each_call
def test_what_is_silent_was_asked_for_by_name(number: int) -> None:
    """An index that is moved is warned of, unless a policy says that it shall be."""
    call = Call(number)
    if call.error is not None or call.attrs.get("mode") in REQUESTED_POLICIES:
        return
    checked = gscli.check(call.name, call.inputs, call.attrs)
    moved = any(one.kind == "moved" and "ignored" not in one.problem for one in checked)
    told = gscli.trace(call.name, call.inputs, call.attrs).warnings
    assert not moved or told


@each_call
def test_what_is_expected_is_held_in_the_same_way_everywhere(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Call(number)
    if call.error is not None or not call.output.size:
        return
    monkeypatch.setattr(content, "MIN_MAP_BYTES", 1)
    other = call.output.copy()
    other.reshape(-1)[-1] = 0 if other.reshape(-1)[-1] else 1
    for wanted in (call.output, other):
        expected = json.dumps(dump_json(wanted))
        status, document = call.run("--expect", expected, "--json")
        told = document["expectation"]
        assert (status == 0) == told["equal"] == (wanted is call.output)
        assert call.run("--expect", expected, "--json", before="explain") == (status, document)
        assert call.run_job(expect=dump_json(wanted))["expectation"] == told
        streamed = call.run("--expect", expected, "--json", "-o", str(tmp_path / "o.npy"))
        assert streamed == (status, document)
        differs = call_gscli("diff", json.dumps(dump_json(call.output)), expected, "--json")
        assert differs.returncode == status
        assert json.loads(differs.stdout)["different"] == told["different"]
        for options in ((), ("--plain",), ("--step",), ("-q",)):
            code, text = call.run("--expect", expected, *options)
            counts = re.findall(r"(\d+) of (\d+) cells? differs?", text)
            assert (code, counts[:1]) == (
                status, [(str(told["different"]), str(told["cells"]))] * (not told["equal"])
            )  # fmt: skip
            assert all(cause["cause"] in text for cause in told.get("causes", ()))


@each_call
def test_gradients_are_the_same_by_every_way(number: int, tmp_path: Path) -> None:
    call = Call(number)
    status, document = call.run("--json", before="grad")
    if status:
        with pytest.raises(GscliError) as refused:
            gscli.grad(call.name, call.inputs, call.attrs)
        assert refused.value.problem == document["error"]["problem"]
        return
    gradients = gscli.grad(call.name, call.inputs, call.attrs)
    assert (status, dump_arrays(gradients)) == (0, document["gradients"])
    for name, gradient in document["gradients"].items():
        assert call.run("--json=output", "--of", name, before="grad") == (0, gradient)
        expected = f"{name}={json.dumps(gradient)}"
        assert call.run("--expect", expected, "-q", before="grad")[0] == 0
        saved = f"{name}={tmp_path / 'g.npy'}"
        assert call.run("-o", saved, before="grad")[0] == 0
        assert dump_json(np.load(tmp_path / "g.npy")) == gradient
    recorded = {"cotangent": document["cotangent"], "gradients": document["gradients"]}
    assert call.verify(expect="output", output=dump_json(call.output), **recorded)


TIES = "grad torch scatter-reduce [1.5,2.5] [0,0,1,1] [1.5,1.5,2.5,2.5]"

# Options each of which changes what a command does alone; with another one it is refused, or
# changes something still.
OPTIONS = {
    "gather d.npy i.npy": "--json|--json=output|--expect u.npy|--full|--rows 3|--precision 1|"
    "--limit 1|--step|--svg p.svg|--html p.html|--plain|-o o.npy|-f json|--slice 0:29,:|"
    "--dtype float32|--show output",
    "explain gather d.npy i.npy": "--json|--json=output|--expect u.npy|--precision 1|--limit 1|"
    "--svg p.svg|--html p.html|--plain|-v|--code torch|--grad",
    f"{TIES} --dim 0 --reduce amax --cotangent [3,0.75]": "--json|--json=output|--precision 1|"
    "--expect src=[1,1,0.25,0.25]|--limit 1|--step|--svg p.svg|--html p.html|--plain|-v|--strict|"
    "--code torch|--rules loop|--of src",
    "compare gather d.npy [0,-1,3]": "--json|--lines|--as onnx,torch|--grad|--plain|--svg p.svg|"
    "--html p.html|--rows 1|--show output",
    "check gather d.npy [99,98,3,0]": "--json|--limit 1|--axis 1",
    "show d.npy": "--json|--json=output|--stat|--full|--precision 1|--svg p.svg|--plain|"
    "--dtype float32|--slice 0:29,:",
    "diff d.npy u.npy": "--json|--limit 1|--rtol 0.18",
    "rules gather": "--json|--markdown|--grad",
    "samples": "--answer|--json",
}  # fmt: skip

# What by a command's own help is in place of the other, or tells of nothing beside it.
VOID = {
    "gather d.npy i.npy": ["--plain beside -o o.npy"],
    "show d.npy": ["--plain beside --stat"],
    "compare gather d.npy [0,-1,3]": ["--plain beside --grad"],  # it changes marks: none stand here
    f"{TIES} --dim 0 --reduce amax --cotangent [3,0.75]": ["--strict beside --rules loop"],
}


def outcome(words: str, folder: Path) -> tuple[object, ...]:
    """All that a command leaves: status, streams, files."""
    for path in folder.iterdir():
        path.unlink()
    data = np.arange(90.0).reshape(30, 3) + 0.125
    np.save(folder / "d.npy", data)
    np.save(folder / "i.npy", np.arange(30)[::-1])
    np.save(folder / "u.npy", data + np.eye(30, 3))
    done = call_gscli(*words.split(), cwd=folder)
    said = re.sub(rb"[\d.]+ .?s\b", b"", done.stdout + done.stderr)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    return done.returncode, said, sorted(files.items())


@pytest.mark.slow
@pytest.mark.parametrize("words", OPTIONS)
def test_no_option_is_void_beside_another(words: str, tmp_path: Path) -> None:
    plain = outcome(words, tmp_path)
    alone = {option: outcome(f"{words} {option}", tmp_path) for option in OPTIONS[words].split("|")}
    assert [option for option, result in alone.items() if result == plain] == []
    accepted = [option for option in alone if alone[option][0] != 2]
    void = set()
    for pair in itertools.combinations(accepted, 2):
        result = outcome(" ".join([words, *pair]), tmp_path)
        for kept, idle in (pair, pair[::-1]):
            if result == alone[kept] and result[0] != 2:
                void.add(f"{idle} beside {kept}")
    assert void == set(VOID.get(words, ()))
