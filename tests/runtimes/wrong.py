"""A runtime for ONNX written from the text as plain loops, with one planted fault: wrong.py FAULT.

It imports nothing of gscli, and speaks the protocol by itself, as any program may. Without NumPy
it starts in no time, which matters where a fault ends the process again and again.
"""

# ruff: noqa: ANN001, ANN201, ARG005  a program that somebody else wrote
from __future__ import annotations

import ctypes
import json
import math
import os
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
TYPES = ("float32", "float64", "int32", "int64", "uint8", "bool")
COMBINE = {
    "none": lambda old, new: new, "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "max": lambda old, new: old if math.isnan(old) else max(new, old),
    "min": lambda old, new: old if math.isnan(old) else min(new, old),
}  # fmt: skip
state: dict[str, Any] = {"calls": 0, "lines": 0}

# The request that waits for a machine with other things to do, in the first process alone.
SLOW = 20


class Refused(Exception):
    pass


class Tensor(NamedTuple):
    dtype: str
    shape: list[int]
    data: list[Any]


def read(dtype, shape, data):
    """nan and inf are strings, and so are whole numbers beyond 2^53."""
    kind = float if dtype.startswith("float") else bool if dtype == "bool" else int
    return Tensor(dtype, shape, data if dtype not in TYPES else [*map(kind, data)])


def written(value):
    """A number as it goes over the wire."""
    beyond = isinstance(value, float) and not -math.inf < value < math.inf
    return str(value) if beyond or (isinstance(value, int) and abs(value) > 2**53) else value


def places(shape):
    return product(*map(range, shape))


def number_of(place, shape) -> int:
    """The position in row-major order."""
    number = 0
    for at, size in zip(place, shape, strict=True):
        number = number * size + at
    return number


def resolved(index: int, size: int) -> int:
    if FAULT == "off_by_one" and index == size - 1 and size > 1:
        return index - 1
    if index < 0 and FAULT == "negative_is_zero":
        return 0
    if index < 0 and FAULT == "negative_refused":
        raise Refused("negative index")
    if index < 0 and FAULT == "negative_one_too_far":
        return max(index + size - 1, 0)
    if not -size <= index < size:
        if FAULT == "clamped" and size:
            return min(max(index, 0), size - 1)
        if FAULT == "modulo" and size:
            return index % size
        if FAULT == "crash":
            os.kill(os.getpid(), 11)
        if FAULT == "exit":
            os._exit(3)
        state["spoiled"] = FAULT == "spoiled_by_bad_indices"
        raise Refused("index out of range")
    return index + size if index < 0 else index


def along_axis(data, indices, axis: int):
    """Gather: a place of the output, and the cell of data that is read for it."""
    axis %= len(data.shape)
    rows = [resolved(index, data.shape[axis]) for index in indices.data]
    before, after = data.shape[:axis], data.shape[axis + 1 :]
    shape = [*before, *indices.shape, *after]
    links = [
        ((*outer, *at, *inner), (*outer, row, *inner))
        for outer in places(before)
        for at, row in zip(places(indices.shape), rows, strict=True)
        for inner in places(after)
    ]
    return shape, links


def by_cell(data, indices, axis: int):
    """GatherElements and ScatterElements."""
    axis = 0 if FAULT == "negative_axis_is_first" and axis < 0 else axis % len(data.shape)
    links = []
    for place, index in zip(places(indices.shape), indices.data, strict=True):
        row = resolved(index, data.shape[axis])
        links.append((place, (*place[:axis], row, *place[axis + 1 :])))
    return indices.shape, links


def by_vector(data, indices, batch: int):
    """GatherND and ScatterND."""
    *grid, length = indices.shape
    inner = data.shape[batch + length :]
    links = []
    for number, place in enumerate(places(grid)):
        vector = indices.data[number * length : (number + 1) * length]
        if FAULT == "vectors_reversed":
            vector = vector[::-1]
        lead = (0,) * batch if FAULT == "no_batches" else place[:batch]
        sizes = data.shape[batch : batch + length]
        cell = (*lead, *map(resolved, vector, sizes))
        links += [((*place, *rest), (*cell, *rest)) for rest in places(inner)]
    return [*grid, *inner], links


def linked(op: str, data, indices, attrs):
    """The shape of output or updates; for each of its places the cell of data by number."""
    if not data.shape:
        raise Refused("data has no axis")
    if op == "Gather":
        shape, links = along_axis(data, indices, attrs.get("axis", 0))
    elif op.endswith("Elements"):
        shape, links = by_cell(data, indices, attrs.get("axis", 0))
    else:
        shape, links = by_vector(data, indices, attrs.get("batch_dims", 0))
    found = []
    for _, cell in links:
        flat = FAULT == "indices_read_flat" and op == "GatherElements"
        if flat and all(at < size for at, size in zip(cell, indices.shape, strict=True)):
            found.append(min(number_of(cell, indices.shape), len(data.data) - 1))
        else:
            found.append(number_of(cell, data.shape))
    return shape, found


def rounded(value, dtype):
    """A result in the type of data: whole numbers wrap."""
    if dtype == "float32":
        return ctypes.c_float(value).value
    if dtype in ("int32", "int64", "uint8"):
        return getattr(ctypes, f"c_{dtype}")(value).value
    return value


def scattered(data, cells, updates, reduction: str):
    if FAULT == "reduction_dropped":
        reduction = "none"
    output, seen = list(data.data), set()
    for cell, update in zip(cells, updates.data, strict=True):
        if cell in seen and FAULT == "first_writer":
            continue
        seen.add(cell)
        old = data.data if FAULT == "counted_once" else output
        output[cell] = rounded(COMBINE[reduction](old[cell], update), data.dtype)
    return [bool(value) for value in output] if data.dtype == "bool" else output


