"""StableHLO's two operations, gather and scatter, as text: dimension numbers, sizes and region."""

from __future__ import annotations

from collections.abc import Sequence

from gscli.codegen.index_forms import Direct
from gscli.codegen.steps import CodeStep
from gscli.layout.axes import Shape

TYPES = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "ui8",
    "uint16": "ui16", "uint32": "ui32", "uint64": "ui64", "float16": "f16", "bfloat16": "bf16",
    "float32": "f32", "float64": "f64", "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}  # fmt: skip

COMPUTATIONS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "max": "maximum", "min": "minimum",
}  # fmt: skip


def kind(shape: Shape, dtype: str) -> str:
    """A tensor's type.

    >>> kind((2, 3), "float32")
    'tensor<2x3xf32>'
    """
    return f"tensor<{''.join(f'{size}x' for size in shape)}{TYPES[dtype]}>"


def windows_text(name: str, operands: list[str], step: CodeStep) -> list[str]:
    """A gather or scatter whose numbers are given, or whose index vectors name cells or slices."""
    numbers = step.facts.get("numbers")
    if not isinstance(numbers, Direct):
        numbers = _of_cells(step)
    write = _scatter if step.form.startswith("put") else _gather
    return write(name, operands, step, numbers)


def _of_cells(step: CodeStep) -> Direct:
    """Index vectors on the last axis for the first axes of data; the others move along."""
    data, index = step.operands[0], step.operands[-1]
    count, grid = index.shape[-1], len(index.shape) - 1
    result = step.operands[1] if step.form.startswith("put") else step.result
    return Direct(
        tuple(range(grid, len(result.shape))), tuple(range(count)), (), (), tuple(range(count)),
        grid, (*(1,) * count, *data.shape[count:]),
    )  # fmt: skip


def _gather(name: str, operands: list[str], step: CodeStep, numbers: Direct) -> list[str]:
    data, index = step.operands
    sizes = ", ".join(map(str, numbers.slice_sizes))
    listed = _listed(numbers, ("offset_dims", "collapsed_slice_dims", "operand_batching_dims",
                               "start_indices_batching_dims", "start_index_map"))  # fmt: skip
    return [
        f'{name} = "stablehlo.gather"({operands[0]}, {operands[1]}) <{{',
        f"  dimension_numbers = #stablehlo.gather<{listed}>,",
        f"  slice_sizes = array<i64: {sizes}>, indices_are_sorted = false",
        (
            f"}}> : ({kind(data.shape, data.dtype)}, {kind(index.shape, index.dtype)}) -> "
            f"{kind(step.result.shape, step.result.dtype)}"
        ),
    ]


def _scatter(name: str, operands: list[str], step: CodeStep, numbers: Direct) -> list[str]:
    data, updates, index = step.operands
    listed = _listed(numbers, ("update_window_dims", "inserted_window_dims",
                               "input_batching_dims", "scatter_indices_batching_dims",
                               "scatter_dims_to_operand_dims"))  # fmt: skip
    scalar, op = f"tensor<{TYPES[data.dtype]}>", str(step.facts["op"])
    body = [] if op == "none" else [
        f"    %kept = stablehlo.{COMPUTATIONS[op]} %old, %new : {scalar}"
    ]  # fmt: skip
    kept = "%kept" if body else "%new"
    kinds = ", ".join(kind(one.shape, one.dtype) for one in (data, index, updates))
    return [
        f'{name} = "stablehlo.scatter"({operands[0]}, {operands[2]}, {operands[1]}) <{{',
        f"  scatter_dimension_numbers = #stablehlo.scatter<{listed}>,",
        "  indices_are_sorted = false, unique_indices = false",
        "}> ({",
        f"  ^bb0(%old: {scalar}, %new: {scalar}):",
        *body,
        f"    stablehlo.return {kept} : {scalar}",
        f"}}) : ({kinds}) -> {kind(data.shape, data.dtype)}",
    ]


def _listed(numbers: Direct, names: Sequence[str]) -> str:
    values = (numbers.offset, numbers.collapsed, numbers.batching, numbers.indices_batching,
              numbers.index_map)  # fmt: skip
    pairs = zip(names, values, strict=True)
    shown = [f"{name} = {list(value)}" for name, value in pairs if value]
    return ", ".join([*shown, f"index_vector_dim = {numbers.vector_dim}"])
