"""What `--code` says of its lines: exact, exact for these indices and what breaks them, or none."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import gscli
from gscli.codegen.target_answers import Snippet, describe_snippet


def answer(name: str, inputs: dict[str, object], target: str, **attrs: object) -> Snippet:
    return gscli.code(name, inputs, attrs, to=target).answers[0]


ELEMENTS = {"data": [[1, 2, 3], [4, 5, 6]], "indices": [[0, 2], [1, 0]]}


def test_an_index_below_zero_breaks_torch_gather_and_is_told() -> None:
    found = answer("onnx.gather_elements", ELEMENTS, "torch", axis=1)
    assert found.verdict == "exact for these indices"
    assert found.call == ("output = torch.gather(data, 1, indices)",)
    assert [text.partition(":")[0] for text in found.breaks] == ["an index below zero"]


def test_lines_treat_the_numbers_of_every_axis_alike() -> None:
    """What is said of an index below zero would hold of one axis only."""
    inputs = {"x": np.ones((3, 3)), "indices_0": [0], "indices_1": [5]}
    found = answer("jax.at.get", inputs, "tensorflow")
    assert "in these lines it moves to the nearest end" in found.breaks[0]
    inputs = {"a": np.ones((3, 4)), "indices_0": [0, -1], "indices_1": [1, 3]}
    found = answer("numpy.getitem", inputs, "tensorflow")
    assert not found.breaks
    code = "\n".join(found.lines)
    assert [f"indices_{axis} < 0" in code for axis in range(2)] == [True, True]
    plain = answer("onnx.scatter_nd", {"data": [1], "indices": [[0]], "updates": [2]}, "numpy")
    assert plain.operation == "a[i, j] ="


def test_an_index_below_zero_that_is_read_without_its_sign_is_told() -> None:
    """XLA's tf.gather beside a batch: -1 is the last row, where StableHLO reads the first."""
    inputs = {"params": [[1.5, 2.0]], "indices": [[1]]}
    answers = [answer("tensorflow.gather", inputs, target, batch_dims=1, device="xla")
               for target in ("stablehlo", "numpy")]  # fmt: skip
    begin = "an index below zero: in TensorFlow gather device=xla it moves to the far end, in "
    ends = [
        "StableHLO's stablehlo.gather it moves to the nearest end",
        "NumPy's np.take_along_axis it counts from the end",
    ]
    assert [found.breaks[0] for found in answers] == [begin + end for end in ends]


def test_of_a_call_on_another_device_the_device_is_told() -> None:
    """TensorFlow's own function of the same name, which refuses on a CPU."""
    inputs = {"tensor": [0.0, 0.0], "indices": [[1]], "updates": [1.5]}
    found = answer("tensorflow.tensor_scatter_nd_add", inputs, "tensorflow", device="gpu")
    begin = "an index out of range: in TensorFlow tensor_scatter_nd_add device=gpu it is dropped, "
    assert f"{begin}in TensorFlow's tf.tensor_scatter_nd_add it is refused" in found.breaks


def test_where_one_occurs_a_line_counts_it_from_the_end() -> None:
    found = answer("onnx.gather_elements", {**ELEMENTS, "indices": [[0, -1]]}, "torch", axis=1)
    assert found.verdict == "exact"
    assert found.call[0] == "indices = torch.where(indices < 0, indices + 3, indices)"


def test_openvino_does_with_an_index_what_its_declarations_say() -> None:
    """Seen in OpenVINO 2026.4: the writers refuse, GatherElements counts -1 from the end, and the
    index -2**63 is taken for 0."""
    indices = np.array([[0, 2], [1, 0]], np.int32)
    narrow: dict[str, object] = {"data": np.ones((2, 3), np.int32), "indices": indices}
    found = answer("onnx.gather_elements", narrow, "openvino", axis=1)
    assert (found.verdict, found.breaks) == ("exact", ())
    inputs = {**narrow, "updates": np.ones(2, np.int32)}
    inputs["indices"] = indices.astype(np.int64)
    (told,) = answer("scatter_nd", inputs, "openvino", reduction="add").breaks
    assert told == "numbers beyond 32 bits: OpenVINO's CPU plugin computes in 32 bits"
    told, _ = answer("onnx.gather_nd", {**narrow, "indices": [[0]]}, "openvino").breaks
    assert told.startswith("an index out of range: in ONNX gather_nd it is refused, in OpenVINO's ")
    assert told.endswith("GatherND-8 it is not checked")


