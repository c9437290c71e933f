"""The frameworks gscli knows, a module or a package each. Adding one is that and a line here."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, overload

from gscli.base import UsageError, check_argument, check_name, check_rule
from gscli.base.records import Arguments
from gscli.base.words import (
    format_command,
    format_count,
    format_flag,
    format_suggestion,
    quote_word,
    sanitize,
    suggest_names,
)
from gscli.frameworks.operator import Framework, Operator, import_framework

if TYPE_CHECKING:
    import numpy as np

# `Framework.title` by name, without importing nine modules for a list of commands.
TITLES = {
    "onnx": "ONNX", "openvino": "OpenVINO", "numpy": "NumPy", "tensorflow": "TensorFlow",
    "mxnet": "MXNet", "caffe2": "Caffe2", "torch": "PyTorch", "jax": "JAX",
    "stablehlo": "StableHLO",
}  # fmt: skip
NAMES: tuple[str, ...] = (*TITLES,)
ALIASES = {"tf": "tensorflow", "np": "numpy", "pytorch": "torch"}

# Frameworks that give the bare commands: ONNX, and two operators that ONNX does not have.
BARE_FRAMEWORKS: tuple[str, ...] = ("onnx", "openvino", "numpy")


@cache
def load_framework(name: str) -> Framework:
    """The framework called `name` (or its alias), its module imported on first use.

    >>> load_framework("tf").name
    'tensorflow'
    """
    known = ALIASES.get(name, name)
    check_name(known, NAMES, f"unknown framework {name!r}", count=1)
    return import_framework(known)


def operators() -> list[Operator]:
    """Every declared operator, in the order of NAMES and of the modules."""
    return [operator for name in NAMES for operator in load_framework(name).operators.values()]


@cache
def find_operator(name: str, words: tuple[str, ...] = ()) -> Operator:
    """The operator called `framework.operator`; a bare name is ONNX's, or whose alone it is.

    >>> find_operator("scatter_nd").full_name, find_operator("take").full_name
    ('onnx.scatter_nd', 'numpy.take')

    However it is spelt: as in Python, as in a shell, as in the framework.

    >>> (
    ...     find_operator("scatter-nd").full_name,
    ...     find_operator("numpy add-at").full_name,
    ...     find_operator("numpy.add_at").name,
    ... )
    ('onnx.scatter_nd', 'numpy.add.at', 'add.at')
    >>> find_operator("add-at").full_name, find_operator("index_add").full_name
    ('numpy.add.at', 'torch.index_add')

    `words`: what may be meant, too, by a name that is none.
    """
    first, _, rest = name.replace(" ", ".", 1).partition(".")
    is_owned = bool(rest) and first in (*NAMES, *ALIASES)
    own = load_framework(first).operators.values() if is_owned else bare_operators()
    for operator in iter_called(rest if is_owned else name, own):
        return operator
    if is_owned:
        known = [operator.full_name for operator in own]
        hint = suggest_names(name, known, f"all of them: gscli rules {first}")
        raise UsageError(f"unknown operator {name!r}"[:200], hint=hint)
    everywhere = list(iter_called(name, operators()))
    if len(everywhere) == 1:
        return everywhere[0]
    known = [operator.name for operator in bare_operators()]
    known += [operator.full_name for operator in operators()]
    near = suggest_names(name, words, count=1, similarity=0.72)
    near = near or suggest_names(name, known, "all of them: gscli rules")
    hint = format_suggestion([operator.full_name for operator in everywhere], near)
    raise UsageError(f"unknown operator {name!r}"[:200], hint=hint)


def find_operators(name: str) -> list[Operator]:
    """The operators that a word stands for: all of a framework, or the one that is called so.

    >>> [operator.full_name for operator in find_operators("numpy.add-at")]
    ['numpy.add.at']
    >>> len(find_operators("onnx"))
    7
    """
    if name in (*NAMES, *ALIASES):
        return list(load_framework(name).operators.values())
    return [find_operator(name, (*NAMES, *ALIASES))]


def join_operator_names(words: Sequence[str]) -> list[str]:
    """Words as `find_operators` takes them, a framework and a name behind it as one.

    >>> join_operator_names(["torch", "gather", "onnx"])
    ['torch.gather', 'onnx']
    """
    frameworks, names = (*NAMES, *ALIASES), list[str]()
    for word in words:
        if names and names[-1] in frameworks and word.partition(".")[0] not in frameworks:
            names[-1] += f".{word}"
        else:
            names.append(word)
    return names


def iter_called(name: str, among: Iterable[Operator]) -> Iterator[Operator]:
    """The operators of this name, however it is spelt."""
    command = to_kebab_case(name)
    return (operator for operator in among if operator.command == command)


def to_kebab_case(name: str) -> str:
    """A name as the command line writes it, however documents and code do.

    >>> to_kebab_case("ScatterNDUpdate"), to_kebab_case("index_add_"), to_kebab_case("add.at")
    ('scatter-nd-update', 'index-add', 'add-at')
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=ND)(?=[A-Z])", "-", name)
    return re.sub(r"[_.\s-]+", "-", parted).strip("-").lower()


