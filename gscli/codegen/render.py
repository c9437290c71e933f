"""From steps to lines: one writer, which fills the templates of a target's language.

How each target writes steps stands in `languages.toml`, read when it is asked for.

A template asks for fields; `FIELDS` says how those are written that are not simply an attribute of
the step. Targets with a text of their own put fields and constants of theirs beside them.
"""

from __future__ import annotations

import tomllib
from cmath import isfinite
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from math import isinf, isnan
from pathlib import Path
from string import Formatter
from typing import Any, TypeAlias

from gscli.base.records import Record
from gscli.base.words import NARROW_FLOATS, NARROW_INTEGERS
from gscli.codegen.steps import Constant, Instruction, SnippetProgram, Value, VectorConstant
from gscli.layout.axes import Shape


class Language(Record):
    """How a target writes steps: a template for each form, or for a form and its reduction.

    A template of one line is an expression, or statements where it names its result, `{r}`.
    `words` are the target's names of the reductions; `element` writes an element type, but those
    in `elements`, and `numbers` a nested list as an array. `types` are names of element types that
    the target has in a text of its own.
    """

    templates: Mapping[str, str]
    element: str
    elements: Mapping[str, str]
    words: Mapping[str, str] = {}
    types: Mapping[str, str] = {}
    numbers: str = "{list}"
    copy: str = ".copy()"
    leave_out: str = ""
    module: str = ""
    loaded: str = "{name}"
    literal: str = "np.array({list}, {dtype})"
    shaped: str = "{literal}.reshape({shape})"
    halves: str = ".view({dtype})"
    loaded_halves: str = "{name}"
    imports: tuple[str, ...] = ()
    typed_numbers: bool = False

    def dtype(self, name: str) -> str:
        """An element type.

        >>> load_language("jax").dtype("int8"), load_language("tensorflow").dtype("str")
        ('jnp.int8', 'tf.string')
        """
        return self.elements.get(name) or self.element.format(name=name)

    def format_load(self, name: str, array: str, dtype: str) -> str:
        """The line that makes an input of an array of NumPy."""
        loaded = self.loaded_halves if dtype == "bfloat16" else self.loaded
        return f"{name} = {loaded.format(name=array)}"

    def short_dtype(self, name: str, unsigned: str = "u") -> str:
        """An element type by its first letter.

        >>> [load_language("openvino").short_dtype(name) for name in ("bfloat16", "uint8")]
        ['bf16', 'u8']
        """
        text = self.types.get(name) or name.replace("uint", unsigned)
        return text.replace("int", "i").replace("float", "f")


@cache
def _load_tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))


@cache
def load_language(target: str) -> Language:
    """The language of a target; ONNX and StableHLO load their inputs as NumPy does."""
    tables = _load_tables()
    facts = {**tables[tables[target].get("like", target)], **tables[target]}
    facts.pop("like", None)
    own = facts.pop("templates")
    small = str(facts.pop("small", facts["element"]))
    elements = {name: small.format(name=name) for name in (*NARROW_FLOATS, *NARROW_INTEGERS)}
    facts["elements"] = elements | facts.get("elements", {})
    templates = [tables[name] for name in facts.pop("inherits", ())]
    texts = {key: text for table in (*templates, own) for key, text in table.items()}
    return Language(texts, **facts)


# How fields of templates are written, from the writer (w) and the step (s).
Fields: TypeAlias = Mapping[str, Callable[[Any, Instruction], str]]

