"""Help, topics, the manual page, and completion by a real shell."""

from __future__ import annotations

import io
import itertools
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import slow
from recording.texts import SHARED_HEADINGS, screen
from shell import call_gscli as gscli
from shell import on_terminal, program

import gscli as package
from gscli.base import ExitCode
from gscli.cli import run_safely
from gscli.cli.completion import complete_path
from gscli.cli.options import SHARED_OPTIONS
from gscli.cli.topics import TOPICS
from gscli.cli.topics import read_topic as told
from gscli.cli.tree import TOOLS
from gscli.frameworks import NAMES, load_framework
from gscli.lab.examples import build_probe

EVERY = package.operators()


def test_every_operator_lists_the_same_shared_options() -> None:
    models = {name: screen(name, "--help") for name in ("scatter-nd", "gather")}
    lasts = [list(load_framework(name).operators.values())[-2:] for name in NAMES]
    for operator in itertools.chain(*lasts):
        model = "scatter-nd" if operator.is_in_place_capable else "gather"
        expected = models[model].partition(SHARED_HEADINGS)[2]
        text = screen(*operator.command_line.split()[1:], "--help")
        shared = text.partition(SHARED_HEADINGS)[2]
        own = {attribute.name for attribute in operator.attributes}
        assert shared == expected or own & set(SHARED_OPTIONS), operator.full_name


@pytest.mark.parametrize("name", NAMES)
def test_only_operators_with_data_to_change_offer_to_do_it_in_place(name: str) -> None:
    for operator in load_framework(name).operators.values():
        probe = build_probe(operator, {})
        assert probe is not None
        layout = probe.layout
        assert operator.is_in_place_capable == (
            layout.kind == "scatter" and layout.data_name is not None
        )
    for operator in list(load_framework(name).operators.values())[:2]:
        text = screen(*operator.command_line.split()[1:], "--help")
        assert ("--in-place" in text) == ("--message" in text) == operator.is_in_place_capable


def test_what_is_not_done_in_place_is_refused_in_one_way(tmp_path: Path) -> None:
    np.save(tmp_path / "u.npy", [1, 2])
    assert gscli("convert", "u.npy", "u.zarr", cwd=tmp_path).returncode == 0
    for words in (["gather", "[1,2]", "[0]"], ["scatter-nd", "u.zarr", "[[0]]", "[5]"]):
        done = gscli(*words, "--in-place", cwd=tmp_path)
        assert done.returncode == 2
        allowed = b"only a scatter into a .npy file or an Icechunk repository can be done in place"
        assert allowed in done.stderr
        assert b"-o FILE writes a new one" in done.stderr


def test_explain_and_check_take_the_words_of_the_operator() -> None:
    for verb in ("explain", "check"):
        text = screen(verb, "torch", "scatter-add", "--help")
        assert text.startswith(f"Usage: gscli {verb} torch scatter-add INPUT INDEX SRC [OPTIONS]")
        assert f"  gscli {verb} torch scatter-add " in text


def test_help_is_plain_on_a_terminal_too() -> None:
    status, shown = on_terminal(["scatter-nd", "--help"], COLUMNS="80")
    assert status == 0
    assert shown.replace("\r\n", "\n") == screen("scatter-nd", "--help")


def test_nothing_said_is_help_and_status_2() -> None:
    done = gscli(COLUMNS="80")
    assert (done.returncode, done.stderr) == (2, b"")
    assert done.stdout.decode() == screen("--help")
    done = gscli("tf", COLUMNS="80")
    assert (done.returncode, done.stdout.decode()) == (2, screen("tf", "--help"))


# Topics


