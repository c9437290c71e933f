"""The layer rule of the design: who may import whom."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "gscli"
LIGHT = (
    "errors", "text", "cached", "layout", "boxes", "dtypes", "families", "checks",
    "dimension_numbers", "attributes", "concepts", "declare", "frameworks",
    "prose", "messages", "terminal", "options",
    "words", "cli", "guard", "commands", "__init__", "__main__",
)  # fmt: skip
HEAVY = {"numpy", "rich", "ml_dtypes", "onnx", "safetensors", "h5py", "pydantic"}
FORBIDDEN = {
    "errors": {"layout", "families", "declare", "frameworks", "plan", "kernel"},
    "layout": {"families", "declare", "frameworks", "plan", "kernel", "tracing"},
    "families": {"declare", "frameworks", "plan", "kernel", "tracing"},
    "attributes": {"declare", "frameworks", "plan", "kernel", "tracing", "views", "app"},
    "declare": {"frameworks", "plan", "kernel", "tracing", "views", "app"},
    "frameworks": {"plan", "kernel", "tracing", "views", "app", "files"},
    "plan": {"declare", "frameworks", "kernel", "tracing", "views", "files", "app"},
    "kernel": {"declare", "frameworks", "tracing", "views", "files", "app"},
    "formats": {"declare", "frameworks", "plan", "kernel", "tracing", "views", "app"},
    "resolving": {"tracing", "views", "app", "files"},
    "tracing": {"views", "app", "files"},
    "views": {"app", "files", "frameworks", "families"},
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    """The layer a file belongs to: its first folder or its own name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path, *, top_level: bool) -> set[str]:
    """Modules that a file imports, at its top level or anywhere; not under TYPE_CHECKING."""
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level else list(ast.walk(tree))
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize(
    "path",
    [path for path in modules() if part_of(path) in LIGHT],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_light_modules_import_nothing_heavy(path: Path) -> None:
    roots = {name.split(".")[0] for name in imports(path, top_level=True)}
    assert not roots & HEAVY


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_layers_import_downwards_only(path: Path) -> None:
    used = {
        name.split(".")[1] for name in imports(path, top_level=True) if name.startswith("gscli.")
    }
    assert not used & FORBIDDEN.get(part_of(path), set())


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_rich_is_used_by_views_only(path: Path) -> None:
    roots = {name.split(".")[0] for name in imports(path, top_level=False)}
    assert part_of(path) == "views" or "rich" not in roots


def test_frameworks_never_import_each_other() -> None:
    names = {path.stem.split("_")[0] for path in (PACKAGE / "frameworks").glob("*.py")}
    for path in (PACKAGE / "frameworks").glob("[a-z]*.py"):
        others = {
            name.split(".")[2].split("_")[0]
            for name in imports(path, top_level=False)
            if name.startswith("gscli.frameworks.")
        }
        assert not (others & names) - {path.stem.split("_")[0]}, path.name
