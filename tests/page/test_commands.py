"""Where pages go: a file beside the picture, or stdout alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from shell import call_gscli

from gscli.base import ContentRefused, UsageError
from gscli.cli import invoke_command, run_safely
from gscli.cli.call import Call
from gscli.cli.commands.explain import run_explain
from gscli.cli.commands.page import page
from gscli.cli.options import Settings
from gscli.frameworks.onnx import gather

WORDS = ["[10,20,30]", "[0,-1]"]
HEADING = ">compare gather</h1>"


def compared(*words: str) -> int:
    return invoke_command(["compare", "gather", *WORDS, "--as", "onnx,numpy", *words])


def test_a_comparison_is_saved_beside_its_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.html"
    assert compared("--html", str(file)) == 1
    assert HEADING in file.read_text(encoding="utf-8")
    assert "2 different answers" in capsys.readouterr().out


def test_the_picture_of_a_comparison_is_described_by_what_it_comes_to(
    capsys: pytest.CaptureFixture[str],
) -> None:
    compared("--svg", "-")
    assert '<desc id="description">2 different answers. ' in capsys.readouterr().out


def test_of_a_refused_call_no_quiz_asks_for_the_output(tmp_path: Path) -> None:
    for index, asks in (("1", True), ("7", False)):
        file = tmp_path / f"{index}.html"
        run_safely(["gather", "[10,20,30]", f"[{index}]", "--html", str(file), "--quiz", "-q"])
        assert ("<template>" in file.read_text(encoding="utf-8")) == asks


def test_a_page_on_stdout_is_alone(capsys: pytest.CaptureFixture[str]) -> None:
    compared("--html", "-")
    out = capsys.readouterr().out
    assert out.startswith("<!DOCTYPE html>")
    assert out.endswith("</html>\n")
    run_explain(Call(gather, WORDS, {}, {}, Settings(html="-")), None, gradients=False)
    out = capsys.readouterr().out
    assert out.startswith("<!DOCTYPE html>")
    assert out.endswith("</html>\n")


def test_stdout_takes_one_result() -> None:
    with pytest.raises(UsageError, match="stdout takes one result"):
        compared("--html", "-", "--json")


def test_a_quiz_without_a_page_is_refused() -> None:
    with pytest.raises(UsageError, match="--quiz is a question on a page"):
        invoke_command(["explain", "gather", *WORDS, "--quiz"])


def test_explain_saves_the_page_and_the_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, picture = tmp_path / "page.html", tmp_path / "picture.svg"
    settings = Settings(html=str(page), svg=str(picture))
    run_explain(Call(gather, WORDS, {}, {}, settings), None, gradients=False)
    assert "output 1 is 30, entry b" in page.read_text(encoding="utf-8")
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    assert "-1 counts from the end: 2" in capsys.readouterr().out


def test_recorded_runs_become_one_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, lesson = tmp_path / "run.json", tmp_path / "lesson.html"
    run_explain(Call(gather, WORDS, {}, {}, Settings(json="document")), None, gradients=False)
    run.write_text(capsys.readouterr().out, encoding="utf-8")
    assert json.loads(run.read_text(encoding="utf-8"))["schema"] == "gscli/1"
    page.callback(runs=[str(run), str(run)], output=str(lesson), title=None, quiz=False)
    assert lesson.read_text(encoding="utf-8").count("<section") == 2
    piped = ["page", "-", "-o", str(tmp_path / "piped.html")]
    with run.open("rb") as stream:
        subprocess.run([sys.executable, "-m", "gscli", *piped], check=True, stdin=stream)
    assert (tmp_path / "piped.html").read_text(encoding="utf-8").count("<section") == 1


def test_runs_and_comparisons_become_one_lesson(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, comparison = tmp_path / "run.json", tmp_path / "comparison.json"
    lesson = tmp_path / "lesson.html"
    run_explain(Call(gather, WORDS, {}, {}, Settings(json="document")), None, gradients=False)
    run.write_text(capsys.readouterr().out, encoding="utf-8")
    compared("--json")
    comparison.write_text(capsys.readouterr().out, encoding="utf-8")
    page.callback(runs=[str(run), str(comparison)], output=str(lesson), title="Indices", quiz=False)
    text = lesson.read_text(encoding="utf-8")
    assert '<section id="example-2" aria-labelledby' in text
    assert 'href="#example-2-answer-1"' in text
    assert '<section id="example-2-answer-1"' in text
    assert capsys.readouterr().err == ""
    for runs, warnings in (([str(run)], 0), ([str(run), str(comparison)], 1)):
        page.callback(runs=runs, output=str(lesson), title=None, quiz=True)
        said = capsys.readouterr().err
        assert said.count("warning: --quiz asks for outputs of runs: comparisons show") == warnings


def test_a_comparison_that_was_changed_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "comparison.json"
    compared("--json")
    document = json.loads(capsys.readouterr().out)
    answered = next(row for row in document["rows"] if "output" in row)
    answered["output"]["data"][0] = 11
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ContentRefused, match="the answers are not what the calls give"):
        page.callback(runs=[str(file)], output=str(tmp_path / "page.html"), title=None, quiz=False)
    document["concept"] = "gather_all"
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ContentRefused, match="not a comparison that gscli wrote"):
        page.callback(runs=[str(file)], output=str(tmp_path / "page.html"), title=None, quiz=False)
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("document", ["gather\n", "[1,2", "[1,2]", '{"schema": 1}', "\xff"])
def test_what_is_no_recorded_run_is_named_as_it_is_elsewhere(document: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    done = call_gscli("page", "-", "-o", str(path), stdin=document.encode("latin-1"))
    assert done.returncode == 65
    assert b"--> standard input" in done.stderr
    assert b"help: operators and compare write one with --json > RUN.json" in done.stderr
    assert not path.exists()
