"""Callers from Python get what a shell gets: signatures, types, files, warnings, pickles."""

from __future__ import annotations

import inspect
import json
import pickle
import pydoc
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from conftest import assert_same

import gscli
from gscli.base import GscliError, IndexRefused
from gscli.frameworks import find_operator, operators
from gscli.lab.jobs import run_job


class Tensor:
    """What gscli asks of a PyTorch tensor, which it does not import."""

    def __init__(self, values: object, dtype: str = "float32") -> None:
        self.values, self.dtype = np.asarray(values), f"torch.{dtype}"
        self.asked: list[str] = []

    def detach(self) -> Tensor:
        self.asked.append("detach")
        return self

    cpu = float = resolve_conj = resolve_neg = lambda self: self

    def numpy(self) -> Any:
        if "detach" not in self.asked:
            raise RuntimeError("requires grad")
        return self.values.astype(np.float32)

    def __array__(self, *_: object) -> Any:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


def test_every_operator_has_a_signature_a_name_and_a_text() -> None:
    for operator in operators():
        has_a_signature_a_name_and_a_text(operator)


def has_a_signature_a_name_and_a_text(operator: Any) -> None:
    found = inspect.signature(operator)
    named = [item.name for item in (*operator.inputs, *operator.attributes)]
    if operator.second_attribute is not None:  # in PyTorch's order, as the stub's second overload
        named.insert(1, named.pop(len(operator.inputs)))
        kinds = {parameter.kind for parameter in found.parameters.values()}
        assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD}
    assert list(found.parameters) == named, operator.full_name
    for attribute in operator.attributes:
        if not attribute.is_required:
            assert found.parameters[attribute.name].default == attribute.default
    assert operator.__name__ == operator.name
    assert operator.__doc__
    assert pickle.loads(pickle.dumps(operator)) is operator


def test_results_show_themselves_to_people() -> None:
    """A short text at the prompt, the whole of it in a notebook, where every text is escaped."""
    inputs = {"data": [1, 2, 3], "indices": [0, -9]}
    answers = gscli.compare("gather", inputs)
    assert re.fullmatch(
        r"<Comparison of gather: \d different outputs, refused by \d+ rule sets>", repr(answers)
    )
    same = gscli.compare("gather", inputs | {"indices": [0]})
    assert repr(same) == "<Comparison of gather: 1 different output, refused by 0 rule sets>"
    assert "ONNX Gather-13" in answers._repr_html_()
    found = gscli.check("gather", inputs)
    assert found == [*found]
    assert "indices[1] = -9: index out of range" in found._repr_html_()
    assert "no findings" in gscli.check("gather", {"data": [1], "indices": [0]})._repr_html_()
    narrow = str(gscli.show(found, width=40)).split("\n")
    assert len(narrow) == 2, narrow
    assert "-3 … 2" in narrow[-1]
    alone = [gscli.compare("gather", inputs, only=name) for name in ("jax", ["jax"])]
    assert repr(alone[0]) == repr(alone[1])
    lines = gscli.code("numpy.take", {"a": ["<b>"], "indices": [0]}, to="numpy")
    assert pickle.loads(pickle.dumps(lines)).text() == lines.text()
    assert repr(lines) == "<Code of numpy.take for numpy>"
    assert "np.array([&#x27;&lt;b&gt;&#x27;], object)" in lines._repr_html_()


def test_what_python_draws_names_no_option_of_the_shell() -> None:
    inputs = {"data": [1, 2, 3], "indices": [0, -1, 5]}
    many = {"data": np.zeros((100, 100)), "indices": np.arange(99)}
    for drawn in (gscli.compare("gather", inputs), gscli.trace("gather", many)):
        text = str(gscli.show(drawn))
        assert not re.search(r" --\w|gscli \w", text + drawn._repr_html_()), text
    assert "99 entries, 20 marked in data, 20 marked in output, 20 listed" in text


