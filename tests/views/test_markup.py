"""No text of a reader, a file or a document becomes markup or steers a terminal."""

from __future__ import annotations

import ast
import json
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from conftest import everyday
from shell import call_gscli
from sources import modules_with, nodes_of

import gscli
from gscli.base import UsageError
from gscli.cli import run_safely
from gscli.views.markup import escape

EVIL = "</script><meta http-equiv=x>\"'><svg onload=a()><!--\x1b[31m\x9b\u2028\u202e]]>&lt;\\u003c"
TAME = "x" * len(EVIL)
Words = list[str]


class Structure(HTMLParser):
    """The elements of a text with the names of their attributes, and all its comments."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(f"{tag} {' '.join(name for name, _ in attrs)}")

    def handle_comment(self, data: str) -> None:
        self.found.add(f"comment {data}")


def strings(text: str) -> Words:
    return ["scatter-elements", json.dumps([text, "b"]), "[0]", json.dumps([text + "2"])]


def compared(text: str) -> Words:
    return ["compare", "gather", json.dumps([text, "b"]), "[0,-1]"]


def in_a_file(text: str) -> Words:
    path = Path(f"{text}.npy")
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, np.array([1.5, 2, 3]))
    return ["gather", str(path), "[0,2]", "--expect", str(path)]


def in_an_archive(text: str) -> Words:
    np.savez("archive.npz", **{text.replace("/", "|"): np.array([text, "b"])})
    return ["gather", f"archive.npz::{text.replace('/', '|')}", "[0]"]


def expected(text: str) -> Words:
    return [*strings("a"), "--expect", json.dumps([text, "b"])]


CALLS: dict[str, Callable[[str], Words]] = {
    made.__name__: made for made in (strings, compared, in_a_file, in_an_archive, expected)
}
PICTURES = {
    "html": ["--html", "-"],
    "quiz": ["--html", "-", "--quiz"],
    "svg": ["--svg", "-"],
    "figure of a step": ["--svg", "-", "--step", "1"],
}


def run(words: Words, folder: Path, **variables: str) -> tuple[int, str, str]:
    done = call_gscli(*words, cwd=folder, LC_ALL="C.UTF-8", **variables)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def assert_tame(text: str, *, colored: bool = False) -> None:
    """Nothing that steers a terminal, besides colours of our own."""
    for sign in set(text) - {"\n"}:
        if sign != "\x1b" or not colored:
            assert unicodedata.category(sign) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}, repr(sign)
    assert "\x1b[31m" not in text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("call", CALLS)
def test_texts_of_a_call_are_no_markup(call: str, picture: str, folder: Path) -> None:
    if call == "compared" and picture in ("quiz", "figure of a step"):
        return
    (status, evil, _), (other, tame, _) = (
        run([*CALLS[call](text), *PICTURES[picture]], folder) for text in (EVIL, TAME)
    )
    assert status == other
    assert Structure(evil).found == Structure(tame).found
    assert_tame(evil)
    assert evil
    if "svg" in PICTURES[picture][0]:
        ET.fromstring(evil)


@pytest.mark.parametrize("color", ["never", "always"])
@pytest.mark.parametrize("command", ["", "explain", "rules"])
@pytest.mark.parametrize("call", CALLS)
def test_texts_of_a_call_do_not_steer_a_terminal(
    call: str, command: str, color: str, folder: Path
) -> None:
    words = CALLS[call](EVIL)
    if command and (call == "compared" or "--expect" in words):
        return
    for more in ([], ["--plain"]):
        _, out, err = run([*command.split(), *words, "--color", color, *more], folder)
        assert_tame(out, colored=color == "always")
        assert_tame(err, colored=color == "always")


def document_of(words: Words, folder: Path) -> Any:
    return json.loads(run([*words, "--json"], folder)[1])


def pages(documents: list[Any], folder: Path, *words: str) -> tuple[int, str, str]:
    names = [f"{number}.json" for number in range(len(documents))]
    for name, document in zip(names, documents, strict=True):
        (folder / name).write_text(json.dumps(document))
    return run(["page", *names, "-o", "-", *words], folder)


def places(node: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document that holds a text or a name."""
    found = [at] if isinstance(node, str) else []
    if isinstance(node, dict):
        found += [(*at, name, None) for name in node]
    for key, value in (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    ):
        found += places(value, (*at, key))
    return found


