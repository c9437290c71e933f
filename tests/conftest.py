"""What the tests share: recorded cases, decoded, and the two ways to compare arrays.

Both comparisons raise; neither returns a truth value that a test could forget to look at.
"""

from __future__ import annotations

import gc
import json
import os
import re
import signal
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import pytest

from gscli.disk.mapped import RegularFile, open_regular_file
from gscli.frameworks import find_operator
from gscli.plan import plan_call
from gscli.plan.plan import ValidatedPlan

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Case: TypeAlias = dict[str, Any]

VECTORS = Path(__file__).parent / "vectors"
FRAMEWORKS = ("onnx", "openvino", "numpy", "tensorflow", "mxnet", "caffe2", "torch", "jax")
TOLERANCES = {
    "float16": 4e-3,
    "bfloat16": 2e-2,
    "float32": 1e-6,
    "float64": 1e-14,
    "complex64": 1e-6,
    "complex128": 1e-14,
}


# Programs that tests start would compile all of gscli anew each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# As in `gscli.__main__`: threads that nobody needs are half of what an import of NumPy costs.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell's background jobs ignore Ctrl-C and so would every program that a test interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Of random values a quarter every day; the gate asks for its own profile and gets them all."""
    with suppress(ImportError):  # an environment with nothing but pytest draws none
        from hypothesis import settings

        settings.register_profile("everyday", max_examples=75)
        settings.register_profile("gate", max_examples=300)
        settings.load_profile(config.getoption("--hypothesis-profile", None) or "everyday")


def pytest_collectstart() -> None:
    """Until all is imported and collected nothing is garbage."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What lives to the end is never searched for garbage, and the rest as `gscli` does it."""
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


@pytest.fixture(autouse=True, scope="module")
def _no_waiting_for_the_disk(request: pytest.FixtureRequest) -> Iterator[None]:
    """It would make thousands of small writes slow; `tests/faults` does wait."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.parent.name in {"disk", "files"}:
            patch.setattr(os, "fsync", lambda _descriptor: None)
        yield


def judged(name: str, inputs: Mapping[str, object], attrs: Mapping[str, object]) -> ValidatedPlan:
    """The plan of a call, every index looked at: what the kernel and streams take."""
    return plan_call(find_operator(name), inputs, attrs).validate()


def open_file(path: Path) -> RegularFile:
    """A regular file, opened as a patch opens it."""
    file = open_regular_file(str(path))
    assert file is not None
    return file


def slow(values: Iterable[Any]) -> list[Any]:
    """Parameters that the gate tries and the everyday run leaves out."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


def everyday(values: Iterable[Any], chosen: Container[Any]) -> list[Any]:
    """All values in their order, of which the everyday run tries those that are chosen."""
    return [one for value in values for one in ([value] if value in chosen else slow([value]))]


def decode(recorded: dict[str, Any]) -> Array:
    """A recorded tensor `{"dtype", "shape", "data"}` as an array."""
    name, values = recorded["dtype"], recorded["data"]
    if name == "str":
        array = np.array(values, np.str_)
    elif name.startswith("complex"):
        array = np.array([complex(float(re_), float(im)) for re_, im in values], name)
    elif name == "bfloat16":
        array = np.array([float(value) for value in values], ml_dtypes.bfloat16)
    elif name.startswith("float"):
        array = np.array([float(value) for value in values], name)
    elif name == "bool":
        array = np.array(values, np.bool_)
    else:
        array = np.array([int(value) for value in values], name)
    return array.reshape(recorded["shape"])


@cache
def load_cases(framework: str) -> tuple[Case, ...]:
    """Every recorded case of one file."""
    text = (VECTORS / f"{framework}.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def operator_name(case: Case) -> str:
    """The case's operator as gscli calls it: `onnx.scatter_nd`, `jax.at.add`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=ND)(?=[A-Z])", "_", case["op"]).lower()
    return words if words.startswith("stablehlo.") else f"{case['framework']}.{words}"


@cache
def recorded() -> dict[str, list[Case]]:
    """Every recorded case of all files, by operator."""
    found: dict[str, list[Case]] = {}
    for framework in FRAMEWORKS:
        for case in load_cases(framework):
            found.setdefault(operator_name(case), []).append(case)
    return found


def arguments(case: Case) -> tuple[dict[str, Array], dict[str, Any]]:
    """The case's inputs, decoded, and its attributes with opset and device among them."""
    inputs = {name: decode(value) for name, value in case["inputs"].items()}
    attrs = dict(case["attrs"])
    if "opset" in case:
        attrs["opset"] = case["opset"]
    if case.get("device", "cpu") != "cpu":
        attrs["device"] = case["device"]
    return inputs, attrs


def assert_same(actual: Array, expected: Array) -> None:
    """Same dtype, shape and bits; NaN equals NaN whatever its payload, part by part if complex."""
    _assert_alike(actual, expected)
    if expected.dtype.kind == "c":
        parts = expected.real.dtype
        actual, expected = (
            np.asarray(array.copy(order="C")[..., None]).view(parts) for array in (actual, expected)
        )
    if expected.dtype.kind == "U":
        equal = actual == expected
    else:
        same_bits = (_bits(actual) == _bits(expected)).all(1).reshape(expected.shape)
        equal = same_bits | _both_nan(actual, expected)
    assert np.all(equal), _difference(actual, expected, np.asarray(equal))


def assert_close(actual: Array, expected: Array) -> None:
    """Same dtype and shape; floats within the recording's tolerance, 0.0 equal to -0.0."""
    _assert_alike(actual, expected)
    equal = np.asarray((actual == expected) | _both_nan(actual, expected))
    tolerance = TOLERANCES.get(expected.dtype.name)
    if tolerance is not None:
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        with np.errstate(invalid="ignore"):
            gap = np.abs(actual.astype(wide) - expected.astype(wide))
            equal |= gap <= tolerance * np.abs(expected.astype(wide))
    assert np.all(equal), _difference(actual, expected, equal)


def _assert_alike(actual: Array, expected: Array) -> None:
    assert isinstance(actual, np.ndarray), f"a {type(actual).__name__}, not an array"
    if expected.dtype.kind == "U":
        assert actual.dtype.kind == "U", f"dtype {actual.dtype}, expected strings"
    else:
        assert actual.dtype == expected.dtype, f"dtype {actual.dtype}, expected {expected.dtype}"
    assert actual.shape == expected.shape, f"shape {actual.shape}, expected {expected.shape}"


def _both_nan(actual: Array, expected: Array) -> Array:
    if expected.dtype.kind in "fcV":
        return np.asarray(np.isnan(actual) & np.isnan(expected))
    return np.zeros(expected.shape, np.bool_)


def _bits(array: Array) -> Array:
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.uint8).reshape(array.size, array.dtype.itemsize)


def _difference(actual: Array, expected: Array, equal: Array) -> str:
    where = tuple(int(axis[0]) for axis in np.nonzero(~np.atleast_1d(equal)))
    left, right = np.atleast_1d(actual)[where], np.atleast_1d(expected)[where]
    return f"{int((~equal).sum())} cells differ, first at {where}: {left!r}, expected {right!r}"
