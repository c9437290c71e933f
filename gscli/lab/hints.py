"""How to go on after a refusal, as something to type: every command here is meant to be run.

Refusals carry what is wrong as data; who was called by a command or a job knows its words, from
which a command can be made that does what it says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from gscli.base import (
    DtypeRefused,
    GscliError,
    IndexRefused,
    IndexTypeRefused,
    LossyTypeRefused,
    ShapeRefused,
    UpdatesTypeRefused,
)
from gscli.base.arrays import Array, find_cast_change, is_across_text, is_lazy, parse_dtype
from gscli.base.words import format_command, format_flag
from gscli.declare.attributes import Attribute
from gscli.files.content import STANDARD_INPUT
from gscli.frameworks import find_operator, operators
from gscli.frameworks.execute import prepare
from gscli.frameworks.operator import Comparison, Operator
from gscli.frameworks.typing import explain_lossy_indices
from gscli.lab.concepts import CONCEPTS, find_concept_arguments, list_call_mappings
from gscli.plan import CallInputs, infer_layout

# Characters of a command that a person still reads and copies.
LONGEST_COMMAND = 300

# Operators that a hint names.
_LISTED = 4


def prefix_origin(where: str, origins: Mapping[str, str]) -> str:
    """The file's name before a position in one of the inputs.

    >>> prefix_origin("indices[0] = 7", {"indices": "idx.npy", "data": "inline"})
    'idx.npy: indices[0] = 7'
    """
    origin = origins.get(where.split("[", maxsplit=1)[0].split(" ", maxsplit=1)[0], "inline")
    return where if origin == "inline" else f"{origin}: {where}"


def make_hint(error: GscliError, operator: Operator, inputs: CallInputs) -> str:
    """The hint for a refusal of this call; its own where that already says how to go on."""
    if isinstance(error, IndexRefused):
        if unsorted := _build_unsorted_command(operator, inputs):
            return f"where ids take any order: {unsorted}"
        # Of lengths, which are no indices, rule sets have nothing to say.
        is_answered = bool(error.hint) and not error.findings
        others = "" if is_answered else _compare_hint(error, operator, inputs)
        return "; ".join(filter(None, (error.hint, others)))
    if isinstance(error, LossyTypeRefused):
        advice = f"leave --dtype {error.wanted} out, or write values that {error.wanted} holds"
        return _convert_hint(error, inputs) or advice
    if isinstance(error, IndexTypeRefused | UpdatesTypeRefused):
        return _dtype_hint(error, operator, inputs) or _example_hint(operator)
    if isinstance(error, ShapeRefused | DtypeRefused):
        return _shape_hint(operator, inputs) or error.hint or _example_hint(operator)
    return error.hint


def _shape_hint(operator: Operator, inputs: CallInputs) -> str:
    """What the call runs with: index vectors of one number each, where numbers alone were written,
    or one axis in place of the two that a column has, as every table has them.
    """
    concepts = [row.concept for row in operator.concept_mappings if row.vector_layout == "last"]
    vectors = () if all(CONCEPTS[name].takes_axis for name in concepts) else ("indices",)
    arrays = {**inputs.arrays}
    for name, array in inputs.arrays.items():
        origin = inputs.origins.get(name, "inline")
        if origin != "inline" and array.shape[1:] == (1,) and not is_lazy(array):
            arrays[name], copy = array[:, 0], f"{name}.column.npy"
            source = "-" if origin == STANDARD_INPUT else origin
            words = ["gscli", "numpy", "getitem", "-o", copy, "--", source, ":", "0"]
            hint = f"a column has one axis after {format_command(words)}"
        elif array.ndim == 1 and array.size and origin == "inline" and name in vectors:
            arrays[name] = array[:, None]
            text = json.dumps(arrays[name].tolist(), separators=(",", ":"))
            hint = f"each index is a vector of its own: '{text}'"[:LONGEST_COMMAND]
        else:
            continue
        for changed in ({**inputs.arrays, name: arrays[name]}, arrays):
            with suppress(GscliError):
                infer_layout(operator, changed, inputs.attrs)
                return hint
    return ""


def list_operators_with(texts: Iterable[str], known: Mapping[str, Attribute]) -> str:
    """Which operators have the choice that this one lacks, such as the reduction mean."""
    own = {choice for attribute in known.values() for choice in attribute.choices}
    for text in sorted(set(texts) - own - {""}):
        having = [
            operator.command_line.removeprefix("gscli ")
            for operator in operators()
            if any(text in attribute.choices for attribute in operator.attributes)
        ]
        if having:
            more = ", …" if len(having) > _LISTED else ""
            return f"{text} is known to: {', '.join(having[:_LISTED])}{more}"
    return ""


def _example_hint(operator: Operator) -> str:
    return f"an example that runs: {operator.command_line} {operator.example}"


# --- indices out of range: what others do ------------------------------------------------------


def _compare_hint(error: IndexRefused, operator: Operator, inputs: CallInputs) -> str:
    """The command that shows what other rule sets do with the same inputs, or with such indices."""
    flat = bool(error.findings) and error.findings[0].axis is None
    if command := build_compare_command(operator, inputs, flat=flat):
        return f"see what others do: {command}"
    rules = f"gscli rules {operator.framework.name} {operator.command}"
    return f"see what it does with such indices: {rules}"


def build_compare_command(
    operator: Operator, inputs: CallInputs, *, flat: bool = False
) -> str | None:
    """The call as `gscli compare` takes it, None where it has no words for it."""
    for comparison in list_call_mappings(operator, flat=flat):
        words = ["compare", comparison.concept, *_flags(operator, inputs, comparison)]
        command = _build_command(words, inputs, comparison.inputs)
        if command and comparison.vector_layout == "last":
            return command
    return None


def _build_command(words: list[str], inputs: CallInputs, names: Iterable[str]) -> str | None:
    """A command with inputs and type as they were typed; None for one that is too long to be read,
    or cannot be given again.
    """
    sources = [inputs.words.get(name, "-") for name in names]
    dashes = ["--"] if any(word.startswith("-") for word in sources) else []
    dtype = ["--dtype", inputs.dtype] if inputs.dtype else []
    command = format_command(["gscli", *words, *dtype, *dashes, *sources])
    return None if "-" in sources or len(command) > LONGEST_COMMAND else command


def _build_unsorted_command(operator: Operator, inputs: CallInputs) -> str | None:
    """The same call of TensorFlow's unsorted segments, where ids must ascend and do not."""
    for name, kind in operator.shape_inputs.items():
        ids = inputs.arrays[name]
        if kind == "ascending" and bool((ids[1:] < ids[:-1]).any()):
            unsorted = find_operator(f"tensorflow.unsorted_{operator.name}")
            attrs = {"num_segments": int(ids.max()) + 1}
            call = CallInputs({**inputs.arrays}, inputs.origins, {**inputs.is_typed}, attrs)
            with suppress(GscliError):
                prepare(unsorted, call, strict=True, dtype=inputs.dtype)
                words = ["tensorflow", unsorted.command, f"--num-segments={attrs['num_segments']}"]
                return _build_command(words, inputs, operator.input_names)
    return None


