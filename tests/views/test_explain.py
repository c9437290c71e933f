"""Formula, entries and counts in words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from recording.scenes import PLAIN, ROLES, SCENES, duplicates, outside

from gscli.base import IndexRefused
from gscli.cli import run_safely
from gscli.plan.outcomes import OUTCOMES
from gscli.traces import Trace, trace
from gscli.views.lines import render_text
from gscli.views.look import ViewOptions
from gscli.views.picture import Picture
from gscli.views.subject import make_views
from gscli.views.summary import Counts, count_cells, describe_purpose
from gscli.views.terminal.explain import Explanation
from gscli.views.terminal.frames import Frames
from gscli.views.texts import NumberFormat
from gscli.views.words.facts import Describer
from gscli.views.words.formula import Formula, cite_rule, explain_entry

ints = np.array


def told(found: Trace, **more: Any) -> str:
    return render_text(Explanation(found, PLAIN._replace(**more)), PLAIN)


def test_updates_that_are_empty_are_said_to_write_nothing() -> None:
    found = trace("numpy.put", {"a": [1, 2], "ind": [0], "v": np.zeros(0)})
    assert describe_purpose(found) == "v is empty: nothing is written."
    assert "\nv is empty: nothing is written.\n" in told(found)
    plain = Explanation(found, PLAIN, plain=True).format_plain()
    assert isinstance(plain, str)
    assert plain.count("v is empty: nothing is written.") == 1


@pytest.mark.parametrize(
    ("name", "inputs", "attrs", "equation"),
    [
        (
            "onnx.gather",
            {"data": np.zeros((2, 5, 3)), "indices": np.zeros((2, 2), np.int64)},
            {"axis": 1},
            "output[i,j,k,l] = data[i, indices[j,k], l]",
        ),
        (
            "onnx.gather",
            {"data": np.zeros(2), "indices": np.array(0)},
            {},
            "output = data[indices]",
        ),
        (
            "onnx.gather_elements",
            {"data": np.zeros((2, 3)), "indices": np.zeros((2, 2), np.int64)},
            {"axis": 1},
            "output[i,j] = data[i, indices[i,j]]",
        ),
        (
            "onnx.gather_nd",
            {"data": np.zeros((2, 3, 4)), "indices": np.zeros((2, 5, 1), np.int64)},
            {"batch_dims": 1},
            "output[i,j,k] = data[i, indices[i,j,0], k]",
        ),
        (
            "onnx.scatter_nd",
            {"data": np.zeros((4, 3)), "indices": ints([[0, 1]]), "updates": np.zeros(1)},
            {"reduction": "add"},
            "output[indices[i,0], indices[i,1]] += updates[i]",
        ),
        (
            "onnx.scatter_nd",
            {"data": np.zeros(4), "indices": ints([[0]]), "updates": np.zeros(1)},
            {"reduction": "max"},
            "output[indices[i,0]] = max(output[indices[i,0]], updates[i])",
        ),
        (
            "mxnet.gather_nd",
            {"data": np.zeros((2, 3), np.float32), "indices": ints([[0, 1], [1, 2]])},
            {},
            "output[i] = data[indices[0,i], indices[1,i]]",
        ),
        (
            "numpy.take",
            {"a": np.zeros((2, 3)), "indices": ints([0])},
            {},
            "output[i] = a.flat[indices[i]]",
        ),
        (
            "numpy.put",
            {"a": np.zeros((2, 3)), "ind": ints([0, 1, 2]), "v": np.zeros(2)},
            {},
            "output.flat[ind[i]] = v.flat[i % 2]",
        ),
        (
            "numpy.put",
            {"a": np.zeros((2, 3)), "ind": ints([[0, 1]]), "v": np.zeros(2)},
            {},
            "output.flat[ind[i,j]] = v.flat[2*i + j]",
        ),
        (
            "torch.masked_scatter",
            {"input": np.zeros(3), "mask": [True, False, True], "source": np.zeros(3)},
            {},
            "output[nonzero(mask)[i]] = source.flat[i]",
        ),
        (
            "numpy.add.at",
            {
                "a": np.zeros((2, 3)),
                "indices_0": ints([[0], [1]]),
                "indices_1": ints([[0, 2]]),
                "b": np.zeros((2, 2)),
            },
            {},
            "output[indices_0[i,0], indices_1[0,j]] += b[i,j]",
        ),
        (
            "torch.index_fill",
            {"input": np.zeros((2, 3)), "index": ints([0])},
            {"dim": 1, "value": -7.5},
            "output[i, index[j]] = -7.5",
        ),
        (
            "torch.index_add",
            {"input": np.zeros(3), "index": ints([0]), "source": np.zeros(1)},
            {"dim": 0, "alpha": 2},
            "output[index[i]] += 2.0 * source[i]",
        ),
        (
            "torch.nll_loss",
            {"input": np.zeros((1, 2)), "target": ints([0])},
            {"reduction": "none"},
            "output[i] += -input[i, target[i]]",
        ),
        (
            "torch.embedding_bag",
            {"input": ints([[0, 1]]), "weight": np.zeros((2, 2))},
            {"mode": "sum"},
            "output[i,k] += weight[input[i,j], k]",
        ),
    ],
)
def test_equations(name: str, inputs: dict[str, Any], attrs: dict[str, Any], equation: str) -> None:
    assert Formula(trace(name, inputs, attrs)).equation == equation


def test_equation_of_a_window_adds_start_and_offset() -> None:
    formula = Formula(SCENES["window"]())
    assert formula.equation == (
        "output[i,j,k] = operand[start_indices[i,0] + j, start_indices[i,1] + k]"
    )
    assert formula.ranges == "i = 0 … 1, j = 0 … 1, k = 0 … 2"


@pytest.mark.parametrize("name", ["onnx.gather", "onnx.gather_elements"])
def test_the_equation_holds(name: str) -> None:
    """Evaluated in Python, the equation of a gather gives the output."""
    rng = np.random.default_rng(3)
    data, indices = rng.integers(0, 99, (3, 4, 2)), rng.integers(0, 3, (3, 4, 2))
    found = trace(name, {"data": data, "indices": indices}, {"axis": 0})
    left, right = Formula(found).equation.split(" = ")
    letters = left.removeprefix("output[").removesuffix("]").split(",")
    for place in np.ndindex(found.output.shape):
        names = {"data": data, "indices": indices, **dict(zip(letters, place, strict=True))}
        assert eval(right, {}, names) == found.output[place]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("negative", "-3 … 2 on axis 0; below zero counts from the end, anything else is refused"),
        ("clipped", "0 … 3 on axis 0; anything else moves to the nearest end"),
        ("filled", "below zero counts from the end, anything else reads nothing and gives -21474"),
    ],
)
def test_what_indices_mean_is_said(name: str, sentence: str) -> None:
    assert sentence in " ".join(told(SCENES[name]()).split())


def test_scatters_say_what_output_starts_as() -> None:
    indices, updates = np.array([[1]], np.int32), np.array([5], np.int32)
    made = {"indices": indices, "updates": updates, "shape": np.array([3], np.int32)}
    assert "output starts as 0 everywhere." in told(trace("tensorflow.scatter_nd", made))
    assert "a cell that is hit forgets its old value" in told(SCENES["mean"]())
    ids, rows = np.array([1, 1]), np.array([[5, 6], [3, 9]])
    largest = told(trace("tensorflow.segment_max", {"data": rows, "segment_ids": ids}))
    largest = " ".join(largest.split())
    assert "starts as 0 everywhere; a cell that is hit forgets its old value" in largest
    assert "output[1,:]: starts with [5, 6], its old value is not counted" in largest
    assert "output[1,:]: max([5, 6], [3, 9]) = [5, 9], again after a" in largest


def test_counts() -> None:
    assert count_cells(duplicates()) == Counts(
        7, skipped=1, touched=3, duplicate_count=1, changed=3
    )
    assert "3 of 12 cells changed, 1 of 7 entries dropped, 1 cell hit twice or more" in told(
        duplicates()
    )


@pytest.mark.parametrize("xla", [False, True])
def test_updates_that_fall_outside_are_told_alike_everywhere(xla: bool) -> None:
    found = outside(xla=xla)
    entries = found.entries()
    updates = found.inputs["updates"]
    used = np.zeros(updates.shape, bool)
    for entry in entries:
        if entry.target is not None:
            assert entry.change is not None
            assert entry.result is not None
            part = tuple(slice(*ends) for ends in entry.result)
            assert updates[part].reshape(-1).tolist() == entry.change.update.tolist()
            used[part] = True
    assert found.output.sum() == updates[used].sum()
    assert [entry.dropped_count for entry in entries] == ([0, 0, 0, 0] if xla else [0, 4, 3, 0])
    (numbers,) = [one for one in make_views(found, entries, ROLES) if one.name == "updates"]
    assert {mark.number for mark in numbers.marks if mark.alarm} == {1, 2, 3}
    alarmed = np.zeros(updates.shape, bool)
    for mark in numbers.marks:
        if mark.alarm:
            alarmed[tuple(slice(*ends) for ends in mark.box)] = True
    assert (alarmed == ~used).all()
    counted = count_cells(found)
    assert counted is not None
    assert (counted.lost, counted.skipped) == ((0, 3) if xla else (7, 1))
    refused = [one for entry in entries for one in entry.adjustments if one.how == "skipped"]
    sheets = ViewOptions(color="none", show=("inputs", "scatter_indices", "updates", "output"))
    drawn = render_text(Picture(found, sheets), sheets)
    assert len(re.findall(r"\d✗", drawn)) == len(refused) + (~used).sum()


def test_one_dropped_update_is_named() -> None:
    assert ", updates[0,0] dropped outside " in " ".join(told(windows_of_two()).split())
    assert "1 update falls outside" in told(windows_of_two())


def windows_of_two() -> Trace:
    """One window of two cells, one of them outside."""
    inputs = {"inputs": [0, 0], "scatter_indices": [[-1]], "updates": [[5, 6]]}
    attrs = {
        "update_window_dims": (1,), "scatter_dims_to_operand_dims": (0,), "index_vector_dim": 1,
        "xla": False,
    }  # fmt: skip
    return trace("stablehlo.scatter", inputs, attrs)


def test_a_cell_that_keeps_its_value_is_not_counted_as_changed() -> None:
    inputs = {"data": [1.0, np.nan], "indices": [[0], [1]], "updates": [1.0, np.nan]}
    found = count_cells(trace("onnx.scatter_nd", inputs))
    assert found is not None
    assert found.changed == 0


def test_windows_that_share_some_cells_are_counted_and_no_cell_of_theirs_is_summed() -> None:
    inputs = {
        "inputs": [1, 2], "scatter_indices": [[0], [-1], [-1]],
        "updates": [[10, 11], [12, 13], [14, 15]],
    }  # fmt: skip
    attrs = dict(windows_of_two().attributes) | {"update_computation": "add"}
    text = render_text(Picture(trace("stablehlo.scatter", inputs, attrs), PLAIN), PLAIN)
    assert "twice:" not in text
    assert "2 of 2 cells changed, 2 updates fall outside, 1 cell hit twice or more" in text


def test_nothing_is_counted_where_data_has_no_cells() -> None:
    attrs = {
        "update_window_dims": (1,), "inserted_window_dims": (0,),
        "scatter_dims_to_operand_dims": (1,),
    }  # fmt: skip
    inputs = {"operand": np.zeros((0, 1)), "scatter_indices": [[0]], "updates": [[10.0]]}
    found = trace("jax.lax.scatter_add", inputs, attrs)
    assert "0 of 0 cells changed, 1 of 1 entries dropped" in told(found)


def test_too_many_cells_are_not_counted() -> None:
    data = np.broadcast_to(np.float32(1), (4, 1 << 19))
    found = trace("onnx.gather", {"data": data, "indices": [0, 1, 2, 3]})
    assert count_cells(found) is None
    assert "cells are touched more than 1,048,576 times" in told(found)


def test_limit() -> None:
    text = told(duplicates(), limit=2)
    assert "\n b  " in text
    assert "\n c  " not in text
    assert "5 more entries: --limit N" in text


def test_reasons_name_the_rule_and_its_source() -> None:
    found = duplicates()
    teller = Describer(found, NumberFormat())
    reasons = [" ".join(explain_entry(teller, entry)) for entry in found.entries()]
    assert "already written by entry a, and reduction add combines them" in reasons[2]
    assert "11 + 30 = 41" in reasons[2]
    assert "-1 on axis 0 of size 4 is 3: an index below zero counts from the end" in reasons[3]
    assert "5 on axis 0 of size 4 is outside: such an index writes nothing" in reasons[4]
    assert all(text.endswith("Rule: JAX at.add.") for text in reasons)
    last = SCENES["last_wins"]()
    reason = explain_entry(Describer(last, NumberFormat()), last.entries()[2])
    text = (
        "ONNX leaves the result of duplicates open without a reduction; here the last entry wins."
    )
    assert text in reason[1]
    assert reason[-1] == "Rule: ONNX scatter_nd, opset 18."
    inputs = {"data": [1, 2], "indices": [1], "updates": [3], "axis": 0}
    legal = trace("openvino.scatter_update", inputs, {})  # no word of indices that are refused
    assert cite_rule(legal) == "Rule: OpenVINO scatter_update, opset 3."


def test_clip_and_modulo_are_told_apart() -> None:
    def reason(mode: str) -> str:
        found = trace("numpy.take", {"a": [1, 2, 3], "indices": [-1, 7]}, {"mode": mode})
        teller = Describer(found, NumberFormat())
        return " ".join(line for entry in found.entries() for line in explain_entry(teller, entry))

    assert "-1 on axis 0 of size 3 is clipped to 0" in reason("clip")
    assert "7 on axis 0 of size 3 is 1: an index outside is taken modulo" in reason("wrap")
    assert "counts from the end" not in reason("wrap")


def test_plain_is_one_statement_a_line() -> None:
    text = Explanation(duplicates(), ViewOptions(width=40), plain=True).format_plain()
    assert isinstance(text, str)
    assert all(line.endswith(".") for line in text.splitlines())
    assert (
        "entry d: indices_0[3], indices_1[3] is (-1, 0); -1 counts from the end and means 3; "
        "output[3,0] was 1, becomes 41.\n"
    ) in text


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [
        ("add", "1 + 4 = 5"),
        ("mul", "1 × 4 = 4"),
        ("max", "max(1, 4) = 4"),
        ("min", "min(1, 4) = 1"),
        ("none", "1 becomes 4"),
    ],
)
def test_arithmetic(reduction: str, expected: str) -> None:
    inputs = {"data": [1.0], "indices": [[0]], "updates": [4.0]}
    assert expected in told(trace("onnx.scatter_nd", inputs, {"reduction": reduction}))


def test_an_index_below_zero_that_skips_is_not_called_out_of_range() -> None:
    inputs = {"data": np.array([1, 2]), "segment_ids": np.array([-1, 0])}
    found = trace("tensorflow.unsorted_segment_sum", inputs, {"num_segments": 2})
    assert "-1 on axis 0 of size 2 is below zero, so data[0] = 1 is" in told(found)
    assert "-1 is below zero, which skips the entry" in str(
        Explanation(found, PLAIN, plain=True).format_plain()
    )
    teller = Describer(found, NumberFormat())
    assert "an index below zero skips its entry" in explain_entry(teller, found.entries()[0])[1]


def test_plain_gives_the_values_of_tensors_and_slices() -> None:
    found = trace("onnx.gather", {"data": np.arange(12).reshape(4, 3), "indices": [2, 0, -1]})
    text = str(Explanation(found, PLAIN, plain=True).format_plain())
    assert "data[3,:] is 9, 10, 11." in text
    assert "output[2,:] is 9, 10, 11." in text
    assert "data[2,:] is read into output[0,:], the values are 6, 7, 8." in text


def test_slices_that_are_written_tell_was_and_becomes() -> None:
    inputs = {"data": np.zeros((2, 2)), "indices": [[1], [1]], "updates": [[1.5, 2], [3, 4]]}
    found = trace("onnx.scatter_nd", inputs, {"reduction": "add"})
    text = str(Explanation(found, PLAIN, plain=True).format_plain())
    assert "it was 0, 0, becomes 1.5, 2." in text
    assert "it was 1.5, 2, becomes 4.5, 6; entry a wrote there before." in text
    assert "output[1,:]: [1.5, 2] + [3, 4] = [4.5, 6], again after a" in told(found)


def test_explained_values_keep_their_digits() -> None:
    found = trace("onnx.gather", {"data": [1.25, 2.5, 3.125], "indices": [0, 2]})
    assert "output[0] = 1.25" in told(found)
    assert "output[1] = 3.125" in told(found)


@pytest.mark.parametrize(
    ("name", "inputs", "legal"),
    [
        ("tensorflow.segment_mean", {"data": [1.0, 2.0], "segment_ids": [0, 7]},
         "0 and up in ascending order on axis 0; anything else is refused."),
        ("numpy.getitem", {"a": [1, 2, 3], "indices_0": [True, False, True]}, ""),
        ("numpy.getitem", {"a": [[1, 2], [3, 4]], "indices_0": [True, False], "indices_1": [1]},
         "-2 … 1 on axis 1; below zero counts from the end, anything else is refused."),
        ("jax.at.get", {"x": [1, 2], "indices_0": [2**32]},
         ("-2 … 1 on axis 0; where 32 bits hold it, below zero counts from the end, anything else "
          "moves to the nearest end.")),
        ("jax.at.get", {"x": np.zeros(0), "indices_0": np.zeros(0, int)}, ""),
    ],
)  # fmt: skip
def test_legal_is_what_the_framework_takes_and_of_written_numbers_alone(
    name: str, inputs: dict[str, object], legal: str
) -> None:
    """TensorFlow takes segment 7 of two rows: the last id says how many there are."""
    told = [text for text in Formula(trace(name, inputs)).meaning if "Legal" in text]
    assert told == ([f"Legal: {legal}"] if legal else [])


def test_legal_starts_of_a_window_leave_out_those_that_are_moved() -> None:
    """JAX 0.10 counts -1 of three cells to 2, where two cells do not fit, and moves it to 1."""
    inputs = {"operand": [1, 2, 3], "start_indices": [-1]}
    attrs = {"slice_sizes": [2]}
    meaning = "\n".join(Formula(trace("jax.lax.dynamic_slice", inputs, attrs)).meaning)
    assert "Legal: -3 … -2 or 0 … 1 on axis 0; below zero counts from the end" in meaning


@pytest.mark.parametrize(
    ("name", "data", "updates", "sentences"),
    [
        ("jax.at.power", [2], [8, 9], ["2 ^ 8 = 256", "2 ^ 8 = 256"]),
        ("jax.at.power", [-2], [3, 21], ["(-2) ^ 3 = -8", "(-2) ^ 63 = -9223372036854775808"]),
        ("jax.at.divide", [5], [0.5, 4], ["5 / 0 = inf", "5 / 2 = 2.5"]),
        ("jax.at.divide", ints([100], np.int8), [16, 16], ["100 / 16 = 6.25", "100 / 0 = inf"]),
        ("openvino.scatter_elements_update", [-1], [-2, 0],
         ["(-1 + -2) // 2 = -2", "(-3 + 0) // 3 = -1"]),
    ],
)  # fmt: skip
def test_what_an_entry_computes_is_true(
    name: str, data: Any, updates: Any, sentences: list[str]
) -> None:
    """What updates of one cell come to, in data's type, meets data; whole means round down."""
    jax = name.startswith("jax")
    names = ("x", "indices_0", "values") if jax else ("data", "indices", "updates")
    inputs = dict(zip(names, (data, [0, 0], updates), strict=True)) | ({} if jax else {"axis": 0})
    attrs = {"subscript": "i"} if jax else {"reduction": "mean"}
    lines = [line for line in told(trace(name, inputs, attrs)).splitlines() if "= 0 →" in line]
    assert [line.partition("output[0]: ")[2].partition(",")[0] for line in lines] == sentences


