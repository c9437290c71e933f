"""How many rules a pack of cases meets: packs of others, and what is recorded of onnx's own."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pytest
from recording import onnx_tests

from gscli.cli import run_safely
from gscli.frameworks import find_operator
from gscli.runtimes import packs
from gscli.runtimes.packs import ONNX_COVERAGE_FILE, load_onnx_coverage, measure_suites

RECORDED = Path(__file__).parents[2] / "gscli/runtimes" / ONNX_COVERAGE_FILE


def cases(*words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run_safely(["cases", *words])
    return code, out.getvalue(), err.getvalue()


def test_what_is_recorded_is_what_onnx_ships() -> None:
    """A later onnx may have more tests; of the recorded release it is the same text."""
    installed = json.loads(onnx_tests.made())
    recorded = json.loads(RECORDED.read_text("utf-8"))
    if version("onnx") == recorded["version"]:
        assert installed == recorded, "python tests/recording/onnx_tests.py"
    assert set(installed["operators"]) == set(recorded["operators"])
    assert sum(one.cases for one in load_onnx_coverage().values()) == 26


def test_a_pack_of_gscli_is_measured_as_it_was_told(tmp_path: Path) -> None:
    pack = tmp_path / "pack.jsonl"
    code, out, _ = cases("torch.gather", "--cases", "30", "--json", "-o", str(pack))
    assert code == 0
    told = json.loads(out)["rules"]["torch.gather"]
    found = measure_suites(str(pack))["torch.gather"]
    assert found.cases == 30
    assert dict(found.rules) == {rule: count for rule, count in told.items() if count}


def test_the_table_shows_both(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    assert onnx_tests.write_tests(folder) == 26
    lines = cases("onnx.gather-nd", "--cases", "20", "--measure", str(folder))[1].splitlines()
    assert ": 20 cases, " in lines[0]
    assert "theirs, 3 cases, 4 of" in lines[1]
    assert any("(1)" in line and "batch axes" in line for line in lines)
    lines = cases("onnx.gather-nd", "--cases", "20")[1].splitlines()
    assert "node tests of onnx" in lines[1]
    assert "3 cases, 4 of" in lines[1]


@pytest.mark.parametrize("text", ["", "{}", "[1]\n", "\x00"])
def test_a_pack_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    code, _, err = cases("onnx.gather", "--measure", str(path))
    assert (code, err.startswith("error: ")) == ((65, True) if text else (0, False))
    code, _, err = cases("onnx.gather", "--measure", str(tmp_path / "nothing"))
    assert (code, err.startswith("error: ")) == (66, True)
    code, _, err = cases("onnx.gather", "--measure", str(tmp_path))
    assert (code, err.startswith("error: ")) == (66, True)


def test_calls_are_counted_as_they_are_drawn_and_many_cases_draw_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packs, "MOST_CANDIDATES", 50)
    monkeypatch.setattr(packs, "FEWEST_CANDIDATES", 20)
    for count, drawn in {1: 20, 5: 40, 20: 50, 60: 60}.items():
        calls = iter(range(1000))
        suite = packs.draw_suite(find_operator("onnx.gather"), count, 7, partial(next, calls))
        assert (len(suite.cases), next(calls)) == (count, drawn)