@pytest.mark.parametrize(
    ("name", "inputs", "attrs", "hint"),
    [
        ("scatter_elements", {"data": [1], "indices": [0], "updates": [1]},
         {"reduction": "max", "opset": 11}, "opset=18 of scatter_elements"),
        ("jax.segment_sum", {"data": [], "segment_ids": []}, {}, "num_segments=N"),
        ("torch.one_hot", {"input": [1]}, {"num_classes": 10**12},
         "gscli.run(…, max_bytes=8000000000000)"),
    ],
)  # fmt: skip
def test_hints_are_words_of_python(name: str, inputs: Any, attrs: Any, hint: str) -> None:
    for call in (gscli.run, gscli.trace, gscli.grad, gscli.code):
        with pytest.raises(GscliError) as refused:
            call(name, inputs, attrs)
        assert refused.value.hint == hint
    pair = {"data": [[1]], "indices": [[0]]}
    with pytest.raises(GscliError, match="opset=12"):
        gscli.check("gather_nd", pair, {"batch_dims": 1, "opset": 11})
    with suppress(GscliError):
        assert [finding.hint for finding in gscli.check(name, inputs, attrs)] == [hint]


def test_help_shows_a_function_and_what_it_takes() -> None:
    text = pydoc.plain(pydoc.render_doc(gscli.scatter_nd))
    assert "scatter_nd(data: 'ArrayLike'" in text
    assert "reduction: Literal['none', 'add'" in text
    text = pydoc.plain(pydoc.render_doc(gscli.torch.gather))
    assert "gather(input: 'ArrayLike', dim: int, index: 'ArrayLike')" in text


def test_attributes_stand_where_the_framework_has_them() -> None:
    data, index = np.arange(6).reshape(2, 3), np.array([[2], [0]])
    torch, first = gscli.torch, [[2], [3]]
    assert torch.gather(data, 1, index).tolist() == first
    assert torch.gather(data, 1, index=index).tolist() == first
    assert torch.gather(data, index, dim=1).tolist() == first
    assert torch.take_along_dim(data, index, 1).tolist() == first
    assert torch.scatter(data, 1, index, value=9).tolist() == [[0, 1, 9], [9, 4, 5]]
    assert torch.scatter_reduce(data, 1, index, index, "sum").tolist() == [[0, 1, 4], [3, 4, 5]]
    assert gscli.numpy.take(data, [0], 1, "wrap").tolist() == [[0], [3]]
    for words in ((data, [0], [1]), (data, [0], 1, 13, 5), (data,)):
        with pytest.raises(GscliError, match=r"takes 2 inputs, got|needs indices"):
            gscli.gather(*words)
    for place in (np.int64(1), 1):
        assert torch.gather(data, place, index).tolist() == first
        assert gscli.numpy.take(data, [0], place).tolist() == [[0], [3]]
    assert torch.scatter(data, 1, index, 9).tolist() == [[0, 1, 9], [9, 4, 5]]
    assert torch.index_fill(data, 1, [2], np.array(9)).tolist() == [[0, 1, 9], [3, 4, 9]]
    assert torch.segment_reduce([1.0, 2.0], "sum", lengths=[2]) == [3]
    assert torch.index_put_([1, 2], ([0, 0],), [3, 4], True).tolist() == [8, 2]
    assert torch.index_put_(data, [index[1], index[0]], 9).tolist() == [[0, 1, 9], [3, 4, 5]]
    window = gscli.jax.lax_dynamic_slice(data, (0, 1), (1, 2))
    assert window.tolist() == [[1, 2]]
    pooled = torch.max_unpool1d([[[7.0]]], [[[1]]], (2,), (2,), 0, [3])
    assert pooled.tolist() == [[[0, 7, 0]]]
    for call in (
        lambda: torch.gather(data, 1, index, dim=1),
        lambda: gscli.jax.at_get(data, 0, 1),
        lambda: gscli.numpy.getitem(data, 0, 1),
    ):
        with pytest.raises(GscliError, match="takes 2 inputs, got 3"):
            call()
    for call, meant in (
        (lambda: torch.gather(data, index, 1), "gather(input, dim, index)"),
        (lambda: torch.index_select(data, np.array(2), 1), "index_select(input, dim, index)"),
        (lambda: torch.scatter_add(data, index, index, 0), "scatter_add(input, dim, index, src)"),
        (lambda: torch.index_fill(data, [2], 1, 9), "index_fill(input, dim, index, value)"),
        (lambda: torch.scatter_reduce(data, index, index, "sum", dim=0),
         "scatter_reduce(input, dim, index, src, reduce, include_self)"),
        (lambda: torch.segment_reduce([1.0], [1], None, "sum"),
         "segment_reduce(data, reduce, lengths, offsets, axis, unsafe, initial)"),
    ):  # fmt: skip
        with pytest.raises(GscliError, match=r"takes \d inputs, got \d") as refusal:
            call()
        assert refusal.value.hint == f"{meant}, or attributes by name"
    with pytest.raises(GscliError, match="axis given twice"):
        gscli.gather(data, [0], 1, axis=0)
    with pytest.raises(AttributeError, match="no operator 'put'") as unknown:
        torch.put([1], [0], [2])
    assert (unknown.value.name, unknown.value.obj) == ("put", torch)


