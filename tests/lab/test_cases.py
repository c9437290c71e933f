"""Recorded cases: reading, judging, reproducing; and the command that does all three."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import shell

from gscli.base import CannotRead, ContentRefused, LimitRefused
from gscli.files.formats import jsonlines
from gscli.lab import cases
from gscli.lab.cases import build_repro_command, parse_case, read_cases
from gscli.lab.difference import describe_difference
from gscli.runtimes.recorded import run_case

CASE: dict[str, Any] = {
    "id": "onnx/Gather/13/x/0001",
    "framework": "onnx",
    "op": "Gather",
    "opset": 13,
    "inputs": {
        "data": {"dtype": "float32", "shape": [2], "data": [1.5, "nan"]},
        "indices": {"dtype": "int64", "shape": [1], "data": [1]},
    },
    "attrs": {"axis": 0},
    "expect": "output",
    "output": {"dtype": "float32", "shape": [1], "data": ["nan"]},
}


class Done(NamedTuple):
    """How a command ended, as text."""

    returncode: int
    stdout: str
    stderr: str


def changed(**parts: Any) -> Any:
    return parse_case(json.dumps({**CASE, **parts}).encode(), "here")


def gscli(words: Sequence[str], stdin: str = "") -> Done:
    done = shell.call_gscli(*words, stdin=stdin.encode())
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def verify(*arguments: str, stdin: str = "") -> Done:
    return gscli(["verify", *arguments], stdin)


def test_verdicts() -> None:
    assert not run_case(changed()).problem
    wrong = changed(output={"dtype": "float32", "shape": [1], "data": [2]})
    assert run_case(wrong).problem == "output[0] is nan, recorded 2.0"
    other = changed(output={"dtype": "float64", "shape": [1], "data": [2]})
    assert run_case(other).problem == "dtype is float32, recorded float64"
    shape = changed(output={"dtype": "float32", "shape": [1, 1], "data": [2]})
    assert run_case(shape).problem == "shape is [1], recorded [1,1]"
    assert run_case(changed(expect="error")).problem == 'answered ["nan"], the record is a refusal'
    bad = {**CASE["inputs"], "indices": {"dtype": "int64", "shape": [1], "data": [5]}}
    assert run_case(changed(inputs=bad)).problem.startswith(
        "refused, recorded an answer: index out"
    )
    early = run_case(changed(op="GatherND", attrs={"batch_dims": 1}, opset=11)).problem
    assert early.endswith("an answer: batch_dims needs opset 12; gather_nd-11")
    assert not run_case(changed(inputs=bad, expect="error")).problem
    assert not run_case(changed(inputs=bad, expect="open")).problem


@pytest.mark.parametrize(
    ("dtype", "near", "far"),
    [("float32", 1 + 5e-7, 1 + 5e-6), ("float64", 1 + 5e-15, 1 + 5e-13), ("int64", 1, 2)],
)
def test_tolerances(dtype: str, near: float, far: float) -> None:
    one = np.array([1], dtype)
    assert not describe_difference(np.array([near], dtype), one)
    assert describe_difference(np.array([far], dtype), one)
    assert not describe_difference(np.array([-0.0]), np.array([0.0]))
    assert describe_difference(np.array(1), np.array(2)) == "output[] is 1, recorded 2"
    assert not describe_difference(np.zeros((0, 2)), np.zeros((0, 2)))


def test_the_reproducing_command_gives_the_same_answer() -> None:
    words = shlex.split(build_repro_command(changed()))
    assert words[0] == "gscli"
    done = gscli([*words[1:], "--json=output"])
    assert json.loads(done.stdout) == {"dtype": "float32", "shape": [1], "data": ["nan"]}


def test_names_and_the_order_of_inputs_are_read_alike_with_and_without_a_runtime() -> None:
    """The shell's spelling of an operator, and inputs in another order than it declares."""
    inputs = dict(zip(("indices", "arr"), reversed(CASE["inputs"].values()), strict=True))
    take = {**CASE, "framework": "numpy", "op": "take-along-axis", "inputs": inputs}
    del take["opset"]
    (case,) = read_cases(json.dumps(take))
    assert (case.operator, list(case.inputs)) == ("numpy.take_along_axis", ["arr", "indices"])
    for options in ((), ("--on", "numpy", "--python", sys.executable)):
        assert verify("-", *options, stdin=json.dumps(take)).stdout.startswith("1 passed, 0 failed")
    words = shlex.split(build_repro_command(case))
    assert json.loads(gscli([*words[1:], "--json=output"]).stdout)["data"] == ["nan"]


def test_no_command_reproduces_a_case_whose_inputs_are_others() -> None:
    inputs = dict(zip(("dta", "indices"), CASE["inputs"].values(), strict=True))
    (failure,) = json.loads(
        verify("-", "--json", stdin=json.dumps({**CASE, "inputs": inputs})).stdout
    )["failures"]
    assert failure["problem"].endswith(
        "has no input 'dta'; valid: data indices; did you mean data?"
    )
    assert failure["command"] == ""


