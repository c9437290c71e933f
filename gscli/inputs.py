"""From words on the command line to arrays: which word is which input, files, element types.

JSON and CSV carry no types. What an operator takes is asked from its layout and never known here:
a refusal that names the wanted type (`IndexTypeRefused`, `UpdatesTypeRefused`) is answered by
bringing untyped numbers to that type, without loss, and asking again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gscli import files
from gscli.concepts import CONCEPTS, ConceptName
from gscli.declare import Operator
from gscli.errors import (
    DtypeRefused,
    GscliError,
    IndexTypeRefused,
    Notice,
    UpdatesTypeRefused,
    UsageError,
)
from gscli.execute import layout_of
from gscli.families import show_shape
from gscli.masks import without_masks
from gscli.options import Settings
from gscli.text import safe

Array = NDArray[Any]

_TOGETHER = (".npz", ".safetensors")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass
class Inputs:
    """The inputs of a call: arrays by argument name, where each came from, what was changed."""

    arrays: dict[str, Array]
    origins: dict[str, str]
    typed: dict[str, bool]
    notices: list[Notice] = field(default_factory=list)


def byte_limit(text: str | None) -> int | None:
    """`--max-bytes`: a number with K, M, G or T.

    >>> byte_limit("2G"), byte_limit("1000")
    (2147483648, 1000)
    """
    if text is None:
        return None
    number, unit = text.rstrip("iBb"), ""
    if number and number[-1].upper() in _UNITS:
        number, unit = number[:-1], number[-1].upper()
    try:
        return int(float(number) * _UNITS[unit])
    except (ValueError, OverflowError):
        raise UsageError(
            "max-bytes takes a number of bytes",
            where=f"--max-bytes {text}"[:100],
            valid="e.g. 500M, 2G",
        ) from None


def read_inputs(
    operator: Operator, words: Sequence[str], attrs: Mapping[str, object], settings: Settings
) -> Inputs:
    """Load every input of the call and settle the element types of untyped ones."""
    inputs = loaded_inputs(operator, words, settings)
    settle_types(operator, inputs, attrs, strict=settings.strict)
    return inputs


def loaded_inputs(operator: Operator, words: Sequence[str], settings: Settings) -> Inputs:
    """Load every input of the call, types as the files say or the numbers suggest."""
    limit = byte_limit(settings.max_bytes)
    if len(words) == 1 and len(operator.inputs) > 1 and _stands_for_all(words[0]):
        names = [item.name for item in operator.inputs]
        optional = [item.name for item in operator.inputs if item.optional]
        loaded = files.load_many(
            words[0], names, optional=optional, empty_dtype="int64",
            max_bytes=files.MAX_BYTES if limit is None else limit,
        )  # fmt: skip
    else:
        loaded = {
            name: _load(text, name, settings, limit)
            for name, text in assigned(operator, words, settings.extra).items()
        }
    arrays, sources = without_masks(operator, {name: i.array for name, i in loaded.items()})
    return Inputs(
        arrays,
        {name: loaded[source].origin for name, source in sources.items()},
        {name: loaded[source].typed for name, source in sources.items()},
    )


def _load(text: str, name: str, settings: Settings, limit: int | None) -> files.Loaded:
    bytes_allowed = files.MAX_BYTES if limit is None else limit
    return files.load(
        text, name=name, dtype=settings.dtype, empty_dtype="int64", max_bytes=bytes_allowed
    )


def _stands_for_all(word: str) -> bool:
    return "::" not in word and (word.lower().endswith(_TOGETHER) or os.path.isdir(word))  # noqa: PTH112  the word may be no path at all


def assigned(
    operator: Operator, words: Sequence[str], named: Mapping[str, object]
) -> dict[str, str]:
    """Which word is which input: positions in the framework's order, `--NAME` for any of them.

    >>> from gscli.frameworks.onnx import gather
    >>> assigned(gather, ["i.npy"], {"data": "d.npy"})
    {'data': 'd.npy', 'indices': 'i.npy'}
    """
    waiting = [item for item in operator.inputs if item.name not in named]
    fixed = [item for item in waiting if item.kind != "many"]
    surplus = len(words) - len(fixed)
    if surplus > 0 and len(fixed) == len(waiting):
        given = len(words) + len(named)
        raise UsageError(
            f"{operator.command} takes {len(operator.inputs)} inputs, got {given}",
            where=f"one too many: {safe(words[len(fixed)])}",
            valid=_usage(operator),
            hint=_example(operator),
        )
    result: dict[str, str] = {}
    position = 0
    for item in operator.inputs:
        if item.name in named:
            result[item.name] = str(named[item.name])
        elif item.kind == "many":
            for number in range(max(surplus, 0)):
                result[f"{item.name}_{number}"] = words[position]
                position += 1
        elif position < len(words):
            result[item.name] = words[position]
            position += 1
        elif not item.optional:
            raise UsageError(
                f"{operator.command} needs {item.name}",
                where=_usage(operator),
                hint=_example(operator),
            )
    return result


def _usage(operator: Operator) -> str:
    return " ".join([operator.command_line, *(item.name.upper() for item in operator.inputs)])


def _example(operator: Operator) -> str:
    return f"{operator.command_line} {operator.example}"


def settle_types(
    operator: Operator, inputs: Inputs, attrs: Mapping[str, object], *, strict: bool
) -> None:
    """Give untyped inputs the type the operator wants; widen typed indices with a warning."""
    for _ in range(2 * len(inputs.arrays)):
        try:
            layout_of(operator, inputs.arrays, attrs)
        except IndexTypeRefused as refusal:
            _settle_indices(inputs, refusal, strict=strict)
        except UpdatesTypeRefused as refusal:
            _settle_updates(inputs, refusal)
        else:
            return


def _settle_indices(inputs: Inputs, refusal: IndexTypeRefused, *, strict: bool) -> None:
    name = refusal.name
    array, wanted = inputs.arrays[name], np.dtype(refusal.wanted)
    if array.dtype.kind == "f" and not inputs.typed[name]:
        raise _not_whole(name, array, refusal)
    if array.dtype.kind not in "iu" or strict:
        raise refusal
    widened = array.astype(wanted)
    if (array.size and (widened.astype(array.dtype) != array).any()) or _changed_sign(
        array, widened
    ):
        raise refusal
    if inputs.typed[name]:
        inputs.notices.append(
            Notice(
                f"{name} is {array.dtype}, widened to {wanted}",
                where=f"the specification takes {' or '.join(refusal.allowed)} only",
                hint="--strict refuses",
            )
        )
    inputs.arrays[name] = widened


def _changed_sign(array: Array, widened: Array) -> bool:
    return array.dtype.kind == "u" and bool((widened < 0).any())


def _not_whole(name: str, array: Array, refusal: DtypeRefused) -> GscliError:
    places = np.argwhere(~(array == np.floor(array)))
    if places.size == 0:
        return refusal
    place = tuple(int(at) for at in places[0])
    return DtypeRefused(
        f"{name} must be integers",
        where=f"{name}{show_shape(place)} = {array[place]}",
        details=("not a whole number",),
        valid=refusal.valid,
    )


def _settle_updates(inputs: Inputs, refusal: UpdatesTypeRefused) -> None:
    name = refusal.name
    if inputs.typed[name]:
        raise refusal
    from gscli.arrays import dtype_named  # noqa: PLC0415  ml_dtypes, only for small floats

    array, wanted = inputs.arrays[name], dtype_named(refusal.wanted)
    with np.errstate(all="ignore"):
        cast = array.astype(wanted)
    kept = (
        wanted.kind in "fcV" or array.size == 0 or bool((cast.astype(array.dtype) == array).all())
    )
    if array.dtype.kind == "U" or wanted.kind == "U" or not kept:
        raise refusal
    inputs.arrays[name] = cast


def concept_inputs(name: ConceptName, words: Sequence[str], settings: Settings) -> dict[str, Array]:
    """Inputs of a comparison: data, indices and updates, which take data's type when untyped."""
    names = CONCEPTS[name].inputs
    limit = byte_limit(settings.max_bytes)
    if len(words) == 1 and _stands_for_all(words[0]):
        return {key: item.array for key, item in files.load_many(words[0], list(names)).items()}
    if len(words) != len(names):
        raise UsageError(
            f"compare {name} takes {len(names)} inputs, got {len(words)}",
            valid=" ".join(item.upper() for item in names),
            hint=f"gscli compare {name} --help",
        )
    loaded = {
        key: _load(text, key, settings, limit) for key, text in zip(names, words, strict=True)
    }
    arrays = {key: item.array for key, item in loaded.items()}
    if "updates" in loaded and not loaded["updates"].typed:
        arrays["updates"] = files.load(
            words[-1], name="updates", like=arrays["data"].dtype, max_bytes=limit or files.MAX_BYTES
        ).array
    return arrays