def test_an_empty_list_takes_the_type_of_what_it_meets() -> None:
    no_vectors, no_floats = np.zeros((0, 1), np.int64), np.zeros(0, np.float32)
    assert gscli.gather([1, 2], []).tolist() == []
    assert gscli.scatter_nd([], no_vectors, no_floats).dtype == np.float32
    assert gscli.scatter_nd(no_floats, no_vectors, []).dtype == np.float32
    with pytest.raises(GscliError, match="updates must have data's element type"):
        gscli.scatter_nd(np.zeros(0), no_vectors, no_floats)
    with pytest.raises(GscliError, match="updates must have data's element type"):
        gscli.scatter_nd([1], no_vectors, no_floats)
    inputs = {"data": [1], "indices": [], "updates": no_floats}
    found = gscli.check("scatter_elements", inputs)
    assert [one.problem for one in found] == ["updates must have data's element type"]


def test_tensors_go_by_their_own_protocol() -> None:
    np.testing.assert_array_equal(gscli.gather(Tensor([1, 2]), [1]), [2])
    half = gscli.gather(Tensor([1.5, 2], "bfloat16"), [0])
    assert half.dtype.name == "bfloat16"
    assert float(half[0]) == 1.5


def test_lists_take_the_type_that_arrays_have() -> None:
    found = gscli.scatter_nd(np.zeros(2, np.float32), [[0]], [9])
    assert found.dtype == np.float32
    with pytest.raises(GscliError, match="element type"):
        gscli.scatter_nd(np.zeros(2, np.float32), [[0]], np.array([9]))
    assert gscli.mxnet.batch_take([[1, 2]], [1]) == [2]
    vectors = np.zeros((1, 1), np.int32)
    assert gscli.tf.scatter_nd(vectors, [5.0], [2]).tolist() == [5, 0]
    with pytest.raises(GscliError, match="shape must have the type of indices"):
        gscli.tf.scatter_nd(vectors, [5.0], np.array([2]))
    with pytest.raises(GscliError, match="does not fit int32"):
        gscli.mxnet.batch_take([[1, 2]], [1 << 40])


def test_masked_values_are_refused_and_bare_masks_are_not() -> None:
    with pytest.raises(GscliError, match="masked"):
        gscli.gather(np.ma.array([1, 2], mask=[False, True]), [0])
    np.testing.assert_array_equal(gscli.gather(np.ma.array([1, 2]), [1]), [2])


