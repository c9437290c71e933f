"""batch: a result or a refusal for every line, in one process."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shell import call_gscli as gscli

import gscli as package
from gscli.base import ContentRefused
from gscli.cli import run_safely
from gscli.files.formats.jsonarray import dump_json, load_json
from gscli.lab.cases import parse_case
from gscli.lab.jobs import run_job

GATHER: dict[str, Any] = {"op": "gather", "inputs": {"data": [10, 20], "indices": [1]}}


def lines(*jobs: object) -> bytes:
    return b"".join(json.dumps(job).encode() + b"\n" for job in jobs)


def answers(data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Exit status and the decoded answers."""
    (tmp_path / "jobs.jsonl").write_bytes(data)
    status = run_safely(["batch", str(tmp_path / "jobs.jsonl")])
    printed = capsys.readouterr()
    assert not printed.err
    return status, [json.loads(line) for line in printed.out.splitlines()]


def test_an_answer_per_line_with_its_id(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = lines({**GATHER, "id": "x"}, GATHER) + b"\n" + lines({**GATHER, "id": [1, None]})
    status, found = answers(data, tmp_path, capsys)
    assert status == 0
    assert [one["id"] for one in found] == ["x", 2, [1, None]]
    assert all(one["output"] == {"dtype": "int64", "shape": [1], "data": [20]} for one in found)


def test_the_answers_are_those_of_the_library() -> None:
    rng = np.random.default_rng(3)
    data = rng.normal(size=(4, 3)).astype(np.float32)
    for name, attrs in (("torch.gather", {"dim": 1}), ("onnx.gather_elements", {"axis": 1})):
        names = [item.name for item in package.frameworks.find_operator(name).inputs]
        indices = rng.integers(0, 3, (4, 2))
        inputs = dict(zip(names, (data, indices), strict=True))
        described = {key: dump_json(value) for key, value in inputs.items()}
        job = {"op": name, "inputs": described, "attrs": attrs}
        found = load_json(run_job(json.dumps(job).encode(), 1, [])["output"])
        expected = package.run(name, inputs, attrs)
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)


def test_untyped_updates_take_the_type_of_data() -> None:
    data = {"dtype": "float32", "shape": [2], "data": [1, 2]}
    job = {"op": "scatter_nd", "inputs": {"data": data, "indices": [[0]], "updates": [1.5]}}
    output = run_job(json.dumps(job).encode(), 1, [])["output"]
    assert output == {"dtype": "float32", "shape": [2], "data": [1.5, 2.0]}


BAD = [
    (b"not json", "ContentRefused", "not JSON"),
    (b"[1]", "ContentRefused", "not a job"),
    (b"{}", "ContentRefused", "not a job"),
    (lines({**GATHER, "op": "gathr"}), "UsageError", "unknown operator"),
    (lines({**GATHER, "attrs": []}), "ContentRefused", "attrs is not an object"),
    (lines({**GATHER, "attrs": {"axes": 0}}), "UsageError", "no attribute"),
    (lines({**GATHER, "attrs": {"axis": "one"}}), "UsageError", "axis takes a whole number"),
    (lines({**GATHER, "atrs": {"axis": 0}}), "ContentRefused", "a job has no 'atrs'"),
    (lines({**GATHER, "inputs": {"data": [1]}}), "UsageError", "needs indices"),
    (lines({**GATHER, "inputs": {"data": [1], "indices": [4]}}), "IndexRefused", "out of range"),
    (lines({**GATHER, "inputs": {"data": [[1], 2], "indices": [0]}}), "ContentRefused", "data"),
    (lines({**GATHER, "inputs": {"data": [1], "indices": [0.5]}}), "IndexTypeRefused", "integers"),
    (lines({**GATHER, "rtol": 1}), "UsageError", "rtol and atol go with expect"),
    (lines({**GATHER, "expect": [20], "atol": -1}), "UsageError", "atol takes a number"),
    (lines({**GATHER, "expect": [20], "rtol": True}), "UsageError", "rtol takes a number"),
    (lines({**GATHER, "expect": [20], "rtol": 10**400}), "UsageError", "rtol takes a number"),
    (lines({**GATHER, "expect": "missing.npy"}), "CannotRead", "cannot read"),
    (b'{"op": "gather", "op": "take", "inputs": {}}', "ContentRefused", ""),
]