def test_what_segments_begin_with_is_added_and_not_counted() -> None:
    inputs, attrs = {"data": [1.0, 2.0], "lengths": [2]}, {"reduce": "mean", "initial": 3}
    text = " ".join(told(trace("torch.segment_reduce", inputs, attrs)).split())
    assert "mean of output[segments[i]], which is added and not counted, and every data" in text
    assert "(4 + 2) / 2 = 3" in text


def test_updates_that_meet_each_other_first_are_told_so_below_a_picture() -> None:
    run = trace("jax.at.power", {"x": [2], "indices_0": [0, 0], "values": [8, 9]})
    text = render_text(Picture(run, PLAIN), PLAIN)
    assert "output[0], twice: 2 ^ (8 × 9 → 8) = 256" in text
    assert any("in integer types the low 6 bits" in line for line in Formula(run).meaning)


def test_updates_that_do_not_show_in_output_have_all_their_digits() -> None:
    """They lose against what the cells hold, or fall outside."""
    run = trace(
        "jax.at.max", {"x": [1.0, 2.0], "indices_0": [0, 9], "values": [0.25, 0.5]},
        {"subscript": "i"},
    )  # fmt: skip
    picture = render_text(Picture(run, PLAIN), PLAIN)
    assert re.search(r"0\.25.*\n.*0\.5", picture), picture
    frame = render_text(Frames(run, PLAIN).step(1), PLAIN)
    assert "max(1, 0.25) = 1" in frame


