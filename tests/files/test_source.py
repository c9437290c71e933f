from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gscli.base import CannotRead, CannotWrite, ContentRefused, UsageError
from gscli.files import load, save
from gscli.files.request import Source, spell_as_json


@pytest.mark.parametrize(
    ("text", "kind", "path", "member"),
    [
        ("-", "stdin", "", None),
        ("[[0,1]]", "inline", "", None),
        (" [1]", "inline", "", None),
        ('{"data": 1}', "inline", "", None),
        ('"a"', "inline", "", None),
        ("5", "inline", "", None),
        ("-1", "inline", "", None),
        ("-1.5e-3", "inline", "", None),
        ("true", "inline", "", None),
        ("false", "inline", "", None),
        ("null", "inline", "", None),
        ("nan", "inline", "", None),
        ("-inf", "inline", "", None),
        ("arange:3x4", "generator", "", None),
        ("rand:3:seed=1", "generator", "", None),
        ("arange.npy", "file", "arange.npy", None),
        ("3.npy", "file", "3.npy", None),
        ("-x.npy", "file", "-x.npy", None),
        ("true.npy", "file", "true.npy", None),
        ("./[a].npy", "file", "./[a].npy", None),
        ("m.npz::a", "file", "m.npz", "a"),
        ("m.NPZ::a", "file", "m.NPZ", "a"),
        ("m.h5::/g/data", "file", "m.h5", "/g/data"),
        ("m.npz::a::b", "file", "m.npz", "a::b"),
        ("m.npz::", "file", "m.npz", ""),
        ("m.npz::a\nb", "file", "m.npz", "a\nb"),
        ("a::b", "file", "a::b", None),
        ("a::b.npy", "file", "a::b.npy", None),
        ("", "file", "", None),
    ],
)
def test_kinds(text: str, kind: str, path: str, member: str | None) -> None:
    assert Source.parse(text) == Source(text, kind, path, member)


@pytest.mark.parametrize(
    ("text", "json"), [("nan", "NaN"), ("-inf", "-Infinity"), ("true", "true"), ("[1]", "[1]")]
)
def test_bare_words_get_the_spelling_of_json(text: str, json: str) -> None:
    assert Source.parse(text).kind == "inline"
    assert spell_as_json(text) == json.encode()


def test_a_name_without_letters_is_shown_as_one() -> None:
    """A variable of the shell without a value: `cannot read : no such file` tells nobody."""
    with pytest.raises(CannotRead) as caught:
        load("")
    assert caught.value.problem == "cannot read ''"
    assert caught.value.where == "'': no such file"
    with pytest.raises(UsageError, match="no format for ''"):
        save("", np.zeros(1))
    with pytest.raises(CannotWrite, match="cannot write ''") as unwritten:
        save("", np.zeros(1), format="npy")
    assert unwritten.value.where.startswith("'': no such file")


@pytest.mark.parametrize(
    ("file", "text"),
    [("x.json", '{"emb": [1]}'), ("x.json", "no JSON"), ("x.json", ""), ("x.npy", "no array")],
)
def test_a_name_in_a_file_without_an_array(file: str, text: str, tmp_path: Path) -> None:
    """The file is refused for what it is: nobody is sent to leave off the name first."""
    (tmp_path / file).write_text(text)
    problems = []
    for source in (f"{tmp_path / file}::emb", f"{tmp_path / file}"):
        with pytest.raises(ContentRefused) as caught:
            load(source)
        problems.append(caught.value.problem)
    assert problems[0] == problems[1]


def test_a_name_in_a_file_of_one_array(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(UsageError, match="holds one array, without a name"):
        load(f"{tmp_path / 'x.json'}::emb")
