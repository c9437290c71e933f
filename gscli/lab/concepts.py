"""What the frameworks have in common: seven operations under neutral names, for `gscli compare`.

An operator's declaration says how a call of a concept becomes a call of it:

    @FRAMEWORK.operator(
        "'[[1,2,3],[4,5,6]]' '[2,0]' --axis 1",
        Comparison("gather", "TF gather GPU", ("params", "indices"), {"device": "gpu"}),
    )
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, get_args

from gscli.base.records import Arguments, Record
from gscli.declare.attributes import parse_reduction
from gscli.frameworks import operators
from gscli.frameworks.operator import Attrs, Comparison, ConceptCall, ConceptName, Operator
from gscli.layout.axes import Reduction

if TYPE_CHECKING:
    from gscli.base.arrays import Arrays

# How updates may meet what is there, under neutral names.
REDUCTION_NAMES: tuple[Reduction, ...] = get_args(Reduction)


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


def list_mappings(concept: str = "") -> list[tuple[Operator, Comparison]]:
    """How calls of a concept, or of any, become calls of operators, in the order of frameworks.

    >>> [operator.full_name for operator, _ in list_mappings("take")][:2]
    ['onnx.gather', 'numpy.take']
    """
    pairs = [(operator, entry) for operator in operators() for entry in operator.concept_mappings]
    return [pair for pair in pairs if concept in ("", pair[1].concept)]


def list_call_mappings(operator: Operator, *, flat: bool) -> list[Comparison]:
    """Those whose inputs the operator has; `flat`: data is read without an axis.

    >>> from gscli.frameworks.numpy import take
    >>> [entry.concept for entry in list_call_mappings(take, flat=True)]
    ['take', 'take', 'take']
    """
    fitting = [entry for entry in operator.concept_mappings if not entry.has_zero_data]
    return [entry for entry in fitting if not flat or CONCEPTS[entry.concept].axis is None]


def list_reductions(mappings: Iterable[tuple[Operator, Comparison]]) -> tuple[Reduction, ...]:
    """The reductions that some of these operators have, for one concept.

    >>> list_reductions(list_mappings("scatter-elements"))
    ('none', 'add', 'sub', 'mul', 'max', 'min', 'mean')
    """
    known = {name for _, mapping in mappings for name in mapping.reductions}
    return tuple(name for name in REDUCTION_NAMES if name in known)


def translate_attributes(comparison: Comparison, call: ConceptCall) -> Attrs:
    """The operator's attributes for a call of its concept, or None when it cannot express it.

    >>> from gscli.layout.axes import Tensor
    >>> data, indices = Tensor("data", (3,), "int8"), Tensor("indices", (2,), "int64")
    >>> from gscli.frameworks.numpy import take
    >>> translate_attributes(take.concept_mappings[0], ConceptCall(data, indices, None, 0))
    {'axis': 0, 'mode': 'raise'}
    """
    if comparison.build_attributes is not None:
        return comparison.build_attributes(call)
    if _find_missing_argument(comparison, call):
        return None
    attrs: dict[str, object] = {}
    if comparison.axis and call.axis is not None:
        attrs[comparison.axis] = call.axis
    if comparison.batch_dims:
        attrs[comparison.batch_dims] = call.batch_dims
    if comparison.reduction:
        attrs[comparison.reduction] = comparison.reductions[call.reduction]
    return {**attrs, **comparison.fixed_attributes}


def find_concept_arguments(
    operator: Operator, comparison: Comparison, attributes: Arguments, inputs: Arrays
) -> dict[str, Any]:
    """The way back: axis, batch axes and reduction of an operator's call under the neutral names.

    `attributes`: all of the call's, with their defaults.

    >>> from gscli.frameworks.torch.elements import gather
    >>> find_concept_arguments(gather, gather.concept_mappings[0], {"dim": 1}, {})
    {'axis': 1, 'reduction': 'none'}
    """
    arguments = {name: attributes.get(getattr(comparison, name)) for name in ("axis", "batch_dims")}
    axis = inputs.get(comparison.axis_input)
    if axis is not None and axis.dtype.kind in "iu" and axis.size:
        arguments["axis"] = int(axis.flat[0])
    declared = operator.attribute("reduction")
    if declared is not None:
        arguments["reduction"] = parse_reduction(str(attributes[declared.name] or "none").lower())
    else:
        names = {word: name for name, word in comparison.reductions.items()}
        arguments["reduction"] = names[attributes.get(comparison.reduction, next(iter(names)))]
    return {name: value for name, value in arguments.items() if value is not None}


def explain_inexpressible(comparison: Comparison, call: ConceptCall) -> str:
    """Why the operator cannot express a call; empty where it can.

    >>> from gscli.layout.axes import Tensor
    >>> data, indices = Tensor("data", (3,), "int8"), Tensor("indices", (2,), "int64")
    >>> from gscli.frameworks.numpy import take
    >>> explain_inexpressible(take.concept_mappings[0], ConceptCall(data, indices, None, 0, 1))
    'no batch_dims=1'
    """
    build = comparison.build_attributes
    if build is None:
        return _find_missing_argument(comparison, call)
    if build(call) is not None:
        return ""
    usual: dict[str, Any] = {"batch_dims": 0, "reduction": "none"}
    if build(call._replace(**usual, axis=CONCEPTS[comparison.concept].axis)) is None:
        return "no such shapes"
    mended = [name for name in usual if build(call._replace(**{name: usual[name]})) is not None]
    return "no " + ", ".join(f"{name}={getattr(call, name)}" for name in mended or ["axis"])


def _find_missing_argument(comparison: Comparison, call: ConceptCall) -> str:
    if call.batch_dims and not comparison.batch_dims:
        return f"no batch_dims={call.batch_dims}"
    if call.axis != CONCEPTS[comparison.concept].axis and not (
        comparison.axis or comparison.axis_input
    ):
        return f"no axis={call.axis}"
    *entries, length = call.indices.shape or (1, 0)
    if comparison.vector_layout == "tuple" and entries and length == 0:
        return "no such shapes"  # data[()] is one entry
    return "" if call.reduction in comparison.reductions else f"no reduction={call.reduction}"