def test_updates_of_a_picture_show_the_factor_that_they_are_scaled_by() -> None:
    inputs = {"input": [1, 2], "index": [0, 0], "source": [5, -6]}
    run = trace("torch.index_add", inputs, {"dim": 0, "alpha": 2})
    text = render_text(Picture(run, PLAIN), PLAIN)
    assert "the update beside it, times 2, is added to that cell." in " ".join(text.split())
    assert "+2×5" in text
    assert "+2×(-6)" in text


@pytest.mark.parametrize(("mask", "cells"), [(True, 3), (False, 0)])
def test_a_mask_without_axes_takes_all_or_nothing(mask: bool, cells: int) -> None:
    inputs = {"a": ints([1, 2, 3]), "indices_0": ints(mask)}
    run = trace("numpy.getitem", inputs)
    assert run.output.shape == (int(mask), 3)
    assert "The mask indices_0, without axes, takes all of a if it is true; " in render_text(
        Picture(run, PLAIN), PLAIN
    )
    assert run.output.size == cells


@pytest.mark.parametrize(
    ("subscript", "inputs", "axis"),
    [
        ("i, i", [ints(True), ints([0, 7])], "axis 0 of a has size 2"),
        ("i, i", [ints(7), ints(True)], "axis 0 of a has size 2"),
        (":, i, i", [ints(True), ints([7])], "axis 1 of a has size 5"),
    ],
)
def test_beside_a_mask_without_axes_nothing_is_laid_flat(
    subscript: str, inputs: list[np.ndarray[Any, Any]], axis: str
) -> None:
    named = {f"indices_{number}": array for number, array in enumerate(inputs)}
    call = {"a": np.zeros((2, 5)), **named}
    with pytest.raises(IndexRefused) as refusal:
        trace("numpy.getitem", call, {"subscript": subscript})
    assert axis in refusal.value.details
    legal = {**call, **{name: array % 2 for name, array in named.items() if array.dtype != bool}}
    words = told(trace("numpy.getitem", legal, {"subscript": subscript}))
    assert f"on {axis[:6]};" in words


