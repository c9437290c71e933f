"""Modules of StableHLO with one gather or scatter, as text."""

from __future__ import annotations

from typing import Any

TYPES = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "ui8",
    "uint16": "ui16", "uint32": "ui32", "uint64": "ui64", "float16": "f16", "bfloat16": "bf16",
    "float32": "f32", "float64": "f64",
}  # fmt: skip
COMPUTATIONS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "max": "maximum", "min": "minimum",
}  # fmt: skip
NUMBERS = {
    "gather": ("offset_dims", "collapsed_slice_dims", "operand_batching_dims",
               "start_indices_batching_dims", "start_index_map"),
    "scatter": ("update_window_dims", "inserted_window_dims", "input_batching_dims",
                "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"),
}  # fmt: skip


def module(op: str, arrays: list[Any], attrs: dict[str, Any]) -> str:
    """The module's text."""
    types = [tensor_type(array.shape, array.dtype.name) for array in arrays]
    names = [f"%a{number}" for number in range(len(arrays))]
    numbers = ", ".join(f"{name} = {list(attrs.get(name, ()))}" for name in NUMBERS[op])
    numbers += f", index_vector_dim = {attrs.get('index_vector_dim', 0)}"
    if op == "gather":
        result = tensor_type(gathered(arrays[1].shape, attrs), arrays[0].dtype.name)
        sizes = ", ".join(map(str, attrs["slice_sizes"]))
        sizes = f"array<i64: {sizes}>" if sizes else "array<i64>"
        body = (
            f"<{{dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = {sizes}, "
            "indices_are_sorted = false}>"
        )
    else:
        result = types[0]
        body = (
            f"<{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>, "
            "indices_are_sorted = false, unique_indices = false}> "
            + region(attrs.get("update_computation", "set"), TYPES[arrays[0].dtype.name])
        )
    arguments = ", ".join(f"{name}: {kind}" for name, kind in zip(names, types))
    # Halves leave as float32, which holds each of them: their bits are not read in Python.
    given = result.replace("bf16>", "f32>").replace("f16>", "f32>")
    return (
        f"module {{ func.func public @main({arguments}) -> {given} {{\n"
        f'  %r = "stablehlo.{op}"({", ".join(names)}) {body} : '
        f"({', '.join(types)}) -> {result}\n"
        f"  %w = stablehlo.convert %r : ({result}) -> {given}\n  return %w : {given}\n}} }}"
    )


def tensor_type(shape: Any, name: str) -> str:
    """tensor<2x3xf32>."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{TYPES[name]}>"


def region(computation: str, kind: str) -> str:
    """What becomes of the value that is there, x, and an update, y."""
    scalar = f"tensor<{kind}>"
    lines, kept = "", "%y"
    if computation != "set":
        kept = "%z"
        lines = f"%z = stablehlo.{COMPUTATIONS[computation]} %x, %y : {scalar}\n"
    return (
        f"({{ ^bb0(%x: {scalar}, %y: {scalar}):\n {lines}"
        f' "stablehlo.return"({kept}) : ({scalar}) -> () }})'
    )


def gathered(indices: Any, attrs: dict[str, Any]) -> list[int]:
    """The shape of a gather's result: batch dimensions, and slices at offset_dims."""
    vector = attrs.get("index_vector_dim", 0)
    batch = iter([size for at, size in enumerate(indices) if at != vector])
    gone = {*attrs.get("collapsed_slice_dims", ()), *attrs.get("operand_batching_dims", ())}
    window = iter([size for at, size in enumerate(attrs["slice_sizes"]) if at not in gone])
    offsets = set(attrs.get("offset_dims", ()))
    rank = len(indices) - (vector < len(indices)) + len(offsets)
    return [next(window) if at in offsets else next(batch) for at in range(rank)]
