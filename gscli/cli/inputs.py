"""From words on the command line to arrays: which word is which input, files, element types."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from gscli import files
from gscli.base import UsageError
from gscli.base.records import Record
from gscli.cli.options import Settings
from gscli.frameworks import assigned
from gscli.frameworks.operator import ConceptName, Operator
from gscli.plan import Inputs

_TOGETHER = (".npz", ".safetensors")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


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
        size = int(float(number) * _UNITS[unit])
    except (ValueError, OverflowError):
        size = -1
    if size < 0:
        raise UsageError(
            "max-bytes takes a number of bytes",
            where=f"--max-bytes {text}"[:100],
            valid="e.g. 500M, 2G",
        )
    return size


def memory_limit(settings: Settings) -> int:
    """Bytes that an input may take in memory."""
    return byte_limit(settings.max_bytes) or files.MAX_BYTES


class Typed(Record):
    """What was typed: the operator, a word for each input, and attributes as words.

    `together`: the one word that stands for all inputs, an archive or a folder; then no input has
    a word of its own.
    """

    operator: Operator
    words: Mapping[str, str]
    texts: Mapping[str, str]
    together: str = ""


def typed(
    operator: Operator, words: Sequence[str], texts: Mapping[str, str], settings: Settings
) -> Typed:
    """Which word is which input. Raises UsageError where they are too many or too few."""
    if len(words) == 1 and len(operator.inputs) > 1 and stands_for_all(words[0]):
        return Typed(operator, {}, texts, words[0])
    return Typed(operator, assigned(operator, words, settings.extra), texts)


def loaded_inputs(
    given: Typed, attrs: Mapping[str, object], settings: Settings, *, leave: bool = False
) -> Inputs:
    """Load every input of the call, types as the files say or the numbers suggest.

    `leave`: the first input stays in its Zarr store, if it lies in one.

    `--dtype` names the type of opaque elements here; what else it means needs a layout.
    """
    operator, texts = given.operator, dict[str, object](given.words)
    if operator.many is not None and not given.together:
        from gscli.plan.masks import with_subscript

        named, attrs = with_subscript(operator, texts, attrs)
        texts = dict(named)
    loaded = _loaded(given, texts, settings, leave=leave)
    found = {name: item.array for name, item in loaded.items()}
    sources = {name: name for name in found}
    if operator.many is not None:
        from gscli.plan.masks import without_masks

        found, sources, attrs = without_masks(operator, found, attrs)
    return Inputs(
        found,
        {name: loaded[source].origin for name, source in sources.items()},
        {name: loaded[source].typed for name, source in sources.items()},
        attrs,
    )


def _loaded(
    given: Typed, texts: Mapping[str, object], settings: Settings, *, leave: bool
) -> dict[str, files.Loaded]:
    """Every input from the one word that stands for all, or each from its own."""
    limit = memory_limit(settings)
    inputs = given.operator.inputs
    if given.together:
        names, optional = [one.name for one in inputs], [one.name for one in inputs if one.optional]
        return files.load_many(
            given.together, names, optional=optional, dtype=settings.dtype, empty_dtype="int64",
            max_bytes=limit,
        )  # fmt: skip
    return {
        name: files.load(
            str(text), name=name, dtype=settings.dtype, opaque_only=True, empty_dtype="int64",
            max_bytes=limit, leave=leave and name == inputs[0].name,
        )
        for name, text in texts.items()
    }  # fmt: skip


def stands_for_all(word: str, containers: tuple[str, ...] = _TOGETHER) -> bool:
    """Whether a word names a folder, or a file that holds every input by its name."""
    return "::" not in word and (word.lower().endswith(containers) or os.path.isdir(word))


def concept_inputs(name: ConceptName, words: Sequence[str], settings: Settings) -> Inputs:
    """Inputs of a comparison: data, indices and updates, which take data's type where they fit."""
    from gscli.lab.concepts import CONCEPTS

    names = CONCEPTS[name].inputs
    limit = memory_limit(settings)
    if len(words) == 1 and stands_for_all(words[0]):
        loaded = files.load_many(
            words[0], list(names), dtype=settings.dtype, empty_dtype="int64", max_bytes=limit
        )
    elif len(words) != len(names):
        raise UsageError(
            f"compare {name} takes {len(names)} inputs, got {len(words)}",
            valid=" ".join(item.upper() for item in names),
            hint=f"gscli compare {name} --help",
        )
    else:
        loaded = {
            key: files.load(
                text, name=key, dtype=settings.dtype, opaque_only=key == "indices",
                empty_dtype="int64", max_bytes=limit,
            )
            for key, text in zip(names, words, strict=True)
        }  # fmt: skip
    arrays = {key: item.array for key, item in loaded.items()}
    if "updates" in loaded and not loaded["updates"].typed:
        from gscli.frameworks.typing import untyped_as

        cast = untyped_as(arrays["updates"], arrays["data"].dtype)
        arrays["updates"] = arrays["updates"] if cast is None else cast
    return Inputs(
        arrays,
        {key: item.origin for key, item in loaded.items()},
        {key: item.typed for key, item in loaded.items()},
    )
