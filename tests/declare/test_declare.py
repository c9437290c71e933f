"""Declarations: what is derived from a signature, and how attributes are judged."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pytest

import gscli
from gscli.base import UsageError
from gscli.declare import ShapeInput, VariadicInput
from gscli.declare.attributes import Option
from gscli.frameworks import NAMES, find_operator, load_framework, operators
from gscli.frameworks.operator import Framework
from gscli.layout import Layout, gather_layout
from gscli.layout.axes import Number, Policy, Tensor
from gscli.layout.families import address_axis

TOY = Framework("toy", "Toy")


@TOY.operator("'[1]' '[0]'", versions=(1, 4), until=6)
def pick_(
    data: Tensor,
    indices: VariadicInput,
    axis: ShapeInput,
    extra: Tensor | None = None,
    *,
    kind: Annotated[
        Literal["plain", "fancy"], Option("how", since=4, choices_since={"fancy": 4})
    ] = "plain",
    count: int = 2,
    dims: tuple[int, ...] = (),
    fill: Number | None = None,
    strict: bool = False,
    name: str | None = None,
    needed: Annotated[int, Option("must be said")],
    opset: int | None = None,
) -> Layout:
    """Pick things.

    Use another operator from opset 7 on
    """
    del axis, extra, kind, count, dims, fill, strict, name, needed, opset
    return gather_layout(data, address_axis(data, indices[0], 0), Policy())


def test_inputs_and_attributes_come_from_the_signature() -> None:
    assert [(i.name, i.kind, i.optional) for i in pick_.inputs] == [
        ("data", "tensor", False),
        ("indices", "many", False),
        ("axis", "values", False),
        ("extra", "tensor", True),
    ]
    kinds = {attribute.name: attribute.kind for attribute in pick_.attributes}
    assert kinds == {
        "kind": "choice",
        "count": "int",
        "dims": "ints",
        "fill": "number",
        "strict": "bool",
        "name": "str",
        "needed": "int",
        "opset": "int",
    }
    assert pick_.command == "pick"
    assert pick_.full_name == "toy.pick_"
    assert pick_.summary == "Pick things."
    assert pick_.command_line == "gscli toy pick"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("kind", "fancy", "fancy"),
        ("count", "-3", -3),
        ("dims", "1,2", (1, 2)),
        ("dims", "[]", ()),
        ("dims", "", ()),
        ("dims", "()", ()),
        ("dims", "(1,)", (1,)),
        ("dims", "( 1, 2 )", (1, 2)),
        ("fill", "2.5", 2.5),
        ("fill", "7", 7),
        ("fill", "true", True),
        ("fill", "1+2j", 1 + 2j),
        ("fill", "word", "word"),
        ("fill", "none", None),
        ("fill", "-inf", float("-inf")),
        ("fill", "9" * 400, int("9" * 400)),
        ("fill", "1_0", "1_0"),
        ("strict", "yes", True),
        ("strict", "0", False),
        ("fill", "0.5", 0.5),
        ("name", "none", None),
    ],
)
def test_words_of_the_command_line(name: str, text: str, value: object) -> None:
    attribute = next(item for item in pick_.attributes if item.name == name)
    assert attribute.parse(text) == value
    assert type(attribute.parse(text)) is type(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "plane"), ("kind", 3), ("count", 1.5), ("count", True), ("count", "x"),
        ("dims", "12"), ("dims", 3), ("fill", [1]), ("strict", 2),
        ("name", 3), ("name", None.__class__), ("count", None),
    ],
)  # fmt: skip
def test_values_of_the_wrong_type_are_refused(name: str, value: object) -> None:
    attribute = next(item for item in pick_.attributes if item.name == name)
    with pytest.raises(UsageError):
        attribute.convert(value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("count", "two"), ("dims", "1,x"), ("strict", "maybe"),
        ("count", "1_0"), ("count", "٣"), ("dims", "0,1_0"),
        ("dims", ","), ("dims", "(,)"), ("dims", "[1"), ("dims", "(1]"),
        ("fill", "1e999"), ("fill", "-1e999"), ("fill", "1e999+2j"), ("fill", "9" * 5000),
    ],
)  # fmt: skip
def test_words_of_the_wrong_kind_are_refused(name: str, text: str) -> None:
    attribute = next(item for item in pick_.attributes if item.name == name)
    with pytest.raises(UsageError, match="takes"):
        attribute.parse(text)


def test_a_word_of_the_wrong_kind_is_named_by_its_option() -> None:
    with pytest.raises(UsageError) as caught:
        find_operator("gather-nd").attributes_by_name["batch_dims"].parse("x")
    assert caught.value.where == "--batch-dims x"


def test_near_choices_are_suggested() -> None:
    with pytest.raises(UsageError) as caught:
        pick_.bind_attributes({"kind": "fanzy", "needed": 1})
    assert caught.value.hint == "did you mean fancy?"
    assert caught.value.valid == "plain fancy"


def test_other_frameworks_reduction_names_are_translated() -> None:
    with pytest.raises(UsageError) as caught:
        gscli.scatter_nd([1], [[0]], [2], reduction="sum")
    assert caught.value.hint == "did you mean add?"


def test_versions() -> None:
    assert pick_.resolve_version(None) == 4
    assert pick_.resolve_version(3) == 1
    assert pick_.resolve_version(6) == 4
    with pytest.raises(UsageError, match="ended with opset 6") as caught:
        pick_.resolve_version(7)
    assert caught.value.hint == "Use another operator from opset 7 on"
    with pytest.raises(UsageError, match="needs opset 1"):
        pick_.resolve_version(0)


def test_attributes_and_choices_that_a_version_lacks() -> None:
    with pytest.raises(UsageError, match="kind needs opset 4"):
        pick_.bind_attributes({"kind": "plain", "needed": 1, "opset": 2})
    with pytest.raises(UsageError) as caught:
        find_operator("onnx.scatter_nd").bind_attributes({"reduction": "max", "opset": 16})
    assert caught.value.problem == "reduction=max needs opset 18"
    assert caught.value.valid == "none add mul"
    assert caught.value.hint == "--opset 18 of scatter-nd"  # a model's node has no options


def test_unknown_and_missing_names() -> None:
    with pytest.raises(UsageError, match="has no attribute 'knd'") as caught:
        pick_.check_names(pick_.input_names, {"knd": "plain", "needed": 1})
    assert caught.value.hint == "did you mean kind?"
    with pytest.raises(UsageError, match=r"toy\.pick_ needs needed"):
        pick_.bind_attributes({})
    with pytest.raises(UsageError, match="has no input 'updates'"):
        gscli.run("gather", {"data": [1], "indices": [0], "updates": [1]})
    with pytest.raises(UsageError, match="has no input 'axis'") as caught:
        gscli.run("gather", {"data": [1], "indices": [0], "axis": 0})
    assert caught.value.hint == "axis is an attribute; in JSON it stands in attrs"
    with pytest.raises(UsageError, match="needs indices"):
        gscli.run("gather", {"data": [1]})
    assert gscli.run("jax.at.get", {"x": [1], "indices": [0]}).tolist() == [1]
    with pytest.raises(UsageError, match="has no input 'indexes'") as caught:
        gscli.run("jax.at.get", {"x": [1], "indexes": [0]})
    assert (caught.value.valid, caught.value.hint) == ("x indices_0", "did you mean indices_0?")


def test_calls_by_position_and_by_name() -> None:
    assert gscli.gather([1, 2], [1]).tolist() == [2]
    assert gscli.gather(data=[1, 2], indices=[1]).tolist() == [2]
    assert gscli.torch.scatter([1, 2], [0], dim=0, value=9).tolist() == [9, 2]
    assert gscli.jax.at_add([1, 2], (np.array([0, 0]),), [5, 6]).tolist() == [12, 2]
    with pytest.raises(UsageError, match="takes 2 inputs, got 3"):
        gscli.gather([1], [0], [2])


def test_finding_operators() -> None:
    assert find_operator("tf.gather") is find_operator("tensorflow.gather")
    assert find_operator("take").full_name == "numpy.take"
    assert load_framework("tf") is load_framework("tensorflow")
    assert len({operator.full_name for operator in operators()}) == len(operators()) > 60
    for wrong in ("onnx.gathr", "nothing", "fortran.gather"):
        with pytest.raises(UsageError):
            find_operator(wrong)
    with pytest.raises(AttributeError):
        gscli.no_such_thing  # noqa: B018


def sources(name: str) -> dict[Path, str]:
    """The files of a framework, or of any other module beside them."""
    folder = Path(gscli.__file__).parent / "frameworks"
    files = [folder / f"{name}.py", *(folder / name).glob("*.py")]
    return {path: path.read_text() for path in files if path.exists()}


def declarations(name: str) -> Iterator[str]:
    """Names of the functions that a framework's files decorate as operators."""
    for source in sources(name).values():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef):
                decorators = " ".join(map(ast.unparse, node.decorator_list))
                if decorators.startswith("FRAMEWORK.operator("):
                    yield node.name


