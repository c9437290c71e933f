"""What the frameworks have in common: seven operations under neutral names, for `gscli compare`.

An operator's declaration says how a call of a concept becomes a call of it:

    @FRAMEWORK.operator(
        compares=[Comparison("gather", "TF gather GPU", ("params", "indices"), {"device": "gpu"},
                             axis="axis", batch_dims="batch_dims")],
        …
    )

Light: shapes only, no numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from gscli.base.records import Record
from gscli.layout.axes import Reduction, Tensor

ConceptName: TypeAlias = Literal[
    "gather",
    "gather-elements",
    "gather-nd",
    "scatter-elements",
    "scatter-nd",
    "scatter-update",
    "take",
]


REDUCTION_NAMES: tuple[Reduction, ...] = get_args(Reduction)
"""How updates may meet what is there, under neutral names."""


class Concept(Record):
    """An operation that several frameworks have: its inputs, and which arguments it takes.

    `axis`: the axis when none is given; None where there is none, or data is read flat.
    """

    summary: str
    scatters: bool = False
    axis: int | None = 0
    takes_axis: bool = True
    takes_batch_dims: bool = False
    takes_reduction: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs, in order.

        >>> CONCEPTS["scatter-nd"].inputs
        ('data', 'indices', 'updates')
        """
        return ("data", "indices", "updates") if self.scatters else ("data", "indices")


CONCEPTS: dict[ConceptName, Concept] = {
    "gather": Concept("gather slices along one axis, one per index", takes_batch_dims=True),
    "gather-elements": Concept("gather single cells; the index replaces one coordinate"),
    "gather-nd": Concept(
        "gather the cell or slice that each vector names",
        axis=None,
        takes_axis=False,
        takes_batch_dims=True,
    ),
    "scatter-elements": Concept(
        "write single cells; the index replaces one coordinate", scatters=True, takes_reduction=True
    ),
    "scatter-nd": Concept(
        "write the cell or slice that each vector names",
        scatters=True,
        axis=None,
        takes_axis=False,
        takes_reduction=True,
    ),
    "scatter-update": Concept("write slices along one axis, one per index", scatters=True),
    "take": Concept("gather under each framework's own default axis", axis=None),
}


class ConceptCall(Record):
    """One call of a concept, as far as shapes and arguments tell. `axis` None: not given."""

    data: Tensor
    indices: Tensor
    updates: Tensor | None
    axis: int | None = None
    batch_dims: int = 0
    reduction: str = "none"

    @property
    def plain(self) -> bool:
        """True without batch axes and reduction: what most operators can express."""
        return self.batch_dims == 0 and self.reduction == "none"


Attrs: TypeAlias = Mapping[str, object] | None
"""An operator's attributes for a call, or None when it cannot express the call."""

OVERWRITE: Mapping[str, object] = {"none": "none"}
"""The reductions of an operator that has none."""


class Comparison(Record):
    """How a concept's call becomes one operator's, under one rule set.

    `inputs`: the operator's names for data, indices and updates. `fixed`: attributes that make this
    rule set. `axis`, `batch_dims`, `reduction`: the names of the attributes that take these
    arguments; an operator without one expresses only calls that leave the argument alone.
    `reductions`: what the operator calls each reduction it has. `special` replaces all that.
    `vectors`: where index vectors lie ("tuple": one input NAME_0, NAME_1, … per column; "one": the
    whole of indices is NAME_0). `axis_input`: the name of an input that takes the axis.
    `from_zeros`: the operator has no data and starts from zeros, so it is asked only when data is
    all zeros; `shape_input` is the name of an input that takes data's shape.
    """

    concept: ConceptName
    label: str
    inputs: tuple[str, ...]
    fixed: Mapping[str, object] = MappingProxyType({})
    axis: str = ""
    batch_dims: str = ""
    reduction: str = ""
    reductions: Mapping[str, object] = OVERWRITE
    special: Callable[[ConceptCall], Attrs] | None = None
    vectors: Literal["last", "first", "tuple", "one"] = "last"
    axis_input: str = ""
    from_zeros: bool = False
    shape_input: str = ""

    def each(self, attribute: str, titles: Mapping[Any, str]) -> list[Comparison]:
        """The same under each value of an attribute, whose title is put into the label.

        >>> [one.label for one in Comparison("take", "N {}", ("a",)).each("mode", {"c": "clip"})]
        ['N clip']
        """
        return [
            self._replace(label=self.label.format(title), fixed={attribute: value})
            for value, title in titles.items()
        ]

    def attrs(self, call: ConceptCall) -> Attrs:
        """The operator's attributes for `call`, or None when it cannot express the call.

        >>> from gscli.layout.axes import Reduction, Tensor
        >>> data, indices = Tensor("data", (3,), "int8"), Tensor("indices", (2,), "int64")
        >>> call = ConceptCall(data, indices, None, 0)
        >>> Comparison("gather", "N", ("a", "i"), {"mode": "clip"}, axis="dim").attrs(call)
        {'dim': 0, 'mode': 'clip'}
        """
        if self.special is not None:
            return self.special(call)
        if self._lacking(call):
            return None
        found: dict[str, object] = {}
        if self.axis and call.axis is not None:
            found[self.axis] = call.axis
        if self.batch_dims:
            found[self.batch_dims] = call.batch_dims
        if self.reduction:
            found[self.reduction] = self.reductions[call.reduction]
        return {**found, **self.fixed}

    def lacks(self, call: ConceptCall) -> str:
        """Why the operator cannot express a call; empty where it can.

        >>> from gscli.layout.axes import Tensor
        >>> data, indices = Tensor("data", (3,), "int8"), Tensor("indices", (2,), "int64")
        >>> call = ConceptCall(data, indices, None, 0, 1)
        >>> Comparison("gather", "N", ("a", "i"), axis="dim").lacks(call)
        'no batch_dims=1'
        """
        if self.special is None:
            return self._lacking(call)
        if self.special(call) is not None:
            return ""
        alone = call._replace(batch_dims=0, reduction="none", axis=CONCEPTS[self.concept].axis)
        if self.special(alone) is None:
            return "no such shapes"
        found = []
        if call.batch_dims and self.special(call._replace(batch_dims=0)) is not None:
            found.append(f"batch_dims={call.batch_dims}")
        if self.special(call._replace(reduction="none")) is not None:
            found.append(f"reduction={call.reduction}")
        return "no " + (", ".join(found) or f"axis={call.axis}")

    def _lacking(self, call: ConceptCall) -> str:
        if call.batch_dims and not self.batch_dims:
            return f"no batch_dims={call.batch_dims}"
        if call.axis != CONCEPTS[self.concept].axis and not (self.axis or self.axis_input):
            return f"no axis={call.axis}"
        return "" if call.reduction in self.reductions else f"no reduction={call.reduction}"
