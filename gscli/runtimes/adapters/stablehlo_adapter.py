"""Answers StableHLO's gather and scatter by the reference interpreter that jaxlib carries.

The variant xla compiles the module by XLA instead.
"""

from __future__ import annotations

from typing import Any

from answerer import Runtime, Unsupported, convert, serve
from stablehlo_models import TYPES, module

OPS = ["stablehlo.gather", "stablehlo.scatter"]
HALVES = ("float16", "bfloat16")


def start(variant: str) -> Runtime:
    """A module of one operator is written as text for every call."""
    import jax
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    jax.config.update("jax_enable_x64", True)
    if variant not in ("", "xla"):
        raise SystemExit(f"stablehlo has no variant {variant!r}: xla")

    def call(
        _framework: str, op: str, _opset: int, inputs: dict[str, Any], attrs: dict[str, Any]
    ) -> Any:
        if any(array.dtype.name not in TYPES for array in inputs.values()):
            raise Unsupported("an element type without an MLIR name here")
        text = module(op, list(inputs.values()), attrs)
        if variant:
            first, *_ = inputs.values()
            return compiled(text, list(inputs.values())).astype(first.dtype)
        with mlir.make_ir_context():
            parsed = ir.Module.parse(text)
            arguments = [convert(attribute, array) for array in inputs.values()]
            (found,) = stablehlo.eval_module(parsed, arguments)
            dtype = next(iter(inputs.values())).dtype
            return convert(lambda answer: array_of(answer, dtype), found)

    return Runtime(jax.__version__, OPS, call, {"xla": bool(variant)})


def attribute(array: Any) -> Any:
    """An array as the interpreter takes it."""
    import numpy as np
    from jaxlib.mlir import ir

    name = array.dtype.name
    kind = ir.Type.parse(TYPES[name])
    if name in HALVES:
        raw = array.view(np.uint16)
        return ir.DenseElementsAttr.get(raw.copy(order="C"), type=kind, shape=array.shape)
    return ir.DenseElementsAttr.get(array.copy(order="C"), type=kind, shape=array.shape)


def array_of(found: Any, dtype: Any) -> Any:
    """What the interpreter gave, as an array."""
    import numpy as np
    from jaxlib.mlir import ir

    shape = ir.ShapedType(ir.DenseElementsAttr(found).type).shape
    if dtype.kind == "f" or dtype.name in HALVES:
        values = list(ir.DenseFPElementsAttr(found))
    else:
        values = list(ir.DenseIntElementsAttr(found))
    return np.array(values, dtype).reshape(shape)


def compiled(text: str, arrays: list[Any]) -> Any:
    """The answer of the module as XLA compiles it."""
    import jax
    import numpy as np
    from jax._src import xla_bridge
    from jax._src.lib import xla_client

    client = xla_bridge.get_backend("cpu")
    devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
    program = client.compile_and_load(text, devices, xla_client.CompileOptions())
    buffers = [jax.device_put(array) for array in arrays]
    (shards,) = program.execute_sharded(buffers).disassemble_into_single_device_arrays()
    return np.asarray(shards[0])


if __name__ == "__main__":
    serve("stablehlo", start)
