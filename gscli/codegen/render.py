"""From steps to lines: names for values, numbers and shapes as a language writes them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf, isnan

from gscli.codegen.languages import Language
from gscli.codegen.steps import Constant, Instruction, SnippetProgram, Value, VectorConstant

OPENVINO_TYPES = {
    name: f"ov.Type.{short}"
    for name, short in {
        "bool": "boolean", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
        "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "float16": "f16",
        "float32": "f32", "float64": "f64",
    }.items()
}  # fmt: skip
"""Element types as OpenVINO's nodes name them."""


def write_python(program: SnippetProgram, output: Value, language: Language) -> list[str]:
    """The lines of a program in Python; the last one makes `output`."""
    return _PythonWriter(program, output, language).write()


class _PythonWriter:
    def __init__(self, program: SnippetProgram, output: Value, language: Language) -> None:
        self.program, self.output, self.language = program, output, language
        self.last_use: dict[int, int] = {output.number: len(program.steps)}
        for number, step in enumerate(program.steps):
            for operand in step.operands:
                self.last_use[operand.number] = max(self.last_use.get(operand.number, 0), number)
        self.names = {value.number: value.name for value in program.inputs}
        self.value_by_name = {value.name: value.number for value in program.inputs}

    def write(self) -> list[str]:
        found: list[str] = []
        for number, step in enumerate(self.program.steps):
            found += self._write_instruction(number, step)
        name = self.names[self.output.number]
        return found if name == "output" else [*found, f"output = {name}"]

    def _write_instruction(self, number: int, step: Instruction) -> list[str]:
        template = self._find_template(step)
        statement = template.startswith("{r} =")
        named = self._choose_name(number, step, template, statement=statement)
        facts = self._template_fields(number, step, named)
        text = template.format(*[self.names[one.number] for one in step.operands], **facts)
        self.names[step.result.number] = named
        self.value_by_name[named] = step.result.number
        lines = text.split("\n") if statement else [f"{named} = {text}"]
        return [line for line in lines if line != f"{named} = {named}"]

    def _find_template(self, step: Instruction) -> str:
        templates = self.language.templates
        op = step.attributes.get("op")
        each = any(isinstance(fact, VectorConstant) for fact in step.attributes.values())
        for key in (f"{step.opcode} each" if each else f"{step.opcode} {op}", step.opcode):
            if key in templates:
                return templates[key]
        raise KeyError(f"no template for {step.opcode} {op}")

    def _choose_name(
        self, number: int, step: Instruction, template: str, *, statement: bool
    ) -> str:
        """The wanted name, unless it stands for a value that is still read."""
        wanted = "output" if step.result.number == self.output.number else step.result.name
        others = step.operands if statement else ()
        if template.startswith("{r} = {start}"):
            others = step.operands[1:]
        for name in (wanted, *(f"{wanted}_{count}" for count in range(2, 99))):
            holder = self.value_by_name.get(name)
            free = holder is None or self.last_use.get(holder, -1) <= number
            if free and holder not in [other.number for other in others]:
                return name
        raise AssertionError(wanted)

    def _template_fields(self, number: int, step: Instruction, named: str) -> dict[str, str]:
        facts = {key: self.format_attribute(value) for key, value in step.attributes.items()}
        names = [self.names[operand.number] for operand in step.operands]
        facts["r"], facts["all"] = named, ", ".join(names)
        facts["cells"] = ", ".join(names[2:] if step.opcode.startswith("put") else names[1:])
        facts["rest"] = facts["cells"]
        facts["dtype"] = self.language.dtype(step.result.dtype)
        text = step.result.dtype == "str"
        facts["finish"] = f"\n{named} = {named}.astype(str)" * text
        facts.setdefault("shape", format_tuple(step.result.shape))
        if step.operands:
            first = step.operands[0]
            kept = first.number < 0 or self.last_use[first.number] > number
            copy = ".astype(object)" if text else self.language.copy
            facts["start"] = names[0] + copy * (kept or text or first.shape == ())
            facts["rank"] = str(len(first.shape))
            facts["zero"] = self.format_attribute(Constant(0, first.dtype))
        facts["kind"] = OPENVINO_TYPES.get(step.result.dtype, "")
        facts.update(self._scatter_fields(step))
        return facts

    def _scatter_fields(self, step: Instruction) -> dict[str, str]:
        facts: dict[str, str] = {}
        axis = step.attributes.get("axis")
        if isinstance(axis, int):
            facts["slices"] = ":, " * axis
        op = step.attributes.get("op")
        if isinstance(op, str):
            asked = "mean" if step.attributes.get("mean") else op
            facts["word"] = self.language.words.get(asked, asked)
            start = "" if step.attributes.get("include_self", True) else ", use_init_val=False"
            facts["reduction"] = f', reduction="{facts["word"]}"{start}' * (asked != "none")
            facts["leave_out"] = (
                "" if step.attributes.get("include_self", True) else ", include_self=False"
            )
        batch = step.attributes.get("batch")
        facts["batched"] = f", batch_dims={batch}" if batch else ""
        if step.opcode == "slot":
            dim, at = step.attributes["dim"], step.attributes["at"]
            last = dim == len(step.operands[0].shape) - 1
            assert isinstance(dim, int)
            facts["place"] = f"..., {at}" if last and dim else ":, " * dim + str(at)
        if step.opcode == "crop":
            pairs = zip(step.result.shape, step.operands[0].shape, strict=True)
            slices = [":" if size == whole else f":{size}" for size, whole in pairs]
            while len(slices) > 1 and slices[-1] == ":":
                slices.pop()
            facts["slices"] = ", ".join(slices)
        positions = step.attributes.get("range")
        if isinstance(positions, range):
            bounds = (positions.start, positions.stop, positions.step)
            plain = positions.start == 0 and positions.step == 1
            facts["range"] = str(positions.stop) if plain else ", ".join(map(str, bounds))
        return facts

    def format_attribute(self, fact: object) -> str:
        """A fact in Python's spelling."""
        if isinstance(fact, Constant):
            typed = self.language.typed_numbers
            return (
                f"{self.language.dtype(fact.dtype)}({format_number(fact)})"
                if typed
                else format_number(fact)
            )
        if isinstance(fact, VectorConstant):
            return self.language.numbers.format(list=format_vector_constant(fact))
        if isinstance(fact, tuple) and all(type(one) is int for one in fact):
            return format_tuple(fact)
        return str(fact)


