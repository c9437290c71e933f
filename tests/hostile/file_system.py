"""Odd objects of the file system where an input file is expected, and odd names."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

from hostile.corpus import Case

from gscli.base import CannotRead, ContentRefused, LimitRefused

SUFFIXES = ("npy", "npz", "json", "csv", "pb", "onnx", "safetensors", "h5")


def cases() -> Iterator[Case]:
    for suffix in SUFFIXES:
        yield from _objects(suffix)
    yield from _names()
    for device in ("zero", "null", "urandom", "full", "tty", "mem"):
        if Path(f"/dev/{device}").exists():
            yield Case(f"file/device_{device}", lambda _f, d=device: f"/dev/{d}", CannotRead)


def _objects(suffix: str) -> Iterator[Case]:
    file = f"case.{suffix}"

    def folder(root: Path) -> str:
        (root / file).mkdir()
        return str(root / file)

    def missing(root: Path) -> str:
        return str(root / file)

    def dangling(root: Path) -> str:
        (root / file).symlink_to(root / "nowhere")
        return str(root / file)

    def loop(root: Path) -> str:
        (root / file).symlink_to(root / file)
        return str(root / file)

    def to_device(root: Path) -> str:
        (root / file).symlink_to("/dev/zero")
        return str(root / file)

    def below_a_file(root: Path) -> str:
        (root / "plain").write_text("x")
        return str(root / "plain" / file)

    def a_socket(root: Path) -> str:
        here = Path.cwd()
        os.chdir(root)  # the name of a socket may have 107 characters
        try:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(file)
        finally:
            os.chdir(here)
        return str(root / file)

    def kernel_file(root: Path) -> str:
        (root / file).symlink_to("/proc/version")
        return str(root / file)

    for build in (folder, missing, dangling, loop, to_device, below_a_file, a_socket):
        yield Case(f"file/{suffix}_{build.__name__}", build, CannotRead, "cannot read")
    refused = [Case(f"file/{suffix}_kernel_file", kernel_file, (ContentRefused, CannotRead))]
    yield from refused if suffix != "csv" else []  # a line of text is a row of one


def _names() -> Iterator[Case]:
    names = {
        "empty": "",
        "dot": ".",
        "slash": "/",
        "nul": "a\0b.npy",
        "surrogate": "\udcff.npy",
        "half_character": "\ud800.npy",
        "escape": "\x1b]0;owned\x07.npy",
        "bidi": "\u202eyp.n.npy",
        "newline": "a\nb.npy",
        "too_long": "a" * 300 + ".npy",
        "path_too_long": "a/" * 3000 + "b.npy",
        "markup": "[red]a[/].npy",
        "emoji": ":bomb:.npy",
        "url": "http://localhost/a.npy",
        "home": "~nobody/a.npy",
        "option": "--dtype.npy",
        "no_suffix": "data",
        "unknown_suffix": "data.odd",
    }
    for name, text in names.items():
        error = (CannotRead, ContentRefused)
        yield Case(f"name/{name}", lambda _folder, text=text: text, error)

    def large(root: Path) -> str:
        with (root / "case.npz").open("wb") as file:
            file.truncate(5 << 40)
        return str(root / "case.npz")

    def large_text(root: Path) -> str:
        with (root / "case.json").open("wb") as file:
            file.truncate(5 << 40)
        return str(root / "case.json")

    yield Case("file/sparse_npz", large, ContentRefused)
    yield Case("file/sparse_json", large_text, LimitRefused, "limit")
