"""Records are named tuples in all but the time that their classes take."""

from __future__ import annotations

import copy
import pickle
from typing import NamedTuple

import pytest

import gscli
from gscli.base.records import Record, cached_property


class Plain(NamedTuple):
    x: int
    y: tuple[int, ...] = ()
    z: str = "z"


class Light(Record):
    x: int
    y: tuple[int, ...] = ()
    z: str = "z"

    @property
    def both(self) -> tuple[object, ...]:
        return self.x, self.z


class Below(Light):
    """It has no field of its own, and room for more."""


@pytest.mark.parametrize(
    ("values", "named"),
    [((1,), {}), ((1, (2,), "b"), {}), ((), {"x": 1}), ((1,), {"z": "b"}), ((), {"z": 1, "x": 2})],
)
def test_made_and_shown_as_a_named_tuple(values: tuple[int, ...], named: dict[str, object]) -> None:
    plain, light = Plain(*values, **named), Light(*values, **named)
    assert plain == light
    assert hash(plain) == hash(light)
    assert repr(plain).replace("Plain", "Light") == repr(light)
    assert plain._asdict() == light._asdict()
    assert (light.x, light.y, light.z) == tuple(plain)
    assert light.both == (plain.x, plain.z)
    assert plain._replace(y=(7,)) == light._replace(y=(7,))
    for kept in (copy.deepcopy(light), pickle.loads(pickle.dumps(light))):
        assert (kept, type(kept)) == (light, Light)


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), ((1, 2, 3, 4), {}), ((1,), {"x": 1}), ((1,), {"w": 2}), ((), {"y": ()})],
)
def test_refused_as_a_named_tuple(values: tuple[int, ...], named: dict[str, object]) -> None:
    for kind in (Plain, Light):
        with pytest.raises(TypeError):
            kind(*values, **named)


def test_fields_cannot_be_set_and_no_others_added() -> None:
    light = Light(1)
    for name in ("x", "other"):
        with pytest.raises(AttributeError):
            setattr(light, name, 2)
    with pytest.raises(TypeError):
        light._replace(other=2)


def test_matched_by_position() -> None:
    match Light(1, z="b"):
        case Light(x, _, z):
            assert (x, z) == (1, "b")


def test_a_class_below_a_record_holds_more() -> None:
    below = Below(1)
    below.more = 2
    assert (below, below.more, below._replace(x=3).x) == (Light(1), 2, 3)
    assert type(below._replace(x=3)) is Below


def test_a_cached_property_of_the_class_is_itself() -> None:
    class Box:
        @cached_property
        def size(self) -> int:
            return 3

    assert isinstance(Box.size, cached_property)
    assert Box().size == 3


def test_attributes_answer_to_the_names_they_had_in_the_release_before() -> None:
    compared = gscli.compare("gather", {"data": [1, 2, 3], "indices": [0, -1, 7]})
    assert compared.ways == compared.outcome_groups
    assert compared.refusals == compared.refusal_count > 0
    entry = gscli.trace("onnx.gather", {"data": [1, 2], "indices": [0]}).entries()[0]
    assert entry.lost == entry.dropped_count == 0
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = compared.nothing
