"""What a process loads before it works, counted; and how it starts and leaves."""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

import pytest

from gscli import cli
from gscli.__main__ import main
from gscli.frameworks import NAMES

HEAVY = {"numpy", "rich", "pydantic", "ml_dtypes", "onnx", "safetensors", "h5py"}
SLOW = {
    "asyncio", "concurrent", "csv", "email", "hashlib", "html", "http", "logging",
    "multiprocessing", "random", "secrets", "ssl", "statistics", "tempfile", "unittest", "zipfile",
}  # fmt: skip
"""Modules of the standard library that take a millisecond or more."""

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
THREADS = "OPENBLAS_NUM_THREADS"
LOADED = """
import sys
from gscli.cli import guarded
guarded({arguments!r})
print()
print(*sys.modules)
"""


@cache
def loaded_by(*arguments: str) -> frozenset[str]:
    """Modules in memory after a run of the command line."""
    return _last_words(LOADED.format(arguments=list(arguments)))


@cache
def unavoidable() -> frozenset[str]:
    """What the two libraries that every run needs load themselves."""
    return _last_words("import sys, numpy, typer; print(*sys.modules)")


def _last_words(code: str) -> frozenset[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return frozenset(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("scatter-nd", "--help"), ("torch", "--help"),
     ("explain", "--help"), ("compare", "--help"), ("help", "exit-codes")],
    ids=" ".join,
)  # fmt: skip
def test_help_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert not loaded_by(*arguments) & HEAVY


COMPLETED = """
import os, sys
from gscli.cli import guarded
os.environ |= {{"_GSCLI_COMPLETE": "complete_bash", "COMP_WORDS": {words!r}, "COMP_CWORD": "{at}"}}
guarded([])
print()
print(*sys.modules)
"""


@pytest.mark.parametrize(
    "words",
    ["scat", "samples ", "gather --dtype ", "gather ", "compare gather --as ", "rules torch ",
     "torch scatter-reduce --reduce ", "convert -f "],
    ids=str.strip,
)  # fmt: skip
def test_completion_loads_nothing_heavy(words: str) -> None:
    code = COMPLETED.format(words=f"gscli {words}", at=words.count(" ") + 1)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *offers, _, modules = done.stdout.splitlines()
    assert offers
    assert not set(modules.split()) & HEAVY


PIPED = [name for name, words in RUNS.items() if "--color" not in words]
COLORED = [name for name, words in RUNS.items() if "--color" in words]


@pytest.mark.parametrize("name", PIPED)
def test_a_run_loads_numpy_alone_of_the_heavy(name: str) -> None:
    assert loaded_by(*RUNS[name]) & HEAVY == {"numpy"}


@pytest.mark.parametrize("name", COLORED)
def test_colour_is_written_by_rich(name: str) -> None:
    assert loaded_by(*RUNS[name]) & HEAVY == {"numpy", "rich"}


@pytest.mark.parametrize("name", PIPED)
def test_a_run_loads_nothing_slow_of_the_standard_library(name: str) -> None:
    assert not (loaded_by(*RUNS[name]) - unavoidable()) & SLOW


@pytest.mark.parametrize(
    ("name", "framework"), [("document", "onnx"), ("explanation", "onnx"), ("framework", "torch")]
)
def test_a_run_loads_the_framework_it_names_and_no_other(name: str, framework: str) -> None:
    known = {f"gscli.frameworks.{one}" for one in NAMES}
    assert loaded_by(*RUNS[name]) & known == {f"gscli.frameworks.{framework}"}


def test_numbers_in_the_command_load_no_reader_of_files() -> None:
    readers = {f"gscli.files.{name}" for name in ("delimited", "hdf5", "npz", "safetensor")}
    assert not loaded_by(*RUNS["document"]) & (readers | {"gscli.files.writers"})


def test_views_are_loaded_for_pictures_alone() -> None:
    assert not {name for name in loaded_by(*RUNS["document"]) if name.startswith("gscli.views")}


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The codes with which `main` would end the process."""
    codes: list[int] = []
    thresholds = gc.get_threshold()
    monkeypatch.setenv(THREADS, "1")  # `main` sets it; what it was comes back
    monkeypatch.setattr(cli, "guarded", lambda _: 7)
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(sys, "gettrace", lambda: None)
    monkeypatch.setattr(sys, "getprofile", lambda: None)
    yield codes
    gc.set_threshold(*thresholds)


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
