"""Answers JAX's operators with x64 on; the variant is jit, or op-by-op (nothing compiled whole)."""

from __future__ import annotations

from typing import Any

from answerer import Runtime, index_tuple, serve

AT = ("get", "set", "add", "subtract", "multiply", "divide", "power", "min", "max")
SCATTERS = ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max")
SEGMENTS = ("segment_sum", "segment_prod", "segment_min", "segment_max")
OPS = [
    "jax.take",
    "jax.take_along_axis",
    "jax.lax.gather",
    *(f"jax.at.{name}" for name in AT),
    *(f"jax.lax.{name}" for name in SCATTERS),
    *(f"jax.{name}" for name in SEGMENTS),
    "jax.lax.dynamic_slice",
    "jax.lax.dynamic_update_slice",
]
DIMENSIONS = {
    "gather": ("offset_dims", "collapsed_slice_dims", "start_index_map"),
    "scatter": ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims"),
}
BATCHING = {
    "gather": ("operand_batching_dims", "start_indices_batching_dims"),
    "scatter": ("operand_batching_dims", "scatter_indices_batching_dims"),
}


def start(variant: str) -> Runtime:
    """Eager as a user calls it, under jax.jit, or under disable_jit."""
    import jax

    jax.config.update("jax_enable_x64", True)
    if variant not in ("", "jit", "op-by-op"):
        raise SystemExit(f"jax has no variant {variant!r}: jit, op-by-op")

    compiled: dict[str, Any] = {}

    def make(op: str, attrs: dict[str, Any], inputs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """A function of the arrays that are no constants of what is compiled, and these."""
        function = bound(op, attrs)
        if variant != "jit":
            return function, dict(inputs)
        # How many cells a mask chooses decides a shape.
        traced = {name: array for name, array in inputs.items() if not is_mask(name, array)}
        masks = {name: array for name, array in inputs.items() if name not in traced}
        names = [*inputs]  # arrays come back from jit in the order of the alphabet
        key = repr((op, attrs, names, masks))
        if key not in compiled:  # jax.jit itself compiles anew for other shapes and types
            compiled.clear()
            compiled[key] = jax.jit(
                lambda arrays: function({name: {**masks, **arrays}[name] for name in names})
            )
        return compiled[key], traced

    def call(
        _framework: str, op: str, _opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        with jax.disable_jit(variant == "op-by-op"):
            function, arrays = make(op, attrs, inputs)
            return function(arrays)

    def differentiate(
        _framework: str, op: str, _opset: int, inputs: dict[str, Any], attrs: dict[str, Any],
        cotangent: Any,
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        function, arrays = make(op, attrs, inputs)
        leaves = {name: array for name, array in arrays.items() if array.dtype.kind == "f"}
        with jax.disable_jit(variant == "op-by-op"):
            output, back = jax.vjp(lambda own: function({**arrays, **own}), leaves)
            return output, back(cotangent)[0]

    return Runtime(
        jax.__version__, OPS, call, differentiate=differentiate, tensor_of=jax.numpy.asarray,
        compiles=True,
    )  # fmt: skip


def is_mask(name: str, array: Any) -> bool:
    """Whether an input is a mask between the brackets."""
    return name.startswith("indices_") and array.dtype.kind == "b"


def bound(op: str, attrs: dict[str, Any]) -> Any:
    """The call with its attributes, as a function of the inputs by name."""
    import jax
    import jax.numpy as jnp

    if op.startswith("at."):
        return lambda inputs: at(op[len("at.") :], with_constant_masks(inputs), attrs)
    if op.startswith("lax.dynamic_"):
        function = getattr(jax.lax, op[len("lax.") :])
    elif op.startswith("lax."):
        return lambda inputs: lax(op[len("lax.") :], [*inputs.values()], attrs)
    else:
        function = getattr(jax.ops if op.startswith("segment") else jnp, op)
    return lambda inputs: function(*inputs.values(), **attrs)


def with_constant_masks(inputs: dict[str, Any]) -> dict[str, Any]:
    """Masks as arrays of NumPy's: under jit, as JAX's they would no longer be constants."""
    import numpy as np

    return {k: np.asarray(v) if is_mask(k, v) else v for k, v in inputs.items()}


def at(method: str, inputs: dict[str, Any], attrs: dict[str, Any]) -> Any:
    """x.at[indices].method(values)."""
    rest = {name: value for name, value in attrs.items() if name != "subscript"}
    place = inputs["x"].at[index_tuple(inputs, attrs.get("subscript", ""))]
    values = [inputs["values"]] if "values" in inputs else []
    return getattr(place, method)(*values, **rest)


def lax(op: str, inputs: list[Any], attrs: dict[str, Any]) -> Any:
    """jax.lax.gather and the scatters, with their dimension numbers."""
    import jax

    family = "gather" if op == "gather" else "scatter"
    rest = dict(attrs)
    numbers = {name: tuple(rest.pop(name)) for name in DIMENSIONS[family]}
    numbers |= {name: tuple(rest.pop(name, ())) for name in BATCHING[family]}
    kind = jax.lax.GatherDimensionNumbers if op == "gather" else jax.lax.ScatterDimensionNumbers
    if op == "gather":
        rest["slice_sizes"] = tuple(rest["slice_sizes"])
    return getattr(jax.lax, op)(*inputs, kind(**numbers), **rest)


if __name__ == "__main__":
    serve("jax", start)