def spoilt(document: Any, at: tuple[Any, ...], *, instead: bool = True) -> Any:
    """The document with EVIL as one of its texts or names, or as a name of its own beside it."""
    document = json.loads(json.dumps(document))
    rename = at[-1] is None
    *way, last = at[:-1] if rename else at
    node = document
    for key in way:
        node = node[key]
    if rename:
        node[EVIL] = node.pop(last) if instead else node[last]
    else:
        node[last] = EVIL
    return document


RUNS: dict[str, Words] = {
    "run": ["onnx", "scatter-elements", '["a","b"]', "[0]", '["c"]'],
    "comparison": ["compare", "gather", "[1,2,3]", "[0,-1]", "--as", "onnx,jax"],
}


# The everyday run tries one in so many places of a document, one of them a text that is shown.
PARTS = 8


@pytest.mark.parametrize("part", everyday(range(PARTS), {PARTS - 1}))
@pytest.mark.parametrize("instead", [True, False])
@pytest.mark.parametrize("name", RUNS)
def test_no_text_of_a_document_is_markup(
    name: str, instead: bool, part: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = document_of(RUNS[name], folder)
    usual = Structure(pages([document], folder)[1]).found
    for at in places(document)[part::PARTS]:
        Path("spoilt.json").write_text(json.dumps(spoilt(document, at, instead=instead)))
        status = run_safely(["page", "spoilt.json", "-o", "-"])
        page, errors = capsys.readouterr()
        assert status in (0, 65), (at, errors)
        assert Structure(page).found <= usual, at
        assert_tame(page)
        assert_tame(errors)


def test_a_runtime_of_a_document_is_no_markup(folder: Path) -> None:
    document = document_of(RUNS["comparison"], folder)
    row = next(row for row in document["rows"] if "output" in row)
    own = {**row, "label": f"r: {row['label']}", "runtime": True}
    refusal = {"label": own["label"], "operator": own["operator"], "runtime": True}

    def shown(runtime: str, problem: str) -> str:
        rows = [
            {**own, "label": f"{runtime}: {row['label']}"},
            {**refusal, "label": f"{runtime}2: {row['label']}", "error": {"problem": problem}},
        ]
        status, page, errors = pages(
            [{**document, "rows": [*document["rows"], *rows]}], folder, "--title", runtime
        )
        assert status == 0, errors
        return page

    evil = shown(EVIL[:70].replace(": ", ":"), EVIL)
    assert Structure(evil).found == Structure(shown("runtime", "no such thing")).found
    assert_tame(evil)
    assert escape("<meta http-equiv=x>") in evil


def test_a_comparison_takes_no_other_inputs() -> None:
    with pytest.raises(UsageError, match=r"no input"):
        gscli.compare("gather", {"data": [1], "indices": [0], EVIL: [1]})


@pytest.mark.parametrize("words", [["show"], ["show", "--plain"], ["show", "--svg", "-"], ["diff"]])
def test_names_and_values_of_files_stay_text(words: Words, folder: Path) -> None:
    name = in_an_archive(EVIL)[1]
    for path in (name, "archive.npz"):
        more = [path] if words[0] == "show" else [path, path]
        _, out, err = run([words[0], *more, *words[1:]], folder)
        assert_tame(out)
        assert_tame(err)
        if "--svg" in words and path == name:
            ET.fromstring(out)
            assert {tag.split()[0] for tag in Structure(out).found} <= {
                "svg", "title", "desc", "text", "rect",
            }  # fmt: skip


def test_a_notebook_shows_text() -> None:
    shown = gscli.show(np.array([EVIL]), name=EVIL)._repr_html_()
    assert Structure(shown).found <= {"pre style", "span style"}
    assert_tame(shown)


def test_one_module_makes_text_safe_for_markup() -> None:
    """A second way to escape would be a second place to forget."""
    for path in modules_with(["html", "xml"]):
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom | ast.Import) and path.name != "markup.py":
                names = [alias.name for alias in node.names]
                assert getattr(node, "module", None) != "html", path
                assert not {"html", "xml"} & set(names), path
