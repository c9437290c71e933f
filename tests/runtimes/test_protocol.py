"""The wire: what is believed of a runtime's words, and how its process may end."""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gscli.base import CannotRead, ContentRefused, GscliWarning, UsageError
from gscli.disk import processes
from gscli.disk.processes import Child, ProcessSpec, python_program
from gscli.files.formats.jsonarray import load_json
from gscli.frameworks import find_operator, find_operators, operators
from gscli.lab.calls import dump_call, read_call, read_name, to_gscli_name, to_wire_name
from gscli.runtimes.catalogue import build_runtime_command
from gscli.runtimes.peer import answer_request as served
from gscli.runtimes.process import OutOfTime, RuntimeProcess
from gscli.runtimes.protocol import Reply, parse_hello, parse_reply, select_supported
from gscli.runtimes.selftest import check_adapter

HELLO = '{"name": "mine", "version": "1", "ops": ["onnx.Gather", "echo"]}'
CALL: tuple[Any, ...] = (
    find_operator("onnx.gather"), {"data": np.array([10, 20]), "indices": np.array([1])}, {},
)  # fmt: skip


def program(body: str) -> ProcessSpec:
    """A runtime that introduces itself and then does what `body` says with every request."""
    text = (
        "import json, os, sys, time\n"
        f"print({HELLO!r}, flush=True)\n"
        "for line in sys.stdin:\n"
        "    number = json.loads(line)['id']\n"
        f"    {body}\n"
    )
    return ProcessSpec((sys.executable, "-c", text))


def asked(command: ProcessSpec, **limits: Any) -> Reply:
    with RuntimeProcess(command, **limits) as runtime:
        runtime.start()
        return runtime.run_call(*CALL)


def test_a_name_on_the_wire_is_read_back() -> None:
    for operator in operators():
        assert to_gscli_name(*to_wire_name(operator)) == operator.full_name


def test_a_request_is_a_recorded_case_without_an_answer() -> None:
    document = dump_call(find_operator("onnx.scatter_nd"), {"data": np.arange(2)}, {"opset": 16})
    assert document == {
        "framework": "onnx", "op": "ScatterND", "opset": 16, "device": "cpu",
        "inputs": {"data": {"dtype": "int64", "shape": [2], "data": [0, 1]}}, "attrs": {},
    }  # fmt: skip


def test_a_request_is_read_back_as_recorded_cases_are() -> None:
    inputs = {"data": np.arange(3), "indices": np.array([-1])}
    for name, attrs in (("onnx.gather", {"axis": 0, "opset": 13}), ("torch.take", {})):
        document = dump_call(find_operator(name), inputs, attrs)
        record = json.loads(json.dumps(document))
        arrays, options = read_call(record, load_json)
        assert (read_name(record), options) == (name, attrs)
        assert all(np.array_equal(arrays[key], array) for key, array in inputs.items())
    document = {"framework": "jax", "op": "stablehlo.scatter", "inputs": {}, "attrs": {}}
    assert read_call(document, load_json)[1] == {"xla": True}


@pytest.mark.parametrize("value", [float("-inf"), 2**60, 0.5, 3, complex(1, float("inf")), True])
def test_numbers_that_json_has_no_word_for_are_read_back(value: object) -> None:
    operator, attrs = find_operator("torch.scatter"), {"dim": 0, "value": value}
    record = json.loads(json.dumps(dump_call(operator, {}, attrs)))
    assert read_call(record, load_json)[1] == attrs
    record["attrs"] |= {"value": "5", "dim": "0"}
    assert read_call(record, load_json)[1] == {"dim": "0", "value": "5"}, "a word that is one"


