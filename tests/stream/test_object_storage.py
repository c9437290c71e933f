"""Icechunk repositories in a bucket: a server of S3's protocol on this machine."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import icechunk
import numpy as np
import pytest
import zarr
from stream.stores import committed_meanwhile

from gscli.cli import run_safely
from gscli.files import load
from gscli.files.stores import icechunk_store

pytestmark = pytest.mark.slow

TABLE = np.arange(24, dtype=np.float32).reshape(8, 3)
PATCH = ["[[0],[0]]", "[[1,1,1],[1,1,1]]", "--reduction", "add"]


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a repository with TABLE in it, tagged "old"."""
    server = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    serving = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    serving.start()
    host, port = serving.get_host_and_port()
    address = f"http://{host}:{port}"
    for name, value in (
        ("AWS_ENDPOINT_URL", address), ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    import boto3  # comes with moto

    boto3.client("s3", endpoint_url=address).create_bucket(Bucket="lab")
    path = f"s3://lab/{tmp_path.name}/t.icechunk"  # the server forgets nothing
    repo = icechunk.Repository.create(icechunk_store._make_storage(icechunk, path))
    session = repo.writable_session("main")
    array = zarr.create_array(session.store, name="emb", shape=(8, 3), dtype="f4", chunks=(2, 3))
    array[...] = TABLE
    repo.create_tag("old", snapshot_id=session.commit("table"))
    try:
        yield path
    finally:
        serving.stop()


def test_a_scatter_is_one_commit_in_a_bucket(
    tmp_path: Path, bucket: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_safely(["scatter-nd", bucket, *PATCH, "--in-place", "-m", "night run", "-v"]) == 0
    assert "1 chunk written, snapshot " in capsys.readouterr().err
    expected = TABLE.copy()
    expected[0] += 2
    assert np.array_equal(load(f"{bucket}::emb").array, expected)
    assert np.array_equal(load(f"{bucket}@old").array, TABLE)
    assert run_safely(["show", bucket, "--json"]) == 0
    newest, before = json.loads(capsys.readouterr().out)["history"][:2]
    assert (newest["message"], before["message"]) == ("night run", "table")
    words = ["gather", f"{bucket}@{before['snapshot']}", "[0]", "--json=output"]
    assert run_safely(words) == 0
    assert json.loads(capsys.readouterr().out)["data"] == [0, 1, 2]
    assert run_safely(["scatter-nd", bucket, *PATCH, "-o", f"{tmp_path}/t.zarr"]) == 0
    expected[0] += 2
    assert np.array_equal(load(f"{tmp_path}/t.zarr").array, expected)


def test_a_commit_in_between_is_told_of(
    bucket: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    committed_meanwhile(bucket, monkeypatch)
    assert run_safely(["scatter-nd", bucket, *PATCH, "--in-place"]) == 73
    assert "committed to by somebody else" in " ".join(capsys.readouterr().err.split())
    assert icechunk_store.list_commits(bucket, 1)[0].message == "somebody else"


def test_bad_indices_change_nothing(bucket: str) -> None:
    before = icechunk_store.list_commits(bucket, 9)
    assert run_safely(["scatter-nd", bucket, "[[9]]", "[[1,1,1]]", "--in-place"]) == 65
    assert icechunk_store.list_commits(bucket, 9) == before


def test_what_is_not_there_is_told(bucket: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_safely(["show", bucket.replace("t.ice", "none.ice")]) == 66
    assert "no Icechunk repository" in capsys.readouterr().err
    assert run_safely(["show", bucket.replace("lab", "nobody")]) == 66
    told = capsys.readouterr().err
    assert "service error" in told
    assert "AWS_ENDPOINT_URL" in told
