"""The lessons: their form, their answers, and the command that shows them.

Their screens are among what is recorded: tests/test_recorded.py.
"""

from __future__ import annotations

import errno
import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import slow
from shell import on_terminal

from gscli.base import CannotRead, CannotWrite, UsageError
from gscli.cli import run_safely
from gscli.cli.commands import samples as lessons
from gscli.frameworks import find_operator
from gscli.layout.axes import Tensor

ALL = lessons.list_lessons()

SHEET = [[1, 2, 3, 4], [5, 6, 7, 8], [8, 7, 6, 5], [4, 3, 2, 1]]
ROW = "'[[1.0,2.0,3.0,4.0,5.0]]'"
ANSWERS: list[tuple[str, int | str, Any]] = [
    # lesson, number of its command or another command, the output that the page prints
    ("onnx-gather-axis-0", 0, [[[1.0, 1.2], [2.3, 3.4]], [[2.3, 3.4], [4.5, 5.7]]]),
    ("onnx-gather-axis-1", 0, [[[1.0, 1.9]], [[2.3, 3.9]], [[4.5, 5.9]]]),
    ("onnx-gather-negative", 0, [0.0, 1.0, 0.0]),
    ("article-gather-nd-cells", 0, [1, 4]),
    ("article-gather-nd-cells", 3, [[[1, 2]], [[5, 6]]]),
    ("mxnet-first-axis", 1, [2, 2]),
    ("onnx-scatter-elements", 0, [[2.0, 1.1, 0.0], [1.0, 0.0, 2.2], [0.0, 2.1, 1.2]]),
    ("onnx-scatter-elements", 3, [[1.0, 1.1, 2.1, 4.0, 5.0]]),
    ("onnx-scatter-elements", f"gscli scatter-elements {ROW} '[[1,3]]' '[[1.1,2.1]]' --axis 1",
     [[1.0, 1.1, 3.0, 2.1, 5.0]]),
    ("duplicates",
     f"gscli scatter-elements {ROW} '[[1,1]]' '[[1.1,2.1]]' --axis 1 --reduction add",
     [[1.0, 5.2, 3.0, 4.0, 5.0]]),
    ("onnx-scatter-nd-slices",
     "gscli scatter-nd '[1,2,3,4,5,6,7,8]' '[[4],[3],[1],[7]]' '[9,10,11,12]'",
     [1, 11, 3, 10, 9, 6, 7, 12]),
    ("onnx-scatter-nd-slices", 0,
     [[[5] * 4, [6] * 4, [7] * 4, [8] * 4], SHEET, [[1] * 4, [2] * 4, [3] * 4, [4] * 4],
      [SHEET[2], SHEET[3], SHEET[0], SHEET[1]]]),
    ("openvino-scatter-update", 0, [[1, 1, 1, 3, 4], [1, 6, 1, 8, 9], [1, 11, 2, 13, 14]]),
]  # fmt: skip


def test_every_lesson_is_a_heading_a_paragraph_and_a_session() -> None:
    for lesson in ALL:
        heading, blank, paragraph = lesson.text.splitlines()[:3]
        assert heading.startswith("# "), lesson.name
        assert not blank, lesson.name
        assert paragraph[0].isalnum() or paragraph[0] == "`", lesson.name
        assert lesson.console_commands, lesson.name
        written = re.sub(r"(?ms)^```console$.*?^```$", "", lesson.text)
        assert all(len(line) <= 100 for line in written.splitlines()), lesson.name


def test_lessons_are_numbered_in_the_order_of_the_story() -> None:
    assert [int(lesson.name.partition("-")[0]) for lesson in ALL] == list(range(len(ALL)))


def test_every_input_file_is_used_by_its_lesson() -> None:
    for lesson in ALL:
        for path in lesson.folder.iterdir():
            assert path.name == "README.md" or path.name in lesson.text, path


def test_pictures_load_nothing_from_elsewhere() -> None:
    folder = lessons.find_lesson("pictures").folder
    found = [path for path in folder.iterdir() if path.suffix in (".svg", ".html")]
    assert {path.suffix for path in found} == {".svg", ".html"}
    for path in found:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/", "")
        assert "://" not in text, path.name


