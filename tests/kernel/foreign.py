"""The compiled loops of another processor: each call goes to foreign.c under qemu, memory and all.

`install(command)` puts that program in the place of the library; tests then run as they are.
"""

from __future__ import annotations

import ctypes
import math
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from conftest import Array

from gscli.kernel import loops

FUNCTIONS = ("gscli_resolve", "gscli_take", "gscli_put", "gscli_combine")
INTEGER = np.dtype("<i8")


def install(command: Sequence[str]) -> None:
    """Let `loops` call a program in place of its library."""
    program = ForeignLibrary(command)
    call_native: Any = loops._call_native

    def call(name: str, before: Any, rows: Array, addresses: Any, items: Array, *rest: Any) -> Any:
        source = next((array for array in rest if isinstance(array, np.ndarray)), None)
        program.arrays = [array for array in (rows, items, source) if array is not None]
        return call_native(name, before, rows, addresses, items, *rest)

    switched: Any = loops
    switched._call_native, switched.library = call, lambda: program


class ForeignLibrary:
    """What `ctypes.CDLL` gives of a library, for functions that a program answers."""

    def __init__(self, command: Sequence[str]) -> None:
        self.program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.arrays: list[Array] = []

    def gscli_processor(self) -> int:
        return 0

    def gscli_use(self, ways: int) -> int:
        return ways

    def __getattr__(self, name: str) -> Callable[..., int]:
        return lambda *arguments: self.call(FUNCTIONS.index(name), arguments)

    def call(self, function: int, arguments: Sequence[Any]) -> int:
        """One call: integers, and all memory that its pointers lead to, there and back."""
        memory = Memory()
        for array in self.arrays:
            memory.add(*np.lib.array_utils.byte_bounds(array))
        numbers = [memory.pack(argument) for argument in arguments]
        if function == FUNCTIONS.index("gscli_resolve"):  # its result is no array of a job
            where = arguments[0]._obj
            memory.add(arguments[1], arguments[1] + 8 * math.prod(where.sizes))
            numbers[1] = memory.pointer(arguments[1])
        elif function == FUNCTIONS.index("gscli_combine"):
            numbers[2] = memory.pointer(arguments[2])
        else:
            numbers[0] = memory.pointer(arguments[0])
        sent = [np.array([function, len(numbers), len(memory.blocks), *numbers], INTEGER).tobytes()]
        for block in memory.blocks:
            sent += [np.array(len(block), INTEGER).tobytes(), block]
        assert self.program.stdin is not None
        assert self.program.stdout is not None
        self.program.stdin.write(b"".join(sent))
        self.program.stdin.flush()
        answer = np.frombuffer(self.program.stdout.read(8), INTEGER)
        for (begin, end), block in zip(memory.bounds, memory.blocks, strict=True):
            content = self.program.stdout.read(len(block))
            if begin:
                ctypes.memmove(begin, content, end - begin)
        self.arrays = []
        return int(answer[0])


class Memory:
    """Blocks of memory that a call needs, and pointers as foreign.c reads them."""

    def __init__(self) -> None:
        self.bounds: list[tuple[int, int]] = []
        self.blocks: list[bytes] = []

    def add(self, begin: int, end: int) -> None:
        """Memory of this process, which is written back."""
        self.bounds.append((begin, end))
        self.blocks.append(ctypes.string_at(begin, end - begin))

    def add_copy(self, content: bytes) -> int:
        """Memory that is only read; its pointer."""
        self.bounds.append((0, 0))
        self.blocks.append(content)
        return pointer_to(len(self.blocks) - 1, 0)

    def pointer(self, address: int | None) -> int:
        """The pointer to an address in memory of this process."""
        for number, (begin, end) in enumerate(self.bounds):
            if address is not None and begin <= address < max(end, begin + 1):
                return pointer_to(number, address - begin)
        return 0

    def pack(self, argument: Any) -> int:
        """An integer as it is, a structure as a pointer to its copy, without pointers of ours."""
        struct = getattr(argument, "_obj", None)
        if struct is None:
            return int(argument)
        content = type(struct).from_buffer_copy(struct)
        if isinstance(content, loops._ItemsStruct):
            content.start = self.pointer(content.start)
        else:
            columns = (loops._ColumnStruct * content.count).from_address(content.columns)
            copies = type(columns).from_buffer_copy(columns)
            for copy in copies:
                copy.numbers = self.add_copy(_read_numbers(copy, content.sizes))
            content.columns = self.add_copy(bytes(copies))
            content.source = self.pointer(content.source)
        return self.add_copy(bytes(content))


def pointer_to(block: int, place: int) -> int:
    return (1 << 62) + (block << 48) + place


def _read_numbers(column: Any, sizes: Sequence[int]) -> bytes:
    """The numbers of a column from the first to the last one; they stand in rising order."""
    spans = [(size - 1) * stride for size, stride in zip(sizes, column.strides, strict=True)]
    assert min(spans) >= 0
    return ctypes.string_at(column.numbers, sum(spans) + 8)