def bare_operators() -> Iterator[Operator]:
    """The operators that need no framework's name; a framework is imported when it is reached."""
    for owner in BARE_FRAMEWORKS:
        yield from (item for item in load_framework(owner).operators.values() if item.has_bare_name)


@overload
def run(
    name: str, inputs: Arguments, attrs: Arguments | None = None, *,
    max_bytes: int | None = None, out: None = None,
) -> np.ndarray[Any, Any]: ...  # fmt: skip


@overload
def run(
    name: str, inputs: Arguments, attrs: Arguments | None = None, *,
    max_bytes: int | None = None, out: str | PathLike[str],
) -> Any: ...  # fmt: skip


def run(
    name: str, inputs: Arguments, attrs: Arguments | None = None, *,
    max_bytes: int | None = None, out: str | PathLike[str] | None = None,
) -> Any:  # fmt: skip
    """Run `framework.operator` on arrays by argument name; only GscliError leaves.

    What the rules allow and may still surprise is told by GscliWarning, before `out` is written.
    Data may be an array of the zarr or dask package: a gather reads the chunks that it needs. `out`
    names a file for the result, written whole or not at all: a .npy file or a .zarr store in memory
    that does not grow. The .npy file comes back mapped, the store as an array of the zarr package.

    >>> run("onnx.scatter_nd", {"data": [1, 2, 3], "indices": [[0]], "updates": [9]})
    array([9, 2, 3])
    """
    from gscli.frameworks.execute import run_and_warn

    operator = find_called(name, inputs, attrs)
    path = None if out is None else fspath(out)
    return run_and_warn(operator, inputs, attrs or {}, path, max_bytes=max_bytes)


def find_called(name: object, inputs: object, attrs: object) -> Operator:
    """The operator of a call from Python, whose arguments may be anything."""
    check_argument("name", name, str, "that of an operator, as a string")
    for what, value in (("inputs", inputs), ("attrs", {} if attrs is None else attrs)):
        check_mapping(what, value)
    return find_operator(name)


