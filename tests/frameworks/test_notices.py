"""What is not read as written, left open or changed is told: by check, in traces, from Python."""

from __future__ import annotations

import json
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gscli
from gscli.base import GscliError, GscliWarning
from gscli.cli import run_safely
from gscli.frameworks import find_operator
from gscli.plan.outcomes import count_outcomes
from gscli.traces import Trace
from gscli.traces.check import iter_findings

CALLS: dict[str, tuple[str, dict[str, object]]] = {
    "onnx.gather": ("gather", {}),
    "openvino.gather": ("openvino.gather", {}),
    "numpy.take clip": ("numpy.take", {"mode": "clip"}),
    "numpy.take wrap": ("numpy.take", {"mode": "wrap"}),
    "mxnet.take": ("mxnet.take", {}),
    "mxnet.gather_nd": ("mxnet.gather_nd", {}),
    "tf gpu": ("tensorflow.gather", {"device": "gpu"}),
    "tf xla": ("tensorflow.gather_nd", {"device": "xla"}),
    "tf scatter": ("tensorflow.tensor_scatter_nd_update", {"device": "gpu"}),
    "jax.take": ("jax.take", {}),
    "jax.at.set": ("jax.at.set", {}),
    "jax.segment_sum": ("jax.segment_sum", {"num_segments": 3}),
    "torch": ("torch.take_along_dim", {"dim": 0}),
}
SAME_CELL = {"data": [0], "indices": [[0], [0]], "updates": [1, 2]}
NUMBERS = st.lists(st.integers(-9, 9), min_size=1, max_size=4)


def inputs_of(name: str, numbers: list[int]) -> dict[str, object]:
    """Inputs of an operator on four rows, by the order of its inputs."""
    operator = find_operator(name)
    data, indices = np.arange(4), np.array(numbers)
    if name == "jax.segment_sum":
        return {"data": np.arange(len(numbers)), "segment_ids": indices}
    vectors = {"mxnet.gather_nd": indices[None], "tensorflow.gather_nd": indices[:, None]}
    shaped = vectors.get(name, indices)
    if name == "tensorflow.tensor_scatter_nd_update":
        shaped = indices[:, None]
    names = [item.name + "_0" * (item.kind == "many") for item in operator.inputs]
    values = [data, shaped, np.arange(len(numbers))]
    if name == "openvino.gather":
        values[2] = np.array(0)
    return dict(zip(names, values, strict=False))


def traced(call: str, numbers: list[int]) -> Trace | None:
    name, attrs = CALLS[call]
    try:
        return gscli.trace(name, inputs_of(name, numbers), attrs)
    except GscliError:
        return None


@pytest.mark.parametrize("call", CALLS)
@settings(max_examples=20, deadline=None)
@given(numbers=NUMBERS)
def test_all_that_is_not_read_as_written_is_counted_and_found(
    call: str, numbers: list[int]
) -> None:
    trace = traced(call, numbers)
    name, attrs = CALLS[call]
    found = list(iter_findings(find_operator(name), inputs_of(name, numbers), attrs))  # type: ignore[arg-type]
    if trace is None:
        assert any(one.kind == "index" for one in found)
        return
    counted = count_outcomes(trace.plan, 100)
    moved = {(entry.number, one.slot) for entry in trace.entries() for one in entry.adjustments}
    assert sum(counted.counts.values()) == len(moved)
    told = {number.entry for numbers in counted.examples.values() for number in numbers}
    assert told == {entry for entry, _ in moved}
    usual = counted.counts.get("from_end", 0)
    assert sum(one.kind == "moved" for one in found) == len(moved) - usual
    assert any(one.kind == "negative" for one in found) == bool(usual)
    surprising = set(counted.counts) - {"from_end"}
    assert bool(surprising and "mode" not in attrs) == any(
        "ind" in notice.problem for notice in trace.warnings if "write" not in notice.problem
    )


FOUND = [
    ("mxnet take '[1,2,3]' '[7,-1]'", ["indices[0] = 7: is clipped to 2", "indices[1] = -1"]),
    ("torch take-along-dim '[10,20]' '[100]' --dim 0", ["indices[0] = 100: wraps to 0"]),
    ("tf scatter-nd '[[9]]' '[1]' '[3]' --device gpu", ["[0,0] = 9: is outside and is dropped"]),
    ("openvino gather '[1,2,3]' '[7]' 0", ["= 7: is outside and reads the fill value"]),
    ("jax take '[1,2,3]' '[9,-1]'", ["indices[0] = 9: is outside", "1 negative index counts"]),
    ("mxnet take '[1,2,3]' '[1.5]'", ["loses its fraction and means 1"]),
]


