"""gscli against the oracle on every small world: the same bits, or both refuse."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

import numpy as np
import oracle
import pytest
from conftest import Array, assert_same, slow
from worlds import GOOD, World, bad_worlds
from worlds.bad import CHOICES, is_index
from worlds.subscript import key_of

import gscli
from gscli import base as errors
from gscli.frameworks import find_operator
from gscli.lab.examples import build_probe

SHOWN = 20

# Every day one world of so many is judged, in the gate all are.
SHARE = 40

# So many answers have cells, for lists that only refuse would prove little.
EVERYDAY, ANSWERED = 10, 50


def _answers(world: World) -> tuple[Array | errors.GscliError, Array | oracle.Refused]:
    """What gscli and the oracle say; anything but a result or a refusal goes through."""
    actual: Array | errors.GscliError
    expected: Array | oracle.Refused
    for array in world.inputs.values():
        array.flags.writeable = False
    try:
        actual = gscli.run(world.name, world.inputs, world.attrs)
    except gscli.GscliError as error:
        actual = error
    try:
        expected = oracle.run(world.name, world.inputs, world.attrs)
    except oracle.Refused as error:
        expected = error
    return actual, expected


def _judge(world: World) -> tuple[str, bool]:
    """What is wrong with gscli's answer, if anything, and whether it has any cells."""
    try:
        actual, expected = _answers(world)
    except Exception as error:  # noqa: BLE001  (a crash is a finding like any other)
        return f"crashed: {type(error).__name__}: {error}", False
    if isinstance(expected, oracle.Refused):
        refused = isinstance(actual, gscli.GscliError)
        return "" if refused else f"accepted, the oracle refuses ({expected})", False
    if isinstance(actual, gscli.GscliError):
        return f"refused ({actual}), the oracle answers {expected.ravel().tolist()}", False
    try:
        assert_same(actual, expected)
    except AssertionError as error:
        return str(error), False
    return "", expected.size > 0


def _drawn(name: str) -> Iterator[World]:
    """All worlds, in an order that the name alone decides."""
    worlds = GOOD[name]()
    places = list(range(len(worlds)))
    random.Random(name).shuffle(places)
    return (worlds[place] for place in places)


in_shares = pytest.mark.parametrize("everyday", [True, *slow([False])], ids=["some", "all"])


@in_shares
@pytest.mark.parametrize("name", GOOD)
def test_gscli_agrees_with_the_oracle(name: str, *, everyday: bool) -> None:
    assert name in {operator.full_name for operator in gscli.operators()}, "not declared"
    enough = len(GOOD[name]()) // SHARE
    judged = answered = 0
    complaints = []
    for world in _drawn(name):
        complaint, something = _judge(world)
        judged, answered = judged + 1, answered + something
        if complaint:
            complaints.append(f"{world}\n    {complaint}")
        if everyday and judged >= enough and answered >= EVERYDAY:
            break
    first = "\n".join(complaints[:SHOWN])
    assert not complaints, f"{len(complaints)} of {judged} worlds\n{first}"
    assert answered >= (EVERYDAY if everyday else ANSWERED), "most are refused"


def test_what_has_an_oracle_or_worlds_is_declared() -> None:
    declared = {operator.full_name for operator in gscli.operators()}
    assert set(oracle.OPERATORS) | set(GOOD) <= declared, "the oracle or worlds of nothing"


def test_faults_are_put_into_every_index_and_every_choice() -> None:
    for name in GOOD:
        probe = build_probe(find_operator(name), {})
        assert probe is not None
        read = {item.name for item in find_operator(name).inputs} & set(probe.layout.index_inputs)
        unknown = {one for one in read if not is_index(one, name)}
        assert not unknown, f"add {unknown} to INDICES of tests/worlds/bad.py, or {name}.…"
        choices = {one.name for one in find_operator(name).attributes if one.choices} - CHOICES
        assert not choices, f"{name}: add {choices} to CHOICES of tests/worlds/bad.py"


def _oracle_answers(world: World) -> Array | None:
    try:
        return oracle.run(world.name, world.inputs, world.attrs)
    except oracle.Refused:
        return None


def _numpy_itself(world: World) -> Array | None:
    """What NumPy answers when it is called; None when it refuses."""
    inputs, attrs = dict(world.inputs), dict(world.attrs)
    method = world.name.removeprefix("numpy.")
    try:
        columns = [array for name, array in inputs.items() if name.startswith("indices_")]
        key = key_of(attrs.get("subscript"), columns)
        array = inputs["a"] if "a" in inputs else inputs["arr"]
        if method == "getitem":
            return np.asarray(array[key])
        array = array.copy()
        if method == "setitem":
            array[key] = inputs["values"]
            return array
        if method.endswith(".at"):
            with np.errstate(all="ignore"):
                getattr(np, method.removesuffix(".at")).at(array, key, inputs["b"])
            return array
        if method.startswith("put"):
            _, *rest = inputs.values()
            getattr(np, method)(array, *rest, **attrs)
            return array
        return np.asarray(getattr(np, method)(*inputs.values(), **attrs))
    except (IndexError, TypeError, ValueError):
        return None


def _is_numpys_own(world: World) -> bool:
    """Assignments that NumPy judges by other rules than its text has.

    A single cell takes numbers alone; text is cut to the width of a; where nothing is written no
    shapes are compared.
    """
    a, *indices, values = world.inputs.values()
    numbers = [index for index in indices if index.ndim == 0 and index.dtype.kind != "b"]
    one_cell = len(numbers) == a.ndim and values.ndim > 0
    return one_cell or a.dtype.kind == "U" or values.size == 0


@pytest.mark.recent  # what NumPy refuses differs by version
@in_shares
@pytest.mark.parametrize("name", [name for name in GOOD if name.startswith("numpy.")])
def test_numpy_itself_agrees_with_the_oracle(name: str, *, everyday: bool) -> None:
    for world in islice(_drawn(name), len(GOOD[name]()) // SHARE if everyday else None):
        if name == "numpy.setitem" and _is_numpys_own(world):
            continue
        answer = _numpy_itself(world)
        expected = _oracle_answers(world)
        if expected is None:
            # where nothing is copied NumPy looks at no index, which its text does not say
            assert answer is None or answer.size == 0, f"{world}: only the oracle refuses"
        else:
            assert answer is not None, f"{world}: only NumPy refuses"
            assert_same(answer, expected)


KINDS = {
    "index": errors.IndexRefused,
    "shape": errors.ShapeRefused,
    "dtype": errors.DtypeRefused,
    "usage": errors.UsageError,
}


@pytest.mark.parametrize("name", GOOD)
def test_a_bad_world_meets_the_right_refusal(name: str) -> None:
    complaints = []
    for world, fault, kind in bad_worlds(name, _oracle_answers):
        with pytest.raises(oracle.Refused) as refusal:
            oracle.run(world.name, world.inputs, world.attrs)
        assert refusal.value.kind == kind, f"{fault}: {refusal.value}"
        try:
            gscli.run(world.name, world.inputs, world.attrs)
        except gscli.GscliError as error:
            right = isinstance(error, KINDS[kind])
            complaint = "" if right else f"{type(error).__name__} ({error}), not {kind}"
        except Exception as error:  # noqa: BLE001  (a crash is a finding like any other)
            complaint = f"crashed: {type(error).__name__}: {error}"
        else:
            complaint = "accepted"
        if complaint:
            complaints.append(f"{fault}: {complaint}\n    {world}")
    assert not complaints, "\n".join(complaints)
