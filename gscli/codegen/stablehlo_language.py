"""How StableHLO writes a call: the text of a module, which any of its tools reads."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from gscli.base.arrays import parse_dtype
from gscli.base.words import real_part
from gscli.codegen.render import PYTHON_FIELDS, Fields, SnippetWriter, load_language, part_shape
from gscli.codegen.steps import CannotTranslate, Constant, Instruction, Value, VectorConstant
from gscli.layout.axes import Shape
from gscli.layout.families import SCATTER_NAMES, DimensionNumbers

# Forms whose operands stretch together, which StableHLO wants written.
ELEMENTWISE = ("both", "plus", "where", "replaced")


def tensor_type(shape: Shape, dtype: str) -> str:
    """A tensor's type.

    >>> tensor_type((2, 3), "float32")
    'tensor<2x3xf32>'
    """
    return f"tensor<{''.join(f'{size}x' for size in shape)}{_type_name(dtype)}>"


def _type_name(dtype: str) -> str:
    return load_language("stablehlo").short_dtype(dtype, "ui")


def _operand_type(step: Instruction, at: int = 0) -> str:
    return tensor_type(step.operands[at].shape, step.operands[at].dtype)


def write_module_run(
    module: Sequence[str], names: str, dtypes: Sequence[str], dtype: str, shape: Shape
) -> list[str]:
    """A module's text, and its run on arrays of these names and types; `dtype`: of its output."""
    kinds = ", ".join(f'"{_type_name(name)}"' for name in dtypes)
    is_real = dtype.startswith(("float", "bfloat"))
    dense = "DenseFPElementsAttr" if is_real else "DenseIntElementsAttr"
    kind = "ml_dtypes.bfloat16" if dtype == "bfloat16" else f"np.{dtype}"
    array = "array"
    if {"float16", "bfloat16"} & {*dtypes}:
        array += ".view(np.uint16) if array.itemsize == 2 and array.dtype.kind in 'fV' else array"
    array, facts = f'np.array({array}, order="C")', "type=ir.Type.parse(kind), shape=array.shape"
    text = ["module = '''", *module, "'''"]
    if any(name.startswith("complex") for name in (*dtypes, dtype)):
        return [*text, "# jaxlib's interpreter hands over no complex numbers"]
    return [
        *text,
        "with mlir.make_ir_context():",
        "    arguments = [",
        f"        ir.DenseElementsAttr.get({array}, {facts})",
        f"        for array, kind in zip([{names}], [{kinds}])",
        "    ]",
        "    (found,) = stablehlo.eval_module(ir.Module.parse(module), arguments)",
        f"    output = np.array(list(ir.{dense}(found)), {kind}).reshape({shape})",
    ]


FIELDS: Fields = {
    **PYTHON_FIELDS,
    "B": lambda _, s: tensor_type(s.result.shape, "bool"),
    "T": lambda _, s: tensor_type(s.result.shape, s.result.dtype),
    "T0": lambda _, s: _operand_type(s),
    "T1": lambda _, s: _operand_type(s, 1),
    "T2": lambda _, s: _operand_type(s, 2),
    "TE": lambda _, s: tensor_type((), s.result.dtype),
    "TF": lambda _, s: tensor_type((max(s.result.shape, default=1),), s.result.dtype),
    "TP": lambda _, s: tensor_type(part_shape(s), s.result.dtype),
    "TR": lambda _, s: tensor_type(s.attributes["row"], s.result.dtype),
    "TS": lambda _, s: ", ".join([tensor_type(part_shape(s), s.result.dtype)] * len(s.operands)),
    "bounds": lambda _, s: _format_bounds(s),
    "dims": lambda _, s: str(_trailing_dims(s.operands[0].shape, s.result.shape)),
    "number": lambda _, s: _format_number(s.attributes["fill"]),
    "numbers": lambda _, s: ", ".join(
        f"{name} = {list(value) if isinstance(value, tuple) else value}"
        for name, value in _dimension_numbers(s).attributes.items()
    ),
    "positions": lambda w, s: w.name_positions(s.attributes["range"]),
    "window": lambda _, s: ", ".join(map(str, _window_sizes(s))),
}


