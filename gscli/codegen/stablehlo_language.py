"""How StableHLO writes each step: the text of a module, which any of its tools reads."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from gscli.base.arrays import parse_dtype
from gscli.codegen.stablehlo_windows import MLIR_TYPES, tensor_type, write_window_op
from gscli.codegen.steps import (
    CannotTranslate,
    Constant,
    Instruction,
    SnippetProgram,
    Value,
    VectorConstant,
)
from gscli.layout.axes import Shape

TEMPLATES = {
    "cast": "{r} = stablehlo.convert {0} : ({T0}) -> {T}",
    "floor": "{r} = stablehlo.floor {0} : {T}",
    "wrap": "{r}_below = stablehlo.compare LT, {0}, {zero} : ({T}, {T}) -> {B}\n"
    "{r}_moved = stablehlo.add {0}, {sizes} : {T}\n"
    "{r} = stablehlo.select {r}_below, {r}_moved, {0} : {B}, {T}",
    "mod": "{r}_rest = stablehlo.remainder {0}, {sizes} : {T}\n"
    "{r}_more = stablehlo.add {r}_rest, {sizes} : {T}\n"
    "{r} = stablehlo.remainder {r}_more, {sizes} : {T}",
    "clip": "{r} = stablehlo.clamp {zero}, {0}, {high} : {T}",
    "inside": "{r}_low = stablehlo.compare GE, {0}, {zero} : ({T0}, {T0}) -> {B}\n"
    "{r}_high = stablehlo.compare LE, {0}, {high} : ({T0}, {T0}) -> {B}\n"
    "{r} = stablehlo.and {r}_low, {r}_high : {B}",
    "both": "{r} = stablehlo.and {0}, {1} : {T}",
    "plus": "{r} = stablehlo.add {0}, {1} : {T}",
    "times": "{r} = stablehlo.multiply {0}, {factor} : {T}",
    "reshape": "{r} = stablehlo.reshape {0} : ({T0}) -> {T}",
    "transpose": "{r} = stablehlo.transpose {0}, dims = {perm} : ({T0}) -> {T}",
    "divide": "{r} = stablehlo.divide {0}, {1} : {T}",
    "floor_divide": "{r}_rest = stablehlo.remainder {0}, {1} : {T}\n"
    "{r}_more = stablehlo.add {r}_rest, {1} : {T}\n"
    "{r}_mod = stablehlo.remainder {r}_more, {1} : {T}\n"
    "{r}_whole = stablehlo.subtract {0}, {r}_mod : {T}\n"
    "{r} = stablehlo.divide {r}_whole, {1} : {T}",
    "power": "{r} = stablehlo.power {0}, {1} : {T}",
    "sqrt": "{r} = stablehlo.sqrt {0} : {T}",
    "negative": "{r} = stablehlo.negate {0} : {T}",
    "where": "{r} = stablehlo.select {0}, {1}, {2} : {B}, {T}",
    "where_number": "{r} = stablehlo.select {0}, {1}, {fill} : {B}, {T}",
    "replaced": "{r} = stablehlo.select {1}, {fill}, {0} : {B}, {T}",
    "is_nan": "{r} = stablehlo.compare NE, {0}, {0}, FLOAT : ({T0}, {T0}) -> {T}",
    "crop": "{r} = stablehlo.slice {0} [{bounds}] : ({T0}) -> {T}",
    "pad": "{r} = stablehlo.concatenate {0}, {fill}, dim = {dim} : ({T0}, {TR}) -> {T}",
}

ELEMENTWISE = ("both", "plus", "where", "where_number", "replaced")
"""Forms whose operands stretch together, which StableHLO wants written."""


def write_stablehlo(program: SnippetProgram, output: Value) -> list[str]:
    """A module as text, run by the reference interpreter that jaxlib carries."""
    module = _StablehloWriter(program, output).write()
    names = ", ".join(value.name for value in program.inputs)
    kinds = ", ".join(f'"{MLIR_TYPES[value.dtype]}"' for value in program.inputs)
    real = output.dtype.startswith(("float", "bfloat"))
    dense = "DenseFPElementsAttr" if real else "DenseIntElementsAttr"
    last = "bfloat16" if output.dtype == "bfloat16" else output.dtype
    given = "ml_dtypes.bfloat16" if last == "bfloat16" else f"np.{last}"
    halves = any(value.dtype in ("float16", "bfloat16") for value in program.inputs)
    array = "array"
    if halves:
        array += ".view(np.uint16) if array.itemsize == 2 and array.dtype.kind in 'fV' else array"
    text = ["module = '''", *module, "'''"]
    if any(value.dtype.startswith("complex") for value in (*program.inputs, output)):
        return [*text, "# jaxlib's interpreter hands over no complex numbers"]
    return [
        *text,
        "with mlir.make_ir_context():",
        "    arguments = [",
        (
            f'        ir.DenseElementsAttr.get(np.array({array}, order="C"), '
            "type=ir.Type.parse(kind), shape=array.shape)"
        ),
        f"        for array, kind in zip([{names}], [{kinds}])",
        "    ]",
        "    (found,) = stablehlo.eval_module(ir.Module.parse(module), arguments)",
        f"    output = np.array(list(ir.{dense}(found)), {given}).reshape({output.shape})",
    ]


class _StablehloWriter:
    def __init__(self, program: SnippetProgram, output: Value) -> None:
        self.program, self.output = program, output
        self.names = {value.number: f"%{value.name}" for value in program.inputs}
        self.constants: dict[str, str] = {}
        self.body: list[str] = []
        self.count = 0

    def write(self) -> list[str]:
        for step in self.program.steps:
            self._write_instruction(step)
        taken = ", ".join(
            f"%{v.name}: {tensor_type(v.shape, v.dtype)}" for v in self.program.inputs
        )
        result = tensor_type(self.output.shape, self.output.dtype)
        name = self.names[self.output.number]
        # Halves leave as float32, which holds each of them: their bits are not read in Python.
        given = result.replace("bf16>", "f32>").replace("xf16>", "xf32>")
        given = "tensor<f32>" if given == "tensor<f16>" else given
        if given != result:
            self.body.append(f"%wide = stablehlo.convert {name} : ({result}) -> {given}")
            name = "%wide"
        return [
            f"func.func public @main({taken}) -> {given} {{",
            *(f"  {line}" for line in self.body),
            f"  return {name} : {given}",
            "}",
        ]

    def _write_instruction(self, step: Instruction) -> None:
        operands = [self.names[operand.number] for operand in step.operands]
        name = self._unique_name(step)
        special = getattr(self, f"_write_{step.opcode}", None)
        if special is not None:
            special(name, operands, step)
        else:
            self._write_template(name, operands, step)
        self.names[step.result.number] = name

    def _unique_name(self, step: Instruction) -> str:
        wanted = "output" if step.result.number == self.output.number else step.result.name
        used = {*self.names.values()}
        names = (f"%{wanted}", *(f"%{wanted}_{number}" for number in range(2, 999)))
        return next(name for name in names if name not in used)

    def _write_template(self, name: str, operands: list[str], step: Instruction) -> None:
        if step.opcode not in TEMPLATES:
            raise CannotTranslate("StableHLO's shapes must not depend on values")
        result = step.result
        if step.opcode in ELEMENTWISE:
            pairs = zip(operands, step.operands, strict=True)
            operands = [self._broadcast_to(one, value, result.shape) for one, value in pairs]
        shape = result.shape
        facts = {key: self._format_attribute(fact, shape) for key, fact in step.attributes.items()}
        first = step.operands[0] if step.operands else result
        facts["zero"] = (
            self._write_typed_constant(Constant(0, first.dtype), shape)
            if "zero" in TEMPLATES[step.opcode]
            else ""
        )
        facts |= {
            "T": tensor_type(shape, result.dtype),
            "B": tensor_type(shape, "bool"),
            "T0": tensor_type(first.shape, first.dtype),
        }
        if step.opcode == "pad":
            row, axis, fill = (
                step.attributes["row"],
                step.attributes["axis"],
                step.attributes["fill"],
            )
            assert isinstance(row, tuple)
            assert isinstance(fill, Constant)
            facts |= {
                "fill": self._write_typed_constant(fill, row),
                "TR": tensor_type(row, result.dtype),
                "dim": str(axis),
            }
        if step.opcode == "crop":
            facts["bounds"] = ", ".join(f"0:{size}" for size in shape)
        text = TEMPLATES[step.opcode].format(*operands, r=name, **facts)
        self.body += text.split("\n")

    def _format_attribute(self, fact: object, shape: Shape) -> str:
        if isinstance(fact, Constant):
            return self._write_typed_constant(fact, shape)
        if isinstance(fact, VectorConstant):
            return self._write_vector_constant(fact, shape)
        return str(list(fact)) if isinstance(fact, tuple) else str(fact)

    def _write_typed_constant(self, literal: Constant, shape: Shape) -> str:
        return self._constant(
            f"dense<{_format_number(literal)}> : {tensor_type(shape, literal.dtype)}"
        )

    def _constant(self, text: str) -> str:
        if text not in self.constants:
            name = self.constants[text] = f"%c{len(self.constants)}"
            self.body.append(f"{name} = stablehlo.constant {text}")
        return self.constants[text]

    def _write_vector_constant(self, numbers: VectorConstant, shape: Shape) -> str:
        own = (len(numbers.numbers),)
        name = self._constant(f"dense<{list(numbers.numbers)}> : {tensor_type(own, numbers.dtype)}")
        value = Value(0, "", own, numbers.dtype)
        return self._broadcast(name, value, shape, (numbers.dim,))

    def _broadcast_to(self, name: str, value: Value, shape: Shape) -> str:
        if value.shape == shape:
            return name
        first = len(shape) - len(value.shape)
        return self._broadcast(name, value, shape, tuple(range(first, len(shape))))

    def _broadcast(self, name: str, value: Value, shape: Shape, dims: Sequence[int]) -> str:
        self.count += 1
        made = f"%b{self.count}"
        self.body.append(
            f"{made} = stablehlo.broadcast_in_dim {name}, dims = {list(dims)} : "
            f"({tensor_type(value.shape, value.dtype)}) -> {tensor_type(shape, value.dtype)}"
        )
        return made

    # Forms that are more than a template.

    def _write_expand(self, name: str, operands: list[str], step: Instruction) -> None:
        (value,) = step.operands
        made = self._broadcast_to(operands[0], value, step.result.shape)
        self.body[-1] = self.body[-1].replace(f"{made} =", f"{name} =", 1)

    def _write_full(self, name: str, _operands: list[str], step: Instruction) -> None:
        fill, result = step.attributes["fill"], step.result
        assert isinstance(fill, Constant)
        text = f"dense<{_format_number(fill)}> : {tensor_type(result.shape, result.dtype)}"
        self.body.append(f"{name} = stablehlo.constant {text}")

    def _write_iota(self, name: str, _operands: list[str], step: Instruction) -> None:
        positions, shape = step.attributes["range"], step.result.shape
        assert isinstance(positions, range)
        if positions.start == 0 and positions.step == 1 and shape:
            dim = step.attributes["dim"]
            self.body.append(f"{name} = stablehlo.iota dim = {dim} : {tensor_type(shape, 'int64')}")
            return
        listed = f"dense<{list(positions)}> : {tensor_type((len(positions),), 'int64')}"
        flat = self._constant(listed)
        source = tensor_type((len(positions),), "int64")
        self.body.append(
            f"{name} = stablehlo.reshape {flat} : ({source}) -> {tensor_type(shape, 'int64')}"
        )

    def _write_slot(self, name: str, operands: list[str], step: Instruction) -> None:
        (value,), dim, at = step.operands, step.attributes["dim"], step.attributes["at"]
        assert isinstance(at, int)
        bounds = [
            f"{at}:{at + 1}" if axis == dim else f"0:{size}"
            for axis, size in enumerate(value.shape)
        ]
        sizes = tuple(1 if axis == dim else size for axis, size in enumerate(value.shape))
        part = tensor_type(sizes, value.dtype)
        self.body.append(
            f"{name}_part = stablehlo.slice {operands[0]} [{', '.join(bounds)}] : "
            f"({tensor_type(value.shape, value.dtype)}) -> {part}"
        )
        result = tensor_type(step.result.shape, value.dtype)
        self.body.append(f"{name} = stablehlo.reshape {name}_part : ({part}) -> {result}")

    def _write_stack(self, name: str, operands: list[str], step: Instruction) -> None:
        dim, result = step.attributes["dim"], step.result
        assert isinstance(dim, int)
        sizes = tuple(1 if axis == dim else size for axis, size in enumerate(result.shape))
        part, parts = tensor_type(sizes, result.dtype), []
        for number, (operand, value) in enumerate(zip(operands, step.operands, strict=True)):
            parts.append(f"{name}_{number}")
            self.body.append(
                f"{parts[-1]} = stablehlo.reshape {operand} : "
                f"({tensor_type(value.shape, value.dtype)}) -> {part}"
            )
        kinds = ", ".join([part] * len(parts))
        self.body.append(
            f"{name} = stablehlo.concatenate {', '.join(parts)}, dim = {dim} : "
            f"({kinds}) -> {tensor_type(result.shape, result.dtype)}"
        )

    def _write_windows(self, name: str, operands: list[str], step: Instruction) -> None:
        self.body += write_window_op(name, operands, step)

    _write_direct = _write_cells = _write_put_direct = _write_put_cells = _write_windows


def _format_number(literal: Constant) -> str:
    """A number between dense< and >; what is not finite as its bits."""
    value, dtype = literal.value, literal.dtype
    if isinstance(value, complex) or dtype.startswith("complex"):
        plain = complex(value)
        return f"({_format_real(plain.real, dtype)}, {_format_real(plain.imag, dtype)})"
    if dtype == "bool":
        return str(bool(value)).lower()
    if dtype.startswith(("float", "bfloat")):
        return _format_real(float(value), dtype)
    return str(int(value))


def _format_real(value: float, dtype: str) -> str:
    if isfinite(value):
        text = repr(float(value))
        return text if "." in text or "e" not in text else text.replace("e", ".0e")
    part = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    bits = np.array(value).astype(parse_dtype(part))
    return f"0x{bits.view(f'u{bits.itemsize}').item():0{2 * bits.itemsize}X}"
