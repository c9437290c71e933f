"""The benchmark measures what it says: right bits, fair turns, tables that show losses."""

from __future__ import annotations

import itertools
import sys
import types
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest
from bench import bigfiles, calls, kernel_race, kernel_table, limits, report, startup, traffic
from bench.interleaving import raced, summary, turns, verdict
from bench.kernel_workloads import DTYPES, UFUNCS, Workload, workloads
from bench.machine import machine
from bench.processes import run

import gscli
from gscli.kernel import loops

TOY = 100


@pytest.mark.parametrize("workload", workloads(), ids=lambda workload: workload.key)
def test_workloads_give_the_bits_of_the_idiom(workload: Workload) -> None:
    inputs = workload.inputs(TOY)
    expected = workload.idiom(inputs)
    assert expected.size
    for threads in (1, 2):
        result = kernel_race.gscli_call(workload, inputs, threads)()
        assert kernel_race.same_bits(result, expected)


def test_workloads_are_the_table_of_the_goals() -> None:
    keys = [workload.key for workload in workloads()]
    assert len(set(keys)) == len(keys)
    assert {key.split()[0] for key in keys} == {f"W{number}" for number in range(1, 16)}
    for key in ("W10 add", "W11 rows add", "W14 axis 0", "W14 axis 1"):
        assert {f"{key} {dtype}" for dtype in DTYPES} < set(keys)


def test_same_bits_sees_signs_of_zero_shapes_and_dtypes() -> None:
    zeros = np.zeros(2, np.float32)
    assert kernel_race.same_bits(zeros, zeros.copy())
    for other in (-zeros, zeros.reshape(1, 2), zeros.astype(np.int32)):
        assert not kernel_race.same_bits(zeros, other)


@pytest.mark.slow
def test_a_race_times_every_candidate_in_every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_race, "peers", lambda *_: {})
    monkeypatch.setattr(kernel_race, "MOST_ROUNDS", 1)
    monkeypatch.setattr(kernel_race, "bare_calls", lambda *_: {})
    row = kernel_race.race(workloads()[0], 2, TOY)
    assert row["exact"] == dict.fromkeys(["gscli 1", "gscli 2", "plain 1", "numpy"], True)
    for clock in ("wall", "cpu"):
        own = {"gscli 1", "gscli 2", "plain 1", "numpy", "copyto"}
        assert set(row[clock]["min"]) - set(kernel_table.SPIN) == own
    assert row["rounds"] == 2
    assert kernel_table.best(row, "min") == ("numpy", row["wall"]["min"]["numpy"])


def test_turns_rotate_and_samples_keep_their_round() -> None:
    assert list(turns("abc", 4)) == list("abcbcacababc")
    count = iter(range(100))
    found = raced({name: lambda: {"n": float(next(count))} for name in "ab"}, 2)
    assert found == {"n": {"a": [0.0, 3.0], "b": [1.0, 2.0]}}
    assert summary(found["n"])["median"] == {"a": 1.5, "b": 1.5}


@pytest.mark.parametrize("count", [2, 4, 6, 8])
def test_every_candidate_follows_every_other_one_equally_often(count: int) -> None:
    order = list(turns(range(count), count))
    rounds = [order[first : first + count] for first in range(0, len(order), count)]
    pairs = [pair for one in rounds for pair in itertools.pairwise(one)]
    assert sorted(pairs) == sorted(itertools.permutations(range(count), 2))


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [([0.9, 1.0], "met"), ([0.9, 1.01], "undecided"), ([1.01, 2.0], "missed")],
)
def test_verdicts_need_every_figure(ratios: list[float], expected: str) -> None:
    assert verdict(ratios, 1.0) == expected


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [(2.0, 1.0, "met"), (1.0, 2.0, "undecided"), (2.0, 2.0, "missed")],
)
def test_goals_are_judged_with_two_threads(one: float, two: float, expected: str) -> None:
    assert kernel_table.decided([[one, one], [two, two]], 1.5) == expected


def made_row(**seconds: float) -> dict[str, Any]:
    figures = {
        "gscli 1": 3.0,
        "gscli 2": 2.0,
        "plain 1": 4.0,
        "numpy": 1.0,
        "copyto": 0.1,
    } | seconds
    exact = dict.fromkeys(figures, True) | {"jax": False}
    return {
        "key": "W4", "title": "made up", "goal": 1.5, "exact": exact,
        "wall": {"min": figures, "median": figures}, "cpu": {"min": figures, "median": figures},
    }  # fmt: skip