@pytest.mark.parametrize(
    ("src", "reduce", "verdict"),
    [
        ([3.0, 5.0], "mean", "exact for these indices"),
        ([3.0, 6.0], "mean", "differs"),
        ([3.0, np.nan], "mean", "exact for these indices"),
        ([3.0, np.inf], "mean", "differs"),
        ([2.0**24, 0.0], "sum", "differs"),
    ],
)
def test_a_value_that_32_bits_do_not_hold_is_looked_for_before_and_after(
    src: list[float], reduce: str, verdict: str
) -> None:
    """Seen in OpenVINO 2026.4: 10/3 is 3.3333332538604736, 9/3 is 3, NaN stays, inf is clamped."""
    inputs: dict[str, object] = {"input": [1.0, 2.0], "index": [0, 0], "src": src}
    found = answer("torch.scatter_reduce", inputs, "openvino", dim=0, reduce=reduce)
    assert found.verdict == verdict


def test_what_fills_and_is_not_read_is_no_value_of_the_call() -> None:
    for index, verdict in ((0, "exact for these indices"), (1, "differs")):
        found = answer("onnx.gather", {"data": [1, 1 << 40], "indices": [index]}, "openvino")
        assert found.verdict == verdict
    inputs: dict[str, object] = {"x": [1.0, 2.0], "indices_0": [1, 0]}
    found = answer("jax.at.get", inputs, "openvino")
    assert found.verdict == "exact for these indices"
    numbers = np.array([3, 5], np.uint64)
    inputs = {"data": numbers[:1], "indices": [[0]], "updates": numbers[1:]}
    found = answer("openvino.scatter_nd_update", inputs, "openvino", reduction="sub")
    assert found.verdict != "differs", "2**64 - 2 is -2 in 32 bits, and widened again"
    segments = {"data": numbers[:1], "segment_ids": [0]}
    found = answer("tensorflow.unsorted_segment_min", segments, "openvino", num_segments=2)
    assert found.verdict == "differs", "2**64 - 1 is what an empty segment holds"


def test_nothing_is_said_of_indices_where_masks_alone_say_where() -> None:
    mask = np.array([True, False, True])
    inputs = {"self": np.arange(3, dtype=np.float32), "indices_0": mask, "values": np.float32(7)}
    for target in ("tensorflow", "onnx", "jax", "openvino"):
        told = answer("torch.index_put_", inputs, target).breaks
        assert not any("an index" in text or "32 bits" in text for text in told), (target, told)
    mixed = {"a": np.ones((3, 2)), "indices_0": mask, "indices_1": np.array([0])}
    told = answer("numpy.getitem", mixed, "tensorflow").breaks
    assert any(text.startswith("an index below zero") for text in told)


def test_an_index_beyond_32_bits_breaks_what_jax_cuts() -> None:
    """Seen: JAX takes the id 2**32 + 1 for 1, others do not."""
    for dtype, breaks in ((np.int32, ()), (np.int64, ("an index beyond 32 bits",))):
        ids = {"data": np.ones(2, np.float32), "segment_ids": np.array([0, -1], dtype)}
        for target in ("numpy", "torch", "tensorflow", "onnx", "stablehlo"):
            found = answer("jax.segment_prod", ids, target, num_segments=2)
            told = tuple(text.partition(":")[0] for text in found.breaks)
            assert told == breaks, (target, found.breaks)