@pytest.mark.parametrize(("line", "kind", "problem"), BAD)
def test_a_bad_line_is_answered_by_its_error(line: bytes, kind: str, problem: str) -> None:
    found = run_job(line, 7, [])
    assert found.get("line", found["id"]) == 7
    assert set(found) - {"line"} == {"id", "error"}
    assert found["error"]["kind"] == kind
    assert problem in found["error"]["problem"]


def test_a_tolerance_that_is_text_stands_in_quotes() -> None:
    error = run_job(lines({**GATHER, "expect": [20], "rtol": "0.1"}), 1, [])["error"]
    assert error["where"] == "rtol = '0.1'"


def test_a_recorded_case_among_jobs_is_told_what_runs_it() -> None:
    output = {"dtype": "int64", "shape": [1], "data": [20]}
    recorded = {**GATHER, "note": "", "error": "IndexError", "version": "2.4"}
    for line in ({**GATHER, "output": output}, {**recorded, "expect": "error"}):
        error = run_job(lines(line), 1, [])["error"]
        assert error["hint"] == "gscli verify runs recorded cases"
    assert error["problem"] == "a job has no 'note'"  # the first of them, in every run
    usual = run_job(lines({**GATHER, "output": "-"}), 1, [])["error"]["hint"]
    assert usual == "what a line holds: gscli batch --help"


def test_a_bad_line_does_not_stop_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = b"".join(line.rstrip(b"\n") + b"\n" + lines(GATHER) for line, _, _ in BAD)
    status, found = answers(data, tmp_path, capsys)
    assert status == 1
    assert [("error" in one) for one in found] == [True, False] * len(BAD)
    assert run_safely(["batch", str(tmp_path / "jobs.jsonl"), "-q"]) == 1
    refused = capsys.readouterr().out.splitlines()
    named = [json.loads(line) for line in refused]
    assert [one.get("line", one["id"]) for one in named] == list(range(1, 2 * len(BAD), 2))


def test_jobs_through_a_pipe_in_one_process() -> None:
    jobs = lines(*({**GATHER, "id": number} for number in range(500)))
    done = gscli("batch", "-", stdin=jobs)
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in io.BytesIO(done.stdout)] == list(range(500))


PIPED = {"op": "gather", "inputs": {"data": "-", "indices": [0]}}


@pytest.mark.parametrize(
    ("jobs", "stdin", "refused"),
    [
        ((PIPED, GATHER), None, [True, False]),  # standard input holds the jobs
        ((GATHER, PIPED, PIPED), b"[7,8]", [False, False, True]),
        (({**PIPED, "inputs": {"data": "-::a", "indices": "-::b"}}, PIPED), b"[7]", [True, False]),
        (({**PIPED, "expect": "-"}, GATHER), b"[7]", [True, False]),
    ],
)
def test_standard_input_is_read_once(
    jobs: tuple[object, ...], stdin: bytes | None, refused: list[bool], tmp_path: Path
) -> None:
    (tmp_path / "jobs.jsonl").write_bytes(lines(*jobs))
    path = "-" if stdin is None else str(tmp_path / "jobs.jsonl")
    done = gscli("batch", path, stdin=lines(*jobs) if stdin is None else stdin)
    errors = [json.loads(line).get("error") for line in io.BytesIO(done.stdout)]
    assert [error is not None for error in errors] == refused
    said = {(error["problem"], error["hint"]) for error in errors if error}
    assert said == {("standard input (-) can be read only once", "name a file in place of -")}


def test_an_output_replaces_no_file_of_what_is_expected(tmp_path: Path) -> None:
    """As with --expect of a command: its other arrays would be lost."""
    path = str(tmp_path / "several.npz")
    np.savez(path, a=np.array([20]), b=np.array([1]))
    found = run_job(lines({**GATHER, "output": path, "expect": f"{path}::a"}), 1, [])
    assert "would be lost" in found["error"]["problem"]
    assert sorted(np.load(path)) == ["a", "b"]