@pytest.mark.parametrize(
    ("line", "how"),
    [
        (b'{"id": 1, "output": {"dtype": "int8", "shape": [1], "data": [3]}}', "output"),
        (b'{"id": 1, "error": {"type": "IndexError", "message": "no"}}', "error"),
        (b'{"id": 1, "unsupported": "strings"}', "unsupported"),
        (b'{"id": 2, "error": "another request"}', "garbage"),
        (b'{"id": true, "error": "no"}', "garbage"),
        (b'{"id": 1.0, "error": "no"}', "garbage"),
        (b'{"id": 1, "error": null}', "garbage"),
        (b'{"id": 1, "unsupported": null, "error": "no"}', "error"),
        (b'{"id": 1}', "garbage"),
        (b'{"id": 1, "output": 5}', "garbage"),
        (b'{"id": 1, "output": {"dtype": "int8", "shape": [9], "data": [3]}}', "garbage"),
        (b'{"id": 1, "output": {"dtype": "int8", "shape": [1], "data": [300]}}', "garbage"),
        (b'{"id": 1, "output": {"dtype": "object", "shape": [1], "data": [3]}}', "garbage"),
        (b'{"id": 1, "output": {"dtype": "int8", "shape": [99999999999], "data": []}}', "garbage"),
        (b'{"id": 1, "output": {"data": [3]}, "gradients": {"data": 5}}', "garbage"),
        (b"[" * 100_000, "garbage"),
        (b"\xff\xfe", "garbage"),
        (b"null", "garbage"),
        (b"Traceback (most recent call last):", "garbage"),
    ],
)
def test_an_answer_is_read_or_it_is_garbage(line: bytes, how: str) -> None:
    assert parse_reply(line, 1).status == how


def test_words_of_a_runtime_cannot_write_to_the_terminal() -> None:
    said = parse_reply(b'{"id": 1, "error": "\\u001b[2Jgone\\n"}', 1)
    assert "\x1b" not in said.text
    assert "\n" not in said.text


@pytest.mark.parametrize(
    "line",
    [b"hello", b"{}", b'{"name": "x"}', b'{"name": 1, "ops": []}', b'{"name": "x", "ops": [1]}',
     b'{"name": "x", "ops": [], "rules": 5}', b"[" * 1000],
)  # fmt: skip
def test_an_introduction_that_is_none_is_refused(line: bytes) -> None:
    with pytest.raises(ContentRefused, match="introduce"):
        parse_hello(line)


@pytest.mark.parametrize(
    ("body", "how", "words"),
    [
        ("print('loading', flush=True)", "garbage", "loading"),
        ("os._exit(7)", "crash", "status 7"),
        ("os.kill(os.getpid(), 11)", "crash", "SIGSEGV"),
        ("sys.exit('no such index')", "crash", "no such index"),
        ("time.sleep(100)", "hang", "within 0.5 s"),
        pytest.param("os.close(1) or time.sleep(100)", "crash", "", marks=pytest.mark.slow),
    ],
)
def test_whatever_becomes_of_the_process_is_an_answer(body: str, how: str, words: str) -> None:
    answer = asked(program(body), patience=0.5)
    assert answer.status == how
    assert words in answer.text


@pytest.mark.parametrize(
    "body",
    [
        "[say(number) for number in range(99)]; time.sleep(0.3)",
        "[(say(number), say(number + 1)) for number in map(numbered, sys.stdin)]",
    ],
)
def test_an_answer_before_the_question_is_not_believed(body: str) -> None:
    text = (
        f"import json, sys, time\nprint({HELLO!r}, flush=True)\n"
        "def numbered(line): return json.loads(line)['id']\n"
        "def say(number): print(json.dumps({'id': number, 'error': 'x'}), flush=True)\n"
        f"{body}"
    )
    with RuntimeProcess(ProcessSpec((sys.executable, "-c", text))) as runtime:
        runtime.start()
        time.sleep(0.2)
        replies = [runtime.run_call(*CALL)]
        time.sleep(0.1)
        replies.append(runtime.run_call(*CALL))
    assert "unasked" in " ".join(reply.text for reply in replies if reply.status == "garbage")


def test_memory_is_watched() -> None:
    body = "kept = b'x' * (400 << 20); time.sleep(20)"
    answer = asked(program(body), patience=15.0, memory=200 << 20)
    assert answer.status == "memory"


def test_an_endless_line_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gscli.disk.processes.LINE_LIMIT", 1 << 20)
    assert (
        asked(program("[sys.stdout.write('x' * 65536) for _ in iter(int, 1)]")).status == "garbage"
    )


def test_what_closes_its_pipes_and_stays_has_its_time_and_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Child(python_program(sys.executable, "import time; time.sleep(100)")) as child:
        clock = itertools.count(0, 0.1)
        monkeypatch.setattr(processes.time, "monotonic", lambda: next(clock))
        assert child._describe_ending(0.5) == "closed its standard output"
        assert next(clock) < 2
        monkeypatch.undo()