@pytest.mark.parametrize("plain", [False, True])
def test_what_a_mean_leaves_out_is_not_its_updates(plain: bool) -> None:
    """TensorFlow calls the updates data."""
    inputs = {"data": np.array([1.0, 2.0]), "segment_ids": ints([0, 0])}
    found = trace("tensorflow.unsorted_segment_mean", inputs, {"num_segments": 1})
    made = Explanation(found, PLAIN, plain=plain)
    text = made.format_plain() if plain else render_text(made, PLAIN)
    assert "value of data" not in text
    assert "its old value is not counted" in text


def test_an_entry_before_all_bags_says_so() -> None:
    inputs = {"input": [1], "weight": [[0.5], [2.5]], "offsets": ints([], np.int64)}
    found = trace("torch.embedding_bag", inputs)
    assert " a  input[0] = 1 → weight[1,0], which is in no bag" in told(found).splitlines()
    plain = str(Explanation(found, PLAIN, plain=True).format_plain())
    assert "entry a: input[0] is 1; weight[1,0] is in no bag." in plain.splitlines()


def test_an_entry_without_an_index_says_none() -> None:
    found = trace("numpy.getitem", {"a": [1, 2]}, {"subscript": ":"})
    assert " a  no index → a[:] → output[:] = [1, 2]" in told(found).splitlines()
    plain = Explanation(found, PLAIN, plain=True).format_plain()
    assert "entry a: a[:] is read into output[:], the values are 1, 2." in str(plain).splitlines()