def format_number(literal: Constant) -> str:
    """A number as Python and NumPy write it.

    >>> format_number(Constant(float("-inf"), "float32")), format_number(Constant(3, "int64"))
    ('-np.inf', '3')
    """
    value = bool(literal.value) if literal.dtype == "bool" else literal.value
    if isinstance(value, float) and isnan(value):
        return "np.nan"
    if isinstance(value, float) and isinf(value):
        return "np.inf" if value > 0 else "-np.inf"
    if isinstance(value, complex) and (value != value or isinf(abs(value))):  # noqa: PLR0124
        return f"complex({value.real!r}, {value.imag!r})".replace("nan", "np.nan")
    return repr(value)


def format_tuple(sizes: Sequence[int]) -> str:
    """A shape as Python writes it.

    >>> format_tuple((3,)), format_tuple(())
    ('(3,)', '()')
    """
    return str(tuple(sizes))


def format_vector_constant(numbers: VectorConstant) -> str:
    """Numbers for each slot as a nested list that stretches over index vectors.

    >>> format_vector_constant(VectorConstant((3, 4), 0, 2, "int64"))
    '[[3], [4]]'
    """
    behind = numbers.rank - numbers.dim - 1
    return "[" + ", ".join("[" * behind + str(one) + "]" * behind for one in numbers.numbers) + "]"
