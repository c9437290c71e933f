"""What each framework's own operations do with index numbers, reductions and element types.

`NATIVE_OPS` is the table that lines are chosen from: the first operation of a target that suits a
call writes it. How an operation is spelt stands in the templates of the target's language.
"""

from __future__ import annotations

from functools import cache
from itertools import chain, product

from gscli.base.records import Record
from gscli.base.words import ALL_DTYPES, COMPLEX, DTYPES, FLOATS, INTEGERS, NARROW_FLOATS, SIGNED
from gscli.declare.attributes import parse_reduction
from gscli.frameworks import find_operator, load_framework
from gscli.lab.examples import build_legal_probe
from gscli.layout import Layout
from gscli.layout.axes import Negative, OutOfBounds

ALL_REDUCTIONS = frozenset({"none", "add", "sub", "mul", "max", "min"})


class NativeOp(Record):
    """An operation of a framework: its form, and what it does with an index that is not in range.

    `name`: with {slices} for the axes before the one that is indexed, {word} for its own word for
    the reduction. `form`: take (slices along an axis), along (one index for each cell), vectors
    (index vectors on the last axis), direct (StableHLO's dimension numbers), rows (a reduction over
    rows of a matrix); vectors and direct become cells, a coordinate for each axis, where nothing
    else suits.
    `operator`: its declaration, which says what it does with an index below zero and with one out
    of range, which reductions it has, and whether it takes batch axes. `more_reductions`: those
    that its lines spell with other operators. `takes_smaller`: indices may be smaller off the axis.
    `needs_rank_1_indices`: takes indices of rank 1 alone, `refuses_rank_0`: of any but rank 0,
    `needs_int64`: of int64 alone. `truncates_mean`: its mean of whole numbers is cut toward zero.
    `can_crop_data`: data may be cropped to smaller indices first; OpenVINO's plugin undoes that.
    `takes_batch_of_1`: it takes a batch of size 1; OpenVINO's plugin crashes or hangs.
    """

    name: str
    form: str
    operator: str
    more_reductions: frozenset[str] = frozenset()
    takes_smaller: bool = False
    needs_rank_1_indices: bool = False
    truncates_mean: bool = False
    can_crop_data: bool = True
    takes_batch_of_1: bool = True
    refuses_rank_0: bool = False
    needs_int64: bool = False

    @property
    def reductions(self) -> frozenset[str]:
        """How updates may meet what is there; the mean among them."""
        attribute = find_operator(self.operator).attribute("reduction")
        if attribute is None:
            return self.more_reductions | {self.layout.reduction}
        return self.more_reductions.union(map(parse_reduction, attribute.choices))

    def has_attribute(self, *names: str) -> bool:
        """Whether the operator has one of some attributes."""
        return not find_operator(self.operator).attributes_by_name.keys().isdisjoint(names)

    @property
    def layout(self) -> Layout:
        """The layout of the operator's own example."""
        return find_declared_layout(self.operator)

    @property
    def out_of_bounds(self) -> OutOfBounds:
        """What becomes of an index out of range."""
        return self.layout.policy.out_of_bounds

    @property
    def negative_from_end(self) -> bool:
        """Whether -1 is the last row."""
        return self.layout.policy.negative is Negative.FROM_END


@cache
def find_declared_layout(operator: str) -> Layout:
    """The layout of an operator's own example."""
    return build_legal_probe(find_operator(operator), {}).layout


# The operations that lines are made of; of those of a target the first that suits is chosen.
NATIVE_OPS = (
    NativeOp("np.take", "take", "numpy.take"),
    NativeOp("np.take_along_axis", "along", "numpy.take_along_axis"),
    NativeOp("a[i, j]", "vectors", "numpy.getitem"),
    NativeOp("a[{slices}i] =", "take", "numpy.setitem"),
    NativeOp("np.{word}.at", "take", "numpy.setitem", ALL_REDUCTIONS),
    NativeOp("np.put_along_axis", "along", "numpy.put_along_axis"),
    NativeOp("a[i, j] =", "vectors", "numpy.setitem"),
    NativeOp("np.{word}.at", "vectors", "numpy.setitem", ALL_REDUCTIONS),
    NativeOp("x[{slices}i]", "take", "torch.index"),
    NativeOp("torch.gather", "along", "torch.gather", takes_smaller=True),
    NativeOp("x[i, j]", "vectors", "torch.index"),
    NativeOp("torch.scatter_reduce", "along", "torch.scatter_reduce", takes_smaller=True),
    NativeOp("torch.scatter", "along", "torch.scatter", frozenset({"none"}), takes_smaller=True),
    NativeOp("x[{slices}i] =", "take", "torch.index_put_"),
    NativeOp("torch.index_add", "take", "torch.index_add", needs_rank_1_indices=True),
    NativeOp("index_put_", "vectors", "torch.index_put_", frozenset({"add"})),
    NativeOp("scatter_reduce over rows", "rows", "torch.scatter_reduce"),
    NativeOp("jnp.take", "take", "jax.take"),
    NativeOp("jnp.take_along_axis", "along", "jax.take_along_axis"),
    NativeOp("x[i, j]", "vectors", "jax.at.get"),
    NativeOp("x.at[{slices}i]", "take", "jax.at.set", ALL_REDUCTIONS),
    NativeOp("x.at[i, j]", "vectors", "jax.at.set", ALL_REDUCTIONS),
    NativeOp("tf.gather", "take", "tensorflow.gather"),
    NativeOp("tf.gather_nd", "vectors", "tensorflow.gather_nd"),
    NativeOp("tf.tensor_scatter_nd_{word}", "vectors", "tensorflow.tensor_scatter_nd_update",
             frozenset({"add", "sub", "max", "min"}), refuses_rank_0=True),
    NativeOp("tf.math.unsorted_segment_prod", "rows", "tensorflow.unsorted_segment_prod"),
    NativeOp("Gather", "take", "onnx.gather"),
    NativeOp("GatherElements", "along", "onnx.gather_elements", takes_smaller=True),
    NativeOp("GatherND", "vectors", "onnx.gather_nd", needs_int64=True),
    NativeOp("ScatterElements", "along", "onnx.scatter_elements", takes_smaller=True),
    NativeOp("ScatterND", "vectors", "onnx.scatter_nd", needs_int64=True),
    NativeOp("Gather-8", "take", "openvino.gather", takes_batch_of_1=False),
    NativeOp("GatherElements-6", "along", "openvino.gather_elements", can_crop_data=False),
    NativeOp("GatherND-8", "vectors", "openvino.gather_nd"),
    NativeOp("ScatterElementsUpdate-12", "along", "openvino.scatter_elements_update",
             takes_smaller=True, truncates_mean=True),
    NativeOp("ScatterUpdate-3", "take", "openvino.scatter_update", refuses_rank_0=True),
    NativeOp("ScatterNDUpdate-15", "vectors", "openvino.scatter_nd_update"),
    NativeOp("stablehlo.gather", "direct", "stablehlo.gather"),
    NativeOp("stablehlo.scatter", "direct", "stablehlo.scatter", ALL_REDUCTIONS),
)  # fmt: skip