@pytest.mark.parametrize(("target", "reduction"), [("torch", "max"), ("tensorflow", "mul")])
def test_coordinates_that_are_folded_are_not_judged_one_by_one(target: str, reduction: str) -> None:
    """(1, -1) of a matrix is the last cell of row 0 as a row number."""
    inputs = {"data": np.ones((2, 2)), "indices": [[0, 1], [1, 0]], "updates": [5.0, 6.0]}
    found = answer("scatter_nd", inputs, target, reduction=reduction)
    assert found.verdict == "exact for these indices"
    assert sum("may mean another cell" in text for text in found.breaks) == 2
    rows = {**inputs, "indices": [[0], [1]], "updates": np.ones((2, 2))}
    found = answer("scatter_nd", rows, target, reduction=reduction)
    assert not any("another cell" in text for text in found.breaks)


def test_an_empty_input_is_written_as_each_framework_reshapes() -> None:
    inputs = {"data": np.zeros((0, 3), np.float32), "indices": np.zeros(0, np.int64)}
    written = {
        target: answer("onnx.gather", inputs, target).preamble[-2:]
        for target in ("numpy", "torch", "tensorflow")
    }
    assert "data = tf.reshape(tf.constant([], tf.float32), (0, 3))" in written["tensorflow"]
    assert "data = torch.tensor([], dtype=torch.float32).reshape((0, 3))" in written["torch"]
    assert "data = np.array([], np.float32).reshape((0, 3))" in written["numpy"]


def test_duplicates_break_a_plain_scatter() -> None:
    inputs = {"data": [1, 2, 3], "indices": [[0], [2]], "updates": [7, 8]}
    (told,) = answer("scatter_nd", inputs, "torch").breaks
    assert told.startswith("two updates of one cell")
    doubled = answer("scatter_nd", {**inputs, "indices": [[2], [2]]}, "torch")
    assert doubled.verdict == "exact for these indices"


@pytest.mark.parametrize(
    ("target", "name", "parts", "words"),
    [
        ("jax", "lengths", [0, 2], "lengths that do not fit"),
        ("jax", "offsets", [0, 2, 2], "offsets that leave cells out or do not fit"),
        ("tensorflow", "lengths", [1, 2], "lengths that leave cells out or do not fit"),
    ],
)
def test_segments_leave_cells_out_where_that_breaks_the_lines(
    target: str, name: str, parts: list[int], words: str
) -> None:
    """JAX drops the number behind the last segment, and counts the one before the first."""
    inputs = {"data": [1.0, 2.0, 3.0], name: parts}
    found = answer("torch.segment_reduce", inputs, target, reduce="sum", unsafe=True)
    assert found.breaks[0].startswith(words)


CACHE = {"past_cache": np.zeros((2, 6, 4), np.float32), "update": np.ones((2, 2, 4), np.float32)}


@pytest.mark.parametrize(
    ("name", "inputs", "attrs", "breaks"),
    [
        ("onnx.tensor_scatter", CACHE, {}, ()),
        ("onnx.tensor_scatter", {**CACHE, "write_indices": [1, 5]}, {"mode": "circular"}, ()),
        ("onnx.tensor_scatter", {**CACHE, "write_indices": [1, 3]}, {}, ("an index below zero",)),
        ("jax.at.set", {"x": np.zeros((4, 4)), "values": [7.0, 8.0], "indices_0": [1, 3]},
         {"subscript": "i, 1:3"}, ("an index out of range", "two updates of one cell")),
        ("jax.at.set", {"x": np.zeros((4, 4)), "values": 7.0, "indices_0": [1, 3]},
         {"subscript": "i, 1:3"}, ("an index out of range",)),
        ("torch.index_fill", {"input": [1, 2, 3], "index": [1, 1]}, {"dim": 0, "value": 7}, ()),
    ],
)  # fmt: skip
def test_numbers_that_are_made_meet_in_no_cell(
    name: str, inputs: dict[str, object], attrs: dict[str, str], breaks: tuple[str, ...]
) -> None:
    found = answer(name, inputs, "torch", **attrs)
    assert tuple(text.partition(":")[0] for text in found.breaks) == breaks
    assert found.verdict == ("exact for these indices" if breaks else "exact")


def test_the_positions_of_a_mask_are_no_duplicates() -> None:
    inputs = {"input": [1, 2, 3], "mask": [True, False, True], "source": [9, 8]}
    (told,) = answer("torch.masked_scatter", inputs, "jax").breaks
    assert told.startswith("another mask")


