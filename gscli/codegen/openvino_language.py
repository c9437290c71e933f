"""How OpenVINO writes a call: nodes of a model, which is compiled for the CPU and run."""

from __future__ import annotations

from gscli.codegen.render import SnippetWriter

SETTINGS = '{"INFERENCE_PRECISION_HINT": "f32"}'
"""In float32 where the plugin would round to halves."""


class OpenvinoWriter(SnippetWriter):
    """The nodes of a model, compiled and run."""

    def frame(self) -> list[str]:
        """The model around its nodes, and its run."""
        names = ", ".join(value.name for value in self.program.inputs)
        comma = "," * (len(self.program.inputs) == 1)
        kinds = "ops.parameter(list(array.shape), array.dtype)"
        nodes = [f"nodes = [{kinds} for array in arrays]", f"{names}{comma} = nodes"]
        return [
            f"arrays = [{names}]",
            *(nodes if names else ["nodes = []"]),
            *super().frame(),
            "model = ov.Model([output], nodes)",
            f'output = ov.compile_model(model, "CPU", {SETTINGS})(arrays)[0]',
        ]