def test_a_sum_that_its_type_cannot_hold_is_told_with_the_type() -> None:
    inputs = {
        "data": ints([100, 2], np.int8),
        "indices": [0, 0],
        "updates": ints([100, 100], np.int8),
    }
    found = trace("onnx.scatter_elements", inputs, {"reduction": "add"})
    assert "output[0]: 100 + 100 = 200, in int8 = -56" in told(found)
    picture = render_text(Picture(found, PLAIN), PLAIN)
    assert "output[0], twice: 100 + 100 + 100 = 300, in int8 = 44" in picture


@pytest.mark.parametrize(
    ("update", "line"),
    [
        (2.5, "10 × 2.5 = 25"),
        (0.25, "10 × 0.25 = 2.5, in int64 = 2"),
        (np.nan, "10 × nan = nan, in int64 = -9223372036854775808"),
    ],
)
def test_a_fraction_that_its_type_cannot_hold_is_told_with_the_type(
    update: float, line: str
) -> None:
    inputs = {"a": [10, 20], "indices_0": [0], "b": [update]}
    assert f"output[0]: {line} " in " ".join(told(trace("numpy.multiply.at", inputs)).split())


def test_a_number_that_counts_through_cells_is_no_coordinate_on_an_axis() -> None:
    inputs = {"input": [[[5.0]]], "indices": [[[3]]]}
    found = trace("torch.max_unpool2d", inputs, {"kernel_size": 2})
    picture = render_text(Picture(found, PLAIN), PLAIN)
    assert re.search(r"at  axis 0  cell", picture)
    assert "Legal: 0 … 3 on a part of output laid flat" in told(found)
    assert "counts through the cells of a part of output" in " ".join(picture.split())
    assert "on a laid flat" in told(trace("numpy.put", {"a": [[1, 2]], "ind": [0], "v": [5]}))


