"""The words of the house: names that somebody from outside can read and search for."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from sources import modules, name_of, nodes_of

# Words that say that there is a value, and not which: a variable is named by what it holds.
VAGUE = {
    "found", "told", "one", "taken", "given", "asked", "wanted", "met", "held", "tame", "dealt",
}  # fmt: skip

PARTICIPLES = {
    "told", "found", "taken", "given", "drawn", "shown", "known", "held", "kept", "made", "met",
    "seen", "sent", "spelt", "dealt", "begun", "done", "written", "chosen", "left", "lost",
    "meant", "said", "built", "became", "does", "alone", "elsewhere",
}  # fmt: skip

# What ends like a participle and is none.
NOUNS = {"seed", "speed", "need", "feed", "embed"}


def nodes() -> Iterator[tuple[str, ast.AST]]:
    """Every node of the package with its file; adapters of runtimes stand alone."""
    for path in modules():
        if "adapters" not in path.parts:
            name = name_of(path)
            for node in nodes_of(path):
                yield name, node


def functions() -> Iterator[tuple[str, str]]:
    for path, node in nodes():
        if isinstance(node, ast.FunctionDef):
            yield f"{path}:{node.lineno} {node.name}", node.name.strip("_")


def test_no_function_is_named_by_a_participle_alone() -> None:
    """It is verb + object: `format_shape`, not `shown`."""
    assert not [
        place
        for place, name in functions()
        if name not in NOUNS and (name in PARTICIPLES or re.fullmatch(r"[a-z]{3,}ed", name))
    ]


def test_no_variable_says_only_that_there_is_a_value() -> None:
    assert not [
        f"{path}:{node.lineno} {node.id}"
        for path, node in nodes()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE
    ]


def test_no_two_classes_have_one_name() -> None:
    names = Counter(node.name for _, node in nodes() if isinstance(node, ast.ClassDef))
    assert not {name for name, count in names.items() if count > 1}
