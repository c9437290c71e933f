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

    A template of one line is an expression, or statements where it names its result, `{r}`.
    `words` are the target's names of the reductions; `element` writes an element type, but those
    in `elements`, and `numbers` a nested list as an array. `types` are names of element types that
    the target has in a text of its own.
    """

    templates: Mapping[str, str]
    element: str
    elements: Mapping[str, str]
    words: Mapping[str, str] = {}
    types: Mapping[str, str] = {}
    numbers: str = "{list}"
    copy: str = ".copy()"
    leave_out: str = ""
    module: str = ""
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

    def short_dtype(self, name: str, unsigned: str = "u") -> str:
        """An element type by its first letter.

        >>> [load_language("openvino").short_dtype(name) for name in ("bfloat16", "uint8")]
        ['bf16', 'u8']
        """
        text = self.types.get(name) or name.replace("uint", unsigned)
        return text.replace("int", "i").replace("float", "f")


@cache
def _load_tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def load_language(target: str) -> Language:
    """The language of a target; ONNX and StableHLO load their inputs as NumPy does."""
    tables = _load_tables()
    facts = {**tables[tables[target].get("like", target)], **tables[target]}
    facts.pop("like", None)
    own = facts.pop("templates")
    small = str(facts.pop("small", facts["element"]))
    elements = {name: small.format(name=name) for name in (*NARROW_FLOATS, *NARROW_INTEGERS)}
    facts["elements"] = elements | facts.get("elements", {})
    templates = [tables[name] for name in facts.pop("inherits", ())]
    return Language(
        {key: text for table in (*templates, own) for key, text in table.items()}, **facts
    )
