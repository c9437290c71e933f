"""What the picture says is what happened."""

from __future__ import annotations

import re

import numpy as np
import pytest
from recording.scenes import ROLES, SCENES, duplicates

from gscli.base import UsageError
from gscli.layout.axes import box_size
from gscli.traces import Trace, trace
from gscli.views.group import render_tensors
from gscli.views.lines import render_text
from gscli.views.look import ViewOptions
from gscli.views.page.section import RunSection
from gscli.views.page.sheets import TraceView
from gscli.views.picture import Picture
from gscli.views.subject import TensorView, find_box, make_views
from gscli.views.terminal.frames import Frames
from gscli.views.terminal.tables import make_tensor_drawing


def drawn(found: Trace, **more: object) -> str:
    options = ViewOptions(**{"color": "none", **more})  # type: ignore[arg-type]
    return render_text(Picture(found, options), options)


def cells_of(subject: TensorView, width: int = 400) -> list[list[str]]:
    """The cells of a two-dimensional tensor as drawn: letters and number."""
    options = ViewOptions(width=width, color="none")
    lines = render_tensors([subject], options, width).blocks[0].lines[2:]
    rows = ["".join(text for text, _ in line).partition("│")[2] for line in lines]
    return [re.split(r"\s+", re.sub(r":\s+", ":", row.strip())) for row in rows]


@pytest.mark.parametrize("name", ["negative", "duplicates", "clipped", "window"])
def test_every_cell_shows_its_value_and_its_entries(name: str) -> None:
    found = SCENES[name]()
    entries = found.entries()
    for subject, tensor in zip(make_views(found, entries, ROLES), found.tensors, strict=True):
        if len(tensor.shape) != 2:
            continue
        for place, text in np.ndenumerate(np.array(cells_of(subject))):
            letters, _, number = str(text).rpartition(":")
            assert float(number.rstrip("↺⊣✗")) == tensor.array[place]
            expected = [
                entry.label
                for entry in entries
                if (box := find_box(found, tensor, entry)) is not None
                and all(start <= at < stop for at, (start, stop) in zip(place, box, strict=True))
            ]
            assert letters == "".join(expected)


def test_marks_are_the_boxes_of_the_trace() -> None:
    found = duplicates()
    data = make_views(found, found.entries(), ROLES)[0]
    assert [mark.label for mark in data.marks] == list("abcdfg")
    assert [mark.box for mark in data.marks][3] == ((3, 4), (0, 1))
    assert [mark.alarm for mark in make_views(found, found.entries(), ROLES)[1].marks][4]


def test_flat_operators_mark_the_cell_in_the_shape_of_the_input() -> None:
    found = trace("numpy.take", {"a": np.arange(6).reshape(2, 3), "indices": [4]})
    assert make_views(found, found.entries(), ROLES)[0].marks[0].box == ((1, 2), (1, 2))


def test_more_than_four_entries_on_a_cell_are_counted() -> None:
    found = trace("onnx.gather", {"data": [7], "indices": [0] * 6})
    assert "a+5:7" in drawn(found)


def test_two_letter_labels_on_one_cell_are_separated() -> None:
    found = trace("onnx.gather", {"data": np.arange(60), "indices": [*range(54), 52, 53]})
    assert re.search(r"aa,ac:\s*52", drawn(found, width=200))


def test_a_large_number_of_entries_is_said() -> None:
    found = trace("onnx.gather", {"data": [1, 2], "indices": np.zeros(5000, np.int64)})
    text = drawn(found)
    assert "5,000 entries, 200 marked in data, 61 marked in output, 20 listed: --rows N," in text


def test_what_is_counted_over_the_marked_entries_alone_says_so() -> None:
    inputs = {"data": np.zeros(3), "indices": np.zeros((300, 1), int), "updates": np.ones(300)}
    below = "200 times: 0 + 1 + 1 + 1 + … + 1 = 200 so far counted over 200 of 300 entries"
    summed = trace("onnx.scatter_nd", inputs, {"reduction": "add"})
    assert below in " ".join(drawn(summed).split())
    assert "the last, wins with 1 so far" in drawn(trace("onnx.scatter_nd", inputs))
    negative = trace("onnx.gather", {"data": np.arange(2000), "indices": -1 - np.arange(1000)})
    below = "and 196 more such numbers\ncounted over 200 of 1,000 entries\n"
    assert below in drawn(negative)
    assert "counted over" not in drawn(negative, limit=1000)
    few = trace("onnx.gather", {"data": [1, 2], "indices": [-1] * 300})
    assert "counted over 200 of 300 entries" in drawn(few)
    assert "counted over" not in drawn(few, full=True)


def test_cells_of_entries_not_drawn_are_not_called_untouched() -> None:
    few = trace("onnx.gather", {"data": np.zeros((9, 2, 2)), "indices": [0]})
    many = trace("onnx.gather", {"data": np.zeros((90, 2, 2)), "indices": [0] * 500})
    assert make_views(few, few.entries(), ROLES)[0].left_out == 0
    assert make_views(many, many.entries(200), ROLES)[0].left_out
    assert "planes untouched" not in drawn(many)


