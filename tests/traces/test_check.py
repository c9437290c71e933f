"""check tells every finding with its place, and how many more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from conftest import Array, slow
from worlds import GOOD, World, bad_worlds
from worlds.core import sample

import gscli
from gscli.base import GscliError, ShapeRefused, UsageError
from gscli.cli import run_safely
from gscli.frameworks import find_operator
from gscli.frameworks.execute import execute
from gscli.layout.axes import Negative, Policy
from gscli.plan import expand_inputs, plan_call
from gscli.traces import trace_call
from gscli.traces.check import CheckFinding, iter_findings
from gscli.traces.entries import Entry


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    """Exit status and lines of `gscli check`."""
    status = run_safely(["check", *words])
    printed = capsys.readouterr()
    assert not printed.err
    return status, printed.out.splitlines()


def test_good_inputs_have_no_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys, "scatter-nd", "[1,2]", "[[0],[1]]", "[3,4]") == (0, ["0 findings"])


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("jax", "at-set", "[0,0,0]", "[1,1]", "7"), 0),
        (("jax", "at-set", "[0,0,0]", "[1,1]", "[7,8]"), 1),
        (("scatter-nd", "[0,0,0]", "[[1],[1]]", "[7,7]"), 1),
    ],
)
def test_equal_writers_are_a_finding_where_a_run_warns_of_them(
    words: tuple[str, ...], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(capsys, *words)[0] == status
    assert run_safely([*words, "-q"]) == 0
    assert ("warning" in capsys.readouterr().err) == bool(status)


def test_rows_that_are_counted_have_no_last_legal_index(capsys: pytest.CaptureFixture[str]) -> None:
    for words, legal in (([], "0 and more"), (["--num-classes", "2"], "0 … 1")):
        _, lines = check(capsys, "torch", "one-hot", "[0,-1]", *words)
        assert lines[0] == f"input[1] = -1: negative index, legal {legal}"


def test_every_bad_index_is_told_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = check(capsys, "gather-nd", "[[1,2],[3,4]]", "[[0,0],[0,2],[-3,1],[7,-9]]")
    assert status == 1
    assert lines[:4] == [
        "indices[1,1] = 2: index out of range, legal -2 … 1",
        "indices[2,0] = -3: index out of range, legal -2 … 1",
        "indices[3,0] = 7: index out of range, legal -2 … 1",
        "indices[3,1] = -9: index out of range, legal -2 … 1",
    ]


@pytest.mark.parametrize(
    ("words", "bad"),
    [
        ("numpy put-along-axis arange:3x4 [[5]] [[1]] --axis 0", "indices[0,0] = 5"),
        ("numpy getitem arange:4x4 [[0],[9]] [0,1,2]", "indices_0[1,0] = 9"),
        ("numpy getitem arange:4x4 [[0],[1]] [0,-9,2]", "indices_1[1] = -9"),
    ],
)
def test_a_number_that_stands_for_several_entries_is_one_finding(
    words: str, bad: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(["check", *words.split()]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [bad, "1 finding"]


def test_what_is_dropped_is_told_beside_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    call = ["tensorflow", "unsorted-segment-sum", "[1,2,3]", "[0,-1,5]", "--num-segments", "2"]
    assert check(capsys, *call)[1] == [
        "segment_ids[2] = 5: index out of range, legal 0 … 1",
        "segment_ids[1] = -1: is below zero and is dropped",
        "2 findings",
    ]
    _, lines = check(capsys, "gather", "[1,2,3]", "[-9,-1]")  # what is refused is told once
    assert [line.partition(":")[0] for line in lines[:2]] == ["indices[0] = -9", "indices[1]"]
    assert lines[2] == "2 findings"


def test_values_that_the_type_asked_for_does_not_hold_are_a_finding(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call = ["torch", "scatter", "[1,2,3]", "[0,2]", "[1,300]", "--dim", "0", "--dtype", "int8"]
    status, lines = check(capsys, *call)
    assert (status, lines[1]) == (1, "1 finding")
    assert lines[0].startswith("src: int64 cannot become int8 without changing values (leave --dty")
    small = check(capsys, "jax", "at-get", "[1,100]", "[0]", "--dtype", "int4")
    assert small[1][0].startswith("x: int64 cannot become int4 without changing values")
    for dtype in ("int8", "int4"):  # what is converted first is not told as another finding
        jax = check(capsys, "jax", "at-add", "[1,2,3]", "[0,2]", "[1,300]", "--dtype", dtype)
        assert [line.partition(":")[0] for line in jax[1]] == ["values", "1 finding"]


@pytest.mark.parametrize(("limit", "listed"), [(None, 50), ("3", 3), ("0", 0)])
def test_how_many_more(limit: str | None, listed: int, capsys: pytest.CaptureFixture[str]) -> None:
    options = [] if limit is None else ["--limit", limit]
    status, lines = check(capsys, "gather", "zeros:100", "arange:1000", *options)
    assert status == 1
    more = "more " * bool(listed)
    assert lines[listed:] == [f"{900 - listed} {more}indices out of range", "900 findings"]


def test_types_shapes_and_values_are_all_judged(capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = check(capsys, "scatter-nd", "[1,2]", "[[0.5],[9]]", "[1.5]")
    assert status == 1
    assert lines[0] == "indices[0,0] = 0.5: not a whole number"
    assert lines[1] == "updates [1]: updates has the wrong shape, legal [2]"
    assert "updates must have data's element type, legal int64" in lines[2]
    assert lines[3] == "indices[1,0] = 9: index out of range, legal -2 … 1"
    assert lines[4] == "4 findings"


TABLE_FOR_IDS = (
    "input float64 [2,2]: input must be integers, got float64, legal int32 int64 "
    "(are weight and input swapped? weight holds integers, input does not)"
)


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (
            "gather [10,20,30,40] [-5.7,1,4.2]",
            ["indices[0] = -5.7: not a whole number", "indices[2] = 4.2: not a whole number"],
        ),
        (
            "gather [10,20,30,40] [1e30,-Infinity,7]",
            [
                "indices[0] = 1e+30: does not fit int64",
                "indices[1] = -inf: not a whole number",
                "indices[2] = 7: index out of range, legal -4 … 3",
            ],
        ),
        ("scatter-nd [1,2] [[0.5],[0]] [1,5]", ["indices[0,0] = 0.5: not a whole number"]),
        ("gather [] [0.5]", ["indices[0] = 0.5: not a whole number"]),
        (
            "torch embedding [[0.5,1.5],[0,2.5]] [[1,0],[-1,2]]",
            [TABLE_FOR_IDS],
        ),
        (
            "torch embedding [[0.5,1,2],[3,4,5]] [2,1]",
            [
                TABLE_FOR_IDS.replace("[2,2]", "[2,3]"),
                "weight int64 [2]: weight is a table, legal rank 2",
            ],
        ),
        ("gather [1,0] [0,0.5,1]", ["indices[1] = 0.5: not a whole number"]),
        ("tf segment-sum [1,2,3] [1,1.5,2]", ["segment_ids[1] = 1.5: not a whole number"]),
    ],
)
def test_a_number_that_no_index_can_be_is_one_finding(
    words: str, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    count = f"{len(lines)} finding" + "s" * (len(lines) > 1)
    assert check(capsys, *words.split()) == (1, [*lines, count])


def test_duplicates_where_the_order_is_open(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("scatter-nd", "[1,2]", "[[0],[1],[-2]]", "[7,8,9]")
    status, lines = check(capsys, *words)
    assert status == 1
    assert lines[1].startswith(
        "index 0 and index -2: entries a (entry 0), c (entry 2) write the same"
    )
    status, lines = check(capsys, *words, "--reduction", "add")
    assert len(lines) == 2, "a sum has no order; the negative index is left"
    rows = ("scatter-nd", "zeros:2x2", "[[0],[0],[1],[1]]", "[[1,2],[3,4],[5,6],[7,8]]")
    _, lines = check(capsys, *rows, "--limit", "1")
    assert lines[0].startswith("index 0: entries a (entry 0), b (entry 1) write the same slice")
    assert lines[1] == "1 more slice written more than once"


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["gather", "[1,2]", "[7,8]"], "1 more index out of range"),
        (["gather", "[9,9]", "[0.5,1.5]"], "1 more index does not fit int64"),
        (["gather", "[9,9]", "[0.5,1.5,1e30]"], "2 more indices do not fit int64"),
        (["mxnet", "take", "[1,2]", "[7,8]"], "1 more index is clipped to the axis"),
        (
            ["tf", "gather", "[1,2]", "[7,8,9]", "--device", "gpu"],
            "2 more indices are outside, and each reads the fill value",
        ),
    ],
)
def test_one_more_is_singular(
    words: list[str], lines: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(capsys, *words, "--limit", "1")[1][1] == lines


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("numpy take [1,2,3] [2,5] --mode clip", "1 index is clipped to the axis"),
        ("mxnet take [1,2] [7,8]", "2 indices are clipped to the axis"),
        ("gather [9,9] [0.5,1.5]", "2 indices do not fit int64"),
        ("scatter-nd [1,2] [[0],[0]] [1,2]", "1 cell written more than once"),
        ("torch nll-loss [[-0.5,-1.5],[-0.5,-1.5]] [0,-100]", "1 index is ignored and is dropped"),
        (
            "tf unsorted-segment-sum [1,2] [0,-1] --num-segments 2",
            "1 index is below zero and is dropped",
        ),
    ],
)
def test_nothing_is_more_where_nothing_is_listed(
    words: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(capsys, *words.split(), "--limit", "0")[1][0] == line


def test_legal_duplicates_are_told_beside_bad_indices(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("scatter-nd", "[1,2,3]", "[[0],[7],[0],[7]]", "[5,6,7,8]")
    status, lines = check(capsys, *words)
    assert (status, lines[-1]) == (1, "3 findings")
    assert lines[2].startswith("index 0: entries a (entry 0), c (entry 2) write the same cell")
    _, lines = check(capsys, "scatter-nd", "zeros:0", "[[0],[0]]", "[1.5,2.5]")
    assert not any("write the same" in line for line in lines), "no cell can be written"


def test_negative_indices_that_others_refuse(capsys: pytest.CaptureFixture[str]) -> None:
    for limit in ([], ["--limit", "0"]):
        status, lines = check(capsys, "gather", "[1,2]", "[1,-1,-2]", *limit)
        assert (status, lines[-1]) == (1, "1 finding")
        assert lines[0].startswith("indices[1]: 2 negative indices count from the end")
    status, lines = check(capsys, "mxnet", "take", "[1,2]", "[0,-1,5]", "--mode", "wrap")
    assert (status, lines[-1]) == (1, "2 findings")


def test_the_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "idx.npy", np.array([0, 9]))
    _, lines = check(capsys, "gather", "[1,2]", str(tmp_path / "idx.npy"))
    assert lines[0] == f"{tmp_path}/idx.npy: indices[1] = 9: index out of range, legal -2 … 1"


def test_widened_indices_are_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "idx.npy", np.array([0], np.int8))
    status, lines = check(capsys, "gather", "[1,2]", str(tmp_path / "idx.npy"))
    assert status == 1
    assert "indices is int8, widened to int64" in lines[0]


def test_findings_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["check", "gather", "[1,2]", "[0,1,2,3,4]", "--json", "--limit", "1"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["count"] == 3
    assert [(one["kind"], one["where"], one["count"]) for one in document["findings"]] == [
        ("index", "indices[2] = 2", 1),
        ("index", "", 2),
    ]


def test_quiet_is_the_status_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys, "gather", "[1]", "[9]", "-q") == (1, [])


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("scatter-nd", "[1]", "[[0]]", "[1]", "--reduction", "no"), 2),
        (("gather", "[1]"), 2),
        (("torch", "scatter-add", "[1]", "[0]", "[1]"), 2),
        (("gather", "nofile.npy", "[0]"), 66),
        (("gather", "[[1],[2,3]]", "[0]"), 65),
    ],
)
def test_what_cannot_be_checked(
    words: tuple[str, ...], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(["check", *words]) == status
    assert capsys.readouterr().err.startswith("error: ")


def _answer(world: World) -> Array | None:
    try:
        return execute(find_operator(world.name), world.inputs, world.attrs)[1]
    except GscliError:
        return None


def some(name: str, count: int) -> Sequence[World]:
    """So many worlds of an operator, drawn by its name."""
    return sample(GOOD[name](), count, name)


def _findings(world: World) -> list[CheckFinding]:
    """What there is to say against a world."""
    operator = find_operator(world.name)
    arrays, _, attrs = expand_inputs(operator, dict(world.inputs), world.attrs)
    return list(iter_findings(operator, arrays, attrs))


@pytest.mark.parametrize("count", [4, *slow([60])])
@pytest.mark.parametrize("name", GOOD)
def test_check_agrees_with_running(name: str, count: int) -> None:
    """A refused call has a finding about indices or inputs, a call that runs has none."""
    bad = [bad.world for bad in bad_worlds(name, _answer)]
    worlds = [*some(name, count), *sample(bad, count, name)]
    for world in worlds:
        refused = _answer(world) is None
        try:
            kinds = {finding.kind for finding in _findings(world)}
        except UsageError:
            assert refused, world
            continue
        assert bool(kinds & {"index", "inputs"}) == refused, (str(world), kinds)


@pytest.mark.parametrize("indices", [[0], [1.0], [0.5], [True], [7], [], np.array([1.0])])
@pytest.mark.parametrize("updates", [[10], [1.5], [1 + 1j], [], np.array([10]), np.array([1.5])])
@pytest.mark.parametrize("data", [[1, 2], [1.5, 2.0], np.array([1.5, 2.0], np.float32)])
def test_check_agrees_with_running_on_lists(data: object, indices: object, updates: object) -> None:
    """Lists have no type of their own, in a shell's JSON as in a program."""
    inputs = {"data": data, "indices": indices, "updates": updates}
    try:
        output = gscli.run("onnx.scatter_elements", inputs)
    except GscliError:
        output = None
    kinds = {finding.kind for finding in gscli.check("onnx.scatter_elements", inputs)}
    assert bool(kinds & {"index", "inputs"}) == (output is None), (inputs, kinds, output)
    words = (json.dumps(value) for value in inputs.values() if isinstance(value, list))
    with suppress(TypeError):  # JSON has no complex numbers
        if len(texts := list(words)) == 3:
            assert (run_safely(["scatter-elements", *texts, "-q"]) != 0) == (output is None)