def test_a_file_that_is_not_there_is_unreadable(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["batch", "nofile.jsonl"]) == 66
    assert "nofile.jsonl: no such file" in capsys.readouterr().err


def test_warnings_stand_beside_the_output() -> None:
    job = {"op": "scatter_nd", "inputs": {"data": [1], "indices": [[0], [0]], "updates": [8, 9]}}
    found = run_job(json.dumps(job).encode(), 1, [])
    assert found["output"]["data"] == [9]
    assert [one["problem"] for one in found["warnings"]] == ["2 entries write the same cell"]
    assert "warnings" not in run_job(
        json.dumps({**job, "attrs": {"reduction": "add"}}).encode(), 1, []
    )
    narrow = {"dtype": "int8", "shape": [1], "data": [0]}
    widened = {"op": "gather", "inputs": {"data": [1], "indices": narrow}}
    (warning,) = run_job(json.dumps(widened).encode(), 1, [])["warnings"]
    assert warning["problem"] == "indices is int8, widened to int64"


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "named"), [
    ("torch.scatter_reduce", {"input": [9.0, 0, 0], "index": [0, 0], "src": [1.0, 2]},
     {"dim": 0, "reduce": "mean"}, {"include_self": False}),
    ("torch.scatter_reduce", {"input": [9.0, 0, 0], "index": [0, 0], "src": [1.0, 2]},
     {"dim": 0, "reduce": "sum", "include_self": False}, {"include_self": True}),
    ("torch.embedding_bag", {"input": [[0, 1]], "weight": [[1.0], [2.0]]}, {}, {"mode": "sum"}),
    ("torch.index_add", {"input": [1.0, 1], "index": [0, 0], "source": [2.0, 3]},
     {"dim": 0, "alpha": 2}, {"alpha": 1}),
    ("torch.one_hot", {"input": [0, 1, 3]}, {"num_classes": 6}, {"num_classes": 4}),
])  # fmt: skip
def test_an_option_that_is_a_cause_is_named_as_a_line_takes_it(
    op: str, inputs: dict[str, Any], attrs: dict[str, Any], named: dict[str, Any],
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    job = {"op": op, "inputs": inputs}
    expect = package.run(op, inputs, {**attrs, **named}).tolist()
    _, [found] = answers(lines({**job, "attrs": attrs, "expect": expect}), tmp_path, capsys)
    causes = [one["cause"] for one in found["expectation"]["causes"]]
    [told] = [cause for cause in causes if cause.startswith("it is called with ")]
    assert "--" not in told
    change = json.loads(f"{{{told.removeprefix('it is called with ')}}}")["attrs"]
    attrs = {name: value for name, value in attrs.items() if name not in named}
    _, [found] = answers(lines({**job, "attrs": {**attrs, **change}, "expect": expect}), tmp_path,
                         capsys)  # fmt: skip
    assert found["expectation"]["equal"]


def test_an_output_is_held_against_what_is_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = {"op": "gather", "inputs": {"data": [10, 20, 30], "indices": [0, -1]}}
    np.save(tmp_path / "right.npy", np.array([10, 30]))
    data = lines(
        {**job, "expect": str(tmp_path / "right.npy")},
        {**job, "expect": [10, 10], "id": "wrong"},
        {**job, "expect": [10, 31], "atol": 1},
        {**job, "expect": [10.5, 30], "rtol": 0.1},
        {**job, "expect": [[10, 30]]},
        {**job, "inputs": {"data": [10, 20], "indices": [8]}, "expect": [20]},
    )
    status, found = answers(data, tmp_path, capsys)
    assert status == 1
    assert found[5]["error"]["problem"] == "index out of range"
    told = [one["expectation"] for one in found]
    assert [one["equal"] for one in told] == [True, False, True, False, False, False]
    assert told[0]["held_against"].endswith("right.npy")
    assert told[1]["entries"] == ["b"]
    assert "negative indices are read as 0" in [one["cause"] for one in told[1]["causes"]]
    assert told[3]["dtype"] == ["int64", "float64"]
    assert told[4]["shape"] == [[2], [1, 2]]
    assert told[5]["causes"][-1]["cause"] == "indices out of range are clipped to the nearest end"
    assert run_safely(["batch", str(tmp_path / "jobs.jsonl"), "-q"]) == 1
    assert json.loads(capsys.readouterr().out.splitlines()[0])["id"] == "wrong"
    (tmp_path / "jobs.jsonl").write_bytes(lines({**job, "expect": [10, 30]}))
    assert run_safely(["batch", str(tmp_path / "jobs.jsonl")]) == 0


def test_an_output_goes_to_the_file_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "out.npy")
    np.save(tmp_path / "in.npy", np.array([10, 20]))
    job = {**GATHER, "inputs": {"data": str(tmp_path / "in.npy"), "indices": [1]}, "output": target}
    status, found = answers(lines(job), tmp_path, capsys)
    assert (status, found) == (0, [{"id": 1, "output": target}])
    assert np.load(target).tolist() == [20]