def test_complex_values_do_not_lose_their_imaginary_part_in_silence() -> None:
    with pytest.raises(GscliError, match="must have data's element type"):
        gscli.scatter_nd(np.ones(2), [[0]], [1 + 2j])
    assert gscli.scatter_nd(np.ones(2), [[0]], [5 + 0j]).tolist() == [5, 1]


def test_an_index_tuple_is_one_input_by_name() -> None:
    """As help() of the operator names it; its parts have names of their own, too."""
    part, table = [0, 0], [[1.0, 2.0], [3.0, 4.0]]
    for inputs in (
        {"a": table, "indices": (part, slice(1, 2)), "b": 1},
        {"a": table, "indices_0": part, "indices_1": slice(1, 2), "b": 1},
    ):
        assert gscli.run("numpy.add_at", inputs).tolist() == [[1, 4], [3, 4]]
        assert gscli.trace("numpy.add_at", inputs).output.tolist() == [[1, 4], [3, 4]]
        assert gscli.check("numpy.add_at", inputs) == []
        assert gscli.grad("numpy.add_at", inputs)["a"].tolist() == [[1, 1], [1, 1]]
        assert "equal" in str(gscli.code("numpy.add_at", inputs, to="numpy", check=True))
    arrays = {"a": np.array(table), "indices": np.array(part)}
    assert gscli.run("numpy.getitem", arrays).tolist() == [table[0], table[0]]
    with pytest.raises(GscliError, match="did you mean indices_0"):
        gscli.run("numpy.getitem", {"a": table, "indices": part, "indices_0": part})
    with pytest.raises(GscliError, match=r"gscli\.load\('i\.npy'\) reads a file"):
        gscli.numpy.getitem(table, ("i.npy", 0))
    for inputs in ({"data": "i.npy", "indices": [0]}, {"data": [1, 2], "indices": "i.npy"}):
        (finding,) = gscli.check("gather", inputs)
        assert finding.hint == "gscli.load('i.npy') reads a file"


@pytest.mark.parametrize("operator", operators(), ids=str)
def test_a_refusal_is_one_traceback(operator: Any) -> None:
    first, *others = (one.name for one in operator.inputs if one.kind != "many")
    for wrong in (["a"], [[0.5]], [1 + 2j], np.array([0.5]), object(), None):
        given = dict.fromkeys(others, wrong) | {first: [1, 2, 3]}
        try:
            operator(**given)
        except GscliError as error:
            cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
            assert cause is None, operator.full_name


def test_files_compare_check_and_show(tmp_path: Path) -> None:
    gscli.save(tmp_path / "a.npy", [1, 2])
    np.testing.assert_array_equal(gscli.load(tmp_path / "a.npy"), [1, 2])
    inputs = {"data": [1, 2], "indices": [5]}
    assert not gscli.compare("gather", inputs, only=["onnx", "jax"]).agree
    assert [one.where for one in gscli.check("gather", inputs)] == ["indices[0] = 5"]
    assert "gather" in str(gscli.show(gscli.trace("gather", {"data": [1], "indices": [0]})))


@pytest.mark.parametrize("indices", [[9], [0.5], [[0], [1, 2]]])
def test_errors_pickle_with_their_facts(indices: object) -> None:
    with pytest.raises(GscliError) as refused:
        gscli.gather([1, 2], indices)
    error = refused.value
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert again.to_dict() == error.to_dict()
    if isinstance(error, IndexRefused):
        assert again.findings == error.findings


def test_an_operator_is_found_however_it_is_spelt() -> None:
    for operator in operators():
        owner = operator.framework.name
        for name in (operator.name, operator.command, operator.command.replace("-", "_")):
            assert find_operator(f"{owner}.{name}") is operator
            assert find_operator(f"{owner} {name}") is operator


def test_batch_takes_the_words_of_a_shell(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([[1, 2], [3, 4]]))
    job = {"op": "tf gather-nd", "inputs": {"params": str(tmp_path / "a.npy"), "indices": [[1]]}}
    line = json.dumps({**job, "attrs": {"batch-dims": 0}}).encode()
    assert run_job(line, 7, [])["output"]["data"] == [3, 4]
    assert run_job(line, 7, [])["id"] == 7
    broken = run_job(b"{", 3, [])
    assert (broken["id"], broken["line"]) == (None, 3)