def test_every_file_and_folder_that_declares_a_framework_is_known_by_name() -> None:
    folder = Path(gscli.__file__).parent / "frameworks"
    names = {path.stem for path in folder.iterdir() if not path.name.startswith("__")}
    declaring = {
        name for name in names if any("FRAMEWORK = " in text for text in sources(name).values())
    }
    assert declaring == set(NAMES), "gscli.frameworks.NAMES lists them"


@pytest.mark.parametrize("name", NAMES)
def test_nothing_declared_is_out_of_reach(name: str) -> None:
    known = getattr(gscli, name)
    assert known is load_framework(name)
    functions = {operator.function.__name__ for operator in known.operators.values()}
    assert set(declarations(name)) <= functions
    for operator in known.operators.values():
        assert getattr(known, operator.name.replace(".", "_")) is operator
        assert find_operator(operator.full_name) is operator
        assert pickle.loads(pickle.dumps(operator)) is operator
    assert set(dir(known)) == {one.replace(".", "_") for one in known.operators}
    with pytest.raises(AttributeError, match="has no operator 'nothing'"):
        known.nothing  # noqa: B018


def test_an_attribute_that_must_be_given_says_what_it_takes() -> None:
    with pytest.raises(UsageError, match=r"torch\.gather needs dim") as caught:
        gscli.torch.gather([1], [0])
    assert caught.value.valid == "a whole number"
    with pytest.raises(UsageError, match="needs reduce") as caught:
        gscli.torch.index_reduce([1], [0], [1], dim=0)
    assert caught.value.valid == "prod mean amax amin"
