"""The rooms of the house, their order, and what each may import."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from sources import PACKAGE, ROOT, modules, name_of, nodes_of, tree_of

# Every folder of the package. Each imports only those that stand before it, and itself.
ROOMS = (
    "base", "disk", "files", "layout", "declare", "plan", "kernel",
    "stream", "frameworks", "traces", "gradients", "lab", "views", "runtimes", "codegen",
    "watch", "cli",
)  # fmt: skip

# Rooms and modules of which nothing heavy is imported before it is needed.
LIGHT = {
    "base", "layout", "declare", "frameworks/__init__.py", "frameworks/operator.py",
}  # fmt: skip

# The one module of the lowest room that is NumPy's; nothing light imports it at its top level.
ARRAYS = "base/arrays.py"

HEAVY = {"numpy", "rich", "ml_dtypes", "onnx", "safetensors", "h5py", "pydantic"}

# What runs an operator and tells what became of a call; declarations are light.
RUNNING = {f"frameworks/{name}.py" for name in ("execute", "duplicates", "notices", "typing")}


@cache
def imports(path: Path, *, top_level: bool) -> tuple[str, ...]:
    """Modules that a file imports: at its top level, or anywhere (lazily, for types alone)."""
    return tuple(_imports(path, top_level=top_level))


def _imports(path: Path, *, top_level: bool) -> Iterator[str]:
    for node in tree_of(path).body if top_level else nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (_imported(node.module, alias.name) for alias in node.names)


def _imported(module: str, name: str) -> str:
    """The module that `from module import name` loads: `module.name` where that is one."""
    inside = ROOT.joinpath(*module.split("."), name)
    found = inside.is_dir() or inside.with_suffix(".py").is_file()
    return f"{module}.{name}" if found else module


def test_the_package_holds_its_rooms_and_nothing_loose() -> None:
    folders = {
        path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"
    }
    assert folders == set(ROOMS)
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_opens_with_a_sentence(room: str) -> None:
    doc = ast.get_docstring(tree_of(PACKAGE / room / "__init__.py"))
    assert doc
    assert doc.splitlines()[0].endswith(".")


def test_a_room_imports_only_rooms_before_it() -> None:
    climbing = {}
    for path in modules():
        room = name_of(path).split("/")[0]
        if room in ROOMS:  # __init__ and __main__ stand above all rooms
            allowed = set(ROOMS[: ROOMS.index(room) + 1])
            used = {
                name.split(".")[1] for name in imports(path, top_level=False) if "gscli." in name
            }
            climbing[name_of(path)] = used - allowed
    assert not {name: rooms for name, rooms in climbing.items() if rooms}


def module_of(path: Path) -> str:
    """The name under which a file is imported."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_what_watches_programs_is_imported_by_the_shell_alone() -> None:
    users = {
        name_of(path).split("/")[0]
        for path in modules()
        if any(name.startswith("gscli.watch") for name in imports(path, top_level=False))
    }
    assert users <= {"watch", "cli", "__init__.py"}


# The one file that imports a framework, which is always the user's own.
WATCHERS = {"torch": "watch/torch_modes.py", "jax": "watch/jax_primitives.py"}


def test_frameworks_of_watched_programs_stay_in_one_file_each() -> None:
    users = {
        (name_of(path), package)
        for path in modules()
        if "adapters" not in path.parts
        for package in roots(path, top_level=False) & WATCHERS.keys()
    }
    assert users <= {(file, package) for package, file in WATCHERS.items()}


def test_no_files_import_each_other_in_a_circle() -> None:
    """Imports inside of functions and for types alone count too."""
    waiting = {module_of(path): set(imports(path, top_level=False)) for path in modules()}
    waiting = {name: (used & waiting.keys()) - {name} for name, used in waiting.items()}
    while free := {name for name, used in waiting.items() if not used & waiting.keys()}:
        for name in free:
            del waiting[name]
    assert not waiting


def roots(path: Path, *, top_level: bool) -> set[str]:
    """The packages that a file imports from."""
    return {name.split(".")[0] for name in imports(path, top_level=top_level)}


def test_light_modules_import_nothing_heavy() -> None:
    heavy = {}
    for path in modules():
        name = name_of(path)
        framework = name.startswith("frameworks/") and name not in RUNNING
        if name != ARRAYS and (framework or name in LIGHT or name.split("/")[0] in LIGHT):
            loaded = set(imports(path, top_level=True))
            heavy[name] = (roots(path, top_level=True) & HEAVY) | (loaded & {"gscli.base.arrays"})
    assert not {name: packages for name, packages in heavy.items() if packages}


def test_rich_is_used_by_views_only() -> None:
    users = {name_of(path) for path in modules() if "rich" in roots(path, top_level=False)}
    assert users
    assert {name.split("/")[0] for name in users} == {"views"}, users


def test_frameworks_never_import_each_other() -> None:
    folder = PACKAGE / "frameworks"
    names = {
        path.stem for path in folder.iterdir() if path.stem not in {"__init__", "__pycache__"}
    } - {"operator", *(name.removeprefix("frameworks/").removesuffix(".py") for name in RUNNING)}
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).parts[0].removesuffix(".py")
        if own not in names:
            continue
        others = {
            name.split(".")[2]
            for name in imports(path, top_level=False)
            if name.startswith("gscli.frameworks.")
        }
        assert not (others & names) - {own}, path.name