@pytest.mark.parametrize(("line", "told"), FOUND)
def test_check_finds_what_is_not_read_as_written(
    line: str, told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(["check", *shlex.split(line)]) == 1
    said = capsys.readouterr().out
    assert all(one in said for one in told), said


WARNED = [
    ("scatter-elements '[1.0,NaN]' '[0]' '[2.0]' --reduction max", "max makes of NaN"),
    ("scatter-elements '[true,false]' '[0]' '[true]' --reduction add", "add of bool"),
    ("scatter-nd '[\"a\"]' '[[0]]' '[\"b\"]' --reduction add", "add of str"),
    ("gather-elements '[[1,2],[3,4]]' '[[0]]'", "smaller than data off the axis"),
    ("scatter-elements '[[1,2],[3,4]]' '[[0]]' '[[9]]'", "smaller than data off the axis"),
    ("gather '[1,2]' '[-1]' --opset 1", "below zero"),
    ("onnx scatter '[[1,2]]' '[[-1,0]]' '[[8,9]]'", "below zero"),
    ('scatter-nd \'[1,2]\' \'{"dtype":"int64","shape":[1,0],"data":[]}\' \'[[8,9]]\'', "empty"),
    ("scatter-nd '[0,0]' '[[0],[0]]' '[1,2]'", "write the same cell"),
    ("scatter-nd '[0,0]' '[[0],[0]]' '[1,1]'", "write the same cell"),
    ("torch scatter '[0,0,0]' '[0,2,0,2]' '[1,5,1,6]' --dim 0", "d: index 2"),
    ("jax at-set '[0.5,1]' '[0,0]' '[0.0,-0.0]'", "write the same cell"),
    ("jax at-set '[1,2,3]' '[0]' '[7.9]'", "7.9 becomes 7"),
    ("jax at-set '[1,2,3]' '[0]' 7.9", "values = 7.9 becomes 7"),
    ("numpy put '[1,2,3]' '[0]' '[7.9]'", "7.9 becomes 7"),
    ("numpy add-at '[1,2,3]' '[0]' '[7.9]'", "b[0] = 7.9 is combined as it is"),
    ("numpy multiply-at '[2]' '[0]' '[1.5]'", "results are cast to int64, and may change"),
    ("torch scatter '[1,2]' '[0]' --value 2.9 --dim 0", "2.9 becomes 2"),
    ("torch take-along-dim '[10,20]' '[100]' --dim 0", "100 wraps to 0"),
    ("tf gather '[1,2,3]' '[9]' --device gpu", "reads the fill value"),
    ("mxnet take '[1,2,3]' '[7,-1]'", "7 is clipped to 2"),
    ("tf gather '[1,2,3]' 9 --device gpu", "indices = 9 is outside"),
    ("caffe2 gather '[[],[]]' '[9]'", "INDICES[0] = 9 is outside and reads nothing"),
]


@pytest.mark.parametrize(("line", "told"), WARNED)
def test_what_is_open_or_changed_is_warned_of_and_strict_refuses(
    line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(line)
    assert run_safely([*words, "-q"]) == 0
    assert told in " ".join(capsys.readouterr().err.split())
    assert run_safely([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert told in json.dumps(document["warnings"])
    assert run_safely([*words, "--strict"]) == 1
    assert run_safely(["check", *words]) == 1


@pytest.mark.parametrize(
    ("line", "reductions"),
    [
        ("scatter-nd [1] [[0],[0]] [5,6]", "--reduction add|mul|max|min"),
        ("scatter-nd [1] [[0],[0]] [5,6] --opset 16", "--reduction add|mul"),
        ("scatter-elements [1] [0,0] [5,6] --opset 13", ""),
        ("scatter-elements [true] [0,0] [true,true]", "--reduction mul"),
        ('scatter-nd ["a"] [[0],[0]] ["b","c"]', ""),
        ("openvino scatter-nd-update [1] [[0],[0]] [5,6] --opset 3", ""),
        ("torch scatter [1] [0,0] [5,6] --dim 0", "--reduce add|multiply"),
    ],
)
def test_reductions_that_define_a_result_are_those_of_the_version_and_type(
    line: str, reductions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely([*line.split(), "-q"]) == 0
    command = line.partition(" [")[0].split()[-1]  # run and compare do not have its options
    hint = f"{reductions} of {command} defines it; " if reductions else ""
    assert f"  help: {hint}--strict refuses\n" in capsys.readouterr().err
    for reduction in reductions.partition(" ")[2].split("|") if reductions else ():
        option = f"{reductions.partition(' ')[0]}={reduction}"
        assert run_safely([*line.split(), option, "-q", "--strict"]) == 0


@pytest.mark.parametrize(
    ("name", "inputs", "attrs", "hint"),
    [
        ("scatter_nd", SAME_CELL, {}, 'reduction="add" of scatter_nd defines it'),
        (
            "torch.scatter",
            {"input": [0], "index": [0, 0], "src": [1, 2]},
            {"dim": 0},
            'reduce="add" of scatter defines it',
        ),
        ("numpy.put", {"a": [0], "ind": [0, 0], "v": [1, 2]}, {}, ""),
    ],
)
def test_a_hint_of_a_warning_in_python_is_in_its_words(
    name: str, inputs: dict[str, object], attrs: dict[str, object], hint: str
) -> None:
    with pytest.warns(GscliWarning) as caught:
        gscli.run(name, inputs, attrs)
    assert caught[0].message.notice.hint == hint  # type: ignore[union-attr]
    if hint:
        option, _, word = hint.partition(" ")[0].replace('"', "").partition("=")
        with warnings.catch_warnings():
            warnings.simplefilter("error", GscliWarning)
            gscli.run(name, inputs, {**attrs, option: word})


@pytest.mark.parametrize("out", [[], ["-o", "big.npy"]])
def test_strict_is_told_of_on_the_screen_alone(
    out: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("data.npy", np.zeros(1 << 22, np.int64))
    words = ["scatter-nd", "data.npy", "[[0],[0]]", "[5,6]", "--json", *out]
    assert run_safely(words) == 0
    printed = capsys.readouterr()
    hint = "--reduction add|mul|max|min of scatter-nd defines it"
    assert [each["hint"] for each in json.loads(printed.out)["warnings"]] == [hint]
    assert f"  help: {hint}; --strict refuses\n" in printed.err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("openvino scatter-elements-update [1.0] [0] [NaN] 0 --reduction max", "OpenVINO"),
        ("openvino scatter-nd-update [1.0] [[0]] [NaN] --reduction min", "OpenVINO"),
        ("tf tensor-scatter-nd-max [1.0] [[0]] [NaN]", "TensorFlow"),
        ("tf scatter-nd-min [1.0] [[0]] [NaN]", "TensorFlow"),
        ("tf unsorted-segment-max [1.0,NaN] [0,0] --num-segments 1", "TensorFlow"),
        ("tf segment-min [1.0,NaN] [0,0]", "TensorFlow"),
        ("onnx scatter-elements [1.0] [0] [NaN] --reduction max", "ONNX"),
    ],
)
def test_nan_under_max_and_min_is_warned_of_where_the_text_is_open(
    line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely([*line.split(), "--json"]) == 0
    captured = capsys.readouterr()
    assert f"{told} does not say what m" in captured.err
    assert f"{told} does not say" in json.dumps(json.loads(captured.out)["warnings"])
    assert run_safely([*line.replace("NaN", "2.0").split(), "--json=output"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("data", "value"), [("uint64", -1), ("uint32", -1), ("int64", 2**63)])
def test_a_value_that_changes_its_sign_is_warned_of(data: str, value: int) -> None:
    values = np.array([value], "uint64" if value > 0 else data.removeprefix("u"))
    inputs = {"a": np.zeros(3, data), "indices_0": [0], "values": values}
    with pytest.warns(GscliWarning, match="values change"):
        gscli.run("numpy.setitem", inputs)


@pytest.mark.parametrize(
    ("operator", "value", "told"),
    [
        ("add", 1.5, "values[0] = 1.5 is combined as it is"),  # 1 + 1.5 + 1.5 = 4
        ("set", 1.5, "values[0] = 1.5 becomes 1"),
        ("set", 1e30, "values[0] = 1e+30 becomes 9223372036854775807"),
    ],
)
def test_what_jax_casts_is_told(operator: str, value: float, told: str) -> None:
    inputs = {"x": [1, 2], "indices_0": [0, 0], "values": [value, value]}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        output = gscli.run(f"jax.at.{operator}", inputs)
    assert any(told in str(warning.message) for warning in seen)
    assert told.startswith("values[0] = 1.5 is") or told.endswith(f" {output[0]}")
    assert output[0] == 4 or operator == "set"


def test_nan_that_is_stretched_over_all_updates_is_looked_at() -> None:
    inputs = {"data": np.zeros(3), "indices": [0, 1], "updates": np.broadcast_to(np.nan, (2,))}
    with pytest.warns(GscliWarning, match="what max makes of NaN"):
        gscli.run("onnx.scatter_elements", inputs, {"reduction": "max"})


def test_a_complex_number_keeps_its_imaginary_part_in_a_narrower_complex_type() -> None:
    inputs = {"input": np.zeros(1, np.complex64), "index": [0]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        output = gscli.run("torch.scatter", inputs, {"dim": 0, "value": 1 + 2j})
    assert output.tolist() == [1 + 2j]


def test_a_picture_that_shows_an_index_moving_needs_no_warning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_safely(["mxnet", "take", "[1,2,3]", "[7]"]) == 0
    captured = capsys.readouterr()
    assert "7" in captured.out
    assert captured.err == ""


@pytest.mark.parametrize(
    "words",
    [
        "torch index-put [1,2] [0,0] 5",
        "numpy setitem [[1,2],[3,4]] [0,0] [[5,6],[5,6]]",
        "numpy put [1,2,3] [0,1,0] [5,6]",
        'numpy setitem ["a","b"] [1,1] "c"',
        "jax at-set [1,2] [[0],[0]] [[5],[5]]",
    ],
)
def test_writers_that_all_bring_the_same_leave_nothing_open(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely([*words.split(), "-q", "--strict"]) == 0
    assert capsys.readouterr().err == ""
    tells = not words.startswith("jax")  # elsewhere counts[words] += 1 loses counts so
    assert run_safely(["check", *words.split()]) == tells


@pytest.mark.parametrize(
    "words",
    [
        "torch scatter [1,2] [0,0] --value 5 --dim 0",
        "torch index-fill [1,2] [0,0] --value 5 --dim 0",
    ],
)
def test_one_value_for_all_leaves_nothing_open(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(["explain", *words.split()]) == 0
    assert "the last entry wins" not in capsys.readouterr().out
    assert run_safely(["check", *words.split()]) == 0


def test_a_mode_that_is_asked_for_needs_no_warning(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["numpy", "take", "[1,2,3]", "[7]", "--mode", "clip", "-q", "--strict"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("suffix", ["npy", "npz", "json"])
def test_an_error_made_of_a_warning_comes_before_the_file(tmp_path: Path, suffix: str) -> None:
    old, new = tmp_path / f"old.{suffix}", tmp_path / f"new.{suffix}"
    gscli.save(str(old), np.array([7]))
    with warnings.catch_warnings():
        warnings.simplefilter("error", GscliWarning)
        for out in (old, new):
            with pytest.raises(GscliWarning, match="write the same cell") as caught:
                gscli.run("scatter_nd", SAME_CELL, out=out)
            assert caught.value.notice.hint
    assert gscli.load(str(old)).tolist() == [7]
    assert not new.exists()


def test_python_warns_where_the_call_stands(tmp_path: Path) -> None:
    with pytest.warns(GscliWarning, match="7 is clipped to 2") as caught:
        gscli.mxnet.take([1, 2, 3], [7])
    assert caught[0].filename == __file__
    with pytest.warns(GscliWarning, match="write the same cell") as caught:
        gscli.run("scatter_nd", SAME_CELL)
    assert caught[0].filename == __file__
    for suffix in ("npy", "json"):
        out = tmp_path / f"out.{suffix}"
        with pytest.warns(GscliWarning, match="write the same cell") as caught:
            gscli.run("scatter_nd", SAME_CELL, out=out)
        assert caught[0].filename == __file__
        assert gscli.load(str(out)).tolist() == [2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gscli.scatter_nd([0, 0], [[0], [1]], [1, 2])
        gscli.numpy.take([1, 2, 3], [7], mode="clip")


def test_a_number_that_stands_for_several_entries_is_counted_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = "[[10,20,30],[40,50,60]]"
    words = ["torch", "take-along-dim", data, "[[-1,3]]", "--dim=1"]
    assert run_safely([*words, "--json=output"]) == 0
    told = capsys.readouterr().err
    assert "2 indices wrap around the axis" in told
    assert told.count("wraps to") == 2
    assert run_safely(["check", "jax", "at-get", data, "[[7],[1]]", "[5,0]"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["indices_0[0,0] = 7: is clipped to 1", "indices_1[0] = 5: is clipped to 2"]
    assert lines[-1] == "2 findings"