@pytest.mark.parametrize("target", ["numpy", "jax"])
def test_a_mask_over_a_single_cell_names_it_once(target: str) -> None:
    inputs = {"input": 5, "mask": True, "source": [1, 2]}
    (told,) = answer("torch.masked_scatter", inputs, target).breaks
    assert told.startswith("another mask")


def test_compiled_frameworks_cannot_refuse_an_index() -> None:
    for target, does in (
        ("jax", "reads the fill value"),
        ("stablehlo", "moves to the nearest end"),
    ):
        told = answer("onnx.gather", {"data": [1, 2], "indices": [0]}, target).breaks
        assert any("an index out of range" in text and does in text for text in told)


def test_batch_axes_become_grids_where_there_is_no_batch_dims() -> None:
    inputs = {"params": np.arange(12).reshape(2, 3, 2), "indices": [[[0], [2]], [[1], [1]]]}
    assert "batch_dims=1" in answer("tf.gather_nd", inputs, "tensorflow", batch_dims=1).call[-1]
    found = answer("tf.gather_nd", inputs, "torch", batch_dims=1)
    assert "torch.arange(2).reshape((2, 1))" in "\n".join(found.call)


def test_a_missing_operation_is_composed_of_others() -> None:
    inputs = {"data": [1, 2, 3], "indices": [[0], [2]], "updates": [7, 8]}
    found = answer("scatter_nd", inputs, "tensorflow", reduction="mul")
    assert found.composed
    # Data is the first factor, as in the rule: updates alone may leave the type where both do not.
    assert "unsorted_segment_prod(\n    tf.concat([data, updates], 0)" in "\n".join(found.call)


def test_the_mean_and_data_left_out_are_composed_for_onnx() -> None:
    inputs = {"input": [1.0, 2.0], "index": [0, 0], "src": [3.0, 5.0]}
    attrs = {"dim": 0, "reduce": "mean", "include_self": False}
    found = answer("torch.scatter_reduce", inputs, "onnx", **attrs)
    assert found.composed
    assert "Div" in "\n".join(found.call)
    assert not answer("torch.scatter_reduce", inputs, "torch", **attrs).composed


def test_what_gscli_writes_no_lines_for_is_no_lack_of_the_framework() -> None:
    """ONNX has NegativeLogLikelihoodLoss, OpenVINO EmbeddingBagOffsets."""
    loss = {"input": [[-1.0, -2.0]], "target": [1]}
    bags = {"input": [0, 1], "weight": [[1.0], [3.0]], "offsets": [0]}
    for name, inputs, target in (
        ("torch.nll_loss", loss, "onnx"),
        ("torch.embedding_bag", bags, "openvino"),
    ):
        found = answer(name, inputs, target)
        reason = "gscli writes no lines for a gather that computes with what it reads"
        assert found.to_dict()["reason"] == reason


@pytest.mark.parametrize(
    ("name", "target", "operation"),
    [
        ("jax.segment_sum", "tensorflow", "tf.tensor_scatter_nd_add"),
        ("tensorflow.unsorted_segment_sum", "jax", "x.at[i]"),
    ],
)
def test_a_composition_is_no_word_on_single_calls(name: str, target: str, operation: str) -> None:
    """Each of the two has the other's segment sum."""
    found = answer(name, {"data": [5, 1], "segment_ids": [0, -1]}, target, num_segments=2)
    assert found.composed
    assert describe_snippet(found) == f"{operation} in a composition, exact for these indices"


@pytest.mark.parametrize(
    ("target", "reduction", "operation"),
    [
        ("torch", "none", "torch.scatter"),
        ("torch", "add", "torch.scatter_reduce"),
        ("tensorflow", "none", "tf.tensor_scatter_nd_update"),
        ("tensorflow", "max", "tf.tensor_scatter_nd_max"),
        ("numpy", "add", "np.add.at"),
        ("numpy", "min", "np.minimum.at"),
    ],
)
def test_an_answer_is_called_what_its_lines_call(
    target: str, reduction: str, operation: str
) -> None:
    """Seen: tf.tensor_scatter_nd, which TensorFlow does not have."""
    inputs = {"data": [0, 1], "indices": [0], "updates": [1]}
    found = answer("onnx.scatter_elements", inputs, target, reduction=reduction)
    assert found.operation == operation
    assert f"{operation.removeprefix('torch')}(" in "\n".join(found.lines)