def test_a_gradient_that_differs_is_reproduced_as_a_gradient(tmp_path: Path) -> None:
    one = {"dtype": "float64", "shape": [1], "data": [1.0]}
    inputs = {"input": one, "index": {"dtype": "int64", "shape": [1], "data": [0]}, "src": one}
    case = {
        "id": "a", "framework": "torch", "op": "scatter_add", "inputs": inputs, "attrs": {"dim": 0},
        "expect": "output", "output": {**one, "data": [2.0]}, "cotangent": {**one, "data": [3.0]},
        "gradients": {"src": one},
    }  # fmt: skip
    unknown = {**CASE, "op": "Gathr"}
    (tmp_path / "c.jsonl").write_text(json.dumps(case) + "\n" + json.dumps(unknown))
    told = verify(str(tmp_path / "c.jsonl")).stdout.splitlines()
    assert told[0] == "FAILED a: gradient of src[0] is 3.0, recorded 1.0"
    done = gscli([*shlex.split(told[1])[1:], "--of", "src", "--json=output"])
    assert json.loads(done.stdout)["data"] == [3.0]
    assert told[2].startswith("FAILED ")
    assert told[3] == "0 passed, 2 failed"


def test_of_a_long_case_the_file_is_named_in_place_of_its_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    values = list(range(2000))
    long = {
        **CASE,
        "inputs": {
            "data": {"dtype": "float32", "shape": [2000], "data": values},
            "indices": {"dtype": "int64", "shape": [2000], "data": values},
        },
        "output": {"dtype": "float32", "shape": [2000], "data": [9, *values[1:]]},
    }
    Path("long.jsonl").write_text(json.dumps(CASE) + "\n" + json.dumps(long | {"id": "a b"}))
    (failure,) = json.loads(verify("long.jsonl", "--json").stdout)["failures"]
    assert failure["command"] == (
        "gscli gather 'long.jsonl::a b/data' 'long.jsonl::a b/indices' --expect "
        "'long.jsonl::a b/output' --axis 0 --opset 13"
    )
    words = shlex.split(failure["command"])
    done = gscli(words[1:])
    assert done.returncode == 1
    assert "1 of 2,000 cells differs" in done.stdout
    text = Path("long.jsonl").read_text()
    command = json.loads(verify("-", "--json", stdin=text).stdout)["failures"][0]["command"]
    assert command == "gscli verify - --only 'a b'"
    assert build_repro_command(changed(), "long.jsonl") == build_repro_command(changed())
    Path("-x.jsonl").write_text(text)
    command = json.loads(verify("--json", "--", "-x.jsonl").stdout)["failures"][0]["command"]
    assert gscli(shlex.split(command)[1:]).returncode == 1
    asks = build_repro_command(
        parse_case(text.splitlines()[1].encode(), ""), "-x.jsonl", ["--on", "R"]
    )
    assert asks == "gscli verify ./-x.jsonl --only 'a b' --on R"


def test_a_limit_is_no_recorded_refusal() -> None:
    inputs = {
        "arr": {"dtype": "float32", "shape": [0, 2**40], "data": []},
        "indices": {"dtype": "int64", "shape": [1, 1], "data": [0]},
        "values": {"dtype": "float32", "shape": [], "data": [1]},
    }
    call = {"framework": "numpy", "op": "put_along_axis", "attrs": {"axis": 0}, "inputs": inputs}
    bare = {"id": "x", **call}
    case = {**bare, "output": inputs["values"]}
    answers = {"output": case, "error": bare, "open": bare}
    problems = {
        expect: run_case(parse_case(json.dumps({**one, "expect": expect}).encode(), "here")).problem
        for expect, one in answers.items()
    }
    assert problems["output"] == problems["error"]
    assert problems["error"].startswith("not tried: there are more entries than values")
    assert problems["open"] == ""


@pytest.mark.parametrize("expect", ["error", "output"])
def test_an_unknown_operator_is_no_recorded_refusal(expect: str) -> None:
    case = {"id": "x", "framework": "onnx", "op": "gatherx", "attrs": {}, "inputs": {}}
    output = {"dtype": "int64", "shape": [0], "data": []}
    line = json.dumps({**case, "expect": expect, "output": output})
    result = run_case(parse_case(line.encode(), "here"))
    assert result.problem.startswith("not tried: unknown operator 'onnx.gatherx'")
    assert result.finding is None