def test_an_index_without_entries_addresses_what_one_of_its_shape_would() -> None:
    data, index, updates = np.zeros((3, 4)), np.zeros((1, 0), np.int64), np.zeros((1, 0))
    text = told(trace("torch.gather", {"input": data, "index": index}, {"dim": 1}))
    assert "input[i, index[i,j]]" in text
    inputs = {"input": data, "index": index, "src": updates}
    for text in (
        told(trace("torch.scatter_add", inputs, {"dim": 1})),
        told(trace("numpy.put", {"a": data, "ind": index[0], "v": updates})),
    ):
        assert "% 0" not in text


@pytest.mark.parametrize("reduce", ["sum", "amax"])
def test_a_cell_whose_old_value_does_not_count_is_said_to_forget_it(reduce: str) -> None:
    inputs = {"input": [9, 1], "index": [0, 0], "src": [2, 3]}
    attrs = {"dim": 0, "reduce": reduce, "include_self": False}
    picture = render_text(Picture(trace("torch.scatter_reduce", inputs, attrs), PLAIN), PLAIN)
    assert "its old value is not counted." in " ".join(picture.split())


@pytest.mark.parametrize(
    ("subscript", "sentence"),
    [
        (":", "An entry without an index takes all of a; that line is copied to output."),
        ("1:1", "An entry without an index takes no cell of a; that line is copied to output."),
        ("None", "An entry without an index takes all of a; that line is copied to output."),
    ],
)
def test_an_entry_without_an_index_has_no_place_of_its_own(subscript: str, sentence: str) -> None:
    found = trace("numpy.getitem", {"a": [1, 2]}, {"subscript": subscript})
    assert sentence in render_text(Picture(found, PLAIN), PLAIN)