class StablehloWriter(SnippetWriter):
    """A module as text, run by the reference interpreter that jaxlib carries."""

    fields = FIELDS
    reuses_names = False
    prefix = "%"

    def frame(self) -> list[str]:
        """The module around its steps, and its run."""
        inputs, output = self.program.inputs, self.output
        names = ", ".join(value.name for value in inputs)
        dtypes = [value.dtype for value in inputs]
        return write_module_run(self._format_module(), names, dtypes, output.dtype, output.shape)

    def _format_module(self) -> list[str]:
        inputs = self.program.inputs
        types = (f"%{value.name}: {tensor_type(value.shape, value.dtype)}" for value in inputs)
        parameters = ", ".join(types)
        name, shape, dtype = self.names[self.output.number], self.output.shape, self.output.dtype
        result = wide = tensor_type(shape, dtype)
        if dtype in ("float16", "bfloat16"):
            # Halves leave as float32, which holds each of them: their bits are not read in Python.
            wide = tensor_type(shape, "float32")
            self.body.append(f"%wide = stablehlo.convert {name} : ({result}) -> {wide}")
            name = "%wide"
        return [
            f"func.func public @main({parameters}) -> {wide} {{",
            *(f"  {line}" for line in self.body),
            f"  return {name} : {wide}",
            "}",
        ]

    def name_operands(self, step: Instruction) -> list[str]:
        """The names of what a step reads, of its own shape where StableHLO wants that."""
        if step.opcode == "nonzero":
            raise CannotTranslate("StableHLO's shapes must not depend on values")
        names = super().name_operands(step)
        if step.opcode not in ELEMENTWISE:
            return names
        shape = step.result.shape
        return [
            name
            if value.shape == shape
            else self._broadcast(name, value, shape, _trailing_dims(value.shape, shape))
            for name, value in zip(names, step.operands, strict=True)
        ]

    def format_field(self, key: str, step: Instruction) -> str:
        """Numbers as names of constants that have the shape of the result."""
        fact = Constant(0, step.operands[0].dtype) if key == "zero" else step.attributes.get(key)
        shape = step.result.shape
        if isinstance(fact, Constant):
            shape = step.attributes.get("row", shape)
            return self.name_dense(_format_number(fact), shape, fact.dtype)
        if isinstance(fact, VectorConstant):
            own = Value(0, "", (len(fact.numbers),), fact.dtype)
            name = self.name_dense([*fact.numbers], own.shape, own.dtype)
            return self._broadcast(name, own, shape, [fact.dim])
        return super().format_field(key, step)

    def format_fact(self, fact: object) -> str:
        """A list of dimensions, or anything else as it is."""
        return str(list(fact) if isinstance(fact, tuple) else fact)

    def name_dense(self, numbers: object, shape: Shape, dtype: str) -> str:
        """The name of a tensor of constant numbers."""
        kind = tensor_type(shape, dtype)
        return self.name_constant(f"stablehlo.constant dense<{numbers}> : {kind}")

    def name_positions(self, positions: range) -> str:
        """The name of a constant with some positions."""
        return self.name_dense([*positions], (len(positions),), "int64")

    def _broadcast(self, name: str, value: Value, shape: Shape, dims: Sequence[int]) -> str:
        stretched = f"%b{1 + sum(' = stablehlo.broadcast_in_dim ' in line for line in self.body)}"
        self.body.append(
            f"{stretched} = stablehlo.broadcast_in_dim {name}, dims = {list(dims)} : "
            f"({tensor_type(value.shape, value.dtype)}) -> {tensor_type(shape, value.dtype)}"
        )
        return stretched


def _trailing_dims(shape: Shape, whole: Shape) -> list[int]:
    """The last axes of a shape, as many as another has."""
    return list(range(len(whole) - len(shape), len(whole)))


def _format_bounds(step: Instruction) -> str:
    """What a slot or a crop keeps of each axis."""
    if step.opcode == "crop":
        return ", ".join(f"0:{size}" for size in step.result.shape)
    dim, at = step.attributes["dim"], step.attributes["at"]
    sizes = enumerate(step.operands[0].shape)
    return ", ".join(f"{at}:{at + 1}" if axis == dim else f"0:{size}" for axis, size in sizes)


def _dimension_numbers(step: Instruction) -> DimensionNumbers:
    """Those of the step, or: index vectors on the last axis for the first axes of data."""
    numbers, is_put = step.attributes.get("numbers"), step.opcode.startswith("put")
    if not isinstance(numbers, DimensionNumbers):
        *grid, count = step.operands[-1].shape
        result = step.operands[1] if is_put else step.result
        columns, offset = tuple(range(count)), tuple(range(len(grid), len(result.shape)))
        numbers = DimensionNumbers(offset, columns, (), (), columns, len(grid))
    return numbers._replace(names=SCATTER_NAMES) if is_put else numbers


def _window_sizes(step: Instruction) -> Shape:
    """Those of the step, or whole slices behind the axes that index vectors name."""
    if "sizes" in step.attributes:
        return tuple(step.attributes["sizes"])
    count = step.operands[-1].shape[-1]
    return (*(1,) * count, *step.operands[0].shape[count:])


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
    bits = np.array(value).astype(parse_dtype(real_part(dtype)))
    return f"0x{bits.view(f'u{bits.itemsize}').item():0{2 * bits.itemsize}X}"
