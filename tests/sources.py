"""The package as it is written, each file parsed and walked once for all tests that read it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gscli"


@cache
def modules() -> tuple[Path, ...]:
    """Every file of the package."""
    return tuple(sorted(PACKAGE.rglob("*.py")))


def name_of(path: Path) -> str:
    """A file by its place in the package."""
    return path.relative_to(PACKAGE).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    """A file, parsed."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file."""
    return tuple(ast.walk(tree_of(path)))


def modules_with(words: Iterable[str]) -> Iterator[Path]:
    """The files in whose text one of some words stands, so that the others need not be parsed."""
    pattern = re.compile("|".join(map(re.escape, words)))
    return (path for path in modules() if pattern.search(path.read_text(encoding="utf-8")))
