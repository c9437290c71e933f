"""The README is true: its sessions, its Python, its tables, its lists, its links."""

from __future__ import annotations

import doctest
import json
import re
import tomllib

import pytest
from recording.sessions import GENERATED, ROOT, generated

from gscli.base.errors import ExitCode
from gscli.cli.guard import guarded

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", TEXT)


def table_keys(heading: str) -> list[str]:
    """What stands in the first column of the table with that heading."""
    rows = TEXT.partition(f"\n| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [word for row in rows for word in re.findall(r"[\w/]+", row.split("|")[1])]


def test_python_examples_give_what_is_written() -> None:
    examples = "\n".join(blocks("python"))
    test = doctest.DocTestParser().get_doctest(examples, {}, "README", str(README), 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("name", GENERATED)
def test_generated_tables_are_current(name: str) -> None:
    between = TEXT.partition(f"<!-- {name}:start -->\n")[2].partition(f"<!-- {name}:end -->")[0]
    assert between == GENERATED[name]()
    assert generated(TEXT) == TEXT


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
    assert guarded(command.split()) == 0
    printed = capsys.readouterr()
    assert "41.0" in printed.out
    assert not printed.err


def test_the_json_keys_are_all_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(["scatter-nd", "[1,2]", "[[0],[-1]]", "[8,9]", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(table_keys("key")) - {"gscli/1"} == set(document)
    assert table_keys("key of an entry") == [*document["entries"][0], "dropped"]


def test_the_exit_codes_are_all_described() -> None:
    assert [int(code) for code in table_keys("code")] == sorted(ExitCode)


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
    assert guarded(command.split()[1:]) == 0
    assert capsys.readouterr().out
