"""Bundled adapters: each stands alone, and those of installed packages agree with the rules."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import slow

import gscli
from gscli.base import UsageError
from gscli.codegen.execution import start_snippet_process
from gscli.disk.processes import ProcessSpec
from gscli.frameworks import find_operator
from gscli.lab.calls import to_gscli_name
from gscli.lab.cases import Case, read_cases
from gscli.runtimes.catalogue import (
    ADAPTERS,
    BACKEND,
    NAMES,
    PARTS,
    adapter_folder,
    build_runtime_command,
    bundle_adapter,
    list_installed,
    load_shared_module,
)
from gscli.runtimes.findings import FuzzReport
from gscli.runtimes.fuzz import FuzzOptions, fuzz
from gscli.runtimes.process import RuntimeProcess
from gscli.runtimes.protocol import select_supported
from gscli.runtimes.recorded import run_case_on
from gscli.runtimes.selftest import _iter_examples, check_adapter

VECTORS = Path(__file__).parents[1] / "vectors"
ALL = [*NAMES, BACKEND.name]


def fuzzed(name: str, cases: int, patience: float = 20.0) -> FuzzReport:
    with RuntimeProcess(build_runtime_command(name), patience=patience) as runtime:
        operators = select_supported(runtime.start(), ())
        check_adapter(runtime, operators)
        return fuzz(runtime, operators, FuzzOptions(cases))


def needs(package: str) -> pytest.MarkDecorator:
    missing = find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"{package} is not installed")


@pytest.mark.slow
def test_the_gate_asks_numpy_onnx_and_onnxruntime() -> None:
    """Where the tests below are skipped nothing is asked; the gate must not be such a place."""
    found = {one.adapter.name: one.version for one in list_installed()}
    assert all(found[name] for name in ("numpy", "onnx", "onnxruntime")), found


def test_the_adapter_of_its_framework_answers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that `gscli fuzz OPERATOR --on FRAMEWORK` asks the framework itself."""
    monkeypatch.syspath_prepend(str(adapter_folder()))
    for operator in gscli.operators():
        if operator.framework_name in NAMES:
            adapter = import_module(f"{operator.framework_name}_adapter")
            told = [*adapter.OPS, *getattr(adapter, "NEWEST", ())]
            answers = {
                to_gscli_name(operator.framework_name, name.partition(".")[2]) for name in told
            }
            name = operator.full_name
            assert name in answers, f"add {name} to OPS of {adapter.__name__}.py"