def _flags(operator: Operator, inputs: CallInputs, comparison: Comparison) -> list[str]:
    """Axis, batch axes and reduction under their neutral names, where they are not the usual."""
    usual = {"axis": CONCEPTS[comparison.concept].axis, "batch_dims": 0, "reduction": "none"}
    attrs = {item.name: item.default for item in operator.attributes} | {**inputs.attrs}
    arguments = find_concept_arguments(operator, comparison, attrs, inputs.arrays)
    unusual = {name: value for name, value in arguments.items() if value != usual[name]}
    return [f"{format_flag(name)}={value}" for name, value in unusual.items()]


# --- element types: how to convert -------------------------------------------------------------


def _dtype_hint(error: DtypeRefused, operator: Operator, inputs: CallInputs) -> str:
    """How an input gets the type that is wanted, from where it comes from and what it holds."""
    name, array = error.name, inputs.arrays[error.name]
    if isinstance(error, IndexTypeRefused):
        is_address = name not in operator.shape_inputs and "segment" not in operator.name
        is_mask = is_address and array.dtype.kind == "b"
        advice = _mask_hint(array) if is_mask else explain_lossy_indices(error, inputs.arrays)
        if advice:
            return advice
    if inputs.origins[name] == "inline":
        return _rewrite_hint(error, operator, inputs)
    return _convert_hint(error, inputs)


def _mask_hint(mask: Array) -> str:
    """What says as indices what a mask says; 0 and 1, as a conversion writes it, say otherwise."""
    advice, is_row = "write the positions of true", mask.ndim == 1
    if is_row and mask.size <= LONGEST_COMMAND:
        return f"{advice}: '{json.dumps(mask.nonzero()[0].tolist(), separators=(',', ':'))}'"
    return advice + ", in Python numpy.flatnonzero" * is_row


def _rewrite_hint(error: DtypeRefused, operator: Operator, inputs: CallInputs) -> str:
    """How an input that stands on the command line is written in another type."""
    array, typed = inputs.arrays[error.name], inputs.is_typed[error.name]
    is_real = array.dtype.kind != "c"  # which is written in pairs
    if typed and is_real and find_cast_change(array, parse_dtype(error.wanted)) is None:
        return f'write "dtype": "{error.wanted}" there'
    if isinstance(error, IndexTypeRefused):
        return "write them as whole numbers" + ", without a point" * (array.dtype.kind == "f")
    wider = "float64" if array.dtype.kind in "iu" and "float" in error.wanted else str(array.dtype)
    with suppress(GscliError):
        call = CallInputs({**inputs.arrays}, inputs.origins, {**inputs.is_typed}, inputs.attrs)
        plan = prepare(operator, call, strict=True, dtype=wider)
        return f"--dtype {wider} converts {plan.layout.data_name} and {error.name}"
    return ""


def _convert_hint(error: DtypeRefused, inputs: CallInputs) -> str:
    """The command that writes the input under a new name in the type that is wanted, if any can."""
    array, target = inputs.arrays[error.name], parse_dtype(error.wanted)
    origin = inputs.origins[error.name]
    if origin == "inline" or is_across_text(array.dtype, target):
        return ""
    source = "-" if origin == STANDARD_INPUT else origin
    place = Path(source.replace("::", "-"))
    name = place.name.replace(":", "-")  # or it would be read as a generator
    stem = "input" if source == "-" else str(place.with_name(name).with_suffix(""))
    dashes = ["--"] if stem.startswith("-") else []
    words = ["convert", "--dtype", error.wanted, *dashes, source, f"{stem}.{error.wanted}.npy"]
    command = format_command(["gscli", *words])
    changes = find_cast_change(array, target) is not None
    return f"convert it, values change: {command} --cast" if changes else f"convert it: {command}"
