"""`gscli fuzz --grad`: what is asked, told, written and refused."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from shell import call_gscli

from gscli.files.formats.jsonarray import load_json
from gscli.frameworks import find_operator
from gscli.runtimes.peer import answer_request
from gscli.runtimes.protocol import Reply
from gscli.runtimes.trials import MISMATCH_WORDS, FuzzCase, find_mismatch, lacks_gradients

WRONG = f"{sys.executable} -S {Path(__file__).parent / 'wrong.py'}"
FUZZ = ("fuzz", "onnx.gather", "--grad", "--cases", "40", "--on")


@pytest.mark.parametrize(
    ("fault", "meaning", "kind"),
    [
        ("gradient_not_summed", "another gradient than the rules", "gradient"),
        ("gradient_refused", "refuses the gradient of what the rules allow", "gradient-refused"),
    ],
)
def test_a_difference_is_told_with_a_command_that_shows_the_gradients(
    tmp_path: Path, fault: str, meaning: str, kind: str
) -> None:
    found = call_gscli(*FUZZ, f"{WRONG} {fault}", "-o", f"{tmp_path}/cases.jsonl")
    assert found.returncode == 1
    lines = found.stdout.decode().splitlines()
    assert lines[0].startswith(f"[1] failure: onnx.gather {meaning}, ")
    assert f"  known as: onnx.gather {kind}: " in found.stdout.decode()
    place = lines.index("    gradient of data")
    rules, wrong = (line.split(maxsplit=1)[1] for line in lines[place + 1 : place + 3])
    rules, is_refused = json.loads(rules), kind == "gradient-refused"
    wrong = wrong if is_refused else json.loads(wrong)
    assert is_refused == ("no way back" in wrong)
    assert is_refused or set(lines[place + 3].strip()) <= {"^", " "}
    done = call_gscli("verify", f"{tmp_path}/cases.jsonl", "--on", f"{WRONG} {fault}")
    failure, command, _ = done.stdout.decode().splitlines()
    again = call_gscli(*shlex.split(command)[1:])
    assert (again.returncode, again.stdout.decode().splitlines()[0]) == (1, failure)
    words = shlex.split(lines[1])[1:]
    document = json.loads(call_gscli(*words, "--json").stdout)
    assert np.array_equal(load_json(document["gradients"]["data"], "data"), rules)
    assert rules != wrong
    record = json.loads((tmp_path / "cases.jsonl").read_text("utf-8").splitlines()[0])
    assert np.array_equal(load_json(record["gradients"]["data"], "data"), rules)


def test_a_right_runtime_has_nothing_to_tell() -> None:
    assert call_gscli(*FUZZ, f"{WRONG} right", "-q").returncode == 0


def test_operators_without_gradients_are_left_out() -> None:
    more = ("--grad", "--cases", "3", "--on", f"{sys.executable} -m gscli batch --serve")
    done = call_gscli("fuzz", "torch.one-hot", "torch.gather", *more)
    assert (done.returncode, b"torch.one_hot: 0 cases" in done.stdout) == (0, True)
    refused = call_gscli("fuzz", "torch.one-hot", *more)
    assert (refused.returncode, b"no random calls" in refused.stderr) == (2, True)


def test_a_runtime_is_asked_for_the_gradient_of_a_mask_as_it_was_written() -> None:
    on = ("--grad", "--as", "torch", "--on", f"{sys.executable} -m gscli batch --serve")
    told = call_gscli("compare", "gather-nd", "[1.5,2]", "[[true],[false]]", *on).stdout.decode()
    assert "\n  data [1, 0]\n" in told
    assert "\n4 rows give the same gradients, " in told


def test_a_runtime_without_gradients_and_a_folder_are_refused(tmp_path: Path) -> None:
    refused = call_gscli("fuzz", "numpy.take", "--grad", "--on", "numpy")
    assert refused.returncode == 2
    assert b"answers no gradients" in refused.stderr
    helped = b" ".join(call_gscli("help", "runtimes").stdout.split())
    assert b'the answer has "gradients": ' in helped
    refused = call_gscli(*FUZZ, f"{WRONG} right", "-o", f"{tmp_path}/folder")
    assert refused.returncode == 2
    assert b"ONNX node tests hold no gradients" in refused.stderr


def test_gscli_answers_a_cotangent_with_gradients() -> None:
    line = {
        "id": 1, "framework": "onnx", "op": "Gather", "opset": 13, "attrs": {},
        "inputs": {
            "data": {"dtype": "float64", "shape": [2], "data": [1.0, 2.0]},
            "indices": {"dtype": "int64", "shape": [2], "data": [1, 1]},
        },
        "cotangent": {"dtype": "float64", "shape": [2], "data": [3.0, 4.0]},
    }  # fmt: skip
    answer = answer_request(json.dumps(line).encode())
    assert answer["gradients"]["data"]["data"] == [0.0, 7.0]
    short = {**line, "cotangent": {"dtype": "float64", "shape": [1], "data": [3.0]}}
    assert "another shape" in answer_request(json.dumps(short).encode())["error"]["message"]


def test_gscli_answers_as_the_rules_have_it_where_a_framework_has_a_flaw() -> None:
    words = ("torch.scatter-reduce", "--grad", "--cases", "50", "-q")
    done = call_gscli("fuzz", *words, "--on", f"{sys.executable} -m gscli batch --serve")
    assert (done.returncode, b" 0 differ" in done.stdout) == (0, True)


def reduce_into_a_tie(reduce: str) -> FuzzCase:
    """A call in which data that takes no part equals the one update of its cell."""
    inputs = {"input": np.array([2.0]), "index": np.array([0]), "src": np.array([2.0])}
    attrs = {"dim": 0, "reduce": reduce, "include_self": False}
    return FuzzCase(find_operator("torch.scatter_reduce"), inputs, attrs, has_gradients=True)


@pytest.mark.parametrize(("reduce", "kind"), [("max", None), ("amax", "gradient-refused")])
def test_a_gradient_that_gscli_says_is_missing_is_not_held_against_a_runtime(
    reduce: str, kind: str | None
) -> None:
    """PyTorch 2.13.0 takes max and min forward alone, as `gscli grad` says."""
    case, refusal = reduce_into_a_tie(reduce), Reply("error", np.array([2.0]), "RuntimeError: max")
    mismatch = find_mismatch(case, refusal)
    assert (mismatch and mismatch.kind) == kind
    assert lacks_gradients(case, refusal) is (kind is None)


@pytest.mark.parametrize(("share", "kind"), [(1.0, None), (0.5, "absent-data"), (2.0, "gradient")])
def test_data_that_takes_no_part_and_is_counted_is_told(share: float, kind: str | None) -> None:
    gradients = {"input": np.array([0.0]), "src": np.array([share])}
    answer = Reply("output", np.array([2.0]), gradients=gradients)
    mismatch = find_mismatch(reduce_into_a_tie("amax"), answer)
    assert (mismatch and mismatch.kind) == kind
    assert "data that takes no part" in MISMATCH_WORDS["absent-data"]
