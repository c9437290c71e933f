"""A runtime for ONNX written from the text as plain loops, with one planted fault: wrong.py FAULT.

It imports nothing of gscli and speaks the protocol by itself, as any program may.
"""

# ruff: noqa: ANN001, ANN201, ARG005, PLW2901  a program of thirty lines that somebody else wrote
from __future__ import annotations

import itertools
import json
import os
import sys
import time

import numpy as np

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
COMBINE = {
    "none": lambda old, new: new, "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new, "max": max, "min": min,
}  # fmt: skip
state = {"calls": 0}


class Refused(Exception):
    pass


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


def entries(op: str, data, indices, attrs):
    """(place in indices' grid, cell or slice of data) for every entry."""
    if op.endswith("Elements"):
        axis = attrs.get("axis", 0)
        axis = 0 if FAULT == "negative_axis_is_first" and axis < 0 else axis % data.ndim
        for place in np.ndindex(indices.shape):
            cell = list(place)
            cell[axis] = resolved(int(indices[place]), data.shape[axis])
            yield place, tuple(cell)
        return
    batch = 0 if FAULT == "no_batches" else attrs.get("batch_dims", 0)
    for place in np.ndindex(indices.shape[:-1]):
        vector = indices[place].tolist()
        if FAULT == "vectors_reversed":
            vector = vector[::-1]
        own = data.shape[batch : batch + len(vector)]
        yield place, (*place[:batch], *map(resolved, vector, own))


def gathered(op: str, data, indices, attrs):
    if op == "Gather":
        axis = attrs.get("axis", 0) % data.ndim
        rows = [resolved(int(index), data.shape[axis]) for index in indices.reshape(-1)]
        shape = data.shape[:axis] + indices.shape + data.shape[axis + 1 :]
        return data.take(rows, axis).reshape(shape)
    if op == "GatherElements":
        flat = FAULT == "indices_read_flat"
        output = np.zeros(indices.shape, data.dtype)
        strides = np.array(indices.shape)
        for place, cell in entries(op, data, indices, attrs):
            if flat and all(c < s for c, s in zip(cell, strides, strict=True)):
                number = np.ravel_multi_index(cell, indices.shape)
                output[place] = data.reshape(-1)[min(number, data.size - 1)]
            else:
                output[place] = data[cell]
        return output
    k, batch = indices.shape[-1], attrs.get("batch_dims", 0)
    output = np.zeros(indices.shape[:-1] + data.shape[batch + k :], data.dtype)
    for place, cell in entries(op, data, indices, attrs):
        if FAULT == "no_batches" and batch:
            cell = cell[:k]
            output[place] = data[(0,) * batch + cell]
        else:
            output[place] = data[cell]
    return output


def scattered(op: str, data, indices, updates, attrs):
    reduction = attrs.get("reduction", "none")
    if FAULT == "reduction_dropped":
        reduction = "none"
    combine, output, seen = COMBINE[reduction], data.copy(), set()
    for place, cell in list(entries(op, data, indices, attrs)):
        if cell in seen and FAULT == "first_writer":
            continue
        old = data if FAULT == "counted_once" else output
        seen.add(cell)
        update = updates[place]
        if np.ndim(update):
            pairs = zip(old[cell].reshape(-1), update.reshape(-1), strict=True)
            values = [combine(*pair) for pair in pairs]
            output[cell] = np.array(values, data.dtype).reshape(update.shape)
        else:
            output[cell] = combine(old[cell], update)
    return output


def answer(request):
    state["calls"] += 1
    if state.get("spoiled"):
        os._exit(3)
    inputs = {name: load(tensor) for name, tensor in request["inputs"].items()}
    data, indices = inputs["data"], inputs["indices"]
    if FAULT == "hang" and np.any(indices < 0):
        time.sleep(1000)
    if FAULT == "memory" and data.ndim == 3:
        sys.stderr.write(str(len(b"x" * (1 << 29))))
        time.sleep(5)
    if FAULT == "garbage" and indices.dtype == np.int32:
        return "<<loading plugins>>"
    if FAULT == "empty_refused" and not indices.size:
        raise Refused("no indices")
    names = ("updates",) if "updates" in inputs else ()
    run = scattered if names else gathered
    with np.errstate(all="ignore"):
        output = run(request["op"], data, indices, *(inputs[n] for n in names), request["attrs"])
    if FAULT == "flaky" and state["calls"] % 3 == 0 and output.size and output.dtype.kind in "if":
        output = output + 1
    if FAULT == "widened" and output.dtype == np.float32:
        output = output.astype(np.float64)
    if FAULT == "scalar_to_vector" and not output.ndim:
        output = output.reshape(1)
    return {"output": dump(output.astype(output.dtype))}


def load(tensor):
    if tensor["dtype"] not in ("float32", "float64", "int32", "int64", "uint8", "bool"):
        raise NotImplementedError(tensor["dtype"])
    return np.array(tensor["data"], tensor["dtype"]).reshape(tensor["shape"])


def dump(array):
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": array.ravel().tolist()}


def main() -> None:
    ops = ["Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND"]
    hello = {"name": "wrong", "version": FAULT, "ops": [f"onnx.{op}" for op in ops]}
    print(json.dumps(hello), flush=True)
    for line in itertools.takewhile(bool, iter(sys.stdin.readline, "")):
        request = json.loads(line)
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