def test_strings_have_no_lines_outside_of_some_frameworks() -> None:
    inputs = {"data": ["a", "b"], "indices": [1]}
    for target in ("torch", "jax", "openvino", "stablehlo"):
        found = answer("onnx.gather", inputs, target)
        assert (found.verdict, found.lines) == ("none", ())
        assert "strings" in found.reason
    assert answer("onnx.gather", inputs, "numpy").verdict == "exact"
    added = answer("numpy.add.at", {"a": ["a"], "indices_0": [0], "b": ["b"]}, "tensorflow")
    assert added.notes == ("tensorflow has no kernel for str with add: there they do not run",)
    halves: dict[str, object] = {"data": np.ones(2, np.float16), "segment_ids": [0, 0]}
    (note,) = answer("tensorflow.segment_mean", halves, "onnx").notes
    assert note.endswith("there they may not run"), "onnxruntime casts it before Div"


def test_nan_that_another_framework_treats_otherwise_is_told() -> None:
    inputs = {"data": [1.0, 2.0], "indices": [[0]], "updates": [np.nan]}
    assert answer("scatter_nd", inputs, "tensorflow", reduction="max").verdict == "differs"
    for target, data, verdict in (
        ("onnx", [1, np.nan], "exact"), ("onnx", [np.nan, 2], "differs"),
        *((name, [np.nan, 2], "exact") for name in ("tensorflow", "openvino")),
    ):  # fmt: skip
        calm = {**inputs, "data": np.array(data, float), "updates": [3.0]}
        found = answer("scatter_nd", calm, target, reduction="max")
        assert found.verdict.partition(" ")[0] == verdict
        assert any(text.startswith("NaN under max") for text in found.breaks)


def test_nan_that_lines_take_out_of_updates_makes_no_difference() -> None:
    """ONNX does not say what max makes of NaN: only that in data still meets it."""
    inputs = {"tensor": [np.nan, 2.0], "indices": [[1], [1]], "updates": [np.nan, 3.0]}
    for cell, verdict in ((1, "exact for these indices"), (0, "differs")):
        asked = {**inputs, "indices": [[cell], [cell]]}
        found = answer("tensorflow.tensor_scatter_nd_max", asked, "onnx")
        text = "NaN in data under max: ONNX does not say what becomes of it"
        assert (found.verdict, found.breaks[-1]) == (verdict, text)
        assert found.reason == text * (verdict == "differs")


@pytest.mark.parametrize("name", ["unsorted_segment_max", "segment_min"])
def test_what_its_own_framework_leaves_open_of_nan_is_told(name: str) -> None:
    """TensorFlow keeps NaN where it comes last."""
    attrs = {"num_segments": 1} if name.startswith("unsorted") else {}
    text = f"NaN under {name[-3:]}: TensorFlow does not say what becomes of it"
    for first, verdict in ((0.0, "exact for these indices"), (np.nan, "differs")):
        inputs = {"data": [first, 1.0], "segment_ids": [0, 0]}
        found = answer(f"tensorflow.{name}", inputs, "tensorflow", **attrs)
        assert found.operation == f"TensorFlow's own {name}"
        assert (found.verdict, found.breaks) == (verdict, (text,))


@pytest.mark.parametrize("target", ["numpy", "torch", "tensorflow", "onnx", "stablehlo"])
def test_powers_of_complex_numbers_are_jaxs_own(target: str) -> None:
    """0 to the power of 0 is 1 there, and NaN in TensorFlow."""
    zero = np.zeros(1, np.complex64)
    found = answer("jax.at.power", {"x": zero, "indices_0": [0], "values": zero}, target)
    assert found.verdict == "none"


