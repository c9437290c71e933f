"""Official ONNX node tests: every Gather and Scatter folder of the backend suite passes."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest
from shell import call_gscli as gscli

from gscli.cli import run_safely
from gscli.lab.node_tests import find_test_folders, run_folder

onnx = pytest.importorskip("onnx")

FAMILIES = ("test_gather", "test_scatter")


def write(case: Any, parent: Path) -> None:
    """One case of the suite as the folder that the suite's own generator makes of it."""
    folder = parent / case.name
    folder.mkdir()
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    graph = case.model.graph
    for number, tensors in enumerate(case.data_sets):
        place = folder / f"test_data_set_{number}"
        place.mkdir()
        for kind, values, names in zip(
            ("input", "output"), tensors, (graph.input, graph.output), strict=True
        ):
            for index, (value, named) in enumerate(zip(values, names, strict=True)):
                tensor = onnx.numpy_helper.from_array(value, named.name)
                (place / f"{kind}_{index}.pb").write_bytes(tensor.SerializeToString())


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite's folders of this family; the wheel has their makers, not the folders."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other operators' cases overflow on purpose
        from onnx.backend.test.case import node

        for module in iter_modules(node.__path__):  # all others take a minute to compute
            if "gather" in module.name or "scatter" in module.name:
                import_module(f"{node.__name__}.{module.name}")
        cases = node._NodeTestCases
    parent = tmp_path_factory.mktemp("node")
    for case in cases:
        if case.name.startswith(FAMILIES):
            write(case, parent)
    return parent


@pytest.fixture
def copied(suite: Path, tmp_path: Path) -> Path:
    """One folder of the suite to be damaged."""
    return shutil.copytree(suite / "test_scatternd_add", tmp_path / "test_scatternd_add")


def outcome(folder: Path) -> str:
    """The one problem of a folder."""
    (found,) = run_folder(folder)
    return found.problem