PYTHON_FIELDS: Fields = {
    "all": lambda w, s: ", ".join(w.name_operands(s)),
    "batched": lambda _, s: f", batch_dims={s.attributes['batch']}" * bool(s.attributes["batch"]),
    "cells": lambda w, s: ", ".join(w.name_operands(s)[1 + s.opcode.startswith("put") :]),
    "dims": lambda w, s: w.format_fact((s.attributes["dim"],)),
    "dtype": lambda w, s: w.language.dtype(s.result.dtype),
    "finish": lambda w, s: (
        "\n{0} = {0}.astype(str)".format(w.names[s.result.number]) * (s.result.dtype == "str")
    ),
    "kind": lambda w, s: w.language.short_dtype(s.result.dtype),
    "leave_out": lambda w, s: "" if s.attributes["include_self"] else w.language.leave_out,
    "module": lambda w, _: w.language.module,
    "parts": lambda w, s: ", ".join(w.write_parts(s)),
    "place": lambda _, s: _format_slot(s),
    "range": lambda _, s: _format_range(s.attributes["range"]),
    "rank": lambda _, s: str(len(s.operands[0].shape)),
    "rest": lambda w, s: ", ".join(w.name_operands(s)[1:]),
    "shape": lambda w, s: w.format_fact(s.result.shape),
    "slices": lambda _, s: _format_slices(s),
    "start": lambda w, s: w.format_start(s),
    "word": lambda w, s: w.format_reduction(s),
    "zero": lambda w, s: w.format_fact(Constant(0, s.operands[0].dtype)),
}


class SnippetWriter:
    """Writes a program as Python, by the templates of a language; the last line makes `output`.

    `reuses_names`: a name may come to mean another value once its own is no longer read.
    `prefix`: what names of values begin with.
    """

    fields = PYTHON_FIELDS
    reuses_names = True
    prefix = ""

    def __init__(self, program: SnippetProgram, output: Value, language: Language) -> None:
        self.program, self.output, self.language = program, output, language
        self.body: list[str] = []
        self.constants: dict[str, str] = {}
        self.last_use = {
            value.number: at for at, step in enumerate(program.steps) for value in step.operands
        } | {output.number: len(program.steps)}
        self.names = {value.number: self.prefix + value.name for value in program.inputs}
        self.holders = {value.name: value.number for value in program.inputs}

    def write(self) -> list[str]:
        """All lines of the snippet but those that load its inputs."""
        for at, step in enumerate(self.program.steps):
            self._write_step(at, step)
        return self.frame()

    def frame(self) -> list[str]:
        """The lines of the steps with what stands around them."""
        name = self.names[self.output.number]
        return self.body if name == "output" else [*self.body, f"output = {name}"]

    def _write_step(self, at: int, step: Instruction) -> None:
        operands, template = self.name_operands(step), self._find_template(step)
        is_statement = "{r}" in template
        name = self._choose_name(at, step, step.operands[1:] if is_statement else ())
        self.names[step.result.number] = self.prefix + name
        self.holders[name] = step.result.number
        name = self.prefix + name
        text = self._fill(template, name, operands, step)
        lines = text.split("\n") if is_statement else [f"{name} = {text}"]
        self.body += [line for line in lines if line != f"{name} = {name}"]

    def _find_template(self, step: Instruction) -> str:
        """The template of a form, or of the form with its kind of constant, range or reduction."""
        facts, variant = step.attributes, step.attributes.get("op")
        if any(isinstance(fact, VectorConstant) for fact in facts.values()):
            variant = "each"
        positions = facts.get("range")
        if isinstance(positions, range) and step.result.shape and _is_plain(positions):
            variant = "plain"
        templates = self.language.templates
        return templates.get(f"{step.opcode} {variant}") or templates[step.opcode]

    def _choose_name(self, at: int, step: Instruction, read: Sequence[Value]) -> str:
        """The name that a value should have, unless it stands for one that is still read."""
        number = step.result.number
        name = "output" if number == self.output.number else step.result.name
        for candidate in chain([name], (f"{name}_{count}" for count in range(2, 999))):
            holder = self.holders.get(candidate)
            is_free = holder in (None, number) or (
                self.reuses_names and self.last_use.get(holder, -1) <= at
            )
            if is_free and holder not in [value.number for value in read]:
                return candidate
        raise AssertionError(name)

    def _fill(self, template: str, name: str, operands: list[str], step: Instruction) -> str:
        fields = {key: self.format_field(key, step) for key in _list_fields(template)}
        return template.format(*operands, r=name, **fields)

    def name_operands(self, step: Instruction) -> list[str]:
        """The names of what a step reads."""
        return [self.names[value.number] for value in step.operands]

    def format_field(self, key: str, step: Instruction) -> str:
        """What a template asks for under a name."""
        if key in self.fields:
            return self.fields[key](self, step)
        return self.format_fact(step.attributes[key])

    def name_constant(self, text: str) -> str:
        """The name of a constant in a text of the target's own; the same one is made once."""
        if text not in self.constants:
            name = self.constants[text] = f"{self.prefix}c{len(self.constants)}"
            self.body.append(f"{name} = {text}")
        return self.constants[text]

    def write_parts(self, step: Instruction) -> list[str]:
        """The operands of a stack, each written as a line of its own with the new axis."""
        name, shape = self.names[step.result.number], part_shape(step)
        parts = []
        pairs = zip(self.name_operands(step), step.operands, strict=True)
        for at, (operand, value) in enumerate(pairs):
            parts.append(f"{name}_{at}")
            result = step.result._replace(shape=shape)
            part = Instruction("unsqueeze", result, (value,), step.attributes)
            self.body.append(self._fill(self._find_template(part), parts[-1], [operand], part))
        return parts

    def format_start(self, step: Instruction) -> str:
        """What is written into: a copy where the array itself is still read."""
        array, is_text = step.operands[0], step.result.dtype == "str"
        is_kept = array.number < 0 or self.last_use[array.number] > self.program.steps.index(step)
        copy = ".astype(object)" if is_text else self.language.copy
        return self.names[array.number] + copy * (is_kept or is_text or array.shape == ())

    def format_reduction(self, step: Instruction) -> str:
        """The target's name of a reduction."""
        op = "mean" if step.attributes["mean"] else str(step.attributes["op"])
        return self.language.words.get(op, op)

    def format_fact(self, fact: object) -> str:
        """A fact in Python's spelling."""
        if isinstance(fact, Constant):
            text = format_number(fact)
            typed = self.language.typed_numbers
            return f"{self.language.dtype(fact.dtype)}({text})" if typed else text
        if isinstance(fact, VectorConstant):
            numbers, dtype = format_vector_constant(fact), self.language.dtype(fact.dtype)
            return self.language.numbers.format(list=numbers, dtype=dtype)
        return str(fact)


