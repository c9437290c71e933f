"""Findings of a fourth attack on files: what would be lost, and what few bytes would cost."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import onnx
import pytest
import zarr

import gscli
from gscli.base import CannotWrite, ContentRefused, LimitRefused, UsageError
from gscli.cli import run_safely
from gscli.disk import atomic
from gscli.files import load, members, save
from gscli.files.content import open_content
from gscli.files.formats.archive import ZipEntry
from gscli.files.formats.tensorproto import encode_bytes_header
from gscli.files.stores import codecs
from gscli.files.stores.zip_store import CheckedZipStore, MemberBuffers
from gscli.lab import jobs, models
from gscli.runtimes import packs


def test_an_array_does_not_take_the_place_of_a_group(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "g.h5", "w") as file:
        file["group/a"], file["group/b"] = [1.0, 2.0], [3]
    group = zarr.open_group(tmp_path / "g.zarr", mode="w").create_group("group")
    group["a"], group["b"] = np.arange(2.0), np.arange(3)
    for name in ("g.h5", "g.zarr"):
        before = members(str(tmp_path / name))
        with pytest.raises(CannotWrite, match="is a group, and its arrays would be lost"):
            save(f"{tmp_path / name}::group", np.zeros(2))
        assert members(str(tmp_path / name)) == before
        save(f"{tmp_path / name}::group/a", np.zeros(5))
        assert load(f"{tmp_path / name}::group/a").array.tolist() == [0] * 5


def test_a_second_name_of_a_dataset_keeps_its_values(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["a"] = [1.0, 2.0]
        file["b"] = file["a"]
    save(f"{path}::a", np.array([5.0, 6.0]))
    with h5py.File(path) as file:
        assert (file["a"][:].tolist(), file["b"][:].tolist()) == ([5, 6], [1, 2])


@pytest.mark.parametrize("member", ["link/x", "link", "../out", "a/../../out"])
def test_no_array_is_added_outside_of_a_store(member: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    zarr.open_group(other, mode="w")
    zarr.open_group(tmp_path / "s.zarr", mode="w")["a"] = np.arange(2)
    (tmp_path / "s.zarr" / "link").symlink_to(other)
    before = sorted(path for path in tmp_path.rglob("*"))
    with pytest.raises(Exception, match=r"is a link|is no path"):
        save(f"{tmp_path / 's.zarr'}::{member}", np.zeros(2))
    assert sorted(path for path in tmp_path.rglob("*")) == before


def test_names_like_chunks_are_none(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "s.zarr", shape=(4,), chunks=(2,), dtype="i4")
    array[:] = [1, 2, 3, 4]
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        for path in (tmp_path / "s.zarr").rglob("*"):
            if path.is_file():
                archive.write(path, str(path.relative_to(tmp_path / "s.zarr")))
        archive.writestr("c/" + "1" * 5000, b"x")
        archive.writestr("c", b"x")
    assert load(str(tmp_path / "s.zip")).array.tolist() == [1, 2, 3, 4]
    zarr.create_array(tmp_path / "t.zarr", shape=(4,), chunks=(2,), dtype="i4")
    (tmp_path / "t.zarr" / "c").write_bytes(b"x")
    assert load(str(tmp_path / "t.zarr")).array.tolist() == [0] * 4


def test_a_group_of_the_wire_hides_no_fields(tmp_path: Path) -> None:
    group = bytes([0xA3, 0x06, 0xA4, 0x06])  # field 100: its start, its end
    assert onnx.TensorProto.FromString(group)
    (tmp_path / "t.pb").write_bytes(group)
    with pytest.raises(ContentRefused, match="is not an ONNX TensorProto"):
        load(str(tmp_path / "t.pb"))
    nodes = b"\x0a\x00" * 600_000
    (tmp_path / "m.onnx").write_bytes(group + encode_bytes_header(7, len(nodes)) + nodes)
    with pytest.raises(ContentRefused, match="is not an ONNX ModelProto"):
        members(str(tmp_path / "m.onnx"))


@pytest.mark.parametrize("name", ["gzip", "bz2", "lzma"])
def test_empty_streams_are_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import bz2
    import lzma

    pack = {"gzip": gzip.compress, "bz2": bz2.compress, "lzma": lzma.compress}[name]
    monkeypatch.setattr(codecs, "MAX_STREAMS", 4)
    content = bytes(200_000)
    whole = pack(content[:150_000]) + pack(b"") + pack(content[150_000:]) + bytes(8)
    assert codecs.DECODERS[name](whole, 200_000) == content
    assert len(codecs.DECODERS[name](whole, 1000)) == 1001
    with pytest.raises(ValueError, match="too many parts"):
        codecs.DECODERS[name](pack(b"") * 5, 1000)
    with pytest.raises(EOFError):
        codecs.DECODERS[name](pack(b"1")[:-2], 1000)


def test_pieces_of_a_stream_may_end_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs, "_PIECE", 3)
    packed = gzip.compress(b"12345") + gzip.compress(b"678")
    assert codecs.DECODERS["gzip"](packed, 100) == b"12345678"


def test_blocks_of_a_frame_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs, "MAX_STREAMS", 4)
    frame = b"\x28\xb5\x2f\xfd\x20\x00"
    assert bytes(codecs.DECODERS["zstd"](frame + bytes(9) + b"\1\0\0", 10)) == b""
    with pytest.raises(ValueError, match="not one whole zstd frame"):
        codecs.DECODERS["zstd"](frame + bytes(12) + b"\1\0\0", 10)


def test_a_member_is_inflated_once_for_all_parts_of_a_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = zarr.create_array(
        tmp_path / "s.zarr", shape=(15, 4), chunks=(1, 4), shards=(16, 4), dtype="i8"
    )
    array[:] = values = np.arange(60).reshape(15, 4)
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        for path in (tmp_path / "s.zarr").rglob("*"):
            if path.is_file():
                archive.write(path, str(path.relative_to(tmp_path / "s.zarr")))
    keys: list[str] = []
    read_member = MemberBuffers.read_member

    def count(members: Any, key: str, entry: ZipEntry) -> bytes:
        keys.append(key)
        return read_member(members, key, entry)

    monkeypatch.setattr(MemberBuffers, "read_member", count)
    assert np.array_equal(load(str(tmp_path / "s.zip")).array, values)
    assert keys.count("c/0/0") == 1


def test_groups_in_groups_cost_no_more_than_their_names(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "deep.h5", "w", libver="latest") as file:
        group = file
        for _ in range(6000):
            group = group.create_group("g")
        group["data"] = [1]
    with pytest.raises(LimitRefused, match="the text of all names"):
        members(str(tmp_path / "deep.h5"))


def test_hard_links_make_no_circle(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "loop.h5", "w") as file:
        file["g/data"] = [1]
        file["g/again"] = file["/"]
        file["h"] = file["g"]
    assert [member.name for member in members(str(tmp_path / "loop.h5"))] == ["g/data"]


def test_chunks_hold_little_more_than_their_dataset(tmp_path: Path) -> None:
    import zlib

    with h5py.File(tmp_path / "c.h5", "w", libver="latest") as file:
        data = file.create_dataset(
            "d", (40, 1), "u8", maxshape=(None, None), chunks=(1, 1 << 21), compression="gzip"
        )
        packed = zlib.compress(bytes(1 << 24))
        for row in range(40):
            data.id.write_direct_chunk((row, 0), packed)
    with pytest.raises(LimitRefused, match="what the chunks hold"):
        load(str(tmp_path / "c.h5"))


def test_no_option_is_named_that_moves_no_limit(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "s.zarr", shape=(4,), chunks=(2,), dtype="i4")
    metadata = tmp_path / "s.zarr" / "zarr.json"
    document = json.loads(metadata.read_text())
    document["attributes"] = {"long": "x" * (17 << 20)}
    metadata.write_text(json.dumps(document))
    with pytest.raises(LimitRefused) as error:
        load(str(tmp_path / "s.zarr"), max_bytes=1 << 40)
    assert "max-bytes" not in error.value.hint


def test_a_folder_that_somebody_takes_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "tests"

    def take(_folder: Path, _trial: Any) -> None:
        target.mkdir(exist_ok=True)
        (target / "theirs").write_text("")

    monkeypatch.setattr(packs, "has_one_output", lambda _trial: True)
    monkeypatch.setattr(packs, "_write_node_test", take)
    monkeypatch.setattr(packs, "check_node_test_target", lambda *_: None)
    trials: Any = {"onnx.GatherND": [None]}
    with pytest.raises(CannotWrite, match="cannot write"):
        packs.write_node_tests(str(target), trials)
    assert [path.name for path in tmp_path.rglob("*")] == ["tests", "theirs"]


def doubled_calls(count: int, *, inside: bool) -> onnx.ModelProto:
    """A model with functions, each of which calls the next one twice, or in a branch of an If."""
    message = onnx.helper.make_model(onnx.helper.make_graph([], "g", [], []))
    message.opset_import.add(domain="d", version=1)
    message.graph.node.add(op_type="f0", domain="d", input=["x"], output=["z"])
    for number in range(count):
        function = message.functions.add(domain="d", name=f"f{number}", input=["a"], output=["b"])
        function.opset_import.extend(message.opset_import)
        nodes = function.node
        if inside:
            nodes = function.node.add(op_type="If", input=["a"], output=["b"]).attribute.add(
                name="then_branch", type=onnx.AttributeProto.GRAPH
            ).g.node  # fmt: skip
        for at in range(2):
            nodes.add(op_type=f"f{number + 1}", domain="d", input=["a"], output=[f"b{at}"])
    return message


def doubled_axes(count: int, *, inside: bool) -> onnx.ModelProto:
    """A model in which a Gather of a tensor by itself doubles its axes, or a branch does."""
    nodes = []
    for at in range(count):
        node = onnx.helper.make_node("Gather", [f"x{at}", f"x{at}"], [f"x{at + 1}"])
        if inside:
            known = onnx.ValueInfoProto(name=f"x{at + 1}")
            branch = onnx.helper.make_graph([node], "b", [], [known])
            branches = {"then_branch": branch, "else_branch": branch}
            node = onnx.helper.make_node("If", ["c"], [f"x{at + 1}"], **branches)
        nodes.append(node)
    start = onnx.helper.make_tensor_value_info("x0", 7, [1] * 4)
    return onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", [start], []))


@pytest.mark.parametrize(
    ("make", "inside"),
    [
        (doubled_calls, False),
        (doubled_axes, True),
        pytest.param(doubled_calls, True, marks=pytest.mark.slow),
        pytest.param(doubled_axes, False, marks=pytest.mark.slow),
    ],
)
def test_inference_of_shapes_has_a_limit_whatever_a_model_says(
    monkeypatch: pytest.MonkeyPatch, make: Any, inside: bool
) -> None:
    monkeypatch.setattr(models, "INFERENCE_SECONDS", 1)
    monkeypatch.setattr(models, "INFERENCE_MEMORY", 1 << 29)
    message = make(30, inside=inside)
    message.graph.node.add(op_type="Gather", input=["x", "i"], output=["y"])
    model = models.OnnxModel(message, "m.onnx")
    assert model.find_supported_node("y").inputs == ("x", "i")
    assert model.describe(model.graphs[0], "x") == "?"


def test_sizes_that_no_tensor_has_are_not_written_out() -> None:
    sizes = [1] * 70
    held = onnx.TensorProto(name="t", data_type=1, dims=sizes)
    value = onnx.helper.make_tensor_value_info("x", 7, sizes)
    graph = onnx.helper.make_graph([], "g", [value], [], [held])
    model = models.OnnxModel(onnx.helper.make_model(graph), "m.onnx")
    assert [model.describe(model.graphs[0], name) for name in "tx"] == ["float32 [?]", "int64 [?]"]


def test_a_damaged_index_of_chunks_crashes_nothing(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "c.h5", "w", libver="latest") as file:
        file.create_dataset("d", data=np.eye(8), chunks=(2, 2), maxshape=(None, None))
    content = bytearray((tmp_path / "c.h5").read_bytes())
    content[content.index(b"BTHD") + 6] ^= 1
    (tmp_path / "c.h5").write_bytes(content)
    for words in (["show", "c.h5"], ["gather", "c.h5::d", "[0]"], ["gather", "[1]", "[0]", "-o"]):
        command = [sys.executable, "-m", "gscli", *words, *["c.h5::d"] * (words[-1] == "-o")]
        process = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True)
        assert process.returncode in {0, 65}, words


def test_names_of_an_archive_are_looked_at_once_for_each_group(tmp_path: Path) -> None:
    group = json.dumps({"zarr_format": 3, "node_type": "group"})
    zarr.create_array(tmp_path / "a.zarr", shape=(2,), dtype="i4")
    array = (tmp_path / "a.zarr" / "zarr.json").read_text()
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        for name in ("", "g/", "g.h/", "g/h/", "é/"):
            archive.writestr(f"{name}zarr.json", group)
        for name in ("g/h/a", "g/a", "g.h/a", "g-a", "g0", "é/a"):
            archive.writestr(f"{name}/zarr.json", array)
        archive.writestr("g", "")
        archive.writestr("g/c/", "")
    names = ["g-a", "g.h/a", "g/a", "g/h/a", "g0", "é/a"]
    assert sorted(member.name for member in members(str(tmp_path / "s.zip"))) == names
    store = CheckedZipStore(open_content(str(tmp_path / "s.zip"), 0), 0)
    counted = CountedNames(sorted(f"g{number}/zarr.json" for number in range(1000)))
    store.__dict__["_names"] = counted
    children = asyncio.run(list_children(store, "g500"))
    assert (children, counted.looks < 40) == (["zarr.json"], True)


def test_metadata_of_folders_in_a_group_are_short(tmp_path: Path) -> None:
    group = zarr.open_group(tmp_path / "s.zarr", mode="w").create_group("g")
    group.create_group("h")
    metadata = tmp_path / "s.zarr" / "g" / "h" / "zarr.json"
    metadata.write_text(metadata.read_text() + " " * (17 << 20))
    with pytest.raises(LimitRefused, match=r"zarr\.json"):
        members(str(tmp_path / "s.zarr"))


def test_a_text_that_equals_every_text_is_what_its_letters_say() -> None:
    class Chameleon(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            return True

    assert gscli.scatter_nd([1, 2], [[0]], [9], reduction=Chameleon("add")).tolist() == [10, 2]
    with pytest.raises(UsageError, match="unknown reduction"):
        gscli.scatter_nd([1, 2], [[0]], [9], reduction=Chameleon("ad"))


@pytest.mark.parametrize("name", ["/", ".", "./", "/./"])
def test_no_dataset_is_written_as_the_root(name: str, tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="is the root, not the path of a dataset"):
        save(f"{tmp_path / 'new.h5'}::{name}", np.zeros(2))
    save(f"{tmp_path / 'old.h5'}::a", np.arange(2))
    with pytest.raises(CannotWrite, match="is the root, not the path of a dataset"):
        save(f"{tmp_path / 'old.h5'}::{name}", np.zeros(2))
    assert load(str(tmp_path / "old.h5")).array.tolist() == [0, 1]
    assert [path.name for path in tmp_path.iterdir()] == ["old.h5"]


class CountedNames(list[str]):
    """A sorted list that counts how often one of its names is looked at."""

    looks = 0

    def __getitem__(self, index: Any) -> Any:
        self.looks += 1
        return super().__getitem__(index)


async def list_children(store: CheckedZipStore, prefix: str) -> list[str]:
    return [name async for name in store.list_dir(prefix)]


def job(**inputs: object) -> bytes:
    return json.dumps({"op": "numpy.getitem", "inputs": {"a": [1, 2], **inputs}}).encode()


def test_inputs_that_an_operator_does_not_have_are_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "load", lambda *_, **__: pytest.fail("read"))
    answer = jobs.run_job(job(**{f"k{number}": "arange:99999999" for number in range(99)}), 1, [])
    assert "no input 'k0'" in answer["error"]["problem"]


def test_inputs_of_a_job_have_a_limit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {f"indices_{number}": "arange:2:int8" for number in range(9)}
    monkeypatch.setattr(jobs, "MAX_JOB_BYTES", 16 + 5)
    answer = jobs.run_job(job(**parts), 1, [])
    assert answer["error"]["kind"] == "LimitRefused"
    assert "indices_2" in answer["error"]["where"] or "arange:2:int8" in answer["error"]["where"]


def test_index_arrays_are_no_more_than_there_can_be_axes() -> None:
    answer = jobs.run_job(job(**{f"indices_{number}": [True] for number in range(20_000)}), 1, [])
    assert answer["error"]["where"] == "20,000 indices"


@pytest.mark.parametrize("kind", ["link", "file"])
def test_what_takes_an_outputs_name_before_it_is_opened_stays(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, other = tmp_path / "out.npy", tmp_path / "other"
    target.write_bytes(b"old")
    other.write_bytes(b"a stranger's")

    def swap(_: str) -> None:
        new = tmp_path / "new"
        if kind == "link":
            new.symlink_to(other)
        else:
            new.write_bytes(b"a stranger's")
        new.replace(target)

    monkeypatch.setattr(atomic, "refuse_unfinished", swap)
    with (
        pytest.raises(CannotWrite, match="moved or replaced"),
        atomic.open_atomic(str(target)) as file,
    ):
        file.write(b"new")
    assert target.read_bytes() == other.read_bytes() == b"a stranger's"
    assert target.is_symlink() == (kind == "link")


@pytest.mark.parametrize("command", ["show FILE", "diff FILE [1,2]", "diff FILE [1,2] --json"])
def test_tensors_of_bytes_are_shown_and_compared(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "s.npy", np.array([b"a\x1b[31m\xff", b"bc"]))
    code = run_safely([word.replace("FILE", str(tmp_path / "s.npy")) for word in command.split()])
    out = capsys.readouterr().out
    assert code == command.startswith("diff")
    assert ("[31m" in out, "\x1b" in out, "b'a" in out) == (True, False, False)


def test_types_of_text_longer_than_numpy_has_are_unknown() -> None:
    document = json.dumps({"dtype": "U999999999", "shape": [0], "data": []})
    with pytest.raises(ContentRefused, match="unknown element type"):
        load(document)
