"""The README is true: its sessions, its Python, its tables, its lists, its links."""

from __future__ import annotations

import doctest
import re
import tomllib

import pytest
from recording.sessions import GENERATED, ROOT, generated

from gscli.cli import run_safely
from gscli.cli.commands.samples import find_lesson

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", TEXT)


def test_python_examples_give_what_is_written() -> None:
    examples = "\n".join(blocks("python"))
    test = doctest.DocTestParser().get_doctest(examples, {}, "README", str(README), 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("name", GENERATED)
def test_generated_tables_are_current(name: str) -> None:
    between = TEXT.partition(f"<!-- {name}:start -->\n")[2].partition(f"<!-- {name}:end -->")[0]
    assert between == GENERATED[name](), "python tests/record.py README"
    assert generated(TEXT) == TEXT


def test_it_is_read_in_a_few_minutes() -> None:
    assert len(TEXT.splitlines()) <= 220


def test_six_lessons_are_named() -> None:
    named = TEXT.partition("Six to begin with:")[2].partition("\n\n")[0]
    names = re.findall(r"`([a-z-]+)` \(", named)
    assert len(names) == 6
    for name in names:
        assert find_lesson(name).name.endswith(f"-{name}")


def test_every_kind_of_block_is_run() -> None:
    languages = set(re.findall(r"(?m)^```(\w+)$", TEXT))
    assert languages == {"console", "python", "sh"}


def test_the_install_commands_are_the_projects_own() -> None:
    """The sh blocks build environments; the gate runs them. Here: do they still fit the project?"""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    run, test, develop = blocks("sh")
    assert all(block.startswith("python3 -m venv .venv && .venv/bin/pip") for block in blocks("sh"))
    assert "install -q . &&" in run
    for block in (test, develop):
        extra = re.search(r"\.\[(\w+)\]", block)
        assert extra is not None
        assert extra[1] in project["optional-dependencies"]
    assert f"Python {project['requires-python'].removeprefix('>=')} or newer" in TEXT


def test_the_main_job_of_the_install_command_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    command = blocks("sh")[0].partition(".venv/bin/gscli ")[2]
    assert run_safely(command.split()) == 0
    printed = capsys.readouterr()
    assert "20" in printed.out
    assert not printed.err


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (ROOT / target).exists(), target


def inline_commands() -> list[str]:
    """The commands in running text, without those that name a placeholder in capitals."""
    prose = re.sub(r"(?ms)^```.*?^```$", "", TEXT)
    found = re.findall(r"`(gscli [^`]+)`", prose)
    return [command for command in found if not re.search(r"\b[A-Z]{2,}\b", command)]


@pytest.mark.parametrize("command", inline_commands())
def test_commands_in_the_text_run(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(command.split()[1:]) == 0
    assert capsys.readouterr().out