def _is_moved(entry: Entry, policy: Policy) -> bool:
    """Whether an entry's numbers mean anything but themselves, or a place counted from the end."""
    turned = policy.negative is Negative.FROM_END
    moved = any(
        not (turned and one.how == "wrapped" and one.raw_value + one.size == one.coordinate)
        for one in entry.adjustments
    )
    cut = any(isinstance(number, float) and number != int(number) for number in entry.vector)
    return moved or bool(entry.dropped) or (entry.live and cut)


@pytest.mark.parametrize("count", [15, *slow([60])])
@pytest.mark.parametrize("name", GOOD)
def test_check_finds_what_the_trace_says_of_every_entry(name: str, count: int) -> None:
    """Wrapped, clipped, skipped, partly outside: in the trace's status and among the findings."""
    met = 0
    for world in some(name, count):
        try:
            found = trace_call(find_operator(name), world.inputs, world.attrs)
        except GscliError:
            continue
        policy = found.layout.policy
        moved = any(_is_moved(entry, policy) for entry in found.entries(found.entry_count))
        kinds = {finding.kind for finding in _findings(world)}
        assert ("moved" in kinds) == moved, (str(world), kinds)
        met += 1
    assert met, name


# Where the shape of the updates decides which numbers there are, or are legal.
SIZED_BY_UPDATES = (
    "onnx.tensor_scatter", "torch.segment_reduce", "torch.max_unpool1d", "torch.max_unpool2d",
    "torch.max_unpool3d",
)  # fmt: skip