def test_the_next_request_starts_a_new_process() -> None:
    body = "os._exit(1)"
    with RuntimeProcess(program(body)) as runtime:
        runtime.start()
        assert [runtime.run_call(*CALL).status for _ in range(3)] == ["crash"] * 3
        assert runtime.restarts == 2


def test_a_deadline_is_no_hang_of_the_runtime() -> None:
    with RuntimeProcess(program("time.sleep(100)")) as runtime:
        runtime.start()
        began = time.monotonic()
        runtime.deadline = began + 0.2
        with pytest.raises(OutOfTime):
            runtime.echo(np.array([1]))
        assert time.monotonic() - began < 5


def test_of_a_runtime_that_ended_the_next_process_is_started_ahead() -> None:
    spec = program("os._exit(3)")._replace(is_isolated=True)
    with RuntimeProcess(spec) as runtime:
        runtime.start()
        assert [runtime.echo(np.array([1])).status for _ in range(3)] == ["crash"] * 3
        assert runtime._spare is not None
        number = runtime._spare._process.pid
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_nothing_is_left_running() -> None:
    with RuntimeProcess(program("time.sleep(100)"), patience=0.2) as runtime:
        runtime.start()
        assert runtime._child is not None
        number = runtime._child._process.pid
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_nothing_is_left_of_what_a_runtime_started_before_it_ended(tmp_path: Path) -> None:
    file = tmp_path / "child"
    body = (
        "child = os.fork()\n"
        "    if not child: time.sleep(100)\n"
        f"    open({str(file)!r}, 'w').write(str(child))\n"
        "    os._exit(3)"
    )
    assert asked(program(body)).status == "crash"
    child = Path(f"/proc/{file.read_text()}/stat")
    deadline = time.monotonic() + 5
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _runs(child)


def _runs(stat: Path) -> bool:
    """Whether a process is there and no zombie that nobody waits for."""
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_runtime_that_does_not_start_says_why() -> None:
    with RuntimeProcess(
        ProcessSpec((sys.executable, "-c", "import nowhere_to_be_found"))
    ) as runtime:
        with pytest.raises(CannotRead) as caught:
            runtime.start()
        assert "nowhere_to_be_found" in str(caught.value)
    with RuntimeProcess(ProcessSpec(("/nowhere/at/all",))) as runtime, pytest.raises(CannotRead):
        runtime.start()


def test_a_silent_program_is_told_of_while_it_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gscli.runtimes.process.SILENCE_LIMIT", 0.1)
    monkeypatch.setattr("gscli.runtimes.process.START_LIMIT", 0.2)
    with (
        RuntimeProcess(ProcessSpec(("sleep", "100")), patience=0.5) as runtime,
        pytest.warns(GscliWarning, match="its first line has 0.5 s; sleep 100"),
        pytest.raises(CannotRead, match="no answer within") as caught,
    ):
        runtime.start()
    assert "--patience SECONDS" in caught.value.hint


def test_an_answer_that_may_need_longer_is_not_the_adapters_fault() -> None:
    hello = HELLO.replace(', "echo"', "")
    words = (word.replace(HELLO, hello) for word in program("time.sleep(100)").words)
    with (
        RuntimeProcess(ProcessSpec(tuple(words)), patience=0.1) as runtime,
        pytest.raises(ContentRefused, match="none of the plain") as caught,
    ):
        check_adapter(runtime, [find_operator("onnx.gather")])
    assert caught.value.hint == "--patience SECONDS, where calls need longer"


def test_an_adapter_that_changes_tensors_must_not_judge() -> None:
    body = (
        "print(json.dumps({'id': number, 'output':"
        " {'dtype': 'float32', 'shape': [1], 'data': [3.5]}}), flush=True)"
    )
    with (
        RuntimeProcess(program(body)) as runtime,
        pytest.raises(ContentRefused, match="changes tensors"),
    ):
        check_adapter(runtime, [find_operator("onnx.gather")])