def test_an_output_in_a_file_may_be_large(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = {"data": "zeros:1x80000001:bool", "indices": [0]}
    job, target = {**GATHER, "inputs": inputs}, str(tmp_path / "o.npy")
    status, found = answers(lines(job, {**job, "output": target}), tmp_path, capsys)
    assert status == 1
    assert found[0]["error"]["valid"] == "at most 5,000,000 values"
    assert found[1] == {"id": 2, "output": target}


@pytest.mark.parametrize("target", ["", "-", 7, "folder/that/is/not/there.npy", "x.what"])
def test_an_output_that_cannot_be_written_is_refused(
    target: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = answers(lines({**GATHER, "output": target}, GATHER), tmp_path, capsys)
    assert status == 1
    assert "error" in found[0]
    assert "output" in found[1]


@pytest.mark.parametrize(
    "name", ["add-at", "add_at", "add.at", "numpy add-at", "numpy.add_at", "numpy.add.at"]
)
def test_operators_go_by_every_spelling(name: str) -> None:
    job = {"op": name, "inputs": {"a": [1, 2], "indices_0": [0, 0], "b": 1}}
    assert run_job(json.dumps(job).encode(), 1, [])["output"]["data"] == [3, 2]


def test_a_name_that_several_frameworks_have_is_refused_with_them() -> None:
    found = run_job(b'{"op": "segment_sum", "inputs": {}}', 1, [])["error"]
    assert found["code"] == 2
    assert "tensorflow.segment_sum" in found["hint"]


@pytest.mark.parametrize("line", [b"broken", b"{}", b'{"op": "gather", "inputs": {}, "more": 1}'])
def test_every_refused_line_has_a_way_on(line: bytes) -> None:
    assert run_job(line, 1, [])["error"]["hint"] == "what a line holds: gscli batch --help"
    job = b'{"op": "gather", "inputs": {"data": [1], "indices": [0]}, "output": "no/such.npy"}'
    assert run_job(job, 1, [])["error"]["hint"].endswith("or name another place")


def test_a_call_is_spelt_as_recorded_cases_have_it() -> None:
    cases = (
        {"framework": "onnx", "op": "Gather", "opset": 13, "device": "cpu"},
        {"op": "onnx gather", "attrs": {"opset": 13}},
    )
    inputs = {"data": [10, 20, 30], "indices": [-1]}
    results = [
        run_job(json.dumps({**case, "inputs": inputs}).encode(), 1, [])["output"] for case in cases
    ]
    assert results[0] == results[1] == {"dtype": "int64", "shape": [1], "data": [30]}


def test_a_line_that_is_no_text_is_named_once() -> None:
    assert run_job(b"\x93", 2, [])["error"]["where"] == "line 2"
    assert run_job(b"words", 2, [])["error"]["where"] == "line 2: expecting value"
    with pytest.raises(ContentRefused) as caught:
        parse_case(b"\x93", "x.jsonl line 2")
    assert (caught.value.problem, caught.value.where) == (
        "x.jsonl line 2 is not UTF-8 text", "x.jsonl line 2",
    )  # fmt: skip


def test_hints_are_what_a_line_can_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs = {"data": [1, 2], "indices": [0, 0], "updates": [5, 6]}
    job = {"op": "scatter_elements", "inputs": inputs}
    old = {**job, "opset": 16, "attrs": {"reduction": "max"}}
    strict = {**job, "attrs": {"strict": True}}
    _, (first, second, third) = answers(lines(job, old, strict), tmp_path, capsys)
    defining = '"attrs": {"reduction": "add"} of scatter-elements defines it'
    assert first["warnings"][0]["hint"] == defining
    assert second["error"]["hint"] == '"attrs": {"opset": 18} of scatter-elements'
    assert third["error"]["hint"] == "warnings stand in the result, and refuse nothing"
    newer = {**old, "attrs": {"reduction": "max", "opset": 18}}
    jobs = {**job, "attrs": {"reduction": "add"}}, newer
    status, (first, second) = answers(lines(*jobs), tmp_path, capsys)
    assert (status, first["output"]["data"], second["output"]["data"]) == (0, [12, 2], [6, 2])


def test_an_expectation_of_an_output_too_large_for_a_document_is_told_without_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = {"data": "zeros:5000001:int8", "indices": "arange:5000001"}
    job = {"op": "gather", "inputs": inputs, "expect": "zeros:5000001:int8"}
    status, (result,) = answers(lines(job), tmp_path, capsys)
    assert (status, result["output"]) == (0, {"dtype": "int8", "shape": [5_000_001]})
    assert result["expectation"]["equal"] is True


def test_no_hint_of_a_line_has_an_option_and_no_lost_file_hides_an_index() -> None:
    mask = {"data": [True], "indices": [[0]], "updates": [True]}
    jobs = (
        {"op": "scatter-nd", "inputs": mask, "attrs": {"reduction": "max"}},
        {"op": "jax.segment-sum", "inputs": {"data": [], "segment_ids": []}},
    )
    hints = [run_job(json.dumps(job).encode(), 1, [])["error"]["hint"] for job in jobs]
    assert hints == [
        'numbers have one: {"dtype": "int32", …} as an input', '"attrs": {"num-segments": "N"}'
    ]  # fmt: skip
    lost = {**GATHER, "inputs": {"data": [1, 2], "indices": [5]}, "expect": "no.npy"}
    assert run_job(json.dumps(lost).encode(), 1, [])["error"]["problem"] == "index out of range"


def test_a_refused_call_names_its_file_and_has_the_hint_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("bad.npy", np.array([1, 5]))
    job = {"op": "torch.gather", "inputs": {"input": [[1, 2]], "index": [[5]]}, "attrs": {"dim": 1}}
    calls = {**GATHER, "inputs": {"data": [10, 20], "indices": "bad.npy"}}, job
    errors = [run_job(json.dumps(call).encode(), 1, [])["error"] for call in calls]
    assert [(error["where"], error["hint"].rpartition(": ")[2]) for error in errors] == [
        ("bad.npy: indices[1] = 5", "gscli compare gather '[10, 20]' bad.npy"),
        ("index[0,0] = 5", "gscli compare gather-elements --axis=1 '[[1, 2]]' '[[5]]'"),
    ]
    flat = {**GATHER, "attrs": {"axis": 4}}
    hint = run_job(json.dumps(flat).encode(), 1, [])["error"]["hint"]
    assert hint.startswith("an example that runs: gscli gather ")
    unsorted = {"op": "segment-sum", "inputs": {"data": [1, 2], "segment_ids": [1, 0]}}
    refused = run_job(
        json.dumps({**unsorted, "framework": "tensorflow", "expect": [1]}).encode(), 1, []
    )
    assert "unsorted-segment-sum" in refused["error"]["hint"]
