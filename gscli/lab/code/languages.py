"""The languages of all targets by name."""

from __future__ import annotations

from collections.abc import Callable

from gscli.lab.code.arrays_languages import JAX, MXNET, NUMPY, TENSORFLOW, TORCH
from gscli.lab.code.onnx_language import onnx_lines
from gscli.lab.code.openvino_language import OPENVINO, openvino_lines
from gscli.lab.code.render import Language, lines_of
from gscli.lab.code.stablehlo_language import stablehlo_lines
from gscli.lab.code.steps import Steps, Value
from gscli.lab.code.translate import Translation

LANGUAGES: dict[str, Language] = {
    "numpy": NUMPY,
    "torch": TORCH,
    "jax": JAX,
    "tensorflow": TENSORFLOW,
    "onnx": NUMPY._replace(
        imports=("import numpy as np", "import onnx.parser", "import onnxruntime")
    ),
    "openvino": OPENVINO,
    "stablehlo": NUMPY._replace(
        imports=(
            "import numpy as np",
            "from jax._src.interpreters import mlir",
            "from jaxlib.mlir import ir",
            "from jaxlib.mlir.dialects import stablehlo",
        )
    ),
    "mxnet": MXNET,
}
"""How each target loads its inputs, and how the Python ones write steps."""

_TEXTS: dict[str, Callable[[Steps, Value], list[str]]] = {
    "onnx": onnx_lines,
    "openvino": openvino_lines,
    "stablehlo": stablehlo_lines,
}


def lines_for(found: Translation, target: str) -> list[str]:
    """The lines of a translation in its target's language."""
    if target in _TEXTS:
        return _TEXTS[target](found.steps, found.output)
    return lines_of(found.steps, found.output, LANGUAGES[target])