def test_the_backend_suite_passes(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = len(list(suite.iterdir()))
    assert count >= 26
    assert run_safely(["run", str(suite)]) == 0
    assert capsys.readouterr().out == f"{count} passed, 0 failed\n"


def test_the_command_in_a_shell(suite: Path) -> None:
    done = gscli("run", "test_gather_0", "test_scatternd", "-v", cwd=suite)
    assert done.returncode == 0
    assert done.stdout.decode().splitlines() == [
        "passed test_gather_0/test_data_set_0",
        "passed test_scatternd/test_data_set_0",
        "2 passed, 0 failed",
    ]


def test_outcomes_as_data(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["run", str(suite), "--only", "scatternd_max", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["failed"] == 0
    assert [Path(test["folder"]).name for test in document["tests"]] == [
        "test_scatternd_max", "test_scatternd_max_with_element_indices",
    ]  # fmt: skip


def test_a_wrong_output_fails(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = copied / "test_data_set_0" / "output_0.pb"
    tensor = onnx.TensorProto.FromString(recorded.read_bytes())
    array = onnx.numpy_helper.to_array(tensor).copy()
    array[0, 1, 2] += 1
    recorded.write_bytes(onnx.numpy_helper.from_array(array).SerializeToString())
    assert run_safely(["run", str(copied)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"FAILED {copied}/test_data_set_0: output[0,1,2] is ")
    assert lines[1] == "0 passed, 1 failed"
    assert run_safely(["run", str(copied), "-q"]) == 1
    assert capsys.readouterr().out == "0 passed, 1 failed\n"


def test_data_sets_are_judged_one_by_one(copied: Path) -> None:
    for number in (10, 2):
        shutil.copytree(copied / "test_data_set_0", copied / f"test_data_set_{number}")
    (copied / "test_data_set_2" / "input_1.pb").write_bytes(b"\xff")
    found = list(run_folder(copied))
    assert [one.data_set for one in found] == [f"test_data_set_{n}" for n in (0, 2, 10)]
    assert [bool(one.problem) for one in found] == [False, True, False]


def test_the_model_says_operator_attributes_and_opset(copied: Path) -> None:
    model = onnx.ModelProto.FromString((copied / "model.onnx").read_bytes())
    node = model.graph.node[0]
    model.opset_import[0].version = 15
    (copied / "model.onnx").write_bytes(model.SerializeToString())
    assert "needs opset 16" in outcome(copied)
    model.opset_import[0].version = 18
    del node.attribute[:]
    (copied / "model.onnx").write_bytes(model.SerializeToString())
    assert "output[" in outcome(copied), "without its reduction the answer is another one"


def test_damaged_folders_are_outcomes(copied: Path) -> None:
    (copied / "test_data_set_0" / "input_2.pb").unlink()
    assert "input_2.pb" in outcome(copied)
    shutil.rmtree(copied / "test_data_set_0")
    assert outcome(copied) == "no test_data_set_* folder"
    (copied / "model.onnx").write_bytes(b"\xff\xff")
    assert outcome(copied)


def foreign(folder: Path, *op_types: str, domain: str = "") -> Path:
    """A folder whose model has these nodes."""
    folder.mkdir()
    model = onnx.ModelProto()
    for op_type in op_types:
        model.graph.node.add(op_type=op_type, domain=domain)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder


def test_what_is_no_gather_or_scatter_is_skipped_with_the_reason(
    copied: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    relu = foreign(tmp_path / "test_relu", "Relu")
    alien = foreign(tmp_path / "test_alien", "Gather", domain="com.example")
    two = foreign(tmp_path / "test_two", "Gather", "Relu")
    others = {
        relu: "gscli has no operator Relu",
        alien: "Gather is of the domain com.example",
        two: "the model has 2 nodes, a node test has one",
    }
    assert run_safely(["run", *map(str, [*others, copied])]) == 0
    assert capsys.readouterr().out.splitlines() == [
        *(f"skipped {folder}: {reason}" for folder, reason in others.items()),
        "1 passed, 0 failed, 3 skipped",
    ]
    (copied / "test_data_set_0" / "input_2.pb").unlink()
    assert run_safely(["run", str(tmp_path), "-q"]) == 1
    assert capsys.readouterr().out == "0 passed, 1 failed, 3 skipped\n"
    assert run_safely(["run", str(relu), str(copied), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [document[status] for status in ("passed", "failed", "skipped")] == [0, 1, 1]
    assert [test["status"] for test in document["tests"]] == ["skipped", "failed"]
    assert document["tests"][0]["problem"] == others[relu]


def test_of_many_skipped_folders_some_are_listed(
    copied: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(13):
        foreign(tmp_path / f"test_{number}", "Relu")
    assert run_safely(["run", str(copied.parent)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("skipped ") for line in lines) == 10
    assert lines[-2:] == ["and 3 more skipped: -v", "1 passed, 0 failed, 13 skipped"]
    assert run_safely(["run", str(copied.parent), "-v"]) == 0
    assert capsys.readouterr().out.count("skipped /") == 13


def test_nothing_to_run_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    relu = foreign(tmp_path / "test_relu", "Relu")
    assert run_safely(["run", str(relu)]) == 65
    assert "nothing to run here" in (told := capsys.readouterr().err)
    assert "gscli has no operator Relu" in told
    assert run_safely(["run", str(relu), "--json"]) == 65
    assert json.loads(capsys.readouterr().err)["error"]["details"] == ["gscli has no operator Relu"]
    assert run_safely(["run", str(tmp_path), "--only", "scatter"]) == 2
    assert "no node test's name contains 'scatter'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option",
    ["-o x.npy", "-f npy", "--strict", "--expect [1]", "--dtype float64", "--svg x.svg",
     "--html x.html", "--step", "--full", "--precision 3"],
)  # fmt: skip
def test_options_of_one_node_are_refused_beside_folders_of_them(
    option: str, copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", str(copied.parent), *option.split()]
    assert run_safely(words) == 2
    assert "help: name one of them, or leave out --" in capsys.readouterr().err
    assert run_safely(["run", str(copied), "-q", "--precision", "3"]) == 0


def test_folders_without_models_are_unreadable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(["run", str(tmp_path)]) == 66
    assert "no model.onnx here" in capsys.readouterr().err


def test_folders_are_found_one_level_below(suite: Path) -> None:
    assert len(find_test_folders([str(suite)])) == len(list(suite.iterdir()))
    for named in ("test_gather_0", "test_gather_0/model.onnx"):
        assert find_test_folders([str(suite / named)]) == [suite / "test_gather_0"]


def _all_that_is_drawn(master: int) -> bytes:
    """What a terminal is sent until its other end is closed; one read holds only a part of it."""
    drawn = b""
    with suppress(OSError):  # Linux says EIO where nobody holds the other end any more
        while part := os.read(master, 1 << 16):
            drawn += part
    return drawn


def test_progress_is_drawn_on_a_terminal_when_it_takes_long(
    suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    master, slave = os.openpty()
    monkeypatch.setattr("gscli.views.progress_bar.SHOWN_AFTER", 0.0)
    with ThreadPoolExecutor(1) as reader, os.fdopen(slave, "w") as terminal:
        reading = reader.submit(_all_that_is_drawn, master)
        monkeypatch.setattr("sys.stderr", terminal)
        code = run_safely(["run", str(suite), "--only", "scatternd"])
        terminal.close()
        drawn = reading.result(timeout=60)
    os.close(master)
    assert code == 0
    assert b"node tests" in drawn
    assert b"7/7" in drawn
    assert capsys.readouterr().out == "7 passed, 0 failed\n"