@pytest.mark.parametrize("expect", ["error", "output"])
def test_a_misspelt_name_is_no_recorded_refusal(expect: str) -> None:
    wrong = {**CASE, "expect": expect, "attrs": {"axiss": 0}}
    result = run_case(parse_case(json.dumps(wrong).encode(), "here"))
    assert result.problem.startswith("not tried: onnx.gather has no attribute 'axiss'")
    assert result.problem.endswith("did you mean axis?")
    inputs = dict(zip(("data", "indicess"), CASE["inputs"].values(), strict=True))
    result = run_case(parse_case(json.dumps({**wrong, "attrs": {}, "inputs": inputs}).encode(), ""))
    assert result.problem.startswith("not tried: onnx.gather has no input 'indicess'")
    assert result.problem.endswith("did you mean indices?")


@pytest.mark.parametrize("expect", ["error", "output"])
def test_a_name_that_the_operator_has_not_is_no_recorded_refusal(expect: str) -> None:
    """However far it is from those it has; an input that is missing is refused by the rules."""
    case = {**CASE, "expect": expect}
    data, indices = case["inputs"].values()
    params = run_case(
        parse_case(
            json.dumps({**case, "inputs": {"params": data, "indices": indices}}).encode(), ""
        )
    )
    assert params.problem.startswith("not tried: onnx.gather has no input 'params'")
    attrs = run_case(parse_case(json.dumps({**case, "attrs": {"batch_dims": 0}}).encode(), ""))
    assert attrs.problem == "" if expect == "error" else "refused" in attrs.problem
    missing = run_case(parse_case(json.dumps({**case, "inputs": {"data": data}}).encode(), ""))
    assert missing.problem == "" if expect == "error" else "refused" in missing.problem


def test_names_that_a_call_is_taken_apart_by_are_not_misspelt() -> None:
    """How many index arrays there were, and an attribute that is an array."""
    one = {"dtype": "int64", "shape": [1], "data": [0]}
    value = {"dtype": "int64", "shape": [], "data": [7]}
    for op, inputs, attrs in (
        ("numpy.getitem", {"a": one, "indices_0": one}, {"indices_per_axis": 1}),
        ("torch.index_fill", {"input": one, "index": one, "value": value}, {"dim": 0}),
    ):
        case = {"id": "x", "op": op, "inputs": inputs, "attrs": attrs, "expect": "open"}
        line = json.dumps({**case, "expect": "error"}).encode()
        assert run_case(parse_case(line, "here")).problem.startswith("answered [")


def test_a_single_index_array_of_a_subscript_goes_by_its_numbered_name() -> None:
    """As in a job of batch; no command could be written of another name."""
    one = {"dtype": "int64", "shape": [1], "data": [0]}
    inputs = {"a": one, "indices": one}
    case = {"id": "x", "op": "numpy.getitem", "inputs": inputs, "attrs": {}, "expect": "error"}
    problem = run_case(parse_case(json.dumps(case).encode(), "here")).problem
    assert problem.startswith("not tried: numpy.getitem has no input 'indices'")
    assert problem.endswith("did you mean indices_0?")


def test_a_recorded_stablehlo_case_is_reproduced_under_xlas_rule() -> None:
    path = Path(__file__).parents[1] / "vectors" / "jax.jsonl"
    case = next(case for case in read_cases(str(path)) if case.operator == "stablehlo.scatter")
    words = shlex.split(build_repro_command(case))
    assert "--xla" in words
    done = gscli([*words[1:], "--json=output"])
    assert case.output is not None
    assert json.loads(done.stdout)["data"] == case.output.reshape(-1).tolist()


def test_lines_that_are_no_cases() -> None:
    for line in ("{}", "[]", "x", '{"id": 1, "framework": "onnx", "op": "Gather", "inputs": {}}'):
        with pytest.raises(ContentRefused, match="not a recorded case"):
            parse_case(line.encode(), "cases.jsonl line 1")
    without = {name: value for name, value in CASE.items() if name != "output"}
    for record in (without, {**CASE, "expect": "something"}):
        with pytest.raises(ContentRefused, match="not a recorded case") as caught:
            parse_case(json.dumps(record).encode(), "cases.jsonl line 1")
        assert "expect is" in caught.value.details[0]
    with pytest.raises(CannotRead):
        list(read_cases("no-such-file.jsonl"))


@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        ({"inputs": {"data": [1, 2], "indices": "[0]"}}, "data in inputs is not a tensor"),
        ({"inputs": [1]}, "inputs is not an object"),
        ({"attrs": [["axis", 0]]}, "attrs is not an object"),
        ({"gradients": {"data": None, "updates": 7}}, "updates in gradients is not a tensor"),
        ({"output": None}, "output is not a tensor"),
        ({"framework": None, "op": {"a": 1}}, ""),
        ({"opset": [1]}, ""),
        ({"expect": ["output"]}, "expect is"),
    ],
)
def test_what_a_line_lacks_is_said_without_words_of_python(
    change: dict[str, object], flaw: str
) -> None:
    line = json.dumps({**CASE, **change}).encode()
    if not flaw:  # it is a case, whose run is refused
        assert "Error" not in run_case(parse_case(line, "here")).problem
        return
    with pytest.raises(ContentRefused, match="not a recorded case") as caught:
        parse_case(line, "here")
    assert caught.value.details[0].startswith(flaw)
    assert "verify --help" in caught.value.hint


