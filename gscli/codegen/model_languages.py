"""How ONNX and OpenVINO write a call: a model, as text that `onnx.parser` reads, or as nodes."""

from __future__ import annotations

from collections.abc import Sequence

from gscli.codegen.render import PYTHON_FIELDS, Fields, Language, SnippetWriter
from gscli.codegen.steps import CannotTranslate, Constant, SnippetProgram, Value, VectorConstant
from gscli.files.formats.tensorproto import TYPES

OPSET = 18

# Element types as ONNX numbers them.
ONNX_TYPE_CODES = {name: code for code, (name, _) in TYPES.items()}

FIELDS: Fields = {
    **PYTHON_FIELDS,
    "code": lambda w, s: w.format_type_code(s.result.dtype),
    "listed": lambda _, s: str(list(s.attributes["perm"])),
    "starts": lambda w, s: w.format_fact((0,) * len(s.result.shape)),
    "tensor_at": lambda w, s: w.write_constant("int64", (), [s.attributes["at"]]),
    "tensor_axis": lambda w, s: w.write_constant("int64", (), [s.attributes["axis"]]),
    "start": lambda w, s: w.write_constant("int64", (), [s.attributes["range"].start]),
    "stop": lambda w, s: w.write_constant("int64", (), [s.attributes["range"].stop]),
    "step": lambda w, s: w.write_constant("int64", (), [s.attributes["range"].step]),
}


class OnnxWriter(SnippetWriter):
    """A model as text, read and run: every name means one value, numbers are constants."""

    fields = FIELDS
    reuses_names = False

    def __init__(self, program: SnippetProgram, output: Value, language: Language) -> None:
        super().__init__(program, output, language)
        self.holders["output"] = output.number

    def frame(self) -> list[str]:
        """The model around its nodes, and its run."""
        inputs = self.program.inputs
        if self.output.number < 0:
            self.body.append(f"output = Identity ({self.names[self.output.number]})")
        result = self._format_value_info(self.output._replace(name="output"))
        feeds = ", ".join(f'"{value.name}": {value.name}' for value in inputs)
        return [
            "model = onnx.parser.parse_model('''",
            f'<ir_version: 10, opset_import: ["" : {OPSET}]>',
            f"call ({', '.join(map(self._format_value_info, inputs))}) => ({result}) {{",
            *(f"  {line}" for line in self.body),
            "}",
            "''')",
            "session = onnxruntime.InferenceSession(model.SerializeToString())",
            f"output = session.run(None, {{{feeds}}})[0]",
        ]

    def format_fact(self, fact: object) -> str:
        """A number or shape as the name of a tensor, anything else as it is."""
        if isinstance(fact, Constant):
            return self.write_constant(fact.dtype, (), [fact.value])
        if isinstance(fact, VectorConstant):
            sizes = (len(fact.numbers), *(1,) * (fact.rank - fact.dim - 1))
            return self.write_constant(fact.dtype, sizes, fact.numbers)
        if isinstance(fact, tuple):
            return self.write_constant("int64", (len(fact),), fact)
        return str(fact)

    def write_constant(self, dtype: str, sizes: Sequence[int], values: Sequence[object]) -> str:
        """The name of a constant; the same one is made once."""
        is_half, code = dtype in ("float16", "bfloat16"), self.format_type_code(dtype)
        kind = "float32" if is_half else dtype
        kind = self.language.types.get(kind, kind)
        dims = f"[{', '.join(map(str, sizes))}]" if sizes else ""
        text = f"Constant <value = {kind}{dims} {{{', '.join(map(_format_number, values))}}}> ()"
        name = self.name_constant(text)
        return self.name_constant(f"Cast <to = {code}> ({name})") if is_half else name

    def format_type_code(self, dtype: str) -> str:
        """The number of an element type that constants and casts may have."""
        if dtype.startswith("complex"):
            raise CannotTranslate("ONNX casts no complex numbers, and its text has none to write")
        return str(ONNX_TYPE_CODES[dtype])

    def _format_value_info(self, value: Value) -> str:
        sizes = f"[{','.join(map(str, value.shape))}]" if value.shape else ""
        return f"{self.language.types.get(value.dtype, value.dtype)}{sizes} {value.name}"


def _format_number(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return f'"{value}"' if isinstance(value, str) else str(value)


# In float32 where the plugin would round to halves.
SETTINGS = '{"INFERENCE_PRECISION_HINT": "f32"}'


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
