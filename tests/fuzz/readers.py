"""Coverage-guided fuzzing of the readers with atheris; no part of the normal run.

    pip install atheris
    python tests/fuzz/readers.py npy CORPUS -max_total_time=1200

The first word is a target: npy, npz, json, safetensors or pb. CORPUS is a folder; it gets valid
files to start from and keeps what reaches new code. Whatever leaves a reader but GscliError, and
any array that NumPy reads differently, stops the run and is written to a file.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import atheris

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

with atheris.instrument_imports(include=["gscli"]):
    from gscli.base import GscliError
    from gscli.files.content import Content
    from gscli.files.formats import archive, jsonarray, jsontext, npy, npz, safetensor, values
    from gscli.files.formats import tensorproto as _tensorproto
    from gscli.files.request import ReadRequest, format_for

import numpy as np  # noqa: E402 -- atheris has to see gscli before anything imports it
from hostile.archives import by_hand  # noqa: E402
from hostile.mutation import seeds  # noqa: E402

INSTRUMENTED = (archive, jsonarray, jsontext, npy, npz, safetensor, values, _tensorproto)
LIMIT = 1 << 22


def read(suffix: str, content: bytes) -> np.ndarray | None:
    """The array, or None where it was refused."""
    request = ReadRequest("x", limit=LIMIT, suffix=suffix)
    try:
        return format_for(suffix).read(Content("x", content), request).array
    except GscliError:
        return None


def numpy_agrees(array: np.ndarray | None, content: bytes) -> None:
    """What gscli accepts, NumPy accepts with equal bytes."""
    if array is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = np.load(io.BytesIO(content))
    if not isinstance(loaded, np.ndarray):
        with loaded:
            (name,) = loaded.files
            loaded = loaded[name]
    assert loaded.shape == array.shape
    assert loaded.astype(array.dtype).tobytes() == array.tobytes()


def fuzz_npy(content: bytes) -> None:
    """Any bytes as a .npy file."""
    numpy_agrees(read(".npy", content), content)


def fuzz_npz(content: bytes) -> None:
    """Any bytes as an archive, or an archive made around them, in which single numbers lie."""
    if content[:1] != b"A":
        numpy_agrees(read(".npz", content), content)
        return
    choices = atheris.FuzzedDataProvider(content[1:])
    lies = {}
    for name in ("size", "checksum", "packed_size", "offset", "count", "directory_offset"):
        if choices.ConsumeIntInRange(0, 7) == 0:
            lies[name] = choices.ConsumeIntInRange(0, 2**16 - 1 if name == "count" else 2**32 - 1)
    method = 8 * choices.ConsumeBool()
    made = by_hand(content=choices.ConsumeBytes(1 << 16), method=method, **lies)
    numpy_agrees(read(".npz", made), made)


def fuzz_json(content: bytes) -> None:
    """Any bytes as JSON: refused, or an array whose document is the same array."""
    array = read(".json", content)
    if array is not None:
        again = jsonarray.load_json(jsonarray.dump_json(array))
        assert again.shape == array.shape
        assert again.tobytes() == array.tobytes() or array.dtype.kind in "fcV"


def fuzz_safetensors(content: bytes) -> None:
    """A header of any bytes, with the length field right or, as given, wrong."""
    if content[:1] == b"A":
        header, _, data = content[1:].partition(b"\0")
        content = len(header).to_bytes(8, "little") + header + data
    read(".safetensors", content)


def fuzz_pb(content: bytes) -> None:
    """Any bytes as a TensorProto."""
    read(".pb", content)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "npy": fuzz_npy,
    "npz": fuzz_npz,
    "json": fuzz_json,
    "safetensors": fuzz_safetensors,
    "pb": fuzz_pb,
}


def main() -> None:
    """Put the seeds into the corpus and hand over to atheris."""
    name, corpus = sys.argv[1], Path(sys.argv[2])
    corpus.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(seeds()[f".{name}"]):
        (corpus / f"seed{number}").write_bytes(content)
    atheris.Setup([sys.argv[0], *sys.argv[2:]], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
