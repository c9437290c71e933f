"""How OpenVINO writes a call: nodes of a model, which is compiled for the CPU and run."""

from __future__ import annotations

from gscli.codegen.languages import load_language
from gscli.codegen.render import write_python
from gscli.codegen.steps import SnippetProgram, Value

SETTINGS = '{"INFERENCE_PRECISION_HINT": "f32"}'
"""In float32 where the plugin would round to halves."""


def write_openvino(program: SnippetProgram, output: Value) -> list[str]:
    """The nodes of a model, compiled and run."""
    names = ", ".join(value.name for value in program.inputs)
    one = "," * (len(program.inputs) == 1)
    kinds = "ops.parameter(list(array.shape), array.dtype)"
    nodes = [f"nodes = [{kinds} for array in arrays]", f"{names}{one} = nodes"]
    return [
        f"arrays = [{names}]",
        *(nodes if names else ["nodes = []"]),
        *write_python(program, output, load_language("openvino")),
        "model = ov.Model([output], nodes)",
        f'output = ov.compile_model(model, "CPU", {SETTINGS})(arrays)[0]',
    ]
