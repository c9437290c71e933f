"""A good citizen of the shell: streams, descriptors, signals, terminals, environments."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from looks import bare, is_coloured, looks
from shell import (
    BARE,
    COMMAND,
    PATIENCE,
    Terminal,
    call_gscli,
    forked,
    forked_program,
    gscli,
    on_terminal,
    program,
    shell,
)

from gscli import cli
from gscli.base import GscliWarning, Notice, StrictFinding
from gscli.cli import run_safely
from gscli.disk.unfinished import UnfinishedPatch

GATHER = ("gather", "[10,20,30]", "[2,0,-1]")
SCATTER = ("scatter-nd", "[1,2,3,4]", "[[3],[1]]", "[9,8]")
DUPLICATES = ("scatter-nd", "[1,2]", "[[0],[0]]", "[8,9]")
REFUSED = ("gather", "[1,2]", "[0,7]")
ESCAPE = "\x1b["


def npy(data: bytes) -> np.ndarray:
    return np.load(io.BytesIO(data))


# Streams


def test_a_log_of_both_streams_has_them_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text("no case\n")
    (tmp_path / "table.csv").write_text("1,2\n")
    environment = forked_program(tmp_path / "bin")
    for line, first, second in (
        ("gscli verify cases.jsonl", "0 passed", "error: not a recorded case"),
        ("gscli verify cases.jsonl --json", '{"passed"', '{"error"'),
        ("gscli show table.csv gone.csv", "table.csv", "error: cannot read gone.csv"),
    ):
        log = shell(f"{line} > log 2>&1; cat log", tmp_path, environment).stdout.decode()
        assert 0 <= log.find(first) < log.find(second), log
    words = "gscli scatter-nd '[1,2]' '[[0],[0]]' '[8,9]' --json"
    done = shell(f"set -o pipefail; {words} | true", tmp_path, environment)
    assert done.returncode in (0, 141)
    assert b"2 entries write the same cell" in done.stderr


def test_npy_flows_through_a_pipe_of_commands(tmp_path: Path) -> None:
    line = (
        "gscli gather '[[1,2],[3,4],[5,6]]' '[2,0]' -o - -f npy"
        " | gscli scatter-nd - '[[0]]' '[[9,9]]' -f npy | gscli show -"
    )
    done = shell(f"set -o pipefail; {line}", tmp_path, forked_program(tmp_path / "bin"))
    assert done.returncode == 0
    assert not done.stderr
    rows = [re.findall(r"\d+", text)[1:] for text in done.stdout.decode().splitlines()[2:]]
    assert rows == [["9", "9"], ["1", "2"]]


def test_process_substitution_and_named_inputs(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.array([10, 20, 30]))
    line = "gscli gather --indices <(echo '[1]') --data <(cat d.npy) --json=output"
    done = shell(line, tmp_path, program(tmp_path / "bin"))
    assert json.loads(done.stdout)["data"] == [20]


def test_hints_with_names_that_do_not_print_run_as_they_stand(tmp_path: Path) -> None:
    name = "it's\n\x1b7 \udcff0\u202e.npy"
    np.save(tmp_path / name, np.arange(3))
    refused = forked("gather", name, "[9]", cwd=tmp_path).stderr.decode()
    _, _, command = refused.replace("\n        ", " ").partition("see what others do: ")
    done = shell(command, tmp_path, forked_program(tmp_path / "bin"))
    assert done.returncode == 1, done.stderr  # they do not agree
    assert b"indices  int64 [1]  9" in done.stdout


def test_documents_are_read_back(tmp_path: Path) -> None:
    lines = ("gscli gather '[0.5,2]' '[1,1]' --json", "gscli gather - '[0]' --json", "gscli show -")
    done = shell("|".join(lines), tmp_path, forked_program(tmp_path / "bin"))
    assert done.stdout.decode().split() == ["standard", "input", "float64", "[1]", "0", "2"]


@pytest.mark.parametrize("words", [("-", "-"), ("--", "-::a", "-::b"), ("--", "-", "-::b")])
@pytest.mark.parametrize("command", ["gather", "compare gather", "show", "show --stat", "diff"])
def test_only_one_input_may_be_standard_input(command: str, words: tuple[str, ...]) -> None:
    done = forked(*command.split(), *words, stdin=b"a,b\n1,0\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: standard input (-) can be read only once")


def test_results_go_to_stdout_and_everything_else_to_stderr() -> None:
    done = forked(*DUPLICATES, "--json=output", "-v")
    assert json.loads(done.stdout)["data"] == [9, 2]
    assert done.stderr.startswith(b"warning: 2 entries write the same cell")
    assert b"2 entries, " in done.stderr


@pytest.mark.parametrize("command", [(), ("explain",)])
def test_one_is_not_told_as_several(command: tuple[str, ...]) -> None:
    done = forked(*command, "gather", "[1,2]", "[[0]]", "-v", "-q")
    shapes, times = done.stderr.decode().splitlines()[1:3], done.stderr.decode().splitlines()[-1]
    assert shapes == ["indices int64 [1,1]", "output int64 [1,1]"]
    assert times.startswith("1 entry, ")


def test_two_results_for_stdout_are_refused() -> None:
    done = forked(*GATHER, "-f", "npy", "--json")
    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["problem"] == "stdout takes one result"


@pytest.mark.parametrize(
    "more", [("-o", "b.npy"), ("-f", "json"), ("--json=output",), ("--svg", "a.svg"),
             ("--html", "-"), ("--step", "1")],
    ids=lambda more: more[0],
)  # fmt: skip
def test_a_patch_has_no_other_result(more: tuple[str, ...], tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.arange(4))
    before = (tmp_path / "data.npy").read_bytes()
    done = forked("scatter-nd", "data.npy", "[[1]]", "[9]", "--in-place", *more, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--in-place " in done.stderr
    assert b" has no o" in done.stderr  # no other result, or no output
    assert [path.name for path in tmp_path.iterdir()] == ["data.npy"]
    assert (tmp_path / "data.npy").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (("numpy", "put", "data.npy", "[0,1]", "[5]"), b"2 cells written, "),
        (("scatter-elements", "data.npy", "[[0,1]]", "[[5,5]]"), b"2 cells written, "),
        (("scatter-nd", "data.npy", "[[0]]", "[[5,5]]"), b"1 row written, "),
        (("scatter-nd", "data.npy", "[[0]]", "[[0,1]]"), b"1 row written, "),  # what it holds
    ],
)
@pytest.mark.parametrize("way", ["--in-place", "--in-place=direct"])
def test_a_patch_counts_what_it_wrote(
    words: tuple[str, ...], written: bytes, way: str, tmp_path: Path
) -> None:
    np.save(tmp_path / "data.npy", np.arange(6).reshape(3, 2))
    done = forked(*words, way, "-v", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr[: len(written)]) == (0, written)
    count, unit, *_ = written.decode().split()
    patch = {"schema": "gscli/1", "written": int(count), "unit": unit.removesuffix("s")}
    assert json.loads(done.stdout) == patch


@pytest.mark.parametrize("way", ["--in-place", "--in-place=direct"])
@pytest.mark.parametrize("rest", ["rest.npz", "rest"])
def test_data_named_beside_the_other_inputs_are_patched(
    rest: str, way: str, tmp_path: Path
) -> None:
    np.save(tmp_path / "table.npy", np.arange(6).reshape(3, 2))
    patch = {"indices": np.array([[2]]), "updates": np.array([[8, 9]])}
    np.savez(tmp_path / "rest.npz", **patch)
    (tmp_path / "rest").mkdir()
    for name, array in patch.items():
        np.save(tmp_path / "rest" / f"{name}.npy", array)
    done = forked("scatter-nd", rest, "--data", "table.npy", way, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert np.load(tmp_path / "table.npy").tolist() == [[0, 1], [2, 3], [8, 9]]


def test_strict_refuses_data_whose_patch_was_cut_short(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.arange(4))
    (tmp_path / "data.npy.gscli-undo").write_bytes(b"")
    words = ("gather", "data.npy", "[1]", "-o", "new.npy")
    strict, warned = forked(*words, "--strict", cwd=tmp_path), forked(*words, cwd=tmp_path)
    assert (strict.returncode, warned.returncode) == (1, 0)
    assert strict.stderr.startswith(b"error: data.npy may be a mix: ")
    assert warned.stderr.startswith(b"warning: data.npy may be a mix: ")
    document = json.loads(forked("gather", "data.npy", "[1]", "--json", cwd=tmp_path).stdout)
    assert [each["problem"][:25] for each in document["warnings"]] == ["data.npy may be a mix: a "]
    jobs = [
        {"op": "gather", "inputs": {"data": data, "indices": [0]}} for data in ("data.npy", [1])
    ]
    (tmp_path / "jobs.jsonl").write_text("\n".join(map(json.dumps, jobs)))
    results = forked("batch", "jobs.jsonl", cwd=tmp_path).stdout.splitlines()
    assert ["warnings" in json.loads(line) for line in results] == [True, False]


def test_strict_refuses_no_other_warning_of_a_reader(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As that a runtime is silent so far, where --strict speaks of what it answers."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    cli._install_warning_printer(["verify", "c.jsonl", "--on", "./own", "--strict"])
    warnings.showwarning(GscliWarning(Notice("silent so far")), GscliWarning, "file.py", 1)
    assert capsys.readouterr().err.startswith("warning: silent so far")
    with pytest.raises(StrictFinding, match="a mix"):
        warnings.showwarning(UnfinishedPatch(Notice("a mix")), UnfinishedPatch, "file.py", 1)


def test_a_refused_patch_is_told_as_json(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.arange(4))
    words = ("scatter-nd", "data.npy", "[[7]]", "[9]", "--in-place", "--json")
    done = forked(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (65, b"")
    assert json.loads(done.stderr)["error"]["problem"] == "index out of range"


def test_a_saved_result_prints_nothing_unless_a_picture_is_asked_for(tmp_path: Path) -> None:
    quiet = forked(*GATHER, "-o", "a.npy", cwd=tmp_path)
    asked = forked(*GATHER, "-o", "b.npy", "--show", "output", cwd=tmp_path)
    assert (quiet.stdout, quiet.stderr, quiet.returncode) == (b"", b"", 0)
    assert b"30" in asked.stdout
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()


def test_a_refused_picture_writes_nothing(tmp_path: Path) -> None:
    done = forked(*GATHER, "-o", "a.npy", "--slice", "0,0,0", cwd=tmp_path)
    assert done.returncode == 2
    assert not list(tmp_path.iterdir())


def test_a_page_of_recorded_runs(tmp_path: Path) -> None:
    lines = (
        "gscli gather '[10,20]' '[1]' --json > a.json",
        "gscli scatter-nd '[1,2]' '[[0]]' '[9]' --json > b.json",
        "gscli page a.json b.json -o lesson.html --title Two",
        "gscli page a.json -o - | head -c 15",
    )
    done = shell(" && ".join(lines), tmp_path, forked_program(tmp_path / "bin"))
    assert done.stderr == b""
    assert done.stdout == b"<!DOCTYPE html>"
    text = (tmp_path / "lesson.html").read_text(encoding="utf-8")
    assert text.count("<section ") == 2
    assert "<title>Two</title>" in text
    (tmp_path / "c.json").write_text("[1]")
    refused = forked("page", "a.json", "c.json", "-o", "no.html", cwd=tmp_path)
    assert refused.returncode == 65
    assert b"c.json" in refused.stderr
    assert not (tmp_path / "no.html").exists()


# Element types of a call


@pytest.mark.parametrize(
    ("words", "dtype", "data"),
    [
        (("gather", "[1.5,0.1]", "[1]", "--dtype", "float32"), "float32", [0.10000000149011612]),
        (("scatter-nd", "[1]", "[[0]]", "[8.5]", "--dtype", "float16"), "float16", [8.5]),
        (("take", "[1,2,3]", "[0,-1]", "--dtype", "uint8"), "uint8", [1, 3]),
        (("tf", "scatter-nd", "[[2]]", "[7]", "[3]", "--dtype", "float64"), "float64", [0, 0, 7]),
        (("gather", "[1,2]", "[1.0]", "--dtype", "int64"), "int64", [2]),
    ],
)  # fmt: skip
def test_dtype_is_for_data_and_updates(
    words: tuple[str, ...], dtype: str, data: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely([*words, "--json=output"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["dtype"], output["data"]) == (dtype, data)


def test_indices_keep_their_type_beside_dtype(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["take", "[1,2]", "[0,-1]", "--dtype", "int16", "--json"]) == 0
    inputs = json.loads(capsys.readouterr().out)["inputs"]
    assert (inputs["a"]["dtype"], inputs["indices"]["dtype"]) == ("int16", "int64")


@pytest.mark.parametrize("words", [("[1,300]", "[0]"), ("[0.5]", "[0]"), ("[-1]", "[0]")])
def test_dtype_never_changes_a_value(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    dtype = "uint8"
    assert run_safely(["gather", *words, "--dtype", dtype]) == 65
    assert "without changing values" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "updates", "lost"),
    [
        ("[1.0,2] --dtype=float16", "[70000]", "70000 would change"),
        ("[1.0,2] --dtype=float16", "[0.1,70000.5]", "70000.5 would change"),
        ("[1.0,2] --dtype=float16", "[0.1,65504]", ""),
        ("[1.0,2] --dtype=float32", "[16777217]", "16777217 would change"),
        ("[1e39,2] --dtype=float32", "[1]", "1e+39 would change"),
        ("zeros:2:float32", "[0.1,1e39]", "1e+39 would change"),
        ("zeros:2:float32", "[0.1,1e38]", ""),
        ("zeros:2:float16", "[2049]", "2049 would change"),
        ("zeros:2:float16", "[2049.0]", ""),
        ("zeros:2:float16", "[inf]", ""),
    ],
)
def test_a_number_without_a_type_is_never_lost(data: str, updates: str, lost: str) -> None:
    """A fraction becomes the nearest number; a whole one stays as it is, a finite one finite."""
    index = "[0,1]" if "," in updates else "[0]"
    done = forked("torch", "scatter-add", "--dim=0", "-q", *data.split(), index, updates)
    assert done.returncode == (65 if lost else 0)
    assert lost in done.stderr.decode()


def test_max_bytes_bounds_results_and_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["gather", "arange:1000", "zeros:1000:int64", "--max-bytes", "4K"]) == 65
    assert run_safely(["gather", "arange:1000", "zeros:1000:int64", "--max-bytes", "9K", "-q"]) == 0
    assert run_safely(["gather", "[1]", "[0]", "--max-bytes", "much"]) == 2
    assert "takes a number of bytes" in capsys.readouterr().err


# Process behaviour: the same answers, statuses and bytes, whatever surrounds the command


@pytest.mark.parametrize(
    ("redirections", "words", "status"),
    [
        (">&-", GATHER, 73),
        (">&-", (*GATHER, "-f", "npy"), 73),
        ("2>&-", REFUSED, 65),
        ("<&- >&- 2>&-", (*GATHER, "-o", "a.npy"), 0),
        ("<&-", ("show", "-"), 65),
        ("> /dev/full", GATHER, 73),
        ("> /dev/full", (*GATHER, "-f", "npy"), 73),
        ("> /dev/full", ("--help",), 73),
        ("> /dev/full", ("help", "man"), 73),
        ("2> /dev/full", REFUSED, 65),
        ("2> /dev/full", DUPLICATES, 0),
    ],
)  # fmt: skip
def test_descriptors(
    redirections: str, words: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    quoted = " ".join(f"'{word}'" for word in words)
    done = shell(f"gscli {quoted} {redirections}", tmp_path, program(tmp_path / "bin"))
    assert done.returncode == status, done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"error: ") <= 1
    if status == 73:
        assert done.stderr.startswith(b"error: cannot write standard output\n")
    if "-o" in words:
        assert np.load(tmp_path / "a.npy").tolist() == [30, 10, 30]


@pytest.mark.parametrize(
    "words",
    [
        ("gather", "arange:100000", "arange:100000", "--json=output"),
        ("gather", "arange:100000", "arange:100000", "-f", "npy"),
        ("explain", "gather", "arange:3000", "arange:3000", "--limit", "3000"),
        ("batch", "-"),
    ],
)
def test_a_reader_that_leaves_is_no_error(words: tuple[str, ...]) -> None:
    jobs = b'{"op":"gather","inputs":{"data":[1,2],"indices":[0]}}\n' * 3000
    child = subprocess.Popen(
        [*COMMAND, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=BARE,
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdin.write(jobs[:60_000] if words == ("batch", "-") else b"")
    child.stdin.flush()
    child.stdout.read(1)
    child.stdout.close()
    with child.stderr:
        with contextlib.suppress(BrokenPipeError):
            child.stdin.close()
        assert child.stderr.read() == b""
    assert child.wait(PATIENCE) == 141


def test_interrupt_ends_with_130() -> None:
    child = subprocess.Popen(
        [*COMMAND, "batch", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=BARE,
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(b'{"op":"gather","inputs":{"data":[1,2],"indices":[0]}}\n')
    child.stdin.flush()
    answered, _, _ = select.select([child.stdout], [], [], PATIENCE)
    if not answered:
        child.kill()
        pytest.fail("no answer comes before the next job")
    assert b"output" in child.stdout.readline()
    child.send_signal(signal.SIGINT)
    _, complaints = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130
    assert complaints == b"interrupted: what was printed may not be all\n"


ODD = {
    "C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ASCII": {"PYTHONIOENCODING": "ascii"},
    "dumb": {"TERM": "dumb", "HOME": "/nonexistent", "TMPDIR": "/nonexistent"},
    "narrow": {"COLUMNS": "1", "LINES": "1"},
    "no width": {"COLUMNS": "0"},
}


@pytest.mark.parametrize("variables", ODD.values(), ids=ODD)
def test_no_environment_changes_a_status_or_a_written_byte(
    variables: dict[str, str], tmp_path: Path
) -> None:
    run = forked if variables.keys().isdisjoint({"PYTHONIOENCODING", "LC_ALL"}) else gscli
    done = run(*GATHER, "-o", "a.npy", "--show", "output", cwd=tmp_path, **variables)
    assert done.returncode == 0, done.stderr
    expected = io.BytesIO()
    np.save(expected, np.array([30, 10, 30]))
    assert (tmp_path / "a.npy").read_bytes() == expected.getvalue()
    refused = run(*REFUSED, **variables)
    assert refused.returncode == 65
    assert b" ".join(refused.stderr.split()).startswith(b"error: index out of range")
    if "PYTHONIOENCODING" in variables or "LC_ALL" in variables:
        assert done.stdout.isascii()
        assert refused.stderr.isascii()


def test_a_deleted_working_folder(tmp_path: Path) -> None:
    line = "mkdir gone && cd gone && rmdir ../gone && "
    environment = program(tmp_path / "bin")
    done = shell(line + "gscli gather '[1,2]' '[1]' --json=output", tmp_path, environment)
    assert json.loads(done.stdout)["data"] == [2]
    done = shell(line + "gscli gather '[1,2]' '[1]' -o x.npy", tmp_path, environment)
    assert done.returncode == 73
    assert b"Traceback" not in done.stderr


# Habits


def test_options_stand_before_the_command_or_behind_it() -> None:
    before = forked("--width", "50", "--color=always", *GATHER)
    behind = forked(*GATHER, "--width=50", "--color", "always")
    variables = forked(*GATHER, GSCLI_WIDTH="50", GSCLI_COLOR="always")
    assert before.stdout == behind.stdout == variables.stdout
    assert is_coloured(before.stdout.decode())
    assert max(map(len, bare(before.stdout.decode()).splitlines())) <= 50


def test_plain_sentences_are_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely([*GATHER, "--plain"]) == 0
    plain = capsys.readouterr().out
    assert plain.isascii()
    assert run_safely(["--plain", *GATHER]) == 0
    assert capsys.readouterr().out == plain


@pytest.mark.parametrize(
    "value", ["WIDTH=x", "PALETTE=foo", "MAX_BYTES=x", "QUIET=maybe", "DEBUG=2"]
)
def test_a_wrong_value_of_a_variable_names_it(
    value: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(*f"GSCLI_{value}".split("="))
    assert run_safely(["gather", "[1]", "[0]"]) == 2
    assert f"  --> GSCLI_{value}\n" in capsys.readouterr().err


def test_options_win_over_variables(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["--width", "50", *GATHER, "--width", "120"]) == 0
    wide = capsys.readouterr().out
    assert run_safely([*GATHER, "--width", "120"]) == 0
    assert capsys.readouterr().out == wide
    assert "GSCLI_WIDTH" not in os.environ


@pytest.mark.parametrize(
    "words",
    [("verify", "x.jsonl"), ("run", "x"), ("rules",), ("samples",), ("convert", "[1]", "x.npy"),
     ("compare", "gather", "[1]", "[0]"), ("show", "[1]"), GATHER],
)  # fmt: skip
def test_every_json_option_knows_its_choices(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely([*words, "--json=banana"]) == 2
    assert (
        json.loads(capsys.readouterr().err)["error"]["problem"] == "--json does not take 'banana'"
    )


def test_options_before_a_command_reach_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("help", "inputs"), ("samples",), ("rules", "torch")):
        assert run_safely(["--width", "50", *words]) == 0
        before = capsys.readouterr().out
        assert run_safely([*words, "--width", "50"]) == 0
        assert capsys.readouterr().out == before
        assert max(map(len, before.splitlines())) <= 50


def test_quiet_prints_nothing_but_data() -> None:
    assert forked(*GATHER, "-q").stdout == b""
    assert forked("-q", *GATHER).stdout == b""
    assert json.loads(forked(*GATHER, "-q", "--json=output").stdout)["data"] == [30, 10, 30]


def test_version() -> None:
    assert re.fullmatch(
        rb"gscli \d+\.\d+\.\d+ \((compiled loops|plain NumPy)\)\n", gscli("--version").stdout
    )


def test_nothing_is_written_but_the_output(tmp_path: Path) -> None:
    forked(*GATHER, "-o", "a.npy", cwd=tmp_path, HOME=str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


# Colour and keys, on a pseudo-terminal


def test_colour_on_a_terminal_and_none_in_a_pipe() -> None:
    status, screen = on_terminal(GATHER)
    assert status == 0
    assert is_coloured(screen)
    piped = forked(*GATHER).stdout.decode()
    assert ESCAPE not in piped
    shown = bare(screen)
    assert re.sub(r" ([a-z]) ", r"\1:", shown.splitlines()[-1]).split() == [
        *piped.splitlines()[-1].split()
    ]


@pytest.mark.parametrize(
    ("variables", "words", "coloured"),
    [
        ({"NO_COLOR": "1"}, (), False),
        ({"NO_COLOR": "1"}, ("--color", "always"), True),
        ({"TERM": "dumb"}, (), False),
        ({}, ("--color", "never"), False),
        ({"GSCLI_COLOR": "never"}, (), False),
    ],
)
def test_what_decides_about_colour_on_a_terminal(
    variables: dict[str, str], words: tuple[str, ...], coloured: bool
) -> None:
    status, screen = on_terminal([*GATHER, *words], **variables)
    assert status == 0
    assert is_coloured(screen) == coloured


@pytest.mark.parametrize(
    ("variables", "words", "styled"),
    [
        ({"NO_COLOR": "1"}, (), True),
        ({"NO_COLOR": "1", "TERM": "dumb"}, (), False),
        ({"NO_COLOR": "1"}, ("--color", "never"), False),
    ],
)
def test_a_terminal_without_colour_keeps_bold_and_dim(
    variables: dict[str, str], words: tuple[str, ...], styled: bool
) -> None:
    status, screen = on_terminal([*GATHER, *words], **variables)
    assert status == 0
    found = looks(screen)
    assert any(look.bold for look in found) == any(look.dim for look in found) == styled
    assert not is_coloured(screen)


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "CLICOLOR_FORCE"])
def test_colour_can_be_forced_into_a_pipe(variable: str) -> None:
    assert ESCAPE.encode() in forked(*GATHER, **{variable: "1"}).stdout
    assert ESCAPE.encode() in forked(*REFUSED, **{variable: "1"}).stderr


def test_no_color_wins_over_the_wish_for_colour() -> None:
    assert ESCAPE.encode() not in forked(*GATHER, NO_COLOR="1", FORCE_COLOR="1").stdout
    assert is_coloured(on_terminal(REFUSED)[1])
    assert ESCAPE not in on_terminal(REFUSED, NO_COLOR="1")[1]


def test_binary_never_goes_to_a_terminal() -> None:
    status, screen = on_terminal([*GATHER, "-f", "npy"])
    assert status == 2
    assert "refusing to write binary .npy to the terminal" in screen


def test_steps_by_keys() -> None:
    terminal = Terminal(*SCATTER, "--step")
    terminal.wait_for("1 of 2")
    terminal.press("n")
    terminal.wait_for("2 of 2")
    terminal.press("?")
    terminal.wait_for("updates.shape")
    terminal.press("q")
    assert terminal.finish() == 0


def test_a_single_step_needs_no_key() -> None:
    done = forked(*SCATTER, "--step", "2")
    assert done.returncode == 0
    assert b"b:" in done.stdout
    assert forked(*SCATTER, "--step", "9").returncode == 2


def test_interrupt_on_a_terminal() -> None:
    terminal = Terminal(*SCATTER, "--step")
    terminal.wait_for("1 of 2")
    terminal.press("\x03")
    assert terminal.finish() == 130
    assert "Traceback" not in terminal.screen


# Errors as data


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (REFUSED, 65, "IndexRefused"),
        (("gather", "[1]"), 2, "UsageError"),
        (("gather", "[1]", "[0]", "--nosuch"), 2, "UsageError"),
        (("gather", "[1]", "[0]", "--axis"), 2, "UsageError"),
        (("gathr",), 2, "UsageError"),
        (("show", "nofile.npy"), 66, "CannotRead"),
        ((*GATHER, "-o", "no/where.npy"), 73, "CannotWrite"),
        ((*DUPLICATES, "--strict"), 1, "StrictFinding"),
    ],
)  # fmt: skip
def test_errors_as_data(
    words: tuple[str, ...], code: int, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely([*words, "--json"]) == code
    printed = capsys.readouterr()
    assert not printed.out
    error = json.loads(printed.err)["error"]
    assert (error["code"], error["kind"]) == (code, kind)
    assert error["problem"]
    assert set(error) == {"code", "kind", "problem", "where", "details", "valid", "hint"}


def test_results_that_go_to_nothing_may_go_there_together() -> None:
    words = ("gather", "[1]", "[0]", "-f", "npy", "-o", os.devnull, "--svg", os.devnull)
    assert call_gscli(*words).returncode == 0
    assert call_gscli(*words, "--html", os.devnull).returncode == 0
    assert call_gscli(*words[:-4], "-o", "x", "--svg", "x").returncode == 2


def test_a_bug_is_one_message_and_70(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: list[str]) -> int:
        message = "oops\x1b[31m"
        raise RuntimeError(message)

    monkeypatch.setattr("gscli.cli.invoke_command", broken)
    errors = io.StringIO()
    monkeypatch.setattr("sys.stderr", errors)
    assert run_safely(["gather"]) == 70
    assert "this is a bug in gscli" in errors.getvalue()
    assert "\x1b" not in errors.getvalue()
    monkeypatch.setenv("GSCLI_DEBUG", "0")  # as the parser reads it
    assert run_safely(["gather"]) == 70
    with pytest.raises(RuntimeError):
        run_safely(["gather", "--debug"])
    monkeypatch.setenv("GSCLI_DEBUG", "yes")
    with pytest.raises(RuntimeError):
        run_safely(["gather"])


def test_a_package_that_is_missing_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    assert run_safely(["gather"]) == 66
    errors = capsys.readouterr().err
    assert "error: this needs the package typer" in errors
    assert f"help: {sys.executable} -m pip install typer" in errors


def test_memory_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def hungry(_: list[str]) -> int:
        raise MemoryError

    monkeypatch.setattr("gscli.cli.invoke_command", hungry)
    assert run_safely(["gather"]) == 65


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_text_is_written_whole_or_fails(unbuffered: str, tmp_path: Path) -> None:
    """Unbuffered text streams of Python drop what does not fit at once."""
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    words = [sys.executable, "-m", "gscli", "show", "arange:900x40", "--full"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as running:
        assert running.stdout is not None
        running.stdout.readline()
        running.stdout.close()
    assert running.returncode == 141
    limited = subprocess.run(
        ["sh", "-c", 'ulimit -f 100; exec "$@" > out', "sh", *words],
        env=environment, cwd=tmp_path, capture_output=True, check=False,
    )  # fmt: skip
    assert limited.returncode == 73


def test_a_text_without_numbers_takes_the_type_of_what_it_meets() -> None:
    for words in (("[]", "zeros:0x1:int64", "zeros:0:float32"),
                  ("zeros:0:float32", "zeros:0x1:int64", "[]")):  # fmt: skip
        done = forked("scatter-nd", *words, "--json=output")
        assert json.loads(done.stdout) == {"dtype": "float32", "shape": [0], "data": []}


def test_a_refused_shape_says_which_type_an_index_had(tmp_path: Path) -> None:
    np.save(tmp_path / "i.npy", np.array([0, 1], np.uint8))
    done = forked("torch", "gather", "[[1,2],[3,4]]", "i.npy", "--dim", "0", cwd=tmp_path)
    assert b"index int64 [2]\n" in done.stderr
    assert b"index is uint8, widened to int64\n" in done.stderr
