"""From steps to lines: names for values, numbers and shapes as a language writes them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf, isnan

from gscli.codegen.languages import Language
from gscli.codegen.steps import Instruction, Literal, PerSlot, SnippetProgram, Value

KINDS = {
    name: f"ov.Type.{short}"
    for name, short in {
        "bool": "boolean", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
        "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "float16": "f16",
        "float32": "f32", "float64": "f64",
    }.items()
}  # fmt: skip
"""Element types as OpenVINO's nodes name them."""


def lines_of(program: SnippetProgram, output: Value, language: Language) -> list[str]:
    """The lines of a program in Python; the last one makes `output`."""
    return _Writer(program, output, language).lines()


class _Writer:
    def __init__(self, program: SnippetProgram, output: Value, language: Language) -> None:
        self.program, self.output, self.language = program, output, language
        self.last: dict[int, int] = {output.number: len(program.steps)}
        for number, step in enumerate(program.steps):
            for operand in step.operands:
                self.last[operand.number] = max(self.last.get(operand.number, 0), number)
        self.names = {value.number: value.name for value in program.inputs}
        self.bound = {value.name: value.number for value in program.inputs}

    def lines(self) -> list[str]:
        found: list[str] = []
        for number, step in enumerate(self.program.steps):
            found += self._step(number, step)
        name = self.names[self.output.number]
        return found if name == "output" else [*found, f"output = {name}"]

    def _step(self, number: int, step: Instruction) -> list[str]:
        template = self._template(step)
        statement = template.startswith("{r} =")
        named = self._named(number, step, template, statement=statement)
        facts = self._facts(number, step, named)
        text = template.format(*[self.names[one.number] for one in step.operands], **facts)
        self.names[step.result.number] = named
        self.bound[named] = step.result.number
        lines = text.split("\n") if statement else [f"{named} = {text}"]
        return [line for line in lines if line != f"{named} = {named}"]

    def _template(self, step: Instruction) -> str:
        templates = self.language.templates
        op = step.facts.get("op")
        each = any(isinstance(fact, PerSlot) for fact in step.facts.values())
        for key in (f"{step.form} each" if each else f"{step.form} {op}", step.form):
            if key in templates:
                return templates[key]
        raise KeyError(f"no template for {step.form} {op}")

    def _named(self, number: int, step: Instruction, template: str, *, statement: bool) -> str:
        """The wanted name, unless it stands for a value that is still read."""
        wanted = "output" if step.result.number == self.output.number else step.result.name
        others = step.operands if statement else ()
        if template.startswith("{r} = {start}"):
            others = step.operands[1:]
        for name in (wanted, *(f"{wanted}_{count}" for count in range(2, 99))):
            holder = self.bound.get(name)
            free = holder is None or self.last.get(holder, -1) <= number
            if free and holder not in [other.number for other in others]:
                return name
        raise AssertionError(wanted)

    def _facts(self, number: int, step: Instruction, named: str) -> dict[str, str]:
        facts = {key: self.written(value) for key, value in step.facts.items()}
        names = [self.names[operand.number] for operand in step.operands]
        facts["r"], facts["all"] = named, ", ".join(names)
        facts["cells"] = ", ".join(names[2:] if step.form.startswith("put") else names[1:])
        facts["rest"] = facts["cells"]
        facts["dtype"] = self.language.dtype(step.result.dtype)
        text = step.result.dtype == "str"
        facts["finish"] = f"\n{named} = {named}.astype(str)" * text
        facts.setdefault("shape", shape(step.result.shape))
        if step.operands:
            first = step.operands[0]
            kept = first.number < 0 or self.last[first.number] > number
            copy = ".astype(object)" if text else self.language.copy
            facts["start"] = names[0] + copy * (kept or text or first.shape == ())
            facts["rank"] = str(len(first.shape))
            facts["zero"] = self.written(Literal(0, first.dtype))
        facts["kind"] = KINDS.get(step.result.dtype, "")
        facts.update(self._of_put(step))
        return facts

    def _of_put(self, step: Instruction) -> dict[str, str]:
        facts: dict[str, str] = {}
        axis = step.facts.get("axis")
        if isinstance(axis, int):
            facts["slices"] = ":, " * axis
        op = step.facts.get("op")
        if isinstance(op, str):
            asked = "mean" if step.facts.get("mean") else op
            facts["word"] = self.language.words.get(asked, asked)
            start = "" if step.facts.get("include_self", True) else ", use_init_val=False"
            facts["reduction"] = f', reduction="{facts["word"]}"{start}' * (asked != "none")
            facts["leave_out"] = (
                "" if step.facts.get("include_self", True) else ", include_self=False"
            )
        batch = step.facts.get("batch")
        facts["batched"] = f", batch_dims={batch}" if batch else ""
        if step.form == "slot":
            dim, at = step.facts["dim"], step.facts["at"]
            last = dim == len(step.operands[0].shape) - 1
            assert isinstance(dim, int)
            facts["place"] = f"..., {at}" if last and dim else ":, " * dim + str(at)
        if step.form == "crop":
            pairs = zip(step.result.shape, step.operands[0].shape, strict=True)
            slices = [":" if size == whole else f":{size}" for size, whole in pairs]
            while len(slices) > 1 and slices[-1] == ":":
                slices.pop()
            facts["slices"] = ", ".join(slices)
        positions = step.facts.get("range")
        if isinstance(positions, range):
            bounds = (positions.start, positions.stop, positions.step)
            plain = positions.start == 0 and positions.step == 1
            facts["range"] = str(positions.stop) if plain else ", ".join(map(str, bounds))
        return facts

    def written(self, fact: object) -> str:
        """A fact in Python's spelling."""
        if isinstance(fact, Literal):
            typed = self.language.typed_numbers
            return f"{self.language.dtype(fact.dtype)}({number(fact)})" if typed else number(fact)
        if isinstance(fact, PerSlot):
            return self.language.numbers.format(list=nested(fact))
        if isinstance(fact, tuple) and all(type(one) is int for one in fact):
            return shape(fact)
        return str(fact)


def number(literal: Literal) -> str:
    """A number as Python and NumPy write it.

    >>> number(Literal(float("-inf"), "float32")), number(Literal(3, "int64"))
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


def shape(sizes: Sequence[int]) -> str:
    """A shape as Python writes it.

    >>> shape((3,)), shape(())
    ('(3,)', '()')
    """
    return str(tuple(sizes))


def nested(numbers: PerSlot) -> str:
    """Numbers for each slot as a nested list that stretches over index vectors.

    >>> nested(PerSlot((3, 4), 0, 2, "int64"))
    '[[3], [4]]'
    """
    behind = numbers.rank - numbers.dim - 1
    return "[" + ", ".join("[" * behind + str(one) + "]" * behind for one in numbers.numbers) + "]"
