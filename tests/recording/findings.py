"""Every finding of `gscli help findings` as a script without gscli and a text that can be filed.

    GSCLI_PYTHONS='torch=/path/to/python numpy=/path/to/python' python tests/record.py findings

asks the runtimes that are named there again, writes a script and a text for each of their findings
and runs the script; files of other runtimes stay as they are. With
GSCLI_OPERATORS='torch.gather torch.take' only findings of these operators are asked again.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gscli.base.records import Record
from gscli.cli import run_safely
from gscli.cli.topics import read_topic
from gscli.codegen.reproduction import format_expected, format_markdown, write_script
from gscli.frameworks import find_operator
from gscli.gradients.call import Gradients
from gscli.gradients.conventions import LOOP
from gscli.lab.cases import parse_case
from gscli.lab.documents import load_input, replay_comparison
from gscli.runtimes.catalogue import build_runtime_command
from gscli.runtimes.findings import FuzzFinding, group_by_cause
from gscli.runtimes.packs import case_to_record
from gscli.runtimes.process import RuntimeProcess
from gscli.runtimes.trials import FuzzCase, Mismatch, find_mismatch

ROOT = Path(__file__).parents[2]
FOLDER = "samples/53-runtime-findings"
PATIENCE = 60.0
SCRIPT_PATIENCE = 180.0

# Files of this machine, which say nothing about the runtime.
PATHS = re.compile(r"(?<![\w:/])/[\w./…-]+")


class RuntimeObservation(Record):
    """What a released runtime answers where the rules say something else, and how to see it."""

    runtime: str
    command: str
    rules: str
    observed: str


def read_observations() -> list[RuntimeObservation]:
    """The findings as the topic tells them: runtime, command, the rules' answer, the runtime's."""
    _, *blocks = read_topic("findings").strip().replace(" \\\n", " ").split("\n\n")
    parts = re.compile(r"(.*)\n  (.*)\n  rules: ([^\0]*)\n  seen:  ([^\0]*)")
    return [RuntimeObservation(*found.groups()) for found in map(parts.match, blocks) if found]


class LoopGradientCase(FuzzCase):
    """A call whose gradients are those of the specification's loop: `--rules loop`."""

    @cached_property
    def gradients(self) -> Gradients:
        own = super().gradients
        return Gradients(own.trace, own.cotangent, LOOP)


def read_call(observation: RuntimeObservation) -> FuzzCase:
    """The call that the command of a finding makes."""
    _, tool, *words = shlex.split(observation.command)
    if tool == "verify":
        case = parse_case(words[-1].encode(), "the finding")
        return FuzzCase(find_operator(case.operator), case.inputs, case.attrs)
    document = run_for_document([tool, *words[: words.index("--on")]] if tool == "compare"
                                else [tool, *words])  # fmt: skip
    if tool == "compare":
        row = replay_comparison(document).rows[0]
        return FuzzCase(row.operator, row.inputs, row.attrs)
    inputs = {
        name: np.asarray(load_input(name, described))
        for name, described in document["inputs"].items()
    }
    operator = find_operator(f"{document['framework']}.{document['op']}")
    known = {attribute.name: attribute.default for attribute in operator.attributes}
    attrs = {key: value for key, value in document["attrs"].items() if known[key] != value}
    kind = LoopGradientCase if "--rules" in words else FuzzCase
    case = kind(operator, inputs, attrs, has_gradients=True)
    if "--cotangent" in words:
        vars(case)["cotangent"] = np.asarray(load_input("cotangent", document["cotangent"]))
    return case


def run_for_document(words: list[str]) -> dict[str, Any]:
    """What a command prints with --json."""
    out = io.StringIO()
    with redirect_stdout(out):
        run_safely([*words, "--json"])
    document: dict[str, Any] = json.loads(out.getvalue())
    return document


def read_runtime(observation: RuntimeObservation) -> str:
    """What the finding is asked of, as --on has it; of gradients the framework of the command."""
    words = shlex.split(observation.command)
    return words[words.index("--on") + 1] if "--on" in words else words[2]


def name_files(number: int, observation: RuntimeObservation, case: FuzzCase) -> str:
    """A name that sorts as `help findings` does."""
    words = f"{number:02d} {read_runtime(observation)} {case.operator.name}"
    return re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-")


def made() -> dict[str, bytes]:
    """Scripts, texts and cases; what cannot be asked here stays as it is."""
    pythons = dict(word.split("=", 1) for word in os.environ.get("GSCLI_PYTHONS", "").split())
    operators = os.environ.get("GSCLI_OPERATORS", "").split()
    files: dict[str, bytes] = {}
    lines = []
    for number, observation in enumerate(read_observations(), 1):
        case = read_call(observation)
        name = f"{FOLDER}/reports/{name_files(number, observation, case)}"
        on = read_runtime(observation)
        python = pythons.get(
            observation.runtime.replace(" ", "-"), pythons.get(on.partition(":")[0])
        )
        if python is None or (operators and case.operator.full_name not in operators):
            files |= {
                f"{name}{kind}": (ROOT / f"{name}{kind}").read_bytes() for kind in (".py", ".md")
            }
        else:
            files |= {f"{name}{kind}": text for kind, text in write_report(case, on, python)}
        call = FuzzCase(case.operator, case.inputs, case.attrs)  # of gradients the reports tell
        lines.append(json.dumps({**case_to_record(call, number), "version": observation.runtime}))
    files[f"{FOLDER}/findings.jsonl"] = "".join(f"{line}\n" for line in lines).encode()
    return files


def write_report(case: FuzzCase, on: str, python: str) -> Iterator[tuple[str, bytes]]:
    """A script and a text, after the runtime was asked and the script has run."""
    with RuntimeProcess(build_runtime_command(on, python), patience=PATIENCE) as runtime:
        hello = runtime.start()
        reply = runtime.run_call(case.operator, case.inputs, case.attrs, case.cotangent)
    mismatch = find_mismatch(case, reply)
    if mismatch is None and case.is_unchecked:  # fuzz does not blame it, `help findings` tells it
        mismatch = Mismatch("answers") if reply.status == "output" else None
    if mismatch is None and reply.status == "error":  # of what `gscli grad` says that it is missing
        mismatch = Mismatch("gradient-refused")
    assert mismatch is not None, f"{hello.title} is right by now: {case.command}"
    finding = FuzzFinding(case, mismatch, reply._replace(text=PATHS.sub("FILE", reply.text)))
    script = write_script(case, on, format_expected(finding))
    seen = PATHS.sub("FILE", run_script(script, python))
    assert seen.startswith("expected: "), f"{hello.title}: {case.command}: {seen}"
    (cause,) = group_by_cause([finding])
    text = format_markdown(cause, hello.title, script)
    yield ".py", script.encode()
    yield ".md", f"{text}\nWhat the script printed:\n\n```\n{seen}```\n".encode()


def run_script(script: str, python: str) -> str:
    """What a script prints, and how it ends where it does not end well."""
    try:
        with TemporaryDirectory() as folder:  # it may write its model
            done = subprocess.run(
                [python, "-I", "-c", script], capture_output=True, text=True, check=False,
                timeout=SCRIPT_PATIENCE, cwd=folder,
            )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        return f"{(late.stdout or b'').decode()}(no answer within {SCRIPT_PATIENCE:g} s)\n"
    last = done.stderr.strip().splitlines()[-1:] if done.returncode > 0 else []
    ending = [f"(ended by signal {-done.returncode})"] if done.returncode < 0 else last
    return done.stdout + "".join(f"{line}\n" for line in ending)