@pytest.mark.parametrize("path", ["-", "cases.jsonl"])
def test_a_line_without_an_end(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(jsonlines, "TEXT_LIMIT", 1000)
    Path("cases.jsonl").write_bytes(b"a\n" + bytes(2000))
    with Path("cases.jsonl").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        lines = cases.read_lines(path)
        assert next(lines) == b"a\n"
        with pytest.raises(LimitRefused, match="a line is larger"):
            next(lines)


def test_a_line_of_very_many_values() -> None:
    with pytest.raises(LimitRefused, match="too many values"):
        parse_case(b"[" + b"[]," * 2_000_000, "here")


def test_nothing_of_a_case_reaches_the_terminal_raw() -> None:
    text = {"dtype": "str", "shape": [1], "data": ["\x1b[31m"]}
    two = {"dtype": "str", "shape": [2], "data": ["a", "\x1b[31m"]}
    inputs = {**CASE["inputs"], "data": two}
    case = changed(
        id="\x1b[2J", inputs=inputs, output={**text, "data": ["b"]}, attrs={"\x07": "\x1b"}
    )
    assert case.id == "\\x1b[2J"
    assert "\x1b" not in build_repro_command(case) + run_case(case).problem
    assert "\x07" not in build_repro_command(case) + run_case(case).problem
    problem = run_case(changed(inputs=inputs, output={**text, "data": ["b"]})).problem
    assert problem == r'output[0] is "\x1b[31m", recorded "b"'


def test_verify_counts_and_tells(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    wrong = {**CASE, "id": "other", "expect": "error"}
    file.write_text(json.dumps(CASE) + "\n\n" + json.dumps(wrong) + "\n")
    done = verify(str(file))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == 'FAILED other: answered ["nan"], the record is a refusal'
    assert lines[1].startswith("  gscli onnx gather ") or lines[1].startswith("  gscli gather ")
    assert lines[2] == "1 passed, 1 failed"
    assert verify(str(file), "--only", "onnx/").stdout == "1 passed, 0 failed\n"
    assert verify("-", stdin=json.dumps(CASE)).stdout == "1 passed, 0 failed\n"
    assert verify(str(file), "-q").stdout == "1 passed, 1 failed\n"
    done = verify(str(file), "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["passed"], document["failed"]) == (1, 1, 1)
    assert document["failures"] == [
        {
            "id": "other",
            "problem": 'answered ["nan"], the record is a refusal',
            "command": lines[1].strip(),
        }
    ]
    unknown = json.dumps({**CASE, "op": "Nothing"})
    assert verify("-", stdin=unknown).returncode == 1
    assert "standard input line 1\n" in verify("-", stdin="x").stderr
    folder = verify(str(tmp_path))
    assert (folder.returncode, "node tests: gscli run FOLDER" in folder.stderr) == (66, True)
    refused = json.loads(verify("-", "--json", stdin="x").stderr)["error"]
    assert refused["problem"] == "not a recorded case"


def test_a_run_that_tries_nothing_is_no_success(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps(CASE))
    done = verify(str(file), "--only", "nothing")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no case's id contains 'nothing'" in done.stderr
    assert "help: leave out --only, or write it as in ids" in done.stderr
    done = verify("-", "--only", "a", stdin='{"id": "a"}')
    assert (done.returncode, done.stdout) == (2, "0 passed, 0 failed, 1 refused\n")
    assert "no readable case's id contains 'a'" in done.stderr
    assert "standard input line 1: not a recorded case: " in done.stderr
    done = verify(str(file), "--on", "numpy")
    assert (done.returncode, done.stdout) == (65, "")
    assert "the runtime answers none of 1 case" in done.stderr
    assert "help: gscli runtimes R tells what it answers" in done.stderr
    inputs = dict(zip(("a", "indices"), CASE["inputs"].values(), strict=True))
    call = {"framework": "numpy", "op": "take", "inputs": inputs}
    flows = {"cotangent": CASE["output"], "gradients": {"a": CASE["inputs"]["data"]}}
    file.write_text(json.dumps({**CASE, **call, **flows}))
    done = verify(str(file), "--on", "numpy")
    assert (done.returncode, done.stdout) == (65, "")
    assert "help: it answers no gradients, for which cases with a cotangent ask" in done.stderr
    done = verify("-", stdin="\n")
    assert (done.returncode, done.stdout) == (65, "")
    assert "there is no case here" in done.stderr
