"""`grad --code`: programs are those that were run in the real frameworks, for every operator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import slow
from recording.backward import digest, iter_programs
from shell import call_gscli

import gscli

TABLE = json.loads((Path(__file__).parents[1] / "vectors" / "backward.json").read_text("utf-8"))


@pytest.mark.parametrize("step", [8, *slow([1])])
@pytest.mark.parametrize("target", TABLE)
def test_programs_are_those_that_gave_the_gradients_of_the_loop(target: str, step: int) -> None:
    recorded = TABLE[target]["operators"]
    missing = {operator.full_name for operator in gscli.operators()} - recorded.keys()
    assert not missing, (
        f"no run of their `grad --code {target}`: GSCLI_PYTHONS={target}=PYTHON "
        f"GSCLI_OPERATORS='{' '.join(sorted(missing))}' python tests/record.py backward"
    )
    assert len(recorded) == len(gscli.operators())
    assert sum(count for count, _ in recorded.values()) > 300
    for name in sorted(recorded)[::step]:
        programs = [program for program, _ in iter_programs(name, target)]
        assert [len(programs), digest(programs)] == recorded[name], name


def test_the_command_prints_a_program() -> None:
    words = ("torch", "scatter", "[10.0,20.0,30.0]", "[0,2,0]", "[1.0,2.0,3.0]", "--dim", "0")
    done = call_gscli("grad", *words, "--code", "torch")
    program = done.stdout.decode()
    assert done.returncode == 0
    compile(program, "program", "exec")
    assert "updates.requires_grad_()" in program
    assert "last = " in program
    # What is dropped is no factor: the gradient of infinity was NaN, in the loop it is 0.
    words = ("jax", "at-multiply", "[10.0,20.0]", "[0,5]", "[2.0,Infinity]")
    assert b"jnp.where(live, new, 1)" in call_gscli("grad", *words, "--code", "jax").stdout


def test_a_program_prints_gradients_under_the_names_of_the_operator() -> None:
    words = ("tf", "unsorted-segment-sum", "[5.0,2.0]", "[0,0]", "--num-segments", "1")
    program = call_gscli("grad", *words, "--code", "jax").stdout.decode()
    assert program.endswith("print('data', updates_gradient)\n")
    words = ("torch", "index-fill", "[5.0,2.0]", "[0]", "--dim", "0", "--value", "3")
    program = call_gscli("grad", *words, "--code", "torch").stdout.decode()
    assert program.endswith("print('input', data.grad)\nprint('value', value.grad)\n")


def test_a_list_of_targets_has_a_program_for_each() -> None:
    words = ("grad", "gather", "[1.0,2.0]", "[0]", "--code")
    alone = [call_gscli(*words, name).stdout.decode() for name in ("torch", "jax")]
    several = "\n\n".join(
        f"# {title}\n{program}" for title, program in zip(("PyTorch", "JAX"), alone, strict=True)
    )
    for listed in ("torch,jax", "all"):
        assert call_gscli(*words, listed).stdout.decode() == several
    refused = call_gscli(*words, "numpy").stderr.decode()
    assert (
        "no code is written for 'numpy'\n   |  valid: torch jax, or all\n  help: all writes each\n"
        in refused
    )
    folded = call_gscli(
        "grad", "torch", "embedding-bag", "[0]", "[[1.0]]", "[0]", "--mode", "max", "--code", "all"
    )
    assert (folded.returncode, folded.stdout) == (2, b"")
    assert b"help: leave out --code: the gradients themselves are computed" in folded.stderr


@pytest.mark.parametrize("more", [("--json",), ("--plain",), ("--svg", "x.svg"), ("-o", "x.npy")])
def test_a_program_stands_alone(more: tuple[str, ...]) -> None:
    done = call_gscli("grad", "gather", "[1.0,2.0]", "[0]", "--code", "jax", *more)
    assert done.returncode == 2
    assert b"--code prints a program and nothing else" in done.stderr


def test_what_has_no_program_says_why() -> None:
    done = call_gscli("grad", "scatter-nd", "[1.0,2.0]", "[]", "[]", "--code", "torch")
    assert done.returncode in (2, 65)
    assert done.stderr.startswith(b"error: ")