def test_onnx_has_no_mean_of_complex_numbers() -> None:
    inputs = {"input": np.ones(2, np.complex64), "index": [0], "src": np.ones(1, np.complex64)}
    found = answer("torch.scatter_reduce", inputs, "onnx", dim=0, reduce="mean")
    assert found.reason == "ONNX casts no complex numbers, and its text has none to write"


def test_fills_are_numbers_of_the_type() -> None:
    found = answer("jax.take", {"a": np.array([1, 2], np.int8), "indices": [0, 9]}, "numpy")
    assert "-128" in found.call[-1]


ENDLESS = {"a": [1j, complex(float("inf"), float("nan"))], "indices": [0]}
UPDATED = {"tensor": [1.0, 2.0], "indices": [[5]], "updates": [3.0]}


@pytest.mark.parametrize(
    ("name", "inputs", "attrs", "words"),
    [
        ("numpy.take", ENDLESS, {}, "[1j, complex(np.inf, np.nan)]"),
        ("tensorflow.tensor_scatter_nd_update", UPDATED, {"bad_indices_policy": "IGNORE"},
         "output = tf.raw_ops.TensorScatterUpdate(tensor=data, "),
        ("torch.index_put_", {"self": 1.0, "values": 2.0}, {"accumulate": True, "subscript": ""},
         "output = data.index_put((grid,), updates, accumulate=True)"),
        ("jax.segment_max", {"data": np.zeros((2, 0)), "segment_ids": [0, 0]},
         {"num_segments": 1}, "output = jnp.full((1, 0), -np.inf, jnp.float64)"),
        ("jax.at.divide", {"x": [1, 2], "indices_0": [], "values": 2}, {},
         "output = data.astype(jnp.float64)"),
    ],
)  # fmt: skip
def test_a_call_is_written_as_its_framework_takes_it(
    name: str, inputs: dict[str, object], attrs: dict[str, object], words: str
) -> None:
    """Seen: no name `inf`; no such argument of the function; index_put without an index crashes; an
    argument that is missing; whole numbers where nothing is divided."""
    assert words in "\n".join(answer(name, inputs, name.partition(".")[0], **attrs).lines)


def test_a_refused_call_is_refused_as_ever() -> None:
    with pytest.raises(gscli.GscliError, match="out of range"):
        gscli.code("onnx.gather", {"data": [1, 2], "indices": [5]})


def test_unknown_targets_are_refused_with_the_nearest() -> None:
    with pytest.raises(gscli.GscliError, match="did you mean torch"):
        gscli.code("onnx.gather", {"data": [1, 2], "indices": [0]}, to="tourch")


def test_lines_that_drop_what_is_out_of_range_no_longer_count_from_the_end() -> None:
    """OpenVINO's Gather-8 fills for 9 and means the last row by -1; the lines fill for both."""
    found = answer("openvino.gather", {"data": [1, 2], "indices": [9], "axis": 0}, "numpy")
    assert found.verdict == "exact for these indices"
    (told,) = found.breaks
    assert told.startswith("an index below zero: in OpenVINO gather it counts from the end, in ")
    both = answer("openvino.gather", {"data": [1, 2], "indices": [9, -1], "axis": 0}, "numpy")
    assert (both.verdict, both.breaks) == ("exact", ())


def test_lines_that_drop_ids_below_zero_do_not_refuse_those_above() -> None:
    inputs = {"data": [1, 2], "segment_ids": [0, -1]}
    found = answer("tf.unsorted_segment_sum", inputs, "numpy", num_segments=2)
    assert found.verdict == "exact for these indices"
    assert "out of range: in TensorFlow unsorted_segment_sum it is refused" in found.breaks[0]


@pytest.mark.parametrize(
    ("parts", "unsafe", "more"),
    [
        ({"lengths": [1, 2]}, False, ""),
        ({"lengths": [1, 2]}, True, "leave cells out or "),
        ({"lengths": [1, 1]}, True, ""),
        ({"offsets": [0, 1, 3]}, False, "leave cells out or "),
        ({"offsets": [0, 1, 2]}, False, ""),
    ],
)
def test_lines_for_segments_take_other_parts_that_fit(
    parts: dict[str, list[int]], unsafe: bool, more: str
) -> None:
    inputs: dict[str, object] = {"data": [1.0, 2.0, 3.0], **parts}
    found = answer("torch.segment_reduce", inputs, "numpy", reduce="sum", unsafe=unsafe)
    (name,) = parts
    (told,) = found.breaks
    assert told == f"{name} that {more}do not fit the axis: nothing holds them against it"