def test_losses_are_shown_and_other_bits_are_never_the_best() -> None:
    row = made_row(jax=0.5)
    assert kernel_table.best(row, "min") == ("numpy", 1.0)
    line = kernel_table.line(row)
    assert "500.0†" in line
    assert "**1000.0**" in line
    plain, one, two = "4.00 (4.00)", "3.00 (3.00)", "2.00 (2.00)"
    assert line.endswith(f"| {plain} | {one} | {one} | {two} | 1.5 | missed; plain slower |")


def test_the_report_has_every_part_and_fits_its_page(tmp_path: Path) -> None:
    clock = summary({name: [1.0, 2.0] for name in (startup.BASE, *startup.GOALS)})
    files = {name: [4.0] for name in (bigfiles.CP, *bigfiles.GOALS)}
    results = {
        "machine": {**machine(), "load": "0.0"},
        "kernels": {"W5": made_row(), "W10 add int8": made_row() | {"key": "W10 add int8"}},
        "startup": {"wall": clock, "cpu": clock},
        "calls": {
            "calls": summary({"run gscli": [9.0], "run numpy": [2.0]}),
            "rates": {"batch": {"wall": 3000.0, "median": 1500.0, "cpu": 4000.0}},
        },
        "bigfiles": {
            "4": {
                "wall": summary(files),
                "peak": dict.fromkeys(files, 5.0),
                "private": dict.fromkeys(files, 200.0),
            },
        },
    }
    text = report.markdown(results)
    for part in (
        "0 met, 0 undecided, 2 missed", "<details>", "| gscli --help | 1.00 (1.00) |",
        "| `run` | 9.0 | 2.0 | 7.0 (7.0) | 30 | met |", "| `batch` | 3,000", "met, missed",
        "| 4 | `gather -o` | 4.00 | 1.00 (1.00) |",
    ):  # fmt: skip
        assert part in text
    page = tmp_path / "RESULTS.md"
    page.write_text(report.RESULTS.read_text(encoding="utf-8"), encoding="utf-8")
    report.write_results(results, page)
    once = page.read_text(encoding="utf-8")
    assert text in once
    report.write_results(results, page)
    assert page.read_text(encoding="utf-8") == once
    results["machine"]["kind"] = "another"
    report.write_results(results, page)
    both = page.read_text(encoding="utf-8")
    assert text in both.partition("## another\n")[2]
    assert both.count(text) == once.count(text) + 1


def test_the_head_tells_the_kind_of_machine_and_loudly_that_loops_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def library() -> types.SimpleNamespace:
        return types.SimpleNamespace(gscli_processor=lambda: 7)

    monkeypatch.setattr(loops, "library", library)
    monkeypatch.setenv("GSCLI_LOOPS", "avx2")
    assert machine()["kind"].endswith(", AVX2 by GSCLI_LOOPS=avx2")
    monkeypatch.delenv("GSCLI_LOOPS")
    assert machine()["kind"].endswith(", AVX-512")
    monkeypatch.setattr(loops, "library", lambda: None)
    assert machine()["way"].startswith("**without compiled loops")


def test_a_page_without_markers_is_left_alone() -> None:
    with pytest.raises(ValueError, match="markers"):
        report.section_replaced("no markers", "section", report.markers("any"))


def test_processes_are_measured_and_failures_raised() -> None:
    python = [sys.executable, "-S", "-E", "-c"]
    found = run([*python, "import sys; sys.exit(sys.stdout.isatty())"])
    assert set(found) == {"wall", "cpu", "peak", "private"}
    assert found["cpu"] > 0
    assert 1 < found["peak"] < 1000
    run([*python, "import sys; sys.exit(not sys.stdout.isatty())"], terminal=True)
    with pytest.raises(RuntimeError, match="complaint"):
        run([*python, "raise SystemExit('complaint')"])


@pytest.mark.slow
def test_every_command_of_the_start_up_runs() -> None:
    candidates = startup.candidates()
    assert set(candidates) == {startup.BASE, *startup.GOALS}
    for candidate in candidates.values():
        assert candidate()["cpu"] > 0


def test_both_sides_of_a_call_do_the_same_work() -> None:
    for ours, theirs in calls.pairs().values():
        np.testing.assert_array_equal(ours(), theirs())


def test_small_cases_are_small_and_jobs_are_jobs() -> None:
    from gscli.lab.jobs import run_job

    jobs = calls.small_jobs()
    assert run_job(next(jobs).encode(), 1, [])["output"]["data"] == [0, 2, 3, 9]
    assert run_job(next(jobs).encode(), 2, [])["output"]["data"] == [1, 1, 3, 9]
    assert '"onnx/' in next(calls.small_cases())