@cache
def _list_fields(template: str) -> list[str]:
    """What a template asks for, but operands and its result; constants are made in this order."""
    names = {name for _, name, _, _ in Formatter().parse(template) if name and not name.isdigit()}
    return sorted(names - {"r"})


def part_shape(step: Instruction) -> Shape:
    """The shape of one part of a stack, or of a slot before its axis is dropped."""
    whole = step.result.shape if step.opcode == "stack" else step.operands[0].shape
    return tuple(1 if at == step.attributes["dim"] else size for at, size in enumerate(whole))


def _format_slot(step: Instruction) -> str:
    dim, at = step.attributes["dim"], step.attributes["at"]
    is_last = dim == len(step.operands[0].shape) - 1
    return f"..., {at}" if is_last and dim else ":, " * dim + str(at)


def _format_slices(step: Instruction) -> str:
    """Whole axes before the one that is indexed, or the first cells of each axis."""
    axis = step.attributes.get("axis")
    if isinstance(axis, int):
        return ":, " * axis
    pairs = zip(step.result.shape, step.operands[0].shape, strict=True)
    slices = [":" if size == whole else f":{size}" for size, whole in pairs]
    while len(slices) > 1 and slices[-1] == ":":
        slices.pop()
    return ", ".join(slices)


def _is_plain(positions: range) -> bool:
    return positions.start == 0 and positions.step == 1


def _format_range(positions: range) -> str:
    if _is_plain(positions):
        return str(positions.stop)
    return f"{positions.start}, {positions.stop}, {positions.step}"


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
    if isinstance(value, complex) and not isfinite(value):
        parts = (format_number(Constant(part, "float64")) for part in (value.real, value.imag))
        return f"complex({', '.join(parts)})"
    return repr(value)


def format_vector_constant(numbers: VectorConstant) -> str:
    """Numbers for each slot as a nested list that stretches over index vectors.

    >>> format_vector_constant(VectorConstant((3, 4), 0, 2, "int64"))
    '[[3], [4]]'
    """
    nested: list[object] = [*numbers.numbers]
    for _ in range(numbers.dim + 1, numbers.rank):
        nested = [[item] for item in nested]
    return str(nested)