@pytest.mark.parametrize("name", ALL)
def test_an_adapter_is_one_file_that_imports_nothing_of_gscli(name: str) -> None:
    tree = ast.parse(bundle_adapter(name))
    imported = {
        alias.name if isinstance(node, ast.Import) else str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert not {one for one in imported if one.split(".")[0] in ("gscli", *PARTS)}
    assert "serve" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", NAMES)
def test_an_adapter_names_operators_that_there_are(name: str) -> None:
    tree = ast.parse(bundle_adapter(name))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    frameworks = {"onnx", "numpy", "torch", "jax", "tensorflow", "openvino", "stablehlo"}
    names = [
        text
        for text in texts
        if isinstance(text, str) and text.count(".") in (1, 2)
        and text.replace(".", "").replace("_", "").isalnum()
        and text.split(".")[0] in frameworks and text.split(".")[1][:1].isalpha()
        and text.split(".")[1] not in ("opset", "reference")
    ]  # fmt: skip
    for text in names:
        if not text.endswith("."):
            find_operator(to_gscli_name(*text.split(".", 1)))


# Runtimes that take NumPy's arrays themselves: there is nothing to convert.
TAKES_ARRAYS = {"numpy", "onnx", "onnxruntime", "backend", "iree"}


@pytest.mark.parametrize("name", sorted(set(ALL) - TAKES_ARRAYS))
def test_an_adapter_leaves_what_it_cannot_convert_to_the_answerer(name: str) -> None:
    tree = ast.parse((adapter_folder() / f"{name}_adapter.py").read_text("utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    functions = {node.func.id for node in calls if isinstance(node.func, ast.Name)}
    keywords = {word.arg for node in calls for word in node.keywords}
    assert "tensor_of" in keywords or {"convert", "Runner"} & functions


def test_what_the_lines_of_a_runtime_cannot_convert_is_no_refusal() -> None:
    models = load_shared_module("onnx_models")
    models.RUNS["mine"] = models.Run("class Tensor: pass", "output = 1", "Tensor(array)")
    call, arrays = models.Runner("mine").call, {"data": np.array([7]), "indices": np.array([0])}
    with pytest.raises(NotImplementedError, match=r"TypeError: Tensor\(\) takes no arguments"):
        call("onnx", "Gather", 13, arrays, {"axis": 0})


def test_what_cannot_be_converted_is_unsupported_and_no_refusal() -> None:
    answerer = load_shared_module("answerer")

    def refuse(_value: object) -> object:
        raise KeyError("str64")

    def call(*_: object) -> object:
        raise ValueError("no such index")

    tensor = {"dtype": "int64", "shape": [1], "data": [7]}
    request = {"op": "Gather", "framework": "onnx", "inputs": {"data": tensor}, "attrs": {}}
    inward = answerer.Runtime("1", [], lambda *call: call[3]["data"], tensor_of=refuse)
    outward = answerer.Runtime("1", [], lambda *call: call[3]["data"], array_of=refuse)
    for runtime in (inward, outward):
        assert answerer._answer(runtime, request) == {
            "unsupported": "Unsupported: KeyError: 'str64'"
        }
    assert "error" in answerer._answer(answerer.Runtime("1", [], call), request)


def test_integers_that_lose_their_sign_at_the_border_of_iree_are_read_as_data() -> None:
    adapter: dict[str, Any] = {"__name__": "adapter"}
    exec(bundle_adapter("iree"), adapter)
    found, data = np.array([-56], np.int8), np.array([1], np.uint8)
    assert adapter["with_sign_of"](data, found).tolist() == [200]
    for other in (data.astype(np.int8), data.astype(np.uint16)):
        assert adapter["with_sign_of"](other, found) is found


def test_a_self_test_asks_plain_calls() -> None:
    for name, attrs in {"torch.index_add": {"dim": 0}, "onnx.scatter_nd": {}}.items():
        trials = list(_iter_examples([find_operator(name)], {}))
        assert trials
        assert all(trial.attrs == attrs for trial in trials)


def test_every_file_of_the_folder_is_used() -> None:
    found = {path.name for path in adapter_folder().glob("*.py")}
    own = {f"{name}_adapter.py" for name in (*ALL, "lines")}  # explain --code --check runs lines
    assert found == {*(f"{part}.py" for part in PARTS), *own}


def test_a_printed_adapter_runs_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "adapter.py"
    path.write_text(bundle_adapter("numpy"), "utf-8")
    with RuntimeProcess(ProcessSpec((sys.executable, str(path)))) as runtime:
        operators = select_supported(runtime.start(), ["numpy.take"])
        check_adapter(runtime, operators)
        assert fuzz(runtime, operators, FuzzOptions(30)).failures(strict=False) == []


def interpreter_with(folder: Path) -> str:
    """An interpreter that finds the packages of a folder, as one finds those of its own."""
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return str(python)


def test_no_runtime_reports_over_the_network(tmp_path: Path) -> None:
    """OpenVINO 2026.4.1 sends an event whenever it is imported, unless this package is missing."""
    (tmp_path / "openvino_telemetry.py").write_text("")
    (tmp_path / "openvino.py").write_text(
        "__version__ = 'silent'\n"
        "class Core: pass\n"
        "try:\n"
        "    import openvino_telemetry\n"
        "    __version__ = 'reported'\n"
        "except ImportError: pass\n"
    )
    python = interpreter_with(tmp_path)
    with RuntimeProcess(build_runtime_command("openvino", python)) as runtime:
        assert runtime.start().version == "silent"
    with start_snippet_process("openvino", python, 20.0) as lines:
        assert lines.hello is not None
        assert lines.hello.version == "silent"


def test_an_adapter_prints_nothing_among_its_answers() -> None:
    done = subprocess.run(
        build_runtime_command("numpy").words,
        input="",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("cases", [100, *slow([500])])
def test_numpy_agrees_with_the_rules_but_for_values_that_stretch_in_ufunc_at(cases: int) -> None:
    report = fuzzed("numpy", cases)
    assert report.cases == cases
    for found in report.failures(strict=False):  # NumPy 2.4.6 reads past b there
        assert found.case.operator.name.endswith(".at"), found.signature
        assert found.case.inputs["b"].ndim < found.case.inputs["indices_0"].ndim


@pytest.mark.slow  # importing the evaluator takes seconds, which the next test but one does daily
@needs("onnx")
def test_the_reference_evaluator_differs_where_it_is_known_to() -> None:
    # By an index that is far too large `np.choose` counts down; others answer in milliseconds.
    report = fuzzed("onnx", 300, patience=2.0)
    assert "crash" not in {found.mismatch.kind for found in report.differences}
    failures = report.failures(strict=False)
    operators = {found.case.operator.full_name for found in failures}
    assert operators <= {"onnx.gather_elements", "onnx.gather_nd"}


@pytest.mark.slow  # the gate has it
@needs("onnxruntime")
@needs("onnx")
def test_onnxruntime_agrees_with_the_rules_but_for_strings_and_windows_from_the_end() -> None:
    report = fuzzed("onnxruntime", 500)
    assert not {found.mismatch.kind for found in report.differences} & {"crash", "hang"}
    failures = [found.signature for found in report.failures(strict=False)]
    known = ("onnx.gather value: ", "onnx.tensor_scatter refuses: ")  # gscli help findings
    assert all(signature.startswith(known) for signature in failures), failures
    gathers = [signature for signature in failures if signature.startswith(known[0])]
    assert all("data str" in signature for signature in gathers), gathers


@pytest.mark.parametrize(
    ("message", "lacks"),
    [
        ("Numpy_type 256 can't be converted to MLDataType.", True),
        ("translating to fact: Tensor { elem_type: Complex64, shape: Some(", True),
        ("error: failed to legalize operation 'torch.operator' that was explicitly", True),
        ("MLDataType for: tensor(complex64) is not currently registered or supported", True),
        ("NOT_IMPLEMENTED : Could not find an implementation for TensorScatter(24) node", True),
        ("MLFloat16 data type is not supported with ScatterND opset 16 when reduction is", True),
        ("not implemented for type bfloat16", True),
        ("negative indices are not supported", False),
        ("indices element out of data bounds, idx=5 must be within [-3,2]", False),
        ("invalid index type", False),
    ],
)
def test_what_a_runtime_does_not_have_is_told_from_what_it_refuses(
    message: str, lacks: bool
) -> None:
    lacks_a_kernel = load_shared_module("onnx_models").lacks_a_kernel
    assert lacks_a_kernel(RuntimeError(message)) is lacks
    assert lacks_a_kernel(NotImplementedError("bad"))


@needs("onnx")
def test_any_onnx_backend_is_a_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        "from onnx.backend.base import Backend\n"
        "from onnx.reference import ReferenceEvaluator\n"
        "class Mine(Backend):\n"
        "    @classmethod\n"
        "    def run_model(cls, model, inputs, device='CPU', **options):\n"
        "        if inputs[0].dtype.name == 'bfloat16':\n"
        "            raise TypeError('data type bfloat16 is not supported')\n"
        "        names = [one.name for one in model.graph.input]\n"
        "        return ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))\n"
    )
    monkeypatch.chdir(tmp_path)
    with RuntimeProcess(build_runtime_command("mine:Mine")) as runtime:
        operators = select_supported(runtime.start(), ["onnx.gather"])
        check_adapter(runtime, operators)
        report = fuzz(runtime, operators, FuzzOptions(60))
    assert report.failures(strict=False) == []
    assert report.counts_by_operator["onnx.gather"]["unsupported"] > 0


def test_recorded_answers_of_numpy_are_given_again() -> None:
    with RuntimeProcess(build_runtime_command("numpy")) as runtime:
        runtime.start()
        verdicts = [(case, run_case_on(runtime, case)) for case in _some("numpy")]
    failed = [f"{case.id}: {found.problem}" for case, found in verdicts if found and found.problem]
    assert failed == []
    assert sum(found is not None for _, found in verdicts) > 50


def _some(framework: str) -> list[Case]:
    cases = list(read_cases(str(VECTORS / f"{framework}.jsonl")))
    return [case for case in cases if case.expect == "output"][::3]


def test_what_an_interpreter_has_is_told() -> None:
    found = {one.adapter.name: one.version for one in list_installed()}
    assert found["numpy"]
    assert set(found) == {adapter.name for adapter in ADAPTERS}


def test_an_unknown_adapter_is_refused() -> None:
    with pytest.raises(UsageError, match="no adapter"):
        bundle_adapter("nunpy")
