"""`gscli.watch.jax(f)`. It needs jax: the everyday run skips it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed: tests/watch/run.py runs it")

import jax.numpy as jnp  # noqa: E402

import gscli  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))

from screens import list_commands, read_sessions, replay, try_command  # noqa: E402

SESSIONS = read_sessions("jax")

TABLE = jnp.arange(20.0).reshape(5, 4)


def pick(table: Any, at: Any) -> Any:
    return table[at]


def loss(table: Any, labels: Any) -> Any:
    return -jnp.take_along_axis(table, labels[:, None], axis=1).sum()


def walk(moves: Any) -> Any:
    def step(at: Any, move: Any) -> Any:
        return at + move, jax.lax.dynamic_slice(jnp.arange(8.0), (at + move,), (3,))

    return jax.lax.scan(step, 0, moves)


def count(at: Any) -> Any:
    return jnp.zeros(4, jnp.int32).at[at].add(1)


def choose(x: Any) -> Any:
    return jax.lax.cond(x[0] < 1, lambda v: v[jnp.array([9])], lambda v: v[:1], x)


def loop(x: Any) -> Any:
    return jax.lax.while_loop(
        lambda state: state[0] < 5, lambda state: (state[0] + 1, state[1] + x[state[0]]), (0, 0.0)
    )


# What JAX does in silence: the function, its arguments, and what is told of it.
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "jit": (jax.jit(pick), (TABLE, jnp.array([0, 7])), "= 7: is clipped to 4|in pick|table[at]"),
    "several": (
        pick,
        (TABLE, jnp.array([7, 8, 0, -9])),
        "= 7: is clipped to 4, and 2 more indices are clipped",
    ),
    "grad": (jax.grad(loss), (TABLE, jnp.array([0, 9, 1, 1, 1])), "reads the fill value|in loss"),
    "vmap": (jax.vmap(pick, (None, 0)), (TABLE, jnp.array([1, 5])), "= 5: is clipped to 4|in pick"),
    "scan": (
        walk,
        (jnp.array([1, 2, 3, 4]),),
        "= 6: is clipped to 5|in step|2 times",
    ),
    "scatter": (jax.jit(count), (jnp.array([0, 1, 4]),), "= 4: is outside and is dropped|in count"),
    "cond": (choose, (jnp.arange(3.0),), "= 9: is clipped to 2|in <lambda>"),
    "while": (loop, (jnp.arange(3.0),), "is clipped to 2|in <lambda>|2 times"),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_jax_does_in_silence_is_told_and_the_values_stay(name: str) -> None:
    function, arguments, words = CALLS[name]
    watched = gscli.watch.jax(function)
    values, alone = watched(*arguments), function(*arguments)
    assert jax.tree.all(
        jax.tree.map(lambda x, y: bool(jnp.array_equal(x, y, equal_nan=True)), values, alone)
    )
    text = watched.seen.report()
    assert not [part for part in words.split("|") if part not in text], text
    assert "test_jax.py:" in text


def test_a_function_without_bad_indices_has_no_findings() -> None:
    watched = gscli.watch.jax(jax.jit(jax.value_and_grad(loss)))
    watched(TABLE, jnp.array([0, 1, 2, 3, 0]))
    assert not watched.seen.findings, watched.seen.report()
    assert sum(watched.seen.calls.values()) >= 2


def test_times_are_those_of_a_call_and_not_of_what_its_gradient_runs() -> None:
    at = jnp.array([1, 1, 0, 0, 7, 8])  # two cells written twice, two indices outside

    def overwrite(values: Any) -> Any:
        return jnp.zeros(5).at[at].set(values).sum()

    for function in (overwrite, jax.grad(overwrite)):
        watched = gscli.watch.jax(function)
        watched(jnp.arange(6.0))
        assert watched.seen.calls["scatter"] == 1
        texts = [str(finding.error.details) for finding in watched.seen.findings]
        assert sum("scatter on operand" in text for text in texts) == 2
        assert {finding.count for finding in watched.seen.findings} == {1}


def test_threads_of_the_program_are_told_as_not_watched() -> None:
    def run(table: Any) -> Any:
        thread = threading.Thread(target=pick, args=(table, jnp.array([7])))
        thread.start()
        thread.join()
        return pick(table, jnp.array([7]))

    watched = gscli.watch.jax(run)
    watched(TABLE)
    assert "not watched: 1 other thread" in watched.seen.last_line()
    assert [finding.count for finding in watched.seen.findings] == [1]


@pytest.mark.parametrize("name", SESSIONS)
def test_a_program_prints_what_is_recorded(name: str, tmp_path: Path) -> None:
    """A screen that is right now is written anew by `python tests/watch/screens.py jax`."""
    screen = replay(SESSIONS[name], tmp_path, forks=False)
    if jax.__version_info__ < (0, 10):  # there a gather under vmap promises what here is clipped
        screen = screen.replace("t [5×4], mode promise_in_bounds", "t [5×4], mode clip")
    assert screen == SESSIONS[name].screen


def test_nothing_is_watched_behind_the_block() -> None:
    watched = gscli.watch.jax(pick)
    watched(TABLE, jnp.array([7]))
    with pytest.raises(TypeError):
        watched(TABLE, None, None)
    calls = dict(watched.seen.calls)
    pick(TABLE, jnp.array([7]))
    assert watched.seen.calls == calls
    assert not jax.config.jax_disable_jit


@pytest.mark.parametrize("name", SESSIONS)
def test_a_hint_is_a_command_that_works(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A saved call is taken as it is by check, pictures, steps, code and expectations."""
    session = SESSIONS[name]._replace(words=f"--save case.npz {SESSIONS[name].words}")
    screen = replay(session, tmp_path, forks=False)
    monkeypatch.chdir(tmp_path)
    for words in list_commands(screen):
        try_command(words)
