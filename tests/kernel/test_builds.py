"""How the compiled loops are built: the hook, and every compiler, sanitizer and processor at hand.

The slow test runs the tests of test_loops.py once more for each build; one whose tools are missing
is skipped with a line that names them.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import subprocess
import sys
import types
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import pytest

from gscli.kernel import loops

KERNEL = Path(loops.__file__).parent

compiled = pytest.mark.skipif(loops.library() is None, reason="no compiled loops, see test_loops")


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The build hook as a module; hatchling itself is there only when something is built."""
    name = "hatchling.builders.hooks.plugin.interface"
    for place in itertools.accumulate(name.split("."), lambda left, right: f"{left}.{right}"):
        monkeypatch.setitem(sys.modules, place, types.ModuleType(place))
    sys.modules[name].BuildHookInterface = list  # type: ignore[attr-defined]  # takes parameters
    spec = importlib.util.spec_from_file_location("build_hook", KERNEL / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@compiled
@pytest.mark.slow
def test_the_hook_compiles_what_the_kernel_loads(
    hook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hook.compile_library(tmp_path / hook.LIBRARY)
    monkeypatch.setattr(loops, "LIBRARY", tmp_path / hook.LIBRARY)
    assert loops.library.__wrapped__() is not None


@pytest.mark.parametrize("compiler", ["false", "no-such-compiler", "true"])
def test_a_compiler_that_fails_is_no_error(
    hook: Any, compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", compiler)
    assert not hook.compile_library(tmp_path / hook.LIBRARY)


def test_no_compiler_is_no_error(
    hook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(hook, "which", lambda _: None)
    assert hook.commands(tmp_path / "x.so") == []
    assert not hook.compile_library(tmp_path / "x.so")


def test_kernel_and_hook_name_the_same_library(hook: Any) -> None:
    assert loops.LIBRARY.name == hook.LIBRARY
    assert hook.SOURCE == KERNEL / "loops.c"


# Compilers, sanitizers, processors


class Build(NamedTuple):
    """A way to compile loops.c, and what runs the tests with it.

    `compiler` with `flags`; `runtime` is a library that must be loaded first, `emulator` what runs
    programs of a foreign processor. `setup`: lines of Python before the tests, which know the
    built `file`; `tests`: which of them run.
    """

    compiler: str
    flags: tuple[str, ...] = ()
    runtime: str = ""
    emulator: str = ""
    setup: str = "loops.LIBRARY = file"
    tests: str = "not switched and not lesser and not cannot_be_loaded"


SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")

# A processor that adds halves. FOR_FP16 of the build has the compiler do it by other instructions:
# what is tried is the loop, not the processor.
HALVES = """
loops.LIBRARY = file
native, features = loops.library(), loops.library().gscli_processor()
native.gscli_processor = lambda: features | loops.Feature.FP16
"""

FOREIGN = """
from foreign import install
install([emulator, "-L", "/usr/aarch64-linux-gnu", str(file)])
"""

BUILDS = {
    "gcc": Build("gcc"),
    "clang": Build("clang"),
    "gcc-sanitized": Build("gcc", SANITIZED, runtime="libasan.so"),
    "clang-sanitized": Build(
        "clang", (*SANITIZED, "-shared-libasan"), runtime="libclang_rt.asan-x86_64.so"
    ),
    "added-halves": Build(
        "gcc", ('-DFOR_FP16=__attribute__((target("avx2,f16c")))',), setup=HALVES,
        tests="half or any_bits and float16",
    ),
    "aarch64": Build(
        "aarch64-linux-gnu-gcc", emulator="qemu-aarch64", setup=FOREIGN,
        tests="portable and not lesser or grids or parts_share",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILDS)
def test_every_build_has_the_same_bits(name: str, hook: Any, tmp_path: Path) -> None:
    build, file, runtime = BUILDS[name], tmp_path / "built", ""
    for tool in filter(None, (build.compiler, build.emulator)):
        if which(tool) is None:
            pytest.skip(f"needs {tool}")
    if build.runtime:
        asked = [build.compiler, f"-print-file-name={build.runtime}"]
        runtime = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
        if not Path(runtime).is_absolute():
            pytest.skip(f"needs {build.runtime} of {build.compiler}")
    source, flags = KERNEL / "loops.c", [*hook.UNIX, "-Wall", "-Wextra", "-Werror", *build.flags]
    if build.emulator:
        flags = [flag for flag in flags if flag != "-shared"]
        flags += ["-Wno-unused-result", "-I", str(KERNEL)]
        source = Path(__file__).with_name("foreign.c")
    command = [build.compiler, *flags, "-o", str(file), str(source)]
    subprocess.run(command, check=True)
    code = f"""
import pathlib, pytest, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from gscli.kernel import loops
file, emulator = pathlib.Path({str(file)!r}), {build.emulator!r}
{build.setup}
assert loops.library() is not None
tests = {str(Path(__file__).with_name("test_loops.py"))!r}
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", tests, "-k", {build.tests!r}]))
"""
    environment = {**os.environ, "LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0"}
    environment["PYTHONPATH"] = str(KERNEL.parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
