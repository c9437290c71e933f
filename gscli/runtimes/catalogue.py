"""Which runtimes have an adapter, and how one that a user names is started.

An adapter is a single file that imports nothing of gscli, because it runs in the environment of
its runtime. In this folder it is kept in parts: the answering side of the protocol, the writing of
ONNX models, and what is the runtime's own. `bundle_adapter` joins them.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib.resources import files as package_files
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from gscli.base import CannotRead, ContentRefused, UsageError, check_name, translate_errors
from gscli.base.records import Record
from gscli.base.words import sanitize, suggest_names
from gscli.disk.processes import Child, Failure, ProcessSpec, python_program
from gscli.files.formats.jsontext import parse_json

# Files that adapters share, in the order they are joined.
PARTS = ("answerer", "onnx_models", "stablehlo_models")

# Seconds an interpreter has to say which packages it has.
VERSION_TIMEOUT = 30.0


class Adapter(Record):
    """A runtime with an adapter: the package that it needs, and its variants in words."""

    name: str
    package: str
    variants: str = ""
    needs: tuple[str, ...] = ()


# The runtimes that `--on NAME` knows.
ADAPTERS = (
    Adapter("numpy", "numpy"),
    Adapter("onnxruntime", "onnxruntime", "an execution provider, e.g. CUDAExecutionProvider",
            ("onnx",)),
    Adapter("onnx", "onnx"),
    Adapter("openvino", "openvino", "a device: GPU, NPU"),
    Adapter("torch", "torch", "compile, or a device: cuda, mps"),
    Adapter("jax", "jax", "jit, op-by-op"),
    Adapter("tensorflow", "tensorflow", "xla"),
    Adapter("stablehlo", "jaxlib", "xla", ("jax",)),
    Adapter("tinygrad", "tinygrad", "a device: CPU, CUDA", ("onnx",)),
    Adapter("tvm", "apache-tvm", "a target", ("onnx",)),
    Adapter("tract", "tract", "", ("onnx",)),
    Adapter("iree", "iree-base-compiler", "a backend: vmvx, cuda", ("onnx", "iree-base-runtime")),
    Adapter("mlx", "mlx", "gpu"),
    Adapter("paddle", "paddlepaddle", "a device: gpu"),
    Adapter("onnx2torch", "onnx2torch", "", ("onnx", "torch")),
)  # fmt: skip

NAMES = tuple(adapter.name for adapter in ADAPTERS)

# What `--on MODULE:CLASS` starts.
BACKEND = Adapter("backend", "onnx", "MODULE:CLASS of an onnx.backend.base.Backend")

# The releases that recorded cases of the operators were run in: tests/vectors/code.json.
TESTED_RELEASES = {
    "numpy": ("NumPy", "2.4.6"),
    "torch": ("PyTorch", "2.13.0"),
    "jax": ("JAX", "0.10.2"),
    "tensorflow": ("TensorFlow", "2.21.0"),
    "onnx": ("onnxruntime", "1.32.0"),
    "openvino": ("OpenVINO", "2026.4.1"),
    "stablehlo": ("the StableHLO interpreter of jaxlib", "0.10.2"),
}

BOOTSTRAP = """\
import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


def build_runtime_command(wish: str, python: str | None = None) -> ProcessSpec:
    """What is started where the user says `wish`: a name, NAME:VARIANT, a command, a class.

    A command and a class are the user's own: they work in the user's folder and environment.

    >>> build_runtime_command("./mine --fast").words
    ('./mine', '--fast')
    """
    name, _, variant = wish.partition(":")
    known = {adapter.name: adapter for adapter in ADAPTERS}
    if name in known:
        return build_adapter_command(known[name], variant, python)
    if re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", wish):
        return build_adapter_command(BACKEND, wish, python)
    problem, where = "the command of the runtime has", sanitize(wish)
    with translate_errors(
        lambda error: UsageError(f"{problem} {str(error).lower()}", where=where), ValueError
    ):
        words = shlex.split(wish)
    if words and (len(words) > 1 or shutil.which(words[0])):
        return ProcessSpec(tuple(words))
    problem = f"no runtime called {sanitize(wish, 60)!r}"
    legal = f"{' '.join(NAMES)}, a command that speaks the protocol, or MODULE:CLASS"
    hint = suggest_names(name, NAMES, "gscli help runtimes", count=1)
    raise UsageError(problem, valid=legal, hint=hint)


def build_adapter_command(adapter: Adapter, variant: str, python: str | None) -> ProcessSpec:
    """An adapter's file for an interpreter."""
    *_, own = _list_adapter_files(adapter)
    return python_program(
        interpreter_at(python), BOOTSTRAP, str(own.parent), str(own), variant,
        is_isolated=adapter is not BACKEND,
    )  # fmt: skip


