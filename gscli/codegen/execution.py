"""`--check`: the lines of each target are run in its framework, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from gscli.base import CannotRead, LimitRefused, check_rule
from gscli.base.arrays import Array, Arrays, dtype_name, parse_dtype
from gscli.codegen.native import TARGETS
from gscli.codegen.render import load_language
from gscli.codegen.target_answers import Code, Snippet
from gscli.files.formats.jsonarray import dump_arrays
from gscli.lab.difference import describe_difference
from gscli.runtimes.catalogue import Adapter, build_adapter_command, list_installed
from gscli.runtimes.process import RuntimeProcess
from gscli.runtimes.protocol import Reply as Said

# Seconds that the lines of one target may take.
TIMEOUT_SECONDS = 60.0

# Cells of an input that are sent to another process.
MAX_INPUT_CELLS = 1 << 20


class SnippetProcess(RuntimeProcess):
    """A framework that runs printed lines."""

    def run_snippet(self, answer: Snippet, inputs: Arrays) -> Said:
        """What the lines of an answer give for these inputs."""
        attrs = {"code": "\n".join([*build_preamble(answer, inputs), *answer.call])}
        sent = {name: _to_wire_array(array, answer.target) for name, array in inputs.items()}
        call = {"framework": "lines", "op": "run", "inputs": dump_arrays(sent)}
        return self._exchange({**call, "attrs": attrs})


def build_preamble(answer: Snippet, inputs: Arrays) -> list[str]:
    """The loading lines of an answer, with arrays that are handed over in place of files."""
    spoken = load_language(answer.target)
    lines = [line for line in answer.preamble if line.startswith(("import", "from", "jax."))]
    for name, array in inputs.items():
        lines.append(spoken.format_load(name, f"given[{name!r}]", dtype_name(array.dtype)))
    return ["import numpy as np", *lines]


def _to_wire_array(array: Array, target: str) -> Array:
    """PyTorch has no bfloat16 of NumPy's: its bits are sent."""
    if target == "torch" and dtype_name(array.dtype) == "bfloat16":
        return np.asarray(array).view(np.int16)
    return np.asarray(array)


@contextmanager
def start_snippet_process(
    target: str, python: str | None, timeout: float = TIMEOUT_SECONDS
) -> Iterator[SnippetProcess]:
    """A started process for one target. CannotRead where its framework does not come up."""
    command = build_adapter_command(Adapter("lines", TARGETS[target].packages[0]), target, python)
    with SnippetProcess(command, patience=timeout) as running:
        running.start()
        yield running


def run_checks(code: Code, python: str | None = None) -> Code:
    """The same code with what a run of each target's lines said.

    LimitRefused for inputs that are too large to be sent to other processes.
    """
    for name, array in code.inputs.items():
        problem, where = f"{name} is too large to be checked", f"{name}: {array.size:,} cells"
        fits, legal = array.size <= MAX_INPUT_CELLS, f"at most {MAX_INPUT_CELLS:,}"
        hint = "try a part of it; the lines are the same for its rank and axis"
        check_rule(fits, problem, where, kind=LimitRefused, valid=legal, hint=hint)
    missing = _missing_packages([answer.target for answer in code.answers], python)
    results = [_check_snippet(code, each, missing[each.target], python) for each in code.answers]
    pairs = zip(code.answers, results, strict=True)
    return code._replace(answers=tuple(each._replace(run_result=said) for each, said in pairs))


def _missing_packages(targets: Sequence[str], python: str | None) -> dict[str, str]:
    """For each target the packages that the interpreter lacks."""
    packages = {target: TARGETS[target].packages for target in targets}
    adapters = [Adapter(target, own[0], needs=own[1:]) for target, own in packages.items()]
    return {
        row.adapter.name: " ".join([row.adapter.package] * (not row.version) + [*row.missing])
        for row in list_installed(python, adapters)
    }


def _check_snippet(code: Code, answer: Snippet, missing: str, python: str | None) -> dict[str, str]:
    if answer.verdict == "none":
        return {}
    if missing:
        text = f"install {missing}, or name a Python that has it: --python PATH, in Python python="
        return {"result": "not installed", "text": text}
    try:
        with start_snippet_process(answer.target, python, TIMEOUT_SECONDS) as running:
            assert code.output is not None
            said = compare_reply(running.run_snippet(answer, code.inputs), code.output)
            return {**said, "version": running.hello.version}
    except CannotRead as error:
        return {"result": "does not start", "text": error.where}


def compare_reply(said: Said, expected: Array) -> dict[str, str]:
    """What a run said, held against gscli's output.

    >>> compare_reply(Said("output", np.array([1, 2])), np.array([1, 3]))["text"]
    'output[1] is 2, expected 3'
    """
    if said.status != "output" or said.output is None:
        word = {"unsupported": "not supported", "hang": "took too long"}.get(said.status, "failed")
        return {"result": word, "text": said.text}
    output = said.output
    if dtype_name(expected.dtype) == "bfloat16" and output.dtype == np.int16:
        output = output.view(parse_dtype("bfloat16"))
    text = describe_difference(output, expected, noun="expected")
    return {"result": "not equal", "text": text} if text else {"result": "equal"}
