"""What a process loads before it works, counted; and how it starts and leaves."""

from __future__ import annotations

import ast
import gc
import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from gscli import cli
from gscli.__main__ import main
from gscli.frameworks import NAMES

HEAVY = {"numpy", "rich", "pydantic", "ml_dtypes", "onnx", "safetensors", "h5py"}

# Modules of the standard library that take a millisecond or more.
SLOW = {
    "asyncio", "concurrent", "csv", "email", "hashlib", "html", "http", "logging",
    "multiprocessing", "random", "secrets", "ssl", "statistics", "tempfile", "unittest", "zipfile",
}  # fmt: skip

SCATTER = ("scatter-nd", "[1,2,3,4]", "[[3],[1]]", "[9,8]")
RUNS = {
    "document": (*SCATTER, "--json"),
    "picture": SCATTER,
    "coloured picture": (*SCATTER, "--color", "always"),
    "steps": (*SCATTER, "--step"),
    "sentences": (*SCATTER, "--plain"),
    "explanation": ("explain", *SCATTER),
    "tensor": ("show", "arange:3x4", "--color", "always"),
    "framework": ("torch", "gather", "[1,2]", "[0]", "--dim", "0"),
}

# Modules of ours in a small run, beside the framework that it names.
MOST_MODULES = 47
THREADS = "OPENBLAS_NUM_THREADS"
LOADED = """
import sys
from gscli.cli import run_safely
for arguments in {runs!r}:
    run_safely(arguments)
    print("\\nloaded:", *sys.modules)
"""


@cache
def loaded_by(*runs: tuple[str, ...]) -> list[frozenset[str]]:
    """Modules in memory after each of some runs of the command line in one process."""
    told = printed_by(LOADED.format(runs=[list(run) for run in runs]))
    lines = [line for line in told.splitlines() if line.startswith("loaded: ")]
    assert len(lines) == len(runs)
    return [frozenset(line.split()) for line in lines]


@cache
def unavoidable() -> frozenset[str]:
    """What the two libraries that every run needs load themselves."""
    return frozenset(printed_by("import sys, numpy, typer; print(*sys.modules)").split())


def printed_by(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_help_loads_nothing_heavy() -> None:
    runs = [("--help",), ("scatter-nd", "--help"), ("torch", "--help"), ("explain", "--help"),
            ("compare", "--help"), ("help", "exit-codes"), ("--unknown",),
            ("explain", "--code", "torch", "gather")]  # fmt: skip
    assert [loaded & HEAVY for loaded in loaded_by(*runs)] == [set()] * len(runs)


COMPLETED = """
import os, sys
from gscli.cli import run_safely
os.environ["_GSCLI_COMPLETE"] = "complete_bash"
for words in {lines!r}:
    os.environ |= {{"COMP_WORDS": "gscli " + words, "COMP_CWORD": str(words.count(" ") + 1)}}
    run_safely([])
    print("\\nloaded:", *sys.modules)
"""


def test_completion_loads_nothing_heavy() -> None:
    lines = ["scat", "samples ", "gather --dtype ", "gather ", "compare gather --as ",
             "rules torch ", "torch scatter-reduce --reduce ", "convert -f "]  # fmt: skip
    told = printed_by(COMPLETED.format(lines=lines)).split("\nloaded: ")
    offers = [told[0], *(text.partition("\n")[2] for text in told[1:-1])]
    loaded = [set(text.partition("\n")[0].split()) & HEAVY for text in told[1:]]
    assert loaded == [set()] * len(lines)
    assert all(offer.strip() for offer in offers)


PIPED = [name for name, words in RUNS.items() if "--color" not in words]
COLORED = [name for name, words in RUNS.items() if "--color" in words]


def test_a_run_loads_of_what_is_heavy_numpy_alone() -> None:
    """And nothing slow of the standard library that NumPy and typer do not load themselves."""
    every = loaded_by(*(RUNS[name] for name in PIPED))
    for name, loaded in zip(PIPED, every, strict=True):
        assert loaded & HEAVY == {"numpy"}, name
        assert not (loaded - unavoidable()) & SLOW, name


def test_colour_is_written_by_rich() -> None:
    for loaded in loaded_by(*(RUNS[name] for name in COLORED)):
        assert loaded & HEAVY == {"numpy", "rich"}


def test_a_run_loads_the_framework_it_names_and_no_other() -> None:
    known = {f"gscli.frameworks.{one}" for one in NAMES}
    for names, framework in ((("document", "explanation"), "onnx"), (("framework",), "torch")):
        for loaded in loaded_by(*(RUNS[name] for name in names)):
            assert loaded & known == {f"gscli.frameworks.{framework}"}, names


def test_a_document_of_numbers_in_the_command_loads_no_reader_and_no_view() -> None:
    loaded, _ = loaded_by(RUNS["document"], RUNS["explanation"])
    readers = {f"gscli.files.formats.{name}" for name in ("delimited", "hdf5", "npz", "safetensor")}
    assert not loaded & (readers | {"gscli.files.writers"})
    assert not {name for name in loaded if name.startswith("gscli.views")}


def test_a_small_run_loads_few_modules_of_ours() -> None:
    """Each costs a third of a millisecond or more, before the first word is read."""
    lesson = Path(__file__).parents[2] / "samples" / "12-first-scatter"
    (loaded,) = loaded_by(("scatter-nd", str(lesson)))
    ours = {name for name in loaded if name.startswith("gscli")} - {"gscli.frameworks.onnx"}
    assert len(ours) <= MOST_MODULES


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The codes with which `main` would end the process."""
    codes: list[int] = []
    thresholds, interrupt = gc.get_threshold(), signal.getsignal(signal.SIGINT)
    monkeypatch.setenv(THREADS, "1")  # `main` sets it; what it was comes back
    monkeypatch.setattr(cli, "run_safely", lambda *_: 7)
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(sys, "gettrace", lambda: None)
    monkeypatch.setattr(sys, "getprofile", lambda: None)
    yield codes
    gc.set_threshold(*thresholds)
    signal.signal(signal.SIGINT, interrupt)


def test_the_process_ends_at_once_with_the_code_of_the_run(left: list[int]) -> None:
    main()
    assert left == [7]


def test_closed_streams_do_not_keep_the_process(
    left: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stdout", closed)
    main()
    assert left == [7]


@pytest.mark.parametrize("watcher", ["gettrace", "getprofile"])
def test_a_profiler_or_a_coverage_tool_gets_its_turn(
    left: list[int], monkeypatch: pytest.MonkeyPatch, watcher: str
) -> None:
    monkeypatch.setattr(sys, watcher, lambda: print)
    with pytest.raises(SystemExit) as leaving:
        main()
    assert (leaving.value.code, left) == (7, [])


@pytest.mark.parametrize(("own", "used"), [(None, "1"), ("2", "2")])
def test_numpy_starts_no_threads_unless_the_user_says_so(
    left: list[int], monkeypatch: pytest.MonkeyPatch, own: str | None, used: str
) -> None:
    monkeypatch.delenv(THREADS)
    if own is not None:
        monkeypatch.setenv(THREADS, own)
    main()
    assert (left, os.environ[THREADS]) == ([7], used)


def test_nothing_is_imported_before_the_guard_against_interruptions_stands() -> None:
    code = (
        "import sys; before = {*sys.modules}; import gscli.__main__; print({*sys.modules} - before)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    new = {*ast.literal_eval(done.stdout)} - {"gc", "_thread"}
    assert new == {"gscli", "gscli.__main__", "__future__"}
