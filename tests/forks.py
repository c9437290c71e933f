"""The command in forks of a process that has imported it: a tenth of what a new process costs.

    status, out, err = run(["gather", "[1,2]", "[0]"], cwd=folder, environment={"NO_COLOR": "1"})

What Python itself decides when a process starts (PYTHONIOENCODING, which modules are loaded, how
signals and closed streams are met) is asked of a process of its own: `shell.gscli`.
"""

from __future__ import annotations

import atexit
import gc
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory, TemporaryFile
from typing import NoReturn

ROOT = Path(__file__).parents[1]
PATIENCE = 120
DESCRIPTORS = 4

# `gscli` for a shell: of a process of its own it has what takes no time.
PROGRAM = """#!/bin/sh
exec "{python}" -IS -c '
import _socket, marshal, os, sys
request = dict(words=sys.argv[1:], cwd=os.getcwd(), environment=dict(os.environ))
text = marshal.dumps(request)
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
server = _socket.socket(_socket.AF_UNIX)
server.connect("{address}")
rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)
server.sendmsg([len(text).to_bytes(4, sys.byteorder)], [rights])
while text:
    text = text[server.send(text):]
os._exit(int(server.recv(16)) % 256)
' "$@"
"""

# What functions of gscli import when they need it.
LATE = ("encodings.utf_8_sig", "numpy.ma", "rich.console", "rich.text")


def run(
    words: Sequence[str],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str],
    stdin: bytes = b"",
    together: bool = False,
) -> tuple[int, bytes, bytes]:
    """Exit status, standard output and standard error, which is empty where both go `together`."""
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        numbers = [stream.fileno() for stream in (given, out, out if together else err)]
        status = run_on(numbers, words, cwd=cwd, environment=environment)
        out.seek(0)
        err.seek(0)
        return status, out.read(), err.read()


def run_on(
    streams: Sequence[int],
    words: Sequence[str],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str],
) -> int:
    """Exit status of a command whose standard streams are these descriptors."""
    request = {"words": [*words], "cwd": str(cwd or Path.cwd()), "environment": {**environment}}
    return _server(os.getpid()).run(request, streams)


def program(folder: Path) -> None:
    """Put a program `gscli` there that a shell can run, all by itself or several in a pipe."""
    script = folder / "gscli"
    script.write_text(PROGRAM.format(python=sys.executable, address=_server(os.getpid()).address))
    script.chmod(0o755)


def answer_on(streams: Sequence[int], module: str) -> int:
    """Exit status of what answers about the file of the fourth stream in `gscli.files.isolated`."""
    return _server(os.getpid()).run({"library": module}, streams)


@cache
def _server(owner: int) -> _Server:
    """One for each process that asks; it ends when its owner does."""
    return _Server(owner)


class _Server:
    """The other end: a process without threads, small enough to be forked in a moment."""

    def __init__(self, owner: int) -> None:
        self._owner = owner
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(PATIENCE)
        self._folder = TemporaryDirectory(prefix="gscli-")
        self.address = f"{self._folder.name}/door"
        with theirs, socket.socket(socket.AF_UNIX) as door:
            door.bind(self.address)
            door.listen()
            numbers = [theirs.fileno(), door.fileno()]
            variables = {
                "PATH": os.environ.get("PATH", os.defpath),
                "PYTHONPATH": str(ROOT),
                "OPENBLAS_NUM_THREADS": "1",  # as in `gscli.__main__`; others could not be forked
            }
            self._process = subprocess.Popen(
                [sys.executable, __file__, *map(str, numbers)], pass_fds=numbers, env=variables,
                start_new_session=True,
            )  # fmt: skip
        atexit.register(self.close)

    def close(self) -> None:
        """End the other process and wait for it, where it was begun and not in a fork of that."""
        if os.getpid() == self._owner:
            with suppress(OSError):  # it has ended already
                self._socket.shutdown(socket.SHUT_RDWR)
            self._process.wait(PATIENCE)
            self._folder.cleanup()
        self._socket.close()

    def run(self, request: Mapping[str, object], streams: Sequence[int]) -> int:
        text = marshal.dumps(request)
        try:
            socket.send_fds(self._socket, [len(text).to_bytes(4, sys.byteorder)], streams)
            self._socket.sendall(text)
            return int(self._socket.recv(16))
        except (OSError, ValueError):
            _server.cache_clear()
            os.killpg(self._process.pid, signal.SIGKILL)
            self.close()
            raise


def _serve(*numbers: int) -> None:
    """Fork for every request of the owner, and of shells, until the owner is gone."""
    _import_everything()
    bell, ended = socket.socketpair()
    ended.setblocking(False)
    signal.set_wakeup_fd(ended.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    owner, door = (socket.socket(fileno=number) for number in numbers)
    own = [owner, door, bell, ended]
    asking: dict[int, socket.socket] = {}
    while True:
        (asked, *_), _, _ = select.select(own[:3], [], [])
        if asked is bell:
            bell.recv(1 << 16)
            _tell_ends(asking)
            continue
        if asked is door:
            asked, _ = door.accept()
        text, streams = _receive(asked)
        if not text:
            return
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for one in (*own, *asking.values(), asked):
                one.close()
            request = marshal.loads(text)
            (_answer if "library" in request else _become)(streams, **request)
        asking[child] = asked
        for stream in streams:
            os.close(stream)


def _receive(asked: socket.socket) -> tuple[bytes, list[int]]:
    """A request, empty where nobody is left to ask, and its streams; what it names is imported."""
    length, streams, _, _ = socket.recv_fds(asked, 4, DESCRIPTORS)
    text = b""
    while len(text) < int.from_bytes(length, sys.byteorder):
        text += asked.recv(1 << 16)
    for word, library in ((b".zarr", "zarr"), (b"hdf5_library", "h5py")):
        if word in text:  # each takes longer than all of gscli
            with suppress(ImportError):
                import_module(library)
    return text, streams


def _tell_ends(asking: dict[int, socket.socket]) -> None:
    """Send its exit status to everybody whose fork has ended; a shell's `gscli` leaves with it."""
    for child, asked in [*asking.items()]:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            with suppress(OSError):  # a shell's `gscli` may have been ended
                asked.sendall(str(os.waitstatus_to_exitcode(status)).encode())
            del asking[child]


def _import_everything() -> None:
    """Also what gscli imports late; a comparison leaves in the caches what it computes once."""
    import gscli

    for module in walk_packages(gscli.__path__, "gscli."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):  # the installer's hook, and the compiled loops
                import_module(module.name)
    for name in LATE:
        import_module(name)
    gscli.compare("gather", {"data": [1, 2], "indices": [0]})
    gc.freeze()  # a collection would touch, and so copy, what all forks share


def _become(
    streams: Sequence[int], words: Sequence[str], cwd: str, environment: Mapping[str, str]
) -> NoReturn:
    """The command itself, with the streams that a shell would give it."""
    _take(streams)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = words
    from gscli.__main__ import main

    main()
    raise AssertionError("it has left")


def _answer(streams: Sequence[int], library: str) -> NoReturn:
    """The process of a library that trusts the files it reads."""
    *standard, descriptor = streams
    _take(standard)
    from gscli.files import isolated

    isolated.run(library, descriptor)
    os._exit(0)


def _take(streams: Sequence[int]) -> None:
    """Have these as the standard streams."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1)


if __name__ == "__main__":
    _serve(*map(int, sys.argv[1:]))