@pytest.mark.parametrize("width", [60, 80, 120])
def test_topics_fit_the_screen(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    listed = screen("help")
    for topic in (name for name in TOPICS if name != "man"):
        assert run_safely(["--width", str(width), "help", topic]) == 0
        text = capsys.readouterr().out
        # Commands and the cases in them are one line each, so that they can be copied.
        lines = [line for line in text.splitlines() if not line.startswith(("  gscli ", "'{"))]
        assert max(map(len, lines)) <= width, topic
        assert text.endswith("\n")
        assert text.split() == told(topic).split()
        assert topic in listed


@pytest.mark.parametrize("topic", [name for name in TOPICS if name not in ("man", "frameworks")])
def test_prose_of_topics_is_broken_at_100_columns(topic: str) -> None:
    """What is broken at another width looks like a paragraph of another text."""
    lines = told(topic).splitlines()
    assert not [line for line in lines if len(line) > 100 and line[0].isalpha()]


def test_findings_say_of_every_command_what_it_asks() -> None:
    head, *blocks = told("findings").split("\n\n")
    commands = [block.splitlines()[1].split()[1] for block in blocks if "\n" in block.strip()]
    asking = [block.splitlines()[1].split()[1] for block in blocks if "--on" in block]
    assert set(asking) == {"compare", "verify"}
    assert set(commands) - set(asking) == {"grad"}
    assert "gscli grad asks none" in head
    assert "--python" not in screen("grad", "torch", "gather", "--help")


def test_an_update_without_a_sign_does_not_always_replace() -> None:
    """Of a mean, a largest and a smallest number a sentence tells."""
    text = " ".join(told("signs").split())
    assert "no sign: it replaces the value, unless the sentence of the call says otherwise" in text
    words = "torch", "scatter-reduce", "[1,2]", "[1]", "[1]", "--dim=0", "--reduce=amax"
    assert "that cell keeps the larger of itself" in screen(*words)


def test_all_words_too_many_are_named() -> None:
    done = gscli("torch", "index-reduce", "[1]", "0", "[1]", "[2]", "prod")
    assert b"takes 3 inputs, got 5\n  --> too many: [2] prod\n" in done.stderr
    done = gscli("scatter-nd", "[1]", "[[0]]", "[2]", "[3]")
    assert b"takes 3 inputs, got 4\n  --> too many: [3]\n" in done.stderr


def test_exit_codes_are_those_of_the_errors() -> None:
    lines = screen("--width", "100", "help", "exit-codes").splitlines()
    told = {int(line.split()[0]) for line in lines}
    assert told == {int(code) for code in ExitCode}


def test_the_keys_of_documents_are_all_described() -> None:
    document = json.loads(screen("scatter-nd", "[1,2]", "[[0],[-1]]", "[8,9]", "--json"))
    text = told("json")
    of_run, of_entry = text.split("An entry has")
    keys = re.compile(r"(?m)^  (\S+(?:, \S+)*)  ")

    def named(part: str) -> set[str]:
        return {key for line in keys.findall(part) for key in line.split(", ")}

    assert named(of_run) == set(document)
    assert named(of_entry) == {*document["entries"][0], "dropped"}
    tie = ("[1.0,2]", "[0,0]", "[3.0,3]", "--reduce", "max", "--dim", "0", "--json")
    gradients = json.loads(screen("grad", "torch", "scatter-reduce", *tie))
    words = set(re.findall(r"\w+", text.split("gscli grad prints ")[1].split("\n\n")[0]))
    assert words >= {*gradients, *gradients["ties"][0]}
    assert " grad," in re.findall(r"(?s)decimal strings\.(.*)have\s--json too", text)[0]


def _list_keys(value: Any, below: frozenset[str]) -> set[str]:
    """The keys of a document, of what it lists and of what stands below some keys."""
    if isinstance(value, list):
        return set().union(*(_list_keys(item, below) for item in value))
    if not isinstance(value, dict):
        return set()
    inner = (item for key, item in value.items() if isinstance(item, list) or key in below)
    return set(value).union(*(_list_keys(item, below) for item in inner))


@pytest.mark.parametrize(
    "line",
    [
        "compare gather [1,2] [7,-1] --json --as onnx,jax",
        "compare gather [1,2] [0] --json --opset 11,13",
        "compare gather [1,2] [7,-1] --json --grad",
        "compare scatter-nd [1,2] [[0]] [3] --reduction mul --json",
        "check gather [1,2] [7,-1] --json",
        "explain gather [1,2] [-1] --json --code all",
        "explain gather [1,2] [7] --json --code all",
        "fuzz numpy.take --on numpy --cases 3 --json",
        "cases onnx.gather --cases 3 --json",
        "rules onnx gather --json",
        "runtimes --json",
        "runtimes numpy --json",
        "gather [1,2] [0] --json --expect [2]",
        "grad gather [1,2] [0] --json --expect [2,2]",
        "diff [1,2] [1,3] --json",
        "show [1,2] --stat --json",
    ],
)
def test_the_keys_of_every_document_are_described(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_safely(line.split())
    document = json.loads(capsys.readouterr().out)
    keys = _list_keys(document, frozenset({"expectation", "error", "largest", "others"}))
    words = set(re.findall(r"\w+", told("json")))
    # Numbers of kinds, named by what is counted; and names of operators.
    stat = {"nan", "inf", "zero"} | {key for key in keys if "." in key}
    assert keys - stat <= words, keys - stat - words


@pytest.mark.parametrize("line", ["verify - -", "page - - -o page.html"])
def test_standard_input_is_read_by_one_word(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_safely(line.split()) == ExitCode.USAGE
    assert "standard input (-) can be read only once" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "told_so"),
    [
        ("gather [1] [0] --svg x.html", "error: pictures are saved as SVG, not as HTML"),
        ("gather [1] [0] --html x.svg", "error: pages are saved as HTML, not as SVG"),
        ("cases onnx.gather --cases 2 -o .", "help: name a new or an empty folder"),
    ],
)
def test_a_refused_name_of_an_output_is_not_praised(
    line: str, told_so: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "something").write_text("")
    assert run_safely(line.split()) in (ExitCode.USAGE, ExitCode.UNWRITABLE)
    assert told_so in capsys.readouterr().err


def test_help_of_a_command_is_its_help() -> None:
    for words in (["scatter-nd"], ["tf", "gather-nd"], ["compare", "gather"], ["explain", "take"]):
        assert screen("help", *words) == screen(*words, "--help")


def test_the_manual_page_tells_every_command_and_option() -> None:
    plain = screen("help", "man").replace("\\-", "-")
    for operator in EVERY:
        assert f".SS {operator.command_line} " in plain
        for attribute in operator.attributes:
            assert f"--{attribute.name.replace('_', '-')}" in plain
    assert all(f".B gscli {tool}\n" in plain for tool in TOOLS)
    assert all(flag in plain for one in SHARED_OPTIONS.values() for flag in one.flags)
    assert all(one.environment in plain for one in SHARED_OPTIONS.values())


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff to format with")
def test_the_manual_page_is_sound_roff() -> None:
    page = screen("help", "man")
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww"], input=page.encode(), capture_output=True, check=True
    )
    assert not done.stderr
    text = re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout.decode())
    assert "gscli scatter-nd '[1,2,3,4,5,6,7,8]' '[[4],[3],[1],[7]]' '[9,10,11,12]'" in text
    assert "EXIT STATUS" in text