@pytest.mark.parametrize(
    ("target", "outcomes"),
    [
        ("onnx", {"below zero": "dropped", "far below zero": "dropped"}),
        ("torch", {"below zero": "dropped"}),
        ("jax", {"below zero": "dropped", "out of range": "refused"}),
    ],
)
def test_what_happens_far_below_zero_is_not_said_of_an_index_above(
    target: str, outcomes: dict[str, str]
) -> None:
    """TensorFlow drops ids below zero and refuses those above, as ONNX and PyTorch do."""
    inputs = {"data": [1.0, 2.0], "segment_ids": [0, 1]}
    found = answer("tf.unsorted_segment_mean", inputs, target, num_segments=2)
    sentences = [text.partition(", in ")[0] for text in found.breaks if text.startswith("an index")]
    name = "TensorFlow unsorted_segment_mean"
    assert sentences == [
        f"an index {place}: in {name} it is {outcome}" for place, outcome in outcomes.items()
    ]


PLACES = {"x": np.arange(8.0).reshape(4, 2), "indices_1": [-1, 5], "values": [8.0, 9.0]}
HALVES = {"data": np.array([1, 2, 3], ml_dtypes.bfloat16), "segment_ids": [0, 0, 2]}
OFFSETS = {"data": [1.0, 2.0, 3.0], "offsets": [0, 1, 1, 3]}


@pytest.mark.parametrize(
    ("name", "inputs", "attrs"),
    [
        *(("jax.at.set", {**PLACES, "indices_0": [row]}, {}) for row in (0, 7, -4)),
        ("numpy.add.at", {"a": [0.0], "indices_0": [[0, 0]] * 3, "b": [1.0, 2.0]}, {}),
        ("torch.segment_reduce", OFFSETS, {"reduce": "mean", "initial": 5.0}),
        ("tf.unsorted_segment_sqrt_n", HALVES, {"num_segments": 3}),
    ],
)
def test_numpys_lines_give_what_they_are_said_to(
    name: str, inputs: dict[str, object], attrs: dict[str, object]
) -> None:
    """From a row more for what is dropped -4 would count; no segment is divided by 0; a root keeps
    its type; values are stretched before ufunc.at, which reads past them.
    """
    found, names = answer(name, inputs, "numpy", **attrs), dict[str, object]()
    assert name != "jax.at.set" or not any("out of range" in text for text in found.breaks)
    exec("\n".join(found.lines), names)
    output, expected = np.asarray(names["output"]), gscli.run(name, inputs, attrs)
    assert (output.dtype, output.tolist()) == (expected.dtype, expected.tolist())


def test_ids_that_say_how_many_rows_there_are_are_these() -> None:
    inputs = {"data": [1, 2], "segment_ids": [0, 1]}
    (told,) = answer("tf.segment_sum", inputs, "torch").breaks
    assert told == "other segment_ids: the size of output here is that of these"
    below, other = answer("tf.segment_sum", inputs, "stablehlo").breaks
    assert (below.partition(":")[0], other) == ("an index below zero", told)
    told, *_ = answer("jax.segment_sum", inputs, "torch").breaks[-1:]
    assert told == "other segment_ids: the size of output here is that of these"
    given = answer("jax.segment_sum", inputs, "torch", num_segments=2)
    assert not any("size of output" in text for text in given.breaks)
    (*_, told) = answer("torch.one_hot", {"input": [1, 0]}, "numpy").breaks
    assert told == "other input: the size of output here is that of these"


def test_calls_of_more_axes_than_numpy_stretches_have_lines() -> None:
    shape = (1,) * 40  # numpy.broadcast_shapes takes 32
    inputs = {"data": np.ones(shape), "indices": np.zeros(shape, np.int64)}
    assert answer("onnx.gather_elements", inputs, "tensorflow").verdict != "none"
