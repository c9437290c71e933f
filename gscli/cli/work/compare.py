"""`gscli compare CONCEPT …`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial

from gscli import files
from gscli.base import UsageError
from gscli.base.records import Record
from gscli.base.words import safe
from gscli.cli.call import check_requests, stands_for_all
from gscli.cli.options import Settings, view_options
from gscli.cli.work.pictures import save_text
from gscli.cli.work.runtimes import Asked, judging
from gscli.codegen.equivalents import with_equivalents
from gscli.disk import mapped
from gscli.frameworks.operator import ConceptName
from gscli.lab.answers import Comparing, document
from gscli.lab.compare import compare
from gscli.lab.concepts import CONCEPTS, REDUCTION_NAMES
from gscli.plan import Inputs


class Wanted(Record):
    """Which rule sets are compared: `--as` and `--opset`."""

    only: list[str]
    opsets: list[int]


def opset_numbers(texts: Sequence[str]) -> list[int]:
    """`--opset` as numbers from 1 up.

    >>> opset_numbers(["11", "18"])
    [11, 18]
    """
    for text in texts:
        if not (text.isascii() and text.isdigit() and int(text[:9]) > 0):
            raise UsageError(
                "opset takes whole numbers", where=f"--opset {safe(text, 60)}", valid="11,13,18"
            )
    return [int(text[:9]) for text in texts]


def compare_concept(
    name: ConceptName,
    words: list[str],
    arguments: Mapping[str, object],
    wanted: Wanted,
    asked: Asked,
    settings: Settings,
) -> int:
    """Every rule set's answer; exit status 1 when they differ."""
    check_requests(settings)
    reduction = str(arguments["reduction"] or "none")
    if reduction not in REDUCTION_NAMES:
        raise UsageError(f"unknown reduction: {reduction!r}"[:200], valid=" ".join(REDUCTION_NAMES))
    inputs = _inputs(name, words, settings)
    axis, batch_dims = arguments["axis"], arguments["batch_dims"]
    call = partial(
        compare,
        name,
        inputs.arrays,
        typed=inputs.typed,
        axis=axis if isinstance(axis, int) else None,
        batch_dims=batch_dims if isinstance(batch_dims, int) else 0,
        reduction=reduction,
    )
    comparing = call(only=wanted.only, opsets=wanted.opsets)
    if asked.on:
        from gscli.runtimes.runtime_answers import with_runtime

        with judging(asked.on, asked.python, asked.patience) as (runtime, _):
            comparing = with_runtime(comparing, call, runtime)
    comparing = with_equivalents(comparing)
    told = "" if settings.json is None else json.dumps(document(comparing)) + "\n"
    pictures, told = _pictures(comparing, settings), told + _told(comparing, settings)
    mapped.check_unchanged(*comparing.inputs.values())
    for path, text in pictures.items():
        save_text(path, text)
    sys.stdout.write(told)
    return int(not comparing.agree)


def _pictures(comparing: Comparing, settings: Settings) -> dict[str, str]:
    """The texts of the pictures that go to files, by file name."""
    texts: dict[str, str] = {}
    if settings.svg is not None:
        from gscli.views.figure import to_svg
        from gscli.views.terminal.compare import comparison

        options = view_options(settings, colored=True)
        title = f"gscli compare {comparing.concept}"
        texts[settings.svg] = to_svg(comparison(comparing, options), title, theme=settings.theme)
    if settings.html is not None:
        from gscli.views.page import page

        options = view_options(settings, colored=True)
        texts[settings.html] = page([comparing], options=options)
    return texts


def _told(comparing: Comparing, settings: Settings) -> str:
    """What goes to the screen besides a document."""
    options = view_options(settings)
    if settings.prints and settings.plain:
        from gscli.views.words.compare_words import comparison_words

        return comparison_words(comparing, options)
    if settings.quiet and settings.json is None and "-" not in (settings.svg, settings.html):
        from gscli.views.words.comparison import Answers

        answers = Answers(comparing, options._replace(utf8=options.utf8 and not settings.plain))
        return answers.summary(listed=not answers.columns) + "\n"
    if settings.prints:
        from gscli.views.lines import render
        from gscli.views.terminal.compare import comparison

        return render(comparison(comparing, options), options)
    return ""


def _inputs(name: ConceptName, words: Sequence[str], settings: Settings) -> Inputs:
    """Inputs of a comparison: data, indices and updates, which take data's type where they fit."""
    names = CONCEPTS[name].inputs
    limit = settings.max_bytes
    if len(words) == 1 and stands_for_all(words[0]):
        loaded = files.load_many(
            words[0], names, dtype=settings.dtype, empty_dtype="int64", max_bytes=limit
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
