"""Which of ATen's functions are which operators here, by name: a table. No torch in it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from gscli.base.records import Record
from gscli.watch.judging import ProgramCall

INDEX_PREFIXES = ("ind", "lengths", "offsets", "target")
"""How ATen's names of inputs begin that hold index numbers, or tell them."""

CODES = {"mode": ("sum", "mean", "max"), "reduction": ("none", "mean", "sum")}
"""What ATen's functions call by a number."""


class AtenRule(Record):
    """An operator, its inputs as `ours=theirs`, its attributes; `?`: where there is one.

    `write`: how a plain write is read back, of which the values are `updates`; "mask" where values
    go to the true cells of a mask, one after the other, "segments" where they are reduced.
    """

    operator: str
    inputs: str
    attrs: str = ""
    write: str = ""
    updates: str = ""

    @property
    def parameters(self) -> tuple[str, ...]:
        """What the function calls its inputs and attributes, in the order of this rule."""
        return tuple(theirs for _, theirs, _ in _parse_words(f"{self.inputs} {self.attrs}"))

    def bind(self, arguments: Mapping[str, Any]) -> ProgramCall:
        """The tensors and attributes of a call by our names.

        >>> call = RULES["gather"].bind({"self": 1, "index": 2, "dim": 0, "sparse_grad": False})
        >>> call.operator, call.inputs, call.attrs
        ('torch.gather', {'input': 1, 'index': 2}, {'dim': 0})
        """
        attrs: dict[str, object] = {
            name: CODES[name][arguments[name]] if name in CODES else arguments[name]
            for name, _, _ in _parse_words(self.attrs) if arguments.get(name) is not None
        }  # fmt: skip
        tensors, index_names = dict[str, Any](), list[str]()
        for ours, theirs, may_lack in _parse_words(self.inputs):
            if may_lack and arguments.get(theirs) is None:
                continue
            value = arguments[theirs]
            here = {ours: value}
            if isinstance(value, list):
                parts = [part for part in value if part is not None]
                here = {f"{ours}_{number}": part for number, part in enumerate(parts)}
                if len(parts) < len(value):
                    attrs["subscript"] = ", ".join(":" if part is None else "i" for part in value)
            tensors |= here
            index_names += here if theirs.startswith(INDEX_PREFIXES) else ()
        names = tuple(index_names) or (*tensors,)[:1]
        return ProgramCall(self.operator, tensors, attrs, dict(tensors), index_names=names)


@cache
def _parse_words(words: str) -> tuple[tuple[str, str, bool], ...]:
    """`ours=theirs?` as the two names, and whether it may lack.

    >>> _parse_words("input=self src?")
    (('input', 'self', False), ('src', 'src', True))
    """
    pairs = [word.rstrip("?").partition("=") for word in words.split()]
    marks = [word.endswith("?") for word in words.split()]
    return tuple(
        (ours, theirs or ours, mark) for (ours, _, theirs), mark in zip(pairs, marks, strict=True)
    )


_ELEMENTS, _SLICES = "input=self index src", "input=self index source"

_RULES: dict[str, AtenRule] = {
    "gather": AtenRule("torch.gather", "input=self index", "dim"),
    "take": AtenRule("torch.take", "input=self index"),
    "index_select": AtenRule("torch.index_select", "input=self index", "dim"),
    "index _unsafe_index": AtenRule("torch.index", "input=self indices"),
    "index_put _index_put_impl _unsafe_index_put": AtenRule(
        "torch.index_put_", "self indices values", "accumulate", "index", "values"
    ),
    "scatter": AtenRule(
        "torch.scatter", "input=self index src=src?", "dim value? reduce?", "gather", "src"
    ),
    "scatter_add": AtenRule("torch.scatter_add", _ELEMENTS, "dim"),
    "scatter_reduce": AtenRule("torch.scatter_reduce", _ELEMENTS, "dim reduce include_self"),
    "index_add": AtenRule("torch.index_add", _SLICES, "dim alpha"),
    "index_copy": AtenRule("torch.index_copy", _SLICES, "dim", "index_select", "source"),
    "index_fill": AtenRule("torch.index_fill", "input=self index", "dim value"),
    "index_reduce": AtenRule("torch.index_reduce", _SLICES, "dim reduce include_self"),
    "put": AtenRule("torch.put_", "self index source", "accumulate", "take", "source"),
    "masked_scatter": AtenRule("torch.masked_scatter", "input=self mask source", write="mask"),
    "embedding": AtenRule("torch.embedding", "input=indices weight"),
    "_embedding_bag _embedding_bag_forward_only": AtenRule(
        "torch.embedding_bag", "input=indices weight offsets per_sample_weights?",
        "mode include_last_offset padding_idx", "segments",
    ),
    "embedding_renorm": AtenRule("torch.index_select", "input=self index=indices"),
    "segment_reduce": AtenRule(
        "torch.segment_reduce", "data lengths? offsets?", "reduce axis unsafe initial", "segments"
    ),
    "max_unpool2d": AtenRule("torch.max_unpool2d", "input=self indices"),
    "max_unpool3d": AtenRule("torch.max_unpool3d", "input=self indices"),
    "nll_loss_forward nll_loss2d_forward": AtenRule(
        "torch.nll_loss", "input=self target weight?", "ignore_index reduction"
    ),
}  # fmt: skip

RULES = {name: rule for names, rule in _RULES.items() for name in names.split()}
"""By name, without the underscore of what works in place."""

COMPOSITES: dict[str, AtenRule] = {
    "one_hot": AtenRule("torch.one_hot", "input", "num_classes?"),
    "take_along_dim": AtenRule("torch.take_along_dim", "input indices", "dim?"),
}
"""What ATen composes of other functions, so that its own index is only seen where Python calls."""


def find_rule(name: str) -> AtenRule | None:
    """The rule of a function, in place or not.

    >>> find_rule("scatter_add_").operator, find_rule("relu")
    ('torch.scatter_add', None)
    """
    return RULES.get(name) or RULES.get(name.removesuffix("_"))