def interpreter_at(python: str | None) -> str:
    """Where the interpreter of `--python` is, gscli's own where none is named; CannotRead."""
    path = shutil.which(python or sys.executable)
    if path is None:
        where = f"--python {sanitize(python or '')}"
        raise CannotRead("no such interpreter", where=where, hint="gscli runtimes")
    return path


def _list_adapter_files(adapter: Adapter) -> list[Path]:
    """The parts an adapter is made of, its own file last."""
    own = adapter_folder() / f"{adapter.name}_adapter.py"
    text = own.read_text("utf-8")
    shared = [part for part in PARTS if f"from {part} import" in text]
    return [*(adapter_folder() / f"{part}.py" for part in shared), own]


def adapter_folder() -> Path:
    """Where the adapters' files are."""
    return Path(str(package_files("gscli.runtimes"))) / "adapters"


def bundle_adapter(name: str) -> str:
    """An adapter as one file, to be run with the runtime's interpreter.

    >>> "import gscli" in bundle_adapter("numpy")
    False
    """
    adapters = {adapter.name: adapter for adapter in (*ADAPTERS, BACKEND)}
    check_name(name, adapters, f"no adapter called {sanitize(name, 60)!r}", count=1)
    first, *rest = [path.read_text("utf-8") for path in _list_adapter_files(adapters[name])]
    parts = [first.rstrip(), *(_strip_shared_header(text).strip() for text in rest)]
    return "\n\n".join(parts) + "\n"


def _strip_shared_header(text: str) -> str:
    """A part behind the first: without what only stands once, or is above it already."""
    text = text.replace("from __future__ import annotations\n", "")
    text = re.sub(rf"^from (?:{'|'.join(PARTS)}) import .*\n", "", text, flags=re.MULTILINE)
    head, body = text.split('"""', 2)[1:]
    return "".join(f"# {line}".rstrip() + "\n" for line in head.strip().splitlines()) + body


def describe_release_gap(name: str, version: str) -> str:
    """That the rules are of another release than a runtime; "" where they are not known to be.

    >>> describe_release_gap("numpy", "1.26.4")
    'the rules are of NumPy 2.4.6, this is numpy 1.26.4'
    >>> describe_release_gap("torch", "2.13.0+cpu"), describe_release_gap("mine", "1")
    ('', '')
    """
    title, tested = TESTED_RELEASES.get("onnx" if name == "onnxruntime" else name, ("", ""))
    if not tested or version.partition("+")[0] == tested or name == "onnx":
        return ""
    return f"the rules are of {title} {tested}, this is {name} {version}"


class InstalledRuntime(Record):
    """What one interpreter has for an adapter; `version` is empty where the package is missing."""

    adapter: Adapter
    version: str
    missing: tuple[str, ...]


_VERSION_SCRIPT = """\
import json
from importlib import metadata
versions = []
for name in sys.argv[1:]:
    found = ""
    for package in {"tensorflow": ("tensorflow", "tensorflow_cpu", "tensorflow-intel")}.get(
        name, (name,)
    ):
        try:
            found = found or metadata.version(package)
        except metadata.PackageNotFoundError:
            pass
    versions.append(found)
print(json.dumps(versions))
"""


def list_installed(
    python: str | None = None, adapters: Sequence[Adapter] = ADAPTERS
) -> list[InstalledRuntime]:
    """Which runtimes an interpreter has, without starting any. CannotRead where it does not run."""
    needed = (name for adapter in adapters for name in (adapter.package, *adapter.needs))
    packages = list(dict.fromkeys(needed))
    versions = dict(zip(packages, _ask_versions(interpreter_at(python), packages), strict=True))
    runtimes = list[InstalledRuntime]()
    for adapter in adapters:
        missing = tuple(name for name in adapter.needs if not versions.get(name))
        runtimes.append(InstalledRuntime(adapter, versions.get(adapter.package, ""), missing))
    return runtimes


def _ask_versions(interpreter: str, packages: Sequence[str]) -> list[str]:
    """What an interpreter has of each package, "" where it lacks one; CannotRead."""
    try:
        with Child(python_program(interpreter, _VERSION_SCRIPT, *packages)) as child:
            line = child.exchange(b"", VERSION_TIMEOUT)
        versions = [] if isinstance(line, Failure) else parse_json(line, "its answer").value
        reason = line.text if isinstance(line, Failure) else "an answer that is none"
    except OSError as error:
        versions, reason = [], error.strerror or type(error).__name__
    except ContentRefused as error:
        versions, reason = [], error.problem
    if not isinstance(versions, list) or len(versions) != len(packages):
        where = f"{sanitize(interpreter)}: {reason}"
        hint = "--python names an interpreter, as /usr/bin/python3 is one"
        raise CannotRead("this is no Python that runs", where=where, hint=hint)
    return [sanitize(str(version), 60) for version in versions]


def load_shared_module(name: str) -> Any:
    """A part that adapters share, as a module: gscli writes ONNX models with the same words."""
    spec = spec_from_file_location(name, adapter_folder() / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
