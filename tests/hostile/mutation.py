"""Valid files of every format, and seeded damage to them: flips, cuts, insertions, repetitions."""

from __future__ import annotations

import io
import random
import zipfile

import h5py
import numpy as np
import onnx
from hostile.npy_files import saved
from onnx import numpy_helper

from gscli.files import save

NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1)
WORDS = (
    b"[",
    b"]",
    b"{",
    b'"',
    b",",
    b"(",
    b")",
    b"-",
    b"\0",
    b"NaN",
    b"1e999",
    b"'",
    b"PK\x01\x02",
)


def seeds() -> dict[str, list[bytes]]:
    """Small valid files by suffix."""
    plain = np.arange(6.0).reshape(2, 3)
    arrays = [
        plain,
        np.asfortranarray(plain),
        plain.astype(">i4"),
        np.array(["a", "bc"]),
        np.array([True, False]),
        np.array(7),
        np.zeros((0, 3), np.complex64),
    ]
    by_suffix = {".npy": [saved(array) for array in arrays]}
    by_suffix[".npz"] = [
        _npz(plain),
        _npz(np.arange(300), zipfile.ZIP_STORED),
        _saved(plain, "npz"),
    ]
    by_suffix[".json"] = [_saved(array, "json") for array in arrays]
    by_suffix[".json"] += [b"[[0, 1], [2, 3]]", b'{"data": [[1.5, "nan"]], "dtype": "float16"}']
    by_suffix[".csv"] = [b"1,2\n3,4\n", b'a,"b,c"\nd,e\n', b"true,false\n", b"1.5,nan\n"]
    by_suffix[".tsv"] = [b"1\t2\n3\t4\n"]
    by_suffix[".txt"] = [b"1 2\n3 4\n"]
    by_suffix[".safetensors"] = [_saved(a, "safetensors") for a in (plain, np.array([True]))]
    by_suffix[".pb"] = [
        *(_saved(array, "pb") for array in arrays),
        onnx.helper.make_tensor("x", 10, [2], [1.5, 2.5]).SerializeToString(),
        onnx.helper.make_tensor("x", 14, [1], [1 + 2j]).SerializeToString(),
    ]
    tensor = numpy_helper.from_array(plain, "a")
    constant = onnx.helper.make_node("Constant", [], ["c"], value=tensor)
    graph = onnx.helper.make_graph([constant], "g", [], [])
    by_suffix[".onnx"] = [onnx.helper.make_model(graph).SerializeToString()]
    by_suffix[".h5"] = [_hdf5()]
    return by_suffix


def _npz(array: np.ndarray, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as file:
        file.writestr(zipfile.ZipInfo("a.npy"), saved(array), method)
    return stream.getvalue()


def _saved(array: np.ndarray, form: str) -> bytes:
    stream = io.BytesIO()
    save("-", array, format=form, stdout=stream)
    return stream.getvalue()


def _hdf5() -> bytes:
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file.create_dataset("g/a", data=np.arange(100), chunks=(50,), compression="gzip")
    return stream.getvalue()


def mutated(content: bytes, choices: random.Random) -> bytes:
    """The content with one to four changes."""
    data = bytearray(content)
    for _ in range(choices.choice((1, 1, 1, 2, 4))):
        change(data, choices)
    return bytes(data)


def change(data: bytearray, choices: random.Random) -> None:
    """One change in place."""
    position = choices.randrange(len(data) + 1)
    kind = choices.randrange(8)
    if kind == 0:
        del data[position:]
    elif kind == 1:
        del data[position : position + choices.choice((1, 2, 4, 8, 64))]
    elif kind == 2:
        data[position:position] = choices.randbytes(choices.choice((1, 2, 8, 64)))
    elif kind == 3:
        data[position:position] = choices.choice(WORDS)
    elif kind == 4:
        width = choices.choice((1, 2, 4, 8))
        number = choices.choice(NUMBERS) % 256**width
        data[position : position + width] = number.to_bytes(width, "little")
    elif kind == 5:
        start = choices.randrange(len(data) + 1)
        data[position:position] = data[start : start + choices.choice((4, 16, 64))]
    elif position < len(data):
        data[position] ^= 1 << choices.randrange(8) if kind == 6 else choices.randrange(1, 256)
