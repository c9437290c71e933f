"""Every hostile case meets its refusal: the right class, one safe paragraph, nothing touched."""

from __future__ import annotations

import resource
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hostile.corpus import Case, everything
from library_process import library_in_this_process

from gscli.base import GscliError
from gscli.files import load

CASES = list(everything())

# More address space than this is needed by no case, whatever it states about itself.
MEMORY = 512 << 20


@contextmanager
def memory_limited(more: int) -> Iterator[None]:
    """Allow this much more address space than is in use."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    old = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, old)


# They take half a second and more, which is for the gate.
LARGE = {
    "npz/bomb_beyond_size", "onnx/many_nodes", "pb/many_externals", "pb/many_fields",
    "safetensors/length_65m",
}  # fmt: skip


def kinds(names: Iterable[str]) -> list[str]:
    """The first words of the cases' names."""
    return sorted({name.partition("/")[0] for name in names})


EVERYDAY = kinds({case.name for case in CASES} - LARGE)


def test_the_corpus_is_large_and_its_names_are_unique() -> None:
    assert len(CASES) >= 300
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.name for case in CASES} >= LARGE


def complaint(case: Case, files: Path) -> str:
    """What is wrong with the refusal of a case, built in a folder of its own, or nothing."""
    text = case.build(files)
    before = sorted(files.iterdir())
    try:
        with memory_limited(MEMORY):
            load(text, **case.options)
    except GscliError as error:
        shown = "\n".join([str(error), *error.details])
        if not isinstance(error, case.error) or case.says not in shown:
            return f"another refusal: {error!r}"
    except Exception as crash:  # noqa: BLE001  whatever comes out is told
        return f"crashed: {crash!r}"
    else:
        return "accepted"
    if len(shown) >= 2_000 or unprintable(shown):
        return f"not one safe paragraph: {shown!r}"
    return "" if sorted(files.iterdir()) == before else "the folder was changed"


def unprintable(shown: str) -> list[str]:
    """Characters that steer a terminal, or that nobody sees."""
    return [c for c in shown if unicodedata.category(c) in {"Cc", "Cf", "Cs"} and c != "\n"]


@pytest.mark.parametrize("kind", EVERYDAY)
def test_every_case_meets_its_refusal(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with library_in_this_process():
        all_meet_it([one for one in CASES if one.name not in LARGE], kind, tmp_path, monkeypatch)


@pytest.mark.slow
def test_every_case_meets_its_refusal_in_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_meet_it(CASES, "h5", tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("kind", kinds(LARGE))
def test_every_large_case_meets_its_refusal(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_meet_it([one for one in CASES if one.name in LARGE], kind, tmp_path, monkeypatch)


def all_meet_it(
    cases: Iterable[Case], kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complaints = {}
    for number, case in enumerate(cases):
        if case.name.partition("/")[0] == kind:
            files, empty = folder / f"files{number}", folder / f"cwd{number}"
            files.mkdir()
            empty.mkdir()
            monkeypatch.chdir(empty)
            complaints[case.name] = complaint(case, files)
            assert not list(empty.iterdir()), case.name
    assert complaints, "no case of this kind"
    found = [f"{name}: {text}" for name, text in complaints.items() if text]
    assert not found, "\n".join(found)
