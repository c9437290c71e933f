"""What every declared operator must have: help, examples, a refusal worth reading, a formula."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from conftest import recorded
from oracle import OPERATORS as ORACLE
from refused import refused_command
from worlds import GOOD

import gscli
from gscli import frameworks
from gscli.cli import run_safely
from gscli.frameworks.operator import Operator

TESTS = Path(__file__).parents[1]
EVERY = gscli.operators()
every_operator = pytest.mark.parametrize("operator", EVERY, ids=lambda operator: operator.full_name)


@pytest.fixture(autouse=True)
def _a_plain_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("GSCLI_WIDTH", raising=False)


def words(command: str) -> list[str]:
    """The arguments of a command line that begins with gscli."""
    program, *arguments = shlex.split(command)
    assert program == "gscli"
    return arguments


@every_operator
def test_help_ends_with_two_examples_that_run(
    operator: Operator, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely([*words(operator.command_line), "--help"]) == 0
    text = capsys.readouterr().out
    assert operator.summary in " ".join(text.split())
    block = text.partition("Examples:\n")[2].partition("\n\n")[0].splitlines()
    examples = [line.strip() for line in block]
    assert len(examples) == 2
    for example in examples:
        assert run_safely(words(example)) == 0, example
        printed = capsys.readouterr()
        assert printed.out
        assert "error" not in printed.err
        if "--html" not in example:
            assert all(len(line) <= 100 for line in printed.out.splitlines())


@every_operator
def test_the_example_of_a_gradient_runs(
    operator: Operator, capsys: pytest.CaptureFixture[str]
) -> None:
    grad = ["grad", *words(operator.command_line)]
    assert run_safely([*grad, "--help"]) == 0
    help_text = capsys.readouterr().out
    for example in re.findall(r"^    (gscli grad .*)", help_text, re.MULTILINE):
        assert run_safely(words(example)) == 0, example
    assert f"gscli {' '.join(grad)} " in help_text.partition("Examples:")[2] or (
        operator.full_name == "torch.one_hot"
    )


def test_the_summary_is_one_sentence() -> None:
    for operator in EVERY:
        summary = operator.summary
        assert summary, f"{operator.full_name} has no docstring, which is its help"
        assert summary[0].isupper(), f"{operator.full_name}: {summary}"
        assert summary.endswith("."), f"{operator.full_name}: {summary}"
        assert len(summary) <= 100, f"{operator.full_name}: {summary}"


def test_every_attribute_is_described() -> None:
    for operator in EVERY:
        for attribute in operator.attributes:
            described = attribute.option.help or attribute.choices
            hint = "Annotated[…, Option('what it means')]"
            assert described, f"{operator.full_name}, {attribute.name}: {hint}"


@every_operator
def test_bytes_beside_numbers_end_in_a_result_or_a_refusal(operator: Operator) -> None:
    names = operator.input_names
    for name in names:
        inputs = {**{key: [0, 1] for key in names}, name: np.array([b"a", b"bc"])}
        with suppress(gscli.GscliError):
            gscli.run(operator.full_name, inputs)


@every_operator
def test_the_refused_call_meets_one_paragraph(
    operator: Operator, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run_safely(words(refused_command(operator)))
    printed = capsys.readouterr()
    assert status in (2, 65)
    assert not printed.out
    assert printed.err.startswith("error: ")
    assert "\n\n" not in printed.err, "one paragraph"


@every_operator
def test_explain_tells_the_formula_and_every_entry(
    operator: Operator, capsys: pytest.CaptureFixture[str]
) -> None:
    command = f"gscli explain {operator.command_line.removeprefix('gscli ')} {operator.example}"
    assert run_safely(words(command)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("output") for line in lines), "a formula"
    assert any(line.startswith(" a  ") for line in lines), "an entry"


def test_every_framework_is_listed() -> None:
    folder = Path(frameworks.__file__).parent
    declaring = [
        p for p in folder.rglob("*.py") if "FRAMEWORK = Framework(" in p.read_text("utf-8")
    ]
    found = {path.relative_to(folder).parts[0].removesuffix(".py") for path in declaring}
    assert found == set(frameworks.NAMES), "gscli/frameworks/__init__.py lists them in NAMES"


def test_the_oracle_and_the_worlds_know_it() -> None:
    for operator in EVERY:
        oracle, worlds = f"tests/oracle/{operator.framework_name}.py", "one of tests/worlds/"
        name = operator.full_name
        assert name in set(ORACLE), f"write {name} as a plain loop in {oracle}: @operator({name!r})"
        assert name in set(GOOD), f"register({name!r}, …) small worlds in {worlds}"


def test_it_has_recorded_answers() -> None:
    for operator in EVERY:
        owner = operator.framework_name
        assert operator.full_name in recorded(), (
            f"no case of {operator.full_name} in tests/vectors/{owner}.jsonl: add it to OPERATORS "
            f"of tests/vectors/record/{owner}_calls.py, then: PYTHON tests/vectors/record {owner}"
        )
