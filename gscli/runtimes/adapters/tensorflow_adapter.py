"""Answers TensorFlow's operators on the CPU; the variant xla compiles every call by XLA."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from answerer import Runtime, Unsupported, serve

SEGMENTS = [
    f"{family}_{name}"
    for family in ("unsorted_segment", "segment")
    for name in ("sum", "prod", "max", "min", "mean")
] + ["unsorted_segment_sqrt_n"]
VARIABLES = [f"scatter_nd_{name}" for name in ("update", "add", "sub", "max", "min")]
OPS = [
    f"tensorflow.{name}"
    for name in ("gather", "gather_nd", "scatter_nd",
                 *(f"tensor_scatter_nd_{kind}" for kind in ("update", "add", "sub", "max", "min")),
                 "batch_gather", *SEGMENTS, *VARIABLES)
]  # fmt: skip


def start(variant: str) -> Runtime:
    """Eager, or tf.function(jit_compile=True)."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import tensorflow as tf

    if variant not in ("", "xla"):
        raise SystemExit(f"tensorflow has no variant {variant!r}: xla")

    # A gradient of slices is summed here, which uncompiled refuses what XLA drops.
    convert = tf.convert_to_tensor
    densify = tf.function(convert, jit_compile=True) if variant else convert

    def make(op: str, inputs: dict[str, Any], attrs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """A function of tensors by name, and these."""
        function = function_of(op, attrs)
        known = {name: value for name, value in attrs.items() if value is not None}
        # What decides a shape is a constant of the compiled function, as in a model.
        fixed = {name: value.numpy() for name, value in inputs.items() if name == "shape"}
        tensors = {name: value for name, value in inputs.items() if name not in fixed}

        def run(**arrays: Any) -> Any:
            return function(**arrays, **fixed, **known)

        return tf.function(run, jit_compile=True) if variant else run, tensors

    def call(
        _framework: str, op: str, _opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        run, tensors = make(op, inputs, attrs)
        with refusals_named():
            return run(**tensors)

    def differentiate(
        _framework: str, op: str, _opset: int, inputs: dict[str, Any], attrs: dict[str, Any],
        cotangent: Any,
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        run, tensors = make(op, inputs, attrs)
        leaves = {name: tensor for name, tensor in tensors.items() if tensor.dtype.is_floating}
        with refusals_named(), tf.GradientTape() as tape:
            tape.watch([*leaves.values()])
            output = run(**tensors)
        try:
            flows = tape.gradient(output, leaves, cotangent)
        except LookupError as error:  # the operator has no gradient
            raise Unsupported(str(error)) from None
        dense = {name: None if flow is None else densify(flow) for name, flow in flows.items()}
        return output, dense

    return Runtime(
        tf.__version__, OPS, call, {"device": variant or "cpu"}, differentiate=differentiate,
        tensor_of=tf.constant, array_of=lambda tensor: tensor.numpy(), compiles=bool(variant),
    )  # fmt: skip


@contextmanager
def refusals_named() -> Iterator[None]:
    """What has no kernel here is unsupported, and no fault."""
    import tensorflow as tf

    try:
        yield
    except (tf.errors.UnimplementedError, tf.errors.NotFoundError) as error:
        raise Unsupported(str(error)) from None
    except tf.errors.InvalidArgumentError as error:
        if "Detected unsupported operations" in str(error):  # XLA has no kernel
            raise Unsupported(str(error)) from None
        raise


def function_of(op: str, attrs: dict[str, Any]) -> Any:
    """The function of TensorFlow that an operator is."""
    import tensorflow as tf

    if op in VARIABLES:
        return lambda ref, **others: written(op, ref, others)
    if op == "tensor_scatter_nd_update" and "bad_indices_policy" in attrs:
        return tf.raw_ops.TensorScatterUpdate  # the only way to say it
    if op == "batch_gather":
        return tf.compat.v1.batch_gather
    return getattr(tf.math if op in SEGMENTS else tf, op)


def written(op: str, ref: Any, others: dict[str, Any]) -> Any:
    """The variable after the call; made outside of what is compiled."""
    import tensorflow as tf

    variable = tf.Variable(ref)
    name = f"ResourceScatterNd{op.removeprefix('scatter_nd_').title()}"
    getattr(tf.raw_ops, name)(ref=variable.handle, **others)
    return variable.read_value()


if __name__ == "__main__":
    serve("tensorflow", start)