# Completion


COMPLETE = """
source <(gscli --show-completion)
complete -p gscli
completed() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _gscli_completion gscli
    echo "${COMPREPLY[@]}"
}
"""
OFFERS = {
    "scatter-": "scatter-elements scatter-nd scatter-update",
    "torch index-s": "index-select",
    "scatter-nd --reduction m": "mul max min",
    "gather d": "data/ d.safetensors",
    "compare take --as torch,n": "torch,numpy",
    "fuzz o": "onnx openvino",
    "cases onnx gather onnx.gather-": "onnx.gather-elements onnx.gather-nd",
    "rules tf.ga": "tf.gather tf.gather-nd",
}
MORE_OFFERS = {
    "explain tf gather": "gather gather-nd",
    "gather --pal": "--palette",
    "show dat": "data/ data/x.npy",
    "help ex": "exit-codes",
    "samples 43": "43-pictures",
    "samples pic": "pictures",
    "gather --dtype bf": "bfloat16",
    "convert --dtype float3": "float32",
    "convert -f s": "safetensors",
    "compare gather --as n": "numpy",
    "compare scatter-elements --reduction me": "mean",
    "compare scatter-nd --reduction m": "max min mul",
    "gather --show data,o": "data,output",
    "rules torch index-s": "index-select",
    "rules nobody index-s": "",
    "rules sc": "scatter-elements scatter-nd scatter-update",
    "fuzz no.": "",
    "runtimes onnxr": "onnxruntime",
    "watch d": "",
}


def test_bash_is_offered_no_name_that_it_would_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a$(reboot).npy", "a;b.npy", "a b.npy", "a\nb.npy", "a`b`.npy", "aé-1.npy"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert len(complete_path("a")) == 6  # other shells quote what they are offered
    monkeypatch.setenv("_GSCLI_COMPLETE", "complete_bash")
    assert complete_path("a") == ["aé-1.npy"]


