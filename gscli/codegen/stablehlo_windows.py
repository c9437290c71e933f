"""StableHLO's two operations, gather and scatter, as text: dimension numbers, sizes and region."""

from __future__ import annotations

from gscli.codegen.steps import Instruction
from gscli.layout.axes import Shape
from gscli.layout.families import SCATTER_NAMES, DimensionNumbers

MLIR_TYPES = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}

COMPUTATIONS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "max": "maximum",
    "min": "minimum",
}


def tensor_type(shape: Shape, dtype: str) -> str:
    """A tensor's type.

    >>> tensor_type((2, 3), "float32")
    'tensor<2x3xf32>'
    """
    return f"tensor<{''.join(f'{size}x' for size in shape)}{MLIR_TYPES[dtype]}>"


def write_window_op(name: str, operands: list[str], step: Instruction) -> list[str]:
    """A gather or scatter whose numbers are given, or whose index vectors name cells or slices."""
    numbers, sizes = step.attributes.get("numbers"), step.attributes.get("sizes")
    if not isinstance(numbers, DimensionNumbers):
        numbers, sizes = _dimension_numbers_of(step)
    if step.opcode.startswith("put"):
        return _write_scatter(name, operands, step, numbers._replace(names=SCATTER_NAMES))
    assert isinstance(sizes, tuple)
    return _write_gather(name, operands, step, numbers, sizes)


def _dimension_numbers_of(step: Instruction) -> tuple[DimensionNumbers, Shape]:
    """Index vectors on the last axis for the first axes of data; the others move along."""
    data, index = step.operands[0], step.operands[-1]
    count, grid = index.shape[-1], len(index.shape) - 1
    result = step.operands[1] if step.opcode.startswith("put") else step.result
    columns = tuple(range(count))
    numbers = DimensionNumbers(
        tuple(range(grid, len(result.shape))), columns, (), (), columns, grid
    )
    return numbers, (*(1,) * count, *data.shape[count:])


def _write_gather(
    name: str, operands: list[str], step: Instruction, numbers: DimensionNumbers, sizes: Shape
) -> list[str]:
    data, index = step.operands
    listed = _render_differences(numbers)
    return [
        f'{name} = "stablehlo.gather"({operands[0]}, {operands[1]}) <{{',
        f"  dimension_numbers = #stablehlo.gather<{listed}>,",
        f"  slice_sizes = array<i64: {', '.join(map(str, sizes))}>, indices_are_sorted = false",
        (
            f"}}> : ({tensor_type(data.shape, data.dtype)}, "
            f"{tensor_type(index.shape, index.dtype)}) -> "
            f"{tensor_type(step.result.shape, step.result.dtype)}"
        ),
    ]


def _write_scatter(
    name: str, operands: list[str], step: Instruction, numbers: DimensionNumbers
) -> list[str]:
    data, updates, index = step.operands
    listed = _render_differences(numbers)
    scalar, op = f"tensor<{MLIR_TYPES[data.dtype]}>", str(step.attributes["op"])
    body = (
        [] if op == "none" else [f"    %kept = stablehlo.{COMPUTATIONS[op]} %old, %new : {scalar}"]
    )
    kept = "%kept" if body else "%new"
    kinds = ", ".join(tensor_type(one.shape, one.dtype) for one in (data, index, updates))
    return [
        f'{name} = "stablehlo.scatter"({operands[0]}, {operands[2]}, {operands[1]}) <{{',
        f"  scatter_dimension_numbers = #stablehlo.scatter<{listed}>,",
        "  indices_are_sorted = false, unique_indices = false",
        "}> ({",
        f"  ^bb0(%old: {scalar}, %new: {scalar}):",
        *body,
        f"    stablehlo.return {kept} : {scalar}",
        f"}}) : ({kinds}) -> {tensor_type(data.shape, data.dtype)}",
    ]


def _render_differences(numbers: DimensionNumbers) -> str:
    return ", ".join(
        f"{name} = {list(value) if isinstance(value, tuple) else value}"
        for name, value in numbers.attributes.items()
    )