class TargetFramework(Record):
    """A framework that lines are written for.

    `keeps_last_write`: it promises that the last of several values for one cell stays.
    `propagates_nan`: NaN wins under max and min, or False: in data it stays and in updates it is
    passed over; None where that is open. `sums_halves_in_float32` and rounds once,
    `computes_in_32_bits` what has 64. `missing_kernels`: forms, their reductions and element types
    that the package which runs its lines refuses, `missing_dtypes`: those of which it takes no
    arrays.
    """

    name: str
    dtypes: tuple[str, ...]
    index_dtypes: tuple[str, ...] = ("int32", "int64")
    keeps_last_write: bool = False
    propagates_nan: bool | None = True
    sums_halves_in_float32: bool = False
    bool_reductions: bool = True
    complex_order: bool = False
    computes_in_32_bits: bool = False
    note: str = ""
    missing_kernels: frozenset[tuple[str, str, str]] = frozenset()
    missing_dtypes: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The framework's own name."""
        return load_framework(self.name).title

    @property
    def packages(self) -> tuple[str, ...]:
        """What an interpreter must have to run its lines; the first says the version."""
        return self.needs or (self.name,)

    def ops(self, kind: str) -> list[NativeOp]:
        """Its operations that are a gather, or a scatter."""
        own = (op for op in NATIVE_OPS if op.operator.startswith(f"{self.name}."))
        return [op for op in own if op.layout.kind == kind]


_NO_TEXT = tuple(name for name in DTYPES if name != "str")

_SELECTIONS = ("where", "replaced")

# What onnxruntime 1.32 said of the recorded calls, and of every other type.
_ONNXRUNTIME_LACKS = frozenset(
    chain(
        product(("put_along",), ("add", "mul"), ("float16",)),
        product(("put_vectors",), ("add", "mul", "max", "min"), ("float16",)),
        product(_SELECTIONS, ("",), ("bool", "int16", "uint16", "uint64")),
    )
)

# Every target of `--code`, in the order of `all`.
TARGETS: dict[str, TargetFramework] = {
    target.name: target
    for target in (
        TargetFramework("numpy", ALL_DTYPES, INTEGERS, complex_order=True),
        TargetFramework(
            "torch", ("bool", "uint8", *SIGNED, *FLOATS, *COMPLEX), ("int64",),
            sums_halves_in_float32=True,
        ),
        TargetFramework(
            "jax", (*_NO_TEXT, *NARROW_FLOATS), INTEGERS, complex_order=True,
            note="64-bit types need jax_enable_x64",
        ),
        TargetFramework(
            "tensorflow", DTYPES, keeps_last_write=True, propagates_nan=False,
            bool_reductions=False, missing_kernels=frozenset((("put_vectors", "add", "str"),)),
        ),
        TargetFramework(
            "onnx", DTYPES, bool_reductions=False, propagates_nan=None,
            missing_kernels=_ONNXRUNTIME_LACKS, missing_dtypes=frozenset(("bfloat16", *COMPLEX)),
            needs=("onnxruntime", "onnx"),
        ),
        TargetFramework(
            "openvino", ("bool", *INTEGERS, "float16", "float32", "float64"),
            bool_reductions=False, sums_halves_in_float32=True, propagates_nan=False,
            computes_in_32_bits=True,
        ),
        TargetFramework(
            "stablehlo", _NO_TEXT, INTEGERS, complex_order=True, needs=("jax", "jaxlib")
        ),
    )
}  # fmt: skip