@pytest.mark.parametrize("offers", [OFFERS, *slow([MORE_OFFERS])], ids=["some", "others"])
def test_bash_completes_what_gscli_knows(offers: dict[str, str], tmp_path: Path) -> None:
    """The completion script is really sourced, once for all words."""
    (tmp_path / "data").mkdir()
    for name in ("data/x.npy", "data/notes.md", "d.safetensors", "d.txt~"):
        (tmp_path / name).touch()
    script = tmp_path / "session.sh"
    script.write_text(COMPLETE + "".join(f"completed gscli {words}\n" for words in offers))
    done = subprocess.run(
        ["bash", "--norc", str(script)], cwd=tmp_path, env=program(tmp_path / ".bin"),
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    bound, *lines = done.stdout.splitlines()
    assert bound == "complete -o default -F _gscli_completion gscli", done.stderr
    told = dict(zip(offers, (set(line.split()) for line in lines), strict=True))
    assert told == {words: set(expected.split()) for words, expected in offers.items()}


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_the_scripts_of_the_shells(name: str) -> None:
    done = gscli("--show-completion", name)
    assert done.returncode == 0
    begin = {"bash": b"_gscli_completion()", "zsh": b"#compdef gscli\n", "fish": b"complete "}
    assert done.stdout.startswith(begin[name])
    assert (b"loadautofunc" in done.stdout) == (name == "zsh")  # the file of a folder of fpath
    assert b"gscli" in done.stdout
    assert b"_GSCLI_COMPLETE" in done.stdout
    words = {"COMP_WORDS": "gscli sc", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "gscli sc"}
    done = gscli(
        _GSCLI_COMPLETE=f"complete_{name}", _TYPER_COMPLETE_FISH_ACTION="get-args", **words
    )
    assert b"scatter-nd" in done.stdout
    assert b"gather" not in done.stdout.replace(b"twin of Gather", b"")


def test_a_shell_without_a_script_is_refused() -> None:
    done = gscli("--show-completion=tcsh")
    assert done.returncode == 2
    assert b"bash zsh fish" in done.stderr


@pytest.mark.parametrize("place", ["", "x", "1.5"])
def test_a_place_to_complete_that_no_shell_says_is_no_bug(place: str) -> None:
    shell = {"_GSCLI_COMPLETE": "complete_bash", "COMP_WORDS": "gscli sc", "COMP_CWORD": place}
    done = gscli("gather", "[7]", "[0]", "--json=output", **shell)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"[7]" in done.stdout


# The package


def test_the_package_names_what_it_offers() -> None:
    offered = dir(package)
    assert set(NAMES) <= set(offered)
    assert {"gather", "scatter_nd", "scatter_update", "take", "run", "trace", "show"} <= set(
        offered
    )
    for name in offered:
        assert getattr(package, name) is not None
    assert (Path(package.__file__).parent / "py.typed").exists()


LIGHT = """
import sys, gscli
dir(gscli), gscli.onnx, gscli.operators(), gscli.GscliError
print(*({"numpy", "rich", "typer", "ml_dtypes"} & set(sys.modules)))
gscli.gather([1, 2], [0])
print(*({"rich", "typer", "ml_dtypes"} & set(sys.modules)))
"""


def test_importing_the_package_is_light(tmp_path: Path) -> None:
    environment = program(tmp_path / "bin")
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n\n"


def test_traces_and_arrays_show_themselves() -> None:
    trace = package.trace("onnx.gather", {"data": [10, 20], "indices": [-1]})
    markup = trace._repr_html_()
    assert markup.startswith("<pre ")
    assert markup.count("<span") == markup.count("</span>")
    assert ">20</span>" in markup
    assert "://" not in markup
    assert "&lt;b&gt;" in package.show([["<b>"]])._repr_html_()
    assert str(package.show([1.5], name="x")).splitlines()[0] == "x  float64 [1]"


def test_rich_prints_traces() -> None:
    from rich.console import Console

    out = io.StringIO()
    trace = package.trace("onnx.gather", {"data": [10, 20], "indices": [-1]})
    Console(file=out, width=60).print(trace)
    assert "counts from the end: cell 1" in out.getvalue()


@pytest.mark.parametrize("columns", [60, 80])
def test_sentences_of_an_operator_are_broken_where_the_terminal_ends(columns: int) -> None:
    text, _, _ = screen("torch", "gather", "--help", columns=columns).partition("Examples:")
    assert max(map(len, text.splitlines())) <= columns
