"""How ONNX writes each step: the text of a model, which `onnx.parser` reads."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf, isnan

from gscli.codegen.steps import (
    CannotTranslate,
    Constant,
    Instruction,
    SnippetProgram,
    Value,
    VectorConstant,
)
from gscli.files.formats.tensorproto import TYPES

OPSET = 18

ONNX_TYPE_CODES = {name: code for code, (name, _) in TYPES.items()}
"""Element types as ONNX numbers them."""

ONNX_TYPE_NAMES = {"float32": "float", "float64": "double", "str": "string"}
"""Element types whose name in ONNX is another."""

TEMPLATES = {
    "cast": "{r} = Cast <to = {code}> ({0})",
    "floor": "{r} = Floor ({0})",
    "wrap": "{r}_below = Less ({0}, {zero})\n{r}_moved = Add ({0}, {sizes})\n"
            "{r} = Where ({r}_below, {r}_moved, {0})",
    "mod": "{r} = Mod ({0}, {sizes})",
    "clip": "{r}_low = Max ({0}, {zero})\n{r} = Min ({r}_low, {high})",
    "inside": "{r}_low = GreaterOrEqual ({0}, {zero})\n{r}_high = LessOrEqual ({0}, {high})\n"
              "{r} = And ({r}_low, {r}_high)",
    "both": "{r} = And ({0}, {1})",
    "plus": "{r} = Add ({0}, {1})",
    "times": "{r} = Mul ({0}, {factor})",
    "slot": "{r} = Gather <axis = {plain_dim}> ({0}, {at})",
    "crop": "{r} = Slice ({0}, {starts}, {shape})",
    "reshape": "{r} = Reshape ({0}, {shape})",
    "divide": "{r} = Div ({0}, {1})",
    "floor_divide": "{r}_rest = Mod ({0}, {1})\n{r}_whole = Sub ({0}, {r}_rest)\n"
                    "{r} = Div ({r}_whole, {1})",
    "power": "{r} = Pow ({0}, {1})",
    "sqrt": "{r} = Sqrt ({0})",
    "negative": "{r} = Sub ({zero}, {0})",
    "transpose": "{r} = Transpose <perm = {listed}> ({0})",
    "expand": "{r} = Expand ({0}, {shape})",
    "iota": "{r}_flat = Range ({start}, {stop}, {step})\n{r} = Reshape ({r}_flat, {shape})",
    "pad": "{r}_row = Expand ({fill}, {row})\n{r} = Concat <axis = {plain_axis}> ({0}, {r}_row)",
    "where": "{r} = Where ({0}, {1}, {2})",
    "where_number": "{r} = Where ({0}, {1}, {fill})",
    "replaced": "{r} = Where ({1}, {fill}, {0})",
    "is_nan": "{r} = IsNaN ({0})",
    "nonzero": "{r}_all = NonZero ({0})\n{r} = Gather <axis = 0> ({r}_all, {axis})",
    "full": "{r} = Expand ({fill}, {shape})",
    "take": "{r} = Gather <axis = {plain_axis}> ({0}, {1})",
    "along": "{r} = GatherElements <axis = {plain_axis}> ({0}, {1})",
    "vectors": "{r} = GatherND <batch_dims = {plain_batch}> ({0}, {1})",
    "cells": "{r} = GatherND ({0}, {1})",
    "put_along": "{r} = ScatterElements <axis = {plain_axis}{reduction}> ({0}, {2}, {1})",
    "put_vectors": "{r} = ScatterND{reduced} ({0}, {2}, {1})",
    "put_cells": "{r} = ScatterND{reduced} ({0}, {2}, {1})",
}  # fmt: skip


def write_onnx(program: SnippetProgram, output: Value) -> list[str]:
    """A model as text, read and run."""
    text = _OnnxWriter(program, output).write()
    feeds = ", ".join(f'"{value.name}": {value.name}' for value in program.inputs)
    return [
        "model = onnx.parser.parse_model('''",
        *text,
        "''')",
        "session = onnxruntime.InferenceSession(model.SerializeToString())",
        f"output = session.run(None, {{{feeds}}})[0]",
    ]


class _OnnxWriter:
    def __init__(self, program: SnippetProgram, output: Value) -> None:
        self.program, self.output = program, output
        self.names = {value.number: value.name for value in program.inputs}
        self.constants: dict[str, str] = {}
        self.body: list[str] = []

    def write(self) -> list[str]:
        for step in self.program.steps:
            self._write_instruction(step)
        if self.output.number < 0:
            self.body.append(f"output = Identity ({self.names[self.output.number]})")
        taken = ", ".join(map(_format_value_info, self.program.inputs))
        result = _format_value_info(self.output._replace(name="output"))
        return [
            f'<ir_version: 10, opset_import: ["" : {OPSET}]>',
            f"call ({taken}) => ({result}) {{",
            *(f"  {line}" for line in self.body),
            "}",
        ]

    def _write_instruction(self, step: Instruction) -> None:
        name = self._unique_name(step)
        operands = [self.names[operand.number] for operand in step.operands]
        self.names[step.result.number] = name
        if step.opcode == "stack":
            self._write_stack(name, operands, step)
            return
        template = TEMPLATES[step.opcode]
        wanted = {key: self._format_attribute(key, step) for key in _template_fields(template)}
        self.body += template.format(*operands, r=name, **wanted).split("\n")

    def _unique_name(self, step: Instruction) -> str:
        if step.result.number == self.output.number:
            return "output"
        used = {*self.names.values(), "output"}
        names = (step.result.name, *(f"{step.result.name}_{n}" for n in range(2, 999)))
        return next(name for name in names if name not in used)

    def _write_stack(self, name: str, operands: Sequence[str], step: Instruction) -> None:
        dim = step.attributes["dim"]
        axes = self._constant("int64", (1,), [dim])
        parts = []
        for number, operand in enumerate(operands):
            parts.append(f"{name}_{number}")
            self.body.append(f"{name}_{number} = Unsqueeze ({operand}, {axes})")
        self.body.append(f"{name} = Concat <axis = {dim}> ({', '.join(parts)})")

    def _format_attribute(self, key: str, step: Instruction) -> str:
        """What a template asks for: plain text for an attribute, a constant's name for an input."""
        facts, op = step.attributes, step.attributes.get("op")
        if key.startswith("plain_"):
            return str(facts[key.removeprefix("plain_")])
        if key in ("start", "stop", "step"):
            return self._write_typed_constant(Constant(getattr(facts["range"], key), "int64"))
        made = {
            "zero": lambda: self._write_typed_constant(Constant(0, step.operands[0].dtype)),
            "code": lambda: str(ONNX_TYPE_CODES[step.result.dtype]),
            "listed": lambda: str(list(facts["perm"])),  # type: ignore[call-overload]
            "starts": lambda: self._write_shape_constant((0,) * len(step.result.shape)),
            "reduction": lambda: "" if op == "none" else f', reduction = "{op}"',
            "reduced": lambda: "" if op == "none" else f' <reduction = "{op}">',
        }
        return made[key]() if key in made else self._constant_operand(facts[key])

    def _constant_operand(self, fact: object) -> str:
        """A fact that ONNX takes as a tensor."""
        if isinstance(fact, Constant):
            return self._write_typed_constant(fact)
        if isinstance(fact, VectorConstant):
            sizes = (len(fact.numbers), *(1,) * (fact.rank - fact.dim - 1))
            return self._constant(fact.dtype, sizes, fact.numbers)
        if isinstance(fact, tuple):
            return self._write_shape_constant(fact)
        return self._write_typed_constant(Constant(int(str(fact)), "int64"))

    def _write_shape_constant(self, sizes: Sequence[int]) -> str:
        return self._constant("int64", (len(sizes),), sizes)

    def _write_typed_constant(self, literal: Constant) -> str:
        return self._constant(literal.dtype, (), [literal.value])

    def _constant(self, dtype: str, sizes: Sequence[int], values: Sequence[object]) -> str:
        """The name of a constant; the same one is made once."""
        written, cast = dtype, False
        if dtype in ("float16", "bfloat16"):
            written, cast = "float32", True
        if dtype.startswith("complex"):
            raise CannotTranslate("ONNX's text has no complex numbers to write")
        kind = ONNX_TYPE_NAMES.get(written, written)
        dims = f"[{', '.join(map(str, sizes))}]" if sizes else ""
        text = f"Constant <value = {kind}{dims} {{{', '.join(map(_format_number, values))}}}> ()"
        key = f"{text} {dtype}"
        if key not in self.constants:
            name = self.constants[key] = f"c{len(self.constants)}"
            self.body.append(f"{name}_wide = {text}" if cast else f"{name} = {text}")
            if cast:
                self.body.append(f"{name} = Cast <to = {ONNX_TYPE_CODES[dtype]}> ({name}_wide)")
        return self.constants[key]


def _format_number(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return "nan" if isnan(value) else ("-inf" if value < 0 else "inf") if isinf(value) else (
            repr(value)
        )  # fmt: skip
    return f'"{value}"' if isinstance(value, str) else str(value)


def _format_value_info(value: Value) -> str:
    kind = ONNX_TYPE_NAMES.get(value.dtype, value.dtype)
    sizes = ",".join(map(str, value.shape))
    return f"{kind}[{sizes}] {value.name}" if value.shape else f"{kind} {value.name}"


def _template_fields(template: str) -> list[str]:
    """The names that a template asks for, but operands and its result."""
    from string import Formatter

    found = {field for _, field, _, _ in Formatter().parse(template) if field}
    return sorted(name for name in found if not name.isdigit() and name != "r")