def test_a_slice_stands_in_parentheses_before_its_own_subscript() -> None:
    found = trace("numpy.getitem", {"a": np.arange(9)}, {"subscript": "2:5"})
    text = told(found)
    assert "output[i] = a[(2:5)[i]]" in text
    assert " a  (2:5)[0] = 2 → a[2] → output[0] = 2" in text


def test_indices_that_are_stretched_are_said_to_be() -> None:
    inputs = {"arr": [[1, 2], [3, 4]], "indices": [[1]]}
    sentence = describe_purpose(trace("numpy.take_along_axis", inputs, {"axis": 1}))
    assert sentence.startswith("Each number of indices, stretched to [2,1], names a column, in ")


def test_what_jax_reaches_in_a_wider_type_is_told_with_what_the_output_keeps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call = ["jax", "at-add", "[10,20,30]", "[0,2,0]", "[1.5,2,3]"]
    assert run_safely(call) == 0
    screen, notices = capsys.readouterr()
    assert "output[0], twice: 10 + 1.5 + 3 = 14.5, in int64 = 14" in screen
    assert "values is float64, output is int64" in notices
    run_safely(["explain", *call])
    assert "Every step runs in float64; results are then cast to int64." in capsys.readouterr().out


@pytest.mark.parametrize("values", ["[2,3]", "[2.0,3.0]"])
def test_quotients_of_integers_are_said_to_be_cast_nowhere(
    values: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_safely(["explain", "jax", "at-divide", "[10,20]", "[0,0]", values])
    screen = capsys.readouterr().out
    assert "the product, in x's type, divides it." in screen
    assert "cast to" not in screen


def test_three_slices_that_are_added_to_one_are_not_called_both(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_safely(["numpy", "add-at", "[[1,2]]", "[0,0,0]", "1"])
    assert "3 times: updates add up" in capsys.readouterr().out


LOSSES = {"input": [[-0.5, -1.0], [-0.25, -2.0]], "target": [1, 0], "weight": [2.0, 3.0]}
BAGS = {"input": [0, 1], "weight": [[0.5], [2.5]], "offsets": [0], "per_sample_weights": [4.0, 8]}


@pytest.mark.parametrize(
    ("name", "inputs", "attrs", "purpose", "effect"),
    [
        (
            "torch.nll_loss", LOSSES, {"reduction": "mean"},
            "that cell is a loss; losses are summed and divided by the sum of these numbers.",
            "input[0,1] = -1, times weight[1], which is 3 → output",
        ),
        (
            "torch.nll_loss", {**LOSSES, "input": [[-0.5, -1.0]], "target": [1]}, {},
            "losses are summed and divided by the sum of these numbers.",
            "input[0,1] = -1, times weight[1], which is 3 → output",
        ),
        (
            "torch.nll_loss", LOSSES, {"reduction": "none"},
            "with the other sign, times its class's number of weight, that cell is a loss.",
            "input[0,1] = -1, times weight[1], which is 3 → output[0]",
        ),
        (
            "torch.nll_loss", {key: LOSSES[key] for key in ("input", "target")}, {},
            "with the other sign that cell is a loss; losses are averaged.",
            "input[0,1] = -1 → output",
        ),
        (
            "torch.embedding_bag", BAGS, {"mode": "sum"},
            "a bag, each times its number of per_sample_weights, meet in output: summed.",
            "weight[1,0] = 2.5, times per_sample_weights[1], which is 8 → output[0,0]",
        ),
        (
            "torch.embedding_bag", {key: BAGS[key] for key in ("input", "weight", "offsets")}, {},
            "the rows of a bag meet in output: averaged.",
            "weight[1,0] = 2.5 → output[0,0]",
        ),
    ],
)  # fmt: skip
def test_what_multiplies_the_cells_of_a_fold_is_told(
    name: str, inputs: dict[str, Any], attrs: dict[str, Any], purpose: str, effect: str
) -> None:
    found = trace(name, inputs, attrs)
    assert describe_purpose(found).endswith(purpose)
    assert effect in " ".join(told(found).split())


def test_the_factors_of_a_fold_stand_beside_its_indices() -> None:
    found = trace("torch.nll_loss", {**LOSSES, "target": [1, -100]})
    picture = render_text(Picture(found, PLAIN), PLAIN).splitlines()
    head = next(number for number, line in enumerate(picture) if "weight [2]" in line)
    assert [line.split("│")[0].split()[-1] for line in picture[head + 2 : head + 4]] == ["0", "1"]
    assert "×3" in picture[head + 2]
    assert "×" not in picture[head + 3]
    small = trace(
        "torch.embedding_bag", {**BAGS, "per_sample_weights": [1.0, 1e-6]}, {"mode": "sum"}
    )
    assert "times per_sample_weights[1], which is 1.0000e-06" in " ".join(told(small).split())


def test_plain_tells_every_input() -> None:
    plain = str(Explanation(trace("torch.nll_loss", LOSSES), PLAIN, plain=True).format_plain())
    assert "weight is float64 with shape [2], its values are 2, 3." in plain.splitlines()
    assert "goes into output, times weight[1], which is 3." in plain
    plain = str(
        Explanation(
            trace("torch.embedding_bag", BAGS, {"mode": "sum"}), PLAIN, plain=True
        ).format_plain()
    )
    assert "offsets is int64 with shape [1], its value is 0." in plain.splitlines()


@pytest.mark.parametrize(
    ("starts", "words"),
    [
        ([-1, 0], "(-1, 0) counts from the end and is clipped to (1, 0)"),
        ([-9, 0], "(-9, 0) is clipped to (0, 0)"),
        ([-3, 0], "(-3, 0) counts from the end: (0, 0)"),
        ([-1, 9], "(-1, 9) means (1, 2)"),
        ([0, 9], "(0, 9) is clipped to (0, 2)"),
    ],
)
def test_the_way_of_a_start_counts_from_the_end_before_it_is_clipped(
    starts: list[int], words: str
) -> None:
    inputs = {"operand": np.arange(12).reshape(3, 4), "start_indices": starts}
    run = trace("jax.lax.dynamic_slice", inputs, {"slice_sizes": (2, 2)})
    assert f" a start_indices = {words} → " in " ".join(told(run).split())


def test_numbers_that_go_several_ways_are_told_by_what_they_mean() -> None:
    inputs = {"x": np.zeros((3, 3)), "indices_0": [9, -1], "indices_1": [-1, 9]}
    text = told(trace("jax.at.get", inputs))
    assert "(9, -1) means (2, 2) → x[2,2]" in text
    assert "(-1, 9) means (2, 2) → x[2,2]" in text


def test_a_number_read_without_a_sign_moves_to_the_far_end() -> None:
    inputs = {"params": np.zeros((2, 3)), "indices": ints([[-1], [5]], np.int64)}
    run = trace("tensorflow.gather", inputs, {"batch_dims": 1, "device": "xla"})
    teller = Describer(run, NumberFormat())
    rules = [explain_entry(teller, entry)[1] for entry in run.entries()]
    assert rules == [
        "-1 on axis 1 of size 3 is clipped to 2: an index outside moves to the far end.",
        "5 on axis 1 of size 3 is clipped to 2: an index outside moves to the nearest end.",
    ]
    assert "⊣ moved to an end" in render_text(
        Picture(run, PLAIN._replace(show=("indices",))), PLAIN
    )


def test_an_index_that_is_cut_has_a_rule_as_every_other_outcome_has() -> None:
    run = trace("jax.at.get", {"x": np.zeros(3), "indices_0": [2**32 + 1]})
    lines = explain_entry(Describer(run, NumberFormat()), run.entries()[0])
    assert lines[1] == "4294967297 on axis 0 of size 3 is 1: an index is cut to its low 32 bits."
    assert all(words.rule for words in OUTCOMES.values() if words.sign)
