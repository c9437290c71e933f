"""NumPy scripts under watch: `gscli watch --numpy SCRIPT`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gscli.watch.findings import WatchedIndex
from gscli.watch.subscripts import NAME, SubscriptWatch, rewrite

sys.path.insert(0, str(Path(__file__).parent))

from screens import list_commands, read_sessions, replay

SESSIONS = read_sessions("numpy")
ROOT = str(Path(__file__).parents[2])


def run(source: str, *, raises: bool = True) -> tuple[SubscriptWatch, dict[str, object]]:
    watch = SubscriptWatch(raises=raises)
    scope: dict[str, object] = {NAME: watch, "np": np}
    exec(compile(rewrite(source.encode(), "script.py"), "script.py", "exec"), scope)
    return watch, scope


@pytest.mark.parametrize(
    "source",
    [
        "x = np.arange(12).reshape(3, 4)\nr = x[[0, 2]], x[:, [1]], x[..., None], x[1:, 0]",
        "x = np.zeros((3, 4))\nx[[0, 2], 1] = [5, 6]\nx[x > 5] = 1\nx[0] += 1\nx[1][2] = 3\nr = x",
        "d = {'a': [1, 2]}\nd['a'][0] += 5\nd['b'] = d['a'][::-1]\nr = d",
        (
            "order = []\ndef f(v):\n    order.append(v)\n    return v\nx = np.zeros(3)\n"
            "x[[f(0), f(1)]] = f(7)\nx[f(2)] += f(1)\nx[[f(0)]] *= f(3)\nr = order, x"
        ),
        "a = np.zeros(3)\n(a[2], c) = 1, 2\nx: list[int] = [a[[2]][0]]\nr = a, c, x",
        (
            "def take(x):\n    return x\nx = np.arange(4)\nnp.put(x, [0, 1], [5, 6])\n"
            "r = x, take(3), take([1]), x.take([[1]], axis=0), np.take([1, 2], [0]), {}.get('at')"
        ),
        (
            "x, k = np.arange(6).reshape(2, 3), np.array([0, 5])\n"
            "r = np.take_along_axis(x, k, None), np.take(x, [5], None), x.take([5], axis=None)"
        ),
        "x = np.arange(4)\nk = (slice(1), )\nr = x[*k], f'{x[0]}', [*x[1:]], (lambda: x[[3]])()",
    ],
)
def test_a_rewritten_script_gives_what_it_gives_alone(source: str) -> None:
    alone: dict[str, object] = {"np": np}
    exec(source, alone)
    watch, scope = run(source)
    assert repr(scope["r"]) == repr(alone["r"])
    assert not watch.findings, watch.report()


def test_a_bad_index_is_named_with_the_scripts_own_words() -> None:
    with pytest.raises(WatchedIndex) as caught:
        run("grid, rows = np.zeros((3, 4)), np.array([0, 3])\ngrid[rows, 1]")
    text = str(caught.value)
    assert "--> script.py:2 in <module>" in text
    assert "rows[1] = 3\n" in text
    assert "axis 0 of grid [3×4]: legal -3 … 2" in text


@pytest.mark.parametrize("call", ["x[[7]]", "np.take(x, [7])", "x.take([7])", "x[[7]] = 1"])
def test_an_array_of_a_mapped_file_is_watched_as_any(call: str, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(3))
    mapped = f"x = np.load({str(tmp_path / 'x.npy')!r}, mmap_mode='r+')\n"
    with pytest.raises(WatchedIndex, match="legal -3 … 2"):
        run(mapped + call)
    watch, _ = run(mapped + "x[[1, 1]] += 1")
    assert [finding.kind for finding in watch.findings] == ["lost"]


def test_a_noted_index_is_left_to_numpy() -> None:
    watch = SubscriptWatch(raises=False)
    watch.update("numpy.add", np.zeros(3), [7])
    assert watch.indices == 1
    with pytest.raises(IndexError, match="out of bounds"):
        watch.read(np.zeros(3), [7])
    assert [finding.kind for finding in watch.findings] == ["index", "index"]  # of two lines


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("c, w = np.zeros(3), np.array([0, 0, 1])\nc[w] += 1", "1 of 3 entries repeat a cell"),
        ("c = np.zeros(3)\nc[np.array([0, 0])] += 1", "1 of 2 entries repeat a cell"),
        ("c = np.zeros(3)\nc[[1, 1]] = [5, 6]", "1 of 2 values written were overwritten"),
        (
            "c = np.zeros((2, 2))\nnp.put_along_axis(c, np.array([[1, 1]]), np.array([[5, 6]]), 1)",
            "2 of 4 values written were overwritten",
        ),
        ("x, up = np.zeros(3), np.array([0, -1])\nx[up]", "up counts from the end: least -1"),
    ],
)
def test_what_numpy_does_in_silence_is_told(source: str, words: str) -> None:
    watch, _ = run(source)
    (finding,) = watch.findings
    assert words in finding.error.problem
    assert finding.error.where == "script.py:2 in <module>"


@pytest.mark.parametrize(
    ("sign", "name"),
    [("+=", "numpy.add"), ("-=", "numpy.subtract"), ("/=", "numpy.divide"), ("%=", "ufunc")],
)
def test_the_function_that_does_the_same_for_every_occurrence_is_named(
    sign: str, name: str
) -> None:
    watch, _ = run(f"c = np.ones(3)\nc[[0, 0]] {sign} 2")
    assert watch.findings[0].error.hint == f"{name}.at applies them all"


@pytest.mark.parametrize(
    "source",
    [
        "c = np.zeros(3)\nc[[1, 1]] = [5, 5]",
        "c = np.zeros(3)\nc[[1, 1]] = 5",
        "c = np.full(3, np.nan)\nc[[1, 1]] = [np.nan, np.nan]",
        "np.take(np.arange(3), [-1, 2], mode='clip')",
        "c = np.zeros(3)\nc.put([-1, 2], [5, 6], 'clip')",
        "c = np.zeros(3)\nc[[0, 2]] += 1\nc[[-1]] = 2\nc[c > 0] *= 2",
        "c = np.zeros((2, 2))\nnp.put_along_axis(c, np.array([[1, 1]]), np.array([[5], [6]]), 1)",
    ],
)
def test_a_sound_script_gives_no_alarm(source: str) -> None:
    watch, _ = run(source)
    assert not watch.findings, watch.report()


def test_the_command_rewrites_the_script(tmp_path: Path) -> None:
    (tmp_path / "count.py").write_text(
        "import numpy as np\ncounts = np.zeros(4, int)\nwords = np.array([1, 1, 2])\n"
        "counts[words] += 1\nprint(counts)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "gscli", "watch", "--numpy", "count.py"],
        cwd=tmp_path, env={"PYTHONPATH": ROOT, "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "[0 1 1 0]\n")
    assert done.stderr == (
        "warning: 1 of 3 entries repeat a cell, which changes only once\n"
        "  --> count.py:4 in <module>\n"
        "   |  counts[words] += 1\n"
        "   |  ^^^^^^^^^^^^^ numpy setitem\n"
        "  help: numpy.add.at applies them all\n\n"
        "watched 1 call, 3 indices: 1 setitem\n"
    )


@pytest.mark.parametrize("name", SESSIONS)
def test_a_script_prints_what_is_recorded(name: str, tmp_path: Path) -> None:
    """A screen that is right now is written anew by `python tests/watch/screens.py numpy`."""
    assert replay(SESSIONS[name], tmp_path) == SESSIONS[name].screen


HINTS = [(name, words) for name in SESSIONS for words in list_commands(SESSIONS[name].screen)]


@pytest.mark.parametrize(("name", "words"), HINTS)
def test_a_hint_is_a_command_that_works(
    name: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it names is in the files that were saved; pictures, code and expectations take it."""
    from gscli.cli import run_safely

    replay(SESSIONS[name], tmp_path)
    monkeypatch.chdir(tmp_path)
    if words[0] == "check":
        assert run_safely(words) == 1
        return
    assert run_safely([*words, "--svg", "finding.svg", "--html", "finding.html"]) == 0
    assert run_safely(["check", *words]) == 1
    assert run_safely(["explain", *words, "--code", "numpy"]) == 0
    assert run_safely([*words, "-o", "output.npy"]) == 0
    assert run_safely([*words, "--expect", "output.npy"]) == 0
    assert (tmp_path / "finding.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("source", "data", "values"),
    [
        ("c = np.arange(3)\nc[[1, 1]] = [5, 6]", "a", [5, 6]),
        ("c = np.arange(3)\nc[[1, 1]] += [5, 6]", "a", [6, 7]),
        ("c = np.arange(3)\nnp.put(c, [1, 1], [5, 6])", "a", [5, 6]),
        (
            "c = np.arange(3)\nnp.put_along_axis(c, np.array([1, 1]), np.array([5, 6]), 0)",
            "arr", [5, 6],
        ),
    ],
)  # fmt: skip
def test_the_saved_call_is_that_of_the_script(
    source: str, data: str, values: list[int], tmp_path: Path
) -> None:
    watch = SubscriptWatch(str(tmp_path / "case.npz"))
    code = compile(rewrite(source.encode(), "script.py"), "script.py", "exec")
    exec(code, {NAME: watch, "np": np})
    with np.load(tmp_path / "case-lost.npz") as saved:
        assert saved[data].tolist() == [0, 1, 2]
        assert saved[saved.files[-1]].tolist() == values


@pytest.mark.parametrize(
    "source",
    [
        "d = np.array(['2020-01-01', '2021-01-01'], 'M8[D]')\nd[[0]] = d[[1]]\nr = d",
        "o = np.array([1, 'a', None], object)\no[[0, 1]] = [{}, ()]\nr = o, np.take(o, [2])",
        "s = np.zeros(3, [('x', 'i4')])\nr = s[[0, 1]], s['x'][[1]], s[['x']]",
        "o = np.array([1, 2], object)\nnp.add.at(o, [0, 0], 1)\no[[1]] += 5\nr = o",
        "c = np.zeros(3, '>i4')\nnp.put(c, [0, 1], [5, 6])\nc[[2]] = 7\nr = c",
        "c = np.zeros(3)\nnp.negative.at(c, [0, 1])\nc[[0, 1]] = [None, 3]\nr = c",
    ],
)
def test_what_only_numpy_has_rules_for_is_left_to_it(source: str) -> None:
    alone: dict[str, object] = {"np": np}
    exec(source, alone)
    watch, scope = run(source)
    assert repr(scope["r"]) == repr(alone["r"])
    assert not watch.findings, watch.report()
