"""`gscli fuzz`, `cases`, `runtimes` and `verify --on`, as a shell calls them."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import cast
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from conftest import slow
from recording.findings import RuntimeObservation, read_observations

from gscli.cli import run_safely
from gscli.codegen.reproduction import ReportFolder, format_markdown, write_script
from gscli.frameworks import find_operator, operators
from gscli.lab.cases import parse_case, read_cases
from gscli.runtimes.catalogue import NAMES, bundle_adapter
from gscli.runtimes.findings import Cause, FuzzFinding, FuzzReport
from gscli.runtimes.generator import generate_cases
from gscli.runtimes.gradient_cases import generate_gradient_cases
from gscli.runtimes.process import RuntimeProcess
from gscli.runtimes.protocol import Hello, Reply
from gscli.runtimes.recorded import run_case, run_case_on
from gscli.runtimes.reports import format_values
from gscli.runtimes.trials import FuzzCase, Mismatch
from gscli.traces import Trace

WRONG = f"{sys.executable} -S {Path(__file__).parent / 'wrong.py'}"
needs_onnx = pytest.mark.skipif(find_spec("onnx") is None, reason="onnx is not installed")


def gscli(*words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run_safely(list(words))
    return code, out.getvalue(), err.getvalue()


def fuzzed(fault: str, *more: str, operator: str = "onnx.gather") -> tuple[int, str, str]:
    return gscli("fuzz", operator, "--on", f"{WRONG} {fault}", "--cases", "20", *more)


def test_a_difference_is_told_with_a_command_that_shows_the_rules() -> None:
    code, out, err = fuzzed("negative_is_zero")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].startswith("[1] failure: onnx.gather another value than the rules, ")
    command = lines[1].strip()
    rules = next(line for line in lines if line.strip().startswith("rules")).split("rules")[1]
    wrong = next(line for line in lines if line.strip().startswith("wrong")).split("wrong")[1]
    shown = subprocess.run(
        f"{sys.executable} -m {command} --json=output", shell=True, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    flat = json.loads(shown.stdout)["data"]
    assert flat == _flat(json.loads(rules))
    assert flat != _flat(json.loads(wrong))
    marks = lines[lines.index(next(line for line in lines if "^" in line))]
    assert set(marks.strip()) <= {"^", " "}


def _flat(value: object) -> list[object]:
    return [one for part in value for one in _flat(part)] if isinstance(value, list) else [value]


def test_no_difference_is_status_0() -> None:
    code, out, err = fuzzed("", "-q", "numpy.take")
    assert code == 0
    assert "0 kinds of failures" in out
    assert err == "warning: wrong does not answer numpy.take\n"


def test_a_warning_fails_only_under_strict() -> None:
    assert fuzzed("clamped", operator="onnx.gather-elements")[0] == 0
    assert fuzzed("clamped", "--strict", operator="onnx.gather-elements")[0] == 1


def test_known_differences_do_not_fail(tmp_path: Path) -> None:
    _, out, _ = fuzzed("negative_is_zero")
    known = [line.split("known as: ")[1] for line in out.splitlines() if "known as: " in line]
    accepted = tmp_path / "known.txt"
    accepted.write_text("# negatives are not there yet\n" + "\n".join(known) + "\n")
    code, out, _ = fuzzed("negative_is_zero", "--except", str(accepted))
    assert code == 0
    assert "[1] known: " in out
    accepted.write_text("onnx.gather value: *\n")
    code, out, _ = fuzzed("negative_is_zero", "-q", "--except", str(accepted), "--junit", "-")
    suite = ET.fromstring(out)
    assert (code, suite.get("failures"), suite.get("skipped")) == (0, "0", str(len(known)))
    accepted.write_text("onnx.scatter_nd value: *\n")
    assert fuzzed("negative_is_zero", "--except", str(accepted))[0] == 1


def test_json_and_junit_say_the_same(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    code, out, _ = fuzzed("negative_is_zero", "--json", "--junit", str(report))
    document = json.loads(out)
    assert code == 1
    assert document["schema"] == "gscli-fuzz/1"
    assert document["cases"] == 20
    suite = ET.parse(report).getroot()
    assert int(suite.get("failures", "0")) == document["failures"] >= 1
    assert suite.find("testcase/failure") is not None
    _, out, err = fuzzed("negative_is_zero", "--junit", "-")
    assert ET.fromstring(out).get("failures") == suite.get("failures")
    assert "[1] failure" in err


def test_differences_become_recorded_cases_that_verify_runs(tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    fuzzed("negative_is_zero", "-o", str(cases))
    assert gscli("verify", str(cases))[0] == 0
    code, out, _ = gscli("verify", str(cases), "--on", f"{WRONG} negative_is_zero")
    assert code == 1
    assert "FAILED" in out
    code, out, _ = gscli("verify", str(cases), "--on", WRONG)
    assert (code, out.splitlines()[-1].split(",")[1]) == (0, " 0 failed")


@needs_onnx
def test_differences_become_node_tests_that_run_passes(tmp_path: Path) -> None:
    folder = tmp_path / "found"
    fuzzed("negative_is_zero", "-o", str(folder))
    assert gscli("run", str(folder))[0] == 0
    code, _, err = fuzzed("negative_is_zero", "-o", str(folder))
    assert code == 73
    assert "holds something" in err


@needs_onnx
def test_a_pack_of_node_tests_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    for name in ("one", "other"):
        code, out, _ = gscli("cases", "onnx.gather-nd", "--cases", "15", "-o", str(tmp_path / name))
        assert code == 0
    assert " rules" in out.splitlines()[0]
    assert gscli("run", str(tmp_path / "one"))[0] == 0
    files = sorted(path for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(files) > 30
    for path in files:
        other = tmp_path / "other" / path.relative_to(tmp_path / "one")
        assert path.read_bytes() == other.read_bytes()


@needs_onnx
def test_what_node_tests_cannot_hold_stands_beside_them_and_counts_for_no_rule(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "tests"
    code, out, err = gscli("cases", "onnx.scatter-elements", "--cases", "30", "-o", str(folder))
    written, others = (int(line.split()[0]) for line in err.splitlines())
    assert (code, written + others) == (0, 30)
    assert f"{others} that a node test cannot hold (" in err
    assert len(list(folder.glob("*/model.onnx"))) == written
    lines = (folder / "others.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["expect"] for line in lines} == {"error", "open"}
    assert len(lines) == others
    assert gscli("verify", str(folder / "others.jsonl"))[1] == f"{others} passed, 0 failed\n"
    count = re.findall(rf"{written} cases, (\d+) of", out)
    measured = gscli("cases", "onnx.scatter-elements", "--measure", str(folder))[1]
    assert re.findall(rf", {written} cases, (\d+) of", measured) == count


@pytest.mark.parametrize(
    "operators", [["torch.scatter-reduce"], *slow([["onnx.scatter-nd", "torch.gather"]])], ids=str
)
def test_a_pack_of_cases_meets_every_rule_it_knows(tmp_path: Path, operators: list[str]) -> None:
    cases = tmp_path / "cases.jsonl"
    code, out, _ = gscli("cases", *operators, "-o", str(cases))
    assert code == 0
    met = re.findall(r": 100 cases, (\d+) of (\d+) rules", out)
    assert len(met) == len(operators)
    assert all(some == every for some, every in met)
    assert gscli("verify", str(cases))[1] == f"{100 * len(operators)} passed, 0 failed\n"


def test_only_onnx_has_node_tests(tmp_path: Path) -> None:
    code, _, err = gscli("cases", "torch.gather", "-o", str(tmp_path / "folder"))
    assert code == 2
    assert ".jsonl" in err
    assert not (tmp_path / "folder").exists()


def test_what_cannot_be_a_node_test_is_refused_before_the_calls(tmp_path: Path) -> None:
    code, out, err = gscli("fuzz", "numpy.take", "--on", "numpy", "-o", str(tmp_path / "tests"))
    assert (code, out) == (2, "")
    assert "node tests hold ONNX operators, not numpy.take" in err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "kept").touch()
    code, out, err = fuzzed("negative_is_zero", "-o", str(tmp_path / "full"))
    assert (code, out) == ((73, "") if find_spec("onnx") else (66, ""))


def test_node_tests_need_onnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    for words in (("cases", "onnx.gather"), ("fuzz", "onnx.gather", "--on", f"{WRONG} none")):
        code, out, err = gscli(*words, "--cases", "3", "-o", str(tmp_path / "tests"))
        assert (code, out) == (66, "")
        assert "pip install 'gscli[onnx]'" in err
    assert not list(tmp_path.iterdir())


@needs_onnx
def test_the_models_of_node_tests_pass_the_checker_of_onnx(tmp_path: Path) -> None:
    onnx = import_module("onnx")
    assert gscli("cases", "onnx.gather-nd", "--cases", "25", "-o", str(tmp_path / "tests"))[0] == 0
    models = list((tmp_path / "tests").glob("*/model.onnx"))
    assert len(models) > 10
    for model in models:
        onnx.checker.check_model(onnx.load(model), full_check=True)


@pytest.mark.slow  # it waits for seconds until fuzzing has certainly begun
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_it_tells_what_was_done(number: signal.Signals, status: int) -> None:
    command = [sys.executable, "-m", "gscli", "fuzz", "onnx.gather", "--cases", "9999999"]
    with subprocess.Popen([*command, "--on", WRONG], stdout=subprocess.PIPE, text=True) as process:
        time.sleep(6)
        process.send_signal(number)
        try:
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == status
    assert "interrupted" in out
    assert "0 kinds of failures" in out


@pytest.mark.parametrize("words", [("fuzz", "--on", "numpy"), ("cases", "numpy.take")])
def test_standard_output_holds_one_document(words: tuple[str, ...]) -> None:
    code, out, err = gscli(*words, "-o", "-", "--json")
    assert (code, out) == (2, "")
    assert json.loads(err)["error"]["problem"] == "stdout takes one result"


def test_cases_on_standard_output_stand_there_alone() -> None:
    words = ("fuzz", "onnx.gather", "--on", f"{WRONG} negative_is_zero", "--cases", "60", "-o", "-")
    code, out, err = gscli(*words)
    assert code == 1
    assert {json.loads(line)["op"] for line in out.splitlines()} == {"Gather"}
    assert " of failures" in err


def test_time_alone_sets_no_number_of_calls() -> None:
    code, out, _ = gscli("fuzz", "onnx.gather", "--on", WRONG, "--time", "0.5", "--json")
    found = json.loads(out)
    assert code == 0
    assert 0.3 < found["seconds"] < 60
    code, out, _ = gscli("fuzz", "onnx.gather", "--on", WRONG, "--time", "60", "--cases", "3")
    assert (code, "3 cases" in out) == (0, True)


def test_runtimes_are_listed_and_introduced() -> None:
    code, out, _ = gscli("runtimes")
    assert code == 0
    assert out.startswith("numpy")
    code, out, _ = gscli("runtimes", "numpy")
    assert code == 0
    assert "numpy.add.at" in out
    assert json.loads(gscli("runtimes", "--json")[1])[0]["name"] == "numpy"


def test_an_adapter_is_printed() -> None:
    code, out, _ = gscli("runtimes", "--adapter", "torch")
    assert code == 0
    compile(out, "adapter.py", "exec")


def test_gscli_agrees_with_itself_as_a_peer() -> None:
    peer = f"{sys.executable} -m gscli batch --serve"
    code, out, err = gscli("fuzz", "openvino", "--on", peer, "--cases", "60", "--strict", "-q")
    assert (code, err) == (0, "")
    assert "60 cases" in out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("fuzz", "onnx"), 2),
        (("fuzz", "onnx", "--on", "nunpy"), 2),
        (("fuzz", "no-such-op", "--on", "numpy"), 2),
        (("fuzz", "torch", "--on", "numpy"), 2),
        (("fuzz", "--on", "numpy", "--cases", "0"), 2),
        (("fuzz", "--on", "numpy", "--python", "/nowhere/python"), 66),
        (("fuzz", "--on", "numpy", "--except", "/nowhere/file"), 66),
        (("fuzz", "--on", "numpy", "-o", "/nowhere/found.jsonl"), 73),
        (("fuzz", "--on", "numpy", "--junit", "/nowhere/report.xml"), 73),
        (("fuzz", "--on", "numpy", "--time", "nan"), 2),
        (("fuzz", "--on", "numpy", "--time", "-1"), 2),
        (("fuzz", "--on", "numpy", "--patience", "inf"), 2),
        (("runtimes", "--python", "/bin/ls"), 66),
        (("runtimes", "--adapter", "nunpy"), 2),
        (("runtimes", "numpy", "--adapter", "numpy"), 2),
        (("runtimes", "--python", "/nowhere/python"), 66),
        (("cases", "no-such-op"), 2),
        (("cases", "onnx.gather", "--cases", "1", "-o", "/nowhere/at/all.jsonl"), 73),
        (("verify", "--on", "nunpy", "-"), 2),
    ],
)
def test_bad_words_are_refused(words: tuple[str, ...], code: int) -> None:
    done, out, err = gscli(*words)
    assert (done, out) == (code, "")
    assert err.startswith("error: ")


def test_a_command_that_does_not_begin_is_told_what_a_beginning_is() -> None:
    code, out, err = gscli("fuzz", "onnx.gather", "--on", f"{sys.executable} /nowhere.py")
    assert (code, out, "--python" in err) == (66, "", False)
    assert err.endswith("how a program or class of one's own begins: gscli help runtimes\n")


def test_a_runtime_has_a_row_of_its_own_in_a_comparison() -> None:
    words = ("compare", "gather", "[10,20,30]", "[0,-1]", "--as", "onnx", "--on")
    code, out, _ = gscli(*words, f"{WRONG} negative_is_zero")
    assert code == 1
    assert "wrong negative_is_zero: ONNX Gather-13" in out
    code, out, _ = gscli(*words, f"{WRONG} negative_is_zero", "--json")
    rows = json.loads(out)["rows"]
    assert [row["output"]["data"] for row in rows] == [[10, 30], [10, 10]]
    code, out, _ = gscli(*words, WRONG)
    assert (code, "\nBoth rows agree.\n" in out) == (0, True)
    words = ("compare", "scatter-elements", "[1]", "[0]", "[2]", "-r", "add", "-q", "--on", WRONG)
    code, out, _ = gscli(*words, "--as", "torch,jax,onnx")
    assert (code, out) == (1, "All 3 rows agree; no row for JAX, asked for.\n")


@pytest.mark.parametrize("form", [("--plain",), ("--html", "-"), ("--svg", "-"), ()])
@pytest.mark.parametrize("indices", ["[0,-1]", "[0,7]"])
def test_every_view_shows_what_a_runtime_answers(form: tuple[str, ...], indices: str) -> None:
    words = ("compare", "gather", "[[1,2],[3,4],[5,6]]", indices, "--as", "numpy,onnx", "--on")
    for fault in ("clamped", "crash"):
        code, out, err = gscli(*words, f"{WRONG} {fault}", *form)
        assert (code in (0, 1), err) == (True, "")
        assert out


def test_a_refusal_of_both_stands_in_one_row() -> None:
    words = ("compare", "gather", "[10,20,30]", "[0,7]", "--as", "onnx", "--on", WRONG)
    code, out, _ = gscli(*words)
    assert (code, "Both rows refuse." in out) == (0, True)


def test_the_unchecked_indices_of_a_framework_are_not_those_of_a_runtime() -> None:
    peer = f"{sys.executable} -m gscli batch --serve"
    words = ("compare", "scatter-update", "[1,2]", "[-1]", "[9]", "--as", "openvino", "--on", peer)
    _, out, _ = gscli(*words, "--plain")
    assert "OpenVINO ScatterUpdate-3 itself: may write outside data" in " ".join(out.split())


@pytest.mark.parametrize("names", ["tf", "tf,onnx"])
@pytest.mark.parametrize("form", [(), ("--grad",)])
def test_what_a_runtime_cannot_say_is_a_note_beside_other_rows(
    names: str, form: tuple[str, ...]
) -> None:
    words = ("compare", "gather", "[[1.5,2],[3,4]]", "[[0],[1]]", "--batch-dims", "1", *form)
    code, out, err = gscli(*words, "--as", names, "--on", WRONG)
    assert (code, err) == (1, "")
    assert "TF gather" in out
    assert ("ONNX Gather-13: no batch_dims" if form else "No row for ONNX Gather-13: ") in out


def test_a_runtime_without_the_operation_is_told() -> None:
    code, _, err = gscli("compare", "scatter-update", "[1,2]", "[0]", "[9]", "--on", WRONG)
    assert code == 2
    assert "no operator" in err or "no rule set" in err


@pytest.mark.parametrize("finding", read_observations(), ids=lambda one: one.command[:60])
def test_a_finding_is_a_command_whose_rules_are_as_told(
    finding: RuntimeObservation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, tool, *words = shlex.split(finding.command)
    assert program == "gscli"
    if tool == "grad":
        (gradient,) = json.loads(gscli(tool, *words, "--json")[1])["gradients"].values()
        assert json.loads(finding.rules) == gradient["data"]
        return
    at = words.index("--on")
    assert words[at + 1].partition(":")[0] in NAMES
    monkeypatch.chdir(tmp_path)
    if tool == "verify":
        case = parse_case(words[-1].encode(), finding.command)
        assert run_case(case).problem == ""
        answer = FuzzCase(find_operator(case.operator), case.inputs, case.attrs).expected_result
        told = format_values(answer.output) if isinstance(answer, Trace) else answer.problem
        assert finding.rules == told
        return
    code, out, err = gscli(tool, *words[:at], "--json")
    assert (code in (0, 1), err) == (True, "")
    row = json.loads(out)["rows"][0]
    if "error" in row:
        assert finding.rules == row["error"]["problem"]
    else:
        told = json.loads(re.sub(r"[a-z]+", r'"\g<0>"', finding.rules))
        assert _flat(told) == row["output"]["data"]


def test_the_commands_of_findings_can_be_copied() -> None:
    shown = gscli("help", "findings")[1].replace("\\\n", " ")
    told = [shlex.split(line) for line in shown.splitlines() if line.startswith("  gscli ")]
    assert told == [shlex.split(one.command) for one in read_observations()]


def test_the_topics_tell_what_the_commands_are() -> None:
    code, out, _ = gscli("help", "runtimes")
    assert code == 0
    assert "gscli fuzz" in out
    assert all(one.runtime in gscli("help", "findings")[1] for one in read_observations()[:3])


def recorded(name: str, expect: str, output: int) -> str:
    inputs = {"data": {"dtype": "int64", "shape": [2], "data": [1, 2]},
              "indices": {"dtype": "int64", "shape": [1], "data": [0]}}  # fmt: skip
    answer = {"dtype": "int64", "shape": [1], "data": [output]}
    case = {"id": name, "framework": "onnx", "op": "Gather", "inputs": inputs, "expect": expect}
    return json.dumps(case | ({"output": answer} if expect == "output" else {}))


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "c,1.jsonl"
    lines = [recorded("one:a", "output", 2), "", recorded("two", "error", 0)]
    path.write_text("\n".join([*lines, recorded("three", "output", 1)]) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("has_gradients", [True, False])
def test_a_recorded_gradient_is_held_against_one_or_skipped(has_gradients: bool) -> None:
    """Skipped of a runtime without gradients, and missed of one that says that it has them."""
    tensor = {"dtype": "float64", "shape": [1], "data": [1.0]}
    inputs = {"data": tensor, "indices": {"dtype": "int64", "shape": [1], "data": [0]}}
    record = {
        "id": "one", "framework": "onnx", "op": "Gather", "attrs": {}, "inputs": inputs,
        "expect": "output", "output": tensor, "cotangent": tensor, "gradients": {"data": tensor},
    }  # fmt: skip
    (case,) = read_cases(json.dumps(record))

    class Answerer:
        hello = Hello("mine", "1", frozenset(("onnx.gather",)), has_gradients=has_gradients)

        def run_call(self, *_call: object) -> Reply:
            return Reply("output", case.output)

    result = run_case_on(cast(RuntimeProcess, Answerer()), case)
    problem = None if result is None else result.problem
    assert problem == ("no gradient of data, recorded one" if has_gradients else None)


def test_known_failures_of_verify_do_not_count_and_lines_that_match_nothing_are_told(
    cases: Path, tmp_path: Path
) -> None:
    known = tmp_path / "known"
    known.write_text("# from a year ago\none:*\nfour\n", "utf-8")
    code, out, err = gscli("verify", str(cases), "--except", str(known))
    assert (code, out.splitlines()[-1]) == (1, "1 passed, 1 failed, 1 known")
    assert err == "warning: --except: no failure is four\n"
    cases.write_text(cases.read_text("utf-8").replace('"two"', '"two[1]?"'), "utf-8")
    code, _, err = gscli("verify", str(cases), "--except", str(tmp_path))
    assert (code, err.splitlines()[0]) == (66, "error: --except names a folder")
    assert "gscli run" not in err
    known.write_text("one:a\ntwo[1]?\ntwo[1]x\n", "utf-8")
    told = "warning: --except: no failure is two[1]x\n"
    assert gscli("verify", str(cases), "--except", str(known), "-q")[::2] == (0, told)
    code, out, _ = gscli("verify", str(cases), "--except", str(known), "--json")
    counts = {"passed": 1, "failed": 0, "known": 2}
    assert (code, json.loads(out)) == (0, {**counts, "failures": [], "warnings": []})


def test_failures_of_verify_annotate_lines_for_github(cases: Path) -> None:
    code, out, _ = gscli("verify", str(cases), "--format", "github")
    first, second, _ = out.splitlines()
    place = str(cases).replace(",", "%2C")
    problem = "output[0] is 1, recorded 2; gscli gather '[1,2]' '[0]'"
    assert (code, first) == (1, f"::error file={place},line=1,title=one%3Aa::{problem}")
    assert second.startswith(f"::error file={place},line=3,title=two::answered [1], ")


def paste(command: str) -> tuple[int, str, str]:
    """What a printed command does where it is typed."""
    program, *words = shlex.split(command)
    assert program == "gscli"
    return gscli(*words)


@pytest.mark.parametrize("source", ["file", "pipe", "word"])
def test_a_failure_on_a_runtime_is_shown_again_by_its_command(
    source: str, cases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rules give 1, which is no failure; the runtime gives something else."""
    negative = json.loads(recorded("of the runtime", "output", 2))
    negative["inputs"]["indices"]["data"] = [-1]
    line = json.dumps(negative)
    text = f"{recorded('three', 'output', 1)}\n{line}\n"
    cases.write_text(text, "utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    path = {"file": str(cases), "pipe": "-", "word": line}[source]
    how = ("--on", f"{WRONG} negative_is_zero", "--patience", "15", "--strict")
    failure = f"FAILED of the runtime: output[0] is {1}, recorded {2}\n"
    code, out, err = gscli("verify", path, *how)
    assert (code, err, out.count("FAILED "), failure in out) == (1, "", 1, True)
    command = out.partition(failure)[2].splitlines()[0].strip()
    code, again, err = paste(command)
    assert (code, err, again) == (1, "", f"{failure}  {command}\n0 passed, 1 failed, 0 skipped\n")
    if source != "file":
        return
    assert f" --only 'of the runtime' --on '{WRONG} negative_is_zero' --patience 15 " in command
    assert command in gscli("verify", path, *how, "--format", "github")[1].replace("%2C", ",")
    assert command in ET.fromstring(gscli("verify", path, *how, "--junit", "-")[1])[1][0].text  # type: ignore[operator]
    document = json.loads(gscli("verify", path, *how, "--json")[1])
    assert [each["command"] for each in document["failures"]] == [command]


def test_a_name_that_is_misspelt_is_told_again_by_its_command(cases: Path) -> None:
    cases.write_text(recorded("a", "output", 1).replace('"indices"', '"indics"'), "utf-8")
    code, out, _ = gscli("verify", str(cases), "--on", WRONG)
    assert (code, "not tried: onnx.gather has no input 'indics'" in out) == (1, True)
    assert paste(out.splitlines()[1].strip())[:2] == (code, out)


def test_verify_groups_failures_and_reports_them_as_fuzz_does(tmp_path: Path) -> None:
    path, known, folder = tmp_path / "c.jsonl", tmp_path / "known", tmp_path / "reports"
    assert gscli("cases", "onnx.gather", "onnx.gather-nd", "--cases", "40", "-o", str(path))[0] == 0
    words = ("verify", str(path), "--on", f"{WRONG} negative_is_zero")
    code, out, _ = gscli(*words, "--report", str(folder))
    at = out.index("alike in ")
    assert (code, out[:at].count("FAILED ")) == (1, int(out[at:].split()[2]))
    title = "onnx.gather, onnx.gather_nd another value than the record (negative index"
    assert title in out[at:].splitlines()[0]
    names = [line[12:] for line in out.splitlines() if line.startswith("  known as: ")]
    assert {name.partition(": ")[0] for name in names} == {
        "onnx.gather value",
        "onnx.gather_nd value",
    }
    assert list(folder.glob("*.md"))
    known.write_text("\n".join(names), "utf-8")
    code, out, err = gscli(*words, "--except", str(known))
    assert (code, err, ", 0 failed, " in out) == (0, "", True)
    assert gscli("verify", str(path), "--report", str(folder))[0] == 2


def test_a_report_of_verify_expects_what_the_record_has(cases: Path, tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    words = ("verify", str(cases), "--on", f"{WRONG} right", "--strict", "--report", str(folder))
    assert gscli(*words)[0] == 1
    value, refusal = (path.read_text("utf-8") for path in sorted(folder.glob("*.md"))[::-1])
    assert value.startswith("# onnx.gather: another value than the record\n")
    assert "Expected: `[2] int64`" in value
    assert recorded("one:a", "output", 2) in value
    assert refusal.startswith("# onnx.gather: answers what the record refuses\n")
    assert "Expected: `a refusal`" in refusal
    assert recorded("two", "error", 0) in refusal


def test_verify_writes_a_junit_report(cases: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert gscli("verify", str(cases), "--junit", str(report))[0] == 1
    suite = ET.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert [case.get("name") for case in suite] == ["three", "one:a", "two"]
    before = cases.read_bytes()
    code, _, err = gscli("verify", "--junit", str(cases), str(cases))  # its own word was left out
    assert (code, cases.read_bytes() == before) == (2, True)
    assert err.endswith("help: --junit report.xml\n")
    missing = str(tmp_path / "no" / "report.xml")
    assert gscli("verify", str(cases), "--junit", missing)[0] == 73
    code, out, err = gscli("verify", str(cases), "--junit", "-")
    assert (code, len(ET.fromstring(out)), "1 passed, 2 failed\n" in err) == (1, 3, True)
    assert gscli("verify", str(cases), "--junit", "-", "--json")[0] == 2
    (tmp_path / "known.txt").write_text("two\n")
    _, out, _ = gscli("verify", str(cases), "--except", str(tmp_path / "known.txt"), "--junit", "-")
    assert [case.get("name") for case in ET.fromstring(out).findall(".//skipped/..")] == ["two"]
    assert gscli("verify", str(cases), "--only", "three", "--junit", str(report))[0] == 0
    assert [case.get("name") for case in ET.parse(report).getroot()] == ["three"]


def test_what_a_runtime_does_not_answer_is_skipped_in_the_report_too(cases: Path) -> None:
    cases.write_text(cases.read_text("utf-8").replace('"Gather"', '"TensorScatter"', 1), "utf-8")
    words = ("verify", str(cases), "--on", f"{WRONG} right", "--junit", "-")
    _, out, err = gscli(*words)
    assert err.endswith("1 passed, 0 failed, 1 warning, 1 skipped\n")
    suite = ET.fromstring(out)
    assert (suite.get("tests"), suite.get("skipped")) == ("3", "2")
    reasons = {str(case.get("name")): case[0].get("message") for case in suite if len(case)}
    assert reasons["one:a"] == "not supported"


@pytest.mark.parametrize(
    ("only", "status", "counts"),
    [
        ("", 1, "1 passed, 2 failed, 1 refused"),
        ("three", 65, "1 passed, 0 failed, 1 refused"),
        ("zzz", 2, "0 passed, 0 failed, 1 refused"),
    ],
)
def test_a_line_that_is_no_case_is_red_everywhere(
    only: str, status: int, counts: str, cases: Path, tmp_path: Path
) -> None:
    cases.write_text(cases.read_text("utf-8") + "nonsense\n", "utf-8")
    report = tmp_path / "report.xml"
    words = ("verify", str(cases), "--only", only, "--junit", str(report))
    code, out, err = gscli(*words)
    assert (code, out.splitlines()[-1]) == (status, counts)
    assert "c,1.jsonlline5" in "".join(err.replace("|", "").split())  # where it is wrapped, too
    suite = ET.parse(report).getroot()
    assert suite.get("errors") == "1"
    problem = "not a recorded case; not JSON: Expecting value"
    assert [each.get("message") for each in suite.iter("error")] == [problem]
    code, out, _ = gscli(*words, "--format", "github")
    place = str(cases).replace(",", "%2C")
    line = f"::error file={place},line=5,title={place} line 5::{problem}"
    assert (code, line in out.splitlines()) == (status, True)
    code, out, _ = gscli(*words, "--json")
    document = json.loads(out)
    assert (code, document["refused"], len(document["failures"])) == (
        status, 1, document["failed"],
    )  # fmt: skip
    (refusal,) = document["refusals"]
    assert "c,1.jsonl line 5" in refusal["where"]


def test_an_answer_where_the_record_refuses_is_a_warning_as_in_fuzz(cases: Path) -> None:
    words = ("verify", str(cases), "--only", "two", "--on", f"{WRONG} right")
    code, out, _ = gscli(*words)
    assert code == 0
    assert out.splitlines()[0] == "warning two: answered [1], the record is a refusal"
    assert out.splitlines()[-1] == "0 passed, 0 failed, 1 warning, 0 skipped"
    (warning,) = json.loads(gscli(*words, "--json")[1])["warnings"]
    assert (warning["id"], warning["problem"]) == ("two", "answered [1], the record is a refusal")
    assert gscli(*words, "--strict")[0] == 1


def test_the_null_device_is_a_list_of_no_known_failures(cases: Path) -> None:
    words = ("verify", str(cases), "--only", "three")
    assert gscli(*words, "--except", os.devnull) == gscli(*words)


def test_known_differences_of_fuzz_that_were_not_met_are_told(tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text("onnx.gather value: *\nnothing of the kind\n", "utf-8")
    _, out, err = fuzzed("negative_is_zero", "--except", str(known))
    assert err == "warning: --except: no failure is nothing of the kind\n"
    lines = [line for line in out.splitlines() if "known as:" in line]
    assert lines
    known.write_text("\n".join(lines), "utf-8")
    assert fuzzed("negative_is_zero", "--except", str(known))[::2] == (0, "")


def test_a_runtime_of_another_release_than_the_rules_is_told_so(tmp_path: Path) -> None:
    text = bundle_adapter("numpy").replace("np.__version__", "'1.26.4'")
    (tmp_path / "old.py").write_text(text, "utf-8")
    on = shlex.join([sys.executable, str(tmp_path / "old.py")])
    code, _, err = gscli("fuzz", "numpy.take", "--on", on, "--cases", "3")
    assert code == 0
    assert "the rules are of NumPy 2.4.6, this is numpy 1.26.4" in err


def test_a_report_has_a_script_that_runs_without_gscli_and_a_text(tmp_path: Path) -> None:
    table: list[tuple[str, dict[str, object], dict[str, object]]] = [
        ("numpy.add.at", {"a": [1.5], "indices_0": [[0]], "b": [10.0]}, {}),
        ("numpy.take", {"a": [1, 2], "indices": [5]}, {}),
        ("numpy.getitem", {"a": [[1, 2]], "indices_0": True}, {"subscript": "i"}),
        ("numpy.take", {"a": ["a", "ü"], "indices": [[-1]]}, {"mode": "wrap"}),
    ]
    calls = [
        FuzzCase(
            find_operator(name), {key: np.array(value) for key, value in inputs.items()}, attrs
        )
        for name, inputs, attrs in table
    ]
    findings = [
        FuzzFinding(call, Mismatch("value"), Reply("output", np.array([9]))) for call in calls
    ]
    sequence = replace(findings[1], mismatch=Mismatch("sequence", "value"), calls_before=3)
    ReportFolder(str(tmp_path), "numpy").update(
        FuzzReport(Hello("numpy", "2.4.6", frozenset()), {}, [*findings, sequence])
    )
    scripts = sorted(tmp_path.glob("*.py"))
    assert len(scripts) == len(calls)
    texts = sorted({*tmp_path.glob("*.md")} - {tmp_path / "sequence-value.md"})
    assert texts == [script.with_suffix(".md") for script in scripts]
    seen = []
    for script in scripts:
        text = script.read_text("utf-8")
        assert "import gscli" not in text
        done = subprocess.run(
            [sys.executable, "-I", str(script)], capture_output=True, text=True, check=False
        )
        assert done.stdout.startswith("expected: "), done.stderr
        seen.append("IndexError" in done.stderr or done.stdout.splitlines()[1])
        told = script.with_suffix(".md").read_text("utf-8")
        assert all(
            word in told for word in ("Version: numpy 2.4.6", "Expected:", "Seen:", "The rule")
        )
        assert text.rstrip() in told
    shown = " ".join(map(str, seen))
    assert all(part in shown for part in ("True", "[11.5]", "[['ü']]", "[[[1, 2]]] int64")), shown


def test_two_findings_that_meet_the_same_rules_have_a_report_each(tmp_path: Path) -> None:
    """A refusal and another value of smaller indices, both left open."""
    inputs = {"data": np.array([[1, 2]]), "indices": np.array([[0]])}
    call = FuzzCase(find_operator("onnx.gather_elements"), inputs, {})
    findings = [
        FuzzFinding(call, Mismatch("open", "refuses"), Reply("error", None, "no such thing")),
        FuzzFinding(call, Mismatch("open", "shape"), Reply("output", np.array([[1, 2]]))),
    ]
    hello = Hello("mine", "1", frozenset())
    ReportFolder(str(tmp_path), "./mine").update(FuzzReport(hello, {}, findings))
    texts = [path.read_text("utf-8") for path in sorted(tmp_path.glob("*.md"))]
    assert not any("\n\n\n" in text for text in texts)
    assert len(texts) == 2
    assert "no such thing" in "".join(texts)


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("torch.embedding_bag", "torch.nn.functional.embedding_bag.html"),
        ("torch.index_fill", "torch.Tensor.index_fill.html"),
        ("torch.index", "tensors.html"),
        ("tensorflow.segment_sum", "tf/math/segment_sum"),
        ("tensorflow.scatter_nd_add", "tf/compat/v1/scatter_nd_add"),
        ("tensorflow.tensor_scatter_nd_add", "tf/tensor_scatter_nd_add"),
        *((operator.full_name, "") for operator in operators()),
    ],
)
def test_a_report_names_the_page_of_the_rule(name: str, page: str) -> None:
    case = next(iter(generate_cases(find_operator(name), 3)))
    finding = FuzzFinding(case, Mismatch("value"), Reply("error", None, "no"))
    text = format_markdown(Cause((finding,), frozenset()), "1", "")
    assert re.search(rf"The rule \(https://\S*{re.escape(page)}\):\n", text)


def test_the_command_of_a_gradient_gives_what_it_is_said_to_give() -> None:
    """PyTorch counts data that takes no part, which the rules do not."""
    inputs = {"input": np.array([2.0]), "index": np.array([0]), "src": np.array([2.0])}
    attrs = {"dim": 0, "reduce": "amax", "include_self": False}
    case = FuzzCase(find_operator("torch.scatter_reduce"), inputs, attrs, has_gradients=True)
    words = shlex.split(case.command)[1:]
    code, out, _ = gscli(*words, "--of", "src", "--json=output")
    expected = case.expected_tensors()["gradient of src"]
    assert (code, json.loads(out)["data"]) == (0, expected.tolist())
    plain = replace(case, attrs={**attrs, "include_self": True})
    assert "--rules" not in plain.command


WORDS = (
    ("onnx.gather", "onnxruntime", "onnxruntime:CUDAExecutionProvider", "onnx", "tinygrad",
     "tinygrad:CPU", "tvm", "tract", "iree", "iree:vmvx", "onnx2torch", "mlx", "mlx:gpu", "paddle"),
    ("openvino.gather", "openvino", "openvino:GPU"),
    ("torch.index_copy", "torch", "torch:compile", "torch:cuda"),
    ("jax.at.set", "jax", "jax:jit", "jax:op-by-op"),
    ("tensorflow.scatter_nd_update", "tensorflow"),
    ("tensorflow.unsorted_segment_sum", "tensorflow", "tensorflow:xla"),
    ("stablehlo.gather", "stablehlo"),
    ("numpy.add.at", "numpy"),
)  # fmt: skip


@pytest.mark.parametrize("row", WORDS, ids=lambda row: row[0])
def test_a_script_of_any_runtime_is_short_and_in_its_own_words(row: tuple[str, ...]) -> None:
    operator = find_operator(row[0])
    case = next(iter(generate_cases(operator, 3)))
    texts = [write_script(case, on, "[1]") for on in row[1:]]
    for on, text in zip(row[1:], texts, strict=True):
        compile(text, on, "exec")
        assert 4 < len(text.splitlines()) <= 40, on
        assert "gscli" not in text
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("name", ["torch.scatter_reduce", "tensorflow.gather_nd", "jax.at.max"])
def test_a_script_asks_for_gradients_of_the_inputs_with_fractions(name: str) -> None:
    case = next(iter(generate_gradient_cases(find_operator(name), 3)))
    text = write_script(case, name.partition(".")[0], "[1]")
    compile(text, name, "exec")
    assert "cotangent" in text
    assert 'print("gradients of data' in text


def test_a_report_of_a_command_is_a_text_alone_and_stands_when_the_run_is_ended(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "reports"
    command = [
        sys.executable, "-m", "gscli", "fuzz", "onnx.gather", "--cases", "1000000",
        "--on", f"{WRONG} negative_is_zero", "--report", str(folder),
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        deadline = time.monotonic() + 60
        while not list(folder.glob("*.md")) and time.monotonic() < deadline:
            time.sleep(0.05)
        run.send_signal(signal.SIGTERM)
        out, _ = run.communicate(timeout=30)
    assert run.returncode == 143
    assert "[1] failure: onnx.gather another value than the rules" in out
    assert list(folder.glob("*.md"))
    assert not list(folder.glob("*.py"))


REPORTS = Path(__file__).parents[2] / "samples" / "53-runtime-findings" / "reports"


def test_every_finding_has_a_script_without_gscli_and_a_text_with_what_it_printed() -> None:
    scripts = sorted(REPORTS.glob("*.py"))
    assert len(scripts) == len(read_observations())
    for script, observation in zip(scripts, read_observations(), strict=True):
        text = script.read_text("utf-8")
        compile(text, script.name, "exec")
        assert not re.search(r"^\s*(import|from) gscli", text, re.MULTILINE), script.name
        report = script.with_suffix(".md").read_text("utf-8")
        version = observation.runtime.split(",")[0].split()[-1]
        assert f" {version}" in report.splitlines()[2], (script.name, report.splitlines()[2])
        assert text.rstrip() in report
        assert len(text.splitlines()) <= 40, script.name
        _, printed = report.split("What the script printed:")
        assert "expected: " in printed, script.name


def test_a_runtimes_refusal_of_a_misspelt_name_is_not_the_recorded_one(tmp_path: Path) -> None:
    one = {"dtype": "int64", "shape": [1], "data": [7]}
    case = {"id": "x", "op": "numpy.take", "inputs": {"a": one, "indices": one}, "expect": "error"}
    file = tmp_path / "cases.jsonl"
    lines = ({**case, "attrs": attrs} for attrs in ({}, {"axiss": 0}, {"batch_dims": 1}))
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    code, out, _ = gscli("verify", str(file), "--on", "numpy")
    assert (code, out.splitlines()[-1]) == (1, "2 passed, 1 failed, 0 skipped")
    assert "has no attribute 'axiss'" in out
    assert "did you mean axis?" in out
