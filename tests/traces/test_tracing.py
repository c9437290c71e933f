"""Traces against the arrays: boxes hold what was moved, replays end where the kernel ended."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from conftest import assert_same

import gscli
from gscli.frameworks import NAMES, operators
from gscli.lab.examples import build_probe
from gscli.layout.axes import box_size, reshape_box
from gscli.traces import Trace, entry_label, trace_call


def cut(array: Any, box: tuple[tuple[int, int], ...]) -> Any:
    return array[tuple(slice(*ends) for ends in box)]


@pytest.mark.parametrize("framework", NAMES)
def test_every_example_is_told_as_it_happened(framework: str) -> None:
    found = [one for one in operators() if one.framework.name == framework]
    assert found
    for operator in found:
        is_told_as_it_happened(operator)


def is_told_as_it_happened(operator: Any) -> None:
    probe = build_probe(operator, {})
    assert probe is not None
    trace = trace_call(operator, probe.inputs, probe.attrs)
    entries = trace.entries()
    assert len(entries) == trace.entry_count == probe.layout.entry_count
    output = trace.output
    if trace.layout.fold is not None:
        assert {entry.result is None for entry in entries} == {False}
    elif trace.kind == "gather":
        data = trace.tensor("data")
        assert data is not None
        for entry in entries:
            assert entry.result is not None
            got = cut(output, entry.result).reshape(-1)
            if entry.target is None:
                filled = np.asarray(trace.layout.fill_value).astype(output.dtype)
                assert_same(got, np.full(got.shape, filled))
            else:
                assert_same(got, cut(data.array, entry.target).reshape(-1))
    else:
        for entry in entries:
            assert (entry.change is None) == (entry.target is None)
        _replay_ends_at(trace)


def _replay_ends_at(trace: Trace) -> None:
    """The last change of each cell is what output holds (mean divides at the very end)."""
    if trace.is_mean:
        return
    final: dict[tuple[int, ...], Any] = {}
    for entry in trace.entries():
        if entry.target is not None and entry.change is not None:
            places = np.argwhere(np.ones([stop - start for start, stop in entry.target]))
            starts = np.array([start for start, _ in entry.target], np.int64)
            for place, value in zip(places, entry.change.new.tolist(), strict=True):
                final[tuple((place + starts).tolist())] = value
    for place, value in final.items():
        assert trace.output[place] == np.asarray(value).astype(trace.output.dtype)


def test_adjustments_say_what_a_number_became() -> None:
    wrapped = gscli.trace("gather", {"data": [1, 2, 3], "indices": [-1, 0]}).entries()
    assert [entry.status for entry in wrapped] == ["wrap", "ok"]
    assert wrapped[0].adjustments[0].words() == "-1 on axis 0 of size 3 is 2"
    clipped = gscli.trace("numpy.take", {"a": [1, 2], "indices": [9]}, {"mode": "clip"}).entries()
    assert clipped[0].status == "clip"
    assert clipped[0].adjustments[0].words() == "9 on axis 0 of size 2 is clipped to 1"
    skipped = gscli.trace(
        "tensorflow.gather", {"params": [1, 2], "indices": [9]}, {"device": "gpu"}
    ).entries()
    assert skipped[0].status == "skip"
    assert skipped[0].adjustments[0].words() == "9 on axis 0 of size 2 is outside"


def test_an_index_that_jax_cuts_to_32_bits_is_told_as_the_row_it_reads() -> None:
    indices = np.array([2**32 + 1, 5])
    entries = gscli.trace("jax.take", {"a": [1.5, 2.5, 3.5], "indices": indices}).entries()
    assert [entry.status for entry in entries] == ["wrap", "skip"]
    assert entries[0].target == ((1, 2),)
    assert entries[0].adjustments[0].words() == "4294967297 on axis 0 of size 3 is 1"


@pytest.mark.parametrize("xla", [False, True])
@pytest.mark.parametrize("window", [(), (1,)], ids=["cells", "windows"])
def test_every_skipped_entry_says_why(window: tuple[int, ...], *, xla: bool) -> None:
    inputs = {
        "inputs": [1, 2, 3, 4],
        "scatter_indices": [[9], [-7], [1]],
        "updates": [[7, 7], [8, 8], [9, 9]] if window else [7, 8, 9],
    }
    attrs = {
        "update_window_dims": window,
        "inserted_window_dims": () if window else (0,),
        "scatter_dims_to_operand_dims": (0,),
        "index_vector_dim": 1,
        "xla": xla,
    }
    entries = gscli.trace("stablehlo.scatter", inputs, attrs).entries()
    assert [entry.status for entry in entries] == ["skip", "skip", "ok"]
    assert [[one.how for one in entry.adjustments] for entry in entries] == [
        ["skipped"], ["skipped"], [],
    ]  # fmt: skip


def test_duplicates_are_grouped_in_order() -> None:
    trace = gscli.trace(
        "scatter_nd",
        {"data": [0] * 5, "indices": [[3], [1], [3], [0], [1], [3]], "updates": [1, 2, 3, 4, 5, 6]},
    )
    assert trace.duplicates() == ([(0, 2, 5), (1, 4)], 2, 2, 6, 5)
    assert trace.duplicates(1) == ([(0, 2, 5)], 2, 2, 6, 5)
    assert trace.entries()[5].change is not None
    assert trace.entries()[5].change.previous_writer == 2  # type: ignore[union-attr]


def test_means_count_their_terms() -> None:
    trace = gscli.trace(
        "torch.scatter_reduce",
        {"input": [10.0, 1.0], "index": [0, 0], "src": [2.0, 4.0]},
        {"dim": 0, "reduce": "mean", "include_self": False},
    )
    changes = [entry.change for entry in trace.entries()]
    assert [(c.is_first_write, c.term_count, c.new.tolist()) for c in changes if c] == [
        (True, 1, [2.0]),
        (False, 2, [3.0]),
    ]


def test_the_document() -> None:
    trace = gscli.trace(
        "scatter_nd",
        {"data": [1.0, 2.0], "indices": [[-1]], "updates": [9.0]},
        {"reduction": "add"},
    )
    document = trace.to_dict()
    assert document["schema"] == "gscli/1"
    assert document["op"] == "scatter_nd"
    assert document["opset"] == 18
    assert document["attrs"] == {"reduction": "add"}
    assert document["output"] == {"dtype": "float64", "shape": [2], "data": [1.0, 11.0]}
    entry = document["entries"][0]  # type: ignore[index]
    assert entry["index"] == [-1]
    assert entry["cell"] == [1]
    assert (entry["status"], entry["old"], entry["new"]) == ("wrap", 2.0, 11.0)
    assert trace.nondefault_attributes == {"reduction": "add"}


def test_slices_have_ranges_in_the_document() -> None:
    document = gscli.trace("gather", {"data": [[1, 2], [3, 4]], "indices": [1]}).to_dict()
    assert document["entries"][0]["cell"] == [1, [0, 2]]  # type: ignore[index]


def test_the_document_says_where_values_went_and_what_was_dropped() -> None:
    gathered = gscli.trace("gather", {"data": [1, 2], "indices": [1]}).to_dict()["entries"]
    assert gathered[0]["result"] == [0]  # type: ignore[index]
    assert "update" not in gathered[0]  # type: ignore[index]
    entries = windowed([-1, 3, 9], xla=False).to_dict()["entries"]
    assert [one["update"] for one in entries] == [  # type: ignore[attr-defined]
        [0, [1, 3]], [1, [0, 3]], [2, [0, 3]],
    ]  # fmt: skip
    assert [one.get("dropped") for one in entries] == [1, None, None]  # type: ignore[attr-defined]


def test_labels_never_repeat() -> None:
    labels = [entry_label(number) for number in range(60 * 60)]
    assert len(set(labels)) == len(labels)
    assert all(label.isalpha() and label.isascii() for label in labels)


def test_boxes_survive_reshapes() -> None:
    array = np.arange(24).reshape(2, 3, 4)
    for place in np.ndindex(2, 3, 4):
        box = tuple((at, at + 1) for at in place)
        for shape in [(24,), (6, 4), (2, 12), (1, 2, 3, 4), (2, 3, 4, 1)]:
            after = reshape_box(box, array.shape, shape)
            assert box_size(after) == 1
            assert cut(array.reshape(shape), after).reshape(-1)[0] == array[place]
    assert reshape_box(((0, 1), (0, 3), (0, 4)), (2, 3, 4), (2, 12)) == ((0, 1), (0, 12))


# StableHLO's scatter of windows into a row.
WINDOWS = {
    "update_window_dims": (1,),
    "scatter_dims_to_operand_dims": (0,),
    "index_vector_dim": 1,
}


def windowed(starts: list[int], *, size: int = 8, span: int = 3, **attrs: object) -> Trace:
    inputs = {
        "inputs": np.zeros(size),
        "scatter_indices": np.array(starts)[:, None],
        "updates": np.ones((len(starts), span)),
    }
    return gscli.trace("stablehlo.scatter", inputs, {**WINDOWS, **attrs})


@pytest.mark.parametrize(
    ("starts", "xla", "groups", "cells"),
    [
        ([0, 3], True, [], 0),
        ([0, 2], True, [(0, 1)], 1),
        ([1, 0, 2], True, [(0, 1), (0, 1, 2), (0, 2)], 3),
        ([5, 0, 5], True, [(0, 2)], 3),
        ([-1, 1, 7], True, [], 0),
        ([-1, 1, 7, 7], False, [(0, 1), (2, 3)], 2),
    ],
)
def test_windows_that_overlap_are_duplicates(
    starts: list[int], xla: bool, groups: list[tuple[int, ...]], cells: int
) -> None:
    found = windowed(starts, xla=xla).duplicates(9)
    assert (sorted(found.groups), found.total) == (sorted(groups), len(groups))
    assert (found.cells, found.compared) == (cells, len(starts))


def test_overlaps_are_those_of_the_cells() -> None:
    rng = np.random.default_rng(11)
    for _ in range(60):
        starts = rng.integers(-2, 9, 5).tolist()
        xla = bool(rng.integers(2))
        writers: dict[int, list[int]] = {}
        for number, start in enumerate(starts):
            inside = [cell for cell in range(start, start + 3) if 0 <= cell < 8]
            for cell in inside if len(inside) == 3 or not xla else []:
                writers.setdefault(cell, []).append(number)
        several = [tuple(one) for one in writers.values() if len(one) > 1]
        found = windowed(starts, xla=xla).duplicates(9)
        assert found.cells == len(several)
        assert set(found.groups) <= set(several)
        assert {(one[0], one[-1], len(one)) for one in several} == {
            (one[0], one[-1], len(one)) for one in found.groups
        }


def test_of_very_many_windows_the_first_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gscli.frameworks.duplicates.MAX_COMPARED_CELLS", 9)
    trace = windowed([0, 1, 5, 5, 5])
    assert trace.duplicates() == ([(0, 1)], 1, 2, 3, 4)
    (warning,) = trace.warnings
    assert warning.problem == "at least 2 cells are written more than once"
    assert warning.details[-1] == "duplicates were looked for among the first 3 of 5 entries"


def test_warnings_are_in_the_document() -> None:
    inputs = {"data": [0, 0], "indices": [[1], [1]], "updates": [7, 8]}
    (warning,) = gscli.trace("scatter_nd", inputs).to_dict()["warnings"]  # type: ignore[misc]
    assert warning["problem"] == "2 entries write the same cell"
    assert warning["details"][0] == "a: index 1   and   b: index 1"
    assert gscli.trace("scatter_nd", inputs, {"reduction": "add"}).to_dict()["warnings"] == []
    (overlap,) = windowed([0, 1]).warnings
    assert overlap.problem == "2 cells are written more than once"
    assert overlap.hint == 'update_computation="add" of scatter defines it'


def test_one_entry_is_no_entries() -> None:
    assert "1 entry, output [1]" in repr(gscli.trace("gather", {"data": [1], "indices": [0]}))


def test_again_names_the_entry_before() -> None:
    inputs = {"data": [0, 0, 0], "indices": [[0], [0], [0]], "updates": [1, 2, 4]}
    entries = gscli.trace("scatter_nd", inputs, {"reduction": "add"}).entries()
    assert [entry.change.previous_writer for entry in entries if entry.change] == [None, 0, 1]


def test_the_warning_counts_entries_of_all_cells() -> None:
    inputs = {"data": [0] * 3, "indices": [[0], [0], [0], [1], [1]], "updates": [1, 2, 4, 8, 9]}
    (notice,) = gscli.trace("scatter_nd", inputs).warnings
    assert notice.problem == "5 entries write 2 cells together"
    assert notice.details[2].endswith("here the last one of each won")


def test_the_warning_names_no_letter_that_no_picture_shows() -> None:
    inputs = {"data": np.zeros(2000), "indices": np.arange(1000)[:, None] * 0 + 7}
    inputs["indices"][:900, 0] = np.arange(900)
    inputs["updates"] = np.zeros(1000)
    (notice,) = gscli.trace("scatter_nd", inputs).warnings
    assert notice.details[0].startswith("h: index 7   and   entry 900: index 7   and   entry 999")


def test_a_trace_survives_pickling() -> None:
    given = {"data": [0, 0, 0], "indices": [[1], [-1]], "updates": [7, 8]}
    trace = gscli.trace("onnx.scatter_nd", given, {"reduction": "add"})
    trace.to_dict()
    again = pickle.loads(pickle.dumps(trace))
    assert again.operator is trace.operator
    assert again.output.tolist() == [0, 7, 8]
    assert again.to_dict() == trace.to_dict()


def test_a_cell_becomes_what_its_type_holds_of_a_value() -> None:
    inputs = {"x": [1, 2], "indices_0": [0, 0], "values": [1.5, 1e30]}
    entries = gscli.trace("jax.at.set", inputs).to_dict()["entries"]
    assert [(entry["old"], entry["new"]) for entry in entries] == [(1, 1), (1, str(2**63 - 1))]
