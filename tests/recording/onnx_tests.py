"""Write down which rules the node tests of the installed onnx meet, operator by operator.

    python tests/recording/onnx_tests.py

`gscli cases` tells them beside its own; tests/runtimes/test_pack_coverage.py compares. The
package carries its tests as code, of which only the modules of these operators are imported.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))  # this checkout, installed or not

import onnx
from onnx import numpy_helper

from gscli.runtimes.packs import ONNX_COVERAGE_FILE, measure_suites

ROOT = Path(__file__).parents[2]
MODULES = ("gather", "gatherelements", "gathernd", "scatter", "scatterelements", "scatternd")


def write_tests(folder: Path) -> int:
    """The node tests of gather and scatter as folders; how many there are."""
    node = import_module("onnx.backend.test.case.node")
    for name in MODULES:
        import_module(f"onnx.backend.test.case.node.{name}")
    ours = [one for one in node._NodeTestCases if one.name.split("_")[1] in MODULES]
    for one in ours:
        data = folder / one.name / "test_data_set_0"
        data.mkdir(parents=True)
        (data.parent / "model.onnx").write_bytes(one.model.SerializeToString())
        for number, array in enumerate(one.data_sets[0][0]):
            _save(data / f"input_{number}.pb", array)
        _save(data / "output_0.pb", one.data_sets[0][1][0])
    return len(ours)


def _save(path: Path, array: Any) -> None:
    path.write_bytes(numpy_helper.from_array(array).SerializeToString())


def made() -> str:
    """The content of the recorded file."""
    with TemporaryDirectory() as folder:
        write_tests(Path(folder))
        found = measure_suites(folder)
    operators = {
        name: {"cases": found[name].cases, "rules": dict(sorted(found[name].rules.items()))}
        for name in sorted(found)
    }
    return json.dumps({"version": onnx.__version__, "operators": operators}, indent=1) + "\n"


if __name__ == "__main__":
    (ROOT / "gscli/runtimes" / ONNX_COVERAGE_FILE).write_text(made(), "utf-8")
