"""How each target writes steps: `languages.toml`, read when it is asked for."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gscli.base.records import Record
from gscli.base.words import NARROW_FLOATS, NARROW_INTEGERS


class Language(Record):
    """How a target writes steps: a template for each form, or for a form and its reduction.

    A template of one line is an expression, or a whole statement where it begins with `{r} =`.
    `words` are the target's names of the reductions; `element` writes an element type, but those
    in `elements`, and `numbers` a nested list as an array.
    """

    templates: Mapping[str, str]
    words: Mapping[str, str]
    element: str
    elements: Mapping[str, str]
    numbers: str = "{list}"
    copy: str = ".copy()"
    loaded: str = "{name}"
    literal: str = "np.array({list}, {dtype})"
    shaped: str = "{literal}.reshape({shape})"
    halves: str = ".view({dtype})"
    loaded_halves: str = "{name}"
    imports: tuple[str, ...] = ()
    typed_numbers: bool = False

    def dtype(self, name: str) -> str:
        """An element type.

        >>> load_language("jax").dtype("int8"), load_language("tensorflow").dtype("str")
        ('jnp.int8', 'tf.string')
        """
        return self.elements.get(name) or self.element.format(name=name)


@cache
def _load_tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def load_language(target: str) -> Language:
    """The language of a target; ONNX and StableHLO load their inputs as NumPy does."""
    facts = dict(_load_tables()[target])
    imports = tuple(facts.pop("imports"))
    if "like" in facts:
        return load_language(facts["like"])._replace(imports=imports)
    above = ("shared", "arrays") if target in ("numpy", "jax") else ("shared",)
    inherited = above if target != "openvino" else ()
    templates = {key: text for name in inherited for key, text in _load_tables()[name].items()}
    templates |= facts.pop("templates")
    for part, text in facts.pop("parts", {}).items():
        templates = {key: one.replace(f"{{{part}}}", text) for key, one in templates.items()}
    small = str(facts.pop("small", facts["element"]))
    elements = {name: small.format(name=name) for name in (*NARROW_FLOATS, *NARROW_INTEGERS)}
    return Language(
        templates, facts.pop("words", {}), facts.pop("element"),
        elements | facts.pop("elements", {}), imports=imports, **facts,
    )  # fmt: skip
