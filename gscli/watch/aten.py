"""Which of ATen's functions are which operators here, by name: a table. No torch in it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from gscli.base.records import Record
from gscli.frameworks import find_operator
from gscli.watch.judging import ProgramCall

# How ATen's names of inputs begin that hold index numbers, or tell them.
INDEX_PREFIXES = ("ind", "lengths", "offsets", "target")

# What ATen's functions call by a number.
CODES = {"mode": ("sum", "mean", "max"), "reduction": ("none", "mean", "sum")}


class AtenRule(Record):
    """The operator that a function is. Its inputs and attributes have the names that they have
    here, the first input that of `self`, too, and the `renamed` ones others, as `ours=theirs`.

    `unread`: attributes of the function that say something else. `write`: how a plain write is read
    back, of which the values are the last input; "mask" where values go to the true cells of a
    mask, one after the other, "segments" where they are reduced.
    """

    operator: str
    write: str = ""
    renamed: Mapping[str, str] = MappingProxyType({})
    unread: tuple[str, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """The operator's inputs and attributes, in the order in which Python's function has them.

        >>> COMPOSITES["one_hot"].parameters
        ('input', 'num_classes')
        """
        operator = find_operator(self.operator)
        return (*operator.input_names, *operator.attributes_by_name)

    @property
    def updates(self) -> str:
        """The input whose values are read back; empty where nothing is."""
        is_read = self.write not in ("", "mask", "segments")
        return find_operator(self.operator).input_names[-1] if is_read else ""

    def bind(self, arguments: Mapping[str, Any]) -> ProgramCall:
        """The tensors and attributes of a call by our names.

        >>> call = RULES["gather"].bind({"self": 1, "index": 2, "dim": 0, "sparse_grad": False})
        >>> call.operator, call.inputs, call.attrs
        ('torch.gather', {'input': 1, 'index': 2}, {'dim': 0})
        """
        operator = find_operator(self.operator)
        values = {operator.input_names[0]: arguments.get("self"), **arguments}
        values |= {ours: arguments[theirs] for ours, theirs in self.renamed.items()}
        known = {name: value for name, value in values.items() if value is not None}
        attrs: dict[str, object] = {
            name: CODES[name][known[name]] if name in CODES else known[name]
            for name in operator.attributes_by_name if name in known and name not in self.unread
        }  # fmt: skip
        tensors, index_names = dict[str, Any](), list[str]()
        for name in filter(known.__contains__, operator.input_names):
            here = {name: known[name]}
            if isinstance(known[name], list):
                parts = [part for part in known[name] if part is not None]
                here = {f"{name}_{number}": part for number, part in enumerate(parts)}
                if len(parts) < len(known[name]):
                    words = (":" if part is None else "i" for part in known[name])
                    attrs["subscript"] = ", ".join(words)
            tensors |= here
            index_names += here if self.renamed.get(name, name).startswith(INDEX_PREFIXES) else ()
        names = tuple(index_names) or (*tensors,)[:1]
        return ProgramCall(self.operator, tensors, attrs, dict(tensors), index_names=names)


_SAME_NAMES = (
    "gather", "take", "index_select", "index", "scatter_add", "scatter_reduce", "index_add",
    "index_fill", "index_reduce",
)  # fmt: skip
_BY_INDICES = {"input": "indices"}

_RULES: dict[str, AtenRule] = {
    **{name: AtenRule(f"torch.{name}") for name in _SAME_NAMES},
    "_unsafe_index": AtenRule("torch.index"),
    "index_put _index_put_impl _unsafe_index_put": AtenRule("torch.index_put_", "index"),
    "scatter": AtenRule("torch.scatter", "gather"),
    "index_copy": AtenRule("torch.index_copy", "index_select"),
    "put": AtenRule("torch.put_", "take"),
    "masked_scatter": AtenRule("torch.masked_scatter", "mask"),
    "embedding": AtenRule("torch.embedding", "", _BY_INDICES, ("padding_idx",)),
    "_embedding_bag _embedding_bag_forward_only": AtenRule(
        "torch.embedding_bag", "segments", _BY_INDICES
    ),
    "embedding_renorm": AtenRule("torch.index_select", "", {"index": "indices"}),
    "segment_reduce": AtenRule("torch.segment_reduce", "segments"),
    "max_unpool2d": AtenRule("torch.max_unpool2d", unread=("output_size",)),
    "max_unpool3d": AtenRule("torch.max_unpool3d", unread=("output_size", "stride", "padding")),
    "nll_loss_forward nll_loss2d_forward": AtenRule("torch.nll_loss"),
}

# By name, without the underscore of what works in place.
RULES = {name: rule for names, rule in _RULES.items() for name in names.split()}

# What ATen composes of other functions, so that its own index is only seen where Python calls.
COMPOSITES = {name: AtenRule(f"torch.{name}") for name in ("one_hot", "take_along_dim")}


def find_rule(name: str) -> AtenRule | None:
    """The rule of a function, in place or not.

    >>> find_rule("scatter_add_").operator, find_rule("relu")
    ('torch.scatter_add', None)
    """
    return RULES.get(name) or RULES.get(name.removesuffix("_"))
