"""The same work in other libraries, each as a call without arguments, where it is installed.

What a library needs beforehand (a session, a compiled function, tensors of its own) is made outside
of the time; indices are int64 for all. onnxruntime reduces on one thread: with more it loses
updates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from .kernel_workloads import Array, Inputs, Workload

Call = Callable[[], Any]

ONNX_NAMES = {
    "onnx.gather": "Gather",
    "onnx.gather_elements": "GatherElements",
    "onnx.gather_nd": "GatherND",
    "onnx.scatter_nd": "ScatterND",
    "onnx.scatter_elements": "ScatterElements",
}
ONNX_OPSET, ONNX_IR = 18, 10
TORCH_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}
THREADS = 2


class Peer(NamedTuple):
    """A library's call, and how its result becomes a NumPy array."""

    call: Call
    array: Callable[[Any], Array] = np.asarray


def peers(workload: Workload, inputs: Inputs) -> dict[str, Peer]:
    """Those that are installed and do this work at all; each is tried once."""
    found: dict[str, Peer] = {}
    for library in (_onnxruntime, _torch, _jax):
        try:
            found |= dict(library(workload, inputs))
        except ImportError:
            continue
    return {name: peer for name, peer in found.items() if _works(peer)}


def _works(peer: Peer) -> bool:
    """No: the operator, dtype or negative index is refused, each library with its own errors."""
    try:
        peer.call()
    except Exception:  # noqa: BLE001
        return False
    return True


def _onnxruntime(workload: Workload, inputs: Inputs) -> Iterator[tuple[str, Peer]]:
    onnxruntime: Any = import_module("onnxruntime")

    if workload.operator not in ONNX_NAMES:
        return
    model = _model(workload, inputs)
    reducing = workload.attrs.get("reduction", "none") != "none"
    for threads in (1,) if reducing else (1, THREADS):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4
        # Its threads would go on spinning in the time of the next candidate.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        try:
            session = onnxruntime.InferenceSession(
                model, options, providers=["CPUExecutionProvider"]
            )
        except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
            return
        yield f"onnxruntime {threads}", Peer(partial(_first_output, session, inputs))


def _first_output(session: Any, inputs: Inputs) -> Any:
    return session.run(None, inputs)[0]


def _model(workload: Workload, inputs: Inputs) -> bytes:
    """A model of one node."""
    helper: Any = import_module("onnx.helper")

    types = {name: helper.np_dtype_to_tensor_dtype(a.dtype) for name, a in inputs.items()}
    values = [helper.make_tensor_value_info(n, types[n], a.shape) for n, a in inputs.items()]
    output = helper.make_tensor_value_info("output", types["data"], None)
    name = ONNX_NAMES[workload.operator]
    node = helper.make_node(name, list(inputs), ["output"], **workload.attrs)
    graph = helper.make_graph([node], "one", values, [output])
    opsets = [helper.make_opsetid("", ONNX_OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=ONNX_IR)
    return bytes(model.SerializeToString())


def _torch(workload: Workload, inputs: Inputs) -> Iterator[tuple[str, Peer]]:
    torch: Any = import_module("torch")

    torch.set_num_threads(THREADS)
    tensors = {name: torch.from_numpy(array) for name, array in inputs.items()}
    call = _torch_call(torch, workload, tensors)
    yield f"torch {THREADS}", Peer(call, lambda result: result.numpy())


def _torch_call(torch: Any, workload: Workload, tensors: Mapping[str, Any]) -> Call:
    data, index, updates = tensors["data"], tensors["indices"], tensors.get("updates")
    axis, reduction = workload.attrs.get("axis", 0), workload.attrs.get("reduction", "none")
    rows = index[..., 0]
    grid = torch.arange(len(data))

    def scatter_nd() -> Any:
        if reduction == "none":
            return torch.index_put(data, (rows,), updates)
        if reduction == "add":
            return torch.index_add(data, 0, rows, updates)
        return torch.index_reduce(data, 0, rows, updates, TORCH_REDUCTIONS[reduction])

    def gather_nd() -> Any:
        batched = bool(workload.attrs.get("batch_dims"))
        return data[grid[:, None], rows] if batched else data[tuple(index.movedim(-1, 0))]

    scatter = torch.scatter if reduction == "none" else torch.scatter_add
    calls: dict[str, Call] = {
        "onnx.gather": lambda: torch.index_select(data, axis, index),
        "onnx.gather_elements": lambda: torch.gather(data, axis, index),
        "onnx.gather_nd": gather_nd,
        "onnx.scatter_nd": scatter_nd,
        "onnx.scatter_elements": lambda: scatter(data, axis, index, updates),
        "openvino.scatter_update": lambda: torch.index_put(
            data, (grid[:, None, None], index), updates
        ),
    }
    return calls[workload.operator]


def _jax(workload: Workload, inputs: Inputs) -> Iterator[tuple[str, Peer]]:
    jax: Any = import_module("jax")

    jax.config.update("jax_enable_x64", True)
    arrays = {name: jax.numpy.asarray(array) for name, array in inputs.items() if name != "axis"}
    compiled = jax.jit(_jax_function(jax.numpy, workload))
    yield "jax", Peer(lambda: compiled(**arrays).block_until_ready())


def _jax_function(jnp: Any, workload: Workload) -> Callable[..., Any]:
    axis, reduction = workload.attrs.get("axis", 0), workload.attrs.get("reduction", "none")
    method = {"none": "set", "mul": "multiply"}.get(reduction, reduction)

    def gather_nd(data: Any, indices: Any) -> Any:
        if workload.attrs.get("batch_dims"):
            return data[jnp.arange(len(indices))[:, None], indices[..., 0]]
        return data[tuple(jnp.moveaxis(indices, -1, 0))]

    def scatter_nd(data: Any, indices: Any, updates: Any) -> Any:
        return getattr(data.at[tuple(jnp.moveaxis(indices, -1, 0))], method)(updates)

    def scatter_elements(data: Any, indices: Any, updates: Any) -> Any:
        grid = list(jnp.ogrid[: data.shape[0], : data.shape[1]])
        grid[axis] = indices
        return getattr(data.at[tuple(grid)], method)(updates)

    def scatter_update(data: Any, indices: Any, updates: Any) -> Any:
        return data.at[:, indices].set(updates)

    functions: dict[str, Callable[..., Any]] = {
        "onnx.gather": lambda data, indices: jnp.take(data, indices, axis=axis),
        "onnx.gather_elements": lambda data, indices: jnp.take_along_axis(data, indices, axis),
        "onnx.gather_nd": gather_nd,
        "onnx.scatter_nd": scatter_nd,
        "onnx.scatter_elements": scatter_elements,
        "openvino.scatter_update": scatter_update,
    }
    return functions[workload.operator]