def _of_other_shapes(array: Array) -> Iterator[Array]:
    """Zeros in shapes that have axes more or less than the array, or sizes."""
    larger, smaller = np.add(array.shape, 1), np.maximum(np.subtract(array.shape, 1), 0)
    shapes = [(), (7,), (*array.shape, 7), (1, *array.shape), array.shape[1:], array.shape[:-1]]
    for shape in (*shapes, tuple(larger.astype(int)), tuple(smaller.astype(int))):
        yield np.zeros(shape, array.dtype)


# Scatters of which no wrong shape of updates stands beside something to say of an index.
NOTHING_HIDDEN = {
    "numpy.put",  # values of any shape are repeated
    "torch.masked_scatter",  # a mask has no numbers
    "jax.lax.dynamic_update_slice",  # where it begins is clipped, which the window decides
}


@pytest.mark.parametrize("count", [3, *slow([60])])
@pytest.mark.parametrize("name", [name for name in GOOD if name not in SIZED_BY_UPDATES])
def test_updates_of_another_shape_hide_no_bad_index(name: str, count: int) -> None:
    """What becomes of an index number is told, whatever is told of the shape of the updates."""
    writes, met = False, 0
    bad = [bad.world for bad in bad_worlds(name, _answer)]
    for world in (*some(name, 20 * count), *sample(bad, 20 * count, name)):
        try:
            layout = plan_call(find_operator(name), world.inputs, world.attrs).layout
        except GscliError:
            continue
        source = layout.updates.name if layout.updates else None
        if source not in world.inputs:
            continue
        writes = True
        kinds = {"index"} if layout.addressing.window else {"index", "negative", "moved"}
        known = {finding.where for finding in _findings(world) if finding.kind in kinds}
        for updates in _of_other_shapes(world.inputs[source]) if known else ():
            other = World(name, {**world.inputs, source: updates}, world.attrs)
            findings = _findings(other)
            refused = [one.error.name for one in findings if isinstance(one.error, ShapeRefused)]
            if refused and not {*refused} & {*layout.index_inputs}:
                assert known <= {finding.where for finding in findings}, str(other)
                met += 1
        if met >= count:
            break
    assert bool(met) == (writes and name not in NOTHING_HIDDEN), name


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (
            ("scatter-add", "[0,0,0]", "[0,3,-1,1]", "[1,2,3]", "--dim", "0"),
            ("index[1]", "index[2]"),
        ),
        (("gather", "[[1,2],[3,4]]", "[[0,2,-1]]", "--dim", "0"), ("index[0,1]", "index[0,2]")),
        (("nll-loss", "[[-1.5,-2.5]]", "[7,0]"), ("target[0]",)),
        (("nll-loss", "[[-1.5,-2.5]]", "[[7]]"), ()),
        (("nll-loss", "[[-1.5,-2.5]]", "[0,7]", "--ignore-index", "0"), ()),
        (("max-unpool1d", "[[0.5,1.5]]", "[[9]]", "--kernel-size", "2"), ("indices[0,0]",)),
    ],
)
def test_bad_indices_are_told_beside_a_shape(
    words: tuple[str, ...], places: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of indices in a shape that is refused, those that stand in the one that is legal."""
    status, lines = check(capsys, "torch", *words)
    assert (status, len(lines)) == (1, len(places) + 2)
    assert [line.partition(" = ")[0] for line in lines[1:-1]] == [*places]


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (("torch", "scatter", "[[1,2],[3,4]]", "[[0,2,-1]]", "[[5,6]]", "--dim", "0"), (1, 2)),
        (("scatter-elements", "[[1,2],[3,4]]", "[[0,2,-3]]", "[[5,6]]"), (1, 2)),
        (("numpy", "take-along-axis", "zeros:2x2", "[[0,7,1]]", "--axis", "0"), (1,)),
        (("openvino", "gather-elements", "zeros:2x2", "[[0,1,2]]", "--axis", "0"), (2,)),
        (("gather-elements", "zeros:3x2", "zeros:0x400000000000000000"), ()),  # no data is so wide
    ],
)
def test_indices_that_do_not_fit_off_the_axis_hide_no_bad_index(
    words: tuple[str, ...], places: tuple[int, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    _, lines = check(capsys, *words)
    assert any("does not fit" in line for line in lines)
    shown = [line.partition(" = ")[0].partition("[")[2] for line in lines if " = " in line]
    assert shown == [f"0,{place}]" for place in places]