@pytest.mark.parametrize(
    ("status", "problem"),
    [("unsupported", "supports none of the plain"), ("error", "does not answer echo")],
)
def test_a_type_that_an_adapter_has_not_is_left_out_of_its_echo(status: str, problem: str) -> None:
    body = f"print(json.dumps({{'id': number, {status!r}: 'no such type'}}), flush=True)"
    with (
        RuntimeProcess(program(body)) as runtime,
        pytest.raises(ContentRefused, match=problem),
    ):
        check_adapter(runtime, [find_operator("onnx.gather")])


@pytest.mark.parametrize(
    ("rules", "name", "where"),
    [("{}", "onnx.gather", "gscli gather .*: no"),
     ('{"device": "xlaa"}', "tensorflow.gather", "its rules refuse them: .*xlaa")],
)  # fmt: skip
def test_a_runtime_that_gets_nothing_right_must_not_judge(
    rules: str, name: str, where: str
) -> None:
    hello = HELLO.replace(', "echo"]', f'], "rules": {rules}')
    body = "print(json.dumps({'id': number, 'error': 'no'}), flush=True)"
    command = ProcessSpec(tuple(word.replace(HELLO, hello) for word in program(body).words))
    with (
        RuntimeProcess(command) as runtime,
        pytest.raises(ContentRefused, match="is right in none of the plain") as caught,
    ):
        check_adapter(runtime, [find_operator(name)])
    assert re.match(where, caught.value.where)


@pytest.mark.parametrize("wish", ["onnxruntim", "", "torhc:compile", "'", "no such program"])
def test_an_unknown_runtime_is_refused(wish: str) -> None:
    with (
        pytest.raises((UsageError, CannotRead)),
        RuntimeProcess(build_runtime_command(wish)) as runtime,
    ):
        runtime.start()


@pytest.mark.parametrize(
    ("word", "name"),
    [("scatter-nd", "onnx.scatter_nd"), ("onnx.scatter_nd", "onnx.scatter_nd"),
     ("tf.gather-nd", "tensorflow.gather_nd"), ("torch.index-put", "torch.index_put_"),
     ("jax.lax.scatter_add", "jax.lax.scatter_add"),
     ("jax.lax-scatter-add", "jax.lax.scatter_add")],
)  # fmt: skip
def test_operators_are_found_by_their_names(word: str, name: str) -> None:
    assert [one.full_name for one in find_operators(word)] == [name]


def test_operators_that_a_runtime_lacks_are_told() -> None:
    hello = parse_hello(HELLO.encode())
    assert hello.unknown_names == []
    strange = HELLO.replace(', "echo"]', ', "onnx.ScaterND"], "rules": {"axis": 0, "divice": 1}')
    assert parse_hello(strange.encode()).unknown_names == ["onnx.ScaterND", "divice"]
    assert [one.full_name for one in select_supported(hello, ["onnx"])] == ["onnx.gather"]
    with pytest.raises(UsageError, match="does not answer torch, numpy"):
        select_supported(hello, ["torch", "numpy.take"])
    many = hello._replace(ops=frozenset(f"onnx.gather_{number}" for number in range(90)))
    with pytest.raises(UsageError, match="does not answer any operator of gscli") as refused:
        select_supported(many, [])
    assert refused.value.valid.endswith("onnx.gather_44 …")


@pytest.mark.parametrize(
    "line", [b"", b"5", b"[]", b"{}", b'{"id": 1}', b'{"id": 1, "inputs": [], "op": "Gather"}',
             b'{"id": 1, "inputs": {"data": 5}, "op": "echo"}']
)  # fmt: skip
def test_the_reference_peer_answers_nonsense_with_an_error(line: bytes) -> None:
    assert "error" in served(line)
    json.dumps(served(line))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[1]", "not a request: it is not an object"),
        (b'{"id": 1, "op": "onnx.Gather"}', "not a request: it has no inputs"),
        (b'{"op": 5, "inputs": {}}', "not a request: op is not a text"),
        (
            b'{"op": "echo", "inputs": {"data": [1]}}',
            "the input data is no array: it is not an object",
        ),
        (b'{"op": "echo", "inputs": {"data": {"data": [1]}}}', "it has no dtype, shape"),
    ],
)
def test_the_reference_peer_says_what_a_request_lacks(line: bytes, message: str) -> None:
    assert message in served(line)["error"]["message"]
