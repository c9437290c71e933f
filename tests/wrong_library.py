"""What a library does to the process that it works in (`gscli.files.isolated`), on request."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import BinaryIO

from gscli.base import LimitRefused


def answer(
    action: str, file: BinaryIO, size: int = 0, payload: bytes = b""
) -> Iterator[tuple[dict[str, object], bytes]]:
    yield {"process": os.getpid(), "begin": file.read(4).decode()}, payload
    if action == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif action == "hang":
        time.sleep(600)
    elif action == "take":
        yield {}, bytes(bytearray(size))
    elif action == "print":
        print("to the terminal")
    elif action == "loop":
        while True:
            pass
    elif action == "refuse":
        raise LimitRefused("too large", where="here", valid="less", hint="cut", details=("a", "b"))
