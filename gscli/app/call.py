"""From the words of a command to a finished call: attributes, inputs, trace; errors name files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gscli.declare import Operator
from gscli.errors import GscliError, IndexRefused
from gscli.execute import execute
from gscli.inputs import byte_limit, read_inputs
from gscli.options import Settings
from gscli.settling import Inputs
from gscli.tracing import Trace


def parsed_attributes(operator: Operator, texts: Mapping[str, str]) -> dict[str, object]:
    """Attributes as the operator declares them, from the words of the command line.

    >>> from gscli.frameworks.onnx import gather
    >>> parsed_attributes(gather, {"axis": "-1"})
    {'axis': -1}
    """
    known = {attribute.name: attribute for attribute in operator.attributes}
    return {name: known[name].parse(text) for name, text in texts.items()}


def traced(
    operator: Operator, words: Sequence[str], texts: Mapping[str, str], settings: Settings
) -> tuple[Trace, Inputs]:
    """Run the operator on the inputs the words name; errors say which file they are about."""
    attrs = parsed_attributes(operator, texts)
    inputs = read_inputs(operator, words, attrs, settings)
    try:
        run = execute(operator, inputs.arrays, attrs, max_bytes=byte_limit(settings.max_bytes))
    except GscliError as error:
        raise _located(error, inputs.origins, operator, words, texts) from None
    return Trace(run, inputs.origins), inputs


def _located(
    error: GscliError,
    origins: Mapping[str, str],
    operator: Operator,
    words: Sequence[str],
    texts: Mapping[str, str],
) -> GscliError:
    """Put the file's name before a position, and a way on behind an index error."""
    error.where = with_origin(error.where, origins)
    in_order = len(words) == len(operator.inputs)
    if isinstance(error, IndexRefused) and operator.bare and in_order and not error.hint:
        import shlex  # noqa: PLC0415  only when something is wrong

        command = shlex.join(["gscli", "compare", *_compared(operator, words, texts)])
        error.hint = f"see what others do: {command}"
    return error


def with_origin(where: str, origins: Mapping[str, str]) -> str:
    """The file's name before a position in one of the inputs.

    >>> with_origin("indices[0] = 7", {"indices": "idx.npy", "data": "inline"})
    'idx.npy: indices[0] = 7'
    """
    origin = origins.get(where.split("[", maxsplit=1)[0].split(" ", maxsplit=1)[0], "inline")
    return where if origin == "inline" else f"{origin}: {where}"


def _compared(operator: Operator, words: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """A call of a bare operator as compare takes it: an axis is always an option there."""
    known = ("axis", "batch_dims", "reduction")
    options = {name: texts[name] for name in known if name in texts}
    kept: list[str] = []
    for item, word in zip(operator.inputs, words, strict=True):
        if item.name == "axis":
            options["axis"] = word.strip("[]")
        else:
            kept.append(word)
    flags = [f"--{name.replace('_', '-')}={text}" for name, text in options.items()]
    return [operator.command, *kept, *flags]