@pytest.mark.parametrize(("name", "number", "answer"), ANSWERS)
def test_answers_of_the_reference_pages(
    name: str,
    number: int | str,
    answer: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lesson = lessons.find_lesson(name)
    monkeypatch.chdir(lesson.folder)
    command = number if isinstance(number, str) else lesson.console_commands[number].command
    words = shlex.split(command.partition(" --show ")[0])  # which is of the picture
    assert run_safely([*words[1:], "--json=output"]) == 0
    output = json.loads(capsys.readouterr().out)
    expected = np.array(answer)
    assert output["shape"] == list(expected.shape)
    assert output["data"] == pytest.approx(expected.ravel().tolist(), rel=1e-6)


def test_the_shapes_of_the_large_openvino_example() -> None:
    """The page's own shapes, judged without any data."""
    operator = find_operator("openvino.scatter_update")
    data, indices, updates = (1000, 256, 10, 15), (125, 20), (1000, 125, 20, 10, 15)
    tensors = {
        "data": Tensor("data", data, "float32"),
        "indices": Tensor("indices", indices, "int64"),
        "updates": Tensor("updates", updates, "float32"),
        "axis": Tensor("axis", (1,), "int64", (1,)),
    }
    assert operator.infer_layout(tensors, {}).output_shape == data


@pytest.mark.parametrize("width", [40, 64, 80, 120])
def test_the_list_names_every_lesson(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert run_safely(["samples"]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert [line.split()[0] for line in lines if line[0].isdigit()] == [one.name for one in ALL]
    assert all(lesson.title in " ".join(text.split()) for lesson in ALL)


def test_lessons_as_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["samples", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["lessons"]
    assert [one["name"] for one in found] == [lesson.name for lesson in ALL]
    assert found[0]["title"] == ALL[0].title
    assert found[0]["commands"] == [exchange.command for exchange in ALL[0].console_commands]
    assert run_safely(["samples", "first-look", "--json", "-o", str(tmp_path)]) == 0
    (one,) = json.loads(capsys.readouterr().out)["lessons"]
    assert one["folder"] == str(tmp_path / "00-first-look")
    assert {path.name for path in Path(one["folder"]).iterdir()} == set(one["files"])
    assert run_safely(["samples", "--json", "--run"]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["code"] == 2


@pytest.mark.parametrize("name", ["00", "first-look", "00-first-look"])
def test_a_lesson_is_printed_under_any_of_its_names(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert run_safely(["samples", name]) == 0
    assert capsys.readouterr().out == ALL[0].format_text(answer=False)


@pytest.mark.parametrize("width", [40, 99, *slow([64, 80])])
def test_prose_of_a_lesson_fits_the_screen(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for lesson in ALL:
        assert run_safely(["samples", lesson.name, "--answer"]) == 0
        text = capsys.readouterr().out
        whole = lesson.format_text(answer=True)
        prose = re.sub(r"(?ms)^```.*?^```$", "", text)
        assert all(len(line) <= width or line[0] in "#!" for line in prose.splitlines())
        assert text.split() == whole.split()
        assert re.findall(r"(?ms)^```.*?^```$", text) == re.findall(r"(?ms)^```.*?^```$", whole)


def test_a_narrow_terminal_is_told_how_wide_the_screens_are() -> None:
    _, shown = on_terminal(["samples", "first-scatter"], COLUMNS="60")
    assert "note: recorded 80 columns wide; --run draws for this terminal" in shown
    _, shown = on_terminal(["samples", "first-scatter"], COLUMNS="100")
    assert "note:" not in shown


def test_a_terminal_shows_a_lesson_without_the_marks_of_markdown() -> None:
    _, shown = on_terminal(["samples", "first-look"], COLUMNS="100")
    assert "One index takes one row" in shown
    assert "$ gscli gather data.npy idx.npy" in shown
    assert not re.search(r"```|^#|`gather`", shown, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("batch-dim", "batch-dims"),
        ("masks", "torch-masks"),
        ("gather-nd", "article-gather-nd-cells"),
        ("numpy-take", "article-numpy-take"),
    ],
)
def test_an_unknown_lesson_is_refused_with_a_near_name(
    name: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(["samples", name]) == 2
    assert f"did you mean {near}?" in capsys.readouterr().err
    with pytest.raises(UsageError, match="no lesson"):
        lessons.find_lesson("zzz")


@pytest.mark.parametrize("lesson", ALL, ids=lambda lesson: lesson.name)
def test_every_lesson_asks_and_keeps_its_answer(
    lesson: lessons.Lesson, capsys: pytest.CaptureFixture[str]
) -> None:
    before, heading, exercise = lesson.text.partition("\n## Try it\n\n")
    assert heading
    assert exercise.partition("\n")[0].endswith((".", "?"))
    assert "```" not in exercise.partition("<details>")[0]  # a screen tells what is asked
    (answer,) = lessons.ANSWER.findall(lesson.text)
    assert lessons.parse_sessions(answer)
    assert "<details>" not in before
    assert run_safely(["samples", lesson.name]) == 0
    assert answer not in capsys.readouterr().out
    assert answer not in "".join(exchange.screen for exchange in lesson.console_commands)
    assert run_safely(["samples", lesson.name, "--answer", "--width", "200"]) == 0
    told = capsys.readouterr().out
    assert answer in told
    assert "details>" not in told


def test_a_lesson_is_found_under_its_former_number() -> None:
    assert lessons.find_lesson("14-batch-dims").name.endswith("-batch-dims")
    assert lessons.find_lesson("7").name.startswith("07-")
    with pytest.raises(UsageError):
        lessons.find_lesson("14-nothing-of-the-kind")


def test_files_are_written_and_never_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "new" / "lessons"
    assert run_safely(["samples", "first-look", "-o", str(target)]) == 0
    written = {path.name for path in (target / "00-first-look").iterdir()}
    assert written == {path.name for path in ALL[0].folder.iterdir()}
    assert run_safely(["samples", "first-look", "-o", str(target)]) == 73
    assert "the lesson is there already" in capsys.readouterr().err
    with pytest.raises(CannotWrite):
        lessons.copy_lesson(ALL[0], target)


def test_a_lesson_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(_: Path, target: Path) -> None:
        target.mkdir()
        (target / "data.npy").touch()
        raise OSError(errno.ENOSPC, "")

    monkeypatch.setattr(shutil, "copytree", full_disk)
    with pytest.raises(CannotWrite) as caught:
        lessons.copy_lesson(ALL[0], tmp_path)
    assert caught.value.where.endswith("no space left on device")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["first-look", "opsets"])
def test_running_a_lesson_shows_its_commands_and_screens(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lesson = lessons.find_lesson(name)
    assert run_safely(["samples", name, "--run", "-o", str(tmp_path)]) == 0
    printed = capfd.readouterr()
    shown = [line.rstrip() for line in printed.out.splitlines() + printed.err.splitlines()]
    told = [
        line
        for exchange in lesson.console_commands
        for line in (f"$ {exchange.command}\n{exchange.screen}").splitlines()
    ]
    assert sorted(shown) == sorted([f"# {lesson.title}", *told])


def test_sessions_keep_long_commands_together() -> None:
    commands = "$ one \\\n>   two\n> three\nout\n> not a command\n$ next\n"
    text = f"before\n```console\n{commands}```\nafter\n"
    first, second = lessons.parse_sessions(text)[0]
    assert first == lessons.ConsoleCommand("one \\\n  two\nthree", "out\n> not a command\n", 3)
    assert second == lessons.ConsoleCommand("next", "", 8)


def test_lessons_are_found_in_a_checkout_and_in_a_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "gscli"
    package.mkdir()
    monkeypatch.setattr(lessons, "__file__", str(package / "cli" / "commands" / "samples.py"))
    with pytest.raises(CannotRead, match="not installed"):
        lessons.find_lessons_folder()
    (tmp_path / "samples").mkdir()
    assert lessons.find_lessons_folder() == tmp_path / "samples"
    shutil.copytree(ALL[0].folder, package / "samples" / ALL[0].name)
    assert lessons.find_lessons_folder() == package / "samples"
    assert [lesson.name for lesson in lessons.list_lessons()] == [ALL[0].name]


def test_the_wheel_carries_the_lessons() -> None:
    project = tomllib.loads(
        (lessons.find_lessons_folder().parent / "pyproject.toml").read_text(encoding="utf-8")
    )
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"]["samples"] == "gscli/samples"