def misbehave(data, indices) -> str:
    """Faults of the process rather than of the numbers."""
    state["calls"] += 1
    if state.get("spoiled"):
        os._exit(3)
    if FAULT == "hang" and any(index < 0 for index in indices.data):
        time.sleep(1000)
    if FAULT == "memory" and len(data.shape) == 3:
        hoard = b"x" * (1 << 27)
        time.sleep(5)
        sys.stderr.write(str(len(hoard)))
    if FAULT == "empty_refused" and not indices.data:
        raise Refused("no indices")
    return "<<loading plugins>>" if FAULT == "garbage" and indices.dtype == "int32" else ""


def answer(request):
    inputs = {name: read(**tensor) for name, tensor in request["inputs"].items()}
    if any(tensor.dtype not in TYPES for tensor in inputs.values()):
        raise NotImplementedError("type")
    data, indices = inputs["data"], inputs["indices"]
    said = misbehave(data, indices)
    if said:
        return said
    shape, cells = linked(request["op"], data, indices, request["attrs"])
    reduction = request["attrs"].get("reduction", "none")
    if "updates" in inputs:
        values, shape = scattered(data, cells, inputs["updates"], reduction), data.shape
    else:
        values = [data.data[cell] for cell in cells]
    if FAULT == "flaky" and state["calls"] % 3 == 0 and data.dtype not in ("bool", "uint8"):
        values = [value + 1 for value in values]
    widened = FAULT == "widened" and data.dtype == "float32"
    shape = [1] if FAULT == "scalar_to_vector" and not shape else shape
    dtype = "float64" if widened else data.dtype
    values = [*map(written, values)]
    said = {"output": {"dtype": dtype, "shape": list(shape), "data": values}}
    if "cotangent" in request:
        if FAULT == "gradient_refused":
            raise Refused("no way back")
        flow, updates = request["cotangent"]["data"], inputs.get("updates")
        passed = {"data": []}
        if updates is None:
            passed["data"] = gathered_back(indices, data, cells, flow)
        else:
            passed["data"], passed["updates"] = scattered_back(
                data, cells, updates, reduction, flow
            )
        said["gradients"] = {
            name: {"dtype": data.dtype, "shape": list(inputs[name].shape), "data": gradient}
            for name, gradient in passed.items()
        }
    return said


def gathered_back(indices, data, cells, flow):
    """The gradient of data: what was read from a cell comes back to it."""
    gradient = [0.0] * len(data.data)
    for number, cell in enumerate(cells):
        negative = len(cells) == len(indices.data) and indices.data[number] < 0
        place = 0 if FAULT == "gradient_negative_is_zero" and negative else cell
        old = 0.0 if FAULT == "gradient_not_summed" else gradient[place]
        gradient[place] = old + flow[number]
    return gradient


def scattered_back(data, cells, updates, reduction, flow):
    """The gradients of data and updates: the loop of `scattered`, backwards."""
    value, olds = list(data.data), []
    for cell, update in zip(cells, updates.data, strict=True):
        olds.append(value[cell])
        value[cell] = COMBINE[reduction](value[cell], update)
    gradient, passed = list(flow), [0.0] * len(cells)
    for number in reversed(range(len(cells))):
        cell, old, update = cells[number], olds[number], updates.data[number]
        stays, passes = slopes(reduction, old, update)
        passed[number] = passes * gradient[cell]
        gradient[cell] *= stays
        if reduction == "none" and FAULT == "gradient_every_writer":
            passed[number] = flow[cell]
        if reduction == "mul" and FAULT == "gradient_divides" and update == 0:
            passed[number] = 0.0
        if reduction in ("max", "min") and FAULT == "gradient_ties_to_all":
            passed[number] = flow[cell] * (update == value[cell])
    if reduction in ("max", "min") and FAULT == "gradient_ties_to_all":
        gradient = [f * (old == new) for f, old, new in zip(flow, data.data, value, strict=True)]
    if reduction == "none" and FAULT == "gradient_of_data_kept":
        gradient = list(flow)
    if reduction == "add" and FAULT == "gradient_sign":
        passed = [-one for one in passed]
    return gradient, passed


def slopes(reduction, old, update):
    """What stays for the old value, and what passes to the update."""
    if reduction == "mul":
        return update, old
    if reduction in ("max", "min"):
        wins = update > old if reduction == "max" else update < old
        return 1 - wins, int(wins)
    return (0, 1) if reduction == "none" else (1, 1)


def main() -> None:
    ops = ["Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND"]
    hello = {"name": "wrong", "version": FAULT, "ops": [f"onnx.{op}" for op in ops],
             "gradients": True}  # fmt: skip
    print(json.dumps(hello), flush=True)
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        state["lines"] += 1
        if FAULT == "slow_once" and state["lines"] == SLOW and not Path(sys.argv[2]).exists():
            Path(sys.argv[2]).touch()
            time.sleep(1000)
        try:
            found = answer(request)
        except NotImplementedError as error:
            found = {"unsupported": str(error)}
        except (Refused, ValueError, IndexError) as error:
            found = {"error": {"type": type(error).__name__, "message": str(error)}}
        said = {"id": request["id"], **found} if isinstance(found, dict) else found
        print(json.dumps(said) if isinstance(said, dict) else said, flush=True)


if __name__ == "__main__":
    main()
