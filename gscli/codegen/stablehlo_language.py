"""How StableHLO writes each step: the text of a module, which any of its tools reads."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from gscli.base.arrays import dtype_named
from gscli.codegen.stablehlo_windows import TYPES, kind, windows_text
from gscli.codegen.steps import (
    CannotTranslate,
    Instruction,
    Literal,
    PerSlot,
    SnippetProgram,
    Value,
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
}  # fmt: skip

ELEMENTWISE = ("both", "plus", "where", "where_number", "replaced")
"""Forms whose operands stretch together, which StableHLO wants written."""


def stablehlo_lines(program: SnippetProgram, output: Value) -> list[str]:
    """A module as text, run by the reference interpreter that jaxlib carries."""
    module = _Text(program, output).lines()
    names = ", ".join(value.name for value in program.inputs)
    kinds = ", ".join(f'"{TYPES[value.dtype]}"' for value in program.inputs)
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
        (f'        ir.DenseElementsAttr.get(np.array({array}, order="C"), '
        "type=ir.Type.parse(kind), shape=array.shape)"),
        f"        for array, kind in zip([{names}], [{kinds}])",
        "    ]",
        "    (found,) = stablehlo.eval_module(ir.Module.parse(module), arguments)",
        f"    output = np.array(list(ir.{dense}(found)), {given}).reshape({output.shape})",
    ]  # fmt: skip


class _Text:
    def __init__(self, program: SnippetProgram, output: Value) -> None:
        self.program, self.output = program, output
        self.names = {value.number: f"%{value.name}" for value in program.inputs}
        self.constants: dict[str, str] = {}
        self.body: list[str] = []
        self.count = 0

    def lines(self) -> list[str]:
        for step in self.program.steps:
            self._step(step)
        taken = ", ".join(f"%{v.name}: {kind(v.shape, v.dtype)}" for v in self.program.inputs)
        result = kind(self.output.shape, self.output.dtype)
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

    def _step(self, step: Instruction) -> None:
        operands = [self.names[operand.number] for operand in step.operands]
        name = self._named(step)
        special = getattr(self, f"_{step.form}", None)
        if special is not None:
            special(name, operands, step)
        else:
            self._plain(name, operands, step)
        self.names[step.result.number] = name

    def _named(self, step: Instruction) -> str:
        wanted = "output" if step.result.number == self.output.number else step.result.name
        used = {*self.names.values()}
        names = (f"%{wanted}", *(f"%{wanted}_{number}" for number in range(2, 999)))
        return next(name for name in names if name not in used)

    def _plain(self, name: str, operands: list[str], step: Instruction) -> None:
        if step.form not in TEMPLATES:
            raise CannotTranslate("StableHLO's shapes must not depend on values")
        result = step.result
        if step.form in ELEMENTWISE:
            pairs = zip(operands, step.operands, strict=True)
            operands = [self._stretched(one, value, result.shape) for one, value in pairs]
        shape = result.shape
        facts = {key: self._fact(fact, shape) for key, fact in step.facts.items()}
        first = step.operands[0] if step.operands else result
        facts["zero"] = self._literal(Literal(0, first.dtype), shape) if "zero" in TEMPLATES[
            step.form
        ] else ""  # fmt: skip
        facts |= {"T": kind(shape, result.dtype), "B": kind(shape, "bool"),
                  "T0": kind(first.shape, first.dtype)}  # fmt: skip
        if step.form == "pad":
            row, axis, fill = step.facts["row"], step.facts["axis"], step.facts["fill"]
            assert isinstance(row, tuple)
            assert isinstance(fill, Literal)
            facts |= {"fill": self._literal(fill, row), "TR": kind(row, result.dtype),
                      "dim": str(axis)}  # fmt: skip
        if step.form == "crop":
            facts["bounds"] = ", ".join(f"0:{size}" for size in shape)
        text = TEMPLATES[step.form].format(*operands, r=name, **facts)
        self.body += text.split("\n")

    def _fact(self, fact: object, shape: Shape) -> str:
        if isinstance(fact, Literal):
            return self._literal(fact, shape)
        if isinstance(fact, PerSlot):
            return self._per_slot(fact, shape)
        return str(list(fact)) if isinstance(fact, tuple) else str(fact)

    def _literal(self, literal: Literal, shape: Shape) -> str:
        return self._constant(f"dense<{_number(literal)}> : {kind(shape, literal.dtype)}")

    def _constant(self, text: str) -> str:
        if text not in self.constants:
            name = self.constants[text] = f"%c{len(self.constants)}"
            self.body.append(f"{name} = stablehlo.constant {text}")
        return self.constants[text]

    def _per_slot(self, numbers: PerSlot, shape: Shape) -> str:
        own = (len(numbers.numbers),)
        name = self._constant(f"dense<{list(numbers.numbers)}> : {kind(own, numbers.dtype)}")
        value = Value(0, "", own, numbers.dtype)
        return self._broadcast(name, value, shape, (numbers.dim,))

    def _stretched(self, name: str, value: Value, shape: Shape) -> str:
        if value.shape == shape:
            return name
        first = len(shape) - len(value.shape)
        return self._broadcast(name, value, shape, tuple(range(first, len(shape))))

    def _broadcast(self, name: str, value: Value, shape: Shape, dims: Sequence[int]) -> str:
        self.count += 1
        made = f"%b{self.count}"
        self.body.append(
            f"{made} = stablehlo.broadcast_in_dim {name}, dims = {list(dims)} : "
            f"({kind(value.shape, value.dtype)}) -> {kind(shape, value.dtype)}"
        )
        return made

    # Forms that are more than a template.

    def _expand(self, name: str, operands: list[str], step: Instruction) -> None:
        (value,) = step.operands
        made = self._stretched(operands[0], value, step.result.shape)
        self.body[-1] = self.body[-1].replace(f"{made} =", f"{name} =", 1)

    def _full(self, name: str, _operands: list[str], step: Instruction) -> None:
        fill, result = step.facts["fill"], step.result
        assert isinstance(fill, Literal)
        text = f"dense<{_number(fill)}> : {kind(result.shape, result.dtype)}"
        self.body.append(f"{name} = stablehlo.constant {text}")

    def _iota(self, name: str, _operands: list[str], step: Instruction) -> None:
        positions, shape = step.facts["range"], step.result.shape
        assert isinstance(positions, range)
        if positions.start == 0 and positions.step == 1 and shape:
            dim = step.facts["dim"]
            self.body.append(f"{name} = stablehlo.iota dim = {dim} : {kind(shape, 'int64')}")
            return
        listed = f"dense<{list(positions)}> : {kind((len(positions),), 'int64')}"
        flat = self._constant(listed)
        source = kind((len(positions),), "int64")
        self.body.append(
            f"{name} = stablehlo.reshape {flat} : ({source}) -> {kind(shape, 'int64')}"
        )

    def _slot(self, name: str, operands: list[str], step: Instruction) -> None:
        (value,), dim, at = step.operands, step.facts["dim"], step.facts["at"]
        assert isinstance(at, int)
        bounds = [f"{at}:{at + 1}" if axis == dim else f"0:{size}"
                  for axis, size in enumerate(value.shape)]  # fmt: skip
        sizes = tuple(1 if axis == dim else size for axis, size in enumerate(value.shape))
        part = kind(sizes, value.dtype)
        self.body.append(f"{name}_part = stablehlo.slice {operands[0]} [{', '.join(bounds)}] : "
                         f"({kind(value.shape, value.dtype)}) -> {part}")  # fmt: skip
        result = kind(step.result.shape, value.dtype)
        self.body.append(f"{name} = stablehlo.reshape {name}_part : ({part}) -> {result}")

    def _stack(self, name: str, operands: list[str], step: Instruction) -> None:
        dim, result = step.facts["dim"], step.result
        assert isinstance(dim, int)
        sizes = tuple(1 if axis == dim else size for axis, size in enumerate(result.shape))
        part, parts = kind(sizes, result.dtype), []
        for number, (operand, value) in enumerate(zip(operands, step.operands, strict=True)):
            parts.append(f"{name}_{number}")
            self.body.append(f"{parts[-1]} = stablehlo.reshape {operand} : "
                             f"({kind(value.shape, value.dtype)}) -> {part}")  # fmt: skip
        kinds = ", ".join([part] * len(parts))
        self.body.append(f"{name} = stablehlo.concatenate {', '.join(parts)}, dim = {dim} : "
                         f"({kinds}) -> {kind(result.shape, result.dtype)}")  # fmt: skip

    def _windows(self, name: str, operands: list[str], step: Instruction) -> None:
        self.body += windows_text(name, operands, step)

    _direct = _cells = _put_direct = _put_cells = _windows


def _number(literal: Literal) -> str:
    """A number between dense< and >; what is not finite as its bits."""
    value, dtype = literal.value, literal.dtype
    if isinstance(value, complex) or dtype.startswith("complex"):
        plain = complex(value)
        return f"({_real(plain.real, dtype)}, {_real(plain.imag, dtype)})"
    if dtype == "bool":
        return str(bool(value)).lower()
    if dtype.startswith(("float", "bfloat")):
        return _real(float(value), dtype)
    return str(int(value))


def _real(value: float, dtype: str) -> str:
    if isfinite(value):
        text = repr(float(value))
        return text if "." in text or "e" not in text else text.replace("e", ".0e")
    part = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    bits = np.array(value).astype(dtype_named(part))
    return f"0x{bits.view(f'u{bits.itemsize}').item():0{2 * bits.itemsize}X}"
