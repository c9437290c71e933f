"""Probes: calls made from an operator's own declared example, under each of its variants.

Their layouts say what the operator does, of a variant that refuses an index of the example, too.
"""

from __future__ import annotations

import shlex
from argparse import SUPPRESS, ArgumentParser, BooleanOptionalAction
from collections.abc import Mapping
from contextlib import suppress
from functools import cache

import numpy as np

from gscli import files
from gscli.base import GscliError
from gscli.base.arrays import Arrays
from gscli.base.records import Arguments, Record
from gscli.base.words import format_flag
from gscli.frameworks import assign_inputs
from gscli.frameworks.execute import resolve_dtypes
from gscli.frameworks.operator import Operator
from gscli.layout import Layout
from gscli.layout.axes import Consecutive
from gscli.plan import CallInputs, infer_layout
from gscli.plan.masks import extract_subscript

# Attributes that change the fate of an index or a cell: an example's own choice of one is left out
# where the default is asked for, and every choice of them is probed.
BEHAVIOUR_ATTRIBUTES = (
    "mode", "device", "release", "bad_indices_policy", "xla", "wrap_negative_indices",
    "allow_negative_indices", "reduction",
    "reduce", "accumulate", "update_computation", "include_self", "use_init_val",
)  # fmt: skip


class Probe(Record):
    """The operator's example under one variant, and its layout."""

    operator: Operator
    inputs: Arrays
    attrs: Arguments
    layout: Layout

    @property
    def writable_columns(self) -> list[tuple[int, str]]:
        """The columns whose numbers stand in an input, and which it is.

        A mask and a slice make numbers of their own, which nobody can replace by others; those that
        follow a number stand where that does.
        """
        addressing = self.layout.addressing
        sources = [item.source for item in addressing.columns]
        pairs = zip(sources, map(addressing.recipe, sources), strict=True)
        names = [item.source if isinstance(item, Consecutive) else name for name, item in pairs]
        return [(column, name) for column, name in enumerate(names) if name in self.inputs]

    def takes_longer_masks(self) -> bool:
        """Whether a mask may be longer than its axis, beyond which its True cells are refused."""
        masks = [item.name for item in self.operator.inputs if item.kind == "mask"]
        size = max(array.size for array in self.inputs.values()) + 1
        longer = {name: np.ones((size,) * self.inputs[name].ndim, np.bool_) for name in masks}
        with suppress(GscliError):
            infer_layout(self.operator, {**self.inputs, **longer}, self.attrs)
            return bool(masks)
        return False


def build_probe(operator: Operator, variant: Arguments, version: int | None = None) -> Probe | None:
    """The operator's declared example under a variant, None where that is refused."""
    words, texts = parse_example_line(operator, operator.example)
    written = (item for item in operator.attributes if item.name in texts)
    attrs: Arguments = {item.name: item.parse(texts[item.name]) for item in written}
    attrs = {**attrs, **variant} | ({} if version is None else {"opset": version})
    named, attrs = extract_subscript(operator, assign_inputs(operator, words, {}), attrs)
    loaded = {
        name: files.load(str(text), name=name, empty_dtype="int64") for name, text in named.items()
    }
    inputs = CallInputs.from_loaded(loaded)
    # A version may lack an attribute of the example.
    needed = {item.name for item in operator.attributes if item.is_required}
    needed |= {*variant, "opset", "subscript"}
    fewer = {name: value for name, value in attrs.items() if name in needed}
    chosen = {*BEHAVIOUR_ATTRIBUTES} - needed
    usual = {name: value for name, value in attrs.items() if name not in chosen}
    for attrs in (usual, fewer):
        with suppress(GscliError):
            inputs.attrs = attrs
            layout = resolve_dtypes(operator, inputs, strict=False)
            return Probe(operator, inputs.arrays, attrs, layout)
    return None


def build_legal_probe(operator: Operator, variant: Arguments) -> Probe:
    """The same under a variant that is known not to be refused."""
    probe = build_probe(operator, variant)
    assert probe is not None
    return probe


def leave_axis_out(operator: Operator) -> dict[str, object]:
    """The variant of the example in which no axis is written, where none is an answer of its own.

    >>> from gscli.frameworks import find_operator
    >>> leave_axis_out(find_operator("numpy.take")), leave_axis_out(find_operator("gather"))
    ({'axis': None}, {})
    """
    axis = operator.attribute("axis")
    return {axis.name: None} if axis is not None and axis.default is None else {}


@cache  # a probe for each variant asks again
def parse_example_line(operator: Operator, line: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Inputs and attribute texts of an example line as a shell would split it.

    >>> from gscli.frameworks import find_operator
    >>> parse_example_line(find_operator("gather"), "'[1,2]' '[0]' --axis 0")
    (('[1,2]', '[0]'), {'axis': '0'})
    """
    parser = ArgumentParser()
    parser.add_argument("words", nargs="*")
    for item in operator.attributes:
        flag, is_switch = format_flag(item.name), item.kind == "bool"
        action = BooleanOptionalAction if is_switch else "store"
        parser.add_argument(flag, dest=item.name, action=action, default=SUPPRESS)
    values = vars(parser.parse_intermixed_args(shlex.split(line)))
    words = tuple(values.pop("words"))
    return words, {name: str(value).lower() if isinstance(value, bool) else value
                   for name, value in values.items()}  # fmt: skip