def check_mapping(what: str, value: object) -> None:
    """UsageError where an argument from Python does not map names to values."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise UsageError(f"{what} must map names to values", where=f"{value!r}"[:200])


def assign_inputs(
    operator: Operator, words: Sequence[str], named: Arguments, texts: Collection[str] = (),
    command: str = "",
) -> dict[str, str]:  # fmt: skip
    """Which word is which input: positions in the framework's order, `--NAME` for any of them.

    `texts`: names of the attributes that are set, which a word too many does not mean.
    `command`: what was called, where it is not the operator alone.

    >>> from gscli.frameworks.onnx import gather
    >>> assign_inputs(gather, ["i.npy"], {"data": "d.npy"})
    {'data': 'd.npy', 'indices': 'i.npy'}
    """
    waiting = [item for item in operator.inputs if item.name not in named]
    fixed = [item for item in waiting if item.kind != "many"]
    surplus = len(words) - len(fixed)
    command = command or operator.command_line
    usage = " ".join([command, *(item.name.upper() for item in operator.inputs)])
    example = f"{command} {operator.example}"
    if surplus > 0 and len(fixed) == len(waiting):
        own, extra = format_count(len(operator.inputs), "input"), words[len(fixed) :]
        problem = f"{operator.command} takes {own}, got {len(words) + len(named)}"
        known = {item.name: item.kind for item in operator.attributes if item.name not in texts}
        hint = _surplus_hint(operator, words, extra[0], known) or example
        where = f"too many: {sanitize(' '.join(extra))}"
        raise UsageError(problem, where=where, valid=usage, hint=hint)
    _check_names_apart(operator, words)
    check_single_stdin([*words, *named.values()], usage)
    result: dict[str, str] = {}
    rest = iter(words)
    for item in operator.inputs:
        if item.kind == "many" and item.name not in named:
            from gscli.layout.subscripts import split_items

            members = list(islice(rest, max(surplus, 0)))
            if any(map(split_items, members)):
                split = [part for word in members for part in split_items(word) or [word]]
                problem = "each item of a subscript is a word of its own"
                hint = f"write {format_command(split)} in its place"
                raise UsageError(problem, where=" ".join(members), hint=hint)
            result |= {f"{item.name}_{number}": word for number, word in enumerate(members)}
            continue
        word = named[item.name] if item.name in named else next(rest, None)
        if word is not None:
            result[item.name] = str(word)
        elif not item.optional:
            problem = f"{operator.command} needs {item.name}"
            for holder in filter(re.compile(r"[^:]+\.(npz|safetensors)$").match, words):
                call = f"{command} {quote_word(holder)} --NAME FILE"
                example = f"{call} names what {holder} does not hold"
            raise UsageError(problem, where=usage, hint=example)
    return result


def _check_names_apart(operator: Operator, words: Sequence[str]) -> None:
    """UsageError where a word names the input that it is, as in Python."""
    flags = {item.name: item.flag for item in operator.inputs}
    for word in words:
        name, mark, value = word.partition("=")
        if mark and name in flags and not os.path.exists(word):
            problem, hint = "inputs are named by options", f"{flags[name]} {quote_word(value)}"
            raise UsageError(problem, where=sanitize(word), hint=hint[:200])


def check_single_stdin(words: Sequence[object], where: str = "") -> list[object]:
    """Which of some inputs is -, or a member of it, if any; UsageError where several are."""
    problem, hint = "standard input (-) can be read only once", "name a file in place of -"
    readers = [word for word in words if str(word).partition("::")[0].strip() == "-"]
    check_rule(len(readers) <= 1, problem, where, kind=UsageError, hint=hint)
    return readers


def _surplus_hint(
    operator: Operator, words: Sequence[str], extra: str, known: Mapping[str, str]
) -> str:
    """What a word too many may mean; `known`: attributes that are not set, and their kinds."""
    name, mark, _ = extra.partition("=")
    kind = known.get(name.replace("-", "_"), "") if mark else ""
    is_switched = extra in ("0", "1")  # by a switch that is set, or is said otherwise
    flags = [item.name for item in operator.attributes if item.kind == "bool"]
    switches = [name.replace("_", "-") for name in flags if (name in known) != is_switched]
    values = "; ".join(f"--{name} says true, --no-{name} says false" for name in switches)
    if kind == "bool" or (switches and not {"true", "false"}.isdisjoint(map(str.lower, words))):
        return values
    joined = {"direct": "--in-place=direct", "output": "--json=output"}  # and not by a blank
    options = [f"--{sanitize(extra)}"] if kind else [*filter(None, map(joined.get, words))]
    ones = [extra] if mark or "axis" in operator.input_names else words
    numbers = [word for word in ones if re.fullmatch(r"-?\d+", word)]
    first = next(iter(operator.attributes_by_name), "")
    if numbers and first != "opset" and known.get(first) == "int":
        number = numbers[0 if operator.framework.name == "torch" else -1]  # gather(x, dim, i)
        options = options or [f"{format_flag(first)}={number}"]
    needed = [item for item in operator.attributes if item.is_required and item.name in known]
    if len(needed) == 1 and not options:
        with suppress(UsageError):
            word = re.sub(r"[][() ]", "", extra) if needed[0].kind == "ints" else extra
            needed[0].parse(word)
            options = [f"{format_flag(needed[0].name)}={word}"]
    return "; ".join(filter(None, [values * is_switched, format_suggestion(options)]))
