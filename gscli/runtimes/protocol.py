"""What goes over the wire to a runtime and back, how little of it is believed, and what is asked.

A request is a recorded case without its answer; `gscli help runtimes` describes both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from textwrap import shorten
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from gscli.base import ContentRefused, GscliError, UsageError, check_rule
from gscli.base.arrays import Array
from gscli.base.records import Arguments, Record
from gscli.base.words import sanitize
from gscli.disk.processes import Trouble
from gscli.files.formats.jsonarray import load_json
from gscli.files.formats.jsontext import parse_json
from gscli.frameworks import find_operators, operators
from gscli.frameworks.operator import Operator
from gscli.lab.calls import find_flaw, to_gscli_name

# The operator that answers its input: with it the way in and out is tried.
ECHO = "echo"

MAX_OPS = 10_000

# Characters of a foreign message, and of the names of a runtime's operators, that are kept.
MAX_MESSAGE_CHARACTERS = 300
MAX_NAMES_CHARACTERS = 600

ReplyStatus: TypeAlias = Literal["output", "error", "unsupported"] | Trouble


class Reply(Record):
    """What a runtime made of one request; `text` is its own words, or how its process ended.

    `gradients`: by input name, where the request had a cotangent; None for an input of which the
    runtime says that it has none. An error with an `output` is a refusal of the gradients alone.
    """

    status: ReplyStatus
    output: Array | None = None
    text: str = ""
    gradients: Mapping[str, Array | None] | None = None

    @property
    def tensors(self) -> dict[str, Array]:
        """The output, under no name, and the gradients that there are."""
        flows = {f"gradient of {name}": flow for name, flow in (self.gradients or {}).items()}
        tensors = {"": self.output, **flows}
        return {name: array for name, array in tensors.items() if array is not None}


class Hello(Record):
    """The first line of a runtime: who it is, the operators it answers, and its rules.

    `rules`: attributes under which it is judged, e.g. {"device": "xla_cpu"}. `has_gradients`:
    it answers a cotangent with gradients. `compiles`: calls of the same shapes in a row are quick.
    """

    name: str
    version: str
    ops: frozenset[str]
    rules: Arguments = MappingProxyType({})
    has_echo: bool = False
    has_gradients: bool = False
    compiles: bool = False

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}".strip()

    @property
    def answered_names(self) -> str:
        """The operators that it answers, as many as an error has room for."""
        return shorten(" ".join(sorted(self.ops)), MAX_NAMES_CHARACTERS, placeholder=" …")

    @property
    def unknown_names(self) -> list[str]:
        """What it answers, and its rules, that gscli does not have: they take part in nothing."""
        known = {operator.full_name: operator.attributes_by_name for operator in operators()}
        attributes = {name for op in self.ops & known.keys() for name in known[op]}
        return sorted(self.ops - known.keys()) + sorted(self.rules.keys() - attributes)


def parse_hello(line: bytes) -> Hello:
    """The first line of a runtime; ContentRefused where it is none.

    >>> parse_hello(b'{"name": "mine", "version": "1", "ops": ["onnx.ScatterND"]}').ops
    frozenset({'onnx.scatter_nd'})
    """
    value: Any = None
    with suppress(GscliError):
        value = parse_json(line, "the first line").value
    flaw = find_flaw(value, {"name": str, "ops": list}, {"rules": dict})
    if flaw or len(value["ops"]) > MAX_OPS or not all(isinstance(op, str) for op in value["ops"]):
        problem, hint = "the runtime does not introduce itself", "gscli help runtimes"
        where = f"its first line: {sanitize(line.decode('utf-8', 'replace'), 120)}"
        legal = '{"name": "mine", "version": "1.0", "ops": ["onnx.ScatterND"]}'
        raise ContentRefused(problem, where=where, valid=legal, hint=hint)
    pairs = (op.partition(".")[::2] for op in value["ops"] if op != ECHO)
    known = frozenset(to_gscli_name(*pair)[:100] for pair in pairs)
    name, version = sanitize(value["name"], 60), sanitize(str(value.get("version", "")), 60)
    flags = (value.get(flag) is True for flag in ("gradients", "compiles"))
    return Hello(name, version, known, value.get("rules", {}), ECHO in value["ops"], *flags)


def parse_reply(line: bytes, number: int) -> Reply:
    """The answer to request `number`; whatever is not one is garbage.

    >>> parse_reply(b'{"id": 1, "error": "bad index"}', 1).text
    'bad index'
    >>> parse_reply(b'loading...', 1).status
    'garbage'
    """
    statuses: tuple[ReplyStatus, ...] = ("unsupported", "error")
    with suppress(GscliError):
        value = parse_json(line, "the answer").value
        is_answer = isinstance(value, dict) and type(value.get("id")) is int
        if is_answer and value["id"] == number:
            if isinstance(value.get("output"), dict):
                output = load_json(value["output"], "the answer")
                return Reply("output", output, gradients=_load_gradients(value.get("gradients")))
            for status in statuses:
                if value.get(status) is not None:
                    return Reply(status, text=_format_message(value[status]))
    return Reply("garbage", text=sanitize(line.decode("utf-8", "replace").strip(), 120))


def _load_gradients(value: object) -> dict[str, Array | None] | None:
    if not isinstance(value, dict):
        return None
    return {
        sanitize(name, 60): None if tensor is None else load_json(tensor, "the answer")
        for name, tensor in value.items()
    }


def _format_message(value: object) -> str:
    """An error or reason as text: itself, or its type and message."""
    if isinstance(value, dict):
        value = ": ".join(str(value[key]) for key in ("type", "message") if key in value)
    words = str(value)[: 4 * MAX_MESSAGE_CHARACTERS].split()
    return sanitize(" ".join(words), MAX_MESSAGE_CHARACTERS)


def select_supported(hello: Hello, names: Sequence[str]) -> list[Operator]:
    """The operators that are asked for and that a runtime answers; without names all it has."""
    chosen = dict.fromkeys(op for name in names for op in find_operators(name)) or operators()
    answerable = [operator for operator in chosen if operator.full_name in hello.ops]
    problem = f"{hello.title} does not answer {', '.join(names) or 'any operator of gscli'}"
    check_rule(bool(answerable), problem, kind=UsageError, valid=hello.answered_names)
    return answerable
