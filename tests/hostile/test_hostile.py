"""Every hostile case meets its refusal: the right class, one safe paragraph, nothing touched."""

from __future__ import annotations

import resource
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hostile.corpus import Case, everything

from gscli.base import GscliError
from gscli.files import load

CASES = list(everything())

MEMORY = 512 << 20
"""More address space than this is needed by no case, whatever it states about itself."""


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


def test_the_corpus_is_large_and_its_names_are_unique() -> None:
    assert len(CASES) >= 300
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refused(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "cwd"
    empty.mkdir()
    monkeypatch.chdir(empty)
    files = tmp_path / "files"
    files.mkdir()
    text = case.build(files)
    before = sorted(files.iterdir())
    with memory_limited(MEMORY), pytest.raises(GscliError) as caught:
        load(text, **case.options)
    error = caught.value
    assert isinstance(error, case.error), repr(error)
    shown = "\n".join([str(error), *error.details])
    assert case.says in shown
    assert len(shown) < 2_000
    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cf", "Cs"} and c != "\n"]
    assert sorted(files.iterdir()) == before
    assert not list(empty.iterdir())