@pytest.mark.slow
def test_bare_loops_stand_beside_their_commands() -> None:
    table = calls.table({"calls": {"min": {}}, "rates": calls.rates(1)}).splitlines()
    assert [line.split("`")[1] for line in table[-4:]] == [
        "verify", "batch", "bare verify", "bare batch",
    ]  # fmt: skip
    assert all(line.endswith("|  |  |") for line in table[-2:])


@pytest.mark.slow
def test_big_files_are_patched_picked_and_removed(tmp_path: Path) -> None:
    found = bigfiles.one(1 << 16, 1, tmp_path)
    assert set(found["wall"]["min"]) == {bigfiles.CP, bigfiles.WRITES, *bigfiles.GOALS}
    assert not (tmp_path / "output.npy").exists()
    data = np.load(tmp_path / "data.npy")
    assert data.nbytes == 1 << 16
    assert len(np.unique(np.load(tmp_path / "vectors.npy"))) == len(data)


@pytest.mark.parametrize("reduction", ["none", *UFUNCS])
def test_owners_of_chunks_give_the_bits_of_one_call(reduction: str) -> None:
    rng = np.random.default_rng(7)
    data, updates = rng.random((50, 3), np.float32), rng.random((400, 3), np.float32)
    indices = rng.integers(-50, 50, (400, 1))
    expected = gscli.scatter_nd(data, indices, updates, reduction=reduction)
    for chunk_rows in (1, 7, 50):
        parts = traffic.by_owner(data, indices, updates, chunk_rows, reduction)
        assert kernel_race.same_bits(parts, expected)


def test_traffic_counts_chunks_and_messages() -> None:
    """32 rows in 16 chunks of 2; every worker asks its neighbour twice for one row."""
    indices = (np.repeat(np.arange(16), 2) * 2 + 2) % 32
    found = traffic.traffic(indices, 32, 2 * traffic.ROW_BYTES)
    assert (found.touched, found.by_block, found.by_chunk) == (1.0, 1.0, 1.0)
    message = (traffic.INDEX_BYTES + traffic.ROW_BYTES) / traffic.ROW_BYTES
    assert (found.entries, found.distinct, found.busiest) == (message, message / 2, 1.0)
    backwards = traffic.traffic(np.repeat(31 - np.arange(16), 2), 32, 2 * traffic.ROW_BYTES)
    # The eleventh worker owns the row it asks for, twice.
    assert (backwards.entries, backwards.distinct) == (message * 30 / 32, message * 15 / 32)
    at_home = traffic.traffic(np.arange(32), 32, 2 * traffic.ROW_BYTES)
    assert (at_home.entries, at_home.distinct) == (0.0, 0.0)


@pytest.mark.parametrize("name", traffic.DISTRIBUTIONS)
def test_distributions_stay_inside_and_differ_as_named(name: str) -> None:
    rows = traffic.DISTRIBUTIONS[name](np.random.default_rng(7), 5000, 4000)
    assert rows.shape == (4000,)
    assert rows.min() >= 0
    assert rows.max() < 5000
    share = np.sort(np.bincount(rows, minlength=5000))[-50:].sum() / 4000
    assert (share > 0.4) == (name == "Zipf")
    assert (np.mean(np.diff(rows) == 1) > 0.9) == (name == "clustered")


def test_the_page_has_the_table_of_the_simulation() -> None:
    small = traffic.table(1000, 500)
    page = traffic.PAGE.read_text(encoding="utf-8")
    assert traffic.HEADER in page
    assert small.count("\n") == page.partition(traffic.MARKERS[0])[2].partition("<!--")[0].count(
        "\n"
    )


@pytest.mark.skipif(which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("workload", workloads(), ids=lambda workload: workload.key)
def test_a_bare_loop_in_one_thread_does_the_work_of_its_row(workload: Workload) -> None:
    if "updates" in (inputs := workload.inputs(TOY)):
        # Bare sums are of whole numbers, and have no copy of data: one call adds to it once.
        inputs = {name: array.astype(np.int32) for name, array in inputs.items()}
        inputs["indices"] = inputs["indices"].astype(np.int64)
    bare = limits.bare_calls(workload, inputs)
    assert set(bare) == set(kernel_table.BARE)
    assert kernel_race.same_bits(
        np.asarray(bare["bare 1"]()).reshape(-1), workload.idiom(inputs).reshape(-1)
    )