TALL = (400, 2)


@pytest.mark.parametrize(
    ("shape", "step", "options", "note"),
    [
        (TALL, 8, {}, "50 entries, 20 marked in data, 20 listed: --rows N, --limit N, --full"),
        (TALL, 8, {"rows": 400}, "50 entries, 20 listed: --limit N, --full"),
        (TALL, 8, {"limit": 50}, "50 entries, 20 marked in data: --rows N, --full"),
        (TALL, 8, {"limit": 2, "rows": 400}, "50 entries, 2 listed: --limit N"),
        (TALL, 8, {"full": True}, ""),
        (TALL, 1, {}, "400 entries, 20 marked in data, 20 listed: --rows N, --limit N, --full"),
        (TALL, 1, {"rows": 400}, "400 entries, 200 marked in data, 20 listed: --limit N, --full"),
        (TALL, 1, {"rows": 400, "limit": 400}, ""),
        (TALL, 80, {"slice": "0,:", "full": True}, "5 entries, 1 marked in data: another --slice"),
        (TALL, 1, {"slice": "0,:", "limit": 400}, "400 entries, 1 marked in data: another --slice"),
        (TALL, 80, {"slice": "0:2,:"}, "5 entries, 1 marked in data: another --slice"),
        (TALL, 80, {"slice": "::5,:"}, ""),
        ((2, 400), 8, {"limit": 50, "rows": 400}, "50 entries, 9 marked in data: --full"),
        ((400,), 8, {"limit": 50}, "50 entries, 39 marked in data: --rows N, --full"),
    ],
)  # fmt: skip
def test_entries_without_a_mark_are_counted_and_each_option_shows_more(
    shape: tuple[int, ...], step: int, options: dict[str, object], note: str
) -> None:
    vectors = np.zeros((max(shape) // step, len(shape)), int)
    vectors[:, int(np.argmax(shape))] = range(0, max(shape), step)
    found = trace("onnx.gather_nd", {"data": np.zeros(shape), "indices": vectors})
    text = " ".join(drawn(found, show=("data",), **options).split())
    assert text.partition(" ⋯ " + note)[2] == ", gscli explain" if note else "marked in" not in text


def test_limit_lists_fewer_entries() -> None:
    text = drawn(duplicates(), limit=2)
    assert "7 entries, 6 marked in output, 2 listed: --limit N, gscli explain" in text
    assert "no entries" not in drawn(duplicates(), limit=0)
    assert "no entries" in drawn(trace("onnx.gather", {"data": [1], "indices": np.zeros(0, int)}))
    assert "\nc: " not in text


@pytest.mark.parametrize(
    ("show", "titles"),
    [
        (("output",), ["output"]),
        (("data", "output"), ["x", "output"]),
        (("values", "indices"), ["indices_0", "indices_1", "values"]),
    ],
)
def test_show_picks_tensors(show: tuple[str, ...], titles: list[str]) -> None:
    text = drawn(duplicates(), show=show)
    assert re.findall(r"(\w+)  (?:float32|int64) \[", text) == titles


def test_show_refuses_unknown_names() -> None:
    with pytest.raises(UsageError) as refused:
        drawn(duplicates(), show=("weights\x1b",))
    assert "x indices_0" in refused.value.valid


def test_the_key_has_each_sign_that_is_drawn_and_no_other() -> None:
    late = trace("onnx.gather", {"data": np.arange(40), "indices": [*range(25), -1]})
    for show, key in (("indices", True), ("output", False)):
        assert ("↺ counts from the end" in drawn(late, show=(show,), limit=3)) == key
        step = Frames(late, ViewOptions(color="none", show=(show,))).step(26)
        text = render_text(step, step.options)
        assert ("↺ counts from the end" in text) == key
    page = TraceView(late, ViewOptions(limit=3))
    assert "↺" not in RunSection(page, 0).html(heading="h1")


def test_slice_restricts_data_and_output() -> None:
    data = np.arange(24).reshape(2, 3, 4)
    found = trace("onnx.gather", {"data": data, "indices": [0, 1]})
    text = drawn(found, slice="1,:,::2")
    assert re.findall(r"(?<!\w)\[\d,:,:\]", text) == ["[1,:,:]", "[1,:,:]"]
    assert "b:12  b:14" in text
    assert "not shown" not in text


def test_slice_of_another_rank_is_refused() -> None:
    with pytest.raises(UsageError, match="parts"):
        drawn(duplicates(), slice="0")
    with pytest.raises(UsageError, match="parts"):
        make_tensor_drawing("t", np.zeros((2, 2)), ViewOptions(slice="0,0,0"))
    longer = trace("onnx.gather", {"data": [10, 20, 30], "indices": [2, 2, 0, 1]})
    assert "d:20" in drawn(longer, slice="3", show=("output",))
    with pytest.raises(UsageError, match="neither is shown"):
        drawn(longer, slice="3", show=("indices",))


def test_only_shown_cells_decide_the_number_format() -> None:
    data = np.zeros((1000, 3))
    data[500] = 0.123456
    found = trace("onnx.gather", {"data": data, "indices": [1]})
    assert "0.1235" not in drawn(found)
    assert "0.0000" not in drawn(found)


def test_empty_slices_are_not_called_out_of_range() -> None:
    text = drawn(trace("onnx.gather", {"data": np.zeros((3, 0)), "indices": [1]}))
    assert "(empty)" in text
    assert "not shown" not in text
    assert "✗" not in text


def test_text_in_attributes_cannot_steer_the_terminal() -> None:
    found = trace(
        "tensorflow.gather", {"params": np.array([1, 2]), "indices": np.array([0])}, {"axis": 0}
    )
    found.attributes["axis"] = "\x1b[31m"
    found.__dict__["nondefault_attributes"] = {"axis": "\x1b[31m\n"}
    assert "\\x1b[31m\\n" in drawn(found)
    assert "\x1b" not in drawn(found)


def test_boxes_of_every_scene_lie_inside() -> None:
    for made in SCENES.values():
        found = made()
        for subject in make_views(found, found.entries(50), ROLES):
            for mark in subject.marks:
                assert box_size(mark.box) > 0
                ends = zip(mark.box, subject.array.shape, strict=True)
                assert all(0 <= start < stop <= size for (start, stop), size in ends)


def test_every_entry_that_is_drawn_is_counted() -> None:
    found = trace("onnx.gather", {"data": np.arange(1000), "indices": np.arange(1000)})
    drawn_rows = drawn(found, rows=1, width=60)
    counted = re.search(r"(\d+) marked in data", drawn_rows)
    assert counted is not None
    data = drawn_rows.partition("data  int64")[2].partition("output")[0]
    shown = len(re.findall(r"\w:\s*\d", data))
    assert int(counted[1]) == shown


def test_letters_on_one_cell_are_told_apart_from_labels_of_two_letters() -> None:
    text = drawn(trace("onnx.gather", {"data": np.arange(99), "indices": [0, 0, *range(1, 53)]}))
    assert re.search(r"\ba,b: *0", text)
    assert not re.search(r"\bab: *0", text)


def test_index_inputs_that_are_broadcast_have_the_shape_of_all() -> None:
    inputs = {"a": np.arange(12).reshape(3, 4), "indices_0": 1, "indices_1": [2, 0]}
    assert "indices_0, _1 [2]" in drawn(trace("numpy.getitem", inputs))


def test_the_least_whole_number_has_a_name_in_cells_and_its_digits_in_the_key() -> None:
    inputs = {"data": np.array([1, 2]), "segment_ids": np.array([1, 1])}
    found = trace("tensorflow.unsorted_segment_max", inputs, {"num_segments": 3})
    shown = drawn(found)
    assert "ab:least int64→2" in shown
    assert "least int64: -9223372036854775808\n" in shown
    assert "max(-9223372036854775808, 1, 2) = 2" in shown
    assert found.to_dict()["output"]["data"][0] == str(-(2**63))  # type: ignore[index]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_finite_limits_of_floats_have_names_and_leave_others_their_digits(dtype: str) -> None:
    inputs = {"data": np.array([1.5, 2], dtype), "segment_ids": np.array([1, 1])}
    most = str(np.finfo(dtype).max)
    shown = drawn(trace("tensorflow.unsorted_segment_max", inputs, {"num_segments": 3}))
    assert f"ab:least {dtype}→2" in shown
    assert f"least {dtype}: -{most}\n" in shown
    assert f"max(-{most}, 1.5, 2) = 2" in shown
    shown = drawn(trace("tensorflow.unsorted_segment_min", inputs, {"num_segments": 3}))
    assert f"ab:greatest {dtype}→1.5" in shown
    assert f"greatest {dtype}: {most}\n" in shown


def test_texts_of_cells_and_notes_are_no_signs() -> None:
    texts = {"data": ["least int64", "a ⋯ b", "c a+4 d", "say least int64"], "indices": [0]}
    assert drawn(trace("onnx.gather", texts)).endswith("\n1 of 4 cells read\n")
    planes = {"data": np.zeros((9, 90, 90)), "indices": [[plane, 5, 5] for plane in range(7)]}
    assert drawn(trace("onnx.gather_nd", planes)).endswith("\n7 of 72,900 cells read\n")


@pytest.mark.parametrize("rank", [40, 64])
def test_every_legal_number_of_axes_is_drawn(rank: int) -> None:
    shape = (1,) * rank
    inputs = {"data": np.full(shape, 5), "indices": [[0]], "updates": np.full(shape, 7)}
    assert "a:5→7" in drawn(trace("onnx.scatter_nd", inputs))
