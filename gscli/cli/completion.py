"""Files that a shell may complete an input to: folders, and suffixes that gscli reads."""

from __future__ import annotations

import os

SUFFIXES = (".npy", ".npz", ".json", ".jsonl", ".csv", ".tsv", ".txt", ".pb", ".onnx",
            ".safetensors", ".h5", ".hdf5")  # fmt: skip


def files_for(incomplete: str) -> list[str]:
    """Folders and files of a known suffix that begin with what is written.

    A folder that is the only match brings its content along: the shell then stops behind the
    slash and adds no space.
    """
    found = _below(incomplete)
    if len(found) == 1 and found[0].endswith("/"):
        found += _below(found[0])
    return found


def _below(incomplete: str) -> list[str]:
    folder, _, start = incomplete.rpartition("/")
    parent = f"{folder}/" if "/" in incomplete else ""
    found: list[str] = []
    try:
        with os.scandir(parent or ".") as entries:
            for entry in entries:
                hidden = entry.name.startswith(".") and not start.startswith(".")
                if hidden or not entry.name.startswith(start):
                    continue
                if entry.is_dir():
                    found.append(f"{parent}{entry.name}/")
                elif entry.name.lower().endswith(SUFFIXES):
                    found.append(parent + entry.name)
    except OSError:
        return []
    return sorted(found)