@pytest.mark.parametrize("entry", [gscli.run, gscli.check, gscli.code, gscli.compare, gscli.grad])
def test_inputs_that_are_no_mapping_are_refused_as_such(entry: Any) -> None:
    with pytest.raises(gscli.GscliError, match="inputs must map names to values"):
        entry("gather", [1, 2])


@pytest.mark.parametrize("values", [[], [True, 1], [2**53 + 1, 0.5], [2**63]])
def test_lists_have_the_types_that_numpy_gives_them(values: list[Any]) -> None:
    everything = gscli.gather(values, list(range(len(values))))
    assert_same(everything, np.array(values))


# One call that runs.
ROW = {"data": [1.0, 2.0], "indices": [0]}


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: gscli.load(cast("Any", 5)), "source must be the name of a file"),
        (
            lambda: gscli.load("[1]", dtype=cast("Any", float)),
            "unknown element type <class",
        ),
        (lambda: gscli.save(cast("Any", [1, 2]), "x.npy"), "target must be the name of a file"),
        (lambda: gscli.save("x", [1], format=cast("Any", 5)), "unknown format .5"),
        (lambda: gscli.show([1, 2], slice=cast("Any", 9)), "slice is not understood"),
        (lambda: gscli.run(cast("Any", gscli.gather), ROW), "name must be that of an operator"),
        (lambda: gscli.grad("gather", ROW, rules=cast("Any", 5)), "unknown rules 5"),
        (lambda: gscli.compare("gather", ROW, only=cast("Any", [5])), "nothing called '5'"),
    ],
)
def test_arguments_of_another_type_are_refused_by_name(
    call: Callable[[], Any], problem: str
) -> None:
    with pytest.raises(gscli.GscliError, match=re.escape(problem)):
        call()


def test_what_is_not_given_may_be_none_and_a_number_a_slice() -> None:
    compared = gscli.compare("gather", ROW, only=cast("Any", None))
    assert len(compared.rows) == len(gscli.compare("gather", ROW).rows)
    assert str(gscli.show([1, 2], slice=cast("Any", 1))) == str(gscli.show([1, 2], slice="1"))


def test_warnings_of_a_trace_and_hints_have_no_option_of_the_shell() -> None:
    twice = {"data": [0, 0], "indices": [[0], [0]], "updates": [1, 2]}
    run = gscli.trace("scatter_nd", twice)
    assert [notice.hint for notice in run.warnings] == ['reduction="add" of scatter_nd defines it']
    assert gscli.scatter_nd(**twice, reduction="add").tolist() == [3, 0]
    with pytest.raises(gscli.GscliError) as refused:
        gscli.grad("gather", {"data": np.array([1, 2]), "indices": [0]})
    assert refused.value.hint == "astype('float64')"
    with pytest.raises(gscli.GscliError) as refused:
        gscli.scatter_nd([0, 0], [0], [1])
    words = "in Python indices[:,None]; gscli.gather, gscli.scatter_update and"
    assert words in refused.value.hint


def test_items_of_a_subscript_are_one_tuple() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    with pytest.raises(GscliError, match="takes 2 inputs, got 3") as refusal:
        gscli.numpy.getitem(x, slice(0, 1), [0, 2])
    assert refusal.value.hint == "items of a subscript are one tuple, as (0, [1, 2])"
    assert np.array_equal(gscli.numpy.getitem(x, (0, [1, 2])), x[0, [1, 2]])


def test_text_in_place_of_indices_is_not_advised_to_be_converted() -> None:
    with pytest.raises(GscliError, match="indices must be integers") as refusal:
        gscli.gather([1, 2], ["a"])
    assert refusal.value.hint == "write them as whole numbers"
